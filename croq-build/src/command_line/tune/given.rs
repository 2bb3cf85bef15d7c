//! The arguments of `croq tune`.

use std::path::PathBuf;
use std::time::Duration;

use crate::command_line::arguments::{Arguments, arguments, unknown};

/// Options with a value, apart from those of every command.
const OPTIONS: [&str; 8] = [
    "--size",
    "--function",
    "--limit",
    "--tolerance",
    "--timeout",
    "--repeat",
    "--out",
    "--path",
];

pub struct Given {
    /// The options of every command, and the files and folders.
    pub common: Arguments,
    pub json: bool,
    /// Values of extents and of scalar parameters, as they were written.
    pub sizes: Vec<(String, String)>,
    /// Names of functions, and of templates or instances; empty for all.
    pub functions: Vec<String>,
    /// The most candidates of a file.
    pub limit: usize,
    /// The largest difference of floats, relative to the largest value of the tensor.
    pub tolerance: Option<f64>,
    /// For one run of a candidate.
    pub timeout: Duration,
    /// How often a call is timed on a GPU.
    pub repeat: u32,
    /// The file of chosen values.
    pub out: Option<PathBuf>,
    /// A checkout of croq, in place of the published crates.
    pub checkout: Option<PathBuf>,
    /// As they were written: the options that a build of the candidates needs, too.
    pub written: Vec<String>,
}

impl Given {
    pub fn of(args: &[String]) -> Result<Self, String> {
        let mut given = Self {
            common: arguments(&[], &[])?,
            json: false,
            sizes: Vec::new(),
            functions: Vec::new(),
            limit: 64,
            tolerance: None,
            timeout: Duration::from_secs(600),
            repeat: 20,
            out: None,
            checkout: None,
            written: Vec::new(),
        };
        let mut others = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let (option, inline) = match arg.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (arg.as_str(), None),
            };
            if !OPTIONS.contains(&option) {
                others.push(arg.clone());
                continue;
            }
            let value = inline.or_else(|| rest.next().map(String::as_str));
            let Some(value) = value.filter(|value| !value.is_empty()) else {
                return Err(format!("`{option}` needs a value"));
            };
            given.set(option, value)?;
        }
        given.common = arguments(&others, &["--json"]).map_err(|why| {
            let start = others
                .iter()
                .find(|other| why.contains(&format!("`{other}`")));
            let known = start.and_then(|start| start.split('=').next());
            known.map_or(why.clone(), |start| {
                match unknown("option", start, &OPTIONS) {
                    meant if meant.contains("did you mean") && !why.contains("did you mean") => {
                        meant
                    }
                    _ => why,
                }
            })
        })?;
        given.json = given.common.json || given.common.switches.iter().any(|s| s == "--json");
        let files = &given.common.files;
        given.written = others
            .into_iter()
            .filter(|other| !files.contains(other))
            .collect();
        if given.common.files.is_empty() {
            return Err("`croq tune` needs files or folders".to_owned());
        }
        Ok(given)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        let wrong = |what: &str| format!("`{option} {value}`: {what}");
        match option {
            "--size" => {
                for item in value.split(',') {
                    let (name, size) = item.split_once('=').unwrap_or_default();
                    let (name, size) = (name.trim(), size.trim());
                    if name.is_empty() || size.parse::<f64>().is_err() {
                        return Err(wrong("it is a list such as `M=1024,gain=1.5`"));
                    }
                    if self.sizes.iter().any(|(known, _)| known == name) {
                        return Err(wrong(&format!("`{name}` has a value already")));
                    }
                    self.sizes.push((name.to_owned(), size.to_owned()));
                }
            }
            "--function" => self.functions.push(value.to_owned()),
            "--limit" => {
                let limit = value.parse().ok().filter(|limit| *limit > 0);
                self.limit = limit.ok_or_else(|| wrong("it is a number of candidates"))?;
            }
            "--tolerance" => {
                let tolerance = value
                    .parse()
                    .ok()
                    .filter(|t: &f64| *t >= 0.0 && t.is_finite());
                self.tolerance =
                    Some(tolerance.ok_or_else(|| wrong("it is a number such as 1e-3"))?);
            }
            "--timeout" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                self.timeout =
                    Duration::from_secs(seconds.ok_or_else(|| wrong("it is a number of seconds"))?);
            }
            "--repeat" => {
                let repeat = value.parse().ok().filter(|repeat| *repeat > 0);
                self.repeat = repeat.ok_or_else(|| wrong("it is a number of calls"))?;
            }
            "--out" => self.out = Some(PathBuf::from(value)),
            _ => self.checkout = Some(PathBuf::from(value)),
        }
        Ok(())
    }
}
