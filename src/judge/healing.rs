//! Whether fair maintenance heals a network.

use crate::judge::Breach;
use crate::protocol::model::{self, FLUSH_FIRST, FLUSH_LAST, MAX_ROUNDS};
use crate::protocol::version::Rules;
use crate::truth::property::{Property, first_broken, ideal};
use crate::truth::snapshot::Snapshot;

/// Does fair maintenance, and returns what a network at rest that does not heal is a violation of.
pub(crate) fn unhealed(rules: Rules, network: &mut Snapshot) -> Option<Breach> {
    let before = *network;
    if heal(rules, network) {
        return None;
    }
    // Where nothing required is broken yet, maintenance itself may have broken it, which is the protocol's doing.
    let broken = [&before, network].into_iter().find_map(|at| first_broken(at, &Property::REQUIRED));
    Some(broken.map_or(Breach::Stalled, Breach::Broken))
}

/// The required property, if one is broken, of a network that does not heal.
pub(crate) fn lost(rules: Rules, network: &Snapshot) -> Option<Breach> {
    let broken = first_broken(network, &Property::REQUIRED)?;
    let mut settled = *network;
    (!heal(rules, &mut settled)).then_some(Breach::Broken(broken))
}

/// Does fair maintenance to a fixpoint, in the atomic model, and returns whether the network is then ideal. If it is not by
/// the first fair order, nor by the second, it is left as it is by the first.
pub(crate) fn heal(rules: Rules, network: &mut Snapshot) -> bool {
    let by = |order, network: &mut Snapshot| {
        // What is ideal changes no more. It takes much less to see that than another round.
        (0..MAX_ROUNDS).any(|_| ideal(network) || !model::round(rules, network, order)) && ideal(network)
    };
    let mut other = *network;
    if by(FLUSH_FIRST, network) {
        return true;
    }
    let heals = by(FLUSH_LAST, &mut other);
    if heals {
        *network = other;
    }
    heals
}
