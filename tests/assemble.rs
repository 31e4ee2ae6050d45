//! `chord-fuzz assemble` and `chord-fuzz disassemble` as their users see them.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::schedule::{MAX_BYTES, Schedule};
use expect_test::expect;

const TEXT: &str = "circle 8\nring 3\njoin 1 via 0\nstabilize 1 delay 2 notice 5\nfail 1\n";

fn chord_fuzz(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).args(args).env("RUST_BACKTRACE", "1");
    command
}

fn run(dir: &Path, args: &[&str]) -> Assert {
    chord_fuzz(dir, args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

/// The names of all that is in a directory.
fn entries(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    entries
}

#[test]
fn help() {
    let dir = tempfile::tempdir().unwrap();
    let [assemble, disassemble] =
        ["assemble", "disassemble"].map(|command| run(dir.path(), &[command, "--help"]).code(0));
    expect![[r#"
        Makes an input of a schedule in text form

        Usage: chord-fuzz assemble [OPTIONS] <IN> <OUT>

        Arguments:
          <IN>   The text, at most 64 KiB, or `-` for standard input
          <OUT>  Where to write the bytes, or `-` for standard output

        Options:
              --version <V>  The target, as for `chord-fuzz replay`
              --strict       Refuse a text of which a run would repair a step
          -h, --help         Print help

        OUT gets the canonical bytes of the schedule. It is replaced as a whole or not
        at all. A line that does not parse is shown, with what is wrong in it.

        The text form, as `disassemble` and `normalize` print it:
          circle 8                        4 to 16 identifiers; if left out, 4
          ring 3                          1 to 6 members to start with; if left out, 1
          lists 3                         longer successor lists, for tse2017 only
          faults                          permits lose, cut and mend
          join 1 via 0 delay 2            delays in steps: 0 1 2 3 5 8 13 21
          stabilize 1 delay 2 notice 5    notice: the delay of the notification
          adopt 1, reconcile 1, update 1, flush 1, fail 1, lose 1, cut 1, mend 1
        Each on a line of its own, and the header first; `#` starts a comment. What a
        run cannot do, it repairs. A line on standard error says how many steps, if it
        is known of which target this is an input: by --version, or by the name of a
        directory above OUT or IN. --strict refuses the text at the first such step.

        Exit status:
          0    OUT is written
          2    it is not
          141  standard output was closed before the end

        Example:
          chord-fuzz assemble two-rings.txt corpus/ccr2012/two-rings
    "#]]
    .assert_eq(stdout(&assemble));
    expect![[r#"
        Writes an input as text: the steps as given

        Usage: chord-fuzz disassemble <IN> [OUT]

        Arguments:
          <IN>   The input, or `-` for standard input
          [OUT]  Where to write the text, or `-` for standard output

        Options:
          -h, --help  Print help

        Writes the schedule exactly as it is given. What a run executes may be other
        steps, depending on the version: that is for `normalize` and `explain` to say.
        Every file is an input, whatever is in it; only its first 194 bytes count.
        `assemble` makes of the text the canonical bytes of the same schedule.

        Exit status:
          0    OUT is written
          2    it is not
          141  standard output was closed before the end

        Example:
          chord-fuzz disassemble artifacts/ccr2012/at-most-one-ring two-rings.txt
    "#]]
    .assert_eq(stdout(&disassemble));
    for help in [&assemble, &disassemble] {
        assert!(stdout(help).lines().all(|line| line.len() <= 80), "it fits a terminal");
    }
}

/// The text form in the help is the text form.
#[test]
fn the_help_of_assemble_assembles() {
    let dir = tempfile::tempdir().unwrap();
    let help = run(dir.path(), &["assemble", "--help"]);
    let lines = stdout(&help).lines().skip_while(|line| !line.starts_with("The text form")).skip(1);
    let lines: Vec<_> = lines.map_while(|line| line.strip_prefix("  ")).collect();
    let text: String = lines
        .iter()
        .flat_map(|line| line.split("   ").next().unwrap().split(", "))
        .flat_map(|step| [step, "\n"])
        .collect();
    assert_eq!(text.parse::<Schedule>().unwrap().to_string(), text);
}

#[test]
fn there_and_back() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), format!("# öffnet\n{TEXT}")).unwrap();
    run(dir.path(), &["assemble", "text", "bytes"]).code(0).stdout("").stderr("");
    let bytes = TEXT.parse::<Schedule>().unwrap().encode();
    assert_eq!(fs::read(dir.path().join("bytes")).unwrap(), bytes);
    run(dir.path(), &["disassemble", "bytes"]).code(0).stdout(TEXT).stderr("");
    run(dir.path(), &["disassemble", "bytes", "-"]).code(0).stdout(TEXT).stderr("");
    run(dir.path(), &["disassemble", "bytes", "again"]).code(0).stdout("").stderr("");
    assert_eq!(fs::read_to_string(dir.path().join("again")).unwrap(), TEXT);
    chord_fuzz(dir.path(), &["assemble", "-", "-"]).write_stdin(TEXT).assert().code(0).stdout(bytes.clone()).stderr("");
    chord_fuzz(dir.path(), &["disassemble", "-"]).write_stdin(bytes).assert().code(0).stdout(TEXT).stderr("");
    // In place.
    run(dir.path(), &["assemble", "text", "text"]).code(0);
    assert_eq!(fs::read(dir.path().join("text")).unwrap(), fs::read(dir.path().join("bytes")).unwrap());
    assert_eq!(entries(dir.path()), ["again", "bytes", "text"], "nothing is left behind");
}

/// Also of what no version would execute: nodes beyond the circle, and circles too small for the ring.
#[test]
fn what_is_disassembled_assembles_to_the_canonical_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(3);
    let mut inputs = vec![vec![], b"\n".to_vec(), vec![0xff; 4096], b"ring".to_vec(), b"fail 1\n".to_vec()];
    inputs.extend((0..20).map(|_| common::bytes(&mut rng, MAX_BYTES)));
    for input in inputs {
        fs::write(dir.path().join("input"), &input).unwrap();
        let text = run(dir.path(), &["disassemble", "input"]).code(0).stderr("").get_output().stdout.clone();
        let assert = chord_fuzz(dir.path(), &["assemble", "-", "-"]).write_stdin(text).assert().code(0).stderr("");
        assert_eq!(assert.get_output().stdout, Schedule::decode(&input).encode(), "{input:02x?}");
    }
}

/// It says what is given, not what would be executed.
#[test]
fn no_step_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("input"), [0x02, 0x00, 0xf6, 0x00, 0x50, 0xf0]).unwrap();
    let assert = run(dir.path(), &["disassemble", "input"]).code(0).stderr("");
    expect![[r#"
        circle 4
        ring 3
        fail 15
        join 5 via 15
    "#]]
    .assert_eq(stdout(&assert));
}

#[test]
fn a_bad_text_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut told = String::new();
    for text in [
        "circle 8\n\nstabilise 1 # soon\n",
        "ring 3\nfail",
        "\tfail 1\tnow\r\nfail 2\r\n",
        "ring 3\nfail 3 \u{1b}[31m",
        "öffne 1",
        "# 日本 nothing else\nring +2",
    ] {
        fs::write(dir.path().join("text"), text).unwrap();
        let assert = run(dir.path(), &["assemble", "text", "out"]).code(2).stdout("");
        assert!(stderr(&assert).starts_with("error: text: line "), "{}", stderr(&assert));
        assert!(!stderr(&assert).contains('\u{1b}'));
        told += stderr(&assert);
    }
    expect![[r#"
        error: text: line 3, column 1: there is no operation `stabilise` (`lose`, `cut` and `mend` need the line `faults`)
          |
        3 | stabilise 1 # soon
          | ^^^^^^^^^
        error: text: line 2, column 5: the node is missing: a number from 0 to 15
          |
        2 | fail
          |     ^
        error: text: line 1, column 9: `now` says nothing about `fail`
          |
        1 |     fail 1    now
          |               ^^^
        error: text: line 2, column 8: `\u{1b}[31m` says nothing about `fail`
          |
        2 | fail 3 ␛[31m
          |        ^^^^^
        error: text: line 1, column 1: there is no operation `öffne` (`lose`, `cut` and `mend` need the line `faults`)
          |
        1 | öffne 1
          | ^^^^^
        error: text: line 2, column 6: the ring must be a number from 1 to 6, not `+2`
          |
        2 | ring +2
          |      ^^
    "#]].assert_eq(&told);
    assert_eq!(entries(dir.path()), ["text"], "nothing is written");
}

#[test]
fn what_is_no_text() {
    let dir = tempfile::tempdir().unwrap();
    let noise = common::bytes(&mut fastrand::Rng::with_seed(4), 1 << 20);
    let long = "# a comment\n".repeat(1 << 13);
    for (name, content) in [
        ("noise", &noise[..194]),
        ("much", &noise),
        ("latin1", b"ring 3 # \xf6\n"),
        ("long", long.as_bytes()),
        ("zeros", &[0; 194]),
    ] {
        fs::write(dir.path().join(name), content).unwrap();
    }
    fs::File::create(dir.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
    let before = entries(dir.path());
    let mut told = String::new();
    for file in ["missing", ".", "noise", "much", "latin1", "long", "huge"] {
        let assert = run(dir.path(), &["assemble", file, "out"]).code(2).stdout("");
        assert_eq!(stderr(&assert).lines().count(), 1, "{}", stderr(&assert));
        told += stderr(&assert);
    }
    #[cfg(target_os = "linux")]
    expect![[r#"
        error: missing: No such file or directory (os error 2)
        error: .: Is a directory (os error 21)
        error: noise: invalid utf-8 sequence of 1 bytes from index 4
        error: much: a text of more than 65536 bytes
        error: latin1: invalid utf-8 sequence of 1 bytes from index 9
        error: long: a text of more than 65536 bytes
        error: huge: a text of more than 65536 bytes
    "#]]
    .assert_eq(&told);
    let zeros = run(dir.path(), &["assemble", "zeros", "out"]).code(2).stdout("");
    assert!(stderr(&zeros).starts_with(r"error: zeros: line 1, column 1: there is no operation `\u{0}"));
    assert!(!stderr(&zeros).contains('\0'));
    assert_eq!(entries(dir.path()), before);
    // Nothing at all is a schedule without steps.
    fs::write(dir.path().join("empty"), "").unwrap();
    run(dir.path(), &["assemble", "empty", "out"]).code(0).stdout("").stderr("");
    assert_eq!(fs::read(dir.path().join("out")).unwrap(), [0, 0]);
}

#[test]
fn a_huge_input_is_read_no_further_than_it_counts() {
    let dir = tempfile::tempdir().unwrap();
    fs::File::create(dir.path().join("huge")).unwrap().set_len(1 << 40).unwrap();
    let assert = run(dir.path(), &["disassemble", "huge"]).code(0).stderr("");
    assert_eq!(stdout(&assert).lines().count(), 2 + 96);
}

#[test]
fn what_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), TEXT).unwrap();
    fs::write(dir.path().join("bytes"), TEXT.parse::<Schedule>().unwrap().encode()).unwrap();
    fs::create_dir(dir.path().join("directory")).unwrap();
    let before = entries(dir.path());
    let mut told = String::new();
    for out in ["no/such/directory", "directory", "text/out", "/dev/null"] {
        for args in [["assemble", "text", out], ["disassemble", "bytes", out]] {
            let assert = run(dir.path(), &args).code(2).stdout("");
            assert_eq!(stderr(&assert).lines().count(), 1);
            // The name of the file that would have taken its place is a random one.
            told += stderr(&assert).split(" at path").next().unwrap().trim_end();
            told.push('\n');
        }
    }
    #[cfg(target_os = "linux")]
    expect![[r#"
        error: no/such/directory: No such file or directory (os error 2)
        error: no/such/directory: No such file or directory (os error 2)
        error: directory: not a regular file
        error: directory: not a regular file
        error: text/out: Not a directory (os error 20)
        error: text/out: Not a directory (os error 20)
        error: /dev/null: not a regular file
        error: /dev/null: not a regular file
    "#]]
    .assert_eq(&told);
    assert_eq!(entries(dir.path()), before, "nothing is left behind");
    assert_eq!(fs::read_to_string(dir.path().join("text")).unwrap(), TEXT);
}

/// An output that is there already survives a bad input.
#[test]
fn all_or_nothing() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), "fail\n").unwrap();
    fs::write(dir.path().join("out"), "before").unwrap();
    run(dir.path(), &["assemble", "text", "out"]).code(2);
    run(dir.path(), &["disassemble", "missing", "out"]).code(2);
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), "before");
    fs::write(dir.path().join("text"), TEXT).unwrap();
    run(dir.path(), &["assemble", "text", "out"]).code(0);
    assert_eq!(fs::read(dir.path().join("out")).unwrap(), TEXT.parse::<Schedule>().unwrap().encode());
}

#[test]
fn bad_usage() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["assemble"][..], &["assemble", "text"], &["assemble", "a", "b", "c"], &["disassemble"]] {
        run(dir.path(), args).code(2).stdout("");
    }
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), TEXT).unwrap();
    for args in [["assemble", "text", "-"], ["disassemble", "text", "-"]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        let output = command
            .args(args)
            .current_dir(dir.path())
            .stdout(common::closed())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(141));
        assert_eq!(output.stderr, b"");
    }
}

