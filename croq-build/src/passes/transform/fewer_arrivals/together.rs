//! The triggers that all threads of a unit execute together, for the same slot.

use crate::ir::{
    BufferId, CppName, EventAt, Function, Kernel, KernelId, Level, Slot, Stmt, StmtKind, View,
    Visit, WARP_THREADS, WARPGROUP_THREADS, any_stmt, walk_block,
};
use crate::passes::analysis::uniformity::flow::{Around, FlowVisitor, walk};
use crate::passes::analysis::uniformity::scope::{Scope, Verdict};

/// Notes for each `trigger` the largest unit whose threads execute it together.
///
/// Conditions that are only known at run time, code that may end some threads, and C++ text, which
/// may do anything, leave an arrival to each thread.
pub fn find(function: &mut Function, id: KernelId) {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let triggers = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Trigger(_));
    let opaque = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Yield | StmtKind::Cpp { .. });
    if !any_stmt(&kernel.body, triggers) || any_stmt(&kernel.body, opaque) {
        return;
    }
    let mut found = Found {
        threads: kernel.threads.as_int(),
        passed: passed_to_calls(kernel),
        function,
        units: Vec::new(),
    };
    walk(function, kernel, &mut found);
    let mut units = found.units.into_iter();
    function.with_kernel_body(id, |_, body| note(body, &mut units));
}

/// In the order of the walk.
fn note(stmts: &mut [Stmt], units: &mut impl Iterator<Item = Option<Level>>) {
    for stmt in stmts {
        if let StmtKind::Trigger(at) = &mut stmt.kind {
            at.sharing.together = units.next().flatten();
        }
        stmt.kind.blocks_mut().for_each(|block| note(block, units));
    }
}

struct Found<'a> {
    function: &'a Function,
    threads: Option<i64>,
    /// Buffers whose address C++ functions get.
    passed: Vec<BufferId>,
    units: Vec<Option<Level>>,
}

impl FlowVisitor for Found<'_> {
    fn stmt(&mut self, stmt: &Stmt, around: &Around<'_>) {
        if let StmtKind::Trigger(at) = &stmt.kind {
            let units = [
                (Level::Warpgroup, Scope::Warpgroup, WARPGROUP_THREADS),
                (Level::Warp, Scope::Warp, WARP_THREADS),
            ];
            let found = units
                .into_iter()
                .find(|(_, scope, threads)| self.is_of(at, around, *scope, *threads));
            self.units.push(found.map(|(level, ..)| level));
        }
    }
}

impl Found<'_> {
    fn is_of(&self, at: &EventAt, around: &Around<'_>, scope: Scope, threads: u32) -> bool {
        let whole = match (around.in_region(), around.set()) {
            (false, _) => {
                let n = self.threads.unwrap_or(0);
                n > 0 && n % i64::from(threads) == 0
            }
            (true, Some(set)) => !set.is_empty() && set.is_whole(threads),
            (true, None) => false,
        };
        let slot = match &at.slot {
            Slot::At(slot) | Slot::Order(slot) => around.sym(slot).over(scope) == Verdict::Same,
            Slot::All => false,
        };
        let mut conditions = around.frames();
        let passed = self
            .passed
            .contains(&self.function.event(at.event).barriers);
        whole && slot && !passed && conditions.all(|f| f.value.over(scope) == Verdict::Same)
    }
}

fn passed_to_calls(kernel: &Kernel) -> Vec<BufferId> {
    struct Find(Vec<BufferId>);
    impl Visit for Find {
        fn view(&mut self, view: &View) {
            self.0.push(view.buffer);
        }
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Cpp { names, .. } = &stmt.kind {
                self.0.extend(names.iter().filter_map(|name| match name {
                    CppName::Buffer(id) => Some(*id),
                    CppName::Local(_) => None,
                }));
            }
        }
    }
    let mut find = Find(Vec::new());
    walk_block(&kernel.body, &mut find);
    find.0
}
