//! `chord-fuzz sweep`: the blind control.

use std::time::Instant;

use anyhow::Context as _;
use chord_fuzz::judge::{Breach, Options, Target};
use chord_fuzz::schedule::{MAX_START, MAX_STEPS};
use chord_fuzz::search::sweep::{self, PEER_LEVELS, Shape, Tally};
use chord_fuzz::truth::property::Property;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser as _};
use cpu_time::ProcessTime;
use indicatif::HumanCount;
use rayon::ThreadPoolBuilder;

use super::input::only;
use super::{Status, print, progress, tell};

/// What the peer needs for a violation at its levels 0, 1 and 2, in seconds of one processor; its figure for level 1 is
/// not known (design section 8).
const PEER_SECONDS: [&str; 3] = ["peer: 0.97", "peer: unknown", "peer: 7.3"];

// The help names the numbers.
const _: () = assert!(MAX_STEPS == 96 && MAX_START == 6);

const AFTER_HELP: &str = "\
Runs random schedules, which depend on the seed and their index alone, and
prints a table, in columns that are two or more spaces apart: each signature,
how many runs violate it, which share of all that is, the index of the first
such run, from 0 on, and the fewest steps, as executed, of any. It is the same
for any number of threads. How fast it was is told on standard error.

With --until it stops at the first run that violates the property and says how
many runs that took. Others are still counted; where they end runs too early
(target claims), set CHORD_FUZZ_ONLY as well.

With --peer it runs the peer's three levels of liveness checks under the peer's
conditions. The same as there: an ideal ring of 3 to start with, 3 other nodes
that join, nobody joins twice (a run ends before), and delays. Not the same: our
failure detection is perfect, the peer's is delayed; our latency is by the delay
classes of the schedule, not uniform by the broker's model; only failures that
the assumption permits occur, where the peer throws such runs away; and what
counts is what never heals. No level checks a join: from level 1 on, nearly all
that random runs find is the ConnectedAppendages that this breaks, which ends a
run before anything rarer. CHORD_FUZZ_ONLY does not see past it, it only leaves
it out.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0  whatever is found
  2  bad usage

Examples:
  chord-fuzz sweep --version ccr2012 --runs 100000 --seed 1
  chord-fuzz sweep --version ccr2012 --ring 1 --delays no --until ordered-ring
  chord-fuzz sweep --peer --runs 20000";

/// Runs random schedules and counts what they violate: the blind control
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Sweep {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V", required_unless_present = "peer")]
    version: Option<Target>,

    /// How many schedules at most
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,

    /// The seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// The steps of each schedule, 1 to 96
    #[arg(long, value_name = "N", default_value = "60", value_parser = RangedU64ValueParser::<usize>::new().range(1..=96))]
    steps: usize,

    /// Only start with this many members, 1 to 6
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u8).range(1..=6))]
    ring: Option<u8>,

    /// Only schedules with delays, or only such without
    #[arg(long, value_name = "yes|no", value_parser = PossibleValuesParser::new(["yes", "no"]).map(|choice| choice == "yes"), hide_possible_values = true)]
    delays: Option<bool>,

    /// Stop at the first run that violates this property
    #[arg(long, value_name = "PROPERTY")]
    until: Option<Breach>,

    /// The peer's three levels, under its conditions
    #[arg(long, conflicts_with_all = ["version", "ring", "delays", "until"])]
    peer: bool,

    /// How many threads; all processors by default
    #[arg(long, value_name = "J", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    jobs: Option<usize>,
}

