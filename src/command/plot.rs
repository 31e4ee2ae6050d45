//! What the plots of several subcommands share.

use indicatif::HumanCount;

/// A count as a place on an axis.
#[expect(clippy::cast_precision_loss, reason = "below 2^53, or a place on an axis")]
pub fn number(count: u64) -> f64 {
    count as f64
}

/// A number that is a count but for rounding, for people.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
pub fn rounded(value: f64) -> HumanCount {
    HumanCount(value.round() as u64)
}
