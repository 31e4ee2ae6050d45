//! Exhaustive search: every network that a version can reach on a small circle, breadth first, in the atomic
//! [`model`].
//!
//! From a start, every join by way of every contact that may admit, every failure that the assumption permits, and every
//! step of maintenance that changes something is taken, until nothing new comes. The networks are finitely many, so that
//! joins and failures need no bound. A node that has failed may join again (spec section 4). Nothing is left to chance:
//! what is not found is not reachable, in this model, unless the search [stopped early](Explored::exhausted).
//!
//! # Lengths
//!
//! A run ends at its first violation. So the search first goes on from networks only that no verdict ends a run at, level
//! by level: then the number of a network's level is the length of the shortest run that comes to it and is not over
//! before. Only when these are exhausted it goes on from where runs end, for the networks behind. These have no length.
//!
//! # Irreparable
//!
//! Maintenance leads from what is explored only to what is explored. So which networks some order of maintenance makes
//! ideal is found by going backwards from the ideal ones. The others are irreparable: that no order heals them is not an
//! estimate.

use std::collections::HashSet;
use std::hash::BuildHasher as _;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::judge::prove::prove;
use crate::judge::{Bench, Breach, Judge, Only, Target, heal};
use crate::protocol::model::{self, Action};
use crate::protocol::version::Rules;
use crate::schedule::{MIN_CIRCLE, Schedule, Setup};
use crate::truth::ident::{Ident, IdentSet};
use crate::truth::property::{self, Property, first_broken};
use crate::truth::snapshot::{MAX_LIST, Pointers, Snapshot, SuccList};
use crate::world::{self, starting_network};

/// The most identifiers on a circle that is searched: what a pointer of three bits can tell apart, and none.
pub const MAX_CIRCLE: u8 = 7;

/// How many networks may be looked at to know whether one heals, where the search itself has stopped before it knew.
const HEALING_LIMIT: usize = 1_000_000;

/// How many joins and failures there may be in all; `None` is any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// The most joins.
    pub joins: Option<u8>,
    /// The most failures.
    pub failures: Option<u8>,
}

/// Why nothing is searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// Too few or too many identifiers.
    #[error("a circle of {MIN_CIRCLE} to {MAX_CIRCLE} can be searched, not of {0}")]
    Circle(u8),
    /// Successor lists that the target does not have.
    #[error("`{target}` has no successor lists of {list_len}")]
    Lists {
        /// The target.
        target: String,
        /// The length.
        list_len: u8,
    },
    /// Too few or too many members to start with.
    #[error("`{target}` starts from {least} to {most} members on this circle, not from {ring}")]
    Ring {
        /// The target.
        target: String,
        /// The fewest members.
        least: u8,
        /// The most members.
        most: u8,
        /// The number that was asked for.
        ring: u8,
    },
}

/// What is searched.
#[derive(Clone, Debug)]
pub struct Search {
    target: Target,
    setup: Setup,
    start: Snapshot,
    bounds: Bounds,
}

impl Search {
    /// The search of a target from this setup.
    ///
    /// The members of the start are the even identifiers from 0 on, as in every [`Setup`], and if there are too few of
    /// them the odd ones from 1 on. Only the first kind [is one of a schedule](Explored::schedule).
    ///
    /// # Errors
    ///
    /// If there is no such start, or too large a circle.
    pub fn new(target: Target, setup: Setup, bounds: Bounds) -> Result<Self, SearchError> {
        let Setup { ring, circle, list_len, .. } = setup;
        if !(MIN_CIRCLE..=MAX_CIRCLE).contains(&circle) {
            return Err(SearchError::Circle(circle));
        }
        let rules = target.version.rules();
        let smallest = rules.fit(Setup { ring: 1, ..setup });
        if list_len != smallest.list_len {
            return Err(SearchError::Lists { target: target.to_string(), list_len });
        }
        if !(smallest.ring..=circle).contains(&ring) {
            return Err(SearchError::Ring { target: target.to_string(), least: smallest.ring, most: circle, ring });
        }
        let start = if ring == 1 {
            starting_network(setup, rules)
        } else {
            let members = (0..circle).step_by(2).chain((1..circle).step_by(2)).take(ring.into()).map(Ident::new);
            property::ideal_network(circle, list_len, members.collect())
        };
        Ok(Self { target, setup, start, bounds })
    }

