//! The machine's C++ compiler: it builds the simulated GPU's objects, and nvcc uses it for the host
//! part of a CUDA object.
//!
//! The `cc` crate selects the compiler (`CXX` and the variables like it, else `c++`). For this,
//! `cc` runs the compiler, so it is called only when something has to be compiled; the cache's
//! inputs are read from the environment and the file system.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use super::environment::Environment;
use super::identity;
use super::problem::Problem;
use super::variables;
use crate::diagnostics::codes;

/// The flags of every compilation; part of the identity. Multiplication and addition are rounded
/// separately everywhere, so that results do not depend on the machine. Integers wrap, as on a GPU.
/// A simulated thread's stack has a fixed size, so the size of every frame is limited:
/// `CROQ_SIM_FRAME_BYTES` of `croq_abi.h`.
const FLAGS: &[&str] = &[
    "-ffp-contract=off",
    "-fwrapv",
    "-fdiagnostics-color=never",
    "-Werror=frame-larger-than=32768",
    "-Werror=vla",
    "-Werror=alloca",
    // `#pragma unroll` and others of CUDA's.
    "-Wno-unknown-pragmas",
    // Of generated comparisons, such as that of a `u8` with a literal that it does not hold: croq's own
    // checks say which of the program's are always true.
    "-Wno-type-limits",
];
/// What g++ does beyond `-Og` where no debugger needs each variable in its place: most of what `-O1` gains,
/// in two thirds of its time.
const QUICK: &[&str] = &[
    "-finline-functions-called-once",
    "-fif-conversion",
    "-fif-conversion2",
    "-fmove-loop-invariants",
    "-ftree-pta",
    "-ftree-sra",
];
/// Probes the stack, so that no frame extends past the guard page below it.
const STACK_PROBES: &str = "-fstack-clash-protection";

/// How much the host's compiler optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimisation {
    /// For packages that cargo builds without optimisation: kernels for the simulated GPU, which runs whole
    /// grids, are compiled in less time, and croq's tests run as fast. The host part of CUDA
    /// objects is not optimised.
    Quick,
    Full,
}

impl Optimisation {
    /// That of the package whose build script runs. Cargo sets the variable, and has a build script's
    /// output for each of its values.
    fn of(env: &Environment) -> Self {
        match env.undeclared("OPT_LEVEL") {
            Some(level) if level == "0" => Self::Quick,
            _ => Self::Full,
        }
    }

    /// nvcc's flag for the host part, which launches. Device code is always optimised in full.
    pub fn of_launches(self) -> &'static str {
        match self {
            Self::Quick => "-O0",
            Self::Full => "-O1",
        }
    }
}

pub struct HostCompiler {
    /// All that determines the compiler and the user's flags.
    pub identity: String,
    /// The flags from `CXXFLAGS` and the variables like it.
    pub flags: String,
    /// Whether the user selected the compiler; nvcc then uses the same one.
    pub chosen: bool,
    /// The C++ library that `CXXSTDLIB` selects.
    pub standard_library: Option<String>,
    pub optimisation: Optimisation,
    /// Whether cargo builds the package with debug information.
    pub debug_info: bool,
    target: String,
    host: String,
    missing: Option<Problem>,
    tool: OnceLock<Result<cc::Tool, Problem>>,
    /// Whether the compiler supports `-fstack-clash-protection`.
    probes_stacks: OnceLock<bool>,
}

