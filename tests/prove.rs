//! Proofs that no order of maintenance heals a network, beside what a simpler search says of it, and the command
//! `chord-fuzz prove`.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::judge::prove::{Decision, Healing, Obstacle, Proof, decide, healing, prove};
use chord_fuzz::judge::{Breach, Options, Outcome, Target, Verdict};
use chord_fuzz::protocol::model::{self, Action, FLUSH_FIRST, FLUSH_LAST};
use chord_fuzz::protocol::version::Rules;
use chord_fuzz::schedule::Schedule;
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::sweep::{Shape, Sweep};
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::property::{Property, ideal};
use chord_fuzz::truth::snapshot::{Pointers, Snapshot, SuccList};
use expect_test::{Expect, expect};
use serde_json::Value;
use tempfile::TempDir;

/// Two rings of `ccr2012` that fair maintenance leaves as two, and another order joins again.
const REPAIRABLE: &str = "join 1 via 0\njoin 3 via 0\nstabilize 3\nstabilize 1\nfail 1\njoin 1 via 0\nstabilize 0\n\
                          join 2 via 0\nreconcile 3\nstabilize 0\nreconcile 1\nfail 0\n";
/// Z12: without a liveness check, a stabilization adopts a successor that has failed.
const IRREPARABLE: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";

fn sweep(target: &str, steps: usize, ring: Option<u8>, delays: bool) -> Sweep {
    let shape = Shape { steps, ring, delays: Some(delays) };
    Sweep::new(target.parse().unwrap(), Options::default(), 3, shape).unwrap()
}

fn rules(target: &str) -> Rules {
    target.parse::<Target>().unwrap().version.rules()
}

/// Everything that maintenance does next.
fn actions(network: &Snapshot) -> Vec<Action> {
    let kinds = FLUSH_FIRST.into_iter().flatten();
    kinds.flat_map(|kind| network.members().iter().map(kind).collect::<Vec<_>>()).collect()
}

fn next(rules: Rules, network: &Snapshot) -> Vec<Snapshot> {
    let after = |action| {
        let mut next = *network;
        model::apply(rules, &mut next, action);
        next
    };
    actions(network).into_iter().map(after).collect()
}

/// How far each network is that maintenance comes to, and how far the nearest ideal one. `None` if there are too many.
fn explore(rules: Rules, network: &Snapshot, most: usize) -> Option<(HashMap<Snapshot, usize>, Option<usize>)> {
    let mut far = HashMap::from([(*network, 0)]);
    let mut open = VecDeque::from([*network]);
    while let Some(network) = open.pop_front() {
        for next in next(rules, &network) {
            let steps = far[&network] + 1;
            far.entry(next).or_insert_with(|| {
                open.push_back(next);
                steps
            });
        }
        if far.len() > most {
            return None;
        }
    }
    let nearest = far.iter().filter(|(network, _)| ideal(network)).map(|(_, steps)| *steps).min();
    Some((far, nearest))
}

/// A search that asks of each network by itself what can be reached from it says the same.
#[test]
fn a_simpler_search_says_the_same() {
    let mut seen = BTreeMap::new();
    for target in ["sigcomm2001", "ccr2012", "best2012", "ccr2012-join-adopt", "tse2017-base"] {
        let rules = rules(target);
        let sweep = sweep(target, 20, None, false);
        for network in (0..150).map(|index| sweep.run(index).network) {
            let Some((far, nearest)) = explore(rules, &network, 150) else { continue };
            let proof = prove(rules, &network, far.len(), |_| ());
            match (&proof, nearest) {
                (Proof::Repairable { order }, Some(steps)) => assert_eq!(order.len(), steps, "{network}"),
                (Proof::Irreparable { networks }, None) => assert_eq!(*networks, far.len(), "{network}"),
                _ => panic!("{network}: {proof:?}, {nearest:?}"),
            }
            let lost = far.keys().any(|network| explore(rules, network, far.len()).unwrap().1.is_none());
            let expected = match nearest {
                None => Healing::Never,
                Some(_) if lost => Healing::Sometimes,
                Some(_) => Healing::Always,
            };
            assert_eq!(healing(rules, &network, far.len(), |_| ()), Some(expected), "{network}");
            *seen.entry(expected).or_insert(0) += 1;
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|count| *count >= 5), "all occur: {seen:?}");
}

