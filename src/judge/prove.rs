//! Proof: whether any order of maintenance heals a network.
//!
//! That a network never heals is a claim about every order of maintenance (Z12). Here it is decided by trying them all, in
//! the atomic [`model`]: breadth first, from every network so far every [kind of maintenance](model::FLUSH_FIRST) at every member, until
//! nothing new comes of it. Nobody joins or fails meanwhile, so that there are only so many networks to come to, and it
//! ends. They are plain [`Snapshot`]s: two that differ by the names of the nodes alone are two.
//!
//! Some networks show by themselves that nothing can heal them: they have an [`Obstacle`], which is found at once in a
//! network of any size.
//!
//! What a proof starts from is a network at rest. A run is judged for good when nothing is on its way, and then its
//! [network](crate::judge::Outcome::network) is all there is. Where it was judged with something on its way, that is
//! left out: by [`Judge::Claims`](crate::judge::Judge::Claims), whose findings do not claim that a network never heals,
//! and at a break of [`Invariant`](crate::truth::property::Property::Invariant), which does not either; there the network is
//! the one in effect, with every answer already given.
//!
//! # Time and memory
//!
//! The number of networks grows exponentially with that of the members: some dozens for two of them, some thousands for
//! four or five, and millions for eight. So it is limited. A million of them take some 200 MB by [`prove`] and
//! some 350 MB by [`healing`], and some seconds.
//!
//! # Example
//!
//! ```
//! use chord_fuzz::judge::prove::{Proof, prove};
//! use chord_fuzz::schedule::Schedule;
//! use chord_fuzz::judge::{Options, Target, run};
//!
//! let target: Target = "sigcomm2001".parse()?;
//! let schedule: Schedule = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n".parse()?;
//! let outcome = run(target, &schedule, &Options::default(), &mut ());
//! // 0 has a dead successor and nobody else.
//! let proof = prove(target.version.rules(), &outcome.network, 1_000, |_| ());
//! assert_eq!(proof, Proof::Irreparable { networks: 2 });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{fmt, iter};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::protocol::model::{self, Action};
use crate::protocol::version::Rules;
use crate::truth::ident::{Ident, IdentSet};
use crate::truth::property::ideal;
use crate::truth::snapshot::{Pointers, Snapshot};

/// Whether any order of maintenance makes a network [ideal], by trying them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// None does: they have all been tried.
    Irreparable {
        /// How many networks maintenance comes to, in all orders, the given one among them.
        networks: usize,
    },
    /// This one does.
    Repairable {
        /// What is done, in order, each of which changes something. No other order is shorter. It is empty if the
        /// network is ideal already.
        order: Vec<Action>,
    },
    /// There are more networks than the limit, and none of those that were looked at is ideal.
    Undecided {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Irreparable { networks } => write!(f, "irreparable: {networks} networks, all orders"),
            Self::Repairable { order } => write!(f, "repairable: {} steps", order.len()),
            Self::Undecided { limit } => write!(f, "undecided: more than {limit} networks"),
        }
    }
}

impl Proof {
    /// Whether some order heals it; `None` if that is undecided.
    #[must_use]
    pub fn heals(&self) -> Option<bool> {
        match self {
            Self::Irreparable { .. } => Some(false),
            Self::Repairable { .. } => Some(true),
            Self::Undecided { .. } => None,
        }
    }
}

/// Whether any order of maintenance makes a network [ideal], in the shortest way that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// None does, for this reason.
    Obstructed(Obstacle),
    /// There is no such reason, and they have been tried.
    Tried(Proof),
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Obstructed(obstacle) => write!(f, "irreparable: {obstacle}"),
            Self::Tried(proof) => proof.fmt(f),
        }
    }
}

impl Decision {
    /// Whether some order heals it; `None` if that is undecided.
    #[must_use]
    pub fn heals(&self) -> Option<bool> {
        match self {
            Self::Obstructed(_) => Some(false),
            Self::Tried(proof) => proof.heals(),
        }
    }
}

/// Something about a network that no maintenance of S01, P02 and Z12 removes, and with which it is not [ideal].
///
/// There a node asks only whom it has in its successor list or remembers as a candidate, takes over only what the
/// answer holds, and notifies only whom it then has as its successor. So pointers come to a node only by way of
/// pointers that are there. (Not so by Z17: a list without its dead first entry is filled up with the next identifier,
/// whoever that is.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// This member has no live entry in its successor list, and remembers no live candidate: it has nobody to ask, and
    /// gets no successor any more. (As somebody's successor it may get a predecessor, but that is not asked.)
    Stranded(Ident),
    /// No pointer leads from these members to the others, or from the others to them.
    Apart(IdentSet),
}

