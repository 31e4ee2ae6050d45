//! A run as a *weft-log*, the recording that W26's own tools read: an outside judge, which shares no code
//! with us but the broker itself.
//!
//! A log is the sequence of operations that a broker was asked to do, and what came of each. W26's replayer does them
//! again with a broker of its own and must come to the same, byte for byte; its checker judges the network by the state
//! reports among the datagrams. The format, version 2, is lines of JSON: a header, then the operations, numbered, each
//! with the broker's virtual time (the latest delivery so far) and a hash of all up to it (FNV-1a), then the totals.
//!
//! What came of an operation is written down as the trace of the run tells it: who received what, and when it was due.
//! Only what the trace leaves out is filled in, by the broker's published rules: the numbers of connections, of datagrams
//! on a channel, and of those in the queues. So the replayer compares two accounts of a run and not one with itself.
//!
//! | in the run | in the log |
//! |---|---|
//! | a founder, or a node that begins to join | `connect` and `bind`, with a connection number of its own for each life |
//! | a datagram that is due at a time | `send`, with that time as the sender's: the network of the header adds nothing to it |
//! | a datagram to nobody | `send` without a receiver |
//! | a datagram that arrives | `recv` |
//! | a change of a member's pointers | `send` of a report to an observer: `RPT node date 1 succ succ2 prdc`, with -1 for none |
//! | a member that fails | the report `RPT node date 0 -1 -1 -1`, then `disconnect` |
//! | a node that is not admitted | `disconnect` |
//!
//! The reports are added here: no replica sends any. The founders' have date 0, and each later one the next date. The log ends
//! where the run ends, so that W26's checker judges the network that [`Outcome::network`](crate::judge::Outcome)
//! is (but for a broken [`Invariant`](crate::truth::property::Property::Invariant), which is judged on the state in effect).
//!
//! What the format cannot say is [`Inexpressible`].
//!
//! # Example
//!
//! ```
//! use chord_fuzz::schedule::Schedule;
//! use chord_fuzz::judge::{Options, run};
//! use chord_fuzz::finding::weftlog::Recording;
//!
//! let schedule: Schedule = "join 1 via 0\nstabilize 1\n".parse()?;
//! let mut recording = Recording::default();
//! let _ = run("ccr2012".parse()?, &schedule, &Options::default(), &mut recording);
//! let log = recording.finish()?;
//! assert!(log.starts_with(r#"{"format":"weft-log","version":2,"#));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod log;

use weft_net::VAddr;

use log::{Log, Queued, Sending};

use crate::protocol::replica::Message;
use crate::protocol::wire;
use crate::schedule::{Op, Step};
use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};
use crate::truth::snapshot::Pointers;
use crate::world::network::{Fate, address};
use crate::world::trace::{Event, Observer};

/// The connection of the observer, which is the first one.
const OBSERVER: u64 = 0;

/// Why a run cannot be written as a weft-log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inexpressible {
    /// Its successor lists have three entries.
    #[error("a weft-log reports two successors of each node, and here are lists of 3")]
    Lists,
    /// A node becomes a member again: whose death has been reported, stays dead for the checker.
    #[error("node {0} joins again after it has failed, and for the checker of weft-logs a dead node stays dead")]
    Rejoin(Ident),
    /// A datagram is lost by the schedule: a broker loses only what its seed says.
    #[error("a datagram from {from} to {to} is lost by the schedule, and in a weft-log only a seed loses any")]
    Lost {
        /// The sender.
        from: Ident,
        /// The receiver.
        to: Ident,
    },
}

/// Writes down a run. It is an [`Observer`] of the run, and has to see it from the start.
#[derive(Clone, Debug)]
pub struct Recording {
    log: Log,
    /// The connection of each node that has one.
    connections: [Option<u64>; MAX_IDENTS],
    queued: Vec<Queued>,
    /// The date of the last report.
    date: u32,
    members: IdentSet,
    dead: IdentSet,
    problem: Option<Inexpressible>,
}

impl Default for Recording {
    fn default() -> Self {
        let mut recording = Self {
            log: Log::default(),
            connections: [None; MAX_IDENTS],
            queued: Vec::new(),
            date: 0,
            members: IdentSet::EMPTY,
            dead: IdentSet::EMPTY,
            problem: None,
        };
        recording.log.connect(observer());
        recording
    }
}

