//! `wgmma.mma_async` and `wgmma.mma_async.sp` ("Asynchronous Warpgroup Level Matrix Instructions").
//!
//! Each warp of a warpgroup computes its 16 of the 64 rows.

use super::super::decode::{Form, Predicate, Refusal, Words};
use super::super::marks::{Bytes, mask_of};
use super::super::registers::{LANES, Lane, Mask, Registers, Row, Slot, lanes};
use super::super::world::World;
use super::descriptor::{Descriptor, Tile};
use super::element::{Accumulator, ElementType};
use super::fragment::{self, Accumulators, Fragment};
use super::marks;
use super::mma::{self, Sparse, sums_of};
use super::product::{Combination, Grid, accumulate};
use super::shared::{Agent, Proxy, read_row};
use super::sparse::Metadata;
use crate::parse::Operand;

#[derive(Clone, Debug)]
pub struct Wgmma {
    columns: usize,
    k: usize,
    types: [ElementType; 2],
    a: Left,
    /// The register of the matrix descriptor.
    b: usize,
    pub d: Accumulators,
    keeps: Predicate,
    /// The signs of A and B together.
    is_negated: bool,
    transposed: [bool; 2],
    pub sparse: Option<Sparse>,
}

#[derive(Clone, Debug)]
enum Left {
    Registers(Fragment),
    Descriptor(usize),
}

/// What an instruction has read when it is issued. Registers with fragments of A and accumulators
/// are read when it is executed.
#[derive(Clone, PartialEq, Debug)]
pub struct Inputs {
    a: Option<Descriptor>,
    b: Descriptor,
    /// The accumulator is added to.
    keeps: bool,
    places: Option<Grid<usize>>,
    /// The bits of the descriptors.
    pub descriptors: [u64; 2],
}

impl Wgmma {
    /// M, N and K are what "the same shape" means; M is always 64.
    pub fn shape(&self) -> (usize, usize) {
        (self.columns, self.k)
    }

    /// Registers with fragments of A.
    pub fn inputs(&self) -> &[usize] {
        match &self.a {
            Left::Registers(fragment) => &fragment.registers,
            Left::Descriptor(_) => &[],
        }
    }

    /// Of A as it is stored.
    fn stored(&self) -> usize {
        if self.sparse.is_some() {
            self.k / 2
        } else {
            self.k
        }
    }

    fn tiles(&self, warp: u32) -> [Tile; 2] {
        let tile = |index: usize, first_line, lines, k| Tile {
            ty: self.types[index],
            first_line,
            lines,
            k,
            is_transposed: self.transposed[index],
        };
        let first = 16 * (warp as usize % 4);
        [
            tile(0, first, 16, self.stored()),
            tile(1, 0, self.columns, self.k),
        ]
    }

    /// # Errors
    ///
    /// Operands that differ between lanes, and what the ISA says is undefined.
    pub fn issue(&self, registers: &Registers, warp: u32) -> Result<Inputs, (usize, String)> {
        let uniform = |index: usize| {
            let row = u64::row(registers, index);
            match (1..LANES).find(|lane| row[*lane] != row[0]) {
                None => Ok(row[0]),
                Some(lane) => Err((
                    lane,
                    "the matrix descriptors of the lanes differ".to_owned(),
                )),
            }
        };
        let tiles = self.tiles(warp);
        let mut descriptors = [0, uniform(self.b)?];
        if let Left::Descriptor(index) = self.a {
            descriptors[0] = uniform(index)?;
        }
        let decode = |index: usize| {
            let found = Descriptor::new(descriptors[index]);
            let found = found.and_then(|found| tiles[index].check(&found).map(|()| found));
            found.map_err(|message| (0, message))
        };
        let a = match self.a {
            Left::Descriptor(_) => Some(decode(0)?),
            Left::Registers(_) => None,
        };
        let keeps = match self.keeps.lanes(registers) {
            0 => false,
            Mask::MAX => true,
            lanes => {
                let lane = lanes.trailing_zeros() as usize;
                return Err((lane, "scale-d differs between lanes".to_owned()));
            }
        };
        let places = match self.sparse {
            None => None,
            Some(sparse) => {
                let words = sparse.words.row(registers);
                Some(sparse.metadata.places(&words, sparse.selector)?)
            }
        };
        Ok(Inputs {
            a,
            b: decode(1)?,
            keeps,
            places,
            descriptors,
        })
    }

