//! The other functions of the file, which host code may call.

use std::sync::{Mutex, PoisonError};

use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::syntax::ast::{self, ExprKind as K, StmtKind as S};

#[derive(Default)]
pub(crate) struct Siblings<'a> {
    pub functions: &'a [ast::Function],
    /// By function: the spans that did not parse, which are reported.
    faults: Vec<Vec<Span>>,
    /// What is known of those that were called so far.
    summaries: Mutex<SortedMap<String, Summary>>,
}

/// What a call has to know of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// Whether it has an error, which is reported there.
    pub failed: bool,
    /// By parameter: whether the function writes the tensor.
    pub writes: Vec<bool>,
    /// By parameter: whether it returns the tensor's memory, or exchanges it.
    pub keeps: Vec<bool>,
}

impl<'a> Siblings<'a> {
    pub fn new(functions: &'a [ast::Function], faults: Vec<Vec<Span>>) -> Self {
        Self {
            functions,
            faults,
            ..Self::default()
        }
    }

    /// The spans of a function that did not parse.
    pub fn faults_of(&self, function: &ast::Function) -> &[Span] {
        self.position_of(function)
            .and_then(|at| self.faults.get(at))
            .map_or(&[], Vec::as_slice)
    }

    /// The number of a function in the file.
    pub fn position_of(&self, function: &ast::Function) -> Option<usize> {
        let mut all = self.functions.iter();
        all.position(|f| f.name.text == function.name.text)
    }

    pub fn named(&self, name: &str) -> Option<&'a ast::Function> {
        self.functions.iter().find(|f| f.name.text == name)
    }

    /// What a call has to know of a function, which `find` finds out at the first call. Two threads
    /// may both find it out, with the same result.
    pub fn summary_of(&self, name: &str, find: impl FnOnce() -> Summary) -> Summary {
        let all = || {
            self.summaries
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let known = all().get(name).cloned();
        known.unwrap_or_else(|| {
            let summary = find();
            all().insert(name.to_owned(), summary.clone());
            summary
        })
    }

    /// Whether calls on the host lead from one function to another.
    pub fn reaches(&self, from: &str, to: &str) -> bool {
        let mut seen = SortedSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(name) = open.pop() {
            let Some(function) = self.named(&name) else {
                continue;
            };
            let mut called = SortedSet::new();
            calls_of(&function.body, &mut called);
            if called.contains(to) {
                return true;
            }
            open.extend(called.into_iter().filter(|name| seen.insert(name.clone())));
        }
        false
    }
}

/// The names that statements of the host call, as far as they are written like functions.
fn calls_of(stmts: &[ast::Stmt], out: &mut SortedSet<String>) {
    for stmt in stmts {
        match &stmt.kind {
            S::Assign { value, .. } => names_of(value, out),
            S::Call(value) | S::Return(Some(value)) => names_of(value, out),
            S::Scalar { items, .. } => {
                let values = items.iter().filter_map(|item| item.init.as_ref());
                values.for_each(|value| names_of(value, out));
            }
            S::FragOp { op, args, .. } => {
                out.insert(op.text().to_owned());
                args.iter().for_each(|arg| names_of(arg, out));
            }
            S::Copy(copy) => names_of(&copy.source, out),
            S::While { cond, .. } | S::If { cond, .. } => names_of(cond, out),
            _ => {}
        }
        // The body of a `: device` level is code of the host.
        stmt.kind.blocks().for_each(|b| calls_of(&b.stmts, out));
    }
}

fn names_of(e: &ast::Expr, out: &mut SortedSet<String>) {
    match &*e.kind {
        K::Call(call) => {
            out.insert(call.callee.text.clone());
            call.args.iter().for_each(|arg| names_of(arg, out));
        }
        K::Element(base, arg) => {
            if let K::Name(name) = &*base.kind {
                out.insert(name.clone());
            }
            names_of(arg, out);
        }
        K::Paren(a) | K::Unary(_, a) | K::Member(a, ..) | K::View(a, ..) | K::Cast(_, a) => {
            names_of(a, out);
        }
        K::Binary(_, _, a, b) => [a, b].into_iter().for_each(|e| names_of(e, out)),
        K::Ternary(a, b, c) => [a, b, c].into_iter().for_each(|e| names_of(e, out)),
        K::At(base, rest) | K::Subscript(base, rest) => {
            names_of(base, out);
            rest.iter().for_each(|e| names_of(e, out));
        }
        K::Braces(list) | K::Select(list, _) | K::Builtin { args: list, .. } => {
            list.iter().for_each(|e| names_of(e, out));
        }
        _ => {}
    }
}
