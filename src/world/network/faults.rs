//! What a schedule takes from the network: loss and partition, of which the broker knows nothing.

use crate::truth::ident::{Ident, IdentSet};

/// The faults of the network now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The nodes whose next datagram is lost.
    pub losing: IdentSet,
    /// The nodes on the far side of the partition.
    pub cut: IdentSet,
}

impl Faults {
    /// Whether a datagram that is sent now is lost. It may be the next one of its sender, which is then behind.
    #[inline]
    pub(super) fn lose(&mut self, from: Ident, to: Ident) -> bool {
        let lost = self.losing.contains(from) || self.cut.contains(from) != self.cut.contains(to);
        if lost {
            self.losing.remove(from);
        }
        lost
    }
}
