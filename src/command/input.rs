//! Where the subcommands get their inputs from.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File, FileType};
use std::io::{self, Read, Stdin};
use std::path::{Component, Path, PathBuf, absolute};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::Context as _;
use chord_fuzz::finding::repairs::Repairs;
use chord_fuzz::judge::{Only, Options, Target};
use chord_fuzz::schedule::text::{self, ParseError, is_text};
use chord_fuzz::schedule::{MAX_BYTES, Schedule, Setup};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::world;
use walkdir::WalkDir;

use super::{one_line, tell};

/// Under which conditions an input is run: what its bytes do not say.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Conditions {
    /// Allow loss and partition, which all sources exclude
    #[arg(long)]
    faults: bool,

    /// Let no node that has failed join again
    #[arg(long)]
    no_rejoin: bool,

    /// Take a node for alive for N steps after its failure
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    late_detection: u8,
}

impl Conditions {
    /// How an input is run: under these conditions, and by the environment.
    pub fn options(self) -> anyhow::Result<Options> {
        Ok(self.pinned(only()?))
    }

    /// How an input is run of which only this counts.
    pub fn pinned(self, only: Only) -> Options {
        let Self { faults, no_rejoin, late_detection } = self;
        let conditions = world::Conditions { rejoin: !no_rejoin, late: late_detection };
        Options { only, faults, conditions, ..Options::default() }
    }
}

/// The longest text in bytes: far more than any schedule takes, with comments.
pub const MAX_TEXT: usize = 1 << 16;

/// Why a file cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
    #[error("{error}")]
    Text { error: ParseError, text: String },
    #[error(transparent)]
    NotUnicode(#[from] std::str::Utf8Error),
    #[error("a text of more than {MAX_TEXT} bytes")]
    TooLong,
    #[error("more than {MAX_TEXT} bytes")]
    Huge,
    #[error("empty")]
    Empty,
    #[error("its directory `{0}` is not called like a target: give --version")]
    NoTarget(String),
    #[error("standard input is in no directory: give --version")]
    NoDirectory,
    #[error("standard input has been read already")]
    ReadAlready,
}

/// Opens inputs.
#[derive(Debug)]
pub struct Inputs {
    version: Option<Target>,
    stdin: Option<Stdin>,
}

impl Inputs {
    /// Inputs of this target, or each of the one that its directory is named after.
    pub fn new(version: Option<Target>) -> Self {
        Self { version, stdin: Some(io::stdin()) }
    }

    /// What the file is an input of, and the schedule in it, as bytes or [as text](is_text). `-` is standard input, once.
    pub fn open(&mut self, file: &Path) -> Result<(Target, Schedule), Problem> {
        self.opened(file).map(|(target, schedule, _)| (target, schedule))
    }

    /// The same, and [says](tell_repairs) how many steps of a text are repaired.
    pub fn open_told(&mut self, file: &Path, options: &Options, strict: bool) -> anyhow::Result<(Target, Schedule)> {
        let named = || file.display().to_string();
        let (target, schedule, text) = self.opened(file).with_context(named)?;
        if let Some(text) = text {
            tell_repairs(file, text, target, &schedule, options, strict).with_context(named)?;
        }
        Ok((target, schedule))
    }

    fn opened(&mut self, file: &Path) -> Result<Opened, Problem> {
        if file == Path::new("-") {
            // Before it is read: who has forgotten the version should not have to type an input first.
            let target = self.version.ok_or(Problem::NoDirectory)?;
            let stdin = self.stdin.take().ok_or(Problem::ReadAlready)?;
            let (schedule, text) = either(head(stdin, MAX_TEXT + 1)?)?;
            return Ok((target, schedule, text));
        }
        // Read first: that a file is missing is the better thing to say of it than what its directory is called.
        let bytes = head(File::open(file)?, MAX_TEXT + 1)?;
        input_of(self.version, file, bytes)
    }
}

/// The same of a file that is kept as an input, without being asked for by its name: then there is something in it, and
/// not more than there can be in an input.
pub fn kept(version: Option<Target>, file: &Path) -> Result<(Target, Schedule), Problem> {
    let bytes = head(File::open(file)?, MAX_TEXT + 1)?;
    match bytes.len() {
        0 => Err(Problem::Empty),
        len if len > MAX_TEXT => Err(Problem::Huge),
        _ => input_of(version, file, bytes).map(|(target, schedule, _)| (target, schedule)),
    }
}

/// A target, a schedule, and the text that it is written in, if it is one.
type Opened = (Target, Schedule, Option<String>);

fn input_of(version: Option<Target>, file: &Path, bytes: Vec<u8>) -> Result<Opened, Problem> {
    let target = version.map_or_else(|| directory_target(file), Ok)?;
    let (schedule, text) = either(bytes)?;
    Ok((target, schedule, text))
}

