#![forbid(unsafe_code)]

use std::marker::PhantomData;

use croq_sys::__private::Kernel;

fn of_another_type(kernel: Kernel<u8>) -> Kernel<[usize; 4]> {
    Kernel {
        any: kernel.any,
        args: PhantomData,
    }
}

fn main() {}
