//! The buffers and variables with marks, and the shared buffers whose reads need not be recorded.

use super::tests::{has, lines, of_body};

/// The lines of a thread that begins with `local s32 [4] v;`.
fn with_array(body: &str) -> Vec<String> {
    of_body(
        "s32 n",
        &format!("parallel p by 64 : thread {{ local s32 [4] v; {body} }}"),
    )
}

fn mentions(lines: &[String], part: &str) -> bool {
    lines.iter().any(|line| line.contains(part))
}

#[track_caller]
fn is_plain(body: &str) {
    let l = with_array(body);
    has(&l, "croq::local<int, 4> v;");
    assert!(!mentions(&l, "croq::tracked"), "{l:#?}");
}

#[track_caller]
fn has_marks(body: &str) {
    let l = with_array(body);
    has(&l, "croq::tracked_local<int, 4> v(\"v\");");
}

#[test]
fn what_is_written_on_every_way_has_no_marks() {
    let read = "foreach i in 4 y.at(p) += v.at(i);";
    is_plain(&format!("foreach i in 4 v.at(i) = n; {read}"));
    is_plain(&format!("foreach i in v.span v.at(i) = n; {read}"));
    is_plain("foreach i in 4 { v.at(i) = n; v.at(i) += 1; y.at(p) += v.at(i); }");
    is_plain("v.at(1) = n; y.at(p) = v.at(1);");
    is_plain(&format!(
        "if (n > 2) {{ foreach i in 4 v.at(i) = n; }} else {{ foreach i in 4 v.at(i) = 0; }} {read}"
    ));
    is_plain(&format!(
        "foreach k in 3 {{ foreach i in 4 v.at(i) = n; {read} }} {read}"
    ));
    let l = of_body(
        "s32 n",
        "parallel p by 64 : thread { local s32 [4] v{0}; v.at(n) += 1; y.at(p) = v.at(n); }",
    );
    has(&l, "croq::local<int, 4> v;");
}

#[test]
fn what_some_way_leaves_out_has_marks() {
    let read = "foreach i in 4 y.at(p) += v.at(i);";
    has_marks("foreach i in 4 v.at(i) += n; y.at(p) = v.at(0);");
    has_marks(&format!("foreach i in 3 v.at(i) = n; {read}"));
    has_marks(&format!(
        "if (n > 2) {{ foreach i in 4 v.at(i) = n; }} {read}"
    ));
    has_marks(&format!("foreach i in 4 if (i < n) v.at(i) = n; {read}"));
    has_marks(&format!(
        "foreach i in 4 {{ if (i == n) break; v.at(i) = n; }} {read}"
    ));
    has_marks(&format!(
        "foreach i in 4 {{ if (i == n) continue; v.at(i) = n; }} {read}"
    ));
    has_marks(&format!(
        "foreach k in [n] foreach i in 4 v.at(i) = n; {read}"
    ));
    has_marks(&format!(
        "while (n > y.at(p)) {{ foreach i in 4 v.at(i) = n; y.at(p) = n; }} {read}"
    ));
    has_marks("v.at(1) = n; y.at(p) = v.at(2);");
    has_marks(&format!("{read} foreach i in 4 v.at(i) = n;"));
}

#[test]
fn variables_have_marks_only_behind_such_reads() {
    let l = with_array("v.at(0) = n; s32 a = v.at(1); s32 b = a * 2; s32 c = n; y.at(p) = b + c;");
    has(&l, "croq::tracked<int> a = v.load(1);");
    has(&l, "int c = n;");
    has(
        &l,
        "y.store(p, croq::written(int(unsigned(croq::value_of(b)) + unsigned(c)), croq::in_memory));",
    );
    let l = with_array("if (v.at(n) > 1) y.at(v.at(2)) = 1;");
    has(
        &l,
        "if (croq::written(v.load(croq::idx(n)) > 1, croq::in_condition)) {",
    );
    assert!(mentions(&l, ", croq::in_address)"), "{l:#?}");
}

#[test]
fn what_another_declaration_in_a_loop_begins_anew() {
    let l = of_body(
        "s32 n",
        "parallel p by 64 : thread foreach k in 3 { local s32 [4] v; v.at(k) += 1; y.at(p) = v.at(0); }",
    );
    has(&l, "v.begin_anew(1);");
}

