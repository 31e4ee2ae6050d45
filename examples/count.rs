//! Random runs for an instruction count: see `benches/runs.rs`.
//!
//! `count TARGET RUNS STEPS [--delays] [--novelty] [--floor]`

use std::hint::black_box;

use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::search::novelty::Novelty;

#[path = "../benches/floor/mod.rs"]
mod floor;

/// The only place where instructions are counted: not where schedules are made.
#[inline(never)]
fn measured(work: impl FnOnce()) {
    work();
}

fn main() {
    let (switches, words): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let [target, runs, steps] = &words[..] else {
        panic!("usage: count TARGET RUNS STEPS [--delays] [--novelty] [--floor]")
    };
    let switch = |name| switches.iter().any(|switch| switch == name);
    let target: Target = target.parse().expect("a target");
    let (runs, steps) = (runs.parse().expect("a number of runs"), steps.parse().expect("a number of steps"));

    let (options, mut executed, mut datagrams) = (Options::default(), 0, 0);
    for schedule in floor::schedules(steps, switch("--delays")).take(runs) {
        let traffic = floor::Traffic::of(target, &schedule);
        assert_eq!(traffic.replay(), traffic.arrivals, "the floor is the run's");
        (executed, datagrams) = (executed + traffic.steps, datagrams + traffic.arrivals);
        if switch("--floor") {
            measured(|| {
                black_box(traffic.replay());
            });
        } else if switch("--novelty") {
            measured(|| drop(black_box(run(target, &schedule, &options, &mut Novelty))));
        } else {
            measured(|| drop(black_box(run(target, &schedule, &options, &mut ()))));
        }
    }
    println!("{runs} runs, {executed} steps executed, {datagrams} datagrams arrived");
}
