//! Draws a photograph as a pencil sketch: `image-filter [IN.pgm [OUT.pgm]]`.

mod pgm;

croq_sys::include_kernels!();

use std::error::Error;
use std::path::PathBuf;

use croq_sys::{Const, Device, Tensor};

/// A bell curve of five values that add up to one.
const BELL: [f32; 5] = [0.0625, 0.25, 0.375, 0.25, 0.0625];

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/pictures/hills.pgm");
    let input = args.next().unwrap_or_else(|| shipped.into());
    let output = args.next().unwrap_or_else(|| "sketch.pgm".into());

    let photo = pgm::read(&input)?;
    let drawing = sketch(&photo)?;
    pgm::write(&output, &drawing)?;

    let [height, width] = drawing.shape();
    let ink = drawing.as_slice().iter().filter(|&&v| v < 128).count();
    println!(
        "{width} x {height} pixels, {:.1} % of them ink, drawn on {} into {}",
        100.0 * ink as f64 / (width * height) as f64,
        Device::default().name(),
        output.display()
    );
    Ok(())
}

type Picture = Tensor<u8, (usize, usize)>;

fn sketch(photo: &Picture) -> croq_sys::Result<Picture> {
    let weights = Tensor::from_fn((Const::<5>,), |[k]| BELL[k]);
    kernels::sketch(photo, &weights, 1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same in f64, pixel by pixel.
    fn reference(photo: &Picture) -> Vec<f64> {
        let [h, w] = photo.shape();
        let near = |at: usize, k: usize, n: usize| (at + k).saturating_sub(2).min(n - 1);
        let sum = |value: &dyn Fn(usize) -> f64| {
            (0..5).map(|k| f64::from(BELL[k]) * value(k)).sum::<f64>()
        };
        let across = |i: usize, j: usize| sum(&|k| photo[[i, near(j, k, w)]].into());
        let mut smooth = vec![0.0; h * w];
        for at in 0..h * w {
            smooth[at] = sum(&|k| across(near(at / w, k, h), at % w));
        }
        let at = |i: usize, j: usize| smooth[i * w + j];
        (0..h * w)
            .map(|p| (p / w, p % w))
            .map(|(i, j)| {
                if i == 0 || j == 0 || i == h - 1 || j == w - 1 {
                    return 255.0;
                }
                let column = |j: usize| at(i - 1, j) + 2.0 * at(i, j) + at(i + 1, j);
                let row = |i: usize| at(i, j - 1) + 2.0 * at(i, j) + at(i, j + 1);
                let slope = (column(j + 1) - column(j - 1)).hypot(row(i + 1) - row(i - 1));
                (255.0 - 1.5 * slope).clamp(0.0, 255.0)
            })
            .collect()
    }

    #[test]
    fn the_sketch_is_the_reference_rounded() {
        for (h, w) in [(1, 1), (3, 3), (4, 32), (21, 50)] {
            let photo = Tensor::<u8, _>::random((h, w), 0..255, 1);
            let drawing = sketch(&photo).unwrap();
            for (found, expected) in drawing.as_slice().iter().zip(reference(&photo)) {
                // Half a grey level of rounding, and a little for values on the edge of it.
                assert!(
                    (f64::from(*found) - expected).abs() <= 0.501,
                    "{found} for {expected}"
                );
            }
        }
    }

    #[test]
    fn pictures_survive_the_file_format() {
        let photo = Tensor::<u8, _>::random((5, 7), 0..255, 2);
        let path = std::env::temp_dir().join(format!("croq-picture-{}.pgm", std::process::id()));
        pgm::write(&path, &photo).unwrap();
        let read = pgm::read(&path);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read.unwrap(), photo);
    }
}
