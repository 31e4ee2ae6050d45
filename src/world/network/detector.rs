//! The failure detector: which request will have no answer, and when a failed node is still taken for alive.

use super::Delays;
use crate::protocol::replica::Nonce;
use crate::truth::ident::{Ident, IdentSet, MAX_IDENTS};

/// A request whose answer is not yet on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) on: Ident,
    pub(super) nonce: Nonce,
    pub(super) delays: Delays,
}

/// What the detector knows.
#[derive(Debug, Default)]
pub(super) struct Detector {
    /// The one request of each node that is neither answered nor given up.
    pub(super) open: [Option<Open>; MAX_IDENTS],
    /// For how many steps after its failure a node is taken for alive.
    late: u8,
    /// When each node failed that has, and is not there again.
    failed: [Option<u64>; MAX_IDENTS],
    /// Whether a failed node was taken for alive.
    pub(super) mistaken: bool,
}

impl Detector {
    /// One that takes a node for alive for so many steps after its failure.
    pub(super) fn late(late: u8) -> Self {
        Self { late, ..Self::default() }
    }

    /// Whether this node has failed and is taken for alive.
    #[inline]
    pub(super) fn unnoticed(&self, node: Ident, now: u64) -> bool {
        self.late > 0 && self.failed[node.index()].is_some_and(|at| now <= at + u64::from(self.late))
    }

    /// Whether there is such a node.
    pub(super) fn any_unnoticed(&self, now: u64) -> bool {
        self.late > 0 && (0..16).map(Ident::new).any(|node| self.unnoticed(node, now))
    }

    /// This node fails at this time; at none, it is there again.
    pub(super) fn fail(&mut self, node: Ident, at: Option<u64>) {
        self.failed[node.index()] = at;
    }

    /// Whether this node waits for the answer to this request.
    #[inline]
    pub(super) fn awaits(&self, asker: Ident, nonce: Nonce) -> bool {
        self.open[asker.index()].is_some_and(|open| open.nonce == nonce)
    }

    /// Who waits for an answer of this node.
    pub(super) fn askers(&self, asked: Ident) -> IdentSet {
        let asks = |asker: &Ident| self.open[asker.index()].is_some_and(|open| open.on == asked);
        (0..16).map(Ident::new).filter(asks).collect()
    }

    /// Gives up the open request of this node, and says which one it was and whether the asked node is taken for alive.
    pub(super) fn give_up(&mut self, asker: Ident, now: u64) -> Option<(Open, bool)> {
        let open = self.open[asker.index()].take()?;
        let unnoticed = self.unnoticed(open.on, now);
        self.mistaken |= unnoticed;
        Some((open, unnoticed))
    }
}
