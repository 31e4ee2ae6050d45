//! Which violations count.

use std::str::FromStr;

use crate::judge::{Breach, UnknownBreach, Verdict};
use crate::truth::snapshot::Snapshot;

/// Which breaches count: all, or only some, so that a minimizer stays with the one that it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only(Option<Vec<Pin>>);

/// One of the breaches that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pin {
    breach: Breach,
    /// How many members must be on a ring, at least, where it is broken.
    ring: u32,
}

impl Only {
    /// Only these count.
    #[must_use]
    pub fn these(breaches: Vec<Breach>) -> Self {
        Self(Some(breaches.into_iter().map(|breach| Pin { breach, ring: 0 }).collect()))
    }

    /// Whether this one counts, at least on a ring that is big enough.
    #[must_use]
    pub fn counts(&self, breach: Breach) -> bool {
        self.counts_on(breach, u32::MAX)
    }

    /// Whether this one counts where so many members are on a ring.
    fn counts_on(&self, breach: Breach, ring: u32) -> bool {
        self.0.as_ref().is_none_or(|only| only.iter().any(|pin| pin.breach == breach && ring >= pin.ring))
    }

    /// What a run within the assumptions comes to that ends with this network.
    pub(super) fn verdict(&self, breach: Option<Breach>, network: &Snapshot) -> Verdict {
        match breach {
            None => Verdict::Ideal,
            Some(breach) if self.counts_on(breach, network.ring().len()) => Verdict::Violated(breach),
            Some(breach) => Verdict::Masked(breach),
        }
    }
}

/// Why a text does not say which breaches count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPin {
    /// There is no such breach.
    #[error(transparent)]
    Breach(#[from] UnknownBreach),
    /// What follows the `@` is no number of members.
    #[error("`{0}`: after the @ must be how many members are on a ring, a number from 1 to 16")]
    Ring(String),
}

/// Names of breaches, separated by commas; nothing at all stands for all. `ordered-ring@5` counts only where at least
/// five members are on a ring.
impl FromStr for Only {
    type Err = BadPin;

    fn from_str(text: &str) -> Result<Self, BadPin> {
        let names: Vec<_> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            return Ok(Self::default());
        }
        let pin = |name: &str| match name.split_once('@') {
            None => Ok(Pin { breach: name.parse()?, ring: 0 }),
            Some((breach, ring)) => match ring.parse() {
                Ok(ring @ 1..=16) => Ok(Pin { breach: breach.parse()?, ring }),
                _ => Err(BadPin::Ring(name.to_owned())),
            },
        };
        names.into_iter().map(pin).collect::<Result<_, _>>().map(|pins| Self(Some(pins)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Options, Target, rehearse, run};
    use crate::protocol::version::Version;
    use crate::schedule::Schedule;
    use crate::truth::property::Property;

    #[test]
    fn a_pin_lists_what_counts() {
        let only: Only = "at-most-one-ring, OrderedRing".parse().unwrap();
        assert!(only.counts(Breach::Broken(Property::AtMostOneRing)));
        assert!(only.counts(Breach::Broken(Property::OrderedRing)));
        assert!(!only.counts(Breach::Stalled));
        assert!(Breach::all().all(|breach| "".parse::<Only>().unwrap().counts(breach)));
        assert_eq!(
            "atmostonering".parse::<Only>().unwrap_err().to_string(),
            "nothing that can be violated is called `atmostonering`: there are at-least-one-ring, at-most-one-ring, \
             ordered-ring, connected-appendages, ordered-merges, ordered-appendages, valid-successor-list, invariant, \
             stalled, runaway"
        );
    }

    #[test]
    fn a_pin_may_ask_for_a_big_ring() {
        let only: Only = "stalled,ordered-ring@3".parse().unwrap();
        assert!(only.counts(Breach::Broken(Property::OrderedRing)));
        let text = "join 1 via 0\njoin 2 via 0\njoin 3 via 0\nstabilize 2\nstabilize 0\nstabilize 1\nstabilize 3\n\
                        reconcile 0\nreconcile 2\nstabilize 0\nstabilize 2\nfail 1\nfail 3\n";
        let schedule: Schedule = text.parse().unwrap();
        let two_rings = Breach::Broken(Property::AtMostOneRing);
        for (pin, verdict) in [
            ("at-most-one-ring@2", Verdict::Violated(two_rings)),
            ("at-most-one-ring@3", Verdict::Masked(two_rings)),
            ("ordered-ring", Verdict::Masked(two_rings)),
        ] {
            let options = Options { only: pin.parse().unwrap(), ..Options::default() };
            let target = Target::of(Version::CCR2012);
            assert_eq!(rehearse(target, &schedule, &options).0, verdict, "{pin}");
            assert_eq!(run(target, &schedule, &options, &mut ()).verdict, verdict, "{pin}");
        }
        for pin in ["ordered-ring@", "ordered-ring@0", "ordered-ring@17", "ordered-ring@5@5", "@5", "ring@5"] {
            assert!(pin.parse::<Only>().is_err(), "{pin}");
        }
        assert_eq!(
            "ordered-ring@0".parse::<Only>().unwrap_err().to_string(),
            "`ordered-ring@0`: after the @ must be how many members are on a ring, a number from 1 to 16"
        );
    }
}
