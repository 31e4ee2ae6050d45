//! `chord-fuzz exhaust`, and what it says of random runs: they never leave what it has seen.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::{BTreeSet, HashSet};
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::judge::exhaust::{Bounds, Explored, Search};
use chord_fuzz::judge::prove::prove;
use chord_fuzz::judge::{Breach, Options, Target, Verdict, run};
use chord_fuzz::schedule::{Op, Schedule, Setup};
use chord_fuzz::truth::property::Property;
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::trace::{Event, Observer};
use expect_test::{Expect, expect};

fn exhaust(args: &[&str]) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_chord-fuzz")).arg("exhaust").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

fn prints(args: &[&str], expected: &Expect) {
    let assert = exhaust(args).code(0).stderr("");
    expected.assert_eq(stdout(&assert));
}

fn search(target: &str, setup: Setup, bounds: Bounds) -> Explored {
    let explored = Search::new(target.parse().unwrap(), setup, bounds).unwrap().explore(u32::MAX, |_| ());
    assert!(explored.exhausted());
    explored
}

fn at_most(joins: u8, failures: u8) -> Bounds {
    Bounds { joins: Some(joins), failures: Some(failures) }
}

const fn setup(circle: u8, ring: u8) -> Setup {
    Setup { ring, circle, list_len: 2, faults: false }
}

