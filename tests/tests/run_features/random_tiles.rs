//! Copies of random tiles: rank, element type, tile, operator, engine, transformation, swizzle,
//! number of threads. This file writes the programs (`CROQ_BLESS=1` writes them again), runs them
//! with random extents, and compares the results element by element with the definition of the
//! language.

use croq_sys::{Dims, Element, Result, Tensor};
use croq_tests::kernels;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const CASES: u64 = 25;
/// The calls of each program.
const CALLS: u64 = 4;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, faces: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % faces
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.roll(one_in) == 0
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Engine {
    Threads { is_async: bool },
    Tma { is_async: bool },
}

#[derive(Clone, PartialEq, Debug)]
enum Transform {
    None,
    Transpose(Vec<usize>),
    Pad { low: Vec<usize>, high: Vec<usize> },
}

/// The value of a padded border.
const FILLER: i64 = 77;

#[derive(Clone, Debug)]
struct Case {
    number: u64,
    bytes: usize,
    tile: Vec<usize>,
    /// Windows begin this far before the tile of their number.
    early: Vec<usize>,
    engine: Engine,
    transform: Transform,
    zfill: bool,
    swizzle: Option<usize>,
    threads: usize,
}

impl Case {
    fn new(number: u64) -> Self {
        let mut dice = Dice(number * 7919 + 11);
        let bytes = dice.pick(&[1, 2, 4, 8]);
        let rank = dice.pick(&[1, 2, 2, 3, 3, 4, 5]);
        let is_async = dice.chance(3);
        let by_tma = dice.chance(3);
        let engine = if by_tma {
            Engine::Tma { is_async }
        } else {
            Engine::Threads { is_async }
        };
        let inner_choices: &[usize] = if by_tma {
            &[16, 32, 64]
        } else {
            &[5, 8, 16, 24, 33, 64]
        };
        let mut tile: Vec<usize> = (1..rank).map(|_| dice.pick(&[1, 2, 3, 4, 7])).collect();
        tile.push(dice.pick(inner_choices));
        let plain = by_tma || is_async;
        let transform = match dice.roll(4) {
            0 if !plain && rank > 1 => {
                let mut axes: Vec<usize> = (0..rank).collect();
                for last in (1..rank).rev() {
                    let with = dice.roll(last as u64 + 1) as usize;
                    axes.swap(last, with);
                }
                Transform::Transpose(axes)
            }
            1 if !plain => Transform::Pad {
                low: (0..rank).map(|_| dice.roll(3) as usize).collect(),
                high: (0..rank).map(|_| dice.roll(3) as usize).collect(),
            },
            _ => Transform::None,
        };
        let early = tile
            .iter()
            .map(|t| usize::from(*t > 1 && dice.chance(4)))
            .collect();
        let zfill = !matches!(transform, Transform::Pad { .. }) && dice.chance(2);
        let mut case = Self {
            number,
            bytes,
            tile,
            early,
            engine,
            transform,
            zfill,
            swizzle: None,
            threads: dice.pick(&[32, 64, 96, 128]),
        };
        let inner = case.moved().last().copied().unwrap_or(0) * bytes;
        let fits: Vec<usize> = [32, 64, 128]
            .into_iter()
            .filter(|n: &usize| inner.is_multiple_of(*n))
            .collect();
        if !fits.is_empty() && case.transform == Transform::None && dice.chance(2) {
            case.swizzle = Some(dice.pick(&fits));
        }
        case
    }

    fn rank(&self) -> usize {
        self.tile.len()
    }

    /// The shape of the result.
    fn moved(&self) -> Vec<usize> {
        match &self.transform {
            Transform::None => self.tile.clone(),
            Transform::Transpose(axes) => axes.iter().map(|a| self.tile[*a]).collect(),
            Transform::Pad { low, high } => (0..self.rank())
                .map(|d| low[d] + self.tile[d] + high[d])
                .collect(),
        }
    }

    fn is_tma(&self) -> bool {
        matches!(self.engine, Engine::Tma { .. })
    }

