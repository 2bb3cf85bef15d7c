//! Inline assembly.
//!
//! Each operand becomes a variable of its own, and the statement C++ text over those: `asm` for
//! CUDA, and for the simulated GPU what [`crate::assembly`] makes of the text. The text names the
//! buffers that the statement may access, so analyses treat it as they treat `__cpp__`.

use crate::assembly::{self, Fault, Template};
use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    Arg, CheckCode, CppName, Expr, ExprKind, Intrinsic, Level, LocalId, Role, Scalar, StmtKind,
    Storage,
};
use crate::sema::asynchronous::futures;
use crate::sema::build;
use crate::sema::checks::{run_time, targets};
use crate::sema::levels::registers;
use crate::sema::state::elab::Elab;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::statements::assign::{self, Target};
use crate::sema::statements::device_calls;
use crate::sema::values::{arith, constants, convert};
use crate::source::Span;
use crate::syntax::ast::{self, AsmOperand, AsmStmt};

pub(crate) fn lower(el: &mut Elab<'_>, asm: &AsmStmt, span: Span) {
    if el.kernel.is_none() {
        el.cx.report(
            Diagnostic::new(codes::E0791, span, "inline assembly outside `parallel`")
                .label("PTX runs on the device")
                .help("move it into a `parallel`"),
        );
        return;
    }
    let names = operand_names(asm);
    let template = match Template::parse(&asm.template, &names) {
        Ok(template) => template,
        Err(fault) => return report_fault(el, &fault, names.len(), span),
    };
    if assembly::is_empty(&template) {
        el.cx.report(
            Diagnostic::new(codes::W0792, span, "inline assembly without an instruction")
                .label("its text is empty")
                .help("remove it, or write `sync.fence` for a fence"),
        );
    }
    if report_written_input(el, asm, &template) {
        return;
    }
    if let Some((more, number)) = register_count(asm, &template) {
        return registers::set_registers_of_each(el, "setmaxnreg", number, more, span);
    }
    let mut lowered = Lowered::default();
    let outputs: Option<Vec<Output>> = asm
        .outputs
        .iter()
        .map(|operand| output(el, operand, &mut lowered))
        .collect();
    let inputs: Vec<Option<()>> = asm
        .inputs
        .iter()
        .map(|operand| input(el, operand, &mut lowered))
        .collect();
    let Some(outputs) = outputs.filter(|_| inputs.iter().all(Option::is_some)) else {
        return;
    };
    if asm.clobbers.iter().any(|clobber| clobber == "memory") {
        names_in_reach(el, &mut lowered);
    }
    lowered
        .names
        .extend(std::mem::take(&mut lowered.operand_names));
    let from_sm_90 = assembly::needs_sm_90(&template);
    if from_sm_90 {
        targets::note_targets(el, span, codes::N0860, "such an instruction");
    }
    let text = lowered.text(el, asm, &template, span);
    let wrapper = match from_sm_90 {
        true => "CROQ_ASSEMBLY_FROM_SM_90",
        false => "CROQ_ASSEMBLY",
    };
    let statement = StmtKind::Cpp {
        text: format!("{wrapper}{text}"),
        names: lowered.names,
        from_sm_90,
    };
    build::emit(el, statement, span);
    for Output { target, local } in outputs {
        let value = Expr::local(local, el.f.local(local).ty, span);
        assign::set(el, target, value, span);
    }
}

/// Reports an input that the text writes. True after a report.
fn report_written_input(el: &mut Elab<'_>, asm: &AsmStmt, template: &Template) -> bool {
    let outputs = asm.outputs.len();
    let Some((number, instruction)) = assembly::written_input(template, outputs) else {
        return false;
    };
    let Some(operand) = asm.inputs.get(number.saturating_sub(outputs)) else {
        return false;
    };
    el.cx.report(
        Diagnostic::new(
            codes::E0793,
            operand.value.span,
            format!("`{instruction}` writes `%{number}`, which is an input"),
        )
        .label("an operand that the assembly only reads")
        .help("outputs are in front of the second colon: `\"=r\"(x)`, or `\"+r\"(x)` if the text reads it, too"),
    );
    true
}

fn report_fault(el: &mut Elab<'_>, fault: &Fault, count: usize, span: Span) {
    let (text, label) = match fault {
        Fault::Number(number) => (
            format!("the text of the assembly has `%{number}`, and {count} operands"),
            match count {
                0 => "there are no operands".to_owned(),
                n => format!("operands are numbered from `%0` to `%{}`", n - 1),
            },
        ),
        Fault::Name(name) => (
            format!("no operand of the assembly is called `{name}`"),
            "operands have names in brackets before their constraints".to_owned(),
        ),
        Fault::Open => (
            "`%[` without `]` in the text of the assembly".to_owned(),
            "the name of an operand never ends".to_owned(),
        ),
    };
    let report = Diagnostic::new(codes::E0799, span, text).label(label);
    el.cx.report(
        report
            .help("`%0` is the first output, inputs follow the outputs; a register is `%%laneid`"),
    );
}