    /// Marks of the accumulators, from those of fragments and of rows of 16 bytes in shared memory:
    /// an element depends on a row of A, a column of B and its old value.
    pub fn marks(
        &self,
        inputs: &Inputs,
        warp: u32,
        of: impl Fn(Slot) -> Row<Bytes>,
        is_unwritten: impl Fn(u64) -> bool,
    ) -> Vec<(Slot, Row<Bytes>)> {
        const MARKED: [u8; 16] = [0xff; 16];
        const CLEAN: [u8; 16] = [0; 16];
        let [left, right] = self.tiles(warp);
        let read = |address| -> Result<&[u8], ()> {
            Ok(if is_unwritten(address) {
                &MARKED
            } else {
                &CLEAN
            })
        };
        let (mut rows, mut columns) = ([false; 16], vec![false; self.columns]);
        match (&self.a, &inputs.a) {
            (Left::Registers(fragment), _) => {
                for (at, slot) in fragment.slots().enumerate() {
                    for lane in lanes(mask_of(&of(slot))) {
                        rows[lane / 4 + at % 2 * 8] = true;
                    }
                }
            }
            (Left::Descriptor(_), Some(a)) => {
                let _ = left.each(a, read, |row, _, bits| rows[row] |= bits != 0.0);
            }
            _ => {}
        }
        let _ = right.each(&inputs.b, read, |column, _, bits| {
            columns[column] |= bits != 0.0
        });
        // Accumulators of 16 bits are pairs of columns.
        let slots: Vec<Slot> = self.d.fragment.slots().collect();
        let pairs = slots.len() == self.columns / 4;
        let mark = |(at, slot): (usize, Slot)| {
            let old = if inputs.keeps { of(slot) } else { [0; LANES] };
            let at = if pairs { at * 2 } else { at };
            let row = marks::row(slot, |lane| {
                let column = at / 4 * 8 + lane % 4 * 2 + at % 2;
                let other = column + usize::from(pairs);
                let depends = rows[lane / 4 + at / 2 % 2 * 8] || columns[column] || columns[other];
                depends || old[lane] != 0
            });
            (slot, row)
        };
        slots.into_iter().enumerate().map(mark).collect()
    }

    /// Reads the matrices, and writes the accumulators.
    pub fn complete(
        &self,
        inputs: &Inputs,
        registers: &mut Registers,
        warp: u32,
        world: &World<'_>,
    ) -> Result<(), String> {
        let by = Agent {
            warp,
            lane: None,
            proxy: Proxy::Async,
        };
        let [left, right] = self.tiles(warp);
        let mut a = Grid::new(left.lines, left.k);
        match (&self.a, &inputs.a) {
            (Left::Descriptor(_), Some(descriptor)) => {
                let read = |address| read_row(world, by, address);
                left.each(descriptor, read, |row, k, value| a.set(row, k, value))
                    .map_err(|error| format!("matrix A: {error}"))?;
            }
            (Left::Registers(fragment), _) => a = fragment.left(registers, left.ty, left.lines),
            _ => {}
        }
        let mut b = Grid::new(right.k, right.lines);
        let read = |address| read_row(world, by, address);
        right
            .each(&inputs.b, read, |column, k, value| b.set(k, column, value))
            .map_err(|error| format!("matrix B: {error}"))?;
        if self.is_negated {
            a.negate();
        }
        let mut sums = match inputs.keeps {
            true => self.d.load(registers),
            false => self.d.zeros(),
        };
        let places = inputs.places.as_ref();
        accumulate(&a, places, &b, Combination::Multiply, &mut sums);
        self.d.store(registers, &sums);
        Ok(())
    }
}

/// "Matrix Shape": the extents n and k of each type.
fn has_shape(ty: ElementType, is_sparse: bool, [m, n, k]: [usize; 3]) -> bool {
    let per_row = 256 / ty.bits() as usize * if is_sparse { 2 } else { 1 };
    let fits = n.is_multiple_of(8) && (8..=256).contains(&n);
    let even = !ty.is_integer() || n <= 32 || n.is_multiple_of(16);
    m == 64 && k == per_row && fits && even
}

