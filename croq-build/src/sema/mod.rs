//! Names, types, shapes, storage and levels: turns the tree of each `__co__` function into the
//! kernel IR, and reports everything that is wrong with it.
//!
//! One walk does both, because most checks need the symbolic facts (loop bounds, path conditions)
//! that hold just there. What a stage to the right may rely on: every expression is typed, every
//! conversion explicit, every index either proven inside its extent or preceded by a
//! [`StmtKind::Check`](crate::ir::StmtKind::Check), every copy's shapes agreed. A function with an
//! error yields no IR.
//!
//! An entity that is already in error is *poisoned*: whatever depends on it stays silent.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::ir::{self, Level, LocalId, Role, Scalar, Stmt, StmtKind};
use crate::source::{SourceFile, Span};
use crate::symbolic::{Ctx, Sym, Var};
use crate::syntax::ast;

mod access;
mod arith;
mod assign;
mod atomics;
mod bounds;
mod boxes;
mod buffers;
mod call;
mod checks;
mod choice;
mod clusters;
mod control;
mod convert;
mod copy;
mod copy_levels;
mod copy_overlap;
mod copy_shapes;
mod data;
mod decl;
mod device_calls;
mod events;
mod exchange;
mod expr;
mod flags;
mod futures;
mod guards;
mod hiding;
mod in_flight;
mod integers;
mod levels;
mod loops;
mod mma;
mod operators;
mod overlap;
mod parallel;
mod params;
mod pools;
mod races;
mod ranges;
mod registers;
mod returns;
mod scalars;
mod scope;
mod shape;
mod signals;
mod sparse;
mod stmt;
mod suspicions;
mod swizzles;
#[cfg(test)]
pub mod testing;
mod tiles;
mod tma;
mod units;
mod unsupported;
mod value;
mod view;
mod windows;

/// The instructions of tensor cores that kernels are made of.
pub mod instructions {
    pub use super::mma::{Typed, of_warpgroups, of_warps};
}

use scope::{Entity, Scopes};
use value::IntValue;

/// What the checks need to know about the targets.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What the kernels are built for; empty is anything.
    pub targets: Vec<Target>,
    /// The last sub-level of threads and groups is the fastest, not the first.
    pub last_is_fastest: bool,
    /// A failed check is recorded, and the kernel goes on: what it was made for is guarded.
    pub reports: bool,
}

#[derive(Clone, Debug)]
pub struct Target {
    /// `sm_90a`
    pub name: String,
    /// `90`
    pub number: u16,
}

/// Checks every function of a file. Only functions without an error come back.
pub fn check(
    file: &SourceFile,
    functions: &[ast::Function],
    options: &Options,
    diags: &mut Diagnostics,
) -> Vec<ir::Function> {
    let mut done = Vec::new();
    let siblings: Vec<String> = functions.iter().map(|f| f.name.text.clone()).collect();
    let mut names: BTreeMap<&str, Span> = BTreeMap::new();
    for function in functions {
        if let Some(first) = names.get(function.name.text.as_str()) {
            diags.push(
                Diagnostic::new(
                    "E0213",
                    function.name.span,
                    format!(
                        "the function `{}` is defined twice in this file",
                        function.name.text
                    ),
                )
                .label("second definition")
                .also(*first, "first definition")
                .help("Rust has no overloads: give one of them another name"),
            );
            continue;
        }
        names.insert(&function.name.text, function.name.span);
        let faults: Vec<Span> = diags
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| d.primary.span)
            .filter(|at| touch(*at, function.span))
            .collect();
        let mut own = Diagnostics::new();
        let result =
            Checker::new(file, function, options, &siblings, &faults, &mut own).function(function);
        let failed = own.has_errors();
        let broken = failed || !faults.is_empty();
        for d in own.into_sorted() {
            // What did not parse is told already, and what follows from a part that is missing is
            // no news.
            let told = faults.iter().any(|at| touch(*at, d.primary.span));
            let follows = broken && rests_on_the_whole(d.code);
            if !told && !follows {
                diags.push(d);
            }
        }
        if !failed {
            done.push(result);
        }
    }
    done
}

fn touch(a: Span, b: Span) -> bool {
    a.start <= b.end && b.start <= a.end
}

/// Whether a finding speaks of the function as a whole: it may be wrong when a part is in error.
fn rests_on_the_whole(code: &str) -> bool {
    matches!(
        code,
        "W0209" | "W0210" | "W0214" | "W0523" | "W0558" | "W0620" | "W0621"
    )
}

