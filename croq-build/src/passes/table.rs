//! The table of passes, in the order in which they run. The driver, `croq emit --ir=after:PASS`,
//! `CROQ_DUMP_IR` and tests that run a prefix of it all read this table.

use super::{
    accumulators, checks, conflicts, copies, events, exact, grid_copies, groups, hazards, helpers,
    lanes, mma, note_asynchronous, note_order, note_shared, padding, participants, registers,
    shared, signals, tma, together, unused, unwritten, warps,
};
use crate::config::Checks;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::ir::{Function, KernelId, verify};

/// What a pass does to the IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reports; changes nothing.
    Check,
    /// Leaves what it found in the function, for passes after it.
    Analysis,
    /// Changes statements without replacing their kind by a simpler one.
    Transformation,
    /// Replaces statements by simpler ones.
    Lowering,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Check => "check",
            Kind::Analysis => "analysis",
            Kind::Transformation => "transformation",
            Kind::Lowering => "lowering",
        }
    }
}

/// What passes read besides the function, and what they hand on to each other.
pub struct State<'a> {
    pub limits: shared::Limits,
    /// Threads may get their indices in another order than the program's.
    pub reorder: bool,
    pub checks: Checks,
    pub diags: &'a mut Diagnostics,
    /// The kernel is one copy or fill that was spread over a grid: it has no tiles, and passes over tiles
    /// leave it out.
    spread: bool,
    /// From `events` for `tma-arrivals`: what the kernel begins with.
    beginning: events::Beginning,
}

impl<'a> State<'a> {
    pub fn new(
        limits: shared::Limits,
        reorder: bool,
        checks: Checks,
        diags: &'a mut Diagnostics,
    ) -> Self {
        Self {
            limits,
            reorder,
            checks,
            diags,
            spread: false,
            beginning: events::Beginning::default(),
        }
    }
}

enum Run {
    Function(fn(&mut Function, &mut State)),
    Kernel(fn(&mut Function, KernelId, &mut State)),
    /// Of kernels that have tiles.
    Tiles(fn(&mut Function, KernelId, &mut State)),
}

pub struct Pass {
    pub name: &'static str,
    pub kind: Kind,
    /// What it does.
    pub does: &'static str,
    /// Why it stands where it does; empty where the order does not matter.
    pub because: &'static str,
    run: Run,
}

impl Pass {
    /// Whether it runs once for each kernel.
    pub fn is_of_kernels(&self) -> bool {
        !matches!(self.run, Run::Function(_))
    }
}

use Kind::{Analysis, Check, Lowering, Transformation};

