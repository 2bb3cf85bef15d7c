//! The body of a `__co__` function at the place of a call on the host: parameters and dimensions
//! bound to arguments, and what its `return` gives.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BufferId, CheckCode, Expr, LocalId, ReturnValue, Role, Scalar, StmtKind};
use crate::sema::build;
use crate::sema::checks::run_time;
use crate::sema::memory::whole;
use crate::sema::names::{dimensions, scope};
use crate::sema::state::asynchronous;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::results::{Leaves, Results};
use crate::sema::state::scopes::{Entity, IntKind, Scopes};
use crate::sema::state::value::{Data, IntValue, Value};
use crate::sema::values::{convert, widths};
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Name};

/// An argument, evaluated where the call is.
pub(super) enum Argument {
    Scalar(Value, Scalar),
    Stream(ir::ParamId),
    Tensor(Data),
    /// A private copy of one.
    Copy(Data),
    /// Already reported.
    Error,
}

/// Lowers the body with the parameters bound, and returns what its `return` gives.
pub(super) fn inline<'a>(
    el: &mut Elab<'a>,
    function: &'a ast::Function,
    evaluated: Vec<Argument>,
    args: &[ast::Expr],
    span: Span,
) -> Option<Vec<ReturnValue>> {
    let leaves = !returns_last(&function.body) || has_choices(el, function);
    let in_loop = leaves && function.body.iter().any(returns_in_a_loop);
    let left = in_loop.then(|| {
        let role = Role::Value;
        build::new_local(&mut el.f, "left", Scalar::Bool, true, role, span)
    });
    let names = std::mem::replace(&mut el.names, Scopes::new());
    let results = std::mem::replace(&mut el.results, Results::inlined(function));
    el.results.leaves = leaves.then(|| Leaves {
        first: BufferId(u32::try_from(el.f.buffers.len()).unwrap_or(u32::MAX)),
        slots: Vec::new(),
        declared: Vec::new(),
        left,
    });
    let exchanged = asynchronous::exchanged(&function.body);
    let exchanged = std::mem::replace(&mut el.asynchronous.exchanged, exchanged);
    let untaken = std::mem::replace(&mut el.cx.untaken, &function.untaken);
    let number = el.cx.siblings.position_of(function).map_or(0, |at| at + 1);
    let around = std::mem::replace(&mut el.choices.function, number);
    el.calls.open.push(function.name.text.clone());
    el.within(Frame::Call, |el| {
        if bind(el, function, evaluated, args, span) {
            let stmts = function.body.clone();
            let block = ast::Block { stmts, span };
            match leaves {
                true => lower_as_a_loop(el, &block),
                false => el.block(&block),
            }
        } else {
            el.results.poisoned = true;
        }
    });
    el.calls.open.pop();
    el.choices.function = around;
    el.cx.untaken = untaken;
    el.asynchronous.exchanged = exchanged;
    el.names = names;
    let done = std::mem::replace(&mut el.results, results);
    match done.poisoned {
        true => {
            el.results.poisoned = true;
            None
        }
        false => Some(done.values),
    }
}

/// A loop of one iteration, which each `return` ends.
fn lower_as_a_loop(el: &mut Elab<'_>, block: &ast::Block) {
    // What holds behind a `return` under a condition holds in this body alone.
    el.f.cx.push_scope();
    let ((), body) = build::collect(el, |el| el.block(block));
    el.f.cx.pop_scope();
    let Some(leaves) = el.results.leaves.take() else {
        return;
    };
    build::splice(el, leaves.declared);
    el.results.values = leaves.slots;
    let mut body = body;
    if let Some(left) = leaves.left {
        let value = Some(Expr::bool(false, block.span));
        build::emit(el, StmtKind::Let { local: left, value }, block.span);
        leave_loops(&mut body, left);
    }
    let local = build::new_local(
        &mut el.f,
        "once",
        Scalar::Index,
        false,
        Role::Loop,
        block.span,
    );
    let kind = StmtKind::For {
        local,
        lo: Sym::zero(),
        hi: Sym::one(),
        step: Sym::one(),
        unroll: None,
        body,
    };
    build::emit(el, kind, block.span);
}

