//! What copies and tiles mean, for the programs in Rust that `scripts/random_movement.py` and
//! `scripts/random_launches.py` write beside theirs, and the calls that compare both.
//!
//! All numbers are small integers, so they are the same in every element type. An element that the language leaves
//! unspecified is `None`; a program that reads one is not valid, and panics here.

use croq_sys::half::{bf16, f16};
use croq_sys::{Dims, Element, Result, Tensor};

pub use crate::random_calls::Calls;

/// A type of elements.
pub trait Number: Element {
    fn of(value: i64) -> Self;
    /// The number, or none if it is not an integer.
    fn value(&self) -> Option<i64>;
}

macro_rules! integers {
    ($($t:ty)*) => { $(impl Number for $t {
        fn of(value: i64) -> Self { value as $t }
        fn value(&self) -> Option<i64> { Some(i64::from(*self)) }
    })* }
}
integers!(u8 i8 i32 i64);

macro_rules! floats {
    ($($t:ty, $of:expr, $to:expr;)*) => { $(impl Number for $t {
        fn of(value: i64) -> Self { $of(value as f32) }
        fn value(&self) -> Option<i64> {
            let value: f32 = $to(*self);
            (value.fract() == 0.0).then_some(value as i64)
        }
    })* }
}
floats! {
    f32, |v| v, |v| v;
    f16, f16::from_f32, f16::to_f32;
    bf16, bf16::from_f32, bf16::to_f32;
}

/// Rounded up.
pub fn cdiv(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

/// All indices of a shape, the last axis fastest.
fn indices(extents: &[i64]) -> impl Iterator<Item = Vec<i64>> + '_ {
    (0..extents.iter().product()).map(|n| split(n, extents))
}

fn split(mut n: i64, extents: &[i64]) -> Vec<i64> {
    let mut index = vec![0; extents.len()];
    for axis in (0..extents.len()).rev() {
        index[axis] = n % extents[axis];
        n /= extents[axis];
    }
    index
}

fn joined(index: &[i64], extents: &[i64]) -> i64 {
    assert!(
        index.iter().zip(extents).all(|(i, e)| (0..*e).contains(i)),
        "{index:?} of {extents:?}"
    );
    index.iter().zip(extents).fold(0, |n, (i, e)| n * e + i)
}

/// A tensor or a buffer.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub extents: Vec<i64>,
    data: Vec<Option<i64>>,
}

impl Buffer {
    fn of(extents: &[i64], value: Option<i64>) -> Self {
        Self {
            extents: extents.to_vec(),
            data: vec![value; extents.iter().product::<i64>() as usize],
        }
    }

    /// Holds nothing.
    pub fn new(extents: &[i64]) -> Self {
        Self::of(extents, None)
    }

    pub fn filled(extents: &[i64], value: i64) -> Self {
        Self::of(extents, Some(value))
    }

