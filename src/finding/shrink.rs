//! Minimization: from a schedule that violates something to a smaller one that violates the same.
//!
//! A minimizer of bytes removes bytes, and is stuck where two steps have to change at once. This one knows what a step
//! is. It does three things in turn, until none of them makes the schedule smaller:
//!
//! 1. [`reduce`](Shrinker::reduce) removes steps, many at once and then single ones (Zeller's ddmin);
//! 2. [`simplify`](Shrinker::simplify) tries every single edit that makes the schedule smaller: fewer delays, a smaller
//!    start, another operation or node in place of a step, another order, other names;
//! 3. [`search`](Shrinker::search) looks for a shorter one among those of equal length that violate the same: it goes from
//!    one to the next by single edits, breadth first, and tries each edit also with any one step removed. It is the way out
//!    of what is minimal only by itself.
//!
//! Every candidate is run under the conditions of the given run, with repair, and what becomes of it are its steps as executed. Where it has no delays it is
//! [rehearsed](rehearse) first.
//!
//! # What is smaller
//!
//! [`compare`] is a total order of schedules: fewer steps; then fewer delays, and less of them; then shorter lists, a smaller
//! start and a smaller circle; and last the spelling, by which a join is simpler than maintenance, that is simpler than a
//! failure, and a low identifier is simpler than a high one. Every change makes the schedule smaller, and there are only so many
//! of some length, so that it ends.
//!
//! # What is kept
//!
//! The signature: the same target, the same breach. All others are [masked](Only), and may end a run. And what makes one
//! finding worth more than another of the same signature, where the given one has it:
//!
//! - it has no delays, so that it is a run of the atomic model;
//! - it starts with no more members;
//! - it is within the assumptions;
//! - its own steps break the property, not only the maintenance that is to heal it;
//! - it is [known](crate::judge::Outcome::proof) that no order of maintenance heals it. What is known to heal in some
//!   order is no violation in the first place.
//!
//! # What it guarantees
//!
//! The result is a function of the input alone, never larger than it, and 1-minimal: no single edit makes it smaller. To
//! shrink it once more changes nothing. That nothing smaller exists it does not say.
//!
//! # Example
//!
//! ```
//! use chord_fuzz::schedule::Schedule;
//! use chord_fuzz::finding::shrink::{Effort, Shrinker};
//! use chord_fuzz::judge::{Options, Target, run};
//!
//! let target: Target = "sigcomm2001".parse()?;
//! let found: Schedule = "circle 9\njoin 7 via 0\nstabilize 7\njoin 3 via 0 delay 2\nfail 7\nstabilize 0".parse()?;
//! let outcome = run(target, &found, &Options::default(), &mut ());
//! let mut shrinker = Shrinker::new(target, &outcome, Effort::FULL).ok_or("it violates nothing")?;
//! shrinker.shrink(|_| ());
//! assert_eq!(
//!     shrinker.schedule().to_string(),
//!     "circle 4\nring 1\njoin 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use crate::judge::prove::{Decision, Proof};
use crate::judge::{Breach, NETWORKS, Only, Options, Outcome, Target, rehearse, run};
use crate::schedule::{DELAYS, Delay, MIN_CIRCLE, Op, Schedule, Setup, Step};
use crate::truth::ident::{Ident, IdentSet};

/// How far a shrink goes. It is counted, not timed, so that the result is the same everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// How many candidates a search tries before it gives up. It starts again whenever it has found something.
    pub candidates: u64,
    /// How many [networks](Options::networks) are looked at to know that no order of maintenance heals what is taken for
    /// smaller.
    pub networks: usize,
    /// How many steps are executed in all, those on the network [counted more](NETWORK_STEP). When they are used up, the
    /// shrink ends where it is, and is not 1-minimal.
    pub work: u64,
}

impl Effort {
    /// For one finding: some seconds.
    pub const FULL: Self = Self { candidates: 300_000, networks: NETWORKS, work: u64::MAX };
}

/// How many rehearsed steps take as long as one on the network.
pub const NETWORK_STEP: u64 = 6;

/// Which of two schedules is smaller. It is a total order: only schedules that are canonically equal are
/// [equal](Ordering::Equal).
#[must_use]
pub fn compare(a: &Schedule, b: &Schedule) -> Ordering {
    let spell = |step: &Step| {
        let Step { op, node, contact, delay, notice } = step.canonical();
        (op, node, contact, delay, notice)
    };
    Size::of(a).cmp(&Size::of(b)).then_with(|| a.steps.iter().map(spell).cmp(b.steps.iter().map(spell)))
}

