//! Programs that `croq check` accepts compile: tests names of every kind in every position.
//!
//! A probe is one `__co__` function with one name in one position. The front end may reject it with
//! a report. A probe that it accepts must compile with the C++ compiler's front end as code for the
//! simulated GPU, and with rustc as a wrapper. `CROQ_PROBES` is the number of probes (0: all, once
//! each), and `CROQ_SEED` the seed of the selection. The ignored test `attack` is called by `make
//! attack`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use croq_build::diagnostics::Severity;
use croq_build::ir::cpp_names;
use croq_build::pipeline::{Compiled, FileNames, Options, compile_text};

/// Words that have a meaning in C++, C, CUDA, the system's headers, bindgen, Rust or generated
/// code.
const WORDS: &str = "\
    and and_eq bitand bitor compl not not_eq or or_eq xor xor_eq alignas alignof asm auto bool break \
    case catch char char8_t class concept const constexpr consteval constinit continue co_await \
    decltype default delete do double dynamic_cast else enum explicit export extern false float for \
    friend goto if inline int long mutable namespace new noexcept nullptr operator private protected \
    public register reinterpret_cast requires restrict return short signed sizeof static \
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid \
    typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while override \
    final import module \
    as async await become box crate dyn fn gen impl in let loop macro match mod move mut priv pub ref \
    self Self super trait type unsafe unsized use where yield abstract raw union auto \
    i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f16 f32 f64 f128 str \
    Ok Err Some None Option Result Vec Box String drop Drop Clone Copy Send Sync Sized Default Eq Ord \
    PartialEq Iterator Into From Fn FnOnce Hash Debug Future ToString AsRef TryFrom std core alloc \
    croq_sys half kernels ffi MOVED_LINES KERNEL Const Dim Same Tensor DeviceTensor HostData \
    HostDataMut Stream Kernel Check F8E4M3 F8E5M2 bf16 null_mut size_of align_of panic assert_eq vec \
    println Layout Device Error call_on extents shape dims run enqueue copy_in copy_back global_mut \
    _Complex _Imaginary _Bool _Static_assert _Generic _Atomic _Noreturn _x _X _0 _1 _ __func__ \
    __FILE__ __LINE__ __x __global__ __device__ __shared__ __restrict__ __asm__ __attribute__ \
    __builtin_abort a__b a__ x_ x__ NULL errno stdin stdout stderr linux unix i386 EOF INT_MAX INT_MIN \
    UINT8_MAX LLONG_MAX SIZE_MAX FLT_MAX DBL_EPSILON CHAR_BIT assert major minor makedev signbit isnan \
    isinf isfinite isalpha toupper M_PI M_PIf M_E I INFINITY NAN HUGE_VAL offsetof alloca setjmp \
    va_list va_arg strdupa be16toh htole32 BUFSIZ RAND_MAX SEEK_SET L_tmpnam P_tmpdir TMP_MAX \
    math_errhandling fpclassify st_atime sa_handler noreturn complex imaginary EXIT_FAILURE EDOM SIGINT \
    TRUE FALSE BOOL DOMAIN HUGE unixx \
    exp exp2 sin cos tan log log2 pow sqrt y0 y1 yn j0 j1 jn gamma lgamma tgamma abs labs fabs min max \
    fmin fmax floor ceil round rint trunc erf hypot cbrt div ldiv index rindex time clock exit abort \
    printf puts malloc free memcpy memset strlen signal raise read write open close link stat select \
    send recv bind listen accept socket sleep wait kill pipe environ remove rename main swap rotate \
    threadIdx blockIdx blockDim gridDim warpSize dim3 float4 int2 uint3 cudaStream_t cudaError_t \
    cudaMemAttachGlobal atomicAdd __syncthreads half2 nv_bfloat16 \
    CROQ_FN CROQ_H CROQ_KERNEL CROQ_SHIM CROQ_SPACE CROQ_UNROLL CROQ_OK CROQ_CHECK CROQ_SIM CROQ_CUDA \
    CROQ_TARGET CROQ_DEVICE CROQ_PRAGMA CROQ_HOST_PRINTS CROQ_WGMMA_N CROQ_ABI_VERSION croq croq_env \
    croq_u32 croq_i64 croq_abi croq_failure croq_sim croq_cuda sim cuda \
    idx shared global local current tid watched barrier context ctx host env args status launch check \
    load store alloc bind data grid clustered together event tensor_map fragment copy plain waits \
    ordered block_x thread lane block turn from to e0 e1 slot cell held undeclared_local nothing result \
    result_shape kernel call stream arg0 x_0 N_x kernel_of_f f_on f_0 M N K ROWS BM x y p q \
    count sum tile out value row column width size length begin end first last next name text line \
    Lp Kc HeadDim kv_len K_rhs item self_ type_ i32_ and_ loop_ \
    ptr ref_ fragment_ mma wgmma cluster_rank fence elect warp mbarrier bulk tma_load descriptor";