    /// Explores, and stops early when there are more than `limit` states, at most 4 billion. `progress` is told now and
    /// then how many there are.
    pub fn explore(self, limit: u32, mut progress: impl FnMut(usize)) -> Explored {
        let full = |seen: &Seen| seen.states.len() > limit as usize;
        let mut seen = Seen::default();
        seen.insert(State::new(&self.start, self.bounds));
        let (mut levels, mut ends) = (vec![0], Vec::new());
        let mut at = 0;
        while at < seen.states.len() && !full(&seen) {
            if levels.last() == Some(&at) {
                levels.push(seen.states.len());
                progress(seen.states.len());
            }
            if self.ends(&seen.states[at].network(&self)) {
                ends.push(at);
            } else {
                self.expand(&mut seen, at);
            }
            at += 1;
        }
        let within = seen.states.len();
        for end in ends {
            if !full(&seen) {
                self.expand(&mut seen, end);
            }
        }
        let mut at = within;
        while at < seen.states.len() && !full(&seen) {
            self.expand(&mut seen, at);
            at += 1;
            if at % (1 << 16) == 0 {
                progress(seen.states.len());
            }
        }
        let healing = (!full(&seen)).then(|| self.healing(&seen));
        Explored { search: self, seen, levels, within, healing }
    }

    /// Whether a run ends at this network, because it is a violation.
    fn ends(&self, network: &Snapshot) -> bool {
        // With a property pinned, `claims` ends at nothing before it.
        self.target.judge == Judge::NeverHeals && Bench::new(self.target, &Only::default()).step(network).is_some()
    }

    /// Adds all that may come next after a state.
    fn expand(&self, seen: &mut Seen, at: usize) {
        let state = seen.states[at];
        for (_, next) in self.nexts(&state.network(self), state.left(self)) {
            seen.insert(next);
        }
    }

    /// Which of all reachable states some order of maintenance makes ideal.
    fn healing(&self, seen: &Seen) -> Vec<bool> {
        let rules = self.target.version.rules();
        // The fair orders do for nearly all. What leads to these by one step heals too, and so on.
        let mut heals: Vec<_> = seen.states.iter().map(|state| heal(rules, &mut state.network(self))).collect();
        let mut open: Vec<_> = (0..heals.len()).filter(|&i| !heals[i]).collect();
        loop {
            let before = open.len();
            open.retain(|&i| {
                let state = seen.states[i];
                let network = state.network(self);
                let mut nexts = self.maintained(&network, state.left(self));
                heals[i] = nexts.any(|(_, next)| seen.find(next).is_some_and(|next| heals[next]));
                !heals[i]
            });
            if open.len() == before {
                return heals;
            }
        }
    }

    /// Whether schedules start like this search.
    #[must_use]
    pub fn replays(&self) -> bool {
        self.target.version.rules().fit(self.setup) == self.setup
    }

