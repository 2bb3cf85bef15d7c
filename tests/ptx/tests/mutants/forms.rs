//! What may be changed in an instruction, by its form.

use crate::edits::{Class, NOTHING};
use crate::statement::Statement;

/// Constants of arithmetic.
pub fn arithmetic(statement: &Statement) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for index in 1..statement.operands.len() {
        let Ok(value) = statement.operands[index].parse::<i64>() else {
            continue;
        };
        let mut constant = |edit, value: i64| {
            all.push((edit, statement.with(index, &value.to_string()).to_string()));
        };
        match statement.name() {
            "shl" | "shr" => {
                constant("shift + 1", value + 1);
                if value > 0 {
                    constant("shift - 1", value - 1);
                }
            }
            "and" | "or" | "xor" => {
                // The lowest and the highest bit that is set.
                constant("lowest bit", value ^ (value & value.wrapping_neg()));
                let high = 63 - (value | 1).leading_zeros();
                constant("highest bit", value ^ (1 << high));
            }
            "add" | "sub" => {
                let step = if value != 0 && value % 4 == 0 { 4 } else { 1 };
                constant("constant + element", value + step);
                constant("constant - element", value - step);
            }
            "bfi" | "bfe" if index + 2 >= statement.operands.len() => {
                constant("field", value - 1);
            }
            "mul" | "mad" => constant("factor + 1", value + 1),
            _ => {}
        }
    }
    all
}

pub fn predicates(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    if let Some(guard) = &statement.guard {
        let mut other = statement.clone();
        other.guard = Some(match guard.strip_prefix("@!") {
            Some(name) => format!("@{name}"),
            None => guard.replace('@', "@!"),
        });
        add(Class::Predicates, "negated guard", other.to_string());
    }
    if statement.name() != "setp" {
        return;
    }
    let words: Vec<&str> = statement.opcode.split('.').collect();
    let replaced = |by: &str| {
        let mut words = words.clone();
        words[1] = by;
        statement.renamed(&words.join(".")).to_string()
    };
    let (negated, limit) = match words[1] {
        "eq" => ("ne", None),
        "ne" => ("eq", None),
        "lt" => ("ge", Some("le")),
        "le" => ("gt", Some("lt")),
        "gt" => ("le", Some("ge")),
        "ge" => ("lt", Some("gt")),
        _ => return,
    };
    add(Class::Predicates, "negated comparison", replaced(negated));
    if let Some(limit) = limit {
        add(Class::Predicates, "limit", replaced(limit));
    }
}

pub fn mbarriers(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    if statement.has("init") {
        let more = statement.changed(1, "b32", "add.u32 mutant, _, 1");
        add(Class::Counts, "count + 1", more);
        let fewer = statement.changed(1, "b32", "sub.u32 mutant, _, 1");
        add(Class::Counts, "count - 1", fewer);
    } else if statement.has("expect_tx") {
        let more = statement.changed(2, "b32", "add.u32 mutant, _, 16");
        add(Class::Transactions, "16 bytes more", more);
        let fewer = statement.changed(2, "b32", "sub.u32 mutant, _, 16");
        add(Class::Transactions, "16 bytes less", fewer);
        let plain = statement.opcode.replace(".expect_tx", "");
        let mut other = statement.renamed(&plain);
        other.operands.truncate(2);
        add(Class::Transactions, "no bytes", other.to_string());
    } else if statement.has("arrive") {
        let mut twice = statement.clone();
        twice.operands.truncate(2);
        twice.operands.push("2".to_owned());
        // A count makes a difference for each thread; the state is not used.
        add(Class::Counts, "two arrivals", twice.to_string());
        add(Class::Counts, "no arrival", NOTHING.to_owned());
    } else if statement.has("parity") {
        let other = statement.changed(2, "b32", "xor.b32 mutant, _, 1");
        add(Class::Parities, "flipped", other);
        let other = format!("setp.eq.u32 {}, 0, 0;", statement.operands[0]);
        add(Class::Waits, "no wait", other);
        if statement.has("acquire") {
            let other = statement
                .opcode
                .replace(".acquire.cluster", ".relaxed.cluster");
            add(
                Class::Waits,
                "relaxed",
                statement.renamed(&other).to_string(),
            );
        }
    }
    if statement.has("release") {
        let other = statement.opcode.replace(".release", ".relaxed");
        add(
            Class::Fences,
            "relaxed",
            statement.renamed(&other).to_string(),
        );
    }
}

pub fn fences(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    add(Class::Fences, "deleted", NOTHING.to_owned());
    let opcode = &statement.opcode;
    let weaker = match opcode.as_str() {
        "membar.gl" | "membar.sys" => Some("membar.cta".to_owned()),
        "fence.proxy.async.shared::cta" => Some("fence.proxy.async.global".to_owned()),
        _ => None,
    };
    if let Some(weaker) = weaker {
        let other = statement.renamed(&weaker).to_string();
        add(Class::Fences, "weaker", other);
    }
}

/// The operands of a product that are descriptors.
pub fn descriptor_operands(statement: &Statement) -> Vec<usize> {
    // The first is the accumulators; A may be registers.
    match statement.operands[1].starts_with('{') {
        true => vec![2],
        false => vec![1, 2],
    }
}

