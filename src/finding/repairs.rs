//! Which steps of a schedule a run does not do as they are given, and why.

use std::fmt;

use crate::judge::{Options, Target, run};
use crate::schedule::{Schedule, Setup, Step};
use crate::world::Objection;
use crate::world::trace::{Event, Observer};

/// What a run does not do as it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repairs {
    /// The start that stands for one that the version does not permit.
    pub start: Option<Setup>,
    /// The steps, in order.
    pub steps: Vec<Repair>,
}

/// A step that is not done as it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The number of the step in the schedule, from 0.
    pub at: usize,
    /// The step as given.
    pub given: Step,
    /// The step that stands for it; `None` if there is nothing to be done.
    pub executed: Option<Step>,
    /// Why.
    pub why: Objection,
}

impl Repairs {
    /// Those of a run under these options, up to where it ends.
    #[must_use]
    pub fn of(target: Target, schedule: &Schedule, options: &Options) -> Self {
        let mut watch = Watch::default();
        let options = Options { networks: 0, ..options.clone() };
        let start = run(target, schedule, &options, &mut watch).executed.setup;
        // That there are no faults is told of the steps that need them.
        let start = Setup { faults: schedule.setup.faults, ..start };
        Self { start: (start != schedule.setup).then_some(start), steps: watch.repairs }
    }
}

/// `fail 1 cannot be done: 1 is not a member; members are 0, 2, 4, 6; it would become fail 2`
impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { given, executed, why, .. } = self;
        write!(f, "`{given}` cannot be done: {why}; ")?;
        match executed {
            Some(executed) => write!(f, "it would become `{executed}`"),
            None => f.write_str("nothing could be done instead"),
        }
    }
}

/// Looks at what the steps of a run come to.
#[derive(Default)]
struct Watch {
    steps: usize,
    repairs: Vec<Repair>,
}

impl Observer for Watch {
    const ASKS_WHY: bool = true;

    fn observe(&mut self, _event: impl FnOnce() -> Event) {}

    fn resolve(&mut self, _given: Step, _executed: Option<Step>) {
        self.steps += 1;
    }

    fn repaired(&mut self, given: Step, executed: Option<Step>, why: Objection) {
        self.repairs.push(Repair { at: self.steps - 1, given, executed, why });
    }
}
