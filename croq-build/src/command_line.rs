//! The `croq` command, as a function from arguments to output.
//!
//! Exit status: 0 without errors (warnings are allowed), 1 with errors, 2 for wrong usage, 3 if
//! the output can't be written.

use std::path::Path;

mod arguments;
mod crate_name;
mod fix;
mod input;
mod outcome;
mod package;
mod tune;
mod usage;

use crate::diagnostics::{Diagnostic, Quota, Severity, explain, render};
use crate::pipeline::{self, Compiled};
use crate::source::SourceFile;
use crate::toolchain::{front_end, missing_headers};
use arguments::{Arguments, arguments, unknown};
use input::{compile, folder, stem};
use outcome::{BAD_USAGE, CLEAN, DIAGNOSTICS};
pub use outcome::{CANNOT_WRITE, Outcome};
pub use usage::USAGE;
use usage::bad_usage;

/// Prints the device text exactly as compilers read it.
const DIRECTIVES: &str = "--line-directives";

/// `args` without the program's name.
pub fn run(args: &[String]) -> Outcome {
    let Some((command, rest)) = args.split_first() else {
        return bad_usage("there is no command");
    };
    if rest.iter().any(|arg| arg == "--help" || arg == "-h") {
        return usage();
    }
    let run = |args: &[String], switches: &[&str], of: fn(&Arguments) -> Outcome| {
        arguments(args, switches).map_or_else(|wrong| bad_usage(&wrong), |args| of(&args))
    };
    match command.as_str() {
        "new" => package::new(rest),
        "init" => package::init(rest),
        "check" => run(rest, &["--build"], check),
        "fix" => run(rest, &[fix::DRY_RUN], |args| match args.files.is_empty() {
            true => bad_usage("`croq fix` needs files or folders"),
            false => fix::fix(args),
        }),
        "emit" => run(
            rest,
            &[
                "--sim", "--header", "--rust", "--memory", "--ir", DIRECTIVES,
            ],
            emit,
        ),
        "tune" => tune::tune(rest),
        "explain" => explain_code(rest),
        "help" | "--help" | "-h" => usage(),
        "--version" | "-V" => Outcome {
            stdout: format!("croq {}\n", env!("CARGO_PKG_VERSION")),
            ..Outcome::default()
        },
        // Like the reference compiler's command, which has no subcommands.
        option if option.starts_with('-') && args.iter().any(|arg| arg == "-es") => {
            run(args, &["-es"], emit)
        }
        option if option.starts_with('-') => run(args, &[], check),
        other => bad_usage(&unknown(
            "command",
            other,
            &[
                "check", "emit", "explain", "fix", "help", "init", "new", "tune",
            ],
        )),
    }
}

fn check(args: &Arguments) -> Outcome {
    if args.files.is_empty() {
        return bad_usage("`croq check` needs files or folders");
    }
    let mut outcome = Outcome::default();
    let mut files = Vec::new();
    let builds = args.switches.iter().any(|switch| switch == "--build");
    let options = pipeline::Options {
        texts: builds,
        ..args.options.clone()
    };
    for path in input::files(args) {
        let compiled = path.and_then(|path| Ok((compile(&path, args, &options)?, path)));
        match compiled {
            Ok(((mut compiled, _), path)) => {
                let missing =
                    missing_headers::reports(&compiled.file, folder(&path), &args.headers());
                let found = missing.is_empty();
                compiled.diagnostics.extend(missing);
                compiled.diagnostics.sort_by_key(Diagnostic::order);
                if found && builds {
                    build(&path, args, &mut compiled);
                }
                files.push((compiled.file, compiled.diagnostics));
            }
            Err(why) => unreadable(&mut outcome, args, &why),
        }
    }
    report(&mut outcome, args, &files);
    outcome
}

/// Adds the diagnostics of the machine's C++ compiler.
fn build(path: &str, args: &Arguments, compiled: &mut Compiled) {
    let Some(outputs) = &compiled.outputs else {
        return;
    };
    let texts = front_end::Texts {
        stem: &stem(Path::new(path)),
        device: &outputs.device,
        header: &outputs.header,
        folder: folder(path),
        includes: &args.includes,
    };
    match front_end::check(&compiled.file, &texts) {
        Ok(mut found) => {
            compiled.allowed.suppress(&mut found);
            args.options.levels.apply(&mut found);
            compiled.diagnostics.extend(found);
        }
        Err(problem) => compiled.diagnostics.push(input::diagnostic(problem)),
    }
    compiled.diagnostics.sort_by_key(Diagnostic::order);
}

