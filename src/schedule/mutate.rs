//! Mutation and crossover of schedules, record by record.
//!
//! A byte string is taken apart into its header and its records, whole ones are moved about, and it is put together
//! again: a mutation changes the step that it means to change and leaves the others alone. Nothing here knows of the
//! fuzzer; [`mutate`] is handed the fuzzer's own byte mutation to delegate to.
//!
//! Everything is a function of the bytes and the seed.

use arrayvec::ArrayVec;
use fastrand::Rng;

use super::{DELAYED, HEADER, MAX_STEPS, Op, RECORD, START, Schedule, Setup, table};

/// Of so many calls, one makes a fresh random schedule, whatever it is given.
const FRESH: u32 = 10;

/// Of so many calls, one is left to the fuzzer's own byte mutation, which has seen what it compared with.
const BYTES: u32 = 10;

/// A schedule as bytes: the header, and whole records.
struct Records {
    header: [u8; HEADER],
    records: ArrayVec<[u8; RECORD], MAX_STEPS>,
}

impl Records {
    fn read(bytes: &[u8]) -> Self {
        let (head, tail) = bytes.split_at(bytes.len().min(HEADER));
        let mut header = [0; HEADER];
        header[..head.len()].copy_from_slice(head);
        let (whole, rest) = tail.as_chunks();
        // A record that a minimizer has cut in two, by asking for one byte less, is worth completing: it is the last
        // step, the one that breaks the network.
        let rest = rest.first().map(|&first| [first, 0]);
        Self { header, records: whole.iter().copied().chain(rest).take(MAX_STEPS).collect() }
    }

    /// Writes as many whole records as fit and returns how many bytes that makes.
    fn write(&self, out: &mut [u8]) -> usize {
        let bytes = self.header.iter().chain(self.records.as_flattened());
        let fits = if out.len() < HEADER { out.len() } else { out.len() - (out.len() - HEADER) % RECORD };
        let size = fits.min(HEADER + self.records.len() * RECORD);
        out.iter_mut().zip(bytes).take(size).for_each(|(to, from)| *to = *from);
        size
    }

    /// A random schedule: so many records that something can come of them.
    fn fresh(rng: &mut Rng, limit: usize) -> Self {
        let count = rng.usize(limit / 2..=limit);
        let records = (0..count).map(|_| record(rng)).collect();
        Self { header: [rng.u8(..), rng.u8(..)], records }
    }

    /// A random block: where it begins, and where it ends.
    fn block(&self, rng: &mut Rng) -> (usize, usize) {
        let from = rng.usize(..self.records.len());
        let longest = (self.records.len() - from).min(8);
        (from, from + rng.usize(1..=longest))
    }

    /// Puts these records before the one at `at`, as far as `limit` allows.
    fn insert(&mut self, at: usize, block: &[[u8; RECORD]], limit: usize) {
        let room = limit.saturating_sub(self.records.len());
        for (i, record) in block.iter().take(room).enumerate() {
            self.records.insert(at + i, *record);
        }
    }

    /// One random change. `limit` is the most records that may come of it.
    fn change(&mut self, rng: &mut Rng, limit: usize) {
        if self.records.is_empty() {
            self.insert(0, &[record(rng)], limit);
            return;
        }
        let at = rng.usize(..self.records.len());
        match rng.u8(..12) {
            0 | 1 => {
                let many = rng.usize(1..=3);
                let block: ArrayVec<_, 3> = (0..many).map(|_| record(rng)).collect();
                self.insert(rng.usize(..=self.records.len()), &block, limit);
            }
            2 => {
                let (from, to) = self.block(rng);
                self.records.drain(from..to);
            }
            3 => self.records[at] = record(rng),
            4 => {
                let (from, to) = self.block(rng);
                let block: ArrayVec<_, 8> = self.records[from..to].iter().copied().collect();
                self.insert(rng.usize(..=self.records.len()), &block, limit);
            }
            5 => {
                let (from, to) = self.block(rng);
                let block: ArrayVec<_, 8> = self.records.drain(from..to).collect();
                self.insert(rng.usize(..=self.records.len()), &block, limit);
            }
            6 => {
                let other = rng.usize(..self.records.len());
                self.records.swap(at, other);
            }
            // Retarget: another node does it.
            7 => self.records[at][0] = self.records[at][0] & 0x0f | rng.u8(..16) << 4,
            // The same node does something else.
            8 => self.records[at][0] = self.records[at][0] & 0xf0 | rng.u8(..16),
            // Another delay, and another contact or delay of notifications.
            9 => {
                let field = if rng.bool() { 0x0f } else { 0xf0 };
                self.records[at][1] = self.records[at][1] & !field | rng.u8(..) & field;
            }
            10 => self.rename(rng.u8(..16), rng.u8(..16)),
            _ => {
                let byte = rng.usize(..HEADER);
                self.header[byte] ^= 1 << rng.u8(..6);
            }
        }
    }

