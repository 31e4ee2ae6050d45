//! `chord-fuzz matrix` as its users see it, and the matrix that is kept in docs/matrix/.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use chord_fuzz::judge::{Only, Options, Target, Verdict, run};
use chord_fuzz::schedule::Op;
use chord_fuzz::search::fuzzing::ONLY;
use chord_fuzz::search::matrix::{Cell, Network, Plan, VERSIONS, share};
use expect_test::expect;
use serde_json::Value;

fn chord_fuzz(args: &[&str]) -> Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.env_remove(ONLY).args(args).assert()
}

fn stdout(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stdout).unwrap()
}

fn stderr(assert: &Assert) -> &str {
    str::from_utf8(&assert.get_output().stderr).unwrap()
}

/// The files of a directory by name.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap())).collect()
}

/// Every finding of a matrix replays under its conditions, and comes to its breach in as many steps. Returns how many
/// there are.
fn replays(dir: &Path) -> usize {
    let files = files(dir);
    let json: Value = serde_json::from_str(&files["matrix.json"]).unwrap();
    assert_eq!(json["format"], 2);
    let mut listed = BTreeSet::new();
    for cell in json["cells"].as_array().unwrap() {
        let version = cell["version"].as_str().unwrap();
        let flags: Vec<_> = cell["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()).collect();
        for finding in cell["found"].as_array().unwrap() {
            let [file, property] = ["file", "property"].map(|key| finding[key].as_str().unwrap());
            let within = finding["within"].as_bool().unwrap();
            listed.insert(file.to_owned());
            let path = dir.join(file);
            let args = [&["replay", "--version", version], &flags[..], &[path.to_str().unwrap()]].concat();
            let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
            // As it was found, only this counts.
            let replay = command.env(ONLY, property).args(&args).assert().code(i32::from(within));
            let outside = if within { "" } else { "outside the assumptions: " };
            let columns: Vec<_> = stdout(&replay).split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
            assert_eq!(columns[1], format!("{outside}{version}/{property}"), "{file}");
            assert_eq!(columns[2], format!("{} steps", finding["steps"]), "{file}");
            let header: Vec<_> = files[file].lines().take(2).collect();
            let expected = [
                format!(
                    "# {version}/{property}, {} steps; {}",
                    finding["steps"],
                    finding["assumptions"].as_str().unwrap()
                ),
                format!("# chord-fuzz {}", args.join(" ").replace(path.to_str().unwrap(), file)),
            ];
            assert_eq!(header, expected);
        }
    }
    let texts: BTreeSet<_> =
        files.keys().filter(|name| Path::new(name).extension().is_some_and(|e| e == "txt")).cloned().collect();
    assert_eq!(texts, listed);
    listed.len()
}

#[test]
fn the_matrix_of_two_versions() {
    let dir = tempfile::tempdir().unwrap();
    let [one, two] = ["1", "2"].map(|jobs| {
        let out = dir.path().join(jobs);
        let versions = ["--version", "sigcomm2001+adopt", "--version", "tse2017"];
        let args = ["matrix", "--runs", "200", "--jobs", jobs, "--out", out.to_str().unwrap()];
        let assert = chord_fuzz(&[&args[..], &versions].concat()).code(0);
        assert_eq!(stderr(&assert), "16 cells, 4,800 runs: about 1 min of one processor\n");
        (stdout(&assert).to_owned(), files(&out))
    });
    assert_eq!(one, two);
    assert!(replays(&dir.path().join("1")) > 5);
    expect![[r#"
        | version | joins again | immediate | delayed | late | lossy |
        |---|---|---|---|---|---|
        | `sigcomm2001+adopt` | yes | AtLeastOneRing 8, ConnectedAppendages 2 | AtLeastOneRing 8, ConnectedAppendages 2 | AtLeastOneRing 8, ConnectedAppendages 2 | AtLeastOneRing 8, ConnectedAppendages 2 |
        | `sigcomm2001+adopt` | no | ConnectedAppendages 2 | ConnectedAppendages 2 | AtLeastOneRing 4*, ConnectedAppendages 2 | ConnectedAppendages 2 |
        | `tse2017` | yes | none | none | none | AtLeastOneRing 6*, AtMostOneRing 6*, OrderedRing 6*, ConnectedAppendages 7*, Invariant 2* |
        | `tse2017` | no | none | none | none | AtLeastOneRing 6*, AtMostOneRing 6*, OrderedRing 6*, ConnectedAppendages 7*, Invariant 2* |
    "#]].assert_eq(&one.0);
    expect![[r#"
        # tse2017/Invariant, 2 steps; failure assumption held; stable base held; DATAGRAMS LOST, so that failure detection errs; datagrams delayed; no node joins again
        # chord-fuzz replay --version tse2017 --faults --no-rejoin tse2017.lossy.no-rejoin.invariant.txt
        circle 8
        ring 4
        lists 3
        faults
        stabilize 0 delay 1
        lose 2
    "#]].assert_eq(&one.1["tse2017.lossy.no-rejoin.invariant.txt"]);
}

/// However far it came, and with a last line that was torn, it comes to what it comes to in one go.
#[test]
fn an_interrupted_matrix_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let matrix = |out: &Path, more: &[&str]| {
        let args = ["matrix", "--version", "sigcomm2001", "--runs", "300", "--out", out.to_str().unwrap()];
        chord_fuzz(&[&args, more].concat())
    };
    let [whole, resumed] = ["whole", "resumed"].map(|name| dir.path().join(name));
    let expected = stdout(&matrix(&whole, &[]).code(0)).to_owned();
    assert!(!whole.join("matrix.state").exists());

    // Its last text cannot be written in the place of a directory, when all is swept.
    let text = files(&whole).into_keys().rfind(|name| name.starts_with("sigcomm2001.")).unwrap();
    fs::create_dir_all(resumed.join(&text)).unwrap();
    matrix(&resumed, &[]).code(2);
    fs::remove_dir(resumed.join(&text)).unwrap();
    let file = resumed.join("matrix.state");
    let state = fs::read_to_string(&file).unwrap();
    let lines: Vec<_> = state.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 8);

    for kept in [0, 3, 8] {
        let torn = lines.get(kept).map_or("", |line| &line[..line.len() / 2]);
        fs::write(&file, lines[..kept].concat() + torn).unwrap();
        let assert = matrix(&resumed, &["--jobs", "1"]).code(0);
        let told = match kept {
            0 => "8 cells, 2,400 runs: about 1 min of one processor\n",
            3 => "8 cells, 3 of them kept, 1,500 runs: about 1 min of one processor\n",
            _ => "8 cells, 8 of them kept, 0 runs: about 0 min of one processor\n",
        };
        assert_eq!(stderr(&assert), told);
        assert_eq!(stdout(&assert), expected);
        assert_eq!(files(&resumed), files(&whole));
    }

    // Of another matrix nothing is touched.
    let doctored = state.replacen("AtLeastOneRing", "OrderedRing", 1);
    for (state, more, what) in [
        (&state, &["--seed", "2"], "kept with --seed 1, not 2"),
        (&state, &["--late-detection", "4"], "kept with --late-detection 5, not 4"),
        (&state.replace("\"runs\":300", "\"runs\":301"), &["--jobs", "1"], "kept with --runs 301, not 300"),
        (&state.replace("\"format\":1", "\"format\":0"), &["--jobs", "1"], "kept with format 0, not 1"),
        (&state.replace("sigcomm2001.", "ccr2012."), &["--jobs", "1"], "it has ccr2012.immediate.rejoin, which"),
        (&doctored, &["--jobs", "1"], "sigcomm2001.immediate.rejoin; to start over, delete it: its schedule of"),
        (&"{}\n".to_owned(), &["--jobs", "1"], "line 1: missing field `format`"),
    ] {
        fs::write(&file, state).unwrap();
        let assert = matrix(&resumed, more).code(2).stdout("");
        let told = stderr(&assert);
        assert!(told.starts_with(&format!("error: {}: {what}", file.display())), "{told}");
        assert_eq!((told.lines().count(), fs::read_to_string(&file).unwrap()), (1, state.clone()));
    }
}

/// The table of docs/matrix/ stands in the page about it, and everything in it replays.
#[test]
fn the_kept_matrix_replays() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/matrix");
    assert!(replays(&dir) > 100);
    let files = files(&dir);
    let (table, _) = files["matrix.md"].split_once("\n\n").unwrap();
    assert!(table.lines().count() == 2 + 2 * VERSIONS.len() && files["README.md"].contains(table));
}

/// What a cell is called is what its runs have.
#[test]
fn cells_have_the_conditions_that_they_are_called_after() {
    let plan = Plan { runs: 100, seed: 1, late: 3 };
    let cells = |versions: &[&str]| -> Vec<Cell> {
        versions.iter().flat_map(|version| Cell::of(version.parse().unwrap())).collect()
    };
    assert_eq!(cells(&VERSIONS).iter().map(ToString::to_string).collect::<BTreeSet<_>>().len(), 80);
    let cells = cells(&["sigcomm2001+join", "ccr2012", "tse2017-busy"]);
    let swept: Vec<_> = cells.iter().map(|cell| cell.sweep(plan, |_| ())).collect();
    for (cell, findings) in cells.iter().zip(share(&cells, plan, &swept)) {
        let options = cell.options(plan);
        assert_eq!(options.faults, cell.network == Network::Lossy);
        assert_eq!(options.conditions.rejoin, cell.rejoin);
        assert_eq!(options.conditions.late, if cell.network == Network::Late { 3 } else { 0 });
        for finding in findings {
            let immediate = finding.assumptions.immediate;
            assert!(immediate || cell.network != Network::Immediate, "{cell}: {}", finding.smallest);
            assert!(finding.assumptions.reliable || cell.network == Network::Lossy, "{cell}");
            assert!(finding.assumptions.prompt || cell.network == Network::Late, "{cell}");
            assert!(finding.count <= plan.runs);
            let schedule = &finding.smallest;
            let faults = schedule.steps.iter().any(|step| matches!(step.op, Op::Lose | Op::Cut));
            assert_eq!(faults, !finding.assumptions.reliable, "{cell}: {schedule}");
            let only = Only::these(vec![finding.breach]);
            let outcome = run(Target::of(cell.version), schedule, &Options { only, ..options.clone() }, &mut ());
            assert_eq!(outcome.verdict.found(), Some(finding.breach), "{cell}: {schedule}");
            assert_eq!(
                matches!(outcome.verdict, Verdict::Violated(_)),
                finding.assumptions.hold(),
                "{cell}: {schedule}"
            );
        }
    }
}

#[test]
fn bad_usage() {
    let dir = tempfile::tempdir().unwrap();
    let [file, below, missing] = ["file", "file/below", "missing"].map(|name| dir.path().join(name));
    fs::write(&file, "").unwrap();
    let [file, below, missing] = [&file, &below, &missing].map(|path| path.to_str().unwrap());
    for args in [
        &[][..],
        &["--out"],
        &["--version", "chord", "--out", missing],
        &["--version", "claims", "--out", missing],
        &["--runs", "0", "--out", missing],
        &["--late-detection", "0", "--out", missing],
        &["--late-detection", "256", "--out", missing],
        &["--jobs", "0", "--out", missing],
        &["--runs", "1", "--out", file],
        &["--runs", "1", "--out", below],
        &["--runs", "1", "--out", ""],
    ] {
        let assert = chord_fuzz(&[&["matrix"], args].concat()).code(2).stdout("");
        assert!(stderr(&assert).starts_with("error: "), "{args:?}: {}", stderr(&assert));
        assert!(!Path::new(missing).exists(), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
    command.args(["matrix", "--version", "ccr2012", "--runs", "1", "--out"]).arg(dir.path());
    let output = command.stdout(common::closed()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert!(!String::from_utf8(output.stderr).unwrap().contains("error"));
}

#[test]
fn the_help_fits_a_terminal_and_names_the_versions() {
    let help = chord_fuzz(&["matrix", "--help"]).code(0);
    assert!(stdout(&help).lines().all(|line| line.len() <= 80), "{}", stdout(&help));
    for network in Network::ALL {
        assert!(stdout(&help).contains(&format!("\n  {}", network.name())), "{}", network.name());
    }
}
