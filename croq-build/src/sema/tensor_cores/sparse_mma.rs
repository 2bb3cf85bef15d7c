//! Sparse MMAs: errors in them are reported, but none is compiled yet.

use crate::diagnostics::{Diagnostic, codes};
use crate::sema::checks::unsupported;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::multiply::transposed_shape;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, MmaStmt};

/// Two of this many elements along K are stored.
const OF: i64 = 4;

/// `mma.row.row.sp c, a, b, metadata;`
pub(crate) fn check(el: &mut Elab<'_>, m: &MmaStmt, rows: [bool; 2], span: Span) {
    let [_, a, b, rest @ ..] = m.operands.as_slice() else {
        return;
    };
    let metadata = check_metadata(el, rest.first(), span);
    let (Some(of_a), Some(of_b)) = (extents_of(el, a), extents_of(el, b)) else {
        return;
    };
    let ([_, packed], [_, k]) = (
        transposed_shape(of_a, !rows[0]),
        transposed_shape(of_b, !rows[1]),
    );
    if k % OF != 0 {
        let text = format!("the K of a sparse MMA must be a multiple of {OF}, this is {k}");
        let d = Diagnostic::new(codes::E0922, b.span, text);
        el.cx
            .report(d.label("two of every four elements of A are stored"));
        return;
    }
    if packed * 2 != k {
        let text = format!("the operands disagree along K: {packed} packed, {k}");
        let d = Diagnostic::new(codes::E0902, span, text).label("these can't be multiplied");
        el.cx.report(d.help(format!(
            "what is stored of a sparse A has half of K: {}",
            k / 2
        )));
        return;
    }
    if metadata.is_some() {
        let instead = "store A with its zeros, and multiply it whole: `mma.row.row c, a, b;`";
        unsupported::report_with_remedy(&mut el.cx, span, "a sparse MMA", Some(instead));
    }
}

/// Checks that the metadata, the positions of the stored elements, is the result of an `mma.load`.
/// For a warpgroup, such a load of shared memory only names the view.
fn check_metadata(el: &mut Elab<'_>, e: Option<&ast::Expr>, span: Span) -> Option<()> {
    let found = e.and_then(|e| match &*e.kind {
        ast::ExprKind::Name(name) => Some(el.names.find(name)?.entity.clone()),
        _ => None,
    });
    if let Some(e) = e
        && matches!(el.expression(e), Value::Error)
    {
        return None;
    }
    let loaded = match found {
        Some(Entity::View(_)) => true,
        Some(Entity::Buffer { id, .. }) => el.fragments.loaded.contains_key(&id),
        _ => false,
    };
    if loaded {
        return Some(());
    }
    let (at, text) = match e {
        Some(e) => (
            e.span,
            "the metadata of a sparse MMA must be loaded into a fragment first",
        ),
        None => (
            span,
            "a sparse MMA needs metadata: the positions of the elements of A",
        ),
    };
    el.cx.report(
        Diagnostic::new(codes::E0908, at, text)
            .label("no metadata that `mma.load` has loaded")
            .help("`e = mma.load metadata; mma.row.row.sp c, a, b, e;`"),
    );
    None
}

/// The extents of a tile or a fragment, if they are constant.
fn extents_of(el: &mut Elab<'_>, e: &ast::Expr) -> Option<[i64; 2]> {
    let Value::Data(data) = el.expression(e) else {
        return None;
    };
    let extents: Vec<i64> = data.view.shape.iter().filter_map(Sym::as_int).collect();
    <[i64; 2]>::try_from(extents).ok()
}
