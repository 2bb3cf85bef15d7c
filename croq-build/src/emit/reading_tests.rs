//! Readability of device code: names, comments, blocks.

use super::tests::{has, lines, of_body};

#[test]
fn a_name_is_used_again_where_it_hides_nothing_that_is_used() {
    let body = |inner: &str| {
        of_body(
            "int n",
            &format!(
                "parallel p by 64 : thread {{
                   s32 a = x.at(p);
                   foreach i in [2] {{ {inner} }}
                   y.at(p) = a;
                 }}"
            ),
        )
    };
    // The inner loop's `i` hides the outer one, which is not used in it.
    let l = body("foreach i in [3] { y.at(p) = i; }");
    has(&l, "for (croq::idx i = 0; i < 3; ++i) {");
    // Here the enclosing block uses it, so hiding it would cause a warning of nvcc.
    let l = body("foreach i in [3] { y.at(p) = i; } y.at(i) = 1;");
    has(&l, "for (croq::idx i_2 = 0; i_2 < 3; ++i_2) {");
    // Here the bound uses it.
    let l = body("foreach j in [i] { y.at(p) = j + i; }");
    has(&l, "for (croq::idx j = 0; j < i; ++j) {");
    // An assignment to the outer variable is a use.
    let l = body("{ s32 b = a; a = b + 1; }");
    has(&l, "a = int(unsigned(b) + 1u);");
}

/// The number of the thread is declared once, at the beginning of a kernel.
#[test]
fn one_prologue_has_the_thread_number() {
    let l = lines(
        "__co__ void f(global s32 [1] total, global s32 [1024] x) {
           parallel b by 4 : block {
             shared s32 [256] part;
             parallel t by 256 : thread part.at(t) = x.at(b # t);
             parallel t by 256 : thread { s32 v = part.at(255 - t); sync.shared; part.at(t) = v; }
             __atomic_add(total.at(0), part.at(0));
           }
         }",
    );
    let asked = l.iter().filter(|l| l.contains("croq::tid()"));
    assert_eq!(asked.count(), 1, "{l:#?}");
    has(&l, "const croq::idx thread = croq::tid();");
    has(&l, "if (thread == 0) total.atomic_add(0, part.load(0));");
    // A single level keeps its own name.
    let l = lines(
        "__co__ void f(global s32 [256] x, global s32 [256] y) {
           parallel b by 1 : block { parallel t by 256 : thread y.at(t) = x.at(t); }
         }",
    );
    has(&l, "const croq::idx t = croq::tid();");
}

/// Statements without effects are not printed, including their iteration counts; a `while` remains,
/// because it may be endless.
#[test]
fn there_are_no_empty_blocks() {
    let l = of_body(
        "int n",
        "parallel p by 64 : thread {
           if (n > 3) { }
           foreach i in [n] { if (p > 2) { } }
           if (n > 5) { } else { y.at(p) = 1; }
           mutable s32 a = n;
           while (a > 4) { }
         }",
    );
    let kernel: Vec<&str> = l
        .iter()
        .map(String::as_str)
        .skip_while(|l| !l.starts_with("CROQ_KERNEL"))
        .skip(1)
        .take_while(|l| !l.starts_with("extern"))
        .filter(|l| !l.is_empty())
        .collect();
    assert_eq!(
        kernel,
        [
            "const croq::idx p = croq::tid();",
            "if (!(croq::idx(n) > 5)) y.store(p, 1);",
            "int a = n;",
            "while (a > 4) {",
            "croq::turn();",
            "}",
            "}",
        ]
    );
}

/// A commit at the end of both branches of an `if` is moved after the `if`.
#[test]
fn a_commit_of_both_ways_stands_behind_the_branch() {
    let l = lines(
        "__co__ void f(global f32 [M, 64] x, global f32 [64] y) {
           parallel b by 1 : block {
             a = dma.copy.async x.subspan(1, 64).at(0, 0) => shared;
             next = dma.any;
             if (M > 1) { next = dma.copy.async x.subspan(1, 64).at(1, 0) => shared; }
             wait a;
             parallel t by 64 : thread y.at(t) = a.data.at(0, t);
             wait next;
           }
         }",
    );
    let commits = l.iter().filter(|l| l.contains("cp_async_commit"));
    assert_eq!(commits.count(), 2, "{l:#?}");
    assert!(!l.iter().any(|l| l == "} else {"), "{l:#?}");
}

/// The initial value of a fragment is not stored if it is overwritten before any use.
#[test]
fn overwritten_fills_go() {
    let of = |between: &str| {
        let l = lines(&format!(
            "__co__ void f(global f16 [64, 64] a, global f16 [64, 64] b, global f16 [64, 64] c) {{
               parallel by 1 : block {{
                 shared f16 [64, 64] as;
                 shared f16 [64, 64] bs;
                 shared f16 [64, 64] cs;
                 dma.copy a => as;
                 dma.copy b => bs;
                 parallel g by 1 : group-4 {{
                   acc = mma.fill.f32 0.0f;
                   mma.row.row acc, as, bs;
                   frag f16 [64, 64] narrow {{0}};
                   {between}
                   copy(narrow, acc);
                   mma.store narrow, cs;
                 }}
               }}
             }}"
        ));
        l.iter()
            .any(|l| l.contains("narrow.store(e, croq::to<croq::f16>(0.0));"))
    };
    assert!(!of(""));
    assert!(of(
        "apply {i, j} in narrow.span { narrow.at(i, j) = narrow.at(i, j) * narrow.at(i, j); }"
    ));
}
