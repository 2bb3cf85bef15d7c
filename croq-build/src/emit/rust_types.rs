//! The parameters of a function in Rust: names, generic parameters and types.

use super::declared::Declared;
use super::file_meta::FileMeta;
use super::names::{self, Scope};
use super::writer::Lines;
use crate::ir::threads::Function;
use crate::ir::{
    DimId, Extent, Param, ParamId, ParamKind, Passing, ResultType, Scalar, TensorParam, VarHome,
};
use crate::sorted::SortedMap;
use crate::source::templates::Instance;
use crate::symbolic::Sym;

/// The length from which on a list is printed on separate lines.
pub const LONG: usize = 88;

pub struct Wrapper<'a> {
    pub meta: &'a FileMeta,
    pub function: &'a Function,
    pub declared: &'a Declared<'a>,
    /// The instance of a template that the function is: its wrappers are private.
    pub instance: Option<&'a Instance>,
    pub lines: &'a Lines<'a>,
    pub name: String,
    /// The name of the function that returns the kernel's description.
    pub kernel: String,
    /// The name of the function that prepares a call, if two wrappers share it.
    pub prepare: Option<String>,
    /// The name of the wrapper that waits, if this is the one that only enqueues.
    pub plain: Option<String>,
    pub naming: Naming,
}

/// The parts of a signature that differ between the instances of a template, as in the signature
/// that they share.
#[derive(Clone, Default)]
pub struct Style {
    /// Generic parameters of the template, whose names are taken.
    pub generics: Vec<String>,
    /// By parameter: its element type.
    pub elems: Vec<Option<String>>,
    /// By parameter and axis: the generic form of a static extent.
    pub extents: SortedMap<(usize, usize), String>,
    /// For each parameter, whether some instance writes it.
    pub written: Vec<bool>,
    /// By result: its element type.
    pub results: Vec<Option<String>>,
    /// By result and axis: what a static extent is.
    pub result_extents: SortedMap<(usize, usize), String>,
}

impl Style {
    fn elem(&self, param: ParamId, ty: Scalar) -> String {
        let own = self.elems.get(param.index()).cloned().flatten();
        own.unwrap_or_else(|| rust(ty).to_owned())
    }
}

/// The names of all parts of a wrapper.
pub struct Naming {
    style: Style,
    /// By parameter.
    params: Vec<String>,
    /// By dimension: the variable with its value.
    dims: Vec<String>,
    /// By dimension: the generic parameter of its first occurrence.
    dim_types: Vec<String>,
    /// By tensor parameter and axis.
    axis_types: Vec<Vec<String>>,
    /// The first parameter by value of a function that returns tensors, and its generic parameter:
    /// results are where the argument is.
    place_of_results: Option<(ParamId, String)>,
    /// `K_rhs: Same<K>` …, in order.
    pub generics: Vec<String>,
    /// The wrapper's own variables.
    pub kernel: String,
    pub call: String,
    pub args: String,
    pub stream: String,
}

impl Naming {
    pub fn of(function: &Function) -> Self {
        Self::styled(function, Style::default())
    }

    pub fn styled(function: &Function, style: Style) -> Self {
        let mut values = Scope::default();
        let params: Vec<_> = function
            .params
            .iter()
            .map(|p| values.fresh(names::rust_value(&p.name)))
            .collect();
        let dims = function
            .dims
            .iter()
            .map(|d| values.fresh(names::rust_value(&d.name)))
            .collect();
        let mut types = Scope::default();
        for generic in &style.generics {
            types.fresh(generic.clone());
        }
        let mut generics = Vec::new();
        let mut generic = |wanted: String, bound: String, types: &mut Scope| {
            let name = types.fresh(names::rust_type(&wanted));
            generics.push(format!("{name}: {bound}"));
            name
        };
        let dim_types: Vec<_> = function
            .dims
            .iter()
            .map(|d| generic(d.name.clone(), "Dim".to_owned(), &mut types))
            .collect();
        let mut axis_types = Vec::new();
        for (at, param) in function.params.iter().enumerate() {
            let ParamKind::Tensor(tensor) = &param.kind else {
                axis_types.push(Vec::new());
                continue;
            };
            let mut axes = Vec::new();
            for (axis, extent) in tensor.extents.iter().enumerate() {
                let positional = format!("{}_{axis}", param.name);
                axes.push(match extent {
                    Extent::Static(n) => {
                        let own = style.extents.get(&(at, axis)).cloned();
                        let same = own.unwrap_or_else(|| format!("Const<{n}>"));
                        generic(positional, format!("Same<{same}>"), &mut types)
                    }
                    Extent::Unbounded => generic(positional, "Dim".to_owned(), &mut types),
                    Extent::Dim { dim, declares } => {
                        let first = dim_types.get(dim.index()).cloned().unwrap_or_default();
                        if *declares {
                            first
                        } else {
                            let name = function.dims.get(dim.index()).map_or("", |d| &d.name);
                            let mut wanted = format!("{name}_{}", param.name);
                            if types.contains(&wanted) {
                                wanted = format!("{wanted}_{axis}");
                            }
                            generic(wanted, format!("Same<{first}>"), &mut types)
                        }
                    }
                });
            }
            axis_types.push(axes);
        }
        let place_of_results = first_input(function).map(|(id, param, tensor)| {
            let axes = axis_types.get(id.index()).map_or(&[][..], Vec::as_slice);
            let bound = input(&style.elem(id, tensor.elem), &tuple(axes));
            (id, generic(capitalised(&param.name), bound, &mut types))
        });
        let kernel = values.fresh("kernel".to_owned());
        let call = values.fresh("call".to_owned());
        let args = values.fresh("args".to_owned());
        let stream = values.fresh("stream".to_owned());
        Self {
            style,
            params,
            dims,
            dim_types,
            axis_types,
            place_of_results,
            generics,
            kernel,
            call,
            args,
            stream,
        }
    }

