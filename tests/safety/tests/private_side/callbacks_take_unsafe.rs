#![forbid(unsafe_code)]

use std::ptr::{null, null_mut};

fn call(run: croq_sys::__private::Shim<u8>) {
    run(null(), null_mut());
    (croq_sys::sim::api().launch)(null_mut(), null(), null_mut());
}

fn main() {}
