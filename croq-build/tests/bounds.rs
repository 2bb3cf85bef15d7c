//! `croq check` is bounded: whatever 64 KB of text say, it ends with a report, soon, in little memory and
//! with little output. Inputs are generated; each runs in a process of its own with limits of the
//! operating system. The limits are those of a build without optimisation, about ten times what a
//! released `croq` takes; that of time is also for machines with other work, which took three times the
//! processor time of a quiet one.

use std::fmt::Write as _;
use std::process::Command;

/// Of processor time, in seconds.
const SECONDS: u32 = 40;
/// Of address space, in KiB.
const MEMORY: u32 = 700_000;
/// Of output, in bytes: a hundred reports.
const OUTPUT: usize = 200_000;

/// The size of inputs that repeat something.
const SIZE: usize = 64 * 1024;

const HEAD: &str = "__co__ void f(global f32 [N] x) {\n";
const KERNEL: &str = "__co__ void f(global f32 [N] x) {\nparallel p by N {\n";

fn fill(unit: &str) -> String {
    unit.repeat(SIZE / unit.len())
}

/// `line(0)`, `line(1)` … until there is enough.
fn lines(line: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    let mut at = 0;
    while out.len() < SIZE - 2000 {
        out.push_str(&line(at));
        out.push('\n');
        at += 1;
    }
    out
}

fn joined(separator: &str, n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(separator)
}

fn host(body: &str) -> String {
    format!("{HEAD}{body}\n}}\n")
}

fn kernel(body: &str) -> String {
    format!("{KERNEL}{body}\n}}\n}}\n")
}

/// In a block of 64 threads.
fn threads(body: &str) -> String {
    format!(
        "__co__ void f(global f32 [64] x) {{\nparallel b by 1 : block, t by 64 : thread {{\n{body}\n}}\n}}\n"
    )
}

/// Regions of one thread each that run at the same time, `around` all of them.
fn regions(around: &str, n: usize, body: impl Fn(usize) -> String) -> String {
    let all = joined("\n", n, |i| {
        format!("inthreads.async (t == {i}) {{ {} }}", body(i))
    });
    format!(
        "__co__ void f(global f32 [1024] x) {{ parallel b by 1 : block {{ shared f32 [1024] s; shared event e[3];\n\
         parallel t by 1024 : thread {{ {around} {{\n{all}\n}} }} }} }}\n"
    )
}

