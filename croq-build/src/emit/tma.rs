//! TMA copies of boxes, and tensor maps.

use super::body::Body;
use super::expr;
use super::sym;
use super::text::{Binding, Text};
use crate::ir::threads::{Function, Kernel};
use crate::ir::{BufferId, CacheHint, PhaseBy, Scalar, SlotsOf, TensorMap, TmaMove, TmaOp};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

/// The first architecture with TMA.
pub const SM: u32 = 90;

/// The preferred names of a kernel's tensor maps.
pub fn wanted_names(function: &Function, kernel: &Kernel) -> Vec<String> {
    let name = |map: &TensorMap| {
        let buffer = function.buffers.get(map.buffer.index());
        buffer.map_or_else(|| "map".to_owned(), |b| format!("{}_map", b.name))
    };
    kernel.maps.iter().map(name).collect()
}

impl Body<'_, '_> {
    pub(super) fn tma(&mut self, span: Span, op: &TmaOp) {
        match op {
            TmaOp::Initialise {
                barriers,
                slots,
                count,
                again,
            } => {
                self.initialise(span, *barriers, slots, count, *again);
            }
            TmaOp::Arrive { .. } => self.arrive(span, op),
            TmaOp::Expect {
                barriers,
                slot,
                bytes,
            } => self.bytes_to_come(span, "arrive_expect_tx", *barriers, slot, bytes),
            TmaOp::Announce {
                barriers,
                slot,
                bytes,
            } => self.bytes_to_come(span, "expect_tx", *barriers, slot, bytes),
            TmaOp::Wait {
                barriers,
                slot,
                phase,
                by,
                clustered,
            } => {
                let scope = if *clustered { "_cluster" } else { "" };
                let number = expr::used(&self.names, phase, "condition").text;
                let parity = match phase.ty {
                    Scalar::U32 => number.clone(),
                    _ => format!("unsigned({number})"),
                };
                let awaited = match by {
                    PhaseBy::Parity => parity,
                    PhaseBy::Next => format!("croq::next_phase({parity})"),
                    PhaseBy::Number => format!("croq::phase({number})"),
                };
                let text = format!(
                    "croq::mbarrier_wait{scope}({}, {}, {}, {awaited});",
                    self.names.context,
                    self.names.buffer(*barriers),
                    sym::sym(&self.names, slot).text,
                );
                self.tma_line(span, &text);
            }
            TmaOp::Load { .. } => {
                let text = self.load(op);
                self.tma_line(span, &text);
            }
            TmaOp::Store { moved } => {
                let text = format!(
                    "croq::tma_store<{}>({}, {}, {}, {});",
                    moved.coordinates.len(),
                    self.names.map(moved.map),
                    self.coordinates(moved),
                    self.names.buffer(moved.buffer),
                    sym::sym(&self.names, &moved.offset).text
                );
                self.tma_line(span, &text);
            }
            TmaOp::Prefetch { map } => {
                let text = format!("croq::prefetch_map({});", self.names.map(*map));
                self.tma_line(span, &text);
            }
            TmaOp::WaitStores { whole } => {
                self.tma_line(span, "croq::bulk_commit();");
                let read = if *whole { "" } else { "_read" };
                self.tma_line(span, &format!("croq::bulk_wait{read}<0>();"));
            }
        }
    }

