//! Runs all pure stages: the input is the text of a `.co` file, the output diagnostics and
//! generated texts.

use crate::diagnostics::levels::Levels;
use crate::diagnostics::{Diagnostic, Diagnostics, InstanceName, Severity, codes, notes_once};
use crate::emit::{self, Declared, FileMeta};
use crate::ir::{self, Function, KernelId, Phase, Threads};
use crate::parallel;
use crate::passes::pass::{Pass, State};
use crate::passes::{self, driver};
use crate::sema::{self, Checked};
use crate::settings::{Checks, ThreadOrder};
use crate::source::{self, SourceFile, Span};
use crate::suppression::Allowed;
use crate::syntax;
use crate::target::{Arch, Version};

/// The inputs of the compilation besides the file.
#[derive(Clone, Debug)]
pub struct Options {
    /// Macros from `-D` options.
    pub defines: Vec<(String, String)>,
    /// Instances of templates that the build script requests: `scaled<f16, 256>`.
    pub instances: Vec<String>,
    /// The namespace in which `call` finds functions by their plain names.
    pub device_namespace: Option<String>,
    /// The architectures that the kernels must be legal for.
    pub archs: Vec<Arch>,
    /// Whether these architectures were asked for; otherwise they are the default, and which of them
    /// a kernel leaves out is not reported.
    pub archs_asked: bool,
    /// Wrappers also call a CUDA twin.
    pub cuda: bool,
    /// The nvcc that compiles it, if that is known.
    pub nvcc: Option<Version>,
    pub checks: Checks,
    pub thread_order: ThreadOrder,
    /// What happens to warnings and notes.
    pub levels: Levels,
    /// Whether the IR is verified after each stage.
    pub verify: bool,
    /// Whether texts are generated; otherwise only diagnostics.
    pub texts: bool,
    /// Whether a file without a `__co__` function is an error. In a crate, it is a warning: such a file
    /// may be there for others to include.
    pub needs_functions: bool,
    /// How many threads the passes may use. A build script has one: it shares cargo's jobs.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            defines: Vec::new(),
            instances: Vec::new(),
            device_namespace: None,
            archs: Arch::DEFAULT.to_vec(),
            archs_asked: false,
            cuda: false,
            nvcc: None,
            checks: Checks::All,
            thread_order: ThreadOrder::Auto,
            levels: Levels::default(),
            verify: cfg!(debug_assertions),
            texts: true,
            needs_functions: false,
            threads: 1,
        }
    }
}

impl Options {
    /// The limits of a block's shared memory, over all target architectures.
    pub fn shared_limits(&self) -> passes::Limits {
        let all = self.archs.iter().map(|arch| arch.shared_bytes_per_block());
        passes::Limits {
            most: all.clone().max().unwrap_or(u64::MAX),
            least: all.min().unwrap_or(u64::MAX),
        }
    }

    fn capacities(&self) -> Vec<emit::Capacity> {
        let capacity = |arch: &Arch| emit::Capacity {
            arch: arch.to_string(),
            of_a_block: arch.shared_bytes_per_block(),
            of_a_multiprocessor: arch.shared_bytes_per_multiprocessor(),
            reserved: arch.shared_bytes_reserved(),
        };
        self.archs.iter().map(capacity).collect()
    }
}

/// The names by which generated text refers to the file.
#[derive(Clone, Debug)]
pub struct FileNames {
    /// The path in messages and `#line`, such as `kernels/scale.co`.
    pub path: String,
    /// The stem of the generated files: `scale`, or `matmul/basic` in a folder.
    pub stem: String,
    /// Makes the symbols of two files different.
    pub hash: String,
}

/// The result of compiling a file.
#[derive(Debug)]
pub struct Compiled {
    pub file: SourceFile,
    /// In the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// `None` after an error, for a file without a `__co__` function, and without [`Options::texts`].
    pub outputs: Option<Outputs>,
    /// What the file's comments allow, for the reports of compilers on the outputs.
    pub allowed: Allowed,
}

/// The generated texts.
#[derive(Debug, PartialEq, Eq)]
pub struct Outputs {
    /// Kernels and launch shims, C++ for both twins.
    pub device: String,
    /// The C header.
    pub header: String,
    /// The safe Rust functions.
    pub wrappers: String,
    /// The typed launch shims that the safe functions call.
    pub shims: String,
    /// The placement of buffers in shared memory, as text.
    pub memory: String,
    /// The functions' names.
    pub functions: Vec<String>,
    /// How a program calls them.
    pub calls: Vec<emit::Call>,
}

/// The stages after which the IR is printed: `sema`, and passes by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dump {
    /// After all passes.
    pub all: bool,
    /// Names of passes, and `sema`.
    pub after: Vec<String>,
    /// Only this kernel or function.
    pub of: Option<String>,
}

