//! Metadata of sparse MMAs: each thread loads the positions that the PTX ISA requires of it.
//!
//! In memory it is stored row by row, with one bit for each element along K; if K of an instruction
//! is 16, 32-bit words have them in their lower halves. See [`Metadata`] for its layout in registers.

use super::load::inside;
use super::pass::{Pass, element, elements_per_thread, load_of, register};

use crate::ir::build;
use crate::ir::{
    BinOp, BufferId, Expr, ExprKind, FragmentLayout, METADATA_HALF, METADATA_ROWS, METADATA_WORD,
    Metadata, Part, Scalar, Selected, Stmt, StmtKind, View, Visit, walk_block,
};
use crate::sorted::SortedSet;
use crate::source::Span;
use crate::symbolic::Sym;

/// Elements outside of the data count as zeros, which have positions, too: 0 and 1 in each group of
/// four bits.
const OF_ZEROS: i128 = 0x4444_4444;
/// Bits of a thread's part of a row, where it is half a word.
const HALF: i64 = METADATA_HALF;

/// The destinations of copies that may fill a tile at an edge with zeros.
pub fn filled_at_edges(body: &[Stmt]) -> SortedSet<BufferId> {
    struct Find(SortedSet<BufferId>);
    impl Visit for Find {
        fn stmt(&mut self, stmt: &Stmt) {
            if let StmtKind::Copy(copy) = &stmt.kind
                && copy.source.may_cross()
            {
                self.0.insert(copy.dest.buffer);
            }
        }
    }
    let mut find = Find(SortedSet::new());
    walk_block(body, &mut find);
    find.0
}

/// A fragment of metadata.
pub struct Words {
    buffer: BufferId,
    first: Sym,
    layout: Metadata,
    /// Registers for 16 rows.
    registers: i64,
}

impl Words {
    pub fn of(pass: &Pass<'_>, part: &Part) -> Option<Self> {
        let Some(FragmentLayout::Metadata(layout)) = pass.layout(part) else {
            return None;
        };
        let fragment = pass.function.fragments.get(&part.buffer)?;
        let [_, words] = fragment.shape.as_slice() else {
            return None;
        };
        let number = part.number.clone().unwrap_or_else(Sym::zero);
        Some(Self {
            buffer: part.buffer,
            first: &number * elements_per_thread(fragment),
            layout,
            registers: layout.registers(*words),
        })
    }

    /// The register and selector for the instruction with number `k` along K, on the 16 rows with
    /// number `rows`.
    pub fn of_instruction(&self, rows: &Sym, k: i64, span: Span) -> Selected {
        let (number, selector) = self.layout.of_instruction(k);
        let at = &(&self.first + &(rows * self.registers)) + number;
        let register = register(self.buffer, at, span);
        Selected { register, selector }
    }
}

pub fn load(
    pass: &mut Pass<'_>,
    into: &Part,
    layout: Metadata,
    source: &View,
    span: Span,
) -> Option<Vec<Stmt>> {
    let to = Words::of(pass, into)?;
    let [rows, words] = pass.function.fragments.get(&into.buffer)?.shape[..] else {
        return None;
    };
    let lanes = pass.lanes();
    let mut stmts = Vec::new();
    let two = Sym::int(2);
    let pair = pass.function.cx.div(&lanes.place, &two);
    let odd = pass.function.cx.rem(&lanes.place, &two);
    let pair = pass.named("pair_of_lane", pair, 2, span, &mut stmts);
    let odd = pass.named("odd_lane", odd, 2, span, &mut stmts);
    let row = lanes.row_in(layout.warps, METADATA_ROWS);
    let from = Source {
        view: source,
        elem: pass.function.buffer(source.buffer).elem,
        k: layout.k,
        row,
        pair,
        odd,
        span,
    };
    // Of each 64 rows, a warp of a warpgroup has 16.
    let below = METADATA_ROWS * layout.warps;
    let cut = pass.cut.contains(&source.buffer);
    let store = |pass: &mut Pass<'_>, i: &Sym, number: Sym, from: &Source<'_>| {
        let place = [i * below, &number * 2];
        let at = &(&to.first + &(i * to.registers)) + &number;
        let (mut stmts, mut value) = (Vec::new(), from.register(pass, place));
        if cut {
            let (stmt, bits) = build::value(pass.function, "positions", value);
            stmts.push(stmt);
            value = from.with_positions_of_zeros(bits);
        }
        let store = StmtKind::Store {
            access: register(to.buffer, at, span),
            op: None,
            value,
        };
        stmts.push(Stmt::new(store, span));
        stmts
    };
    let tiles = ("i", rows / below, 1);
    let halves = layout.halves(words);
    if halves >= 4 {
        let axes = [tiles, ("r", halves / 4, 1)];
        stmts.extend(pass.loops(&axes, span, |pass, indices| match indices {
            [i, number] => store(pass, i, number.clone(), &from),
            _ => Vec::new(),
        }));
    }
    let left = halves % 4;
    if left > 0 {
        // The last threads provide no metadata, and load the same as the first ones.
        let odd = match left {
            1 => Sym::zero(),
            2 => from.odd.clone(),
            _ => {
                let half = pass.function.cx.rem(&lanes.place, &Sym::int(left));
                pass.named("half_of_lane", half, left, span, &mut stmts)
            }
        };
        let pair = Sym::zero();
        let from = Source { pair, odd, ..from };
        stmts.extend(pass.loops(&[tiles], span, |pass, indices| {
            let i = indices.iter().sum();
            store(pass, &i, Sym::int(halves / 4), &from)
        }));
    }
    Some(stmts)
}

