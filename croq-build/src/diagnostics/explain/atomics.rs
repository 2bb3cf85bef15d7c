//! Atomic operations.

explanations! {
    E1040: "atomic operation on something other than shared data",
    E1041: "atomic operation on `local` memory",
    E1042: "atomic operation with a value of another type",
    E1043: "unsupported atomic operation",
}
