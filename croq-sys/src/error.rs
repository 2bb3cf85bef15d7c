//! The errors of calls of kernels, with their remedies.

use std::fmt;

/// The result of an operation that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// The reason why a call failed. `Display` prints the failure and, on further lines, the remedy.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Two extents that have one name in the `.co` file, or an extent and its required number,
    /// differ.
    ShapeMismatch {
        /// The name of the kernel; of a template's instance with its arguments. See [`Error::kernel`].
        kernel: &'static str,
        /// The name of the parameter.
        param: &'static str,
        /// The number of the axis, from 0.
        axis: usize,
        /// The dimension in the syntax of the `.co` file.
        name: &'static str,
        /// The extent that is required.
        expected: usize,
        /// The extent of the argument.
        found: usize,
    },
    /// A kernel needs at least one element along every axis, unless none of the tensors that it
    /// writes or returns has an element: then the call does nothing.
    ZeroExtent {
        /// The name of the kernel.
        kernel: &'static str,
        /// The name of the parameter.
        param: &'static str,
        /// The number of the axis, from 0.
        axis: usize,
        /// The dimension in the syntax of the `.co` file.
        name: &'static str,
    },
    /// `from_vec` or a view was given a wrong number of elements for its shape.
    Length {
        /// The extents of the tensor.
        shape: Vec<usize>,
        /// The number of elements.
        found: usize,
    },
    /// Values or rows that do not fit packed elements.
    Packing {
        /// What does not fit.
        what: String,
        /// The element type in the `.co` file.
        element: &'static str,
    },
    /// `into_dims` was given extents that the tensor does not have.
    Extents {
        /// The number of the axis, from 0.
        axis: usize,
        /// The extent that is required.
        expected: usize,
        /// The extent of the tensor.
        found: usize,
    },
    /// An array, or a view of a device tensor, whose elements are not in row-major order without
    /// gaps.
    Strided,
    /// A kernel writes a parameter in place, and was given a view with gaps, or one whose first
    /// element is not at a multiple of 16 bytes.
    WrittenView {
        /// The name of the kernel.
        kernel: &'static str,
        /// The name of the parameter.
        param: &'static str,
    },
    /// The tensors of a copy have different shapes.
    CopyShape {
        /// The extents of the target.
        expected: Vec<usize>,
        /// The extents of the source.
        found: Vec<usize>,
    },
    /// A slice is outside of its tensor, or an axis is not one of its axes.
    Slice {
        /// The slice in words.
        what: String,
        /// The extents of the tensor.
        shape: Vec<usize>,
    },
    /// A step that cannot be a part of a [`Graph`](crate::Graph), or a launch of a graph that does not
    /// hold all tensors that its calls use.
    Capture {
        /// What the graph cannot contain.
        reason: String,
        /// What to do instead.
        help: &'static str,
    },
    /// An object of another library whose type, layout or device croq cannot use.
    Foreign {
        /// What croq cannot use.
        reason: String,
    },
    /// The tensor arguments of one call are on different devices.
    WrongDevice {
        /// The name of the kernel.
        kernel: &'static str,
        /// The name of the parameter.
        param: &'static str,
        /// The device of the arguments before.
        expected: String,
        /// The device of this argument.
        found: String,
    },
    /// The program, or this kernel of it, was built without CUDA.
    CudaNotBuilt {
        /// The name of the kernel, if others were built.
        kernel: Option<&'static str>,
    },
    /// There is no such GPU.
    NoGpu {
        /// The number that was asked for.
        index: usize,
        /// The number of GPUs.
        found: usize,
        /// Why there are no others.
        reason: String,
    },
    /// The value of `CROQ_DEVICE` is not the name of a device.
    UnknownDevice {
        /// The value.
        value: String,
    },
    /// A check that the compiler could not prove, or an `assert` of the `.co` file, failed.
    Check {
        /// The name of the kernel.
        kernel: &'static str,
        /// `R01` … of the catalogue of run-time checks.
        code: &'static str,
        /// The message with the values filled in.
        message: String,
        /// The `.co` file.
        file: &'static str,
        /// The line of the `.co` file.
        line: u32,
        /// The values in the message.
        values: Vec<i64>,
    },
    /// A kernel accessed memory outside of a buffer; the access was not executed.
    OutOfBounds {
        /// The name of the kernel.
        kernel: &'static str,
        /// The `.co` file.
        file: &'static str,
        /// The line of the `.co` file.
        line: u32,
        /// The name of the buffer.
        what: String,
        /// The index.
        index: i64,
        /// The number of elements along the axis.
        extent: i64,
        /// The block, by its position in the grid.
        block: [u32; 3],
        /// The thread of the block.
        thread: u32,
    },
    /// A wide access, or a descriptor, does not have the alignment that the hardware requires.
    Misaligned {
        /// The name of the kernel.
        kernel: &'static str,
        /// The `.co` file.
        file: &'static str,
        /// The line of the `.co` file.
        line: u32,
        /// The access or descriptor.
        what: String,
        /// The block, by its position in the grid.
        block: [u32; 3],
        /// The thread of the block.
        thread: u32,
    },
    /// The simulated GPU detected that no thread can continue.
    Deadlock {
        /// The name of the kernel.
        kernel: &'static str,
        /// The report with lines of the `.co` file.
        report: String,
    },
    /// Loops took more steps than a block may take on the simulated GPU (`CROQ_SIM_STEPS`), or a
    /// wait on a GPU took longer than `CROQ_GPU_TIMEOUT`.
    Endless {
        /// The name of the kernel.
        kernel: &'static str,
        /// The report with lines of the `.co` file.
        report: String,
    },
    /// The simulated GPU detected unordered accesses: on a GPU the result would be undefined.
    Hazard {
        /// The name of the kernel.
        kernel: &'static str,
        /// The report with lines of the `.co` file.
        report: String,
    },
    /// An element of a tensor of `bool` is neither 0 nor 1, so C++ code has written it.
    NotBool {
        /// The number of the element.
        index: usize,
        /// The value of the element.
        byte: u8,
    },
    /// The kernel contains code that only a GPU can run.
    NeedsCuda {
        /// The name of the kernel.
        kernel: &'static str,
    },
    /// The device does not have that much memory left.
    OutOfMemory {
        /// The device.
        device: String,
        /// The number of bytes that were asked for.
        bytes: u64,
        /// The purpose of the memory, if it is not a tensor: on the simulated GPU the stacks and
        /// local arrays of a launch's threads.
        what: String,
        /// The limit of that memory: `CROQ_SIM_MEMORY`.
        limit: Option<u64>,
    },
    /// A call of the CUDA runtime failed.
    Cuda {
        /// The number of the error.
        code: i32,
        /// The runtime's message.
        message: String,
        /// The operation that failed.
        during: &'static str,
    },
    /// An earlier failure, which is included, has made the device unusable.
    Poisoned(Box<Error>),
    /// Generated code and croq-sys have incompatible versions.
    AbiMismatch {
        /// The version of croq-sys's interface.
        expected: u32,
        /// The version that the code was generated for.
        found: u32,
    },
}

