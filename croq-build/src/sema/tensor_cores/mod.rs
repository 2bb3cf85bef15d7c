//! Products of matrices (language 05): what is in registers, which instruction multiplies it, and who has
//! what of it.
//!
//! Fragments are buffers of [`Storage::Fragment`]. What they are is known piece by piece: extents of sums
//! with the first product, the spread over a warp with whatever asks for one. So both are gathered, and
//! completed at the function's end ([`spread`]).

mod apply;
mod fragments;
mod memory;
mod multiply;
mod owners;
mod scale;
mod shapes;
mod sparse;
mod spread;
mod warpgroup;

use crate::diagnostics::Diagnostic;
use crate::ir::{BufferId, Level, MmaOp, Part, Storage};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::sema::values::value::Value;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, MmaStmt};
pub use shapes::{Typed, of_warpgroups, of_warps};
pub(crate) use spread::Spreads;

/// A fragment as a statement names it.
pub(crate) struct Named {
    pub part: Part,
    pub name: String,
    pub span: Span,
}

impl Checker<'_> {
    pub(crate) fn mma(&mut self, m: &MmaStmt, span: Span) {
        let done = self.mma_parts(m, span);
        if done.is_none() {
            self.spreads.failed = true;
        }
        // Whatever uses the name of what failed stays silent.
        if done.is_none()
            && let Some(name) = &m.target
            && !self.scopes.in_innermost(&name.text)
        {
            self.declare(name, crate::sema::names::scope::Entity::Poison);
        }
    }

    fn mma_parts(&mut self, m: &MmaStmt, span: Span) -> Option<()> {
        if let Some(tiles) = &m.k_tiles
            && !self.is_a_warpgroup()
        {
            let at = tiles.first().map_or(span, |tile| tile.span);
            self.report(
                Diagnostic::new(
                    "E0911",
                    at,
                    "the parts of K have an order only in products by a warpgroup",
                )
                .label("this one is made of a warp's instructions")
                .help("remove the attribute: sums are added in ascending order"),
            );
            return None;
        }
        match &m.op {
            ast::MmaOp::Fill(elem) => self.mma_fill(m, *elem, span),
            ast::MmaOp::Load { frag, swizzle } => {
                self.by_a_warp(span, "`mma.load`")?;
                self.mma_load(m, *frag, swizzle.as_ref(), span)
            }
            ast::MmaOp::Multiply {
                a_row,
                b_row,
                scale,
                sparse,
            } => {
                self.by_a_warp(span, "a product")?;
                if *sparse {
                    self.sparse_product(m, [*a_row, *b_row], span);
                    return None;
                }
                if self.is_a_warpgroup() {
                    let rows = [*a_row, *b_row];
                    return match scale {
                        true => self.multiply_scaled(m, rows, span),
                        false => self.multiply_by_warpgroup(m, rows, span),
                    };
                }
                if *scale {
                    self.scale_refused(span);
                    return None;
                }
                if m.is_async {
                    self.report(
                        Diagnostic::new(
                            "E0906",
                            span,
                            "a product by one warp is never asynchronous",
                        )
                        .label("done when the statement is")
                        .help("remove `.async` and the `wait`"),
                    );
                    return None;
                }
                self.multiply(m, [*a_row, *b_row], span)
            }
            ast::MmaOp::Store { transposed, masked } => {
                let around = self.only_unit(m, span).map(|unit| self.enter(unit));
                let done = self.by_a_warp(span, "`mma.store`");
                let done = done.and_then(|()| self.mma_store(m, *transposed, *masked, span));
                if let Some(around) = around {
                    self.leave(around);
                }
                done
            }
            ast::MmaOp::Scale => {
                self.by_a_warp(span, "`mma.scale`")?;
                if self.is_a_warpgroup() {
                    return self.mma_scale(m, span);
                }
                self.scale_refused(span);
                None
            }
            // Products by one warp are complete when their statement is.
            ast::MmaOp::Commit => {
                self.by_a_warp(span, "`mma.commit`")?;
                if self.is_a_warpgroup() {
                    self.emit_mma(MmaOp::Finish, span);
                }
                Some(())
            }
        }
    }

    fn scale_refused(&mut self, span: Span) {
        self.report(
            Diagnostic::new("E0916", span, "products are scaled only by warpgroups")
                .label("this one is a warp's")
                .help("scale the sums in an `apply`"),
        );
    }

    /// Where the whole block is one warp or warpgroup, that is whose sums are stored behind the level that
    /// multiplied.
    fn only_unit(&mut self, m: &MmaStmt, span: Span) -> Option<Level> {
        if self.level() != Some(Level::Block) {
            return None;
        }
        let mut named = m.operands.first()?;
        while let ast::ExprKind::Subscript(inner, _) = &*named.kind {
            named = inner;
        }
        let ast::ExprKind::Name(name) = &*named.kind else {
            return None;
        };
        let Entity::Buffer { id, .. } = self.scopes.find(name)?.entity else {
            return None;
        };
        let warps = self.f.fragments.get(&id)?.spread?.warps();
        let kernel = self.kernel.as_ref()?;
        if kernel.threads != Some(Sym::int(32 * warps)) {
            return None;
        }
        if self.conditional > 0 && kernel.divergent > 0 {
            self.cooperative(span, "`mma.store`");
        }
        Some(match warps {
            4 => Level::Group4,
            _ => Level::Group,
        })
    }

    /// Whether a warp of threads comes here together; says why not.
    pub(crate) fn by_a_warp(&mut self, span: Span, what: &str) -> Option<()> {
        let (found, help) = match self.level() {
            // Nothing that a condition of this level can ask differs within a warp.
            Some(Level::Group) => return Some(()),
            Some(Level::Group4) => return self.by_a_warpgroup(span, what),
            None => (
                "the host's",
                "put it inside `parallel … : block`, and there inside `parallel w by 4 : group`",
            ),
            Some(Level::Cluster | Level::Block) => (
                "the whole block's",
                "put it inside `parallel w by 4 : group { … }`, for four warps",
            ),
            Some(Level::Thread) => (
                "a single thread's",
                "put it outside of the `: thread` level, inside `: group`",
            ),
        };
        self.report(
            Diagnostic::new("E0906", span, format!("{what} is the work of a warp"))
                .label(format!("here it is {found}"))
                .help(help),
        );
        None
    }

    /// The fragment that an expression names; `whole` takes an array of them as well.
    pub(crate) fn fragment(&mut self, e: &ast::Expr, whole: bool) -> Option<Named> {
        let data = match self.expr(e) {
            Value::Data(data) => data,
            Value::Error => return None,
            other => {
                let kind = other.kind();
                self.no_fragment(e.span, &kind);
                return None;
            }
        };
        let id = data.view.buffer;
        if self.f.buffer(id).storage != Storage::Fragment {
            self.direct_operand(e.span, &data.name);
            return None;
        }
        let mut number = None;
        if data.array.is_empty() {
            let elements = data.view.shape.iter().product();
            number = Some(self.f.cx.div(&data.view.offset, &elements));
        } else if !whole {
            let missing: String = data.array.iter().map(|_| "[…]").collect();
            self.report(
                Diagnostic::new(
                    "E0923",
                    e.span,
                    format!("`{}` is an array of fragments", data.name),
                )
                .label("needs a subscript")
                .help(format!("write `{}{missing}`", data.name)),
            );
            return None;
        }
        let part = Part {
            buffer: id,
            number,
            span: e.span,
        };
        Some(Named {
            part,
            name: data.name,
            span: e.span,
        })
    }

    fn no_fragment(&mut self, at: Span, kind: &str) {
        self.report(
            Diagnostic::new("E0928", at, format!("expected a fragment, found {kind}"))
                .label("not in the registers of a warp")
                .help("`c = mma.fill.f32 0.0f;` makes sums, `a = mma.load view;` an operand"),
        );
    }

    fn direct_operand(&mut self, at: Span, name: &str) {
        self.report(
            Diagnostic::new(
                "E0907",
                at,
                format!("`{name}` is in memory, a warp multiplies what is in its registers"),
            )
            .label("not loaded")
            .help(format!(
                "load it first: `x = mma.load {};`",
                self.source_of(at, name)
            )),
        );
    }

    /// Rows and columns, once they are known.
    pub(crate) fn fragment_shape(&self, id: BufferId) -> Option<Vec<i64>> {
        let shape = &self.f.fragments.get(&id)?.shape;
        (!shape.is_empty()).then(|| shape.clone())
    }

    /// Fragments are no memory: their elements have no address.
    pub(crate) fn in_memory(&mut self, id: BufferId, name: &str, at: Span) -> Option<()> {
        if self.f.buffer(id).storage != Storage::Fragment {
            return Some(());
        }
        if self.spreads.failed {
            return None;
        }
        self.report(
            Diagnostic::new(
                "E0921",
                at,
                format!("`{name}` is in the registers of a warp"),
            )
            .label("its elements belong to different threads")
            .help(format!(
                "go through them with `apply {{i, j}} in {name}.span …`, or `mma.store` it"
            )),
        );
        None
    }

    pub(crate) fn emit_mma(&mut self, op: MmaOp, span: Span) {
        self.note_owners(&op, span);
        self.emit(crate::ir::StmtKind::Mma(Box::new(op)), span);
    }
}

fn sym(n: i64) -> Sym {
    Sym::int(n)
}
