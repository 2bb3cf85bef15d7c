//! Checks of tile numbers (language 11, W15). A number that depends on data, or on arguments alone,
//! and selects a tile entirely outside its parent is an error. A number that depends on parallel or
//! loop variables is not checked: such a tile is a halo or the end of a ragged edge, and copies
//! nothing.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{
    BinOp, CheckCode, CheckId, CppName, Expr, ExprKind, Function, LocalId, Role, Stmt, StmtKind,
    VarHome, Visit, retain_stmts, walk_block, walk_exprs,
};
use crate::sema::checks::run_time::{self, both, compare};
use crate::sema::memory::origins::{self, Origin};
use crate::sema::state::elab::Elab;
use crate::sema::state::value::{Data, TileNumber};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::{Sym, Truth, Var};

/// Records that the number of a tile of `data` must be within `lo <= number < hi`, if it is a
/// number that is checked.
pub(crate) fn check_number(
    el: &mut Elab<'_>,
    data: &mut Data,
    number: &Sym,
    (lo, hi): (Sym, Sym),
    message: String,
    at: Span,
) {
    // A literal is an iteration of a loop that was unrolled by hand.
    let literal = number.as_int().is_some();
    if el.path.is_dead() || literal || origins::origin_of(el, number) == Origin::Instance {
        return;
    }
    let cx = &el.f.cx;
    if cx.le(&lo, number) == Truth::Yes && cx.lt(number, &hi) == Truth::Yes {
        return;
    }
    let noted = TileNumber {
        number: number.clone(),
        lo,
        hi,
        message,
        at,
    };
    if !data.numbers.contains(&noted) {
        data.numbers.push(noted);
    }
}

/// Reports two numbers of a tile each of which counts the tiles of the other's axis, where the numbers
/// of tiles are determined by different dimensions. `axes`: the number and how many tiles there are.
pub(crate) fn lint_exchanged(el: &mut Elab<'_>, name: &str, axes: &[(Sym, Sym)], at: Span) {
    let is_dimension = |v: &Var| matches!(el.f.var_home.get(v), Some(VarHome::Dim(_)));
    let dimensions = |sym: &Sym| {
        let vars = sym.vars();
        (!vars.is_empty() && vars.iter().all(is_dimension)).then_some(vars)
    };
    let of_tiles: Vec<_> = axes.iter().map(|(_, tiles)| dimensions(tiles)).collect();
    let several = of_tiles.iter().flatten().collect::<SortedSet<_>>().len() > 1;
    if el.path.is_dead() || !several {
        return;
    }
    // The dimensions that determine the last number.
    let of_number = |number: &Sym| {
        let mut found = SortedSet::new();
        let mut open = number.sorted_vars().to_vec();
        while let Some(var) = open.pop() {
            if is_dimension(&var) {
                found.insert(var);
            } else {
                let (_, most) = el.f.cx.bounds(var);
                open.extend_from_slice(most?.sorted_vars());
            }
        }
        Some(found).filter(|found| !found.is_empty())
    };
    let of_numbers: Vec<_> = axes.iter().map(|(number, _)| of_number(number)).collect();
    let all_exist = |axis: usize| {
        let axis = axes.get(axis);
        axis.is_some_and(|(number, tiles)| el.f.cx.lt(number, tiles) == Truth::Yes)
    };
    let determined = || of_numbers.iter().zip(&of_tiles).enumerate();
    let exchanged = determined().find_map(|(one, (counted, tiles))| {
        let (counted, tiles) = (counted.as_ref()?, tiles.as_ref()?);
        let (other, _) = determined().skip(one + 1).find(|(_, other)| {
            let is_other = (other.0.as_ref(), other.1.as_ref()) == (Some(tiles), Some(counted));
            is_other && counted != tiles
        })?;
        if all_exist(one) || all_exist(other) {
            return None;
        }
        let shown = |vars: &SortedSet<Var>| {
            let names: Vec<String> = vars.iter().map(|v| el.f.cx.show(&Sym::var(*v))).collect();
            format!("`{}`", names.join("`, `"))
        };
        Some((one, other, shown(counted), shown(tiles)))
    });
    let Some((one, other, counted, tiles)) = exchanged else {
        return;
    };
    let title =
        format!("the tile numbers of axes {one} and {other} of `{name}` are perhaps exchanged");
    el.cx.report(
        Diagnostic::new(codes::W0884, at, title)
            .label(format!(
                "that of axis {one} ends with {counted}, the axis with {tiles}"
            ))
            .help(
                "exchange them: tiles beyond the data are left out in silence; of a matrix [K, N] as the \
                 right operand of an MMA, keep the tile and write `mma.row.col`, since `mma.row.row` \
                 reads [N, K]",
            ),
    );
}

