//! The state of the walk over one function, divided by topic.

use crate::diagnostics::Diagnostics;
use crate::ir::{self, Level};
use crate::sema::state::asynchronous::{self, Asynchronous};
use crate::sema::state::builder::Builder;
use crate::sema::state::choices::Choices;
use crate::sema::state::cx::Cx;
use crate::sema::state::earlier::Earlier;
use crate::sema::state::fragments::FragmentState;
use crate::sema::state::kernel::KernelState;
use crate::sema::state::nests::Node;
use crate::sema::state::path::{Frame, Path};
use crate::sema::state::ranges::Ranges;
use crate::sema::state::results::Results;
use crate::sema::state::scopes::{Binding, Scopes};
use crate::sema::state::siblings::Summary;
use crate::sema::state::storage::BufferFacts;
use crate::sema::state::value::Value;
use crate::sorted::SortedMap;
use crate::symbolic::Ctx;
use crate::syntax::ast;

/// The entry points of the two recursive rules. Rules for parts of an expression need the rule for
/// expressions, which needs them: they call each other through this table, so that the dependences
/// between modules have one direction.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub expression: fn(&mut Elab<'_>, &ast::Expr) -> Value,
    pub block: fn(&mut Elab<'_>, &ast::Block),
    pub summary: fn(&Cx<'_>, &ast::Function) -> Summary,
}

pub(crate) struct Elab<'a> {
    rules: Rules,
    pub cx: Cx<'a>,
    /// The function under construction.
    pub f: ir::Function,
    pub build: Builder,
    pub names: Scopes,
    pub path: Path,
    pub ranges: Ranges,
    /// The kernel under construction; `None` on the host.
    pub kernel: Option<KernelState>,
    /// The levels of the `parallel`s that have not been lowered yet, for each open body, last
    /// first.
    pub nests: Vec<Vec<Node>>,
    pub results: Results,
    pub storage: BufferFacts,
    pub asynchronous: Asynchronous,
    pub fragments: FragmentState,
    pub earlier: Earlier,
    pub calls: Calls,
    pub choices: Choices,
}

/// The calls of `__co__` functions whose bodies are a part of this function.
#[derive(Default)]
pub(crate) struct Calls {
    /// The functions whose bodies are lowered now, outermost first.
    pub open: Vec<String>,
    /// All calls so far.
    pub count: usize,
}

impl<'a> Elab<'a> {
    pub fn new(cx: Cx<'a>, rules: Rules, function: &ast::Function) -> Self {
        let f = ir::Function {
            name: function.name.text.clone(),
            span: function.span,
            cx: Ctx::new(),
            var_home: SortedMap::new(),
            params: Vec::new(),
            dims: Vec::new(),
            results: Vec::new(),
            buffers: Vec::new(),
            locals: Vec::new(),
            kernels: Vec::new(),
            body: Vec::new(),
            checks: Vec::new(),
            futures: Vec::new(),
            events: Vec::new(),
            signals: Vec::new(),
            fragments: SortedMap::new(),
            reports: cx.options.reports,
            facts: ir::Facts::default(),
        };
        Self {
            rules,
            cx,
            f,
            build: Builder::new(),
            names: Scopes::new(),
            path: Path::default(),
            ranges: Ranges::default(),
            kernel: None,
            nests: Vec::new(),
            results: Results::new(function),
            storage: BufferFacts::default(),
            asynchronous: Asynchronous {
                exchanged: asynchronous::exchanged(&function.body),
                ..Asynchronous::default()
            },
            fragments: FragmentState::default(),
            earlier: Earlier::default(),
            calls: Calls::default(),
            choices: Choices::default(),
        }
    }

    /// Runs `ask` ahead of the place where the same code is lowered again. Returns its result and
    /// its reports, which are not added to the diagnostics: the second lowering reports them.
    pub fn ask_ahead<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> (T, Diagnostics) {
        let reported = std::mem::take(self.cx.diags);
        let older_left_out = self.cx.older_left_out.clone();
        let unsupported = self.cx.unsupported.clone();
        let without_warps = self.cx.without_warps.clone();
        let answer = ask(self);
        self.cx.older_left_out = older_left_out;
        self.cx.unsupported = unsupported;
        self.cx.without_warps = without_warps;
        (answer, std::mem::replace(self.cx.diags, reported))
    }

    /// Lowers an expression to its value, and emits the statements that it needs.
    pub fn expression(&mut self, e: &ast::Expr) -> Value {
        (self.rules.expression)(self, e)
    }

    /// Lowers a block with a scope of its own.
    pub fn block(&mut self, block: &ast::Block) {
        (self.rules.block)(self, block);
    }

    /// What a call has to know of another function of the file.
    pub fn summary_of(&self, function: &ast::Function) -> Summary {
        let find = || (self.rules.summary)(&self.cx, function);
        self.cx.siblings.summary_of(&function.name.text, find)
    }

    /// Runs `body` inside a construct, if there is one.
    pub fn within<R>(
        &mut self,
        frame: impl Into<Option<Frame>>,
        body: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let frame = frame.into();
        let pushed = frame.is_some();
        frame.into_iter().for_each(|frame| self.path.push(frame));
        let result = body(self);
        if pushed {
            self.path.pop();
        }
        result
    }

    /// Runs `body` in a scope of names of its own, and returns what it declared there.
    pub fn scope<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> (R, Vec<Binding>) {
        let locals = self.f.locals.len();
        self.names.push();
        let result = body(self);
        let ended = self.names.pop();
        // The thread's number is declared for the whole kernel.
        let tid = self.kernel.as_ref().and_then(|k| k.threads.id_local);
        let is_local = |id: ir::LocalId| id.index() >= locals && Some(id) != tid;
        let depth = self.names.depth();
        self.asynchronous.leave_scope(&self.f, depth, is_local);
        (result, ended)
    }

    /// The execution level of the current statement; `None` on the host.
    pub fn level(&self) -> Option<Level> {
        self.kernel.as_ref().map(|k| k.level)
    }

    /// The level of the unit that executes a collective statement here; `None` on the host.
    pub fn unit(&self) -> Option<Level> {
        self.kernel.as_ref().map(|k| k.unit.level)
    }
}
