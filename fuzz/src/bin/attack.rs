//! Seeded attacks on the compiler and, by way of `scripts/attack.sh`, on what it builds.
//!
//! ```text
//! attack mutants SEED COUNT KEEP FOLDER SOURCES…   mutated programs through every pure stage
//! attack kernels SEED COUNT FILE SOURCES…          mutated kernels of `tests/safety`, as one file of the same form
//! attack functions SEED COUNT FILE SOURCES…        mutants of single functions that are clean, as one file
//! attack foreign FILE LINE                         whether the line is C++ that the file's author answers for
//! attack kept FILE LINE                            whether it is C++ that is kept as it is, such as a `__device__` function
//! ```
//!
//! `mutants` runs the programs in child processes, so that a crash or a hang is a finding, too. Findings are left in
//! `FOLDER/findings`, and `KEEP` of the accepted programs, chosen by the seed, in `FOLDER/accepted`.

use std::io::{BufRead, BufReader, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, process};

use croq_build::diagnostics::{Diagnostic, Diagnostics, Severity, codes, render};
use croq_build::pipeline::{Compiled, FileNames, Options, compile_text};
use croq_build::source;
use croq_fuzz::mutate::{Mutator, Random};
use croq_fuzz::promises;

/// Processor time of `check` for one program.
const MOST_SECONDS: f64 = 2.0;
/// Memory of the whole process while it checks one program.
const MOST_MEGABYTES: u64 = 500;
/// Wall-clock time without a sign of the child.
const SILENCE: Duration = Duration::from_secs(60);

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["mutants", seed, count, keep, folder, sources @ ..] => number(seed)
            .zip(number(count))
            .zip(number(keep))
            .map(|((seed, count), keep)| mutants(seed, count, keep, Path::new(folder), sources)),
        ["worker", seed, first, last, sources @ ..] => number(seed)
            .zip(number(first))
            .zip(number(last))
            .map(|((seed, first), last)| worker(seed, first, last, sources)),
        ["kernels", seed, count, file, sources @ ..] => number(seed)
            .zip(number(count))
            .map(|(seed, count)| kernels(seed, count, Path::new(file), sources)),
        ["functions", seed, count, file, sources @ ..] => number(seed)
            .zip(number(count))
            .map(|(seed, count)| functions(seed, count, Path::new(file), sources)),
        ["foreign", file, line] => number(line).map(|line| is_foreign(Path::new(file), line)),
        ["kept", file, line] => number(line).map(|line| is_kept(&read(&[file]).concat(), line)),
        _ => None,
    };
    match done {
        Some(true) => {}
        Some(false) => process::exit(1),
        None => {
            eprintln!(
                "attack mutants SEED COUNT KEEP FOLDER SOURCES… | kernels|functions SEED COUNT FILE SOURCES…"
            );
            process::exit(2);
        }
    }
}

/// Whether what stands on the line is the C++ compiler's to judge, and not `check`'s: text that is kept as it is, a
/// call of a C++ function, text of a `__cpp__`.
fn is_foreign(path: &Path, line: u32) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    let number = usize::try_from(line).unwrap_or_default();
    let here = text
        .lines()
        .nth(number.saturating_sub(1))
        .unwrap_or_default();
    let calls = here.contains("call ") || here.contains("__cpp__");
    // A name that a pragma says is a function of C++, with any prefix.
    let registered = (text.lines())
        .filter_map(|line| line.trim().strip_prefix("#pragma croq intrinsic"))
        .flat_map(|line| line.split([' ', ',']))
        .filter(|word| !["", "prefix", "namespace"].contains(word));
    let intrinsic = registered.into_iter().any(|name| here.contains(name));
    is_kept(&text, line) || calls || intrinsic
}

/// Whether the line is in text that is kept as it is. Where that is broken, the compiler may find fault with any
/// line after it.
fn is_kept(text: &str, line: u32) -> bool {
    let file = source::load("a.co", text, &[], &mut Diagnostics::new());
    let within = |span: source::Span| {
        let last = span.end.max(span.start + 1) - 1;
        let last = source::Span::new(last, last);
        (file.line(span)..=file.line(last)).contains(&line)
    };
    let line_of = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count() as u32 + 1;
    let mut statements = text.match_indices("__cpp__(R\"(").map(|(start, _)| {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(")\"").unwrap_or(rest.len());
        line_of(start)..=line_of(start + length)
    });
    file.device.iter().any(|kept| within(kept.span))
        || statements.any(|lines| lines.contains(&line))
}

