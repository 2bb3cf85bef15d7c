//! Events of a single thread. It alone triggers and waits, so a `wait` has been answered when it comes or never will be:
//! an event is a bit in a variable of the thread, and a wait a check.

use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Expr, ExprKind, LocalId, Role, Scalar, StmtKind, UnOp};
use crate::sema::Checker;
use crate::sema::names::scope::Entity;
use crate::source::Span;
use crate::syntax::ast::{self, EventItem};

/// Bits of the variable.
const SLOTS: u64 = 64;

pub(crate) struct Flag {
    name: String,
    local: LocalId,
    array: Vec<u64>,
    ready: bool,
    /// Where first.
    waited: Option<Span>,
    triggered: Option<Span>,
}

impl Checker<'_> {
    pub(crate) fn flag_declaration(&mut self, count: Option<&ast::Expr>, items: &[EventItem]) {
        if let Some(count) = count.filter(|e| self.const_int(e) != Some(1)) {
            self.report(
                Diagnostic::new(
                    "W1003",
                    count.span,
                    "only one thread triggers a `local` event",
                )
                .label("not one")
                .help("remove the number, or write `shared event`"),
            );
        }
        for item in items {
            let entity = self.flag(item).map_or(Entity::Poison, Entity::Flag);
            self.declare(&item.name, entity);
        }
    }

    fn flag(&mut self, item: &EventItem) -> Option<usize> {
        let mut array = Vec::new();
        for extent in &item.array {
            array.push(self.array_extent(extent, "event")?);
        }
        let (name, span) = (item.name.text.clone(), item.name.span);
        if array.iter().product::<u64>() > SLOTS {
            self.unsupported(span, &format!("an array of more than {SLOTS} events"));
            return None;
        }
        let local = self.new_local(&name, Scalar::U64, true, Role::Value, span);
        self.varying.insert(local);
        let first = match item.ready {
            Some(_) => bits(u64::MAX, span),
            None => bits(0, span),
        };
        self.emit(
            StmtKind::Let {
                local,
                value: Some(first),
            },
            span,
        );
        self.flags.push(Flag {
            name,
            local,
            array,
            ready: item.ready.is_some(),
            waited: None,
            triggered: None,
        });
        Some(self.flags.len() - 1)
    }

    pub(crate) fn trigger_flag(&mut self, at: usize, e: &ast::Expr, cluster: bool, span: Span) {
        if cluster {
            let name = self.flags.get(at).map_or("", |f| f.name.as_str());
            let text = format!("`{name}` is an event of one thread: no block can be told by it");
            self.report(
                Diagnostic::new("E1030", e.span, text)
                    .label("`local`")
                    .help("declare it `shared`"),
            );
            return;
        }
        let Some(flag) = self.flags.get_mut(at) else {
            return;
        };
        flag.triggered.get_or_insert(span);
        let local = flag.local;
        let Some(slots) = self.flag_slots(at, e) else {
            return;
        };
        let value = op(BinOp::Or, read(local, span), slots);
        self.emit(StmtKind::Assign { local, value }, span);
    }

    pub(crate) fn wait_flag(&mut self, at: usize, e: &ast::Expr, span: Span) {
        let Some(flag) = self.flags.get_mut(at) else {
            return;
        };
        flag.waited.get_or_insert(span);
        let (local, name) = (flag.local, flag.name.clone());
        let Some(slots) = self.flag_slots(at, e) else {
            return;
        };
        let set = op(BinOp::And, read(local, span), slots.clone());
        let cond = ExprKind::Binary(BinOp::Eq, set, slots.clone());
        let cond = Expr::new(cond, Scalar::Bool, span);
        let message =
            format!("a thread waits for `{name}`, which it has not triggered, and nobody else can");
        let check = self.check_row("R18", message, span);
        let values = Vec::new();
        self.emit(
            StmtKind::Check {
                check,
                cond,
                values,
            },
            span,
        );
        let rest = Expr::new(ExprKind::Unary(UnOp::BitNot, slots), Scalar::U64, span);
        let value = op(BinOp::And, read(local, span), rest);
        self.emit(StmtKind::Assign { local, value }, span);
    }

    /// The bits of the slots that an operand means.
    fn flag_slots(&mut self, at: usize, e: &ast::Expr) -> Option<Expr> {
        let flag = self.flags.get(at)?;
        let (name, array) = (flag.name.clone(), flag.array.clone());
        let count: u64 = crate::sema::memory::buffers::elements_of(&array);
        let mut subscripts = Vec::new();
        let mut root = e;
        loop {
            match &*root.kind {
                ast::ExprKind::Subscript(inner, list) => {
                    subscripts.splice(0..0, list.iter());
                    root = inner;
                }
                ast::ExprKind::Paren(inner) => root = inner,
                ast::ExprKind::At(..) => {
                    let text =
                        format!("`{name}` is an event of one thread, whose slots have no order");
                    self.report(
                        Diagnostic::new("E1020", e.span, text)
                            .label("no order of slots")
                            .help(format!("name the slot: `{name}[i]`")),
                    );
                    return None;
                }
                _ => break,
            }
        }
        if subscripts.is_empty() {
            let all = u64::MAX >> (SLOTS - count.clamp(1, SLOTS));
            return Some(bits(all, e.span));
        }
        let slot = self.slot_at(&name, &array, &subscripts, e.span)?;
        let one = bits(1, e.span);
        Some(op(BinOp::Shl, one, Expr::index(slot, e.span)))
    }

    /// Events of threads that are waited for and never triggered, or the reverse.
    pub(crate) fn flags_of_one_side(&mut self) {
        for flag in std::mem::take(&mut self.flags) {
            let name = &flag.name;
            match (flag.waited, flag.triggered) {
                (Some(wait), None) if !flag.ready => self.report(
                    Diagnostic::new("E1008", wait, format!("nothing triggers `{name}`"))
                        .label("waits for ever")
                        .help(format!("`trigger {name};` before, in the same thread")),
                ),
                (None, Some(trigger)) => self.report(
                    Diagnostic::new("W1009", trigger, format!("nothing waits for `{name}`"))
                        .label("tells nobody")
                        .help("remove it, or `wait` where the thread goes on"),
                ),
                _ => {}
            }
        }
    }
}

fn bits(value: u64, span: Span) -> Expr {
    Expr::new(ExprKind::Int(i128::from(value)), Scalar::U64, span)
}

fn read(local: LocalId, span: Span) -> Expr {
    Expr::new(ExprKind::Local(local), Scalar::U64, span)
}

fn op(op: BinOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(ExprKind::Binary(op, a, b), Scalar::U64, span)
}
