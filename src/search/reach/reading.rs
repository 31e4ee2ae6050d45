//! A run as the facts read it: each request with what becomes of it.

use std::ops::Range;

use crate::finding::story::{Story, What};
use crate::protocol::replica::{Answer, Ask, Message};
use crate::schedule::Op;
use crate::truth::ident::{Ident, MAX_IDENTS};
use crate::truth::snapshot::Snapshot;
use crate::world::network::Fate;

/// A story, and what becomes of each request in it.
pub(super) struct Reading<'a> {
    pub(super) story: &'a Story,
    pub(super) queries: Vec<Query>,
}

/// A request, and what becomes of it.
pub(super) struct Query {
    pub(super) asker: Ident,
    pub(super) asked: Ident,
    pub(super) ask: Ask,
    /// The operation of the schedule that it is part of, if it is part of one.
    pub(super) op: Option<Op>,
    /// The event in which it is sent.
    pub(super) sent: usize,
    /// The event in which the asker is told what becomes of it, or goes; the number of all events if neither happens.
    pub(super) over: usize,
    /// The answer that the asker is given.
    pub(super) answer: Option<Answer>,
    /// Whether the asker is told that the asked node is dead or no member.
    pub(super) dead: bool,
}

/// A datagram.
#[derive(Clone, Copy)]
pub(super) struct Datagram {
    pub(super) from: Ident,
    pub(super) to: Ident,
    pub(super) message: Message,
    /// The event in which it is sent.
    pub(super) sent: usize,
    /// The event that sent the request that it answers.
    pub(super) answers: Option<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn of(story: &'a Story) -> Self {
        let mut run = Self { story, queries: Vec::new() };
        // The query of each node that is not over.
        let mut open: [Option<usize>; MAX_IDENTS] = [None; MAX_IDENTS];
        // Who does something now and has sent nothing yet, and as part of which operation: the request that it sends
        // first is a part of that too.
        let mut acting: Option<(Ident, Option<Op>)> = None;
        for event in run.events() {
            match *run.what(event) {
                What::Begin => {
                    let executed = story.steps[story.events[event].step].executed;
                    acting = executed.map(|step| (step.node, Some(step.op)));
                }
                What::Sent { from, to, message, .. } => {
                    let op = acting.take_if(|(node, _)| *node == from).and_then(|(_, op)| op);
                    if let Message::Request { ask, .. } = message {
                        let (sent, over) = (event, story.events.len());
                        open[from.index()] = Some(run.queries.len());
                        let (asker, asked) = (from, to);
                        run.queries.push(Query { asker, asked, ask, op, sent, over, answer: None, dead: false });
                    }
                }
                What::Delivered { datagram } => {
                    acting = None;
                    if let What::Sent { to, message: Message::Answer { answer, .. }, answers, .. } = *run.what(datagram)
                    {
                        let ends = |query: &mut usize| Some(run.queries[*query].sent) == answers;
                        if let Some(query) = open[to.index()].take_if(ends) {
                            let query = &mut run.queries[query];
                            (query.over, query.answer) = (event, Some(answer));
                            query.dead = answer == Answer::NotMember;
                            acting = Some((to, query.op));
                        }
                    }
                }
                What::Unanswered { request, .. } | What::Unnoticed { request, .. } => {
                    acting = None;
                    let dead = matches!(run.what(event), What::Unanswered { .. });
                    let ends = |query: &mut usize| run.queries[*query].sent == request;
                    if let What::Sent { from, .. } = *run.what(request)
                        && let Some(query) = open[from.index()].take_if(ends)
                    {
                        let query = &mut run.queries[query];
                        (query.over, query.dead) = (event, dead);
                        acting = Some((from, query.op));
                    }
                }
                What::Failed { node, .. } | What::Left { node } => {
                    if let Some(query) = open[node.index()].take() {
                        run.queries[query].over = event;
                    }
                }
                What::Joined { .. } | What::Changed { .. } | What::Discarded { .. } => {}
            }
        }
        run
    }

    pub(super) fn events(&self) -> Range<usize> {
        0..self.story.events.len()
    }

    pub(super) fn what(&self, event: usize) -> &'a What {
        &self.story.events[event].what
    }

    /// The network after an event.
    pub(super) fn network(&self, event: usize) -> &'a Snapshot {
        &self.story.network(event).pointers
    }

    /// Whether something like this happens after one event and before another.
    pub(super) fn between(&self, after: usize, before: usize, like: impl Fn(&What) -> bool) -> bool {
        (after + 1..before).any(|event| like(self.what(event)))
    }

    /// Whether the node fails in between.
    pub(super) fn failed(&self, node: Ident, after: usize, before: usize) -> bool {
        self.between(after, before, |what| matches!(*what, What::Failed { node: failed, .. } if failed == node))
    }

    /// Whether the node fails in between, or goes because it is not admitted.
    pub(super) fn gone(&self, node: Ident, after: usize, before: usize) -> bool {
        let left = |what: &What| *what == What::Left { node };
        self.failed(node, after, before) || self.between(after, before, left)
    }

    /// How many such answers are given.
    pub(super) fn answers(&self, like: impl Fn(Answer) -> bool) -> usize {
        let given = |what: &What| match *what {
            What::Sent { message: Message::Answer { answer, .. }, .. } => like(answer),
            _ => false,
        };
        self.events().filter(|&event| given(self.what(event))).count()
    }

    /// The requests with which stabilizations begin.
    pub(super) fn stabilizations(&self) -> impl Iterator<Item = &Query> {
        self.queries.iter().filter(|query| query.op == Some(Op::Stabilize) && query.ask == Ask::State)
    }

    /// The datagram that is put on its way in this event.
    pub(super) fn datagram(&self, event: usize) -> Option<Datagram> {
        match *self.what(event) {
            What::Sent { from, to, message, fate: Fate::Due(_), answers } => {
                Some(Datagram { from, to, message, sent: event, answers })
            }
            _ => None,
        }
    }

    /// The datagram that arrives in this event.
    pub(super) fn delivery(&self, event: usize) -> Option<Datagram> {
        let What::Delivered { datagram } = *self.what(event) else { return None };
        self.datagram(datagram)
    }

    /// The datagrams that arrive, each with the event in which it does.
    pub(super) fn deliveries(&self) -> impl Iterator<Item = (Datagram, usize)> {
        self.events().filter_map(|event| Some((self.delivery(event)?, event)))
    }

    /// How often it comes to be so of the network that was not so before; the start may be the first time.
    pub(super) fn begins(&self, so: impl Fn(&Snapshot) -> bool) -> usize {
        let so: Vec<_> = self.story.networks.iter().map(|network| so(&network.pointers)).collect();
        usize::from(so[0]) + so.windows(2).filter(|pair| !pair[0] && pair[1]).count()
    }
}
