//! Observability of the order of threads: by code that depends on the thread, and by values that a
//! thread keeps from one level to another.

use super::candidate::Candidate;
use crate::ir::{
    Access, BarrierScope, BufferId, Copy, Expr, ExprKind, Function, Level, LocalId, Role, Stmt,
    StmtKind, VarHome, View, Visit, any_in, any_stmt, walk_block, walk_exprs,
};
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::Sym;

/// Whether any code in the kernel may depend on the thread number, or on the lanes of a warp.
pub fn is_observed(body: &[Stmt]) -> bool {
    let is_observing = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Cpp { .. } | StmtKind::Mma(_));
    let observes = |e: &Expr| match &*e.kind {
        ExprKind::Call(_) => true,
        ExprKind::Intrinsic(of, _) => of.info().converges,
        _ => false,
    };
    any_in(body, is_observing, observes) || may_miss_threads(body)
}

/// Whether threads may exit and code outside of their own level follows, or the level is executed
/// again.
fn may_miss_threads(body: &[Stmt]) -> bool {
    let leaves = |body: &[Stmt]| {
        let mut all = Count::default();
        walk_block(body, &mut all);
        all.yields > 0
    };
    let only_names_before = |stmts: &[Stmt]| {
        let names = |s: &Stmt| matches!(s.kind, StmtKind::Let { .. });
        let level = |s: &Stmt| {
            let mut inside = Count::default();
            walk_block(std::slice::from_ref(s), &mut inside);
            matches!(s.kind, StmtKind::Parallel { .. }) && inside.levels == 1
        };
        let rest: Vec<&Stmt> = stmts.iter().filter(|s| !names(s)).collect();
        matches!(rest.as_slice(), [only] if level(only))
    };
    leaves(body) && !only_names_before(body)
}

#[derive(Default)]
struct Count {
    yields: usize,
    levels: usize,
}

impl Visit for Count {
    fn stmt(&mut self, stmt: &Stmt) {
        self.yields += usize::from(matches!(stmt.kind, StmtKind::Yield));
        self.levels += usize::from(matches!(stmt.kind, StmtKind::Parallel { .. }));
    }
}

/// Whether any code in the level's body can distinguish its threads, or concerns only those of a
/// warp.
pub fn is_observed_in(body: &[Stmt]) -> bool {
    let is_observing = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Print { .. } | StmtKind::Region { .. } | StmtKind::Parallel { .. } => true,
        StmtKind::WaitEvent(_) | StmtKind::Trigger(_) => true,
        StmtKind::Barrier { scope, .. } => {
            !matches!(scope, BarrierScope::Block | BarrierScope::Grid)
        }
        StmtKind::SingleThread { level, .. } => *level != Level::Thread,
        _ => false,
    };
    any_stmt(body, is_observing)
}

/// The levels, by number, in groups that must have the same order. A level whose order must not
/// change is in no group.
pub fn classes(function: &Function, body: &[Stmt], candidates: &[Candidate]) -> Vec<Vec<usize>> {
    let mut state = State::of(function, body);
    state.propagate();
    let of_site = |site: usize| candidates.iter().position(|c| c.site == site);
    // The class of each candidate, by its first member; `None`: its order remains.
    let mut class: Vec<Option<usize>> = (0..candidates.len()).map(Some).collect();
    let mut constraints: Vec<(Vec<usize>, bool)> = Vec::new();
    for kept in state.connected() {
        let uses: Vec<&Use> = kept
            .iter()
            .filter_map(|k| state.uses.get(k))
            .flatten()
            .collect();
        let sites: SortedSet<usize> = uses.iter().map(|u| u.site).collect();
        if sites.len() < 2 {
            continue;
        }
        let common_site = state.common_site(&sites);
        let levels: Vec<Option<usize>> = sites
            .iter()
            .filter(|s| **s != common_site)
            .map(|s| of_site(*s))
            .collect();
        let members: Vec<usize> = levels.iter().flatten().copied().collect();
        let around_is_alike = uses.iter().all(|u| u.site != common_site || u.alike);
        let first = members.first().and_then(|m| candidates.get(*m));
        let of_one_shape = members
            .iter()
            .filter_map(|m| candidates.get(*m))
            .all(|c| first.is_some_and(|f| f.has_shape_of(c)));
        let movable = levels.iter().all(Option::is_some) && around_is_alike && of_one_shape;
        constraints.push((members, movable));
    }
    // Classes grow until a fixpoint is reached; there are few.
    loop {
        let before = class.clone();
        for (members, movable) in &constraints {
            let of = |m: &usize| class.get(*m).copied().flatten();
            let stays = !movable || members.iter().any(|m| of(m).is_none());
            let least = members.iter().filter_map(of).min();
            for member in members {
                let old = of_member(&class, *member);
                let new = if stays { None } else { least };
                for c in &mut class {
                    if *c == old {
                        *c = new;
                    }
                }
            }
        }
        if class == before {
            break;
        }
    }
    let mut groups: SortedMap<usize, Vec<usize>> = SortedMap::new();
    for (at, class) in class.iter().enumerate() {
        if let Some(class) = class {
            groups.entry(*class).or_default().push(at);
        }
    }
    groups.into_values().collect()
}

