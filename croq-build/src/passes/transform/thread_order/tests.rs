use super::{accesses, choose, orders};
use crate::ir::{Function, KernelId};
use crate::sema::testing;

fn chosen(function: &mut Function) -> String {
    let names: Vec<String> = (0..function.kernels.len())
        .map(|at| {
            choose(function, KernelId(at as u32));
            let fastest = &function.kernels[at].fastest;
            let names: Vec<&str> = fastest
                .iter()
                .map(|l| function.local(*l).name.as_str())
                .collect();
            names.join(" ")
        })
        .collect();
    names.join("; ")
}

/// The indices that were made the fastest, in each kernel of a function with this body.
fn fastest(body: &str) -> String {
    let text = format!(
        "__co__ auto f(f32 [M, N] x, f32 [64, 64] u, f32 [N] line, s32 n) {{
           f32 [64, 64] y;
           f32 [M, N] z;
           {body}
           return y;
         }}"
    );
    chosen(&mut testing::function(&text))
}

#[track_caller]
fn takes(order: &str, body: &str) {
    assert_eq!(fastest(body), order, "{body}");
}

/// A level whose last index should be the fastest, if the order is not observable.
const LEVEL: &str = "parallel {i, j} by [16, 16] : thread";

fn in_block(body: &str) -> String {
    format!("parallel b by 4 : block {{ {body} }}")
}

#[test]
fn adjacent_threads_access_adjacent_elements() {
    // The order in the program is already the best.
    takes(
        "",
        "parallel {j, i} by [16, 16] : thread y.at(i, j) = u.at(i, j);",
    );
    takes(
        "j",
        "parallel {i, j} by [16, 16] : thread y.at(i, j) = u.at(i, j);",
    );
    takes(
        "j",
        "parallel {i, j} by [16, 16] : thread y.at(i, j) = u.at(i, j) + line.at(j);",
    );
    // One level over a grid, of sizes that the caller determines.
    takes(
        "j",
        "parallel {i, j} by [M, N] z.at(i, j) = x.at(i, j) * 2.0f;",
    );
    takes(
        "",
        "parallel {j, i} by [N, M] z.at(i, j) = x.at(i, j) * 2.0f;",
    );
    takes(
        "j",
        "parallel {b, c} by [4, 4], {i, j} by [16, 16] y.at(b # i, c # j) = 1.0f;",
    );
    takes(
        "k",
        "parallel {h, i, k} by [2, 8, 32] : thread y.at(h * 8 + i, k) = 1.0f;",
    );
    // Accesses in a loop count once per iteration.
    takes(
        "",
        "parallel {m, n} by [16, 16] : thread {
             f32 s = 0.0f;
             foreach k in [64] s += u.at(n, m);
             y.at(m, n) = s;
             y.at(m, n) += 1.0f;
           }",
    );
    // A broadcast costs little.
    takes(
        "n",
        "parallel {m, n} by [64, 16] : thread {
             foreach k in [64] y.at(m, n) += u.at(m, k) * u.at(k, n);
           }",
    );
    takes(
        "",
        "parallel {m, n} by [16, 16] : thread {
             f32 s = 0.0f;
             foreach k in [64] s += u.at(k, m) * u.at(n, k);
             y.at(m, n) = s;
           }",
    );
    takes(
        "i",
        "parallel {h, i} by [16, 16] : thread foreach k in [4] y.at(k * 16 + h, i) = 0.0f;",
    );
    // By names for expressions, quotients and remainders.
    takes(
        "j",
        "parallel {i, j} by [16, 16] : thread { r = i * 4; c = j + 1; y.at(r, c) = 1.0f; }",
    );
    takes(
        "j",
        "parallel {i, j} by [4, 256] : thread { q = i * 256 + j; y.at(q / 64, q % 64) = 1.0f; }",
    );
    takes(
        "j",
        "parallel b by 4 : block parallel w by 2 : group-4 {
             parallel {i, j} by [8, 16] : thread y.at(w * 8 + i, b * 16 + j) = 1.0f; }",
    );
    takes(
        "j",
        "parallel {i, j} by [16, 16] : thread {
             v = dma.copy u.subspan(1, 1).at(i, j) => local; y.at(0, 0) = v.data.at(0, 0); }",
    );
}

