//! `chord-fuzz experiment` as its users see it: what it writes, and what it does not do twice.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use expect_test::expect;

fn experiment(dir: &Path, args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).arg("experiment").args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

/// Standard error, which is one line.
fn problem(assert: &Assert) -> &str {
    let text = str::from_utf8(&assert.get_output().stderr).unwrap();
    assert!(text.starts_with("error: ") && text.lines().count() == 1, "{text}");
    text
}

fn trial(goal: &str, arm: &str, seed: usize, cap: u64, executions: Option<u64>) -> String {
    let (hit, executions) = (executions.is_some(), executions.unwrap_or(cap));
    format!(
        r#"{{"goal":"{goal}","arm":"{arm}","seed":{seed},"cap":{cap},"hit":{hit},"executions":{executions},"seconds":0.5}}"#
    ) + "\n"
}

/// Three trials of the arm `blind`, which need no fuzz targets.
const BLIND: [&str; 8] = ["--goal", "ccr-two-rings-one", "--arm", "blind", "--trials", "3", "--out", "out"];

#[test]
fn the_report_of_given_trials() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    let mut trials = |goal: &str, arm: &str, executions: &[Option<u64>]| {
        for (executions, seed) in executions.iter().zip(1..) {
            lines += &trial(goal, arm, seed, 10_000, *executions);
        }
    };
    let goal = "ccr-disorder-one";
    trials(goal, "blind", &[Some(100), Some(200), Some(300), Some(400), Some(500)]);
    trials(goal, "code", &[Some(9_000), None, Some(8_000), None, None]);
    trials(goal, "mutator", &[Some(700), Some(650), Some(1_234), None, Some(20)]);
    trials(goal, "both", &[Some(50), Some(60), Some(70), Some(80), Some(90)]);
    // Without arms to compare with.
    trials("tse-disorder-nobase", "both", &[Some(5), None]);
    write!(lines, r#"{{"goal":"ccr-disorder-one","arm":"bo"#).unwrap();
    fs::write(dir.path().join("trials.jsonl"), &lines).unwrap();
    experiment(dir.path(), &["--report-only", "--out", "."]).code(0).stderr("").stdout("./results.md\n");

    expect![[r#"
        # Executions to the first hit

        Each trial starts from an empty corpus. A miss counts as more executions than any hit. Ratio: of the medians, to blind. A12: how likely a trial takes fewer executions than one of code. p: two-sided Mann-Whitney test against code, by normal approximation. Seconds: median of wall time to the hit.

        ## ccr-disorder-one

        ccr2012/OrderedRing; ring 1, no delays; at most 10,000 executions.

        | arm | hits | median | quartiles | ratio | A12 | p | seconds |
        |---|--:|--:|--:|--:|--:|--:|--:|
        | blind | 5/5 | 300 | 167 to 433 | 1.00 | 1.00 | 0.0112 | 0.50 |
        | code | 2/5 | > 10,000 | 8,667 to > 10,000 | - | - | - | - |
        | mutator | 4/5 | 700 | 440 to > 10,000 | 2.33 | 0.86 | 0.0670 | 0.50 |
        | both | 5/5 | 70 | 57 to 83 | 0.23 | 1.00 | 0.0112 | 0.50 |

        ## tse-disorder-nobase

        tse2017-base/OrderedRing; any start, any delays; at most 10,000 executions.

        | arm | hits | median | quartiles | ratio | A12 | p | seconds |
        |---|--:|--:|--:|--:|--:|--:|--:|
        | both | 1/2 | > 10,000 | 5 to > 10,000 | - | - | - | - |
    "#]].assert_eq(&fs::read_to_string(dir.path().join("results.md")).unwrap());
    let json: serde_json::Value = serde_json::from_slice(&fs::read(dir.path().join("results.json")).unwrap()).unwrap();
    assert_eq!(json[0]["arms"][0]["median"], 300.0);
    assert_eq!(json[0]["arms"][1]["median"], serde_json::Value::Null, "above the cap");
    for svg in ["ccr-disorder-one.svg", "tse-disorder-nobase.svg"] {
        let svg = fs::read_to_string(dir.path().join(svg)).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("both") && svg.contains("polyline"), "{svg}");
    }
    let kept = fs::read_to_string(dir.path().join("trials.jsonl")).unwrap();
    assert_eq!(kept, lines, "a report changes no trials");
}

/// The lines, in any order, without what differs from run to run.
fn trials(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("out/trials.jsonl")).unwrap();
    assert!(text.ends_with('\n'));
    let mut lines: Vec<_> = text.lines().map(|line| line[..line.find(r#","seconds""#).unwrap()].to_owned()).collect();
    lines.sort();
    lines
}

#[test]
fn it_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let first = experiment(dir.path(), &BLIND).code(0).stderr("");
    expect![[r#"
        goals: 1; trials to do: 3, 1 at a time; at most 150,000 executions
        out/results.md
    "#]]
    .assert_eq(stdout(&first));
    let all = trials(dir.path());
    assert_eq!(all.len(), 3);

    let again = experiment(dir.path(), &BLIND).code(0).stderr("");
    assert!(stdout(&again).contains("trials to do: 0"), "{}", stdout(&again));
    assert_eq!(trials(dir.path()), all);

    // A torn last line is dropped, and its trial is done again.
    let file = dir.path().join("out/trials.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, &text[..text.len() - 10]).unwrap();
    let torn = experiment(dir.path(), &[&BLIND[..], &["--jobs", "2"]].concat()).code(0).stderr("");
    assert!(stdout(&torn).contains("trials to do: 1, 2 at a time"), "{}", stdout(&torn));
    assert_eq!(trials(dir.path()), all, "the same seed, the same result");
}

#[test]
fn trials_that_do_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    experiment(dir.path(), &BLIND).code(0).stderr("");
    let capped = experiment(dir.path(), &[&BLIND[..], &["--cap", "7"]].concat()).code(2).stdout("");
    expect![[r#"
        error: out/trials.jsonl: its trials of ccr-two-rings-one have a cap of 50000, not 7: give another --cap or --out
    "#]]
    .assert_eq(problem(&capped));

    let file = dir.path().join("out/trials.jsonl");
    fs::write(&file, trial("ccr-disorder-one", "blind", 1, 10, None) + "nonsense\n").unwrap();
    let broken = experiment(dir.path(), &BLIND).code(2).stdout("");
    assert!(problem(&broken).starts_with("error: out/trials.jsonl: line 2: "), "{}", problem(&broken));
    fs::write(&file, trial("no-such-goal", "blind", 1, 10, None)).unwrap();
    let unknown = experiment(dir.path(), &["--report-only", "--out", "out"]).code(2).stdout("");
    assert_eq!(problem(&unknown), "error: no goal is called `no-such-goal`: --list shows those that there are\n");
}

#[test]
fn fuzz_targets_that_are_not_built() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["--goal", "ccr-two-rings-one", "--out", "out", "--fuzz-dir", "nowhere"];
    let assert = experiment(dir.path(), &args).code(2).stdout("");
    let expected = format!(
        "error: {}: not built; run `cargo fuzz build --sanitizer none --no-trace-compares`\n",
        Path::new("nowhere").join(format!("ccr2012{}", std::env::consts::EXE_SUFFIX)).display()
    );
    assert_eq!(problem(&assert), expected);
    assert!(problem(&experiment(dir.path(), &args[..4]).code(2)).contains("fuzz/target/"));
}

/// A fuzz target is handed the goal in its environment, and says in its output what it found.
#[cfg(unix)]
#[test]
fn what_a_fuzz_target_says() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let fake = dir.path().join("tse2017");
    let run = |end: &str, out: &str| {
        let script = format!(
            "#!/bin/sh\necho $CHORD_FUZZ_MUTATOR $CHORD_FUZZ_FEEDBACK $CHORD_FUZZ_SWITCHES $CHORD_FUZZ_ONLY \
             \"$CHORD_FUZZ_RING\" \"$CHORD_FUZZ_DELAYS\" $1 $2 $3 $4 >>'{}'/calls\n{end}\n",
            dir.path().display()
        );
        fs::write(&fake, script).unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
        let goal = ["--goal", "tse-disorder-nobase", "--trials", "1", "--seed-from", "9", "--cap", "100"];
        let arms = ["--arm", "code", "mutator", "both", "--fuzz-dir", ".", "--out", out];
        experiment(dir.path(), &[goal, arms].concat())
    };
    let stat = "echo 'stat::number_of_executed_units: 42' >&2";
    run(&format!("echo 'DEDUP_TOKEN: tse2017-base--OrderedRing' >&2\n{stat}\nexit 77"), "out").code(0).stderr("");
    expect![[r#"
        bytes code -base ordered-ring   -seed=9 -runs=100 -max_len=194 -use_counters=0
        records code -base ordered-ring   -seed=9 -runs=100 -max_len=194 -use_counters=0
        records state -base ordered-ring   -seed=9 -runs=100 -max_len=194 -use_counters=0
    "#]]
    .assert_eq(&fs::read_to_string(dir.path().join("calls")).unwrap());
    expect![[r#"
        {"goal":"tse-disorder-nobase","arm":"both","seed":9,"cap":100,"hit":true,"executions":42
        {"goal":"tse-disorder-nobase","arm":"code","seed":9,"cap":100,"hit":true,"executions":42
        {"goal":"tse-disorder-nobase","arm":"mutator","seed":9,"cap":100,"hit":true,"executions":42"#]]
    .assert_eq(&trials(dir.path()).join("\n"));

    run(stat, "miss").code(0).stderr("");
    let missed = fs::read_to_string(dir.path().join("miss/trials.jsonl")).unwrap();
    assert_eq!(missed.matches(r#""hit":false,"executions":42"#).count(), 3, "{missed}");

    let failed = run("echo 'no such option' >&2\nexit 1", "failed").code(2);
    assert!(problem(&failed).contains("tse-disorder-nobase code 9: no such option"), "{}", problem(&failed));
    let drifted = run(&format!("echo 'DEDUP_TOKEN: tse2017-base--Stalled' >&2\n{stat}\nexit 77"), "drifted").code(2);
    assert!(problem(&drifted).contains("tse2017-base--Stalled instead of"), "{}", problem(&drifted));
}

#[test]
fn bad_usage() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &[][..],
        &["--goal", "all"],
        &["--goal", "all", "--out", "out", "--trials", "0"],
        &["--goal", "all", "--out", "out", "--seed-from", "0"],
        &["--goal", "all", "--out", "out", "--arm", "luck"],
        &["--goal", "all", "--out", "out", "--report-only"],
    ] {
        experiment(dir.path(), args).code(2).stdout("");
    }
    let unknown = experiment(dir.path(), &["--goal", "peace", "--out", "out"]).code(2).stdout("");
    assert_eq!(problem(&unknown), "error: no goal is called `peace`: --list shows those that there are\n");
    let nothing = experiment(dir.path(), &["--report-only", "--out", "out"]).code(2).stdout("");
    expect![[r#"
        error: out/trials.jsonl: there is no trial
    "#]]
    .assert_eq(problem(&nothing));
    assert!(!dir.path().join("out").exists());
}

#[test]
fn the_goals() {
    let dir = tempfile::tempdir().unwrap();
    let list = experiment(dir.path(), &["--list"]).code(0).stderr("");
    expect![[r#"
        ccr-two-rings-one             ccr2012       AtMostOneRing        ring 1, no delays                      50,000
        ccr-disorder-ring3            ccr2012       OrderedRing          ring 3, no delays                      50,000
        ccr-disorder-one              ccr2012       OrderedRing          ring 1, no delays                      50,000
        ccr-disorder-ring5            ccr2012       OrderedRing          ring 5, no delays                      50,000
        ccr-two-rings-delays          ccr2012       AtMostOneRing        ring 1, delays                         50,000
        ccr-disorder-five-one         ccr2012       OrderedRing          ring 1, no delays, 5 on a ring         50,000
        ccr-disorder-ring5-delays     ccr2012       OrderedRing          ring 5, delays                        500,000
        best-two-rings-one            best2012      AtMostOneRing        ring 1, no delays                      50,000
        best-disorder-one             best2012      OrderedRing          ring 1, no delays                      50,000
        claims-ordered-merges         claims        OrderedMerges        ring 1, no delays                      50,000
        claims-ordered-appendages     claims        OrderedAppendages    ring 1, no delays                      50,000
        claims-valid-successor-list   claims        ValidSuccessorList   ring 1, no delays                      50,000
        claims-at-most-one-ring       claims        AtMostOneRing        ring 1, no delays                      50,000
        claims-ordered-ring           claims        OrderedRing          ring 1, no delays                      50,000
        sigcomm-at-least-one-ring     sigcomm2001   AtLeastOneRing       ring 1, no delays                      50,000
        sigcomm-connected-appendages  sigcomm2001   ConnectedAppendages  ring 1, no delays                      50,000
        sigcomm-at-most-one-ring      sigcomm2001   AtMostOneRing        ring 1, no delays                      50,000
        sigcomm-ordered-ring          sigcomm2001   OrderedRing          ring 1, no delays                      50,000
        tse-disorder-nobase           tse2017-base  OrderedRing          any start, any delays                  50,000
    "#]]
    .assert_eq(stdout(&list));
    let help = experiment(dir.path(), &["--help"]).code(0).stderr("");
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "{}", stdout(&help));
}
