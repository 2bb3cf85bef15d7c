//! The output buffer, and a unique name for each declaration of a function.

use std::fmt::{self, Write as _};

use super::super::*;
use super::words::*;
use crate::sorted::SortedMap;
use crate::symbolic::{self, Sym, Var};

pub struct Printer<'a, P: Phase> {
    pub function: &'a Function<P>,
    pub locals: Vec<String>,
    pub buffers: Vec<String>,
    pub futures: Vec<String>,
    pub events: Vec<String>,
    pub out: String,
    pub depth: usize,
}

/// Makes names unique: the second `k` is `k.2`. An empty name is replaced by `kind`.
fn unique<'n>(kind: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut seen: SortedMap<&str, u32> = SortedMap::new();
    let names = names.map(|name| {
        let count = seen.entry(name).or_default();
        *count += 1;
        match (name, *count) {
            ("", count) => format!("{kind}.{count}"),
            (name, 1) => name.to_owned(),
            (name, count) => format!("{name}.{count}"),
        }
    });
    names.collect()
}

impl<'a, P: Phase> Printer<'a, P> {
    pub fn new(function: &'a Function<P>) -> Self {
        Self {
            function,
            locals: unique("local", function.locals.iter().map(|l| l.name.as_str())),
            buffers: unique("buffer", function.buffers.iter().map(|b| b.name.as_str())),
            futures: unique("future", function.futures.iter().map(|f| f.name.as_str())),
            events: unique("event", function.events.iter().map(|e| e.name.as_str())),
            out: String::new(),
            depth: 0,
        }
    }

    pub fn line(&mut self, text: fmt::Arguments<'_>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        let _ = writeln!(self.out, "{text}");
    }

    // Names. An id out of range is printed as a number, because an invalid function must print as
    // well.

    pub fn local(&self, id: LocalId) -> String {
        let name = self.locals.get(id.index());
        name.map_or_else(|| format!("<local {}>", id.0), String::clone)
    }

    pub fn buffer(&self, id: BufferId) -> String {
        let name = self.buffers.get(id.index());
        name.map_or_else(|| format!("<buffer {}>", id.0), String::clone)
    }

    pub fn future(&self, id: FutureId) -> String {
        let name = self.futures.get(id.index());
        name.map_or_else(|| format!("<future {}>", id.0), String::clone)
    }

    pub fn event(&self, id: EventId) -> String {
        let name = self.events.get(id.index());
        name.map_or_else(|| format!("<event {}>", id.0), String::clone)
    }

    pub fn param(&self, id: ParamId) -> String {
        let param = self.function.params.get(id.index());
        param.map_or_else(|| format!("<parameter {}>", id.0), |p| p.name.clone())
    }

    pub fn signal(&self, at: &SignalAt) -> String {
        let id = at.signal;
        match self.function.signals.get(id.index()) {
            None => format!("<signal {}>", id.0),
            Some(s) if s.slots.is_some() => format!("{}[{}]", s.name, self.sym(&at.slot)),
            Some(s) => s.name.clone(),
        }
    }

    pub fn var(&self, var: Var) -> String {
        match self.function.var_home.get(&var) {
            Some(VarHome::Local(id)) => self.local(*id),
            Some(VarHome::Param(id)) => self.param(*id),
            Some(VarHome::Dim(id)) => {
                let dim = self.function.dims.get(id.index());
                dim.map_or_else(|| format!("<dimension {}>", id.0), |d| d.name.clone())
            }
            None => format!("<{}>", self.function.cx.name(var)),
        }
    }

    pub fn sym(&self, sym: &Sym) -> String {
        symbolic::show(sym, &|var| self.var(var))
    }

    pub fn syms(&self, syms: &[Sym]) -> String {
        listed(syms.iter().map(|s| self.sym(s)))
    }

