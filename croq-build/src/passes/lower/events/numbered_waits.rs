//! Waits whose generation is the number of an iteration.
//!
//! A thread keeps the phases of an event's slots as bits of a register, of which a wait takes one and
//! flips it: six instructions between those of the tensor cores. Where a thread waits for slot `k % N`
//! in each iteration `k` of one loop, and nowhere else, iteration `k` is for generation `k / N`, which
//! is a shift for a power of two.

use crate::ir::{EventAt, EventId, Function, LocalId, Slot, Stmt, StmtKind, any_stmt};
use crate::sorted::SortedMap;
use crate::symbolic::Sym;

/// Gives such waits the numbers of their iterations.
pub fn number(function: &Function, body: &mut [Stmt]) {
    let mut sites = SortedMap::new();
    find(function, body, &Around::default(), &mut sites);
    let numbered = |event: EventId| sites.get(&event).cloned().flatten();
    replace(body, &numbered);
}

/// The loop around a statement.
#[derive(Clone, Default)]
struct Around {
    loops: usize,
    /// The variable of a loop that counts from zero, in which each iteration executes the statement.
    number: Option<LocalId>,
}

impl Around {
    fn enter(&self, stmt: &Stmt) -> Self {
        match &stmt.kind {
            StmtKind::For {
                local,
                lo,
                step,
                unroll: None,
                body,
                ..
            } => {
                let skips = any_stmt(body, |s| matches!(s.kind, StmtKind::Continue));
                let counts = lo.is_zero() && step.is_one() && !skips;
                Self {
                    loops: self.loops + 1,
                    number: Some(*local).filter(|_| counts),
                }
            }
            StmtKind::For { .. } | StmtKind::While { .. } => Self {
                loops: self.loops + 1,
                number: None,
            },
            // Outside of the loop a condition decides whether it is executed at all.
            StmtKind::If { .. } => Self {
                number: None,
                ..self.clone()
            },
            _ => self.clone(),
        }
    }
}

/// The number of the iteration for each event with one such wait; `None` for other events.
fn find(
    function: &Function,
    stmts: &[Stmt],
    around: &Around,
    sites: &mut SortedMap<EventId, Option<Sym>>,
) {
    for stmt in stmts {
        if let StmtKind::WaitEvent(at) = &stmt.kind {
            let number = number_of(function, at, around).filter(|_| !sites.contains_key(&at.event));
            sites.insert(at.event, number);
        }
        let inside = around.enter(stmt);
        for block in stmt.kind.blocks() {
            find(function, block, &inside, sites);
        }
    }
}

fn number_of(function: &Function, at: &EventAt, around: &Around) -> Option<Sym> {
    let slots = i64::from(function.event(at.event).slots);
    let number = around.number.filter(|_| around.loops == 1)?;
    let number = Sym::var(function.local(number).var?);
    let is_shift = slots > 1 && slots.unsigned_abs().is_power_of_two();
    let slot = function.cx.rem(&number, &Sym::int(slots));
    let is_in_turn = matches!(&at.slot, Slot::At(of) if *of == slot);
    (is_shift && is_in_turn).then_some(number)
}

fn replace(stmts: &mut [Stmt], numbered: &dyn Fn(EventId) -> Option<Sym>) {
    for stmt in stmts {
        if let StmtKind::WaitEvent(at) = &mut stmt.kind
            && let Some(number) = numbered(at.event)
        {
            at.slot = Slot::Order(number);
        }
        for block in stmt.kind.blocks_mut() {
            replace(block, numbered);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{PhaseBy, StmtKind, TmaOp, any_stmt};
    use crate::sema::testing;

    /// How many waits in the kernel name a phase by its number; there are two, of two regions.
    fn numbered(slots: usize, fills: &str, uses: &str) -> usize {
        let text = format!(
            "__co__ void f(global f32 [M, 64] x, global f32 [128] y, int n) {{
               parallel b by 1 : block {{
                 shared event full[{slots}], empty[{slots}] = ready;
                 shared f32 [64, 64] tiles[{slots}];
                 parallel w by 2 : group-4, t by 128 : thread {{
                   inthreads.async (w == 0) {{
                     {fills}
                   }}
                   inthreads.async (w == 1) {{
                     f32 sum = 0.0f;
                     {uses}
                     y.at(t) = sum;
                   }}
                 }}
               }}
             }}"
        );
        let text = text
            .replace(
                "FILL",
                "tma.copy.async<full[s]> x.subspan(64, 64).at(k, 0) => tiles[s]; trigger full[s];",
            )
            .replace(
                "USE",
                "sum += tiles[s].at(t / 2, t % 64); trigger empty[s];",
            );
        let function = testing::function_after(&text, "tma");
        let mut found = 0;
        any_stmt(&function.kernels[0].body, |stmt| {
            if let StmtKind::Tma(TmaOp::Wait { by, .. }) = &stmt.kind {
                found += usize::from(*by == PhaseBy::Number);
            }
            false
        });
        found
    }

    const FILLS: &str = "foreach {k} in [cdiv(M, 64)] { s = k % 4; wait empty[s]; FILL }";
    const USES: &str = "foreach {k} in [cdiv(M, 64)] { s = k % 4; wait full[s]; USE }";

    #[test]
    fn a_wait_in_each_iteration_has_its_number() {
        assert_eq!(numbered(4, FILLS, USES), 2);
        let two = |text: &str| text.replace("% 4", "% 2");
        assert_eq!(numbered(2, &two(FILLS), &two(USES)), 2);
    }

    #[test]
    fn other_waits_keep_phase_bits() {
        // Not a shift.
        let three = |text: &str| text.replace("% 4", "% 3");
        assert_eq!(numbered(3, &three(FILLS), &three(USES)), 0);
        // Another wait for the same event: iteration k of the second loop is for a later generation.
        let twice = format!("{FILLS} {FILLS}");
        let used = format!("{USES} {USES}");
        assert_eq!(numbered(4, &twice, &used), 0);
        // A loop that is repeated.
        let again = |text: &str| format!("foreach {{r}} in [n] {{ {text} }}");
        assert_eq!(numbered(4, &again(FILLS), &again(USES)), 0);
        // An iteration that does not wait.
        let some = |text: &str| {
            text.replace("s = k % 4;", "s = k % 4; if (k < n) {")
                .replace(" }", " } }")
        };
        assert_eq!(numbered(4, &some(FILLS), &some(USES)), 0);
        // A loop that begins elsewhere, or goes by other steps.
        let later = |text: &str| text.replace("[cdiv(M, 64)]", "[cdiv(M, 64)](1:)");
        assert_eq!(numbered(4, &later(FILLS), &later(USES)), 0);
    }
}
