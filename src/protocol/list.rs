//! The list family: `sigcomm2001`, `ccr2012`, `best2012` and their ablations (spec sections 2.1 to 2.3 and 2.5).
//!
//! State: successor, second successor, predecessor (S01, P02). Each atomic step of Z12's shared-state models becomes
//! an operation that asks the nodes whose state the step reads, one after the other; a node has at most one operation
//! under way. A node that is dead comes back as "not a member" or "unanswered", which is the same to the asker.
//! A node answers with what it knows at once, also while an operation of its own is under way: no source of this family
//! has a rule against it.

use crate::protocol::replica::{
    Answer, Ask, Event, HeldRequests, Message, Nonce, Outbox, Replica, Requests, Task, may_wait,
};
use crate::protocol::version::Checks;
use crate::truth::ident::{Ident, between};
use crate::truth::snapshot::{Pointers, SuccList};

/// The switches of a version of this family.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The liveness checks.
    pub checks: Checks,
    /// Whether the second successor is filled in early, and a stabilization decides in a step of its own (`best2012`).
    pub eager: bool,
}

/// The operation under way, and what it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Idle,
    /// Waits for the contact to name its successor.
    Joining,
    /// Waits for that successor: whether it is alive (Z12, fix 1), or its successor (`best2012`).
    JoinChecking {
        succ: Ident,
    },
    /// Waits for the successor's predecessor.
    Stabilizing,
    /// Waits for whether the candidate is alive (Z12, fix 2).
    Checking {
        candidate: Ident,
    },
    /// Waits for the remembered candidate's successor (`best2012`).
    Adopting {
        candidate: Ident,
    },
    /// Waits for the successor's successor.
    Reconciling,
    /// Waits for whether that one is alive.
    ReconcileChecking {
        second: Ident,
    },
    /// Waits for whether the successor is alive.
    Updating,
    /// Waits for whether the second successor is alive.
    Promoting,
    /// Waits for the successor of the successor just promoted (`best2012`).
    Refilling,
    /// Waits for whether the predecessor is alive.
    Flushing {
        prdc: Ident,
    },
    /// Waits for whether the first successor is alive, to answer another's reconcile query.
    AnsweringFirst {
        from: Ident,
        nonce: Nonce,
    },
    /// Waits for whether the second successor is alive, the first being dead.
    AnsweringSecond {
        from: Ident,
        nonce: Nonce,
    },
}

/// A replica of the list family.
#[derive(Clone, Copy, Debug)]
pub struct ListReplica {
    config: Config,
    me: Ident,
    member: bool,
    succ: Ident,
    succ2: Option<Ident>,
    prdc: Option<Ident>,
    saved: Option<Ident>,
    op: Op,
    requests: Requests,
    held: HeldRequests,
}

impl ListReplica {
    fn list(&self) -> SuccList {
        match self.succ2 {
            Some(second) => SuccList::of([self.succ, second]),
            None => SuccList::of([self.succ]),
        }
    }

    /// Asks, and waits for the answer in `op`.
    fn ask(&mut self, to: Ident, ask: Ask, op: Op, out: &mut Outbox) {
        self.requests.ask(to, ask, out);
        self.op = op;
    }

    /// Ends the operation, and answers what was kept meanwhile until an answer starts an operation itself.
    fn done(&mut self, out: &mut Outbox) {
        self.op = Op::Idle;
        while self.op == Op::Idle
            && let Some((from, nonce, ask)) = self.held.take()
        {
            self.asked(from, nonce, ask, out);
        }
    }

    /// Tells the successor, which may be dead or oneself (S01: a stabilization always ends so).
    fn notify(&mut self, out: &mut Outbox) {
        out.push((self.succ, Message::Notify));
        self.done(out);
    }

    fn become_member(&mut self, succ: Ident, succ2: Option<Ident>, out: &mut Outbox) {
        // S01, join: predecessor := nil. P02: the list is filled in later; best2012: succ2 at once.
        (self.member, self.succ, self.succ2, self.prdc) = (true, succ, succ2, None);
        self.done(out);
    }

