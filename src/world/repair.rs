//! Repair: the step that has an effect now, for one that may have none.

use std::fmt;

use super::World;
use crate::protocol::model::{self, Action};
use crate::protocol::replica::Replica;
use crate::protocol::version::{Checks, Rules};
use crate::schedule::{Delay, Op, Step};
use crate::truth::ident::{Ident, IdentSet};
use crate::truth::snapshot::Snapshot;
use crate::world::trace::Observer;

impl<R: Replica, O: Observer> World<'_, R, O> {
    /// The step that this one comes to: itself if it has an effect now, otherwise the same operation at the next node for which it
    /// has one, otherwise the next operation that has one anywhere. `None` if nothing has.
    #[must_use]
    pub fn resolve(&self, step: Step, faults: bool) -> Option<Step> {
        let rules = self.lenient();
        repair(step, faults, |op| self.candidates(op), |step, node| self.effective_contact(rules, step, node))
    }

    /// The nodes for which the operation may have an effect, as far as that can be said of all of them at once.
    fn candidates(&self, op: Op) -> IdentSet {
        let members = self.now.members();
        match op {
            Op::Join => IdentSet::circle(self.now.circle()) - members - self.barred,
            Op::Fail => members,
            Op::Lose => members - self.network.faults.losing,
            Op::Cut => members - self.network.faults.cut,
            Op::Mend => members & self.network.faults.cut,
            _ if self.has_task(op) => members,
            _ => IdentSet::EMPTY,
        }
    }

    /// The contact with which the step has an effect at a [candidate](Self::candidates), by these rules: for a join one
    /// that may admit the joiner, otherwise its own.
    fn effective_contact(&self, rules: Rules, step: Step, node: Ident) -> Option<Ident> {
        let Step { op, contact, .. } = step;
        let idle = self.replicas[node.index()].as_ref().is_some_and(Replica::idle);
        let pointers = self.now.pointers(node);
        // A node begins nothing while a stabilization waits to be decided, and decides nothing else.
        let ready = idle && pointers.saved.is_some() == (op == Op::Adopt);
        let would_change =
            || action(Step { node, ..step }).is_some_and(|action| model::would_change(rules, &self.now, action));
        let dead = |x: Option<Ident>| x.is_some_and(|x| !self.now.live(x) && !self.network.unnoticed(x));
        let has_effect = match op {
            Op::Join => {
                if self.replicas[node.index()].is_some() {
                    return None;
                }
                return admitting(rules, &self.now, node, contact);
            }
            Op::Fail => self.may_fail(node),
            Op::Lose | Op::Cut | Op::Mend => true,
            Op::Update => ready && dead(pointers.list.first()) && would_change(),
            Op::Flush => ready && dead(pointers.prdc) && would_change(),
            // What is on its way, or will be, may give these an effect that they do not have now.
            Op::Stabilize | Op::Adopt | Op::Reconcile => {
                ready && (!step.immediate() || !self.network.quiet() || would_change())
            }
        };
        has_effect.then_some(contact)
    }

    /// Whether the version has this operation at all.
    fn has_task(&self, op: Op) -> bool {
        match self.rules {
            Rules::List { eager, .. } => op != Op::Adopt || eager,
            // It reconciles and updates as it stabilizes, and rectifies instead of flushing.
            Rules::Tse { .. } => matches!(op, Op::Stabilize | Op::Adopt),
        }
    }

    /// The rules by which a step may have an effect. While a node is taken for alive that is not, a check may let pass
    /// what it is there to stop.
    fn lenient(&self) -> Rules {
        match self.rules {
            Rules::List { eager, .. } if self.network.any_unnoticed() => {
                Rules::List { checks: Checks::default(), eager }
            }
            rules => rules,
        }
    }

    /// Why a step has no effect now, if it [resolves](Self::resolve) to another or to none.
    #[must_use]
    pub fn objection(&self, step: Step, faults: bool) -> Objection {
        let Step { op, node, contact, .. } = step;
        let members = self.now.members();
        let off_circle = |node: &Ident| !IdentSet::circle(self.now.circle()).contains(*node);
        let named = if op == Op::Join { [node, contact] } else { [node, node] };
        let fault = matches!(op, Op::Lose | Op::Cut | Op::Mend);
        if !Op::available(faults).contains(&op) {
            Objection::Reliable
        } else if !matches!(op, Op::Join | Op::Fail) && !fault && !self.has_task(op) {
            Objection::Operation
        } else if let Some(node) = named.into_iter().find(off_circle) {
            Objection::Circle(node)
        } else if op == Op::Join {
            match () {
                () if members.contains(node) => Objection::Member,
                () if self.replicas[node.index()].is_some() => Objection::Joining,
                () if self.barred.contains(node) => Objection::Barred,
                () if members.contains(contact) => Objection::Contact(contact),
                () => Objection::NoMember(contact, members),
            }
        } else if !members.contains(node) {
            Objection::NoMember(node, members)
        } else if op == Op::Fail {
            Objection::Assumption
        } else if fault {
            Objection::Already
        } else if !self.replicas[node.index()].as_ref().is_some_and(Replica::idle) {
            Objection::Busy
        } else {
            match (self.now.pointers(node).saved.is_some(), op == Op::Adopt) {
                (true, false) => Objection::Undecided,
                (false, true) => Objection::Decided,
                _ => Objection::Change,
            }
        }
    }
}

