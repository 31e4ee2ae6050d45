//! Results kept as lines of JSON, each written as soon as it is there, so that work that was interrupted goes on where
//! it was.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use anyhow::Context as _;
use serde::de::DeserializeOwned;

/// The results in a file, and how long it is without a last line that was torn. Without the file there are none.
pub fn read<T: DeserializeOwned>(file: &Path) -> anyhow::Result<(Vec<T>, u64)> {
    let text = match fs::read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let lines = text[..end].split_inclusive(|byte| *byte == b'\n');
    let results =
        lines.zip(1..).map(|(line, number)| serde_json::from_slice(line).with_context(|| format!("line {number}")));
    Ok((results.collect::<Result<_, _>>()?, end as u64))
}

/// The file, cut off after so many bytes, to append to.
pub fn append_from(file: &Path, end: u64) -> io::Result<File> {
    let log = OpenOptions::new().create(true).append(true).open(file)?;
    log.set_len(end)?;
    Ok(log)
}
