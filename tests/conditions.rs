//! The conditions of a run: whether a failed node may join again, and how late a failure is noticed.

mod common;

use chord_fuzz::judge::{Breach, Options, Target, Verdict, run};
use chord_fuzz::protocol::replica::{Ask, Message};
use chord_fuzz::schedule::{MAX_BYTES, Op, Schedule};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::world::Conditions;
use chord_fuzz::world::trace::{Event, Observer};

use common::{bytes, record};

const LATE: u8 = 5;

fn targets() -> impl Iterator<Item = Target> {
    let names =
        ["sigcomm2001", "ccr2012", "ccr2012+update+reconcile+answer", "best2012", "tse2017", "tse2017-busy-base"];
    names.into_iter().map(|name| name.parse().unwrap())
}

/// Random schedules for each target, with delays and without.
fn random(mut check: impl FnMut(Target, &Schedule)) {
    for target in targets() {
        let mut rng = fastrand::Rng::with_seed(5);
        for _ in 0..1_000 {
            check(target, &Schedule::decode(&bytes(&mut rng, MAX_BYTES)));
        }
    }
}

fn under(rejoin: bool, late: u8) -> Options {
    Options { conditions: Conditions { rejoin, late }, ..Options::default() }
}

/// How often a node joins that has failed before.
fn rejoins(schedule: &Schedule) -> usize {
    let mut failed = IdentSet::EMPTY;
    let mut rejoins = 0;
    for step in &schedule.steps {
        match step.op {
            Op::Fail => failed.insert(step.node),
            Op::Join if failed.contains(step.node) => rejoins += 1,
            _ => {}
        }
    }
    rejoins
}

#[test]
fn with_rejoin_off_no_failed_node_joins() {
    let (mut with, mut failures) = (0, 0);
    random(|target, schedule| {
        with += rejoins(&run(target, schedule, &Options::default(), &mut ()).executed);
        for late in [0, LATE] {
            let outcome = run(target, schedule, &under(false, late), &mut ());
            assert_eq!(rejoins(&outcome.executed), 0, "{target}:\n{}", outcome.executed);
            assert!(!outcome.assumptions.conditions.rejoin);
            assert!(outcome.assumptions.to_string().ends_with("; no node joins again"));
            failures += outcome.executed.steps.iter().filter(|step| step.op == Op::Fail).count();
        }
    });
    assert!(with > 1_000 && failures > 1_000, "{with} {failures}");
}

/// Where nobody has failed there is nothing to be late for, and nobody to join again.
#[test]
fn without_failures_the_conditions_make_no_difference() {
    let mut alike = 0;
    for target in targets() {
        let mut rng = fastrand::Rng::with_seed(6);
        for _ in 0..3_000 {
            let schedule = Schedule::decode(&bytes(&mut rng, 30));
            let plain = record(target, &schedule, &Options::default());
            if plain.executed.steps.iter().any(|step| step.op == Op::Fail) {
                continue;
            }
            let mut other = record(target, &schedule, &under(false, LATE));
            other.assumptions.conditions = Conditions::default();
            assert_eq!(other, plain, "{target}:\n{schedule}");
            alike += 1;
        }
    }
    assert!(alike > 1_000, "{alike}");
}

/// Takes down whom each node asks what, and when each node fails, and checks each word of the failure detector.
#[derive(Default)]
struct Detector {
    now: u64,
    asked: Vec<(Ident, u32, Ident)>,
    failed: [Option<u64>; 16],
    /// Whether the last words of the detector were of a failure that was unnoticed, and noticed.
    words: Vec<bool>,
}

impl Observer for Detector {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        match event() {
            Event::Step(step) if step.op == Op::Fail => self.failed[step.node.index()] = Some(self.now),
            Event::Sent { from, to, message: Message::Request { nonce, .. }, .. } => self.asked.push((from, nonce, to)),
            Event::Unnoticed { at, nonce } => {
                let asked = self.asked.iter().find(|(from, number, _)| (*from, *number) == (at, nonce)).unwrap().2;
                let failed = self.failed[asked.index()].expect("only a failure goes unnoticed");
                // It was decided up to 21 steps ago, when the answer would have been given.
                assert!(self.now <= failed + u64::from(LATE) + 21);
                self.words.push(true);
            }
            Event::Unanswered { .. } => self.words.push(false),
            _ => {}
        }
    }

    fn see(&mut self, _: &chord_fuzz::truth::snapshot::Snapshot, _: bool) {
        self.now += 1;
    }

    fn wait(&mut self, now: u64) {
        self.now = now;
    }
}

