//! The shape of the compiler's source: which file may depend on which, and how large types and functions get.
//! Tests are left out (`#[cfg(test)]`, `tests.rs`).
//!
//! An exception is named here with its reason; one that is no longer needed fails the test too. There are at most
//! three types among them, and at most five functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

#[path = "structure/cycles.rs"]
mod cycles;
#[path = "structure/paths.rs"]
mod paths;
#[path = "structure/sizes.rs"]
mod sizes;
#[path = "structure/sources.rs"]
mod sources;

use sizes::Sizes;
use sources::Sources;

const FIELDS: usize = 16;
const LINES: usize = 100;
const PARAMETERS: usize = 6;

/// `file: name`, and why.
type Exceptions = [(&'static str, &'static str)];

const LARGE_TYPES: &Exceptions = &[(
    "ir/function.rs: Function",
    "the root of the IR: a list for each kind of declaration",
)];

/// As calls of methods are no paths, the files of one such type may depend on each other without that
/// [`files_depend_on_each_other_in_one_direction`] sees it.
const SPREAD_METHODS: &Exceptions = &[
    (
        "emit/body.rs: Body",
        "statements contain statements: each file prints one kind and goes on with the block",
    ),
    (
        "symbolic/prove.rs: Prover",
        "the search for bounds, residues and quotients is recursive",
    ),
];

const LONG_FUNCTIONS: &Exceptions = &[("emit/stmt.rs: stmt", "one arm for each kind of statement")];

const PARAMETER_LISTS: &Exceptions = &[];

/// Of croq-sys.
const RUN_TIME: &Exceptions = &[
    ("error.rs: fmt", "one arm for each error"),
    ("sim/worker.rs: prepare", "sets up every part of a launch"),
];

const RUN_TIME_METHODS: &Exceptions = &[];

/// Groups of files that depend on each other: none.
const CYCLES: &[&[&str]] = &[];

/// The crate's modules, and those that each may name items of: the stages in the order of the crate's
/// documentation, what every stage may use (`sorted`, `span`, `diagnostics`, `symbolic`), what a build chooses
/// (`settings`, `target`), and what ties the stages together.
const STAGES: &[(&str, &[&str])] = &[
    ("source", &["sorted", "span", "diagnostics"]),
    ("assembly", &["sorted"]),
    ("syntax", &["span", "source", "diagnostics"]),
    ("diagnostics", &["sorted", "span"]),
    (
        "sema",
        &[
            "sorted",
            "parallel",
            "span",
            "assembly",
            "source",
            "syntax",
            "symbolic",
            "diagnostics",
            "ir",
        ],
    ),
    ("ir", &["sorted", "span", "symbolic"]),
    (
        "passes",
        &[
            "sorted",
            "span",
            "settings",
            "symbolic",
            "diagnostics",
            "ir",
        ],
    ),
    (
        "emit",
        &[
            "sorted", "span", "assembly", "source", "symbolic", "ir", "passes",
        ],
    ),
    (
        "toolchain",
        &[
            "sorted",
            "parallel",
            "span",
            "target",
            "source",
            "diagnostics",
        ],
    ),
    ("suppression", &["span", "source", "syntax", "diagnostics"]),
    (
        "pipeline",
        &[
            "suppression",
            "parallel",
            "span",
            "target",
            "settings",
            "source",
            "syntax",
            "diagnostics",
            "sema",
            "ir",
            "passes",
            "emit",
        ],
    ),
    ("settings", &["diagnostics"]),
    (
        "config",
        &["settings", "diagnostics", "build_script", "error"],
    ),
    (
        "build_script",
        &[
            "target",
            "settings",
            "source",
            "diagnostics",
            "toolchain",
            "pipeline",
            "suppression",
            "error",
            "cargo_warnings",
        ],
    ),
    ("error", &["source", "diagnostics", "toolchain"]),
    (
        "cargo_warnings",
        &["source", "diagnostics", "toolchain", "error"],
    ),
    (
        "command_line",
        &[
            "span",
            "settings",
            "source",
            "diagnostics",
            "toolchain",
            "emit",
            "pipeline",
        ],
    ),
    ("symbolic", &["sorted"]),
    ("sorted", &[]),
    ("lib", &["config"]),
];

fn compiler() -> Sources {
    Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

/// The simulated GPU and what generated code rests on.
fn run_time() -> Sources {
    Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../croq-sys/src"))
}

/// What was found that no exception names, and the exceptions that nothing needs.
fn violations(rule: &str, found: BTreeMap<String, String>, exceptions: &Exceptions) -> String {
    let mut wrong = String::new();
    for (name, what) in &found {
        if !exceptions.iter().any(|(exception, _)| exception == name) {
            wrong.push_str(&format!("\n  {name}: {what}"));
        }
    }
    for (exception, _) in exceptions {
        if !found.contains_key(*exception) {
            wrong.push_str(&format!("\n  {exception}: no exception is needed any more"));
        }
    }
    match wrong.as_str() {
        "" => wrong,
        _ => format!("\n{rule}:{wrong}"),
    }
}

fn large_types(sources: &Sources) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in &sources.files {
        for (name, count) in Sizes::of(&file.tree).fields {
            if count > FIELDS {
                found.insert(format!("{}: {name}", file.name), format!("{count} fields"));
            }
        }
    }
    found
}

