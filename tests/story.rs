//! Stories: they tell what the trace of the same run tells, and all that they refer to is there.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chord_fuzz::finding::story::{Broken, Story, What};
use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::protocol::replica::Message;
use chord_fuzz::schedule::{MAX_BYTES, Op, Schedule};
use chord_fuzz::truth::ident::Ident;
use chord_fuzz::truth::property::Property;
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::Conditions;
use chord_fuzz::world::network::Fate;
use chord_fuzz::world::trace::{self, Observer};
use common::bytes;
use serde_json::{Value, json};

fn target(name: &str) -> Target {
    name.parse().unwrap()
}

fn story(name: &str, text: &str) -> Story {
    let options = Options { faults: true, ..Options::default() };
    Story::of(target(name), &text.parse().unwrap(), &options)
}

/// Random stories of all targets.
static RANDOM: LazyLock<Vec<Story>> = LazyLock::new(|| {
    let mut rng = fastrand::Rng::with_seed(11);
    let mut random = |target| {
        let conditions = Conditions { rejoin: rng.bool(), late: [0, 5][rng.usize(..2)] };
        let options = Options { faults: rng.bool(), conditions, ..Options::default() };
        Story::of(target, &Schedule::decode(&bytes(&mut rng, MAX_BYTES)), &options)
    };
    Target::all().into_iter().flat_map(|target| [target; 100]).map(&mut random).collect()
});

fn random(check: impl FnMut(&Story)) {
    RANDOM.iter().for_each(check);
}

/// The trace of a run with the network after each event, and the times at which it waited.
#[derive(Default)]
struct Traced {
    lines: Vec<String>,
    network: Option<Snapshot>,
}

impl Observer for Traced {
    fn observe(&mut self, event: impl FnOnce() -> trace::Event) {
        let event = event();
        match (&event, &mut self.network) {
            (trace::Event::Start(_, start), network) => *network = Some(**start),
            (trace::Event::Changed { node, now }, Some(network)) => network.set(*node, *now),
            _ => {}
        }
        if !matches!(event, trace::Event::Start(..) | trace::Event::Step(_)) {
            self.lines.push(format!("{event} [{}]", self.network.unwrap()));
        }
    }
}

/// The lines of the trace that a story stands for.
fn retold(story: &Story) -> Vec<String> {
    let sent = |datagram: usize| match story.events[datagram].what {
        What::Sent { from, to, message, .. } => (from, to, message),
        ref other => panic!("{datagram}: {other:?}"),
    };
    let mut lines = Vec::new();
    for (number, event) in story.events.iter().enumerate() {
        let event = match event.what {
            What::Sent { from, to, message, fate, .. } => trace::Event::Sent { from, to, message, fate },
            What::Delivered { datagram } => {
                let (from, at, message) = sent(datagram);
                trace::Event::Received { at, from, message }
            }
            What::Unanswered { request, .. } => match sent(request) {
                (at, _, Message::Request { nonce, .. }) => trace::Event::Unanswered { at, nonce },
                other => panic!("{other:?}"),
            },
            What::Unnoticed { request, .. } => match sent(request) {
                (at, _, Message::Request { nonce, .. }) => trace::Event::Unnoticed { at, nonce },
                other => panic!("{other:?}"),
            },
            What::Joined { node, now } | What::Changed { node, now, .. } => {
                trace::Event::Changed { node, now: Some(now) }
            }
            What::Failed { node, .. } => trace::Event::Changed { node, now: None },
            What::Begin | What::Discarded { .. } | What::Left { .. } => continue,
        };
        lines.push(format!("{event} [{}]", story.network(number).pointers));
    }
    lines
}

