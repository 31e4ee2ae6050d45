//! The picture of a network, drawn here alone: a still picture shows the marks of one moment, a page all marks of a run,
//! of which it hides those that are not of the moment it is at.

use std::collections::BTreeSet;
use std::f64::consts::TAU;
use std::fmt;
use std::ops::{Add, Mul, Sub};

use chord_fuzz::finding::story::{Story, What};
use chord_fuzz::schedule::Op;
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::snapshot::Snapshot;
use maud::{Markup, html};

use crate::command::explain::chains;

/// The style of all that is drawn, by the classes of marks; in dark and in light.
pub const STYLE: &str = include_str!("picture.css");

/// What the last moment of a run is called, which no event leads to.
pub const LAST: &str = "after fair maintenance";

/// The moment of a run that a picture shows.
pub struct Moment {
    /// The members' pointers.
    network: Snapshot,
    /// The nodes that have failed and have not begun to join again.
    failed: IdentSet,
    /// The nodes that have begun to join and are not members yet.
    joining: IdentSet,
    /// The datagrams on their way: sender and receiver, in the order in which they were sent.
    in_flight: Vec<(Ident, Ident)>,
}

impl Moment {
    /// The moment after each event of a run, and at last the one after fair maintenance.
    pub fn all(story: &Story) -> Vec<Self> {
        let (mut failed, mut joining) = (IdentSet::EMPTY, IdentSet::EMPTY);
        let mut moments: Vec<_> = (0..story.events.len())
            .map(|event| {
                match story.events[event].what {
                    What::Begin => {
                        let step = story.steps[story.events[event].step].executed;
                        if let Some(step) = step.filter(|step| step.op == Op::Join) {
                            joining.insert(step.node);
                            failed.remove(step.node);
                        }
                    }
                    What::Joined { node, .. } | What::Left { node } => joining.remove(node),
                    What::Failed { node, .. } => failed.insert(node),
                    _ => {}
                }
                let ends = |datagram: usize| match story.events[datagram].what {
                    What::Sent { from, to, .. } => (from, to),
                    _ => unreachable!("a datagram is known by the event that sends it"),
                };
                let in_flight = story.in_flight(event).into_iter().map(ends).collect();
                Self { network: story.network(event).pointers, failed, joining, in_flight }
            })
            .collect();
        let settled = story.outcome.settled;
        moments.push(Self { network: settled, failed, joining: IdentSet::EMPTY, in_flight: Vec::new() });
        moments
    }

    /// The same in words.
    pub fn words(&self) -> Vec<String> {
        let mut words: Vec<_> =
            chains(&self.network).into_iter().map(|(what, nodes)| format!("{what} {}", arrows(&nodes))).collect();
        let named = [("failed", self.failed), ("joining", self.joining)];
        for (what, nodes) in named.into_iter().filter(|(_, nodes)| !nodes.is_empty()) {
            let nodes: Vec<_> = nodes.iter().map(|node| node.to_string()).collect();
            words.push(format!("{what} {}", nodes.join(", ")));
        }
        if !self.in_flight.is_empty() {
            let ends: Vec<_> = self.in_flight.iter().map(|(from, to)| format!("{from} → {to}")).collect();
            words.push(format!("in flight {}", ends.join(", ")));
        }
        words
    }