impl Dump {
    /// Adds a stage by its name, or `all`.
    ///
    /// # Errors
    ///
    /// Returns all names, if this is not one of them.
    pub fn add(&mut self, stage: &str) -> Result<(), Vec<&'static str>> {
        let passes = passes::table::all().map(|pass| pass.name);
        let stages: Vec<&str> = ["all", SEMA].into_iter().chain(passes).collect();
        if !stages.contains(&stage) {
            return Err(stages);
        }
        self.all |= stage == "all";
        self.after.push(stage.to_owned());
        Ok(())
    }
}

/// The stage whose result is the input of the passes.
pub const SEMA: &str = "sema";

/// Collects the texts that a [`Dump`] selects.
struct DumpObserver<'d> {
    dump: &'d Dump,
    text: String,
}

impl<'d> DumpObserver<'d> {
    fn new(dump: &'d Dump) -> Self {
        let text = String::new();
        Self { dump, text }
    }

    fn append(&mut self, later: Self) {
        self.push(&later.text);
    }

    fn stage<P: Phase>(&mut self, stage: &str, function: &Function<P>, kernel: Option<KernelId>) {
        let wanted = self.dump.all || self.dump.after.iter().any(|name| name == stage);
        let of = self.dump.of.as_deref();
        if !wanted {
            return;
        }
        match kernel {
            Some(id) => {
                let name = function.kernels.get(id.index()).map(|k| k.name.as_str());
                if of.is_none_or(|of| Some(of) == name || of == function.name) {
                    let name = name.unwrap_or_default();
                    let text = ir::fmt::kernel(function, id);
                    self.push(&format!("// {name} after {stage}\n{text}"));
                }
            }
            None => {
                let kernels = || function.kernels.iter().map(|k| k.name.as_str());
                if of.is_none_or(|of| of == function.name || kernels().any(|name| name == of)) {
                    let name = &function.name;
                    let text = ir::fmt::function(function);
                    self.push(&format!("// {name} after {stage}\n{text}"));
                }
            }
        }
    }

    fn push(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

impl driver::Observe for DumpObserver<'_> {
    fn after<P: Phase>(
        &mut self,
        pass: &'static Pass,
        function: &Function<P>,
        kernel: Option<KernelId>,
    ) {
        self.stage(pass.name, function, kernel);
    }
}

/// Compiles one file. Never fails: errors are among the diagnostics.
pub fn compile_text(names: &FileNames, text: &str, options: &Options) -> Compiled {
    compile_and_dump(names, text, options, &Dump::default()).0
}

/// The same, with the IR after the stages that `dump` selects, even of a file with errors.
pub fn compile_and_dump(
    names: &FileNames,
    text: &str,
    options: &Options,
    dump: &Dump,
) -> (Compiled, String) {
    let mut observer = DumpObserver::new(dump);
    let compiled = compile(names, text, options, &mut observer);
    (compiled, observer.text)
}

fn state<'d>(options: &Options, verify: bool, diags: &'d mut Diagnostics) -> State<'d> {
    let reorder = options.thread_order == ThreadOrder::Auto;
    let limits = options.shared_limits();
    State::new(limits, reorder, options.checks, verify, diags)
}

/// What the passes make of a function.
struct Passed<'d> {
    name: String,
    /// Lowered; `None` after an error, or if nothing asks for it.
    lowered: Option<Function<Threads>>,
    findings: sema::Findings,
    /// Found by the passes that lower it.
    later: Diagnostics,
    completed: DumpObserver<'d>,
    sealed: DumpObserver<'d>,
}

/// Runs all passes on a function, as far as its errors allow.
fn pass<'d>(
    checked: Checked,
    file: &SourceFile,
    options: &Options,
    syntax_errors: bool,
    dump: &'d Dump,
) -> Passed<'d> {
    let Checked {
        mut function,
        mut findings,
    } = checked;
    let name = function.name.clone();
    let (mut completed, mut sealed) = (DumpObserver::new(dump), DumpObserver::new(dump));
    let mut later = Diagnostics::new();
    let own = &mut findings.diags;
    // A function with syntax errors is incomplete.
    let verify = options.verify && !syntax_errors;
    if own.has_errors() {
        let mut state = state(options, false, own);
        driver::complete(&mut function, &mut state, &mut ());
    } else {
        completed.stage(SEMA, &function, None);
        if verify && let Err(violation) = ir::verify::function(&function) {
            own.push(driver::report(SEMA, &function, violation));
        } else {
            let mut state = state(options, verify, own);
            driver::complete(&mut function, &mut state, &mut completed);
        }
    }
    let mut lowered = None;
    if !findings.diags.has_errors() {
        let mut state = state(options, verify, &mut later);
        state.improve = options.texts;
        lowered = driver::lower(function, &mut state, &mut sealed);
    }
    // Without texts, only instances of a template are compared with each other.
    let is_asked_for = options.texts || instance(file, &name).is_some();
    Passed {
        lowered: lowered.filter(|_| is_asked_for),
        name,
        findings,
        later,
        completed,
        sealed,
    }
}

