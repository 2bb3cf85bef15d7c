//! Device code of whole files: a golden file for review, and the spelling of error-prone
//! constructs.

use super::{FileMeta, device_text};
use crate::diagnostics::Diagnostics;
use crate::ir::{Function, FutureId, StmtKind};
use crate::passes;
use crate::sema::testing;

fn emitted(path: &str, text: &str) -> String {
    emitted_after(path, text, |_| {})
}

/// With `edit` between `sema` and the passes.
fn emitted_after(path: &str, text: &str, edit: fn(&mut Function)) -> String {
    let (file, program, mut diags) = testing::program(path, text);
    assert!(!diags.has_errors(), "{:#?}", diags.into_sorted());
    let limits = crate::pipeline::Options::default().shared_limits();
    let mut functions = Vec::new();
    for mut function in program {
        edit(&mut function);
        functions.extend(passes::run(function, limits, true, &mut diags));
    }
    assert!(!diags.has_errors(), "{:#?}", diags.into_sorted());
    let meta = FileMeta {
        stem: "sample".to_owned(),
        path: path.to_owned(),
        hash: "0badf00d".to_owned(),
        cuda: true,
        unchecked: false,
        reports: false,
    };
    device_text(&meta, &file, &functions)
}

/// Without directives and comments, each line trimmed.
pub(super) fn lines(text: &str) -> Vec<String> {
    let text = emitted("t.co", text);
    text.lines()
        .map(|l| l.trim().to_owned())
        .filter(|l| !l.starts_with('#') && !l.starts_with("//"))
        .collect()
}

/// The lines of a kernel with this body over an `s32 [64]` `x` and `y`.
pub(super) fn of_body(params: &str, body: &str) -> Vec<String> {
    lines(&format!(
        "__co__ auto f(s32 [64] x, {params}) {{
           s32 [64] y;
           {body}
           return y;
         }}"
    ))
}

#[track_caller]
pub(super) fn has(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|l| l == wanted), "{wanted}\nin {lines:#?}");
}

#[test]
fn a_file_as_people_read_it() {
    let source = include_str!("golden/sample.co");
    let text = emitted("kernels/sample.co", source);
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/emit/golden/sample.cc");
    if std::env::var_os("CROQ_BLESS").is_some() {
        std::fs::write(&path, &text).expect("golden file");
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == golden, "differs from golden/sample.cc:\n{text}");
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    let source = include_str!("golden/sample.co");
    assert_eq!(emitted("a.co", source), emitted("a.co", source));
}

#[test]
fn signed_arithmetic_wraps() {
    let l = of_body(
        "int n",
        "parallel p by 64 : thread y.at(p) = -x.at(p) * 3 - (n + x.at(p));",
    );
    has(
        &l,
        "y.store(p, int((0u - unsigned(x.load(p))) * 3u - (unsigned(n) + unsigned(x.load(p)))));",
    );
}

#[test]
fn narrow_integers_come_back_to_their_type() {
    let l = lines(
        "__co__ auto f(u8 [64] x) {
           u8 [64] y;
           parallel p by 64 : thread y.at(p) = x.at(p) * x.at(p) >> 2;
           return y;
         }",
    );
    has(
        &l,
        "y.store(p, (unsigned char)((unsigned char)(unsigned(x.load(p)) * unsigned(x.load(p))) >> 2));",
    );
}

#[test]
fn a_divisor_that_may_be_zero_is_looked_at() {
    let l = of_body(
        "s32 n",
        "parallel p by 64 : thread y.at(p) = x.at(p) / n + x.at(p) % 7;",
    );
    has(
        &l,
        "y.store(p, int(unsigned(croq::div<int>(x.load(p), n)) + unsigned(x.load(p) % 7)));",
    );
}

#[test]
fn nested_names_are_told_apart_and_text_sees_its_own() {
    let l = of_body(
        "int n",
        r#"parallel p by 64 : thread {
             s32 v = x.at(p);
             foreach k in 2 {
               s32 v = 5;
               __cpp__("y[k] = v;");
             }
             y.at(p) = v;
           }"#,
    );
    has(&l, "[[maybe_unused]] int *const y = y_handle.data();");
    has(&l, "int v = x.load(p);");
    has(&l, "int v_2 = 5;");
    has(&l, "y[k] = v_2;");
    has(&l, "y_handle.store(p, v);");
}

