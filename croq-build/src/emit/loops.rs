//! Loops as C++, and what is counted of them: on the simulated GPU no loop goes on for ever (`device/sim/loops.h`).

use super::scalar;
use super::stmt::Body;
use super::text::Binding;
use crate::ir::{Expr, LocalId, Stmt, StmtKind, Unroll};
use crate::passes::spins;
use crate::source::Span;
use crate::symbolic::Sym;

/// Loops of so many iterations in all are charged with the loop around them.
const SHORT: i64 = 4096;

/// The bounds of a `for`.
pub(super) struct Bounds<'s> {
    pub lo: &'s Sym,
    pub hi: &'s Sym,
    pub step: &'s Sym,
}

impl Bounds<'_> {
    /// How often it iterates, where that is known.
    fn trips(&self) -> Option<i64> {
        let (lo, hi, step) = (self.lo.as_int()?, self.hi.as_int()?, self.step.as_int()?);
        let step = step.max(1);
        Some(hi.saturating_sub(lo).max(0).saturating_add(step - 1) / step)
    }
}

/// Steps of one iteration: the loop's own, and those of short loops in it.
fn weight(body: &[Stmt]) -> i64 {
    1i64.saturating_add(short_loops(body))
}

fn short_loops(block: &[Stmt]) -> i64 {
    let cost = |stmt: &Stmt| match &stmt.kind {
        StmtKind::For {
            lo, hi, step, body, ..
        } => short(&Bounds { lo, hi, step }, body).unwrap_or(0),
        StmtKind::While { .. } => 0,
        kind => kind.blocks().map(|block| short_loops(block)).sum(),
    };
    block.iter().map(cost).fold(0, i64::saturating_add)
}

/// The steps of a loop that is charged with the one around it.
fn short(bounds: &Bounds<'_>, body: &[Stmt]) -> Option<i64> {
    let steps = bounds.trips()?.saturating_mul(weight(body));
    (steps <= SHORT).then_some(steps)
}

/// Whether something in the body may end the loop early.
fn may_leave(body: &[Stmt], nested: bool) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => !nested,
        StmtKind::Yield => true,
        StmtKind::For { body, .. } => may_leave(body, true),
        StmtKind::While { prelude, body, .. } => may_leave(prelude, true) || may_leave(body, true),
        kind => kind.blocks().any(|block| may_leave(block, nested)),
    })
}

impl Body<'_, '_> {
    pub(super) fn counted_for(
        &mut self,
        span: Span,
        local: LocalId,
        bounds: &Bounds<'_>,
        unroll: Option<Unroll>,
        body: &[Stmt],
    ) {
        let [lo, hi, step] = [bounds.lo, bounds.hi, bounds.step].map(|s| self.names.sym(s));
        let mut by_iteration = false;
        if short(bounds, body).is_none() {
            by_iteration = may_leave(body, false);
            let arguments = match (lo.text.as_str(), step.text.as_str(), weight(body)) {
                ("0", "1", 1) => hi.text.clone(),
                (lo, "1", 1) => format!("{lo}, {}", hi.text),
                (lo, step, 1) => format!("{lo}, {}, {step}", hi.text),
                (lo, step, weight) => format!("{lo}, {}, {step}, {weight}", hi.text),
            };
            self.writer.statement(span);
            if self.on_host && !by_iteration {
                // `hi - lo` may not fit.
                let range = match lo.text.as_str() {
                    "0" => hi.text.clone(),
                    lo => format!("{lo}, {}", hi.text),
                };
                self.writer.line(&format!(
                    "if (!host.steps(__LINE__, {range})) return host.status();"
                ));
            } else if !by_iteration {
                self.writer.line(&format!("CROQ_STEPS({arguments});"));
            }
        }
        let hi = hi.at_least(Binding::Shift);
        self.names.enter();
        let name = self.names.declare_local(local);
        let ty = (self.names.function.locals.get(local.index()))
            .map_or("croq::idx", |l| scalar::cpp(l.ty));
        let next = if step.text == "1" {
            format!("++{name}")
        } else {
            format!("{name} += {}", step.text)
        };
        let pragma = match unroll {
            Some(Unroll::Full) => {
                self.names.unroll(local);
                "CROQ_UNROLL ".to_owned()
            }
            Some(Unroll::By(by)) => format!("CROQ_UNROLL_BY({by}) "),
            None => String::new(),
        };
        let header = format!(
            "{pragma}for ({ty} {name} = {}; {name} < {hi}; {next}) {{",
            lo.text
        );
        self.writer.statement(span);
        self.writer.open(&header);
        if by_iteration {
            self.iteration(span, body);
        }
        self.nested(body);
        self.writer.close("}");
        self.names.leave();
    }

    pub(super) fn counted_while(
        &mut self,
        span: Span,
        prelude: &[Stmt],
        cond: &Expr,
        body: &[Stmt],
    ) {
        let function = self.names.function;
        let waits = !self.on_host && self.spins.waits(function, prelude, cond, body);
        let carried = (waits.then(|| spins::carried(prelude, body))).flatten();
        self.writer.statement(span);
        self.names.enter();
        let spin = carried.map(|carried| {
            let carried: Vec<&str> = carried.iter().map(|id| self.names.local(*id)).collect();
            let carried = carried.join(", ");
            let name = self.names.fresh("spin");
            (name, carried)
        });
        let text = self.names.used(cond, "condition");
        let whole = prelude.is_empty();
        let condition = if whole { text.text.as_str() } else { "" };
        self.writer.open(&match &spin {
            Some((name, carried)) => {
                format!("for (croq::spin {name}; {condition}; {name}.again({carried})) {{")
            }
            None if whole => format!("while ({condition}) {{"),
            None => "for (;;) {".to_owned(),
        });
        if spin.is_none() {
            self.iteration(span, body);
        }
        self.names.enter();
        self.block(prelude);
        if !whole {
            let stop = self.names.used(cond, "condition").at_least(Binding::Unary);
            self.line(span, &format!("if (!{stop}) break;"));
        }
        self.block(body);
        self.names.leave();
        self.names.leave();
        self.writer.close("}");
    }

