//! Declarations and uses of names.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::scopes::{Binding, Entity, IntKind};
use crate::source::Span;
use crate::syntax::ast;

/// The entity of a name; reports a name that is not declared.
pub(crate) fn lookup(el: &mut Elab<'_>, name: &str, span: Span) -> Option<Entity> {
    if let Some(binding) = el.names.read(name, span) {
        let (entity, declared, number) = (binding.entity.clone(), binding.span, binding.number);
        if el.names.stale.remove(&number) {
            let text = format!("`{name}` is a view of data that was exchanged since");
            let d = Diagnostic::new(codes::E0846, span, text)
                .label("of which memory?")
                .also(declared, "named here, before the exchange");
            el.cx
                .report(d.help("name the view again behind the exchange"));
        }
        return Some(entity);
    }
    el.cx.names_missed += 1;
    if el.cx.is_of_broken_header(name) {
        return None;
    }
    let mut d;
    if let Some(declared) = el.names.upcoming.iter().rev().find_map(|s| s.get(name)) {
        d = Diagnostic::new(
            codes::E0202,
            span,
            format!("`{name}` is used before its declaration"),
        )
        .label("not declared yet")
        .also(*declared, "declared only here")
        .help("move the declaration up");
    } else if let Some((declared, kind)) = el.names.ended.get(name).copied() {
        d = Diagnostic::new(
            codes::E0211,
            span,
            format!("`{name}` is used after its scope ended"),
        )
        .label("not visible here")
        .also(
            declared,
            format!("{kind}, visible only inside the block it is declared in"),
        );
    } else {
        d = undeclared(el, name, span)?;
        if let Some(help) = index_of_cuda(el, name) {
            d = d.help(help);
        } else if name == "range" {
            d = d.help("a loop over 0 to n - 1 is written `foreach i in [n]`");
        } else if name == "not" {
            d = d.help("`!` negates a condition");
        } else if let Some(help) = crate::sema::names::builtins::other_form(name) {
            d = d.help(help);
        } else if let Some(meant) = crate::sema::names::builtins::intended_function(name) {
            d = d.help(format!("the function is `{meant}` here"));
        } else if !el.cx.diags.is_full()
            && let Some(near) = el.names.nearest(name)
        {
            d = d.help(format!("did you mean `{near}`?"));
        }
    }
    el.cx.report(d);
    None
}

/// A report on a name that is not declared, unless there is one already.
pub(crate) fn undeclared(el: &mut Elab<'_>, name: &str, span: Span) -> Option<Diagnostic> {
    let is_new = el.cx.undeclared.insert(name.to_owned());
    let report = || Diagnostic::new(codes::E0201, span, format!("`{name}` is not declared"));
    is_new.then(|| report().label("nothing of this name is visible here"))
}

/// The level of a `parallel`'s variable.
fn level_of_index(el: &Elab<'_>, entity: &Entity) -> Option<ir::Level> {
    let Entity::Int { value, .. } = entity else {
        return None;
    };
    let ir::VarHome::Local(id) = el.f.var_home.get(&value.value.as_var()?)? else {
        return None;
    };
    match el.f.local(*id).role {
        ir::Role::Parallel(level) => Some(level),
        _ => None,
    }
}

/// The name of the first variable of the innermost `parallel` at this level.
pub(crate) fn index_at(el: &Elab<'_>, level: ir::Level) -> Option<String> {
    let mut found: Option<(usize, String)> = None;
    for (depth, scope) in el.names.stack.iter().enumerate() {
        for binding in &scope.bindings {
            let deeper = found.as_ref().is_none_or(|(known, _)| *known < depth);
            if deeper && level_of_index(el, &binding.entity) == Some(level) {
                found = Some((depth, binding.name.clone()));
            }
        }
    }
    found.map(|(_, name)| name)
}

