//! Levels below the block: how many threads they are, and their indices as parts of a thread's number.

use super::nest::{Node, level_name};
use super::parallel::first_inner;
use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Expr, ExprKind, Hardware, Level, Role, Scalar, StmtKind};
use crate::sema::names::scope::{Entity, IntKind};
use crate::sema::values::value::IntValue;
use crate::sema::{Checker, ThreadIndex};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Binding, ParallelItem, ParallelStmt};

/// Threads per block when a single level is split into blocks and threads.
const SPLIT_THREADS: i64 = 256;

impl Checker<'_> {
    /// A level below the block: binds its indices from the linear thread id, runs its body.
    pub(crate) fn level_body(
        &mut self,
        item: &ParallelItem,
        extents: &[Sym],
        node: &Node,
        rest: &[ParallelItem],
        body: &ast::Block,
    ) -> Option<()> {
        let parent = self.level()?;
        let product = extents.iter().fold(Sym::one(), |p, e| &p * e);
        let mut divisor = match node.level {
            Level::Group4 => Sym::int(128),
            Level::Group => Sym::int(32),
            _ => Sym::one(),
        };
        if node.merged {
            divisor = self.merged_inner(node, rest, body)?;
        }
        let total = &product * &divisor;
        let inside_unit = match parent {
            Level::Group4 => Some(128),
            Level::Group => Some(32),
            _ => None,
        };
        if let Some(unit) = inside_unit {
            self.unit_total(&total, unit, parent, item.span)?;
        } else if !self.merging {
            self.block_total(&total, item.span)?;
        }
        let whole_block = inside_unit.is_none() && !self.merging;
        let saved = self.enter(node.level);
        let merging = std::mem::replace(&mut self.merging, node.merged);
        self.scopes.push();
        let ((), stmts) = self.collect(|s| {
            let mut values = Vec::new();
            let digits = s.digits(extents, divisor, whole_block);
            for (axis, (extent, index)) in extents.iter().zip(digits).enumerate() {
                let name = part_name(&item.binding, axis);
                let e = thread_expr(&index, item.span);
                values.push(s.index_variable(&name, node.level, e, extent, Some(index), item.span));
            }
            s.bind_indices(&item.binding, values, extents);
            s.after_header(node, rest, body);
        });
        let ended = self.scopes.pop();
        self.report_unused(ended);
        self.merging = merging;
        self.leave(saved);
        self.emit(
            StmtKind::Parallel {
                level: node.level,
                body: stmts,
            },
            item.span,
        );
        Some(())
    }

    /// Threads of the inner of two merged thread levels.
    pub(crate) fn merged_inner(
        &mut self,
        node: &Node,
        rest: &[ParallelItem],
        body: &ast::Block,
    ) -> Option<Sym> {
        let item = match rest.first() {
            Some(item) => item,
            None => first_inner(&body.stmts)?.items.first()?,
        };
        let _ = node;
        let mark = self.diags.mark();
        let extents = self.bounds(item);
        self.diags.rollback(mark);
        match extents {
            Some(e) => Some(e.iter().fold(Sym::one(), |p, x| &p * x)),
            None => {
                self.report(
                    Diagnostic::new(
                        "E0509",
                        item.span,
                        "the number of threads of this inner level is not known at the outer one",
                    )
                    .label("must be known outside")
                    .help("use names that are visible before the outer `parallel`"),
                );
                None
            }
        }
    }

    pub(crate) fn unit_total(
        &mut self,
        total: &Sym,
        unit: i64,
        parent: Level,
        at: Span,
    ) -> Option<()> {
        let name = level_name(parent);
        match self.f.cx.eq(total, &Sym::int(unit)) {
            Truth::Yes => Some(()),
            Truth::No => {
                let shown = self.show(total);
                self.report(
                    Diagnostic::new(
                        "E0515",
                        at,
                        format!("a `{name}` has exactly {unit} threads, this asks for {shown}"),
                    )
                    .label(format!("{shown} threads"))
                    .help(format!(
                        "make the product {unit}, or drop the `{name}` level"
                    )),
                );
                None
            }
            Truth::Unknown => {
                let message = format!("a `{name}` has {{1}} threads, this asks for {{0}}");
                self.check_compare("R05", message, BinOp::Eq, total, &Sym::int(unit), at);
                Some(())
            }
        }
    }

    /// Fixes the block's thread count, or compares with what a sibling fixed.
    pub(crate) fn block_total(&mut self, total: &Sym, at: Span) -> Option<()> {
        let shown = self.show(total);
        let known = self
            .kernel
            .as_ref()
            .and_then(|k| k.threads.clone().map(|t| (t, k.threads_at)));
        if let Some((threads, first)) = known {
            match self.f.cx.eq(&threads, total) {
                Truth::Yes => {}
                Truth::No => {
                    let other = self.show(&threads);
                    self.report(
                        Diagnostic::new("E0518", at, format!("this needs {shown} threads per block, an earlier one {other}"))
                            .label(format!("{shown} threads"))
                            .also(first, format!("{other} threads"))
                            .help("inner `parallel`s of one block share its threads: make the totals equal"),
                    );
                    return None;
                }
                Truth::Unknown => {
                    let message =
                        "inner `parallel`s of one block need {0} and {1} threads".to_owned();
                    self.check_compare("R05", message, BinOp::Eq, total, &threads, at);
                }
            }
            return Some(());
        }
        match self.f.cx.le(total, &Sym::int(1024)) {
            Truth::Yes => {}
            Truth::No => {
                self.report(
                    Diagnostic::new(
                        "E0516",
                        at,
                        format!("{shown} threads in one block: at most 1024 fit"),
                    )
                    .label(format!("{shown} threads"))
                    .help("spread the work over more blocks: `parallel … : block` outside"),
                );
                return None;
            }
            Truth::Unknown => self.check_compare(
                "R05",
                "{0} threads in one block, at most {1} fit".into(),
                BinOp::Le,
                total,
                &Sym::int(1024),
                at,
            ),
        }
        if let Some(k) = self.kernel.as_mut() {
            k.threads = Some(total.clone());
            k.threads_at = at;
        }
        Some(())
    }

    /// A single level of threads over any number of instances.
    pub(crate) fn split(
        &mut self,
        p: &ParallelStmt,
        item: &ParallelItem,
        extents: &[Sym],
    ) -> Option<[Sym; 3]> {
        let total = extents.iter().fold(Sym::one(), |p, e| &p * e);
        let small = total.as_int().is_some_and(|n| n <= 1024);
        let threads = if small {
            total.clone()
        } else {
            Sym::int(SPLIT_THREADS)
        };
        let blocks = if small {
            Sym::one()
        } else {
            self.f.cx.cdiv(&total, &threads)
        };
        self.grid_limit(0, &blocks, item.span);
        if let Some(k) = self.kernel.as_mut() {
            k.threads = Some(threads.clone());
        }
        let saved = self.enter(Level::Thread);
        self.children.push(Vec::new());
        self.scopes.push();
        let (result, stmts) = self.collect(|s| {
            if small {
                s.split_indices(item, extents, None);
                s.block(&p.body);
                return;
            }
            let block = block_index(0, item.span);
            let bvar = s.index_variable("block", Level::Block, block, &blocks, None, item.span);
            let t = Expr::new(
                ExprKind::Hardware(Hardware::Thread),
                Scalar::Index,
                item.span,
            );
            let index = ThreadIndex {
                divisor: Sym::one(),
                modulus: None,
            };
            let tvar = s.index_variable("lane", Level::Thread, t, &threads, Some(index), item.span);
            let linear = &(&bvar * &threads) + &tvar;
            let guard =
                crate::sema::checks::run_time::compare(BinOp::Lt, &linear, &total, item.span);
            let skip = s.decided(&guard) == Some(true);
            s.f.cx.push_scope();
            if !skip {
                s.f.cx.assume_lt(&linear, &total);
            }
            let ((), inner) = s.collect(|s| {
                s.split_indices(item, extents, Some(linear.clone()));
                s.block(&p.body);
            });
            s.f.cx.pop_scope();
            if skip {
                if let Some(sink) = s.sinks.last_mut() {
                    sink.extend(inner);
                }
            } else {
                s.emit(
                    StmtKind::If {
                        cond: guard,
                        then: inner,
                        otherwise: Vec::new(),
                    },
                    item.span,
                );
            }
        });
        let () = result;
        let ended = self.scopes.pop();
        self.report_unused(ended);
        self.children.pop();
        self.leave(saved);
        self.emit(
            StmtKind::Parallel {
                level: Level::Thread,
                body: stmts,
            },
            item.span,
        );
        Some([blocks, Sym::one(), Sym::one()])
    }

    /// Indices of a split level, from the linear instance number.
    pub(crate) fn split_indices(
        &mut self,
        item: &ParallelItem,
        extents: &[Sym],
        linear: Option<Sym>,
    ) {
        let mut values = Vec::new();
        let digits = self.digits(extents, Sym::one(), true);
        for (axis, (extent, index)) in extents.iter().zip(digits).enumerate() {
            let name = part_name(&item.binding, axis);
            let (e, home) = match &linear {
                None => (thread_expr(&index, item.span), Some(index)),
                Some(l) => (split_expr(l, &index, item.span), None),
            };
            values.push(self.index_variable(&name, Level::Thread, e, extent, home, item.span));
        }
        self.bind_indices(&item.binding, values, extents);
    }

    /// How the indices of a level follow from the thread's number, in units of `unit` threads. `open`:
    /// there are no more threads, so that the slowest is the quotient alone.
    fn digits(&self, extents: &[Sym], unit: Sym, open: bool) -> Vec<ThreadIndex> {
        let mut step = unit;
        let slowest = extents.len().saturating_sub(1);
        let mut digit = |(at, extent): (usize, &Sym)| {
            let modulus = (!open || at != slowest).then(|| extent.clone());
            let divisor = step.clone();
            step = &step * extent;
            ThreadIndex { divisor, modulus }
        };
        if self.options.last_is_fastest {
            let mut digits: Vec<ThreadIndex> =
                extents.iter().rev().enumerate().map(&mut digit).collect();
            digits.reverse();
            return digits;
        }
        extents.iter().enumerate().map(&mut digit).collect()
    }

    /// Declares an index variable's local, and returns it as a symbolic integer.
    pub(crate) fn index_variable(
        &mut self,
        name: &str,
        level: Level,
        value: Expr,
        extent: &Sym,
        home: Option<ThreadIndex>,
        at: Span,
    ) -> Sym {
        let local = self.new_local(name, Scalar::Index, false, Role::Parallel(level), at);
        let var = self.local_var(local, Some(Sym::zero()), Some(extent - 1));
        if let (Some(home), Some(k)) = (home, self.kernel.as_mut()) {
            k.homes.insert(var, home);
        }
        self.emit(
            StmtKind::Let {
                local,
                value: Some(value),
            },
            at,
        );
        Sym::var(var)
    }

    pub(crate) fn bind_indices(&mut self, binding: &Binding, values: Vec<Sym>, extents: &[Sym]) {
        let ints: Vec<IntValue> = values
            .into_iter()
            .zip(extents)
            .map(|(v, e)| IntValue::bounded(v, e.clone()))
            .collect();
        let kind = IntKind::Parallel;
        match binding {
            Binding::None => {}
            Binding::One(name) => {
                if let Some(value) = ints.into_iter().next() {
                    self.declare(name, Entity::Int { value, kind });
                }
            }
            Binding::Tuple { whole, parts } => {
                for (name, value) in parts.iter().zip(&ints) {
                    self.declare(
                        name,
                        Entity::Int {
                            value: value.clone(),
                            kind,
                        },
                    );
                }
                if let Some(name) = whole {
                    self.declare(name, Entity::Tuple { values: ints, kind });
                }
            }
        }
    }
}

