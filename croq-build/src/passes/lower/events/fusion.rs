//! Copy/trigger fusion: copies that a single thread issues directly before it triggers an event
//! complete that event.
//!
//! Only threads that wait for the event may use the tile then, so no wait is necessary before the
//! event; and the thread can continue with the next tile while the copy is in flight. But some thread
//! must wait for each of the event's generations: otherwise a copy could still be in flight when the
//! block ends, and write into the memory of the next one. The numbers of waits and triggers follow
//! from those of the iterations of loops around them; where they are not known, the copy is waited
//! for before the `trigger`.

use crate::ir::{
    BufferId, Engine, EventAt, EventId, Function, Level, Role, Slot, Stmt, StmtKind, Storage,
    ThreadSet, VarHome, any_stmt,
};
use crate::sorted::SortedSet;
use crate::symbolic::{Sym, Var};

pub fn fuse(function: &Function, body: &mut [Stmt]) {
    let mut numbers = Numbers {
        function,
        leaves: any_stmt(body, |stmt| matches!(stmt.kind, StmtKind::Yield)),
        waits: Vec::new(),
        triggers: Vec::new(),
    };
    let once = Some(Sym::one());
    numbers.block(body, None, [&once, &once]);
    in_block(function, &numbers, body);
}

/// How often the threads of a region wait for an event, or trigger it, at one place.
struct Number {
    event: EventId,
    /// `None`: outside of regions.
    by: Option<ThreadSet>,
    /// At least so often for a wait, at most for a trigger; `None` if that is not known.
    times: Option<Sym>,
}

struct Numbers<'a> {
    function: &'a Function,
    /// Some threads may leave the kernel early.
    leaves: bool,
    waits: Vec<Number>,
    triggers: Vec<Number>,
}

impl Numbers<'_> {
    /// `times`: at least and at most so often are the statements executed.
    fn block(&mut self, stmts: &[Stmt], by: Option<&ThreadSet>, times: [&Option<Sym>; 2]) {
        let [least, most] = times;
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::WaitEvent(at) => {
                    // A wait for a generation by its order may be one for the same as another wait.
                    let next = least
                        .as_ref()
                        .filter(|_| !matches!(at.slot, Slot::Order(_)));
                    let number = self.number(at, by, next);
                    self.waits.push(number);
                }
                StmtKind::Trigger(at) => {
                    let number = self.number(at, by, most.as_ref());
                    self.triggers.push(number);
                }
                StmtKind::For {
                    lo, hi, step, body, ..
                } => {
                    let cx = &self.function.cx;
                    let counts = cx.lt(&Sym::zero(), step).is_yes();
                    let iterations = cx.max(&cx.cdiv(&(hi - lo), step), &Sym::zero());
                    let each = |times: &Option<Sym>| {
                        let times = times.as_ref().filter(|_| counts)?;
                        let all = times * &iterations;
                        (!all.is_poison()).then_some(all)
                    };
                    let leaves = body.iter().any(Stmt::leaves_iteration);
                    let least = each(least).filter(|_| !leaves);
                    self.block(body, by, [&least, &each(most)]);
                }
                StmtKind::If { .. } => {
                    for block in stmt.kind.blocks() {
                        self.block(block, by, [&None, most]);
                    }
                }
                StmtKind::Parallel { body, .. } | StmtKind::SingleThread { body, .. } => {
                    self.block(body, by, times);
                }
                StmtKind::Region {
                    set: Some(set),
                    body,
                    ..
                } if !set.is_empty() => self.block(body, Some(set), times),
                kind => {
                    for block in kind.blocks() {
                        self.block(block, by, [&None, &None]);
                    }
                }
            }
        }
    }

    fn number(&self, at: &EventAt, by: Option<&ThreadSet>, times: Option<&Sym>) -> Number {
        let slots = match at.slot {
            Slot::All => i64::from(self.function.event(at.event).slots),
            _ => 1,
        };
        let is_common = |times: &&Sym| times.sorted_vars().iter().all(|var| self.is_common(*var));
        Number {
            event: at.event,
            by: by.cloned(),
            times: times.filter(is_common).map(|times| times * slots),
        }
    }

    /// Whether the variable has one value in all threads of a block.
    fn is_common(&self, var: Var) -> bool {
        match self.function.var_home.get(&var) {
            Some(VarHome::Dim(_) | VarHome::Param(_)) => true,
            Some(VarHome::Local(id)) => matches!(
                self.function.local(*id).role,
                Role::Parallel(Level::Block | Level::Cluster)
            ),
            None => false,
        }
    }

    /// Whether some threads wait for all generations that the threads of `set` trigger.
    fn all_waited_for(&self, event: EventId, set: &ThreadSet) -> bool {
        let cx = &self.function.cx;
        let own = |n: &&Number| n.event == event && n.by.as_ref() == Some(set);
        let triggers = self.triggers.iter().filter(own).map(|n| n.times.clone());
        let Some(mut published) = triggers.sum::<Option<Sym>>() else {
            return false;
        };
        let info = self.function.event(event);
        if info.ready {
            published = &published + i64::from(info.slots);
        }
        let waits = || self.waits.iter().filter(|n| n.event == event);
        let enough = |by: &Option<ThreadSet>| {
            let known = waits()
                .filter(|n| n.by == *by)
                .filter_map(|n| n.times.as_ref());
            let waited: Sym = known.sum();
            cx.le(&published, &waited).is_yes()
        };
        !self.leaves && waits().any(|n| enough(&n.by))
    }
}

