//! Addresses of 32 bits in global memory, in loops of kernels that copy by TMA.
//!
//! `x.at(k, line)` in a loop over `k` multiplies by an extent, which has 64 bits: four instructions, and
//! as many for the sum and the address, in each iteration. An element's number is below the number of
//! elements of its buffer. Where that is proved to be at most 2^32, the lower halves suffice: one
//! instruction for the product and the sum, and one for the address. Conditions in such loops compare 32
//! bits as well, where both sides are proved to fit.
//!
//! What a thread adds by the variable of an unrolled loop, or a constant, stays outside: it is a constant
//! of the load, and the address is common. A program states the size by `assert(M * K < 1 << 31, "…")`.

use super::kept_values::KeptValues;
use super::{dead_code, known};
use crate::ir::build;
use crate::ir::{
    Access, BinOp, Expr, ExprKind, Flow, Function, KernelId, LocalId, ON, Role, Scalar, Stmt,
    StmtKind, Storage, Unroll, View, VisitorMut, walk_mut,
};
use crate::passes::analysis::uses::set_in;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Atom, Sym, Var};

const NARROW: Scalar = Scalar::U32;
const SIGNED: Scalar = Scalar::S32;
/// The number of integers of 32 bits.
const NUMBERS: i64 = 1 << 32;

/// Not for kernels that continue after an access out of bounds: its number may be any.
pub fn narrow(function: &mut Function, id: KernelId) {
    let extents = known::extents_of_maps(function, id);
    if extents.is_empty() {
        return;
    }
    let asserted = known::before_launch(function, id);
    let changed = function.with_kernel_body(id, |function, body| {
        function.cx.push_scope();
        known::assume_extents(function, &extents);
        for cond in &asserted {
            known::assume(function, cond);
        }
        let mut pass = Pass {
            function,
            unrolled: Vec::new(),
            named: SortedMap::new(),
            loops: 0,
            kept: None,
            in_front: None,
            changed: false,
        };
        pass.block(body);
        let changed = pass.changed;
        function.cx.pop_scope();
        changed
    });
    if changed == Some(true) {
        // Names of parts that the addresses have no more.
        dead_code::eliminate(function, id);
    }
}

struct Pass<'a> {
    function: &'a mut Function,
    /// Variables that are constants where their loop is unrolled.
    unrolled: Vec<Var>,
    /// Names of values that contain one of these.
    named: SortedMap<Var, Sym>,
    /// The number of loops around this place that are not unrolled.
    loops: usize,
    /// What the innermost loop of MMAs around this place does not change.
    kept: Option<KeptValues>,
    /// In an unrolled loop: what it sets, and what is declared in front of it.
    in_front: Option<InFront>,
    changed: bool,
}

struct InFront {
    set: SortedSet<Var>,
    declared: Vec<(LocalId, Sym)>,
}

