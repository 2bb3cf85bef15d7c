//! `call croq::cuda::setreg_inc(232)`: registers that go from some warpgroups of a block to others.

use super::Checker;
use crate::diagnostics::Diagnostic;
use crate::ir::{Registers, StmtKind};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::CallExpr;

const WARPGROUP: u32 = 128;

/// What a call of this name does: more registers, or fewer.
pub(super) fn direction(callee: &str) -> Option<bool> {
    match callee.rsplit("::").next()?.trim() {
        "setreg_inc" => Some(true),
        "setreg_dec" => Some(false),
        _ => None,
    }
}

impl Checker<'_> {
    pub(super) fn set_registers(&mut self, call: &CallExpr, more: bool, span: Span) {
        let name = call.callee.text.clone();
        let refuse = |s: &mut Self, text: String, label: &str, help: &str| {
            let report = Diagnostic::new("E0779", span, text).label(label);
            s.report(report.help(help));
        };
        if self.kernel.is_none() {
            let text = format!("`{name}` is for threads of a kernel");
            return refuse(self, text, "no registers here", "move it into a `parallel`");
        }
        let number = match call.args.as_slice() {
            [only] if call.targs.is_empty() => self.const_int(only),
            _ => None,
        };
        let number = number.filter(|n| (24..=256).contains(n) && n % 8 == 0);
        let Some(per_thread) = number.and_then(|n| u32::try_from(n).ok()) else {
            let text = format!(
                "`{name}` takes one constant: how many registers each thread has from here on"
            );
            let help = "write a multiple of 8 from 24 to 256";
            return refuse(self, text, "not such a number", help);
        };
        let around = self.kernel.as_ref().filter(|k| k.regions > 0);
        let whole = match around {
            Some(_) => self
                .region_threads()
                .is_some_and(|set| set.is_whole(WARPGROUP)),
            None => {
                let threads = self.kernel.as_ref().and_then(|k| k.threads.clone());
                let rest = threads.map(|n| self.f.cx.rem(&n, &Sym::int(i64::from(WARPGROUP))));
                rest.is_some_and(|rest| rest.is_zero())
            }
        };
        if !whole {
            let text = format!("`{name}` is for whole warpgroups, whose threads come together");
            let help = "let multiples of 128 threads come here: `inthreads.async (w == 0)` of a `parallel w … : group-4`";
            return refuse(self, text, "not by warpgroups", help);
        }
        self.cooperative(span, "a change of registers");
        self.emit(StmtKind::Registers(Registers { per_thread, more }), span);
    }
}