    /// All that is drawn of it.
    pub fn marks(&self) -> BTreeSet<Mark> {
        let mut marks = BTreeSet::new();
        let rings = self.network.rings();
        let ring = |node| rings.iter().position(|ring| ring.contains(&node));
        for node in IdentSet::circle(self.network.circle()).iter() {
            let life = match ring(node) {
                Some(0) => Life::FirstRing,
                Some(_) => Life::OtherRing,
                None if self.network.live(node) => Life::Appendage,
                None if self.joining.contains(node) => Life::Joining,
                None if self.failed.contains(node) => Life::Failed,
                None => Life::Absent,
            };
            marks.insert(Mark::Node { node, life });
            let Some(pointers) = self.network.get(node) else { continue };
            let successors = Pointer::SUCCESSORS.into_iter().zip(pointers.list.as_slice().iter().copied());
            if let Some((pointer, to)) = successors.clone().find(|(_, to)| self.network.live(*to)) {
                marks.insert(Mark::Best { pointer, from: node, to, life });
            }
            let others = [(Pointer::Predecessor, pointers.prdc), (Pointer::Candidate, pointers.saved)];
            let others = others.into_iter().filter_map(|(pointer, to)| Some((pointer, to?)));
            marks.extend(successors.chain(others).map(|(pointer, to)| Mark::Pointer {
                pointer,
                from: node,
                to,
                dead: !self.network.live(to),
            }));
        }
        for (at, &(from, to)) in self.in_flight.iter().enumerate() {
            let earlier = self.in_flight[..at].iter().filter(|ends| **ends == (from, to)).count();
            marks.insert(Mark::Datagram { from, to, place: earlier % PLACES });
        }
        marks
    }
}

/// What is drawn, from the bottom to the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// A band below the pointer to the best successor, which makes up rings and appendages.
    Best { pointer: Pointer, from: Ident, to: Ident, life: Life },
    /// What a member points to.
    Pointer { pointer: Pointer, from: Ident, to: Ident, dead: bool },
    /// An identifier, and who is there.
    Node { node: Ident, life: Life },
    /// A datagram on its way, in one of several places so that a few of the same way can be told apart.
    Datagram { from: Ident, to: Ident, place: usize },
}

/// How many datagrams of the same way can be told apart.
const PLACES: usize = 4;

/// A pointer of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pointer {
    Candidate,
    Predecessor,
    Third,
    Second,
    First,
}

impl Pointer {
    const SUCCESSORS: [Self; 3] = [Self::First, Self::Second, Self::Third];

    fn class(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Predecessor => "prdc",
            Self::Third => "succ3",
            Self::Second => "succ2",
            Self::First => "succ",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Predecessor => "predecessor",
            Self::Third => "3rd successor",
            Self::Second => "2nd successor",
            Self::First => "successor",
        }
    }

    /// Which of the lanes between two nodes it takes, from the outermost to the innermost: no two the same, and side by
    /// side what an ideal ring has.
    fn lane(self, clockwise: bool) -> f64 {
        match (self, clockwise) {
            (Self::First, true) => 0.0,
            (Self::Predecessor, false) => 1.0,
            (Self::First, false) => 2.0,
            (Self::Predecessor, true) => 3.0,
            (Self::Second, true) => 4.0,
            (Self::Second, false) => 5.0,
            (Self::Third, true) => 6.0,
            (Self::Third, false) => 7.0,
            (Self::Candidate, true) => 8.0,
            (Self::Candidate, false) => 9.0,
        }
    }

    /// How far a loop at a node is turned from the outside.
    fn turn(self) -> f64 {
        match self {
            Self::First => 0.0,
            Self::Second => 1.0,
            Self::Third => 2.0,
            Self::Predecessor => -1.0,
            Self::Candidate => -2.0,
        }
    }
}

/// Who is at an identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Life {
    Absent,
    Failed,
    Joining,
    Appendage,
    FirstRing,
    OtherRing,
}

impl Life {
    fn class(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Failed => "failed",
            Self::Joining => "joining",
            Self::Appendage => "appendage",
            Self::FirstRing => "ring",
            Self::OtherRing => "ring other",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Absent => "no member",
            Self::Failed => "failed",
            Self::Joining => "joining",
            Self::Appendage => "not on a ring",
            Self::FirstRing => "on a ring",
            Self::OtherRing => "on another ring",
        }
    }
}

// All lengths are in the units of the picture's coordinates, which are pixels at its natural size.

/// The sides of the square that the ring takes.
pub const SIDE: u16 = 440;
/// The radius of the circle of identifiers.
const RADIUS: f64 = 152.0;
/// The radius of a node.
const NODE: f64 = 14.0;

#[derive(Clone, Copy)]
struct Point(f64, f64);

const CENTRE: Point = Point(SIDE as f64 / 2.0, SIDE as f64 / 2.0);