/// What a kernel under construction is known to be.
struct KernelState {
    /// Threads of a block, once an inner level fixed them.
    threads: Option<Sym>,
    /// Where they were fixed, for the disagreement of siblings.
    threads_at: Span,
    /// The level that statements here run at.
    level: Level,
    /// All blocks are resident at the same time.
    cooperative: bool,
    /// Blocks of a cluster along x, y, z.
    cluster: [u32; 3],
    /// Where in it a block is.
    places: [Option<Var>; 3],
    /// The blocks along x, y, z, once their level was reached, and their indices.
    grid: Option<[Sym; 3]>,
    blocks: [Option<Var>; 3],
    /// The linear thread id, once some slice or predicate needed it.
    tid: Option<Var>,
    tid_local: Option<LocalId>,
    /// Locals from here on belong to the kernel, and below its block level.
    first_local: usize,
    first_inner_local: usize,
    /// For each index variable below block level: how it follows from the linear thread id.
    homes: BTreeMap<Var, ThreadIndex>,
    /// Inside `inthreads`: how deep.
    regions: u32,
    /// Of each `inthreads` around, outermost first: who comes there, as far as that is known.
    sets: Vec<Option<ir::ThreadSet>>,
    /// Their spans.
    regions_at: Vec<Span>,
    /// `if`s on a thread-dependent condition around here.
    divergent: u32,
    /// Span of the launch, for messages.
    header: Span,
    yielded: Option<Span>,
    /// What may keep the call from coming to the launch, of `Checker::uncertain`.
    uncertain: u32,
    /// How often it waits for each event of the host so far.
    awaited: BTreeMap<ir::SignalId, u32>,
}

/// `tid / divisor % modulus` (no modulus: the last component).
#[derive(Clone, Debug)]
struct ThreadIndex {
    divisor: Sym,
    modulus: Option<Sym>,
}

struct Checker<'a> {
    file: &'a SourceFile,
    options: &'a Options,
    /// Every `__co__` function of the file.
    siblings: &'a [String],
    /// Where the function did not parse.
    faults: &'a [Span],
    diags: &'a mut Diagnostics,
    f: ir::Function,
    scopes: Scopes,
    /// Names that the statements still to come in each open list declare.
    upcoming: Vec<BTreeMap<String, Span>>,
    /// Statement lists under construction, innermost last.
    sinks: Vec<Vec<Stmt>>,
    kernel: Option<KernelState>,
    /// Current value and bound of every `with` range.
    ranges: Vec<IntValue>,
    range_names: Vec<String>,
    /// Checks over dimensions and parameters alone: they come before anything else.
    entry: Vec<Stmt>,
    check_rows: BTreeMap<(&'static str, String, Span), u32>,
    seen_checks: BTreeSet<(String, u32)>,
    /// Variables whose value depends on data: elements, calls, what changes.
    from_data: BTreeSet<Var>,
    /// Checks of tile numbers with such variables in them.
    by_data: Vec<(ir::CheckId, Sym)>,
    /// Locals whose value may differ between threads of a block.
    varying: BTreeSet<LocalId>,
    /// Kernels of which it was said that not all targets have them.
    older_left_out: BTreeSet<Span>,
    /// What was reported as not supported.
    unsupported: BTreeSet<String>,
    /// Buffers that element stores and copies write, and where first.
    stored: BTreeMap<ir::BufferId, Span>,
    returned: BTreeSet<ir::BufferId>,
    /// Of the access at hand: what its checks ask for, where they don't end the launch.
    guards: Vec<ir::Expr>,
    loops: u32,
    /// Loops around the `parallel` or `inthreads` that this is in.
    loops_apart: u32,
    /// Conditions that restrict which instances come here (`if`, `while`, a split's guard).
    conditional: u32,
    /// What may keep a call from coming here at all: conditions, loops of perhaps no turns, and what
    /// leaves early. Host code and kernels alike.
    uncertain: u32,
    /// Shared buffers that a copy may leave partly as they were, and where.
    cut_off: BTreeMap<ir::BufferId, Span>,
    /// Inside a branch that is never taken: a proven violation there is none.
    dead: u32,
    /// Inside a condition that may well be true always: an `assert`'s, an `inthreads`'.
    asserting: bool,
    /// In an extent, a bound or another number of things.
    counting: bool,
    /// In the value of a `return`.
    returning: bool,
    /// Inside the outer of two merged thread levels.
    merging: bool,
    /// Levels of the `parallel`s still to come in each open body, last first.
    children: Vec<Vec<levels::Node>>,
    /// The shape that a bare `(i)` is an element of, inside a derivation.
    derive: Option<value::Derive>,
    returns: Vec<(Span, ReturnShape)>,
    ret: ast::RetType,
    poison_returns: bool,
    events: events::Known,
    flags: Vec<flags::Flag>,
    /// By `ir::FutureId`.
    futures: Vec<futures::Future>,
    /// Names of futures that are exchanged, each with the number of its group.
    exchanged: BTreeMap<String, usize>,
    pools: pools::Pools,
    swizzles: swizzles::Swizzles,
    spreads: mma::Spreads,
    /// Where the swizzle of a buffer was decided.
    swizzle_at: BTreeMap<ir::BufferId, Span>,
    /// The tile that a placeholder's handle starts with.
    first_tiles: BTreeMap<LocalId, Sym>,
}