impl Error {
    /// The name of the kernel's function as Rust calls it, for an error of a call: `scaled`, where the
    /// field `kernel` of the error and its text have `scaled<f32, 64>`, the instance of a template in the
    /// syntax of the `.co` file. That of the first failure for [`Error::Poisoned`].
    ///
    /// ```
    /// use croq_sys::Error;
    ///
    /// let error = Error::WrittenView { kernel: "scaled<f32, 64>", param: "x" };
    /// assert_eq!(error.kernel(), Some("scaled"));
    /// assert!(error.to_string().starts_with("scaled<f32, 64>: `x` is written in place"));
    /// assert_eq!(Error::Strided.kernel(), None);
    /// ```
    pub fn kernel(&self) -> Option<&'static str> {
        let (Error::ShapeMismatch { kernel, .. }
        | Error::ZeroExtent { kernel, .. }
        | Error::WrittenView { kernel, .. }
        | Error::WrongDevice { kernel, .. }
        | Error::Check { kernel, .. }
        | Error::OutOfBounds { kernel, .. }
        | Error::Misaligned { kernel, .. }
        | Error::Deadlock { kernel, .. }
        | Error::Endless { kernel, .. }
        | Error::Hazard { kernel, .. }
        | Error::NeedsCuda { kernel }
        | Error::CudaNotBuilt {
            kernel: Some(kernel),
        }) = self
        else {
            return match self {
                Error::Poisoned(cause) => cause.kernel(),
                _ => None,
            };
        };
        let (name, _) = kernel.split_once('<').unwrap_or((kernel, ""));
        Some(name)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Poisoned(cause) => Some(cause),
            _ => None,
        }
    }
}

