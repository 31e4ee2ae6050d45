//! The edge to the fuzzer: where bytes come in, and where a violation becomes a panic.
//!
//! Up to here a violation is a value. Every property has a panicking function of its own, so that whoever tells crashes
//! apart by their stacks keeps properties apart; whoever compares tokens finds a `DEDUP_TOKEN` line.
//!
//! A continuous job must not stop at what it has found already. Built with the feature `known`, and only then, a target
//! lets pass the signatures in `artifacts/known.txt`, which are those of the findings kept there, and counts them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context as _, bail};
use arbitrary::{Arbitrary, Unstructured};

use crate::finding::report;
use crate::judge::{Breach, Only, Options, Outcome, Target, Verdict, run, signature};
use crate::protocol::version::Version;
use crate::schedule::{MAX_BYTES, MAX_START, Schedule, mutate};
use crate::search::novelty::Novelty;
use crate::truth::property::Property;

/// The environment variable that names the only breaches that count, by name or slug, separated by commas (see
/// [`Only`]). Pin it to a finding's property before minimizing the finding, so that the minimizer does not drift to
/// another one.
pub const ONLY: &str = "CHORD_FUZZ_ONLY";

/// The environment variable that pins the start: only schedules that start with this many members are run, 1 to 6.
pub const RING: &str = "CHORD_FUZZ_RING";

/// The environment variable that pins delays: `yes` or `no`. Only schedules that have some, or none, are run.
pub const DELAYS: &str = "CHORD_FUZZ_DELAYS";

/// The environment variable that ablates the target's version by switches, as in `-adopt` or `+update-join`.
pub const SWITCHES: &str = "CHORD_FUZZ_SWITCHES";

/// The environment variable that chooses what feedback steers the search: `state` (the default) or `code`, which is
/// code coverage alone.
pub const FEEDBACK: &str = "CHORD_FUZZ_FEEDBACK";

/// The environment variable that chooses the mutator: `records` (the default), or `bytes`, which is libFuzzer's own.
pub const MUTATOR: &str = "CHORD_FUZZ_MUTATOR";

/// The signatures of what is known, one a line.
#[cfg(feature = "known")]
const KNOWN: &str = include_str!("../../artifacts/known.txt");
#[cfg(not(feature = "known"))]
const KNOWN: &str = "";

/// What the environment says of a campaign, and what the build knows. A schedule outside of what it is confined to is
/// not run; what bytes mean is never changed.
#[derive(Clone, Debug)]
struct Campaign {
    only: Only,
    known: Vec<(Target, Breach)>,
    switches: String,
    ring: Option<u8>,
    delays: Option<bool>,
    state_feedback: bool,
    record_mutator: bool,
}

impl Campaign {
    fn from_environment() -> anyhow::Result<Self> {
        // What is not Unicode is no name of anything either, and the error says so.
        let variable = |name: &str| std::env::var_os(name).unwrap_or_default().to_string_lossy().into_owned();
        let ring = match variable(RING).as_str() {
            "" => None,
            text => match text.parse() {
                Ok(ring @ 1..=MAX_START) => Some(ring),
                _ => bail!("{RING}: must be a number from 1 to {MAX_START}, not `{text}`"),
            },
        };
        let either = |name: &str, yes: &str, no: &str| match variable(name).as_str() {
            "" => Ok(None),
            text if text == yes => Ok(Some(true)),
            text if text == no => Ok(Some(false)),
            text => bail!("{name}: must be `{yes}` or `{no}`, not `{text}`"),
        };
        Ok(Self {
            only: variable(ONLY).parse().context(ONLY)?,
            known: KNOWN.lines().map(signature).collect::<Result<_, _>>().context("known.txt")?,
            switches: variable(SWITCHES),
            ring,
            delays: either(DELAYS, "yes", "no")?,
            state_feedback: either(FEEDBACK, "state", "code")?.unwrap_or(true),
            record_mutator: either(MUTATOR, "records", "bytes")?.unwrap_or(true),
        })
    }

    /// This process's campaign. Exits with status 2 if a variable is set to something that it cannot mean.
    fn get() -> &'static Self {
        static CAMPAIGN: OnceLock<Campaign> = OnceLock::new();
        CAMPAIGN.get_or_init(|| Self::from_environment().unwrap_or_else(|error| exit(&error)))
    }

    /// What is tested instead of this target.
    fn ablate(&self, target: Target) -> anyhow::Result<Target> {
        if self.switches.is_empty() {
            return Ok(target);
        }
        format!("{target}{}", self.switches).parse().context(SWITCHES)
    }

    /// How this target is run. A pin says what counts; without one it is everything but what is known.
    fn options(&self, target: Target) -> Options {
        let only = if self.known.is_empty() || self.only != Only::default() {
            self.only.clone()
        } else {
            Only::these(Breach::all().filter(|breach| !self.known.contains(&(target, *breach))).collect())
        };
        Options { only, ..Options::default() }
    }
}