#[test]
fn a_failure_goes_unnoticed_for_some_steps_and_such_a_run_is_outside() {
    let (mut unnoticed, mut noticed) = (0, 0);
    random(|target, schedule| {
        let mut detector = Detector::default();
        let outcome = run(target, schedule, &under(true, LATE), &mut detector);
        let late = detector.words.contains(&true);
        // What ends the run may come before the word does.
        assert!(outcome.assumptions.prompt <= !late, "{target}:\n{schedule}");
        assert_eq!(outcome.assumptions.prompt, outcome.assumptions.hold());
        assert_eq!(matches!(outcome.verdict, Verdict::Outside(_)), !outcome.assumptions.prompt);
        let text = outcome.assumptions.to_string();
        assert_eq!(text.contains("FAILURES UNNOTICED for up to 5 steps"), !outcome.assumptions.prompt, "{text}");
        assert_eq!(text.contains("perfect failure detection"), outcome.assumptions.prompt, "{text}");
        unnoticed += detector.words.iter().filter(|late| **late).count();
        noticed += detector.words.iter().filter(|late| !**late).count();
    });
    assert!(unnoticed > 1_000 && noticed > 1_000, "{unnoticed} {noticed}");
}

/// The check that Z12 added, whether a candidate is alive, is of no use while it is wrong.
#[test]
fn what_a_check_prevents_happens_while_a_failure_is_unnoticed() {
    let schedule: Schedule = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n".parse().unwrap();
    let target: Target = "ccr2012".parse().unwrap();
    let broken = Breach::Broken(chord_fuzz::truth::property::Property::AtLeastOneRing);
    for (late, verdict) in
        [(0, Verdict::Ideal), (1, Verdict::Outside(Some(broken))), (255, Verdict::Outside(Some(broken)))]
    {
        let outcome = run(target, &schedule, &under(true, late), &mut ());
        assert_eq!(outcome.verdict, verdict, "{late}:\n{}", outcome.executed);
    }
    // A step later it has been noticed.
    let schedule: Schedule = "ring 2\njoin 1 via 0\nstabilize 1\nfail 1\nreconcile 2\nstabilize 0\n".parse().unwrap();
    for (late, prompt) in [(1, true), (2, false)] {
        let outcome = run(target, &schedule, &Options { as_given: true, ..under(true, late) }, &mut ());
        assert_eq!(outcome.assumptions.prompt, prompt, "{late}");
    }
}

/// Who asks a failed node for its state while it is taken for alive gives up, and has changed nothing.
#[test]
fn a_state_that_nobody_has_is_not_made_up() {
    for (version, text) in [
        ("ccr2012", "ring 3\nfail 2\nstabilize 0\n"),
        ("ccr2012", "ring 3\nfail 2\nreconcile 0\n"),
        ("tse2017", "ring 4\nfail 2\nstabilize 0\n"),
        ("ccr2012", "ring 3\nfail 2\njoin 3 via 2\n"),
    ] {
        let schedule: Schedule = text.parse().unwrap();
        let mut events = Vec::new();
        let options = Options { as_given: true, ..under(true, LATE) };
        let _ = run(version.parse().unwrap(), &schedule, &options, &mut events);
        let [asks, unnoticed] = &events[events.len() - 2..] else { panic!("{events:?}") };
        assert!(
            matches!(asks, Event::Sent { message: Message::Request { ask, .. }, .. } if *ask != Ask::Alive),
            "{version}, {text}: {asks}"
        );
        assert!(matches!(unnoticed, Event::Unnoticed { .. }), "{version}, {text}: {unnoticed}");
    }
}

/// What is found under conditions is shrunk, proved and exported under them, and is nothing without them.
#[test]
fn commands_keep_to_the_conditions() {
    let name = "ccr2012+update+reconcile+answer.late.no-rejoin.connected-appendages.txt";
    let file = format!("{}/docs/matrix/{name}", env!("CARGO_MANIFEST_DIR"));
    let command = |args: &[&str]| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.env_remove(ONLY).args(args).args(["--version", "ccr2012+update+reconcile+answer", &file]).assert()
    };
    for name in [&["shrink", "--candidates", "100"][..], &["prove"], &["export", "--weftlog", "-"]] {
        command(&[name, &["--no-rejoin", "--late-detection", "5"]].concat()).code(0);
    }
    for name in [&["shrink"][..], &["prove"]] {
        let nothing = command(name).code(2).stdout("");
        assert!(str::from_utf8(&nothing.get_output().stderr).unwrap().contains("violates nothing that counts"));
    }
}
