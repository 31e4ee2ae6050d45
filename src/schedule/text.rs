//! The text form of a schedule: one line for each thing, to be read and edited.
//!
//! ```text
//! # an ideal ring of 3 on a circle of 8
//! circle 8
//! ring 3
//! join 1 via 0
//! stabilize 1 delay 2 notice 5
//! fail 1
//! ```
//!
//! The header lines `circle`, `ring`, `lists` and `faults` come before the first step, each at most once; what is left
//! out is the smallest there is. `#` starts a comment. Delays are in steps, one of [`DELAYS`].
//!
//! What is printed always parses back to the same schedule, and every schedule that is [decoded](Schedule::decode) can be
//! printed. So a text may say, as bytes may, what is repaired only when it runs: a node beyond the circle, or a circle
//! too small for the ring.

use std::fmt;
use std::str::FromStr;

use super::{DELAYS, Delay, MAX_START, MAX_STEPS, MIN_CIRCLE, Op, Schedule, Setup, Step};
use crate::truth::ident::{Ident, MAX_IDENTS};

/// The words that begin the lines of the header.
const HEADERS: [&str; 4] = ["circle", "ring", "lists", "faults"];

/// Whether the head of a file is that of a schedule in text form rather than in bytes: it is UTF-8, up to a character
/// that is cut off at its end, and its first word outside of comments is one that begins a line of the header or a step.
/// What a fuzzer writes is next to never so.
#[must_use]
pub fn is_text(head: &[u8]) -> bool {
    let text = match str::from_utf8(head) {
        Err(error) if error.error_len().is_none() => str::from_utf8(&head[..error.valid_up_to()]),
        whole => whole,
    };
    let Ok(text) = text else { return false };
    let first = text.lines().find_map(|line| code(line).split_whitespace().next());
    first.is_some_and(|word| HEADERS.contains(&word) || Op::ALL.iter().any(|op| op.name() == word))
}