    pub fn param(&self, id: ParamId) -> &str {
        self.params.get(id.index()).map_or("", String::as_str)
    }

    pub fn dim(&self, id: DimId) -> &str {
        self.dims.get(id.index()).map_or("", String::as_str)
    }

    /// The parameter's type.
    pub fn param_type(&self, function: &Function, id: ParamId) -> String {
        let axes = self
            .axis_types
            .get(id.index())
            .map_or(&[][..], Vec::as_slice);
        match &self.place_of_results {
            Some((first, generic)) if *first == id => format!("&{generic}"),
            _ => param_type(function, id, &tuple(axes), &self.style),
        }
    }

    /// The parameter's type for a function that only uses the number of its axes. That of a
    /// parameter by value has a generic parameter, [`untyped_generics`](Self::untyped_generics).
    pub fn untyped_param(&self, function: &Function, id: ParamId) -> String {
        let extents = match is_input(function, id) {
            true => format!("D{}", id.index()),
            false => format!("impl {}", self.any_extents(id)),
        };
        param_type(function, id, &extents, &self.style)
    }

    /// The generic parameters for [`untyped_param`](Self::untyped_param).
    pub fn untyped_generics(&self, function: &Function) -> Vec<String> {
        let inputs = tensors(function).filter(|(id, ..)| is_input(function, *id));
        inputs
            .map(|(id, ..)| format!("D{}: {}", id.index(), self.any_extents(id)))
            .collect()
    }

    fn any_extents(&self, id: ParamId) -> String {
        let rank = self.axis_types.get(id.index()).map_or(0, Vec::len);
        format!("::croq_sys::Dims<Index = [usize; {rank}]>")
    }

    /// The parameter whose argument returns the results of the waiting form, and the element type of
    /// this one.
    pub fn output_of(&self, of: usize, result: &ResultType) -> Option<(&str, String)> {
        let (id, _) = self.place_of_results.as_ref()?;
        Some((self.param(*id), self.result_elem(of, result)))
    }

    fn result_elem(&self, of: usize, result: &ResultType) -> String {
        let elem = self.style.results.get(of).cloned().flatten();
        elem.unwrap_or_else(|| rust(result.elem()).to_owned())
    }

    /// The type of a wrapper's result, with tensors of type `kind`.
    pub fn return_type(&self, function: &Function, kind: &str) -> String {
        let results = function.results.iter().enumerate();
        let types: Vec<String> = results
            .map(|(of, result)| self.result_type(function, of, result, kind))
            .collect();
        match types.as_slice() {
            [one] => one.clone(),
            types => tuple(types),
        }
    }

