//! `chord-fuzz experiment`: repeated trials of each goal by each arm, and what they show.
//!
//! A trial is one search from nothing. Its result is a line of `trials.jsonl` as soon as it ends; everything else is
//! made from these lines, so that an experiment that was interrupted goes on where it was.

use std::collections::{BTreeMap, HashSet};
use std::env::consts::EXE_SUFFIX;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use chord_fuzz::judge::{Breach, Options, Target};
use chord_fuzz::schedule::MAX_BYTES;
use chord_fuzz::search::fuzzing::{DELAYS, FEEDBACK, MUTATOR, ONLY, RING, SWITCHES};
use chord_fuzz::search::sweep::{Shape, Sweep};
use chord_fuzz::truth::property::Property;
use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;
use current_platform::CURRENT_PLATFORM;
use indicatif::HumanCount;
use plotters::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::statistics::{Data, OrderStatistics as _};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

use super::plot::{number, rounded};
use super::{Status, lines, print, progress, save};

/// libFuzzer's flags in every arm that it runs, the control too. How often an edge is taken says little here and makes
/// the corpus large; and an input that has led nowhere twice is left for another.
const FLAGS: [&str; 2] = ["-use_counters=0", "-mutate_depth=2"];

/// What a search is for.
struct Goal {
    name: &'static str,
    /// The fuzz target, and the switches that its version is ablated by.
    target: &'static str,
    switches: &'static str,
    property: Property,
    /// How many members must be on a ring, at least, where it is broken.
    on: Option<u8>,
    /// What the search is confined to.
    ring: Option<u8>,
    delays: Option<bool>,
    /// The most executions of a trial by default.
    cap: u64,
}

/// A goal that starts from one member, without delays: the setting of Z12's own traces.
const fn from_one(name: &'static str, target: &'static str, property: Property) -> Goal {
    Goal { name, target, switches: "", property, on: None, ring: Some(1), delays: Some(false), cap: CAP }
}

/// Executions to spend on a trial by default: at least ten times what a guided arm needs, so that an arm that is ten
/// times worse shows as such.
const CAP: u64 = 50_000;

const GOALS: &[Goal] = &[
    from_one("ccr-two-rings-one", "ccr2012", Property::AtMostOneRing),
    Goal { ring: Some(3), ..from_one("ccr-disorder-ring3", "ccr2012", Property::OrderedRing) },
    from_one("ccr-disorder-one", "ccr2012", Property::OrderedRing),
    Goal { ring: Some(5), ..from_one("ccr-disorder-ring5", "ccr2012", Property::OrderedRing) },
    Goal { delays: Some(true), ..from_one("ccr-two-rings-delays", "ccr2012", Property::AtMostOneRing) },
    Goal { on: Some(5), ..from_one("ccr-disorder-five-one", "ccr2012", Property::OrderedRing) },
    // Where a blind loop is lost: a big ring to break, and datagrams that overtake each other.
    Goal {
        ring: Some(5),
        delays: Some(true),
        cap: 500_000,
        ..from_one("ccr-disorder-ring5-delays", "ccr2012", Property::OrderedRing)
    },
    from_one("best-two-rings-one", "best2012", Property::AtMostOneRing),
    from_one("best-disorder-one", "best2012", Property::OrderedRing),
    from_one("claims-ordered-merges", "claims", Property::OrderedMerges),
    from_one("claims-ordered-appendages", "claims", Property::OrderedAppendages),
    from_one("claims-valid-successor-list", "claims", Property::ValidSuccessorList),
    from_one("claims-at-most-one-ring", "claims", Property::AtMostOneRing),
    from_one("claims-ordered-ring", "claims", Property::OrderedRing),
    from_one("sigcomm-at-least-one-ring", "sigcomm2001", Property::AtLeastOneRing),
    from_one("sigcomm-connected-appendages", "sigcomm2001", Property::ConnectedAppendages),
    from_one("sigcomm-at-most-one-ring", "sigcomm2001", Property::AtMostOneRing),
    from_one("sigcomm-ordered-ring", "sigcomm2001", Property::OrderedRing),
    Goal {
        switches: "-base",
        ring: None,
        delays: None,
        ..from_one("tse-disorder-nobase", "tse2017", Property::OrderedRing)
    },
];