impl Recording {
    /// The log of the run that has been observed.
    ///
    /// # Errors
    ///
    /// If the run did what a weft-log cannot say: the first such thing.
    pub fn finish(self) -> Result<String, Inexpressible> {
        self.problem.map_or_else(|| Ok(self.log.finish()), Err)
    }

    fn enter(&mut self, node: Ident) {
        self.connections[node.index()] = Some(self.log.connect(address(node)));
    }

    fn sent(&mut self, from: Ident, to: Ident, message: Message, fate: Fate) {
        if fate == Fate::Lost {
            self.problem = Some(Inexpressible::Lost { from, to });
            return;
        }
        let Some(conn) = self.connections[from.index()] else { return };
        let payload = &wire::encode(&message);
        let sending = Sending { conn, from, to: address(to), channel: to.index(), payload };
        if let (Fate::Due(due), Some(to_conn)) = (fate, self.connections[to.index()]) {
            let tie = self.log.send(sending, Some((to_conn, due)));
            self.queued.push(Queued { at: to, due, tie });
        } else {
            self.log.send(sending, None);
        }
    }

    fn received(&mut self, at: Ident, from: Ident, message: Message) {
        let Some(conn) = self.connections[at.index()] else { return };
        // What comes out of a queue is what is due first, and of that what was put in first.
        let waiting = self.queued.iter().enumerate().filter(|(_, queued)| queued.at == at);
        let Some((index, _)) = waiting.min_by_key(|(_, queued)| (queued.due, queued.tie)) else { return };
        let queued = self.queued.remove(index);
        self.log.receive(conn, from, queued, &wire::encode(&message));
    }

    /// Writes that a node reports itself, alive with these pointers, or as failing.
    fn report(&mut self, node: Ident, pointers: Option<Pointers>) {
        let report = match pointers {
            Some(Pointers { list, prdc, .. }) => {
                let number = |x: Option<Ident>| x.map_or(-1, |x| i16::from(x.get()));
                let [succ, succ2, prdc] = [list.first(), list.second(), prdc].map(number);
                format!("RPT {node} {} 1 {succ} {succ2} {prdc}", self.date)
            }
            None => format!("RPT {node} {} 0 -1 -1 -1", self.date),
        };
        let Some(conn) = self.connections[node.index()] else { return };
        let sending = Sending { conn, from: node, to: observer(), channel: MAX_IDENTS, payload: report.as_bytes() };
        // At once: it is not to move the time.
        self.log.send(sending, Some((OBSERVER, self.log.vt())));
    }

    fn changed(&mut self, node: Ident, pointers: Pointers) {
        if self.dead.contains(node) {
            self.problem = Some(Inexpressible::Rejoin(node));
            return;
        }
        self.members.insert(node);
        self.report(node, Some(pointers));
    }
}

impl Observer for Recording {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        if self.problem.is_some() {
            return;
        }
        match event() {
            Event::Start(_, network) => {
                if network.list_len() > 2 {
                    self.problem = Some(Inexpressible::Lists);
                    return;
                }
                for node in network.members().iter() {
                    self.enter(node);
                }
                for node in network.members().iter() {
                    self.changed(node, *network.pointers(node));
                }
            }
            Event::Step(Step { op: Op::Join, node, .. }) if self.connections[node.index()].is_none() => {
                self.enter(node);
            }
            Event::Sent { from, to, message, fate } => self.sent(from, to, message, fate),
            Event::Received { at, from, message } => self.received(at, from, message),
            Event::Changed { node, now: Some(pointers) } => {
                self.date += 1;
                self.changed(node, pointers);
            }
            // Who is no member any more has gone, and is told of so.
            Event::Step(_) | Event::Unanswered { .. } | Event::Unnoticed { .. } | Event::Changed { now: None, .. } => {}
        }
    }

    fn gone(&mut self, node: Ident) {
        if self.problem.is_some() {
            return;
        }
        if self.members.contains(node) {
            self.members.remove(node);
            self.dead.insert(node);
            self.date += 1;
            self.report(node, None);
        }
        if let Some(conn) = self.connections[node.index()].take() {
            self.queued.retain(|queued| queued.at != node);
            self.log.disconnect(conn);
        }
    }
}

/// The address of the observer, next to those of the nodes.
fn observer() -> VAddr {
    VAddr::new(address(Ident::default()).ip + 16, 1)
}
