//! `mma` statements: what each of them is, and the fragments that they name.

use crate::diagnostics::Diagnostic;
use crate::ir::{BufferId, Level, MmaOp, Part, Storage};
use crate::sema::build;
use crate::sema::levels::{instances, parallel};
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::{
    fragments, load_store, multiply, owners, scale, sparse_mma, warpgroup,
};
use crate::sema::values::convert;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, MmaStmt};

pub(crate) fn lower(el: &mut Elab<'_>, m: &MmaStmt, span: Span) {
    let done = lower_parts(el, m, span);
    if done.is_none() {
        el.fragments.failed = true;
    }
    // Whatever uses the name of what failed stays silent.
    if done.is_none()
        && let Some(name) = &m.target
        && !el.names.in_innermost(&name.text)
    {
        scope::declare(el, name, crate::sema::state::scopes::Entity::Poison);
    }
}

fn lower_parts(el: &mut Elab<'_>, m: &MmaStmt, span: Span) -> Option<()> {
    if let Some(tiles) = &m.k_tiles
        && !warpgroup::is_a_warpgroup(el)
    {
        let at = tiles.first().map_or(span, |tile| tile.span);
        el.cx.report(
            Diagnostic::new(
                "E0911",
                at,
                "the parts of K have an order only in products by a warpgroup",
            )
            .label("this one is made of a warp's instructions")
            .help("remove the attribute: sums are added in ascending order"),
        );
        return None;
    }
    match &m.op {
        ast::MmaOp::Fill(elem) => fragments::lower_fill(el, m, *elem, span),
        ast::MmaOp::Load { frag, swizzle } => {
            check_by_warp(el, span, "`mma.load`")?;
            load_store::lower_load(el, m, *frag, swizzle.as_ref(), span)
        }
        ast::MmaOp::Multiply {
            a_row,
            b_row,
            scale,
            sparse,
        } => {
            check_by_warp(el, span, "a product")?;
            if *sparse {
                sparse_mma::check(el, m, [*a_row, *b_row], span);
                return None;
            }
            if warpgroup::is_a_warpgroup(el) {
                let rows = [*a_row, *b_row];
                return match scale {
                    true => scale::lower_multiply(el, m, rows, span),
                    false => warpgroup::lower(el, m, rows, span),
                };
            }
            if *scale {
                report_scale(el, span);
                return None;
            }
            if m.is_async {
                el.cx.report(
                    Diagnostic::new("E0906", span, "a product by one warp is never asynchronous")
                        .label("done when the statement is")
                        .help("remove `.async` and the `wait`"),
                );
                return None;
            }
            multiply::lower(el, m, [*a_row, *b_row], span)
        }
        ast::MmaOp::Store { transposed, masked } => {
            let around = only_unit(el, m, span).map(|unit| parallel::enter_level(el, unit));
            let done = check_by_warp(el, span, "`mma.store`");
            let done =
                done.and_then(|()| load_store::lower_store(el, m, *transposed, *masked, span));
            if let Some(around) = around {
                parallel::leave_level(el, around);
            }
            done
        }
        ast::MmaOp::Scale => {
            check_by_warp(el, span, "`mma.scale`")?;
            if warpgroup::is_a_warpgroup(el) {
                return scale::lower_scale(el, m, span);
            }
            report_scale(el, span);
            None
        }
        // Products by one warp are complete when their statement is.
        ast::MmaOp::Commit => {
            check_by_warp(el, span, "`mma.commit`")?;
            if warpgroup::is_a_warpgroup(el) {
                emit(el, MmaOp::Finish, span);
            }
            Some(())
        }
    }
}

fn report_scale(el: &mut Elab<'_>, span: Span) {
    el.cx.report(
        Diagnostic::new("E0916", span, "products are scaled only by warpgroups")
            .label("this one is a warp's")
            .help("scale the sums in an `apply`"),
    );
}

/// Where the whole block is one warp or warpgroup, that is whose sums are stored behind the level that
/// multiplied.
fn only_unit(el: &mut Elab<'_>, m: &MmaStmt, span: Span) -> Option<Level> {
    if el.level() != Some(Level::Block) {
        return None;
    }
    let mut named = m.operands.first()?;
    while let ast::ExprKind::Subscript(inner, _) = &*named.kind {
        named = inner;
    }
    let ast::ExprKind::Name(name) = &*named.kind else {
        return None;
    };
    let Entity::Buffer { id, .. } = el.names.find(name)?.entity else {
        return None;
    };
    let warps = el.f.fragments.get(&id)?.spread?.warps();
    let kernel = el.kernel.as_ref()?;
    if kernel.threads.count != Some(Sym::int(32 * warps)) {
        return None;
    }
    if el.path.is_conditional() && el.path.is_divergent() {
        instances::warn_if_not_all_arrive(el, span, "`mma.store`");
    }
    Some(match warps {
        4 => Level::Group4,
        _ => Level::Group,
    })
}

