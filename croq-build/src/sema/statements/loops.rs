//! `foreach`: loops over ranges.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Level, LocalId, Role, Scalar, StmtKind, Unroll};
use crate::sema::asynchronous::rebound;
use crate::sema::build;
use crate::sema::levels::uniformity;
use crate::sema::names::scope;
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::scopes::Entity;
use crate::sema::state::value::Value;
use crate::sema::statements::hints::{self, Iterated};
use crate::sema::statements::ranges;
use crate::sema::tensor_cores::owners;
use crate::sema::values::{arith, constants};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, ForeachRanges, ForeachStmt};

/// One loop of a `foreach`, before its body.
struct Loop {
    local: LocalId,
    range: usize,
    lo: Sym,
    hi: Sym,
    step: Sym,
    /// Its slice is empty, whatever the arguments.
    never: bool,
}

pub(crate) fn lower_foreach(el: &mut Elab<'_>, f: &ForeachStmt, span: Span) {
    let (lowered, ended) = el.scope(|el| lower_ranges(el, f, span));
    if lowered {
        scope::report_unused(el, ended);
    }
}

/// Whether it was without an error so far that loops could be made.
fn lower_ranges(el: &mut Elab<'_>, f: &ForeachStmt, span: Span) -> bool {
    let loops = match &f.ranges {
        ForeachRanges::Within(list) => {
            let mut out = Vec::new();
            for within in list {
                for id in ranges::bind_range(el, within) {
                    out.push((id, None, None, within.span));
                }
            }
            Some(out)
        }
        ForeachRanges::Ranges(list) => named_ranges(el, list),
    };
    let unroll = hints::unroll(el, &f.suffixes, loops.as_deref().unwrap_or_default());
    let Some(loops) = loops.filter(|l| !l.is_empty()) else {
        lower_body(el, &f.body);
        return false;
    };
    rebound::enter_loop(el, &f.body);
    let mut opened = Vec::new();
    for (id, alias, slice, at) in loops {
        opened.push(open_loop(el, id, alias, slice, at));
    }
    lower_nest(el, opened, 0, &f.body, span, unroll);
    true
}

