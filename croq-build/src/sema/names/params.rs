//! Parameters and symbolic dimensions.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, ParamId, Passing, Scalar};
use crate::sema::build;
use crate::sema::memory::packed;
use crate::sema::names::{dimensions, scope};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::{Entity, IntKind};
use crate::sema::state::value::IntValue;
use crate::sema::values::{constants, convert};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

pub(crate) fn lower_all(el: &mut Elab<'_>, function: &ast::Function) {
    dimensions::declare_names(el, function);
    for (position, param) in function.params.iter().enumerate() {
        lower(el, position, param);
    }
    dimensions::check_dimension_names(el);
}

fn lower(el: &mut Elab<'_>, position: usize, param: &ast::Param) {
    let id = ParamId(u32::try_from(position).unwrap_or(u32::MAX));
    let name = match &param.name {
        Some(n) => n.text.clone(),
        None => format!("arg{position}"),
    };
    let span = param.name.as_ref().map_or(param.span, |n| n.span);
    let is_tensor = matches!(
        param.ty.kind,
        ast::ParamTypeKind::Spanned { .. } | ast::ParamTypeKind::SpannedRank { .. }
    );
    check_rules(&mut el.cx, param, is_tensor);
    // The declared type of a parameter that did not parse cannot be relied on.
    if el
        .cx
        .faults
        .iter()
        .any(|at| crate::sema::state::cx::spans_meet(*at, param.span))
    {
        return push_param(
            el,
            param,
            &name,
            span,
            ir::ParamKind::Stream,
            Entity::Poison,
        );
    }
    let (kind, entity) = match &param.ty.kind {
        ast::ParamTypeKind::Scalar(elem) => lower_scalar(el, id, &name, *elem, param.ty.span),
        ast::ParamTypeKind::Stream => (ir::ParamKind::Stream, Entity::Stream(id)),
        ast::ParamTypeKind::Unsupported(what, dims) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0409,
                    param.ty.span,
                    format!("a parameter can't be of type `{what}`"),
                )
                .label("not a parameter type")
                .help("parameters are scalars, `stream`, or spanned data such as `f32 [M, N] x`"),
            );
            dimensions::declare_unknown(el, dims);
            (ir::ParamKind::Stream, Entity::Poison)
        }
        ast::ParamTypeKind::Spanned { elem, dims } => {
            lower_tensor(el, id, &name, param, *elem, dims)
        }
        ast::ParamTypeKind::SpannedRank { elem, rank } => {
            let count = constants::constant(rank).filter(|n| (1..=8).contains(n));
            let Some(count) = count else {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0424,
                        rank.span,
                        "the rank of `mdspan<N>` must be an integer from 1 to 8",
                    )
                    .label("not a rank"),
                );
                return push_param(
                    el,
                    param,
                    &name,
                    span,
                    ir::ParamKind::Stream,
                    Entity::Poison,
                );
            };
            let dims: Vec<ast::Dim> = (0..count)
                .map(|_| ast::Dim::Anonymous(param.ty.span))
                .collect();
            lower_tensor(el, id, &name, param, *elem, &dims)
        }
    };
    push_param(el, param, &name, span, kind, entity);
}

fn push_param(
    el: &mut Elab<'_>,
    param: &ast::Param,
    name: &str,
    span: Span,
    kind: ir::ParamKind,
    entity: Entity,
) {
    el.f.params.push(ir::Param {
        name: name.to_owned(),
        named: param.name.is_some(),
        span,
        kind,
    });
    if let Some(n) = &param.name {
        scope::declare(el, n, entity);
        el.names.mark_param();
    }
}

