//! Minimization, as a library and as `chord-fuzz shrink`: what it keeps, that it is done when it says so, and what it
//! prints where.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::finding::shrink::{Effort, Shrinker, compare};
use chord_fuzz::judge::prove::{Decision, Proof, prove};
use chord_fuzz::judge::{Breach, Judge, Only, Options, Outcome, Target, Verdict, run};
use chord_fuzz::schedule::{Delay, Op, Schedule, Step};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::sweep::{Shape, Sweep};
use chord_fuzz::truth::ident::Ident;
use expect_test::expect;
use tempfile::TempDir;

/// Enough to be stuck, little enough for a test.
const EFFORT: Effort = Effort { candidates: 1_000, ..Effort::FULL };

fn pinned(breach: Breach) -> Options {
    Options { only: Only::these(vec![breach]), ..Options::default() }
}

/// The first schedules of a sweep that violate something, with what they come to.
fn found(target: &str, only: &str, ring: Option<u8>, delays: bool, count: usize) -> Vec<(Target, Outcome)> {
    let target: Target = target.parse().unwrap();
    let options = Options { only: only.parse().unwrap(), ..Options::default() };
    let sweep = Sweep::new(target, options, 1, Shape { steps: 60, ring, delays: Some(delays) }).unwrap();
    let runs = (0..20_000).map(|index| sweep.run(index));
    let found: Vec<_> = runs.filter(|run| matches!(run.verdict, Verdict::Violated(_))).take(count).collect();
    assert_eq!(found.len(), count, "{target}, {only}");
    found.into_iter().map(|outcome| (target, outcome)).collect()
}

/// A finding made long: random steps, with delays or without, wherever they leave it one of the same signature.
fn grown(target: &str, breach: &str, text: &str, delays: bool, seed: u64) -> (Target, Outcome) {
    let (target, breach): (Target, Breach) = (target.parse().unwrap(), breach.parse().unwrap());
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut outcome = run(target, &text.parse().unwrap(), &pinned(breach), &mut ());
    for _ in 0..2_000 {
        let record = Schedule::decode(&[if delays { 0x08 } else { 0 }, 0, rng.u8(..), rng.u8(..)]).steps[0];
        let mut longer = outcome.executed.clone();
        longer.steps.insert(rng.usize(..=longer.steps.len()), record);
        let grown = run(target, &longer, &pinned(breach), &mut ());
        let more = grown.executed.steps.len() > outcome.executed.steps.len() && grown.executed.steps.len() <= 60;
        if grown.verdict == Verdict::Violated(breach) && more {
            outcome = grown;
        }
    }
    assert!(outcome.executed.steps.len() > 30 && outcome.assumptions.immediate != delays, "{}", outcome.executed);
    (target, outcome)
}

/// Z12's two rings: 1 and 3 join a reconciled ring of 0 and 2, are adopted, and fail.
const TWO_RINGS: &str = "join 1 via 0\njoin 2 via 0\njoin 3 via 0\nstabilize 2\nstabilize 0\nstabilize 1\nstabilize 3\n\
                         reconcile 0\nreconcile 2\nstabilize 0\nstabilize 2\nfail 1\nfail 3\n";

/// The same of `best2012`, in the place of one node that fails and comes back.
const BEST_TWO_RINGS: &str = "join 2 via 0\nstabilize 2\nstabilize 0\nadopt 0\njoin 1 via 0\nstabilize 1\nstabilize 0\n\
                              fail 2\nupdate 1\njoin 2 via 1\nadopt 0\nreconcile 1\nfail 0\n";

/// Of all targets that have any, with and without delays.
fn all_findings() -> Vec<(Target, Outcome)> {
    let found = [
        found("sigcomm2001", "", Some(1), false, 4),
        found("sigcomm2001", "", None, true, 4),
        found("sigcomm2001", "at-most-one-ring", None, false, 2),
        found("ccr2012", "", None, false, 3),
        found("claims", "", None, true, 3),
        found("claims", "ordered-appendages", None, true, 1),
        found("claims", "valid-successor-list", Some(1), false, 2),
        found("tse2017-busy", "", None, true, 2),
        found("tse2017-base", "", None, false, 2),
    ];
    let grown = [
        grown("ccr2012", "at-most-one-ring", TWO_RINGS, true, 1),
        grown("claims", "at-most-one-ring", TWO_RINGS, false, 2),
        grown("best2012", "at-most-one-ring", BEST_TWO_RINGS, true, 3),
        grown("best2012", "at-most-one-ring", BEST_TWO_RINGS, false, 4),
    ];
    found.into_iter().flatten().chain(grown).collect()
}

