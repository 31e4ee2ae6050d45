//! The world: replicas on a network, and the schedule's steps done to them.
//!
//! A step of a schedule names an operation and a node. [`World::resolve`] repairs it to one that has an effect now;
//! [`World::begin`] does it; [`World::advance`] lets one thing at a time arrive; [`World::tick`] ends it. Who drives
//! the world looks at it in between: it keeps ground truth about the network in two forms.
//!
//! - [`World::now`]: the members' pointers as they are.
//! - [`World::effective`]: as they are once every answer already given has arrived. By the shared-state abstraction an atomic
//!   step happens when the queried node answers, so this is the state that the abstract models speak of (spec
//!   section 5). The two are the same when nothing is on its way.

pub mod network;
mod repair;
pub mod trace;

pub use repair::{Objection, action, step};
pub(crate) use repair::{resolve, undecided};

use crate::protocol::model;
use crate::protocol::replica::{Event as Input, Message, Nonce, Outbox, Replica, Task};
use crate::protocol::version::Rules;
use crate::protocol::wire;
use crate::schedule::{Delay, Op, Setup, Step};
use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};
use crate::truth::property;
use crate::truth::snapshot::{Pointers, Snapshot, SuccList};
use crate::world::network::{Arrival, Arrived, Delays, Fate, Kind, Network};
use crate::world::trace::{Event, Observer};

/// What holds in a run besides what its schedule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// Whether a node that has failed may join again, under its old identifier and with a fresh state, so that stale
    /// pointers to it come alive. In the models of Z12 and Z17 it may, in W26 none does.
    pub rejoin: bool,
    /// For how many steps after its failure a node is still taken for alive (see [`network`]): 0 is
    /// perfect failure detection.
    pub late: u8,
}

/// Those of the sources: a failed node may join again, and failure detection is perfect.
impl Default for Conditions {
    fn default() -> Self {
        Self { rejoin: true, late: 0 }
    }
}

/// Replicas on a network.
pub struct World<'a, R: Replica, O> {
    rules: Rules,
    config: R::Config,
    /// The nodes that may not join, because they have failed.
    barred: IdentSet,
    rejoin: bool,
    network: Network,
    replicas: [Option<R>; MAX_IDENTS],
    /// How many lives have begun under each identifier.
    lives: [u16; MAX_IDENTS],
    /// What each node is about to be told: the answer on its way.
    promised: [Option<Input>; MAX_IDENTS],
    /// Those nodes that something is promised to.
    promises: IdentSet,
    now: Snapshot,
    revisions: Revisions,
    /// The revision of `now` that the observer has seen.
    seen: u32,
    observer: &'a mut O,
}

/// Counts the changes of ground truth, so that what is unchanged is known without being compared.
///
/// Who is a member and what its successor list says is counted by itself, because most changes are of predecessors, and
/// because no [`Property`](property::Property) speaks of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revisions {
    /// All changes of [`World::now`].
    pub now: u32,
    /// Those of its members and their lists.
    pub now_lists: u32,
    /// Those that may be of the members and lists of [`World::effective`].
    pub effective_lists: u32,
}

fn lists_differ(a: Option<&Pointers>, b: Option<&Pointers>) -> bool {
    a.map(|pointers| pointers.list) != b.map(|pointers| pointers.list)
}

/// The network that a run starts with: one member that knows only itself (S01), or an ideal ring.
#[must_use]
pub fn starting_network(setup: Setup, rules: Rules) -> Snapshot {
    let Setup { ring, circle, list_len, .. } = setup;
    match rules {
        Rules::List { .. } if ring == 1 => {
            let mut network = Snapshot::empty(circle, list_len);
            let founder = Ident::default();
            network.set(founder, Some(Pointers { list: SuccList::of([founder]), prdc: None, saved: None }));
            network
        }
        _ => property::ideal_network(circle, list_len, setup.members()),
    }
}

impl<'a, R: Replica, O: Observer> World<'a, R, O> {
    /// The world at the start of a run. The setup must [fit](Rules::fit) the rules.
    pub fn new(setup: Setup, rules: Rules, config: R::Config, conditions: Conditions, observer: &'a mut O) -> Self {
        let start = starting_network(setup, rules);
        observer.observe(|| Event::Start(setup, Box::new(start)));
        let mut world = Self {
            rules,
            config,
            barred: IdentSet::EMPTY,
            rejoin: conditions.rejoin,
            network: Network::late(conditions.late),
            replicas: [None; MAX_IDENTS],
            lives: [0; MAX_IDENTS],
            promised: [None; MAX_IDENTS],
            promises: IdentSet::EMPTY,
            now: start,
            revisions: Revisions::default(),
            seen: 0,
            observer,
        };
        for node in start.members().iter() {
            world.network.connect(node);
            world.replicas[node.index()] = Some(R::founder(config, node, *start.pointers(node)));
        }
        world
    }

