//! What may be changed in an instruction, by class.

use std::collections::{BTreeMap, BTreeSet};

use crate::statement::Statement;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Class {
    Barriers,
    Parities,
    Counts,
    Fences,
    Descriptors,
    Coordinates,
    Predicates,
    Transactions,
    Waits,
    Addresses,
    Shuffles,
}

pub const CLASSES: [(Class, &str); 11] = [
    (Class::Barriers, "barriers"),
    (Class::Parities, "parities"),
    (Class::Counts, "counts"),
    (Class::Fences, "fences"),
    (Class::Descriptors, "descriptors"),
    (Class::Coordinates, "coordinates"),
    (Class::Predicates, "predicates"),
    (Class::Transactions, "bytes"),
    (Class::Waits, "waits"),
    (Class::Addresses, "addresses"),
    (Class::Shuffles, "shuffles"),
];

/// A changed line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mutant {
    pub class: Class,
    /// From 1.
    pub line: usize,
    pub edit: &'static str,
    pub text: String,
}

/// The statements that threads executed, by their lines.
pub struct Code {
    pub statements: BTreeMap<usize, Statement>,
    pub threads: u32,
    /// The names of the entry's tensor maps.
    pub maps: Vec<String>,
}

/// In place of an instruction that is deleted: line numbers stay.
const NOTHING: &str = "// deleted";

impl Code {
    pub fn new(text: &str, executed: &BTreeSet<u32>) -> Code {
        let lines = || text.lines().enumerate();
        let statements = lines()
            .filter(|(at, _)| executed.contains(&(*at as u32 + 1)))
            .filter_map(|(at, line)| Some((at + 1, Statement::parse(line)?)));
        let threads = lines().find_map(|(_, line)| {
            let extents = line.trim().strip_prefix(".maxntid")?;
            extents.split(',').next()?.trim().parse().ok()
        });
        let maps = lines().filter_map(|(_, line)| {
            let name = line.trim().strip_prefix(".param .align 128 .b8 ")?;
            Some(name.split('[').next()?.to_owned())
        });
        let mut code = Code {
            statements: statements.collect(),
            threads: threads.unwrap_or(1024),
            maps: maps.collect(),
        };
        code.keep_used();
        code
    }

    /// Without instructions that only compute what no executed instruction uses, such as parts of
    /// messages for failures that did not happen: a change of those cannot be seen.
    fn keep_used(&mut self) {
        const EFFECTS: [&str; 18] = [
            "st",
            "atom",
            "red",
            "bar",
            "barrier",
            "mbarrier",
            "fence",
            "membar",
            "cp",
            "wgmma",
            "bra",
            "ret",
            "call",
            "trap",
            "stmatrix",
            "nanosleep",
            "elect",
            "setmaxnreg",
        ];
        let results = |statement: &Statement| -> Vec<String> {
            match EFFECTS.contains(&statement.name()) {
                true => Vec::new(),
                false => statement
                    .operands
                    .first()
                    .map_or(Vec::new(), |all| registers(all)),
            }
        };
        loop {
            let mut used = BTreeSet::new();
            for statement in self.statements.values() {
                let skipped = usize::from(!results(statement).is_empty());
                let sources = statement.operands.iter().skip(skipped);
                used.extend(
                    sources
                        .chain(&statement.guard)
                        .flat_map(|all| registers(all)),
                );
            }
            let before = self.statements.len();
            self.statements.retain(|_, statement| {
                let results = results(statement);
                results.is_empty() || results.iter().any(|name| used.contains(name))
            });
            if self.statements.len() == before {
                return;
            }
        }
    }

    /// Whether the register has one value, a literal.
    fn is_constant(&self, register: &str) -> bool {
        let written = |statement: &&Statement| {
            statement.operands.first().map(String::as_str) == Some(register)
        };
        let mut definitions = self.statements.values().filter(written);
        definitions.all(|statement| {
            statement.name() == "mov" && statement.operands[1].parse::<i64>().is_ok()
        })
    }

    pub fn mutants(&self) -> Vec<Mutant> {
        let mut all = Vec::new();
        for (line, statement) in &self.statements {
            for (class, edit, text) in self.edits(statement) {
                all.push(Mutant {
                    class,
                    line: *line,
                    edit,
                    text,
                });
            }
        }
        for (class, found) in [
            (Class::Parities, self.parities()),
            (Class::Coordinates, self.coordinates()),
            (Class::Addresses, self.addresses()),
            (Class::Descriptors, self.descriptors()),
        ] {
            for line in found {
                let edits = arithmetic(&self.statements[&line]);
                all.extend(edits.into_iter().map(|(edit, text)| Mutant {
                    class,
                    line,
                    edit,
                    text,
                }));
            }
        }
        all.dedup();
        all
    }

