//! Storage sharing, and programs of random structure whose results must not depend on it.

use proptest::prelude::*;

use super::{Limits, plan};
use crate::ir::*;
use crate::passes::model::{Memory, Thread};
use crate::passes::transform::barriers::insert_barriers;
use crate::passes::transform::barriers::races::{events_of, race};
use crate::sema::testing::function as checked;
use crate::sorted::SortedMap;
use crate::symbolic::Sym;

const ROOMY: Limits = Limits {
    most: u64::MAX,
    least: u64::MAX,
};
/// No memory fits: every possible overlap is used.
const TIGHT: Limits = Limits {
    most: u64::MAX,
    least: 0,
};

fn planned(text: &str, limits: Limits) -> Function {
    let mut function = checked(text);
    insert_barriers(&mut function, KernelId(0));
    plan(&mut function, KernelId(0), limits);
    function
}

/// `name@offset` for each buffer, then the total.
fn places(text: &str, limits: Limits) -> String {
    let function = planned(text, limits);
    let kernel = &function.kernels[0];
    let mut words: Vec<String> = kernel
        .shared
        .iter()
        .map(|p| {
            let name = &function.buffer(p.buffer).name;
            format!("{name}@{}", function.cx.show(&p.offset))
        })
        .collect();
    words.push(function.cx.show(&kernel.shared_bytes));
    words.join(" ")
}

fn barriers(function: &Function) -> usize {
    struct Count(usize);
    impl Visit for Count {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 += usize::from(matches!(stmt.kind, StmtKind::Barrier { .. }));
        }
    }
    let mut count = Count(0);
    walk_block(&function.kernels[0].body, &mut count);
    count.0
}

/// A kernel of 32 threads.
fn kernel(body: &str) -> String {
    format!(
        "__co__ auto f(s32 [4096] x, s32 [M, N] w, s32 g) {{
           s32 [4096] y;
           parallel by 1 : block {{ {body} }}
           return y;
         }}"
    )
}

/// Fills `name`, and reads it across threads.
fn phase(name: &str, at: u32) -> String {
    format!(
        "{name} = dma.copy x.view(32).from({at}) => shared;
         parallel t by 32 : thread y.at({at} + t) = {name}.data.at(31 - t);"
    )
}

#[test]
fn sequential_buffers_share_storage_across_a_barrier() {
    // The barrier before the reads of b does not separate the readers of a from the writers of b.
    let two = kernel(&(phase("a", 0) + &phase("b", 64)));
    assert_eq!(places(&two, ROOMY), "a@0 b@128 256");
    assert_eq!(places(&two, TIGHT), "a@0 b@0 128");
    assert_eq!(
        barriers(&planned(&two, ROOMY)) + 1,
        barriers(&planned(&two, TIGHT))
    );
    // The barrier before the reads of b separates the readers of a from the writers of c.
    let three = kernel(&(phase("a", 0) + &phase("b", 64) + &phase("c", 128)));
    assert_eq!(places(&three, ROOMY), "a@0 b@128 c@0 256");
    assert_eq!(places(&three, TIGHT), "a@0 b@0 c@0 128");
}

#[test]
fn simultaneously_live_buffers_are_disjoint() {
    let text = kernel(
        "a = dma.copy x.view(32).from(0) => shared;
         b = dma.copy x.view(64).from(64) => shared;
         parallel t by 32 : thread y.at(t) = a.data.at(31 - t) + b.data.at(t);",
    );
    assert_eq!(places(&text, TIGHT), "a@0 b@128 384");
}

#[test]
fn an_asynchronous_copy_is_live_until_its_wait() {
    let text = |order: &str| {
        let b = phase("b", 64);
        let wait = "wait a;";
        let (first, second) = if order == "inside" {
            (b.as_str(), wait)
        } else {
            (wait, b.as_str())
        };
        kernel(&format!(
            "a = dma.copy.async x.view(32).from(0) => shared; {first} {second}"
        ))
    };
    assert_eq!(places(&text("inside"), TIGHT), "a@0 b@128 256");
    assert_eq!(places(&text("after"), TIGHT), "a@0 b@0 128");
}