fn emit(args: &Arguments) -> Outcome {
    let [path] = args.files.as_slice() else {
        return bad_usage("`croq emit` needs one file");
    };
    let kinds = args
        .switches
        .iter()
        .filter(|switch| *switch != DIRECTIVES && *switch != "-es");
    let kinds: Vec<&str> = kinds.map(String::as_str).collect();
    if kinds.len() > 1 {
        return bad_usage(&format!("{} contradict each other", kinds.join(" and ")));
    }
    let directives = args.switches.iter().any(|switch| switch == DIRECTIVES);
    let mut outcome = Outcome::default();
    match compile(path, args, &args.options) {
        Ok((compiled, ir)) => {
            let files = [(compiled.file, compiled.diagnostics)];
            report(&mut outcome, args, &files);
            if args.switches.iter().any(|switch| switch == "--ir") {
                outcome.stdout = ir;
            } else if let Some(outputs) = compiled.outputs {
                // Standard output is the text alone, so that it can be piped.
                outcome.stdout = match kinds.first().copied() {
                    Some("--header") => crate::emit::for_people(&outputs.header),
                    Some("--rust") => crate::emit::rust_for_people(&outputs.wrappers),
                    Some("--memory") => outputs.memory,
                    _ if directives => outputs.device,
                    _ => crate::emit::for_people(&outputs.device),
                };
            }
        }
        Err(why) => unreadable(&mut outcome, args, &why),
    }
    outcome
}

fn report(outcome: &mut Outcome, args: &Arguments, files: &[(SourceFile, Vec<Diagnostic>)]) {
    let mut quota = Quota::of(files.iter().map(|(_, diagnostics)| diagnostics.as_slice()));
    let color = render::color_wanted();
    for (file, diagnostics) in files {
        if diagnostics.iter().any(|d| d.severity() == Severity::Error) {
            outcome.status = outcome.status.max(DIAGNOSTICS);
        }
        if args.json {
            let lines = render::json_within(file, diagnostics, &mut quota);
            outcome.stdout.push_str(&lines);
            continue;
        }
        let text = render::report_within(file, diagnostics, color, &mut quota);
        if !text.is_empty() && !outcome.stderr.is_empty() {
            outcome.stderr.push('\n');
        }
        outcome.stderr.push_str(&text);
    }
    if args.json {
        outcome.stdout.push_str(&render::json_rest(&quota));
    } else {
        outcome.stderr.push_str(&render::rest(&quota, color));
    }
}

/// Reports a file that cannot be read.
fn unreadable(outcome: &mut Outcome, args: &Arguments, why: &Diagnostic) {
    outcome.status = DIAGNOSTICS;
    if args.json {
        let nowhere = SourceFile::default();
        outcome
            .stdout
            .push_str(&render::json_lines(&nowhere, std::slice::from_ref(why)));
    } else {
        outcome.stderr.push_str(&input::shown(why));
    }
}

fn usage() -> Outcome {
    Outcome {
        stdout: USAGE.to_owned(),
        ..Outcome::default()
    }
}

