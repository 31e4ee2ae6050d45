//! `chord-fuzz replay`: runs inputs without libFuzzer.

use std::path::PathBuf;

use chord_fuzz::finding::report;
use chord_fuzz::judge::{Target, Verdict, run};
use chord_fuzz::schedule::MAX_BYTES;
use chord_fuzz::world::trace::Digest;

use super::input::{Conditions, Inputs};
use super::{Status, VERDICT_WIDTH, blame, name, print, width};

/// The length of a digest in hexadecimal digits: enough to tell runs apart, short enough to be compared by eye.
const DIGEST_WIDTH: usize = 16;

// The help names the number.
const _: () = assert!(MAX_BYTES == 194);

const AFTER_HELP: &str = "\
Prints a line for each file as soon as it is run, in four columns that are two
or more spaces apart: the file, the verdict, the number of steps as executed,
and the first 16 hexadecimal digits of the BLAKE3 digest of all that happened,
which is the same on every machine.

Verdicts:
  ideal                         the network heals
  ccr2012/AtMostOneRing         a violation, by its signature
  repairable:ccr2012/AtMostOneRing
                                some order of maintenance would heal what fair
                                maintenance leaves broken, so that it is none
  masked:ccr2012/AtMostOneRing  a violation that CHORD_FUZZ_ONLY leaves out
  outside the assumptions       the run has loss, partition, or a failure that
                                went unnoticed, so that it says nothing about
                                the protocol; if something is broken,
                                `: ccr2012/AtMostOneRing` follows
All but a violation pass.

A run repairs a step that has no effect to one that has. Of a text, a line on
standard error says how many steps are; --strict refuses it at the first, shows
its line, and says why.

Environment:
  CHORD_FUZZ_ONLY  the only properties whose violations count, by name or as in
                   at-most-one-ring, separated by commas; empty for all;
                   ordered-ring@5 counts where 5 members are on a ring, or more

Exit status:
  0    every file passes
  1    a file violates something
  2    bad usage, or a file that cannot be run; the others are run all the same
  141  standard output was closed before the end

Examples:
  chord-fuzz replay artifacts/*/*
  chord-fuzz replay --version ccr2012-adopt artifacts/ccr2012/at-most-one-ring
  head -c 194 /dev/urandom | chord-fuzz replay --version tse2017 -";

/// Runs inputs without libFuzzer and prints what each comes to
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Replay {
    // Verbatim, since clap would join the lines, and does not break long ones without its feature `wrap_help`.
    /// The target: sigcomm2001, ccr2012, best2012,
    /// tse2017, claims, or an ablation such as
    /// ccr2012-adopt. Without it, each file's is the name
    /// of a directory above it
    #[arg(long, value_name = "V", verbatim_doc_comment)]
    version: Option<Target>,

    #[command(flatten)]
    conditions: Conditions,

    /// Refuse a text of which a run would repair a step
    #[arg(long)]
    strict: bool,

    /// An input, as bytes, of which only the first 194 count, or as
    /// text (see `explain`), or `-` for standard input, which needs
    /// --version
    #[arg(value_name = "FILE", required = true, verbatim_doc_comment)]
    files: Vec<PathBuf>,
}

impl Replay {
    /// Runs the files in order. A file that cannot be run is told at once and does not keep the others from being run.
    ///
    /// # Errors
    ///
    /// If `CHORD_FUZZ_ONLY` is set to something that is no property, and if standard output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let options = self.conditions.options()?;
        // What has to be known to align the first column are names, not results: nothing waits for it.
        let width = width(&self.files);
        let mut inputs = Inputs::new(self.version);
        let mut status = Status::Passed;
        for file in &self.files {
            let (target, schedule) = match inputs.open_told(file, &options, self.strict) {
                Ok(input) => input,
                Err(problem) => {
                    blame(&problem);
                    status = status.max(Status::Failed);
                    continue;
                }
            };
            let mut digest = Digest::default();
            let outcome = run(target, &schedule, &options, &mut digest);
            if matches!(outcome.verdict, Verdict::Violated(_)) {
                status = status.max(Status::Violated);
            }
            print(&format!(
                "{name:width$}  {verdict:VERDICT_WIDTH$}  {steps:2} steps  {digest:.DIGEST_WIDTH$}",
                name = name(file),
                verdict = report::verdict(target, outcome.verdict),
                steps = outcome.executed.steps.len(),
                digest = digest.finish().to_hex().as_str(),
            ))?;
        }
        Ok(status)
    }
}
