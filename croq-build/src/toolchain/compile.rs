//! Compiles an emitted device code to object files: one for the simulated GPU, one for CUDA.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cache::Place;
use super::gencode::gencode;
use super::host_compiler::{self, HostCompiler};
use super::identity::FileIdentity;
use super::key::Key;
use super::messages::{self, Codes, Message, Severity};
use super::nvcc::Toolkit;
use super::outputs::unwritable;
use super::portable_names::PortableNames;
use super::problem::Problem;
use super::spans;
use super::special_functions;
use super::user_headers::{Folders, Headers};
use crate::diagnostics::codes;
use crate::target::Arch;

/// The target on which the kernels of an object run.
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
                error: codes::E1112,
                warning: codes::W1112,
            },
            Twin::Cuda => Codes {
                compiler: "nvcc",
                error: codes::E1113,
                warning: codes::W1113,
            },
        }
    }
}

/// The inputs that all objects of a build share.
pub struct Compilers<'a> {
    pub host: &'a HostCompiler,
    /// `None`: the build is for the simulated GPU only.
    pub cuda: Option<&'a Toolkit>,
    pub archs: &'a [Arch],
    /// The package's function that passes its CUDA runtime to croq-sys.
    pub cuda_table: &'a str,
    /// Flags that nvcc reads from its own variables.
    pub nvcc_flags: &'a str,
    /// Header folders from environment variables.
    pub environment_includes: &'a [PathBuf],
    /// Croq's headers.
    pub include: &'a Path,
    /// The user's header folders, in order of search.
    pub includes: &'a [PathBuf],
    /// The base of relative paths: the crate's folder.
    pub base: &'a Path,
    pub headers_hash: &'a str,
    /// Everything below this folder is croq's own output.
    pub own: &'a Path,
    /// Whether the simulated GPU records accesses of shared memory.
    pub trace_shared_memory: bool,
}

/// One object to build.
pub struct Job<'a> {
    pub twin: Twin,
    pub place: &'a Place,
    /// That of the file's objects.
    pub symbol: &'a str,
    pub device_path: &'a Path,
    /// The folder of the `.co` file, for its `#include "…"`.
    pub co_folder: &'a Path,
    /// Whether the text may use the standard library's special functions.
    pub special_functions: bool,
}

/// An object that is now up to date.
#[derive(Debug)]
pub struct Object {
    pub path: PathBuf,
    pub built: bool,
    pub warnings: Vec<Message>,
}

impl Object {
    /// An object that existed already, with its compiler's output.
    pub fn reused(place: &Place, log: &str) -> Self {
        Self {
            path: place.object().clone(),
            built: false,
            warnings: warnings(log),
        }
    }
}

/// The reason why there is no object.
#[derive(Debug)]
pub enum Failed {
    /// The compiler itself failed or is missing.
    Machine(Problem),
    /// The compiler rejects the text; `output` is its whole output.
    Text {
        messages: Vec<Message>,
        output: String,
    },
}

/// The precompiled headers of the device API, parsed once for all files of a build: parsing takes a
/// third of the time of a small file.
pub struct Precompiled {
    file: PathBuf,
}

impl Precompiled {
    /// Precompiles the headers for g++, if no folder but croq's own is searched for headers; `None`
    /// if that is not possible. `file` is `croq.h.gch` in a folder of its own.
    pub fn of(compilers: &Compilers<'_>, file: PathBuf) -> Option<Self> {
        let tool = compilers.host.tool().ok()?;
        let plain = compilers.host.flags.is_empty()
            && compilers.includes.is_empty()
            && compilers.environment_includes.is_empty();
        if !plain || !tool.is_like_gnu() {
            return None;
        }
        let this = Self { file };
        let output = compilers.output(Twin::Sim, |command| {
            command.args(compilers.flags(Twin::Sim));
            command
                .arg("-I")
                .arg(compilers.base.join(compilers.include));
            command.args(["-x", "c++-header"]);
            command.arg(compilers.base.join(compilers.include).join("croq.h"));
            command.arg("-o").arg(&this.file);
            Ok(())
        });
        // If the compiler failed, the value is dropped, which removes the file.
        output
            .is_ok_and(|output| output.status.success())
            .then_some(this)
    }

