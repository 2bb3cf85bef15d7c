//! Sparse MMAs: of every four elements of A along K two are stored, and metadata has their
//! positions. In memory, metadata is a matrix of words: word `(m, j)` is for row `m` and the
//! elements `32 j` and up along K; its eight groups of four bits, the lowest first, have two
//! positions each, the lower one first. Where K is no multiple of 32, word `(m, j)` is for the
//! elements `16 j` and up, and only its lower half has positions.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    Expr, Fragment, FragmentLayout, Layout, Metadata, MmaOp, Operand, Part, Scalar, Storage,
    WarpgroupMma,
};
use crate::sema::build::NewBuffer;
use crate::sema::memory::whole;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{Data, Value};
use crate::sema::tensor_cores::instruction_table::{select_sparse, select_sparse_for_warpgroup};
use crate::sema::tensor_cores::multiply::{self, transposed_shape};
use crate::sema::tensor_cores::operands::{self, sym};
use crate::sema::tensor_cores::warpgroup::{self, Place};
use crate::sema::tensor_cores::{fragments, layouts, memory_tiles, owners, units};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, MmaStmt};

/// Two of this many elements along K are stored.
const OF: i64 = 4;

/// The metadata of an MMA.
enum Positions {
    Registers(Named),
    /// For a warpgroup, `mma.load` of shared memory only names the tile.
    Memory(Box<Data>),
}

/// The shape of A as it is stored, and of the MMA.
struct Shape {
    packed: i64,
    mnk: [i64; 3],
}

/// `mma.row.row.sp c, a, b, metadata;` by one warp.
pub(crate) fn lower(el: &mut Elab<'_>, m: &MmaStmt, rows: [bool; 2], span: Span) -> Option<()> {
    let [c, a, b, rest @ ..] = m.operands.as_slice() else {
        return None;
    };
    let positions = positions_of(el, rest.first(), span);
    let acc = operands::fragment_of(el, c, false);
    let a = operands::fragment_of(el, a, false);
    let b = operands::fragment_of(el, b, false);
    let (acc, a, b) = (acc?, a?, b?);
    let shapes = [&a, &b].map(|x| multiply::shape_of_operand(el, x));
    let shape = check_k(el, [shapes[0]?, shapes[1]?], rows, b.span, span)?;
    let positions = positions?;
    let [m, n, _] = shape.mnk;
    let [of_a, of_b] = [&a, &b].map(|x| el.f.buffer(x.part.buffer).elem);
    let elem = multiply::fix_accumulator_type(el, &acc, of_a);
    let types = [of_a, of_b, elem];
    let atom = multiply::choose_instruction(el, types, shape.mnk, select_sparse, span)?;
    multiply::fix_accumulator_shape(el, &acc, [m, n], span)?;
    let matrix = |layout| FragmentLayout::Matrix(layout);
    let [a_row, b_row] = rows;
    layouts::assign_layout(el, &a, matrix(Layout::operand(16, of_a, !a_row)))?;
    layouts::assign_layout(el, &b, matrix(Layout::operand(8, of_b, !b_row)))?;
    layouts::assign_layout(el, &acc, matrix(Layout::accumulator(16, false)))?;
    let layout = Metadata {
        k: atom.k,
        warps: 1,
    };
    let metadata = in_registers(el, positions, &shape, layout, span)?;
    multiply::check_registers(el, &acc, 0);
    owners::lint_lossy_accumulation(el, &acc, shape.packed);
    let (acc, a, b) = (acc.part, a.part, b.part);
    let metadata = Some(metadata);
    let product = MmaOp::Multiply {
        acc,
        a,
        b,
        metadata,
        atom,
    };
    operands::emit(el, product, span);
    Some(())
}

