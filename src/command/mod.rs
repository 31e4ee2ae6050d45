//! The subcommands, one file for each, and what they share: exit statuses, and how they write.

pub mod input;
pub mod normalize;
pub mod replay;

use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;

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

/// Prints a problem as one line on standard error.
fn complain(problem: impl Display) {
    // `eprintln!` panics where nobody listens. There is nobody left to tell; the exit status still says it.
    let _ = writeln!(io::stderr(), "error: {}", one_line(&problem.to_string()));
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
