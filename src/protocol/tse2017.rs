//! `tse2017`: the version that Z17 proves correct, over messages (spec sections 2.4 and 5).
//!
//! Z17 proves it for atomic steps on shared state. What keeps that abstraction over messages is the rule of V19: the
//! atomic step happens when the queried node answers, so from sending the query to finishing the step the asker's own
//! state is undefined and it answers no question about it; it keeps the question until the step is done. Bare liveness
//! it affirms at once. A node that is joining is undefined in the same way, down to whether it is a member, and so
//! keeps even that question: an admission on its way would make "not a member" a lie.

use arrayvec::ArrayVec;

use crate::protocol::replica::{
    Answer, Ask, Event, HeldRequests, Message, Nonce, Outbox, Replica, Requests, Task, may_wait,
};
use crate::truth::ident::{Ident, IdentSet, between};
use crate::truth::snapshot::{MAX_LIST, Pointers, SuccList};

/// The sizes and switches of a network.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The length r of successor lists: 2 or 3.
    pub list_len: u8,
    /// How many identifiers the circle has.
    pub circle: u8,
    /// Whether the rule above is kept. Without it every question is answered at once: an ablation.
    pub busy: bool,
}

/// The operation under way, and what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Idle,
    /// Waits for the contact's list.
    Joining {
        contact: Ident,
    },
    /// Stabilizes from the successor: waits for its list and predecessor.
    AskingSuccessor {
        succ: Ident,
    },
    /// Stabilizes from the predecessor: waits for the remembered node's list.
    AskingSaved {
        saved: Ident,
    },
    /// Rectifies: waits for whether the predecessor is alive.
    Rectifying {
        notifier: Ident,
    },
}

/// A replica of `tse2017`.
#[derive(Clone, Copy, Debug)]
pub struct TseReplica {
    config: Config,
    me: Ident,
    member: bool,
    list: SuccList,
    prdc: Ident,
    saved: Option<Ident>,
    op: Op,
    requests: Requests,
    held: HeldRequests,
    /// Who has notified this node while an operation was under way: each is a rectification to come.
    notified: IdentSet,
}

impl TseReplica {
    fn ask(&mut self, to: Ident, ask: Ask, op: Op, out: &mut Outbox) {
        self.requests.ask(to, ask, out);
        self.op = op;
    }

    /// Ends the operation: the state is defined again. Answers what was kept, then takes up the next notification.
    fn done(&mut self, out: &mut Outbox) {
        self.op = Op::Idle;
        while let Some((from, nonce, ask)) = self.held.take() {
            self.answer(from, nonce, ask, out);
        }
        while self.op == Op::Idle
            && let Some(notifier) = self.notified.first()
        {
            self.notified.remove(notifier);
            self.rectify(notifier, out);
        }
    }

    /// Ends a stabilization by notifying the first successor, dead or alive.
    fn notify(&mut self, out: &mut Outbox) {
        out.extend(self.list.first().map(|succ| (succ, Message::Notify)));
        self.done(out);
    }

    /// The list that begins with `first` and goes on with `rest`, cut to r.
    fn list_of(&self, first: Ident, rest: SuccList) -> SuccList {
        let entries = [first].into_iter().chain(rest.as_slice().iter().copied());
        SuccList::of(entries.take(usize::from(self.config.list_len)))
    }

    /// Drops the first entry, dead, and pads the end with the identifier that follows the last (Z17).
    fn drop_first(&mut self) {
        let mut entries: ArrayVec<Ident, MAX_LIST> = self.list.as_slice().iter().copied().collect();
        if let Some(last) = entries.last().copied() {
            entries.remove(0);
            entries.push(last.next(self.config.circle));
        }
        self.list = SuccList::of(entries);
    }

    /// rectify (Z17): a closer predecessor is taken without asking the old one, another only if the old one is dead.
    fn rectify(&mut self, notifier: Ident, out: &mut Outbox) {
        if !self.member {
            return;
        }
        if between(self.prdc, notifier, self.me) {
            self.prdc = notifier;
        } else {
            self.ask(self.prdc, Ask::Alive, Op::Rectifying { notifier }, out);
        }
    }

    fn begin(&mut self, task: Task, out: &mut Outbox) {
        match (task, self.saved, self.list.first()) {
            (Task::Join(contact), ..) if !self.member => self.ask(contact, Ask::Admit, Op::Joining { contact }, out),
            (Task::Stabilize, None, Some(succ)) if self.member => {
                self.ask(succ, Ask::State, Op::AskingSuccessor { succ }, out);
            }
            (Task::Adopt, Some(saved), Some(succ)) if self.member => {
                // Z17 has this as a precondition, and remarks that nothing changes the successor in between.
                if between(self.me, saved, succ) {
                    self.ask(saved, Ask::State, Op::AskingSaved { saved }, out);
                } else {
                    self.saved = None;
                }
            }
            // This version reconciles and updates as it stabilizes, and rectifies instead of flushing.
            _ => {}
        }
    }

