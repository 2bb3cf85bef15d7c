//! The number of calls of some functions, for tests of what a program does not call.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::memory::locked;

/// `CROQ_PTX_CALLS`: a file for the numbers of calls so far, a line for each function.
pub fn count(function: &'static str) {
    static CALLS: Mutex<BTreeMap<&str, u64>> = Mutex::new(BTreeMap::new());
    let Some(path) = std::env::var_os("CROQ_PTX_CALLS") else {
        return;
    };
    let mut calls = locked(&CALLS);
    *calls.entry(function).or_default() += 1;
    let lines: String = calls
        .iter()
        .map(|(function, calls)| format!("{function} {calls}\n"))
        .collect();
    // After every call, because a program may end at any moment.
    if let Err(error) = std::fs::write(&path, lines) {
        eprintln!("PTX machine: {}: {error}", path.display());
    }
}
