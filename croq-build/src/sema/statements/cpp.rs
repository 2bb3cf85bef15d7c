//! `__cpp__`: C++ text.

use std::borrow::Cow;

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::cpp_whole::{Open, left_open};
use crate::ir::{
    CppName, Expr, Level, LocalId, Role, Scalar, StmtKind, VarHome, cpp_names, cpp_text,
};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::levels::registers;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::source::{SourceFile, Span};
use crate::symbolic::Sym;
use crate::syntax::ast::{Stmt, StmtKind as S};

/// A statement list in which adjacent `__cpp__` statements that are whole only together are one
/// statement; `None` if there are none.
pub(crate) fn joined(stmts: &[Stmt], file: &SourceFile) -> Option<Vec<Stmt>> {
    let text_of = |stmt: &Stmt| match &stmt.kind {
        S::Cpp(text) => Some(text.clone()),
        _ => None,
    };
    let may_be_closed = |text: &str| left_open(text).is_some_and(|open| open.may_be_closed());
    if !stmts
        .iter()
        .filter_map(text_of)
        .any(|text| may_be_closed(&text))
    {
        return None;
    }
    let mut out: Vec<Stmt> = Vec::with_capacity(stmts.len());
    let mut rest = stmts.iter().peekable();
    while let Some(stmt) = rest.next() {
        let Some(mut text) = text_of(stmt) else {
            out.push(stmt.clone());
            continue;
        };
        let mut span = stmt.span;
        while may_be_closed(&text) {
            let Some((next, more)) = rest.peek().and_then(|s| Some((s.span, text_of(s)?))) else {
                break;
            };
            rest.next();
            append(
                &mut text,
                &more,
                file.line(next).saturating_sub(file.line(span)),
            );
            span = span.to(next);
        }
        let kind = S::Cpp(text);
        out.push(Stmt { kind, span });
    }
    Some(out)
}

/// Appends a text whose statement begins `lines` after that of the first, on a line of its own, and
/// on that line if possible.
fn append(text: &mut String, more: &str, lines: u32) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let missing = (lines as usize).saturating_sub(text.matches('\n').count());
    text.extend(std::iter::repeat_n('\n', missing));
    text.push_str(more);
}

pub(crate) fn lower_cpp(el: &mut Elab<'_>, text: &str, span: Span) {
    if let Some((more, number)) = crate::sema::levels::registers::in_assembly(text) {
        return registers::set_registers_of_each(el, "setmaxnreg", number, more, span);
    }
    if let Some(open) = left_open(text) {
        return el.cx.report(not_whole(&open, span));
    }
    let text = &*names_of_the_reference(el, text);
    let mut names = Vec::new();
    let mentioned: Vec<(String, Entity)> = el
        .names
        .visible()
        .filter(|b| mentions(text, &b.name))
        .map(|b| (b.name.clone(), b.entity.clone()))
        .collect();
    for (name, entity) in mentioned {
        if cpp_names::is_taken(&name) && !is_a_variable(text, &name) {
            el.cx.report(
                Diagnostic::new(
                    codes::E0794,
                    span,
                    format!("`{name}` means something else in C++ text"),
                )
                .label(format!("mentions `{name}`"))
                .note(format!("`{name}` is {} of this function", entity.kind()))
                .help(format!(
                    "call it something else, such as `{name}_`, here and in the text"
                )),
            );
        }
        el.names.read(&name, span);
        match entity {
            Entity::Scalar { local, .. } => names.push(CppName::Local(local)),
            Entity::Int { value, .. } => {
                names.push(CppName::Local(local_of(el, &name, &value.value, span)));
            }
            Entity::Range(id) => {
                if let Some(v) = el.ranges.values.get(id).and_then(|r| r.value.as_var())
                    && let Some(VarHome::Local(l)) = el.f.var_home.get(&v)
                {
                    names.push(CppName::Local(*l));
                }
            }
            Entity::Buffer { id, .. } | Entity::Word(id) => names.push(CppName::Buffer(id)),
            Entity::View(d) | Entity::Chosen(d) => names.push(CppName::Buffer(d.view.buffer)),
            Entity::Future(id) => {
                if let Some(data) = futures::get(el, id).and_then(|f| f.data.as_ref()) {
                    names.push(CppName::Buffer(data.view.buffer));
                }
            }
            _ => {}
        }
    }
    for name in &names {
        if let CppName::Buffer(id) = name
            && let Some(b) = el.f.buffers.get_mut(id.index())
        {
            b.read = true;
            b.written = true;
        }
    }
    build::emit(
        el,
        StmtKind::Cpp {
            text: text.to_owned(),
            names,
            from_sm_90: false,
        },
        span,
    );
}

