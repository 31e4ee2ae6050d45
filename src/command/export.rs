//! `chord-fuzz export`: writes a run for the tools of others.

use std::path::PathBuf;

use anyhow::Context as _;
use chord_fuzz::finding::weftlog::Recording;
use chord_fuzz::judge::{Target, run};

use super::input::{Conditions, Inputs};
use super::{Status, put};

const AFTER_HELP: &str = "\
Writes a run as a weft-log, the recording of the project that publishes the
broker: every operation of the broker, and a report of every change of a node's
pointers. Its tools, which share with this one the broker and nothing else, then
judge the run: `weft replay` has a broker of its own do the same operations, and
compares; `chord-check` looks for broken properties in the network at the end,
on a circle of 2^4 identifiers. They are in its crates weft-dst and weft-chord,
0.0.2.

The log ends where the run ends: at a violation, or after everything has
arrived. No maintenance follows. So `chord-check` also names what is broken and
would heal; and where a node is a ring by itself beside another ring, it names
OrderedRing besides AtMostOneRing.

What a weft-log cannot say is refused: a node that joins again after it has
failed, successor lists of 3, and, with --faults, a datagram that is lost.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0    OUT is written, whatever the verdict
  2    it is not
  141  standard output was closed before the end

Examples:
  chord-fuzz export --weftlog rings.weftlog artifacts/ccr2012/at-most-one-ring
  weft replay rings.weftlog
  chord-check rings.weftlog 4";

/// Writes a run for the tools of others to judge
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Export {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    #[command(flatten)]
    conditions: Conditions,

    /// Where to write the log, or `-` for standard output
    #[arg(long, value_name = "OUT")]
    weftlog: PathBuf,

    /// The input, as bytes or as text, or `-` for standard input
    file: PathBuf,
}

impl Export {
    /// Runs the input and writes the log.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, if a weft-log cannot say what happens, if `CHORD_FUZZ_ONLY` is set to something that is
    /// no property, and if the output cannot be written; then it is left as it was.
    pub fn run(&self) -> anyhow::Result<Status> {
        let named = || self.file.display().to_string();
        let (target, schedule) = Inputs::new(self.version).open(&self.file).with_context(named)?;
        let mut recording = Recording::default();
        let _ = run(target, &schedule, &self.conditions.options()?, &mut recording);
        put(&self.weftlog, recording.finish().with_context(named)?.as_bytes())?;
        Ok(Status::Passed)
    }
}
