//! `chord-fuzz sweep` as its users see it: its table does not depend on the machine or the number of threads.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::judge::{Breach, Options, Target, Verdict, run};
use chord_fuzz::schedule::Schedule;
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::sweep::{Shape, Sweep};
use expect_test::{Expect, expect};

fn sweep(args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.env_remove(ONLY).arg("sweep").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

/// The command prints this, with one thread and with two, and no progress bar where there is no terminal.
fn prints(args: &[&str], expected: &Expect) {
    let [one, two] = ["1", "2"].map(|jobs| sweep(&[args, &["--jobs", jobs]].concat()).code(0));
    expected.assert_eq(stdout(&one));
    assert_eq!(stdout(&one), stdout(&two));
    assert!(stderr(&two).lines().all(|line| line.contains(" runs in ")), "{}", stderr(&two));
}

#[test]
fn the_table_of_sigcomm2001() {
    prints(
        &["--version", "sigcomm2001", "--runs", "5000", "--seed", "1"],
        &expect![[r#"
        signature                             count       rate   first hit  fewest steps
        sigcomm2001/AtLeastOneRing             1219   24.3800%           3             3
        sigcomm2001/AtMostOneRing                 7    0.1400%        1200            15
        sigcomm2001/ConnectedAppendages        1862   37.2400%           0             2
        runs                                   5000
    "#]],
    );
}

#[test]
fn until_a_property_is_violated() {
    let args = ["--version", "ccr2012", "--ring", "1", "--delays", "no", "--until", "at-most-one-ring"];
    prints(
        &args,
        &expect![[r#"
        signature                   count       rate   first hit  fewest steps
        ccr2012/AtMostOneRing           1    0.4566%         218            23
        runs                          219
        AtMostOneRing: hit at index 218, after 219 runs
    "#]],
    );
    prints(
        &["--version", "tse2017", "--runs", "50", "--until", "OrderedRing"],
        &expect![[r#"
        signature       count       rate   first hit  fewest steps
        runs               50
        OrderedRing: no hit in 50 runs
    "#]],
    );
}

#[test]
fn the_peers_levels() {
    prints(
        &["--peer", "--runs", "2000"],
        &expect![[r#"
        level  version                                         runs  violations       rate  AtLeastOneRing  AtMostOneRing  OrderedRing  ConnectedAppendages
            0  sigcomm2001                                     2000         786   39.3000%             266              0            0                  520
            1  sigcomm2001+adopt                               2000         569   28.4500%               0              0            0                  569
            2  sigcomm2001+adopt+update+reconcile+answer       2000         621   31.0500%               0              0            0                  621
    "#]],
    );
}

#[test]
fn only_pinned_violations_count() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    let args = ["sweep", "--version", "sigcomm2001", "--runs", "500"];
    let assert = command.env(ONLY, "ordered-merges").args(args).assert().code(0);
    assert_eq!(stdout(&assert).lines().count(), 2, "a header and the number of runs:\n{}", stdout(&assert));
}

/// What the table says of an index can be run again, also as bytes.
#[test]
fn a_hit_is_a_schedule() {
    let target: Target = "ccr2012".parse().unwrap();
    let breach: Breach = "at-most-one-ring".parse().unwrap();
    let shape = Shape { steps: 60, ring: Some(1), delays: Some(false) };
    let sweep = Sweep::new(target, Options::default(), 1, shape).unwrap();
    let first = sweep.first_hit(breach, 100_000).unwrap();
    assert_eq!(sweep.tally(first + 1, None, |_| ()).found[&breach].first, first);
    let again = Schedule::decode(&sweep.schedule(first).encode());
    assert_eq!(run(target, &again, &Options::default(), &mut ()).verdict, Verdict::Violated(breach));
}

#[test]
fn bad_usage() {
    for args in [
        &[][..],
        &["--version", "chord"],
        &["--version", "ccr2012", "--steps", "0"],
        &["--version", "ccr2012", "--steps", "97"],
        &["--version", "ccr2012", "--ring", "7"],
        &["--version", "ccr2012", "--delays", "perhaps"],
        &["--version", "ccr2012", "--until", "nothing"],
        &["--version", "ccr2012", "--jobs", "0"],
        &["--version", "ccr2012", "--runs", "0"],
        &["--version", "ccr2012", "--peer"],
    ] {
        let assert = sweep(args).code(2).stdout("");
        assert!(stderr(&assert).starts_with("error: "), "{}", stderr(&assert));
    }
    let impossible = sweep(&["--version", "tse2017", "--ring", "2"]).code(2).stdout("");
    assert_eq!(stderr(&impossible), "error: `tse2017` starts from no ring of 2\n");
}

#[test]
fn the_help_fits_a_terminal_and_says_what_is_not_as_the_peer_has_it() {
    let help = sweep(&["--help"]).code(0);
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "{}", stdout(&help));
    assert!(stdout(&help).contains("perfect, the peer's is delayed"));
}
