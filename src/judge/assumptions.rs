//! The assumptions under which a run was made.

use std::fmt;

use crate::world::Conditions;

/// The assumptions under which a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent assumptions")]
pub struct Assumptions {
    /// Whether every failure was permitted by the failure assumption and, where the rules have one, the stable base.
    pub failures: bool,
    /// Whether the rules have a stable base (Z17); `None` for the versions that know none.
    pub base: Option<bool>,
    /// Whether no datagram was lost to loss or partition.
    pub reliable: bool,
    /// Whether failure detection never took a failed node for alive when it was asked. With `reliable` it was perfect.
    pub prompt: bool,
    /// Whether every datagram arrived before the next step, which makes the run one of the atomic model.
    pub immediate: bool,
    /// The conditions of the run.
    pub conditions: Conditions,
}

impl Assumptions {
    /// Whether the run says anything about the protocol.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.failures && self.reliable && self.prompt
    }
}

impl fmt::Display for Assumptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = match self.base {
            None => "no stable base in this version",
            Some(true) if self.failures => "stable base held",
            Some(true) => "stable base not kept",
            Some(false) => "stable base dropped",
        };
        write!(f, "failure assumption {}; {base}", if self.failures { "held" } else { "BROKEN" })?;
        if !self.reliable {
            f.write_str("; DATAGRAMS LOST, so that failure detection errs")?;
        }
        if !self.prompt {
            write!(f, "; FAILURES UNNOTICED for up to {} steps", self.conditions.late)?;
        }
        if self.reliable && self.prompt {
            f.write_str("; perfect failure detection")?;
        }
        f.write_str(if self.immediate {
            "; every datagram arrives before the next step"
        } else {
            "; datagrams delayed"
        })?;
        if !self.conditions.rejoin {
            f.write_str("; no node joins again")?;
        }
        Ok(())
    }
}
