//! Replicas on the network against the atomic model: with no delays they must be the same, step by step.
//!
//! The counts are small here; `CHORD_FUZZ_RUNS=1000000 cargo test --release --test differential` is the large run.

use chord_fuzz::judge::{Breach, Judge, Only, Options, Target, Verdict, rehearse, run};
use chord_fuzz::protocol::list::{self, ListReplica};
use chord_fuzz::protocol::model;
use chord_fuzz::protocol::replica::Replica;
use chord_fuzz::protocol::tse2017::{self, TseReplica};
use chord_fuzz::protocol::version::{Rules, Version};
use chord_fuzz::schedule::{Delay, MAX_START, Op, Schedule, Setup, Step};
use chord_fuzz::truth::ident::Ident;
use chord_fuzz::truth::property::Property;
use chord_fuzz::world::{Conditions, World, action};

const STEPS: usize = 60;

/// How many schedules for each version and start.
fn runs() -> u64 {
    std::env::var("CHORD_FUZZ_RUNS").map_or(1_000, |n| n.parse().expect("CHORD_FUZZ_RUNS is a number"))
}

/// Every start of these rules.
fn starts(rules: Rules) -> Vec<Setup> {
    let lists = if matches!(rules, Rules::Tse { .. }) { 2..=3 } else { 2..=2 };
    let setups = lists.flat_map(|list_len| (1..=MAX_START).map(move |ring| (ring, list_len)));
    let setups = setups.map(|(ring, list_len)| Setup { ring, circle: 4, list_len, faults: false });
    setups.filter(|setup| rules.fit(*setup).ring == setup.ring).collect()
}

/// A random schedule from this start, on a circle of random size, with or without delays.
fn random(rng: &mut fastrand::Rng, start: Setup, rules: Rules, delays: bool) -> Schedule {
    let mut bytes: Vec<u8> = (0..2 + 2 * STEPS).map(|_| rng.u8(..)).collect();
    bytes[0] = if delays { 0x08 } else { 0 };
    let mut schedule = Schedule::decode(&bytes);
    schedule.setup = rules.fit(Setup { circle: schedule.setup.circle, ..start });
    schedule
}

/// A step of any kind at any node, permitted or not.
fn any_step(rng: &mut fastrand::Rng, circle: u8) -> Step {
    let mut ident = || Ident::new(rng.u8(..circle));
    let (node, contact) = (ident(), ident());
    let op = Op::ALL[rng.usize(..7)];
    Step { op, node, contact, delay: Delay::NONE, notice: Delay::NONE }
}