/// `@` is replaced by the name, `F` by the function's name.
const POSITIONS: &[(&str, &str)] = &[
    (
        "float parameter",
        "__co__ void F(global f32 [N] x, f32 @) { parallel p by N { x.at(p) = @; } }",
    ),
    (
        "integer parameter",
        "__co__ f32 [N] F(f32 [N] x, s32 @) { f32 [N] y; parallel p by N { y.at(p) = x.at(p) + @; } return y; }",
    ),
    (
        "bool parameter",
        "__co__ s32 F(bool @) { mutable s32 a = 0; if (@) { a = 1; } return a; }",
    ),
    (
        "half parameter",
        "__co__ void F(global f16 [N] x, f16 @) { parallel p by N { x.at(p) = @; } }",
    ),
    (
        "parameter as bound",
        "__co__ void F(global f32 [N] x, s32 @) { assert(@ > 0, \"no\"); parallel p by N { if (p < @) x.at(p) = 1.0f; } }",
    ),
    (
        "tensor parameter",
        "__co__ f32 [N] F(f32 [N] @) { f32 [N] y9; parallel p by N { y9.at(p) = @.at(p); } return y9; }",
    ),
    (
        "reference",
        "__co__ void F(f32 [N] & @) { parallel p by N { @.at(p) = 2.0f; } }",
    ),
    (
        "global parameter",
        "__co__ void F(global f32 [N] @) { parallel p by N { @.at(p) = 2.0f; } }",
    ),
    (
        "unbounded axis",
        "__co__ void F(global f32 [4, ?] @) { parallel p by 4 { @.at(p, 0) = 2.0f; } }",
    ),
    (
        "stream",
        "__co__ void F(global f32 [N] x, stream @) { parallel.async p by N : block stream @ parallel t by 32 : thread { if (t == 0) x.at(p) = 1.0f; } }",
    ),
    (
        "dimension",
        "__co__ void F(global f32 [@, 4] x, global f32 [@] y) { parallel p by @ { x.at(p, 1) = y.at(p); } }",
    ),
    (
        "returned dimension",
        "__co__ f32 [@] F(f32 [@, @] x) { f32 [@] y; parallel p by @ { y.at(p) = x.at(p, p); } return y; }",
    ),
    (
        "host buffer",
        "__co__ auto F(f32 [N] x) { f32 [N] @; parallel p by N { @.at(p) = x.at(p); } return @; }",
    ),
    (
        "host integer",
        "__co__ void F(global f32 [N] x) { int @ = N / 2; parallel p by N { if (p < @) x.at(p) = 1.0f; } }",
    ),
    (
        "host mutable",
        "__co__ s32 F(s32 n) { mutable s32 @ = n; foreach i in [4] { @ = @ + 1; } return @; }",
    ),
    (
        "parallel variable",
        "__co__ void F(global f32 [N] x) { parallel @ by N { x.at(@) = 1.0f; } }",
    ),
    (
        "parallel variables",
        "__co__ void F(global f32 [8, 32] x) { parallel @ by 8 : block, t by 32 : thread { x.at(@, t) = 1.0f; } }",
    ),
    (
        "loop variable",
        "__co__ void F(global f32 [N, 4] x) { parallel p by N { foreach @ in [4] { x.at(p, @) = 1.0f; } } }",
    ),
    (
        "scalar",
        "__co__ void F(global f32 [N] x) { parallel p by N { f32 @ = x.at(p); x.at(p) = @ * @; } }",
    ),
    (
        "mutable scalar",
        "__co__ void F(global f32 [N] x) { parallel p by N { mutable f32 @ = 1.0f; @ = @ + x.at(p); x.at(p) = @; } }",
    ),
    (
        "named integer",
        "__co__ void F(global f32 [N, 8] x) { parallel p by N { int @ = p % 8; x.at(p, @) = 1.0f; } }",
    ),
    (
        "shared buffer",
        "__co__ void F(global f32 [N, 32] x) { parallel b by N : block { shared f32 [32] @; parallel t by 32 : thread { @.at(t) = x.at(b, 31 - t); } parallel t by 32 : thread { x.at(b, t) = @.at(31 - t); } } }",
    ),
    (
        "local array",
        "__co__ void F(global f32 [N, 4] x) { parallel p by N { local f32 [4] @; foreach i in [4] { @.at(i) = x.at(p, i); } foreach i in [4] { x.at(p, i) = @.at(3 - i); } } }",
    ),
    (
        "future",
        "__co__ void F(global f32 [N, 32] x, global f32 [N, 32] y) { parallel b by N : block { @ = dma.copy x.chunkat(b, _) => shared; parallel t by 32 : thread { y.at(b, t) = @.data.at(0, 31 - t); } } }",
    ),
    (
        "event",
        "__co__ void F(global f32 [64] x) { parallel b by 1 : block { shared event @; parallel t by 64 : thread { inthreads.async (t < 32) { x.at(t) = 1.0f; trigger @; } inthreads.async (t >= 32) { wait @; x.at(t) = 2.0f; } } } }",
    ),
    (
        "function",
        "__co__ void @(global f32 [N] x) { parallel p by N { x.at(p) = 1.0f; } }",
    ),
    (
        "returning function",
        "__co__ f32 [N] @(f32 [N] x) { f32 [N] y; parallel p by N { y.at(p) = x.at(p); } return y; }",
    ),
    (
        "text: mutable",
        "__co__ void F(global f32 [N] tensor_F) { parallel lane_F by N { mutable f32 @ = tensor_F.at(lane_F); __cpp__(\"@ = @ + 1.0f;\"); tensor_F.at(lane_F) = @; } }",
    ),
    (
        "text: buffer",
        "__co__ void F(global f32 [N] @) { parallel lane_F by N { __cpp__(\"@[0] = 1.0f;\"); } }",
    ),
    (
        "text: dimension",
        "__co__ void F(global f32 [@] tensor_F) { parallel lane_F by @ { __cpp__(\"tensor_F[0] = float(@);\"); } }",
    ),
    (
        "text: parameter",
        "__co__ void F(global f32 [N] tensor_F, f32 @) { parallel lane_F by N { __cpp__(\"tensor_F[0] = @;\"); tensor_F.at(lane_F) = @; } }",
    ),
    (
        "text: loop variable",
        "__co__ void F(global f32 [N] tensor_F) { parallel lane_F by N { foreach @ in [4] { __cpp__(\"tensor_F[0] = float(@ + __iv_@);\"); } } }",
    ),
    (
        "text: foreign",
        "__cok__ { namespace outer_F { __device__ inline float word_F(float a_F) { return a_F; } } } __co__ void F(global f32 [N] tensor_F, s32 @) { parallel lane_F by N { mutable f32 a_F = tensor_F.at(lane_F); __cpp__(\"a_F = outer_F::word_F(a_F);\"); tensor_F.at(lane_F) = a_F + @; } }",
    ),
    (
        "alike",
        "__co__ void F(global f32 [N] x, f32 @, f32 @_, f32 _@, f32 @_2) { parallel p by N { x.at(p) = @ + @_ + _@ * @_2; } }",
    ),
    (
        "dimension and variable",
        "__co__ f32 [@] F(f32 [@] x, f32 @_x, f32 [@] @_) { f32 [@] y; parallel p by @ { y.at(p) = x.at(p) + @_x * @_.at(p); } return y; }",
    ),
];

