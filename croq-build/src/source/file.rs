//! The result of `source`: the functions, the device code, and the mapping to lines.

use std::collections::HashMap;

use super::Span;
use super::expansion::Expansions;
use super::function_text::FunctionText;
use super::templates::parts::{Instance, Template};
use crate::diagnostics::quoted::Quoted;

/// One `.co` file after reading.
#[derive(Debug, Default)]
pub struct SourceFile {
    /// The path in messages.
    pub path: String,
    pub text: String,
    /// The `__co__` functions, in order; an instance of a template is at the position of the
    /// template.
    pub functions: Vec<FunctionText>,
    pub templates: Vec<Template>,
    /// The functions that are instances of templates.
    pub instances: Vec<Instance>,
    /// The namespace in which `call` finds functions by their plain names.
    pub device_namespace: Option<String>,
    /// The other parts of the device code, in order.
    pub device: Vec<DeviceText>,
    /// Functions of the host, which are not part of the output.
    pub host_functions: Vec<(String, Span)>,
    /// The headers that it includes by `#include "…"`, each with the location of its name.
    pub includes: Vec<(String, Span)>,
    /// The branches of conditionals that are not compiled.
    pub dead_branches: Vec<Span>,
    /// Whether a macro makes functions, which are reported and not known.
    pub hidden_functions: bool,
    /// Notes for the build log, at most one of a kind.
    pub notes: Vec<Note>,
    pub(super) expansions: Expansions,
    pub(super) line_starts: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceText {
    pub kind: DeviceTextKind,
    pub text: String,
    pub span: Span,
    /// The functions that it declares, if their names can be determined.
    pub names: Vec<String>,
}

impl DeviceText {
    /// A macro that the build defines, as if the file began with it.
    pub(super) fn definition(name: &str, value: &str) -> Self {
        let value = if value.is_empty() { "1" } else { value };
        Self {
            kind: DeviceTextKind::HostKept,
            text: format!("#define {name} {value}"),
            span: Span::default(),
            names: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceTextKind {
    /// A `__device__` function or variable, with the declaration specifiers before it.
    Device,
    /// The contents of a `__cok__` block.
    Kernel,
    /// A preprocessor line or a declaration that device code may need.
    HostKept,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub span: Span,
    pub text: String,
}

impl SourceFile {
    pub(super) fn index_lines(text: &str) -> Vec<u32> {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at as u32 + 1));
        starts
    }

    /// 1-based line and column; the column counts characters.
    pub fn line_col(&self, byte: u32) -> (u32, u32) {
        let line = self
            .line_starts
            .partition_point(|start| *start <= byte)
            .max(1)
            - 1;
        let start = self.line_starts.get(line).copied().unwrap_or(0) as usize;
        let end = (byte as usize).min(self.text.len());
        let before = self.text.as_bytes().get(start..end).unwrap_or_default();
        // Bytes that begin a character.
        let column = before.iter().filter(|b| !matches!(b, 0x80..=0xbf)).count();
        (line as u32 + 1, column as u32 + 1)
    }

    /// The 1-based line where `span` starts.
    pub fn line(&self, span: Span) -> u32 {
        self.line_col(span.start).0
    }

    /// The macro that `span` is a use of.
    pub fn macro_at(&self, span: Span) -> Option<&str> {
        self.expansions.macro_at(span)
    }

    /// The source text of `span`.
    pub fn snippet(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// The instance that a function is, by the function's name.
    pub fn instance(&self, function: &str) -> Option<&Instance> {
        let mut instances = self.instances.iter();
        instances.find(|instance| instance.function == function)
    }

    /// A function's name in the syntax of the file: `scaled<f32, 2>` for an instance.
    pub fn name_of<'n>(&'n self, function: &'n str) -> &'n str {
        match self.instance(function) {
            Some(instance) => &instance.name.text,
            None => function,
        }
    }

    /// A function's name where it is declared: `scaled` for each instance of a template.
    pub fn declared_name_of<'n>(&'n self, function: &'n str) -> &'n str {
        match self.instance(function) {
            Some(instance) => instance.name.text.split('<').next().unwrap_or(function),
            None => function,
        }
    }

    /// The function that contains `span`.
    pub fn function_at(&self, span: Span) -> Option<&FunctionText> {
        self.functions
            .iter()
            .find(|function| function.span.start <= span.start && span.end <= function.span.end)
    }

    /// The device texts by the names that they declare.
    pub fn device_names(&self) -> HashMap<&str, &DeviceText> {
        let mut names = HashMap::new();
        for text in &self.device {
            for name in &text.names {
                names.entry(name.as_str()).or_insert(text);
            }
        }
        names
    }
}

impl Quoted for SourceFile {
    fn path(&self) -> &str {
        &self.path
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn line_starts(&self) -> &[u32] {
        &self.line_starts
    }

    fn line_col(&self, byte: u32) -> (u32, u32) {
        self.line_col(byte)
    }

    fn macro_at(&self, span: Span) -> Option<&str> {
        self.macro_at(span)
    }
}