/// What makes a schedule smaller than another but the spelling, first things first: that much is worth a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Size {
    steps: usize,
    delays: usize,
    delayed_by: u32,
    list_len: u8,
    faults: bool,
    ring: u8,
    circle: u8,
}

impl Size {
    fn of(schedule: &Schedule) -> Self {
        let Setup { ring, circle, list_len, faults } = schedule.setup;
        let canonical = schedule.steps.iter().map(|step| step.canonical());
        let ticks = canonical.flat_map(|step| [step.delay.ticks(), step.notice.ticks()]).filter(|ticks| *ticks > 0);
        let (delays, delayed_by) = ticks.fold((0, 0), |(n, sum), ticks| (n + 1, sum + u32::from(ticks)));
        Self { steps: schedule.steps.len(), delays, delayed_by, list_len, faults, ring, circle }
    }
}

/// What is kept besides the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is kept by itself")]
struct Worth {
    /// Whether the run is within the assumptions.
    within: bool,
    immediate: bool,
    ring: u8,
    /// Whether the steps break the property, and not only the maintenance afterwards.
    by_itself: bool,
    /// Whether it is known that no order of maintenance heals the network.
    for_good: bool,
}

impl Worth {
    fn of(breach: Breach, outcome: &Outcome, networks: usize) -> Self {
        Self {
            within: outcome.assumptions.hold(),
            immediate: outcome.assumptions.immediate,
            ring: outcome.executed.setup.ring,
            by_itself: match breach {
                Breach::Broken(property) => !property.holds(&outcome.network),
                Breach::Stalled | Breach::Runaway => true,
            },
            for_good: match outcome.proof {
                Some(Decision::Tried(Proof::Irreparable { networks: known })) => known <= networks,
                Some(Decision::Obstructed(_)) => true,
                _ => false,
            },
        }
    }

    fn keeps(self, of: Self) -> bool {
        self.within >= of.within
            && self.immediate >= of.immediate
            && self.ring <= of.ring
            && self.by_itself >= of.by_itself
            && self.for_good >= of.for_good
    }
}

/// A finding on its way to a smaller one.
#[derive(Clone, Debug)]
pub struct Shrinker {
    target: Target,
    breach: Breach,
    options: Options,
    effort: Effort,
    worth: Worth,
    best: Schedule,
    executions: u64,
    work: u64,
}

impl Shrinker {
    /// Starts with what this run has executed, and keeps to its conditions. `None` if it violates nothing.
    #[must_use]
    pub fn new(target: Target, outcome: &Outcome, effort: Effort) -> Option<Self> {
        let breach = outcome.verdict.found()?;
        let (faults, conditions) = (outcome.executed.setup.faults, outcome.assumptions.conditions);
        let only = Only::these(vec![breach]);
        let options = Options { only, faults, conditions, networks: effort.networks, ..Options::default() };
        let worth = Worth::of(breach, outcome, effort.networks);
        let best = outcome.executed.clone();
        Some(Self { target, breach, options, effort, worth, best, executions: 0, work: 0 })
    }

    /// What is violated.
    #[must_use]
    pub fn breach(&self) -> Breach {
        self.breach
    }

