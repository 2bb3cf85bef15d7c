//! Copies of random geometry: compares the expanded code, executed thread by thread, with their
//! definition.

use proptest::prelude::*;

use super::expand;
use crate::ir::*;
use crate::passes::model::{Memory, Thread, Value};
use crate::passes::transform::row_padding;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, Var};

const SOURCE: BufferId = BufferId(0);
const DEST: BufferId = BufferId(1);
const FILLER: i128 = 77;

#[derive(Clone, Debug)]
enum Origin {
    Constant(i64),
    /// This many tiles from the start.
    Tiles(i64),
    /// Any number of elements, possibly before the start of the data.
    Anywhere(i64),
}

#[derive(Clone, Debug)]
struct Axis {
    parent: i64,
    parent_is_symbolic: bool,
    /// `None`: all of the parent.
    tile: Option<i64>,
    origin: Origin,
    /// Additional positions in the destination, which are filled.
    more: i64,
    low: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Copy,
    Transpose(Vec<usize>),
    Pad,
}

#[derive(Clone, Debug)]
struct Case {
    elem: Scalar,
    level: Level,
    threads: i64,
    /// The compiler knows their number only as a variable.
    threads_are_symbolic: bool,
    axes: Vec<Axis>,
    kind: Kind,
    zero_fill: bool,
    is_async: bool,
    /// From shared to global memory.
    backwards: bool,
    row_padding: i64,
    dest_offset: i64,
    /// The swizzle of the shared side, where it has rows.
    swizzle: Option<Swizzled>,
}

#[derive(Clone, Copy, Debug)]
struct Swizzled {
    bytes: u32,
    /// The number of tiles in the buffer, and the index of the copy's tile.
    tiles: i64,
    tile: i64,
    /// The destination has another shape with the same elements: its rows are this many groups
    /// wide, if the sizes are divisible.
    reshaped: Option<i64>,
}

impl Case {
    /// Elements of a group; rows are a whole number of groups.
    fn group(&self) -> i64 {
        self.swizzle
            .map_or(1, |s| i64::from(s.bytes) / self.elem.bytes() as i64)
    }
}

/// A function of one kernel with one copy, and the values of its variables.
struct Built {
    function: Function,
    values: SortedMap<Var, i128>,
    copy: Copy,
    /// The destination before its rows were padded.
    before_padding: Option<Buffer>,
}

impl Built {
    fn var(&mut self, name: &str, lo: Option<i64>, hi: Option<Sym>, value: i64) -> Sym {
        let var = self.function.cx.new_var(name, lo.map(Sym::int), hi);
        let id = DimId(u32::try_from(self.values.len()).unwrap());
        self.function.var_home.insert(var, VarHome::Dim(id));
        self.values.insert(var, i128::from(value));
        Sym::var(var)
    }

    fn thread(&self, threads: i64, tid: i128, memory: Memory) -> Thread<'_> {
        Thread {
            values: self.values.clone(),
            memory: Some(memory),
            ..Thread::new(&self.function, i128::from(threads), tid, 1_000_000)
        }
    }
}

fn buffer(name: &str, elem: Scalar, storage: Storage, count: Sym) -> Buffer {
    Buffer {
        name: name.to_owned(),
        elem,
        storage,
        shape: vec![count.clone()],
        count,
        span: Span::default(),
        read: true,
        written: true,
        swizzle: None,
        swaps: false,
    }
}

fn function(case: &Case) -> Function {
    let kernel = Kernel::new("f_0".to_owned(), Span::default(), Sym::int(case.threads));
    Function {
        name: "f".to_owned(),
        span: Span::default(),
        cx: Ctx::new(),
        var_home: SortedMap::new(),
        params: Vec::new(),
        dims: Vec::new(),
        results: Vec::new(),
        buffers: Vec::new(),
        locals: Vec::new(),
        kernels: vec![kernel],
        body: Vec::new(),
        checks: Vec::new(),
        futures: Vec::new(),
        events: Vec::new(),
        signals: Vec::new(),
        fragments: SortedMap::new(),
        reports: false,
        facts: Default::default(),
    }
}

fn dense(shape: &[Sym], row_padding: i64) -> Vec<Sym> {
    let mut strides = Vec::new();
    let mut stride = Sym::one();
    for (at, extent) in shape.iter().rev().enumerate() {
        strides.push(stride.clone());
        let extent = if at == 0 {
            extent + row_padding
        } else {
            extent.clone()
        };
        stride = &stride * &extent;
    }
    strides.reverse();
    strides
}