    fn program(&self) -> String {
        let rank = self.rank();
        let all = |f: &dyn Fn(usize) -> String| (0..rank).map(f).collect::<Vec<_>>().join(", ");
        let elem = match self.bytes {
            1 => "u8",
            2 => "u16",
            4 => "s32",
            _ => "s64",
        };
        let counts: Vec<String> = (0..rank)
            .map(|d| format!("cdiv(D{d}, {})", self.tile[d]))
            .collect();
        let size: usize = self.moved().iter().product();
        let (prefix, is_async) = match self.engine {
            Engine::Threads { is_async } => ("dma", is_async),
            Engine::Tma { is_async } => ("tma", is_async),
        };
        let numbers = |list: &[usize]| {
            let texts: Vec<String> = list.iter().map(usize::to_string).collect();
            texts.join(", ")
        };
        let mut op = match &self.transform {
            Transform::None => format!("{prefix}.copy"),
            Transform::Transpose(axes) => format!("{prefix}.transp<{}>", numbers(axes)),
            Transform::Pad { low, high } => format!(
                "{prefix}.pad<{{{}}}, {{{}}}, {{{}}}, {FILLER}>",
                numbers(low),
                numbers(high),
                numbers(&vec![0; rank])
            ),
        };
        if is_async {
            op += ".async";
        }
        if let Some(n) = self.swizzle {
            let _ = write!(op, ".swiz<{n}>");
        }
        if self.zfill {
            op += ".zfill";
        }
        let tile = if self.early.iter().all(|e| *e == 0) {
            let at = all(&|d| format!("b{d}"));
            format!("subspan({}).at({at})", numbers(&self.tile))
        } else {
            let from = all(&|d| match self.early[d] {
                0 => format!("b{d} * {}", self.tile[d]),
                early => format!("b{d} * {} - {early}", self.tile[d]),
            });
            format!("view({}).from({from})", numbers(&self.tile))
        };
        // At most three indices per level: the others are loops.
        let outer: Vec<usize> = (0..rank.min(3)).rev().collect();
        let names: Vec<String> = outer.iter().map(|d| format!("b{d}")).collect();
        let bounds: Vec<&str> = outer.iter().map(|d| counts[*d].as_str()).collect();
        let walked: String = (3..rank)
            .map(|d| format!("    foreach b{d} in {}\n", counts[d]))
            .collect();
        let number = (1..rank).fold("b0".to_owned(), |n, d| {
            format!("({n}) * {} + b{d}", counts[d])
        });
        let mut divisor = size;
        let coordinates: Vec<String> = self
            .moved()
            .iter()
            .map(|extent| {
                divisor /= extent;
                format!("q / {divisor} % {extent}")
            })
            .collect();
        let stored = format!("out.at(n, q) = f.data.at({});", coordinates.join(", "));
        let stored = match self.inside(&coordinates) {
            Some(inside) => format!("if ({inside}) {stored}"),
            None => stored,
        };
        format!(
            "__co__ auto random_{}({elem} [{}] x) {{\n  {elem} [{}, {size}] out;\n  \
             parallel {{{}}} by [{}] : block {{\n{walked}    {{\n      \
             f = {op} x.{tile} => shared;\n{}      \
             n = {number};\n      \
             parallel t by {} : thread\n        foreach k in {} : unroll(1)\n          \
             if (k * {} + t < {size}) {{\n            q = k * {} + t;\n            \
             {stored}\n          }}\n    }}\n  }}\n  return out;\n}}\n",
            self.number,
            all(&|d| format!("D{d}")),
            counts.join(" * "),
            names.join(", "),
            bounds.join(", "),
            if is_async { "      wait f;\n" } else { "" },
            self.threads,
            size.div_ceil(self.threads),
            self.threads,
            self.threads,
        )
    }

    /// The region of the result inside the data, if nothing is copied elsewhere.
    fn inside(&self, coordinates: &[String]) -> Option<String> {
        let axes: Vec<usize> = match &self.transform {
            Transform::None => (0..self.rank()).collect(),
            Transform::Transpose(axes) => axes.clone(),
            Transform::Pad { .. } => return None,
        };
        if self.zfill || self.is_tma() {
            return None;
        }
        let conditions = axes.iter().zip(coordinates).map(|(&d, at)| {
            let (tile, early) = (self.tile[d], self.early[d]);
            let place = format!("b{d} * {tile} + {at}");
            match early {
                0 => format!("{place} < D{d}"),
                _ => format!("{place} >= {early} && {place} - {early} < D{d}"),
            }
        });
        Some(conditions.collect::<Vec<_>>().join(" && "))
    }

    fn call(&self) -> String {
        let ty = match self.bytes {
            1 => "u8",
            2 => "u16",
            4 => "i32",
            _ => "i64",
        };
        let extents: String = (0..self.rank()).map(|d| format!("d[{d}], ")).collect();
        let (number, source) = (self.number, "|d: &[usize]| source::<_, ");
        format!("check({number}, {source}{ty}>(({extents})), kernels::random_{number});\n")
    }

    /// The extents for one call. Rows that TMA copies are multiples of 16 bytes apart.
    fn extents(&self, call: u64) -> Vec<usize> {
        let mut dice = Dice(self.number * 31 + call * 104_729);
        let mut extents: Vec<usize> = self
            .tile
            .iter()
            .zip(&self.early)
            .map(|(t, early)| early + 1 + dice.roll(2 * *t as u64 + 3) as usize)
            .collect();
        if self.is_tma()
            && let Some(inner) = extents.last_mut()
        {
            *inner = inner.next_multiple_of(16 / self.bytes.min(16));
        }
        extents
    }

