//! The matrix: which assumption carries the proof.
//!
//! A [`Cell`] is a version under conditions. It is filled by a blind [sweep](crate::search::sweep) over all starts of the version,
//! and the shortest few of the runs that violate a property are [shrunk](crate::finding::shrink) under the same conditions. What is
//! found in one cell is tried in the others of its version. Cells that differ in one condition show what it is good for:
//! what is violated in one and survives in the other.
//!
//! Some conditions are no assumption of a source (that a failed node may join again, that datagrams are delayed), some
//! are one (perfect failure detection, a reliable network), and two are switches of `tse2017`: the rule by which a node
//! that waits for an answer withholds its own state (`-busy`), and the stable base (`-base`). A run that leaves an
//! assumption is [outside](crate::judge::Verdict::Outside) and says nothing about the protocol, but it says what the
//! assumption holds off.
//!
//! The invariant of `tse2017` breaks before anything else does. So it is swept by itself, and what is required by itself.
//!
//! That nothing is found in a cell is no proof: it is so many random runs.

use std::collections::BTreeMap;
use std::fmt;

use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use crate::finding::shrink::{Effort, Shrinker, compare};
use crate::judge::prove::{Decision, Proof};
use crate::judge::{Assumptions, Breach, NETWORKS, Only, Options, Outcome, Target, run};
use crate::protocol::version::{Rules, Version};
use crate::schedule::Schedule;
use crate::search::sweep::{Found, Shape, Sweep};
use crate::truth::property::Property;
use crate::world::Conditions;

/// The versions, in the order of the rows: the published ones of the list family, all checks, each fix by itself; and
/// `tse2017` with and without what its proof rests on.
pub const VERSIONS: [&str; 10] = [
    "sigcomm2001",
    "sigcomm2001+join",
    "sigcomm2001+adopt",
    "ccr2012",
    "best2012",
    "ccr2012+update+reconcile+answer",
    "tse2017",
    "tse2017-busy",
    "tse2017-base",
    "tse2017-busy-base",
];

/// How many records each schedule has.
pub const STEPS: usize = 60;

/// How far each hit is shrunk: a second or so.
pub const EFFORT: Effort = Effort { candidates: 2_000, networks: NETWORKS, work: 3_000_000 };

/// What may happen to datagrams and to failure detection: the columns. What may happen need not, so that all runs of the
/// first are also among those of the second and the last. Not so of [`Late`](Self::Late): who takes a failed node for
/// alive also leaves undone what would break something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Every datagram arrives before the next step, as in the atomic models.
    Immediate,
    /// Datagrams may be delayed; failure detection is perfect.
    Delayed,
    /// Datagrams may be delayed, and failures go unnoticed for some steps.
    Late,
    /// Datagrams may be delayed or lost, and the network may be partitioned.
    Lossy,
}

impl Network {
    /// All of them, the mildest first.
    pub const ALL: [Self; 4] = [Self::Immediate, Self::Delayed, Self::Late, Self::Lossy];

    /// The name, which is also good for a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Delayed => "delayed",
            Self::Late => "late",
            Self::Lossy => "lossy",
        }
    }
}

/// How the matrix is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The runs of each sweep.
    pub runs: u64,
    /// Their seed.
    pub seed: u64,
    /// For how many steps a failure goes unnoticed where detection is late.
    pub late: u8,
}

/// A version under conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The version.
    pub version: Version,
    /// What its network is like.
    pub network: Network,
    /// Whether a node that has failed may join again.
    pub rejoin: bool,
}

/// Written as in `tse2017-base.late.no-rejoin`, which is good for a file.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rejoin = if self.rejoin { "rejoin" } else { "no-rejoin" };
        write!(f, "{}.{}.{rejoin}", self.version, self.network.name())
    }
}

/// What has been found of one breach in a cell.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What is violated.
    pub breach: Breach,
    /// How many runs of the cell's sweep violate it; 0 if it is known from another cell.
    pub count: u64,
    /// The smallest schedule that violates it, as executed. One within the assumptions goes before one outside, and then
    /// one that no order of maintenance heals before one of which that is not known.
    pub smallest: Schedule,
    /// The assumptions of its run.
    pub assumptions: Assumptions,
    /// Of a required property, what is known of its healing.
    pub proof: Option<Decision>,
}

impl Cell {
    /// The cells of a version, row by row.
    pub fn of(version: Version) -> impl Iterator<Item = Self> {
        [true, false].into_iter().flat_map(move |rejoin| Network::ALL.map(|network| Self { version, network, rejoin }))
    }

