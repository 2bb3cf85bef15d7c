//! Which instruction forms a set of modules has, and which of them the machine executes.

mod example;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::machine;
use crate::parse::Module;
pub use example::{Example, Examples};

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
    /// The first that is refused, or the first.
    pub example: Option<Example>,
}

impl Census {
    pub fn add(&mut self, module: &Module) {
        self.files += 1;
        let functions = module.functions.iter().flat_map(|function| {
            let body = function.body.iter();
            let instructions = body.flat_map(|body| &body.instructions);
            instructions.map(move |_| function)
        });
        let all = machine::unsupported(module).into_iter().zip(functions);
        for ((instruction, refusal), function) in all {
            let mnemonic = &instruction.mnemonic;
            let form = self.forms.entry(mnemonic.to_string()).or_default();
            form.opcode.clone_from(&mnemonic.opcode);
            form.count += 1;
            if form.example.is_none() || refusal.is_some() && form.refused == 0 {
                form.example = Example::new(instruction, function, module);
            }
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

    /// A module with an instruction of each form.
    pub fn examples(&self) -> Examples {
        let mut examples = Examples::default();
        let all = self.forms.values().filter_map(|form| form.example.as_ref());
        all.for_each(|example| examples.add(example));
        examples
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

    /// The examples are instructions of the same forms, and are refused where those are.
    #[test]
    fn examples_are_of_all_forms() {
        let text = ".version 9.0\n.target sm_90a\n.global .b32 x;\n.func f(.param .b64 a) { ret; }\n\
            .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %d; .reg .f32 %f<2>; .reg .pred %p<4>;\n\
            { .param .b64 a; st.param.b64 [a+0], %d; call.uni f, (a); }\n\
            ld.param.u64 %d, [p]; ld.global.v2.u32 {%r3, %r4}, [%d+8]; st.global.u32 [x+-4], %r3;\n\
            add.f32 %f0, %f1, 0f3F800000; setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3; mov.u32 %r5, %tid.x; mov.b64 %d, p;\n\
            mad.lo.u32 %r1, %r1, %r2, %r1; @%p1 bra L; add.u32 %r0, %r1, %d;\n\
            cp.async.bulk.prefetch.tensor.2d.L2.global [%d, {%r0, %r1}]; L: ret;\n}";
        let census = |text: &str| {
            let mut census = Census::default();
            census.add(&parse(text).unwrap_or_else(|error| panic!("{error}\n{text}")));
            census
        };
        let first = census(text);
        let examples = first.examples().to_string();
        let second = census(&examples);
        let forms = |census: &Census| {
            let forms = census.forms().iter();
            let forms = forms.map(|(name, form)| (name.clone(), form.reasons.clone()));
            forms.collect::<Vec<_>>()
        };
        assert_eq!(forms(&first), forms(&second), "{examples}");
        assert!(examples.contains("\tmad.lo.u32 %b32_0, %b32_0, %b32_1, %b32_0;\n"));
        assert!(examples.contains("\tsetp.lt.and.s32 %pred_0|%pred_1, %b32_0, -5, !%pred_2;\n"));
        assert!(examples.contains("\tst.global.u32 [in_global+-4], %b32_0;\n"));
    }
}
