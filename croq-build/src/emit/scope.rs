//! The names in one generated C++ function: the user's own names, changed where they are reserved,
//! and made unique where scopes nest.

use std::cell::Cell;

use super::scalar;
use crate::ir::threads::{Function, Stmt, StmtKind};
use crate::ir::{BufferId, DimId, LocalId, ParamId, Scalar, SignalAt, Storage, VarHome, any_stmt};
use crate::passes::analysis::unproven::Unproven;
use crate::passes::analysis::uses::Uses;
use crate::sorted::{SortedMap, SortedSet};
use crate::symbolic::{Atom, Var};

pub struct Names<'a> {
    pub function: &'a Function,
    locals: SortedMap<LocalId, String>,
    buffers: SortedMap<BufferId, String>,
    params: SortedMap<ParamId, String>,
    dims: SortedMap<DimId, String>,
    /// The pointers with the names of the buffers that the user's C++ mentions.
    pointers: SortedMap<BufferId, String>,
    /// The launch's context, and the barrier of the grid.
    pub context: String,
    pub together: String,
    /// The names of the kernel's tensor maps, in order.
    maps: Vec<String>,
    /// The host's copies of buffers.
    mirrors: SortedMap<BufferId, String>,
    /// In a kernel, of those that the launch may wait for.
    signals: SortedMap<SignalAt, String>,
    /// The open scopes, outermost first. Disjoint scopes may use the same name.
    scopes: Vec<Scope>,
    /// Variables of loops that are unrolled completely: constants for C++ compilers.
    unrolled: SortedSet<LocalId>,
    /// Buffers and variables that may be unwritten, in a kernel.
    pub unproven: Unproven,
    /// A symbolic expression is used as a value, not as an address or an extent.
    as_value: Cell<bool>,
    /// Symbolic integers are printed as `croq::exact`, whose operations detect overflow.
    pub exact: Cell<bool>,
}

/// A scope of C++.
struct Scope {
    /// For each name, the variable that has it, if it is a variable of the program or of a pass.
    names: SortedMap<String, Option<LocalId>>,
    /// The variables that are used in it; `None` if any may be.
    mentioned: Option<SortedSet<LocalId>>,
}

impl Scope {
    fn with(reserved: &[&str]) -> Self {
        let names = reserved.iter().map(|&name| (name.to_owned(), None));
        Self {
            names: names.collect(),
            mentioned: None,
        }
    }

    fn mentions(&self, id: LocalId) -> bool {
        let mentioned = self.mentioned.as_ref();
        mentioned.is_none_or(|mentioned| mentioned.contains(&id))
    }
}

impl<'a> Names<'a> {
    /// `reserved` are names that the generated function itself uses.
    pub fn new(function: &'a Function, reserved: &[&str]) -> Self {
        Self {
            function,
            locals: SortedMap::new(),
            buffers: SortedMap::new(),
            params: SortedMap::new(),
            dims: SortedMap::new(),
            pointers: SortedMap::new(),
            context: String::new(),
            together: String::new(),
            maps: Vec::new(),
            mirrors: SortedMap::new(),
            signals: SortedMap::new(),
            scopes: vec![Scope::with(reserved)],
            unrolled: SortedSet::new(),
            unproven: Unproven::default(),
            as_value: Cell::new(false),
            exact: Cell::new(false),
        }
    }

    /// Enters the scope of these statements.
    pub fn enter(&mut self, stmts: &[Stmt]) {
        let mut mentioned = Uses::of_block(self.function, stmts).locals;
        any_stmt(stmts, |stmt| {
            if let StmtKind::Assign { local, .. } = &stmt.kind {
                mentioned.insert(*local);
            }
            false
        });
        self.scopes.push(Scope {
            names: SortedMap::new(),
            mentioned: Some(mentioned),
        });
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    /// A name like `wanted` that is not taken here.
    pub fn fresh(&mut self, wanted: &str) -> String {
        self.declare(wanted, None, 0)
    }

    pub fn declare_local(&mut self, id: LocalId) -> String {
        self.declare_hiding(id, 1)
    }

    /// The variable of the `for` whose scope has just been entered. It also hides no variable that
    /// is used in the enclosing block, because nvcc would warn about the scoping rules before
    /// C++98.
    pub fn declare_loop_variable(&mut self, id: LocalId) -> String {
        self.declare_hiding(id, 2)
    }

    fn declare_hiding(&mut self, id: LocalId, scopes: usize) -> String {
        let wanted = self
            .function
            .locals
            .get(id.index())
            .map_or("value", |l| l.name.as_str());
        let name = self.declare(wanted, Some(id), scopes);
        self.locals.insert(id, name.clone());
        name
    }

    fn declare(&mut self, wanted: &str, local: Option<LocalId>, scopes: usize) -> String {
        let base = super::names::cpp(wanted);
        let mut name = base.clone();
        let mut suffix = 2;
        while self.is_taken(&name, scopes) {
            name = format!("{base}_{suffix}");
            suffix += 1;
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.clone(), local);
        }
        name
    }

