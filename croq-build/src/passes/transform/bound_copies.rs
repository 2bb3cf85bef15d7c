//! Copies that complete events: those bound by `trigger … after` get the trigger's event, and threads
//! wait for their own copies before they trigger the event that these name.

use std::ops::ControlFlow;

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BufferId, CppName, Engine, EventAt, EventId, Flow, Function, FutureId, Stmt, StmtKind,
    View, Visitor, Waited, any_stmt, walk,
};
use crate::sorted::SortedMap;
use crate::source::Span;

/// Sets the event of each bound copy, and moves the copy to its `trigger`.
pub fn bind(func: &mut Function, diags: &mut Diagnostics) {
    if !func.facts.completing.is_empty() {
        for kernel in &mut func.kernels {
            wait_in(&mut kernel.body, &func.facts.completing);
        }
    }
    if func.facts.bound.is_empty() {
        return;
    }
    let mut misplaced = Vec::new();
    for kernel in &mut func.kernels {
        bind_in(&mut kernel.body, &func.facts.bound, &mut misplaced);
    }
    for (copy, trigger) in misplaced {
        diags.push(
                Diagnostic::new(codes::E1037, trigger, "a copy that completes an event must be in the same block as the `trigger`")
                    .label("in another block than the copy")
                    .also(copy, "begun here")
                    .help("put both into the same block, or name the event at the copy: `tma.copy.async<e> …`"),
            );
    }
}

/// A copy is issued immediately before its `trigger`, because the slot of the event is only known
/// there.
fn bind_in(
    stmts: &mut Vec<Stmt>,
    bound: &SortedMap<FutureId, (EventAt, Span)>,
    misplaced: &mut Vec<(Span, Span)>,
) {
    let (rest, mut begun) = (std::mem::take(stmts), Vec::new());
    for mut stmt in rest {
        if let StmtKind::Copy(copy) = &mut stmt.kind
            && let Some((at, trigger)) = copy.future.and_then(|id| bound.get(&id))
            && let Engine::Tma(tma) = &mut copy.engine
        {
            tma.event = Some(at.clone());
            copy.future = None;
            begun.push((at.clone(), *trigger, stmt));
            continue;
        }
        if let StmtKind::Trigger(of) = &stmt.kind {
            // Triggers that one macro makes have the same span.
            let now = |(at, trigger, _): &mut (EventAt, Span, Stmt)| {
                *trigger == stmt.span && at.event == of.event && at.slot == of.slot
            };
            stmts.extend(begun.extract_if(.., now).map(|copy| copy.2));
        }
        for block in stmt.kind.blocks_mut() {
            bind_in(block, bound, misplaced);
        }
        stmts.push(stmt);
    }
    misplaced.extend(
        begun
            .into_iter()
            .map(|(_, trigger, copy)| (copy.span, trigger)),
    );
}

/// A copy by threads that has begun in a block.
struct Begun {
    copy: Waited,
    source: BufferId,
    span: Span,
}

/// Waits for copies before any event can be triggered, before anything that uses their destination or may
/// change their source, and before the block ends.
fn wait_in(stmts: &mut Vec<Stmt>, completing: &SortedMap<FutureId, EventId>) {
    let mut begun: Vec<Begun> = Vec::new();
    for mut stmt in std::mem::take(stmts) {
        for block in stmt.kind.blocks_mut() {
            wait_in(block, completing);
        }
        let now = |copy: &mut Begun| copy.must_precede(&stmt);
        stmts.extend(wait_for(begun.extract_if(.., now).collect()));
        if let StmtKind::Copy(copy) = &stmt.kind
            && let Some(future) = copy.future
            && completing.contains_key(&future)
        {
            begun.push(Begun {
                copy: Waited {
                    future,
                    view: copy.dest.clone(),
                    level: copy.level,
                    arrival: None,
                },
                source: copy.source.buffer,
                span: stmt.span,
            });
        }
        stmts.push(stmt);
    }
    stmts.extend(wait_for(begun));
}

fn wait_for(copies: Vec<Begun>) -> Option<Stmt> {
    let span = copies.last()?.span;
    let futures = copies.into_iter().map(|begun| begun.copy).collect();
    let pending = None;
    Some(Stmt::new(StmtKind::Wait { futures, pending }, span))
}

impl Begun {
    fn must_precede(&self, stmt: &Stmt) -> bool {
        let ends = |stmt: &Stmt| match &stmt.kind {
            // Of another event: threads that wait for it may overwrite the source.
            StmtKind::Trigger(_) | StmtKind::Barrier { .. } => true,
            StmtKind::Break | StmtKind::Continue | StmtKind::Yield => true,
            _ => false,
        };
        let reads_only = match &stmt.kind {
            StmtKind::Copy(copy) => copy.dest.buffer != self.source,
            _ => false,
        };
        any_stmt(std::slice::from_ref(stmt), ends)
            || mentions(stmt, self.copy.view.buffer)
            || !reads_only && mentions(stmt, self.source)
    }
}

