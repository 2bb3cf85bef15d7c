//! The same sources in two folders make the same objects.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::*;

/// Calls a device function of a header beside it.
const ENERGY: &str = "\
#include \"square.h\"
__co__ f32 [N] energy(f32 [N] x, f32 weight) {
  f32 [N] y;
  parallel p by N {
    mutable square = 0.0f;
    square = call square_of(x.at(p));
    y.at(p) = square * weight;
  }
  return y;
}
";
const SQUARE: &str = "static __device__ float square_of(float x) { return x * x; }\n";

/// A package in a folder of its own.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = tempfile::Builder::new().prefix(name).tempdir();
        let folder = Self(folder.expect("a folder"));
        std::fs::create_dir_all(folder.package().join("kernels")).expect("a folder");
        std::fs::create_dir_all(folder.out()).expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.package().join(name), text).expect("a file");
        };
        write("kernels/energy.co", ENERGY);
        write("kernels/square.h", SQUARE);
        folder
    }

    fn package(&self) -> PathBuf {
        self.0.path().join("package")
    }

    fn out(&self) -> PathBuf {
        self.0.path().join("target/out")
    }

    /// Builds with the compilers of this machine.
    fn build(&self, vars: &[(&str, &str)]) -> Result<(), Error> {
        let own = [
            ("OUT_DIR", self.out().into_os_string()),
            ("CARGO_MANIFEST_DIR", self.package().into_os_string()),
            ("CARGO_PKG_NAME", "p".into()),
            ("CARGO_PKG_VERSION", "0.1.0".into()),
            ("TARGET", "x86_64-unknown-linux-gnu".into()),
            ("HOST", "x86_64-unknown-linux-gnu".into()),
            ("OPT_LEVEL", "3".into()),
            ("DEBUG", "false".into()),
            ("CROQ_WARNINGS", "deny".into()),
        ];
        let mut all: Vec<(String, OsString)> = Vec::new();
        all.extend(own.map(|(name, value)| (name.to_owned(), value)));
        all.extend(
            vars.iter()
                .map(|(name, value)| ((*name).to_owned(), value.into())),
        );
        let env = Environment::new(move |name| {
            // The last value of a variable counts.
            let set = all.iter().rev().find(|(n, _)| n == name);
            set.map(|(_, value)| value.clone())
                .or_else(|| std::env::var_os(name))
        });
        let format = Format::Text { color: false };
        let package = Package::of(&env)?;
        let settings = Settings::default();
        build_package(&settings, Path::new("kernels"), &env, format, &package).map(|_| ())
    }

    /// The names and contents of all objects and libraries.
    fn objects(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for folder in ["build", "lib"] {
            let entries =
                std::fs::read_dir(self.out().join("croq").join(folder)).expect("a folder");
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.extension().is_some_and(|e| e == "o" || e == "a") {
                    let name = path
                        .file_name()
                        .unwrap_or_default()
                        .to_string_lossy()
                        .into_owned();
                    found.push((name, std::fs::read(&path).expect("a file")));
                }
            }
        }
        found.sort();
        found
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|part| part == text.as_bytes())
}

/// Compares the objects of two folders.
fn compare(vars: &[(&str, &str)], objects: usize) {
    let (here, there) = (Folder::new("here"), Folder::new("in-another-place"));
    // Of another age.
    let header = std::fs::File::options()
        .append(true)
        .open(there.package().join("kernels/square.h"));
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    header
        .and_then(|file| file.set_modified(time))
        .expect("a time");
    for folder in [&here, &there] {
        folder.build(vars).unwrap_or_else(|error| panic!("{error}"));
    }
    let (first, second) = (here.objects(), there.objects());
    assert_eq!(first.len(), objects, "{:?}", names(&first));
    assert_eq!(names(&first), names(&second));
    for ((name, a), (_, b)) in first.iter().zip(&second) {
        assert!(a == b, "{name} differs");
        let folder = here.0.path().display().to_string();
        assert!(!contains(a, &folder), "{name} contains {folder}");
    }
    let left = here.out().join("croq/build");
    assert!(!left.join("package").exists() && !left.join("kept").exists());
}

