//! The state of the verifier: the scope at the current statement, and the first violation.

use super::super::*;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

/// The first violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The kernel; `None` on the host.
    pub kernel: Option<String>,
    pub what: String,
    /// The statement, in the textual form.
    pub stmt: String,
    pub span: Span,
}

pub struct Verifier<'a, P: Phase> {
    pub function: &'a Function<P>,
    /// For each local, by id, whether it is in scope.
    pub declared: Vec<bool>,
    /// The locals in scope in order of declaration, to remove those of a block at its end.
    pub scope: Vec<LocalId>,
    /// In a kernel: the locals of the host, which are the kernel's arguments.
    pub of_host: Option<&'a SortedSet<LocalId>>,
    pub kernel: Option<KernelId>,
    pub level: Level,
    /// The warp or warpgroup that the threads of the level fill, or otherwise the level.
    pub unit: Level,
    /// Whether only one thread of a unit executes the statement.
    pub alone: bool,
    pub loops: usize,
    /// The buffers that a statement of the kernel allocates, and those of them that are in scope.
    pub allocated: SortedSet<BufferId>,
    pub in_scope: Vec<BufferId>,
    /// The copies with futures that have begun before this statement, or in a loop around it.
    pub begun: Begun,
    /// The statement that is being verified, after the statements around it, outermost first.
    pub current: Vec<&'a Stmt<P>>,
    pub found: Option<Violation>,
}

/// Copies in flight, and exchanged futures, which wait for each other's copies.
#[derive(Default)]
pub struct Begun {
    pub futures: SortedSet<FutureId>,
    pub buffers: SortedSet<BufferId>,
    /// Futures that statements of the kernel exchange.
    pub exchanged: SortedSet<FutureId>,
}

/// The extent of the scope at a position.
#[derive(Clone, Copy)]
pub struct Entered {
    locals: usize,
    buffers: usize,
}

impl<'a, P: Phase> Verifier<'a, P> {
    pub fn new(function: &'a Function<P>) -> Self {
        Self {
            function,
            declared: vec![false; function.locals.len()],
            scope: Vec::new(),
            of_host: None,
            kernel: None,
            level: Level::Block,
            unit: Level::Block,
            alone: false,
            loops: 0,
            allocated: SortedSet::new(),
            in_scope: Vec::new(),
            begun: Begun::default(),
            current: Vec::new(),
            found: None,
        }
    }

    pub fn fail(&mut self, what: impl FnOnce() -> String) {
        if self.found.is_none() {
            self.record(what());
        }
    }

    /// Not generic over the text: compiled once for each stage, not once for each call of `fail`.
    fn record(&mut self, what: String) {
        let kernel = self
            .kernel
            .and_then(|id| self.function.kernels.get(id.index()));
        let stmt = self.current.last().map(|stmt| {
            // Only the first line: bodies can be long.
            let text = super::super::fmt::stmt(self.function, stmt);
            text.lines().next().unwrap_or_default().to_owned()
        });
        self.found = Some(Violation {
            kernel: kernel.map(|kernel| kernel.name.clone()),
            what,
            stmt: stmt.unwrap_or_default(),
            span: self.current.last().map_or_else(Span::default, |s| s.span),
        });
    }

