//! What another program took for the same shapes: lines of a shape and seconds, with a tab between.

use std::collections::HashMap;

/// By shape.
#[derive(Default)]
pub struct Others(HashMap<String, f64>);

impl Others {
    pub fn read(text: &str) -> Result<Self, String> {
        let line = |line: &str| {
            let (shape, seconds) = line.split_once('\t')?;
            let seconds: f64 = seconds.trim().parse().ok()?;
            (seconds > 0.0).then(|| (shape.to_owned(), seconds))
        };
        let lines = text.lines().filter(|l| !l.is_empty());
        lines
            .map(|l| line(l).ok_or_else(|| format!("no shape and seconds: `{l}`")))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub fn seconds(&self, shape: &str) -> Option<f64> {
        self.0.get(shape).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_a_shape() {
        let others = Others::read("gemm f16 1 2 3\t1.5e-5\n").unwrap();
        assert_eq!(others.seconds("gemm f16 1 2 3"), Some(1.5e-5));
        assert_eq!(others.seconds("gemm f16 1 2"), None);
        assert!(Others::read("gemm f16 1 2 3 1.5e-5").is_err());
        assert!(Others::read("gemm\t0").is_err());
    }
}