fn shrunk(target: Target, outcome: &Outcome, effort: Effort) -> Schedule {
    let mut shrinker = Shrinker::new(target, outcome, effort).expect("a finding");
    shrinker.shrink(|_| ());
    shrinker.schedule().clone()
}

/// What makes one finding worth more than another of the same signature: no delays, few members to start with, a
/// property that its own steps break, and that no order of maintenance heals.
fn worth(target: Target, breach: Breach, outcome: &Outcome) -> [u8; 4] {
    let by_itself = !matches!(breach, Breach::Broken(property) if property.holds(&outcome.network));
    let proof = prove(target.version.rules(), &outcome.network, EFFORT.networks, |_| ());
    let for_good = target.judge == Judge::NeverHeals && matches!(proof, Proof::Irreparable { .. });
    let few = u8::MAX - outcome.executed.setup.ring;
    [outcome.assumptions.immediate.into(), few, by_itself.into(), for_good.into()]
}

fn at_least(a: [u8; 4], b: [u8; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| *a >= b)
}

/// Everything that is promised of a result, of findings of every kind.
#[test]
fn what_shrinking_promises() {
    let mut sizes = Vec::new();
    for (target, given) in all_findings() {
        let Verdict::Violated(breach) = given.verdict else { unreachable!("a finding") };
        let small = shrunk(target, &given, EFFORT);
        let about = format!("{target}/{breach}:\n{}\nshrunk to\n{small}", given.executed);

        let outcome = run(target, &small, &pinned(breach), &mut ());
        assert_eq!(outcome.verdict, Verdict::Violated(breach), "the signature is kept: {about}");
        assert!(outcome.assumptions.hold(), "{about}");
        assert_eq!(outcome.executed, small, "it is canonical: {about}");
        assert_eq!(Schedule::decode(&small.encode()), small, "also as bytes: {about}");
        assert!(compare(&small, &given.executed).is_le(), "it is not larger: {about}");
        let kept = worth(target, breach, &outcome);
        assert!(at_least(kept, worth(target, breach, &given)), "{kept:?}, {about}");

        assert_eq!(shrunk(target, &given, EFFORT), small, "it is deterministic: {about}");
        assert_eq!(shrunk(target, &outcome, EFFORT), small, "it is done: {about}");
        for candidate in smaller_by_one(&small) {
            let outcome = run(target, &candidate, &pinned(breach), &mut ());
            let better = outcome.verdict == Verdict::Violated(breach)
                && compare(&outcome.executed, &small).is_lt()
                && at_least(worth(target, breach, &outcome), kept);
            assert!(!better, "it is not 1-minimal: {about}\nwhich could be\n{}", outcome.executed);
        }
        sizes.push((given.executed.steps.len(), small.steps.len()));
    }
    let (before, after) = sizes.iter().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    assert!(3 * after < before, "it is worth it: {sizes:?}");
}

/// The schedule without one step, without one delay, with one simpler operation, or with one smaller name.
fn smaller_by_one(schedule: &Schedule) -> Vec<Schedule> {
    let mut smaller = Vec::new();
    for at in 0..schedule.steps.len() {
        let mut shorter = schedule.clone();
        shorter.steps.remove(at);
        smaller.push(shorter);
        let step = schedule.steps[at];
        let simpler = Op::available(false).iter().filter(|op| **op < step.op).map(|&op| Step { op, ..step });
        let lower = (0..step.node.get()).map(|node| Step { node: Ident::new(node), ..step });
        let sooner = [Step { delay: Delay::NONE, ..step }, Step { notice: Delay::NONE, ..step }];
        for step in simpler.chain(lower).chain(sooner) {
            let mut simpler = schedule.clone();
            simpler.steps[at] = step.canonical();
            smaller.push(simpler);
        }
    }
    smaller.retain(|candidate| compare(candidate, schedule).is_lt());
    smaller
}

