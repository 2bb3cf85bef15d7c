use crate::diagnostics::Diagnostics;
use crate::ir::threads::{Function, StmtKind};
use crate::ir::{Expr, ExprKind, MoveMode, any_expr, any_stmt};
use crate::passes::run;
use crate::sema::testing;

fn lowered(text: &str) -> Function {
    let limits = crate::pipeline::Options::default().shared_limits();
    let mut diags = Diagnostics::new();
    let Some(function) = run(testing::function(text), limits, true, &mut diags) else {
        panic!("{:#?}", diags.into_sorted());
    };
    function
}

/// The elements of the moves of the first kernel, in order.
fn moves(text: &str) -> Vec<u32> {
    let function = lowered(text);
    let mut found = Vec::new();
    any_stmt(&function.kernels[0].body, |stmt| {
        if let StmtKind::Move(m) = &stmt.kind {
            found.push(m.elems);
        }
        false
    });
    found
}

/// The moves of a kernel with a statement for instance `p` of `n`.
fn of(params: &str, body: &str) -> Vec<u32> {
    moves(&format!(
        "__co__ void f({params}) {{
           parallel b by cdiv(N, 128) : block
             parallel t by 128 : thread {{ p = b # t; if (p < N) {{ {body} }} }}
         }}"
    ))
}

const X: &str = "f32 [N] x, f32 [N] & y, int n";

#[test]
fn neighbours_are_vectors() {
    // Two loads and a store for all four vectors of a thread, and for one.
    assert_eq!(of(X, "y.at(p) += x.at(p);"), [4; 6]);
    assert_eq!(of(X, "y.at(p) = x.at(p);"), [4; 4]);
    assert_eq!(of(X, "y.at(p) = 1.0f;"), [4; 2]);
    let halves = "f16 [N] x, f16 [N] & y";
    assert_eq!(of(halves, "y.at(p) = x.at(p);"), [8; 4]);
    let bytes = "s8 [N] x, s8 [N] & y";
    assert_eq!(of(bytes, "y.at(p) = x.at(p);"), [16; 2]);
    // The larger element decides.
    let both = "s8 [N] x, f64 [N] & y";
    assert_eq!(of(both, "y.at(p) = __to<f64>(x.at(p));"), [2; 4]);
}

#[test]
fn the_value_of_all_does_not_matter() {
    let row = "f64 [1] gain, f32 [N] x, f32 [N] & y";
    let body = "y.at(p) = x.at(p) * __to<f32>(gain.at(0));";
    assert_eq!(of(row, body), [4; 4]);
}

#[test]
fn other_places_are_no_vectors() {
    for body in [
        // Every other element, from the end, and beside a vector.
        "if (2 * p < N) y.at(2 * p) = 1.0f;",
        "y.at(N - 1 - p) = x.at(p);",
        "if (p + 1 < N) y.at(p) = x.at(p + 1);",
        // By data.
        "if (x.at(p) > 0.0f) y.at(p) = 1.0f;",
        "y.at(p) = n > 3 ? x.at(p) : 0.0f;",
        // Each element is one of several in a loop.
        "foreach k in n y.at(p) = x.at(p) + __to<f32>(k);",
    ] {
        assert_eq!(of(X, body), [], "{body}");
    }
    assert_eq!(of("bool [N] x, bool [N] & y", "y.at(p) = x.at(p);"), []);
}

#[test]
fn what_shows_the_thread_stays() {
    for body in [
        "y.at(p) = x.at(p); if (p == n) println(p);",
        "y.at(p) = x.at(p); __cpp__(\"__syncwarp();\");",
        "y.at(p) = x.at(p); __atomic_add(y.at(p), 1.0f);",
    ] {
        assert_eq!(of(X, body), [], "{body}");
    }
}

#[test]
fn instances_that_share_elements_stay() {
    assert_eq!(of(X, "y.at(p / 2) = x.at(p);"), []);
    // Two instances of different blocks have the same place.
    let text = "__co__ void f(f32 [128] x, f32 [128] & y, int n) {
       parallel b by n : block parallel t by 128 : thread y.at(t) = x.at(t);
     }";
    assert_eq!(moves(text), []);
}

#[test]
fn few_instances_stay() {
    let text = |n: u32| {
        format!(
            "__co__ void f(f32 [{n}] x, f32 [{n}] & y) {{
               parallel p by {n} y.at(p) = x.at(p);
             }}"
        )
    };
    assert_eq!(moves(&text(4096)), []);
    // Without a test: the vectors are aligned and whole.
    let blocks = |n: u32| {
        assert_eq!(moves(&text(n)), [4, 4]);
        lowered(&text(n)).kernels[0].grid[0].as_int()
    };
    // Groups of two vectors, and of four.
    assert_eq!(blocks(1 << 17), Some(64));
    assert_eq!(blocks(1 << 22), Some(1024));
}

