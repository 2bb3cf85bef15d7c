//! What the environment asks to be written down of the launches of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::Mutex;

use croq_ptx::machine::{Profile, Program};

use crate::memory::locked;

const FORMS: &str = "CROQ_PTX_FORMS";
const COUNT: &str = "CROQ_PTX_COUNT";

/// `CROQ_PTX_FORMS`: a file for the names of the instruction forms that the program has executed.
pub fn forms(program: &Program) {
    static KNOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let Some(path) = std::env::var_os(FORMS) else {
        return;
    };
    let mut known = locked(&KNOWN);
    known.extend(program.executed());
    let lines: String = known.iter().map(|form| form.clone() + "\n").collect();
    write(&path, &lines);
}

pub fn counts_are_wanted() -> bool {
    std::env::var_os(COUNT).is_some()
}

/// `CROQ_PTX_COUNT`: a file for tables of what the launches of each kernel have executed. The file
/// with `.json` behind its name has the same as JSON. Launches that fail are not in them.
pub fn counts(launch: &Profile) {
    static KNOWN: Mutex<BTreeMap<String, Profile>> = Mutex::new(BTreeMap::new());
    let Some(path) = std::env::var_os(COUNT) else {
        return;
    };
    let mut known = locked(&KNOWN);
    let name = &launch.kernel;
    let kernel = known.entry(name.clone()).or_insert_with(|| Profile {
        kernel: name.clone(),
        ..Profile::default()
    });
    kernel.add(launch);
    let tables: Vec<String> = known.values().map(Profile::to_string).collect();
    write(&path, &tables.join("\n"));
    let objects: Vec<String> = known.values().map(Profile::to_json).collect();
    let mut json = path;
    json.push(".json");
    write(&json, &format!("[\n{}\n]\n", objects.join(",\n")));
}

fn write(path: &OsString, text: &str) {
    if let Err(error) = std::fs::write(path, text) {
        eprintln!("PTX machine: {}: {error}", path.display());
    }
}
