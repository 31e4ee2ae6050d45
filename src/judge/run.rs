//! One run, from its schedule to its outcome.

use crate::judge::bench::Bench;
use crate::judge::healing::unhealed;
use crate::judge::prove::{Decision, decide};
use crate::judge::{Assumptions, Breach, Judge, Only, Target, Verdict};
use crate::protocol::list::{self, ListReplica};
use crate::protocol::replica::Replica;
use crate::protocol::tse2017::{self, TseReplica};
use crate::protocol::version::Rules;
use crate::schedule::{MAX_STEPS, Op, Schedule, Step};
use crate::truth::property::Property;
use crate::truth::snapshot::Snapshot;
use crate::world::trace::Observer;
use crate::world::{Conditions, World};

/// How many networks a verdict looks at, unless told otherwise, to know that no order of maintenance heals one: they take
/// 2 or 3 ms. It suffices for most networks of four members.
pub const NETWORKS: usize = 2_000;

/// How a schedule is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which breaches count. Of the others, one that ends the network for good ends the run, which passes.
    pub only: Only,
    /// Whether the schedule may lose datagrams and partition the network, which every source excludes.
    pub faults: bool,
    /// What else holds.
    pub conditions: Conditions,
    /// Whether steps are executed as they are given, permitted or not, instead of being repaired.
    pub as_given: bool,
    /// How many networks are looked at to know that no order of maintenance heals what the run leaves. With 0 the two fair
    /// orders alone decide.
    pub networks: usize,
}

/// Everything counts, nothing is lost, and as many networks are looked at as [usual](NETWORKS).
impl Default for Options {
    fn default() -> Self {
        Self {
            only: Only::default(),
            faults: false,
            conditions: Conditions::default(),
            as_given: false,
            networks: NETWORKS,
        }
    }
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The steps as executed: the canonical form of the schedule, up to where the run stopped.
    pub executed: Schedule,
    /// The assumptions under which it ran.
    pub assumptions: Assumptions,
    /// The network at the end: where it was found broken, or after everything had arrived. Where the invariant is broken, the state in effect.
    pub network: Snapshot,
    /// The same after fair maintenance.
    pub settled: Snapshot,
    /// Of a required property that counts, and is broken for good by fair maintenance: whether some other order heals the
    /// network.
    pub proof: Option<Decision>,
}

/// Runs a schedule and judges it. The observer is told every event.
#[must_use]
pub fn run(target: Target, schedule: &Schedule, options: &Options, observer: &mut impl Observer) -> Outcome {
    let rules = target.version.rules();
    let setup = rules.fit(schedule.setup);
    match rules {
        Rules::List { checks, eager } => {
            drive::<ListReplica>(target, schedule, options, list::Config { checks, eager }, observer)
        }
        Rules::Tse { busy, .. } => {
            let config = tse2017::Config { list_len: setup.list_len, circle: setup.circle, busy };
            drive::<TseReplica>(target, schedule, options, config, observer)
        }
    }
}

fn drive<R: Replica>(
    target: Target,
    schedule: &Schedule,
    options: &Options,
    config: R::Config,
    observer: &mut impl Observer,
) -> Outcome {
    let rules = target.version.rules();
    let mut setup = rules.fit(schedule.setup);
    setup.faults &= options.faults || options.as_given;
    let mut world = World::<R, _>::new(setup, rules, config, options.conditions, observer);
    let mut bench = Bench::new(target, &options.only);
    let mut executed = Schedule { setup, steps: Vec::with_capacity(schedule.steps.len()) };
    let mut assumptions = Assumptions {
        failures: true,
        base: match rules {
            Rules::List { .. } => None,
            Rules::Tse { base, .. } => Some(base),
        },
        reliable: true,
        prompt: true,
        immediate: true,
        conditions: options.conditions,
    };

    let mut breach = None;
    let mut waited = false;
    let mut steps = schedule.steps.iter();
    while breach.is_none() {
        let step = match steps.next() {
            Some(given) => {
                let step = if options.as_given { Some(given.canonical()) } else { world.resolve(*given, setup.faults) };
                tell(&mut world, *given, step, setup.faults);
                let Some(step) = step else { continue };
                step
            }
            // At the end everything arrives, and what is under way comes to its end.
            None if world.skip_to_next() => {
                waited = true;
                breach = bench.events(&mut world).or_else(|| bench.quiet(&world));
                continue;
            }
            // Perfect failure detection answers every request (V19): a node that still waits would wait for ever.
            None if !world.at_rest() => {
                breach = Some(Breach::Stalled);
                continue;
            }
            None => match world.undecided() {
                Some(step) => step,
                None => break,
            },
        };
        // What is done after everything has arrived is no step of the schedule, in which it would come before that.
        if !waited && executed.steps.len() < MAX_STEPS {
            executed.steps.push(step);
        }
        // Otherwise the step has been repaired to one that is permitted.
        assumptions.failures &= !options.as_given || step.op != Op::Fail || world.may_fail(step.node);
        assumptions.reliable &= !matches!(step.op, Op::Lose | Op::Cut);
        assumptions.immediate &= step.immediate();
        world.begin(step);
        breach = bench.events(&mut world);
        world.tick();
        breach = breach.or_else(|| bench.quiet(&world));
    }
    let network = if breach == Some(Breach::Broken(Property::Invariant)) { world.effective() } else { *world.now() };
    let mut settled = network;
    let unhealed = unhealed(rules, &mut settled);
    let breach = breach.or(unhealed);
    assumptions.prompt = !world.network().mistaken();
    let verdict = if assumptions.hold() { options.only.verdict(breach, &network) } else { Verdict::Outside(breach) };
    let (verdict, proof) = prove_lost(target, verdict, &network, options.networks);
    Outcome { verdict, executed, assumptions, network, settled, proof }
}

