//! `mma.row.col c, a, b`: extents, types, and the instruction.

use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Atom, FragmentLayout, Layout, MmaOp, Scalar, WARP_THREADS};
use crate::sema::state::cx::Cx;
use crate::sema::state::elab::Elab;
use crate::sema::state::fragments::Named;
use crate::sema::tensor_cores::instruction_table::{Missing, WARPGROUP_ROWS, first_nvcc, select};
use crate::sema::tensor_cores::operands::{self, sym};
use crate::sema::tensor_cores::{layouts, owners};
use crate::source::Span;
use crate::syntax::ast::MmaStmt;

/// The number of registers per thread that an accumulator may take before a warning.
const MANY: i64 = 200;
/// The number of registers of a thread.
const MOST: i64 = 255;

pub(crate) fn lower(el: &mut Elab<'_>, m: &MmaStmt, rows: [bool; 2], span: Span) -> Option<()> {
    let [c, a, b] = m.operands.as_slice() else {
        return None;
    };
    let acc = operands::fragment_of(el, c, false);
    let a = operands::fragment_of(el, a, false);
    let b = operands::fragment_of(el, b, false);
    let (acc, a, b) = (acc?, a?, b?);
    let [a_row, b_row] = rows;
    let of_a = shape_of_operand(el, &a)?;
    let of_b = shape_of_operand(el, &b)?;
    let ([m, k], [n, of_b_k]) = (
        transposed_shape(of_a, !a_row),
        transposed_shape(of_b, !b_row),
    );
    if k != of_b_k {
        let (a, b) = ((a.span, of_a, a_row), (b.span, of_b, b_row));
        report_k_differs(&mut el.cx, a, b, [k, of_b_k], span);
        return None;
    }
    fix_accumulator_shape(el, &acc, [m, n], span)?;
    let [of_a, of_b] = [&a, &b].map(|x| el.f.buffer(x.part.buffer).elem);
    let elem = fix_accumulator_type(el, &acc, of_a);
    let atom = choose_instruction(el, [of_a, of_b, elem], [m, n, k], select, span)?;
    check_nvcc(el, [of_a, of_b, elem], &atom, span);
    // The instruction's A has tiles of `atom.m` rows, and is the program's A or B.
    let (rows_a, rows_b) = if atom.swapped {
        (8, atom.m)
    } else {
        (atom.m, 8)
    };
    let matrix = |layout| FragmentLayout::Matrix(layout);
    let of_operand = |rows, elem, row: bool| Layout::operand(rows, elem, !row).with_k(atom.k);
    layouts::assign_layout(el, &a, matrix(of_operand(rows_a, of_a, a_row)))?;
    layouts::assign_layout(el, &b, matrix(of_operand(rows_b, of_b, b_row)))?;
    layouts::assign_layout(el, &acc, matrix(Layout::accumulator(atom.m, atom.swapped)))?;
    check_registers(el, &acc, 0);
    owners::lint_lossy_accumulation(el, &acc, k);
    operands::emit(
        el,
        MmaOp::Multiply {
            acc: acc.part,
            a: a.part,
            b: b.part,
            metadata: None,
            atom,
        },
        span,
    );
    Some(())
}

/// Reports an instruction that the build's nvcc does not know.
fn check_nvcc(el: &mut Elab<'_>, types: [Scalar; 3], atom: &Atom, span: Span) {
    let (Some(first), Some(found)) = (first_nvcc(types, atom), el.cx.options.nvcc) else {
        return;
    };
    if found >= first {
        return;
    }
    let [a, _, acc] = types.map(Scalar::name);
    let [first, found] = [first, found].map(|[major, minor]| format!("{major}.{minor}"));
    let Atom { m, n, k, .. } = atom;
    el.cx.report(
        Diagnostic::new(
            codes::E1114,
            span,
            format!("this MMA needs CUDA {first} or later, and nvcc is of {found}"),
        )
        .label(format!("{m} x {n} x {k} of {a} with sums of {acc}"))
        .help(format!(
            "let CUDA_HOME or NVCC name CUDA {first}; or take sums of f32 and a K that is a multiple of 32"
        )),
    );
}

