//! The instances of one template, and the parts in which their signatures differ: all of them
//! become one Rust function, generic over these parts.
//!
//! A parameter of the template that is the element type of an argument is *decided* by the
//! arguments of a call. The others are *chosen* by the caller if two instances differ only in them;
//! otherwise they are omitted. An `int` that is an extent by itself is the generic parameter of
//! `Const`.

use std::collections::HashMap;

use super::declared::Declared;
use super::names::{self, Scope};
use super::rust_types::{Returned, is_written, rust};
use crate::ir::threads::Function;
use crate::ir::{Extent, ParamKind, ResultType, Scalar, TensorParam};
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::source::templates::{Argument, Instance, ParameterKind, Template};
use crate::symbolic::Sym;

pub struct Family<'a> {
    pub template: &'a Template,
    pub members: Vec<Member<'a>>,
    /// Parameters that a caller names, in their order.
    pub chosen: Vec<usize>,
    /// Type parameters that the arguments of a call determine, in their order.
    pub decided: Vec<usize>,
    /// Static extents, by parameter and axis.
    pub extents: SortedMap<(usize, usize), Varying>,
    /// By result: its element type.
    pub results: Vec<Option<Varying>>,
    /// Static extents, by result and axis.
    pub result_extents: SortedMap<(usize, usize), Varying>,
    /// For each parameter, whether some instance writes it.
    pub written: Vec<bool>,
    /// The generic parameters, by the template's parameters.
    pub generics: Vec<String>,
}

#[derive(Clone, Copy)]
pub struct Member<'a> {
    pub instance: &'a Instance,
    pub function: &'a Function,
}

impl Member<'_> {
    pub fn argument(&self, param: usize) -> Option<Argument> {
        self.instance.arguments.get(param).copied()
    }
}

/// A part of the signature that differs between instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Varying {
    /// The value of a parameter of the template, which is a generic parameter.
    Parameter(usize),
    /// An associated type of this name, with its Rust type for each member.
    Own { name: String, types: Vec<String> },
}

/// Two instances whose signatures cannot be unified.
#[derive(Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The function of the instance that differs.
    pub function: String,
    pub span: Span,
    pub message: String,
    pub first: String,
    pub first_span: Span,
}

