//! State novelty: what is new about a network, told to libFuzzer through its extra counters.
//!
//! Code coverage saturates within seconds on a protocol this small; what is rare lies in the states. Every network that
//! a run comes by is abstracted to a few features, and each feature is a counter that libFuzzer treats like an edge of
//! the code. A feature is a pure function of the network, and there are few of them: a finer abstraction floods the
//! corpus.
//!
//! Two families of features are used:
//!
//! - *danger*: how many members there are, how many lists skip a live member, how many first successors are dead, and
//!   how many members are off the ring;
//! - *pairs*: the class of a node together with the class of its best successor, where a node's class is whether it is
//!   on the ring, whether its first successor is dead, whether its list skips a live member, and whether its
//!   predecessor is missing, dead, one that has it as best successor, or another.
//!
//! Others were tried: either family alone, with what is in flight, with consecutive states. `docs/search` says what they gave.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};
use crate::truth::snapshot::Snapshot;
use crate::world::trace::{Event, Observer};

const DANGER: usize = 8 * 4 * 4 * 4;
const CLASSES: usize = 32;

/// How many features there are.
pub const FEATURES: usize = DANGER + CLASSES * CLASSES;

/// The features of a network, each below [`FEATURES`].
pub fn features(network: &Snapshot) -> impl Iterator<Item = usize> {
    let members = network.members();
    let mut best: [Option<Ident>; MAX_IDENTS] = [None; MAX_IDENTS];
    for x in members.iter() {
        best[x.index()] = network.best_succ(x);
    }
    let ring = network.cycles(|x| best[x.index()]);
    let mut skipping = IdentSet::EMPTY;
    let mut dead = IdentSet::EMPTY;
    for x in members.iter() {
        let list = network.pointers(x).list;
        let mut last = x;
        for &entry in list.as_slice() {
            if !(IdentSet::arc(last, entry) & members).is_empty() {
                skipping.insert(x);
            }
            last = entry;
        }
        if list.first().is_none_or(|succ| !network.live(succ)) {
            dead.insert(x);
        }
    }
    let count = |set: IdentSet, most: u32| set.len().min(most) as usize;
    let danger = ((count(members, 7) * 4 + count(skipping, 3)) * 4 + count(dead, 3)) * 4 + count(members - ring, 3);

    // Each is wanted twice or more: for the node itself, and for those whose best successor it is.
    let mut classes = [0; MAX_IDENTS];
    for x in members.iter() {
        let prdc = match network.pointers(x).prdc {
            None => 0,
            Some(prdc) if !network.live(prdc) => 1,
            Some(prdc) if best[prdc.index()] == Some(x) => 2,
            Some(_) => 3,
        };
        let bit = |set: IdentSet| usize::from(set.contains(x));
        classes[x.index()] = ((prdc * 2 + bit(ring)) * 2 + bit(dead)) * 2 + bit(skipping);
    }
    let pairs = members.iter().filter_map(move |x| {
        let succ = best[x.index()]?;
        Some(DANGER + classes[x.index()] * CLASSES + classes[succ.index()])
    });
    pairs.chain([danger])
}

/// libFuzzer takes every byte of this section for a counter, and clears it before each run. A multiple of eight long and
/// aligned to a cache line, as it scans words; `used`, since a linker drops what nobody reads.
#[repr(align(64))]
struct Counters([AtomicU8; FEATURES.next_multiple_of(64)]);

#[used]
#[expect(unsafe_code, reason = "libFuzzer finds its extra counters by the name of their section")]
#[cfg_attr(target_os = "linux", unsafe(link_section = "__libfuzzer_extra_counters"))]
static COUNTERS: Counters = Counters([const { AtomicU8::new(0) }; FEATURES.next_multiple_of(64)]);

/// Marks the features of every network of a run in libFuzzer's extra counters. That a state occurs is what counts, not
/// how often, so a counter is set to 1.
#[derive(Clone, Copy, Debug)]
pub struct Novelty;

impl Observer for Novelty {
    fn observe(&mut self, _event: impl FnOnce() -> Event) {}

    fn see(&mut self, network: &Snapshot, changed: bool) {
        if !changed {
            return;
        }
        for feature in features(network) {
            COUNTERS.0[feature].store(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Options, Target, run};
    use crate::schedule::Schedule;

    /// Counts in how many networks each feature occurs.
    struct Seen(Vec<u32>);

    impl Observer for Seen {
        fn observe(&mut self, _event: impl FnOnce() -> Event) {}

        fn see(&mut self, network: &Snapshot, _changed: bool) {
            for feature in features(network) {
                self.0[feature] += 1;
            }
        }
    }

    /// Enough features occur that there is something to be guided by, and few enough that the corpus is not flooded.
    #[test]
    fn a_few_hundred_features_occur() {
        let mut seen = Seen(vec![0; FEATURES]);
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..3_000 {
            let bytes: Vec<u8> = (0..122).map(|_| rng.u8(..)).collect();
            let _ = run(Target::all()[1], &Schedule::decode(&bytes), &Options::default(), &mut seen);
        }
        let reached = seen.0.iter().filter(|count| **count > 0).count();
        assert!((150..1_000).contains(&reached), "{reached} of {FEATURES}");
        let rare = seen.0.iter().filter(|count| (1..10).contains(*count)).count();
        assert!(rare > 20, "{rare}");
    }

    #[test]
    fn every_feature_of_every_network_is_marked() {
        let schedule: Schedule = "join 3 via 0\nstabilize 3\nstabilize 0\nfail 3\n".parse().unwrap();
        let mut seen = Seen(vec![0; FEATURES]);
        let _ = run(Target::all()[1], &schedule, &Options::default(), &mut seen);
        let _ = run(Target::all()[1], &schedule, &Options::default(), &mut Novelty);
        let marked = |feature: usize| COUNTERS.0[feature].load(Ordering::Relaxed) == 1;
        let reached: Vec<_> = (0..FEATURES).filter(|&feature| seen.0[feature] > 0).collect();
        assert!(reached.len() > 5 && reached.iter().all(|&feature| marked(feature)), "{reached:?}");
    }

    #[test]
    fn the_counters_are_laid_out_as_libfuzzer_wants() {
        assert_eq!(size_of::<Counters>() % 8, 0);
        assert_eq!(std::ptr::from_ref(&COUNTERS).addr() % 64, 0);
    }
}