#[test]
fn keywords_and_macros_are_no_names() {
    let l = lines(
        "__co__ auto f(s32 [M] int_, s32 register, s32 NULL) {
           s32 [M] y;
           parallel p by M : thread y.at(p) = int_.at(p) + register + NULL;
           return y;
         }",
    );
    let text = l.join("\n");
    assert!(text.contains("int register_"), "{text}");
    assert!(!text.contains("NULL,") && !text.contains("NULL)"), "{text}");
}

#[test]
fn a_variable_does_not_hide_the_function_it_is_called_like() {
    let lines = lines(
        "struct tile {};
         template <typename T, int n> __device__ int soft(int v) { return v + n; }
         __co__ auto f(s32 [64] x) {
           s32 [64] y;
           parallel p by 64 {
             s32 soft = call soft<tile, 3>(x.at(p));
             s32 tile = soft;
             y.at(p) = tile;
           }
           return y;
         }",
    );
    has(&lines, "int soft_2 = soft<tile, 3>(x.load(p));");
    has(&lines, "int tile_2 = soft_2;");
}

#[test]
fn a_parameter_may_be_called_result() {
    let of = |ret: &str, body: &str| {
        lines(&format!(
            "__co__ {ret} f(s32 [64] x, s32 result) {{ {body} }}"
        ))
    };
    has(&of("s32", "return result;"), "args->result_ = result;");
    has(
        &of(
            "auto",
            "s32 [64] y; parallel p by 64 y.at(p) = x.at(p) + result; return y;",
        ),
        "args->result_ = y.data();",
    );
    has(
        &of("auto", "return x;"),
        "args->result_ = const_cast<void *>(static_cast<const void *>(x.data()));",
    );
}

#[test]
fn a_copy_walks_what_is_contiguous_as_one_and_guards_what_may_cross() {
    let l = lines(
        "__co__ auto f(f32 [M, 32] x) {
           f32 [M, 32] y;
           parallel r by cdiv(M, 4) : block {
             tile = dma.copy x.subspan(4, 32).at(r, 0) => shared;
             parallel t by 64 : thread tile.data.at(0, t % 32) += 1.0f;
             dma.copy tile.data => y.subspan(4, 32).at(r, 0);
           }
           return y;
         }",
    );
    has(
        &l,
        "if (thread * 2 < M * 32 - r * 128) croq::copy<2>(tile, thread * 2, x, r * 128 + thread * 2);",
    );
}

/// The address is computed once, and iterations add constants to it.
#[test]
fn a_copy_moves_the_widest_vectors_that_fit() {
    let l = lines(
        "__co__ auto f(f16 [M, 256] x) {
           f16 [M, 256] y;
           parallel {c, r} by [4, M / 64] : block {
             tile = dma.copy x.subspan(64, 64).at(r, c) => shared;
             parallel t by 128 : thread tile.data.at(0, t % 64) += __to<f16>(1.0f);
             dma.copy tile.data => y.subspan(64, 64).at(r, c);
           }
           return y;
         }",
    );
    let at = "const croq::idx e0 = thread / 8, e1 = thread % 8, \
              from = r * 16384 + e0 * 256 + c * 64 + e1 * 8, to = e0 * 64 + e1 * 8;";
    has(&l, at);
    has(
        &l,
        "CROQ_UNROLL for (croq::idx step = 0; step < 4; ++step) {",
    );
    has(
        &l,
        "croq::copy<8>(tile, to + step * 1024, x, from + step * 4096);",
    );
    let mut kernel = l.iter().take_while(|l| !l.starts_with("extern"));
    assert!(kernel.all(|l| !l.contains("if (")), "{l:#?}");
}

