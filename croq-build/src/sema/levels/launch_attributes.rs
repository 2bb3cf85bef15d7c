//! `[[launch_bounds(…)]]` and `[[maxnreg(…)]]` of a kernel.

use crate::diagnostics::{Code, Diagnostic, codes};
use crate::ir::LaunchAttrs;
use crate::sema::state::cx::{self, Cx};
use crate::sema::state::elab::Elab;
use crate::sema::values::constants;
use crate::source::Span;
use crate::symbolic::Sym;
use crate::syntax::ast::{CallExpr, ExprKind, Level, ParallelAttr, ParallelStmt};

/// The threads of a block, and of all blocks of a multiprocessor; its blocks; the blocks of a
/// cluster. Some GPUs have less (CUDA C++ Programming Guide, technical specifications per compute
/// capability), none has more.
const MOST_THREADS: u32 = 1024;
const MOST_RESIDENT: u32 = 2048;
const MOST_BLOCKS: u32 = 32;
const MOST_OF_CLUSTER: u32 = 16;

pub(crate) fn lower_all(cx: &mut Cx<'_>, list: &[ParallelAttr]) -> LaunchAttrs {
    let mut attrs = LaunchAttrs::default();
    for (at, attr) in list.iter().enumerate() {
        let name = attr.name.text.as_str();
        let code = match name {
            "launch_bounds" => codes::E0530,
            _ => codes::E0531,
        };
        let before = list.get(..at).unwrap_or_default();
        if let Some(first) = before.iter().find(|other| other.name.text == name) {
            report_again(cx, code, attr, first);
            continue;
        }
        match name {
            "launch_bounds" => attrs.launch_bounds = lower_bounds(cx, attr),
            "maxnreg" => attrs.maxnreg = lower_registers(cx, attr),
            _ => {}
        }
    }
    attrs
}

fn report_again(cx: &mut Cx<'_>, code: Code, attr: &ParallelAttr, first: &ParallelAttr) {
    let name = &attr.name.text;
    let text = format!("this kernel has `{name}` twice");
    let d = Diagnostic::new(code, attr.span, text).label("again here");
    let help = match attr.in_body {
        true => "keep one: `launch_bounds(2)` in a body is `[[launch_bounds(_, 2)]]`",
        false => "keep one of them",
    };
    cx.report(d.also(first.span, "first here").help(help));
}

/// The threads, the blocks of a multiprocessor, those of a cluster.
fn lower_bounds(cx: &mut Cx<'_>, attr: &ParallelAttr) -> Option<[Option<u32>; 3]> {
    let number = |e: &_| constants::constant(e).and_then(|n| u32::try_from(n).ok());
    if attr.in_body {
        let blocks = match attr.args.as_slice() {
            [blocks] => number(blocks).filter(|n| *n > 0),
            _ => None,
        };
        if blocks.is_none() {
            report_in_body(cx, attr);
        }
        return limited(cx, attr.span, [None, Some(blocks?), None]);
    }
    let numbers: Option<Vec<u32>> = attr
        .args
        .iter()
        .map(|e| match &*e.kind {
            ExprKind::Wildcard => Some(0),
            _ => number(e),
        })
        .collect();
    let numbers = numbers.unwrap_or_default();
    if numbers.is_empty() || numbers.len() > 3 || numbers.iter().skip(1).any(|n| *n == 0) {
        let text = "`launch_bounds` takes one to three constants: threads, blocks, cluster";
        cx.report(
            Diagnostic::new(codes::E0530, attr.span, text)
                .label("not valid launch bounds")
                .help("`launch_bounds(_, 2)` computes the threads and asks for 2 blocks"),
        );
        return None;
    }
    let at = |i: usize| numbers.get(i).copied().filter(|n| *n > 0);
    limited(cx, attr.span, [at(0), at(1), at(2)])
}

/// `launch_bounds(2);` in a body has one number; those of the attribute are others.
fn report_in_body(cx: &mut Cx<'_>, attr: &ParallelAttr) {
    let texts = attr
        .args
        .iter()
        .map(|arg| cx::source_text(cx, arg.span, "_"));
    let all = texts.collect::<Vec<_>>().join(", ");
    let text = "`launch_bounds` in a body takes one constant: the blocks of a multiprocessor";
    let d = Diagnostic::new(codes::E0530, attr.span, text).label("not a number of blocks");
    cx.report(match attr.args.len() {
        2 | 3 => d.help(format!(
            "write `[[launch_bounds({all})]]` before the `parallel`, for threads and blocks"
        )),
        _ => d.help("write `launch_bounds(2);`, for two blocks"),
    });
}

