//! Storage, capacity and access patterns.

explanations! {
    E0610: "buffer of the host declared in a kernel",
    E0611: "`shared` or `local` memory on the host",
    E0612: "`shared` scalar with an initial value",
    E0613: "too much memory",
    E0614: "`local` buffer of a run-time size",
    E0618: "storage word on something without storage",
    W0620: "by-value parameter written",
    W0621: "memory read before it is written",
    W0624: "local array in slow memory",
    W0625: "bank conflict",
    W0626: "instances write the same element",
}
