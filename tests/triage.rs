//! `chord-fuzz triage` as its users see it, on what lies about where crash files do.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::finding::triage::{Triage, triage};
use chord_fuzz::judge::{Only, Options, Target, Verdict, run};
use chord_fuzz::schedule::{MAX_BYTES, Schedule, Setup, Step};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::sweep::{Shape, Sweep};
use chord_fuzz::truth::ident::Ident;
use expect_test::expect;
use serde_json::Value;
use tempfile::TempDir;

/// Z12's two rings of `ccr2012`, from a ring of two.
const TWO_RINGS: &str = "circle 4\nring 2\njoin 1 via 0\njoin 3 via 2\nstabilize 1\nstabilize 0\nstabilize 3\nstabilize 2\n\
                         fail 1\nfail 3\n";

/// `sigcomm2001` adopts a successor that has failed, and a joiner is left with one.
const LOST: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";
const STRANDED: &str = "join 1 via 0\njoin 2 via 0\nstabilize 2\nfail 2\nstabilize 1\n";

fn bytes(text: &str) -> Vec<u8> {
    text.parse::<Schedule>().unwrap().encode()
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).arg("triage");
    command
}

fn triaged(dir: &Path, args: &[&str]) -> Assert {
    command(dir).args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

/// Standard error: a problem in each line.
fn stderr(assert: &Assert) -> &str {
    let text = str::from_utf8(&assert.get_output().stderr).unwrap();
    assert!(text.lines().all(|line| line.starts_with("error: ")), "{text}");
    text
}

/// The schedule with other names for its nodes.
fn renamed(text: &str, circle: u8, name: impl Fn(u8) -> u8) -> Vec<u8> {
    let Schedule { setup, steps } = text.parse().unwrap();
    let name = |x: Ident| Ident::new(name(x.get()));
    let steps =
        steps.iter().map(|step| Step { node: name(step.node), contact: name(step.contact), ..*step }.canonical());
    Schedule { setup: Setup { circle, ..setup }, steps: steps.collect() }.encode()
}

/// What several campaigns leave behind, and what else gets there.
fn campaigns() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = dir.path().join("found").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    write("ccr2012/crash-1", &bytes(TWO_RINGS));
    write("ccr2012/crash-2-turned", &renamed(TWO_RINGS, 4, |x| (x + 2) % 4));
    let longer = TWO_RINGS.replace("circle 4", "circle 6").replace("join 1", "join 5 via 2\nfail 5\njoin 1");
    write("ccr2012/deep/crash-3-longer", &bytes(&longer));
    write(
        "ccr2012/crash-4-reordered",
        &bytes(&TWO_RINGS.replace("join 1 via 0\njoin 3 via 2", "join 3 via 2\njoin 1 via 0")),
    );
    write("ccr2012/crash-5-equal", &bytes(TWO_RINGS));
    write("ccr2012/passes", &bytes(LOST));
    write("ccr2012/empty", b"");
    write("sigcomm2001/lost", &bytes(LOST));
    write("sigcomm2001/lost-and-higher", &renamed(LOST, 9, |x| 7 * x));
    write("sigcomm2001/stranded", &bytes(STRANDED));
    write("README.md", b"# Findings\n\nThese were found on a rainy day.\n");
    write("sigcomm2001/notes.txt", "Später: \u{201e}minimize\u{201c}\n".repeat(20).as_bytes());
    let mut rng = fastrand::Rng::with_seed(1);
    let noise: Vec<u8> = (0..2 * MAX_BYTES).map(|_| rng.u8(..)).collect();
    write("tse2017/noise", &noise);
    write("tse2017/two\nlines", &noise[..7]);
    File::create(dir.path().join("found/tse2017/huge")).unwrap().set_len(1 << 30).unwrap();
    dir
}

/// All paths below a directory.
fn tree(dir: &Path) -> BTreeSet<PathBuf> {
    walkdir::WalkDir::new(dir).into_iter().map(|entry| entry.unwrap().into_path()).collect()
}

