//! Names of registers, variables and labels, by scope.
//!
//! Inside a function, braces open a scope: nvcc prints a call and each inline assembly in one, and
//! their registers and labels hide those outside. Registers and variables are declared before their
//! use; a label may follow it, up to the end of its scope.

use std::collections::HashMap;

use super::error::Fault;
use super::syntax::{Label, RegisterId, VariableId};

#[derive(Clone, PartialEq, Debug)]
pub enum Name {
    Register(RegisterId),
    Variable(VariableId),
    /// `.branchtargets`
    Targets(Vec<String>),
    /// `.calltargets`, `.callprototype`
    Prototype,
}

/// An operand that names a label, by the index of its instruction and of the operand.
#[derive(Clone, Debug)]
pub struct Use {
    pub name: String,
    pub instruction: usize,
    pub operand: usize,
    /// For one of several targets: its index among them.
    pub target: usize,
    pub line: u32,
}

#[derive(Default, Debug)]
pub struct Scope {
    names: HashMap<String, Name>,
    labels: HashMap<String, Label>,
    uses: Vec<Use>,
}

#[derive(Debug)]
pub struct Scopes {
    open: Vec<Scope>,
}

impl Scopes {
    pub fn new() -> Scopes {
        Scopes {
            open: vec![Scope::default()],
        }
    }

    pub fn enter(&mut self) {
        self.open.push(Scope::default());
    }

    /// The uses that are now known to mean a label of the innermost scope. False for the scope of
    /// the function itself, which is left by [`Scopes::finish`].
    pub fn leave(&mut self) -> Option<Vec<(Use, Label)>> {
        if self.open.len() < 2 {
            return None;
        }
        let scope = self.open.pop()?;
        let (known, unknown) = resolve(scope);
        if let Some(outer) = self.open.last_mut() {
            outer.uses.extend(unknown);
        }
        Some(known)
    }

    pub fn finish(mut self) -> Result<Vec<(Use, Label)>, Fault> {
        let Some(scope) = self.open.pop() else {
            return Ok(Vec::new());
        };
        let (known, unknown) = resolve(scope);
        match unknown.first() {
            None => Ok(known),
            Some(first) => Err(Fault::new(
                first.line,
                format!("there is no label `{}`", first.name),
            )),
        }
    }

    pub fn declare(&mut self, name: &str, what: Name, line: u32) -> Result<(), Fault> {
        let Some(scope) = self.open.last_mut() else {
            return Ok(());
        };
        match scope.names.insert(name.to_owned(), what) {
            None => Ok(()),
            Some(_) => Err(Fault::new(line, format!("`{name}` is declared twice"))),
        }
    }

    pub fn declare_label(&mut self, name: &str, at: Label, line: u32) -> Result<(), Fault> {
        let Some(scope) = self.open.last_mut() else {
            return Ok(());
        };
        match scope.labels.insert(name.to_owned(), at) {
            None => Ok(()),
            Some(_) => Err(Fault::new(
                line,
                format!("label `{name}` is declared twice"),
            )),
        }
    }

    pub fn find(&self, name: &str) -> Option<&Name> {
        self.open
            .iter()
            .rev()
            .find_map(|scope| scope.names.get(name))
    }

    pub fn use_label(&mut self, wanted: Use) {
        if let Some(scope) = self.open.last_mut() {
            scope.uses.push(wanted);
        }
    }
}

fn resolve(scope: Scope) -> (Vec<(Use, Label)>, Vec<Use>) {
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    for wanted in scope.uses {
        match scope.labels.get(&wanted.name) {
            Some(label) => known.push((wanted, *label)),
            None => unknown.push(wanted),
        }
    }
    (known, unknown)
}
