//! Quotients that depend on the launch only are computed once, on the host.
//!
//! `k < cdiv(K, 64)` is an addition, a shift and a comparison of 64 bits in each iteration: ptxas
//! computes it again rather than keep it in a register. An argument of the kernel is an operand of
//! the comparison. So are the numbers of tiles that place one.
//!
//! Only in kernels that copy by TMA: no extent of their tensor maps is larger than 2^31, so the host can
//! compute such values without overflow.

use super::known;
use super::named_divisions::Replace;
use crate::ir::build;
use crate::ir::{
    Expr, Flow, Function, KernelId, ON, Role, Stmt, StmtKind, VarHome, Visitor, VisitorMut,
};
use crate::symbolic::{Atom, Sym, Var};

/// The largest extent of a tensor map.
const EXTENT: i128 = 1 << 31;

pub fn name(function: &mut Function) {
    for at in 0..function.kernels.len() {
        in_kernel(function, KernelId(u32::try_from(at).unwrap_or(u32::MAX)));
    }
}

fn in_kernel(function: &mut Function, id: KernelId) {
    let maps = known::extents_of_maps(function, id);
    let extents: Vec<Var> = (maps.iter())
        .filter_map(|extent| match extent.sorted_vars() {
            [var] if *extent == Sym::var(*var) => Some(*var),
            _ => None,
        })
        .filter(|var| matches!(function.var_home.get(var), Some(VarHome::Dim(_))))
        .collect();
    let Some(kernel) = function.kernels.get(id.index()) else {
        return;
    };
    let span = kernel.span;
    let mut quotients = Quotients {
        extents: &extents,
        found: Vec::new(),
    };
    let _ = quotients.block(&kernel.body);
    for atom in quotients.found {
        let value = Sym::atom(atom.clone());
        let cx = &function.cx;
        let above = (cx.le(&Sym::zero(), &value).is_yes()).then(|| &value + 1);
        let (local, by) = build::index(function, "count", Role::Value, above.as_ref(), span);
        let value = Expr::index(value, span);
        let mut body = std::mem::take(&mut function.body);
        let launched = declare(&mut body, id, &build::declare(local, value));
        function.body = body;
        if launched {
            function.with_kernel_body(id, |function, body| {
                let mut replace = Replace {
                    function,
                    atom: &atom,
                    by,
                };
                let _ = VisitorMut::block(&mut replace, body);
            });
        }
    }
}

/// Inserts the declaration in front of the launch.
fn declare(block: &mut Vec<Stmt>, id: KernelId, declaration: &Stmt) -> bool {
    let launch = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Launch(of) if of == id);
    if let Some(at) = block.iter().position(launch) {
        block.insert(at, declaration.clone());
        return true;
    }
    let mut inner = block.iter_mut().flat_map(|stmt| stmt.kind.blocks_mut());
    inner.any(|block| declare(block, id, declaration))
}

/// The quotients that depend on extents only.
struct Quotients<'a> {
    extents: &'a [Var],
    found: Vec<Atom>,
}

impl Quotients<'_> {
    fn in_sym(&mut self, sym: &Sym) {
        let atoms = sym.terms().flat_map(|(_, atoms)| atoms);
        for atom in atoms.filter(|atom| matches!(atom, Atom::Div(..))) {
            let fits = self.largest(&Sym::atom(atom.clone())).is_some();
            if fits && !self.found.contains(atom) {
                self.found.push(atom.clone());
            }
        }
    }

    /// A bound of the absolute values of the expression and of its parts, if the expression depends on
    /// extents only and nothing in it overflows.
    fn largest(&self, sym: &Sym) -> Option<i128> {
        if sym.is_poison() {
            return None;
        }
        let mut sum = 0_i128;
        for (coefficient, atoms) in sym.terms() {
            let mut product = i128::from(coefficient.unsigned_abs());
            for atom in atoms {
                product = product.checked_mul(self.largest_atom(atom)?)?;
            }
            sum = sum.checked_add(product)?;
        }
        (sum <= i128::from(i64::MAX)).then_some(sum)
    }

    fn largest_atom(&self, atom: &Atom) -> Option<i128> {
        let by = |b: &Sym| b.as_int().filter(|b| *b > 0).map(i128::from);
        match atom {
            Atom::Var(var) => self.extents.contains(var).then_some(EXTENT),
            Atom::Div(a, b) => Some(self.largest(a)? / by(b)? + 1),
            Atom::Rem(a, b) => self.largest(a).and(by(b)),
            Atom::Min(a, b) | Atom::Max(a, b) => Some(self.largest(a)?.max(self.largest(b)?)),
        }
    }
}

