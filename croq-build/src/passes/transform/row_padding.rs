//! Row padding for shared tiles that a transposing copy accesses by columns.
//!
//! The threads of a warp that access a column conflict in one bank if the row length is a multiple
//! of 128 bytes, and in few banks if it is an even number of words. One word of padding per row
//! avoids all conflicts. The rows are then no longer aligned for vectors, so accesses along them
//! are by words; that takes more instructions, but no more memory time.
//!
//! A program cannot observe the padding, as long as it does not take the address of the tile, so no
//! annotation is necessary. Tiles with a swizzle keep it, and tiles that are written asynchronously
//! or by TMA keep their vectors.

use crate::ir::{
    Access, BufferId, Copy, CppName, Flow, Function, KernelId, ON, Stmt, StmtKind, Storage,
    Transform, View, Visit, VisitorMut, walk_block,
};
use crate::passes::analysis::uses::Uses;
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::{Ctx, Sym};

/// Shared memory in bytes that every GPU gives to a block without an attribute.
const ROOM: i64 = 48 * 1024;
const WORD: i64 = 4;

/// The number of elements of a row, and the distance between rows.
#[derive(Clone, Copy, Debug)]
struct Rows {
    columns: i64,
    pitch: i64,
}

pub fn pad(function: &mut Function, id: KernelId) {
    function.with_kernel_body(id, |function, body| {
        let mut seen = Seen::default();
        walk_block(body, &mut seen);
        let mut chosen = SortedMap::new();
        let mut room = ROOM - shared_bytes(function, body);
        for buffer in seen.transposed.difference(&seen.fixed) {
            let all_seen = seen.views.get(buffer) == seen.expected.get(buffer);
            let (true, Some(rows)) = (all_seen, rows(function, *buffer)) else {
                continue;
            };
            let more = extra_bytes(function, *buffer, rows);
            if more.is_some_and(|more| more <= room) && can_move(function, body, *buffer, rows) {
                room -= more.unwrap_or_default();
                chosen.insert(*buffer, rows);
            }
        }
        for (buffer, rows) in &chosen {
            let mut mover = Mover::new(&function.cx, *buffer, *rows);
            let _ = mover.block(body);
            let count = function.buffer(*buffer).count.clone();
            let lines = function.cx.div(&count, &Sym::int(rows.columns));
            if let Some(buffer) = function.buffers.get_mut(buffer.index()) {
                buffer.count = &lines * rows.pitch;
                buffer.shape = vec![buffer.count.clone()];
            }
        }
    });
}

/// The uses of a kernel's buffers.
#[derive(Default)]
struct Seen {
    /// Buffers in copies between device and shared memory that move the last axis to another
    /// position.
    transposed: SortedSet<BufferId>,
    /// Buffers whose layout must not change.
    fixed: SortedSet<BufferId>,
    /// The number of views of each buffer, and of those in statements that this pass handles.
    views: SortedMap<BufferId, u32>,
    expected: SortedMap<BufferId, u32>,
}

impl Seen {
    fn expect(&mut self, view: &View) {
        *self.expected.entry(view.buffer).or_default() += 1;
    }
}

impl Visit for Seen {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Copy(copy) => {
                self.expect(&copy.source);
                self.expect(&copy.dest);
                if is_transposing(copy) {
                    self.transposed
                        .extend([copy.source.buffer, copy.dest.buffer]);
                }
                let by_vectors = copy.future.is_some() && !is_transposing(copy);
                if by_vectors || !copy.engine.is_threads() {
                    self.fixed.extend([copy.source.buffer, copy.dest.buffer]);
                }
            }
            StmtKind::Fill { view, .. } => self.expect(view),
            StmtKind::Wait { futures, .. } => futures.iter().for_each(|w| self.expect(&w.view)),
            StmtKind::Cpp { names, .. } => {
                self.fixed
                    .extend(names.iter().filter_map(|name| match name {
                        CppName::Buffer(id) => Some(*id),
                        CppName::Local(_) => None,
                    }));
            }
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        *self.views.entry(view.buffer).or_default() += 1;
    }
}