impl Obstacle {
    /// One of this network, if there is one.
    #[must_use]
    pub fn of(rules: Rules, network: &Snapshot) -> Option<Self> {
        if matches!(rules, Rules::Tse { .. }) {
            return None;
        }
        let members = network.members();
        let asks = |x: Ident| {
            let Pointers { list, saved, .. } = network.pointers(x);
            list.as_slice().iter().copied().chain(*saved).collect::<IdentSet>() & members
        };
        if let Some(stranded) = members.iter().find(|&x| asks(x).is_empty()) {
            return Some(Self::Stranded(stranded));
        }
        let knows = |x| asks(x) | (network.pointers(x).prdc.into_iter().collect::<IdentSet>() & members);
        let mut together: IdentSet = members.first().into_iter().collect();
        loop {
            let near = members.iter().filter(|&x| together.contains(x) || !(knows(x) & together).is_empty());
            let grown = near.fold(together, |all, x| all | knows(x) | iter::once(x).collect());
            if grown == together {
                return (together != members).then_some(Self::Apart(together));
            }
            together = grown;
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stranded(node) => write!(f, "{node} has no live successor, and nobody to ask for one"),
            Self::Apart(nodes) => {
                let nodes: Vec<_> = nodes.iter().map(|node| node.to_string()).collect();
                write!(f, "no pointer leads from {} to the other members, or back", nodes.join(", "))
            }
        }
    }
}

/// Whether it depends on the order of maintenance that a network becomes [ideal].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Healing {
    /// From every network that maintenance comes to, an ideal one can still be reached. No order loses it, however
    /// long it goes on; one that does at every point each possible step with some probability reaches it with
    /// probability 1. (That a fair order reaches it is a little more: it might go around in a circle.)
    Always,
    /// An ideal network can be reached, and also one from which none can: it depends on the order.
    Sometimes,
    /// No ideal network can be reached: what [`Proof::Irreparable`] says.
    Never,
}

/// Whether any order of maintenance makes the network [ideal]: by an [`Obstacle`] if there is one, otherwise by all orders, as
/// [`prove`] does, which is told `limit` and `progress`.
#[must_use]
pub fn decide(rules: Rules, network: &Snapshot, limit: usize, progress: impl FnMut(usize)) -> Decision {
    match Obstacle::of(rules, network) {
        Some(obstacle) => Decision::Obstructed(obstacle),
        None => Decision::Tried(prove(rules, network, limit, progress)),
    }
}

/// Tries all orders of maintenance until one makes the network [ideal], or there are no others. Gives up when it knows
/// more than `limit` networks; of two limits that suffice, the result is the same. It looks for no [`Obstacle`].
///
/// `progress` is told how many networks are known, after each whose next steps have been tried.
#[must_use]
pub fn prove(rules: Rules, network: &Snapshot, limit: usize, mut progress: impl FnMut(usize)) -> Proof {
    let mut reached = Reached::from(rules, *network);
    let mut judged = 0;
    loop {
        let known = reached.networks.len();
        if let Some(healed) = (judged..known).find(|&at| ideal(reached.network(at))) {
            return Proof::Repairable { order: reached.order(healed) };
        }
        judged = known;
        progress(known);
        if known > limit {
            return Proof::Undecided { limit };
        }
        if !reached.expand(|_, _| ()) {
            return Proof::Irreparable { networks: known };
        }
    }
}

/// Whether healing depends on the order of maintenance: never with an [`Obstacle`], otherwise by all orders to their ends.
/// `None` if that takes more than `limit` networks.
///
/// `progress` is told how many networks are known, after each whose next steps have been tried.
#[must_use]
pub fn healing(rules: Rules, network: &Snapshot, limit: usize, mut progress: impl FnMut(usize)) -> Option<Healing> {
    if Obstacle::of(rules, network).is_some() {
        return Some(Healing::Never);
    }
    let mut reached = Reached::from(rules, *network);
    let mut steps = Vec::new();
    while reached.expand(|from, to| steps.push((from, to))) {
        progress(reached.networks.len());
        if reached.networks.len() > limit {
            return None;
        }
    }
    let mut heals: Vec<_> = reached.networks.keys().map(ideal).collect();
    // Most steps lead to a network that was found later, so that backwards a few passes suffice.
    let mut changed = true;
    while changed {
        changed = false;
        for &(from, to) in steps.iter().rev() {
            if heals[to] && !heals[from] {
                heals[from] = true;
                changed = true;
            }
        }
    }
    Some(match heals[0] {
        true if heals.iter().all(|heals| *heals) => Healing::Always,
        true => Healing::Sometimes,
        false => Healing::Never,
    })
}

/// The networks that maintenance comes to, as far as they are known, breadth first.
struct Reached {
    rules: Rules,
    /// In the order in which they were found, each with the number of the one that it was first made of. The given one,
    /// which is number 0, has its own.
    networks: IndexMap<Snapshot, usize, FxBuildHasher>,
    /// How many have been expanded.
    expanded: usize,
}

