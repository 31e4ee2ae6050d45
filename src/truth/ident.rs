//! Identifiers on the circle, and what lies between them (spec section 1).
//!
//! No rule of any version does arithmetic on identifiers beyond their cyclic order and, in
//! `tse2017`, the identifier that follows another one. So a circle here has any number of
//! identifiers up to [`MAX_IDENTS`]; S01's power of two is not needed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{BitAnd, BitOr, Sub};

/// The largest number of identifiers on a circle.
pub const MAX_IDENTS: usize = 16;

/// A node's identifier: a position on the circle, 0 to 15.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ident(Place);

/// An enumeration rather than a number: there being no others, an `Option<Ident>` is one byte, [`Pointers`] are one word,
/// and an index is in bounds.
///
/// [`Pointers`]: crate::truth::snapshot::Pointers
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[rustfmt::skip]
enum Place { #[default] P0, P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, P14, P15 }

impl Ident {
    /// The identifier in the low four bits of `raw`, so that every byte is one.
    #[must_use]
    pub const fn new(raw: u8) -> Self {
        // The compiler makes nothing but the mask of this.
        #[rustfmt::skip]
        let place = match raw & 0xf {
            0 => Place::P0, 1 => Place::P1, 2 => Place::P2, 3 => Place::P3, 4 => Place::P4, 5 => Place::P5,
            6 => Place::P6, 7 => Place::P7, 8 => Place::P8, 9 => Place::P9, 10 => Place::P10, 11 => Place::P11,
            12 => Place::P12, 13 => Place::P13, 14 => Place::P14, _ => Place::P15,
        };
        Self(place)
    }

    /// The position on the circle, 0 to 15.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0 as u8
    }

    /// The position as an index into an array of [`MAX_IDENTS`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The identifier that follows on a circle of `circle` identifiers (1 to 16).
    #[must_use]
    pub const fn next(self, circle: u8) -> Self {
        let next = self.get() + 1;
        Self::new(if next >= circle { 0 } else { next })
    }
}

impl fmt::Debug for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ident").field(&self.get()).finish()
    }
}

impl Hash for Ident {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(self.get());
    }
}

impl fmt::Display for Ident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.get(), f)
    }
}

/// Whether `x` lies strictly inside the clockwise arc from `a` to `b` (Z12, predicate `Between`).
///
/// `between(a, x, a)` holds for every `x` other than `a`; `between(a, a, b)` and `between(a, b, b)`
/// never hold.
#[must_use]
pub const fn between(a: Ident, x: Ident, b: Ident) -> bool {
    let (a, x, b) = (a.get(), x.get(), b.get());
    if a < b { a < x && x < b } else { a < x || x < b }
}

/// A set of identifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IdentSet(u16);

impl IdentSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// All identifiers of a circle of `circle` identifiers (0 to 16).
    #[must_use]
    pub const fn circle(circle: u8) -> Self {
        if circle >= 16 { Self(u16::MAX) } else { Self((1 << circle) - 1) }
    }

    /// Every `x` with [`between(a, x, b)`](between), whether or not the circle reaches that far.
    #[must_use]
    pub const fn arc(a: Ident, b: Ident) -> Self {
        ARCS[a.index()][b.index()]
    }

    /// Whether `x` is in the set.
    #[must_use]
    pub const fn contains(self, x: Ident) -> bool {
        self.0 & (1 << x.index()) != 0
    }

    /// Adds `x`.
    pub const fn insert(&mut self, x: Ident) {
        self.0 |= 1 << x.index();
    }

    /// Removes `x`.
    pub const fn remove(&mut self, x: Ident) {
        self.0 &= !(1 << x.index());
    }

    /// How many identifiers are in the set, 0 to 16.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The smallest identifier in the set.
    #[must_use]
    pub const fn first(self) -> Option<Ident> {
        if self.0 == 0 {
            None
        } else {
            #[expect(clippy::cast_possible_truncation, reason = "at most 15")]
            Some(Ident::new(self.0.trailing_zeros() as u8))
        }
    }

    /// The first identifier of the set at or after `from`, going clockwise.
    #[must_use]
    pub const fn first_from(self, from: Ident) -> Option<Ident> {
        match Self(self.0 & (u16::MAX << from.index())).first() {
            Some(x) => Some(x),
            None => self.first(),
        }
    }

    /// The identifiers in ascending order.
    pub fn iter(self) -> impl Iterator<Item = Ident> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let x = rest.first()?;
            // Clears the lowest bit, which is x.
            rest.0 &= rest.0 - 1;
            Some(x)
        })
    }

    /// The identifiers clockwise, starting at or after `from`.
    pub fn iter_from(self, from: Ident) -> impl Iterator<Item = Ident> {
        // Turned so that `from` is the lowest bit.
        Self(self.0.rotate_right(u32::from(from.get()))).iter().map(move |x| Ident::new(x.get() + from.get()))
    }
}

