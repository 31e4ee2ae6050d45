//! What a replica does while an operation of its own is under way. Without delays there is no such time, so that the
//! comparison with the model does not see it.

use chord_fuzz::protocol::list::{self, ListReplica};
use chord_fuzz::protocol::replica::{Answer, Ask, Event, Message, Nonce, Outbox, Replica, Task};
use chord_fuzz::protocol::tse2017::{self, TseReplica};
use chord_fuzz::protocol::version::Checks;
use chord_fuzz::truth::ident::Ident;
use chord_fuzz::truth::snapshot::{Pointers, SuccList};

fn id(n: u8) -> Ident {
    Ident::new(n)
}

/// Node 2 of the ring 0, 2, 4, 6.
fn two<R: Replica>(config: R::Config) -> R {
    let pointers = Pointers { list: SuccList::of([id(4), id(6)]), prdc: Some(id(0)), saved: None };
    R::founder(config, id(2), pointers)
}

const CHECKS: list::Config = list::Config {
    checks: Checks { join: true, adopt: true, update: true, reconcile: true, answer: true },
    eager: false,
};
const TSE: tse2017::Config = tse2017::Config { list_len: 2, circle: 8, busy: true };

fn handle<R: Replica>(replica: &mut R, event: Event) -> Vec<(Ident, Message)> {
    let mut outbox = Outbox::new();
    replica.handle(event, &mut outbox);
    outbox.to_vec()
}

/// Has the node stabilize; returns the number of what it asks.
fn stabilize<R: Replica>(replica: &mut R) -> Nonce {
    match handle(replica, Event::Begin(Task::Stabilize))[..] {
        [(to, Message::Request { nonce, ask: Ask::State })] if to == id(4) => nonce,
        ref other => panic!("{other:?}"),
    }
}

fn one_operation_at_a_time<R: Replica>(mut replica: R) {
    stabilize(&mut replica);
    assert!(!replica.idle());
    for task in [Task::Stabilize, Task::Adopt, Task::Reconcile, Task::Update, Task::Flush, Task::Join(id(6))] {
        assert_eq!(handle(&mut replica, Event::Begin(task)), [], "{task:?}");
    }
}

#[test]
fn a_node_does_one_operation_at_a_time() {
    one_operation_at_a_time::<ListReplica>(two(CHECKS));
    one_operation_at_a_time::<TseReplica>(two(TSE));
}

/// Has `from` ask for the successor while the node stabilizes.
fn ask(replica: &mut ListReplica, from: u8) -> Vec<(Ident, Message)> {
    let message = Message::Request { nonce: 9, ask: Ask::Successor };
    handle(replica, Event::Received { from: id(from), message })
}

/// Where an answer takes a question (W26, level 2), who is asked meanwhile keeps it, if the asker may wait, and answers when
/// the operation is done.
#[test]
fn what_is_asked_of_a_busy_node_is_answered_later() {
    let mut replica: ListReplica = two(CHECKS);
    let nonce = stabilize(&mut replica);
    assert_eq!(ask(&mut replica, 6), []);
    let state = Answer::State { list: SuccList::of([id(6), id(0)]), prdc: Some(id(2)) };
    let answer = |nonce, answer| Event::Received { from: id(4), message: Message::Answer { nonce, answer } };
    let sent = handle(&mut replica, answer(nonce, state));
    let [(notified, Message::Notify), (asked, Message::Request { nonce, ask: Ask::Alive })] = sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!([notified, asked], [id(4), id(4)]);
    let mine = Answer::State { list: SuccList::of([id(4), id(6)]), prdc: Some(id(0)) };
    let told = handle(&mut replica, answer(nonce, Answer::Alive));
    assert_eq!(told, [(id(6), Message::Answer { nonce: 9, answer: mine })]);
    assert!(replica.idle());
}

/// Only a larger identifier waits for a smaller one, so that nobody waits in a cycle.
#[test]
fn who_may_not_wait_is_told_so() {
    let mut replica: ListReplica = two(CHECKS);
    stabilize(&mut replica);
    assert_eq!(ask(&mut replica, 0), [(id(0), Message::Answer { nonce: 9, answer: Answer::Busy })]);
}
