//! `swap` and `rotate` on the host: names exchange the device memory that they stand for.
//!
//! In the launch shim a buffer is a handle, and an exchange moves handles. Two buffers never share
//! memory, before and after it, so the analyses of kernels stay as they are.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{BufferId, StmtKind, Storage};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::values::shape;
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::syntax::ast::Name;

/// `swap(a, b);`, `rotate(a, b, c);`
pub(crate) fn lower(el: &mut Elab<'_>, names: &[Name], span: Span) {
    let mut buffers: Vec<(BufferId, &Name)> = Vec::new();
    for name in names {
        let Some(id) = buffer_of(el, name) else {
            return;
        };
        if buffers.iter().any(|(other, _)| *other == id) {
            let text = format!("`{}` is exchanged with itself", name.text);
            let d = Diagnostic::new(codes::E0846, name.span, text).label("named twice");
            return el.cx.report(d);
        }
        buffers.push((id, name));
    }
    if !check_alike(el, &buffers) || !check_views(el, &buffers) {
        return;
    }
    let ids: SortedSet<BufferId> = buffers.iter().map(|(id, _)| *id).collect();
    el.storage.exchange(ids);
    let ids = buffers.into_iter().map(|(id, _)| id).collect();
    build::emit(el, StmtKind::Exchange(ids), span);
}

/// The memory that a name stands for as a whole.
fn buffer_of(el: &mut Elab<'_>, name: &Name) -> Option<BufferId> {
    match scope::lookup(el, &name.text, name.span)? {
        Entity::Buffer { id, array } if array.is_empty() => {
            if el.storage.pools.parts.0.contains_key(&id) {
                let what = "exchanging a buffer that `select` chooses";
                unsupported::report(&mut el.cx, name.span, what);
                return None;
            }
            check_own(el, name)?;
            Some(id)
        }
        Entity::Future(id) => {
            let Value::Data(data) = futures::value_of(el, id, name.span) else {
                return None;
            };
            let buffer = data.view.buffer;
            let mut visible = el.names.visible();
            let named =
                visible.any(|b| matches!(&b.entity, Entity::Buffer { id, .. } if *id == buffer));
            let fresh = el.f.buffer(buffer).storage == Storage::Host && !named;
            if !fresh {
                let text = format!("`{}` names a tile of other data", name.text);
                let d = Diagnostic::new(codes::E0846, name.span, text)
                    .label("has no memory of its own")
                    .help("exchange the buffers, or copy `=> global`");
                el.cx.report(d);
                return None;
            }
            Some(buffer)
        }
        Entity::Poison => None,
        other => {
            let kind = other.kind();
            let text = format!(
                "the host exchanges buffers and data futures, `{}` is {kind}",
                name.text
            );
            let d = Diagnostic::new(codes::E0846, name.span, text).label("can't be exchanged");
            el.cx
                .report(d.help("exchange whole buffers of one type and shape"));
            None
        }
    }
}

/// A function whose body is lowered at a call must not change what the caller's names stand for.
fn check_own(el: &mut Elab<'_>, name: &Name) -> Option<()> {
    let is_param = el.names.find(&name.text).is_some_and(|b| b.is_param);
    if el.calls.open.is_empty() || !is_param {
        return Some(());
    }
    let what = "exchanging a parameter that is the caller's memory, in a function that is called";
    let remedy = "pass it by value, or exchange buffers of the function";
    unsupported::report_with_remedy(&mut el.cx, name.span, what, Some(remedy));
    None
}

fn check_alike(el: &mut Elab<'_>, buffers: &[(BufferId, &Name)]) -> bool {
    let Some(((first, name), rest)) = buffers.split_first() else {
        return false;
    };
    let of = el.f.buffer(*first).clone();
    for (id, other) in rest {
        let buffer = el.f.buffer(*id).clone();
        let extents = of.shape.iter().zip(&buffer.shape);
        let same = of.elem == buffer.elem
            && of.shape.len() == buffer.shape.len()
            && extents.fold(true, |same, (a, b)| same && el.f.cx.eq(a, b).is_yes());
        if same {
            continue;
        }
        let shown = |b: &crate::ir::Buffer| format!("{} {}", b.elem, shape::show(&el.f, &b.shape));
        let (one, two) = (shown(&of), shown(&buffer));
        let text = format!(
            "`{}` and `{}` are of different types",
            name.text, other.text
        );
        let d = Diagnostic::new(codes::E0846, other.span, text)
            .label("can't be exchanged")
            .also(of.span, one)
            .also(buffer.span, two)
            .help("exchanged data agrees in element type and shape");
        el.cx.report(d);
        return false;
    }
    true
}

/// A view with a name stays a view of the memory that its data had; the shim has only the handle. So
/// it cannot be read behind the exchange, nor before it in a loop around both. The same holds for the
/// future of a copy into a buffer that has a name of its own.
fn check_views(el: &mut Elab<'_>, buffers: &[(BufferId, &Name)]) -> bool {
    let loops = &el.names.walk.loops;
    let visible = el.names.visible();
    let names: SortedSet<BufferId> = visible
        .filter_map(|binding| match &binding.entity {
            Entity::Buffer { id, .. } => Some(*id),
            _ => None,
        })
        .collect();
    let mut read_again = None;
    let mut stale = Vec::new();
    for binding in el.names.visible() {
        let data = match &binding.entity {
            Entity::View(data) | Entity::Chosen(data) => Some(data),
            Entity::Future(id) => futures::get(el, *id).and_then(|f| f.data.as_ref()),
            _ => None,
        };
        let buffer = data.map(|data| data.view.buffer);
        let own = matches!(&binding.entity, Entity::Future(_))
            && !buffer.is_some_and(|buffer| names.contains(&buffer));
        if own || !buffers.iter().any(|(id, _)| Some(*id) == buffer) {
            continue;
        }
        let began = loops.get(binding.uses.loops);
        let read = binding.uses.last_read;
        match began.zip(read).filter(|(began, (when, _))| when > began) {
            Some((_, (_, read))) => {
                read_again.get_or_insert((binding.name.clone(), binding.span, read));
            }
            None => stale.push(binding.number),
        }
    }
    el.names.stale.extend(stale);
    let Some((view, at, read)) = read_again else {
        return true;
    };
    let Some((_, name)) = buffers.first() else {
        return false;
    };
    let text = format!("`{view}` is a view of data that this loop exchanges");
    let d = Diagnostic::new(codes::E0846, name.span, text)
        .label("exchanged here")
        .also(at, "named before the loop")
        .also(read, "of which memory, in the next iteration?")
        .help("name the view inside the loop");
    el.cx.report(d);
    false
}