/// The datagrams that arrive are those that the trace says, each in the network in which it says it.
#[test]
fn a_story_is_its_trace_retold() {
    let mut rng = fastrand::Rng::with_seed(12);
    for target in Target::all() {
        for _ in 0..100 {
            let schedule = Schedule::decode(&bytes(&mut rng, MAX_BYTES));
            let conditions = Conditions { rejoin: rng.bool(), late: [0, 5][rng.usize(..2)] };
            let options = Options { faults: rng.bool(), conditions, ..Options::default() };
            let mut traced = Traced::default();
            let outcome = run(target, &schedule, &options, &mut traced);
            let story = Story::of(target, &schedule, &options);
            assert_eq!(retold(&story), traced.lines, "{target}:\n{schedule}");
            assert_eq!(story.outcome.verdict, outcome.verdict);
        }
    }
}

#[test]
fn steps_and_events_are_numbered_through() {
    let mut nothing = 0;
    random(|story| {
        let mut next = 0;
        for (number, step) in story.steps.iter().enumerate() {
            assert_eq!(step.events.start, next);
            assert_eq!(story.events[next].what, What::Begin);
            for event in &story.events[step.events.clone()] {
                assert_eq!(event.step, number);
            }
            assert_eq!(story.events[step.events.clone()].iter().filter(|e| e.what == What::Begin).count(), 1);
            next = step.events.end;
            assert_eq!(step.after_schedule, step.given.is_none() && number > 0);
            let comes_to_nothing = step.given.is_some() && step.executed.is_none();
            nothing += u32::from(comes_to_nothing);
            assert!(!comes_to_nothing || step.events.len() == 1);
        }
        assert_eq!(next, story.events.len());
        assert!(story.events.is_sorted_by_key(|event| event.time));
        assert!(story.events.is_sorted_by_key(|event| event.network));
        // Up to where the run stops.
        let given: Vec<_> = story.steps.iter().filter_map(|step| step.given).collect();
        assert!(story.given.steps.starts_with(&given));
        let executed: Vec<_> = story.steps.iter().filter_map(|step| step.executed).collect();
        assert!(executed.starts_with(&story.outcome.executed.steps));
    });
    assert!(nothing > 0, "a case of a step that comes to nothing");
}

/// What is sent and due arrives when it is due, or is discarded as its receiver goes, and nothing else does.
#[test]
fn every_datagram_has_one_fate() {
    let (mut discarded, mut late) = (0, 0);
    random(|story| {
        let mut under_way = BTreeMap::new();
        for (number, event) in story.events.iter().enumerate() {
            let mut gone = None;
            match event.what {
                What::Sent { fate: Fate::Due(time), to, .. } => {
                    assert!(time >= event.time);
                    under_way.insert(number, (time, to));
                }
                What::Delivered { datagram } => {
                    let (due, _) = under_way.remove(&datagram).expect("it was under way");
                    assert_eq!(due, event.time, "{datagram} in {number}");
                    late += u32::from(story.events[datagram].step != event.step);
                }
                What::Discarded { datagram } => {
                    let (_, to) = under_way.remove(&datagram).expect("it was under way");
                    assert!(!story.network(number).pointers.live(to));
                    discarded += 1;
                }
                What::Failed { node, .. } | What::Left { node } => gone = Some(node),
                _ => {}
            }
            assert_eq!(story.in_flight(number), under_way.keys().copied().collect::<Vec<_>>());
            if let Some(gone) = gone {
                let queued = under_way.values().filter(|(_, to)| *to == gone).count();
                let next = story.events[number + 1..].iter().take_while(|e| matches!(e.what, What::Discarded { .. }));
                assert_eq!(next.count(), queued, "what was on its way to {gone} is lost");
            }
        }
    });
    assert!(discarded > 0 && late > 0, "{discarded} {late}");
}

#[test]
fn answers_refer_to_their_requests() {
    random(|story| {
        for (number, event) in story.events.iter().enumerate() {
            let What::Sent { from, to, message, answers, .. } = event.what else { continue };
            let Message::Answer { nonce, .. } = message else {
                assert_eq!(answers, None);
                continue;
            };
            let request = answers.unwrap();
            assert!(request < number);
            let What::Sent { from: asker, to: asked, message: Message::Request { nonce: asking, .. }, .. } =
                story.events[request].what
            else {
                panic!("{request}");
            };
            assert_eq!((asker, asked, asking), (to, from, nonce));
        }
    });
}