#[test]
fn strides_and_edges_are_looked_at_once() {
    let l = lines(
        "__co__ auto f(f16 [M, K] x) {
           f16 [M, K] y;
           parallel {c, r} by [cdiv(K, 64), cdiv(M, 64)] : block {
             tile = dma.copy x.subspan(64, 64).at(r, c) => shared;
             parallel t by 128 : thread tile.data.at(0, t % 64) += __to<f16>(1.0f);
             dma.copy tile.data => y.subspan(64, 64).at(r, c);
           }
           return y;
         }",
    );
    has(&l, "if (K % 8 == 0) {");
    has(&l, "if (r * 64 + 64 <= M && c * 64 + 64 <= K) {");
    has(
        &l,
        "if (step * 16 + e0 < M - r * 64 && e1 * 8 < K - c * 64) {",
    );
    has(
        &l,
        "croq::copy<8>(tile, to + step * 1024, x, from + step * (K * 16));",
    );
    has(
        &l,
        "CROQ_UNROLL_BY(4) for (croq::idx step = 0; step < 32; ++step) {",
    );
    has(&l, "if (step * 2 + e0 < M - r * 64 && e1 < K - c * 64) {");
    has(
        &l,
        "tile.store(to + step * 128, x.load(from + step * (K * 2)));",
    );
}

/// The elements are distributed over the grid.
#[test]
fn a_copy_between_kernels_is_shared_by_a_grid() {
    let l = lines(
        "__co__ auto f(f32 [M, N] x) {
           f32 [M, N] twice;
           parallel {j, i} by [N, M] twice.at(i, j) = x.at(i, j) * 2.0f;
           f = dma.copy twice => global;
           return f.data;
         }",
    );
    has(
        &l,
        "const croq::idx threads = croq::min(croq::idx(2048), (M * N + 1023) / 1024) * 256, thread = croq::block_x() * 256 + croq::tid();",
    );
    has(&l, "if (M * N % 4 == 0) {");
    has(
        &l,
        "for (croq::idx e = thread; e < M * N / 4; e += threads) {",
    );
    has(&l, "croq::copy<4>(f, e * 4, twice, e * 4);");
    has(&l, "for (croq::idx e = thread; e < M * N; e += threads) {");
    has(&l, "f.store(e, twice.load(e));");
}

/// Every thread closes its group, even if all its rows are outside; the memory is watched.
#[test]
fn asynchronous_copies_are_started_and_committed() {
    let text = "__co__ auto f(f16 [M, 64] x) {
           f16 [M, 64] y;
           parallel r by cdiv(M, 64) : block {
             tile = dma.copy.zfill x.subspan(64, 64).at(r, 0) => shared;
             dma.copy tile.data => y.subspan(64, 64).at(r, 0);
             parallel t by 128 : thread {}
           }
           return y;
         }";
    let text = emitted_after("t.co", text, |function| {
        for stmt in function.kernels.iter_mut().flat_map(|k| &mut k.body) {
            if let StmtKind::Copy(copy) = &mut stmt.kind
                && copy.zero_fill
            {
                copy.future = Some(FutureId(0));
            }
        }
    });
    let l: Vec<String> = text.lines().map(|l| l.trim().to_owned()).collect();
    has(
        &l,
        "const croq::watched<croq::f16> tile = croq::watched_at<croq::f16>(0, 4096, \"tile\");",
    );
    // One comparison, as an operand of the instruction: no second version for tiles inside.
    assert!(!text.contains("croq::cp_async<8>("), "{text}");
    has(
        &l,
        "croq::cp_async_zfill<8>(tile, to + step * 1024, x, from + step * 1024, step * 1024 + thread * 8 < M * 64 - r * 4096);",
    );
    has(&l, "croq::cp_async_commit();");
    assert!(
        text.contains("128, 8192, croq::asynchronous, x, croq::contend<CROQ_RECORDS_UNWRITTEN>(y)"),
        "{text}"
    );
}

#[test]
fn what_the_source_lacks_becomes_zero_or_the_padding() {
    let l = lines(
        "__co__ auto f(f32 [N] x) {
           f32 [4, 12] y;
           parallel r by 4 : block {
             tile = dma.copy.zfill x.subspan(8).at(r) => shared;
             wide = dma.pad<{1}, {3}, {0}, 2.0f> tile.data => shared;
             dma.copy wide.data => y.subspan(1, 12).at(r, 0).span_as(12);
           }
           return y;
         }",
    );
    has(
        &l,
        "tile_vector.store(e0, e0 < N - r * 8 ? x.load(r * 8 + e0) : 0.0f);",
    );
    has(
        &l,
        "wide.store(e0, 1 <= e0 && e0 < 9 ? tile.load(e0 - 1) : 2.0f);",
    );
}