/// The existing range variables that a `foreach` iterates over.
fn named_ranges<'f>(el: &mut Elab<'_>, list: &'f [ast::ForeachRange]) -> Option<Vec<Iterated<'f>>> {
    let mut out = Vec::new();
    let mut seen: Vec<(&str, Span)> = Vec::new();
    let mut ok = true;
    for range in list {
        if let Some(alias) = &range.alias {
            let mut names = seen.iter().filter(|_| !alias.is_wildcard());
            if let Some((_, first)) = names.find(|(text, _)| *text == alias.text) {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0544,
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
        match scope::lookup(el, &range.name.text, range.name.span) {
            Some(Entity::Range(id)) => {
                out.push((id, range.alias.as_ref(), range.slice.as_ref(), range.span));
            }
            Some(Entity::RangeTuple(ids)) => {
                if let Some(slice) = &range.slice {
                    el.cx.report(
                        Diagnostic::new(
                            codes::E0543,
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
                    kind: crate::sema::state::scopes::IntKind::Parallel,
                    ..
                }
                | Entity::Tuple {
                    kind: crate::sema::state::scopes::IntKind::Parallel,
                    ..
                },
            ) => {
                el.cx.report(
                    Diagnostic::new(
                        codes::E0545,
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
                el.cx.report(
                    Diagnostic::new(
                        codes::E0546,
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
        // The names are declared, although their values are unknown.
        for alias in list.iter().filter_map(|r| r.alias.as_ref()) {
            if !el.names.in_innermost(&alias.text) {
                scope::declare(el, alias, Entity::Poison);
            }
        }
    }
    ok.then_some(out)
}

fn open_loop(
    el: &mut Elab<'_>,
    range: usize,
    alias: Option<&ast::Name>,
    slice: Option<&ast::Slice>,
    at: Span,
) -> Loop {
    let bound = el
        .ranges
        .values
        .get(range)
        .and_then(|r| r.bound.clone())
        .unwrap_or_else(Sym::one);
    let mut field = |e: &Option<ast::Expr>| -> Option<Sym> {
        let e = e.as_ref()?;
        let v = el.expression(e);
        match v {
            Value::Int(_) => arith::to_sym(el, v, e.span),
            Value::Scalar(s) if s.ty.is_integer() => arith::to_sym(el, Value::Scalar(s), e.span),
            Value::Error => None,
            other => {
                let kind = other.kind();
                el.cx.report(
                    Diagnostic::new(
                        codes::E0548,
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
    let mut never = false;
    if let Some(s) = slice {
        lo = field(&s.lo).unwrap_or_default();
        hi = &bound + &field(&s.hi).unwrap_or_default();
        match s.step.as_ref().map_or(Some(1), |e| step_of(el, e)) {
            Some(n) => step = n,
            // The other fields may be meant as those of another language's slice.
            None => (lo, hi) = (Sym::zero(), bound.clone()),
        }
        never = el.f.cx.lt(&lo, &hi) == Truth::No;
        if never {
            let (l, h) = (el.f.cx.show(&lo), el.f.cx.show(&hi));
            el.cx.report(
                Diagnostic::new(
                    codes::W0549,
                    s.span,
                    format!("this slice runs from {l} to before {h}: it is empty"),
                )
                .label("never runs")
                .help("the second field is added to the upper bound: `(:-1)` leaves out the last"),
            );
        }
    }
    // A range without elements is an error unless a call's arguments make it so.
    never |= !el.calls.open.is_empty() && el.f.cx.lt(&lo, &hi) == Truth::No;
    let name = alias
        .filter(|n| !n.is_wildcard())
        .map(|n| n.text.clone())
        .or_else(|| el.ranges.names.get(range).cloned())
        .unwrap_or_else(|| "i".into());
    let local = build::new_local(&mut el.f, &name, Scalar::Index, false, Role::Loop, at);
    // The variable of a loop without iterations has some value, like any other.
    let last = if never { lo.clone() } else { &hi - 1 };
    let level = uniformity::of_sym(el, &lo).max(uniformity::of_sym(el, &hi));
    if level > Level::Block {
        el.build.vary(local, level);
    }
    let var = build::local_var(&mut el.f, local, Some(lo.clone()), Some(last));
    if let Some(r) = el.ranges.values.get_mut(range) {
        r.value = Sym::var(var);
    }
    if let Some(alias) = alias {
        scope::declare(el, alias, Entity::Range(range));
        if let Some(b) = el.names.find_mut(&alias.text) {
            b.used = true;
        }
    }
    Loop {
        local,
        range,
        lo,
        hi,
        step: Sym::int(step),
        never,
    }
}

/// The step of a slice; reports one that is not at least 1.
fn step_of(el: &mut Elab<'_>, e: &ast::Expr) -> Option<i64> {
    let step = constants::constant(e).filter(|n| *n >= 1);
    if step.is_none() {
        el.cx.report(
            Diagnostic::new(
                codes::E0548,
                e.span,
                "a slice's step is an integer literal of at least 1",
            )
            .label("not a step"),
        );
    }
    step
}

fn lower_body(el: &mut Elab<'_>, body: &ast::Block) {
    el.names.enter_loop();
    el.within(Frame::Loop, |el| el.block(body));
    el.names.leave_loop();
}

fn lower_nest(
    el: &mut Elab<'_>,
    loops: Vec<Loop>,
    depth: usize,
    body: &ast::Block,
    span: Span,
    unroll: Option<(usize, Unroll)>,
) {
    let Some(l) = loops.get(depth) else {
        return lower_body(el, body);
    };
    let (local, lo, hi, step, range) =
        (l.local, l.lo.clone(), l.hi.clone(), l.step.clone(), l.range);
    let never = l.never;
    let unrolled = unroll
        .filter(|(at, _)| *at == depth || *at == usize::MAX)
        .map(|(_, u)| u);
    // The loop may have no iterations, but inside it the range is not empty.
    let frame = match never {
        true => Frame::Condition {
            restricts: false,
            several: false,
            never,
        },
        false => Frame::Range {
            may_be_empty: !el.f.cx.lt(&lo, &hi).is_yes(),
        },
    };
    let stmts = el.within(frame, |el| {
        el.f.cx.push_scope();
        if !never {
            el.f.cx.assume_lt(&lo, &hi);
        }
        owners::enter_loop(el, &(&hi - &lo), &step);
        let level = uniformity::of_sym(el, &lo).max(uniformity::of_sym(el, &hi));
        let ((), stmts) = build::collect(el, |el| {
            el.within(Frame::Uneven(level), |el| {
                lower_nest(el, loops, depth + 1, body, span, unroll);
            });
        });
        owners::leave_loop(el);
        el.f.cx.pop_scope();
        stmts
    });
    if let Some(r) = el.ranges.values.get_mut(range) {
        r.value = Sym::zero();
    }
    build::emit(
        el,
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
