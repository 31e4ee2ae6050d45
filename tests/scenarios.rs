//! What users of Chord implementations report on public trackers, each with its expected outcome. A test is named after
//! the project and the number of the report.

mod common;

use chord_fuzz::judge::{Breach, Options, Outcome, Target, Verdict, run};
use chord_fuzz::protocol::list::{self, ListReplica};
use chord_fuzz::protocol::model::{FLUSH_FIRST, apply, settle};
use chord_fuzz::protocol::replica::{Answer, Ask, Event as Input, Message, Outbox, Replica, Task};
use chord_fuzz::protocol::tse2017::{self, TseReplica};
use chord_fuzz::protocol::version::{Checks, Rules, Version};
use chord_fuzz::schedule::{MAX_BYTES, Op, Schedule};
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::property::{Property, ideal, ideal_network};
use chord_fuzz::truth::snapshot::{Pointers, Snapshot, SuccList};
use chord_fuzz::world::trace::Event;
use common::{Watch, bytes};

fn id(n: u8) -> Ident {
    Ident::new(n)
}

/// A member's pointers, these successors and this predecessor.
fn pointers(succs: &[u8], prdc: Option<u8>) -> Pointers {
    Pointers { list: SuccList::of(succs.iter().copied().map(id)), prdc: prdc.map(id), saved: None }
}

/// Executes the lines of a text, here separated by semicolons, as they are given.
fn as_given(target: &str, text: &str) -> (Outcome, Vec<Event>) {
    let schedule = text.replace("; ", "\n").parse().expect(text);
    let mut events = Vec::new();
    let options = Options { as_given: true, ..Options::default() };
    (run(target.parse().expect("a target"), &schedule, &options, &mut events), events)
}

fn verdict(target: &str, text: &str) -> Verdict {
    as_given(target, text).0.verdict
}

/// Every way to configure a replica of the list family.
fn list_configs() -> impl Iterator<Item = list::Config> {
    let checks = [false, true].map(|on| Checks { join: on, adopt: on, update: on, reconcile: on, answer: on });
    checks.into_iter().flat_map(|checks| [false, true].map(|eager| list::Config { checks, eager }))
}

fn tse_configs() -> impl Iterator<Item = tse2017::Config> {
    (2..=3).map(|list_len| tse2017::Config { list_len, circle: 8, busy: true })
}

/// What the replica wants sent upon this event.
fn handle<R: Replica>(replica: &mut R, input: Input) -> Vec<(Ident, Message)> {
    let mut outbox = Outbox::new();
    replica.handle(input, &mut outbox);
    outbox.to_vec()
}

/// What the replica answers when this node wants to join after it.
fn admits<R: Replica>(replica: &mut R, from: Ident) -> bool {
    let message = Message::Request { nonce: 7, ask: Ask::Admit };
    match handle(replica, Input::Received { from, message })[..] {
        [(to, Message::Answer { nonce: 7, answer })] if to == from => matches!(answer, Answer::State { .. }),
        ref other => panic!("no answer: {other:?}"),
    }
}

/// Six nodes in an ideal ring, of which 10 and 0, neighbours across zero, fail.
const SIX: &str = "circle 12; ring 6";

#[test]
fn chord_grpc_156_lists_of_one_are_stuck_when_two_neighbours_stop_at_once() {
    for version in [Version::SIGCOMM2001, Version::CCR2012, Version::BEST2012] {
        let ring = ideal_network(12, 2, (0..6).map(|i| id(2 * i)).collect());
        let mut network = ring;
        for x in ring.members().iter() {
            let &Pointers { list, prdc, .. } = ring.pointers(x);
            network.set(x, Some(Pointers { list: SuccList::of(list.first()), prdc, saved: None }));
        }
        network.set(id(0), None);
        network.set(id(10), None);
        assert!(settle(version.rules(), &mut network, FLUSH_FIRST) && !ideal(&network), "{version}");
        assert_eq!(network.best_succ(id(8)), None, "{version}: {network}");
    }
}

