//! Numbers with a limit for their roundoff, by which the results of kernels are judged.

/// Half the distance from 1 to the next number of 8 significant bits: a bf16.
pub const BF16: f64 = 1.0 / 256.0;
/// That of an f32 whose last bit may be cut off, as tensor cores do.
pub const F32: f64 = 1.0 / (1 << 23) as f64;

/// A value in f64, and what is known of the error of a computation that rounds on its way.
///
/// `bound` is how large the error can become at worst. A sum of hundreds of roundings never does: they
/// are about as often up as down. `variance` is that of the error if all roundings are independent and
/// uniform, and six standard deviations are a limit that only a defect exceeds. After few roundings
/// the first limit is the smaller one, after many the second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    pub value: f64,
    pub bound: f64,
    pub variance: f64,
}

impl Near {
    pub fn exact(value: impl Into<f64>) -> Self {
        Self {
            value: value.into(),
            ..Self::default()
        }
    }

    /// With one more error of at most `error`.
    pub fn plus_error(self, error: f64) -> Self {
        Self {
            value: self.value,
            bound: self.bound + error,
            variance: self.variance + error * error / 3.0,
        }
    }

    /// Rounded to a bf16.
    pub fn to_bf16(self) -> Self {
        let rounded = self.plus_error(BF16 * self.value.abs());
        Self {
            // The number that is rounded has an error itself.
            bound: rounded.bound + BF16 * self.bound,
            ..rounded
        }
    }

    pub fn tolerance(self) -> f64 {
        self.bound.min(6.0 * self.variance.sqrt())
    }
}

/// A value whose errors are `slope` times those of other numbers, to first order.
#[derive(Clone, Copy, Default)]
pub struct Linear {
    bound: f64,
    variance: f64,
}

impl Linear {
    pub fn add(&mut self, slope: f64, of: Near) {
        self.bound += slope.abs() * of.bound;
        self.variance += slope * slope * of.variance;
    }

    /// `value`, with at most the additional error `own`.
    pub fn of(self, value: f64, own: f64) -> Near {
        Near {
            value,
            bound: self.bound,
            variance: self.variance,
        }
        .plus_error(own)
    }
}

/// Rows of numbers.
#[derive(Clone)]
pub struct Matrix {
    pub columns: usize,
    pub data: Vec<Near>,
}

impl Matrix {
    pub fn new(columns: usize, data: Vec<Near>) -> Self {
        Self { columns, data }
    }

    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &[Near]> + ExactSizeIterator {
        self.data.chunks_exact(self.columns)
    }

    /// Each row computed from a row of `self`.
    pub fn map_rows(&self, columns: usize, f: impl Fn(usize, &[Near]) -> Vec<Near>) -> Self {
        let rows = self.rows().enumerate();
        Self::new(columns, rows.flat_map(|(at, row)| f(at, row)).collect())
    }

    pub fn map_with(&self, other: &Self, f: impl Fn(Near, Near) -> Near) -> Self {
        let pairs = self.data.iter().zip(&other.data);
        Self::new(self.columns, pairs.map(|(&a, &b)| f(a, b)).collect())
    }
}
