//! The quick start of the README is a crate: this builds and runs it.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The code blocks that follow a line of the form **`path`**.
fn named_blocks(readme: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_prefix("**`").and_then(|l| l.strip_suffix("`**")) else {
            continue;
        };
        let text: Vec<&str> = lines
            .by_ref()
            .skip_while(|l| !l.starts_with("```"))
            .skip(1)
            .take_while(|l| !l.starts_with("```"))
            .collect();
        blocks.push((path.to_owned(), text.join("\n") + "\n"));
    }
    blocks
}

#[test]
fn the_quick_start_builds_and_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let blocks = named_blocks(&readme);
    let names: Vec<&str> = blocks.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        names,
        ["Cargo.toml", "build.rs", "kernels/scale.co", "src/main.rs"]
    );

    let folder = tempfile::tempdir().unwrap();
    for (path, text) in &blocks {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // The README's crate lies beside a checkout called `croq`.
        fs::write(path, text.replace("../croq", root.to_str().unwrap())).unwrap();
    }
    // The versions that this workspace was tested with, which are at hand without a network.
    fs::copy(root.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(folder.path())
        .env("CARGO_TARGET_DIR", root.join("target/quick-start"))
        .env("CARGO_PROFILE_DEV_BUILD_OVERRIDE_OPT_LEVEL", "1")
        .env("CROQ_DEVICE", "sim")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "[0.0, 1.5, 3.0, 4.5, 6.0]",
        "{errors}"
    );
}
