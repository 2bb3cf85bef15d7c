use croq_kernel_tests::compare::{Float, assert_close, assert_exact, dot, near};
use croq_kernels as kernels;
use croq_sys::{Const, Tensor};

#[test]
fn conv3x3() {
    for (h, w) in [(3, 3), (10, 34), (11, 35), (20, 70), (4, 100)] {
        let image = Tensor::<f32, _>::random((h, w), -1.0..1.0, 1);
        let weights = Tensor::<f32, _>::random((Const::<3>, Const::<3>), -1.0..1.0, 2);
        let out = kernels::conv3x3(&image, &weights).unwrap();
        assert_eq!(out.shape(), [h - 2, w - 2]);
        assert_close(&out, |[i, j]| {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for (dy, dx) in (0..9).map(|k| (k / 3, k % 3)) {
                let product = image[[i + dy, j + dx]].wide() * weights[[dy, dx]].wide();
                sum += product;
                magnitude += product.abs();
            }
            dot::<f32>(sum, magnitude, 9)
        });
    }
}

#[test]
fn conv_channels() {
    for (c, f, h, w) in [(1, 1, 3, 3), (3, 2, 10, 18), (2, 3, 13, 25)] {
        let image = Tensor::<f32, _>::random((c, h, w), -1.0..1.0, 3);
        let weights = Tensor::<f32, _>::random((f, c, Const::<3>, Const::<3>), -1.0..1.0, 4);
        let out = kernels::conv_channels(&image, &weights).unwrap();
        assert_eq!(out.shape(), [f, h - 2, w - 2]);
        assert_close(&out, |[o, i, j]| {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for channel in 0..c {
                for (dy, dx) in (0..9).map(|k| (k / 3, k % 3)) {
                    let product = image[[channel, i + dy, j + dx]].wide()
                        * weights[[o, channel, dy, dx]].wide();
                    sum += product;
                    magnitude += product.abs();
                }
            }
            dot::<f32>(sum, magnitude, 9 * c)
        });
    }
}

#[test]
fn an_image_smaller_than_the_window_is_an_error() {
    let image = Tensor::<f32, _>::zeros((2, 40));
    let weights = Tensor::<f32, _>::zeros((Const::<3>, Const::<3>));
    assert!(kernels::conv3x3(&image, &weights).is_err());
}

#[test]
fn heat_step() {
    for (h, w) in [(1, 1), (2, 5), (4, 32), (9, 45)] {
        let t = Tensor::<f32, _>::random((h, w), 0.0..100.0, 5);
        let next = kernels::heat_step(&t, 0.2).unwrap();
        assert_close(&next, |[i, j]| {
            let own = t[[i, j]].wide();
            if i == 0 || j == 0 || i == h - 1 || j == w - 1 {
                return near(own, 0.0);
            }
            let around = t[[i - 1, j]].wide()
                + t[[i + 1, j]].wide()
                + t[[i, j - 1]].wide()
                + t[[i, j + 1]].wide();
            // Seven roundings on terms that are together at most this large.
            let magnitude = own + 0.2 * (around + 4.0 * own);
            near(
                own + f64::from(0.2f32) * (around - 4.0 * own),
                magnitude * 7.0 * f32::ROUNDOFF,
            )
        });
    }
}

/// One step in f64.
fn step_of(t: &[Vec<f64>], rate: f64) -> Vec<Vec<f64>> {
    let (h, w) = (t.len(), t[0].len());
    let at = |i: usize, j: usize| {
        if i == 0 || j == 0 || i == h - 1 || j == w - 1 {
            return t[i][j];
        }
        let around = t[i - 1][j] + t[i + 1][j] + t[i][j - 1] + t[i][j + 1];
        t[i][j] + rate * (around - 4.0 * t[i][j])
    };
    (0..h).map(|i| (0..w).map(|j| at(i, j)).collect()).collect()
}

#[test]
fn heat_steps() {
    for (h, w, steps, blocks) in [
        (1, 1, 3, 2),
        (4, 32, 1, 1),
        (8, 40, 0, 3),
        (17, 33, 6, 3),
        (60, 45, 5, 8),
        (9, 70, 4, 5),
    ] {
        let t = Tensor::<f32, _>::random((h, w), 0.0..100.0, 15);
        let last = kernels::heat_steps(&t, 0.2, steps, blocks).unwrap();
        let rows = (0..h).map(|i| (0..w).map(|j| t[[i, j]].wide()).collect());
        let expected = (0..steps).fold(rows.collect::<Vec<Vec<f64>>>(), |t, _| {
            step_of(&t, 0.2f32.wide())
        });
        // Weights are positive and their sum is one, so errors do not grow: seven roundings of
        // terms below 300 for each step.
        let tolerance = f64::from(steps) * 7.0 * 300.0 * f32::ROUNDOFF;
        assert_close(&last, |[i, j]| near(expected[i][j], tolerance));
    }
}

#[test]
fn box_blur() {
    for (m, n) in [(1, 4), (16, 64), (17, 68), (40, 132), (5, 200)] {
        // Whole numbers: sums of nine are exact, and one division rounds the same way everywhere.
        let image = Tensor::<i32, _>::random((m, n), 0..256, 25);
        let values = image.as_slice().iter().map(|v| *v as f32).collect();
        let image = Tensor::from_vec((m, n), values).unwrap();
        let blurred = kernels::box_blur(&image).unwrap();
        assert_exact(&blurred, |[i, j]| {
            let rows = i.saturating_sub(1)..(i + 2).min(m);
            let sum: f32 = rows
                .flat_map(|y| (j.saturating_sub(1)..(j + 2).min(n)).map(move |x| [y, x]))
                .map(|at| image[at])
                .sum();
            sum / 9.0
        });
    }
}

#[test]
fn smooth_streamed() {
    for (h, w) in [(1, 1), (8, 64), (9, 65), (40, 70), (23, 130)] {
        let src = Tensor::<f32, _>::random((h, w), -1.0..1.0, 6);
        let out = kernels::smooth_streamed(&src).unwrap();
        assert_close(&out, |[i, j]| {
            let at = |i: usize, j: usize| {
                // One less than the first wraps to a number that is not an index.
                if i < h && j < w {
                    src[[i, j]].wide()
                } else {
                    0.0
                }
            };
            let around = [
                at(i.wrapping_sub(1), j),
                at(i + 1, j),
                at(i, j.wrapping_sub(1)),
                at(i, j + 1),
            ];
            let own = at(i, j);
            let sum = 0.5 * own + 0.125 * around.iter().sum::<f64>();
            let magnitude = 0.5 * own.abs() + 0.125 * around.iter().map(|v| v.abs()).sum::<f64>();
            // Six roundings.
            near(sum, magnitude * 6.0 * f32::ROUNDOFF)
        });
    }
}

#[test]
fn conv_same() {
    for b in [1, 3] {
        let images = Tensor::<f32, _>::random((b, Const::<28>, Const::<28>), -1.0..1.0, 7);
        let weights = Tensor::<f32, _>::random((Const::<3>, Const::<3>), -1.0..1.0, 8);
        let out = kernels::conv_same(&images, &weights).unwrap();
        assert_close(&out, |[n, y, x]| {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for (dy, dx) in (0..9).map(|k| (k / 3, k % 3)) {
                let (row, column) = (y + dy, x + dx);
                if (1..29).contains(&row) && (1..29).contains(&column) {
                    let product =
                        images[[n, row - 1, column - 1]].wide() * weights[[dy, dx]].wide();
                    sum += product;
                    magnitude += product.abs();
                }
            }
            dot::<f32>(sum, magnitude, 9)
        });
    }
}
