//! Declarations of fragments: accumulators and register tiles.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    BufferId, Expr, ExprKind, Fragment, Function, Level, MmaOp, Part, Scalar, Storage,
};
use crate::sema::build;
use crate::sema::memory::{arrays, buffers};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::{Declared, Named};
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::{IntValue, Value};
use crate::sema::tensor_cores::memory_tiles::MOST_EXTENT;
use crate::sema::tensor_cores::operands::{self, sym};
use crate::sema::tensor_cores::{layouts, units};
use crate::sema::values::{arith, convert};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, BufferItem, ElemType, MmaStmt};

/// `c = mma.fill.T V`, or `mma.fill c, V`.
pub(crate) fn lower_fill(
    el: &mut Elab<'_>,
    m: &MmaStmt,
    elem: Option<ElemType>,
    span: Span,
) -> Option<()> {
    match (&m.target, m.operands.as_slice()) {
        (Some(name), [value]) => {
            let elem = match elem {
                Some(elem) => Some(convert::register_type(&mut el.cx, elem, span)?),
                None => None,
            };
            fill_by_name(el, name, elem, value, span)
        }
        (None, [target, value]) => {
            check_registers_here(el, span, "`mma.fill`")?;
            let named = operands::fragment_of(el, target, true)?;
            refill(el, named, value, span)
        }
        _ => {
            el.cx.report(
                Diagnostic::new(codes::E0100, span, "`mma.fill` takes a value")
                    .label("expected `c = mma.fill.f32 0.0f` or `mma.fill c, 0.0f`"),
            );
            None
        }
    }
}

/// A fill with a name: declares an accumulator, or fills an existing one.
fn fill_by_name(
    el: &mut Elab<'_>,
    name: &ast::Name,
    elem: Option<Scalar>,
    value: &ast::Expr,
    span: Span,
) -> Option<()> {
    check_registers_here(el, span, "`mma.fill`")?;
    if let Some(Entity::Buffer { id, .. }) = el.names.find(&name.text).map(|b| b.entity.clone())
        && el.f.buffer(id).storage == Storage::Fragment
    {
        let part = Part {
            buffer: id,
            number: None,
            span: name.span,
        };
        let named = Named {
            part,
            name: name.text.clone(),
            span: name.span,
        };
        return refill(el, named, value, span);
    }
    let value = lower_fill_value(el, value, elem)?;
    let id = new(el, name, elem, &[], &[]);
    emit_fill(el, id, value, span);
    Some(())
}

fn refill(el: &mut Elab<'_>, named: Named, value: &ast::Expr, span: Span) -> Option<()> {
    let id = named.part.buffer;
    if let Some(at) = el.fragments.loaded.get(&id).copied() {
        el.cx.report(
            Diagnostic::new(
                codes::E0903,
                named.span,
                format!("`{}` is an operand", named.name),
            )
            .label("loaded from memory, not filled")
            .also(at, "loaded here"),
        );
        return None;
    }
    let elem = (!el.fragments.untyped.contains(&id)).then(|| el.f.buffer(id).elem);
    let value = lower_fill_value(el, value, elem)?;
    let part = named.part;
    operands::emit(
        el,
        MmaOp::FillElements {
            part,
            add: false,
            value,
        },
        span,
    );
    Some(())
}

/// Reports a statement on fragments inside a level of threads that fills no unit: outside of such
/// levels every thread of the kernel has registers for them.
fn check_registers_here(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    match el.unit() {
        Some(Level::Block | Level::Warpgroup | Level::Warp) => Some(()),
        _ => units::check_by_threads(el, span, what),
    }
}

fn emit_fill(el: &mut Elab<'_>, id: BufferId, value: Expr, span: Span) {
    let part = Part {
        buffer: id,
        number: None,
        span,
    };
    operands::emit(
        el,
        MmaOp::FillElements {
            part,
            add: false,
            value,
        },
        span,
    );
}

