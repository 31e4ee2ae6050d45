//! The judge: when each property is judged, and what a violation is.
//!
//! It drives a [world](crate::world) through a schedule, looks at [ground truth](crate::truth), and asks the atomic
//! [`model`] what becomes of what is broken. It knows nothing of how a schedule was found, nor of who reads the outcome.
//!
//! - **Never heals** (the targets that are a version): whenever nothing is on its way, the four required properties are
//!   judged in order. A broken one ends the run only if fair maintenance to a fixpoint, on a copy in the atomic
//!   [`model`], does not make the network ideal, neither in the one nor in the other of [two](model::FLUSH_FIRST)
//!   [orders](model::FLUSH_LAST). At the end everything is delivered and judged once more. A network that then does not heal
//!   counts for the required property that is broken, or that maintenance breaks; if there is none, it is a defect of
//!   ours, [`Breach::Stalled`].
//!
//!   What fair maintenance does not heal is a violation only if no order does, which a [proof](crate::judge::prove) decides. Of
//!   large networks there may be too many orders to try them all: what is undecided after [so many](NETWORKS) counts, and the
//!   [outcome](Outcome::proof) says so. What another order heals is [no violation](Verdict::Repairable), but ends the run
//!   too, so that a run ends where it ends, however many are tried.
//! - **Invariant** (`tse2017`): besides, Z17's inductive invariant after every atomic step, if it [counts](Only): it does not
//!   end the network, and breaks before anything that does.
//! - **Claims** (`claims`): all seven properties that P02 claims, after every event.
//!
//! The run stops at the first violation. A verdict says under which assumptions it was reached; a run that leaves them
//! says nothing about the protocol and is never a violation.

mod assumptions;
mod bench;
mod breach;
pub mod exhaust;
mod healing;
mod only;
pub mod prove;
mod rehearsal;
mod run;
mod target;
mod verdict;

#[cfg(doc)]
use crate::protocol::model;

pub use assumptions::Assumptions;
pub(crate) use bench::Bench;
pub use breach::{Breach, UnknownBreach};
pub(crate) use healing::heal;
#[cfg(feature = "command")]
pub(crate) use healing::unhealed;
pub use only::{BadPin, Only};
#[cfg(feature = "command")]
pub(crate) use rehearsal::Rehearsal;
pub use rehearsal::rehearse;
pub use run::{NETWORKS, Options, Outcome, run};
pub use target::{Judge, Target, signature};
pub use verdict::Verdict;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for breach in Breach::all() {
            assert_eq!(breach.name().parse(), Ok(breach));
            assert_eq!(breach.slug().parse(), Ok(breach));
        }
        for target in Target::all() {
            assert_eq!(target.to_string().parse(), Ok(target));
        }
    }
}
