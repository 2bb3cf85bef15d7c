//! The shared-memory plan: the offset of each shared buffer in the block's arena.
//!
//! * [`liveness`]: the live range of each buffer.
//! * [`layout`]: offsets. Buffers with disjoint live ranges may overlap.
//!
//! Sharing storage can cost a barrier, because threads may still read one buffer while others write
//! the other. Where the kernel has a barrier at the right place anyway, storage is always shared.
//! Where barriers would have to be added (`barriers::missing_barriers`), it is shared only if the
//! block would not fit otherwise: a loop with two more barriers in each iteration is slower, and
//! small blocks have memory to spare.
//!
//! Destinations and sources of TMA copies share storage with no other buffer: that would need
//! additional proxy fences between the accesses of TMA to one buffer and those of threads to the
//! other. The same applies to mbarriers.
//!
//! Buffers of known size, and those that TMA accesses, are 128-byte aligned, so that asynchronous
//! copies into them are legal; others are at multiples of 16 bytes. A CUDA arena is 1024-byte
//! aligned, so an offset has the alignment of its address. Swizzled buffers begin at multiples of
//! 1024 bytes, where the pattern begins.

mod layout;
mod liveness;
#[cfg(test)]
mod tests;

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Function, Kernel, KernelId, Placed, StmtKind, Storage, retain_stmts};
use crate::passes::transform::barriers::{self, Pairs};
use crate::symbolic::Sym;
use layout::{Layout, Request, lay_out};
use liveness::live_ranges;

const STATIC_ALIGNMENT: i64 = 128;
const DYNAMIC_ALIGNMENT: i64 = 16;
const SWIZZLED_ALIGNMENT: i64 = 1024;
const MBARRIER_ALIGNMENT: i64 = 8;

/// Limits on the shared memory of a block, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum over the architectures.
    pub most: u64,
    /// The minimum over the architectures.
    pub least: u64,
}

/// Assigns an offset to every shared buffer of the kernel. The kernel has its barriers already;
/// those that sharing storage requires are added.
pub fn plan(function: &mut Function, id: KernelId, limits: Limits) {
    let requests = requests(function, id);
    let disjoint = |a: usize, b: usize| match (requests.get(a), requests.get(b)) {
        (Some(a), Some(b)) => !a.exclusive && !b.exclusive && !a.live.overlaps(&b.live),
        _ => false,
    };
    let all = pairs(&requests, &disjoint);
    let costly = if all.is_empty() {
        Pairs::new()
    } else {
        barriers::missing_barriers(function, id, &all)
    };
    let pair = |a: usize, b: usize| {
        let (a, b) = (requests.get(a)?.buffer, requests.get(b)?.buffer);
        Some((a.min(b), a.max(b)))
    };
    let free =
        |a: usize, b: usize| disjoint(a, b) && pair(a, b).is_some_and(|p| !costly.contains(&p));
    let cx = &function.cx;
    let mut layout = lay_out(cx, &requests, &|a, b| !free(a, b));
    if !costly.is_empty() && !layout.fits(limits.least) {
        let tight = lay_out(cx, &requests, &|a, b| !disjoint(a, b));
        if tight.known < layout.known {
            layout = tight;
        }
    }
    let end = cx.align_up(&layout.end, &Sym::int(DYNAMIC_ALIGNMENT));
    let shared = pairs(&requests, &|a, b| layout.may_overlap(&requests, a, b));
    if !shared.is_empty() {
        barriers::separate(function, id, &shared);
    }
    if let Some(kernel) = function.kernels.get_mut(id.index()) {
        retain_stmts(&mut kernel.body, &mut |stmt| {
            matches!(&stmt.kind, StmtKind::Alloc(id) if kernel.facts.anew.contains(id))
                || !matches!(stmt.kind, StmtKind::Alloc(_))
        });
        kernel.shared_bytes = end;
        kernel.shared = requests
            .into_iter()
            .zip(layout.offsets)
            .map(|(w, offset)| Placed {
                buffer: w.buffer,
                offset,
                bytes: w.bytes,
                alignment: w.alignment,
                live: w.live.span,
                points: (w.live.first, w.live.last),
            })
            .collect();
    }
}

impl Layout {
    fn fits(&self, limit: u64) -> bool {
        u64::try_from(self.known).is_ok_and(|bytes| bytes <= limit)
    }

    /// Buffers that are sized at launch share whole slots or nothing, so they overlap if their
    /// offsets are equal; they never overlap with others.
    fn may_overlap(&self, requests: &[Request], a: usize, b: usize) -> bool {
        let place = |at: usize| Some((self.offsets.get(at)?, &requests.get(at)?.bytes));
        let (Some((a, a_bytes)), Some((b, b_bytes))) = (place(a), place(b)) else {
            return false;
        };
        let range = |offset: &Sym, bytes: &Sym| Some((offset.as_int()?, bytes.as_int()?));
        match (range(a, a_bytes), range(b, b_bytes)) {
            (Some((a, n)), Some((b, m))) => a < b + m && b < a + n,
            (None, None) => a == b,
            _ => false,
        }
    }
}

