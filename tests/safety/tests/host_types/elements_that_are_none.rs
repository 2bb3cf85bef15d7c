use croq_sys::Tensor;

fn main() {
    let _ = Tensor::<char, _>::zeros((4, 4));
}