impl Goal {
    /// The goals by these names, in the order of the table; `all` stands for all of them.
    fn named(names: &[String]) -> anyhow::Result<Vec<&'static Self>> {
        for name in names {
            let known = name == "all" || GOALS.iter().any(|goal| goal.name == name);
            ensure!(known, "no goal is called `{name}`: --list shows those that there are");
        }
        Ok(GOALS.iter().filter(|goal| names.iter().any(|name| name == "all" || name == goal.name)).collect())
    }

    /// What is tested: the target with its switches.
    fn tested(&self) -> anyhow::Result<Target> {
        Ok(format!("{}{}", self.target, self.switches).parse()?)
    }

    /// What counts, for [`ONLY`].
    fn pin(&self) -> String {
        let slug = self.property.slug();
        self.on.map_or_else(|| slug.to_owned(), |on| format!("{slug}@{on}"))
    }

    /// What the search is confined to, in words.
    fn start(&self) -> String {
        let ring = self.ring.map_or_else(|| "any start".to_owned(), |ring| format!("ring {ring}"));
        let delays = self.delays.map_or("any delays", |delays| if delays { "delays" } else { "no delays" });
        let on = self.on.map_or_else(String::new, |on| format!(", {on} on a ring"));
        format!("{ring}, {delays}{on}")
    }

    /// The line of `--list`.
    fn line(&self) -> String {
        let Self { name, target, switches, property, cap, .. } = self;
        let cap = HumanCount(*cap).to_string();
        format!("{name:28}  {:12}  {property:19}  {:34}  {cap:>9}", format!("{target}{switches}"), self.start())
    }
}

/// Who searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Arm {
    /// Random schedules, as in `chord-fuzz sweep`
    Blind,
    /// libFuzzer's own mutator, code coverage
    Code,
    /// The record mutator, code coverage
    Mutator,
    /// The record mutator, code coverage and state novelty
    Both,
}

impl Arm {
    /// The mutator and the feedback of an arm that is a fuzz target.
    fn switches(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Blind => None,
            Self::Code => Some(("bytes", "code")),
            Self::Mutator => Some(("records", "code")),
            Self::Both => Some(("records", "state")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Blind => "blind",
            Self::Code => "code",
            Self::Mutator => "mutator",
            Self::Both => "both",
        }
    }

    fn colour(self) -> RGBColor {
        match self {
            Self::Blind => RGBColor(0x80, 0x80, 0x80),
            Self::Code => RGBColor(0x00, 0x72, 0xb2),
            Self::Mutator => RGBColor(0xe6, 0x9f, 0x00),
            Self::Both => RGBColor(0xc0, 0x20, 0x60),
        }
    }
}

/// The result of a trial: a line of `trials.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trial {
    goal: String,
    arm: Arm,
    seed: u32,
    /// The most executions that it had.
    cap: u64,
    /// Whether it hit, and how many executions it took to that end.
    hit: bool,
    executions: u64,
    /// Seconds of wall time.
    seconds: f64,
}

/// A trial that is still to be done.
#[derive(Clone, Copy)]
struct Planned {
    goal: &'static Goal,
    arm: Arm,
    seed: u32,
    cap: u64,
}

// The help names the number, and so does the documentation of the runs.
const _: () = assert!(MAX_BYTES == 194);

const AFTER_HELP: &str = "\
A trial is one search for a goal, from an empty corpus, until the goal's
violation is hit or the executions are used up. Other violations pass. Arms:
  blind    random schedules of 60 steps, in this process, not instrumented
  code     libFuzzer with its own mutator, steered by code coverage
  mutator  with the mutator that knows records, steered by code coverage
  both     with that mutator, steered by code coverage and novelty of states
All are confined to the goal's start. An input of the arm `code` that lies
outside is an execution, too; the other arms make next to none. libFuzzer runs
the fuzz targets as they are built, with -use_counters=0 -mutate_depth=2:
  cargo fuzz build --sanitizer none --no-trace-compares

Written to DIR:
  trials.jsonl               a line for each trial, as soon as it ends; what is
                             there already is not done again, and a last line
                             that was torn is dropped
  results.json, results.md   per goal and arm: hits; median and quartiles of the
                             executions to the first hit, a miss counting as
                             more than any; the ratio to the median of blind;
                             the Vargha-Delaney A12 (how likely a trial takes
                             fewer executions than one of code) and the p of the
                             two-sided Mann-Whitney test (normal approximation
                             with ties) against code; median wall seconds
  GOAL.svg                   hits over executions
Wall seconds mean little where other work shares the processors. With the same
seed, only trials of blind are sure to come out the same.