#[test]
fn a_transposed_copy_reads_global_memory_in_order() {
    let l = lines(
        "__co__ auto f(f32 [8, 16] x) {
           f32 [16, 8] y;
           parallel b by 1 : block {
             t = dma.transp<1, 0> x => shared;
             parallel p by 128 : thread t.data.at(p / 8, p % 8) += 1.0f;
             dma.copy t.data => y;
           }
           return y;
         }",
    );
    has(&l, "const croq::idx e0 = thread / 16, e1 = thread % 16;");
    // Rows are padded by a word.
    has(&l, "t.store(e0 + e1 * 9, x.load(e0 * 16 + e1));");
}

/// Device functions of two files of a program may have the same name; included declarations are
/// outside of the namespace.
#[test]
fn own_cpp_stands_in_the_namespace_and_includes_do_not() {
    let text = emitted(
        "t.co",
        "#include <math.h>\n__device__ int more(int x) { return x; }\n\
         __cok__ {\n  #include \"two.h\"\n  __device__ int two() { return 2; }\n}\n\
         __co__ void f(s32 [1] &y) {\n  parallel p by 1 { mutable t = 0; t = call more(1); y.at(p) = t; }\n}\n",
    );
    let mut depth = 0;
    for line in text.lines() {
        if line.starts_with("namespace") {
            depth += 1;
        }
        if line.contains("#include \"two.h\"") || line.contains("#include <math.h>") {
            let before = &text[..text.find(line).unwrap_or(0)];
            let opens = |l: &&str| l.starts_with("namespace CROQ_SPACE") && l.ends_with('{');
            let open = before.lines().filter(opens).count();
            let closed = before.lines().filter(|l| *l == "}").count();
            assert_eq!(open, closed, "{text}");
        }
        if line.contains("int more(int x)") {
            let before = &text[..text.find(line).unwrap_or(0)];
            assert!(
                before.contains("namespace CROQ_SPACE(0badf00d) {"),
                "{text}"
            );
        }
    }
    assert!(depth >= 2, "{text}");
    assert!(text.contains("#line 4 \"t.co\"\n  #include"), "{text}");
    assert!(
        text.contains("#line 5 \"t.co\"\n  __device__ int two"),
        "{text}"
    );
}

/// The simulated GPU runs blocks in order if the result depends on it.
#[test]
fn atomics_and_the_order_of_blocks() {
    let text = |body: &str| {
        emitted(
            "t.co",
            &format!("__co__ void f(s32 [1] & n, f32 [1] & s, s32 [64] & y) {{ {body} }}"),
        )
    };
    let sum = text("parallel p by 64 { __atomic_add(n.at(0), 2); __atomic_cas(y.at(p), 1, 2); }");
    assert!(sum.contains("n.atomic_add(0, 2);"), "{sum}");
    assert!(sum.contains("y.atomic_cas(p, 1, 2);"), "{sum}");
    for (body, mode) in [
        ("parallel p by 64 __atomic_add(n.at(0), 2);", "croq::plain"),
        ("parallel p by 64 __atomic_xor(n.at(0), 2);", "croq::plain"),
        (
            "parallel p by 64 __atomic_add(s.at(0), 2.0f);",
            "croq::ordered",
        ),
        (
            "parallel p by 64 __atomic_exch(n.at(0), 2);",
            "croq::ordered",
        ),
        (
            "parallel p by 64 __atomic_cas(n.at(0), 2, 3);",
            "croq::ordered",
        ),
        (
            "parallel p by 64 { s32 was = __atomic_add(n.at(0), 2); y.at(p) = was; }",
            "croq::ordered",
        ),
        (
            "parallel p by 64 : block { s32 was = __atomic_add(n.at(0), 2);
               parallel t by 32 : thread y.at(p) = was; }",
            "croq::waits | croq::ordered",
        ),
        (
            "parallel p by 64 : block { shared f32 [1] a; shared s32 [1] b;
               parallel t by 32 : thread { a.at(0) = 0.0f; b.at(0) = 0; }
               parallel t by 32 : thread { __atomic_add(a.at(0), 1.0f); __atomic_exch(b.at(0), 1); } }",
            "croq::waits",
        ),
    ] {
        let text = text(body);
        let launch = text.lines().find(|l| l.contains("CROQ_LAUNCH("));
        let launch = launch.expect("a launch");
        assert!(
            launch.contains(&format!(", {mode}, ")) || launch.contains(&format!(", {mode})")),
            "{body}: {mode} in {launch}"
        );
    }
}

