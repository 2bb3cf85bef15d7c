//! What may differ between the blocks of a cluster.

use crate::ir::{
    Access, BufferId, ExprKind, Function, Intrinsic, KernelId, Level, LocalId, Role, Stmt,
    StmtKind, Storage,
};
use crate::passes::analysis::uniformity::memory::Changes;
use crate::passes::analysis::uniformity::{Divergence, SymUniformity};
use crate::symbolic::{Sym, Var};

/// The blocks of a cluster.
pub struct Blocks {
    changes: Changes,
    cluster: [u32; 3],
    /// Block indices along axes with several blocks of a cluster: a multiple of the cluster's size,
    /// which is uniform, plus a position in the cluster.
    indices: Vec<(Var, Sym)>,
    places: Vec<Var>,
}

impl Blocks {
    pub fn of(function: &mut Function, id: KernelId, body: &[Stmt], changes: Changes) -> Self {
        let cluster = function.kernels.get(id.index());
        let mut blocks = Self {
            changes,
            cluster: cluster.map_or([1; 3], |k| k.cluster),
            indices: Vec::new(),
            places: Vec::new(),
        };
        blocks.find(function, body);
        blocks
    }

    fn find(&mut self, function: &mut Function, stmts: &[Stmt]) {
        for stmt in stmts {
            if let StmtKind::Let {
                local,
                value: Some(value),
            } = &stmt.kind
                && let ExprKind::Intrinsic(Intrinsic::Block(axis), _) = &*value.kind
                && let Some(var) = function.locals.get(local.index()).and_then(|l| l.var)
                && self.size(*axis) > 1
            {
                let size = Sym::int(i64::from(self.size(*axis)));
                let cx = &mut function.cx;
                let cluster = cx.new_var("cluster", Some(Sym::zero()), None);
                let place = cx.new_var("place", Some(Sym::zero()), Some(&size - 1));
                let index = &(&Sym::var(cluster) * &size) + &Sym::var(place);
                self.indices.push((var, index));
                self.places.push(place);
            }
            for block in stmt.kind.blocks() {
                self.find(function, block);
            }
        }
    }

    fn size(&self, axis: u8) -> u32 {
        self.cluster.get(usize::from(axis)).copied().unwrap_or(1)
    }

    pub fn is_index(&self, var: Var) -> bool {
        self.indices.iter().any(|(v, _)| *v == var)
    }
}

impl Divergence for Blocks {
    fn hardware(&self, what: Intrinsic) -> bool {
        match what {
            Intrinsic::Block(axis) => self.size(axis) > 1,
            of => of == Intrinsic::ClusterRank,
        }
    }

    fn index(&self, function: &Function, local: LocalId) -> Option<bool> {
        let local = function.locals.get(local.index())?;
        if local.role != Role::Parallel(Level::Cluster) {
            return None;
        }
        let bounds = local.var.map(|v| function.cx.bounds(v));
        Some(!matches!(bounds, Some((_, Some(hi))) if hi.is_zero()))
    }

    fn memory(&self, id: BufferId, storage: Storage) -> Option<bool> {
        match storage {
            // Each block has its own.
            Storage::Shared | Storage::Mbarriers | Storage::Fragment => Some(true),
            Storage::Local => None,
            Storage::Param(_) | Storage::Host => Some(!self.changes.is_constant(id)),
        }
    }

    fn load(&self, access: &Access, storage: Storage) -> Option<bool> {
        match storage {
            Storage::Param(_) | Storage::Host => Some(!self.changes.is_common(access)),
            _ => self.memory(access.view.buffer, storage),
        }
    }

    fn divergent_part(&self, function: &Function, sym: &Sym) -> SymUniformity {
        let vars = sym.vars();
        let present = self.indices.iter().filter(|(var, _)| vars.contains(var));
        let rest = present.fold(sym.clone(), |sym, (var, index)| {
            function.cx.substituted(&sym, *var, index)
        });
        match rest.sorted_vars().iter().any(|v| self.places.contains(v)) {
            true => SymUniformity::Divergent,
            false => SymUniformity::Like(rest),
        }
    }
}