/// The type of an accumulator; one without a type takes that of A.
pub(crate) fn fix_accumulator_type(el: &mut Elab<'_>, acc: &Named, of_a: Scalar) -> Scalar {
    let id = acc.part.buffer;
    if el.fragments.untyped.remove(&id)
        && let Some(buffer) = el.f.buffers.get_mut(id.index())
    {
        buffer.elem = of_a;
    }
    el.f.buffer(id).elem
}

pub(crate) fn shape_of_operand(el: &mut Elab<'_>, named: &Named) -> Option<[i64; 2]> {
    match operands::fragment_shape(&el.f, named.part.buffer).as_deref() {
        Some([rows, columns]) => Some([*rows, *columns]),
        Some(_) => {
            el.cx.report(
                Diagnostic::new(
                    codes::E0901,
                    named.span,
                    format!("`{}` is no matrix", named.name),
                )
                .label("one extent, an MMA takes two"),
            );
            None
        }
        None => {
            report_without_shape(el, &named.name, named.span);
            None
        }
    }
}

pub(crate) fn report_without_shape(el: &mut Elab<'_>, name: &str, at: Span) {
    el.earlier.incomplete = true;
    if el.fragments.failed {
        return;
    }
    el.cx.report(
        Diagnostic::new(codes::E0913, at, format!("`{name}` has no extents"))
            .label("no MMA of the function determines them")
            .help("multiply into it, or declare it with extents: `frag f32 [16, 8] c {0.0f};`"),
    );
}

pub(crate) fn report_k_differs(
    cx: &mut Cx<'_>,
    (a, of_a, a_row): (Span, [i64; 2], bool),
    (b, of_b, b_row): (Span, [i64; 2], bool),
    [k, other]: [i64; 2],
    span: Span,
) {
    let side = |of: [i64; 2], row: bool, k: i64| {
        let word = if row {
            "`row` has it last"
        } else {
            "`col` has it first"
        };
        format!("[{}, {}]: {word}, K is {k}", of[0], of[1])
    };
    cx.report(
        Diagnostic::new(
            codes::E0902,
            span,
            format!("the operands disagree along K: {k} and {other}"),
        )
        .label("these can't be multiplied")
        .also(a, side(of_a, a_row, k))
        .also(b, side(of_b, b_row, other))
        .help("`row` operands have K last ([M, K], [N, K]), `col` operands first ([K, M], [K, N])"),
    );
}

/// Sets the extents of an accumulator, or compares them.
pub(crate) fn fix_accumulator_shape(
    el: &mut Elab<'_>,
    acc: &Named,
    shape: [i64; 2],
    span: Span,
) -> Option<()> {
    let id = acc.part.buffer;
    match operands::fragment_shape(&el.f, id) {
        None => {
            if let Some(fragment) = el.f.fragments.get_mut(&id) {
                fragment.shape = shape.to_vec();
            }
            if let Some(buffer) = el.f.buffers.get_mut(id.index()) {
                buffer.shape = shape.iter().map(|n| sym(*n)).collect();
                buffer.count = &buffer.count * &sym(shape[0] * shape[1]);
            }
            el.fragments.shaped.insert(id, span);
            Some(())
        }
        Some(before) if before == shape => {
            if el.fragments.open.contains(&id) {
                el.fragments.shaped.entry(id).or_insert(span);
            }
            Some(())
        }
        Some(before) => {
            let before: Vec<String> = before.iter().map(i64::to_string).collect();
            let mut d = Diagnostic::new(
                codes::E0902,
                span,
                format!(
                    "the result of the MMA is [{}, {}], the accumulator `{}` is [{}]",
                    shape[0],
                    shape[1],
                    acc.name,
                    before.join(", ")
                ),
            )
            .label("does not match the extents of the accumulator");
            if let Some(at) = el.fragments.shaped.get(&id) {
                d = d.also(*at, "this MMA determines the extents of the accumulator");
            }
            el.cx.report(d);
            None
        }
    }
}

