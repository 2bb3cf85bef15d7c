use std::fs;
use std::path::Path;

use super::super::outcome::BAD_USAGE;
use super::*;

fn croq(args: &[&str]) -> Outcome {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    super::super::run(&args)
}

fn said(outcome: &Outcome) -> String {
    assert_eq!((outcome.status, &*outcome.stderr), (0, ""), "{outcome:?}");
    outcome.stdout.clone()
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).expect("a file")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn a_new_package_has_all_files() {
    let base = folder();
    let place = base.path().join("deep/hello-croq");
    let text = said(&croq(&["new", &place.display().to_string()]));
    assert!(
        text.starts_with("created the package `hello-croq`"),
        "{text}"
    );
    for file in FILES {
        assert!(place.join(file).is_file(), "{file}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let manifest = read(place.join("Cargo.toml"));
    assert!(
        manifest.contains(&format!("[dependencies]\ncroq-sys = \"{version}\"\n")),
        "{manifest}"
    );
    let build = format!("[build-dependencies]\ncroq-build = \"{version}\"\n");
    assert!(manifest.contains(&build), "{manifest}");
}

/// What a new package has is what the README shows, except for the dependencies' place.
#[test]
fn a_new_package_is_the_quick_start() {
    let readme = read(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md"));
    let checkout = PathBuf::from("/x/croq");
    let wanted = Wanted {
        folder: PathBuf::from("/x/hello-croq"),
        name: "hello-croq".to_owned(),
        checkout: Some(checkout),
    };
    let manifest = manifest(&wanted).replace("/x/croq", "../croq");
    assert!(readme.contains(&manifest), "{manifest}");
    let kernel = KERNEL.split_once('\n').expect("a comment").1;
    assert!(readme.contains(kernel), "{kernel}");
    assert!(
        readme.contains(&BUILD_RS.replace("{\n    ", "{ ").replace(";\n}", "; }")),
        "{BUILD_RS}"
    );
}

#[test]
fn what_exists_is_not_replaced_by_new() {
    let base = folder();
    let place = base.path().display().to_string();
    let outcome = croq(&["new", "--name", "x", &place]);
    assert_eq!(outcome.status, DIAGNOSTICS);
    assert!(outcome.stderr.contains("exists; `croq init"), "{outcome:?}");
    assert_eq!(fs::read_dir(base.path()).expect("a folder").count(), 0);
}

#[test]
fn wrong_arguments_are_explained() {
    let base = folder();
    let at = |name: &str| base.path().join(name).display().to_string();
    for (args, status, part) in [
        (vec!["new".to_owned()], BAD_USAGE, "needs a name"),
        (
            vec!["new".to_owned(), at("a"), at("b")],
            BAD_USAGE,
            "one folder too many",
        ),
        (
            vec!["new".to_owned(), at("a"), "--pth".to_owned()],
            BAD_USAGE,
            "did you mean `--path`",
        ),
        (
            vec!["new".to_owned(), at("a"), "--path".to_owned()],
            BAD_USAGE,
            "`--path` needs a folder",
        ),
        (
            vec!["new".to_owned(), at("2a")],
            DIAGNOSTICS,
            "begins with a digit",
        ),
        (
            vec!["new".to_owned(), at("fn")],
            DIAGNOSTICS,
            "a keyword of Rust",
        ),
        (
            vec!["init".to_owned(), at("none")],
            DIAGNOSTICS,
            "is no folder; `croq new",
        ),
        (
            vec!["new".to_owned(), at("a"), format!("--path={}", at(""))],
            DIAGNOSTICS,
            "no checkout of croq",
        ),
    ] {
        let outcome = super::super::run(&args);
        assert_eq!(outcome.status, status, "{args:?}: {outcome:?}");
        assert!(outcome.stderr.contains(part), "{args:?}: {outcome:?}");
    }
    assert_eq!(fs::read_dir(base.path()).expect("a folder").count(), 0);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let base = folder();
    fs::write(base.path().join("file"), "").expect("written");
    let place = base.path().join("file/hello");
    let outcome = croq(&["new", &place.display().to_string()]);
    assert_eq!(outcome.status, DIAGNOSTICS);
    assert!(outcome.stderr.contains("can't write"), "{outcome:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let closed = base.path().join("closed");
        fs::create_dir(&closed).expect("a folder");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).expect("closed");
        let outcome = croq(&["new", &closed.join("hello").display().to_string()]);
        // Root may write nevertheless.
        let may_write = fs::write(closed.join("probe"), "").is_ok();
        assert_eq!(outcome.status == 0, may_write, "{outcome:?}");
        assert!(
            may_write || outcome.stderr.contains("can't write"),
            "{outcome:?}"
        );
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("opened");
    }
}

#[test]
fn init_adds_only_what_is_missing() {
    let base = folder();
    let place = base.path().join("mine");
    fs::create_dir_all(place.join("src")).expect("folders");
    let manifest = "[package]\nname = \"mine\"\n\n[dependencies]\ncroq-sys-extra = \"1\"\n";
    fs::write(place.join("Cargo.toml"), manifest).expect("written");
    fs::write(place.join("src/lib.rs"), "//! A library.\n").expect("written");
    let at = place.display().to_string();
    let text = said(&croq(&["init", &at]));
    for line in [
        "left Cargo.toml\n  it needs in [dependencies]: croq-sys = ",
        "\n  it needs in [build-dependencies]: croq-build = ",
        "added build.rs\n",
        "added kernels/scale.co\n",
        "left src/main.rs: there is a src/lib.rs, which needs `croq_sys::include_kernels!();`\n",
        "added .gitignore\n",
    ] {
        assert!(text.contains(line), "no {line:?} in\n{text}");
    }
    assert_eq!(read(place.join("Cargo.toml")), manifest);
    assert!(!place.join("src/main.rs").exists());
    // A second time there is nothing to add, and the advice remains.
    fs::write(place.join("build.rs"), "fn main() {}\n").expect("written");
    let text = said(&croq(&["init", &at]));
    assert!(
        text.contains("left build.rs: it needs `croq_build::compile"),
        "{text}"
    );
    assert!(
        text.contains("\nnothing is added\n") && !text.contains("added b"),
        "{text}"
    );
    assert_eq!(read(place.join("build.rs")), "fn main() {}\n");
}

#[test]
fn a_package_without_a_checkout_is_not_said_to_run() {
    let base = folder();
    let at = |name: &str| base.path().join(name).display().to_string();
    let checkout = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let missing = "note: cargo will not find croq-sys and croq-build";
    let runs = "`cargo run` there runs its kernel";
    let alone = said(&croq(&["new", &at("alone")]));
    assert!(!alone.contains(runs), "{alone}");
    assert!(alone.contains(missing), "{alone}");
    assert!(alone.contains("`--path CROQ`"), "{alone}");
    let with = said(&croq(&["new", "--path", checkout, &at("with")]));
    assert!(with.contains(runs) && !with.contains(missing), "{with}");

    fs::create_dir(at("fresh")).expect("a folder");
    let fresh = said(&croq(&["init", &at("fresh")]));
    assert!(fresh.contains(missing), "{fresh}");
    fs::create_dir(at("other")).expect("a folder");
    fs::write(at("other/Cargo.toml"), "[package]\nname = \"other\"\n").expect("written");
    let other = said(&croq(&["init", &at("other")]));
    assert!(other.contains(missing), "{other}");
    let other = said(&croq(&["init", "--path", checkout, &at("other")]));
    assert!(!other.contains(missing), "{other}");
    // It has what it needs.
    let with = said(&croq(&["init", &at("with")]));
    assert!(!with.contains(missing), "{with}");
}

#[test]
fn init_shows_the_profiles_that_a_manifest_lacks() {
    let base = folder();
    let place = base.path().display().to_string();
    let shown: String = PROFILES
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    let own = "[package]\nname = \"mine\"\n";
    let mut short = PROFILES.to_owned();
    short.truncate(PROFILES.find("[profile.dev.package").expect("the last one"));
    for (profiles, is_missing) in [("", true), (&*short, true), (PROFILES, false)] {
        fs::write(base.path().join("Cargo.toml"), format!("{own}{profiles}")).expect("written");
        let text = said(&croq(&["init", &place]));
        assert_eq!(text.contains(&shown), is_missing, "{text}");
    }
}

#[test]
fn a_missing_libclang_is_noted_before_cargo_needs_it() {
    assert_eq!(before_cargo_run(false, None), "");
    let problem = Problem::new(crate::diagnostics::codes::E1111, "libclang was not found")
        .note("looked there")
        .help("install it");
    assert_eq!(
        before_cargo_run(false, Some(problem)),
        "note: `cargo run` will fail: libclang was not found\n  note: looked there\n  help: install it\n"
    );
}

#[test]
fn init_in_an_empty_folder_makes_a_package() {
    let base = folder();
    let place = base.path().join("fresh");
    fs::create_dir(&place).expect("a folder");
    let text = said(&croq(&["init", &place.display().to_string()]));
    assert_eq!(text.matches("added ").count(), FILES.len(), "{text}");
    assert!(read(place.join("Cargo.toml")).contains("name = \"fresh\""));
    let again = said(&croq(&["init", &place.display().to_string()]));
    assert_eq!(again.matches("left ").count(), FILES.len(), "{again}");
    // Nothing is missing in any of them.
    assert!(!again.contains("needs"), "{again}");
    // A folder whose name is no name of a package needs another one.
    let odd = base.path().join("2 odd");
    fs::create_dir(&odd).expect("a folder");
    let odd = odd.display().to_string();
    assert!(
        croq(&["init", &odd])
            .stderr
            .contains("`--name` gives another")
    );
    said(&croq(&["init", "--name=odd", &odd]));
}

#[test]
fn the_path_of_a_checkout_is_relative_if_it_was_given_so() {
    let here = std::env::current_dir().expect("a folder");
    assert_eq!(
        from(&here.join("a/b"), Path::new("../croq")),
        Path::new("../../../croq")
    );
    assert_eq!(from(&here.join("a"), Path::new("/x")), Path::new("/x"));
    assert_eq!(quoted("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000A\"");
}

#[test]
fn a_package_in_a_workspace_has_to_be_listed() {
    let base = folder();
    fs::write(
        base.path().join("Cargo.toml"),
        "[workspace]\nmembers = []\n",
    )
    .expect("written");
    let text = said(&croq(&[
        "new",
        &base.path().join("inner").display().to_string(),
    ]));
    assert!(
        text.contains("is a workspace: its `members` need this folder"),
        "{text}"
    );
}

#[test]
fn documents_show_the_profiles_of_a_new_package() {
    let place = folder();
    let package = place.path().join("shown");
    said(&croq(&["new", &package.display().to_string()]));
    assert!(read(package.join("Cargo.toml")).ends_with(PROFILES));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in [
        "README.md",
        "croq-build/README.md",
        "croq-sys/README.md",
        "docs/building.md",
    ] {
        assert!(read(repository.join(file)).contains(PROFILES), "{file}");
    }
}
