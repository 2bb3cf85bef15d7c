//! Events of whose slots a thread waits for one only.
//!
//! The wait `wait turn[w - 1]` of warpgroup w is for the same slot each time. Then a thread has one phase
//! bit for the event, and needs no shifts to select it.

use crate::ir::{EventId, Function, LocalId, Slot, Stmt, StmtKind, VarHome};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// Whether all waits of the kernel for this event are for the same slot, whose number does not change
/// while a thread executes the kernel.
pub fn is_for_each_thread(function: &Function, body: &[Stmt], event: EventId) -> bool {
    let mut waits = Waits {
        event,
        constants: SortedSet::new(),
        slots: Some(Vec::new()),
    };
    waits.block(body, false);
    let Some((first, others)) = waits.slots.as_deref().and_then(<[Sym]>::split_first) else {
        return false;
    };
    let is_constant = |var| match function.var_home.get(&var) {
        Some(VarHome::Local(local)) => waits.constants.contains(local),
        Some(VarHome::Dim(_) | VarHome::Param(_)) => true,
        None => false,
    };
    others.iter().all(|slot| slot == first) && first.vars().into_iter().all(is_constant)
}

struct Waits {
    event: EventId,
    /// Immutable locals that are declared outside of loops.
    constants: SortedSet<LocalId>,
    /// `None` if a slot is not known.
    slots: Option<Vec<Sym>>,
}

impl Waits {
    fn block(&mut self, stmts: &[Stmt], repeated: bool) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Let { local, .. } if !repeated => {
                    self.constants.insert(*local);
                }
                StmtKind::WaitEvent(at) if at.event == self.event => match &at.slot {
                    Slot::At(slot) => self.slots.iter_mut().for_each(|all| all.push(slot.clone())),
                    Slot::All | Slot::Order(_) => self.slots = None,
                },
                _ => {}
            }
            let repeats = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
            for block in stmt.kind.blocks() {
                self.block(block, repeated || repeats);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::sema::testing;

    /// Whether threads keep one phase bit for the event `turn` of two slots.
    fn keeps_one_bit(waits: &str) -> bool {
        let text = format!(
            "__co__ void f(global s32 [N, 256] x) {{
               parallel b by 1 : block {{
                 shared event<128> turn[2] = ready;
                 parallel w by 2 : group-4, t by 128 : thread {{
                   first = w;
                   foreach k in N {{ {waits} x.at(k, 128 * w + t) = k; trigger turn[1 - w]; }}
                 }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "events");
        function.events[0].one_slot_each
    }

    #[test]
    fn a_slot_that_no_loop_changes_needs_one_bit() {
        assert!(keeps_one_bit("wait turn[w];"));
        assert!(keeps_one_bit("wait turn[first];"));
        assert!(keeps_one_bit("wait turn[0];"));
        assert!(keeps_one_bit("if (k % 2 == 1) { wait turn[w]; }"));
    }

    #[test]
    fn other_slots_need_all_bits() {
        assert!(!keeps_one_bit("wait turn[k % 2];"));
        assert!(!keeps_one_bit("slot = k % 2; wait turn[slot];"));
        assert!(!keeps_one_bit("wait turn[w]; wait turn[1 - w];"));
        assert!(!keeps_one_bit("wait turn;"));
        assert!(!keeps_one_bit(""));
    }
}
