//! `chord-fuzz explain`: tells a run, event by event.

use std::fmt::{Display, Write as _};
use std::io;
use std::path::PathBuf;

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use chord_fuzz::finding::report;
use chord_fuzz::finding::story::{Broken, Story, What};
use chord_fuzz::judge::Target;
use chord_fuzz::protocol::replica::{Answer, Ask, Message};
use chord_fuzz::schedule::Op;
use chord_fuzz::truth::ident::{Ident, IdentSet};
use chord_fuzz::truth::property::Property;
use chord_fuzz::truth::snapshot::{Pointers, Snapshot, SuccList};
use chord_fuzz::world::network::Fate;
use clap::ColorChoice;

use super::input::{Conditions, Inputs};
use super::{Status, print, write};

const AFTER_HELP: &str = "\
Prints the verdict, the schedule, and then the run: the events of each step,
numbered from 0 on, with a lane for each node that takes part. A member's lane
is a line of `|`, that of a node that is still joining one of `:`.

  ? state -> 2      asks 2 for its state; others ask: alive, succ (for the
                    successor's successor), admit (to be admitted)
  2/0/9 -> 1        answers 1 with succ/succ2/prdc; others answer: alive, not a
                    member, refused, busy
  notify -> 2       tells 2 that it might be its predecessor
  <- ? state (12)   what was sent as event 12 arrives; if it does so at once, in
                    the same line, and the next number is left out
  , due +3          the datagram arrives 3 steps later
  dead: 2 (...)     there will be no answer of 2, and why
  unnoticed: 2 (..) likewise, but 2 is taken for alive
  succ 2 -> 0       a pointer changes

A heading says what a step was given as if it was repaired, and what comes after
the schedule: everything arrives, and what a stabilization remembers is decided.
Then the network: its rings, what hangs on them, and all pointers, where `!`
marks those to dead nodes. At last where it broke, and the assumptions. After a
step that breaks a property for good, and after all later ones of this run, the
property does not hold; after one that puts the network beyond repair, and after
all later ones, fair maintenance, in a model without messages, would not make it
ideal. The documentation of the library resolves the tags of sources, as in Z12.

A text has said on standard error how many of its steps are repaired; --strict
refuses it at the first, and says why.

FILE is taken for text, as `normalize` prints it, if it is UTF-8 and its first
word outside of comments is one that begins such a line; otherwise for bytes.

--json prints all of it as one JSON object, whose fields are documented with the
library's module `story`.

Environment:
  CHORD_FUZZ_ONLY  as for `chord-fuzz replay`
  NO_COLOR         no colours with `--color auto`

Exit status:
  0    it is explained, whatever the verdict
  2    bad usage, or a file that cannot be run
  141  standard output was closed before the end

Examples:
  chord-fuzz explain artifacts/ccr2012/at-most-one-ring
  chord-fuzz disassemble artifacts/ccr2012/at-most-one-ring > rings.txt
  chord-fuzz explain --version best2012 --color always rings.txt | less -R";

/// The columns of a page. More than some eight lanes take more.
const PAGE: usize = 112;

/// Tells a run: what each step brings about, and where what breaks
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Explain {
    /// The target, as for `chord-fuzz replay`
    #[arg(long, value_name = "V")]
    version: Option<Target>,

    #[command(flatten)]
    conditions: Conditions,

    /// Refuse a text of which a run would repair a step
    #[arg(long)]
    strict: bool,

    /// Print JSON instead
    #[arg(long)]
    json: bool,

    /// Colours: auto, always or never
    #[arg(long, value_name = "WHEN", default_value_t = ColorChoice::Auto, hide_possible_values = true)]
    color: ColorChoice,

    /// The input, as bytes or as text, or `-` for standard input
    file: PathBuf,
}

impl Explain {
    /// Runs the input and tells what happens.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, if `CHORD_FUZZ_ONLY` is set to something that is no property, and if standard output
    /// takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let options = self.conditions.options()?;
        let (target, schedule) = Inputs::new(self.version).open_told(&self.file, &options, self.strict)?;
        let story = Story::of(target, &schedule, &options);
        if self.json {
            print(&serde_json::to_string(&story)?)?;
        } else {
            let choice = match self.color {
                ColorChoice::Auto => anstream::ColorChoice::Auto,
                ColorChoice::Always => anstream::ColorChoice::Always,
                ColorChoice::Never => anstream::ColorChoice::Never,
            };
            write(AutoStream::new(io::stdout().lock(), choice), Page::of(&story).text.as_bytes())?;
        }
        Ok(Status::Passed)
    }
}

