//! Barriers against a model: every thread of a block is run on its own and notes what it touches and
//! which barriers it has passed; then no two threads may touch one element, one of them writing, with
//! no barrier between. What programs race among the instances of one `parallel` is their own affair.

use std::collections::{BTreeMap, HashSet};

use super::insert_barriers;
use crate::diagnostics::Diagnostics;
use crate::ir::*;
use crate::passes::model::{Event, Thread, Value};
use crate::symbolic::Var;
use crate::{sema, source, syntax};

/// Two events that no barrier orders although one must come first.
fn race(events: &[Event], threads: i128) -> Option<(&Event, &Event)> {
    let mut by_element: BTreeMap<(BufferId, i128), Vec<&Event>> = BTreeMap::new();
    for event in events {
        by_element
            .entry((event.buffer, event.element))
            .or_default()
            .push(event);
    }
    let unit = |level: Level, tid: i128| match level {
        Level::Block => tid / threads.max(1),
        Level::Group4 => tid / 128,
        Level::Group => tid / 32,
        Level::Thread => tid,
    };
    for list in by_element.values() {
        for (at, a) in list.iter().enumerate() {
            for b in &list[at + 1..] {
                if a.tid == b.tid || !(a.write || b.write) {
                    continue;
                }
                let common = a
                    .path
                    .iter()
                    .zip(&b.path)
                    .take_while(|(x, y)| x == y)
                    .last();
                let level = common.map_or(Level::Block, |(p, _)| p.2);
                let level = level.min(a.team).min(b.team);
                let independent = unit(level, a.tid) != unit(level, b.tid);
                let one_statement = a.at == b.at && a.team == b.team && a.team != Level::Thread;
                if independent || one_statement {
                    continue;
                }
                let same = |l: Level| unit(l, a.tid) == unit(l, b.tid);
                let ordered = a.epochs[0] != b.epochs[0]
                    || (same(Level::Group4) && a.epochs[1] != b.epochs[1])
                    || (same(Level::Group) && a.epochs[2] != b.epochs[2])
                    || (a.tid == 0 && a.loads < b.loads)
                    || (b.tid == 0 && b.loads < a.loads);
                if !ordered {
                    return Some((a, b));
                }
            }
        }
    }
    None
}

fn events_of(
    function: &Function,
    kernel: &Kernel,
    values: &BTreeMap<Var, i128>,
    host: &BTreeMap<LocalId, Value>,
) -> (Vec<Event>, i128) {
    let mut events = Vec::new();
    let mut tid = 0;
    let mut threads = 1;
    while tid < threads {
        let mut thread = Thread {
            function,
            threads,
            tid,
            values: values.clone(),
            locals: host.clone(),
            path: Vec::new(),
            entered: BTreeMap::new(),
            epochs: [0; 3],
            loads: 0,
            events: HashSet::new(),
            fuel: 4_000,
            memory: None,
        };
        threads = thread.sym(&kernel.threads);
        thread.threads = threads;
        thread.block(&kernel.body);
        events.extend(thread.events);
        // All of the first warp, and some of each other.
        tid += if tid < 36 { 1 } else { 31 };
    }
    (events, threads)
}

/// Every kernel of the file, for a few sizes.
fn check_file(path: &str, text: &str) {
    let mut diags = Diagnostics::new();
    let file = source::load(path, text, &[], &mut diags);
    let functions = syntax::parse(&file, &mut diags);
    let mut program = sema::check(&file, &functions, &sema::Options::default(), &mut diags);
    for function in &mut program {
        for at in 0..function.kernels.len() {
            crate::passes::tma::prepare(function, KernelId(at as u32));
            insert_barriers(function, KernelId(at as u32));
        }
        for size in [6, 19] {
            let mut values = BTreeMap::new();
            for (at, dim) in function.dims.iter().enumerate() {
                values.insert(dim.var, size + at as i128);
            }
            for param in &function.params {
                if let ParamKind::Scalar { var: Some(v), .. } = param.kind {
                    values.insert(v, 2);
                }
            }
            let host = host_values(function, &values);
            for kernel in &function.kernels {
                let (events, threads) = events_of(function, kernel, &values, &host);
                if let Some((a, b)) = race(&events, threads) {
                    let line = |e: &Event| text[..e.at as usize].matches('\n').count() + 1;
                    panic!(
                        "{path}: {} with {size}: `{}` on lines {} and {}\n{a:?}\n{b:?}",
                        kernel.name,
                        function.buffer(a.buffer).name,
                        line(a),
                        line(b),
                    );
                }
            }
        }
    }
}

/// Scalars that host code declares on the way.
fn host_values(function: &Function, values: &BTreeMap<Var, i128>) -> BTreeMap<LocalId, Value> {
    let mut host = Thread {
        function,
        threads: 1,
        tid: 0,
        values: values.clone(),
        locals: BTreeMap::new(),
        path: Vec::new(),
        entered: BTreeMap::new(),
        epochs: [0; 3],
        loads: 0,
        events: HashSet::new(),
        fuel: 10_000,
        memory: None,
    };
    host.block(&function.body);
    host.locals
}

fn co_files(folder: &std::path::Path, out: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            co_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "co") {
            out.push(path);
        }
    }
}

#[test]
fn the_model_sees_a_missing_barrier() {
    let text = "__co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel by 1 : block {
             shared s32 [64] a;
             parallel t by 64 : thread a.at(t) = x.at(t);
             parallel t by 64 : thread y.at(t) = a.at(63 - t);
           }
           return y;
         }";
    let mut diags = Diagnostics::new();
    let file = source::load("t.co", text, &[], &mut diags);
    let functions = syntax::parse(&file, &mut diags);
    let program = sema::check(&file, &functions, &sema::Options::default(), &mut diags);
    let function = program.first().expect("a function");
    let none = (BTreeMap::new(), BTreeMap::new());
    let (events, threads) = events_of(function, &function.kernels[0], &none.0, &none.1);
    assert!(race(&events, threads).is_some());
}

#[test]
fn no_kernel_of_the_workspace_races() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["kernels/co", "tests/run", "examples"] {
        co_files(&root.join(folder), &mut files);
    }
    files.sort();
    // Its programs are wrong, to see the simulated GPU stop them.
    files.retain(|path| !path.ends_with("stops.co"));
    assert!(!files.is_empty());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        check_file(&path.display().to_string(), &text);
    }
}