/// The same by a warpgroup.
pub(crate) fn lower_by_warpgroup(
    el: &mut Elab<'_>,
    m: &MmaStmt,
    rows: [bool; 2],
    span: Span,
) -> Option<()> {
    let [c, a, b, rest @ ..] = m.operands.as_slice() else {
        return None;
    };
    let positions = positions_of(el, rest.first(), span);
    let acc = operands::fragment_of(el, c, false);
    let (a, b) = (
        warpgroup::lower_operand(el, a),
        warpgroup::lower_operand(el, b),
    );
    let (acc, a, b) = (acc?, a?, b?);
    let shape = check_k(el, [a.shape, b.shape], rows, b.span, span)?;
    let positions = positions?;
    let Place::Memory(of_b) = b.place else {
        warpgroup::report_b_in_registers(&mut el.cx, &b);
        return None;
    };
    report_order(el, m)?;
    let [a_row, b_row] = rows;
    let [rows_of_a, n, k] = shape.mnk;
    let elem = multiply::fix_accumulator_type(el, &acc, a.elem);
    let types = [a.elem, b.elem, elem];
    let atom = match select_sparse_for_warpgroup(types, shape.mnk) {
        Ok(atom) => atom,
        Err(missing) => {
            let name = units::TARGET;
            multiply::report_no_instruction(&mut el.cx, types, shape.mnk, missing, name, span);
            return None;
        }
    };
    multiply::fix_accumulator_shape(el, &acc, [rows_of_a, n], span)?;
    let matrix = |layout: Layout| FragmentLayout::Matrix(layout.of_warpgroup());
    layouts::assign_layout(el, &acc, matrix(Layout::accumulator(16, false)))?;
    let operand = match a.place {
        Place::Registers(named) => {
            let layout = Layout::operand(16, a.elem, !a_row);
            layouts::assign_layout(el, &named, matrix(layout))?;
            Operand::Registers(named.part)
        }
        Place::Memory(view) => Operand::Memory(warpgroup::tile_in_memory(
            el, view, a_row, a.elem, &a.name, a.span,
        )?),
    };
    let b = warpgroup::tile_in_memory(el, of_b, b_row, b.elem, &b.name, b.span)?;
    let layout = Metadata {
        k: atom.k,
        warps: 4,
    };
    let metadata = in_registers(el, positions, &shape, layout, span)?;
    multiply::check_registers(el, &acc, 0);
    owners::lint_lossy_accumulation(el, &acc, shape.packed);
    let number = el.fragments.operations.len();
    let operation = m.is_async.then(|| u32::try_from(number).ok()).flatten();
    let mma = WarpgroupMma {
        acc: acc.part,
        a: operand,
        b,
        metadata: Some(metadata),
        atom,
        order: (0..k / atom.k).collect(),
        accumulate: Expr::bool(true, span),
        operation,
    };
    operands::emit(el, MmaOp::WarpgroupMma(Box::new(mma)), span);
    if m.is_async {
        warpgroup::name_product(el, m.target.as_ref(), number, span);
    }
    Some(())
}

/// Compares K of the operands, of which A has half.
fn check_k(
    el: &mut Elab<'_>,
    [of_a, of_b]: [[i64; 2]; 2],
    rows: [bool; 2],
    b: Span,
    span: Span,
) -> Option<Shape> {
    let ([m, packed], [n, k]) = (
        transposed_shape(of_a, !rows[0]),
        transposed_shape(of_b, !rows[1]),
    );
    if k % OF != 0 {
        let text = format!("the K of a sparse MMA must be a multiple of {OF}, this is {k}");
        let d = Diagnostic::new(codes::E0922, b, text);
        el.cx
            .report(d.label("two of every four elements of A are stored"));
        return None;
    }
    if packed.checked_mul(2) != Some(k) {
        let text = format!("the operands disagree along K: {packed} packed, {k}");
        let d = Diagnostic::new(codes::E0902, span, text).label("these can't be multiplied");
        el.cx.report(d.help(format!(
            "what is stored of a sparse A has half of K: {}",
            k / 2
        )));
        return None;
    }
    let mnk = [m, n, k];
    Some(Shape { packed, mnk })
}

/// Metadata is for the parts of K in ascending order.
fn report_order(el: &mut Elab<'_>, m: &MmaStmt) -> Option<()> {
    let Some(tiles) = &m.k_tiles else {
        return Some(());
    };
    if let (Some(first), Some(last)) = (tiles.first(), tiles.last()) {
        el.cx.report(
            Diagnostic::new(
                codes::E0911,
                first.span.to(last.span),
                "the order of the parts of K can be set only for a dense MMA",
            )
            .label("this one is sparse")
            .help("remove the attribute: the parts are accumulated in ascending order"),
        );
    }
    None
}

/// Finds the metadata, which must be the result of an `mma.load`.
fn positions_of(el: &mut Elab<'_>, e: Option<&ast::Expr>, span: Span) -> Option<Positions> {
    let found = e.and_then(|e| match &*e.kind {
        ast::ExprKind::Name(name) => Some(el.names.find(name)?.entity.clone()),
        _ => None,
    });
    if let Some(e) = e {
        if matches!(el.expression(e), Value::Error) {
            return None;
        }
        match found {
            Some(Entity::View(_)) => {
                let data = memory_tiles::tile_of(el, e, "an MMA")?;
                return Some(Positions::Memory(Box::new(data)));
            }
            Some(Entity::Buffer { id, .. }) if el.fragments.loaded.contains_key(&id) => {
                return operands::fragment_of(el, e, false).map(Positions::Registers);
            }
            _ => {}
        }
    }
    let (at, text) = match e {
        Some(e) => (
            e.span,
            "the metadata of a sparse MMA must be loaded into a fragment first",
        ),
        None => (
            span,
            "a sparse MMA needs metadata: the positions of the elements of A",
        ),
    };
    el.cx.report(
        Diagnostic::new(codes::E0908, at, text)
            .label("no metadata that `mma.load` has loaded")
            .help("`e = mma.load metadata; mma.row.row.sp c, a, b, e;`"),
    );
    None
}

