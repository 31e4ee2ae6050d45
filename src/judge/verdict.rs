//! What a run comes to.

use crate::judge::Breach;
#[cfg(doc)]
use crate::judge::Only;

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing is violated, and the network heals to the ideal.
    Ideal,
    /// The protocol violates this.
    Violated(Breach),
    /// Fair maintenance does not heal what breaks this, but some other order does, so that it is no violation.
    Repairable(Breach),
    /// The run violates this, but it does not [count](Only).
    Masked(Breach),
    /// The run left the assumptions, so that whatever came of it says nothing about the protocol.
    Outside(Option<Breach>),
}

impl Verdict {
    /// What the run violates, be it within the assumptions or outside; not what is masked, or heals in another order.
    #[must_use]
    pub fn found(self) -> Option<Breach> {
        match self {
            Self::Violated(breach) => Some(breach),
            Self::Outside(breach) => breach,
            Self::Ideal | Self::Repairable(_) | Self::Masked(_) => None,
        }
    }
}
