//! `chord-fuzz census`: how many broken networks heal, and in which orders.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::judge::prove::{Healing, healing};
use chord_fuzz::judge::{Breach, Only, Options, Target, rehearse};
use chord_fuzz::protocol::model;
use chord_fuzz::search::census::{Plan, census};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::sweep::{Shape, Sweep};
use chord_fuzz::truth::property::{Property, first_broken, ideal};
use expect_test::expect;

fn sweep(target: &str, ring: Option<u8>) -> Sweep {
    let shape = Shape { steps: 40, ring, delays: Some(false) };
    Sweep::new(target.parse().unwrap(), Options::default(), 1, shape).unwrap()
}

/// A run that the census counts as a violation is one, of the same property, and there are no others.
#[test]
fn violations_are_those_of_the_verdict() {
    for (target, ring, runs) in [("sigcomm2001", None, 2_000), ("ccr2012", Some(3), 20_000), ("tse2017", None, 1_000)] {
        let sweep = sweep(target, ring);
        let rules = target.parse::<Target>().unwrap().version.rules();
        let found = census(rules, &sweep, Plan { networks: usize::MAX, members: 16, limit: 1, runs }, |_, _| ());
        let tally = sweep.tally(runs, None, |_| ());
        let violations = found.counts.iter().map(|(property, count)| (Breach::Broken(*property), count.violations));
        let expected = tally.found.iter().map(|(breach, found)| (*breach, found.count));
        assert!(
            violations.filter(|(_, count)| *count > 0).eq(expected),
            "{target}: {:?}, {:?}",
            found.counts,
            tally.found
        );
        assert_eq!((found.runs, tally.violations() > 0), (runs, target != "tse2017"));
    }
}

/// The examples are what they are said to be.
#[test]
fn examples_break_and_heal() {
    let target: Target = "ccr2012".parse().unwrap();
    let rules = target.version.rules();
    let sweep = sweep("ccr2012", Some(2));
    let found = census(rules, &sweep, Plan { networks: 800, members: 4, limit: 10_000, runs: 100_000 }, |_, _| ());
    assert!(!found.examples.is_empty());
    for (expected, example) in found.examples {
        assert_ne!(expected, Healing::Never);
        assert_eq!(healing(rules, &example.network, 10_000, |_| ()), Some(expected));
        assert_eq!(first_broken(&example.network, &Property::REQUIRED), Some(example.property));
        let nothing = Options { only: Only::these(Vec::new()), ..Options::default() };
        let (_, executed) = rehearse(target, &example.schedule, &nothing);
        assert!(example.schedule.steps.starts_with(&executed.steps), "it is canonical");
        let mut healed = example.network;
        assert!(example.order.iter().all(|action| model::apply(rules, &mut healed, *action)) && ideal(&healed));
    }
}