    /// The options of its runs.
    #[must_use]
    pub fn options(&self, plan: Plan) -> Options {
        let late = if self.network == Network::Late { plan.late } else { 0 };
        Options {
            faults: self.network == Network::Lossy,
            conditions: Conditions { rejoin: self.rejoin, late },
            ..Options::default()
        }
    }

    /// What each sweep of the cell is for.
    #[must_use]
    pub fn sweeps(&self) -> Vec<Only> {
        let invariant = Breach::Broken(Property::Invariant);
        match self.version.rules() {
            Rules::Tse { base: true, .. } => {
                let others = Breach::all().filter(|breach| *breach != invariant).collect();
                vec![Only::these(vec![invariant]), Only::these(others)]
            }
            _ => vec![Only::default()],
        }
    }

    /// Sweeps the cell, on all threads of the current [rayon] pool, and returns the smallest schedule of each breach that is
    /// found. `progress` is told how many runs have been added.
    pub fn sweep(&self, plan: Plan, mut progress: impl FnMut(u64)) -> Vec<Finding> {
        let target = Target::of(self.version);
        let delays = (self.network == Network::Immediate).then_some(false);
        let shape = Shape { steps: STEPS, ring: None, delays };
        let mut findings = Vec::new();
        for only in self.sweeps() {
            let options = Options { only, ..self.options(plan) };
            let sweep = Sweep::new(target, options, plan.seed, shape)
                .unwrap_or_else(|_| unreachable!("every version has schedules of this shape"));
            let tally = sweep.tally(plan.runs, None, &mut progress);
            findings.extend(tally.found.iter().filter_map(|(&breach, found)| smallest(&sweep, target, breach, found)));
        }
        findings
    }

    /// What a schedule comes to in this cell, if it is this breach: one of another cell of the version, or one that was
    /// kept of this one.
    #[must_use]
    pub fn find(&self, plan: Plan, breach: Breach, schedule: &Schedule) -> Option<Finding> {
        let target = Target::of(self.version);
        let options = Options { only: Only::these(vec![breach]), ..self.options(plan) };
        let outcome = run(target, schedule, &options, &mut ());
        let fits = self.network != Network::Immediate || outcome.assumptions.immediate;
        (fits && outcome.verdict.found() == Some(breach)).then(|| Finding::of(breach, 0, outcome))
    }
}

/// Tries what the sweep of each cell has found in all others of its version: what needs no leave is as good where there
/// is none. That takes next to no time.
#[must_use]
pub fn share(cells: &[Cell], plan: Plan, swept: &[Vec<Finding>]) -> Vec<Vec<Finding>> {
    let fill = |cell: &Cell| {
        let mut filled = BTreeMap::new();
        for (other, findings) in cells.iter().zip(swept).filter(|(other, _)| other.version == cell.version) {
            for found in findings {
                let tried = || cell.find(plan, found.breach, &found.smallest);
                let finding = if other == cell { Some(found.clone()) } else { tried() };
                let Some(mut finding) = finding else { continue };
                if let Some(best) = filled.remove(&finding.breach) {
                    finding = finding.or(best);
                }
                filled.insert(finding.breach, finding);
            }
        }
        filled.into_values().collect()
    };
    cells.iter().map(fill).collect()
}

impl Finding {
    fn of(breach: Breach, count: u64, outcome: Outcome) -> Self {
        let Outcome { executed, assumptions, proof, .. } = outcome;
        Self { breach, count, smallest: executed, assumptions, proof }
    }

    /// Whether it takes too many networks to know that no order of maintenance heals what is broken.
    #[must_use]
    pub fn undecided(&self) -> bool {
        matches!(self.proof, Some(Decision::Tried(Proof::Undecided { .. })))
    }

    /// The better one of two of the same breach, with the runs of both.
    fn or(self, other: Self) -> Self {
        let count = self.count + other.count;
        let rank = |finding: &Self| (!finding.assumptions.hold(), finding.undecided());
        let order = rank(&self).cmp(&rank(&other)).then_with(|| compare(&self.smallest, &other.smallest));
        Self { count, ..if order.is_le() { self } else { other } }
    }
}

/// Shrinks the shortest runs of a breach, and returns the best that comes of them.
fn smallest(sweep: &Sweep, target: Target, breach: Breach, found: &Found) -> Option<Finding> {
    let shrunk = found.shortest.par_iter().filter_map(|&(_, index)| {
        let mut shrinker = Shrinker::new(target, &sweep.run(index), EFFORT)?;
        shrinker.shrink(|_| ());
        let outcome = run(target, shrinker.schedule(), shrinker.options(), &mut ());
        Some(Finding::of(breach, 0, outcome))
    });
    let best = shrunk.collect::<Vec<_>>().into_iter().reduce(Finding::or)?;
    Some(Finding { count: found.count, ..best })
}
