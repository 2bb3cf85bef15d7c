//! Choices by `select` among tensors that are not parts of one allocation: what depends on one is
//! lowered once for each operand.

use crate::source::Span;
use crate::symbolic::{Atom, Sym};
use crate::syntax::ast;

/// A `select` whose operands are not parts of one allocation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub of: SelectId,
    pub selector: ast::Expr,
    /// The number of operands.
    pub count: usize,
    pub part: Part,
}

/// What depends on a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// An element that is read.
    Load,
    /// The statement, and those behind it if it declares a name.
    Statement,
    /// The kernel around it. The number is known in front of the kernel, and checked in it, because
    /// the kernel may not reach the `select`.
    Kernel,
}

/// A `select`: its span, and its number in its function.
pub(crate) type SelectId = (Span, usize);

/// A statement. All that one use of a macro makes have the same span: they differ by where the macro
/// has them, and by their places in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub span: Span,
    pub written: u32,
    /// The function that is called, by its number in the file and one more: instances of a template have
    /// the same text.
    pub function: usize,
    /// The number of blocks around it.
    pub blocks: usize,
    /// The number of statements of its block from it on.
    pub rest: usize,
}

#[derive(Default)]
pub(crate) struct Choices {
    /// The statement that is lowered now, and the innermost one of the host around it.
    pub statement: Option<Place>,
    pub on_host: Option<Place>,
    /// The number of open blocks.
    pub blocks: usize,
    /// The innermost function that is called.
    pub function: usize,
    /// The number of open scopes for statements that are lowered for each operand.
    pub scopes: usize,
    /// The `select` of which an element is read.
    pub load: Option<SelectId>,
    /// The choices that were made, each for one statement.
    pub made: Vec<Made>,
    /// The selectors of the arms around.
    pub numbers: Vec<Known>,
    /// The number of operands for which something was lowered.
    pub lowered: usize,
}

/// A choice that was made for a statement: the position of the operand.
pub(crate) struct Made {
    pub choice: Choice,
    pub statement: Option<Place>,
    pub operand: usize,
}

/// What a selector is in an arm.
pub(crate) struct Known {
    pub number: Sym,
    pub operand: usize,
    /// If the arm is for all other numbers, too, because none was checked: the number of operands.
    pub or_outside: Option<usize>,
}

impl Choices {
    /// The choice that was made for this `select` in the statement that is lowered now.
    pub fn made_for(&self, select: SelectId) -> Option<&Made> {
        let of_statement = |at: Option<Place>| at == self.statement || at == self.on_host;
        let mut made = self.made.iter().rev();
        made.find(|made| of_statement(made.statement) && made.choice.of == select)
    }

    /// What the selector of so many operands is, if it is one of them and follows from those of the
    /// arms around: `1 - n` is 1 where `n` is 0, and `(n + 1) % 2` is 1 where `n % 2` is 0, because
    /// neither is negative.
    pub fn implied(&self, number: &Sym, count: usize) -> Option<i64> {
        let last = i64::try_from(count).ok()?.checked_sub(1)?;
        self.numbers.iter().find_map(|known| {
            let at = i64::try_from(known.operand).ok()?;
            // Where the other number may be outside, this one is, too.
            let inside = |lo: i64, hi: i64| match known.or_outside {
                None => true,
                Some(of) => lo >= 0 && usize::try_from(hi).is_ok_and(|hi| hi < of),
            };
            if let Some(apart) = (number - &known.number).as_int() {
                let inside = inside(apart.checked_neg()?, last.checked_sub(apart)?);
                return inside.then(|| at.checked_add(apart)).flatten();
            }
            if let Some(sum) = (number + &known.number).as_int() {
                let inside = inside(sum.checked_sub(last)?, sum);
                return inside.then(|| sum.checked_sub(at)).flatten();
            }
            let (dividend, divisor) = remainder(number)?;
            let (other, same) = remainder(&known.number)?;
            let apart = (dividend - other).as_int().filter(|_| same == divisor)?;
            // -1 is congruent to 1.
            let of_two = divisor == 2 && known.or_outside == Some(2);
            let congruent = known.or_outside.is_none() || of_two;
            congruent.then_some(at.checked_add(apart)?.rem_euclid(divisor))
        })
    }
}

/// The parts of a remainder by a positive constant.
fn remainder(number: &Sym) -> Option<(&Sym, i64)> {
    let mut terms = number.terms();
    let (Some((1, [Atom::Rem(dividend, divisor)])), None) = (terms.next(), terms.next()) else {
        return None;
    };
    let divisor = divisor.as_int().filter(|n| *n > 0)?;
    Some((dividend, divisor))
}
