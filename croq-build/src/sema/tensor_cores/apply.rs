//! Operations on the elements of fragments: `apply`, reductions of rows, copies.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Level, MmaOp, Role, Scalar, Storage};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::indices;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::{Applied, Named};
use crate::sema::state::kernel::Unit;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::IntValue;
use crate::sema::tensor_cores::{layouts, multiply, operands, units};
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, FragOp};

/// `apply {i, j} in t.span body`
pub(crate) fn lower(
    el: &mut Elab<'_>,
    names: &[ast::Name],
    frag: &ast::Name,
    body: &ast::Block,
    span: Span,
) {
    units::within_only_unit(el, Some(&expression_of(frag)), |el| {
        lower_by_unit(el, names, frag, body, span);
    });
}

fn lower_by_unit(
    el: &mut Elab<'_>,
    names: &[ast::Name],
    frag: &ast::Name,
    body: &ast::Block,
    span: Span,
) {
    let (made, stmts) = scope::reported(el, |el| {
        let made = lower_header(el, names, frag, span);
        if made.is_none() {
            el.fragments.failed = true;
            for name in names {
                if !name.is_wildcard() && !el.names.in_innermost(&name.text) {
                    scope::declare(el, name, Entity::Poison);
                }
            }
        }
        let alone = Unit::of_threads(None);
        let outside = indices::enter_level(el, Level::Thread, alone);
        let outer = el.fragments.applied.take();
        el.fragments.applied = made.as_ref().map(|(named, locals)| Applied {
            buffer: named.part.buffer,
            indices: locals.iter().filter_map(|l| el.f.local(*l).var).collect(),
        });
        el.names.enter_loop();
        let ((), stmts) = build::collect(el, |el| el.block(body));
        el.names.leave_loop();
        el.fragments.applied = outer;
        indices::leave_level(el, outside);
        (made, stmts)
    });
    if let Some((named, indices)) = made {
        operands::emit(
            el,
            MmaOp::Apply {
                part: named.part,
                indices,
                body: stmts,
            },
            span,
        );
    }
}

fn lower_header(
    el: &mut Elab<'_>,
    names: &[ast::Name],
    frag: &ast::Name,
    span: Span,
) -> Option<(Named, Vec<crate::ir::LocalId>)> {
    units::check_by_threads(el, frag.span, "`apply`")?;
    let memory = match el.names.find(&frag.text).map(|b| &b.entity) {
        Some(Entity::Buffer { id, .. }) => el.f.buffer(*id).storage != Storage::Fragment,
        _ => false,
    };
    if memory {
        let name = &frag.text;
        el.cx.report(
            Diagnostic::new(
                codes::E0928,
                frag.span,
                format!("`apply` goes through fragments, `{name}` is in memory"),
            )
            .label("not in the registers of a warp")
            .help(format!(
                "write `foreach {{i, j}} in {name}.span`, in a `parallel` of threads"
            )),
        );
        return None;
    }
    let named = operands::fragment_of(el, &expression_of(frag), false)?;
    let id = named.part.buffer;
    let Some(shape) = operands::fragment_shape(&el.f, id) else {
        multiply::report_without_shape(el, &named.name, named.span);
        return None;
    };
    if shape.len() != names.len() {
        let at = names.first().map_or(span, |name| name.span);
        el.cx.report(
            Diagnostic::new(
                codes::E0928,
                at,
                format!(
                    "`{}` has {} extents, but {} indices are named",
                    frag.text,
                    shape.len(),
                    names.len()
                ),
            )
            .label("one name for each extent"),
        );
        return None;
    }
    layouts::note_use(el, id, frag.span);
    let mut locals = Vec::new();
    for (name, extent) in names.iter().zip(shape) {
        let local = build::new_local(
            &mut el.f,
            &name.text,
            Scalar::Index,
            false,
            Role::Value,
            name.span,
        );
        let last = Sym::int(extent - 1);
        let var = build::local_var(&mut el.f, local, Some(Sym::zero()), Some(last));
        el.build.vary(local, Level::Thread);
        locals.push(local);
        let value = IntValue::bounded(Sym::var(var), Sym::int(extent));
        scope::declare(
            el,
            name,
            Entity::Int {
                value,
                kind: IntKind::Parallel,
            },
        );
        if let Some(binding) = el.names.find_mut(&name.text) {
            binding.used = true;
        }
    }
    Some((named, locals))
}

fn expression_of(name: &ast::Name) -> ast::Expr {
    ast::Expr {
        kind: Box::new(ast::ExprKind::Name(name.text.clone())),
        span: name.span,
    }
}

/// `reduce_max(dst, src, 1);` and the like.
pub(crate) fn lower_operation(
    el: &mut Elab<'_>,
    op: FragOp,
    args: &[ast::Expr],
    op_span: Span,
    span: Span,
) {
    // The last operand of a reduction is a dimension; the one before has the layout.
    let from = args.get(1).or(args.first());
    let done = units::within_only_unit(el, from, |el| {
        lower_operation_parts(el, op, args, op_span, span)
    });
    if done.is_none() {
        el.fragments.failed = true;
    }
}

