//! MMAs by a warpgroup (WGMMA): B is read from shared memory in place, and A is in registers or in
//! shared memory.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    Expr, FragmentLayout, Layout, MmaOp, Operand, Scalar, Storage, Tile, View, WarpgroupMma,
};
use crate::sema::memory::whole;
use crate::sema::names::scope;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::{Named, Operation};
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{Data, Value};
use crate::sema::tensor_cores::instruction_table::select_for_warpgroup;
use crate::sema::tensor_cores::multiply::{self, transposed_shape};
use crate::sema::tensor_cores::{layouts, memory_tiles, operands, owners, units};
use crate::sema::values::constants;
use crate::source::Span;
use crate::syntax::ast::{self, MmaStmt};

/// An operand A or B.
pub(crate) struct Factor {
    pub place: Place,
    pub shape: [i64; 2],
    pub elem: Scalar,
    pub name: String,
    pub span: Span,
}

pub(crate) enum Place {
    Registers(Named),
    Memory(View),
}

/// `a = mma.load view;` of shared memory only names the view: a warpgroup reads it in place.
pub(crate) fn name_tile(el: &mut Elab<'_>, name: &ast::Name, data: Data) {
    scope::declare(el, name, Entity::View(data));
}

/// `mma.load view, a;` into registers that are already declared.
pub(crate) fn load_into(
    el: &mut Elab<'_>,
    source: &ast::Expr,
    target: &ast::Expr,
    span: Span,
) -> Option<()> {
    let data = memory_tiles::tile_of(el, source, "mma.load")?;
    let into = operands::fragment_of(el, target, false)?;
    let shape = memory_tiles::static_extents(el, &data.view, "mma.load")?;
    let id = into.part.buffer;
    memory_tiles::lint_edge_of_load(el, &data);
    if operands::fragment_shape(&el.f, id).as_deref() != Some(&shape) {
        let own = operands::fragment_shape(&el.f, id).unwrap_or_default();
        let own: Vec<String> = own.iter().map(i64::to_string).collect();
        let text = format!(
            "the tile is [{}, {}], `{}` is [{}]",
            shape[0],
            shape[1],
            into.name,
            own.join(", ")
        );
        el.cx
            .report(Diagnostic::new(codes::E0902, span, text).label("other extents"));
        return None;
    }
    let (from, to) = (el.f.buffer(data.view.buffer).elem, el.f.buffer(id).elem);
    if from != to {
        let text = format!(
            "the tile has elements of `{from}`, `{}` of `{to}`",
            into.name
        );
        el.cx
            .report(Diagnostic::new(codes::E0902, span, text).label("nothing is converted here"));
        return None;
    }
    whole::mark_accessed(&mut el.f, &data.view, true, false);
    layouts::require_layout(el, id, into.span);
    let (into, source) = (into.part, data.view);
    operands::emit(el, MmaOp::Load { into, source }, span);
    Some(())
}

pub(crate) fn lower(el: &mut Elab<'_>, m: &MmaStmt, rows: [bool; 2], span: Span) -> Option<()> {
    let [c, a, b, ..] = m.operands.as_slice() else {
        return None;
    };
    let acc = operands::fragment_of(el, c, false);
    let (a, b) = (lower_operand(el, a), lower_operand(el, b));
    let (acc, a, b) = (acc?, a?, b?);
    let Place::Memory(of_b) = b.place else {
        report_b_in_registers(&mut el.cx, &b);
        return None;
    };
    let [a_row, b_row] = rows;
    let ([m_, k], [n, of_b_k]) = (
        transposed_shape(a.shape, !a_row),
        transposed_shape(b.shape, !b_row),
    );
    if k != of_b_k {
        let sides = ((a.span, a.shape, a_row), (b.span, b.shape, b_row));
        multiply::report_k_differs(&mut el.cx, sides.0, sides.1, [k, of_b_k], span);
        return None;
    }
    let elem = multiply::fix_accumulator_type(el, &acc, a.elem);
    let types = [a.elem, b.elem, elem];
    let atom = match select_for_warpgroup(types, [m_, n, k]) {
        Ok(atom) => atom,
        Err(missing) => {
            multiply::report_no_instruction(
                &mut el.cx,
                types,
                [m_, n, k],
                missing,
                units::TARGET,
                span,
            );
            return None;
        }
    };
    multiply::fix_accumulator_shape(el, &acc, [m_, n], span)?;
    let order = lower_schedule(&mut el.cx, m, k / atom.k)?;
    layouts::assign_layout(
        el,
        &acc,
        FragmentLayout::Matrix(Layout::accumulator(16, false).of_warpgroup()),
    )?;
    let a = match a.place {
        Place::Registers(named) => {
            let layout = Layout::operand(16, a.elem, !a_row).of_warpgroup();
            layouts::assign_layout(el, &named, FragmentLayout::Matrix(layout))?;
            Operand::Registers(named.part)
        }
        Place::Memory(view) => {
            let tile = tile_in_memory(el, view, a_row, a.elem, &a.name, a.span)?;
            Operand::Memory(tile)
        }
    };
    let b = tile_in_memory(el, of_b, b_row, b.elem, &b.name, b.span)?;
    multiply::check_registers(el, &acc, 0);
    owners::lint_lossy_accumulation(el, &acc, k);
    let number = el.fragments.operations.len();
    let mma = WarpgroupMma {
        acc: acc.part,
        a,
        b,
        metadata: None,
        atom,
        order,
        accumulate: Expr::bool(true, span),
        operation: m
            .is_async
            .then_some(number)
            .and_then(|n| u32::try_from(n).ok()),
    };
    operands::emit(el, MmaOp::WarpgroupMma(Box::new(mma)), span);
    if m.is_async {
        name_product(el, m.target.as_ref(), number, span);
    }
    Some(())
}