impl Sweep {
    /// Runs the schedules and prints what was found.
    ///
    /// # Errors
    ///
    /// If the version has no such start, if `CHORD_FUZZ_ONLY` is set to something that is no property, and if standard
    /// output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs.unwrap_or(0)).build().context("--jobs")?;
        let options = Options { only: only()?, ..Options::default() };
        match self.version {
            Some(target) => {
                let shape = Shape { steps: self.steps, ring: self.ring, delays: self.delays };
                let sweep = sweep::Sweep::new(target, options, self.seed, shape)?;
                let (tally, speed) = self.tally(&pool, &sweep);
                self.print_table(target, &tally)?;
                tell(&speed);
            }
            None => self.peer(&pool, &options)?,
        }
        Ok(Status::Passed)
    }

    /// Does the sweep, and says how fast it was.
    fn tally(&self, pool: &rayon::ThreadPool, sweep: &sweep::Sweep) -> (Tally, Speed) {
        let bar = progress(self.runs);
        let (start, cpu) = (Instant::now(), ProcessTime::now());
        let tally = pool.install(|| sweep.tally(self.runs, self.until, |runs| bar.inc(runs)));
        let speed = Speed { runs: tally.runs, wall: start.elapsed().as_secs_f64(), cpu: cpu.elapsed().as_secs_f64() };
        bar.finish_and_clear();
        (tally, speed)
    }

    fn print_table(&self, target: Target, tally: &Tally) -> anyhow::Result<()> {
        let signature = |breach: &Breach| format!("{target}/{breach}");
        let width = tally.found.keys().map(|breach| signature(breach).len()).max().unwrap_or(0).max("signature".len());
        print(&format!(
            "{:width$}  {:>10}  {:>9}  {:>10}  {:>12}",
            "signature", "count", "rate", "first hit", "fewest steps"
        ))?;
        for (breach, found) in &tally.found {
            print(&format!(
                "{:width$}  {:>10}  {:>9}  {:>10}  {:>12}",
                signature(breach),
                found.count,
                rate(found.count, tally.runs),
                found.first,
                found.shortest[0].0
            ))?;
        }
        print(&format!("{:width$}  {:>10}", "runs", tally.runs))?;
        if let Some(until) = self.until {
            print(&match tally.found.get(&until) {
                Some(found) => format!("{until}: hit at index {}, after {} runs", found.first, found.first + 1),
                None => format!("{until}: no hit in {} runs", tally.runs),
            })?;
        }
        Ok(())
    }

    /// The peer's three levels side by side.
    fn peer(&self, pool: &rayon::ThreadPool, options: &Options) -> anyhow::Result<()> {
        let properties = Property::REQUIRED.map(Breach::Broken);
        let width = PEER_LEVELS.map(str::len).into_iter().max().unwrap_or(0);
        let columns = properties.map(|property| format!("  {property}")).concat();
        print(&format!("level  {:width$}  {:>9}  {:>10}  {:>9}{columns}", "version", "runs", "violations", "rate"))?;
        for ((level, version), peer) in PEER_LEVELS.into_iter().enumerate().zip(PEER_SECONDS) {
            let sweep = sweep::Sweep::peer(version.parse()?, options.clone(), self.seed, self.steps)?;
            let (tally, speed) = self.tally(pool, &sweep);
            let all = tally.violations();
            let columns = properties.map(|property| {
                let count = tally.found.get(&property).map_or(0, |found| found.count);
                format!("  {count:width$}", width = property.name().len())
            });
            print(&format!(
                "{level:5}  {version:width$}  {:9}  {all:10}  {:>9}{}",
                tally.runs,
                rate(all, tally.runs),
                columns.concat()
            ))?;
            let each = if all == 0 { "no violation".to_owned() } else { seconds_for_each(speed.cpu, all) };
            tell(format_args!("level {level}: {each} ({peer}); {speed}"));
        }
        Ok(())
    }
}

/// How fast runs were.
struct Speed {
    runs: u64,
    /// The seconds that passed, and those of all processors together.
    wall: f64,
    cpu: f64,
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded")]
impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let speed = (self.runs as f64 / self.wall) as u64;
        let Self { runs, wall, cpu } = self;
        write!(f, "{} runs in {wall:.2} s, {cpu:.2} CPU-s: {} runs/s", HumanCount(*runs), HumanCount(speed))
    }
}

#[expect(clippy::cast_precision_loss, reason = "rounded")]
fn seconds_for_each(seconds: f64, count: u64) -> String {
    format!("{:.6} CPU-s per violation", seconds / count as f64)
}

/// A share of all runs.
#[expect(clippy::cast_precision_loss, reason = "rounded")]
fn rate(count: u64, runs: u64) -> String {
    format!("{:.4}%", 100.0 * count as f64 / runs as f64)
}
