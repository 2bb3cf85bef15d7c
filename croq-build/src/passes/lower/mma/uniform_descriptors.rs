//! Descriptors that a loop uses are computed once, in front of it.
//!
//! ptxas takes the address of shared memory for cheap, and computes it and the descriptors that depend
//! on it again in each iteration, a dozen instructions in front of the first MMA. The result of a
//! reduction over a warp is in a uniform register, and is not computed again.

use crate::ir::{
    Flow, Function, KernelId, LocalId, MmaOp, Source, Step, Stmt, StmtKind, Visitor, WARP_THREADS,
    walk,
};
use crate::sorted::SortedSet;

pub fn mark(function: &mut Function, id: KernelId) {
    let threads = (function.kernels.get(id.index())).and_then(|kernel| kernel.threads.as_int());
    let whole_warps = threads.is_some_and(|count| count % i64::from(WARP_THREADS) == 0);
    function.with_kernel_body(id, |_, body| {
        let mut uses = UsesInLoops::default();
        let _ = uses.block(body);
        in_block(body, whole_warps, &uses.used);
    });
}

/// `whole_warps`: all lanes of each warp that executes the statements do so together.
fn in_block(stmts: &mut [Stmt], whole_warps: bool, used: &SortedSet<LocalId>) {
    for stmt in stmts {
        if let StmtKind::Mma(op) = &mut stmt.kind
            && let MmaOp::Step(
                Step::Describe {
                    local,
                    computed_once,
                    ..
                }
                | Step::Advance {
                    local,
                    computed_once,
                    ..
                },
            ) = &mut **op
        {
            *computed_once = whole_warps && used.contains(local);
        }
        let inside = match &stmt.kind {
            StmtKind::Parallel { .. } => true,
            StmtKind::Region { set, .. } => {
                set.as_ref().is_some_and(|set| set.is_whole(WARP_THREADS))
            }
            // The lanes of a warp may leave a loop or take a branch one by one.
            _ => false,
        };
        for inner in stmt.kind.blocks_mut() {
            in_block(inner, whole_warps && inside, used);
        }
    }
}

/// The descriptors that loops use.
#[derive(Default)]
struct UsesInLoops {
    loops: u32,
    used: SortedSet<LocalId>,
}

impl Visitor for UsesInLoops {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        let is_loop = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
        self.loops += u32::from(is_loop);
        if self.loops > 0
            && let StmtKind::Mma(op) = &stmt.kind
            && let MmaOp::Step(step) = &**op
        {
            match step {
                Step::Advance { by, .. } => {
                    self.used.insert(*by);
                }
                Step::Instruction(i) => {
                    self.used.insert(i.b.by);
                    if let Source::Memory(a) = &i.a {
                        self.used.insert(a.by);
                    }
                }
                _ => {}
            }
        }
        let flow = walk::stmt(self, stmt);
        self.loops -= u32::from(is_loop);
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::any_stmt;
    use crate::sema::testing;

    /// The names of the descriptors that are computed once, and of all, of a warpgroup that multiplies.
    fn descriptors(consumer: &str) -> (Vec<String>, Vec<String>) {
        let function = testing::function_after(
            &format!(
                "__co__ void f(global f16 [128, K] a, global f16 [64, K] b, global f32 [64, 64] c, int n) {{
                   parallel by 1 : block {{
                     shared event full[4];
                     shared f16 [128, 64] as[4];
                     shared f16 [64, 64] bs[4];
                     parallel w by 2 : group-4 {{
                       inthreads.async (w == 0) {{
                         foreach {{k}} in [4] {{
                           tma.copy.async<full[k]>.swiz<128> a.subspan(128, 64).at(0, k) => as[k];
                           tma.copy.async<full[k]>.swiz<128> b.subspan(64, 64).at(0, k) => bs[k];
                           trigger full[k];
                         }}
                       }}
                       inthreads.async (w == 1) {{
                         acc = mma.fill.f32 0.0f;
                         {consumer}
                         mma.store acc, c;
                       }}
                     }}
                   }}
                 }}"
            ),
            "mma",
        );
        let (mut once, mut all) = (Vec::new(), Vec::new());
        any_stmt(&function.kernels[0].body, |stmt| {
            if let StmtKind::Mma(op) = &stmt.kind
                && let MmaOp::Step(
                    Step::Describe {
                        local,
                        computed_once,
                        ..
                    }
                    | Step::Advance {
                        local,
                        computed_once,
                        ..
                    },
                ) = &**op
            {
                let name = function.local(*local).name.clone();
                if *computed_once {
                    once.push(name.clone());
                }
                all.push(name);
            }
            false
        });
        (once, all)
    }

    const STEP: &str = "wait full[k];
        mma.row.row acc, as[k].subspan(64, 64).at(w, 0), bs[k];";

    #[test]
    fn of_a_loop() {
        let (once, all) = descriptors(&format!("foreach {{k}} in [4] {{ {STEP} }}"));
        assert_eq!(once, ["bs_tiles", "as_base"]);
        assert_eq!(all.len(), 5, "{all:?}");
    }

    #[test]
    fn without_a_loop() {
        let (once, all) = descriptors(&STEP.replace('k', "0"));
        assert!(once.is_empty() && all.len() >= 2, "{once:?} {all:?}");
    }

    /// Whether whole warps take a branch is not known here.
    #[test]
    fn in_a_branch() {
        let (once, _) = descriptors(&format!("if (n > 3) foreach {{k}} in [4] {{ {STEP} }}"));
        assert_eq!(once, ["bs_tiles"]);
    }
}