pub fn wgmma(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    if statement.has("fence") {
        add(Class::Fences, "deleted", NOTHING.to_owned());
    } else if statement.has("wait_group") {
        waits(statement, add);
    } else if statement.has("commit_group") {
        add(Class::Waits, "no group", NOTHING.to_owned());
    } else if statement.has("mma_async") {
        // "Matrix descriptor format": bits 0-13 address, 16-29 leading and 32-45 stride offset, all in
        // units of 16 bytes; 62-63 swizzle.
        for index in descriptor_operands(statement) {
            for (edit, instruction) in [
                ("start + 16", "add.u64 mutant, _, 1"),
                ("start + 1024", "add.u64 mutant, _, 64"),
                ("leading offset", "xor.b64 mutant, _, 0x10000"),
                ("stride offset", "xor.b64 mutant, _, 0x2000000000"),
                ("swizzle", "xor.b64 mutant, _, 0x8000000000000000"),
            ] {
                let text = statement.changed(index, "b64", instruction);
                add(Class::Descriptors, edit, text);
            }
        }
    }
}

fn waits(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    add(Class::Waits, "deleted", NOTHING.to_owned());
    if let Ok(pending) = statement.operands[0].parse::<u32>() {
        let other = statement.with(0, &(pending + 1).to_string());
        add(Class::Waits, "one more in flight", other.to_string());
    }
}

pub fn copies(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    if statement.has("wait_group") || statement.has("wait_all") {
        waits(statement, add);
    } else if statement.has("commit_group") {
        add(Class::Waits, "no group", NOTHING.to_owned());
    } else if statement.has("tensor") {
        tensors(statement, add);
    } else if statement.opcode.starts_with("cp.async.c") {
        if statement.operands.len() == 4 {
            let other = statement.changed(3, "b32", "sub.u32 mutant, _, 4");
            add(Class::Transactions, "4 bytes less", other);
        }
        for (index, edit) in [(0, "destination + 16"), (1, "source + 16")] {
            let moved = offset(&statement.operands[index], 16);
            add(
                Class::Addresses,
                edit,
                statement.with(index, &moved).to_string(),
            );
        }
    }
}

fn tensors(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    let operands = &statement.operands;
    let Some(index) = operands.iter().position(|operand| operand.contains('{')) else {
        return;
    };
    let Some((map, rest)) = operands[index].split_once('{') else {
        return;
    };
    let inner = rest.trim_end_matches([']', '}', ' ']);
    let coordinates: Vec<&str> = inner.split(',').map(str::trim).collect();
    let with = |coordinates: &[&str]| {
        let operand = format!("{map}{{{}}}]", coordinates.join(", "));
        statement.with(index, &operand)
    };
    let mut swapped = coordinates.clone();
    swapped.swap(0, 1);
    add(Class::Coordinates, "swapped", with(&swapped).to_string());
    for (axis, edit) in [(0, "x + 8"), (1, "y + 1")] {
        let step = if axis == 0 { 8 } else { 1 };
        let mut moved = coordinates.clone();
        moved[axis] = "mutant";
        let first = format!("add.s32 mutant, _, {step}");
        let text = statement.after(&first, "b32", coordinates[axis], &with(&moved));
        add(Class::Coordinates, edit, text);
    }
    // The matrix in shared memory.
    let shared = if index == 0 { 1 } else { 0 };
    let moved = offset(&operands[shared], 128);
    add(
        Class::Addresses,
        "tile + 128",
        statement.with(shared, &moved).to_string(),
    );
    if statement.has("multicast::cluster") {
        let other = statement.changed(3, "b16", "and.b16 mutant, _, 1");
        add(Class::Counts, "one block", other);
    }
}

pub fn shuffles(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    if statement.name() == "elect" {
        let other = statement.with(1, "0x0000ffff");
        add(Class::Shuffles, "fewer lanes", other.to_string());
        return;
    }
    let fewer = statement.changed(4, "b32", "and.b32 mutant, _, 0x7fffffff");
    add(Class::Shuffles, "fewer lanes", fewer);
    let other = statement.changed(2, "b32", "add.u32 mutant, _, 1");
    add(Class::Shuffles, "another lane", other);
    if statement.has("bfly") {
        let other = statement.opcode.replace(".bfly", ".down");
        add(
            Class::Shuffles,
            "down",
            statement.renamed(&other).to_string(),
        );
    }
}

/// `[a+4]`, with so many bytes added.
fn offset(operand: &str, bytes: i64) -> String {
    let inner = operand.trim_start_matches('[').trim_end_matches(']');
    match inner.split_once('+') {
        Some((base, offset)) => {
            let offset: i64 = offset.trim().parse().unwrap_or(0);
            format!("[{base}+{}]", offset + bytes)
        }
        None => format!("[{inner}+{bytes}]"),
    }
}

pub fn accesses(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
    if statement.has("param") {
        return;
    }
    let operands = statement.operands.iter();
    let Some(index) = operands
        .clone()
        .position(|operand| operand.starts_with('['))
    else {
        return;
    };
    if let Some(form) = statement.opcode.strip_prefix("atom.global.") {
        let other = format!("atom.relaxed.cta.global.{form}");
        add(
            Class::Fences,
            "scope of a block",
            statement.renamed(&other).to_string(),
        );
    }
    let vector = [("v2", 2), ("v4", 4)];
    let lanes = vector.iter().find(|(word, _)| statement.has(word));
    let bits = statement.opcode.rsplit('.').next().unwrap_or_default();
    let bits: i64 = bits
        .trim_start_matches(char::is_alphabetic)
        .parse()
        .unwrap_or(32);
    let bytes = match statement.has("m8n8") {
        true => 16,
        false => bits / 8 * lanes.map_or(1, |(_, lanes)| *lanes),
    };
    for (edit, bytes) in [("element after", bytes), ("element before", -bytes)] {
        let moved = offset(&statement.operands[index], bytes);
        add(
            Class::Addresses,
            edit,
            statement.with(index, &moved).to_string(),
        );
    }
}
