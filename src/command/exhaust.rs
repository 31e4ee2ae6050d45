//! `chord-fuzz exhaust`: every network that a version can reach on a small circle.

use std::fmt::Write as _;
use std::io;

use chord_fuzz::judge::exhaust::{Bounds, Explored, Found, MAX_CIRCLE, Search, Shortest, Summary};
use chord_fuzz::judge::{Breach, Judge, Target};
use chord_fuzz::schedule::{MIN_CIRCLE, Setup};
use chord_fuzz::truth::property::Property;
use serde::Serialize;

use super::{Status, complain, progress, write};

// The help names the numbers.
const _: () = assert!(MIN_CIRCLE == 4 && MAX_CIRCLE == 7);

const AFTER_HELP: &str = "\
Takes every join, every permitted failure and every step of maintenance that
changes something, breadth first, in the atomic model, from one member or an
ideal ring, until nothing new comes. A node that has failed may join again. What
is then not found cannot be reached, by any number of joins and failures, or by
so many as --joins and --failures allow. Prints how many networks there are, and
in columns that are two or more spaces apart, for each property:

  broken       how many networks break it
  irreparable  how many of these no order of maintenance makes ideal
  to broken, to violation, to irreparable
               the steps of the shortest schedule to a network that breaks it,
               to one that is also a violation, and to one that is also
               irreparable; `-` if there is none

A network of a version counts for the first property that it breaks, in the
order of the table, as in a verdict; and a violation is one that fair
maintenance does not make ideal. A run is over at its first violation, so the
schedules to the next one have no violation before their ends. For the target
claims each property is judged by itself, and a break is a violation.

A search of more than --networks ends early, and says so: the counts are then of
what was seen, irreparable networks are not counted (`?`), and `-` says nothing.
The lengths that it prints are those of the shortest schedules all the same. It
takes 25 to 60 bytes of memory for a network. With bounds, a network is kept
once for each number of joins and failures that are left.

The members of the start are 0, 2, 4 and so on, and where these are too few, 1,
3 and so on. The latter are not the start of any schedule.

--shortest prints the shortest schedule to irreparable, or of claims to
violation, in text form. Where it is short, a small --networks suffices.

--json prints one JSON object: `format`, which is 1; `target`, `ring`, `circle`,
`list_len`, and `joins` and `failures`, which are null if unbounded;
`exhausted`; `networks`; `states`, in which a network counts once for each
number of joins and failures left; `doomed`, the irreparable networks that break
nothing; and `properties`, an array of objects: `property`, `broken`,
`irreparable`, `to_broken`, `to_violation` and `to_irreparable`. A null is not
known, or there is none.

Exit status:
  0    the search is printed, exhausted or not
  1    with --shortest: there is no such schedule
  2    bad usage
  141  standard output was closed before the end

Examples:
  chord-fuzz exhaust --version ccr2012
  chord-fuzz exhaust --version best2012 --circle 5 --joins 4 --failures 3
  chord-fuzz exhaust --version ccr2012 --shortest at-most-one-ring |
      chord-fuzz replay --version ccr2012 -";