/// Behind each loop that a `return` may leave, leaves the one around it. True if there is one.
fn leave_loops(stmts: &mut Vec<ir::Stmt>, left: LocalId) -> bool {
    let mut any = false;
    let mut at = 0;
    while let Some(stmt) = stmts.get_mut(at) {
        at += 1;
        let is_loop = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
        let returns = match &stmt.kind {
            StmtKind::Assign { local, .. } => *local == left,
            _ => false,
        };
        let span = stmt.span;
        let mut inside = false;
        for block in stmt.kind.blocks_mut() {
            inside |= leave_loops(block, left);
        }
        any |= returns || inside;
        if is_loop && inside {
            let kind = StmtKind::If {
                cond: Expr::local(left, Scalar::Bool, span),
                then: vec![ir::Stmt::new(StmtKind::Break, span)],
                otherwise: Vec::new(),
            };
            stmts.insert(at, ir::Stmt::new(kind, span));
            at += 1;
        }
    }
    any
}

fn returns_in_a_loop(stmt: &ast::Stmt) -> bool {
    use ast::StmtKind as S;
    match &stmt.kind {
        S::While { .. } | S::Foreach(_) | S::Parallel(_) => {
            stmt.kind.blocks().any(|b| !has_no_return(b))
        }
        kind => kind.blocks().any(|b| b.stmts.iter().any(returns_in_a_loop)),
    }
}

/// Whether statements of the function are lowered for each operand of a `select`: then its `return`
/// may be, too.
fn has_choices(el: &Elab<'_>, function: &ast::Function) -> bool {
    let mut statements = el.earlier.choices.keys();
    statements.any(|at| {
        let span = at.span;
        function.span.start <= span.start && span.end <= function.span.end
    })
}

/// Whether the only `return` is the last statement.
fn returns_last(stmts: &[ast::Stmt]) -> bool {
    let inner = |stmt: &ast::Stmt| stmt.kind.blocks().any(|b| !has_no_return(b));
    let returns = |stmt: &ast::Stmt| matches!(stmt.kind, ast::StmtKind::Return(_));
    let before = stmts.split_last().map_or(&[][..], |(_, before)| before);
    !stmts.iter().any(inner) && !before.iter().any(returns)
}

fn has_no_return(block: &ast::Block) -> bool {
    let returns = |stmt: &ast::Stmt| {
        matches!(stmt.kind, ast::StmtKind::Return(_))
            || stmt.kind.blocks().any(|b| !has_no_return(b))
    };
    !block.stmts.iter().any(returns)
}

/// Declares the dimensions and the parameters with the values of the arguments.
fn bind(
    el: &mut Elab<'_>,
    function: &ast::Function,
    evaluated: Vec<Argument>,
    args: &[ast::Expr],
    span: Span,
) -> bool {
    let mut dims: SortedMap<String, Sym> = SortedMap::new();
    for (param, arg) in function.params.iter().zip(&evaluated) {
        let (Argument::Tensor(data) | Argument::Copy(data)) = arg else {
            continue;
        };
        for (dim, extent) in dims_of(param).iter().zip(&data.view.shape) {
            let ast::Dim::Expr(e) = dim else { continue };
            let ast::ExprKind::Name(text) = &*e.kind else {
                continue;
            };
            if dims.contains_key(text) {
                continue;
            }
            dims.insert(text.clone(), extent.clone());
            let name = Name {
                text: text.clone(),
                span: e.span,
            };
            let entity = Entity::Int {
                value: IntValue {
                    literal: false,
                    ..IntValue::plain(extent.clone())
                },
                kind: IntKind::Dim,
            };
            scope::declare(el, &name, entity);
        }
    }
    let mut shapes = Vec::new();
    for ((param, arg), e) in function.params.iter().zip(evaluated).zip(args) {
        let is_own = matches!(arg, Argument::Copy(_));
        let entity = match arg {
            Argument::Stream(id) => Entity::Stream(id),
            Argument::Scalar(value, ty) => scalar(el, param, value, ty, e.span),
            Argument::Tensor(data) | Argument::Copy(data) => {
                shapes.push((param, data.view.shape.clone(), e.span));
                tensor(el, data)
            }
            Argument::Error => return false,
        };
        if let Some(name) = &param.name {
            scope::declare(el, name, entity);
            if !is_own {
                el.names.mark_param();
            }
        }
    }
    let mut fits = true;
    for (param, shape, at) in shapes {
        for (axis, (dim, extent)) in dims_of(param).iter().zip(&shape).enumerate() {
            if let ast::Dim::Expr(e) = dim {
                fits &= check_extent(el, (param, axis, e), extent, (at, span));
            }
        }
    }
    fits
}

