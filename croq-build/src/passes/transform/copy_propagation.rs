//! Copy propagation, and common-subexpression elimination for thread numbers.
//!
//! Each pass declares the values that it needs, so `thread` and values derived from it are declared
//! once for every pass, an index of a whole `parallel` may be a copy of the warp number, and a
//! future's tile is read into a variable at each use. C++ compilers do not mind, but readers of the
//! printed code do. A variable is removed if an earlier one in an enclosing block has the same
//! value, or if it is a copy of a variable that is not assigned afterwards. Then the remaining
//! declarations of thread numbers are moved to the kernel's beginning.
//!
//! A symbolic variable keeps its bounds; only its home changes.

use crate::ir::build;
use crate::ir::{
    BarrierScope, BinOp, CppName, Expr, ExprKind, Flow, Function, Intrinsic, KernelId, LocalId,
    Role, Scalar, Stmt, StmtKind, VarHome, Visitor, VisitorMut, any_stmt, retain_stmts, walk,
    walk_mut,
};
use crate::passes::analysis::uses::{Uses, identifiers};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

pub fn propagate(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let (span, fastest, threads) = (kernel.span, kernel.fastest.clone(), kernel.threads.clone());
    function.with_kernel_body(id, |function, body| {
        declare_thread_number(function, body, &threads, span);
        let mut kept = named_in_text(function, body);
        kept.extend(fastest);
        let mut copies = Copies::new(function, kept);
        copies.block(body);
        let sources = copies.sources;
        retain_stmts(body, &mut |stmt| match &stmt.kind {
            StmtKind::Let { local, .. } => !sources.contains_key(local),
            _ => true,
        });
        if !sources.is_empty() {
            new_homes(function, &sources);
        }
        let _ = Replace {
            sources,
            thread: None,
        }
        .block(body);
        thread_numbers_first(function, body, span);
        if let Some((thread, rest)) = body.split_first_mut()
            && let Some(local) = declares(thread, Intrinsic::Thread)
        {
            let sources = SortedMap::new();
            let _ = Replace {
                sources,
                thread: Some(local),
            }
            .block(rest);
        }
    });
}

fn new_homes(function: &mut Function, sources: &SortedMap<LocalId, LocalId>) {
    for home in function.var_home.values_mut() {
        if let VarHome::Local(local) = home
            && let Some(source) = sources.get(local)
        {
            *local = *source;
        }
    }
}

/// The variables that the user's C++ mentions: they keep their names.
fn named_in_text(function: &Function, body: &[Stmt]) -> SortedSet<LocalId> {
    let mut found = SortedSet::new();
    any_stmt(body, |stmt| {
        if let StmtKind::Cpp { text, names, .. } = &stmt.kind {
            let words = identifiers(text);
            found.extend(names.iter().filter_map(|name| match name {
                CppName::Local(id) => {
                    let name = function.local(*id).name.as_str();
                    let mentioned =
                        words.contains(name) || words.contains(format!("__iv_{name}").as_str());
                    mentioned.then_some(*id)
                }
                CppName::Buffer(_) => None,
            }));
        }
        false
    });
    found
}

/// The value of an expression, independent of where it is computed.
#[derive(Clone, PartialEq, Eq)]
enum Key {
    Intrinsic(Intrinsic),
    Sym(Sym),
}

struct Copies<'a> {
    function: &'a Function,
    kept: SortedSet<LocalId>,
    /// The values of the constants in scope, with the variable that holds each.
    known: Vec<(Key, LocalId)>,
    /// The replacement of each removed variable.
    sources: SortedMap<LocalId, LocalId>,
}

impl<'a> Copies<'a> {
    fn new(function: &'a Function, kept: SortedSet<LocalId>) -> Self {
        Self {
            function,
            kept,
            known: Vec::new(),
            sources: SortedMap::new(),
        }
    }

    fn block(&mut self, stmts: &[Stmt]) {
        let known = self.known.len();
        let mut rest = stmts;
        while let Some((stmt, after)) = rest.split_first() {
            rest = after;
            match &stmt.kind {
                StmtKind::Let {
                    local,
                    value: Some(value),
                } => self.declared(*local, value, after),
                // The condition of a `while` belongs to the code after its prelude.
                StmtKind::While { body, .. } => self.block(body),
                kind => kind.blocks().for_each(|block| self.block(block)),
            }
        }
        self.known.truncate(known);
    }

    fn declared(&mut self, local: LocalId, value: &Expr, after: &[Stmt]) {
        if self.function.local(local).mutable {
            return;
        }
        let source = self
            .copied(local, value, after)
            .or_else(|| self.same(local, value));
        let same_type = |id: &LocalId| self.function.local(*id).ty == self.function.local(local).ty;
        match source.filter(same_type) {
            Some(source) if !self.kept.contains(&local) => drop(self.sources.insert(local, source)),
            Some(_) => {}
            None => self.known.extend(self.key(value).map(|key| (key, local))),
        }
    }