pub(crate) fn name_product(el: &mut Elab<'_>, name: Option<&ast::Name>, number: usize, span: Span) {
    el.fragments.operations.push(Operation {
        name: name.map_or_else(String::new, |n| n.text.clone()),
        span,
        waited: None,
        loops: el.path.loops(),
        conditions: el.path.conditions(),
    });
    if let Some(name) = name {
        scope::declare(el, name, Entity::Operation(number));
    }
}

/// `wait q;`
pub(crate) fn wait_for_product(el: &mut Elab<'_>, number: usize, at: Span) {
    if units::check_by_warp(el, at, "waiting for an MMA").is_none() {
        return;
    }
    let (loops, conditions) = (el.path.loops(), el.path.conditions());
    let Some(operation) = el.fragments.operations.get_mut(number) else {
        return;
    };
    let (name, begun, around) = (operation.name.clone(), operation.span, operation.loops);
    let under = conditions.saturating_sub(operation.conditions);
    let earlier = operation.waited.replace((at, under));
    // Two waits under conditions may be on alternative paths.
    let twice = match earlier {
        Some((_, before)) => before == 0 || under == 0,
        None => loops > around,
    };
    if twice {
        let mut d = Diagnostic::new(
            codes::E1010,
            at,
            format!("`{name}` is waited for more than once"),
        )
        .label("it was over before")
        .also(begun, "begun here");
        if let Some((first, _)) = earlier {
            d = d.also(first, "and waited for here");
        }
        el.cx.report(d.help("wait for each MMA once"));
        return;
    }
    if let Ok(number) = u32::try_from(number) {
        operands::emit(el, MmaOp::WaitMma(number), at);
    }
}

/// Reports MMAs that no `wait` completes. Runs at the function's end.
pub(crate) fn report_not_waited_for(el: &mut Elab<'_>) {
    owners::report_accumulators_of_others(el);
    for operation in std::mem::take(&mut el.fragments.operations) {
        if operation.waited.is_some() {
            continue;
        }
        let text = match operation.name.as_str() {
            "" => "this asynchronous MMA has no name, so nothing can wait for it".to_owned(),
            name => format!("`{name}` is never waited for"),
        };
        el.cx.report(
            Diagnostic::new(codes::E1010, operation.span, text)
                .label("issued here")
                .help("write `q = mma.….async …; … wait q;`, or leave `.async` out"),
        );
    }
}

