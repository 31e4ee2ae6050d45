//! Ground truth at one instant: who is a live member, and what its pointers say.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};

/// The longest successor list.
pub const MAX_LIST: usize = 3;

/// A successor list: up to [`MAX_LIST`] identifiers, best first.
///
/// `sigcomm2001`, `ccr2012` and `best2012` hold `succ` and, if there is one, `succ2` (P02);
/// `tse2017` always holds r entries (Z17).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SuccList {
    entries: [Ident; MAX_LIST],
    len: u8,
}

impl SuccList {
    /// The list of the first [`MAX_LIST`] of these identifiers.
    pub fn of(entries: impl IntoIterator<Item = Ident>) -> Self {
        let mut list = Self::default();
        for x in entries.into_iter().take(MAX_LIST) {
            list.entries[usize::from(list.len)] = x;
            list.len += 1;
        }
        list
    }

    /// The entries, best first.
    #[must_use]
    pub fn as_slice(&self) -> &[Ident] {
        &self.entries[..usize::from(self.len)]
    }

    /// The first successor. Every member has one.
    #[must_use]
    pub fn first(&self) -> Option<Ident> {
        self.as_slice().first().copied()
    }

    /// The second successor, if there is one.
    #[must_use]
    pub fn second(&self) -> Option<Ident> {
        self.as_slice().get(1).copied()
    }
}

impl fmt::Debug for SuccList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice().iter().map(|x| x.get())).finish()
    }
}

/// What one member knows of the others.
#[derive(Clone, Copy, Debug, Default, Eq, Hash)]
#[expect(clippy::derived_hash_with_manual_eq, reason = "it is the same equality")]
#[repr(align(8))]
pub struct Pointers {
    /// The successor list.
    pub list: SuccList,
    /// The predecessor.
    pub prdc: Option<Ident>,
    /// The node that a stabilization under way remembers: read from the successor in one step, and
    /// adopted or dropped in a later one (Z12's Promela model; Z17's *saved* of a stabilizing node).
    pub saved: Option<Ident>,
}

impl Pointers {
    /// All of them, as in memory: to the compiler it is a load.
    fn word(self) -> u64 {
        let byte = |x: Option<Ident>| x.map_or(16, Ident::get);
        let SuccList { entries: [a, b, c], len } = self.list;
        u64::from_le_bytes([a.get(), b.get(), c.get(), len, byte(self.prdc), byte(self.saved), 0, 0])
    }
}

/// Of words, because every event of a run asks whether a node's pointers have changed.
impl PartialEq for Pointers {
    fn eq(&self, other: &Self) -> bool {
        self.word() == other.word()
    }
}

/// The live members and their pointers at one instant.
///
/// Invariant: a non-member's entry is the default, so that equal networks are equal snapshots.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    circle: u8,
    list_len: u8,
    members: IdentSet,
    nodes: [Pointers; MAX_IDENTS],
}

/// Of the members alone, and a word of each: the entries of the others are all the same, and field by field it takes
/// several times as long, which is most of what a [proof](crate::judge::prove) takes.
impl Hash for Snapshot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let byte = |x: Option<Ident>| x.map_or(u8::MAX, Ident::get);
        for x in self.members.iter() {
            let Pointers { list: SuccList { entries: [a, b, c], len }, prdc, saved } = *self.pointers(x);
            let word = [x.get(), a.get(), b.get(), c.get(), len, byte(prdc), byte(saved), 0];
            state.write_u64(u64::from_le_bytes(word));
        }
    }
}

impl Snapshot {
    /// A network without members, on a circle of `circle` identifiers (1 to 16), with successor lists of
    /// `list_len` (1 to [`MAX_LIST`]).
    #[must_use]
    pub fn empty(circle: u8, list_len: u8) -> Self {
        Self { circle, list_len, members: IdentSet::EMPTY, nodes: [Pointers::default(); MAX_IDENTS] }
    }

    /// How many identifiers the circle has.
    #[must_use]
    pub fn circle(&self) -> u8 {
        self.circle
    }

    /// The length r of a full successor list.
    #[must_use]
    pub fn list_len(&self) -> u8 {
        self.list_len
    }

    /// The live members.
    #[must_use]
    pub fn members(&self) -> IdentSet {
        self.members
    }

    /// Whether `x` is a member that has not failed.
    #[must_use]
    pub fn live(&self, x: Ident) -> bool {
        self.members.contains(x)
    }