fn number(text: &str) -> Option<u32> {
    text.parse().ok()
}

fn read(sources: &[&str]) -> Vec<String> {
    let texts = sources
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    texts.collect()
}

/// Mutant number `index`: the same for the same seed and sources.
fn mutant(mutator: &Mutator, texts: &[String], seed: u32, index: u32) -> String {
    let mut random = Random::new(seed.wrapping_mul(0x9e37_79b1).wrapping_add(index));
    let Some(text) = texts.get(random.below(texts.len())) else {
        return String::new();
    };
    match random.below(6) {
        0 => {
            let other = random.below(texts.len());
            mutator.cross(text, texts.get(other).unwrap_or(text), &mut random)
        }
        _ => mutator.mutate(text, &mut random),
    }
}

/// Mutants `first..last`: one line for each, `begin INDEX` and then `end INDEX accepted|rejected SECONDS MEGABYTES`.
fn worker(seed: u32, first: u32, last: u32, sources: &[&str]) -> bool {
    let texts = read(sources);
    let mutator = Mutator::default();
    std::panic::set_hook(Box::new(|info| eprintln!("{info}")));
    let mut out = std::io::stdout().lock();
    for index in first..last {
        let text = mutant(&mutator, &texts, seed, index);
        let _ = writeln!(out, "begin {index}");
        let _ = out.flush();
        reset_peak();
        let before = processor_seconds();
        let outcome = catch_unwind(AssertUnwindSafe(|| accepted(&text)));
        let seconds = processor_seconds() - before;
        let megabytes = peak_megabytes();
        let kept = catch_unwind(AssertUnwindSafe(|| promises::check(&text))).is_ok();
        let word = match (outcome, kept) {
            (Ok(true), true) => "accepted",
            (Ok(false), true) => "rejected",
            _ => "panicked",
        };
        let _ = writeln!(out, "end {index} {word} {seconds:.3} {megabytes}");
        let _ = out.flush();
    }
    true
}

fn accepted(text: &str) -> bool {
    let outputs = compiled(text).outputs;
    outputs.is_some_and(|outputs| !outputs.functions.is_empty())
}

/// Whether the text is accepted, and without a warning.
fn is_clean(text: &str) -> bool {
    let compiled = compiled(text);
    let warns = |d: &Diagnostic| d.severity() == Severity::Warning;
    let outputs = compiled.outputs.as_ref();
    outputs.is_some_and(|o| !o.functions.is_empty()) && !compiled.diagnostics.iter().any(warns)
}

fn compiled(text: &str) -> Compiled {
    let names = FileNames {
        path: "mutant.co".to_owned(),
        stem: "mutant".to_owned(),
        hash: "00000000".to_owned(),
    };
    let options = Options {
        verify: true,
        ..Options::default()
    };
    let compiled = compile_text(&names, text, &options);
    let internal = compiled.diagnostics.iter().find(|d| d.code == codes::E1199);
    assert!(internal.is_none(), "{internal:?}");
    // Part of what `check` costs.
    drop(render::report(&compiled.file, &compiled.diagnostics, false));
    compiled
}

/// The largest resident size from here on.
fn reset_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) / 1024
}

/// User and system time of this process, in hundredths of a second on Linux.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything, come fields 3 and up; 14 and 15 are the times.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = fields.split_whitespace().skip(11);
    let mut next = || {
        fields
            .next()
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (next() + next()) / 100.0
}

struct Totals {
    accepted: Vec<u32>,
    /// Of mutants by number, and what is found.
    findings: Vec<(u32, String)>,
    slowest: (f64, u32),
    largest: (u64, u32),
}

