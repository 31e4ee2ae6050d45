//! `chord-fuzz stats`: what a corpus reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use chord_fuzz::finding::report;
use chord_fuzz::finding::story::Story;
use chord_fuzz::judge::{Options, Target};
use chord_fuzz::schedule::{Schedule, Setup};
use chord_fuzz::search::novelty::FEATURES;
use chord_fuzz::search::reach::{FACTS, features, reached};
use clap::ValueHint;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use serde::Serialize;
use textwrap::fill;

use super::input::{self, MAX_TEXT, files, only};
use super::{Status, complain, one_line, progress, write};

/// The columns of a page.
const PAGE: usize = 80;

// The help names the number.
const _: () = assert!(MAX_TEXT == 64 << 10);

/// The help after the options. The facts are told by themselves.
fn after_help() -> String {
    let mut help = "\
Runs every file below the directories, links followed, and prints for each
target what its inputs come to: verdicts; the members, the identifiers and the
length of successor lists that they start with; steps and operations as
executed; how many of those send their requests, and their notification, with
which delay; and the features of the state abstraction that the networks have,
which guide the fuzzer.

Then what should sometimes be so: in how many inputs it is, how often in all,
and an example: the input of the fewest steps, and of those the first by its
path. `impossible` is what no run can reach by the rules of the version.

A file is an input as for `replay`. One that is empty or has more than 64 KiB is
none, and neither is what is no regular file.

--json prints one JSON object: `format`, which is 1, and `targets`, an array of
objects: `target`; `inputs`; by value, how many inputs have these `verdicts`,
`ring`, `circle`, `list_len` and number of `steps`, and how many steps these
`operations`, `request_delays` and `notice_delays`; the numbers of `features`;
and `facts`, an array of objects: `name`, `definition`, `possible`, `inputs`,
`occurrences`, and `example`, which may be null.

Facts:
"
    .to_owned();
    for fact in &FACTS {
        let definition = textwrap::Options::new(PAGE).initial_indent("      ").subsequent_indent("      ");
        let _ = writeln!(help, "  {}\n{}", fact.name, fill(fact.definition, definition));
    }
    help += "
Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

Exit status:
  0    every file is counted, whatever its verdict
  2    bad usage, or a file that is no input; the others are counted anyway
  141  standard output was closed before the end

Examples:
  chord-fuzz stats corpus
  chord-fuzz stats --version tse2017 /tmp/campaign
  chord-fuzz stats --json corpus | jq '.targets[].facts[] | select(.inputs==0)'";
    help
}

/// Counts what the inputs in directories reach
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Stats {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    /// Print JSON instead
    #[arg(long)]
    json: bool,

    /// A directory of inputs
    #[arg(value_name = "DIR", required = true, value_hint = ValueHint::DirPath)]
    directories: Vec<PathBuf>,
}

impl Stats {
    /// Runs the inputs and prints what they reach. What is no input is told in the order of paths, and does not keep the
    /// others from being counted.
    ///
    /// # Errors
    ///
    /// If there is no file at all, if `CHORD_FUZZ_ONLY` is set to something that is no property, and if standard output
    /// takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let options = Options { only: only()?, ..Options::default() };
        let files = files(&self.directories, true);
        anyhow::ensure!(!files.is_empty(), "there is no file in these directories");
        let bar = progress(files.len() as u64);
        let inputs: Vec<_> = files
            .into_par_iter()
            .map(|(path, listed)| {
                let input = match listed {
                    // Opening a pipe would wait for a writer.
                    Ok(file_type) if !file_type.is_file() => Err("not a regular file".to_owned()),
                    Ok(_) => Input::run(self.version, &path, &options),
                    Err(problem) => Err(problem),
                };
                bar.inc(1);
                (path, input)
            })
            .collect();
        bar.finish_and_clear();

        let mut status = Status::Passed;
        let mut targets = BTreeMap::new();
        for (path, input) in inputs {
            match input {
                Ok(input) => targets.entry(input.target.to_string()).or_insert_with(Reach::default).add(&path, &input),
                Err(problem) => {
                    complain(format_args!("{}: {problem}", path.display()));
                    status = Status::Failed;
                }
            }
        }
        let text = if self.json {
            let targets: Vec<_> = targets.iter().map(|(target, reach)| Form { target, reach }).collect();
            serde_json::to_string(&Document { format: 1, targets })? + "\n"
        } else {
            targets.iter().map(|(target, reach)| reach.text(target)).collect::<Vec<_>>().join("\n")
        };
        write(io::stdout().lock(), text.as_bytes())?;
        Ok(status)
    }
}

/// An input, and what its run reaches.
struct Input {
    target: Target,
    verdict: String,
    executed: Schedule,
    features: BTreeSet<usize>,
    facts: [usize; FACTS.len()],
}

impl Input {
    fn run(version: Option<Target>, file: &Path, options: &Options) -> Result<Self, String> {
        let (target, schedule) = input::kept(version, file).map_err(|problem| problem.to_string())?;
        let story = Story::of(target, &schedule, options);
        Ok(Self {
            target,
            verdict: report::verdict(target, story.outcome.verdict),
            features: features(&story),
            facts: reached(&story),
            executed: story.outcome.executed,
        })
    }
}

