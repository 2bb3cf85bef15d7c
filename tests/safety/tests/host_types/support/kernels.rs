//! The wrappers that croq-build generates for the two kernels of its golden tests, over declarations
//! as bindgen makes them of the headers.

#![allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_imports
)]

const MOVED_LINES: &[(u32, u32)] = &[];

pub mod gemm {
    use super::MOVED_LINES;
    mod ffi {
        use croq_sys::__private::abi::*;
        use std::ffi::c_void;

        #[repr(C)]
        pub struct croq_0badcafe_gemm_args {
            pub lhs: *const c_void,
            pub rhs: *const c_void,
            pub output: *mut c_void,
            pub M: croq_i64,
            pub K: croq_i64,
            pub N: croq_i64,
        }
        unsafe extern "C" {
            pub fn croq_sim_0badcafe_gemm(env: *const croq_env, args: *mut croq_0badcafe_gemm_args) -> croq_u32;
            pub fn croq_cuda_0badcafe_gemm(env: *const croq_env, args: *mut croq_0badcafe_gemm_args) -> croq_u32;
        }
        include!("../../../../../croq-build/src/emit/golden/gemm_shims.rs");
    }
    include!("../../../../../croq-build/src/emit/golden/gemm.rs");
}

pub mod scale {
    use super::MOVED_LINES;
    mod ffi {
        use croq_sys::__private::abi::*;
        use std::ffi::c_void;

        #[repr(C)]
        pub struct croq_0badcafe_scale_args {
            pub src: *const c_void,
            pub gain: f32,
            pub M: croq_i64,
            pub result: *mut c_void,
            pub result_shape: [croq_i64; 2],
        }
        unsafe extern "C" {
            pub fn croq_sim_0badcafe_scale(env: *const croq_env, args: *mut croq_0badcafe_scale_args) -> croq_u32;
        }
        include!("../../../../../croq-build/src/emit/golden/scale_shims.rs");
    }
    include!("../../../../../croq-build/src/emit/golden/scale.rs");
}

pub use gemm::gemm;
pub use scale::scale;
