//! `chord-fuzz campaign`: what it reads of libFuzzer's log, and what it refuses.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use expect_test::expect;

/// A run that was killed in the middle of a line, and the one that went on, in which two jobs crashed, the last one too.
const LOG: &str = "\
INFO: Running with entropic power schedule (0xFF, 100).
INFO: -fork=2: fuzzing in separate process(s)
#6411: cov: 789 ft: 944 corp: 63 exec/s: 3205 oom/timeout/crash: 0/0/0 time: 2s job: 1 dft_time: 0
KNOWN: ccr2012/AtMostOneRing 1024
#13730: cov: 824 ft: 1345 corp: 224 exec/s: 2439 oom/timeout/crash: 0/0/0 time: 2s job: 2 dft_time: 0
#15397: cov: 829 ft: 1395 corp: 264 exec/s: 416 oom/timeout/crash: 0/1/0 time: 9s job: 3 dft_time: 0
#16000: cov: 829 ft: 13
INFO: -fork=2: fuzzing in separate process(s)
#1302: cov: 829 ft: 1395 corp: 264 exec/s: 416 oom/timeout/crash: 0/0/0 time: 6s job: 1 dft_time: 0
==21648== ERROR: libFuzzer: deadly signal
#2603: cov: 829 ft: 1395 corp: 264 exec/s: 416 oom/timeout/crash: 0/0/1 time: 11s job: 2 dft_time: 0
==21654== ERROR: libFuzzer: deadly signal
";

/// As libFuzzer printed it: four jobs of `ccr2012` with a pin. Job 14 was ended by `kill -9`.
const KILLED: &str = "\
#11301: cov: 889 ft: 1870 corp: 342 exec/s: 0 oom/timeout/crash: 0/0/12 time: 5s job: 13 dft_time: 0
==21696== ERROR: libFuzzer: deadly signal
#11301: cov: 889 ft: 1870 corp: 342 exec/s: 0 oom/timeout/crash: 0/0/13 time: 5s job: 14 dft_time: 0
#11527: cov: 889 ft: 1870 corp: 342 exec/s: 0 oom/timeout/crash: 0/0/14 time: 6s job: 15 dft_time: 0
==21711== ERROR: libFuzzer: deadly signal
#12055: cov: 889 ft: 1870 corp: 342 exec/s: 0 oom/timeout/crash: 0/0/15 time: 6s job: 16 dft_time: 0
";

fn campaign(dir: &Path, args: &[&str]) -> Assert {
    Command::new(env!("CARGO_BIN_EXE_chord-fuzz")).current_dir(dir).arg("campaign").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn error(assert: &Assert) -> &str {
    let text = str::from_utf8(&assert.get_output().stderr).unwrap();
    assert!(text.starts_with("error: ") && text.lines().count() == 1, "{text}");
    text.trim_end()
}

#[test]
fn counts_what_all_runs_have_done() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log"), LOG).unwrap();
    let told = campaign(dir.path(), &["log", "--svg", "plot.svg"]).code(0).stderr("");
    expect![[r#"
        runs                       2
        executions            18,000
        seconds                   20
        executions/s             900
        edges                    829
        features               1,395
        corpus                   264
        crashes                    2
        timeouts                   1
        out of memory              0
        killed                     0
    "#]]
    .assert_eq(stdout(&told));
    let svg = fs::read_to_string(dir.path().join("plot.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    for text in ["executions/s", "features", "15,000"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
}

#[test]
fn a_killed_job_is_no_crash() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log"), KILLED).unwrap();
    let told = campaign(dir.path(), &["log"]).code(0).stderr("");
    let counts = "crashes                    2\ntimeouts                   0\nout of memory              0\nkilled                     1\n";
    assert!(stdout(&told).ends_with(counts), "{told}");
}

#[test]
fn what_cannot_be_read_is_told_in_a_line() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("noise"), (0..=255).cycle().take(100_000).collect::<Vec<u8>>()).unwrap();
    fs::write(dir.path().join("single"), "#1024\tpulse  cov: 834 ft: 1481 corp: 337/12Kb lim: 194 exec/s: 9000\n")
        .unwrap();
    fs::write(dir.path().join("empty"), "").unwrap();
    fs::write(dir.path().join("log"), LOG).unwrap();
    for name in ["noise", "single", "empty"] {
        let told = campaign(dir.path(), &[name, "--svg", "plot.svg"]).code(2).stdout("");
        assert_eq!(error(&told), format!("error: {name}: has no line of libFuzzer's fork mode"));
        assert!(!dir.path().join("plot.svg").exists());
    }
    for name in ["missing", "."] {
        assert!(error(&campaign(dir.path(), &[name]).code(2).stdout("")).starts_with(&format!("error: {name}: ")));
    }
    let unwritable = campaign(dir.path(), &["log", "--svg", "missing/plot.svg"]).code(2).stdout("");
    assert!(error(&unwritable).starts_with("error: missing/plot.svg: "));
}

#[cfg(unix)]
#[test]
fn a_huge_file_is_not_read_whole() {
    let dir = tempfile::tempdir().unwrap();
    fs::File::create(dir.path().join("huge")).unwrap().set_len(1 << 30).unwrap();
    let told = campaign(dir.path(), &["huge"]).code(2).stdout("");
    assert_eq!(error(&told), "error: huge: longer than 67108864 bytes");
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("log"), LOG).unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir.path()).args(["campaign", "log"]).stdout(common::closed()).stderr(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(141), Vec::new()));
}