/// All of them, in order. Neighbouring passes over kernels run one kernel after the other.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "fewer-checks",
        kind: Transformation,
        does: "drops the run-time checks that the build does not ask for",
        because: "before everything that would keep a check's operands alive",
        run: Run::Function(|function, state| match state.checks {
            Checks::Entry => checks::lower(function, true),
            Checks::None => checks::lower(function, false),
            Checks::All | Checks::Report => {}
        }),
    },
    Pass {
        name: "signals",
        kind: Check,
        does: "the host does not wait for launches that wait for the host",
        because: "",
        run: Run::Function(|function, state| signals::check(function, state.diags)),
    },
    Pass {
        name: "unwritten",
        kind: Analysis,
        does: "shared memory, local arrays and fragments that may be read before they are written",
        because: "while copies and fragments are still whole",
        run: Run::Function(|function, _| {
            for at in 0..function.kernels.len() {
                unwritten::find(function, id(at));
            }
        }),
    },
    Pass {
        name: "mma-layouts",
        kind: Lowering,
        does: "fragments become what each thread holds of them; products get a layout and an instruction",
        because: "all other passes see fragments as per-thread arrays",
        run: Run::Function(|function, _| mma::prepare(function)),
    },
    Pass {
        name: "grid-copies",
        kind: Lowering,
        does: "a copy or fill between kernels is spread over a grid",
        because: "such a kernel has no tiles, and passes over tiles leave it out",
        run: Run::Kernel(|function, id, state| {
            state.beginning = events::Beginning::default();
            state.spread = grid_copies::spread(function, id);
        }),
    },
    Pass {
        name: "shared-by-instances",
        kind: Analysis,
        does: "device memory of which two instances may touch one element",
        because: "while indices are those of the program",
        run: Run::Tiles(|function, id, state| note_shared(function, id, state.diags)),
    },
    Pass {
        name: "helper-threads",
        kind: Transformation,
        does: "a block for which the program asks no threads gets more than one",
        because: "before anything depends on the number of threads",
        run: Run::Tiles(|function, id, state| {
            if let Some(note) = helpers::add(function, id) {
                state.diags.push(note);
            }
        }),
    },
    Pass {
        name: "thread-order",
        kind: Transformation,
        does: "chooses the index that is the fastest among a level's threads, where nothing can tell",
        because: "before indices are spelled by thread numbers",
        run: Run::Tiles(|function, id, state| {
            if state.reorder {
                lanes::choose(function, id);
            }
        }),
    },
    Pass {
        name: "multicast",
        kind: Check,
        does: "loads for several blocks of a cluster are the same in all of them",
        because: "while copies are whole",
        run: Run::Tiles(|function, id, state| tma::check_multicast(function, id, state.diags)),
    },
    Pass {
        name: "grid-barriers",
        kind: Check,
        does: "all threads of a grid come to its barriers",
        because: "while conditions are those of the program",
        run: Run::Tiles(|function, id, state| together::check(function, id, state.diags)),
    },
    Pass {
        name: "event-order",
        kind: Check,
        does: "each wait for an event has a trigger that can come before it",
        because: "while events are whole",
        run: Run::Tiles(|function, id, state| events::check_order(function, id, state.diags)),
    },
    Pass {
        name: "registers",
        kind: Check,
        does: "`setreg` asks for no more registers than a multiprocessor has",
        because: "",
        run: Run::Tiles(|function, id, state| registers::settle(function, id, state.diags)),
    },
    Pass {
        name: "events",
        kind: Lowering,
        does: "events become mbarriers with arrival counts and phase bits",
        because: "before barriers are inserted, which mbarriers make superfluous",
        run: Run::Tiles(|function, id, state| {
            state.beginning = events::prepare(function, id, state.diags);
        }),
    },
    Pass {
        name: "tma-regions",
        kind: Check,
        does: "loads for several blocks stand where all of a region come",
        because: "once events say who waits",
        run: Run::Tiles(|function, id, state| tma::check_regions(function, id, state.diags)),
    },
    Pass {
        name: "tma-arrivals",
        kind: Lowering,
        does: "each TMA load gets an mbarrier slot, and the kernel its prologue",
        because: "after `events`, whose mbarriers the prologue initialises, too",
        run: Run::Tiles(|function, id, state| {
            tma::prepare(function, id, std::mem::take(&mut state.beginning));
        }),
    },
    Pass {
        name: "barriers",
        kind: Transformation,
        does: "inserts barriers and fences where one thread's access must follow another's",
        because: "copies must be whole, and asynchronous ones must have their waits",
        run: Run::Tiles(|function, id, _| hazards::insert_barriers(function, id)),
    },
    Pass {
        name: "promotion",
        kind: Transformation,
        does: "elements that a loop updates are kept in registers",
        because: "after `barriers`: a barrier in the loop forbids it",
        run: Run::Tiles(|function, id, _| accumulators::hold(function, id)),
    },
    Pass {
        name: "row-padding",
        kind: Transformation,
        does: "rows of transposed tiles get padding that avoids bank conflicts",
        because: "before buffers get addresses",
        run: Run::Tiles(|function, id, _| padding::set_apart(function, id)),
    },
    Pass {
        name: "bank-conflicts",
        kind: Check,
        does: "accesses of shared memory that the banks serve slowly",
        because: "after `row-padding`, which removes some",
        run: Run::Tiles(|function, id, state| {
            conflicts::told(function, id)
                .into_iter()
                .for_each(|found| state.diags.push(found));
        }),
    },
    Pass {
        name: "shared-memory",
        kind: Analysis,
        does: "shared buffers get addresses; buffers with disjoint live ranges share storage",
        because: "after all passes that add or widen shared buffers",
        run: Run::Tiles(|function, id, state| shared::plan(function, id, state.limits)),
    },
    Pass {
        name: "barrier-ids",
        kind: Lowering,
        does: "each barrier gets one of the hardware's sixteen",
        because: "after `barriers` and `shared-memory`, which both insert them",
        run: Run::Tiles(|function, id, state| participants::name(function, id, state.diags)),
    },
    Pass {
        name: "mma",
        kind: Lowering,
        does: "products, loads and stores of fragments become instructions",
        because: "before swizzles are resolved, which operands' addresses need",
        run: Run::Tiles(|function, id, _| mma::expand(function, id)),
    },
    Pass {
        name: "swizzles",
        kind: Lowering,
        does: "elements of swizzled buffers are addressed by groups of columns",
        because: "after `mma`, whose descriptors count row by row",
        run: Run::Tiles(|function, id, _| groups::place(function, id)),
    },
    Pass {
        name: "tma",
        kind: Lowering,
        does: "TMA copies become instructions with coordinates",
        because: "after `swizzles`: a box is addressed by its first element",
        run: Run::Tiles(|function, id, _| tma::expand(function, id)),
    },
    Pass {
        name: "copies",
        kind: Lowering,
        does: "copies and fills become the moves of single threads",
        because: "after `tma`, which takes its own copies away",
        run: Run::Tiles(|function, id, state| {
            copies::expand(function, id)
                .into_iter()
                .for_each(|slow| state.diags.push(slow));
        }),
    },
    Pass {
        name: "asynchronous",
        kind: Analysis,
        does: "whether bytes may land after the statement that moves them, and whether warpgroups multiply",
        because: "once copies and products are instructions",
        run: Run::Kernel(|function, id, _| note_asynchronous(function, id)),
    },
    Pass {
        name: "block-order",
        kind: Analysis,
        does: "whether what a kernel leaves depends on the order of its blocks",
        because: "",
        run: Run::Kernel(|function, id, _| note_order(function, id)),
    },
    Pass {
        name: "promotion-around-copies",
        kind: Transformation,
        does: "`promotion` again, for elements that copies touch",
        because: "once copies are moves of single threads",
        run: Run::Kernel(|function, id, _| accumulators::hold_around_copies(function, id)),
    },
    Pass {
        name: "warp-uniform",
        kind: Transformation,
        does: "makes visible to ptxas what is the same for all threads of a warp",
        because: "once every thread number is spelled out",
        run: Run::Kernel(|function, id, _| warps::tell(function, id)),
    },
    Pass {
        name: "dead-code",
        kind: Transformation,
        does: "drops names that nothing reads",
        because: "after all passes that add names",
        run: Run::Kernel(|function, id, _| unused::drop_from(function, id)),
    },
    Pass {
        name: "shared-memory-limits",
        kind: Check,
        does: "the shared memory of a block is what a GPU has",
        because: "after `shared-memory`",
        run: Run::Kernel(|function, id, state| {
            let kernel = function.kernels.get(id.index());
            let excess = kernel.and_then(|kernel| shared::excess(function, kernel, state.limits));
            if let Some(excess) = excess {
                state.diags.push(excess);
            }
        }),
    },
    Pass {
        name: "exact-integers",
        kind: Transformation,
        does: "checks integers that could overflow where they are computed",
        because: "last: it sees every expression that will be printed",
        run: Run::Function(|function, state| exact::check(function, state.checks, state.diags)),
    },
];

