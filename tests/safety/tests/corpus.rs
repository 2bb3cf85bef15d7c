//! Every kernel of `co/wrong.co` is rejected by the compiler or stopped by the simulated GPU, with a line that is
//! marked in the file; no kernel of `co/right.co` is reported, under ten schedules.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// More than any kernel needs; those that must be stopped because they never end take the longest.
const LIMIT: Duration = Duration::from_secs(20);

struct Case {
    name: String,
    marked: Vec<String>,
    /// Code and lines.
    errors: Vec<(String, Vec<String>)>,
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_croq-safety"));
    command
        .env("CROQ_DEVICE", "sim")
        .env_remove("CROQ_SIM_SEED");
    command
}

fn split(text: &str, at: char) -> Vec<String> {
    let parts = text.split(at).filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn cases(prefix: &str) -> Vec<Case> {
    let listed = program().arg("--list").output().expect("it runs");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8");
    let cases = listed.lines().filter(|line| line.starts_with(prefix));
    cases
        .map(|line| {
            let mut fields = line.split(' ');
            let name = fields.next().expect("a name").to_owned();
            let mut field = |key: &str| {
                let field = fields.next().and_then(|f| f.strip_prefix(key));
                field.expect("the field").to_owned()
            };
            let marked = split(&field("marked="), ',');
            let errors = split(&field("errors="), ',');
            let errors = errors.iter().map(|error| {
                let (code, lines) = error.split_once('@').expect("code@lines");
                (code.to_owned(), split(lines, '+'))
            });
            Case {
                name,
                marked,
                errors: errors.collect(),
            }
        })
        .collect()
}

/// What the program prints of these kernels, or why it prints nothing.
fn run(names: &[&str], seed: u32) -> Result<String, String> {
    let mut child = program()
        .args(names)
        .env("CROQ_SIM_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(|e| e.to_string())? {
            Some(status) => {
                let mut text = String::new();
                if let Some(mut out) = child.stdout.take() {
                    out.read_to_string(&mut text).map_err(|e| e.to_string())?;
                }
                return match status.success() {
                    true => Ok(text),
                    false => Err(format!("{status}\n{text}")),
                };
            }
            None if begin.elapsed() > LIMIT => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("not over after {LIMIT:?}"));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Whether one of these lines of `wrong.co` is in the text.
fn names_a_line(text: &str, marked: &[String]) -> bool {
    text.split("wrong.co:").skip(1).any(|rest| {
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        marked.contains(&number)
    })
}

#[test]
fn every_wrong_kernel_is_caught_with_its_line() {
    let cases = cases("wrong_");
    assert!(cases.len() >= 40, "only {}", cases.len());
    let mut missed = Vec::new();
    for case in &cases {
        if !case.errors.is_empty() {
            let found = case
                .errors
                .iter()
                .any(|(_, lines)| lines.iter().any(|line| case.marked.contains(line)));
            if !found {
                missed.push(format!("{}: rejected at {:?}", case.name, case.errors));
            }
            continue;
        }
        match run(&[&case.name], 0) {
            Ok(text) if text.ends_with(": ok\n") => {
                missed.push(format!("{}: not caught", case.name))
            }
            Ok(text) if names_a_line(&text, &case.marked) => {}
            Ok(text) => missed.push(format!("a line other than {:?}:\n{text}", case.marked)),
            Err(why) => missed.push(format!("{}: {why}", case.name)),
        }
    }
    let (count, all) = (missed.len(), cases.len());
    assert!(
        missed.is_empty(),
        "{count} of {all}:\n{}",
        missed.join("\n")
    );
}

#[test]
fn no_right_kernel_is_reported_under_ten_schedules() {
    let cases = cases("right_");
    assert!(cases.len() >= 40, "only {}", cases.len());
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let mut wrong = Vec::new();
    for seed in 0..10 {
        match run(&names, seed) {
            Ok(text) => {
                for name in &names {
                    if !text.lines().any(|line| line == format!("{name}: ok")) {
                        let prefix = format!("{name}: ");
                        let of = text.lines().filter(|line| line.starts_with(&prefix));
                        let of: Vec<&str> = of.collect();
                        wrong.push(format!("seed {seed}: {name}:\n{}", of.join("\n")));
                    }
                }
            }
            Err(why) => wrong.push(format!("seed {seed}: {why}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
