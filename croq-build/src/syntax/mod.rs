//! Converts tokens to a tree: a chumsky parser over the tokens of each `__co__` function.
//!
//! Later stages may assume that everything that did not parse has been reported. A function with a
//! syntax error still has the statements that parsed, with [`ast::StmtKind::Error`] between them
//! and [`ast::ExprKind::Error`] in place of a value; a function without a valid header is omitted.

mod assignment;
pub mod ast;
mod attribute;
mod balance;
pub(crate) mod builtin_names;
mod call;
mod contextual;
mod control;
mod copy_modifiers;
mod declaration;
mod derivation;
mod expression;
mod fault;
mod foreign;
mod foreign_types;
mod function;
mod inline;
mod literal;
mod movement;
mod neighbours;
mod older;
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
use std::panic;

use chumsky::inspector::SimpleState;

use crate::diagnostics::Diagnostics;
use crate::source::token::Token;
use crate::source::{FunctionText, SourceFile, steps};

/// Parses every function of a file.
pub fn parse(file: &SourceFile, diags: &mut Diagnostics) -> Vec<ast::Function> {
    let mut sound: Vec<(&FunctionText, Cow<[Token]>)> = Vec::new();
    let words = contextual::functions_of(file);
    for function in &file.functions {
        let balanced = diags.within(function.instance.as_ref(), |diags| {
            balanced(function, diags)
        });
        sound.extend(
            balanced.map(|tokens| (function, contextual::with_names(tokens, file, &words))),
        );
    }
    // Instances share the text of their template.
    for template in file.templates.iter().filter(|template| !template.used) {
        if let Some(tokens) = balanced(&template.function, diags)
            && let Some(diagnostic) = balance::unmatched(&tokens)
        {
            diags.push(diagnostic);
        }
    }
    match steps::on_thread(STACK, || parse_functions(file, &sound, diags)) {
        Ok(functions) => functions,
        Err(error) => panic::resume_unwind(Box::new(format!("no thread for the parser: {error}"))),
    }
}

/// The stack of the parser, of which the deepest nesting that [`balance`] accepts needs a third without optimisation.
/// Only pages that are used take memory.
const STACK: usize = 64 << 20;

/// Parses functions with sound tokens.
fn parse_functions(
    file: &SourceFile,
    sound: &[(&FunctionText, Cow<[Token]>)],
    diags: &mut Diagnostics,
) -> Vec<ast::Function> {
    let rules = function::function(&expression::expressions());
    let mut functions = Vec::new();
    for (function, tokens) in sound {
        let mut state = SimpleState(rule::Around { file, function });
        let (parsed, faults) = rule::start(&rules, tokens.as_ref(), &mut state);
        // A keyword that is used as a name is reported once, even if it is used often.
        let mut misused = HashSet::new();
        for fault in faults {
            let repeated = |keyword: &str| !misused.insert(keyword.to_owned());
            if fault.misused_keyword().is_some_and(repeated) {
                continue;
            }
            let Some(diagnostic) = fault.into_diagnostic(tokens, file) else {
                continue;
            };
            diags.within(function.instance.as_ref(), |diags| diags.push(diagnostic));
        }
        functions.extend(parsed.flatten());
    }
    functions
}

/// The tokens with matching braces; `None`, with a report, if they nest too deeply.
fn balanced<'t>(function: &'t FunctionText, diags: &mut Diagnostics) -> Option<Cow<'t, [Token]>> {
    if let Some(diagnostic) = balance::too_deep(&function.tokens) {
        diags.push(diagnostic);
        return None;
    }
    Some(balance::repair(&function.tokens, function.complete, diags))
}
