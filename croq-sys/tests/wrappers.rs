//! Generated wrappers, against launch shims written here: what goes in, what comes out, and what a
//! failure becomes.

#![allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unused_imports
)]

use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Device, DeviceTensor, Error, F8E4M3, Stream, Tensor, TensorViewMut};

/// `match` of the golden files: every kind of parameter, and names that mean something in Rust.
mod odd {
    const MOVED_LINES: &[(u32, u32)] = &[(7, 9)];

    pub mod ffi {
        use croq_sys::__private::abi::*;
        use std::ffi::c_void;

        #[repr(C)]
        pub struct croq_0badcafe_match_args {
            pub type_: *mut c_void,
            pub call: *const c_void,
            pub x: *const c_void,
            pub int_: u16,
            pub flag: u8,
            pub s: *mut c_void,
            pub M: croq_i64,
            pub Const: croq_i64,
            pub call_1: croq_i64,
            pub call_0: croq_i64,
            pub result: *mut c_void,
            pub result_shape: [croq_i64; 3],
        }

        /// Adds one to every element of `type`, and returns 0, 1, 2 … What `int` is decides how it
        /// fails.
        pub unsafe extern "C" fn croq_sim_0badcafe_match(
            env: *const croq_env,
            args: *mut croq_0badcafe_match_args,
        ) -> croq_u32 {
            // SAFETY: the wrapper passes both, and `env` says where failures go.
            let (env, args) = unsafe { (&*env, &mut *args) };
            let fail = |failure: croq_failure| {
                // SAFETY: as above.
                unsafe { *env.failure = failure };
                failure.kind
            };
            let mut failure = croq_failure::new(CROQ_OUT_OF_BOUNDS).with_what("x");
            failure.line = 7;
            match half::f16::from_bits(args.int_).to_f32() {
                1.0 => return fail(failure.with_values(&[-3, 12])),
                2.0 => return fail(croq_failure::new(CROQ_CHECK).with_what("division by zero")),
                3.0 => {
                    args.result = args as *mut _ as *mut c_void;
                    return CROQ_OK;
                }
                _ => {}
            }
            assert_eq!(env.abi_version, CROQ_ABI_VERSION);
            let rows = args.M + if args.flag != 0 { args.call_1 } else { 100 };
            let alloc = env.alloc.expect("an allocator");
            // SAFETY: `env` is the one this was called with.
            let result = unsafe {
                alloc(
                    env,
                    (args.M + args.call_1) as u64 * 7 * args.Const as u64,
                    1,
                )
            };
            let bytes = (args.M + args.call_1) * 7 * args.Const;
            for i in 0..bytes {
                // SAFETY: as many bytes were allocated.
                unsafe { *result.cast::<u8>().add(i as usize) = i as u8 };
            }
            for i in 0..args.M * args.M * args.Const {
                // SAFETY: `type` has that many elements.
                unsafe { *args.type_.cast::<i32>().add(i as usize) += 1 };
            }
            args.result = result;
            args.result_shape = [rows, 7, args.Const];
            CROQ_OK
        }
        pub use croq_sim_0badcafe_match as croq_cuda_0badcafe_match;
        include!("../../croq-build/src/emit/golden/odd_shims.rs");
    }
    include!("../../croq-build/src/emit/golden/odd.rs");
}

/// `total`: whether the sum is positive, and every element doubled.
mod total {
    const MOVED_LINES: &[(u32, u32)] = &[];

    pub mod ffi {
        use croq_sys::__private::abi::*;
        use std::ffi::c_void;

        #[repr(C)]
        pub struct croq_0badcafe_total_args {
            pub x: *mut c_void,
            pub N: croq_i64,
            pub result: u8,
        }

        pub unsafe extern "C" fn croq_sim_0badcafe_total(
            _: *const croq_env,
            args: *mut croq_0badcafe_total_args,
        ) -> croq_u32 {
            // SAFETY: the wrapper passes `x` with `N` elements.
            let x = unsafe {
                std::slice::from_raw_parts_mut((*args).x.cast::<f64>(), (*args).N as usize)
            };
            x.iter_mut().for_each(|v| *v *= 2.0);
            // SAFETY: as above.
            unsafe { (*args).result = u8::from(x.iter().sum::<f64>() > 0.0) };
            CROQ_OK
        }
        include!("../../croq-build/src/emit/golden/total_shims.rs");
    }
    include!("../../croq-build/src/emit/golden/total.rs");
}

