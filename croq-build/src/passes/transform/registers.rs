//! Register counts per thread: `setreg` moves registers between the warpgroups of a block.
//!
//! A block has as many registers as its threads have at its start. PTX ISA, `setmaxnreg`: `.inc`
//! waits until enough registers are free, so a request that can never be satisfied is a deadlock;
//! between two changes the warps of a warpgroup must synchronise.

use super::register_pool;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    BarrierReason, BarrierScope, BufferId, Fragment, Function, KernelId, LaunchAttrs, Stmt,
    StmtKind, ThreadSet, any_stmt,
};
use crate::passes::lower::mma;
use crate::source::Span;

/// The registers of a multiprocessor.
const ALL: u32 = 65536;
/// The maximum number of registers of a thread.
const MOST: u32 = 256;
/// The minimum number that `setmaxnreg` sets.
const FEWEST: u32 = 24;
/// A thread has about so many registers for addresses and descriptors beside those of fragments:
/// ptxas (13.0) compiles a `wgmma` of 128 accumulators with 154 registers.
const BESIDE_FRAGMENTS: u32 = 40;

/// Reports requests that cannot be satisfied, and synchronises warpgroups between two changes.
/// Requests are checked against the initial number, which must be known: what the program
/// specifies; else that of a kernel of which one block at a time resides on a multiprocessor; and
/// if the requests don't fit that, a number that they fit and that the fragments fit.
pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let needed = of_fragments(function).saturating_add(BESIDE_FRAGMENTS);
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    let change = first_change(&kernel.body);
    let threads = kernel.threads.as_int().and_then(|n| u32::try_from(n).ok());
    let Some(change) = change else { return };
    let Some(threads) = threads else {
        let text = "the number of threads of this block is known at run time only";
        let report = Diagnostic::new(codes::E0779, change, text)
            .label("how many registers the block has is not known")
            .help("let the block have a constant number of warpgroups");
        return diags.push(report);
    };
    choose_initial(&mut kernel.attrs, threads, needed, &kernel.body);
    let at_first = at_first(&kernel.attrs, threads);
    register_pool::check(at_first, threads, &kernel.body, diags);
    synchronise(
        &mut kernel.body,
        &ThreadSet::first(threads),
        false,
        &mut Vec::new(),
    );
}

/// Decides how many registers each thread has at first, where the program leaves that open.
fn choose_initial(attrs: &mut LaunchAttrs, threads: u32, needed: u32, body: &[Stmt]) {
    if attrs.maxnreg.is_some() {
        return;
    }
    let written = attrs.launch_bounds;
    let [most, blocks, clusters] = written.unwrap_or_default();
    attrs.launch_bounds = Some([most, blocks.or(Some(1)), clusters]);
    let share = at_first(attrs, threads);
    if blocks.is_some() || register_pool::fits(share, threads, body) {
        return;
    }
    let fitting: Vec<u32> = (FEWEST / 8..=share / 8)
        .map(|eighth| 8 * eighth)
        .filter(|number| register_pool::fits(*number, threads, body))
        .collect();
    let all_change = register_pool::all_change(threads, body);
    // If each warpgroup makes a change, more would be left over; otherwise others keep theirs.
    let enough = fitting.iter().find(|n| all_change && **n >= needed);
    if let Some(number) = enough.or(fitting.last()) {
        // A kernel has a number of registers or of blocks.
        attrs.launch_bounds = written;
        attrs.maxnreg = Some(*number);
    }
}

/// The registers of a thread for all fragments of a function.
fn of_fragments(function: &Function) -> u32 {
    let registers = |(buffer, fragment): &(BufferId, Fragment)| {
        let bytes = i64::try_from(function.buffer(*buffer).elem.bytes()).unwrap_or(4);
        (mma::elements_per_thread(fragment) * fragment.count * bytes + 3) / 4
    };
    let sum: i64 = function.fragments.iter().map(registers).sum();
    u32::try_from(sum).unwrap_or(MOST)
}

fn first_change(body: &[Stmt]) -> Option<Span> {
    let mut found = None;
    any_stmt(body, |stmt| {
        let is_one = matches!(stmt.kind, StmtKind::Registers(_));
        found = is_one.then_some(stmt.span);
        is_one
    });
    found
}

