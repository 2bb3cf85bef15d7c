//! From an emitted device text to object files: one for the simulated GPU, one for CUDA.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::arch::{Arch, gencode};
use super::cache::{Entry, Key};
use super::canonical::Canonical;
use super::host_compiler::{self, HostCompiler};
use super::identity::FileIdentity;
use super::messages::{self, Codes, Message, Severity};
use super::nvcc::Toolkit;
use super::problem::Problem;

/// Who runs the kernels of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Twin {
    Sim,
    Cuda,
}

impl Twin {
    pub fn name(self) -> &'static str {
        match self {
            Twin::Sim => "sim",
            Twin::Cuda => "cuda",
        }
    }

    pub fn codes(self) -> Codes {
        match self {
            Twin::Sim => Codes {
                compiler: "the C++ compiler",
                error: "E1112",
                warning: "W1112",
            },
            Twin::Cuda => Codes {
                compiler: "nvcc",
                error: "E1113",
                warning: "W1113",
            },
        }
    }
}

/// What all objects of a build have in common.
pub struct Compilers<'a> {
    pub host: &'a HostCompiler,
    /// `None`: built for the simulated GPU only.
    pub cuda: Option<&'a Toolkit>,
    pub archs: &'a [Arch],
    /// The package's function that gives its CUDA runtime to croq-sys.
    pub cuda_table: &'a str,
    /// `-DNAME=VALUE`, as the `.co` files were read with.
    pub defines: &'a [(String, String)],
    /// nvcc's own variables, which change what it does.
    pub nvcc_environment: &'a str,
    /// Croq's headers.
    pub include: &'a Path,
    /// The user's header folders, in order of search.
    pub includes: &'a [PathBuf],
    /// Where relative paths begin: the crate.
    pub base: &'a Path,
    pub headers_hash: &'a str,
    /// Below it everything is croq's own output.
    pub own: &'a Path,
}

/// One object to build.
pub struct Job<'a> {
    pub twin: Twin,
    pub entry: &'a Entry,
    pub device_path: &'a Path,
    pub device_text: &'a str,
    pub header_text: &'a str,
    /// The folder of the `.co` file, for its `#include "…"`.
    pub co_folder: &'a Path,
    /// Takes part in the hash, since `#line` and symbols carry it.
    pub co_path: &'a str,
}

/// An object that is now up to date.
#[derive(Debug)]
pub struct Object {
    pub path: PathBuf,
    pub key: String,
    pub built: bool,
    pub warnings: Vec<Message>,
    pub headers: Vec<PathBuf>,
    pub moved: Vec<(u32, u32)>,
}

/// Why there is no object.
#[derive(Debug)]
pub enum Failed {
    /// The compiler itself is the trouble.
    Machine(Problem),
    /// The compiler rejects the text; `output` is all it printed.
    Text {
        messages: Vec<Message>,
        output: String,
    },
}