pub(crate) fn lower_operand(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Factor> {
    let fragment = match el.expression(e) {
        Value::Data(data) => el.f.buffer(data.view.buffer).storage == Storage::Fragment,
        Value::Error => return None,
        _ => false,
    };
    if fragment {
        let named = operands::fragment_of(el, e, false)?;
        return Some(Factor {
            shape: multiply::shape_of_operand(el, &named)?,
            elem: el.f.buffer(named.part.buffer).elem,
            name: named.name.clone(),
            span: e.span,
            place: Place::Registers(named),
        });
    }
    let data = memory_tiles::tile_of(el, e, "an MMA")?;
    let shape = memory_tiles::static_extents(el, &data.view, "an MMA")?;
    let buffer = el.f.buffer(data.view.buffer);
    let elem = buffer.elem;
    if buffer.storage != Storage::Shared {
        let name = &data.name;
        el.cx.report(
                Diagnostic::new(
                    codes::E0907,
                    e.span,
                    format!("`{name}` is in device memory, a warpgroup multiplies what is in shared memory"),
                )
                .label("not in shared memory")
                .help("copy it there first, `tma.copy … => tile;`; A alone may be loaded into registers, `mma.load.frag`"),
            );
        return None;
    }
    if data.view.may_cross() {
        let help = match memory_tiles::misplaced(&el.f, &data.view) {
            Some(why) => format!("{why}: exclude that by a condition around this statement"),
            None => "use tiles with extents that divide the buffer's".to_owned(),
        };
        el.cx.report(
            Diagnostic::new(
                codes::E0901,
                e.span,
                format!("the tile may reach beyond `{}`", data.name),
            )
            .label("a warpgroup reads its operands whole")
            .help(help),
        );
        return None;
    }
    Some(Factor {
        shape,
        elem,
        name: data.name,
        span: e.span,
        place: Place::Memory(data.view),
    })
}

pub(crate) fn report_b_in_registers(cx: &mut Cx<'_>, b: &Factor) {
    cx.report(
        Diagnostic::new(
            codes::E0907,
            b.span,
            format!(
                "`{}` is in registers, a warpgroup takes B from shared memory",
                b.name
            ),
        )
        .label("only A may be in registers")
        .help("leave out its `mma.load`, and name the tile in shared memory"),
    );
}

/// An operand in shared memory, whose buffer needs a swizzle.
pub(crate) fn tile_in_memory(
    el: &mut Elab<'_>,
    view: View,
    k_last: bool,
    elem: Scalar,
    name: &str,
    span: Span,
) -> Option<Tile> {
    if !k_last && elem.bytes() != 2 {
        el.cx.report(
            Diagnostic::new(
                codes::E0909,
                span,
                format!("`{name}` has K first, which a warpgroup takes only of f16 and bf16"),
            )
            .label(format!("elements of `{elem}`, `col`"))
            .help("store it with K last, and write `row`"),
        );
        return None;
    }
    whole::mark_accessed(&mut el.f, &view, true, false);
    el.storage.swizzles.want(view.buffer, span);
    Some(Tile { view, k_last })
}

/// `[[schedule(k_tiles(…))]]`: the order of the parts of K.
pub(crate) fn lower_schedule(cx: &mut Cx<'_>, m: &MmaStmt, parts: i64) -> Option<Vec<i64>> {
    let Some(tiles) = &m.k_tiles else {
        return Some((0..parts).collect());
    };
    let at = match (tiles.first(), tiles.last()) {
        (Some(first), Some(last)) => first.span.to(last.span),
        _ => return Some((0..parts).collect()),
    };
    if parts == 1 {
        cx.report(
            Diagnostic::new(
                codes::E0911,
                at,
                "this MMA is one instruction: its K has no parts",
            )
            .label("nothing to order")
            .help("remove the attribute"),
        );
        return None;
    }
    let order: Vec<Option<i64>> = tiles.iter().map(constants::constant).collect();
    let order: Option<Vec<i64>> = order.into_iter().collect();
    let mut sorted = order.clone().unwrap_or_default();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..parts) {
        cx.report(
            Diagnostic::new(
                codes::E0910,
                at,
                format!("the order must list each of the {parts} parts of K once"),
            )
            .label(format!("no order of the numbers from 0 to {}", parts - 1)),
        );
        return None;
    }
    order
}

#[cfg(test)]
mod tests {

    fn codes(archs: &[(&str, u16)]) -> Vec<&'static str> {
        let text = "__co__ void f(f16 [64, 16] a, f16 [8, 16] b, f32 [64, 8] & c) {
          parallel by 1 : block {
            shared f16 [64, 16] as;
            shared f16 [8, 16] bs;
            dma.copy.swiz<32> a => as;
            dma.copy.swiz<32> b => bs;
            parallel g by 1 : group-4 {
              acc = mma.fill.f32 0.0f;
              mma.row.row acc, as, bs;
              mma.store acc, c;
            }
          }
        }";
        crate::sema::testing::codes(text, archs)
    }

    #[test]
    fn one_target_has_them() {
        assert_eq!(codes(&[("sm_80", 80), ("sm_90a", 90)]), ["N0905"]);
        assert!(codes(&[("sm_90a", 90)]).is_empty());
        assert!(codes(&[("sm_90", 90)]).iter().all(|code| *code == "E0905"));
        assert_eq!(
            codes(&[("sm_80", 80), ("sm_100a", 100)]).first(),
            Some(&"E0905")
        );
    }
}
