//! Uses of swizzled buffers that depend on their layout.

use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::ir::{
    Access, BufferId, Function, KernelId, LayoutUses, Multiplied, Scalar, Swizzle, View,
};
use crate::passes::check::conditional;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym, split_index};

/// The number of rows of 128 bytes after which the pattern repeats.
const ROWS: i64 = 8;

/// The size in bytes of the units that the swizzle permutes.
const UNIT: i64 = 16;

/// Checks the uses of swizzled buffers in a kernel that depend on their layout.
pub fn check(function: &mut Function, id: KernelId, diags: &mut Diagnostics) {
    if function.facts.swizzled_at.is_empty() {
        return;
    }
    function.with_kernel_body(id, |func, body| {
        let uses = LayoutUses::of_block(body);
        for view in uses.copied {
            check_pattern_begin(func, diags, &view);
        }
        for access in uses.accessed {
            check_place(func, diags, &access);
        }
        for (buffer, at) in uses.raw {
            report_raw_use(func, diags, buffer, at);
        }
    });
    conditional::report(function, id, diags, |func, stmt| {
        let operands = Multiplied::of(stmt);
        let faults = operands.iter().filter_map(|o| operand_fault(func, o));
        faults.collect()
    });
}

/// Checks that a copy's tile begins where the pattern of a swizzle does.
fn check_pattern_begin(func: &Function, diags: &mut Diagnostics, view: &View) {
    let buffer = func.buffer(view.buffer);
    let Some(swizzle) = &buffer.swizzle else {
        return;
    };
    let Some(text) = misplaced(&func.cx, swizzle, buffer.elem, &view.offset) else {
        return;
    };
    let name = buffer.name.clone();
    let mut d = Diagnostic::new(
        codes::E0855,
        view.span,
        format!("a tile of `{name}`, which is swizzled, starts {text}"),
    )
    .label("the pattern does not begin here");
    if let Some(at) = func.facts.swizzled_at.get(&view.buffer) {
        d = d.also(*at, "swizzled by this");
    }
    diags.push(d.help(format!(
        "start at a multiple of {ROWS} rows and of {UNIT} bytes in a row"
    )));
}

/// The descriptor of an operand has the address of its first element: the pattern must begin there
/// or, along K, at one of its steps.
fn operand_fault(func: &Function, operand: &Multiplied) -> Option<Diagnostic> {
    let Multiplied { view, k_last, step } = operand;
    let buffer = func.buffer(view.buffer);
    let swizzle = buffer.swizzle.as_ref()?;
    let cx = &func.cx;
    let (row, column) = split_index(cx, &view.offset, &swizzle.columns);
    let step = match k_last {
        true => step / buffer.elem.size(),
        false => swizzle.group(buffer.elem),
    };
    let aligned = conditional::divides(cx, step, &column)
        && conditional::divides(cx, ROWS, &row)
        && (buffer.grouped().is_none() || cx.divides(&Sym::int(ROWS), &swizzle.rows).is_yes());
    let dense = match view.strides.as_slice() {
        [down, along] => {
            let one_row = view.shape.first().is_some_and(Sym::is_one);
            along.is_one() && (one_row || cx.eq(down, &swizzle.columns).is_yes())
        }
        _ => false,
    };
    let name = buffer.name.clone();
    let narrow = *k_last && operand.step > i64::from(swizzle.bytes);
    let (text, label, help) = if narrow {
        let (step, width) = (operand.step, swizzle.bytes);
        (
            format!(
                "the B of a sparse MMA has {step} bytes along K, a row of `{name}` is swizzled by {width}"
            ),
            "an instruction would take two groups of columns".to_owned(),
            "swizzle it by 64 or 128: `tma.copy.swiz<128> …`".to_owned(),
        )
    } else if !dense {
        (
            format!("rows of this tile are not rows of `{name}`"),
            "strides of its own".to_owned(),
            "multiply a part of the buffer as it is declared".to_owned(),
        )
    } else if !aligned {
        (
            format!("an MMA operand can't begin at this element of `{name}`, which is swizzled"),
            "the pattern may not begin here".to_owned(),
            format!("start at a multiple of {ROWS} rows and of {step} elements in a row"),
        )
    } else {
        return None;
    };
    let mut d = Diagnostic::new(codes::E0855, view.span, text).label(label);
    if let Some(at) = func.facts.swizzled_at.get(&view.buffer) {
        d = d.also(*at, "swizzled by this");
    }
    Some(d.help(help))
}

fn check_place(func: &Function, diags: &mut Diagnostics, access: &Access) {
    let buffer = func.buffer(access.view.buffer);
    let place = buffer.by_groups(&func.cx, &access.address());
    if place.is_poison() {
        diags.push(Diagnostic::too_large_integer(access.span));
    }
}

/// Reports C++ text that accesses more than one element of the buffer.
fn report_raw_use(func: &Function, diags: &mut Diagnostics, id: BufferId, at: Span) {
    let (root, _) = func.facts.pools.find(id);
    let buffer = func.buffer(root);
    if buffer.swizzle.is_none() {
        return;
    }
    let name = func.buffer(id).name.clone();
    let mut d = Diagnostic::new(
        codes::W0881,
        at,
        format!("`{name}` is swizzled, and C++ sees its memory as it lies"),
    )
    .label("rows are not in order there");
    if let Some(swizzled) = func.facts.swizzled_at.get(&root) {
        d = d.also(*swizzled, "swizzled by this");
    }
    diags.push(d.help(format!(
        "pass addresses of single elements, `&{name}.at(…)`, or a buffer without a swizzle"
    )));
}

/// The start of a view, if the pattern certainly does not begin there.
fn misplaced(cx: &Ctx, swizzle: &Swizzle, elem: Scalar, offset: &Sym) -> Option<String> {
    let (row, column) = split_index(cx, offset, &swizzle.columns);
    let unit = Sym::int(UNIT / elem.size());
    if cx.divides(&unit, &column).is_no() {
        let bytes = &column * elem.size();
        return Some(format!("{} bytes into a row", cx.show(&bytes)));
    }
    let (_, row) = split_index(cx, &row, &swizzle.rows);
    cx.divides(&Sym::int(ROWS), &row)
        .is_no()
        .then(|| format!("at row {}", cx.show(&row)))
}