/// Reports numbers that no GPU has.
fn limited(cx: &mut Cx<'_>, at: Span, bounds: [Option<u32>; 3]) -> Option<[Option<u32>; 3]> {
    let [threads, blocks, cluster] = bounds;
    let beyond = [
        (threads, MOST_THREADS, "threads", "a block"),
        (blocks, MOST_BLOCKS, "blocks", "a multiprocessor"),
        (cluster, MOST_OF_CLUSTER, "blocks", "a cluster"),
    ];
    let found = beyond.into_iter().find_map(|(n, most, what, of)| {
        let n = n.filter(|n| *n > most)?;
        Some((
            format!("{n} {what} of {of}"),
            format!("{of} has at most {most} {what}"),
        ))
    });
    let Some((text, label)) = found else {
        return Some(bounds);
    };
    let text = format!("`launch_bounds` asks for {text}");
    cx.report(Diagnostic::new(codes::E0530, at, text).label(label));
    None
}

/// Compares the launch bounds of a kernel with the number of its threads.
pub(crate) fn check_bounds(cx: &mut Cx<'_>, p: &ParallelStmt, attrs: &LaunchAttrs, threads: &Sym) {
    let is_bounds = |attr: &&ParallelAttr| attr.name.text == "launch_bounds";
    let Some((at, [declared, blocks, _])) = p
        .attrs
        .iter()
        .find(is_bounds)
        .map(|attr| attr.span)
        .zip(attrs.launch_bounds)
    else {
        return;
    };
    let count = threads.as_int().and_then(|n| u32::try_from(n).ok());
    if let (Some(t), Some(n)) = (declared, count)
        && t < n
    {
        cx.report(
            Diagnostic::new(
                codes::E0530,
                at,
                format!("`launch_bounds` promises {t} threads, the block has {n}"),
            )
            .label(format!("only {t} threads"))
            .also(p.header, format!("{n} threads"))
            .help(format!(
                "write `launch_bounds({n})`, or `_` to have it computed"
            )),
        );
        return;
    }
    let (Some(threads), Some(blocks)) = (declared.max(count), blocks) else {
        return;
    };
    if threads
        .checked_mul(blocks)
        .is_none_or(|all| all > MOST_RESIDENT)
        && threads > 0
    {
        let text = format!("`launch_bounds` asks for {blocks} blocks of {threads} threads");
        cx.report(
            Diagnostic::new(codes::E0530, at, text)
                .label(format!(
                    "a multiprocessor has at most {MOST_RESIDENT} threads"
                ))
                .help(format!(
                    "ask for at most {} blocks",
                    MOST_RESIDENT / threads
                )),
        );
    }
}

/// The registers of each thread.
fn lower_registers(cx: &mut Cx<'_>, attr: &ParallelAttr) -> Option<u32> {
    let n = attr
        .args
        .first()
        .and_then(constants::constant)
        .and_then(|n| u32::try_from(n).ok());
    let n = n.filter(|n| *n > 0 && attr.args.len() == 1);
    if n.is_none() {
        cx.report(
            Diagnostic::new(
                codes::E0531,
                attr.span,
                "`maxnreg` takes one positive constant",
            )
            .label("not a register count")
            .help("write `[[maxnreg(128)]]`"),
        );
    }
    n
}

/// `launch_bounds(2);` that is not directly in the body of a kernel.
pub(crate) fn report_misplaced(el: &mut Elab<'_>, call: &CallExpr, span: Span) {
    let remedy = match call.args.as_slice() {
        [blocks] => {
            let text = cx::source_text(&el.cx, blocks.span, "2");
            format!("[[launch_bounds(_, {text})]]")
        }
        _ => "[[launch_bounds(threads, blocks)]]".to_owned(),
    };
    let text = "`launch_bounds` is not directly in the body of a `parallel`";
    el.cx.report(
        Diagnostic::new(codes::E0530, span, text)
            .label("belongs to no kernel")
            .help(format!("write `{remedy}` before the `parallel`")),
    );
}

/// Reports what only the `parallel` of a launch has.
pub(crate) fn report_of_no_launch(cx: &mut Cx<'_>, p: &ParallelStmt, what: &str) {
    let code = match (p.is_async, &p.stream, p.attrs.as_slice()) {
        (Some(_), ..) => codes::E0532,
        (_, Some(_), _) => codes::E0533,
        (.., []) => return,
        (.., [first, ..]) if first.name.text == "maxnreg" => codes::E0531,
        _ => codes::E0530,
    };
    let attr = p.attrs.first().map(|attr| attr.span);
    let at = attr.or(p.is_async).unwrap_or(p.header);
    let text = match p.items.first().and_then(|item| item.level.as_ref()) {
        Some(spec) if spec.level == Level::Device => "this belongs on the `parallel` of a kernel",
        _ => "this belongs on the outermost `parallel`",
    };
    cx.report(
        Diagnostic::new(code, at, text)
            .label(what)
            .help("move it to the `parallel` that starts the kernel"),
    );
}
