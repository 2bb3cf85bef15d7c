//! The state of the walk over one function, in parts by topic.

use std::collections::BTreeMap;

use crate::ir::{self, Level, LocalId};
use crate::sema::asynchronous::{events, flags, futures};
use crate::sema::build::Builder;
use crate::sema::context::Cx;
use crate::sema::levels::kernel::KernelState;
use crate::sema::levels::nest::Node;
use crate::sema::memory::{buffer_pools::Pools, swizzles::Swizzles};
use crate::sema::names::path::{Frame, Path};
use crate::sema::names::returns::Results;
use crate::sema::names::scope::Scopes;
use crate::sema::statements::ranges::Ranges;
use crate::sema::tensor_cores::spread::Spreads;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};
use crate::syntax::ast;

pub(crate) struct Elab<'a> {
    pub cx: Cx<'a>,
    /// The function under construction.
    pub f: ir::Function,
    pub build: Builder,
    pub names: Scopes,
    pub path: Path,
    pub ranges: Ranges,
    /// The kernel under construction; `None` on the host.
    pub kernel: Option<KernelState>,
    /// Levels of the `parallel`s still to come in each open body, last first.
    pub nests: Vec<Vec<Node>>,
    pub results: Results,
    pub storage: Storage,
    pub asynchronous: Asynchronous,
    pub fragments: Spreads,
}

/// What is gathered about buffers until the function's end.
#[derive(Default)]
pub(crate) struct Storage {
    /// Buffers that element stores and copies write, and where first.
    pub stored: BTreeMap<ir::BufferId, Span>,
    /// Shared buffers that a copy may leave partly as they were, and where.
    pub cut_off: BTreeMap<ir::BufferId, Span>,
    pub pools: Pools,
    pub swizzles: Swizzles,
    /// Where the swizzle of a buffer was decided.
    pub swizzle_at: BTreeMap<ir::BufferId, Span>,
}

/// Events and futures.
#[derive(Default)]
pub(crate) struct Asynchronous {
    pub events: events::Known,
    pub flags: Vec<flags::Flag>,
    /// By `ir::FutureId`.
    pub futures: Vec<futures::Future>,
    /// Names of futures that are exchanged, each with the number of its group.
    pub exchanged: BTreeMap<String, usize>,
    /// The tile that a placeholder's handle starts with.
    pub first_tiles: BTreeMap<LocalId, Sym>,
}

impl<'a> Elab<'a> {
    pub fn new(cx: Cx<'a>, function: &ast::Function) -> Self {
        let f = ir::Function {
            name: function.name.text.clone(),
            span: function.span,
            cx: Ctx::new(),
            var_home: BTreeMap::new(),
            params: Vec::new(),
            dims: Vec::new(),
            ret: ir::Return::Void,
            buffers: Vec::new(),
            locals: Vec::new(),
            kernels: Vec::new(),
            body: Vec::new(),
            checks: Vec::new(),
            futures: Vec::new(),
            events: Vec::new(),
            signals: Vec::new(),
            fragments: BTreeMap::new(),
            reports: cx.options.reports,
        };
        Self {
            cx,
            f,
            build: Builder::new(),
            names: Scopes::new(),
            path: Path::default(),
            ranges: Ranges::default(),
            kernel: None,
            nests: Vec::new(),
            results: Results::new(&function.ret),
            storage: Storage::default(),
            asynchronous: Asynchronous {
                exchanged: futures::exchanged(&function.body),
                ..Asynchronous::default()
            },
            fragments: Spreads::default(),
        }
    }

    /// Runs `body` as part of a construct.
    pub fn within<R>(&mut self, frame: Frame, body: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(frame);
        let result = body(self);
        self.path.pop();
        result
    }

    /// The execution level here; `None` on the host.
    pub fn level(&self) -> Option<Level> {
        self.kernel.as_ref().map(|k| k.level)
    }
}