    /// The variable of which the value is a copy, if it is not assigned before the last use of the
    /// copy.
    fn copied(&self, copy: LocalId, value: &Expr, after: &[Stmt]) -> Option<LocalId> {
        let source = match &*value.kind {
            ExprKind::Local(id) => *id,
            ExprKind::Index(sym) => match self.function.var_home.get(&sym.as_var()?)? {
                VarHome::Local(id) => *id,
                _ => return None,
            },
            _ => return None,
        };
        let source = self.source(source);
        let info = self.function.local(source);
        let assigned = || {
            let uses = |stmt: &Stmt| {
                let block = std::slice::from_ref(stmt);
                Uses::of_block(self.function, block).locals.contains(&copy)
            };
            let last = after.iter().rposition(uses);
            let until = last.and_then(|at| after.get(..=at)).unwrap_or_default();
            any_stmt(
                until,
                |stmt| matches!(&stmt.kind, StmtKind::Assign { local, .. } if *local == source),
            )
        };
        let stays = !info.mutable
            || info.ty == Scalar::Index && !self.kept.contains(&source) && !assigned();
        stays.then_some(source)
    }

    /// The constant in scope that has this value.
    fn same(&self, local: LocalId, value: &Expr) -> Option<LocalId> {
        let key = self.key(value)?;
        let role = self.function.local(local).role;
        if matches!(&*value.kind, ExprKind::Binary(..)) && role != Role::Value {
            // An index that the program names keeps its name.
            return None;
        }
        let mut known = self.known.iter();
        known.find(|(other, _)| *other == key).map(|(_, id)| *id)
    }

    fn key(&self, value: &Expr) -> Option<Key> {
        match &*value.kind {
            ExprKind::Intrinsic(of, operands) if operands.is_empty() => {
                let constant = matches!(of, Intrinsic::Thread | Intrinsic::Warp);
                constant.then_some(Key::Intrinsic(*of))
            }
            ExprKind::Index(sym) => self.constant(sym),
            ExprKind::Binary(..) => self.constant(&self.quotient(value)?),
            _ => None,
        }
    }

    /// A part of the thread number, such as `thread / 32 % 4`.
    fn quotient(&self, value: &Expr) -> Option<Sym> {
        let id = match &*value.kind {
            ExprKind::Index(sym) => return Some(sym.clone()),
            ExprKind::Binary(op, a, b) if value.ty == Scalar::Index => {
                let (a, b) = (self.quotient(a)?, self.quotient(b)?);
                return match op {
                    BinOp::Div => Some(self.function.cx.div(&a, &b)),
                    BinOp::Rem => Some(self.function.cx.rem(&a, &b)),
                    _ => None,
                };
            }
            ExprKind::Local(id) => self.source(*id),
            ExprKind::Intrinsic(of, _) => {
                let mut known = self.known.iter();
                known.find(|(key, _)| *key == Key::Intrinsic(*of))?.1
            }
            _ => return None,
        };
        self.function.local(id).var.map(Sym::var)
    }

    /// The symbolic value in terms of the remaining variables, if none of them is assigned.
    fn constant(&self, sym: &Sym) -> Option<Key> {
        if sym.as_int().is_some() || sym.is_poison() {
            return None;
        }
        let mut value = sym.clone();
        for var in sym.sorted_vars() {
            let Some(VarHome::Local(id)) = self.function.var_home.get(var) else {
                continue;
            };
            let id = self.source(*id);
            if self.function.local(id).mutable {
                return None;
            }
            let stays = self.function.local(id).var?;
            if stays != *var {
                value = self.function.cx.substituted(&value, *var, &Sym::var(stays));
            }
        }
        Some(Key::Sym(value))
    }

    fn source(&self, id: LocalId) -> LocalId {
        self.sources.get(&id).copied().unwrap_or(id)
    }
}

/// Replaces copies by their sources, and the thread number by a variable.
struct Replace {
    sources: SortedMap<LocalId, LocalId>,
    thread: Option<LocalId>,
}

impl VisitorMut for Replace {
    fn stmt(&mut self, stmt: &mut Stmt) -> Flow {
        if let StmtKind::Barrier {
            scope: BarrierScope::WarpgroupOf { group, .. },
            ..
        } = &mut stmt.kind
            && let Some(source) = self.sources.get(group)
        {
            *group = *source;
        }
        walk_mut::stmt(self, stmt)
    }

