//! Verifies that each statement becomes IR, a name or a report. A statement that leaves none of
//! these was forgotten during lowering, which is an internal error.

use crate::diagnostics::Diagnostic;
use crate::sema::state::elab::Elab;
use crate::syntax::ast::{self, CallKind, Stmt, StmtKind as S};

/// Lowers the statement by `lower`; an internal error if it has no result.
pub(crate) fn account_for(
    el: &mut Elab<'_>,
    stmt: &Stmt,
    lower: impl FnOnce(&mut Elab<'_>, &Stmt),
) {
    let before = traces(el);
    lower(el, stmt);
    if before != traces(el) || !leaves_a_trace(&stmt.kind) {
        return;
    }
    // After an error, or when no more diagnostics are shown, statements may be dropped.
    let accounted = el.cx.diags.has_errors()
        || el.cx.diags.is_full()
        || !el.cx.faults.is_empty()
        || !el.cx.unsupported.is_empty();
    if !accounted {
        let message = "internal error after `sema`: a statement is lost";
        let report = Diagnostic::internal(stmt.span, message);
        el.cx.report(report.label("neither translated nor refused"));
    }
}

/// The numbers of the results that statements can have.
fn traces(el: &Elab<'_>) -> [usize; 8] {
    [
        el.build.sinks.last().map_or(0, Vec::len),
        el.build.entry.len(),
        el.names.stack.last().map_or(0, |s| s.bindings.len()),
        el.names.opened,
        el.results.returned.len(),
        el.cx.diags.pushed(),
        el.asynchronous.waits_for_nothing,
        el.asynchronous.hints,
    ]
}

/// The exceptions are blocks without statements, messages at compile time, and an `assert` that was
/// already checked.
fn leaves_a_trace(kind: &S) -> bool {
    match kind {
        S::Call(call) => match &*call.kind {
            ast::ExprKind::Call(c) => c.kind != CallKind::CompileTime && c.callee.text != "assert",
            _ => true,
        },
        S::Empty | S::Error => false,
        S::Block(body) | S::With { body, .. } | S::Inthreads { body, .. } => !body.stmts.is_empty(),
        S::Foreach(loop_) => !loop_.body.stmts.is_empty(),
        S::If {
            then, otherwise, ..
        } => [Some(then), otherwise.as_ref()]
            .into_iter()
            .flatten()
            .any(|arm| !arm.stmts.is_empty()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::account_for;
    use crate::diagnostics::Diagnostics;
    use crate::sema::state::cx::{Cx, Options};
    use crate::sema::state::elab::Elab;
    use crate::sema::statements::stmt;
    use crate::{source, syntax};

    /// The codes of the reports when all statements of a body, or none, are lowered.
    fn codes(body: &str, forgotten: bool) -> Vec<&'static str> {
        let text = format!("__co__ void f(s32 [64] & x, int n) {{ {body} }}");
        let mut diags = Diagnostics::new();
        let file = source::load("t.co", &text, &[], &mut diags);
        let tree = syntax::parse(&file, &mut diags);
        assert!(!diags.has_errors(), "{:#?}", diags.into_sorted());
        let [function] = tree.as_slice() else {
            panic!("one function");
        };
        let options = Options::default();
        let untaken = Default::default();
        let siblings = Default::default();
        let cx = Cx::new(&file, &options, &siblings, &[], &untaken, &mut diags);
        let mut el = Elab::new(cx, crate::sema::RULES, function);
        for stmt in &function.body {
            account_for(&mut el, stmt, |el, stmt| {
                if !forgotten {
                    stmt::lower(el, stmt);
                }
            });
        }
        diags.into_sorted().iter().map(|d| d.code.text()).collect()
    }

    #[test]
    fn a_statement_that_leaves_nothing_is_an_internal_error() {
        for stmt in [
            "mutable int a = 1;",
            "parallel p by 64 : thread { x.at(p) = 1; }",
            "dma.copy x => y;",
            "wait f;",
            "trigger e;",
            "sync.global;",
            "while (n > 0) { break; }",
            "a = 2;",
            "return;",
            "call g(x);",
        ] {
            assert_eq!(codes(stmt, true), ["E1199"], "{stmt}");
        }
        for stmt in [
            "{ wait f; }",
            "with i in 4 { wait f; }",
            "foreach i in 4 { wait f; }",
            "inthreads (n > 1) { wait f; }",
            "if (n > 1) { wait f; }",
            "if (n > 1) { } else { wait f; }",
        ] {
            assert_eq!(codes(stmt, true), ["E1199"], "{stmt}");
        }
        assert_eq!(codes("{ } ; foreach i in 4 { }", true), [""; 0]);
    }

    /// The codes of the reports on a file.
    fn of_file(text: &str) -> Vec<&'static str> {
        let (_, _, diags) = crate::sema::testing::program("t.co", text);
        diags.into_sorted().iter().map(|d| d.code.text()).collect()
    }

    #[test]
    fn callers_of_a_function_that_did_not_parse_report_nothing() {
        let broken = "s32 [64] y; parallel b by 2 . block { y.at(b) = x.at(b); } return y;";
        let data = format!("__co__ s32 [64] data(s32 [64] x) {{ {broken} }}");
        for caller in [
            "__co__ s32 [64] other(s32 [64] & x) { y = data(x); return y; }",
            "__co__ s32 [64] other(s32 [64] x) { return data(x); }",
            "__co__ void other(s32 [64] x) { data(x); }",
            "__co__ s32 [64] other(s32 [64] x) { y = data(x); z = data(y); return z; }",
            "__co__ s32 [64] between(s32 [64] x) { y = data(x); return y; }
             __co__ s32 [64] other(s32 [64] x) { y = between(x); return y; }",
            "__co__ void other(global s32 [64] x) { y = data(x); dma.copy y => x; }",
            "__co__ s32 other(s32 [64] x) { y = data(x); return y.at(3); }",
        ] {
            for file in [format!("{data}\n{caller}"), format!("{caller}\n{data}")] {
                assert_eq!(of_file(&file), ["E0109"], "{file}");
            }
        }
        // A part of an instance of a template does not parse.
        let template = format!("template <typename T> {data}");
        let caller = "__co__ s32 [64] other(s32 [64] & x) { y = data<s32>(x); return y; }";
        assert_eq!(of_file(&format!("{template}\n{caller}")), ["E0109"]);
        // Two functions that call each other, one of which does not parse.
        let mutual = "__co__ s32 [64] f(s32 [64] x) { s32 [64] y; parallel b by 2 . block \
                      { y.at(b) = x.at(b); } z = g(y); return z; }
                      __co__ s32 [64] g(s32 [64] x) { y = f(x); return y; }";
        assert_eq!(of_file(mutual), ["E0109", "E0798", "E0798"]);
    }

    #[test]
    fn callers_of_a_function_in_error_report_nothing() {
        let one = "__co__ s32 [64] other(s32 [64] & x) { y = data(x); return y; }";
        let two = "__co__ s32 [64] other(s32 [64] x) { data(x, 1); y = data(x, 2); return y; }";
        for (data, caller, code) in [
            ("s32 [64] data(s32 [64] x) { return z; }", one, "E0201"),
            ("s32 [64] data(s32 [K * ] x) { return x; }", one, "E0100"),
            ("s32 [64] data(f31 [64] x) { return x; }", one, "E0409"),
            ("s32 [64 data(s32 [64] x) { return x; }", one, "E0100"),
            (
                "s32 [64] data(s32 [64] x, int 7) { return x; }",
                two,
                "E0100",
            ),
            (
                "s32 [64] data(s32 [64] x, n int) { return x; }",
                two,
                "E0124",
            ),
        ] {
            for file in [
                format!("__co__ {data}\n{caller}"),
                format!("{caller}\n__co__ {data}"),
            ] {
                assert_eq!(of_file(&file), [code], "{file}");
            }
        }
    }

    #[test]
    fn what_is_lowered_or_refused_is_accounted_for() {
        assert_eq!(codes("mutable int a = 1; a = 2;", false), [""; 0]);
        assert!(!codes("a = b;", false).contains(&"E1199"));
    }
}
