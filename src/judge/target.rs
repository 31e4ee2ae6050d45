//! What is run, and by what it is judged.

use std::fmt;
use std::str::FromStr;

use anyhow::Context as _;

use crate::judge::Breach;
use crate::protocol::version::{UnknownVersion, Version};

/// How a run is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The required properties, for good; with the stable base of Z17 also its invariant.
    NeverHeals,
    /// All seven claimed properties, at every event.
    Claims,
}

/// What a fuzz target tests: a version, and how it is judged. Written as the version, or `claims`, which is `ccr2012`
/// judged by [`Judge::Claims`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The version.
    pub version: Version,
    /// How it is judged.
    pub judge: Judge,
}

impl Target {
    /// The target `claims`.
    pub const CLAIMS: Self = Self { version: Version::CCR2012, judge: Judge::Claims };

    /// The target of a version.
    #[must_use]
    pub const fn of(version: Version) -> Self {
        Self { version, judge: Judge::NeverHeals }
    }

    /// The fuzz targets, by the names of their directories.
    #[must_use]
    pub fn all() -> [Self; 5] {
        let [a, b, c, d] = Version::PUBLISHED.map(Self::of);
        [a, b, c, d, Self::CLAIMS]
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.judge {
            Judge::NeverHeals => self.version.fmt(f),
            Judge::Claims => f.write_str("claims"),
        }
    }
}

impl FromStr for Target {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        if text == "claims" { Ok(Self::CLAIMS) } else { text.parse().map(Self::of) }
    }
}

/// Reads a signature: a target and a breach, as in `ccr2012/OrderedRing` or `ccr2012/ordered-ring`.
///
/// # Errors
///
/// If it is not of this form, or there is no such target or breach.
pub fn signature(text: &str) -> anyhow::Result<(Target, Breach)> {
    let (target, breach) =
        text.split_once('/').context("a signature is a target and a property, as in ccr2012/OrderedRing")?;
    Ok((target.parse()?, breach.parse()?))
}
