//! What a violation's panic is to those who tell crashes apart: the properties of a target are kept apart, and what
//! breaks the same property is put together.
//!
//! The panics are real ones, of this program run again in the profile of the tests. The rules are those of the tools'
//! sources, in our words and as far as a Rust stack without a sanitizer meets them:
//!
//! - casr (`ispras/casr`: `libcasr/src/constants.rs`, `rust.rs`, `stacktrace.rs`): frames of the panic machinery are
//!   ignored, by the function's name or by where its source is. What is left of two stacks must be equal; in a cluster of
//!   similar ones, a report is dropped if its crash line, the place of the first frame that is left, is another's.
//! - ClusterFuzz (`google/clusterfuzz`: `src/clusterfuzz/stacktraces`, its glossary under "crash state"): the crash state
//!   is the names of the first three frames that are not ignored. It has a rule for the first line of a Rust panic, but
//!   for that of compilers before 1.73, which quoted the message. What it files under different states it may still
//!   show as one group, if they are similar, as ours are by their second and third frames.
//! - libFuzzer (`FuzzerDriver.cpp`, the minimizer): the line with `DEDUP_TOKEN:`.

#![allow(clippy::needless_raw_string_hashes, reason = "so expect-test writes")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, iter};

use arbitrary::{Arbitrary as _, Unstructured};
use chord_fuzz::judge::{Breach, Only, Options, Target, Verdict, run};
use chord_fuzz::schedule::{MAX_BYTES, Schedule, mutate};
use chord_fuzz::search::fuzzing::{
    Ccr2012, DELAYS, FEEDBACK, Fuzzed, Input, MUTATOR, ONLY, RING, SWITCHES, Sigcomm2001,
};
use common::bytes;
use expect_test::expect;

/// The environment variables that tell this program to crash: on which file, and as which target.
const FILE: &str = "CRASH_STATE_FILE";
const TARGET: &str = "CRASH_STATE_TARGET";

/// What a fuzz target does. Passes unless it is told to crash.
#[test]
fn fuzz_target() {
    fn check<T: Fuzzed>(bytes: &[u8]) {
        let input = Input::<T>::arbitrary_take_rest(Unstructured::new(bytes)).expect("every byte string is an input");
        let _ = input.check();
    }

    let Some(file) = env::var_os(FILE) else { return };
    let bytes = fs::read(file).unwrap();
    match env::var(TARGET).unwrap().as_str() {
        "sigcomm2001" => check::<Sigcomm2001>(&bytes),
        _ => check::<Ccr2012>(&bytes),
    }
}

/// A crash, as it is printed.
struct Crash(String);

impl Crash {
    /// Crashes on this input.
    fn of(target: Target, breach: Breach, input: &[u8]) -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), input).unwrap();
        let mut child = Command::new(env::current_exe().unwrap());
        for variable in [RING, DELAYS, SWITCHES, FEEDBACK, MUTATOR] {
            child.env_remove(variable);
        }
        child
            .env(FILE, file.path())
            .env(TARGET, target.to_string())
            .env(ONLY, breach.slug())
            .env("RUST_BACKTRACE", "1");
        let output = child.args(["--exact", "fuzz_target", "--nocapture"]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains("stack backtrace:"), "{text}");
        Self(text)
    }

    /// The message of the panic.
    fn message(&self) -> &str {
        let (_, text) = self.0.split_once(" panicked at ").unwrap();
        let (_, text) = text.split_once('\n').unwrap();
        text.split_once("stack backtrace:").unwrap().0
    }

    /// The frames of the stack, the innermost first: the function's name, and `file:line:column`.
    fn frames(&self) -> Vec<(&str, &str)> {
        let (_, stack) = self.0.split_once("stack backtrace:\n").unwrap();
        let mut lines = stack.lines().map(str::trim).peekable();
        iter::from_fn(|| {
            let (number, function) = lines.next()?.split_once(": ")?;
            number.parse::<usize>().ok()?;
            let place = lines.peek().and_then(|line| line.strip_prefix("at ")).unwrap_or_default();
            lines.next_if(|line| line.starts_with("at "));
            Some((function, place))
        })
        .collect()
    }

    /// What casr compares of the stack, and its crash line.
    fn casr(&self) -> (Vec<&str>, &str) {
        const FUNCTIONS: &[&str] = &[
            "rust_begin_unwind",
            "rust_fuzzer_test_input",
            "rust_oom",
            "rust_panic",
            "std::io::Write::write_fmt",
            "std::panic",
            "std::process::abort",
            "__rust_start_panic",
            "core::fmt::write",
            "core::panicking",
            "core::result",
            "panic_abort::",
            "__rust_try",
            "alloc::",
            "abort",
            "_start",
            "__libc_",
            "start_thread",
        ];
        let ignored = |(function, place): &(&str, &str)| {
            FUNCTIONS.iter().any(|prefix| function.starts_with(prefix))
                || ["/rust/", "/rustc/", "/libfuzzer-sys-"].iter().any(|part| place.contains(part))
        };
        let places: Vec<_> =
            self.frames().into_iter().filter(|frame| !ignored(frame)).map(|(_, place)| place).collect();
        let crash_line = places[0];
        (places, crash_line)
    }

    /// ClusterFuzz's crash state.
    fn crash_state(&self) -> Vec<&str> {
        const STARTS: &[&str] = &[
            "rust_begin_unwind",
            "rust_fuzzer_test_input",
            "rust_oom",
            "rust_panic",
            "std::io::Write::write_fmt",
            "std::panic",
            "std::process::abort",
            "std::sys_common::backtrace",
            "__rust_start_panic",
            "core::fmt::write",
            "panic_abort::",
            "__rust_try",
            "alloc::",
            "abort",
            "_start",
            "__libc_",
            "main",
            "fuzzer::",
            "libfuzzer_sys::initialize",
            "LLVMFuzzerTestOneInput",
            "_$LT$",
        ];
        let ignored = |(function, place): &(&str, &str)| {
            // The whole frame is matched, as a sanitizer writes it.
            let frame = format!("{function} {place}");
            STARTS.iter().any(|start| frame.starts_with(start))
                || ["assert", "logger", "libpthread", " /rust/", " /rustc/"].iter().any(|part| frame.contains(part))
        };
        let name = |(function, _)| str::split(function, ['(', '[', ' ']).next().unwrap_or_default();
        self.frames().into_iter().filter(|frame| !ignored(frame)).map(name).take(3).collect()
    }

    /// The token that libFuzzer's minimizer compares.
    fn dedup_token(&self) -> &str {
        self.0.lines().find(|line| line.starts_with("DEDUP_TOKEN:")).unwrap()
    }
}

