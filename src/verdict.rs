//! Verdicts: when each property is judged, and what a violation is.
//!
//! - **Never heals** (the targets that are a version): whenever nothing is on its way, the four required properties are
//!   judged in order. A broken one ends the run only if fair maintenance to a fixpoint, on a copy in the atomic
//!   [`model`], does not make the network ideal, neither in the one nor in the other of [two](FLUSH_FIRST)
//!   [orders](FLUSH_LAST). At the end everything is delivered and judged once more. A network that then does not heal
//!   counts for the required property that is broken, or that maintenance breaks; if there is none, it is a defect of
//!   ours, [`Breach::Stalled`].
//!
//!   What fair maintenance does not heal is a violation only if no order does, which a [proof](crate::prove) decides. Of
//!   large networks there may be too many orders to try them all: what is undecided after [so many](NETWORKS) counts, and the
//!   [outcome](Outcome::proof) says so. What another order heals is [no violation](Verdict::Repairable), but ends the run
//!   too, so that a run ends where it ends, however many are tried.
//! - **Invariant** (`tse2017`): besides, Z17's inductive invariant after every atomic step, if it [counts](Only): it does not
//!   end the network, and breaks before anything that does.
//! - **Claims** (`claims`): all seven properties that P02 claims, after every event.
//!
//! The run stops at the first violation. A verdict says under which assumptions it was reached; a run that leaves them
//! says nothing about the protocol and is never a violation.

use std::fmt;
use std::slice;
use std::str::FromStr;

use anyhow::Context as _;

use crate::chord::list::{self, ListReplica};
use crate::chord::tse2017::{self, TseReplica};
use crate::ident::IdentSet;
use crate::model::{self, FLUSH_FIRST, FLUSH_LAST, MAX_ROUNDS};
use crate::network::MAX_DATAGRAMS;
use crate::property::{Property, first_broken, ideal, sound};
use crate::prove::{Proof, decide};
use crate::replica::Replica;
use crate::schedule::{Delay, MAX_STEPS, Op, Schedule, Setup, Step};
use crate::snapshot::Snapshot;
use crate::trace::Observer;
use crate::version::{Rules, UnknownVersion, Version};
use crate::world::{self, Conditions, Revisions, World};

/// How a run is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The required properties, for good; with the stable base of Z17 also its invariant.
    NeverHeals,
    /// All seven claimed properties, at every event.
    Claims,
}

/// What a fuzz target tests: a version, and how it is judged. Written as the version, or `claims`, which is `ccr2012`
/// judged by [`Judge::Claims`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The version.
    pub version: Version,
    /// How it is judged.
    pub judge: Judge,
}

impl Target {
    /// The target `claims`.
    pub const CLAIMS: Self = Self { version: Version::CCR2012, judge: Judge::Claims };

    /// The target of a version.
    #[must_use]
    pub const fn of(version: Version) -> Self {
        Self { version, judge: Judge::NeverHeals }
    }

    /// The fuzz targets, by the names of their directories.
    #[must_use]
    pub fn all() -> [Self; 5] {
        let [a, b, c, d] = Version::PUBLISHED.map(Self::of);
        [a, b, c, d, Self::CLAIMS]
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.judge {
            Judge::NeverHeals => self.version.fmt(f),
            Judge::Claims => f.write_str("claims"),
        }
    }
}

impl FromStr for Target {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        if text == "claims" { Ok(Self::CLAIMS) } else { text.parse().map(Self::of) }
    }
}

/// What a run violates. With the target it is a violation's *signature*, and nothing finer is: no identifiers, steps or
/// lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breach {
    /// A property is broken.
    Broken(Property),
    /// The network does not become ideal although maintenance breaks no required property, or a node waits for an answer
    /// that nobody will give: a defect of ours.
    Stalled,
    /// The run sends more than [`MAX_DATAGRAMS`] datagrams: a defect of ours.
    Runaway,
}

impl Breach {
    /// Every breach.
    pub fn all() -> impl Iterator<Item = Self> {
        Property::ALL.into_iter().map(Self::Broken).chain([Self::Stalled, Self::Runaway])
    }

    /// The name in a signature, as in `AtMostOneRing`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken(property) => property.name(),
            Self::Stalled => "Stalled",
            Self::Runaway => "Runaway",
        }
    }

    /// The name for files and the command line, as in `at-most-one-ring`.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::Broken(property) => property.slug(),
            Self::Stalled => "stalled",
            Self::Runaway => "runaway",
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No breach has this name or slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing that can be violated is called `{0}`: there are {list}", list = slugs())]
pub struct UnknownBreach(
    /// The name as written.
    pub String,
);

