//! Magnitudes of integers: upper bounds of sums of absolute values.
//!
//! The size of an expression is a sum of products of values that the host knows before a launch,
//! where each factor counts as its absolute value, and at least as one. So it bounds the expression
//! and each step in computing it, in any order and with any factors factored out: every such step
//! is a part of the sum, or a part of one of its products.

use std::cell::{Cell, RefCell};

use crate::ir::{
    BinOp, BufferId, Expr, ExprKind, Function, Intrinsic, LocalId, Scalar, Stmt, StmtKind, Storage,
    UnOp, VarHome, Visit, walk_exprs,
};
use crate::sorted::SortedMap;
use crate::symbolic::{Atom, Sym, Var};

use super::need::{Narrowed, Need};

/// The maximum number of bytes of a tensor: croq-sys and `host::alloc` reject more.
const MOST_BYTES: f64 = (1u64 << 56) as f64;
/// An upper bound of a block's shared memory; a launch that needs more is rejected.
const MOST_SHARED: f64 = (1u64 << 20) as f64;
/// The maximum number of blocks of a grid along its longest axis.
pub const MOST_BLOCKS: f64 = (1u64 << 31) as f64;
/// Half of the 64-bit range, so that rounding here does not matter.
const SAFE: f64 = (1u64 << 62) as f64;
/// The maximum number of products of a size; more are merged.
const MOST_TERMS: usize = 12;
/// The maximum depth of bounds of variables in terms of other variables.
const DEPTH: u32 = 24;
/// The maximum number of factors that are multiplied for the size of an expression. Checks may bound
/// variables by each other, and then each level of bounds multiplies the products.
const MOST_WORK: usize = 20_000;

/// The coefficients of products of magnitudes; factors are sorted, and so are the products. Most sizes
/// have one or two.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Size(Vec<(Vec<Sym>, f64)>);

impl Size {
    fn constant(value: f64) -> Self {
        Self(vec![(Vec::new(), value)])
    }

    fn of(factor: Sym) -> Self {
        Self(vec![(vec![factor], 1.0)])
    }

    fn find(&self, product: &[Sym]) -> Result<usize, usize> {
        self.0.binary_search_by(|(p, _)| p.as_slice().cmp(product))
    }

    /// Replaces the coefficient of a product, which is zero for one that is missing.
    fn update(&mut self, product: &[Sym], new: impl FnOnce(f64) -> f64) {
        match self.find(product) {
            Ok(at) => {
                if let Some((_, coef)) = self.0.get_mut(at) {
                    *coef = new(*coef);
                }
            }
            Err(at) => self.0.insert(at, (product.to_vec(), new(0.0))),
        }
    }

