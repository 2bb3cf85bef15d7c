#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::{Const, Tensor};

fn main() {
    let src = Tensor::<f32, _>::zeros((8, Const::<63>));
    let _ = kernels::scale(&src, 2.0);
}