#[test]
fn a_cause_comes_before_what_it_causes() {
    let mut reasons = BTreeMap::new();
    random(|story| {
        for (number, event) in story.events.iter().enumerate() {
            let What::Unanswered { request, cause } = event.what else { continue };
            assert!(request <= cause && cause < number);
            let What::Sent { to: asked, .. } = story.events[request].what else { panic!("{request}") };
            match story.events[cause].what {
                What::Sent { fate: Fate::NoReceiver, .. } => {
                    assert_eq!(cause, request);
                    assert!(!story.network(request).pointers.live(asked));
                }
                What::Sent { fate: Fate::Lost, answers, .. } => {
                    assert!(cause == request || answers == Some(request));
                    assert!(story.outcome.executed.setup.faults);
                }
                What::Failed { node, .. } | What::Left { node } => assert_eq!(node, asked),
                ref other => panic!("{other:?}"),
            }
            *reasons.entry(story.why(cause)).or_insert(0) += 1;
        }
    });
    let told: Vec<_> = reasons.keys().copied().collect();
    let expected = [
        "failed before it answered",
        "no such address",
        "the answer was lost",
        "the request was lost",
        "went away before it answered",
    ];
    assert_eq!(told, expected, "{reasons:?}");
}

/// The definitions, by the networks after each step.
#[test]
fn where_it_broke() {
    let (mut masked, mut healed) = (0, 0);
    random(|story| {
        let after: Vec<_> = (0..story.steps.len()).map(|step| story.after(step)).collect();
        match story.irreparable {
            Some(step) => {
                assert!(after[step..].iter().all(|network| !network.heals));
                assert!(after[step - 1].heals);
            }
            None => assert!(after.last().unwrap().heals),
        }
        healed += u32::from(after[..story.irreparable.unwrap_or(after.len())].iter().any(|network| !network.heals));
        let Some(Broken { property, first, for_good }) = story.broken else {
            assert_eq!(story.breach(), None);
            return;
        };
        if property == Property::Invariant {
            return;
        }
        let holds: Vec<_> = after.iter().map(|network| property.holds(&network.pointers)).collect();
        assert_eq!(first, holds.iter().position(|holds| !holds));
        assert_eq!(for_good, holds.iter().rposition(|holds| *holds).map(|last| last + 1).filter(|s| *s < holds.len()));
        masked += u32::from(first != for_good);
    });
    assert!(masked > 0 && healed > 0, "a property that came back: {masked}, a network that did: {healed}");
}

/// Random bytes with delays. They are BLAKE3's, which no release of a crate changes.
fn delayed(seed: u32) -> Schedule {
    let mut bytes = [0; MAX_BYTES];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes[0] = bytes[0] & !0x10 | 0x08;
    Schedule::decode(&bytes)
}

/// The invariant is judged on the network in effect, which is none of the story's. Among random runs, the first one that
/// breaks it there and not in the network as it is.
#[test]
fn the_invariant_breaks_in_the_last_step() {
    let story = Story::of(target("tse2017-busy"), &delayed(19_890), &Options::default());
    let broken = Broken { property: Property::Invariant, first: Some(95), for_good: Some(95) };
    assert_eq!((story.broken, story.steps.len()), (Some(broken), 96));
    assert!(Property::Invariant.holds(&story.after(95).pointers));
    assert!(!Property::Invariant.holds(&story.outcome.network));
}

/// Nothing required is broken when all has arrived, but maintenance breaks it. Among random runs, the first such one.
#[test]
fn maintenance_may_break_what_no_step_breaks() {
    let story = Story::of(target("sigcomm2001"), &delayed(27_778), &Options::default());
    let broken = Broken { property: Property::AtMostOneRing, first: None, for_good: None };
    assert_eq!((story.broken, story.irreparable), (Some(broken), Some(97)));
    assert!(!Property::AtMostOneRing.holds(&story.outcome.settled));
}

