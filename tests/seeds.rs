//! The named seeds of `corpus/`: one exchange each that a campaign then varies. None contains a counterexample.
//!
//! `UPDATE_EXPECT=1 cargo test --test seeds` writes them again, for instance after `cargo fuzz cmin` has renamed them.

use std::fs;
use std::path::Path;

use chord_fuzz::judge::{Options, Target, Verdict, run};
use chord_fuzz::schedule::Schedule;

/// A node joins and becomes part of the ring.
const JOIN: &str = "join 2 via 0\nstabilize 2\nstabilize 0\n";

/// A node fails, its neighbours get over it, and it joins again.
const LIST_REJOIN: &str = "ring 3\ncircle 6\nfail 2\nupdate 0\nreconcile 4\nflush 4\nstabilize 0\njoin 2 via 0\n";
const TSE_REJOIN: &str = "ring 4\ncircle 8\nfail 2\nstabilize 0\nstabilize 6\njoin 2 via 0\nstabilize 2\n";

/// Two nodes join in the same place at once, and what they send overtakes each other.
const DELAYS: &str = "ring 4\ncircle 8\njoin 1 via 0 delay 2\njoin 3 via 2\nstabilize 3 delay 1 notice 5\n\
                      stabilize 0 delay 3\nstabilize 2 notice 2\n";

/// Every identifier of a full circle.
const CROWD: &str = "ring 6\ncircle 12\njoin 1 via 0\njoin 3 via 2\njoin 5 via 4\njoin 7 via 6\njoin 9 via 8\n\
                     join 11 via 10\n";

/// A stabilization that decides in a step of its own.
const ADOPT: &str = "ring 4\ncircle 8\njoin 1 via 0\nstabilize 1\nstabilize 0\nadopt 0\n";

/// Successor lists of three.
const THREE: &str = "ring 4\ncircle 8\nlists 3\njoin 1 via 0\nstabilize 1\nstabilize 0\nadopt 0\n";

fn seeds(target: Target) -> Vec<(&'static str, &'static str)> {
    let tse = target.to_string() == "tse2017";
    let mut seeds = vec![
        // Of the four published starts tse2017 knows only the rings.
        ("rejoin", if tse { TSE_REJOIN } else { LIST_REJOIN }),
        ("delays", DELAYS),
        ("crowd", CROWD),
    ];
    if !tse {
        seeds.push(("join", JOIN));
    }
    if tse || target.to_string() == "best2012" {
        seeds.push(("adopt", ADOPT));
    }
    if tse {
        seeds.push(("lists-of-three", THREE));
    }
    seeds
}

#[test]
fn the_named_seeds_are_in_the_corpus_and_pass() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    for target in Target::all() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.to_string());
        for (name, text) in seeds(target) {
            let schedule: Schedule = text.parse().unwrap();
            let outcome = run(target, &schedule, &Options::default(), &mut ());
            assert_eq!(outcome.verdict, Verdict::Ideal, "{target}/{name}");
            // What is under way at the end may yet come to its end.
            let as_written = outcome.executed.steps.starts_with(&schedule.steps);
            assert!(as_written, "{target}/{name} is executed as\n{}", outcome.executed);
            if update {
                fs::create_dir_all(&directory).unwrap();
                fs::write(directory.join(name), schedule.encode()).unwrap();
            }
            assert_eq!(fs::read(directory.join(name)).unwrap(), schedule.encode(), "{target}/{name}");
        }
    }
}
