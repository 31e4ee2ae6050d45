//! `chord-fuzz view`: shows a run, as a page to step through or as still pictures.

mod page;
mod picture;
mod still;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use chord_fuzz::finding::story::Story;
use chord_fuzz::judge::Target;
use clap::ArgGroup;

use super::input::{Conditions, Inputs};
use super::{Status, put, save};

const AFTER_HELP: &str = "\
The page is one file, and loads nothing. It shows the ring, all events as
`explain` tells them, and the pointers; the story is in it as `explain --json`
prints it. Left and right go by an event, up and down by a step, Home and End to
the ends. The end of its address, as in `#e=12` or `#step=7`, says where it is:
at an event, or after a step; with FILE2, `e2` and `step2` say so of that run.

The pictures are PREFIX-first.svg, the network at the start,
PREFIX-breaking.svg, that after the step that breaks the property for good, or
else first, or else puts the network beyond repair, and PREFIX-last.svg, that
after fair maintenance.
A run that breaks nothing has no second picture. The last moment of the page is
that after fair maintenance, too.

FILE is bytes or text, as for `explain`. Each output is replaced as a whole or
not at all.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0    all is written, whatever the verdict
  2    bad usage, a file that cannot be run, or an output that cannot be written
  141  standard output was closed before the end

Examples:
  chord-fuzz view artifacts/ccr2012/at-most-one-ring -o rings.html
  chord-fuzz view artifacts/ccr2012/at-most-one-ring --svg docs/pictures/rings
  chord-fuzz view artifacts/ccr2012/ordered-ring \\
      --with artifacts/best2012/ordered-ring -o both.html";

/// Shows a run: as a page to step through, or as still pictures
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
#[command(group = ArgGroup::new("output").args(["page", "svg"]).required(true).multiple(true))]
pub struct View {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    #[command(flatten)]
    conditions: Conditions,

    /// Another input, to be shown beside it on the page
    #[arg(long, value_name = "FILE2", requires = "page")]
    with: Option<PathBuf>,

    /// Where to write the page, or `-` for standard output
    #[arg(short = 'o', long, value_name = "PAGE")]
    page: Option<PathBuf>,

    /// How the names of the still pictures of FILE begin
    #[arg(long, value_name = "PREFIX")]
    svg: Option<PathBuf>,

    /// The input, as bytes or as text, or `-` for standard input
    file: PathBuf,
}

impl View {
    /// Runs the input and writes what is to be seen of it.
    ///
    /// # Errors
    ///
    /// If an input cannot be read, if `CHORD_FUZZ_ONLY` is set to something that is no property, and if an output cannot
    /// be written; then it is left as it was.
    pub fn run(&self) -> anyhow::Result<Status> {
        let options = self.conditions.options()?;
        let mut inputs = Inputs::new(self.version);
        let mut runs = Vec::new();
        for file in [Some(&self.file), self.with.as_ref()].into_iter().flatten() {
            let (target, schedule) = inputs.open(file).with_context(|| file.display().to_string())?;
            runs.push((file.as_path(), Story::of(target, &schedule, &options)));
        }
        if let Some(prefix) = &self.svg {
            for (name, picture) in still::pictures(&runs[0].1) {
                save(&named(prefix, name), picture.as_bytes())?;
            }
        }
        if let Some(page) = &self.page {
            put(page, page::of(&runs)?.as_bytes())?;
        }
        Ok(Status::Passed)
    }
}

/// `PREFIX-NAME.svg`. A prefix need not be Unicode.
fn named(prefix: &Path, name: &str) -> PathBuf {
    let mut file = OsString::from(prefix);
    file.push(format!("-{name}.svg"));
    file.into()
}
