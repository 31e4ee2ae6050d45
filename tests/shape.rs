//! The shape of a schedule: the same for schedules that differ in names alone, and for no others.

mod common;

use chord_fuzz::finding::shape::shape;
use chord_fuzz::judge::{Options, Target, Verdict, run};
use chord_fuzz::protocol::version::Version;
use chord_fuzz::schedule::{Schedule, Setup, Step};
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::snapshot::{Pointers, Snapshot, SuccList};
use chord_fuzz::world::trace::{Event, Observer};

const LIST_TARGETS: [&str; 6] =
    ["sigcomm2001", "ccr2012", "best2012", "claims", "sigcomm2001+answer", "ccr2012+update+reconcile+answer"];

fn target(name: &str) -> Target {
    name.parse().unwrap()
}

/// A random schedule as executed, from so many members on the smallest circle that has room for a joiner after each.
fn executed(rng: &mut fastrand::Rng, target: Target, ring: u8, steps: usize, delays: bool) -> Schedule {
    let mut bytes = common::bytes(rng, 2 + 2 * steps);
    bytes[0] = if delays { 0x08 } else { 0 };
    let mut schedule = Schedule::decode(&bytes);
    schedule.setup = Setup { ring, circle: 4.max(2 * ring), list_len: 2, faults: false };
    run(target, &schedule, &Options::default(), &mut ()).executed
}

fn renamed(schedule: &Schedule, circle: u8, name: impl Fn(Ident) -> Ident) -> Schedule {
    let rename = |step: &Step| Step { node: name(step.node), contact: name(step.contact), ..*step }.canonical();
    let setup = Setup { circle, ..schedule.setup };
    Schedule { setup, steps: schedule.steps.iter().map(rename).collect() }
}

fn renamed_network(network: &Snapshot, circle: u8, name: impl Fn(Ident) -> Ident) -> Snapshot {
    let mut renamed = Snapshot::empty(circle, network.list_len());
    for x in network.members().iter() {
        let Pointers { list, prdc, saved } = *network.pointers(x);
        let list = SuccList::of(list.as_slice().iter().map(|&x| name(x)));
        renamed.set(name(x), Some(Pointers { list, prdc: prdc.map(&name), saved: saved.map(&name) }));
    }
    renamed
}

/// Keeps the network after every step.
#[derive(Default)]
struct Networks(Vec<Snapshot>);

impl Observer for Networks {
    fn observe(&mut self, _event: impl FnOnce() -> Event) {}

    fn see(&mut self, network: &Snapshot, _changed: bool) {
        self.0.push(*network);
    }
}

/// Asserts that a schedule under other names has the same shape, and is the same run under these names.
fn assert_same(target: Target, schedule: &Schedule, circle: u8, name: impl Fn(Ident) -> Ident) -> Verdict {
    let other = renamed(schedule, circle, &name);
    let rules = target.version.rules();
    assert_eq!(shape(rules, schedule), shape(rules, &other), "{target}\n{schedule}\n{other}");
    let [mut before, mut after] = [Networks::default(), Networks::default()];
    let expected = run(target, schedule, &Options::default(), &mut before);
    let outcome = run(target, &other, &Options::default(), &mut after);
    assert_eq!(outcome.executed, other, "{target}\n{schedule}");
    assert_eq!(outcome.verdict, expected.verdict, "{target}\n{schedule}\n{other}");
    let networks: Vec<_> = before.0.iter().map(|network| renamed_network(network, circle, &name)).collect();
    assert_eq!(after.0, networks, "{target}\n{schedule}\n{other}");
    outcome.verdict
}

/// In the same order, also with delays and on a larger circle.
#[test]
fn names_in_the_same_order_are_the_same_run() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut violations = 0;
    for target in LIST_TARGETS.map(target) {
        for n in 0..400 {
            let schedule = executed(&mut rng, target, 1, 40, n % 2 == 0);
            // 0 stays where it is; the gaps between the others, 1 to 3, become wider.
            let mut names: Vec<u8> = (1..16).collect();
            rng.shuffle(&mut names);
            names.truncate(3);
            names.sort_unstable();
            let name = |x: Ident| if x.get() == 0 { x } else { Ident::new(names[x.index() - 1]) };
            violations += u32::from(assert_same(target, &schedule, 16, name) != Verdict::Ideal);
        }
    }
    assert!(violations > 100, "{violations}");
}

/// Without delays, turned around the circle so that the start comes to lie on itself.
#[test]
fn names_turned_around_the_circle_are_the_same_run() {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut violations = 0;
    for target in LIST_TARGETS.map(target) {
        for n in 0..250 {
            let ring = 2 + n % 5;
            let schedule = executed(&mut rng, target, ring, 40, false);
            let (circle, turn) = (2 * ring, 2 * rng.u8(1..ring));
            let name = |x: Ident| Ident::new((x.get() + turn) % circle);
            violations += u32::from(assert_same(target, &schedule, circle, name) != Verdict::Ideal);
        }
    }
    assert!(violations > 100, "{violations}");
}