fn mutants(seed: u32, count: u32, keep: u32, folder: &Path, sources: &[&str]) -> bool {
    let findings = folder.join("findings");
    let _ = fs::remove_dir_all(folder);
    if let Err(error) = fs::create_dir_all(&findings) {
        eprintln!("attack: {}: {error}", findings.display());
        return false;
    }
    let mut totals = Totals {
        accepted: Vec::new(),
        findings: Vec::new(),
        slowest: (0.0, 0),
        largest: (0, 0),
    };
    let mut next = 0;
    while next < count {
        // A fresh process now and then, so that memory that is kept shows as such.
        let last = count.min(next + 2000);
        next = run_worker(seed, next, last, sources, &mut totals);
    }
    let accepted = totals.accepted.len();
    let texts = read(sources);
    let mutator = Mutator::default();
    let kept = folder.join("accepted");
    let _ = fs::create_dir_all(&kept);
    let mut random = Random::new(seed);
    for number in 0..keep.min(totals.accepted.len() as u32) {
        let index = totals
            .accepted
            .swap_remove(random.below(totals.accepted.len()));
        let text = mutant(&mutator, &texts, seed, index);
        let _ = fs::write(kept.join(format!("m{number:03}.co")), text);
    }
    for (index, what) in &totals.findings {
        let file = findings.join(format!("{index}.co"));
        let _ = fs::write(&file, mutant(&mutator, &texts, seed, *index));
        println!("finding: mutant {index} {what} ({})", file.display());
    }
    println!(
        "attack: {count} mutants, {accepted} accepted, {} findings; slowest {:.2} s ({}), peak {} MB ({})",
        totals.findings.len(),
        totals.slowest.0,
        totals.slowest.1,
        totals.largest.0,
        totals.largest.1,
    );
    totals.findings.is_empty()
}

/// Returns the index to go on with.
fn run_worker(seed: u32, first: u32, last: u32, sources: &[&str], totals: &mut Totals) -> u32 {
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from("attack"));
    let child = Command::new(program)
        .args([
            "worker",
            &seed.to_string(),
            &first.to_string(),
            &last.to_string(),
        ])
        .args(sources)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            let what = format!("has no child process: {error}");
            totals.findings.push((first, what));
            return last;
        }
    };
    let (send, receive) = mpsc::channel();
    if let Some(out) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
    }
    let mut current = first;
    let mut finished = first;
    let mut report = |index: u32, what: String| totals.findings.push((index, what));
    let hangs = loop {
        match receive.recv_timeout(SILENCE) {
            Ok(line) => {
                let words: Vec<&str> = line.split(' ').collect();
                match words.as_slice() {
                    ["begin", index] => current = number(index).unwrap_or(current),
                    ["end", index, word, seconds, megabytes] => {
                        let index = number(index).unwrap_or(current);
                        let seconds: f64 = seconds.parse().unwrap_or(0.0);
                        let megabytes: u64 = megabytes.parse().unwrap_or(0);
                        finished = index + 1;
                        if *word == "accepted" {
                            totals.accepted.push(index);
                        }
                        if *word == "panicked" {
                            report(index, "panics".to_owned());
                        }
                        if seconds > MOST_SECONDS {
                            report(index, format!("takes {seconds} s"));
                        }
                        if megabytes > MOST_MEGABYTES {
                            report(index, format!("takes {megabytes} MB"));
                        }
                        if seconds > totals.slowest.0 {
                            totals.slowest = (seconds, index);
                        }
                        if megabytes > totals.largest.0 {
                            totals.largest = (megabytes, index);
                        }
                    }
                    _ => {}
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                break true;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break false,
        }
    };
    let status = child.wait();
    if finished >= last {
        return last;
    }
    match (hangs, status) {
        (true, _) => report(current, format!("is not over after {SILENCE:?}")),
        (false, Ok(status)) => report(current, format!("ends with {status}")),
        (false, Err(error)) => report(current, format!("has no status: {error}")),
    }
    current + 1
}

/// Mutated kernels of files like `tests/safety/co/right.co`, in one file of that form: what stands outside of
/// kernels, then the kernels with names of their own.
fn kernels(seed: u32, count: u32, file: &Path, sources: &[&str]) -> bool {
    let mutator = Mutator::default();
    let mut outside = String::new();
    let mut all: Vec<(String, String, String)> = Vec::new();
    for text in read(sources) {
        let mut directive = None;
        let mut kernel: Option<(String, String)> = None;
        for line in text.lines() {
            let line = line.split("//!").next().unwrap_or(line).trim_end();
            match (&mut kernel, line) {
                (Some((head, body)), "}") => {
                    let (head, body) = (std::mem::take(head), std::mem::take(body));
                    let indices = directive.take().unwrap_or_else(|| "identity 1".to_owned());
                    all.push((indices, head, body));
                    kernel = None;
                }
                (Some((_, body)), line) => {
                    body.push_str(line);
                    body.push('\n');
                }
                (None, line) if line.starts_with("//@ ") => {
                    directive = Some(line.trim_start_matches("//@ ").to_owned());
                }
                (None, line) if line.starts_with("__co__ ") => {
                    kernel = Some((line.to_owned(), String::new()));
                }
                (None, line) if line.starts_with("#define") && outside.contains(line) => {}
                (None, line) => {
                    outside.push_str(line);
                    outside.push('\n');
                }
            }
        }
    }
    let mut made = outside;
    for index in 0..count {
        let mut random = Random::new(seed.wrapping_mul(0x85eb_ca6b).wrapping_add(index));
        let Some((indices, head, body)) = all.get(random.below(all.len())) else {
            return false;
        };
        let name = head
            .split('(')
            .next()
            .and_then(|h| h.rsplit(' ').next())
            .unwrap_or_default();
        let head = head.replacen(name, &format!("wrong_mutant_{index:04}"), 1);
        let mutant = mutator.mutate(body, &mut random);
        // The author answers for C++ text, and a C++ error in one kernel would stop the build of all.
        let own = |line: &&str| line.contains("__cpp__");
        if mutant.lines().filter(own).any(|line| !body.contains(line)) {
            continue;
        }
        // An open brace would take in the kernels after it.
        if mutant.matches('{').count() != mutant.matches('}').count() {
            continue;
        }
        let body = mutant;
        // A brace in the first column ends a kernel.
        let body = body.replace("\n}", "\n }");
        made.push_str(&format!("//@ {indices}\n{head}\n{body}\n}}\n"));
    }
    match fs::write(file, made) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("attack: {}: {error}", file.display());
            false
        }
    }
}

