//! Instructions that write tensor maps, and the fields that they name.

use super::decode::{Instruction, address};
use super::tensor_map::{DataType, Fill, Interleave, Swizzle};
use crate::machine::access::Places;
use crate::machine::decode::{Form, Refusal, Source, Words};
use crate::machine::memory::Window;

/// A field of a tensor map, with the dimension where it has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    Address,
    Rank,
    Box(usize),
    Extent(usize),
    Stride(usize),
    ElementStride(usize),
    Type(DataType),
    Interleave(Interleave),
    Swizzle(Swizzle),
    Fill(Fill),
}

/// The value of a field that is no constant of the text.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Narrow(Source<u32>),
    Wide(Source<u64>),
    None,
}

fn map_window(words: &mut Words<'_>) -> Window {
    match words.choice(&["global", "shared::cta"]) {
        None => Window::Generic,
        Some("global") => Window::Global,
        Some(_) => Window::Shared,
    }
}

/// ISA, `tensormap.replace`.
pub fn replace(form: &Form<'_>, places: Places<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    words.required(&["replace"])?;
    words.required(&["tile"])?;
    let name = words.required(&[
        "global_address",
        "rank",
        "box_dim",
        "global_dim",
        "global_stride",
        "element_stride",
        "elemtype",
        "interleave_layout",
        "swizzle_mode",
        "fill_mode",
    ])?;
    let window = map_window(&mut words);
    words.required(&["b1024"])?;
    let wide = matches!(name, "global_address" | "global_stride");
    words.required(&[if wide { "b64" } else { "b32" }])?;
    words.finish()?;
    let has_ordinal = matches!(
        name,
        "box_dim" | "global_dim" | "global_stride" | "element_stride"
    );
    form.count(if has_ordinal { 3 } else { 2 })?;
    let ordinal = match has_ordinal {
        true => form.immediate(form.operand(1)?)? as usize,
        false => 0,
    };
    if ordinal > 4 || wide && ordinal > 3 {
        return Err(form.refuse(format!("the ordinal {ordinal}")));
    }
    let new = form.operand(if has_ordinal { 2 } else { 1 })?;
    let unknown = || form.refuse("this value of the field");
    let number = || form.immediate(new);
    let field = match name {
        "global_address" => Field::Address,
        "rank" => Field::Rank,
        "box_dim" => Field::Box(ordinal),
        "global_dim" => Field::Extent(ordinal),
        "global_stride" => Field::Stride(ordinal),
        "element_stride" => Field::ElementStride(ordinal),
        "elemtype" => Field::Type(DataType::of_element_type(number()?).ok_or_else(unknown)?),
        "interleave_layout" => {
            Field::Interleave(Interleave::of_number(number()?).ok_or_else(unknown)?)
        }
        "swizzle_mode" => Field::Swizzle(Swizzle::of_number(number()?).ok_or_else(unknown)?),
        _ => Field::Fill(Fill::of_number(number()?).ok_or_else(unknown)?),
    };
    let value = match field {
        Field::Type(_) | Field::Interleave(_) | Field::Swizzle(_) | Field::Fill(_) => Value::None,
        _ if wide => Value::Wide(form.source(new)?),
        _ => Value::Narrow(form.source(new)?),
    };
    Ok(Instruction::ReplaceField(
        address(form, 0, window, places)?,
        field,
        value,
    ))
}

/// ISA, `tensormap.cp_fenceproxy`: the size is 128.
pub fn copy_map(form: &Form<'_>, places: Places<'_>) -> Result<Instruction, Refusal> {
    let mut words = form.words();
    for required in [
        "cp_fenceproxy",
        "global",
        "shared::cta",
        "tensormap::generic",
        "release",
    ] {
        words.required(&[required])?;
    }
    words.required(&["cta", "cluster", "gpu", "sys"])?;
    words.required(&["sync"])?;
    words.required(&["aligned"])?;
    words.finish()?;
    form.count(3)?;
    if form.immediate(form.operand(2)?)? != 128 {
        return Err(form.refuse("a size other than 128"));
    }
    let to = address(form, 0, Window::Global, places)?;
    Ok(Instruction::CopyMap(
        to,
        address(form, 1, Window::Shared, places)?,
    ))
}