    pub fn storage(&self, storage: Storage) -> String {
        match storage {
            Storage::Param(id) => format!("parameter {}", self.param(id)),
            Storage::Host => "device".to_owned(),
            Storage::Shared => "shared".to_owned(),
            Storage::Mbarriers => "mbarriers".to_owned(),
            Storage::Local => "local".to_owned(),
            Storage::Fragment => "fragment".to_owned(),
        }
    }

    pub fn declarations(&mut self) {
        let function = self.function;
        let params = function.params.iter().map(|param| {
            let kind = match &param.kind {
                ParamKind::Scalar { ty, .. } => ty.to_string(),
                ParamKind::Stream => "stream".to_owned(),
                ParamKind::Tensor(tensor) => {
                    let extents = tensor.extents.iter().map(|extent| match extent {
                        Extent::Static(n) => n.to_string(),
                        Extent::Dim { dim, .. } => {
                            let dim = function.dims.get(dim.index());
                            dim.map_or_else(String::new, |d| d.name.clone())
                        }
                        Extent::Unbounded => "??".to_owned(),
                    });
                    let passing = match tensor.passing {
                        Passing::In => "in",
                        Passing::InOut => "inout",
                        Passing::Global => "global",
                    };
                    format!("{passing} {} [{}]", tensor.elem, listed(extents))
                }
            };
            format!("{}: {kind}", param.name)
        });
        let params = listed(params);
        let result = |ty: &ResultType| match ty {
            ResultType::Scalar(ty) => ty.to_string(),
            ResultType::Element(ty) => format!("element {ty}"),
            ResultType::Tensor { elem, shape } => format!("{elem} [{}]", self.syms(shape)),
        };
        let ret = match function.results.as_slice() {
            [] => String::new(),
            results => format!(" -> {}", listed(results.iter().map(result))),
        };
        self.line(format_args!("function {}({params}){ret}", function.name));
        self.depth += 1;
        for at in 0..function.buffers.len() {
            self.buffer_declaration(BufferId(u32::try_from(at).unwrap_or(u32::MAX)));
        }
        for (at, event) in function.events.iter().enumerate() {
            let name = self.event(EventId(u32::try_from(at).unwrap_or(u32::MAX)));
            let barriers = self.buffer(event.barriers);
            let mut notes = String::new();
            if event.ready {
                notes.push_str(", ready");
            }
            if let Some((count, _)) = event.count {
                let _ = write!(notes, ", count {count}");
            }
            if event.clustered {
                notes.push_str(", of the cluster");
            }
            let slots = event.slots;
            self.line(format_args!("event {name}[{slots}] in {barriers}{notes}"));
        }
        for signal in &function.signals {
            let ready = if signal.ready { ", ready" } else { "" };
            let slots = signal.slots.map_or_else(String::new, |n| format!("[{n}]"));
            self.line(format_args!("signal {}{slots}{ready}", signal.name));
        }
        self.depth -= 1;
    }

    pub fn buffer_declaration(&mut self, id: BufferId) {
        let function = self.function;
        let Some(buffer) = function.buffers.get(id.index()) else {
            return;
        };
        let mut notes = String::new();
        if let Some(swizzle) = &buffer.swizzle {
            let (rows, columns) = (self.sym(&swizzle.rows), self.sym(&swizzle.columns));
            let _ = write!(notes, ", swizzle {} of {rows} x {columns}", swizzle.bytes);
        }
        if let Some(fragment) = function.fragments.get(&id) {
            let shape = listed(&fragment.shape);
            let _ = write!(notes, ", {} of [{shape}]", fragment.count);
            if let Some(of) = fragment.layout {
                let _ = write!(notes, ", {}", layout(of));
            }
        }
        for (is, note) in [(buffer.read, ", read"), (buffer.written, ", written")] {
            notes.push_str(if is { note } else { "" });
        }
        let (name, elem) = (self.buffer(id), buffer.elem);
        let (shape, count) = (self.syms(&buffer.shape), self.sym(&buffer.count));
        let storage = self.storage(buffer.storage);
        self.line(format_args!(
            "buffer {name}: {elem} [{shape}], {count} elements, {storage}{notes}"
        ));
    }
}
