//! The atomic shared-state model: every version's rules, with each step reading and writing all nodes at once.
//!
//! Here a node sees another node's state, and who is dead, without a message (Z12, Z17; spec section 5). With every
//! message delivered before the next step, replicas must do exactly what this model does. It shares no protocol code
//! with them, so that the two can be compared.
//!
//! A precondition that does not hold, or a pointer that a malformed snapshot lacks, makes a step change nothing.

use std::iter::once;
use std::ops::Deref;

use crate::protocol::version::Rules;
use crate::truth::ident::{Ident, IdentSet, between};
use crate::truth::snapshot::{Pointers, Snapshot, SuccList};

/// One atomic step of the shared-state model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A non-member joins (S01, Figure 6; Z17).
    Join {
        /// The node that joins.
        node: Ident,
        /// The member that admits it and whose successors it takes over.
        via: Ident,
    },
    /// A member stops for good, and its state is lost (P02). Whether it may is for [`may_fail`] to say.
    Fail {
        /// The node that fails.
        node: Ident,
    },
    /// A member asks its successor for that one's predecessor, and either notifies the successor or has found a
    /// candidate for a better one (S01, Figure 7; in Z17 *stabilize from successor*).
    Stabilize {
        /// The node that stabilizes.
        node: Ident,
    },
    /// A member decides about the candidate that its last stabilization found, where that is a step of its own
    /// (Z12's Promela model; in Z17 *stabilize from predecessor*).
    Adopt {
        /// The node that decides.
        node: Ident,
    },
    /// A member takes its second successor from its successor (P02).
    Reconcile {
        /// The node that reconciles.
        node: Ident,
    },
    /// A member replaces its dead successor by the second one (P02).
    Update {
        /// The node that updates.
        node: Ident,
    },
    /// A member forgets its dead predecessor (P02).
    Flush {
        /// The node that flushes.
        node: Ident,
    },
}

/// The most rounds that [`settle`] tries.
///
/// Measured on circles of 16, for the published versions and eight ablations: of 3.6 million networks after random runs
/// none took more than 38 rounds, and of as many with random pointers none more than 62.
pub const MAX_ROUNDS: usize = 256;

/// Applies the action to the state; returns whether it changed anything. An action whose precondition does not hold
/// changes nothing.
///
/// A stabilization includes the notification that it causes, delivered at once (spec section 5). All that a
/// [`Fail`](Action::Fail) needs is a member.
pub fn apply(rules: Rules, mut state: &mut Snapshot, action: Action) -> bool {
    perform(rules, &mut state, action)
}

/// Whether [`apply`] would change anything.
#[must_use]
pub fn would_change(rules: Rules, state: &Snapshot, action: Action) -> bool {
    perform(rules, &mut Probe(state), action)
}

/// A state that an action is done to.
trait State: Deref<Target = Snapshot> {
    /// Makes `node` a member with these pointers, or a non-member; returns whether it was something else.
    fn put(&mut self, node: Ident, pointers: Option<Pointers>) -> bool;
}

impl State for &mut Snapshot {
    fn put(&mut self, node: Ident, pointers: Option<Pointers>) -> bool {
        let changed = self.get(node) != pointers.as_ref();
        self.set(node, pointers);
        changed
    }
}

/// Says what would change, and leaves it as it is. What an action reads after a change is then out of date, but that it
/// changes something is settled by the first change.
struct Probe<'a>(&'a Snapshot);

impl Deref for Probe<'_> {
    type Target = Snapshot;

    fn deref(&self) -> &Snapshot {
        self.0
    }
}

impl State for Probe<'_> {
    fn put(&mut self, node: Ident, pointers: Option<Pointers>) -> bool {
        self.get(node) != pointers.as_ref()
    }
}

fn perform(rules: Rules, state: &mut impl State, action: Action) -> bool {
    match action {
        Action::Join { node, via } => {
            may_admit(rules, state, via, node) && {
                let joined = joined(rules, state, node, via);
                state.put(node, Some(joined))
            }
        }
        Action::Fail { node } => state.put(node, None),
        Action::Adopt { node } => {
            let me = *state.pointers(node);
            me.saved.is_some_and(|x| adopt(rules, state, node, me, x))
        }
        Action::Stabilize { node } => idle(state, node).is_some_and(|me| stabilize(rules, state, node, me)),
        Action::Reconcile { node } => idle(state, node).is_some_and(|me| reconcile(rules, state, node, me)),
        Action::Update { node } => idle(state, node).is_some_and(|me| update(rules, state, node, me)),
        Action::Flush { node } => idle(state, node).is_some_and(|me| flush(rules, state, node, me)),
    }
}