impl Pass<'_> {
    fn block(&mut self, block: &mut Vec<Stmt>) {
        let mut at = 0;
        while at < block.len() {
            let mut before = Vec::new();
            if let Some(stmt) = block.get_mut(at) {
                before = self.here(stmt);
                self.name(stmt);
                let (unrolled, loops) = (self.unrolled.len(), self.loops);
                let kept = KeptValues::of(self.function, stmt);
                let is_kept = kept.is_some();
                let around = is_kept.then(|| std::mem::replace(&mut self.kept, kept));
                self.enter(stmt);
                let is_outermost = unrolled == 0 && !self.unrolled.is_empty();
                if is_outermost {
                    let set = set_in(self.function, std::slice::from_ref(stmt));
                    let declared = Vec::new();
                    self.in_front = Some(InFront { set, declared });
                }
                let cond = known::condition(stmt).cloned();
                for (number, inner) in stmt.kind.blocks_mut().enumerate() {
                    self.function.cx.push_scope();
                    // The second block of a branch is the other one.
                    if let Some(cond) = cond.as_ref().filter(|_| number == 0) {
                        known::assume(self.function, cond);
                    }
                    self.block(inner);
                    self.function.cx.pop_scope();
                }
                if is_outermost && let Some(in_front) = self.in_front.take() {
                    before.extend(self.declarations(&in_front.declared, stmt.span));
                }
                if let Some(around) = around
                    && let Some(kept) = std::mem::replace(&mut self.kept, around)
                {
                    let expr = |value: &Sym, ty, span| self.narrow(value, ty, span);
                    before.extend(kept.declarations(expr, stmt.span));
                }
                self.unrolled.truncate(unrolled);
                self.loops = loops;
            }
            let count = before.len();
            block.splice(at..at, before);
            at += count + 1;
        }
    }

    fn enter(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::For {
                local,
                unroll: Some(Unroll::Full),
                ..
            } => self.unrolled.extend(self.function.local(*local).var),
            StmtKind::For { .. } | StmtKind::While { .. } => self.loops += 1,
            _ => {}
        }
    }

    /// Remembers a name of something that an unrolled loop makes constant.
    fn name(&mut self, stmt: &Stmt) {
        let StmtKind::Let {
            local,
            value: Some(value),
        } = &stmt.kind
        else {
            return;
        };
        let local = self.function.local(*local);
        let (Some(var), false, ExprKind::Index(value)) = (local.var, local.mutable, &*value.kind)
        else {
            return;
        };
        let value = self.expanded(value);
        let mut vars = value.sorted_vars().iter();
        let is_fixed = !vars.any(|v| known::changes(self.function, *v));
        if is_fixed && self.unrolled.iter().any(|v| value.contains(*v)) {
            self.named.insert(var, value);
        }
    }

    fn expanded(&self, sym: &Sym) -> Sym {
        let mut sym = sym.clone();
        for (var, value) in &self.named {
            if sym.contains(*var) {
                sym = self.function.cx.substituted(&sym, *var, value);
            }
        }
        sym
    }

    /// Changes the addresses of a statement itself; the declarations of their narrow parts are returned.
    fn here(&mut self, stmt: &mut Stmt) -> Vec<Stmt> {
        if self.loops == 0 {
            return Vec::new();
        }
        let mut change = Change {
            pass: self,
            span: stmt.span,
            found: Vec::new(),
        };
        let _ = match &mut stmt.kind {
            StmtKind::If { cond, .. } => change.expr(cond),
            StmtKind::Let {
                value: Some(value), ..
            }
            | StmtKind::Assign { value, .. } => change.expr(value),
            StmtKind::Store { access, value, .. } => {
                let _ = change.access(access, true);
                change.expr(value)
            }
            _ => ON,
        };
        let found = change.found;
        self.declarations(&found, stmt.span)
    }

    fn declarations(&self, found: &[(LocalId, Sym)], span: Span) -> Vec<Stmt> {
        let declaration =
            |(local, part): &(LocalId, Sym)| build::declare(*local, self.sum(part, span));
        found.iter().map(declaration).collect()
    }

    /// The lower 32 bits of an integer, or an integer that fits.
    fn narrow(&self, value: &Sym, ty: Scalar, span: Span) -> Expr {
        match ty {
            NARROW => self.sum(value, span),
            _ => Expr::new(ExprKind::Cast(Expr::index(value.clone(), span)), ty, span),
        }
    }

    /// The lower 32 bits of an integer, by operations of 32 bits.
    fn sum(&self, sym: &Sym, span: Span) -> Expr {
        let int = |n: u64| Expr::int(i128::from(n % (1 << 32)), NARROW, span);
        let mut sum: Option<Expr> = None;
        for (coefficient, atoms) in sym.terms() {
            let factors = atoms.iter().map(|atom| self.factor(atom, span));
            let product = factors.reduce(|a, b| Expr::binary(BinOp::Mul, a, b, span));
            let product = match (product, coefficient.unsigned_abs()) {
                (Some(product), 1) => product,
                (Some(product), by) => Expr::binary(BinOp::Mul, product, int(by), span),
                (None, constant) => int(constant),
            };
            sum = Some(match (sum, coefficient < 0) {
                (None, false) => product,
                (None, true) => Expr::binary(BinOp::Sub, int(0), product, span),
                (Some(sum), false) => Expr::binary(BinOp::Add, sum, product, span),
                (Some(sum), true) => Expr::binary(BinOp::Sub, sum, product, span),
            });
        }
        sum.unwrap_or_else(|| int(0))
    }

    fn factor(&self, atom: &Atom, span: Span) -> Expr {
        let cast = |value: Expr, ty| Expr::new(ExprKind::Cast(value), ty, span);
        let signed = |sym: &Sym| cast(Expr::index(sym.clone(), span), SIGNED);
        let limited = match atom {
            Atom::Min(a, b) => Some((BinOp::Min, a, b)),
            Atom::Max(a, b) => Some((BinOp::Max, a, b)),
            _ => None,
        };
        match limited {
            Some((op, a, b)) if self.fits(a, SIGNED) && self.fits(b, SIGNED) => {
                cast(Expr::binary(op, signed(a), signed(b), span), NARROW)
            }
            _ => cast(Expr::index(Sym::atom(atom.clone()), span), NARROW),
        }
    }

    /// Whether the type holds the integer, by all facts: `ir::is_within` proves less.
    fn fits(&self, sym: &Sym, ty: Scalar) -> bool {
        let cx = &self.function.cx;
        let limits = match ty {
            SIGNED => [i64::from(i32::MIN), i64::from(i32::MAX)],
            _ => [0, i64::from(u32::MAX)],
        };
        let [least, most] = limits.map(Sym::int);
        !sym.is_poison() && cx.le(&least, sym).is_yes() && cx.le(sym, &most).is_yes()
    }

    /// A comparison of 32 bits, if both sides fit.
    fn comparison(&self, cond: &Expr) -> Option<Expr> {
        let ExprKind::Binary(op, a, b) = &*cond.kind else {
            return None;
        };
        let (ExprKind::Index(a), ExprKind::Index(b)) = (&*a.kind, &*b.kind) else {
            return None;
        };
        if !op.is_comparison() {
            return None;
        }
        let mut types = [SIGNED, NARROW].into_iter();
        let ty = types.find(|ty| self.fits(a, *ty) && self.fits(b, *ty))?;
        let span = cond.span;
        let narrow = |sym: &Sym| match sym.as_int() {
            Some(value) => Expr::int(i128::from(value), ty, span),
            None => Expr::new(ExprKind::Cast(Expr::index(sym.clone(), span)), ty, span),
        };
        Some(Expr::binary(*op, narrow(a), narrow(b), span))
    }

    /// The part of an address that 32 bits hold, if that is worth a variable, and the rest.
    fn parts(&self, access: &Access) -> Option<(Sym, Sym)> {
        let buffer = self.function.buffers.get(access.view.buffer.index())?;
        if !matches!(buffer.storage, Storage::Param(_) | Storage::Host) {
            return None;
        }
        let address = self.expanded(&access.address());
        let multiplies = |atoms: &[Atom]| atoms.len() > 1;
        if address.is_poison() || !address.terms().any(|(_, atoms)| multiplies(atoms)) {
            return None;
        }
        let rest = address.part(|_, atoms| match atoms {
            [] => true,
            [Atom::Var(var)] => self.unrolled.contains(var),
            _ => false,
        });
        let part = &address - &rest;
        let divides = part.terms().any(|(_, atoms)| atoms.iter().any(divides));
        let unrolled = self.unrolled.iter().any(|var| part.contains(*var));
        if divides || unrolled {
            return None;
        }
        let cx = &self.function.cx;
        let (least, most) = cx.range(&rest);
        // The address is from 0 to below the buffer's size.
        let limit = least?.checked_add(NUMBERS)?;
        let is_small = cx.le(&buffer.count, &Sym::int(limit)).is_yes();
        let is_natural = most? <= 0 || cx.le(&Sym::zero(), &part).is_yes();
        (is_small && is_natural).then_some((part, rest))
    }
}

