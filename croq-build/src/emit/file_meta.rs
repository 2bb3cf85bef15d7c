//! The file for which text is generated.

/// The properties of the `.co` file that generated text contains.
#[derive(Clone, Debug)]
pub struct FileMeta {
    /// The base of all generated names: `scale`, or `matmul/basic` in a folder.
    pub stem: String,
    /// The path of the `.co` file in messages, such as `kernels/scale.co`.
    pub path: String,
    /// Part of every C symbol, which distinguishes files: hexadecimal digits, or a placeholder for
    /// them (`toolchain::symbol`).
    pub hash: String,
    /// The file is also built for CUDA.
    pub cuda: bool,
    /// The check level was lowered, so that a call may reach undefined behaviour: wrappers are
    /// `unsafe fn`.
    pub unchecked: bool,
    /// A failed check is recorded, and the kernel continues.
    pub reports: bool,
}

impl FileMeta {
    /// The last part of the stem.
    pub fn base(&self) -> &str {
        self.stem.rsplit('/').next().unwrap_or_default()
    }

    /// The safety section of a wrapper's documentation.
    pub fn safety(&self) -> &'static str {
        match self.unchecked {
            true => {
                "///\n/// # Safety\n///\n/// Built without all run-time checks: the arguments must be such \
                 that none of them would have failed.\n"
            }
            false => "",
        }
    }
}
