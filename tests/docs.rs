//! The pages: their links lead somewhere, and the command takes the command lines that they show.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use walkdir::WalkDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and all pages below docs/, with their text.
fn pages() -> Vec<(PathBuf, String)> {
    let docs =
        WalkDir::new(root().join("docs")).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    let pages = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    [root().join("README.md")].into_iter().chain(pages).map(|path| (path.clone(), read(&path))).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of a page, and whether each is within a code block.
fn lines(page: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut within = false;
    page.lines().filter_map(move |line| {
        let fence = line.trim_start().starts_with("```");
        within ^= fence;
        (!fence).then_some((within, line))
    })
}

/// Where the links of a page lead.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let prose = lines(page).filter(|(code, _)| !code);
    prose.flat_map(|(_, line)| line.split("](").skip(1)).filter_map(|rest| Some(rest.split_once(')')?.0))
}

/// The anchors that GitHub gives the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut times = HashMap::new();
    let headings = lines(page).filter(|(code, line)| !code && line.starts_with('#'));
    headings
        .map(|(_, heading)| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let before = times.entry(slug.clone()).or_insert(0);
            *before += 1;
            if *before == 1 { slug } else { format!("{slug}-{}", *before - 1) }
        })
        .collect()
}

/// The arguments of every command line in the text, that is up to what is for the shell.
fn command_lines(page: &str) -> Vec<Vec<&str>> {
    let shell = |word: &&str| !matches!(*word, "#" | "|" | "&&" | ";" | ">" | "\\");
    let shown = lines(page).flat_map(|(code, line)| {
        let end = if code { '\n' } else { '`' };
        let marks: &[&str] = if code { &["cargo run --release -- ", "chord-fuzz "] } else { &["`chord-fuzz "] };
        marks.iter().flat_map(move |mark| line.split(mark).skip(1)).filter_map(move |rest| rest.split(end).next())
    });
    // Where a page says V, any version is meant.
    let any = |word| if word == "V" { "ccr2012" } else { word };
    shown.map(|line| line.split_whitespace().take_while(shell).map(any).collect()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for (path, page) in pages() {
        for link in links(&page).filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
            let to = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let there = to.exists() && anchor.is_none_or(|anchor| anchors(&read(&to)).contains(anchor));
            checked += 1;
            if !there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(checked > 100);
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_readme_is_short() {
    assert!(read(&root().join("README.md")).lines().count() <= 150);
}

/// With `--help` at the end nothing is done, but what stands before it must be right.
#[test]
fn the_command_takes_the_command_lines_of_the_pages() {
    let mut refused = Vec::new();
    let mut checked = 0;
    for (path, page) in pages() {
        for args in command_lines(&page) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_chord-fuzz"));
            let output = command.args(&args).arg("--help").output().unwrap();
            checked += 1;
            if !output.status.success() {
                let told = String::from_utf8_lossy(&output.stderr);
                refused.push(format!("{}: {}: {told}", path.display(), args.join(" ")));
            }
        }
    }
    assert!(checked > 20);
    assert!(refused.is_empty(), "{refused:#?}");
}