#[test]
fn values_carried_by_a_loop_are_live_throughout_it() {
    let iteration = |declared: &str, first: &str| {
        kernel(&format!(
            "{declared}
             foreach k in [4] {{
               {first}
               parallel t by 32 : thread y.at(k * 64 + t) = a.at(31 - t);
               {}
             }}",
            phase("b", 64)
        ))
    };
    let copied = "dma.copy x.view(32).from(k) => a;";
    let stored = "parallel t by 32 : thread a.at(t) = x.at(t + k);";
    let outside = "shared s32 [32] a;";
    // Each iteration overwrites the whole buffer.
    assert_eq!(places(&iteration(outside, copied), TIGHT), "a@0 b@0 128");
    // It is not proved that these stores do …
    assert_eq!(places(&iteration(outside, stored), TIGHT), "a@0 b@128 256");
    // … but here every iteration has its own buffer.
    let inside = format!("shared s32 [32] a; {stored}");
    assert_eq!(places(&iteration("", &inside), TIGHT), "a@0 b@0 128");
    // Half of it holds values of the previous iteration.
    let half = "dma.copy x.view(16).from(k) => a.view(16).from(0);";
    assert_eq!(places(&iteration(outside, half), TIGHT), "a@0 b@128 256");
    // Only in some iterations.
    let some = "if (g > 1) { dma.copy x.view(32).from(k) => a; }";
    assert_eq!(places(&iteration(outside, some), TIGHT), "a@0 b@128 256");
}

#[test]
fn the_tile_of_a_placeholder_is_live_in_its_scope() {
    let b = phase("b", 64);
    let copied = "a = dma.copy x.view(32).from(k) => shared;";
    let read = "parallel t by 32 : thread y.at(k * 64 + t) = a.data.at(31 - t);";
    // Every other iteration reads the copy of the previous iteration.
    let kept = kernel(&format!(
        "a = dma.any; foreach k in [4] {{ {b} if (k % 2 == 0) {{ {copied} }} {read} }}"
    ));
    assert_eq!(places(&kept, TIGHT), "b@0 a@128 256");
    let each = kernel(&format!(
        "foreach k in [4] {{ {b} a = dma.any; {copied} {read} }}"
    ));
    assert_eq!(places(&each, TIGHT), "b@0 a@0 128");
}

#[test]
fn branches_share_storage_unless_divergent() {
    let text = |cond: &str| {
        kernel(&format!(
            "shared s32 [32] a; shared s32 [32] b;
             parallel t by 32 : thread {{
               if ({cond}) {{ a.at(t) = 1; y.at(t) = a.at(t); }} else {{ b.at(t) = 2; y.at(t) = b.at(t); }}
             }}"
        ))
    };
    assert_eq!(places(&text("t < 9"), TIGHT), "a@0 b@128 256");
    let uniform = kernel(&format!(
        "if (g > 1) {{ {} }} else {{ {} }}",
        phase("a", 0),
        phase("b", 64)
    ));
    assert_eq!(places(&uniform, ROOMY), "a@0 b@0 128");
}

