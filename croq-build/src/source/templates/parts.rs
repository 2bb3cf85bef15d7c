//! A template, its parameters, and an instance with its arguments.

use std::fmt;
use std::sync::Arc;

use crate::diagnostics::{Asked, InstanceName};
use crate::source::function_text::FunctionText;
use crate::source::token::{ElemType, Token};
use crate::span::Span;

/// A function template.
#[derive(Debug)]
pub struct Template {
    pub name: Arc<str>,
    pub name_span: Span,
    pub params: Vec<Parameter>,
    /// From `template` to the closing brace.
    pub span: Span,
    pub function: FunctionText,
    /// For each parameter of the function the template's parameter that is its element type.
    pub decided: Vec<Option<usize>>,
    /// The template's parameter that is the element type of the result.
    pub returned: Option<usize>,
    /// Whether it has an instance.
    pub used: bool,
}

#[derive(Clone, Debug)]
pub struct Parameter {
    pub name: Arc<str>,
    pub span: Span,
    pub kind: ParameterKind,
    pub default: Option<Vec<Token>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    Type,
    Int,
    Bool,
}

impl ParameterKind {
    /// The name of this kind of argument in messages.
    pub fn described(self) -> &'static str {
        match self {
            Self::Type => "an element type",
            Self::Int => "an integer",
            Self::Bool => "a boolean",
        }
    }

    /// The beginning of a declaration of this kind.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Type => "typename",
            Self::Int => "int",
            Self::Bool => "bool",
        }
    }

    /// An example value, for a line that would create an instance.
    pub fn example(self) -> &'static str {
        match self {
            Self::Type => "f32",
            Self::Int => "64",
            Self::Bool => "true",
        }
    }
}

/// The value of a template's parameter in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    Type(ElemType),
    Int(i32),
    Bool(bool),
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(elem) => f.write_str(elem.text()),
            Self::Int(value) => value.fmt(f),
            Self::Bool(value) => value.fmt(f),
        }
    }
}

/// An instance of a template: a function.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The position of the template in the file's list.
    pub template: usize,
    pub arguments: Vec<Argument>,
    /// The name of the function: `scaled_f16_64_true`.
    pub function: String,
    /// `scaled<f16, 64, true>`, and the location of the request.
    pub name: InstanceName,
    /// Whether it is a specialisation with its own body.
    pub specialised: bool,
}

/// `scaled<f16, 64, true>`
pub fn shown(template: &str, arguments: &[Argument]) -> String {
    let arguments: Vec<String> = arguments.iter().map(Argument::to_string).collect();
    format!("{template}<{}>", arguments.join(", "))
}

/// The template declarations of a file.
#[derive(Debug, Default)]
pub struct Found {
    pub templates: Vec<Template>,
    pub specialisations: Vec<Specialisation>,
    pub requests: Vec<Request>,
    /// The names of templates with a reported error in their declaration.
    pub broken: Vec<Arc<str>>,
}

/// `template __co__ scaled<f16>;`
#[derive(Debug)]
pub struct Request {
    pub name: Arc<str>,
    /// `scaled<f16>`
    pub span: Span,
    pub arguments: Vec<Token>,
    pub asked: Asked,
}

/// `template <> __co__ void scaled<bf16, 64, true>(…) { … }`
#[derive(Debug)]
pub struct Specialisation {
    pub request: Request,
    /// Without the arguments after its name.
    pub function: FunctionText,
}
