//! The atomic model in a model checker that is not ours: stateright sees as many states as [`exhaust`], and breaks the
//! same properties in as few steps.
//!
//! The explorations are complete: one property, that a member is left, is never broken, so that the checker has no
//! reason to stop before it has seen everything. It tells states apart by hashes of 64 bits.
//!
//! [`exhaust`]: chord_fuzz::judge::exhaust

use std::collections::BTreeMap;

use chord_fuzz::judge::exhaust::{Bounds, Search};
use chord_fuzz::judge::{Judge, Target};
use chord_fuzz::protocol::model::{self, Action};
use chord_fuzz::protocol::version::{Rules, Version};
use chord_fuzz::schedule::Setup;
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::property::{Property, ideal_network};
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::starting_network;
use stateright::{Checker as _, Model, Property as Check};

/// A version and its start.
struct Chord {
    rules: Rules,
    start: State,
}

/// A network, and how many joins and failures are left; `None` is any number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    network: Snapshot,
    joins: Option<u8>,
    failures: Option<u8>,
}

impl Model for Chord {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.start.clone()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let idents = || IdentSet::circle(state.network.circle()).iter();
        for node in idents() {
            if state.joins != Some(0) {
                actions.extend(idents().map(|via| Action::Join { node, via }));
            }
            if state.failures != Some(0) && model::may_fail(self.rules, &state.network, node) {
                actions.push(Action::Fail { node });
            }
            actions.extend([
                Action::Stabilize { node },
                Action::Adopt { node },
                Action::Reconcile { node },
                Action::Update { node },
                Action::Flush { node },
            ]);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        let changed = model::apply(self.rules, &mut next.network, action);
        match action {
            Action::Join { .. } => next.joins = last.joins.map(|left| left - 1),
            Action::Fail { .. } => next.failures = last.failures.map(|left| left - 1),
            _ => {}
        }
        changed.then_some(next)
    }

    fn properties(&self) -> Vec<Check<Self>> {
        vec![
            Check::<Self>::always("a member is left", |_, state| !state.network.members().is_empty()),
            Check::<Self>::always("AtLeastOneRing", |_, state| Property::AtLeastOneRing.holds(&state.network)),
            Check::<Self>::always("AtMostOneRing", |_, state| Property::AtMostOneRing.holds(&state.network)),
            Check::<Self>::always("OrderedRing", |_, state| Property::OrderedRing.holds(&state.network)),
            Check::<Self>::always("ConnectedAppendages", |_, state| {
                Property::ConnectedAppendages.holds(&state.network)
            }),
            Check::<Self>::always("OrderedMerges", |_, state| Property::OrderedMerges.holds(&state.network)),
            Check::<Self>::always("OrderedAppendages", |_, state| Property::OrderedAppendages.holds(&state.network)),
            Check::<Self>::always("ValidSuccessorList", |_, state| Property::ValidSuccessorList.holds(&state.network)),
        ]
    }
}

/// How many states there are, and the fewest steps that break each property.
type Result = (usize, BTreeMap<&'static str, usize>);

fn by_stateright(version: Version, setup: Setup, [joins, failures]: [Option<u8>; 2]) -> Result {
    let rules = version.rules();
    let network = if setup.ring == 1 {
        starting_network(setup, rules)
    } else {
        ideal_network(setup.circle, setup.list_len, members(setup).iter().copied().map(Ident::new).collect())
    };
    let checker = Chord { rules, start: State { network, joins, failures } }.checker().spawn_bfs().join();
    let shortest = checker.discoveries().into_iter().map(|(name, path)| (name, path.into_actions().len()));
    (checker.unique_state_count(), shortest.collect())
}

/// The members of an ideal ring to start with.
fn members(setup: Setup) -> &'static [u8] {
    match (setup.circle, setup.ring) {
        (4 | 5, 2) => &[0, 2],
        (4, 3) => &[0, 1, 2],
        (5, 3) => &[0, 2, 4],
        (5, 4) => &[0, 1, 2, 4],
        _ => panic!("{setup:?}"),
    }
}

fn by_us(version: Version, setup: Setup, [joins, failures]: [Option<u8>; 2]) -> Result {
    let target = Target { version, judge: Judge::Claims };
    let explored = Search::new(target, setup, Bounds { joins, failures }).unwrap().explore(1_000_000, |_| ());
    assert!(explored.exhausted());
    let summary = explored.summary();
    let steps = summary.found.iter().filter_map(|found| Some((found.property.name(), found.shortest_broken?.steps)));
    (summary.states, steps.collect())
}

#[test]
fn both_see_the_same_states_and_the_same_shortest_breaks() {
    let any = [None, None];
    let at_most = |joins, failures| [Some(joins), Some(failures)];
    for (version, [circle, ring, list_len], bounds, states) in [
        (Version::SIGCOMM2001, [4, 1, 2], at_most(3, 2), 20_100),
        (Version::SIGCOMM2001, [4, 2, 2], at_most(2, 2), 10_063),
        (Version::CCR2012, [4, 1, 2], at_most(1, 1), 74),
        (Version::CCR2012, [4, 1, 2], at_most(3, 2), 14_042),
        (Version::CCR2012, [4, 2, 2], at_most(2, 2), 5_989),
        (Version::BEST2012, [4, 1, 2], at_most(3, 2), 11_430),
        (Version::BEST2012, [4, 2, 2], at_most(2, 2), 3_971),
        (Version::TSE2017, [4, 3, 2], any, 61),
        (Version::TSE2017, [5, 3, 2], any, 10_986),
        (Version::TSE2017, [5, 4, 3], any, 156),
    ] {
        let setup = Setup { ring, circle, list_len, faults: false };
        let theirs = by_stateright(version, setup, bounds);
        assert_eq!(theirs, by_us(version, setup, bounds), "{version}, {setup:?}, {bounds:?}");
        assert_eq!(theirs.0, states, "{version}, {setup:?}, {bounds:?}");
    }
}
