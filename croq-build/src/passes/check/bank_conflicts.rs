//! Bank conflicts: accesses of shared memory that its banks serve for only a few threads at a time.
//!
//! Shared memory has 32 banks of four bytes; accesses of a warp's threads to different words of one
//! bank are serialised into wavefronts. Only conflicts that occur in every call are reported: the
//! address is linear in the level's indices, with constant factors, and its remaining terms are the
//! same for all threads.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    Access, BufferId, Function, KernelId, Level, LocalId, Role, Stmt, StmtKind, Storage, VarHome,
    Visit, walk_block, walk_exprs,
};
use crate::passes::transform::barriers::Vars;
use crate::passes::transform::thread_order;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Sym, Var};

const BANKS: i64 = 32;
const WORD: i64 = 4;
/// Fewer wavefronts are not reported.
const MANY: usize = 8;

pub fn check(function: &Function, id: KernelId) -> Vec<Diagnostic> {
    let Some(kernel) = function.kernels.get(id.index()) else {
        return Vec::new();
    };
    // A partial warp has fewer conflicts.
    if kernel.threads.as_int().is_none_or(|n| n < BANKS) {
        return Vec::new();
    }
    let vars = Vars::of_block(function, &kernel.body);
    let mut find = Find {
        function,
        vars: &vars,
        lanes: SortedMap::new(),
        at: kernel.span,
        seen: SortedSet::new(),
        reported: Vec::new(),
    };
    find.block(&kernel.body);
    find.reported
}

struct Find<'a> {
    function: &'a Function,
    vars: &'a Vars,
    /// The values of the levels' indices in the threads of the first warp.
    lanes: SortedMap<Var, Vec<i64>>,
    /// The current statement.
    at: Span,
    seen: SortedSet<(BufferId, Span)>,
    reported: Vec<Diagnostic>,
}

impl Find<'_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Parallel { body, .. } => {
                    let around = self.lanes.clone();
                    self.indices(body);
                    self.block(body);
                    self.lanes = around;
                }
                // Only some threads execute these.
                StmtKind::SingleThread { .. } | StmtKind::Region { .. } => {}
                StmtKind::If { .. } => {
                    self.statement(stmt);
                    for inner in stmt.kind.blocks() {
                        self.block(inner);
                    }
                }
                kind if kind.blocks().next().is_some() => {
                    for inner in kind.blocks() {
                        self.block(inner);
                    }
                }
                _ => self.statement(stmt),
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.at = stmt.span;
        match &stmt.kind {
            StmtKind::If { cond, .. } => walk_exprs(cond, self),
            _ => walk_block(std::slice::from_ref(stmt), self),
        }
    }

    fn indices(&mut self, body: &[Stmt]) {
        for stmt in thread_order::lists(body).flatten() {
            let StmtKind::Let {
                local,
                value: Some(value),
            } = &stmt.kind
            else {
                continue;
            };
            let info = self.function.local(*local);
            let (Some(var), Role::Parallel(_)) = (info.var, info.role) else {
                continue;
            };
            let Some(digit) = thread_order::digit(*local, value) else {
                continue;
            };
            let modulus = digit.modulus.as_ref().map(|m| m.as_int());
            if let (Some(divisor), None | Some(Some(_))) = (digit.divisor.as_int(), modulus) {
                let of = |lane: i64| {
                    let quotient = lane / divisor.max(1);
                    modulus.flatten().map_or(quotient, |m| quotient % m.max(1))
                };
                let var = self.vars.canonical(var);
                self.lanes.insert(var, (0..BANKS).map(of).collect());
            }
        }
    }

    /// The number of wavefronts of a warp's access, and the number of words that it accesses.
    fn wavefronts(&self, access: &Access) -> Option<(usize, usize)> {
        let elem = self.function.buffer(access.view.buffer).elem;
        if elem.is_packed() {
            return None;
        }
        let size = i64::try_from(elem.bytes()).ok()?;
        let mut rest = self.vars.resolve(&self.function.cx, &access.address());
        let mut places = vec![0i64; usize::try_from(BANKS).ok()?];
        for (var, values) in &self.lanes {
            let (slope, without) = rest.linear_in(*var)?;
            let slope = slope.as_int()?;
            for (place, value) in places.iter_mut().zip(values) {
                *place = place.checked_add(slope.checked_mul(*value)?)?;
            }
            rest = without;
        }
        // Threads of a warp execute loops in lockstep.
        let same = |var: &Var| {
            let home = self.function.var_home.get(var);
            let is_loop = |id: &LocalId| self.function.local(*id).role == Role::Loop;
            matches!(home, Some(VarHome::Local(id)) if is_loop(id))
                || self.vars.is_fixed(&Sym::var(*var), Level::Warp)
        };
        if !rest.sorted_vars().iter().all(same) {
            return None;
        }
        let words: SortedSet<i64> = places
            .iter()
            .map(|place| (place * size).div_euclid(WORD))
            .collect();
        let mut banks: SortedMap<i64, usize> = SortedMap::new();
        for word in &words {
            *banks.entry(word.rem_euclid(BANKS)).or_default() += 1;
        }
        Some((banks.values().copied().max()?, words.len()))
    }
}

impl Visit for Find<'_> {
    fn access(&mut self, access: &Access, written: bool) {
        let buffer = self.function.buffer(access.view.buffer);
        if buffer.storage != Storage::Shared || buffer.swizzle.is_some() {
            return;
        }
        let Some((wavefronts, words)) = self
            .wavefronts(access)
            .filter(|(wavefronts, _)| *wavefronts >= MANY)
        else {
            return;
        };
        let at = access.span;
        if !self.seen.insert((access.view.buffer, at)) {
            return;
        }
        let does = if written { "writes" } else { "reads" };
        self.reported.push(
            Diagnostic::new(
                codes::W0625,
                at,
                format!(
                    "a warp {does} `{}` in {wavefronts} wavefronts: its {words} words are in {} of 32 banks",
                    buffer.name,
                    words.div_ceil(wavefronts)
                ),
            )
            .label("addresses of neighbouring threads differ by a multiple of many banks")
            .also(buffer.span, "rows are as long as declared here")
            .help("copy it with `.swiz<128>`, declare rows of one element more, or let another index be the threads'"),
        );
    }
}
