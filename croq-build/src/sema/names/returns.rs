//! The results of a function: returned values, and parameters that are written.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, CheckCode, Passing};
use crate::sema::checks::run_time;
use crate::sema::names::dimensions;
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::results::ReturnShape;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::statements::returns;
use crate::sema::values::{constants, convert, shape};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// Warns of writes to a by-value parameter that is not returned: they are lost at the end of the
/// call.
pub(crate) fn lint_lost_writes(el: &mut Elab<'_>) {
    let lost: Vec<(String, Span, Span)> =
        el.f.params
            .iter()
            .filter_map(|p| match &p.kind {
                ir::ParamKind::Tensor(t) if t.passing == Passing::In => {
                    let at = el.storage.stored.get(&t.buffer)?;
                    let kept =
                        el.results.buffers.contains(&t.buffer) || el.storage.is_exchanged(t.buffer);
                    (!kept).then(|| (p.name.clone(), p.span, *at))
                }
                _ => None,
            })
            .collect();
    for (name, declared, at) in lost {
        el.cx.report(
            Diagnostic::new(
                codes::W0620,
                at,
                format!("what is written to `{name}` is lost at the end of the call"),
            )
            .label("written here")
            .also(declared, "passed by value: copied in, never back")
            .help(format!("declare it `& {name}`, or return it"))
            .of_the_whole(),
        );
    }
}

/// Whether a statement did not parse, which may have been a `return`.
fn is_broken(statements: &[ast::Stmt]) -> bool {
    statements.iter().any(|statement| {
        matches!(statement.kind, ast::StmtKind::Error)
            || statement.kind.blocks().any(|block| is_broken(&block.stmts))
    })
}

/// Sets the function's return type after every `return` was elaborated.
pub(crate) fn settle(el: &mut Elab<'_>, function: &ast::Function) {
    if el.results.poisoned {
        return;
    }
    let first = el.results.returned.first().cloned();
    match (&el.results.declared, first) {
        (ast::RetType::Void(_), _) | (ast::RetType::Auto(_), None) => {}
        (ast::RetType::Auto(_), Some((_, shapes))) => {
            el.f.results = shapes.into_iter().map(result_type).collect();
        }
        (ast::RetType::Typed(_), None) if is_broken(&function.body) => {}
        (ast::RetType::Typed(ty), None) => {
            let span = ty.span;
            el.cx.report(
                Diagnostic::new(
                    codes::E0350,
                    span,
                    format!(
                        "`{}` returns nothing, but its type says it does",
                        el.cx.file.declared_name_of(&function.name.text)
                    ),
                )
                .label("this type is promised")
                .help("add a `return`, or make the function `void`"),
            );
        }
        (ast::RetType::Typed(ty), Some((span, shapes))) => {
            let ty = ty.clone();
            match <[ReturnShape; 1]>::try_from(shapes) {
                Ok([shape]) => lower_declared(el, &ty, span, shape),
                Err(shapes) => {
                    let got = returns::describe_results(&el.f, &shapes);
                    let want = format!("`{}`", el.cx.file.snippet(ty.span));
                    report_mismatch(&mut el.cx, ty.span, span, &want, &got);
                }
            }
        }
    }
    let ends = always_returns(&function.body);
    if !el.results.returned.is_empty()
        && !ends
        && !is_broken(&function.body)
        && !matches!(el.results.declared, ast::RetType::Void(_))
    {
        let end = Span::new(function.span.end.saturating_sub(1), function.span.end);
        el.cx.report(
            Diagnostic::new(
                codes::E0350,
                end,
                format!(
                    "`{}` may end without a `return`",
                    el.cx.file.declared_name_of(&function.name.text)
                ),
            )
            .label("the end of the function is reached")
            .help("end the function with a `return`"),
        );
    }
}

fn lower_declared(el: &mut Elab<'_>, ty: &ast::ParamType, at: Span, shape: ReturnShape) {
    match (&ty.kind, &shape) {
        (
            ast::ParamTypeKind::Scalar(elem),
            ReturnShape::Scalar(got) | ReturnShape::Element(got),
        ) => {
            if let Some(want) = convert::scalar_type(&mut el.cx, *elem, ty.span)
                && !convert::refuse_small_scalar(&mut el.cx, want, ty.span)
            {
                if want != *got {
                    let (want, got) = (format!("`{want}`"), format!("`{got}`"));
                    report_mismatch(&mut el.cx, ty.span, at, &want, &got);
                }
                el.f.results = vec![result_type(shape)];
            }
        }
        (
            ast::ParamTypeKind::Spanned { elem, .. } | ast::ParamTypeKind::SpannedRank { elem, .. },
            ReturnShape::Tensor(got, got_shape),
        ) => {
            let Some(want) = convert::element_type(&mut el.cx, *elem, ty.span) else {
                return;
            };
            if want != *got {
                let (want, got) = (format!("elements `{want}`"), format!("`{got}`"));
                report_mismatch(&mut el.cx, ty.span, at, &want, &got);
                return;
            }
            declared_shape(el, ty, at, got_shape);
            el.f.results = vec![result_type(shape)];
        }
        (ast::ParamTypeKind::Stream | ast::ParamTypeKind::Unsupported(..), _) => {
            let text = el.cx.file.snippet(ty.span).to_owned();
            el.cx.report(
                Diagnostic::new(
                    codes::E0357,
                    ty.span,
                    format!("a function can't return `{text}`"),
                )
                .label("not a return type")
                .help("return a scalar, a tensor such as `f32 [M, N]`, or `void`"),
            );
        }
        _ => {
            let got = returns::describe_results(&el.f, &[shape]);
            let want = format!("`{}`", el.cx.file.snippet(ty.span));
            report_mismatch(&mut el.cx, ty.span, at, &want, &got);
        }
    }
}