/// As [`Display`](fmt::Display): a `main` that returns the error, and `unwrap`, print the message and
/// the remedy.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::ShapeMismatch {
                kernel,
                param,
                axis,
                name,
                expected,
                found,
            } => {
                let number = expected.to_string();
                if **name == *number {
                    write!(
                        f,
                        "{kernel}: axis {axis} of `{param}` must have extent {expected}, but has {found}"
                    )
                } else {
                    write!(
                        f,
                        "{kernel}: axis {axis} of `{param}` has extent {found}, but `{name}` is {expected} in this call\n\
                         help: every extent called `{name}` in the signature of `{kernel}` must be the same"
                    )
                }
            }
            Error::ZeroExtent {
                kernel,
                param,
                axis,
                name,
            } => write!(
                f,
                "{kernel}: axis {axis} (`{name}`) of `{param}` has extent 0\n\
                 help: a kernel needs at least one element along every axis; skip the call when there is nothing to do"
            ),
            Error::Length { shape, found } => {
                let expected = shape
                    .iter()
                    .try_fold(1usize, |n, &extent| n.checked_mul(extent));
                write!(f, "a tensor of shape {shape:?} has ")?;
                match expected {
                    Some(n) => write!(f, "{n} elements")?,
                    None => write!(f, "more elements than memory can hold")?,
                }
                write!(f, ", but {found} were given")
            }
            Error::Packing { what, element } => write!(
                f,
                "{what} cannot be packed as `{element}`\n\
                 help: a byte has several elements of `{element}`: each must be in its range, and rows are whole bytes"
            ),
            Error::Extents {
                axis,
                expected,
                found,
            } => write!(
                f,
                "axis {axis} has extent {found}, which cannot become {expected}\n\
                 help: `into_dims` changes how extents are typed, not what they are"
            ),
            Error::Strided => f.write_str(
                "the array or view is not in standard layout (row-major, without gaps)\n\
                 help: an array gets that with `as_standard_layout()`, a view of a device tensor with `try_clone()`",
            ),
            Error::WrittenView { kernel, param } => write!(
                f,
                "{kernel}: `{param}` is written in place, but is a view with gaps, or with a first \
                 element that is not at a multiple of 16 bytes\n\
                 help: pass a tensor of its own, and copy it to the view with `copy_from`"
            ),
            Error::CopyShape { expected, found } => write!(
                f,
                "a tensor of shape {found:?} cannot be copied to one of shape {expected:?}\n\
                 help: `reshape` gives a tensor another shape of as many elements"
            ),
            Error::Slice { what, shape } => {
                write!(f, "{what} is not a part of a tensor of shape {shape:?}")
            }
            Error::Foreign { reason } => f.write_str(reason),
            Error::Capture { reason, help } => write!(f, "{reason}\nhelp: {help}"),
            Error::WrongDevice {
                kernel,
                param,
                expected,
                found,
            } => write!(
                f,
                "{kernel}: `{param}` is on {found}, and not on {expected}\n\
                 help: `to_device(&device)?` copies a tensor; a stream is made by `Stream::new(&device)?`"
            ),
            Error::CudaNotBuilt {
                kernel: Some(kernel),
            } => write!(
                f,
                "{kernel}: built without CUDA, so it cannot run on a GPU\n\
                 help: build with nvcc installed (`CROQ_CUDA=required` says what is missing), or use `Device::sim()`"
            ),
            Error::CudaNotBuilt { kernel: None } => write!(
                f,
                "no kernel of this program was built with CUDA\n\
                 help: build with nvcc installed (`CROQ_CUDA=required` says what is missing), or use `Device::sim()`"
            ),
            Error::NoGpu {
                index,
                found,
                reason,
            } => {
                write!(f, "there is no CUDA device {index}: ")?;
                match found {
                    // CUDA's own error, which includes advice.
                    0 => return f.write_str(reason),
                    1 => write!(f, "this machine has one, number 0")?,
                    n => write!(f, "this machine has {n}, numbered from 0")?,
                }
                write!(
                    f,
                    "\nhelp: check what `nvidia-smi` lists and `CUDA_VISIBLE_DEVICES` hides"
                )
            }
            Error::UnknownDevice { value } => write!(
                f,
                "`CROQ_DEVICE={value}` names no device\n\
                 help: use `sim`, `cuda`, or `sim:1`, `cuda:1` for the second of them"
            ),
            Error::Check {
                kernel,
                code,
                message,
                file,
                line,
                ..
            } => {
                write!(f, "{kernel}: {message} [{code}]\n  at {file}:{line}")
            }
            Error::OutOfBounds {
                kernel,
                file,
                line,
                what,
                index,
                extent,
                block,
                thread,
            } => write!(
                f,
                "{kernel}: index {index} is outside of {}, which has {extent} elements [R12]\n  \
                 at {file}:{line}, thread {thread} of block {block:?}",
                Buffer(what)
            ),
            Error::Misaligned {
                kernel,
                file,
                line,
                what,
                block,
                thread,
            } => write!(
                f,
                "{kernel}: misaligned access to {}\n  at {file}:{line}, thread {thread} of block {block:?}",
                Buffer(what)
            ),
            Error::Deadlock { kernel, report } if report.is_empty() => {
                write!(f, "deadlock in {kernel}: no thread can go on")
            }
            Error::Hazard { kernel, report } if report.is_empty() => {
                write!(f, "race in {kernel}: accesses that nothing orders")
            }
            Error::Deadlock { report, .. }
            | Error::Hazard { report, .. }
            | Error::Endless { report, .. } => f.write_str(report.trim_end()),
            Error::NotBool { index, byte } => write!(
                f,
                "element {index} of a tensor of `bool` is the byte {byte}, which is neither 0 nor 1\n\
                 help: C++ code that writes such a tensor writes 0 or 1"
            ),
            Error::NeedsCuda { kernel } => write!(
                f,
                "{kernel}: contains text that the simulated GPU cannot run\n\
                 help: build with CUDA and run it with `CROQ_DEVICE=cuda`"
            ),
            Error::OutOfMemory {
                device,
                bytes,
                what,
                limit,
            } if !what.is_empty() => match limit {
                Some(limit) => write!(
                    f,
                    "{device} has not enough memory: {what} need {bytes} bytes, and a launch may have {limit}\n\
                     help: launch fewer threads that wait for each other, use smaller `local` arrays, or set \
                     `CROQ_SIM_MEMORY` (such as 16G; by default it is half of the machine's memory)",
                ),
                None => write!(
                    f,
                    "{device} has not enough memory: {bytes} bytes for {what}\n\
                     help: drop device tensors that are no longer needed, or work on smaller pieces"
                ),
            },
            Error::OutOfMemory { device, bytes, .. } => write!(
                f,
                "{device} has not enough memory left for {bytes} bytes\n\
                 help: drop device tensors that are no longer needed, or work on smaller pieces"
            ),
            Error::Cuda {
                code,
                message,
                during,
            } => {
                write!(f, "CUDA error {code} while {during}: {message}")?;
                match advice(*code) {
                    Some(help) => write!(f, "\nhelp: {help}"),
                    None => Ok(()),
                }
            }
            Error::Poisoned(cause) => write!(
                f,
                "the device is unusable after an earlier failure: {cause}\n\
                 help: CUDA recovers from a failed kernel only in a new process; kernels built with `Checks::Report` go on after a failed check"
            ),
            Error::AbiMismatch { expected, found } => write!(
                f,
                "generated code has ABI version {found}, croq-sys has {expected}\n\
                 help: use the same version of croq-build and croq-sys, then `cargo clean`"
            ),
        }
    }
}