#[test]
fn shared_tiles() {
    let tile = |copy: &str| {
        lines(&format!(
            "__co__ auto f(s32 [M] x) {{
               s32 [M] y;
               parallel b by cdiv(M, 64) : block {{
                 shared s32 [64] s;
                 {copy}
                 parallel t by 64 : thread if (b # t < M) y.at(b # t) = s.at(63 - t);
               }}
               return y;
             }}"
        ))
    };
    let whole = "const croq::shared<int> s = croq::shared_at<int>(0, 64, \"s\", croq::phased);";
    has(&tile("dma.copy.zfill x.subspan(64).at(b) => s;"), whole);
    has(&tile("parallel t by 64 : thread s.at(t) = t;"), whole);
    let marked = "const croq::shared<int> s = croq::shared_at<int>(0, 64, \"s\", croq::phased | croq::marked_by(1));";
    has(&tile("dma.copy x.subspan(64).at(b) => s;"), marked);
    has(&tile("parallel t by 64 : thread s.at(t / 2) = t;"), marked);
    has(
        &tile("parallel t by 64 : thread if (t > b) s.at(t) = t;"),
        marked,
    );
}

#[test]
fn the_condition_of_a_while_is_read_behind_its_last_iteration() {
    let loop_with = |behind: &str| {
        of_body(
            "s32 n",
            &format!(
                "parallel b by 1 : block {{
                   shared s32 [1] s;
                   parallel t by 64 : thread {{
                     inthreads (t == 0) s.at(0) = n;
                     mutable s32 k = 0;
                     while (s.at(0) > k) {{ k += 1; sync.shared; }}
                     {behind}
                     y.at(t) = k;
                   }}
                 }}"
            ),
        )
    };
    let read_only = loop_with("");
    assert!(mentions(&read_only, "croq::phased"), "{read_only:#?}");
    let written = loop_with("if (t == 0) s.at(0) = 9;");
    assert!(!mentions(&written, "croq::phased"), "{written:#?}");
}

#[test]
fn tiles_of_threads_that_may_have_left() {
    let tile = |before: &str, behind: &str| {
        of_body(
            "s32 n",
            &format!(
                "parallel b by 1 : block {{
                   shared s32 [64] s;
                   {before}
                   dma.copy x => s;
                   {behind}
                   parallel t by 64 : thread y.at(t) = s.at(63 - t);
                 }}"
            ),
        )
    };
    let leave = "parallel t by 64 : thread { if (t < n) yield; }";
    let has_marks = |l: &[String]| mentions(l, "croq::marked_by");
    assert!(!has_marks(&tile("", "")));
    assert!(has_marks(&tile(leave, "")));
    assert!(!has_marks(&tile("", leave)));
    let in_a_loop = format!("foreach k in 2 {{ dma.copy x => s; {leave} }}");
    let l = of_body(
        "s32 n",
        &format!(
            "parallel b by 1 : block {{
               shared s32 [64] s;
               {in_a_loop}
               parallel t by 64 : thread y.at(t) = s.at(63 - t);
             }}"
        ),
    );
    assert!(has_marks(&l), "{l:#?}");
}

#[test]
fn branches_may_run_at_the_same_time() {
    let branches = |one: &str, other: &str| {
        of_body(
            "s32 n",
            &format!(
                "parallel b by 1 : block {{
                   shared s32 [64] s{{0}};
                   parallel t by 64 : thread {{
                     if (x.at(b) > n) {{ {one} }} else {{ {other} }}
                   }}
                 }}"
            ),
        )
    };
    let write = "s.at(63 - t) = n;";
    let reads = branches("y.at(t) = s.at(t);", "y.at(t) = s.at(63 - t);");
    assert!(mentions(&reads, "croq::phased"), "{reads:#?}");
    let one = branches("y.at(t) = s.at(t);", write);
    assert!(!mentions(&one, "croq::phased"), "{one:#?}");
    let other = branches("if (t > 3) y.at(t) = s.at(t);", write);
    assert!(!mentions(&other, "croq::phased"), "{other:#?}");
    // All threads take a branch with a barrier together.
    let read = "sync.shared; y.at(t) = s.at(t); sync.shared;";
    let apart = branches(read, &format!("sync.shared; {write} sync.shared;"));
    assert!(mentions(&apart, "croq::phased"), "{apart:#?}");
}

#[test]
fn reads_and_writes_with_no_barrier_between_are_written_down() {
    let l = of_body(
        "s32 n",
        "parallel b by 1 : block {
           shared s32 [64] s;
           parallel t by 64 : thread {
             s.at(t) = x.at(t);
             y.at(t) = s.at((t + n) % 64);
           }
         }",
    );
    has(
        &l,
        "const croq::shared<int> s = croq::shared_at<int>(0, 64, \"s\");",
    );
    let l = of_body(
        "s32 n",
        "parallel b by 1 : block {
           shared s32 [64] s;
           parallel t by 64 : thread {
             foreach k in [n] {
               s.at(t) = x.at(t) + k;
               sync.shared;
               y.at(t) = s.at((t + n) % 64);
             }
           }
         }",
    );
    has(
        &l,
        "const croq::shared<int> s = croq::shared_at<int>(0, 64, \"s\");",
    );
}
