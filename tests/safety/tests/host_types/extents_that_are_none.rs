use croq_sys::Tensor;

fn main() {
    let _ = Tensor::<f32, _>::zeros((4i32, 4));
    let _ = Tensor::<f32, _>::zeros(16);
}