    fn edits(&self, statement: &Statement) -> Vec<(Class, &'static str, String)> {
        let mut all = Vec::new();
        let mut add = |class, edit, text: String| all.push((class, edit, text));
        predicates(statement, &mut add);
        match statement.name() {
            "bar" | "barrier" => self.barriers(statement, &mut add),
            "mbarrier" => {
                mbarriers(statement, &mut add);
                if statement.has("parity") && !self.is_constant(&statement.operands[2]) {
                    let other = statement.changed(2, "b32", "and.b32 mutant, _, 0");
                    add(Class::Parities, "always 0", other);
                }
            }
            "fence" | "membar" => fences(statement, &mut add),
            "wgmma" => wgmma(statement, &mut add),
            "cp" => copies(statement, &mut add),
            "shfl" | "elect" => shuffles(statement, &mut add),
            "ld" | "st" | "atom" | "red" | "ldmatrix" | "stmatrix" => accesses(statement, &mut add),
            "mov" => self.moves(statement, &mut add),
            _ => {}
        }
        all
    }

    fn barriers(&self, statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
        add(Class::Barriers, "deleted", NOTHING.to_owned());
        if statement.name() == "barrier" {
            if statement.has("release") {
                let other = statement.opcode.replace(".release", ".relaxed");
                add(
                    Class::Barriers,
                    "relaxed",
                    statement.renamed(&other).to_string(),
                );
            }
            return;
        }
        if statement.operands.len() == 1 {
            let threads = match self.threads {
                ..=32 => 64,
                more => more - 32,
            };
            let mut other = statement.clone();
            other.operands.push(threads.to_string());
            add(Class::Barriers, "fewer threads", other.to_string());
            other.operands[1] = self.threads.to_string();
            let other = other.renamed("bar.arrive");
            add(Class::Barriers, "no wait", other.to_string());
        } else {
            let fewer = statement.changed(1, "b32", "sub.u32 mutant, _, 32");
            add(Class::Barriers, "fewer threads", fewer);
            let more = statement.changed(1, "b32", "add.u32 mutant, _, 32");
            add(Class::Barriers, "more threads", more);
            let other = statement.renamed("bar.arrive");
            add(Class::Barriers, "no wait", other.to_string());
        }
    }

    fn moves(&self, statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
        let source = &statement.operands[1];
        for (from, to) in [(".x", ".y"), (".y", ".x")] {
            if let Some(name) = source.strip_suffix(from)
                && (name == "%ctaid" || name == "%tid")
            {
                let other = statement.with(1, &format!("{name}{to}"));
                add(Class::Coordinates, "another axis", other.to_string());
            }
        }
        if let Some(index) = self.maps.iter().position(|map| map == source) {
            let other = &self.maps[(index + 1) % self.maps.len()];
            add(
                Class::Descriptors,
                "another tensor map",
                statement.with(1, other).to_string(),
            );
        }
    }

    /// The lines of arithmetic that a register is made of.
    fn sources(&self, operand: &str, depth: usize, found: &mut BTreeSet<usize>) {
        const ARITHMETIC: [&str; 11] = [
            "add", "sub", "shl", "shr", "xor", "and", "or", "mul", "mad", "bfi", "bfe",
        ];
        if depth == 0 {
            return;
        }
        for name in registers(operand) {
            for (line, statement) in &self.statements {
                if statement.operands.first() != Some(&name) {
                    continue;
                }
                if ARITHMETIC.contains(&statement.name()) {
                    if !found.insert(*line) {
                        continue;
                    }
                } else if statement.name() != "cvt" && statement.name() != "mov" {
                    continue;
                }
                for operand in &statement.operands[1..] {
                    self.sources(operand, depth - 1, found);
                }
            }
        }
    }

    fn parities(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for statement in self.statements.values() {
            if statement.has("parity") {
                self.sources(&statement.operands[2], 3, &mut found);
            }
        }
        found
    }

    fn coordinates(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for statement in self.statements.values() {
            if statement.has("tensor") {
                let map = statement
                    .operands
                    .iter()
                    .find(|operand| operand.contains('{'));
                let Some((_, coordinates)) = map.and_then(|map| map.split_once('{')) else {
                    continue;
                };
                self.sources(coordinates, 3, &mut found);
            }
        }
        found
    }

    fn addresses(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for statement in self.statements.values() {
            let accesses = ["ld", "st", "atom", "red", "ldmatrix", "stmatrix", "cp"];
            if accesses.contains(&statement.name()) && !statement.has("param") {
                let memory = statement.operands.iter();
                for operand in memory.filter(|operand| operand.starts_with('[')) {
                    let base = operand.split('{').next().unwrap_or_default();
                    self.sources(base, 2, &mut found);
                }
            }
        }
        found
    }

    fn descriptors(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for statement in self.statements.values() {
            if statement.has("mma_async") {
                for index in descriptor_operands(statement) {
                    self.sources(&statement.operands[index], 3, &mut found);
                }
            }
        }
        found
    }
}

fn registers(operand: &str) -> Vec<String> {
    let words = operand.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%' || c == '_'));
    let named = words.filter(|word| word.starts_with('%'));
    named.map(str::to_owned).collect()
}

/// Constants of arithmetic.
fn arithmetic(statement: &Statement) -> Vec<(&'static str, String)> {
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

fn predicates(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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

fn mbarriers(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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

fn fences(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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
fn descriptor_operands(statement: &Statement) -> Vec<usize> {
    // The first is the accumulators; A may be registers.
    match statement.operands[1].starts_with('{') {
        true => vec![2],
        false => vec![1, 2],
    }
}

fn wgmma(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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

fn copies(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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

fn shuffles(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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

fn accesses(statement: &Statement, add: &mut impl FnMut(Class, &'static str, String)) {
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
