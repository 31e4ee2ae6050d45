//! A run recorded for people: what each step brought about, event by event, and the network after each.
//!
//! [`Story::of`] runs a schedule and keeps what a [`Digest`](crate::world::trace::Digest) only condenses. Every event has a
//! number, its index from 0 on. A datagram is known by the number of the event in which it is sent: what becomes of it
//! refers to that, so that what is [in flight](Story::in_flight) can be told for every instant.
//!
//! What the network does not tell a node is worked out here: why a request is not answered follows from what became of
//! it, of its answer, and of the node that was asked.
//!
//! # Where it broke
//!
//! All three are steps, and judged on the network as it is after the last event of a step, of which what is in flight is
//! no part. Only the invariant of `tse2017` is judged on the network in effect, with which the run ends at once: it is
//! broken, first and for good, in the last step.
//!
//! - [`Broken::first`]: the first step after which the property does not hold. Maintenance may have restored it since.
//! - [`Broken::for_good`]: the first step after which, and after every later one of this run, it does not hold. What is
//!   said is about this run alone: other steps might have restored it.
//! - [`Story::irreparable`]: the first step from whose network, and from that after every later step, fair maintenance
//!   in the atomic [`model`](crate::protocol::model) does not lead to an ideal network. It can come before the property breaks, if
//!   only maintenance would break it; or after it broke for good, as long as some pointer still led out. A node that
//!   joins can turn it back.
//!
//! # JSON
//!
//! With the feature `command` a story serializes, as one object. Nodes are numbers from 0 to 15, times and delays are
//! steps of the virtual clock, and whatever is not there is `null`. A *network* is given by its index in `networks`, a
//! *step* by its index in `steps`, an *event* by its index in `events`.
//!
//! | field | meaning |
//! |---|---|
//! | `format` | 1; another number is another schema |
//! | `target` | as in `ccr2012` or `claims` |
//! | `verdict` | `kind`: `ideal`, `violated`, `repairable`, `masked`, `outside`; `signature`: as in `ccr2012/AtMostOneRing` |
//! | `broken` | the property: `property`, `source`, and the steps `first` and `for_good` |
//! | `irreparable` | the step |
//! | `assumptions` | `failures`, `base`, `reliable`, `prompt`, `immediate` as in [`Assumptions`](crate::judge::Assumptions), `rejoin` and `late` as in [`Conditions`](crate::world::Conditions), and `text` |
//! | `setup` | `ring`, `circle`, `list_len`, `faults` as in [`Setup`](crate::schedule::Setup), as the version permits |
//! | `given`, `executed` | both schedules in text form |
//! | `steps` | `given` and `executed`, each a step; `after_schedule`; `events`: the first of its events, and the first of the next step's |
//! | `events` | `index`; `step`; `time`; `network`: after the event; `kind`, and what that has |
//! | `networks` | `nodes`; `rings`: the members of each, in the order of their best successors; `broken`: the names of properties that do not hold; `heals` |
//! | `network`, `settled` | the network that was judged last, and the same after fair maintenance: like an element of `networks` |
//! | `proof` | in words, whether any order of maintenance heals `network`, where that was asked |
//!
//! A step of `steps` has `text`, `op`, `node`, `via` (the contact of a join), `delay`, `notice`. A node of a network has
//! `node`, `list` (best first), `prdc`, `saved`, and `best`, its first live successor. The kinds of events:
//!
//! | `kind` | fields |
//! |---|---|
//! | `begin` | none: the first event of every step |
//! | `sent` | `from`, `to`, `message`; `due`: when it arrives; `fate`: `due`, `no-receiver`, `lost`; `answers`: the event that sent the request, if it is an answer |
//! | `delivered` | `datagram`: the event that sent it |
//! | `discarded` | `datagram`, likewise: its receiver has gone |
//! | `unanswered` | `request`: the event that sent it; `cause`: the event for which it has no answer; `why`: that in words |
//! | `unnoticed` | the same: the node that was asked has failed and is taken for alive |
//! | `joined` | `node`, `now` |
//! | `changed` | `node`, `was`, `now` |
//! | `failed` | `node`, `was` |
//! | `left` | `node`: it was not admitted |
//!
//! Pointers, as in `was` and `now`, have `list`, `prdc`, `saved`. A message has `text`; `type`: `request`, `answer`,
//! `notify`; a request `ask`: `alive`, `state`, `successor`, `admit`; an answer `answer`: `alive`, `state`, `not-member`,
//! `refused`, `busy`, and with a state its `list` and `prdc`.

