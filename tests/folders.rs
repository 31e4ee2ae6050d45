//! The folders of `src/` know only those before them.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

/// The folders in the order in which they may know each other: each those before it.
const ORDER: [&str; 7] = ["truth", "schedule", "protocol", "world", "judge", "finding", "search"];

/// The code of a file, without comments, in which links may lead anywhere, and without what is compiled for these alone.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap().replace("#[cfg(doc)]\nuse crate", "");
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_folder_knows_only_those_before_it() {
    let mut seen = 0;
    for (at, folder) in ORDER.iter().enumerate() {
        for entry in WalkDir::new(format!("src/{folder}")).into_iter().map(Result::unwrap) {
            if !entry.file_type().is_file() {
                continue;
            }
            let code = code(entry.path());
            for (start, _) in code.match_indices("crate::") {
                let known: String =
                    code[start + "crate::".len()..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                assert!(ORDER[..=at].contains(&known.as_str()), "{} knows `{known}`", entry.path().display());
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} imports were seen");
}

/// It is tested against the replicas, so that it shares no code with them.
#[test]
fn the_model_knows_no_replicas() {
    let code = code(Path::new("src/protocol/model.rs"));
    // By a full path each, so that it can be seen; the tests' own `super::*` is the model.
    assert!(
        !code.contains("protocol::{") && !code.replace("super::*", "").contains("super::"),
        "src/protocol/model.rs"
    );
    let shared = ["list", "tse2017", "wire", "replica"].map(|file| format!("protocol::{file}"));
    assert!(shared.iter().all(|shared| !code.contains(shared)), "src/protocol/model.rs");
}

#[test]
fn the_map_names_every_folder() {
    let map = code(Path::new("src/lib.rs"));
    let mut folders: Vec<_> = ORDER.to_vec();
    folders.sort_unstable();
    let named: Vec<_> = map.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert_eq!(named, folders);
}