    fn plus(mut self, other: &Self) -> Self {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return self.merged();
        }
        for (product, coef) in &other.0 {
            self.update(product, |own| own + coef);
        }
        self.merged()
    }

    /// Adds the product of two sizes.
    pub fn and(self, a: &Self, b: &Self) -> Self {
        let (a, b) = (a.clone().at_least_one(), b.clone().at_least_one());
        self.plus(&a.times(&b))
    }

    /// An upper bound of both.
    fn or(mut self, other: &Self) -> Self {
        for (product, coef) in &other.0 {
            self.update(product, |own| own.max(*coef));
        }
        self.merged()
    }

    fn scaled(mut self, by: f64) -> Self {
        self.0.iter_mut().for_each(|(_, coef)| *coef *= by);
        self
    }

    /// The value of a size without factors.
    fn as_constant(&self) -> Option<f64> {
        match self.0.as_slice() {
            [(product, coef)] if product.is_empty() => Some(*coef),
            _ => None,
        }
    }

    fn times(&self, other: &Self) -> Self {
        if let Some(by) = other.as_constant() {
            return self.clone().scaled(by).merged();
        }
        if let Some(by) = self.as_constant() {
            return other.clone().scaled(by).merged();
        }
        let mut product = Self::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut factors: Vec<Sym> = a.iter().chain(b).cloned().collect();
                factors.sort();
                product.update(&factors, |own| own + x * y);
            }
        }
        product.merged()
    }

    /// At least one, for any values of the factors.
    fn at_least_one(mut self) -> Self {
        let sum = self.least();
        if sum < 1.0 {
            self.update(&[], |own| own + (1.0 - sum));
        }
        self
    }

    /// Merges products that are part of others into these, if there are many.
    fn merged(mut self) -> Self {
        if self.0.len() <= MOST_TERMS {
            return self;
        }
        let products: Vec<Vec<Sym>> = self.0.iter().map(|(product, _)| product.clone()).collect();
        for small in &products {
            let within = |large: &&Vec<Sym>| *large != small && rest(large, small).is_some();
            let large = self.0.iter().map(|(product, _)| product);
            let large = large.filter(within).max_by_key(|p| p.len()).cloned();
            if let Some(large) = large
                && let Ok(at) = self.find(small)
            {
                let (_, coef) = self.0.remove(at);
                self.update(&large, |own| own + coef);
            }
        }
        self
    }

    /// Whether `other` is never larger, product by product.
    pub fn covers(&self, other: &Self) -> bool {
        // The remainders of the products after others have used their part.
        let mut left = self.0.clone();
        let mut missing: Vec<(&Vec<Sym>, f64)> = Vec::new();
        for (product, coef) in &other.0 {
            let own = self.find(product).ok().and_then(|at| left.get_mut(at));
            let taken = own.map_or(0.0, |(_, have)| {
                let taken = coef.min(*have);
                *have -= taken;
                taken
            });
            if *coef > taken {
                missing.push((product, coef - taken));
            }
        }
        missing.into_iter().all(|(product, mut coef)| {
            for (large, have) in &mut left {
                if coef > 0.0 && rest(large, product).is_some() {
                    let taken = coef.min(*have);
                    *have -= taken;
                    coef -= taken;
                }
            }
            coef <= 0.0
        })
    }

    /// With integer coefficients; `None` if one of them is too large for any comparison to hold.
    pub fn terms(&self) -> Option<Vec<(i64, Vec<Sym>)>> {
        let whole = |(product, coef): &(Vec<Sym>, f64)| {
            // Below 2^62, so the conversion is exact enough and within range.
            #[allow(clippy::cast_possible_truncation)]
            let coef = (*coef < SAFE).then(|| coef.ceil() as i64)?;
            Some((coef, product.clone()))
        };
        let positive = self.0.iter().filter(|(_, coef)| *coef > 0.0);
        positive.map(whole).collect()
    }

    /// The value if all factors are one.
    pub fn least(&self) -> f64 {
        self.0.iter().map(|(_, coef)| coef).sum()
    }

    /// All factors of its products.
    pub fn factors(&self) -> impl Iterator<Item = &Sym> {
        self.0.iter().flat_map(|(product, _)| product)
    }
}

/// `large` without the factors `small`.
fn rest(large: &[Sym], small: &[Sym]) -> Option<Vec<Sym>> {
    let mut left = large.to_vec();
    for factor in small {
        let at = left.iter().position(|f| f == factor)?;
        left.remove(at);
    }
    Some(left)
}

/// Products that are known to be small because an object of that size exists.
#[derive(Clone, Default)]
pub struct Existing(Vec<(Vec<Sym>, f64)>);

impl Existing {
    /// The tensors that are passed to the call.
    pub fn of_params(function: &Function) -> Self {
        let mut existing = Self::default();
        let ids = (0..function.buffers.len()).map(|at| BufferId(u32::try_from(at).unwrap_or(0)));
        for id in ids.filter(|id| matches!(function.buffer(*id).storage, Storage::Param(_))) {
            existing.buffer(function, id);
        }
        existing
    }

    pub fn buffer(&mut self, function: &Function, id: BufferId) {
        let Some(buffer) = function.buffers.get(id.index()) else {
            return;
        };
        let most = if buffer.storage.is_global() {
            MOST_BYTES
        } else {
            MOST_SHARED
        };
        let elem = buffer.elem.bytes() as f64 / f64::from(buffer.elem.per_byte());
        self.at_most(&buffer.count, most / elem);
    }

    pub fn at_most(&mut self, product: &Sym, most: f64) {
        let mut terms = product.terms();
        if let (Some((coef, factors)), None) = (terms.next(), terms.next())
            && coef > 0
            && !factors.is_empty()
            && factors.iter().all(|f| matches!(f, Atom::Var(_)))
        {
            let factors = factors.iter().filter_map(of_var).collect();
            self.0.push((factors, most / coef as f64));
        }
    }