impl Visitor for Quotients<'_> {
    fn sym(&mut self, sym: &Sym) -> Flow {
        self.in_sym(sym);
        ON
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Function, StmtKind, any_stmt};
    use crate::sema::testing;

    fn function(bound: &str, copy: &str) -> Function {
        testing::function_after(
            &format!(
                "__co__ void f(global f16 [M, K] x, global f16 [M, K] y, int n) {{
                   parallel b by cdiv(M, 64) : block {{
                     shared f16 [64, 64] tile;
                     foreach {{k}} in [{bound}] {{
                       {copy} x.subspan(64, 64).at(b, k) => tile;
                       {copy} tile => y.subspan(64, 64).at(b, k);
                     }}
                   }}
                 }}"
            ),
            "launch-values",
        )
    }

    /// The values that the host computes, and the bounds of the kernel's loops.
    fn values(bound: &str, copy: &str) -> (Vec<String>, Vec<String>) {
        let function = function(bound, copy);
        let mut host = Vec::new();
        for stmt in &function.body {
            if let StmtKind::Let { local, .. } = &stmt.kind {
                host.push(function.local(*local).name.clone());
            }
        }
        let mut bounds = Vec::new();
        any_stmt(&function.kernels[0].body, |stmt| {
            if let StmtKind::For {
                hi, unroll: None, ..
            } = &stmt.kind
            {
                bounds.push(function.cx.show(hi));
            }
            false
        });
        (host, bounds)
    }

    #[test]
    fn they_are_known_not_to_be_negative() {
        let least = |bound: &str| {
            let function = function(bound, "tma.copy");
            let declared = function.body.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Let { local, .. } => function.local(*local).var,
                _ => None,
            });
            declared.and_then(|var| function.cx.bounds(var).0?.as_int())
        };
        assert_eq!(least("cdiv(K, 64)"), Some(0));
        assert_eq!(least("(K - 100) / 64"), None);
    }

    #[test]
    fn numbers_of_tiles_are_arguments() {
        let (host, bounds) = values("cdiv(K, 64)", "tma.copy");
        assert_eq!(
            (host, bounds),
            (vec!["count".to_owned()], vec!["count".to_owned()])
        );
        let (host, bounds) = values("cdiv(K, 64) + 1", "tma.copy");
        assert_eq!((host.len(), &*bounds[0]), (1, "count + 1"));
        let (host, _) = values("cdiv(cdiv(M, 64) * cdiv(K, 64), 7)", "tma.copy");
        assert_eq!(host.len(), 1);
        // In a condition, and not below zero.
        let (host, _) = values("8", "if (k < cdiv(K, 64)) tma.copy");
        assert_eq!(host.len(), 1);
        // A value that the program limits in no way, a product that may overflow, and extents that no
        // tensor map limits.
        for (bound, copy) in [
            ("n / 4", "tma.copy"),
            ("cdiv(M * M * K, 64)", "tma.copy"),
            ("cdiv(K, 64)", "dma.copy"),
        ] {
            let (host, bounds) = values(bound, copy);
            assert!(host.is_empty(), "{bound}: {bounds:?}");
        }
    }
}
