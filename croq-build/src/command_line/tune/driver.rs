//! The program that calls the candidates: a package with one `.co` file for each, and a `main` that
//! calls one of them with random inputs and writes its results to a file.
//!
//! The file has lines: `device ID NAME`, `result NAME TYPE COUNT` with a line for each value,
//! `time NAME NANOSECONDS`, `wavefronts NUMBER` (on the simulated GPU), `failed MESSAGE`, and `end`.

use std::fmt::Write as _;

use super::given::Given;
use crate::emit::{Call, CallExtent, CallParamKind, CallResult, Element, ElementClass, Place};

/// What does not depend on the kernels.
const RUN: &str = include_str!("driver_run.txt");

/// The text of `src/main.rs` for candidates by number.
///
/// # Errors
///
/// Returns which extents have no value, or which function cannot be called.
pub fn main(candidates: &[(usize, Vec<Call>)], given: &Given) -> Result<String, String> {
    let mut text = RUN.to_owned();
    let numbers = candidates.iter().map(|(number, _)| number);
    let arms: String = numbers
        .clone()
        .map(|n| format!("        {n} => candidate_{n}(run),\n"))
        .collect();
    let _ = write!(
        text,
        "\nfn candidate(number: usize, run: &mut Run) -> Result<()> {{\n    match number {{\n{arms}        \
         _ => unreachable!(\"there is no candidate {{number}}\"),\n    }}\n}}\n"
    );
    for (number, calls) in candidates {
        let _ = write!(
            text,
            "\nfn candidate_{number}(run: &mut Run) -> Result<()> {{\n"
        );
        for (call, name) in calls.iter().zip(names(calls)) {
            block(&mut text, *number, (call, &name), given)?;
        }
        text.push_str("    Ok(())\n}\n");
    }
    Ok(text)
}

/// The functions that are called: all, or those that were asked for.
pub fn selected<'c>(calls: &'c [Call], functions: &[String]) -> Vec<&'c Call> {
    let blank = |name: &str| name.replace(' ', "");
    let asked = |call: &Call| {
        let base = call.name.split('<').next().unwrap_or_default();
        functions.is_empty()
            || functions
                .iter()
                .any(|f| f == base || blank(f) == blank(&call.name))
    };
    calls.iter().filter(|call| asked(call)).collect()
}

/// The names of extents without a value.
pub fn missing_sizes(calls: &[&Call], given: &Given) -> Vec<String> {
    let mut missing = Vec::new();
    for param in calls.iter().flat_map(|call| &call.params) {
        let CallParamKind::Tensor { extents, .. } = &param.kind else {
            continue;
        };
        for extent in extents {
            if let CallExtent::Named(name) = extent
                && given.sizes.iter().all(|(known, _)| known != name)
                && !missing.contains(name)
            {
                missing.push(name.clone());
            }
        }
    }
    missing
}

/// The names of functions in results, the same for each candidate: instances of a template are numbered,
/// because their arguments may differ.
fn names(calls: &[Call]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        let base = call.name.split('<').next().unwrap_or_default();
        let earlier = calls.iter().take(at);
        let earlier = earlier.filter(|other| other.name.split('<').next() == Some(base));
        names.push(match earlier.count() {
            0 => base.to_owned(),
            count => format!("{base}#{}", count + 1),
        });
    }
    names
}

