//! What a `.co` file declares, for texts that refer to it.

use crate::ir::threads::Function;
use crate::source::SourceFile;
use crate::source::templates::{Instance, Template};

#[derive(Clone, Copy, Default)]
pub struct Declared<'a> {
    /// The text of the file.
    pub text: &'a str,
    pub templates: &'a [Template],
    pub instances: &'a [Instance],
}

impl<'a> Declared<'a> {
    pub fn of(file: &'a SourceFile) -> Self {
        Self {
            text: &file.text,
            templates: &file.templates,
            instances: &file.instances,
        }
    }

    /// The instance of a template that the function is.
    pub fn instance(&self, function: &Function) -> Option<&'a Instance> {
        let mut instances = self.instances.iter();
        instances.find(|instance| instance.function == function.name)
    }

    /// The function's name as the file writes it: `scale`, or `scaled<f16, 64>`.
    pub fn name(&self, function: &Function) -> String {
        match self.instance(function) {
            Some(instance) => instance.name.text.to_string(),
            None => function.name.clone(),
        }
    }
}