/// The buffers in shared memory, in order of first use; those of known size first.
fn requests(function: &Function, id: KernelId) -> Vec<Request> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Vec::new();
    };
    let live_ranges = live_ranges(function, &kernel.body);
    let by_tma = barriers::moved_by_tma(&kernel.body);
    let mut fixed = Vec::new();
    let mut sized_at_launch = Vec::new();
    for (buffer, live) in live_ranges {
        let Some(info) = function.buffers.get(buffer.index()) else {
            continue;
        };
        let bytes = info.elem.bytes_of(&function.cx, &info.count);
        let is_fixed = bytes.as_int().is_some();
        let by_tma = by_tma.contains(&buffer);
        let alignment = match info.storage {
            Storage::Mbarriers => MBARRIER_ALIGNMENT,
            _ if info.swizzle.is_some() => SWIZZLED_ALIGNMENT,
            _ if is_fixed || by_tma => STATIC_ALIGNMENT,
            _ => DYNAMIC_ALIGNMENT,
        };
        let group = if is_fixed {
            &mut fixed
        } else {
            &mut sized_at_launch
        };
        group.push(Request {
            buffer,
            bytes,
            alignment,
            live,
            exclusive: by_tma || info.storage == Storage::Mbarriers,
        });
    }
    // Small buffers last: after one of them, alignment would leave a gap.
    fixed.sort_by_key(|w| w.alignment == MBARRIER_ALIGNMENT);
    fixed.append(&mut sized_at_launch);
    fixed
}

fn pairs(requests: &[Request], are: &dyn Fn(usize, usize) -> bool) -> Pairs {
    let mut pairs = Vec::new();
    for (b, second) in requests.iter().enumerate() {
        for (a, first) in requests.iter().enumerate().take(b) {
            if are(a, b) {
                let (a, b) = (first.buffer, second.buffer);
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    // A set takes them in order without moving others: a thousand buffers have half a million pairs.
    pairs.sort_unstable();
    pairs.into_iter().collect()
}

/// The report for a kernel that needs more shared memory than any architecture has.
pub fn excess(function: &Function, kernel: &Kernel, limits: Limits) -> Option<Diagnostic> {
    let total = known_bytes(kernel)?;
    if total <= limits.most {
        return None;
    }
    let limit = limits.most;
    let mut d = Diagnostic::new(
        codes::E0613,
        kernel.span,
        format!("this block needs {total} bytes of shared memory, the limit is {limit}"),
    )
    .label("too much for one block");
    let together = busiest(kernel);
    for placed in together.iter().take(SHOWN) {
        if let Some(buffer) = function.buffers.get(placed.buffer.index()) {
            let bytes = placed.bytes.as_int().unwrap_or(0);
            d = d.also(buffer.span, format!("`{}`: {bytes} bytes", buffer.name));
        }
    }
    let smaller = match largest_that_fits(function, &together, total - limit) {
        Some(size) => format!("use smaller tiles ({size})"),
        None => "use smaller tiles".to_owned(),
    };
    let all = together.len() == kernel.shared.len();
    Some(d.help(if all {
        smaller
    } else {
        format!("these are needed at the same time: {smaller}, or be done with one before the next begins")
    }))
}

/// The size that the largest buffer may have beside the others, if `excess` bytes are too many.
fn largest_that_fits(function: &Function, together: &[&Placed], excess: u64) -> Option<String> {
    let largest = together.first()?;
    let buffer = function.buffers.get(largest.buffer.index())?;
    let bytes = u64::try_from(largest.bytes.as_int()?).ok()?;
    let fits = bytes.checked_sub(excess).filter(|fits| *fits > 0)?;
    Some(format!(
        "`{}` fits with at most {fits} of its {bytes} bytes",
        buffer.name
    ))
}

/// The maximum number of labels of a report.
const SHOWN: usize = 6;

/// The end of the buffers of known size.
fn known_bytes(kernel: &Kernel) -> Option<u64> {
    let ends = kernel.shared.iter().filter_map(|placed| {
        let end = placed
            .offset
            .as_int()?
            .checked_add(placed.bytes.as_int()?)?;
        u64::try_from(end).ok()
    });
    ends.max()
}

/// The buffers of known size that are live at the point with the most live bytes, largest first.
fn busiest(kernel: &Kernel) -> Vec<&Placed> {
    let alive = |point: usize| {
        let known = kernel.shared.iter().filter(|p| p.bytes.as_int().is_some());
        known.filter(move |p| p.points.0 <= point && point <= p.points.1)
    };
    let bytes = |point: usize| -> i64 { alive(point).filter_map(|p| p.bytes.as_int()).sum() };
    let begins = kernel.shared.iter().map(|p| p.points.0);
    let point = begins.max_by_key(|point| bytes(*point)).unwrap_or(0);
    let mut list: Vec<&Placed> = alive(point).collect();
    list.sort_by_key(|p| std::cmp::Reverse(p.bytes.as_int()));
    list
}
