//! `call croq::cuda::setreg_inc(232)`: moves registers between the warpgroups of a block. A
//! `__cpp__` that contains only the instruction is equivalent.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Registers, StmtKind, WARPGROUP_THREADS};
use crate::sema::build;
use crate::sema::levels::instances;
use crate::sema::state::elab::Elab;
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::CallExpr;

const WARPGROUP: u32 = WARPGROUP_THREADS;

/// Whether a call of this name takes more registers; `None` if it is another function.
pub(crate) fn direction(callee: &str) -> Option<bool> {
    match callee.rsplit("::").next()?.trim() {
        "setreg_inc" => Some(true),
        "setreg_dec" => Some(false),
        _ => None,
    }
}

/// For the text of a `__cpp__` that is `setmaxnreg` and nothing else: whether it takes more
/// registers, and the number per thread, if it is a constant.
pub(crate) fn in_assembly(text: &str) -> Option<(bool, Option<i64>)> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let rest = text.strip_prefix("asm").or(text.strip_prefix("__asm__"))?;
    let rest = rest.strip_prefix("volatile").unwrap_or(rest);
    let rest = rest.strip_prefix("__volatile__").unwrap_or(rest);
    let rest = rest.strip_prefix("(\"setmaxnreg.")?;
    let (more, rest) = match rest.strip_prefix("inc.") {
        Some(rest) => (true, rest),
        None => (false, rest.strip_prefix("dec.")?),
    };
    let rest = rest.strip_prefix("sync.aligned.u32")?;
    let rest = rest.strip_suffix(';').unwrap_or(rest).strip_suffix(')')?;
    let (operand, inputs) = rest.split_once(";\"").or(rest.split_once(";\\n\""))?;
    let number = match (operand, inputs) {
        (number, "" | "::") => number,
        ("%0", inputs) => inputs.strip_prefix("::\"n\"(")?.strip_suffix(')')?,
        _ => return None,
    };
    Some((more, number.parse().ok()))
}

pub(crate) fn set_registers(el: &mut Elab<'_>, call: &CallExpr, more: bool, span: Span) {
    let number = match call.args.as_slice() {
        [only] if call.targs.is_empty() => constants::constant(only),
        _ => None,
    };
    set_registers_of_each(el, &call.callee.text, number, more, span);
}

/// `name` is the call or text as written.
pub(crate) fn set_registers_of_each(
    el: &mut Elab<'_>,
    name: &str,
    number: Option<i64>,
    more: bool,
    span: Span,
) {
    let refuse = |el: &mut Elab<'_>, text: String, label: &str, help: &str| {
        let report = Diagnostic::new(codes::E0779, span, text).label(label);
        el.cx.report(report.help(help));
    };
    if el.kernel.is_none() {
        let text = format!("`{name}` is for threads of a kernel");
        return refuse(el, text, "no registers here", "move it into a `parallel`");
    }
    let number = number.filter(|n| (24..=256).contains(n) && n % 8 == 0);
    let Some(per_thread) = number.and_then(|n| u32::try_from(n).ok()) else {
        let text =
            format!("`{name}` takes one constant: how many registers each thread has from here on");
        let help = "write a multiple of 8 from 24 to 256";
        return refuse(el, text, "not such a number", help);
    };
    let whole = match el.path.in_region() {
        true => el
            .path
            .region_threads()
            .is_some_and(|set| set.is_whole(WARPGROUP)),
        false => {
            let threads = el.kernel.as_ref().and_then(|k| k.threads.count.clone());
            let rest = threads.map(|n| el.f.cx.rem(&n, &Sym::int(i64::from(WARPGROUP))));
            rest.is_some_and(|rest| rest.is_zero())
        }
    };
    if !whole {
        let text = format!("`{name}` must be executed by whole warpgroups");
        let label = "some threads of a warpgroup don't execute it, which PTX leaves undefined";
        let help = "write it in `inthreads.async (w == 0)` of a `parallel w … : group-4`, and inside select single threads, `inthreads (t == 0)`";
        return refuse(el, text, label, help);
    }
    instances::warn_if_some_have_left(el, span, "a change of registers");
    build::emit(
        el,
        StmtKind::Registers(Registers { per_thread, more }),
        span,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stmt, Visit, walk_block};
    use crate::sema::testing;

    #[test]
    fn the_instruction_in_its_usual_forms() {
        for text in [
            r#"asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");"#,
            r#"asm volatile ("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(240));"#,
            r#"asm volatile("setmaxnreg.inc.sync.aligned.u32 240;\n" ::);"#,
            r#"__asm__ __volatile__("setmaxnreg.inc.sync.aligned.u32 %0;\n" :: "n"(240))"#,
        ] {
            assert_eq!(in_assembly(text), Some((true, Some(240))), "{text}");
        }
        let fewer = r#"asm("setmaxnreg.dec.sync.aligned.u32 REGISTERS;");"#;
        assert_eq!(in_assembly(fewer), Some((false, None)));
        for text in [
            r#"asm volatile("setmaxnreg.inc.sync.aligned.u32 240;"); x += 1;"#,
            r#"asm volatile("nanosleep.u32 20;");"#,
            "setmaxnreg(240);",
            "",
        ] {
            assert_eq!(in_assembly(text), None, "{text}");
        }
    }

    #[test]
    fn it_becomes_what_the_call_is() {
        struct Find(Vec<(u32, bool)>);
        impl Visit for Find {
            fn stmt(&mut self, stmt: &Stmt) {
                if let StmtKind::Registers(r) = &stmt.kind {
                    self.0.push((r.per_thread, r.more));
                }
            }
        }
        let function = testing::function(
            r#"__co__ void f(f32 [256] & x) {
              parallel b by 1 : block {
                parallel w by 2 : group-4, t by 128 : thread {
                  inthreads.async (w == 0) {
                    __cpp__("asm volatile(\"setmaxnreg.dec.sync.aligned.u32 40;\");");
                  }
                  inthreads.async (w == 1) {
                    call croq::cuda::setreg_inc(232);
                    x.at(t) = 1.0f;
                  }
                }
              }
            }"#,
        );
        let mut found = Find(Vec::new());
        walk_block(&function.kernels[0].body, &mut found);
        assert_eq!(found.0, [(40, false), (232, true)]);
    }
}
