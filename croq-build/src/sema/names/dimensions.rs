//! Symbolic dimensions.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, DimId, Extent, ParamId, Passing};
use crate::sema::checks::unsupported;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::IntValue;
use crate::sema::values::constants;
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
        ast::Dim::Expr(e) => lower_dimension_expr(el, param, axis, e),
    }
}

fn lower_dimension_expr(
    el: &mut Elab<'_>,
    param: ParamId,
    axis: usize,
    e: &ast::Expr,
) -> (Extent, Sym) {
    let none = (Extent::Static(1), Sym::one());
    if let ast::ExprKind::Name(name) = &*e.kind {
        if let Some(position) =
            el.f.dims
                .iter()
                .position(|d| !d.anonymous && d.name == *name)
        {
            let id = DimId(u32::try_from(position).unwrap_or(u32::MAX));
            let var =
                el.f.dims
                    .get(position)
                    .map(|d| Sym::var(d.var))
                    .unwrap_or_default();
            return (
                Extent::Dim {
                    dim: id,
                    declares: false,
                },
                var,
            );
        }
        let (id, sym) = new_dim(&mut el.f, name, false, param, axis, e.span);
        let named = ast::Name {
            text: name.clone(),
            span: e.span,
        };
        let value = IntValue::plain(sym.clone());
        scope::declare(
            el,
            &named,
            Entity::Int {
                value,
                kind: IntKind::Dim,
            },
        );
        return (
            Extent::Dim {
                dim: id,
                declares: true,
            },
            sym,
        );
    }
    let Some(n) = constants::constant(e) else {
        el.cx.report(
            Diagnostic::new(
                codes::E0402,
                e.span,
                "an expression with symbolic names can't be a parameter's extent",
            )
            .label("must be a constant or one name")
            .help("introduce another name here, and `assert` the relation in the body"),
        );
        return none;
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