fn in_block(function: &Function, numbers: &Numbers<'_>, stmts: &mut [Stmt]) {
    for stmt in stmts {
        if let StmtKind::Region {
            set: Some(set),
            body,
            ..
        } = &mut stmt.kind
            && set.len() == 1
        {
            let region = Region {
                function,
                numbers,
                set,
                read: read_in(body),
            };
            region.block(body);
            continue;
        }
        for block in stmt.kind.blocks_mut() {
            in_block(function, numbers, block);
        }
    }
}

/// A region of a single thread.
struct Region<'a> {
    function: &'a Function,
    numbers: &'a Numbers<'a>,
    set: &'a ThreadSet,
    /// The sources of its copies.
    read: SortedSet<BufferId>,
}

impl Region<'_> {
    fn block(&self, stmts: &mut [Stmt]) {
        for at in 0..stmts.len() {
            if let Some(event) = triggered(stmts, at)
                && self.numbers.all_waited_for(event.event, self.set)
            {
                let (before, _) = stmts.split_at_mut(at);
                for stmt in before.iter_mut().rev() {
                    let StmtKind::Copy(copy) = &mut stmt.kind else {
                        break;
                    };
                    let dest = copy.dest.buffer;
                    let shared = self.function.buffer(dest).storage == Storage::Shared;
                    let used = self.read.contains(&dest);
                    match &mut copy.engine {
                        Engine::Tma(tma) if shared && copy.future.is_none() && !used => {
                            tma.event.get_or_insert_with(|| event.clone());
                        }
                        _ => break,
                    }
                }
            }
            if let Some(stmt) = stmts.get_mut(at) {
                for block in stmt.kind.blocks_mut() {
                    self.block(block);
                }
            }
        }
    }
}

/// The event that is triggered at `at`, if the next statement does not trigger another one.
fn triggered(stmts: &[Stmt], at: usize) -> Option<EventAt> {
    let StmtKind::Trigger(event) = &stmts.get(at)?.kind else {
        return None;
    };
    let next = stmts.get(at + 1).map(|s| &s.kind);
    let alone = !matches!(next, Some(StmtKind::Trigger(_)));
    (alone && event.slot != Slot::All).then(|| event.clone())
}