#[cfg(feature = "command")]
mod json;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::judge::{Breach, Options, Outcome, Target, Verdict, heal, run};
use crate::protocol::replica::{Message, Nonce};
use crate::protocol::version::Rules;
use crate::schedule::{self, Schedule};
use crate::truth::ident::Ident;
use crate::truth::property::Property;
use crate::truth::snapshot::{Pointers, Snapshot};
use crate::world::network::Fate;
use crate::world::trace::{self, Observer};

/// A run, recorded. All indices in it are of something that is there.
#[derive(Clone, Debug)]
pub struct Story {
    /// What ran.
    pub target: Target,
    /// The schedule as it was given.
    pub given: Schedule,
    /// What the run came to.
    pub outcome: Outcome,
    /// The steps. The first one is the start.
    pub steps: Vec<Step>,
    /// The events in order.
    pub events: Vec<Event>,
    /// The networks that events lead to, in order, each as long as it lasts.
    pub networks: Vec<Network>,
    /// The property that the verdict names, if it names one.
    pub broken: Option<Broken>,
    /// The step after which, to the end of the run, no fair maintenance leads to an ideal network (see
    /// [above](self#where-it-broke)).
    pub irreparable: Option<usize>,
}

/// A step of the run: the start, one of the schedule, or one that is made after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The step as the schedule gives it; `None` at the start and after the schedule.
    pub given: Option<schedule::Step>,
    /// The step as it is executed, which is another one if it was repaired. `None` at the start, where a step of the
    /// schedule comes to nothing, and where the run only waits for what is on its way.
    pub executed: Option<schedule::Step>,
    /// Whether the schedule was over: what is on its way then arrives, and what a stabilization remembers is decided.
    pub after_schedule: bool,
    /// Its events, of which there is at least [`What::Begin`].
    pub events: Range<usize>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The step that it belongs to: that in which it happened, which need not be the one that caused it.
    pub step: usize,
    /// When, in steps of the virtual clock.
    pub time: u64,
    /// The network after it, as an index into [`Story::networks`].
    pub network: usize,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A step begins.
    Begin,
    /// A node hands a datagram to the network, where it is known by the number of this event.
    Sent {
        /// The sender.
        from: Ident,
        /// The receiver.
        to: Ident,
        /// What it says.
        message: Message,
        /// What becomes of it. It is in flight only if it is due.
        fate: Fate,
        /// The request that it answers, if it is an answer.
        answers: Option<usize>,
    },
    /// A datagram arrives.
    Delivered {
        /// The datagram.
        datagram: usize,
    },
    /// A datagram in flight is lost because its receiver has gone.
    Discarded {
        /// The datagram.
        datagram: usize,
    },
    /// A node is told that its request will not be answered.
    Unanswered {
        /// The request.
        request: usize,
        /// The event for which there is no answer: the request or the answer that did not get through, or the going
        /// of the node that was asked. [`Story::why`] puts it in words.
        cause: usize,
    },
    /// The same while the node that was asked has failed and is taken for alive.
    Unnoticed {
        /// The request.
        request: usize,
        /// As of [`Unanswered`](Self::Unanswered).
        cause: usize,
    },
    /// A node becomes a member.
    Joined {
        /// The node.
        node: Ident,
        /// Its pointers.
        now: Pointers,
    },
    /// A member's pointers change.
    Changed {
        /// The node.
        node: Ident,
        /// Its pointers before.
        was: Pointers,
        /// Its pointers after.
        now: Pointers,
    },
    /// A member fails.
    Failed {
        /// The node.
        node: Ident,
        /// Its last pointers.
        was: Pointers,
    },
    /// A node that has not been admitted goes away.
    Left {
        /// The node.
        node: Ident,
    },
}

/// A network of the run, and what is to be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The live members' pointers.
    pub pointers: Snapshot,
    /// The properties that do not hold, of the claimed ones or, in `tse2017`, of the required ones. The invariant is of
    /// the network in effect, which this is not.
    pub broken: Vec<Property>,
    /// Whether fair maintenance in the atomic model leads to an ideal network. It knows nothing of what is in flight.
    pub heals: bool,
}

impl Network {
    fn of(rules: Rules, pointers: Snapshot) -> Self {
        let of_interest = match rules {
            Rules::List { .. } => &Property::CLAIMED[..],
            Rules::Tse { .. } => &Property::REQUIRED,
        };
        let broken = of_interest.iter().copied().filter(|property| !property.holds(&pointers)).collect();
        Self { pointers, broken, heals: heal(rules, &mut pointers.clone()) }
    }
}

