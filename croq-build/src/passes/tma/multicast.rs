//! Loads for all blocks of a cluster: each of them comes by, and means the same tile.
//!
//! The first block loads, so a tile must not depend on where in its cluster a block is; and all of them
//! wait, so neither may whether, or how often, they come by.

use std::collections::BTreeSet;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ir::{
    Access, Copy, Expr, ExprKind, Function, Hardware, Kernel, KernelId, Level, LocalId, Role, Stmt,
    StmtKind, Storage, View, Visit, walk_exprs,
};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get_mut(id.index()) else {
        return;
    };
    if !kernel.is_clustered() {
        return;
    }
    let body = std::mem::take(&mut kernel.body);
    let cluster = kernel.cluster;
    let mut walk = Walk {
        function,
        cluster,
        blocks: Vec::new(),
        differ: BTreeSet::new(),
        around: Vec::new(),
        found: Vec::new(),
    };
    // What a loop changes may reach back to its beginning.
    walk.learn(&body);
    walk.learn(&body);
    walk.block(&body);
    let found = walk.found;
    found.into_iter().for_each(|d| diags.push(d));
    if let Some(Kernel { body: place, .. }) = function.kernels.get_mut(id.index()) {
        *place = body;
    }
}

struct Walk<'a> {
    function: &'a mut Function,
    cluster: [u32; 3],
    /// Block indices along axes with several blocks of a cluster, and how many.
    blocks: Vec<(Var, u32)>,
    /// Locals that differ between the blocks of a cluster, or may.
    differ: BTreeSet<LocalId>,
    /// What decides whether threads come here, if it differs between blocks.
    around: Vec<Span>,
    found: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn learn(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let {
                    local,
                    value: Some(value),
                } => self.define(*local, value),
                StmtKind::Assign { local, value } if self.expr_differs(value) => {
                    self.differ.insert(*local);
                }
                StmtKind::For { local, lo, .. } if self.sym_differs(lo) => {
                    self.differ.insert(*local);
                }
                _ => {}
            }
            for block in stmt.kind.blocks() {
                self.learn(block);
            }
        }
    }

    fn define(&mut self, local: LocalId, value: &Expr) {
        let Some(known) = self.function.locals.get(local.index()) else {
            return;
        };
        let (var, role) = (known.var, known.role);
        match (&*value.kind, var) {
            (ExprKind::Hardware(Hardware::Block(axis)), Some(var)) => {
                let size = self.cluster.get(usize::from(*axis)).copied().unwrap_or(1);
                if size > 1 && !self.blocks.iter().any(|(v, _)| *v == var) {
                    self.blocks.push((var, size));
                }
            }
            _ if role == Role::Parallel(Level::Cluster) => {
                let extent = var.map(|v| self.function.cx.bounds(v));
                let single = matches!(extent, Some((_, Some(hi))) if hi.is_zero());
                if !single {
                    self.differ.insert(local);
                }
            }
            _ if self.expr_differs(value) => drop(self.differ.insert(local)),
            _ => {}
        }
    }

    fn is_one_that_differs(&self, var: Var) -> bool {
        let home = self.function.var_home.get(&var);
        matches!(home, Some(crate::ir::VarHome::Local(id)) if self.differ.contains(id))
    }

    /// Whether a value differs between the blocks of a cluster: with a block's index as a multiple of
    /// the cluster's size and a rest, the rest stays.
    fn sym_differs(&mut self, sym: &Sym) -> bool {
        let mut sym = sym.clone();
        let mut places = Vec::new();
        for (var, size) in self.blocks.clone() {
            if !sym.vars().contains(&var) {
                continue;
            }
            let cx = &mut self.function.cx;
            let size = Sym::int(i64::from(size));
            let first = cx.new_var("cluster", Some(Sym::zero()), None);
            let place = cx.new_var("place", Some(Sym::zero()), Some(&size - 1));
            let block = &(&Sym::var(first) * &size) + &Sym::var(place);
            sym = sym.subst(var, &block, cx);
            places.push(place);
        }
        let vars = sym.vars();
        vars.iter()
            .any(|v| places.contains(v) || self.is_one_that_differs(*v))
    }

    fn expr_differs(&mut self, e: &Expr) -> bool {
        struct Find<'w, 'a> {
            walk: &'w mut Walk<'a>,
            found: bool,
        }
        impl Visit for Find<'_, '_> {
            fn expr(&mut self, e: &Expr) {
                self.found |= match &*e.kind {
                    ExprKind::Local(id) => self.walk.differ.contains(id),
                    ExprKind::Hardware(Hardware::Block(axis)) => {
                        self.walk.cluster.get(usize::from(*axis)) != Some(&1)
                    }
                    ExprKind::Call(_) => true,
                    _ => false,
                };
            }
            fn sym(&mut self, s: &Sym) {
                self.found |= self.walk.sym_differs(s);
            }
            // Each block has its own.
            fn access(&mut self, access: &Access, _written: bool) {
                let buffer = self.walk.function.buffers.get(access.view.buffer.index());
                self.found |= buffer.is_some_and(|b| b.storage == Storage::Shared);
            }
        }
        let mut find = Find {
            walk: self,
            found: false,
        };
        walk_exprs(e, &mut find);
        find.found
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let differs = match &stmt.kind {
                StmtKind::Copy(copy) if copy.engine.is_multicast() => {
                    self.copy(copy, stmt.span);
                    continue;
                }
                StmtKind::For { lo, hi, step, .. } => {
                    [lo, hi, step].into_iter().any(|s| self.sym_differs(s))
                }
                StmtKind::If { cond, .. } | StmtKind::While { cond, .. } => self.expr_differs(cond),
                _ => false,
            };
            if differs {
                self.around.push(stmt.span);
            }
            for block in stmt.kind.blocks() {
                self.block(block);
            }
            if differs {
                self.around.pop();
            }
        }
    }

    fn copy(&mut self, copy: &Copy, at: Span) {
        if let Some(around) = self.around.last() {
            let report = Diagnostic::new(
                "E0862",
                at,
                "not all blocks of a cluster may come to this multicast",
            )
            .label("the first loads for all, and each waits")
            .also(head(*around, at), "this differs between them")
            .help("move it out, or remove `.multicast`");
            self.found.push(report);
            return;
        }
        for view in [&copy.source, &copy.dest] {
            if let Some(name) = self.view_differs(view) {
                let report = Diagnostic::new(
                    "E0862",
                    view.span,
                    format!("{name} differs between the blocks of a cluster"),
                )
                .label("the first loads this tile for all of them")
                .help("let the tile depend on the cluster alone, or remove `.multicast`");
                self.found.push(report);
                return;
            }
        }
    }

    /// What of a tile's place differs.
    fn view_differs(&mut self, view: &View) -> Option<String> {
        let origin = view.frame.iter().flat_map(|f| &f.origin);
        let places: Vec<Sym> = origin.chain([&view.offset]).cloned().collect();
        let place = places.into_iter().find(|place| self.sym_differs(place))?;
        let blocks = self.blocks.clone();
        let vars = place.vars();
        let var = vars
            .iter()
            .find(|v| blocks.iter().any(|(b, _)| b == *v) || self.is_one_that_differs(**v));
        let name = var.map(|v| format!("`{}`", self.function.cx.name(*v)));
        Some(name.unwrap_or_else(|| "the tile".to_owned()))
    }
}

/// The part of a statement before another one inside.
fn head(around: Span, inside: Span) -> Span {
    Span {
        end: inside.start.max(around.start),
        ..around
    }
}
