//! The shape of a schedule: what is left of it when its nodes lose their names, and steps their order where it does not
//! matter.
//!
//! Two findings that differ in nothing else are one finding. A merge of two different ones would hide one; a missed merge
//! only shows one twice. So two schedules, as executed, have the same shape only if they are the same run by what follows.
//!
//! # Names
//!
//! As far as the rules know no more of an identifier than its place on the circle, it does not matter which it is. That is
//! not the same for all:
//!
//! | | names that do not matter | why no others |
//! |---|---|---|
//! | the list family, without delays and faults | those in the same cyclic order, with the start where it was or turned so that it lies on itself | |
//! | the list family, with them | those in the same order, with the start where it was | who waits for a node that fails is told in ascending order; with a check in the answer, only a larger identifier waits for a smaller one |
//! | `tse2017` | none | a list that has lost an entry is padded with the identifier that follows the last, whether or not a node has it |
//!
//! Nor does it matter to the list family how many identifiers the circle has besides.
//!
//! Turned around the circle, every network of a run is the same up to names. Only the judge might differ: its fair
//! maintenance goes in ascending order. Between two findings, which both do not heal, that is no matter.
//!
//! # Order
//!
//! Without delays a run is one of the atomic [`model`], and two neighbouring steps may change places if both
//! then have an effect still and the network after them is the same (Mazurkiewicz). Of all orders that this leads to, the
//! shape has one in which joins come early and failures late. Which steps depend on each other is a matter of the network
//! that they meet, so that the same may be reached by one way and not by another: then a merge is missed.

use std::fmt::Write as _;

use blake3::Hash;

use crate::protocol::model;
use crate::protocol::version::Rules;
use crate::schedule::{Op, Schedule, Setup, Step};
use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};
use crate::truth::snapshot::Snapshot;
use crate::world;

/// The shape of a schedule [as executed](crate::judge::Outcome::executed) under these rules.
#[must_use]
pub fn shape(rules: Rules, schedule: &Schedule) -> Hash {
    let atomic = !schedule.setup.faults && schedule.immediate();
    let turns = match rules {
        Rules::List { .. } if atomic => schedule.setup.ring,
        _ => 1,
    };
    let texts = (0..turns).map(|turn| {
        let names = Names::new(rules, schedule, Ident::new(2 * turn));
        let steps = if atomic { names.ordered(rules, schedule) } else { schedule.steps.clone() };
        names.spell(rules, schedule.setup, &steps)
    });
    // The least is as good as any.
    blake3::hash(texts.min().unwrap_or_default().as_bytes())
}

/// What the nodes are called.
struct Names([Ident; MAX_IDENTS]);

impl Names {
    /// The nodes in use, counted from `first`, a member of the start, around the circle; if names matter, as they are.
    fn new(rules: Rules, schedule: &Schedule, first: Ident) -> Self {
        let steps = schedule.steps.iter();
        let nodes = steps.flat_map(|step| [Some(step.node), (step.op == Op::Join).then_some(step.contact)]).flatten();
        let used = match rules {
            Rules::List { .. } => schedule.setup.members() | nodes.collect(),
            Rules::Tse { .. } => IdentSet::circle(u8::MAX),
        };
        let mut names = [Ident::default(); MAX_IDENTS];
        for (x, name) in used.iter_from(first).zip(0..) {
            names[x.index()] = Ident::new(name);
        }
        Self(names)
    }

    fn of(&self, x: Ident) -> Ident {
        self.0[x.index()]
    }

    fn step(&self, step: Step) -> Step {
        Step { node: self.of(step.node), contact: self.of(step.contact), ..step }.canonical()
    }

    /// The steps with neighbours exchanged, as long as that does not matter and makes the simpler one the first.
    fn ordered(&self, rules: Rules, schedule: &Schedule) -> Vec<Step> {
        let mut steps = schedule.steps.clone();
        // The network before each step, and at the end.
        let mut networks = vec![world::starting_network(schedule.setup, rules)];
        for (at, &step) in steps.iter().enumerate() {
            networks.push(after(rules, &networks[at], step));
        }
        let key = |step| {
            let Step { op, node, contact, .. } = self.step(step);
            (op, node, contact)
        };
        let mut changed = true;
        while changed {
            changed = false;
            for at in 1..steps.len() {
                let (first, second) = (steps[at - 1], steps[at]);
                if key(second) < key(first)
                    && let Some(between) = exchanged(rules, &networks[at - 1], first, second, &networks[at + 1])
                {
                    steps.swap(at - 1, at);
                    networks[at] = between;
                    changed = true;
                }
            }
        }
        steps
    }

    fn spell(&self, rules: Rules, setup: Setup, steps: &[Step]) -> String {
        let Setup { circle, list_len, faults, .. } = setup;
        let mut text = match rules {
            Rules::List { .. } => String::new(),
            Rules::Tse { .. } => format!("circle {circle} lists {list_len} "),
        };
        text += if faults { "faults start" } else { "start" };
        for x in setup.members().iter().map(|x| self.of(x)).collect::<IdentSet>().iter() {
            let _ = write!(text, " {x}");
        }
        for &step in steps {
            let _ = write!(text, "\n{}", self.step(step));
        }
        text
    }
}

fn after(rules: Rules, network: &Snapshot, step: Step) -> Snapshot {
    let mut after = *network;
    if let Some(action) = world::action(step) {
        model::apply(rules, &mut after, action);
    }
    after
}

/// The network between two steps when the second is done first, if both have an effect then and lead to the same `end`.
fn exchanged(rules: Rules, network: &Snapshot, first: Step, second: Step, end: &Snapshot) -> Option<Snapshot> {
    let done = |network: &Snapshot, step| {
        (world::resolve(rules, network, IdentSet::EMPTY, step) == Some(step)).then(|| after(rules, network, step))
    };
    let between = done(network, second)?;
    (done(&between, first)? == *end).then_some(between)
}