const ONCE_WRONG: &[&str] = &[
    "i32", "usize", "str", "__func__", "_Complex", "CROQ_FN", "status", "args", "tid", "and",
];

/// Plausible names of device functions of the file.
const DEVICE_FUNCTIONS: &str = "\
    tid lane thread block turn ctx host args env status launch idx shared global local current together \
    context slot e0 e1 from to load store value kernel call alloc x_0 p y";

struct Probe {
    name: String,
    position: &'static str,
    text: String,
}

impl Probe {
    fn of(at: usize, name: &str, (position, template): (&'static str, &'static str)) -> Self {
        let mut text = template.replace('@', name);
        for part in [
            " F(", "_F(", "outer_F", "word_F", "tensor_F", "lane_F", "a_F",
        ] {
            // `f128` is one of the words: the names of functions end in a letter.
            text = text.replace(part, &part.replace('F', &format!("f{at}x")));
        }
        Self {
            name: name.to_owned(),
            position,
            text,
        }
    }

    fn of_device(at: usize, name: &str) -> Self {
        let text = format!(
            "__device__ inline float {name}(float a) {{ return a; }} __co__ void f{at}x(global f32 [N, 64] x) \
             {{ parallel b by N : block, t by 64 : thread {{ mutable f32 v = 0.0f; v = call {name}(x.at(b, t)); \
             __cpp__(\"v += {name}(v);\"); assert(v > 0.0f, \"no\"); x.at(b, t) = v; }} }}"
        );
        Self {
            name: name.to_owned(),
            position: "device function",
            text,
        }
    }
}

