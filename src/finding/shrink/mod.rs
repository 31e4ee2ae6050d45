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

mod edits;
mod size;
mod worth;

use std::collections::{HashSet, VecDeque};

use edits::{edits, without};
use size::Size;
pub use size::compare;
use worth::Worth;

use crate::judge::{Breach, NETWORKS, Only, Options, Outcome, Target, rehearse, run};
use crate::schedule::Schedule;

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