/// The arcs from each identifier to each: the properties ask for a dozen after every step.
const ARCS: [[IdentSet; MAX_IDENTS]; MAX_IDENTS] = {
    let mut arcs = [[IdentSet::EMPTY; MAX_IDENTS]; MAX_IDENTS];
    let mut i = 0;
    while i < MAX_IDENTS * MAX_IDENTS {
        let (a, b) = (i / MAX_IDENTS, i % MAX_IDENTS);
        let above_a = !(u16::MAX >> (15 - a));
        let below_b = (1u16 << b) - 1;
        arcs[a][b] = IdentSet(if a < b { above_a & below_b } else { above_a | below_b });
        i += 1;
    }
    arcs
};

impl FromIterator<Ident> for IdentSet {
    fn from_iter<I: IntoIterator<Item = Ident>>(idents: I) -> Self {
        let mut set = Self::EMPTY;
        for x in idents {
            set.insert(x);
        }
        set
    }
}

impl BitOr for IdentSet {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for IdentSet {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for IdentSet {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Ident> {
        (0..16).map(Ident::new)
    }

    #[test]
    fn every_byte_is_an_identifier() {
        for raw in 0..=u8::MAX {
            assert_eq!(Ident::new(raw).get(), raw % 16);
        }
    }

    /// The clockwise walk, the definition that needs no case distinction.
    fn walk(a: Ident, b: Ident) -> IdentSet {
        let mut inside = IdentSet::EMPTY;
        let mut x = a.next(16);
        while x != b && x != a {
            inside.insert(x);
            x = x.next(16);
        }
        inside
    }

    #[test]
    fn between_is_the_open_clockwise_arc() {
        for a in all() {
            for b in all() {
                for x in all() {
                    assert_eq!(between(a, x, b), walk(a, b).contains(x), "{a} {x} {b}");
                    assert_eq!(between(a, x, b), IdentSet::arc(a, b).contains(x), "{a} {x} {b}");
                }
            }
        }
    }

    /// chord-grpc 224: `(n, n)` is the full circle without n.
    #[test]
    fn the_arc_from_a_node_to_itself_is_everything_else() {
        for a in all() {
            assert!(!between(a, a, a));
            assert_eq!(IdentSet::arc(a, a).len(), 15);
        }
    }

    #[test]
    fn sets_iterate_clockwise() {
        let set: IdentSet = [1, 5, 9].into_iter().map(Ident::new).collect();
        let from = |n| set.iter_from(Ident::new(n)).map(Ident::get).collect::<Vec<_>>();
        assert_eq!(from(0), [1, 5, 9]);
        assert_eq!(from(5), [5, 9, 1]);
        assert_eq!(from(10), [1, 5, 9]);
        assert_eq!(set.first_from(Ident::new(6)), Some(Ident::new(9)));
        assert_eq!(IdentSet::EMPTY.first_from(Ident::new(6)), None);
        assert_eq!(IdentSet::circle(16).len(), 16);
        assert_eq!(IdentSet::circle(4).len(), 4);
    }

    #[test]
    fn next_wraps_at_the_circle() {
        assert_eq!(Ident::new(3).next(4), Ident::new(0));
        assert_eq!(Ident::new(3).next(16), Ident::new(4));
        assert_eq!(Ident::new(15).next(16), Ident::new(0));
    }
}
