//! What runs reach: each fact has a smallest case, and what is to be searched reaches them all.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use chord_fuzz::finding::story::Story;
use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::protocol::version::Version;
use chord_fuzz::schedule::{MAX_BYTES, Schedule, mutate};
use chord_fuzz::search::novelty;
use chord_fuzz::search::reach::{FACTS, features, reached};
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::trace::{Event, Observer};
use common::bytes;
use expect_test::expect;

fn story(target: Target, schedule: &Schedule) -> Story {
    Story::of(target, schedule, &Options::default())
}

/// A fact, a version, a schedule, and how often the fact occurs in it.
type Case = (&'static str, &'static str, &'static str, usize);

/// The smallest case of each fact, and one that differs from it in little and lacks it.
const CASES: &[Case] = &[
    ("joins-at-one-contact", "ccr2012", "join 1 via 0 delay 5; join 2 via 0", 1),
    ("joins-at-one-contact", "ccr2012", "join 1 via 0; join 2 via 0", 0),
    ("joins-at-one-contact", "ccr2012", "ring 2; join 1 via 0 delay 5; join 3 via 2", 0),
    // Node 3 asks 0 when that has no successor before 3 yet, and is answered when it has.
    ("join-refused", "ccr2012", "join 1 via 0; stabilize 1; join 3 via 0 delay 2; stabilize 0", 1),
    ("join-refused", "ccr2012", "join 1 via 0; stabilize 1; join 3 via 0; stabilize 0", 0),
    ("joiner-asked", "ccr2012", "ring 2; fail 0; update 2; join 0 via 2 delay 1; stabilize 2", 1),
    ("joiner-asked", "ccr2012", "ring 2; fail 0; update 2; join 0 via 2; stabilize 2", 0),
    ("join-during-stabilization", "ccr2012", "ring 2; stabilize 2 delay 2; join 1 via 0", 1),
    ("join-during-stabilization", "ccr2012", "ring 2; reconcile 2 delay 2; join 1 via 0", 0),
    ("join-during-stabilization", "ccr2012", "ring 2; join 1 via 0; stabilize 2 delay 2", 0),
    ("stale-pointer-revived", "sigcomm2001", "join 1 via 0; stabilize 1; fail 1; join 1 via 0", 1),
    ("stale-pointer-revived", "sigcomm2001", "join 1 via 0; stabilize 1; fail 1; flush 0; join 1 via 0", 0),
    // The padding of a list names 1, which has never been a member.
    ("stale-pointer-revived", "tse2017", "ring 4; fail 2; stabilize 0; join 5 via 4", 0),
    ("asked-node-fails", "ccr2012", "join 1 via 0; join 3 via 1 delay 5; fail 1", 1),
    ("asked-node-fails", "ccr2012", "join 1 via 0; join 3 via 0 delay 5; fail 1", 0),
    ("answer-of-the-dead", "ccr2012", "ring 3; stabilize 0 delay 1; join 5 via 4; fail 2", 1),
    ("answer-of-the-dead", "ccr2012", "ring 3; stabilize 0 delay 1; join 5 via 4; fail 4", 0),
    ("notification-of-the-dead", "ccr2012", "ring 2; stabilize 0 notice 5; fail 0", 1),
    ("notification-of-the-dead", "ccr2012", "ring 2; stabilize 0 notice 5; fail 2", 0),
    ("answer-to-an-earlier-life", "ccr2012", "join 1 via 0; stabilize 1 delay 21; fail 1; join 1 via 0", 1),
    ("answer-to-an-earlier-life", "ccr2012", "join 1 via 0; stabilize 1 delay 21; fail 1; join 2 via 0", 0),
    ("datagram-discarded", "ccr2012", "ring 2; stabilize 0 notice 5; fail 2", 1),
    ("datagram-discarded", "ccr2012", "ring 2; stabilize 0 notice 5; fail 0", 0),
    // The second request and the second notification overtake the first notification.
    ("overtaking", "ccr2012", "ring 2; stabilize 0 notice 3; stabilize 0", 2),
    ("overtaking", "ccr2012", "ring 2; stabilize 0 notice 3; stabilize 2", 1),
    ("overtaking", "ccr2012", "ring 2; stabilize 0 notice 3; join 1 via 0", 0),
    ("overtaking", "ccr2012", "stabilize 0 notice 3; stabilize 0", 0),
    // Of two nodes the larger waits for the smaller one.
    ("busy", "tse2017", "ring 3; stabilize 2 delay 5; stabilize 0", 1),
    ("busy", "tse2017", "ring 3; stabilize 0 delay 5; stabilize 4", 0),
    ("busy", "tse2017-busy", "ring 3; stabilize 2 delay 5; stabilize 0", 0),
    ("answer-withheld", "tse2017", "ring 3; stabilize 0 delay 5; stabilize 4", 1),
    ("answer-withheld", "tse2017", "ring 3; stabilize 2 delay 5; stabilize 0", 0),
    ("answer-withheld", "tse2017-busy", "ring 3; stabilize 0 delay 5; stabilize 4", 0),
    ("idle-stabilization", "ccr2012", "ring 2; stabilize 0 notice 5", 1),
    ("idle-stabilization", "ccr2012", "join 1 via 0; stabilize 1", 0),
    ("idle-stabilization", "ccr2012", "ring 2; stabilize 0 delay 5", 0),
    ("candidate-found-dead", "ccr2012", "join 1 via 0; stabilize 1; fail 1; stabilize 0 delay 1", 1),
    ("candidate-found-dead", "ccr2012", "join 1 via 0; stabilize 1; stabilize 0 delay 1", 0),
    ("candidate-found-dead", "best2012", "join 1 via 0; stabilize 1; stabilize 0; fail 1; adopt 0", 1),
    ("candidate-found-dead", "tse2017", "ring 3; join 1 via 0; stabilize 1; stabilize 0; fail 1; adopt 0", 1),
    ("dead-candidate-adopted", "sigcomm2001", "join 1 via 0; stabilize 1; fail 1; stabilize 0", 1),
    ("dead-candidate-adopted", "ccr2012", "join 1 via 0; stabilize 1; fail 1; stabilize 0 delay 1", 0),
    // What moves up in a list was in it.
    ("dead-candidate-adopted", "tse2017", "lists 3; ring 6; fail 2; fail 4; stabilize 0", 0),
    ("appendage", "ccr2012", "join 1 via 0", 1),
    ("appendage", "ccr2012", "join 1 via 0; stabilize 1; stabilize 0; join 2 via 1", 2),
    ("appendage", "ccr2012", "ring 2", 0),
    ("second-successor-needed", "ccr2012", "ring 2; fail 2", 1),
    ("second-successor-needed", "ccr2012", "ring 3; fail 2; update 0; reconcile 0; fail 4", 2),
    ("second-successor-needed", "ccr2012", "join 1 via 0; stabilize 1; fail 1", 0),
    ("two-rings", "ccr2012", TWO_RINGS, 1),
    ("two-rings", "ccr2012", "ring 2; fail 2", 0),
    ("rings-united", "ccr2012", TWO_RINGS, 0),
    ("two-rings", "ccr2012", RINGS_UNITED, 1),
    ("rings-united", "ccr2012", RINGS_UNITED, 1),
];

/// Z12's two rings.
const TWO_RINGS: &str = "ring 2; join 1 via 0; reconcile 1; join 3 via 2; stabilize 1; stabilize 0; fail 1; \
                         stabilize 3; stabilize 2; fail 3";

/// A stabilization that is under way when there come to be two rings leads out of one of them.
const RINGS_UNITED: &str = "circle 14; ring 2; join 3 via 2; join 10 via 2; reconcile 2 delay 3; stabilize 10; \
                            reconcile 0; stabilize 10; reconcile 0; reconcile 10; stabilize 10; stabilize 2; fail 10; \
                            stabilize 0 delay 2; join 4 via 3; join 1 via 0; reconcile 1; stabilize 1; stabilize 0; \
                            join 10 via 3 delay 5; fail 1";

/// Each case is executed as it is written, so that it is a case of what it says.
#[test]
fn every_fact_occurs_in_its_smallest_case() {
    let mut wrong = String::new();
    for (name, target, text, count) in CASES {
        let schedule: Schedule = text.replace("; ", "\n").parse().expect(text);
        let story = story(target.parse().unwrap(), &schedule);
        let fact = FACTS.iter().position(|fact| fact.name == *name).expect(name);
        let (executed, reached) = (&story.outcome.executed, reached(&story)[fact]);
        if reached != *count || !executed.steps.starts_with(&schedule.steps) {
            writeln!(wrong, "{name} occurs {reached} times in {target}: {text}\nexecuted as {executed}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    for fact in &FACTS {
        for occurs in [false, true] {
            let case = CASES.iter().find(|(name, .., count)| *name == fact.name && (*count > 0) == occurs);
            assert!(case.is_some(), "a case of {}: {occurs}", fact.name);
        }
    }
}

/// Half of these schedules start from a small ring and have no delays: rings break there most often.
fn random(rng: &mut fastrand::Rng) -> Schedule {
    let mut bytes = bytes(rng, MAX_BYTES);
    if rng.bool() {
        bytes[0] = mutate::confine(bytes[0], Some(rng.u8(1..=3)), Some(false));
    }
    Schedule::decode(&bytes)
}

/// How many of so many random schedules reach each fact. Stops early, but not too early, when all do that can.
fn runs_that_reach(target: Target, most: usize) -> [usize; FACTS.len()] {
    let mut rng = fastrand::Rng::with_seed(21);
    let mut runs = [0; FACTS.len()];
    for number in 0..most {
        let all = FACTS.iter().zip(runs).all(|(fact, runs)| runs > 0 || !fact.possible(target.version.rules()));
        if all && number > 500 {
            break;
        }
        for (runs, count) in runs.iter_mut().zip(reached(&story(target, &random(&mut rng)))) {
            *runs += usize::from(count > 0);
        }
    }
    runs
}

#[test]
fn random_schedules_reach_every_fact() {
    for version in Version::PUBLISHED {
        for (fact, runs) in FACTS.iter().zip(runs_that_reach(Target::of(version), 8_000)) {
            assert_eq!(runs > 0, fact.possible(version.rules()), "{} in {version}: {runs}", fact.name);
        }
    }
}

/// What is possible follows from the rules, also for those that nobody has published.
#[test]
fn ablations_make_facts_possible_and_impossible() {
    for version in ["sigcomm2001+adopt", "ccr2012-adopt", "ccr2012+answer", "tse2017-busy"] {
        let target: Target = version.parse().unwrap();
        for (fact, runs) in FACTS.iter().zip(runs_that_reach(target, 600)) {
            let possible = fact.possible(target.version.rules());
            assert!(possible || runs == 0, "{} in {version}: {runs}", fact.name);
            let rare = ["dead-candidate-adopted", "two-rings", "rings-united", "join-refused"].contains(&fact.name);
            assert!(!possible || rare || runs > 0, "{} in {version}", fact.name);
        }
    }
}

/// The files of corpus/ for this target, or none in the crate as published.
fn corpus(target: Target) -> Vec<Schedule> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.to_string());
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.map(|entry| Schedule::decode(&fs::read(entry.unwrap().path()).unwrap())).collect()
}

/// What is missing is rare: a campaign should find it and have it kept.
#[test]
fn the_corpus_reaches_nearly_every_fact() {
    let mut missing = String::new();
    for target in Target::all() {
        let schedules = corpus(target);
        if schedules.is_empty() {
            return;
        }
        let counts: Vec<_> = schedules.iter().map(|schedule| reached(&story(target, schedule))).collect();
        for (number, fact) in FACTS.iter().enumerate() {
            let possible = fact.possible(target.version.rules());
            if possible && counts.iter().all(|counts| counts[number] == 0) {
                writeln!(missing, "{target}: {}", fact.name).unwrap();
            }
        }
    }
    expect![[r#"
        claims: two-rings
        claims: rings-united
    "#]]
    .assert_eq(&missing);
}

/// Collects the features of which libFuzzer is told.
#[derive(Default)]
struct Told(BTreeSet<usize>);

impl Observer for Told {
    fn observe(&mut self, _event: impl FnOnce() -> Event) {}

    fn see(&mut self, network: &Snapshot, changed: bool) {
        if changed {
            self.0.extend(novelty::features(network));
        }
    }
}

#[test]
fn features_are_those_that_the_fuzzer_is_told() {
    let mut rng = fastrand::Rng::with_seed(23);
    for target in Target::all() {
        for _ in 0..200 {
            let schedule = random(&mut rng);
            let mut told = Told::default();
            let _ = run(target, &schedule, &Options::default(), &mut told);
            assert_eq!(features(&story(target, &schedule)), told.0, "{target}:\n{schedule}");
        }
    }
}

#[test]
fn facts_have_names_of_their_own_and_a_line_each() {
    let names: BTreeSet<_> = FACTS.iter().map(|fact| fact.name).collect();
    assert_eq!(names.len(), FACTS.len());
    for fact in &FACTS {
        assert!(fact.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", fact.name);
        assert!(!fact.definition.contains('\n') && !fact.definition.ends_with('.'), "{}", fact.definition);
    }
}
