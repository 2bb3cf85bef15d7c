//! `: cluster`: blocks that are resident together. Its bounds say how many along each axis of the grid,
//! its variables which of them a block is; the grid is that of the `: block` inside.

use crate::diagnostics::Diagnostic;
use crate::ir::{BinOp, Level, Role, VarHome};
use crate::sema::checks::{run_time, unsupported};
use crate::sema::copies::tma;
use crate::sema::levels::extents;
use crate::sema::levels::nest::level_name;
use crate::sema::levels::parallel::{self, node_cursor};
use crate::sema::levels::thread_mapping::{self, block_index, index_op, part_name};
use crate::sema::state::elab::Elab;
use crate::sema::state::nest::Node;
use crate::source::Span;
use crate::symbolic::{Sym, Truth, Var};
use crate::syntax::ast::{self, CopyStmt, ParallelItem, ParallelStmt, StmtKind as S};

/// What every GPU with clusters has room for.
const PORTABLE: i64 = 8;
/// And what some have.
const MOST: i64 = 16;

pub(crate) fn in_cluster(el: &Elab<'_>) -> bool {
    let size = el.kernel.as_ref().map(|k| k.grid.cluster.iter().product());
    size.is_some_and(|n: u32| n > 1)
}

/// A variable that says where in its cluster a block is.
pub(crate) fn is_of_cluster(el: &Elab<'_>, var: Var) -> bool {
    let Some(VarHome::Local(id)) = el.f.var_home.get(&var) else {
        return false;
    };
    el.f.local(*id).role == Role::Parallel(Level::Cluster)
}

/// Whether a cluster of the nest has its blocks, and nothing that would run once for all of them.
pub(crate) fn check_blocks(el: &mut Elab<'_>, p: &ParallelStmt, node: &Node) -> bool {
    if node.level != Level::Cluster {
        return true;
    }
    if !matches!(&*node.children, [only] if only.level == Level::Block) {
        let more = node.children.get(1);
        let what = match more {
            Some(_) => "a cluster has one grid of blocks",
            None => "a cluster is made of blocks",
        };
        let mut report = Diagnostic::new("E0525", node.span, what);
        report = match (more, node.children.first()) {
            (Some(second), _) => report.label("of this").also(second.span, "another one"),
            (None, Some(inner)) => report
                .label("of what blocks?")
                .also(inner.span, "not of these"),
            (None, None) => report.label("there are none inside"),
        };
        el.cx
            .report(report.help("write one `parallel … by […] : block` inside"));
        return false;
    }
    if let Some(at) = node.children.iter().find_map(|only| only.cooperative) {
        unsupported::report(el, at, "a cooperative launch of clusters");
        return false;
    }
    let only_definitions = p.items.len() > 1 || check_only_definitions(el, &p.body);
    check_available(el, node.span) && only_definitions
}

fn check_only_definitions(el: &mut Elab<'_>, body: &ast::Block) -> bool {
    let other = body.stmts.iter().find(|stmt| match &stmt.kind {
        S::Parallel(_) | S::Mdspan { .. } | S::Ituple { .. } | S::Error => false,
        S::Scalar {
            storage, mutable, ..
        } => storage.is_some() || mutable.is_some(),
        S::Assign { target, op, .. } => {
            op.is_some() || !matches!(&*target.kind, ast::ExprKind::Name(_))
        }
        _ => true,
    });
    if let Some(stmt) = other {
        el.cx.report(
            Diagnostic::new(
                "E0525",
                stmt.span,
                "nothing runs once for all blocks of a cluster",
            )
            .label("between `cluster` and `block`")
            .help("only names for values can stand here: move it into the blocks"),
        );
    }
    other.is_none()
}

/// Whether any of the targets has clusters.
fn check_available(el: &mut Elab<'_>, at: Span) -> bool {
    let (newer, older) = tma::targets(el);
    if newer.is_empty() && !older.is_empty() {
        el.cx.report(
            Diagnostic::new("E0510", at, "clusters need sm_90 or newer")
                .label(format!("this is built for {older} alone"))
                .help("add an architecture: `.arch(\"sm_90a\")`"),
        );
        return false;
    }
    true
}