    /// The folder to search first. `None` if the folder of the `.co` file has other files: a header
    /// there could replace one of the system's.
    fn folder(&self, job: &Job<'_>) -> Option<&Path> {
        let beside = std::fs::read_dir(job.co_folder).ok()?;
        let only_kernels = beside.flatten().all(|entry| {
            let is_kernel = entry.path().extension().is_some_and(|e| e == "co");
            is_kernel || entry.file_type().is_ok_and(|ty| ty.is_dir())
        });
        self.file.parent().filter(|_| only_kernels)
    }
}

/// Removes the file: it is large, and with other flags the next build would ignore it.
impl Drop for Precompiled {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

impl Compilers<'_> {
    /// Builds the object.
    pub fn build(
        &self,
        job: &Job<'_>,
        precompiled: Option<&Precompiled>,
        names: Option<&PortableNames<'_>>,
    ) -> Result<Object, Failed> {
        let file = job.device_path.strip_prefix(self.own);
        let file = file.unwrap_or(job.device_path).to_string_lossy();
        let _span = spans::object(&file, job.twin.name());
        let names = names.filter(|_| job.twin == Twin::Cuda);
        let names_of = |path: &Path| match names {
            Some(names) => names.of(path),
            None => vec![path.to_owned()],
        };
        let output = self.output(job.twin, |command| {
            command.args(self.flags(job.twin));
            if job.twin == Twin::Cuda && !(job.special_functions || self.variables_add_headers()) {
                command.arg(special_functions::WITHOUT);
            }
            let first = precompiled.filter(|_| job.twin == Twin::Sim);
            if let Some(folder) = first.and_then(|p| p.folder(job)) {
                command.arg("-I").arg(folder);
            }
            for folder in self.folders(job.twin, job.co_folder) {
                for folder in names_of(&folder) {
                    let mut flag = OsString::from("-I");
                    flag.push(folder);
                    command.arg(flag);
                }
            }
            command.arg("-c").args(names_of(job.device_path).first());
            command.arg("-o").arg(job.place.part());
            match names {
                Some(names) => names.set(command, job.symbol),
                None => Ok(()),
            }
        });
        let output = output.map_err(Failed::Machine)?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        if let Some(names) = names {
            text = names.in_output(&text);
            // These files are large.
            let _ = std::fs::remove_dir_all(names.kept(job.symbol));
        }
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
        job.place.finish(&text).map_err(Failed::Machine)?;
        Ok(Object {
            path: job.place.object().clone(),
            built: true,
            warnings: warnings(&text),
        })
    }

    /// The user's headers that a text includes, as listed by the compiler. `None` if the compiler
    /// finds an error in the text, which compiling will report.
    pub fn headers(
        &self,
        twin: Twin,
        text: &Path,
        co_folder: &Path,
        folders: &Folders<'_>,
    ) -> Result<Option<Headers>, Problem> {
        let output = self.output(twin, |command| {
            command.args(self.flags(twin));
            for folder in self.folders(twin, co_folder) {
                command.arg("-I").arg(folder);
            }
            command.arg("-M").arg(text);
            Ok(())
        })?;
        if !output.status.success() {
            return Ok(None);
        }
        let rule = String::from_utf8_lossy(&output.stdout);
        Ok(Headers::of_rule(&rule, folders))
    }

