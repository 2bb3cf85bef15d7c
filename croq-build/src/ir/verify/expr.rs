//! Expressions, views and what else stands inside of a statement.

use super::super::*;
use super::Verifier;

impl<P: Phase> Verifier<'_, P> {
    pub(super) fn view(&mut self, view: &View) {
        self.buffer(view.buffer);
        let rank = view.shape.len();
        let (strides, valid) = (view.strides.len(), view.valid.len());
        self.require(strides == rank && valid == rank, || {
            format!("a view of {rank} axes has {strides} strides and {valid} bounds")
        });
        if let Some(frame) = &view.frame {
            let whole = frame.extents.len();
            let same = frame.strides.len() == whole && frame.origin.len() == whole;
            let axes = frame.axes.len() == rank && frame.axes.iter().all(|axis| *axis < whole);
            self.require(same && axes, || {
                format!(
                    "a view of {rank} axes has a frame of {whole} axes, seen along {:?}",
                    frame.axes
                )
            });
        }
        self.sym(&view.offset);
        view.shape
            .iter()
            .chain(&view.strides)
            .for_each(|s| self.sym(s));
        for valid in &view.valid {
            valid.lo.iter().chain(&valid.hi).for_each(|s| self.sym(s));
        }
    }

    pub(super) fn access(&mut self, access: &Access) -> Option<Scalar> {
        let view = &access.view;
        self.buffer(view.buffer);
        let (indices, rank) = (access.indices.len(), view.strides.len());
        self.require(indices == rank, || {
            format!("an access has {indices} indices into a view of {rank} axes")
        });
        self.sym(&view.offset);
        view.strides
            .iter()
            .chain(&access.indices)
            .for_each(|s| self.sym(s));
        self.function
            .buffers
            .get(view.buffer.index())
            .map(|b| b.elem)
    }

    pub(super) fn typed(&mut self, what: &str, found: Scalar, wanted: Scalar) {
        self.require(found == wanted, || {
            format!("{what} is {found}, not {wanted}")
        });
    }

    pub(super) fn condition(&mut self, expr: &Expr) {
        self.expr(expr);
        self.typed("a condition", expr.ty, Scalar::Bool);
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        match &*expr.kind {
            ExprKind::Index(sym) => self.sym(sym),
            ExprKind::Local(id) => {
                self.local(*id);
                if let Some(local) = self.function.locals.get(id.index()) {
                    self.typed("a local's value", expr.ty, local.ty);
                }
            }
            ExprKind::Param(id) => {
                let exists = id.index() < self.function.params.len();
                self.require(exists, || format!("parameter {} does not exist", id.0));
            }
            ExprKind::Unary(UnOp::Not, a) => self.condition(a),
            ExprKind::Unary(_, a) => {
                self.expr(a);
                self.typed("an operand", a.ty, expr.ty);
            }
            ExprKind::Cast(a) => self.expr(a),
            ExprKind::Binary(op, a, b) => {
                self.expr(a);
                self.expr(b);
                let shifts = matches!(op, BinOp::Shl | BinOp::Shr);
                if !shifts {
                    self.typed("the right operand", b.ty, a.ty);
                }
                let logical = matches!(op, BinOp::LogicAnd | BinOp::LogicOr);
                let result = if op.is_comparison() || logical {
                    Scalar::Bool
                } else {
                    a.ty
                };
                self.typed("the result of an operator", expr.ty, result);
            }
            ExprKind::Select(c, a, b) => {
                self.condition(c);
                self.expr(a);
                self.expr(b);
                self.typed("a selected value", a.ty, expr.ty);
                self.typed("a selected value", b.ty, expr.ty);
            }
            ExprKind::Math(_, args) => args.iter().for_each(|e| self.expr(e)),
            ExprKind::Load(access) => {
                if let Some(elem) = self.access(access) {
                    self.typed("a loaded value", expr.ty, elem);
                }
            }
            ExprKind::Intrinsic(of, operands) => {
                operands.iter().for_each(|e| self.expr(e));
                let (info, given) = (of.info(), operands.len());
                self.require(given == info.operands, || {
                    format!("`{}` has {given} operands", info.name)
                });
                let ty = info.ty.or_else(|| operands.first().map(|e| e.ty));
                self.typed("an intrinsic", expr.ty, ty.unwrap_or(expr.ty));
            }
            ExprKind::Call(call) => call.args.iter().for_each(|arg| self.arg(arg)),
            ExprKind::Fits(fits) => fits.syms().for_each(|s| self.sym(s)),
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => {}
        }
    }

    pub(super) fn arg(&mut self, arg: &Arg) {
        match arg {
            Arg::Value(e) => self.expr(e),
            Arg::Pointer(view) => self.view(view),
            Arg::Cast(_, inner) => self.arg(inner),
            Arg::Null => {}
        }
    }

    pub(super) fn future(&mut self, id: FutureId) {
        let exists = id.index() < self.function.futures.len();
        self.require(exists, || format!("future {} does not exist", id.0));
    }

    pub(super) fn event_at(&mut self, at: &EventAt) {
        let function = self.function;
        let Some(event) = function.events.get(at.event.index()) else {
            self.fail(|| format!("event {} does not exist", at.event.0));
            return;
        };
        let here = self.kernel.map(KernelId::index);
        self.require(here == Some(event.kernel), || {
            format!("event `{}` is another kernel's", event.name)
        });
        at.sym().into_iter().for_each(|s| self.sym(s));
    }

    pub(super) fn part(&mut self, part: &Part) {
        let storage = self
            .function
            .buffers
            .get(part.buffer.index())
            .map(|b| b.storage);
        self.require(storage == Some(Storage::Fragment), || {
            format!(
                "buffer {} is used as a fragment and is {storage:?}",
                part.buffer.0
            )
        });
        part.number.iter().for_each(|s| self.sym(s));
    }
}
