//! The file that texts are generated from.

/// What generated text says about the `.co` file that it comes from.
#[derive(Clone, Debug)]
pub struct FileMeta {
    /// Everything generated from the file is named by this: `scale`, or `matmul/basic` in a folder.
    pub stem: String,
    /// The `.co` file as messages name it, such as `kernels/scale.co`.
    pub path: String,
    /// Stands in every C symbol and keeps two files apart: hexadecimal digits, or what will be replaced by
    /// them (`toolchain::symbol`).
    pub hash: String,
    /// The file is also built for CUDA.
    pub cuda: bool,
    /// The check level was lowered, so that a call may reach undefined behaviour: wrappers are
    /// `unsafe fn`.
    pub unchecked: bool,
    /// A failed check is recorded, and the kernel goes on.
    pub reports: bool,
}

impl FileMeta {
    /// The last part of the stem.
    pub fn base(&self) -> &str {
        self.stem.rsplit('/').next().unwrap_or_default()
    }

    /// What the documentation of a wrapper says about safety.
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
