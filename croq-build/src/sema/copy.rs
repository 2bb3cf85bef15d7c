//! Copies: which storages, which shapes, whose threads (language 04).

use super::Checker;
use super::data::dense_strides;
use super::scope::Entity;
use super::value::{Data, Value};
use crate::diagnostics::Diagnostic;
use crate::ir::{self, FutureId, Level, StmtKind, Storage, Transform, Valid, View};
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{self, CopyDest, CopyModifier, CopyStmt};

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
        let mut source = source?;
        self.tile_exists(&mut source);
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
                let mut dest = dest?;
                self.tile_exists(&mut dest);
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
        self.tiles_apart(&source.view, &dest.view, &transform, c.head)?;
        let cut = |v: &crate::ir::Valid| v.lo.is_some() || v.hi.is_some();
        let partial = source.view.valid.iter().any(cut);
        // A tile whose number has failed its check is read all the same, as zeros.
        let zero_fill = zero_fill || (partial && self.goes_on());
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
        let name = self.kernel_name();
        self.f.kernels.push(ir::Kernel {
            name,
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
            tracked: Vec::new(),
            escaping: Vec::new(),
            asynchronous: false,
            warpgroups: false,
            one_thread: None,
            unwritten: Default::default(),
            anew: Default::default(),
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
        self.affordable(id, at)?;
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