impl Reached {
    fn from(rules: Rules, network: Snapshot) -> Self {
        Self { rules, networks: iter::once((network, 0)).collect(), expanded: 0 }
    }

    /// Adds what one more step makes of the first network that has not been expanded, and tells `step` the two numbers of
    /// each that changes something. Returns whether there was such a network.
    fn expand(&mut self, mut step: impl FnMut(usize, usize)) -> bool {
        let from = self.expanded;
        if from == self.networks.len() {
            return false;
        }
        let network = *self.network(from);
        for action in maintenance(&network) {
            let mut next = network;
            if model::apply(self.rules, &mut next, action) {
                let entry = self.networks.entry(next);
                step(from, entry.index());
                entry.or_insert(from);
            }
        }
        self.expanded += 1;
        true
    }

    fn network(&self, number: usize) -> &Snapshot {
        self.networks.get_index(number).unwrap_or_else(|| unreachable!("it is known")).0
    }

    /// The steps from the given network to this one.
    fn order(&self, to: usize) -> Vec<Action> {
        let to_parent = |&at: &usize| (at > 0).then(|| self.networks[at]);
        let mut path: Vec<_> = iter::successors(Some(to), to_parent).collect();
        path.reverse();
        path.windows(2).filter_map(|pair| self.step(pair[0], pair[1])).collect()
    }

    /// The first step that makes one network of the other.
    fn step(&self, from: usize, to: usize) -> Option<Action> {
        maintenance(self.network(from)).find(|&action| {
            let mut next = *self.network(from);
            model::apply(self.rules, &mut next, action) && next == *self.network(to)
        })
    }
}

