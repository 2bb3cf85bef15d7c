//! Events that tell the other blocks of a cluster only that their threads have read.
//!
//! An arrival at the mbarrier of another block publishes what its thread has written, or has seen of
//! what its block wrote, if it is a release at the scope of the cluster. A GPU then waits until all of
//! the thread's writes have reached memory, in each step of a pipeline. Where no write can precede the
//! arrival there is nothing to publish, and a release at the scope of the block is enough: reads that
//! are complete when their thread arrives precede what follows the wait.
//!
//! The proof is one of order: what comes before the last trigger, in each thread and in each list of
//! statements around it, only reads. What comes after it may write, unless it triggers something: the
//! threads that are still before the trigger synchronise only by events and by MMAs, so they cannot
//! have seen these writes.

use std::slice;

use super::own_tiles;
use crate::ir::{
    Access, BarrierScope, BufferId, Copy, Engine, EventId, ExprKind, Flow, Function, KernelId,
    MmaOp, Stmt, StmtKind, Storage, View, Visitor, any_in, any_stmt, walk,
};
use crate::passes::analysis::uniformity::memory::Changes;
use crate::sorted::{SortedMap, SortedSet};

/// The events of the kernel of which this holds.
pub fn find(function: &Function, id: KernelId) -> Vec<EventId> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Vec::new();
    };
    let events = (0..).map(EventId).zip(&function.events);
    let mut events = events
        .filter(|(_, event)| event.kernel == id.index() && event.clustered)
        .peekable();
    if events.peek().is_none() || has_unknown_effects(&kernel.body) {
        return Vec::new();
    }
    let changes = Changes::of(function, kernel);
    // Whether a load of device memory has taken place is not known when its thread arrives.
    if !read_from_device(function, &kernel.body)
        .iter()
        .all(|id| changes.is_constant(*id))
    {
        return Vec::new();
    }
    let private = Unpublished::of(function, &kernel.body);
    let own = own_tiles::find(function, &kernel.body);
    let precedes = |event| {
        let (private, own) = (&private, &own);
        Before {
            function,
            event,
            private,
            own,
        }
        .list(&kernel.body)
    };
    events
        .map(|(event, _)| event)
        .filter(|event| precedes(*event))
        .collect()
}

/// Whether something writes memory or synchronises in a way that is opaque to the compiler, or waits
/// for the host.
fn has_unknown_effects(body: &[Stmt]) -> bool {
    any_in(
        body,
        |stmt| {
            matches!(
                stmt.kind,
                StmtKind::Cpp { .. } | StmtKind::Eval(_) | StmtKind::AwaitSignal { .. }
            )
        },
        |expr| matches!(*expr.kind, ExprKind::Call(_)),
    )
}

/// The device memory that is read other than by atomic operations.
fn read_from_device(function: &Function, body: &[Stmt]) -> SortedSet<BufferId> {
    struct Find<'a>(&'a Function, SortedSet<BufferId>);
    impl Find<'_> {
        fn read(&mut self, id: BufferId) {
            if self.0.buffer_is_global(id) {
                self.1.insert(id);
            }
        }
    }
    impl Visitor for Find<'_> {
        fn stmt(&mut self, stmt: &Stmt) -> Flow {
            match &stmt.kind {
                StmtKind::Copy(copy) => self.read(copy.source.buffer),
                StmtKind::Mma(op) => {
                    let read = op.views().into_iter().filter(|(_, written)| !written);
                    read.for_each(|(view, _)| self.read(view.buffer));
                }
                StmtKind::Store {
                    access,
                    op: Some(_),
                    ..
                } => self.read(access.view.buffer),
                _ => {}
            }
            walk::stmt(self, stmt)
        }

        fn access(&mut self, access: &Access, written: bool) -> Flow {
            if !written {
                self.read(access.view.buffer);
            }
            walk::access(self, access)
        }
    }
    let mut find = Find(function, SortedSet::new());
    let _ = find.block(body);
    find.1
}

/// Buffers whose writes other blocks never see.
struct Unpublished {
    /// Device memory that one statement mentions.
    results: SortedSet<BufferId>,
    /// Shared memory that one asynchronous region accesses.
    of_one_region: SortedSet<BufferId>,
}