fn is_transposing(copy: &Copy) -> bool {
    match &copy.transform {
        Transform::Transpose(perm) => perm.last().is_some_and(|last| last + 1 != perm.len()),
        _ => false,
    }
}

/// The known bytes of shared memory.
fn shared_bytes(function: &Function, body: &[Stmt]) -> i64 {
    let buffers = Uses::of_block(function, body).buffers;
    let bytes = |id: &BufferId| {
        let buffer = function.buffers.get(id.index())?;
        let size = i64::try_from(buffer.elem.bytes()).ok()?;
        match buffer.storage {
            Storage::Shared => Some(
                buffer
                    .count
                    .as_int()
                    .map_or(ROOM, |n| n.saturating_mul(size)),
            ),
            _ => None,
        }
    };
    buffers
        .iter()
        .filter_map(bytes)
        .fold(0, i64::saturating_add)
}

/// `None` if padding has no benefit.
fn rows(function: &Function, id: BufferId) -> Option<Rows> {
    let buffer = function.buffers.get(id.index())?;
    let (columns, outer) = buffer.shape.split_last()?;
    if buffer.storage != Storage::Shared || buffer.swizzle.is_some() || outer.is_empty() {
        return None;
    }
    if buffer.elem.is_packed() {
        return None;
    }
    let columns = columns.as_int()?;
    let size = i64::try_from(buffer.elem.bytes()).ok()?;
    let word = size.max(WORD);
    let bytes = columns.checked_mul(size)?;
    if bytes % word != 0 || bytes / word % 2 != 0 {
        return None;
    }
    let pitch = columns + word / size;
    Some(Rows { columns, pitch })
}

fn extra_bytes(function: &Function, id: BufferId, rows: Rows) -> Option<i64> {
    let buffer = function.buffers.get(id.index())?;
    let count = buffer.count.as_int()?;
    let lines = count.checked_div(rows.columns)?;
    let more = lines.checked_mul(rows.pitch - rows.columns)?;
    more.checked_mul(i64::try_from(buffer.elem.bytes()).ok()?)
}

fn can_move(function: &Function, body: &[Stmt], buffer: BufferId, rows: Rows) -> bool {
    let mut mover = Mover::new(&function.cx, buffer, rows);
    let _ = mover.block(&mut body.to_vec());
    !mover.failed
}

/// Changes every view of a buffer to one of padded rows.
struct Mover<'a> {
    cx: &'a Ctx,
    buffer: BufferId,
    rows: Rows,
    failed: bool,
}

impl<'a> Mover<'a> {
    fn new(cx: &'a Ctx, buffer: BufferId, rows: Rows) -> Self {
        Self {
            cx,
            buffer,
            rows,
            failed: false,
        }
    }

    /// `None` if it is not certain that each row of the view is inside one row of the buffer.
    fn moved(&self, view: &View) -> Option<(Sym, Vec<Sym>)> {
        let (cx, columns) = (self.cx, Sym::int(self.rows.columns));
        let from_zero = |s: &Sym| cx.le(&Sym::zero(), s).is_yes();
        if !from_zero(&view.offset) {
            return None;
        }
        let mut last = cx.rem(&view.offset, &columns);
        let offset = &(&cx.div(&view.offset, &columns) * self.rows.pitch) + &last;
        let mut strides = Vec::new();
        for (extent, stride) in view.shape.iter().zip(&view.strides) {
            if !from_zero(stride) {
                return None;
            }
            if extent.is_one() {
                strides.push(stride.clone());
            } else if cx.divides(&columns, stride).is_yes() {
                strides.push(&cx.div(stride, &columns) * self.rows.pitch);
            } else {
                last = &last + &(&(extent - 1) * stride);
                strides.push(stride.clone());
            }
        }
        cx.lt(&last, &columns).is_yes().then_some((offset, strides))
    }
}

impl VisitorMut for Mover<'_> {
    fn view(&mut self, view: &mut View) -> Flow {
        if view.buffer != self.buffer {
            return ON;
        }
        match self.moved(view) {
            Some((offset, strides)) => {
                view.offset = offset;
                view.strides = strides;
                view.frame = None;
            }
            None => self.failed = true,
        }
        ON
    }

    fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
        self.view(&mut access.view)
    }
}