fn operand_names(asm: &AsmStmt) -> Vec<Option<&str>> {
    let all = asm.outputs.iter().chain(&asm.inputs);
    all.map(|operand| operand.name.as_ref().map(|name| name.text.as_str()))
        .collect()
}

/// Whether a statement is `setmaxnreg` alone.
pub(crate) fn is_register_change(asm: &AsmStmt) -> bool {
    let template = Template::parse(&asm.template, &operand_names(asm));
    template.is_ok_and(|template| register_count(asm, &template).is_some())
}

/// For a text that is `setmaxnreg` alone: whether it takes more registers, and the number.
fn register_count(asm: &AsmStmt, template: &Template) -> Option<(bool, Option<i64>)> {
    let text = template.numbered();
    let text = text.trim().strip_prefix("setmaxnreg.")?;
    let text = text.trim_end_matches([';', ' ', '\n', '\t']);
    let (more, rest) = match text.strip_prefix("inc.") {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix("dec.")?),
    };
    let number = rest.strip_prefix("sync.aligned.u32")?.trim();
    match (number, asm.inputs.as_slice()) {
        ("%0", [only]) => Some((more, constants::constant(&only.value))),
        (number, []) => Some((more, number.parse().ok())),
        _ => None,
    }
}

#[derive(Default)]
struct Lowered {
    /// The operands in C++, with their constraints.
    operands: Vec<(String, String)>,
    outputs: usize,
    /// Names of the text, innermost last.
    names: Vec<CppName>,
    /// Those of operands.
    operand_names: Vec<CppName>,
    /// Buffers that the text may access without naming them.
    reached: Vec<String>,
}

struct Output {
    target: Target,
    local: LocalId,
}

impl Lowered {
    fn add(&mut self, constraint: String, text: String) {
        self.operands.push((constraint, text));
    }

    /// The statement as arguments of `CROQ_ASSEMBLY`: the C++ for both targets.
    fn text(&self, el: &mut Elab<'_>, asm: &AsmStmt, template: &Template, span: Span) -> String {
        let list = |operands: &[(String, String)]| {
            let operand =
                |(constraint, text): &(String, String)| format!("\"{constraint}\"({text})");
            operands.iter().map(operand).collect::<Vec<_>>().join(", ")
        };
        let (outputs, inputs) = self
            .operands
            .split_at(self.outputs.min(self.operands.len()));
        let clobbers: Vec<String> = asm.clobbers.iter().map(|c| quoted(c)).collect();
        let cuda = format!(
            "asm volatile({} : {} : {} : {})",
            quoted(&template.numbered()),
            list(outputs),
            list(inputs),
            clobbers.join(", ")
        );
        let values: Vec<assembly::Value> = self.operands.iter().map(assembly_value).collect();
        let simulated = assembly::translated(template, &values).unwrap_or_else(|what| {
            let words: Vec<&str> = what.split_whitespace().collect();
            report_at_call(el, &words.join(" "), span);
            assembly::unknown(&what, &values)
        });
        let reached = match self.reached.as_slice() {
            [] => String::new(),
            names => format!(" /* memory: {} */", names.join(", ")),
        };
        format!("(({cuda}), {simulated});{reached}")
    }
}

fn assembly_value((constraint, text): &(String, String)) -> assembly::Value {
    assembly::Value {
        text: text.clone(),
        is_constant: constraint == "n",
    }
}

