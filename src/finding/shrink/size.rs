//! Which of two schedules is smaller.

use std::cmp::Ordering;

use crate::schedule::{Schedule, Setup, Step};

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
pub(super) struct Size {
    pub(super) steps: usize,
    delays: usize,
    delayed_by: u32,
    list_len: u8,
    faults: bool,
    ring: u8,
    circle: u8,
}

impl Size {
    pub(super) fn of(schedule: &Schedule) -> Self {
        let Setup { ring, circle, list_len, faults } = schedule.setup;
        let canonical = schedule.steps.iter().map(|step| step.canonical());
        let ticks = canonical.flat_map(|step| [step.delay.ticks(), step.notice.ticks()]).filter(|ticks| *ticks > 0);
        let (delays, delayed_by) = ticks.fold((0, 0), |(n, sum), ticks| (n + 1, sum + u32::from(ticks)));
        Self { steps: schedule.steps.len(), delays, delayed_by, list_len, faults, ring, circle }
    }
}
