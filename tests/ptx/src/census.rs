//! Which instruction forms a set of modules has, and which of them the machine executes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::machine;
use crate::parse::Module;

/// Forms (an opcode with its modifiers) by name.
#[derive(Default, Debug)]
pub struct Census {
    forms: BTreeMap<String, Form>,
    files: usize,
    /// Kernels of other projects that executed a form and gave right results, by form.
    witnesses: BTreeMap<String, Vec<String>>,
}

/// How often a form occurs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Form {
    pub opcode: String,
    pub count: u64,
    /// Those of `count` that the machine refuses, and why.
    pub refused: u64,
    pub reasons: BTreeSet<String>,
}

impl Census {
    pub fn add(&mut self, module: &Module) {
        self.files += 1;
        for (instruction, refusal) in machine::unsupported(module) {
            let mnemonic = &instruction.mnemonic;
            let form = self.forms.entry(mnemonic.to_string()).or_default();
            form.opcode.clone_from(&mnemonic.opcode);
            form.count += 1;
            if let Some(refusal) = refusal {
                form.refused += 1;
                form.reasons.insert(refusal.reason);
            }
        }
    }

    /// Lines of a form, a colon, and the names of kernels; the forms of other lines have no witness.
    pub fn add_witnesses(&mut self, text: &str) {
        let lines = text.lines().filter_map(|line| line.split_once(": "));
        let names = |names: &str| names.split(' ').map(str::to_owned).collect();
        self.witnesses
            .extend(lines.map(|(form, list)| (form.to_owned(), names(list))));
    }

    pub fn forms(&self) -> &BTreeMap<String, Form> {
        &self.forms
    }
}

/// A table in Markdown, after a line with totals.
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opcodes: BTreeSet<&str> = self
            .forms
            .values()
            .map(|form| form.opcode.as_str())
            .collect();
        let is_witnessed = |name: &&String| self.witnesses.contains_key(*name);
        let witnessed = self.forms.keys().filter(is_witnessed).count();
        let executed = self.forms.values().filter(|form| form.refused == 0).count();
        writeln!(
            f,
            "{} modules, {} opcodes, {} forms; {executed} forms are implemented, \
             {witnessed} were executed by a peer.\n",
            self.files,
            opcodes.len(),
            self.forms.len()
        )?;
        writeln!(
            f,
            "| opcode | form | count | implemented | peers |\n|---|---|---:|---|---:|"
        )?;
        for (name, form) in &self.forms {
            let implemented = match form.refused {
                0 => "yes".to_owned(),
                refused if refused == form.count => "no".to_owned(),
                refused => format!("not {refused}"),
            };
            let reasons: Vec<&str> = form.reasons.iter().map(String::as_str).collect();
            let reasons = match reasons.as_slice() {
                [] | ["this opcode"] => String::new(),
                list => format!(": {}", list.join("; ")),
            };
            let (opcode, count) = (&form.opcode, form.count);
            let peers = self.witnesses.get(name).map_or(0, Vec::len);
            writeln!(
                f,
                "| {opcode} | `{name}` | {count} | {implemented}{reasons} | {peers} |"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Census;
    use crate::parse::parse;

    #[test]
    fn forms_are_counted_and_refused_by_name() {
        let text = ".version 9.0\n.target sm_90a\n.entry k()\n{\n.reg .b32 %r<3>; .reg .b64 %d;\n\
            add.u32 %r0, %r1, %r2; add.u32 %r0, %r1, %d; add.s32 %r0, %r1, 5;\n\
            tcgen05.shift.down [%r0]; ret;\n}";
        let mut census = Census::default();
        census.add(&parse(text).unwrap());
        let form = &census.forms()["add.u32"];
        assert_eq!((form.count, form.refused), (2, 1));
        assert_eq!(census.forms()["add.s32"].refused, 0);
        census.add_witnesses("add.s32: softmax attention\nbar.sync: softmax\n");
        let table = census.to_string();
        assert!(table.starts_with(
            "1 modules, 3 opcodes, 4 forms; 2 forms are implemented, 1 were executed by a peer.\n"
        ));
        assert!(table.contains("| add | `add.s32` | 1 | yes | 2 |\n"));
        assert!(table.contains("| tcgen05 | `tcgen05.shift.down` | 1 | no | 0 |\n"));
        let add =
            "| add | `add.u32` | 2 | not 1: a register of 64 bits where 32 are expected | 0 |\n";
        assert!(table.contains(add), "{table}");
    }
}