    /// Whether a name is taken here. A variable may hide one of an outer scope that is not used in
    /// the innermost `scopes`; if `scopes` is 0, it hides none.
    fn is_taken(&self, name: &str, scopes: usize) -> bool {
        let Some((here, around)) = self.scopes.split_last() else {
            return false;
        };
        let appears = |id: LocalId| {
            let mut inner = self.scopes.iter().rev().take(scopes);
            scopes == 0 || inner.any(|scope| scope.mentions(id))
        };
        let hides = |scope: &Scope| match scope.names.get(name) {
            Some(outer) => outer.is_none_or(appears),
            None => false,
        };
        here.names.contains_key(name) || around.iter().any(hides)
    }

    pub fn unroll(&mut self, id: LocalId) {
        self.unrolled.insert(id);
    }

    pub fn is_unrolled(&self, atom: &Atom) -> bool {
        let Atom::Var(var) = atom else {
            return false;
        };
        let home = self.function.var_home.get(var);
        matches!(home, Some(VarHome::Local(id)) if self.unrolled.contains(id))
    }

    pub fn declare_buffer(&mut self, id: BufferId) -> String {
        let wanted = self
            .function
            .buffers
            .get(id.index())
            .map_or("buffer", |b| b.name.as_str());
        let name = self.fresh(wanted);
        self.buffers.insert(id, name.clone());
        name
    }

    /// Declares the host's copy of a buffer, which loads and stores of elements access.
    pub fn declare_mirror(&mut self, id: BufferId) -> String {
        let name = self.fresh(&format!("{}_on_host", self.buffer(id)));
        self.mirrors.insert(id, name.clone());
        name
    }

    pub fn mirror(&self, id: BufferId) -> Option<&str> {
        self.mirrors.get(&id).map(String::as_str)
    }

    /// What loads and stores of elements access.
    pub fn accessed(&self, id: BufferId) -> &str {
        self.mirror(id).unwrap_or_else(|| self.buffer(id))
    }

    /// Whether other threads may replace elements in the byte of one that is accessed.
    pub fn is_swapped(&self, id: BufferId) -> bool {
        let buffer = self.function.buffers.get(id.index());
        buffer.is_some_and(|b| b.swaps) && self.mirror(id).is_none()
    }

    /// The handle of a buffer whose source name is needed for another declaration.
    pub fn declare_buffer_as(&mut self, id: BufferId, wanted: &str) -> String {
        let name = self.fresh(wanted);
        self.buffers.insert(id, name.clone());
        name
    }

    /// The pointer through which the user's C++ accesses a buffer.
    pub fn declare_pointer(&mut self, id: BufferId, wanted: &str) -> String {
        let name = self.fresh(wanted);
        self.pointers.insert(id, name.clone());
        name
    }

    pub fn pointer_of(&self, id: BufferId) -> Option<&str> {
        self.pointers.get(&id).map(String::as_str)
    }

