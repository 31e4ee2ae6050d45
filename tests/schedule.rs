//! The codec of schedules: every byte string means one, what a run executed is canonical, the table is frozen, and
//! random schedules reach everything that is worth reaching.
#![expect(clippy::needless_raw_string_hashes, reason = "expect-test writes them")]

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use arbitrary::{Arbitrary, Unstructured};
use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::protocol::replica::{Answer, Message, Nonce};
use chord_fuzz::protocol::version::{Rules, Version};
use chord_fuzz::schedule::text::is_text;
use chord_fuzz::schedule::{DELAYS, MAX_BYTES, MAX_START, MAX_STEPS, MIN_CIRCLE, Op, Schedule, Setup, Step};
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::Conditions;
use chord_fuzz::world::network::Fate;
use chord_fuzz::world::trace::{Event, Observer};
use common::bytes;
use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn every_byte_string_is_a_schedule_within_the_limits(bytes in vec(any::<u8>(), 0..4096)) {
        let schedule = Schedule::decode(&bytes);
        prop_assert_eq!(schedule.steps.len(), (bytes.len().saturating_sub(2) / 2).min(MAX_STEPS));
        prop_assert!(schedule.encode().len() <= MAX_BYTES);
        let fitted = Version::PUBLISHED.map(|version| version.rules().fit(schedule.setup));
        prop_assert!(fitted.iter().all(|setup| setup.circle >= 2 * setup.ring), "room for joiners: {fitted:?}");
        for Setup { ring, circle, list_len, .. } in fitted.into_iter().chain([schedule.setup]) {
            prop_assert!((MIN_CIRCLE..=16).contains(&circle) && (1..=MAX_START).contains(&ring), "{circle} {ring}");
            prop_assert!((2..=3).contains(&list_len), "{list_len}");
        }
    }

    /// arbitrary 60: one decoder for the fuzzer and for everybody else.
    #[test]
    fn arbitrary_is_decode(bytes in vec(any::<u8>(), 0..4096)) {
        let decoded = Schedule::decode(&bytes);
        prop_assert_eq!(&Schedule::arbitrary_take_rest(Unstructured::new(&bytes)).unwrap(), &decoded);
        prop_assert_eq!(&Schedule::arbitrary(&mut Unstructured::new(&bytes)).unwrap(), &decoded);
    }

    #[test]
    fn a_changed_byte_disturbs_its_step_alone(
        bytes in vec(any::<u8>(), 3..=MAX_BYTES),
        at: proptest::sample::Index,
        flip in 1..=u8::MAX,
    ) {
        let mut changed = bytes.clone();
        let at = 2 + at.index(bytes.len() - 2);
        changed[at] ^= flip;
        let (before, after) = (Schedule::decode(&bytes), Schedule::decode(&changed));
        prop_assert_eq!((before.setup, before.steps.len()), (after.setup, after.steps.len()));
        for (i, (a, b)) in before.steps.iter().zip(&after.steps).enumerate() {
            prop_assert!(a == b || i == (at - 2) / 2, "step {} of {:?}", i, before);
        }
    }

    #[test]
    fn what_a_run_executed_is_its_canonical_form(
        bytes in vec(any::<u8>(), 0..=MAX_BYTES),
        faults: bool,
        rejoin: bool,
        late in 0u8..8,
    ) {
        for target in Target::all() {
            let options = Options { faults, conditions: Conditions { rejoin, late }, ..Options::default() };
            let (first, again) = common::replay(target, &Schedule::decode(&bytes), &options);
            for again in again {
                prop_assert_eq!(again.executed.encode(), first.executed.encode());
                prop_assert_eq!(&again, &first, "{}", target);
            }
        }
    }
}

/// The only step of a record of two bytes, after this header.
fn record(header: u8, record: [u8; 2]) -> Step {
    Schedule::decode(&[header, 0, record[0], record[1]]).steps[0]
}

/// Asserts the lines of a table, so that the table stands in the test as a literal.
fn table(lines: impl IntoIterator<Item = String>, expected: &Expect) {
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    expected.assert_eq(&lines);
}

