//! `chord-fuzz completions`: what a shell needs to complete the command's arguments.

use std::io;

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use super::{Status, write};
use crate::Cli;

const AFTER_HELP: &str = "\
Where a shell looks for it is in its manual; the usual places are below. A shell
that runs already has to be started again.

Exit status:
  0    it is printed
  2    bad usage
  141  standard output was closed before the end

Examples:
  chord-fuzz completions bash > ~/.local/share/bash-completion/completions/chord-fuzz
  chord-fuzz completions fish > ~/.config/fish/completions/chord-fuzz.fish
  chord-fuzz completions zsh > ~/.zfunc/_chord-fuzz";

/// Prints what a shell needs to complete arguments
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct Completions {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(hide_possible_values = true)]
    shell: Shell,
}

impl Completions {
    /// Prints the script.
    ///
    /// # Errors
    ///
    /// If standard output takes no more.
    pub fn run(&self) -> anyhow::Result<Status> {
        let mut command = Cli::command();
        let name = command.get_name().to_owned();
        // By way of memory, since it panics where it cannot write.
        let mut script = Vec::new();
        generate(self.shell, &mut command, name, &mut script);
        write(io::stdout().lock(), &script)?;
        Ok(Status::Passed)
    }
}