/// Whether something is divided by what is not constant: it may be zero where the address is not used.
fn divides(atom: &Atom) -> bool {
    let within = |sym: &Sym| sym.terms().any(|(_, atoms)| atoms.iter().any(divides));
    match atom {
        Atom::Div(_, by) | Atom::Rem(_, by) if by.as_int().is_none() => true,
        _ => atom.operands().is_some_and(|(a, b)| within(a) || within(b)),
    }
}

struct Change<'a, 'f> {
    pass: &'a mut Pass<'f>,
    span: Span,
    found: Vec<(LocalId, Sym)>,
}

impl Change<'_, '_> {
    fn variable(&mut self, part: &Sym) -> Option<Sym> {
        let pass = &mut *self.pass;
        pass.changed = true;
        // Not in each of the branches that use it: there it would be computed in each iteration.
        let fixed = |front: &&mut InFront| !front.set.iter().any(|var| part.contains(*var));
        let found = match pass.in_front.as_mut().filter(fixed) {
            Some(front) => &mut front.declared,
            None => &mut self.found,
        };
        let local = match found.iter().find(|(_, other)| other == part) {
            Some((local, _)) => *local,
            None => {
                let function = &mut *pass.function;
                let (local, _) = build::index(function, "place", Role::Value, None, self.span);
                if let Some(info) = function.locals.get_mut(local.index()) {
                    info.ty = NARROW;
                }
                found.push((local, part.clone()));
                local
            }
        };
        pass.function.local(local).var.map(Sym::var)
    }
}

