//! Fragments in the operands of statements.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{self, BufferId, MmaOp, Part, Storage};
use crate::sema::build;
use crate::sema::state::cx::{self, Cx};
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::state::value::Value;
use crate::sema::tensor_cores::owners;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// The fragment that an expression names; `whole` also accepts an array of fragments.
pub(crate) fn fragment_of(el: &mut Elab<'_>, e: &ast::Expr, whole: bool) -> Option<Named> {
    let value = el.expression(e);
    fragment_in(el, value, e.span, whole)
}

/// The same of the value of an expression at this place.
pub(crate) fn fragment_in(el: &mut Elab<'_>, value: Value, at: Span, whole: bool) -> Option<Named> {
    let data = match value {
        Value::Data(data) => data,
        Value::Error => return None,
        other => {
            let kind = other.kind();
            report_no_fragment(&mut el.cx, at, &kind);
            return None;
        }
    };
    let id = data.view.buffer;
    if el.f.buffer(id).storage != Storage::Fragment {
        report_direct_operand(&mut el.cx, at, &data.name);
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
                codes::E0923,
                at,
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
        span: at,
    };
    Some(Named {
        part,
        name: data.name,
        span: at,
    })
}

fn report_no_fragment(cx: &mut Cx<'_>, at: Span, kind: &str) {
    cx.report(
        Diagnostic::new(
            codes::E0928,
            at,
            format!("expected a fragment, found {kind}"),
        )
        .label("not in the registers of a warp")
        .help("`c = mma.fill.f32 0.0f;` makes an accumulator, `a = mma.load view;` an operand"),
    );
}

fn report_direct_operand(cx: &mut Cx<'_>, at: Span, name: &str) {
    let text = cx::source_text(cx, at, name);
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let loaded = match is_name {
        true => format!("{text}_fragment"),
        false => "fragment".to_owned(),
    };
    cx.report(
        Diagnostic::new(
            codes::E0907,
            at,
            format!("`{name}` is in memory, a warp multiplies what is in its registers"),
        )
        .label("not loaded")
        .help(format!("load it first: `{loaded} = mma.load {text};`")),
    );
}

/// Rows and columns, if they are known.
pub(crate) fn fragment_shape(func: &ir::Function, id: BufferId) -> Option<Vec<i64>> {
    let shape = &func.fragments.get(&id)?.shape;
    (!shape.is_empty()).then(|| shape.clone())
}

pub(crate) fn emit(el: &mut Elab<'_>, op: MmaOp, span: Span) {
    owners::note_owners(el, &op, span);
    build::emit(el, crate::ir::StmtKind::Mma(Box::new(op)), span);
}

pub(crate) fn sym(n: i64) -> Sym {
    Sym::int(n)
}
