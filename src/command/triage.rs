//! `chord-fuzz triage`: tells many crash files apart.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf, absolute};

use anyhow::{Context as _, bail};
use chord_fuzz::finding::report;
use chord_fuzz::finding::triage::{Bucket, triage};
use chord_fuzz::judge::{Target, Verdict};
use chord_fuzz::schedule::Schedule;
use clap::builder::RangedU64ValueParser;
use indicatif::HumanCount;
use rayon::ThreadPoolBuilder;
use serde::Serialize;

use super::input::{Problem, directory_target, files, only, raw};
use super::{Status, complain, one_line, print, progress, save};

/// The most bytes of an input of libFuzzer's, unless it is told otherwise (its flag `-max_len`).
const MAX_INPUT: u64 = 4096;

/// The fewest bytes that are taken for text: a shorter input may look like it by chance.
const MIN_TEXT: usize = 16;

/// How much of a shape is printed: enough hexadecimal digits to tell buckets of one signature apart.
const SHAPE_WIDTH: usize = 8;

const AFTER_HELP: &str = "\
Runs every file below the directories, shrinks those that violate something, and
puts those into one bucket that have the same signature and shrink to the same
schedule, up to the names of its nodes and the order of steps that do not depend
on each other. It prints a table, in columns that are two or more spaces apart:
the signature, how many files are in the bucket, the number of steps that they
shrink to, the shape of that schedule, and the first of the files. A line for
every other file says what it is. Links to directories are not followed.

It shrinks less than `chord-fuzz shrink`, and the less the more files there are,
so that a bug may have several buckets. The table does not depend on the number
of threads.

With --out it writes the smallest schedule of each bucket, named after target,
property and shape, as in DIR/ccr2012/ordered-ring-0123abcd. DIR must be
elsewhere than the files that are read.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0    whatever is found
  2    bad usage, or a file that cannot be read or whose target is not known;
       the others are told apart all the same
  141  standard output was closed before the end

Examples:
  chord-fuzz triage fuzz/artifacts
  chord-fuzz triage --version ccr2012 --out /tmp/findings crashes";

/// Puts crash files into buckets, by what they violate and how
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Triage {
    // Verbatim, since clap would join the lines, and does not break long ones without its feature `wrap_help`.
    /// The target, as for `chord-fuzz replay`; without it, each
    /// file's is the name of the nearest directory above it
    /// that is called like one
    #[arg(long, value_name = "V", verbatim_doc_comment)]
    version: Option<Target>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// Where to write the smallest schedule of each bucket
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// How many threads; all processors by default
    #[arg(long, value_name = "J", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    jobs: Option<usize>,

    /// A directory with crash files, or a crash file
    #[arg(value_name = "DIR", required = true)]
    paths: Vec<PathBuf>,
}

/// A file as it is taken.
enum Read {
    Input(Target, Schedule),
    /// Something else, and what.
    Other(String),
}

impl Triage {
    /// Tells the files apart.
    ///
    /// # Errors
    ///
    /// If `--out` is where the files are or cannot be written, if `CHORD_FUZZ_ONLY` is set to something that is no property,
    /// and if standard output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0)).build().context("--jobs")?;
        let only = only()?;
        let mut status = Status::Passed;
        let (mut inputs, mut others) = (Inputs::default(), Vec::new());
        for (file, listed) in files(&self.paths, false) {
            match listed.and_then(|_| self.read(&file).map_err(|problem| problem.to_string())) {
                Ok(Read::Input(target, schedule)) => {
                    inputs.files.push(file);
                    inputs.schedules.push((target, schedule));
                }
                Ok(Read::Other(what)) => others.push((file, what)),
                Err(problem) => {
                    complain(format_args!("{}: {problem}", file.display()));
                    status = Status::Failed;
                }
            }
        }
        if let Some(out) = &self.out {
            self.keep_apart(out, &inputs)?;
        }

        let bar = progress(3 * inputs.files.len() as u64);
        let found = pool.install(|| triage(&inputs.schedules, &only, || bar.inc(1)));
        bar.finish_and_clear();