/// The fragment of the metadata, whose elements are words from now on.
fn in_registers(
    el: &mut Elab<'_>,
    positions: Positions,
    shape: &Shape,
    layout: Metadata,
    span: Span,
) -> Option<Part> {
    let named = match positions {
        Positions::Registers(named) => {
            let own = multiply::shape_of_operand(el, &named)?;
            let elem = el.f.buffer(named.part.buffer).elem;
            check_words(el, (own, elem), shape, layout, named.span)?;
            named
        }
        Positions::Memory(data) => {
            let own = memory_tiles::static_extents(el, &data.view, "an MMA")?;
            let elem = el.f.buffer(data.view.buffer).elem;
            check_words(el, (own, elem), shape, layout, data.span)?;
            load(el, *data, own, elem, span)
        }
    };
    let id = named.part.buffer;
    layouts::assign_layout(el, &named, FragmentLayout::Metadata(layout))?;
    let [m, _, k] = shape.mnk;
    let words = [m, k / layout.word()];
    if let Some(fragment) = el.f.fragments.get_mut(&id) {
        fragment.shape = words.to_vec();
    }
    if let Some(buffer) = el.f.buffers.get_mut(id.index()) {
        buffer.elem = Scalar::U32;
        buffer.shape = words.iter().map(|n| sym(*n)).collect();
        buffer.count = words.iter().map(|n| sym(*n)).product();
    }
    Some(named.part)
}

/// Loads metadata from shared memory for a warpgroup.
fn load(el: &mut Elab<'_>, data: Data, own: [i64; 2], elem: Scalar, span: Span) -> Named {
    let Data { name, view, .. } = data;
    whole::mark_accessed(&mut el.f, &view, true, false);
    let new = NewBuffer {
        name: &name,
        elem,
        storage: Storage::Fragment,
        shape: own.iter().map(|n| sym(*n)).collect(),
        copies: Sym::one(),
        span,
    };
    let fragment = Fragment {
        shape: own.to_vec(),
        count: 1,
        layout: None,
    };
    let buffer = fragments::allocate(&mut el.f, new, fragment);
    let part = Part {
        buffer,
        number: Some(Sym::zero()),
        span,
    };
    let into = part.clone();
    operands::emit(el, MmaOp::Load { into, source: view }, span);
    Named { part, name, span }
}

/// Whether metadata of these extents has a bit for each element of A, those that are not stored
/// included; or words of which the lower half has them.
fn check_words(
    el: &mut Elab<'_>,
    ([rows, columns], elem): ([i64; 2], Scalar),
    shape: &Shape,
    layout: Metadata,
    at: Span,
) -> Option<()> {
    let [m, _, k] = shape.mnk;
    let whole = matches!(elem, Scalar::U8 | Scalar::U16 | Scalar::U32);
    let bits = match elem {
        Scalar::U32 => columns * layout.word(),
        _ => columns * elem.size() * 8,
    };
    if whole && rows == m && bits == k {
        return Some(());
    }
    let [words, halves, bytes] = [layout.word(), 16, 8].map(|bits| k / bits);
    let text = format!(
        "the metadata is [{rows}, {columns}] of `{elem}`, an A of [{m}, {}] needs [{m}, {words}] of \
         `u32`, [{m}, {halves}] of `u16` or [{m}, {bytes}] of `u8`",
        shape.packed,
    );
    let d = Diagnostic::new(codes::E0902, at, text).label(match whole {
        true => "one bit for each element of A along K, those that are not stored included",
        false => "metadata has elements of `u32`, `u16` or `u8`",
    });
    let columns = match layout.word() {
        16 => "16 of K as `u32` or `u16`, for each 8 as `u8`".to_owned(),
        word => format!("{word} of K as `u32`, for each 16 as `u16`, for each 8 as `u8`"),
    };
    el.cx.report(d.help(format!(
        "metadata has all rows of A, and a column for each {columns}"
    )));
    None
}