fn command(args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.env_remove(ONLY).arg("census").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

const SMALL: [&str; 10] =
    ["--version", "ccr2012", "--networks", "200", "--members", "3", "--ring", "2", "--limit", "2000"];

#[test]
fn help() {
    let help = command(&["--help"]).code(0).stderr("");
    expect![[r#"
        Counts how many broken networks heal, and in which orders

        Usage: chord-fuzz census [OPTIONS] --version <V>

        Options:
              --version <V>   The version, as for `chord-fuzz replay`, but not claims
              --networks <N>  How many networks to meet [default: 100000]
              --members <M>   The most members of a network, 1 to 16 [default: 5]
              --limit <N>     How many networks each proof may look at [default: 20000]
              --runs <N>      How many runs to make, at most [default: 100000000]
              --seed <S>      The seed [default: 1]
              --steps <N>     The steps of each run, 1 to 96 [default: 96]
              --ring <K>      Only start with this many members, 1 to 6
              --jobs <J>      How many threads; all processors by default
          -h, --help          Print help

        Makes random runs without delays, the same as `chord-fuzz sweep --delays no`,
        until they have met so many different networks in which a required property is
        broken, whether or not they heal, and says of each in which orders of
        maintenance it heals: all are tried, unless it shows that none does.
        Networks that differ by the names of the nodes alone are counted as different.
        A run goes on after a violation, so that it may meet many.

        Prints two tables, in columns that are two or more spaces apart. Of the
        networks, by the property that is broken:
          always     no order loses it: whatever maintenance does, it can still heal
          sometimes  some orders heal it and others put it beyond repair; in how many of
                     these a fair order heals it (fair) or none (unfair)
          never      no order heals it
          undecided  there are more networks to come to than --limit
        and of the runs of which fair maintenance does not heal the first such network,
        where that has no more members than --members:
          heals      some other order heals it, so that it is no violation
          unknown    undecided
        Then, of the networks that heal always, and sometimes, the smallest, by members
        and then by steps, with the run that leads to it and the order that heals it.

        It is the same for any number of threads. A hundred thousand networks take a
        minute or some minutes, but of best2012, which is rarely broken, half an hour.

        Exit status:
          0    whatever is found
          2    bad usage
          141  standard output was closed before the end

        Examples:
          chord-fuzz census --version ccr2012
          chord-fuzz census --version best2012 --networks 1000 --members 4 --seed 7
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn a_small_census() {
    let assert = command(&SMALL).code(0).stderr("");
    expect![[r#"
        networks                     all     always       fair     unfair      never  undecided
        ccr2012/AtMostOneRing        193          6          0          0        187          0
        ccr2012/OrderedRing           10          5          0          0          5          0

        violations                  runs      heals      share    unknown
        ccr2012/AtMostOneRing         39          0      0.00%          0
        ccr2012/OrderedRing            0          0          -          0

        in 13,503 runs

        the smallest network that heals in every order: AtMostOneRing is broken in run 332 after
            circle 12
            ring 2
            join 1 via 0
            stabilize 1
            join 4 via 2
            stabilize 0
            stabilize 4
            stabilize 2
            reconcile 1
            fail 4
            fail 1
            update 0
            join 1 via 0
        with the network
            0: 0/-/4, 1: 0/-/-, 2: 4/2/1
        which heals by
            flush 0      0: 0/-/-, 1: 0/-/-, 2: 4/2/1
            update 2     0: 0/-/-, 1: 0/-/-, 2: 2/-/1
            stabilize 1  0: 0/-/1, 1: 0/-/-, 2: 2/-/1
            stabilize 0  0: 1/-/1, 1: 0/-/0, 2: 2/-/1
            stabilize 2  0: 1/-/1, 1: 0/-/0, 2: 1/-/1
            stabilize 2  0: 1/-/2, 1: 0/-/0, 2: 0/-/1
            reconcile 2  0: 1/-/2, 1: 0/-/0, 2: 0/1/1
            stabilize 1  0: 1/-/2, 1: 2/-/0, 2: 0/1/1
            reconcile 0  0: 1/2/2, 1: 2/-/0, 2: 0/1/1
            reconcile 1  0: 1/2/2, 1: 2/0/0, 2: 0/1/1
    "#]]
    .assert_eq(stdout(&assert));
}

#[test]
fn it_is_the_same_for_any_number_of_threads() {
    let with = |jobs| stdout(&command(&[&SMALL[..], &["--jobs", jobs]].concat()).code(0)).to_owned();
    assert_eq!(with("1"), with("3"));
}

#[test]
fn nothing_is_met() {
    let assert = command(&["--version", "tse2017", "--runs", "100"]).code(0).stderr("");
    expect![[r#"
        networks          all     always       fair     unfair      never  undecided

        violations       runs      heals      share    unknown

        in 100 runs
    "#]]
    .assert_eq(stdout(&assert));
}

#[test]
fn bad_usage() {
    let claims = command(&["--version", "claims"]).code(2).stdout("");
    let told = String::from_utf8_lossy(&claims.get_output().stderr).into_owned();
    assert_eq!(told, "error: `claims` is no version: what it breaks may heal\n");
    for args in [
        &["--networks", "10"][..],
        &["--version", "tse2017", "--ring", "1", "--runs", "1"],
        &["--version", "ccr2012", "--members", "0"],
        &["--version", "ccr2012", "--networks", "0"],
        &["--version", "ccr2012", "--steps", "97"],
    ] {
        command(args).code(2).stdout("");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.arg("census").args(SMALL).env_remove(ONLY);
    let output = command.stdout(common::closed()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(output.stderr, b"");
}