/// A property that the run has broken, and where (see [above](self#where-it-broke)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The property.
    pub property: Property,
    /// The step that broke it first; `None` if no step did, but only the maintenance that was to heal the network.
    pub first: Option<usize>,
    /// The step that broke it for the rest of the run; `None` if it holds at the end.
    pub for_good: Option<usize>,
}

impl Story {
    /// Runs a schedule, and records it.
    #[must_use]
    pub fn of(target: Target, schedule: &Schedule, options: &Options) -> Self {
        let mut recorder = Recorder::default();
        let outcome = run(target, schedule, options, &mut recorder);
        let Recorder { steps, events, networks, .. } = recorder;
        let rules = target.version.rules();
        let networks = networks.into_iter().map(|pointers| Network::of(rules, pointers)).collect();
        let given = schedule.clone();
        let mut story = Self { target, given, outcome, steps, events, networks, broken: None, irreparable: None };
        story.broken = story.breach().and_then(|breach| story.locate(breach));
        story.irreparable = story.always_since(|network| !network.heals);
        story
    }

    /// What the verdict names.
    #[must_use]
    pub fn breach(&self) -> Option<Breach> {
        match self.outcome.verdict {
            Verdict::Ideal => None,
            Verdict::Violated(breach) | Verdict::Repairable(breach) | Verdict::Masked(breach) => Some(breach),
            Verdict::Outside(breach) => breach,
        }
    }

    /// The network after an event.
    ///
    /// # Panics
    ///
    /// If there is no such event.
    #[must_use]
    pub fn network(&self, event: usize) -> &Network {
        &self.networks[self.events[event].network]
    }

    /// The network after a step.
    ///
    /// # Panics
    ///
    /// If there is no such step.
    #[must_use]
    pub fn after(&self, step: usize) -> &Network {
        self.network(self.steps[step].events.end - 1)
    }

    /// The datagrams that are on their way after an event, in the order in which they were sent.
    ///
    /// # Panics
    ///
    /// If there is no such event.
    #[must_use]
    pub fn in_flight(&self, event: usize) -> Vec<usize> {
        let mut in_flight = Vec::new();
        for (number, event) in self.events[..=event].iter().enumerate() {
            match event.what {
                What::Sent { fate: Fate::Due(_), .. } => in_flight.push(number),
                What::Delivered { datagram } | What::Discarded { datagram } => in_flight.retain(|d| *d != datagram),
                _ => {}
            }
        }
        in_flight
    }

    /// What the cause of [`What::Unanswered`] or [`What::Unnoticed`] is, in words.
    ///
    /// # Panics
    ///
    /// If there is no such event.
    #[must_use]
    pub fn why(&self, cause: usize) -> &'static str {
        match &self.events[cause].what {
            What::Sent { fate: Fate::NoReceiver, .. } => "no such address",
            What::Sent { answers: Some(_), .. } => "the answer was lost",
            What::Failed { .. } => "failed before it answered",
            What::Left { .. } => "went away before it answered",
            _ => "the request was lost",
        }
    }

    fn locate(&self, breach: Breach) -> Option<Broken> {
        let Breach::Broken(property) = breach else { return None };
        let last = self.steps.len() - 1;
        let broken = |network: &Network| !property.holds(&network.pointers);
        Some(match property {
            Property::Invariant => Broken { property, first: Some(last), for_good: Some(last) },
            _ => Broken {
                property,
                first: (0..=last).find(|&step| broken(self.after(step))),
                for_good: self.always_since(broken),
            },
        })
    }

    /// The first step from which on this is so to the end of the run.
    fn always_since(&self, is_so: impl Fn(&Network) -> bool) -> Option<usize> {
        (0..self.steps.len()).rev().take_while(|&step| is_so(self.after(step))).last()
    }
}

/// Takes down a story as it is observed.
#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
    events: Vec<Event>,
    networks: Vec<Snapshot>,
    time: u64,
    /// What is in flight: the receiver, when it is due, and the datagram. The network keeps to this order.
    in_flight: BTreeSet<(Ident, u64, usize)>,
    /// Whether the step that comes next is one of the schedule.
    resolved: bool,
}