/// What a process tests as one target, and how it runs it: made once, so that a run allocates nothing for it.
#[derive(Debug)]
pub struct Tested {
    target: Target,
    options: Options,
}

impl Tested {
    /// What the campaign tests instead of this target. Exits with status 2 if it has no such switches.
    fn by(campaign: &Campaign, target: Target) -> Self {
        let target = campaign.ablate(target).unwrap_or_else(|error| exit(&error));
        Self { target, options: campaign.options(target) }
    }
}

/// Counts a known finding. Like libFuzzer's pulse, the count is told whenever it is a power of two: the log of a job
/// that is killed still has it, to within a factor of two.
fn count(target: Target, breach: Breach) {
    static COUNTS: Mutex<BTreeMap<Breach, u64>> = Mutex::new(BTreeMap::new());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = counts.entry(breach).or_default();
    *count += 1;
    if count.is_power_of_two() {
        // `eprintln!` panics where nobody listens, which libFuzzer would take for a finding.
        let _ = writeln!(io::stderr(), "KNOWN: {target}/{breach} {count}");
    }
}

fn exit(error: &anyhow::Error) -> ! {
    eprintln!("{error:#}");
    std::process::exit(2)
}

/// libFuzzer's custom mutator, with its own byte mutation to delegate to: see [`mutate::mutate`].
pub fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    let campaign = Campaign::get();
    if !campaign.record_mutator {
        return bytes(data, size, max_size);
    }
    let size = mutate::mutate(data, size, max_size, seed, bytes);
    // A header outside of what the campaign is confined to would be a wasted execution.
    if let Some(flags) = data[..size].first_mut() {
        *flags = mutate::confine(*flags, campaign.ring, campaign.delays);
    }
    size
}

/// libFuzzer's custom crossover: see [`mutate::cross_over`].
pub fn cross_over(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    if Campaign::get().record_mutator { mutate::cross_over(first, second, out, seed) } else { 0 }
}

/// A fuzz target as a type, so that an [`Input`] knows what it is an input of.
pub trait Fuzzed {
    /// The target.
    const TARGET: Target;

    /// What this process tests as the target. Exits with status 2 if an environment variable is set to something that it
    /// cannot mean.
    fn tested() -> &'static Tested;
}

macro_rules! fuzzed {
    ($($(#[$doc:meta])* $name:ident = $target:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}
            impl Fuzzed for $name {
                const TARGET: Target = $target;

                fn tested() -> &'static Tested {
                    static TESTED: OnceLock<Tested> = OnceLock::new();
                    TESTED.get_or_init(|| Tested::by(Campaign::get(), Self::TARGET))
                }
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
    /// Returns whether it belongs into a corpus: it was run, and violates nothing that is known.
    ///
    /// # Panics
    ///
    /// If the run violates something that counts by [`ONLY`] or, where that is not set, is not known. That is the purpose.
    ///
    /// Exits the process with status 2 if one of these variables is set to something that it cannot mean.
    #[must_use]
    pub fn check(&self) -> bool {
        let schedule = Schedule::decode(self.bytes);
        let campaign = Campaign::get();
        let &Tested { target, ref options } = T::tested();
        if !mutate::confined(&schedule, target.version.rules().fit(schedule.setup), campaign.ring, campaign.delays) {
            return false;
        }
        let outcome = if campaign.state_feedback {
            run(target, &schedule, options, &mut Novelty)
        } else {
            run(target, &schedule, options, &mut ())
        };
        match outcome.verdict {
            Verdict::Violated(breach) => crash(breach, &outcome, self.bytes, target),
            Verdict::Masked(breach) if campaign.known.contains(&(target, breach)) => {
                count(target, breach);
                false
            }
            _ => true,
        }
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
        // As the fuzzer runs it.
        let &Tested { target, ref options } = T::tested();
        let outcome = run(target, &Schedule::decode(self.bytes), options, &mut ());
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

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    /// Z12: without a liveness check, a stabilization adopts a successor that has failed.
    #[test]
    fn a_finding_passes_only_in_a_build_that_knows_it() {
        let schedule: Schedule = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n".parse().unwrap();
        let bytes = schedule.encode();
        let check = || Input::<Sigcomm2001> { bytes: &bytes, target: PhantomData }.check();
        assert_eq!(catch_unwind(check).ok(), cfg!(feature = "known").then_some(false));
    }
}