fn declared_shape(el: &mut Elab<'_>, ty: &ast::ParamType, at: Span, got: &[Sym]) {
    let want: Vec<Option<Sym>> = match &ty.kind {
        ast::ParamTypeKind::SpannedRank { rank, .. } => {
            vec![None; usize::try_from(constants::constant(rank).unwrap_or(0)).unwrap_or(0)]
        }
        ast::ParamTypeKind::Spanned { dims, .. } => dims
            .iter()
            .map(|d| match d {
                ast::Dim::Expr(e) => lower_dimension(el, e),
                ast::Dim::Anonymous(_) | ast::Dim::Unbounded(_) => None,
            })
            .collect(),
        _ => return,
    };
    if want.len() != got.len() {
        let text = format!("rank {}", want.len());
        let shown = shape::show(&el.f, got);
        report_mismatch(&mut el.cx, ty.span, at, &text, &shown);
        return;
    }
    for (axis, (want, got)) in want.iter().zip(got).enumerate() {
        let Some(want) = want else { continue };
        match el.f.cx.eq(want, got) {
            crate::symbolic::Truth::Yes => {}
            crate::symbolic::Truth::No => {
                let w = format!("extent {} on axis {axis}", el.f.cx.show(want));
                let g = el.f.cx.show(got);
                report_mismatch(&mut el.cx, ty.span, at, &w, &g);
            }
            crate::symbolic::Truth::Unknown => {
                let message =
                    format!("the returned extent on axis {axis} is {{0}}, its type says {{1}}");
                run_time::emit_equal_at_entry(
                    el,
                    run_time::Check::new(CheckCode::R01, message, at),
                    got,
                    want,
                );
            }
        }
    }
}

fn lower_dimension(el: &mut Elab<'_>, e: &ast::Expr) -> Option<Sym> {
    if let ast::ExprKind::Name(name) = &*e.kind {
        let known = el.f.dims.iter().find(|d| !d.anonymous && d.name == *name);
        if let Some(d) = known {
            return Some(Sym::var(d.var));
        }
        let binding = el.names.find(name).map(|b| &b.entity);
        if let Some(Entity::Int {
            kind: IntKind::Param,
            value,
        }) = binding
        {
            return Some(value.value.clone());
        }
        el.cx.report(
            Diagnostic::new(
                codes::E0403,
                e.span,
                format!("`{name}` in the return type is no dimension of a parameter, and no integer parameter"),
            )
            .label("unknown dimension")
            .help("names of extents come from parameters; write `auto` to infer the shape"),
        );
        return None;
    }
    match constants::constant(e) {
        Some(n) => Some(Sym::int(n)),
        None => dimensions::of_dimensions(el, e),
    }
}

fn report_mismatch(cx: &mut Cx<'_>, ty: Span, at: Span, want: &str, got: &str) {
    cx.report(
        Diagnostic::new(
            codes::E0354,
            at,
            format!("the function promises {want}, but this returns {got}"),
        )
        .label(format!("this is {got}"))
        .also(ty, format!("promised here: {want}")),
    );
}

fn result_type(shape: ReturnShape) -> ir::ResultType {
    match shape {
        ReturnShape::Scalar(ty) => ir::ResultType::Scalar(ty),
        ReturnShape::Element(elem) => ir::ResultType::Element(elem),
        ReturnShape::Tensor(elem, shape) => ir::ResultType::Tensor { elem, shape },
    }
}

/// Whether every path through these statements returns.
fn always_returns(stmts: &[ast::Stmt]) -> bool {
    stmts.iter().any(|s| match &s.kind {
        ast::StmtKind::Return(_) => true,
        ast::StmtKind::Block(b) => always_returns(&b.stmts),
        ast::StmtKind::If {
            then,
            otherwise: Some(otherwise),
            ..
        } => always_returns(&then.stmts) && always_returns(&otherwise.stmts),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::sema::testing::codes;

    #[test]
    fn a_statement_that_does_not_parse_may_have_been_the_return() {
        let of = |end: &str| {
            codes(
                &format!(
                    "__co__ f32 [N] f(f32 [N] x) {{\n  f32 [N] y;\n  parallel p by N y.at(p) = x.at(p);\n{end}\n}}\n"
                ),
                &[],
            )
        };
        assert_eq!(of("retrun y;"), ["E0100"]);
        assert_eq!(
            of("if (x.span(0) > 4) { return y; } else { retrun y; }"),
            ["E0100"]
        );
        assert_eq!(of(""), ["E0350"]);
        assert_eq!(of("if (x.span(0) > 4) { return y; }"), ["E0350"]);
    }

    #[test]
    fn a_buffer_of_cuda_is_one_report() {
        let text = "__co__ void f(global f32 [128] x) {
  parallel by 1 : block {
    __shared__ float t[128];
    parallel p by 128 : thread { t[p] = x.at(p); x.at(p) = t[p] + t.at(p); }
  }
}
";
        assert_eq!(codes(text, &[]), ["E0100"]);
    }
}
