//! The network: [`weft_net::core::Core`] behind a virtual clock.
//!
//! The broker decides where a datagram goes and in which order it comes out: by `(delivery time, tie)`. This module
//! gives it the delivery time, keeps an agenda of what is due so that there is one global order and nobody needs to be
//! polled, and adds what the broker does not know: loss and partition that a schedule asks for, and failure detection.
//!
//! **Failure detection is perfect** (spec section 5): a request comes back as unanswered exactly if no answer will
//! come, because its receiver has no connection, or has failed without having answered. It never comes back so for a
//! node that has answered. Only loss and partition make it err, as any timeout then would: a lost request or answer
//! counts as unanswered.
//!
//! **Failure detection may be late** instead, if the run is made so ([`Conditions`](crate::world::Conditions)): for so
//! many steps after a failure, whoever asks the failed node something is told that no answer comes, and not that the
//! node is dead ([`Arrived::Unnoticed`]). Detection is then right in the end and wrong in between. That is the least that
//! is late: W26 broadcasts a death notice on the delayed network, so that each node learns of a failure at a time of its
//! own, and never waits for an answer. Here all learn at the same time, and a node that waits is let go. So what late
//! detection breaks here is not a run of W26, though it is for the same reason.
//!
//! A failed node's connection is closed, which discards what is queued for it; a later life opens a new one.

mod detector;
mod faults;

use arrayvec::ArrayVec;
use weft_net::core::{Core, RecvResult, SendResult};
use weft_net::{FaultModel, VAddr};

use detector::{Detector, Open};
pub use faults::Faults;

use crate::protocol::replica::Nonce;
use crate::truth::ident::{Ident, MAX_IDENTS};

/// The most datagrams of one run. A step brings about a bounded exchange, of far fewer; a run that comes to this many
/// has a loop in it, which is our defect, and is reported as such.
pub const MAX_DATAGRAMS: u32 = 4096;

/// How long the datagrams take that a step brings about, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delays {
    /// Each request, and each answer.
    pub reply: u8,
    /// Each notification.
    pub notice: u8,
}

/// What a datagram is to the failure detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It wants an answer.
    Request(Nonce),
    /// It is the answer to this request.
    Answer(Nonce),
    /// It wants none.
    Notice,
}

/// What became of a datagram handed to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It will arrive at this time, if its receiver lives to see it.
    Due(u64),
    /// Nobody has that address: the node is not there.
    NoReceiver,
    /// It is lost by a fault of the schedule's.
    Lost,
}

/// What became of a datagram, and of the request that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// What became of the datagram.
    pub fate: Fate,
    /// Whether it is now certain what the asker will be told: the answer that has just been given, or, if the datagram
    /// did not get through, that there is none.
    pub decides: bool,
}

/// Who will be told that which request has no answer.
pub type Unanswered = ArrayVec<(Ident, Nonce), MAX_IDENTS>;

/// Something that has come due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whom it is for.
    pub to: Ident,
    /// The delays of what it brings about in turn.
    pub delays: Delays,
    /// Whether it is what the receiver's request was [decided](Sent::decides) to come to.
    pub decided: bool,
    /// What it is.
    pub what: Arrived,
}

/// What has come due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// A datagram.
    Datagram {
        /// Who sent it.
        from: Ident,
        /// Its bytes.
        payload: Vec<u8>,
    },
    /// The failure detector's word that this request will not be answered.
    Unanswered(Nonce),
    /// The same while it takes the node that was asked, which has failed, for alive.
    Unnoticed(Nonce),
}

/// An entry of the agenda.
#[derive(Clone, Copy, Debug)]
struct Due {
    time: u64,
    to: Ident,
    delays: Delays,
    what: Coming,
}

/// What will arrive.
#[derive(Clone, Copy, Debug)]
enum Coming {
    /// The next datagram in the broker's queue.
    Datagram,
    /// Likewise, and it is the answer to the request that was open.
    Answer,
    /// That this request has no answer.
    Unanswered(Nonce),
    /// Likewise, while the node that was asked is taken for alive.
    Unnoticed(Nonce),
}

/// The network of a run.
pub struct Network {
    core: Core,
    now: u64,
    /// What is due, the next one last: by time and then by when it was entered, as in the broker's queues. It is short,
    /// and in a run without delays nearly always empty when something is entered.
    agenda: Vec<Due>,
    /// The connection of each node that has one.
    connections: [Option<u64>; MAX_IDENTS],
    /// How many connections there have been.
    opened: u64,
    datagrams: u32,
    /// What the schedule takes from it.
    pub faults: Faults,
    detector: Detector,
}

impl Default for Network {
    fn default() -> Self {
        Self {
            // Reliable, so that its seed says nothing: what is lost or late is the schedule's to say.
            core: Core::new(FaultModel::reliable(0)),
            now: 0,
            agenda: Vec::new(),
            connections: [None; MAX_IDENTS],
            opened: 0,
            datagrams: 0,
            faults: Faults::default(),
            detector: Detector::default(),
        }
    }
}

pub(crate) fn address(node: Ident) -> VAddr {
    VAddr::new(0x7f00_0001 + u32::from(node.get()), 1)
}

impl Network {
    /// A network that takes a node for alive for so many steps after its failure.
    #[must_use]
    pub fn late(late: u8) -> Self {
        Self { detector: Detector::late(late), ..Self::default() }
    }

    /// The virtual time: how many steps have passed.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// How many datagrams have been handed to the network.
    #[must_use]
    pub fn datagrams(&self) -> u32 {
        self.datagrams
    }

    /// Whether this node has failed and is taken for alive.
    #[must_use]
    #[inline]
    pub fn unnoticed(&self, node: Ident) -> bool {
        self.detector.unnoticed(node, self.now)
    }

