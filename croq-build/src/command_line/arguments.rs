//! The options of the `croq` command.

use std::path::PathBuf;

use crate::diagnostics::levels::{Level, Levels};
use crate::diagnostics::nearest;
use crate::pipeline;
use crate::settings::ThreadOrder;
use crate::source::is_qualified;
use crate::toolchain::environment::Environment;
use crate::toolchain::variables;

pub(super) struct Arguments {
    pub options: pipeline::Options,
    /// The switches that were given, among those allowed.
    pub switches: Vec<String>,
    /// The folders of headers.
    pub includes: Vec<PathBuf>,
    pub files: Vec<String>,
    pub json: bool,
    pub dump: pipeline::Dump,
}

impl Arguments {
    /// All folders of headers, with those of the compilers' environment variables.
    pub fn headers(&self) -> Vec<PathBuf> {
        let of_environment = variables::include_folders(&Environment::of_process());
        self.includes
            .iter()
            .cloned()
            .chain(of_environment)
            .collect()
    }
}

pub(super) fn unknown(kind: &str, word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(meant) => format!("unknown {kind} `{word}`; did you mean `{meant}`?"),
        None => format!("unknown {kind} `{word}`"),
    }
}

/// The value of an option: the rest of the argument, or the next one.
struct Value<'a> {
    inline: &'a str,
    /// The message for an option without a value.
    missing: &'a str,
}