/// Emits the check at entry that the device has PTX.
fn report_at_call(el: &mut Elab<'_>, unknown: &str, span: Span) {
    let message = format!(
        "the simulated GPU does not know this inline assembly: {}",
        unknown.replace(['{', '}'], "")
    );
    let check = run_time::Check::new(CheckCode::R24, message, span);
    let condition = Expr::intrinsic(Intrinsic::HasPtx, span);
    run_time::emit_check_at(el, true, check, condition, &[], &[]);
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => {}
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A constraint: its letter, and whether the operand is written, and also read.
struct Constraint {
    letter: char,
    reads: bool,
}

/// Reads `=r`, `+f`, `l`, …
fn constraint(el: &mut Elab<'_>, operand: &AsmOperand, is_output: bool) -> Option<Constraint> {
    let text = operand.constraint.trim();
    let (sign, rest) = match text.strip_prefix('=') {
        Some(rest) => (Some('='), rest),
        None => match text.strip_prefix('+') {
            Some(rest) => (Some('+'), rest),
            None => (None, text),
        },
    };
    let rest = if is_output {
        rest.trim_start_matches('&')
    } else {
        rest
    };
    let letter = match rest {
        "r" | "h" | "l" | "f" | "d" => rest.chars().next(),
        "n" if !is_output => Some('n'),
        _ => None,
    };
    if let Some(letter) = letter
        && sign.is_some() == is_output
    {
        let reads = sign == Some('+');
        return Some(Constraint { letter, reads });
    }
    let (what, help) = match is_output {
        true => (
            "an output",
            "`=` or `+`, and `r` (32 bits), `l` (64), `h` (16), `f` (f32) or `d` (f64)",
        ),
        false => (
            "an input",
            "`r` (32 bits), `l` (64), `h` (16), `f` (f32), `d` (f64) or `n` (a constant)",
        ),
    };
    el.cx.report(
        Diagnostic::new(
            codes::E0793,
            operand.value.span,
            format!("`\"{text}\"` is no constraint of {what}"),
        )
        .label("this operand")
        .help(format!("write {help}")),
    );
    None
}

/// The types that a register of this letter holds.
fn fits(letter: char, ty: Scalar) -> bool {
    match letter {
        'f' => ty == Scalar::F32,
        'd' => ty == Scalar::F64,
        'h' => ty.is_integer() && ty.bytes() == 2,
        'r' => ty.is_integer() && ty.bytes() == 4,
        _ => ty.is_integer() && ty != Scalar::Index && ty.bytes() == 8,
    }
}

fn register(letter: char) -> &'static str {
    match letter {
        'f' => "`f32`",
        'd' => "`f64`",
        'h' => "`s16` or `u16`",
        'r' => "`s32` or `u32`",
        _ => "`s64`, `u64` or an address",
    }
}

fn report_type(el: &mut Elab<'_>, letter: char, found: &str, at: Span) {
    el.cx.report(
        Diagnostic::new(
            codes::E0793,
            at,
            format!(
                "an operand with `\"{letter}\"` is {}, this is {found}",
                register(letter)
            ),
        )
        .label("another type")
        .help("convert it with `__to<…>(…)`, or take its bits with `__bitcast<…>(…)`"),
    );
}

/// A new variable for an operand, whose name is in the text.
fn variable(el: &mut Elab<'_>, ty: Scalar, is_mutable: bool, span: Span) -> (LocalId, String) {
    let name = format!("asm_{}", el.f.locals.len());
    let local = build::new_local(&mut el.f, &name, ty, is_mutable, Role::Value, span);
    (local, name)
}

fn output(el: &mut Elab<'_>, operand: &AsmOperand, lowered: &mut Lowered) -> Option<Output> {
    let span = operand.value.span;
    let constraint = constraint(el, operand, true);
    let target = assign::target(el, &operand.value);
    let (constraint, target) = (constraint?, target?);
    let ty = assign::type_of(el, &target);
    if !fits(constraint.letter, ty) {
        report_type(el, constraint.letter, &format!("`{ty}`"), span);
        return None;
    }
    let initial = match constraint.reads {
        true => assign::current(el, &target, span),
        // What the text leaves is written over this.
        false => match ty.is_float() {
            true => Expr::new(ExprKind::Float(0.0), ty, span),
            false => Expr::int(0, ty, span),
        },
    };
    let (local, name) = variable(el, ty, true, span);
    let value = Some(initial);
    build::emit(el, StmtKind::Let { local, value }, span);
    // Instructions may depend on the thread.
    el.build.vary(local, Level::Thread);
    lowered.operand_names.push(CppName::Local(local));
    let sign = if constraint.reads { '+' } else { '=' };
    lowered.add(format!("{sign}{}", constraint.letter), name);
    lowered.outputs += 1;
    Some(Output { target, local })
}

fn input(el: &mut Elab<'_>, operand: &AsmOperand, lowered: &mut Lowered) -> Option<()> {
    let span = operand.value.span;
    let constraint = constraint(el, operand, false);
    if let ast::ExprKind::Str(_) = &*operand.value.kind {
        report_type(el, constraint?.letter, "a string", span);
        return None;
    }
    let arg = device_calls::lower_argument(el, &operand.value);
    let (letter, arg) = (constraint?.letter, arg?);
    let text = match arg {
        Arg::Value(value) if letter == 'n' => constant_operand(el, &value, span)?,
        Arg::Value(value) => value_operand(el, letter, value, span, lowered)?,
        Arg::Pointer(view) => {
            let storage = el.f.buffer(view.buffer).storage;
            let buffer = el.f.buffer(view.buffer).name.clone();
            let (offset, place) = variable(el, Scalar::Index, false, span);
            let value = Some(Expr::index(view.offset.clone(), span));
            build::emit(
                el,
                StmtKind::Let {
                    local: offset,
                    value,
                },
                span,
            );
            lowered.operand_names.push(CppName::Local(offset));
            lowered.operand_names.push(CppName::Buffer(view.buffer));
            match (letter, storage) {
                ('l', _) => format!("{buffer} + {place}"),
                // The address in the window of shared memory, which has 32 bits.
                ('r', Storage::Shared) => {
                    format!("static_cast<unsigned>(__cvta_generic_to_shared({buffer} + {place}))")
                }
                _ => {
                    report_type(el, letter, "an address", span);
                    return None;
                }
            }
        }
        Arg::Cast(..) | Arg::Null => {
            report_type(el, letter, "a cast for a C++ function", span);
            return None;
        }
    };
    lowered.add(letter.to_string(), text);
    Some(())
}