fn lower_operation_parts(
    el: &mut Elab<'_>,
    op: FragOp,
    args: &[ast::Expr],
    op_span: Span,
    span: Span,
) -> Option<()> {
    units::check_by_threads(el, span, "this")?;
    match (op, args) {
        (FragOp::ReduceMax | FragOp::ReduceSum, [into, from, dim]) => {
            let (into, from) = (
                operands::fragment_of(el, into, false),
                operands::fragment_of(el, from, false),
            );
            let (into, from) = (into?, from?);
            if constants::constant(dim) != Some(1) {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0917,
                        dim.span,
                        "rows are reduced, over their columns",
                    )
                    .label("only dimension 1")
                    .help("write `1`"),
                );
                return None;
            }
            check_column(el, &into)?;
            for named in [&into, &from] {
                refuse_tf32(el, named)?;
            }
            check_reduced_shape(el, &into, &from, span)?;
            layouts::relate_layouts(el, from.part.buffer, into.part.buffer, span);
            layouts::note_use(el, from.part.buffer, from.span);
            let op = MmaOp::Reduce {
                into: into.part,
                from: from.part,
                largest: op == FragOp::ReduceMax,
            };
            operands::emit(el, op, span);
            Some(())
        }
        (FragOp::AllReduceSum, [row]) => {
            let row = operands::fragment_of(el, row, false)?;
            check_column(el, &row)?;
            refuse_tf32(el, &row)?;
            el.fragments.columns.push((row.part.buffer, row.span));
            operands::emit(el, MmaOp::AllReduce { part: row.part }, span);
            Some(())
        }
        (FragOp::Copy, [into, from]) => {
            let (into, from) = (
                operands::fragment_of(el, into, false),
                operands::fragment_of(el, from, false),
            );
            let (into, from) = (into?, from?);
            check_same_shape(el, &into, &from, span)?;
            layouts::relate_layouts(el, from.part.buffer, into.part.buffer, span);
            for named in [&into, &from] {
                layouts::note_use(el, named.part.buffer, named.span);
            }
            let op = MmaOp::Convert {
                into: into.part,
                from: from.part,
            };
            operands::emit(el, op, span);
            Some(())
        }
        _ => {
            let form = match op {
                FragOp::ReduceMax => "reduce_max(row, matrix, 1)",
                FragOp::ReduceSum => "reduce_sum(row, matrix, 1)",
                FragOp::AllReduceSum => "all_reduce_sum(row)",
                FragOp::Copy => "copy(destination, source)",
            };
            el.cx.report(
                Diagnostic::new(codes::E0100, op_span, format!("expected `{form}`"))
                    .label("other arguments than that"),
            );
            None
        }
    }
}

/// Checks that a fragment has one value for each row.
fn check_column(el: &mut Elab<'_>, named: &Named) -> Option<()> {
    let shape = operands::fragment_shape(&el.f, named.part.buffer);
    if shape.as_ref().is_some_and(|s| s.len() == 1) {
        return Some(());
    }
    el.cx.report(
        Diagnostic::new(
            codes::E0918,
            named.span,
            format!("`{}` has more than a value for each row", named.name),
        )
        .label("expected a fragment of rank 1")
        .help("declare it `frag f32 [16] row {0.0f};`"),
    );
    None
}

/// Reports the reduction of a fragment of `tf32`, whose values are computed in `f32`.
fn refuse_tf32(el: &mut Elab<'_>, named: &Named) -> Option<()> {
    if el.f.buffer(named.part.buffer).elem != Scalar::Tf32 {
        return Some(());
    }
    let remedy = "reduce a fragment of `f32`";
    unsupported::report_with_remedy(
        &mut el.cx,
        named.span,
        "a reduction of `tf32`",
        Some(remedy),
    );
    None
}

fn check_reduced_shape(el: &mut Elab<'_>, into: &Named, from: &Named, span: Span) -> Option<()> {
    let rows = operands::fragment_shape(&el.f, into.part.buffer)?
        .first()
        .copied();
    let Some(shape) = operands::fragment_shape(&el.f, from.part.buffer) else {
        multiply::report_without_shape(el, &from.name, from.span);
        return None;
    };
    if let [of, _] = shape.as_slice()
        && Some(*of) == rows
    {
        return Some(());
    }
    report_shapes_differ(el, into, from, span);
    None
}

fn check_same_shape(el: &mut Elab<'_>, into: &Named, from: &Named, span: Span) -> Option<()> {
    for named in [into, from] {
        if operands::fragment_shape(&el.f, named.part.buffer).is_none() {
            multiply::report_without_shape(el, &named.name, named.span);
            return None;
        }
    }
    let [a, b] = [into, from].map(|n| operands::fragment_shape(&el.f, n.part.buffer));
    if a == b {
        return Some(());
    }
    report_shapes_differ(el, into, from, span);
    None
}

fn report_shapes_differ(el: &mut Elab<'_>, into: &Named, from: &Named, span: Span) {
    let [a, b] = [into, from].map(|named| {
        let shape = operands::fragment_shape(&el.f, named.part.buffer).unwrap_or_default();
        let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
        format!("`{}` is [{}]", named.name, extents.join(", "))
    });
    el.cx.report(
        Diagnostic::new(codes::E0902, span, format!("{a}, {b}"))
            .label("their rows don't correspond"),
    );
}