    /// Numbers from `low` to `high`, the same for the same seed.
    pub fn input(seed: u64, extents: &[i64], low: i64, high: i64) -> Self {
        let mut buffer = Self::new(extents);
        for (i, value) in buffer.data.iter_mut().enumerate() {
            let mut bits = ((seed << 40) ^ i as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *value = Some(low + ((bits ^ (bits >> 31)) % (high - low + 1) as u64) as i64);
        }
        buffer
    }

    /// As an argument of a kernel.
    pub fn tensor<T: Number, D: Dims>(&self, dims: D) -> Result<Tensor<T, D>> {
        let number = |v: &Option<i64>| T::of(v.expect("an argument has numbers"));
        Tensor::from_vec(dims, self.data.iter().map(number).collect())
    }

    pub fn at(&self, index: &[i64]) -> i64 {
        self.data[joined(index, &self.extents) as usize]
            .expect("a program reads an unspecified element")
    }

    pub fn set(&mut self, index: &[i64], value: i64) {
        let at = joined(index, &self.extents) as usize;
        self.data[at] = Some(value);
    }

    pub fn add(&mut self, index: &[i64], value: i64) {
        self.set(index, self.at(index) + value);
    }

    /// The same elements with other extents.
    pub fn reshaped(&self, extents: &[i64]) -> Self {
        assert_eq!(extents.iter().product::<i64>(), self.data.len() as i64);
        Self {
            extents: extents.to_vec(),
            data: self.data.clone(),
        }
    }

    /// All of it.
    pub fn all(&self) -> View {
        View {
            extents: self.extents.clone(),
            steps: Vec::new(),
        }
    }
}

/// Adds a tensor to those of a program, and gives its place.
pub fn made(tensors: &mut Vec<Buffer>, tensor: Buffer) -> usize {
    tensors.push(tensor);
    tensors.len() - 1
}

/// How an index of a view becomes one of what it is a view of.
#[derive(Clone, Debug)]
enum Step {
    /// Every `strides`-th element from an origin of what has the extents `within`.
    Window {
        origin: Vec<i64>,
        strides: Vec<i64>,
        within: Vec<i64>,
    },
    /// The elements of these extents in another shape.
    Shape { from: Vec<i64>, to: Vec<i64> },
}

/// A part of a buffer.
#[derive(Clone, Debug)]
pub struct View {
    pub extents: Vec<i64>,
    steps: Vec<Step>,
}

impl View {
    fn with(&self, extents: &[i64], step: Step) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self {
            extents: extents.to_vec(),
            steps,
        }
    }

    /// `view(…).from(…)`.
    pub fn window(&self, extents: &[i64], origin: &[i64]) -> Self {
        self.strided(extents, &vec![1; extents.len()], origin)
    }

    /// `view(…).from(…)` with strides, which count elements along each axis.
    pub fn strided(&self, extents: &[i64], strides: &[i64], origin: &[i64]) -> Self {
        let step = Step::Window {
            origin: origin.to_vec(),
            strides: strides.to_vec(),
            within: self.extents.clone(),
        };
        self.with(extents, step)
    }

    /// `subspan(…).at(…)`.
    pub fn subspan(&self, extents: &[i64], at: &[i64]) -> Self {
        self.stepped(extents, extents, at)
    }

    /// `subspan(…).step(…).at(…)`.
    pub fn stepped(&self, extents: &[i64], step: &[i64], at: &[i64]) -> Self {
        let origin: Vec<i64> = step.iter().zip(at).map(|(s, i)| s * i).collect();
        self.window(extents, &origin)
    }

    /// `chunk(…).at(…)`, `chunkat(…)`.
    pub fn chunk(&self, parts: &[i64], at: &[i64]) -> Self {
        let extents: Vec<i64> = self.extents.iter().zip(parts).map(|(e, p)| e / p).collect();
        self.subspan(&extents, at)
    }

    /// `modspan(…)`.
    pub fn modspan(&self, extents: &[i64]) -> Self {
        let sizes = self.extents.iter().zip(extents);
        let at: Vec<i64> = sizes.clone().map(|(e, t)| e / t * t).collect();
        let rest: Vec<i64> = sizes
            .map(|(e, t)| if e % t == 0 { 1 } else { e % t })
            .collect();
        self.window(&rest, &at)
    }

    /// `span_as(…)`, `sqz()`.
    pub fn shaped(&self, extents: &[i64]) -> Self {
        let count = |extents: &[i64]| extents.iter().product::<i64>();
        assert_eq!(count(extents), count(&self.extents));
        let step = Step::Shape {
            from: self.extents.clone(),
            to: extents.to_vec(),
        };
        self.with(extents, step)
    }

    /// The element's index in the buffer, or none if it is outside.
    fn element(&self, index: &[i64]) -> Option<Vec<i64>> {
        let mut index = index.to_vec();
        for step in self.steps.iter().rev() {
            match step {
                Step::Window {
                    origin,
                    strides,
                    within,
                } => {
                    for axis in 0..index.len() {
                        index[axis] = origin[axis] + index[axis] * strides[axis];
                        if !(0..within[axis]).contains(&index[axis]) {
                            return None;
                        }
                    }
                }
                Step::Shape { from, to } => index = split(joined(&index, to), from),
            }
        }
        Some(index)
    }
}

