//! What happened in a run, event by event, and its digest.

use std::fmt;

use crate::protocol::replica::{Answer, Ask, Message, Nonce};
use crate::schedule::{Setup, Step};
use crate::truth::ident::Ident;
use crate::truth::snapshot::{Pointers, Snapshot};
use crate::world::Objection;
use crate::world::network::Fate;

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins, with this network.
    Start(Setup, Box<Snapshot>),
    /// A step of the schedule is executed.
    Step(Step),
    /// A node hands a datagram to the network.
    Sent {
        /// The sender.
        from: Ident,
        /// The receiver.
        to: Ident,
        /// What it says.
        message: Message,
        /// What became of it.
        fate: Fate,
    },
    /// A datagram arrives.
    Received {
        /// The receiver.
        at: Ident,
        /// The sender.
        from: Ident,
        /// What it says.
        message: Message,
    },
    /// A node is told that its request will not be answered.
    Unanswered {
        /// The node.
        at: Ident,
        /// The request's number.
        nonce: Nonce,
    },
    /// The same while the node that was asked has failed and is taken for alive.
    Unnoticed {
        /// The node.
        at: Ident,
        /// The request's number.
        nonce: Nonce,
    },
    /// A node's pointers have changed; `None` is a node that is no member now.
    Changed {
        /// The node.
        node: Ident,
        /// Its pointers now.
        now: Option<Pointers>,
    },
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Notify => f.write_str("notify"),
            Self::Request { nonce, ask } => {
                let ask = match ask {
                    Ask::Alive => "are you alive?",
                    Ask::State => "what is your state?",
                    Ask::Successor => "who is your successor?",
                    Ask::Admit => "may I join after you?",
                };
                write!(f, "#{nonce:x} {ask}")
            }
            Self::Answer { nonce, answer } => {
                write!(f, "#{nonce:x} ")?;
                match answer {
                    Answer::Alive => f.write_str("alive"),
                    Answer::State { list, prdc } => {
                        write!(f, "successors {list:?}, predecessor {}", OrDash(prdc))
                    }
                    Answer::NotMember => f.write_str("not a member"),
                    Answer::Refused => f.write_str("refused"),
                    Answer::Busy => f.write_str("busy"),
                }
            }
        }
    }
}

struct OrDash<'a>(&'a Option<Ident>);

impl fmt::Display for OrDash<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(x) => write!(f, "{x}"),
            None => f.write_str("-"),
        }
    }
}

/// One line without its end.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(setup, network) => write!(f, "start {setup:?} {network}"),
            Self::Step(step) => write!(f, "step {step}"),
            Self::Sent { from, to, message, fate } => {
                write!(f, "{from} -> {to}: {message} ")?;
                match fate {
                    Fate::Due(time) => write!(f, "(due {time})"),
                    Fate::NoReceiver => f.write_str("(nobody there)"),
                    Fate::Lost => f.write_str("(lost)"),
                }
            }
            Self::Received { at, from, message } => write!(f, "{at} <- {from}: {message}"),
            Self::Unanswered { at, nonce } => write!(f, "{at}: #{nonce:x} will not be answered"),
            Self::Unnoticed { at, nonce } => {
                write!(f, "{at}: #{nonce:x} will not be answered, by a node taken for alive")
            }
            Self::Changed { node, now: None } => write!(f, "{node} is no member"),
            Self::Changed { node, now: Some(Pointers { list, prdc, saved }) } => {
                write!(f, "{node}: successors {list:?}, predecessor {}, candidate {}", OrDash(prdc), OrDash(saved))
            }
        }
    }
}

/// Who is told the events of a run.
pub trait Observer {
    /// Takes one event. It is a closure so that nothing is built for who does not look.
    fn observe(&mut self, event: impl FnOnce() -> Event);

    /// Looks at the network after a step, which may have changed it.
    fn see(&mut self, _network: &Snapshot, _changed: bool) {}

    /// Takes what a step of the schedule, as given, comes to, before that is executed; `None` if it comes to nothing.
    fn resolve(&mut self, _given: Step, _executed: Option<Step>) {}

    /// Whether it wants to be told why steps are repaired, which takes its time.
    const ASKS_WHY: bool = false;

    /// Takes why a step that has just been [resolved](Self::resolve) is not done as it is given, if it
    /// [wants to be told](Self::ASKS_WHY).
    fn repaired(&mut self, _given: Step, _executed: Option<Step>, _why: Objection) {}

    /// Takes the new time when nothing is left to do but to wait for what is on its way.
    fn wait(&mut self, _now: u64) {}

    /// Takes that a node goes, whether it fails or has not been admitted, and with it what is on its way to it.
    fn gone(&mut self, _node: Ident) {}
}

/// Nobody looks.
impl Observer for () {
    fn observe(&mut self, _event: impl FnOnce() -> Event) {}
}

/// Keeps the events.
impl Observer for Vec<Event> {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        self.push(event());
    }
}

/// The BLAKE3 digest of a run: of its events as lines of text. Equal runs have equal digests on every machine and
/// build.
#[derive(Clone, Debug, Default)]
pub struct Digest(blake3::Hasher);

impl Digest {
    /// The digest of what has been observed.
    #[must_use]
    pub fn finish(&self) -> blake3::Hash {
        self.0.finalize()
    }
}

impl Observer for Digest {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        self.0.update(format!("{}\n", event()).as_bytes());
    }
}