impl HostCompiler {
    pub fn of(env: &Environment, target: &str, host: &str) -> Self {
        let command = tool_variable(env, "CXX", target, host);
        // All forms count: cc concatenates them.
        let flags: Vec<String> = variable_names("CXXFLAGS", target, host)
            .iter()
            .filter_map(|name| env.text(name))
            .collect();
        let rustflags = env
            .undeclared("CARGO_ENCODED_RUSTFLAGS")
            .unwrap_or_default();
        let name = command.clone().unwrap_or_else(|| "c++".to_owned());
        let optimisation = Optimisation::of(env);
        // Cargo sets it to `true` for each kind of debug information.
        let debug_info = env.undeclared("DEBUG").is_some_and(|value| value == "true");
        let identity = format!(
            "{target}\n{optimisation:?}\n{debug_info}\n{}\n{}\n{}\n{}\n{}",
            identity::of_command(env, &name),
            flags.join("\n"),
            // cc uses some of them.
            rustflags.to_string_lossy(),
            [FLAGS, QUICK].concat().join(" "),
            variables::of_compilers(env),
        );
        // For another target cc derives the name from it; then cc's own message is reported.
        let there = target != host
            || name
                .split_whitespace()
                .any(|word| env.resolve(Path::new(word)).is_some());
        let standard_library = tool_variable(env, "CXXSTDLIB", target, host)
            .or_else(|| default_library(target).map(str::to_owned));
        Self {
            identity,
            flags: flags.join(" "),
            chosen: command.is_some(),
            standard_library,
            optimisation,
            debug_info,
            target: target.to_owned(),
            host: host.to_owned(),
            missing: (!there).then(|| missing(&name)),
            tool: OnceLock::new(),
            probes_stacks: OnceLock::new(),
        }
    }

    /// The compiler; the error names the package to install.
    pub fn tool(&self) -> Result<&cc::Tool, Problem> {
        if let Some(problem) = &self.missing {
            return Err(problem.clone());
        }
        self.tool
            .get_or_init(|| self.find())
            .as_ref()
            .map_err(Clone::clone)
    }

    fn find(&self) -> Result<cc::Tool, Problem> {
        let mut build = cc::Build::new();
        build
            .cpp(true)
            .target(&self.target)
            .host(&self.host)
            .opt_level_str(self.level())
            // For the text of kernels too; the flag of nvcc is set elsewhere.
            .debug(self.debug_info)
            .std("c++17")
            .warnings(true)
            .extra_warnings(true)
            .pic(true)
            // Directives are printed for cargo only after the whole build has succeeded.
            .cargo_metadata(false)
            .cargo_warnings(false);
        let tool = build
            .try_get_compiler()
            .map_err(|error| missing("c++").note(error.to_string()))?;
        if tool.is_like_msvc() {
            return Err(Problem::new(
                codes::E1111,
                "the C++ compiler is MSVC, which croq does not know",
            )
            .help("set CXX to g++ or clang++"));
        }
        Ok(tool)
    }

    /// The level of the simulated GPU. At `g`, variables remain where they are declared.
    fn level(&self) -> &'static str {
        match self.optimisation {
            Optimisation::Quick => "g",
            Optimisation::Full => "2",
        }
    }

    /// A command that compiles for the simulated GPU, up to the file names.
    pub fn command(&self) -> Result<Command, Problem> {
        let tool = self.tool()?;
        let mut command = tool.to_command();
        command.args(FLAGS);
        if self.optimisation == Optimisation::Quick && !self.debug_info && tool.is_like_gnu() {
            command.args(QUICK);
        }
        if *self
            .probes_stacks
            .get_or_init(|| supports(tool, STACK_PROBES))
        {
            command.arg(STACK_PROBES);
        }
        command.arg(if tool.is_like_clang() {
            "-fno-caret-diagnostics"
        } else {
            "-fno-diagnostics-show-caret"
        });
        // Messages are parsed by croq.
        command.env("LC_ALL", "C");
        Ok(command)
    }

    /// The archiver of the same toolchain.
    pub fn archiver(&self) -> Result<Command, Problem> {
        cc::Build::new()
            .target(&self.target)
            .host(&self.host)
            .cargo_metadata(false)
            .cargo_warnings(false)
            .try_get_archiver()
            .map_err(|error| {
                Problem::new(codes::E1111, "no archiver (`ar`) was found").note(error.to_string())
            })
    }
}

/// Whether the compiler accepts a flag for its target without a warning.
fn supports(tool: &cc::Tool, flag: &str) -> bool {
    let mut command = tool.to_command();
    command.args(["-Werror", flag, "-x", "c++", "-fsyntax-only", "/dev/null"]);
    command.output().is_ok_and(|output| output.status.success())
}

/// The names under which `cc` reads a variable: for the target, for its role, plain.
fn variable_names(name: &str, target: &str, host: &str) -> [String; 4] {
    let role = if target == host { "HOST" } else { "TARGET" };
    [
        format!("{name}_{target}"),
        format!("{name}_{}", target.replace('-', "_")),
        format!("{role}_{name}"),
        name.to_owned(),
    ]
}

