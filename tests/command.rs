//! The `chord-fuzz` command as its users see it: what it prints where, and its exit status.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::judge::{Options, Target, run};
use chord_fuzz::schedule::{MAX_BYTES, Schedule};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::world::trace::Digest;
use expect_test::expect;
use tempfile::TempDir;

/// Z12: without a liveness check, a stabilization adopts a successor that has failed.
const VIOLATING: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";
const IDEAL: &str = "join 1 via 0\nstabilize 1\n";
/// Z12's two rings, and one lost datagram, which has nothing to do with them.
const LOSSY: &str = "ring 2\nfaults\njoin 1 via 0\nreconcile 1\njoin 3 via 2\nstabilize 1\nstabilize 0\nfail 1\n\
                     stabilize 3\nstabilize 2\nlose 0\nfail 3\n";

const SIGNATURE: &str = "sigcomm2001/AtLeastOneRing";

fn bytes(text: &str) -> Vec<u8> {
    text.parse::<Schedule>().unwrap().encode()
}

/// The command in a directory, undisturbed by the environment of the tests.
fn chord_fuzz(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).env("RUST_BACKTRACE", "1");
    command
}

fn replay(dir: &Path, args: &[&str]) -> Assert {
    chord_fuzz(dir).arg("replay").args(args).assert()
}

/// A directory with a violating and an ideal input of `sigcomm2001`, in a directory of that name.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sigcomm2001")).unwrap();
    fs::write(dir.path().join("sigcomm2001/violating"), bytes(VIOLATING)).unwrap();
    fs::write(dir.path().join("sigcomm2001/ideal"), bytes(IDEAL)).unwrap();
    dir
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

/// Standard error, which names a problem in each line, and nothing in the way in which a program speaks to its author.
fn stderr(assert: &Assert) -> &str {
    let text = str::from_utf8(&assert.get_output().stderr).unwrap();
    for line in text.lines() {
        assert!(line.starts_with("error: "), "{text}");
    }
    text
}

/// Whether standard error begins with a problem; what clap adds is more than a line.
fn stderr_starts(assert: &Assert) -> bool {
    assert.get_output().stderr.starts_with(b"error: ")
}

