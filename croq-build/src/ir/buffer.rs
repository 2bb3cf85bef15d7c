//! Memory: buffers, where they are, and how shared ones are laid out.

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
    /// In shared memory: an array of mbarriers, which count what arrives.
    Mbarriers,
    Local,
    /// In the registers of a warp.
    Fragment,
}

impl Storage {
    /// Every thread has its own, or its own part: others never see it.
    pub fn is_private(self) -> bool {
        matches!(self, Storage::Local | Storage::Fragment)
    }

    pub fn is_global(self) -> bool {
        matches!(self, Storage::Param(_) | Storage::Host)
    }
}

/// Memory with a name. Dense; views give it strides.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// As written; anonymous copy destinations take the future's name.
    pub name: String,
    pub elem: Scalar,
    pub storage: Storage,
    pub shape: Vec<Sym>,
    /// Elements in all, arrays and per-instance slices included.
    pub count: Sym,
    pub span: Span,
    /// What kernels do to it; text that sema can't see into counts as both.
    pub read: bool,
    pub written: bool,
    /// Only of shared memory. Views don't know of it: they count elements row by row. Accesses do so
    /// until copies are expanded, and by groups then.
    pub swizzle: Option<Swizzle>,
}

/// Where the elements of a shared buffer are in memory: the layout of TMA and of tensor cores, from
/// a multiple of 1024 bytes on. Each `rows` rows of `columns` elements are stored as groups of `bytes`
/// bytes of all rows, one group after the other, and within 128 bytes units of 16 trade places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swizzle {
    /// 32, 64 or 128.
    pub bytes: u32,
    pub columns: Sym,
    pub rows: Sym,
}

impl Buffer {
    /// The swizzle, if rows are wider than its groups.
    pub fn grouped(&self) -> Option<&Swizzle> {
        self.swizzle.as_ref().filter(|s| s.is_grouped(self.elem))
    }

    /// Where the element that is number `at` row by row is by groups, before units trade places. What
    /// it is without a swizzle or with rows of one group.
    pub fn by_groups(&self, cx: &Ctx, at: &Sym) -> Sym {
        let Some(swizzle) = self.grouped() else {
            return at.clone();
        };
        let Swizzle { columns, rows, .. } = swizzle;
        let width = Sym::int(swizzle.group(self.elem));
        let size = rows * columns;
        // Whole tiles, if the rest is certainly within one: no division has to find them.
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
    /// Elements of one row of a group.
    pub fn group(&self, elem: Scalar) -> i64 {
        i64::from(self.bytes) / i64::try_from(elem.bytes()).unwrap_or(1).max(1)
    }

    /// Where boxes may begin, in bytes: where the pattern does.
    pub fn alignment(&self) -> i64 {
        if self.bytes == 128 { 1024 } else { 128 }
    }

    /// A row is wider than a group, so that neighbouring rows are not neighbours in memory.
    pub fn is_grouped(&self, elem: Scalar) -> bool {
        self.columns.as_int() != Some(self.group(elem)) && !self.rows.is_one()
    }

    /// Elements after which the pattern repeats.
    pub fn period(&self, elem: Scalar) -> i64 {
        8 * self.group(elem)
    }
}
