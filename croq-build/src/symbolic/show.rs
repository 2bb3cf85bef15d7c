//! Prints expressions in the syntax of the source: `M / 64`, `16 * px + qx`, `cdiv(M, 64)`.

use std::fmt;

use super::sym::{Atom, Sym, Term, Var};

/// The expression in the syntax of the source; `name` gives the name of a variable.
pub fn show(e: &Sym, name: &dyn Fn(Var) -> String) -> String {
    let Some(terms) = e.raw_terms() else {
        return "<overflow>".to_owned();
    };
    let mut terms: Vec<&Term> = terms.iter().collect();
    // Highest degree first, then the larger coefficient; otherwise the stored order.
    terms.sort_by_key(|t| {
        std::cmp::Reverse((
            t.factors.len(),
            if t.factors.is_empty() { 0 } else { t.coef },
        ))
    });
    // `N - 1 - x` instead of `-x + N - 1`.
    if terms.first().is_some_and(|t| t.coef < 0)
        && let Some(at) = terms.iter().position(|t| t.coef > 0)
    {
        let positive = terms.remove(at);
        terms.insert(0, positive);
    }
    let mut text = String::new();
    for term in terms {
        let negative = term.coef < 0;
        match (text.is_empty(), negative) {
            (true, true) => text.push('-'),
            (true, false) => {}
            (false, true) => text.push_str(" - "),
            (false, false) => text.push_str(" + "),
        }
        text.push_str(&show_product(term, name));
    }
    if text.is_empty() {
        "0".to_owned()
    } else {
        text
    }
}

/// The product without its sign.
fn show_product(term: &Term, name: &dyn Fn(Var) -> String) -> String {
    let mut parts: Vec<String> = Vec::new();
    if term.coef.unsigned_abs() != 1 || term.factors.is_empty() {
        parts.push(term.coef.unsigned_abs().to_string());
    }
    let alone = parts.is_empty() && term.factors.len() == 1;
    parts.extend(term.factors.iter().map(|atom| show_atom(atom, alone, name)));
    parts.join(" * ")
}

/// A quotient or remainder; it is in parentheses if it is not `alone` in its product.
fn show_atom(atom: &Atom, alone: bool, name: &dyn Fn(Var) -> String) -> String {
    let infix = |a: &Sym, op: &str, b: &Sym| {
        let text = format!(
            "{} {op} {}",
            show_operand(a, true, name),
            show_operand(b, false, name)
        );
        if alone { text } else { format!("({text})") }
    };
    match atom {
        Atom::Var(v) => name(*v),
        Atom::Div(a, b) => match rounded_up(a, b) {
            Some(a) => format!("cdiv({}, {})", show(&a, name), show(b, name)),
            None => infix(a, "/", b),
        },
        Atom::Rem(a, b) => infix(a, "%", b),
        Atom::Min(a, b) => format!("min({}, {})", show(a, name), show(b, name)),
        Atom::Max(a, b) => format!("max({}, {})", show(a, name), show(b, name)),
    }
}

/// An operand of `/` or `%`; a product on the left needs no parentheses.
fn show_operand(e: &Sym, left: bool, name: &dyn Fn(Var) -> String) -> String {
    let text = show(e, name);
    let bare = match e.raw_terms() {
        None | Some([]) => true,
        Some([t]) => {
            let product = t.factors.len() + usize::from(t.coef != 1) > 1;
            let infix = t
                .factors
                .iter()
                .any(|f| matches!(f, Atom::Div(..) | Atom::Rem(..)));
            t.coef > 0 && !infix && (left || !product)
        }
        Some(_) => false,
    };
    if bare { text } else { format!("({text})") }
}

/// `a` if the dividend is `a + b - 1`.
fn rounded_up(dividend: &Sym, b: &Sym) -> Option<Sym> {
    match b.as_int() {
        Some(b) if b > 1 && dividend.constant_part() == b - 1 => Some(dividend - (b - 1)),
        _ => None,
    }
}

/// For debugging; [`Ctx::show`](super::Ctx::show) prints the names of variables.
impl fmt::Debug for Sym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&show(self, &|v| format!("v{}", v.0)))
    }
}
