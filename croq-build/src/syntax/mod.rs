//! Tokens to tree: a chumsky parser over the tokens of each `__co__` function.
//!
//! The next stage may assume that whatever did not parse is reported. A function with a syntax error
//! still yields the statements that parsed, with [`ast::StmtKind::Error`] between them and
//! [`ast::ExprKind::Error`] for a value that was lost; a function without a readable header yields
//! nothing.

mod assignment;
pub mod ast;
mod attribute;
mod balance;
mod call;
mod contextual;
mod control;
mod declaration;
mod derivation;
mod expression;
mod fault;
mod foreign;
mod function;
mod inline;
mod literal;
mod movement;
mod operators;
mod parallel;
mod parsed;
mod postfix;
mod recovery;
mod rule;
mod statement;
mod synchronisation;
mod tensor;
#[cfg(test)]
mod tests;
mod tokens;
mod variable;

use std::borrow::Cow;
use std::collections::HashSet;

use chumsky::Parser;
use chumsky::inspector::SimpleState;

use crate::diagnostics::Diagnostics;
use crate::source::token::Token;
use crate::source::{FunctionText, SourceFile};

/// Parses every function of a file.
pub fn parse(file: &SourceFile, diags: &mut Diagnostics) -> Vec<ast::Function> {
    let mut sound: Vec<(&FunctionText, Cow<[Token]>)> = Vec::new();
    for function in &file.functions {
        match balance::too_deep(&function.tokens) {
            Some(diagnostic) => diags.push(diagnostic),
            None => {
                let balanced = balance::repair(&function.tokens, function.complete, diags);
                sound.push((function, contextual::with_names(balanced, file)));
            }
        }
    }
    let rules = function::function(&expression::expressions());
    let mut functions = Vec::new();
    for (function, tokens) in &sound {
        let mut state = SimpleState(rule::Around { file, function });
        let (parsed, faults) = rules
            .parse_with_state(tokens.as_ref(), &mut state)
            .into_output_errors();
        // A keyword that stands for a name is told once, however often it is used.
        let mut misused = HashSet::new();
        for fault in faults {
            let repeated = |keyword: &str| !misused.insert(keyword.to_owned());
            if fault.misused_keyword().is_some_and(repeated) {
                continue;
            }
            let Some(diagnostic) = fault.into_diagnostic(tokens, file) else {
                continue;
            };
            diags.push(diagnostic);
        }
        functions.extend(parsed.flatten());
    }
    functions
}
