//! `mma.sync` and `mma.sp` ("Warp Level Matrix Multiply-Accumulate Instructions").
//!
//! Not here: `.m8n8k4` of f16, types and scales of later architectures, and sparse forms of
//! integers except `.m16n8k64` with 8 bits.

use super::super::decode::{Form, Refusal, Source};
use super::super::marks::{Bytes, mask_of};
use super::super::registers::{Registers, Row, Slot};
use super::element::{Accumulator, ElementType};
use super::fragment::{self, Accumulators, Fragment};
use super::product::{Combination, accumulate};
use super::sparse::Metadata;
use crate::parse::Operand;

#[derive(Clone, Debug)]
pub struct Mma {
    rows: usize,
    types: [ElementType; 2],
    a: Fragment,
    b: Fragment,
    c: Accumulators,
    d: Accumulators,
    combination: Combination,
    sparse: Option<Sparse>,
}

/// The operands of a sparse form.
#[derive(Clone, Copy, Debug)]
pub struct Sparse {
    pub metadata: Metadata,
    pub words: Source<u32>,
    pub selector: usize,
}

impl Mma {
    /// Marks of the results: each depends on a row of A, with its metadata, a column of B and its own
    /// place in C.
    pub fn marks(&self, of: impl Fn(Slot) -> Row<Bytes>) -> Vec<(Slot, Row<Bytes>)> {
        let rows = self.a.marked_rows(self.rows, &of);
        let columns = self.b.marked_columns(&of);
        // Which lane has the metadata of a row depends on the selector: those of both rows count.
        let metadata = self.sparse.and_then(|sparse| sparse.words.slot());
        let metadata = metadata.map_or(0, |slot| mask_of(&of(slot)));
        let own: Vec<Row<Bytes>> = self.c.fragment.slots().map(of).collect();
        self.d.marks(&own, |row, column| {
            let group = metadata >> (row % 8 * 4) & 0xf;
            rows >> row & 1 == 1 || columns >> column & 1 == 1 || group != 0
        })
    }

    /// # Errors
    ///
    /// A lane whose metadata has no meaning.
    pub fn execute(&self, registers: &mut Registers) -> Result<(), (usize, String)> {
        let places = match self.sparse {
            None => None,
            Some(sparse) => {
                let words = sparse.words.row(registers);
                Some(sparse.metadata.places(&words, sparse.selector)?)
            }
        };
        let [left, right] = self.types;
        let a = self.a.left(registers, left, self.rows);
        let b = self.b.right(registers, right);
        let mut sums = self.c.load(registers);
        accumulate(&a, places.as_ref(), &b, self.combination, &mut sums);
        self.d.store(registers, &sums);
        Ok(())
    }
}