pub(crate) fn binding_names(binding: &Binding) -> Vec<&ast::Name> {
    match binding {
        Binding::None => Vec::new(),
        Binding::One(n) => vec![n],
        Binding::Tuple { whole, parts } => whole.iter().chain(parts).collect(),
    }
}

pub(crate) fn part_name(binding: &Binding, axis: usize) -> String {
    match binding {
        Binding::None => "instance".into(),
        Binding::One(n) => n.text.clone(),
        Binding::Tuple { parts, .. } => parts
            .get(axis)
            .map_or_else(|| "index".into(), |n| n.text.clone()),
    }
}

pub(crate) fn block_index(axis: usize, at: Span) -> Expr {
    let axis = u8::try_from(axis).unwrap_or(0);
    Expr::new(ExprKind::Hardware(Hardware::Block(axis)), Scalar::Index, at)
}

pub(crate) fn index_op(op: BinOp, a: Expr, b: Sym, at: Span) -> Expr {
    Expr::new(
        ExprKind::Binary(op, a, Expr::index(b, at)),
        Scalar::Index,
        at,
    )
}

fn divided(mut e: Expr, index: &ThreadIndex, at: Span) -> Expr {
    if !index.divisor.is_one() {
        e = index_op(BinOp::Div, e, index.divisor.clone(), at);
    }
    if let Some(m) = &index.modulus {
        e = index_op(BinOp::Rem, e, m.clone(), at);
    }
    e
}

fn thread_expr(index: &ThreadIndex, at: Span) -> Expr {
    divided(
        Expr::new(ExprKind::Hardware(Hardware::Thread), Scalar::Index, at),
        index,
        at,
    )
}

fn split_expr(linear: &Sym, index: &ThreadIndex, at: Span) -> Expr {
    divided(Expr::index(linear.clone(), at), index, at)
}
