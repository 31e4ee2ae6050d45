//! `chord-fuzz export`: a run for the tools of others. What those make of it is in `tests/weftlog.rs`.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::finding::weftlog::Recording;
use chord_fuzz::judge::{Options, run};
use chord_fuzz::schedule::Schedule;
use chord_fuzz::search::fuzzing::ONLY;
use expect_test::expect;
use weft_chord::Snapshot;
use weft_replay::log::Log;
use weft_replay::replay_log;

/// Z12: without a liveness check, a stabilization adopts a successor that has failed.
const LOST_RING: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";
const REJOIN: &str = "join 1 via 0\nstabilize 1\nstabilize 0\nreconcile 0\nfail 1\nupdate 0\njoin 1 via 0\n";
const LOSSY: &str = "ring 2\nfaults\nlose 0\njoin 1 via 0\n";

/// The command in a directory, undisturbed by the environment of the tests.
fn chord_fuzz(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY);
    command
}

fn export(dir: &Path, args: &[&str]) -> Assert {
    chord_fuzz(dir).arg("export").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

/// What the command complains of: one line, and nothing else printed.
fn refusal(assert: Assert) -> String {
    let assert = assert.code(2).stdout("");
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text.strip_prefix("error: ").expect(&text).trim_end().to_owned()
}

/// The log of a run by the library.
fn log_of(target: &str, text: &str) -> String {
    let mut recording = Recording::default();
    let _ = run(target.parse().unwrap(), &text.parse().unwrap(), &Options::default(), &mut recording);
    recording.finish().unwrap()
}

/// The log that this text is, its hashes checked.
fn read(text: &str) -> Log {
    Log::from_reader(text.as_bytes()).unwrap()
}

#[test]
fn help() {
    let dir = tempfile::tempdir().unwrap();
    let help = export(dir.path(), &["--help"]).code(0).stderr("");
    expect![[r#"
        Writes a run for the tools of others to judge

        Usage: chord-fuzz export [OPTIONS] --weftlog <OUT> <FILE>

        Arguments:
          <FILE>  The input, as bytes or as text, or `-` for standard input

        Options:
              --version <V>         The target, as for `chord-fuzz replay`
              --faults              Allow loss and partition, which all sources exclude
              --no-rejoin           Let no node that has failed join again
              --late-detection <N>  Take a node for alive for N steps after its failure
              --weftlog <OUT>       Where to write the log, or `-` for standard output
          -h, --help                Print help

        Writes a run as a weft-log, the recording of the project that publishes the
        broker: every operation of the broker, and a report of every change of a node's
        pointers. Its tools, which share with this one the broker and nothing else, then
        judge the run: `weft replay` has a broker of its own do the same operations, and
        compares; `chord-check` looks for broken properties in the network at the end,
        on a circle of 2^4 identifiers. They are in its crates weft-dst and weft-chord,
        0.0.2.

        The log ends where the run ends: at a violation, or after everything has
        arrived. No maintenance follows. So `chord-check` also names what is broken and
        would heal; and where a node is a ring by itself beside another ring, it names
        OrderedRing besides AtMostOneRing.

        What a weft-log cannot say is refused: a node that joins again after it has
        failed, successor lists of 3, and, with --faults, a datagram that is lost.

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

        Exit status:
          0    OUT is written, whatever the verdict
          2    it is not
          141  standard output was closed before the end

        Examples:
          chord-fuzz export --weftlog rings.weftlog artifacts/ccr2012/at-most-one-ring
          weft replay rings.weftlog
          chord-check rings.weftlog 4
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn the_log_is_that_of_the_run_from_bytes_and_text_and_standard_input() {
    let dir = tempfile::tempdir().unwrap();
    let log = log_of("sigcomm2001", LOST_RING);
    fs::write(dir.path().join("text"), LOST_RING).unwrap();
    fs::write(dir.path().join("bytes"), LOST_RING.parse::<Schedule>().unwrap().encode()).unwrap();
    for file in ["text", "bytes"] {
        export(dir.path(), &["--version", "sigcomm2001", "--weftlog", "log", file]).code(0).stdout("").stderr("");
        assert_eq!(fs::read_to_string(dir.path().join("log")).unwrap(), log);
    }
    let args = ["export", "--version", "sigcomm2001", "--weftlog", "-", "-"];
    chord_fuzz(dir.path()).args(args).write_stdin(LOST_RING).assert().code(0).stdout(log).stderr("");
}

/// The file is what the peer's tools open.
#[test]
fn the_peer_reads_the_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sigcomm2001")).unwrap();
    fs::write(dir.path().join("sigcomm2001/lost"), LOST_RING).unwrap();
    export(dir.path(), &["--weftlog", "lost.weftlog", "sigcomm2001/lost"]).code(0);
    let log = Log::read(&dir.path().join("lost.weftlog")).unwrap();
    assert!(replay_log(&log, Vec::new(), None).unwrap().identical);
    let broken: Vec<_> = Snapshot::from_log(&log).check(4).iter().map(|found| found.invariant.name()).collect();
    assert_eq!(broken, ["AtLeastOneRing"]);
}

/// A run ends at the first violation that counts, and so does its log.
#[test]
fn a_pin_is_as_for_replay() {
    let dir = tempfile::tempdir().unwrap();
    let merges = "join 1 via 0\njoin 2 via 0\nstabilize 2\nstabilize 0\nstabilize 1\n";
    fs::write(dir.path().join("text"), merges).unwrap();
    let args = ["export", "--version", "claims", "--weftlog", "-", "text"];
    let operations = |assert: &Assert| read(stdout(assert)).records.len();
    let all = chord_fuzz(dir.path()).args(args).assert().code(0);
    let pinned = chord_fuzz(dir.path()).args(args).env(ONLY, "ordered-ring").assert().code(0);
    assert!(operations(&all) < operations(&pinned), "OrderedMerges is broken by the last step but one");
    let unknown = chord_fuzz(dir.path()).args(args).env(ONLY, "beauty").assert();
    assert!(refusal(unknown).starts_with("CHORD_FUZZ_ONLY: nothing that can be violated is called `beauty`"));
}

#[test]
fn what_a_weft_log_cannot_say_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |target: &str, text: &str, more: &[&str]| {
        fs::write(dir.path().join("text"), text).unwrap();
        let complaint =
            refusal(export(dir.path(), &[&["--version", target, "--weftlog", "log", "text"], more].concat()));
        assert!(!dir.path().join("log").exists(), "nothing is written");
        complaint
    };
    let complaints = [
        refused("ccr2012", REJOIN, &[]),
        refused("tse2017", "ring 4\nlists 3\nstabilize 0\n", &[]),
        refused("ccr2012", LOSSY, &["--faults"]),
    ];
    expect![[r#"
        text: node 1 joins again after it has failed, and for the checker of weft-logs a dead node stays dead
        text: a weft-log reports two successors of each node, and here are lists of 3
        text: a datagram from 0 to 1 is lost by the schedule, and in a weft-log only a seed loses any"#]]
    .assert_eq(&complaints.join("\n"));
    // Without --faults nothing is lost, as by `replay`.
    export(dir.path(), &["--version", "ccr2012", "--weftlog", "log", "text"]).code(0);
}

#[test]
fn inputs_that_cannot_be_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ccr2012")).unwrap();
    fs::write(dir.path().join("bad"), "join 1 through 0\n").unwrap();
    fs::write(dir.path().join("orphan"), "").unwrap();
    let complaint = |args: &[&str]| refusal(export(dir.path(), &[args, &["--weftlog", "log"]].concat()));
    assert!(complaint(&["missing"]).starts_with("missing: No such file"));
    assert!(complaint(&["ccr2012"]).starts_with("ccr2012: "));
    assert!(complaint(&["orphan"]).contains("is not called like a target: give --version"));
    assert_eq!(complaint(&["-"]), "-: standard input is in no directory: give --version");
    let bad = export(dir.path(), &["--version", "ccr2012", "--weftlog", "log", "bad"]).code(2).stdout("");
    let text = String::from_utf8_lossy(&bad.get_output().stderr).into_owned();
    assert!(text.starts_with("error: bad: line 1, column 8: a join goes `via` a contact"), "{text}");
    assert!(!dir.path().join("log").exists());
    export(dir.path(), &["orphan"]).code(2).stdout("");
    export(dir.path(), &["--weftlog", "log"]).code(2).stdout("");
    // Every byte string is a schedule, the empty one and noise too, and of a huge file only the head is read.
    let noise: Vec<u8> = (0..=255).cycle().take(5_000).map(|byte: u8| byte.wrapping_mul(167) | 0x80).collect();
    fs::write(dir.path().join("noise"), noise).unwrap();
    File::create(dir.path().join("huge")).unwrap().set_len(1 << 30).unwrap();
    for file in ["orphan", "noise", "huge"] {
        let run = export(dir.path(), &["--version", "ccr2012", "--weftlog", "-", file]);
        if run.get_output().status.code() == Some(0) {
            read(stdout(&run));
        } else {
            assert!(refusal(run).starts_with(&format!("{file}: node ")), "it is run, and cannot be said");
        }
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), LOST_RING).unwrap();
    let to = |out: &str| refusal(export(dir.path(), &["--version", "ccr2012", "--weftlog", out, "text"]));
    assert!(to("no/such/place").starts_with("no/such/place: "));
    fs::create_dir(dir.path().join("directory")).unwrap();
    assert_eq!(to("directory"), "directory: not a regular file");
    // What cannot be said leaves the file as it was.
    fs::write(dir.path().join("text"), REJOIN).unwrap();
    fs::write(dir.path().join("kept"), "kept").unwrap();
    to("kept");
    assert_eq!(fs::read(dir.path().join("kept")).unwrap(), b"kept");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), LOST_RING).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["export", "--version", "ccr2012", "--weftlog", "-"]).arg(dir.path().join("text"));
    let output = command.stdout(common::closed()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(output.stderr, b"");
}