    /// The folders in which headers are searched, in order.
    pub fn search(&self, co_folder: &Path) -> Folders<'_> {
        let flags = format!("{} {}", self.host.flags, self.nvcc_flags);
        let of_flags = flags.split_whitespace().filter_map(|flag| {
            let folder = ["-I", "-isystem", "-iquote"]
                .iter()
                .find_map(|f| flag.strip_prefix(f))?;
            Some(PathBuf::from(folder))
        });
        let searched = of_flags
            .chain(self.includes.iter().cloned())
            .chain([co_folder.to_owned()])
            .chain(self.environment_includes.iter().cloned())
            .filter(|folder| !folder.as_os_str().is_empty())
            .map(|folder| self.base.join(folder));
        Folders {
            own: self.own,
            base: self.base,
            searched: searched.collect(),
            toolkit: self.cuda.and_then(|t| t.nvcc.parent()?.parent()),
        }
    }

    /// Whether environment variables or flags can add `#include`s to a text.
    pub fn variables_add_headers(&self) -> bool {
        let none = self.host.flags.is_empty() && self.nvcc_flags.trim().is_empty();
        !none || !self.environment_includes.is_empty()
    }

    /// The hash of all inputs of an object of this target besides texts and headers, independent of
    /// the package's location.
    pub fn key(&self, twin: Twin, key: Key) -> Key {
        let mut key = key
            .with("twin", twin.name())
            .with("croq headers", self.headers_hash)
            .with("compiler", &self.host.identity);
        for flag in self.flags(twin) {
            key = key.with("flag", &flag);
        }
        if self.has_portable_names(twin) {
            key = key.with("names", "portable");
        }
        match (twin, self.cuda) {
            (Twin::Cuda, Some(toolkit)) => key
                .with("without", special_functions::WITHOUT)
                .with("nvcc", &FileIdentity::of(&toolkit.nvcc).to_string())
                .with("version", &toolkit.version.to_string()),
            _ => key,
        }
    }

    /// Whether an object does not contain the names of folders. With debug information, debuggers
    /// and profilers find its sources by these, and variables and flags may have relative names.
    fn has_portable_names(&self, twin: Twin) -> bool {
        let possible = self.cuda.is_some_and(PortableNames::possible);
        let free = !self.host.debug_info && !self.variables_add_headers();
        twin == Twin::Cuda && possible && free
    }

    /// The names of files in nvcc's objects, if these do not contain the names of folders.
    pub fn portable_names<'p>(
        &self,
        texts: impl Iterator<Item = &'p PathBuf>,
        headers: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<Option<PortableNames<'_>>, Problem> {
        if !self.has_portable_names(Twin::Cuda) {
            return Ok(None);
        }
        PortableNames::new(self.own, self.base, texts, headers)
            .map(Some)
            .map_err(|error| unwritable(self.own, &error))
    }

    /// Runs a compiler in the package's folder, unless `arguments` sets another one.
    fn output(
        &self,
        twin: Twin,
        arguments: impl FnOnce(&mut Command) -> std::io::Result<()>,
    ) -> Result<std::process::Output, Problem> {
        let mut command = match (twin, self.cuda) {
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
        command.current_dir(self.base);
        let output = arguments(&mut command).and_then(|()| command.output());
        output.map_err(|error| match error.kind() {
            ErrorKind::NotFound if twin == Twin::Sim => {
                host_compiler::missing(&command.get_program().to_string_lossy())
            }
            _ => Problem::new(
                codes::E1111,
                format!(
                    "can't run {}: {error}",
                    command.get_program().to_string_lossy()
                ),
            ),
        })
    }

    /// Croq's own flags, without the names of files and folders.
    fn flags(&self, twin: Twin) -> Vec<String> {
        let mut flags: Vec<String> = Vec::new();
        match twin {
            Twin::Sim => {
                flags.push("-DCROQ_SIM=1".to_owned());
                if self.trace_shared_memory {
                    flags.push("-DCROQ_SIM_TRACE=1".to_owned());
                }
            }
            Twin::Cuda => {
                flags.extend(
                    [
                        "-x",
                        "cu",
                        "-std=c++17",
                        self.host.optimisation.of_launches(),
                        // Line numbers of the `.co` file for profilers and compute-sanitizer. Never
                        // `-G`, which would disable the optimisation of device code.
                        "-lineinfo",
                        "-DCROQ_CUDA=1",
                        "-Xcompiler",
                        "-fPIC,-Wall,-fdiagnostics-color=never,-fno-diagnostics-show-caret",
                        "-Xptxas",
                        // `-v` names the architectures.
                        "-warn-spills,-v",
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
        flags
    }

    /// The folders in which headers are searched, for the compiler.
    fn folders(&self, twin: Twin, co_folder: &Path) -> Vec<PathBuf> {
        let own = own_folders(self.include, twin);
        let includes = self.includes.iter().map(PathBuf::as_path);
        let all = own.iter().map(PathBuf::as_path).chain(includes);
        all.chain([co_folder])
            .map(|folder| self.base.join(folder))
            .collect()
    }
}

/// The folders of croq's headers, given that of the device API: before all others, so that the
/// headers of the reference and of CUDA that a `.co` file includes are croq's own.
pub fn own_folders(include: &Path, twin: Twin) -> Vec<PathBuf> {
    let of_both = [include.to_owned(), include.join("foreign")];
    let of_sim = (twin == Twin::Sim).then(|| include.join("foreign_sim"));
    of_both.into_iter().chain(of_sim).collect()
}

fn warnings(log: &str) -> Vec<Message> {
    messages::parse(log)
        .into_iter()
        .filter(|message| message.severity == Severity::Warning)
        .collect()
}