const PLAIN: Style = Style::new();
const HEADING: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default();
pub(super) const CHANGE: Style = AnsiColor::Cyan.on_default();

/// What is printed of a story.
struct Page<'a> {
    story: &'a Story,
    text: String,
}

impl<'a> Page<'a> {
    fn of(story: &'a Story) -> Self {
        let mut page = Self { story, text: String::new() };
        page.verdict();
        page.lanes();
        page.networks();
        page.break_points();
        page
    }

    /// Adds a line in this style.
    fn line(&mut self, style: Style, line: &str) {
        let _ = writeln!(self.text, "{}", styled(style, line.trim_end()));
    }

    fn verdict(&mut self) {
        let Story { target, outcome, .. } = self.story;
        let breach = self.story.breach();
        self.line(if breach.is_none() { GOOD } else { BAD }.bold(), &report::verdict(*target, outcome.verdict));
        let steps = outcome.executed.steps.len();
        self.line(PLAIN, &meaning(self.story));
        self.section(&format!("the {steps} steps as executed:"), outcome.executed.to_string().lines());
    }

    /// The run, event by event.
    fn lanes(&mut self) {
        let mut lanes = Lanes::of(self.story);
        self.text.push('\n');
        let mut header_at = None;
        for (number, step) in self.story.steps.iter().enumerate() {
            // Once more on every screen or so.
            let line = self.text.lines().count();
            if header_at.is_none_or(|at| line > at + 40) {
                self.line(HEADING, &lanes.header());
                header_at = Some(line);
            }
            let heading =
                format!("{:>width$}  {}", step.events.start, heading(self.story, number), width = lanes.numbers);
            self.line(HEADING, &heading);
            if let Some(step) = step.executed.filter(|step| step.op == Op::Join) {
                lanes.joining.insert(step.node);
            }
            let mut event = step.events.start + 1;
            while event < step.events.end {
                let marks = marks(self.story, event);
                let row = lanes.row(event, &marks);
                self.text.push_str(&row);
                event += marks.len();
            }
        }
        if !lanes.idle.is_empty() {
            let idle: Vec<_> = lanes.idle.iter().map(|node| node.to_string()).collect();
            let _ = writeln!(self.text, "without a lane, since nothing happens to them: {}", idle.join(", "));
        }
    }

    /// The network before and after.
    fn networks(&mut self) {
        let Story { outcome, broken, irreparable, .. } = self.story;
        // A run starts with a network that heals.
        let before = irreparable.and_then(|step| Some((step, step.checked_sub(1)?)));
        let (title, mut last) = match before {
            Some((step, before)) => (format!("before step {step}:"), self.story.after(before).pointers),
            None => ("at the start:".to_owned(), self.story.after(0).pointers),
        };
        self.network(&title, &last);
        let end = match broken {
            Some(Broken { property: Property::Invariant, .. }) => {
                "at the end, as every answer already given will make it:"
            }
            _ => "at the end:",
        };
        for (title, network) in [(end, outcome.network), ("after fair maintenance:", outcome.settled)] {
            if network == last {
                self.text.push('\n');
                self.line(HEADING, &format!("{title} the same"));
            } else {
                self.network(title, &network);
            }
            last = network;
        }
    }

    fn network(&mut self, title: &str, network: &Snapshot) {
        self.section(title, picture(network).lines());
    }