fn check_rules(cx: &mut Cx<'_>, param: &ast::Param, is_tensor: bool) {
    if let Some((storage, span)) = param.storage {
        match storage {
            ast::Storage::Shared | ast::Storage::Local => cx.report(
                Diagnostic::new(
                    codes::E0404,
                    span,
                    "a parameter can't be in `shared` or `local` memory",
                )
                .label("exists only inside a kernel")
                .help("remove it, or write `global` for memory that is already on the device"),
            ),
            ast::Storage::Global if !is_tensor => cx.report(
                Diagnostic::new(codes::E0408, span, "`global` on a scalar parameter")
                    .label("scalars are passed by value")
                    .help("drop `global`"),
            ),
            ast::Storage::Global => {}
        }
    }
    if let Some(amp) = param.by_ref {
        let d = if param.name.is_none() {
            Diagnostic::new(codes::E0405, amp, "`&` on a parameter without a name")
                .label("nothing could be written to it")
                .help("name the parameter, or drop the `&`")
        } else if !is_tensor {
            Diagnostic::new(codes::E0406, amp, "`&` on a scalar or stream parameter")
                .label("only spanned data is copied back")
                .help("return the value instead")
        } else if matches!(param.storage, Some((ast::Storage::Global, _))) {
            Diagnostic::new(codes::E0407, amp, "`&` on a `global` parameter")
                .label("it is the caller's own memory already")
                .help("drop the `&`")
        } else {
            return;
        };
        cx.report(d);
    }
}

fn lower_scalar(
    el: &mut Elab<'_>,
    id: ParamId,
    name: &str,
    elem: ast::ElemType,
    span: Span,
) -> (ir::ParamKind, Entity) {
    let Some(ty) = convert::scalar_type(&mut el.cx, elem, span) else {
        return (
            ir::ParamKind::Scalar {
                ty: Scalar::S32,
                var: None,
            },
            Entity::Poison,
        );
    };
    if convert::refuse_small_scalar(&mut el.cx, ty, span) {
        return (ir::ParamKind::Scalar { ty, var: None }, Entity::Poison);
    }
    if !ty.is_integer() {
        return (
            ir::ParamKind::Scalar { ty, var: None },
            Entity::ScalarParam { param: id, ty },
        );
    }
    let (lo, hi) = convert::integer_range(ty);
    let var = el.f.cx.new_var(name, lo, hi);
    el.f.var_home.insert(var, ir::VarHome::Param(id));
    let value = IntValue {
        literal: false,
        ..IntValue::plain(Sym::var(var))
    };
    (
        ir::ParamKind::Scalar { ty, var: Some(var) },
        Entity::Int {
            value,
            kind: IntKind::Param,
        },
    )
}

fn lower_tensor(
    el: &mut Elab<'_>,
    id: ParamId,
    name: &str,
    param: &ast::Param,
    elem: ast::ElemType,
    dims: &[ast::Dim],
) -> (ir::ParamKind, Entity) {
    let passing = match (&param.storage, param.by_ref) {
        (Some((ast::Storage::Global, _)), _) => Passing::Global,
        (_, Some(_)) => Passing::InOut,
        _ => Passing::In,
    };
    let mut extents = Vec::new();
    let mut shape = Vec::new();
    let before = el.cx.diags.len();
    for (axis, dim) in dims.iter().enumerate() {
        let (extent, sym) = dimensions::lower_dimension(el, id, name, axis, dim, passing);
        extents.push(extent);
        shape.push(sym);
    }
    let mut failed = el.cx.diags.len() > before;
    if dims.len() > 8 {
        el.cx.report(
            Diagnostic::new(
                codes::E0838,
                param.ty.span,
                format!(
                    "`{name}` has {} dimensions: at most 8 are supported",
                    dims.len()
                ),
            )
            .label("too many dimensions")
            .help("fold some of them into one"),
        );
        failed = true;
    }
    let Some(elem) = convert::element_type(&mut el.cx, elem, param.ty.span).filter(|_| !failed)
    else {
        return (ir::ParamKind::Stream, Entity::Poison);
    };
    if packed::check_last_extent(el, name, elem, &shape, param.ty.span).is_none() {
        return (ir::ParamKind::Stream, Entity::Poison);
    }
    let buffer = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name,
            elem,
            storage: ir::Storage::Param(id),
            shape,
            copies: Sym::one(),
            span: param.span,
        },
    );
    (
        ir::ParamKind::Tensor(ir::TensorParam {
            passing,
            elem,
            extents,
            buffer,
        }),
        Entity::Buffer {
            id: buffer,
            array: Vec::new(),
        },
    )
}