#[test]
fn a_launch_goes_to_the_stream_that_it_names() {
    let launches = |word: &str, stream: &str| {
        let text = lines(&format!(
            "__co__ void f(global s32 [64] x, stream s) {{
               {word} b by 64 : block {stream} x.at(b) = b;
               parallel b by 64 : block x.at(b) += 1;
             }}"
        ));
        let steps = text
            .iter()
            .filter_map(|line| match line.strip_prefix("host.") {
                Some(step) => step.strip_suffix(';'),
                None => line.starts_with("CROQ_LAUNCH(").then_some("launch"),
            });
        let about = steps.filter(|step| step.starts_with("next_on") || *step == "launch");
        about.collect::<Vec<&str>>().join(" ")
    };
    assert_eq!(launches("parallel", ""), "launch launch");
    for (word, overlaps) in [("parallel", false), ("parallel.async", true)] {
        assert_eq!(
            launches(word, "stream s"),
            format!("next_on(args->s, {overlaps}) launch launch")
        );
    }
    assert_eq!(
        launches("parallel.async", ""),
        "next_on(nullptr, true) launch launch"
    );
}

/// The arrival word of the grid barrier, and the line of the report if the grid does not fit.
#[test]
fn blocks_that_wait_for_each_other_get_what_they_count_in() {
    let l = lines(
        "__co__ auto f(s32 [64] x, int blocks) {
           s32 [64] y;
           parallel together by blocks : block<cooperative>, t by 32 : thread {
             y.at(t) = x.at(t);
             sync.barrier : device;
             y.at(t + 32) = y.at(31 - t) + together;
           }
           return y;
         }",
    );
    has(&l, "croq::barrier_grid(ctx, together);");
    has(&l, "const croq::idx together_2 = croq::block_x();");
    let launch = "croq::together{{croq::idx(blocks), 1, 1}, __LINE__}, 32, 0, croq::waits, x, \
                  croq::contend(y)";
    assert!(l.iter().any(|l| l.contains(launch)), "{l:#?}");
}

/// Device memory whose elements are each accessed by one instance has no checks; only memory that
/// two may access is checked.
#[test]
fn device_memory_that_instances_share() {
    let class = |body: &str| {
        let l = lines(&format!(
            "__co__ void f(global s32 [N, 64] y, global s32 [N] z, s32 [N] x, s32 k) {{ {body} }}"
        ));
        let kernel = l.iter().find(|l| l.starts_with("CROQ_KERNEL"));
        let kernel = kernel.map_or("", String::as_str);
        match (
            kernel.contains("contended<"),
            kernel.contains("global<int>"),
        ) {
            (true, _) => "contended",
            (false, true) => "global",
            _ => "neither",
        }
    };
    for own in [
        "parallel p by N { z.at(p) = x.at(p) * k; }",
        "parallel {p, q} by [N, 64] { y.at(p, q) = k; }",
        "parallel p by N : block, t by 64 : thread { y.at(p, t) += k; y.at(p, t) *= 2; }",
        "parallel p by N : block { s = dma.copy y.subspan(1, 64).at(p, 0) => shared;
           parallel t by 64 : thread s.data.at(0, t) += k;
           dma.copy s.data => y.subspan(1, 64).at(p, 0); }",
        "parallel p by N : block, t by 64 : thread { foreach j in [64] if (t == 0) y.at(p, j) = j; }",
        "parallel p by N { __atomic_add(z.at(x.at(p)), 1); }",
    ] {
        let wanted = if own.contains("t == 0") {
            "contended"
        } else {
            "global"
        };
        assert_eq!(class(own), wanted, "{own}");
    }
    for shared in [
        "parallel p by N { z.at(x.at(p)) = k; }",
        "parallel p by N { if (p > 0) z.at(p) = z.at(p - 1); }",
        "parallel p by N { z.at(p / 2) += k; }",
        "parallel p by N : block, t by 64 : thread { z.at(p) += k; }",
        "parallel p by N : block, t by 64 : thread { y.at(p, t) = k; z.at(p) = y.at(p, 63 - t); }",
        "parallel p by N { __atomic_add(z.at(x.at(p)), 1); x.at(0); z.at(p) = 0; }",
    ] {
        let shared = shared.replace("x.at(0); ", "");
        assert_eq!(class(&shared), "contended", "{shared}");
    }
}