    /// Where it broke, and what it took.
    fn break_points(&mut self) {
        let Story { outcome, broken, irreparable, .. } = self.story;
        let mut lines = Vec::new();
        if let Some(Broken { property, first, for_good }) = broken {
            lines.push(match first {
                Some(step) => format!("{property} is broken first after step {step}"),
                None => format!("{property} is broken by no step, but by the maintenance that is to heal the network"),
            });
            lines.push(match for_good {
                Some(step) => format!("it is broken for good, in this run, after step {step}"),
                None => "it is not broken in the network as it is at the end".to_owned(),
            });
        }
        if self.story.breach().is_some() {
            lines.push(match irreparable {
                Some(step) => format!("the network is beyond repair by fair maintenance after step {step}"),
                None => "the network is not beyond repair by fair maintenance".to_owned(),
            });
            lines.extend(outcome.proof.iter().map(|proof| format!("by any order of maintenance it is {proof}")));
            self.section("where it broke:", lines.iter());
        }
        self.section("assumptions:", outcome.assumptions.to_string().split("; "));
    }

    /// Adds a heading and lines.
    fn section(&mut self, title: &str, lines: impl IntoIterator<Item = impl Display>) {
        self.text.push('\n');
        self.line(HEADING, title);
        for line in lines {
            let _ = writeln!(self.text, "    {line}");
        }
    }
}

/// What the verdict means.
pub(super) fn meaning(story: &Story) -> String {
    story.breach().map_or_else(|| "fair maintenance leads to an ideal network".to_owned(), report::meaning)
}

/// What a step does, and what it was given as if that is something else.
pub(super) fn heading(story: &Story, step: usize) -> String {
    let chord_fuzz::finding::story::Step { given, executed, after_schedule, .. } = story.steps[step];
    let done = executed.map(|step| step.to_string());
    match given.map(|step| step.to_string()) {
        Some(given) => match done {
            Some(done) if done == given => format!("step {step}: {done}"),
            Some(done) => format!("step {step}: {done} (given: {given})"),
            None => format!("step {step}: nothing that could be done (given: {given})"),
        },
        None if after_schedule => {
            format!("step {step}, after the schedule: {}", done.as_deref().unwrap_or("everything arrives"))
        }
        None => "start".to_owned(),
    }
}

/// What one node does in an event, or what happens to it.
pub(super) struct Mark {
    pub node: Ident,
    pub style: Style,
    pub text: String,
}

/// The marks of an event, or of a datagram that is sent and the next event that delivers it: one for each of them.
fn marks(story: &Story, event: usize) -> Vec<Mark> {
    let mut marks = vec![mark(story, event)];
    let next = story.events.get(event + 1).map(|next| &next.what);
    if let What::Sent { from, to, message, .. } = story.events[event].what
        && from != to
        && next == Some(&What::Delivered { datagram: event })
    {
        let message = short(message, story.outcome.executed.setup.list_len);
        marks.push(Mark { node: to, style: PLAIN, text: format!("<- {message}") });
    }
    marks
}

/// The mark of an event by itself, which must not be the beginning of a step.
pub(super) fn mark(story: &Story, event: usize) -> Mark {
    let list_len = story.outcome.executed.setup.list_len;
    let sent = |datagram: usize| match story.events[datagram].what {
        What::Sent { from, to, message, .. } => (from, to, short(message, list_len)),
        _ => unreachable!("a datagram is known by the event that sends it"),
    };
    let mark = |node, style, text: String| Mark { node, style, text };
    match story.events[event].what {
        What::Begin => unreachable!("a step begins only once"),
        What::Sent { from, to, message, fate, .. } => {
            let message = short(message, list_len);
            let (style, fate) = match fate {
                Fate::Due(due) if due == story.events[event].time => (PLAIN, String::new()),
                Fate::Due(due) => (PLAIN, format!(", due +{}", due - story.events[event].time)),
                Fate::NoReceiver => (BAD, ", nobody there".to_owned()),
                Fate::Lost => (BAD, ", lost".to_owned()),
            };
            mark(from, style, format!("{message} -> {to}{fate}"))
        }
        What::Delivered { datagram } => {
            let (_, to, message) = sent(datagram);
            mark(to, PLAIN, format!("<- {message} ({datagram})"))
        }
        What::Discarded { datagram } => {
            let (_, to, message) = sent(datagram);
            mark(to, BAD, format!("lost: {message} ({datagram})"))
        }
        What::Unanswered { request, cause } => {
            let (at, asked, _) = sent(request);
            mark(at, BAD, format!("dead: {asked} ({})", story.why(cause)))
        }
        What::Unnoticed { request, cause } => {
            let (at, asked, _) = sent(request);
            mark(at, BAD, format!("unnoticed: {asked} ({})", story.why(cause)))
        }
        What::Joined { node, now } => mark(node, GOOD, format!("joins: {}", slashed(now.list, now.prdc, list_len))),
        What::Changed { node, was, now } => mark(node, CHANGE, changes(was, now)),
        What::Failed { node, .. } => mark(node, BAD, "fails".to_owned()),
        What::Left { node } => mark(node, BAD, "goes away".to_owned()),
    }
}

