//! What a run reaches: the situations that a search has to come by to be worth anything.
//!
//! A corpus that violates nothing proves little if nothing ever happens in it. So for each rare situation that the rules
//! of a version are about, there is a [`Fact`]: something that should *sometimes* be so. How often a [`Story`] reaches it
//! is counted, and the tests insist that random schedules and the committed corpus reach every one.
//!
//! Facts are about the network as it is, not about the one in effect.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::finding::story::{Story, What};
use crate::protocol::replica::{Answer, Ask, Message};
use crate::protocol::version::Rules;
use crate::schedule::Op;
use crate::search::novelty;
use crate::truth::ident::{Ident, MAX_IDENTS, between};
use crate::truth::snapshot::Snapshot;
use crate::world::network::Fate;

/// Something that is sometimes so in a run.
#[derive(Debug)]
pub struct Fact {
    /// The name, as in `two-rings`.
    pub name: &'static str,
    /// What it is, in a line, and so what an occurrence is.
    pub definition: &'static str,
    possible: fn(Rules) -> bool,
    count: fn(&Reading<'_>) -> usize,
}

impl Fact {
    /// Whether it can occur under these rules at all. Where it cannot, they have no such thing; that `tse2017` has no
    /// second ring is Z17's proof. (What ends the runs of `claims` before something occurs is no rule.)
    #[must_use]
    pub fn possible(&self, rules: Rules) -> bool {
        (self.possible)(rules)
    }
}

/// The facts: of joins, of failures, of what is exchanged, and of the network's shape.
pub static FACTS: [Fact; 20] = [
    Fact {
        name: "joins-at-one-contact",
        definition: "a node asks a contact to admit it while another joiner waits for that contact's answer",
        possible: everywhere,
        count: |run| {
            let joins = || run.queries.iter().filter(|query| query.ask == Ask::Admit);
            let under_way = |query: &Query, other: &Query| other.sent < query.sent && query.sent < other.over;
            let with_another = |query: &&Query| {
                joins().any(|o| o.asked == query.asked && o.asker != query.asker && under_way(query, o))
            };
            joins().filter(with_another).count()
        },
    },
    Fact {
        name: "join-refused",
        definition: "a contact refuses to admit a node that does not belong after it",
        possible: everywhere,
        count: |run| run.answers(|answer| answer == Answer::Refused),
    },
    Fact {
        name: "joiner-asked",
        definition: "a node that has not been admitted yet is asked, and says that it is no member",
        possible: everywhere,
        count: |run| run.answers(|answer| answer == Answer::NotMember),
    },
    Fact {
        name: "join-during-stabilization",
        definition: "a node becomes a member while another one's stabilization waits for the successor's state",
        possible: everywhere,
        count: |run| {
            let joined =
                |query: &&Query| run.between(query.sent, query.over, |what| matches!(what, What::Joined { .. }));
            run.stabilizations().filter(joined).count()
        },
    },
    Fact {
        name: "stale-pointer-revived",
        definition: "a node that has failed becomes a member again while another member still points to it",
        possible: everywhere,
        count: |run| {
            let revived = |event: usize| match run.what(event) {
                What::Joined { node, .. } if run.failed(*node, 0, event) => points_to(run.network(event), *node),
                _ => false,
            };
            run.events().filter(|&event| revived(event)).count()
        },
    },
    Fact {
        name: "asked-node-fails",
        definition: "a node fails that has yet to answer a request",
        possible: everywhere,
        count: |run| {
            let unanswered = |event: usize| match run.what(event) {
                What::Unanswered { cause, .. } => matches!(run.what(*cause), What::Failed { .. }),
                _ => false,
            };
            run.events().filter(|&event| unanswered(event)).count()
        },
    },
    Fact {
        name: "answer-of-the-dead",
        definition: "an answer arrives from a node that has failed since it gave it",
        possible: everywhere,
        count: |run| {
            let answers = |d: &Datagram| matches!(d.message, Message::Answer { .. });
            run.deliveries().filter(|(d, at)| answers(d) && run.failed(d.from, d.sent, *at)).count()
        },
    },
    Fact {
        name: "notification-of-the-dead",
        definition: "a notification arrives from a node that has failed since it sent it",
        possible: everywhere,
        count: |run| {
            let notifies = |d: &Datagram| d.message == Message::Notify;
            run.deliveries().filter(|(d, at)| notifies(d) && run.failed(d.from, d.sent, *at)).count()
        },
    },
    Fact {
        name: "answer-to-an-earlier-life",
        definition: "an answer arrives at a node that has gone and come back since it asked",
        possible: everywhere,
        count: |run| {
            let earlier = |d: &Datagram, at| d.answers.is_some_and(|request| run.gone(d.to, request, at));
            run.deliveries().filter(|(d, at)| earlier(d, *at)).count()
        },
    },
    Fact {
        name: "datagram-discarded",
        definition: "a datagram is lost on its way because its receiver has gone",
        possible: everywhere,
        count: |run| run.events().filter(|&event| matches!(run.what(event), What::Discarded { .. })).count(),
    },
    Fact {
        name: "overtaking",
        definition: "a datagram arrives before an earlier one from the same node to the same other node",
        possible: everywhere,
        count: |run| {
            let mut in_flight: Vec<Datagram> = Vec::new();
            let mut count = 0;
            for event in run.events() {
                if let Some(datagram) = run.datagram(event) {
                    in_flight.push(datagram);
                }
                if let What::Delivered { datagram } | What::Discarded { datagram } = *run.what(event) {
                    in_flight.retain(|d| d.sent != datagram);
                }
                if let Some(d) = run.delivery(event) {
                    let earlier = |e: &Datagram| (e.from, e.to) == (d.from, d.to) && e.sent < d.sent && d.from != d.to;
                    count += usize::from(in_flight.iter().any(earlier));
                }
            }
            count
        },
    },
    Fact {
        name: "busy",
        definition: "a node answers that it is busy, and the asker gives up its step",
        possible: withholds,
        count: |run| run.answers(|answer| answer == Answer::Busy),
    },
    Fact {
        name: "answer-withheld",
        definition: "a node answers a request not as it arrives but when a step of its own is done",
        possible: withholds,
        count: |run| {
            let withheld = |event: usize| match run.datagram(event) {
                Some(Datagram { answers: Some(request), .. }) => {
                    let arrival = |e: usize| *run.what(e) == What::Delivered { datagram: request };
                    let arrived = (request..event).find(|&e| arrival(e));
                    arrived.is_some_and(|arrived| run.between(arrived, event, starts_something))
                }
                _ => false,
            };
            run.events().filter(|&event| withheld(event)).count()
        },
    },
    Fact {
        name: "idle-stabilization",
        definition: "a stabilization gets an answer in the same step, in which no pointer changes",
        possible: everywhere,
        count: |run| {
            let idle = |query: &&Query| {
                let step = &run.story.steps[run.story.events[query.sent].step];
                let changes =
                    |what: &What| matches!(what, What::Joined { .. } | What::Changed { .. } | What::Failed { .. });
                query.answer.is_some()
                    && step.events.contains(&query.over)
                    && !step.events.clone().any(|event| changes(run.what(event)))
            };
            run.stabilizations().filter(idle).count()
        },
    },
    Fact {
        name: "candidate-found-dead",
        definition: "a stabilization asks the node that it would adopt, which is dead",
        possible: |rules| match rules {
            Rules::List { checks, eager } => checks.adopt || eager,
            Rules::Tse { .. } => true,
        },
        count: |run| {
            let asks_candidate = |query: &&Query| {
                let succ = run.network(query.sent).pointers(query.asker).list.first();
                matches!(query.op, Some(Op::Stabilize | Op::Adopt))
                    && succ.is_some_and(|succ| between(query.asker, query.asked, succ))
            };
            run.queries.iter().filter(asks_candidate).filter(|query| query.dead).count()
        },
    },
    Fact {
        name: "dead-candidate-adopted",
        definition: "a node that was not in a member's list becomes its first successor, and is dead by then",
        possible: everywhere,
        count: |run| {
            let adopted = |event: usize| match run.what(event) {
                What::Changed { was, now, .. } => now
                    .list
                    .first()
                    .is_some_and(|succ| !was.list.as_slice().contains(&succ) && !run.network(event).live(succ)),
                _ => false,
            };
            run.events().filter(|&event| adopted(event)).count()
        },
    },
    Fact {
        name: "appendage",
        definition: "a member is off every ring, after a time in which none was",
        possible: everywhere,
        count: |run| run.begins(|network| network.ring() != network.members()),
    },
    Fact {
        name: "second-successor-needed",
        definition: "a member's first successor is dead and its second one live, after a time in which that was so of none",
        possible: everywhere,
        count: |run| {
            run.begins(|network| {
                let live = |x: Option<Ident>| x.is_some_and(|x| network.live(x));
                network.members().iter().map(|x| network.pointers(x).list).any(|l| !live(l.first()) && live(l.second()))
            })
        },
    },
    Fact {
        name: "two-rings",
        definition: "there are two rings or more, after a time of at most one",
        possible: not_proved_correct,
        count: |run| run.begins(|network| network.rings().len() > 1),
    },
    Fact {
        name: "rings-united",
        definition: "of two rings or more there comes to be one, without a failure",
        possible: not_proved_correct,
        count: |run| {
            let united = |pair: &&[Snapshot]| {
                let [before, after] = pair else { return false };
                let failed = !(before.members() - after.members()).is_empty();
                before.rings().len() > 1 && after.rings().len() == 1 && !failed
            };
            let networks: Vec<_> = run.story.networks.iter().map(|network| network.pointers).collect();
            networks.windows(2).filter(united).count()
        },
    },
];

/// How often a run reaches each fact, in the order of [`FACTS`].
#[must_use]
pub fn reached(story: &Story) -> [usize; FACTS.len()] {
    let run = Reading::of(story);
    FACTS.each_ref().map(|fact| (fact.count)(&run))
}

/// The [features](novelty::features) of the networks that a run comes by: those of which libFuzzer is told.
#[must_use]
pub fn features(story: &Story) -> BTreeSet<usize> {
    let mut features = BTreeSet::new();
    let mut last = 0;
    for step in story.steps.iter().filter(|step| step.executed.is_some()) {
        let network = story.events[step.events.end - 1].network;
        if network != last {
            features.extend(novelty::features(&story.networks[network].pointers));
        }
        last = network;
    }
    features
}

fn everywhere(_: Rules) -> bool {
    true
}

/// Whether nodes do not always answer at once.
fn withholds(rules: Rules) -> bool {
    match rules {
        Rules::List { checks, .. } => checks.answer,
        Rules::Tse { busy, .. } => busy,
    }
}

fn not_proved_correct(rules: Rules) -> bool {
    !matches!(rules, Rules::Tse { busy: true, base: true })
}

/// Whether a member other than the node itself points to it.
fn points_to(network: &Snapshot, node: Ident) -> bool {
    network.members().iter().filter(|x| *x != node).map(|x| network.pointers(x)).any(|pointers| {
        pointers.list.as_slice().contains(&node) || pointers.prdc == Some(node) || pointers.saved == Some(node)
    })
}

/// Whether this is not brought about by the event before it in the same step.
fn starts_something(what: &What) -> bool {
    matches!(what, What::Begin | What::Delivered { .. } | What::Unanswered { .. } | What::Unnoticed { .. })
}

/// A story, and what becomes of each request in it.
struct Reading<'a> {
    story: &'a Story,
    queries: Vec<Query>,
}