#[test]
fn chord_grpc_156_longer_lists_heal_when_the_assumption_holds() {
    for (target, text) in [
        ("sigcomm2001", "fail 10; update 8; reconcile 8; fail 0"),
        ("ccr2012", "fail 10; update 8; reconcile 8; fail 0"),
        ("best2012", "fail 10; update 8; fail 0"),
        ("tse2017", "fail 10; stabilize 8; stabilize 8; fail 0"),
        // Lists of three survive both at once.
        ("tse2017", "lists 3; fail 10; fail 0"),
        ("tse2017", "lists 3; fail 0; fail 10"),
    ] {
        let (outcome, _) = as_given(target, &format!("{SIX}; {text}"));
        assert!(outcome.assumptions.hold(), "{target}: {text}");
        assert_eq!(outcome.verdict, Verdict::Ideal, "{target}: {text}");
        assert_eq!(outcome.settled.members().iter().map(Ident::get).collect::<Vec<_>>(), [2, 4, 6, 8]);
    }
}

#[test]
fn chord_grpc_156_otherwise_the_assumption_is_reported_as_broken() {
    for version in Version::PUBLISHED.map(|version| version.to_string()) {
        for text in ["fail 10; fail 0", "fail 0; fail 10"] {
            let text = format!("{SIX}; {text}");
            let (outcome, _) = as_given(&version, &text);
            assert!(matches!(outcome.verdict, Verdict::Outside(_)), "{version}: {text}: {:?}", outcome.verdict);
            assert!(!outcome.assumptions.failures, "{version}: {text}");
        }
    }
}

#[test]
fn chord_grpc_66_a_taken_identifier_is_refused() {
    let refuses = |replica: &mut dyn FnMut(Ident) -> bool| [0, 2].map(|taken| replica(id(taken))) == [false; 2];
    for config in list_configs() {
        let mut replica = ListReplica::founder(config, id(0), pointers(&[2, 4], Some(4)));
        assert!(refuses(&mut |from| admits(&mut replica, from)), "{config:?}");
    }
    for config in tse_configs() {
        let mut replica = TseReplica::founder(config, id(0), pointers(&[2, 4], Some(4)));
        assert!(refuses(&mut |from| admits(&mut replica, from)), "{config:?}");
    }
}

#[test]
fn chord_grpc_66_of_two_joins_with_one_identifier_one_is_a_member() {
    for version in Version::PUBLISHED.map(|version| version.to_string()) {
        // The second join of 3 comes while the first is under way, through another contact, and is no join.
        let (outcome, events) =
            as_given(&version, "circle 8; ring 3; join 3 via 2 delay 2; join 3 via 0; join 3 via 2");
        let admissions =
            |event: &&Event| matches!(event, Event::Sent { message: Message::Request { ask: Ask::Admit, .. }, .. });
        assert_eq!(events.iter().filter(admissions).count(), 1, "{version}");
        let joined = |event: &&Event| matches!(event, Event::Changed { node, now: Some(_) } if *node == id(3));
        assert_eq!(events.iter().filter(joined).count(), 1, "{version}");
        assert_eq!(outcome.verdict, Verdict::Ideal, "{version}");
        let members = as_given(&version, "circle 8; ring 3; join 2 via 0").0.network.members();
        assert_eq!(members, [0, 2, 4].map(id).into_iter().collect(), "{version}");
    }
}

#[test]
fn chord_grpc_224_a_node_that_is_its_own_successor_admits_all_others() {
    for n in (0..8).map(id) {
        let alone = Pointers { list: SuccList::of([n; 3]), prdc: Some(n), saved: None };
        let others: IdentSet = (0..8).map(id).filter(|x| *x != n).collect();
        for config in list_configs() {
            let mut replica = ListReplica::founder(config, n, alone);
            assert_eq!((0..8).map(id).filter(|x| admits(&mut replica, *x)).collect::<IdentSet>(), others);
        }
        for config in tse_configs() {
            let mut replica = TseReplica::founder(config, n, alone);
            assert_eq!((0..8).map(id).filter(|x| admits(&mut replica, *x)).collect::<IdentSet>(), others);
        }
    }
}

