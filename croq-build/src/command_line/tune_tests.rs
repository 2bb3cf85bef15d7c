use super::given::Given;
use super::report::{FileReport, Row, RowOutcome};
use super::results::{Cost, Counts};
use super::*;
use crate::command_line::outcome::BAD_USAGE;

fn croq(args: &[&str]) -> Outcome {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    crate::command_line::run(&args)
}

/// A file with this text, and its path.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("k.co");
    fs::write(&path, text).expect("written");
    let path = path.display().to_string();
    (folder, path)
}

const KERNEL: &str = "\
// croq: tune TILE in 32, 2048, 64
#define TILE 32
__co__ f32 [N] scaled(f32 [N] x, f32 gain) {
  f32 [N] y;
  parallel b by cdiv(N, TILE) : block
    parallel t by TILE : thread
      if (b # t < N) y.at(b # t) = x.at(b # t) * gain;
  return y;
}
__co__ void other(global s32 [K, 4] z, stream s) { parallel p by 1 { z.at(0, 0) = 1; } }
";

#[test]
fn wrong_arguments_are_explained() {
    for (args, part) in [
        (&["tune"][..], "needs files or folders"),
        (
            &["tune", "--size", "M", "k.co"],
            "a list such as `M=1024,gain=1.5`",
        ),
        (
            &["tune", "--size", "M=1,M=2", "k.co"],
            "`M` has a value already",
        ),
        (&["tune", "--size=M=x", "k.co"], "a list such as"),
        (&["tune", "k.co", "--size"], "`--size` needs a value"),
        (&["tune", "--limit=0", "k.co"], "a number of candidates"),
        (
            &["tune", "--tolerance", "-1", "k.co"],
            "a number such as 1e-3",
        ),
        (
            &["tune", "--timeout", "soon", "k.co"],
            "a number of seconds",
        ),
        (&["tune", "--repeat", "0", "k.co"], "a number of calls"),
        (&["tune", "--limt", "3", "k.co"], "did you mean `--limit`"),
        (&["tune", "-D", "1+1=2", "k.co"], "no name for a macro"),
    ] {
        let outcome = croq(args);
        assert_eq!(outcome.status, BAD_USAGE, "{args:?}: {outcome:?}");
        assert!(
            outcome.stderr.contains(part),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    let args = [
        "-D",
        "A=1",
        "--size=M=4,gain=0.5",
        "--arch",
        "sm_90a",
        "k.co",
        "--json",
    ];
    let given = Given::of(&args.map(str::to_owned)).expect("good");
    assert_eq!(
        given.sizes,
        [
            ("M".to_owned(), "4".to_owned()),
            ("gain".to_owned(), "0.5".to_owned())
        ]
    );
    assert!(given.json && given.common.options.archs_asked);
    assert_eq!(given.common.files, ["k.co"]);
}

#[test]
fn what_cannot_be_tuned_is_an_error_before_anything_is_built() {
    let (_folder, path) = file(KERNEL);
    let (_other, plain) = file(&KERNEL.replace("croq: tune", "tune"));
    for (args, part) in [
        (vec!["tune", &plain], "no file has a comment such as"),
        (vec!["tune", "/nowhere/k.co"], "error[E1104]"),
        (vec!["tune", &path], "add `--size N=64,K=64`"),
        (
            vec!["tune", "--function", "scale", &path],
            "it has no function scale",
        ),
        (
            vec!["tune", "--size", "N=0", "--function", "scaled", &path],
            "an extent is a positive integer",
        ),
        (
            vec!["tune", "--size", "N=4,K=4", "--function", "other", &path],
            "has the stream `s`",
        ),
    ] {
        let outcome = croq(&args);
        assert_eq!(
            (outcome.status, &*outcome.stdout),
            (1, ""),
            "{args:?}: {outcome:?}"
        );
        assert!(
            outcome.stderr.contains(part),
            "{args:?}: {}",
            outcome.stderr
        );
    }
    // A malformed file of values is reported before the work, and stays as it is.
    let out = Path::new(&path).with_file_name("values.txt");
    fs::write(&out, "nonsense\n").expect("written");
    let outcome = croq(&[
        "tune",
        "--size=N=4",
        "--function=scaled",
        "--out",
        &out.display().to_string(),
        &path,
    ]);
    assert!(outcome.stderr.contains("error[E1118]"), "{outcome:?}");
    assert_eq!(fs::read_to_string(&out).expect("the file"), "nonsense\n");
}

#[test]
fn candidates_that_the_compiler_rejects_have_a_code() {
    let (_folder, path) = file(&KERNEL.replace(
        "in 32, 2048, 64\n#define TILE 32",
        "in 2048, 4096\n#define TILE 2048",
    ));
    let outcome = croq(&["tune", "--size", "N=4", "--function", "scaled", &path]);
    assert_eq!(outcome.status, 1, "{outcome:?}");
    assert!(outcome.stdout.contains("2 of 2 candidates"), "{outcome:?}");
    assert_eq!(
        outcome.stdout.matches("  E0").count(),
        2,
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains("no candidate has a result"),
        "{outcome:?}"
    );
    assert!(!Path::new(&path).with_file_name(OUT).exists());
}

#[test]
fn definitions_of_dead_branches_are_not_tuned() {
    let text = format!("#if 0\n// croq: tune X in 1, 2\n#define X 1\n#endif\n{KERNEL}");
    let (_folder, path) = file(&text);
    let inputs = inputs::find(Path::new(""), Path::new(&path)).expect("found");
    let given = Given::of(&[path]).expect("good");
    let found = tunables(&inputs[0], &given);
    let names: Vec<&str> = found.iter().map(|tunable| tunable.name.as_str()).collect();
    assert_eq!(names, ["TILE"]);
}

fn report(rows: Vec<(i64, RowOutcome)>) -> FileReport {
    let rows = rows.into_iter().map(|(value, outcome)| Row {
        values: vec![("TILE_K".to_owned(), value), ("B".to_owned(), 1)],
        outcome,
    });
    FileReport {
        file: "kernels/k.co".to_owned(),
        all: 9,
        basis: "by time on \"x\"".to_owned(),
        rows: rows.collect(),
    }
}

fn timed(nanoseconds: u64) -> RowOutcome {
    RowOutcome::Measured {
        cost: Cost::Time(nanoseconds),
        difference: 0.0,
    }
}

#[test]
fn the_cheapest_right_candidate_is_chosen() {
    let rejected = RowOutcome::Rejected {
        code: "E0508".to_owned(),
        message: "too many threads".to_owned(),
    };
    let report = report(vec![
        (64, timed(2000)),
        (8, RowOutcome::Wrong("`f`[0] is 1, and 2".to_owned())),
        (128, timed(1500)),
        (32, timed(1500)),
        (256, rejected),
        (16, RowOutcome::Failed("no memory".to_owned())),
    ]);
    assert_eq!(report.chosen(), Some(2));
    assert_eq!(
        report.table(),
        "kernels/k.co: 6 of 9 candidates\n  by time on \"x\"\n  TILE_K  B  result\n  \
         128     1  1.50 µs, chosen\n  32      1  1.50 µs\n  \
         64      1  2.00 µs (the file's own values)\n  8       1  WRONG: `f`[0] is 1, and 2\n  \
         16      1  failed: no memory\n  256     1  E0508: too many threads\n  \
         3 candidates were not tried: `--limit` sets how many are\n"
    );
    let json = report.json();
    for part in [
        "{\"file\":\"kernels/k.co\",\"combinations\":9,\"basis\":\"by time on \\\"x\\\"\",\"is_time\":true,",
        "{\"values\":{\"TILE_K\":8,\"B\":1},\"status\":\"wrong\",\"message\":\"`f`[0] is 1, and 2\"}",
        "{\"values\":{\"TILE_K\":128,\"B\":1},\"status\":\"chosen\",\"nanoseconds\":1500,\"difference\":0e0}",
        "\"status\":\"rejected\",\"code\":\"E0508\"",
        "\"status\":\"failed\",\"message\":\"no memory\"",
        "\"chosen\":{\"TILE_K\":128,\"B\":1}}",
    ] {
        assert!(json.contains(part), "no {part} in {json}");
    }
}

#[test]
fn nothing_is_chosen_of_wrong_candidates_and_the_first_of_equal_ones() {
    let wrong = report(vec![
        (1, RowOutcome::Failed(String::new())),
        (2, RowOutcome::Wrong(String::new())),
    ]);
    assert_eq!(wrong.chosen(), None);
    assert!(
        wrong.json().ends_with("\"chosen\":null}"),
        "{}",
        wrong.json()
    );
    let counted = |wavefronts: u64, sectors: u64| RowOutcome::Measured {
        cost: Cost::Counts(Counts {
            instructions: 8,
            sectors,
            wavefronts,
        }),
        difference: 1e-7,
    };
    let equal = report(vec![(1, counted(9, 2)), (2, counted(9, 3))]);
    assert_eq!(equal.chosen(), Some(0));
    let table = equal.table();
    assert!(
        table.contains(
            "9 clocks: 8 instructions, 2 sectors, 9 wavefronts, differs by 1.0e-7, chosen"
        ),
        "{table}"
    );
    assert!(
        table.contains("no candidate is better than another; the first one is kept"),
        "{table}"
    );
    assert!(!equal.json().contains("\"is_time\":true"));
}

#[test]
fn chosen_values_of_other_files_are_kept() {
    let (folder, path) = file(KERNEL);
    let out = folder.path().join(OUT);
    let path = Path::new(&path).canonicalize().expect("there");
    let other = Entry {
        file: "other.co".to_owned(),
        hash: tuned::hash("x"),
        values: vec![("A".to_owned(), 1)],
    };
    let mut entries = vec![other.clone()];
    for value in [64, 32] {
        let said = write(
            &out,
            &mut entries,
            &path,
            KERNEL,
            &vec![("TILE".to_owned(), value)],
        );
        assert!(
            said.expect("written")
                .starts_with(&format!("TILE = {value} written to"))
        );
        let found = tuned::read(&out).expect("well-formed");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], other);
        assert_eq!(
            (&*found[1].file, &found[1].hash),
            ("k.co", &tuned::hash(KERNEL))
        );
        assert_eq!(found[1].values, [("TILE".to_owned(), value)]);
    }
}

const SEVERAL: &str = "\
// croq: tune WIDE in 2, 4
template <typename T, int WIDE = 2>
__co__ void raised(global T [N] x, T value) { parallel i by N { x.at(i) = x.at(i) + value; } }
template __co__ raised<f32>;
template __co__ raised<s32, 8>;
template __co__ raised<s32, 16>;
__co__ f16 [M, 4] turned(f16 [4, M] x, f32 [] &y, u8 [M] z, bool up) {
  f16 [M, 4] t;
  parallel {j, i} by [4, M] { t.at(i, j) = x.at(j, i); }
  return t;
}
__co__ s32 count(s32 [M] x, s32 n) { return n; }
";

/// The program that calls the functions of a text.
fn program(text: &str, args: &[&str]) -> Result<String, String> {
    let (_folder, path) = file(text);
    let args: Vec<String> = args
        .iter()
        .map(|arg| (*arg).to_owned())
        .chain([path.clone()])
        .collect();
    let given = Given::of(&args).expect("good");
    let inputs = inputs::find(Path::new(""), Path::new(&path)).expect("found");
    let calls = compiled(&inputs[0], text, &given);
    let calls = calls.unwrap_or_else(|_| panic!("{:?}", croq(&["check", &path])));
    let selected = driver::selected(&calls, &given.functions);
    let selected: Vec<Call> = selected.into_iter().cloned().collect();
    driver::main(&[(3, selected)], &given)
}

#[test]
fn the_program_calls_each_function_with_its_types() {
    let text = SEVERAL.replace("f32 [] &y", "f32 [M] &y");
    let program_of = |args: &[&str]| program(&text, args);
    let main = program_of(&["--size", "N=8,M=16,value=2,up=0,n=-3"]).expect("a program");
    for line in [
        "        3 => candidate_3(run),\n",
        "let mut p0 = Tensor::<f32, _>::random((8usize,), -1.0..1.0, 1).to_device(&run.device)?;",
        "let mut p0 = Tensor::<i32, _>::random((8usize,), -8..8, 1).to_device(&run.device)?;",
        "run.once(|| kernels::c3::raised::<{ 2 }, _, _>(&mut p0, (2 as f32)))?;",
        "run.once(|| kernels::c3::raised::<{ 16 }, _, _>(&mut p0, (2 as i32)))?;",
        "run.put(\"raised.x\", \"f32\", &p0)?;",
        "run.put(\"raised#3.x\", \"s32\", &p0)?;",
        "let p0 = Tensor::<f16, _>::random((4usize, 16usize), -1.0..1.0, 1).to_device(&run.device)?;",
        "let mut p1 = Tensor::<f32, _>::random((16usize,), -1.0..1.0, 2);",
        "let p2 = Tensor::<u8, _>::random((16usize,), 0..16, 3).to_device(&run.device)?;",
        "kernels::c3::turned(&p0, &mut p1, &p2, (0 as i64 != 0))",
        "run.put(\"turned\", \"f16\", &result)?;",
        "kernels::c3::count(&p0, (-3 as i32))",
        "run.timed(\"count\", || kernels::c3::count(&p0, (-3 as i32)).map(drop))?;",
    ] {
        assert!(main.contains(line), "no {line} in\n{main}");
    }
    let one = program_of(&["--function", "raised<s32,8>", "--size=N=8"]).expect("a program");
    assert_eq!(one.matches("run.once(||").count(), 1, "{one}");
    assert!(one.contains("(1 as i32)"), "{one}");
    for (args, part) in [
        (
            &["--size=N=8,M=2.5", "--function=turned"][..],
            "an extent is a positive integer",
        ),
        (
            &["--function=count", "--size=M=2,n=1.5"],
            "`n` is an integer",
        ),
        (&["--function=count"], "the extent `M` has no value"),
    ] {
        let why = program_of(args).expect_err("refused");
        assert!(why.contains(part), "{args:?}: {why}");
    }
    let packed = "__co__ void f(global s4 [8] x) { parallel i by 8 { x.at(i) = 1; } }";
    let why = program(packed, &[]).expect_err("refused");
    assert!(why.contains("has the tensor `x`"), "{why}");
}
