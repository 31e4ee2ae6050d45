//! Fault schedules: what a fuzzer's bytes mean, and their text form.
//!
//! Data enters here: [`Schedule::decode`] makes a schedule of every byte string, [`Schedule::encode`] writes the
//! canonical bytes of one, and [`text`] is the form for people. A step names its operation and node
//! absolutely; what the network permits at that moment is for the [`world`](crate::world) to resolve. The steps as
//! executed are the canonical form of a schedule.
//!
//! # The format, frozen
//!
//! | byte | bits | meaning |
//! |---|---|---|
//! | 0 | 0-2 | start: 0 one member, 1 to 5 an ideal ring of 2 to 6; 6 and 7 as 0 |
//! | 0 | 3 | delays: whether the delay classes below count, or are all 0 |
//! | 0 | 4 | faults: whether loss and partition are among the operations |
//! | 0 | 5 | successor lists of 3 instead of 2 (`tse2017` only) |
//! | 1 | 0-3 | identifiers on the circle: 4 to 16, then 4 to 6 again |
//!
//! Missing header bytes are 0. Then records of two bytes:
//!
//! | byte | bits | meaning |
//! |---|---|---|
//! | 0 | 0-3 | the operation, by the table [`PLAIN`] or, with faults, [`FAULTY`] |
//! | 0 | 4-7 | the node |
//! | 1 | 0-3 | delay class of requests and answers: 0 to 8 none, 9 to 15 the classes 1 to 7 of [`DELAYS`] |
//! | 1 | 4-7 | join: the contact; otherwise the delay class of notifications, likewise |
//!
//! A tail shorter than a record is ignored, and so is what follows [`MAX_STEPS`] records.

pub mod mutate;
pub mod text;

use arbitrary::{Arbitrary, Unstructured};

use crate::truth::ident::{Ident, IdentSet};

/// The most steps of a schedule.
pub const MAX_STEPS: usize = 96;

/// The length in bytes of the longest schedule, for libFuzzer's `-max_len`.
pub const MAX_BYTES: usize = HEADER + RECORD * MAX_STEPS;

const HEADER: usize = 2;
const RECORD: usize = 2;

// The fields of the header's first byte.
const START: u8 = 0x07;
const DELAYED: u8 = 0x08;
const FAULTS: u8 = 0x10;
const LISTS_OF_3: u8 = 0x20;

/// The fewest identifiers on a circle: as many as the shortest schedules to any finding need.
pub const MIN_CIRCLE: u8 = 4;

/// The largest ring to start with.
pub const MAX_START: u8 = 6;

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// The node joins through a contact.
    Join,
    /// The node stabilizes (`tse2017`: stabilizes from its successor).
    Stabilize,
    /// The node decides on the candidate that its stabilization read (`best2012`: the later step of Z12's Promela
    /// model; `tse2017`: stabilizes from the predecessor).
    Adopt,
    /// The node asks its successor for a second successor (P02).
    Reconcile,
    /// The node promotes its second successor when the first is dead (P02, Z12).
    Update,
    /// The node forgets a dead predecessor (P02, Z12).
    Flush,
    /// The node fails.
    Fail,
    /// The next datagram that the node sends is lost. Outside the assumptions of every source.
    Lose,
    /// The node is cut off from all nodes that are not. Outside the assumptions of every source.
    Cut,
    /// The node is cut off no longer.
    Mend,
}

impl Op {
    /// Every operation. The order is also the one in which a step that can do nothing is repaired: maintenance that
    /// has nothing to do comes to other maintenance, then to a join, and only then to a failure. Were it the other way
    /// round, the failures would keep the network too small to break.
    pub const ALL: [Self; 10] = [
        Self::Stabilize,
        Self::Adopt,
        Self::Reconcile,
        Self::Update,
        Self::Flush,
        Self::Join,
        Self::Fail,
        Self::Lose,
        Self::Cut,
        Self::Mend,
    ];

