//! `chord-fuzz normalize`: writes an input in its canonical form.

use std::path::PathBuf;

use anyhow::Context as _;
use chord_fuzz::judge::{Options, Target, run};

use super::input::{Inputs, only};
use super::{Status, print, save};

const AFTER_HELP: &str = "\
Prints the schedule in text form, with the steps as executed up to where the
run stops, and writes its bytes to OUT. OUT may be FILE. It is replaced as a
whole or not at all.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0  OUT is written
  2  it is not

Example:
  chord-fuzz normalize fuzz/artifacts/ccr2012/minimized-from-0123 artifacts/ccr2012/ordered-ring";

/// Writes an input in its canonical form: the steps as executed
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Normalize {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    /// The input, as bytes or as text, or `-` for standard input
    file: PathBuf,

    /// Where to write the canonical form
    out: PathBuf,
}

impl Normalize {
    /// Runs the input and writes what was executed.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not be written; then it is left as it was.
    pub fn run(&self) -> anyhow::Result<Status> {
        let (target, schedule) =
            Inputs::new(self.version).open(&self.file).with_context(|| self.file.display().to_string())?;
        let options = Options { only: only()?, ..Options::default() };
        let executed = run(target, &schedule, &options, &mut ()).executed;
        save(&self.out, &executed.encode())?;
        print(executed.to_string().trim_end())?;
        Ok(Status::Passed)
    }
}
