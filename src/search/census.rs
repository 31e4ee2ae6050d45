//! A census of broken networks: how many heal, in which orders, and how often the two fair orders that a
//! [verdict](crate::judge) tries first are wrong.
//!
//! Z12 says that a network in which a required property is broken stays broken, whatever maintenance does. Here random
//! runs without delays, those of a [`Sweep`] to their ends, are asked for networks that break one at an instant after a
//! step, whether or not they heal; and, where a run would be a violation only at its end, for the network that fair
//! maintenance then breaks. Networks that are equal as [`Snapshot`]s count once; two that differ by the names of the
//! nodes alone are two. Of each it is [decided](healing) whether it heals.
//!
//! It goes on after what a verdict stops at, since broken networks are rare. So a run may contribute many, one made of
//! the other, and shares of all of them are not shares of runs. What is counted by runs is the first network of each that
//! fair maintenance does not heal: there [`run`](crate::judge::run) ends. By another order it may heal: such a run is no
//! violation.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rayon::iter::{IntoParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::judge::prove::{Healing, Proof, healing, prove};
use crate::judge::{Breach, Rehearsal, heal, unhealed};
use crate::protocol::model::Action;
use crate::protocol::version::Rules;
use crate::schedule::Schedule;
use crate::search::sweep::Sweep;
use crate::truth::property::{Property, first_broken, sound};
use crate::truth::snapshot::Snapshot;
use crate::world::Conditions;

/// How many runs are shared out at a time.
const BATCH: u64 = 4096;

/// Which networks are asked for, and how far each is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How many different networks. Those of the last run are all counted, so that it may be some more.
    pub networks: usize,
    /// The most members of a network, 1 to 16. Larger ones are passed over.
    pub members: u32,
    /// How many networks the [proof](healing) of each looks at.
    pub limit: usize,
    /// How many runs at most.
    pub runs: u64,
}

/// What has become of the networks that break a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// They heal in every order.
    pub always: u64,
    /// It depends on the order, and a fair one heals them.
    pub sometimes_fair: u64,
    /// It depends on the order, and no fair one heals them.
    pub sometimes_unfair: u64,
    /// They heal in no order.
    pub never: u64,
    /// To know takes more networks than the limit.
    pub undecided: u64,
    /// The runs that violate the property, by a network of no more members than were asked for.
    pub violations: u64,
    /// Those of them whose network heals in another order.
    pub repairable: u64,
    /// Those of them of whose network it is not known.
    pub unknown: u64,
}

impl Count {
    /// How many networks there are.
    #[must_use]
    pub fn networks(&self) -> u64 {
        self.always + self.sometimes_fair + self.sometimes_unfair + self.never + self.undecided
    }
}

/// A broken network that heals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The property that is broken.
    pub property: Property,
    /// The index of the run in the sweep.
    pub index: u64,
    /// The run as executed, up to the network.
    pub schedule: Schedule,
    /// The network.
    pub network: Snapshot,
    /// A shortest order that heals it.
    pub order: Vec<Action>,
}

/// What has been found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// How many runs were made.
    pub runs: u64,
    /// The networks by the property that they break.
    pub counts: BTreeMap<Property, Count>,
    /// The smallest network that heals in every order, and the smallest of those where it depends: of the fewest members,
    /// then by the fewest steps, then of the first run.
    pub examples: BTreeMap<Healing, Example>,
}

/// A broken network in a run.
struct Met {
    network: Snapshot,
    property: Property,
    /// How many steps lead to it.
    steps: usize,
    /// Whether fair maintenance heals it.
    fair: bool,
}

/// A broken network, where it was met first.
struct Case {
    property: Property,
    index: u64,
    steps: usize,
    fair: bool,
    /// How many runs violate the property by this network.
    violations: u64,
}

