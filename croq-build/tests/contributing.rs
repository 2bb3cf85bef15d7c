//! `docs/contributing.md` shows real code: the files that it names exist, and the lines around its edits are in
//! them, in that order.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/contributing.md")).expect("docs/contributing.md")
}

/// A fenced block: its language and its lines.
fn blocks(page: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language, block));
        }
    }
    blocks
}

/// Paths in backticks outside of blocks: those with a slash that begin in a folder of the repository.
fn named_paths(page: &str) -> Vec<&str> {
    const FOLDERS: [&str; 6] = [
        "croq-build/",
        "croq-sys/",
        "docs/",
        "tests/",
        "kernels/",
        "scripts/",
    ];
    let mut is_block = false;
    let prose = page.lines().filter(|line| {
        let fence = line.starts_with("```");
        is_block ^= fence;
        !fence && !is_block
    });
    prose
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .filter(|text| FOLDERS.iter().any(|folder| text.starts_with(folder)))
        .filter(|text| !text.contains('*'))
        .collect()
}

#[test]
fn named_files_exist() {
    let page = page();
    let paths = named_paths(&page);
    assert!(paths.len() > 20, "only {} paths", paths.len());
    // Made by the change that the page describes.
    let made = "croq-build/src/diagnostics/explain/text/N0762.md";
    let missing: Vec<&&str> = paths
        .iter()
        .filter(|path| **path != made && !root().join(path).exists())
        .collect();
    assert!(missing.is_empty(), "there is no {missing:?}");
}

/// Lines of `diff` blocks that begin with a space or a minus, and whole blocks that begin with the name of a file.
#[test]
fn lines_around_edits_exist() {
    let page = page();
    let mut checked = 0;
    for (language, block) in blocks(&page) {
        let Some((first, lines)) = block.split_first() else {
            continue;
        };
        let is_diff = language == "diff";
        let path = match is_diff {
            true => first.strip_prefix("--- "),
            false => first.strip_prefix("// "),
        };
        let Some(path) = path else {
            assert!(!is_diff, "a diff of which file? {first}");
            continue;
        };
        let text = fs::read_to_string(root().join(path)).unwrap_or_default();
        let mut rest = text.lines();
        for line in lines {
            let line = match (is_diff, line.chars().next()) {
                (true, Some('+')) => continue,
                (true, _) => line.get(1..).unwrap_or_default(),
                (false, _) => line,
            };
            assert!(
                rest.any(|found| found == line),
                "{path} has no line `{line}`"
            );
            checked += 1;
        }
    }
    assert!(checked >= 14, "only {checked} lines");
}

/// At most 100 columns, except in code.
#[test]
fn lines_are_short() {
    for line in page().lines() {
        let is_code = line.starts_with(['+', '-', ' ', '|']);
        assert!(is_code || line.chars().count() <= 100, "{line}");
    }
}
