//! Work on the elements of fragments: `apply`, reductions of rows, copies.

use super::Named;
use crate::diagnostics::Diagnostic;
use crate::ir::{Access, BufferId, Level, MmaOp, Role, Scalar, Storage};
use crate::sema::Checker;
use crate::sema::names::scope::{Entity, IntKind};
use crate::sema::values::value::{Data, IntValue};
use crate::source::Span;
use crate::symbolic::{Sym, Var};
use crate::syntax::ast::{self, FragOp};

/// An `apply` under way.
pub(crate) struct Applied {
    buffer: BufferId,
    indices: Vec<Var>,
}

impl Checker<'_> {
    /// `apply {i, j} in t.span body`
    pub(crate) fn apply(
        &mut self,
        names: &[ast::Name],
        frag: &ast::Name,
        body: &ast::Block,
        span: Span,
    ) {
        self.scopes.push();
        let made = self.apply_header(names, frag, span);
        if made.is_none() {
            self.spreads.failed = true;
            for name in names {
                if !self.scopes.in_innermost(&name.text) {
                    self.declare(name, Entity::Poison);
                }
            }
        }
        let level = self
            .kernel
            .as_mut()
            .map(|k| std::mem::replace(&mut k.level, Level::Thread));
        let outer = self.spreads.applied.take();
        self.spreads.applied = made.as_ref().map(|(named, locals)| Applied {
            buffer: named.part.buffer,
            indices: locals.iter().filter_map(|l| self.f.local(*l).var).collect(),
        });
        self.scopes.enter_loop();
        let ((), stmts) = self.collect(|s| s.block(body));
        self.scopes.leave_loop();
        self.spreads.applied = outer;
        if let (Some(level), Some(k)) = (level, self.kernel.as_mut()) {
            k.level = level;
        }
        let ended = self.scopes.pop();
        self.report_unused(ended);
        if let Some((named, indices)) = made {
            self.emit_mma(
                MmaOp::Apply {
                    part: named.part,
                    indices,
                    body: stmts,
                },
                span,
            );
        }
    }

    fn apply_header(
        &mut self,
        names: &[ast::Name],
        frag: &ast::Name,
        span: Span,
    ) -> Option<(Named, Vec<crate::ir::LocalId>)> {
        self.by_a_warp(frag.span, "`apply`")?;
        let memory = match self.scopes.find(&frag.text).map(|b| &b.entity) {
            Some(Entity::Buffer { id, .. }) => self.f.buffer(*id).storage != Storage::Fragment,
            _ => false,
        };
        if memory {
            let name = &frag.text;
            self.report(
                Diagnostic::new(
                    "E0928",
                    frag.span,
                    format!("`apply` goes through fragments, `{name}` is in memory"),
                )
                .label("not in the registers of a warp")
                .help(format!(
                    "write `foreach {{i, j}} in {name}.span`, in a `parallel` of threads"
                )),
            );
            return None;
        }
        let named = self.by_name(frag)?;
        let id = named.part.buffer;
        let Some(shape) = self.fragment_shape(id) else {
            self.without_shape(&named);
            return None;
        };
        if shape.len() != names.len() {
            let at = names.first().map_or(span, |name| name.span);
            self.report(
                Diagnostic::new(
                    "E0928",
                    at,
                    format!(
                        "`{}` has {} extents, but {} indices are named",
                        frag.text,
                        shape.len(),
                        names.len()
                    ),
                )
                .label("one name for each extent"),
            );
            return None;
        }
        self.spread_needed(id, frag.span);
        let mut locals = Vec::new();
        for (name, extent) in names.iter().zip(shape) {
            let local = self.new_local(&name.text, Scalar::Index, false, Role::Value, name.span);
            let last = Sym::int(extent - 1);
            let var = self.local_var(local, Some(Sym::zero()), Some(last));
            self.varying.insert(local);
            locals.push(local);
            let value = IntValue::bounded(Sym::var(var), Sym::int(extent));
            self.declare(
                name,
                Entity::Int {
                    value,
                    kind: IntKind::Parallel,
                },
            );
            if let Some(binding) = self.scopes.find_mut(&name.text) {
                binding.used = true;
            }
        }
        Some((named, locals))
    }

    fn by_name(&mut self, name: &ast::Name) -> Option<Named> {
        let e = ast::Expr {
            kind: Box::new(ast::ExprKind::Name(name.text.clone())),
            span: name.span,
        };
        self.fragment(&e, false)
    }

    /// Data whose elements are accessed: memory, or a fragment inside an `apply`.
    pub(crate) fn accessed(&mut self, data: Data, span: Span) -> Option<Data> {
        let fragment = self.f.buffer(data.view.buffer).storage == Storage::Fragment;
        if fragment && self.spreads.applied.is_some() && data.array.is_empty() {
            return Some(data);
        }
        self.whole(data, span)
    }

    /// An element of a fragment is its own thread's, so it is told by the indices as they are.
    pub(crate) fn own_element(&mut self, access: &Access, name: &str) -> Option<()> {
        let id = access.view.buffer;
        if self.f.buffer(id).storage != Storage::Fragment {
            return Some(());
        }
        let (buffer, indices) = match &self.spreads.applied {
            Some(applied) => (applied.buffer, applied.indices.clone()),
            None => return Some(()),
        };
        let found: Vec<Option<Var>> = access.indices.iter().map(Sym::as_var).collect();
        let expected = indices.iter().take(found.len()).map(|var| Some(*var));
        if found.len() > indices.len() || !expected.eq(found.iter().copied()) {
            let vars: Vec<String> = indices
                .iter()
                .take(access.indices.len())
                .map(|var| self.f.cx.name(*var).to_owned())
                .collect();
            self.report(
                Diagnostic::new(
                    "E0921",
                    access.span,
                    format!("another element of `{name}` is in another thread's registers"),
                )
                .label("not the element that `apply` is at")
                .help(format!("write `{name}.at({})`", vars.join(", "))),
            );
            return None;
        }
        self.meet(buffer, id, access.span);
        self.spread_needed(id, access.span);
        Some(())
    }

    /// `reduce_max(dst, src, 1);` and the like.
    pub(crate) fn fragment_operation(
        &mut self,
        op: FragOp,
        args: &[ast::Expr],
        op_span: Span,
        span: Span,
    ) {
        if self.operation(op, args, op_span, span).is_none() {
            self.spreads.failed = true;
        }
    }

    fn operation(
        &mut self,
        op: FragOp,
        args: &[ast::Expr],
        op_span: Span,
        span: Span,
    ) -> Option<()> {
        self.by_a_warp(span, "this")?;
        match (op, args) {
            (FragOp::ReduceMax | FragOp::ReduceSum, [into, from, dim]) => {
                let (into, from) = (self.fragment(into, false), self.fragment(from, false));
                let (into, from) = (into?, from?);
                if self.const_int(dim) != Some(1) {
                    self.report(
                        Diagnostic::new("E0917", dim.span, "rows are reduced, over their columns")
                            .label("only dimension 1")
                            .help("write `1`"),
                    );
                    return None;
                }
                self.column(&into)?;
                self.reduced_shape(&into, &from, span)?;
                self.meet(from.part.buffer, into.part.buffer, span);
                self.spread_needed(from.part.buffer, from.span);
                let op = MmaOp::Reduce {
                    into: into.part,
                    from: from.part,
                    largest: op == FragOp::ReduceMax,
                };
                self.emit_mma(op, span);
                Some(())
            }
            (FragOp::AllReduceSum, [row]) => {
                let row = self.fragment(row, false)?;
                self.column(&row)?;
                self.spreads.columns.push((row.part.buffer, row.span));
                self.emit_mma(MmaOp::AllReduce { part: row.part }, span);
                Some(())
            }
            (FragOp::Copy, [into, from]) => {
                let (into, from) = (self.fragment(into, false), self.fragment(from, false));
                let (into, from) = (into?, from?);
                self.same_shape(&into, &from, span)?;
                self.meet(from.part.buffer, into.part.buffer, span);
                for named in [&into, &from] {
                    self.spread_needed(named.part.buffer, named.span);
                }
                let op = MmaOp::Convert {
                    into: into.part,
                    from: from.part,
                };
                self.emit_mma(op, span);
                Some(())
            }
            _ => {
                let form = match op {
                    FragOp::ReduceMax => "reduce_max(row, matrix, 1)",
                    FragOp::ReduceSum => "reduce_sum(row, matrix, 1)",
                    FragOp::AllReduceSum => "all_reduce_sum(row)",
                    FragOp::Copy => "copy(destination, source)",
                };
                self.report(
                    Diagnostic::new("E0100", op_span, format!("expected `{form}`"))
                        .label("other arguments than that"),
                );
                None
            }
        }
    }

    /// A fragment with one value for each row.
    fn column(&mut self, named: &Named) -> Option<()> {
        let shape = self.fragment_shape(named.part.buffer);
        if shape.as_ref().is_some_and(|s| s.len() == 1) {
            return Some(());
        }
        self.report(
            Diagnostic::new(
                "E0918",
                named.span,
                format!("`{}` has more than a value for each row", named.name),
            )
            .label("expected a fragment of rank 1")
            .help("declare it `frag f32 [16] row {0.0f};`"),
        );
        None
    }

    fn reduced_shape(&mut self, into: &Named, from: &Named, span: Span) -> Option<()> {
        let rows = self.fragment_shape(into.part.buffer)?.first().copied();
        let Some(shape) = self.fragment_shape(from.part.buffer) else {
            self.without_shape(from);
            return None;
        };
        if let [of, _] = shape.as_slice()
            && Some(*of) == rows
        {
            return Some(());
        }
        self.shapes_differ(into, from, span);
        None
    }

    fn same_shape(&mut self, into: &Named, from: &Named, span: Span) -> Option<()> {
        for named in [into, from] {
            if self.fragment_shape(named.part.buffer).is_none() {
                self.without_shape(named);
                return None;
            }
        }
        let [a, b] = [into, from].map(|n| self.fragment_shape(n.part.buffer));
        if a == b {
            return Some(());
        }
        self.shapes_differ(into, from, span);
        None
    }

    fn shapes_differ(&mut self, into: &Named, from: &Named, span: Span) {
        let [a, b] = [into, from].map(|named| {
            let shape = self.fragment_shape(named.part.buffer).unwrap_or_default();
            let extents: Vec<String> = shape.iter().map(i64::to_string).collect();
            format!("`{}` is [{}]", named.name, extents.join(", "))
        });
        self.report(
            Diagnostic::new("E0902", span, format!("{a}, {b}"))
                .label("their rows don't correspond"),
        );
    }
}