/// Reports a `subspan` without `.at`, the first tile, of a tensor where there are several blocks.
fn lint_first_tile(el: &mut Elab<'_>, data: &mut Data) {
    let Some(at) = data.first_tile.take() else {
        return;
    };
    let Some(kernel) = &el.kernel else {
        return;
    };
    let several = kernel.grid.indices.iter().flatten().any(|index| {
        let (_, last) = el.f.cx.bounds(*index);
        !last.is_some_and(Sym::is_zero)
    });
    if el.path.is_dead() || !several || !el.f.buffer_is_global(data.view.buffer) {
        return;
    }
    let name = &data.name;
    let numbers = vec!["0"; data.view.rank()].join(", ");
    el.cx.report(
        Diagnostic::new(
            codes::W0886,
            at,
            format!("all blocks take the first tile of `{name}`"),
        )
        .label("without `.at`")
        .help(format!(
            "say which tile with `.at(…)`, a number for each axis, or `.at({numbers})` if this is meant"
        )),
    );
}

/// Emits the checks of a tile that is copied here, or whose address is taken. Returns the numbers
/// that are checked here, with their lower bounds: they hold for what is done with the tile.
pub(crate) fn emit_exists(el: &mut Elab<'_>, data: &mut Data) -> Vec<(Sym, Sym)> {
    lint_first_tile(el, data);
    let mut checked = Vec::new();
    for tile in std::mem::take(&mut data.numbers) {
        let TileNumber {
            number,
            lo,
            hi,
            message,
            at,
        } = tile;
        let below = compare(BinOp::Lt, &number, &hi, at);
        let cond = if el.f.cx.le(&lo, &number) == Truth::Yes {
            below
        } else {
            both(compare(BinOp::Le, &lo, &number, at), below)
        };
        let early = el.path.is_certain();
        let at_entry = early && inputs_are_known(el, [&number, &lo, &hi]);
        let values = [number.clone(), hi.clone()];
        let inputs = [&number, &lo, &hi];
        if origins::origin_of(el, &number) == Origin::Data {
            let row = run_time::row(
                el,
                run_time::Check::new(CheckCode::R12, message.clone(), at),
            );
            el.build.by_data.push((row, number.clone()));
        }
        run_time::emit_check_at(
            el,
            early,
            run_time::Check::new(CheckCode::R12, message, at),
            cond,
            &values,
            &inputs,
        );
        if at_entry {
            el.f.cx.assume_le(&lo, &number);
            el.f.cx.assume_lt(&number, &hi);
        } else if origins::is_from_elements(el, &number) && !run_time::is_reporting(el) {
            checked.push((lo, number));
        }
    }
    checked
}

/// Whether a check of these is made before the launch.
fn inputs_are_known(el: &Elab<'_>, inputs: [&Sym; 3]) -> bool {
    let known = |sym: &&Sym| run_time::known_at_entry(&el.f, sym);
    inputs.iter().all(known)
}

