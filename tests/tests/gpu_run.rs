//! `scripts/gpu_run.sh`, which a GPU machine runs, with programs that only simulate its tools: its
//! counts, the files that it leaves, and that nothing passes because there is no GPU.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// A test program with `--exact` tests named `good`, and `bad`, which fails if a file `broken`
/// exists.
const TESTS: &str = r#"
case "$*" in
  *--list*) echo 'topic::good: test'; echo 'topic::bad: test'; exit 0 ;;
  *--exact*good) exit 0 ;;
  *--exact*bad) [ ! -e broken ] || exit 101; exit 0 ;;
esac
echo "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"
"#;

const CONFORMANCE: &str = r#"
if [ -e gpu ]; then
  [ "$1" != --probe ] || { echo 'Pretended GPU'; exit 0; }
  echo "test result: ok. 6 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out"
else
  [ "$1" != --probe ] || { echo 'no GPU: CUDA error 35'; exit 1; }
  echo 'test a on sim ... ok'
  echo 'test a on gpu ... ignored, no GPU'
fi
"#;

const BENCHMARKS: &str =
    r#"for last; do :; done; echo "{\"figures\":[],\"told\":\"$*\"}" > "$last""#;

/// With PyTorch or without it.
const PYTHON: &str = r#"[ -e torch ] || exit 1
[ "$1" = -c ] || { [ "$*" = 'compare.py shapes.txt' ] && printf 'gemm f16 1 2 3\t1e-5\n'; }"#;

/// Runs every test as compute-sanitizer would, and reports errors on demand.
const SANITIZER: &str = r#"[ ! -e racy ] || exit 9
shift 4
exec "$@""#;

/// A program cannot be started while it is open for writing, and a child that another test forks at
/// that time has it open for a moment: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

struct Folder(TempDir, #[allow(dead_code)] MutexGuard<'static, ()>);

impl Folder {
    fn new(marks: &[&str]) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = Self(TempDir::new().expect("a folder for temporary files"), alone);
        for name in ["bin/run_kernels", "bin/run_features", "bin/run_as_written"] {
            folder.program(name, TESTS);
        }
        folder.program("bin/on_gpu", CONFORMANCE);
        folder.program("bin/croq-benches", BENCHMARKS);
        folder.program("path/compute-sanitizer", SANITIZER);
        folder.program("path/python3", PYTHON);
        folder.write("commit", "0123abcd\n");
        for mark in marks {
            folder.write(mark, "");
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/gpu_run.sh");
        fs::copy(script, folder.0.path().join("run")).expect("the script is there");
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
        fs::write(path, text).expect("can be written");
    }

    fn program(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(self.0.path().join(name), mode).expect("is ours");
    }

    /// Exit status, last line, results.
    fn run(&self) -> (Option<i32>, String, String) {
        self.steps(&[])
    }

    fn steps(&self, steps: &[&str]) -> (Option<i32>, String, String) {
        self.filtered("", steps)
    }

    fn filtered(&self, filter: &str, steps: &[&str]) -> (Option<i32>, String, String) {
        let path = std::env::var("PATH").unwrap_or_default();
        let own = self.0.path().join("path");
        let output = Command::new(self.0.path().join("run"))
            .args(steps)
            .env("RUN_FILTER", filter)
            .env("PATH", format!("{}:{path}", own.display()))
            .output()
            .expect("bash is there");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = said.lines().last().unwrap_or_default().to_owned();
        let results = fs::read_to_string(self.0.path().join("results.json"));
        (output.status.code(), last, results.unwrap_or_default())
    }
}

#[test]
fn without_a_gpu_nothing_passes() {
    let (status, last, results) = Folder::new(&[]).run();
    assert_eq!(status, Some(2));
    assert_eq!(last, "0 passed, 0 failed, 7 skipped");
    assert!(results.contains("\"gpu\":null"), "{results}");
}

#[test]
fn everything_is_counted() {
    let (status, last, results) = Folder::new(&["gpu"]).run();
    // 6 of the device API, 6 tests alone, 6 on the simulated GPU, 6 under each of three tools, 1
    // benchmark.
    assert_eq!(
        (status, last.as_str()),
        (Some(0), "37 passed, 0 failed, 0 skipped")
    );
    assert!(
        results.starts_with("{\"commit\":\"0123abcd\",\"date\":\""),
        "{results}"
    );
    assert!(results.contains("\"gpu\":\"Pretended GPU\""), "{results}");
    let alone = "\"benchmarks\":{\"figures\":[],\"told\":\"--json benchmarks.json\"}";
    assert!(results.contains(alone), "{results}");
}

/// As `scripts/gpu_rehearsal.sh` asks for.
#[test]
fn small_benchmarks() {
    let folder = Folder::new(&["gpu"]);
    let mut command = Command::new(folder.0.path().join("run"));
    let status = command.arg("benchmarks").env("RUN_SMALL", "1").output();
    assert!(status.expect("bash is there").status.success());
    let results = fs::read_to_string(folder.0.path().join("results.json")).expect("was written");
    let told = "\"told\":\"--small --json benchmarks.json\"";
    assert!(results.contains(told), "{results}");
}

#[test]
fn figures_stand_beside_those_of_pytorch() {
    let folder = Folder::new(&["gpu", "torch"]);
    let (status, _, results) = folder.run();
    assert_eq!(status, Some(0));
    let told = "\"told\":\"--against torch.txt --json benchmarks.json\"";
    assert!(results.contains(told), "{results}");
    let theirs = fs::read_to_string(folder.0.path().join("torch.txt")).expect("was written");
    assert_eq!(theirs, "gemm f16 1 2 3\t1e-5\n");
}

#[test]
fn a_failed_test_and_a_finding_fail_the_run() {
    let (status, last, _) = Folder::new(&["gpu", "broken"]).run();
    assert_eq!(
        (status, last.as_str()),
        (Some(1), "34 passed, 3 failed, 0 skipped")
    );
    let (status, last, _) = Folder::new(&["gpu", "racy"]).run();
    // A finding without a result line counts once for each program and tool.
    assert_eq!(
        (status, last.as_str()),
        (Some(1), "19 passed, 9 failed, 0 skipped")
    );
}

#[test]
fn steps_are_run_alone() {
    let folder = Folder::new(&["gpu", "broken"]);
    for (steps, status, last) in [
        (&["conformance"][..], 0, "6 passed, 0 failed, 0 skipped"),
        (&["tests"], 1, "3 passed, 3 failed, 0 skipped"),
        (
            &["benchmarks", "conformance"],
            0,
            "7 passed, 0 failed, 0 skipped",
        ),
    ] {
        let seen = folder.steps(steps);
        assert_eq!((seen.0, seen.1.as_str()), (Some(status), last));
    }
    assert_eq!(folder.steps(&["everything"]).0, Some(3));
}

#[test]
fn run_tests_are_filtered_by_name() {
    let folder = Folder::new(&["gpu", "broken"]);
    for (filter, status, last) in [
        ("good", 0, "3 passed, 0 failed, 0 skipped"),
        ("bad", 1, "0 passed, 3 failed, 0 skipped"),
        ("topic", 1, "3 passed, 3 failed, 0 skipped"),
    ] {
        let seen = folder.filtered(filter, &["tests"]);
        assert_eq!((seen.0, seen.1.as_str()), (Some(status), last), "{filter}");
    }
    // A filter that fits no test is a mistake, not a success.
    let seen = folder.filtered("other", &["tests"]);
    assert_eq!(
        (seen.0, seen.1.as_str()),
        (Some(1), "0 passed, 0 failed, 0 skipped")
    );
}