/// Takes the census on all threads of the current [rayon] pool. It is the same for any number of them. `progress` is told
/// how many networks have been met, and then, from 0 on again, of how many it has been decided whether they heal; it may
/// be called from several threads at once.
#[must_use]
pub fn census(rules: Rules, sweep: &Sweep, plan: Plan, progress: impl Fn(Phase, u64) + Sync) -> Census {
    let (runs, cases) = collect(rules, sweep, plan, &progress);
    let decided: Vec<_> = (0..cases.len())
        .into_par_iter()
        .map(|at| {
            let healing = cases.get_index(at).and_then(|(network, _)| healing(rules, network, plan.limit, |_| ()));
            progress(Phase::Decided, 1);
            healing
        })
        .collect();

    let mut census = Census { runs, ..Census::default() };
    let mut smallest = BTreeMap::new();
    for ((network, case), healing) in cases.iter().zip(decided) {
        census.counts.entry(case.property).or_default().add(case, healing);
        if let Some(healing @ (Healing::Always | Healing::Sometimes)) = healing {
            let key = (network.members().len(), case.steps, case.index);
            let best = smallest.entry(healing).or_insert((key, network, case));
            if key < best.0 {
                *best = (key, network, case);
            }
        }
    }
    for (healing, (_, network, case)) in smallest {
        let Proof::Repairable { order } = prove(rules, network, plan.limit, |_| ()) else { continue };
        let &Case { property, index, steps, .. } = case;
        let schedule = executed(rules, &sweep.schedule(index), steps);
        census.examples.insert(healing, Example { property, index, schedule, network: *network, order });
    }
    census
}

/// What is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Networks are met.
    Met,
    /// It is decided whether they heal.
    Decided,
}

impl Count {
    fn add(&mut self, case: &Case, healing: Option<Healing>) {
        *match healing {
            Some(Healing::Always) => &mut self.always,
            Some(Healing::Sometimes) if case.fair => &mut self.sometimes_fair,
            Some(Healing::Sometimes) => &mut self.sometimes_unfair,
            Some(Healing::Never) => &mut self.never,
            None => &mut self.undecided,
        } += 1;
        self.violations += case.violations;
        match healing {
            Some(Healing::Always | Healing::Sometimes) => self.repairable += case.violations,
            Some(Healing::Never) => {}
            None => self.unknown += case.violations,
        }
    }
}

/// Makes runs until there are enough networks, and returns how many it took.
fn collect(
    rules: Rules,
    sweep: &Sweep,
    plan: Plan,
    progress: &(impl Fn(Phase, u64) + Sync),
) -> (u64, IndexMap<Snapshot, Case>) {
    let mut cases = IndexMap::<_, Case>::new();
    let mut runs = 0;
    while runs < plan.runs && cases.len() < plan.networks {
        let batch: Vec<_> = (runs..plan.runs.min(runs + BATCH)).collect();
        let results: Vec<_> = batch.par_iter().map(|&index| meet(rules, &sweep.schedule(index))).collect();
        for (index, results) in batch.into_iter().zip(results) {
            if cases.len() >= plan.networks {
                break;
            }
            runs += 1;
            let before = cases.len();
            let mut violated = false;
            for Met { network, property, steps, fair } in results {
                // As a verdict does, the run ends with the first network that fair maintenance does not heal.
                let violates = !fair && !violated;
                violated |= violates;
                if network.members().len() <= plan.members {
                    let case = Case { property, index, steps, fair, violations: 0 };
                    cases.entry(network).or_insert(case).violations += u64::from(violates);
                }
            }
            progress(Phase::Met, (cases.len() - before) as u64);
        }
    }
    (runs, cases)
}

/// The broken networks of a run, and at its end the one that maintenance breaks, if the run violates nothing before.
fn meet(rules: Rules, schedule: &Schedule) -> Vec<Met> {
    let mut rehearsal = Rehearsal::of(rules, schedule, Conditions::default());
    let mut met = Vec::new();
    while rehearsal.step() {
        let Rehearsal { network, ref executed, .. } = rehearsal;
        if let Some(property) = broken(&network) {
            let fair = heal(rules, &mut { network });
            met.push(Met { network, property, steps: executed.steps.len(), fair });
        }
    }
    let Rehearsal { network, ref executed, .. } = rehearsal;
    if met.iter().all(|met| met.fair)
        && let Some(Breach::Broken(property)) = unhealed(rules, &mut { network })
    {
        met.push(Met { network, property, steps: executed.steps.len(), fair: false });
    }
    met
}

fn broken(network: &Snapshot) -> Option<Property> {
    // Nearly every network is sound, which is the faster thing to say.
    if sound(network) { None } else { first_broken(network, &Property::REQUIRED) }
}

/// The first so many steps of a run, as executed.
fn executed(rules: Rules, schedule: &Schedule, steps: usize) -> Schedule {
    let mut rehearsal = Rehearsal::of(rules, schedule, Conditions::default());
    while rehearsal.executed.steps.len() < steps && rehearsal.step() {}
    rehearsal.executed
}