/// The families of a file, in the order of their first instances.
pub fn families<'a>(functions: &'a [Function], declared: &Declared<'a>) -> Vec<Family<'a>> {
    let mut found: Vec<(usize, Vec<Member<'a>>)> = Vec::new();
    for function in functions {
        let Some(instance) = declared.instance(function) else {
            continue;
        };
        let member = Member { instance, function };
        match found.iter_mut().find(|(at, _)| *at == instance.template) {
            Some((_, members)) => members.push(member),
            None => found.push((instance.template, vec![member])),
        }
    }
    let family = |(at, members)| Some(Family::of(declared.templates.get(at)?, members));
    found.into_iter().filter_map(family).collect()
}

/// The instances whose parameters or results differ from the others' in a part that cannot be
/// generic.
pub fn disagreements(functions: &[Function], declared: &Declared<'_>) -> Vec<Disagreement> {
    let families = families(functions, declared);
    families.iter().flat_map(Family::disagreements).collect()
}

impl<'a> Family<'a> {
    fn of(template: &'a Template, members: Vec<Member<'a>>) -> Self {
        let of_arguments: SortedSet<usize> = template.decided.iter().flatten().copied().collect();
        let decided: Vec<usize> = of_arguments.iter().copied().collect();
        let chosen = chosen(template, &members, &decided);
        let mut scope = Scope::default();
        let generics = template.params.iter();
        let generics = generics.map(|param| scope.fresh(names::rust_type(&param.name)));
        let mut family = Self {
            template,
            chosen,
            decided,
            extents: SortedMap::new(),
            results: Vec::new(),
            result_extents: SortedMap::new(),
            written: written(&members),
            generics: generics.collect(),
            members,
        };
        family.find_extents();
        family.find_results();
        family
    }

    fn find_extents(&mut self) {
        let Some(first) = self.members.first() else {
            return;
        };
        for (at, param) in first.function.params.iter().enumerate() {
            let ParamKind::Tensor(tensor) = &param.kind else {
                continue;
            };
            for axis in 0..tensor.extents.len() {
                let extents = self.members.iter().map(|member| {
                    match tensor_of(member.function, at)?.extents.get(axis)? {
                        Extent::Static(n) => i64::try_from(*n).ok(),
                        _ => None,
                    }
                });
                let Some(values) = extents.collect::<Option<Vec<i64>>>() else {
                    continue;
                };
                let name = format!("{}_{axis}", param.name);
                let varying = self.varying(&values, name, |n| format!("Const<{n}>"));
                if let Some(varying) = varying {
                    self.extents.insert((at, axis), varying);
                }
            }
        }
    }

    fn find_results(&mut self) {
        let counts = self.members.iter().map(|m| m.function.results.len());
        for of in 0..counts.min().unwrap_or(0) {
            self.find_result(of);
        }
    }

    fn find_result(&mut self, of: usize) {
        let results = self.members.iter().map(|m| m.function.results.get(of));
        let Some(results) = results.collect::<Option<Vec<&ResultType>>>() else {
            return;
        };
        let several = self.members.first();
        let several = several.is_some_and(|m| m.function.results.len() > 1);
        let number = if several {
            of.to_string()
        } else {
            String::new()
        };
        let elems: Vec<Scalar> = results.iter().map(|result| result.elem()).collect();
        self.results.push(match self.element_of(&elems) {
            Some(at) => Some(Varying::Parameter(at)),
            None => own(&elems, format!("Element{number}"), |ty| {
                rust(*ty).to_owned()
            }),
        });
        let shapes: Vec<&[Sym]> = results.iter().map(|result| result.shape()).collect();
        let rank = shapes.first().map_or(0, |shape| shape.len());
        for axis in 0..rank {
            let types =
                self.members.iter().zip(&shapes).map(|(member, shape)| {
                    match Returned::of(member.function, shape.get(axis)?) {
                        Returned::Const(n) => Some(Ok(n)),
                        Returned::Derived => Some(Err("usize".to_owned())),
                        Returned::Dim(_) => None,
                    }
                });
            let Some(types) = types.collect::<Option<Vec<Result<i64, String>>>>() else {
                continue;
            };
            let values: Option<Vec<i64>> = types.iter().map(|ty| ty.clone().ok()).collect();
            let name = format!("result{number}_{axis}");
            let written = |n: &i64| format!("Const<{n}>");
            let varying = match values {
                Some(values) => self.varying(&values, name, written),
                None => own(&types, name, |ty| match ty {
                    Ok(n) => written(n),
                    Err(text) => text.clone(),
                }),
            };
            if let Some(varying) = varying {
                self.result_extents.insert((of, axis), varying);
            }
        }
    }

    /// The generic parameter that is the element type of the result: the one that the template
    /// names, or for `auto` one that has the same types.
    fn element_of(&self, elems: &[Scalar]) -> Option<usize> {
        let mut generic = self.decided.iter().chain(&self.chosen);
        if let Some(named) = self.template.returned {
            return generic.find(|at| **at == named).copied();
        }
        let is_elem = |at: usize| {
            let mut members = self.members.iter().zip(elems);
            members.all(|(member, elem)| match member.argument(at) {
                Some(Argument::Type(argument)) => argument.text() == elem.name(),
                _ => false,
            })
        };
        let first = elems.first()?;
        let varies = elems.iter().any(|elem| elem != first);
        generic.copied().find(|at| varies && is_elem(*at))
    }

    /// The generic form of a value that each member has; `None` if it is the same for all.
    fn varying(
        &self,
        values: &[i64],
        name: String,
        written: impl Fn(&i64) -> String,
    ) -> Option<Varying> {
        let is_value = |at: &&usize| {
            let mut members = self.members.iter().zip(values);
            members.all(|(member, value)| match member.argument(**at) {
                Some(Argument::Int(argument)) => i64::from(argument) == *value,
                _ => false,
            })
        };
        match self.chosen.iter().find(is_value) {
            Some(at) => Some(Varying::Parameter(*at)),
            None => own(values, name, written),
        }
    }

    /// Whether the parameter is an extent, so that its generic parameter is a `usize`.
    pub fn is_extent(&self, param: usize) -> bool {
        let of = |varying: &Varying| *varying == Varying::Parameter(param);
        self.extents
            .values()
            .chain(self.result_extents.values())
            .any(of)
    }

    /// The associated types of the instances.
    pub fn associated(&self) -> impl Iterator<Item = (&str, &[String])> {
        let extents = self.extents.values().chain(self.result_extents.values());
        extents
            .chain(self.results.iter().flatten())
            .filter_map(|varying| match varying {
                Varying::Own { name, types } => Some((name.as_str(), types.as_slice())),
                Varying::Parameter(_) => None,
            })
    }

    pub fn has(&self, function: &Function) -> bool {
        let mut members = self.members.iter();
        members.any(|member| member.function.name == function.name)
    }

    fn disagreements(&self) -> Vec<Disagreement> {
        let reference = self.members.iter().find(|m| !m.instance.specialised);
        let Some(reference) = reference.or(self.members.first()) else {
            return Vec::new();
        };
        let disagreeing = |member: &Member<'a>| Some((*member, self.differs(member, reference)?));
        let found = self.members.iter().filter_map(disagreeing);
        let disagreement = |(member, message): (Member<'a>, String)| Disagreement {
            function: member.function.name.clone(),
            span: place(&member),
            message: format!("`{}` {message}", member.instance.name.text),
            first: reference.instance.name.text.to_string(),
            first_span: place(reference),
        };
        found.map(disagreement).chain(self.same_in_rust()).collect()
    }

    /// Instances for different types that are one type in Rust.
    fn same_in_rust(&self) -> Vec<Disagreement> {
        let generic: Vec<usize> = self.decided.iter().chain(&self.chosen).copied().collect();
        let in_rust = |member: &Member<'_>| -> Vec<Option<String>> {
            let arguments = generic.iter().map(|at| member.argument(*at));
            arguments.map(|of| of.map(rust_argument)).collect()
        };
        let mut found = Vec::new();
        let mut seen: HashMap<Vec<Option<String>>, &Member<'_>> = HashMap::new();
        for member in &self.members {
            let first = *seen.entry(in_rust(member)).or_insert(member);
            if !std::ptr::eq(first, member) {
                found.push(Disagreement {
                    function: member.function.name.clone(),
                    span: place(member),
                    message: format!(
                        "`{}` has the types of another instance in Rust",
                        member.instance.name.text
                    ),
                    first: first.instance.name.text.to_string(),
                    first_span: place(first),
                });
            }
        }
        found
    }

    /// The difference between the signatures of a member and of the first one, in a part that is
    /// not generic.
    fn differs(&self, member: &Member<'_>, first: &Member<'_>) -> Option<String> {
        let (params, others) = (&member.function.params, &first.function.params);
        if params.len() != others.len() {
            let (n, m) = (params.len(), others.len());
            return Some(format!("has {n} parameters, another instance has {m}"));
        }
        for (at, (param, other)) in params.iter().zip(others).enumerate() {
            let elem = |member: &Member<'_>, own: Scalar| match self.template.decided.get(at) {
                Some(Some(decided)) => match member.argument(*decided) {
                    Some(Argument::Type(elem)) => Scalar::named(elem.text()) == Some(own),
                    _ => false,
                },
                _ => true,
            };
            let same = match (&param.kind, &other.kind) {
                (ParamKind::Stream, ParamKind::Stream) => true,
                (ParamKind::Scalar { ty, .. }, ParamKind::Scalar { ty: first, .. }) => {
                    elem(member, *ty) && (ty == first || self.is_generic(at))
                }
                (ParamKind::Tensor(tensor), ParamKind::Tensor(first)) => {
                    elem(member, tensor.elem)
                        && (tensor.elem == first.elem || self.is_generic(at))
                        && tensor.passing == first.passing
                        && same_extents(tensor, first)
                }
                _ => false,
            };
            if !same {
                return Some(format!(
                    "has another type of the parameter `{}` than the template",
                    param.name
                ));
            }
        }
        let (results, others) = (&member.function.results, &first.function.results);
        let alike = |(result, other): (&ResultType, &ResultType)| match (result, other) {
            (ResultType::Scalar(_), ResultType::Scalar(_))
            | (ResultType::Element(_), ResultType::Element(_)) => true,
            (
                ResultType::Tensor { shape, .. },
                ResultType::Tensor {
                    shape: first_shape, ..
                },
            ) => {
                let mut dims = shape.iter().zip(first_shape).map(|(extent, other)| {
                    let extent = Returned::of(member.function, extent);
                    let other = Returned::of(first.function, other);
                    match (extent, other) {
                        (Returned::Dim(dim), Returned::Dim(other)) => dim == other,
                        (Returned::Dim(_), _) | (_, Returned::Dim(_)) => false,
                        _ => true,
                    }
                });
                shape.len() == first_shape.len() && dims.all(|same| same)
            }
            _ => false,
        };
        let same = results.len() == others.len() && results.iter().zip(others).all(alike);
        (!same).then(|| "has another type of result than the template".to_owned())
    }

    /// Whether the element type of a parameter of the function is a parameter of the template.
    fn is_generic(&self, param: usize) -> bool {
        matches!(self.template.decided.get(param), Some(Some(_)))
    }
}