/// A buffer's name, if there is one.
struct Buffer<'a>(&'a str);

impl fmt::Display for Buffer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("the buffer"),
            name => write!(f, "`{name}`"),
        }
    }
}

/// The remedies for common `cudaError_t` values.
fn advice(code: i32) -> Option<&'static str> {
    Some(match code {
        2 => {
            "the GPU is out of memory: free device tensors, or see with `nvidia-smi` which processes use it"
        }
        35 => {
            "the NVIDIA driver is missing or older than the CUDA runtime this program was built with: \
               install a newer driver, or use `CROQ_DEVICE=sim`"
        }
        46 => {
            "another process has the GPU to itself: wait for it, or choose another with `CUDA_VISIBLE_DEVICES`"
        }
        98 | 209 => {
            "the program holds no code for this GPU: add its architecture with `CROQ_CUDA_ARCH` \
                or `Config::arch` and build again"
        }
        100 => {
            "no GPU is visible: check `nvidia-smi` and `CUDA_VISIBLE_DEVICES`, or use `CROQ_DEVICE=sim`"
        }
        222 => {
            "the driver is older than the CUDA toolkit that built this program: update the driver, build \
                with an older toolkit, or name this GPU's architecture in `CROQ_CUDA_ARCH` so that no PTX \
                needs compiling"
        }
        700 | 716 | 717 | 718 => {
            "a kernel reached memory it must not touch: run the same call with \
                `CROQ_DEVICE=sim`, which names the line, or under compute-sanitizer"
        }
        719 => "a kernel failed: run the same call with `CROQ_DEVICE=sim`, which names the line",
        802 => "the system is not ready for CUDA yet: check that the fabric manager runs",
        803 => {
            "the driver and the kernel module have different versions: reboot after the driver update"
        }
        _ => return None,
    })
}

