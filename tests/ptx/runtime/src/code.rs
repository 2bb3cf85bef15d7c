//! Error codes (`cudaError_t`).

use std::ffi::CStr;

/// A `cudaError_t` other than success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code(pub i32);

pub type Done<T = ()> = Result<T, Code>;

macro_rules! codes {
    ($($number:literal $constant:ident $name:literal $text:literal)*) => {
        impl Code {
            $(
                // Some are returned by the C archive only.
                #[allow(dead_code)]
                pub const $constant: Code = Code($number);
            )*
        }

        const TABLE: &[(i32, &CStr, &CStr)] = &[$(($number, $name, $text)),*];
    };
}

codes! {
    1 INVALID_VALUE c"cudaErrorInvalidValue" c"invalid argument"
    2 OUT_OF_MEMORY c"cudaErrorMemoryAllocation" c"out of memory"
    9 INVALID_CONFIGURATION c"cudaErrorInvalidConfiguration" c"invalid configuration argument"
    13 INVALID_SYMBOL c"cudaErrorInvalidSymbol" c"invalid device symbol"
    17 INVALID_DEVICE_POINTER c"cudaErrorInvalidDevicePointer" c"invalid device pointer"
    21 INVALID_DIRECTION c"cudaErrorInvalidMemcpyDirection" c"invalid copy direction for memcpy"
    35 NO_DRIVER c"cudaErrorInsufficientDriver" c"CUDA driver version is insufficient for CUDA runtime version"
    52 MISSING_CONFIGURATION c"cudaErrorMissingConfiguration" c"__global__ function call is not configured"
    98 INVALID_FUNCTION c"cudaErrorInvalidDeviceFunction" c"invalid device function"
    101 INVALID_DEVICE c"cudaErrorInvalidDevice" c"invalid device ordinal"
    209 NO_IMAGE c"cudaErrorNoKernelImageForDevice" c"no kernel image is available for execution on the device"
    215 UNSUPPORTED_LIMIT c"cudaErrorUnsupportedLimit" c"limit is not supported on this architecture"
    218 INVALID_PTX c"cudaErrorInvalidPtx" c"a PTX JIT compilation failed"
    400 INVALID_HANDLE c"cudaErrorInvalidResourceHandle" c"invalid resource handle"
    500 SYMBOL_NOT_FOUND c"cudaErrorSymbolNotFound" c"named symbol not found"
    600 NOT_READY c"cudaErrorNotReady" c"device not ready"
    700 ILLEGAL_ADDRESS c"cudaErrorIllegalAddress" c"an illegal memory access was encountered"
    701 OUT_OF_RESOURCES c"cudaErrorLaunchOutOfResources" c"too many resources requested for launch"
    712 ALREADY_REGISTERED c"cudaErrorHostMemoryAlreadyRegistered" c"part or all of the requested memory range is already mapped"
    713 NOT_REGISTERED c"cudaErrorHostMemoryNotRegistered" c"pointer does not correspond to a registered memory region"
    719 LAUNCH_FAILURE c"cudaErrorLaunchFailure" c"unspecified launch failure"
    720 TOO_MANY_BLOCKS c"cudaErrorCooperativeLaunchTooLarge" c"too many blocks in cooperative launch"
    801 NOT_SUPPORTED c"cudaErrorNotSupported" c"operation not supported"
    900 NOT_IN_CAPTURE c"cudaErrorStreamCaptureUnsupported" c"operation not permitted when stream is capturing"
    912 INVALID_CLUSTER c"cudaErrorInvalidClusterSize" c"cluster size is not valid"
}

/// The name of a code.
pub fn name(code: i32) -> &'static CStr {
    find(code).map_or(c"unrecognized error code", |(name, _)| name)
}

/// What it means.
pub fn text(code: i32) -> &'static CStr {
    find(code).map_or(c"unrecognized error code", |(_, text)| text)
}

fn find(code: i32) -> Option<(&'static CStr, &'static CStr)> {
    if code == 0 {
        return Some((c"cudaSuccess", c"no error"));
    }
    let found = TABLE.iter().find(|(number, ..)| *number == code)?;
    Some((found.1, found.2))
}
