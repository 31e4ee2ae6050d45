//! `chord-fuzz view` as its users see it. What the page does in a browser is tested in `browser.rs`.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]
#![allow(clippy::too_many_lines, reason = "snapshots")]

mod common;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::search::fuzzing::ONLY;
use expect_test::{expect, expect_file};
use serde_json::Value;
use tempfile::TempDir;

/// Z12: without a liveness check, a stabilization adopts a successor that has failed.
const VIOLATING: &str = "join 1 via 0\nstabilize 1\nfail 1\nstabilize 0\n";
const IDEAL: &str = "join 1 via 0\nstabilize 1\n";

fn chord_fuzz(dir: &Path, args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir).env_remove(ONLY).env("RUST_BACKTRACE", "1").args(args).assert()
}

fn view(dir: &TempDir, args: &[&str]) -> Assert {
    chord_fuzz(dir.path(), &[&["view"], args].concat())
}

/// A directory with a violating and an ideal input of `sigcomm2001`, in a directory of that name.
fn inputs() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sigcomm2001")).unwrap();
    fs::write(dir.path().join("sigcomm2001/violating"), VIOLATING).unwrap();
    fs::write(dir.path().join("sigcomm2001/ideal"), IDEAL).unwrap();
    dir
}

fn read(dir: &TempDir, file: &str) -> String {
    fs::read_to_string(dir.path().join(file)).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

/// The one line that is said, and nothing is written besides the inputs.
fn problem(dir: &TempDir, assert: &Assert) -> String {
    let problem = stderr(assert).strip_prefix("error: ").and_then(|line| line.strip_suffix('\n')).unwrap();
    assert!(!problem.contains('\n'), "{problem}");
    let written = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let written: Vec<_> = written.filter(|name| name != "sigcomm2001" && name != "input").collect();
    assert!(written.is_empty(), "{written:?}");
    problem.to_owned()
}

/// The data of each run in a page.
fn data(page: &str, class: &str) -> Vec<Value> {
    let start = format!(r#"<script type="application/json" class="{class}">"#);
    let elements = page.split(&start).skip(1).map(|rest| rest.split_once("</script>").unwrap().0);
    elements.map(|json| serde_json::from_str(json).unwrap()).collect()
}

#[test]
fn help() {
    let dir = inputs();
    let help = view(&dir, &["--help"]).code(0).stderr("");
    let help = str::from_utf8(&help.get_output().stdout).unwrap();
    expect![[r#"
        Shows a run: as a page to step through, or as still pictures

        Usage: chord-fuzz view [OPTIONS] <--page <PAGE>|--svg <PREFIX>> <FILE>

        Arguments:
          <FILE>  The input, as bytes or as text, or `-` for standard input

        Options:
              --version <V>         The target, as for `chord-fuzz replay`
              --faults              Allow loss and partition, which all sources exclude
              --no-rejoin           Let no node that has failed join again
              --late-detection <N>  Take a node for alive for N steps after its failure
              --with <FILE2>        Another input, to be shown beside it on the page
          -o, --page <PAGE>         Where to write the page, or `-` for standard output
              --svg <PREFIX>        How the names of the still pictures of FILE begin
          -h, --help                Print help

        The page is one file, and loads nothing. It shows the ring, all events as
        `explain` tells them, and the pointers; the story is in it as `explain --json`
        prints it. Left and right go by an event, up and down by a step, Home and End to
        the ends. The end of its address, as in `#e=12` or `#step=7`, says where it is:
        at an event, or after a step; with FILE2, `e2` and `step2` say so of that run.

        The pictures are PREFIX-first.svg, the network at the start,
        PREFIX-breaking.svg, that after the step that breaks the property for good, or
        else first, or else puts the network beyond repair, and PREFIX-last.svg, that
        after fair maintenance.
        A run that breaks nothing has no second picture. The last moment of the page is
        that after fair maintenance, too.

        FILE is bytes or text, as for `explain`. Each output is replaced as a whole or
        not at all.

        Environment:
          CHORD_FUZZ_ONLY  as for `chord-fuzz replay`

        Exit status:
          0    all is written, whatever the verdict
          2    bad usage, a file that cannot be run, or an output that cannot be written
          141  standard output was closed before the end

        Examples:
          chord-fuzz view artifacts/ccr2012/at-most-one-ring -o rings.html
          chord-fuzz view artifacts/ccr2012/at-most-one-ring --svg docs/pictures/rings
          chord-fuzz view artifacts/ccr2012/ordered-ring \
              --with artifacts/best2012/ordered-ring -o both.html
    "#]]
    .assert_eq(help);
    assert!(help.lines().all(|line| line.len() <= 80), "it fits a terminal");
}

#[test]
fn a_page_loads_nothing() {
    let dir = inputs();
    let args = ["sigcomm2001/violating", "--with", "sigcomm2001/ideal", "-o", "page.html"];
    view(&dir, &args).code(0).stdout("").stderr("");
    let page = read(&dir, "page.html");
    for loads in ["http:", "https:", "src=", "src =", "@import", "url(", "fetch(", "XMLHttpRequest", "import(", "//cdn"]
    {
        assert!(!page.contains(loads), "{loads}");
    }
    assert!(page.contains(r#"http-equiv="Content-Security-Policy" content="default-src 'none';"#));
    let links: Vec<_> = page.split(" href=\"").skip(1).filter(|link| !link.starts_with('#')).collect();
    assert_eq!(links.len(), 1, "besides those in the page there is only the icon");
    assert!(links[0].starts_with("data:,\""));
}

#[test]
fn a_page_has_the_story_that_explain_prints() {
    let dir = inputs();
    view(&dir, &["sigcomm2001/violating", "--with", "sigcomm2001/ideal", "-o", "page.html"]).code(0);
    let page = read(&dir, "page.html");
    let (stories, frames) = (data(&page, "story"), data(&page, "frames"));
    assert_eq!((stories.len(), frames.len()), (2, 2));
    for ((story, frames), file) in stories.iter().zip(&frames).zip(["sigcomm2001/violating", "sigcomm2001/ideal"]) {
        let explained = chord_fuzz(dir.path(), &["explain", "--json", file]).code(0);
        assert_eq!(*story, serde_json::from_slice::<Value>(&explained.get_output().stdout).unwrap());
        let events = story["events"].as_array().unwrap().len();
        assert_eq!(frames.as_array().unwrap().len(), events + 1, "one for each event, and one for fair maintenance");
    }
    expect![[r#"
        {
          "marks": [
            3,
            5,
            7,
            10,
            13,
            14
          ],
          "news": "step 4: stabilize 0 · node 0: notify → 1, nobody there",
          "words": "appendage 0 → nobody; failed 1"
        }"#]]
    .assert_eq(&serde_json::to_string_pretty(&frames[0][frames[0].as_array().unwrap().len() - 2]).unwrap());
}

#[test]
fn options_are_those_of_replay() {
    let dir = inputs();
    view(&dir, &["--version", "ccr2012", "sigcomm2001/violating", "-o", "page.html"]).code(0);
    assert_eq!(data(&read(&dir, "page.html"), "story")[0]["target"], "ccr2012");
    fs::write(dir.path().join("lossy"), "faults\njoin 1 via 0\nlose 0\n").unwrap();
    view(&dir, &["--version=ccr2012", "--faults", "lossy", "-o", "page.html"]).code(0);
    assert_eq!(data(&read(&dir, "page.html"), "story")[0]["verdict"]["kind"], "outside");
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir.path()).args(["view", "sigcomm2001/violating", "-o", "page.html"]);
    command.env(ONLY, "ordered-ring").assert().code(0);
    assert_eq!(data(&read(&dir, "page.html"), "story")[0]["verdict"]["kind"], "masked");
}

#[test]
fn an_input_may_be_bytes_text_or_standard_input() {
    let dir = inputs();
    let bytes = VIOLATING.parse::<chord_fuzz::schedule::Schedule>().unwrap().encode();
    fs::write(dir.path().join("sigcomm2001/bytes"), &bytes).unwrap();
    view(&dir, &["sigcomm2001/violating", "--svg", "text"]).code(0);
    view(&dir, &["sigcomm2001/bytes", "--svg", "bytes"]).code(0);
    for input in [VIOLATING.as_bytes(), &bytes] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.current_dir(dir.path()).args(["view", "--version", "sigcomm2001", "-", "--svg", "stdin"]);
        command.env_remove(ONLY).write_stdin(input).assert().code(0);
        for name in ["first", "breaking", "last"] {
            let text = read(&dir, &format!("text-{name}.svg"));
            assert_eq!(text, read(&dir, &format!("bytes-{name}.svg")));
            assert_eq!(text, read(&dir, &format!("stdin-{name}.svg")));
        }
    }
}

#[test]
fn the_same_input_makes_the_same_page() {
    let dir = inputs();
    view(&dir, &["sigcomm2001/violating", "-o", "page.html"]).code(0);
    let printed = view(&dir, &["sigcomm2001/violating", "-o", "-"]).code(0).stderr("");
    assert_eq!(printed.get_output().stdout, read(&dir, "page.html").as_bytes());
}

#[test]
fn a_still_picture() {
    let dir = inputs();
    view(&dir, &["sigcomm2001/violating", "--svg", "ring"]).code(0).stdout("").stderr("");
    let picture = read(&dir, "ring-breaking.svg");
    let (head, rest) = picture.split_once("<style>").unwrap();
    let (_, rest) = rest.split_once("</style>").unwrap();
    expect![[r#"
        <svg class="picture" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 440 640" width="440" height="640" role="img">
        <title>sigcomm2001/AtLeastOneRing, after step 4: stabilize 0</title>
        <desc>appendage 0 → nobody; failed 1</desc>
        <rect class="paper" width="440" height="640">
        </rect>
        <text x="20" y="28" font-size="15" font-weight="600">sigcomm2001/AtLeastOneRing</text>
        <text class="quiet" x="20" y="46">after step 4: stabilize 0</text>
        <g transform="translate(0 48)">
        <circle class="circle" cx="220" cy="220" r="152">
        </circle>
        <g class="mark pointer prdc dead">
        <title>predecessor of 0: 1, which is dead</title>
        <path class="line" d="M223.4 81.6C241.5 153.5 285.8 198.4 356.5 216.1">
        </path>
        <path class="cross" d="M346.7 218.3L357.6 211.7M348.8 209.6L355.4 220.5">
        </path>
        </g>
        <g class="mark pointer succ dead">
        <title>successor of 0: 1, which is dead</title>
        <path class="line" d="M229.9 77.9C274 122 317.6 165.6 360.7 208.7">
        </path>
        <path class="cross" d="M351.1 205.5L363.9 205.5M357.5 199.1L357.5 211.9">
        </path>
        </g>
        <g class="mark node appendage" transform="translate(220 68)">
        <title>0: not on a ring</title>
        <circle r="14">
        </circle>
        <text dy=".35em">0</text>
        </g>
        <g class="mark node failed" transform="translate(372 220)">
        <title>1: failed</title>
        <circle r="14">
        </circle>
        <path d="M-9 -9L9 9M9 -9L-9 9">
        </path>
        <text dy=".35em">1</text>
        </g>
        <g class="mark node absent" transform="translate(220 372)">
        <title>2: no member</title>
        <circle r="9">
        </circle>
        <text dy=".35em">2</text>
        </g>
        <g class="mark node absent" transform="translate(68 220)">
        <title>3: no member</title>
        <circle r="9">
        </circle>
        <text dy=".35em">3</text>
        </g>
        </g>
        <text x="20" y="488">appendage 0 → nobody</text>
        <text x="20" y="506">failed 1</text>
        <g transform="translate(0 532)">
        <g class="legend">
        <g transform="translate(20 12)">
        <g class="node ring" transform="translate(15 0) scale(.7)">
        <circle r="14">
        </circle>
        <text dy=".35em">
        </text>
        </g>
        <text x="38" dy=".35em">on a ring</text>
        </g>
        <g transform="translate(162 12)">
        <g class="node ring other" transform="translate(15 0) scale(.7)">
        <rect x="-13" y="-13" width="26" height="26" rx="5">
        </rect>
        <text dy=".35em">
        </text>
        </g>
        <text x="38" dy=".35em">on another ring</text>
        </g>
        <g transform="translate(304 12)">
        <g class="node appendage" transform="translate(15 0) scale(.7)">
        <circle r="14">
        </circle>
        <text dy=".35em">
        </text>
        </g>
        <text x="38" dy=".35em">not on a ring</text>
        </g>
        <g transform="translate(20 36)">
        <g class="node joining" transform="translate(15 0) scale(.7)">
        <circle r="14">
        </circle>
        <text dy=".35em">
        </text>
        </g>
        <text x="38" dy=".35em">joining</text>
        </g>
        <g transform="translate(162 36)">
        <g class="node failed" transform="translate(15 0) scale(.7)">
        <circle r="14">
        </circle>
        <path d="M-9 -9L9 9M9 -9L-9 9">
        </path>
        <text dy=".35em">
        </text>
        </g>
        <text x="38" dy=".35em">failed</text>
        </g>
        <g transform="translate(304 36)">
        <g class="node absent" transform="translate(15 0) scale(.7)">
        <circle r="9">
        </circle>
        <text dy=".35em">
        </text>
        </g>
        <text x="38" dy=".35em">no member</text>
        </g>
        <g transform="translate(20 60)">
        <g class="pointer succ">
        <path class="line" d="M0 0C10 0 20 0 30 0">
        </path>
        <path class="head" d="M30 0L21 4L21 -4Z">
        </path>
        </g>
        <text x="38" dy=".35em">successor</text>
        </g>
        <g transform="translate(162 60)">
        <g class="pointer succ2">
        <path class="line" d="M0 0C10 0 20 0 30 0">
        </path>
        <path class="head" d="M30 0L21 4L21 -4Z">
        </path>
        </g>
        <text x="38" dy=".35em">2nd successor</text>
        </g>
        <g transform="translate(304 60)">
        <g class="pointer prdc">
        <path class="line" d="M0 0C10 0 20 0 30 0">
        </path>
        <path class="head" d="M30 0L21 4L21 -4Z">
        </path>
        </g>
        <text x="38" dy=".35em">predecessor</text>
        </g>
        <g transform="translate(20 84)">
        <g class="pointer succ dead">
        <path class="line" d="M0 0C10 0 20 0 30 0">
        </path>
        <path class="cross" d="M21 4.5L30 -4.5M21 -4.5L30 4.5">
        </path>
        </g>
        <text x="38" dy=".35em">to a dead node</text>
        </g>
        <g transform="translate(162 84)">
        <g class="best ring">
        <path d="M0 0C10 0 20 0 30 0">
        </path>
        </g>
        <text x="38" dy=".35em">best successor</text>
        </g>
        <g transform="translate(304 84)">
        <g class="datagram">
        <path class="line" d="M0 0C10 0 20 0 30 0">
        </path>
        <path class="head" d="M30 0L21 4L21 -4Z">
        </path>
        <path class="letter" d="M2.8 -5.5h16v11h-16zl8 6l8 -6">
        </path>
        </g>
        <text x="38" dy=".35em">datagram</text>
        </g>
        </g>
        </g>
        </svg>
    "#]].assert_eq(&format!("{head}{rest}").replace("><", ">\n<"));
}

#[test]
fn what_breaks_nothing_has_no_breaking_picture() {
    let dir = inputs();
    view(&dir, &["sigcomm2001/ideal", "--svg", "ring"]).code(0);
    let mut files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["ring-first.svg", "ring-last.svg", "sigcomm2001"]);
}

/// `UPDATE_EXPECT=1` draws them anew.
#[test]
fn the_pictures_in_the_documentation_are_what_is_drawn_now() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The crate as published comes without artifacts.
    if !root.join("artifacts").exists() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for finding in ["at-most-one-ring", "ordered-ring"] {
        let prefix = dir.path().join(finding);
        let artifact = format!("artifacts/ccr2012/{finding}");
        chord_fuzz(root, &["view", &artifact, "--svg", prefix.to_str().unwrap()]).code(0);
        for name in ["first", "breaking", "last"] {
            let picture = read(&dir, &format!("{finding}-{name}.svg"));
            let kept = root.join(format!("docs/pictures/ccr2012-{finding}-{name}.svg"));
            expect_file![kept].assert_eq(&picture);
        }
    }
}

#[cfg(unix)]
#[test]
fn the_name_of_a_file_is_only_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let dir = inputs();
    for name in [&b"<img onerror=alert(1)>\"'&amp;"[..], b"<!-- <script>\n\x1b[31m", b"\xff<b>", b"-->]]>"] {
        let file = dir.path().join("sigcomm2001").join(OsStr::from_bytes(name));
        fs::write(&file, VIOLATING).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        command.current_dir(dir.path()).arg("view").arg(&file).args(["-o", "page.html", "--svg", "ring"]);
        command.assert().code(0).stderr("");
        let page = read(&dir, "page.html");
        let mut lines = page.split("<p class=\"file\">").skip(1).map(|rest| rest.split_once("</p>").unwrap().0);
        let line = lines.next().unwrap();
        assert!(!line.contains('<') && !line.contains('\x1b') && !line.contains('\n'), "{line}");
        assert!(line.contains("&lt;") || line.contains("--&gt;]]&gt;"), "{line}");
        assert_eq!(page.matches("<!--").count(), 0);
        assert_eq!(data(&page, "story").len(), 1);
        assert!(!read(&dir, "ring-breaking.svg").contains("img onerror"));
    }
    // The same for the names of outputs.
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir.path()).args(["view", "sigcomm2001/violating", "--svg"]);
    command.arg(OsStr::from_bytes(b"\xffpicture")).assert().code(0);
    assert!(dir.path().join(OsStr::from_bytes(b"\xffpicture-first.svg")).exists());
}

#[test]
fn every_file_can_be_seen() {
    let dir = inputs();
    let mut rng = fastrand::Rng::with_seed(1);
    for version in ["sigcomm2001", "ccr2012", "best2012", "tse2017", "claims"] {
        for len in [0, 1, 2, 3, 50, 194, 300] {
            fs::write(dir.path().join("input"), common::bytes(&mut rng, len)).unwrap();
            view(&dir, &["--version", version, "input", "-o", "page.html", "--svg", "ring"]).code(0).stderr("");
        }
    }
}

#[test]
fn a_huge_file_is_read_no_further_than_it_counts() {
    let dir = inputs();
    fs::File::create(dir.path().join("sigcomm2001/huge")).unwrap().set_len(1 << 40).unwrap();
    view(&dir, &["sigcomm2001/huge", "-o", "page.html"]).code(0).stderr("");
    let text = format!("{VIOLATING}{}", "#".repeat(1 << 16));
    fs::write(dir.path().join("sigcomm2001/long"), text).unwrap();
    fs::remove_file(dir.path().join("page.html")).unwrap();
    let assert = view(&dir, &["sigcomm2001/long", "-o", "page.html"]).code(2);
    expect!["sigcomm2001/long: a text of more than 65536 bytes"].assert_eq(&problem(&dir, &assert));
}

#[test]
fn problems() {
    let dir = inputs();
    fs::write(dir.path().join("input"), IDEAL).unwrap();
    let problem = |args: &[&str]| problem(&dir, &view(&dir, args).code(2).stdout(""));
    let with = ["sigcomm2001/ideal", "-o", "page.html", "--with"];
    // Where a file cannot be made, the error goes on with the name that it would have had at first.
    let problems = [
        problem(&["sigcomm2001/missing", "-o", "page.html"]),
        problem(&["sigcomm2001", "--version", "ccr2012", "-o", "page.html"]),
        problem(&["input", "-o", "page.html"]).replace(dir.path().file_name().unwrap().to_str().unwrap(), "DIR"),
        problem(&["-", "-o", "page.html"]),
        problem(&["--version", "ccr2012", "-", "--with", "-", "-o", "page.html"]),
        problem(&[&with[..], &["sigcomm2001/missing"]].concat()),
        problem(&["sigcomm2001/ideal", "-o", "sigcomm2001"]),
        problem(&["sigcomm2001/ideal", "-o", "missing/page.html"]),
        problem(&["sigcomm2001/ideal", "--svg", "missing/ring"]),
    ];
    expect![[r#"
        sigcomm2001/missing: No such file or directory (os error 2)
        sigcomm2001: Is a directory (os error 21)
        input: its directory `DIR` is not called like a target: give --version
        -: standard input is in no directory: give --version
        -: standard input has been read already
        sigcomm2001/missing: No such file or directory (os error 2)
        sigcomm2001: not a regular file
        missing/page.html: No such file or directory (os error 2)
        missing/ring-first.svg: No such file or directory (os error 2)"#]]
    .assert_eq(&problems.map(|line| line.split(" at path ").next().unwrap().to_owned()).join("\n"));
}

#[test]
fn bad_usage() {
    let dir = inputs();
    for args in [
        &["sigcomm2001/ideal"][..],
        &["-o", "page.html"],
        &["sigcomm2001/ideal", "--with", "sigcomm2001/ideal", "--svg", "ring"],
        &["sigcomm2001/ideal", "-o", "page.html", "--version", "chord"],
        &["sigcomm2001/ideal", "sigcomm2001/ideal", "-o", "page.html"],
    ] {
        let assert = view(&dir, args).code(2).stdout("");
        assert!(stderr(&assert).starts_with("error: "), "{args:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{args:?} writes nothing");
    }
}

#[test]
fn what_cannot_be_replaced_stays_as_it_was() {
    let dir = inputs();
    fs::write(dir.path().join("sigcomm2001/broken"), "join 1\n").unwrap();
    fs::write(dir.path().join("page.html"), "as it was").unwrap();
    view(&dir, &["sigcomm2001/broken", "-o", "page.html"]).code(2);
    assert_eq!(read(&dir, "page.html"), "as it was");
    view(&dir, &["sigcomm2001/ideal", "-o", "page.html"]).code(0);
    assert!(read(&dir, "page.html").starts_with("<!DOCTYPE html>"));
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = inputs();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.current_dir(dir.path()).args(["view", "sigcomm2001/ideal", "-o", "-"]).stdout(common::closed());
    Assert::new(command.output().unwrap()).code(141).stderr("");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let dir = inputs();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    command.current_dir(dir.path()).args(["view", "sigcomm2001/ideal", "-o", "-"]).stdout(full);
    Assert::new(command.output().unwrap())
        .code(2)
        .stderr("error: standard output: No space left on device (os error 28)\n");
    let assert = view(&dir, &["sigcomm2001/ideal", "-o", "/dev/full"]).code(2);
    assert_eq!(problem(&dir, &assert), "/dev/full: not a regular file");
}