    /// Exchanges two nodes throughout: as who does it, and as the contact where that is what the field means. In the
    /// other records the field is a delay, which is not a node's name.
    fn rename(&mut self, a: u8, b: u8) {
        let swap = |x: u8| match x {
            x if x == a => b,
            x if x == b => a,
            x => x,
        };
        let table = table(self.header[0]);
        for record in &mut self.records {
            record[0] = record[0] & 0x0f | swap(record[0] >> 4) << 4;
            if table[usize::from(record[0] & 0x0f)] == Op::Join {
                record[1] = record[1] & 0x0f | swap(record[1] >> 4) << 4;
            }
        }
    }
}

fn record(rng: &mut Rng) -> [u8; RECORD] {
    [rng.u8(..), rng.u8(..)]
}

/// The most whole records that fit into so many bytes.
fn limit(bytes: usize) -> usize {
    (bytes.saturating_sub(HEADER) / RECORD).min(MAX_STEPS)
}

/// Mutates the first `size` bytes of `data` in place, and returns the new size: at most `max_size`, or the length of
/// `data` if that is less. A size above that is how a minimizer asks for something shorter: whole records are dropped.
///
/// `bytes` is the fuzzer's own mutation, of the same form; a share of the calls is left to it.
pub fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes: impl FnOnce(&mut [u8], usize, usize) -> usize,
) -> usize {
    let mut rng = Rng::with_seed(u64::from(seed));
    let max_size = max_size.min(data.len());
    let size = size.min(data.len());
    let limit = limit(max_size);
    if limit == 0 || (size <= max_size && rng.u32(..BYTES) == 0) {
        return bytes(data, size.min(max_size), max_size).min(max_size);
    }
    let mut schedule = Records::read(&data[..size]);
    if schedule.records.is_empty() || rng.u32(..FRESH) == 0 {
        schedule = Records::fresh(&mut rng, limit);
    } else {
        // Dropping a record is a change too.
        let mut more = schedule.records.len() <= limit || rng.bool();
        while schedule.records.len() > limit {
            let dropped = rng.usize(..schedule.records.len());
            schedule.records.remove(dropped);
        }
        // Mostly one change, now and then several at once.
        while more {
            schedule.change(&mut rng, limit);
            more = rng.u8(..3) == 0;
        }
    }
    schedule.write(&mut data[..max_size])
}

/// Crosses two schedules: the header of either, and a beginning of the first with a block of the second put in, or
/// put in place of as many of its records. Writes to `out` and returns the size.
pub fn cross_over(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    let mut rng = Rng::with_seed(u64::from(seed));
    let (mut child, other) = (Records::read(first), Records::read(second));
    if rng.u8(..4) == 0 {
        child.header = other.header;
    }
    let limit = limit(out.len());
    child.records.truncate(limit);
    if !other.records.is_empty() {
        let from = rng.usize(..other.records.len());
        let to = rng.usize(from..=other.records.len());
        let at = rng.usize(..=child.records.len());
        if rng.bool() {
            let end = (at + (to - from)).min(child.records.len());
            child.records.drain(at..end);
        }
        child.insert(at, &other.records[from..to], limit);
    }
    child.write(out)
}

/// The header's first byte, made to start with a ring of so many members, and to have delays count or not.
#[must_use]
pub fn confine(flags: u8, ring: Option<u8>, delays: Option<bool>) -> u8 {
    let flags = ring.map_or(flags, |ring| flags & !START | (ring - 1) & START);
    match delays {
        None => flags,
        Some(true) => flags | DELAYED,
        Some(false) => flags & !DELAYED,
    }
}