/// Runs all passes on all functions, which are independent. Returns those without errors, lowered;
/// none if there is an error in one.
fn run_passes(
    checked: Vec<Checked>,
    file: &SourceFile,
    options: &Options,
    diagnostics: &mut Diagnostics,
    observer: &mut DumpObserver,
) -> Vec<Function<Threads>> {
    let dump = observer.dump;
    let syntax_errors = diagnostics.has_errors();
    let passed = parallel::map(options.threads, checked, |checked| {
        pass(checked, file, options, syntax_errors, dump)
    });
    let mut lowering = Vec::new();
    for Passed {
        name,
        lowered,
        findings,
        later,
        completed,
        sealed,
    } in passed
    {
        observer.append(completed);
        let instance = instance(file, &name);
        diagnostics.within(instance, |diagnostics| findings.publish(diagnostics));
        lowering.push((instance, lowered, later, sealed));
    }
    let mut functions = Vec::new();
    for (instance, lowered, later, sealed) in lowering {
        observer.append(sealed);
        diagnostics.within(instance, |diagnostics| diagnostics.append(later));
        functions.extend(lowered);
    }
    if diagnostics.has_errors() {
        functions.clear();
    }
    functions
}

/// The template instance of a function, if it is one.
fn instance<'f>(file: &'f SourceFile, function: &str) -> Option<&'f InstanceName> {
    file.instance(function).map(|instance| &instance.name)
}

/// A report on an instance whose signature does not fit those of the other instances.
fn mismatched_instance(found: &emit::Disagreement) -> Diagnostic {
    Diagnostic::new(codes::E1214, found.span, found.message.clone())
        .label("all instances of a template are one Rust function")
        .also(
            found.first_span,
            format!("`{}` is asked for here", found.first),
        )
        .help("give it the parameters and the result of the template, or another name")
}

fn compile(
    names: &FileNames,
    text: &str,
    options: &Options,
    observer: &mut DumpObserver,
) -> Compiled {
    let mut diagnostics = Diagnostics::new();
    let mut file = source::load_with_instances(
        &names.path,
        text,
        &options.defines,
        &options.instances,
        &mut diagnostics,
    );
    file.device_namespace.clone_from(&options.device_namespace);
    for report in source::recursion(&file) {
        diagnostics.push(report);
    }
    let tree = syntax::parse(&file, &mut diagnostics);
    let mut allowed = Allowed::of(&file, &tree, &mut diagnostics);
    source::tuning::tunables(&file.text, &mut diagnostics);
    let targets = options.archs.iter().map(|arch| sema::Target {
        name: arch.to_string(),
        number: arch.number(),
    });
    let sema_options = sema::Options {
        targets: targets.collect(),
        targets_asked: options.archs_asked,
        nvcc: options.nvcc.map(|version| [version.major, version.minor]),
        last_is_fastest: options.thread_order == ThreadOrder::Last,
        reports: options.checks == Checks::Report,
    };
    let checked = sema::check(
        &file,
        &tree,
        &sema_options,
        options.threads,
        &mut diagnostics,
    );
    let functions = run_passes(checked, &file, options, &mut diagnostics, observer);
    for disagreement in emit::disagreements(&functions, &Declared::of(&file)) {
        diagnostics.push(mismatched_instance(&disagreement));
    }
    let generates = !file.functions.is_empty() || !file.templates.is_empty();
    if !generates && !diagnostics.has_errors() {
        let code = match options.needs_functions {
            true => codes::E1108,
            false => codes::W1108,
        };
        diagnostics.push(
            Diagnostic::new(
                code,
                Span::default(),
                format!("{} has no `__co__` function", names.path),
            )
            .label("nothing is generated from this file"),
        );
    }
    let diagnostics = reported(diagnostics, &file, &mut allowed, &options.levels);
    let wanted = options.texts && !functions.is_empty() && !has_errors(&diagnostics);
    let outputs = wanted.then(|| outputs(names, &file, &functions, options));
    Compiled {
        file,
        diagnostics,
        outputs,
        allowed,
    }
}

fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    let mut all = diagnostics.iter();
    all.any(|diagnostic| diagnostic.severity() == Severity::Error)
}