/// rust-lang/regex 1037, arbitrary 199: a corpus dies when its format changes. These tables never do.
#[test]
fn the_operations_are_frozen() {
    table(
        (0..16).map(|code| {
            // Node 2; a contact, or the delay of notifications, of field 12; the delay of requests of field 11.
            let [plain, faulty] = [0x08, 0x18].map(|header| record(header, [0x20 | code, 0xcb]).to_string());
            if plain == faulty { format!("{code:2} {plain}") } else { format!("{code:2} {plain} | {faulty}") }
        }),
        &expect![[r#"
             0 join 2 via 12 delay 3
             1 stabilize 2 delay 3 notice 5
             2 adopt 2 delay 3 notice 5
             3 reconcile 2 delay 3
             4 update 2 delay 3
             5 flush 2 delay 3
             6 fail 2
             7 stabilize 2 delay 3 notice 5 | lose 2
             8 join 2 via 12 delay 3 | cut 2
             9 reconcile 2 delay 3 | mend 2
            10 stabilize 2 delay 3 notice 5
            11 fail 2
            12 stabilize 2 delay 3 notice 5
            13 join 2 via 12 delay 3
            14 stabilize 2 delay 3 notice 5
            15 reconcile 2 delay 3
        "#]],
    );
}

#[test]
fn the_delays_are_frozen() {
    table(
        (0..16).map(|field| {
            let [delayed, immediate] = [0x08, 0x00].map(|header| record(header, [0x01, field << 4 | (15 - field)]));
            assert!(immediate.immediate(), "the header says that there are no delays");
            format!("{field:2} {delayed}")
        }),
        &expect![[r#"
             0 stabilize 0 delay 21
             1 stabilize 0 delay 13
             2 stabilize 0 delay 8
             3 stabilize 0 delay 5
             4 stabilize 0 delay 3
             5 stabilize 0 delay 2
             6 stabilize 0 delay 1
             7 stabilize 0
             8 stabilize 0
             9 stabilize 0 notice 1
            10 stabilize 0 notice 2
            11 stabilize 0 notice 3
            12 stabilize 0 notice 5
            13 stabilize 0 notice 8
            14 stabilize 0 notice 13
            15 stabilize 0 notice 21
        "#]],
    );
}

#[test]
fn the_header_is_frozen() {
    let line = |name: &str, bytes: &[u8]| {
        let Schedule { setup: Setup { ring, circle, list_len, faults }, steps } = Schedule::decode(bytes);
        let faults = if faults { ", faults" } else { "" };
        let step = steps.first().map(|step| format!("; {step}")).unwrap_or_default();
        format!("{name:7} {bytes:02x?} ring {ring}, circle {circle}, lists {list_len}{faults}{step}")
    };
    let starts = (0..8).map(|start| line("start", &[start]));
    let flags = (3..8).map(|bit| line("flags", &[1 << bit, 0xf0, 0x01, 0x9a]));
    let circles = (0..16).map(|circle| line("circle", &[0, circle]));
    let rest = [line("empty", &[]), line("newline", b"\n"), line("tail", &[0, 0, 0x11, 0, 0x22])];
    table(
        starts.chain(flags).chain(circles).chain(rest),
        &expect![[r#"
        start   [00] ring 1, circle 4, lists 2
        start   [01] ring 2, circle 4, lists 2
        start   [02] ring 3, circle 4, lists 2
        start   [03] ring 4, circle 4, lists 2
        start   [04] ring 5, circle 4, lists 2
        start   [05] ring 6, circle 4, lists 2
        start   [06] ring 1, circle 4, lists 2
        start   [07] ring 1, circle 4, lists 2
        flags   [08, f0, 01, 9a] ring 1, circle 4, lists 2; stabilize 0 delay 2 notice 1
        flags   [10, f0, 01, 9a] ring 1, circle 4, lists 2, faults; stabilize 0
        flags   [20, f0, 01, 9a] ring 1, circle 4, lists 3; stabilize 0
        flags   [40, f0, 01, 9a] ring 1, circle 4, lists 2; stabilize 0
        flags   [80, f0, 01, 9a] ring 1, circle 4, lists 2; stabilize 0
        circle  [00, 00] ring 1, circle 4, lists 2
        circle  [00, 01] ring 1, circle 5, lists 2
        circle  [00, 02] ring 1, circle 6, lists 2
        circle  [00, 03] ring 1, circle 7, lists 2
        circle  [00, 04] ring 1, circle 8, lists 2
        circle  [00, 05] ring 1, circle 9, lists 2
        circle  [00, 06] ring 1, circle 10, lists 2
        circle  [00, 07] ring 1, circle 11, lists 2
        circle  [00, 08] ring 1, circle 12, lists 2
        circle  [00, 09] ring 1, circle 13, lists 2
        circle  [00, 0a] ring 1, circle 14, lists 2
        circle  [00, 0b] ring 1, circle 15, lists 2
        circle  [00, 0c] ring 1, circle 16, lists 2
        circle  [00, 0d] ring 1, circle 4, lists 2
        circle  [00, 0e] ring 1, circle 5, lists 2
        circle  [00, 0f] ring 1, circle 6, lists 2
        empty   [] ring 1, circle 4, lists 2
        newline [0a] ring 3, circle 4, lists 2
        tail    [00, 00, 11, 00, 22] ring 1, circle 4, lists 2; stabilize 1
    "#]],
    );
}

/// The first of several places in the table is the canonical one.
#[test]
fn canonical_bytes_are_frozen() {
    let text = "circle 12\nring 6\nlists 3\nfaults\njoin 1 via 10 delay 21\nstabilize 2 notice 1\nadopt 3 delay 2\n\
                reconcile 4\nupdate 5\nflush 6\nfail 7\nlose 8\ncut 9\nmend 10\n";
    let encoded = text.parse::<Schedule>().unwrap().encode();
    let mut lines = String::new();
    encoded.chunks(2).for_each(|pair| writeln!(lines, "{pair:02x?}").unwrap());
    expect![[r#"
        [3d, 08]
        [10, af]
        [21, 90]
        [32, 0a]
        [43, 00]
        [54, 00]
        [65, 00]
        [76, 00]
        [87, 00]
        [98, 00]
        [a9, 00]
    "#]]
    .assert_eq(&lines);
    assert_eq!(Schedule::decode(&encoded).to_string(), text);
}

#[test]
fn a_bad_text_says_where_and_why() {
    let too_many = format!("circle 4\n{}", "stabilize 0\n".repeat(MAX_STEPS + 1));
    let texts = [
        "stabilize 0\ncircle 8",
        "stabilise 0",
        "lose 0",
        "circle 3",
        "ring 7",
        "lists 1",
        "circle",
        "circle 8 8",
        "ring +2",
        "ring 2\nfaults\nring 2",
        "faults\nstabilize 0\nfaults",
        "join 16 via 0",
        "circle 8\njoin 4 via 16",
        "join 1",
        "join 1 via",
        "join 1 0",
        "fail",
        "fail -1",
        "stabilize 0 delay 4",
        "stabilize 0 delay +2",
        "stabilize 0 notice 1 delay 2 notice 1",
        "update 0 notice 1",
        "stabilize 0 notice",
        "reconcile 0 notice 1",
        "fail 0 delay 1",
        "# a comment\n\n  stabilize 0 # another\n\t\tfail\t16",
        "stabilize 0 ünd 1",
        "\u{3000}löse 0",
        &too_many,
    ];
    table(
        texts.map(|text| {
            let shown = if text.len() < 60 { format!("{text:?}") } else { "97 steps".to_owned() };
            format!("{shown}\n    {}", text.parse::<Schedule>().unwrap_err())
        }),
        &expect![[r##"
            "stabilize 0\ncircle 8"
                line 2, column 1: `circle` must come before the first step
            "stabilise 0"
                line 1, column 1: there is no operation `stabilise` (`lose`, `cut` and `mend` need the line `faults`)
            "lose 0"
                line 1, column 1: there is no operation `lose` (`lose`, `cut` and `mend` need the line `faults`)
            "circle 3"
                line 1, column 8: the circle must be a number from 4 to 16, not `3`
            "ring 7"
                line 1, column 6: the ring must be a number from 1 to 6, not `7`
            "lists 1"
                line 1, column 7: the length of lists must be a number from 2 to 3, not `1`
            "circle"
                line 1, column 7: the circle is missing: a number from 4 to 16
            "circle 8 8"
                line 1, column 10: `8` is more than this line can say
            "ring +2"
                line 1, column 6: the ring must be a number from 1 to 6, not `+2`
            "ring 2\nfaults\nring 2"
                line 3, column 1: `ring` has been said already
            "faults\nstabilize 0\nfaults"
                line 3, column 1: `faults` has been said already
            "join 16 via 0"
                line 1, column 6: the node must be a number from 0 to 15, not `16`
            "circle 8\njoin 4 via 16"
                line 2, column 12: the contact must be a number from 0 to 15, not `16`
            "join 1"
                line 1, column 7: a join goes `via` a contact
            "join 1 via"
                line 1, column 11: the contact is missing: a number from 0 to 15
            "join 1 0"
                line 1, column 8: a join goes `via` a contact, not `0`
            "fail"
                line 1, column 5: the node is missing: a number from 0 to 15
            "fail -1"
                line 1, column 6: the node must be a number from 0 to 15, not `-1`
            "stabilize 0 delay 4"
                line 1, column 19: a delay must be one of [0, 1, 2, 3, 5, 8, 13, 21], not `4`
            "stabilize 0 delay +2"
                line 1, column 19: a delay must be one of [0, 1, 2, 3, 5, 8, 13, 21], not `+2`
            "stabilize 0 notice 1 delay 2 notice 1"
                line 1, column 30: `notice` has been said already
            "update 0 notice 1"
                line 1, column 10: `notice` says nothing about `update`
            "stabilize 0 notice"
                line 1, column 19: a delay must be one of [0, 1, 2, 3, 5, 8, 13, 21], not ``
            "reconcile 0 notice 1"
                line 1, column 13: `notice` says nothing about `reconcile`
            "fail 0 delay 1"
                line 1, column 8: `delay` says nothing about `fail`
            "# a comment\n\n  stabilize 0 # another\n\t\tfail\t16"
                line 4, column 8: the node must be a number from 0 to 15, not `16`
            "stabilize 0 ünd 1"
                line 1, column 13: `ünd` says nothing about `stabilize`
            "\u{3000}löse 0"
                line 1, column 2: there is no operation `löse` (`lose`, `cut` and `mend` need the line `faults`)
            97 steps
                line 98, column 1: a schedule has at most 96 steps
        "##]],
    );
}

#[test]
fn comments_blanks_and_tabs_mean_nothing() {
    let plain: Schedule = "circle 4\nring 2\njoin 1 via 0\nstabilize 1 delay 2 notice 3\n".parse().unwrap();
    let fancy = "# öffnet\r\n\r\n\tring\t2 # two\n  join 1  via 0#!\n\nstabilize 1\tnotice 3 delay 2";
    assert_eq!(fancy.parse().as_ref(), Ok(&plain));
    assert_eq!(format!("{plain:?}"), plain.to_string(), "what `cargo fuzz fmt` prints");
}

/// What may occur in a run, by name and value.
type Seen = BTreeSet<(&'static str, u8)>;

fn seen(target: Target) -> Seen {
    let mut rng = fastrand::Rng::with_seed(3);
    let options = Options { faults: true, ..Options::default() };
    let mut seen = Seen::new();
    for _ in 0..5_000 {
        let schedule = Schedule::decode(&bytes(&mut rng, MAX_BYTES / 2));
        let Schedule { setup, steps } = run(target, &schedule, &options, &mut ()).executed;
        seen.extend([("start", setup.ring), ("circle", setup.circle), ("lists", setup.list_len)]);
        for Step { op, node, contact, delay, notice } in steps {
            seen.extend([(op.name(), 0), ("node", node.get()), ("delay", delay.ticks()), ("notice", notice.ticks())]);
            seen.extend((op == Op::Join).then_some(("contact", contact.get())));
        }
    }
    seen
}

#[test]
fn random_bytes_reach_everything() {
    for version in Version::PUBLISHED {
        let all = |name, values: &mut dyn Iterator<Item = u8>| values.map(|value| (name, value)).collect::<Seen>();
        let (lists, starts, eager, list) = match version.rules() {
            Rules::List { eager, .. } => (2..=2, 1..=MAX_START, eager, true),
            // At least r + 1 to start with (Z17).
            Rules::Tse { .. } => (2..=3, 3..=MAX_START, true, false),
        };
        let possible = |op: &Op| match op {
            Op::Adopt => eager,
            Op::Reconcile | Op::Update | Op::Flush => list,
            _ => true,
        };
        let expected = [
            Op::ALL.into_iter().filter(possible).map(|op| (op.name(), 0)).collect(),
            all("lists", &mut lists.into_iter()),
            all("circle", &mut (MIN_CIRCLE.max(2 * starts.start())..=16)),
            all("start", &mut starts.into_iter()),
            all("node", &mut (0..16)),
            all("contact", &mut (0..16)),
            all("delay", &mut DELAYS.into_iter()),
            all("notice", &mut DELAYS.into_iter()),
        ];
        assert_eq!(seen(Target::of(version)), expected.into_iter().flatten().collect(), "{version}");
    }
}

/// So that nothing that a fuzzer finds is beyond the text form, whatever a run would make of it.
#[test]
fn every_byte_string_can_be_written_as_text() {
    let mut rng = fastrand::Rng::with_seed(2);
    for _ in 0..2_000 {
        let len = rng.usize(..=MAX_BYTES);
        let schedule = Schedule::decode(&bytes(&mut rng, len));
        let text = schedule.to_string();
        assert_eq!(text.parse().as_ref(), Ok(&schedule), "{text}");
        assert!(is_text(text.as_bytes()), "{text}");
    }
}

#[test]
fn what_is_text_and_what_is_bytes() {
    for text in ["ring", "ring 3", "circle 8\n", "\n\t lose\t0", "# öffnet\r\n# join\n fail 1", "faults#", "cut 0 \0"]
    {
        assert!(is_text(text.as_bytes()), "{text:?}");
    }
    assert!(is_text("ring 3 # öffnet".as_bytes().split_last_chunk::<5>().unwrap().0), "cut off within the ö");
    let bytes: [&[u8]; 9] =
        [b"", b"\n", b"# ring 3", b"rings 3", b"Ring 3", b"3 ring", b"ring\xff", b"#\xff\nring 3", b"ring\0 3"];
    for bytes in bytes {
        assert!(!is_text(bytes), "{bytes:?}");
    }
    // The fuzzer's own.
    let mut rng = fastrand::Rng::with_seed(2);
    assert!((0..100_000).all(|_| !is_text(&common::bytes(&mut rng, 8))));
}

/// Something that happens only to messages that are under way, or to nodes that come back.
#[derive(Clone, Copy, Debug)]
enum Rare {
    AskerFailsBeforeItsAnswerArrives,
    FailureLeavesARequestUnanswered,
    RejoinRevivesAStalePointer,
    CandidateDiesBeforeItsAdoption,
    AnswerIsBusy,
    RequestIsHeldAndAnsweredLater,
    /// `tse2017` defers the rectification. To the list family it is no matter.
    NotifiedWhileARequestIsOut,
}

/// Counts what is rare, from the events alone.
struct Watcher {
    counts: [u32; 7],
    network: Snapshot,
    failed: IdentSet,
    /// Each node's request that is out.
    asked: [Option<Nonce>; 16],
    /// The requests, by asker, that have been put on their way, and those that have been answered.
    sent: BTreeSet<(Ident, Nonce)>,
    answered: BTreeSet<(Ident, Nonce)>,
    /// The request that the last event delivered.
    delivered: Option<(Ident, Nonce)>,
}

impl Default for Watcher {
    fn default() -> Self {
        Self {
            counts: [0; 7],
            network: Snapshot::empty(16, 2),
            failed: IdentSet::EMPTY,
            asked: [None; 16],
            sent: BTreeSet::new(),
            answered: BTreeSet::new(),
            delivered: None,
        }
    }
}

impl Watcher {
    fn count(&mut self, rare: Rare, happens: bool) {
        self.counts[rare as usize] += u32::from(happens);
    }

    fn points_at(&self, node: Ident) -> bool {
        let pointers = self.network.members().iter().map(|x| self.network.pointers(x));
        pointers.into_iter().any(|p| p.prdc == Some(node) || p.list.as_slice().contains(&node))
    }
}

impl Observer for Watcher {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        let event = event();
        let delivered = self.delivered;
        if !matches!(event, Event::Sent { .. } | Event::Changed { .. }) {
            self.delivered = None;
        }
        match event {
            Event::Start(_, network) => {
                *self = Self { counts: self.counts, network: *network, ..Self::default() };
            }
            Event::Step(Step { op: Op::Fail, node, .. }) => {
                let asked = self.asked[node.index()].take();
                let on_its_way = asked.is_some_and(|nonce| self.answered.contains(&(node, nonce)));
                self.count(Rare::AskerFailsBeforeItsAnswerArrives, on_its_way);
                self.failed.insert(node);
            }
            Event::Step(Step { op: Op::Adopt, node, .. }) => {
                let dead = self.network.pointers(node).saved.is_some_and(|candidate| !self.network.live(candidate));
                self.count(Rare::CandidateDiesBeforeItsAdoption, dead);
            }
            Event::Step(_) => {}
            Event::Sent { from, message: Message::Request { nonce, .. }, fate, .. } => {
                self.asked[from.index()] = Some(nonce);
                if matches!(fate, Fate::Due(_)) {
                    self.sent.insert((from, nonce));
                }
            }
            Event::Sent { to, message: Message::Answer { nonce, answer }, .. } => {
                self.answered.insert((to, nonce));
                self.count(Rare::AnswerIsBusy, answer == Answer::Busy);
                self.count(Rare::RequestIsHeldAndAnsweredLater, delivered != Some((to, nonce)));
            }
            Event::Received { from, message: Message::Request { nonce, .. }, .. } => {
                self.delivered = Some((from, nonce));
            }
            Event::Received { at, message: Message::Answer { nonce, .. }, .. } => {
                self.asked[at.index()].take_if(|asked| *asked == nonce);
            }
            Event::Received { at, message: Message::Notify, .. } => {
                let out = self.network.live(at) && self.asked[at.index()].is_some();
                self.count(Rare::NotifiedWhileARequestIsOut, out);
            }
            Event::Sent { message: Message::Notify, .. } => {}
            Event::Unanswered { at, nonce } | Event::Unnoticed { at, nonce } => {
                self.asked[at.index()] = None;
                self.count(Rare::FailureLeavesARequestUnanswered, self.sent.contains(&(at, nonce)));
            }
            Event::Changed { node, now } => {
                let back = now.is_some() && !self.network.live(node) && self.failed.contains(node);
                self.count(Rare::RejoinRevivesAStalePointer, back && self.points_at(node));
                self.network.set(node, now);
            }
        }
    }
}

/// So that no property of delayed runs holds only for want of a case (wasmtime's oracles say how deep they got).
#[test]
fn random_schedules_with_delays_meet_what_is_rare() {
    for version in Version::PUBLISHED {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut watcher = Watcher::default();
        for _ in 0..2_000 {
            let mut bytes = bytes(&mut rng, MAX_BYTES);
            // Delays, and no faults.
            bytes[0] = bytes[0] & !0x10 | 0x08;
            let _ = run(Target::of(version), &Schedule::decode(&bytes), &Options::default(), &mut watcher);
        }
        let (two_steps, tse) = match version.rules() {
            Rules::List { eager, .. } => (eager, false),
            Rules::Tse { .. } => (true, true),
        };
        for (rare, possible) in [
            (Rare::AskerFailsBeforeItsAnswerArrives, true),
            (Rare::FailureLeavesARequestUnanswered, true),
            (Rare::RejoinRevivesAStalePointer, true),
            (Rare::NotifiedWhileARequestIsOut, true),
            (Rare::CandidateDiesBeforeItsAdoption, two_steps),
            (Rare::AnswerIsBusy, tse),
            (Rare::RequestIsHeldAndAnsweredLater, tse),
        ] {
            assert_eq!(watcher.counts[rare as usize] > 0, possible, "{version}: {rare:?}: {:?}", watcher.counts);
        }
    }
}