/// By fair maintenance it never heals, and by another order it would: that is shorter, and less.
#[test]
fn that_no_order_of_maintenance_heals_is_kept() {
    let target: Target = "sigcomm2001".parse().unwrap();
    let options = pinned("ordered-ring".parse().unwrap());
    let shape = Shape { steps: 60, ring: Some(1), delays: Some(false) };
    let given = Sweep::new(target, options.clone(), 1, shape).unwrap().run(1_190_652);
    let result = |networks| {
        let small = shrunk(target, &given, Effort { networks, ..EFFORT });
        (small.steps.len(), run(target, &small, &options, &mut ()).proof)
    };
    let (shorter, proof) = result(0);
    assert!(matches!(proof, Some(Decision::Tried(Proof::Repairable { .. }))), "who does not look slides into it");
    let (longer, proof) = result(EFFORT.networks);
    assert!(matches!(proof, Some(Decision::Tried(Proof::Irreparable { .. }))));
    assert!(shorter < longer, "{shorter} {longer}");
}

/// What is committed is as small as it gets, by a smaller effort than the documented one.
#[test]
fn artifacts_are_shrunk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    let mut wrong = Vec::new();
    for target in Target::all() {
        for breach in Breach::all() {
            let path = root.join(target.to_string()).join(breach.slug());
            let Ok(bytes) = fs::read(&path) else { continue };
            let outcome = run(target, &Schedule::decode(&bytes), &pinned(breach), &mut ());
            let small = shrunk(target, &outcome, Effort { candidates: 20_000, ..Effort::FULL });
            if small.encode() != bytes {
                wrong.push(format!("{} could be\n{small}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of sixty steps with delays those are left that matter.
#[test]
fn a_finding_with_delays() {
    let (target, given) = grown("ccr2012", "at-most-one-ring", TWO_RINGS, true, 5);
    expect![[r#"
        circle 4
        ring 1
        join 1 via 0
        join 2 via 0
        join 3 via 0
        stabilize 2
        stabilize 0
        stabilize 1
        stabilize 3
        reconcile 0
        reconcile 2
        stabilize 0
        stabilize 2
        fail 1
        fail 3
    "#]]
    .assert_eq(&shrunk(target, &given, EFFORT).to_string());
}

#[test]
fn what_violates_nothing_is_not_shrunk() {
    let target: Target = "ccr2012".parse().unwrap();
    let ideal = run(target, &Schedule::decode(&[]), &Options::default(), &mut ());
    assert!(Shrinker::new(target, &ideal, EFFORT).is_none());
    let (target, given) = found("ccr2012", "at-most-one-ring", None, false, 1).remove(0);
    let masked = run(target, &given.executed, &pinned("ordered-ring".parse().unwrap()), &mut ());
    assert!(matches!(masked.verdict, Verdict::Masked(_)));
    assert!(Shrinker::new(target, &masked, EFFORT).is_none());
}

/// The order is total: only what is the same is neither smaller nor larger.
#[test]
fn schedules_are_in_a_total_order() {
    let mut rng = fastrand::Rng::with_seed(1);
    let schedules = (0..20_000).map(|_| Schedule::decode(&[rng.u8(..), rng.u8(..), rng.u8(..), rng.u8(..)]));
    let mut schedules: Vec<_> = schedules.collect();
    let texts: BTreeSet<_> = schedules.iter().map(ToString::to_string).collect();
    schedules.sort_by(compare);
    schedules.dedup_by(|a, b| compare(a, b).is_eq());
    assert_eq!(texts.len(), schedules.len());
    assert!(schedules.is_sorted_by(|a, b| compare(a, b).is_lt() && compare(b, a).is_gt()));
}

/// When its work is used up it ends where it is, and that is still a finding.
#[test]
fn work_is_limited() {
    let (target, given) = found("ccr2012", "at-most-one-ring", Some(1), false, 1).remove(0);
    let lengths = [0, 500, u64::MAX].map(|work| {
        let small = shrunk(target, &given, Effort { work, ..EFFORT });
        assert_eq!(run(target, &small, &Options::default(), &mut ()).verdict, given.verdict);
        small.steps.len()
    });
    assert_eq!(lengths[0], given.executed.steps.len());
    assert!(lengths[0] > lengths[1] && lengths[1] > lengths[2], "{lengths:?}");
}

/// The command in a directory, undisturbed by the environment of the tests.
fn shrink(dir: &Path, args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).arg("shrink").args(["--candidates", "1000"]).args(args).assert()
}

fn check(dir: &Path, args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).args(["shrink", "--check"]).args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

const SIGNATURE: &str = "sigcomm2001/ConnectedAppendages";
const LONG: &str = "circle 9\nring 2\njoin 8 via 2\nstabilize 8\nreconcile 8\njoin 5 via 2\nfail 8\nstabilize 0\n\
                    stabilize 2\nstabilize 5\n";

/// A directory with a violating, an ideal and other inputs of `sigcomm2001`, in a directory of that name.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sigcomm2001")).unwrap();
    let bytes = |text: &str| text.parse::<Schedule>().unwrap().encode();
    for (name, bytes) in
        [("violating", bytes(LONG)), ("ideal", bytes("join 1 via 0\nstabilize 1\n")), ("empty", vec![])]
    {
        fs::write(dir.path().join("sigcomm2001").join(name), bytes).unwrap();
    }
    dir
}

#[test]
fn help() {
    let dir = inputs();
    let help = shrink(dir.path(), &["--help"]).code(0).stderr("");
    expect![[r#"
        Makes a finding as small as it gets, with the same signature

        Usage: chord-fuzz shrink [OPTIONS] <FILE>

        Arguments:
          <FILE>  The input, or `-` for standard input

        Options:
              --version <V>         The target, as for `chord-fuzz replay`
              --faults              Allow loss and partition, which all sources exclude
              --no-rejoin           Let no node that has failed join again
              --late-detection <N>  Take a node for alive for N steps after its failure
              --candidates <N>      How many candidates a search tries [default: 300000]
              --check <SIGNATURE>   Only say whether FILE has this signature
          -o, --out <OUT>           Where to write the bytes
          -h, --help                Print help

        Prints the smallest schedule that it finds with the same signature, in text
        form, and says on standard error how much shorter it is. Steps are removed, what
        is left is simplified, and schedules of the same length are searched for a way
        to a shorter one. The result is the same on every machine, and to shrink it once
        more changes nothing. Besides the signature, it keeps what makes a finding worth
        more: that it has no delays, that it starts with few members, that its own steps
        break the property, and that no order of maintenance heals the network.

        OUT may be FILE. It is replaced as a whole or not at all.

        With --check it is the test of another minimizer instead: it runs FILE with only
        the property of SIGNATURE counting, and says by its exit status alone whether it
        is violated.

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`; not asked with --check

        Exit status:
          0  the schedule is printed; with --check: FILE has the signature
          1  with --check: it has not
          2  FILE cannot be read or violates nothing, or OUT cannot be written

        Examples:
          chord-fuzz shrink fuzz/artifacts/ccr2012/crash-0123 -o /tmp/small
          chord-fuzz shrink --check ccr2012/OrderedRing /tmp/candidate
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn the_shrunk_schedule_is_printed_and_written() {
    let dir = inputs();
    let assert = shrink(dir.path(), &["sigcomm2001/violating", "-o", "out"]).code(0);
    expect![[r#"
        circle 4
        ring 1
        join 1 via 0
        join 2 via 0
        stabilize 2
        fail 2
        stabilize 1
        sigcomm2001/ConnectedAppendages: from 7 steps to 5, by 1,257 executions
    "#]]
    .assert_eq(&format!("{}{}", stdout(&assert), stderr(&assert)));
    let written = fs::read(dir.path().join("out")).unwrap();
    assert_eq!(written, stdout(&assert).parse::<Schedule>().unwrap().encode());

    let printed = shrink(dir.path(), &["--version", "sigcomm2001", "out"]).code(0);
    assert_eq!(stdout(&printed), stdout(&assert), "once more changes nothing");
    let in_place = shrink(dir.path(), &["sigcomm2001/violating", "-o", "sigcomm2001/violating"]).code(0);
    assert_eq!(stdout(&in_place), stdout(&assert));
    assert_eq!(fs::read(dir.path().join("sigcomm2001/violating")).unwrap(), written);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn standard_input() {
    let dir = inputs();
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    let args = ["shrink", "--version", "sigcomm2001", "-"];
    let input = LONG.parse::<Schedule>().unwrap().encode();
    let assert = command.current_dir(dir.path()).env_remove(ONLY).args(args).write_stdin(input).assert().code(0);
    assert_eq!(stdout(&assert), stdout(&shrink(dir.path(), &["sigcomm2001/violating"])));
}

#[test]
fn only_some_breaches_count() {
    let dir = inputs();
    let pinned = |only: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.current_dir(dir.path()).env(ONLY, only).args(["shrink", "sigcomm2001/violating", "-o", "out"]).assert()
    };
    pinned("connected-appendages").code(0);
    fs::remove_file(dir.path().join("out")).unwrap();
    assert!(stderr(&pinned("ordered-ring").code(2).stdout("")).contains("violates nothing that counts"));
    assert!(stderr(&pinned("ordered-rink").code(2).stdout("")).starts_with("error: CHORD_FUZZ_ONLY: "));
    assert!(!dir.path().join("out").exists());
}

#[test]
fn what_cannot_be_shrunk_is_told_in_one_line() {
    let dir = inputs();
    fs::create_dir(dir.path().join("sigcomm2001/directory")).unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = (0..1 << 16).map(|_| rng.u8(..)).collect();
    fs::create_dir(dir.path().join("tse2017")).unwrap();
    fs::write(dir.path().join("tse2017/noise"), noise).unwrap();
    // Only its head is read.
    File::create(dir.path().join("tse2017/huge")).unwrap().set_len(1 << 30).unwrap();
    let files = ["sigcomm2001/ideal", "sigcomm2001/empty", "tse2017/noise", "tse2017/huge", "sigcomm2001/missing"];
    let told: String = files
        .into_iter()
        .chain(["sigcomm2001/directory", "missing/file", "-"])
        .map(|file| stderr(&shrink(dir.path(), &[file, "-o", "out"]).code(2).stdout("")).to_owned())
        .collect();
    expect![[r#"
        error: sigcomm2001/ideal: violates nothing that counts, so that there is nothing to shrink
        error: sigcomm2001/empty: violates nothing that counts, so that there is nothing to shrink
        error: tse2017/noise: violates nothing that counts, so that there is nothing to shrink
        error: tse2017/huge: violates nothing that counts, so that there is nothing to shrink
        error: sigcomm2001/missing: No such file or directory (os error 2)
        error: sigcomm2001/directory: Is a directory (os error 21)
        error: missing/file: No such file or directory (os error 2)
        error: -: standard input is in no directory: give --version
    "#]]
    .assert_eq(&told);
    assert!(!dir.path().join("out").exists());
    let unwritable = shrink(dir.path(), &["sigcomm2001/violating", "-o", "no/such/directory"]).code(2).stdout("");
    assert!(stderr(&unwritable).starts_with("error: no/such/directory: "), "{}", stderr(&unwritable));
    assert_eq!(stderr(&unwritable).lines().count(), 1);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = inputs();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["shrink", "sigcomm2001/violating"]).current_dir(dir.path()).env_remove(ONLY);
    let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(output.stderr, b"");
}

#[test]
fn the_check_says_whether_a_file_has_the_signature() {
    let dir = inputs();
    for signature in [SIGNATURE, "sigcomm2001/connected-appendages"] {
        check(dir.path(), &[signature, "sigcomm2001/violating"]).code(0).stdout("").stderr("");
    }
    for (signature, file) in [
        (SIGNATURE, "sigcomm2001/ideal"),
        (SIGNATURE, "sigcomm2001/empty"),
        ("sigcomm2001/OrderedRing", "sigcomm2001/violating"),
        ("ccr2012/ConnectedAppendages", "sigcomm2001/violating"),
    ] {
        check(dir.path(), &[signature, file]).code(1).stdout("").stderr("");
    }
    let told = check(dir.path(), &[SIGNATURE, "sigcomm2001/missing"]).code(2).stdout("");
    assert!(stderr(&told).starts_with("error: sigcomm2001/missing: "));
    for signature in ["sigcomm2001", "AtLeastOneRing", "sigcomm2002/AtLeastOneRing", "sigcomm2001/AtLeast", "/", ""] {
        check(dir.path(), &[signature, "sigcomm2001/violating"]).code(2).stdout("");
    }
    check(dir.path(), &[SIGNATURE, "sigcomm2001/violating", "--out", "out"]).code(2).stdout("");
    // What another property would end before it is looked at is masked, as by a minimizer that pins the property.
    let artifact: PathBuf = [env!("CARGO_MANIFEST_DIR"), "artifacts/claims/ordered-ring"].iter().collect();
    if artifact.exists() {
        check(dir.path(), &["claims/OrderedRing", artifact.to_str().unwrap()]).code(0);
    }
}
