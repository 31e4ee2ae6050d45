//! The edge to the fuzzer: where bytes come in, and where a violation becomes a panic.
//!
//! Up to here a violation is a value. Every property has a panicking function of its own, so that whoever tells crashes
//! apart by their stacks keeps properties apart; whoever compares tokens finds a `DEDUP_TOKEN` line.

use std::fmt;
use std::marker::PhantomData;
use std::sync::OnceLock;

use anyhow::{Context as _, bail};
use arbitrary::{Arbitrary, Unstructured};

use crate::property::Property;
use crate::report;
use crate::schedule::{MAX_BYTES, MAX_START, Schedule};
use crate::verdict::{Breach, Options, Outcome, Target, Verdict, run};
use crate::version::Version;

/// The environment variable that names the only breaches that count, by name or slug, separated by commas. Pin it to a
/// finding's property before minimizing the finding, so that the minimizer does not drift to another one.
pub const ONLY: &str = "CHORD_FUZZ_ONLY";

/// The environment variable that pins the start: only schedules that start with this many members are run, 1 to 6.
pub const RING: &str = "CHORD_FUZZ_RING";

/// The environment variable that pins delays: `yes` or `no`. Only schedules that have some, or none, are run.
pub const DELAYS: &str = "CHORD_FUZZ_DELAYS";

/// What the environment confines a campaign to. A schedule outside is not run; what bytes mean is never changed.
#[derive(Clone, Debug, Default)]
struct Pins {
    options: Options,
    ring: Option<u8>,
    delays: Option<bool>,
}

impl Pins {
    fn from_environment() -> anyhow::Result<Self> {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let only = variable(ONLY).parse().context(ONLY)?;
        let ring = match variable(RING).as_str() {
            "" => None,
            text => match text.parse() {
                Ok(ring @ 1..=MAX_START) => Some(ring),
                _ => bail!("{RING}: must be a number from 1 to {MAX_START}, not `{text}`"),
            },
        };
        let delays = match variable(DELAYS).as_str() {
            "" => None,
            "yes" => Some(true),
            "no" => Some(false),
            text => bail!("{DELAYS}: must be `yes` or `no`, not `{text}`"),
        };
        Ok(Self { options: Options { only, ..Options::default() }, ring, delays })
    }

    /// The pins of this process. Exits with status 2 if a variable is set to something that it cannot mean.
    fn get() -> &'static Self {
        static PINS: OnceLock<Pins> = OnceLock::new();
        PINS.get_or_init(|| {
            Self::from_environment().unwrap_or_else(|error| {
                eprintln!("{error:#}");
                std::process::exit(2)
            })
        })
    }

    fn admit(&self, target: Target, schedule: &Schedule) -> bool {
        self.ring.is_none_or(|ring| schedule.setup.fit(target.version.rules()).ring == ring)
            && self.delays.is_none_or(|delays| schedule.steps.iter().all(|step| step.immediate()) != delays)
    }
}

/// A fuzz target as a type, so that an [`Input`] knows what it is an input of.
pub trait Fuzzed {
    /// The target.
    const TARGET: Target;
}

macro_rules! fuzzed {
    ($($(#[$doc:meta])* $name:ident = $target:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Fuzzed for $name {
                const TARGET: Target = $target;
            }
        )*
    };
}

fuzzed! {
    /// The target `sigcomm2001`.
    Sigcomm2001 = Target::of(Version::SIGCOMM2001);
    /// The target `ccr2012`.
    Ccr2012 = Target::of(Version::CCR2012);
    /// The target `best2012`.
    Best2012 = Target::of(Version::BEST2012);
    /// The target `tse2017`.
    Tse2017 = Target::of(Version::TSE2017);
    /// The target `claims`.
    Claims = Target::CLAIMS;
}

/// A fuzzer's input to target `T`. Its `Debug` form, which `cargo fuzz fmt` prints, is the schedule in text form with
/// the steps as executed.
pub struct Input<'a, T> {
    bytes: &'a [u8],
    target: PhantomData<T>,
}

impl<T: Fuzzed> Input<'_, T> {
    /// Runs the schedule that the bytes mean, if the campaign is not confined to others by [`RING`] or [`DELAYS`].
    /// Returns whether it was run: the others do not belong into a corpus.
    ///
    /// # Panics
    ///
    /// If the run violates something that counts by [`ONLY`]. That is the purpose.
    ///
    /// Exits the process with status 2 if one of these variables is set to something that it cannot mean.
    #[must_use]
    pub fn check(&self) -> bool {
        let schedule = Schedule::decode(self.bytes);
        let pins = Pins::get();
        if !pins.admit(T::TARGET, &schedule) {
            return false;
        }
        let outcome = run(T::TARGET, &schedule, &pins.options, &mut ());
        if let Verdict::Violated(breach) = outcome.verdict {
            crash(breach, &outcome, self.bytes, T::TARGET);
        }
        true
    }
}

impl<'a, T> Arbitrary<'a> for Input<'a, T> {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let bytes = u.bytes(u.len().min(MAX_BYTES))?;
        Ok(Self { bytes, target: PhantomData })
    }

    fn arbitrary_take_rest(u: Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self { bytes: u.take_rest(), target: PhantomData })
    }

    fn size_hint(_depth: usize) -> (usize, Option<usize>) {
        (0, Some(MAX_BYTES))
    }
}

impl<T: Fuzzed> fmt::Debug for Input<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As the fuzzer runs it, but for what counts: `fmt` prints no different steps under another pin.
        let outcome = run(T::TARGET, &Schedule::decode(self.bytes), &Options::default(), &mut ());
        fmt::Display::fmt(&outcome.executed, f)
    }
}

fn crash(breach: Breach, outcome: &Outcome, bytes: &[u8], target: Target) -> ! {
    eprintln!("DEDUP_TOKEN: {target}--{breach}");
    let text = report::violation(breach, outcome, bytes, target);
    match breach {
        Breach::Broken(Property::AtLeastOneRing) => at_least_one_ring(&text),
        Breach::Broken(Property::AtMostOneRing) => at_most_one_ring(&text),
        Breach::Broken(Property::OrderedRing) => ordered_ring(&text),
        Breach::Broken(Property::ConnectedAppendages) => connected_appendages(&text),
        Breach::Broken(Property::OrderedMerges) => ordered_merges(&text),
        Breach::Broken(Property::OrderedAppendages) => ordered_appendages(&text),
        Breach::Broken(Property::ValidSuccessorList) => valid_successor_list(&text),
        Breach::Broken(Property::Invariant) => invariant(&text),
        Breach::Stalled => stalled(&text),
        Breach::Runaway => runaway(&text),
    }
}

// Not generated by a macro: each needs a source line of its own to be told apart by.

#[inline(never)]
fn at_least_one_ring(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn at_most_one_ring(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn ordered_ring(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn connected_appendages(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn ordered_merges(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn ordered_appendages(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn valid_successor_list(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn invariant(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn stalled(text: &str) -> ! {
    panic!("{text}")
}

#[inline(never)]
fn runaway(text: &str) -> ! {
    panic!("{text}")
}