/// Z12's two rings, as found: each survivor is its own second successor.
#[test]
fn the_artifact_with_two_rings() {
    let bytes = include_bytes!("../artifacts/ccr2012/at-most-one-ring");
    let story = Story::of(target("ccr2012"), &Schedule::decode(bytes), &Options::default());
    let broken = Broken { property: Property::AtMostOneRing, first: Some(13), for_good: Some(13) };
    assert_eq!((story.broken, story.irreparable), (Some(broken), Some(13)));
    assert_eq!(story.steps[13].executed.unwrap().op, Op::Fail);
    assert_eq!(story.after(13).pointers.rings(), [[Ident::new(0)], [Ident::new(2)]]);
    assert_eq!(story.after(13).broken[0], Property::AtMostOneRing);
}

#[test]
fn what_comes_after_the_schedule_is_marked() {
    let text = "circle 4\nring 2\nlists 2\njoin 1 via 0\nstabilize 1\nstabilize 0 delay 5\n";
    let story = story("best2012", text);
    let marks: Vec<_> =
        story.steps.iter().map(|s| (s.given.is_some(), s.executed.map(|s| s.op), s.after_schedule)).collect();
    assert_eq!(
        marks,
        [
            (false, None, false),
            (true, Some(Op::Join), false),
            (true, Some(Op::Stabilize), false),
            (true, Some(Op::Stabilize), false),
            (false, None, true),
            (false, Some(Op::Adopt), true),
        ]
    );
    let times: Vec<_> = story.steps.iter().map(|step| story.events[step.events.end - 1].time).collect();
    assert_eq!(times, [0, 0, 1, 2, 12, 12], "the wait takes the request's delay and the answer's");
}

/// The JSON form, read back and compared with what it is made of.
#[test]
fn json_has_what_it_says() {
    random(|story| {
        let json = serde_json::to_value(story).unwrap();
        assert_eq!(json["format"], 1);
        assert_eq!(json["target"], story.target.to_string());
        assert_eq!(json["executed"], story.outcome.executed.to_string());
        let array = |key: &str| json[key].as_array().unwrap();
        let (steps, events, networks) = (array("steps"), array("events"), array("networks"));
        assert_eq!(
            [steps.len(), events.len(), networks.len()],
            [story.steps.len(), story.events.len(), story.networks.len()]
        );
        let node = |network: &Value, node: &Value| {
            let nodes = networks[index(network)]["nodes"].as_array().unwrap();
            nodes.iter().find(|x| x["node"] == *node).cloned()
        };
        let mut last = json!(0);
        for (number, event) in events.iter().enumerate() {
            assert_eq!(event["index"], number);
            let step = &steps[index(&event["step"])];
            assert!((index(&step["events"][0])..index(&step["events"][1])).contains(&number));
            let kind = event["kind"].as_str().unwrap();
            match kind {
                "delivered" | "discarded" => {
                    let sent = &events[..number][index(&event["datagram"])];
                    assert_eq!((&sent["kind"], &sent["fate"]), (&json!("sent"), &json!("due")));
                }
                "unanswered" | "unnoticed" => {
                    assert_eq!(events[..number][index(&event["request"])]["message"]["type"], "request");
                }
                "joined" | "changed" => {
                    let now = node(&event["network"], &event["node"]).unwrap();
                    for pointer in ["list", "prdc", "saved"] {
                        assert_eq!(now[pointer], event["now"][pointer]);
                    }
                }
                "failed" => assert_eq!(node(&event["network"], &event["node"]), None),
                "begin" | "sent" | "left" => {}
                _ => panic!("{kind}"),
            }
            if matches!(kind, "changed" | "failed") {
                let was = node(&last, &event["node"]).unwrap();
                for pointer in ["list", "prdc", "saved"] {
                    assert_eq!(was[pointer], event["was"][pointer]);
                }
            }
            let changes = matches!(kind, "joined" | "changed" | "failed");
            assert_eq!(index(&event["network"]), index(&last) + usize::from(changes));
            last = event["network"].clone();
        }
    });
}

fn index(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}