#[test]
fn opaque_code_keeps_its_buffers_live() {
    let text = kernel(&format!(
        "shared s32 [32] a;
         __cpp__(\"a[0] = 1;\");
         parallel t by 32 : thread y.at(t) = a.at(31 - t);
         {}",
        phase("b", 64)
    ));
    assert_eq!(places(&text, TIGHT), "a@0 b@128 256");
}

#[test]
fn sizes_of_the_launch_share_if_one_is_provably_larger() {
    let phase = |shape: &str, name: &str| {
        format!(
            "shared s32 [{shape}] {name};
             parallel t by 32 : thread {name}.at(0, 0) = x.at(0);
             sync.shared;
             parallel t by 32 : thread y.at(t) = {name}.at(0, 0);
             sync.shared;"
        )
    };
    let text = |second: &str| kernel(&(phase("M, N", "a") + &phase(second, "b")));
    assert!(places(&text("M, N + 2"), ROOMY).starts_with("a@0 b@0 "));
    assert!(places(&text("M + 2, N"), ROOMY).starts_with("a@0 b@0 "));
    assert!(places(&text("N, 3"), ROOMY).starts_with("a@0 b@16 * "));
    // After those of known size.
    let three = kernel(&(phase("M, N", "a") + &phase("3, 8", "c") + &phase("M, N", "b")));
    assert!(places(&three, ROOMY).starts_with("c@0 a@96 b@96 "));
}

/// A part of a program over buffers `b0`, `b1`, …
#[derive(Clone, Debug)]
enum Op {
    Fill(usize),
    /// Each thread reads an element that another thread wrote.
    Read(usize),
    /// A fill, other operations, and the wait.
    Begin(usize, Vec<Op>),
    Loop(Vec<usize>, Vec<Op>),
    Branch(bool, Vec<Op>),
}

const BUFFERS: usize = 4;
const SIZES: [i64; BUFFERS] = [32, 64, 96, 160];
const ITERATIONS: usize = 3;

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let leaf = prop_oneof![
        (0..BUFFERS).prop_map(Op::Fill),
        (0..BUFFERS).prop_map(Op::Read),
        (0..BUFFERS).prop_map(Op::Read),
    ];
    let op = leaf.prop_recursive(3, 24, 6, |inner| {
        let list = prop::collection::vec(inner, 1..6);
        prop_oneof![
            (prop::collection::vec(0..BUFFERS, 0..2), list.clone())
                .prop_map(|(b, l)| Op::Loop(b, l)),
            (0..BUFFERS, list.clone()).prop_map(|(b, l)| Op::Begin(b, l)),
            (any::<bool>(), list).prop_map(|(c, l)| Op::Branch(c, l)),
        ]
    });
    // Some buffers are full from the start.
    let filled = prop::collection::vec((0..BUFFERS).prop_map(Op::Fill), 0..4);
    let rest = prop::collection::vec(op, 2..7);
    (filled, rest).prop_map(|(mut ops, rest)| {
        ops.extend(rest);
        ops
    })
}

/// The buffers that are full, and those that are the destination of a copy in flight.
#[derive(Clone, Copy, Default, PartialEq)]
struct State {
    full: [bool; BUFFERS],
    busy: [bool; BUFFERS],
}

struct Print {
    text: String,
    names: Vec<String>,
    next: u32,
    asynchronous: bool,
}

impl Print {
    /// Prints the operations that are valid in this state: a program reads only what it has
    /// written.
    fn ops(&mut self, ops: &[Op], state: &mut State, depth: usize) {
        for op in ops {
            let id = self.next;
            self.next += 1;
            match op {
                Op::Fill(b) | Op::Read(b) | Op::Begin(b, _) if state.busy[*b] => {}
                Op::Fill(b) => {
                    let (n, name) = (SIZES[*b], &self.names[*b]);
                    self.text +=
                        &format!("dma.copy x.view({n}).from({}) => {name};\n", id * 7 % 900);
                    state.full[*b] = true;
                }
                Op::Read(b) if state.full[*b] => {
                    let (n, name) = (SIZES[*b], &self.names[*b]);
                    let iteration =
                        (0..depth).map(|d| format!(" + k{d} * {}", 1000 * 3usize.pow(d as u32)));
                    self.text += &format!(
                        "parallel t by 32 : thread y.at({} + t{}) = {name}.at({} - t);\n",
                        id * 32,
                        iteration.collect::<String>(),
                        n - 1
                    );
                }
                Op::Read(_) => {}
                Op::Begin(b, inner) => {
                    let (n, name) = (SIZES[*b], self.names[*b].clone());
                    let manner = if self.asynchronous { ".async" } else { "" };
                    self.text += &format!(
                        "got{id} = dma.copy{manner} x.view({n}).from({}) => {name};\n",
                        id * 5 % 900
                    );
                    state.full[*b] = true;
                    if self.asynchronous {
                        state.busy[*b] = true;
                        self.ops(inner, state, depth);
                        self.text += &format!("wait got{id};\n");
                        state.busy[*b] = false;
                    } else {
                        self.ops(inner, state, depth);
                    }
                }
                Op::Loop(declared, inner) if depth < 2 => {
                    let outer = self.names.clone();
                    let before = *state;
                    self.text += &format!("foreach k{depth} in [{ITERATIONS}] {{\n");
                    for b in declared.iter().filter(|b| !before.busy[**b]) {
                        self.names[*b] = format!("b{b}_{id}");
                        state.full[*b] = false;
                        if !self.text.ends_with(&format!("{};\n", self.names[*b])) {
                            self.text +=
                                &format!("shared s32 [{}] {};\n", SIZES[*b], self.names[*b]);
                        }
                    }
                    self.ops(inner, state, depth + 1);
                    self.text += "}\n";
                    for b in declared {
                        state.full[*b] = before.full[*b];
                    }
                    self.names = outer;
                }
                Op::Loop(_, inner) => self.ops(inner, state, depth),
                Op::Branch(_, _) if state.busy.contains(&true) => {}
                Op::Branch(odd, inner) => {
                    let before = *state;
                    let cond = match (depth, odd) {
                        (0, _) => "g > 1".to_owned(),
                        (d, true) => format!("k{} == 1", d - 1),
                        (d, false) => format!("k{} != 1", d - 1),
                    };
                    self.text += &format!("if ({cond}) {{\n");
                    self.ops(inner, state, depth);
                    self.text += "}\n";
                    *state = before;
                }
            }
        }
    }
}