/// Why a step has no effect now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// The run has no loss and no partition.
    Reliable,
    /// The version has no such operation.
    Operation,
    /// There is no such identifier on the circle.
    Circle(Ident),
    /// Who is to join is a member.
    Member,
    /// Who is to join does so already.
    Joining,
    /// Who is to join has failed, and may not join again.
    Barred,
    /// Who is named is none of these members.
    NoMember(Ident, IdentSet),
    /// The contact would not admit the joiner.
    Contact(Ident),
    /// The failure assumption (spec section 4).
    Assumption,
    /// An operation of the node is under way.
    Busy,
    /// A stabilization of the node waits to be decided.
    Undecided,
    /// It does not.
    Decided,
    /// What is asked for is so already.
    Already,
    /// No pointer would change.
    Change,
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reliable => f.write_str("the run is one without loss and partition"),
            Self::Operation => f.write_str("the version has no such operation"),
            Self::Circle(node) => write!(f, "there is no {node} on the circle"),
            Self::Member => f.write_str("it is a member"),
            Self::Joining => f.write_str("it is joining already"),
            Self::Barred => f.write_str("it has failed, and may not join again"),
            Self::NoMember(node, members) => {
                write!(f, "{node} is not a member; members are ")?;
                members.iter().enumerate().try_for_each(|(n, member)| {
                    let comma = if n == 0 { "" } else { ", " };
                    write!(f, "{comma}{member}")
                })
            }
            Self::Contact(contact) => write!(f, "{contact} would not admit it"),
            Self::Assumption => f.write_str("the failure assumption does not let it fail"),
            Self::Busy => f.write_str("an operation of it is under way"),
            Self::Undecided => f.write_str("it has a candidate to adopt first"),
            Self::Decided => f.write_str("it has no candidate to adopt"),
            Self::Already => f.write_str("so it is already"),
            Self::Change => f.write_str("no pointer would change"),
        }
    }
}

/// The first step that has an effect, of this one and those that may stand for it, in the order that
/// [`World::resolve`] describes. `nodes` are those for which an operation is worth asking, and `contact` is the one with
/// which the step has an effect at a node, if it has one.
fn repair(
    step: Step,
    faults: bool,
    nodes: impl Fn(Op) -> IdentSet,
    contact: impl Fn(Step, Ident) -> Option<Ident>,
) -> Option<Step> {
    let ops = Op::available(faults);
    let first = ops.iter().position(|op| *op == step.op).unwrap_or(0);
    ops[first..].iter().chain(&ops[..first]).find_map(|&op| {
        let step = Step { op, ..step }.canonical();
        nodes(op)
            .iter_from(step.node)
            .find_map(|node| contact(step, node).map(|contact| Step { node, contact, ..step }))
    })
}

/// The contact that may admit the joiner: the one that it names, or the next.
fn admitting(rules: Rules, network: &Snapshot, joiner: Ident, contact: Ident) -> Option<Ident> {
    network.members().iter_from(contact).find(|&m| model::may_admit(rules, network, m, joiner))
}

/// What [`World::resolve`] makes of a step without delays where nothing is under way, when this is the network and
/// those that are barred may not join.
pub(crate) fn resolve(rules: Rules, network: &Snapshot, barred: IdentSet, step: Step) -> Option<Step> {
    let members = network.members();
    let nodes = |op| if op == Op::Join { IdentSet::circle(network.circle()) - members - barred } else { members };
    repair(step, false, nodes, |step, node| match step.op {
        Op::Join => admitting(rules, network, node, step.contact),
        Op::Fail => model::may_fail(rules, network, node).then_some(step.contact),
        _ => action(Step { node, ..step })
            .is_some_and(|action| model::would_change(rules, network, action))
            .then_some(step.contact),
    })
}

/// The step of [`World::undecided`], when this is the network.
pub(crate) fn undecided(network: &Snapshot) -> Option<Step> {
    let node = network.members().iter().find(|&x| network.pointers(x).saved.is_some())?;
    Some(step(Action::Adopt { node }))
}

/// The atomic step that a step without delays is in the model. Faults of the network have none.
#[must_use]
pub fn action(step: Step) -> Option<Action> {
    let node = step.node;
    Some(match step.op {
        Op::Join => Action::Join { node, via: step.contact },
        Op::Fail => Action::Fail { node },
        Op::Stabilize => Action::Stabilize { node },
        Op::Adopt => Action::Adopt { node },
        Op::Reconcile => Action::Reconcile { node },
        Op::Update => Action::Update { node },
        Op::Flush => Action::Flush { node },
        Op::Lose | Op::Cut | Op::Mend => return None,
    })
}

/// The step, without delays, that [`action`] makes this of.
#[must_use]
pub fn step(action: Action) -> Step {
    let (op, node, contact) = match action {
        Action::Join { node, via } => (Op::Join, node, via),
        Action::Fail { node } => (Op::Fail, node, node),
        Action::Stabilize { node } => (Op::Stabilize, node, node),
        Action::Adopt { node } => (Op::Adopt, node, node),
        Action::Reconcile { node } => (Op::Reconcile, node, node),
        Action::Update { node } => (Op::Update, node, node),
        Action::Flush { node } => (Op::Flush, node, node),
    };
    Step { op, node, contact, delay: Delay::NONE, notice: Delay::NONE }.canonical()
}
