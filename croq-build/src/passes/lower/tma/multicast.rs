//! Multicast loads: each block of the cluster must reach the load, for the same tile.
//!
//! One block loads for all, or each a part, so the tile must not depend on the block's rank in its
//! cluster; and all blocks wait, so neither may the control flow that leads to the load. Values read
//! from device memory that the launch writes at the same time may differ between blocks.

use super::blocks::Blocks;
use super::shares;
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Copy, Engine, ExprKind, Function, KernelId, LocalId, Stmt, StmtKind, VarHome, View, Visit,
    walk_block,
};
use crate::passes::analysis::uniformity::memory::Changes;
use crate::passes::analysis::uniformity::{Split, Uniformity};
use crate::source::Span;
use crate::symbolic::Var;

pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    if !kernel.is_clustered() {
        return;
    }
    let changes = Changes::of(function, kernel);
    function.with_kernel_body(id, |function, body| {
        let blocks = Blocks::of(function, id, body, changes);
        let mut walk = Walk {
            function,
            body,
            uniformity: Uniformity::of(function, body, blocks),
            around: Vec::new(),
            exited: None,
            found: Vec::new(),
        };
        walk.block(body);
        let Walk {
            uniformity, found, ..
        } = walk;
        found.into_iter().for_each(|d| diags.push(d));
        shares::find(body, &uniformity);
    });
}

/// Reports multicasts in regions that complete no event: only some threads execute a region, so
/// only an event can determine when the tiles of all blocks are free.
pub fn check_regions(function: &Function, id: KernelId, diags: &mut Diagnostics) {
    if let Some(kernel) = function.kernels.get(id.index()) {
        in_regions(&kernel.body, false, diags);
    }
}

fn in_regions(stmts: &[Stmt], inside: bool, diags: &mut Diagnostics) {
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &stmt.kind
            && let Engine::Tma(tma) = &copy.engine
            && inside
            && tma.blocks > 1
            && tma.event.is_none()
        {
            diags.push(
                Diagnostic::new(
                    codes::E0099,
                    stmt.span,
                    "`.multicast` inside `inthreads` that completes no event is not supported yet",
                )
                .label("when is the tile of each block free?")
                .help("name the event: `tma.copy.async<full[s]>.multicast …`, and release the slot with `trigger.cluster`"),
            );
        }
        let region = matches!(stmt.kind, StmtKind::Region { .. });
        for block in stmt.kind.blocks() {
            in_regions(block, inside || region, diags);
        }
    }
}

struct Walk<'a, 'b> {
    function: &'a Function,
    body: &'b [Stmt],
    uniformity: Uniformity<'a, Blocks>,
    /// Enclosing conditions and loops that determine whether blocks reach this point, where these
    /// are divergent.
    around: Vec<(Span, Split)>,
    /// The statement at which some of the blocks' threads have exited.
    exited: Option<(Span, Split)>,
    found: Vec<Diagnostic>,
}

impl Walk<'_, '_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if matches!(stmt.kind, StmtKind::Yield) && !self.around.is_empty() {
                self.exited = Some((stmt.span, Split::Leaves(stmt.span)));
            }
            if let StmtKind::Copy(copy) = &stmt.kind
                && copy.engine.is_multicast()
            {
                self.copy(copy, stmt.span);
                continue;
            }
            let split = self.uniformity.split(stmt).map(|split| (stmt.span, split));
            self.around.extend(split);
            for block in stmt.kind.blocks() {
                self.block(block);
            }
            if split.is_some() {
                self.around.pop();
            }
        }
    }

    fn copy(&mut self, copy: &Copy, at: Span) {
        if let Some((around, split)) = self.around.last().or(self.exited.as_ref()) {
            let report = Diagnostic::new(
                codes::E0862,
                at,
                "some blocks of a cluster may not reach this multicast",
            )
            .label("they load the tile together, and each waits");
            let report = match split {
                Split::Condition => report.also(head(*around, at), "this differs between them"),
                Split::Leaves(leave) => report.also(*leave, "not all of them leave here"),
            };
            self.found
                .push(report.help("move it out, or remove `.multicast`"));
            return;
        }
        for view in [&copy.source, &copy.dest] {
            if let Some(name) = self.view_differs(view) {
                let report = Diagnostic::new(
                    codes::E0862,
                    view.span,
                    format!("{name} differs between the blocks of a cluster"),
                )
                .label("one tile is loaded for all of them")
                .help("let the tile depend on the cluster alone, or remove `.multicast`");
                self.found.push(report);
                return;
            }
        }
    }

    /// The part of a tile's place that is divergent.
    fn view_differs(&self, view: &View) -> Option<String> {
        let origin = view.frame.iter().flat_map(|f| &f.origin);
        let mut places = origin.chain([&view.offset]);
        let vars = places.find(|place| self.uniformity.sym(place))?.vars();
        let differs = |var: &Var| {
            let home = self.function.var_home.get(var);
            matches!(home, Some(VarHome::Local(id)) if self.uniformity.local(*id))
        };
        // A block's index may be divided by the cluster's size.
        let blocks = &self.uniformity.domain;
        let mut candidates = vars.iter().filter(|v| differs(v));
        let other = candidates.clone().find(|v| !blocks.is_index(**v));
        let name = other
            .or_else(|| candidates.next())
            .map(|v| format!("`{}`", self.name(*v)));
        Some(name.unwrap_or_else(|| "the tile".to_owned()))
    }

    /// The name for reports: if the variable holds a copy of another variable or of an element, the
    /// name of that variable or buffer.
    fn name(&self, var: Var) -> &str {
        struct Find<'f>(&'f Function, LocalId, Option<&'f str>);
        impl Visit for Find<'_> {
            fn stmt(&mut self, stmt: &Stmt) {
                if let StmtKind::Let {
                    local,
                    value: Some(value),
                } = &stmt.kind
                    && *local == self.1
                {
                    let mut value = value;
                    while let ExprKind::Cast(inner) = &*value.kind {
                        value = inner;
                    }
                    self.2 = match &*value.kind {
                        ExprKind::Local(id) => self.0.locals.get(id.index()).map(|l| &*l.name),
                        ExprKind::Load(access) => {
                            let buffer = self.0.buffers.get(access.view.buffer.index());
                            buffer.map(|b| &*b.name)
                        }
                        _ => None,
                    };
                }
            }
        }
        let home = self.function.var_home.get(&var);
        let taken = home.and_then(|home| match home {
            VarHome::Local(id) => {
                let mut find = Find(self.function, *id, None);
                walk_block(self.body, &mut find);
                find.2
            }
            _ => None,
        });
        taken.unwrap_or_else(|| self.function.cx.name(var))
    }
}

/// The part of a statement before another one inside.
fn head(around: Span, inside: Span) -> Span {
    Span {
        end: inside.start.max(around.start),
        ..around
    }
}