    /// An upper bound of a product.
    fn bound(&self, product: &[Sym], single: &dyn Fn(&Sym) -> f64, depth: u32) -> f64 {
        let Some((first, others)) = product.split_first() else {
            return 1.0;
        };
        let mut best = single(first) * self.bound(others, single, depth + 1);
        if depth < 6 {
            for (known, most) in &self.0 {
                if known.contains(first)
                    && let Some(left) = self.left_of(product, known)
                {
                    best = best.min(most * self.bound(&left, single, depth + 1));
                }
            }
        }
        best
    }

    /// The remaining factors of a product after division by `known`; further factors of `known` are
    /// at least one.
    fn left_of(&self, product: &[Sym], known: &[Sym]) -> Option<Vec<Sym>> {
        let mut known = known.to_vec();
        let mut left = Vec::new();
        for factor in product {
            match known.iter().position(|k| k == factor) {
                Some(at) => drop(known.remove(at)),
                None => left.push(factor.clone()),
            }
        }
        (left.len() < product.len()).then_some(left)
    }
}

/// A constant that bounds the results of `&` with it.
fn mask(e: &Expr) -> Option<f64> {
    let mask = match &*e.kind {
        ExprKind::Index(sym) => sym.as_int()?,
        ExprKind::Int(n) => i64::try_from(*n).ok()?,
        _ => return None,
    };
    (mask >= 0).then_some(mask as f64)
}

/// The size of any value of the type.
fn of_type(ty: Scalar) -> Option<Size> {
    let narrow = ty == Scalar::Bool || ty.is_integer() && ty.bytes() <= 4;
    narrow.then(|| Size::constant((1u64 << 32) as f64))
}

fn of_var(atom: &Atom) -> Option<Sym> {
    match atom {
        Atom::Var(v) => Some(Sym::var(*v)),
        _ => None,
    }
}

/// The factors that sizes may contain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Variables of the host.
    Variables,
    /// Variables of the host, replaced by the bounds that an earlier check has established.
    Checked,
    /// Expressions that the host can compute: quotients and the like of host values remain as they
    /// are.
    Computable,
}

/// Bounds that hold at one point of the program.
#[derive(Clone, Default)]
pub struct Known {
    /// Bounds of device variables that an earlier check has established.
    pub bounds: SortedMap<Var, (Option<Sym>, Option<Sym>)>,
}

impl Known {
    /// The ways to find a size from variables that may succeed: without bounds from checks, the first
    /// two are the same.
    fn ways(&self) -> impl Iterator<Item = How> + use<> {
        let checked = (!self.bounds.is_empty()).then_some(How::Checked);
        std::iter::once(How::Variables).chain(checked)
    }
}

/// Sizes of expressions, in terms of the variables that `is_host` accepts.
pub struct Sizes<'a> {
    pub function: &'a Function,
    /// Whether a variable has its value before the code in question runs.
    pub is_host: &'a dyn Fn(Var) -> bool,
    /// The values that are assigned to a kernel's own locals.
    assigned: SortedMap<LocalId, Vec<Expr>>,
    /// Cached sizes that depend only on declared bounds.
    seen: RefCell<SortedMap<(Sym, How), Option<Size>>>,
    /// Locals whose values are being examined.
    open: RefCell<Vec<LocalId>>,
    /// The factors multiplied so far for one expression.
    work: Cell<usize>,
}

impl<'a> Sizes<'a> {
    pub fn new(function: &'a Function, is_host: &'a dyn Fn(Var) -> bool) -> Self {
        Self {
            function,
            is_host,
            assigned: SortedMap::new(),
            seen: RefCell::default(),
            open: RefCell::default(),
            work: Cell::default(),
        }
    }

    /// Adds the locals of a kernel's body.
    pub fn within(mut self, body: &[Stmt]) -> Self {
        let mut assigned = std::mem::take(&mut self.assigned);
        self.values(body, &mut assigned);
        self.assigned = assigned;
        self
    }

    fn values(&self, stmts: &[Stmt], assigned: &mut SortedMap<LocalId, Vec<Expr>>) {
        for stmt in stmts {
            if let StmtKind::Let {
                local,
                value: Some(value),
            }
            | StmtKind::Assign { local, value } = &stmt.kind
            {
                let info = self.function.local(*local);
                let bounds = info.var.map(|v| self.function.cx.bounds(v));
                if !matches!(bounds, Some((Some(_), Some(_)))) {
                    assigned.entry(*local).or_default().push(value.clone());
                }
            }
            stmt.kind.blocks().for_each(|b| self.values(b, assigned));
        }
    }