    /// How every schedule is run that may be the smallest.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The smallest schedule so far.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.best
    }

    /// How many schedules have been run, or [rehearsed](rehearse).
    #[must_use]
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Shrinks as far as it goes. `progress` is told how many candidates of the current search have been tried.
    pub fn shrink(&mut self, mut progress: impl FnMut(u64)) {
        loop {
            let before = self.best.clone();
            self.reduce();
            self.simplify();
            if self.best == before && !self.search(&mut progress) {
                return;
            }
        }
    }

    /// Removes steps until none can be removed by itself: blocks of half of all of them, then of a quarter, and so on.
    pub fn reduce(&mut self) {
        // What keeps the signature nearly always keeps the rest, which takes longer to say.
        let before = self.best.clone();
        self.remove(|shrinker, found| {
            shrinker.best = found;
            true
        });
        let reduced = std::mem::replace(&mut self.best, before);
        if !self.take(reduced) {
            self.remove(Self::take);
        }
    }

    fn remove(&mut self, take: impl Fn(&mut Self, Schedule) -> bool) {
        loop {
            let before = self.best.steps.len();
            let mut block = (before / 2).max(1);
            while block > 0 {
                let mut at = 0;
                while at < self.best.steps.len() {
                    let end = (at + block).min(self.best.steps.len());
                    let found = self.execute(&without(&self.best, at..end));
                    let shorter = found.filter(|found| found.steps.len() < self.best.steps.len());
                    if !shorter.is_some_and(|found| take(self, found)) {
                        at = end;
                    }
                }
                block /= 2;
            }
            if self.best.steps.len() == before {
                return;
            }
        }
    }

    /// Makes single edits until none makes the schedule smaller.
    pub fn simplify(&mut self) {
        while self.simplify_once() {}
    }

    fn simplify_once(&mut self) -> bool {
        let best = self.best.clone();
        for candidate in edits(&best) {
            if self.work >= self.effort.work {
                return false;
            }
            if compare(&candidate, &best).is_lt()
                && let Some(found) = self.execute(&candidate)
                && compare(&found, &best).is_lt()
                && self.take(found)
            {
                return true;
            }
        }
        false
    }

    /// Looks for one of fewer steps, less delay or a smaller start, by way of those of as many steps. Returns whether it
    /// has found one. `progress` is told how many candidates have been tried.
    pub fn search(&mut self, mut progress: impl FnMut(u64)) -> bool {
        let size = Size::of(&self.best);
        let mut open = VecDeque::from([self.best.clone()]);
        let mut reached = HashSet::from([self.best.encode()]);
        let mut tried = HashSet::new();
        while let Some(from) = open.pop_front() {
            let candidates = edits(&from).flat_map(|edited| {
                let shorter: Vec<_> = (0..edited.steps.len()).map(|at| without(&edited, at..at + 1)).collect();
                [edited].into_iter().chain(shorter)
            });
            for candidate in candidates {
                if !tried.insert(candidate.encode()) {
                    continue;
                }
                let count = tried.len() as u64;
                if count > self.effort.candidates {
                    return false;
                }
                progress(count);
                let Some(found) = self.execute(&candidate) else { continue };
                if found.steps.len() > size.steps || !reached.insert(found.encode()) {
                    continue;
                }
                if Size::of(&found) >= size {
                    // What is not to be kept need not be known.
                    let networks = if self.worth.for_good { self.effort.networks } else { 0 };
                    if self.worth(&found, networks).is_some() {
                        open.push_back(found);
                    }
                } else if self.take(found) {
                    return true;
                }
            }
        }
        false
    }

    /// Runs a candidate, and returns its steps as executed if it has the signature.
    fn execute(&mut self, candidate: &Schedule) -> Option<Schedule> {
        let immediate = candidate.immediate();
        if self.work >= self.effort.work || (self.worth.immediate && !immediate) {
            return None;
        }
        if !immediate || candidate.setup.faults || self.options.conditions.late > 0 {
            return self.run(candidate, 0).map(|outcome| outcome.executed);
        }
        let (verdict, executed) = rehearse(self.target, candidate, &self.options);
        self.executions += 1;
        self.work += executed.steps.len() as u64;
        (verdict.found() == Some(self.breach)).then_some(executed)
    }

    /// Runs a candidate on the network, and returns what comes of it if it has the signature. So many networks are looked
    /// at to know that none of them is ideal.
    fn run(&mut self, candidate: &Schedule, networks: usize) -> Option<Outcome> {
        let options = Options { networks, ..self.options.clone() };
        let outcome = run(self.target, candidate, &options, &mut ());
        self.executions += 1;
        self.work += NETWORK_STEP * outcome.executed.steps.len() as u64;
        (outcome.verdict.found() == Some(self.breach)).then_some(outcome)
    }

    /// What these steps as executed are worth, if that is no less than what is kept.
    fn worth(&mut self, executed: &Schedule, networks: usize) -> Option<Worth> {
        // What is rehearsed counts only if it is so on the network.
        let outcome = self.run(executed, networks).filter(|outcome| outcome.executed == *executed)?;
        let worth = Worth::of(self.breach, &outcome, networks);
        worth.keeps(self.worth).then_some(worth)
    }

    /// Takes these steps as executed for the best, if they are worth no less.
    fn take(&mut self, executed: Schedule) -> bool {
        let worth = self.worth(&executed, self.effort.networks);
        if let Some(worth) = worth {
            // What has been gained is kept too.
            (self.best, self.worth) = (executed, worth);
        }
        worth.is_some()
    }
}

/// The schedule without these steps.
fn without(schedule: &Schedule, steps: Range<usize>) -> Schedule {
    let mut shorter = schedule.clone();
    shorter.steps.drain(steps);
    shorter
}