/// A random number generator with the same results on all machines (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Every name in every position; if more are requested, also random names.
fn probes(count: usize, seed: u64) -> Vec<Probe> {
    let mut random = Random(seed);
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let long = "n".repeat(255);
    let all: Vec<&str> = words.iter().copied().chain([long.as_str()]).collect();
    let mut pairs: Vec<(String, usize)> = all
        .iter()
        .flat_map(|name| (0..POSITIONS.len()).map(|p| ((*name).to_owned(), p)))
        .collect();
    // Fisher and Yates.
    for i in (1..pairs.len()).rev() {
        pairs.swap(i, random.below(i + 1));
    }
    if count > 0 {
        pairs.truncate(count);
    }
    // Names that once broke a build, whatever was drawn.
    const WHERE: [&str; 4] = [
        "integer parameter",
        "tensor parameter",
        "dimension",
        "function",
    ];
    for (name, wanted) in ONCE_WRONG.iter().flat_map(|n| WHERE.map(|w| (n, w))) {
        let at = POSITIONS.iter().position(|(known, _)| *known == wanted);
        let pair = ((*name).to_owned(), at.expect("a position"));
        if !pairs.contains(&pair) {
            pairs.push(pair);
        }
    }
    while pairs.len() < count {
        let [a, b] = [random.below(words.len()), random.below(words.len())];
        let mut name = match random.below(4) {
            0 => format!("{}_{}", words[a], words[b]),
            1 => format!("{}{}", words[a], random.below(100)),
            2 => words[a].to_uppercase(),
            _ => format!("_{}", words[a]),
        };
        if random.below(3) == 0 {
            name.push('_');
        }
        pairs.push((name, random.below(POSITIONS.len())));
    }
    // `foreach _` has no name that C++ could use.
    pairs.retain(|(name, p)| name != "_" || POSITIONS[*p].0 != "text: loop variable");
    let mut made: Vec<Probe> = pairs
        .iter()
        .enumerate()
        .map(|(at, (name, p))| Probe::of(at, name, POSITIONS[*p]))
        .collect();
    for (at, name) in DEVICE_FUNCTIONS.split_whitespace().enumerate() {
        made.push(Probe::of_device(1_000_000 + at, name));
    }
    made
}

fn compile(stem: &str, text: &str) -> Compiled {
    let names = FileNames {
        path: format!("kernels/{stem}.co"),
        stem: stem.to_owned(),
        hash: "0123abcd".to_owned(),
    };
    compile_text(&names, text, &Options::default())
}

/// Files of accepted probes, one per line; rejected ones are omitted.
fn files(probes: &[Probe]) -> Vec<(String, String, Vec<&Probe>)> {
    const IN_A_FILE: usize = 250;
    let mut accepted: Vec<&Probe> = Vec::new();
    for probe in probes {
        let compiled = compile("probe", &probe.text);
        if compiled
            .diagnostics
            .iter()
            .all(|d| d.severity() != Severity::Error)
        {
            accepted.push(probe);
        }
    }
    // Two functions or device functions with the same name in one file are an error.
    let mut left = accepted;
    let mut files = Vec::new();
    while !left.is_empty() {
        let stem = format!("probes_{}", files.len());
        let mut seen = std::collections::BTreeSet::<String>::new();
        let (mut here, mut later) = (Vec::new(), Vec::new());
        for probe in left {
            let declares = probe.position.contains("function");
            // A function `assert` would be meant by the statements of other probes.
            let calls = |text: &str, name: &str| text.contains(&format!("{name}("));
            let conflicts = seen.iter().any(|name| calls(&probe.text, name))
                || declares && here.iter().any(|p: &&Probe| calls(&p.text, &probe.name));
            let fits = here.len() < IN_A_FILE && !conflicts;
            if fits && (!declares || seen.insert(probe.name.clone())) {
                here.push(probe);
            } else {
                later.push(probe);
            }
        }
        let mut text = String::new();
        for probe in &here {
            let _ = writeln!(text, "{}", probe.text);
        }
        files.push((stem, text, here));
        left = later;
    }
    files
}

