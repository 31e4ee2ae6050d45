//! `chord-fuzz explain` as its users see it.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]
#![allow(clippy::too_many_lines, reason = "snapshots")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::finding::story::Story;
use chord_fuzz::judge::{Options, Target};
use chord_fuzz::schedule::{MAX_BYTES, Schedule};
use chord_fuzz::search::fuzzing::ONLY;
use expect_test::expect;
use tempfile::TempDir;

/// Z12: without a liveness check, a stabilization adopts a successor that has failed.
const VIOLATING: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";

fn chord_fuzz() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove(ONLY).env("RUST_BACKTRACE", "1");
    command.env_remove("NO_COLOR").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn explain(args: &[&str]) -> Assert {
    chord_fuzz().arg("explain").args(args).assert()
}

/// Explains a text from standard input.
fn explain_text(args: &[&str], text: &str) -> Assert {
    chord_fuzz().arg("explain").args(args).arg("-").write_stdin(text).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

/// A directory with these files, in a directory called after a target.
fn files(target: &str, files: &[(&str, &[u8])]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(target)).unwrap();
    for (name, content) in files {
        fs::write(dir.path().join(target).join(name), content).unwrap();
    }
    dir
}

fn path(dir: &TempDir, file: &str) -> String {
    dir.path().join(file).to_str().unwrap().to_owned()
}

/// The crate as published comes without artifacts.
fn artifact(name: &str) -> Option<Assert> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(name);
    path.exists().then(|| explain(&[path.to_str().unwrap()]).code(0).stderr(""))
}

