//! What several of the integration tests need.
#![allow(dead_code, reason = "each test file takes what it needs")]

use std::fs;
use std::path::{Path, PathBuf};

use chord_fuzz::judge::prove::Decision;
use chord_fuzz::judge::{Assumptions, Options, Outcome, Target, Verdict, run};
use chord_fuzz::protocol::list::{Config, ListReplica};
use chord_fuzz::protocol::version::{Rules, Version};
use chord_fuzz::schedule::{Schedule, Setup};
use chord_fuzz::truth::snapshot::Snapshot;
use chord_fuzz::world::trace::{Digest, Event, Observer};
use chord_fuzz::world::{Conditions, World};

/// What is in a directory, in order. There is nothing in one that is missing.
pub fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut entries: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Random bytes.
pub fn bytes(rng: &mut fastrand::Rng, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    rng.fill(&mut bytes);
    bytes
}

/// A standard output that nobody reads. Not a pipe, whose other end a process that another test just starts may still
/// hold: a socket can be shut down, whoever holds it.
#[cfg(unix)]
pub fn closed() -> std::process::Stdio {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.shutdown(std::net::Shutdown::Both).unwrap();
    std::os::fd::OwnedFd::from(theirs).into()
}

/// All that a run comes to, to be compared with another run.
#[derive(Debug, PartialEq, Eq)]
pub struct Record {
    pub verdict: Verdict,
    pub executed: Schedule,
    pub assumptions: Assumptions,
    pub network: Snapshot,
    pub settled: Snapshot,
    pub proof: Option<Decision>,
    /// The digest of its trace.
    pub digest: String,
}

pub fn record(target: Target, schedule: &Schedule, options: &Options) -> Record {
    let mut digest = Digest::default();
    let Outcome { verdict, executed, assumptions, network, settled, proof } =
        run(target, schedule, options, &mut digest);
    let digest = digest.finish().to_hex().to_string();
    Record { verdict, executed, assumptions, network, settled, proof, digest }
}

/// A run, and the runs of what it executed, from bytes and from text. All three must be the same, since what is executed
/// is canonical.
pub fn replay(target: Target, schedule: &Schedule, options: &Options) -> (Record, [Record; 2]) {
    let first = record(target, schedule, options);
    let forms =
        [Schedule::decode(&first.executed.encode()), first.executed.to_string().parse().expect("it is printed")];
    (first, forms.map(|form| record(target, &form, options)))
}

/// The world of a version of the list family, at the start.
pub fn list_world(version: Version, setup: Setup, nobody: &mut ()) -> World<'_, ListReplica, ()> {
    let rules = version.rules();
    let Rules::List { checks, eager } = rules else { panic!("{version} is not of the list family") };
    World::new(setup, rules, Config { checks, eager }, Conditions::default(), nobody)
}

/// An observer made of a function.
pub struct Watch<F>(pub F);

impl<F: FnMut(Event)> Observer for Watch<F> {
    fn observe(&mut self, event: impl FnOnce() -> Event) {
        (self.0)(event());
    }
}
