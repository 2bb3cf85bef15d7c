//! Whether the registers that warpgroups ask for are there: a multiprocessor has 65536, and whoever asks for
//! more than others have given back waits for ever.

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ir::{Function, KernelId, LaunchAttrs, Registers, Stmt, StmtKind, ThreadSet};
use crate::source::Span;

const ALL: u32 = 65536;
const WARPGROUP: u32 = 128;

/// Reports what can't be granted. Whoever asks starts from a number that the compiler must know: that of a
/// kernel of which one block at a time is asked for, unless the program says otherwise.
pub fn settle(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    let threads = kernel.threads.as_int().and_then(|n| u32::try_from(n).ok());
    let Some(threads) = threads else { return };
    let mut asked = Vec::new();
    gather(&kernel.body, &ThreadSet::first(threads), &mut asked);
    if !asked.is_empty() && kernel.attrs.maxnreg.is_none() {
        let [_, blocks, _] = kernel.attrs.launch_bounds.get_or_insert_default();
        blocks.get_or_insert(1);
    }
    let groups = 0..threads.div_ceil(WARPGROUP);
    first_changes(&kernel.attrs, threads, &asked, diags);
    // Of each warpgroup the most that it ever has.
    let most = groups.filter_map(|group| {
        let of_group = asked
            .iter()
            .filter(|(set, ..)| set.contains(group * WARPGROUP));
        of_group.max_by_key(|(_, r, _)| r.per_thread)
    });
    let most: Vec<_> = most.collect();
    let sum: u32 = most.iter().map(|(_, r, _)| r.per_thread * WARPGROUP).sum();
    let Some((_, registers, at)) = most.iter().max_by_key(|(_, r, _)| r.per_thread) else {
        return;
    };
    if sum > ALL {
        let text = format!(
            "the warpgroups of a block ask for {sum} registers, a multiprocessor has {ALL}"
        );
        diags.push(
            Diagnostic::new("E0779", *at, text)
                .label(format!("{} for each thread", registers.per_thread))
                .help("let the others give back more, or ask for fewer"),
        );
    }
}

/// More than at first, or fewer, as the call says.
fn first_changes(
    attrs: &LaunchAttrs,
    threads: u32,
    asked: &[(ThreadSet, Registers, Span)],
    diags: &mut Diagnostics,
) {
    let [most, blocks, _] = attrs.launch_bounds.unwrap_or_default();
    let (threads, blocks) = (threads.max(most.unwrap_or(0)), blocks.unwrap_or(1));
    let share = threads.checked_mul(blocks).and_then(|n| ALL.checked_div(n));
    let at_first = attrs.maxnreg.or(share).unwrap_or(0).min(256) / 8 * 8;
    for (at, (set, registers, span)) in asked.iter().enumerate() {
        if asked.iter().take(at).any(|(before, ..)| before.meets(set)) {
            continue;
        }
        let asks = registers.per_thread;
        let (wrong, way) = match registers.more {
            true => (asks < at_first, "fewer"),
            false => (asks > at_first, "more"),
        };
        if wrong {
            let text = format!("each thread has {at_first} registers at first: {asks} are {way}");
            let other = if registers.more {
                "setreg_dec"
            } else {
                "setreg_inc"
            };
            diags.push(
                Diagnostic::new("E0779", *span, text)
                    .label(format!("{way} than before"))
                    .help(format!("write `{other}`, or change how many they begin with: `[[maxnreg(…)]]`, or more threads")),
            );
        }
    }
}

fn gather(stmts: &[Stmt], set: &ThreadSet, asked: &mut Vec<(ThreadSet, Registers, Span)>) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Registers(registers) => asked.push((set.clone(), *registers, stmt.span)),
            StmtKind::Region {
                set: Some(own),
                body,
                ..
            } => gather(body, own, asked),
            kind => {
                for block in kind.blocks() {
                    gather(block, set, asked);
                }
            }
        }
    }
}