#[test]
fn the_program_decides_about_threads() {
    let with = |attribute: &str| {
        let text = format!(
            "__co__ void f(f32 [N] x, f32 [N] & y) {{
               {attribute} parallel b by cdiv(N, 96) : block
                 parallel t by 96 : thread if (b # t < N) y.at(b # t) = x.at(b # t);
             }}"
        );
        moves(&text)
    };
    assert_eq!(with(""), [4; 4]);
    assert_eq!(with("[[launch_bounds(96, 2)]]"), []);
}

#[test]
fn a_shared_tile_stays() {
    let text = "__co__ void f(f32 [N] x, f32 [N] & y) {
       parallel b by cdiv(N, 128) : block {
         shared f32 [128] s;
         parallel t by 128 : thread { s.at(t) = 0.0f; if (b # t < N) s.at(t) = x.at(b # t); }
         parallel t by 128 : thread if (b # t < N) y.at(b # t) = s.at(127 - t);
       }
     }";
    assert_eq!(moves(text), []);
}

/// The moves of a kernel whose threads have a loop over neighbours: `t` of 32, `k # t` their vector.
fn of_loop(params: &str, body: &str) -> Vec<u32> {
    moves(&format!(
        "__co__ void f({params}) {{
           parallel r by M : block
             parallel t by 32 : thread {{
               f32 sum = 0.0f;
               {body}
               y.at(r, t) = sum;
             }}
         }}"
    ))
}

const ROWS: &str = "f32 [M, N] x, f32 [M, N] z, f32 [M, 32] & y, int n";

#[test]
fn neighbours_of_a_loop_are_vectors() {
    let row = "foreach k in [cdiv(N, 128)] foreach j in 4";
    let inside = "if ((k # t) # j < N)";
    let sum = "sum += x.at(r, (k # t) # j);";
    assert_eq!(of_loop(ROWS, &format!("{row} {inside} {sum}")), [4]);
    // Checks select between the ways.
    assert_eq!(of_loop(ROWS, &format!("{row} {sum}")), [4]);
    // What data decides about stays with its iteration, and so does a gather.
    let some = "if (z.at(r, (k # t) # j) > 0.0f) sum += x.at(r, (k # t) # j);";
    assert_eq!(of_loop(ROWS, &format!("{row} {inside} {{ {some} }}")), [4]);
    let halves = "f16 [M, N] x, f32 [M, N] z, f32 [M, 32] & y";
    let both = "sum += __to<f32>(x.at(r, (k # t) # j)) * z.at(r, (k # t) # j);";
    let eight = "foreach k in [cdiv(N, 256)] foreach j in 8";
    assert_eq!(
        of_loop(halves, &format!("{eight} {inside} {both}")),
        [8, 4, 4]
    );
}

#[test]
fn results_of_a_loop_are_vectors() {
    let params = "f32 [M, N] x, f32 [M, N] & z, f32 [M, 32] & y";
    let row = "foreach k in [cdiv(N, 128)] foreach j in 4 if ((k # t) # j < N)";
    let scale = "z.at(r, (k # t) # j) = 2.0f * x.at(r, (k # t) # j);";
    assert_eq!(of_loop(params, &format!("{row} {scale}")), [4, 4]);
    // Elements that another iteration has stored, and that data select.
    let running =
        "z.at(r, (k # t) # j) = z.at(r, (k # t) # j) + (j > 0 ? z.at(r, (k # t) # j - 1) : 0.0f);";
    assert_eq!(of_loop(params, &format!("{row} {{ {running} }}")), []);
    let some = "if (x.at(r, (k # t) # j) > 0.0f) z.at(r, (k # t) # j) = 1.0f;";
    assert_eq!(of_loop(params, &format!("{row} {{ {some} }}")), [4]);
}

#[test]
fn other_loops_have_no_vectors() {
    for body in [
        "foreach k in [cdiv(N, 32)] if (k # t < N) sum += x.at(r, k # t);",
        "foreach j in 3 if (3 * t + j < N) sum += x.at(r, 3 * t + j);",
        "foreach j in 4 if (2 * (t # j) < N) sum += x.at(r, 2 * (t # j));",
        "foreach j in 4 if (t # j < N) { if (x.at(r, t # j) > 0.0f) break; sum += 1.0f; }",
        // Only the first iterations have an element.
        "foreach j in 4 if (j > 0) sum += x.at(r, t # j);",
        "foreach j in n if (t * 4 + j < N) sum += x.at(r, t * 4 + j);",
        "foreach j in 4 if (t # j < N) { print(j); sum += x.at(r, t # j); }",
    ] {
        assert_eq!(of_loop(ROWS, body), [], "{body}");
    }
}

