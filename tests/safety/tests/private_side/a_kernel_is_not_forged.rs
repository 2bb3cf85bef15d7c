#![forbid(unsafe_code)]

use croq_sys::__private::{About, Kernel, Shim, Shims};

struct Args([usize; 4]);

fn kernel(sim: Shim<Args>, about: About) -> Kernel<Args> {
    Kernel::new(Shims::new(sim, None), about)
}

fn main() {}
