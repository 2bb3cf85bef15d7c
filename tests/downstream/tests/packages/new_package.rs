//! The packages that `croq new` and `croq init` make.

use croq_build::command_line;
use croq_downstream::{Package, workspace};

/// Runs `croq` with `--path` of this workspace, which must succeed.
fn croq(command: &str, package: &Package) -> String {
    let place = package.path("").display().to_string();
    let place = place.trim_end_matches('/').to_owned();
    let checkout = format!("--path={}", workspace().display());
    let outcome = command_line::run(&[command.to_owned(), checkout, place]);
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{outcome:?}");
    outcome.stdout
}

/// The folder may be inside of a workspace.
fn alone(package: &Package) {
    package.edit(
        "Cargo.toml",
        "[dependencies]\n",
        "[workspace]\n\n[dependencies]\n",
    );
}

#[test]
fn a_new_package_runs_as_it_is() {
    let package = Package::new("made-by-croq-new");
    std::fs::remove_dir_all(package.path("")).expect("removed");
    croq("new", &package);
    alone(&package);
    let seen = package.run(&[]);
    assert_eq!(seen.stdout, "1000 elements, all as in plain Rust\n");
    assert!(!seen.stderr.contains("warning"), "{}", seen.stderr);
}

#[test]
fn a_package_that_init_completes_runs() {
    let package = Package::new("completed-by-init");
    let kept = package.path("kernels/scale.co");
    let before = std::fs::read_to_string(&kept).expect("a kernel");
    std::fs::remove_file(package.path("src/main.rs")).expect("removed");
    std::fs::remove_file(package.path("build.rs")).expect("removed");
    let said = croq("init", &package);
    for line in [
        "left Cargo.toml\n",
        "added build.rs\n",
        "left kernels/scale.co\n",
        "added src/main.rs\n",
    ] {
        assert!(said.contains(line), "no {line:?} in\n{said}");
    }
    assert_eq!(std::fs::read_to_string(&kept).expect("a kernel"), before);
    assert_eq!(
        package.run(&[]).stdout,
        "1000 elements, all as in plain Rust\n"
    );
}