impl Unpublished {
    fn of(function: &Function, body: &[Stmt]) -> Self {
        let mut find = FindPlaces::default();
        let _ = find.block(body);
        let is = |id: &BufferId, shared: bool| {
            let buffer = function.buffers.get(id.index());
            buffer.is_some_and(|b| match shared {
                true => b.storage == Storage::Shared,
                false => b.storage.is_global(),
            })
        };
        let places = || find.places.iter();
        Self {
            results: (places().filter(|(id, at)| is(id, false) && at.mentions == 1))
                .map(|(id, _)| *id)
                .collect(),
            of_one_region: places()
                .filter(|(id, at)| is(id, true) && at.regions.len() == 1 && !at.multicast)
                .filter(|(_, at)| at.regions.iter().all(Option::is_some))
                .map(|(id, _)| *id)
                .collect(),
        }
    }
}

/// Where a buffer is mentioned.
#[derive(Default)]
struct Places {
    mentions: usize,
    /// The numbers of asynchronous regions, or `None` for code outside of them.
    regions: SortedSet<Option<usize>>,
    /// Whether it is the destination of a multicast load.
    multicast: bool,
}

#[derive(Default)]
struct FindPlaces {
    places: SortedMap<BufferId, Places>,
    inside: Option<usize>,
    /// The number of regions so far.
    regions: usize,
}

impl FindPlaces {
    fn mention(&mut self, id: BufferId) {
        let region = self.inside;
        let places = self.places.entry(id).or_default();
        places.mentions += 1;
        places.regions.insert(region);
    }
}

impl Visitor for FindPlaces {
    fn stmt(&mut self, stmt: &Stmt) -> Flow {
        if let StmtKind::Copy(copy) = &stmt.kind
            && copy.engine.is_multicast()
        {
            self.places.entry(copy.dest.buffer).or_default().multicast = true;
        }
        let is_outermost =
            self.inside.is_none() && matches!(&stmt.kind, StmtKind::Region { is_async: true, .. });
        if is_outermost {
            self.regions += 1;
            self.inside = Some(self.regions);
        }
        let flow = walk::stmt(self, stmt);
        if is_outermost {
            self.inside = None;
        }
        flow
    }

    fn view(&mut self, view: &View) -> Flow {
        self.mention(view.buffer);
        walk::view(self, view)
    }

    fn access(&mut self, access: &Access, _written: bool) -> Flow {
        self.mention(access.view.buffer);
        walk::access(self, access)
    }
}

struct Before<'a> {
    function: &'a Function,
    event: EventId,
    private: &'a Unpublished,
    /// Tiles whose reads are ordered within the block.
    own: &'a SortedSet<BufferId>,
}