fn id(at: usize) -> KernelId {
    KernelId(u32::try_from(at).unwrap_or(u32::MAX))
}

/// Of functions with more kernels, none is verified by itself.
const MOST_KERNELS: usize = 64;

/// Verifies the function, or one of its kernels, after a stage, where this build or `CROQ_VERIFY=1` asks for it. A violation is reported
/// as an error of croq; whether there was none.
pub fn verified(
    stage: &str,
    function: &Function,
    kernel: Option<KernelId>,
    diags: &mut Diagnostics,
) -> bool {
    if !cfg!(debug_assertions) && !std::env::var("CROQ_VERIFY").is_ok_and(|v| v == "1") {
        return true;
    }
    let result = match kernel {
        // Each would be as long as the host's text: of so many, only whole functions are verified.
        Some(_) if function.kernels.len() > MOST_KERNELS => return true,
        Some(id) => verify::kernel(function, id),
        None => verify::function(function),
    };
    let Err(violation) = result else {
        return true;
    };
    let verify::Violation {
        kernel,
        what,
        stmt,
        span,
    } = violation;
    let place = kernel.unwrap_or_else(|| format!("{}, on the host", function.name));
    diags.push(
        Diagnostic::new(
            "E1199",
            span,
            format!("internal error after `{stage}` in {place}: {what}"),
        )
        .label("the statement comes from here")
        .note(format!("statement: {stmt}"))
        .help("this is an error in croq, not in the program; please report it with this file"),
    );
    false
}

