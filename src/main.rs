//! The `chord-fuzz` command. Each subcommand has a file of its own in `command/`.

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::experiment::Experiment;
use command::normalize::Normalize;
use command::replay::Replay;
use command::shrink::Shrink;
use command::sweep::Sweep;
use command::triage::Triage;

// No `propagate_version`: it would give every subcommand a `--version` flag, and to a subcommand that is the option
// that says which version of Chord.
#[derive(Debug, Parser)]
#[command(version, about, after_help = "Example:\n  chord-fuzz replay artifacts/*/*")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Replay(Replay),
    Normalize(Normalize),
    Shrink(Shrink),
    Triage(Triage),
    Sweep(Sweep),
    Experiment(Experiment),
}

fn main() -> ExitCode {
    command::exit(match Cli::parse().command {
        Command::Replay(replay) => replay.run(),
        Command::Normalize(normalize) => normalize.run(),
        Command::Shrink(shrink) => shrink.run(),
        Command::Triage(triage) => triage.run(),
        Command::Sweep(sweep) => sweep.run(),
        Command::Experiment(experiment) => experiment.run(),
    })
}