/// The lines of standard output by their columns, which are two or more spaces apart.
fn columns(assert: &Assert) -> Vec<Vec<&str>> {
    let cells = |line| str::split(line, "  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
    stdout(assert).lines().map(cells).collect()
}

/// The last two columns of a run by the library.
fn run_of(target: &str, bytes: &[u8], options: &Options) -> [String; 2] {
    let mut digest = Digest::default();
    let outcome = run(target.parse().unwrap(), &Schedule::decode(bytes), options, &mut digest);
    let digest = digest.finish().to_hex()[..16].to_owned();
    [format!("{} steps", outcome.executed.steps.len()), digest]
}

#[test]
fn help_of_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let help = chord_fuzz(dir.path()).arg("--help").assert().code(0).stderr("");
    expect![[r#"
        Finds the rare join and failure interleavings that break the Chord distributed hash table, and explains them

        Usage: chord-fuzz <COMMAND>

        Commands:
          replay       Runs inputs without libFuzzer and prints what each comes to
          explain      Tells a run: what each step brings about, and where what breaks
          view         Shows a run: as a page to step through, or as still pictures
          export       Writes a run for the tools of others to judge
          assemble     Makes an input of a schedule in text form
          disassemble  Writes an input as text: the steps as given
          normalize    Writes an input in its canonical form: the steps as executed
          shrink       Makes a finding as small as it gets, with the same signature
          prove        Tries all orders of maintenance on what a finding leaves
          triage       Puts crash files into buckets, by what they violate and how
          stats        Counts what the inputs in directories reach
          sweep        Runs random schedules and counts what they violate: the blind control
          exhaust      Explores every network that a version can reach on a small circle
          census       Counts how many broken networks heal, and in which orders
          experiment   Runs trials of each goal by each arm, and compares the arms
          campaign     Says what the log of a long campaign says
          matrix       Finds out what each version survives, and under which conditions
          completions  Prints what a shell needs to complete arguments
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version

        Example:
          chord-fuzz replay artifacts/*/*
    "#]]
    .assert_eq(stdout(&help));
}

#[test]
fn help_of_replay() {
    let dir = tempfile::tempdir().unwrap();
    let help = replay(dir.path(), &["--help"]).code(0).stderr("");
    expect![[r#"
        Runs inputs without libFuzzer and prints what each comes to

        Usage: chord-fuzz replay [OPTIONS] <FILE>...

        Arguments:
          <FILE>...  An input, as bytes, of which only the first 194 count, or as
                     text (see `explain`), or `-` for standard input, which needs
                     --version

        Options:
              --version <V>         The target: sigcomm2001, ccr2012, best2012,
                                    tse2017, claims, or an ablation such as
                                    ccr2012-adopt. Without it, each file's is the name
                                    of a directory above it
              --faults              Allow loss and partition, which all sources exclude
              --no-rejoin           Let no node that has failed join again
              --late-detection <N>  Take a node for alive for N steps after its failure
              --strict              Refuse a text of which a run would repair a step
          -h, --help                Print help

        Prints a line for each file as soon as it is run, in four columns that are two
        or more spaces apart: the file, the verdict, the number of steps as executed,
        and the first 16 hexadecimal digits of the BLAKE3 digest of all that happened,
        which is the same on every machine.

        Verdicts:
          ideal                         the network heals
          ccr2012/AtMostOneRing         a violation, by its signature
          repairable:ccr2012/AtMostOneRing
                                        some order of maintenance would heal what fair
                                        maintenance leaves broken, so that it is none
          masked:ccr2012/AtMostOneRing  a violation that CHORD_FUZZ_ONLY leaves out
          outside the assumptions       the run has loss, partition, or a failure that
                                        went unnoticed, so that it says nothing about
                                        the protocol; if something is broken,
                                        `: ccr2012/AtMostOneRing` follows
        All but a violation pass.

        A run repairs a step that has no effect to one that has. Of a text, a line on
        standard error says how many steps are; --strict refuses it at the first, shows
        its line, and says why.

        Environment:
          CHORD_FUZZ_ONLY  the only properties whose violations count, by name or as in
                           at-most-one-ring, separated by commas; empty for all;
                           ordered-ring@5 counts where 5 members are on a ring, or more

        Exit status:
          0    every file passes
          1    a file violates something
          2    bad usage, or a file that cannot be run; the others are run all the same
          141  standard output was closed before the end

        Examples:
          chord-fuzz replay artifacts/*/*
          chord-fuzz replay --version ccr2012-adopt artifacts/ccr2012/at-most-one-ring
          head -c 194 /dev/urandom | chord-fuzz replay --version tse2017 -
    "#]]
    .assert_eq(stdout(&help));
    assert_eq!(stdout(&help), stdout(&replay(dir.path(), &["-h"]).code(0)));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn version_is_the_crates_before_the_subcommand_and_a_target_after_it() {
    let dir = inputs();
    let crate_version = concat!("chord-fuzz ", env!("CARGO_PKG_VERSION"), "\n");
    for flag in ["--version", "-V"] {
        chord_fuzz(dir.path()).arg(flag).assert().code(0).stdout(crate_version).stderr("");
    }
    replay(dir.path(), &["--version"]).code(2).stdout("");
    replay(dir.path(), &["-V", "sigcomm2001/ideal"]).code(2).stdout("");
    let fixed = replay(dir.path(), &["--version", "ccr2012", "sigcomm2001/violating"]).code(0).stderr("");
    assert_eq!(columns(&fixed)[0][1], "ideal", "the option wins over the directory, and ccr2012 checks");
    let ablated = replay(dir.path(), &["--version=ccr2012-adopt", "sigcomm2001/violating"]).code(1).stderr("");
    assert_eq!(columns(&ablated)[0][1], "ccr2012-adopt/AtLeastOneRing");
}

#[test]
fn bad_usage() {
    let dir = inputs();
    chord_fuzz(dir.path()).assert().code(2).stdout("");
    replay(dir.path(), &[]).code(2).stdout("");
    replay(dir.path(), &["--no-such-option", "sigcomm2001/ideal"]).code(2).stdout("");
    let unknown = replay(dir.path(), &["--version", "chord", "sigcomm2001/ideal"]).code(2).stdout("");
    let message = String::from_utf8_lossy(&unknown.get_output().stderr).into_owned();
    assert!(message.contains("no version is called `chord`: there are sigcomm2001"), "{message}");
}

#[test]
fn a_violating_input() {
    let dir = inputs();
    let assert = replay(dir.path(), &["sigcomm2001/violating"]).code(1).stderr("");
    let [steps, digest] = run_of("sigcomm2001", &bytes(VIOLATING), &Options::default());
    assert_eq!(columns(&assert), [["sigcomm2001/violating", SIGNATURE, "4 steps", &digest]]);
    assert_eq!(steps, "4 steps");
    let words: Vec<_> = stdout(&assert).split_whitespace().collect();
    assert_eq!(words, ["sigcomm2001/violating", SIGNATURE, "4", "steps", &digest]);
}

#[test]
fn an_ideal_input() {
    let dir = inputs();
    let assert = replay(dir.path(), &["sigcomm2001/ideal"]).code(0).stderr("");
    let [steps, digest] = run_of("sigcomm2001", &bytes(IDEAL), &Options::default());
    assert_eq!(columns(&assert), [["sigcomm2001/ideal", "ideal", &steps, &digest]]);
}

#[test]
fn every_target_of_all_names_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let targets = Target::all().map(|target| target.to_string());
    for target in &targets {
        fs::create_dir(dir.path().join(target)).unwrap();
        fs::write(dir.path().join(target).join("input"), bytes(IDEAL)).unwrap();
    }
    let files = targets.each_ref().map(|target| format!("{target}/input"));
    let assert = replay(dir.path(), &files.each_ref().map(String::as_str)).code(0).stderr("");
    for ((target, file), cells) in targets.iter().zip(&files).zip(columns(&assert)) {
        let [steps, digest] = run_of(target, &bytes(IDEAL), &Options::default());
        assert_eq!(cells, [file, "ideal", &steps, &digest]);
    }
    let starts: Vec<_> = stdout(&assert).lines().map(|line| line.find("ideal")).collect();
    assert!(starts.iter().all(|start| *start == starts[0]), "the columns are aligned:\n{}", stdout(&assert));
}

#[test]
fn the_directory_has_its_name_also_from_within() {
    let dir = inputs();
    let target = dir.path().join("sigcomm2001");
    fs::create_dir(target.join("deeper")).unwrap();
    replay(&target, &["violating", "./violating", "../sigcomm2001/violating"]).code(1).stderr("");
    replay(&target.join("deeper"), &["../violating"]).code(1).stderr("");
    replay(dir.path(), &["sigcomm2001/deeper/../violating"]).code(1).stderr("");
    replay(dir.path(), &[target.join("violating").to_str().unwrap()]).code(1).stderr("");
}

#[cfg(unix)]
#[test]
fn a_linked_directory_goes_by_the_name_of_the_link() {
    let dir = inputs();
    fs::create_dir(dir.path().join("fuzz")).unwrap();
    std::os::unix::fs::symlink("../sigcomm2001", dir.path().join("fuzz/ccr2012")).unwrap();
    let assert = replay(dir.path(), &["fuzz/ccr2012/violating"]).code(0).stderr("");
    assert_eq!(columns(&assert)[0][..2], ["fuzz/ccr2012/violating", "ideal"]);
}

#[test]
fn a_directory_that_is_no_target() {
    let dir = inputs();
    fs::create_dir(dir.path().join("inbox")).unwrap();
    fs::write(dir.path().join("inbox/found"), bytes(VIOLATING)).unwrap();
    let assert = replay(dir.path(), &["inbox/found"]).code(2).stdout("");
    expect![[r#"
        error: inbox/found: its directory `inbox` is not called like a target: give --version
    "#]]
    .assert_eq(stderr(&assert));
    replay(dir.path(), &["--version", "sigcomm2001", "inbox/found"]).code(1).stderr("");
}

#[test]
fn exit_statuses_of_mixed_lists() {
    let dir = inputs();
    let (ideal, violating, missing) = ("sigcomm2001/ideal", "sigcomm2001/violating", "sigcomm2001/missing");
    for (files, status) in [
        (&[ideal, ideal][..], 0),
        (&[violating, ideal], 1),
        (&[ideal, violating], 1),
        (&[missing, ideal], 2),
        (&[ideal, missing], 2),
        (&[missing, violating, ideal], 2),
        (&[violating, missing, ideal], 2),
        (&[ideal, violating, missing], 2),
    ] {
        let assert = replay(dir.path(), files).code(status);
        let printed: Vec<_> = columns(&assert).into_iter().map(|cells| cells[0]).collect();
        let readable: Vec<_> = files.iter().copied().filter(|file| *file != missing).collect();
        assert_eq!(printed, readable, "every other file is run");
        assert_eq!(stderr(&assert).lines().count(), usize::from(files.contains(&missing)));
    }
}

#[test]
fn problems_take_one_line_each() {
    let dir = inputs();
    fs::create_dir(dir.path().join("sigcomm2001/directory")).unwrap();
    let files = ["sigcomm2001/missing", "sigcomm2001/directory", "nowhere/missing", "line\nbreak"];
    let assert = replay(dir.path(), &files).code(2).stdout("");
    let told: Vec<_> = stderr(&assert).lines().collect();
    assert_eq!(told.len(), files.len(), "{told:?}");
    for (line, file) in told.iter().zip(files) {
        assert!(line.starts_with(&format!("error: {}: ", file.replace('\n', "\\n"))), "{line}");
    }
    #[cfg(target_os = "linux")]
    expect![[r#"
        error: sigcomm2001/missing: No such file or directory (os error 2)
        error: sigcomm2001/directory: Is a directory (os error 21)
        error: nowhere/missing: No such file or directory (os error 2)
        error: line\nbreak: No such file or directory (os error 2)
    "#]]
    .assert_eq(stderr(&assert));
}

#[cfg(unix)]
#[test]
fn an_unreadable_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = inputs();
    let file = dir.path().join("sigcomm2001/ideal");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&file).is_ok() {
        eprintln!("skipped: root may read everything");
        return;
    }
    let assert = replay(dir.path(), &["sigcomm2001/ideal", "sigcomm2001/violating"]).code(2);
    assert_eq!(stderr(&assert), "error: sigcomm2001/ideal: Permission denied (os error 13)\n");
    assert_eq!(columns(&assert)[0][..2], ["sigcomm2001/violating", SIGNATURE]);
}

#[test]
fn names_with_spaces_and_control_characters() {
    let dir = inputs();
    fs::write(dir.path().join("sigcomm2001/two words"), bytes(IDEAL)).unwrap();
    let mut files = vec!["sigcomm2001/two words"];
    if cfg!(unix) {
        fs::write(dir.path().join("sigcomm2001/line\nbreak\u{1b}[31m"), bytes(IDEAL)).unwrap();
        files.push("sigcomm2001/line\nbreak\u{1b}[31m");
    }
    let assert = replay(dir.path(), &files).code(0).stderr("");
    let printed: Vec<_> = columns(&assert).into_iter().map(|cells| cells[0]).collect();
    assert_eq!(printed, ["sigcomm2001/two words", r"sigcomm2001/line\nbreak\u{1b}[31m"][..files.len()]);
}

/// libFuzzer runs the first two before anything else.
#[test]
fn every_file_is_an_input() {
    let dir = tempfile::tempdir().unwrap();
    let noise: Vec<u8> = {
        let mut rng = fastrand::Rng::with_seed(7);
        (0..1 << 20).map(|_| rng.u8(..)).collect()
    };
    let files = ["empty", "newline", "one-and-a-half-records", "head", "noise"];
    let contents: [&[u8]; 5] = [b"", b"\n", b"\x02\x00\x10\x00\x11", &noise[..MAX_BYTES], &noise];
    for (file, content) in files.iter().zip(contents) {
        fs::write(dir.path().join(file), content).unwrap();
    }
    for target in Target::all().map(|target| target.to_string()) {
        let args: Vec<_> = ["--version", &target].into_iter().chain(files).collect();
        let assert = replay(dir.path(), &args).stderr("");
        let lines = columns(&assert);
        for ((file, content), cells) in files.iter().zip(contents).zip(&lines) {
            let [steps, digest] = run_of(&target, content, &Options::default());
            assert_eq!([cells[0], cells[2], cells[3]], [file, &*steps, &*digest]);
        }
        assert_eq!(lines[0][1..3], ["ideal", "0 steps"]);
        assert_eq!(lines[3][1..], lines[4][1..], "nothing counts but the head");
    }
}

#[cfg(unix)]
#[test]
fn an_endless_file_is_read_no_further_than_it_counts() {
    let dir = tempfile::tempdir().unwrap();
    let assert = replay(dir.path(), &["--version", "best2012", "/dev/zero"]).code(0).stderr("");
    assert_eq!(columns(&assert)[0][..2], ["/dev/zero", "ideal"]);
}

#[test]
fn standard_input() {
    let dir = inputs();
    let with =
        |args: &[&str], input: Vec<u8>| chord_fuzz(dir.path()).arg("replay").args(args).write_stdin(input).assert();
    let [steps, digest] = run_of("sigcomm2001", &bytes(VIOLATING), &Options::default());

    let alone = with(&["--version", "sigcomm2001", "-"], bytes(VIOLATING)).code(1).stderr("");
    assert_eq!(columns(&alone), [["-", SIGNATURE, &steps, &digest]]);

    let args = ["--version", "sigcomm2001", "sigcomm2001/ideal", "-", "sigcomm2001/violating"];
    let among = with(&args, bytes(VIOLATING)).code(1).stderr("");
    assert_eq!(columns(&among)[1], ["-", SIGNATURE, &steps, &digest]);

    let twice = with(&["--version", "sigcomm2001", "-", "-"], bytes(VIOLATING)).code(2);
    assert_eq!(columns(&twice).len(), 1);
    expect![[r#"
        error: -: standard input has been read already
    "#]]
    .assert_eq(stderr(&twice));

    let unnamed = with(&["-", "sigcomm2001/ideal"], bytes(VIOLATING)).code(2);
    assert_eq!(columns(&unnamed)[0][..2], ["sigcomm2001/ideal", "ideal"]);
    expect![[r#"
        error: -: standard input is in no directory: give --version
    "#]]
    .assert_eq(stderr(&unnamed));

    fs::write(dir.path().join("sigcomm2001/-"), bytes(VIOLATING)).unwrap();
    let file = chord_fuzz(&dir.path().join("sigcomm2001")).args(["replay", "./-"]).assert().code(1).stderr("");
    assert_eq!(columns(&file)[0][..2], ["./-", SIGNATURE]);
}

#[test]
fn a_line_is_there_before_the_next_file_is_read() {
    let dir = inputs();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"))
        .args(["replay", "--version", "sigcomm2001", "sigcomm2001/ideal", "-"])
        .current_dir(dir.path())
        .env_remove(ONLY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut stdin = child.stdin.take().unwrap();
    assert!(lines.next().unwrap().starts_with("sigcomm2001/ideal  ideal "));
    stdin.write_all(&bytes(VIOLATING)).unwrap();
    drop(stdin);
    assert!(lines.next().unwrap().starts_with('-'));
    assert_eq!(lines.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = inputs();
    for file in ["sigcomm2001/ideal", "sigcomm2001/violating"] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.args(["replay", file, file]).current_dir(dir.path()).env_remove(ONLY);
        let output =
            command.stdout(common::closed()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(output.stderr, b"");
    }
    // Nobody listens to the problems either.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["replay", "sigcomm2001/missing", "sigcomm2001/ideal"]).current_dir(dir.path()).env_remove(ONLY);
    let output = command.stdout(Stdio::piped()).stderr(common::closed()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.starts_with(b"sigcomm2001/ideal "));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let dir = inputs();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["replay", "sigcomm2001/ideal"]).current_dir(dir.path()).env_remove(ONLY);
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    expect![[r#"
        error: standard output: No space left on device (os error 28)
    "#]]
    .assert_eq(&String::from_utf8_lossy(&output.stderr));
}

#[test]
fn only_some_breaches_count() {
    let dir = inputs();
    let pinned = |only: &str| chord_fuzz(dir.path()).args(["replay", "sigcomm2001/violating"]).env(ONLY, only).assert();
    let masked = format!("masked:{SIGNATURE}");
    for only in ["ordered-ring", "OrderedRing", "ordered-ring,stalled", " at-most-one-ring , "] {
        let assert = pinned(only).code(0).stderr("");
        assert_eq!(columns(&assert)[0][1], masked, "{only:?}");
    }
    for only in ["", " ", ",", "at-least-one-ring", "AtLeastOneRing", "ordered-ring, at-least-one-ring"] {
        let assert = pinned(only).code(1).stderr("");
        assert_eq!(columns(&assert)[0][1], SIGNATURE, "{only:?}");
    }
    for only in ["at-least-one-rink", "ordered-ring;stalled", "1\n2"] {
        let assert = pinned(only).code(2).stdout("");
        let told = stderr(&assert);
        assert!(told.starts_with("error: CHORD_FUZZ_ONLY: nothing that can be violated is called `"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
    }
}

#[cfg(unix)]
#[test]
fn what_is_not_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let dir = inputs();
    let name = OsStr::from_bytes(b"\xff");
    let mut command = chord_fuzz(dir.path());
    let assert = command.args(["replay", "sigcomm2001/ideal"]).env(ONLY, name).assert().code(2).stdout("");
    assert!(stderr(&assert).starts_with("error: CHORD_FUZZ_ONLY: "), "not taken for nothing at all");

    let file = dir.path().join("sigcomm2001").join(name);
    if fs::write(&file, bytes(IDEAL)).is_ok() {
        let assert = chord_fuzz(&dir.path().join("sigcomm2001")).arg("replay").arg(name).assert().code(0).stderr("");
        assert_eq!(columns(&assert)[0][..2], ["\u{fffd}", "ideal"]);
    }
}

/// What a liveness check is for happens all the same while a failure goes unnoticed.
#[test]
fn with_late_detection_a_run_may_leave_the_assumptions() {
    let dir = inputs();
    let verdict = |args: &[&str]| {
        let assert = replay(dir.path(), &[args, &["--version", "ccr2012", "sigcomm2001/violating"]].concat()).code(0);
        columns(&assert)[0][1].to_owned()
    };
    assert_eq!(verdict(&[]), "ideal");
    assert_eq!(verdict(&["--late-detection", "0"]), "ideal");
    assert_eq!(verdict(&["--late-detection", "1"]), "outside the assumptions: ccr2012/AtLeastOneRing");
    for steps in ["256", "-1", "soon"] {
        let late = format!("--late-detection={steps}");
        let assert = replay(dir.path(), &[&late, "--version", "ccr2012", "sigcomm2001/violating"]).code(2).stdout("");
        assert!(stderr_starts(&assert), "{steps}");
    }
    let explain = chord_fuzz(dir.path())
        .args(["explain", "--version", "ccr2012", "--late-detection", "5", "--no-rejoin", "sigcomm2001/violating"])
        .assert()
        .code(0);
    for told in ["unnoticed: 1 (no such", "FAILURES UNNOTICED for up to 5 steps", "no node joins again"] {
        assert!(stdout(&explain).contains(told), "{}", stdout(&explain));
    }
}

/// Who may read what is written is for the umask to say, of a new file and of one that is replaced.
#[cfg(unix)]
#[test]
fn written_files_honour_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = inputs();
    for (umask, mode) in [("022", 0o644), ("077", 0o600)] {
        let script = format!("umask {umask} && exec \"$0\" disassemble sigcomm2001/ideal text");
        let mut shell = Command::new("sh");
        shell.current_dir(dir.path()).args(["-c", &script, env!("CARGO_BIN_EXE_chord-fuzz")]).assert().code(0);
        let written = fs::metadata(dir.path().join("text")).unwrap().permissions().mode();
        assert_eq!(written & 0o777, mode, "umask {umask}");
    }
}

#[test]
fn without_rejoin_a_failed_node_does_not_join() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("again"), "circle 6\nring 3\nfail 2\nupdate 0\njoin 2 via 0\n").unwrap();
    let executed = |args: &[&str]| {
        let json =
            chord_fuzz(dir.path()).args(["explain", "--json", "--version", "ccr2012", "again"]).args(args).assert();
        let story: serde_json::Value = serde_json::from_str(stdout(&json.code(0))).unwrap();
        (story["executed"].as_str().unwrap().to_owned(), story["assumptions"]["rejoin"].as_bool().unwrap())
    };
    assert_eq!(executed(&[]), ("circle 6\nring 3\nfail 2\nupdate 0\njoin 2 via 0\n".to_owned(), true));
    assert_eq!(executed(&["--no-rejoin"]), ("circle 6\nring 3\nfail 2\nupdate 0\njoin 3 via 0\n".to_owned(), false));
}

#[test]
fn with_faults_a_run_may_leave_the_assumptions() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ccr2012")).unwrap();
    let files = ["ccr2012/broken", "ccr2012/whole", "ccr2012/reliable", "ccr2012/reliable-and-broken"];
    let reliable = LOSSY.replace("lose 0\n", "");
    for (file, text) in files.iter().zip([LOSSY, "ring 2\nfaults\nlose 0\n", "faults\njoin 1 via 0\n", &reliable]) {
        fs::write(dir.path().join(file), bytes(text)).unwrap();
    }
    let verdicts = |args: &[&str], status| -> Vec<_> {
        let assert = replay(dir.path(), args).code(status).stderr("");
        columns(&assert).into_iter().map(|cells| cells[1].to_owned()).collect()
    };
    let (outside, broken) = ("outside the assumptions", "ccr2012/AtMostOneRing");
    assert_eq!(verdicts(&["--faults", files[0], files[1]], 0), [&format!("{outside}: {broken}"), outside]);
    assert_eq!(verdicts(&["--faults", files[2], files[3]], 1), ["ideal", broken], "allowed, but nothing is lost");
    let repaired = "without the option other steps stand for the loss, and with those the network heals";
    assert_eq!(verdicts(&files, 1), ["ideal", "ideal", "ideal", broken], "{repaired}");

    let [steps, digest] = run_of("ccr2012", &bytes(LOSSY), &Options { faults: true, ..Options::default() });
    assert_eq!(columns(&replay(dir.path(), &["--faults", files[0]]))[0][2..], [&steps, &digest]);
}

#[test]
fn a_file_has_the_same_digest_in_every_process() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(1);
    fs::write(dir.path().join("input"), (0..MAX_BYTES).map(|_| rng.u8(..)).collect::<Vec<_>>()).unwrap();
    for target in Target::all().map(|target| target.to_string()) {
        let [first, second] = [(); 2].map(|()| replay(dir.path(), &["--version", &target, "input"]).stderr(""));
        assert_eq!(stdout(&first), stdout(&second));
        assert_eq!(columns(&first)[0][3].len(), 16);
    }
}

#[test]
fn normalize_writes_the_steps_as_executed() {
    let dir = inputs();
    // A failure that may not be: the step is repaired to a join, and what follows the break is dropped.
    let given = "fail 0\nstabilize 1\nfail 1\nstabilize 0\nstabilize 0\nstabilize 1\n";
    fs::write(dir.path().join("sigcomm2001/given"), bytes(given)).unwrap();
    let normalize = |file: &str, out: &str| chord_fuzz(dir.path()).args(["normalize", file, out]).assert();
    let assert = normalize("sigcomm2001/given", "out").code(0).stderr("");
    expect![[r#"
        circle 4
        ring 1
        stabilize 0
        reconcile 0
        join 1 via 0
        stabilize 1
        stabilize 0
        reconcile 1
    "#]]
    .assert_eq(stdout(&assert));
    let written = fs::read(dir.path().join("out")).unwrap();
    assert_eq!(written, bytes(stdout(&assert)));
    // In place, and once more: it is its own canonical form.
    fs::copy(dir.path().join("out"), dir.path().join("sigcomm2001/out")).unwrap();
    normalize("sigcomm2001/out", "sigcomm2001/out").code(0);
    assert_eq!(fs::read(dir.path().join("sigcomm2001/out")).unwrap(), written);
}

#[test]
fn normalize_writes_all_or_nothing() {
    let dir = inputs();
    let before = fs::read_dir(dir.path()).unwrap().count();
    for (file, out) in [("missing/file", "out"), ("sigcomm2001/ideal", "no/such/directory"), ("sigcomm2001", "out")] {
        let assert = chord_fuzz(dir.path()).args(["normalize", file, out]).assert().code(2).stdout("");
        assert_eq!(stderr(&assert).lines().count(), 1);
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "nothing is left behind");
}
