//! The part of a wrapper that the waiting form and the enqueuing form share: checks extents, and
//! creates a call with its arguments.

use std::fmt::Write as _;

use super::args::{self, Args, FieldRole};
use super::rust_types::{LONG, Returned, Wrapper, is_written, listed, tensors};
use super::signature;
use crate::ir::{DimId, Extent, ParamId, ParamKind, Passing, ResultType, Scalar, TensorParam};

/// The function that both forms call. It compares extents as numbers, so only the forms have
/// generic parameters.
pub fn preparation(w: &Wrapper<'_>, text: &mut String) {
    let Some(name) = &w.prepare else { return };
    let (function, naming) = (w.function, &w.naming);
    let plain = w.plain.as_deref().unwrap_or_default();
    let generics = listed(&naming.untyped_generics(function));
    let _ = write!(
        text,
        "\n/// Checks the arguments of [`{plain}`] and prepares a call.\n\
         fn {name}{generics}(\n    {stream}: Option<&Stream>,\n",
        stream = naming.stream
    );
    for id in (0..).map(ParamId).take(function.params.len()) {
        let ty = naming.untyped_param(function, id);
        let _ = writeln!(text, "    {}: {ty},", naming.param(id));
    }
    let args = args::struct_name(w.meta, function);
    let _ = writeln!(text, ") -> ::croq_sys::__private::Prepared<ffi::{args}> {{");
    entry_checks(w, text);
    let mut places = vec![format!("{}.map(Stream::device)", naming.stream)];
    places.extend(devices(w));
    call(w, text, &places, false);
    let _ = writeln!(text, "    Ok(({}, {}))\n}}", naming.call, naming.args);
}

/// The part of a wrapper with a shared preparation: calls it.
pub fn prepared(w: &Wrapper<'_>, text: &mut String, prepare: &str) {
    let naming = &w.naming;
    let stream = match &w.plain {
        None => "None".to_owned(),
        Some(_) => format!("Some({})", naming.stream),
    };
    let params = (0..).map(ParamId).take(w.function.params.len());
    let arguments: Vec<&str> = std::iter::once(stream.as_str())
        .chain(params.map(|id| naming.param(id)))
        .collect();
    let _ = writeln!(
        text,
        "    let (mut {}, mut {}) = self::{prepare}({})?;",
        naming.call,
        naming.args,
        arguments.join(", ")
    );
}

/// The part of a wrapper without a shared preparation.
pub fn prepares(w: &Wrapper<'_>, text: &mut String) {
    entry_checks(w, text);
    call(w, text, &devices(w), true);
}

/// The devices of the arguments as options. The first that there is decides.
fn devices(w: &Wrapper<'_>) -> Vec<String> {
    let of = |id: ParamId| format!("{}.device()", w.naming.param(id));
    let global = tensors(w.function).find(|(_, _, tensor)| tensor.passing == Passing::Global);
    if let Some((id, ..)) = global {
        return vec![format!("Some({})", of(id))];
    }
    let inputs = tensors(w.function).filter(|(_, _, tensor)| tensor.passing == Passing::In);
    let mut params = w.function.params.iter().zip(0..);
    let stream = params.find(|(param, _)| matches!(param.kind, ParamKind::Stream));
    let stream = stream.map(|(_, id)| format!("Some({})", of(ParamId(id))));
    inputs.map(|(id, ..)| of(id)).chain(stream).collect()
}

/// Binds the dimensions to their values, and checks every extent.
fn entry_checks(w: &Wrapper<'_>, text: &mut String) {
    let kernel = &w.naming.kernel;
    let _ = writeln!(text, "    let {kernel} = self::{}().arguments();", w.kernel);
    for (id, param, tensor) in tensors(w.function) {
        let name = w.naming.param(id);
        let (mut bindings, mut expected) = (Vec::new(), Vec::new());
        for extent in &tensor.extents {
            let written = signature::extent(w.function, extent);
            let (binding, value) = match extent {
                Extent::Static(n) => ("_", format!("Some({n})")),
                Extent::Unbounded => ("_", "None".to_owned()),
                Extent::Dim {
                    dim,
                    declares: true,
                } => (w.naming.dim(*dim), "None".to_owned()),
                Extent::Dim { dim, .. } => ("_", format!("Some({})", extent_of(w, *dim, id))),
            };
            bindings.push(binding);
            expected.push(format!("({written:?}, {value})"));
        }
        let binding = match bindings.iter().all(|b| *b == "_") {
            true => String::new(),
            false => format!("let [{}] = ", bindings.join(", ")),
        };
        let (label, one_line) = (&param.name, expected.join(", "));
        let expected = if binding.len() + one_line.len() > LONG - 30 {
            format!("[\n        {},\n    ]", expected.join(",\n        "))
        } else {
            format!("[{one_line}]")
        };
        let _ = writeln!(
            text,
            "    {binding}{kernel}.extents({label:?}, {name}.shape(), {expected})?;"
        );
    }
}

/// The value of `dim` where an axis of parameter `param` is checked against it.
fn extent_of(w: &Wrapper<'_>, dim: DimId, param: ParamId) -> String {
    match w.function.dims.get(dim.index()) {
        // `[M, M] x`: the variable of the dimension is bound by the same statement.
        Some(d) if d.param == param => {
            format!("{}.shape()[{}]", w.naming.param(param), d.axis)
        }
        _ => w.naming.dim(dim).to_owned(),
    }
}