fn short(message: Message, list_len: u8) -> String {
    match message {
        Message::Notify => "notify",
        Message::Request { ask: Ask::Alive, .. } => "? alive",
        Message::Request { ask: Ask::State, .. } => "? state",
        Message::Request { ask: Ask::Successor, .. } => "? succ",
        Message::Request { ask: Ask::Admit, .. } => "? admit",
        Message::Answer { answer: Answer::Alive, .. } => "alive",
        Message::Answer { answer: Answer::NotMember, .. } => "not a member",
        Message::Answer { answer: Answer::Refused, .. } => "refused",
        Message::Answer { answer: Answer::Busy, .. } => "busy",
        Message::Answer { answer: Answer::State { list, prdc }, .. } => {
            return slashed(list, prdc, list_len);
        }
    }
    .to_owned()
}

/// Pointers as a [`Snapshot`] shows them.
fn slashed(list: SuccList, prdc: Option<Ident>, list_len: u8) -> String {
    let successors: String = (0..list_len.into()).map(|i| dash(list.as_slice().get(i).copied()) + "/").collect();
    successors + &dash(prdc)
}

fn dash(x: Option<Ident>) -> String {
    x.map_or_else(|| "-".to_owned(), |x| x.to_string())
}

const SUCCESSORS: [&str; 3] = ["succ", "succ2", "succ3"];

/// Each pointer with its name, best successor first.
fn named(pointers: Pointers) -> impl Iterator<Item = (&'static str, Option<Ident>)> {
    let Pointers { list, prdc, saved } = pointers;
    let successors = SUCCESSORS.into_iter().enumerate().map(move |(i, name)| (name, list.as_slice().get(i).copied()));
    successors.chain([("prdc", prdc), ("candidate", saved)])
}

fn changes(was: Pointers, now: Pointers) -> String {
    let changed = named(was).zip(named(now)).filter(|(was, now)| was != now);
    let changes: Vec<_> =
        changed.map(|((name, was), (_, now))| format!("{name} {} -> {}", dash(was), dash(now))).collect();
    changes.join(", ")
}

/// A column for each node that takes part.
struct Lanes<'a> {
    story: &'a Story,
    nodes: Vec<Ident>,
    /// The members at the start that take no part.
    idle: IdentSet,
    /// The nodes that have begun to join and are not members yet.
    joining: IdentSet,
    /// The width of the column of numbers, and that of a lane with the space after it.
    numbers: usize,
    width: usize,
}

impl<'a> Lanes<'a> {
    fn of(story: &'a Story) -> Self {
        let events = (0..story.events.len()).filter(|&event| story.events[event].what != What::Begin);
        let active: IdentSet = events.flat_map(|event| marks(story, event)).map(|mark| mark.node).collect();
        let numbers = story.events.len().to_string().len().max(2);
        let width = (PAGE - numbers) / (active.len() as usize).max(1);
        Self {
            story,
            nodes: active.iter().collect(),
            idle: story.after(0).pointers.members() - active,
            joining: IdentSet::EMPTY,
            numbers,
            width: width.clamp(12, 30),
        }
    }