/// Whether a warp of threads comes here together; says why not.
pub(crate) fn check_by_warp(el: &mut Elab<'_>, span: Span, what: &str) -> Option<()> {
    let (found, help) = match el.level() {
        // Nothing that a condition of this level can ask differs within a warp.
        Some(Level::Group) => return Some(()),
        Some(Level::Group4) => return warpgroup::check_by_warpgroup(el, span, what),
        None => (
            "the host's",
            "put it inside `parallel … : block`, and there inside `parallel w by 4 : group`",
        ),
        Some(Level::Cluster | Level::Block) => (
            "the whole block's",
            "put it inside `parallel w by 4 : group { … }`, for four warps",
        ),
        Some(Level::Thread) => (
            "a single thread's",
            "put it outside of the `: thread` level, inside `: group`",
        ),
    };
    el.cx.report(
        Diagnostic::new("E0906", span, format!("{what} is the work of a warp"))
            .label(format!("here it is {found}"))
            .help(help),
    );
    None
}

/// The fragment that an expression names; `whole` takes an array of them as well.
pub(crate) fn fragment_of(el: &mut Elab<'_>, e: &ast::Expr, whole: bool) -> Option<Named> {
    let data = match el.expression(e) {
        Value::Data(data) => data,
        Value::Error => return None,
        other => {
            let kind = other.kind();
            report_no_fragment(el, e.span, &kind);
            return None;
        }
    };
    let id = data.view.buffer;
    if el.f.buffer(id).storage != Storage::Fragment {
        report_direct_operand(el, e.span, &data.name);
        return None;
    }
    let mut number = None;
    if data.array.is_empty() {
        let elements = data.view.shape.iter().product();
        number = Some(el.f.cx.div(&data.view.offset, &elements));
    } else if !whole {
        let missing: String = data.array.iter().map(|_| "[…]").collect();
        el.cx.report(
            Diagnostic::new(
                "E0923",
                e.span,
                format!("`{}` is an array of fragments", data.name),
            )
            .label("needs a subscript")
            .help(format!("write `{}{missing}`", data.name)),
        );
        return None;
    }
    let part = Part {
        buffer: id,
        number,
        span: e.span,
    };
    Some(Named {
        part,
        name: data.name,
        span: e.span,
    })
}

fn report_no_fragment(el: &mut Elab<'_>, at: Span, kind: &str) {
    el.cx.report(
        Diagnostic::new("E0928", at, format!("expected a fragment, found {kind}"))
            .label("not in the registers of a warp")
            .help("`c = mma.fill.f32 0.0f;` makes sums, `a = mma.load view;` an operand"),
    );
}

fn report_direct_operand(el: &mut Elab<'_>, at: Span, name: &str) {
    el.cx.report(
        Diagnostic::new(
            "E0907",
            at,
            format!("`{name}` is in memory, a warp multiplies what is in its registers"),
        )
        .label("not loaded")
        .help(format!(
            "load it first: `x = mma.load {};`",
            convert::source_text(el, at, name)
        )),
    );
}

/// Rows and columns, once they are known.
pub(crate) fn fragment_shape(el: &Elab<'_>, id: BufferId) -> Option<Vec<i64>> {
    let shape = &el.f.fragments.get(&id)?.shape;
    (!shape.is_empty()).then(|| shape.clone())
}

/// Fragments are no memory: their elements have no address.
pub(crate) fn check_in_memory(el: &mut Elab<'_>, id: BufferId, name: &str, at: Span) -> Option<()> {
    if el.f.buffer(id).storage != Storage::Fragment {
        return Some(());
    }
    if el.fragments.failed {
        return None;
    }
    el.cx.report(
        Diagnostic::new(
            "E0921",
            at,
            format!("`{name}` is in the registers of a warp"),
        )
        .label("its elements belong to different threads")
        .help(format!(
            "go through them with `apply {{i, j}} in {name}.span …`, or `mma.store` it"
        )),
    );
    None
}

pub(crate) fn emit(el: &mut Elab<'_>, op: MmaOp, span: Span) {
    owners::note_owners(el, &op, span);
    build::emit(el, crate::ir::StmtKind::Mma(Box::new(op)), span);
}

pub(crate) fn sym(n: i64) -> Sym {
    Sym::int(n)
}
