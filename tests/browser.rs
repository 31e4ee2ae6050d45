//! The page of `chord-fuzz view` in a browser, by `tests/browser/page.mjs`.
//!
//! Without Chromium, Node or the driver this says what is missing, and passes, unless `CHORD_FUZZ_BROWSER` is `required`.
//! It has no harness: what it says would be hidden for a test that passes.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Zave's two rings (Z12), as the fuzzer found them.
const RINGS: &str = "\
circle 11
reconcile 0
join 9 via 0
stabilize 9
stabilize 0
reconcile 9
join 10 via 9
join 2 via 0
stabilize 2
stabilize 0
fail 2
stabilize 10
stabilize 9
fail 10
";

/// Many datagrams on their way at once; a node that joins for long, and one that fails; lists of three.
const DELAYS: &str = "\
circle 16
ring 6
lists 3
stabilize 0 delay 5 notice 5
stabilize 2 delay 3
stabilize 4 notice 5
join 3 via 2 delay 5
stabilize 2
stabilize 4
fail 6
join 7 via 4
join 6 via 4 delay 2
stabilize 4
stabilize 8
";

fn main() -> ExitCode {
    let required = env::var_os("CHORD_FUZZ_BROWSER").is_some_and(|value| value == "required");
    match missing() {
        Some(what) if required => {
            println!("the page in a browser: {what}");
            ExitCode::FAILURE
        }
        Some(what) => {
            println!("the page in a browser: skipped, {what}");
            ExitCode::SUCCESS
        }
        None => run(),
    }
}

fn starts(program: &str) -> bool {
    let run = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    run.is_ok_and(|status| status.success())
}

fn chromium() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|program| starts(program))
}

fn missing() -> Option<&'static str> {
    if chromium().is_none() {
        Some("there is no chromium")
    } else if !starts("node") {
        Some("there is no node")
    } else if !scripts().join("node_modules").exists() {
        Some("there is no driver: `npm ci --prefix tests/browser` installs it")
    } else {
        None
    }
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser")
}

fn run() -> ExitCode {
    let dir = tempfile::tempdir().unwrap();
    for (file, text) in [("ccr2012/rings", RINGS), ("best2012/rings", RINGS), ("tse2017/delays", DELAYS)] {
        let file = dir.path().join(file);
        fs::create_dir(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let view = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
        let status = command.current_dir(dir.path()).env_remove("CHORD_FUZZ_ONLY").arg("view").args(args).status();
        assert!(status.unwrap().success(), "{args:?}");
    };
    view(&["ccr2012/rings", "-o", "rings.html", "--svg", "rings"]);
    view(&["tse2017/delays", "-o", "delays.html"]);
    view(&["ccr2012/rings", "--with", "best2012/rings", "-o", "both.html"]);
    let mut node = Command::new("node");
    node.arg("--test-reporter=spec").arg(scripts().join("page.mjs"));
    let status = node.env("CHROMIUM", chromium().unwrap()).env("PAGES", dir.path()).status();
    if status.unwrap().success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