/// The tile of the parent, with the same limits as in `sema`.
fn tile(built: &mut Built, case: &Case) -> View {
    let mut parents = Vec::new();
    for (at, axis) in case.axes.iter().enumerate() {
        let rows_of_groups = case.backwards && case.swizzle.is_some() && at + 1 == case.axes.len();
        parents.push(if rows_of_groups {
            Sym::int((axis.parent + case.group() - 1) / case.group() * case.group())
        } else if axis.parent_is_symbolic {
            built.var(&format!("N{at}"), Some(1), None, axis.parent)
        } else {
            Sym::int(axis.parent)
        });
    }
    let strides = dense(&parents, 0);
    let mut view = View {
        buffer: SOURCE,
        offset: Sym::zero(),
        shape: Vec::new(),
        strides: strides.clone(),
        valid: Vec::new(),
        frame: None,
        span: Span::default(),
    };
    for (at, axis) in case.axes.iter().enumerate() {
        let parent = &parents[at];
        let extent = axis.tile.map_or_else(|| parent.clone(), Sym::int);
        let origin = match axis.origin {
            Origin::Constant(o) => Sym::int(o),
            Origin::Tiles(p) => {
                let last = built.function.cx.cdiv(parent, &extent) - 1;
                let tiles = axis.tile.map_or(1, |t| (axis.parent + t - 1) / t);
                &built.var(&format!("p{at}"), Some(0), Some(last), p % tiles) * &extent
            }
            Origin::Anywhere(o) => built.var(&format!("o{at}"), None, None, o),
        };
        let cx = &built.function.cx;
        let crosses_low = !cx.le(&Sym::zero(), &origin).is_yes();
        let crosses_high = !cx.le(&(&origin + &extent), parent).is_yes();
        view.valid.push(Valid {
            lo: crosses_low.then(|| -&origin),
            hi: crosses_high.then(|| parent - &origin),
        });
        view.offset = &view.offset + &(&origin * &strides[at]);
        view.shape.push(extent);
    }
    let count: Sym = parents.iter().product();
    let storage = if case.backwards {
        Storage::Shared
    } else {
        Storage::Host
    };
    let mut source = buffer("source", case.elem, storage, count);
    if case.backwards {
        swizzle(case, &mut source, &mut view, &parents);
    }
    built.function.buffers.push(source);
    view
}

/// Replaces the buffer, which has one tile of this shape, by a swizzled one of several tiles.
fn swizzle(case: &Case, buffer: &mut Buffer, view: &mut View, shape: &[Sym]) {
    let (Some(of), Some((columns, outer))) = (case.swizzle, shape.split_last()) else {
        return;
    };
    let rows: Sym = outer.iter().product();
    let tile = &rows * columns;
    buffer.count = &tile * of.tiles;
    buffer.swizzle = Some(Swizzle {
        bytes: of.bytes,
        columns: columns.clone(),
        rows,
    });
    view.offset = &view.offset + &(&tile * of.tile);
}

