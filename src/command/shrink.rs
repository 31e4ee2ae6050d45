//! `chord-fuzz shrink`: makes a finding as small as it gets.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use chord_fuzz::finding::shrink::{Effort, Shrinker};
use chord_fuzz::judge::{Breach, Only, Target, Verdict, run, signature};
use indicatif::HumanCount;

use super::input::{Conditions, Inputs};
use super::{Status, print, progress, save, tell};

// The help names the number.
const _: () = assert!(Effort::FULL.candidates == 300_000);

const AFTER_HELP: &str = "\
Prints the smallest schedule that it finds with the same signature, in text
form, and says on standard error how much shorter it is. Steps are removed, what
is left is simplified, and schedules of the same length are searched for a way
to a shorter one. The result is the same on every machine, and to shrink it once
more changes nothing. Besides the signature, it keeps what makes a finding worth
more: that it has no delays, that it starts with few members, that its own steps
break the property, and that no order of maintenance heals the network.

OUT may be FILE. It is replaced as a whole or not at all.

With --check it is the test of another minimizer instead: it runs FILE with only
the property of SIGNATURE counting, and says by its exit status alone whether it
is violated.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`; not asked with --check

Exit status:
  0  the schedule is printed; with --check: FILE has the signature
  1  with --check: it has not
  2  FILE cannot be read or violates nothing, or OUT cannot be written

Examples:
  chord-fuzz shrink fuzz/artifacts/ccr2012/crash-0123 -o /tmp/small
  chord-fuzz shrink --check ccr2012/OrderedRing /tmp/candidate";

/// Makes a finding as small as it gets, with the same signature
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Shrink {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    #[command(flatten)]
    conditions: Conditions,

    /// How many candidates a search tries
    #[arg(long, value_name = "N", default_value_t = Effort::FULL.candidates)]
    candidates: u64,

    /// Only say whether FILE has this signature
    #[arg(long, value_name = "SIGNATURE", value_parser = signature, conflicts_with_all = ["version", "candidates", "out"])]
    check: Option<(Target, Breach)>,

    /// Where to write the bytes
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,

    /// The input, or `-` for standard input
    file: PathBuf,
}

impl Shrink {
    /// Shrinks the input, or checks its signature.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or violates nothing, and if the output cannot be written; then it is left as it was.
    pub fn run(&self) -> anyhow::Result<Status> {
        match self.check {
            Some((target, breach)) => self.check(target, breach),
            None => self.shrink(),
        }
    }

    fn check(&self, target: Target, breach: Breach) -> anyhow::Result<Status> {
        let (_, schedule) =
            Inputs::new(Some(target)).open(&self.file).with_context(|| self.file.display().to_string())?;
        let options = self.conditions.pinned(Only::these(vec![breach]));
        let verdict = run(target, &schedule, &options, &mut ()).verdict;
        Ok(if verdict == Verdict::Violated(breach) { Status::Passed } else { Status::Violated })
    }

    fn shrink(&self) -> anyhow::Result<Status> {
        let (target, schedule) =
            Inputs::new(self.version).open(&self.file).with_context(|| self.file.display().to_string())?;
        let outcome = run(target, &schedule, &self.conditions.options()?, &mut ());
        let effort = Effort { candidates: self.candidates, ..Effort::FULL };
        let Some(mut shrinker) = Shrinker::new(target, &outcome, effort) else {
            bail!("{}: violates nothing that counts, so that there is nothing to shrink", self.file.display());
        };
        let bar = progress(self.candidates);
        shrinker.shrink(|candidates| bar.set_position(candidates));
        bar.finish_and_clear();
        let shrunk = shrinker.schedule();
        if let Some(out) = &self.out {
            save(out, &shrunk.encode())?;
        }
        print(shrunk.to_string().trim_end())?;
        tell(format_args!(
            "{target}/{}: from {} steps to {}, by {} executions",
            shrinker.breach(),
            outcome.executed.steps.len(),
            shrunk.steps.len(),
            HumanCount(shrinker.executions())
        ));
        Ok(Status::Passed)
    }
}