/// A list as an argument: on several lines if it is long.
fn list(items: &[String]) -> String {
    let one_line = items.join(", ");
    match one_line.len() > LONG {
        true => format!(
            "&[\n            {},\n        ]",
            items.join(",\n            ")
        ),
        false => format!("&[{one_line}]"),
    }
}

/// Creates a call on the first of these devices, and its arguments.
fn call(w: &Wrapper<'_>, text: &mut String, devices: &[String], is_mutable: bool) {
    let (function, naming) = (w.function, &w.naming);
    let mutable = if is_mutable { "mut " } else { "" };
    let devices = list(devices);
    let called = match outputs(w).map(|outputs| list(&outputs)) {
        None => format!("call({devices})"),
        Some(outputs) if devices.len() + outputs.len() > LONG - 30 => {
            format!("call_for(\n        {devices},\n        {outputs},\n    )")
        }
        Some(outputs) => format!("call_for({devices}, {outputs})"),
    };
    let _ = writeln!(
        text,
        "    let {mutable}{} = {}.{called}?;",
        naming.call, naming.kernel
    );
    let struct_name = args::struct_name(w.meta, function);
    let _ = writeln!(
        text,
        "    let {mutable}{} = ffi::{struct_name} {{",
        naming.args
    );
    let args = Args::of(function);
    for field in &args.fields {
        let value = field_value(w, field.role);
        if value == field.name {
            let _ = writeln!(text, "        {value},");
        } else {
            let _ = writeln!(text, "        {}: {value},", field.name);
        }
    }
    if args.fields.is_empty() {
        text.push_str("        nothing: 0,\n");
    }
    text.push_str("    };\n");
}

/// The shapes of all tensors that a call writes or returns, if these are its only effects.
fn outputs(w: &Wrapper<'_>) -> Option<Vec<String>> {
    let function = w.function;
    let mut params = function.params.iter();
    let launches = params.any(|param| matches!(param.kind, ParamKind::Stream));
    if launches || !function.signals.is_empty() {
        return None;
    }
    let is_effect = |tensor: &TensorParam| match tensor.passing {
        Passing::In => false,
        Passing::InOut => true,
        Passing::Global => is_written(function, tensor),
    };
    let written = tensors(function).filter(|(_, _, tensor)| is_effect(tensor));
    let written = written.map(|(id, ..)| Some(format!("&{}.shape()", w.naming.param(id))));
    let results = function.results.iter().map(|result| {
        let ResultType::Tensor { shape, .. } = result else {
            return None;
        };
        let extents = shape
            .iter()
            .map(|extent| match Returned::of(function, extent) {
                Returned::Const(n) => Some(n.to_string()),
                Returned::Dim(dim) => Some(w.naming.dim(dim).to_owned()),
                Returned::Derived => None,
            });
        let extents: Option<Vec<String>> = extents.collect();
        Some(format!("&[{}]", extents?.join(", ")))
    });
    let outputs: Option<Vec<String>> = written.chain(results).collect();
    outputs.filter(|outputs| !outputs.is_empty())
}

/// The initial value of a field of the argument struct.
fn field_value(w: &Wrapper<'_>, role: FieldRole) -> String {
    let call = &w.naming.call;
    match role {
        FieldRole::Param(id) => {
            let name = w.naming.param(id);
            let param = w.function.param(id);
            match &param.kind {
                ParamKind::Scalar { ty, .. } => to_c(*ty, name),
                ParamKind::Stream => format!("{call}.stream({:?}, {name})?", param.name),
                ParamKind::Tensor(tensor) => match tensor.passing {
                    Passing::In => {
                        let written = is_written(w.function, tensor);
                        format!("{name}.pass(&{call}, {:?}, {written})?", param.name)
                    }
                    Passing::InOut => format!("{call}.copy_in({name})?"),
                    Passing::Global if is_written(w.function, tensor) => {
                        format!("{call}.global_mut({:?}, {name})?", param.name)
                    }
                    Passing::Global => format!("{call}.global({:?}, {name})?", param.name),
                },
            }
        }
        FieldRole::Dim(id) => format!("{} as i64", w.naming.dim(id)),
        FieldRole::Unbounded { param, axis } => {
            format!("{}.shape()[{axis}] as i64", w.naming.param(param))
        }
        FieldRole::Result(of) => match w.function.results.get(of) {
            Some(ResultType::Scalar(ty)) if ty.is_float() && !ty.is_narrow_float() => {
                "0.0".to_owned()
            }
            Some(ResultType::Scalar(_)) => "0".to_owned(),
            _ => "null_mut()".to_owned(),
        },
        FieldRole::ResultShape { rank, .. } => format!("[0; {rank}]"),
    }
}

/// A scalar as a value of the argument struct.
fn to_c(ty: Scalar, value: &str) -> String {
    match ty {
        _ if ty.is_narrow_float() => {
            format!("{value}.to_bits()")
        }
        Scalar::Bool => format!("u8::from({value})"),
        _ => value.to_owned(),
    }
}
