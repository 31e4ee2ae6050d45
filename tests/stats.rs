//! `chord-fuzz stats` as its users see it: what it counts, what it refuses, and its exit status.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::finding::report;
use chord_fuzz::finding::story::Story;
use chord_fuzz::judge::{Options, Target};
use chord_fuzz::schedule::{MAX_BYTES, Schedule};
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::reach::{FACTS, features, reached};
use common::bytes;
use expect_test::expect;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Z12: without a liveness check, a stabilization adopts a successor that has failed.
const VIOLATING: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";
const IDEAL: &str = "join 1 via 0\nstabilize 1\n";
const DELAYED: &str = "ring 3\ncircle 6\nstabilize 2 delay 5\nstabilize 0 delay 1 notice 2\n";

fn encoded(text: &str) -> Vec<u8> {
    text.parse::<Schedule>().unwrap().encode()
}

fn stats(dir: &Path, args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).arg("stats").args(args).assert()
}

/// A corpus of two targets, one of them with a directory for each kind of file.
fn corpus() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for directory in ["corpus/sigcomm2001", "corpus/tse2017"] {
        fs::create_dir_all(dir.path().join(directory)).unwrap();
    }
    fs::write(dir.path().join("corpus/sigcomm2001/violating"), encoded(VIOLATING)).unwrap();
    fs::write(dir.path().join("corpus/sigcomm2001/ideal"), encoded(IDEAL)).unwrap();
    // Also in text form.
    fs::write(dir.path().join("corpus/sigcomm2001/again.txt"), IDEAL).unwrap();
    fs::write(dir.path().join("corpus/tse2017/delayed"), encoded(DELAYED)).unwrap();
    dir
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

/// Standard error, which names a problem in each line.
fn stderr(assert: &Assert) -> &str {
    let text = str::from_utf8(&assert.get_output().stderr).unwrap();
    assert!(text.lines().all(|line| line.starts_with("error: ")), "{text}");
    text
}

fn json(assert: &Assert) -> Value {
    serde_json::from_str(stdout(assert)).unwrap()
}