    /// The live members' pointers as they are.
    #[must_use]
    pub fn now(&self) -> &Snapshot {
        &self.now
    }

    /// The live members' pointers as they are once every answer already given has arrived.
    #[must_use]
    pub fn effective(&self) -> Snapshot {
        let mut effective = self.now;
        for node in self.promises.iter() {
            effective.set(node, self.foreseen(node));
        }
        effective
    }

    /// What a node's pointers will be once it has been told what it is promised.
    fn foreseen(&self, node: Ident) -> Option<Pointers> {
        let mut later = self.replicas[node.index()]?;
        later.handle(self.promised[node.index()]?, &mut Outbox::new());
        later.pointers()
    }

    /// How often each part of ground truth has changed since the start.
    #[must_use]
    pub fn revisions(&self) -> Revisions {
        self.revisions
    }

    /// Who is told the events.
    pub fn observer(&mut self) -> &mut O {
        self.observer
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whether the failure assumption lets this member fail (spec section 4): in the network as it is, and as it is in
    /// effect. Either alone would let an answer on its way strand a node. Who is still joining is a member in effect. In Z17's
    /// version it keeps what it is asked until it can answer, so for the others it is live; in the others it answers
    /// that it is no member, which counts as dead, so that nobody can be left with it alone.
    #[must_use]
    pub fn may_fail(&self, node: Ident) -> bool {
        if self.promises.is_empty() {
            return model::may_fail(self.rules, &self.now, node);
        }
        let effective = self.effective();
        match self.rules {
            Rules::List { .. } => {
                model::may_fail(self.rules, &self.now, node)
                    && model::may_fail_beside(self.rules, &effective, self.now.members(), node)
            }
            // The stable base is a matter of the abstract state alone.
            Rules::Tse { busy, .. } => {
                model::may_fail(Rules::Tse { busy, base: false }, &self.now, node)
                    && model::may_fail(self.rules, &effective, node)
            }
        }
    }

    /// Executes a step as it is given, permitted or not. What it sends and is due at once is left to
    /// [`advance`](Self::advance).
    pub fn begin(&mut self, step: Step) {
        self.observer.observe(|| Event::Step(step));
        let node = step.node;
        let delays = Delays { reply: step.delay.ticks(), notice: step.notice.ticks() };
        let task = match step.op {
            Op::Join => {
                if self.replicas[node.index()].is_some() {
                    return;
                }
                self.lives[node.index()] += 1;
                self.network.connect(node);
                self.replicas[node.index()] = Some(R::newcomer(self.config, node, self.lives[node.index()]));
                Task::Join(step.contact)
            }
            Op::Stabilize => Task::Stabilize,
            Op::Adopt => Task::Adopt,
            Op::Reconcile => Task::Reconcile,
            Op::Update => Task::Update,
            Op::Flush => Task::Flush,
            Op::Fail => {
                if !self.rejoin {
                    self.barred.insert(node);
                }
                self.network.fail(node);
                return self.remove(node);
            }
            Op::Lose => return self.network.faults.losing.insert(node),
            Op::Cut => return self.network.faults.cut.insert(node),
            Op::Mend => return self.network.faults.cut.remove(node),
        };
        self.handle(node, Input::Begin(task), delays, false);
    }

    /// Lets the next thing arrive that is due by now. Returns whether there was one.
    pub fn advance(&mut self) -> bool {
        let Some(Arrival { to, delays, decided, what }) = self.network.next_arrival() else { return false };
        let input = match what {
            Arrived::Datagram { from, payload } => {
                // All nodes are ours, so a malformed datagram would be our own mistake: it is dropped, as a node would.
                let Some(message) = wire::decode(&payload) else { return true };
                self.observer.observe(|| Event::Received { at: to, from, message });
                Input::Received { from, message }
            }
            Arrived::Unanswered(nonce) => {
                self.observer.observe(|| Event::Unanswered { at: to, nonce });
                Input::Unanswered(nonce)
            }
            Arrived::Unnoticed(nonce) => {
                self.observer.observe(|| Event::Unnoticed { at: to, nonce });
                Input::Unnoticed(nonce)
            }
        };
        if decided {
            let kept = self.promised[to.index()].take();
            debug_assert_eq!(kept, Some(input), "what arrives is not what was promised");
            self.promises.remove(to);
        }
        self.handle(to, input, delays, decided);
        true
    }

    /// Ends a step: one step's time passes.
    pub fn tick(&mut self) {
        self.observer.see(&self.now, self.seen != self.revisions.now);
        self.seen = self.revisions.now;
        self.network.tick();
    }

    /// Lets time pass until something is due. Returns whether anything is still on its way.
    pub fn skip_to_next(&mut self) -> bool {
        let waited = self.network.skip_to_next();
        if waited {
            self.observer.wait(self.network.now());
        }
        waited
    }

    /// Hands an event to a node, which may keep a promise, takes in what has changed, and sends what it wants sent.
    #[inline(always)]
    fn handle(&mut self, node: Ident, input: Input, delays: Delays, kept: bool) {
        let Some(replica) = &mut self.replicas[node.index()] else { return };
        let mut outbox = Outbox::new();
        replica.handle(input, &mut outbox);
        let pointers = replica.pointers();
        let gone = pointers.is_none() && replica.idle();
        self.record(node, pointers, kept);
        for &(to, message) in &outbox {
            self.send(node, to, message, delays);
        }
        if gone {
            // A node that has not been admitted goes away.
            self.remove(node);
        }
    }

    /// Takes in a node's pointers. What keeps a promise was in effect already.
    #[inline]
    fn record(&mut self, node: Ident, pointers: Option<Pointers>, kept: bool) {
        if self.now.get(node) != pointers.as_ref() {
            self.change(node, pointers, kept);
        }
    }

    /// Takes in that they have changed. Apart from the comparison, which every event takes and few get past.
    fn change(&mut self, node: Ident, pointers: Option<Pointers>, kept: bool) {
        self.revisions.now += 1;
        let lists = lists_differ(self.now.get(node), pointers.as_ref());
        self.revisions.now_lists += u32::from(lists);
        self.revisions.effective_lists += u32::from(!kept && (lists || self.promises.contains(node)));
        self.now.set(node, pointers);
        self.observer.observe(|| Event::Changed { node, now: pointers });
    }

    /// What the failure detector will say of a request for which it has just become certain that there is no answer.
    fn unanswered(&self, asked: Ident, nonce: Nonce) -> Input {
        if self.network.unnoticed(asked) { Input::Unnoticed(nonce) } else { Input::Unanswered(nonce) }
    }

    fn promise(&mut self, node: Ident, input: Input) {
        self.promised[node.index()] = Some(input);
        self.promises.insert(node);
        self.revisions.effective_lists += 1;
    }

    fn send(&mut self, from: Ident, to: Ident, message: Message, delays: Delays) {
        let kind = match message {
            Message::Request { nonce, .. } => Kind::Request(nonce),
            Message::Answer { nonce, .. } => Kind::Answer(nonce),
            Message::Notify => Kind::Notice,
        };
        let sent = self.network.send(from, to, kind, &wire::encode(&message), delays);
        self.observer.observe(|| Event::Sent { from, to, message, fate: sent.fate });
        match kind {
            Kind::Answer(_) if sent.decides && matches!(sent.fate, Fate::Due(_)) => {
                self.promise(to, Input::Received { from, message });
            }
            Kind::Answer(nonce) if sent.decides => self.promise(to, self.unanswered(from, nonce)),
            Kind::Request(nonce) if sent.decides => self.promise(from, self.unanswered(to, nonce)),
            _ => {}
        }
    }

    /// The node is gone: it stops, its state with it, and what is on its way to it is lost.
    fn remove(&mut self, node: Ident) {
        let unanswered = self.network.disconnect(node);
        if self.replicas[node.index()].take().is_some() {
            self.observer.gone(node);
        }
        if self.promised[node.index()].take().is_some() {
            // Also of a joiner, whose admission may have been on its way.
            self.promises.remove(node);
            self.revisions.effective_lists += 1;
        }
        self.record(node, None, false);
        for (asker, nonce) in unanswered {
            self.promise(asker, self.unanswered(node, nonce));
        }
    }

    /// Fair maintenance to a fixpoint over messages: rounds in which every member does each kind of maintenance once,
    /// until a round changes nothing. Returns whether there was a fixpoint within [`model::MAX_ROUNDS`].
    pub fn settle(&mut self) -> bool {
        for _ in 0..model::MAX_ROUNDS {
            let before = self.now;
            self.round();
            if self.now == before {
                return true;
            }
        }
        false
    }

    /// One fair round of maintenance, in the order of [`model::FLUSH_FIRST`], in which all that a step brings about arrives
    /// before the next.
    pub fn round(&mut self) {
        for turn in [&[Op::Flush][..], &[Op::Update], &[Op::Reconcile], &[Op::Stabilize, Op::Adopt]] {
            for node in self.now.members().iter() {
                for &op in turn {
                    self.begin(Step { op, node, contact: node, delay: Delay::NONE, notice: Delay::NONE });
                    while self.advance() || self.skip_to_next() {}
                }
            }
        }
    }

    /// Whether no node has an operation under way.
    #[must_use]
    pub fn at_rest(&self) -> bool {
        self.replicas.iter().flatten().all(Replica::idle)
    }

    /// The step that decides on a candidate which a stabilization still remembers, if there is one.
    #[must_use]
    pub fn undecided(&self) -> Option<Step> {
        undecided(&self.now)
    }
}