    fn arrive(&mut self, span: Span, op: &TmaOp) {
        let TmaOp::Arrive {
            barriers,
            slot,
            blocks,
            only_reads,
            sharing,
        } = op
        else {
            return;
        };
        let (how, unit, leader) = match &sharing.unit {
            Some((unit, Some(leader))) => {
                let leader = expr::used(&self.names, leader, "condition");
                // A sum depends on all of them.
                let values = sharing.after.iter().map(|v| expr::expr(&self.names, v));
                let sum = values.reduce(|sum, v| Text::infix(sum, "+", v, Binding::Sum));
                let leader = match sum {
                    Some(sum) => {
                        let computed = Text::call("croq::is_computed", &[sum]);
                        Text::infix(leader, "&&", computed, Binding::LogicAnd).text
                    }
                    None => leader.text,
                };
                ("_by", unit.threads(), format!(", {leader}"))
            }
            _ => ("", None, String::new()),
        };
        let blocks = Some(*blocks).filter(|blocks| *blocks > 1);
        let place = match (blocks, only_reads) {
            (None, _) => "",
            (Some(_), false) => "_cluster",
            (Some(_), true) => "_cluster_read",
        };
        let numbers = blocks.into_iter().chain(unit).map(|n| n.to_string());
        let numbers = match numbers.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            some => format!("<{some}>"),
        };
        let text = format!(
            "croq::mbarrier_arrive{place}{how}{numbers}({}, {}{leader});",
            self.names.buffer(*barriers),
            sym::sym(&self.names, slot).text
        );
        self.tma_line(span, &text);
    }

    /// Initialises the mbarriers of an event; `again`: they are in use, and are invalidated first.
    fn initialise(
        &mut self,
        span: Span,
        barriers: BufferId,
        slots: &Sym,
        count: &Sym,
        again: bool,
    ) {
        let name = self.names.buffer(barriers).to_owned();
        let count = self.unsigned(count);
        let one = |slot: &str| {
            let init = format!("croq::mbarrier_init({name}, {slot}, {count});");
            match again {
                true => format!("croq::mbarrier_inval({name}, {slot}); {init}"),
                false => init,
            }
        };
        let line = if slots.is_one() {
            one("0")
        } else {
            let slots = sym::sym(&self.names, slots).text;
            self.names.enter(&[]);
            let slot = self.names.fresh("slot");
            self.names.leave();
            let body = match again {
                true => format!("{{ {} }}", one(&slot)),
                false => one(&slot),
            };
            format!("for (croq::idx {slot} = 0; {slot} < {slots}; ++{slot}) {body}")
        };
        self.writer.attribute(span);
        self.writer.line(&line);
        if !again {
            self.event_sites(barriers, &name);
        }
    }

    fn load(&self, op: &TmaOp) -> String {
        let TmaOp::Load {
            moved,
            barriers,
            slot,
            hint,
            blocks,
        } = op
        else {
            return String::new();
        };
        if *blocks > 1 {
            return format!(
                "croq::tma_load_multicast<{}>({}, {}, {}, {}, {}, {}, {:#x});",
                moved.coordinates.len(),
                self.names.buffer(moved.buffer),
                sym::sym(&self.names, &moved.offset).text,
                self.names.map(moved.map),
                self.coordinates(moved),
                self.names.buffer(*barriers),
                sym::sym(&self.names, slot).text,
                (1u64 << blocks) - 1
            );
        }
        let hint = match hint {
            None => "",
            Some(CacheHint::EvictFirst) => ", croq::cache_hint::evict_first",
            Some(CacheHint::EvictLast) => ", croq::cache_hint::evict_last",
        };
        format!(
            "croq::tma_load<{}{hint}>({}, {}, {}, {}, {}, {});",
            moved.coordinates.len(),
            self.names.buffer(moved.buffer),
            sym::sym(&self.names, &moved.offset).text,
            self.names.map(moved.map),
            self.coordinates(moved),
            self.names.buffer(*barriers),
            sym::sym(&self.names, slot).text
        )
    }

    /// The description of an event for reports of the simulated GPU, if these mbarriers belong to
    /// one.
    fn event_sites(&mut self, barriers: BufferId, name: &str) {
        let mut events = self.names.function.events.iter();
        let Some(event) = events.find(|event| event.barriers == barriers) else {
            return;
        };
        // Reports only have lines: sites with the same line and threads are one.
        let mut known = SortedSet::new();
        for site in &event.sites {
            let mut flags = match (event.ready, site.cluster) {
                (false, false) => "0",
                (true, false) => "CROQ_SITE_READY",
                (false, true) => "CROQ_SITE_CLUSTER",
                (true, true) => "CROQ_SITE_READY | CROQ_SITE_CLUSTER",
            }
            .to_owned();
            if let (SlotsOf::One(slot), 2..) = (site.slots, event.slots) {
                flags.push_str(&format!(" | {}u * CROQ_SITE_SLOT", u64::from(slot) + 1));
            }
            let threads = super::writer::quoted(&site.threads());
            let line = self.writer.line_of(site.span);
            if !known.insert((line, flags.clone(), threads.clone())) {
                continue;
            }
            self.writer.attribute(site.span);
            let text = format!("croq::event_site({name}, {flags}, {threads});");
            self.writer.line(&text);
        }
    }

    fn bytes_to_come(
        &mut self,
        span: Span,
        how: &str,
        barriers: BufferId,
        slot: &Sym,
        bytes: &Sym,
    ) {
        let text = format!(
            "croq::mbarrier_{how}({}, {}, {});",
            self.names.buffer(barriers),
            sym::sym(&self.names, slot).text,
            self.unsigned(bytes)
        );
        self.tma_line(span, &text);
    }

    fn unsigned(&self, sym: &Sym) -> String {
        match sym.as_int() {
            Some(n) => n.to_string(),
            None => format!("unsigned({})", sym::sym(&self.names, sym).text),
        }
    }

    fn tma_line(&mut self, span: Span, text: &str) {
        self.writer.statement(span);
        self.writer.line(text);
    }

    /// Innermost first, as the hardware requires.
    fn coordinates(&self, moved: &TmaMove) -> String {
        self.innermost_first(&moved.coordinates)
    }

    fn innermost_first(&self, syms: &[Sym]) -> String {
        let texts: Vec<String> = syms
            .iter()
            .rev()
            .map(|s| sym::sym(&self.names, s).text)
            .collect();
        format!("{{{}}}", texts.join(", "))
    }

    /// Declares a launch's tensor maps, and returns their names.
    pub(super) fn maps(&mut self, span: Span, kernel: &Kernel) -> Vec<String> {
        let function = self.names.function;
        let mut names = Vec::new();
        for (map, wanted) in kernel.maps.iter().zip(wanted_names(function, kernel)) {
            let name = self.names.fresh(&wanted);
            let mut memory = self.names.buffer(map.buffer).to_owned();
            if !map.base.is_zero() {
                memory = format!(
                    "croq::from_element({memory}, {})",
                    sym::sym(&self.names, &map.base).text
                );
            }
            let lists = [&map.extents, &map.strides, &map.extent_of_box]
                .map(|list| self.innermost_first(list))
                .join(", ");
            let layout = format!(
                "croq::tensor_layout<{}>{{{lists}, {}, {}}}",
                map.extents.len(),
                map.swizzle,
                map.promotion
            );
            self.writer.attribute(span);
            self.writer.line(&format!("croq::tensor_map {name};"));
            self.writer.attribute(span);
            self.writer.line(&format!(
                "CROQ_TRY(croq::make_tensor_map(host, {name}, {memory}, {layout}));"
            ));
            names.push(name);
        }
        names
    }
}