#[test]
fn the_table_of_ccr2012() {
    prints(
        &["--version", "ccr2012", "--joins", "3", "--failures", "2"],
        &expect![[r#"
        ccr2012 from one member on a circle of 4, lists of 2; joins: at most 3; failures: at most 2
        exhausted: 13017 networks, 14042 states
        irreparable although nothing is broken: 0

        property                broken  irreparable  to broken  to violation  to irreparable
        AtLeastOneRing               0            0          -             -               -
        AtMostOneRing              488          288         11            13              13
        OrderedRing                  0            0          -             -               -
        ConnectedAppendages          0            0          -             -               -
    "#]],
    );
}

#[test]
fn the_table_of_tse2017() {
    prints(
        &["--version", "tse2017", "--circle", "5"],
        &expect![[r#"
        tse2017 from an ideal ring of 3 on a circle of 5, lists of 2; joins: any number; failures: any number
        exhausted: 10986 networks, 10986 states
        irreparable although nothing is broken: 0

        property                broken  irreparable  to broken  to violation  to irreparable
        Invariant                    0            0          -             -               -
        AtLeastOneRing               0            0          -             -               -
        AtMostOneRing                0            0          -             -               -
        OrderedRing                  0            0          -             -               -
        ConnectedAppendages          0            0          -             -               -
    "#]],
    );
}

#[test]
fn the_table_of_claims_as_json() {
    prints(
        &["--version", "claims", "--joins", "2", "--failures", "1", "--json"],
        &expect![[r#"
        {"format":1,"target":"claims","ring":1,"circle":4,"list_len":2,"joins":2,"failures":1,"exhausted":true,"networks":991,"states":1025,"doomed":0,"properties":[{"property":"AtLeastOneRing","broken":0,"irreparable":0,"to_broken":null,"to_violation":null,"to_irreparable":null},{"property":"AtMostOneRing","broken":0,"irreparable":0,"to_broken":null,"to_violation":null,"to_irreparable":null},{"property":"OrderedRing","broken":0,"irreparable":0,"to_broken":null,"to_violation":null,"to_irreparable":null},{"property":"ConnectedAppendages","broken":0,"irreparable":0,"to_broken":null,"to_violation":null,"to_irreparable":null},{"property":"OrderedMerges","broken":24,"irreparable":0,"to_broken":4,"to_violation":4,"to_irreparable":null},{"property":"OrderedAppendages","broken":0,"irreparable":0,"to_broken":null,"to_violation":null,"to_irreparable":null},{"property":"ValidSuccessorList","broken":43,"irreparable":0,"to_broken":8,"to_violation":8,"to_irreparable":null}]}
    "#]],
    );
}

#[test]
fn a_search_that_stops_early_says_so() {
    prints(
        &["--version", "sigcomm2001", "--networks", "1000"],
        &expect![[r#"
        sigcomm2001 from one member on a circle of 4, lists of 2; joins: any number; failures: any number
        NOT exhausted: stopped at 1002 networks, 1002 states
        irreparable although nothing is broken: ?

        property                broken  irreparable  to broken  to violation  to irreparable
        AtLeastOneRing              39            ?          4             4               4
        AtMostOneRing                0            ?          -             -               -
        OrderedRing                  0            ?          -             -               -
        ConnectedAppendages         45            ?          5             5               5
    "#]],
    );
}

/// A shortest schedule is a run of the fuzzer, as it stands, with the verdict that it is printed for.
#[test]
fn the_shortest_schedules_are_violations() {
    for (target, bounds, lengths) in [
        (
            "sigcomm2001",
            at_most(3, 2),
            &[("at-least-one-ring", 4), ("at-most-one-ring", 13), ("connected-appendages", 5)][..],
        ),
        ("ccr2012", at_most(3, 2), &[("at-most-one-ring", 13)]),
        ("best2012", at_most(3, 2), &[("at-most-one-ring", 13)]),
    ] {
        let target: Target = target.parse().unwrap();
        let explored = search(&target.to_string(), setup(4, 1), bounds);
        let mut found = Vec::new();
        for of in explored.summary().found {
            let Some(shortest) = of.shortest_irreparable else { continue };
            let schedule = explored.schedule(shortest).unwrap();
            let outcome = run(target, &schedule, &Options::default(), &mut ());
            assert_eq!(outcome.verdict, Verdict::Violated(Breach::Broken(of.property)));
            assert_eq!(outcome.executed, schedule, "as it stands");
            assert_eq!(prove(target.version.rules(), &outcome.network, 100_000, |_| ()).heals(), Some(false));
            found.push((of.property.slug(), schedule.steps.len()));
        }
        assert_eq!(found, lengths, "{target}");
    }
}

/// By another search, network for network: the one that looks at all orders from a single network.
#[test]
fn irreparable_is_what_no_order_heals() {
    let explored = search("ccr2012", setup(4, 2), at_most(2, 2));
    let target: Target = "ccr2012".parse().unwrap();
    let mut counts = [0; 2];
    for network in explored.networks() {
        if !Property::AtMostOneRing.holds(&network) {
            counts[0] += 1;
            counts[1] += usize::from(prove(target.version.rules(), &network, 100_000, |_| ()).heals() == Some(false));
        }
    }
    let found = explored.summary().found.into_iter().find(|found| found.property == Property::AtMostOneRing).unwrap();
    assert_eq!(counts, [found.broken, found.irreparable.unwrap()]);
}

#[test]
fn pipes_into_replay() {
    let args = ["--version", "ccr2012", "--shortest", "at-most-one-ring", "--joins", "3", "--failures", "2"];
    let schedule = exhaust(&args).code(0).stderr("");
    let mut replay = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    let replay = replay.args(["replay", "--version", "ccr2012", "-"]).write_stdin(stdout(&schedule)).assert().code(1);
    assert!(stdout(&replay).starts_with("-  ccr2012/AtMostOneRing            13 steps"), "{}", stdout(&replay));
    let none = exhaust(&["--version", "ccr2012", "--shortest", "ordered-ring", "--joins", "1"]).code(1).stdout("");
    expect![[r#"
        error: ccr2012/OrderedRing: no schedule; none of all 70 networks
    "#]]
    .assert_eq(stderr(&none));
    let early = exhaust(&["--version", "ccr2012", "--shortest", "ordered-ring", "--networks", "9"]).code(1).stdout("");
    expect![[r#"
        error: ccr2012/OrderedRing: no schedule; the search stopped early, and none of the first 11 networks
    "#]]
    .assert_eq(stderr(&early));
}

#[test]
fn bad_usage() {
    for (args, problem) in [
        (&["--version", "ccr2012", "--circle", "3"][..], "a circle of 4 to 7 can be searched, not of 3"),
        (&["--version", "ccr2012", "--circle", "8"], "a circle of 4 to 7 can be searched, not of 8"),
        (&["--version", "ccr2012", "--ring", "0"], "`ccr2012` starts from 1 to 4 members on this circle, not from 0"),
        (&["--version", "ccr2012", "--ring", "5"], "`ccr2012` starts from 1 to 4 members on this circle, not from 5"),
        (&["--version", "tse2017", "--ring", "2"], "`tse2017` starts from 3 to 4 members on this circle, not from 2"),
        (&["--version", "ccr2012", "--lists", "3"], "`ccr2012` has no successor lists of 3"),
        (&["--version", "ccr2012", "--shortest", "invariant"], "`ccr2012` does not judge Invariant"),
        (
            &["--version", "ccr2012", "--ring", "3", "--shortest", "ordered-ring"],
            "no schedule starts from an ideal ring of 3 on a circle of 4",
        ),
    ] {
        let assert = exhaust(args).code(2).stdout("");
        assert_eq!(stderr(&assert), format!("error: {problem}\n"));
    }
    for args in [
        &[][..],
        &["--version", "chord"],
        &["--version", "ccr2012", "--networks", "0"],
        &["--version", "ccr2012", "--joins", "256"],
        &["--version", "ccr2012", "--lists", "4"],
        &["--version", "ccr2012", "--shortest", "stalled"],
        &["--version", "ccr2012", "--shortest", "ordered-ring", "--json"],
    ] {
        assert!(stderr(&exhaust(args).code(2).stdout("")).starts_with("error: "));
    }
}

#[test]
fn the_help_fits_a_terminal() {
    let help = exhaust(&["--help"]).code(0);
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "{}", stdout(&help));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["exhaust", "--version", "tse2017"]).stdout(common::closed()).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(output.stderr, b"");
}

/// Collects the networks after each step of a run.
#[derive(Default)]
struct Passed(HashSet<Snapshot>);

impl Observer for Passed {
    fn observe(&mut self, _event: impl FnOnce() -> Event) {}

    fn see(&mut self, now: &Snapshot, changed: bool) {
        if changed {
            self.0.insert(*now);
        }
    }
}

/// The networks that random runs of so many steps as the bounds permit pass through, and what they violate.
fn random(target: Target, start: Setup, bounds: Bounds, runs: u64) -> (HashSet<Snapshot>, BTreeSet<Breach>) {
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut passed, mut violated) = (Passed::default(), BTreeSet::new());
    for _ in 0..runs {
        let mut bytes = common::bytes(&mut rng, 2 + 2 * 60);
        // No delays, no faults.
        bytes[0] = 0;
        let schedule = Schedule { setup: start, ..Schedule::decode(&bytes) };
        let mut executed = run(target, &schedule, &Options::default(), &mut ()).executed;
        executed.steps.truncate(within(&executed, bounds));
        match run(target, &executed, &Options::default(), &mut passed).verdict {
            Verdict::Ideal => {}
            Verdict::Violated(breach) => _ = violated.insert(breach),
            verdict => panic!("{target}: {verdict:?} by\n{schedule}"),
        }
    }
    (passed.0, violated)
}

/// How many steps there are before the first join or failure too many.
fn within(schedule: &Schedule, bounds: Bounds) -> usize {
    let of = |op, bound: Option<u8>| {
        let steps = schedule.steps.iter().enumerate().filter(|(_, step)| step.op == op);
        steps.map(|(at, _)| at).nth(bound.map_or(usize::MAX, usize::from)).unwrap_or(schedule.steps.len())
    };
    of(Op::Join, bounds.joins).min(of(Op::Fail, bounds.failures))
}

/// Random runs with so many joins and failures against the search with these bounds: no run leaves what the search has
/// seen, and none violates what it says cannot be. Returns the share of the networks that the runs pass through, in
/// percent.
fn compare(name: &str, start: Setup, bounds: Bounds, runs: u64, all: bool) -> usize {
    let target: Target = name.parse().unwrap();
    let explored = search(name, start, bounds);
    let (passed, violated) = random(target, start, bounds, runs);
    for network in &passed {
        assert!(explored.contains(network), "{name}: {network}");
    }
    let summary = explored.summary();
    let found = summary.found.iter().filter(|found| found.shortest_violation.is_some());
    let possible: BTreeSet<_> = found.map(|found| Breach::Broken(found.property)).collect();
    assert!(
        if all { violated == possible } else { violated.is_subset(&possible) },
        "{name}: {violated:?}, {possible:?}"
    );
    100 * passed.len() / summary.networks
}

/// Where blind search does not find everything in so few runs, it finds nothing else.
#[test]
fn random_runs_stay_within_what_is_reachable() {
    let shares = [
        compare("sigcomm2001", setup(4, 1), at_most(3, 2), 3_000, false),
        compare("sigcomm2001", setup(4, 2), at_most(2, 2), 3_000, true),
        compare("ccr2012", setup(4, 1), at_most(3, 2), 3_000, false),
        compare("ccr2012", setup(4, 2), at_most(2, 2), 3_000, true),
        compare("best2012", setup(4, 1), at_most(3, 2), 3_000, false),
        compare("best2012", setup(4, 2), at_most(2, 2), 3_000, false),
        compare("tse2017", setup(6, 3), at_most(2, 1), 3_000, true),
    ];
    expect!["[5, 12, 7, 19, 7, 18, 21]"].assert_eq(&format!("{shares:?}"));
}

/// All joins and failures: some minutes, and the figures of `docs/exhaustive.md`.
#[test]
#[ignore = "takes minutes"]
fn random_runs_stay_within_all_that_is_reachable() {
    for name in ["sigcomm2001", "ccr2012", "best2012"] {
        for ring in 1..=2 {
            let share = compare(name, setup(4, ring), Bounds::default(), 100_000, true);
            println!("{name} from {ring}: {share} %");
        }
    }
}
