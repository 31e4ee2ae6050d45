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

use std::fmt::{self, Write as _};

use weft_net::VAddr;

use crate::protocol::replica::Message;
use crate::protocol::wire;
use crate::schedule::{Op, Step};
use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};
use crate::truth::snapshot::Pointers;
use crate::world::network::{Fate, address};
use crate::world::trace::{Event, Observer};

/// The broker of the log adds no delay of its own to the time that a send names.
const HEADER: &str = r#"{"format":"weft-log","version":2,"seed":0,"net":"latency=fixed:0","window_ns":0,"meta":{}}"#;

/// The connection of the observer, which is the first one.
const OBSERVER: u64 = 0;

/// The start of a 64-bit FNV-1a hash, and its multiplier.
const FNV: (u64, u64) = (0xcbf2_9ce4_8422_2325, 0x0000_0100_0000_01b3);

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

/// Where a datagram waits, as in the broker's queues.
#[derive(Clone, Copy, Debug)]
struct Queued {
    at: Ident,
    due: u64,
    tie: u64,
}

/// Writes down a run. It is an [`Observer`] of the run, and has to see it from the start.
#[derive(Clone, Debug)]
pub struct Recording {
    log: String,
    chain: u64,
    /// How many operations there are.
    operations: u64,
    /// The latest delivery so far.
    vt: u64,
    sent: u64,
    /// How many datagrams have been queued.
    ties: u64,
    /// How many datagrams have been sent on each channel; the last receiver is the observer.
    channels: [[u64; MAX_IDENTS + 1]; MAX_IDENTS],
    /// The connection of each node that has one.
    connections: [Option<u64>; MAX_IDENTS],
    /// How many connections there have been.
    opened: u64,
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
            log: format!("{HEADER}\n"),
            chain: fnv(FNV.0, HEADER),
            operations: 0,
            vt: 0,
            sent: 0,
            ties: 0,
            channels: [[0; MAX_IDENTS + 1]; MAX_IDENTS],
            connections: [None; MAX_IDENTS],
            opened: 0,
            queued: Vec::new(),
            date: 0,
            members: IdentSet::EMPTY,
            dead: IdentSet::EMPTY,
            problem: None,
        };
        recording.connect(observer());
        recording
    }
}

impl Recording {
    /// The log of the run that has been observed.
    ///
    /// # Errors
    ///
    /// If the run did what a weft-log cannot say: the first such thing.
    pub fn finish(mut self) -> Result<String, Inexpressible> {
        let (events, sent) = (self.operations + 1, self.sent);
        self.append(format_args!(r#"{{"k":"end","events":{events},"sent":{sent},"dropped":0}}"#));
        self.problem.map_or(Ok(self.log), Err)
    }

    /// Writes an operation with its number, the time, and the hash.
    fn append(&mut self, event: fmt::Arguments<'_>) {
        let (number, vt) = (self.operations, self.vt);
        let record = format!(r#"{{"op":{number},"vt":{vt},"e":{event}"#);
        self.chain = fnv(fnv(self.chain, &record), "}");
        let _ = writeln!(self.log, r#"{record},"chain":"{:016x}"}}"#, self.chain);
        self.operations += 1;
    }

    /// Opens the next connection, at this address, and returns its number.
    fn connect(&mut self, at: VAddr) -> u64 {
        let conn = self.opened;
        self.opened += 1;
        self.append(format_args!(r#"{{"k":"connect","conn":{conn}}}"#));
        self.append(format_args!(r#"{{"k":"bind","conn":{conn},"addr":{}}}"#, Json(at)));
        conn
    }

    fn enter(&mut self, node: Ident) {
        self.connections[node.index()] = Some(self.connect(address(node)));
    }

    /// Writes a send to this connection, due then; without either, to nobody.
    fn send(&mut self, from: Ident, to: VAddr, channel: usize, payload: &[u8], due: Option<(u64, u64)>) {
        let Some(conn) = self.connections[from.index()] else { return };
        let seq = self.channels[from.index()][channel];
        self.channels[from.index()][channel] += 1;
        self.sent += 1;
        let (time, outcome) = match due {
            Some((to_conn, time)) => {
                let tie = self.ties;
                self.ties += 1;
                self.vt = self.vt.max(time);
                (time, format!(r#"{{"kind":"enqueued","to_conn":{to_conn},"deliv_ns":{time},"tie":{tie}}}"#))
            }
            None => (self.vt, r#"{"kind":"no_receiver"}"#.to_owned()),
        };
        self.append(format_args!(
            r#"{{"k":"send","conn":{conn},"src":{},"dst":{},"chan_seq":{seq},"send_vt":{time},"payload":"{}","outcome":{outcome}}}"#,
            Json(address(from)),
            Json(to),
            Hex(payload),
        ));
    }

    fn sent(&mut self, from: Ident, to: Ident, message: Message, fate: Fate) {
        let due = match (fate, self.connections[to.index()]) {
            (Fate::Due(due), Some(conn)) => {
                self.queued.push(Queued { at: to, due, tie: self.ties });
                Some((conn, due))
            }
            (Fate::Lost, _) => {
                self.problem = Some(Inexpressible::Lost { from, to });
                return;
            }
            _ => None,
        };
        self.send(from, address(to), to.index(), &wire::encode(&message), due);
    }

    fn received(&mut self, at: Ident, from: Ident, message: Message) {
        let Some(conn) = self.connections[at.index()] else { return };
        // What comes out of a queue is what is due first, and of that what was put in first.
        let waiting = self.queued.iter().enumerate().filter(|(_, queued)| queued.at == at);
        let Some((index, _)) = waiting.min_by_key(|(_, queued)| (queued.due, queued.tie)) else { return };
        let Queued { due, tie, .. } = self.queued.remove(index);
        self.append(format_args!(
            r#"{{"k":"recv","conn":{conn},"blocking":false,"outcome":{{"kind":"delivered","src":{},"dst":{},"deliv_ns":{due},"tie":{tie},"payload":"{}"}}}}"#,
            Json(address(from)),
            Json(address(at)),
            Hex(&wire::encode(&message)),
        ));
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
        // At once: it is not to move the time.
        self.send(node, observer(), MAX_IDENTS, report.as_bytes(), Some((OBSERVER, self.vt)));
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
            self.append(format_args!(r#"{{"k":"disconnect","conn":{conn}}}"#));
        }
    }
}

/// The address of the observer, next to those of the nodes.
fn observer() -> VAddr {
    VAddr::new(address(Ident::default()).ip + 16, 1)
}

/// Goes on with an FNV-1a hash.
fn fnv(hash: u64, text: &str) -> u64 {
    text.bytes().fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV.1))
}

/// An address as JSON.
struct Json(VAddr);

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"{{"ip":{},"port":{}}}"#, self.0.ip, self.0.port)
    }
}

/// Bytes in hexadecimal digits.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