/// `count` mutants of single functions that are accepted without a warning, in one file: functions that need nothing else of their
/// file, each mutant with a name of its own. Many functions in one translation unit take both compilers far less
/// time than as many files.
fn functions(seed: u32, count: u32, file: &Path, sources: &[&str]) -> bool {
    const TRIES: u32 = 400;
    let originals: Vec<String> = read(sources).iter().flat_map(|text| alone(text)).collect();
    let mutator = Mutator::default();
    let mut made = Vec::new();
    for index in 0..count.saturating_mul(TRIES) {
        if made.len() >= count as usize {
            break;
        }
        let mut random = Random::new(seed.wrapping_mul(0xc2b2_ae35).wrapping_add(index));
        let Some(original) = originals.get(random.below(originals.len())) else {
            break;
        };
        let mutant = mutator.mutate(original, &mut random);
        let differs = !mutant.split_whitespace().eq(original.split_whitespace());
        // The author answers for C++ text, whose errors are not the front end's to find.
        let foreign = ["__cpp__", "call "]
            .iter()
            .any(|word| mutant.contains(word));
        let renamed = renamed(&mutant, &format!("mutant_{:03}", made.len()));
        if let Some(text) =
            renamed.filter(|text| differs && !foreign && is_one(text) && is_clean(text))
        {
            made.push(text);
        }
    }
    let enough = made.len() == count as usize;
    println!(
        "attack: {} of {count} mutants of {} functions",
        made.len(),
        originals.len()
    );
    let all = format!(
        "// Accepted mutants of functions of kernels/ and tests/run: both compilers accept what `check` accepts.\n\
         // Made by `scripts/mutants.sh`, which says how to make others; nothing calls them.\n\n{}",
        made.join("\n\n"),
    );
    match fs::write(file, all + "\n") {
        Ok(()) => enough,
        Err(error) => {
            eprintln!("attack: {}: {error}", file.display());
            false
        }
    }
}

/// Whether the text is one function and nothing behind it.
fn is_one(text: &str) -> bool {
    let file = source::load("a.co", text, &[], &mut Diagnostics::new());
    match file.functions.as_slice() {
        [only] => file.snippet(only.span).trim() == text.trim(),
        _ => false,
    }
}

/// The functions of a file that are accepted without the rest of it.
fn alone(text: &str) -> Vec<String> {
    let file = source::load("a.co", text, &[], &mut Diagnostics::new());
    let whole = file
        .functions
        .iter()
        .filter(|f| f.complete && f.instance.is_none());
    let texts = whole.map(|f| file.snippet(f.span).to_owned());
    texts.filter(|text| accepted(text)).collect()
}

/// The function under another name; `None` if there is none before its parameters.
fn renamed(text: &str, name: &str) -> Option<String> {
    let (head, rest) = text.split_once('(')?;
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_')? + 1;
    let (before, old) = head.split_at(start);
    (!old.is_empty()).then(|| format!("{before}{name}({rest}"))
}
