use croq_sys::Tensor;

fn main() {
    let _ = Tensor::<bool, _>::zeros((4, 4));
}