/// The artifact of each property of a target; none in the crate as published.
fn artifacts(target: Target) -> Vec<(Breach, PathBuf)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts").join(target.to_string());
    let artifact = |breach: Breach| (breach, directory.join(breach.slug()));
    Breach::all().map(artifact).filter(|(_, file)| file.exists()).collect()
}

/// A random schedule, of the small starts without delays in which rings break, that breaks this.
fn another(target: Target, breach: Breach) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(31);
    let options = Options { only: Only::these(vec![breach]), ..Options::default() };
    let mut input = || {
        let mut input = bytes(&mut rng, MAX_BYTES);
        input[0] = mutate::confine(input[0], Some(rng.u8(1..=3)), Some(false));
        input
    };
    let breaks =
        |input: &Vec<u8>| run(target, &Schedule::decode(input), &options, &mut ()).verdict == Verdict::Violated(breach);
    iter::repeat_with(&mut input).take(100_000).find(breaks).expect("it is not that rare")
}

#[test]
fn properties_are_kept_apart_and_inputs_put_together() {
    for target in [Sigcomm2001::TARGET, Ccr2012::TARGET] {
        let artifacts = artifacts(target);
        let (mut stacks, mut lines, mut states) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (breach, artifact) in &artifacts {
            let inputs = [fs::read(artifact).unwrap(), another(target, *breach)];
            let [first, second] = inputs.map(|input| Crash::of(target, *breach, &input));
            assert_ne!(first.message(), second.message(), "they are different schedules");
            for crash in [&first, &second] {
                assert_eq!(crash.message().lines().next(), Some(format!("{target}/{breach}").as_str()));
                assert_eq!(crash.dedup_token(), format!("DEDUP_TOKEN: {target}--{breach}"));
            }
            assert_eq!(first.casr(), second.casr(), "{target}/{breach}");
            assert_eq!(first.crash_state(), second.crash_state(), "{target}/{breach}");

            let (stack, line) = first.casr();
            assert!(line.contains("src/search/fuzzing.rs:"), "the panic's machinery is ignored: {stack:?}");
            let function = format!("chord_fuzz::search::fuzzing::{}", breach.slug().replace('-', "_"));
            assert_eq!(first.crash_state()[0], function, "{:?}", first.frames());
            lines.insert(line.to_owned());
            stacks.insert(stack.join("\n"));
            states.insert(first.crash_state().join("\n"));
        }
        for (what, different) in [("casr's stacks", stacks), ("crash lines", lines), ("crash states", states)] {
            assert_eq!(different.len(), artifacts.len(), "{target}, {what}: {different:#?}");
        }
    }
}

/// From a crash to understanding it, by commands to be copied.
#[test]
fn the_panic_says_it_all() {
    let target = Ccr2012::TARGET;
    let Some((breach, artifact)) = artifacts(target).into_iter().next() else { return };
    let crash = Crash::of(target, breach, &fs::read(artifact).unwrap());
    expect![[r#"
        ccr2012/AtMostOneRing
        AtMostOneRing is broken (P02; Z12, OneOrderedRing)

        pointers as succ/succ2/prdc:
            0: 1/0/3, 2: 3/2/1
        the same after fair maintenance:
            0: 0/0/0, 2: 2/2/2
        by any order of maintenance:
            irreparable: no pointer leads from 0 to the other members, or back
        assumptions:
            failure assumption held; no stable base in this version; perfect failure detection; every datagram arrives before the next step
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

        replay it:
            cargo run --release -- replay --version ccr2012 fuzz/artifacts/ccr2012/crash-8c9627756fa36c1c25c5b341c350909670c52e6d
        minimize it:
            CHORD_FUZZ_ONLY=at-most-one-ring cargo fuzz tmin --sanitizer none --no-trace-compares --runs 20000 ccr2012 fuzz/artifacts/ccr2012/crash-8c9627756fa36c1c25c5b341c350909670c52e6d
        explain it:
            cargo run --release -- explain --version ccr2012 fuzz/artifacts/ccr2012/crash-8c9627756fa36c1c25c5b341c350909670c52e6d
        view it:
            cargo run --release -- view --version ccr2012 fuzz/artifacts/ccr2012/crash-8c9627756fa36c1c25c5b341c350909670c52e6d -o fuzz/artifacts/ccr2012/crash-8c9627756fa36c1c25c5b341c350909670c52e6d.html
        prove it:
            cargo run --release -- prove --version ccr2012 fuzz/artifacts/ccr2012/crash-8c9627756fa36c1c25c5b341c350909670c52e6d

    "#]].assert_eq(crash.message());
}
