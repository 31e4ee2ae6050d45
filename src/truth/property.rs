//! The properties of a network, each by its published name, judged on ground truth (spec section 3).
//!
//! *bestSucc* of a node is its first live successor. *Ring members* reach themselves by following bestSucc one or
//! more times; the other members are *appendages*. Every member has at most one bestSucc, so the paths never branch:
//! a path either runs into a ring or ends at a member without a live successor.

use std::cell::OnceCell;
use std::fmt;
use std::iter;

use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS, between};
use crate::truth::snapshot::{Pointers, Snapshot, SuccList};

/// A property of a network, by its published name.
///
/// On a network without members, which no run reaches, [`AtLeastOneRing`](Self::AtLeastOneRing) and
/// [`Invariant`](Self::Invariant) fail, since they ask for somebody; the others speak of all members, and hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// There is a ring member (P02; Z12).
    AtLeastOneRing,
    /// Every ring member reaches every other by bestSucc (P02; Z12).
    AtMostOneRing,
    /// No ring member lies between a ring member and its bestSucc (P02; Z12).
    OrderedRing,
    /// Every appendage reaches a ring member by bestSucc (P02; Z12).
    ConnectedAppendages,
    /// A node outside the ring whose bestSucc is on the ring lies between that node and its predecessor on the ring.
    /// Here, and only here, the ring is made of first successors instead of bestSucc (P02; Z12).
    OrderedMerges,
    /// On a path of appendages into the ring, up to and with the ring member that it ends in, no node lies between
    /// another one and its bestSucc (P02; Z12).
    OrderedAppendages,
    /// Where the two successors of a node skip a live member, no member whose first successor is that node has the
    /// skipped one as its second (P02; Z12).
    ValidSuccessorList,
    /// The inductive invariant: every member has a live successor in its list, and there are at least r + 1
    /// principals (Z17).
    Invariant,
}

impl Property {
    /// The properties that correctness requires (Z12), in the order in which they are judged: without a ring no
    /// appendage reaches one, so the first one broken names the cause.
    pub const REQUIRED: [Self; 4] =
        [Self::AtLeastOneRing, Self::AtMostOneRing, Self::OrderedRing, Self::ConnectedAppendages];

    /// The seven that P02 claims to be invariant, as Z12 states them: the four required ones, then the repairable.
    pub const CLAIMED: [Self; 7] = [
        Self::AtLeastOneRing,
        Self::AtMostOneRing,
        Self::OrderedRing,
        Self::ConnectedAppendages,
        Self::OrderedMerges,
        Self::OrderedAppendages,
        Self::ValidSuccessorList,
    ];

    /// All properties: the [claimed](Self::CLAIMED) ones (P02; Z12), then the invariant (Z17).
    pub const ALL: [Self; 8] = [
        Self::AtLeastOneRing,
        Self::AtMostOneRing,
        Self::OrderedRing,
        Self::ConnectedAppendages,
        Self::OrderedMerges,
        Self::OrderedAppendages,
        Self::ValidSuccessorList,
        Self::Invariant,
    ];

