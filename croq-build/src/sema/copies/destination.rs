//! Destinations of copies that have no name but the future's.

use crate::diagnostics::{Diagnostic, codes, nearest};
use crate::ir::{self, BufferId, FutureId, Level, Stmt, StmtKind, Storage, Valid, VarHome, View};
use crate::sema::asynchronous::futures::{self, Bound};
use crate::sema::build;
use crate::sema::copies::legality;
use crate::sema::levels::{instances, uniformity};
use crate::sema::memory::whole::{self, dense_strides};
use crate::sema::memory::{buffers, local_sizes};
use crate::sema::names::scope;
use crate::sema::state::cx::source_text;
use crate::sema::state::elab::Elab;
use crate::sema::state::value::Data;
use crate::sema::values::shape;
use crate::source::Span;
use crate::symbolic::{Sym, Var};
use crate::syntax::ast::{self, CopyDest, CopyStmt};

/// Reports `=> share` where nothing is called that, but a storage nearly is.
pub(crate) fn is_misspelled_storage(el: &mut Elab<'_>, dest: &ast::Expr) -> bool {
    let ast::ExprKind::Name(name) = &*dest.kind else {
        return false;
    };
    let names = &el.names;
    let known = names.find(name).is_some()
        || names.ended.contains_key(name)
        || names.upcoming.iter().any(|scope| scope.contains_key(name));
    let Some(storage) = nearest(name, ["shared", "local", "global"]).filter(|_| !known) else {
        return false;
    };
    if let Some(report) = scope::undeclared(el, name, dest.span) {
        el.cx
            .report(report.help(format!("did you mean the storage `{storage}`?")));
    }
    true
}

/// The destination of a copy into storage: the tile that the future already has, or a new buffer.
pub(crate) fn lower_destination(
    el: &mut Elab<'_>,
    c: &CopyStmt,
    bound: &Bound,
    source: &Data,
    shape: Vec<Sym>,
) -> Option<Data> {
    let CopyDest::Storage(storage, at) = c.dest else {
        return None;
    };
    let again = match bound {
        Bound::Again(id) => {
            let elem = el.f.buffer(source.view.buffer).elem;
            let storage = legality::ir_storage(storage);
            futures::destination_of_rebound(el, *id, elem, &shape, storage, at)?
        }
        _ => None,
    };
    let name = match &c.name {
        Some(name) => name.text.clone(),
        None => "copied".to_owned(),
    };
    let view = match again {
        Some(view) => view,
        None => {
            check_shape(el, storage, &shape, (source.span, at))?;
            new_destination(
                el,
                (bound, &name),
                legality::ir_storage(storage),
                at,
                source,
                shape,
            )?
        }
    };
    legality::check_pair(el, source, &view, c)?;
    Some(whole::data_of(view, &name, c.head))
}

/// Checks that the extents of a new destination are known at its allocation.
pub(crate) fn check_shape(
    el: &mut Elab<'_>,
    storage: ast::Storage,
    shape: &[Sym],
    (tile, at): (Span, Span),
) -> Option<()> {
    let shown = shape::show(&el.f, shape);
    for extent in shape {
        let host = extent
            .vars()
            .iter()
            .all(|v| uniformity::is_host_known(el, *v));
        let fixed = extent.as_int().is_some();
        if storage == ast::Storage::Local && !fixed {
            let otherwise = "copy into `shared`, or tile by a constant";
            let help = local_sizes::remedy(el, std::slice::from_ref(extent), otherwise);
            el.cx.report(
                Diagnostic::new(
                    codes::E0614,
                    at,
                    format!("`local` memory needs static extents, the tile is {shown}"),
                )
                .label("registers have no run-time size")
                .help(help),
            );
            return None;
        }
        if !host {
            let tile = match source_text(&el.cx, tile, "") {
                text if text.is_empty() => "the tile".to_owned(),
                text => format!("`{text}`"),
            };
            el.cx.report(
                Diagnostic::new(
                    codes::E0829,
                    at,
                    format!("the shape of {tile} is known only inside the kernel"),
                )
                .label("can't size a buffer by it")
                .help("declare a buffer of the largest size, and copy into it with `.zfill`"),
            );
            return None;
        }
    }
    Some(())
}

