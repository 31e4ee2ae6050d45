//! `chord-fuzz assemble`: makes an input of a schedule in text form.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use chord_fuzz::judge::{Options, Target};

use super::input::{self, directory_target, tell_repairs};
use super::{Status, put};

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
run cannot do, it repairs. A line on standard error says how many steps, if it
is known of which target this is an input: by --version, or by the name of a
directory above OUT or IN. --strict refuses the text at the first such step.

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
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    /// Refuse a text of which a run would repair a step
    #[arg(long)]
    strict: bool,

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
        let named = || self.file.display().to_string();
        let (schedule, text) = input::text(&self.file).with_context(named)?;
        let above = || [&self.out, &self.file].into_iter().find_map(|file| directory_target(file).ok());
        match self.version.or_else(above) {
            Some(target) => {
                let options = Options { faults: true, ..Options::default() };
                tell_repairs(&self.file, text, target, &schedule, &options, self.strict).with_context(named)?;
            }
            None if self.strict => bail!("what is repaired depends on the target: give --version"),
            None => {}
        }
        put(&self.out, &schedule.encode())?;
        Ok(Status::Passed)
    }
}
