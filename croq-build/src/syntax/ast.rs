//! The tree of one `__co__` function as written: every node has its span in the unexpanded text;
//! names are not resolved, and nothing that a later check examines is desugared.

use std::collections::HashSet;
use std::sync::Arc;

use crate::source::Span;
pub use crate::source::token::ElemType;

/// An identifier as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

impl Name {
    pub fn is_wildcard(&self) -> bool {
        self.text == "_"
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    Global,
    Shared,
    Local,
}

/// From outer to inner; the order of the variants is the nesting order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Device,
    Cluster,
    Block,
    Group4,
    Group,
    Thread,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub ret: RetType,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
    /// From `__co__` to the closing brace.
    pub span: Span,
    /// Whether its braces match.
    pub complete: bool,
    /// The identifiers in branches of `if constexpr` that were removed before parsing.
    pub untaken: Arc<HashSet<Arc<str>>>,
}

#[derive(Clone, Debug)]
pub enum RetType {
    Void(Span),
    Auto(Span),
    Typed(ParamType),
}

#[derive(Clone, Debug)]
pub struct Param {
    /// A storage keyword before the type (`shared` and `local` are errors that sema reports).
    pub storage: Option<(Storage, Span)>,
    pub ty: ParamType,
    pub by_ref: Option<Span>,
    pub name: Option<Name>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct ParamType {
    pub kind: ParamTypeKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ParamTypeKind {
    Scalar(ElemType),
    Stream,
    Spanned {
        elem: ElemType,
        dims: Vec<Dim>,
    },
    /// `T mdspan<N>`: N anonymous dimensions.
    SpannedRank {
        elem: ElemType,
        rank: Expr,
    },
    /// A type that a parameter cannot have (`event`, `mdspan`, `ituple`, …), for a separate error.
    /// A word that is no type, and the extents after it.
    Unsupported(String, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub enum Dim {
    /// `?`
    Anonymous(Span),
    /// `??`
    Unbounded(Span),
    /// Any expression; an identifier alone declares or uses a symbolic dimension.
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A `;` alone.
    Empty,
    /// A block `{ … }` that is a statement.
    Block(Block),
    /// `[mdspan[<N>]] name : expr;`
    Mdspan {
        rank: Option<Expr>,
        name: Name,
        value: Expr,
    },
    /// `ituple[<N>] name = expr;`
    Ituple {
        rank: Option<Expr>,
        name: Name,
        value: Expr,
    },
    /// `[storage] [mutable] type a = e, b{e}, c;` or `mutable a = e;` (no type).
    Scalar {
        storage: Option<(Storage, Span)>,
        mutable: Option<Span>,
        ty: Option<(ElemType, Span)>,
        items: Vec<ScalarItem>,
    },
    /// `[storage] T [shape] a, b[4]{v};`
    Buffer {
        storage: Option<(Storage, Span)>,
        mutable: Option<Span>,
        elem: (ElemType, Span),
        shape: BufferShape,
        items: Vec<BufferItem>,
    },
    /// `frag T [shape] a[2]{v};`, and `frag[.T] a[2]{v}` (shape empty).
    Frag {
        elem: Option<(ElemType, Span)>,
        shape: Option<Vec<Expr>>,
        items: Vec<BufferItem>,
    },
    Event {
        storage: Option<(Storage, Span)>,
        count: Option<Expr>,
        items: Vec<EventItem>,
    },
    /// `target op= value`; declares `target` if it is a name that is not visible yet.
    Assign {
        target: Expr,
        op: Option<BinOp>,
        value: Expr,
    },
    /// `++x`, `x++`, `--x`, `x--` as a statement.
    Increment {
        target: Expr,
        by: i8,
    },
    Copy(CopyStmt),
    /// `f = dma.any;`
    AnyFuture {
        name: Name,
        engine: Engine,
    },
    /// `f = view.map<storage>(a, b);`
    Map {
        name: Name,
        source: Expr,
        remap: bool,
        storage: Storage,
        args: Vec<Expr>,
    },
    Mma(MmaStmt),
    FragOp {
        op: FragOp,
        op_span: Span,
        args: Vec<Expr>,
    },
    Apply {
        names: Vec<Name>,
        frag: Name,
        body: Block,
    },
    Wait(Vec<Expr>),
    Trigger {
        cluster: bool,
        events: Vec<Expr>,
        after: Vec<Name>,
    },
    Swap {
        names: Vec<Name>,
    },
    Rotate {
        names: Vec<Name>,
    },
    /// `call …`, `assert …`, `print …`, `__bar_sync …`, an atomic, an intrinsic: an expression
    /// whose kind is `Expr::Call`.
    Call(Expr),
    Return(Option<Expr>),
    /// `sync.shared`, `sync.global`, `sync.local`
    SyncStorage(Storage),
    /// `sync.barrier : level`
    SyncBarrier(Level),
    /// `sync.fence : level [<storage>]`
    SyncFence(Level, Option<Storage>),
    Cpp(String),
    Asm(AsmStmt),
    Break,
    Continue,
    Yield,
    Parallel(ParallelStmt),
    With {
        bindings: Vec<Within>,
        where_: Vec<(Name, Name)>,
        body: Block,
    },
    Foreach(ForeachStmt),
    Inthreads {
        is_async: bool,
        pred: Expr,
        body: Block,
    },
    While {
        cond: Expr,
        body: Block,
    },
    If {
        cond: Expr,
        then: Block,
        otherwise: Option<Block>,
    },
    /// A statement that did not parse; the error has been reported.
    Error,
}

impl StmtKind {
    /// The blocks directly inside the statement.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let blocks = match self {
            StmtKind::Block(b)
            | StmtKind::With { body: b, .. }
            | StmtKind::Inthreads { body: b, .. }
            | StmtKind::While { body: b, .. }
            | StmtKind::Apply { body: b, .. } => [Some(b), None],
            StmtKind::Foreach(f) => [Some(&f.body), None],
            StmtKind::Parallel(p) => [Some(&p.body), None],
            StmtKind::If {
                then, otherwise, ..
            } => [Some(then), otherwise.as_ref()],
            _ => [None, None],
        };
        blocks.into_iter().flatten()
    }
}

#[derive(Clone, Debug)]
pub struct ScalarItem {
    pub name: Name,
    pub init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub enum BufferShape {
    Dims(Vec<Expr>),
    Auto(Span),
}

#[derive(Clone, Debug)]
pub struct BufferItem {
    pub name: Name,
    /// `name[4][2]`: an array of buffers.
    pub array: Vec<Expr>,
    pub init: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct EventItem {
    pub name: Name,
    pub array: Vec<Expr>,
    pub ready: Option<Span>,
}

#[derive(Clone, Debug)]
pub struct ParallelStmt {
    pub attrs: Vec<ParallelAttr>,
    pub is_async: Option<Span>,
    pub stream: Option<Name>,
    /// Items separated by commas: nested levels without code in between.
    pub items: Vec<ParallelItem>,
    pub body: Block,
    /// `parallel … by … [: level]`, without the body.
    pub header: Span,
}

#[derive(Clone, Debug)]
pub struct ParallelItem {
    pub binding: Binding,
    pub bound: ParallelBound,
    pub level: Option<LevelSpec>,
    pub span: Span,
}

/// The names bound by a `parallel` item or a `with`/`foreach` clause.
#[derive(Clone, Debug)]
pub enum Binding {
    /// `parallel by N`
    None,
    /// `p`
    One(Name),
    /// `{a, b}` or `t = {a, b}`
    Tuple {
        whole: Option<Name>,
        parts: Vec<Name>,
    },
}

#[derive(Clone, Debug)]
pub enum ParallelBound {
    /// `by N`
    Single(Expr),
    /// `by [A, B]`
    List(Vec<Expr>, Span),
}

#[derive(Clone, Debug)]
pub struct LevelSpec {
    pub level: Level,
    pub span: Span,
    pub device: Option<Name>,
    pub cooperative: Option<Span>,
    /// `: term`, which has no effect.
    pub term: bool,
}

#[derive(Clone, Debug)]
pub struct ParallelAttr {
    pub name: Name,
    pub args: Vec<Expr>,
    /// `launch_bounds(2);` in the body.
    pub in_body: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Within {
    pub binding: Binding,
    pub bound: Expr,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct ForeachStmt {
    pub ranges: ForeachRanges,
    pub suffixes: Vec<LoopSuffix>,
    pub body: Block,
    pub header: Span,
}

#[derive(Clone, Debug)]
pub enum ForeachRanges {
    /// `foreach x in …`: sugar for `with x in … foreach x`.
    Within(Vec<Within>),
    /// `foreach a, c = b(lo:hi:step)`
    Ranges(Vec<ForeachRange>),
}

#[derive(Clone, Debug)]
pub struct ForeachRange {
    pub alias: Option<Name>,
    pub name: Name,
    pub slice: Option<Slice>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Slice {
    pub lo: Option<Expr>,
    pub hi: Option<Expr>,
    pub step: Option<Expr>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum LoopSuffix {
    Unroll(Option<Expr>, Span),
    Vectorize(Name, Expr, Span),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Dma,
    Tma,
}

#[derive(Clone, Debug)]
pub enum CopyOp {
    Copy,
    /// `tma.load`
    Load,
    Transp(Vec<Expr>),
    Pad {
        low: Vec<Expr>,
        high: Vec<Expr>,
        mid: Vec<Expr>,
        value: Expr,
    },
}

#[derive(Clone, Debug)]
pub struct CopyStmt {
    pub name: Option<Name>,
    pub engine: Engine,
    pub op: CopyOp,
    /// `.async`, with the event of `.async<full[s]>`.
    pub is_async: Option<(Span, Option<Expr>)>,
    pub modifiers: Vec<(CopyModifier, Span)>,
    pub source: Expr,
    pub dest: CopyDest,
    pub after: Option<Name>,
    /// `dma.copy…` up to the source.
    pub head: Span,
}

#[derive(Clone, Debug)]
pub enum CopyModifier {
    /// `.swiz<N>`; bare `.swiz` has `None`.
    Swizzle(Option<Expr>),
    Zfill,
    Sparse(Option<(Expr, Expr)>),
    Promote(Expr),
    Multicast,
    EvictFirst,
    EvictLast,
}

#[derive(Clone, Debug)]
pub enum CopyDest {
    /// A view, future or `select(…)`.
    View(Expr),
    Storage(Storage, Span),
}

/// A tensor core operation, as written.
#[derive(Clone, Debug)]
pub struct MmaStmt {
    pub target: Option<Name>,
    pub op: MmaOp,
    pub is_async: bool,
    pub operands: Vec<Expr>,
    pub k_tiles: Option<Vec<Expr>>,
}

#[derive(Clone, Debug)]
pub enum MmaOp {
    Fill(Option<ElemType>),
    Load {
        frag: bool,
        swizzle: Option<Expr>,
    },
    /// `mma.row.col`: K is the last dimension of A (`row`) and the first of B (`col`).
    Multiply {
        a_row: bool,
        b_row: bool,
        scale: bool,
        sparse: bool,
    },
    Store {
        transposed: bool,
        masked: bool,
    },
    Scale,
    Commit,
    /// `mma.wait<N>`; the operand is N.
    Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FragOp {
    ReduceMax,
    ReduceSum,
    AllReduceSum,
    Copy,
}

impl FragOp {
    pub const ALL: [Self; 4] = [
        Self::ReduceMax,
        Self::ReduceSum,
        Self::AllReduceSum,
        Self::Copy,
    ];

    pub fn text(self) -> &'static str {
        match self {
            Self::ReduceMax => "reduce_max",
            Self::ReduceSum => "reduce_sum",
            Self::AllReduceSum => "all_reduce_sum",
            Self::Copy => "copy",
        }
    }
}

#[derive(Clone, Debug)]
pub struct AsmStmt {
    pub volatile: bool,
    pub template: String,
    pub outputs: Vec<AsmOperand>,
    pub inputs: Vec<AsmOperand>,
    pub clobbers: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct AsmOperand {
    pub name: Option<Name>,
    pub constraint: String,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: Box<ExprKind>,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    Int {
        value: i128,
        suffix: IntSuffix,
    },
    /// `f32` when `single`, else `f64`.
    Float {
        value: f64,
        single: bool,
    },
    Bool(bool),
    Str(String),
    Inf,
    Nullptr,
    Name(String),
    /// `(e)`; a node, because `(i)` means "element i" inside a derivation.
    Paren(Expr),
    Unary(UnaryOp, Expr),
    Binary(BinOp, Span, Expr, Expr),
    Ternary(Expr, Expr, Expr),
    /// Prefix `#x`.
    Extent(Expr),
    /// `++x`/`--x` (prefix) or `x++`/`x--`.
    Increment {
        prefix: bool,
        by: i8,
        target: Expr,
    },
    /// `&x`, `&buf.at(i)`
    AddressOf(Expr),
    /// `[a, b]` in a shape position.
    List(Vec<Expr>),
    /// `{a, b}`
    Braces(Vec<Expr>),
    /// `x(k)`: element of a shape or ituple, or get-ith of a bounded variable.
    Element(Expr, Expr),
    /// `a[i]`, or `s [(0)/2, 1]` (mdspan derivation) if there are several items or parenthesised
    /// ones.
    Subscript(Expr, Vec<Expr>),
    /// `t {(0), 5}`
    Derive(Expr, Vec<Expr>),
    /// `|e|`
    Count(Expr),
    /// `|s32|`
    SizeOf(ElemType),
    /// `base.span`, `.data`, `.mdata`
    Member(Expr, Member, Span),
    /// `base.at(i, j)`
    At(Expr, Vec<Expr>),
    /// A tile operator on a view; `span` covers the operator and its arguments.
    View(Expr, ViewOp, Span),
    /// `cdiv(a, b)`, `__alignup(x, a)`, `__aligndown(x, a)`
    Builtin {
        name: Name,
        args: Vec<Expr>,
    },
    /// `__to<T>(e)`
    Cast(ElemType, Expr),
    /// `__to<"T*">(e)`
    CppCast(String, Expr),
    /// `select(i, x, y)`: its operands, and its number in the function, because all tokens that one use of a
    /// macro makes have the same span.
    Select(Vec<Expr>, usize),
    Call(CallExpr),
    /// `_` as a tiling argument.
    Wildcard,
    /// A sub-expression that did not parse; the error has been reported.
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntSuffix {
    pub unsigned: bool,
    pub long: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    Span,
    Data,
    Mdata,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ViewOp {
    Chunkat(Vec<Expr>),
    Chunk {
        factors: Vec<Expr>,
        at: Vec<Expr>,
    },
    Subspan {
        extents: Vec<Expr>,
        strides: Vec<Expr>,
        step: Vec<Expr>,
        at: Option<Vec<Expr>>,
    },
    Modspan {
        extents: Vec<Expr>,
        at: Option<Vec<Expr>>,
    },
    /// `.view(e… [: s…])[.from(o…)]`
    Window {
        extents: Vec<Expr>,
        strides: Vec<Expr>,
        from: Option<Vec<Expr>>,
    },
    SpanAs(Vec<Expr>),
    Squeeze,
    /// `.zfill` on the source view.
    Zfill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Not,
    Neg,
    BitNot,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    LogicAnd,
    LogicOr,
    Lt,
    Gt,
    Le,
    Ge,
    Eq,
    Ne,
    /// Infix `#`.
    Compose,
    /// `#+`, `#-`, `#*`, `#/`, `#%`
    BoundAdd,
    BoundSub,
    BoundMul,
    BoundDiv,
    BoundRem,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallExpr {
    pub kind: CallKind,
    /// The qualified name, `a::b::c`.
    pub callee: Name,
    pub targs: Vec<TemplateArg>,
    pub args: Vec<Expr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// `call f(…)`
    Device,
    /// `f(…)` without `call`: a math builtin, an atomic, `assert`, `print`, or an intrinsic.
    Plain,
    /// `print!`, `println!`
    CompileTime,
}

#[derive(Clone, Debug, PartialEq)]
pub enum TemplateArg {
    Type(ElemType, Span),
    Name(Name),
    Expr(Expr),
}