/// The conditions on the ways of `foreach k in 4`, of which each iteration has a vector.
fn conditions(index: &str, guard: &str) -> Vec<String> {
    let function = lowered(&format!(
        "__co__ void f(f32 [N] x, f32 [256] & y, int n) {{
           parallel by 1 : block parallel t by 256 : thread {{
             local f32 [16] v {{0.0f}};
             foreach k in [4] foreach j in [4] if ({guard}) v.at(k # j) = x.at({index});
             f32 sum = 0.0f;
             foreach i in [16] sum += v.at(i);
             y.at(t) = sum;
           }}
         }}"
    ));
    let mut found = Vec::new();
    any_stmt(&function.kernels[0].body, |stmt| {
        if let StmtKind::If { cond, .. } = &stmt.kind {
            found.push(integers(&function, cond));
        }
        false
    });
    found
}

/// The integers of a condition.
fn integers(function: &Function, cond: &Expr) -> String {
    let mut all = Vec::new();
    any_expr(cond, |e| {
        if let ExprKind::Index(sym) = &*e.kind {
            all.push(function.cx.show(sym));
        }
        false
    });
    all.join(" ")
}

/// The first iteration is not known to be number 0.
#[test]
fn a_loop_that_begins_elsewhere_tests_each_iteration() {
    let function = lowered(
        "__co__ void f(global f32 [N] x, global f32 [N] y, int first, int m) {
           parallel t by 64 : thread {
             with k in 8 {
               foreach k(first:) : unroll {
                 if (k * 4 + m >= 0)
                   foreach j in 4 y.at(32 * t + (k * 4 + m) + j) = x.at(32 * t + (k * 4 + m) + j);
               }
             }
           }
         }",
    );
    let without_loop = |stmts: &[crate::ir::threads::Stmt]| {
        any_stmt(stmts, |stmt| match &stmt.kind {
            StmtKind::If { then, .. } => any_stmt(
                then,
                |s| matches!(s.kind, StmtKind::For { unroll: Some(_), ref lo, .. } if !lo.is_zero()),
            ),
            _ => false,
        })
    };
    assert!(!without_loop(&function.kernels[0].body));
}

#[test]
fn one_test_for_all_iterations() {
    let found = conditions("(k # t) # j", "(k # t) # j < N");
    // The last iteration's, and then those of each.
    assert_eq!(found[0], "4 * t + 3075 N");
    assert_eq!(found[1], "1024 * k + 4 * t + 3 N");
    // Where the condition is not that of the first or the last iteration.
    let found = conditions("(k # t) # j", "((k # t) # j) * (n - k) < N");
    assert!(found[0].contains('k'), "{found:?}");
}

/// The elements of the sums by one instruction, and the conditions of both ways in the order of the text,
/// of a kernel with these statements for thread `t` of 32 and row `r`.
fn sums_of(params: &str, body: &str) -> (Vec<u32>, Vec<String>) {
    let function = lowered(&format!(
        "__co__ void f({params}) {{
           parallel r by M : block parallel t by 32 : thread {{ {body} }}
         }}"
    ));
    let mut elements = Vec::new();
    let mut conditions = Vec::new();
    any_stmt(&function.kernels[0].body, |stmt| {
        match &stmt.kind {
            StmtKind::Move(m) if matches!(m.mode, MoveMode::Add) => elements.push(m.elems),
            StmtKind::If { cond, .. } => {
                conditions.push(integers(&function, cond));
            }
            _ => {}
        }
        false
    });
    (elements, conditions)
}

const SUMS: &str = "f32 [M, N] x, f32 [M, N] & y, f16 [M, N] & h, s32 [M] to, int n";

#[test]
fn neighbours_are_added_together() {
    let of = |body: &str| sums_of(SUMS, body).0;
    let row = "i = 128 * r + 4 * t + j; if (4 * t + j < N)";
    let add = "__atomic_add(y.at(r, 4 * t + j), 2.0f);";
    assert_eq!(of(&format!("foreach j in 4 if (4 * t + j < N) {add}")), [4]);
    assert_eq!(
        of("foreach j in 2 if (2 * t + j < N) __atomic_add(y.at(r, 2 * t + j), 1.0f);"),
        [2]
    );
    let eight = "foreach j in 8 if (8 * t + j < N)";
    assert_eq!(
        of(&format!(
            "{eight} __atomic_add(h.at(r, 8 * t + j), __to<f16>(1.0f));"
        )),
        [8]
    );
    assert_eq!(
        of(&format!("{eight} __atomic_add(y.at(r, 8 * t + j), 1.0f);")),
        [4, 4]
    );
    let both = "{ __atomic_add(y.at(r, 8 * t + j), 1.0f); __atomic_add(h.at(r, 8 * t + j), __to<f16>(1.0f)); }";
    assert_eq!(of(&format!("{eight} {both}")), [4, 4, 8]);
    // A name of an iteration, and a row that data select, which is checked.
    assert_eq!(
        of(&format!(
            "foreach j in 4 {{ {row} {{ f32 v = x.at(r, 4 * t + j); __atomic_add(y.at(to.at(r), 4 * t + j), v * v); }} }}"
        )),
        [4]
    );
    // A loop around, of which nothing is known.
    assert_eq!(
        of(&format!(
            "foreach k in n foreach j in 4 if (4 * t + j < N) {add}"
        )),
        [4]
    );
}