fn slugs() -> String {
    Breach::all().map(Breach::slug).collect::<Vec<_>>().join(", ")
}

impl FromStr for Breach {
    type Err = UnknownBreach;

    fn from_str(text: &str) -> Result<Self, UnknownBreach> {
        let named = |breach: &Self| [breach.name(), breach.slug()].contains(&text);
        Self::all().find(named).ok_or_else(|| UnknownBreach(text.to_owned()))
    }
}

/// Reads a signature: a target and a breach, as in `ccr2012/OrderedRing` or `ccr2012/ordered-ring`.
///
/// # Errors
///
/// If it is not of this form, or there is no such target or breach.
pub fn signature(text: &str) -> anyhow::Result<(Target, Breach)> {
    let (target, breach) =
        text.split_once('/').context("a signature is a target and a property, as in ccr2012/OrderedRing")?;
    Ok((target.parse()?, breach.parse()?))
}

/// Which breaches count: all, or only some, so that a minimizer stays with the one that it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(Option<Vec<Pin>>);

/// One of the breaches that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pin {
    breach: Breach,
    /// How many members must be on a ring, at least, where it is broken.
    ring: u32,
}

impl Only {
    /// Only these count.
    #[must_use]
    pub fn these(breaches: Vec<Breach>) -> Self {
        Self(Some(breaches.into_iter().map(|breach| Pin { breach, ring: 0 }).collect()))
    }

    /// Whether this one counts, at least on a ring that is big enough.
    #[must_use]
    pub fn counts(&self, breach: Breach) -> bool {
        self.counts_on(breach, u32::MAX)
    }

    /// Whether this one counts where so many members are on a ring.
    fn counts_on(&self, breach: Breach, ring: u32) -> bool {
        self.0.as_ref().is_none_or(|only| only.iter().any(|pin| pin.breach == breach && ring >= pin.ring))
    }

    /// What a run within the assumptions comes to that ends with this network.
    fn verdict(&self, breach: Option<Breach>, network: &Snapshot) -> Verdict {
        match breach {
            None => Verdict::Ideal,
            Some(breach) if self.counts_on(breach, network.ring().len()) => Verdict::Violated(breach),
            Some(breach) => Verdict::Masked(breach),
        }
    }
}

/// Why a text does not say which breaches count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPin {
    /// There is no such breach.
    #[error(transparent)]
    Breach(#[from] UnknownBreach),
    /// What follows the `@` is no number of members.
    #[error("`{0}`: after the @ must be how many members are on a ring, a number from 1 to 16")]
    Ring(String),
}

/// Names of breaches, separated by commas; nothing at all stands for all. `ordered-ring@5` counts only where at least
/// five members are on a ring.
impl FromStr for Only {
    type Err = BadPin;

    fn from_str(text: &str) -> Result<Self, BadPin> {
        let names: Vec<_> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Ok(Self::default());
        }
        let pin = |name: &str| match name.split_once('@') {
            None => Ok(Pin { breach: name.parse()?, ring: 0 }),
            Some((breach, ring)) => match ring.parse() {
                Ok(ring @ 1..=16) => Ok(Pin { breach: breach.parse()?, ring }),
                _ => Err(BadPin::Ring(name.to_owned())),
            },
        };
        names.into_iter().map(pin).collect::<Result<_, _>>().map(|pins| Self(Some(pins)))
    }
}

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

/// The assumptions under which a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent assumptions")]
pub struct Assumptions {
    /// Whether every failure was permitted by the failure assumption and, where the rules have one, the stable base.
    pub failures: bool,
    /// Whether the rules have a stable base (Z17); `None` for the versions that know none.
    pub base: Option<bool>,
    /// Whether no datagram was lost to loss or partition.
    pub reliable: bool,
    /// Whether failure detection never took a failed node for alive when it was asked. With `reliable` it was perfect.
    pub prompt: bool,
    /// Whether every datagram arrived before the next step, which makes the run one of the atomic model.
    pub immediate: bool,
    /// The conditions of the run.
    pub conditions: Conditions,
}

impl Assumptions {
    /// Whether the run says anything about the protocol.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.failures && self.reliable && self.prompt
    }
}