/// The instruction that `select` finds for the targets.
pub(crate) fn choose_instruction(
    el: &mut Elab<'_>,
    types: [Scalar; 3],
    shape: [i64; 3],
    select: fn([Scalar; 3], [i64; 3], u16) -> Result<Atom, Missing>,
    span: Span,
) -> Option<Atom> {
    let targets = || el.cx.options.targets.iter();
    let newest = targets().max_by_key(|t| t.number);
    let (name, newest) = newest.map_or(("sm_90a".to_owned(), 90), |t| (t.name.clone(), t.number));
    let oldest = targets().map(|t| t.number).min().unwrap_or(80);
    let missing = match select(types, shape, oldest) {
        Ok(atom) => return Some(atom),
        // The kernel is built only for the targets that have the instruction.
        Err(Missing::Target(since)) if since <= newest => match select(types, shape, since) {
            Ok(atom) => {
                report_only_newer(el, types, since, span);
                return Some(atom);
            }
            Err(missing) => missing,
        },
        Err(missing) => missing,
    };
    report_no_instruction(&mut el.cx, types, shape, missing, &name, span);
    None
}

pub(crate) fn report_no_instruction(
    cx: &mut Cx<'_>,
    types: [Scalar; 3],
    shape: [i64; 3],
    missing: Missing,
    name: &str,
    span: Span,
) {
    let [a, b, acc] = types;
    let [m, n, k] = shape;
    let text = format!(
        "no MMA instruction accumulates {a} times {b} in {acc} with the shape {m}x{n}x{k} on {name}"
    );
    let d = Diagnostic::new(codes::E0904, span, text);
    cx.report(match missing {
            Missing::Types if has_no_products(a) || has_no_products(b) => d
                .label("only newer GPUs multiply operands of these types")
                .help("load the elements by threads, and convert them to f16 or s8 with `__to`"),
            Missing::Types => d.label("operands of these types are not multiplied with each other").help(
                "operands are both f16, bf16, f32 (as tf32), f64 or u1, or any of s8 and u8, of s4 and u4, or of f8_e4m3 and f8_e5m2",
            ),
            Missing::TypesOfWarpgroup => d
                .label("a warpgroup does not multiply operands of these types with each other")
                .help("operands are both f16, bf16 or f32 (as tf32), or any of s8 and u8, or any of f8_e4m3 and f8_e5m2"),
            Missing::TypesOfSparse => d
                .label("no sparse MMA takes operands of these types")
                .help("operands are both f16 or bf16, or any of f8_e4m3 and f8_e5m2"),
            Missing::Accumulator(of) => {
                let of: Vec<String> = of.iter().map(Scalar::to_string).collect();
                let first = of.first().cloned().unwrap_or_default();
                d.label(format!("the accumulator of these operands is {}", of.join(" or ")))
                    .help(format!("write `mma.fill.{first}`"))
            }
            Missing::Target(since) => d
                .label(format!("only from sm_{since} on"))
                .help(format!("build for sm_{since} and newer")),
            Missing::Shape([fm, fn_, fk]) => {
                let up = |n: i64, by: i64| (n + by - 1) / by * by;
                d.label(format!("M, N and K are multiples of {fm}, {fn_} and {fk}"))
                    .help(format!("the nearest is {}x{}x{}", up(m, fm), up(n, fn_), up(k, fk)))
            }
            Missing::OfWarpgroup([m, n, k]) => d
                .label(format!(
                    "a warpgroup multiplies multiples of {WARPGROUP_ROWS} rows, and 8 to 256 columns"
                ))
                .help(format!("the nearest is {m}x{n}x{k}")),
        });
}

/// Types that are stored and converted only.
fn has_no_products(ty: Scalar) -> bool {
    use Scalar::{F4E2M1, F6E2M3, F6E3M2, S2, S6, U2, U6};
    matches!(ty, F4E2M1 | F6E2M3 | F6E3M2 | S2 | S6 | U2 | U6)
}