/// Tells the observer what a given step comes to, and why if it wants to know.
#[inline]
fn tell<R: Replica, O: Observer>(world: &mut World<'_, R, O>, given: Step, executed: Option<Step>, faults: bool) {
    world.observer().resolve(given, executed);
    if O::ASKS_WHY && executed != Some(given.canonical()) {
        let why = world.objection(given, faults);
        world.observer().repaired(given, executed, why);
    }
}

/// Tries all orders of maintenance on what a run breaks for good by the fair ones, and says what it comes to then.
fn prove_lost(target: Target, verdict: Verdict, network: &Snapshot, limit: usize) -> (Verdict, Option<Decision>) {
    let breach = verdict.found();
    let required = |breach| matches!(breach, Breach::Broken(property) if Property::REQUIRED.contains(&property));
    let Some(breach) = breach.filter(|breach| target.judge == Judge::NeverHeals && required(*breach)) else {
        return (verdict, None);
    };
    let proof = decide(target.version.rules(), network, limit, |_| ());
    let verdict = match (proof.heals(), verdict) {
        (Some(true), Verdict::Violated(_)) => Verdict::Repairable(breach),
        (Some(true), _) => Verdict::Outside(None),
        _ => verdict,
    };
    (verdict, Some(proof))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::prove::Proof;
    use crate::judge::signature;
    use crate::protocol::version::Version;

    /// What some other order of maintenance heals is no violation, and ends the run as one would.
    #[test]
    fn what_another_order_heals_is_no_violation() {
        let text = "join 1 via 0\njoin 3 via 0\nstabilize 3\nstabilize 1\nfail 1\njoin 1 via 0\nstabilize 0\n\
                    join 2 via 0\nreconcile 3\nstabilize 0\nreconcile 1\nfail 0\njoin 0 via 1\n";
        let (target, breach) = signature("ccr2012/AtMostOneRing").unwrap();
        let judged = |networks, only: &str| {
            let options = Options { networks, only: only.parse().unwrap(), ..Options::default() };
            let outcome = run(target, &text.parse().unwrap(), &options, &mut ());
            assert_eq!(outcome.executed.steps.len(), 12, "what comes after is not executed");
            (outcome.verdict, outcome.proof)
        };
        let (verdict, proof) = judged(NETWORKS, "");
        assert_eq!((verdict, verdict.found()), (Verdict::Repairable(breach), None));
        assert_eq!(proof.unwrap().to_string(), "repairable: 10 steps");
        let undecided = Decision::Tried(Proof::Undecided { limit: 0 });
        assert_eq!(judged(0, ""), (Verdict::Violated(breach), Some(undecided)));
        assert_eq!(judged(NETWORKS, "ordered-ring"), (Verdict::Masked(breach), None), "nobody asks");
    }

    /// A run that breaks the failure assumption is no violation, whatever comes of it.
    #[test]
    fn a_broken_assumption_is_never_a_violation() {
        let schedule: Schedule = "ring 2\nfail 2\njoin 2 via 0\nfail 0\n".parse().unwrap();
        let options = Options { as_given: true, ..Options::default() };
        let outcome = run(Target::of(Version::CCR2012), &schedule, &options, &mut ());
        assert!(!outcome.assumptions.failures);
        assert!(matches!(outcome.verdict, Verdict::Outside(_)), "{:?}", outcome.verdict);
        assert!(outcome.assumptions.to_string().starts_with("failure assumption BROKEN"));
    }
}