/// What a name of CUDA's for an index or a number of threads is here.
fn index_of_cuda(el: &Elab<'_>, name: &str) -> Option<String> {
    let of_blocks = match name.split('.').next()? {
        "warpSize" => return Some(size_of_warp(el)),
        "threadIdx" | "blockDim" => false,
        "blockIdx" | "gridDim" => true,
        _ => return None,
    };
    let is_number = name.starts_with("blockDim") || name.starts_with("gridDim");
    let written = |name: &str| match is_number {
        true => format!("`#{name}`"),
        false => format!("`{name}`"),
    };
    if matches!(
        name,
        "gridDim.y" | "gridDim.z" | "blockDim.y" | "blockDim.z"
    ) && !has_several_indices(el, of_blocks)
    {
        return Some("a level with one index has no other axis: the number is 1".to_owned());
    }
    let axis = match name.rsplit('.').next()? {
        "y" => 1,
        "z" => 2,
        _ => 0,
    };
    if axis > 0 && !is_number {
        return Some(index_of_axis(el, name, of_blocks, axis));
    }
    let mut found: Vec<String> = Vec::new();
    for binding in el.names.visible() {
        let Some(level) = level_of_index(el, &binding.entity) else {
            continue;
        };
        if is_distributed(el, &binding.entity) {
            return Some(format!(
                "`{}` counts over all blocks and their threads: use it instead",
                binding.name
            ));
        }
        if of_blocks == (level <= ir::Level::Block) {
            found.push(written(&binding.name));
        }
    }
    Some(match (found.as_slice(), of_blocks) {
        ([], true) => "name the index of a block: `parallel b by n : block`".to_owned(),
        ([], false) => "name the index of a thread: `parallel t by n : thread`".to_owned(),
        (found, _) => format!("the `parallel`s around call that {}", found.join(", ")),
    })
}

/// Help for `threadIdx.y` and the like: the index of that axis.
fn index_of_axis(el: &Elab<'_>, name: &str, of_blocks: bool, axis: usize) -> String {
    let level = match of_blocks {
        true => ir::Level::Block,
        false => ir::Level::Thread,
    };
    let found = indices_of(el, level);
    // The first index is the least significant, as x is.
    match (found.get(axis), of_blocks) {
        (Some(index), _) => format!("the `parallel`s around call that {index}"),
        (None, true) if found.is_empty() => {
            "name the indices of a block: `parallel {bx, by, bz} by [l, m, n] : block`".to_owned()
        }
        (None, false) if found.is_empty() => {
            "name the indices of a thread: `parallel {x, y, z} by [l, m, n] : thread`".to_owned()
        }
        (None, _) => format!(
            "`{name}` is 0 here: the `parallel`s around have only {}",
            found.join(", ")
        ),
    }
}

/// The indices of all `parallel`s around at this level, outermost first.
fn indices_of(el: &Elab<'_>, level: ir::Level) -> Vec<String> {
    let scopes = el.names.stack.iter().flat_map(|scope| &scope.bindings);
    let of_level = scopes.filter(|b| level_of_index(el, &b.entity) == Some(level));
    of_level.map(|b| format!("`{}`", b.name)).collect()
}

/// Help for `warpSize`, with the lane of the thread.
fn size_of_warp(el: &Elab<'_>) -> String {
    let size = "a warp has 32 threads: write `32`";
    match indices_of(el, ir::Level::Thread).as_slice() {
        [thread] => {
            let name = thread.trim_matches('`');
            format!("{size}; the lane of thread {thread} is `{name} % 32`")
        }
        _ => size.to_owned(),
    }
}

/// Whether it is an index of the threads of all blocks.
fn is_distributed(el: &Elab<'_>, entity: &Entity) -> bool {
    let Entity::Int { value, .. } = entity else {
        return false;
    };
    let Some(v) = value.value.as_var() else {
        return false;
    };
    let in_block = el
        .kernel
        .as_ref()
        .is_none_or(|k| k.threads.indices.contains_key(&v));
    level_of_index(el, entity) == Some(ir::Level::Thread) && !in_block
}

/// Whether a level of blocks, or of threads, has more than one index.
fn has_several_indices(el: &Elab<'_>, of_blocks: bool) -> bool {
    let visible = el.names.visible();
    let levels = visible.filter_map(|binding| level_of_index(el, &binding.entity));
    let own = levels.filter(|level| of_blocks == (*level <= ir::Level::Block));
    own.count() > 1
}

/// Whether a parameter is used for its extents.
fn sizes_used(func: &ir::Function, b: &Binding, used: &[&str]) -> bool {
    let Entity::Buffer { id, .. } = &b.entity else {
        return false;
    };
    b.is_param
        && func.dims.iter().any(|d| {
            let own = matches!(
                func.buffer(*id).storage,
                crate::ir::Storage::Param(p) if p == d.param
            );
            own && used.contains(&d.name.as_str())
        })
}

/// Runs `body` in a scope of names of its own, and reports what nothing has used of them.
pub(crate) fn reported<R>(el: &mut Elab<'_>, body: impl FnOnce(&mut Elab<'_>) -> R) -> R {
    let (result, ended) = el.scope(body);
    report_unused(el, ended);
    result
}