/// Extents are tested in front of all loops, and then the first element of a vector stands for all.
#[test]
fn one_test_for_all_sums() {
    let body =
        "foreach k in n foreach j in 4 if (4 * t + j < N) __atomic_add(y.at(r, 4 * t + j), 1.0f);";
    let (_, conditions) = sums_of(SUMS, body);
    assert_eq!(conditions[..2], ["N % 4 0", "4 * t N"]);
    // Known while compiling.
    let known = "f32 [M, 128] & y, int n";
    let (elements, conditions) = sums_of(
        known,
        "foreach j in 4 __atomic_add(y.at(r, 4 * t + j), 1.0f);",
    );
    assert_eq!((elements, conditions.len()), (vec![4], 0));
    // The edge may be within a vector, or its place unknown: the last element is tested.
    let line = "f32 [N] & y, int n, int M";
    let inside = "foreach j in 4 if (4 * t + j < N) __atomic_add(y.at(4 * t + j), 1.0f);";
    let (elements, conditions) = sums_of(line, inside);
    assert_eq!((elements, conditions[0].as_str()), (vec![4], "4 * t + 3 N"));
    let place = "foreach j in 4 if (n + j < N && n >= 0) __atomic_add(y.at(n + j), 1.0f);";
    let (elements, conditions) = sums_of(line, place);
    assert_eq!(elements, [4]);
    assert!(conditions[0].contains("n % 4 0"), "{conditions:?}");
}

#[test]
fn other_sums_stay() {
    for body in [
        // Every second element, one element, and never aligned.
        "foreach j in 4 if (8 * t + 2 * j < N) __atomic_add(y.at(r, 8 * t + 2 * j), 1.0f);",
        "foreach j in 4 if (t < N) __atomic_add(y.at(r, t), 1.0f);",
        "foreach j in 4 if (4 * t + j + 1 < 128) __atomic_add(z.at(4 * t + j + 1), 1.0f);",
        // Three, and as many as data tell.
        "foreach j in 3 if (4 * t + j < N) __atomic_add(y.at(r, 4 * t + j), 1.0f);",
        "foreach j in n if (4 * t + j < N) __atomic_add(y.at(r, 4 * t + j), 1.0f);",
        // Data decide about an iteration.
        "foreach j in 4 if (4 * t + j < N) { if (x.at(r, 4 * t + j) > 0.0f) __atomic_add(y.at(r, 4 * t + j), 1.0f); }",
        // The value is used, or depends on a sum.
        "foreach j in 4 if (4 * t + j < N) { f32 was = __atomic_add(y.at(r, 4 * t + j), 1.0f); z.at(t) = was; }",
        "foreach j in 4 if (4 * t + j + 1 < N) __atomic_add(y.at(r, 4 * t + j), y.at(r, 4 * t + j + 1));",
        // Another operation, another type, and shared memory.
        "foreach j in 4 if (4 * t + j < N) __atomic_max(y.at(r, 4 * t + j), 1.0f);",
        "foreach j in 4 __atomic_add(whole.at(4 * t + j), 1);",
        "foreach j in 4 __atomic_add(own.at(4 * t + j), 1.0f);",
        // More happens in an iteration.
        "foreach j in 4 if (4 * t + j < N) { __atomic_add(y.at(r, 4 * t + j), 1.0f); z.at(4 * t + j) = 1.0f; }",
    ] {
        let params = format!("{SUMS}, f32 [128] & z, s32 [128] & whole");
        let text = format!(
            "__co__ void f({params}) {{
               parallel r by M : block {{
                 shared f32 [128] own;
                 parallel t by 32 : thread foreach j in 4 own.at(4 * t + j) = 0.0f;
                 parallel t by 32 : thread {{ {body} }}
               }}
             }}"
        );
        let mut found = 0;
        any_stmt(&lowered(&text).kernels[0].body, |stmt| {
            let added = matches!(&stmt.kind, StmtKind::Move(m) if matches!(m.mode, MoveMode::Add));
            found += usize::from(added);
            false
        });
        assert_eq!(found, 0, "{body}");
    }
}
