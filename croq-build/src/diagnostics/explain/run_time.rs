//! Checks at run time, of conditions that the compiler could not prove.

explanations! {
    R01: "returned extent differs from the declared one",
    R05: "impossible launch",
    R06: "computed size out of range",
    R07: "copy between different shapes",
    R08: "new shape with another number of elements",
    R09: "not enough shared memory",
    R10: "tensor that `tma` cannot reach",
    R12: "index out of range",
    R13: "subscript or selector out of range",
    R14: "assertion failed",
    R15: "no suitable device",
    R18: "event never triggered",
    R19: "integer does not fit in 64 bits",
    R20: "shift amount out of range",
    R21: "check without a code of its own",
    R22: "threads of a unit disagree",
    R23: "overlapping tiles of one buffer",
    R24: "inline assembly that the simulated GPU does not know",
}