    /// The expected value at position `j` of tile `b` of the result; `None` if any value is
    /// allowed.
    fn expected(&self, extents: &[usize], b: &[usize], j: &[usize], x: &[i64]) -> Option<i64> {
        let mut i = vec![0isize; self.rank()];
        match &self.transform {
            Transform::None => i = j.iter().map(|v| *v as isize).collect(),
            Transform::Transpose(axes) => {
                for (k, axis) in axes.iter().enumerate() {
                    i[*axis] = j[k] as isize;
                }
            }
            Transform::Pad { low, .. } => {
                for d in 0..self.rank() {
                    i[d] = j[d] as isize - low[d] as isize;
                }
            }
        }
        let in_tile = (0..self.rank()).all(|d| (0..self.tile[d] as isize).contains(&i[d]));
        let mut place = 0;
        let mut inside = true;
        for d in 0..self.rank() {
            let at = (b[d] * self.tile[d]) as isize - self.early[d] as isize + i[d];
            inside &= (0..extents[d] as isize).contains(&at);
            place = place * extents[d] as isize + at;
        }
        let padded = matches!(self.transform, Transform::Pad { .. });
        match (in_tile && inside, padded) {
            (true, _) => x.get(place as usize).copied(),
            (false, true) => Some(FILLER),
            (false, false) => (self.zfill || self.is_tma()).then_some(0),
        }
    }
}

fn coordinates(mut number: usize, shape: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = shape
        .iter()
        .rev()
        .map(|extent| {
            let at = number % extent;
            number /= extent;
            at
        })
        .collect();
    all.reverse();
    all
}

/// Small numbers, which every element type represents.
trait Small: Element + Into<i64> {
    fn small(value: u8) -> Self;
}

macro_rules! small {
    ($($T:ty)*) => {$(
        impl Small for $T {
            fn small(value: u8) -> Self {
                Self::from(value % 127)
            }
        }
    )*};
}
small!(u8 u16 i32 i64);

fn source<D: Dims, T: Small>(dims: D) -> Tensor<T, D> {
    let count: usize = dims.shape().as_ref().iter().product();
    let values = (0..count)
        .map(|i| T::small((i * 37 + i / 101) as u8))
        .collect();
    Tensor::from_vec(dims, values).expect("as many values as the shape has")
}

fn check<T: Small, D: Dims, R: Dims>(
    number: u64,
    source: impl Fn(&[usize]) -> Tensor<T, D>,
    kernel: impl Fn(&Tensor<T, D>) -> Result<Tensor<T, R>>,
) {
    let case = Case::new(number);
    for call in 0..CALLS {
        let extents = case.extents(call);
        let x = source(&extents);
        let out = kernel(&x).unwrap_or_else(|e| panic!("{case:?} of {extents:?}: {e}"));
        let values: Vec<i64> = x.as_slice().iter().map(|v| (*v).into()).collect();
        let counts: Vec<usize> = extents
            .iter()
            .zip(&case.tile)
            .map(|(e, t)| e.div_ceil(*t))
            .collect();
        let moved = case.moved();
        let size: usize = moved.iter().product();
        let tiles: usize = counts.iter().product();
        assert_eq!(out.as_slice().len(), tiles * size);
        for (place, found) in out.as_slice().iter().enumerate() {
            let b = coordinates(place / size, &counts);
            let j = coordinates(place % size, &moved);
            let Some(expected) = case.expected(&extents, &b, &j, &values) else {
                continue;
            };
            let found: i64 = (*found).into();
            assert_eq!(
                found,
                expected,
                "position {j:?} of tile {b:?} of {extents:?}: {case:?}\n{}",
                case.program()
            );
        }
    }
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

#[test]
fn the_programs_are_those_of_the_cases() {
    let mut programs =
        "// Written by tests/tests/run_features/random_tiles.rs, which also says what must come out.\n"
            .to_owned();
    let mut calls = String::new();
    for number in 0..CASES {
        let case = Case::new(number);
        let _ = write!(programs, "\n{}", case.program());
        calls += &case.call();
    }
    for (name, text) in [
        ("run/features/random_tiles.co", programs),
        (
            "tests/run_features/random_tiles_calls.rs",
            format!("{{\n{calls}}}\n"),
        ),
    ] {
        let path = here().join(name);
        if std::env::var_os("CROQ_BLESS").is_some() {
            std::fs::write(&path, &text).expect("written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == text,
            "{name} is of other cases: CROQ_BLESS=1 renews it"
        );
    }
}

#[test]
fn random_tiles_arrive_as_the_language_says() {
    include!("random_tiles_calls.rs");
}