fn nested(open: &str, n: usize, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

/// Loops each of which has `body` of its depth and the next one.
fn nested_loops(n: usize, body: impl Fn(usize) -> String) -> String {
    let open = joined(" ", n, |k| format!("foreach k{k} in [2] {{ {}", body(k)));
    format!("{open}{}", "}".repeat(n))
}

/// Macros each of which holds the one before twice.
fn doubling(n: usize) -> String {
    doubling_of(n, "1+1", "+")
}

fn doubling_of(n: usize, first: &str, between: &str) -> String {
    let mut out = format!("#define A0 {first}\n");
    for i in 0..n {
        let _ = writeln!(out, "#define A{} A{i}{between}A{i}", i + 1);
    }
    out
}

/// Named integers, each from the one before.
fn chain(n: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    let mut out = format!("__co__ void f(global f32 [N, M] x) {{\nint a0 = {first};\n");
    for i in 0..n {
        let _ = writeln!(out, "int a{} = {};", i + 1, next(i));
    }
    let _ = writeln!(out, "assert(a{n} > 3, \"no\");\n}}");
    out
}

fn syntax() -> Vec<(&'static str, String)> {
    vec![
        ("braces on a line", "}".repeat(16_000)),
        ("braces on a line of a function", host(&"}".repeat(16_000))),
        ("open braces", host(&"{".repeat(16_000))),
        (
            "parentheses",
            host(&format!("int a = {};", nested("(", 16_000, "1", ")"))),
        ),
        (
            "minuses",
            host(&format!("int a = {}1;", "-".repeat(30_000))),
        ),
        (
            "nots",
            host(&format!("if ({}true) {{}}", "!".repeat(30_000))),
        ),
        (
            "else if",
            host(&format!(
                "mutable int a = 0; {} a = 2;",
                fill("if (N > 3) a = 1; else ")
            )),
        ),
        (
            "ifs",
            host(&format!("{} x.at(0) = 1;", fill("if (N > 3) "))),
        ),
        (
            "long sum",
            kernel(&format!(
                "x.at(p) = {};",
                joined("+", 6000, |_| "x.at(p)".into())
            )),
        ),
        (
            "sums",
            kernel(&lines(|_| {
                format!("x.at(p) = {};", joined("+", 200, |_| "x.at(p)".into()))
            })),
        ),
        (
            "at of at",
            kernel(&format!("x.at(p) = {};", nested("x.at(", 5000, "p", ")"))),
        ),
        (
            "ternaries",
            host(&format!("int a = {}1;", fill("N > 1 ? 2 : "))),
        ),
        ("syntax errors on a line", host(&fill("= ; "))),
        ("unknown characters", host(&fill("@ "))),
        ("quotes", host(&fill("\" ' "))),
        ("list", host(&format!("a = {{{}1}};", fill("1, ")))),
        ("shape", host(&format!("f32 [{}1] y;", fill("1, ")))),
        ("integer", host(&format!("int a = {};", "9".repeat(60_000)))),
        (
            "float",
            kernel(&format!("x.at(p) = 1.{}f;", "9".repeat(60_000))),
        ),
        (
            "exponent",
            kernel(&format!("x.at(p) = 1e{}f;", "9".repeat(60_000))),
        ),
        (
            "string",
            kernel(&format!("assert(false, \"{}\");", "a".repeat(60_000))),
        ),
        (
            "name",
            format!(
                "__co__ void f(global f32 [N] {}) {{}}\n",
                "a".repeat(60_000)
            ),
        ),
        (
            "line of a megabyte",
            host(&format!("{} q = z;", " ".repeat(1_000_000))),
        ),
        (
            "comment of a megabyte",
            host(&format!("/* {} */ q = z;", "c".repeat(1_000_000))),
        ),
        ("NUL bytes", "\0".repeat(SIZE)),
        ("carriage returns", host(&"q = z;\r".repeat(9000))),
    ]
}

fn islands() -> Vec<(&'static str, String)> {
    let deep = lines(|i| format!("#define A{} (A{i})", i + 1));
    vec![
        (
            "device braces",
            format!("__device__ void f() {{{}", "}".repeat(16_000)),
        ),
        (
            "open device braces",
            format!("__device__ void f() {{{}", "{".repeat(60_000)),
        ),
        ("device functions", fill("__device__ void f();\n")),
        ("open conditionals", fill("#if 1\n")),
        (
            "parentheses of a condition",
            format!("#if {}1\n#endif\n", "(".repeat(30_000)),
        ),
        (
            "nots of a condition",
            format!("#if {}1\n#endif\n", "!".repeat(30_000)),
        ),
        (
            "macros that double",
            format!("{}{}", doubling(30), host("int a = A30;")),
        ),
        (
            "condition of macros that double",
            format!("{}#if A30\n#endif\n{}", doubling(30), host("")),
        ),
        (
            "functions of macros that double",
            format!(
                "{}{}",
                doubling(30),
                lines(|i| format!("__co__ void f{i}(global f32 [N] x) {{ int a = A30; }}"))
            ),
        ),
        (
            "loops of a macro that doubles",
            format!(
                "{}{}",
                doubling_of(12, "foreach i in [2] { x.at(i) = 1.0f; }", " "),
                kernel("A12")
            ),
        ),
        (
            "launches of a macro that doubles",
            format!(
                "{}{}",
                doubling_of(12, "parallel p by N x.at(p) = 1.0f;", " "),
                host("A12")
            ),
        ),
        (
            "conditions of macros that double",
            format!("{}{}{}", doubling(30), fill("#if A30\n#endif\n"), host("")),
        ),
        (
            "condition of empty macros that double",
            format!(
                "#define E()\n{}#if A28 0\n#endif\n{}",
                doubling_of(28, "E()", " "),
                host("")
            ),
        ),
        (
            "templates of macros that double",
            format!(
                "{}{}",
                doubling(30),
                lines(|i| format!(
                    "template <int K = A30> __co__ void f{i}(global f32 [K] x) {{}}"
                ))
            ),
        ),
        (
            "deep macros",
            format!("#define A0 1\n{deep}{}", host("int a = A1500;")),
        ),
        (
            "nested macro calls",
            format!("#define F(x) x x\n{}", host(&nested("F(", 30, "a", ")"))),
        ),
        (
            "errors in a macro",
            format!("#define Q z = q;\n{}", host(&fill("Q "))),
        ),
        ("includes", fill("#include \"a.h\"\n")),
        ("pragmas", fill("#pragma croq\n")),
        (
            "dead text",
            format!("#if 0\n{}#endif\n", fill("garbage } { \"\n")),
        ),
        ("host text", fill("int g(int a) { return a; }\n")),
    ]
}

fn names() -> Vec<(&'static str, String)> {
    let parameters = |separator, item: fn(usize) -> String| {
        format!("__co__ void f({}) {{}}\n", joined(separator, 2000, item))
    };
    let letters: String = "abcdefgh".into();
    let declared = joined("\n", 1000, |i| format!("f32 {letters}{i} = x.at(p);"));
    let misspelt = joined("\n", 1000, |i| format!("f32 q{i} = abcdefg{i};"));
    vec![
        (
            "unused parameters on a line",
            parameters(", ", |i| format!("int parameter_{i}")),
        ),
        (
            "unused parameters",
            parameters(",\n", |i| format!("int parameter_{i}")),
        ),
        (
            "unused tensors",
            parameters(", ", |i| format!("f32 [N{i}, 3] p{i}")),
        ),
        ("unknown names", host(&fill("q = z;\n"))),
        ("unknown names on a line", host(&fill("q = z;"))),
        ("unknown names of a kernel", kernel(&fill("z.at(p) = 1;"))),
        ("misspelt names", kernel(&format!("{declared}\n{misspelt}"))),
        (
            "unused variables",
            host(&lines(|i| format!("int v{i} = 1;"))),
        ),
        (
            "functions of one name",
            fill("__co__ void f(global f32 [N] x) {}\n"),
        ),
        ("unknown device functions", kernel(&fill("call g(x, p);\n"))),
        (
            "names that can't be in C++ text",
            kernel(&format!(
                "mutable f32 errno = 1.0f; {}",
                fill("__cpp__(\"errno\");\n")
            )),
        ),
    ]
}

fn integers() -> Vec<(&'static str, String)> {
    let sizes = |n| joined(", ", n, |i| format!("global f32 [A{i}, B{i}] p{i}"));
    let product = |n| joined(" * ", n, |i| format!("(A{i} + B{i})"));
    let of = |n| {
        let (sizes, product) = (sizes(n), product(n));
        format!("__co__ void f({sizes}) {{ int a = {product}; assert(a > 3, \"no\"); }}\n")
    };
    vec![
        (
            "tiles whose sizes bound each other",
            "__co__ void f(s32 [A, B, C] & x, s32 [8] & y, int a, int b, int n) {\n\
             parallel p by n : block parallel t by 8 : thread {\n\
             __atomic_add(y.at(t), x.subspan(b, n, b).step(3, _, b).at(t - 3, b, p * 2)\n\
             .span_as(1, 8, 6).span_as(1, 48, 1).at(0, 0, t % 1));\n}\n}\n"
                .to_owned(),
        ),
        ("product of 10 sums", of(10)),
        ("product of 30 sums", of(30)),
        ("product of 100 sums", of(100)),
        ("squares", chain(30, "N + M", |i| format!("a{i} * a{i}"))),
        (
            "quotients",
            chain(500, "N", |i| format!("(a{i} + M) / {}", i + 2)),
        ),
        (
            "sums of quotients",
            chain(40, "N / 3", |i| {
                format!("(a{i} + {i}) / 3 + (a{i} + 1) / 5")
            }),
        ),
        (
            "minima",
            chain(200, "N", |i| format!("__min(a{i}, a{i} + M)")),
        ),
        (
            "assertions",
            host(&lines(|i| format!("assert(N > {i}, \"no\");"))),
        ),
        (
            "conditions",
            kernel(&lines(|i| format!("if (p < {i}) x.at(p) = 1.0f;"))),
        ),
        (
            "guarded accesses",
            kernel(&lines(|i| {
                format!("if (p + {i} < N) x.at(p + {i}) = 1.0f;")
            })),
        ),
    ]
}

fn kernels() -> Vec<(&'static str, String)> {
    let block = |body: &str| {
        format!(
            "__co__ void f(global f32 [64, 64] x) {{ parallel b by 1 : block {{\n{body}\n}}}}\n"
        )
    };
    let loops = |range: &str| {
        let open = joined("\n", 100, |i| format!("foreach i{i} in [{range}] {{"));
        kernel(&format!("{open} x.at(p) = 1.0f; {}", "}".repeat(100)))
    };
    let stores = lines(|i| format!("s.at((t + {i}) % 64) = x.at(t, 0);"));
    vec![
        (
            "a product over 2^32",
            "__co__ void f(f32 [64, 96] & c) { parallel by 1 : block {
               shared f16 [64, 4294967296] as;  shared f16 [96, 4294967296] bs;
               parallel g by 1 : group-4 {
                 acc = mma.fill.f32 0.5f;  mma.row.row acc, as, bs;  mma.store acc, c; } } }"
                .to_owned(),
        ),
        (
            "functions",
            lines(|i| {
                format!("__co__ void f{i}(global f32 [N] x) {{ parallel p by N x.at(p) = 1.0f; }}")
            }),
        ),
        ("launches", host(&fill("parallel p by N x.at(p) = 1.0f;\n"))),
        ("stores", kernel(&fill("x.at(p) = 1.0f;\n"))),
        (
            "variables",
            kernel(&lines(|i| format!("f32 v{i} = x.at(p);"))),
        ),
        ("loops in loops", loops("N")),
        ("long loops in loops", loops("1000000000")),
        ("loops", kernel(&fill("foreach i in [N] x.at(i) = 1.0f;\n"))),
        (
            "levels",
            host(&format!(
                "parallel {} {{}}",
                joined(", ", 2000, |i| format!("p{i} by 2"))
            )),
        ),
        (
            "indices",
            host(&format!(
                "parallel {{{}}} by [{}] {{}}",
                joined(", ", 4000, |i| format!("i{i}")),
                joined(", ", 4000, |_| "2".into())
            )),
        ),
        (
            "regions",
            threads(&lines(|i| {
                format!("inthreads (t == {}) x.at({}) = 1.0f;", i % 64, i % 64)
            })),
        ),
        (
            "regions at one time",
            threads(&joined("\n", 900, |i| {
                let t = i % 64;
                format!("inthreads.async (t == {t}) x.at({t}) = 1.0f;")
            })),
        ),
        (
            "regions that race",
            regions("", 900, |i| format!("s.at({}) = 1.0f;", i % 32)),
        ),
        (
            "regions that race in a loop",
            regions("foreach k in [t]", 900, |_| "s.at(k) = 1.0f;".into()),
        ),
        (
            "regions with loops",
            regions("", 800, |i| format!("foreach k in [2] s.at(k) = {i};")),
        ),
        (
            "regions that meet at a barrier",
            regions("", 800, |_| "__bar_sync(3, 64); s.at(0) = 1.0f;".into()),
        ),
        (
            "regions in pipelines",
            regions("", 500, |i| match i % 2 {
                0 => "foreach k in [9] { s.at(k % 3) = 1.0f; trigger e[k % 3]; }".into(),
                _ => "foreach k in [9] { wait e[k % 3]; x.at(k) = s.at(k % 3); }".into(),
            }),
        ),
        (
            "events",
            block(&format!(
                "{} parallel t by 64 : thread {{ inthreads.async (t == 0) {{ {} }} inthreads.async (t == 1) {{ {} }} }}",
                joined(" ", 1200, |i| format!("shared event e{i};")),
                joined(" ", 1200, |i| format!("trigger e{i};")),
                joined(" ", 1200, |i| format!("wait e{i};")),
            )),
        ),
        (
            "accesses of shared memory",
            block(&format!(
                "shared f32 [64] s; parallel t by 64 : thread {{\n{stores}\n}}"
            )),
        ),
        (
            "copies",
            block(&lines(|i| {
                format!("a{i} = dma.copy x.subspan(8, 8).at(0, 0) => shared;")
            })),
        ),
        (
            "asynchronous copies",
            block(&lines(|i| {
                format!("a{i} = dma.copy.async x.subspan(8, 8).at(0, 0) => shared;")
            })),
        ),
        (
            "loops in loops that access shared memory",
            threads(&format!(
                "shared f32 [65] s; {} x.at(t) = s.at(0);",
                nested_loops(40, |k| format!("s.at(t) = s.at(t + k{k} % 2);"))
            )),
        ),
        (
            "loops in loops that copy variables in a chain",
            threads(&format!(
                "{} {} if (m0 > 1) sync.shared;",
                joined(" ", 41, |k| format!("mutable s32 m{k} = 0;")),
                nested_loops(40, |k| format!("m{k} = m{};", k + 1))
                    .replace("m40;", "m40; sync.shared; m40 = t;")
            )),
        ),
        ("C++ text", kernel(&fill("__cpp__(\"x[0] = 1.0f;\");\n"))),
        (
            "arrays",
            kernel(&lines(|i| {
                format!("local f32 [16] v{i}; v{i}.at(0) = 1.0f; x.at(p) = v{i}.at(0);")
            })),
        ),
    ]
}