    fn begin(&mut self, task: Task, out: &mut Outbox) {
        match task {
            Task::Join(contact) if !self.member => self.ask(contact, Ask::Admit, Op::Joining, out),
            _ if !self.member => {}
            // Z12, best: a stabilization that has read its candidate is under way until it has decided.
            Task::Adopt => {
                if let Some(candidate) = self.saved {
                    self.ask(candidate, Ask::State, Op::Adopting { candidate }, out);
                }
            }
            _ if self.saved.is_some() => {}
            Task::Stabilize => self.ask(self.succ, Ask::State, Op::Stabilizing, out),
            Task::Reconcile => self.ask(self.succ, Ask::Successor, Op::Reconciling, out),
            Task::Update if self.succ2.is_some() => self.ask(self.succ, Ask::Alive, Op::Updating, out),
            Task::Flush => {
                if let Some(prdc) = self.prdc {
                    self.ask(prdc, Ask::Alive, Op::Flushing { prdc }, out);
                }
            }
            Task::Join(_) | Task::Update => {}
        }
    }

    fn asked(&mut self, from: Ident, nonce: Nonce, ask: Ask, out: &mut Outbox) {
        let state = Answer::State { list: self.list(), prdc: self.prdc };
        let answer = match ask {
            _ if !self.member => Answer::NotMember,
            Ask::Alive => Answer::Alive,
            Ask::State => state,
            // W26, level 2: the answer names the first live successor. Oneself is live.
            Ask::Successor if self.config.checks.answer && self.succ != self.me => {
                if self.op == Op::Idle {
                    return self.ask(self.succ, Ask::Alive, Op::AnsweringFirst { from, nonce }, out);
                }
                if may_wait(from, self.me) {
                    return self.held.keep(from, nonce, ask);
                }
                Answer::Busy
            }
            Ask::Successor => state,
            // Z12, join: the contact m must have between(m, n, m.succ). It is judged where and when the query arrives.
            Ask::Admit if between(self.me, from, self.succ) => state,
            Ask::Admit => Answer::Refused,
        };
        out.push((from, Message::Answer { nonce, answer }));
    }

    fn answered(&mut self, answer: Answer, out: &mut Outbox) {
        let Config { checks, eager } = self.config;
        if answer == Answer::Busy {
            return self.done(out);
        }
        let alive = matches!(answer, Answer::Alive | Answer::State { .. });
        // What a State answer says: the node's successor and predecessor.
        let (their_succ, their_prdc) = match answer {
            Answer::State { list, prdc } => (list.first(), prdc),
            _ => (None, None),
        };
        match self.op {
            Op::Idle => {}
            Op::Joining => match their_succ {
                Some(succ) if eager => self.ask(succ, Ask::State, Op::JoinChecking { succ }, out),
                Some(succ) if checks.join => self.ask(succ, Ask::Alive, Op::JoinChecking { succ }, out),
                Some(succ) => self.become_member(succ, None, out),
                // The contact is dead or refuses: not joined.
                None => self.done(out),
            },
            Op::JoinChecking { succ } if alive || !checks.join => self.become_member(succ, their_succ, out),
            Op::JoinChecking { .. } => self.done(out),
            Op::Stabilizing if alive => match their_prdc {
                Some(candidate) if between(self.me, candidate, self.succ) => {
                    if eager {
                        self.saved = Some(candidate);
                        self.done(out);
                    } else if checks.adopt {
                        self.ask(candidate, Ask::Alive, Op::Checking { candidate }, out);
                    } else {
                        self.succ = candidate;
                        self.notify(out);
                    }
                }
                // Also for best2012 at once: of a candidate that does not qualify there is nothing to decide.
                _ => self.notify(out),
            },
            // stabilize needs live(n.succ) (Z12).
            Op::Stabilizing => self.done(out),
            Op::Checking { candidate } => {
                if alive {
                    self.succ = candidate;
                }
                self.notify(out);
            }
            Op::Adopting { candidate } => {
                self.saved = None;
                if alive || !checks.adopt {
                    // Of a dead candidate, adopted by an ablation, there is no successor to read: as after an update.
                    (self.succ, self.succ2) = (candidate, their_succ);
                }
                self.notify(out);
            }
            Op::Reconciling => match their_succ {
                // P02: not redundant. best2012 has no such condition.
                Some(second)
                    if Some(second) != self.succ2 && (eager || second != self.succ || self.succ == self.me) =>
                {
                    if checks.reconcile {
                        self.ask(second, Ask::Alive, Op::ReconcileChecking { second }, out);
                    } else {
                        self.succ2 = Some(second);
                        self.done(out);
                    }
                }
                _ => self.done(out),
            },
            Op::ReconcileChecking { second } => {
                if alive {
                    self.succ2 = Some(second);
                }
                self.done(out);
            }
            Op::Updating => match self.succ2 {
                Some(second) if !alive && checks.update => self.ask(second, Ask::Alive, Op::Promoting, out),
                Some(_) if !alive => self.promote(out),
                _ => self.done(out),
            },
            Op::Promoting if alive => self.promote(out),
            Op::Promoting => self.done(out),
            Op::Refilling => {
                if alive {
                    self.succ2 = their_succ;
                }
                self.done(out);
            }
            Op::Flushing { prdc } => {
                // A notification may have replaced the predecessor since.
                if !alive && self.prdc == Some(prdc) {
                    self.prdc = None;
                }
                self.done(out);
            }
            Op::AnsweringFirst { from, nonce } => match self.succ2 {
                Some(second) if !alive => self.ask(second, Ask::Alive, Op::AnsweringSecond { from, nonce }, out),
                _ => self.answer_successor(from, nonce, self.list(), out),
            },
            Op::AnsweringSecond { from, nonce } => {
                let live = SuccList::of(self.succ2.filter(|_| alive));
                let list = if live.first().is_some() { live } else { self.list() };
                self.answer_successor(from, nonce, list, out);
            }
        }
    }

