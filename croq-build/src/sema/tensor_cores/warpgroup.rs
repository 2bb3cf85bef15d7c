//! Products by a warpgroup (WGMMA): operands where they lie in shared memory, B always, A or in registers.

use super::Named;
use super::multiply::turned;
use super::shapes::select_for_warpgroup;
use crate::diagnostics::Diagnostic;
use crate::ir::{
    Expr, Layout, Level, MmaOp, Operand, Product, Scalar, Spread, Storage, Tile, View,
};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::sema::values::value::{Data, Value};
use crate::source::Span;
use crate::syntax::ast::{self, MmaStmt};

/// The only target with these instructions.
const TARGET: &str = "sm_90a";

/// A product with a name, for which the program waits.
pub(crate) struct Operation {
    name: String,
    span: Span,
    /// Where, and under how many conditions.
    waited: Option<(Span, u32)>,
    /// Loops and conditions around it.
    loops: u32,
    conditions: u32,
}

/// What is multiplied.
struct Factor {
    place: Place,
    shape: [i64; 2],
    elem: Scalar,
    name: String,
    span: Span,
}

enum Place {
    Registers(Named),
    Memory(View),
}

impl Checker<'_> {
    pub(crate) fn is_a_warpgroup(&self) -> bool {
        self.level() == Some(Level::Group4)
    }

    /// Whether there is a target on which a warpgroup multiplies; others are left out.
    pub(crate) fn by_a_warpgroup(&mut self, span: Span, what: &str) -> Option<()> {
        let targets = self.options.targets.iter().map(|t| t.name.as_str());
        let (with, without): (Vec<&str>, Vec<&str>) = targets.partition(|name| *name == TARGET);
        let others = without.join(" and ");
        if with.is_empty() && !others.is_empty() {
            self.report(
                Diagnostic::new("E0905", span, format!("{what} by a warpgroup needs {TARGET}"))
                    .label(format!("this is built for {others} alone"))
                    .help("add the architecture, `.arch(\"sm_90a\")`; or use `: group`, one warp, which every target has"),
            );
            return None;
        }
        let header = self.kernel.as_ref().map_or(span, |k| k.header);
        if !others.is_empty() && self.older_left_out.insert(header) {
            let text = format!("this kernel is built for {TARGET} alone");
            let label = format!("{others} has no products by warpgroups");
            self.report(Diagnostic::new("N0905", span, text).label(label));
        }
        Some(())
    }

    /// `a = mma.load view;` of shared memory names the view: a warpgroup multiplies it where it is.
    pub(crate) fn named_tile(&mut self, name: &ast::Name, data: Data) {
        self.declare(name, Entity::View(data));
    }

    /// `mma.load view, a;` into registers that there are.
    pub(crate) fn load_into(
        &mut self,
        source: &ast::Expr,
        target: &ast::Expr,
        span: Span,
    ) -> Option<()> {
        let data = self.tile_of(source, "mma.load")?;
        let into = self.fragment(target, false)?;
        let shape = self.static_extents(&data.view, "mma.load")?;
        let id = into.part.buffer;
        self.edge_of_load(&data);
        if self.fragment_shape(id).as_deref() != Some(&shape) {
            let own = self.fragment_shape(id).unwrap_or_default();
            let own: Vec<String> = own.iter().map(i64::to_string).collect();
            let text = format!(
                "the tile is [{}, {}], `{}` is [{}]",
                shape[0],
                shape[1],
                into.name,
                own.join(", ")
            );
            self.report(Diagnostic::new("E0902", span, text).label("other extents"));
            return None;
        }
        let (from, to) = (self.f.buffer(data.view.buffer).elem, self.f.buffer(id).elem);
        if from != to {
            let text = format!(
                "the tile has elements of `{from}`, `{}` of `{to}`",
                into.name
            );
            self.report(Diagnostic::new("E0902", span, text).label("nothing is converted here"));
            return None;
        }
        self.mark(&data.view, true, false);
        self.spread_needed(id, into.span);
        let (into, source) = (into.part, data.view);
        self.emit_mma(MmaOp::Load { into, source }, span);
        Some(())
    }

    pub(crate) fn multiply_by_warpgroup(
        &mut self,
        m: &MmaStmt,
        rows: [bool; 2],
        span: Span,
    ) -> Option<()> {
        let [c, a, b, ..] = m.operands.as_slice() else {
            return None;
        };
        let sums = self.fragment(c, false);
        let (a, b) = (self.factor(a), self.factor(b));
        let (sums, a, b) = (sums?, a?, b?);
        let Place::Memory(of_b) = b.place else {
            self.b_in_registers(&b);
            return None;
        };
        let [a_row, b_row] = rows;
        let ([m_, k], [n, of_b_k]) = (turned(a.shape, !a_row), turned(b.shape, !b_row));
        if k != of_b_k {
            let sides = ((a.span, a.shape, a_row), (b.span, b.shape, b_row));
            self.k_differs(sides.0, sides.1, [k, of_b_k], span);
            return None;
        }
        let elem = self.sums_type(&sums, a.elem);
        let types = [a.elem, b.elem, elem];
        let atom = match select_for_warpgroup(types, [m_, n, k]) {
            Ok(atom) => atom,
            Err(missing) => {
                self.no_instruction(types, [m_, n, k], missing, TARGET, span);
                return None;
            }
        };
        self.sums_shape(&sums, [m_, n], span)?;
        let order = self.order_of_parts(m, k / atom.k)?;
        self.spread(
            &sums,
            Spread::Matrix(Layout::sums(16, false).of_warpgroup()),
        )?;
        let a = match a.place {
            Place::Registers(named) => {
                let layout = Layout::operand(16, a.elem, !a_row).of_warpgroup();
                self.spread(&named, Spread::Matrix(layout))?;
                Operand::Registers(named.part)
            }
            Place::Memory(view) => {
                let tile = self.tile_in_memory(view, a_row, a.elem, &a.name, a.span)?;
                Operand::Memory(tile)
            }
        };
        let b = self.tile_in_memory(of_b, b_row, b.elem, &b.name, b.span)?;
        self.many_registers(&sums, 0);
        self.lossy_sums(&sums, k);
        let number = self.spreads.operations.len();
        let product = Product {
            sums: sums.part,
            a,
            b,
            atom,
            order,
            accumulate: Expr::bool(true, span),
            operation: m
                .is_async
                .then_some(number)
                .and_then(|n| u32::try_from(n).ok()),
        };
        self.emit_mma(MmaOp::Product(Box::new(product)), span);
        if m.is_async {
            self.named_product(m.target.as_ref(), number, span);
        }
        Some(())
    }

    fn named_product(&mut self, name: Option<&ast::Name>, number: usize, span: Span) {
        self.spreads.operations.push(Operation {
            name: name.map_or_else(String::new, |n| n.text.clone()),
            span,
            waited: None,
            loops: self.loops,
            conditions: self.conditional,
        });
        if let Some(name) = name {
            self.declare(name, Entity::Operation(number));
        }
    }

    /// `wait q;`
    pub(crate) fn wait_for_product(&mut self, number: usize, at: Span) {
        if self.by_a_warp(at, "waiting for a product").is_none() {
            return;
        }
        let (loops, conditions) = (self.loops, self.conditional);
        let Some(operation) = self.spreads.operations.get_mut(number) else {
            return;
        };
        let (name, begun, around) = (operation.name.clone(), operation.span, operation.loops);
        let under = conditions.saturating_sub(operation.conditions);
        let earlier = operation.waited.replace((at, under));
        // Two waits under conditions may be each other's alternative.
        let twice = match earlier {
            Some((_, before)) => before == 0 || under == 0,
            None => loops > around,
        };
        if twice {
            let mut d = Diagnostic::new(
                "E1010",
                at,
                format!("`{name}` is waited for more than once"),
            )
            .label("it was over before")
            .also(begun, "begun here");
            if let Some((first, _)) = earlier {
                d = d.also(first, "and waited for here");
            }
            self.report(d.help("wait for each product once"));
            return;
        }
        if let Ok(number) = u32::try_from(number) {
            self.emit_mma(MmaOp::Await(number), at);
        }
    }

    /// At the function's end.
    pub(crate) fn products_not_waited_for(&mut self) {
        self.sums_of_others();
        for operation in std::mem::take(&mut self.spreads.operations) {
            if operation.waited.is_some() {
                continue;
            }
            let text = match operation.name.as_str() {
                "" => "this product has no name, so that nothing can wait for it".to_owned(),
                name => format!("`{name}` is never waited for"),
            };
            self.report(
                Diagnostic::new("E1010", operation.span, text)
                    .label("under way from here on")
                    .help("write `q = mma.….async …; … wait q;`, or leave `.async` out"),
            );
        }
    }

    fn factor(&mut self, e: &ast::Expr) -> Option<Factor> {
        let fragment = match self.expr(e) {
            Value::Data(data) => self.f.buffer(data.view.buffer).storage == Storage::Fragment,
            Value::Error => return None,
            _ => false,
        };
        if fragment {
            let named = self.fragment(e, false)?;
            return Some(Factor {
                shape: self.operand_shape(&named)?,
                elem: self.f.buffer(named.part.buffer).elem,
                name: named.name.clone(),
                span: e.span,
                place: Place::Registers(named),
            });
        }
        let data = self.tile_of(e, "a product")?;
        let shape = self.static_extents(&data.view, "a product")?;
        let buffer = self.f.buffer(data.view.buffer);
        let elem = buffer.elem;
        if buffer.storage != Storage::Shared {
            let name = &data.name;
            self.report(
                Diagnostic::new(
                    "E0907",
                    e.span,
                    format!("`{name}` is in device memory, a warpgroup multiplies what is in shared memory"),
                )
                .label("not in shared memory")
                .help("copy it there first, `tma.copy … => tile;`; A alone may be loaded into registers, `mma.load.frag`"),
            );
            return None;
        }
        self.rest_of_tile(&data);
        if data.view.may_cross() {
            self.report(
                Diagnostic::new(
                    "E0901",
                    e.span,
                    format!("the tile may reach beyond `{}`", data.name),
                )
                .label("a warpgroup reads its operands whole")
                .help("cut tiles whose extents divide the buffer's"),
            );
            return None;
        }
        Some(Factor {
            shape,
            elem,
            name: data.name,
            span: e.span,
            place: Place::Memory(data.view),
        })
    }

    fn b_in_registers(&mut self, b: &Factor) {
        self.report(
            Diagnostic::new(
                "E0907",
                b.span,
                format!(
                    "`{}` is in registers, a warpgroup takes B from shared memory",
                    b.name
                ),
            )
            .label("only A may be in registers")
            .help("name the tile in shared memory itself"),
        );
    }

    /// An operand where it lies; its buffer needs a swizzle.
    fn tile_in_memory(
        &mut self,
        view: View,
        k_last: bool,
        elem: Scalar,
        name: &str,
        span: Span,
    ) -> Option<Tile> {
        if !k_last && elem.bytes() != 2 {
            self.report(
                Diagnostic::new(
                    "E0909",
                    span,
                    format!("`{name}` has K first, which a warpgroup takes only of f16 and bf16"),
                )
                .label(format!("elements of `{elem}`, `col`"))
                .help("store it with K last, and write `row`"),
            );
            return None;
        }
        self.mark(&view, true, false);
        self.swizzles.want(view.buffer, span);
        Some(Tile { view, k_last })
    }

    /// `[[schedule(k_tiles(…))]]`: which parts of K come after which.
    fn order_of_parts(&mut self, m: &MmaStmt, parts: i64) -> Option<Vec<i64>> {
        let Some(tiles) = &m.k_tiles else {
            return Some((0..parts).collect());
        };
        let at = match (tiles.first(), tiles.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => return Some((0..parts).collect()),
        };
        if parts == 1 {
            self.report(
                Diagnostic::new(
                    "E0911",
                    at,
                    "this product is one instruction: its K has no parts",
                )
                .label("nothing to order")
                .help("remove the attribute"),
            );
            return None;
        }
        let order: Vec<Option<i64>> = tiles.iter().map(|tile| self.const_int(tile)).collect();
        let order: Option<Vec<i64>> = order.into_iter().collect();
        let mut sorted = order.clone().unwrap_or_default();
        sorted.sort_unstable();
        if !sorted.iter().copied().eq(0..parts) {
            self.report(
                Diagnostic::new(
                    "E0910",
                    at,
                    format!("the {parts} parts of K come once each"),
                )
                .label(format!("no order of the numbers from 0 to {}", parts - 1)),
            );
            return None;
        }
        order
    }
}

#[cfg(test)]
mod tests {

    fn codes(archs: &[(&str, u16)]) -> Vec<&'static str> {
        let text = "__co__ void f(f16 [64, 16] a, f16 [8, 16] b, f32 [64, 8] & c) {
          parallel by 1 : block {
            shared f16 [64, 16] as;
            shared f16 [8, 16] bs;
            dma.copy.swiz<32> a => as;
            dma.copy.swiz<32> b => bs;
            parallel g by 1 : group-4 {
              acc = mma.fill.f32 0.0f;
              mma.row.row acc, as, bs;
              mma.store acc, c;
            }
          }
        }";
        crate::sema::testing::codes(text, archs)
    }

    #[test]
    fn one_target_has_them() {
        assert_eq!(codes(&[("sm_80", 80), ("sm_90a", 90)]), ["N0905"]);
        assert!(codes(&[("sm_90a", 90)]).is_empty());
        assert!(codes(&[("sm_90", 90)]).iter().all(|code| *code == "E0905"));
        assert_eq!(
            codes(&[("sm_80", 80), ("sm_100a", 100)]).first(),
            Some(&"E0905")
        );
    }
}
