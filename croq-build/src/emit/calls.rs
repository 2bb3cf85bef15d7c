//! How a program calls the generated functions: their Rust paths, and what their parameters and results
//! are. `croq tune` writes such a program.

use super::declared::Declared;
use super::family::{self, Family};
use super::names;
use super::rust_types::{Naming, is_written, rust};
use crate::ir::threads::Function;
use crate::ir::{Class, Extent, ParamKind, Passing, ResultType, Scalar, TensorParam};
use crate::source::templates::Argument;

/// One function, or one instance of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// In the syntax of the file: `scale`, or `scaled<f16, 64>`.
    pub name: String,
    /// In the file's module, with the generic arguments that select an instance.
    pub path: String,
    pub params: Vec<CallParam>,
    pub results: Vec<CallResult>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallParam {
    pub name: String,
    pub kind: CallParamKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallParamKind {
    Scalar(Element),
    Tensor {
        element: Element,
        extents: Vec<CallExtent>,
        place: Place,
    },
    Stream,
}

/// Where a tensor is, and whether the function writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// By value: on the host or on the device, and only read.
    Value,
    /// A tensor of the host, which is written.
    Host,
    /// A tensor of the device.
    Device { written: bool },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallExtent {
    Known(u64),
    /// The caller chooses it.
    Named(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallResult {
    Scalar(Element),
    Tensor(Element),
}

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// In the syntax of the file.
    pub name: &'static str,
    /// In Rust.
    pub rust: &'static str,
    pub class: ElementClass,
    /// Whether several values share a byte.
    pub is_packed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementClass {
    /// With the number of bits of the significand.
    Float(u32),
    Signed,
    Unsigned,
    Bool,
}

impl Element {
    fn of(ty: Scalar) -> Self {
        let info = ty.info();
        Self {
            name: info.name,
            rust: rust(ty),
            class: match info.class {
                Class::Float(format) => ElementClass::Float(format.digits),
                Class::Signed => ElementClass::Signed,
                Class::Unsigned => ElementClass::Unsigned,
                Class::Bool => ElementClass::Bool,
            },
            is_packed: info.bits < 8,
        }
    }
}

/// The functions of a file, in its order.
pub fn calls(functions: &[Function], declared: &Declared<'_>) -> Vec<Call> {
    let families = family::families(functions, declared);
    let call = |function: &Function| {
        let family = families.iter().find(|family| family.has(function));
        Call {
            name: declared.name(function),
            path: family.map_or_else(
                || names::rust_value(&function.name),
                |family| path(family, function),
            ),
            params: params(function),
            results: function.results.iter().map(result).collect(),
        }
    };
    functions.iter().map(call).collect()
}

/// The path of an instance: `scaled::<128, _, _>`.
fn path(family: &Family<'_>, function: &Function) -> String {
    let name = names::rust_value(&family.template.name);
    let mut members = family.members.iter();
    let member = members.find(|member| member.function.name == function.name);
    let (Some(member), false) = (member, family.chosen.is_empty()) else {
        return name;
    };
    let chosen = family
        .chosen
        .iter()
        .map(|param| match member.argument(*param) {
            Some(Argument::Int(value)) => format!("{{ {value} }}"),
            Some(Argument::Bool(value)) => value.to_string(),
            _ => "_".to_owned(),
        });
    let others = family.decided.len() + Naming::of(function).generics.len();
    let inferred = std::iter::repeat_n("_".to_owned(), others);
    let arguments: Vec<String> = chosen.chain(inferred).collect();
    format!("{name}::<{}>", arguments.join(", "))
}

fn params(function: &Function) -> Vec<CallParam> {
    let param = |param: &crate::ir::Param| CallParam {
        name: param.name.clone(),
        kind: match &param.kind {
            ParamKind::Scalar { ty, .. } => CallParamKind::Scalar(Element::of(*ty)),
            ParamKind::Stream => CallParamKind::Stream,
            ParamKind::Tensor(tensor) => CallParamKind::Tensor {
                element: Element::of(tensor.elem),
                extents: extents(function, &param.name, tensor),
                place: match tensor.passing {
                    Passing::In => Place::Value,
                    Passing::InOut => Place::Host,
                    Passing::Global => Place::Device {
                        written: is_written(function, tensor),
                    },
                },
            },
        },
    };
    function.params.iter().map(param).collect()
}

/// An extent without a name in the file is called by its parameter and its axis: `x_0`.
fn extents(function: &Function, param: &str, tensor: &TensorParam) -> Vec<CallExtent> {
    let extents = tensor.extents.iter().enumerate();
    let extents = extents.map(|(axis, extent)| {
        let positional = || CallExtent::Named(format!("{param}_{axis}"));
        match extent {
            Extent::Static(n) => CallExtent::Known(*n),
            Extent::Unbounded => positional(),
            Extent::Dim { dim, .. } => match function.dims.get(dim.index()) {
                Some(dim) if !dim.anonymous => CallExtent::Named(dim.name.clone()),
                _ => positional(),
            },
        }
    });
    extents.collect()
}

fn result(result: &ResultType) -> CallResult {
    match result {
        ResultType::Scalar(ty) | ResultType::Element(ty) => CallResult::Scalar(Element::of(*ty)),
        ResultType::Tensor { elem, .. } => CallResult::Tensor(Element::of(*elem)),
    }
}