/// The item of a cluster, which is the first of a nest; returns the grid of the blocks inside.
pub(crate) fn lower(
    el: &mut Elab<'_>,
    p: &ParallelStmt,
    item: &ParallelItem,
    extents: &[Sym],
    tree: &Node,
) -> Option<[Sym; 3]> {
    let sizes = check_sizes(el, extents, item.span)?;
    if sizes.iter().any(|size| *size > 1) {
        tma::note_targets(el, item.span, "N0510", "clusters");
    }
    let mut cluster = [1; 3];
    let mut values = Vec::new();
    for (axis, (size, extent)) in sizes.iter().zip(extents).enumerate() {
        if let Some(slot) = cluster.get_mut(axis) {
            *slot = *size;
        }
        let name = part_name(&item.binding, axis);
        let block = block_index(axis, item.span);
        let e = index_op(BinOp::Rem, block, extent.clone(), item.span);
        let value = thread_mapping::new_index_variable(
            el,
            &name,
            Level::Cluster,
            e,
            extent,
            None,
            item.span,
        );
        if let Some(slot) = el.kernel.as_mut().and_then(|k| k.grid.places.get_mut(axis)) {
            *slot = value.as_var();
        }
        values.push(value);
    }
    if let Some(k) = el.kernel.as_mut() {
        k.grid.cluster = cluster;
    }
    thread_mapping::bind_indices(el, &item.binding, values, extents);
    match (p.items.get(1), tree.children.first()) {
        (Some(item), Some(child)) => {
            let extents = extents::lower_all(el, item)?;
            let rest = p.items.get(2..).unwrap_or_default();
            parallel::lower_blocks(el, item, &extents, child, rest, &p.body)
        }
        _ => {
            el.nests.push(node_cursor(tree));
            el.block(&p.body);
            el.nests.pop();
            el.kernel.as_mut()?.grid.extents.take()
        }
    }
}

fn check_sizes(el: &mut Elab<'_>, extents: &[Sym], at: Span) -> Option<Vec<u32>> {
    let mut total: i64 = 1;
    let mut sizes = Vec::new();
    for extent in extents {
        let Some(size) = extent.as_int() else {
            let shown = el.f.cx.show(extent);
            el.cx.report(
                Diagnostic::new("E0525", at, "the size of a cluster is a constant")
                    .label(format!("`{shown}` is known at run time"))
                    .help("write a number, or a `#define`"),
            );
            return None;
        };
        total = total.saturating_mul(size);
        sizes.push(u32::try_from(size).unwrap_or(u32::MAX));
    }
    if total > MOST {
        el.cx.report(
            Diagnostic::new(
                "E0525",
                at,
                format!("{total} blocks in a cluster: at most {MOST} fit"),
            )
            .label(format!("{total} blocks"))
            .help(format!("every GPU with clusters has room for {PORTABLE}")),
        );
        return None;
    }
    if total > PORTABLE {
        el.cx.report(
            Diagnostic::new(
                "W0525",
                at,
                format!("{total} blocks in a cluster: not every GPU with clusters has room"),
            )
            .label(format!("{PORTABLE} are portable"))
            .help("an H100 has room for 16, others refuse the launch"),
        );
    }
    Some(sizes)
}

/// A block's number is not below that in its cluster: the first block of a cluster is one of the grid.
pub(crate) fn assume_first_block(el: &mut Elab<'_>) {
    let Some(k) = &el.kernel else { return };
    for (place, block) in k.grid.places.into_iter().zip(k.grid.indices) {
        if let (Some(place), Some(block)) = (place, block) {
            el.f.cx.assume_le(&Sym::var(place), &Sym::var(block));
        }
    }
}

/// `.multicast` is a word of the copy engine, and for a cluster.
pub(crate) fn check_multicast(el: &mut Elab<'_>, tma: bool, at: Span) -> bool {
    if !tma {
        el.cx.report(
            Diagnostic::new("E0832", at, "`.multicast` is only for `tma`")
                .label("threads copy to their own block alone")
                .help("write `tma`, or remove it"),
        );
    } else if el
        .kernel
        .as_ref()
        .is_some_and(|k| k.grid.places == [None; 3])
    {
        el.cx.report(
            Diagnostic::new("W1044", at, "`.multicast` without a cluster")
                .label("each block loads for itself")
                .help("write `parallel … : cluster` around the blocks, or remove it"),
        );
    }
    tma
}