fn of_member(class: &[Option<usize>], member: usize) -> Option<usize> {
    class.get(member).copied().flatten()
}

/// A variable or buffer that is private to each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kept {
    Local(LocalId),
    Buffer(BufferId),
}

struct Use {
    /// The innermost enclosing `parallel`; 0 is the block.
    site: usize,
    written: bool,
    /// Each thread does the same with its own.
    alike: bool,
}

struct State<'a> {
    function: &'a Function,
    uses: SortedMap<Kept, Vec<Use>>,
    /// Each written value with the values that it depends on.
    flows: Vec<(Kept, SortedSet<Kept>)>,
    varying: SortedSet<Kept>,
    /// The enclosing site of each site.
    parents: Vec<usize>,
}

/// The context of a statement.
#[derive(Clone)]
struct Here {
    site: usize,
    alike: bool,
    /// The values that determine whether it is executed.
    conditions: SortedSet<Kept>,
}

impl<'a> State<'a> {
    fn of(function: &'a Function, body: &[Stmt]) -> Self {
        let mut state = State {
            function,
            uses: SortedMap::new(),
            flows: Vec::new(),
            varying: SortedSet::new(),
            parents: vec![0],
        };
        let here = Here {
            site: 0,
            alike: true,
            conditions: SortedSet::new(),
        };
        state.block(body, &here);
        state
    }

    /// Collects the values that may differ between threads: those that one level writes and others
    /// use, and their dependents.
    fn propagate(&mut self) {
        for (kept, uses) in &self.uses {
            let sites = uses.iter().map(|u| u.site).collect();
            let common_site = self.common_site(&sites);
            if uses.iter().any(|u| u.written && u.site != common_site) {
                self.varying.insert(*kept);
            }
        }
        loop {
            let before = self.varying.len();
            for (target, sources) in &self.flows {
                if !sources.is_disjoint(&self.varying) {
                    self.varying.insert(*target);
                }
            }
            if self.varying.len() == before {
                return;
            }
        }
    }

    /// The varying values, in groups connected by dependence.
    fn connected(&self) -> Vec<SortedSet<Kept>> {
        let mut groups: Vec<SortedSet<Kept>> =
            self.varying.iter().map(|k| SortedSet::from([*k])).collect();
        for (target, sources) in &self.flows {
            let varying = |k: &&Kept| self.varying.contains(*k);
            let ends: SortedSet<Kept> = sources.iter().filter(varying).copied().collect();
            if ends.is_empty() {
                continue;
            }
            let mut joined = ends;
            joined.insert(*target);
            groups.retain(|group| {
                let disjoint = group.is_disjoint(&joined);
                if !disjoint {
                    joined.extend(group);
                }
                disjoint
            });
            groups.push(joined);
        }
        groups
    }

    /// The innermost site around all of these.
    fn common_site(&self, sites: &SortedSet<usize>) -> usize {
        let path = |site: usize| {
            let mut path = vec![site];
            let mut at = site;
            while at != 0 {
                at = self.parents.get(at).copied().unwrap_or(0);
                path.push(at);
            }
            path
        };
        let mut sites = sites.iter();
        let Some(first) = sites.next() else { return 0 };
        let rest: Vec<Vec<usize>> = sites.map(|s| path(*s)).collect();
        let encloses_all = |site: &usize| rest.iter().all(|path| path.contains(site));
        path(*first).into_iter().find(encloses_all).unwrap_or(0)
    }