fn explain_code(args: &[String]) -> Outcome {
    let [code] = args else {
        return bad_usage("`croq explain` needs one code, such as E0401");
    };
    let known = code.to_uppercase();
    let said = |stdout: String| Outcome {
        stdout,
        status: CLEAN,
        ..Outcome::default()
    };
    if let Some(explanation) = explain::explain(&known) {
        return said(explanation.shown());
    }
    match explain::why_not_reported(&known) {
        Some(why) => said(format!("croq does not report {known}: {why}\n")),
        None => Outcome {
            stderr: format!(
                "error: there is no diagnostic `{code}`: a code is E, W or N with four digits, such as E0401, or R with two\n"
            ),
            status: BAD_USAGE,
            ..Outcome::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::outcome::BAD_USAGE;
    use super::*;

    fn croq(args: &[&str]) -> Outcome {
        run(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn an_unknown_code_is_told_without_the_usage_of_all_commands() {
        let outcome = croq(&["explain", "431"]);
        assert_eq!(outcome.status, BAD_USAGE);
        let line = "error: there is no diagnostic `431`: a code is E, W or N with four digits, such as E0401, or R with two\n";
        assert_eq!(outcome.stderr, line);
    }

    #[test]
    fn a_code_that_is_not_reported_is_explained_by_the_reason() {
        for code in ["E0411", "e0412"] {
            let outcome = croq(&["explain", code]);
            assert_eq!((outcome.status, outcome.stderr.as_str()), (CLEAN, ""));
            let shown = outcome.stdout;
            let code = code.to_uppercase();
            let line = format!("croq does not report {code}: `??` is not supported yet (E0099)\n");
            assert_eq!(shown, line);
        }
    }

    #[test]
    fn in_place_of_a_folder_the_files_below_it_are_taken() {
        let base = tempfile::tempdir().expect("a folder");
        let at = |name: &str| base.path().join(name).display().to_string();
        std::fs::create_dir_all(at("kernels/deep")).expect("folders");
        std::fs::create_dir_all(at("empty")).expect("folders");
        let wrong = "__co__ void f(s32 [N] x) {\n  parallel p by N { x.at(p) = wrong }\n}\n";
        for name in ["z.co", "deep/b.co", "a.co", ".hidden.co", "notes.txt"] {
            std::fs::write(at(&format!("kernels/{name}")), wrong).expect("written");
        }
        let places = |outcome: &Outcome| -> Vec<String> {
            let places = outcome.stderr.lines().filter_map(|line| {
                let (_, place) = line.split_once(&at("kernels/"))?;
                Some(place.split(':').next().unwrap_or_default().to_owned())
            });
            places.collect()
        };
        let outcome = croq(&["check", &at("kernels/")]);
        assert_eq!(outcome.status, DIAGNOSTICS);
        let mut found = places(&outcome);
        found.dedup();
        assert_eq!(found, ["a.co", "deep/b.co", "z.co"]);
        let outcome = croq(&["fix", "--dry-run", &at("kernels/")]);
        let shown = outcome.stdout + &outcome.stderr;
        for name in ["a.co", "deep/b.co", "z.co"] {
            assert!(shown.contains(&at(&format!("kernels/{name}"))), "{shown}");
        }
        for command in ["check", "fix"] {
            let outcome = croq(&[command, &at("empty")]);
            assert_eq!(outcome.status, DIAGNOSTICS);
            let line = format!(
                "error[E1104]: there is no `.co` file below {}\n",
                at("empty")
            );
            assert_eq!(outcome.stderr, line);
        }
        let outcome = croq(&["emit", &at("kernels/")]);
        assert_eq!(outcome.status, DIAGNOSTICS);
        assert!(
            outcome
                .stderr
                .contains("  help: a `.co` file is a regular file"),
            "{outcome:?}"
        );
    }

    #[test]
    fn every_command_has_help() {
        for command in ["check", "emit", "explain", "fix", "init", "new", "tune"] {
            for option in ["--help", "-h"] {
                let outcome = croq(&[command, option]);
                assert_eq!(
                    (outcome.status, outcome.stdout.as_str()),
                    (CLEAN, USAGE),
                    "{command}"
                );
            }
        }
    }

    #[test]
    fn bad_usage_is_told_with_the_nearest_word() {
        for (args, part) in [
            (&[][..], "there is no command"),
            (&["chek"][..], "did you mean `check`"),
            (&["check"][..], "needs files"),
            (&["check", "--biuld", "a.co"][..], "did you mean `--build`"),
            (&["emit", "a.co", "b.co"][..], "needs one file"),
            (&["emit", "--headr", "a.co"][..], "did you mean `--header`"),
            (&["emit", "--header", "--rust", "a.co"][..], "contradict"),
            (&["emit", "--ir=befor", "a.co"][..], "`--ir=after:PASS`"),
            (
                &["emit", "--ir=after:barrier", "a.co"][..],
                "did you mean `barriers`",
            ),
            (&["check", "--ir=all", "a.co"][..], "unknown option"),
            (&["check", "-D"][..], "needs a name"),
            (&["check", "-D", "1+1=2", "a.co"][..], "no name for a macro"),
            (
                &["check", "--arch", "sm_9O", "a.co"][..],
                "unknown architecture",
            ),
            (
                &["emit", "--thread-order=fist", "a.co"][..],
                "`first` or `last`",
            ),
            (&["check", "--device-namespace"][..], "needs a name"),
            (
                &["check", "--device-namespace=a::2", "a.co"][..],
                "`a::2` is not the name of a namespace",
            ),
            (&["check", "--deny"][..], "need a code or a group"),
            (
                &["check", "--allow", "W0620,W062O", "a.co"][..],
                "did you mean `W0620`?",
            ),
            (
                &["check", "--warn=E0201", "a.co"][..],
                "`E0201` is an error",
            ),
            (&["check", "-I"][..], "needs a folder"),
            (&["check", "-t", "hip", "a.co"][..], "unknown target"),
            (&["--biuld", "a.co"][..], "unknown option"),
        ] {
            let outcome = croq(args);
            assert_eq!(outcome.status, BAD_USAGE, "{args:?}");
            assert!(
                outcome.stderr.contains(part),
                "{args:?}: {}",
                outcome.stderr
            );
            let (_, last) = outcome
                .stderr
                .trim_end()
                .rsplit_once('\n')
                .expect("two lines");
            assert_eq!(last, "`croq --help` lists commands and options", "{args:?}");
            // The list of passes is the longest.
            assert!(outcome.stderr.lines().count() <= 3, "{args:?}");
        }
        assert_eq!(croq(&["--help"]).status, CLEAN);
    }

    #[test]
    fn a_file_is_checked_and_emitted() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("written");
            path.display().to_string()
        };
        let good = file(
            "scale.co",
            "__co__ f32 [N] scale(f32 [N] x) {\n  f32 [N] y;\n  parallel p by N { y.at(p) = x.at(p) * GAIN; }\n  return y;\n}\n",
        );
        let bad = file(
            "bad.co",
            "__co__ void f(s32 [N] x) {\n  parallel p by N { z.at(p) = 1; }\n}\n",
        );
        assert_eq!(croq(&["check", "-DGAIN=2.0f", &good]), Outcome::default());
        let outcome = croq(&["check", "-D", "GAIN=2.0f", &good, &bad, "missing.co"]);
        assert_eq!(outcome.status, DIAGNOSTICS);
        assert!(outcome.stderr.contains("bad.co:2:21"), "{}", outcome.stderr);
        assert!(
            outcome.stderr.contains("can't read missing.co"),
            "{}",
            outcome.stderr
        );
        for (switch, part) in [
            ("--sim", "CROQ_KERNEL("),
            ("--header", "typedef struct"),
            ("--rust", "pub fn scale"),
            ("--ir", "function scale(x: in f32 [N]) -> f32 [N]\n"),
            (
                "--ir=after:dead-code",
                "// scale_0 after dead-code\nkernel scale_0: grid [",
            ),
            ("--ir=all", "// scale after exact-integers\n"),
        ] {
            let outcome = croq(&["emit", switch, "-DGAIN=2.0f", &good]);
            assert_eq!(
                (outcome.status, outcome.stderr.as_str()),
                (CLEAN, ""),
                "{switch}"
            );
            assert!(
                outcome.stdout.contains(part),
                "{switch}: {}",
                outcome.stdout
            );
        }
    }

    #[test]
    fn levels_are_given_by_code_and_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lost.co");
        let text = "__co__ void f(s32 [8] x) {\n  parallel i by 8 { x.at(i) = 1; }\n}\n";
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        let check = |options: &[&str]| croq(&[&["check"], options, &[&path]].concat());
        let plain = check(&[]);
        assert_eq!(plain.status, CLEAN);
        assert!(plain.stderr.contains("warning[W0620]"), "{plain:?}");
        let denied = check(&["--deny", "all"]);
        assert_eq!(denied.status, DIAGNOSTICS);
        for part in ["error[W0620]", "an error because of `--deny all`"] {
            assert!(denied.stderr.contains(part), "{denied:?}");
        }
        let allowed = check(&["--deny=all", "--allow=W0209,W0620"]);
        assert_eq!(allowed, Outcome::default());
        let emitted = croq(&["emit", "--deny", "correctness", &path]);
        assert_eq!((emitted.status, &*emitted.stdout), (DIAGNOSTICS, ""));
    }

    #[test]
    fn a_file_without_functions_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("other.co");
        let path = path.display().to_string();
        for text in ["", "kernel <<<blocks, threads>>> scale(n: int) {\n"] {
            std::fs::write(&path, text).expect("written");
            for command in ["check", "emit", "fix"] {
                let outcome = croq(&[command, "--allow", "all", &path]);
                assert_eq!(outcome.status, DIAGNOSTICS, "{command}: {outcome:?}");
            }
            let checked = croq(&["check", &path]);
            let shown = &checked.stderr;
            assert!(shown.contains("error[E1108]"), "{shown}");
        }
    }

    #[test]
    fn the_ir_is_printed_after_every_pass() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../kernels/co/reduction/softmax.co"
        );
        let outcome = croq(&["emit", "--ir=all", path]);
        assert_eq!(outcome.status, CLEAN, "{}", outcome.stderr);
        for pass in crate::passes::table::all() {
            let heading = format!(" after {}\n", pass.name);
            assert!(outcome.stdout.contains(&heading), "{heading}");
        }
    }

    #[test]
    fn the_references_command_line_is_understood() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("own.co");
        let text = "#include \"mine.h\"\n__co__ void f(global s32 [8] x) {\n  parallel p by 8 { x.at(p) = N; }\n}\n";
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        let options = ["-t", "cute", "-arch=sm_90a", "-DN=3"];
        let checked = croq(&[&options[..], &[&path]].concat());
        assert_eq!(checked.status, DIAGNOSTICS);
        let place = "own.co:1:10";
        let shown = &checked.stderr;
        assert!(shown.contains("E0020") && shown.contains(place), "{shown}");

        let headers = tempfile::tempdir().expect("a folder");
        std::fs::write(headers.path().join("mine.h"), "").expect("written");
        let headers = headers.path().display().to_string();
        let options = [&options[..], &["-I", &headers, &path]].concat();
        assert_eq!(croq(&options), Outcome::default());
        let emitted = croq(&[&["-es"], &options[..]].concat());
        assert_eq!((emitted.status, emitted.stderr.as_str()), (CLEAN, ""));
        assert!(
            emitted.stdout.contains("CROQ_KERNEL("),
            "{}",
            emitted.stdout
        );
    }

    #[test]
    fn kernels_for_newer_gpus_are_noted_where_older_ones_were_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("newer.co");
        let text = "__co__ void f(global f32 [64, 64] x, global f32 [64, 64] y) {
  parallel p by 2 : block {
    t = tma.load x.chunkat(p, _) => shared;
    dma.copy t.data => y.chunkat(p, _);
  }
}
";
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        assert_eq!(croq(&["check", &path]), Outcome::default());
        let both = ["check", "--arch", "sm_80", "--arch", "sm_90a", &path];
        let noted = croq(&both).stderr;
        assert!(noted.contains("N0860"), "{noted}");
    }

    /// Needs a C++ compiler, as every build with croq does.
    #[test]
    fn the_c_compiler_is_asked_for_the_files_own_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("own.co");
        let text = "\
__device__ inline float half_of(float x) {
  return x * hlaf;
}