    /// The properties that the target judges, in the order in which it does.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        let based = matches!(self.target.version.rules(), Rules::Tse { base: true, .. });
        match self.target.judge {
            Judge::Claims => Property::CLAIMED.to_vec(),
            Judge::NeverHeals => based.then_some(Property::Invariant).into_iter().chain(Property::REQUIRED).collect(),
        }
    }

    /// Those of the properties that a network counts for.
    fn broken(&self, network: &Snapshot, properties: &[Property]) -> Vec<Property> {
        match self.target.judge {
            Judge::Claims => properties.iter().copied().filter(|property| !property.holds(network)).collect(),
            Judge::NeverHeals => first_broken(network, properties).into_iter().collect(),
        }
    }

    /// All that may come next, with so many joins and failures left: what is done, and the state then.
    fn nexts(&self, network: &Snapshot, left: Bounds) -> impl Iterator<Item = (Action, State)> {
        let rules = self.target.version.rules();
        let members = network.members();
        // What is left after one more; `None` if nothing is left before.
        let spend = |bound: Option<u8>| bound.map_or(Some(None), |left| left.checked_sub(1).map(Some));
        let joins = spend(left.joins).into_iter().flat_map(move |joins| {
            let left = Bounds { joins, ..left };
            let joiners = IdentSet::circle(network.circle()) - members;
            joiners.iter().flat_map(move |node| {
                let contacts = members.iter().filter(move |&via| model::may_admit(rules, network, via, node));
                contacts.map(move |via| (Action::Join { node, via }, left))
            })
        });
        let failures = spend(left.failures).into_iter().flat_map(move |failures| {
            let left = Bounds { failures, ..left };
            let failing = members.iter().filter(move |&node| model::may_fail(rules, network, node));
            failing.map(move |node| (Action::Fail { node }, left))
        });
        let done = joins.chain(failures).map(move |(action, left)| {
            let mut next = *network;
            model::apply(rules, &mut next, action);
            (action, State::new(&next, left))
        });
        done.chain(self.maintained(network, left))
    }

    /// All that maintenance may make of it.
    fn maintained(&self, network: &Snapshot, left: Bounds) -> impl Iterator<Item = (Action, State)> {
        let rules = self.target.version.rules();
        let kinds = || model::FLUSH_FIRST.into_iter().flatten();
        let actions = network.members().iter().flat_map(move |node| kinds().map(move |kind| kind(node)));
        actions.filter_map(move |action| {
            let mut next = *network;
            model::apply(rules, &mut next, action).then(|| (action, State::new(&next, left)))
        })
    }
}

/// A network, and how many joins and failures are left: for each node 16 bits, of which five pointers of three bits
/// are used, and at the top 8 bits for each bound. A pointer is one more than the identifier, or 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct State(u128);

const NODE: usize = 16;
const FIELD: usize = 3;
const FIELDS: usize = MAX_LIST + 2;
const JOINS: usize = MAX_CIRCLE as usize * NODE;
const FAILURES: usize = JOINS + 8;

// Everything has its place.
const _: () = assert!(FIELD * FIELDS <= NODE && (MAX_CIRCLE as usize) < 1 << FIELD && FAILURES + 8 <= 128);

impl State {
    fn new(network: &Snapshot, bounds: Bounds) -> Self {
        let mut bits = u128::from(bounds.joins.unwrap_or(0)) << JOINS;
        bits |= u128::from(bounds.failures.unwrap_or(0)) << FAILURES;
        for node in network.members().iter() {
            let Pointers { list, prdc, saved } = network.pointers(node);
            let field = |x: Option<Ident>| x.map_or(0, |x| u16::from(x.get()) + 1);
            let mut fields = field(*prdc) | field(*saved) << FIELD;
            for (i, &entry) in list.as_slice().iter().enumerate() {
                fields |= field(Some(entry)) << (FIELD * (i + 2));
            }
            bits |= u128::from(fields) << (NODE * node.index());
        }
        Self(bits)
    }

    fn network(self, search: &Search) -> Snapshot {
        let mut network = Snapshot::empty(search.setup.circle, search.setup.list_len);
        for node in IdentSet::circle(search.setup.circle).iter() {
            #[expect(clippy::cast_possible_truncation, reason = "the bits of one node")]
            let fields = (self.0 >> (NODE * node.index())) as u16;
            if fields != 0 {
                let field = |i: usize| match (fields >> (FIELD * i) & 7) as u8 {
                    0 => None,
                    x => Some(Ident::new(x - 1)),
                };
                let list = SuccList::of((2..FIELDS).map_while(field));
                network.set(node, Some(Pointers { list, prdc: field(0), saved: field(1) }));
            }
        }
        network
    }

