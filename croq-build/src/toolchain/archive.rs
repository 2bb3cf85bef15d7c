//! One static library per `.co` file, named after the file's hash.

use std::path::PathBuf;

use super::compile::Object;
use super::host_compiler::HostCompiler;
use super::outputs::{Outputs, unwritable};
use super::problem::Problem;

/// Makes `lib/lib{name}.a` of the objects, unless it was made of just these.
pub fn write(
    outputs: &mut Outputs,
    name: &str,
    objects: &[&Object],
    compiler: &HostCompiler,
) -> Result<PathBuf, Problem> {
    let archive = outputs.path(&format!("lib/lib{name}.a"))?;
    let record = outputs.path(&format!("build/{name}.members"))?;
    let keys: Vec<&str> = objects.iter().map(|object| object.key.as_str()).collect();
    let members = keys.join("\n");
    // An object that was built under its old key: one of the user's headers has changed.
    let built = objects.iter().any(|object| object.built);
    if !built
        && archive.is_file()
        && std::fs::read_to_string(&record).is_ok_and(|old| old == members)
    {
        return Ok(archive);
    }
    // `ar` would keep members of an older archive.
    for old in [&record, &archive] {
        let _ = std::fs::remove_file(old);
    }
    let mut command = compiler.archiver()?;
    // No time stamps inside: the same objects give the same bytes (Apple's ar).
    command.env("ZERO_AR_DATE", "1");
    command.arg("crs").arg(&archive);
    command.args(objects.iter().map(|object| &object.path));
    let output = command.output().map_err(|error| {
        Problem::new(
            "E1111",
            format!(
                "can't run {}: {error}",
                command.get_program().to_string_lossy()
            ),
        )
        .help("install binutils (Debian and Ubuntu: `apt-get install build-essential`)")
    })?;
    if !output.status.success() {
        return Err(
            Problem::new("E1107", format!("can't make {}", archive.display()))
                .note(String::from_utf8_lossy(&output.stderr).into_owned()),
        );
    }
    std::fs::write(&record, members).map_err(|error| unwritable(&record, &error))?;
    Ok(archive)
}