/// Panics with the compilers' errors for accepted probes.
fn attempt(count: usize, seed: u64, package: &str) {
    let probes = probes(count, seed);
    let files = files(&probes);
    let accepted: usize = files.iter().map(|(_, _, here)| here.len()).sum();
    let folder = tempfile::tempdir().expect("a folder");
    let mut wrong = String::new();
    for (stem, text, here) in &files {
        let compiled = compile(stem, text);
        let Some(outputs) = compiled.outputs else {
            let first = compiled
                .diagnostics
                .iter()
                .find(|d| d.severity() == Severity::Error);
            let _ = writeln!(wrong, "{stem}: refused together: {first:?}");
            continue;
        };
        std::fs::write(folder.path().join(format!("{stem}.h")), outputs.header).expect("a header");
        let path = folder.path().join(format!("{stem}.cc"));
        std::fs::write(&path, outputs.device).expect("a text");
        for (line, message) in syntax_errors(&path, folder.path()) {
            let probe = line
                .checked_sub(1)
                .and_then(|at| here.get(at))
                .map_or(String::new(), |p| {
                    format!("`{}` as {}: {}", p.name, p.position, p.text)
                });
            let _ = writeln!(wrong, "{message}\n    {probe}");
        }
    }
    assert!(
        wrong.is_empty(),
        "C++ rejects accepted probes (seed {seed}):\n{wrong}"
    );

    // Bindings and wrappers alone, as for docs.rs.
    let package = croq_downstream::Package::new(package);
    std::fs::remove_file(package.path("kernels/scale.co")).expect("the example");
    for (stem, text, _) in &files {
        package.write(&format!("kernels/{stem}.co"), text);
    }
    package.write(
        "src/main.rs",
        "#![forbid(unsafe_code)]\ncroq_sys::include_kernels!();\nfn main() {}\n",
    );
    let seen = package.cargo(&["check", "--quiet"], &[("DOCS_RS", "1")]);
    let head: String = seen
        .stderr
        .lines()
        .take(60)
        .fold(String::new(), |a, l| a + l + "\n");
    assert!(
        seen.success,
        "rustc rejects accepted probes (seed {seed}):\n{head}"
    );
    println!(
        "{} probes, {accepted} accepted, all of which compile",
        probes.len()
    );
}

/// Errors of the C++ compiler, each with the line of the `.co` file, or 0.
fn syntax_errors(path: &Path, folder: &Path) -> Vec<(usize, String)> {
    let device = croq_downstream::workspace().join("croq-build/device");
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let output = Command::new(compiler)
        .args([
            "-std=c++17",
            "-fsyntax-only",
            "-w",
            "-DCROQ_SIM=1",
            "-fmax-errors=20",
        ])
        .arg("-I")
        .arg(device)
        .arg("-I")
        .arg(folder)
        .arg(path)
        .env("LC_ALL", "C")
        .output()
        .expect("a C++ compiler");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut errors: Vec<(usize, String)> = Vec::new();
    for message in text.lines().filter(|line| line.contains(" error: ")) {
        let line = message.split(':').nth(1).and_then(|n| n.parse().ok());
        let of_program = message.starts_with("kernels/");
        errors.push((line.filter(|_| of_program).unwrap_or(0), message.to_owned()));
    }
    if errors.is_empty() && !output.status.success() {
        errors.push((0, text));
    }
    errors
}

/// The macros that the compiler has defined after croq's headers.
#[test]
fn every_macro_of_the_headers_is_avoided() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("macros.cc");
    let text = "#include \"croq.h\"\n#define CROQ_WGMMA_N 64\n#include \"croq_wgmma.h\"\n";
    std::fs::write(&path, text).expect("a text");
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let output = Command::new(compiler)
        .args([
            "-std=gnu++17",
            "-dM",
            "-E",
            "-DCROQ_SIM=1",
            "-DCROQ_HOST_PRINTS",
            "-I",
        ])
        .arg(croq_downstream::workspace().join("croq-build/device"))
        .arg(&path)
        .output()
        .expect("a C++ compiler");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("#define ")?;
        rest.split([' ', '(']).next()
    });
    let (mut seen, mut wrong) = (0, Vec::new());
    for name in names {
        seen += 1;
        if cpp_names::spelt(name) == name || !cpp_names::is_taken(name) {
            wrong.push(name);
        }
    }
    assert!(seen > 1000, "{seen} macros");
    assert!(wrong.is_empty(), "taken for ordinary names: {wrong:?}");
}

#[test]
fn names_in_every_position() {
    attempt(700, 12, "name-probes");
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[test]
#[ignore = "minutes; `make attack` runs it"]
fn attack() {
    let count = number("CROQ_PROBES", 5000);
    let seed = number("CROQ_SEED", 1);
    attempt(
        usize::try_from(count).unwrap_or(usize::MAX),
        seed,
        "name-probes-attack",
    );
}
