//! What depends on a `select` among tensors of different allocations.
//!
//! It is lowered once for each operand, as `if (number == 0) … else if (number == 1) …`. In each arm
//! it is known which memory a name stands for, as if the program had been written for that tensor.

use crate::ir::{BinOp, Expr, ExprKind, Role, Scalar, Stmt, StmtKind, path_facts};
use crate::sema::build;
use crate::sema::checks::unsupported;
use crate::sema::levels::uniformity;
use crate::sema::memory::{access, select};
use crate::sema::state::choices::{Choice, Known, Made, Part, SelectId};
use crate::sema::state::elab::Elab;
use crate::sema::state::path::Frame;
use crate::sema::state::value::Value;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast;

/// The most operands for which parts of one function are lowered.
const MOST_LOWERED: usize = 256;

/// Lowers what depends on a choice.
struct Lowering<'l, R> {
    choice: &'l Choice,
    number: Sym,
    body: &'l mut dyn FnMut(&mut Elab<'_>) -> R,
    join: Join<R>,
}

/// Makes one result of those of both arms of a condition.
type Join<R> = fn(&mut Elab<'_>, Expr, [(R, Vec<Stmt>); 2]) -> R;

/// Makes a choice, and lowers what depends on it once for each operand that the number may be of.
pub(crate) fn choose<R>(
    el: &mut Elab<'_>,
    choice: &Choice,
    body: &mut dyn FnMut(&mut Elab<'_>) -> R,
    join: Join<R>,
) -> R {
    let at = choice.selector.span;
    let number = select::lower_selector(el, &choice.selector);
    let is_checked = choice.part != Part::Kernel;
    let number = number.filter(|n| !is_checked || select::check_selector(el, n, choice.count, at));
    let Some(number) = number.filter(|_| count(el, choice)) else {
        return choose_first(el, choice, body);
    };
    let mut lowering = Lowering {
        choice,
        number,
        body,
        join,
    };
    match el.choices.implied(&lowering.number, choice.count) {
        None => lower_from(el, &mut lowering, 0),
        Some(operand) => {
            // A number of no operand fails its check.
            let operand = usize::try_from(operand).unwrap_or(0);
            let operand = operand.min(choice.count.saturating_sub(1));
            lower_one(el, &mut lowering, operand, !is_checked)
        }
    }
}

/// After a report on the choice, so that what else is wrong is reported, too.
pub(crate) fn choose_first<R>(
    el: &mut Elab<'_>,
    choice: &Choice,
    body: &mut dyn FnMut(&mut Elab<'_>) -> R,
) -> R {
    let mut lowering = Lowering {
        choice,
        number: Sym::zero(),
        body,
        join: |_, _, [(first, _), _]| first,
    };
    lower_one(el, &mut lowering, 0, false)
}

/// Reports a choice beyond the limit.
fn count(el: &mut Elab<'_>, choice: &Choice) -> bool {
    el.choices.lowered += choice.count;
    if el.choices.lowered <= MOST_LOWERED {
        return true;
    }
    let what = format!("a function with code for more than {MOST_LOWERED} operands of `select`");
    let remedy = "what depends on a `select` is compiled for each operand, and for each one of the `select`s \
                  around it: select in functions of their own, or copy the tensors to buffers of this function";
    unsupported::report_with_remedy(&mut el.cx, choice.of.0, &what, Some(remedy));
    false
}

/// The operands from the `first` on.
fn lower_from<R>(el: &mut Elab<'_>, lowering: &mut Lowering<'_, R>, first: usize) -> R {
    if first + 1 >= lowering.choice.count {
        let or_outside = lowering.choice.part == Part::Kernel;
        return lower_one(el, lowering, first, or_outside);
    }
    let cond = is_number(&lowering.number, first, lowering.choice.of.0);
    match path_facts::decided(&el.f, &cond) {
        Some(true) => return lower_one(el, lowering, first, false),
        Some(false) => return lower_from(el, lowering, first + 1),
        None => {}
    }
    let arms = el.names.condition();
    uniformity::note_reads(el, &cond);
    let divergence = uniformity::divergence(el, &cond);
    // Levels below are assigned to `parallel`s in the order of the text, which each arm repeats.
    let nests = el.nests.clone();
    // Both arms declare the names of the rest of the block.
    let stale = el.names.stale.clone();
    let both = el.within(divergence.map(Frame::Divergent), |el| {
        el.names.enter_arm(arms, true);
        let then = arm(el, |el| lower_one(el, lowering, first, false));
        el.names.leave_arm();
        el.nests = nests;
        let stale_then = std::mem::replace(&mut el.names.stale, stale);
        el.names.enter_arm(arms, false);
        let otherwise = arm(el, |el| lower_from(el, lowering, first + 1));
        el.names.leave_arm();
        el.names.stale.extend(stale_then);
        [then, otherwise]
    });
    (lowering.join)(el, cond, both)
}

/// An arm and its statements. That the selector has one value there is no fact for the prover: what
/// is wrong with the rest of the program for this value is found at run time, as without `select`.
fn arm<R>(el: &mut Elab<'_>, body: impl FnOnce(&mut Elab<'_>) -> R) -> (R, Vec<Stmt>) {
    let frame = Frame::Condition {
        restricts: true,
        several: false,
        never: false,
    };
    // What holds behind a statement of one arm does not hold in the other one.
    el.f.cx.push_scope();
    let result = el.within(frame, |el| build::collect(el, body));
    el.f.cx.pop_scope();
    result
}

/// One operand, `or_outside` if numbers of no operand come here, too.
fn lower_one<R>(
    el: &mut Elab<'_>,
    lowering: &mut Lowering<'_, R>,
    operand: usize,
    or_outside: bool,
) -> R {
    let statement = match el.kernel.is_some() {
        true => el.choices.statement,
        false => el.choices.on_host,
    };
    el.choices.made.push(Made {
        choice: lowering.choice.clone(),
        statement,
        operand,
    });
    el.choices.numbers.push(Known {
        number: lowering.number.clone(),
        operand,
        or_outside: or_outside.then_some(lowering.choice.count),
    });
    let result = (lowering.body)(el);
    el.choices.numbers.pop();
    el.choices.made.pop();
    result
}

fn is_number(number: &Sym, operand: usize, span: Span) -> Expr {
    let operand = Sym::int(i64::try_from(operand).unwrap_or(i64::MAX));
    let [number, operand] = [number.clone(), operand].map(|n| Expr::index(n, span));
    let kind = ExprKind::Binary(BinOp::Eq, number, operand);
    Expr::new(kind, Scalar::Bool, span)
}

/// `base.at(…)`, where the base may be one of several tensors.
pub(crate) fn lower_load(
    el: &mut Elab<'_>,
    base: &ast::Expr,
    indices: &[ast::Expr],
    span: Span,
) -> Value {
    let Some(select) = selected(base) else {
        return access::lower_load(el, base, indices, span);
    };
    let known = el
        .choices
        .statement
        .and_then(|at| el.earlier.choices.get(&at));
    let is = |c: &&Choice| c.part == Part::Load && c.of == select;
    let known = known.and_then(|choices| choices.iter().find(is)).cloned();
    let outer = el.choices.load.replace(select);
    let mut load = |el: &mut Elab<'_>| access::lower_load(el, base, indices, span);
    let value = match known.filter(|_| el.choices.made_for(select).is_none()) {
        Some(choice) => choose(el, &choice, &mut load, join_loads),
        None => load(el),
    };
    el.choices.load = outer;
    value
}

/// The `select` that a tile is cut from.
fn selected(base: &ast::Expr) -> Option<SelectId> {
    match &*base.kind {
        ast::ExprKind::Select(_, number) => Some((base.span, *number)),
        ast::ExprKind::Paren(inner) | ast::ExprKind::View(inner, ..) => selected(inner),
        _ => None,
    }
}

/// The element of one of two tensors.
fn join_loads(el: &mut Elab<'_>, cond: Expr, arms: [(Value, Vec<Stmt>); 2]) -> Value {
    let [(yes, mut then), (no, mut otherwise)] = arms;
    let (Value::Scalar(yes), Value::Scalar(no)) = (yes, no) else {
        return Value::Error;
    };
    let (ty, span) = (yes.ty, cond.span);
    if then.is_empty() && otherwise.is_empty() {
        return Value::Scalar(Expr::new(ExprKind::Select(cond, yes, no), ty, span));
    }
    // The checks of an access are for the tensor that is selected.
    let local = build::new_local(&mut el.f, "selected", ty, true, Role::Value, span);
    build::emit(el, StmtKind::Let { local, value: None }, span);
    let divergence = uniformity::divergence(el, &cond);
    el.within(divergence.map(Frame::Divergent), |el| {
        for (value, stmts) in [(yes, &mut then), (no, &mut otherwise)] {
            let assign = StmtKind::Assign { local, value };
            let ((), assigned) = build::collect(el, |el| build::emit(el, assign, span));
            stmts.extend(assigned);
        }
    });
    let kind = StmtKind::If {
        cond,
        then,
        otherwise,
    };
    build::emit(el, kind, span);
    Value::Scalar(Expr::local(local, ty, span))
}

#[cfg(test)]
mod tests {
    use crate::ir::{Expr, ExprKind, StmtKind};
    use crate::sema::testing;

    /// The parameters that a function writes, by its text.
    fn written(text: &str) -> Vec<String> {
        let function = testing::function(text);
        let written = function.buffers.iter().filter(|b| b.written);
        written.map(|b| b.name.clone()).collect()
    }

    #[test]
    fn each_operand_that_may_be_written_is_written() {
        for body in [
            "to = select(n, x, y, z); parallel p by N to.at(p) = w.at(p);",
            "parallel p by N select(n, x, y, z).at(p) = w.at(p);",
            "parallel p by N select(p % 3, x, y, z).at(p) = w.at(p);",
            "parallel p by N { to = select(p % 3, x, y, z); to.at(p) = w.at(p); }",
            "parallel p by N __atomic_add(select(p % 3, x, y, z).at(p), w.at(p));",
            "dma.copy w => select(n, x, y, z);",
            "select(n, x, y, z).at(0) = 1;",
            "parallel b by cdiv(N, 32) : block dma.copy w.subspan(32).at(b) => \
             select(b % 3, x, y, z).subspan(32).at(b);",
        ] {
            let tensors = ["x", "y", "z", "w"].map(|name| format!("global s32 [N] {name}"));
            let text = format!("__co__ void f({}, int n) {{ {body} }}", tensors.join(", "));
            assert_eq!(written(&text), ["x", "y", "z"], "{body}");
        }
    }

    #[test]
    fn a_number_that_follows_from_another_one_makes_no_further_arms() {
        for (first, second, kernels) in [
            ("n", "n", 2),
            ("n", "1 - n", 2),
            ("n + 1", "n", 2),
            ("n % 2", "(n + 1) % 2", 2),
            ("n % 2", "(n - 3) % 2", 2),
            ("n % 2", "n / 2", 4),
            ("n", "m", 4),
        ] {
            let text = format!(
                "__co__ void f(global s32 [N] x, global s32 [N] y, int n, int m) {{
                   from = select({first}, x, y);
                   to = select({second}, x, y);
                   parallel p by N to.at(p) = from.at(p) + m;
                 }}"
            );
            let function = testing::function(&text);
            assert_eq!(function.kernels.len(), kernels, "{first}, {second}");
        }
    }

    /// All tokens that one use of a macro makes have the same span.
    #[test]
    fn each_select_of_a_macro_has_choices_of_its_own() {
        let of = |macro_text: &str| {
            let tensors = ["x", "y", "z", "o"].map(|name| format!("global s32 [N] {name}"));
            let tensors = tensors.join(", ");
            testing::function(&format!(
                "#define ALL {macro_text}\n__co__ void f({tensors}, global s32 [N] at, int n) {{ ALL }}"
            ))
        };
        // The last operand is reached by the second one alone.
        for body in [
            "if (n < 2) { parallel p by N o.at(p) = select(n, x, y).at(p); }
             if (n < 3) { parallel p by N o.at(p) = o.at(p) + select(n, x, y, z).at(p); }",
            "if (n < 2) { v = select(n, x, y); parallel p by N o.at(p) = v.at(p); }
             if (n < 3) { v = select(n, x, y, z); parallel p by N o.at(p) = o.at(p) + v.at(p); }",
            "parallel p by N {
               s32 k = at.at(p);
               if (k < 2) { o.at(p) = select(k, x, y).at(p); }
               if (k < 3) { o.at(p) = o.at(p) + select(k, x, y, z).at(p); }
             }",
        ]
        .map(|body| body.replace('\n', " "))
        {
            let function = of(&body);
            let read = function.buffers.iter().filter(|b| b.read);
            let read: Vec<&str> = read.map(|b| b.name.as_str()).collect();
            assert!(
                ["x", "y", "z"].iter().all(|name| read.contains(name)),
                "{body}: {read:?}"
            );
        }
        // A name that hides the one that the other number has.
        let function = of("parallel p by N { o.at(p) = select(n, x, y).at(p); \
             foreach n in [2] { o.at(p) = o.at(p) + select(n, x, y).at(p); } }");
        let mut loops = 0;
        for kernel in &function.kernels {
            crate::ir::any_stmt(&kernel.body, |stmt| {
                if let StmtKind::For { body, .. } = &stmt.kind {
                    let [store] = body.as_slice() else {
                        panic!("{body:?}")
                    };
                    let StmtKind::Store { value, .. } = &store.kind else {
                        panic!("{store:?}")
                    };
                    let chosen = |e: &Expr| matches!(*e.kind, ExprKind::Select(..));
                    loops += usize::from(crate::ir::any_expr(value, chosen));
                }
                false
            });
        }
        assert_eq!(loops, 2);
        // Numbers of which one is declared behind the first `select`, or in another block.
        for body in [
            "a = select(n, x, y); m = n / 2; b = select(m, x, y); parallel p by N o.at(p) = a.at(p) + b.at(p);",
            "if (n > 1) { m = n / 2; v = select(m, x, y); parallel p by N o.at(p) = v.at(p); } \
             else { k = n; v = select(k, x, y); parallel p by N o.at(p) = v.at(p); }",
        ] {
            of(body);
        }
    }

    #[test]
    fn what_one_arm_exchanges_is_not_exchanged_in_the_others() {
        let text = |rest: &str| {
            format!(
                "__co__ void f(global s32 [N] x, global s32 [N] y, int n) {{
                   s32 [N] a; s32 [N] b;
                   parallel p by N {{ a.at(p) = 1; b.at(p) = 2; }}
                   from = select(n, a, x, a);
                   parallel p by N y.at(p) = from.at(p) + b.at(p);
                   swap(a, b);
                   {rest}
                 }}"
            )
        };
        let function = testing::function(&text("parallel p by N a.at(p) = y.at(p);"));
        assert_eq!(function.kernels.len(), 7);
        let behind = text("parallel p by N x.at(p) = from.at(p);");
        assert_eq!(testing::codes(&behind, &[]), ["E0846"]);
    }

    #[test]
    fn what_a_choice_does_not_concern_is_lowered_once() {
        let function = testing::function(
            "__co__ void f(global s32 [N] x, global s32 [N] y, int n) {
               parallel p by N x.at(p) = 1;
               parallel p by N y.at(p) = select(n, x, y).at(p);
               parallel p by N x.at(p) = select(p % 2, x, y).at(p);
               parallel p by N x.at(p) = 2;
             }",
        );
        assert_eq!(function.kernels.len(), 5);
    }
}
