//! MMAs of a warpgroup as WGMMA instructions, with descriptors of their operands.
//!
//! A *descriptor* contains the address of an operand's first element, and the distances between the
//! parts of the swizzle's pattern. Each buffer has one descriptor for its beginning, created at the
//! kernel's start; an instruction's operand is that plus an offset in bytes.

use super::descriptor_licm::{self, step as advance};
use super::metadata::Words;
use super::pass::{Descriptor, Pass, mma, register};
use crate::ir::{
    Buffer, Described, Expr, Instruction, LocalId, MmaOp, Operand, Source, Step, Stmt, StmtKind,
    Tile, View, WarpgroupMma,
};
use crate::source::Span;
use crate::symbolic::Sym;

/// Rows after which a swizzle's pattern repeats.
const ROWS: i64 = 8;
/// The leading dimension if there is no second group along the rows.
const NO_STEP: i64 = 16;

/// An operand: the descriptor `by` is that of the byte offset `first` in its buffer.
struct Placed<'t> {
    tile: &'t Tile,
    by: LocalId,
    first: Sym,
}

/// Inserts the declarations of descriptors of buffers that an inner block allocates; returns the
/// others, for the kernel's beginning.
pub fn place_descriptors(pass: &mut Pass<'_>, body: &mut [Stmt]) -> Vec<Stmt> {
    let mut made = std::mem::take(&mut pass.described);
    for stmt in body {
        for inner in stmt.kind.blocks_mut() {
            place_within(&mut made, inner);
        }
    }
    made.into_iter().map(|d| d.stmt).collect()
}

fn place_within(made: &mut Vec<Descriptor>, stmts: &mut Vec<Stmt>) {
    for mut stmt in std::mem::take(stmts) {
        for inner in stmt.kind.blocks_mut() {
            place_within(made, inner);
        }
        let allocated = match &stmt.kind {
            StmtKind::Alloc(id) => Some(*id),
            _ => None,
        };
        stmts.push(stmt);
        if let Some(id) = allocated {
            let here = made.extract_if(.., |d| d.buffer == id);
            stmts.extend(here.map(|d| d.stmt));
        }
    }
}

pub fn warpgroup_mma(pass: &mut Pass<'_>, mma: &WarpgroupMma, span: Span) -> Option<Vec<Stmt>> {
    let acc = pass.tile(&mma.acc)?;
    let atom = mma.atom;
    let mut stmts = Vec::new();
    let b = placed(pass, &mma.b, span, &mut stmts)?;
    let a = match &mma.a {
        Operand::Memory(tile) => Ok(placed(pass, tile, span, &mut stmts)?),
        Operand::Registers(part) => Err(pass.tile(part)?),
    };
    let metadata = match &mma.metadata {
        Some(part) => Some(Words::of(pass, part)?),
        None => None,
    };
    // Half of a sparse A is stored.
    let stored = if metadata.is_some() {
        atom.k / 2
    } else {
        atom.k
    };
    // Each 64 rows have accumulators of their own.
    for block in 0..acc.rows / acc.layout.rows {
        let mut accumulate = mma.accumulate.clone();
        for part in &mma.order {
            let first = [block * atom.m, part * stored];
            let a = match &a {
                Ok(placed) => Source::Memory(described(pass, placed, first, span, &mut stmts)?),
                Err(a) => {
                    let [below, horizontal, _] = a.steps;
                    let deep = stored / a.layout.columns();
                    let at = &(&a.first + block * below) + part * deep * horizontal;
                    Source::Registers(Box::new(register(a.buffer, at, span)))
                }
            };
            let [below, ..] = acc.steps;
            let instruction = Instruction {
                atom,
                acc: register(acc.buffer, &acc.first + block * below, span),
                a,
                b: described(pass, &b, [0, part * atom.k], span, &mut stmts)?,
                metadata: metadata
                    .as_ref()
                    .map(|words| Box::new(words.of_instruction(&Sym::int(block), *part, span))),
                accumulate: std::mem::replace(&mut accumulate, Expr::bool(true, span)),
                span,
            };
            let step = Step::Instruction(Box::new(instruction));
            stmts.push(super::pass::mma(MmaOp::Step(step), span));
        }
    }
    Some(stmts)
}