/// The same as part of a construct.
pub(crate) fn within<R>(
    el: &mut Elab<'_>,
    frame: Frame,
    body: impl FnOnce(&mut Elab<'_>) -> R,
) -> R {
    el.within(frame, |el| reported(el, body))
}

pub(crate) fn report_unused(el: &mut Elab<'_>, bindings: Vec<Binding>) {
    let dims: Vec<&str> = bindings
        .iter()
        .filter(|b| b.used)
        .map(|b| b.name.as_str())
        .collect();
    for b in &bindings {
        let mentioned = b.used || el.cx.untaken.contains(b.name.as_str());
        if mentioned || b.name.starts_with('_') || sizes_used(&el.f, b, &dims) {
            continue;
        }
        let (code, message) = match (&b.entity, b.is_param) {
            (Entity::Poison | Entity::View(_) | Entity::Future(_) | Entity::Chosen(_), false) => {
                continue;
            }
            (
                Entity::Int {
                    kind: IntKind::Dim | IntKind::Parallel,
                    ..
                },
                _,
            ) => continue,
            (
                Entity::Tuple {
                    kind: IntKind::Parallel,
                    ..
                },
                _,
            ) => continue,
            (Entity::Range(_) | Entity::RangeTuple(_), _) => continue,
            (_, true) => (
                codes::W0214,
                format!("the parameter `{}` is never used", b.name),
            ),
            (Entity::Buffer { .. }, _) => (
                codes::W0210,
                format!("the buffer `{}` is never used", b.name),
            ),
            (Entity::Event(_) | Entity::Flag(_) | Entity::Signal(_), _) => (
                codes::W0210,
                format!("the event `{}` is never used", b.name),
            ),
            _ => (codes::W0209, format!("`{}` is never read", b.name)),
        };
        let (label, help) = match b.entity {
            Entity::Stream(_) => (
                "launches are on the default stream unless they name another",
                format!(
                    "launch on it, `parallel<{}> … : block`, or remove it",
                    b.name
                ),
            ),
            _ => ("unused", format!("remove it, or call it `_{}`", b.name)),
        };
        el.cx.report(
            Diagnostic::new(code, b.span, message)
                .label(label)
                .help(help)
                .of_the_whole(),
        );
    }
}

/// Whether it is an index of a level or of a loop, which `_` leaves without a name.
fn is_index(entity: &Entity) -> bool {
    matches!(
        entity,
        Entity::Range(_)
            | Entity::RangeTuple(_)
            | Entity::Int {
                kind: IntKind::Parallel,
                ..
            }
            | Entity::Tuple {
                kind: IntKind::Parallel,
                ..
            }
    )
}

pub(crate) fn declare(el: &mut Elab<'_>, name: &ast::Name, entity: Entity) {
    if name.is_wildcard() {
        if is_index(&entity) {
            return;
        }
        el.cx.report(
            Diagnostic::new(
                codes::E0127,
                name.span,
                "`_` can't be the name of a variable",
            )
            .label("a wildcard, not a name")
            .help("`_` is only for tiling arguments: `x.chunkat(p, _)`"),
        );
        return;
    }
    let is_dim = |e: &Entity| {
        matches!(
            e,
            Entity::Int {
                kind: IntKind::Dim,
                ..
            }
        )
    };
    let earlier = el.names.innermost(&name.text);
    // A dimension that is also a parameter is another error, which is reported elsewhere.
    let clash = earlier.is_some_and(|e| {
        let other = if is_dim(e) { &entity } else { e };
        is_dim(e) != is_dim(&entity) && is_parameter(&el.f, other)
    });
    // Which of the two was intended is unknown, so uses of the name are not reported.
    let entity = if earlier.is_some() {
        Entity::Poison
    } else {
        entity
    };
    let on_host = el.kernel.is_none();
    let first = el.names.declare(name, entity, on_host);
    if let Some(first) = first.filter(|_| !clash) {
        el.cx.report(
            Diagnostic::new(
                codes::E0302,
                name.span,
                format!("`{}` is declared twice in this scope", name.text),
            )
            .label("declared again here")
            .also(first, "first declared here")
            .help("give one of them another name"),
        );
    }
}

/// Whether an entity is a parameter, as far as its declaration was understood.
fn is_parameter(func: &ir::Function, entity: &Entity) -> bool {
    match entity {
        Entity::Int { kind, .. } => *kind == IntKind::Param,
        Entity::Buffer { id, .. } => {
            let buffer = func.buffers.get(id.index());
            buffer.is_some_and(|b| matches!(b.storage, crate::ir::Storage::Param(_)))
        }
        Entity::ScalarParam { .. } | Entity::Stream(_) | Entity::Poison => true,
        _ => false,
    }
}
