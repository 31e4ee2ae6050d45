//! What is kept in the repository: inputs that pass in corpus/, minimized findings in artifacts/, and the names that
//! have to agree for cargo-fuzz to find them.
//!
//! A new finding is frozen, and becomes a known one, with `UPDATE_EXPECT=1 cargo test --test artifacts`.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use chord_fuzz::judge::prove::{Proof, prove};
use chord_fuzz::judge::{Breach, Judge, Only, Options, Outcome, Target, Verdict, run};
use chord_fuzz::schedule::{MAX_BYTES, Schedule};
use chord_fuzz::world::trace::Digest;
use common::entries;
use expect_test::{expect, expect_file};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether this is the crate as published, which comes without corpus/, artifacts/ and fuzz/.
fn published() -> bool {
    root().join("Cargo.toml.orig").exists()
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// A file of corpus/ or artifacts/.
struct Kept {
    target: Target,
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Kept {
    /// Runs the file, as a minimizer does: if it is named after a property, only that counts. Where a repairable
    /// property breaks on the way to another one, as in Z12's own traces, `claims` would stop there.
    fn run(&self, digest: &mut Digest) -> Outcome {
        let named = Breach::all().find(|breach| breach.slug() == name(&self.path));
        let only = named.map_or_else(Only::default, |breach| Only::these(vec![breach]));
        run(self.target, &Schedule::decode(&self.bytes), &Options { only, ..Options::default() }, digest)
    }
}

/// The files of each target under this directory. What lies beside the directories of targets is for people.
fn kept(directory: &str) -> Vec<Kept> {
    let mut kept = Vec::new();
    for directory in entries(&root().join(directory)).into_iter().filter(|path| path.is_dir()) {
        let target = Target::all().into_iter().find(|target| target.to_string() == name(&directory));
        let target = target.unwrap_or_else(|| panic!("no target is called like {}", directory.display()));
        for path in entries(&directory) {
            let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            kept.push(Kept { target, path, bytes });
        }
    }
    kept
}

/// The files of artifacts/ but those that a local campaign has left, which git ignores.
fn artifacts() -> Vec<Kept> {
    let ignore = fs::read_to_string(root().join(".gitignore")).unwrap_or_default();
    let ignored = |path: &Path| {
        let prefixes = ignore.lines().filter_map(|line| line.strip_prefix("artifacts/*/")?.strip_suffix('*'));
        prefixes.into_iter().any(|prefix| name(path).starts_with(prefix))
    };
    kept("artifacts").into_iter().filter(|artifact| !ignored(&artifact.path)).collect()
}

/// Fails with all that is wrong, not only the first thing.
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_file_of_the_corpus_passes() {
    let mut wrong = Vec::new();
    for seed in kept("corpus") {
        let verdict = seed.run(&mut Digest::default()).verdict;
        if verdict != Verdict::Ideal {
            wrong.push(format!("{}: {verdict:?}", seed.path.display()));
        }
    }
    assert_none(&wrong);
}

#[test]
fn every_artifact_has_the_signature_that_it_is_named_after() {
    let mut wrong = Vec::new();
    for artifact in artifacts() {
        let verdict = artifact.run(&mut Digest::default()).verdict;
        let named = Breach::all().find(|breach| breach.slug() == name(&artifact.path));
        if named.map(Verdict::Violated) != Some(verdict) {
            wrong.push(format!("{}: {verdict:?}", artifact.path.display()));
        }
    }
    assert_none(&wrong);
}

/// The property is broken by the steps of the schedule, not only by the maintenance that is to heal it afterwards.
#[test]
fn every_artifact_breaks_its_property_by_itself() {
    for artifact in artifacts() {
        let outcome = artifact.run(&mut Digest::default());
        let Verdict::Violated(Breach::Broken(property)) = outcome.verdict else { continue };
        assert!(!property.holds(&outcome.network), "{}: {}", artifact.path.display(), outcome.network);
        assert!(outcome.assumptions.hold() && outcome.assumptions.immediate, "{}", artifact.path.display());
    }
}

/// That it never heals is so for every order of maintenance, not only for the one that the verdict tries. What `claims`
/// finds is no such claim.
#[test]
fn no_order_of_maintenance_heals_an_artifact() {
    if published() {
        return;
    }
    let mut table = String::new();
    for artifact in artifacts().into_iter().filter(|artifact| artifact.target.judge == Judge::NeverHeals) {
        let network = artifact.run(&mut Digest::default()).network;
        let networks = match prove(artifact.target.version.rules(), &network, 100_000, |_| ()) {
            Proof::Irreparable { networks } => networks,
            proof => panic!("{}: {proof:?}", artifact.path.display()),
        };
        let finding = format!("{}/{}", artifact.target, name(&artifact.path));
        writeln!(table, "{finding:<32}  {networks:3} networks, all orders").unwrap();
    }
    let proved = expect![[r#"
        best2012/at-most-one-ring          18 networks, all orders
        best2012/ordered-ring              55 networks, all orders
        ccr2012/at-most-one-ring           64 networks, all orders
        ccr2012/ordered-ring               84 networks, all orders
        sigcomm2001/at-least-one-ring       2 networks, all orders
        sigcomm2001/at-most-one-ring       98 networks, all orders
        sigcomm2001/connected-appendages   10 networks, all orders
        sigcomm2001/ordered-ring          2253 networks, all orders
    "#]];
    proved.assert_eq(&table);
}

#[test]
fn every_artifact_is_canonical() {
    let mut wrong = Vec::new();
    for artifact in artifacts() {
        let executed = artifact.run(&mut Digest::default()).executed;
        if executed.encode() != artifact.bytes {
            wrong.push(format!("{} should be {:02x?}", artifact.path.display(), executed.encode()));
        }
    }
    assert_none(&wrong);
}

/// A finding is the same run everywhere and for good: who replays it sees this digest.
#[test]
fn the_runs_of_the_artifacts_are_frozen() {
    if published() {
        return;
    }
    let mut table = String::new();
    for artifact in artifacts() {
        let mut digest = Digest::default();
        let steps = artifact.run(&mut digest).executed.steps.len();
        let finding = format!("{}/{}", artifact.target, name(&artifact.path));
        writeln!(table, "{finding:<32}  {steps:2} steps  {:.16}", digest.finish().to_hex().as_str()).unwrap();
    }
    let frozen = expect![[r#"
        best2012/at-most-one-ring         13 steps  cacf0e180056ff67
        best2012/ordered-ring             16 steps  2f804e239af48fb3
        ccr2012/at-most-one-ring          13 steps  548083269ff7f507
        ccr2012/ordered-ring              15 steps  77046c7a30c9963d
        claims/at-most-one-ring           11 steps  3a0ebc925e3d7a42
        claims/ordered-appendages          9 steps  3d2981c58b6def66
        claims/ordered-merges              4 steps  75e73386298514b3
        claims/ordered-ring               13 steps  dbfb11d600e1bfc7
        claims/valid-successor-list        8 steps  672f9dcbada65e0c
        sigcomm2001/at-least-one-ring      4 steps  2879105754dd9c32
        sigcomm2001/at-most-one-ring      12 steps  7b9410f6feeb8744
        sigcomm2001/connected-appendages   5 steps  6d9a9fc94efcecf7
        sigcomm2001/ordered-ring          15 steps  1caa6e25247fa0ce
    "#]];
    frozen.assert_eq(&table);
}

/// What continuous builds let pass is what is kept here, and nothing of `tse2017`, which was proved correct.
#[test]
fn the_known_findings_are_the_artifacts() {
    if published() {
        return;
    }
    let mut known = String::new();
    for artifact in artifacts() {
        let breach: Breach = name(&artifact.path).parse().unwrap();
        assert_ne!(artifact.target.to_string(), "tse2017", "a finding of {breach} is never let pass");
        writeln!(known, "{}/{breach}", artifact.target).unwrap();
    }
    expect_file!["../artifacts/known.txt"].assert_eq(&known);
}

/// cargo-fuzz looks for both beside its manifest.
#[cfg(unix)]
#[test]
fn the_fuzzers_directories_are_links_to_the_kept_ones() {
    if published() {
        return;
    }
    for directory in ["corpus", "artifacts"] {
        let link = fs::read_link(root().join("fuzz").join(directory)).expect(directory);
        assert_eq!(link, Path::new("..").join(directory));
    }
}

#[test]
fn the_fuzzers_programs_are_the_targets() {
    if published() {
        return;
    }
    let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let mut section = "";
    let mut programs = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if let Some(program) = line.strip_prefix("name = ").filter(|_| section == "[[bin]]") {
            programs.push(program.trim_matches('"'));
        }
    }
    assert_eq!(programs, Target::all().map(|target| target.to_string()));
}

/// A continuous job makes no input of which a part is not read.
#[test]
fn the_fuzzers_options_name_the_longest_schedule() {
    if published() {
        return;
    }
    let options = fs::read_to_string(root().join("fuzz/oss-fuzz/libfuzzer.options")).unwrap();
    assert!(options.lines().any(|line| line == format!("max_len = {MAX_BYTES}")), "{options}");
}