/// Executes steps on the world and on the model, and compares their networks after each.
fn compare<R: Replica>(
    rules: Rules,
    config: R::Config,
    schedule: &Schedule,
    mut next: impl FnMut(&World<'_, R, ()>, Step) -> Option<Step>,
) {
    let mut nobody = ();
    let mut world = World::<R, ()>::new(schedule.setup, rules, config, Conditions::default(), &mut nobody);
    let mut state = *world.now();
    for (i, &step) in schedule.steps.iter().enumerate() {
        let Some(step) = next(&world, step) else { continue };
        world.begin(step);
        while world.advance() {}
        world.tick();
        model::apply(rules, &mut state, action(step).expect("no faults here"));
        assert!(world.network().quiet());
        assert_eq!(*world.now(), state, "after step {i}, {step}, of\n{schedule}");
        assert_eq!(world.effective(), state, "in effect, after step {i}, {step}, of\n{schedule}");
    }
    let fixpoint = (world.settle(), model::settle(rules, &mut state, model::FLUSH_FIRST));
    assert_eq!(*world.now(), state, "settled, of\n{schedule}");
    assert_eq!(fixpoint.0, fixpoint.1, "{schedule}");
}

fn compare_all(version: Version) {
    let rules = version.rules();
    let mut rng = fastrand::Rng::with_seed(1);
    for start in starts(rules) {
        for n in 0..runs() {
            let schedule = random(&mut rng, start, rules, false);
            let mut others = rng.fork();
            match rules {
                Rules::List { checks, eager } => {
                    let config = list::Config { checks, eager };
                    either::<ListReplica>(rules, config, &schedule, n % 2 == 0, &mut others);
                }
                Rules::Tse { busy, .. } => {
                    let Setup { list_len, circle, .. } = schedule.setup;
                    let config = tse2017::Config { list_len, circle, busy };
                    either::<TseReplica>(rules, config, &schedule, n % 2 == 0, &mut others);
                }
            }
        }
    }
}

/// Half of the runs do what the fuzzer does, and half do whatever comes, so that what the world takes for useless, by
/// the model's word, is compared too.
fn either<R: Replica>(rules: Rules, config: R::Config, schedule: &Schedule, repaired: bool, rng: &mut fastrand::Rng) {
    compare::<R>(rules, config, schedule, |world, step| {
        if repaired {
            world.resolve(step, false)
        } else {
            let step = any_step(rng, schedule.setup.circle);
            (step.op != Op::Fail || world.may_fail(step.node)).then_some(step)
        }
    });
}

#[test]
fn sigcomm2001_is_the_model() {
    compare_all(Version::SIGCOMM2001);
}

#[test]
fn ccr2012_is_the_model() {
    compare_all(Version::CCR2012);
}

#[test]
fn best2012_is_the_model() {
    compare_all(Version::BEST2012);
}

#[test]
fn tse2017_is_the_model() {
    compare_all(Version::TSE2017);
}

#[test]
fn the_ablations_are_the_model() {
    for name in [
        "sigcomm2001+join",
        "sigcomm2001+adopt",
        "sigcomm2001+update",
        "sigcomm2001+reconcile",
        "sigcomm2001+answer",
        "sigcomm2001+adopt+update+reconcile+answer",
        "ccr2012+update+reconcile+answer",
        "best2012-join",
        "best2012-adopt",
        "best2012+update+reconcile+answer",
        "tse2017-busy",
        "tse2017-base",
    ] {
        compare_all(name.parse().expect("a version"));
    }
}

/// A run without delays comes to the same in the model: verdict and steps, repaired or not.
#[test]
fn a_rehearsal_is_the_run() {
    let names = ["sigcomm2001", "ccr2012", "best2012", "tse2017", "claims", "ccr2012+update+reconcile+answer"];
    let ablations = ["best2012-join", "best2012-adopt", "tse2017-busy", "tse2017-base"];
    let mut rng = fastrand::Rng::with_seed(3);
    let mut violations = 0;
    for target in names.into_iter().chain(ablations).map(|name| name.parse::<Target>().expect("a target")) {
        let rules = target.version.rules();
        let pins = match target.judge {
            Judge::NeverHeals => vec![Only::default()],
            Judge::Claims => Property::CLAIMED.map(|p| Only::these(vec![Breach::Broken(p)])).into(),
        };
        for start in starts(rules) {
            for n in 0..runs() / 5 {
                let only = pins[usize::try_from(n).expect("it fits") % pins.len()].clone();
                let schedule = random(&mut rng, start, rules, false);
                // In every third run a node that has failed joins no more.
                let conditions = Conditions { rejoin: n % 3 != 0, ..Conditions::default() };
                let options = Options { only, conditions, networks: 0, ..Options::default() };
                let (verdict, executed) = rehearse(target, &schedule, &options);
                let outcome = run(target, &schedule, &options, &mut ());
                assert_eq!((verdict, &executed), (outcome.verdict, &outcome.executed), "{target}:\n{schedule}");
                violations += u32::from(matches!(verdict, Verdict::Violated(_)));
            }
        }
    }
    assert!(violations > 100, "both verdicts are compared: {violations}");
}

/// What random schedules find, by the fuzz targets' own judge.
fn findings(version: Version, delays: bool, expected: &[Property]) {
    let rules = version.rules();
    let mut rng = fastrand::Rng::with_seed(2);
    for start in starts(rules) {
        for _ in 0..runs() {
            let schedule = random(&mut rng, start, rules, delays);
            match run(Target::of(version), &schedule, &Options::default(), &mut ()).verdict {
                Verdict::Ideal => {}
                Verdict::Violated(Breach::Broken(property)) if expected.contains(&property) => {}
                verdict => panic!("{version}: {verdict:?} by\n{schedule}"),
            }
        }
    }
}

const TWO_RINGS_OR_DISORDER: [Property; 2] = [Property::AtMostOneRing, Property::OrderedRing];

#[test]
fn sigcomm2001_breaks_only_what_is_required_and_never_stalls() {
    findings(Version::SIGCOMM2001, false, &Property::REQUIRED);
}

#[test]
fn ccr2012_breaks_only_at_most_one_ring_and_ordered_ring() {
    findings(Version::CCR2012, false, &TWO_RINGS_OR_DISORDER);
}

#[test]
fn best2012_breaks_only_at_most_one_ring_and_ordered_ring() {
    findings(Version::BEST2012, false, &TWO_RINGS_OR_DISORDER);
}

#[test]
fn tse2017_breaks_nothing() {
    findings(Version::TSE2017, false, &[]);
}

#[test]
fn tse2017_breaks_nothing_with_delays() {
    findings(Version::TSE2017, true, &[]);
}

/// The fixes of Z12 hold up against delays too, by this much evidence; no source says so.
#[test]
fn the_list_family_breaks_nothing_else_with_delays() {
    findings(Version::SIGCOMM2001, true, &Property::REQUIRED);
    findings(Version::CCR2012, true, &TWO_RINGS_OR_DISORDER);
    findings(Version::BEST2012, true, &TWO_RINGS_OR_DISORDER);
    // Only where an answer takes a question of its own, nodes wait for each other.
    findings("ccr2012+update+reconcile+answer".parse().expect("a version"), true, &TWO_RINGS_OR_DISORDER);
}
