//! Copies: which storages, which shapes, whose threads (language 04).

use super::Checker;
use super::data::dense_strides;
use super::scope::Entity;
use super::value::{Data, Value};
use crate::diagnostics::Diagnostic;
use crate::ir::{
    self, BinOp, FutureId, Level, Role, Scalar, StmtKind, Storage, Transform, Valid, VarHome, View,
};
use crate::source::Span;
use crate::symbolic::{Sym, Truth};
use crate::syntax::ast::{self, CopyDest, CopyModifier, CopyOp, CopyStmt};

/// What a copy's name stood for before it.
pub(super) enum Bound {
    /// The copy has no name.
    Nothing,
    New,
    /// A placeholder's.
    Again(FutureId),
    /// An error was reported.
    Refused,
}

impl Checker<'_> {
    pub(super) fn copy(&mut self, c: &CopyStmt, span: Span) {
        let bound = self.copy_name(c.name.as_ref());
        let done = self.copy_parts(c, &bound, span);
        let (Some(name), Bound::New) = (&c.name, bound) else {
            return;
        };
        let entity = done.flatten().map_or(Entity::Poison, Entity::Future);
        self.declare(name, entity);
    }

    /// The future that a named copy makes.
    fn copy_parts(&mut self, c: &CopyStmt, bound: &Bound, span: Span) -> Option<Option<FutureId>> {
        if !self.copy_supported(c) {
            return None;
        }
        let source = self.data(&c.source);
        let explicit = match &c.dest {
            CopyDest::View(e) => Some(self.data(e)),
            CopyDest::Storage(storage, at) => {
                self.copy_storage(*storage, *at)?;
                None
            }
        };
        let source = source?;
        self.consult(&source, c.source.span);
        let zfill_at = c
            .modifiers
            .iter()
            .find(|(m, _)| matches!(m, CopyModifier::Zfill))
            .map(|m| m.1);
        let zfill = zfill_at.is_some() || source.zfill;
        let transform = self.transform(c, &source)?;
        let shape = self.moved_shape(&source.view.shape, &transform, c);
        let (mut dest, zero_fill) = match explicit {
            Some(dest) => {
                let dest = dest?;
                self.pair_legal(&source, &dest.view, c)?;
                let zero_fill = self.agree(&shape, &dest, c, zfill, &transform)?;
                (dest, zero_fill)
            }
            None => {
                let CopyDest::Storage(storage, at) = &c.dest else {
                    return None;
                };
                let again = match bound {
                    Bound::Again(id) => {
                        let elem = self.f.buffer(source.view.buffer).elem;
                        self.same_again(*id, elem, &shape, ir_storage(*storage), *at)?
                    }
                    _ => None,
                };
                let view = match again {
                    Some(view) => view,
                    None => self.anonymous(c, bound, *storage, *at, &source, shape)?,
                };
                self.pair_legal(&source, &view, c)?;
                let name = c
                    .name
                    .as_ref()
                    .map_or_else(|| "copied".to_owned(), |n| n.text.clone());
                (self.data_of(view, &name, c.head), zfill)
            }
        };
        if zfill
            && !zero_fill_useful(&source.view, zero_fill, &dest.view)
            && matches!(transform, Transform::None)
        {
            self.report(
                Diagnostic::new(
                    "W0850",
                    zfill_at.unwrap_or(c.source.span),
                    "`.zfill` is redundant here",
                )
                .label("the tile never crosses the edge, and both shapes are equal")
                .help("remove it"),
            );
        }
        self.swizzle_asked(c, &dest.view)?;
        let cut = |v: &crate::ir::Valid| v.lo.is_some() || v.hi.is_some();
        let partial = source.view.valid.iter().any(cut);
        if partial && !zero_fill && c.engine == ast::Engine::Dma {
            self.cut_off.entry(dest.view.buffer).or_insert(c.head);
        }
        let level = self.copy_level(
            &source.view,
            &dest.view,
            c,
            matches!(c.dest, CopyDest::View(_)),
        )?;
        let mut engine = self.engine(c, &source.view, &dest.view, zero_fill, level)?;
        let event = c.is_async.as_ref().and_then(|a| a.1.as_ref());
        if let (Some(event), ir::Engine::Tma(tma)) = (event, &mut engine) {
            tma.event = Some(self.event_of_copy(event)?);
        }
        self.mark(&source.view, true, false);
        self.mark(&dest.view, false, true);
        self.stored.entry(dest.view.buffer).or_insert(span);
        // What an event is completed by needs no wait.
        let is_async = c.is_async.is_some() && event.is_none();
        let fresh = matches!(c.dest, CopyDest::Storage(..));
        let future = match (bound, &c.name) {
            (Bound::New, Some(name)) => {
                let handle = self.handle_for(name);
                Some(self.new_future(name, false, handle))
            }
            (Bound::Again(id), _) => Some(*id),
            _ => None,
        };
        if let Some(id) = future {
            let known = self.future(id).is_some_and(|f| f.data.is_some());
            let manner = (is_async, !engine.is_threads());
            self.bind_future(id, dest.clone(), level, manner, fresh, c.head)?;
            // A placeholder may have been exchanged before its first copy, in the turn before.
            if fresh && !known && matches!(bound, Bound::Again(_)) {
                dest = self.future_data(id, c.head)?;
            }
        }
        let copy = ir::Copy {
            source: source.view,
            dest: dest.view,
            transform,
            zero_fill,
            level,
            future: future.filter(|_| is_async),
            engine,
        };
        if self.kernel.is_some() {
            self.emit(StmtKind::Copy(copy), span);
        } else {
            self.host_kernel(StmtKind::Copy(copy), span);
        }
        Some(future)
    }

    /// Runs one block-level statement over device memory from host code: a kernel of its own.
    pub(super) fn host_kernel(&mut self, kind: StmtKind, span: Span) {
        let id = ir::KernelId(u32::try_from(self.f.kernels.len()).unwrap_or(u32::MAX));
        self.f.kernels.push(ir::Kernel {
            name: format!("{}_{}", self.f.name, id.0),
            span,
            grid: [Sym::one(), Sym::one(), Sym::one()],
            cluster: [1; 3],
            threads: Sym::int(256),
            attrs: ir::LaunchAttrs::default(),
            body: vec![ir::Stmt::new(kind, span)],
            fastest: Vec::new(),
            shared: Vec::new(),
            shared_bytes: Sym::zero(),
            waits: false,
            ordered: false,
            asynchronous: false,
            warpgroups: false,
            one_thread: None,
            maps: Vec::new(),
        });
        self.emit(StmtKind::Launch(id), span);
    }

    fn copy_supported(&mut self, c: &CopyStmt) -> bool {
        let mut ok = true;
        let tma = c.engine == ast::Engine::Tma;
        if tma && self.kernel.is_none() {
            self.report(
                Diagnostic::new("E0832", c.head, "`tma` moves tiles inside a kernel")
                    .label("not on the host")
                    .help("use `dma`, or put the copy into a `parallel`"),
            );
            return false;
        }
        if tma {
            ok &= self.tma_available(c) && self.tma_modifiers(c).is_some();
        }
        if let Some((at, event)) = &c.is_async {
            ok &= self.async_supported(c, *at, event.as_ref());
        }
        if let Some(after) = &c.after {
            self.after(after);
        }
        for (modifier, at) in &c.modifiers {
            match modifier {
                CopyModifier::Zfill => continue,
                CopyModifier::Swizzle(width) => {
                    ok &= self.swizzle_width(width.as_ref(), *at).is_some();
                    continue;
                }
                CopyModifier::Sparse(pattern) => {
                    self.sparse(c, pattern.as_ref(), *at);
                    ok = false;
                    continue;
                }
                CopyModifier::Promote(_) | CopyModifier::EvictFirst | CopyModifier::EvictLast
                    if tma =>
                {
                    continue;
                }
                CopyModifier::Promote(_) => {
                    self.report(
                        Diagnostic::new("E0858", *at, "an L2 promotion is only for `tma`")
                            .label("not on `dma`")
                            .help("remove it"),
                    );
                    ok = false;
                    continue;
                }
                CopyModifier::EvictFirst | CopyModifier::EvictLast => {
                    self.hint_refused(*at, false);
                    ok = false;
                    continue;
                }
                CopyModifier::Multicast => ok &= self.multicast_legal(tma, *at),
            }
        }
        ok
    }

    fn async_supported(&mut self, c: &CopyStmt, at: Span, event: Option<&ast::Expr>) -> bool {
        if let (Some(event), ast::Engine::Dma) = (event, c.engine) {
            self.report(
                Diagnostic::new("E1031", event.span, "a `dma` copy can't complete an event")
                    .label("its threads carry it out, nobody arrives for it")
                    .help("name the copy, `wait` for it, then `trigger` the event; or use `tma`"),
            );
            return false;
        }
        if self.kernel.is_none() {
            self.report(
                Diagnostic::new("E0831", at, "copies between kernels are never asynchronous")
                    .label("not on the host")
                    .help("remove `.async`"),
            );
            return false;
        }
        if event.is_none() && c.name.is_none() {
            self.report(
                Diagnostic::new("E0840", c.head, "an asynchronous copy without a name")
                    .label("nothing could wait for it")
                    .help(format!(
                        "name it: `f = {}.copy.async …;`, later `wait f;`",
                        engine_word(c)
                    )),
            );
            return false;
        }
        true
    }

    fn copy_storage(&mut self, storage: ast::Storage, at: Span) -> Option<()> {
        let in_kernel = self.kernel.is_some();
        let (bad, text, help) = match (storage, in_kernel) {
            (ast::Storage::Global, true) => (
                true,
                "`=> global` makes device memory, which a kernel can't",
                "copy into `shared` or `local`, or into a named buffer",
            ),
            (ast::Storage::Shared | ast::Storage::Local, false) => (
                true,
                "`shared` and `local` memory exist only inside `parallel`",
                "move the copy into a `parallel`",
            ),
            _ => (false, "", ""),
        };
        if bad {
            self.report(
                Diagnostic::new("E0803", at, text)
                    .label("not here")
                    .help(help),
            );
            return None;
        }
        Some(())
    }

    fn transform(&mut self, c: &CopyStmt, source: &Data) -> Option<Transform> {
        let rank = source.view.rank();
        if rank > 5 {
            self.report(
                Diagnostic::new(
                    "E0838",
                    c.source.span,
                    format!("copies move at most 5 dimensions, this has {rank}"),
                )
                .label("too many dimensions"),
            );
            return None;
        }
        match &c.op {
            CopyOp::Copy | CopyOp::Load => Some(Transform::None),
            CopyOp::Transp(perm) => self
                .permutation(perm, rank, c.head)
                .map(Transform::Transpose),
            CopyOp::Pad {
                low,
                high,
                mid,
                value,
            } => self.padding(low, high, mid, value, source),
        }
    }

    fn permutation(&mut self, perm: &[ast::Expr], rank: usize, at: Span) -> Option<Vec<usize>> {
        if perm.len() != rank {
            self.report(
                Diagnostic::new(
                    "E0807",
                    at,
                    format!("`transp` lists {} axes, the data has {rank}", perm.len()),
                )
                .label(format!("expected {rank} entries"))
                .help("write the source axis of each destination axis: `dma.transp<1, 0>`"),
            );
            return None;
        }
        let mut out = Vec::new();
        for p in perm {
            let axis = self
                .const_int(p)
                .and_then(|n| usize::try_from(n).ok())
                .filter(|n| *n < rank);
            match axis {
                Some(a) if !out.contains(&a) => out.push(a),
                _ => {
                    let text = self.file.snippet(p.span).to_owned();
                    self.report(
                        Diagnostic::new(
                            "E0806",
                            p.span,
                            format!(
                                "`transp` needs each of 0 to {} once; `{text}` breaks that",
                                rank - 1
                            ),
                        )
                        .label("missing, repeated or too large"),
                    );
                    return None;
                }
            }
        }
        Some(out)
    }

    fn padding(
        &mut self,
        low: &[ast::Expr],
        high: &[ast::Expr],
        mid: &[ast::Expr],
        value: &ast::Expr,
        source: &Data,
    ) -> Option<Transform> {
        let rank = source.view.rank();
        let mut lists = Vec::new();
        for list in [low, high, mid] {
            if list.len() != rank {
                let at = list.first().map_or(value.span, |e| e.span);
                self.report(
                    Diagnostic::new(
                        "E0809",
                        at,
                        format!(
                            "a padding list has {} entries, the data has {rank} dimension{}",
                            list.len(),
                            if rank == 1 { "" } else { "s" }
                        ),
                    )
                    .label(format!("expected {rank}")),
                );
                return None;
            }
            let mut numbers = Vec::new();
            for e in list {
                match self.const_int(e) {
                    Some(n @ 0..=2048) => numbers.push(n.unsigned_abs()),
                    Some(n) => {
                        self.report(
                            Diagnostic::new(
                                "E0839",
                                e.span,
                                format!("padding is 0 to 2048 elements, this is {n}"),
                            )
                            .label("out of range"),
                        );
                        return None;
                    }
                    None => {
                        self.report(
                            Diagnostic::new(
                                "E0809",
                                e.span,
                                "padding entries are compile-time integers",
                            )
                            .label("not a constant"),
                        );
                        return None;
                    }
                }
            }
            lists.push(numbers);
        }
        if let Some(position) = lists.get(2).and_then(|m| m.iter().position(|n| *n != 0)) {
            let at = mid.get(position).map_or(value.span, |e| e.span);
            self.report(
                Diagnostic::new("E0808", at, "padding between elements must be 0 on a GPU")
                    .label("not 0"),
            );
            return None;
        }
        let elem = self.f.buffer(source.view.buffer).elem;
        let v = self.expr(value);
        let value = self.convert(v, elem, value.span)?;
        let low = lists.into_iter().next().unwrap_or_default();
        Some(Transform::Pad { low, value })
    }

    fn moved_shape(&mut self, source: &[Sym], transform: &Transform, c: &CopyStmt) -> Vec<Sym> {
        match (transform, &c.op) {
            (Transform::Transpose(perm), _) => perm
                .iter()
                .filter_map(|p| source.get(*p).cloned())
                .collect(),
            (Transform::Pad { low, .. }, CopyOp::Pad { high, .. }) => {
                let mut out = Vec::new();
                for (axis, extent) in source.iter().enumerate() {
                    let l = low.get(axis).copied().unwrap_or(0);
                    let h = high.get(axis).and_then(|e| self.const_int(e)).unwrap_or(0);
                    out.push(extent + (i64::try_from(l).unwrap_or(0) + h));
                }
                out
            }
            _ => source.to_vec(),
        }
    }

    fn pair_legal(&mut self, source: &Data, dest: &View, c: &CopyStmt) -> Option<()> {
        let (from, to) = (
            self.f.buffer(source.view.buffer),
            self.f.buffer(dest.buffer),
        );
        let (from_elem, to_elem) = (from.elem, to.elem);
        let global_to_global = from.storage.is_global() && to.storage.is_global();
        if from_elem != to_elem {
            self.report(
                Diagnostic::new("E0801", c.head.to(c.source.span), format!("a copy never converts: the source is `{from_elem}`, the destination `{to_elem}`"))
                    .label(format!("`{from_elem}` => `{to_elem}`"))
                    .help("copy into a buffer of the same element type, and convert element by element"),
            );
            return None;
        }
        if c.engine == ast::Engine::Tma {
            self.tma_pair(from.storage, to.storage, c)?;
        } else if let Some((at, _)) = &c.is_async
            && self.kernel.is_some()
            && !(from.storage.is_global() && to.storage == Storage::Shared)
        {
            let place = |s: Storage| match s {
                Storage::Shared => "shared",
                Storage::Local => "local",
                _ => "global",
            };
            let text = format!(
                "no asynchronous copy goes from {} to {} memory",
                place(from.storage),
                place(to.storage)
            );
            self.report(
                Diagnostic::new("E0831", *at, text)
                    .label("only global to shared")
                    .help("remove `.async`, and the `wait` for it"),
            );
            return None;
        }
        if global_to_global && self.kernel.is_some() {
            self.report(
                Diagnostic::new(
                    "E0830",
                    c.head.to(c.source.span),
                    "a kernel can't copy from global to global memory",
                )
                .label("both ends are in device memory")
                .help("go through `shared` or `local`, or copy outside `parallel`"),
            );
            return None;
        }
        Some(())
    }

    /// Compares the moved shape with the destination's; whether to zero what stays uncovered.
    fn agree(
        &mut self,
        from: &[Sym],
        dest: &Data,
        c: &CopyStmt,
        zfill: bool,
        transform: &Transform,
    ) -> Option<bool> {
        let to = dest.view.shape.clone();
        let at = c.head.to(match &c.dest {
            CopyDest::View(e) => e.span,
            CopyDest::Storage(_, s) => *s,
        });
        let (shown_from, shown_to) = (self.show_shape(from), self.show_shape(&to));
        if from.len() != to.len() {
            self.report(
                Diagnostic::new(
                    "E0802",
                    at,
                    format!("ranks differ: {shown_from} into {shown_to}"),
                )
                .label(format!("{} dimensions into {}", from.len(), to.len()))
                .help("reshape one side with `span_as`, or drop unit axes with `sqz`"),
            );
            return None;
        }
        let mut smaller = None;
        let mut unknown = Vec::new();
        for (axis, (f, t)) in from.iter().zip(&to).enumerate() {
            if self.f.cx.eq(f, t) == Truth::Yes {
                continue;
            }
            match (self.f.cx.le(f, t), self.f.cx.eq(f, t)) {
                (Truth::No, _) => {
                    let product = |s: &[Sym]| s.iter().fold(Sym::one(), |p, e| &p * e);
                    let bigger = self.f.cx.lt(&product(&to), &product(from)) == Truth::Yes;
                    let code = if bigger { "E0805" } else { "E0804" };
                    let (sf, st) = (self.show(f), self.show(t));
                    self.report(
                        Diagnostic::new(
                            code,
                            at,
                            format!("{shown_from} does not fit into {shown_to}"),
                        )
                        .label(format!("axis {axis}: {sf} elements into {st}"))
                        .help("source and destination of a copy have the same shape"),
                    );
                    return None;
                }
                (Truth::Yes, Truth::No) => smaller = Some(axis),
                _ => unknown.push(axis),
            }
        }
        if let Some(axis) = smaller {
            if !matches!(transform, Transform::None) {
                let (sf, st) = (
                    from.get(axis).map(|s| self.show(s)),
                    to.get(axis).map(|s| self.show(s)),
                );
                self.report(
                    Diagnostic::new("E0804", at, format!("{shown_from} and {shown_to} differ"))
                        .label(format!(
                            "axis {axis}: {} and {}",
                            sf.unwrap_or_default(),
                            st.unwrap_or_default()
                        )),
                );
                return None;
            }
            if !zfill {
                let (sf, st) = (
                    from.get(axis).map(|s| self.show(s)),
                    to.get(axis).map(|s| self.show(s)),
                );
                self.report(
                    Diagnostic::new(
                        "W0851",
                        at,
                        format!("{shown_from} covers only part of {shown_to}"),
                    )
                    .label(format!(
                        "axis {axis}: {} of {}; the rest stays undefined",
                        sf.unwrap_or_default(),
                        st.unwrap_or_default()
                    ))
                    .help(match c.engine {
                        ast::Engine::Dma => "add `.zfill` to the copy to make the rest zero",
                        ast::Engine::Tma => "`tma` moves whole boxes: copy a tile of the destination's shape, or use `dma.copy.zfill`",
                    }),
                );
            }
        }
        for axis in &unknown {
            let (Some(f), Some(t)) = (from.get(*axis), to.get(*axis)) else {
                continue;
            };
            if self.f.cx.le(f, t) == Truth::Yes {
                continue;
            }
            let message = format!("axis {axis} of the copy: {{0}} elements do not fit into {{1}}");
            let (f, t) = (f.clone(), t.clone());
            self.check_compare("R07", message, BinOp::Le, &f, &t, at);
        }
        Some(zfill || !unknown.is_empty())
    }

    /// A buffer that only the future names.
    fn anonymous(
        &mut self,
        c: &CopyStmt,
        bound: &Bound,
        storage: ast::Storage,
        at: Span,
        source: &Data,
        shape: Vec<Sym>,
    ) -> Option<View> {
        let elem = self.f.buffer(source.view.buffer).elem;
        let name = c
            .name
            .as_ref()
            .map_or_else(|| "copied".to_owned(), |n| n.text.clone());
        let shown = self.show_shape(&shape);
        for extent in &shape {
            let host = extent.vars().iter().all(|v| self.host_known(*v));
            let fixed = extent.as_int().is_some();
            if storage == ast::Storage::Local && !fixed {
                self.report(
                    Diagnostic::new(
                        "E0614",
                        at,
                        format!("`local` memory needs static extents, the tile is {shown}"),
                    )
                    .label("sizes known only at run time")
                    .help("copy into `shared`, or tile by a constant"),
                );
                return None;
            }
            if !host {
                self.report(
                    Diagnostic::new(
                        "E0829",
                        at,
                        format!("the tile's shape {shown} is known only inside the kernel"),
                    )
                    .label("can't size a buffer by it")
                    .help("declare a buffer of the largest size, and copy into it with `.zfill`"),
                );
                return None;
            }
        }
        let ir_storage = ir_storage(storage);
        let per_instance = ir_storage == Storage::Shared && self.unit_dependent(&source.view);
        let level = self.level().unwrap_or(Level::Block);
        let slices = if per_instance {
            self.instances(level, at)?
        } else {
            Sym::one()
        };
        let id = self.new_buffer(&name, elem, ir_storage, shape.clone(), slices, at);
        // What a placeholder of an outer block has, the next turn of a loop may still read.
        let outer = match bound {
            Bound::Again(id) => self.future(*id).map(|f| f.depth) != Some(self.scopes.depth()),
            _ => false,
        };
        if matches!(ir_storage, Storage::Host | Storage::Shared) && !outer {
            self.emit(StmtKind::Alloc(id), at);
        }
        self.warn_of_spills(id, at);
        let size = shape.iter().fold(Sym::one(), |p, e| &p * e);
        let offset = if per_instance {
            &self.instance(level) * &size
        } else {
            Sym::zero()
        };
        let strides = dense_strides(&shape);
        let valid = vec![Valid::default(); shape.len()];
        let frame = Some(ir::Frame::whole(&shape, &strides));
        Some(View {
            buffer: id,
            offset,
            frame,
            shape,
            strides,
            valid,
            span: at,
        })
    }

    /// Known when the kernel is launched.
    pub(super) fn host_known(&self, v: crate::symbolic::Var) -> bool {
        match self.f.var_home.get(&v) {
            Some(VarHome::Dim(_) | VarHome::Param(_)) => true,
            Some(VarHome::Local(id)) => self
                .kernel
                .as_ref()
                .is_none_or(|k| id.index() < k.first_local),
            None => false,
        }
    }

    /// Whether a view differs between units below the block.
    fn unit_dependent(&self, view: &View) -> bool {
        let Some(level) = self.level() else {
            return false;
        };
        if level == Level::Block {
            return false;
        }
        let depends = |s: &Sym| s.vars().iter().any(|v| self.unit_var(*v));
        depends(&view.offset)
            || view.shape.iter().any(&depends)
            || view
                .valid
                .iter()
                .any(|v| v.lo.iter().chain(&v.hi).any(&depends))
    }

    /// A variable whose value may differ between the units below the block.
    pub(super) fn unit_var(&self, v: crate::symbolic::Var) -> bool {
        match self.f.var_home.get(&v) {
            Some(VarHome::Local(id)) => self.local_varies(*id),
            _ => false,
        }
    }

    /// Number of units of `level` in the block.
    pub(super) fn instances(&mut self, level: Level, at: Span) -> Option<Sym> {
        if level == Level::Block {
            return Some(Sym::one());
        }
        let threads = self.kernel.as_ref().and_then(|k| k.threads.clone());
        let Some(threads) = threads else {
            self.report(
                Diagnostic::new("E0509", at, "the number of threads is not known here")
                    .label("how many instances need a tile?"),
            );
            return None;
        };
        let cx = &self.f.cx;
        Some(match level {
            Level::Cluster | Level::Block => Sym::one(),
            Level::Group4 => cx.cdiv(&threads, &Sym::int(128)),
            Level::Group => cx.cdiv(&threads, &Sym::int(32)),
            Level::Thread => threads,
        })
    }

    /// This unit's number within the block.
    pub(super) fn instance(&mut self, level: Level) -> Sym {
        let tid = self.thread_id();
        let cx = &self.f.cx;
        match level {
            Level::Cluster | Level::Block => Sym::zero(),
            Level::Group4 => cx.div(&tid, &Sym::int(128)),
            Level::Group => cx.div(&tid, &Sym::int(32)),
            Level::Thread => tid,
        }
    }

    /// The linear thread id as a symbolic integer.
    pub(super) fn thread_id(&mut self) -> Sym {
        if let Some(v) = self.kernel.as_ref().and_then(|k| k.tid) {
            return Sym::var(v);
        }
        let span = self
            .kernel
            .as_ref()
            .map_or_else(Span::default, |k| k.header);
        let threads = self.kernel.as_ref().and_then(|k| k.threads.clone());
        let local = self.new_local(
            "tid",
            Scalar::Index,
            false,
            Role::Parallel(Level::Thread),
            span,
        );
        let hi = threads.map(|t| &t - 1);
        let var = self.local_var(local, Some(Sym::zero()), hi);
        if let Some(k) = self.kernel.as_mut() {
            k.tid = Some(var);
            k.tid_local = Some(local);
        }
        Sym::var(var)
    }

    /// Whose threads share a copy.
    fn copy_level(
        &mut self,
        source: &View,
        dest: &View,
        c: &CopyStmt,
        explicit: bool,
    ) -> Option<Level> {
        let Some(current) = self.level() else {
            return Some(Level::Block);
        };
        let (from, to) = (
            self.f.buffer(source.buffer).storage,
            self.f.buffer(dest.buffer).storage,
        );
        if from == Storage::Local || to == Storage::Local {
            return Some(Level::Thread);
        }
        let by_source = self.unit_dependent(source);
        let by_dest = self.unit_dependent(dest);
        let level = if by_source || by_dest {
            current
        } else {
            Level::Block
        };
        let several = level != Level::Block && !self.one_unit_comes(level);
        if explicit && to == Storage::Shared && by_source && !by_dest && several {
            self.report(
                Diagnostic::new(
                    "W0841",
                    c.head,
                    "instances of an inner level copy different tiles into one shared buffer",
                )
                .label("each overwrites the others' tile")
                .help("use `=> shared` to give each instance its own, or tile the destination too"),
            );
        }
        if level != Level::Thread {
            self.cooperative(c.head, "a cooperative copy");
            if self.kernel.as_ref().is_some_and(|k| k.regions > 0) {
                return self.level_in_region(level, c);
            }
        }
        Some(level)
    }

    /// Whether a region around here lets no more than one unit of `level` in.
    fn one_unit_comes(&self, level: Level) -> bool {
        let unit = match level {
            Level::Cluster | Level::Block => return true,
            Level::Group4 => 128,
            Level::Group => 32,
            Level::Thread => 1,
        };
        self.region_threads().is_some_and(|set| set.is_in_one(unit))
    }

    /// Inside `inthreads` those threads of the unit share a copy that come there; a block's are those of
    /// the region.
    fn level_in_region(&mut self, level: Level, c: &CopyStmt) -> Option<Level> {
        let Some(set) = self.region_threads().cloned() else {
            let what = "a cooperative copy by threads that are known only at run time";
            self.unsupported(c.head, what);
            return None;
        };
        let unit = match level {
            Level::Group4 => 128,
            Level::Group => 32,
            _ => 0,
        };
        if c.engine == ast::Engine::Dma && !set.is_whole(32) {
            let count = set.len();
            let threads = if count == 1 { "thread" } else { "threads" };
            self.report(
                Diagnostic::new(
                    "W0565",
                    c.head,
                    format!("{count} {threads} of the block share this copy: no whole warps"),
                )
                .label("the other lanes of their warps idle meanwhile")
                .help("let whole warps (multiples of 32 threads) come here, or use `tma`"),
            );
        }
        if unit == 0 || set.is_whole(unit) {
            return Some(level);
        }
        if set.is_in_one(unit) {
            return Some(Level::Block);
        }
        self.unsupported(c.head, "a copy by parts of several warps or warpgroups");
        None
    }

    /// Warns where threads that take part in something together may not all arrive.
    pub(super) fn cooperative(&mut self, at: Span, what: &str) {
        if self.kernel.as_ref().is_some_and(|k| k.divergent > 0) {
            self.report(
                Diagnostic::new(
                    "W0551",
                    at,
                    format!("{what} under a condition that differs between threads"),
                )
                .label("some threads never arrive here")
                .help("move it out of the `if`, or use `inthreads`"),
            );
        }
        if let Some(first) = self.kernel.as_ref().and_then(|k| k.yielded) {
            self.report(
                Diagnostic::new(
                    "W0553",
                    first,
                    "threads that `yield` here never reach a later barrier",
                )
                .label("leaves the kernel")
                .also(at, format!("{what} waits for every thread")),
            );
        }
    }

    /// Warns of a buffer that is too large for the registers of a thread.
    pub(super) fn warn_of_spills(&mut self, id: ir::BufferId, at: Span) {
        let b = self.f.buffer(id);
        let (name, storage, elem) = (b.name.clone(), b.storage, b.elem);
        let bytes = b
            .count
            .as_int()
            .and_then(|n| u64::try_from(n).ok())
            .and_then(|n| n.checked_mul(elem.bytes()));
        if storage == Storage::Local
            && let Some(bytes) = bytes.filter(|b| *b > 255 * 4)
        {
            self.report(
                Diagnostic::new("W0624", at, format!("`{name}` takes {bytes} bytes of every thread: it will not stay in registers"))
                    .label("larger than the register file allows")
                    .help("use `shared` memory, or a smaller tile"),
            );
        }
    }

    /// A value that is not data, as a copy endpoint.
    pub(super) fn expect_scalar_value(&mut self, v: &Value, at: Span) -> bool {
        if let Value::Data(d) = v {
            let name = d.name.clone();
            self.report(
                Diagnostic::new(
                    "E0326",
                    at,
                    format!("an element is assigned a scalar, `{name}` is spanned data"),
                )
                .label("a whole buffer")
                .help(format!("pick an element: `{name}.at(…)`")),
            );
            return false;
        }
        true
    }
}

fn ir_storage(storage: ast::Storage) -> Storage {
    match storage {
        ast::Storage::Global => Storage::Host,
        ast::Storage::Shared => Storage::Shared,
        ast::Storage::Local => Storage::Local,
    }
}

/// Whether zero-filling can make a difference.
fn zero_fill_useful(source: &View, zero_fill: bool, dest: &View) -> bool {
    zero_fill && (source.may_cross() || source.shape != dest.shape)
}

fn engine_word(c: &CopyStmt) -> &'static str {
    match c.engine {
        ast::Engine::Dma => "dma",
        ast::Engine::Tma => "tma",
    }
}