/// All blocks of the cluster take part in a multicast as wholes.
pub(crate) fn check_whole_blocks(
    el: &mut Elab<'_>,
    level: Level,
    load: bool,
    c: &CopyStmt,
) -> Option<()> {
    let at = c.head;
    if !load {
        el.cx.report(
            Diagnostic::new(
                "E0832",
                at,
                "`.multicast` goes from global to shared memory",
            )
            .label("from shared to global")
            .help("remove `.multicast`"),
        );
        return None;
    }
    if level != Level::Block {
        let unit = level_name(level);
        el.cx.report(
            Diagnostic::new(
                "E0862",
                at,
                format!("each `{unit}` loads a tile of its own here"),
            )
            .label("a multicast is by blocks")
            .help(format!(
                "move it out of the `parallel … : {unit}`, or remove `.multicast`"
            )),
        );
        return None;
    }
    Some(())
}

/// Whether a `trigger.cluster` is one: there are other blocks to arrive at.
pub(crate) fn check_trigger(el: &mut Elab<'_>, after: &[ast::Name], at: Span) -> bool {
    if let Some(copy) = after.first() {
        el.cx.report(
            Diagnostic::new(
                "E1030",
                at,
                "what copies bring completes the event of a block, not of its cluster",
            )
            .label("of every block")
            .also(copy.span, "arrives at its own")
            .help("write `trigger … after` without `.cluster`"),
        );
    } else if el
        .kernel
        .as_ref()
        .is_none_or(|k| k.grid.places == [None; 3])
    {
        el.cx.report(
            Diagnostic::new("W1044", at, "`trigger.cluster` without a cluster")
                .label("there are no other blocks to tell")
                .help("write `parallel … : cluster` around the blocks, or `trigger`"),
        );
    }
    after.is_empty() && in_cluster(el)
}

/// The grid is made of whole clusters.
pub(crate) fn check_grid(el: &mut Elab<'_>, grid: &[Sym; 3], at: Span) -> Option<()> {
    let cluster = el.kernel.as_ref().map_or([1; 3], |k| k.grid.cluster);
    let axes = grid.iter().zip(cluster).zip(["x", "y", "z"]);
    for ((blocks, size), axis) in axes.filter(|((_, size), _)| *size > 1) {
        let left = el.f.cx.rem(blocks, &Sym::int(i64::from(size)));
        let shown = el.f.cx.show(blocks);
        match el.f.cx.eq(&left, &Sym::zero()) {
            Truth::Yes => {}
            Truth::No => {
                let plural = if blocks.is_one() { "" } else { "s" };
                el.cx.report(
                    Diagnostic::new(
                        "E0525",
                        at,
                        format!("{shown} block{plural} along {axis}, in clusters of {size}"),
                    )
                    .label("not a multiple")
                    .help(format!("make the blocks along {axis} a multiple of {size}")),
                );
                return None;
            }
            Truth::Unknown => {
                let message = format!(
                    "`{shown}` blocks along {axis} must be a multiple of the cluster's {size}: {{0}} are left over"
                );
                run_time::emit_compare(el, "R05", message, BinOp::Eq, &left, &Sym::zero(), at);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {

    fn codes(size: u32, archs: &[(&str, u16)]) -> Vec<&'static str> {
        let text = format!(
            "__co__ void f(global f32 [64] x) {{
               parallel c by {size} : cluster, p by 2 : block, i by 32 : thread x.at(p # i) = c;
             }}"
        );
        crate::sema::testing::codes(&text, archs)
    }

    #[test]
    fn some_target_has_clusters() {
        assert_eq!(codes(2, &[("sm_80", 80), ("sm_90a", 90)]), ["N0510"]);
        assert!(codes(2, &[("sm_90a", 90)]).is_empty());
        assert!(codes(1, &[("sm_80", 80), ("sm_90a", 90)]).is_empty());
        assert_eq!(codes(2, &[("sm_80", 80)]), ["E0510"]);
    }
}
