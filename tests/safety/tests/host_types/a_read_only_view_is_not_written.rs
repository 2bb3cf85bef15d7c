use croq_sys::Tensor;

fn main() {
    let t = Tensor::<f32, _>::zeros((4, 4));
    t.view()[[0, 0]] = 1.0;
}