impl Compilers<'_> {
    /// Reuses the object or builds it.
    pub fn object(&self, job: &Job<'_>) -> Result<Object, Failed> {
        let key = self.key(job);
        if let Some(old) = job.entry.reusable(&key, job.device_text) {
            return Ok(Object {
                path: job.entry.object.clone(),
                key,
                built: false,
                warnings: warnings(&old.log),
                headers: old.headers,
                moved: old.moved,
            });
        }
        self.build(job, key)
    }

    /// Builds the object whether or not there is one.
    pub fn build(&self, job: &Job<'_>, key: String) -> Result<Object, Failed> {
        job.entry.invalidate();
        let mut command = self.command(job).map_err(Failed::Machine)?;
        let output = command.output().map_err(|error| {
            Failed::Machine(match error.kind() {
                ErrorKind::NotFound if job.twin == Twin::Sim => {
                    host_compiler::missing(&command.get_program().to_string_lossy())
                }
                _ => Problem::new(
                    "E1111",
                    format!(
                        "can't run {}: {error}",
                        command.get_program().to_string_lossy()
                    ),
                ),
            })
        })?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        let messages = messages::parse(&text);
        let rejected = messages
            .iter()
            .any(|message| message.severity == Severity::Error);
        if !output.status.success() || rejected {
            return Err(Failed::Text {
                messages,
                output: text,
            });
        }
        let headers = job
            .entry
            .record(&key, job.device_text, &text, self.base, |path| {
                path.starts_with(self.own)
            })
            .map_err(Failed::Machine)?;
        Ok(Object {
            path: job.entry.object.clone(),
            key,
            built: true,
            warnings: warnings(&text),
            headers,
            moved: Vec::new(),
        })
    }

    /// All that the object depends on, apart from the user's headers.
    pub fn key(&self, job: &Job<'_>) -> String {
        let mut key = Key::new("object")
            .with("twin", job.twin.name())
            .with("device", &Canonical::of(job.device_text).text)
            .with("header", &Canonical::of(job.header_text).text)
            .with("croq headers", self.headers_hash)
            .with("path", job.co_path)
            .with("compiler", &self.host.identity);
        for flag in self.flags(job) {
            key = key.with("flag", &flag);
        }
        if let (Twin::Cuda, Some(toolkit)) = (job.twin, self.cuda) {
            key = key
                .with("nvcc", &FileIdentity::of(&toolkit.nvcc).to_string())
                .with("version", &toolkit.version.to_string())
                .with("environment", self.nvcc_environment);
        }
        key.finish()
    }

    fn command(&self, job: &Job<'_>) -> Result<Command, Problem> {
        let mut command = match (job.twin, self.cuda) {
            (Twin::Cuda, Some(toolkit)) => {
                let mut command = Command::new(&toolkit.nvcc);
                if self.host.chosen {
                    command.arg("-ccbin").arg(self.host.tool()?.path());
                }
                command.env("LC_ALL", "C");
                command
            }
            _ => self.host.command()?,
        };
        command.args(self.flags(job));
        command.arg("-MMD").arg("-MF").arg(job.entry.dependencies());
        command
            .arg("-c")
            .arg(job.device_path)
            .arg("-o")
            .arg(&job.entry.object);
        command.current_dir(self.base);
        Ok(command)
    }

    /// The flags that are ours, without the names of the files in and out.
    fn flags(&self, job: &Job<'_>) -> Vec<String> {
        let mut flags: Vec<String> = Vec::new();
        match job.twin {
            Twin::Sim => flags.push("-DCROQ_SIM=1".to_owned()),
            Twin::Cuda => {
                flags.extend(
                    [
                        "-x",
                        "cu",
                        "-std=c++17",
                        "-O3",
                        // Lines of the `.co` file for profilers and compute-sanitizer. Never `-G`,
                        // which would turn device optimisation off.
                        "-lineinfo",
                        "-DCROQ_CUDA=1",
                        "-Xcompiler",
                        "-fPIC,-Wall,-fdiagnostics-color=never,-fno-diagnostics-show-caret",
                        "-Xptxas",
                        "-warn-spills",
                    ]
                    .map(str::to_owned),
                );
                flags.push(format!("-DCROQ_CUDA_TABLE={}", self.cuda_table));
                for code in gencode(self.archs) {
                    flags.push("-gencode".to_owned());
                    flags.push(code);
                }
            }
        }
        for (name, value) in self.defines {
            flags.push(format!("-D{name}={value}"));
        }
        flags.push(format!("-I{}", self.include.display()));
        let folders = self
            .includes
            .iter()
            .map(PathBuf::as_path)
            .chain([job.co_folder]);
        flags.extend(folders.map(|folder| format!("-I{}", folder.display())));
        flags
    }
}

fn warnings(log: &str) -> Vec<Message> {
    messages::parse(log)
        .into_iter()
        .filter(|message| message.severity == Severity::Warning)
        .collect()
}