/// Everything that maintenance may do next: each kind, at each member.
fn maintenance(network: &Snapshot) -> impl Iterator<Item = Action> {
    let members = network.members();
    model::FLUSH_FIRST.into_iter().flatten().flat_map(move |kind| members.iter().map(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Breach, Options, Target, Verdict, run};
    use crate::protocol::version::Version;
    use crate::truth::property::{Property, ideal_network};
    use crate::truth::snapshot::SuccList;

    const NOBODY: fn(usize) = |_| ();

    /// The network of these members, `(node, successors, predecessor)`.
    fn network(members: &[(u8, &[u8], Option<u8>)]) -> Snapshot {
        let mut network = Snapshot::empty(4, 2);
        for &(node, list, prdc) in members {
            let list = SuccList::of(list.iter().copied().map(Ident::new));
            network.set(Ident::new(node), Some(Pointers { list, prdc: prdc.map(Ident::new), saved: None }));
        }
        network
    }

    #[test]
    fn an_ideal_network_is_healed_at_once_and_stays_so() {
        for version in Version::PUBLISHED {
            for members in [1, 2, 5, 16] {
                let ideal = ideal_network(16, 2, (0..members).map(Ident::new).collect::<IdentSet>());
                let proof = prove(version.rules(), &ideal, 1, NOBODY);
                assert_eq!(proof, Proof::Repairable { order: Vec::new() }, "{version}");
                assert_eq!(healing(version.rules(), &ideal, 1, NOBODY), Some(Healing::Always), "{version}");
            }
        }
    }

    /// A node that is its own successor and has done nothing yet.
    #[test]
    fn the_order_is_a_shortest_one() {
        let alone = network(&[(0, &[0], None)]);
        let node = Ident::new(0);
        let proof = prove(Version::CCR2012.rules(), &alone, 4, NOBODY);
        let order = vec![Action::Reconcile { node }, Action::Stabilize { node }];
        assert_eq!(proof, Proof::Repairable { order }, "either step may be the first");
        assert_eq!(healing(Version::CCR2012.rules(), &alone, 4, NOBODY), Some(Healing::Always));
    }

    /// Two nodes that know nobody but themselves.
    #[test]
    fn what_nothing_can_heal() {
        let apart = network(&[(0, &[0], None), (2, &[2], None)]);
        let rules = Version::CCR2012.rules();
        let obstructed = decide(rules, &apart, 0, NOBODY);
        assert_eq!(obstructed.heals(), Some(false));
        assert_eq!(obstructed.to_string(), "irreparable: no pointer leads from 0 to the other members, or back");
        // Each of them has reconciled or not, and has stabilized or not.
        assert_eq!(prove(rules, &apart, 16, NOBODY), Proof::Irreparable { networks: 16 });
        assert_eq!(prove(rules, &apart, 15, NOBODY), Proof::Undecided { limit: 15 });
        assert_eq!(healing(rules, &apart, 0, NOBODY), Some(Healing::Never));
    }

    /// Every kind of pointer between members counts, in either direction, and no pointer to a dead node.
    #[test]
    fn obstacles() {
        let rules = Version::BEST2012.rules();
        let of = |members: &[_]| Obstacle::of(rules, &network(members)).map(|obstacle| obstacle.to_string());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0, &[0], None)]), None);
        assert_eq!(
            of(&[(0, &[1, 3], Some(2)), (2, &[0], Some(0))]).as_deref(),
            Some("0 has no live successor, and nobody to ask for one"),
            "a predecessor is not asked",
        );
        let apart = Some("no pointer leads from 0, 3 to the other members, or back");
        assert_eq!(of(&[(0, &[3, 1], None), (2, &[2, 1], Some(1)), (3, &[3], None)]).as_deref(), apart);
        for linked in [(&[2, 0][..], None), (&[2], Some(3)), (&[2], Some(0))] {
            assert_eq!(of(&[(0, &[3, 1], None), (2, linked.0, linked.1), (3, &[3], None)]), None, "{linked:?}");
        }
        let mut candidate = network(&[(0, &[1], None), (2, &[2], None)]);
        candidate
            .set(Ident::new(0), Some(Pointers { saved: Some(Ident::new(2)), ..*candidate.pointers(Ident::new(0)) }));
        assert_eq!(Obstacle::of(rules, &candidate), None, "it may still become the successor");
    }

    /// Z17 fills a list up with an identifier that nobody has told it, which may be a member.
    #[test]
    fn nothing_is_an_obstacle_to_tse2017() {
        let rules = Version::TSE2017.rules();
        let stranded = network(&[(0, &[1, 2], None), (3, &[3, 3], Some(3))]);
        let Decision::Tried(Proof::Repairable { .. }) = decide(rules, &stranded, 1_000, NOBODY) else {
            panic!("0 comes to 3")
        };
    }

    #[test]
    fn progress_is_that_of_networks() {
        let apart = network(&[(0, &[0], None), (2, &[2], None)]);
        let mut told = Vec::new();
        let _ = prove(Version::CCR2012.rules(), &apart, 100, |networks| told.push(networks));
        assert_eq!((told.first(), told.last()), (Some(&1), Some(&16)));
        assert!(told.is_sorted());
    }

    /// Without a check, who stabilizes before the dead predecessor is forgotten is lost.
    #[test]
    fn it_can_depend_on_the_order() {
        let torn = network(&[(0, &[3], None), (3, &[3], Some(2))]);
        let rules = Version::SIGCOMM2001.rules();
        assert_eq!(healing(rules, &torn, 1_000, NOBODY), Some(Healing::Sometimes));
        let Proof::Repairable { order } = prove(rules, &torn, 1_000, NOBODY) else { panic!("it heals") };
        assert!(order.contains(&Action::Flush { node: Ident::new(3) }), "{order:?}");
        assert_eq!(healing(Version::CCR2012.rules(), &torn, 1_000, NOBODY), Some(Healing::Always), "with the check");
    }

    /// Two rings of `ccr2012` that fair maintenance leaves as two, and another order joins again; and two that no order
    /// joins.
    #[test]
    fn that_one_order_does_not_heal_is_less_than_that_none_does() {
        let lost = "join 1 via 0\njoin 2 via 0\njoin 3 via 0\nstabilize 2\nstabilize 0\nstabilize 1\nstabilize 3\n\
                    reconcile 0\nreconcile 2\nstabilize 0\nstabilize 2\nfail 1\nfail 3\n";
        let healed = "join 1 via 0\njoin 3 via 0\nstabilize 3\nstabilize 1\nfail 1\njoin 1 via 0\nstabilize 0\n\
                      join 2 via 0\nreconcile 3\nstabilize 0\nreconcile 1\nfail 0\n";
        let target = Target::of(Version::CCR2012);
        for (text, heals) in [(lost, false), (healed, true)] {
            let rules = target.version.rules();
            let outcome = run(target, &text.parse().unwrap(), &Options::default(), &mut ());
            let two_rings = Breach::Broken(Property::AtMostOneRing);
            let verdict = if heals { Verdict::Repairable(two_rings) } else { Verdict::Violated(two_rings) };
            assert_eq!(outcome.verdict, verdict);
            let proof = prove(rules, &outcome.network, 1_000, NOBODY);
            assert_eq!(matches!(proof, Proof::Repairable { .. }), heals, "{proof:?}");
            assert_eq!(matches!(proof, Proof::Irreparable { .. }), !heals, "{proof:?}");
            let healing = healing(rules, &outcome.network, 10_000, NOBODY);
            assert_eq!(healing, Some(if heals { Healing::Sometimes } else { Healing::Never }));
            assert_eq!(prove(rules, &outcome.network, 10, NOBODY), Proof::Undecided { limit: 10 });
        }
    }
}