impl Before<'_> {
    /// Whether no write in the list, which each thread executes at most once, can precede a trigger.
    fn list(&self, stmts: &[Stmt]) -> bool {
        let last = stmts.iter().rposition(|stmt| self.triggers(stmt));
        let Some((before, [stmt, after @ ..])) = last.and_then(|at| stmts.split_at_checked(at))
        else {
            return self.only_read(stmts);
        };
        self.only_read(before) && self.inside(stmt) && !signals(after)
    }

    fn inside(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Parallel { body, .. }
            | StmtKind::SingleThread { body, .. }
            | StmtKind::Region { body, .. } => self.list(body),
            StmtKind::If {
                then, otherwise, ..
            } => self.list(then) && self.list(otherwise),
            // In a loop the rest of the body precedes the trigger of the next iteration.
            _ => self.only_read(slice::from_ref(stmt)),
        }
    }

    fn triggers(&self, stmt: &Stmt) -> bool {
        any_stmt(
            slice::from_ref(stmt),
            |stmt| matches!(&stmt.kind, StmtKind::Trigger(at) if at.event == self.event),
        )
    }

    /// Whether the statements write nothing but what is the thread's own, and shared memory by TMA:
    /// an event of that copy says when it is complete.
    fn only_read(&self, stmts: &[Stmt]) -> bool {
        stmts.iter().all(|stmt| match &stmt.kind {
            StmtKind::Let { .. } | StmtKind::Assign { .. } | StmtKind::Check { .. } => {
                !self.loads_shared(stmt)
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::WaitTma { .. }
            | StmtKind::WaitEvent(_)
            | StmtKind::Rotate { .. }
            | StmtKind::UseFuture(_)
            | StmtKind::Registers(_)
            | StmtKind::Alloc(_) => true,
            StmtKind::Trigger(at) => at.cluster || at.event != self.event,
            StmtKind::Store { access, .. } => {
                self.is_private(access.view.buffer) && !self.loads_shared(stmt)
            }
            StmtKind::Fill { view, .. } => self.is_private(view.buffer) && !self.loads_shared(stmt),
            StmtKind::Copy(copy) => self.is_load(copy) || self.is_result(copy),
            StmtKind::Mma(op) => {
                let is_load = matches!(**op, MmaOp::Load { .. });
                let hinders = |(view, written): (&View, bool)| {
                    let published = !self.private.of_one_region.contains(&view.buffer);
                    (written && published) || (is_load && self.needs_order(view.buffer))
                };
                !op.views().into_iter().any(hinders) && op.body().is_none_or(|b| self.only_read(b))
            }
            StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::If { .. }
            | StmtKind::Parallel { .. }
            | StmtKind::SingleThread { .. }
            | StmtKind::Region { .. } => {
                !self.loads_shared(stmt) && stmt.kind.blocks().all(|block| self.only_read(block))
            }
            _ => false,
        })
    }

    /// Whether an element of shared memory is loaded into a register that another block may allow to be
    /// written: the thread may arrive before the value does. MMAs of a warpgroup have read their tiles
    /// when their wait is over.
    fn loads_shared(&self, stmt: &Stmt) -> bool {
        any_in(
            slice::from_ref(stmt),
            |_| false,
            |expr| match &*expr.kind {
                ExprKind::Load(access) => self.needs_order(access.view.buffer),
                _ => false,
            },
        )
    }

    fn storage(&self, id: BufferId) -> Option<Storage> {
        Some(self.function.buffers.get(id.index())?.storage)
    }

    fn needs_order(&self, id: BufferId) -> bool {
        self.is_shared(id) && !self.own.contains(&id)
    }

    fn is_shared(&self, id: BufferId) -> bool {
        self.storage(id) == Some(Storage::Shared)
    }

    fn is_private(&self, id: BufferId) -> bool {
        self.storage(id).is_some_and(Storage::is_private)
    }

    fn is_load(&self, copy: &Copy) -> bool {
        matches!(&copy.engine, Engine::Tma(tma) if tma.event.as_ref().is_none_or(|at| at.event != self.event))
            && self.is_shared(copy.dest.buffer)
    }

    fn is_result(&self, copy: &Copy) -> bool {
        matches!(&copy.engine, Engine::Tma(_))
            && self.private.results.contains(&copy.dest.buffer)
            && self.is_shared(copy.source.buffer)
    }
}

