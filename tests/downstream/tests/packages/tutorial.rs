//! The programs of `docs/tutorial.md`, in one package as its reader has it.

use croq_downstream::{Package, workspace};

fn tutorial() -> String {
    std::fs::read_to_string(workspace().join("docs/tutorial.md")).expect("docs/tutorial.md")
}

/// The text of the next block, and what follows it.
fn block(text: &str) -> Option<(&str, &str)> {
    let (_, rest) = text.split_once("\n```")?;
    let (_, rest) = rest.split_once('\n')?;
    rest.split_once("```")
}

/// The files, in order, each with its text and with what follows it.
fn shown(page: &str) -> Vec<(&str, &str, &str)> {
    let mut files = Vec::new();
    for part in page.split("\n**`").skip(1) {
        let (name, rest) = part.split_once("`**\n").expect("a name");
        let (text, after) = block(rest).expect("a file");
        files.push((name, text, after));
    }
    files
}

/// Every program prints what the block behind it shows, and the test passes.
#[test]
fn the_programs_of_the_tutorial_print_what_it_shows() {
    let page = tutorial();
    let files = shown(&page);
    let package = Package::new("tutorial");
    for (name, text, _) in &files {
        package.write(name, text);
    }
    let device = [("CROQ_DEVICE", "sim")];
    let seen = package.cargo(&["build", "--bins", "--tests"], &device);
    assert!(seen.success, "{}", seen.stderr);
    // Nor does a kernel have a warning.
    assert!(!seen.stderr.contains("warning"), "{}", seen.stderr);
    let mut programs = 0;
    for (name, _, after) in &files {
        let bin = name.strip_prefix("src/bin/");
        let Some(bin) = bin.and_then(|bin| bin.strip_suffix(".rs")) else {
            continue;
        };
        let seen = package.cargo(&["run", "--quiet", "--bin", bin], &device);
        assert!(seen.success, "{bin}: {}", seen.stderr);
        let (printed, _) = block(after).expect("what it prints");
        assert_eq!(seen.stdout, printed, "{bin}");
        programs += 1;
    }
    assert_eq!(programs, 8);
    let seen = package.cargo(&["test", "--quiet", "--test", "blend"], &device);
    assert!(seen.success, "{}{}", seen.stdout, seen.stderr);
    assert!(seen.stdout.contains("1 passed"), "{}", seen.stdout);
}