#[test]
fn ties_keep_the_order_of_the_program() {
    takes(
        "",
        "parallel {i, j} by [16, 16] : thread y.at(0, 0) = 1.0f;",
    );
    takes(
        "",
        "parallel {i, j} by [16, 16] : thread y.at(i, j) = u.at(j, i);",
    );
}

#[test]
fn banks_decide_where_global_memory_does_not() {
    takes(
        "j",
        &in_block("shared f32 [32, 32] a; parallel {i, j} by [32, 32] : thread a.at(i, j) = 1.0f;"),
    );
    takes(
        "",
        &in_block("shared f32 [32, 33] a; parallel {i, j} by [32, 32] : thread a.at(i, j) = 1.0f;"),
    );
    // Global memory comes first.
    takes(
        "",
        &in_block(
            "shared f32 [32, 32] a; parallel {i, j} by [32, 32] : thread a.at(i, j) = u.at(j, i);",
        ),
    );
}

#[test]
fn each_level_has_its_own_order() {
    let shared = "shared f32 [16, 17] a;";
    takes(
        "j",
        &in_block(&format!(
            "{shared}
        {LEVEL} a.at(i, j) = u.at(i, j);
        parallel {{k, l}} by [16, 16] : thread y.at(l, k) = a.at(k, l);"
        )),
    );
    // Among equal costs, the order of another level.
    takes(
        "j l",
        &in_block(&format!(
            "{shared}
        {LEVEL} y.at(i, j) = 1.0f;
        parallel {{k, l}} by [16, 16] : thread y.at(0, 0) = u.at(l, k) + u.at(k, l);"
        )),
    );
}

#[test]
fn an_observable_order_remains() {
    let store = "y.at(i, j) = 1.0f;";
    for also in [
        "s32 id = 0; __cpp__(\"id = threadIdx.x;\");",
        "call helper(i);",
        "f32 v = call helper(j); y.at(i, j) = v;",
        "println(i);",
        "sync.local;",
        "sync.barrier : group-4;",
        "trigger e;",
        "wait e;",
        "inthreads (i < 8) y.at(j, i) = 2.0f;",
    ] {
        let text = format!("shared event e; {LEVEL} {{ {store} {also} }}");
        takes("", &in_block(&text));
    }
    let mma = "shared f16 [16, 16] m; shared f32 [16, 8] r;
        parallel w by 8 : group {
          acc = mma.fill.f32 0.0f; fa = mma.load m; fb = mma.load m.subspan(8, 16).at(0, 0);
          mma.row.row acc, fa, fb; mma.store acc, r;
        }";
    takes("", &in_block(&format!("{LEVEL} {{ {store} }} {mma}")));
    takes(
        "j",
        &in_block(&format!("{LEVEL} {{ {store} sync.shared; }}")),
    );
    takes(
        "",
        &in_block(&format!("{LEVEL} {{ {store} }} __cpp__(\"int u;\");")),
    );
    takes(
        "",
        &in_block(&format!("call setup(); {LEVEL} {{ {store} }}")),
    );
    // Printed by a single thread.
    takes(
        "j",
        &in_block(&format!("{LEVEL} {{ {store} }} println(b);")),
    );
}