    /// The published name, as in `AtMostOneRing` (Z12; Z17).
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// The name for file names and command lines, as in `at-most-one-ring`.
    #[must_use]
    pub const fn slug(self) -> &'static str {
        self.texts().1
    }

    /// Where the property is stated: the papers, and the predicate of the Alloy model.
    #[must_use]
    pub const fn source(self) -> &'static str {
        self.texts().2
    }

    const fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::AtLeastOneRing => ("AtLeastOneRing", "at-least-one-ring", "P02; Z12, OneOrderedRing"),
            Self::AtMostOneRing => ("AtMostOneRing", "at-most-one-ring", "P02; Z12, OneOrderedRing"),
            Self::OrderedRing => ("OrderedRing", "ordered-ring", "P02; Z12, OneOrderedRing"),
            Self::ConnectedAppendages => {
                ("ConnectedAppendages", "connected-appendages", "P02; Z12, ConnectedAppendages")
            }
            Self::OrderedMerges => ("OrderedMerges", "ordered-merges", "P02; Z12, OrderedMerges"),
            Self::OrderedAppendages => ("OrderedAppendages", "ordered-appendages", "P02; Z12, OrderedAppendages"),
            Self::ValidSuccessorList => ("ValidSuccessorList", "valid-successor-list", "P02; Z12, ValidSuccessorList"),
            Self::Invariant => ("Invariant", "invariant", "Z17, Invariant"),
        }
    }

    /// Whether maintenance alone can restore the property once it is broken (Z12).
    ///
    /// Z17 does not say so of its invariant, and a network that has lost its ring has lost the invariant with it.
    #[must_use]
    pub const fn repairable(self) -> bool {
        matches!(self, Self::OrderedMerges | Self::OrderedAppendages | Self::ValidSuccessorList)
    }

    /// Whether the property holds of this network (spec section 3). [`first_broken`] judges several at once.
    #[must_use]
    pub fn holds(self, network: &Snapshot) -> bool {
        Facts::of(network).satisfy(self)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The first of these properties that does not hold of this network (spec section 3).
///
/// The ring and the best successors are found once for all of them.
#[must_use]
pub fn first_broken(network: &Snapshot, properties: &[Property]) -> Option<Property> {
    let facts = Facts::of(network);
    properties.iter().copied().find(|&property| !facts.satisfy(property))
}

/// Whether all that correctness [requires](Property::REQUIRED) holds of this network: there is one ring, its members are
/// in cyclic order, and every other member reaches it.
///
/// That is what nearly every network is like, and it takes little more than one turn around the ring to say so.
#[must_use]
pub fn sound(network: &Snapshot) -> bool {
    network.members().first().is_some_and(|start| follow(network, start).is_some())
}

/// Follows the best successors from `start` into a ring, and from all other members into what has been reached.
/// `None` if there is a second ring, or a disordered one, or no way on.
fn follow(network: &Snapshot, mut start: Ident) -> Option<()> {
    let mut reached = loop {
        let (mut path, mut wraps, mut x) = (IdentSet::EMPTY, 0, start);
        while !path.contains(x) {
            path.insert(x);
            let next = network.best_succ(x)?;
            wraps += u32::from(next <= x);
            x = next;
        }
        if x == start {
            // A turn that skips nobody on the ring comes past the highest identifier once.
            break (wraps == 1).then_some(path)?;
        }
        // The start was an appendage, and x is on the ring.
        start = x;
    };
    for mut x in (network.members() - reached).iter() {
        let mut path = IdentSet::EMPTY;
        while !reached.contains(x) {
            if path.contains(x) {
                return None;
            }
            path.insert(x);
            x = network.best_succ(x)?;
        }
        reached = reached | path;
    }
    Some(())
}

/// What several properties ask of a network.
struct Facts<'a> {
    network: &'a Snapshot,
    /// The best successors, and the ring, found when they are first asked for.
    best: OnceCell<[Option<Ident>; MAX_IDENTS]>,
    ring: OnceCell<IdentSet>,
}

impl<'a> Facts<'a> {
    fn of(network: &'a Snapshot) -> Self {
        Self { network, best: OnceCell::new(), ring: OnceCell::new() }
    }

    fn best(&self, x: Ident) -> Option<Ident> {
        self.best.get_or_init(|| {
            let mut best = [None; MAX_IDENTS];
            for x in self.network.members().iter() {
                best[x.index()] = self.network.best_succ(x);
            }
            best
        })[x.index()]
    }

    fn ring(&self) -> IdentSet {
        *self.ring.get_or_init(|| self.network.cycles(|x| self.best(x)))
    }

