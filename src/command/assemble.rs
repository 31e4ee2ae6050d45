//! `chord-fuzz assemble`: makes an input of a schedule in text form.

use std::path::PathBuf;

use anyhow::Context as _;

use super::{Status, input, put};

const AFTER_HELP: &str = "\
OUT gets the canonical bytes of the schedule. It is replaced as a whole or not
at all. A line that does not parse is shown, with what is wrong in it.

The text form, as `disassemble` and `normalize` print it:
  circle 8                        4 to 16 identifiers; if left out, 4
  ring 3                          1 to 6 members to start with; if left out, 1
  lists 3                         longer successor lists, for tse2017 only
  faults                          permits lose, cut and mend
  join 1 via 0 delay 2            delays in steps: 0 1 2 3 5 8 13 21
  stabilize 1 delay 2 notice 5    notice: the delay of the notification
  adopt 1, reconcile 1, update 1, flush 1, fail 1, lose 1, cut 1, mend 1
Each on a line of its own, and the header first; `#` starts a comment. What a
run cannot do, it repairs: `explain` says where.

Exit status:
  0    OUT is written
  2    it is not
  141  standard output was closed before the end

Example:
  chord-fuzz assemble two-rings.txt corpus/ccr2012/two-rings";

/// Makes an input of a schedule in text form
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Assemble {
    /// The text, at most 64 KiB, or `-` for standard input
    #[arg(value_name = "IN")]
    file: PathBuf,

    /// Where to write the bytes, or `-` for standard output
    out: PathBuf,
}

impl Assemble {
    /// Reads the text and writes its bytes.
    ///
    /// # Errors
    ///
    /// If the text cannot be read or says something else, or the output cannot be written; then it is left as it was.
    pub fn run(&self) -> anyhow::Result<Status> {
        let schedule = input::text(&self.file).with_context(|| self.file.display().to_string())?;
        put(&self.out, &schedule.encode())?;
        Ok(Status::Passed)
    }
}