/// Of any network whatever, reachable or not: where there is an obstacle there is one wherever maintenance leads, and nothing
/// ideal.
#[test]
fn no_maintenance_removes_an_obstacle() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut seen = [0; 2];
    for target in ["sigcomm2001", "ccr2012", "best2012", "ccr2012-join-adopt", "ccr2012+answer"] {
        let rules = rules(target);
        for _ in 0..2_000 {
            let mut network = Snapshot::empty(5, 2);
            let mut some = || Some(Ident::new(rng.u8(..5))).filter(|_| rng.u8(..3) > 0);
            for node in IdentSet::circle(5).iter() {
                let list = SuccList::of([some(), some()].into_iter().flatten());
                let pointers = Pointers { list, prdc: some(), saved: some() };
                network.set(node, some().map(|_| pointers));
            }
            let Some(obstacle) = Obstacle::of(rules, &network) else { continue };
            let Some((far, nearest)) = explore(rules, &network, 300) else { continue };
            assert_eq!(nearest, None, "{target}: {network}: {obstacle}");
            assert!(
                far.keys().all(|network| Obstacle::of(rules, network).is_some()),
                "{target}: {network}: {obstacle}"
            );
            seen[usize::from(matches!(obstacle, Obstacle::Apart(_)))] += far.len();
        }
    }
    assert!(seen.iter().all(|networks| *networks > 10_000), "both occur: {seen:?}");
}

/// What is proved is so: no random maintenance heals what is irreparable, and the order given for the rest does.
#[test]
fn what_is_proved_holds() {
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut irreparable, mut repairable) = (0, 0);
    for target in ["sigcomm2001", "ccr2012", "best2012"] {
        let rules = rules(target);
        let sweep = sweep(target, 40, None, false);
        for network in (0..200).map(|index| sweep.run(index).network) {
            let mut after = network;
            match decide(rules, &network, 3_000, |_| ()) {
                Decision::Obstructed(_) | Decision::Tried(Proof::Irreparable { .. }) => {
                    irreparable += 1;
                    for _ in 0..500 {
                        model::apply(rules, &mut after, rng.choice(actions(&network)).unwrap());
                        assert!(!ideal(&after), "{network} heals");
                    }
                }
                Decision::Tried(Proof::Repairable { order }) => {
                    repairable += 1;
                    assert!(
                        order.iter().all(|action| model::apply(rules, &mut after, *action)),
                        "{network}: {order:?}"
                    );
                    assert!(ideal(&after), "{network}: {order:?}");
                }
                Decision::Tried(Proof::Undecided { .. }) => {}
            }
        }
    }
    assert!(irreparable > 50 && repairable > 50, "{irreparable} {repairable}");
}

/// The fair orders of the verdict are among all orders.
#[test]
fn the_fair_order_agrees_where_order_does_not_matter() {
    for target in ["sigcomm2001", "ccr2012", "best2012"] {
        let (rules, sweep) = (rules(target), sweep(target, 40, Some(1), false));
        for network in (0..100).map(|index| sweep.run(index).network) {
            let fair = [FLUSH_FIRST, FLUSH_LAST].map(|round| {
                let mut settled = network;
                model::settle(rules, &mut settled, round) && ideal(&settled)
            });
            match healing(rules, &network, 1_000, |_| ()) {
                Some(Healing::Always) => assert_eq!(fair, [true; 2], "{network}"),
                Some(Healing::Never) => assert_eq!(fair, [false; 2], "{network}"),
                Some(Healing::Sometimes) | None => {}
            }
        }
    }
}