Exit status:
  0  everything is written
  2  bad usage, or something could not be done

Example:
  chord-fuzz experiment --goal ccr-two-rings-one --trials 20 --out docs/search";

/// Runs trials of each goal by each arm, and compares the arms
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Experiment {
    /// The goals, or `all`
    #[arg(long, value_name = "NAME", num_args = 1.., required_unless_present_any = ["list", "report_only"])]
    goal: Vec<String>,

    /// Only these arms
    #[arg(long, value_name = "ARM", num_args = 1.., hide_possible_values = true)]
    arm: Vec<Arm>,

    /// How many trials of each goal by each arm
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    trials: u32,

    // libFuzzer takes the seed 0 for none.
    /// The first trial's seed; the others follow
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4_000_000_000))]
    seed_from: u32,

    // libFuzzer reads a signed number of 32 bits.
    /// The most executions of a trial; each goal has a default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=2_000_000_000))]
    cap: Option<u64>,

    /// Where the results are, and are written
    #[arg(long, value_name = "DIR", required_unless_present = "list")]
    out: Option<PathBuf>,

    /// How many trials at a time
    #[arg(long, value_name = "J", default_value = "1", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    jobs: usize,

    /// Where the fuzz targets are. Without it, in
    /// fuzz/target/HOST/release
    #[arg(long, value_name = "DIR", verbatim_doc_comment)]
    fuzz_dir: Option<PathBuf>,

    /// Only write the results of the trials that there are
    #[arg(long, conflicts_with_all = ["goal", "arm", "cap"])]
    report_only: bool,

    /// List the goals: name, target, property, start, cap
    #[arg(long)]
    list: bool,
}

impl Experiment {
    /// Runs the trials that are missing, and writes the results.
    ///
    /// # Errors
    ///
    /// If there is no such goal, a fuzz target is not built or does not do its work, `trials.jsonl` says something
    /// else, or something cannot be written. What was done is kept.
    pub fn run(&self) -> anyhow::Result<Status> {
        if self.list {
            for goal in GOALS {
                print(&goal.line())?;
            }
            return Ok(Status::Passed);
        }
        let goals = Goal::named(&self.goal)?;
        let out = self.out.as_deref().context("--out is missing")?;
        let file = out.join("trials.jsonl");
        let read = || lines::read(&file).with_context(|| file.display().to_string());
        if !self.report_only {
            fs::create_dir_all(out).with_context(|| out.display().to_string())?;
            let (done, end) = read()?;
            let planned = self.plan(&goals, &done).with_context(|| file.display().to_string())?;
            self.check_targets(&planned)?;
            self.announce(&goals, &planned)?;
            let mut log = lines::append_from(&file, end).with_context(|| file.display().to_string())?;
            self.perform(&planned, &mut |trial| {
                let line = serde_json::to_string(trial)? + "\n";
                log.write_all(line.as_bytes()).with_context(|| file.display().to_string())
            })?;
        }
        let (trials, _) = read()?;
        ensure!(!trials.is_empty(), "{}: there is no trial", file.display());
        report(out, &trials)?;
        print(&format!("{}", out.join("results.md").display()))?;
        Ok(Status::Passed)
    }

