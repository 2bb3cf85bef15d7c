use croq_kernels as kernels;

fn escape_time(cx: f32, cy: f32, limit: i32) -> i32 {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    for n in 0..limit {
        let (xx, yy) = (x * x, y * y);
        if xx + yy > 4.0 {
            return n;
        }
        y = 2.0 * x * y + cy;
        x = xx - yy + cx;
    }
    limit
}

/// On a GPU some products are fused with the following addition, and near the edge of the set the
/// smallest difference grows without bound; elsewhere the two agree.
#[test]
fn mandelbrot() {
    let (height, width, limit) = (41, 70, 60);
    let (left, top, step) = (-2.2f32, -1.2f32, 0.06f32);
    let image = kernels::mandelbrot(height, width, left, top, step, limit).unwrap();
    assert_eq!(image.shape(), [41, 70]);
    let mut differ = 0;
    for i in 0..41 {
        for j in 0..70 {
            let (x, y) = (left + step * j as f32, top + step * i as f32);
            differ += usize::from(image[[i, j]] != escape_time(x, y, limit));
        }
    }
    assert!(differ * 50 <= 41 * 70, "{differ} points differ");
}