/// What a text says and the network does not permit is told, or refused with its line.
#[test]
fn repairs_are_told_and_strict_refuses_them() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("text"), "circle 8\nring 4\n  fail 1 # no member\n").unwrap();
    let told = run(dir.path(), &["assemble", "--version", "ccr2012", "text", "out"]).code(0);
    assert_eq!(stderr(&told), "text: repaired 1 of 1 steps; --strict says why\n");
    fs::remove_file(dir.path().join("out")).unwrap();
    for args in [
        &["assemble", "--strict", "--version", "ccr2012", "text", "out"][..],
        &["replay", "--strict", "--version", "ccr2012", "text"],
        &["explain", "--strict", "--version", "ccr2012", "text"],
    ] {
        let refused = run(dir.path(), args).code(2);
        assert_eq!(stdout(&refused), "");
        expect![[r#"
            error: text: line 3, column 3: `fail 1` cannot be done: 1 is not a member; members are 0, 2, 4, 6; it would become `fail 2`
              |
            3 |   fail 1 # no member
              |   ^^^^
        "#]]
        .assert_eq(stderr(&refused));
    }
    assert_eq!(entries(dir.path()), ["text"]);
    fs::write(dir.path().join("start"), "# of one\nring 1\nstabilize 0\n").unwrap();
    let start = run(dir.path(), &["assemble", "--strict", "--version", "tse2017", "start", "out"]).code(2);
    expect![[r#"
        error: start: line 2, column 1: a run cannot start like this; it would with `circle 6`, `ring 3` and `lists 2`
          |
        2 | ring 1
          | ^^^^
    "#]]
    .assert_eq(stderr(&start));
    let unknown = run(dir.path(), &["assemble", "--strict", "text", "out"]).code(2);
    assert_eq!(stderr(&unknown), "error: what is repaired depends on the target: give --version\n");
}

/// What a run has executed is done as it is given.
#[test]
fn strict_takes_what_has_been_executed() {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir("artifacts/ccr2012").unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        fs::write(dir.path().join("text"), Schedule::decode(&bytes).to_string()).unwrap();
        let replayed = run(dir.path(), &["replay", "--strict", "--version", "ccr2012", "text"]).code(1);
        assert_eq!(stderr(&replayed), "");
    }
}
