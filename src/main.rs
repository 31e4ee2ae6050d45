//! The `chord-fuzz` command. Each subcommand has a file of its own in `command/`.

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::assemble::Assemble;
use command::campaign::Campaign;
use command::census::Census;
use command::completions::Completions;
use command::disassemble::Disassemble;
use command::exhaust::Exhaust;
use command::experiment::Experiment;
use command::explain::Explain;
use command::export::Export;
use command::matrix::Matrix;
use command::normalize::Normalize;
use command::prove::Prove;
use command::replay::Replay;
use command::shrink::Shrink;
use command::stats::Stats;
use command::sweep::Sweep;
use command::triage::Triage;
use command::view::View;

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
    Explain(Explain),
    View(View),
    Export(Export),
    Assemble(Assemble),
    Disassemble(Disassemble),
    Normalize(Normalize),
    Shrink(Shrink),
    Prove(Prove),
    Triage(Triage),
    Stats(Stats),
    Sweep(Sweep),
    Exhaust(Exhaust),
    Census(Census),
    Experiment(Experiment),
    Campaign(Campaign),
    Matrix(Matrix),
    Completions(Completions),
}

fn main() -> ExitCode {
    command::exit(match Cli::parse().command {
        Command::Replay(replay) => replay.run(),
        Command::Explain(explain) => explain.run(),
        Command::View(view) => view.run(),
        Command::Export(export) => export.run(),
        Command::Assemble(assemble) => assemble.run(),
        Command::Disassemble(disassemble) => disassemble.run(),
        Command::Normalize(normalize) => normalize.run(),
        Command::Shrink(shrink) => shrink.run(),
        Command::Prove(prove) => prove.run(),
        Command::Triage(triage) => triage.run(),
        Command::Stats(stats) => stats.run(),
        Command::Sweep(sweep) => sweep.run(),
        Command::Exhaust(exhaust) => exhaust.run(),
        Command::Census(census) => census.run(),
        Command::Experiment(experiment) => experiment.run(),
        Command::Campaign(campaign) => campaign.run(),
        Command::Matrix(matrix) => matrix.run(),
        Command::Completions(completions) => completions.run(),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::Cli;

    #[test]
    fn every_help_has_an_example() {
        let mut cli = Cli::command();
        // As it is when it parses: with the subcommand `help`, which has none.
        cli.build();
        let named = |command: &clap::Command| (command.get_name().to_owned(), command.get_after_help().cloned());
        let helps = cli.get_subcommands().filter(|command| command.get_name() != "help").map(named);
        let helps: Vec<_> = helps.chain([named(&cli)]).collect();
        assert!(helps.len() > 5, "{helps:?}");
        for (name, help) in helps {
            let help = help.map(|help| help.to_string()).unwrap_or_default();
            let (_, examples) = help.split_once("\nExample").or(help.split_once("Example")).expect(&name);
            assert!(examples.contains(&name) && examples.contains("  chord-fuzz "), "{name}: {examples}");
        }
    }

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