fn program(ops: &[Op], asynchronous: bool) -> String {
    let mut print = Print {
        text: String::new(),
        names: (0..BUFFERS).map(|b| format!("b{b}")).collect(),
        next: 0,
        asynchronous,
    };
    print.ops(ops, &mut State::default(), 0);
    let declared: String = (0..BUFFERS)
        .map(|b| format!("shared s32 [{}] b{b};\n", SIZES[b]))
        .collect();
    format!(
        "__co__ auto f(s32 [1200] x, s32 g) {{
           s32 [40000] y;
           parallel by 1 : block {{ {declared} parallel t by 32 : thread y.at(39000 + t) = 0;\n{} }}
           return y;
         }}",
        print.text
    )
}

/// The contents of global memory after the kernel. With correct barriers each statement is complete
/// before the next one begins, so all threads execute one statement after the other.
fn results(function: &Function, kernel: &Kernel) -> Memory {
    let mut memory = Memory::new();
    let mut run = Steps {
        function,
        memory: &mut memory,
        locals: SortedMap::new(),
        begun: SortedMap::new(),
    };
    run.block(&kernel.body);
    memory.retain(|(buffer, _), _| function.buffer(*buffer).storage.is_global());
    memory
}

/// Executes statement after statement, each by all threads.
struct Steps<'a> {
    function: &'a Function,
    memory: &'a mut Memory,
    locals: SortedMap<LocalId, crate::passes::model::Value>,
    /// Asynchronous copies are executed twice: immediately, and at their wait.
    begun: SortedMap<FutureId, Copy>,
}