fn place(member: &Member<'_>) -> Span {
    let span = member.instance.name.asked.span();
    span.unwrap_or(member.function.span)
}

/// The parameters that distinguish instances with the same decided ones.
fn chosen(template: &Template, members: &[Member<'_>], decided: &[usize]) -> Vec<usize> {
    let value = |member: &Member<'_>, at: usize| member.argument(at).map(|a| a.to_string());
    let combinations = members.iter().map(|member| {
        let types = decided.iter().map(|at| value(member, *at));
        types.collect::<Vec<_>>()
    });
    let distinct: SortedSet<_> = combinations.collect();
    if distinct.len() == members.len() {
        return Vec::new();
    }
    let differs = |at: &usize| {
        let values: SortedSet<_> = members.iter().map(|member| value(member, *at)).collect();
        values.len() > 1
    };
    let others = (0..template.params.len()).filter(|at| !decided.contains(at));
    others.filter(differs).collect()
}

fn written(members: &[Member<'_>]) -> Vec<bool> {
    let params = members
        .first()
        .map_or(0, |member| member.function.params.len());
    let is_written = |at: usize| {
        members.iter().any(|member| {
            let tensor = tensor_of(member.function, at);
            tensor.is_some_and(|tensor| is_written(member.function, tensor))
        })
    };
    (0..params).map(is_written).collect()
}

fn tensor_of(function: &Function, param: usize) -> Option<&TensorParam> {
    match &function.params.get(param)?.kind {
        ParamKind::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// An associated type, if the values are not all the same.
fn own<V: PartialEq>(
    values: &[V],
    name: String,
    written: impl Fn(&V) -> String,
) -> Option<Varying> {
    let first = values.first()?;
    let types = values.iter().map(written).collect();
    let differ = values.iter().any(|value| value != first);
    differ.then_some(Varying::Own { name, types })
}

fn same_extents(tensor: &TensorParam, other: &TensorParam) -> bool {
    let same = |(a, b): (&Extent, &Extent)| match (a, b) {
        (Extent::Static(_), Extent::Static(_)) => true,
        _ => a == b,
    };
    tensor.extents.len() == other.extents.len()
        && tensor.extents.iter().zip(&other.extents).all(same)
}

/// The argument of a template in the syntax of Rust.
pub fn rust_argument(argument: Argument) -> String {
    match argument {
        Argument::Type(elem) => Scalar::named(elem.text()).map_or("()", rust).to_owned(),
        Argument::Int(value) if value < 0 => format!("{{{value}}}"),
        other => other.to_string(),
    }
}

pub fn is_type(template: &Template, param: usize) -> bool {
    let param = template.params.get(param);
    param.is_some_and(|param| param.kind == ParameterKind::Type)
}