/// `m16n8k32` → 16, 8, 32
pub fn shape(word: &str) -> Option<[usize; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// The shapes of each type, without those of sparse matrices.
fn has_shape(ty: ElementType, [m, n, k]: [usize; 3]) -> bool {
    use ElementType::{B1, Bf16, E4m3, E5m2, F16, F64, S4, S8, Tf32, U4, U8};
    n == 8
        && match ty {
            F16 | Bf16 => m == 16 && matches!(k, 8 | 16),
            Tf32 => m == 16 && matches!(k, 4 | 8),
            E4m3 | E5m2 => m == 16 && matches!(k, 16 | 32),
            F64 => matches!((m, k), (8, 4) | (16, 4 | 8 | 16)),
            S8 | U8 => matches!((m, k), (8, 16) | (16, 16 | 32)),
            S4 | U4 => matches!((m, k), (8, 32) | (16, 32 | 64)),
            B1 => matches!((m, k), (8, 128) | (16, 128 | 256)),
        }
}

/// Whether sums of a type may be kept in this accumulator.
pub fn sums_of(ty: ElementType, accumulator: Accumulator) -> bool {
    match ty {
        ElementType::F64 => accumulator == Accumulator::F64,
        ElementType::F16 | ElementType::E4m3 | ElementType::E5m2 => {
            matches!(accumulator, Accumulator::F16 | Accumulator::F32)
        }
        ElementType::Bf16 | ElementType::Tf32 => accumulator == Accumulator::F32,
        ElementType::B1 => accumulator == Accumulator::S32,
        _ => accumulator.is_integer(),
    }
}

/// The registers of an operand, of which there must be `count`.
pub fn fragment(
    form: &Form<'_>,
    operand: &Operand,
    count: usize,
    is_wide: bool,
) -> Result<Fragment, Refusal> {
    let list = match operand {
        Operand::Vector(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    if list.len() != count {
        return Err(form.refuse(format!("{} registers instead of {count}", list.len())));
    }
    let register = |operand| match is_wide {
        true => form.destination::<u64>(operand),
        false => form.destination::<u32>(operand),
    };
    Ok(Fragment {
        registers: list.iter().map(register).collect::<Result<_, _>>()?,
        is_wide,
    })
}

pub fn decode(form: &Form<'_>) -> Result<Mma, Refusal> {
    let mut words = form.words();
    let ordered = words.flag("sp::ordered_metadata");
    let is_sparse = ordered || words.flag("sp");
    words.required(&["sync"])?;
    words.required(&["aligned"])?;
    let text = form.instruction.mnemonic.modifiers.iter();
    let text: Vec<&str> = text
        .map(String::as_str)
        .filter(|w| shape(w).is_some())
        .collect();
    let extents = shape(words.required(&text)?).ok_or_else(|| form.refuse("its shape"))?;
    let [rows, columns, k] = extents;
    words.required(&["row"])?;
    words.required(&["col"])?;
    let saturates = words.flag("satfinite");
    let all = [ElementType::WORDS.as_slice(), &["f32", "s32"]].concat();
    let mut next = || words.required(&all);
    let types = [next()?, next()?, next()?, next()?];
    let combination = match types[1] {
        "f64" => Combination::Fused,
        "b1" => {
            let operation = words.required(&["and", "xor"])?;
            words.required(&["popc"])?;
            match operation {
                "xor" => Combination::Xor,
                _ => Combination::Multiply,
            }
        }
        _ => Combination::Multiply,
    };
    words.finish()?;
    let accumulator = Accumulator::parse(types[0], saturates);
    let (Some(left), Some(right), Some(accumulator)) = (
        ElementType::parse(types[1]),
        ElementType::parse(types[2]),
        accumulator,
    ) else {
        return Err(form.refuse("these types"));
    };
    if types[0] != types[3] || !left.goes_with(right) || !sums_of(left, accumulator) {
        return Err(form.refuse("these types with each other"));
    }
    let metadata = Metadata::new(left, k, ordered).filter(|_| rows == 16 && columns == 8);
    if !is_sparse && !has_shape(left, extents) || is_sparse && metadata.is_none() {
        return Err(form.refuse("its shape with this type"));
    }
    if is_sparse && left.is_small_float() && accumulator == Accumulator::F16 {
        return Err(form.refuse("an f16 accumulator of sparse 8-bit floats"));
    }
    form.count(if is_sparse { 6 } else { 4 })?;
    let sparse = match metadata.filter(|_| is_sparse) {
        Some(metadata) => Some(sparse(form, metadata, 4)?),
        None => None,
    };
    let is_wide = left == ElementType::F64;
    let stored = if is_sparse { k / 2 } else { k };
    let sums = |index: usize| {
        let count = Accumulators::count(accumulator, rows, columns);
        Ok(Accumulators {
            ty: accumulator,
            rows,
            columns,
            fragment: fragment(form, form.operand(index)?, count, is_wide)?,
        })
    };
    Ok(Mma {
        rows,
        types: [left, right],
        a: fragment(
            form,
            form.operand(1)?,
            fragment::count(left, rows, stored),
            is_wide,
        )?,
        b: fragment(
            form,
            form.operand(2)?,
            fragment::count(right, columns, k),
            is_wide,
        )?,
        c: sums(3)?,
        d: sums(0)?,
        combination,
        sparse,
    })
}

/// The metadata and the selector, operands `first` and the next.
pub fn sparse(form: &Form<'_>, metadata: Metadata, first: usize) -> Result<Sparse, Refusal> {
    let selector = form.immediate(form.operand(first + 1)?)?;
    if selector >= metadata.selectors() {
        return Err(form.refuse(format!(
            "the sparsity selector {selector}, which is undefined"
        )));
    }
    Ok(Sparse {
        metadata,
        words: form.source(form.operand(first)?)?,
        selector: selector as usize,
    })
}
