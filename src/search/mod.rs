//! The search: who makes schedules, and what steers them.
//!
//! libFuzzer's targets and what is new to them; blind sweeps, and the tables that are made of these; and what a corpus
//! reaches. All that a search finds goes through the [judge](crate::judge), and out as a [finding](crate::finding).

#[cfg(feature = "command")]
pub mod census;
pub mod fuzzing;
#[cfg(feature = "command")]
pub mod matrix;
pub mod novelty;
pub mod reach;
#[cfg(feature = "command")]
pub mod sweep;