        if let Some(out) = &self.out {
            for Bucket { target, breach, smallest, shape, .. } in &found.buckets {
                let directory = out.join(target.to_string());
                fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
                let file = format!("{}-{:.SHAPE_WIDTH$}", breach.slug(), shape.to_hex());
                save(&directory.join(file), &smallest.encode())?;
            }
        }
        for ((file, (target, _)), verdict) in inputs.files.iter().zip(&inputs.schedules).zip(&found.verdicts) {
            if !matches!(verdict, Verdict::Violated(_)) {
                others.push((file.clone(), report::verdict(*target, *verdict)));
            }
        }
        others.sort();
        let report = Report::new(&found.buckets, &inputs.files, &others);
        if self.json {
            print(&serde_json::to_string_pretty(&report)?)?;
        } else {
            report.print_table()?;
        }
        Ok(status)
    }

    /// Reads what counts of a file that may be an input. Nothing is opened that might never end or begin.
    fn read(&self, file: &Path) -> Result<Read, Problem> {
        let metadata = fs::metadata(file)?;
        let what = match metadata.len() {
            _ if metadata.is_dir() => "a link to a directory".to_owned(),
            _ if !metadata.is_file() => "not a regular file".to_owned(),
            0 => "empty".to_owned(),
            bytes if bytes > MAX_INPUT => format!("{} bytes, too long for an input", HumanCount(bytes)),
            _ => {
                let bytes = raw(file)?;
                if !is_text(&bytes) {
                    let target = self.version.map_or_else(|| directory_target(file), Ok)?;
                    return Ok(Read::Input(target, Schedule::decode(&bytes)));
                }
                "text".to_owned()
            }
        };
        Ok(Read::Other(what))
    }

    /// Refuses to write beside or below what is read.
    fn keep_apart(&self, out: &Path, inputs: &Inputs) -> anyhow::Result<()> {
        let told = || out.display().to_string();
        let resolved = resolved(out).with_context(told)?;
        let targets: BTreeSet<_> = inputs.schedules.iter().map(|(target, _)| target.to_string()).collect();
        for path in &self.paths {
            // What is missing has been told.
            let Ok(path) = fs::canonicalize(path) else { continue };
            let directory = if path.is_dir() { &path } else { path.parent().unwrap_or(&path) };
            let written = targets.iter().map(|target| resolved.join(target));
            if written.chain([resolved.clone()]).any(|written| written.starts_with(directory)) {
                bail!("{}: is where the files are that are read: --out must be elsewhere", told());
            }
        }
        Ok(())
    }
}

/// The inputs among the files.
#[derive(Default)]
struct Inputs {
    files: Vec<PathBuf>,
    schedules: Vec<(Target, Schedule)>,
}

/// Whether these bytes are text. Of an input of that length next to none is.
fn is_text(bytes: &[u8]) -> bool {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        // The head may end within a character.
        Err(error) if error.error_len().is_none() => str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
        Err(_) => return false,
    };
    text.len() >= MIN_TEXT && text.chars().all(|c| !c.is_control() || c.is_whitespace())
}

/// Where a path leads that need not be there yet.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = absolute(path)?;
    let there =
        path.ancestors().find_map(|there| Some((fs::canonicalize(there).ok()?, path.strip_prefix(there).ok()?)));
    let (there, missing) = there.ok_or(io::ErrorKind::NotFound)?;
    if missing.components().any(|component| component == Component::ParentDir) {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(there.join(missing))
}

/// What is printed, and the JSON. The names of the fields are part of the interface.
#[derive(Serialize)]
struct Report<'a> {
    buckets: Vec<BucketReport<'a>>,
    /// The files that are no findings.
    others: Vec<Other<'a>>,
}

#[derive(Serialize)]
struct BucketReport<'a> {
    signature: String,
    target: String,
    property: &'static str,
    /// In hexadecimal digits.
    shape: String,
    steps: usize,
    /// The text form.
    schedule: String,
    files: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Other<'a> {
    file: Cow<'a, str>,
    is: &'a str,
}

impl<'a> Report<'a> {
    fn new(buckets: &[Bucket], files: &'a [PathBuf], others: &'a [(PathBuf, String)]) -> Self {
        let buckets = buckets.iter().map(|Bucket { target, breach, smallest, shape, inputs }| BucketReport {
            signature: format!("{target}/{breach}"),
            target: target.to_string(),
            property: breach.slug(),
            shape: shape.to_hex().to_string(),
            steps: smallest.steps.len(),
            schedule: smallest.to_string(),
            files: inputs.iter().map(|&index| files[index].to_string_lossy()).collect(),
        });
        let others = others.iter().map(|(file, is)| Other { file: file.to_string_lossy(), is });
        Self { buckets: buckets.collect(), others: others.collect() }
    }

    fn print_table(&self) -> anyhow::Result<()> {
        let signatures = self.buckets.iter().map(|bucket| bucket.signature.len());
        let width = signatures.chain(["signature".len()]).max().unwrap_or(0);
        print(&format!(
            "{:width$}  {:>6}  {:>5}  {:SHAPE_WIDTH$}  first file",
            "signature", "files", "steps", "shape"
        ))?;
        for BucketReport { signature, files, steps, shape, .. } in &self.buckets {
            let first = files.first().map_or(String::new(), |file| one_line(file));
            print(&format!("{signature:width$}  {:>6}  {steps:>5}  {shape:.SHAPE_WIDTH$}  {first}", files.len()))?;
        }
        let names: Vec<_> = self.others.iter().map(|other| one_line(&other.file)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (i, (name, Other { is, .. })) in names.iter().zip(&self.others).enumerate() {
            let apart = if i == 0 { "\n" } else { "" };
            print(&format!("{apart}{name:width$}  {is}"))?;
        }
        Ok(())
    }
}
