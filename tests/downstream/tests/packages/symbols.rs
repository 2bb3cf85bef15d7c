//! A symbol identifies a kernel: packages with the same name and version from two sources.

use std::path::Path;
use std::process::Command;

use crate::file_that_adds;
use croq_downstream::{BUILD_RS, Package, workspace};

/// A package `twin` whose `add` also adds `constant`. It depends on croq by git, which the program
/// replaces by this workspace, because a package from a git repository cannot refer to paths
/// outside of it.
fn twin(package: &Package, folder: &str, constant: i32) {
    package.write(
        &format!("{folder}/Cargo.toml"),
        &format!(
            "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [build-dependencies]\ncroq-build = {{ git = \"{CROQ}\" }}\n\
             [dependencies]\ncroq-sys = {{ git = \"{CROQ}\" }}\n",
            name(package),
            CROQ = croq(package)
        ),
    );
    package.write(&format!("{folder}/build.rs"), BUILD_RS);
    package.write(
        &format!("{folder}/kernels/basic.co"),
        &file_that_adds(constant),
    );
    package.write(
        &format!("{folder}/src/lib.rs"),
        "#![forbid(unsafe_code)]\ncroq_sys::include_kernels!();\npub use kernels::add;\n",
    );
}

fn name(package: &Package) -> String {
    let folder = package.path("");
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!("{name}-twin")
}

/// A repository with empty packages that have the names of croq's.
fn croq(package: &Package) -> String {
    format!("file://{}", package.path("croq.git").display())
}

fn commit(folder: &Path) -> bool {
    let git = |args: &[&str]| {
        Command::new("git")
            .args(["-c", "user.name=croq", "-c", "user.email=croq@localhost"])
            .args(args)
            .current_dir(folder)
            .output()
            .is_ok_and(|output| output.status.success())
    };
    git(&["init", "-q", "."]) && git(&["add", "-A"]) && git(&["commit", "-q", "-m", "all"])
}

/// A program that uses the package by path, with one constant, and by git, with another one.
fn with_twins(name_of_test: &str, by_path: i32, by_git: i32) -> Package {
    let mut package = Package::new(name_of_test);
    package.uses_git = true;
    for crate_name in ["croq-sys", "croq-build"] {
        package.write(
            &format!("croq.git/{crate_name}/Cargo.toml"),
            &format!(
                "[package]\nname = \"{crate_name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n"
            ),
        );
        package.write(&format!("croq.git/{crate_name}/src/lib.rs"), "");
    }
    twin(&package, "left", by_path);
    twin(&package, "right.git", by_git);
    for repository in ["croq.git", "right.git"] {
        assert!(
            commit(&package.path(repository)),
            "git commits {repository}"
        );
    }
    std::fs::remove_file(package.path("build.rs")).expect("removed");
    let root = workspace().display().to_string();
    let (name, croq) = (name(&package), croq(&package));
    let right = package.path("right.git").display().to_string();
    package.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"{name_of_test}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
             [workspace]\nmembers = [\"left\"]\n\
             [profile.dev]\ndebug = false\n\
             [dependencies]\ncroq-sys = {{ git = \"{croq}\" }}\n\
             left = {{ path = \"left\", package = \"{name}\" }}\n\
             right = {{ git = \"file://{right}\", package = \"{name}\" }}\n\
             [patch.\"{croq}\"]\ncroq-sys = {{ path = \"{root}/croq-sys\" }}\n\
             croq-build = {{ path = \"{root}/croq-build\" }}\n"
        ),
    );
    package.write(
        "src/main.rs",
        "#![forbid(unsafe_code)]\nfn main() -> croq_sys::Result<()> {\n    \
         let x = croq_sys::Tensor::<i32, _>::from_fn((3,), |[i]| i as i32);\n    \
         println!(\"{:?}\", left::add(&x, &x)?.as_slice());\n    \
         println!(\"{:?}\", right::add(&x, &x)?.as_slice());\n    Ok(())\n}\n",
    );
    package
}

#[test]
fn packages_of_one_name_and_version_keep_their_kernels() {
    let package = with_twins("one-name-two-sources", 100, 200);
    assert_eq!(
        package.run(&[]).stdout,
        "[100, 102, 104]\n[200, 202, 204]\n"
    );
}

/// Equal files of packages with the same name and version are one object with one symbol, in two
/// copies.
#[test]
fn packages_with_the_same_file_link() {
    let package = with_twins("one-name-one-file", 100, 100);
    assert_eq!(
        package.run(&[]).stdout,
        "[100, 102, 104]\n[100, 102, 104]\n"
    );
}
