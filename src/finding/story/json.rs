//! The JSON form of a story, whose schema is documented with the module [`story`](super).

use serde::{Serialize, Serializer};

use super::{Event, Network, Step, Story, What};
use crate::judge;
use crate::protocol::replica::{Answer, Ask, Message};
use crate::schedule::{self, Op};
use crate::truth::ident::Ident;
use crate::truth::snapshot::{self, Snapshot, SuccList};
use crate::world::Conditions;
use crate::world::network::Fate;

const FORMAT: u32 = 1;

impl Serialize for Story {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::of(self).serialize(serializer)
    }
}

#[derive(Serialize)]
struct Document {
    format: u32,
    target: String,
    verdict: Verdict,
    broken: Option<Broken>,
    irreparable: Option<usize>,
    assumptions: Assumptions,
    setup: Setup,
    given: String,
    executed: String,
    steps: Vec<StepForm>,
    events: Vec<EventForm>,
    networks: Vec<NetworkForm>,
    network: NetworkForm,
    settled: NetworkForm,
    proof: Option<String>,
}

#[derive(Serialize)]
struct Verdict {
    kind: &'static str,
    signature: Option<String>,
}

#[derive(Serialize)]
struct Broken {
    property: &'static str,
    source: &'static str,
    first: Option<usize>,
    for_good: Option<usize>,
}

#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "as in the library")]
struct Assumptions {
    failures: bool,
    base: Option<bool>,
    reliable: bool,
    prompt: bool,
    immediate: bool,
    rejoin: bool,
    late: u8,
    text: String,
}

#[derive(Serialize)]
struct Setup {
    ring: u8,
    circle: u8,
    list_len: u8,
    faults: bool,
}

#[derive(Serialize)]
struct StepForm {
    given: Option<OneStep>,
    executed: Option<OneStep>,
    after_schedule: bool,
    events: [usize; 2],
}

#[derive(Serialize)]
struct OneStep {
    text: String,
    op: &'static str,
    node: u8,
    via: Option<u8>,
    delay: u8,
    notice: u8,
}

