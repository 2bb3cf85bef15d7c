//! Moves, conversions, selections, exchanges of a warp, and memory.

use super::instruction::Scope;
use super::program::Operand;
use super::types::{B32, Kind, PREDICATE, Type};

pub fn moved(i: &Scope<'_>) -> Option<String> {
    i.only(&[])?;
    i.with_count(2)?;
    let ty = i.ty()?;
    let half = Type::named(match ty.bits {
        64 => "b32",
        32 => "b16",
        _ => "b8",
    })?;
    match (i.operand(0)?, i.operand(1)?) {
        (Operand::Vector(into), _) if ty.kind == Kind::Bits => {
            let [low, high] = into.as_slice() else {
                return None;
            };
            let from = i.value(1, ty)?;
            let mut text = format!("{{ const {} croq_whole = {from};", ty.cpp);
            for (place, shift) in [(low, 0), (high, half.bits)] {
                if *place == Operand::Nothing {
                    continue;
                }
                let place = i.place(place)?;
                text.push_str(&format!(
                    " croq::ptx_put({place}, static_cast<{}>(croq_whole >> {shift}));",
                    half.cpp
                ));
            }
            Some(text + " }")
        }
        (_, Operand::Vector(from)) if ty.kind == Kind::Bits => {
            let [low, high] = from.as_slice() else {
                return None;
            };
            let (low, high) = (i.value_of(low, half)?, i.value_of(high, half)?);
            i.set(&format!(
                "static_cast<{0}>(static_cast<{0}>({high}) << {1} | static_cast<{0}>({low}))",
                ty.cpp, half.bits
            ))
        }
        _ => i.set(&i.value(1, ty)?),
    }
}

pub fn converted(i: &Scope<'_>) -> Option<String> {
    let mut names: Vec<&str> = i
        .instruction
        .name
        .iter()
        .skip(1)
        .map(String::as_str)
        .collect();
    // `cvt.rn.f16x2.f32 d, high, low`
    if let Some(packed) = match names.as_slice() {
        ["rn", "f16x2", "f32"] => Some("croq::f16"),
        ["rn", "bf16x2", "f32"] => Some("croq::bf16"),
        _ => None,
    } {
        i.with_count(3)?;
        let single = Type::named("f32")?;
        let (high, low) = (i.value(1, single)?, i.value(2, single)?);
        return i.set(&format!("croq::ptx_pack<{packed}>({high}, {low})"));
    }
    i.with_count(2)?;
    if names == ["rna", "tf32", "f32"] {
        return i.apply("cvt_tf32", Type::named("f32")?, 1);
    }
    let (from, to) = (names.pop()?, names.pop()?);
    let (from, to) = (Type::named(from)?, Type::named(to)?);
    let numbers = |ty: Type| ty.is_integer() || ty.kind == Kind::Float;
    if !numbers(from) || !numbers(to) {
        return None;
    }
    let is_float = |ty: Type| ty.kind == Kind::Float;
    let mut way = None;
    let (mut saturates, mut flushes) = (false, false);
    for name in names {
        match name {
            "sat" => saturates = true,
            "ftz" => flushes = true,
            "rn" | "rni" | "rzi" | "rmi" | "rpi" if way.is_none() => way = Some(name),
            _ => return None,
        }
    }
    let rounding = match (is_float(from), is_float(to), way) {
        (false, false, None) | (true, true, None | Some("rn")) | (false, true, Some("rn")) => "",
        (true, _, Some("rni")) => "_nearest",
        (true, _, Some("rzi")) => "_to_zero",
        (true, _, Some("rmi")) => "_down",
        (true, _, Some("rpi")) => "_up",
        _ => return None,
    };
    let mut value = i.value(1, from)?;
    if flushes && from.cpp == "float" {
        value = format!("croq::ptx_flushed({value})");
    }
    let clamps = if saturates && !is_float(to) {
        "_saturated"
    } else {
        ""
    };
    let mut result = match rounding {
        "" => format!("croq::ptx_cvt{clamps}<{}>({value})", to.cpp),
        _ => format!(
            "croq::ptx_cvt<{}>(croq::ptx_round{rounding}({value}))",
            to.cpp
        ),
    };
    if flushes && to.cpp == "float" {
        result = format!("croq::ptx_flushed({result})");
    }
    if saturates && is_float(to) {
        result = format!("croq::ptx_saturated({result})");
    }
    i.set(&result)
}