struct Inputs {
    type_: Tensor<i32, (Const<2>, usize, usize)>,
    call: DeviceTensor<F8E4M3, (usize, usize, usize)>,
    x: Tensor<bf16, (usize, Const<2>)>,
    s: Stream,
}

impl Inputs {
    fn new() -> Self {
        let device = Device::sim();
        Self {
            type_: Tensor::from_fn((Const, 2, 3), |[i, j, k]| (100 * i + 10 * j + k) as i32),
            call: DeviceTensor::zeros((9, 4, 2), &device).unwrap(),
            x: Tensor::zeros((2, Const)),
            s: Stream::new(&device).unwrap(),
        }
    }

    fn run(
        &mut self,
        int: f32,
        flag: bool,
    ) -> croq_sys::Result<Tensor<u8, (usize, Const<7>, usize)>> {
        odd::match_(
            &mut self.type_,
            &self.call,
            &self.x,
            f16::from_f32(int),
            flag,
            &self.s,
        )
    }
}

#[test]
fn results_and_copies_come_back() {
    let mut inputs = Inputs::new();
    let out = inputs.run(0.0, true).unwrap();
    assert_eq!(
        out,
        Tensor::from_fn((6, 7, 3), |[i, j, k]| (21 * i + 3 * j + k) as u8)
    );
    assert_eq!(inputs.type_[[1, 0, 2]], 103);
    assert_eq!(inputs.type_[[0, 0, 0]], 1);
}

#[test]
fn views_are_written_where_they_are() {
    let mut numbers = vec![1.0, 2.0, -0.5];
    let mut view = TensorViewMut::from_mut_slice((Const::<3>,), &mut numbers).unwrap();
    assert!(total::total(&mut view).unwrap());
    assert_eq!(numbers, [2.0, 4.0, -1.0]);
    assert!(!total::total(&mut Tensor::from_vec((1,), vec![-1.0]).unwrap()).unwrap());
}

#[test]
fn extents_are_compared_with_the_first_of_their_name() {
    let mut inputs = Inputs::new();
    inputs.type_ = Tensor::zeros((Const, 3, 3));
    let e = inputs.run(0.0, true).unwrap_err();
    let Error::ShapeMismatch {
        kernel: "match",
        param: "type",
        axis: 1,
        name: "M",
        expected: 2,
        found: 3,
    } = e
    else {
        panic!("{e}");
    };
    let mut inputs = Inputs::new();
    inputs.call = DeviceTensor::zeros((9, 4, 5), &Device::sim()).unwrap();
    let e = inputs.run(0.0, true).unwrap_err();
    assert!(
        matches!(
            e,
            Error::ShapeMismatch {
                param: "call",
                axis: 2,
                expected: 2,
                found: 5,
                ..
            }
        ),
        "{e}"
    );
    let e = total::total(&mut Tensor::<f64, _>::zeros((0,))).unwrap_err();
    assert_eq!(
        e,
        Error::ZeroExtent {
            kernel: "total",
            param: "x",
            axis: 0,
            name: "N"
        }
    );
}

#[test]
fn failures_name_the_line_as_it_is_now() {
    let e = Inputs::new().run(1.0, true).unwrap_err();
    assert_eq!(
        e.to_string(),
        "match: index -3 is outside of `x`, which has 12 elements [R12]\n  \
         at kernels/odd.co:9, thread 0 of block [0, 0, 0]"
    );
    let e = Inputs::new().run(2.0, true).unwrap_err();
    assert!(
        matches!(&e, Error::Check { message, .. } if message == "division by zero"),
        "{e}"
    );
}

#[test]
fn a_result_that_no_memory_backs_is_refused() {
    let e = Inputs::new().run(3.0, true).unwrap_err();
    assert!(matches!(e, Error::AbiMismatch { .. }), "{e}");
    // It claims a hundred rows more than it allocated.
    let e = Inputs::new().run(0.0, false).unwrap_err();
    assert!(matches!(e, Error::Length { .. }), "{e}");
}