impl Recorder {
    fn begin(&mut self, given: Option<schedule::Step>, executed: Option<schedule::Step>, after_schedule: bool) {
        let events = self.events.len()..self.events.len();
        self.steps.push(Step { given, executed, after_schedule, events });
        self.push(What::Begin);
    }

    fn push(&mut self, what: What) {
        let (step, network) = (self.steps.len() - 1, self.networks.len() - 1);
        self.events.push(Event { step, time: self.time, network, what });
        self.steps[step].events.end = self.events.len();
    }

    /// Takes in a node's pointers, and returns those that it had.
    fn set(&mut self, node: Ident, now: Option<Pointers>) -> Option<Pointers> {
        let mut network = self.networks[self.networks.len() - 1];
        let was = network.get(node).copied();
        if was != now {
            network.set(node, now);
            self.networks.push(network);
        }
        was
    }

    /// Takes out what arrives next at a node, if anything is on its way there.
    fn arrive(&mut self, at: Ident) -> Option<usize> {
        let next = *self.in_flight.range((at, 0, 0)..).next().filter(|(to, ..)| *to == at)?;
        self.in_flight.remove(&next);
        Some(next.2)
    }

    /// The request of this node with this number.
    fn request(&self, asker: Ident, number: Nonce) -> usize {
        let asks = |event: &Event| match event.what {
            What::Sent { from, message: Message::Request { nonce, .. }, .. } => (from, nonce) == (asker, number),
            _ => false,
        };
        self.events.iter().position(asks).expect("a request is sent before anything comes of it")
    }

    /// The event for which this request has no answer.
    fn cause(&self, request: usize) -> usize {
        let What::Sent { to: asked, fate: Fate::Due(_), .. } = self.events[request].what else { return request };
        let decides = |event: &Event| match event.what {
            What::Sent { fate: Fate::Lost, answers, .. } => answers == Some(request),
            What::Failed { node, .. } | What::Left { node } => node == asked,
            _ => false,
        };
        let later = self.events[request..].iter().position(decides);
        request + later.expect("failure detection never errs without a fault")
    }
}

impl Observer for Recorder {
    fn observe(&mut self, event: impl FnOnce() -> trace::Event) {
        match event() {
            trace::Event::Start(_, network) => {
                self.networks.push(*network);
                self.begin(None, None, false);
            }
            trace::Event::Step(step) => {
                if !std::mem::take(&mut self.resolved) {
                    self.begin(None, Some(step), true);
                }
            }
            trace::Event::Sent { from, to, message, fate } => {
                if let Fate::Due(time) = fate {
                    self.in_flight.insert((to, time, self.events.len()));
                }
                let answers = match message {
                    Message::Answer { nonce, .. } => Some(self.request(to, nonce)),
                    Message::Request { .. } | Message::Notify => None,
                };
                self.push(What::Sent { from, to, message, fate, answers });
            }
            trace::Event::Received { at, .. } => {
                let datagram = self.arrive(at).expect("a datagram is sent before it arrives");
                self.push(What::Delivered { datagram });
            }
            trace::Event::Unanswered { at, nonce } => {
                let request = self.request(at, nonce);
                self.push(What::Unanswered { request, cause: self.cause(request) });
            }
            trace::Event::Unnoticed { at, nonce } => {
                let request = self.request(at, nonce);
                self.push(What::Unnoticed { request, cause: self.cause(request) });
            }
            trace::Event::Changed { node, now: Some(now) } => {
                let what = match self.set(node, Some(now)) {
                    Some(was) => What::Changed { node, was, now },
                    None => What::Joined { node, now },
                };
                self.push(what);
            }
            // Told by `gone`.
            trace::Event::Changed { now: None, .. } => {}
        }
    }

    fn see(&mut self, _network: &Snapshot, _changed: bool) {
        self.time += 1;
    }

    fn resolve(&mut self, given: schedule::Step, executed: Option<schedule::Step>) {
        self.begin(Some(given), executed, false);
        self.resolved = executed.is_some();
    }

    fn wait(&mut self, now: u64) {
        self.time = now;
        // However long it takes, it is one step.
        let waits = |step: &Step| step.after_schedule && step.executed.is_none();
        if !self.steps.last().is_some_and(waits) {
            self.begin(None, None, true);
        }
    }

    fn gone(&mut self, node: Ident) {
        let what = match self.set(node, None) {
            Some(was) => What::Failed { node, was },
            None => What::Left { node },
        };
        self.push(what);
        while let Some(datagram) = self.arrive(node) {
            self.push(What::Discarded { datagram });
        }
    }
}
