//! The table of the facts.

use super::Fact;
use super::reading::{Datagram, Query};
use crate::finding::story::What;
use crate::protocol::replica::{Answer, Ask, Message};
use crate::protocol::version::Rules;
use crate::schedule::Op;
use crate::truth::ident::{Ident, between};
use crate::truth::snapshot::Snapshot;

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