/// Whether a schedule that comes to this start has a ring of so many members, and delays or none: what [`confine`] aims
/// at.
#[must_use]
pub fn confined(schedule: &Schedule, start: Setup, ring: Option<u8>, delays: Option<bool>) -> bool {
    ring.is_none_or(|ring| start.ring == ring) && delays.is_none_or(|delays| schedule.immediate() != delays)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schedule::MAX_BYTES;

    fn untouched(_: &mut [u8], size: usize, _: usize) -> usize {
        size
    }

    proptest! {
        #[test]
        fn whatever_it_is_given_it_stays_within_max_size(
            content in prop::collection::vec(any::<u8>(), 0..400),
            max_size in 0usize..400,
            seed in any::<u32>(),
        ) {
            let mut data = content.clone();
            data.resize(content.len().max(max_size), 0xa5);
            let size = mutate(&mut data, content.len(), max_size, seed, untouched);
            prop_assert!(size <= max_size);
            let mut again = content.clone();
            again.resize(content.len().max(max_size), 0xa5);
            prop_assert_eq!(mutate(&mut again, content.len(), max_size, seed, untouched), size);
            prop_assert_eq!(data, again, "the same seed, the same mutation");
        }

        #[test]
        fn a_shorter_one_is_made_of_whole_records(
            content in prop::collection::vec(any::<u8>(), HEADER + 3 * RECORD..MAX_BYTES),
            seed in any::<u32>(),
        ) {
            let max_size = content.len() - 1;
            let mut data = content.clone();
            let size = mutate(&mut data, content.len(), max_size, seed, |_, _, _| unreachable!("no bytes here"));
            prop_assert!(size <= max_size);
            prop_assert_eq!((size - HEADER) % RECORD, 0);
        }

        #[test]
        fn a_child_is_made_of_its_parents(
            first in prop::collection::vec(any::<u8>(), 0..300),
            second in prop::collection::vec(any::<u8>(), 0..300),
            room in 0usize..300,
            seed in any::<u32>(),
        ) {
            let mut out = vec![0; room];
            let size = cross_over(&first, &second, &mut out, seed);
            prop_assert!(size <= room);
            let parents = [Records::read(&first), Records::read(&second)];
            for record in &Records::read(&out[..size]).records {
                prop_assert!(parents.iter().any(|parent| parent.records.contains(record)));
            }
        }

        #[test]
        fn renaming_twice_is_nothing(
            content in prop::collection::vec(any::<u8>(), 0..300),
            a in 0u8..16,
            b in 0u8..16,
        ) {
            let mut schedule = Records::read(&content);
            let before = schedule.records.clone();
            schedule.rename(a, b);
            schedule.rename(a, b);
            prop_assert_eq!(schedule.records, before);
        }
    }

    /// Over many seeds every kind of change occurs: lengths go both ways, headers change, and one call in ten is the
    /// fuzzer's own.
    #[test]
    fn every_kind_of_change_occurs() {
        let base: Vec<u8> = (0..HEADER + 20 * RECORD).map(|i| u8::try_from(i * 37 % 251).unwrap()).collect();
        let (mut shorter, mut longer, mut header, mut node, mut op, mut delegated) = (0, 0, 0, 0, 0, 0);
        for seed in 0..2_000 {
            let mut data = base.clone();
            data.resize(MAX_BYTES, 0);
            let mut own = false;
            let size = mutate(&mut data, base.len(), MAX_BYTES, seed, |_, size, _| {
                own = true;
                size
            });
            delegated += u32::from(own);
            shorter += u32::from(size < base.len());
            longer += u32::from(size > base.len());
            header += u32::from(data[..HEADER] != base[..HEADER]);
            if size == base.len() {
                let changed = |mask: u8| (0..20).any(|i| (data[HEADER + 2 * i] ^ base[HEADER + 2 * i]) & mask != 0);
                node += u32::from(changed(0xf0) && !changed(0x0f));
                op += u32::from(changed(0x0f) && !changed(0xf0));
            }
        }
        for (what, count) in [("shorter", shorter), ("longer", longer), ("header", header), ("node", node), ("op", op)]
        {
            assert!(count > 50, "{what}: {count}");
        }
        assert!((100..400).contains(&delegated), "{delegated}");
    }

    #[test]
    fn an_empty_input_becomes_a_schedule_of_some_length() {
        let mut data = vec![0; MAX_BYTES];
        let sizes: Vec<_> = (0..50).map(|seed| mutate(&mut data, 0, MAX_BYTES, seed, untouched)).collect();
        assert!(sizes.iter().filter(|size| **size > MAX_BYTES / 2).count() > 30, "{sizes:?}");
    }
}