    /// The size of `e`; `None` if a part of it has no bound.
    pub fn of(&self, e: &Sym, known: &Known, how: How) -> Option<Size> {
        self.work.set(0);
        self.at(e, known, how, 0)
    }

    /// `None` if that is too much work: the size is then unknown.
    fn product(&self, a: &Size, b: &Size) -> Option<Size> {
        let degree = |size: &Size| {
            let products = size.0.iter().map(|(product, _)| product.len());
            products.max().unwrap_or_default()
        };
        let factors = a.0.len() * b.0.len() * (1 + degree(a) + degree(b));
        self.work.set(self.work.get().saturating_add(factors));
        (self.work.get() <= MOST_WORK).then(|| a.times(b))
    }

    fn at(&self, e: &Sym, known: &Known, how: How, depth: u32) -> Option<Size> {
        if e.is_poison() || depth > DEPTH {
            return None;
        }
        let remember = e
            .sorted_vars()
            .iter()
            .all(|v| !known.bounds.contains_key(v));
        let key = (e.clone(), how);
        if remember && let Some(size) = self.seen.borrow().get(&key) {
            return size.clone();
        }
        let alone = known.bounds.is_empty() && self.open.borrow().is_empty();
        let size = self.sum(e, known, how, depth);
        if alone {
            self.seen.borrow_mut().insert(key, size.clone());
        }
        size
    }

    fn sum(&self, e: &Sym, known: &Known, how: How, depth: u32) -> Option<Size> {
        let mut sum = Size::default();
        for (coef, factors) in e.terms() {
            let mut product = Size::constant(coef.unsigned_abs() as f64);
            for factor in factors {
                let size = self.atom(factor, known, how, depth + 1)?;
                product = self.product(&product, &size.at_least_one())?;
            }
            sum = sum.plus(&product);
        }
        Some(sum)
    }

    fn atom(&self, atom: &Atom, known: &Known, how: How, depth: u32) -> Option<Size> {
        let (a, b) = match atom {
            Atom::Var(v) => return self.variable(*v, known, how, depth),
            Atom::Div(a, b) | Atom::Rem(a, b) | Atom::Min(a, b) | Atom::Max(a, b) => (a, b),
        };
        let of_host = |s: &Sym| s.sorted_vars().iter().all(|v| (self.is_host)(*v));
        let by_constant = matches!(atom, Atom::Div(..) | Atom::Rem(..)) && b.as_int().is_some();
        if how == How::Computable && of_host(a) && of_host(b) && !by_constant {
            return Some(Size::of(alone(atom, &self.function.cx)));
        }
        let size = |s: &Sym| self.at(s, known, how, depth);
        // The operands are checked as expressions of their own.
        match (atom, b.as_int()) {
            (Atom::Div(..), Some(by)) if by != 0 => {
                Some(size(a)?.scaled(1.0 / by.unsigned_abs() as f64))
            }
            (Atom::Div(..), _) => size(a),
            (Atom::Rem(..), Some(by)) => Some(Size::constant(by.unsigned_abs() as f64)),
            (Atom::Rem(..), None) => size(b).or_else(|| size(a)),
            _ => Some(size(a)?.or(&size(b)?)),
        }
    }

    fn variable(&self, v: Var, known: &Known, how: How, depth: u32) -> Option<Size> {
        let declared = self.function.cx.bounds(v);
        let noted = known.bounds.get(&v);
        let (lo, hi) = noted.map_or((None, None), |(lo, hi)| (lo.as_ref(), hi.as_ref()));
        let ends = lo.or(declared.0).zip(hi.or(declared.1));
        if (self.is_host)(v) {
            let (Some((lo, hi)), Some(_), How::Checked) = (ends, noted, how) else {
                return Some(Size::of(Sym::var(v)));
            };
            let end = |s: &Sym| self.at(s, known, how, depth + 1);
            let between = end(hi).zip(end(lo)).map(|(hi, lo)| hi.or(&lo));
            return between.or_else(|| Some(Size::of(Sym::var(v))));
        }
        let between = |lo: &Sym, hi: &Sym| {
            // A bound that mentions the variable itself is useless.
            if lo.contains(v) || hi.contains(v) {
                return None;
            }
            let hi = self.at(hi, known, how, depth + 1)?;
            Some(hi.or(&self.at(lo, known, how, depth + 1)?))
        };
        let by_bounds = ends.and_then(|(lo, hi)| between(lo, hi));
        by_bounds
            .or_else(|| {
                declared
                    .0
                    .zip(declared.1)
                    .and_then(|(lo, hi)| between(lo, hi))
            })
            .or_else(|| match self.function.var_home.get(&v) {
                Some(VarHome::Local(id)) => self.local(*id, known, how, depth + 1),
                _ => None,
            })
    }

