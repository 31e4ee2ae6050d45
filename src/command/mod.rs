//! The subcommands, one file for each, and what they share: exit statuses, and how they write.

pub mod assemble;
pub mod campaign;
pub mod census;
pub mod completions;
pub mod disassemble;
pub mod exhaust;
pub mod experiment;
pub mod explain;
pub mod export;
pub mod input;
mod lines;
pub mod matrix;
pub mod normalize;
pub mod plot;
pub mod prove;
pub mod replay;
pub mod shrink;
pub mod stats;
pub mod sweep;
pub mod triage;
pub mod view;

use std::fmt::Display;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};

/// The exit status when the reader of standard output has gone: what a shell shows for a tool that `SIGPIPE` has
/// killed. It is not 0, since what was not printed may not have passed.
const CLOSED_PIPE: u8 = 141;

/// The width of the verdicts' column: the longest signature of a fuzz target. A verdict that is longer moves only its
/// own line.
const VERDICT_WIDTH: usize = "sigcomm2001/ConnectedAppendages".len();

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
            blame(&error);
            Status::Failed.into()
        }
    }
}

/// Prints a line on standard output. It is there when this returns, also in a pipe.
fn print(line: &str) -> anyhow::Result<()> {
    write(io::stdout().lock(), format!("{line}\n").as_bytes())
}

/// Writes all of this on standard output.
fn write(mut stdout: impl io::Write, bytes: &[u8]) -> anyhow::Result<()> {
    stdout.write_all(bytes).and_then(|()| stdout.flush()).map_err(OutputError)?;
    Ok(())
}

/// Writes to standard output if the file is `-`, and otherwise [saves](save) it.
fn put(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if file == Path::new("-") { write(io::stdout().lock(), bytes) } else { save(file, bytes) }
}

/// Writes a file, as a whole or not at all.
///
/// # Errors
///
/// If it cannot be written; then it is as it was.
fn save(file: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let replace = || {
        // What is in the place of a device or a directory would be another thing.
        if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
            anyhow::bail!("not a regular file");
        }
        let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty());
        let mut new = tempfile::Builder::new();
        // Who may read it is for the umask to say, as of any other file.
        #[cfg(unix)]
        new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut new = new.tempfile_in(directory.unwrap_or(".".as_ref()))?;
        new.write_all(bytes)?;
        new.persist(file)?;
        anyhow::Ok(())
    };
    replace().with_context(|| file.display().to_string())
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

/// Prints an error on standard error: in one line, and what is wrong in a text below it.
fn blame(error: &anyhow::Error) {
    complain(format_args!("{error:#}"));
    if let Some(excerpt) = error.downcast_ref().and_then(input::excerpt) {
        tell(excerpt);
    }
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

/// A file as it is named in a line.
fn name(file: &Path) -> String {
    one_line(&file.to_string_lossy())
}

/// The width of a column of these files.
fn width(files: &[PathBuf]) -> usize {
    files.iter().map(|file| name(file).chars().count()).max().unwrap_or(0)
}
