//! Schedules that were judged wrongly, in the smallest form that showed it.

mod common;

use chord_fuzz::judge::{Breach, Options, Target, Verdict, run};
use chord_fuzz::protocol::replica::{Message, Nonce};
use chord_fuzz::schedule::{MAX_BYTES, Op, Schedule, Step};
use chord_fuzz::world::trace::Event;
use common::{Watch, bytes};

fn schedule(text: &str) -> Schedule {
    text.replace("; ", "\n").parse().expect(text)
}

/// Runs a schedule, and says which requests of nodes that still live have neither been answered nor come back as
/// unanswered although everything has arrived.
fn left_open(target: &str, schedule: &Schedule) -> (Verdict, Vec<Nonce>) {
    let target: Target = target.parse().expect("a target");
    let mut open = [None; 16];
    let mut watch = Watch(|event| match event {
        Event::Sent { from, message: Message::Request { nonce, .. }, .. } => open[from.index()] = Some(nonce),
        Event::Step(Step { op: Op::Fail, node, .. }) => open[node.index()] = None,
        Event::Received { at, message: Message::Answer { nonce, .. }, .. } | Event::Unanswered { at, nonce } => {
            open[at.index()].take_if(|asked| *asked == nonce);
        }
        _ => {}
    });
    let verdict = run(target, schedule, &Options::default(), &mut watch).verdict;
    (verdict, open.into_iter().flatten().collect())
}

/// At the end a candidate is decided on after everything has arrived, and not in the step after the last.
#[test]
fn what_happens_after_the_last_step_is_no_step() {
    let schedule = schedule("ring 2; join 1 via 0; stabilize 1; stabilize 0 delay 1");
    let (first, again) = common::replay("best2012".parse().expect("a target"), &schedule, &Options::default());
    for again in again {
        assert_eq!(again, first);
    }
}

/// The answer to a request of 2's earlier life, which arrives while 2 joins again, is not the one that 2 waits for. Taken
/// for it, it hid the joiner from the failure assumption, which then let both its successors fail.
#[test]
fn an_answer_to_an_earlier_life_says_nothing_about_the_later() {
    let schedule = schedule(
        "circle 12; ring 6; stabilize 2 delay 3; fail 2; stabilize 0; join 2 via 0 delay 3; stabilize 0; \
         stabilize 10; fail 4; stabilize 0; stabilize 0; fail 6",
    );
    assert_eq!(left_open("tse2017", &schedule), (Verdict::Ideal, vec![]));
}

/// The request of 14's earlier life arrives at the waiting 0 after that of its later life, and does not take its place.
#[test]
fn a_request_of_an_earlier_life_does_not_displace_one_of_the_later() {
    let text = "circle 16; ring 3; join 14 via 4; stabilize 14; stabilize 14 delay 5; fail 14; join 14 via 4; \
                stabilize 14 delay 1; stabilize 0 delay 1";
    assert_eq!(left_open("tse2017", &schedule(text)), (Verdict::Ideal, vec![]));
    // 14 would then be busy for ever, and the decision of 4 on it go on for ever.
    assert_eq!(left_open("tse2017", &schedule(&format!("{text}; stabilize 4"))), (Verdict::Ideal, vec![]));
}

/// Found by the sanitizer's campaign of `claims`. 0 is still to be told that it is admitted when 2, whose second successor it is,
/// learns that its first, 3, is alive. Then 3 may not fail: 2 would be left with a node that is no member yet.
#[test]
fn who_is_still_joining_is_nobodys_only_successor() {
    let waiting = |steps| "stabilize 1; ".repeat(steps);
    let schedule = schedule(&format!(
        "circle 6; ring 3; fail 0; update 4; join 0 via 4 delay 8; join 1 via 4; join 3 via 2; join 5 via 4; {}\
         stabilize 2 delay 2; stabilize 3; {}fail 3",
        waiting(14),
        waiting(5),
    ));
    assert_eq!(left_open("claims", &schedule), (Verdict::Ideal, vec![]));
}

/// Spec section 5: a query never silently hangs.
#[test]
fn no_request_of_a_living_node_is_left_open() {
    for target in ["sigcomm2001", "ccr2012", "ccr2012+answer", "best2012", "tse2017"] {
        let mut rng = fastrand::Rng::with_seed(7);
        for _ in 0..3_000 {
            let mut bytes = bytes(&mut rng, MAX_BYTES);
            // Delays, and no faults.
            bytes[0] = bytes[0] & !0x10 | 0x08;
            let schedule = Schedule::decode(&bytes);
            let (verdict, open) = left_open(target, &schedule);
            assert!(verdict != Verdict::Ideal || open.is_empty(), "{target}: {open:x?} of\n{schedule}");
        }
    }
}

/// When everything has arrived, no required property is broken; maintenance then makes two rings of the network. That is
/// the protocol's doing. (While 3 joins nothing is judged, so that the appendages' loss of 0 goes unseen.)
#[test]
fn a_network_that_maintenance_breaks_has_not_stalled() {
    let schedule = schedule(
        "circle 7; join 6 via 0; stabilize 6; join 1 via 0; stabilize 0; join 4 via 0; stabilize 4; reconcile 6; \
         join 3 via 0 delay 5; reconcile 1; join 5 via 0; fail 0; fail 4; join 4 via 1; update 6; join 0 via 6",
    );
    let (verdict, _) = left_open("sigcomm2001", &schedule);
    assert_ne!(verdict, Verdict::Violated(Breach::Stalled));
}

/// As given, faults are executed whether or not they are allowed; the executed schedule must say so.
#[test]
fn faults_executed_as_given_are_encoded_as_faults() {
    let options = Options { as_given: true, ..Options::default() };
    let (first, again) = common::replay("ccr2012".parse().expect("a target"), &schedule("faults; lose 0"), &options);
    for again in again {
        assert_eq!(again, first);
    }
}
