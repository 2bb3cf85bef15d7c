//! Declarations, assignments, conditions, returns.

use super::Entry;

pub const TABLE: &[Entry] = &[
    (
        "E0301",
        "A declaration has neither a type nor a value to take the type from.",
    ),
    (
        "E0302",
        "The name is declared twice in one scope, or two parameters share it.",
    ),
    (
        "E0303",
        "The initial value has a type that does not convert to the declared one. An explicit `__to<T>(…)` may say what is meant.",
    ),
    (
        "E0305",
        "Only scalars can be `mutable`. Buffers are written through their elements; shapes, tuples and bounded values never change.",
    ),
    (
        "E0307",
        "The result of a `call` has the type that it is assigned to. Declare the variable with a type.",
    ),
    (
        "E0308",
        "A value of one kind is assigned to a name of another: a whole buffer to a scalar, for example.",
    ),
    (
        "E0309",
        "Only mutable variables, elements (`b.at(i) = …`) and futures can be assigned to.",
    ),
    (
        "E0310",
        "A shape is declared with a colon: `mdspan s : [4, 8]`.",
    ),
    (
        "E0311",
        "A tuple is declared with `=`: `ituple t = {1, 2}`.",
    ),
    ("E0312", "A shape takes a colon, not `=`: `s : [4, 8]`."),
    (
        "E0313",
        "The initial value is nothing that can be stored: the result of a void call, or `_`.",
    ),
    (
        "E0314",
        "There are no arrays of tuples. Declare one tuple for each, or a buffer.",
    ),
    ("E0315", "A tuple needs its values where it is declared."),
    (
        "E0316",
        "A tuple is a compile-time value: it has no storage and can't be mutable.",
    ),
    (
        "E0317",
        "Strings exist only as arguments of `print`, `assert`, inline assembly and `__cpp__`.",
    ),
    (
        "E0318",
        "The address of a buffer can only be passed to a `call`, not kept in a variable.",
    ),
    (
        "E0320",
        "An immutable name gets its value once. An assignment to it in an inner scope declares a new name there, and where the program reads the outer one later (or on its right side, or in the next iteration of a loop) that is an error, because the outer one has kept its value. Declare it `mutable` to change it, or give the inner one another name.",
    ),
    (
        "N0321",
        "An assignment in an inner scope to an immutable name of an outer one declares a new name that hides it until the scope ends. Declare the outer one `mutable` if it was meant to change.",
    ),
    (
        "W0321",
        "An assignment in an inner scope declares a new name that hides an outer one which was declared with a type or is a parameter. The outer one keeps its value. Give one of them another name, or declare the outer one `mutable` if it was meant to change.",
    ),
    (
        "E0322",
        "The variables of `parallel`, `with` and `foreach` are set by their statement and can't be assigned.",
    ),
    (
        "E0323",
        "Shapes and tuples do not change after their declaration.",
    ),
    ("E0324", "`++` and `--` apply to mutable integers only."),
    (
        "E0325",
        "Elements are written in kernels. Move the assignment into a `parallel`.",
    ),
    (
        "E0326",
        "An element holds one scalar; the value assigned is something else.",
    ),
    (
        "E0330",
        "A shape must be known when the function is called, so it can't contain mutable or device values.",
    ),
    (
        "E0331",
        "The extent of a buffer must be known before it is made: use parameters, dimensions, and immutable values made of them.",
    ),
    (
        "E0332",
        "The elements of a tuple must not depend on mutable or device values.",
    ),
    (
        "E0333",
        "The new shape of a `span_as` must not depend on mutable or device values.",
    ),
    (
        "E0334",
        "A bounded variable's current value is no extent. Its bound is: write `#x`.",
    ),
    ("E0335", "A buffer is filled with one scalar: `{0}`."),
    (
        "E0336",
        "An extent of a buffer is an integer, not a float, a string or a condition.",
    ),
    (
        "E0338",
        "This can't be an item of a shape: integers and other shapes can.",
    ),
    (
        "E0340",
        "A condition is a boolean; integers do not convert to one. Write `!= 0`.",
    ),
    (
        "E0341",
        "The two values of a conditional have types that do not go together.",
    ),
    (
        "E0342",
        "`?:` chooses between scalars. Futures and buffers are chosen with `select`.",
    ),
    (
        "E0343",
        "The operator does not apply to operands of these types.",
    ),
    (
        "E0344",
        "The unary operator does not apply to an operand of this type.",
    ),
    (
        "W0348",
        "The values that a loop or parallel variable takes decide the comparison, so it does nothing. Often a bound is off by one, or the guard is left over.",
    ),
    (
        "E0345",
        "A shift amount is an integer literal, from 0 to one less than the number of bits.",
    ),
    ("E0346", "Division or remainder by a constant zero."),
    (
        "E0349",
        "A constant expression leaves 64 bits. Integers made of literals, dimensions, parameters, loop and parallel variables are exact and never wrap; arithmetic in variables of an element type does.",
    ),
    (
        "W0349",
        "Constant arithmetic of an element type leaves its range and wraps around, as the label shows.",
    ),
    (
        "E0350",
        "The function returns a value, but on some path its end is reached without a `return`.",
    ),
    (
        "E0351",
        "A `void` function can't return a value. Give it a return type, or `auto`.",
    ),
    (
        "E0352",
        "Only scalars and whole buffers of the host can be returned: no views, futures, shapes, and nothing that lives in a kernel.",
    ),
    (
        "E0353",
        "Two `return`s disagree in type or shape. Every call must give the same kind of result.",
    ),
    (
        "E0354",
        "What is returned is not what the function's head declares.",
    ),
    (
        "E0355",
        "`return` ends the host function and can't stand in a kernel. `yield` ends the kernel for one thread.",
    ),
    ("W0356", "Statements after a `return` are never reached."),
    (
        "E0357",
        "The return type can't be handed to the caller: scalars and shaped data can.",
    ),
];
