//! Reports headers that a `.co` file includes with quotes and that do not exist. C++ compilers
//! report them too, but only in a build, and only the first.

use std::path::{Path, PathBuf};

use super::headers::HEADERS;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::SourceFile;

/// Reports missing headers. `folder` is the file's folder; `given` are the include folders.
pub fn reports(file: &SourceFile, folder: &Path, given: &[PathBuf]) -> Vec<Diagnostic> {
    let missing = file
        .includes
        .iter()
        .filter(|(name, _)| !is_provided(name) && !exists(name, folder, given));
    missing
        .map(|(name, span)| {
            Diagnostic::new(codes::E0020, *span, format!("there is no header `{name}`"))
                .label("not found")
                .help(
                    "put it beside the file, or name its folder: `-I FOLDER` for `croq`, \
                 `Config::include` in the build script",
                )
        })
        .collect()
}

/// Whether it is one of croq's own headers, which replace headers of CUDA and of the reference.
fn is_provided(name: &str) -> bool {
    HEADERS.iter().any(|(path, _)| {
        let below = ["foreign/", "foreign_sim/", ""];
        below
            .iter()
            .any(|folder| path.strip_prefix(folder) == Some(name))
    })
}

fn exists(name: &str, folder: &Path, given: &[PathBuf]) -> bool {
    // Standard headers have no extension, and are found in the compilers' own folders.
    let is_standard = !name.contains(['.', '/']);
    let systems = ["/usr/include", "/usr/local/include"].map(Path::new);
    let own = given.iter().map(PathBuf::as_path).chain([folder]);
    is_standard || own.chain(systems).any(|f| f.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Diagnostics;

    #[test]
    fn a_header_is_searched_where_compilers_search_it() {
        let place = tempfile::tempdir().expect("a folder");
        let other = tempfile::tempdir().expect("a folder");
        std::fs::write(place.path().join("beside.h"), "").expect("written");
        std::fs::write(other.path().join("given.h"), "").expect("written");
        let text = "\
#include \"beside.h\"
#include \"given.h\"
#include \"choreo.h\"
#include \"cuda_runtime.h\"
#include \"stdio.h\"
#include <nowhere.h>
#if 0
#include \"dead.h\"
#endif
#include \"nowhere.h\"
";
        let file = crate::source::load("a.co", text, &[], &mut Diagnostics::new());
        let found = |given: &[PathBuf]| -> Vec<String> {
            let reports = reports(&file, place.path(), given);
            let span = |d: &Diagnostic| file.snippet(d.primary.span).to_owned();
            reports.iter().map(span).collect()
        };
        assert_eq!(found(&[other.path().to_owned()]), ["\"nowhere.h\""]);
        assert_eq!(found(&[]), ["\"given.h\"", "\"nowhere.h\""]);
    }
}