/// What becomes of elements of a destination that get no element.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    Unspecified,
    Kept,
    Zero,
}

/// `dma.copy source => destination`; `outside` is for elements whose source is outside of its tensor, `beyond` for
/// those of a destination that is larger than the source.
pub fn copy(
    source: (&Buffer, View),
    destination: (&mut Buffer, View),
    outside: Rest,
    beyond: Rest,
) {
    let (from, to) = (source.1, destination.1);
    assert_eq!(from.extents.len(), to.extents.len());
    assert!(from.extents.iter().zip(&to.extents).all(|(a, b)| a <= b));
    for index in indices(&to.extents) {
        let Some(target) = to.element(&index) else {
            continue;
        };
        let target = joined(&target, &destination.0.extents) as usize;
        let has_source = index.iter().zip(&from.extents).all(|(i, e)| i < e);
        let found = if has_source {
            from.element(&index)
        } else {
            None
        };
        let rest = if has_source { outside } else { beyond };
        destination.0.data[target] = match (found, rest) {
            (Some(found), _) => source.0.data[joined(&found, &source.0.extents) as usize],
            (None, Rest::Unspecified) => None,
            (None, Rest::Kept) => continue,
            (None, Rest::Zero) => Some(0),
        };
    }
}

/// A copy into a buffer of the source's shape.
pub fn load(buffer: &Buffer, view: View, outside: Rest) -> Buffer {
    let mut result = Buffer::new(&view.extents);
    let all = result.all();
    copy((buffer, view), (&mut result, all), outside, Rest::Kept);
    result
}

/// `dma.transp`.
pub fn transposed(buffer: &Buffer, view: View, axes: &[usize], outside: Rest) -> Buffer {
    let source = load(buffer, view, outside);
    let extents: Vec<i64> = axes.iter().map(|a| source.extents[*a]).collect();
    let mut result = Buffer::new(&extents);
    for (at, index) in indices(&extents).enumerate() {
        let mut from = vec![0; axes.len()];
        for (i, axis) in index.iter().zip(axes) {
            from[*axis] = *i;
        }
        result.data[at] = source.data[joined(&from, &source.extents) as usize];
    }
    result
}

/// `dma.pad`: elements that are outside the tile get the value, too.
pub fn padded(buffer: &Buffer, view: View, low: &[i64], high: &[i64], value: i64) -> Buffer {
    let extents: Vec<i64> = (0..low.len())
        .map(|a| low[a] + view.extents[a] + high[a])
        .collect();
    let mut result = Buffer::filled(&extents, value);
    let inner = result.all().window(&view.extents, low);
    copy((buffer, view), (&mut result, inner), Rest::Kept, Rest::Kept);
    result
}

impl Calls {
    /// Calls a program for some sizes: `call` gives the result in Rust and the one of the kernels. An element that
    /// is unspecified in Rust is wrong.
    pub fn run<T: Number>(
        &mut self,
        name: &str,
        sizes: &[&[i64]],
        call: impl Fn(&[i64]) -> (Buffer, Result<Vec<T>>),
    ) {
        self.compare(name, sizes, |size| {
            let (expected, found) = call(size);
            Ok(difference(&expected, &found?))
        });
    }
}

/// The first difference of two results.
fn difference<T: Number>(expected: &Buffer, found: &[T]) -> Option<String> {
    if found.len() != expected.data.len() {
        let (found, expected) = (found.len(), expected.data.len());
        return Some(format!("{found} elements, not {expected}"));
    }
    let is_right = |i: usize| expected.data[i].is_some() && found[i].value() == expected.data[i];
    let i = (0..found.len()).find(|&i| !is_right(i))?;
    let (index, expected) = (split(i as i64, &expected.extents), expected.data[i]);
    Some(format!(
        "element {index:?} is {:?}, not {expected:?}",
        found[i]
    ))
}