    fn asked(&mut self, from: Ident, nonce: Nonce, ask: Ask, out: &mut Outbox) {
        let defined = match self.op {
            Op::Idle => true,
            Op::Joining { .. } => false,
            _ => ask == Ask::Alive,
        };
        // A node need not wait for itself.
        if defined || from == self.me || !self.config.busy {
            self.answer(from, nonce, ask, out);
        } else if may_wait(from, self.me) {
            self.held.keep(from, nonce, ask);
        } else {
            out.push((from, Message::Answer { nonce, answer: Answer::Busy }));
        }
    }

    fn answer(&mut self, from: Ident, nonce: Nonce, ask: Ask, out: &mut Outbox) {
        let state = Answer::State { list: self.list, prdc: Some(self.prdc) };
        let answer = match ask {
            _ if !self.member => Answer::NotMember,
            Ask::Alive => Answer::Alive,
            Ask::State | Ask::Successor => state,
            // Z17, join: needs between(m, j, m.list[0]).
            Ask::Admit if self.list.first().is_some_and(|succ| between(self.me, from, succ)) => state,
            Ask::Admit => Answer::Refused,
        };
        out.push((from, Message::Answer { nonce, answer }));
    }

    fn answered(&mut self, answer: Answer, out: &mut Outbox) {
        match (self.op, answer) {
            (Op::Idle, _) => {}
            // The step did not begin; what was remembered stays so.
            (_, Answer::Busy) => self.done(out),
            // A member always has a list; an answer without one admits nobody.
            (Op::Joining { contact }, Answer::State { list, .. }) if list.first().is_some() => {
                (self.member, self.list, self.prdc) = (true, list, contact);
                self.done(out);
            }
            // The contact is dead or refuses: not joined, and so what notified this node is lost.
            (Op::Joining { .. }, _) => {
                self.notified = IdentSet::EMPTY;
                self.done(out);
            }
            (Op::AskingSuccessor { succ }, Answer::State { list, prdc }) => {
                self.list = self.list_of(succ, list);
                match prdc {
                    Some(prdc) if between(self.me, prdc, succ) => {
                        self.saved = Some(prdc);
                        self.done(out);
                    }
                    _ => self.notify(out),
                }
            }
            (Op::AskingSuccessor { .. }, _) => {
                self.drop_first();
                self.notify(out);
            }
            (Op::AskingSaved { saved }, answer) => {
                self.saved = None;
                if let Answer::State { list, .. } = answer {
                    self.list = self.list_of(saved, list);
                }
                self.notify(out);
            }
            (Op::Rectifying { notifier }, answer) => {
                if answer != Answer::Alive {
                    self.prdc = notifier;
                }
                self.done(out);
            }
        }
    }
}

impl Replica for TseReplica {
    type Config = Config;

    fn founder(config: Config, me: Ident, pointers: Pointers) -> Self {
        let Pointers { list, prdc, saved } = pointers;
        Self { member: true, list, prdc: prdc.unwrap_or(me), saved, ..Self::newcomer(config, me, 0) }
    }

    fn newcomer(config: Config, me: Ident, life: u16) -> Self {
        Self {
            config,
            me,
            member: false,
            list: SuccList::default(),
            prdc: me,
            saved: None,
            op: Op::Idle,
            requests: Requests::new(life),
            held: HeldRequests::default(),
            notified: IdentSet::EMPTY,
        }
    }

    fn handle(&mut self, event: Event, out: &mut Outbox) {
        match event {
            Event::Begin(task) if self.idle() => self.begin(task, out),
            Event::Begin(_) => {}
            Event::Received { from, message: Message::Request { nonce, ask } } => self.asked(from, nonce, ask, out),
            Event::Received { message: Message::Answer { nonce, answer }, .. } if self.requests.is_current(nonce) => {
                self.answered(answer, out);
            }
            Event::Received { message: Message::Answer { .. }, .. } => {}
            Event::Received { from, message: Message::Notify } if self.idle() => self.rectify(from, out),
            // A rectification is a step of its own: it waits until the one under way is done.
            Event::Received { from, message: Message::Notify } => self.notified.insert(from),
            Event::Unanswered(nonce) if self.requests.is_current(nonce) => self.answered(Answer::NotMember, out),
            Event::Unnoticed(nonce) if self.requests.is_current(nonce) => {
                self.answered(self.requests.unnoticed(), out);
            }
            Event::Unanswered(_) | Event::Unnoticed(_) => {}
        }
    }

    fn pointers(&self) -> Option<Pointers> {
        self.member.then_some(Pointers { list: self.list, prdc: Some(self.prdc), saved: self.saved })
    }

    fn idle(&self) -> bool {
        self.op == Op::Idle
    }
}
