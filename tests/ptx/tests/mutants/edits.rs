//! The instructions that threads execute, and all that may be changed in them, by class.

use std::collections::{BTreeMap, BTreeSet};

use crate::forms::{
    accesses, arithmetic, copies, descriptor_operands, fences, mbarriers, predicates, shuffles,
    wgmma,
};
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
pub const NOTHING: &str = "// deleted";

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