/// Addresses are generic on the simulated GPU.
pub fn address(i: &Scope<'_>) -> Option<String> {
    i.only(&["to", "global", "local", "const"])?;
    i.with_count(2)?;
    let ty = i.ty().filter(|ty| ty.bits == 64)?;
    i.set(&i.value(1, ty)?)
}

pub fn selected(i: &Scope<'_>) -> Option<String> {
    let ty = i.ty()?;
    if i.base() == "selp" {
        i.only(&[])?;
        i.with_count(4)?;
        let (a, b) = (i.value(1, ty)?, i.value(2, ty)?);
        let chosen = i.value(3, PREDICATE)?;
        return i.set(&format!("({chosen} ? {a} : {b})"));
    }
    i.with_count(3)?;
    let comparison = match i.modifiers().as_slice() {
        [one] | [one, "ftz"] => *one,
        _ => return None,
    };
    let (mut a, mut b) = (i.value(1, ty)?, i.value(2, ty)?);
    if i.has("ftz") {
        a = format!("croq::ptx_flushed({a})");
        b = format!("croq::ptx_flushed({b})");
    }
    let is_float = ty.is_float();
    let ordered = match comparison {
        "eq" => "==",
        "ne" => "!=",
        "lt" => "<",
        "le" => "<=",
        "gt" => ">",
        "ge" => ">=",
        "lo" if ty.kind == Kind::Unsigned => "<",
        "ls" if ty.kind == Kind::Unsigned => "<=",
        "hi" if ty.kind == Kind::Unsigned => ">",
        "hs" if ty.kind == Kind::Unsigned => ">=",
        "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" | "num" | "nan" if is_float => "",
        _ => return None,
    };
    if ty.kind == Kind::Bits && !matches!(ordered, "==" | "!=") || ty.kind == Kind::Predicate {
        return None;
    }
    let result = match comparison {
        "equ" => format!("!({a} < {b} || {a} > {b})"),
        "neu" => format!("!({a} == {b})"),
        "ltu" => format!("!({a} >= {b})"),
        "leu" => format!("!({a} > {b})"),
        "gtu" => format!("!({a} <= {b})"),
        "geu" => format!("!({a} < {b})"),
        "num" => format!("({a} == {a} && {b} == {b})"),
        "nan" => format!("!({a} == {a} && {b} == {b})"),
        "ne" if is_float => format!("({a} < {b} || {a} > {b})"),
        _ => format!("({a} {ordered} {b})"),
    };
    i.set(&result)
}

/// Exchanges of a whole warp.
pub fn of_warp(i: &Scope<'_>) -> Option<String> {
    let ty = i
        .ty()
        .filter(|ty| *ty == B32 || ty.kind == Kind::Predicate)?;
    match (i.base(), i.modifiers().as_slice()) {
        ("shfl", ["sync", way]) if ty == B32 => {
            i.with_count(5)?;
            let (function, clamp) = match *way {
                "idx" => ("__shfl_sync", 31),
                "bfly" => ("__shfl_xor_sync", 31),
                "down" => ("__shfl_down_sync", 31),
                "up" => ("__shfl_up_sync", 0),
                _ => return None,
            };
            // Other clamps divide the warp.
            if *i.operand(3)? != Operand::Integer(clamp) {
                return None;
            }
            let (value, lane, mask) = (i.value(1, ty)?, i.value(2, ty)?, i.value(4, ty)?);
            let lane = match *way {
                "idx" | "bfly" => format!("static_cast<int>({lane})"),
                _ => lane,
            };
            i.set(&format!("{function}({mask}, {value}, {lane})"))
        }
        ("vote", ["sync", way]) => {
            i.with_count(3)?;
            let function = match (*way, ty.kind) {
                ("ballot", Kind::Bits) => "__ballot_sync",
                ("any", Kind::Predicate) => "__any_sync",
                ("all", Kind::Predicate) => "__all_sync",
                _ => return None,
            };
            let (predicate, mask) = (i.value(1, PREDICATE)?, i.value(2, B32)?);
            i.set(&format!(
                "static_cast<{}>({function}({mask}, {predicate}))",
                ty.cpp
            ))
        }
        _ => None,
    }
}