/// The sources of the copies in these statements.
fn read_in(stmts: &[Stmt]) -> SortedSet<BufferId> {
    let mut read = SortedSet::new();
    for stmt in stmts {
        if let StmtKind::Copy(copy) = &stmt.kind {
            read.insert(copy.source.buffer);
        }
        for block in stmt.kind.blocks() {
            read.extend(read_in(block));
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use crate::ir::{StmtKind, TmaOp, any_stmt};
    use crate::sema::testing;

    /// Whether the copy completes the event, instead of being waited for.
    fn fused(produces: &str, consumes: &str) -> bool {
        let text = format!(
            "__co__ void f(global f32 [M, 64] x, global f32 [M, 64] y, int n, global s32 [256] numbers) {{
               parallel b by 4 : block {{
                 shared event full, rows[4], empty = ready;
                 shared f32 [8, 64] tile;
                 parallel w by 2 : group-4, t by 128 : thread {{
                   m = numbers.at(t);
                   inthreads.async (w == 0) {{ {produces} }}
                   inthreads.async (w == 1) {{ {consumes} }}
                 }}
               }}
             }}"
        );
        let function = testing::function_after(&text, "tma");
        let own = |name: &str| {
            let event = function.events.iter().find(|event| event.name == name);
            event.map(|event| event.barriers)
        };
        let events = [own("full"), own("rows")];
        any_stmt(&function.kernels[0].body, |stmt| match &stmt.kind {
            StmtKind::Tma(TmaOp::Load { barriers, .. }) => events.contains(&Some(*barriers)),
            _ => false,
        })
    }

    #[test]
    fn a_copy_for_each_generation_of_which_a_thread_waits() {
        let copy = "tma.copy x.subspan(8, 64).at(0, 0) => tile;";
        let read = "y.at(0, t % 64) = tile.at(0, t % 64);";
        let once = format!("{copy} trigger full;");
        assert!(fused(&once, &format!("wait full; {read}")));
        assert!(fused(&once, &format!("{read} wait full; wait full;")));
        let each = |of: &str| format!("foreach k in {of} {{ wait empty; {copy} trigger full; }}");
        let waits = |of: &str| format!("foreach k in {of} {{ wait full; {read} trigger empty; }}");
        assert!(fused(&each("n"), &waits("n")));
        assert!(fused(&each("cdiv(M, 8)"), &waits("cdiv(M, 8)")));
        assert!(fused(&each("4"), &format!("{} {}", waits("2"), waits("2"))));
        let both = |inner: String| format!("foreach i in n {{ {inner} }}");
        assert!(fused(&both(each("3")), &both(waits("3"))));
    }

    #[test]
    fn a_copy_that_may_be_in_flight_at_the_end() {
        let copy = "tma.copy x.subspan(8, 64).at(0, 0) => tile;";
        let once = format!("{copy} trigger full;");
        let waits = |of: &str| format!("foreach k in {of} {{ wait full; }}");
        // Perhaps never.
        assert!(!fused(&once, &waits("n")));
        assert!(!fused(&once, "if (n > 3) { wait full; }"));
        assert!(!fused(&once, "if (n > 3) yield; wait full;"));
        assert!(!fused(
            &once,
            "mutable s32 i = 0; while (i < n) { i += 1; wait full; }"
        ));
        // Fewer times.
        let each = format!("foreach k in n {{ wait empty; {copy} trigger full; }}");
        let waits = |of: &str, end: &str| {
            format!("foreach k in {of} {{ wait full; trigger empty; {end} }}")
        };
        assert!(!fused(&each, &waits("n - 1", "")));
        assert!(!fused(&each, &waits("n", "if (k == 3) break;")));
        // In each thread another number of times.
        let each = format!("foreach k in m {{ wait empty; {copy} trigger full; }}");
        assert!(!fused(&each, &waits("m", "")));
        // Of one generation again and again.
        let rows = format!("foreach k in 4 {{ {copy} trigger rows.at(k); }}");
        assert!(!fused(&rows, "foreach k in 4 { wait rows.at(0); }"));
    }
}