fn build(case: &Case) -> Built {
    let mut built = Built {
        function: function(case),
        values: SortedMap::new(),
        before_padding: None,
        copy: Copy {
            source: View {
                buffer: SOURCE,
                offset: Sym::zero(),
                shape: Vec::new(),
                strides: Vec::new(),
                valid: Vec::new(),
                frame: None,
                span: Span::default(),
            },
            dest: View {
                buffer: DEST,
                offset: Sym::zero(),
                shape: Vec::new(),
                strides: Vec::new(),
                valid: Vec::new(),
                frame: None,
                span: Span::default(),
            },
            transform: Transform::None,
            zero_fill: case.zero_fill,
            level: case.level,
            engine: Engine::Threads,
            future: case.is_async.then_some(FutureId(0)),
        },
    };
    if case.threads_are_symbolic {
        let threads = built.var("T", Some(1), None, case.threads);
        built.function.kernels[0].threads = threads;
    }
    let source = tile(&mut built, case);
    let mut shape = source.shape.clone();
    let filler = Expr::new(ExprKind::Int(FILLER), case.elem, Span::default());
    built.copy.transform = match &case.kind {
        Kind::Copy => {
            for (extent, axis) in shape.iter_mut().zip(&case.axes) {
                *extent = &*extent + if case.zero_fill { axis.more } else { 0 };
            }
            Transform::None
        }
        Kind::Transpose(perm) => {
            shape = perm.iter().map(|p| source.shape[*p].clone()).collect();
            Transform::Transpose(perm.clone())
        }
        Kind::Pad => {
            for (extent, axis) in shape.iter_mut().zip(&case.axes) {
                *extent = &*extent + axis.low as i64 + axis.more;
            }
            Transform::Pad {
                low: case.axes.iter().map(|a| Sym::int(a.low as i64)).collect(),
                value: filler,
            }
        }
    };
    let swizzled = case.swizzle.is_some() && !case.backwards;
    let mut declared = shape.clone();
    let groups = case.swizzle.and_then(|s| s.reshaped);
    let elements = shape.iter().product::<Sym>().as_int();
    let columns = groups.map_or(1, |g| g * case.group());
    let rows = elements.filter(|n| groups.is_some() && n % columns == 0);
    let (strides, count) = if let (true, Some(rows)) = (swizzled, rows.map(|n| n / columns)) {
        declared = vec![Sym::int(rows), Sym::int(columns)];
        (dense(&shape, 0), Sym::one())
    } else if swizzled {
        if let Some(columns) = declared.last_mut() {
            let least = &*columns + case.dest_offset + case.row_padding;
            *columns = built.function.cx.align_up(&least, &Sym::int(case.group()));
        }
        (dense(&declared, 0), Sym::one())
    } else {
        let strides = dense(&shape, case.row_padding);
        let steps = shape.iter().zip(&strides);
        let count = steps.fold(Sym::int(case.dest_offset + 1), |n, (e, s)| {
            &n + &(&(e - 1) * s)
        });
        (strides, count)
    };
    let storage = if case.backwards {
        Storage::Host
    } else {
        Storage::Shared
    };
    if rows.is_none() || !swizzled {
        built.copy.dest.offset = Sym::int(case.dest_offset);
    }
    let mut dest = buffer("dest", case.elem, storage, count);
    if swizzled {
        swizzle(case, &mut dest, &mut built.copy.dest, &declared);
    } else if case.row_padding == 0 && case.dest_offset == 0 {
        dest.shape.clone_from(&shape);
    }
    built.function.buffers.push(dest);
    built.copy.dest.valid = shape.iter().map(|_| Valid::default()).collect();
    built.copy.dest.shape = shape;
    built.copy.dest.strides = strides;
    built.copy.source = source;
    if case.backwards {
        std::mem::swap(&mut built.copy.source, &mut built.copy.dest);
    }
    let stmt = Stmt::new(StmtKind::Copy(built.copy.clone()), Span::default());
    built.function.kernels[0].body = vec![stmt];
    let before = built.function.buffer(DEST).clone();
    row_padding::pad(&mut built.function, KernelId(0));
    if built.function.buffer(DEST).count != before.count {
        built.before_padding = Some(before);
    }
    expand(&mut built.function, KernelId(0));
    built
}

fn contains(thread: &Thread, view: &View, at: &[i128]) -> bool {
    let inside = |axis: usize| {
        let v = &view.valid[axis];
        0 <= at[axis]
            && at[axis] < thread.sym(&view.shape[axis])
            && v.lo.as_ref().is_none_or(|lo| thread.sym(lo) <= at[axis])
            && v.hi.as_ref().is_none_or(|hi| at[axis] < thread.sym(hi))
    };
    (0..at.len()).all(inside)
}

fn element(thread: &Thread, view: &View, at: &[i128]) -> i128 {
    let strides = view.strides.iter().map(|s| thread.sym(s));
    thread.sym(&view.offset) + strides.zip(at).map(|(s, i)| s * i).sum::<i128>()
}

/// The place of element number `e` of a buffer, without the permutation of units.
fn place(built: &Built, thread: &Thread, buffer: BufferId, e: i128) -> i128 {
    if let (DEST, Some(before)) = (buffer, &built.before_padding) {
        let columns = before.shape.last().map_or(1, |c| thread.sym(c));
        let lines = thread.sym(&before.count) / columns;
        let apart = thread.sym(&built.function.buffer(DEST).count) / lines;
        assert!(
            columns < apart && apart <= columns + 4,
            "{columns} in {apart}"
        );
        return e / columns * apart + e % columns;
    }
    let buffer = thread.function.buffer(buffer);
    let Some(swizzle) = &buffer.swizzle else {
        return e;
    };
    let (columns, rows) = (thread.sym(&swizzle.columns), thread.sym(&swizzle.rows));
    let width = i128::from(swizzle.bytes) / i128::from(buffer.elem.bytes());
    let (tile, row, column) = (e / columns / rows, e / columns % rows, e % columns);
    let in_tile = column / width * rows * width + row * width + column % width;
    tile * rows * columns + in_tile
}