impl fmt::Display for Assumptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = match self.base {
            None => "no stable base in this version",
            Some(true) if self.failures => "stable base held",
            Some(true) => "stable base not kept",
            Some(false) => "stable base dropped",
        };
        write!(f, "failure assumption {}; {base}", if self.failures { "held" } else { "BROKEN" })?;
        if !self.reliable {
            f.write_str("; DATAGRAMS LOST, so that failure detection errs")?;
        }
        if !self.prompt {
            write!(f, "; FAILURES UNNOTICED for up to {} steps", self.conditions.late)?;
        }
        if self.reliable && self.prompt {
            f.write_str("; perfect failure detection")?;
        }
        f.write_str(if self.immediate {
            "; every datagram arrives before the next step"
        } else {
            "; datagrams delayed"
        })?;
        if !self.conditions.rejoin {
            f.write_str("; no node joins again")?;
        }
        Ok(())
    }
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is violated, and the network heals to the ideal.
    Ideal,
    /// The protocol violates this.
    Violated(Breach),
    /// Fair maintenance does not heal what breaks this, but some other order does, so that it is no violation.
    Repairable(Breach),
    /// The run violates this, but it does not [count](Only).
    Masked(Breach),
    /// The run left the assumptions, so that whatever came of it says nothing about the protocol.
    Outside(Option<Breach>),
}