    /// Whether there is such a node.
    #[must_use]
    pub fn any_unnoticed(&self) -> bool {
        self.detector.any_unnoticed(self.now)
    }

    /// Whether a failed node was taken for alive when it was asked.
    #[must_use]
    pub fn mistaken(&self) -> bool {
        self.detector.mistaken
    }

    /// Whether nothing is on its way.
    #[must_use]
    pub fn quiet(&self) -> bool {
        self.agenda.is_empty()
    }

    /// Gives a node a fresh connection and its address.
    pub fn connect(&mut self, node: Ident) {
        let connection = self.opened;
        self.opened += 1;
        self.core.connect(connection);
        self.core.bind(connection, address(node));
        self.connections[node.index()] = Some(connection);
        self.detector.fail(node, None);
    }

    /// Has the failure detector notice, as late as it does, that this node fails now. Comes before
    /// [`disconnect`](Self::disconnect).
    pub fn fail(&mut self, node: Ident) {
        self.detector.fail(node, self.connections[node.index()].map(|_| self.now));
    }

    /// Closes a node's connection: what is on its way to the node is discarded. Returns whose requests it leaves
    /// unanswered.
    pub fn disconnect(&mut self, node: Ident) -> Unanswered {
        let Some(connection) = self.connections[node.index()].take() else { return Unanswered::new() };
        self.core.disconnect(connection);
        self.agenda.retain(|due| due.to != node);
        self.detector.open[node.index()] = None;
        let askers = self.detector.askers(node);
        askers.iter().filter_map(|asker| Some((asker, self.give_up(asker)?))).collect()
    }

    /// Sends a datagram. A [`Kind::Request`] is the sender's only one from then on. If the datagram does not get through
    /// and an answer was expected, the asker will be told that there is none.
    #[inline(always)]
    pub fn send(&mut self, from: Ident, to: Ident, kind: Kind, payload: &[u8], delays: Delays) -> Sent {
        self.datagrams += 1;
        let (asker, answers) = match kind {
            Kind::Request(nonce) => {
                self.detector.open[from.index()] = Some(Open { on: to, nonce, delays });
                (Some(from), false)
            }
            Kind::Answer(nonce) if self.detector.awaits(to, nonce) => (Some(to), true),
            Kind::Answer(_) | Kind::Notice => (None, false),
        };
        let delay = if kind == Kind::Notice { delays.notice } else { delays.reply };
        let what = if answers { Coming::Answer } else { Coming::Datagram };
        let fate = self.route(from, to, payload, Due { time: self.now + u64::from(delay), to, delays, what });
        let decides = match (asker, fate) {
            (Some(asker), Fate::NoReceiver | Fate::Lost) => self.give_up(asker).is_some(),
            (Some(asker), Fate::Due(_)) if answers => self.detector.open[asker.index()].take().is_some(),
            _ => false,
        };
        Sent { fate, decides }
    }

    #[inline(always)]
    fn route(&mut self, from: Ident, to: Ident, payload: &[u8], due: Due) -> Fate {
        if self.faults.lose(from, to) {
            return Fate::Lost;
        }
        match self.core.send(address(from), address(to), payload, due.time).1 {
            SendResult::Enqueued { deliv_ns, .. } => {
                self.enter(Due { time: deliv_ns, ..due });
                Fate::Due(deliv_ns)
            }
            SendResult::NoReceiver => Fate::NoReceiver,
            SendResult::Dropped => Fate::Lost,
        }
    }

    #[inline]
    fn enter(&mut self, due: Due) {
        let at = self.agenda.partition_point(|other| other.time > due.time);
        self.agenda.insert(at, due);
    }

    /// Has the asker told, after the time that an answer would have taken, that its open request has none.
    fn give_up(&mut self, asker: Ident) -> Option<Nonce> {
        // Who has gone is told nothing.
        self.connections[asker.index()]?;
        let (Open { nonce, delays, .. }, unnoticed) = self.detector.give_up(asker, self.now)?;
        let time = self.now + u64::from(delays.reply);
        let what = if unnoticed { Coming::Unnoticed(nonce) } else { Coming::Unanswered(nonce) };
        self.enter(Due { time, to: asker, delays, what });
        Some(nonce)
    }

    /// Takes out the next of what is due by now.
    #[inline]
    pub fn next_arrival(&mut self) -> Option<Arrival> {
        let Due { time, to, delays, what } = self.agenda.pop_if(|due| due.time <= self.now)?;
        let decided = !matches!(what, Coming::Datagram);
        let what = match what {
            Coming::Unnoticed(nonce) => Arrived::Unnoticed(nonce),
            Coming::Unanswered(nonce) => Arrived::Unanswered(nonce),
            // The agenda has gated it: what is due to this node is the first in its queue.
            Coming::Datagram | Coming::Answer => match self.core.recv(self.connections[to.index()]?) {
                RecvResult::Delivered { src, deliv_ns, payload, .. } => {
                    debug_assert_eq!(deliv_ns, time, "the agenda and the broker disagree");
                    #[expect(clippy::cast_possible_truncation, reason = "an address of ours: 0 to 15")]
                    let from = Ident::new(src.node_of() as u8);
                    Arrived::Datagram { from, payload }
                }
                RecvResult::Empty => unreachable!("the agenda names a datagram that the broker does not have"),
            },
        };
        Some(Arrival { to, delays, decided, what })
    }

    /// Lets one step's time pass.
    pub fn tick(&mut self) {
        self.now += 1;
    }

    /// Lets time pass until the next thing is due. Returns whether there is one.
    pub fn skip_to_next(&mut self) -> bool {
        let Some(due) = self.agenda.last() else { return false };
        self.now = self.now.max(due.time);
        true
    }
}