/// The place of an operand's first element, in a variable if it is not constant.
fn placed<'t>(
    pass: &mut Pass<'_>,
    tile: &'t Tile,
    span: Span,
    stmts: &mut Vec<Stmt>,
) -> Option<Placed<'t>> {
    let whole = descriptor(pass, &tile.view, tile.k_last, span)?;
    let first = bytes(pass, tile, [0, 0])?;
    if first.as_int().is_some() {
        let (by, first) = (whole, Sym::zero());
        return Some(Placed { tile, by, first });
    }
    let name = format!("{}_here", pass.function.buffer(tile.view.buffer).name);
    let by = descriptor_licm::named(pass.function, &name, span);
    stmts.push(advance(by, whole, first.clone(), span));
    Some(Placed { tile, by, first })
}

/// The operand that begins at a row (a column of B) and an element of K.
fn described(
    pass: &mut Pass<'_>,
    placed: &Placed<'_>,
    [row, k]: [i64; 2],
    span: Span,
    stmts: &mut Vec<Stmt>,
) -> Option<Described> {
    let bytes = bytes(pass, placed.tile, [row, k])?;
    let further = pass.function.cx.simplify(&(&bytes - &placed.first));
    let (by, bytes) = match further.as_int() {
        Some(bytes) => (placed.by, bytes),
        // In another group of the swizzle that is only known at run time.
        None => {
            let buffer = &pass.function.buffer(placed.tile.view.buffer).name;
            let name = match row {
                0 => format!("{buffer}_k{k}"),
                row => format!("{buffer}_r{row}_k{k}"),
            };
            let by = descriptor_licm::named(pass.function, &name, span);
            let whole = descriptor(pass, &placed.tile.view, placed.tile.k_last, span)?;
            stmts.push(advance(by, whole, bytes, span));
            (by, 0)
        }
    };
    Some(Described {
        by,
        bytes,
        k_last: placed.tile.k_last,
        elem: pass.function.buffer(placed.tile.view.buffer).elem,
    })
}

/// The byte offset from the beginning of the buffer. No operand begins before it; with this fact,
/// quotients and remainders of terms that depend on a region's threads simplify to those of the
/// part that is not a multiple.
fn bytes(pass: &mut Pass<'_>, tile: &Tile, [row, k]: [i64; 2]) -> Option<Sym> {
    let view = &tile.view;
    let along = view.strides.get(usize::from(tile.k_last))?;
    let down = view.strides.get(usize::from(!tile.k_last))?;
    let offset = &(&view.offset + &(along * k)) + &(down * row);
    let function = &mut *pass.function;
    let buffer = function.buffers.get(view.buffer.index())?;
    function.cx.push_scope();
    function.cx.assume_le(&Sym::zero(), &view.offset);
    let at = buffer.by_groups(&function.cx, &offset);
    let at = function.cx.simplify(&at);
    function.cx.pop_scope();
    Some(&at * i64::try_from(buffer.elem.bytes()).ok()?)
}

fn descriptor(pass: &mut Pass<'_>, view: &View, k_last: bool, span: Span) -> Option<LocalId> {
    let id = view.buffer;
    let known = |d: &&Descriptor| d.buffer == id && d.k_last == k_last;
    if let Some(known) = pass.described.iter().find(known) {
        return Some(known.local);
    }
    let buffer: &Buffer = pass.function.buffers.get(id.index())?;
    let swizzle = buffer.swizzle.clone()?;
    let bytes = i64::from(swizzle.bytes);
    let name = format!("{}_tiles", buffer.name);
    let leading = match k_last {
        true => Sym::int(NO_STEP),
        false => &swizzle.rows * bytes,
    };
    let local = descriptor_licm::named(pass.function, &name, span);
    let step = Step::Describe {
        local,
        of: Box::new(register(id, Sym::zero(), span)),
        swizzle: swizzle.bytes,
        leading,
        stride: ROWS * bytes,
        computed_once: false,
    };
    pass.described.push(Descriptor {
        buffer: id,
        k_last,
        local,
        stmt: mma(MmaOp::Step(step), pass.span),
    });
    Some(local)
}
