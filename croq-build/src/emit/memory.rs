//! The layout of shared memory as a table.

use std::fmt::Write as _;

use super::file_meta::FileMeta;
use crate::ir::Placed;
use crate::ir::threads::{Function, Kernel};
use crate::source::SourceFile;
use crate::symbolic::{Ctx, Sym};

/// Shared memory of a GPU, in bytes.
#[derive(Clone, Debug)]
pub struct Capacity {
    pub arch: String,
    pub of_a_block: u64,
    pub of_a_multiprocessor: u64,
    /// Bytes that each block uses in addition to its own.
    pub reserved: u64,
}

/// The maximum number of resident blocks per multiprocessor, on all GPUs.
const MOST_BLOCKS: u64 = 32;

/// One part for each kernel of the file.
pub fn memory_report(
    meta: &FileMeta,
    file: &SourceFile,
    functions: &[Function],
    capacities: &[Capacity],
) -> String {
    let mut out = String::new();
    for function in functions {
        for kernel in &function.kernels {
            if !out.is_empty() {
                out.push('\n');
            }
            let (line, _) = file.line_col(kernel.span.start);
            let _ = writeln!(out, "{}  {}:{line}", kernel.name, meta.path);
            if kernel.shared.is_empty() {
                out.push_str("  no shared memory\n");
                continue;
            }
            table(&mut out, file, function, kernel);
            totals(&mut out, &function.cx, kernel);
            for capacity in capacities {
                out.push_str(&fit(kernel, capacity));
            }
        }
    }
    out
}

fn table(out: &mut String, file: &SourceFile, function: &Function, kernel: &Kernel) {
    let mut placed: Vec<&Placed> = kernel.shared.iter().collect();
    // Sizes that only the launch determines come last, in their order.
    placed.sort_by_key(|p| p.offset.as_int().unwrap_or(i64::MAX));
    let line = |at: u32| file.line_col(at).0;
    let row = |p: &&Placed| {
        let buffer = function.buffers.get(p.buffer.index());
        let (name, at) = buffer.map_or((String::new(), 0), |b| (b.name.clone(), b.span.start));
        let last = line(p.live.end.saturating_sub(1).max(p.live.start));
        [
            function.cx.show(&p.offset),
            function.cx.show(&p.bytes),
            p.alignment.to_string(),
            format!("{}-{last}", line(p.live.start)),
            name,
            format!("line {}", line(at)),
        ]
    };
    let head = ["offset", "bytes", "aligned", "alive", "buffer", "declared"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(head)
        .chain(placed.iter().map(row))
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|r| r.get(column));
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let [offset, bytes, aligned, alive, name, _] = std::array::from_fn(width);
    for [a, b, c, d, e, f] in &rows {
        let _ = writeln!(
            out,
            "  {a:>offset$}  {b:>bytes$}  {c:>aligned$}  {d:>alive$}  {e:<name$}  {f}"
        );
    }
}

fn totals(out: &mut String, cx: &Ctx, kernel: &Kernel) {
    let total = &kernel.shared_bytes;
    let _ = write!(out, "  {} bytes a block", cx.show(total));
    let together: Sym = kernel.shared.iter().map(|p| &p.bytes).sum();
    if let (Some(total), Some(together)) = (total.as_int(), together.as_int()) {
        let _ = write!(out, ", {} of them padding", padding(kernel, total));
        if together > total {
            let _ = write!(out, "; the buffers together have {together}");
        }
    }
    out.push('\n');
}

/// Bytes of the block that no buffer uses at any time.
fn padding(kernel: &Kernel, total: i64) -> i64 {
    let mut ranges: Vec<(i64, i64)> = kernel
        .shared
        .iter()
        .filter_map(|p| {
            let offset = p.offset.as_int()?;
            Some((offset, offset + p.bytes.as_int()?))
        })
        .collect();
    ranges.sort_unstable();
    let (mut used, mut reached) = (0, 0);
    for (begin, end) in ranges {
        used += (end - begin.max(reached)).max(0);
        reached = reached.max(end);
    }
    total - used
}

fn fit(kernel: &Kernel, capacity: &Capacity) -> String {
    let Capacity {
        arch,
        of_a_block,
        of_a_multiprocessor,
        reserved,
    } = capacity;
    let limits = format!(
        "  {arch}: {} KiB a block, {} KiB a multiprocessor",
        of_a_block / 1024,
        of_a_multiprocessor / 1024
    );
    let Some(bytes) = kernel
        .shared_bytes
        .as_int()
        .and_then(|n| u64::try_from(n).ok())
    else {
        return format!("{limits}\n");
    };
    if bytes > *of_a_block {
        return format!("{limits}: does not fit\n");
    }
    let blocks = of_a_multiprocessor / (bytes + reserved).max(1);
    if blocks >= MOST_BLOCKS {
        return format!("{limits}: no limit to the number of blocks\n");
    }
    let plural = if blocks == 1 { "" } else { "s" };
    format!("{limits}: {blocks} block{plural} at a time\n")
}
