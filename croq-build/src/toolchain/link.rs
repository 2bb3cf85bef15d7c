//! The libraries that the user's program links: one static library per `.co` file, and their
//! dependences.

use super::archive;
use super::compile::{Compilers, Object};
use super::directives::Directives;
use super::objects::Objects;
use super::outputs::Outputs;
use super::problem::Problem;

/// Archives each file's objects, and emits the directives for linking them.
pub fn link(
    compilers: &Compilers<'_>,
    objects: &Objects,
    outputs: &mut Outputs,
) -> Result<Directives, Problem> {
    let mut directives = Directives::default();
    // Croq's own comes last: after the files that refer to it.
    for file in objects.files.iter().chain(&objects.cuda_runtime) {
        let name = format!("croq_{}", file.symbol.digits());
        let members: Vec<&Object> = file.objects.iter().map(|(_, object)| object).collect();
        let archive = archive::write(outputs, &name, &members, compilers.host)?;
        if let Some(folder) = archive.parent() {
            directives.link_search(folder)?;
        }
        directives.link_library("static", &name);
        for header in &file.headers {
            directives.rerun_if_changed(header)?;
        }
    }
    // A header may later appear in a folder that is searched before the one where it was found.
    for folder in compilers.includes {
        let folder = compilers.base.join(folder);
        if !compilers.own.starts_with(&folder) {
            directives.rerun_if_changed(&folder)?;
        }
    }
    if let Some(toolkit) = compilers.cuda {
        // Not bundled: otherwise every crate with kernels would contain a copy.
        directives.link_search(&toolkit.libraries)?;
        directives.link_library("static:-bundle", "cudart_static");
        directives.rerun_if_changed(&toolkit.nvcc)?;
    }
    if let Some(library) = &compilers.host.standard_library {
        directives.link_library("dylib", library);
    }
    Ok(directives)
}
