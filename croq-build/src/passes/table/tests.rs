//! Compares the table with its page, and runs all kernels through it.

use std::fmt::Write as _;

use super::{IMPROVEMENT, STAGES, all, of_lowering};
use crate::diagnostics::Severity;
use crate::ir::{Function, KernelId, Phase};
use crate::passes::driver;
use crate::passes::pass::{Kind, Pass, State};
use crate::passes::property::Property;
use crate::settings::Checks;

#[test]
fn names_are_unique_and_each_pass_says_what_it_does() {
    for (at, pass) in all().enumerate() {
        assert!(!pass.does.is_empty(), "{}", pass.name);
        let same = all().skip(at + 1).find(|p| p.name == pass.name);
        assert!(same.is_none(), "{}", pass.name);
    }
}

/// `CROQ_BLESS=1` rewrites the page.
#[test]
fn the_page_lists_the_table() {
    let mut page = "# The passes\n\n\
        Between `sema` and `emit`, in this order. Written from `croq-build/src/passes/table`;\n\
        a test compares it (`CROQ_BLESS=1 cargo test -p croq-build --lib passes::table` renews it).\n\
        `croq emit --ir` prints the IR before the first pass, `--ir=after:PASS` after one of them, and\n\
        `--ir=all` after each. `CROQ_DUMP_IR=PASS,...` (or `all`), with `CROQ_DUMP_KERNEL=name` for one kernel,\n\
        writes the same from a build script to `OUT_DIR/croq-ir`. After each pass the verifier\n\
        (`ir/verify`) runs in debug builds, and in release builds under `CROQ_VERIFY=1`.\n\n\
        The table has stages; an error in a function ends its way where the next stage begins.\n\
        What a pass ensures of kernels holds until the end (`passes/property.rs`); what it requires, an\n\
        earlier one has ensured. Tests compare both with the IR.\n"
        .to_owned();
    for stage in STAGES {
        let _ = write!(
            page,
            "\n## Stage `{}`\n\nFor {}.\n\n\
            | pass | kind | what it does | why it stands there | requires | ensures |\n\
            |---|---|---|---|---|---|\n",
            stage.name, stage.about
        );
        for pass in stage.passes {
            let (name, kind) = (pass.name, pass.kind.name());
            let _ = writeln!(
                page,
                "| `{name}` | {kind} | {} | {} | {} | {} |",
                pass.does,
                pass.because,
                pass.requires
                    .iter()
                    .map(|p| p.phrase())
                    .collect::<Vec<_>>()
                    .join("; "),
                pass.ensures
                    .iter()
                    .map(|p| p.phrase())
                    .collect::<Vec<_>>()
                    .join("; "),
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

#[test]
fn required_properties_are_ensured_before() {
    let mut ensured: Vec<Property> = Vec::new();
    for pass in all() {
        for property in pass.requires {
            assert!(ensured.contains(property), "{}: {property:?}", pass.name);
        }
        for property in pass.ensures {
            assert!(!ensured.contains(property), "{}: {property:?}", pass.name);
            ensured.push(*property);
        }
    }
}

/// Without them, a function is lowered all the same, and has the same reports.
#[test]
fn passes_that_improve_only_transform() {
    let kinds = IMPROVEMENT.passes.iter().map(|pass| pass.kind);
    assert!(kinds.into_iter().all(|kind| kind == Kind::Transformation));
    use crate::pipeline::{FileNames, Options, compile_text};
    let names = FileNames {
        path: "t.co".to_owned(),
        stem: "t".to_owned(),
        hash: "0".to_owned(),
    };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["tests/emit", "tests/ui/expressions"] {
        crate::passes::transform::barriers::races::co_files(&root.join(folder), &mut files);
    }
    let mut large = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let reports = |texts: bool| {
            let options = Options {
                texts,
                ..Options::default()
            };
            let reports = compile_text(&names, &text, &options).diagnostics;
            let reports = reports
                .into_iter()
                .map(|d| format!("{} {}", d.code, d.message));
            reports.collect::<Vec<_>>()
        };
        let found = reports(false);
        assert_eq!(found, reports(true), "{}", path.display());
        large += found
            .iter()
            .filter(|report| report.contains("grows too large"))
            .count();
    }
    assert!(large > 0);
}

/// Checks that ensured properties hold after each pass, and records the properties that a pass
/// established.
#[derive(Default)]
struct Ensured {
    broken: Vec<String>,
    before: Vec<Property>,
    established: Vec<Property>,
}

/// Properties that the IR of a kernel, or of all, contradicts, among those that the first `passes`
/// of the table ensure.
fn broken<P: Phase>(function: &Function<P>, id: Option<KernelId>, passes: usize) -> Vec<Property> {
    let of = |at: usize| id.is_none_or(|id| id.index() == at);
    let kernels = function.kernels.iter().enumerate();
    let kernels: Vec<_> = kernels.filter(|(at, _)| of(*at)).collect();
    let is_broken = |p: &Property| kernels.iter().any(|(_, k)| p.is_broken(function, k));
    let properties = all().take(passes).flat_map(|pass| pass.ensures).copied();
    properties.filter(is_broken).collect()
}

impl driver::Observe for Ensured {
    fn after<P: Phase>(
        &mut self,
        pass: &'static Pass,
        function: &Function<P>,
        id: Option<KernelId>,
    ) {
        let end = all().position(|p| p.name == pass.name).expect("a row");
        // The observer must know before the next pass which of its properties do not hold yet.
        let now = broken(function, id, end + 2);
        for property in all().take(end + 1).flat_map(|p| p.ensures) {
            if now.contains(property) {
                self.broken
                    .push(format!("{property:?} after {}", pass.name));
            }
        }
        let established = pass.ensures.iter().filter(|p| self.before.contains(p));
        self.established.extend(established);
        self.before = now;
    }
}

/// Checks the properties of the table on the IR after each pass over these files.
#[test]
fn ensured_properties_hold_until_the_end() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["tests/emit", "tests/run"] {
        crate::passes::transform::barriers::races::co_files(&root.join(folder), &mut files);
    }
    let mut ensured = Ensured::default();
    let mut look = |path: &str, text: &str| {
        let (functions, mut diags) = crate::sema::testing::elaborated(path, text);
        let limits = crate::pipeline::Options::default().shared_limits();
        for mut function in functions {
            ensured.before = broken(&function, None, 1);
            let mut state = State::new(limits, true, Checks::All, false, &mut diags);
            driver::complete(&mut function, &mut state, &mut ensured);
            driver::lower(function, &mut state, &mut ensured);
        }
        assert_eq!(ensured.broken, [""; 0], "{path}");
    };
    look("everything.co", EVERYTHING);
    for path in files {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        look(&path.display().to_string(), &text);
    }
    // Properties that are visible in the IR must have been violated before their pass in some file.
    for property in all().flat_map(|pass| pass.ensures) {
        let shown = !matches!(
            property,
            Property::ThreadsDecided
                | Property::EventsCounted
                | Property::AccessesOrdered
                | Property::SwizzlesApplied
                | Property::IntegersExact
                | Property::OfThreads
        );
        let established = ensured.established.contains(property);
        assert_eq!(established, shown, "{property:?}");
    }
}

#[test]
fn a_prefix_of_the_table_runs() {
    let (_, mut functions, mut diags) = crate::sema::testing::program("t.co", EVERYTHING);
    let mut function = functions.swap_remove(0);
    let limits = crate::pipeline::Options::default().shared_limits();
    let mut state = State::new(limits, true, Checks::All, true, &mut diags);
    assert_eq!(
        driver::run_until("no-such-pass", &mut function, &mut state),
        None
    );
    assert_eq!(
        driver::run_until("mma", &mut function, &mut state),
        Some(())
    );
    let holds = |p: Property| {
        function
            .kernels
            .iter()
            .all(|kernel| !p.is_broken(&function, kernel))
    };
    assert!(holds(Property::MmasLowered) && holds(Property::SharedPlaced));
    assert!(!holds(Property::TmaLowered) && !holds(Property::EventsLowered));
    let ran: Vec<_> = of_lowering(true).map(|pass| pass.name).collect();
    let end = ran.iter().position(|name| *name == "mma").expect("a row");
    let ran = ran.get(..=end).expect("rows up to it");
    assert_eq!(state.ran, ran);
}

/// Runs every file of kernels through all stages, with verification after each, and prints its IR: of
/// `kernels`, after every pass. Their device text has no checks of integers. One test, because compiling
/// them takes most of its time.
#[test]
fn all_kernels_verify_and_print() {
    use crate::passes::transform::barriers::races::{co_files, in_two_threads};
    use crate::pipeline::{Dump, FileNames, Options, SEMA, compile_and_dump};
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let files_of = |folder: &str| {
        let mut files = Vec::new();
        co_files(&root.join(folder), &mut files);
        assert!(!files.is_empty(), "{folder}");
        files
    };
    let compiled_and_printed = |path: &std::path::Path, dump: &Dump| {
        let text = std::fs::read_to_string(path).expect("UTF-8");
        let names = FileNames {
            path: path.display().to_string(),
            stem: "x".to_owned(),
            hash: "0".to_owned(),
        };
        let (compiled, ir) = compile_and_dump(&names, &text, &Options::default(), dump);
        let path = path.display();
        let internal = compiled.diagnostics.iter().find(|d| d.code == "E1199");
        assert!(internal.is_none(), "{path}: {internal:#?}");
        let printed = ir.contains(" after sema") && ir.contains(" after exact-integers\n");
        assert!(printed, "{path}");
        // Only a broken IR has ids without a target.
        let broken = ir.contains("<local ") || ir.contains("<buffer ");
        assert!(!broken, "{path}");
        compiled
    };
    let two = Dump {
        after: [SEMA, "exact-integers"].map(str::to_owned).to_vec(),
        ..Dump::default()
    };
    let others = [files_of("tests/run"), files_of("examples")].concat();
    in_two_threads(&others, |path| {
        compiled_and_printed(path, &two);
    });
    let every = Dump {
        all: true,
        ..Dump::default()
    };
    let kernels = files_of("kernels/co");
    assert!(kernels.len() > 30, "{}", kernels.len());
    in_two_threads(&kernels, |path| {
        let compiled = compiled_and_printed(path, &every);
        let device = compiled.outputs.expect("no errors").device;
        // Its work items are data, and the coordinates of its boxes are computed from them.
        let of_data = 2 * usize::from(path.ends_with("matmul/teams.co"));
        let (_, checks) = crate::passes::transform::exact::tests::checks_of(&device);
        assert_eq!(checks, of_data, "{}", path.display());
    });
}

/// The reports when the table runs without one of its passes.
fn codes_without(forgotten: &str, text: &str) -> Vec<String> {
    let (_, functions, mut diags) = crate::sema::testing::program("t.co", text);
    assert!(!diags.has_errors(), "{:#?}", diags.into_sorted());
    let limits = crate::pipeline::Options::default().shared_limits();
    let passes = of_lowering(true).filter(|pass| pass.name != forgotten);
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

/// A kernel with work for every lowering.
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
        // The missing declarations of `tma-arrivals` are detected before the end.
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