#[test]
fn rings_network_200_two_fair_rounds_make_a_ring_of_three() {
    for version in [Version::SIGCOMM2001, Version::CCR2012, Version::BEST2012] {
        let mut network = Snapshot::empty(6, 2);
        network.set(id(5), Some(pointers(&[4], Some(4))));
        network.set(id(4), Some(pointers(&[5], Some(5))));
        network.set(id(1), Some(pointers(&[4], None)));
        for turn in [FLUSH_FIRST; 2].concat() {
            for node in network.members().iter() {
                for kind in turn {
                    apply(version.rules(), &mut network, kind(node));
                }
            }
        }
        let succ = |n| network.pointers(id(n)).list.first().map(Ident::get);
        assert_eq!([5, 1, 4].map(succ), [Some(1), Some(4), Some(5)], "{version}: {network}");

        // Over messages, with the circle turned so that 4, 5, 1 are 0, 1, 3; the first is the founder.
        let schedule: Schedule =
            "circle 6\njoin 1 via 0\nstabilize 1\nstabilize 0\nadopt 0\njoin 3 via 1".parse().unwrap();
        let mut nobody = ();
        let mut world = common::list_world(version, schedule.setup, &mut nobody);
        for step in schedule.steps {
            world.begin(step);
            while world.advance() {}
        }
        assert_eq!([0, 1, 3].map(|n| world.now().best_succ(id(n)).unwrap().get()), [1, 0, 0], "{version}");
        (0..2).for_each(|_| world.round());
        assert_eq!([0, 1, 3].map(|n| world.now().best_succ(id(n)).unwrap().get()), [1, 3, 0], "{version}");
    }
}

#[test]
fn rings_network_774_three_successors_dead_at_once_are_a_broken_assumption() {
    // Without the stable base too, so that it is the failure assumption that speaks.
    for target in ["tse2017", "tse2017-base"] {
        let text = format!("{SIX}; lists 3; fail 2; fail 4; fail 6");
        assert!(matches!(verdict(target, &text), Verdict::Outside(_)));
        let schedule = text.replace("; ", "\n").parse().unwrap();
        let repaired = run(target.parse().unwrap(), &schedule, &Options::default(), &mut ());
        assert_eq!(repaired.verdict, Verdict::Ideal, "{target}");
        assert_eq!(repaired.executed.steps[..2], schedule.steps[..2], "{target}: two are permitted");
        assert_ne!(repaired.executed.steps[2], schedule.steps[2], "{target}: the third is not");
    }
}

#[test]
fn nkn_160_a_join_through_a_dead_founder_fails_cleanly() {
    for version in Version::PUBLISHED.map(|version| version.to_string()) {
        let eight = "circle 16; ring 6; join 1 via 0; join 3 via 2; fail 0; join 5 via 0";
        let (outcome, events) = as_given(&version, eight);
        assert_eq!(outcome.verdict, Verdict::Ideal, "{version}");
        assert!(!outcome.network.live(id(5)), "{version}: {}", outcome.network);
        // Nothing follows: nothing is on its way.
        let [step, sent, told] = &events[events.len() - 3..] else { unreachable!() };
        assert_eq!(step.to_string(), "step join 5 via 0", "{version}");
        assert_eq!(sent.to_string(), "5 -> 0: #10001 may I join after you? (nobody there)", "{version}");
        assert_eq!(told.to_string(), "5: #10001 will not be answered", "{version}");
        // Nothing is left of it, so that it may try again.
        let (outcome, _) = as_given(&version, &format!("{eight}; join 5 via 4"));
        assert_eq!(outcome.verdict, Verdict::Ideal, "{version}");
        assert!(outcome.network.live(id(5)), "{version}: {}", outcome.network);
    }
}

/// Has the replica do the task, and answers all it asks with an empty successor list.
fn answer_with_nothing<R: Replica>(mut replica: R, task: Task, prdc: Option<Ident>) {
    let mut sent = handle(&mut replica, Input::Begin(task));
    for _ in 0..8 {
        let Some((from, nonce)) = sent.iter().find_map(|(to, message)| match message {
            Message::Request { nonce, .. } => Some((*to, *nonce)),
            _ => None,
        }) else {
            break;
        };
        let answer = Answer::State { list: SuccList::default(), prdc };
        sent = handle(&mut replica, Input::Received { from, message: Message::Answer { nonce, answer } });
    }
    assert!(replica.idle(), "{task:?} ends");
    if let Some(pointers) = replica.pointers() {
        assert!(pointers.list.first().is_some(), "{task:?}: every member has a successor");
    }
}