    /// From the values assigned to it, or from its type. Copies among locals add nothing.
    fn local(&self, id: LocalId, known: &Known, how: How, depth: u32) -> Option<Size> {
        if self.open.borrow().contains(&id) {
            return Some(Size::default());
        }
        let of_values = self.assigned.get(&id).and_then(|values| {
            self.open.borrow_mut().push(id);
            let sizes = values.iter().map(|e| self.value(e, known, how, depth));
            let all = sizes.collect::<Option<Vec<Size>>>();
            self.open.borrow_mut().pop();
            Some(all?.iter().fold(Size::default(), Size::or))
        });
        of_values.or_else(|| of_type(self.function.local(id).ty))
    }

    fn value(&self, e: &Expr, known: &Known, how: How, depth: u32) -> Option<Size> {
        if depth > DEPTH {
            return of_type(e.ty);
        }
        let of = |e: &Expr| self.value(e, known, how, depth + 1);
        // A value computed from a local under examination may grow in each iteration of a loop.
        let still = |e: &Expr| of(e).filter(|_| !self.mentions_open(e));
        let size = match &*e.kind {
            ExprKind::Index(s) if s.as_var().is_some() => self.at(s, known, how, depth + 1),
            ExprKind::Index(s) => self
                .at(s, known, how, depth + 1)
                .filter(|_| !self.mentions_open(e)),
            ExprKind::Int(n) => Some(Size::constant(n.unsigned_abs() as f64)),
            ExprKind::Local(id) => self.local(*id, known, how, depth + 1),
            ExprKind::Intrinsic(Intrinsic::Thread | Intrinsic::Warp, _) => {
                Some(Size::constant(1024.0))
            }
            ExprKind::Intrinsic(Intrinsic::Block(_), _) => Some(Size::constant(MOST_BLOCKS)),
            ExprKind::Cast(a) if a.ty.is_integer() => of(a).filter(|_| e.ty.bytes() == 8),
            ExprKind::Select(_, a, b) => Some(of(a)?.or(&of(b)?)),
            ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) if e.ty == Scalar::Index => {
                Some(still(a)?.plus(&still(b)?))
            }
            ExprKind::Binary(BinOp::Mul, a, b) if e.ty == Scalar::Index => {
                Some(Size::default().and(&still(a)?, &still(b)?))
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Xor), a, b) => {
                let masked = mask(a).or_else(|| mask(b));
                match masked.filter(|_| *op == BinOp::And) {
                    Some(most) => Some(Size::constant(most)),
                    // At most the power of two above both, and not below its negative.
                    None => Some(of(a)?.or(&of(b)?).at_least_one().scaled(2.0)),
                }
            }
            ExprKind::Binary(BinOp::Shr, a, _) => of(a).map(Size::at_least_one),
            ExprKind::Binary(BinOp::Div, a, _) => of(a),
            ExprKind::Binary(BinOp::Rem, _, b) => of(b),
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => Some(of(a)?.or(&of(b)?)),
            _ => None,
        };
        size.or_else(|| of_type(e.ty))
    }

    fn mentions_open(&self, e: &Expr) -> bool {
        struct Find<'f>(&'f Function, &'f [LocalId], bool);
        impl Visit for Find<'_> {
            fn expr(&mut self, e: &Expr) {
                self.2 |= matches!(&*e.kind, ExprKind::Local(id) if self.1.contains(id));
            }
            fn sym(&mut self, s: &Sym) {
                let open = |v| matches!(self.0.var_home.get(&v), Some(VarHome::Local(id)) if self.1.contains(id));
                self.2 |= s.sorted_vars().iter().copied().any(open);
            }
        }
        let open = self.open.borrow().clone();
        let mut find = Find(self.function, &open, false);
        walk_exprs(e, &mut find);
        find.2
    }

    /// The size of a need, from the products that are added up.
    pub fn of_need(&self, need: &Need, known: &Known, how: How) -> Option<Size> {
        if need.parts.is_empty() {
            return self.of(&need.sym, known, how);
        }
        let mut sum = Size::default();
        for (a, b) in &need.parts {
            let a = self.of(a, known, how)?;
            sum = sum.and(&a, &self.of(b, known, how)?);
        }
        Some(sum)
    }

    /// Whether the needed value is far below the 64-bit limit, and below its own limit, for all
    /// arguments of the call.
    pub fn are_small(&self, need: &Need, known: &Known, existing: &Existing) -> bool {
        known.ways().any(|how| {
            let size = self.of_need(need, known, how);
            size.is_some_and(|size| self.is_small(&size, existing, need.most as f64))
        })
    }

    /// Whether a value is known to fit the smaller type to which it is converted.
    pub fn is_within(&self, narrowed: &Narrowed, known: &Known, existing: &Existing) -> bool {
        let small = |how| {
            self.work.set(0);
            let size = self.value(&narrowed.expr, known, how, 0);
            size.is_some_and(|size| self.is_small(&size, existing, narrowed.most as f64))
        };
        self.keeps(&narrowed.expr, narrowed.ty) || known.ways().any(small)
    }

    /// Whether the operands of a bit operation or a selection fit the type: then the result does,
    /// too.
    fn keeps(&self, e: &Expr, ty: Scalar) -> bool {
        let Some((least, most)) = ty.limits() else {
            return false;
        };
        match &*e.kind {
            ExprKind::Index(sym) => {
                let (lo, hi) = self.function.cx.range(sym);
                lo.is_some_and(|lo| i128::from(lo) >= least)
                    && hi.is_some_and(|hi| i128::from(hi) <= most)
            }
            ExprKind::Int(n) => (least..=most).contains(n),
            ExprKind::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => {
                self.keeps(a, ty) && self.keeps(b, ty)
            }
            ExprKind::Binary(BinOp::Shr, a, _) => self.keeps(a, ty),
            ExprKind::Unary(UnOp::BitNot, a) => ty.is_signed() && self.keeps(a, ty),
            ExprKind::Select(_, a, b) => self.keeps(a, ty) && self.keeps(b, ty),
            _ => false,
        }
    }

    fn is_small(&self, size: &Size, existing: &Existing, most: f64) -> bool {
        let single = |factor: &Sym| self.single(factor);
        let bound = |(product, coef): &(Vec<Sym>, f64)| coef * existing.bound(product, &single, 0);
        size.0.iter().map(bound).sum::<f64>() <= most.min(SAFE)
    }

    /// The limit of a factor that its type implies.
    fn single(&self, factor: &Sym) -> f64 {
        match self.function.cx.range(factor) {
            (Some(lo), Some(hi)) => lo.unsigned_abs().max(hi.unsigned_abs()).max(1) as f64,
            _ => f64::INFINITY,
        }
    }

    /// Whether a single argument of the call determines the factor's magnitude: a 64-bit scalar.
    pub fn is_wide(&self, factor: &Sym) -> bool {
        let wide = |v: Var| self.single(&Sym::var(v)) > (1u64 << 33) as f64;
        factor
            .vars()
            .into_iter()
            .any(|v| !self.is_dim(v) && wide(v))
    }

    /// Whether it depends on more than extents.
    pub fn has_scalar(&self, sym: &Sym) -> bool {
        sym.sorted_vars().iter().any(|v| !self.is_dim(*v))
    }

    fn is_dim(&self, v: Var) -> bool {
        matches!(self.function.var_home.get(&v), Some(VarHome::Dim(_)))
    }
}

fn alone(atom: &Atom, cx: &crate::symbolic::Ctx) -> Sym {
    match atom {
        Atom::Var(v) => Sym::var(*v),
        Atom::Div(a, b) => cx.div(a, b),
        Atom::Rem(a, b) => cx.rem(a, b),
        Atom::Min(a, b) => cx.min(a, b),
        Atom::Max(a, b) => cx.max(a, b),
    }
}
