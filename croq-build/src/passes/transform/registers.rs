//! Register counts per thread: `setreg` moves registers between the warpgroups of a block.
//!
//! A block has as many registers as its threads have at its start. PTX ISA, `setmaxnreg`: `.inc`
//! waits until enough registers are free, so a request that can never be satisfied is a deadlock;
//! between two changes the warps of a warpgroup must synchronise.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    BarrierReason, BarrierScope, Function, KernelId, LaunchAttrs, Registers, Stmt, StmtKind,
    ThreadSet, WARPGROUP_THREADS,
};
use crate::source::Span;

/// The registers of a multiprocessor.
const ALL: u32 = 65536;
/// The maximum number of registers of a thread.
const MOST: u32 = 256;
const WARPGROUP: u32 = WARPGROUP_THREADS;

/// A change of the register count of these threads.
type Request = (ThreadSet, Registers, Span);

/// Reports requests that cannot be satisfied, and synchronises warpgroups between two changes.
/// Requests are checked against the initial number, which must be known: that of a kernel of which
/// one block at a time resides on a multiprocessor, unless the program specifies another one.
pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let threads = function.kernels.get(id.index());
    let threads = threads.and_then(|kernel| u32::try_from(kernel.threads.as_int()?).ok());
    let Some(threads) = threads else { return };
    let mut requests = Vec::new();
    function.with_kernel_body(id, |_, body| {
        synchronise(body, &ThreadSet::first(threads), false, &mut requests);
    });
    let kernel = function.kernels.get_mut(id.index());
    let Some(kernel) = kernel.filter(|_| !requests.is_empty()) else {
        return;
    };
    if kernel.attrs.maxnreg.is_none() {
        let [_, blocks, _] = kernel.attrs.launch_bounds.get_or_insert_default();
        blocks.get_or_insert(1);
    }
    let at_first = at_first(&kernel.attrs, threads);
    first_changes(at_first, &requests, diags);
    exhaustion(at_first, threads, &requests, diags);
}

/// The registers of each thread when a block starts.
fn at_first(attrs: &LaunchAttrs, threads: u32) -> u32 {
    let [most, blocks, _] = attrs.launch_bounds.unwrap_or_default();
    let (threads, blocks) = (threads.max(most.unwrap_or(0)), blocks.unwrap_or(1));
    let share = threads.checked_mul(blocks).and_then(|n| ALL.checked_div(n));
    attrs.maxnreg.or(share).unwrap_or(0).min(MOST) / 8 * 8
}

/// Reports if the warpgroups together, each with the largest number that it ever requests, need
/// more registers than the block has.
fn exhaustion(at_first: u32, threads: u32, requests: &[Request], diags: &mut Diagnostics) {
    let groups = threads.div_ceil(WARPGROUP);
    let (mut sum, mut largest) = (0, None::<&Request>);
    for group in 0..groups {
        let of_group = |(set, ..): &&Request| set.contains(group * WARPGROUP);
        let most = requests
            .iter()
            .filter(of_group)
            .max_by_key(|(_, r, _)| r.per_thread);
        sum += most.map_or(at_first, |(_, r, _)| r.per_thread) * WARPGROUP;
        largest = largest
            .into_iter()
            .chain(most)
            .max_by_key(|(_, r, _)| r.per_thread);
    }
    let pool = at_first * groups * WARPGROUP;
    if let Some((_, registers, at)) = largest
        && sum > pool
    {
        let text = format!(
            "the warpgroups of a block ask for {sum} registers together, and it has {pool}"
        );
        diags.push(
            Diagnostic::new(codes::E0779, *at, text)
                .label(format!("waits for {} for each thread, forever", registers.per_thread))
                .help(format!("each of the {threads} threads has {at_first} at first: let other warpgroups give back more, or ask for fewer")),
        );
    }
}