    fn result_type(
        &self,
        function: &Function,
        of: usize,
        result: &ResultType,
        kind: &str,
    ) -> String {
        let elem = self.result_elem(of, result);
        let shape = match result {
            ResultType::Scalar(_) => return elem,
            ResultType::Element(_) if kind == "Tensor" => return elem,
            ResultType::Element(_) => &[],
            ResultType::Tensor { shape, .. } => shape.as_slice(),
        };
        let own = |axis: usize| self.style.result_extents.get(&(of, axis)).cloned();
        let extents: Vec<_> = shape
            .iter()
            .enumerate()
            .map(|(axis, extent)| match Returned::of(function, extent) {
                _ if own(axis).is_some() => own(axis).unwrap_or_default(),
                Returned::Const(n) => format!("Const<{n}>"),
                Returned::Dim(dim) => self.dim_types.get(dim.index()).cloned().unwrap_or_default(),
                Returned::Derived => "usize".to_owned(),
            })
            .collect();
        let kind = match &self.place_of_results {
            Some((_, generic)) if kind == "Tensor" => format!("{generic}::Output"),
            _ => kind.to_owned(),
        };
        format!("{kind}<{elem}, {}>", tuple(&extents))
    }

    /// The value of a dimension's first occurrence, with its type.
    pub fn typed_dim(&self, function: &Function, dim: DimId) -> String {
        match function.dims.get(dim.index()) {
            Some(d) => format!("{}.dims().{}", self.param(d.param), d.axis),
            None => String::new(),
        }
    }
}

/// The type of a parameter whose extents are of this type, if it is a tensor.
fn param_type(function: &Function, id: ParamId, extents: &str, style: &Style) -> String {
    let tensor = match &function.param(id).kind {
        ParamKind::Scalar { ty, .. } => return style.elem(id, *ty),
        ParamKind::Stream => return "&Stream".to_owned(),
        ParamKind::Tensor(tensor) => tensor,
    };
    let elem = style.elem(id, tensor.elem);
    let written = style.written.get(id.index()).copied();
    let written = written.unwrap_or_else(|| is_written(function, tensor));
    match tensor.passing {
        Passing::In => format!("&impl {}", input(&elem, extents)),
        Passing::InOut => format!("&mut Tensor<{elem}, {extents}, impl HostDataMut<{elem}>>"),
        Passing::Global if written => {
            format!("&mut DeviceTensor<{elem}, {extents}, impl DeviceDataMut>")
        }
        Passing::Global => format!("&DeviceTensor<{elem}, {extents}, impl DeviceData>"),
    }
}

/// The bound of a parameter by value.
fn input(elem: &str, extents: &str) -> String {
    format!("Input<{elem}, {extents}>")
}

fn is_input(function: &Function, id: ParamId) -> bool {
    matches!(&function.param(id).kind, ParamKind::Tensor(tensor) if tensor.passing == Passing::In)
}

/// The first parameter by value, if the function returns tensors.
fn first_input(function: &Function) -> Option<(ParamId, &Param, &TensorParam)> {
    let mut results = function.results.iter();
    let returns_tensors = results.any(|result| matches!(result, ResultType::Tensor { .. }));
    tensors(function).find(|(id, ..)| returns_tensors && is_input(function, *id))
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The information about a returned extent.
pub enum Returned {
    Const(i64),
    Dim(DimId),
    /// Computed by the shim.
    Derived,
}

impl Returned {
    pub fn of(function: &Function, extent: &Sym) -> Self {
        if let Some(n) = extent.as_int() {
            return Returned::Const(n);
        }
        match extent.as_var().and_then(|var| function.var_home.get(&var)) {
            Some(VarHome::Dim(dim)) => Returned::Dim(*dim),
            _ => Returned::Derived,
        }
    }
}

pub fn is_written(function: &Function, tensor: &TensorParam) -> bool {
    function
        .buffers
        .get(tensor.buffer.index())
        .is_none_or(|buffer| buffer.written)
}

/// The tensors of a function with their parameters.
pub fn tensors(function: &Function) -> impl Iterator<Item = (ParamId, &Param, &TensorParam)> {
    function
        .params
        .iter()
        .zip(0..)
        .filter_map(|(param, id)| match &param.kind {
            ParamKind::Tensor(tensor) => Some((ParamId(id), param, tensor)),
            _ => None,
        })
}

/// A Rust tuple of types or values.
pub fn tuple(items: &[String]) -> String {
    match items {
        [one] => format!("({one},)"),
        items => format!("({})", items.join(", ")),
    }
}

pub fn rust(ty: Scalar) -> &'static str {
    ty.info().rust
}

/// `<A, B>`, or nothing; on separate lines if it is long.
pub fn listed(generics: &[String]) -> String {
    let one_line = generics.join(", ");
    if generics.is_empty() {
        String::new()
    } else if one_line.len() > LONG {
        format!("<\n    {},\n>", generics.join(",\n    "))
    } else {
        format!("<{one_line}>")
    }
}
