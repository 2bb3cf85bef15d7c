//! The table against its page, and all kernels through it.

use std::fmt::Write as _;

use super::{LOWERING, STAGES, all};
use crate::diagnostics::Severity;
use crate::passes::driver;
use crate::passes::pass::{Kind, State};
use crate::settings::Checks;

#[test]
fn names_are_unique_and_each_pass_says_what_it_does() {
    for (at, pass) in all().enumerate() {
        assert!(!pass.does.is_empty(), "{}", pass.name);
        let same = all().skip(at + 1).find(|p| p.name == pass.name);
        assert!(same.is_none(), "{}", pass.name);
    }
}

/// `CROQ_BLESS=1` writes the page anew.
#[test]
fn the_page_lists_the_table() {
    let mut page = "# The passes\n\n\
        Between `sema` and `emit`, in this order. Written from `croq-build/src/passes/table`;\n\
        a test compares it (`CROQ_BLESS=1 cargo test -p croq-build --lib passes::table` renews it).\n\
        `croq emit --ir` prints the IR before the first pass, `--ir=after:PASS` after one of them, and\n\
        `--ir=all` after each. `CROQ_DUMP_IR=PASS,...` (or `all`), with `CROQ_DUMP_KERNEL=name` for one kernel,\n\
        writes the same from a build script to `OUT_DIR/croq-ir`. After each pass the verifier\n\
        (`ir/verify`) runs in debug builds, and in release builds under `CROQ_VERIFY=1`.\n\n\
        The table has three stages; an error in a function ends its way where the next stage begins.\n"
        .to_owned();
    for stage in STAGES {
        let _ = write!(
            page,
            "\n## Stage `{}`\n\nFor {}.\n\n\
            | pass | kind | what it does | why it stands there |\n|---|---|---|---|\n",
            stage.name, stage.about
        );
        for pass in stage.passes {
            let (name, kind) = (pass.name, pass.kind.name());
            let _ = writeln!(
                page,
                "| `{name}` | {kind} | {} | {} |",
                pass.does, pass.because
            );
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/passes.md");
    if std::env::var_os("CROQ_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, &page).expect("a writable page");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == page, "docs/passes.md is not what the table says");
}

/// Every file of kernels through all stages, verified after each; and its IR prints.
#[test]
fn all_kernels_verify_and_print() {
    use crate::pipeline::{Dump, FileNames, Options, compile_and_dump};
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["kernels/co", "tests/run", "examples"] {
        crate::passes::transform::barriers::races::co_files(&root.join(folder), &mut files);
    }
    assert!(files.len() > 50, "{}", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let names = FileNames {
            path: path.display().to_string(),
            stem: "x".to_owned(),
            hash: "0".to_owned(),
        };
        let dump = Dump {
            after: vec![
                crate::pipeline::SEMA.to_owned(),
                "exact-integers".to_owned(),
            ],
            ..Dump::default()
        };
        let (compiled, ir) = compile_and_dump(&names, &text, &Options::default(), &dump);
        let internal = compiled.diagnostics.iter().find(|d| d.code == "E1199");
        assert!(internal.is_none(), "{}: {internal:#?}", names.path);
        let printed = ir.contains(" after sema") && ir.contains(" after exact-integers");
        assert!(printed, "{}", names.path);
        // Only what is broken has ids that lead nowhere.
        assert!(
            !ir.contains("<local ") && !ir.contains("<buffer "),
            "{}",
            names.path
        );
    }
}

/// What is reported when the table runs without one of its passes.
fn codes_without(forgotten: &str, text: &str) -> Vec<String> {
    let (_, functions, mut diags) = crate::sema::testing::program("t.co", text);
    assert!(!diags.has_errors(), "{:#?}", diags.into_sorted());
    let limits = crate::pipeline::Options::default().shared_limits();
    let passes = LOWERING.passes.iter();
    let passes = passes.filter(|pass| pass.name != forgotten);
    let passes: Vec<_> = passes.collect();
    for function in functions {
        let mut state = State::new(limits, true, Checks::All, true, &mut diags);
        driver::lower_by(&passes, function, &mut state, &mut ());
    }
    let errors = diags.iter().filter(|d| d.severity() == Severity::Error);
    errors
        .map(|d| format!("{} {}", d.code, d.message))
        .collect()
}

/// A kernel with something to do for every lowering.
const EVERYTHING: &str =
    "__co__ void f(global f16 [64, 64] a, global f16 [64, 64] b, global f32 [64, 64] c,
                                       f32 [64] v) {
    f32 [64] w;
    dma.copy v => w;
    parallel by 1 : block {
      shared event full, empty = ready;
      shared f16 [64, 64] as, bs;
      parallel w by 2 : group-4 {
        inthreads.async (w == 0) {
          foreach k in [4] {
            wait empty;
            tma.copy a => as;
            tma.copy b => bs;
            trigger full;
          }
        }
        inthreads.async (w == 1) {
          mc = mma.fill 0.0f;
          foreach k in [4] {
            wait full;
            ma = mma.load.swiz<128> as;
            mb = mma.load.swiz<128> bs;
            mma.row.col mc, ma, mb;
            trigger empty;
          }
          mma.store mc, c;
        }
      }
    }
  }";

#[test]
fn a_lowering_that_is_forgotten_is_an_internal_error() {
    assert_eq!(codes_without("nothing", EVERYTHING), [""; 0]);
    let lowerings = all().filter(|pass| pass.kind == Kind::Lowering);
    for pass in lowerings.filter(|pass| pass.name != "seal") {
        let found = codes_without(pass.name, EVERYTHING);
        let internal = found.iter().all(|error| error.starts_with("E1199 "));
        assert!(internal && !found.is_empty(), "{}: {found:#?}", pass.name);
        // What `tma-arrivals` would have declared is missed before the end.
        let named = found
            .iter()
            .any(|e| e.contains(&format!("`{}`", pass.name)));
        assert!(
            named || pass.name == "tma-arrivals",
            "{}: {found:#?}",
            pass.name
        );
    }
}
