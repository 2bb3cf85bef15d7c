//! Builds of small hand-written texts with the machine's real C++ compiler.

use std::io::Write as _;

use super::*;
use crate::toolchain::modules::ModulePath;
use environment::tests::environment;

const HOST: &str = "x86_64-unknown-linux-gnu";

struct Crate {
    folder: tempfile::TempDir,
    archs: Vec<Arch>,
    package: &'static str,
}

impl Crate {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            archs: Arch::DEFAULT.to_vec(),
            package: "tests\n0.1.0",
        }
    }

    fn build(&self, units: &[Unit]) -> Result<Built, Findings> {
        self.build_with(units, None)
    }

    fn build_with(&self, units: &[Unit], cuda: Option<&Toolkit>) -> Result<Built, Findings> {
        let env = Environment::of_process();
        let request = Request {
            out_dir: self.folder.path(),
            base: self.folder.path(),
            target: HOST,
            host: HOST,
            archs: &self.archs,
            cuda,
            package: self.package,
            includes: &[],
            trace_shared_memory: false,
            documentation_only: false,
        };
        build(&request, units, &env)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(output_folder(self.folder.path()).join(name)).expect(name)
    }
}

/// Croq's libraries that are linked, in order.
fn libraries(built: &Built) -> Vec<String> {
    let link = built.directives.to_string();
    let names = link.lines().filter_map(|line| {
        let name = line.strip_prefix("cargo::rustc-link-lib=static=")?;
        Some(name.to_owned())
    });
    names.collect()
}

/// A file with one function whose statement is on the given line of the source.
fn unit(name: &str, line: u32, statement: &str) -> Unit {
    let hash = symbol::PLACEHOLDER;
    let blank = "\n".repeat(line as usize - 1);
    Unit {
        path: format!("kernels/{name}.co"),
        source: format!("{blank}  {statement}\n"),
        folder: PathBuf::from("kernels"),
        module: ModulePath::of(Path::new(&format!("{name}.co"))),
        device: format!(
            "#include \"croq_abi.h\"\n#include \"{name}.h\"\n#ifdef CROQ_CUDA\n#define SHIM(x) croq_cuda_##x\n#else\n\
             #define SHIM(x) croq_sim_##x\n#endif\n\
             #line {line} \"kernels/{name}.co\"\nextern \"C\" croq_u32 SHIM({hash}_f)() {{\n\
             #line {line} \"kernels/{name}.co\"\n  {statement} // {statement}\n}}\n"
        ),
        header: format!(
            "#include \"croq_abi.h\"\n#ifdef __cplusplus\nextern \"C\"\n#endif\ncroq_u32 croq_sim_{hash}_f(void);\n"
        ),
        wrappers: "pub fn f() {}\n".to_owned(),
        shims: String::new(),
        functions: vec!["f".to_owned()],
    }
}

#[test]
fn an_unchanged_text_is_not_compiled_again() {
    let package = Crate::new();
    let first = package
        .build(&[unit("one", 3, "return 8;"), unit("seven77", 3, "return 7;")])
        .expect("built");
    assert_eq!(first.compiled, 2);
    let link = first.directives.to_string();
    assert!(link.contains("=dylib=stdc++"), "{link}");
    assert!(!link.contains("cudart"), "{link}");
    let names = libraries(&first);
    assert_eq!(names.len(), 2, "{link}");
    let archive = output_folder(package.folder.path()).join(format!("lib/lib{}.a", names[0]));
    let time = archive
        .metadata()
        .and_then(|m| m.modified())
        .expect("an archive");

    // The same text, then the same with one more line above: nothing is compiled, and the moved
    // lines are recorded.
    let same = package
        .build(&[unit("one", 3, "return 8;"), unit("seven77", 3, "return 7;")])
        .expect("built");
    assert_eq!(same.compiled, 0);
    let moved = package
        .build(&[unit("one", 5, "return 8;"), unit("seven77", 3, "return 7;")])
        .expect("built");
    assert_eq!(moved.compiled, 0);
    assert!(
        package.read("kernels.rs").contains("&[(3, 5), (4, 6)]"),
        "{}",
        package.read("kernels.rs")
    );
    assert_eq!(
        archive
            .metadata()
            .and_then(|m| m.modified())
            .expect("an archive"),
        time
    );

    let changed = package
        .build(&[unit("one", 5, "return 9;"), unit("seven77", 3, "return 7;")])
        .expect("built");
    assert_eq!(changed.compiled, 1);
    assert!(
        package
            .read("kernels.rs")
            .contains("MOVED_LINES: &[(u32, u32)] = &[];")
    );

    // A file that was deleted leaves nothing behind.
    package
        .build(&[unit("one", 5, "return 9;")])
        .expect("built");
    assert!(
        !output_folder(package.folder.path())
            .join("seven77.cc")
            .exists()
    );
    assert!(
        !output_folder(package.folder.path())
            .join("build/seven77.sim.o")
            .exists()
    );
}