    fn satisfy(&self, property: Property) -> bool {
        match property {
            Property::AtLeastOneRing => !self.ring().is_empty(),
            Property::AtMostOneRing => self.at_most_one_ring(),
            Property::OrderedRing => self.ordered_ring(),
            // A path that never ends runs into a ring, and one that ends does so at a member without a live
            // successor, itself an appendage that reaches nothing.
            Property::ConnectedAppendages => self.live_successors(),
            Property::OrderedMerges => self.ordered_merges(),
            Property::OrderedAppendages => self.ordered_appendages(),
            Property::ValidSuccessorList => self.valid_successor_list(),
            Property::Invariant => {
                self.live_successors() && self.network.principals().len() > u32::from(self.network.list_len())
            }
        }
    }

    fn live_successors(&self) -> bool {
        self.network.members().iter().all(|x| self.network.best_succ(x).is_some())
    }

    /// One turn around the ring of any ring member meets all of them.
    fn at_most_one_ring(&self) -> bool {
        let mut unseen = self.ring();
        let mut at = unseen.first();
        while let Some(x) = at
            && unseen.contains(x)
        {
            unseen.remove(x);
            at = self.best(x);
        }
        unseen.is_empty()
    }

    fn ordered_ring(&self) -> bool {
        self.ring().iter().all(|n1| match self.best(n1) {
            // A ring of one skips nobody, although the arc from a node to itself holds all others.
            Some(n2) if n2 != n1 => (IdentSet::arc(n1, n2) & self.ring()).is_empty(),
            _ => true,
        })
    }

    fn ordered_merges(&self) -> bool {
        let ring = self.network.cycles(|x| self.network.pointers(x).list.first());
        (self.network.members() - ring).iter().all(|n2| {
            // The best successor of a node on this ring is its first one, and on the ring too: n3 needs no check. Nor
            // does n1 = n3, a ring of one, where the arc holds every n2.
            ring.iter().all(|n1| match self.best(n1) {
                Some(n3) if self.best(n2) == Some(n3) => between(n1, n2, n3),
                _ => true,
            })
        })
    }

    fn ordered_appendages(&self) -> bool {
        (self.network.members() - self.ring()).iter().all(|start| self.ordered_path(start))
    }

    /// Whether no later edge of this path into the ring passes over `start`.
    ///
    /// Then the edge that leaves `start` passes over no later node either: to get in between, the path would have to
    /// pass over `start` first.
    fn ordered_path(&self, start: Ident) -> bool {
        // A path that does not reach the ring is ConnectedAppendages' business.
        let Some(mut x) = self.best(start) else { return true };
        let mut ordered = true;
        while !self.ring().contains(x) {
            let Some(next) = self.best(x) else { return true };
            ordered &= !between(x, start, next);
            x = next;
        }
        ordered
    }

    /// Judged from the member m that has n and k as its two successors; a non-member n has none.
    fn valid_successor_list(&self) -> bool {
        let two = |x| {
            let list = &self.network.pointers(x).list;
            list.first().zip(list.second())
        };
        self.network.members().iter().all(|m| {
            let Some((n, k)) = two(m) else { return true };
            let Some((succ, succ2)) = two(n) else { return true };
            n == k || !self.network.live(k) || !between(succ, k, succ2)
        })
    }
}

/// Whether the network is ideal: every member is on the ring, knows its predecessor, and lists the next r members in
/// cyclic order; no stabilization remembers a candidate (P02; Z12; Z17; spec section 3.3).
///
/// There is exactly one ideal network of given members, so this compares with it. No members at all are ideal. That of
/// r members or fewer breaks [`Property::Invariant`], which Z17 asks of an ideal network as well, and Z12 does not.
#[must_use]
pub fn ideal(network: &Snapshot) -> bool {
    let mut pointers = ideal_pointers(network.circle(), network.list_len(), network.members());
    pointers.all(|(n, pointers)| *network.pointers(n) == pointers)
}

/// The ideal network of these members (spec section 3.3): where runs may start, and what healing leads to.
///
/// With fewer than r + 1 members the lists wrap past the node itself; a ring of one has itself everywhere.
#[must_use]
pub fn ideal_network(circle: u8, list_len: u8, members: IdentSet) -> Snapshot {
    let mut network = Snapshot::empty(circle, list_len);
    for (n, pointers) in ideal_pointers(circle, list_len, members) {
        network.set(n, Some(pointers));
    }
    network
}