    pub fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what);
        }
    }

    pub fn declarations(&mut self) {
        let function = self.function;
        let buffers = function.buffers.len();
        for event in &function.events {
            self.require(event.barriers.index() < buffers, || {
                format!("event `{}` has no mbarriers", event.name)
            });
            let dropped = event.kernel == Event::NO_KERNEL;
            self.require(dropped || event.kernel < function.kernels.len(), || {
                format!("event `{}` is in no kernel", event.name)
            });
        }
        for id in function.fragments.keys() {
            let storage = function.buffers.get(id.index()).map(|b| b.storage);
            self.require(storage == Some(Storage::Fragment), || {
                format!(
                    "buffer {} is described as a fragment and is {storage:?}",
                    id.0
                )
            });
        }
        for (var, home) in &function.var_home {
            let exists = match home {
                VarHome::Dim(id) => id.index() < function.dims.len(),
                VarHome::Param(id) => id.index() < function.params.len(),
                VarHome::Local(id) => id.index() < function.locals.len(),
            };
            let name = function.cx.name(*var);
            self.require(exists, || {
                format!("variable `{name}` belongs to {home:?}, which does not exist")
            });
        }
    }

    /// The extent of the scope now.
    pub fn enter(&self) -> Entered {
        Entered {
            locals: self.scope.len(),
            buffers: self.in_scope.len(),
        }
    }

    /// Removes the declarations since `entered` from the scope.
    pub fn leave(&mut self, entered: Entered) {
        for id in self.scope.drain(entered.locals..) {
            if let Some(declared) = self.declared.get_mut(id.index()) {
                *declared = false;
            }
        }
        self.in_scope.truncate(entered.buffers);
    }

    pub fn declare(&mut self, id: LocalId) {
        match self.declared.get_mut(id.index()) {
            Some(declared) => {
                if !std::mem::replace(declared, true) {
                    self.scope.push(id);
                }
            }
            None => self.fail(|| format!("local {} does not exist", id.0)),
        }
    }

    pub fn local(&mut self, id: LocalId) {
        let function = self.function;
        match self.declared.get(id.index()) {
            None => self.fail(|| format!("local {} does not exist", id.0)),
            Some(false) if self.of_host.is_some_and(|host| host.contains(&id)) => {}
            Some(false) => self.fail(|| {
                let name = function.locals.get(id.index()).map(|l| l.name.as_str());
                format!(
                    "`{}` is used where it is not declared",
                    name.unwrap_or_default()
                )
            }),
            Some(true) => {}
        }
    }

    /// Verifies the id of a declared buffer.
    pub fn declared_buffer(&mut self, id: BufferId) {
        let exists = id.index() < self.function.buffers.len();
        self.require(exists, || format!("buffer {} does not exist", id.0));
    }

    /// Verifies a use of a buffer.
    pub fn buffer(&mut self, id: BufferId) {
        self.declared_buffer(id);
        let Some(buffer) = self.function.buffers.get(id.index()) else {
            return;
        };
        let reachable = self.kernel.is_some() || buffer.storage.is_global();
        self.require(reachable, || {
            format!("`{}` is memory of a kernel, used on the host", buffer.name)
        });
        let alive = !self.allocated.contains(&id) || self.in_scope.contains(&id);
        self.require(alive, || {
            format!("`{}` is used where it is not allocated", buffer.name)
        });
    }

    /// Records the copies in these statements as possibly in flight from here on.
    pub fn begin(&mut self, stmts: &[Stmt<P>]) {
        for stmt in stmts {
            if let StmtKind::Copy(copy) = &stmt.kind {
                self.begin_copy(P::only(copy));
            }
            stmt.kind.blocks().for_each(|block| self.begin(block));
        }
    }

    pub fn begin_copy(&mut self, copy: &Copy) {
        if let Some(future) = copy.future {
            let (pool, _) = self.function.facts.pools.find(copy.dest.buffer);
            self.begun.futures.insert(future);
            self.begun.buffers.insert(pool);
        }
    }

    /// Verifies a statement that the threads of a unit of this level execute together.
    pub fn collective(&mut self, unit: Level) {
        let alone = self.alone && unit != Level::Thread;
        self.require(!alone, || {
            format!("all threads of a unit ({unit:?}) execute it, and only one reaches it")
        });
    }

    pub fn sym(&mut self, sym: &Sym) {
        let function = self.function;
        for var in sym.vars() {
            match function.var_home.get(&var) {
                Some(VarHome::Local(id)) => self.local(*id),
                Some(_) => {}
                None => self.fail(|| {
                    let name = function.cx.name(var);
                    format!("variable `{name}` has no home at run time")
                }),
            }
        }
    }
}
