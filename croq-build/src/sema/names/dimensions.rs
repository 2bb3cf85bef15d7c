//! Symbolic dimensions.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, CheckCode, DimId, Extent, ParamId, Passing};
use crate::sema::checks::{run_time, unsupported};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::{IntValue, Value};
use crate::sema::values::{constants, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

pub(crate) fn lower_dimension(
    el: &mut Elab<'_>,
    param: ParamId,
    param_name: &str,
    axis: usize,
    dim: &ast::Dim,
    passing: Passing,
) -> (Extent, Sym) {
    match dim {
        ast::Dim::Unbounded(span) => {
            if passing == Passing::Global {
                unsupported::report(&mut el.cx, *span, "an unbounded dimension `??`");
            } else {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0401,
                        *span,
                        "`??` on a parameter that is not `global`",
                    )
                    .label("an unbounded dimension can't be copied in")
                    .help("write `?` for an unknown size, or make the parameter `global`"),
                );
            }
            (Extent::Unbounded, Sym::one())
        }
        ast::Dim::Anonymous(span) => {
            let name = format!("{param_name}_{axis}");
            let (id, sym) = new_dim(&mut el.f, &name, true, param, axis, *span);
            (
                Extent::Dim {
                    dim: id,
                    declares: true,
                },
                sym,
            )
        }
        ast::Dim::Expr(e) => lower_dimension_expr(el, param, param_name, axis, e),
    }
}

/// Declares the dimensions that parameters name, in order: an extent may refer to one that a later
/// parameter has.
pub(crate) fn declare_names(el: &mut Elab<'_>, function: &ast::Function) {
    for (position, param) in function.params.iter().enumerate() {
        let id = ParamId(u32::try_from(position).unwrap_or(u32::MAX));
        let ast::ParamTypeKind::Spanned { dims, .. } = &param.ty.kind else {
            continue;
        };
        for (axis, dim) in dims.iter().enumerate() {
            let ast::Dim::Expr(e) = dim else { continue };
            let ast::ExprKind::Name(name) = &*e.kind else {
                continue;
            };
            if named(el, name).is_none() {
                declare(el, id, axis, name, e.span);
            }
        }
    }
}

/// Declares what may be dimensions of a parameter without a type, so that their uses are no errors.
pub(crate) fn declare_unknown(el: &mut Elab<'_>, dims: &[ast::Expr]) {
    for e in dims {
        let ast::ExprKind::Name(text) = &*e.kind else {
            continue;
        };
        if el.names.innermost(text).is_none() {
            let name = ast::Name {
                text: text.clone(),
                span: e.span,
            };
            scope::declare(el, &name, Entity::Poison);
        }
    }
}

/// The dimension of this name.
fn named(el: &Elab<'_>, name: &str) -> Option<(DimId, Sym)> {
    let dims = el.f.dims.iter();
    let position = dims.clone().position(|d| !d.anonymous && d.name == *name)?;
    let var = el.f.dims.get(position)?.var;
    let id = DimId(u32::try_from(position).unwrap_or(u32::MAX));
    Some((id, Sym::var(var)))
}

fn declare(el: &mut Elab<'_>, param: ParamId, axis: usize, name: &str, span: Span) {
    let (_, sym) = new_dim(&mut el.f, name, false, param, axis, span);
    let named = ast::Name {
        text: name.to_owned(),
        span,
    };
    let value = IntValue::plain(sym);
    scope::declare(
        el,
        &named,
        Entity::Int {
            value,
            kind: IntKind::Dim,
        },
    );
}

fn lower_dimension_expr(
    el: &mut Elab<'_>,
    param: ParamId,
    param_name: &str,
    axis: usize,
    e: &ast::Expr,
) -> (Extent, Sym) {
    let none = (Extent::Static(1), Sym::one());
    if let ast::ExprKind::Name(name) = &*e.kind
        && let Some((dim, sym)) = named(el, name)
    {
        let home = el.f.dims.get(dim.index());
        let declares = home.is_some_and(|d| (d.param, d.axis) == (param, axis));
        return (Extent::Dim { dim, declares }, sym);
    }
    let Some(n) = constants::constant(e) else {
        return computed(el, param, param_name, axis, e).unwrap_or(none);
    };
    match u64::try_from(n) {
        Ok(n @ 1..) => (
            Extent::Static(n),
            Sym::int(i64::try_from(n).unwrap_or(i64::MAX)),
        ),
        _ => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0413,
                    e.span,
                    format!("a parameter's extent must be positive, this is {n}"),
                )
                .label("must be at least 1"),
            );
            none
        }
    }
}

/// `K / 64` as an extent: the call compares it with the argument's.
fn computed(
    el: &mut Elab<'_>,
    param: ParamId,
    param_name: &str,
    axis: usize,
    e: &ast::Expr,
) -> Option<(Extent, Sym)> {
    let sym = of_dimensions(el, e)?;
    let name = format!("{param_name}_{axis}");
    let (dim, extent) = new_dim(&mut el.f, &name, true, param, axis, e.span);
    let written = el.cx.file.snippet(e.span).to_owned();
    let message = format!("axis {axis} of `{param_name}` has {{0}} elements, `{written}` is {{1}}");
    let check = run_time::Check::new(CheckCode::R01, message, e.span);
    run_time::emit_equal_at_entry(el, check, &extent, &sym);
    // From here on they are equal, and an extent is at least 1.
    el.f.cx.assume_le(&Sym::one(), &sym);
    let declares = true;
    Some((Extent::Dim { dim, declares }, sym))
}

/// An extent that is computed from dimensions and integer parameters.
pub(crate) fn of_dimensions(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Sym> {
    match el.expression(e) {
        Value::Int(value) => Some(value.value),
        Value::Error => None,
        other => {
            let kind = other.kind();
            let is_float = matches!(&other, Value::Scalar(e) if e.ty.is_float());
            let text = format!("an extent is an integer, this is {kind}");
            let help = shape::help_for_extent(el, is_float);
            el.cx.report(
                Diagnostic::new(codes::E0402, e.span, text)
                    .label("not an integer")
                    .help(help),
            );
            None
        }
    }
}

fn new_dim(
    func: &mut ir::Function,
    name: &str,
    anonymous: bool,
    param: ParamId,
    axis: usize,
    span: Span,
) -> (DimId, Sym) {
    let id = DimId(u32::try_from(func.dims.len()).unwrap_or(u32::MAX));
    // R03 holds at entry: every extent is at least 1. The upper bound ensures that products of two
    // extents fit the 64-bit integers that offsets are computed in.
    let var = func.cx.new_var(name, Some(Sym::one()), None);
    func.var_home.insert(var, ir::VarHome::Dim(id));
    func.dims.push(ir::Dim {
        name: name.to_owned(),
        var,
        anonymous,
        param,
        axis,
        span,
    });
    (id, Sym::var(var))
}

pub(crate) fn check_dimension_names(el: &mut Elab<'_>) {
    let clashes: Vec<(String, Span, Span)> =
        el.f.dims
            .iter()
            .filter(|d| !d.anonymous)
            .filter_map(|d| {
                let p = el.f.params.iter().find(|p| p.named && p.name == d.name)?;
                Some((d.name.clone(), d.span, p.span))
            })
            .collect();
    for (name, dim, param) in clashes {
        el.cx.report(
            Diagnostic::new(
                codes::E0410,
                dim,
                format!("`{name}` is both a dimension and a parameter"),
            )
            .label("a symbolic dimension")
            .also(param, "a parameter")
            .help("rename one of them"),
        );
    }
}