fn spread_methods(sources: &Sources) -> BTreeMap<String, String> {
    let name = |file: usize| sources.files[file].name.as_str();
    let mut found = BTreeMap::new();
    for (ty, homes) in sizes::homes_of_methods(sources) {
        if homes.len() > 1 {
            let homes: Vec<&str> = homes.into_iter().map(name).collect();
            found.insert(
                format!("{}: {}", name(ty.file), ty.name),
                format!("methods in {}", homes.join(", ")),
            );
        }
    }
    found
}

fn long_functions(sources: &Sources) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in &sources.files {
        for function in Sizes::of(&file.tree).functions {
            if function.lines > LINES {
                found.insert(
                    format!("{}: {}", file.name, function.name),
                    format!("{} lines", function.lines),
                );
            }
        }
    }
    found
}

fn many_parameters(sources: &Sources) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in &sources.files {
        for function in Sizes::of(&file.tree).functions {
            if function.parameters > PARAMETERS {
                found.insert(
                    format!("{}: {}", file.name, function.name),
                    format!("{} parameters", function.parameters),
                );
            }
        }
    }
    found
}

#[test]
fn exceptions_are_few() {
    let types = [LARGE_TYPES, SPREAD_METHODS, RUN_TIME_METHODS].concat();
    let functions = [LONG_FUNCTIONS, PARAMETER_LISTS, RUN_TIME].concat();
    assert!(types.len() <= 3, "{types:?}");
    assert!(functions.len() <= 5, "{functions:?}");
}

#[test]
fn types_and_functions_are_small() {
    let compiler = compiler();
    let wrong = [
        violations(
            &format!("structs and variants have at most {FIELDS} fields"),
            large_types(&compiler),
            LARGE_TYPES,
        ),
        violations(
            "methods of a type are in one file",
            spread_methods(&compiler),
            SPREAD_METHODS,
        ),
        violations(
            &format!("functions have at most {LINES} lines"),
            long_functions(&compiler),
            LONG_FUNCTIONS,
        ),
        violations(
            &format!("functions have at most {PARAMETERS} parameters"),
            many_parameters(&compiler),
            PARAMETER_LISTS,
        ),
    ];
    assert!(wrong.concat().is_empty(), "{}", wrong.concat());
}

#[test]
fn types_and_functions_of_the_run_time_are_small() {
    let run_time = run_time();
    let mut found = large_types(&run_time);
    found.extend(long_functions(&run_time));
    found.extend(many_parameters(&run_time));
    let wrong = [
        violations("types and functions of croq-sys are small", found, RUN_TIME),
        violations(
            "methods of a type of croq-sys are in one file",
            spread_methods(&run_time),
            RUN_TIME_METHODS,
        ),
    ];
    assert!(wrong.concat().is_empty(), "{}", wrong.concat());
}

#[test]
fn files_depend_on_each_other_in_one_direction() {
    let sources = compiler();
    let name = |file: usize| sources.files[file].name.as_str();
    let edges = sources.edges();
    let mut known: BTreeSet<Vec<&str>> = CYCLES.iter().map(|group| group.to_vec()).collect();
    let mut wrong = String::new();
    for group in cycles::groups(sources.files.len(), edges.keys().copied()) {
        let mut names: Vec<&str> = group.iter().map(|file| name(*file)).collect();
        names.sort_unstable();
        if known.remove(&names) {
            continue;
        }
        wrong.push_str(&format!("\nbetween {}:\n", names.join(", ")));
        for ((from, to), items) in &edges {
            if group.contains(from) && group.contains(to) {
                let items: Vec<&str> = items.iter().map(String::as_str).collect();
                wrong.push_str(&format!(
                    "  {} → {}: {}\n",
                    name(*from),
                    name(*to),
                    items.join(", ")
                ));
            }
        }
    }
    for group in known {
        wrong.push_str(&format!("\nno longer as listed: {}\n", group.join(", ")));
    }
    assert!(
        wrong.is_empty(),
        "files depend on each other in a circle:\n{wrong}"
    );
}

#[test]
fn stages_import_those_before_them() {
    let sources = compiler();
    let top = |file: usize| {
        let name = &sources.files[file].name;
        name.split('/')
            .next()
            .unwrap_or(name)
            .trim_end_matches(".rs")
            .to_owned()
    };
    let mut found: BTreeMap<(String, String), String> = BTreeMap::new();
    for ((from, to), items) in sources.edges() {
        let (a, b) = (top(from), top(to));
        if a != b {
            let files = (&sources.files[from].name, &sources.files[to].name);
            let items: Vec<String> = items.into_iter().collect();
            found.entry((a, b)).or_default().push_str(&format!(
                "\n    {} → {}: {}",
                files.0,
                files.1,
                items.join(", ")
            ));
        }
    }
    let mut wrong = String::new();
    for ((from, to), how) in &found {
        let allowed = STAGES.iter().find(|(stage, _)| stage == from);
        if !allowed.is_some_and(|(_, others)| others.contains(&to.as_str())) {
            wrong.push_str(&format!("\n  {from} → {to}{how}"));
        }
    }
    for (from, others) in STAGES {
        for to in *others {
            if !found.contains_key(&((*from).to_owned(), (*to).to_owned())) {
                wrong.push_str(&format!("\n  {from} → {to} is not needed any more"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "modules import what their stage may not:{wrong}"
    );
}
