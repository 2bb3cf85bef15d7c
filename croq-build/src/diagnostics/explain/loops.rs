//! Loops, control flow and `inthreads`.

use super::Explanation;

pub const TABLE: &[Explanation] = explanations! {
    E0540: "braces over an integer",
    E0541: "wrong number of range variables",
    E0542: "empty range",
    E0543: "slice of a range with several dimensions",
    E0544: "loop variable bound twice",
    E0545: "iteration over a parallel variable",
    E0546: "iteration over something that is not a range",
    E0547: "invalid unroll factor",
    E0548: "invalid slice",
    E0549: "empty slice",
    E0550: "`break` or `continue` outside a loop",
    E0552: "`yield` outside `parallel`",
    W0553: "`yield` before a barrier",
    E0554: "invalid range",
    E0555: "invalid `where`",
    N0557: "range variable hides another name",
    W0558: "condition of a loop never changes",
    E0560: "uniform condition of an `inthreads`",
    E0561: "`inthreads` outside `parallel`",
    E0562: "nested `inthreads.async`",
    E0563: "`parallel` inside `inthreads`",
    E0564: "event declared inside `inthreads`",
    W0567: "`inthreads` that selects all threads or none",
};