/// The contents of the destination after the copy, by definition.
fn meaning(built: &Built, before: &Memory) -> SortedMap<i128, i128> {
    let copy = &built.copy;
    let thread = built.thread(1, 0, Memory::new());
    let rank = copy.dest.rank();
    let (perm, low, filler): (Vec<usize>, Vec<i128>, Option<i128>) = match &copy.transform {
        Transform::None => (
            (0..rank).collect(),
            vec![0; rank],
            copy.zero_fill.then_some(0),
        ),
        Transform::Transpose(perm) => (perm.clone(), vec![0; rank], copy.zero_fill.then_some(0)),
        Transform::Pad { low, .. } => {
            let low = low.iter().map(|s| thread.sym(s)).collect();
            ((0..rank).collect(), low, Some(FILLER))
        }
    };
    let shape: Vec<i128> = copy.dest.shape.iter().map(|s| thread.sym(s)).collect();
    let mut result = SortedMap::new();
    for number in 0..shape.iter().product() {
        let mut rest = number;
        let mut to = vec![0; rank];
        for axis in (0..rank).rev() {
            to[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        if !contains(&thread, &copy.dest, &to) {
            continue;
        }
        let mut from = vec![0; rank];
        for axis in 0..rank {
            from[perm[axis]] = to[axis] - low[axis];
        }
        let value = if contains(&thread, &copy.source, &from) {
            let e = element(&thread, &copy.source, &from);
            let at = place(built, &thread, copy.source.buffer, e);
            before.get(&(copy.source.buffer, at)).map(|v| v.int())
        } else {
            filler
        };
        if let Some(value) = value {
            let e = element(&thread, &copy.dest, &to);
            result.insert(place(built, &thread, copy.dest.buffer, e), value);
        }
    }
    result
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let built = build(case);
    let body = &built.function.kernels[0].body;
    let (from, to) = (built.copy.source.buffer, built.copy.dest.buffer);
    let probe = built.thread(1, 0, Memory::new());
    let count = |id: BufferId| probe.sym(&built.function.buffer(id).count);
    let before: Memory = (0..count(from))
        .map(|e| ((from, e), Value::Int(e + 1000)))
        .collect();
    let expected = meaning(&built, &before);

    let mut memory = before;
    let mut written = SortedSet::new();
    for tid in 0..case.threads {
        let mut thread = built.thread(case.threads, i128::from(tid), std::mem::take(&mut memory));
        thread.block(body);
        prop_assert!(thread.fuel > 0);
        for event in &thread.events {
            let inside = 0 <= event.element && event.element < count(event.buffer);
            prop_assert!(inside, "{event:?}\n{body:#?}");
            let first = !event.write || written.insert(event.element);
            prop_assert!(
                first || case.level != Level::Block,
                "twice: {event:?}\n{body:#?}"
            );
        }
        memory = thread.memory.take().unwrap_or_default();
    }
    let found: SortedMap<i128, i128> = memory
        .into_iter()
        .filter_map(|((buffer, e), v)| (buffer == to).then_some((e, v.int())))
        .collect();
    prop_assert_eq!(&found, &expected, "{:#?}", body);
    let commits = body
        .iter()
        .filter(|s| matches!(s.kind, StmtKind::CommitCopies))
        .count();
    prop_assert_eq!(commits, usize::from(case.is_async));
    Ok(())
}

fn extent(most: i64) -> impl Strategy<Value = i64> {
    prop_oneof![
        1..=most,
        (1..=most).prop_map(move |n| (n * 8 - 1) % most / 8 * 8 + 8.min(most))
    ]
}

fn axis(most: i64) -> impl Strategy<Value = Axis> {
    let origin = prop_oneof![
        2 => (0..4i64).prop_map(Origin::Tiles),
        1 => (0..3i64).prop_map(|o| Origin::Constant(o * 4)),
        1 => (-8..24i64).prop_map(Origin::Anywhere),
    ];
    let parent = extent(most * 2);
    let tile = prop_oneof![4 => extent(most).prop_map(Some), 1 => Just(None)];
    let more = prop_oneof![3 => Just(0), 1 => 1..9i64];
    let low = prop_oneof![1 => Just(0u64), 1 => 1..9u64];
    (parent, any::<bool>(), tile, origin, more, low).prop_map(
        |(parent, parent_is_symbolic, tile, origin, more, low)| Axis {
            parent,
            parent_is_symbolic,
            origin: if tile.is_none() {
                Origin::Constant(0)
            } else {
                origin
            },
            tile,
            more,
            low,
        },
    )
}

fn cases() -> impl Strategy<Value = Case> {
    let axes = (1..=5usize).prop_flat_map(|rank| {
        let outer = [0, 24, 6, 3, 2][rank - 1];
        let inner = [300, 64, 32, 16, 16][rank - 1];
        let outer = proptest::collection::vec(axis(outer.max(1)), rank - 1);
        (outer, axis(inner)).prop_map(|(mut axes, inner)| {
            axes.push(inner);
            axes
        })
    });
    let with_kind = axes.prop_flat_map(|axes| {
        let identity: Vec<usize> = (0..axes.len()).collect();
        let kind = prop_oneof![
            6 => Just(Kind::Copy),
            1 => Just(identity).prop_shuffle().prop_map(Kind::Transpose),
            1 => Just(Kind::Pad),
        ];
        (Just(axes), kind)
    });
    let elem = prop::sample::select(vec![Scalar::U8, Scalar::F16, Scalar::F32, Scalar::F64]);
    let who = prop::sample::select(vec![
        (Level::Block, 32),
        (Level::Block, 64),
        (Level::Block, 96),
        (Level::Block, 128),
        (Level::Block, 256),
        (Level::Warpgroup, 128),
        (Level::Warp, 64),
        (Level::Thread, 1),
    ]);
    let place = (
        prop_oneof![3 => Just(0i64), 1 => Just(8), 1 => 1..9i64],
        prop_oneof![3 => Just(0i64), 1 => Just(16), 1 => 1..9i64],
    );
    let symbolic = prop_oneof![3 => Just(false), 1 => Just(true)];
    let widths = prop::sample::select(vec![32, 64, 128]);
    let reshaped = prop::option::weighted(0.3, 1..5i64);
    let swizzle = (widths, 1..4i64, 0..3i64, reshaped);
    let swizzle = swizzle.prop_map(|(bytes, tiles, tile, reshaped)| Swizzled {
        bytes,
        tiles,
        tile: tile % tiles,
        reshaped,
    });
    let swizzle = prop::option::weighted(0.4, swizzle);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), symbolic);
    (elem, who, with_kind, flags, place, swizzle).prop_map(
        |(elem, (level, threads), (axes, kind), flags, place, swizzle)| {
            let (zero_fill, second, third, symbolic) = flags;
            let backwards = second && third && matches!(kind, Kind::Copy);
            Case {
                elem,
                level,
                threads,
                threads_are_symbolic: symbolic && level == Level::Block,
                axes,
                kind,
                zero_fill: zero_fill && !backwards,
                is_async: second && !third,
                backwards,
                row_padding: place.0,
                dest_offset: place.1,
                swizzle,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expanded_copies_match_their_definition(case in cases()) {
        check(&case)?;
    }
}

fn whole(parent: i64, tile: Option<i64>) -> Axis {
    Axis {
        parent,
        parent_is_symbolic: false,
        tile,
        origin: Origin::Constant(0),
        more: 0,
        low: 0,
    }
}

fn through_swizzled_memory(axes: Vec<Axis>, backwards: bool, reshaped: Option<i64>) -> Case {
    Case {
        elem: Scalar::F16,
        level: Level::Block,
        threads: 64,
        threads_are_symbolic: false,
        axes,
        kind: Kind::Copy,
        zero_fill: false,
        is_async: false,
        backwards,
        row_padding: 0,
        dest_offset: 0,
        swizzle: Some(Swizzled {
            bytes: 128,
            tiles: 2,
            tile: 1,
            reshaped,
        }),
    }
}

/// A row of two groups, and then the next but one.
#[test]
fn every_other_row_of_two_groups() {
    let axes = vec![whole(16, None), whole(2, Some(1)), whole(128, None)];
    check(&through_swizzled_memory(axes, true, None)).unwrap();
}

/// Rows of four groups seen as rows of two, of eight, and of one and a half.
#[test]
fn rows_seen_as_others() {
    for columns in [128, 512, 96] {
        let axes = vec![whole(16, None), whole(columns, None)];
        check(&through_swizzled_memory(axes, false, Some(4))).unwrap();
    }
}

/// The pitch of rows of a transposed tile is one word more than their length.
#[test]
fn a_transposed_tile() {
    let mut case = through_swizzled_memory(vec![whole(64, None), whole(32, None)], false, None);
    case.swizzle = None;
    case.kind = Kind::Transpose(vec![1, 0]);
    let apart = build(&case).function.buffer(DEST).count.as_int();
    assert_eq!(apart, Some(32 * 66));
    check(&case).unwrap();
}
