//! `with` and `foreach`.

use super::Checker;
use super::scope::Entity;
use super::value::{IntValue, Value};
use crate::diagnostics::Diagnostic;
use crate::ir::{LocalId, Role, Scalar, StmtKind, Unroll};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, Binding, ForeachRanges, ForeachStmt, LoopSuffix, Within};

/// One loop of a `foreach`, before its body.
struct Loop {
    local: LocalId,
    range: usize,
    lo: Sym,
    hi: Sym,
    step: Sym,
}

impl Checker<'_> {
    pub(super) fn with(
        &mut self,
        bindings: &[Within],
        pairs: &[(ast::Name, ast::Name)],
        body: &ast::Block,
    ) {
        self.scopes.push();
        for within in bindings {
            self.bind_range(within);
        }
        self.unify(pairs);
        self.block(body);
        let ended = self.scopes.pop();
        self.report_unused(ended);
    }

    fn unify(&mut self, pairs: &[(ast::Name, ast::Name)]) {
        for (a, b) in pairs {
            let entity = |s: &Self, n: &ast::Name| {
                if s.scopes.in_innermost(&n.text) {
                    s.scopes.find(&n.text).map(|b| b.entity.clone())
                } else {
                    None
                }
            };
            let (Some(Entity::Range(x)), Some(Entity::Range(y))) =
                (entity(self, a), entity(self, b))
            else {
                self.report(
                    Diagnostic::new(
                        "E0555",
                        a.span.to(b.span),
                        "`where` joins two ranges of this `with`",
                    )
                    .label("not two of its ranges"),
                );
                continue;
            };
            let bounds = (
                self.ranges.get(x).and_then(|r| r.bound.clone()),
                self.ranges.get(y).and_then(|r| r.bound.clone()),
            );
            let equal = matches!(&bounds, (Some(m), Some(n)) if self.f.cx.eq(m, n) == Truth::Yes);
            if !equal {
                self.report(
                    Diagnostic::new(
                        "E0555",
                        a.span.to(b.span),
                        "`where` joins ranges of equal extent",
                    )
                    .label("the extents differ"),
                );
                continue;
            }
            if let Some(binding) = self.scopes.find_mut(&b.text) {
                binding.entity = Entity::Range(x);
            }
        }
    }

    fn new_range(&mut self, name: &str, bound: Sym) -> usize {
        self.range_names.push(name.to_owned());
        self.ranges.push(IntValue::bounded(Sym::zero(), bound));
        self.ranges.len() - 1
    }

    /// Declares the names of one `x in bound`, and returns the ranges.
    fn bind_range(&mut self, within: &Within) -> Vec<usize> {
        if let ast::ExprKind::List(items) = &*within.bound.kind {
            // Unlike a buffer's shape, a range may be known only while the kernel runs.
            let Some(extents) = self.run_time_shape(items) else {
                return self.poison_range(&within.binding);
            };
            return self.checked_range(within, extents, true);
        }
        let (extents, is_shape) = match self.expr(&within.bound) {
            Value::Shape(s) => (s, true),
            Value::Data(d) => (d.view.shape, true),
            Value::Tuple(t) if t.len() > 1 => (t.into_iter().map(|i| i.value).collect(), true),
            Value::Error => return self.poison_range(&within.binding),
            v => match v {
                Value::Int(_) | Value::Scalar(_) | Value::Tuple(_) => {
                    match self.to_sym(v, within.bound.span) {
                        Some(s) => (vec![s], false),
                        None => return self.poison_range(&within.binding),
                    }
                }
                other => {
                    let kind = other.kind();
                    self.report(
                        Diagnostic::new(
                            "E0554",
                            within.bound.span,
                            format!("a range is an integer or a shape, this is {kind}"),
                        )
                        .label("not a range"),
                    );
                    return self.poison_range(&within.binding);
                }
            },
        };
        self.checked_range(within, extents, is_shape)
    }

    fn run_time_shape(&mut self, items: &[ast::Expr]) -> Option<Vec<Sym>> {
        let mut out = Vec::new();
        let mut ok = true;
        for item in items {
            match self.expr(item) {
                Value::Shape(s) => out.extend(s),
                Value::Tuple(t) => out.extend(t.into_iter().map(|i| i.value)),
                v => match self.to_sym(v, item.span) {
                    Some(s) => out.push(s),
                    None => ok = false,
                },
            }
        }
        ok.then_some(out)
    }

    fn checked_range(&mut self, within: &Within, extents: Vec<Sym>, is_shape: bool) -> Vec<usize> {
        for (axis, extent) in extents.iter().enumerate() {
            if self.f.cx.le(&Sym::one(), extent) == Truth::No {
                let shown = self.show(extent);
                self.report(
                    Diagnostic::new(
                        "E0542",
                        within.bound.span,
                        format!("dimension {axis} of this range is {shown}: the loop never runs"),
                    )
                    .label("an empty range"),
                );
                return self.poison_range(&within.binding);
            }
        }
        self.declare_range(within, extents, is_shape)
    }

    fn declare_range(&mut self, within: &Within, extents: Vec<Sym>, is_shape: bool) -> Vec<usize> {
        match &within.binding {
            Binding::None => Vec::new(),
            Binding::One(name) => {
                let ids: Vec<usize> = extents
                    .into_iter()
                    .map(|e| self.new_range(&name.text, e))
                    .collect();
                self.hides(name);
                let entity = match ids.as_slice() {
                    [one] => Entity::Range(*one),
                    _ => Entity::RangeTuple(ids.clone()),
                };
                self.declare(name, entity);
                ids
            }
            Binding::Tuple { whole, parts } => {
                if !is_shape {
                    self.report(
                        Diagnostic::new(
                            "E0540",
                            within.bound.span,
                            "braces bind the dimensions of a shape, this is an integer",
                        )
                        .label("an integer")
                        .help("write `x in N`, or `{x} in [N]`"),
                    );
                    return self.poison_range(&within.binding);
                }
                if parts.len() != extents.len() {
                    self.report(
                        Diagnostic::new(
                            "E0541",
                            within.span,
                            format!("{} names for {} dimensions", parts.len(), extents.len()),
                        )
                        .label("counts differ"),
                    );
                    return self.poison_range(&within.binding);
                }
                let mut ids = Vec::new();
                for (name, extent) in parts.iter().zip(extents) {
                    let id = self.new_range(&name.text, extent);
                    self.hides(name);
                    self.declare(name, Entity::Range(id));
                    ids.push(id);
                }
                if let Some(name) = whole {
                    self.declare(name, Entity::RangeTuple(ids.clone()));
                }
                ids
            }
        }
    }

    fn hides(&mut self, name: &ast::Name) {
        if let Some(b) = self.scopes.find(&name.text) {
            let outer = b.span;
            self.report(
                Diagnostic::new(
                    "N0557",
                    name.span,
                    format!("`{}` hides an outer name", name.text),
                )
                .label("a new name")
                .also(outer, "the outer one"),
            );
        }
    }

    fn poison_range(&mut self, binding: &Binding) -> Vec<usize> {
        let names: Vec<&ast::Name> = match binding {
            Binding::None => Vec::new(),
            Binding::One(n) => vec![n],
            Binding::Tuple { whole, parts } => whole.iter().chain(parts).collect(),
        };
        for name in names {
            self.declare(name, Entity::Poison);
        }
        Vec::new()
    }

    pub(super) fn foreach(&mut self, f: &ForeachStmt, span: Span) {
        self.scopes.push();
        let loops = match &f.ranges {
            ForeachRanges::Within(list) => {
                let mut out = Vec::new();
                for within in list {
                    for id in self.bind_range(within) {
                        out.push((id, None, None, within.span));
                    }
                }
                Some(out)
            }
            ForeachRanges::Ranges(list) => self.named_ranges(list),
        };
        let unroll = self.unroll(&f.suffixes, loops.as_deref().unwrap_or_default());
        let Some(loops) = loops.filter(|l| !l.is_empty()) else {
            self.loops += 1;
            self.block(&f.body);
            self.loops -= 1;
            self.scopes.pop();
            return;
        };
        let mut opened = Vec::new();
        for (id, alias, slice, at) in loops {
            opened.push(self.open_loop(id, alias, slice, at));
        }
        self.nest(opened, 0, &f.body, span, unroll);
        let ended = self.scopes.pop();
        self.report_unused(ended);
    }

    /// The existing range variables that a `foreach` iterates.
    #[allow(clippy::type_complexity)]
    fn named_ranges<'f>(
        &mut self,
        list: &'f [ast::ForeachRange],
    ) -> Option<Vec<(usize, Option<&'f ast::Name>, Option<&'f ast::Slice>, Span)>> {
        let mut out = Vec::new();
        let mut seen: Vec<(&str, Span)> = Vec::new();
        let mut ok = true;
        for range in list {
            if let Some(alias) = &range.alias {
                if let Some((_, first)) = seen.iter().find(|(text, _)| *text == alias.text) {
                    self.report(
                        Diagnostic::new(
                            "E0544",
                            alias.span,
                            format!("`{}` names two iteration values", alias.text),
                        )
                        .label("used twice")
                        .also(*first, "first used here")
                        .help("give one of them another name"),
                    );
                    ok = false;
                }
                seen.push((&alias.text, alias.span));
            }
            match self.lookup(&range.name.text, range.name.span) {
                Some(Entity::Range(id)) => {
                    out.push((id, range.alias.as_ref(), range.slice.as_ref(), range.span));
                }
                Some(Entity::RangeTuple(ids)) => {
                    if let Some(slice) = &range.slice {
                        self.report(
                            Diagnostic::new(
                                "E0543",
                                slice.span,
                                format!(
                                    "`{}` has several dimensions and can't be sliced",
                                    range.name.text
                                ),
                            )
                            .label("slice its components instead"),
                        );
                        ok = false;
                    }
                    out.extend(ids.into_iter().map(|id| (id, None, None, range.span)));
                }
                Some(
                    Entity::Int {
                        kind: super::scope::IntKind::Parallel,
                        ..
                    }
                    | Entity::Tuple {
                        kind: super::scope::IntKind::Parallel,
                        ..
                    },
                ) => {
                    self.report(
                        Diagnostic::new(
                            "E0545",
                            range.name.span,
                            format!(
                                "`{}` is a parallel variable: its instances run at once",
                                range.name.text
                            ),
                        )
                        .label("can't be iterated")
                        .help(format!("bind a range: `foreach i in #{}`", range.name.text)),
                    );
                    ok = false;
                }
                Some(Entity::Poison) | None => ok = false,
                Some(other) => {
                    let kind = other.kind();
                    self.report(
                        Diagnostic::new(
                            "E0546",
                            range.name.span,
                            format!(
                                "`foreach` iterates a range, `{}` is {kind}",
                                range.name.text
                            ),
                        )
                        .label("not a range variable")
                        .help(format!("write `foreach i in {}`", range.name.text)),
                    );
                    ok = false;
                }
            }
        }
        if !ok {
            // The names are known, though not what they stand for.
            for alias in list.iter().filter_map(|r| r.alias.as_ref()) {
                if !self.scopes.in_innermost(&alias.text) {
                    self.declare(alias, Entity::Poison);
                }
            }
        }
        ok.then_some(out)
    }

    fn open_loop(
        &mut self,
        range: usize,
        alias: Option<&ast::Name>,
        slice: Option<&ast::Slice>,
        at: Span,
    ) -> Loop {
        let bound = self
            .ranges
            .get(range)
            .and_then(|r| r.bound.clone())
            .unwrap_or_else(Sym::one);
        let mut field = |e: &Option<ast::Expr>| -> Option<Sym> {
            let e = e.as_ref()?;
            let v = self.expr(e);
            match v {
                Value::Int(_) => self.to_sym(v, e.span),
                Value::Scalar(s) if s.ty.is_integer() => self.to_sym(Value::Scalar(s), e.span),
                Value::Error => None,
                other => {
                    let kind = other.kind();
                    self.report(
                        Diagnostic::new(
                            "E0548",
                            e.span,
                            format!("a slice bound is an integer, this is {kind}"),
                        )
                        .label("not an integer"),
                    );
                    None
                }
            }
        };
        let (mut lo, mut hi) = (Sym::zero(), bound.clone());
        let mut step = 1i64;
        if let Some(s) = slice {
            lo = field(&s.lo).unwrap_or_default();
            hi = &bound + &field(&s.hi).unwrap_or_default();
            if let Some(e) = &s.step {
                match self.const_int(e) {
                    Some(n @ 1..) => step = n,
                    _ => self.report(
                        Diagnostic::new(
                            "E0548",
                            e.span,
                            "a slice's step is an integer literal of at least 1",
                        )
                        .label("not a step"),
                    ),
                }
            }
            if self.f.cx.lt(&lo, &hi) == Truth::No {
                let (l, h) = (self.show(&lo), self.show(&hi));
                self.report(
                    Diagnostic::new(
                        "E0549",
                        s.span,
                        format!("this slice runs from {l} to before {h}: it is empty"),
                    )
                    .label("never runs")
                    .help(
                        "the second field is added to the upper bound: `(:-1)` leaves out the last",
                    ),
                );
            }
        }
        let name = alias
            .map(|n| n.text.clone())
            .or_else(|| self.range_names.get(range).cloned())
            .unwrap_or_else(|| "i".into());
        let local = self.new_local(&name, Scalar::Index, false, Role::Loop, at);
        let last = &hi - 1;
        if [&lo, &hi]
            .iter()
            .any(|s| s.vars().iter().any(|v| self.unit_var(*v)))
        {
            self.varying.insert(local);
        }
        let var = self.local_var(local, Some(lo.clone()), Some(last));
        if let Some(r) = self.ranges.get_mut(range) {
            r.value = Sym::var(var);
        }
        if let Some(alias) = alias {
            self.declare(alias, Entity::Range(range));
            if let Some(b) = self.scopes.find_mut(&alias.text) {
                b.used = true;
            }
        }
        Loop {
            local,
            range,
            lo,
            hi,
            step: Sym::int(step),
        }
    }

    fn nest(
        &mut self,
        loops: Vec<Loop>,
        depth: usize,
        body: &ast::Block,
        span: Span,
        unroll: Option<(usize, Unroll)>,
    ) {
        let Some(l) = loops.get(depth) else {
            self.loops += 1;
            self.block(body);
            self.loops -= 1;
            return;
        };
        let (local, lo, hi, step, range) =
            (l.local, l.lo.clone(), l.hi.clone(), l.step.clone(), l.range);
        let unrolled = unroll
            .filter(|(at, _)| *at == depth || *at == usize::MAX)
            .map(|(_, u)| u);
        // Whether the loop runs at all may not be known, but inside it does.
        let uncertain = self.uncertain;
        self.uncertain += u32::from(!self.f.cx.lt(&lo, &hi).is_yes());
        self.f.cx.push_scope();
        self.f.cx.assume_lt(&lo, &hi);
        let ((), stmts) = self.collect(|s| s.nest(loops, depth + 1, body, span, unroll));
        self.f.cx.pop_scope();
        self.uncertain = uncertain;
        if let Some(r) = self.ranges.get_mut(range) {
            r.value = Sym::zero();
        }
        self.emit(
            StmtKind::For {
                local,
                lo,
                hi,
                step,
                unroll: unrolled,
                body: stmts,
            },
            span,
        );
    }

    #[allow(clippy::type_complexity)]
    fn unroll(
        &mut self,
        suffixes: &[LoopSuffix],
        loops: &[(usize, Option<&ast::Name>, Option<&ast::Slice>, Span)],
    ) -> Option<(usize, Unroll)> {
        let mut result = None;
        for suffix in suffixes {
            match suffix {
                LoopSuffix::Unroll(None, _) => result = Some((usize::MAX, Unroll::Full)),
                LoopSuffix::Unroll(Some(e), at) => {
                    let n = self.const_int(e);
                    let extent = loops
                        .last()
                        .and_then(|l| self.ranges.get(l.0))
                        .and_then(|r| r.bound.as_ref())
                        .and_then(Sym::as_int);
                    let too_large = matches!((n, extent), (Some(n), Some(e)) if n > e);
                    match n
                        .and_then(|n| u32::try_from(n).ok())
                        .filter(|n| *n > 0 && !too_large)
                    {
                        Some(n) => result = Some((loops.len().saturating_sub(1), Unroll::By(n))),
                        None => {
                            let text = match (n, extent) {
                                (Some(n), Some(e)) if too_large => {
                                    format!("the loop runs {e} times, it can't be unrolled by {n}")
                                }
                                _ => "an unroll factor is a positive constant".to_owned(),
                            };
                            self.report(
                                Diagnostic::new("E0547", *at, text)
                                    .label("not a usable factor")
                                    .help("write `unroll` alone to unroll the whole loop"),
                            );
                        }
                    }
                }
                LoopSuffix::Vectorize(_, _, at) => self.unsupported(*at, "`vectorize`"),
            }
        }
        result
    }
}