#[test]
fn levels_with_common_private_values_have_one_order() {
    let kept = "local f32 [1] v; mutable f32 s = 0.0f;";
    let same = "parallel {k, l} by [16, 16] : thread";
    let other = "parallel {k, l} by [64, 4] : thread";
    let flat = "parallel t by 256 : thread";
    let warps = "parallel w by 8 : group";
    // Of another shape, or by other units: the threads would not be the same.
    for (write, read) in [
        ("v.at(0) = u.at(i, j);", "v.at(0)"),
        ("s = u.at(i, j);", "s"),
    ] {
        let written = format!("{kept} {LEVEL} {{ {write} }}");
        for level in [other, flat, warps] {
            takes(
                "",
                &in_block(&format!("{written} {level} y.at(b, 0) += {read};")),
            );
        }
        takes(
            "j l",
            &in_block(&format!("{written} {same} y.at(k, l) = {read};")),
        );
        // A common order is better for both.
        takes(
            "",
            &in_block(&format!(
                "{written} {same} foreach q in [4] y.at(l, k) += {read};"
            )),
        );
        // Each thread does the same with its own value in between.
        takes(
            "j l",
            &in_block(&format!(
                "{written} s = s * 2.0f; v.at(0) = v.at(0) + s; {same} y.at(k, l) = {read};"
            )),
        );
        // One thread's value is used by all.
        takes(
            "",
            &in_block(&format!(
                "{written} println({read}); {same} y.at(k, l) = {read};"
            )),
        );
        takes(
            "",
            &in_block(&format!(
                "{written} y.at(0, 0) += {read}; {same} y.at(k, l) = {read};"
            )),
        );
    }
    // Used by no other level.
    takes(
        "j",
        &in_block(&format!(
            "{kept} {LEVEL} {{ s = u.at(i, j); y.at(i, j) = s; }}"
        )),
    );
    takes(
        "j",
        &in_block(&format!(
            "{LEVEL} {{ mutable f32 m = 1.0f; m = m + u.at(i, j); y.at(i, j) = m; }} {other} y.at(l, k) = 1.0f;"
        )),
    );
    // The same for all threads: there is no private value.
    takes(
        "j",
        &in_block(&format!(
            "{kept} s = s + 1.0f; {LEVEL} y.at(i, j) = s; {flat} y.at(0, 0) = s;"
        )),
    );
    // Through another variable, and by a condition.
    takes(
        "",
        &in_block(&format!(
            "{kept} mutable f32 r = 0.0f; {LEVEL} s = u.at(i, j); r = s; {flat} y.at(0, t / 4) = r;"
        )),
    );
    takes(
        "",
        &in_block(&format!(
            "{kept} mutable f32 r = 0.0f; {LEVEL} s = u.at(i, j);
         if (s > 0.0f) r = 1.0f; {flat} y.at(0, t / 4) = r;"
        )),
    );
}

#[test]
fn an_exited_thread_is_only_observable_later() {
    let body = "{ if (u.at(i, j) > 0.0f) yield; y.at(i, j) = 1.0f; }";
    takes("j", &in_block(&format!("{LEVEL} {body}")));
    takes(
        "j",
        "parallel {i, j} by [M, N] { if (i > n) yield; z.at(i, j) = 1.0f; }",
    );
    takes("", &in_block(&format!("{LEVEL} {body} {LEVEL} {body}")));
    takes(
        "",
        &in_block(&format!("foreach k in [2] {{ {LEVEL} {body} }}")),
    );
    takes(
        "",
        &in_block(&format!(
            "shared f32 [64, 64] a; {LEVEL} {body} dma.copy a => y;"
        )),
    );
    takes(
        "",
        &format!(
            "parallel b by 4 : block parallel w by 2 : group-4 {{
             parallel {{i, j}} by [8, 16] : thread {body}
             parallel {{i, j}} by [8, 16] : thread y.at(i, j) = 1.0f;
           }}"
        ),
    );
}

#[test]
fn merged_levels_and_groups_remain() {
    takes("", "parallel b by 2, p by 8, q by 16 y.at(q, p) = 1.0f;");
    takes(
        "",
        "parallel b by 2 : block parallel {v, w} by [2, 4] : group y.at(v, w) = 1.0f;",
    );
    takes(
        "r",
        "parallel b by 2, p by 4, {q, r} by [4, 16] y.at(p * 4 + q, r) = 1.0f;",
    );
    takes(
        "",
        "parallel b by 2, {q, r} by [4, 16], p by 4 y.at(p * 4 + q, r) = 1.0f;",
    );
}

/// The memory accesses of the workspace's kernels in levels with several indices: the number of
/// those by which a warp touches no more than 32 adjacent elements, and of all. The others are of
/// rows shorter than a warp, or of the adjacent elements to the left and right of a line.
#[test]
fn accesses_of_the_workspace() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/co");
    let mut files = Vec::new();
    crate::passes::transform::barriers::races::co_files(&root, &mut files);
    let (mut good, mut all) = (0, 0);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a kernel");
        for function in testing::program("k.co", &text).1 {
            for kernel in 0..function.kernels.len() {
                for (candidate, order) in orders(&function, KernelId(kernel as u32)) {
                    let (few, any) = accesses::coalesced(&function, &candidate, order);
                    good += few;
                    all += any;
                }
            }
        }
    }
    assert_eq!((good, all), (54, 79));
}