impl Point {
    /// The point of a direction, which is clockwise from the top, at a distance from the origin.
    fn polar(angle: f64, distance: f64) -> Self {
        Self(angle.sin() * distance, -angle.cos() * distance)
    }

    fn length(self) -> f64 {
        self.0.hypot(self.1)
    }

    fn unit(self) -> Self {
        self * (1.0 / self.length())
    }

    fn right(self) -> Self {
        Self(-self.1, self.0)
    }
}

impl Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0, self.1 + other.1)
    }
}

impl Sub for Point {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0, self.1 - other.1)
    }
}

impl Mul<f64> for Point {
    type Output = Self;
    fn mul(self, by: f64) -> Self {
        Self(self.0 * by, self.1 * by)
    }
}

/// Rounded: the last digits of a sine are not the same on every machine.
impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the sign that a negative number would keep when it is rounded to zero.
        let rounded = |x: f64| (x * 10.0).round() / 10.0 + 0.0;
        write!(f, "{} {}", rounded(self.0), rounded(self.1))
    }
}

/// A cubic Bézier curve.
struct Curve([Point; 4]);

impl Curve {
    fn at(&self, t: f64) -> Point {
        let Self([a, b, c, d]) = *self;
        let u = 1.0 - t;
        a * (u * u * u) + b * (3.0 * u * u * t) + c * (3.0 * u * t * t) + d * (t * t * t)
    }

    /// The direction at its end.
    fn direction(&self) -> Point {
        (self.0[3] - self.0[2]).unit()
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([a, b, c, d]) = self;
        write!(f, "M{a}C{b} {c} {d}")
    }
}

/// The text with arrows for what a terminal has only hyphens for.
pub fn arrows(text: &str) -> String {
    text.replace("->", "→").replace("<-", "←")
}

/// The circle of identifiers.
#[derive(Clone, Copy)]
struct Circle(u8);

impl Circle {
    fn angle(self, node: Ident) -> f64 {
        TAU * f64::from(node.get()) / f64::from(self.0)
    }

    fn place(self, node: Ident) -> Point {
        CENTRE + Point::polar(self.angle(node), RADIUS)
    }

    /// How many identifiers on it is from one to the other.
    fn clockwise(self, from: Ident, to: Ident) -> u8 {
        (to.get() + self.0 - from.get()) % self.0
    }

    /// Whether the short way is clockwise. Of two equal ways each direction takes one.
    fn short_way_is_clockwise(self, from: Ident, to: Ident) -> bool {
        let (there, back) = (self.clockwise(from, to), self.clockwise(to, from));
        there < back || there == back && from < to
    }

    fn pointer(self, pointer: Pointer, from: Ident, to: Ident) -> Curve {
        if from == to {
            self.to_itself(from, pointer.turn(), 46.0)
        } else {
            self.between(from, to, pointer.lane(self.short_way_is_clockwise(from, to)))
        }
    }

    /// Outside of the pointers.
    fn datagram(self, from: Ident, to: Ident) -> Curve {
        if from == to { self.to_itself(from, 0.0, 78.0) } else { self.between(from, to, -1.0) }
    }

    /// From the rim of a node to that of another one, bent inwards past the nodes in between.
    fn between(self, from: Ident, to: Ident, lane: f64) -> Curve {
        let slots = f64::from(self.clockwise(from, to).min(self.clockwise(to, from)));
        let (start, end) = (self.place(from), self.place(to));
        let middle = (start + end) * 0.5;
        let height = RADIUS - (middle - CENTRE).length();
        // The line between opposite nodes has no inner side: it takes that of the smaller one's right hand.
        let inwards = if height > RADIUS - 1.0 {
            (self.place(from.max(to)) - self.place(from.min(to))).unit().right()
        } else {
            (CENTRE - middle).unit()
        };
        let clearance = if slots > 1.0 { (NODE + 16.0 - height).max(0.0) } else { 0.0 };
        let depth = clearance + lane * (6.0 + 0.022 * (end - start).length());
        let control = middle + inwards * (2.0 * depth);
        let start = start + (control - start).unit() * NODE;
        let end = end + (control - end).unit() * (NODE + 2.0);
        Curve([start, start + (control - start) * (2.0 / 3.0), end + (control - end) * (2.0 / 3.0), end])
    }

