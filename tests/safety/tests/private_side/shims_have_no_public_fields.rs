#![forbid(unsafe_code)]

use std::ffi::c_void;
use std::marker::PhantomData;

use croq_sys::__private::{Shims, croq_env};

struct Args([usize; 4]);

fn shims(sim: unsafe extern "C" fn(*const croq_env, *mut c_void) -> u32) -> Shims<Args> {
    Shims {
        sim,
        cuda: None,
        args: PhantomData,
    }
}

fn main() {}