/// Whether `contact` may admit `node` now: one is a member and the other is not, `node` lies between `contact` and its
/// successor (S01), and that successor is live if the rules check it (Z12, fix 1).
#[must_use]
pub fn may_admit(rules: Rules, state: &Snapshot, contact: Ident, node: Ident) -> bool {
    // Z17 admits a node whether or not the successor is live: the rest of the list is there for that.
    let checked = matches!(rules, Rules::List { checks, .. } if checks.join);
    !state.live(node)
        // A non-member has no successor, so that the contact is a member.
        && succ(state, contact).is_some_and(|s| between(contact, node, s) && (!checked || state.live(s)))
}

/// Whether the failure assumption lets `node` fail now (spec section 4): after the failure every other member has a
/// live entry in its list, and the last member never fails. With the stable base of Z17, also: a principal may not fail
/// while there are only r + 1 principals.
#[must_use]
pub fn may_fail(rules: Rules, state: &Snapshot, node: Ident) -> bool {
    may_fail_beside(rules, state, state.members(), node)
}

/// The same where only these members would be taken for live if they were asked.
#[must_use]
pub fn may_fail_beside(rules: Rules, state: &Snapshot, mut answering: IdentSet, node: Ident) -> bool {
    let mut others = state.members();
    others.remove(node);
    answering.remove(node);
    state.live(node)
        && !others.is_empty()
        && others.iter().all(|m| state.pointers(m).list.as_slice().iter().any(|&s| answering.contains(s)))
        && (!matches!(rules, Rules::Tse { base: true, .. }) || {
            let principals = state.principals();
            !principals.contains(node) || principals.len() > u32::from(state.list_len()) + 1
        })
}

/// Fair maintenance without joins and failures: rounds in which every member does each kind of maintenance once, until a
/// whole round changes nothing. Returns whether that was reached within [`MAX_ROUNDS`].
///
/// That a network which stays broken here heals in *no* order is a stronger claim still (Z12), which a
/// [proof](crate::judge::prove) decides.
pub fn settle(rules: Rules, state: &mut Snapshot, order: Round) -> bool {
    (0..MAX_ROUNDS).any(|_| !round(rules, state, order))
}

/// One fair round of maintenance. Returns whether it changed anything.
pub fn round(rules: Rules, state: &mut Snapshot, order: Round) -> bool {
    let mut changed = false;
    for turn in order {
        for node in state.members().iter() {
            for kind in turn {
                changed |= apply(rules, state, kind(node));
            }
        }
    }
    changed
}

/// A kind of maintenance, as an action of a node.
pub type Kind = fn(Ident) -> Action;