    fn block(&mut self, stmts: &[Stmt], here: &Here) {
        for stmt in stmts {
            self.stmt(stmt, here);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, here: &Here) {
        match &stmt.kind {
            StmtKind::Parallel { body, .. } => {
                let site = self.parents.len();
                self.parents.push(here.site);
                let here = Here {
                    site,
                    alike: true,
                    ..here.clone()
                };
                self.block(body, &here);
            }
            StmtKind::SingleThread { level, body, .. } => {
                let mut inside = here.clone();
                inside.alike &= *level == Level::Thread;
                self.block(body, &inside);
            }
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                body,
                ..
            } => {
                let mut sources = Mentioned::new(self.function);
                [lo, hi, step].into_iter().for_each(|s| sources.sym(s));
                let inside = self.reads(sources.found, here);
                self.writes(Kept::Local(*local), &inside);
                self.block(body, &inside);
            }
            StmtKind::While {
                prelude,
                cond,
                body,
            } => {
                let inside = self.reads(mentioned(self.function, cond), here);
                self.block(prelude, &inside);
                self.block(body, &inside);
            }
            StmtKind::If {
                cond,
                then,
                otherwise,
            } => {
                let inside = self.reads(mentioned(self.function, cond), here);
                self.block(then, &inside);
                self.block(otherwise, &inside);
            }
            StmtKind::Region { pred, body, .. } => {
                let inside = self.reads(mentioned(self.function, pred), here);
                self.block(body, &inside);
            }
            _ => self.leaf(stmt, here),
        }
    }

    fn leaf(&mut self, stmt: &Stmt, here: &Here) {
        let mut mentioned = Mentioned::new(self.function);
        walk_block(std::slice::from_ref(stmt), &mut mentioned);
        let mut here = here.clone();
        let mut targets = Vec::new();
        match &stmt.kind {
            StmtKind::Let { local, .. } | StmtKind::Assign { local, .. } => {
                targets.push(Kept::Local(*local));
            }
            StmtKind::Atomic(atomic) => targets.extend(atomic.result.map(Kept::Local)),
            StmtKind::Store { access, .. } => targets.push(Kept::Buffer(access.view.buffer)),
            StmtKind::Copy(Copy { dest, level, .. }) => {
                here.alike &= *level == Level::Thread;
                targets.push(Kept::Buffer(dest.buffer));
            }
            StmtKind::Fill { view, level, .. } => {
                here.alike &= *level == Level::Thread;
                targets.push(Kept::Buffer(view.buffer));
            }
            _ => {}
        }
        let here = self.reads(mentioned.found, &here);
        for target in targets {
            self.writes(target, &here);
        }
    }

    /// Records the reads, and returns the context of statements that depend on them.
    fn reads(&mut self, sources: SortedSet<Kept>, here: &Here) -> Here {
        let mut inside = here.clone();
        for source in sources {
            if self.is_own(source) {
                self.note(source, here, false);
                inside.conditions.insert(source);
            }
        }
        inside
    }

    fn writes(&mut self, target: Kept, here: &Here) {
        if self.is_own(target) {
            self.note(target, here, true);
            self.flows.push((target, here.conditions.clone()));
        }
    }

    fn note(&mut self, kept: Kept, here: &Here, written: bool) {
        self.uses.entry(kept).or_default().push(Use {
            site: here.site,
            written,
            alike: here.alike,
        });
    }

    /// Indices follow from the order; shared and global memory are not private.
    fn is_own(&self, kept: Kept) -> bool {
        match kept {
            Kept::Local(id) => {
                let local = self.function.locals.get(id.index());
                local.is_some_and(|l| !matches!(l.role, Role::Parallel(_)))
            }
            Kept::Buffer(id) => {
                let buffer = self.function.buffers.get(id.index());
                buffer.is_some_and(|b| b.storage.is_private())
            }
        }
    }
}

struct Mentioned<'a> {
    function: &'a Function,
    found: SortedSet<Kept>,
}

impl<'a> Mentioned<'a> {
    fn new(function: &'a Function) -> Self {
        let found = SortedSet::new();
        Mentioned { function, found }
    }
}

impl Visit for Mentioned<'_> {
    fn expr(&mut self, e: &Expr) {
        if let ExprKind::Local(id) = &*e.kind {
            self.found.insert(Kept::Local(*id));
        }
    }

    fn sym(&mut self, sym: &Sym) {
        for var in sym.sorted_vars() {
            if let Some(VarHome::Local(id)) = self.function.var_home.get(var) {
                self.found.insert(Kept::Local(*id));
            }
        }
    }

    fn view(&mut self, view: &View) {
        self.found.insert(Kept::Buffer(view.buffer));
    }

    fn access(&mut self, access: &Access, _written: bool) {
        self.found.insert(Kept::Buffer(access.view.buffer));
    }
}

fn mentioned(function: &Function, e: &Expr) -> SortedSet<Kept> {
    let mut mentioned = Mentioned::new(function);
    walk_exprs(e, &mut mentioned);
    mentioned.found
}
