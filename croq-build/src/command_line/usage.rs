//! How the command is used.

use super::outcome::{BAD_USAGE, Outcome};

pub const USAGE: &str = "\
usage: croq new [--path CROQ] [--name NAME] FOLDER
       croq init [--path CROQ] [--name NAME] [FOLDER]
       croq check [OPTIONS] [--build] FILES-OR-FOLDERS…
       croq fix [OPTIONS] [--dry-run] FILES-OR-FOLDERS…
       croq emit [OPTIONS] [--sim | --header | --rust | --memory | --ir[=WHEN] | --line-directives] FILE
       croq tune [OPTIONS] [--size M=1024,N=1024] [--json] FILES-OR-FOLDERS…
       croq explain CODE

-D NAME[=VALUE]              define a macro
-I FOLDER                    search headers there
--arch sm_90a, -arch=sm_90a  a GPU to build for, or several, separated by commas; by default sm_80 and sm_90a,
                             and then no note says what only one of them lacks
-t cute                      accepted: the text is for CUDA and for the simulated GPU
--deny, --warn, --allow W0620  the level of a warning, a note or a group, such as `performance`; several
                             are separated by commas, and later ones win
--device-namespace NAME      the C++ namespace in which `call` finds functions by their plain names
--thread-order=first|last    which index of a level is the fastest among its threads; by itself it is the
                             first, or the one with the best memory access where the kernel can't observe it

new      make a package with one kernel, which `cargo run` runs; `--path` takes croq's crates from a
         checkout of croq: no registry has them yet
init     add to a folder what a package with kernels needs; files that exist stay as they are
check    report what is wrong in `.co` files, and nothing else; with `--build` the machine's C++ compiler
         looks at what is generated, too, for the file's own C++
fix      correct what `check` reports where the correction is certain; `--dry-run` prints it as a diff
emit     print what is generated from a file: the device text and launch shims (one text for
         CUDA and the simulated GPU, `--sim`), the C header, the Rust functions, or a table of
         what lies where in the shared memory of each kernel; `--ir` prints the intermediate
         representation before all passes, `--ir=after:PASS` after one, `--ir=all` after each;
         `--line-directives` prints the device text with the `#line` directives that builds have
tune     try the values that comments such as `// croq: tune TILE in 32, 64` list, compare the results,
         and write the best to croq-tuned.txt, for `Config::tuned` in build.rs:
           --size M=1024,gain=0.5  extents and scalar arguments   --function NAME   call only this one
           --limit 64       the most candidates                   --tolerance 1e-3  of floats
           --repeat 20      how often a call is timed on a GPU    --timeout 600     seconds for one run
           --out FILE       the file of values                    --path CROQ       a checkout of croq
explain  say what a diagnostic code means and what to do about it

In place of a folder all `.co` files below it are taken, except those with a name that begins with a dot.

Without a command `croq [OPTIONS] FILES-OR-FOLDERS…` checks, and with `-es` it emits.

With CROQ_MESSAGE_FORMAT=json reports are JSON objects on standard output, one per line.
Exit status: 0 clean, 1 diagnostics, 2 bad usage, 3 the output can't be written.
";

/// Says what is wrong with the arguments, and where the right ones are listed.
pub(super) fn bad_usage(message: &str) -> Outcome {
    Outcome {
        stdout: String::new(),
        stderr: format!("croq: {message}\n`croq --help` lists commands and options\n"),
        status: BAD_USAGE,
    }
}
