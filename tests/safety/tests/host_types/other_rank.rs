#[path = "support/kernels.rs"]
mod kernels;

use croq_sys::Tensor;

fn main() {
    let src = Tensor::<f32, _>::zeros((8, 8, 8));
    let _ = kernels::scale(&src, 2.0);
}