impl Verdict {
    /// What the run violates, be it within the assumptions or outside; not what is masked, or heals in another order.
    #[must_use]
    pub fn found(self) -> Option<Breach> {
        match self {
            Self::Violated(breach) => Some(breach),
            Self::Outside(breach) => breach,
            Self::Ideal | Self::Repairable(_) | Self::Masked(_) => None,
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
    pub proof: Option<Proof>,
}

/// Runs a schedule and judges it. The observer is told every event.
#[must_use]
pub fn run(target: Target, schedule: &Schedule, options: &Options, observer: &mut impl Observer) -> Outcome {
    let rules = target.version.rules();
    let setup = schedule.setup.fit(rules);
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
    let mut setup = schedule.setup.fit(rules);
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
                world.observer().resolve(*given, step);
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

/// Tries all orders of maintenance on what a run breaks for good by the fair ones, and says what it comes to then.
fn prove_lost(target: Target, verdict: Verdict, network: &Snapshot, limit: usize) -> (Verdict, Option<Proof>) {
    let breach = verdict.found();
    let required = |breach| matches!(breach, Breach::Broken(property) if Property::REQUIRED.contains(&property));
    let Some(breach) = breach.filter(|breach| target.judge == Judge::NeverHeals && required(*breach)) else {
        return (verdict, None);
    };
    let proof = decide(target.version.rules(), network, limit);
    let verdict = match (proof.heals(), verdict) {
        (Some(true), Verdict::Violated(_)) => Verdict::Repairable(breach),
        (Some(true), _) => Verdict::Outside(None),
        _ => verdict,
    };
    (verdict, Some(proof))
}

/// Runs a schedule in the atomic [`model`] instead of on the network, and returns the verdict by fair maintenance
/// alone, and the steps as executed.
///
/// Of a schedule without delays and faults, with perfect failure detection, they are the same as by [`run`] with 0
/// [networks](Options::networks), several times faster: for who tries a great many schedules. Of any other it is as if it
/// had none.
#[must_use]
pub fn rehearse(target: Target, schedule: &Schedule, options: &Options) -> (Verdict, Schedule) {
    let rules = target.version.rules();
    let bench = Bench::new(target, &options.only);
    let mut rehearsal = Rehearsal::of(rules, schedule, options.conditions);
    let mut breach = None;
    while breach.is_none() && rehearsal.step() {
        breach = bench.step(&rehearsal.network);
    }
    let mut settled = rehearsal.network;
    let unhealed = unhealed(rules, &mut settled);
    (options.only.verdict(breach.or(unhealed), &rehearsal.network), rehearsal.executed)
}

/// A run in the atomic [`model`], step by step.
pub(crate) struct Rehearsal<'a> {
    rules: Rules,
    conditions: Conditions,
    given: slice::Iter<'a, Step>,
    /// The nodes that may not join any more.
    barred: IdentSet,
    /// The network now.
    pub network: Snapshot,
    /// The steps as executed, so far.
    pub executed: Schedule,
}

impl<'a> Rehearsal<'a> {
    pub fn of(rules: Rules, schedule: &'a Schedule, conditions: Conditions) -> Self {
        let setup = Setup { faults: false, ..schedule.setup.fit(rules) };
        Self {
            rules,
            conditions,
            given: schedule.steps.iter(),
            barred: IdentSet::EMPTY,
            network: world::starting_network(setup, rules),
            executed: Schedule { setup, steps: Vec::with_capacity(schedule.steps.len()) },
        }
    }

    /// Does the next step that comes to something, and at the end what is still undecided. Returns whether there was one.
    pub fn step(&mut self) -> bool {
        let resolve = |&step| {
            let step = Step { delay: Delay::NONE, notice: Delay::NONE, ..step };
            world::resolve(self.rules, &self.network, self.barred, step)
        };
        let Some(step) = self.given.find_map(resolve).or_else(|| world::undecided(&self.network)) else { return false };
        if self.executed.steps.len() < MAX_STEPS {
            self.executed.steps.push(step);
        }
        if step.op == Op::Fail && !self.conditions.rejoin {
            self.barred.insert(step.node);
        }
        if let Some(action) = world::action(step) {
            model::apply(self.rules, &mut self.network, action);
        }
        true
    }
}

/// Does fair maintenance, and returns what a network at rest that does not heal is a violation of.
pub(crate) fn unhealed(rules: Rules, network: &mut Snapshot) -> Option<Breach> {
    let before = *network;
    if heal(rules, network) {
        return None;
    }
    // Where nothing required is broken yet, maintenance itself may have broken it, which is the protocol's doing.
    let broken = [&before, network].into_iter().find_map(|at| first_broken(at, &Property::REQUIRED));
    Some(broken.map_or(Breach::Stalled, Breach::Broken))
}

/// The required property, if one is broken, of a network that does not heal.
fn lost(rules: Rules, network: &Snapshot) -> Option<Breach> {
    let broken = first_broken(network, &Property::REQUIRED)?;
    let mut settled = *network;
    (!heal(rules, &mut settled)).then_some(Breach::Broken(broken))
}

/// Does fair maintenance to a fixpoint, in the atomic model, and returns whether the network is then ideal. If it is not by
/// the first fair order, nor by the second, it is left as it is by the first.
pub(crate) fn heal(rules: Rules, network: &mut Snapshot) -> bool {
    let by = |order, network: &mut Snapshot| {
        // What is ideal changes no more. It takes much less to see that than another round.
        (0..MAX_ROUNDS).any(|_| ideal(network) || !model::round(rules, network, order)) && ideal(network)
    };
    let mut other = *network;
    if by(FLUSH_FIRST, network) {
        return true;
    }
    let heals = by(FLUSH_LAST, &mut other);
    if heals {
        *network = other;
    }
    heals
}

/// Where a world is judged, step by step.
pub(crate) struct Bench {
    rules: Rules,
    /// What is judged at every event.
    at_events: Vec<Property>,
    /// Whether events are judged on the network in effect instead of as it is.
    effective: bool,
    /// Whether the required properties are judged when all is quiet.
    at_quiet: bool,
    /// The [revisions](World::revisions) judged last; one is not judged twice, and the start not at all.
    last: Revisions,
}

impl Bench {
    pub(crate) fn new(target: Target, only: &Only) -> Self {
        let rules = target.version.rules();
        let invariant = matches!(rules, Rules::Tse { base: true, .. });
        let at_events = match target.judge {
            Judge::Claims => Property::CLAIMED.into_iter().filter(|p| only.counts(Breach::Broken(*p))).collect(),
            Judge::NeverHeals if invariant && only.counts(Breach::Broken(Property::Invariant)) => {
                vec![Property::Invariant]
            }
            Judge::NeverHeals => Vec::new(),
        };
        Self {
            rules,
            at_events,
            effective: target.judge == Judge::NeverHeals,
            at_quiet: target.judge == Judge::NeverHeals,
            last: Revisions::default(),
        }
    }

    /// Lets everything arrive that is due, and judges every event.
    fn events<R: Replica, O: Observer>(&mut self, world: &mut World<'_, R, O>) -> Option<Breach> {
        loop {
            let breach = self.event(world);
            if breach.is_some() {
                return breach;
            }
            if !world.advance() {
                return None;
            }
            if world.network().datagrams() > MAX_DATAGRAMS {
                return Some(Breach::Runaway);
            }
        }
    }

    fn event<R: Replica, O: Observer>(&mut self, world: &World<'_, R, O>) -> Option<Breach> {
        if self.at_events.is_empty() {
            return None;
        }
        let (last, revisions) = (self.last, world.revisions());
        if self.effective {
            self.last.effective_lists = revisions.effective_lists;
            if last.effective_lists == revisions.effective_lists {
                return None;
            }
            return first_broken(&world.effective(), &self.at_events).map(Breach::Broken);
        }
        self.last.now_lists = revisions.now_lists;
        if last.now_lists == revisions.now_lists {
            return None;
        }
        first_broken(world.now(), &self.at_events).map(Breach::Broken)
    }

    /// Judges the network if nothing is on its way.
    fn quiet<R: Replica, O: Observer>(&mut self, world: &World<'_, R, O>) -> Option<Breach> {
        let Revisions { now, now_lists, .. } = world.revisions();
        if !self.at_quiet || !world.network().quiet() || now == self.last.now {
            return None;
        }
        self.last.now = now;
        if now_lists == self.last.now_lists {
            return None;
        }
        let network = world.now();
        if sound(network) {
            self.last.now_lists = now_lists;
            return None;
        }
        // Whether it heals is a matter of predecessors too, so it is not the lists alone that have been judged.
        lost(self.rules, network)
    }

    /// Judges the network after a step of the model: its events are one, and all is quiet.
    pub(crate) fn step(&self, network: &Snapshot) -> Option<Breach> {
        let broken = first_broken(network, &self.at_events).map(Breach::Broken);
        broken.or_else(|| if self.at_quiet && !sound(network) { lost(self.rules, network) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for breach in Breach::all() {
            assert_eq!(breach.name().parse(), Ok(breach));
            assert_eq!(breach.slug().parse(), Ok(breach));
        }
        for target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }

    #[test]
    fn a_pin_lists_what_counts() {
        let only: Only = "at-most-one-ring, OrderedRing".parse().unwrap();
        assert!(only.counts(Breach::Broken(Property::AtMostOneRing)));
        assert!(only.counts(Breach::Broken(Property::OrderedRing)));
        assert!(!only.counts(Breach::Stalled));
        assert!(Breach::all().all(|breach| "".parse::<Only>().unwrap().counts(breach)));
        assert_eq!(
            "atmostonering".parse::<Only>().unwrap_err().to_string(),
            "nothing that can be violated is called `atmostonering`: there are at-least-one-ring, at-most-one-ring, \
             ordered-ring, connected-appendages, ordered-merges, ordered-appendages, valid-successor-list, invariant, \
             stalled, runaway"
        );
    }

    #[test]
    fn a_pin_may_ask_for_a_big_ring() {
        let only: Only = "stalled,ordered-ring@3".parse().unwrap();
        assert!(only.counts(Breach::Broken(Property::OrderedRing)));
        let text = "join 1 via 0\njoin 2 via 0\njoin 3 via 0\nstabilize 2\nstabilize 0\nstabilize 1\nstabilize 3\n\
                        reconcile 0\nreconcile 2\nstabilize 0\nstabilize 2\nfail 1\nfail 3\n";
        let schedule: Schedule = text.parse().unwrap();
        let two_rings = Breach::Broken(Property::AtMostOneRing);
        for (pin, verdict) in [
            ("at-most-one-ring@2", Verdict::Violated(two_rings)),
            ("at-most-one-ring@3", Verdict::Masked(two_rings)),
            ("ordered-ring", Verdict::Masked(two_rings)),
        ] {
            let options = Options { only: pin.parse().unwrap(), ..Options::default() };
            let target = Target::of(Version::CCR2012);
            assert_eq!(rehearse(target, &schedule, &options).0, verdict, "{pin}");
            assert_eq!(run(target, &schedule, &options, &mut ()).verdict, verdict, "{pin}");
        }
        for pin in ["ordered-ring@", "ordered-ring@0", "ordered-ring@17", "ordered-ring@5@5", "@5", "ring@5"] {
            assert!(pin.parse::<Only>().is_err(), "{pin}");
        }
        assert_eq!(
            "ordered-ring@0".parse::<Only>().unwrap_err().to_string(),
            "`ordered-ring@0`: after the @ must be how many members are on a ring, a number from 1 to 16"
        );
    }

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
        assert_eq!(judged(0, ""), (Verdict::Violated(breach), Some(Proof::Undecided { limit: 0 })));
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