fn dims_of(param: &ast::Param) -> &[ast::Dim] {
    match &param.ty.kind {
        ast::ParamTypeKind::Spanned { dims, .. } => dims,
        _ => &[],
    }
}

/// A whole buffer is one in the called function, too.
fn tensor(el: &Elab<'_>, data: Data) -> Entity {
    let buffer = el.f.buffer(data.view.buffer);
    let whole = data.view.offset.is_zero()
        && data.view.shape == buffer.shape
        && data.view.strides == whole::dense_strides(&buffer.shape);
    match whole {
        true => Entity::Buffer {
            id: data.view.buffer,
            array: Vec::new(),
        },
        false => Entity::View(Data {
            tiled: false,
            first_tile: None,
            ..data
        }),
    }
}

fn scalar(el: &mut Elab<'_>, param: &ast::Param, value: Value, ty: Scalar, at: Span) -> Entity {
    if let (Value::Int(i), true) = (&value, ty.is_integer()) {
        // As of a parameter that is not known: see `widths`.
        let value = IntValue {
            literal: false,
            ty: widths::is_wide_type(ty).then_some(Scalar::S64),
            ..IntValue::plain(i.value.clone())
        };
        let kind = IntKind::Param;
        return Entity::Int { value, kind };
    }
    let Some(e) = convert::convert(el, value, ty, at) else {
        return Entity::Poison;
    };
    let name = param.name.as_ref().map_or("argument", |n| n.text.as_str());
    let local = build::new_local(&mut el.f, name, ty, false, Role::Value, at);
    let is_integer = ty.is_integer() && ty != Scalar::U64;
    let var = is_integer.then(|| {
        let (lo, hi) = convert::integer_range(ty);
        build::local_var(&mut el.f, local, lo, hi)
    });
    let value = Some(e);
    build::emit(el, StmtKind::Let { local, value }, at);
    match var {
        Some(var) => Entity::Int {
            value: IntValue {
                literal: false,
                ..IntValue::plain(Sym::var(var))
            },
            kind: IntKind::Param,
        },
        None => Entity::Scalar {
            local,
            mutable: false,
        },
    }
}

/// Compares an extent of an argument with what the signature says.
fn check_extent(
    el: &mut Elab<'_>,
    (param, axis, e): (&ast::Param, usize, &ast::Expr),
    extent: &Sym,
    (at, span): (Span, Span),
) -> bool {
    let Some(wanted) = dimensions::of_dimensions(el, e) else {
        return false;
    };
    let name = param.name.as_ref().map_or("", |name| name.text.as_str());
    let written = el.cx.file.snippet(e.span).to_owned();
    match el.f.cx.eq(extent, &wanted) {
        Truth::Yes => true,
        Truth::No => {
            let (found, wanted) = (el.f.cx.show(extent), el.f.cx.show(&wanted));
            let text = format!("axis {axis} of `{name}` has {found} elements, not {wanted}");
            let d = Diagnostic::new(codes::E0796, at, text)
                .label("another extent")
                .also(e.span, format!("`{written}` in the signature"));
            el.cx.report(d);
            false
        }
        Truth::Unknown => {
            let message =
                format!("axis {axis} of `{name}` has {{0}} elements, `{written}` is {{1}}");
            let check = run_time::Check::new(CheckCode::R01, message, span);
            run_time::emit_equal_at_entry(el, check, extent, &wanted);
            true
        }
    }
}