/// Explores every network that a version can reach on a small circle
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Exhaust {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Target,

    /// The identifiers on the circle, 4 to 7
    #[arg(long, value_name = "N", default_value_t = MIN_CIRCLE)]
    circle: u8,

    /// Start with an ideal ring of so many, or with 1
    /// member; by default the fewest there can be
    #[arg(long, value_name = "K", verbatim_doc_comment)]
    ring: Option<u8>,

    /// The length of successor lists, 2 or 3
    #[arg(long, value_name = "R", default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=3))]
    lists: u8,

    /// The most joins; any number by default
    #[arg(long, value_name = "N")]
    joins: Option<u8>,

    /// The most failures; any number by default
    #[arg(long, value_name = "N")]
    failures: Option<u8>,

    /// Stop beyond so many networks
    #[arg(long, value_name = "N", default_value_t = 50_000_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    networks: u32,

    /// Print the shortest schedule instead
    #[arg(long, value_name = "PROPERTY", value_parser = property, conflicts_with = "json")]
    shortest: Option<Property>,

    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

impl Exhaust {
    /// Searches, and prints what was found.
    ///
    /// # Errors
    ///
    /// If there is no such start, or no schedule like it, and if standard output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let setup = self.setup();
        let bounds = Bounds { joins: self.joins, failures: self.failures };
        let search = Search::new(self.version, setup, bounds)?;
        // Before the search, which may take long.
        if let Some(property) = self.shortest {
            anyhow::ensure!(
                search.replays(),
                "no schedule starts from {} on a circle of {}",
                start(setup),
                setup.circle
            );
            anyhow::ensure!(search.properties().contains(&property), "`{}` does not judge {property}", self.version);
        }
        let bar = progress(self.networks.into());
        let explored = search.explore(self.networks, |states| bar.set_position(states as u64));
        bar.finish_and_clear();
        let summary = explored.summary();
        if let Some(property) = self.shortest {
            return self.print_shortest(&explored, &summary, property);
        }
        let text = if self.json {
            serde_json::to_string(&self.document(setup, &explored, &summary))? + "\n"
        } else {
            self.table(setup, &explored, &summary)
        };
        write(io::stdout().lock(), text.as_bytes())?;
        Ok(Status::Passed)
    }

    fn setup(&self) -> Setup {
        let setup = Setup { ring: 1, circle: self.circle, list_len: self.lists, faults: false };
        Setup { ring: self.ring.unwrap_or(self.version.version.rules().fit(setup).ring), ..setup }
    }

    fn print_shortest(&self, explored: &Explored, summary: &Summary, property: Property) -> anyhow::Result<Status> {
        let mut found = summary.found.iter().filter(|found| found.property == property);
        if let Some(schedule) = found.find_map(|found| explored.schedule(self.wanted(found)?)) {
            write(io::stdout().lock(), schedule.to_string().as_bytes())?;
            return Ok(Status::Passed);
        }
        let seen = if explored.exhausted() { "none of all" } else { "the search stopped early, and none of the first" };
        complain(format_args!("{}/{property}: no schedule; {seen} {} networks", self.version, summary.networks));
        Ok(Status::Violated)
    }

    /// What counts for the target.
    fn wanted(&self, found: &Found) -> Option<Shortest> {
        match self.version.judge {
            Judge::NeverHeals => found.shortest_irreparable,
            Judge::Claims => found.shortest_violation,
        }
    }

    fn table(&self, setup: Setup, explored: &Explored, summary: &Summary) -> String {
        let bound = |most: Option<u8>| most.map_or("any number".to_owned(), |most| format!("at most {most}"));
        let doomed = number(summary.doomed);
        let mut text = format!(
            "{} from {} on a circle of {}, lists of {}; joins: {}; failures: {}\n",
            self.version,
            start(setup),
            setup.circle,
            setup.list_len,
            bound(self.joins),
            bound(self.failures),
        );
        let _ = if explored.exhausted() {
            writeln!(text, "exhausted: {} networks, {} states", summary.networks, summary.states)
        } else {
            writeln!(text, "NOT exhausted: stopped at {} networks, {} states", summary.networks, summary.states)
        };
        let _ = writeln!(text, "irreparable although nothing is broken: {doomed}\n");
        let _ = writeln!(
            text,
            "{:19}  {:>9}  {:>11}  {:>9}  {:>12}  {:>14}",
            "property", "broken", "irreparable", "to broken", "to violation", "to irreparable"
        );
        let steps = |shortest: Option<Shortest>| shortest.map_or("-".to_owned(), |shortest| shortest.steps.to_string());
        for found in &summary.found {
            let _ = writeln!(
                text,
                "{:19}  {:>9}  {:>11}  {:>9}  {:>12}  {:>14}",
                found.property,
                found.broken,
                number(found.irreparable),
                steps(found.shortest_broken),
                steps(found.shortest_violation),
                steps(found.shortest_irreparable)
            );
        }
        text
    }

    fn document(&self, setup: Setup, explored: &Explored, summary: &Summary) -> Document {
        let steps = |shortest: Option<Shortest>| shortest.map(|shortest| shortest.steps);
        let properties = summary.found.iter().map(|found| Row {
            property: found.property.name(),
            broken: found.broken,
            irreparable: found.irreparable,
            to_broken: steps(found.shortest_broken),
            to_violation: steps(found.shortest_violation),
            to_irreparable: steps(found.shortest_irreparable),
        });
        Document {
            format: 1,
            target: self.version.to_string(),
            ring: setup.ring,
            circle: setup.circle,
            list_len: setup.list_len,
            joins: self.joins,
            failures: self.failures,
            exhausted: explored.exhausted(),
            networks: summary.networks,
            states: summary.states,
            doomed: summary.doomed,
            properties: properties.collect(),
        }
    }
}

/// A start in words.
fn start(setup: Setup) -> String {
    if setup.ring == 1 { "one member".to_owned() } else { format!("an ideal ring of {}", setup.ring) }
}

/// A number that may not be known.
fn number(known: Option<usize>) -> String {
    known.map_or("?".to_owned(), |number| number.to_string())
}

/// A property by its name or as in `at-most-one-ring`.
fn property(text: &str) -> anyhow::Result<Property> {
    match text.parse()? {
        Breach::Broken(property) => Ok(property),
        breach => anyhow::bail!("{breach} is no property"),
    }
}

/// The JSON form. Its fields are described in the help.
#[derive(Serialize)]
struct Document {
    format: u8,
    target: String,
    ring: u8,
    circle: u8,
    list_len: u8,
    joins: Option<u8>,
    failures: Option<u8>,
    exhausted: bool,
    networks: usize,
    states: usize,
    doomed: Option<usize>,
    properties: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    property: &'static str,
    broken: usize,
    irreparable: Option<usize>,
    to_broken: Option<usize>,
    to_violation: Option<usize>,
    to_irreparable: Option<usize>,
}