/// Metadata in memory, and the part of it that the lane loads.
struct Source<'v> {
    view: &'v View,
    elem: Scalar,
    k: i64,
    row: Sym,
    /// The lane's part of a row: of each two words, or of each four halves.
    pair: Sym,
    /// The lane's half of the word.
    odd: Sym,
    span: Span,
}

impl Source<'_> {
    /// Whether only the lower half of each word has positions.
    fn in_lower_halves(&self) -> bool {
        self.k == METADATA_HALF && self.elem == Scalar::U32
    }

    /// Bits of an element that are positions.
    fn bits_of_element(&self) -> i64 {
        match self.in_lower_halves() {
            true => HALF,
            false => self.elem.size() * 8,
        }
    }

    /// A register, given the first row and word of its instruction.
    fn register(&self, pass: &Pass<'_>, place: [Sym; 2]) -> Expr {
        if self.k > METADATA_WORD {
            let row = &self.row + &(&self.odd * 8);
            return self.bits(pass, &place, [&row, &self.pair], 32);
        }
        let [row, word] = place;
        let below = [&row + 8, word.clone()];
        let halves = [[row, word], below].map(|place| self.half(pass, &place));
        let [low, high] = halves;
        let high = self.shifted(BinOp::Shl, high, Sym::int(HALF));
        self.binary(BinOp::Or, low, high)
    }

    /// The lane's half of a word.
    fn half(&self, pass: &Pass<'_>, place: &[Sym; 2]) -> Expr {
        let lane = [&self.row, &self.pair];
        let mut half = match self.bits_of_element() {
            32 => {
                let word = self.bits(pass, place, lane, 32);
                self.shifted(BinOp::Shr, word, &self.odd * HALF)
            }
            _ => self.bits(pass, place, lane, HALF),
        };
        if self.elem == Scalar::U32 {
            half = self.binary(BinOp::And, half, Expr::int(0xffff, Scalar::U32, self.span));
        }
        half
    }

    /// The number `bits` of bits from a place on. The place is given in rows and words, as the sum
    /// of a known part and one of the lane.
    fn bits(&self, pass: &Pass<'_>, place: &[Sym; 2], lane: [&Sym; 2], bits: i64) -> Expr {
        let size = self.bits_of_element();
        let of_word = METADATA_WORD / size;
        let [row, word] = place;
        let [row_of_lane, word_of_lane] = lane;
        let mut column = word_of_lane * of_word;
        if bits == HALF {
            column = &column + &(&self.odd * (HALF / size));
        }
        let of_lane = [row_of_lane.clone(), column];
        let mut all: Option<Expr> = None;
        for part in 0..bits / size {
            let known = [row.clone(), &(word * of_word) + part];
            let value = self.element(pass, &known, &of_lane);
            let value = self.shifted(BinOp::Shl, value, Sym::int(part * size));
            all = Some(match all {
                None => value,
                Some(before) => self.binary(BinOp::Or, before, value),
            });
        }
        all.unwrap_or_else(|| Expr::int(OF_ZEROS, Scalar::U32, self.span))
    }

    /// Replaces each group of four zero bits, which a copy writes beyond the edge, by the positions
    /// 0 and 1.
    fn with_positions_of_zeros(&self, bits: Expr) -> Expr {
        let any = (1..4).fold(bits.clone(), |any, by| {
            let bit = self.shifted(BinOp::Shr, bits.clone(), Sym::int(by));
            self.binary(BinOp::Or, any, bit)
        });
        let lowest = |of: i128| Expr::int(of, Scalar::U32, self.span);
        let any = self.binary(BinOp::And, any, lowest(0x1111_1111));
        let none = self.binary(BinOp::Xor, any, lowest(0x1111_1111));
        let second = self.shifted(BinOp::Shl, none, Sym::int(2));
        self.binary(BinOp::Or, bits, second)
    }

    fn element(&self, pass: &Pass<'_>, known: &[Sym; 2], of_lane: &[Sym; 2]) -> Expr {
        let (elem, span) = (self.elem, self.span);
        let from = element(self.view, known, of_lane, span);
        let mut value = load_of(from, elem, span);
        let place: Vec<Sym> = known.iter().zip(of_lane).map(|(a, b)| a + b).collect();
        if let Some(inside) = inside(&pass.function.cx, self.view, &place, span) {
            let all = (1i128 << (elem.size() * 8)) - 1;
            let zeros = Expr::int(OF_ZEROS & all, elem, span);
            value = Expr::new(ExprKind::Select(inside, value, zeros), elem, span);
        }
        match elem {
            Scalar::U32 => value,
            _ => Expr::new(ExprKind::Cast(value), Scalar::U32, span),
        }
    }

    fn shifted(&self, op: BinOp, value: Expr, by: Sym) -> Expr {
        if by.is_zero() {
            return value;
        }
        let by = Expr::index(by, self.span);
        Expr::new(ExprKind::Binary(op, value, by), Scalar::U32, self.span)
    }

    fn binary(&self, op: BinOp, a: Expr, b: Expr) -> Expr {
        Expr::new(ExprKind::Binary(op, a, b), Scalar::U32, self.span)
    }
}