fn constant_operand(el: &mut Elab<'_>, value: &Expr, span: Span) -> Option<String> {
    let number = match &*value.kind {
        ExprKind::Int(number) => i64::try_from(*number).ok(),
        ExprKind::Index(sym) => sym.as_int(),
        ExprKind::Cast(inner) => match &*inner.kind {
            ExprKind::Index(sym) => sym.as_int(),
            _ => None,
        },
        _ => None,
    };
    if number.is_none() {
        el.cx.report(
            Diagnostic::new(
                codes::E0793,
                span,
                "an operand with `\"n\"` is a constant integer",
            )
            .label("known only at run time")
            .help("write `\"r\"` for a value in a register"),
        );
    }
    number.map(|number| number.to_string())
}

fn value_operand(
    el: &mut Elab<'_>,
    letter: char,
    value: Expr,
    span: Span,
    lowered: &mut Lowered,
) -> Option<String> {
    let value = in_register(el, letter, value, span)?;
    let (local, name) = variable(el, value.ty, false, span);
    let value = Some(value);
    build::emit(el, StmtKind::Let { local, value }, span);
    lowered.operand_names.push(CppName::Local(local));
    Some(name)
}

/// A value as one of the types of the letter; integers of the compiler take any that they fit.
fn in_register(el: &mut Elab<'_>, letter: char, value: Expr, span: Span) -> Option<Expr> {
    if let ExprKind::Cast(inner) = &*value.kind
        && let ExprKind::Index(sym) = &*inner.kind
    {
        let types = match letter {
            'h' => [Scalar::S16, Scalar::U16],
            'r' => [Scalar::S32, Scalar::U32],
            'l' => [Scalar::S64, Scalar::U64],
            _ => return type_error(el, letter, "an integer", span),
        };
        let fitting = types
            .into_iter()
            .find(|ty| crate::ir::is_within(&el.f, sym, *ty));
        let [signed, _] = types;
        let ty = match (fitting, arith::int_of(&Value::Scalar(value.clone()))) {
            (Some(ty), _) => ty,
            (None, _) if letter == 'r' && value.ty == Scalar::S32 => signed,
            (None, _) if letter == 'l' => signed,
            _ => return type_error(el, letter, "an integer that may not fit it", span),
        };
        let index = Value::Scalar(inner.clone());
        return match sym.as_int() {
            Some(number) => Some(Expr::int(i128::from(number), ty, span)),
            None => convert::convert(el, index, ty, span),
        };
    }
    if fits(letter, value.ty) {
        return Some(value);
    }
    let found = format!("`{}`", value.ty);
    type_error(el, letter, &found, span)
}

fn type_error(el: &mut Elab<'_>, letter: char, found: &str, span: Span) -> Option<Expr> {
    report_type(el, letter, found, span);
    None
}

/// With a `"memory"` clobber, all buffers that have a name here may be read and written.
fn names_in_reach(el: &mut Elab<'_>, lowered: &mut Lowered) {
    let visible: Vec<Entity> = el.names.visible().map(|b| b.entity.clone()).collect();
    for entity in visible {
        let id = match entity {
            Entity::Buffer { id, .. } | Entity::Word(id) => id,
            Entity::View(data) | Entity::Chosen(data) => data.view.buffer,
            Entity::Future(id) => match futures::get(el, id).and_then(|f| f.data.as_ref()) {
                Some(data) => data.view.buffer,
                None => continue,
            },
            _ => continue,
        };
        let Some(buffer) = el.f.buffers.get_mut(id.index()) else {
            continue;
        };
        if matches!(buffer.storage, Storage::Mbarriers | Storage::Fragment) {
            continue;
        }
        buffer.read = true;
        // A parameter that no statement writes stays one that the caller only lends.
        buffer.written |= !buffer.storage.is_global();
        if !lowered.reached.contains(&buffer.name) {
            lowered.reached.push(buffer.name.clone());
        }
        lowered.names.push(CppName::Buffer(id));
    }
}
