//! `chord-fuzz matrix`: which assumption carries the proof.
//!
//! What is found in a cell is a line of `matrix.state` as soon as the cell is swept. It goes when all else is written.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use chord_fuzz::judge::Options;
use chord_fuzz::protocol::version::Version;
use chord_fuzz::search::matrix::{Cell, Finding, Network, Plan, STEPS, VERSIONS, share};
use clap::builder::RangedU64ValueParser;
use indicatif::HumanCount;
use rayon::ThreadPoolBuilder;
use serde::{Deserialize, Serialize};

use super::{Status, lines, print, progress, save, tell};

// The help names the numbers.
const _: () = assert!(STEPS == 60 && VERSIONS.len() == 10);

const FORMAT: u32 = 2;

/// Of `matrix.state`. Another one as soon as a sweep of the same parameters finds something else.
const STATE_FORMAT: u32 = 1;

/// About how many runs a second one processor does, the shrinking of what they find included.
const RUNS_PER_SECOND: u64 = 20_000;

const AFTER_HELP: &str = "\
A cell is a version under conditions. The columns are the network:

  immediate  every datagram arrives before the next step
  delayed    datagrams may be delayed; failure detection is perfect
  late       the same, and a failed node is taken for alive for some steps
  lossy      datagrams may be delayed or lost, and the network partitioned

and each version has a row in which a failed node may join again and one in
which it may not. Each cell is a blind sweep of random schedules of 60 steps
from any start of the version; `tse2017` with its base has two, one for its
invariant and one for what is required, since the invariant breaks before. The
shortest few runs of each property that is violated are shrunk. A cell says for
each property how many steps the smallest schedule has that violates it, or
`none`. What is found in one is tried in the others of the version. `*` marks a
run outside the assumptions, which says nothing about the protocol, and `~` one
of which it is not known that no order of maintenance heals the network.

It prints the table, and writes in DIR matrix.md, which is the table and all
findings, matrix.json, and each finding as a text to replay. What else is in DIR
stays. All of it is the same on every machine, for any number of threads.
Until then each cell that is swept is kept in DIR/matrix.state. Interrupted, it
goes on from there when it is called again with the same parameters and DIR;
with others it does nothing.

Exit status:
  0    it is written, whatever is found
  2    bad usage, DIR cannot be written, or it has the state of another matrix
  141  standard output was closed before the end

Examples:
  chord-fuzz matrix --out /tmp/matrix
  chord-fuzz matrix --version tse2017 --version tse2017-busy --out /tmp/matrix";

/// Finds out what each version survives, and under which conditions
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Matrix {
    /// Only this version; may be given more than once. By
    /// default ten of them
    #[arg(long = "version", value_name = "V", verbatim_doc_comment)]
    versions: Vec<Version>,

    /// The runs of each sweep
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    runs: u64,

    /// The seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// The steps that `late` is late by
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..))]
    late_detection: u8,

    /// How many threads; all processors by default
    #[arg(long, value_name = "J", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    jobs: Option<usize>,

    /// Where to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// What the sweep of a cell has found: a line of `matrix.state`. What can be told from the schedules is not in it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Swept {
    format: u32,
    runs: u64,
    seed: u64,
    late_detection: u8,
    cell: String,
    found: Vec<Kept>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    breach: String,
    count: u64,
    schedule: String,
}

/// `matrix.json`.
#[derive(Serialize)]
struct Document {
    format: u32,
    runs: u64,
    seed: u64,
    late_detection: u8,
    cells: Vec<CellForm>,
}

#[derive(Serialize)]
struct CellForm {
    version: String,
    network: &'static str,
    rejoin: bool,
    /// The conditions as `replay` takes them.
    flags: Vec<String>,
    found: Vec<FindingForm>,
}

#[derive(Serialize)]
struct FindingForm {
    property: &'static str,
    count: u64,
    steps: usize,
    /// The members that it starts with.
    ring: u8,
    /// Whether the run is within the assumptions.
    within: bool,
    assumptions: String,
    /// Whether no order of maintenance heals the network.
    proof: Option<String>,
    file: String,
    #[serde(skip)]
    undecided: bool,
    #[serde(skip)]
    text: String,
}

