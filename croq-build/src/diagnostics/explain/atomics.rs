//! Atomic operations.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E1040",
        "An atomic operation works on memory that threads share: an element of a `shared` buffer, of a parameter, or of one declared on the host. A scalar variable is each thread's own.",
    ),
    (
        "E1041",
        "No other thread can come between two accesses of `local` memory: an ordinary update does the same.",
    ),
    (
        "E1042",
        "The values that an atomic operation works with have exactly the type of the elements. Say `__to<…>(v)` where they have another.",
    ),
    (
        "E1043",
        "Atomic operations take an element and a value, `__atomic_cas` an element, the value to compare with and the new one; and each is for those types of elements that the GPU has it for.",
    ),
];
