//! MMAs by warpgroups as C++.

use super::body::Body;
use super::expr;
use super::place;
use super::scalar;
use super::sym;

use crate::ir::threads::{Function, MmaOp, Stmt, StmtKind};
use crate::ir::{
    Access, BufferId, Described, Instruction, LocalId, Source, Step, Threads, Visit, walk_block,
};
use crate::sorted::SortedSet;
use crate::symbolic::Sym;

/// Bytes of the unit of addresses in descriptors.
const UNIT: i64 = 16;

/// The numbers of columns of a file's MMAs, dense and sparse: the headers are included for just
/// these.
#[derive(Default)]
pub struct Columns {
    pub dense: SortedSet<i64>,
    pub sparse: SortedSet<i64>,
}

pub fn columns(functions: &[Function]) -> Columns {
    struct Find(Columns);
    impl Visit<Threads> for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Mma(op) = &stmt.kind
                && let MmaOp::Step(Step::Instruction(i)) = &**op
            {
                let columns = match i.metadata {
                    None => &mut self.0.dense,
                    Some(_) => &mut self.0.sparse,
                };
                columns.insert(i.atom.n);
            }
        }
    }
    let mut find = Find(Columns::default());
    for kernel in functions.iter().flat_map(|f| &f.kernels) {
        walk_block(&kernel.body, &mut find);
    }
    find.0
}

impl Body<'_, '_> {
    pub(super) fn step(&mut self, step: &Step) -> String {
        match step {
            Step::Fence { registers } => format!("croq::wgmma_fence({});", self.all(registers)),
            Step::Commit => "croq::wgmma_commit();".to_owned(),
            Step::Wait { younger, registers } => {
                format!("croq::wgmma_wait<{younger}>({});", self.all(registers))
            }
            Step::Describe {
                local,
                of,
                swizzle,
                leading,
                stride,
                computed_once,
            } => {
                let (of, leading) = (self.register(of), sym::sym(&self.names, leading).text);
                let value = format!("croq::describe({of}, {swizzle}, {leading}, {stride})");
                let value = match computed_once {
                    true => format!("croq::computed_once({value})"),
                    false => value,
                };
                self.descriptor(*local, value)
            }
            Step::Advance {
                local,
                by,
                bytes,
                computed_once,
            } => {
                let by = self.names.local(*by).to_owned();
                // A descriptor counts units of 16 bytes. A division of their product by 16 would not
                // be the number of units to C++, where the product may have overflowed.
                let units = self.names.function.cx.div(bytes, &Sym::int(UNIT));
                let whole_units = &units * UNIT == *bytes;
                let distance = if whole_units { &units } else { bytes };
                let distance = sym::sym(&self.names, distance).text;
                let of = format!("({by}, unsigned({distance}))");
                let value = match (computed_once, whole_units) {
                    (true, true) => format!("croq::computed_once{of}"),
                    (true, false) => format!("croq::computed_once(croq::advance{of})"),
                    (false, true) => format!("croq::advance_units{of}"),
                    (false, false) => format!("croq::advance{of}"),
                };
                self.descriptor(*local, value)
            }
            Step::Instruction(instruction) => self.instruction(instruction),
        }
    }

    fn descriptor(&mut self, local: LocalId, value: String) -> String {
        let name = self.names.declare_local(local);
        format!("const croq::matrix_descriptor {name} = {value};")
    }

    fn instruction(&self, i: &Instruction) -> String {
        let b = scalar::cpp(i.b.elem);
        let turned = |d: &Described| if d.k_last { "false" } else { "true" };
        let shape = format!("{}, {}", i.atom.n, i.atom.k);
        let (op, shape, metadata) = match &i.metadata {
            None => ("wgmma", shape, String::new()),
            Some(metadata) => (
                "wgmma_sp",
                format!("{shape}, {}", metadata.selector),
                format!("{}, ", self.register(&metadata.register)),
            ),
        };
        let acc = self.register(&i.acc);
        let by_b = self.described(&i.b);
        let mut accumulate = expr::used(&self.names, &i.accumulate, "condition").text;
        if i.metadata.is_none() && matches!(accumulate.as_str(), "true" | "false") {
            accumulate = format!("croq::constant<{accumulate}>()");
        }
        match &i.a {
            Source::Memory(a) => format!(
                "croq::{op}<{shape}, {}, {b}, {}, {}>({acc}, {}, {by_b}, {metadata}{accumulate});",
                scalar::cpp(a.elem),
                turned(a),
                turned(&i.b),
                self.described(a)
            ),
            Source::Registers(a) => format!(
                "croq::{op}<{shape}, {b}, {}>({acc}, {}, {by_b}, {metadata}{accumulate});",
                turned(&i.b),
                self.register(a)
            ),
        }
    }

    fn all(&self, buffers: &[BufferId]) -> String {
        let names: Vec<&str> = buffers.iter().map(|id| self.names.buffer(*id)).collect();
        names.join(", ")
    }

    fn described(&self, at: &Described) -> String {
        let name = self.names.local(at.by);
        if at.bytes == 0 {
            return name.to_owned();
        }
        format!("croq::advance({name}, {})", at.bytes)
    }

    /// A handle and the element.
    fn register(&self, access: &Access) -> String {
        let buffer = self.names.buffer(access.view.buffer);
        format!("{buffer}, {}", place::place(&self.names, access).text)
    }
}