/// The tasks and answers of [`answer_with_nothing`], for a founder, and for a newcomer that joins.
fn answer_everything_with_nothing<R: Replica>(config: R::Config) {
    for prdc in [None, Some(id(1)), Some(id(6))] {
        for saved in [None, Some(id(1))] {
            for task in [Task::Stabilize, Task::Adopt, Task::Reconcile, Task::Update, Task::Flush] {
                let founder = R::founder(config, id(0), Pointers { saved, ..pointers(&[2, 4], Some(6)) });
                answer_with_nothing(founder, task, prdc);
            }
        }
        answer_with_nothing(R::newcomer(config, id(0), 1), Task::Join(id(6)), prdc);
    }
}

#[test]
fn rings_network_604_an_empty_successor_list_does_no_harm_to_the_list_family() {
    list_configs().for_each(answer_everything_with_nothing::<ListReplica>);
}

#[test]
fn rings_network_604_an_empty_successor_list_does_no_harm_to_tse2017() {
    tse_configs().for_each(answer_everything_with_nothing::<TseReplica>);
}

#[test]
fn rings_network_604_a_notification_by_oneself_changes_nothing_on_a_ring() {
    let itself = Input::Received { from: id(0), message: Message::Notify };
    let ring = pointers(&[2, 4], Some(6));
    for config in list_configs() {
        let mut replica = ListReplica::founder(config, id(0), ring);
        assert_eq!((handle(&mut replica, itself), replica.pointers()), (vec![], Some(ring)), "{config:?}");
    }
    for config in tse_configs() {
        let mut replica = TseReplica::founder(config, id(0), ring);
        // It asks whether its predecessor is alive, as for any notification that is no better.
        assert_eq!((handle(&mut replica, itself).len(), replica.pointers()), (1, Some(ring)), "{config:?}");
    }
}

#[test]
fn rings_network_604_nobody_notifies_itself_but_in_a_ring_of_one() {
    for version in Version::PUBLISHED {
        let mut rng = fastrand::Rng::with_seed(8);
        let mut network = Snapshot::empty(16, 2);
        let mut alone = 0;
        let mut watch = Watch(|event| match event {
            Event::Start(_, start) => network = *start,
            Event::Changed { node, now } => network.set(node, now),
            Event::Sent { from, to, message: Message::Notify, .. } if from == to => {
                assert_eq!(network.best_succ(from), Some(from), "{version}: {network}");
                alone += 1;
            }
            _ => {}
        });
        for _ in 0..1_000 {
            let schedule = Schedule::decode(&bytes(&mut rng, MAX_BYTES));
            let _ = run(Target::of(version), &schedule, &Options::default(), &mut watch);
        }
        // The stable base keeps every ring larger.
        assert_eq!(alone > 0, matches!(version.rules(), Rules::List { .. }), "{version}");
    }
}

#[test]
fn molly_8_the_papers_steps_break_ordered_ring() {
    let steps = "join 1 via 0; stabilize 1; stabilize 0; join 3 via 2; stabilize 3; stabilize 2; join 5 via 4; \
                 stabilize 5; stabilize 4; fail 1; fail 3; fail 5; update 0; update 2; update 4";
    let (outcome, _) = as_given("ccr2012", &format!("circle 6; ring 3; {steps}"));
    assert_eq!(outcome.verdict, Verdict::Violated(Breach::Broken(Property::OrderedRing)));
    assert!(outcome.assumptions.hold() && outcome.assumptions.immediate);
    // Found at the third failure, before the updates.
    assert_eq!(outcome.executed.steps.last().map(|step| (step.op, step.node)), Some((Op::Fail, id(5))));
    assert_eq!(outcome.network.to_string(), "0: 1/4/5, 2: 3/0/1, 4: 5/2/3");
    assert_eq!([0, 4, 2].map(|n| outcome.settled.best_succ(id(n)).unwrap().get()), [4, 2, 0], "the wrong way round");
}