#[derive(Clone, PartialEq)]
enum ReturnShape {
    Nothing,
    Scalar(Scalar),
    Tensor(Scalar, Vec<Sym>),
}

impl<'a> Checker<'a> {
    fn new(
        file: &'a SourceFile,
        function: &ast::Function,
        options: &'a Options,
        siblings: &'a [String],
        faults: &'a [Span],
        diags: &'a mut Diagnostics,
    ) -> Self {
        Self {
            file,
            options,
            siblings,
            faults,
            diags,
            f: ir::Function {
                name: function.name.text.clone(),
                span: function.span,
                cx: Ctx::new(),
                var_home: BTreeMap::new(),
                params: Vec::new(),
                dims: Vec::new(),
                ret: ir::Return::Void,
                buffers: Vec::new(),
                locals: Vec::new(),
                kernels: Vec::new(),
                body: Vec::new(),
                checks: Vec::new(),
                futures: Vec::new(),
                events: Vec::new(),
                signals: Vec::new(),
                fragments: BTreeMap::new(),
                reports: options.reports,
            },
            scopes: Scopes::new(),
            upcoming: Vec::new(),
            sinks: vec![Vec::new()],
            kernel: None,
            ranges: Vec::new(),
            range_names: Vec::new(),
            check_rows: BTreeMap::new(),
            entry: Vec::new(),
            seen_checks: BTreeSet::new(),
            from_data: BTreeSet::new(),
            by_data: Vec::new(),
            varying: BTreeSet::new(),
            older_left_out: BTreeSet::new(),
            unsupported: BTreeSet::new(),
            stored: BTreeMap::new(),
            returned: BTreeSet::new(),
            guards: Vec::new(),
            loops: 0,
            loops_apart: 0,
            conditional: 0,
            uncertain: 0,
            cut_off: BTreeMap::new(),
            dead: 0,
            asserting: false,
            counting: false,
            returning: false,
            merging: false,
            children: Vec::new(),
            derive: None,
            returns: Vec::new(),
            ret: function.ret.clone(),
            poison_returns: false,
            events: events::Known::default(),
            flags: Vec::new(),
            futures: Vec::new(),
            exchanged: futures::exchanged(&function.body),
            pools: pools::Pools::default(),
            swizzles: swizzles::Swizzles::default(),
            spreads: mma::Spreads::default(),
            swizzle_at: BTreeMap::new(),
            first_tiles: BTreeMap::new(),
        }
    }

    fn function(mut self, function: &ast::Function) -> ir::Function {
        self.params(function);
        self.statements(&function.body);
        self.finish_returns(function);
        self.never_written();
        self.lost_writes();
        self.unbound_futures();
        self.flags_of_one_side();
        self.products_not_waited_for();
        self.report_hidings();
        let unused = self.scopes.pop();
        self.report_unused(unused);
        self.spread_fragments();
        self.decide_swizzles();
        let mut body = self.sinks.pop().unwrap_or_default();
        self.settle_tile_numbers(&mut body);
        self.f.body = std::mem::take(&mut self.entry);
        self.f.body.extend(body);
        self.rings_of_boxes();
        self.resolve_pools();
        self.bind_copies();
        self.swizzled_uses();
        self.swizzled_boxes();
        if !self.diags.has_errors() {
            self.follow_copies();
            self.find_races();
        }
        self.f
    }