#[test]
fn help() {
    let dir = tempfile::tempdir().unwrap();
    let help = stats(dir.path(), &["--help"]).code(0).stderr("");
    expect![[r#"
        Counts what the inputs in directories reach

        Usage: chord-fuzz stats [OPTIONS] <DIR>...

        Arguments:
          <DIR>...  A directory of inputs

        Options:
              --version <V>  The target, as for `chord-fuzz replay`
              --json         Print JSON instead
          -h, --help         Print help

        Runs every file below the directories, links followed, and prints for each
        target what its inputs come to: verdicts; the members, the identifiers and the
        length of successor lists that they start with; steps and operations as
        executed; how many of those send their requests, and their notification, with
        which delay; and the features of the state abstraction that the networks have,
        which guide the fuzzer.

        Then what should sometimes be so: in how many inputs it is, how often in all,
        and an example: the input of the fewest steps, and of those the first by its
        path. `impossible` is what no run can reach by the rules of the version.

        A file is an input as for `replay`. One that is empty or has more than 64 KiB is
        none, and neither is what is no regular file.

        --json prints one JSON object: `format`, which is 1, and `targets`, an array of
        objects: `target`; `inputs`; by value, how many inputs have these `verdicts`,
        `ring`, `circle`, `list_len` and number of `steps`, and how many steps these
        `operations`, `request_delays` and `notice_delays`; the numbers of `features`;
        and `facts`, an array of objects: `name`, `definition`, `possible`, `inputs`,
        `occurrences`, and `example`, which may be null.

        Facts:
          joins-at-one-contact
              a node asks a contact to admit it while another joiner waits for that
              contact's answer
          join-refused
              a contact refuses to admit a node that does not belong after it
          joiner-asked
              a node that has not been admitted yet is asked, and says that it is no
              member
          join-during-stabilization
              a node becomes a member while another one's stabilization waits for the
              successor's state
          stale-pointer-revived
              a node that has failed becomes a member again while another member still
              points to it
          asked-node-fails
              a node fails that has yet to answer a request
          answer-of-the-dead
              an answer arrives from a node that has failed since it gave it
          notification-of-the-dead
              a notification arrives from a node that has failed since it sent it
          answer-to-an-earlier-life
              an answer arrives at a node that has gone and come back since it asked
          datagram-discarded
              a datagram is lost on its way because its receiver has gone
          overtaking
              a datagram arrives before an earlier one from the same node to the same
              other node
          busy
              a node answers that it is busy, and the asker gives up its step
          answer-withheld
              a node answers a request not as it arrives but when a step of its own is
              done
          idle-stabilization
              a stabilization gets an answer in the same step, in which no pointer
              changes
          candidate-found-dead
              a stabilization asks the node that it would adopt, which is dead
          dead-candidate-adopted
              a node that was not in a member's list becomes its first successor, and is
              dead by then
          appendage
              a member is off every ring, after a time in which none was
          second-successor-needed
              a member's first successor is dead and its second one live, after a time
              in which that was so of none
          two-rings
              there are two rings or more, after a time of at most one
          rings-united
              of two rings or more there comes to be one, without a failure

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

        Exit status:
          0    every file is counted, whatever its verdict
          2    bad usage, or a file that is no input; the others are counted anyway
          141  standard output was closed before the end

        Examples:
          chord-fuzz stats corpus
          chord-fuzz stats --version tse2017 /tmp/campaign
          chord-fuzz stats --json corpus | jq '.targets[].facts[] | select(.inputs==0)'
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
    for fact in &FACTS {
        assert!(stdout(&help).contains(&format!("  {}\n", fact.name)), "{}", fact.name);
    }
}

#[test]
fn a_corpus() {
    let dir = corpus();
    let assert = stats(dir.path(), &["corpus"]).code(0).stderr("");
    expect![[r#"
        sigcomm2001: 3 inputs
          verdicts          ideal: 2, sigcomm2001/AtLeastOneRing: 1
          ring of           1: 3
          circle of         4: 3
          lists of          2: 3
          steps             8; of an input 2 to 4, median 2
          operations        fail: 1, join: 3, stabilize: 4
          request delays    0: 7
          notice delays     0: 4
          features          8 of 1536
          sometimes                  inputs  occurrences  example
          joins-at-one-contact            0            0
          join-refused                    0            0
          joiner-asked                    0            0
          join-during-stabilization       0            0
          stale-pointer-revived           0            0
          asked-node-fails                0            0
          answer-of-the-dead              0            0
          notification-of-the-dead        0            0
          answer-to-an-earlier-life       0            0
          datagram-discarded              0            0
          overtaking                      0            0
          busy                       impossible
          answer-withheld            impossible
          idle-stabilization              0            0
          candidate-found-dead       impossible
          dead-candidate-adopted          1            1  corpus/sigcomm2001/violating
          appendage                       3            4  corpus/sigcomm2001/again.txt
          second-successor-needed         0            0
          two-rings                       0            0
          rings-united                    0            0

        tse2017: 1 input
          verdicts          ideal: 1
          ring of           3: 1
          circle of         6: 1
          lists of          2: 1
          steps             2; of an input 2 to 2, median 2
          operations        stabilize: 2
          request delays    1: 1, 5: 1
          notice delays     0: 1, 2: 1
          features          0 of 1536
          sometimes                  inputs  occurrences  example
          joins-at-one-contact            0            0
          join-refused                    0            0
          joiner-asked                    0            0
          join-during-stabilization       0            0
          stale-pointer-revived           0            0
          asked-node-fails                0            0
          answer-of-the-dead              0            0
          notification-of-the-dead        0            0
          answer-to-an-earlier-life       0            0
          datagram-discarded              0            0
          overtaking                      0            0
          busy                            1            1  corpus/tse2017/delayed
          answer-withheld                 0            0
          idle-stabilization              0            0
          candidate-found-dead            0            0
          dead-candidate-adopted          0            0
          appendage                       0            0
          second-successor-needed         0            0
          two-rings                  impossible
          rings-united               impossible
    "#]]
    .assert_eq(stdout(&assert));
    let columns = stdout(&assert).lines().filter(|line| !line.contains("corpus/"));
    assert!({ columns }.all(|line| line.len() <= 80), "it fits a terminal, but for paths");
}

#[test]
fn a_corpus_as_json() {
    let dir = corpus();
    let mut document = json(&stats(dir.path(), &["--json", "corpus"]).code(0).stderr(""));
    assert_eq!(document["format"], 1);
    let tse = &mut document["targets"][1];
    assert_eq!(tse["facts"].as_array().unwrap().len(), FACTS.len());
    let facts = tse["facts"].take();
    let features = tse["features"].take().as_array().unwrap().len();
    assert!(stdout(&stats(dir.path(), &["corpus/tse2017"])).contains(&format!("  {features} of 1536\n")));
    let expected = json!({
        "target": "tse2017", "inputs": 1, "verdicts": { "ideal": 1 }, "ring": { "3": 1 }, "circle": { "6": 1 },
        "list_len": { "2": 1 }, "steps": { "2": 1 }, "operations": { "stabilize": 2 },
        "request_delays": { "1": 1, "5": 1 }, "notice_delays": { "0": 1, "2": 1 }, "features": null, "facts": null,
    });
    assert_eq!(*tse, expected);
    let fact = |name| facts.as_array().unwrap().iter().find(|fact| fact["name"] == name).unwrap();
    let busy = json!({
        "name": "busy", "definition": "a node answers that it is busy, and the asker gives up its step",
        "possible": true, "inputs": 1, "occurrences": 1, "example": "corpus/tse2017/delayed",
    });
    assert_eq!(fact("busy"), &busy);
    assert_eq!([&fact("two-rings")["possible"], &fact("two-rings")["example"]], [&json!(false), &Value::Null]);
}

/// All that is counted is what the library says of each input by itself.
#[test]
fn counts_are_sums() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("best2012")).unwrap();
    let target: Target = "best2012".parse().unwrap();
    let mut rng = fastrand::Rng::with_seed(41);
    let (mut verdicts, mut operations, mut steps) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut all_features = BTreeSet::new();
    let mut facts = vec![(0, 0, None::<(usize, String)>); FACTS.len()];
    for number in 10..70 {
        let input = bytes(&mut rng, MAX_BYTES);
        let path = format!("best2012/{number}");
        fs::write(dir.path().join(&path), &input).unwrap();
        let story = Story::of(target, &Schedule::decode(&input), &Options::default());
        let executed = &story.outcome.executed.steps;
        *verdicts.entry(report::verdict(target, story.outcome.verdict)).or_insert(0) += 1;
        *steps.entry(executed.len().to_string()).or_insert(0) += 1;
        for step in executed {
            *operations.entry(step.op.name()).or_insert(0) += 1;
        }
        all_features.extend(features(&story));
        for (fact, count) in facts.iter_mut().zip(reached(&story)).filter(|(_, count)| *count > 0) {
            fact.0 += 1;
            fact.1 += count;
            let example = (executed.len(), path.clone());
            fact.2 = Some(fact.2.take().map_or(example.clone(), |first| first.min(example)));
        }
    }
    let document = json(&stats(dir.path(), &["--json", "."]).code(0).stderr(""));
    let reach = &document["targets"][0];
    assert_eq!(reach["inputs"], 60);
    assert_eq!(reach["verdicts"], json!(verdicts));
    assert_eq!(reach["operations"], json!(operations));
    assert_eq!(reach["steps"], json!(steps));
    assert_eq!(reach["features"], json!(all_features));
    for (said, (inputs, occurrences, example)) in reach["facts"].as_array().unwrap().iter().zip(facts) {
        let example = example.map(|(_, path)| format!("./{path}"));
        let expected = (json!(inputs), json!(occurrences), json!(example));
        assert_eq!((&said["inputs"], &said["occurrences"], &said["example"]), (&expected.0, &expected.1, &expected.2));
    }
}

#[test]
fn neither_threads_nor_the_order_of_directories_matter() {
    let dir = corpus();
    let whole = stdout(&stats(dir.path(), &["corpus"]).code(0)).to_owned();
    for args in [
        &["corpus/tse2017", "corpus/sigcomm2001"][..],
        &["corpus/sigcomm2001", "corpus/tse2017"],
        &["corpus/tse2017", "corpus"],
        &["corpus", "corpus"],
        &["corpus/tse2017/delayed", "corpus/sigcomm2001"],
    ] {
        assert_eq!(stdout(&stats(dir.path(), args).code(0).stderr("")), whole, "{args:?}");
    }
    for threads in ["1", "3"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.current_dir(dir.path()).env_remove(ONLY).env("RAYON_NUM_THREADS", threads);
        assert_eq!(stdout(&command.args(["stats", "corpus"]).assert().code(0)), whole);
    }
}

#[test]
fn the_version_goes_before_the_directory() {
    let dir = corpus();
    let assert = stats(dir.path(), &["--version", "ccr2012", "corpus"]).code(0).stderr("");
    assert!(stdout(&assert).starts_with("ccr2012: 4 inputs\n  verdicts          ideal: 4\n"), "{}", stdout(&assert));
    let ablated = stats(dir.path(), &["--version", "ccr2012-adopt", "corpus/sigcomm2001"]).code(0).stderr("");
    assert!(stdout(&ablated).contains("  verdicts          ccr2012-adopt/AtLeastOneRing: 1, ideal: 2\n"));
    let unknown = stats(dir.path(), &["--version", "chord", "corpus"]).code(2).stdout("");
    assert!(String::from_utf8_lossy(&unknown.get_output().stderr).contains("no version is called `chord`"));
    stats(dir.path(), &[]).code(2).stdout("");
}

#[test]
fn only_some_breaches_count() {
    let dir = corpus();
    let pinned = |only: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.current_dir(dir.path()).env(ONLY, only).args(["stats", "corpus/sigcomm2001"]).assert()
    };
    let masked = pinned("ordered-ring").code(0).stderr("");
    assert!(stdout(&masked).contains("ideal: 2, masked:sigcomm2001/AtLeastOneRing: 1\n"), "{}", stdout(&masked));
    let unknown = pinned("ordered-rink").code(2).stdout("");
    assert!(stderr(&unknown).starts_with("error: CHORD_FUZZ_ONLY: "));
}

/// Each kind of file that is no input is told, and the others are counted as if it were not there.
#[cfg(target_os = "linux")]
#[test]
fn what_is_no_input() {
    use std::os::unix::fs::symlink;

    let dir = corpus();
    let counted = stdout(&stats(dir.path(), &["corpus"]).code(0)).to_owned();
    let kept = dir.path().join("corpus/tse2017");
    fs::write(kept.join("empty"), b"").unwrap();
    File::create(kept.join("huge")).unwrap().set_len(1 << 40).unwrap();
    fs::write(kept.join("foreign.txt"), "join 1 via 0\nexplode 1\n").unwrap();
    fs::write(dir.path().join("corpus/README.md"), "What is in here.\n").unwrap();
    fs::write(kept.join("line\nbreak"), b"").unwrap();
    symlink("nowhere", kept.join("dangling")).unwrap();
    symlink("..", kept.join("loop")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(kept.join("pipe")).status().unwrap().success());
    let assert = stats(dir.path(), &["corpus", "missing"]).code(2);
    expect![[r#"
        error: corpus/README.md: its directory `corpus` is not called like a target: give --version
        error: corpus/tse2017/dangling: No such file or directory (os error 2)
        error: corpus/tse2017/empty: empty
        error: corpus/tse2017/foreign.txt: line 2, column 1: there is no operation `explode` (`lose`, `cut` and `mend` need the line `faults`)
        error: corpus/tse2017/huge: more than 65536 bytes
        error: corpus/tse2017/line\nbreak: empty
        error: corpus/tse2017/loop: a link back to corpus
        error: corpus/tse2017/pipe: not a regular file
        error: missing: No such file or directory (os error 2)
    "#]].assert_eq(stderr(&assert));
    assert_eq!(stdout(&assert), counted);
}

#[cfg(unix)]
#[test]
fn links_are_followed() {
    let dir = corpus();
    fs::create_dir(dir.path().join("fuzz")).unwrap();
    std::os::unix::fs::symlink("../corpus", dir.path().join("fuzz/corpus")).unwrap();
    let here = stdout(&stats(dir.path(), &["corpus"]).code(0)).to_owned();
    let there = stats(dir.path(), &["fuzz/corpus"]).code(0).stderr("");
    assert_eq!(stdout(&there).replace("fuzz/corpus", "corpus"), here);
    let below = stats(dir.path(), &["fuzz"]).code(0).stderr("");
    assert_eq!(stdout(&below), stdout(&there));
}

/// As a corpus, noise is as good as anything: only text can be wrong.
#[test]
fn noise_is_an_input() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("claims")).unwrap();
    let mut rng = fastrand::Rng::with_seed(42);
    for len in [1, 2, 3, MAX_BYTES, MAX_BYTES + 1, 4096, 1 << 16] {
        fs::write(dir.path().join(format!("claims/{len}")), bytes(&mut rng, len)).unwrap();
    }
    let assert = stats(dir.path(), &["claims"]).code(0).stderr("");
    assert!(stdout(&assert).starts_with("claims: 7 inputs\n"));
    fs::write(dir.path().join("claims/more"), bytes(&mut rng, (1 << 16) + 1)).unwrap();
    assert_eq!(stderr(&stats(dir.path(), &["claims"]).code(2)), "error: claims/more: more than 65536 bytes\n");
}

#[test]
fn a_corpus_of_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let assert = stats(dir.path(), &["."]).code(2).stdout("");
    assert_eq!(stderr(&assert), "error: there is no file in these directories\n");
    fs::write(dir.path().join("empty"), b"").unwrap();
    let assert = stats(dir.path(), &["."]).code(2).stdout("");
    assert_eq!(stderr(&assert), "error: ./empty: empty\n");
    let assert = stats(dir.path(), &["--json", "."]).code(2);
    assert_eq!(json(&assert), json!({ "format": 1, "targets": [] }));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = corpus();
    for args in [&["stats", "corpus"][..], &["stats", "--json", "corpus"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.args(args).current_dir(dir.path()).env_remove(ONLY);
        let child = command.stdout(common::closed()).stderr(Stdio::piped()).spawn().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(output.stderr, b"");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let dir = corpus();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["stats", "corpus"]).current_dir(dir.path()).env_remove(ONLY);
    let output = command.stdout(full).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: standard output: No space left on device (os error 28)\n"
    );
}