    /// One iteration of a loop that nothing says the end of beforehand.
    fn iteration(&mut self, span: Span, body: &[Stmt]) {
        let line = match self.on_host {
            true => "if (!host.steps(__LINE__, 8)) return host.status();",
            false => "croq::turn();",
        };
        self.line(span, line);
        let weight = weight(body);
        if !self.on_host && weight > 8 {
            self.line(span, &format!("CROQ_STEPS({weight});"));
        }
    }
}

/// What is to be known of the user's own C++ of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UserText {
    /// Functions or macros have loops.
    loops: bool,
    /// Macros have.
    macros: bool,
    /// It reads memory that may change meanwhile.
    asks: bool,
    /// It declares `__shared__` memory, of which an OS thread has one: it can have only one block at a time.
    shared: bool,
}

impl UserText {
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut found = Self::default();
        for text in texts {
            let loops = has_loop(text);
            found.loops |= loops;
            found.macros |= loops && directive(text).is_some_and(|d| d.starts_with("define"));
            found.asks |= asks_memory(text);
            found.shared |= text.contains("__shared__");
        }
        found
    }

    /// Whether a kernel with these pieces of C++ may wait in them for what other blocks write.
    pub fn may_spin(self, calls: bool, pieces: &[&str]) -> bool {
        let with = |own: bool, of: fn(&str) -> bool| own || pieces.iter().any(|text| of(text));
        (calls || !pieces.is_empty()) && with(self.loops, has_loop) && with(self.asks, asks_memory)
    }

    /// Whether loops in this piece are to be counted.
    pub fn counts(self, text: &str) -> bool {
        directive(text).is_none() && (self.macros || has_loop(text))
    }
}

fn directive(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix('#').map(str::trim_start)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

fn has_loop(text: &str) -> bool {
    words(text).any(|word| matches!(word, "while" | "for" | "do" | "goto"))
}

fn asks_memory(text: &str) -> bool {
    let asks = |word: &str| {
        let known = ["volatile", "asm", "__asm__", "__nanosleep"].contains(&word);
        known || word.starts_with("atomic") || word.starts_with("__ld")
    };
    words(text).any(asks)
}

/// The text with `while` spelt `CROQ_WHILE_DECLARES` where its condition declares a variable: what counts the others
/// would make an expression of it.
pub(super) fn conditions_that_declare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("while") {
        let (before, from) = rest.split_at(at);
        let after = from.strip_prefix("while").unwrap_or_default();
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let whole = !before.ends_with(word) && !after.starts_with(word);
        out.push_str(before);
        let open = after.trim_start().strip_prefix('(');
        let declares = whole && open.is_some_and(declares);
        out.push_str(if declares {
            "CROQ_WHILE_DECLARES"
        } else {
            "while"
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Whether a condition, given from behind its parenthesis on, is `type name = …` or `type name{…}`.
fn declares(text: &str) -> bool {
    let mut depth = 0i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | ')' | ']' | ';' | '"' | '?' | '|' | '!' if depth == 0 => return false,
            '<' => depth += 1,
            '>' => depth -= 1,
            '=' | '{' if depth <= 0 => {
                let next = text.get(at + 1..).unwrap_or_default();
                if c == '=' && next.starts_with('=') {
                    return false;
                }
                let name = text.get(..at).unwrap_or_default().trim_end();
                let kind = name.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
                let before = kind.trim_end_matches(['*', '&', ' ', '\t', '\n']);
                return kind.len() < name.len()
                    && kind.len() > before.len()
                    && before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '>');
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_declare_are_found() {
        let same = |text: &str| assert_eq!(conditions_that_declare(text), text);
        same("while (x == 3) {}");
        same("while (x = next()) {}");
        same("while (*p = 3) {}");
        same("while (a[i] = 3) {}");
        same("while (a < b) {}");
        same("do {} while (f(x = 3));");
        same("whiles (int x = 3)");
        let declared = |text: &str| {
            let expected = text.replace("while", "CROQ_WHILE_DECLARES");
            assert_eq!(conditions_that_declare(text), expected);
        };
        declared("while (int x = next()) {}");
        declared("while (const node *n = next()) {}");
        declared("while (auto &x = next()) {}");
        declared("while (vec<int, 3> v = next()) {}");
        declared("while(unsigned x{next()}) {}");
    }

    #[test]
    fn loops_of_macros_reach_everything() {
        let user =
            UserText::of(["#define SPIN(x) while (!(x))", "__device__ void f();"].into_iter());
        assert!(user.counts("SPIN(y);") && !user.counts("#define A"));
        assert!(!UserText::of(["int formula;"].into_iter()).counts("int format;"));
        assert!(user.may_spin(true, &["*(volatile int *)p"]));
        assert!(!user.may_spin(true, &["x = 3;"]));
    }
}
