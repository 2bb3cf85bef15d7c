//! Calls of random functions with several launches, which are compared with the same programs in Rust:
//! `scripts/random_launches.py` writes both. Elements are small integers, in floats too.

use std::fmt::Debug;

use croq_sys::half::{bf16, f16};
use croq_sys::{Dims, Element, Result, Tensor};

/// A type of elements that holds the numbers of these programs exactly.
pub trait Exact: Element + PartialEq + Debug {
    fn of(value: i64) -> Self;
}

macro_rules! exact {
    ($($t:ty: $of:expr;)*) => { $(impl Exact for $t {
        fn of(value: i64) -> Self {
            $of(value)
        }
    })* }
}
exact! {
    u8: |v: i64| v as u8;
    i8: |v: i64| v as i8;
    i32: |v: i64| v as i32;
    i64: |v: i64| v;
    f16: |v: i64| f16::from_f32(v as f32);
    bf16: |v: i64| bf16::from_f32(v as f32);
    f32: |v: i64| v as f32;
}

pub fn cdiv(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

fn sum(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn products(a: &[i64], b: &[i64]) -> Vec<i64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// Calls a function with every index of a shape, the last axis fastest.
fn each(shape: &[i64], mut f: impl FnMut(&[i64])) {
    for place in 0..shape.iter().product() {
        let mut rest: i64 = place;
        let mut at = vec![0; shape.len()];
        for (axis, extent) in shape.iter().enumerate().rev() {
            at[axis] = rest % extent;
            rest /= extent;
        }
        f(&at);
    }
}

/// What an element becomes to which a copy brings none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rest {
    Zero,
    Kept,
    /// Nothing may read it.
    Unspecified,
}

/// A tensor, or a buffer of a block. An element without a number may not be read.
#[derive(Clone, Debug)]
pub struct Buffer {
    shape: Vec<i64>,
    elements: Vec<Option<i64>>,
}

/// Elements of a buffer: along each axis of its shape, or of another shape of the same elements, from an
/// origin on, at a distance.
#[derive(Clone, Debug)]
pub struct View {
    whole: Vec<i64>,
    origin: Vec<i64>,
    distance: Vec<i64>,
    shape: Vec<i64>,
}

impl View {
    /// From an origin on, in elements of this view.
    pub fn window(&self, shape: &[i64], origin: &[i64]) -> View {
        self.strided(shape, &vec![1; shape.len()], origin)
    }

    pub fn strided(&self, shape: &[i64], distance: &[i64], origin: &[i64]) -> View {
        View {
            whole: self.whole.clone(),
            origin: sum(&self.origin, &products(origin, &self.distance)),
            distance: products(&self.distance, distance),
            shape: shape.to_vec(),
        }
    }

    /// The tile of that number.
    pub fn subspan(&self, shape: &[i64], at: &[i64]) -> View {
        self.window(shape, &products(shape, at))
    }

    /// The tile of that number, where tiles begin `step` after each other.
    pub fn stepped(&self, shape: &[i64], step: &[i64], at: &[i64]) -> View {
        self.window(shape, &products(step, at))
    }

    pub fn chunk(&self, parts: &[i64], at: &[i64]) -> View {
        let shape: Vec<i64> = self.shape.iter().zip(parts).map(|(e, p)| e / p).collect();
        self.subspan(&shape, at)
    }

    /// What is left after tiles of that shape.
    pub fn modspan(&self, shape: &[i64]) -> View {
        let rest: Vec<i64> = self.shape.iter().zip(shape).map(|(e, s)| e % s).collect();
        let origin: Vec<i64> = self.shape.iter().zip(&rest).map(|(e, r)| e - r).collect();
        self.window(&rest, &origin)
    }

    /// The same elements in another shape.
    pub fn shaped(&self, shape: &[i64]) -> View {
        assert_eq!(self.whole, self.shape);
        View {
            whole: shape.to_vec(),
            origin: vec![0; shape.len()],
            distance: vec![1; shape.len()],
            shape: shape.to_vec(),
        }
    }

    /// The place of an element in its buffer.
    fn place(&self, at: &[i64]) -> Option<usize> {
        let at = sum(&self.origin, &products(at, &self.distance));
        let mut place = 0;
        for (extent, i) in self.whole.iter().zip(at) {
            if !(0..*extent).contains(&i) {
                return None;
            }
            place = place * extent + i;
        }
        Some(place as usize)
    }
}

impl Buffer {
    /// Elements without numbers.
    pub fn new(shape: &[i64]) -> Self {
        let count = shape.iter().product::<i64>() as usize;
        Self {
            shape: shape.to_vec(),
            elements: vec![None; count],
        }
    }

    pub fn filled(shape: &[i64], value: i64) -> Self {
        let mut filled = Self::new(shape);
        filled.elements.fill(Some(value));
        filled
    }

    /// The same numbers from `low` to `high` for the same seed.
    pub fn input(seed: u64, shape: &[i64], low: i64, high: i64) -> Self {
        let mut input = Self::new(shape);
        for (i, element) in input.elements.iter_mut().enumerate() {
            let mut bits = ((seed << 40) ^ (i as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *element = Some(low + ((bits ^ (bits >> 31)) % (high - low + 1) as u64) as i64);
        }
        input
    }

    pub fn all(&self) -> View {
        View {
            whole: self.shape.clone(),
            origin: vec![0; self.shape.len()],
            distance: vec![1; self.shape.len()],
            shape: self.shape.clone(),
        }
    }

    fn place(&self, at: &[i64]) -> usize {
        let place = self.all().place(at);
        place.unwrap_or_else(|| panic!("an element {at:?} of {:?}", self.shape))
    }

    pub fn at(&self, at: &[i64]) -> i64 {
        let element = self.elements[self.place(at)];
        element.unwrap_or_else(|| panic!("element {at:?} of {:?} has no number", self.shape))
    }

    pub fn set(&mut self, at: &[i64], value: i64) {
        let place = self.place(at);
        self.elements[place] = Some(value);
    }

    /// The same elements in another shape.
    pub fn reshaped(&self, shape: &[i64]) -> Buffer {
        assert_eq!(shape.iter().product::<i64>(), self.elements.len() as i64);
        Self {
            shape: shape.to_vec(),
            elements: self.elements.clone(),
        }
    }

    /// The elements as a tensor with these dimensions.
    pub fn tensor<T: Exact, D: Dims>(&self, dims: D) -> Result<Tensor<T, D>> {
        let element = |e: &Option<i64>| T::of(e.expect("an input has numbers"));
        Tensor::from_vec(dims, self.elements.iter().map(element).collect())
    }
}

/// Adds a tensor, and gives its place.
pub fn made(tensors: &mut Vec<Buffer>, tensor: Buffer) -> usize {
    tensors.push(tensor);
    tensors.len() - 1
}

/// A tile in a buffer of its own.
pub fn load(from: &Buffer, view: View, rest: Rest) -> Buffer {
    let mut tile = Buffer::new(&view.shape);
    let all = tile.all();
    copy((from, view), (&mut tile, all), rest, Rest::Unspecified);
    tile
}

/// Copies a tile. `lacks`: what becomes of elements that the source has not, because they are outside of its
/// tensor; `beyond`: of those of a destination with larger extents.
pub fn copy(from: (&Buffer, View), to: (&mut Buffer, View), lacks: Rest, beyond: Rest) {
    each(&to.1.shape, |at| {
        let Some(place) = to.1.place(at) else { return };
        let inside = at.iter().zip(&from.1.shape).all(|(i, extent)| i < extent);
        let (element, rest) = if inside {
            (from.1.place(at).map(|place| from.0.elements[place]), lacks)
        } else {
            (None, beyond)
        };
        to.0.elements[place] = match (element, rest) {
            (Some(element), _) => element,
            (None, Rest::Zero) => Some(0),
            (None, Rest::Kept) => return,
            (None, Rest::Unspecified) => None,
        };
    });
}

/// A tile with its axes in another order: axis `i` is axis `axes[i]` of the source.
pub fn transposed(from: &Buffer, view: View, axes: &[usize], rest: Rest) -> Buffer {
    let tile = load(from, view, rest);
    let shape: Vec<i64> = axes.iter().map(|&axis| tile.shape[axis]).collect();
    let mut result = Buffer::new(&shape);
    each(&shape, |at| {
        let mut source = vec![0; at.len()];
        for (i, &axis) in axes.iter().enumerate() {
            source[axis] = at[i];
        }
        let place = result.place(at);
        result.elements[place] = tile.elements[tile.place(&source)];
    });
    result
}

/// A tile with a border; elements that it lacks have the border's value.
pub fn padded(from: &Buffer, view: View, before: &[i64], after: &[i64], border: i64) -> Buffer {
    let mut result = Buffer::filled(&sum(&sum(before, &view.shape), after), border);
    each(&view.shape, |at| {
        if let Some(place) = view.place(at) {
            let to = result.place(&sum(before, at));
            result.elements[to] = from.elements[place];
        }
    });
    result
}

/// The results of calls.
#[derive(Default)]
pub struct Calls {
    /// The only program that is called, if there is one.
    pub only: Option<String>,
    /// The number of calls with the right result.
    pub right: usize,
    /// A message for each other call.
    pub wrong: Vec<String>,
}

impl Calls {
    /// Calls a program for some sizes: `both` gives the right result and the one of the kernel.
    pub fn run<T: Exact>(
        &mut self,
        name: &str,
        sizes: &[&[i64]],
        both: impl Fn(&[i64]) -> (Buffer, Result<Vec<T>>),
    ) {
        if self.only.as_deref().is_some_and(|only| only != name) {
            return;
        }
        for size in sizes {
            let (expected, found) = both(size);
            let expected: Vec<Option<T>> = expected.elements.iter().map(|e| e.map(T::of)).collect();
            let wrong = match found {
                Err(error) => error.to_string(),
                Ok(found) if found.len() != expected.len() => {
                    format!("{} elements, not {}", found.len(), expected.len())
                }
                Ok(found) => match (0..found.len()).find(|&i| Some(found[i]) != expected[i]) {
                    Some(i) => {
                        format!("element {i} is {:?}, not {:?}", found[i], expected[i])
                    }
                    None => {
                        self.right += 1;
                        continue;
                    }
                },
            };
            self.wrong.push(format!("{name} of {size:?}: {wrong}"));
        }
    }
}