    /// A loop at a node.
    fn to_itself(self, node: Ident, turn: f64, reach: f64) -> Curve {
        let side =
            |turned: f64, distance: f64| self.place(node) + Point::polar(self.angle(node) + turn + turned, distance);
        Curve([side(-0.45, NODE), side(-0.45, reach), side(0.45, reach), side(0.45, NODE + 2.0)])
    }
}

/// The marks on a circle of so many identifiers, each a group.
pub fn ring<'a>(circle: u8, marks: impl IntoIterator<Item = &'a Mark>) -> Markup {
    let circle = Circle(circle);
    html! {
        circle.circle cx=(CENTRE.0) cy=(CENTRE.1) r=(RADIUS) {}
        @for &mark in marks {
            @match mark {
                Mark::Best { pointer, from, to, life } => {
                    g class={ "mark best " (life.class()) } { path d=(circle.pointer(pointer, from, to)) {} }
                }
                Mark::Pointer { pointer, from, to, dead } => {
                    g class={ "mark pointer " (pointer.class()) @if dead { " dead" } } {
                        title { (pointer.name()) " of " (from) ": " (to) @if dead { ", which is dead" } }
                        (arrow(&circle.pointer(pointer, from, to), dead))
                    }
                }
                Mark::Node { node, life } => {
                    g class={ "mark node " (life.class()) } transform={ "translate(" (circle.place(node)) ")" } {
                        title { (node) ": " (life.name()) }
                        (disc(life, &node.to_string()))
                    }
                }
                Mark::Datagram { from, to, place } => {
                    g class="mark datagram" {
                        title { "datagram from " (from) " to " (to) }
                        (datagram(&circle.datagram(from, to), place))
                    }
                }
            }
        }
    }
}

/// A node at the origin.
fn disc(life: Life, label: &str) -> Markup {
    html! {
        @match life {
            Life::Absent => circle r="9" {},
            Life::OtherRing => rect x="-13" y="-13" width="26" height="26" rx="5" {},
            _ => circle r=(NODE) {},
        }
        @if life == Life::Failed { path d="M-9 -9L9 9M9 -9L-9 9" {} }
        text dy=".35em" { (label) }
    }
}

/// A line with a head, which is a cross where it leads to nobody.
fn arrow(curve: &Curve, dead: bool) -> Markup {
    let (tip, along) = (curve.0[3], curve.direction());
    let across = along.right();
    html! {
        path.line d=(curve) {}
        @if dead {
            path.cross d={
                @for side in [across, across * -1.0] {
                    "M" (tip - along * 9.0 + side * 4.5) "L" (tip + side * -4.5)
                }
            } {}
        } @else {
            path.head d={ "M" (tip) "L" (tip - along * 9.0 + across * 4.0) "L" (tip - along * 9.0 - across * 4.0) "Z" } {}
        }
    }
}

/// An arrow with a letter on it.
fn datagram(curve: &Curve, place: usize) -> Markup {
    #[expect(clippy::cast_precision_loss, reason = "a few")]
    let Point(x, y) = curve.at(0.36 + 0.14 * place as f64);
    html! {
        (arrow(curve, false))
        path.letter d={ "M" (Point(x - 8.0, y - 5.5)) "h16v11h-16zl8 6l8 -6" } {}
    }
}