impl Change<'_, '_> {
    /// The address without the part that the loop around it does not change, which is kept.
    fn without_fixed(&mut self, part: Sym) -> Sym {
        let pass = &mut *self.pass;
        let kept = pass.kept.as_mut().and_then(|kept| {
            let fixed = kept.fixed(&part)?;
            let kept = kept.keep(pass.function, &fixed, NARROW, self.span)?;
            Some(&(&part - &fixed) + &kept)
        });
        kept.unwrap_or(part)
    }

    /// A comparison with what the loop around it does not change, of what unrolled loops make constant.
    fn limit(&mut self, cond: &Expr) -> Option<Expr> {
        let ExprKind::Binary(op, a, b) = &*cond.kind else {
            return None;
        };
        let (ExprKind::Index(a), ExprKind::Index(b)) = (&*a.kind, &*b.kind) else {
            return None;
        };
        let is_ordered = matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let pass = &mut *self.pass;
        let difference = &pass.expanded(a) - &pass.expanded(b);
        if !is_ordered || difference.is_poison() {
            return None;
        }
        let constant = difference.part(|_, atoms| match atoms {
            [Atom::Var(var)] => pass.unrolled.contains(var),
            _ => false,
        });
        let limit = &constant - &difference;
        let fits = pass.fits(&constant, SIGNED) && pass.fits(&limit, SIGNED);
        let kept = pass.kept.as_mut().filter(|_| fits)?;
        let is_fixed = kept.fixed(&limit).is_some_and(|fixed| fixed == limit);
        let span = cond.span;
        let limit = match is_fixed {
            true => kept.keep(pass.function, &limit, SIGNED, span)?,
            false => return None,
        };
        pass.changed = true;
        let signed = |sym: Sym| match sym.as_int() {
            Some(value) => Expr::int(i128::from(value), SIGNED, span),
            None => Expr::new(ExprKind::Cast(Expr::index(sym, span)), SIGNED, span),
        };
        Some(Expr::binary(*op, signed(constant), signed(limit), span))
    }
}

