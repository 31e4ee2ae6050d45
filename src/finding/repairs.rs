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

#[cfg(test)]
mod tests {
    use super::*;

    /// Why the last step of each text is not done as it is given.
    #[test]
    fn each_has_its_reason() {
        let why = |target: &str, text: &str| {
            let conditions = crate::world::Conditions { rejoin: false, ..Default::default() };
            let options = Options { conditions, faults: true, ..Options::default() };
            let schedule: Schedule = format!("circle 8\n{text}").parse().unwrap();
            let repairs = Repairs::of(target.parse().unwrap(), &schedule, &options);
            assert_eq!(repairs.start, None, "{text}");
            let [repair] = repairs.steps[..] else { panic!("{text}: {:?}", repairs.steps) };
            assert_eq!((repair.at, repair.given), (schedule.steps.len() - 1, *schedule.steps.last().unwrap()));
            repair.why.to_string()
        };
        for (text, reason) in [
            ("ring 2\nadopt 0", "the version has no such operation"),
            ("ring 2\nstabilize 9", "there is no 9 on the circle"),
            ("ring 2\njoin 1 via 9", "there is no 9 on the circle"),
            ("ring 2\njoin 2 via 0", "it is a member"),
            ("ring 2\njoin 1 via 0 delay 5\njoin 1 via 0", "it is joining already"),
            ("ring 3\nfail 4\njoin 4 via 0", "it has failed, and may not join again"),
            ("ring 2\njoin 1 via 4", "4 is not a member; members are 0, 2"),
            ("ring 2\njoin 1 via 2", "2 would not admit it"),
            ("ring 2\nfail 1", "1 is not a member; members are 0, 2"),
            ("ring 1\nfail 0", "the failure assumption does not let it fail"),
            ("ring 2\nstabilize 0 delay 5\nreconcile 0", "an operation of it is under way"),
            ("ring 2\nfaults\ncut 0\ncut 0", "so it is already"),
            ("ring 2\nflush 0", "no pointer would change"),
        ] {
            assert_eq!(why("ccr2012", text), reason, "{text}");
        }
        assert_eq!(why("tse2017", "ring 3\nadopt 0"), "it has no candidate to adopt");
    }
}