impl Steps<'_> {
    fn thread(&mut self, tid: i128) -> Thread<'_> {
        Thread {
            locals: self.locals.clone(),
            memory: Some(std::mem::take(self.memory)),
            ..Thread::new(self.function, 32, tid, 100_000)
        }
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::For {
                    local,
                    lo,
                    hi,
                    body,
                    ..
                } if !is_fine(body) => {
                    let (lo, hi) = (self.thread_sym(lo), self.thread_sym(hi));
                    for k in lo..hi {
                        self.locals
                            .insert(*local, crate::passes::model::Value::Int(k));
                        self.block(body);
                    }
                }
                StmtKind::If {
                    cond,
                    then,
                    otherwise,
                } if !is_fine(then) => {
                    let probe = Stmt::new(
                        StmtKind::If {
                            cond: cond.clone(),
                            then: vec![Stmt::new(StmtKind::Break, stmt.span)],
                            otherwise: Vec::new(),
                        },
                        stmt.span,
                    );
                    let mut thread = self.thread(0);
                    let taken = !matches!(thread.block(&[probe]), crate::passes::model::Flow::Next);
                    *self.memory = thread.memory.unwrap_or_default();
                    self.block(if taken { then } else { otherwise });
                }
                StmtKind::Copy(copy) => {
                    self.copy(copy, stmt.span);
                    if let Some(future) = copy.future {
                        self.begun.insert(future, copy.clone());
                    }
                }
                StmtKind::Wait { futures, .. } => {
                    for waited in futures {
                        if let Some(copy) = self.begun.remove(&waited.future) {
                            self.copy(&copy, stmt.span);
                        }
                    }
                }
                _ => self.by(0..32, stmt),
            }
        }
    }

    fn copy(&mut self, copy: &Copy, span: crate::source::Span) {
        let count = self.thread_sym(&copy.source.shape.iter().product::<Sym>());
        for e in 0..count {
            let mut moved = copy.clone();
            let step = Sym::int(i64::try_from(e).unwrap_or(0));
            moved.source.offset = &moved.source.offset + &step;
            moved.dest.offset = &moved.dest.offset + &step;
            let access = |view: View| Access {
                view,
                indices: Vec::new(),
                span,
            };
            let one = StmtKind::Move(Move {
                dest: access(moved.dest),
                source: access(moved.source),
                elems: 1,
                mode: MoveMode::Plain,
            });
            self.by(0..1, &Stmt::new(one, span));
        }
    }

    fn thread_sym(&mut self, sym: &Sym) -> i128 {
        let thread = self.thread(0);
        let value = thread.sym(sym);
        *self.memory = thread.memory.unwrap_or_default();
        value
    }

    fn by(&mut self, threads: std::ops::Range<i128>, stmt: &Stmt) {
        let mut locals = None;
        for tid in threads {
            let mut thread = self.thread(tid);
            thread.block(std::slice::from_ref(stmt));
            locals.get_or_insert(thread.locals);
            *self.memory = thread.memory.unwrap_or_default();
        }
        self.locals = locals.unwrap_or_default();
    }
}

/// Whether there are no statements that all threads execute together.
fn is_fine(stmts: &[Stmt]) -> bool {
    !any_stmt(stmts, |stmt| {
        matches!(
            stmt.kind,
            StmtKind::Copy(_) | StmtKind::Barrier { .. } | StmtKind::Parallel { .. }
        )
    })
}

/// The same kernel with all shared buffers as parts of a single buffer, at their offsets.
fn in_one_arena(function: &Function, kernel: &Kernel) -> (Function, Kernel) {
    let text = "__co__ void f(s32 [1] x) { parallel by 1 : block { } }";
    let mut renamed = checked(text);
    renamed.buffers = function.buffers.clone();
    renamed.locals = function.locals.clone();
    renamed.params = function.params.clone();
    renamed.var_home = function.var_home.clone();
    let arena = BufferId(u32::try_from(renamed.buffers.len()).unwrap_or(0));
    let mut model = function.buffer(kernel.shared[0].buffer).clone();
    model.name = "arena".to_owned();
    renamed.buffers.push(model);
    let mut kernel = kernel.clone();
    change_views(&mut kernel.body, &mut |view| {
        if let Some(p) = kernel.shared.iter().find(|p| p.buffer == view.buffer) {
            let elements = p.offset.as_int().unwrap_or(0) / 4;
            view.buffer = arena;
            view.offset = &view.offset + elements;
        }
    });
    (renamed, kernel)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn results_do_not_depend_on_sharing(ops in ops(), asynchronous in any::<bool>(), tight in any::<bool>()) {
        let text = program(&ops, asynchronous);
        let function = planned(&text, if tight { TIGHT } else { ROOMY });
        let kernel = &function.kernels[0];
        if !kernel.shared.is_empty() {
            let (renamed, in_arena) = in_one_arena(&function, kernel);
            let (separate, overlapping) = (results(&function, kernel), results(&renamed, &in_arena));
            prop_assert!(format!("{separate:?}") == format!("{overlapping:?}"), "{text}\n{:#?}", kernel.shared);
        }
        let (events, threads) = events_of(&function, kernel, &SortedMap::new(), &SortedMap::new());
        if let Some((a, b)) = race(&events, threads, &function, kernel) {
            prop_assert!(false, "{text}\n{a:?}\n{b:?}");
        }
    }
}
