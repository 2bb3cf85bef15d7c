//! Declared fragments: sums, and tiles of registers.

use super::{Named, sym};
use crate::diagnostics::Diagnostic;
use crate::ir::{BufferId, Expr, ExprKind, Fragment, Level, MmaOp, Part, Scalar, Storage};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::sema::values::value::Value;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, BufferItem, ElemType, MmaStmt};

impl Checker<'_> {
    /// `c = mma.fill.T V`, or `mma.fill c, V`.
    pub(crate) fn mma_fill(
        &mut self,
        m: &MmaStmt,
        elem: Option<ElemType>,
        span: Span,
    ) -> Option<()> {
        match (&m.target, m.operands.as_slice()) {
            (Some(name), [value]) => {
                let elem = match elem {
                    Some(elem) => Some(self.element_type(elem, span)?),
                    None => None,
                };
                self.fill_named(name, elem, value, span)
            }
            (None, [target, value]) => {
                self.registers_here(span, "`mma.fill`")?;
                let named = self.fragment(target, true)?;
                self.refill(named, value, span)
            }
            _ => {
                self.report(
                    Diagnostic::new("E0100", span, "`mma.fill` takes a value")
                        .label("expected `c = mma.fill.f32 0.0f` or `mma.fill c, 0.0f`"),
                );
                None
            }
        }
    }

    /// By a name: makes sums, or fills those that there are.
    fn fill_named(
        &mut self,
        name: &ast::Name,
        elem: Option<Scalar>,
        value: &ast::Expr,
        span: Span,
    ) -> Option<()> {
        self.registers_here(span, "`mma.fill`")?;
        if let Some(Entity::Buffer { id, .. }) =
            self.scopes.find(&name.text).map(|b| b.entity.clone())
            && self.f.buffer(id).storage == Storage::Fragment
        {
            let part = Part {
                buffer: id,
                number: None,
                span: name.span,
            };
            let named = Named {
                part,
                name: name.text.clone(),
                span: name.span,
            };
            return self.refill(named, value, span);
        }
        let value = self.fill_value(value, elem)?;
        let id = self.new_fragment(name, elem, &[], &[]);
        self.each(id, value, span);
        Some(())
    }

    fn refill(&mut self, named: Named, value: &ast::Expr, span: Span) -> Option<()> {
        let id = named.part.buffer;
        if let Some(at) = self.spreads.loaded.get(&id).copied() {
            self.report(
                Diagnostic::new(
                    "E0903",
                    named.span,
                    format!("`{}` is an operand", named.name),
                )
                .label("loaded from memory, not filled")
                .also(at, "loaded here"),
            );
            return None;
        }
        let elem = (!self.spreads.untyped.contains(&id)).then(|| self.f.buffer(id).elem);
        let value = self.fill_value(value, elem)?;
        let part = named.part;
        self.emit_mma(
            MmaOp::Each {
                part,
                add: false,
                value,
            },
            span,
        );
        Some(())
    }

    /// Every thread of a kernel has registers, except inside a level of single threads.
    fn registers_here(&mut self, span: Span, what: &str) -> Option<()> {
        match self.level() {
            Some(Level::Block | Level::Group4 | Level::Group) => Some(()),
            _ => self.by_a_warp(span, what),
        }
    }

    fn each(&mut self, id: BufferId, value: Expr, span: Span) {
        let part = Part {
            buffer: id,
            number: None,
            span,
        };
        self.emit_mma(
            MmaOp::Each {
                part,
                add: false,
                value,
            },
            span,
        );
    }

    /// The value of a fill: of type `elem`, or of its own as long as the fragment has none.
    fn fill_value(&mut self, e: &ast::Expr, elem: Option<Scalar>) -> Option<Expr> {
        let value = self.expr(e);
        let scalar = match &value {
            Value::Int(_) => true,
            Value::Scalar(_) => true,
            Value::Error => return None,
            _ => false,
        };
        if !scalar {
            let kind = value.kind();
            self.report(
                Diagnostic::new(
                    "E0903",
                    e.span,
                    format!("fragments are filled with a scalar, this is {kind}"),
                )
                .label("not a scalar"),
            );
            return None;
        }
        let is_zero = match &value {
            Value::Scalar(v) => matches!(&*v.kind, ExprKind::Float(z) if *z == 0.0),
            Value::Int(i) => i.value.is_zero(),
            _ => false,
        };
        match (elem, value) {
            (Some(elem), _) if is_zero && elem.is_float() => {
                Some(Expr::new(ExprKind::Float(0.0), elem, e.span))
            }
            (Some(elem), value) => self.convert(value, elem, e.span),
            (None, Value::Scalar(v)) => Some(v),
            (None, value) => self.convert(value, Scalar::S32, e.span),
        }
    }

    /// A fragment with a name. Without a type it takes that of the first product's A.
    pub(crate) fn new_fragment(
        &mut self,
        name: &ast::Name,
        elem: Option<Scalar>,
        shape: &[i64],
        array: &[u64],
    ) -> BufferId {
        let count = crate::sema::memory::buffers::elements_of(array);
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let id = self.new_buffer(
            &name.text,
            elem.unwrap_or(Scalar::F32),
            Storage::Fragment,
            shape.iter().map(|n| sym(*n)).collect(),
            Sym::int(count),
            name.span,
        );
        self.f.fragments.insert(
            id,
            Fragment {
                shape: shape.to_vec(),
                count,
                spread: None,
            },
        );
        if elem.is_none() {
            self.spreads.untyped.insert(id);
        }
        self.declare(
            name,
            Entity::Buffer {
                id,
                array: array.to_vec(),
            },
        );
        id
    }

    /// `frag f32 [R, C] t {v};`, `frag.f32 c[2] {v};`
    pub(crate) fn frag(
        &mut self,
        elem: Option<&(ElemType, Span)>,
        shape: Option<&[ast::Expr]>,
        items: &[BufferItem],
        span: Span,
    ) {
        let done = self.registers_here(span, "`frag`").and_then(|()| {
            let elem = match elem {
                Some((elem, at)) => Some(self.element_type(*elem, *at)?),
                None => None,
            };
            let shape = match shape {
                Some(shape) => self.fragment_extents(shape, span)?,
                None => Vec::new(),
            };
            Some((elem, shape))
        });
        for item in items {
            let made = done
                .as_ref()
                .and_then(|(elem, shape)| self.frag_item(*elem, shape, item, span));
            if made.is_none() && !self.scopes.in_innermost(&item.name.text) {
                self.declare(&item.name, Entity::Poison);
            }
        }
    }

    fn frag_item(
        &mut self,
        elem: Option<Scalar>,
        shape: &[i64],
        item: &BufferItem,
        span: Span,
    ) -> Option<()> {
        let mut array = Vec::new();
        for extent in &item.array {
            array.push(self.array_extent(extent, "fragment")?);
        }
        let value = match &item.init {
            Some(value) => Some(self.fill_value(value, elem)?),
            None => None,
        };
        let id = self.new_fragment(&item.name, elem, shape, &array);
        self.affordable(id, item.name.span)?;
        if let Some(value) = value {
            self.each(id, value, span);
        }
        Some(())
    }

    fn fragment_extents(&mut self, shape: &[ast::Expr], span: Span) -> Option<Vec<i64>> {
        let mut extents = Vec::new();
        for e in shape {
            let value = self.expr(e);
            let extent = self.to_sym(value, e.span)?;
            match extent.as_int().filter(|n| *n > 0) {
                Some(n) => extents.push(n),
                None => {
                    let shown = self.show(&extent);
                    self.report(
                        Diagnostic::new(
                            "E0901",
                            e.span,
                            format!("the extents of a fragment are constants, this is `{shown}`"),
                        )
                        .label("registers are given out when the kernel is compiled"),
                    );
                    return None;
                }
            }
        }
        if matches!(extents.len(), 1 | 2) {
            return Some(extents);
        }
        self.report(
            Diagnostic::new(
                "E0901",
                span,
                format!(
                    "a fragment is a matrix or a column, this has rank {}",
                    extents.len()
                ),
            )
            .label("expected one or two extents"),
        );
        None
    }

    /// `c += s` on a fragment; false when the target is none.
    pub(crate) fn fragment_update(
        &mut self,
        target: &ast::Expr,
        op: Option<ast::BinOp>,
        value: &ast::Expr,
        span: Span,
    ) -> bool {
        let mut base = target;
        while let ast::ExprKind::Subscript(inner, _) = &*base.kind {
            base = inner;
        }
        let ast::ExprKind::Name(name) = &*base.kind else {
            return false;
        };
        let Some(Entity::Buffer { id, .. }) = self.scopes.find(name).map(|b| b.entity.clone())
        else {
            return false;
        };
        if self.f.buffer(id).storage != Storage::Fragment {
            return false;
        }
        if op != Some(ast::BinOp::Add) {
            self.report(
                Diagnostic::new(
                    "E0433",
                    span,
                    "of a fragment as a whole only `+=` with a scalar is computed",
                )
                .label("not of all elements at once")
                .help(format!(
                    "write `apply {{i, j}} in {name}.span {name}.at(i, j) = …;`"
                )),
            );
            return true;
        }
        let _ = self.registers_here(span, "a fragment").and_then(|()| {
            let named = self.fragment(target, true)?;
            let elem = self.f.buffer(id).elem;
            let value = self.fill_value(value, Some(elem))?;
            self.emit_mma(
                MmaOp::Each {
                    part: named.part,
                    add: true,
                    value,
                },
                span,
            );
            Some(())
        });
        true
    }
}