fn mentions(stmt: &Stmt, buffer: BufferId) -> bool {
    struct Find(BufferId);
    impl Find {
        fn is(&self, buffer: BufferId) -> Flow {
            match buffer == self.0 {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }
    }
    impl Visitor for Find {
        fn stmt(&mut self, stmt: &Stmt) -> Flow {
            if let StmtKind::Cpp { names, .. } = &stmt.kind {
                for name in names {
                    if let CppName::Buffer(buffer) = name {
                        self.is(*buffer)?;
                    }
                }
            }
            walk::stmt(self, stmt)
        }
        fn view(&mut self, view: &View) -> Flow {
            self.is(view.buffer)?;
            walk::view(self, view)
        }
        fn access(&mut self, access: &Access, _written: bool) -> Flow {
            self.is(access.view.buffer)?;
            walk::access(self, access)
        }
    }
    Find(buffer).stmt(stmt).is_break()
}

#[cfg(test)]
mod tests {
    use crate::ir::{Stmt, StmtKind};
    use crate::sema::testing;

    /// The copies, waits for them, triggers and conditions of the producer, in order.
    fn order(producer: &str) -> String {
        let text = format!(
            "__co__ void f(global f32 [N, 64] x, global f32 [64] y, int n) {{
               parallel i by 1 : block {{
                 shared event full[2], empty[2] = ready, taken;
                 shared f32 [1, 64] s, t;
                 parallel p by 2 : group-4, l by 128 : thread {{
                   inthreads.async (p == 0) {{ foreach k in [N] {{ wait empty[k % 2]; {producer} }} }}
                   inthreads.async (p == 1) {{
                     foreach k in [N] {{
                       wait full[k % 2];
                       if (l < 64) y.at(l) = s.at(0, l) + t.at(0, l);
                       trigger empty[k % 2];
                     }}
                   }}
                 }}
               }}
             }}"
        );
        let function = testing::function(&text);
        let mut found = Vec::new();
        crate::ir::any_stmt(&function.kernels[0].body, |stmt: &Stmt| {
            found.extend(match &stmt.kind {
                StmtKind::Copy(_) => Some("copy"),
                StmtKind::Wait { .. } => Some("wait"),
                StmtKind::Trigger(_) => Some("trigger"),
                StmtKind::If { .. } => Some("if"),
                StmtKind::Continue => Some("continue"),
                _ => None,
            });
            false
        });
        // The last ones are the consumer's.
        let consumer = ["if", "trigger"];
        assert_eq!(found.split_off(found.len() - 2), consumer);
        found.join(" ")
    }

    #[test]
    fn threads_wait_for_their_copies_before_the_trigger() {
        let copy = |to: &str| format!("dma.copy.async<full[k % 2]> x.chunkat(k, _) => {to};");
        let (trigger, both) = ("trigger full[k % 2];", copy("s") + &copy("t"));
        assert_eq!(
            order(&format!("{both} {trigger}")),
            "copy copy wait trigger"
        );
        let other = "if (l == 0) y.at(0) = 1.0f;";
        let found = order(&format!("{both} {other} {trigger}"));
        assert_eq!(found, "copy copy if wait trigger");
        // What others may learn of, or what needs the data, or ends the block.
        let leave = "if (n == k) { trigger full[k % 2]; continue; }";
        let found = order(&format!("{both} {leave} {trigger}"));
        assert_eq!(found, "copy copy wait if trigger continue trigger");
        let inner = format!("if (n == k) {{ {} }} {trigger}", copy("s"));
        assert_eq!(order(&inner), "if copy wait trigger");
        let used = "if (l == 0) y.at(0) = s.at(0, 0);";
        let found = order(&format!("{} {used} {} {trigger}", copy("s"), copy("t")));
        assert_eq!(found, "copy wait if copy wait trigger");
        let changed = "if (l == 0) x.at(k, 0) = 1.0f;";
        let found = order(&format!("{both} {changed} {trigger}"));
        assert_eq!(found, "copy copy wait if trigger");
        // Those that wait for another event may overwrite the source.
        let found = order(&format!("{both} trigger taken; {trigger}"));
        assert_eq!(found, "copy copy wait trigger trigger");
        let found = order(&format!("{0} {0} {trigger}", copy("s")));
        assert_eq!(found, "copy wait copy wait trigger");
    }
}