fn tool_variable(env: &Environment, name: &str, target: &str, host: &str) -> Option<String> {
    variable_names(name, target, host)
        .iter()
        // All are read: a change of a more specific one must rerun the script.
        .map(|name| env.text(name))
        .fold(None, Option::or)
}

fn default_library(target: &str) -> Option<&'static str> {
    if target.contains("apple") || target.contains("freebsd") || target.contains("android") {
        Some("c++")
    } else if target.contains("msvc") {
        None
    } else {
        Some("stdc++")
    }
}

pub fn missing(name: &str) -> Problem {
    Problem::new(
        codes::E1111,
        format!("there is no C++ compiler `{name}`, which croq needs to build kernels for the simulated GPU"),
    )
    .help(
        "install one (Debian and Ubuntu: `apt-get install build-essential`, Fedora: `dnf install gcc-c++`), \
         or set CXX to the one you have",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::environment::tests::environment;

    const HOST: &str = "x86_64-unknown-linux-gnu";

    #[test]
    fn a_missing_compiler_says_what_to_install() {
        let env = environment(&[("PATH", "/nowhere")]);
        let problem = HostCompiler::of(&env, HOST, HOST)
            .tool()
            .map(|_| ())
            .expect_err("none there");
        let text = problem.to_string();
        assert!(
            text.contains("`c++`") && text.contains("build-essential"),
            "{text}"
        );
    }

    #[test]
    fn the_most_special_variable_wins_and_all_are_declared() {
        let env = environment(&[("CXX", "g++"), ("CXX_x86_64_unknown_linux_gnu", "clang++")]);
        let compiler = HostCompiler::of(&env, HOST, HOST);
        assert!(compiler.chosen && compiler.identity.contains("clang++"));
        for name in [
            "CXX",
            "HOST_CXX",
            "CXXFLAGS",
            "CXX_x86_64-unknown-linux-gnu",
        ] {
            assert!(env.asked().contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn flags_and_target_are_part_of_the_identity() {
        let plain = HostCompiler::of(&environment(&[]), HOST, HOST).identity;
        let flags = HostCompiler::of(&environment(&[("CXXFLAGS", "-g")]), HOST, HOST).identity;
        let other = HostCompiler::of(&environment(&[]), "aarch64-unknown-linux-gnu", HOST).identity;
        assert!(plain != flags && plain != other);
    }

    #[test]
    fn what_cargo_does_not_optimise_is_compiled_quickly() {
        let of = |level, debug| {
            let path = std::env::var("PATH").unwrap_or_default();
            let env = environment(&[("OPT_LEVEL", level), ("DEBUG", debug), ("PATH", &path)]);
            HostCompiler::of(&env, HOST, HOST)
        };
        let levels =
            |compiler: &HostCompiler| (compiler.level(), compiler.optimisation.of_launches());
        assert_eq!(levels(&of("0", "false")), ("g", "-O0"));
        assert_eq!(levels(&of("0", "true")), ("g", "-O0"));
        for level in ["1", "3", "s"] {
            assert_eq!(levels(&of(level, "false")), ("2", "-O1"), "{level}");
            assert_eq!(levels(&of(level, "true")), ("2", "-O1"), "{level}");
        }
        let outside = HostCompiler::of(&environment(&[]), HOST, HOST);
        assert_eq!(levels(&outside), ("2", "-O1"));
        // A debugger needs each variable in its place.
        let quick = |level, debug| {
            let command = of(level, debug).command().ok()?;
            let given: Vec<_> = command.get_args().collect();
            Some(
                QUICK
                    .iter()
                    .filter(|flag| given.contains(&flag.as_ref()))
                    .count(),
            )
        };
        let is_gnu = of("0", "false").tool().is_ok_and(cc::Tool::is_like_gnu);
        if is_gnu {
            assert_eq!(quick("0", "false"), Some(QUICK.len()));
            assert_eq!(quick("0", "true"), Some(0));
            assert_eq!(quick("3", "false"), Some(0));
        }
        assert_ne!(of("0", "false").identity, of("3", "false").identity);
        assert_ne!(of("3", "true").identity, of("3", "false").identity);
    }
}