/// Called after a pass: on one kernel, or on the whole function.
pub type Observer<'o> = dyn FnMut(&'static Pass, &Function, Option<KernelId>) + 'o;

/// Runs the table up to the pass before `end`, or all of it. It ends early at an internal error.
pub fn run_until(
    function: &mut Function,
    end: Option<&str>,
    state: &mut State,
    observe: &mut Observer,
) {
    let count = PASSES.iter().position(|pass| Some(pass.name) == end);
    let mut rest = &PASSES[..count.unwrap_or(PASSES.len())];
    while let Some((first, _)) = rest.split_first() {
        let of_kernels = rest.iter().take_while(|pass| pass.is_of_kernels()).count();
        if of_kernels == 0 {
            if let Run::Function(run) = first.run {
                run(function, state);
            }
            observe(first, function, None);
            if !verified(first.name, function, None, state.diags) {
                return;
            }
            rest = &rest[1..];
            continue;
        }
        let (now, later) = rest.split_at(of_kernels);
        for at in 0..function.kernels.len() {
            for pass in now {
                match pass.run {
                    Run::Kernel(run) => run(function, id(at), state),
                    Run::Tiles(run) if !state.spread => run(function, id(at), state),
                    _ => {}
                }
                observe(pass, function, Some(id(at)));
                if !verified(pass.name, function, Some(id(at)), state.diags) {
                    return;
                }
            }
        }
        rest = later;
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn names_are_unique_and_each_pass_says_what_it_does() {
        for (at, pass) in PASSES.iter().enumerate() {
            assert!(!pass.does.is_empty(), "{}", pass.name);
            let same = PASSES.iter().skip(at + 1).find(|p| p.name == pass.name);
            assert!(same.is_none(), "{}", pass.name);
        }
    }

    /// `CROQ_BLESS=1` writes the page anew.
    #[test]
    fn the_page_lists_the_table() {
        let mut page = "# The passes\n\n\
            Between `sema` and `emit`, in this order. Written from `croq-build/src/passes/table.rs`;\n\
            a test compares it (`CROQ_BLESS=1 cargo test -p croq-build --lib passes::table` renews it).\n\
            `croq emit --ir` prints the IR before the first pass, `--ir=after:PASS` after one of them, and\n\
            `--ir=all` after each. `CROQ_DUMP_IR=PASS,...` (or `all`), with `CROQ_DUMP_KERNEL=name` for one kernel,\n\
            writes the same from a build script to `OUT_DIR/croq-ir`. After each pass the verifier\n\
            (`ir/verify.rs`) runs in debug builds, and in release builds under `CROQ_VERIFY=1`.\n\n\
            | pass | kind | what it does | why it stands there |\n|---|---|---|---|\n"
            .to_owned();
        for pass in PASSES {
            let (name, kind) = (pass.name, pass.kind.name());
            let _ = writeln!(
                page,
                "| `{name}` | {kind} | {} | {} |",
                pass.does, pass.because
            );
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
            crate::passes::hazards::races::co_files(&root.join(folder), &mut files);
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
}
