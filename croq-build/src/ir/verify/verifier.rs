//! The state of the verifier: the scope at the current statement, and the first violation.

use std::collections::BTreeSet;

use super::super::*;
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
    pub of_host: Option<&'a BTreeSet<LocalId>>,
    pub kernel: Option<KernelId>,
    pub level: Level,
    pub loops: usize,
    /// The statement that is being verified, after the statements around it, outermost first.
    pub current: Vec<&'a Stmt<P>>,
    pub found: Option<Violation>,
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
            loops: 0,
            current: Vec::new(),
            found: None,
        }
    }

    pub fn fail(&mut self, what: impl FnOnce() -> String) {
        if self.found.is_some() {
            return;
        }
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
            what: what(),
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

    /// Removes from the scope all locals after the first `before`.
    pub fn leave(&mut self, before: usize) {
        for id in self.scope.drain(before..) {
            if let Some(declared) = self.declared.get_mut(id.index()) {
                *declared = false;
            }
        }
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

    pub fn buffer(&mut self, id: BufferId) {
        let exists = id.index() < self.function.buffers.len();
        self.require(exists, || format!("buffer {} does not exist", id.0));
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