/// What the inputs of a target reach. Each map counts by what it is named after.
#[derive(Default, Serialize)]
struct Reach {
    inputs: usize,
    verdicts: BTreeMap<String, usize>,
    /// Inputs, by the members, the identifiers and the length of lists that they start with.
    ring: BTreeMap<u8, usize>,
    circle: BTreeMap<u8, usize>,
    list_len: BTreeMap<u8, usize>,
    /// Inputs, by their number of steps as executed.
    steps: BTreeMap<usize, usize>,
    /// Steps as executed.
    operations: BTreeMap<&'static str, usize>,
    /// Steps as executed that start requests, and those that start notifications, by their delay.
    request_delays: BTreeMap<u8, usize>,
    notice_delays: BTreeMap<u8, usize>,
    features: BTreeSet<usize>,
    facts: Vec<Reached>,
}

/// How far a fact is reached.
#[derive(Serialize)]
struct Reached {
    name: &'static str,
    definition: &'static str,
    possible: bool,
    inputs: usize,
    occurrences: usize,
    example: Option<String>,
    /// The steps of the example.
    #[serde(skip)]
    fewest: usize,
}

impl Reach {
    /// Takes in an input. They come in the order of their paths.
    fn add(&mut self, path: &Path, input: &Input) {
        fn count<T: Ord>(counts: &mut BTreeMap<T, usize>, what: T) {
            *counts.entry(what).or_default() += 1;
        }
        let Input { target, verdict, executed, features, facts } = input;
        let Setup { ring, circle, list_len, .. } = executed.setup;
        self.inputs += 1;
        count(&mut self.verdicts, verdict.clone());
        count(&mut self.ring, ring);
        count(&mut self.circle, circle);
        count(&mut self.list_len, list_len);
        count(&mut self.steps, executed.steps.len());
        for step in &executed.steps {
            count(&mut self.operations, step.op.name());
            if step.op.asks() {
                count(&mut self.request_delays, step.delay.ticks());
            }
            if step.op.notifies() {
                count(&mut self.notice_delays, step.notice.ticks());
            }
        }
        self.features.extend(features);

        if self.facts.is_empty() {
            self.facts = FACTS
                .iter()
                .map(|fact| Reached {
                    name: fact.name,
                    definition: fact.definition,
                    possible: fact.possible(target.version.rules()),
                    inputs: 0,
                    occurrences: 0,
                    example: None,
                    fewest: usize::MAX,
                })
                .collect();
        }
        for (fact, &occurrences) in self.facts.iter_mut().zip(facts) {
            if occurrences == 0 {
                continue;
            }
            fact.inputs += 1;
            fact.occurrences += occurrences;
            if executed.steps.len() < fact.fewest {
                fact.fewest = executed.steps.len();
                fact.example = Some(path.to_string_lossy().into_owned());
            }
        }
    }

    fn text(&self, target: &str) -> String {
        let s = if self.inputs == 1 { "" } else { "s" };
        let mut text = format!("{target}: {} input{s}\n", self.inputs);
        line(&mut text, "verdicts", &self.verdicts);
        line(&mut text, "ring of", &self.ring);
        line(&mut text, "circle of", &self.circle);
        line(&mut text, "lists of", &self.list_len);
        let of_inputs = |number: usize| {
            let mut lengths = self.steps.iter().flat_map(|(length, inputs)| vec![length; *inputs]);
            lengths.nth(number).copied().unwrap_or(0)
        };
        let all: usize = self.operations.values().sum();
        let (fewest, median, most) = (of_inputs(0), of_inputs(self.inputs / 2), of_inputs(self.inputs - 1));
        let _ = writeln!(text, "  {:16}  {all}; of an input {fewest} to {most}, median {median}", "steps");
        line(&mut text, "operations", &self.operations);
        line(&mut text, "request delays", &self.request_delays);
        line(&mut text, "notice delays", &self.notice_delays);
        let _ = writeln!(text, "  {:16}  {} of {FEATURES}", "features", self.features.len());

        let width = FACTS.iter().map(|fact| fact.name.len()).max().unwrap_or(0);
        let _ = writeln!(text, "  {:width$}  {:>6}  {:>11}  example", "sometimes", "inputs", "occurrences");
        for Reached { name, possible, inputs, occurrences, example, .. } in &self.facts {
            let _ = match example {
                Some(example) => {
                    writeln!(text, "  {name:width$}  {inputs:6}  {occurrences:11}  {}", one_line(example))
                }
                None if *possible => writeln!(text, "  {name:width$}  {inputs:6}  {occurrences:11}"),
                None => writeln!(text, "  {name:width$}  impossible"),
            };
        }
        text
    }
}

/// Writes counts in a line, or in several if they do not fit a page.
fn line(text: &mut String, label: &str, counts: &BTreeMap<impl Display, usize>) {
    // No line is broken at these spaces.
    let counts: Vec<_> = counts.iter().map(|(what, count)| format!("{what}:\u{a0}{count}")).collect();
    let label = format!("  {label:16}  ");
    let indent = " ".repeat(label.len());
    let page = textwrap::Options::new(PAGE).initial_indent(&label).subsequent_indent(&indent);
    *text += &fill(&counts.join(", "), page).replace('\u{a0}', " ");
    text.push('\n');
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    targets: Vec<Form<'a>>,
}

#[derive(Serialize)]
struct Form<'a> {
    target: &'a str,
    #[serde(flatten)]
    reach: &'a Reach,
}
