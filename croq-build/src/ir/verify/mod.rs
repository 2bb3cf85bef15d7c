//! The verifier: what every function must satisfy between any two passes. A violation is an error of the
//! compiler, never of the program; the driver reports it as such (E1199).
//!
//! * Ids are in range, and statements of the host and of kernels stand where they belong.
//! * A local is declared before it is used, in a block around the use. Symbolic variables have a home, and one
//!   that lives in a local is subject to the same rule.
//! * A view has as many strides and bounds as axes; an access as many indices as its view has axes.
//! * Conditions are `bool`; both sides of an assignment, a store or an operator have one type.
//! * Levels do not get coarser inside each other; `break` and `continue` stand in a loop.
//! * A copy's future, an event or a fragment belongs to the function, and an event to the kernel that uses it.

use std::collections::BTreeSet;

use super::*;
use crate::source::Span;
use crate::symbolic::Sym;

mod expr;
mod stmt;
#[cfg(test)]
mod tests;

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

/// Checks the whole function.
///
/// # Errors
///
/// With the first violation.
pub fn function<P: Phase>(function: &Function<P>) -> Result<(), Violation> {
    let mut verifier = Verifier::new(function);
    verifier.declarations();
    verifier.block(&function.body);
    verifier.found.map_or(Ok(()), Err)?;
    let host = host_locals(function);
    (0..function.kernels.len()).try_for_each(|at| {
        kernel(
            function,
            KernelId(u32::try_from(at).unwrap_or(u32::MAX)),
            &host,
        )
    })
}

/// Locals of the host, all of which kernels may use.
pub fn host_locals<P: Phase>(function: &Function<P>) -> BTreeSet<LocalId> {
    let mut locals = BTreeSet::new();
    declared_locals(&function.body, &mut locals);
    locals
}

/// Checks one kernel, after a pass over it; `host` are the [`host_locals`], which such passes leave as they are.
///
/// # Errors
///
/// With the first violation.
pub fn kernel<P: Phase>(
    function: &Function<P>,
    id: KernelId,
    host: &BTreeSet<LocalId>,
) -> Result<(), Violation> {
    let mut verifier = Verifier::new(function);
    verifier.of_host = Some(host);
    verifier.kernel(id);
    verifier.found.map_or(Ok(()), Err)
}

struct Verifier<'a, P: Phase> {
    function: &'a Function<P>,
    /// Which locals are in scope, by id.
    declared: Vec<bool>,
    /// Those that came into scope, in order: what a block declared leaves with it.
    scope: Vec<LocalId>,
    /// In a kernel: locals of the host, which are its arguments.
    of_host: Option<&'a BTreeSet<LocalId>>,
    kernel: Option<KernelId>,
    level: Level,
    loops: usize,
    /// The statement that is looked at, from outer to inner.
    current: Vec<&'a Stmt<P>>,
    found: Option<Violation>,
}

impl<'a, P: Phase> Verifier<'a, P> {
    fn new(function: &'a Function<P>) -> Self {
        Self {
            function,
            declared: vec![false; function.locals.len()],
            scope: Vec::new(),
            of_host: None,
            kernel: None,
            level: Level::Block,
            loops: 0,
            current: Vec::new(),
            found: None,
        }
    }

    fn fail(&mut self, what: impl FnOnce() -> String) {
        if self.found.is_some() {
            return;
        }
        let kernel = self
            .kernel
            .and_then(|id| self.function.kernels.get(id.index()));
        let stmt = self.current.last().map(|stmt| {
            // The head alone: bodies can be long.
            let text = super::fmt::stmt(self.function, stmt);
            text.lines().next().unwrap_or_default().to_owned()
        });
        self.found = Some(Violation {
            kernel: kernel.map(|kernel| kernel.name.clone()),
            what: what(),
            stmt: stmt.unwrap_or_default(),
            span: self.current.last().map_or_else(Span::default, |s| s.span),
        });
    }

    fn require(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what);
        }
    }

    fn declarations(&mut self) {
        let function = self.function;
        let buffers = function.buffers.len();
        for event in &function.events {
            self.require(event.barriers.index() < buffers, || {
                format!("event `{}` has no mbarriers", event.name)
            });
            self.require(event.kernel < function.kernels.len(), || {
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

    fn kernel(&mut self, id: KernelId) {
        let Some(kernel) = self.function.kernels.get(id.index()) else {
            return;
        };
        self.kernel = Some(id);
        self.level = Level::Block;
        for sym in kernel
            .grid
            .iter()
            .chain([&kernel.threads, &kernel.shared_bytes])
        {
            self.sym(sym);
        }
        for placed in &kernel.shared {
            self.buffer(placed.buffer);
            self.sym(&placed.offset);
        }
        for map in &kernel.maps {
            self.buffer(map.buffer);
            let rank = map.extents.len();
            let same = map.strides.len() == rank && map.extent_of_box.len() == rank;
            self.require(same, || "a tensor map's lists differ in length".to_owned());
        }
        self.block(&kernel.body);
        self.kernel = None;
    }

    /// Declarations in it end with it.
    fn block(&mut self, stmts: &'a [Stmt<P>]) {
        let before = self.scope.len();
        self.open_block(stmts);
        self.leave(before);
    }

    /// Takes out of scope what came into it after there were `before`.
    fn leave(&mut self, before: usize) {
        for id in self.scope.drain(before..) {
            if let Some(declared) = self.declared.get_mut(id.index()) {
                *declared = false;
            }
        }
    }

    fn open_block(&mut self, stmts: &'a [Stmt<P>]) {
        for stmt in stmts {
            if self.found.is_some() {
                return;
            }
            self.current.push(stmt);
            self.stmt(stmt);
            self.current.pop();
        }
    }

    fn declare(&mut self, id: LocalId) {
        match self.declared.get_mut(id.index()) {
            Some(declared) => {
                if !std::mem::replace(declared, true) {
                    self.scope.push(id);
                }
            }
            None => self.fail(|| format!("local {} does not exist", id.0)),
        }
    }

    fn local(&mut self, id: LocalId) {
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

    fn buffer(&mut self, id: BufferId) {
        let exists = id.index() < self.function.buffers.len();
        self.require(exists, || format!("buffer {} does not exist", id.0));
    }

    fn sym(&mut self, sym: &Sym) {
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