/// A request, and what becomes of it.
struct Query {
    asker: Ident,
    asked: Ident,
    ask: Ask,
    /// The operation of the schedule that it is part of, if it is part of one.
    op: Option<Op>,
    /// The event in which it is sent.
    sent: usize,
    /// The event in which the asker is told what becomes of it, or goes; the number of all events if neither happens.
    over: usize,
    /// The answer that the asker is given.
    answer: Option<Answer>,
    /// Whether the asker is told that the asked node is dead or no member.
    dead: bool,
}

/// A datagram.
#[derive(Clone, Copy)]
struct Datagram {
    from: Ident,
    to: Ident,
    message: Message,
    /// The event in which it is sent.
    sent: usize,
    /// The event that sent the request that it answers.
    answers: Option<usize>,
}

impl<'a> Reading<'a> {
    fn of(story: &'a Story) -> Self {
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

    fn events(&self) -> Range<usize> {
        0..self.story.events.len()
    }

    fn what(&self, event: usize) -> &'a What {
        &self.story.events[event].what
    }

    /// The network after an event.
    fn network(&self, event: usize) -> &'a Snapshot {
        &self.story.network(event).pointers
    }

    /// Whether something like this happens after one event and before another.
    fn between(&self, after: usize, before: usize, like: impl Fn(&What) -> bool) -> bool {
        (after + 1..before).any(|event| like(self.what(event)))
    }

    /// Whether the node fails in between.
    fn failed(&self, node: Ident, after: usize, before: usize) -> bool {
        self.between(after, before, |what| matches!(*what, What::Failed { node: failed, .. } if failed == node))
    }

    /// Whether the node fails in between, or goes because it is not admitted.
    fn gone(&self, node: Ident, after: usize, before: usize) -> bool {
        let left = |what: &What| *what == What::Left { node };
        self.failed(node, after, before) || self.between(after, before, left)
    }

    /// How many such answers are given.
    fn answers(&self, like: impl Fn(Answer) -> bool) -> usize {
        let given = |what: &What| match *what {
            What::Sent { message: Message::Answer { answer, .. }, .. } => like(answer),
            _ => false,
        };
        self.events().filter(|&event| given(self.what(event))).count()
    }

    /// The requests with which stabilizations begin.
    fn stabilizations(&self) -> impl Iterator<Item = &Query> {
        self.queries.iter().filter(|query| query.op == Some(Op::Stabilize) && query.ask == Ask::State)
    }

    /// The datagram that is put on its way in this event.
    fn datagram(&self, event: usize) -> Option<Datagram> {
        match *self.what(event) {
            What::Sent { from, to, message, fate: Fate::Due(_), answers } => {
                Some(Datagram { from, to, message, sent: event, answers })
            }
            _ => None,
        }
    }

    /// The datagram that arrives in this event.
    fn delivery(&self, event: usize) -> Option<Datagram> {
        let What::Delivered { datagram } = *self.what(event) else { return None };
        self.datagram(datagram)
    }

    /// The datagrams that arrive, each with the event in which it does.
    fn deliveries(&self) -> impl Iterator<Item = (Datagram, usize)> {
        self.events().filter_map(|event| Some((self.delivery(event)?, event)))
    }

    /// How often it comes to be so of the network that was not so before; the start may be the first time.
    fn begins(&self, so: impl Fn(&Snapshot) -> bool) -> usize {
        let so: Vec<_> = self.story.networks.iter().map(|network| so(&network.pointers)).collect();
        usize::from(so[0]) + so.windows(2).filter(|pair| !pair[0] && pair[1]).count()
    }
}