fn names(objects: &[(String, Vec<u8>)]) -> Vec<&str> {
    objects.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn objects_of_the_simulated_gpu_do_not_depend_on_the_folder() {
    compare(&[("CROQ_CUDA", "off")], 2);
}

/// Runs if nvcc is installed, as `make setup` does; `make test` requires it, unless CUDA is off.
#[test]
fn objects_of_nvcc_do_not_depend_on_the_folder() {
    let env = Environment::of_process();
    let search = nvcc::search(&env, None);
    if search.toolkit.is_none() {
        let reason = search.left_out().one_line();
        let required = env.text("CROQ_TEST_NVCC").unwrap_or_default();
        assert_ne!(required, "required", "{reason}");
        let _ = writeln!(std::io::stderr(), "skipped: {reason}");
        return;
    }
    let vars = [
        ("CROQ_CUDA", "required"),
        ("CROQ_CUDA_ARCH", "sm_80,sm_90a"),
    ];
    // Two of the file, and the table of the CUDA runtime; two libraries.
    compare(&vars, 5);

    // Errors and warnings have the names of the package, in its text and in its headers.
    let wrong = Folder::new("wrong");
    let header = wrong.package().join("kernels/square.h");
    std::fs::write(&header, SQUARE.replace("x * x", "x * CUDA_ONLY")).expect("a file");
    let vars = [vars[0], vars[1], ("DEBUG", "false")];
    let error = wrong.build(&vars).expect_err("rejected").to_string();
    assert!(
        error.contains("CUDA_ONLY") && error.contains("square.h:1"),
        "{error}"
    );
    assert!(!error.contains("/proc/self"), "{error}");
}

/// What nvcc is called with for the objects, by a program in its place that makes empty ones.
#[cfg(unix)]
fn calls_of_nvcc(folder: &Folder, vars: &[(&str, &str)]) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let toolkit = folder.0.path().join("cuda");
    for (name, file) in [("bin", "nvcc"), ("lib64", "libcudart_static.a")] {
        std::fs::create_dir_all(toolkit.join(name)).expect("a folder");
        std::fs::write(toolkit.join(name).join(file), "").expect("a file");
    }
    let nvcc = toolkit.join("bin/nvcc");
    let script = "#!/bin/sh\n\
        [ \"$1\" = --version ] && echo 'Cuda compilation tools, release 13.0, V13.0.88' && exit\n\
        echo \"$*\" >> \"$0.log\"\n\
        while [ $# -gt 1 ]; do [ \"$1\" = -o ] && : > \"$2\"; shift; done\n";
    std::fs::write(&nvcc, script).expect("a file");
    std::fs::set_permissions(&nvcc, std::fs::Permissions::from_mode(0o755)).expect("a program");
    let nvcc = nvcc.to_string_lossy().into_owned();
    let mut all = vec![("CROQ_CUDA", "required"), ("NVCC", nvcc.as_str())];
    all.extend_from_slice(vars);
    folder.build(&all).unwrap_or_else(|error| panic!("{error}"));
    let log = std::fs::read_to_string(format!("{nvcc}.log")).expect("calls");
    let objects = log.lines().filter(|line| line.contains(" -c "));
    objects.map(str::to_owned).collect()
}

/// A text with a header of the user's keeps them, and with flags of the user's each text does.
#[cfg(unix)]
#[test]
fn texts_without_the_standard_library_leave_out_its_special_functions() {
    use crate::toolchain::special_functions::WITHOUT;
    let without = |vars: &[(&str, &str)]| -> Vec<bool> {
        let folder = Folder::new("flags");
        let plain = ENERGY
            .replace("#include \"square.h\"\n", "")
            .replace("call square_of(x.at(p))", "x.at(p)");
        std::fs::write(folder.package().join("kernels/plain.co"), plain).expect("a file");
        let calls = calls_of_nvcc(&folder, vars);
        let of = |name: &str| -> Option<bool> {
            let call = calls.iter().find(|call| call.contains(name));
            call.map(|call| call.contains(WITHOUT))
        };
        ["plain.cc", "energy.cc", "runtime.cu"]
            .map(|name| of(name).unwrap_or_else(|| panic!("{name}: {calls:?}")))
            .to_vec()
    };
    assert_eq!(without(&[]), [true, false, true]);
    let flags = [("NVCC_APPEND_FLAGS", "-DMINE=1")];
    assert_eq!(without(&flags), [false, false, false]);
}

#[test]
fn debug_information_names_the_folder_and_the_lines_of_the_text() {
    let folder = Folder::new("debugged");
    let vars = [("CROQ_CUDA", "off"), ("OPT_LEVEL", "0"), ("DEBUG", "true")];
    let object = |folder: &Folder| {
        let objects = folder.objects();
        let object = objects.into_iter().find(|(name, _)| name == "energy.sim.o");
        object.expect("the object").1
    };
    folder
        .build(&vars)
        .unwrap_or_else(|error| panic!("{error}"));
    let first = object(&folder);
    let package = folder.package().display().to_string();
    assert!(contains(&first, ".debug_info") && contains(&first, &package));
    // A line more is compiled again: otherwise a debugger would stop on the wrong lines.
    let path = folder.package().join("kernels/energy.co");
    std::fs::write(&path, format!("// One line more.\n{ENERGY}")).expect("a file");
    folder
        .build(&vars)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(object(&folder) != first, "the old lines");
    // Without debug information the object is kept.
    let plain = [vars[0], ("DEBUG", "false")];
    folder
        .build(&plain)
        .unwrap_or_else(|error| panic!("{error}"));
    let before = object(&folder);
    assert!(!contains(&before, ".debug_info"));
    std::fs::write(&path, ENERGY).expect("a file");
    folder
        .build(&plain)
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(object(&folder) == before, "compiled again");
}

/// The names and fields of new spans.
#[cfg(feature = "tracing")]
#[derive(Clone, Default)]
struct Spans(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

#[cfg(feature = "tracing")]
mod subscriber {
    use std::fmt::Debug;

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    struct Text(String);

    impl Visit for Text {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            self.0.push_str(&format!(" {field}={value:?}"));
        }
    }

    impl Subscriber for super::Spans {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "croq"
        }
        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let mut text = Text(span.metadata().name().to_owned());
            span.record(&mut text);
            self.0.lock().expect("no panic").push(text.0);
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }
}

#[cfg(feature = "tracing")]
#[test]
fn builds_files_and_compilers_are_spans() {
    let spans = Spans::default();
    // While there is one subscriber, a span that another test's thread reaches first is decided by that
    // thread's subscriber, which is none, for all threads. With two, all are asked.
    let _other = tracing::Dispatch::new(Spans::default());
    let folder = Folder::new("spans");
    tracing::subscriber::with_default(spans.clone(), || {
        let built = folder.build(&[("CROQ_CUDA", "off")]);
        built.unwrap_or_else(|error| panic!("{error}"));
    });
    let found = spans.0.lock().expect("no panic").clone();
    let expected = [
        "build package=\"p\"",
        "file path=\"kernels/energy.co\"",
        "bindings name=\"energy\"",
        "object path=\"energy.cc\" target=\"sim\"",
    ];
    assert_eq!(found, expected);
}
