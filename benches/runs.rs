//! Runs per second, and the same datagrams through the broker alone.
//!
//! `cargo bench --bench runs` times them: an item is a run. On a machine with other work to do, count instructions
//! instead; divide what callgrind collects by the number of runs:
//!
//! ```text
//! cargo build --release --example count
//! valgrind --tool=callgrind --toggle-collect='*measured*' target/release/examples/count ccr2012 300 60
//! valgrind --tool=callgrind --toggle-collect='*measured*' target/release/examples/count ccr2012 300 60 --floor
//! ```
//!
//! `--delays` is for schedules with delays, `--novelty` for the feedback that a guided search has besides.
//! `callgrind_annotate callgrind.out.*` says where the instructions go.

use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::protocol::version::Version;
use chord_fuzz::schedule::Schedule;
use divan::Bencher;
use divan::counter::ItemsCount;

mod floor;

/// How many schedules a sample runs.
const RUNS: usize = 100;

const LENGTHS: [usize; 3] = [16, 48, 96];

fn main() {
    divan::main();
}

/// A version, by name, with or without delays.
#[derive(Clone, Copy)]
struct Case(Version, bool);

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.0, if self.1 { ", delays" } else { "" })
    }
}

fn cases() -> impl Iterator<Item = Case> {
    Version::PUBLISHED.into_iter().flat_map(|version| [false, true].map(|delays| Case(version, delays)))
}

fn schedules<const STEPS: usize>(delays: bool) -> Vec<Schedule> {
    floor::schedules(STEPS, delays).take(RUNS).collect()
}

/// Whole runs.
#[divan::bench(args = cases(), consts = LENGTHS)]
fn runs<const STEPS: usize>(bencher: Bencher<'_, '_>, &Case(version, delays): &Case) {
    let (target, options, schedules) = (Target::of(version), Options::default(), schedules::<STEPS>(delays));
    bencher.counter(ItemsCount::new(RUNS)).bench(|| {
        for schedule in &schedules {
            divan::black_box_drop(run(target, schedule, &options, &mut ()));
        }
    });
}

/// What the same runs ask of the broker, and nothing else.
#[divan::bench(args = cases(), consts = LENGTHS)]
fn broker<const STEPS: usize>(bencher: Bencher<'_, '_>, &Case(version, delays): &Case) {
    let schedules = schedules::<STEPS>(delays);
    let traffic: Vec<_> = schedules.iter().map(|schedule| floor::Traffic::of(Target::of(version), schedule)).collect();
    bencher.counter(ItemsCount::new(RUNS)).bench(|| {
        for traffic in &traffic {
            divan::black_box(traffic.replay());
        }
    });
}