/// The value of a fill: of type `elem`, or of its own type if the fragment has none yet.
fn lower_fill_value(el: &mut Elab<'_>, e: &ast::Expr, elem: Option<Scalar>) -> Option<Expr> {
    let value = el.expression(e);
    let scalar = match &value {
        Value::Int(_) => true,
        Value::Scalar(_) => true,
        Value::Error => return None,
        _ => false,
    };
    if !scalar {
        let kind = value.kind();
        el.cx.report(
            Diagnostic::new(
                codes::E0903,
                e.span,
                format!("fragments are filled with a scalar, this is {kind}"),
            )
            .label("not a scalar"),
        );
        return None;
    }
    // With its sign: `-0.0` is what an addition does not change.
    let zero = match &value {
        Value::Scalar(v) => match &*v.kind {
            ExprKind::Float(z) if *z == 0.0 => Some(*z),
            _ => None,
        },
        Value::Int(i) if i.value.is_zero() => Some(0.0),
        _ => None,
    };
    match (elem, value) {
        (Some(elem), _) if zero.is_some() && elem.is_float() => {
            let zero = ExprKind::Float(zero.unwrap_or_default());
            Some(Expr::new(zero, elem, e.span))
        }
        (Some(elem), _) if zero.is_some() && elem.is_integer() => {
            let zero = Value::Int(IntValue::plain(Sym::zero()));
            convert::convert(el, zero, elem, e.span)
        }
        (Some(elem), value) => convert::convert(el, value, elem, e.span),
        (None, Value::Scalar(v)) => Some(v),
        (None, value) => convert::convert(el, value, Scalar::S32, e.span),
    }
}

/// Declares a fragment. Without a type it takes that of the first MMA's A.
pub(crate) fn new(
    el: &mut Elab<'_>,
    name: &ast::Name,
    elem: Option<Scalar>,
    shape: &[i64],
    array: &[u64],
) -> BufferId {
    let declared = Declared {
        statement: el.choices.statement,
        span: name.span,
        name: name.text.clone(),
    };
    let known = el.earlier.fragment(&declared).cloned();
    let extents = match (&known, shape) {
        (Some(known), []) => &known.shape,
        _ => shape,
    };
    let elem = elem.or(known.as_ref().map(|known| known.elem));
    let count = crate::sema::memory::arrays::elements_of(array);
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let new = build::NewBuffer {
        name: &name.text,
        elem: elem.unwrap_or(Scalar::F32),
        storage: Storage::Fragment,
        shape: extents.iter().map(|n| sym(*n)).collect(),
        copies: Sym::int(count),
        span: name.span,
    };
    let fragment = Fragment {
        shape: extents.to_vec(),
        count,
        layout: known.as_ref().and_then(|known| known.layout),
    };
    let id = allocate(&mut el.f, new, fragment);
    el.fragments.declared.insert(id, declared);
    if shape.is_empty() {
        el.fragments.open.insert(id);
    }
    if elem.is_none() {
        el.fragments.untyped.insert(id);
    }
    scope::declare(
        el,
        name,
        Entity::Buffer {
            id,
            array: array.to_vec(),
        },
    );
    id
}

/// A fragment that has no name in the program, or none yet.
pub(crate) fn allocate(
    function: &mut Function,
    new: build::NewBuffer<'_>,
    fragment: Fragment,
) -> BufferId {
    let id = build::new_buffer(function, new);
    function.fragments.insert(id, fragment);
    id
}

/// `frag f32 [R, C] t {v};`, `frag.f32 c[2] {v};`
pub(crate) fn declare_all(
    el: &mut Elab<'_>,
    elem: Option<&(ElemType, Span)>,
    shape: Option<&[ast::Expr]>,
    items: &[BufferItem],
    span: Span,
) {
    let done = check_registers_here(el, span, "`frag`").and_then(|()| {
        let elem = match elem {
            Some((elem, at)) => Some(convert::register_type(&mut el.cx, *elem, *at)?),
            None => None,
        };
        let shape = match shape {
            Some(shape) => lower_extents(el, shape, span)?,
            None => Vec::new(),
        };
        Some((elem, shape))
    });
    for item in items {
        let made = done
            .as_ref()
            .and_then(|(elem, shape)| declare_one(el, *elem, shape, item, span));
        if made.is_none() && !el.names.in_innermost(&item.name.text) {
            scope::declare(el, &item.name, Entity::Poison);
        }
    }
}

