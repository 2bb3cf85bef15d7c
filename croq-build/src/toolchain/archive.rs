//! One static library per `.co` file, named after the file's symbol.

use std::path::PathBuf;

use super::compile::Object;
use super::host_compiler::HostCompiler;
use super::outputs::{Outputs, part_of, replace, unwritable};
use super::problem::Problem;
use crate::diagnostics::codes;

/// Archives the objects as `lib/lib{name}.a`, unless that exists: the name identifies the contents.
pub fn write(
    outputs: &mut Outputs,
    name: &str,
    objects: &[&Object],
    compiler: &HostCompiler,
) -> Result<PathBuf, Problem> {
    let archive = outputs.path(&format!("lib/lib{name}.a"))?;
    let record = outputs.path(&format!("build/{name}.archive"))?;
    let bytes = |path: &PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    let built = objects.iter().any(|object| object.built);
    if !built
        && bytes(&archive) > 0
        && std::fs::read_to_string(&record).is_ok_and(|old| old == bytes(&archive).to_string())
    {
        return Ok(archive);
    }
    // `ar` would keep the members of an older archive.
    let part = part_of(&archive);
    for old in [&record, &archive, &part] {
        let _ = std::fs::remove_file(old);
    }
    let mut command = compiler.archiver()?;
    // No time stamps in the archive, so that equal objects give equal bytes (Apple's ar).
    command.env("ZERO_AR_DATE", "1");
    command.arg("crs").arg(&part);
    command.args(objects.iter().map(|object| &object.path));
    let output = command.output().map_err(|error| {
        Problem::new(
            codes::E1111,
            format!(
                "can't run {}: {error}",
                command.get_program().to_string_lossy()
            ),
        )
        .help("install binutils (Debian and Ubuntu: `apt-get install build-essential`)")
    })?;
    if !output.status.success() {
        return Err(
            Problem::new(codes::E1107, format!("can't make {}", archive.display()))
                .note(String::from_utf8_lossy(&output.stderr).into_owned()),
        );
    }
    std::fs::rename(&part, &archive).map_err(|error| unwritable(&archive, &error))?;
    replace(&record, &bytes(&archive).to_string())?;
    Ok(archive)
}