#[test]
fn every_file_that_fails_is_reported_on_its_line() {
    let package = Crate::new();
    let units = [
        unit("good", 2, "return 1;"),
        unit("bad", 4, "return frob();"),
        unit("worse12", 2, "return 1 +;"),
    ];
    let findings = package.build(&units).err().expect("two of them fail");
    assert!(findings.unplaced.is_empty(), "{:?}", findings.unplaced);
    let places: Vec<(usize, &str, u32)> = findings
        .placed
        .iter()
        .flat_map(|(unit, list)| {
            list.iter()
                .map(|d| (*unit, d.code.text(), d.primary.span.start))
        })
        .collect();
    assert_eq!(places, [(1, "E1112", 5), (2, "E1112", 3)]);
    let (_, list) = &findings.placed[0];
    assert!(list[0].message.contains("frob"), "{list:?}");
    // After the correction, only the file that failed is compiled.
    let mended = [
        unit("good", 2, "return 1;"),
        unit("bad", 4, "return 2;"),
        unit("worse12", 2, "return 1;"),
    ];
    assert_eq!(package.build(&mended).expect("built").compiled, 2);
}

#[test]
fn a_symbol_says_what_its_object_was_made_of() {
    let one = || [unit("one", 3, "return 8;")];
    let (here, there) = (Crate::new(), Crate::new());
    let first = libraries(&here.build(&one()).expect("built"));
    // 96 bits.
    assert_eq!(first[0].len(), "croq_".len() + 24);
    // The same file of the same package in another folder is the same object.
    assert_eq!(libraries(&there.build(&one()).expect("built")), first);
    // A comment that moves lines keeps the object and its symbol; a build from scratch has line
    // numbers of its own.
    let moved = || [unit("one", 5, "return 8;")];
    assert_eq!(libraries(&here.build(&moved()).expect("built")), first);
    assert_ne!(
        libraries(&Crate::new().build(&moved()).expect("built")),
        first
    );

    let mut other = Crate::new();
    let changed = [unit("one", 3, "return 9;")];
    assert_ne!(libraries(&other.build(&changed).expect("built")), first);
    other.package = "tests\n0.1.1";
    assert_ne!(libraries(&other.build(&one()).expect("built")), first);
    // All symbols in the texts are those of the object.
    for name in ["one.h", "one.cc", "kernels.rs"] {
        let text = here.read(name);
        assert!(!text.contains(symbol::PLACEHOLDER), "{text}");
    }
    assert!(
        here.read("one.h")
            .contains(&first[0].replace("croq_", "croq_sim_"))
    );
}

#[test]
fn the_contents_of_headers_belong_to_the_symbol() {
    let text = |value: &str| format!("#include \"chain.h\"\n// {value}\n");
    let with_header = || {
        let mut unit = unit("one", 3, "return VALUE;");
        unit.device = format!("#include \"value.h\"\n{}", unit.device);
        [unit]
    };
    let package = Crate::new();
    let write = |name: &str, text: &str| {
        let path = package.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a header");
    };
    write("kernels/value.h", &text("1"));
    write("kernels/chain.h", "#define VALUE 1\n");
    let first = package.build(&with_header()).expect("built");
    assert!(
        first.directives.to_string().contains("kernels/chain.h\n"),
        "{}",
        first.directives
    );
    assert_eq!(package.build(&with_header()).expect("built").compiled, 0);
    for (name, text) in [
        ("kernels/chain.h", "#define VALUE 2\n".to_owned()),
        ("kernels/value.h", text("2")),
    ] {
        write(name, &text);
        let changed = package.build(&with_header()).expect("built");
        assert_eq!(changed.compiled, 1, "{name}");
        assert_ne!(libraries(&changed), libraries(&first), "{name}");
        assert_eq!(package.build(&with_header()).expect("built").compiled, 0);
    }
    // A missing header is reported on its line.
    std::fs::remove_file(package.folder.path().join("kernels/chain.h")).expect("gone");
    let findings = package.build(&with_header()).err().expect("no header");
    let text = format!("{findings:?}");
    assert!(text.contains("chain.h"), "{text}");
}

