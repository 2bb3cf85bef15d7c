//! Tests barriers against a model: every thread of a block is executed separately and records its
//! accesses and barriers. No two threads may access one element, one of them writing, without a
//! barrier between. Races among the instances of one `parallel` are allowed.

use super::{Pairs, insert_barriers, separate};
use crate::diagnostics::Diagnostics;
use crate::ir::*;
use crate::passes::analysis::shared_memory::{Limits, plan};
use crate::passes::model::{Event, Thread, Value};
use crate::sema::testing;
use crate::sorted::SortedMap;
use crate::symbolic::Var;

/// The memory of an event: an element of a buffer, or a byte that several buffers share.
type Cell = (Option<BufferId>, i128);

fn cells(event: &Event, function: &Function, kernel: &Kernel) -> Vec<Cell> {
    let range = |p: &Placed| Some((p.offset.as_int()?, p.offset.as_int()? + p.bytes.as_int()?));
    let own = kernel.shared.iter().find(|p| p.buffer == event.buffer);
    let overlaps = |own: &Placed| {
        kernel
            .shared
            .iter()
            .any(|other| match (range(own), range(other)) {
                _ if other.buffer == own.buffer => false,
                (Some((a, b)), Some((c, d))) => a < d && c < b,
                _ => own.offset == other.offset,
            })
    };
    match own {
        // Slots of symbolic offset overlap only if they are the same slot.
        Some(own) if overlaps(own) => {
            let size = i128::from(function.buffer(event.buffer).elem.bytes());
            let begin = own.offset.as_int().map_or(1 << 40, i128::from) + event.element * size;
            (begin..begin + size).map(|byte| (None, byte)).collect()
        }
        _ => vec![(Some(event.buffer), event.element)],
    }
}