    /// The joins and failures that are left.
    fn left(self, search: &Search) -> Bounds {
        #[expect(clippy::cast_possible_truncation, reason = "the bits of one bound")]
        let left = |bound: Option<u8>, at: usize| bound.map(|_| (self.0 >> at) as u8);
        Bounds { joins: left(search.bounds.joins, JOINS), failures: left(search.bounds.failures, FAILURES) }
    }

    /// The network alone.
    fn bare(self) -> u128 {
        self.0 & ((1 << JOINS) - 1)
    }
}

/// The states seen, in the order in which they came, and where each is.
#[derive(Default)]
struct Seen {
    states: Vec<State>,
    places: HashTable<u32>,
}

impl Seen {
    /// Where the state is.
    fn find(&self, state: State) -> Option<usize> {
        self.places.find(hash(state), |&i| self.states[i as usize] == state).map(|&i| i as usize)
    }

    /// Adds a state that is new.
    fn insert(&mut self, state: State) {
        let Self { states, places } = self;
        let entry = places.entry(hash(state), |&i| states[i as usize] == state, |&i| hash(states[i as usize]));
        if let Entry::Vacant(place) = entry {
            place.insert(u32::try_from(states.len()).expect("the limit is less"));
            states.push(state);
        }
    }
}

/// The same on every machine, unlike the hashes of the standard library.
fn hash(state: State) -> u64 {
    FxBuildHasher.hash_one(state.0)
}

/// What a search has come to.
pub struct Explored {
    search: Search,
    seen: Seen,
    /// Where each level of the states within runs begins, and where the last one ends.
    levels: Vec<usize>,
    /// How many states are reached by runs that are not over before. They come first, by levels.
    within: usize,
    /// Which states some order of maintenance makes ideal, if all are known.
    healing: Option<Vec<bool>>,
}

/// What was found, in numbers. If the search has [stopped early](Explored::exhausted), it is what has been seen until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many networks there are.
    pub networks: usize,
    /// How many states: with bounds, a network counts once for each rest of joins and failures with which it is reached.
    pub states: usize,
    /// How many networks no order of maintenance makes ideal although nothing is broken yet. `None` if it is not known.
    pub doomed: Option<usize>,
    /// Each property that the target judges.
    pub found: Vec<Found>,
}

/// What was found about one property. A network of a version counts for the *first* property that is broken, in the order
/// in which a verdict judges them; one of `claims` for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The property.
    pub property: Property,
    /// How many networks break it.
    pub broken: usize,
    /// How many of these no order of maintenance makes ideal. `None` if it is not known.
    pub irreparable: Option<usize>,
    /// The shortest schedule to a network that breaks it, and perhaps heals.
    pub shortest_broken: Option<Shortest>,
    /// The shortest one that is a violation: of a version, one that fair maintenance does not make ideal
    /// (see [`verdict`](crate::judge)).
    pub shortest_violation: Option<Shortest>,
    /// The shortest violation that no order of maintenance makes ideal.
    pub shortest_irreparable: Option<Shortest>,
}

/// A shortest schedule. No schedule with fewer steps does the same, whether or not the search has stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortest {
    /// How many steps it has.
    pub steps: usize,
    state: usize,
}

