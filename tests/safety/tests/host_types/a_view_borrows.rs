use croq_sys::TensorView;

fn main() {
    let view = {
        let numbers = vec![1.0f32; 16];
        TensorView::from_slice((4, 4), &numbers)
    };
    drop(view);
}