/// Removes checks of numbers that depend only on mutable variables, if these never depend on data
/// but some depend on parallel or loop variables.
pub(crate) fn settle(el: &mut Elab<'_>, body: &mut Vec<Stmt>) {
    let noted = std::mem::take(&mut el.build.by_data);
    if noted.is_empty() {
        return;
    }
    let (data, instance) = {
        let bodies = || {
            let kernels = el.f.kernels.iter().map(|k| k.body.as_slice());
            kernels.chain([body.as_slice()])
        };
        let mut data = Flow::new(&el.f, Source::Data);
        let mut instance = Flow::new(&el.f, Source::Instance);
        data.settle(&bodies);
        instance.settle(&bodies);
        (data.locals, instance.locals)
    };
    let depends = |number: &Sym, on: &SortedSet<LocalId>| {
        let home = |v: &Var| el.f.var_home.get(v);
        let vars = number.vars();
        vars.iter()
            .any(|v| matches!(home(v), Some(VarHome::Local(id)) if on.contains(id)))
    };
    let keep = |number: &Sym| depends(number, &data) || !depends(number, &instance);
    let (kept, dropped): (Vec<_>, Vec<_>) = noted.iter().partition(|(_, n)| keep(n));
    let gone = |check: &CheckId| {
        dropped.iter().any(|(id, _)| id == check) && !kept.iter().any(|(id, _)| id == check)
    };
    let stays = &mut |stmt: &Stmt| match &stmt.kind {
        StmtKind::Check { check, .. } => !gone(check),
        _ => true,
    };
    retain_stmts(body, stays);
    for kernel in &mut el.f.kernels {
        retain_stmts(&mut kernel.body, stays);
    }
}

/// The origin of values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Data,
    Instance,
}

/// The locals whose values depend on a source, directly or through others.
struct Flow<'f> {
    function: &'f Function,
    source: Source,
    locals: SortedSet<LocalId>,
}

impl<'f> Flow<'f> {
    fn new(function: &'f Function, source: Source) -> Self {
        let roles = (0..).map(LocalId).zip(&function.locals);
        let index = roles
            .filter(|(_, l)| l.role != Role::Value)
            .map(|(id, _)| id);
        let locals = match source {
            Source::Data => SortedSet::new(),
            Source::Instance => index.collect(),
        };
        Self {
            function,
            source,
            locals,
        }
    }

    fn settle<'b, I: Iterator<Item = &'b [Stmt]>>(&mut self, bodies: &dyn Fn() -> I) {
        if self.source == Source::Instance {
            let mut counters = Counters::default();
            bodies().for_each(|body| walk_block(body, &mut counters));
            self.locals.extend(counters.again);
        }
        loop {
            let before = self.locals.len();
            for body in bodies() {
                walk_block(body, self);
            }
            if self.locals.len() == before {
                return;
            }
        }
    }

    fn is_from(&self, e: &Expr) -> bool {
        struct Find<'a, 'f>(&'a Flow<'f>, bool);
        impl Visit for Find<'_, '_> {
            fn expr(&mut self, e: &Expr) {
                self.1 |= match (&*e.kind, self.0.source) {
                    (ExprKind::Load(_) | ExprKind::Call(_), Source::Data) => true,
                    (ExprKind::Intrinsic(..), Source::Instance) => true,
                    (ExprKind::Local(id), _) => self.0.locals.contains(id),
                    _ => false,
                };
            }
            fn sym(&mut self, s: &Sym) {
                let flow = self.0;
                let home = |v| flow.function.var_home.get(&v);
                let mut vars = s.vars().into_iter();
                self.1 |= vars.any(
                    |v| matches!(home(v), Some(VarHome::Local(id)) if flow.locals.contains(id)),
                );
            }
        }
        let mut find = Find(self, false);
        walk_exprs(e, &mut find);
        find.1
    }
}

/// Locals that are assigned more than once: they count iterations, or their value depends on a
/// branch.
#[derive(Default)]
struct Counters {
    given: SortedSet<LocalId>,
    again: SortedSet<LocalId>,
}

impl Visit for Counters {
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Let {
            local,
            value: Some(_),
        }
        | StmtKind::Assign { local, .. } = &stmt.kind
            && !self.given.insert(*local)
        {
            self.again.insert(*local);
        }
    }
}

impl Visit for Flow<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Let {
                local,
                value: Some(value),
            }
            | StmtKind::Assign { local, value } => {
                if self.is_from(value) {
                    self.locals.insert(*local);
                }
            }
            StmtKind::Atomic(atomic) if self.source == Source::Data => {
                self.locals.extend(atomic.result);
            }
            // Text that the compiler cannot analyse may change them.
            StmtKind::Cpp { names, .. } if self.source == Source::Data => {
                let locals = names.iter().filter_map(|name| match name {
                    CppName::Local(id) => Some(*id),
                    CppName::Buffer(_) => None,
                });
                self.locals.extend(locals);
            }
            _ => {}
        }
    }
}