    /// The pointers of `x`, or `None` if it is not a live member.
    #[must_use]
    pub fn get(&self, x: Ident) -> Option<&Pointers> {
        self.live(x).then(|| &self.nodes[x.index()])
    }

    /// The pointers of `x`; those of a non-member are empty.
    #[must_use]
    pub fn pointers(&self, x: Ident) -> &Pointers {
        &self.nodes[x.index()]
    }

    /// Makes `x` a live member with these pointers, or a non-member.
    pub fn set(&mut self, x: Ident, pointers: Option<Pointers>) {
        if pointers.is_some() {
            self.members.insert(x);
        } else {
            self.members.remove(x);
        }
        self.nodes[x.index()] = pointers.unwrap_or_default();
    }

    /// The first live entry of the successor list of `x` (`bestSucc`, Z12).
    #[must_use]
    pub fn best_succ(&self, x: Ident) -> Option<Ident> {
        self.pointers(x).list.as_slice().iter().copied().find(|&s| self.live(s))
    }

    /// The members that reach themselves by following `step` one or more times.
    pub(crate) fn cycles(&self, step: impl Fn(Ident) -> Option<Ident>) -> IdentSet {
        // The image of the members under `step`, taken until it no longer shrinks, is what lies on cycles.
        let mut on = self.members;
        loop {
            let image = on.iter().filter_map(&step).filter(|&x| self.live(x)).collect::<IdentSet>() & on;
            if image == on {
                return on;
            }
            on = image;
        }
    }

    /// The ring members: those that reach themselves by following [`best_succ`](Self::best_succ) (Z12).
    #[must_use]
    pub fn ring(&self) -> IdentSet {
        self.cycles(|x| self.best_succ(x))
    }

    /// Each ring by itself: its members in the order of their best successors, beginning with the smallest.
    #[must_use]
    pub fn rings(&self) -> Vec<Vec<Ident>> {
        let mut rest = self.ring();
        let mut rings = Vec::new();
        while let Some(start) = rest.first() {
            let mut ring = Vec::new();
            let mut at = Some(start);
            while let Some(x) = at.filter(|&x| rest.contains(x)) {
                rest.remove(x);
                ring.push(x);
                at = self.best_succ(x);
            }
            rings.push(ring);
        }
        rings
    }

    /// The principals: members that no member's extended successor list (the member itself, then its
    /// list) skips between two adjacent entries (Z17).
    #[must_use]
    pub fn principals(&self) -> IdentSet {
        let mut skipped = IdentSet::EMPTY;
        for m in self.members.iter() {
            let mut last = m;
            for &entry in self.pointers(m).list.as_slice() {
                skipped = skipped | IdentSet::arc(last, entry);
                last = entry;
            }
        }
        self.members - skipped
    }
}

/// `succ/succ2/prdc` for each member, `-` for none, as in the spec's table of counterexamples; a remembered
/// candidate follows as `?n`.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dash = |x: Option<&Ident>| x.map_or_else(|| "-".to_owned(), Ident::to_string);
        for (i, x) in self.members.iter().enumerate() {
            let Pointers { list, prdc, saved } = self.pointers(x);
            write!(f, "{}{x}: ", if i == 0 { "" } else { ", " })?;
            for entry in 0..usize::from(self.list_len) {
                write!(f, "{}/", dash(list.as_slice().get(entry)))?;
            }
            f.write_str(&dash(prdc.as_ref()))?;
            if let Some(candidate) = saved {
                write!(f, "?{candidate}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_equal_if_all_of_them_are() {
        let idents = || [0, 1, 15].map(Ident::new);
        let some = || [None].into_iter().chain(idents().map(Some));
        let lists = [&[][..], &[0], &[0, 0], &[1, 0], &[0, 0, 0], &[0, 0, 1]];
        let lists = || lists.iter().map(|list| SuccList::of(list.iter().copied().map(Ident::new)));
        let all: Vec<_> = lists()
            .flat_map(|list| some().map(move |prdc| (list, prdc)))
            .flat_map(|(list, prdc)| some().map(move |saved| Pointers { list, prdc, saved }))
            .collect();
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(a == b, i == j, "{a:?} {b:?}");
            }
        }
        assert_eq!(size_of::<Pointers>(), size_of::<u64>(), "a word, or comparing them takes longer");
    }
}