#[test]
fn help() {
    let help = explain(&["--help"]).code(0).stderr("");
    expect![[r#"
        Tells a run: what each step brings about, and where what breaks

        Usage: chord-fuzz explain [OPTIONS] <FILE>

        Arguments:
          <FILE>  The input, as bytes or as text, or `-` for standard input

        Options:
              --version <V>         The target, as for `chord-fuzz replay`
              --faults              Allow loss and partition, which all sources exclude
              --no-rejoin           Let no node that has failed join again
              --late-detection <N>  Take a node for alive for N steps after its failure
              --strict              Refuse a text of which a run would repair a step
              --json                Print JSON instead
              --color <WHEN>        Colours: auto, always or never [default: auto]
          -h, --help                Print help

        Prints the verdict, the schedule, and then the run: the events of each step,
        numbered from 0 on, with a lane for each node that takes part. A member's lane
        is a line of `|`, that of a node that is still joining one of `:`.

          ? state -> 2      asks 2 for its state; others ask: alive, succ (for the
                            successor's successor), admit (to be admitted)
          2/0/9 -> 1        answers 1 with succ/succ2/prdc; others answer: alive, not a
                            member, refused, busy
          notify -> 2       tells 2 that it might be its predecessor
          <- ? state (12)   what was sent as event 12 arrives; if it does so at once, in
                            the same line, and the next number is left out
          , due +3          the datagram arrives 3 steps later
          dead: 2 (...)     there will be no answer of 2, and why
          unnoticed: 2 (..) likewise, but 2 is taken for alive
          succ 2 -> 0       a pointer changes

        A heading says what a step was given as if it was repaired, and what comes after
        the schedule: everything arrives, and what a stabilization remembers is decided.
        Then the network: its rings, what hangs on them, and all pointers, where `!`
        marks those to dead nodes. At last where it broke, and the assumptions. After a
        step that breaks a property for good, and after all later ones of this run, the
        property does not hold; after one that puts the network beyond repair, and after
        all later ones, fair maintenance, in a model without messages, would not make it
        ideal. The documentation of the library resolves the tags of sources, as in Z12.

        A text has said on standard error how many of its steps are repaired; --strict
        refuses it at the first, and says why.

        FILE is taken for text, as `normalize` prints it, if it is UTF-8 and its first
        word outside of comments is one that begins such a line; otherwise for bytes.

        --json prints all of it as one JSON object, whose fields are documented with the
        library's module `story`.

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`
          NO_COLOR         no colours with `--color auto`

        Exit status:
          0    it is explained, whatever the verdict
          2    bad usage, or a file that cannot be run
          141  standard output was closed before the end

        Examples:
          chord-fuzz explain artifacts/ccr2012/at-most-one-ring
          chord-fuzz disassemble artifacts/ccr2012/at-most-one-ring > rings.txt
          chord-fuzz explain --version best2012 --color always rings.txt | less -R
    "#]]
    .assert_eq(stdout(&help));
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn the_lost_ring() {
    let Some(assert) = artifact("sigcomm2001/at-least-one-ring") else { return };
    expect![[r#"
        sigcomm2001/AtLeastOneRing
        AtLeastOneRing is broken (P02; Z12, OneOrderedRing)

        the 4 steps as executed:
            circle 4
            ring 1
            join 1 via 0
            stabilize 1
            fail 1
            stabilize 0

            0                             1
         0  start
         1  step 1: join 1 via 0
         2  | <- ? admit                  : ? admit -> 0
         4  | 0/-/- -> 1                  : <- 0/-/-
         6  |                             | joins: 0/-/-
         7  step 2: stabilize 1
         8  | <- ? state                  | ? state -> 0
        10  | 0/-/- -> 1                  | <- 0/-/-
        12  | <- notify                   | notify -> 0
        14  | prdc - -> 1                 |
        15  step 3: fail 1
        16  |                               fails
        17  step 4: stabilize 0
        18  | ? state -> 0
        19  | <- ? state (18)
        20  | 0/-/1 -> 0
        21  | <- 0/-/1 (20)
        22  | succ 0 -> 1
        23  | notify -> 1, nobody there

        before step 4:
            ring       0 -> 0
            node   succ   succ2    prdc
               0      0       -       1!

        at the end:
            appendage  0 -> nobody
            node   succ   succ2    prdc
               0      1!      -       1!

        after fair maintenance:
            appendage  0 -> nobody
            node   succ   succ2    prdc
               0      1!      -       -

        where it broke:
            AtLeastOneRing is broken first after step 4
            it is broken for good, in this run, after step 4
            the network is beyond repair by fair maintenance after step 4
            by any order of maintenance it is irreparable: 0 has no live successor, and nobody to ask for one

        assumptions:
            failure assumption held
            no stable base in this version
            perfect failure detection
            every datagram arrives before the next step
    "#]]
    .assert_eq(stdout(&assert));
}

#[test]
fn the_two_rings() {
    let Some(assert) = artifact("ccr2012/at-most-one-ring") else { return };
    expect![[r#"
        ccr2012/AtMostOneRing
        AtMostOneRing is broken (P02; Z12, OneOrderedRing)

        the 13 steps as executed:
            circle 4
            ring 1
            join 1 via 0
            join 2 via 0
            join 3 via 0
            stabilize 2
            stabilize 0
            stabilize 1
            stabilize 3
            reconcile 0
            reconcile 2
            stabilize 0
            stabilize 2
            fail 1
            fail 3

             0                          1                          2                          3
          0  start
          1  step 1: join 1 via 0
          2  | <- ? admit               : ? admit -> 0
          4  | 0/-/- -> 1               : <- 0/-/-
          6  | <- ? alive               : ? alive -> 0
          8  | alive -> 1               : <- alive
         10  |                          | joins: 0/-/-
         11  step 2: join 2 via 0
         12  | <- ? admit               |                          : ? admit -> 0
         14  | 0/-/- -> 2               |                          : <- 0/-/-
         16  | <- ? alive               |                          : ? alive -> 0
         18  | alive -> 2               |                          : <- alive
         20  |                          |                          | joins: 0/-/-
         21  step 3: join 3 via 0
         22  | <- ? admit               |                          |                          : ? admit -> 0
         24  | 0/-/- -> 3               |                          |                          : <- 0/-/-
         26  | <- ? alive               |                          |                          : ? alive -> 0
         28  | alive -> 3               |                          |                          : <- alive
         30  |                          |                          |                          | joins: 0/-/-
         31  step 4: stabilize 2
         32  | <- ? state               |                          | ? state -> 0             |
         34  | 0/-/- -> 2               |                          | <- 0/-/-                 |
         36  | <- notify                |                          | notify -> 0              |
         38  | prdc - -> 2              |                          |                          |
         39  step 5: stabilize 0
         40  | ? state -> 0             |                          |                          |
         41  | <- ? state (40)          |                          |                          |
         42  | 0/-/2 -> 0               |                          |                          |
         43  | <- 0/-/2 (42)            |                          |                          |
         44  | ? alive -> 2             |                          | <- ? alive               |
         46  | <- alive                 |                          | alive -> 0               |
         48  | succ 0 -> 2              |                          |                          |
         49  | notify -> 2              |                          | <- notify                |
         51  |                          |                          | prdc - -> 0              |
         52  step 6: stabilize 1
         53  | <- ? state               | ? state -> 0             |                          |
         55  | 2/-/2 -> 1               | <- 2/-/2                 |                          |
         57  |                          | ? alive -> 2             | <- ? alive               |
         59  |                          | <- alive                 | alive -> 1               |
         61  |                          | succ 0 -> 2              |                          |
         62  |                          | notify -> 2              | <- notify                |
         64  |                          |                          | prdc 0 -> 1              |
             0                          1                          2                          3
         65  step 7: stabilize 3
         66  | <- ? state               |                          |                          | ? state -> 0
         68  | 2/-/2 -> 3               |                          |                          | <- 2/-/2
         70  | <- notify                |                          |                          | notify -> 0
         72  | prdc 2 -> 3              |                          |                          |
         73  step 8: reconcile 0
         74  | ? succ -> 2              |                          | <- ? succ                |
         76  | <- 0/-/1                 |                          | 0/-/1 -> 0               |
         78  | succ2 - -> 0             |                          |                          |
         79  step 9: reconcile 2
         80  | <- ? succ                |                          | ? succ -> 0              |
         82  | 2/0/3 -> 2               |                          | <- 2/0/3                 |
         84  |                          |                          | succ2 - -> 2             |
         85  step 10: stabilize 0
         86  | ? state -> 2             |                          | <- ? state               |
         88  | <- 0/2/1                 |                          | 0/2/1 -> 0               |
         90  | ? alive -> 1             | <- ? alive               |                          |
         92  | <- alive                 | alive -> 0               |                          |
         94  | succ 2 -> 1              |                          |                          |
         95  | notify -> 1              | <- notify                |                          |
         97  |                          | prdc - -> 0              |                          |
         98  step 11: stabilize 2
         99  | <- ? state               |                          | ? state -> 0             |
        101  | 1/0/3 -> 2               |                          | <- 1/0/3                 |
        103  |                          |                          | ? alive -> 3             | <- ? alive
        105  |                          |                          | <- alive                 | alive -> 2
        107  |                          |                          | succ 0 -> 3              |
        108  |                          |                          | notify -> 3              | <- notify
        110  |                          |                          |                          | prdc - -> 2
        111  step 12: fail 1
        112  |                            fails                    |                          |
        113  step 13: fail 3
        114  |                                                     |                            fails

        before step 13:
            ring       0 -> 0
            appendage  2 -> 3 -> 0
            node   succ   succ2    prdc
               0      1!      0       3
               2      3       2       1!
               3      0       -       2

        at the end:
            ring       0 -> 0
            ring       2 -> 2
            node   succ   succ2    prdc
               0      1!      0       3!
               2      3!      2       1!

        after fair maintenance:
            ring       0 -> 0
            ring       2 -> 2
            node   succ   succ2    prdc
               0      0       0       0
               2      2       2       2

        where it broke:
            AtMostOneRing is broken first after step 13
            it is broken for good, in this run, after step 13
            the network is beyond repair by fair maintenance after step 13
            by any order of maintenance it is irreparable: no pointer leads from 0 to the other members, or back

        assumptions:
            failure assumption held
            no stable base in this version
            perfect failure detection
            every datagram arrives before the next step
    "#]]
    .assert_eq(stdout(&assert));
}

/// Answers that overtake each other, steps that are repaired, a node that fails with something on its way to it, and
/// what is left for the end.
#[test]
fn delays_and_repaired_steps() {
    let text = "circle 8\nring 3\nflush 5\njoin 3 via 2 delay 2\nstabilize 2 delay 5 notice 2\nfail 4\nadopt 2\n\
                join 5 via 2 delay 1\nfail 0\n";
    let assert = explain_text(&["--version", "best2012"], text).code(0);
    assert_eq!(stderr(&assert), "-: repaired 4 of 7 steps; --strict says why\n");
    expect![[r#"
        ideal
        fair maintenance leads to an ideal network

        the 7 steps as executed:
            circle 8
            ring 3
            join 5 via 4
            join 3 via 2 delay 2
            stabilize 2 delay 5 notice 2
            fail 4
            reconcile 5
            join 6 via 5 delay 1
            fail 5

            0                 2                 3                 4                 5                 6
         0  start
         1  step 1: join 5 via 4 (given: flush 5)
         2  |                 |                                   | <- ? admit      : ? admit -> 4
         4  |                 |                                   | 0/2/2 -> 5      : <- 0/2/2
         6  | <- ? state      |                                   |                 : ? state -> 0
         8  | 2/4/4 -> 5      |                                   |                 : <- 2/4/4
        10  |                 |                                   |                 | joins: 0/2/-
        11  step 2: join 3 via 2 delay 2
        12  |                 |                 : ? admit -> 2,   |                 |
            |                 |                 : due +2          |                 |
        13  step 3: stabilize 2 delay 5 notice 2
        14  |                 | ? state -> 4,   :                 |                 |
            |                 | due +5          :                 |                 |
        15  step 4: fail 4
        16  |                 |                 :                   fails           |
        17  |                 |                 :                   lost: ? state   |
            |                 |                 :                   (14)            |
        18  |                 | <- ? admit (12) :                                   |
        19  |                 | 4/0/0 -> 3, due :                                   |
            |                 | +2              :                                   |
        20  step 5: reconcile 5 (given: adopt 2)
        21  | <- ? succ       |                 :                                   | ? succ -> 0
        23  | 2/4/4 -> 5      |                 :                                   | <- 2/4/4
        25  step 6: join 6 via 5 delay 1 (given: join 5 via 2 delay 1)
        26  |                 |                 :                                   |                 : ? admit -> 5,
            |                 |                 :                                   |                 : due +1
        27  |                 |                 : <- 4/0/0 (19)                     |                 :
        28  |                 |                 : ? state -> 4,                     |                 :
            |                 |                 : nobody there                      |                 :
        29  step 7: fail 5 (given: fail 0)
        30  |                 |                 :                                     fails           :
        31  |                 |                 :                                     lost: ? admit   :
            |                 |                 :                                     (26)            :
        32  step 8, after the schedule: everything arrives
        33  |                 |                 : dead: 4 (no                                         :
            |                 |                 : such address)                                       :
        34  |                 |                   goes away                                           :
        35  |                 |                                                                       : dead: 5 (failed
            |                 |                                                                       : before it
            |                 |                                                                       : answered)
        36  |                 |                                                                         goes away
        37  |                 | dead: 4 (failed
            |                 | before it
            |                 | answered)

        at the start:
            ring       0 -> 2 -> 4 -> 0
            node   succ   succ2    prdc
               0      2       4       4
               2      4       0       0
               4      0       2       2

        at the end:
            ring       0 -> 2 -> 0
            node   succ   succ2    prdc
               0      2       4!      4!
               2      4!      0       0

        after fair maintenance:
            ring       0 -> 2 -> 0
            node   succ   succ2    prdc
               0      2       0       2
               2      0       2       0

        assumptions:
            failure assumption held
            no stable base in this version
            perfect failure detection
            datagrams delayed
    "#]]
    .assert_eq(stdout(&assert));
}

/// Why a node is taken for dead: the request or the answer is lost by a fault, or there is nobody.
#[test]
fn faults() {
    let text = "ring 2\nfaults\njoin 1 via 0\nlose 1\nstabilize 1\nlose 2\nstabilize 1\nfail 2\nflush 0\ncut 1\n\
                stabilize 0\nmend 1\n";
    let assert = explain_text(&["--version", "ccr2012", "--faults"], text).code(0);
    assert_eq!(stderr(&assert), "-: repaired 3 of 10 steps; --strict says why\n");
    expect![[r#"
        outside the assumptions
        fair maintenance leads to an ideal network

        the 10 steps as executed:
            circle 4
            ring 2
            faults
            join 1 via 0
            lose 1
            stabilize 1
            lose 2
            stabilize 1
            fail 0
            flush 2
            cut 1
            stabilize 1
            mend 1

            0                             1                             2
         0  start
         1  step 1: join 1 via 0
         2  | <- ? admit                  : ? admit -> 0                |
         4  | 2/0/2 -> 1                  : <- 2/0/2                    |
         6  |                             : ? alive -> 2                | <- ? alive
         8  |                             : <- alive                    | alive -> 1
        10  |                             | joins: 2/-/-                |
        11  step 2: lose 1
        12  step 3: stabilize 1
        13  |                             | ? state -> 2, lost          |
        14  |                             | dead: 2 (the request was    |
            |                             | lost)                       |
        15  step 4: lose 2
        16  step 5: stabilize 1
        17  |                             | ? state -> 2                | <- ? state
        19  |                             |                             | 0/2/0 -> 1, lost
        20  |                             | dead: 2 (the answer was     |
            |                             | lost)                       |
        21  step 6: fail 0 (given: fail 2)
        22    fails                       |                             |
        23  step 7: flush 2 (given: flush 0)
        24                                |                             | ? alive -> 0, nobody there
        25                                |                             | dead: 0 (no such address)
        26                                |                             | prdc 0 -> -
        27  step 8: cut 1
        28  step 9: stabilize 1 (given: stabilize 0)
        29                                | ? state -> 2, lost          |
        30                                | dead: 2 (the request was    |
                                          | lost)                       |
        31  step 10: mend 1

        at the start:
            ring       0 -> 2 -> 0
            node   succ   succ2    prdc
               0      2       0       2
               2      0       2       0

        at the end:
            ring       2 -> 2
            appendage  1 -> 2
            node   succ   succ2    prdc
               1      2       -       -
               2      0!      2       -

        after fair maintenance:
            ring       1 -> 2 -> 1
            node   succ   succ2    prdc
               1      2       1       2
               2      1       2       1

        assumptions:
            failure assumption held
            no stable base in this version
            DATAGRAMS LOST, so that failure detection errs
            every datagram arrives before the next step
    "#]]
    .assert_eq(stdout(&assert));
    let without = explain_text(&["--version", "ccr2012"], text).code(0);
    assert_eq!(stderr(&without), "-: repaired 7 of 10 steps; --strict says why\n");
    assert!(!stdout(&without).contains("lost"), "{}", stdout(&without));
}

#[test]
fn json() {
    let assert = explain_text(&["--version", "ccr2012", "--json"], "fail 0\n").code(0);
    assert_eq!(stderr(&assert), "-: repaired 1 of 1 steps; --strict says why\n");
    let schedule = "fail 0\n".parse().unwrap();
    let story = Story::of("ccr2012".parse().unwrap(), &schedule, &Options::default());
    assert_eq!(stdout(&assert), serde_json::to_string(&story).unwrap() + "\n");
    expect![[r##"
        {
          "format": 1,
          "target": "ccr2012",
          "verdict": {
            "kind": "ideal",
            "signature": null
          },
          "broken": null,
          "irreparable": null,
          "assumptions": {
            "failures": true,
            "base": null,
            "reliable": true,
            "prompt": true,
            "immediate": true,
            "rejoin": true,
            "late": 0,
            "text": "failure assumption held; no stable base in this version; perfect failure detection; every datagram arrives before the next step"
          },
          "setup": {
            "ring": 1,
            "circle": 4,
            "list_len": 2,
            "faults": false
          },
          "given": "circle 4\nring 1\nfail 0\n",
          "executed": "circle 4\nring 1\nstabilize 0\n",
          "steps": [
            {
              "given": null,
              "executed": null,
              "after_schedule": false,
              "events": [
                0,
                1
              ]
            },
            {
              "given": {
                "text": "fail 0",
                "op": "fail",
                "node": 0,
                "via": null,
                "delay": 0,
                "notice": 0
              },
              "executed": {
                "text": "stabilize 0",
                "op": "stabilize",
                "node": 0,
                "via": null,
                "delay": 0,
                "notice": 0
              },
              "after_schedule": false,
              "events": [
                1,
                9
              ]
            }
          ],
          "events": [
            {
              "index": 0,
              "step": 0,
              "time": 0,
              "network": 0,
              "kind": "begin"
            },
            {
              "index": 1,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "begin"
            },
            {
              "index": 2,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "sent",
              "from": 0,
              "to": 0,
              "message": {
                "text": "#1 what is your state?",
                "type": "request",
                "ask": "state"
              },
              "due": 0,
              "fate": "due",
              "answers": null
            },
            {
              "index": 3,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "delivered",
              "datagram": 2
            },
            {
              "index": 4,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "sent",
              "from": 0,
              "to": 0,
              "message": {
                "text": "#1 successors [0], predecessor -",
                "type": "answer",
                "answer": "state",
                "list": [
                  0
                ],
                "prdc": null
              },
              "due": 0,
              "fate": "due",
              "answers": 2
            },
            {
              "index": 5,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "delivered",
              "datagram": 4
            },
            {
              "index": 6,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "sent",
              "from": 0,
              "to": 0,
              "message": {
                "text": "notify",
                "type": "notify"
              },
              "due": 0,
              "fate": "due",
              "answers": null
            },
            {
              "index": 7,
              "step": 1,
              "time": 0,
              "network": 0,
              "kind": "delivered",
              "datagram": 6
            },
            {
              "index": 8,
              "step": 1,
              "time": 0,
              "network": 1,
              "kind": "changed",
              "node": 0,
              "was": {
                "list": [
                  0
                ],
                "prdc": null,
                "saved": null
              },
              "now": {
                "list": [
                  0
                ],
                "prdc": 0,
                "saved": null
              }
            }
          ],
          "networks": [
            {
              "nodes": [
                {
                  "node": 0,
                  "list": [
                    0
                  ],
                  "prdc": null,
                  "saved": null,
                  "best": 0
                }
              ],
              "rings": [
                [
                  0
                ]
              ],
              "broken": [],
              "heals": true
            },
            {
              "nodes": [
                {
                  "node": 0,
                  "list": [
                    0
                  ],
                  "prdc": 0,
                  "saved": null,
                  "best": 0
                }
              ],
              "rings": [
                [
                  0
                ]
              ],
              "broken": [],
              "heals": true
            }
          ],
          "network": {
            "nodes": [
              {
                "node": 0,
                "list": [
                  0
                ],
                "prdc": 0,
                "saved": null,
                "best": 0
              }
            ],
            "rings": [
              [
                0
              ]
            ],
            "broken": [],
            "heals": true
          },
          "settled": {
            "nodes": [
              {
                "node": 0,
                "list": [
                  0,
                  0
                ],
                "prdc": 0,
                "saved": null,
                "best": 0
              }
            ],
            "rings": [
              [
                0
              ]
            ],
            "broken": [],
            "heals": true
          },
          "proof": null
        }"##]].assert_eq(&serde_json::to_string_pretty(&story).unwrap());
}

/// What some order of maintenance heals is no violation. It is explained like one.
#[test]
fn a_repairable_run() {
    let text = "join 1 via 0\njoin 3 via 0\nstabilize 3\nstabilize 1\nfail 1\njoin 1 via 0\nstabilize 0\n\
                join 2 via 0\nreconcile 3\nstabilize 0\nreconcile 1\nfail 0\n";
    let explained = explain_text(&["--version", "ccr2012"], text).code(0);
    let lines: Vec<_> = stdout(&explained).lines().collect();
    assert_eq!(lines[0], "repairable:ccr2012/AtMostOneRing");
    assert!(lines.contains(&"    by any order of maintenance it is repairable: 10 steps"), "{lines:#?}");
    let replay = chord_fuzz().args(["replay", "--version", "ccr2012", "-"]).write_stdin(text).assert();
    assert!(stdout(&replay.code(0)).contains("  repairable:ccr2012/AtMostOneRing  "));
}

/// The masked, the ideal and the violating: it is explained, whatever comes of it.
#[test]
fn the_verdict_is_no_matter_of_the_exit_status() {
    let version = ["--version", "sigcomm2001"];
    let first = |assert: &Assert| stdout(assert).lines().next().unwrap().to_owned();
    assert_eq!(first(&explain_text(&version, VIOLATING).code(0)), "sigcomm2001/AtLeastOneRing");
    assert_eq!(first(&explain_text(&version, "join 1 via 0").code(0)), "ideal");
    let masked = chord_fuzz()
        .args(["explain", "--version", "sigcomm2001", "-"])
        .env(ONLY, "ordered-ring")
        .write_stdin(VIOLATING)
        .assert();
    assert_eq!(first(&masked.code(0)), "masked:sigcomm2001/AtLeastOneRing");
    let bad =
        chord_fuzz().args(["explain", "--version", "sigcomm2001", "-"]).env(ONLY, "?").write_stdin(VIOLATING).assert();
    assert!(stderr(&bad.code(2).stdout("")).starts_with("error: CHORD_FUZZ_ONLY: "));
}

#[test]
fn bytes_and_text_of_a_schedule_are_explained_alike() {
    let bytes = VIOLATING.parse::<Schedule>().unwrap().encode();
    let crlf = format!("# a comment\r\n{}", VIOLATING.replace('\n', "\r\n"));
    let dir = files("sigcomm2001", &[("bytes", &bytes), ("text", VIOLATING.as_bytes()), ("crlf", crlf.as_bytes())]);
    let [a, b, c] =
        ["bytes", "text", "crlf"].map(|file| explain(&[&path(&dir, &format!("sigcomm2001/{file}"))]).code(0));
    assert_eq!(stdout(&a), stdout(&b));
    assert_eq!(stdout(&a), stdout(&c));
    // The others too.
    let replay =
        chord_fuzz().args(["replay", &path(&dir, "sigcomm2001/bytes"), &path(&dir, "sigcomm2001/text")]).assert();
    let ends: Vec<_> = stdout(&replay).lines().map(|line| line.split_once("  ").unwrap().1.trim_start()).collect();
    assert_eq!(ends[0], ends[1]);
    let out = path(&dir, "out");
    chord_fuzz().args(["normalize", &path(&dir, "sigcomm2001/text"), &out]).assert().code(0);
    assert_eq!(fs::read(out).unwrap(), bytes);
}

#[test]
fn a_text_that_does_not_parse_says_where() {
    let dir = files("ccr2012", &[("draft", b"ring 3\n\nstabilize 0 dealy 3 # soon\n")]);
    let draft = path(&dir, "ccr2012/draft");
    let excerpt = explain(&[&draft]).code(2).stdout("");
    expect![[r#"
        error: draft: line 3, column 13: `dealy` says nothing about `stabilize`
          |
        3 | stabilize 0 dealy 3 # soon
          |             ^^^^^
    "#]]
    .assert_eq(&stderr(&excerpt).replace(&draft, "draft"));
    let replay = chord_fuzz().args(["replay", &draft]).assert().code(2).stdout("");
    assert_eq!(stderr(&replay), stderr(&excerpt), "replay shows the line too");
    let out = path(&dir, "out");
    let normalize = chord_fuzz().args(["normalize", &draft, &out]).assert().code(2).stdout("");
    assert_eq!(stderr(&normalize), stderr(&excerpt));
    assert!(!Path::new(&out).exists());
}

#[test]
fn problems() {
    let dir = files("ccr2012", &[("input", b"")]);
    fs::create_dir(dir.path().join("inbox")).unwrap();
    fs::write(dir.path().join("inbox/found"), VIOLATING).unwrap();
    let long = format!("ring 2 # {}ö", "x".repeat((1 << 16) - 9));
    fs::write(dir.path().join("ccr2012/long"), long).unwrap();
    let mut told = String::new();
    for file in ["ccr2012/missing", "ccr2012", "inbox/found", "ccr2012/long"] {
        let assert = explain(&[&path(&dir, file)]).code(2).stdout("");
        told += &stderr(&assert).replace(dir.path().to_str().unwrap(), "");
    }
    told += stderr(&explain_text(&[], VIOLATING).code(2).stdout(""));
    #[cfg(target_os = "linux")]
    expect![[r#"
        error: /ccr2012/missing: No such file or directory (os error 2)
        error: /ccr2012: Is a directory (os error 21)
        error: /inbox/found: its directory `inbox` is not called like a target: give --version
        error: /ccr2012/long: a text of more than 65536 bytes
        error: -: standard input is in no directory: give --version
    "#]]
    .assert_eq(&told);
    explain(&[]).code(2).stdout("");
    explain(&["--color", "sometimes", &path(&dir, "ccr2012/input")]).code(2).stdout("");
    explain(&["--version", "chord", &path(&dir, "ccr2012/input")]).code(2).stdout("");
}

/// Whatever bytes come, with the page no wider than its lanes need.
#[test]
fn every_file_is_explained() {
    let dir = tempfile::tempdir().unwrap();
    let noise = common::bytes(&mut fastrand::Rng::with_seed(8), 1 << 20);
    // All the delays, joins and members that there can be.
    let crowd = [&[0x1d, 0x0c][..], &noise[..MAX_BYTES]].concat();
    for (name, content) in [("empty", &b""[..]), ("newline", b"\n"), ("noise", &noise), ("crowd", &crowd)] {
        let file = dir.path().join(name);
        fs::write(&file, content).unwrap();
        for target in Target::all() {
            for args in [&["--faults", "--color", "never"][..], &["--json"]] {
                let assert = chord_fuzz()
                    .args(["explain", "--version", &target.to_string()])
                    .args(args)
                    .arg(&file)
                    .assert()
                    .code(0)
                    .stderr("");
                if args == ["--json"] {
                    let json: serde_json::Value = serde_json::from_str(stdout(&assert)).unwrap();
                    assert_eq!(json["format"], 1);
                } else {
                    let text = stdout(&assert);
                    assert!(text.lines().all(|line| line.len() <= 220 && line == line.trim_end()), "{text}");
                    assert!(text.is_ascii());
                }
            }
        }
    }
}

#[test]
fn pages_of_six_nodes_fit_a_screen() {
    let mut rng = fastrand::Rng::with_seed(9);
    for _ in 0..20 {
        // A circle of 6, and delays.
        let bytes = [&[0x08, 0x02][..], &common::bytes(&mut rng, 120)].concat();
        let mut command = chord_fuzz();
        let assert = command.args(["explain", "--version", "ccr2012", "-"]).write_stdin(bytes).assert().code(0);
        let widest = stdout(&assert).lines().max_by_key(|line| line.len()).unwrap();
        assert!(widest.len() <= 120, "{widest}");
    }
}

#[cfg(unix)]
#[test]
fn a_huge_file_is_read_no_further_than_it_counts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("huge");
    fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
    for file in [file.to_str().unwrap(), "/dev/zero"] {
        let assert = explain(&["--version", "ccr2012", file]).code(0).stderr("");
        assert!(stdout(&assert).starts_with("ideal\n"));
    }
}

#[test]
fn colours_are_for_who_wants_them() {
    let text =
        |args: &[&str]| stdout(&explain_text(&[&["--version", "sigcomm2001"], args].concat(), VIOLATING)).to_owned();
    let plain = text(&[]);
    assert!(!plain.contains('\u{1b}'), "standard output is no terminal");
    assert_eq!(text(&["--color", "never"]), plain);
    assert_eq!(text(&["--color", "auto"]), plain);
    let coloured = text(&["--color", "always"]);
    assert!(coloured.contains("\u{1b}[31mfails\u{1b}[0m"), "{coloured}");
    assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain, "nothing else changes");
    let env = |key, value| {
        let mut command = chord_fuzz();
        command.args(["explain", "--version", "sigcomm2001", "-"]).env(key, value).write_stdin(VIOLATING);
        stdout(&command.assert().code(0)).to_owned()
    };
    assert_eq!(env("CLICOLOR_FORCE", "1"), coloured);
    assert_eq!(env("NO_COLOR", "1"), plain);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    for args in [&["--json"][..], &[]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.args(["explain", "--version", "ccr2012"]).args(args).arg("-").env_remove(ONLY);
        let output = command.stdin(Stdio::null()).stdout(common::closed()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(output.stderr, b"");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["explain", "--version", "ccr2012", "-"]).env_remove(ONLY);
    let output = command.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: standard output: No space left on device (os error 28)\n"
    );
}