__co__ void f(global f32 [N] x) {
  parallel p by N { mutable f32 v = 0.0f; v = call half_of(x.at(p)); x.at(p) = v; }
}
";
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        assert_eq!(croq(&["check", &path]), Outcome::default());
        let outcome = croq(&["check", "--build", &path]);
        assert_eq!(outcome.status, DIAGNOSTICS);
        for part in ["error[E1112]", "own.co:2:3", "hlaf"] {
            assert!(outcome.stderr.contains(part), "{}", outcome.stderr);
        }
        std::fs::write(&path, text.replace("hlaf", "0.5f")).expect("written");
        assert_eq!(croq(&["check", "--build", &path]), Outcome::default());
    }

    #[test]
    fn the_order_of_threads_is_chosen_or_given() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("order.co");
        let text = "\
__co__ f32 [M, N] f(f32 [M, N] x) {
  f32 [M, N] y;
  parallel b by 4 : block {
    shared f32 [8] s;
    parallel {v, w} by [2, 4] : group s.at(v * 4 + w) = 1.0f;
    parallel {i, j} by [16, 16] : thread y.at(i, j) = x.at(i, j) + s.at(0);
  }
  parallel {i, j} by [M, N] y.at(i, j) = 1.0f;
  return y;
}
";
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        let (tid, all) = ("thread", "(block * 256 + thread)");
        let first = [
            format!("v = {tid} / 32 % 2, w = {tid} / 64;\n"),
            format!("i = {tid} % 16, j = {tid} / 16;\n"),
            format!("i = {all} % M, j = {all} / M;\n"),
        ];
        let last = [
            format!("v = {tid} / 128, w = {tid} / 32 % 4;\n"),
            format!("i = {tid} / 16, j = {tid} % 16;\n"),
            format!("i = {all} / N, j = {all} % N;\n"),
        ];
        let why = ";  // j is the fastest\n";
        let auto = [
            first[0].clone(),
            last[1].replace(";\n", why),
            last[2].replace(";\n", why),
        ];
        for (option, wanted) in [
            (None, auto),
            (Some("--thread-order=first"), first),
            (Some("--thread-order=last"), last),
        ] {
            let args: Vec<&str> = ["emit"].into_iter().chain(option).chain([&*path]).collect();
            let outcome = croq(&args);
            for part in wanted {
                assert!(
                    outcome.stdout.contains(&part),
                    "{option:?}: {part}\n{}",
                    outcome.stdout
                );
            }
        }
    }

    #[test]
    fn shared_memory_is_shown_as_a_table() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tiles.co");
        let text = "\
__co__ f32 [M, N] f(f32 [M, N] x) {
  f32 [M, N] y;
  parallel r by M : block {
    shared f32 [100] a;
    shared f32 [4000] b;
    parallel t by 64 : thread { a.at(t) = x.at(r, 0); b.at(t) = 1.0f; }
    parallel t by 64 : thread y.at(r, 0) = a.at(63 - t) + b.at(63 - t);
    sync.shared;
    c = dma.copy x.subspan(1, 64).at(r, 0) => shared;
    parallel t by 64 : thread y.at(r, 0) = c.data.at(0, 63 - t);
    row = dma.copy x.subspan(1, N).at(r, 0) => shared;
    parallel t by 64 : thread y.at(r, 0) = row.data.at(0, 0);
  }
  parallel i by M { y.at(i, 0) = 1.0f; }
  return y;
}
";
        std::fs::write(&path, text).expect("written");
        let path = path.display().to_string();
        let archs = ["--arch", "sm_75", "--arch", "sm_80"];
        let args = [&["emit", "--memory"][..], &archs, &[path.as_str()]].concat();
        let expected = "\
f_0  PATH:3
  offset  bytes  aligned  alive  buffer  declared
       0  16000      128    6-7  b       line 5
       0    256      128   9-10  c       line 9
   16000    400      128    6-7  a       line 4
   16400  4 * N       16  11-12  row     line 11
  16 * cdiv(N, 4) + 16400 bytes a block
  sm_75: 64 KiB a block, 64 KiB a multiprocessor
  sm_80: 163 KiB a block, 164 KiB a multiprocessor

f_1  PATH:14
  no shared memory
";
        assert_eq!(croq(&args).stdout.replace(&path, "PATH"), expected);
    }

    #[test]
    fn mbarriers_are_alive_from_their_initialisation_to_their_last_use() {
        let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels/co");
        let path = kernels.join("matmul/hopper.co").display().to_string();
        let printed = croq(&["emit", "--memory", &path]).stdout;
        let alive = |name: &str| -> Option<String> {
            let mut rows = printed.lines().map(|row| row.split_whitespace());
            let mut row = rows.find_map(|row| {
                let row: Vec<&str> = row.collect();
                (row.get(4) == Some(&name)).then_some(row)
            })?;
            Some(row.swap_remove(3).to_owned())
        };
        // The kernel is between the lines 10 and 36.
        for name in ["full", "empty"] {
            assert_eq!(alive(name).as_deref(), Some("10-35"), "{printed}");
        }
    }
}