/// How a limited run ended: the output, or what went wrong.
fn check(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let path = folder.path().join("input.co");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    for format in ["", "json"] {
        // Few reports are short in every format.
        if format == "json" && all.len() < OUTPUT / 100 {
            break;
        }
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!(
                "ulimit -t {SECONDS}; ulimit -v {MEMORY}; exec \"$0\" check \"$1\""
            ))
            .arg(env!("CARGO_BIN_EXE_croq"))
            .arg(&path)
            .env("CROQ_MESSAGE_FORMAT", format)
            .output()
            .map_err(|e| e.to_string())?;
        if !matches!(output.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&output.stderr);
            let said: String = said.chars().take(300).collect();
            return Err(format!("{name}: {}: {said}", output.status));
        }
        let (out, err) = (output.stdout, output.stderr);
        if out.len() + err.len() > OUTPUT {
            return Err(format!("{name}: {} bytes of output", out.len() + err.len()));
        }
        all.extend(out.into_iter().chain(err));
    }
    Ok(all)
}

#[cfg(unix)]
fn all_end(inputs: Vec<(&str, String)>) {
    let mut wrong = String::new();
    for (name, text) in inputs {
        if let Err(why) = check(name, &text) {
            let _ = writeln!(wrong, "{why}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[cfg(unix)]
#[test]
fn whatever_the_syntax() {
    all_end(syntax());
}

#[cfg(unix)]
#[test]
fn whatever_surrounds_functions() {
    all_end(islands());
}

#[cfg(unix)]
#[test]
fn whatever_the_names() {
    all_end(names());
}

#[cfg(unix)]
#[test]
fn whatever_the_integers() {
    all_end(integers());
}

#[cfg(unix)]
#[test]
fn whatever_the_kernels() {
    all_end(kernels());
}

/// A hundred reports and a count, in both formats.
#[cfg(unix)]
#[test]
fn a_run_shows_a_hundred_reports() {
    let output = check(
        "count",
        &host(&joined("\n", 1000, |i| format!("q{i} = z{i};"))),
    )
    .expect("a clean end");
    let text = String::from_utf8_lossy(&output);
    assert_eq!(text.matches("error[E0").count(), 100);
    assert_eq!(text.matches("\"code\":\"E0").count(), 100);
    let rest = "900 errors more are not shown: a run shows at most 100 reports";
    assert_eq!(text.matches(rest).count(), 2, "{text}");
}