/// Z17's theorem, and more: wherever `tse2017` gets, no order of maintenance loses the ideal network.
#[test]
fn tse2017_always_heals() {
    let (rules, mut decided) = (rules("tse2017"), 0);
    for delays in [false, true] {
        let sweep = sweep("tse2017", 30, None, delays);
        for Outcome { verdict, network, .. } in (0..100).map(|index| sweep.run(index)) {
            assert_eq!(verdict, Verdict::Ideal);
            match healing(rules, &network, 2_000, |_| ()) {
                Some(healing) => assert_eq!(healing, Healing::Always, "{network}"),
                None => continue,
            }
            decided += 1;
        }
    }
    assert!(decided > 50, "{decided}");
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).arg("prove").args(args);
    command
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

/// Standard error, which names one problem in one line, if any.
fn stderr(assert: &Assert) -> &str {
    let text = str::from_utf8(&assert.get_output().stderr).unwrap();
    assert!(text.lines().count() <= 1 && text.lines().all(|line| line.starts_with("error: ")), "{text}");
    text
}

/// A directory with inputs of two targets, in directories of their names.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for target in ["sigcomm2001", "ccr2012"] {
        fs::create_dir(dir.path().join(target)).unwrap();
    }
    let bytes = |text: &str| text.parse::<Schedule>().unwrap().encode();
    fs::write(dir.path().join("sigcomm2001/irreparable"), bytes(IRREPARABLE)).unwrap();
    fs::write(dir.path().join("sigcomm2001/ideal"), bytes("join 1 via 0\n")).unwrap();
    fs::write(dir.path().join("sigcomm2001/empty"), b"").unwrap();
    fs::write(dir.path().join("ccr2012/repairable"), REPAIRABLE).unwrap();
    dir
}

fn assert_prints(args: &[&str], code: i32, expected: &Expect) {
    let dir = inputs();
    let assert = command(dir.path(), args).assert().code(code);
    expected.assert_eq(stdout(&assert));
    assert_eq!(stderr(&assert), "");
}