    fn header(&self) -> String {
        let mut header = " ".repeat(self.numbers + 2);
        for node in &self.nodes {
            let _ = write!(header, "{node:<width$}", width = self.width);
        }
        header
    }

    /// The line of these marks, or several if they are too long for their lanes.
    fn row(&mut self, event: usize, marks: &[Mark]) -> String {
        if let What::Joined { node, .. } | What::Left { node } = self.story.events[event].what {
            self.joining.remove(node);
        }
        let network = &self.story.network(event).pointers;
        // What a lane begins with, and the space after it.
        let room = self.width - 3;
        let life = |node| {
            if network.live(node) {
                '|'
            } else if self.joining.contains(node) {
                ':'
            } else {
                ' '
            }
        };
        let cell = |&node: &Ident| match marks.iter().find(|mark| mark.node == node) {
            Some(mark) => (life(node), mark.style, textwrap::wrap(&mark.text, room)),
            None => (life(node), PLAIN, Vec::new()),
        };
        let cells: Vec<_> = self.nodes.iter().map(cell).collect();
        let height = cells.iter().map(|(.., lines)| lines.len()).max().unwrap_or(0);
        let mut row = String::new();
        for line in 0..height {
            let mut text = if line == 0 {
                format!("{event:>numbers$}  ", numbers = self.numbers)
            } else {
                " ".repeat(self.numbers + 2)
            };
            for (life, style, lines) in &cells {
                let cell = lines.get(line).map_or("", |line| line);
                let _ = write!(text, "{life} {}{:pad$} ", styled(*style, cell), "", pad = room - cell.len());
            }
            row.push_str(text.trim_end());
            row.push('\n');
        }
        row
    }
}

fn styled(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{style}{text}{style:#}") }
}

/// The rings, and the appendages from the outermost inwards: of each, what it is and its members by their best successors.
pub(super) fn chains(network: &Snapshot) -> Vec<(&'static str, String)> {
    let rings = network.rings().into_iter().map(|ring| {
        let nodes: Vec<_> = ring.iter().chain(ring.first()).map(Ident::to_string).collect();
        ("ring", nodes.join(" -> "))
    });
    let appendages = network.members() - network.ring();
    let inner: IdentSet = appendages.iter().filter_map(|x| network.best_succ(x)).collect();
    let hanging = (appendages - inner).iter().map(|outermost| {
        let mut nodes = vec![outermost.to_string()];
        let mut at = outermost;
        while appendages.contains(at) {
            let Some(next) = network.best_succ(at) else {
                nodes.push("nobody".to_owned());
                break;
            };
            nodes.push(next.to_string());
            at = next;
        }
        ("appendage", nodes.join(" -> "))
    });
    rings.chain(hanging).collect()
}

/// The rings and what hangs on them, then the pointers of each member.
fn picture(network: &Snapshot) -> String {
    let mut text = String::new();
    for (what, nodes) in chains(network) {
        let _ = writeln!(text, "{what:<9}  {nodes}");
    }
    let remembers = network.members().iter().any(|x| network.pointers(x).saved.is_some());
    let shown = |name: &str| match name {
        "candidate" => remembers,
        "succ3" => network.list_len() == 3,
        _ => true,
    };
    let mut row = |node: &str, cells: &mut dyn Iterator<Item = String>| {
        let row = cells.fold(format!("{node:>4}"), |row, cell| row + &cell);
        text.push_str(row.trim_end());
        text.push('\n');
    };
    let columns = |pointers| named(pointers).filter(|(name, _)| shown(name));
    row("node", &mut columns(Pointers::default()).map(|(name, _)| format!("  {name:>5} ")));
    for node in network.members().iter() {
        let dead = |to: Option<Ident>| if to.is_some_and(|to| !network.live(to)) { '!' } else { ' ' };
        let pointers = columns(*network.pointers(node));
        row(&node.to_string(), &mut pointers.map(|(_, to)| format!("  {:>5}{}", dash(to), dead(to))));
    }
    text
}
