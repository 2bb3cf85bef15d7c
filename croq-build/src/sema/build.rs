//! Statements and locals of the function under construction.

use crate::ir::{self, BufferId, Level, LocalId, Role, Scalar, Stmt, StmtKind};
use crate::sema::levels::uniformity;
use crate::sema::state::elab::Elab;
use crate::source::Span;
use crate::symbolic::{Sym, Var};

pub(crate) fn emit(el: &mut Elab<'_>, kind: StmtKind, span: Span) {
    if let StmtKind::Let {
        local,
        value: Some(e),
    }
    | StmtKind::Assign { local, value: e } = &kind
    {
        let level = uniformity::finest(el, e).max(el.path.divergence());
        if level > Level::Block {
            el.build.vary(*local, level);
        }
    }
    note_place(el, &kind);
    emit_at(el, el.build.sinks.len(), kind, span);
}

/// The same at the end of one of the statement lists under construction, which are counted from the
/// outermost on. Not for declarations of locals.
pub(crate) fn emit_at(el: &mut Elab<'_>, list: usize, kind: StmtKind, span: Span) {
    if let (StmtKind::Alloc(id), 1) = (&kind, list) {
        el.storage.of_the_call.insert(*id);
    }
    if let Some(sink) = el.build.sinks.get_mut(list.wrapping_sub(1)) {
        sink.push(Stmt::new(kind, span));
    }
}

/// Records where a local is declared and assigned.
fn note_place(el: &mut Elab<'_>, kind: &StmtKind) {
    let (local, value) = match kind {
        StmtKind::Let { local, value } => {
            el.build.declared_at.insert(*local, el.path.depth());
            (*local, value.as_ref())
        }
        StmtKind::Assign { local, value } => (*local, Some(value)),
        _ => return,
    };
    if el.kernel.is_none() {
        return;
    }
    let declared = el.build.declared_at.get(&local).copied();
    let around = el.path.unevenness(declared.unwrap_or(0));
    let of_value = value.map(|value| uniformity::note_reads(el, value));
    let level = around.max(of_value.unwrap_or(Level::Block));
    if level > Level::Block {
        let known = el.build.uneven.entry(local).or_insert(level);
        *known = level.max(*known);
    }
}

/// Runs `body` with a fresh statement list, and returns what it emitted.
pub(crate) fn collect<R>(
    el: &mut Elab<'_>,
    body: impl FnOnce(&mut Elab<'_>) -> R,
) -> (R, Vec<Stmt>) {
    el.build.sinks.push(Vec::new());
    let result = body(el);
    let stmts = el.build.sinks.pop().unwrap_or_default();
    (result, stmts)
}

/// The name of the function's next kernel: `scale_0`, unless it has another meaning in C++.
pub(crate) fn kernel_name(el: &Elab<'_>) -> String {
    let number = el.f.kernels.len();
    let plain = format!("{}_{number}", el.f.name);
    let mut name = ir::cpp_names::spelt(&plain);
    let declared = |name: &String| el.cx.file.device.iter().any(|d| d.names.contains(name));
    if name == plain && !declared(&name) {
        return plain;
    }
    // No kernel whose name is kept ends like this.
    let mut siblings = el.cx.siblings.functions.iter();
    let function = siblings.position(|f| f.name.text == el.f.name);
    name = format!("{name}k{}", function.unwrap_or(0));
    while declared(&name) {
        name.push('_');
    }
    name
}

pub(crate) fn new_local(
    func: &mut ir::Function,
    name: &str,
    ty: Scalar,
    mutable: bool,
    role: Role,
    span: Span,
) -> LocalId {
    let id = LocalId(u32::try_from(func.locals.len()).unwrap_or(u32::MAX));
    func.locals.push(ir::Local {
        name: name.to_owned(),
        ty,
        mutable,
        var: None,
        role,
        span,
    });
    id
}

/// A new symbolic variable for the value of a local.
pub(crate) fn local_var(
    func: &mut ir::Function,
    local: LocalId,
    lo: Option<Sym>,
    hi: Option<Sym>,
) -> Var {
    let name = func.local(local).name.clone();
    let var = func.cx.new_var(&name, lo, hi);
    if let Some(local) = func.locals.get_mut(local.index()) {
        local.var = Some(var);
    }
    func.var_home.insert(var, ir::VarHome::Local(local));
    var
}

pub(crate) fn splice(el: &mut Elab<'_>, stmts: Vec<Stmt>) {
    if let Some(sink) = el.build.sinks.last_mut() {
        sink.extend(stmts);
    }
}

/// The parameters of a new buffer, with `copies` times the elements of its shape.
pub(crate) struct NewBuffer<'n> {
    pub name: &'n str,
    pub elem: Scalar,
    pub storage: ir::Storage,
    pub shape: Vec<Sym>,
    pub copies: Sym,
    pub span: Span,
}

pub(crate) fn new_buffer(func: &mut ir::Function, new: NewBuffer<'_>) -> BufferId {
    let NewBuffer {
        name,
        elem,
        storage,
        shape,
        copies,
        span,
    } = new;
    let count = shape
        .iter()
        .fold(copies, |product, extent| &product * extent);
    func.add_buffer(ir::Buffer {
        name: name.to_owned(),
        elem,
        storage,
        shape,
        count,
        span,
        read: false,
        written: false,
        swizzle: None,
        swaps: false,
    })
}