impl Explored {
    /// Whether every reachable network has been seen. If not, what was not found may be reachable all the same.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.healing.is_some()
    }

    /// Whether this network was seen.
    #[must_use]
    pub fn contains(&self, network: &Snapshot) -> bool {
        let lefts = |bound: Option<u8>| bound.map_or(vec![None], |most| (0..=most).map(Some).collect());
        lefts(self.search.bounds.joins).into_iter().any(|joins| {
            lefts(self.search.bounds.failures)
                .into_iter()
                .any(|failures| self.seen.find(State::new(network, Bounds { joins, failures })).is_some())
        })
    }

    /// Every network that was seen, once.
    pub fn networks(&self) -> impl Iterator<Item = Snapshot> {
        self.distinct().map(|(_, network)| network)
    }

    /// Of the states with the same network the first, which is the one that is reached first.
    fn distinct(&self) -> impl Iterator<Item = (usize, Snapshot)> {
        let bounded = self.search.bounds != Bounds::default();
        let mut seen = HashSet::with_hasher(FxBuildHasher);
        let states = self.seen.states.iter().enumerate();
        let distinct = states.filter(move |(_, state)| !bounded || seen.insert(state.bare()));
        distinct.map(|(i, state)| (i, state.network(&self.search)))
    }

    /// Counts what was found.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let properties = self.search.properties();
        let known = |number| self.exhausted().then_some(number);
        let mut summary = Summary {
            networks: 0,
            states: self.seen.states.len(),
            doomed: known(0),
            found: properties.iter().map(|&property| Found::nothing(property, known(0))).collect(),
        };
        let pin = |&property: &Property| Only::these(vec![Breach::Broken(property)]);
        let benches: Vec<_> = properties.iter().map(|p| Bench::new(self.search.target, &pin(p))).collect();
        for (i, network) in self.distinct() {
            summary.networks += 1;
            let broken = self.search.broken(&network, &properties);
            let lost = usize::from(self.healing.as_ref().is_some_and(|healing| !healing[i]));
            if broken.is_empty() {
                summary.doomed = summary.doomed.map(|doomed| doomed + lost);
            }
            for (found, bench) in summary.found.iter_mut().zip(&benches) {
                if broken.contains(&found.property) {
                    found.broken += 1;
                    found.irreparable = found.irreparable.map(|irreparable| irreparable + lost);
                    if i < self.within && found.shortest_irreparable.is_none() {
                        self.shorten(found, i, &network, bench);
                    }
                }
            }
        }
        summary
    }

    /// Notes the first schedules to a network that breaks the property.
    fn shorten(&self, found: &mut Found, i: usize, network: &Snapshot, bench: &Bench) {
        let shortest = Shortest { steps: self.level(i), state: i };
        found.shortest_broken.get_or_insert(shortest);
        if bench.step(network) == Some(Breach::Broken(found.property)) {
            found.shortest_violation.get_or_insert(shortest);
            if !self.heals(i, network) {
                found.shortest_irreparable = Some(shortest);
            }
        }
    }

    /// Whether some order of maintenance makes a network ideal, or may do so for all that is known.
    fn heals(&self, i: usize, network: &Snapshot) -> bool {
        match &self.healing {
            Some(healing) => healing[i],
            None => prove(self.search.target.version.rules(), network, HEALING_LIMIT, |_| ()).heals() != Some(false),
        }
    }

    /// In how many steps a state within runs is reached.
    fn level(&self, i: usize) -> usize {
        self.levels.partition_point(|&begin| begin <= i) - 1
    }

    /// The schedule, in which every step has an effect. `None` if no schedule starts like the search.
    #[must_use]
    pub fn schedule(&self, shortest: Shortest) -> Option<Schedule> {
        if !self.search.replays() {
            return None;
        }
        let mut at = self.seen.states[shortest.state];
        let mut steps = Vec::new();
        for level in self.levels[..=shortest.steps].windows(2).rev() {
            let (before, action) = self.seen.states[level[0]..level[1]].iter().find_map(|&before| {
                let network = before.network(&self.search);
                let (action, _) =
                    self.search.nexts(&network, before.left(&self.search)).find(|&(_, next)| next == at)?;
                (!self.search.ends(&network)).then_some((before, action))
            })?;
            steps.push(world::step(action));
            at = before;
        }
        steps.reverse();
        Some(Schedule { setup: self.search.setup, steps })
    }
}

impl Found {
    fn nothing(property: Property, irreparable: Option<usize>) -> Self {
        Self {
            property,
            broken: 0,
            irreparable,
            shortest_broken: None,
            shortest_violation: None,
            shortest_irreparable: None,
        }
    }
}