/// Fills `{0}`, `{1}` … of a check's message with its values.
pub(crate) fn fill(template: &str, values: &[i64]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let value = after
            .split_once('}')
            .and_then(|(number, tail)| Some((values.get(number.parse::<usize>().ok()?)?, tail)));
        match value {
            Some((value, tail)) => {
                text.push_str(&value.to_string());
                rest = tail;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_filled_in() {
        assert_eq!(fill("{0} of {1}, {0}", &[3, -4]), "3 of -4, 3");
        assert_eq!(fill("set {a, b} or {7}", &[1]), "set {a, b} or {7}");
        assert_eq!(fill("open {", &[1]), "open {");
    }

    #[test]
    fn a_mismatch_names_the_dimension() {
        let e = Error::ShapeMismatch {
            kernel: "gemm",
            param: "rhs",
            axis: 1,
            name: "K",
            expected: 64,
            found: 65,
        };
        assert_eq!(
            e.to_string(),
            "gemm: axis 1 of `rhs` has extent 65, but `K` is 64 in this call\n\
             help: every extent called `K` in the signature of `gemm` must be the same"
        );
    }

    #[test]
    fn memory_of_a_tensor_and_of_threads() {
        let of = |what: &str, limit| Error::OutOfMemory {
            device: "sim".to_owned(),
            bytes: 100,
            what: what.to_owned(),
            limit,
        };
        let tensor = of("y", None).to_string();
        assert!(tensor.starts_with("sim has not enough memory: 100 bytes for y\nhelp: drop"));
        let threads = of("the stacks of 4 threads", Some(50)).to_string();
        let message = "sim has not enough memory: the stacks of 4 threads need 100 bytes, and a launch may have 50\n";
        assert!(threads.starts_with(message), "{threads}");
        assert!(threads.contains("launch fewer threads"));
    }

    #[test]
    fn a_main_that_returns_an_error_prints_its_message() {
        let e = Error::UnknownDevice {
            value: "gpu".to_owned(),
        };
        assert_eq!(format!("{e:?}"), e.to_string());
    }

    #[test]
    fn a_static_mismatch_names_the_number() {
        let e = Error::ShapeMismatch {
            kernel: "scale",
            param: "src",
            axis: 1,
            name: "64",
            expected: 64,
            found: 8,
        };
        assert_eq!(
            e.to_string(),
            "scale: axis 1 of `src` must have extent 64, but has 8"
        );
    }

    #[test]
    fn known_cuda_errors_come_with_advice() {
        for code in [35, 209, 222, 700] {
            let e = Error::Cuda {
                code,
                message: "x".into(),
                during: "starting",
            };
            assert!(e.to_string().contains("\nhelp: "), "{e}");
        }
    }

    #[test]
    fn a_poisoned_device_tells_its_story() {
        let cause = Error::Check {
            kernel: "k",
            code: "R14",
            message: "n is 3".into(),
            file: "k.co",
            line: 9,
            values: vec![3],
        };
        let e = Error::Poisoned(Box::new(cause.clone()));
        assert!(
            e.to_string().contains("k: n is 3 [R14]\n  at k.co:9"),
            "{e}"
        );
        assert_eq!(
            std::error::Error::source(&e).map(ToString::to_string),
            Some(cause.to_string())
        );
    }
}