fn not_whole(open: &Open, span: Span) -> Diagnostic {
    const WHOLE: &str = "write the whole C++ construct in adjacent `__cpp__` statements, or the loop \
                         or condition in the language";
    let with_end =
        |end: &str| format!("write {end} in the same or in an adjacent `__cpp__` statement");
    let (message, label, help) = match open {
        Open::Bracket | Open::Closing => (
            "the brackets of this C++ text do not balance".to_owned(),
            "has a bracket without its partner".to_owned(),
            WHOLE.to_owned(),
        ),
        Open::Conditional => (
            "the `#if` and `#endif` of this C++ text do not balance".to_owned(),
            "would remove or keep statements around it".to_owned(),
            with_end("the whole conditional"),
        ),
        Open::Comment | Open::RawString => {
            let (what, end) = match open {
                Open::Comment => ("comment", "`*/`"),
                _ => ("raw string", "its end"),
            };
            (
                format!("a {what} of this C++ text has no end"),
                "would remove statements behind it".to_owned(),
                with_end(end),
            )
        }
        Open::Line => (
            "this C++ text ends in a backslash, which joins the next line to it".to_owned(),
            "would change the statement behind it".to_owned(),
            "remove the backslash".to_owned(),
        ),
        Open::Macro(name) => (
            format!("this C++ text defines the macro `{name}` and does not undefine it"),
            format!("`{name}` would be replaced in statements behind it"),
            format!(
                "{}, or the `#define` at file scope",
                with_end(&format!("`#undef {name}`"))
            ),
        ),
        Open::Reserved(name) => (
            format!("the macro `{name}` belongs to generated text"),
            "would be lost in statements behind this text".to_owned(),
            "names that begin with `CROQ` are reserved; use another".to_owned(),
        ),
        Open::Pragma(word) => (
            format!("the pragma `{word}` is not possible in C++ text inside a function"),
            "acts on statements behind it".to_owned(),
            "remove it".to_owned(),
        ),
    };
    Diagnostic::new(codes::E0762, span, message)
        .label(label)
        .help(help)
}

/// The local of a named expression. One without storage of its own is bound to a local of its name.
fn local_of(el: &mut Elab<'_>, name: &str, value: &Sym, span: Span) -> LocalId {
    let home = value.as_var().and_then(|v| el.f.var_home.get(&v));
    if let Some(VarHome::Local(id)) = home
        && el.f.local(*id).name == name
    {
        return *id;
    }
    let local = build::new_local(&mut el.f, name, Scalar::Index, false, Role::Value, span);
    let value = Some(Expr::index(value.clone(), span));
    build::emit(el, StmtKind::Let { local, value }, span);
    local
}

/// Whether a name that C++ reserves for implementations is a variable's in the text.
fn is_a_variable(text: &str, name: &str) -> bool {
    name.starts_with("__")
        && !name.ends_with("__")
        && !cpp_names::is_keyword(name)
        && !cpp_text::is_type_or_function(text, name)
}

/// The text with names that the reference compiler gives to variables: `__iv_k` and
/// `__iv_k__elem__0` are the loop variable `k`, `__choreo_vtid_x` is the index at thread level.
fn names_of_the_reference<'t>(el: &Elab<'_>, text: &'t str) -> Cow<'t, str> {
    cpp_text::with_words(text, |word| {
        if el.names.find(word).is_some() {
            return None;
        }
        if word == "__choreo_vtid_x" {
            return scope::index_at(el, Level::Thread);
        }
        let name = word.strip_prefix("__iv_")?;
        let name = name.strip_suffix("__elem__0").unwrap_or(name);
        el.names.find(name).map(|_| name.to_owned())
    })
}

/// Whether a C++ text contains a name as a whole word.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(word) && !after.is_some_and(word)
    })
}
