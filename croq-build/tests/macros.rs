//! Macros of a `.co` file and of its headers do not reach generated text, whatever their names: each
//! identifier of the text of some programs is made a macro. Needs a C++ compiler.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use croq_build::command_line;
use croq_build::ir::cpp_names;

/// Programs whose text has most of the device API.
fn programs() -> impl Iterator<Item = (String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/emit");
    let read = move |name: &str| {
        let path = folder.join(format!("{name}.co"));
        let text = std::fs::read_to_string(path).expect("a program");
        (name.to_owned(), text)
    };
    ["attention", "diffusion", "histogram"]
        .into_iter()
        .map(read)
}

fn croq(args: &[&str], path: &Path) -> command_line::Outcome {
    let path = path.display().to_string();
    let args = args.iter().copied().chain([path.as_str()]);
    command_line::run(&args.map(str::to_owned).collect::<Vec<_>>())
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
        .collect()
}

/// The identifiers of a program's generated text that a macro may have for its name: no keywords,
/// none of croq's macros, and no symbols of the file.
fn identifiers(path: &Path) -> BTreeSet<String> {
    let emitted = croq(&["emit", "--line-directives", "--arch", "sm_90a"], path);
    assert_eq!(emitted.status, 0, "{}", emitted.stderr);
    let lines = emitted.stdout.lines();
    let code = lines.map(|line| line.split("//").next().unwrap_or_default());
    let code = code.filter(|line| !line.trim_start().starts_with('#'));
    let code = code.collect::<Vec<_>>().join("\n");
    // Strings name buffers.
    let code = code.split('"').step_by(2).collect::<Vec<_>>().join(" ");
    let hash = code.split_once("CROQ_SPACE(").map(|(_, rest)| rest);
    let hash = hash.and_then(|rest| rest.get(..8)).expect("a namespace");
    let all = words(&code).into_iter();
    let is_croqs = |word: &&str| word.starts_with("CROQ_") || word.contains(hash);
    all.filter(|word| !cpp_names::is_keyword(word) && !is_croqs(word))
        .map(str::to_owned)
        .collect()
}

fn write(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn macros_of_headers_do_not_reach_generated_text() {
    for (name, text) in programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = write(&folder, &format!("{name}.co"), &text);
        let mut all = identifiers(&path);
        // A macro that a call names is meant.
        all.retain(|name| !text.contains(&format!("call {name}")));
        assert!(all.len() > 40, "{all:?}");
        let header: String = all
            .iter()
            .map(|name| format!("#define {name} no such thing\n"))
            .collect();
        write(&folder, "all.h", &header);
        write(
            &folder,
            &format!("{name}.co"),
            &format!("{text}\n#include \"all.h\"\n"),
        );
        let checked = croq(&["check", "--build", "--arch", "sm_90a"], &path);
        assert_eq!(checked.stderr, "", "{name}");
    }
}

/// Macros whose names the program does not use itself.
#[test]
fn macros_of_a_file_do_not_reach_generated_text() {
    for (name, text) in programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = write(&folder, &format!("{name}.co"), &text);
        let mut all = identifiers(&path);
        let own = words(&text);
        all.retain(|name| !own.contains(name.as_str()));
        let defines = |value: &str| -> String {
            let define = |name: &String| format!("#define {name} {value}\n");
            all.iter().map(define).collect()
        };
        // The user's own C++ mentions them, and so they are printed.
        let user: String = all
            .iter()
            .map(|name| format!("  sum += {name};\n"))
            .collect();
        let user = format!(
            "{}__device__ inline int use_all() {{\n  int sum = 0;\n  for (int i = 0; i < 2; ++i) sum += i;\n{user}  return sum;\n}}\n",
            defines("3")
        );
        write(&folder, &format!("{name}.co"), &format!("{user}{text}"));
        let checked = croq(&["check", "--build", "--arch", "sm_90a"], &path);
        assert_eq!(checked.stderr, "", "{name}");
    }
}