/// What each of these members knows in the ideal network of them.
fn ideal_pointers(circle: u8, list_len: u8, members: IdentSet) -> impl Iterator<Item = (Ident, Pointers)> {
    let succ = move |x: Ident| members.first_from(x.next(circle));
    let last = members.iter().last();
    members.iter().scan(last, move |last, n| {
        let list = SuccList::of(iter::successors(succ(n), |&x| succ(x)).take(list_len.into()));
        Some((n, Pointers { list, prdc: last.replace(n), saved: None }))
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;
    use proptest::{collection, option};

    use super::*;

    /// Reads the notation of the spec's table of counterexamples, `node: succ/succ2/prdc`.
    fn network(text: &str) -> Snapshot {
        network_on(16, text)
    }

    fn network_on(circle: u8, text: &str) -> Snapshot {
        let ident = |text: &str| (text != "-").then(|| Ident::new(text.parse().unwrap()));
        let mut network = Snapshot::empty(circle, 2);
        for node in text.split(", ") {
            let (x, pointers) = node.split_once(": ").unwrap();
            let pointers: Vec<_> = pointers.split('/').map(ident).collect();
            let list = SuccList::of(pointers[..2].iter().copied().flatten());
            network.set(ident(x).unwrap(), Some(Pointers { list, prdc: pointers[2], saved: None }));
        }
        assert_eq!(network.to_string(), text);
        network
    }

    fn set(members: impl IntoIterator<Item = u8>) -> IdentSet {
        members.into_iter().map(Ident::new).collect()
    }

    #[test]
    fn the_smallest_networks_that_break_and_keep_each_property() {
        for (property, broken, kept) in [
            (Property::AtLeastOneRing, "0: 1/-/-", "0: 0/-/-"),
            (Property::AtMostOneRing, "0: 0/-/-, 1: 1/-/-", "0: 1/-/-, 1: 0/-/-"),
            (Property::OrderedRing, "0: 2/-/-, 1: 0/-/-, 2: 1/-/-", "0: 1/-/-, 1: 2/-/-, 2: 0/-/-"),
            (Property::ConnectedAppendages, "0: 0/-/-, 1: 2/-/-", "0: 0/-/-, 1: 2/0/-"),
            (Property::OrderedMerges, "0: 1/-/-, 1: 0/-/-, 2: 1/-/-", "0: 1/-/-, 1: 0/-/-, 2: 0/-/-"),
            (Property::OrderedAppendages, "0: 0/-/-, 1: 0/-/-, 2: 1/-/-", "0: 0/-/-, 1: 2/-/-, 2: 0/-/-"),
            (Property::ValidSuccessorList, "0: 1/0/-, 1: 2/1/-", "0: 1/0/-, 1: 0/1/-"),
            (Property::Invariant, "0: 1/0/1, 1: 0/1/0", "0: 1/2/2, 1: 2/0/0, 2: 0/1/1"),
        ] {
            assert_eq!(first_broken(&network(broken), &Property::ALL), Some(property), "{broken}");
            assert!(property.holds(&network(kept)), "{property}: {kept}");
        }
    }

    /// Spec section 6. The network of `ValidSuccessorList` is the one before U1, the last event, which empties the
    /// second successor that skips node 3; that of `AtMostOneRing` is taken before and after the updates.
    #[test]
    fn the_known_counterexamples_break_what_the_spec_says() {
        for (property, pointers) in [
            (Property::OrderedMerges, "0: 2/-/3, 1: 3/-/-, 2: 3/-/0, 3: 0/-/2"),
            (Property::OrderedAppendages, "1: 3/-/-, 2: 2/-/0, 3: 2/-/1"),
            (Property::ValidSuccessorList, "0: 1/3/3, 1: 2/0/0, 3: 0/-/2"),
            (Property::ConnectedAppendages, "0: 0/-/2, 1: 2/-/-"),
            (Property::AtLeastOneRing, "0: 1/-/2, 2: 0/-/-"),
            (Property::AtMostOneRing, "0: 1/0/3, 2: 3/2/1"),
            (Property::AtMostOneRing, "0: 0/-/3, 2: 2/-/1"),
            (Property::OrderedRing, "0: 4/-/-, 2: 0/-/-, 4: 2/-/-"),
        ] {
            assert_eq!(first_broken(&network(pointers), &Property::CLAIMED), Some(property), "{pointers}");
        }
        assert_eq!(first_broken(&network("0: 1/3/3, 1: 0/-/0, 3: 0/-/2"), &Property::CLAIMED), None);
    }

    #[test]
    fn a_slug_is_the_name_in_small_letters() {
        for property in Property::ALL {
            assert_eq!(property.to_string(), format!("{property:?}"));
            assert_eq!(property.slug().replace('-', ""), property.name().to_lowercase());
        }
    }

    #[test]
    fn the_lists_of_properties_agree() {
        assert_eq!(Property::CLAIMED[..4], Property::REQUIRED);
        assert_eq!(Property::ALL[..7], Property::CLAIMED);
        assert!(Property::CLAIMED.iter().all(|p| p.repairable() != Property::REQUIRED.contains(p)));
    }

    #[test]
    fn ideal_networks_are_ideal_and_break_nothing() {
        for (circle, list_len) in [(1, 1), (2, 2), (9, 1), (9, 2), (9, 3), (16, 2), (16, 3)] {
            for bits in 1u16..1 << circle.min(9) {
                // Spread over the circle of 16, so that its far end is used too.
                let members =
                    set((0..9).filter(|i| bits & 1 << i != 0).map(|i| if circle == 16 { i * 15 / 8 } else { i }));
                let network = ideal_network(circle, list_len, members);
                assert!(ideal(&network) && naive_ideal(&network), "{network:?}");
                let short = members.len() <= u32::from(list_len);
                let broken = first_broken(&network, &Property::ALL);
                assert_eq!(broken, short.then_some(Property::Invariant), "{network:?}");
            }
        }
        assert_eq!(ideal_network(8, 2, set([3])), network_on(8, "3: 3/3/3"));
        assert_eq!(ideal_network(8, 2, set([1, 7])), network_on(8, "1: 7/1/7, 7: 1/7/1"));
    }

    #[test]
    fn any_other_pointer_is_not_ideal() {
        let network = ideal_network(8, 2, set([0, 2, 3, 6]));
        let differs = |x, change: &dyn Fn(&mut Pointers)| {
            let (mut other, mut pointers) = (network, *network.pointers(x));
            change(&mut pointers);
            other.set(x, Some(pointers));
            assert_eq!(ideal(&other), other == network, "{other:?}");
            assert_eq!(naive_ideal(&other), other == network, "{other:?}");
        };
        for x in network.members().iter() {
            let [succ, succ2] = *network.pointers(x).list.as_slice() else { unreachable!() };
            for y in (0..8).map(Ident::new) {
                differs(x, &|p| p.list = SuccList::of([y, succ2]));
                differs(x, &|p| p.list = SuccList::of([succ, y]));
                differs(x, &|p| p.prdc = Some(y));
                differs(x, &|p| p.saved = Some(y));
            }
            differs(x, &|p| p.list = SuccList::of([succ]));
            differs(x, &|p| p.list = SuccList::of([]));
            differs(x, &|p| p.prdc = None);
        }
    }

    /// Z17 proves it for every size; here every network of full lists on a circle of four is tried.
    #[test]
    fn the_invariant_implies_all_that_is_required() {
        let mut satisfied = 0;
        for bits in 0..16u8 {
            let members = set((0..4).filter(|i| bits & 1 << i != 0));
            for lists in 0..1u32 << (4 * members.len()) {
                let mut network = Snapshot::empty(4, 2);
                let mut digits = lists;
                let mut entry = || {
                    let entry = Ident::new((digits % 4) as u8);
                    digits /= 4;
                    entry
                };
                for x in members.iter() {
                    network.set(x, Some(Pointers { list: SuccList::of([entry(), entry()]), prdc: None, saved: None }));
                }
                if Property::Invariant.holds(&network) {
                    satisfied += 1;
                    assert_eq!(first_broken(&network, &Property::REQUIRED), None, "{network:?}");
                }
            }
        }
        assert!(satisfied > 0);
    }

    #[test]
    fn a_network_without_members_breaks_what_asks_for_somebody() {
        let nobody = Snapshot::empty(8, 2);
        let broken: Vec<_> = Property::ALL.into_iter().filter(|p| !p.holds(&nobody)).collect();
        assert_eq!(broken, [Property::AtLeastOneRing, Property::Invariant]);
        assert!(ideal(&nobody));
    }

    /// From ideal networks with a few wrong pointers and failed nodes to arbitrary ones.
    fn networks() -> impl Strategy<Value = Snapshot> {
        let pointer = 0u8..16;
        let node =
            (collection::vec(pointer.clone(), 0..=3), option::of(pointer.clone()), option::weighted(0.1, pointer));
        let nodes = collection::vec((0u8..8, node), 16);
        (2u8..=16, 2u8..=3, any::<(u16, u16, u16)>(), 0u8..=8, nodes).prop_map(
            |(circle, list_len, (members, failed, failed_too), disorder, nodes)| {
                let bits = |bits: u16| set((0..circle).filter(|i| bits & 1 << i != 0));
                let mut network = ideal_network(circle, list_len, bits(members));
                for x in network.members().iter() {
                    let (draw, (list, prdc, saved)) = &nodes[x.index()];
                    let ident = |raw: u8| Ident::new(raw % circle);
                    if *draw < disorder {
                        let list = SuccList::of(list.iter().take(list_len.into()).map(|&raw| ident(raw)));
                        network.set(x, Some(Pointers { list, prdc: prdc.map(ident), saved: saved.map(ident) }));
                    }
                }
                bits(failed & failed_too).iter().for_each(|x| network.set(x, None));
                network
            },
        )
    }

    #[test]
    fn the_fast_judgement_is_that_of_the_quantifiers() {
        let config = ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() };
        let seen = RefCell::new(BTreeSet::new());
        TestRunner::new(config)
            .run(&networks(), |network| {
                let verdicts = Property::ALL.map(|p| (p, naive(p, &network)));
                for (property, holds) in verdicts {
                    prop_assert_eq!(property.holds(&network), holds, "{}", property);
                }
                let first = verdicts.iter().find(|(_, holds)| !holds).map(|&(p, _)| p);
                prop_assert_eq!(first_broken(&network, &Property::ALL), first);
                prop_assert_eq!(sound(&network), verdicts[..4].iter().all(|(_, holds)| *holds));
                prop_assert_eq!(ideal(&network), naive_ideal(&network));
                seen.borrow_mut().extend(verdicts);
                Ok(())
            })
            .unwrap();
        assert_eq!(seen.borrow().len(), 16, "each property was seen broken and kept");
    }

    type Relation = [[bool; MAX_IDENTS]; MAX_IDENTS];

    /// Which nodes are reached from which by one or more steps.
    fn closure(step: impl Fn(Ident) -> Option<Ident>) -> Relation {
        let mut reaches = Relation::default();
        for x in 0..16 {
            if let Some(y) = step(Ident::new(x)) {
                reaches[usize::from(x)][y.index()] = true;
            }
        }
        for via in 0..16 {
            for from in 0..16 {
                for to in 0..16 {
                    reaches[from][to] |= reaches[from][via] && reaches[via][to];
                }
            }
        }
        reaches
    }

    /// All triples of different nodes.
    fn triples(nodes: &[Ident]) -> impl Iterator<Item = (Ident, Ident, Ident)> {
        let pairs = move |a| nodes.iter().flat_map(move |&b| nodes.iter().map(move |&c| (a, b, c)));
        nodes.iter().copied().flat_map(pairs).filter(|(a, b, c)| a != b && b != c && a != c)
    }

    /// The properties as Z12 and Z17 write them, quantifier by quantifier.
    fn naive(property: Property, network: &Snapshot) -> bool {
        let members: Vec<_> = network.members().iter().collect();
        let list = |x| network.pointers(x).list;
        let best = |x| list(x).as_slice().iter().copied().find(|s| members.contains(s));
        let reaches = closure(best);
        let (ring, appendages): (Vec<Ident>, Vec<_>) = members.iter().partition(|x| reaches[x.index()][x.index()]);
        match property {
            Property::AtLeastOneRing => !ring.is_empty(),
            Property::AtMostOneRing => {
                ring.iter().all(|n1| ring.iter().all(|n2| n1 == n2 || reaches[n2.index()][n1.index()]))
            }
            Property::OrderedRing => triples(&ring).all(|(n1, n2, n3)| best(n1) != Some(n2) || !between(n1, n3, n2)),
            Property::ConnectedAppendages => {
                appendages.iter().all(|a| ring.iter().any(|r| reaches[a.index()][r.index()]))
            }
            Property::OrderedMerges => {
                let reaches = closure(|x| list(x).first());
                let on_ring = |x: Ident| reaches[x.index()][x.index()];
                triples(&members).all(|(n1, n2, n3)| {
                    let merge = best(n1) == Some(n3) && best(n2) == Some(n3);
                    !(merge && on_ring(n1) && !on_ring(n2) && on_ring(n3)) || between(n1, n2, n3)
                })
            }
            Property::OrderedAppendages => {
                let next = |x| best(x).filter(|_| !ring.contains(&x));
                let reaches = closure(next);
                let reaches = |x: Ident, y: Ident| reaches[x.index()][y.index()];
                ring.iter().all(|&n| {
                    let tree: Vec<_> = appendages.iter().copied().chain([n]).collect();
                    triples(&tree).all(|(a1, a2, a3)| {
                        let edge = reaches(a1, n) && next(a1) == Some(a2);
                        !(edge && (reaches(a3, a1) || reaches(a2, a3))) || !between(a1, a3, a2)
                    })
                })
            }
            Property::ValidSuccessorList => members.iter().all(|&n| {
                members.iter().filter(|&&k| k != n).all(|&k| {
                    let skipped = list(n).second().is_some_and(|succ2| between(list(n).first().unwrap(), k, succ2));
                    let known = members.iter().any(|&m| list(m).first() == Some(n) && list(m).second() == Some(k));
                    !(skipped && known)
                })
            }),
            Property::Invariant => {
                let skips = |m: Ident, p| {
                    let extended: Vec<_> = iter::once(m).chain(list(m).as_slice().iter().copied()).collect();
                    extended.windows(2).any(|pair| between(pair[0], p, pair[1]))
                };
                let principals = members.iter().filter(|&&p| !members.iter().any(|&m| skips(m, p))).count();
                members.iter().all(|&m| best(m).is_some()) && principals > usize::from(network.list_len())
            }
        }
    }

    /// The definition of spec section 3.3, clause by clause.
    fn naive_ideal(network: &Snapshot) -> bool {
        let members: Vec<_> = network.members().iter().collect();
        let get = |x| network.pointers(x);
        let next_members = |n: Ident| {
            let mut list = Vec::new();
            let mut x = n;
            while list.len() < usize::from(network.list_len()) {
                x = x.next(network.circle());
                if members.contains(&x) {
                    list.push(x);
                }
            }
            list
        };
        network.ring() == network.members()
            && members
                .iter()
                .all(|&n| members.iter().all(|&k| (get(n).list.first() == Some(k)) == (get(k).prdc == Some(n))))
            && members.iter().all(|&n| get(n).list.as_slice() == next_members(n) && get(n).saved.is_none())
    }
}