impl<'a> Value<'a> {
    fn of(self, rest: &mut std::slice::Iter<'a, String>) -> Result<&'a str, String> {
        match self.inline {
            "" => {
                let next = rest.next().map(String::as_str);
                next.ok_or_else(|| self.missing.to_owned())
            }
            inline => Ok(inline),
        }
    }
}

/// `args` with these switches allowed. An error says what is wrong with them.
pub(super) fn arguments(args: &[String], switches: &[&str]) -> Result<Arguments, String> {
    let mut parsed = Arguments {
        options: pipeline::Options::default(),
        switches: Vec::new(),
        includes: Vec::new(),
        files: Vec::new(),
        json: std::env::var("CROQ_MESSAGE_FORMAT").is_ok_and(|format| format == "json"),
        dump: pipeline::Dump::default(),
    };
    parsed.options.threads = std::thread::available_parallelism().map_or(1, usize::from);
    parsed.options.needs_functions = true;
    parsed.options.verify |= std::env::var("CROQ_VERIFY").is_ok_and(|v| v == "1");
    let mut archs = Vec::new();
    let mut args = args.iter();
    let mut only_files = false;
    while let Some(arg) = args.next() {
        let arg = arg.as_str();
        if only_files || !arg.starts_with('-') {
            parsed.files.push(arg.to_owned());
        } else if arg == "--" {
            only_files = true;
        } else if let Some(inline) = arg.strip_prefix("-D") {
            let missing = "`-D` needs a name, as in `-D TILE=64`";
            let define = define(Value { inline, missing }.of(&mut args)?)?;
            parsed.options.defines.push(define);
        } else if let Some(inline) = arg.strip_prefix("-I") {
            let missing = "`-I` needs a folder";
            let folder = Value { inline, missing }.of(&mut args)?;
            parsed.includes.push(PathBuf::from(folder));
        } else if let Some(inline) = after(arg, &["--arch", "-arch"]) {
            let missing = "`--arch` needs a name, as in `--arch sm_90a`";
            let names = Value { inline, missing }.of(&mut args)?;
            for name in names.split(',') {
                let arch = name.parse();
                archs.push(arch.map_err(|unknown| format!("{unknown}"))?);
            }
        } else if let Some(inline) = after(arg, &["-t"]) {
            let missing = "`-t` needs a target, as in `-t cuda`";
            target(Value { inline, missing }.of(&mut args)?)?;
        } else if let Some(inline) = after(arg, &["--device-namespace"]) {
            let missing = "`--device-namespace` needs a name, as in `--device-namespace ours`";
            let name = Value { inline, missing }.of(&mut args)?;
            if !is_qualified(name) {
                return Err(format!("`{name}` is not the name of a namespace"));
            }
            parsed.options.device_namespace = Some(name.to_owned());
        } else if let Some((level, option, inline)) = level(arg) {
            let missing = "`--deny`, `--warn` and `--allow` need a code or a group, such as W0620";
            let names = Value { inline, missing }.of(&mut args)?;
            set_levels(&mut parsed.options.levels, level, option, names)?;
        } else if let Some(given) = arg.strip_prefix("--thread-order=") {
            parsed.options.thread_order = match given {
                "first" => ThreadOrder::First,
                "last" => ThreadOrder::Last,
                _ => {
                    return Err(format!(
                        "`{arg}`: the order of threads is `first` or `last`"
                    ));
                }
            };
        } else if let Some(when) = arg.strip_prefix("--ir=")
            && switches.contains(&"--ir")
        {
            parsed.switches.push("--ir".to_owned());
            parsed.dump = dump(when)?;
        } else if switches.contains(&arg) {
            parsed.switches.push(arg.to_owned());
            if arg == "--ir" {
                parsed.dump.after.push(pipeline::SEMA.to_owned());
            }
        } else {
            let known = [
                "-D",
                "-I",
                "--arch",
                "-t",
                "--device-namespace",
                "--deny",
                "--warn",
                "--allow",
                "--thread-order=",
            ];
            let known: Vec<&str> = known.iter().chain(switches).copied().collect();
            return Err(unknown("option", arg, &known));
        }
    }
    if !archs.is_empty() {
        parsed.options.archs = archs;
        parsed.options.archs_asked = true;
    }
    Ok(parsed)
}

/// An option that sets the level of codes, and the text after its `=`.
fn level(arg: &str) -> Option<(Level, &'static str, &str)> {
    let options = [
        (Level::Deny, "--deny"),
        (Level::Warn, "--warn"),
        (Level::Allow, "--allow"),
    ];
    options
        .into_iter()
        .find_map(|(level, option)| Some((level, option, after(arg, &[option])?)))
}

/// Sets the level of codes and groups, separated by commas.
fn set_levels(levels: &mut Levels, level: Level, option: &str, names: &str) -> Result<(), String> {
    for name in names.split(',') {
        let set = levels.set(level, name, format!("`{option} {name}`"));
        set.map_err(|why| format!("`{option}`: {}; {}", why.message(name), why.help()))?;
    }
    Ok(())
}

/// The text after one of the names and a `=`; empty where the name is all there is.
fn after<'a>(arg: &'a str, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| {
        let rest = arg.strip_prefix(name)?;
        rest.is_empty().then_some(rest).or(rest.strip_prefix('='))
    })
}

fn define(given: &str) -> Result<(String, String), String> {
    let (name, value) = given.split_once('=').unwrap_or((given, ""));
    if name.is_empty() || name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        return Err(format!("`-D {given}`: `{name}` is no name for a macro"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// The reference's targets. One text of croq's is for all of them.
fn target(name: &str) -> Result<(), String> {
    const TARGETS: [&str; 5] = ["cc", "cpu", "cuda", "cute", "gpu"];
    match TARGETS.contains(&name) {
        true => Ok(()),
        false => Err(unknown("target", name, &TARGETS)),
    }
}

/// The text after `--ir=`.
fn dump(when: &str) -> Result<pipeline::Dump, String> {
    let stage = match when.strip_prefix("after:") {
        Some(stage) => stage,
        None if when == "all" => when,
        None => {
            return Err(format!(
                "`--ir={when}`: it is `--ir`, `--ir=after:PASS` or `--ir=all`"
            ));
        }
    };
    let mut dump = pipeline::Dump::default();
    dump.add(stage).map_err(|stages| {
        let why = unknown("pass", stage, &stages);
        format!("{why}\npasses: {}", stages.join(", "))
    })?;
    Ok(dump)
}
