//! The special functions that C++17 adds to `<cmath>`, such as `std::beta`. CUDA's own header includes
//! `<cmath>`, so each of nvcc's three passes parses and instantiates them: a third of the time of a file
//! with an empty kernel. Texts that cannot call them are compiled without.

use super::user_headers::includes_any;

/// The macro that libstdc++'s header of these functions defines to be included once: where it is defined
/// before, the header is empty. Other libraries do not look at it.
pub const WITHOUT: &str = "-D_GLIBCXX_BITS_SPECFUN_H=1";

/// Whether a text may use what the header declares, or another one that it includes: it has a header of
/// the user's, or C++ that names the namespace `std`. `own` is the name of the text's own header.
pub fn may_be_used(device_text: &str, own: &str) -> bool {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let joined = device_text.replace("\\\n", "");
    let mut words = joined.split(|c| !is_of_word(c));
    // `##` makes words of parts of them.
    includes_any(device_text, own) || words.any(|word| word == "std") || joined.contains("##")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    const PLAIN: &str = "#include \"croq.h\"\n#include \"croq_user.h\"\n#include \"k.h\"\n\
        #include \"croq_loops_counted.h\"\n__device__ float f(float v) { return fmaxf(v, stdx); }\n";

    #[test]
    fn texts_that_may_use_the_standard_library_keep_it() {
        assert!(!may_be_used(PLAIN, "k.h"));
        for more in [
            "float g(float v) { return std::beta(v, v); }",
            "using namespace\n  std;",
            "#include <cmath>",
            "#include \"mine.h\"",
            "#define JOIN(a, b) a##b",
            "using namespace s\\\ntd;",
        ] {
            assert!(may_be_used(&format!("{PLAIN}{more}\n"), "k.h"), "{more}");
        }
    }

    /// Compiles a text with the machine's compiler; `None` if it has none.
    fn compiles(text: &str, flag: Option<&str>) -> Option<bool> {
        let mut command = Command::new("g++");
        command.args(["-std=c++17", "-fsyntax-only", "-x", "c++"]);
        command.args(flag).arg("-").stdin(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().ok()?;
        child.stdin.take()?.write_all(text.as_bytes()).ok()?;
        Some(child.wait().ok()?.success())
    }

    /// If libstdc++ renames the macro, files compile as slowly as without it.
    #[test]
    fn the_macro_leaves_out_these_functions_and_no_others() {
        let special = "#include <cmath>\ndouble f(double v) { return std::beta(v, v); }\n";
        if compiles(special, None) != Some(true) {
            return;
        }
        assert_eq!(compiles(special, Some(WITHOUT)), Some(false));
        let other = special.replace(
            "std::beta(v, v)",
            "std::hypot(v, std::erf(v)) + std::abs(v)",
        );
        assert_eq!(compiles(&other, Some(WITHOUT)), Some(true));
    }
}