/// A fair round: the members take each of these turns in ascending order. What a version does not have changes nothing.
pub type Round = [&'static [Kind]; 4];

const FLUSH: &[Kind] = &[|node| Action::Flush { node }];
const UPDATE: &[Kind] = &[|node| Action::Update { node }];
const RECONCILE: &[Kind] = &[|node| Action::Reconcile { node }];
/// What a stabilization has read is decided about at once, before it can be out of date.
const STABILIZE: &[Kind] = &[|node| Action::Stabilize { node }, |node| Action::Adopt { node }];

/// Dead predecessors are forgotten before anybody can adopt them: where a node of `sigcomm2001` stabilizes first, it may
/// adopt the dead predecessor of its successor and be lost.
pub const FLUSH_FIRST: Round = [FLUSH, UPDATE, RECONCILE, STABILIZE];

/// Dead predecessors are forgotten last. Of what breaks OrderedRing in `sigcomm2001` and does not heal in the other order,
/// most heals in this one.
pub const FLUSH_LAST: Round = [UPDATE, RECONCILE, STABILIZE, FLUSH];

/// The first successor of `x`; a non-member has none.
fn succ(state: &Snapshot, x: Ident) -> Option<Ident> {
    state.pointers(x).list.first()
}

/// The pointers of a member without an operation under way: a node does one operation at a time, so that while it has a
/// candidate saved it starts nothing else. It can still be queried or notified, and fail (Z12's Promela model; Z17).
fn idle(state: &Snapshot, node: Ident) -> Option<Pointers> {
    state.get(node).copied().filter(|me| me.saved.is_none())
}

/// What `node` knows after joining via `via`.
fn joined(rules: Rules, state: &Snapshot, node: Ident, via: Ident) -> Pointers {
    let contact = state.pointers(via);
    match rules {
        Rules::List { eager, .. } => {
            let list = contact.list.first().map(|s| moved(eager, state, node, s)).unwrap_or_default();
            Pointers { list, ..Pointers::default() }
        }
        // Z17: the whole list, and a predecessor from the start.
        Rules::Tse { .. } => Pointers { list: contact.list, prdc: Some(via), saved: None },
    }
}

/// The list of a `node` of the list family that has moved to successor `s` and knows no second one. Eager versions take
/// that from `s` at once, if it is live (Z12's Promela model).
fn moved(eager: bool, state: &Snapshot, node: Ident, s: Ident) -> SuccList {
    // A node that has become its own successor reads what it has just written.
    let second = if s == node { Some(s) } else { succ(state, s) };
    SuccList::of(once(s).chain(second.filter(|_| eager)))
}

/// Z17: the list that starts with `s` and goes on as the list of `s` does, cut to r.
fn extended(state: &Snapshot, s: Ident) -> SuccList {
    let rest = state.pointers(s).list;
    SuccList::of(once(s).chain(rest.as_slice().iter().copied()).take(usize::from(state.list_len())))
}

fn stabilize(rules: Rules, state: &mut impl State, node: Ident, mut me: Pointers) -> bool {
    let Some(s) = me.list.first() else { return false };
    let tse = matches!(rules, Rules::Tse { .. });
    let Some(&asked) = state.get(s) else {
        // In the list family a dead successor is for update to replace (P02); Z17 has no update.
        return tse && {
            me.list = shifted(state, me.list);
            conclude(rules, state, node, me)
        };
    };
    if tse {
        me.list = extended(state, s);
    }
    match asked.prdc.filter(|&x| between(node, x, s)) {
        None => conclude(rules, state, node, me),
        // S01 reads and decides in one step.
        Some(x) if matches!(rules, Rules::List { eager: false, .. }) => adopt(rules, state, node, me, x),
        // Z12's Promela model and Z17 decide in a later step, and notify nobody until then.
        saved => state.put(node, Some(Pointers { saved, ..me })),
    }
}

/// Z17: the list without its dead first entry, padded with the identifier that follows the last entry.
fn shifted(state: &Snapshot, list: SuccList) -> SuccList {
    let pad = list.as_slice().last().map(|last| last.next(state.circle()));
    SuccList::of(list.as_slice().iter().copied().skip(1).chain(pad).take(usize::from(state.list_len())))
}

/// Decides whether candidate `x` becomes the first successor, and notifies the one that it then has.
fn adopt(rules: Rules, state: &mut impl State, node: Ident, mut me: Pointers, x: Ident) -> bool {
    me.saved = None;
    match rules {
        Rules::List { checks, eager } => {
            // Z12, fix 2. Where it is off, a dead `x` is adopted too, and has no successor to tell (`moved`).
            if !checks.adopt || state.live(x) {
                me.list = if eager {
                    moved(eager, state, node, x)
                } else {
                    // S01 knows no second successor, and P02 leaves it to reconcile.
                    SuccList::of(once(x).chain(me.list.second()))
                };
            }
        }
        Rules::Tse { .. } => {
            if !me.list.first().is_some_and(|s| between(node, x, s)) {
                return state.put(node, Some(me));
            }
            if state.live(x) {
                me.list = extended(state, x);
            }
        }
    }
    conclude(rules, state, node, me)
}

/// Ends a stabilization: `node` keeps these pointers and notifies its first successor, at once (spec section 5).
fn conclude(rules: Rules, state: &mut impl State, node: Ident, me: Pointers) -> bool {
    state.put(node, Some(me)) | me.list.first().is_some_and(|s| notified(rules, state, s, node))
}

/// `node` is notified by `by` (S01: *notify*; Z17: *rectify*). In a ring of one that is the node itself, which so
/// becomes its own predecessor. The notification of a non-member is lost.
fn notified(rules: Rules, state: &mut impl State, node: Ident, by: Ident) -> bool {
    let Some(&me) = state.get(node) else { return false };
    let accepted = me.prdc.is_none_or(|p| {
        // Z17 asks the old predecessor, if it is the better one, whether it is still there; it has no flush.
        between(p, by, node) || (matches!(rules, Rules::Tse { .. }) && !state.live(p))
    });
    accepted && state.put(node, Some(Pointers { prdc: Some(by), ..me }))
}

fn reconcile(rules: Rules, state: &mut impl State, node: Ident, mut me: Pointers) -> bool {
    let (Rules::List { checks, eager }, Some(s)) = (rules, me.list.first()) else { return false };
    // A dead successor has nothing to tell.
    let told = if checks.answer { state.best_succ(s).or(succ(state, s)) } else { succ(state, s) };
    // Z12: a second successor equal to the first is redundant, but for a node that is its own successor. Its Promela
    // model does not ask.
    let useful = |y: &Ident| eager || *y != s || s == node;
    let Some(y) = told.filter(useful).filter(|&y| !checks.reconcile || state.live(y)) else { return false };
    me.list = SuccList::of([s, y]);
    state.put(node, Some(me))
}

fn update(rules: Rules, state: &mut impl State, node: Ident, mut me: Pointers) -> bool {
    let (Rules::List { checks, eager }, &[s, second, ..]) = (rules, me.list.as_slice()) else { return false };
    !state.live(s) && (!checks.update || state.live(second)) && {
        me.list = moved(eager, state, node, second);
        state.put(node, Some(me))
    }
}

fn flush(rules: Rules, state: &mut impl State, node: Ident, me: Pointers) -> bool {
    matches!(rules, Rules::List { .. })
        && me.prdc.is_some_and(|p| !state.live(p))
        && state.put(node, Some(Pointers { prdc: None, ..me }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::version::{Checks, Version};
    use crate::truth::ident::MAX_IDENTS;

    fn id(n: u8) -> Ident {
        Ident::new(n)
    }

    fn list(entries: &[u8]) -> SuccList {
        SuccList::of(entries.iter().copied().map(id))
    }

    fn rules(version: &str) -> Rules {
        version.parse::<Version>().unwrap().rules()
    }

    /// The network of these members, `(node, successor list, predecessor)`.
    fn network(circle: u8, list_len: u8, members: &[(u8, &[u8], Option<u8>)]) -> Snapshot {
        let mut state = Snapshot::empty(circle, list_len);
        for &(n, entries, prdc) in members {
            state.set(id(n), Some(Pointers { list: list(entries), prdc: prdc.map(id), saved: None }));
        }
        state
    }

    /// What the members' pointers are when the network is ideal (spec section 3.3).
    fn ideal(of: &Snapshot) -> Snapshot {
        let mut state = *of;
        for x in of.members().iter() {
            let clockwise: Vec<_> = of.members().iter_from(x.next(16)).collect();
            let list = SuccList::of(clockwise.iter().copied().cycle().take(usize::from(of.list_len())));
            let prdc = clockwise.iter().rev().nth(1).or(clockwise.first()).copied();
            state.set(x, Some(Pointers { list, prdc, saved: None }));
        }
        state
    }

    /// The action of an event in the spec's notation, and `A` for an adoption; `None` for a notification, which the
    /// stabilization before it implies, and for a join that no member admits.
    fn action(rules: Rules, state: &Snapshot, event: &str) -> Option<Action> {
        let (kind, rest) = event.split_at(1);
        if kind == "N" {
            return None;
        }
        let node = id(rest.parse().unwrap());
        Some(match kind {
            "J" => Action::Join { node, via: state.members().iter().find(|&m| may_admit(rules, state, m, node))? },
            "X" => Action::Fail { node },
            "S" => Action::Stabilize { node },
            "A" => Action::Adopt { node },
            "R" => Action::Reconcile { node },
            "U" => Action::Update { node },
            "F" => Action::Flush { node },
            _ => panic!("unknown event {event}"),
        })
    }

    /// The network after these events, which start from the single member 0.
    fn replay(version: &str, events: &str) -> Snapshot {
        let rules = rules(version);
        let mut state = network(6, 2, &[(0, &[0], None)]);
        for event in events.split_whitespace() {
            if let Some(action) = action(rules, &state, event) {
                let assumed = !matches!(action, Action::Fail { node } if !may_fail(rules, &state, node));
                assert!(assumed, "{event} breaks the failure assumption in {state}");
                apply(rules, &mut state, action);
            }
        }
        state
    }

    /// Spec section 6, in the words of its table.
    const ORDERED_MERGES: &str = "J3 S3 N(0<-3) S0 N(3<-0) J1 J2 S1 N(3<-1) S2 N(3<-2) S0 N(2<-0)";
    const ORDERED_APPENDAGES: &str =
        "J1 J2 J3 S2 N(0<-2) S0 N(2<-0) S3 N(0<-3) S1 N(3<-1) R2 R3 X0 U2 U3 F3 S3 N(2<-3)";
    const VALID_SUCCESSOR_LIST: &str = "J2 S2 N(0<-2) S0 N(2<-0) J1 R1 J3 S3 N(0<-3) S2 N(3<-2) R0 S1 N(2<-1) S0 \
                                        N(1<-0) X2 U1";
    const CONNECTED_APPENDAGES: &str = "J2 S2 N(0<-2) S0 N(2<-0) R0 X2 J1 U0";
    const AT_LEAST_ONE_RING: &str = "J2 S2 N(0<-2) S0 N(2<-0) J1 S1 N(2<-1) X1 S0 N(1<-0) F2";
    const AT_MOST_ONE_RING: &str = "J2 S2 N(0<-2) S0 N(2<-0) R0 R2 J1 S1 N(2<-1) S0 N(1<-0) J3 S3 N(0<-3) S2 \
                                    N(3<-2) X1 X3 U0 U2";
    /// The table only describes this one: a reconciled ring of 0, 2 and 4, three joins and adoptions, three failures.
    const ORDERED_RING: &str = "J2 S2 S0 R0 R2 J4 S4 S2 R0 R2 R4 J1 S1 S0 J3 S3 S2 J5 S5 S4 X1 X3 X5 U0 U2 U4";

    #[test]
    fn the_known_counterexamples_reproduce() {
        for (version, events, pointers) in [
            ("ccr2012", ORDERED_MERGES, "0: 2/-/3, 1: 3/-/-, 2: 3/-/0, 3: 0/-/2"),
            ("ccr2012", ORDERED_APPENDAGES, "1: 3/-/-, 2: 2/-/0, 3: 2/-/1"),
            ("ccr2012", VALID_SUCCESSOR_LIST, "0: 1/3/3, 1: 0/-/0, 3: 0/-/2"),
            ("sigcomm2001", CONNECTED_APPENDAGES, "0: 0/-/2, 1: 2/-/-"),
            ("sigcomm2001", AT_LEAST_ONE_RING, "0: 1/-/2, 2: 0/-/-"),
            ("ccr2012", AT_MOST_ONE_RING, "0: 0/-/3, 2: 2/-/1"),
            ("ccr2012", ORDERED_RING, "0: 4/-/5, 2: 0/-/1, 4: 2/-/3"),
        ] {
            assert_eq!(replay(version, events).to_string(), pointers, "{version}: {events}");
        }
    }

    /// One check stops each of the two, and it is the one that the table names.
    #[test]
    fn the_two_fixes_stop_the_traces_that_need_a_check_removed() {
        let joined = "0: 0/-/2, 1: 2/-/-";
        assert_eq!(replay("ccr2012-join", CONNECTED_APPENDAGES).to_string(), joined);
        assert_eq!(replay("ccr2012", CONNECTED_APPENDAGES).to_string(), "0: 0/-/2", "nobody admits 1");
        let adopted = "0: 1/-/2, 2: 0/-/-";
        assert_eq!(replay("ccr2012-adopt", AT_LEAST_ONE_RING).to_string(), adopted);
        assert_eq!(replay("ccr2012", AT_LEAST_ONE_RING).to_string(), "0: 2/-/2, 2: 0/-/-", "0 does not adopt 1");
    }

    /// What Z12 calls repairable heals, and what it calls required does not.
    #[test]
    fn settle_heals_what_can_be_healed() {
        for (version, events, heals) in [
            ("ccr2012", ORDERED_MERGES, true),
            ("ccr2012", ORDERED_APPENDAGES, true),
            ("ccr2012", VALID_SUCCESSOR_LIST, true),
            ("sigcomm2001", CONNECTED_APPENDAGES, false),
            ("sigcomm2001", AT_LEAST_ONE_RING, false),
            ("ccr2012", AT_MOST_ONE_RING, false),
            ("ccr2012", ORDERED_RING, false),
        ] {
            let mut state = replay(version, events);
            assert!(settle(rules(version), &mut state, FLUSH_FIRST), "{events}");
            assert_eq!(state == ideal(&state), heals, "{events} ends in {state}");
        }
    }

    #[test]
    fn a_ring_of_one_is_its_own_predecessor() {
        assert_eq!(replay("ccr2012", "S0").to_string(), "0: 0/-/0");
        assert_eq!(replay("ccr2012", "S0 R0").to_string(), "0: 0/0/0");
        assert_eq!(replay("best2012", "S0 A0").to_string(), "0: 0/-/0");
    }

    #[test]
    fn best_reads_and_decides_in_two_steps() {
        let before = "J2 S2 S0";
        assert_eq!(replay("best2012", before).to_string(), "0: 0/-/2?2, 2: 0/0/-", "0 notifies nobody yet");
        let waits = "R0 U0 F0 S0";
        assert_eq!(replay("best2012", &format!("{before} {waits}")), replay("best2012", before));
        let after = replay("best2012", &format!("{before} A0"));
        assert_eq!(after.to_string(), "0: 2/0/2, 2: 0/0/0", "with the second successor, and a notification");
        assert_eq!(replay("best2012", &format!("{before} A0 A0")), after, "nothing is saved any more");
        assert_eq!(replay("best2012", &format!("{before} A0 R0")), after, "nothing is left to reconcile");
    }

    /// The candidate fails between the two steps.
    #[test]
    fn best_decides_by_who_is_alive_then() {
        let before = "J2 S2 S0 A0 J1 S1 S0";
        assert_eq!(replay("best2012", before).to_string(), "0: 2/0/2?1, 1: 2/0/-, 2: 0/0/1");
        assert_eq!(replay("best2012", &format!("{before} X1")).to_string(), "0: 2/0/2?1, 2: 0/0/1");
        let refused = format!("{before} X1 A0");
        assert_eq!(replay("best2012", &refused).to_string(), "0: 2/0/2, 2: 0/0/1");
        assert_eq!(
            replay("best2012-adopt", &refused).to_string(),
            "0: 1/-/2, 2: 0/0/1",
            "the dead have nothing to read"
        );
    }

    #[test]
    fn best_fills_the_second_successor_on_update() {
        let mut state = network(6, 2, &[(0, &[1, 2], None), (2, &[4, 0], None), (4, &[5, 4], None)]);
        assert!(apply(rules("best2012"), &mut state, Action::Update { node: id(0) }));
        assert!(apply(rules("best2012"), &mut state, Action::Update { node: id(4) }));
        assert_eq!(state.to_string(), "0: 2/4/-, 2: 4/0/-, 4: 4/4/-", "4 is its own ring now");
        assert_eq!(replay("best2012", "J2 S2 S0 A0 X2 U0").to_string(), "0: 0/0/2");
    }

    #[test]
    fn update_and_reconcile_check_what_their_switches_say() {
        let broken = network(6, 2, &[(0, &[1, 3], None), (2, &[4, 0], None), (4, &[5, 0], None)]);
        let after = |version: &str, action| {
            let mut state = broken;
            apply(rules(version), &mut state, action).then(|| state.to_string())
        };
        let (update, reconcile) = (Action::Update { node: id(0) }, Action::Reconcile { node: id(2) });
        assert_eq!(after("ccr2012", update), Some("0: 3/-/-, 2: 4/0/-, 4: 5/0/-".to_owned()));
        assert_eq!(after("ccr2012+update", update), None);
        assert_eq!(after("ccr2012", reconcile), Some("0: 1/3/-, 2: 4/5/-, 4: 5/0/-".to_owned()));
        assert_eq!(after("ccr2012+reconcile", reconcile), None);
        assert_eq!(after("ccr2012+answer", reconcile), None, "the first live entry, 0, is known already");
        let mut state = network(6, 2, &[(0, &[2], None), (2, &[3], None)]);
        assert!(apply(rules("ccr2012+answer"), &mut state, Action::Reconcile { node: id(0) }));
        assert_eq!(state.to_string(), "0: 2/3/-, 2: 3/-/-", "without a live entry, the first one");
    }

    #[test]
    fn only_best_reconciles_redundantly() {
        let ring = network(6, 2, &[(0, &[2], None), (2, &[2], None)]);
        for (version, changes) in [("ccr2012", false), ("best2012", true)] {
            let mut state = ring;
            assert_eq!(apply(rules(version), &mut state, Action::Reconcile { node: id(0) }), changes, "{version}");
            assert!(
                apply(rules(version), &mut state, Action::Reconcile { node: id(2) }),
                "its own successor: {version}"
            );
        }
    }

    /// 1, 3 and 5 on a circle of 6, after 2 has failed.
    fn tse(list_len: u8) -> Snapshot {
        let members: [(u8, [u8; 3], _); 3] =
            [(1, [2, 3, 5], Some(5)), (3, [5, 1, 2], Some(2)), (5, [1, 2, 3], Some(3))];
        network(6, list_len, &members.each_ref().map(|(n, list, prdc)| (*n, &list[..usize::from(list_len)], *prdc)))
    }

    #[test]
    fn tse_pads_the_shifted_list() {
        for (list_len, after) in [(2, "1: 3/4/5, 3: 5/1/1"), (3, "1: 3/5/0/5, 3: 5/1/2/1")] {
            let mut state = tse(list_len);
            assert!(apply(Version::TSE2017.rules(), &mut state, Action::Stabilize { node: id(1) }));
            assert!(state.to_string().starts_with(after), "{state}");
        }
    }

    #[test]
    fn tse_stabilizes_in_two_steps() {
        let rules = Version::TSE2017.rules();
        let mut state = network(6, 2, &[(1, &[5, 0], Some(5)), (3, &[5, 1], Some(1)), (5, &[1, 3], Some(3))]);
        assert!(apply(rules, &mut state, Action::Stabilize { node: id(1) }));
        assert_eq!(state.to_string(), "1: 5/1/5?3, 3: 5/1/1, 5: 1/3/3", "a full list, and nobody notified yet");
        assert!(!apply(rules, &mut state, Action::Stabilize { node: id(1) }), "one operation at a time");
        let mut refused = state;
        refused.set(id(3), None);
        assert!(apply(rules, &mut refused, Action::Adopt { node: id(1) }));
        assert_eq!(refused.to_string(), "1: 5/1/5, 5: 1/3/1", "the dead candidate makes room for the notifying 1");
        assert!(apply(rules, &mut state, Action::Adopt { node: id(1) }));
        assert_eq!(state.to_string(), "1: 3/5/5, 3: 5/1/1, 5: 1/3/3");
        assert!(!apply(rules, &mut state, Action::Adopt { node: id(1) }));
    }

    #[test]
    fn tse_drops_a_candidate_that_is_no_better() {
        let mut state = tse(2);
        state.set(id(5), state.get(id(5)).map(|me| Pointers { saved: Some(id(3)), ..*me }));
        assert!(apply(Version::TSE2017.rules(), &mut state, Action::Adopt { node: id(5) }));
        assert_eq!(state, tse(2), "and notifies nobody");
    }

    #[test]
    fn tse_has_no_maintenance_of_the_list_family() {
        let mut state = tse(2);
        for turn in &FLUSH_FIRST[..3] {
            let action = turn[0](id(3));
            assert!(!apply(Version::TSE2017.rules(), &mut state, action), "{action:?}, with a dead predecessor");
        }
    }

    #[test]
    fn tse_joins_with_a_whole_list() {
        let rules = Version::TSE2017.rules();
        let mut state = tse(3);
        assert!(!apply(rules, &mut state, Action::Join { node: id(4), via: id(1) }), "not in 1's arc");
        assert!(apply(rules, &mut state, Action::Join { node: id(4), via: id(3) }));
        assert!(state.to_string().contains("4: 5/1/2/3"), "{state}");
        assert!(!apply(rules, &mut state, Action::Join { node: id(4), via: id(3) }), "a member already");
        let dead_successor = Action::Join { node: id(0), via: id(5) };
        state.set(id(1), None);
        assert!(apply(rules, &mut state, dead_successor), "Z17 does not check");
    }

    #[test]
    fn rectify_replaces_a_worse_or_dead_predecessor() {
        let after = |version: &str, prdc, by| {
            let mut state = network(6, 2, &[(0, &[4, 0], Some(4)), (2, &[4, 0], Some(0)), (4, &[0, 2], prdc)]);
            notified(rules(version), &mut &mut state, id(4), id(by));
            state.pointers(id(4)).prdc.map(Ident::get)
        };
        for version in ["ccr2012", "tse2017"] {
            assert_eq!(after(version, Some(0), 2), Some(2), "{version}: better");
            assert_eq!(after(version, Some(1), 2), Some(2), "{version}: better, whether or not the old one is alive");
            assert_eq!(after(version, Some(2), 0), Some(2), "{version}: worse");
            assert_eq!(after(version, None, 0), Some(0), "{version}: the first");
        }
        assert_eq!(after("ccr2012", Some(3), 0), Some(3), "a dead predecessor is for flush");
        assert_eq!(after("tse2017", Some(3), 0), Some(0), "a dead predecessor gives way");
    }

    #[test]
    fn the_last_member_never_fails() {
        for version in Version::PUBLISHED {
            let mut state = network(6, 2, &[(0, &[0, 0], Some(0))]);
            assert!(!may_fail(version.rules(), &state, id(0)), "{version}");
            assert!(!may_fail(version.rules(), &state, id(1)), "{version}: not a member");
            assert!(!apply(version.rules(), &mut state, Action::Fail { node: id(1) }));
            assert!(apply(version.rules(), &mut state, Action::Fail { node: id(0) }), "apply asks for a member only");
            assert_eq!(state, Snapshot::empty(6, 2));
        }
    }

    #[test]
    fn a_failure_strands_nobody() {
        let rules = Version::CCR2012.rules();
        let state = network(6, 2, &[(0, &[2, 4], None), (2, &[3, 4], None), (4, &[0], None)]);
        assert!(!may_fail(rules, &state, id(0)), "4 has no other successor");
        assert!(may_fail(rules, &state, id(2)), "0 has 4");
        assert!(!may_fail(rules, &state, id(4)), "2 has only a dead one besides");
    }

    #[test]
    fn a_principal_of_the_base_may_not_fail() {
        let ring = |members: &[u8]| {
            let members: Vec<_> = members.iter().map(|&n| (n, &[][..], None)).collect();
            ideal(&network(6, 2, &members))
        };
        assert!(!may_fail(rules("tse2017"), &ring(&[0, 2, 4]), id(0)));
        assert!(may_fail(rules("tse2017-base"), &ring(&[0, 2, 4]), id(0)));
        let mut state = ring(&[0, 1, 2, 4]);
        assert!(may_fail(rules("tse2017"), &state, id(0)), "four principals");
        state.set(id(0), Some(Pointers { list: list(&[2, 4]), ..*state.pointers(id(0)) }));
        assert!(may_fail(rules("tse2017"), &state, id(1)), "0 skips 1, which is no principal");
        assert!(!may_fail(rules("tse2017"), &state, id(2)), "three principals");
    }

    /// Where a node stabilizes first, it may adopt its successor's dead predecessor and be lost. A fair round gives it
    /// the better chance.
    #[test]
    fn a_round_drops_dead_pointers_before_anybody_adopts_them() {
        let mut state = network(4, 2, &[(0, &[3], None), (3, &[3], Some(2))]);
        let mut unlucky = state;
        assert!(apply(rules("sigcomm2001"), &mut unlucky, Action::Stabilize { node: id(0) }));
        assert_eq!(unlucky.to_string(), "0: 2/-/-, 3: 3/-/2");
        assert!(settle(rules("sigcomm2001"), &mut unlucky, FLUSH_FIRST));
        assert_eq!(unlucky.to_string(), "0: 2/-/-, 3: 3/3/3");
        assert!(settle(rules("sigcomm2001"), &mut state, FLUSH_FIRST));
        assert_eq!(state, ideal(&state), "{state}");
    }

    fn some_ident() -> impl Strategy<Value = Ident> {
        any::<u8>().prop_map(Ident::new)
    }

    fn some_rules() -> impl Strategy<Value = Rules> {
        let list = any::<[bool; 6]>().prop_map(|[join, adopt, update, reconcile, answer, eager]| Rules::List {
            checks: Checks { join, adopt, update, reconcile, answer },
            eager,
        });
        prop_oneof![2 => list, 1 => any::<[bool; 2]>().prop_map(|[busy, base]| Rules::Tse { busy, base })]
    }

    fn some_action() -> impl Strategy<Value = Action> {
        (0..7, some_ident(), some_ident()).prop_map(|(kind, node, via)| match kind {
            0 => Action::Join { node, via },
            1 => Action::Fail { node },
            2 => Action::Stabilize { node },
            3 => Action::Adopt { node },
            4 => Action::Reconcile { node },
            5 => Action::Update { node },
            _ => Action::Flush { node },
        })
    }

    /// Any pointers whatsoever, of members and to whomever.
    fn some_snapshot() -> impl Strategy<Value = Snapshot> {
        let option = || proptest::option::of(some_ident());
        let pointers = (proptest::collection::vec(some_ident(), 0..=3), option(), option())
            .prop_map(|(entries, prdc, saved)| Pointers { list: SuccList::of(entries), prdc, saved });
        let nodes = proptest::collection::vec(proptest::option::of(pointers), MAX_IDENTS);
        (1..=16u8, 1..=3u8, nodes).prop_map(|(circle, list_len, nodes)| {
            let mut state = Snapshot::empty(circle, list_len);
            for (n, pointers) in (0..).zip(nodes) {
                state.set(id(n), pointers);
            }
            state
        })
    }

    /// Of which [`heal`](crate::judge::heal) saves itself the last round.
    #[test]
    fn what_is_ideal_changes_no_more() {
        let list = |checks, eager| Rules::List { checks, eager };
        let all = Checks { join: true, adopt: true, update: true, reconcile: true, answer: true };
        let lists = [Checks::default(), all].map(|checks| [list(checks, false), list(checks, true)]);
        let tse = Rules::Tse { busy: true, base: true };
        for members in 1..1u16 << 9 {
            let members: Vec<_> = (0..9).filter(|i| members & 1 << i != 0).map(|n| (n, &[][..], None)).collect();
            for (rules, list_len) in lists.into_iter().flatten().map(|list| (list, 2)).chain([(tse, 2), (tse, 3)]) {
                let mut state = ideal(&network(9, list_len, &members));
                for order in [FLUSH_FIRST, FLUSH_LAST] {
                    assert!(!round(rules, &mut state, order), "{rules:?}: {state}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn nothing_panics_and_apply_says_whether_it_changed_anything(
            rules in some_rules(),
            mut state in some_snapshot(),
            actions in proptest::collection::vec(some_action(), 0..50),
        ) {
            for action in actions {
                let before = state;
                let foretold = would_change(rules, &state, action);
                let changed = apply(rules, &mut state, action);
                prop_assert_eq!(changed, state != before, "{:?}: {} to {}", action, before, state);
                prop_assert_eq!(foretold, changed, "{:?}: {} to {}", action, before, state);
                let _ = may_fail(rules, &state, id(0));
            }
            if settle(rules, &mut state, FLUSH_FIRST) {
                let settled = state;
                prop_assert!(settle(rules, &mut state, FLUSH_FIRST));
                prop_assert_eq!(state, settled);
            }
        }

        /// Z17's theorem: from every reachable state, maintenance alone makes the network ideal.
        #[test]
        fn tse_always_settles_in_the_ideal_state(
            circle in 4..=16u8,
            list_len in 2..=3u8,
            actions in proptest::collection::vec(some_action(), 0..300),
        ) {
            let rules = Version::TSE2017.rules();
            let mut state = Snapshot::empty(circle, list_len);
            for n in 0..=list_len {
                state.set(id(n), Some(Pointers::default()));
            }
            state = ideal(&state);
            for action in actions {
                let outside = |x: Ident| x.get() >= circle;
                match action {
                    Action::Join { node, .. } if outside(node) => {}
                    Action::Fail { node } if !may_fail(rules, &state, node) => {}
                    _ => { apply(rules, &mut state, action); }
                }
            }
            prop_assert!(settle(rules, &mut state, FLUSH_FIRST));
            prop_assert_eq!(state, ideal(&state));
        }
    }
}