fn report_only_newer(el: &mut Elab<'_>, [a, b, _]: [Scalar; 3], since: u16, span: Span) {
    let header = el.kernel.as_ref().map_or(span, |k| k.header);
    if !el.cx.options.targets_asked || !el.cx.older_left_out.insert(header) {
        return;
    }
    let of = |newer: bool| {
        let targets = el.cx.options.targets.iter();
        let names = targets.filter(|t| (t.number >= since) == newer);
        names
            .map(|t| t.name.as_str())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let text = format!("this kernel is built for {} alone", of(true));
    let label = format!("{} does not multiply {a} with {b}", of(false));
    el.cx
        .report(Diagnostic::new(codes::N0904, span, text).label(label));
}

/// Reports an accumulator that takes more registers than a thread has, and warns of one that takes
/// many, together with `beside` more fragments of the same size.
pub(crate) fn check_registers(el: &mut Elab<'_>, acc: &Named, beside: i64) {
    let id = acc.part.buffer;
    let Some(fragment) = el.f.fragments.get(&id) else {
        return;
    };
    let elements = fragment.shape.iter().product::<i64>();
    let bytes = i64::try_from(el.f.buffer(id).elem.bytes()).unwrap_or(4);
    let warps = fragment.layout.map_or(1, FragmentLayout::warps);
    let of = |count: i64| {
        elements.saturating_mul(count).saturating_mul(bytes) / 4 / (i64::from(WARP_THREADS) * warps)
    };
    let alone = of(fragment.count);
    let registers = of(fragment.count.saturating_add(beside));
    if registers <= MANY || !el.fragments.reported.insert(id) {
        return;
    }
    let name = &acc.name;
    let report = match beside {
        _ if alone > MOST => Diagnostic::new(
            codes::E0933,
            acc.span,
            format!("the accumulator `{name}` needs {alone} registers of each thread, and a thread has {MOST} at most"),
        )
        .label("does not fit the registers of any GPU"),
        0 => Diagnostic::new(
            codes::W0933,
            acc.span,
            format!("the accumulator `{name}` takes {registers} registers of each thread"),
        )
        .label(format!("a thread has {MOST} at most, operands and addresses included")),
        _ => Diagnostic::new(
            codes::W0933,
            acc.span,
            format!("the accumulator `{name}` and its unscaled temporary take {registers} registers of each thread"),
        )
        .label(format!("a thread has {MOST} at most, operands and addresses included")),
    };
    let help = "use smaller tiles, or distribute the tile over more warps";
    el.cx.report(report.help(help));
}

pub(crate) fn transposed_shape([rows, columns]: [i64; 2], transposed: bool) -> [i64; 2] {
    if transposed {
        [columns, rows]
    } else {
        [rows, columns]
    }
}

#[cfg(test)]
mod tests {
    use crate::sema::testing;
    use crate::sema::{Options, Target};

    /// The reports on an MMA of 8-bit floats with this type of sums and this K.
    fn reports(sums: &str, k: u32, nvcc: Option<[u32; 2]>) -> Vec<String> {
        let text = "
            __co__ void f(global f8_e4m3 [16, K] a, global f8_e4m3 [8, K] b, global SUMS [16, 8] c) {
              parallel by 1 : block, by 1 : group {
                acc = mma.fill.SUMS 0;
                fa = mma.load a.subspan(16, K).at(0, 0);
                fb = mma.load b.subspan(8, K).at(0, 0);
                mma.row.row acc, fa, fb;
                mma.store acc, c;
              }
            }";
        let text = text.replace("SUMS", sums).replace('K', &k.to_string());
        let options = Options {
            targets: vec![Target {
                name: "sm_90a".to_owned(),
                number: 90,
            }],
            nvcc,
            ..Options::default()
        };
        let (_, _, diags) = testing::program_for("t.co", &text, &options);
        let all = diags.into_sorted();
        let all = all
            .iter()
            .map(|d| format!("{}: {}", d.code.text(), d.message));
        all.collect()
    }

    #[test]
    fn instructions_that_nvcc_does_not_know() {
        let old = ["E1114: this MMA needs CUDA 12.8 or later, and nvcc is of 12.4"];
        assert_eq!(reports("f16", 32, Some([12, 4])), old);
        assert_eq!(reports("f32", 16, Some([12, 4])), old);
        assert_eq!(reports("f32", 48, Some([12, 4])), old);
        for (sums, k, nvcc) in [
            ("f32", 32, Some([12, 4])),
            ("f32", 64, Some([12, 4])),
            ("f16", 32, Some([12, 8])),
            ("f32", 16, Some([12, 10])),
            ("f16", 16, Some([13, 0])),
            ("f16", 16, None),
        ] {
            let none: [&str; 0] = [];
            assert_eq!(reports(sums, k, nvcc), none, "{sums} {k} {nvcc:?}");
        }
    }
}