#[derive(Serialize)]
struct EventForm {
    index: usize,
    step: usize,
    time: u64,
    network: usize,
    #[serde(flatten)]
    what: Kind,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Kind {
    Begin,
    Sent { from: u8, to: u8, message: MessageForm, due: Option<u64>, fate: &'static str, answers: Option<usize> },
    Delivered { datagram: usize },
    Discarded { datagram: usize },
    Unanswered { request: usize, cause: usize, why: &'static str },
    Unnoticed { request: usize, cause: usize, why: &'static str },
    Joined { node: u8, now: Pointers },
    Changed { node: u8, was: Pointers, now: Pointers },
    Failed { node: u8, was: Pointers },
    Left { node: u8 },
}

#[derive(Serialize)]
struct MessageForm {
    text: String,
    #[serde(flatten)]
    content: Content,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
enum Content {
    Request { ask: &'static str },
    Answer { answer: &'static str, list: Option<Vec<u8>>, prdc: Option<u8> },
    Notify,
}

#[derive(Serialize)]
struct Pointers {
    list: Vec<u8>,
    prdc: Option<u8>,
    saved: Option<u8>,
}

#[derive(Serialize)]
struct NetworkForm {
    nodes: Vec<Member>,
    rings: Vec<Vec<u8>>,
    broken: Vec<&'static str>,
    heals: bool,
}

#[derive(Serialize)]
struct Member {
    node: u8,
    #[serde(flatten)]
    pointers: Pointers,
    best: Option<u8>,
}

impl Document {
    fn of(story: &Story) -> Self {
        let Story { target, given, outcome, steps, events, networks, broken, irreparable } = story;
        let judge::Outcome { verdict, executed, assumptions, network, settled, proof } = outcome;
        let schedule::Setup { ring, circle, list_len, faults } = executed.setup;
        let judge::Assumptions { failures, base, reliable, prompt, immediate, conditions } = *assumptions;
        let Conditions { rejoin, late } = conditions;
        let text = assumptions.to_string();
        let judged = |pointers: &Snapshot| NetworkForm::of(&Network::of(target.version.rules(), *pointers));
        Self {
            format: FORMAT,
            target: target.to_string(),
            verdict: Verdict {
                kind: match verdict {
                    judge::Verdict::Ideal => "ideal",
                    judge::Verdict::Violated(_) => "violated",
                    judge::Verdict::Repairable(_) => "repairable",
                    judge::Verdict::Masked(_) => "masked",
                    judge::Verdict::Outside(_) => "outside",
                },
                signature: story.breach().map(|breach| format!("{target}/{breach}")),
            },
            broken: broken.map(|super::Broken { property, first, for_good }| Broken {
                property: property.name(),
                source: property.source(),
                first,
                for_good,
            }),
            irreparable: *irreparable,
            assumptions: Assumptions { failures, base, reliable, prompt, immediate, rejoin, late, text },
            setup: Setup { ring, circle, list_len, faults },
            given: given.to_string(),
            executed: executed.to_string(),
            steps: steps.iter().map(StepForm::of).collect(),
            events: events.iter().enumerate().map(|(index, event)| EventForm::of(story, index, event)).collect(),
            networks: networks.iter().map(NetworkForm::of).collect(),
            network: judged(network),
            settled: judged(settled),
            proof: proof.as_ref().map(ToString::to_string),
        }
    }
}

impl StepForm {
    fn of(step: &Step) -> Self {
        let Step { given, executed, after_schedule, events } = step;
        Self {
            given: given.map(OneStep::of),
            executed: executed.map(OneStep::of),
            after_schedule: *after_schedule,
            events: [events.start, events.end],
        }
    }
}

impl OneStep {
    fn of(step: schedule::Step) -> Self {
        let schedule::Step { op, node, contact, delay, notice } = step.canonical();
        Self {
            text: step.to_string(),
            op: op.name(),
            node: node.get(),
            via: (op == Op::Join).then(|| contact.get()),
            delay: delay.ticks(),
            notice: notice.ticks(),
        }
    }
}

impl EventForm {
    fn of(story: &Story, index: usize, event: &Event) -> Self {
        let Event { step, time, network, ref what } = *event;
        let what = match *what {
            What::Begin => Kind::Begin,
            What::Sent { from, to, message, fate, answers } => Kind::Sent {
                from: from.get(),
                to: to.get(),
                message: MessageForm::of(message),
                due: match fate {
                    Fate::Due(time) => Some(time),
                    Fate::NoReceiver | Fate::Lost => None,
                },
                fate: match fate {
                    Fate::Due(_) => "due",
                    Fate::NoReceiver => "no-receiver",
                    Fate::Lost => "lost",
                },
                answers,
            },
            What::Delivered { datagram } => Kind::Delivered { datagram },
            What::Discarded { datagram } => Kind::Discarded { datagram },
            What::Unanswered { request, cause } => Kind::Unanswered { request, cause, why: story.why(cause) },
            What::Unnoticed { request, cause } => Kind::Unnoticed { request, cause, why: story.why(cause) },
            What::Joined { node, now } => Kind::Joined { node: node.get(), now: Pointers::of(now) },
            What::Changed { node, was, now } => {
                Kind::Changed { node: node.get(), was: Pointers::of(was), now: Pointers::of(now) }
            }
            What::Failed { node, was } => Kind::Failed { node: node.get(), was: Pointers::of(was) },
            What::Left { node } => Kind::Left { node: node.get() },
        };
        Self { index, step, time, network, what }
    }
}

impl MessageForm {
    fn of(message: Message) -> Self {
        let content = match message {
            Message::Notify => Content::Notify,
            Message::Request { ask, .. } => Content::Request {
                ask: match ask {
                    Ask::Alive => "alive",
                    Ask::State => "state",
                    Ask::Successor => "successor",
                    Ask::Admit => "admit",
                },
            },
            Message::Answer { answer, .. } => {
                let (list, prdc) = match answer {
                    Answer::State { list, prdc } => (Some(numbers(list)), prdc.map(Ident::get)),
                    _ => (None, None),
                };
                let answer = match answer {
                    Answer::Alive => "alive",
                    Answer::State { .. } => "state",
                    Answer::NotMember => "not-member",
                    Answer::Refused => "refused",
                    Answer::Busy => "busy",
                };
                Content::Answer { answer, list, prdc }
            }
        };
        Self { text: message.to_string(), content }
    }
}

impl Pointers {
    fn of(pointers: snapshot::Pointers) -> Self {
        let snapshot::Pointers { list, prdc, saved } = pointers;
        Self { list: numbers(list), prdc: prdc.map(Ident::get), saved: saved.map(Ident::get) }
    }
}

impl NetworkForm {
    fn of(network: &Network) -> Self {
        let Network { pointers, broken, heals } = network;
        let node = |node: Ident| Member {
            node: node.get(),
            pointers: Pointers::of(*pointers.pointers(node)),
            best: pointers.best_succ(node).map(Ident::get),
        };
        Self {
            nodes: pointers.members().iter().map(node).collect(),
            rings: pointers.rings().into_iter().map(|ring| ring.into_iter().map(Ident::get).collect()).collect(),
            broken: broken.iter().map(|property| property.name()).collect(),
            heals: *heals,
        }
    }
}

fn numbers(list: SuccList) -> Vec<u8> {
    list.as_slice().iter().map(|x| x.get()).collect()
}