/// Says in a line on standard error how many steps of a text a run repairs. A strict reader refuses it at the first.
pub fn tell_repairs(
    file: &Path,
    text: String,
    target: Target,
    schedule: &Schedule,
    options: &Options,
    strict: bool,
) -> Result<(), Problem> {
    let Repairs { start, steps } = Repairs::of(target, schedule, options);
    let (at, problem) = match (start, steps.first()) {
        (Some(Setup { ring, circle, list_len, .. }), _) => {
            let start = format!("`circle {circle}`, `ring {ring}` and `lists {list_len}`");
            (None, format!("a run cannot start like this; it would with {start}"))
        }
        (None, Some(repair)) => (Some(repair.at), repair.to_string()),
        (None, None) => return Ok(()),
    };
    if strict {
        return Err(Problem::Text { error: text::refuse(&text, at, problem), text });
    }
    let start = if start.is_some() { "the start and " } else { "" };
    let (repaired, all) = (steps.len(), schedule.steps.len());
    let note = format!("{}: repaired {start}{repaired} of {all} steps; --strict says why", file.display());
    tell(one_line(&note));
    Ok(())
}

/// As many bytes of a file as a schedule is made of. `-` is standard input.
pub fn raw(file: &Path) -> io::Result<Vec<u8>> {
    read(file, MAX_BYTES)
}

/// The schedule of a file in text form. `-` is standard input.
pub fn text(file: &Path) -> Result<(Schedule, String), Problem> {
    parse(read(file, MAX_TEXT + 1)?)
}

/// The line that a problem is in, with a mark below, if the problem is with a text. It ends without a line break.
pub fn excerpt(problem: &Problem) -> Option<String> {
    let Problem::Text { error, text } = problem else { return None };
    let line = text.lines().nth(error.line - 1)?;
    let start = line.char_indices().nth(error.column - 1).map_or(line.len(), |(at, _)| at);
    let word = line[start..].split(|c: char| c.is_whitespace() || c == '#').next()?;
    let mark = AnnotationKind::Primary.span(start..start + word.len());
    let snippet = Snippet::source(line).line_start(error.line).annotation(mark);
    Some(Renderer::plain().render(&[Group::with_level(Level::ERROR).element(snippet)]))
}

/// The only breaches that count, by the environment.
pub fn only() -> anyhow::Result<Only> {
    // Lossy: what is not Unicode is no property either, and the error says so.
    env::var_os(ONLY).unwrap_or_default().to_string_lossy().parse().context(ONLY)
}

fn read(file: &Path, most: usize) -> io::Result<Vec<u8>> {
    if file == Path::new("-") { head(io::stdin(), most) } else { head(File::open(file)?, most) }
}

/// The first bytes, at most so many: the rest is not even read.
pub fn head(input: impl Read, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The schedule that these bytes are, or that is written in them, and then the text.
fn either(bytes: Vec<u8>) -> Result<(Schedule, Option<String>), Problem> {
    if !is_text(&bytes) {
        return Ok((Schedule::decode(&bytes), None));
    }
    parse(bytes).map(|(schedule, text)| (schedule, Some(text)))
}

fn parse(bytes: Vec<u8>) -> Result<(Schedule, String), Problem> {
    if bytes.len() > MAX_TEXT {
        return Err(Problem::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|error| error.utf8_error())?;
    match text.parse() {
        Ok(schedule) => Ok((schedule, text)),
        Err(error) => Err(Problem::Text { error, text }),
    }
}

/// All that is below the paths and no directory, each once and in order: of which type it is, or why it cannot be listed.
pub fn files(paths: &[PathBuf], follow_links: bool) -> BTreeMap<PathBuf, Result<FileType, String>> {
    let mut files = BTreeMap::new();
    for path in paths {
        for entry in WalkDir::new(path).follow_links(follow_links) {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => {
                    let file_type = entry.file_type();
                    files.insert(entry.into_path(), Ok(file_type));
                }
                Err(error) => {
                    let problem = match (error.loop_ancestor(), error.io_error()) {
                        (Some(ancestor), _) => format!("a link back to {}", ancestor.display()),
                        (None, Some(error)) => error.to_string(),
                        (None, None) => error.to_string(),
                    };
                    files.insert(error.path().unwrap_or(path).to_owned(), Err(problem));
                }
            }
        }
    }
    files
}

/// The target that the nearest directory above a file is called after that is called after one.
pub fn directory_target(file: &Path) -> Result<Target, Problem> {
    let directory = Path::new(".").join(file.parent().unwrap_or(file));
    // The names as given, whatever they are links to; above `..` is only what is really there.
    let up = directory.components().any(|component| component == Component::ParentDir);
    let directory = if up { fs::canonicalize(directory)? } else { absolute(directory)? };
    let target = directory.ancestors().find_map(|above| above.file_name()?.to_str()?.parse().ok());
    let name = directory.file_name().unwrap_or(directory.as_os_str());
    target.ok_or_else(|| Problem::NoTarget(name.to_string_lossy().into_owned()))
}