/// Truncates every generated file to half its size, one at a time.
#[test]
fn files_cut_short_are_made_again() {
    let package = Crate::new();
    let units = || [unit("one", 3, "return 8;")];
    let built = package.build(&units()).expect("built");
    let root = output_folder(package.folder.path());
    let files = |folder: &str| {
        let read = std::fs::read_dir(root.join(folder)).expect("a folder");
        let paths = read.flatten().map(|entry| entry.path());
        paths.filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    let all: Vec<PathBuf> = ["", "build", "lib", "include", "include/sim"]
        .into_iter()
        .flat_map(files)
        .collect();
    assert!(all.len() > 25, "{all:?}");
    for path in &all {
        let whole = std::fs::read(path).expect("a file");
        std::fs::write(path, &whole[..whole.len() / 2]).expect("a half");
        let again = package.build(&units()).expect("built");
        assert_eq!(libraries(&again), libraries(&built));
        let now = std::fs::read(path).expect("a file");
        // The bytes of archives and objects may differ, their sizes do not.
        assert_eq!(now.len(), whole.len(), "{}", path.display());
    }
    // No temporary files remain.
    let odd = |path: &PathBuf| path.to_string_lossy().contains(".part-");
    assert!(
        !["", "build", "lib"]
            .into_iter()
            .flat_map(files)
            .any(|path| odd(&path))
    );
}

#[test]
fn builds_at_the_same_time_do_not_meet() {
    let packages = [Crate::new(), Crate::new(), Crate::new()];
    std::thread::scope(|scope| {
        let build = |package| move || Crate::build(package, &[unit("one", 3, "return 1;")]);
        let threads: Vec<_> = packages.iter().map(|p| scope.spawn(build(p))).collect();
        for thread in threads {
            let built = thread.join().expect("no panic").expect("built");
            assert_eq!(built.compiled, 1);
        }
    });
}

#[test]
fn warnings_come_back_with_the_reused_object() {
    let package = Crate::new();
    for compiled in [1, 0] {
        let built = package
            .build(&[unit("warns", 3, "int unused; return 1;")])
            .expect("built");
        assert_eq!(built.compiled, compiled);
        let (_, list) = built.warnings.placed.first().expect("a warning");
        assert_eq!(list[0].code, "W1112");
        assert!(list[0].message.contains("unused"), "{list:?}");
    }
}

#[test]
fn documentation_needs_no_compiler() {
    let package = Crate::new();
    let env = Environment::of_process();
    let request = Request {
        out_dir: package.folder.path(),
        base: package.folder.path(),
        target: HOST,
        host: HOST,
        archs: &package.archs,
        cuda: None,
        package: "tests\n0.1.0",
        includes: &[],
        trace_shared_memory: false,
        documentation_only: true,
    };
    let built =
        build(&request, &[unit("bad", 4, "return frob();")], &env).expect("nothing compiled");
    assert_eq!(built.directives.to_string(), "");
    assert!(package.read("kernels.rs").contains("pub use self::bad::f;"));
}

#[test]
fn without_a_compiler_the_report_says_what_to_install() {
    let package = Crate::new();
    let request = Request {
        out_dir: package.folder.path(),
        base: package.folder.path(),
        target: HOST,
        host: HOST,
        archs: &package.archs,
        cuda: None,
        package: "tests\n0.1.0",
        includes: &[],
        trace_shared_memory: false,
        documentation_only: false,
    };
    // libclang is found with the variables of this process, so only the compiler is missing.
    let env = environment(&[("PATH", "/nowhere")]);
    let findings = build(
        &request,
        &[unit("one", 2, "return 1;"), unit("four", 2, "return 1;")],
        &env,
    )
    .err()
    .expect("no compiler");
    assert_eq!(findings.unplaced.len(), 1, "{findings:?}");
    assert!(findings.unplaced[0].to_string().contains("build-essential"));
}

/// Runs if nvcc is installed, as `make setup` does; `make test` requires it, unless CUDA is off.
#[test]
fn cuda_objects_are_built_beside_the_others() {
    let env = Environment::of_process();
    let search = nvcc::search(&env, None);
    let Some(toolkit) = &search.toolkit else {
        let reason = search.left_out().one_line();
        for variable in ["CROQ_CUDA", "CROQ_TEST_NVCC"] {
            let wanted = env.text(variable).unwrap_or_default();
            assert_ne!(wanted, "required", "{reason}");
        }
        // Not by `eprintln!`, whose output `cargo test` captures.
        let test = "cuda_objects_are_built_beside_the_others";
        let _ = writeln!(std::io::stderr(), "skipped {test}: {reason}");
        return;
    };
    let package = Crate::new();
    let text =
        "return 1; } __global__ void k(float *x) { x[threadIdx.x] = 1; } int g() { return 0;";
    let mut good = unit("gpu", 3, "return 1;");
    good.device = good
        .device
        .replace("return 1; //", "#ifdef CROQ_CUDA\n//")
        .replace(
            "}\n",
            &format!("#line 3 \"kernels/gpu.co\"\n{text}\n#else\nreturn 1;\n#endif\n}}\n"),
        );
    let built = package
        .build_with(std::slice::from_ref(&good), Some(toolkit))
        .unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(built.compiled, 3, "with the table of the CUDA runtime");
    assert!(
        built
            .directives
            .to_string()
            .contains("rustc-link-lib=static:-bundle=cudart_static")
    );
    assert!(built.warnings.is_empty(), "{:?}", built.warnings);
    assert_eq!(
        package
            .build_with(std::slice::from_ref(&good), Some(toolkit))
            .expect("built")
            .compiled,
        0
    );
    // Without CUDA it is another object with another symbol.
    assert_eq!(
        package
            .build(std::slice::from_ref(&good))
            .expect("built")
            .compiled,
        1
    );

    good.device = good.device.replace("= 1;", "= frob;");
    let findings = package
        .build_with(&[good], Some(toolkit))
        .err()
        .expect("rejected");
    assert_eq!(findings.placed[0].1[0].code, "E1113", "{findings:?}");
}
