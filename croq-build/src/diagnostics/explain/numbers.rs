//! Types, conversions, builtins and calls of C++.

use super::Explanation;

pub const TABLE: &[Explanation] = explanations! {
    E0701: "unsupported element type or conversion",
    W0702: "implicit conversion between signed and unsigned",
    W0703: "implicit conversion that may lose precision",
    E0704: "`f16` and `bf16` in one expression",
    E0705: "impossible conversion",
    W0707: "literal outside the range of its type",
    E0760: "assertion is always false",
    E0761: "malformed `assert`",
    E0770: "float function on another type",
    E0772: "value that cannot be printed",
    N0773: "compile-time print",
    W0773: "run-time value in a compile-time print",
    E0774: "wrong number of arguments of a builtin",
    E0775: "template arguments on a builtin",
    E0779: "invalid change of the register count",
    E0780: "`call` outside `parallel`",
    W0781: "called function not found",
    E0782: "template argument not known at compile time",
    E0783: "result of a `call` without a type",
    E0784: "value that cannot be passed to C++",
    E0785: "invalid template argument",
    E0786: "missing argument of a C++ function",
    E0788: "`call` of a `__co__` function",
    E0789: "`call` of a host function",
    E0790: "`asm goto`",
    E0794: "name that C++ cannot declare",
    E0795: "recursive `__device__` function",
};
