//! Findings: what people and other programs read of a run, and how a schedule is made worth reading.
//!
//! It runs and judges schedules again as often as it likes. It knows nothing of how they were found.

pub mod repairs;
pub mod report;
pub mod shape;
pub mod shrink;
pub mod story;
#[cfg(feature = "command")]
pub mod triage;
pub mod weftlog;
