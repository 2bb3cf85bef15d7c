//! Element access: `buf.at(i, j)`.

use crate::diagnostics::Diagnostic;
use crate::ir::{Access, View};
use crate::sema::Checker;
use crate::sema::values::value::Value;
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast;

impl Checker<'_> {
    pub(crate) fn load(&mut self, base: &ast::Expr, indices: &[ast::Expr], span: Span) -> Value {
        let Some(access) = self.access(base, indices, span) else {
            return Value::Error;
        };
        let elem = self.f.buffer(access.view.buffer).elem;
        self.mark(&access.view, true, false);
        Value::Scalar(self.guarded_load(access, elem, span))
    }

    /// Notes what a kernel does to a buffer.
    pub(crate) fn mark(&mut self, view: &View, read: bool, written: bool) {
        if let Some(b) = self.f.buffers.get_mut(view.buffer.index()) {
            b.read |= read;
            b.written |= written;
        }
    }

    pub(crate) fn access(
        &mut self,
        base: &ast::Expr,
        indices: &[ast::Expr],
        span: Span,
    ) -> Option<Access> {
        self.guards.clear();
        let data = match self.expr(base) {
            Value::Data(d) => self.accessed(d, base.span),
            Value::Error => None,
            other => {
                let kind = other.kind();
                self.report(
                    Diagnostic::new(
                        "E0203",
                        base.span,
                        format!("only spanned data has elements, this is {kind}"),
                    )
                    .label("not data"),
                );
                None
            }
        };
        // Guards of subscripts hold for the access, those of its indices for the loads in them.
        let of_base = std::mem::take(&mut self.guards);
        let indices = self.indices(indices);
        self.guards = of_base;
        let (data, indices) = (data?, indices?);
        if data.future.is_some() {
            self.report(
                Diagnostic::new(
                    "E0432",
                    span,
                    format!("`{}` is a future, its elements are in `.data`", data.name),
                )
                .label("a future")
                .help(format!("write `{}.data.at(…)`", data.name)),
            );
            return None;
        }
        if self.kernel.is_none() {
            self.report(
                Diagnostic::new(
                    "E0325",
                    span,
                    "elements can be read and written only inside `parallel`",
                )
                .label("this runs on the host, the data is on the device")
                .help(match self.returning {
                    true => "return the tensor, and take the element from that",
                    false => "move the statement into a `parallel`",
                }),
            );
            return None;
        }
        if indices.len() != data.view.rank() {
            let shape = self.show_shape(&data.view.shape);
            let (given, rank) = (indices.len(), data.view.rank());
            let verb = if given == 1 {
                "index is"
            } else {
                "indices are"
            };
            let noun = if rank == 1 { "index" } else { "indices" };
            self.report(
                Diagnostic::new(
                    "E0430",
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
            ok &= self.check_axis(&data.view, axis, index, *at, &data.name);
        }
        let indices = indices.into_iter().map(|(i, _)| i).collect();
        let access = Access {
            view: data.view,
            indices,
            span,
        };
        self.own_element(&access, &data.name)?;
        ok.then_some(access)
    }

    /// The only element of a shared scalar.
    pub(crate) fn word(&mut self, id: crate::ir::BufferId, span: Span) -> Access {
        self.guards.clear();
        Access {
            view: self.whole_view(id, span),
            indices: vec![Sym::zero()],
            span,
        }
    }

    fn check_axis(&mut self, view: &View, axis: usize, index: &Sym, at: Span, name: &str) -> bool {
        let (Some(extent), Some(valid)) = (view.shape.get(axis), view.valid.get(axis)) else {
            return false;
        };
        let lo = match &valid.lo {
            Some(lo) if self.f.cx.le(lo, &Sym::zero()) != Truth::Yes => {
                self.f.cx.max(lo, &Sym::zero())
            }
            _ => Sym::zero(),
        };
        let hi = match &valid.hi {
            Some(hi) => self.f.cx.min(hi, extent),
            None => extent.clone(),
        };
        let rank = view.rank();
        self.inside(
            "E0431",
            "R12",
            index,
            &lo,
            &hi,
            at,
            &move |n| {
                if rank == 1 {
                    format!("the index of `{n}`")
                } else {
                    format!("index {axis} of `{n}`")
                }
            },
            name,
        )
    }

    /// Index arguments, with ituples spliced; each with its span.
    pub(crate) fn indices(&mut self, exprs: &[ast::Expr]) -> Option<Vec<(Sym, Span)>> {
        let mut out = Vec::new();
        let mut ok = true;
        for e in exprs {
            match self.expr(e) {
                Value::Tuple(t) => out.extend(t.into_iter().map(|i| (i.value, e.span))),
                Value::Wildcard => {
                    self.report(
                        Diagnostic::new("E0439", e.span, "`_` is not an index").label("a wildcard"),
                    );
                    ok = false;
                }
                v => match self.to_sym(v, e.span) {
                    Some(s) => out.push((s, e.span)),
                    None => ok = false,
                },
            }
        }
        ok.then_some(out)
    }
}
