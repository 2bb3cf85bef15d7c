"""Text in both languages, for the programs of random_programs.py, random_movement.py and random_launches.py."""

BYTES = {"u8": 1, "s8": 1, "f16": 2, "bf16": 2, "f32": 4, "s32": 4, "s64": 8}
# The integers that a type represents without gaps.
RANGE = {
    "u8": (0, 255),
    "s8": (-128, 127),
    "f16": (-2048, 2048),
    "bf16": (-256, 256),
    "f32": (-(2**24), 2**24),
    "s32": (-(2**31), 2**31 - 1),
    "s64": (-(2**62), 2**62),
}
RUST = {"u8": "u8", "s8": "i8", "s32": "i32", "s64": "i64"}
INDENT = "  "


def rust_type(kind):
    return RUST.get(kind, kind)


def inputs(kind):
    return (0, 7) if kind == "u8" else (-5, 6)


def product(extents):
    result = 1
    for extent in extents:
        result *= extent
    return result


def joined(items):
    return ", ".join(str(item) for item in items)


class Num:
    """A value in both languages, with its type and the range of its numbers."""

    def __init__(self, co, rust, kind, low, high):
        self.co, self.rust, self.kind, self.low, self.high = co, rust, kind, low, high

    def fits(self, kind):
        return RANGE[kind][0] <= self.low and self.high <= RANGE[kind][1]

    def to(self, kind):
        return self.co if self.kind == kind else f"__to<{kind}>({self.co})"


def arithmetic(form, a, b):
    """`+`, `-`, `*`, `min` or `max` of two values of one type."""
    if form in ("min", "max"):
        ends = min if form == "min" else max
        low, high = ends(a.low, b.low), ends(a.high, b.high)
        return Num(f"__{form}({a.co}, {b.co})", f"({a.rust} as i64).{form}({b.rust})", a.kind, low, high)
    ends = {
        "+": [a.low + b.low, a.high + b.high],
        "-": [a.low - b.high, a.high - b.low],
        "*": [x * y for x in (a.low, a.high) for y in (b.low, b.high)],
    }[form]
    return Num(f"({a.co} {form} {b.co})", f"({a.rust} {form} {b.rust})", a.kind, min(ends), max(ends))


def either(condition, a, b):
    """`a` if a condition, a text in each language, is true, and `b` otherwise."""
    co, rust = condition
    return Num(
        f"({co} ? {a.co} : {b.co})",
        f"(if {rust} {{ {a.rust} }} else {{ {b.rust} }})",
        a.kind,
        min(a.low, b.low),
        max(a.high, b.high),
    )


class Writer:
    """Writes the lines of a function, and those of the function of the same name in Rust."""

    def __init__(self, name, dice):
        self.name, self.random = name, dice
        self.co, self.rust = [], []
        self.depth, self.names = 1, 0

    def line(self, co, rust=None):
        if co is not None:
            self.co.append(INDENT * self.depth + co)
        if rust:
            self.rust.append(INDENT * self.depth + rust)

    def fresh(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def open(self, co, rust=None):
        self.line(co, rust)
        self.depth += 1

    def close(self, co="}", rust="}"):
        self.depth -= 1
        self.line(co, rust)


def call(name, result, arguments, sizes, expected):
    """A call for some sizes. `arguments`: the type of each input, the Rust expressions of its extents, and what its
    dimensions are; `expected`: the result in Rust."""
    inputs_text, passed = [], []
    for letter, (kind, extents, dims) in arguments.items():
        low, high = inputs(kind)
        inputs_text.append(f"let {letter} = Buffer::input({ord(letter)}, &[{joined(extents)}], {low}, {high});")
        passed.append(f"&{letter}.tensor::<{rust_type(kind)}, _>(({joined(dims)},)).unwrap()")
    sizes = joined(f"&[{joined(size)}]" for size in sizes)
    return (
        f'calls.run::<{rust_type(result)}>("{name}", &[{sizes}], |d| {{ {" ".join(inputs_text)} '
        f"({expected}, kernels::{name}({joined(passed)}, d[d.len() - 1] as i32)"
        f".map(|y| y.into_vec())) }});"
    )


def write(generator, allowed, texts, calls, files):
    """Writes programs, pairs of texts, to a file of kernels and one of cases. `allowed`: the warnings that they have."""
    note = f"// Written by scripts/{generator}.\n\n"
    kernels, cases = files
    with open(kernels, "w", encoding="utf-8") as file:
        file.write(f"{note}// croq: allow({allowed}) the programs are random\n\n" + "\n\n".join(co for co, _ in texts) + "\n")
    with open(cases, "w", encoding="utf-8") as file:
        calls = "\n".join(INDENT + each for each in calls)
        file.write(f"{note}pub fn cases(calls: &mut Calls) {{\n{calls}\n}}\n\n")
        file.write("\n\n".join(rust for _, rust in texts) + "\n")
