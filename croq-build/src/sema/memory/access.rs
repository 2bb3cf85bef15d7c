//! Element access: `buf.at(i, j)`.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Access, CheckCode, StmtKind, View};
use crate::sema::build;
use crate::sema::memory::{bounds, guards, whole};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::elements;
use crate::sema::values::{arith, shape};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

pub(crate) fn lower_load(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    indices: &[ast::Expr],
    span: Span,
) -> Value {
    let Some(access) = lower_access(el, base, indices, span) else {
        return Value::Error;
    };
    let elem = el.f.buffer(access.view.buffer).elem;
    whole::mark_accessed(&mut el.f, &access.view, true, false);
    emit_fetch(el, &access);
    Value::Scalar(guards::guard_load(el, access, elem, span))
}

/// On the host, brings the copy of the data up to date whose element is accessed next.
pub(crate) fn emit_fetch(el: &mut Elab<'_>, access: &Access) {
    if el.kernel.is_none() {
        build::emit(el, StmtKind::Fetch(access.view.buffer), access.span);
    }
}

/// The same in a kernel only: the host has no use for what it refers to.
pub(crate) fn lower_in_kernel(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    indices: &[ast::Expr],
    span: Span,
) -> Option<Access> {
    let access = lower_access(el, base, indices, span)?;
    if el.kernel.is_some() {
        return Some(access);
    }
    let text = "the address of an element of device memory means nothing on the host";
    let d = Diagnostic::new(codes::E0325, span, text)
        .label("this runs on the host, the data is on the device")
        .help("move the statement into a `parallel`");
    el.cx.report(d);
    None
}

pub(crate) fn lower_access(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    indices: &[ast::Expr],
    span: Span,
) -> Option<Access> {
    el.build.guards.clear();
    let data = match el.expression(base) {
        Value::Data(d) => elements::expect_accessible(el, d, base.span),
        Value::Error => None,
        other => {
            let kind = other.kind();
            el.cx.report(
                Diagnostic::new(
                    codes::E0203,
                    base.span,
                    format!("only spanned data has elements, this is {kind}"),
                )
                .label("not data"),
            );
            None
        }
    };
    // The guards of subscripts apply to the access, those of its indices to the loads in them.
    let of_base = std::mem::take(&mut el.build.guards);
    let indices = self::lower_indices(el, indices);
    el.build.guards = of_base;
    let (data, indices) = (data?, indices?);
    if data.future.is_some() {
        el.cx.report(
            Diagnostic::new(
                codes::E0432,
                span,
                format!("`{}` is a future, its elements are in `.data`", data.name),
            )
            .label("a future")
            .help(format!("write `{}.data.at(…)`", data.name)),
        );
        return None;
    }
    if indices.len() != data.view.rank() {
        let shape = shape::show(&el.f, &data.view.shape);
        let (given, rank) = (indices.len(), data.view.rank());
        let verb = if given == 1 {
            "index is"
        } else {
            "indices are"
        };
        let noun = if rank == 1 { "index" } else { "indices" };
        el.cx.report(
            Diagnostic::new(
                codes::E0430,
                span,
                format!(
                    "`{}` has shape {shape}, but {given} {verb} given",
                    data.name
                ),
            )
            .label(format!("expected {rank} {noun}")),
        );
        return None;
    }
    let mut ok = true;
    for (axis, (index, at)) in indices.iter().enumerate() {
        ok &= check_axis(el, &data.view, axis, index, *at, &data.name);
    }
    let indices = indices.into_iter().map(|(i, _)| i).collect();
    let access = Access {
        view: data.view,
        indices,
        span,
    };
    elements::check_own_element(el, &access, &data.name)?;
    ok.then_some(access)
}

/// The only element of a shared scalar.
pub(crate) fn access_word(el: &mut Elab<'_>, id: crate::ir::BufferId, span: Span) -> Access {
    el.build.guards.clear();
    Access {
        view: whole::whole_view(&el.f, id, span),
        indices: vec![Sym::zero()],
        span,
    }
}

fn check_axis(
    el: &mut Elab<'_>,
    view: &View,
    axis: usize,
    index: &Sym,
    at: Span,
    name: &str,
) -> bool {
    let (Some(extent), Some(valid)) = (view.shape.get(axis), view.valid.get(axis)) else {
        return false;
    };
    let lo = match &valid.lo {
        Some(lo) if el.f.cx.le(lo, &Sym::zero()) != Truth::Yes => el.f.cx.max(lo, &Sym::zero()),
        _ => Sym::zero(),
    };
    let hi = match &valid.hi {
        Some(hi) => el.f.cx.min(hi, extent),
        None => extent.clone(),
    };
    let rank = view.rank();
    bounds::check_inside(
        el,
        (codes::E0431, CheckCode::R12),
        &bounds::Bound {
            index,
            lo: &lo,
            hi: &hi,
            span: at,
        },
        &|| {
            if rank == 1 {
                format!("the index of `{name}`")
            } else {
                format!("index {axis} of `{name}`")
            }
        },
    )
}

/// Index arguments with their spans; ituples are spliced.
fn lower_indices(el: &mut Elab<'_>, exprs: &[ast::Expr]) -> Option<Vec<(Sym, Span)>> {
    let mut out = Vec::new();
    let mut ok = true;
    for e in exprs {
        match el.expression(e) {
            Value::Tuple(t) => out.extend(t.into_iter().map(|i| (i.value, e.span))),
            Value::Wildcard => {
                el.cx.report(
                    Diagnostic::new(codes::E0439, e.span, "`_` is not an index")
                        .label("a wildcard"),
                );
                ok = false;
            }
            v => match arith::to_sym(el, v, e.span) {
                Some(s) => out.push((s, e.span)),
                None => ok = false,
            },
        }
    }
    ok.then_some(out)
}