#[test]
fn help() {
    let dir = tempfile::tempdir().unwrap();
    let help = command(dir.path(), &["--help"]).assert().code(0).stderr("");
    expect![[r#"
        Tries all orders of maintenance on what a finding leaves

        Usage: chord-fuzz prove [OPTIONS] <FILE>...

        Arguments:
          <FILE>...  An input, as bytes or as text, or `-` for standard input

        Options:
              --version <V>         The target, as for `chord-fuzz replay`
              --faults              Allow loss and partition, which all sources exclude
              --no-rejoin           Let no node that has failed join again
              --late-detection <N>  Take a node for alive for N steps after its failure
              --networks <N>        The most networks to look at [default: 2000000]
              --json                Print JSON instead, a line for each file
          -h, --help                Print help

        Tries all orders of maintenance, of every kind at every member, without joins
        and failures, in the model without messages, on what fair maintenance does not
        heal. It starts from the network where the run was found broken: there nothing
        is on its way. The verdict of a run does the same, but gives up sooner.

        Prints the signature, that network, and one of these:
          irreparable: 216 networks, all orders   there are no others to come to
          repairable: 5 steps                     a shortest order, with the network
                                                  after each step
          undecided: more than 2000000 networks

        Before that, a reason that needs no trying, if there is one:
          irreparable: 0 has no live successor, and nobody to ask for one
          irreparable: no pointer leads from 1, 3 to the other members, or back

        What a finding of `claims` breaks usually heals, which is no claim that it does
        not; then it is told whether it heals in every order. There, and where the
        property is the Invariant, something may be on its way: it is left out, but that
        the Invariant is judged with every answer that has been given already.

        Of several files it prints a line each, in three columns that are two or more
        spaces apart: the file, the signature, and the reason, or if there is none, what
        trying comes to.

        --json prints one JSON object for each file: `format`, which is 1; `file`,
        `signature`, `target`, `property` and `network`; `heals`, whether an order heals
        it, which is null if undecided; the `obstacle`, a reason that needs no trying;
        otherwise `networks`, how many there are if it is irreparable, and the steps of
        a shortest `order` if it is repairable. What does not apply is null.

        Some dozens of networks are usual with 2 members, some thousands with 4 or 5,
        and millions with 8. A million of them take some 200 MB of memory, and twice
        that for a finding of `claims`.

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

        Exit status:
          0    irreparable: no order heals it, which is a proof, of one kind or both
          1    repairable: an order heals it, so that it is not broken for good
          2    undecided, bad usage, or a file that cannot be run or violates nothing;
               of several, the others are tried all the same, and the greatest counts
          141  standard output was closed before the end

        Examples:
          chord-fuzz prove artifacts/ccr2012/ordered-ring
          chord-fuzz prove --json artifacts/{sigcomm2001,ccr2012,best2012}/*
          CHORD_FUZZ_ONLY=ordered-ring chord-fuzz prove artifacts/claims/ordered-ring
          chord-fuzz disassemble crash-0123 | chord-fuzz prove --version best2012 -
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn an_irreparable_network() {
    assert_prints(
        &["sigcomm2001/irreparable"],
        0,
        &expect![[r#"
        sigcomm2001/AtLeastOneRing
        the network at the break:
            0: 1/-/1
        irreparable: 0 has no live successor, and nobody to ask for one
        irreparable: 2 networks, all orders
    "#]],
    );
}

#[test]
fn a_repairable_network() {
    assert_prints(
        &["ccr2012/repairable"],
        1,
        &expect![[r#"
        ccr2012/AtMostOneRing
        the network at the break:
            1: 0/1/0, 2: 3/-/-, 3: 0/3/1
        repairable: 10 steps
            flush 1      1: 0/1/-, 2: 3/-/-, 3: 0/3/1
            update 1     1: 1/-/-, 2: 3/-/-, 3: 0/3/1
            update 3     1: 1/-/-, 2: 3/-/-, 3: 3/-/1
            stabilize 3  1: 1/-/3, 2: 3/-/-, 3: 1/-/1
            reconcile 2  1: 1/-/3, 2: 3/1/-, 3: 1/-/1
            stabilize 1  1: 3/-/3, 2: 3/1/-, 3: 1/-/1
            stabilize 2  1: 3/-/3, 2: 3/1/-, 3: 1/-/2
            stabilize 1  1: 2/-/3, 2: 3/1/1, 3: 1/-/2
            reconcile 1  1: 2/3/3, 2: 3/1/1, 3: 1/-/2
            reconcile 3  1: 2/3/3, 2: 3/1/1, 3: 1/2/2
        it depends on the order: another one puts it beyond repair
    "#]],
    );
}

/// It is known that it heals, and not that another order loses it.
#[test]
fn a_repairable_network_of_which_not_all_is_known() {
    let dir = inputs();
    let assert = command(dir.path(), &["--networks", "410", "ccr2012/repairable"]).assert().code(1);
    assert!(stdout(&assert).ends_with("\nwhether another order puts it beyond repair is undecided\n"), "{assert}");
}

#[test]
fn too_many_networks() {
    assert_prints(
        &["--networks", "20", "ccr2012/repairable"],
        2,
        &expect![[r#"
        ccr2012/AtMostOneRing
        the network at the break:
            1: 0/1/0, 2: 3/-/-, 3: 0/3/1
        undecided: more than 20 networks
    "#]],
    );
}

/// Of several files each has a line, and what cannot be run keeps no other from being run.
#[test]
fn several_files() {
    let dir = inputs();
    let files = ["sigcomm2001/irreparable", "ccr2012/repairable"];
    let assert = command(dir.path(), &files).assert().code(1).stderr("");
    expect![[r#"
        sigcomm2001/irreparable  sigcomm2001/AtLeastOneRing       irreparable: 0 has no live successor, and nobody to ask for one
        ccr2012/repairable       ccr2012/AtMostOneRing            repairable: 10 steps
    "#]]
    .assert_eq(stdout(&assert));
    let one = command(dir.path(), &[files[0], "missing", "sigcomm2001/ideal", files[1]]).assert().code(2);
    assert_eq!(stdout(&one), stdout(&assert));
    let told = str::from_utf8(&one.get_output().stderr).unwrap();
    assert!(
        told.starts_with("error: missing: ") && told.contains("\nerror: sigcomm2001/ideal: violates nothing"),
        "{told}"
    );
    command(dir.path(), &[files[0], files[0]]).assert().code(0).stderr("");
    let undecided = command(dir.path(), &["--networks", "20", files[1], files[0]]).assert().code(2).stderr("");
    assert!(stdout(&undecided).contains("undecided: more than 20 networks\n"), "{undecided}");
}

#[test]
fn json() {
    let dir = inputs();
    let assert = command(dir.path(), &["--json", "sigcomm2001/irreparable", "ccr2012/repairable"]).assert().code(1);
    expect![[r#"
        {"format":1,"file":"sigcomm2001/irreparable","signature":"sigcomm2001/AtLeastOneRing","target":"sigcomm2001","property":"at-least-one-ring","network":"0: 1/-/1","heals":false,"obstacle":"0 has no live successor, and nobody to ask for one","networks":null,"order":null}
        {"format":1,"file":"ccr2012/repairable","signature":"ccr2012/AtMostOneRing","target":"ccr2012","property":"at-most-one-ring","network":"1: 0/1/0, 2: 3/-/-, 3: 0/3/1","heals":true,"obstacle":null,"networks":null,"order":["flush 1","update 1","update 3","stabilize 3","reconcile 2","stabilize 1","stabilize 2","stabilize 1","reconcile 1","reconcile 3"]}
    "#]]
    .assert_eq(stdout(&assert.stderr("")));
    let undecided = command(dir.path(), &["--json", "--networks", "20", "ccr2012/repairable"]).assert().code(2);
    let document: Value = serde_json::from_str(stdout(&undecided)).unwrap();
    assert_eq!((&document["heals"], &document["order"]), (&Value::Null, &Value::Null));
    let missing = command(dir.path(), &["--json", "missing"]).assert().code(2).stdout("");
    assert!(stderr(&missing).starts_with("error: missing: "));
    // It says where, as without --json.
    fs::write(dir.path().join("ccr2012/text"), "join 1 via 0\nexplode 1\n").unwrap();
    let plain = command(dir.path(), &["ccr2012/text"]).assert().code(2);
    let stderr = command(dir.path(), &["--json", "ccr2012/text"]).assert().code(2).get_output().stderr.clone();
    assert_eq!(stderr, plain.get_output().stderr);
}

#[test]
fn standard_input() {
    let dir = inputs();
    let given = command(dir.path(), &["ccr2012/repairable"]).assert().code(1);
    let piped = command(dir.path(), &["--version", "ccr2012", "-"]).write_stdin(REPAIRABLE).assert().code(1);
    assert_eq!(stdout(&piped), stdout(&given));
    // By the rules of another version it is another run.
    command(dir.path(), &["--version", "tse2017", "ccr2012/repairable"]).assert().code(2).stdout("");
}

/// What Z12's first counterexample breaks heals, and `claims` does not deny it.
#[test]
fn a_finding_of_claims() {
    let dir = inputs();
    let merges = "ring 1\njoin 2 via 0\nstabilize 2\njoin 1 via 0\nstabilize 0\n";
    let assert = command(dir.path(), &["--version", "claims", "-"]).write_stdin(merges).assert().code(1);
    expect![[r#"
        claims/OrderedMerges
        the network at the break, which is no claim that it never heals:
            0: 2/-/2, 1: 0/-/-, 2: 0/-/-
        repairable: 5 steps
            stabilize 1  0: 2/-/2, 1: 2/-/-, 2: 0/-/1
            reconcile 1  0: 2/-/2, 1: 2/0/-, 2: 0/-/1
            stabilize 0  0: 1/-/2, 1: 2/0/0, 2: 0/-/1
            reconcile 0  0: 1/2/2, 1: 2/0/0, 2: 0/-/1
            reconcile 2  0: 1/2/2, 1: 2/0/0, 2: 0/1/1
        it heals in every order: whatever maintenance does, it can still heal
    "#]]
    .assert_eq(stdout(&assert));
}

/// It is the network in effect that breaks the invariant.
#[test]
fn a_broken_invariant() {
    let sweep = sweep("tse2017-busy", 60, None, true);
    let broken = Verdict::Violated(Breach::Broken(Property::Invariant));
    let outcome = (0..20_000).map(|index| sweep.run(index)).find(|outcome| outcome.verdict == broken).unwrap();
    let dir = inputs();
    let mut command = command(dir.path(), &["--version", "tse2017-busy", "--networks", "1", "-"]);
    let assert = command.write_stdin(outcome.executed.encode()).assert();
    let start = format!(
        "tse2017-busy/Invariant\nthe network in effect at the break, which is no claim that it never heals:\n    {}\n",
        outcome.network
    );
    assert!(stdout(&assert).starts_with(&start), "{assert}");
}

#[test]
fn only_some_properties_count() {
    let dir = inputs();
    let pinned = |only: &str| command(dir.path(), &["sigcomm2001/irreparable"]).env(ONLY, only).assert();
    pinned("at-least-one-ring").code(0);
    assert!(stderr(&pinned("ordered-ring").code(2).stdout("")).contains("violates nothing that counts"));
    assert!(stderr(&pinned("ordered-rink").code(2).stdout("")).starts_with("error: CHORD_FUZZ_ONLY: "));
}

#[test]
fn what_cannot_be_proved_is_told_in_one_line() {
    let dir = inputs();
    fs::create_dir(dir.path().join("sigcomm2001/directory")).unwrap();
    fs::create_dir(dir.path().join("tse2017")).unwrap();
    fs::write(dir.path().join("tse2017/noise"), common::bytes(&mut fastrand::Rng::with_seed(1), 1 << 16)).unwrap();
    // Only its head is read.
    File::create(dir.path().join("tse2017/huge")).unwrap().set_len(1 << 30).unwrap();
    let told: String = [
        "sigcomm2001/ideal",
        "sigcomm2001/empty",
        "tse2017/noise",
        "tse2017/huge",
        "sigcomm2001/missing",
        "sigcomm2001/directory",
        "missing/file",
        "-",
    ]
    .into_iter()
    .map(|file| stderr(&command(dir.path(), &[file]).assert().code(2).stdout("")).to_owned())
    .collect();
    expect![[r#"
        error: sigcomm2001/ideal: violates nothing that counts, so that there is nothing to prove
        error: sigcomm2001/empty: violates nothing that counts, so that there is nothing to prove
        error: tse2017/noise: violates nothing that counts, so that there is nothing to prove
        error: tse2017/huge: violates nothing that counts, so that there is nothing to prove
        error: sigcomm2001/missing: No such file or directory (os error 2)
        error: sigcomm2001/directory: Is a directory (os error 21)
        error: missing/file: No such file or directory (os error 2)
        error: -: standard input is in no directory: give --version
    "#]]
    .assert_eq(&told);
    for networks in ["0", "-1", "many", "99999999999999999999"] {
        command(dir.path(), &["--networks", networks, "sigcomm2001/irreparable"]).assert().code(2).stdout("");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = inputs();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["prove", "ccr2012/repairable"]).current_dir(dir.path()).env_remove(ONLY);
    let child = command.stdout(common::closed()).stderr(Stdio::piped()).spawn().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(output.stderr, b"");
}
