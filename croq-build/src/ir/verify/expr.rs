//! Verifies expressions, views and other parts of statements.

use super::super::*;
use super::verifier::Verifier;

pub(super) fn view<P: Phase>(v: &mut Verifier<'_, P>, view: &View) {
    v.buffer(view.buffer);
    let rank = view.shape.len();
    let (strides, valid) = (view.strides.len(), view.valid.len());
    v.require(strides == rank && valid == rank, || {
        format!("a view of {rank} axes has {strides} strides and {valid} bounds")
    });
    if let Some(frame) = &view.frame {
        let whole = frame.extents.len();
        let same = frame.strides.len() == whole && frame.origin.len() == whole;
        let axes = frame.axes.len() == rank && frame.axes.iter().all(|axis| *axis < whole);
        v.require(same && axes, || {
            format!(
                "a view of {rank} axes has a frame of {whole} axes, seen along {:?}",
                frame.axes
            )
        });
    }
    v.sym(&view.offset);
    view.shape
        .iter()
        .chain(&view.strides)
        .for_each(|s| v.sym(s));
    for valid in &view.valid {
        valid.lo.iter().chain(&valid.hi).for_each(|s| v.sym(s));
    }
}

pub(super) fn access<P: Phase>(v: &mut Verifier<'_, P>, access: &Access) -> Option<Scalar> {
    let view = &access.view;
    v.buffer(view.buffer);
    let (indices, rank) = (access.indices.len(), view.strides.len());
    v.require(indices == rank, || {
        format!("an access has {indices} indices into a view of {rank} axes")
    });
    v.sym(&view.offset);
    view.strides
        .iter()
        .chain(&access.indices)
        .for_each(|s| v.sym(s));
    v.function.buffers.get(view.buffer.index()).map(|b| b.elem)
}

pub(super) fn typed<P: Phase>(v: &mut Verifier<'_, P>, what: &str, found: Scalar, wanted: Scalar) {
    v.require(found == wanted, || {
        format!("{what} is {found}, not {wanted}")
    });
}

pub(super) fn condition<P: Phase>(v: &mut Verifier<'_, P>, e: &Expr) {
    expr(v, e);
    typed(v, "a condition", e.ty, Scalar::Bool);
}

pub(super) fn expr<P: Phase>(v: &mut Verifier<'_, P>, e: &Expr) {
    match &*e.kind {
        ExprKind::Index(sym) => v.sym(sym),
        ExprKind::Local(id) => {
            v.local(*id);
            if let Some(local) = v.function.locals.get(id.index()) {
                typed(v, "a local's value", e.ty, local.ty);
            }
        }
        ExprKind::Param(id) => {
            let exists = id.index() < v.function.params.len();
            v.require(exists, || format!("parameter {} does not exist", id.0));
        }
        ExprKind::Unary(UnOp::Not, a) => condition(v, a),
        ExprKind::Unary(_, a) => {
            expr(v, a);
            typed(v, "an operand", a.ty, e.ty);
            computed(v, a);
        }
        ExprKind::Cast(a) => expr(v, a),
        ExprKind::Binary(op, a, b) => {
            expr(v, a);
            expr(v, b);
            computed(v, a);
            let shifts = matches!(op, BinOp::Shl | BinOp::Shr);
            if !shifts {
                typed(v, "the right operand", b.ty, a.ty);
            }
            let logical = matches!(op, BinOp::LogicAnd | BinOp::LogicOr);
            let result = if op.is_comparison() || logical {
                Scalar::Bool
            } else {
                a.ty
            };
            typed(v, "the result of an operator", e.ty, result);
        }
        ExprKind::Select(c, a, b) => {
            condition(v, c);
            expr(v, a);
            expr(v, b);
            typed(v, "a selected value", a.ty, e.ty);
            typed(v, "a selected value", b.ty, e.ty);
        }
        ExprKind::Math(_, args) => args.iter().for_each(|e| {
            expr(v, e);
            computed(v, e);
        }),
        ExprKind::Load(of) => {
            if let Some(elem) = access(v, of) {
                typed(v, "a loaded value", e.ty, elem);
            }
        }
        ExprKind::Intrinsic(of, operands) => {
            operands.iter().for_each(|e| expr(v, e));
            let (info, given) = (of.info(), operands.len());
            v.require(given == info.operands, || {
                format!("`{}` has {given} operands", info.name)
            });
            let ty = info.ty.or_else(|| operands.first().map(|e| e.ty));
            typed(v, "an intrinsic", e.ty, ty.unwrap_or(e.ty));
        }
        ExprKind::Call(call) => call.args.iter().for_each(|of| arg(v, of)),
        ExprKind::Fits(fits) => fits.syms().for_each(|s| v.sym(s)),
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => {}
    }
}

/// An operand of an operation: `tf32` is computed in `f32`.
fn computed<P: Phase>(v: &mut Verifier<'_, P>, operand: &Expr) {
    v.require(operand.ty != Scalar::Tf32, || {
        "an operand is a `tf32`".to_owned()
    });
}

pub(super) fn arg<P: Phase>(v: &mut Verifier<'_, P>, of: &Arg) {
    match of {
        Arg::Value(e) => expr(v, e),
        Arg::Pointer(of) => view(v, of),
        Arg::Cast(_, inner) => arg(v, inner),
        Arg::Null => {}
    }
}

pub(super) fn future<P: Phase>(v: &mut Verifier<'_, P>, id: FutureId) {
    let exists = id.index() < v.function.futures.len();
    v.require(exists, || format!("future {} does not exist", id.0));
}

/// A future that is waited for, or one that an exchange has given the tile of another.
pub(super) fn waited<P: Phase>(v: &mut Verifier<'_, P>, waited: &Waited) {
    let (pool, _) = v.function.facts.pools.find(waited.view.buffer);
    let begun = v.begun.buffers.contains(&pool);
    in_flight(v, waited.future, begun);
}

/// A future whose data is used. A copy that completes an event has no name any more.
pub(super) fn used<P: Phase>(v: &mut Verifier<'_, P>, id: FutureId) {
    let bound = v.function.facts.bound.contains_key(&id);
    let begun = bound || v.begun.exchanged.contains(&id);
    in_flight(v, id, begun);
}

fn in_flight<P: Phase>(v: &mut Verifier<'_, P>, id: FutureId, begun: bool) {
    future(v, id);
    let begun = begun || v.begun.futures.contains(&id);
    let name = v.function.futures.get(id.index()).map(|f| f.name.as_str());
    v.require(begun, || {
        let name = name.unwrap_or_default();
        format!("no copy `{name}` has begun where it is waited for or used")
    });
}

pub(super) fn event_at<P: Phase>(v: &mut Verifier<'_, P>, at: &EventAt) {
    let function = v.function;
    let Some(event) = function.events.get(at.event.index()) else {
        v.fail(|| format!("event {} does not exist", at.event.0));
        return;
    };
    let here = v.kernel.map(KernelId::index);
    v.require(here == Some(event.kernel), || {
        format!("event `{}` is another kernel's", event.name)
    });
    at.sym().into_iter().for_each(|s| v.sym(s));
}

pub(super) fn part<P: Phase>(v: &mut Verifier<'_, P>, part: &Part) {
    let storage = v
        .function
        .buffers
        .get(part.buffer.index())
        .map(|b| b.storage);
    v.require(storage == Some(Storage::Fragment), || {
        format!(
            "buffer {} is used as a fragment and is {storage:?}",
            part.buffer.0
        )
    });
    part.number.iter().for_each(|s| v.sym(s));
}
