//! Blind search: random schedules, run one after the other. It is the control that every figure of a guided search
//! stands beside, since it has the same decoder and learns nothing.
//!
//! The schedule of an index depends on the seed and the index alone, so that it does not matter how many threads share
//! the work. It has as many random records as it is asked for; network faults are among the operations only where the
//! options allow them, and then of every schedule.
//!
//! # The peer's conditions
//!
//! [`Sweep::peer`] comes close to how W26 runs its Chord campaigns, so that its published figures can be compared with
//! ours.
//!
//! | | W26 | here |
//! |---|---|---|
//! | start | 3 base nodes as an ideal ring | the same |
//! | others | 3 appendages join, each once | the same: a run ends before a step that would have a node join again |
//! | liveness checks | levels 0, 1 and 2 | the same, by the switches of [`PEER_LEVELS`] |
//! | failure detection | delayed: a death notice travels like any message, and nobody waits | *perfect* (spec section 5) |
//! | latency | uniform over 1,000 to 60,000 of the broker's time, by its seed | by the delay classes of the schedule |
//! | failures | whatever happens, and runs that leave the failure assumption are thrown away | only permitted ones |
//! | violation | what its checker finds in the nodes' reports | broken for good (see [`judge`]) |
//!
//! No level checks a join, so that from level 1 on nearly all that random runs find is a joiner left with a failed
//! successor (ConnectedAppendages). It ends the run before anything rarer. The runs are short: of 60 steps 12 are
//! executed on average, until something is violated or a node would join again.

use std::collections::BTreeMap;
use std::iter;

use fastrand::Rng;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};

use crate::judge::{self, Breach, Options, Outcome, Target, Verdict};
use crate::schedule::{MAX_START, MAX_STEPS, Op, Schedule, Setup, mutate};

/// The versions that have the liveness checks of W26's levels 0, 1 and 2 (spec section 2.5).
pub const PEER_LEVELS: [&str; 3] = ["sigcomm2001", "sigcomm2001+adopt", "sigcomm2001+adopt+update+reconcile+answer"];

/// The peer's start, and a circle that has room for its three appendages and no more.
const PEER_SETUP: Setup = Setup { ring: 3, circle: 6, list_len: 2, faults: false };

/// How many runs are shared out at a time: enough that no thread waits, few enough that a search stops soon.
const BATCH: u64 = 4096;

/// Which schedules a sweep is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many records each has: 1 to [`MAX_STEPS`].
    pub steps: usize,
    /// The number of members that all start with; `None` for any.
    pub ring: Option<u8>,
    /// Whether all have delays, or none has; `None` for any.
    pub delays: Option<bool>,
}

/// Why there are no such schedules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// Too few or too many steps.
    #[error("a schedule has 1 to {MAX_STEPS} steps, not {0}")]
    Steps(usize),
    /// The version does not start like this.
    #[error("`{version}` starts from no ring of {ring}")]
    Ring {
        /// The version.
        version: String,
        /// The number of members.
        ring: u8,
    },
}

/// An endless sequence of random schedules and what they come to.
#[derive(Clone, Debug)]
pub struct Sweep {
    target: Target,
    options: Options,
    seed: u64,
    shape: Shape,
    peer: bool,
}

impl Sweep {
    /// The sweep of a target by this seed.
    ///
    /// # Errors
    ///
    /// If there are no schedules of this shape.
    pub fn new(target: Target, options: Options, seed: u64, shape: Shape) -> Result<Self, ShapeError> {
        if !(1..=MAX_STEPS).contains(&shape.steps) {
            return Err(ShapeError::Steps(shape.steps));
        }
        let rules = target.version.rules();
        let starts = |ring| {
            (1..=MAX_START).contains(&ring)
                && (2..=3).any(|list_len| rules.fit(Setup { ring, list_len, ..PEER_SETUP }).ring == ring)
        };
        match shape.ring {
            Some(ring) if !starts(ring) => Err(ShapeError::Ring { version: target.version.to_string(), ring }),
            _ => Ok(Self { target, options, seed, shape, peer: false }),
        }
    }

    /// The sweep of one of the [`PEER_LEVELS`] under the peer's conditions.
    ///
    /// # Errors
    ///
    /// If there are no schedules of so many steps.
    pub fn peer(target: Target, options: Options, seed: u64, steps: usize) -> Result<Self, ShapeError> {
        let shape = Shape { steps, ring: Some(PEER_SETUP.ring), delays: Some(true) };
        Ok(Self { peer: true, ..Self::new(target, options, seed, shape)? })
    }

    /// The schedule of this index.
    #[must_use]
    pub fn schedule(&self, index: u64) -> Schedule {
        let mut rng = Rng::with_seed(mix(mix(self.seed) ^ index));
        let mut bytes = vec![0; 2 + 2 * self.shape.steps];
        let draw = || {
            rng.fill(&mut bytes);
            bytes[0] = mutate::confine(bytes[0], self.shape.ring, self.shape.delays);
            let schedule = Schedule::decode(&bytes);
            if self.peer { Schedule { setup: PEER_SETUP, ..schedule } } else { schedule }
        };
        // Nearly every second one is: the bit for faults is as random as the others.
        iter::repeat_with(draw).find(|schedule| self.admits(schedule)).unwrap_or_else(|| unreachable!("without end"))
    }

    fn admits(&self, schedule: &Schedule) -> bool {
        let rules = self.target.version.rules();
        schedule.setup.faults == self.options.faults
            && mutate::confined(schedule, rules.fit(schedule.setup), self.shape.ring, self.shape.delays)
    }