/// Kernels are loaded before any launch waits, each launch has its number of waits, and the host
/// checks the number of triggers before it waits.
#[test]
fn the_host_counts_waits_and_triggers() {
    let text = "__co__ void f(global s32 [64] y) {
           global event go = ready;
           parallel.async by 1 : block, t by 64 : thread { wait go; y.at(t) = 1; wait go; }
           trigger go;
         }";
    let l = lines(text);
    let at = |wanted: &str| {
        let found = l.iter().position(|l| l.contains(wanted));
        found.unwrap_or_else(|| panic!("{wanted}\nin {l:#?}"))
    };
    let places = [
        "croq::await(ctx, go, 0);",
        "croq::barrier();",
        "croq::await(ctx, go, 1);",
        "host.load<decltype(&f_0), &f_0>()",
        "croq::event go(host, \"event: `go` is waited for {0} times, triggered {1}\", 1);",
        "host.next_on(nullptr, true);",
        "croq::waits, go.awaited(2, __LINE__), y)",
        "CROQ_TRY(go.trigger());",
    ]
    .map(at);
    assert!(places.is_sorted(), "{places:?} of {l:#?}");
    // The call triggers events, so it cannot be enqueued.
    let mut diags = Diagnostics::new();
    let limits = crate::pipeline::Options::default().shared_limits();
    let function = passes::run(testing::function(text), limits, true, &mut diags);
    let functions: Vec<_> = function.into_iter().collect();
    assert_eq!(
        super::rust::wrapper_names(&functions, &super::Declared::default()),
        ["f"]
    );
}

#[test]
fn a_warpgroup_synchronises_between_two_changes_of_its_registers() {
    let text = lines(
        "__co__ void f(global f32 [384] y) {
           parallel b by 1 : block
             parallel w by 3 : group-4, t by 128 : thread {
               inthreads.async (w == 0) { call croq::cuda::setreg_dec(32); y.at(w # t) = 0.0f; }
               inthreads.async (w > 0) {
                 call croq::cuda::setreg_inc(232);
                 y.at(w # t) = 1.0f;
                 call croq::cuda::setreg_dec(64);
               }
             }
         }",
    );
    let barrier = |number: usize| {
        text.get(number.wrapping_sub(1))
            .is_some_and(|line| line.contains("barrier"))
    };
    let changes: Vec<bool> = (0..text.len())
        .filter(|&number| text[number].starts_with("croq::set_max_registers"))
        .map(barrier)
        .collect();
    assert_eq!(changes, [false, false, true], "{text:#?}");
    let branches = text.iter().filter(|line| line.contains("if (w "));
    assert_eq!(branches.count(), 2, "{text:#?}");
}

#[test]
fn older_spellings_give_the_same_text() {
    let product = |attribute: &str, statement: &str, swizzle: &str, wait: &str| {
        lines(&format!(
            "__co__ void f(f16 [64, 64] a, f16 [64, 64] b, f32 [64, 64] & c) {{
               {attribute} parallel by 1 : block {{ {statement}
                 sa = dma.copy.swiz{swizzle} a => shared;
                 sb = dma.copy.swizzle{swizzle} b => shared;
                 parallel w by 1 : group-4 {{
                   acc = mma.fill.f32 0.0f;
                   x = mma.load.swizzle{swizzle} sa;
                   y = mma.load.swiz{swizzle} sb;
                   mma.row.row acc, x, y;
                   {wait}
                   mma.store acc, c;
                 }}
               }}
             }}"
        ))
    };
    let now = product("[[launch_bounds(_, 3)]]", "", "<128>", "mma.commit;");
    let bounds = |line: &String| line.starts_with("CROQ_KERNEL(128, 3)");
    assert!(now.iter().any(bounds), "{now:#?}");
    assert_eq!(
        product("", "launch_bounds(3);", "(128)", "mma.wait<0>;"),
        now
    );
}

/// All statements of a single thread are executed by the same lane: two consecutive ones need no
/// barrier in between.
#[test]
fn in_a_kernel_that_elects_a_lane_it_does_all_that_one_thread_does() {
    let text = lines(
        "__co__ void f(f32 [64, 64] x, f32 [64, 64] & y) {
           parallel b by 1 : block {
             shared f32 [64, 64] s;
             shared s32 [1] n;
             tma.copy x => s;
             n.at(0) = 3;
             parallel t by 64 : thread { y.at(0, t) = s.at(0, t) + __to<f32>(n.at(0)); }
           }
         }",
    );
    has(&text, "if (warp == 0 && elected) n.store(0, 3);");
    assert!(
        !text.iter().any(|line| line.contains("tid() == 0")),
        "{text:#?}"
    );
}

