//! The subcommands, one file for each, and what they share: exit statuses, and how they write.

pub mod experiment;
pub mod input;
pub mod normalize;
pub mod replay;
pub mod shrink;
pub mod sweep;
pub mod triage;

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use chord_fuzz::verdict::{Target, Verdict};
use indicatif::{ProgressBar, ProgressStyle};

/// The exit status when the reader of standard output has gone: what a shell shows for a tool that `SIGPIPE` has
/// killed. It is not 0, since what was not printed may not have passed.
const CLOSED_PIPE: u8 = 141;

/// What a subcommand comes to. Of several things, the greatest decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// All is well.
    Passed = 0,
    /// Something violates.
    Violated = 1,
    /// Something could not be done.
    Failed = 2,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Standard output takes no more. A type of its own, so that no other broken pipe is taken for this one.
#[derive(Debug, thiserror::Error)]
#[error("standard output")]
struct OutputError(#[source] io::Error);

/// The exit status for what a subcommand returns. An error is told first.
pub fn exit(result: anyhow::Result<Status>) -> ExitCode {
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            let output = error.downcast_ref::<OutputError>();
            if output.is_some_and(|OutputError(error)| error.kind() == io::ErrorKind::BrokenPipe) {
                return CLOSED_PIPE.into();
            }
            complain(format_args!("{error:#}"));
            Status::Failed.into()
        }
    }
}

/// Prints a line on standard output. It is there when this returns, also in a pipe.
fn print(line: &str) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(OutputError)?;
    Ok(())
}

/// Writes a file as a whole or not at all.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let write = || {
        let mut file = tempfile::NamedTempFile::new_in(directory.unwrap_or(".".as_ref()))?;
        file.write_all(bytes)?;
        file.persist(path)?;
        anyhow::Ok(())
    };
    write().with_context(|| path.display().to_string())
}

/// A progress bar of so many units on standard error. Where that is no terminal, it is not drawn.
fn progress(units: u64) -> ProgressBar {
    let bar = ProgressBar::new(units);
    // A template that cannot be read would be our own mistake, and no reason not to work: the plain bar does.
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len}  {elapsed} (eta {eta})") {
        bar.set_style(style);
    }
    bar
}

/// Prints a problem as one line on standard error.
fn complain(problem: impl Display) {
    tell(format_args!("error: {}", one_line(&problem.to_string())));
}

/// Prints a line on standard error.
fn tell(line: impl Display) {
    // `eprintln!` panics where nobody listens. There is nobody left to tell; the exit status still says it.
    let _ = writeln!(io::stderr(), "{line}");
}

/// The text with its control characters escaped: the name of a file may contain them, and must neither end a line nor
/// reach the terminal.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
    }
    line
}

/// A verdict as it is printed.
fn show(target: Target, verdict: Verdict) -> String {
    match verdict {
        Verdict::Ideal => "ideal".to_owned(),
        Verdict::Violated(breach) => format!("{target}/{breach}"),
        Verdict::Masked(breach) => format!("masked:{target}/{breach}"),
        Verdict::Outside(None) => "outside the assumptions".to_owned(),
        Verdict::Outside(Some(breach)) => format!("outside the assumptions: {target}/{breach}"),
    }
}