fn declare_one(
    el: &mut Elab<'_>,
    elem: Option<Scalar>,
    shape: &[i64],
    item: &BufferItem,
    span: Span,
) -> Option<()> {
    let mut array = Vec::new();
    for extent in &item.array {
        array.push(arrays::array_extent(el, extent, "fragment")?);
    }
    let value = match &item.init {
        Some(value) => Some(lower_fill_value(el, value, elem)?),
        None => None,
    };
    let id = new(el, &item.name, elem, shape, &array);
    buffers::check_affordable(el, id, (&buffers::shown(el, id), item.name.span))?;
    if let Some(value) = value {
        emit_fill(el, id, value, span);
    }
    Some(())
}

fn lower_extents(el: &mut Elab<'_>, shape: &[ast::Expr], span: Span) -> Option<Vec<i64>> {
    let mut extents = Vec::new();
    for e in shape {
        let value = el.expression(e);
        let extent = arith::to_sym(el, value, e.span)?;
        match extent.as_int().filter(|n| *n > 0) {
            Some(n) if n <= MOST_EXTENT => extents.push(n),
            Some(n) => {
                let text = format!("the extents of a fragment are at most {MOST_EXTENT}, not {n}");
                let report = Diagnostic::new(codes::E0901, e.span, text);
                el.cx.report(report.label("no GPU has registers for it"));
                return None;
            }
            None => {
                let shown = el.f.cx.show(&extent);
                el.cx.report(
                    Diagnostic::new(
                        codes::E0901,
                        e.span,
                        format!(
                            "the extents of a fragment are positive constants, this is `{shown}`"
                        ),
                    )
                    .label("registers are given out when the kernel is compiled"),
                );
                return None;
            }
        }
    }
    if matches!(extents.len(), 1 | 2) {
        return Some(extents);
    }
    el.cx.report(
        Diagnostic::new(
            codes::E0901,
            span,
            format!(
                "a fragment is a matrix or a column, this has rank {}",
                extents.len()
            ),
        )
        .label("expected one or two extents"),
    );
    None
}

/// `c += s` on a fragment; false if the target is not a fragment.
pub(crate) fn lower_update(
    el: &mut Elab<'_>,
    target: &ast::Expr,
    op: Option<ast::BinOp>,
    value: &ast::Expr,
    span: Span,
) -> bool {
    let mut base = target;
    while let ast::ExprKind::Subscript(inner, _) = &*base.kind {
        base = inner;
    }
    let ast::ExprKind::Name(name) = &*base.kind else {
        return false;
    };
    let Some(Entity::Buffer { id, .. }) = el.names.find(name).map(|b| b.entity.clone()) else {
        return false;
    };
    if el.f.buffer(id).storage != Storage::Fragment {
        return false;
    }
    if op != Some(ast::BinOp::Add) {
        el.cx.report(
            Diagnostic::new(
                codes::E0433,
                span,
                "of a fragment as a whole only `+=` with a scalar is computed",
            )
            .label("not of all elements at once")
            .help(format!(
                "write `apply {{i, j}} in {name}.span {name}.at(i, j) = …;`"
            )),
        );
        return true;
    }
    let _ = check_registers_here(el, span, "a fragment").and_then(|()| {
        let named = operands::fragment_of(el, target, true)?;
        let elem = el.f.buffer(id).elem;
        let value = lower_fill_value(el, value, Some(elem))?;
        if el.fragments.loaded.contains_key(&id) {
            // Metadata is not the elements that were loaded.
            layouts::require_layout(el, id, named.span);
        }
        operands::emit(
            el,
            MmaOp::FillElements {
                part: named.part,
                add: true,
                value,
            },
            span,
        );
        Some(())
    });
    true
}
