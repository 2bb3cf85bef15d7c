//! Memory: buffers, their storage, and the layout of shared ones.

use super::{ParamId, Scalar};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, split_index};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A tensor parameter's device memory.
    Param(ParamId),
    /// Declared on the host: one device allocation per call.
    Host,
    Shared,
    /// In shared memory: an array of mbarriers, which count arrivals.
    Mbarriers,
    Local,
    /// In the registers of a warp.
    Fragment,
}

impl Storage {
    /// Whether each thread has its own copy or its own part, which no other thread can access.
    pub fn is_private(self) -> bool {
        matches!(self, Storage::Local | Storage::Fragment)
    }

    pub fn is_global(self) -> bool {
        matches!(self, Storage::Param(_) | Storage::Host)
    }
}

/// A named block of memory. It is dense; views add strides.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// As in the source; an anonymous copy destination has the future's name.
    pub name: String,
    pub elem: Scalar,
    pub storage: Storage,
    pub shape: Vec<Sym>,
    /// The number of elements, those of arrays and per-instance slices included.
    pub count: Sym,
    pub span: Span,
    /// What kernels do with it; text that sema cannot analyse counts as a read and a write.
    pub read: bool,
    pub written: bool,
    /// Only for shared memory. A view ignores the swizzle: it numbers elements row by row. So does
    /// an access until copies are expanded; afterwards it numbers elements in grouped order
    /// (`by_groups`).
    pub swizzle: Option<Swizzle>,
    /// Only for packed elements: two threads may store to one byte, so every store of an element is
    /// a compare-and-swap of the word that contains it.
    pub swaps: bool,
}

/// The layout of a shared buffer that TMA and tensor cores use; it starts at a multiple of 1024
/// bytes. A tile of `rows` rows by `columns` elements is split into groups of columns that are
/// `bytes` bytes wide, each stored with all its rows before the next group. Within 128 bytes, units
/// of 16 bytes are permuted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// 32, 64 or 128.
    pub bytes: u32,
    pub columns: Sym,
    pub rows: Sym,
}

impl Buffer {
    /// Consecutive elements that kernels read and write.
    pub fn line(name: String, elem: Scalar, storage: Storage, count: Sym, span: Span) -> Self {
        Buffer {
            name,
            elem,
            storage,
            shape: vec![count.clone()],
            count,
            span,
            read: true,
            written: true,
            swizzle: None,
            swaps: false,
        }
    }

    /// Whether it may be a `shared` scalar, which has no initial value.
    pub fn may_be_scalar(&self) -> bool {
        let [extent] = self.shape.as_slice() else {
            return false;
        };
        self.storage == Storage::Shared && extent.as_int() == Some(1)
    }

    /// The swizzle, if a row is wider than one group.
    pub fn grouped(&self) -> Option<&Swizzle> {
        self.swizzle.as_ref().filter(|s| s.is_grouped(self.elem))
    }

    /// Converts the row-by-row element number `at` to the number in grouped order, before the
    /// permutation of 16-byte units. It is unchanged without a swizzle or where a row is one group.
    pub fn by_groups(&self, cx: &Ctx, at: &Sym) -> Sym {
        let Some(swizzle) = self.grouped() else {
            return at.clone();
        };
        let Swizzle { columns, rows, .. } = swizzle;
        let width = Sym::int(swizzle.group(self.elem));
        let size = rows * columns;
        // Split off the multiple of the tile size if the remainder is provably within one tile:
        // then no division by the tile size is needed.
        let whole = size.as_int().filter(|n| *n > 0);
        let whole = whole.map_or_else(Sym::zero, |size| {
            let whole = at.part(|coef, _| coef % size == 0);
            let rest = at - &whole;
            let within =
                cx.le(&Sym::zero(), &rest).is_yes() && cx.lt(&rest, &Sym::int(size)).is_yes();
            if within { whole } else { Sym::zero() }
        });
        let at = at - &whole;
        let (row, column) = split_index(cx, &at, columns);
        let (tile, row) = if self.count == size || !whole.is_zero() {
            (Sym::zero(), row)
        } else {
            split_index(cx, &row, rows)
        };
        let (group, within) = (cx.div(&column, &width), cx.rem(&column, &width));
        let steps = [
            whole,
            &(&tile * rows) * columns,
            &(&group * rows) * &width,
            &row * &width,
            within,
        ];
        steps.into_iter().sum()
    }
}

impl Swizzle {
    /// The number of elements in one row of a group.
    pub fn group(&self, elem: Scalar) -> i64 {
        i64::from(self.bytes) / i64::try_from(elem.bytes()).unwrap_or(1).max(1)
    }

    /// The alignment of boxes in bytes: the period of the pattern in memory.
    pub fn alignment(&self) -> i64 {
        if self.bytes == 128 { 1024 } else { 128 }
    }

    /// Whether a row is wider than one group, so that neighbouring elements of a row may not be
    /// adjacent in memory.
    pub fn is_grouped(&self, elem: Scalar) -> bool {
        self.columns.as_int() != Some(self.group(elem)) && !self.rows.is_one()
    }

    /// The number of elements after which the pattern repeats.
    pub fn period(&self, elem: Scalar) -> i64 {
        8 * self.group(elem)
    }
}
