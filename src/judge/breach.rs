//! What can be violated.

use std::fmt;
use std::str::FromStr;

use crate::truth::property::Property;
#[cfg(doc)]
use crate::world::network::MAX_DATAGRAMS;

/// What a run violates. With the target it is a violation's *signature*, and nothing finer is: no identifiers, steps or
/// lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breach {
    /// A property is broken.
    Broken(Property),
    /// The network does not become ideal although maintenance breaks no required property, or a node waits for an answer
    /// that nobody will give: a defect of ours.
    Stalled,
    /// The run sends more than [`MAX_DATAGRAMS`] datagrams: a defect of ours.
    Runaway,
}

impl Breach {
    /// Every breach.
    pub fn all() -> impl Iterator<Item = Self> {
        Property::ALL.into_iter().map(Self::Broken).chain([Self::Stalled, Self::Runaway])
    }

    /// The name in a signature, as in `AtMostOneRing`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken(property) => property.name(),
            Self::Stalled => "Stalled",
            Self::Runaway => "Runaway",
        }
    }

    /// The name for files and the command line, as in `at-most-one-ring`.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::Broken(property) => property.slug(),
            Self::Stalled => "stalled",
            Self::Runaway => "runaway",
        }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No breach has this name or slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing that can be violated is called `{0}`: there are {list}", list = slugs())]
pub struct UnknownBreach(
    /// The name as written.
    pub String,
);

fn slugs() -> String {
    Breach::all().map(Breach::slug).collect::<Vec<_>>().join(", ")
}

impl FromStr for Breach {
    type Err = UnknownBreach;

    fn from_str(text: &str) -> Result<Self, UnknownBreach> {
        let named = |breach: &Self| [breach.name(), breach.slug()].contains(&text);
        Self::all().find(named).ok_or_else(|| UnknownBreach(text.to_owned()))
    }
}