    /// The operations of a schedule with or without network faults, in the order of repair.
    #[must_use]
    pub fn available(faults: bool) -> &'static [Self] {
        if faults { &Self::ALL } else { &Self::ALL[..7] }
    }

    /// The name in the text form.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Stabilize => "stabilize",
            Self::Adopt => "adopt",
            Self::Reconcile => "reconcile",
            Self::Update => "update",
            Self::Flush => "flush",
            Self::Fail => "fail",
            Self::Lose => "lose",
            Self::Cut => "cut",
            Self::Mend => "mend",
        }
    }

    /// Whether what the operation starts sends requests, whose delay class then counts.
    #[must_use]
    pub fn asks(self) -> bool {
        !matches!(self, Self::Fail | Self::Lose | Self::Cut | Self::Mend)
    }

    /// Whether what the operation starts ends in a notification, whose delay class then counts.
    #[must_use]
    pub fn notifies(self) -> bool {
        matches!(self, Self::Stabilize | Self::Adopt)
    }
}

/// The operation of each value of a record's operation field. What occurs often in a random schedule stands there
/// more than once: stabilizations, joins and failures. Append-only by format: it never changes under a target's name.
pub const PLAIN: [Op; 16] = [
    Op::Join,
    Op::Stabilize,
    Op::Adopt,
    Op::Reconcile,
    Op::Update,
    Op::Flush,
    Op::Fail,
    Op::Stabilize,
    Op::Join,
    Op::Reconcile,
    Op::Stabilize,
    Op::Fail,
    Op::Stabilize,
    Op::Join,
    Op::Stabilize,
    Op::Reconcile,
];

/// The same with network faults: they take the places 7 to 9.
pub const FAULTY: [Op; 16] = {
    let mut table = PLAIN;
    table[7] = Op::Lose;
    table[8] = Op::Cut;
    table[9] = Op::Mend;
    table
};

/// The table of a schedule whose header begins with this byte.
fn table(flags: u8) -> &'static [Op; 16] {
    if flags & FAULTS == 0 { &PLAIN } else { &FAULTY }
}

/// The delay of each class, in steps of the schedule. Class 0 arrives before the next step.
pub const DELAYS: [u8; 8] = [0, 1, 2, 3, 5, 8, 13, 21];

/// A delay class: an index into [`DELAYS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Delay(u8);

impl Delay {
    /// Class 0: what is sent arrives before the next step.
    pub const NONE: Self = Self(0);

    /// The class of a record's delay field (its low four bits count).
    #[must_use]
    pub fn from_field(field: u8) -> Self {
        Self((field & 0xf).saturating_sub(8))
    }

    /// The class that delays by exactly this many steps, if there is one.
    #[must_use]
    pub fn from_ticks(ticks: u8) -> Option<Self> {
        DELAYS.iter().zip(0..).find(|(t, _)| **t == ticks).map(|(_, class)| Self(class))
    }

    /// The delay in steps of the schedule: 0 to 21.
    #[must_use]
    pub fn ticks(self) -> u8 {
        DELAYS[usize::from(self.0)]
    }

    fn field(self) -> u8 {
        if self == Self::NONE { 0 } else { self.0 + 8 }
    }
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// What is done.
    pub op: Op,
    /// Who does it.
    pub node: Ident,
    /// Whom a joiner asks. Means nothing for the other operations.
    pub contact: Ident,
    /// The delay of each request and answer that the step brings about.
    pub delay: Delay,
    /// The delay of each notification that the step brings about. Means nothing for a join.
    pub notice: Delay,
}

impl Step {
    /// The step without what means nothing for its operation.
    #[must_use]
    pub fn canonical(self) -> Self {
        Self {
            contact: if self.op == Op::Join { self.contact } else { Ident::default() },
            delay: if self.op.asks() { self.delay } else { Delay::NONE },
            notice: if self.op.notifies() { self.notice } else { Delay::NONE },
            ..self
        }
    }