impl Matrix {
    /// Fills the matrix, prints it and writes it.
    ///
    /// # Errors
    ///
    /// If the directory or a file in it cannot be written, if the state in it is of another matrix, and if standard output
    /// takes no more. What was swept is kept.
    pub fn run(&self) -> anyhow::Result<Status> {
        let Self { runs, seed, late_detection, jobs, .. } = *self;
        let plan = Plan { runs, seed, late: late_detection };
        let versions = match &self.versions[..] {
            [] => VERSIONS.iter().map(|name| name.parse()).collect::<Result<_, _>>()?,
            some => some.to_vec(),
        };
        let cells: Vec<_> = versions.into_iter().flat_map(Cell::of).collect();
        let pool = ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build().context("--jobs")?;
        // That nothing can be written is said before it takes its time.
        fs::create_dir_all(&self.out)
            .and_then(|()| tempfile::tempfile_in(&self.out))
            .with_context(|| self.out.display().to_string())?;
        let state = self.out.join("matrix.state");
        let (mut swept, end) = restore(&state, &cells, plan).with_context(|| state.display().to_string())?;
        let left = cells.iter().zip(&swept).filter(|(_, kept)| kept.is_none());
        let all = left.map(|(cell, _)| cell.sweeps().len() as u64).sum::<u64>() * runs;
        let minutes = all.div_ceil(60 * RUNS_PER_SECOND);
        let kept = match swept.iter().flatten().count() {
            0 => String::new(),
            kept => format!(", {kept} of them kept"),
        };
        tell(format_args!(
            "{} cells{kept}, {} runs: about {minutes} min of one processor",
            cells.len(),
            HumanCount(all)
        ));

        let bar = progress(all);
        let mut log = lines::append_from(&state, end).with_context(|| state.display().to_string())?;
        for (cell, swept) in cells.iter().zip(&mut swept).filter(|(_, kept)| kept.is_none()) {
            let found = pool.install(|| cell.sweep(plan, |runs| bar.inc(runs)));
            let line = serde_json::to_string(&Swept::of(*cell, plan, &found))? + "\n";
            log.write_all(line.as_bytes()).with_context(|| state.display().to_string())?;
            *swept = Some(found);
        }
        bar.finish_and_clear();
        let filled = share(&cells, plan, &swept.into_iter().flatten().collect::<Vec<_>>());

        let cells = cells.iter().zip(&filled).map(|(cell, found)| CellForm::of(*cell, plan, found)).collect();
        let document = Document { format: FORMAT, runs, seed, late_detection, cells };
        for finding in document.cells.iter().flat_map(|cell| &cell.found) {
            save(&self.out.join(&finding.file), finding.text.as_bytes())?;
        }
        let page = format!("{}\n{}", document.table(true), document.findings());
        save(&self.out.join("matrix.md"), page.as_bytes())?;
        save(&self.out.join("matrix.json"), format!("{}\n", serde_json::to_string_pretty(&document)?).as_bytes())?;
        fs::remove_file(&state).with_context(|| state.display().to_string())?;
        print(document.table(false).trim_end())?;
        Ok(Status::Passed)
    }
}

/// What is kept of each cell, and how long the file is without a last line that was torn.
fn restore(state: &Path, cells: &[Cell], plan: Plan) -> anyhow::Result<(Vec<Option<Vec<Finding>>>, u64)> {
    let (lines, end) = lines::read::<Swept>(state)?;
    for line in &lines {
        line.check(cells, plan)?;
    }
    let restore = |cell: &Cell| {
        let line = lines.iter().find(|line| line.cell == cell.to_string())?;
        Some(line.restore(*cell, plan).with_context(|| format!("{cell}; to start over, delete it")))
    };
    let swept = cells.iter().map(|cell| restore(cell).transpose()).collect::<Result<_, _>>()?;
    Ok((swept, end))
}

impl Swept {
    fn of(cell: Cell, plan: Plan, found: &[Finding]) -> Self {
        let Plan { runs, seed, late } = plan;
        let keep = |finding: &Finding| Kept {
            breach: finding.breach.to_string(),
            count: finding.count,
            schedule: finding.smallest.to_string(),
        };
        let found = found.iter().map(keep).collect();
        Self { format: STATE_FORMAT, runs, seed, late_detection: late, cell: cell.to_string(), found }
    }

    /// Sees that it is of this matrix.
    fn check(&self, cells: &[Cell], plan: Plan) -> anyhow::Result<()> {
        let parameters = [
            ("format", self.format.into(), STATE_FORMAT.into()),
            ("--runs", self.runs, plan.runs),
            ("--seed", self.seed, plan.seed),
            ("--late-detection", self.late_detection.into(), plan.late.into()),
        ];
        if let Some((name, kept, given)) = parameters.iter().find(|(_, kept, given)| kept != given) {
            bail!("kept with {name} {kept}, not {given}: give that or another --out, or delete it to start over");
        }
        if !cells.iter().any(|cell| cell.to_string() == self.cell) {
            bail!(
                "it has {}, which no --version asks for: ask for it, give another --out, or delete it to start over",
                self.cell
            );
        }
        Ok(())
    }