    fn report(&mut self, d: Diagnostic) {
        self.diags.push(d);
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::new(code, span, message));
    }

    fn emit(&mut self, kind: StmtKind, span: Span) {
        if let StmtKind::Let {
            local,
            value: Some(e),
        }
        | StmtKind::Assign { local, value: e } = &kind
        {
            let divergent = self.kernel.as_ref().is_some_and(|k| k.divergent > 0);
            if divergent || self.varies_in_block(e) {
                self.varying.insert(*local);
            }
        }
        if let Some(sink) = self.sinks.last_mut() {
            sink.push(Stmt::new(kind, span));
        }
    }

    /// Runs `body` with a fresh statement list, and returns what it emitted.
    fn collect<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (R, Vec<Stmt>) {
        self.sinks.push(Vec::new());
        let result = body(self);
        let stmts = self.sinks.pop().unwrap_or_default();
        (result, stmts)
    }

    /// The execution level here; `None` on the host.
    fn level(&self) -> Option<Level> {
        self.kernel.as_ref().map(|k| k.level)
    }

    /// The name of the function's next kernel: `scale_0`, unless that means something else in C++.
    fn kernel_name(&self) -> String {
        let number = self.f.kernels.len();
        let plain = format!("{}_{number}", self.f.name);
        let mut name = ir::cpp_names::spelt(&plain);
        let declared = |name: &String| self.file.device.iter().any(|d| d.names.contains(name));
        if name == plain && !declared(&name) {
            return plain;
        }
        // No kernel that keeps its name ends like this.
        let function = self.siblings.iter().position(|f| *f == self.f.name);
        name = format!("{name}k{}", function.unwrap_or(0));
        while declared(&name) {
            name.push('_');
        }
        name
    }

    fn new_local(
        &mut self,
        name: &str,
        ty: Scalar,
        mutable: bool,
        role: Role,
        span: Span,
    ) -> LocalId {
        let id = LocalId(u32::try_from(self.f.locals.len()).unwrap_or(u32::MAX));
        self.f.locals.push(ir::Local {
            name: name.to_owned(),
            ty,
            mutable,
            var: None,
            role,
            span,
        });
        id
    }

    /// A new symbolic variable that a local holds.
    fn local_var(&mut self, local: LocalId, lo: Option<Sym>, hi: Option<Sym>) -> Var {
        let name = self.f.locals[local.index()].name.clone();
        let var = self.f.cx.new_var(&name, lo, hi);
        self.f.locals[local.index()].var = Some(var);
        self.f.var_home.insert(var, ir::VarHome::Local(local));
        var
    }

    fn declare(&mut self, name: &ast::Name, entity: Entity) {
        if name.is_wildcard() {
            self.report(
                Diagnostic::new("E0127", name.span, "`_` can't be the name of a variable")
                    .label("a wildcard, not a name")
                    .help("`_` is only for tiling arguments: `x.chunkat(p, _)`"),
            );
            return;
        }
        let is_dim = |e: &Entity| {
            matches!(
                e,
                Entity::Int {
                    kind: scope::IntKind::Dim,
                    ..
                }
            )
        };
        let earlier = self.scopes.innermost(&name.text);
        // A dimension that is a parameter as well is another mistake, told elsewhere.
        let clash = earlier.is_some_and(|e| {
            let other = if is_dim(e) { &entity } else { e };
            is_dim(e) != is_dim(&entity) && self.is_parameter(other)
        });
        // Which of two was meant is unknown: what uses the name stays silent.
        let entity = if earlier.is_some() {
            Entity::Poison
        } else {
            entity
        };
        let on_host = self.kernel.is_none();
        let first = self.scopes.declare(name, entity, on_host);
        if let Some(first) = first.filter(|_| !clash) {
            self.report(
                Diagnostic::new(
                    "E0302",
                    name.span,
                    format!("`{}` is declared twice in this scope", name.text),
                )
                .label("declared again here")
                .also(first, "first declared here")
                .help("give one of them another name"),
            );
        }
    }

    /// What a parameter's name stands for, as far as that was understood.
    fn is_parameter(&self, entity: &Entity) -> bool {
        match entity {
            Entity::Int { kind, .. } => *kind == scope::IntKind::Param,
            Entity::Buffer { id, .. } => {
                let buffer = self.f.buffers.get(id.index());
                buffer.is_some_and(|b| matches!(b.storage, ir::Storage::Param(_)))
            }
            Entity::ScalarParam { .. } | Entity::Stream(_) | Entity::Poison => true,
            _ => false,
        }
    }

    fn show(&self, s: &Sym) -> String {
        self.f.cx.show(s)
    }

    fn show_shape(&self, shape: &[Sym]) -> String {
        let parts: Vec<String> = shape.iter().map(|s| self.show(s)).collect();
        format!("[{}]", parts.join(", "))
    }
}
