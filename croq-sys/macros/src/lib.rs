//! The procedural macro behind `croq_sys::include_kernels!`.
//!
//! Generated code declares foreign functions and asserts their types, which needs `unsafe`. A crate
//! with `#![forbid(unsafe_code)]` only accepts `unsafe` from a macro of another crate, so a macro
//! has to produce the text. A macro that passed on tokens of its caller would allow `unsafe` to
//! every caller; this one takes no input, and its output depends only on the file that croq-build
//! wrote to `OUT_DIR`. Every other function of croq-sys that could call a function with a wrong
//! type is an `unsafe fn`.

#![warn(missing_docs)]

use std::path::Path;

use proc_macro::TokenStream;

/// The placeholder for `OUT_DIR` in `kernels.rs`, inside string literals. A path written there by
/// the build script would be wrong after the target folder is moved.
const OUT_DIR: &str = "{OUT_DIR}";

/// The contents of the module `kernels`.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    let out_dir = std::env::var_os("OUT_DIR");
    let package = std::env::var_os("CARGO_MANIFEST_DIR");
    let text = if input.is_empty() {
        let package = package.as_deref().map(Path::new);
        generated(out_dir.as_deref().map(Path::new), package)
    } else {
        Err("include_kernels! takes no arguments".to_owned())
    };
    text.and_then(|text| text.parse().map_err(|error| format!("{error}")))
        .unwrap_or_else(|why| error(&why))
}

/// The text of `OUT_DIR/croq/kernels.rs`, with [`OUT_DIR`] replaced by the folder's path.
fn generated(out_dir: Option<&Path>, package: Option<&Path>) -> Result<String, String> {
    let Some(folder) = out_dir else {
        return Err(without_build_script(package));
    };
    let Some(name) = folder.to_str() else {
        return Err(format!("OUT_DIR is not UTF-8: {}", folder.display()));
    };
    let path = folder.join("croq").join("kernels.rs");
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!(
            "can't read {}: {error}; the build script has to call `croq_build::compile(\"kernels/\")`",
            path.display()
        )
    })?;
    Ok(text.replace(OUT_DIR, &name.escape_default().to_string()))
}

/// What is missing where cargo sets no `OUT_DIR`: there is no build script, or it has not run, which is
/// the case in an editor that runs none.
fn without_build_script(package: Option<&Path>) -> String {
    match package {
        Some(package) if package.join("build.rs").exists() => {
            "the build script of this package, which compiles the kernels, has not run: build the \
             package, and let the editor run build scripts (rust-analyzer: \
             `cargo.buildScripts.enable`)"
                .to_owned()
        }
        _ => "this package has no build script, so there are no kernels: add `build.rs` with \
              `fn main() { croq_build::compile(\"kernels/\"); }`, and croq-build to \
              `[build-dependencies]` in Cargo.toml"
            .to_owned(),
    }
}

fn error(why: &str) -> TokenStream {
    format!("::core::compile_error!({why:?});")
        .parse()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named() {
        let nowhere = Path::new("/nowhere");
        for package in [None, Some(nowhere)] {
            let error = generated(None, package).unwrap_err();
            assert!(error.contains("has no build script"), "{error}");
            assert!(error.contains("[build-dependencies]"), "{error}");
        }
        // The package above this one has one.
        let parent = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let error = generated(None, Some(&parent)).unwrap_err();
        assert!(error.contains("has not run"), "{error}");
        let error = generated(Some(nowhere), None).unwrap_err();
        assert!(error.contains("/nowhere/croq/kernels.rs"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_not_utf_8_is_an_error() {
        use std::os::unix::ffi::OsStrExt;
        let folder = std::ffi::OsStr::from_bytes(b"/out\xff");
        let error = generated(Some(Path::new(folder)), None).unwrap_err();
        assert!(error.contains("not UTF-8"), "{error}");
    }
}
