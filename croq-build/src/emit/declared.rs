//! Declarations of a `.co` file that printers of other text refer to.

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

    /// The template instance of which the function was made, if any.
    pub fn instance(&self, function: &Function) -> Option<&'a Instance> {
        let mut instances = self.instances.iter();
        instances.find(|instance| instance.function == function.name)
    }

    /// The function's name in the syntax of the file: `scale`, or `scaled<f16, 64>`.
    pub fn name(&self, function: &Function) -> String {
        match self.instance(function) {
            Some(instance) => instance.name.text.to_string(),
            None => function.name.clone(),
        }
    }
}