    /// Parameters and dimensions whose names in the function differ from the user's.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        let params = self.params.iter().filter_map(|(id, spelt)| {
            let param = self.function.params.get(id.index())?;
            Some((param.name.as_str(), spelt.as_str()))
        });
        let dims = self.dims.iter().filter_map(|(id, spelt)| {
            let dim = self.function.dims.get(id.index())?;
            Some((dim.name.as_str(), spelt.as_str()))
        });
        dims.chain(params).filter(|(name, spelt)| name != spelt)
    }

    pub fn declare_param(&mut self, id: ParamId) -> String {
        let wanted = self
            .function
            .params
            .get(id.index())
            .map_or("arg", |p| p.name.as_str());
        let name = self.fresh(wanted);
        self.params.insert(id, name.clone());
        name
    }

    pub fn declare_dim(&mut self, id: DimId) -> String {
        let wanted = self
            .function
            .dims
            .get(id.index())
            .map_or("dim", |d| d.name.as_str());
        let name = self.fresh(wanted);
        self.dims.insert(id, name.clone());
        name
    }

    pub fn declare_signal(&mut self, at: SignalAt) -> String {
        let name = self.fresh(&self.function.signal(at.signal).name);
        self.signals.insert(at, name.clone());
        name
    }

    pub fn signal(&self, at: &SignalAt) -> &str {
        self.signals
            .get(at)
            .map_or("undeclared_event", String::as_str)
    }

    pub fn declare_map(&mut self, wanted: &str) -> String {
        let name = self.fresh(wanted);
        self.maps.push(name.clone());
        name
    }

    pub fn map(&self, at: usize) -> &str {
        self.maps.get(at).map_or("undeclared_map", String::as_str)
    }

    pub fn local(&self, id: LocalId) -> &str {
        self.locals
            .get(&id)
            .map_or("undeclared_local", String::as_str)
    }

    pub fn buffer(&self, id: BufferId) -> &str {
        self.buffers
            .get(&id)
            .map_or("undeclared_buffer", String::as_str)
    }

    pub fn param(&self, id: ParamId) -> &str {
        self.params
            .get(&id)
            .map_or("undeclared_param", String::as_str)
    }

    pub fn dim(&self, id: DimId) -> &str {
        self.dims.get(&id).map_or("undeclared_dim", String::as_str)
    }

    pub fn is_dim(&self, var: Var) -> bool {
        matches!(self.function.var_home.get(&var), Some(VarHome::Dim(_)))
    }

    /// A symbolic variable's name and type, if it is a user's variable and not an index.
    pub fn typed_variable(&self, var: Var) -> Option<(String, Scalar)> {
        let (name, ty) = match self.function.var_home.get(&var)? {
            VarHome::Dim(_) => return None,
            VarHome::Param(id) => {
                let param = self.function.params.get(id.index())?;
                (self.param(*id), scalar::of_param(param)?)
            }
            VarHome::Local(id) => (self.local(*id), self.function.locals.get(id.index())?.ty),
        };
        let name = self.marked(var).unwrap_or_else(|| name.to_owned());
        (ty != Scalar::Index).then_some((name, ty))
    }

    /// Calls `print` with symbolic expressions as values.
    pub fn as_value<T>(&self, print: impl FnOnce() -> T) -> T {
        let before = self.as_value.replace(true);
        let printed = print();
        self.as_value.set(before);
        printed
    }

    /// The shared buffers with marks, in the order of their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = BufferId> + '_ {
        let shared = |id: &BufferId| {
            let buffer = self.function.buffers.get(id.index());
            buffer.is_some_and(|b| b.storage == Storage::Shared)
        };
        self.unproven.buffers.iter().copied().filter(shared)
    }

    /// The value of a variable that may be unwritten.
    pub fn local_value(&self, id: LocalId) -> String {
        let name = self.local(id);
        match self.unproven.locals.contains(&id) {
            true => format!("croq::value_of({name})"),
            false => name.to_owned(),
        }
    }

    /// The value of a variable that may be unwritten, as part of an address: it must be written.
    fn marked(&self, var: Var) -> Option<String> {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) if self.unproven.locals.contains(id) => {
                Some(match self.as_value.get() {
                    true => self.local_value(*id),
                    false => format!("croq::written({}, croq::in_address)", self.local(*id)),
                })
            }
            _ => None,
        }
    }

    /// A symbolic variable's value as `croq::idx`, or as `croq::exact`.
    pub fn var_name(&self, var: Var) -> String {
        let (name, ty) = match self.function.var_home.get(&var) {
            Some(VarHome::Dim(id)) => {
                let name = self.dims.get(id).map_or("undeclared_dim", String::as_str);
                (name, Scalar::Index)
            }
            Some(VarHome::Param(id)) => {
                let ty = self
                    .function
                    .params
                    .get(id.index())
                    .and_then(scalar::of_param);
                (self.param(*id), ty.unwrap_or(Scalar::Index))
            }
            Some(VarHome::Local(id)) => {
                let ty = self.function.locals.get(id.index()).map(|l| l.ty);
                (self.local(*id), ty.unwrap_or(Scalar::Index))
            }
            None => ("unbound_variable", Scalar::Index),
        };
        let marked = self.marked(var);
        let name = marked.as_deref().unwrap_or(name);
        // Arithmetic on indices must not be done in a narrower type.
        match ty {
            _ if self.exact.get() => format!("croq::exact({name})"),
            Scalar::Index | Scalar::S64 => name.to_owned(),
            _ => format!("croq::idx({name})"),
        }
    }
}