/// Loads and stores by generic and global addresses.
pub fn memory(i: &Scope<'_>) -> Option<String> {
    let hints = [
        "global",
        "nc",
        "ca",
        "cg",
        "cs",
        "cv",
        "lu",
        "wb",
        "wt",
        "L1::no_allocate",
        "L1::evict_last",
        "L1::evict_first",
        "L2::64B",
        "L2::128B",
        "L2::256B",
        "v2",
        "v4",
        "volatile",
        "relaxed",
        "weak",
        "gpu",
        "sys",
        "cta",
    ];
    i.only(&hints)?;
    i.with_count(2)?;
    let ty = i.ty().filter(|ty| ty.kind != Kind::Predicate)?;
    let loads = i.base() != "st";
    let (data, address) = match loads {
        true => (i.operand(0)?, i.operand(1)?),
        false => (i.operand(1)?, i.operand(0)?),
    };
    let address = number_of(i, address)?;
    let count = match (i.has("v2"), i.has("v4")) {
        (true, false) => 2,
        (false, true) => 4,
        _ => 1,
    };
    let elements: Vec<&Operand> = match data {
        Operand::Vector(elements) if count > 1 => elements.iter().collect(),
        one if count == 1 => vec![one],
        _ => return None,
    };
    if elements.len() != count {
        return None;
    }
    let constant = if loads { "const " } else { "" };
    let mut text = format!(
        "{{ {constant}{0} *const croq_at = reinterpret_cast<{constant}{0} *>({address});",
        ty.cpp
    );
    for (at, element) in elements.into_iter().enumerate() {
        text.push_str(&match loads {
            true if *element == Operand::Nothing => continue,
            true => format!(" croq::ptx_put({}, croq_at[{at}]);", i.place(element)?),
            false => format!(" croq_at[{at}] = {};", i.value_of(element, ty)?),
        });
    }
    Some(text + " }")
}

/// `[%0 + 4]`
fn number_of(i: &Scope<'_>, address: &Operand) -> Option<String> {
    let Operand::Address(parts) = address else {
        return None;
    };
    let (base, offset) = match parts.as_slice() {
        [base] => (base, 0),
        [base, Operand::Integer(offset)] => (base, *offset),
        _ => return None,
    };
    let base = i.value_of(base, Type::named("u64")?)?;
    Some(format!(
        "{base} + static_cast<unsigned long long>({offset}ll)"
    ))
}

/// `atom` and `red` by generic and global addresses.
pub fn atomic(i: &Scope<'_>) -> Option<String> {
    let orders = [
        "global", "relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys",
    ];
    let modifiers = i.modifiers();
    let [operation] = modifiers
        .iter()
        .filter(|m| !orders.contains(m))
        .collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let returns = i.base() == "atom";
    let ty = i.ty().filter(|ty| ty.bits >= 32)?;
    let has_sum = match ty.kind {
        Kind::Signed => ty.bits == 32,
        Kind::Unsigned | Kind::Float => true,
        _ => false,
    };
    let is_bits = ty.kind == Kind::Bits;
    let (function, count) = match *operation {
        "add" if has_sum => ("atomicAdd", 1),
        "min" if ty.is_integer() => ("atomicMin", 1),
        "max" if ty.is_integer() => ("atomicMax", 1),
        "and" if is_bits => ("atomicAnd", 1),
        "or" if is_bits => ("atomicOr", 1),
        "xor" if is_bits => ("atomicXor", 1),
        "exch" if is_bits && returns => ("atomicExch", 1),
        "cas" if is_bits && returns => ("atomicCAS", 2),
        _ => return None,
    };
    let at = usize::from(returns);
    i.with_count(at + 1 + count)?;
    let address = number_of(i, i.operand(at)?)?;
    let values: Option<Vec<String>> = (1..=count).map(|n| i.value(at + n, ty)).collect();
    let call = format!(
        "::{function}(reinterpret_cast<{} *>({address}), {})",
        ty.cpp,
        values?.join(", ")
    );
    match returns && *i.operand(0)? != Operand::Nothing {
        true => i.set(&call),
        false => Some(format!("{call};")),
    }
}