/// Allocates a placeholder's buffer in the block that declares the placeholder, before the
/// statement of that block that contains the copy.
fn allocate_at_placeholder(
    el: &mut Elab<'_>,
    future: FutureId,
    id: BufferId,
    shape: &[Sym],
    at: Span,
) -> Option<()> {
    let future = futures::get(el, future)?;
    let (place, declared) = (future.place, future.span);
    let block = el.build.sinks.get(place.lists.wrapping_sub(1));
    let is_known = |v: &Var| match el.f.var_home.get(v) {
        Some(VarHome::Local(local)) => {
            let declares =
                |s: &Stmt| matches!(&s.kind, StmtKind::Let { local: l, .. } if l == local);
            local.index() < place.locals || block.is_some_and(|b| b.iter().any(declares))
        }
        _ => true,
    };
    if !shape
        .iter()
        .all(|extent| extent.vars().iter().all(is_known))
    {
        let shown = shape::show(&el.f, shape);
        el.cx.report(
            Diagnostic::new(
                codes::E0829,
                at,
                format!("the tile's shape {shown} is not known where the placeholder is declared"),
            )
            .label("can't allocate a buffer for the placeholder")
            .also(declared, "declared here")
            .help("declare the placeholder in the block of the copy, or copy into a buffer"),
        );
        return None;
    }
    build::emit_at(el, place.lists, StmtKind::Alloc(id), at);
    Some(())
}

/// Declares a buffer that only the future names.
fn new_destination(
    el: &mut Elab<'_>,
    (bound, name): (&Bound, &str),
    storage: Storage,
    at: Span,
    source: &Data,
    shape: Vec<Sym>,
) -> Option<View> {
    let elem = el.f.buffer(source.view.buffer).elem;
    let level = uniformity::of_view(el, &source.view);
    let per_instance = storage == Storage::Shared && level > Level::Block;
    let slices = if per_instance {
        instances::count_of(el, level, at)?
    } else {
        Sym::one()
    };
    let id = build::new_buffer(
        &mut el.f,
        build::NewBuffer {
            name,
            elem,
            storage,
            shape: shape.clone(),
            copies: slices,
            span: at,
        },
    );
    let what = match bound {
        Bound::Nothing => "the copy".to_owned(),
        _ => buffers::shown(el, id),
    };
    buffers::check_affordable(el, id, (&what, at))?;
    // The next iteration of a loop may still read the data of a placeholder of an outer block, so
    // its buffer is not declared again here.
    let outer = match bound {
        Bound::Again(id) => {
            futures::get(el, *id).map(|f| f.nesting.scopes) != Some(el.names.depth())
        }
        _ => false,
    };
    match (bound, storage) {
        (Bound::Again(future), Storage::Host) if outer => {
            allocate_at_placeholder(el, *future, id, &shape, at)?;
        }
        (_, Storage::Host | Storage::Shared) if !outer => {
            build::emit(el, StmtKind::Alloc(id), at);
        }
        _ => {}
    }
    buffers::warn_of_spills(el, id, (&what, at));
    let size = shape.iter().product::<Sym>();
    let offset = if per_instance {
        &instances::number_of(el, level) * &size
    } else {
        Sym::zero()
    };
    let strides = dense_strides(&shape);
    let valid = vec![Valid::default(); shape.len()];
    let frame = Some(ir::Frame::whole(&shape, &strides));
    Some(View {
        buffer: id,
        offset,
        frame,
        shape,
        strides,
        valid,
        span: at,
    })
}

#[cfg(test)]
mod tests {
    use crate::sema::testing::program;

    #[test]
    fn a_misspelled_storage_is_no_name() {
        let help = |dest: &str| {
            let text = format!(
                "__co__ void f(global f32 [64] x) {{ parallel by 1 : block {{ t = dma.copy x => {dest}; }} }}\n"
            );
            let (_, _, diags) = program("t.co", &text);
            let reports = diags.into_sorted();
            let found = reports.iter().find(|d| d.code.text() == "E0201");
            found.map(|d| d.help.clone().unwrap_or_default())
        };
        for (dest, storage) in [
            ("share", "shared"),
            ("sharde", "shared"),
            ("locla", "local"),
        ] {
            let meant = format!("did you mean the storage `{storage}`?");
            assert_eq!(help(dest), Some(meant));
        }
        assert_eq!(help("tile"), Some(String::new()));
        assert_eq!(help("x"), None);
    }
}