/// Every single edit of a schedule. What is not permitted after it will be repaired.
fn edits(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    removals(schedule)
        .chain(starts(schedule))
        .chain(delays(schedule))
        .chain(names(schedule))
        .chain(orders(schedule))
        .chain(replacements(schedule))
}

/// One step less, or two neighbours.
fn removals(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    let steps = schedule.steps.len();
    let blocks = (1..=2).flat_map(move |block| (block..=steps).map(move |end| end - block..end));
    blocks.map(|block| without(schedule, block))
}

/// A smaller start: shorter lists, no faults, one member less, a smaller circle.
fn starts(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    let Setup { ring, circle, list_len, .. } = schedule.setup;
    let lists = (2..list_len).map(|list_len| Setup { list_len, ..schedule.setup });
    let circles = (MIN_CIRCLE..circle).map(|circle| Setup { circle, ..schedule.setup });
    let reliable = schedule.setup.faults.then_some(Setup { faults: false, ..schedule.setup });
    let smaller = lists.chain(reliable).chain(circles).map(|setup| Schedule { setup, ..schedule.clone() });
    // The members are the even identifiers, so that those above the one that is missing move down by two.
    let gone = (0..if ring > 1 { ring } else { 0 }).map(move |member| {
        let close = |x: Ident| if x.get() < 2 * member { x } else { Ident::new((x.get() + circle - 2) % circle) };
        let setup = Setup { ring: ring - 1, ..schedule.setup };
        Schedule { setup, ..renamed(schedule, close) }
    });
    smaller.chain(gone)
}

/// Less delay: none at all, or one of them shorter.
fn delays(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    let none = schedule.steps.iter().map(|&step| Step { delay: Delay::NONE, notice: Delay::NONE, ..step }).collect();
    let shorter = |delay: Delay| DELAYS.into_iter().filter_map(Delay::from_ticks).filter(move |less| *less < delay);
    let each = (0..schedule.steps.len()).flat_map(move |at| {
        let step = schedule.steps[at];
        let replies = shorter(step.delay).map(move |delay| Step { delay, ..step });
        let notices = shorter(step.notice).map(move |notice| Step { notice, ..step });
        replies.chain(notices).map(move |step| with(schedule, at, step))
    });
    (!schedule.immediate()).then_some(Schedule { steps: none, ..schedule.clone() }).into_iter().chain(each)
}

/// One node under another's name, or two that exchange theirs.
fn names(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    let circle = IdentSet::circle(schedule.setup.circle);
    let pairs = circle.iter().flat_map(move |x| circle.iter().filter(move |y| *y != x).map(move |y| (x, y)));
    pairs.flat_map(move |(x, y)| {
        let rename = move |z| if z == x { y } else { z };
        let exchange = move |z| if z == y { x } else { rename(z) };
        [renamed(schedule, rename), renamed(schedule, exchange)]
    })
}

fn renamed(schedule: &Schedule, name: impl Fn(Ident) -> Ident) -> Schedule {
    let rename = |step: &Step| Step { node: name(step.node), contact: name(step.contact), ..*step }.canonical();
    Schedule { steps: schedule.steps.iter().map(rename).collect(), ..schedule.clone() }
}

/// One step elsewhere.
fn orders(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    let steps = schedule.steps.len();
    (0..steps).flat_map(move |from| {
        (0..steps).filter(move |to| *to != from).map(move |to| {
            let mut moved = schedule.clone();
            let step = moved.steps.remove(from);
            moved.steps.insert(to, step);
            moved
        })
    })
}

/// Another step in place of one: any operation of any node, and for a join any contact.
fn replacements(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
    let circle = IdentSet::circle(schedule.setup.circle);
    (0..schedule.steps.len()).flat_map(move |at| {
        let step = schedule.steps[at];
        let others = Op::available(false).iter().flat_map(move |&op| {
            circle.iter().map(move |node| Step { op, node, contact: Ident::default(), ..step }.canonical())
        });
        let contacts = circle.iter().map(move |contact| Step { contact, ..step }.canonical());
        others.chain(contacts).filter(move |other| *other != step).map(move |step| with(schedule, at, step))
    })
}

/// The schedule with this step in the place of the one at `at`.
fn with(schedule: &Schedule, at: usize, step: Step) -> Schedule {
    let mut replaced = schedule.clone();
    replaced.steps[at] = step;
    replaced
}