    fn expr(&mut self, expr: &mut Expr) -> Flow {
        walk_mut::expr(self, expr)?;
        let source = match &*expr.kind {
            ExprKind::Local(id) => self.sources.get(id).copied(),
            ExprKind::Intrinsic(Intrinsic::Thread, _) => self.thread,
            _ => None,
        };
        if let Some(source) = source {
            *expr.kind = ExprKind::Local(source);
        }
        Flow::Continue(())
    }
}

/// Declares the thread number in the kernel's first statement if more than one statement uses it or
/// it is a part of an expression. It gets the name that the program uses, if that is unique.
fn declare_thread_number(function: &mut Function, body: &mut Vec<Stmt>, threads: &Sym, span: Span) {
    let mut uses = ThreadNumberUses::default();
    let _ = uses.block(body);
    let declared: SortedSet<&str> = uses
        .declared
        .iter()
        .map(|id| function.local(*id).name.as_str())
        .collect();
    let only_declared = uses.declared.len() == uses.times;
    // A single use that precedes all other statements anyway.
    let in_front = body.iter().any(|stmt| {
        let mut alone = ThreadNumberUses::default();
        matches!(stmt.kind, StmtKind::Let { .. })
            && alone.stmt(stmt).is_continue()
            && alone.times == uses.times
    });
    let once = uses.times == 1 && (only_declared || in_front && !uses.warp);
    if uses.times == 0 || once {
        return;
    }
    let name = match (declared.first(), declared.len()) {
        (Some(name), 1) if only_declared => (*name).to_owned(),
        _ => "thread".to_owned(),
    };
    let has_name = |id: LocalId| function.local(id).name == name;
    let existing = |stmt: &Stmt| declares(stmt, Intrinsic::Thread).is_some_and(has_name);
    if let Some(at) = body.iter().position(existing) {
        let existing = body.remove(at);
        return body.insert(0, existing);
    }
    let (thread, _) = build::index(function, &name, Role::Value, Some(threads), span);
    let value = Expr::intrinsic(Intrinsic::Thread, span);
    body.insert(0, build::declare(thread, value));
}

/// The number of uses of the thread number in a kernel, and the variables that hold it.
#[derive(Default)]
struct ThreadNumberUses {
    times: usize,
    declared: Vec<LocalId>,
    /// The warp number is declared.
    warp: bool,
}

impl Visitor for ThreadNumberUses {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        self.declared.extend(declares(stmt, Intrinsic::Thread));
        self.warp |= declares(stmt, Intrinsic::Warp).is_some();
        walk::stmt(self, stmt)
    }

    fn expr(&mut self, expr: &Expr) -> Flow {
        let is = matches!(*expr.kind, ExprKind::Intrinsic(Intrinsic::Thread, _));
        self.times += usize::from(is);
        walk::expr(self, expr)
    }
}

/// Moves the values that the kernel's outermost block computes from the thread number to its
/// beginning; the number itself first.
fn thread_numbers_first(function: &Function, body: &mut Vec<Stmt>, span: Span) {
    let mut moved = SortedSet::new();
    let mut is_moved = |stmt: &Stmt| {
        let StmtKind::Let {
            local,
            value: Some(value),
        } = &stmt.kind
        else {
            return false;
        };
        let of_thread = |var: &Var| match function.var_home.get(var) {
            Some(VarHome::Local(id)) => moved.contains(id),
            _ => false,
        };
        let is = match &*value.kind {
            ExprKind::Intrinsic(of, _) => {
                matches!(of, Intrinsic::Thread | Intrinsic::Warp | Intrinsic::Elected)
            }
            // Those of a copy have the span of the copy, and remain there.
            ExprKind::Index(sym) => {
                let of_kernel = stmt.span == span && stmt.span.written() == span.written();
                of_kernel && sym.as_int().is_none() && sym.sorted_vars().iter().all(of_thread)
            }
            _ => false,
        };
        let is = is && !function.local(*local).mutable;
        if is {
            moved.insert(*local);
        }
        is
    };
    let (mut first, rest): (Vec<Stmt>, Vec<Stmt>) = body.drain(..).partition(|s| is_moved(s));
    first.sort_by_key(|stmt| {
        let ty = match &stmt.kind {
            StmtKind::Let { local, .. } => function.local(*local).ty,
            _ => Scalar::Index,
        };
        (
            declares(stmt, Intrinsic::Thread).is_none(),
            ty != Scalar::Index,
        )
    });
    // Declarations with the same span are printed together.
    first.iter_mut().for_each(|stmt| stmt.span = span);
    *body = first;
    body.extend(rest);
}

/// The variable that a statement declares with this value.
fn declares(stmt: &Stmt, of: Intrinsic) -> Option<LocalId> {
    let StmtKind::Let {
        local,
        value: Some(value),
    } = &stmt.kind
    else {
        return None;
    };
    matches!(&*value.kind, ExprKind::Intrinsic(found, _) if *found == of).then_some(*local)
}
