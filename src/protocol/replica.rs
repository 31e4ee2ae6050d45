//! What a protocol implements: a replica as a state machine that does no input or output of its own.
//!
//! A replica knows its own pointers and what it is told; nothing of the broker, of time, or of who is alive. It is
//! handed one [`Event`] at a time and puts what it wants sent into an [`Outbox`].

use arrayvec::ArrayVec;

use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};
use crate::truth::snapshot::{Pointers, SuccList};

/// The number of a request, for its answer to name. A node's numbers only grow, also from one life to the next.
pub type Nonce = u32;

/// A datagram's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A question that wants an answer.
    Request {
        /// The number that the answer must bear.
        nonce: Nonce,
        /// The question.
        ask: Ask,
    },
    /// The answer to a request.
    Answer {
        /// The request's number.
        nonce: Nonce,
        /// The answer.
        answer: Answer,
    },
    /// "I might be your predecessor" (S01, `notify`). It wants no answer.
    Notify,
}

/// What a request asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Whether the node is alive, and nothing of its state.
    Alive,
    /// The node's successor list and predecessor.
    State,
    /// The node's successor, for a reconciliation. Apart from [`Ask::State`] only because the answer may be made with a
    /// liveness check of its own (spec section 2.5).
    Successor,
    /// To be admitted between the node and its successor.
    Admit,
}

/// What an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The node is alive.
    Alive,
    /// The node's state; to a joiner also: you are admitted.
    State {
        /// The successor list.
        list: SuccList,
        /// The predecessor.
        prdc: Option<Ident>,
    },
    /// The node is not a member, which the asker treats as dead.
    NotMember,
    /// The joiner does not belong between the node and its successor.
    Refused,
    /// The node's state is undefined now, and it may not keep the request (see [`may_wait`]): the asker gives up this
    /// step, as if it had not begun it.
    Busy,
}

/// What a node is told to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// To join through this contact.
    Join(Ident),
    /// To stabilize.
    Stabilize,
    /// To decide on the candidate that the stabilization remembers.
    Adopt,
    /// To reconcile.
    Reconcile,
    /// To update.
    Update,
    /// To flush.
    Flush,
}

/// What happens to a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is time for this task. Given only to a node that [is idle](Replica::idle).
    Begin(Task),
    /// A datagram came.
    Received {
        /// Who sent it.
        from: Ident,
        /// What it says.
        message: Message,
    },
    /// The failure detector says that the request with this number will never be answered.
    Unanswered(Nonce),
    /// It says so while it takes the node that was asked for alive ([`Requests::unnoticed`]).
    Unnoticed(Nonce),
}

/// What a replica wants sent: at most an answer to every other node, and then a request or notification or two.
pub type Outbox = ArrayVec<(Ident, Message), { MAX_IDENTS + 4 }>;

/// A node of the protocol.
pub trait Replica: Copy {
    /// The switches and sizes that all nodes of a network share.
    type Config: Copy;

    /// A member of the network that the run starts with.
    fn founder(config: Self::Config, me: Ident, pointers: Pointers) -> Self;

    /// A node that is about to join. `life` tells its lives under this identifier apart.
    fn newcomer(config: Self::Config, me: Ident, life: u16) -> Self;

    /// Handles one event. Whatever comes, it never panics: what does not fit is ignored.
    fn handle(&mut self, event: Event, out: &mut Outbox);

    /// The node's pointers, or `None` while it is not a member.
    fn pointers(&self) -> Option<Pointers>;

    /// Whether no request is out and no operation is under way, so that the next may begin.
    fn idle(&self) -> bool;
}

/// A node's own requests: at most one is out.
#[derive(Clone, Copy, Debug)]
pub struct Requests {
    next: Nonce,
    last: Ask,
}

impl Requests {
    /// Numbers for the requests of this life.
    #[must_use]
    pub fn new(life: u16) -> Self {
        Self { next: Nonce::from(life) << 16, last: Ask::Alive }
    }

    /// Sends a request.
    pub fn ask(&mut self, to: Ident, ask: Ask, out: &mut Outbox) {
        self.next = self.next.wrapping_add(1);
        self.last = ask;
        out.push((to, Message::Request { nonce: self.next, ask }));
    }

    /// What the last request comes to if there is no answer, and the node that was asked is taken for alive. Whether it
    /// is alive is then known, wrongly. Its state is not, so that the step is given up, as if it had not begun.
    #[must_use]
    pub fn unnoticed(&self) -> Answer {
        if self.last == Ask::Alive { Answer::Alive } else { Answer::Busy }
    }

    /// Whether this is the number of the last request. An answer with another one comes too late to count.
    #[must_use]
    pub fn is_current(&self, nonce: Nonce) -> bool {
        self.next == nonce
    }
}

/// The requests that a node keeps, to answer them when its own step is done: at most one of every other node. Of two, the
/// one with the smaller number is of a life that has failed, in whichever order they arrive.
#[derive(Clone, Copy, Debug)]
pub struct HeldRequests {
    from: IdentSet,
    requests: [(Nonce, Ask); MAX_IDENTS],
}

impl Default for HeldRequests {
    fn default() -> Self {
        Self { from: IdentSet::EMPTY, requests: [(0, Ask::Alive); MAX_IDENTS] }
    }
}

impl HeldRequests {
    /// Keeps a request of `from`.
    pub fn keep(&mut self, from: Ident, nonce: Nonce, ask: Ask) {
        let kept = &mut self.requests[from.index()];
        if !self.from.contains(from) || kept.0 < nonce {
            *kept = (nonce, ask);
            self.from.insert(from);
        }
    }

    /// Takes out the request of the smallest identifier.
    pub fn take(&mut self) -> Option<(Ident, Nonce, Ask)> {
        let from = self.from.first()?;
        self.from.remove(from);
        let (nonce, ask) = self.requests[from.index()];
        Some((from, nonce, ask))
    }
}

/// Whether `me`, waiting for an answer itself, may keep a request of `from` until its step is done.
///
/// V19 keeps every request, and says "busy". Nodes that wait for each other in a cycle would then wait for ever (a
/// whole ring that stabilizes at once does). The spec leaves open how a cycle is broken; we prevent it with what both nodes know: only a
/// larger identifier waits for a smaller one, so that no chain of waiting closes. The others are answered
/// [`Answer::Busy`] and give up a step that has not begun, which is always allowed: no maintenance step is owed at any
/// time.
#[must_use]
pub fn may_wait(from: Ident, me: Ident) -> bool {
    from > me
}
