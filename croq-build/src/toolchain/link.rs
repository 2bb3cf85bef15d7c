//! What the user's program links: one static library per `.co` file, and what they need.

use super::Unit;
use super::archive;
use super::compile::{Compilers, Object};
use super::directives::Directives;
use super::objects::Objects;
use super::outputs::Outputs;
use super::problem::Problem;

/// Archives each file's objects, and says what to link.
pub fn link(
    compilers: &Compilers<'_>,
    units: &[Unit],
    objects: &Objects,
    package_hash: &str,
    outputs: &mut Outputs,
) -> Result<Directives, Problem> {
    let mut directives = Directives::default();
    let mut libraries: Vec<(&str, Vec<&Object>)> = units
        .iter()
        .zip(&objects.files)
        .map(|(unit, file)| {
            (
                unit.hash.as_str(),
                file.objects.iter().map(|(_, object)| object).collect(),
            )
        })
        .collect();
    // After the files that refer to it.
    libraries.extend(
        objects
            .cuda_runtime
            .as_ref()
            .map(|object| (package_hash, vec![object])),
    );
    for (hash, members) in &libraries {
        let name = format!("croq_{hash}");
        let archive = archive::write(outputs, &name, members, compilers.host)?;
        if let Some(folder) = archive.parent() {
            directives.link_search(folder);
        }
        directives.link_library("static", &name);
        for header in members.iter().flat_map(|object| &object.headers) {
            directives.rerun_if_changed(header);
        }
    }
    if let Some(toolkit) = compilers.cuda {
        // Not bundled: every crate with kernels would otherwise carry a copy of its own.
        directives.link_search(&toolkit.libraries);
        directives.link_library("static:-bundle", "cudart_static");
        directives.rerun_if_changed(&toolkit.nvcc);
    }
    if let Some(library) = &compilers.host.standard_library {
        directives.link_library("dylib", library);
    }
    Ok(directives)
}
