//! `chord-fuzz disassemble`: writes an input as text.

use std::path::PathBuf;

use anyhow::Context as _;
use chord_fuzz::schedule::Schedule;

use super::{Status, input, put};

const AFTER_HELP: &str = "\
Writes the schedule exactly as it is given. What a run executes may be other
steps, depending on the version: that is for `normalize` and `explain` to say.
Every file is an input, whatever is in it; only its first 194 bytes count.
`assemble` makes of the text the canonical bytes of the same schedule.

Exit status:
  0    OUT is written
  2    it is not
  141  standard output was closed before the end

Example:
  chord-fuzz disassemble artifacts/ccr2012/at-most-one-ring two-rings.txt";

/// Writes an input as text: the steps as given
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Disassemble {
    /// The input, or `-` for standard input
    #[arg(value_name = "IN")]
    file: PathBuf,

    /// Where to write the text, or `-` for standard output
    #[arg(default_value = "-", hide_default_value = true)]
    out: PathBuf,
}

impl Disassemble {
    /// Reads the bytes and writes what they mean.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or the output not be written; then it is left as it was.
    pub fn run(&self) -> anyhow::Result<Status> {
        let bytes = input::raw(&self.file).with_context(|| self.file.display().to_string())?;
        put(&self.out, Schedule::decode(&bytes).to_string().as_bytes())?;
        Ok(Status::Passed)
    }
}
