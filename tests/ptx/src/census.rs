//! Which instruction forms a set of modules has.

use std::collections::BTreeMap;

use crate::parse::Module;

/// Forms by name, each with how often it occurs.
#[derive(Default, Debug)]
pub struct Census {
    forms: BTreeMap<String, u64>,
}

impl Census {
    pub fn add(&mut self, module: &Module) {
        let bodies = module
            .functions
            .iter()
            .filter_map(|function| function.body.as_ref());
        for instruction in bodies.flat_map(|body| &body.instructions) {
            *self
                .forms
                .entry(instruction.mnemonic.to_string())
                .or_default() += 1;
        }
    }

    pub fn forms(&self) -> &BTreeMap<String, u64> {
        &self.forms
    }
}