/// The thread's number is declared once, and the number of a warp is not copied to the program's
/// index.
#[test]
fn thread_numbers_are_declared_once() {
    let l = lines(
        "__co__ void f(global f16 [64, 64] x, global f16 [64, 64] y) {
           parallel b by 1 : block {
             t = tma.load.async x => shared;
             u = dma.copy y => shared;
             wait t;
             parallel w by 4 : group, l by 32 : thread
               y.at(w, l) = t.data.at(w, l) + u.data.at(w, l);
           }
         }",
    );
    has(
        &l,
        "const croq::idx thread = croq::tid(), warp = croq::warp();",
    );
    has(&l, "const croq::idx l = thread % 32;");
    assert_eq!(
        l.iter().filter(|l| l.contains("croq::tid()")).count(),
        1,
        "{l:#?}"
    );
    assert!(!l.iter().any(|l| l.contains("= warp;")), "{l:#?}");
}

/// A copy of a variable that is assigned while the copy is used remains; others are eliminated.
#[test]
fn copies_go_where_both_stay_the_same() {
    let l = lines(
        "__co__ void f(global f32 [8, 64] x, global f32 [64] y) {
           parallel b by 1 : block {
             a = dma.copy.async x.subspan(1, 64).at(0, 0) => shared;
             next = dma.any;
             foreach k in 7 {
               next = dma.copy.async x.subspan(1, 64).at(k + 1, 0) => shared;
               wait a;
               parallel t by 64 : thread y.at(t) += a.data.at(0, t);
               swap(a, next);
             }
             wait a;
           }
         }",
    );
    has(&l, "const croq::idx kept = a_tile;");
    assert!(
        !l.iter()
            .any(|l| l.contains("next_at") || l.contains("a_at")),
        "{l:#?}"
    );
    assert!(
        l.iter().any(|l| l.contains("a_ring.load(a_tile * 64 + ")),
        "{l:#?}"
    );
}

/// Macros are defined around the user's C++ only; one that no C++ mentions is omitted.
#[test]
fn macros_stand_around_the_text_that_mentions_them() {
    let text = emitted(
        "t.co",
        "#define WIDE 64
         #define TWICE(x) (BASE * (x))
         #define BASE 2
         __device__ int doubled(int x) { return TWICE(x); }
         #define SPLICED 7
         __co__ void f(global s32 [64] y) {
           parallel p by WIDE {
             s32 v = call doubled(3);
             __cpp__(\"v += SPLICED;\");
             y.at(p) = v;
           } }",
    );
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let count = |wanted: &str| lines.iter().filter(|l| **l == wanted).count();
    assert!(!text.contains("WIDE 64"), "{text}");
    for name in ["TWICE", "BASE"] {
        assert_eq!(count(&format!("#undef {name}")), 1, "{text}");
    }
    let around = [
        "#pragma push_macro(\"SPLICED\")",
        "#undef SPLICED",
        "#pragma pop_macro(\"SPLICED\")",
        "v += SPLICED;",
        "#pragma push_macro(\"SPLICED\")",
    ];
    let mut rest = lines.iter();
    for wanted in around {
        assert!(rest.any(|l| *l == wanted), "{wanted} in {text}");
    }
}

/// A statement from a macro is shown as in the macro's definition.
#[test]
fn statements_of_macros_keep_their_comments() {
    let text = emitted(
        "t.co",
        "#define BODY(k)          \\
           y.at(p) = x.at(p) + k; \\
           y.at(p) += 1;
         #define OUT y
         __co__ void f(global s32 [64] x, global s32 [64] y) {
           parallel p by 64 {
             BODY(2)
             OUT.at(p) -= 3;
           } }",
    );
    let comments: Vec<&str> = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("// "))
        .collect();
    let wanted = ["y.at(p) = x.at(p) + k;", "y.at(p) += 1;", "OUT.at(p) -= 3;"];
    assert!(wanted.iter().all(|w| comments.contains(w)), "{text}");
}

