//! The single edits of a schedule.

use std::ops::Range;

use crate::schedule::{DELAYS, Delay, MIN_CIRCLE, Op, Schedule, Setup, Step};
use crate::truth::ident::{Ident, IdentSet};

/// The schedule without these steps.
pub(super) fn without(schedule: &Schedule, steps: Range<usize>) -> Schedule {
    let mut shorter = schedule.clone();
    shorter.steps.drain(steps);
    shorter
}

/// Every single edit of a schedule. What is not permitted after it will be repaired.
pub(super) fn edits(schedule: &Schedule) -> impl Iterator<Item = Schedule> {
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