pub fn decode(form: &Form<'_>) -> Result<Wgmma, Refusal> {
    let mut words = form.words();
    words.required(&["mma_async"])?;
    let is_sparse = words.flag("sp");
    words.required(&["sync"])?;
    words.required(&["aligned"])?;
    let extents = shape(form, &mut words)?;
    let saturates = words.flag("satfinite");
    let all = [ElementType::WORDS.as_slice(), &["f32", "s32"]].concat();
    let mut next = || words.required(&all);
    let types = [next()?, next()?, next()?];
    if types[1] == "b1" {
        words.required(&["and"])?;
        words.required(&["popc"])?;
    }
    words.finish()?;
    let accumulator = Accumulator::parse(types[0], saturates);
    let (Some(left), Some(right), Some(accumulator)) = (
        ElementType::parse(types[1]),
        ElementType::parse(types[2]),
        accumulator,
    ) else {
        return Err(form.refuse("these types"));
    };
    let narrow = matches!(left, ElementType::S4 | ElementType::U4 | ElementType::F64);
    if narrow || !left.goes_with(right) || !sums_of(left, accumulator) {
        return Err(form.refuse("these types with each other"));
    }
    let [_, columns, k] = extents;
    if !has_shape(left, is_sparse, extents) || is_sparse && left == ElementType::B1 {
        return Err(form.refuse("its shape with this type"));
    }
    let metadata = Metadata::new(left, k, false).filter(|_| is_sparse);
    let count = Accumulators::count(accumulator, 16, columns);
    let d = Accumulators {
        ty: accumulator,
        rows: 16,
        columns,
        fragment: mma::fragment(form, form.operand(0)?, count, false)?,
    };
    let stored = if is_sparse { k / 2 } else { k };
    let a = match form.operand(1)? {
        list @ Operand::Vector(_) => {
            let count = fragment::count(left, 16, stored);
            Left::Registers(mma::fragment(form, list, count, false)?)
        }
        register => Left::Descriptor(form.destination::<u64>(register)?),
    };
    let sparse = match metadata {
        Some(metadata) => Some(mma::sparse(form, metadata, 3)?),
        None => None,
    };
    let first = if is_sparse { 5 } else { 3 };
    let modes = modes(form, left, matches!(a, Left::Descriptor(_)), first)?;
    Ok(Wgmma {
        columns,
        k,
        types: [left, right],
        a,
        b: form.destination::<u64>(form.operand(2)?)?,
        d,
        keeps: form.predicate(form.operand(first)?)?,
        is_negated: modes.is_negated,
        transposed: modes.transposed,
        sparse,
    })
}

fn shape(form: &Form<'_>, words: &mut Words<'_>) -> Result<[usize; 3], Refusal> {
    let text = form.instruction.mnemonic.modifiers.iter();
    let text = text.map(String::as_str);
    let text: Vec<&str> = text.filter(|word| mma::shape(word).is_some()).collect();
    let found = words.required(&text)?;
    mma::shape(found).ok_or_else(|| form.refuse("its shape"))
}

struct Modes {
    is_negated: bool,
    transposed: [bool; 2],
}

/// The constants after scale-d, which is operand `scale`: signs for floats, then transpositions for
/// types of 16 bits.
fn modes(
    form: &Form<'_>,
    ty: ElementType,
    a_in_memory: bool,
    scale: usize,
) -> Result<Modes, Refusal> {
    let signs = if ty.is_integer() { 0 } else { 2 };
    let transpositions = match (ty.bits(), a_in_memory) {
        (16, true) => 2,
        (16, false) => 1,
        _ => 0,
    };
    form.count(scale + 1 + signs + transpositions)?;
    let constant = |index: usize| form.immediate(form.operand(scale + 1 + index)?);
    let mut modes = Modes {
        is_negated: false,
        transposed: [false; 2],
    };
    for index in 0..signs {
        match constant(index)?.cast_signed() {
            1 => {}
            -1 => modes.is_negated ^= true,
            other => return Err(form.refuse(format!("the scale {other}"))),
        }
    }
    for index in 0..transpositions {
        modes.transposed[index + 2 - transpositions] = match constant(signs + index)? {
            0 => false,
            1 => true,
            other => return Err(form.refuse(format!("the transposition {other}"))),
        };
    }
    Ok(modes)
}
