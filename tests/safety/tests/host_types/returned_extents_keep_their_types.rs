#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::{Const, Tensor};

fn main() {
    let src = Tensor::<f32, _>::zeros((Const::<8>, 64));
    let _: croq_sys::Result<Tensor<f32, (Const<9>, Const<64>)>> = kernels::scale(&src, 2.0);
}