/// Checks that the first change of a warpgroup increases or decreases the initial number, as the
/// call says.
fn first_changes(at_first: u32, requests: &[Request], diags: &mut Diagnostics) {
    for (number, (set, registers, span)) in requests.iter().enumerate() {
        let mut before = requests.iter().take(number);
        if before.any(|(other, ..)| other.meets(set)) {
            continue;
        }
        let asks = registers.per_thread;
        let (wrong, way, other) = match registers.more {
            true => (asks < at_first, "fewer", "setreg_dec"),
            false => (asks > at_first, "more", "setreg_inc"),
        };
        if wrong {
            let text = format!("each thread has {at_first} registers at first: {asks} are {way}");
            diags.push(
                Diagnostic::new(codes::E0779, *span, text)
                    .label(format!("{way} than before"))
                    .help(format!("write `{other}`, or change how many they begin with: `[[maxnreg(…)]]`, or more threads")),
            );
        }
    }
}

/// Collects the changes of register counts. A change that may follow another one of the same
/// warpgroup gets a barrier of the warpgroup before it. `set`: the threads that execute the
/// statements.
fn synchronise(stmts: &mut Vec<Stmt>, set: &ThreadSet, in_loop: bool, requests: &mut Vec<Request>) {
    for mut stmt in std::mem::take(stmts) {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Registers(registers) => {
                let again = in_loop || requests.iter().any(|(other, ..)| other.meets(set));
                requests.push((set.clone(), *registers, span));
                if again {
                    let scope = BarrierScope::Warpgroup;
                    let why = BarrierReason::Registers;
                    stmts.push(Stmt::new(StmtKind::Barrier { scope, why }, span));
                }
            }
            StmtKind::Region {
                set: Some(own),
                body,
                ..
            } => synchronise(body, own, in_loop, requests),
            kind => {
                let repeats = matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
                for block in kind.blocks_mut() {
                    synchronise(block, set, in_loop || repeats, requests);
                }
            }
        }
        stmts.push(stmt);
    }
}

/// Merges a region with the region before it that only changes its register count. They are
/// separate regions before this pass, because the whole warpgroup changes its registers, and the
/// rest may be executed by one thread. Where control flow joins between the two, ptxas ignores
/// `setmaxnreg` (C7507).
pub fn merge_regions(function: &mut Function, id: KernelId) {
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        merge(&mut kernel.body);
    }
}

fn merge(stmts: &mut Vec<Stmt>) {
    let mut rest = std::mem::take(stmts).into_iter().peekable();
    while let Some(mut stmt) = rest.next() {
        for block in stmt.kind.blocks_mut() {
            merge(block);
        }
        let next = rest.next_if(|next| continues(&stmt, next));
        if let (StmtKind::Region { body, .. }, Some(mut next)) = (&mut stmt.kind, next) {
            for block in next.kind.blocks_mut() {
                merge(block);
            }
            match &mut next.kind {
                // All threads of the region execute the rest.
                StmtKind::Region {
                    elected_from: None,
                    body: after,
                    ..
                } => body.append(after),
                // One of them does.
                StmtKind::Region {
                    elected_from,
                    outermost,
                    ..
                } => {
                    *elected_from = None;
                    *outermost = false;
                    body.push(next);
                }
                _ => {}
            }
        }
        stmts.push(stmt);
    }
}

/// Whether `first` only changes register counts, and `next` is the rest of the same region.
fn continues(first: &Stmt, next: &Stmt) -> bool {
    let (
        StmtKind::Region {
            set: Some(set),
            elected_from: None,
            body,
            is_async: true,
            ..
        },
        StmtKind::Region {
            set: Some(after),
            elected_from,
            is_async: true,
            ..
        },
    ) = (&first.kind, &next.kind)
    else {
        return false;
    };
    let changes = |s: &Stmt| matches!(s.kind, StmtKind::Registers(_) | StmtKind::Barrier { .. });
    let whole = elected_from.as_ref().map_or(after, |(_, whole)| whole);
    !body.is_empty() && body.iter().all(changes) && whole == set
}