fn block(
    text: &mut String,
    candidate: usize,
    (call, name): (&Call, &str),
    given: &Given,
) -> Result<(), String> {
    text.push_str("    {\n");
    let mut arguments = Vec::new();
    let mut written = Vec::new();
    for (at, param) in call.params.iter().enumerate() {
        let refused = |what: &str| {
            format!(
                "`{}` has {what} `{}`, which `croq tune` cannot make; choose others with `--function NAME`",
                call.name, param.name
            )
        };
        match &param.kind {
            CallParamKind::Stream => return Err(refused("the stream")),
            CallParamKind::Scalar(element) => {
                let value = scalar(&param.name, *element, given)?;
                arguments.push(value.ok_or_else(|| refused("the parameter"))?);
            }
            CallParamKind::Tensor {
                element,
                extents,
                place,
            } => {
                let range = range(*element).ok_or_else(|| refused("the tensor"))?;
                let extents: Vec<String> = extents
                    .iter()
                    .map(|extent| size(extent, given))
                    .collect::<Result<_, _>>()?;
                let (rust, extents) = (element.rust, tuple(&extents));
                let device = match place {
                    Place::Host => "",
                    Place::Value | Place::Device { .. } => ".to_device(&run.device)?",
                };
                let is_written = matches!(place, Place::Host | Place::Device { written: true });
                let mutable = if is_written { "mut " } else { "" };
                let _ = writeln!(
                    text,
                    "        let {mutable}p{at} = Tensor::<{rust}, _>::random({extents}, {range}, {})\
                     {device};",
                    at + 1
                );
                arguments.push(format!("&{mutable}p{at}"));
                if is_written {
                    written.push((
                        format!("{name}.{}", param.name),
                        element.name,
                        format!("p{at}"),
                    ));
                }
            }
        }
    }
    let called = format!(
        "kernels::c{candidate}::{}({})",
        call.path,
        arguments.join(", ")
    );
    let _ = writeln!(text, "        let result = run.once(|| {called})?;");
    for (at, result) in call.results.iter().enumerate() {
        let (CallResult::Scalar(element) | CallResult::Tensor(element)) = result;
        let (value, of) = match call.results.len() {
            1 => ("result".to_owned(), name.to_owned()),
            _ => (format!("result.{at}"), format!("{name}.{at}")),
        };
        let _ = writeln!(
            text,
            "        run.put({of:?}, {:?}, &{value})?;",
            element.name
        );
    }
    for (of, element, value) in written {
        let _ = writeln!(text, "        run.put({of:?}, {element:?}, &{value})?;");
    }
    let _ = write!(
        text,
        "        let _ = result;\n        for _ in 0..run.repeat {{\n            \
         run.timed({name:?}, || {called}.map(drop))?;\n        }}\n    }}\n"
    );
    Ok(())
}

fn tuple(items: &[String]) -> String {
    match items {
        [one] => format!("({one},)"),
        items => format!("({})", items.join(", ")),
    }
}

fn size(extent: &CallExtent, given: &Given) -> Result<String, String> {
    let name = match extent {
        CallExtent::Known(n) => return Ok(format!("{n}usize")),
        CallExtent::Named(name) => name,
    };
    let value = given.sizes.iter().find(|(known, _)| known == name);
    let value =
        value.ok_or_else(|| format!("the extent `{name}` has no value: `--size {name}=64`"))?;
    let parsed = value.1.parse::<u64>().ok().filter(|extent| *extent > 0);
    let parsed = parsed.ok_or_else(|| {
        format!(
            "`--size {name}={}`: an extent is a positive integer",
            value.1
        )
    })?;
    Ok(format!("{parsed}usize"))
}

/// The value of a scalar parameter: that of `--size`, or one. `None` for types that have no literals here.
fn scalar(name: &str, element: Element, given: &Given) -> Result<Option<String>, String> {
    let value = given.sizes.iter().find(|(known, _)| known == name);
    let value = value.map_or("1", |(_, value)| value.as_str());
    let is_integer = value.parse::<i64>().is_ok();
    let rust = element.rust;
    Ok(match element.class {
        ElementClass::Float(24 | 53) => Some(format!("({value} as {rust})")),
        ElementClass::Float(_) if !element.is_packed => {
            Some(format!("{rust}::from_f32({value} as f32)"))
        }
        ElementClass::Signed | ElementClass::Unsigned if element.is_packed => None,
        ElementClass::Signed | ElementClass::Unsigned if is_integer => {
            Some(format!("({value} as {rust})"))
        }
        ElementClass::Signed | ElementClass::Unsigned => {
            return Err(format!("`--size {name}={value}`: `{name}` is an integer"));
        }
        ElementClass::Bool => Some(format!("({value} as i64 != 0)")),
        ElementClass::Float(_) => None,
    })
}

/// The range of random elements.
fn range(element: Element) -> Option<&'static str> {
    match element.class {
        _ if element.is_packed => None,
        ElementClass::Float(_) => Some("-1.0..1.0"),
        ElementClass::Signed => Some("-8..8"),
        ElementClass::Unsigned => Some("0..16"),
        ElementClass::Bool => None,
    }
}