/// Accesses are proved by the values of immutable names.
#[test]
fn cpp_of_the_program_cannot_change_what_the_compiler_relies_on() {
    let body = |body: &str| {
        let text = format!(
            "__device__ int changed(int &v) {{ v += 1000; return v; }}
             __co__ s32 [N] f(s32 [N] x, s32 n) {{
               s32 [N] y;
               s32 of_host = n * 2;
               parallel p by N : thread {{ {body} y.at(p) = n + of_host; }}
               return y;
             }}"
        );
        lines(&text)
    };
    let kernel = |lines: &[String]| {
        let at = lines.iter().position(|l| l.starts_with("CROQ_KERNEL"));
        lines.get(at.unwrap()..).unwrap()[..2].join(" ")
    };
    let plain = kernel(&body(""));
    assert!(plain.contains(", int n, int of_host"), "{plain}");
    let called = kernel(&body("s32 r = call changed(n); y.at(N - 1) = r;"));
    let constant = ", const int n, const croq::idx N, const int of_host";
    assert!(called.contains(constant), "{called}");
    let text = body("foreach k in [N] { __cpp__(\"k += 1000;\"); y.at(k) = x.at(k); }");
    assert!(kernel(&text).contains(constant), "{text:#?}");
    has(
        &text,
        "for (croq::idx k_counter = 0; k_counter < N; ++k_counter) {",
    );
    has(&text, "const croq::idx k = k_counter;");
    has(&text, "y.store(k, x.load(k));");
}

/// The comparison of a narrow loop variable is of 32 bits: its bound must not be far below zero.
#[test]
fn loop_variables_of_32_bits_have_bounds_of_32_bits() {
    let loop_over = |params: &str, check: &str, bound: &str| {
        let text = format!(
            "__co__ void f(s32 [M, 64] x, global s32 [64] y, {params}) {{
               {check}
               parallel by 1 : block
                 foreach k in [{bound}] {{
                   tile = tma.load x.subspan(8, 64).at(0, 0) => shared;
                   parallel t by 64 : thread y.at(t) += tile.data.at(0, t);
                 }}
             }}"
        );
        let lines = lines(&text);
        lines.into_iter().find(|l| l.starts_with("for (")).unwrap()
    };
    let narrow = "for (int k = 0; k < int(count); ++k) {";
    assert_eq!(loop_over("s64 _n", "", "cdiv(M, 8)"), narrow);
    let of_32 = "for (int k = 0; k < int(croq::idx(n)); ++k) {";
    assert_eq!(loop_over("s32 n", "", "n"), of_32);
    let wide = "for (croq::idx k = 0; k < M - n; ++k) {";
    assert_eq!(loop_over("s64 n", "assert(n >= 0, \"n\");", "M - n"), wide);
}

/// A copy that completes an event is in flight until a thread waits for that event.
#[test]
fn plain_copies_complete_events_that_are_waited_for() {
    let issued = |wait: &str| {
        let text = lines(&format!(
            "__co__ void f(s32 [M, 64] x, global s32 [64] y, int n) {{
               parallel b by 1 : block {{
                 shared event full;
                 shared s32 [8, 64] tile;
                 parallel w by 2 : group-4, t by 128 : thread {{
                   inthreads.async (w == 0) {{
                     tma.copy x.subspan(8, 64).at(b, 0) => tile;
                     trigger full;
                   }}
                   inthreads.async (w == 1) {{ {wait} if (t < 64) y.at(t) = n; }}
                 }}
               }}
             }}"
        ));
        let load = text.into_iter().find(|l| l.starts_with("croq::tma_load"));
        load.unwrap()
    };
    assert!(issued("wait full;").ends_with("}, full, 0);"));
    for wait in ["", "if (n > 0) { wait full; }"] {
        let load = issued(wait);
        assert!(load.ends_with("}, tile_arrived, 0);"), "{load}");
    }
}

#[test]
fn a_comparison_with_itself_is_a_constant() {
    let text = lines(
        "__co__ void f(global s32 [P] x, global s32 [Q] y) {
           B = P - 1;
           assert(P == B + 1 && Q == P, \"as many\");
           parallel b by B : block parallel t by 32 : thread y.at(b) = x.at(b);
         }",
    );
    has(&text, "CROQ_REQUIRE(true && Q == P, 0);");
}