    /// The trials that are not done. A seed comes to all goals and arms before the next, so that an interrupted
    /// experiment is a smaller one.
    fn plan(&self, goals: &[&'static Goal], done: &[Trial]) -> anyhow::Result<Vec<Planned>> {
        let arms = || Arm::value_variants().iter().filter(|arm| self.arm.is_empty() || self.arm.contains(arm));
        let keys: HashSet<_> = done.iter().map(|trial| (trial.goal.as_str(), trial.arm, trial.seed)).collect();
        let mut planned = Vec::new();
        for seed in self.seed_from..self.seed_from + self.trials {
            for goal in goals {
                let cap = self.cap.unwrap_or(goal.cap);
                if let Some(other) = done.iter().find(|trial| trial.goal == goal.name && trial.cap != cap) {
                    bail!(
                        "its trials of {} have a cap of {}, not {cap}: give another --cap or --out",
                        goal.name,
                        other.cap
                    );
                }
                for &arm in arms() {
                    if !keys.contains(&(goal.name, arm, seed)) {
                        planned.push(Planned { goal, arm, seed, cap });
                    }
                }
            }
        }
        Ok(planned)
    }

    fn target(&self, goal: &Goal) -> PathBuf {
        let directory =
            self.fuzz_dir.clone().unwrap_or_else(|| ["fuzz", "target", CURRENT_PLATFORM, "release"].iter().collect());
        directory.join(format!("{}{EXE_SUFFIX}", goal.target))
    }

    fn check_targets(&self, planned: &[Planned]) -> anyhow::Result<()> {
        for Planned { goal, .. } in planned.iter().filter(|trial| trial.arm.switches().is_some()) {
            let target = self.target(goal);
            ensure!(
                target.is_file(),
                "{}: not built; run `cargo fuzz build --sanitizer none --no-trace-compares`",
                target.display()
            );
        }
        Ok(())
    }

    fn announce(&self, goals: &[&Goal], planned: &[Planned]) -> anyhow::Result<()> {
        let executions: u64 = planned.iter().map(|trial| trial.cap).sum();
        print(&format!(
            "goals: {}; trials to do: {}, {} at a time; at most {} executions",
            goals.len(),
            planned.len(),
            self.jobs,
            HumanCount(executions)
        ))
    }

    /// Does the trials, some at a time, and hands each on when it ends. After a failure no other begins.
    fn perform(&self, planned: &[Planned], log: &mut dyn FnMut(&Trial) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let bar = progress(planned.len() as u64);
        let queue = Mutex::new(planned.iter());
        let next = || queue.lock().ok()?.next();
        let stop = || queue.lock().map(|mut queue| *queue = [].iter());
        let mut result = Ok(());
        thread::scope(|scope| {
            let (sender, ended) = mpsc::channel();
            for _ in 0..self.jobs.min(planned.len()) {
                let sender = sender.clone();
                scope.spawn(move || {
                    while let Some(planned) = next() {
                        // Nobody has gone: the receiver waits for all.
                        let _ = sender.send(self.attempt(planned));
                    }
                });
            }
            drop(sender);
            for trial in ended {
                if let Err(error) = trial.and_then(|trial| log(&trial)) {
                    let _ = stop();
                    // What comes after the first failure is more of the same.
                    if result.is_ok() {
                        result = Err(error);
                    }
                }
                bar.inc(1);
            }
        });
        bar.finish_and_clear();
        result
    }

    fn attempt(&self, planned: &Planned) -> anyhow::Result<Trial> {
        let Planned { goal, arm, seed, cap } = *planned;
        let start = Instant::now();
        let (hit, executions) = match arm.switches() {
            None => blind(planned)?,
            Some((mutator, feedback)) => {
                let target = self.target(goal);
                fuzz(planned, &target, mutator, feedback)
                    .with_context(|| format!("{} {} {seed}", goal.name, arm.name()))?
            }
        };
        Ok(Trial {
            goal: goal.name.to_owned(),
            arm,
            seed,
            cap,
            hit,
            executions,
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

/// A trial of the blind arm: whether it hits, and how many executions that takes.
fn blind(planned: &Planned) -> anyhow::Result<(bool, u64)> {
    let Planned { goal, seed, cap, .. } = *planned;
    let breach = Breach::Broken(goal.property);
    let options = Options { only: goal.pin().parse()?, ..Options::default() };
    let shape = Shape { steps: 60, ring: goal.ring, delays: goal.delays };
    let hit = Sweep::new(goal.tested()?, options, seed.into(), shape)?.first_hit(breach, cap);
    Ok((hit.is_some(), hit.map_or(cap, |index| index + 1)))
}

/// A trial of an arm that is a fuzz target.
fn fuzz(planned: &Planned, target: &Path, mutator: &str, feedback: &str) -> anyhow::Result<(bool, u64)> {
    let Planned { goal, seed, cap, .. } = *planned;
    let scratch = tempfile::tempdir()?;
    let corpus = scratch.path().join("corpus");
    fs::create_dir(&corpus)?;
    let or_any = |pin: Option<String>| pin.unwrap_or_default();
    let output = Command::new(fs::canonicalize(target)?)
        .args([format!("-seed={seed}"), format!("-runs={cap}"), format!("-max_len={MAX_BYTES}")])
        .args(FLAGS)
        .arg("-print_final_stats=1")
        .arg(format!("-artifact_prefix={}/", scratch.path().display()))
        .arg(&corpus)
        .env(MUTATOR, mutator)
        .env(FEEDBACK, feedback)
        .env(SWITCHES, goal.switches)
        .env(ONLY, goal.pin())
        .env(RING, or_any(goal.ring.map(|ring| ring.to_string())))
        .env(DELAYS, or_any(goal.delays.map(|delays| if delays { "yes" } else { "no" }.to_owned())))
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::null())
        .output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let value_of = |name: &str| told.lines().rev().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let last = || told.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("nothing on standard error").to_owned();
    let executions = value_of("stat::number_of_executed_units:").with_context(last)?.parse().with_context(last)?;
    let signature = format!("{}--{}", goal.tested()?, goal.property);
    match value_of("DEDUP_TOKEN:") {
        Some(token) if token == signature => Ok((true, executions)),
        None if output.status.success() => Ok((false, executions)),
        token => bail!("{} instead of {signature}: {}", token.unwrap_or("a failure"), last()),
    }
}

/// What stands for a miss among numbers of executions and of seconds: so far above every cap that whatever it has a
/// part in, as a quantile between it and a hit has, lies above the cap as well.
const MISS: f64 = 1e15;

/// The results of a goal.
#[derive(Serialize)]
struct GoalResult {
    goal: &'static str,
    tested: String,
    property: &'static str,
    start: String,
    cap: u64,
    arms: Vec<ArmResult>,
}

/// The results of an arm. What lies above the cap, or cannot be compared, is `None`.
#[derive(Serialize)]
struct ArmResult {
    arm: Arm,
    trials: usize,
    hits: usize,
    /// Of the executions to the first hit.
    lower_quartile: Option<f64>,
    median: Option<f64>,
    upper_quartile: Option<f64>,
    median_ratio_to_blind: Option<f64>,
    a12_to_code: Option<f64>,
    p_to_code: Option<f64>,
    median_seconds: Option<f64>,
    /// The executions of each hit, ascending, for the plot.
    #[serde(skip)]
    executions: Vec<u64>,
}

/// Writes everything that the trials show.
fn report(out: &Path, trials: &[Trial]) -> anyhow::Result<()> {
    for trial in trials {
        Goal::named(std::slice::from_ref(&trial.goal))?;
    }
    let mut results = Vec::new();
    for goal in GOALS {
        let of_goal: Vec<_> = trials.iter().filter(|trial| trial.goal == goal.name).collect();
        let Some(first) = of_goal.first() else { continue };
        let other = of_goal.iter().find(|trial| trial.cap != first.cap);
        ensure!(other.is_none(), "trials of {} have different caps", goal.name);
        results.push(goal_result(goal, first.cap, &of_goal)?);
    }
    for result in &results {
        let file = format!("{}.svg", result.goal);
        save(&out.join(&file), plot(result).with_context(|| file)?.as_bytes())?;
    }
    save(&out.join("results.json"), (serde_json::to_string_pretty(&results)? + "\n").as_bytes())?;
    save(&out.join("results.md"), markdown(&results)?.as_bytes())
}

fn goal_result(goal: &Goal, cap: u64, trials: &[&Trial]) -> anyhow::Result<GoalResult> {
    let mut by_arm = BTreeMap::<Arm, Vec<&Trial>>::new();
    for trial in trials {
        by_arm.entry(trial.arm).or_default().push(trial);
    }
    let executions = |trials: &[&Trial]| -> Vec<f64> {
        trials.iter().map(|trial| if trial.hit { number(trial.executions) } else { MISS }).collect()
    };
    let samples: BTreeMap<_, _> = by_arm.iter().map(|(arm, trials)| (*arm, executions(trials))).collect();
    let blind = samples.get(&Arm::Blind).and_then(|sample| quantile(sample, 0.5));
    let arms = by_arm.iter().map(|(&arm, trials)| {
        let sample = &samples[&arm];
        let seconds: Vec<_> = trials.iter().map(|trial| if trial.hit { trial.seconds } else { MISS }).collect();
        let mut executions: Vec<_> = trials.iter().filter(|trial| trial.hit).map(|trial| trial.executions).collect();
        executions.sort_unstable();
        let median = quantile(sample, 0.5);
        let compared = match samples.get(&Arm::Code) {
            Some(code) if arm != Arm::Code => Some(compare(sample, code)?),
            _ => None,
        };
        Ok(ArmResult {
            arm,
            trials: trials.len(),
            hits: executions.len(),
            lower_quartile: quantile(sample, 0.25),
            median,
            upper_quartile: quantile(sample, 0.75),
            median_ratio_to_blind: median.zip(blind).map(|(median, blind)| median / blind),
            a12_to_code: compared.map(|(a12, _)| a12),
            p_to_code: compared.map(|(_, p)| p),
            median_seconds: quantile(&seconds, 0.5),
            executions,
        })
    });
    Ok(GoalResult {
        goal: goal.name,
        tested: goal.tested()?.to_string(),
        property: goal.property.name(),
        start: goal.start(),
        cap,
        arms: arms.collect::<anyhow::Result<_>>()?,
    })
}

/// A quantile of a sample, unless a miss has a part in it.
fn quantile(sample: &[f64], tau: f64) -> Option<f64> {
    // Between a hit and a miss it lies at least a twelfth of the way to the miss.
    Some(Data::new(sample.to_vec()).quantile(tau)).filter(|value| *value < MISS / 100.0)
}

/// How likely a number of the first sample is below one of the second, ties counting half (A12), and the p of the
/// two-sided Mann-Whitney test. By approximation also for small samples: misses are ties, for which there is no exact
/// method.
fn compare(sample: &[f64], code: &[f64]) -> anyhow::Result<(f64, f64)> {
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    // U counts the pairs in which the first is above.
    let (u, p) = mannwhitneyu(sample, code, method, Alternative::TwoSided)?;
    let pairs = number(sample.len() as u64) * number(code.len() as u64);
    Ok((1.0 - u / pairs, p))
}

fn markdown(results: &[GoalResult]) -> Result<String, fmt::Error> {
    let mut text = String::from(
        "# Executions to the first hit\n\n\
         Each trial starts from an empty corpus. A miss counts as more executions than any hit. Ratio: of the medians, \
         to blind. A12: how likely a trial takes fewer executions than one of code. p: two-sided Mann-Whitney test \
         against code, by normal approximation. Seconds: median of wall time to the hit.\n",
    );
    for GoalResult { goal, tested, property, start, cap, arms } in results {
        let cap = HumanCount(*cap);
        write!(text, "\n## {goal}\n\n{tested}/{property}; {start}; at most {cap} executions.\n\n")?;
        text += "| arm | hits | median | quartiles | ratio | A12 | p | seconds |\n|---|--:|--:|--:|--:|--:|--:|--:|\n";
        for arm in arms {
            let executions =
                |value: Option<f64>| value.map_or_else(|| format!("> {cap}"), |value| rounded(value).to_string());
            let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            writeln!(
                text,
                "| {} | {}/{} | {} | {} to {} | {} | {} | {} | {} |",
                arm.arm.name(),
                arm.hits,
                arm.trials,
                executions(arm.median),
                executions(arm.lower_quartile),
                executions(arm.upper_quartile),
                or_dash(arm.median_ratio_to_blind.map(|ratio| format!("{ratio:.2}"))),
                or_dash(arm.a12_to_code.map(|a12| format!("{a12:.2}"))),
                or_dash(arm.p_to_code.map(|p| if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") })),
                or_dash(arm.median_seconds.map(|seconds| format!("{seconds:.2}"))),
            )?;
        }
    }
    Ok(text)
}

/// Hits over executions, as an SVG: a line for each arm, which climbs with each hit.
fn plot(result: &GoalResult) -> anyhow::Result<String> {
    let mut svg = String::new();
    let most = result.arms.iter().map(|arm| arm.trials).max().unwrap_or(0);
    let across: Range<f64> = 1.0..number(result.cap.max(10));
    let small = ("sans-serif", 16);
    let caption = format!("{}: hits within so many executions", result.goal);
    let root = SVGBackend::with_string(&mut svg, (720, 420)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 20))
        .margin(16)
        .margin_right(48)
        .x_label_area_size(48)
        .y_label_area_size(56)
        .build_cartesian_2d(across.clone().log_scale(), 0..most)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .label_style(small)
        .axis_desc_style(small)
        .x_desc("executions")
        .y_desc("trials that have hit")
        .x_label_formatter(&|x| rounded(*x).to_string())
        .draw()?;
    for arm in &result.arms {
        let mut line = vec![(1.0, 0)];
        for (hits, executions) in arm.executions.iter().enumerate() {
            line.extend([(number(*executions), hits), (number(*executions), hits + 1)]);
        }
        line.push((across.end, arm.executions.len()));
        let style = arm.arm.colour().stroke_width(2);
        chart
            .draw_series(LineSeries::new(line, style))?
            .label(arm.arm.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font(small)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    drop(chart);
    drop(root);
    Ok(svg)
}