/// A line without its comment.
fn code(line: &str) -> &str {
    line.split('#').next().unwrap_or_default()
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { op, node, contact, delay, notice } = self.canonical();
        write!(f, "{} {node}", op.name())?;
        if op == Op::Join {
            write!(f, " via {contact}")?;
        }
        for (word, delay) in [("delay", delay), ("notice", notice)] {
            if delay != Delay::NONE {
                write!(f, " {word} {}", delay.ticks())?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { ring, circle, list_len, faults } = self.setup;
        writeln!(f, "circle {circle}\nring {ring}")?;
        if list_len != 2 {
            writeln!(f, "lists {list_len}")?;
        }
        if faults {
            writeln!(f, "faults")?;
        }
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

/// The text form, for `cargo fuzz fmt` and for whatever else prints a failing schedule.
impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The lines of a text that say something, each from behind its first word, with where that starts and the word.
fn lines(text: &str) -> impl Iterator<Item = (Words<'_>, usize, &str)> {
    text.lines().zip(1..).filter_map(|(line, number)| {
        let mut words = Words { line: code(line), number, at: 0 };
        let (at, word) = words.next()?;
        Some((words, at, word))
    })
}

/// What is wrong with a text that parses: with the step of this number, from 0, or with the start.
#[must_use]
pub fn refuse(text: &str, step: Option<usize>, problem: String) -> ParseError {
    let mut lines = lines(text);
    let line = match step {
        Some(step) => lines.filter(|(.., word)| !HEADERS.contains(word)).nth(step),
        None => lines.next(),
    };
    match line {
        Some((words, at, _)) => words.error(at, problem),
        None => ParseError { line: 1, column: 1, problem },
    }
}

/// Where and why a text is not a schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: String,
}

/// The words of one line, each with where it starts.
struct Words<'a> {
    line: &'a str,
    number: usize,
    at: usize,
}

impl<'a> Words<'a> {
    fn error(&self, at: usize, problem: impl Into<String>) -> ParseError {
        ParseError { line: self.number, column: self.line[..at].chars().count() + 1, problem: problem.into() }
    }

    /// The next word and where it starts.
    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.line[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let word = self.line[start..].split_whitespace().next()?;
        self.at = start + word.len();
        Some((start, word))
    }

    /// The next word as a number from `least` to `most`.
    fn number(&mut self, what: &str, least: u8, most: u8) -> Result<u8, ParseError> {
        let Some((at, word)) = self.next() else {
            return Err(self.error(self.line.len(), format!("{what} is missing: a number from {least} to {most}")));
        };
        match digits(word) {
            Some(n) if (least..=most).contains(&n) => Ok(n),
            _ => Err(self.error(at, format!("{what} must be a number from {least} to {most}, not `{word}`"))),
        }
    }

    fn delay(&mut self) -> Result<Delay, ParseError> {
        let problem = |word| format!("a delay must be one of {DELAYS:?}, not `{word}`");
        match self.next() {
            Some((at, word)) => digits(word).and_then(Delay::from_ticks).ok_or_else(|| self.error(at, problem(word))),
            None => Err(self.error(self.line.len(), problem(""))),
        }
    }

    fn end(&mut self) -> Result<(), ParseError> {
        match self.next() {
            None => Ok(()),
            Some((at, word)) => Err(self.error(at, format!("`{word}` is more than this line can say"))),
        }
    }
}

/// The number that is written with these digits, and without a sign.
fn digits(word: &str) -> Option<u8> {
    word.parse().ok().filter(|_| !word.starts_with('+'))
}

fn step(op: Op, words: &mut Words<'_>) -> Result<Step, ParseError> {
    #[expect(clippy::cast_possible_truncation, reason = "15 fits")]
    let ident = |words: &mut Words<'_>, what| Ok(Ident::new(words.number(what, 0, MAX_IDENTS as u8 - 1)?));
    let mut step = Step {
        op,
        node: ident(words, "the node")?,
        contact: Ident::default(),
        delay: Delay::NONE,
        notice: Delay::NONE,
    };
    if op == Op::Join {
        match words.next() {
            Some((_, "via")) => step.contact = ident(words, "the contact")?,
            Some((at, word)) => return Err(words.error(at, format!("a join goes `via` a contact, not `{word}`"))),
            None => return Err(words.error(words.line.len(), "a join goes `via` a contact")),
        }
    }
    let mut said = Vec::new();
    while let Some((at, word)) = words.next() {
        if said.contains(&word) {
            return Err(words.error(at, format!("`{word}` has been said already")));
        }
        said.push(word);
        match word {
            "delay" if op.asks() => step.delay = words.delay()?,
            "notice" if op.notifies() => step.notice = words.delay()?,
            _ => return Err(words.error(at, format!("`{word}` says nothing about `{}`", op.name()))),
        }
    }
    Ok(step)
}

impl FromStr for Schedule {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut setup = Setup { ring: 1, circle: MIN_CIRCLE, list_len: 2, faults: false };
        let mut steps = Vec::new();
        let mut said = Vec::new();
        for (mut words, at, word) in lines(text) {
            if HEADERS.contains(&word) {
                if said.contains(&word) {
                    return Err(words.error(at, format!("`{word}` has been said already")));
                }
                if !steps.is_empty() {
                    return Err(words.error(at, format!("`{word}` must come before the first step")));
                }
                said.push(word);
            }
            #[expect(clippy::cast_possible_truncation, reason = "16 fits")]
            match word {
                "circle" => setup.circle = words.number("the circle", MIN_CIRCLE, MAX_IDENTS as u8)?,
                "ring" => setup.ring = words.number("the ring", 1, MAX_START)?,
                "lists" => setup.list_len = words.number("the length of lists", 2, 3)?,
                "faults" => setup.faults = true,
                _ => {
                    let Some(op) = Op::available(setup.faults).iter().find(|op| op.name() == word) else {
                        let faults =
                            if setup.faults { "" } else { " (`lose`, `cut` and `mend` need the line `faults`)" };
                        return Err(words.error(at, format!("there is no operation `{word}`{faults}")));
                    };
                    if steps.len() == MAX_STEPS {
                        return Err(words.error(at, format!("a schedule has at most {MAX_STEPS} steps")));
                    }
                    steps.push(step(*op, &mut words)?);
                }
            }
            words.end()?;
        }
        Ok(Self { setup, steps })
    }
}