#[test]
fn help() {
    let help = triaged(Path::new("."), &["--help"]).code(0).stderr("");
    expect![[r#"
        Puts crash files into buckets, by what they violate and how

        Usage: chord-fuzz triage [OPTIONS] <DIR>...

        Arguments:
          <DIR>...  A directory with crash files, or a crash file

        Options:
              --version <V>  The target, as for `chord-fuzz replay`; without it, each
                             file's is the name of the nearest directory above it
                             that is called like one
              --json         Print JSON instead of a table
              --out <DIR>    Where to write the smallest schedule of each bucket
              --jobs <J>     How many threads; all processors by default
          -h, --help         Print help

        Runs every file below the directories, shrinks those that violate something, and
        puts those into one bucket that have the same signature and shrink to the same
        schedule, up to the names of its nodes and the order of steps that do not depend
        on each other. It prints a table, in columns that are two or more spaces apart:
        the signature, how many files are in the bucket, the number of steps that they
        shrink to, the shape of that schedule, and the first of the files. A line for
        every other file says what it is. Links to directories are not followed.

        It shrinks less than `chord-fuzz shrink`, and the less the more files there are,
        so that a bug may have several buckets. The table does not depend on the number
        of threads.

        With --out it writes the smallest schedule of each bucket, named after target,
        property and shape, as in DIR/ccr2012/ordered-ring-0123abcd. DIR must be
        elsewhere than the files that are read.

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

        Exit status:
          0    whatever is found
          2    bad usage, or a file that cannot be read or whose target is not known;
               the others are told apart all the same
          141  standard output was closed before the end

        Examples:
          chord-fuzz triage fuzz/artifacts
          chord-fuzz triage --version ccr2012 --out /tmp/findings crashes
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn the_table() {
    let dir = campaigns();
    let before = tree(dir.path());
    let assert = triaged(dir.path(), &["found"]).code(0).stderr("");
    expect![[r#"
        signature                         files  steps  shape     first file
        ccr2012/AtMostOneRing                 5      8  cdddc8bb  found/ccr2012/crash-1
        sigcomm2001/AtLeastOneRing            2      4  32351c84  found/sigcomm2001/lost
        sigcomm2001/ConnectedAppendages       1      5  37d2068c  found/sigcomm2001/stranded

        found/README.md              text
        found/ccr2012/empty          empty
        found/ccr2012/passes         ideal
        found/sigcomm2001/notes.txt  text
        found/tse2017/huge           1,073,741,824 bytes, too long for an input
        found/tse2017/noise          ideal
        found/tse2017/two\nlines     ideal
    "#]]
    .assert_eq(stdout(&assert));
    for args in [&["found", "--jobs", "1"][..], &["found", "--jobs", "2"], &["found", "found/ccr2012", "found"]] {
        assert_eq!(stdout(&triaged(dir.path(), args).code(0)), stdout(&assert), "{args:?}");
    }
    assert_eq!(tree(dir.path()), before, "nothing is written");
}

#[test]
fn the_json() {
    let dir = campaigns();
    let assert = triaged(dir.path(), &["--json", "found"]).code(0).stderr("");
    let report: Value = serde_json::from_str(stdout(&assert)).unwrap();
    let first = &report["buckets"][0];
    expect![[r#"
        {
          "files": [
            "found/ccr2012/crash-1",
            "found/ccr2012/crash-2-turned",
            "found/ccr2012/crash-4-reordered",
            "found/ccr2012/crash-5-equal",
            "found/ccr2012/deep/crash-3-longer"
          ],
          "property": "at-most-one-ring",
          "schedule": "circle 4\nring 2\njoin 1 via 0\njoin 3 via 2\nstabilize 1\nstabilize 0\nstabilize 3\nstabilize 2\nfail 1\nfail 3\n",
          "shape": "cdddc8bb379f0ceebd7d1a2f61d9a555a95a239f0eaa0d30cb33c3fd84becd05",
          "signature": "ccr2012/AtMostOneRing",
          "steps": 8,
          "target": "ccr2012"
        }"#]].assert_eq(&format!("{first:#}"));
    let schedule: Schedule = first["schedule"].as_str().unwrap().parse().unwrap();
    assert_eq!(u64::try_from(schedule.steps.len()).unwrap(), first["steps"].as_u64().unwrap());
    expect![[r#"
        {
          "file": "found/README.md",
          "is": "text"
        }"#]]
    .assert_eq(&format!("{:#}", report["others"][0]));
    let files =
        |list: &Value, field: &str| list.as_array().unwrap().iter().map(|x| x[field].clone()).collect::<Vec<_>>();
    let found: usize = files(&report["buckets"], "files").iter().map(|files| files.as_array().unwrap().len()).sum();
    assert_eq!(found + files(&report["others"], "file").len(), 15, "every file is somewhere");
}

#[test]
fn the_smallest_of_each_bucket_is_written_elsewhere() {
    let dir = campaigns();
    let before = tree(dir.path());
    let assert = triaged(dir.path(), &["found", "--out", "kept/here"]).code(0).stderr("");
    let written: Vec<_> = tree(dir.path()).difference(&before).filter(|path| path.is_file()).cloned().collect();
    let names: Vec<_> = written.iter().map(|path| path.strip_prefix(dir.path()).unwrap().to_string_lossy()).collect();
    expect![[r#"
        kept/here/ccr2012/at-most-one-ring-cdddc8bb
        kept/here/sigcomm2001/at-least-one-ring-32351c84
        kept/here/sigcomm2001/connected-appendages-37d2068c"#]]
    .assert_eq(&names.join("\n"));
    for path in &written {
        let target: Target = path.parent().unwrap().file_name().unwrap().to_str().unwrap().parse().unwrap();
        let schedule = Schedule::decode(&fs::read(path).unwrap());
        let outcome = run(target, &schedule, &Options::default(), &mut ());
        let Verdict::Violated(breach) = outcome.verdict else { panic!("{}: {:?}", path.display(), outcome.verdict) };
        assert!(path.file_name().unwrap().to_str().unwrap().starts_with(breach.slug()));
        assert_eq!(outcome.executed, schedule);
    }
    // Its own output is triaged alike, and writing it again changes nothing.
    let shapes = |assert: &Assert| {
        let lines = stdout(assert).lines().skip(1).take_while(|line| !line.is_empty());
        let columns =
            |line: &str| line.split("  ").filter(|cell| !cell.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        lines.map(columns).map(|cells| [cells[0].clone(), cells[3].clone()]).collect::<Vec<_>>()
    };
    assert_eq!(shapes(&triaged(dir.path(), &["kept"]).code(0)), shapes(&assert));
    let after = tree(dir.path());
    triaged(dir.path(), &["found", "--out", "kept/here"]).code(0);
    assert_eq!(tree(dir.path()), after);
}

#[test]
fn it_never_writes_beside_what_it_reads() {
    let dir = campaigns();
    fs::create_dir(dir.path().join("elsewhere")).unwrap();
    let mut refused = vec![
        ["found", "found"],
        ["found", "found/out"],
        ["found", "found/no/such/out"],
        ["found", "./elsewhere/../found/out"],
        ["found", "missing/../found/out"],
        ["found/ccr2012", "found"],
        ["found/ccr2012/crash-1", "found"],
        ["found/ccr2012/crash-1", "found/ccr2012/deep"],
    ];
    if cfg!(unix) {
        #[cfg(unix)]
        std::os::unix::fs::symlink("found", dir.path().join("link")).unwrap();
        refused.extend([["link", "found/out"], ["found", "link/out"], ["link/ccr2012", "found"]]);
    }
    let before = tree(dir.path());
    for [input, out] in refused {
        let assert = triaged(dir.path(), &[input, "--out", out]).code(2).stdout("");
        assert_eq!(stderr(&assert).lines().count(), 1, "{input}, {out}: {}", stderr(&assert));
        assert!(stderr(&assert).starts_with(&format!("error: {out}: ")), "{}", stderr(&assert));
    }
    assert_eq!(tree(dir.path()), before);
    fs::write(dir.path().join("file"), "").unwrap();
    let unwritable = triaged(dir.path(), &["found", "--out", "file/out"]).code(2).stdout("");
    assert_eq!(stderr(&unwritable).lines().count(), 1);
}

#[test]
fn what_cannot_be_told_apart_is_told() {
    let dir = campaigns();
    fs::create_dir(dir.path().join("inbox")).unwrap();
    fs::write(dir.path().join("inbox/crash"), bytes(TWO_RINGS)).unwrap();
    let assert = triaged(dir.path(), &["missing", "inbox", "found/sigcomm2001"]).code(2);
    expect![[r#"
        error: inbox/crash: its directory `inbox` is not called like a target: give --version
        error: missing: No such file or directory (os error 2)
    "#]]
    .assert_eq(stderr(&assert));
    assert_eq!(
        stdout(&assert),
        stdout(&triaged(dir.path(), &["found/sigcomm2001"]).code(0)),
        "the others are told apart"
    );
    let version = triaged(dir.path(), &["--version", "ccr2012", "inbox"]).code(0).stderr("");
    assert!(stdout(&version).contains("\nccr2012/AtMostOneRing "), "{}", stdout(&version));
    for args in [&[][..], &["--jobs", "0", "found"], &["--version", "chord", "found"]] {
        triaged(dir.path(), args).code(2).stdout("");
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("sigcomm2001");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("crash"), bytes(LOST)).unwrap();
    symlink("crash", target.join("link")).unwrap();
    symlink("..", target.join("loop")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(target.join("socket")).unwrap();
    let assert = triaged(dir.path(), &["."]).code(0).stderr("");
    expect![[r#"
        signature                    files  steps  shape     first file
        sigcomm2001/AtLeastOneRing       2      4  32351c84  ./sigcomm2001/crash

        ./sigcomm2001/loop    a link to a directory
        ./sigcomm2001/socket  not a regular file
    "#]]
    .assert_eq(stdout(&assert));

    symlink("nowhere", target.join("nowhere")).unwrap();
    let dangling = triaged(dir.path(), &["sigcomm2001"]).code(2);
    assert_eq!(stderr(&dangling).lines().count(), 1);
    fs::remove_file(target.join("nowhere")).unwrap();

    fs::set_permissions(target.join("crash"), fs::Permissions::from_mode(0o000)).unwrap();
    if File::open(target.join("crash")).is_ok() {
        eprintln!("skipped: root may read everything");
        return;
    }
    let assert = triaged(dir.path(), &["sigcomm2001"]).code(2);
    assert!(stderr(&assert).contains("Permission denied"), "{}", stderr(&assert));
}

#[test]
fn only_some_breaches_count() {
    let dir = campaigns();
    let assert = command(dir.path()).env(ONLY, "connected-appendages").arg("found/sigcomm2001").assert().code(0);
    expect![[r#"
        signature                         files  steps  shape     first file
        sigcomm2001/ConnectedAppendages       1      5  37d2068c  found/sigcomm2001/stranded

        found/sigcomm2001/lost             masked:sigcomm2001/AtLeastOneRing
        found/sigcomm2001/lost-and-higher  masked:sigcomm2001/AtLeastOneRing
        found/sigcomm2001/notes.txt        text
    "#]]
    .assert_eq(stdout(&assert));
    let bad = command(dir.path()).env(ONLY, "ordered-rink").arg("found").assert().code(2).stdout("");
    assert!(stderr(&bad).starts_with("error: CHORD_FUZZ_ONLY: "));
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = campaigns();
    for args in [&["found"][..], &["--json", "found"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.arg("triage").args(args).current_dir(dir.path()).env_remove(ONLY);
        let output = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(output.stderr, b"");
    }
}

/// What is found does not depend on the order of the inputs, nor on how often one is there.
#[test]
fn buckets_are_a_matter_of_the_inputs() {
    let target: Target = "sigcomm2001".parse().unwrap();
    let sweep = Sweep::new(target, Options::default(), 1, Shape { steps: 40, ring: None, delays: None }).unwrap();
    let mut inputs: Vec<_> = (0..300).map(|index| (target, sweep.schedule(index))).collect();
    let first = triage(&inputs, &Only::default(), || ());
    assert!(first.buckets.len() > 2 && first.buckets.len() < 100, "{}", first.buckets.len());
    let count = first.buckets.iter().map(|bucket| bucket.inputs.len()).sum::<usize>();
    assert_eq!(count, first.verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Violated(_))).count());
    for bucket in &first.buckets {
        for &index in &bucket.inputs {
            assert_eq!(first.verdicts[index], Verdict::Violated(bucket.breach));
            let steps = run(target, &inputs[index].1, &Options::default(), &mut ()).executed.steps.len();
            assert!(bucket.smallest.steps.len() <= steps);
        }
    }
    let found = |triage: Triage| -> Vec<_> {
        triage
            .buckets
            .into_iter()
            .map(|bucket| (bucket.breach, bucket.smallest, bucket.shape, bucket.inputs.len()))
            .collect()
    };
    let first = found(first);
    inputs.reverse();
    assert_eq!(found(triage(&inputs, &Only::default(), || ())), first);
    inputs.extend(inputs.clone());
    let twice = found(triage(&inputs, &Only::default(), || ()));
    assert_eq!(twice, first.into_iter().map(|(a, b, c, count)| (a, b, c, 2 * count)).collect::<Vec<_>>());
}