/// Of many small schedules, two have the same shape only if a permitted renaming makes one of the other, but for the order
/// of its steps, and the network at the end with it; and with delays, exactly if it does so without that exception.
#[test]
fn nothing_else_has_the_same_shape() {
    let target = target("ccr2012");
    let rules = target.version.rules();
    let mut rng = fastrand::Rng::with_seed(3);
    let (mut same, mut different, mut reordered) = (0, 0, 0);
    for (ring, delays) in [(1, false), (1, true), (2, false), (2, true), (3, false)] {
        let schedules: Vec<_> = (0..200).map(|n| executed(&mut rng, target, ring, 1 + n % 5, delays)).collect();
        for (i, a) in schedules.iter().enumerate() {
            for b in &schedules[..i] {
                let is_same = shape(rules, a) == shape(rules, b);
                let named = some_renaming(a, b, |a, b| a.steps == b.steps);
                if is_same && !named {
                    let atomic = a.steps.iter().chain(&b.steps).all(|step| step.immediate());
                    assert!(atomic && some_renaming(a, b, |a, b| same_steps(a, b) && end(a) == end(b)), "{a}\n{b}");
                    reordered += 1;
                }
                assert!(is_same || !named, "{a}\n{b}");
                if is_same { same += 1 } else { different += 1 }
            }
        }
    }
    assert!(same > 1_000 && different > 1_000 && reordered > 100, "{same} {different} {reordered}");
}

fn same_steps(a: &Schedule, b: &Schedule) -> bool {
    let sorted = |schedule: &Schedule| {
        let mut steps: Vec<_> = schedule.steps.iter().map(ToString::to_string).collect();
        steps.sort();
        steps
    };
    sorted(a) == sorted(b)
}

/// The network at the end of a schedule of `ccr2012`, whose steps must all be executed as they are.
fn end(schedule: &Schedule) -> Snapshot {
    let outcome = run(target("ccr2012"), schedule, &Options::default(), &mut ());
    assert_eq!(outcome.executed, *schedule);
    outcome.network
}

/// Whether some way to call the nodes in use by other identifiers in the same cyclic order, so that the start comes to lie
/// on itself, and without a turn where there are delays, makes of the one what compares well with the other.
fn some_renaming(a: &Schedule, b: &Schedule, compares: impl Fn(&Schedule, &Schedule) -> bool) -> bool {
    let Setup { ring, circle, .. } = a.setup;
    let start = a.setup.members();
    let used: IdentSet = start.iter().chain(a.steps.iter().map(|step| step.node)).collect();
    let turns = if a.steps.iter().chain(&b.steps).all(|step| step.immediate()) { ring } else { 1 };
    let ways = (0..turns).flat_map(|turn| (0..1u16 << circle).map(move |choice| (turn, choice)));
    ways.into_iter().any(|(turn, choice)| {
        let chosen: IdentSet = IdentSet::circle(circle).iter().filter(|x| choice & 1 << x.get() != 0).collect();
        let mut names = [Ident::default(); 16];
        for (x, name) in used.iter().zip(chosen.iter_from(Ident::new(2 * turn))) {
            names[x.index()] = name;
        }
        chosen.len() == used.len()
            && start.iter().map(|x| names[x.index()]).collect::<IdentSet>() == start
            && compares(&renamed(a, circle, |x| names[x.index()]), b)
    })
}

/// Joins at two places do not depend on each other; a node that stabilizes and then fails depends on that.
#[test]
fn the_order_of_steps_matters_only_where_they_depend_on_each_other() {
    let same = |target: &str, a: &str, b: &str| {
        let [a, b] = [a, b].map(|steps| format!("circle 8\nring 3\n{}", steps.replace("; ", "\n")).parse().unwrap());
        let rules = target.parse::<Target>().unwrap().version.rules();
        shape(rules, &a) == shape(rules, &b)
    };
    for target in ["ccr2012", "tse2017"] {
        assert!(same(target, "join 1 via 0; join 3 via 2", "join 3 via 2; join 1 via 0"), "{target}");
        let [early, late] = ["join 1 via 0; stabilize 1; join 3 via 2", "join 3 via 2; join 1 via 0; stabilize 1"];
        assert!(same(target, early, late), "{target}");
        assert!(!same(target, "join 1 via 0; stabilize 1", "join 1 via 0; stabilize 0"), "other steps: {target}");
        let [early, late] = ["join 1 via 0; stabilize 1; stabilize 0", "join 1 via 0; stabilize 0; stabilize 1"];
        assert!(!same(target, early, late), "what 0 reads is what 1 has told 2: {target}");
        let delayed = |steps: &str| steps.replace("1 via 0", "1 via 0 delay 1");
        let [a, b] = ["join 1 via 0; join 3 via 2", "join 3 via 2; join 1 via 0"].map(delayed);
        assert!(!same(target, &a, &b), "with delays: {target}");
    }
}

/// Z17 knows which identifier follows another one.
#[test]
fn to_tse2017_names_matter() {
    let target = target("tse2017");
    let schedule: Schedule = "circle 8\nring 3\njoin 6 via 4\n".parse().unwrap();
    let others = ["circle 8\nring 3\njoin 7 via 4\n", "circle 9\nring 3\njoin 6 via 4\n"];
    for other in others.map(|text| text.parse().unwrap()) {
        assert_ne!(shape(target.version.rules(), &schedule), shape(target.version.rules(), &other));
        assert_eq!(shape(Version::CCR2012.rules(), &schedule), shape(Version::CCR2012.rules(), &other));
    }
}