    fn restore(&self, cell: Cell, plan: Plan) -> anyhow::Result<Vec<Finding>> {
        let restore = |kept: &Kept| {
            let Kept { breach, count, schedule } = kept;
            let finding = cell.find(plan, breach.parse()?, &schedule.parse()?);
            let finding = finding.with_context(|| format!("its schedule of {breach} comes to something else"))?;
            Ok(Finding { count: *count, ..finding })
        };
        self.found.iter().map(restore).collect()
    }
}

impl CellForm {
    fn of(cell: Cell, plan: Plan, found: &[Finding]) -> Self {
        let flags = flags(&cell.options(plan));
        let found = found.iter().map(|finding| FindingForm::of(cell, &flags, finding)).collect();
        let (version, network) = (cell.version.to_string(), cell.network.name());
        Self { version, network, rejoin: cell.rejoin, flags, found }
    }
}

impl FindingForm {
    fn of(cell: Cell, flags: &[String], finding: &Finding) -> Self {
        let Finding { breach, count, ref smallest, assumptions, ref proof } = *finding;
        let file = format!("{cell}.{}.txt", breach.slug());
        let (steps, ring) = (smallest.steps.len(), smallest.setup.ring);
        let version = cell.version.to_string();
        let command = ["chord-fuzz", "replay", "--version", &version].into_iter();
        let replay: Vec<_> = command.chain(flags.iter().map(String::as_str)).chain([file.as_str()]).collect();
        let replay = replay.join(" ");
        let text = format!("# {version}/{breach}, {steps} steps; {assumptions}\n# {replay}\n{smallest}");
        let (within, assumptions) = (assumptions.hold(), assumptions.to_string());
        let (undecided, proof) = (finding.undecided(), proof.as_ref().map(ToString::to_string));
        Self { property: breach.name(), count, steps, ring, within, assumptions, proof, undecided, file, text }
    }

    /// What is remarkable about it.
    fn marks(&self) -> String {
        let marks = [(!self.within, '*'), (self.undecided, '~')];
        marks.into_iter().filter_map(|(on, mark)| on.then_some(mark)).collect()
    }
}

impl Document {
    /// The table, in which each finding is a link to its file if `linked`.
    fn table(&self, linked: bool) -> String {
        let separator = if linked { "<br>" } else { ", " };
        let mut text = "| version | joins again |".to_owned();
        text += &Network::ALL.map(|network| format!(" {} |", network.name())).concat();
        text += "\n|---|---|---|---|---|---|\n";
        for row in self.cells.chunks(Network::ALL.len()) {
            let CellForm { version, rejoin, .. } = &row[0];
            let _ = write!(text, "| `{version}` | {} |", if *rejoin { "yes" } else { "no" });
            for cell in row {
                let entry = |finding: &FindingForm| {
                    let FindingForm { property, steps, file, .. } = finding;
                    let entry = format!("{property} {steps}{}", finding.marks());
                    if linked { format!("[{entry}]({file})") } else { entry }
                };
                let found: Vec<_> = cell.found.iter().map(entry).collect();
                let _ = write!(text, " {} |", if found.is_empty() { "none".to_owned() } else { found.join(separator) });
            }
            text.push('\n');
        }
        text
    }

    fn findings(&self) -> String {
        let Self { runs, .. } = *self;
        let mut text = format!(
            "Of {} runs of each sweep so many violate it, 0 if it is known from another cell; the smallest has so many \
             steps and starts with so many members.\n\n| version | joins again | network | property | runs | steps | members | |\n\
             |---|---|---|---|--:|--:|--:|---|\n",
            HumanCount(runs)
        );
        for CellForm { version, network, rejoin, found, .. } in &self.cells {
            for finding in found {
                let FindingForm { property, count, steps, ring, file, .. } = finding;
                let rejoin = if *rejoin { "yes" } else { "no" };
                let _ = writeln!(
                    text,
                    "| `{version}` | {rejoin} | {network} | [{property}]({file}) | {} | {steps} | {ring} | {} |",
                    HumanCount(*count),
                    finding.marks()
                );
            }
        }
        text
    }
}

/// The conditions as `replay` takes them.
fn flags(options: &Options) -> Vec<String> {
    let conditions = options.conditions;
    let late = conditions.late.to_string();
    [
        (options.faults, vec!["--faults"]),
        (!conditions.rejoin, vec!["--no-rejoin"]),
        (conditions.late > 0, vec!["--late-detection", &late]),
    ]
    .into_iter()
    .filter(|(on, _)| *on)
    .flat_map(|(_, flags)| flags)
    .map(str::to_owned)
    .collect()
}
