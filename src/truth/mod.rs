//! Ground truth: what there is to say about a network when all its pointers are known.
//!
//! Identifiers and their circle, the pointers of all members at one instant, and which properties these have. It knows
//! nothing of protocols, nor of how a state came about.

pub mod ident;
pub mod property;
pub mod snapshot;