/// What the marks of networks with such successor lists mean.
pub fn legend(list_len: u8) -> Legend {
    let node = |life: Life| html! { g class={ "node " (life.class()) } transform="translate(15 0) scale(.7)" { (disc(life, "")) } };
    let line = Curve([Point(0.0, 0.0), Point(10.0, 0.0), Point(20.0, 0.0), Point(30.0, 0.0)]);
    let pointer = |class: &str, dead| html! { g class={ "pointer " (class) } { (arrow(&line, dead)) } };
    let mut samples: Vec<_> =
        [Life::FirstRing, Life::OtherRing, Life::Appendage, Life::Joining, Life::Failed, Life::Absent]
            .map(|life| (node(life), life.name()))
            .into();
    let successors = Pointer::SUCCESSORS.into_iter().take(list_len.into());
    samples.extend(successors.chain([Pointer::Predecessor]).map(|kind| (pointer(kind.class(), false), kind.name())));
    samples.push((pointer("succ dead", true), "to a dead node"));
    samples.push((html! { g class="best ring" { path d=(line) {} } }, "best successor"));
    samples.push((html! { g class="datagram" { (datagram(&line, 0)) } }, "datagram"));
    let rows = samples.len().div_ceil(3);
    let drawn = html! {
        @for (number, (sample, name)) in samples.iter().enumerate() {
            @let (column, row) = (number % 3, number / 3);
            g transform={ "translate(" (20 + 142 * column) " " (12 + 24 * row) ")" } {
                (sample)
                text x="38" dy=".35em" { (name) }
            }
        }
    };
    Legend { height: 24 * rows, drawn: html! { g.legend { (drawn) } } }
}

/// What the marks mean.
pub struct Legend {
    /// How high it is.
    pub height: usize,
    /// As wide as a ring.
    pub drawn: Markup,
}

#[cfg(test)]
mod tests {
    use super::*;

    const POINTERS: [Pointer; 5] =
        [Pointer::First, Pointer::Second, Pointer::Third, Pointer::Predecessor, Pointer::Candidate];

    fn points(curve: &Curve) -> impl Iterator<Item = Point> {
        (0..=20).map(|i| curve.at(f64::from(i) / 20.0))
    }

    fn circles() -> impl Iterator<Item = (Circle, Vec<Ident>)> {
        (4..=16).map(|circle| (Circle(circle), IdentSet::circle(circle).iter().collect()))
    }

    /// All arrows between two nodes, one way and the other, and what they are.
    fn curves(circle: Circle, a: Ident, b: Ident) -> Vec<Curve> {
        let ways = if a == b { vec![(a, b)] } else { vec![(a, b), (b, a)] };
        let pointers = ways.iter().flat_map(|&(a, b)| POINTERS.map(|pointer| circle.pointer(pointer, a, b)));
        pointers.chain([circle.datagram(a, b)]).collect()
    }

    #[test]
    fn nothing_leaves_the_picture() {
        for (circle, nodes) in circles() {
            for (&a, &b) in nodes.iter().flat_map(|a| nodes.iter().map(move |b| (a, b))) {
                for Point(x, y) in curves(circle, a, b).iter().flat_map(points) {
                    let inside = 4.0..f64::from(SIDE) - 4.0;
                    assert!(inside.contains(&x) && inside.contains(&y), "{a} to {b} of {}", circle.0);
                }
            }
        }
    }

    #[test]
    fn no_pointer_passes_through_a_node_that_it_does_not_mean() {
        for (circle, nodes) in circles() {
            for (&a, &b) in nodes.iter().flat_map(|a| nodes.iter().map(move |b| (a, b))) {
                for &other in nodes.iter().filter(|&&other| other != a && other != b) {
                    for point in curves(circle, a, b).iter().flat_map(points) {
                        let distance = (point - circle.place(other)).length();
                        assert!(distance > NODE, "{a} to {b} of {}: {distance} from {other}", circle.0);
                    }
                }
            }
        }
    }

    #[test]
    fn no_two_pointers_look_like_one() {
        for (circle, nodes) in circles() {
            for (&a, &b) in nodes.iter().flat_map(|a| nodes.iter().map(move |b| (a, b))) {
                let middles: Vec<_> = curves(circle, a, b).iter().map(|curve| curve.at(0.5)).collect();
                for (i, one) in middles.iter().enumerate() {
                    for other in &middles[..i] {
                        assert!((*one - *other).length() > 5.0, "{a} to {b} of {}", circle.0);
                    }
                }
            }
        }
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(Point(-0.04, 0.06).to_string(), "0 0.1");
    }
}