/// Two conflicting events that no barrier orders.
pub fn race<'e>(
    events: &'e [Event],
    threads: i128,
    function: &Function,
    kernel: &Kernel,
) -> Option<(&'e Event, &'e Event)> {
    let mut by_element: Vec<(Cell, &Event)> = Vec::new();
    for event in events {
        let cells = cells(event, function, kernel).into_iter();
        by_element.extend(cells.map(|cell| (cell, event)));
    }
    by_element.sort_by_key(|(cell, _)| *cell);
    let unit = |level: Level, tid: i128| tid / level.threads().map_or(threads.max(1), i128::from);
    for list in by_element.chunk_by(|a, b| a.0 == b.0) {
        // Most cells are of inputs, which every thread may read.
        if !list.iter().any(|(_, event)| event.write) {
            continue;
        }
        for (at, (_, a)) in list.iter().enumerate() {
            for (_, b) in &list[at + 1..] {
                if a.tid == b.tid || !(a.write || b.write) || (a.atomic && b.atomic) {
                    continue;
                }
                let common = a
                    .path
                    .iter()
                    .zip(b.path.iter())
                    .take_while(|(x, y)| x == y)
                    .last();
                let level = common.map_or(Level::Block, |(p, _)| p.2);
                let level = level.min(a.unit).min(b.unit);
                let same_buffer = a.buffer == b.buffer;
                let independent = same_buffer && unit(level, a.tid) != unit(level, b.tid);
                let one_statement =
                    same_buffer && a.at == b.at && a.unit == b.unit && a.unit != Level::Thread;
                if independent || one_statement {
                    continue;
                }
                // Regions of different threads are ordered only by events.
                let ordered_in_region = match (a.region, b.region) {
                    (Some(x), Some(y)) => {
                        let later = if x.released > y.released { a } else { b };
                        x.first != y.first
                            || x.epoch != y.epoch
                            || (x.released != y.released && later.write)
                    }
                    _ => false,
                };
                if ordered_in_region {
                    continue;
                }
                let same = |l: Level| unit(l, a.tid) == unit(l, b.tid);
                let ordered = a.epochs[0] != b.epochs[0]
                    || (same(Level::Warpgroup) && a.epochs[1] != b.epochs[1])
                    || (same(Level::Warp) && a.epochs[2] != b.epochs[2])
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

pub fn events_of(
    function: &Function,
    kernel: &Kernel,
    values: &SortedMap<Var, i128>,
    host: &SortedMap<LocalId, Value>,
) -> (Vec<Event>, i128) {
    let mut events = Vec::new();
    let mut tid = 0;
    let mut threads = 1;
    while tid < threads {
        let mut thread = Thread {
            values: values.clone(),
            locals: host.clone(),
            ..Thread::new(function, threads, tid, 20_000)
        };
        threads = thread.sym(&kernel.threads);
        thread.threads = threads;
        thread.block(&kernel.body);
        events.extend(thread.events);
        // All threads of the first warp, and some of each other warp.
        tid += if tid < 36 { 1 } else { 31 };
    }
    (events, threads)
}

/// The number of barriers and fences.
fn synchronisations(body: &[Stmt]) -> usize {
    struct Count(usize);
    impl Visit for Count {
        fn stmt(&mut self, stmt: &Stmt) {
            let counts = matches!(stmt.kind, StmtKind::Barrier { .. } | StmtKind::Fence(_));
            self.0 += usize::from(counts);
        }
    }
    let mut count = Count(0);
    walk_block(body, &mut count);
    count.0
}

/// Checks every kernel of the file, for a few sizes. `share_all`: memory is shared regardless of
/// the cost.
fn check_file(path: &str, text: &str) {
    let (_, program, _) = testing::program(path, text);
    let seen = check_program(path, text, program.clone(), false, &[]);
    check_program(path, text, program, true, &seen);
}

/// The placement of a kernel's shared buffers, and its number of barriers.
type Plan = (Vec<Placed>, usize);

/// Returns the plans of the kernels. A kernel whose plan is among `seen` has been checked already.
fn check_program(
    path: &str,
    text: &str,
    mut program: Vec<Function>,
    share_all: bool,
    seen: &[Plan],
) -> Vec<Plan> {
    let mut plans = Vec::new();
    for function in &mut program {
        let first = plans.len();
        for at in 0..function.kernels.len() {
            let id = KernelId(at as u32);
            crate::passes::transform::single_thread_levels::add(function, id);
            crate::passes::transform::thread_order::choose(function, id);
            let events =
                crate::passes::lower::events::prepare(function, id, &mut Diagnostics::new());
            crate::passes::lower::tma::prepare(function, id, events);
            insert_barriers(function, KernelId(at as u32));
            let steps = synchronisations(&function.kernels[at].body);
            separate(function, KernelId(at as u32), &Pairs::new());
            let again = synchronisations(&function.kernels[at].body);
            assert_eq!(steps, again, "{path}: a second walk finds all in place");
            let least = if share_all { 0 } else { u64::MAX };
            let most = u64::MAX;
            plan(function, KernelId(at as u32), Limits { most, least });
            let kernel = &function.kernels[at];
            plans.push((kernel.shared.clone(), synchronisations(&kernel.body)));
        }
        for size in [6, 19] {
            let mut values = SortedMap::new();
            for (at, dim) in function.dims.iter().enumerate() {
                values.insert(dim.var, size + at as i128);
            }
            for param in &function.params {
                if let ParamKind::Scalar { var: Some(v), .. } = param.kind {
                    values.insert(v, 2);
                }
            }
            let host = host_values(function, &values);
            for (at, kernel) in function.kernels.iter().enumerate() {
                if seen.get(first + at) == plans.get(first + at) {
                    continue;
                }
                let (events, threads) = events_of(function, kernel, &values, &host);
                if let Some((a, b)) = race(&events, threads, function, kernel) {
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
    plans
}

/// Scalars that host code declares.
fn host_values(function: &Function, values: &SortedMap<Var, i128>) -> SortedMap<LocalId, Value> {
    let mut host = Thread {
        values: values.clone(),
        ..Thread::new(function, 1, 0, 10_000)
    };
    host.block(&function.body);
    host.locals
}

pub fn co_files(folder: &std::path::Path, out: &mut Vec<std::path::PathBuf>) {
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
    let function = &testing::function(text);
    let none = (SortedMap::new(), SortedMap::new());
    let (events, threads) = events_of(function, &function.kernels[0], &none.0, &none.1);
    assert!(race(&events, threads, function, &function.kernels[0]).is_some());
}

#[test]
fn no_kernel_of_the_workspace_races() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["kernels/co", "tests/run", "examples"] {
        co_files(&root.join(folder), &mut files);
    }
    files.sort();
    // Their programs are wrong on purpose, for tests of the simulated GPU's reports.
    files.retain(|path| {
        !path.ends_with("stops.co")
            && !path.ends_with("races.co")
            && !path.ends_with("device_races.co")
    });
    assert!(!files.is_empty());
    in_two_threads(&files, |path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        check_file(&path.display().to_string(), &text);
    });
}

/// For the longest tests of the crate.
pub fn in_two_threads(files: &[std::path::PathBuf], check: impl Fn(&std::path::Path) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let check = || {
        while let Some(path) = files.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            check(path);
        }
    };
    std::thread::scope(|threads| {
        threads.spawn(check);
        check();
    });
}
