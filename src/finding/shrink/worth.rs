//! What one finding is worth more than another of the same signature.

use crate::judge::prove::{Decision, Proof};
use crate::judge::{Breach, Outcome};

/// What is kept besides the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is kept by itself")]
pub(super) struct Worth {
    /// Whether the run is within the assumptions.
    within: bool,
    pub(super) immediate: bool,
    pub(super) ring: u8,
    /// Whether the steps break the property, and not only the maintenance afterwards.
    by_itself: bool,
    /// Whether it is known that no order of maintenance heals the network.
    pub(super) for_good: bool,
}

impl Worth {
    pub(super) fn of(breach: Breach, outcome: &Outcome, networks: usize) -> Self {
        Self {
            within: outcome.assumptions.hold(),
            immediate: outcome.assumptions.immediate,
            ring: outcome.executed.setup.ring,
            by_itself: match breach {
                Breach::Broken(property) => !property.holds(&outcome.network),
                Breach::Stalled | Breach::Runaway => true,
            },
            for_good: match outcome.proof {
                Some(Decision::Tried(Proof::Irreparable { networks: known })) => known <= networks,
                Some(Decision::Obstructed(_)) => true,
                _ => false,
            },
        }
    }

    pub(super) fn keeps(self, of: Self) -> bool {
        self.within >= of.within
            && self.immediate >= of.immediate
            && self.ring <= of.ring
            && self.by_itself >= of.by_itself
            && self.for_good >= of.for_good
    }
}
