//! One run in the atomic model, which needs no network.

use std::slice;

use crate::judge::bench::Bench;
use crate::judge::healing::unhealed;
#[cfg(doc)]
use crate::judge::run;
use crate::judge::{Options, Target, Verdict};
use crate::protocol::model;
use crate::protocol::version::Rules;
use crate::schedule::{Delay, MAX_STEPS, Op, Schedule, Setup, Step};
use crate::truth::ident::IdentSet;
use crate::truth::snapshot::Snapshot;
use crate::world::{self, Conditions};

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
        let setup = Setup { faults: false, ..rules.fit(schedule.setup) };
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
