//! The table of versions: which rules each published version of Chord has, and the switches that ablate them
//! (spec section 2).

use std::fmt;
use std::str::FromStr;

use crate::schedule::{MAX_START, MIN_CIRCLE, Setup};
use crate::truth::ident::MAX_IDENTS;

/// Which liveness checks a version of the list family makes before it adopts a pointer (spec section 2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "five independent switches are what the spec names")]
pub struct Checks {
    /// A join adopts the contact's successor only if that is live (Z12, fix 1).
    pub join: bool,
    /// A stabilization adopts the successor's predecessor only if that is live (Z12, fix 2).
    pub adopt: bool,
    /// An update promotes the second successor only if that is live (W26, level 2).
    pub update: bool,
    /// A reconciliation adopts the successor's successor only if that is live (W26, level 2).
    pub reconcile: bool,
    /// The answer to a reconcile query names the first *live* successor, if there is one (W26, level 2).
    pub answer: bool,
}

/// The rules of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rules {
    /// `succ`, `succ2`, `prdc`: S01 completed by P02, and what Z12 made of it.
    List {
        /// The liveness checks.
        checks: Checks,
        /// Whether the second successor is filled in as early as possible, and a stabilization reads and decides in
        /// two steps (`best2012`: Z12's Promela model).
        eager: bool,
    },
    /// The version that Z17 proves correct.
    Tse {
        /// Whether a node whose query is out withholds its state from others until the step is done (spec section 5).
        busy: bool,
        /// Whether the stable base holds: at least r + 1 members to start with, and no principal fails while there
        /// are only r + 1 principals (spec section 2.4).
        base: bool,
    },
}

impl Rules {
    /// The nearest setup that these rules permit: `tse2017` starts from at least r + 1 members (Z17), and the other
    /// versions have lists of 2 (P02).
    #[must_use]
    pub fn fit(self, setup: Setup) -> Setup {
        let (list_len, least) = match self {
            Self::List { .. } => (2, 1),
            Self::Tse { base: true, .. } => (setup.list_len.clamp(2, 3), setup.list_len.clamp(2, 3) + 1),
            Self::Tse { base: false, .. } => (setup.list_len.clamp(2, 3), 1),
        };
        let ring = setup.ring.clamp(least, MAX_START);
        #[expect(clippy::cast_possible_truncation, reason = "16 fits")]
        let circle = setup.circle.clamp(MIN_CIRCLE.max(2 * ring), MAX_IDENTS as u8);
        Setup { ring, circle, list_len, ..setup }
    }
}

/// A published version of Chord, or an ablation of one.
///
/// Written as the version's name, then `+switch` or `-switch` for each rule that differs from it, as in
/// `ccr2012+update-adopt` or `tse2017-busy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    name: &'static str,
    published: Rules,
    rules: Rules,
}

const NO_CHECKS: Checks = Checks { join: false, adopt: false, update: false, reconcile: false, answer: false };
const TWO_FIXES: Checks = Checks { join: true, adopt: true, ..NO_CHECKS };

impl Version {
    /// S01 completed by P02, exactly as published: no liveness checks.
    pub const SIGCOMM2001: Self = Self::published("sigcomm2001", Rules::List { checks: NO_CHECKS, eager: false });
    /// The same with the two "straightforward fixes" of Z12.
    pub const CCR2012: Self = Self::published("ccr2012", Rules::List { checks: TWO_FIXES, eager: false });
    /// The "best" protocol of Z12, of which it says that it is not correct.
    pub const BEST2012: Self = Self::published("best2012", Rules::List { checks: TWO_FIXES, eager: true });
    /// The version that Z17 proves correct.
    pub const TSE2017: Self = Self::published("tse2017", Rules::Tse { busy: true, base: true });

    /// The published versions, oldest first.
    pub const PUBLISHED: [Self; 4] = [Self::SIGCOMM2001, Self::CCR2012, Self::BEST2012, Self::TSE2017];

    const fn published(name: &'static str, rules: Rules) -> Self {
        Self { name, published: rules, rules }
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }
}

/// The switches of these rules by name, in the order in which they are written.
fn switches(rules: &mut Rules) -> Vec<(&'static str, &mut bool)> {
    match rules {
        Rules::List { checks, .. } => {
            let Checks { join, adopt, update, reconcile, answer } = checks;
            vec![("join", join), ("adopt", adopt), ("update", update), ("reconcile", reconcile), ("answer", answer)]
        }
        Rules::Tse { busy, base } => vec![("busy", busy), ("base", base)],
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        let (mut published, mut rules) = (self.published, self.rules);
        for ((switch, on), (_, was)) in switches(&mut rules).into_iter().zip(switches(&mut published)) {
            if on != was {
                write!(f, "{}{switch}", if *on { '+' } else { '-' })?;
            }
        }
        Ok(())
    }
}

/// Why a text names no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownVersion {
    /// No published version has this name.
    #[error("no version is called `{0}`: there are sigcomm2001, ccr2012, best2012 and tse2017, and the target claims")]
    Name(String),
    /// The version has no such switch.
    #[error("`{version}` has no switch `{switch}`: it has {known}")]
    Switch {
        /// The version's name.
        version: &'static str,
        /// The switch as written, with its sign.
        switch: String,
        /// The switches that it has.
        known: String,
    },
}

impl FromStr for Version {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        let signs = ['+', '-'];
        let end = text.find(signs).unwrap_or(text.len());
        let (name, mut rest) = text.split_at(end);
        let mut version =
            *Self::PUBLISHED.iter().find(|v| v.name == name).ok_or_else(|| UnknownVersion::Name(name.to_owned()))?;
        while let Some(sign) = rest.chars().next() {
            let end = rest[1..].find(signs).map_or(rest.len(), |i| i + 1);
            let (switch, tail) = rest.split_at(end);
            let mut known = switches(&mut version.rules);
            if let Some((_, on)) = known.iter_mut().find(|(name, _)| *name == &switch[1..]) {
                **on = sign == '+';
            } else {
                let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
                return Err(UnknownVersion::Switch {
                    version: version.name,
                    switch: switch.to_owned(),
                    known: names.join(", "),
                });
            }
            rest = tail;
        }
        Ok(version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for name in [
            "sigcomm2001",
            "ccr2012",
            "best2012",
            "tse2017",
            "ccr2012-join-adopt",
            "sigcomm2001+answer",
            "tse2017-busy",
        ] {
            assert_eq!(name.parse::<Version>().unwrap().to_string(), name);
        }
        assert_eq!("ccr2012+join".parse(), Ok(Version::CCR2012), "a switch that is on already");
    }

    #[test]
    fn unknown_names_say_what_there_is() {
        let error = |text: &str| text.parse::<Version>().unwrap_err().to_string();
        assert_eq!(
            error("chord"),
            "no version is called `chord`: there are sigcomm2001, ccr2012, best2012 and tse2017, and the target claims"
        );
        assert_eq!(
            error(""),
            "no version is called ``: there are sigcomm2001, ccr2012, best2012 and tse2017, and the target claims"
        );
        assert_eq!(error("tse2017+adopt"), "`tse2017` has no switch `+adopt`: it has busy, base");
        assert_eq!(error("ccr2012-"), "`ccr2012` has no switch `-`: it has join, adopt, update, reconcile, answer");
    }

    #[test]
    fn the_fixes_are_what_tells_ccr2012_from_sigcomm2001() {
        let ablated: Version = "ccr2012-join-adopt".parse().unwrap();
        assert_eq!(ablated.rules(), Version::SIGCOMM2001.rules());
    }
}