/// The registers of each thread when a block starts.
fn at_first(attrs: &LaunchAttrs, threads: u32) -> u32 {
    let [most, blocks, _] = attrs.launch_bounds.unwrap_or_default();
    let (threads, blocks) = (threads.max(most.unwrap_or(0)), blocks.unwrap_or(1));
    let share = threads.checked_mul(blocks).and_then(|n| ALL.checked_div(n));
    attrs.maxnreg.or(share).unwrap_or(0).min(MOST) / 8 * 8
}

/// A change that may follow another one of the same warpgroup gets a barrier of the warpgroup before
/// it. `set`: the threads that execute the statements; `changed`: those of the changes so far.
fn synchronise(
    stmts: &mut Vec<Stmt>,
    set: &ThreadSet,
    in_loop: bool,
    changed: &mut Vec<ThreadSet>,
) {
    for mut stmt in std::mem::take(stmts) {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Registers(_) => {
                let again = in_loop || changed.iter().any(|other| other.meets(set));
                changed.push(set.clone());
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
            } => synchronise(body, own, in_loop, changed),
            kind => {
                let repeats = matches!(kind, StmtKind::For { .. } | StmtKind::While { .. });
                for block in kind.blocks_mut() {
                    synchronise(block, set, in_loop || repeats, changed);
                }
            }
        }
        stmts.push(stmt);
    }
}

/// Merges a region with the region before it that only changes its register count. They are
/// separate regions before this pass, because the whole warpgroup changes its registers, and the
/// rest may be executed by some threads of it. Where control flow joins between the two, ptxas ignores
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
        if let (StmtKind::Region { set, body, .. }, Some(mut next)) = (&mut stmt.kind, next) {
            let set = set.clone();
            for block in next.kind.blocks_mut() {
                merge(block);
            }
            match &mut next.kind {
                // All threads of the region execute the rest.
                StmtKind::Region {
                    set: after,
                    elected_from: None,
                    body: rest,
                    ..
                } if *after == set => body.append(rest),
                // Some of them do.
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
    let is_rest = match elected_from {
        Some((_, whole)) => whole == set,
        None => set.includes(after),
    };
    !body.is_empty() && body.iter().all(changes) && is_rest
}

#[cfg(test)]
mod tests {
    use crate::sema::testing;

    /// One warpgroup goes down to 40, the other up to 216, for tiles of COLUMNS.
    const TRADE: &str = "
        __co__ void f(global f16 [64, 64] a, global f16 [COLUMNS, 64] b, global f32 [64, COLUMNS] c) {
          BOUNDS parallel by 1 : block {
            shared f16 [64, 64] as;
            shared f16 [COLUMNS, 64] bs;
            tma.copy.swiz<128> a => as;
            tma.copy.swiz<128> b => bs;
            parallel w by 2 : group-4, t by 128 : thread {
              inthreads.async (w == 0) {
                call croq::cuda::setreg_dec(40);
              }
              inthreads.async (w == 1) {
                call croq::cuda::setreg_inc(216);
                acc = mma.fill.f32 0.0f;
                mma.row.row acc, as, bs;
                mma.store acc, c;
              }
            }
          }
        }";

    fn at_first(columns: &str, bounds: &str) -> (Option<u32>, Option<u32>) {
        let text = TRADE.replace("COLUMNS", columns).replace("BOUNDS", bounds);
        let attrs = &testing::function_after(&text, "registers").kernels[0].attrs;
        let blocks = attrs.launch_bounds.and_then(|[_, blocks, _]| blocks);
        (attrs.maxnreg, blocks)
    }

    #[test]
    fn an_open_number_fits_the_changes_and_the_fragments() {
        assert_eq!(at_first("64", ""), (Some(128), None));
        assert_eq!(at_first("256", ""), (Some(168), None));
    }

    #[test]
    fn a_written_number_stays() {
        assert_eq!(at_first("64", "[[maxnreg(200)]]"), (Some(200), None));
        assert_eq!(at_first("64", "[[launch_bounds(_, 2)]]"), (None, Some(2)));
    }
}