/// What is reported of all diagnostics: without those that comments or settings allow.
fn reported(
    diagnostics: Diagnostics,
    file: &SourceFile,
    allowed: &mut Allowed,
    levels: &Levels,
) -> Vec<Diagnostic> {
    let mut found = diagnostics.into_sorted();
    for diagnostic in &mut found {
        let of_macro = |span: Span| file.macro_at(span).is_some();
        let suggested = diagnostic.suggestion.as_ref().map(|s| s.span);
        if suggested.is_some_and(of_macro) || of_macro(diagnostic.primary.span) {
            diagnostic.suggestion = None;
        }
    }
    allowed.suppress(&mut found);
    // After an error, later stages may not have reported what is allowed.
    if !has_errors(&found) {
        found.extend(allowed.unused());
        found.sort_by_key(Diagnostic::order);
    }
    levels.apply(&mut found);
    notes_once(found)
}

fn outputs(
    names: &FileNames,
    file: &SourceFile,
    functions: &[ir::Function<ir::Threads>],
    options: &Options,
) -> Outputs {
    let declared = Declared::of(file);
    let meta = FileMeta {
        stem: names.stem.clone(),
        path: names.path.clone(),
        hash: names.hash.clone(),
        cuda: options.cuda,
        unchecked: matches!(options.checks, Checks::Entry | Checks::None),
        reports: options.checks == Checks::Report,
    };
    Outputs {
        device: emit::device_text(&meta, file, functions),
        header: emit::header(&meta, functions, &declared),
        shims: emit::shims(&meta, functions),
        wrappers: emit::wrappers(&meta, functions, &declared),
        memory: emit::memory_report(&meta, file, functions, &options.capacities()),
        functions: emit::wrapper_names(functions, &declared),
        calls: emit::calls(functions, &declared),
    }
}

#[cfg(test)]
mod tests {
    use super::{FileNames, Options, compile_and_dump};

    const TEXT: &str = "
        __co__ s32 [N] first(s32 [N] x) { s32 [N] y; parallel p by N y.at(p) = x.at(p); return y; }
        __co__ void second(global s32 [N] x) { parallel p by N { u8 unused = 300; x.at(p) = 1; } }
        __co__ s32 third(s32 n) { return first_of_all; }";

    /// Without the last function there is no error.
    fn compiled(text: &str, threads: usize, texts: bool) -> (Vec<String>, String, bool) {
        let names = FileNames {
            path: "t.co".to_owned(),
            stem: "t".to_owned(),
            hash: "0".to_owned(),
        };
        let options = Options {
            threads,
            texts,
            ..Options::default()
        };
        let mut dump = super::Dump::default();
        dump.add("all").expect("a stage");
        let (compiled, ir) = compile_and_dump(&names, text, &options, &dump);
        let messages = compiled.diagnostics.iter().map(|d| format!("{d:?}"));
        (messages.collect(), ir, compiled.outputs.is_some())
    }

    /// What is asked again, and what no report needs, takes no work. The limits are a few percent above
    /// the work at the time of writing.
    #[test]
    fn the_work_of_proofs_has_limits() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut found = Vec::new();
        for (path, limit) in [
            ("tests/run/features/movement.co", 5_100),
            ("tests/run/features/tma.co", 25_000),
            ("tests/run/features/random_tiles.co", 45_000),
            ("tests/run/as_written/gemm_roles.co", 26_000),
            ("kernels/co/attention/hopper.co", 37_000),
            ("kernels/co/matmul/hopper_resident.co", 290_000),
        ] {
            let text = std::fs::read_to_string(root.join(path)).expect("UTF-8");
            let names = FileNames {
                path: path.to_owned(),
                stem: "t".to_owned(),
                hash: "0".to_owned(),
            };
            let options = Options {
                texts: false,
                verify: false,
                ..Options::default()
            };
            let before = crate::symbolic::work();
            let compiled = super::compile_text(&names, &text, &options);
            let work = crate::symbolic::work() - before;
            assert!(!super::has_errors(&compiled.diagnostics), "{path}");
            if work > limit || work < limit / 2 {
                found.push(format!("{path}: {work}, and the limit is {limit}"));
            }
        }
        assert!(found.is_empty(), "{found:#?}");
    }

    #[test]
    fn reports_do_not_depend_on_texts_and_ir_not_on_threads() {
        let (without_error, _) = TEXT.rsplit_once("__co__").expect("a function");
        for (text, reports) in [(TEXT, 3), (without_error, 2)] {
            let one = compiled(text, 1, true);
            assert_eq!(one.0.len(), reports, "{:?}", one.0);
            assert_eq!(one.2, text == without_error, "{:?}", one.0);
            assert!(one.1.contains("// first after seal"), "{}", one.1);
            // Without texts the passes that only improve them are left out.
            let checked = compiled(text, 1, false);
            assert!(!checked.1.is_empty());
            for (threads, texts) in [(1, false), (2, true), (3, false), (8, false)] {
                let other = compiled(text, threads, texts);
                let ir = if texts { &one.1 } else { &checked.1 };
                assert_eq!((&other.0, &other.1), (&one.0, ir), "{threads}");
                assert_eq!(other.2, one.2 && texts);
            }
        }
    }
}
