#![forbid(unsafe_code)]

use croq_sys::__private::{About, Kernel, Shim, Shims};

struct Args([usize; 4]);

fn kernel(sim: Shim<Args>, about: About) -> Kernel<Args> {
    Kernel {
        shims: Shims { sim, cuda: None },
        about,
    }
}

fn main() {}