/// Whether threads that wait elsewhere may continue because of the statements.
fn signals(stmts: &[Stmt]) -> bool {
    any_stmt(stmts, |stmt| match &stmt.kind {
        StmtKind::Trigger(_) => true,
        StmtKind::Copy(copy) => matches!(&copy.engine, Engine::Tma(tma) if tma.event.is_some()),
        StmtKind::Barrier { scope, .. } => matches!(
            scope,
            BarrierScope::Named { .. } | BarrierScope::Arrive { .. }
        ),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::sema::testing;

    /// Two blocks share tiles that one warpgroup loads and another multiplies. BEFORE and AFTER are
    /// around the trigger in the loop of the latter, END is behind it.
    const TEXT: &str = "
        __co__ void f(global f16 [M, K] x, global f16 [64, K] y, global f16 [M, 64] out, global s32 [128] seen) {
          parallel {along_n, along_m} by [1, 2] : cluster
            parallel {bn, bm} by [1, cdiv(M, 64)] : block {
              shared event full[2], empty[2] = ready;
              shared event<128> over;
              shared f16 [64, 64] xs[2], ys[2], product;
              shared s32 [128] kept;
              parallel w by 2 : group-4, t by 128 : thread {
                inthreads.async (w == 0) {
                  foreach {k} in [cdiv(K, 64)] {
                    s = k % 2;
                    wait empty[s];
                    tma.copy.async<full[s]>.swiz<128> x.subspan(64, 64).at(bm, k) => xs[s];
                    tma.copy.async<full[s]>.multicast.swiz<128> y.subspan(64, 64).at(0, k) => ys[s];
                    trigger full[s];
                  }
                }
                inthreads.async (w == 1) {
                  acc = mma.fill.f32 0.0f;
                  foreach {k} in [cdiv(K, 64)] {
                    s = k % 2;
                    wait full[s];
                    mma.row.row acc, xs[s], ys[s];
                    BEFORE
                    trigger.cluster empty[s];
                    AFTER
                  }
                  mma.store acc, product;
                  tma.copy product => out.subspan(64, 64).at(bm, 0);
                  END
                }
              }
            }
        }";

    /// Whether arrivals at `empty` follow reads alone.
    fn only_reads(before: &str, after: &str, end: &str) -> bool {
        let text = TEXT.replace("BEFORE", before);
        let text = text.replace("AFTER", after).replace("END", end);
        is_found(&text)
    }

    fn is_found(text: &str) -> bool {
        let function = testing::function_after(text, "events");
        let named = |name| function.events.iter().find(|event| event.name == name);
        assert!(named("full").is_some_and(|event| !event.only_reads));
        named("empty").is_some_and(|event| event.only_reads)
    }

    #[test]
    fn what_follows_the_loop_may_write() {
        assert!(only_reads("", "", ""));
        assert!(only_reads("", "", "seen.at(t) = 1;"));
        assert!(only_reads("", "", "__atomic_add(seen.at(0), 1);"));
        // Its own variables.
        let own = "s32 last = k * 2; if (last > 5) { last = 0; }";
        assert!(only_reads(own, "", ""));
        assert!(only_reads("", own, ""));
    }

    #[test]
    fn a_write_that_may_precede_a_trigger_is_published() {
        for write in [
            "seen.at(t) = k;",
            "kept.at(t) = k;",
            "__atomic_add(seen.at(0), 1);",
            "if (k == 3) { seen.at(t) = k; }",
        ] {
            assert!(!only_reads(write, "", ""), "{write}");
            // In the next iteration.
            assert!(!only_reads("", write, ""), "{write}");
        }
    }

    #[test]
    fn writes_before_the_loop_and_of_other_threads() {
        let text = TEXT
            .replace("BEFORE", "")
            .replace("AFTER", "")
            .replace("END", "");
        assert!(is_found(&text));
        for before in ["acc = mma.fill", "parallel w by 2", "foreach {k}"] {
            let write = match before {
                "parallel w by 2" => "parallel i by 256 : thread { if (i < 128) seen.at(i) = 1; }",
                _ => "seen.at(t) = 1;",
            };
            let text = text.replacen(before, &format!("{write} {before}"), 1);
            assert!(!is_found(&text), "{text}");
        }
    }

    /// Blocks that take several tiles, and store each of them by STORE.
    const RESIDENT: &str = "
        __co__ void f(global f16 [M, K] x, global f16 [64, K] y, global f16 [M, 64] out, int tiles) {
          parallel c by 2 : cluster
            parallel q by 16 : block {
              shared event full[2], empty[2] = ready;
              shared f16 [64, 64] xs[2], ys[2], product, other;
              parallel w by 2 : group-4, t by 128 : thread {
                inthreads.async (w == 0) {
                  foreach {tile} in [tiles] {
                    foreach {k} in [cdiv(K, 64)] {
                      s = (tile * cdiv(K, 64) + k) % 2;
                      wait empty[s];
                      tma.copy.async<full[s]>.swiz<128> x.subspan(64, 64).at(tile * 16 + q, k) => xs[s];
                      tma.copy.async<full[s]>.multicast.swiz<128> y.subspan(64, 64).at(0, k) => ys[s];
                      trigger full[s];
                      LOADS
                    }
                  }
                }
                inthreads.async (w == 1) {
                  foreach {tile} in [tiles] {
                    acc = mma.fill.f32 0.0f;
                    foreach {k} in [cdiv(K, 64)] {
                      s = (tile * cdiv(K, 64) + k) % 2;
                      wait full[s];
                      mma.row.row acc, xs[s], ys[s];
                      trigger.cluster empty[s];
                    }
                    STORE
                  }
                }
              }
            }
        }";

    #[test]
    fn tiles_that_nothing_else_reads_are_not_published() {
        let reads_only = |loads: &str, store: &str| {
            is_found(&RESIDENT.replace("LOADS", loads).replace("STORE", store))
        };
        let by_tma =
            "mma.store acc, product; tma.copy product => out.subspan(64, 64).at(tile * 16 + q, 0);";
        assert!(reads_only("", by_tma));
        // By threads.
        assert!(!reads_only(
            "",
            "mma.store acc, out.subspan(64, 64).at(tile * 16 + q, 0);"
        ));
        // Another statement mentions the result.
        let twice = format!("{by_tma} tma.copy product => out.subspan(64, 64).at(0, 0);");
        assert!(!reads_only("", &twice));
        // Another region accesses the tile in shared memory.
        let also =
            "tma.copy.async<full[s]> x.subspan(64, 64).at(0, k) => product; trigger full[s];";
        assert!(!reads_only(also, by_tma));
        // The tile is one that the other block writes.
        let there = "mma.store acc, ys[0];";
        assert!(!reads_only("", there));
    }

    /// The tile `other` is loaded by BRINGS for each tile of the result, and read by READS.
    fn with_own_tile(declared: &str, brings: &str, reads: &str) -> bool {
        let by_tma = "tma.copy product => out.subspan(64, 64).at(tile * 16 + q, 0);";
        let text = RESIDENT
            .replace("product, other;", &format!("product, other; {declared}"))
            .replace(
                "foreach {k} in [cdiv(K, 64)] {\n                      s = (tile * cdiv(K, 64) + k) % 2;\n                      wait empty[s];",
                &format!("{brings} foreach {{k}} in [cdiv(K, 64)] {{ s = (tile * cdiv(K, 64) + k) % 2; wait empty[s];"),
            )
            .replace("LOADS", "")
            .replace("STORE", &format!("{reads} mma.store acc, product; {by_tma}"));
        assert!(brings.is_empty() || text.contains(brings), "{text}");
        is_found(&text)
    }

    const OWN: &str = "shared event brought, used = ready;";
    const BRINGS: &str =
        "wait used; tma.copy.async<brought> x.subspan(64, 64).at(q, 0) => other; trigger brought;";
    const READ: &str =
        "apply {i, j} in acc.span { acc.at(i, j) = acc.at(i, j) + __to<f32>(other.at(i, j)); }";

    #[test]
    fn reads_of_a_tile_that_the_block_loads_for_itself_are_not_published() {
        assert!(with_own_tile(OWN, "", ""));
        let reads = format!("wait brought; {READ} trigger used;");
        assert!(with_own_tile(OWN, BRINGS, &reads));
        // Some of it, in a list of its own.
        let some = "wait brought; if (t < 5) { f32 v = __to<f32>(other.at(t, 0)); acc2 = v; } trigger used;";
        let some = format!("f32 acc2 = 0.0f; {some}");
        assert!(with_own_tile(OWN, BRINGS, &some));
    }

    #[test]
    fn reads_that_no_event_of_the_block_orders_are_published() {
        // After the tile was released, before it has come, and without a release.
        for reads in [
            format!("wait brought; trigger used; {READ}"),
            format!("{READ} wait brought; trigger used;"),
            format!("wait brought; {READ}"),
            format!("wait brought; trigger used; wait brought; {READ}"),
        ] {
            assert!(!with_own_tile(OWN, BRINGS, &reads), "{reads}");
        }
        let reads = format!("wait brought; {READ} trigger used;");
        // The load does not wait.
        let early = BRINGS.replace("wait used; ", "");
        assert!(!with_own_tile(OWN, &early, &reads));
        // Another load, by no event of its own.
        let twice = format!(
            "{BRINGS} tma.copy.async<brought> x.subspan(64, 64).at(q, 0) => other; trigger brought;"
        );
        assert!(!with_own_tile(OWN, &twice, &reads));
        // Other blocks load it, too.
        let shared = BRINGS.replace(
            "tma.copy.async<brought>",
            "tma.copy.async<brought>.multicast",
        );
        let shared = shared.replace("at(q, 0)", "at(0, 0)");
        assert!(!with_own_tile(OWN, &shared, &reads));
    }

    #[test]
    fn a_write_that_another_thread_may_have_seen_is_published() {
        let wait = "if (k == 99) wait over;";
        let write = "seen.at(t) = 1;";
        assert!(!only_reads(wait, "", &format!("{write} trigger over;")));
    }

    #[test]
    fn reads_that_may_not_be_complete() {
        // Of memory that other blocks write after they have waited.
        let read = "s32 value = seen.at(t);";
        assert!(only_reads(read, "", ""));
        assert!(!only_reads(read, "", "seen.at(t) = 1;"));
        // Of a slot by instructions whose values nothing has used.
        assert!(!only_reads(
            "f32 value = __to<f32>(ys[s].at(t, 0));",
            "",
            ""
        ));
    }
}
