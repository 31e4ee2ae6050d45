//! Where the subcommands get their inputs from.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read, Stdin};
use std::path::{Component, Path, absolute};

use anyhow::Context as _;
use chord_fuzz::fuzzing::ONLY;
use chord_fuzz::schedule::MAX_BYTES;
use chord_fuzz::verdict::{Only, Target};

/// Why a file cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error(transparent)]
    Unreadable(#[from] io::Error),
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

    /// What the file is an input of, and as much of it as counts. `-` is standard input, once.
    pub fn open(&mut self, file: &Path) -> Result<(Target, Vec<u8>), Problem> {
        if file == Path::new("-") {
            // Before it is read: who has forgotten the version should not have to type an input first.
            let target = self.version.ok_or(Problem::NoDirectory)?;
            let stdin = self.stdin.take().ok_or(Problem::ReadAlready)?;
            return Ok((target, head(stdin)?));
        }
        // Read first: that a file is missing is the better thing to say of it than what its directory is called.
        let bytes = head(File::open(file)?)?;
        let target = self.version.map_or_else(|| directory_target(file), Ok)?;
        Ok((target, bytes))
    }
}

/// The only breaches that count, by the environment.
pub fn only() -> anyhow::Result<Only> {
    // Lossy: what is not Unicode is no property either, and the error says so.
    env::var_os(ONLY).unwrap_or_default().to_string_lossy().parse().context(ONLY)
}

/// The first bytes, which are all that a schedule is made of: the rest is not even read.
pub fn head(input: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(MAX_BYTES);
    input.take(MAX_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
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