    /// Runs the schedule of this index.
    #[must_use]
    pub fn run(&self, index: u64) -> Outcome {
        let run = |schedule: &Schedule| judge::run(self.target, schedule, &self.options, &mut ());
        let outcome = run(&self.schedule(index));
        match rejoin(&outcome.executed) {
            Some(at) if self.peer => {
                // What was executed up to there is executed again alike.
                let mut cut = outcome.executed;
                cut.steps.truncate(at);
                run(&cut)
            }
            _ => outcome,
        }
    }

    /// The index of the first schedule before `cap` that violates this, on one thread.
    #[must_use]
    pub fn first_hit(&self, breach: Breach, cap: u64) -> Option<u64> {
        (0..cap).find(|&index| self.run(index).verdict == Verdict::Violated(breach))
    }

    /// Runs the first so many schedules, or those up to the first that violates `until`, on all threads of the current
    /// [rayon] pool, and counts what they violate. `progress` is told how many runs have been added.
    pub fn tally(&self, runs: u64, until: Option<Breach>, mut progress: impl FnMut(u64)) -> Tally {
        let mut tally = Tally::default();
        while tally.runs < runs {
            let batch = tally.runs..runs.min(tally.runs + BATCH);
            let results: Vec<_> = batch
                .clone()
                .into_par_iter()
                .map(|index| {
                    let outcome = self.run(index);
                    Some((outcome.verdict.found()?, outcome.executed.steps.len()))
                })
                .collect();
            for (index, result) in batch.clone().zip(results) {
                tally.runs += 1;
                let Some((breach, steps)) = result else { continue };
                tally
                    .found
                    .entry(breach)
                    .or_insert(Found { count: 0, first: index, shortest: Vec::new() })
                    .add(steps, index);
                if until == Some(breach) {
                    return tally;
                }
            }
            progress(batch.end - batch.start);
        }
        tally
    }
}

/// The index of the first step by which a node joins that the run starts with or that has joined before, if there is one.
#[must_use]
pub fn rejoin(schedule: &Schedule) -> Option<usize> {
    let mut been = schedule.setup.members();
    schedule.steps.iter().position(|step| {
        let again = step.op == Op::Join && been.contains(step.node);
        if step.op == Op::Join {
            been.insert(step.node);
        }
        again
    })
}

/// Scatters the numbers over all 64 bits (the finalizer of SplitMix64), so that neighbours have nothing in common.
fn mix(number: u64) -> u64 {
    let z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// How many of the shortest runs are remembered of each violation.
const SHORTEST: usize = 4;

/// What has been found of one violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// How many runs violate it.
    pub count: u64,
    /// The index of the first.
    pub first: u64,
    /// The steps as executed and the index of the shortest few, shortest first, and of those as short the first first. It
    /// is never empty.
    pub shortest: Vec<(usize, u64)>,
}

impl Found {
    fn add(&mut self, steps: usize, index: u64) {
        self.count += 1;
        let at = self.shortest.partition_point(|&(fewer, _)| fewer <= steps);
        self.shortest.insert(at, (steps, index));
        self.shortest.truncate(SHORTEST);
    }
}

/// What has been found in so many runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many runs were counted.
    pub runs: u64,
    /// What was found.
    pub found: BTreeMap<Breach, Found>,
}

impl Tally {
    /// How many runs violate anything.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.found.values().map(|found| found.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::version::Version;

    fn sweep(target: &str, ring: Option<u8>, delays: Option<bool>) -> Result<Sweep, ShapeError> {
        Sweep::new(target.parse().unwrap(), Options::default(), 7, Shape { steps: 20, ring, delays })
    }

    #[test]
    fn schedules_have_the_shape_that_is_asked_for() {
        for (ring, delays) in [(1, true), (3, false), (6, true)] {
            let sweep = sweep("ccr2012", Some(ring), Some(delays)).unwrap();
            for schedule in (0..50).map(|index| sweep.schedule(index)) {
                assert_eq!((schedule.setup.ring, schedule.steps.len()), (ring, 20));
                assert_eq!(schedule.steps.iter().any(|step| !step.immediate()), delays);
                assert!(!schedule.setup.faults);
            }
        }
        let sweep = sweep("tse2017", Some(3), None).unwrap();
        assert!((0..50).all(|index| sweep.schedule(index).setup.list_len == 2), "lists of 3 need 4 members");
    }

    #[test]
    fn shapes_that_there_are_not() {
        let error = sweep("tse2017", Some(2), None).unwrap_err();
        assert_eq!(error.to_string(), "`tse2017` starts from no ring of 2");
        assert!(sweep("ccr2012", Some(0), None).is_err());
        assert!(sweep("ccr2012", Some(7), None).is_err());
        assert_eq!(
            Sweep::peer(Target::of(Version::CCR2012), Options::default(), 1, 0).unwrap_err(),
            ShapeError::Steps(0)
        );
    }

    #[test]
    fn schedules_differ_by_seed_and_by_index() {
        let sweep = sweep("ccr2012", None, None).unwrap();
        let other = Sweep { seed: 8, ..sweep.clone() };
        assert_eq!(sweep.schedule(3), sweep.clone().schedule(3));
        assert_ne!(sweep.schedule(3), sweep.schedule(4));
        assert_ne!(sweep.schedule(3), other.schedule(3));
    }

    #[test]
    fn under_the_peers_conditions_nobody_joins_again() {
        for level in PEER_LEVELS {
            let sweep = Sweep::peer(level.parse().unwrap(), Options::default(), 1, 60).unwrap();
            for outcome in (0..200).map(|index| sweep.run(index)) {
                let joins = outcome.executed.steps.iter().filter(|step| step.op == Op::Join).count();
                assert!(joins <= 3 && rejoin(&outcome.executed).is_none(), "{}", outcome.executed);
            }
        }
    }
}