impl VisitorMut for Change<'_, '_> {
    fn expr(&mut self, expr: &mut Expr) -> Flow {
        if matches!(&*expr.kind, ExprKind::Fits(_)) {
            return ON;
        }
        if let Some(kept) = self.limit(expr) {
            *expr = kept;
        } else if let Some(narrow) = self.pass.comparison(expr) {
            *expr = narrow;
        }
        walk_mut::expr(self, expr)
    }

    fn access(&mut self, access: &mut Access, _written: bool) -> Flow {
        if let Some((part, rest)) = self.pass.parts(access) {
            let part = self.without_fixed(part);
            if let Some(place) = self.variable(&part) {
                access.set_address(&place + &rest);
            }
        }
        ON
    }

    fn view(&mut self, _view: &mut View) -> Flow {
        ON
    }
}

#[cfg(test)]
mod tests {
    use crate::sorted::SortedSet;

    use crate::ir::{ExprKind, Flow, Function, ON, StmtKind, Visitor, any_stmt, walk};
    use crate::sema::testing;

    /// Blocks of `steps` scales of rows, of which those beyond the last row are left out.
    fn function(host: &str, copy: &str, index: &str) -> Function {
        let text = format!(
            "__co__ void f(global f32 [M, K] x, global f32 [KB, M] scales, global f32 [M, K] y) {{
               assert(KB == cdiv(K, 64), \"steps\");
               {host}
               parallel b by cdiv(M, 64) : block {{
                 shared f32 [64, 64] tile;
                 parallel t by 32 : thread {{
                   foreach {{k}} in [cdiv(K, 64)] {{
                     {copy} x.subspan(64, 64).at(b, k) => tile;
                     line = b * 64 + t;
                     if (line < M) tile.at(t, 0) = scales.at({index});
                     {copy} tile => y.subspan(64, 64).at(b, k);
                   }}
                 }}
               }}
             }}"
        );
        testing::function_after(&text, "narrow-indices")
    }

    /// Addresses of 32 bits that are declared, and loads by one of them.
    fn places(function: &Function) -> (usize, usize) {
        let body = &function.kernels[0].body;
        let mut declared = SortedSet::new();
        any_stmt(body, |stmt| {
            if let StmtKind::Let { local, .. } = &stmt.kind
                && function.local(*local).name == "place"
            {
                declared.extend(function.local(*local).var);
            }
            false
        });
        struct Loads<'a>(&'a SortedSet<crate::symbolic::Var>, usize);
        impl Visitor for Loads<'_> {
            fn expr(&mut self, expr: &crate::ir::Expr) -> Flow {
                if let ExprKind::Load(access) = &*expr.kind {
                    let address = access.address();
                    self.1 += usize::from(self.0.iter().any(|var| address.contains(*var)));
                }
                walk::expr(self, expr)
            }
            fn sym(&mut self, _: &crate::symbolic::Sym) -> Flow {
                ON
            }
        }
        let mut loads = Loads(&declared, 0);
        let _ = Visitor::block(&mut loads, body);
        (declared.len(), loads.1)
    }

    const SMALL: &str = "assert(KB * M < 1 << 31, \"few scales\");";

    #[test]
    fn addresses_in_small_buffers_have_32_bits() {
        assert_eq!(places(&function(SMALL, "tma.copy", "k, line")), (1, 1));
    }

    #[test]
    fn a_buffer_of_any_size_has_addresses_of_64_bits() {
        assert_eq!(places(&function("", "tma.copy", "k, line")), (0, 0));
        let large = "assert(KB * M < 1 << 33, \"scales\");";
        assert_eq!(places(&function(large, "tma.copy", "k, line")), (0, 0));
    }

    #[test]
    fn kernels_without_tensor_maps_and_addresses_without_products_stay() {
        assert_eq!(places(&function(SMALL, "dma.copy", "k, line")), (0, 0));
        assert_eq!(places(&function(SMALL, "tma.copy", "0, line")), (0, 0));
    }
}