    /// Whether all that the step brings about arrives before the next one.
    #[must_use]
    pub fn immediate(self) -> bool {
        self.delay == Delay::NONE && self.notice == Delay::NONE
    }
}

/// What a run starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// How many members the network starts with: 1, or an ideal ring of 2 to [`MAX_START`]. They are the even
    /// identifiers from 0 on, so that there is room for a joiner between any two.
    pub ring: u8,
    /// How many identifiers the circle has: [`MIN_CIRCLE`] to 16, and at least two for each member of the ring.
    pub circle: u8,
    /// The length r of successor lists: 2, or 3 for `tse2017`.
    pub list_len: u8,
    /// Whether loss and partition are among the operations.
    pub faults: bool,
}

impl Setup {
    /// The members that the network starts with.
    #[must_use]
    pub fn members(self) -> IdentSet {
        (0..self.ring).map(|i| Ident::new(2 * i)).collect()
    }
}

/// A fault schedule: a start, and what happens then.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// What the run starts from.
    pub setup: Setup,
    /// What happens, at most [`MAX_STEPS`] steps.
    pub steps: Vec<Step>,
}

impl Schedule {
    /// Whether all that each step brings about arrives before the next one.
    #[must_use]
    pub fn immediate(&self) -> bool {
        self.steps.iter().all(|step| step.immediate())
    }

    /// The schedule that these bytes mean. Every byte string means one.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Self {
        let (header, records) = bytes.split_at(bytes.len().min(HEADER));
        let flags = header.first().copied().unwrap_or(0);
        let delays = flags & DELAYED != 0;
        let setup = Setup {
            ring: match flags & START {
                start @ 0..=5 => start + 1,
                _ => 1,
            },
            circle: match header.get(1).copied().unwrap_or(0) & 0xf {
                n @ 0..=12 => MIN_CIRCLE + n,
                n => MIN_CIRCLE + n - 13,
            },
            list_len: if flags & LISTS_OF_3 == 0 { 2 } else { 3 },
            faults: flags & FAULTS != 0,
        };
        let table = table(flags);
        let delay = |field| if delays { Delay::from_field(field) } else { Delay::NONE };
        let steps = records
            .chunks_exact(RECORD)
            .take(MAX_STEPS)
            .map(|record| Step {
                op: table[usize::from(record[0] & 0xf)],
                node: Ident::new(record[0] >> 4),
                contact: Ident::new(record[1] >> 4),
                delay: delay(record[1]),
                notice: delay(record[1] >> 4),
            })
            .map(Step::canonical)
            .collect();
        Self { setup, steps }
    }

    /// The canonical bytes of this schedule: [`decode`](Self::decode) gives back its canonical form.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Setup { ring, circle, list_len, faults } = self.setup;
        let delays = self.steps.iter().any(|s| !s.canonical().immediate());
        let flags = [(DELAYED, delays), (FAULTS, faults), (LISTS_OF_3, list_len == 3)];
        let flags = flags.into_iter().filter(|(_, on)| *on).fold(ring - 1, |flags, (flag, _)| flags | flag);
        let table = table(flags);
        let mut bytes = vec![flags, circle - MIN_CIRCLE];
        for step in &self.steps {
            let Step { op, node, contact, delay, notice } = step.canonical();
            let code = table.iter().zip(0u8..).find(|(o, _)| **o == op).map_or(0, |(_, code)| code);
            let high = if op == Op::Join { contact.get() } else { notice.field() };
            bytes.extend([code | node.get() << 4, delay.field() | high << 4]);
        }
        bytes
    }
}

/// Takes all the bytes that there are, by [`Schedule::decode`].
impl<'a> Arbitrary<'a> for Schedule {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let bytes = u.bytes(u.len().min(MAX_BYTES))?;
        Ok(Self::decode(bytes))
    }

    fn arbitrary_take_rest(u: Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self::decode(u.take_rest()))
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (0, Some(MAX_BYTES))
    }
}
