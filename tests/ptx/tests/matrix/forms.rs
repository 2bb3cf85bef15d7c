//! The matrix instructions of the census are implemented, all of them.

use croq_ptx::machine::unsupported;
use croq_ptx::parse::parse;

use super::harness::{entry, list, width};
use super::layouts::extents;

/// The registers that hold `count` elements in 32 lanes.
fn registers(prefix: &str, count: usize, ty: &str) -> String {
    match ty {
        "f64" => list(&format!("d{prefix}"), count / 32),
        _ => list(prefix, count * width(ty) / 1024),
    }
}

/// A statement of the form.
fn statement(form: &str) -> String {
    let words: Vec<&str> = form.split('.').collect();
    let matrices = |word: &&&str| matches!(**word, "x1" | "x2" | "x4");
    if let Some(word) = words.iter().find(matrices) {
        let registers = list("r", word[1..].parse().unwrap());
        return match words[0] {
            "ldmatrix" => format!("{form} {registers}, [tile];"),
            _ => format!("{form} [tile], {registers};"),
        };
    }
    let has_shape =
        |word: &&&str| word.starts_with('m') && word[1..].starts_with(|c: char| c.is_ascii_digit());
    let Some(shape) = words.iter().find(has_shape) else {
        let count = if words[1] == "wait_group" { " 1" } else { "" };
        return format!("{form}{count};");
    };
    let [m, n, k] = extents(shape);
    let is_type = |word: &&&str| {
        [
            "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1",
            "s32",
        ]
        .contains(*word)
    };
    let types: Vec<&str> = words.iter().filter(is_type).copied().collect();
    let (sum, a, b) = (types[0], types[1], types[2]);
    let is_sparse = words.iter().any(|word| word.starts_with("sp"));
    if words[0] == "mma" {
        let stored = if is_sparse { k / 2 } else { k };
        let metadata = if is_sparse { ", %e0, 0" } else { "" };
        return format!(
            "{form} {}, {}, {}, {}{metadata};",
            registers("d", m * n, sum),
            registers("a", m * stored, a),
            registers("b", n * k, b),
            registers("c", m * n, sum),
        );
    }
    let metadata = if is_sparse { ", %e0, 0" } else { "" };
    let modes = match (a, width(a)) {
        ("s8" | "u8" | "b1", _) => "",
        (_, 16) => ", 1, 1, 0, 0",
        _ => ", 1, 1",
    };
    let d = registers("d", 16 * n, sum);
    format!("{form} {d}, %da0, %db0{metadata}, 1{modes};")
}

#[test]
fn every_form_of_the_census_is_implemented() {
    let rows = include_str!("../../census.md").lines();
    let opcodes = ["ldmatrix", "stmatrix", "mma", "wgmma"];
    let mut count = 0;
    for row in rows {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, opcode, form, ..] = cells.as_slice() else {
            continue;
        };
        if !opcodes.contains(opcode) {
            continue;
        }
        let text = statement(form.trim_matches('`'));
        let module = parse(&entry(&format!("{text}\nret;"))).unwrap();
        for (_, refusal) in unsupported(&module) {
            assert_eq!(refusal, None, "{text}");
        }
        assert!(row.contains("| yes |"), "{row}");
        count += 1;
    }
    assert!(count > 150, "{count} forms");
}