    fn answer_successor(&mut self, from: Ident, nonce: Nonce, list: SuccList, out: &mut Outbox) {
        let answer = Answer::State { list, prdc: self.prdc };
        out.push((from, Message::Answer { nonce, answer }));
        self.done(out);
    }

    /// update: succ := succ2, succ2 := none (P02); best2012 refills succ2 from the new successor if that is live.
    fn promote(&mut self, out: &mut Outbox) {
        if let Some(second) = self.succ2.take() {
            self.succ = second;
        }
        if self.config.eager {
            self.ask(self.succ, Ask::State, Op::Refilling, out);
        } else {
            self.done(out);
        }
    }
}

impl Replica for ListReplica {
    type Config = Config;

    fn founder(config: Config, me: Ident, pointers: Pointers) -> Self {
        let Pointers { list, prdc, saved } = pointers;
        let succ = list.first().unwrap_or(me);
        Self { member: true, succ, succ2: list.second(), prdc, saved, ..Self::newcomer(config, me, 0) }
    }

    fn newcomer(config: Config, me: Ident, life: u16) -> Self {
        Self {
            config,
            me,
            member: false,
            succ: me,
            succ2: None,
            prdc: None,
            saved: None,
            op: Op::Idle,
            requests: Requests::new(life),
            held: HeldRequests::default(),
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
            // S01, notify; by Z12 only "no predecessor" or "between" counts, not whether the old one is alive.
            Event::Received { from, message: Message::Notify } => {
                if self.member && self.prdc.is_none_or(|prdc| between(prdc, from, self.me)) {
                    self.prdc = Some(from);
                }
            }
            Event::Unanswered(nonce) if self.requests.is_current(nonce) => self.answered(Answer::NotMember, out),
            Event::Unnoticed(nonce) if self.requests.is_current(nonce) => {
                self.answered(self.requests.unnoticed(), out);
            }
            Event::Unanswered(_) | Event::Unnoticed(_) => {}
        }
    }

    fn pointers(&self) -> Option<Pointers> {
        self.member.then(|| Pointers { list: self.list(), prdc: self.prdc, saved: self.saved })
    }

    fn idle(&self) -> bool {
        self.op == Op::Idle
    }
}
