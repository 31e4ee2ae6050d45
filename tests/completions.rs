//! `chord-fuzz completions`: scripts for shells, in which everything is that the command has.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use expect_test::expect;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

fn completions(args: &[&str]) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_chord-fuzz")).arg("completions").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

#[test]
fn help() {
    let help = completions(&["--help"]).code(0).stderr("");
    expect![[r#"
        Prints what a shell needs to complete arguments

        Usage: chord-fuzz completions <SHELL>

        Arguments:
          <SHELL>  The shell: bash, elvish, fish, powershell or zsh

        Options:
          -h, --help  Print help

        Where a shell looks for it is in its manual; the usual places are below. A shell
        that runs already has to be started again.

        Exit status:
          0    it is printed
          2    bad usage
          141  standard output was closed before the end

        Examples:
          chord-fuzz completions bash > ~/.local/share/bash-completion/completions/chord-fuzz
          chord-fuzz completions fish > ~/.config/fish/completions/chord-fuzz.fish
          chord-fuzz completions zsh > ~/.zfunc/_chord-fuzz
    "#]]
    .assert_eq(stdout(&help));
}

#[test]
fn every_shell_learns_every_subcommand() {
    let help = Command::new(env!("CARGO_BIN_EXE_chord-fuzz")).arg("--help").assert().code(0);
    let (_, commands) = stdout(&help).split_once("Commands:\n").unwrap();
    let commands: Vec<_> =
        commands.lines().map_while(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect();
    assert!(commands.len() > 5, "{commands:?}");
    for shell in SHELLS {
        let script = completions(&[shell]).code(0).stderr("");
        for command in &commands {
            assert!(stdout(&script).contains(command), "{shell}: {command}");
        }
        assert!(stdout(&script).contains("--faults") || stdout(&script).contains("-l faults"), "{shell}");
    }
}

#[test]
fn bash_completes() {
    let script = completions(&["bash"]).code(0);
    let complete = |words: &str, number: usize| {
        // As bash calls the function that it has been told of.
        let ask = "\nset -- $(complete -p chord-fuzz); while [[ $1 != -F ]]; do shift; done\n\
                   $2 chord-fuzz \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n\
                   echo \"${COMPREPLY[@]}\"\n";
        let set = format!("COMP_WORDS=({words}); COMP_CWORD={number}");
        let bash = Command::new("bash").arg("-s").write_stdin(format!("{}\n{set}{ask}", stdout(&script))).output();
        String::from_utf8(bash.expect("bash").stdout).unwrap()
    };
    if std::process::Command::new("bash").arg("--version").output().is_err() {
        eprintln!("skipped: there is no bash");
        return;
    }
    assert_eq!(complete("chord-fuzz rep", 1), "replay\n");
    assert_eq!(complete("chord-fuzz stats --js", 2), "--json\n");
    assert_eq!(complete("chord-fuzz export --we", 2), "--weftlog\n");
    assert_eq!(complete("chord-fuzz completions z", 2), "zsh\n");
}

#[test]
fn other_shells_are_refused() {
    for args in [&["tcsh"][..], &[], &["bash", "zsh"]] {
        completions(args).code(2).stdout("");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["completions", "bash"]).stdout(common::closed()).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(output.stderr, b"");
}
