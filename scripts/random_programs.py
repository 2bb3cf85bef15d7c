#!/usr/bin/env python3
"""Random kernels, and the same programs in Rust, for `random_programs.sh`.

random_programs.py SEED COUNT KERNELS CASES: writes COUNT kernels to the file KERNELS, and their programs in
Rust, with calls, to the file CASES, for tests/src/random_programs.rs. All are valid: one that the compiler
refuses, or whose call returns an error, is a finding. They have integers only, so results are exact.
"""
import random
import sys

from random_text import INDENT, Writer, write

BITS = {"u8": 8, "s8": 8, "u16": 16, "s16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64}


def rust_type(kind):
    return {"exact": "i64", "bool": "bool"}.get(kind, kind.replace("s", "i"))


class Value:
    """An expression in both languages.

    `kind` is an element type, `bool`, or `exact`: an integer that does not wrap. A counter is not negative,
    and `below` a number or an extent. A literal has a `number`.
    """

    def __init__(self, co, rust, kind, below=None, number=None):
        self.co, self.rust, self.kind, self.below, self.number = co, rust, kind, below, number

    @staticmethod
    def literal(number):
        return Value(f"({number})" if number < 0 else str(number), f"({number}i64)", "exact", number=number)

    @staticmethod
    def typed_literal(number, suffix):
        """With a suffix it has a type, whatever it is beside."""
        kind = {"u": "u32" if fits(number, "u32") else "u64", "ll": "s64", "ull": "u64"}[suffix]
        co = f"(-{-number}{suffix})" if number < 0 else f"{number}{suffix}"
        return Value(co, f"({number} as {rust_type(kind)})" if number >= 0 else f"({number}i64)", kind)

    def to(self, kind):
        """The Rust expression converted to `kind`."""
        return self.rust if self.kind == kind else f"(({self.rust}) as {rust_type(kind)})"


def fits(number, kind):
    low, high = (0, 1 << BITS[kind]) if kind[0] == "u" else (-1 << BITS[kind] - 1, 1 << BITS[kind] - 1)
    return low <= number < high


def typed(value):
    """The type of an operand beside data; of an integer without a type it is that of most of them."""
    if value.kind != "exact":
        return value.kind
    return "s64" if value.number is not None and not fits(value.number, "s32") else "s32"


def common(a, b):
    """The type in which two values are computed: docs/language.md, "Values"."""
    for literal, other in ((a, b), (b, a)):
        if literal.number is not None and other.kind != "exact" and fits(literal.number, other.kind):
            return other.kind
    a, b = (typed(value) for value in (a, b))
    if a == b:
        return a
    wide, narrow = (a, b) if BITS[a] >= BITS[b] else (b, a)
    if wide[0] == narrow[0] or (wide[0] == "s" and BITS[wide] > BITS[narrow]):
        return wide
    return f"u{BITS[wide]}"


ALLOWED = "W0209, W0214, W0348, W0360, W0702, W0703, W0707, W1112, W1113"


class Program(Writer):
    """One function, and the function of the same name in Rust."""

    def __init__(self, number, seed):
        super().__init__(f"program_{number}", random.Random(f"{seed}/{number}"))
        # What expressions can use: scopes of names.
        self.variables, self.arrays, self.exacts, self.tiles = [], [], [], []
        self.loops = 0

    # Text.

    def line(self, co, rust):
        self.co.append(INDENT * self.depth + co)
        self.rust.append(INDENT * self.depth + rust)

    def element_type(self):
        return self.pick(*BITS)

    def scope(self):
        return [len(names) for names in (self.variables, self.arrays, self.exacts)]

    def leave(self, scope):
        for names, count in zip((self.variables, self.arrays, self.exacts), scope):
            del names[count:]

    def block(self, body):
        scope = self.scope()
        self.depth += 1
        body()
        self.depth -= 1
        self.line("}", "}")
        self.leave(scope)

    # Expressions.

    def literal(self):
        return self.pick(0, 1, 2, 3, 5, 7, 13, 64, 100, 127, 128, 255, 1000, 65535, 3000000000, -1, -2, -7, -128, -3000000000)

    def exact(self, depth):
        """Of small numbers: no result is outside of 32 bits."""
        if depth == 0 or self.chance(0.3):
            if self.exacts and self.chance(0.8):
                return self.pick(*self.exacts)
            return Value.literal(self.pick(0, 1, 2, 3, 5, 9, -1, -4))
        a, b = self.exact(depth - 1), self.exact(depth - 1)
        if a.number is not None and (b.number is not None):
            return a
        operator = self.pick("+", "-", "*", "%", "/", "min", "max", "choice")
        if operator in "*%/" and a.number is None:
            number = self.pick(2, 3, 4, 7)
            return Value(f"({a.co} {operator} {number})", f"({a.rust} {operator} {number})", "exact")
        if operator in ("min", "max"):
            return Value(f"__{operator}({a.co}, {b.co})", f"({a.rust}).{operator}({b.rust})", "exact")
        if operator == "choice":
            condition = self.exact_condition(depth - 1)
            return Value(
                f"({condition.co} ? {a.co} : {b.co})", f"(if {condition.rust} {{ {a.rust} }} else {{ {b.rust} }})", "exact"
            )
        if operator in "*%/":
            operator = "+"
        return Value(f"({a.co} {operator} {b.co})", f"({a.rust} {operator} {b.rust})", "exact")

    def exact_condition(self, depth):
        a, b = self.exact(depth), self.exact(0)
        operator = self.pick("<", "<=", ">", ">=", "==", "!=")
        return Value(f"{a.co} {operator} {b.co}", f"({a.rust} {operator} {b.rust})", "bool")

    def index(self, count, depth=1):
        """An index below `count`, a pair of texts."""
        co, rust = count
        form = self.pick("exact", "data", "variable")
        counters = [e for e in self.exacts if e.below]
        indices = [e for e in counters if e.below == co]
        if form == "variable" and indices:
            return self.pick(*indices)
        if form == "data" and self.variables:
            value = self.data(depth)
            return Value(f"(__to<u32>({value.co}) % {co})", f"({value.to('u32')} as i64 % ({rust}))", "exact")
        e = self.pick(*(indices or counters or [Value("3", "3i64", "exact")]))
        by, plus = self.pick(1, 3, 5), self.pick(0, 1, 2, 11)
        return Value(f"(({e.co} * {by} + {plus}) % {co})", f"(({e.rust} * {by} + {plus}) % ({rust}))", "exact")

    def load(self, depth):
        name, kind, extents = self.pick(*self.tiles, *self.arrays)
        indices = [self.index(extent, max(depth - 1, 0)) for extent in extents]
        place = "0"
        for extent, i in zip(extents, indices):
            place = f"({place}) * ({extent[1]}) + ({i.rust})"
        co, rust = name
        return Value(f"{co}.at({', '.join(i.co for i in indices)})", f"{rust}[({place}) as usize]", kind)

    def operand(self, depth):
        if self.chance(0.15):
            return self.exact(1)
        if self.chance(0.15):
            return Value.literal(self.literal())
        if self.chance(0.25):
            suffix, number = self.pick("u", "ll", "ull"), self.literal()
            return Value.typed_literal(number if suffix == "ll" else abs(number), suffix)
        return self.data(depth)

    def data(self, depth):
        if depth == 0 or self.chance(0.15):
            if self.variables and (self.chance(0.6) or not self.tiles + self.arrays):
                return self.pick(*self.variables)
            if self.tiles + self.arrays:
                return self.load(depth)
            kind, number = self.element_type(), self.pick(0, 1, 3, 100)
            return Value(f"__to<{kind}>({number})", f"({number} as {rust_type(kind)})", kind)
        form = self.pick("arithmetic", "arithmetic", "arithmetic", "shift", "division", "min", "unary", "convert", "choice", "bits")
        return getattr(self, form)(depth - 1)

    def arithmetic(self, depth):
        a, b = self.data(depth), self.operand(depth)
        if self.chance(0.5):
            a, b = b, a
        kind = common(a, b)
        operator, method = self.pick(("+", "wrapping_add"), ("-", "wrapping_sub"), ("*", "wrapping_mul"))
        return Value(f"({a.co} {operator} {b.co})", f"{a.to(kind)}.{method}({b.to(kind)})", kind)

    def bits(self, depth):
        a, b = self.data(depth), self.operand(depth)
        kind, operator = common(a, b), self.pick("&", "|", "^")
        return Value(f"({a.co} {operator} {b.co})", f"({a.to(kind)} {operator} {b.to(kind)})", kind)

    def shift(self, depth):
        a, b = self.data(depth), self.data(depth)
        operator, method = self.pick(("<<", "wrapping_shl"), (">>", "wrapping_shr"))
        most = BITS[a.kind] - 1
        if self.chance(0.4):
            amount = Value.literal(self.random.randint(0, most))
            amount.rust = amount.co
        else:
            amount = Value(f"(__to<u32>({b.co}) & {most})", f"({b.to('u32')} & {most})", "u32")
        return Value(f"({a.co} {operator} {amount.co})", f"{a.rust}.{method}({amount.rust})", a.kind)

    def division(self, depth):
        a = self.data(depth)
        operator, method = self.pick(("/", "wrapping_div"), ("%", "wrapping_rem"))
        if self.chance(0.5):
            number = self.pick(2, 3, 7, 10, 16, 255, -3, -8)
            b = Value.literal(number)
        else:
            b = self.bits(0)
            b = Value(f"({b.co} | 1)", f"({b.rust} | 1)", b.kind)
        kind = common(a, b)
        return Value(f"({a.co} {operator} {b.co})", f"{a.to(kind)}.{method}({b.to(kind)})", kind)

    def min(self, depth):
        a, b, kind, name = self.data(depth), self.data(depth), self.element_type(), self.pick("min", "max")
        return Value(
            f"__{name}({self.converted(a, kind)}, {self.converted(b, kind)})", f"({a.to(kind)}).{name}({b.to(kind)})", kind
        )

    def converted(self, value, kind):
        return value.co if value.kind == kind else f"__to<{kind}>({value.co})"

    def convert(self, depth):
        value, kind = self.operand(depth), self.element_type()
        return Value(f"__to<{kind}>({value.co})", value.to(kind), kind)

    def unary(self, depth):
        a = self.data(depth)
        if self.chance(0.5):
            return Value(f"(-{a.co})", f"({a.rust}).wrapping_neg()", a.kind)
        return Value(f"(~{a.co})", f"(!{a.rust})", a.kind)

    def choice(self, depth):
        condition, a, b = self.condition(depth), self.data(depth), self.operand(depth)
        if self.chance(0.5):
            a, b = b, a
        kind = common(a, b)
        return Value(
            f"({condition.co} ? {a.co} : {b.co})",
            f"(if {condition.rust} {{ {a.to(kind)} }} else {{ {b.to(kind)} }})",
            kind,
        )

    def condition(self, depth):
        form = self.random.random()
        if depth > 0 and form < 0.3:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            operator = self.pick("&&", "||")
            return Value(f"({a.co} {operator} {b.co})", f"({a.rust} {operator} {b.rust})", "bool")
        if depth > 0 and form < 0.4:
            a = self.condition(depth - 1)
            return Value(f"!({a.co})", f"!({a.rust})", "bool")
        if form < 0.55 and self.exacts:
            a = self.exact_condition(1)
            return Value(f"({a.co})", a.rust, "bool")
        a, b = self.data(depth), self.operand(depth)
        kind, operator = common(a, b), self.pick("<", "<=", ">", ">=", "==", "!=")
        return Value(f"({a.co} {operator} {b.co})", f"({a.to(kind)} {operator} {b.to(kind)})", "bool")

    # Statements.

    def declare(self, value=None):
        kind, name = self.element_type(), self.fresh("v")
        value = value or self.data(2)
        self.line(f"{kind} {name} = {value.co};", f"let mut {name}: {rust_type(kind)} = {value.to(kind)};")
        self.variables.append(Value(name, name, kind))

    def statements(self, count):
        for _ in range(count):
            form = self.pick("declare", "assign", "assign", "compound", "compound", "branch", "loop", "bounded", "array", "name")
            if form in ("branch", "loop", "bounded") and self.depth > 5:
                form = "assign"
            if form in ("assign", "compound") and not self.variables:
                form = "declare"
            getattr(self, f"{form}_statement" if form != "declare" else form)()

    def assign_statement(self):
        target = self.pick(*self.variables)
        value = self.operand(3)
        self.line(f"{target.co} = {value.co};", f"{target.rust} = {value.to(target.kind)};")

    def compound_statement(self):
        target, value = self.pick(*self.variables), self.operand(2)
        kind = common(target, value)
        operator, method = self.pick(
            ("+", "wrapping_add"), ("-", "wrapping_sub"), ("*", "wrapping_mul"), ("&", "bitand"), ("|", "bitor"), ("^", "bitxor")
        )
        result = Value("", f"{target.to(kind)}.{method}({value.to(kind)})", kind)
        self.line(f"{target.co} {operator}= {value.co};", f"{target.rust} = {result.to(target.kind)};")

    def branch_statement(self):
        condition = self.condition(2)
        self.line(f"if ({condition.co}) {{", f"if {condition.rust} {{")

        def body():
            self.statements(self.random.randint(1, 2))
            if self.loops and self.chance(0.25):
                word = self.pick("break", "continue")
                self.line(f"{word};", f"{word};")

        if self.chance(0.5):
            self.block(body)
            return
        scope = self.scope()
        self.depth += 1
        self.statements(self.random.randint(1, 2))
        self.depth -= 1
        self.leave(scope)
        self.line("} else {", "} else {")
        self.block(body)

    def loop_statement(self):
        name, count = self.fresh("i"), self.pick(2, 3, 4, 8, 16)
        self.line(f"foreach {name} in {count} {{", f"for {name} in 0..{count}i64 {{")

        def body():
            self.counted(name, str(count))
            self.loops += 1
            self.statements(self.random.randint(1, 3))
            self.loops -= 1

        self.block(body)

    def bounded_statement(self):
        """A `while` of at most seven iterations."""
        name, start, condition = self.fresh("w"), self.data(2), self.condition(1)
        self.line(f"s32 {name} = __to<s32>({start.co}) & 7;", f"let mut {name}: i32 = {start.to('s32')} & 7;")
        self.line(f"while ({name} > 0 && {condition.co}) {{", f"while {name} > 0 && {condition.rust} {{")

        def body():
            self.line(f"{name} = {name} - 1;", f"{name} = {name} - 1;")
            self.loops += 1
            self.statements(self.random.randint(1, 2))
            self.loops -= 1

        self.block(body)

    def array_statement(self):
        """A local array, or an element of one."""
        if self.arrays and self.chance(0.7):
            name, kind, extents = self.pick(*self.arrays)
            i, value = self.index(extents[0]), self.operand(2)
            if self.chance(0.4):
                self.update(name, kind, i, value)
                return
            self.line(f"{name[0]}.at({i.co}) = {value.co};", f"{{ let at = ({i.rust}) as usize; {name[1]}[at] = {value.to(kind)}; }}")
            return
        name, kind, count = self.fresh("m"), self.element_type(), self.pick(2, 4, 8)
        i, value = self.fresh("i"), self.data(1)
        self.line(f"local {kind} [{count}] {name};", f"let mut {name} = [0 as {rust_type(kind)}; {count}];")
        self.line(f"foreach {i} in {count} {name}.at({i}) = {value.co};", f"for {i} in 0..{count} {{ {name}[{i}] = {value.to(kind)}; }}")
        self.arrays.append(((name, name), kind, [(str(count), str(count))]))

    def update(self, name, kind, i, value):
        """An element `op=` a value."""
        operator, method = self.pick(
            ("+", "wrapping_add"), ("-", "wrapping_sub"), ("*", "wrapping_mul"), ("/", "wrapping_div"), ("%", "wrapping_rem")
        )
        if operator in "/%":
            value = Value(f"({value.co} | 1)", f"({value.rust} | 1)", value.kind, number=None)
            if value.kind == "exact":
                value = Value.literal(self.pick(3, 10, -7))
        old = Value("", f"{name[1]}[at]", kind)
        ty = common(old, value)
        result = Value("", f"{old.to(ty)}.{method}({value.to(ty)})", ty)
        self.line(
            f"{name[0]}.at({i.co}) {operator}= {value.co};",
            f"{{ let at = ({i.rust}) as usize; {name[1]}[at] = {result.to(kind)}; }}",
        )

    def name_statement(self):
        name, exacts = self.fresh("e"), self.exacts
        # Names of other such values are left out, so that no number becomes large.
        self.exacts = [e for e in exacts if e.below or e.co == "a"]
        value = self.exact(2)
        self.exacts = exacts
        if value.number is not None:
            return
        self.line(f"{name} = {value.co};", f"let {name}: i64 = {value.rust};")
        self.exacts.append(Value(name, name, "exact"))

    # Functions.

    def counted(self, name, below, rust=None):
        self.exacts.append(Value(name, rust or name, "exact", below))

    def function(self):
        self.kinds = [self.element_type() for _ in range(3)]
        x, z, y = self.kinds
        shape = self.pick("elements", "rows", "exchange", "tiles", "pipeline")
        flat = shape in ("elements", "exchange")
        self.flat, self.shape = flat, shape
        extents = "N" if flat else "M, N"
        result = "M" if shape == "pipeline" else extents
        self.header_co = f"__co__ {y} [{result}] {self.name}({x} [{extents}] x, {z} [N] z, s32 a) {{"
        self.header_rust = (
            f"fn {self.name}(x: &[{rust_type(x)}], z: &[{rust_type(z)}], a: i64, m: i64, n: i64) -> Vec<{rust_type(y)}> {{"
        )
        size = {"N": "n", "M, N": "m * n", "M": "m"}[result]
        self.line(f"{y} [{result}] y;", f"let mut y = vec![0 as {rust_type(y)}; ({size}) as usize];")
        self.exacts.append(Value("a", "a", "exact"))
        whole = [("N", "n")] if flat else [("M", "m"), ("N", "n")]
        self.x_tile = (("x", "x"), x, whole)
        self.tiles = [self.x_tile, (("z", "z"), z, [("N", "n")])]
        getattr(self, f"{shape}_shape")()
        self.line("return y;", "y")
        return "\n".join([self.header_co, *self.co, "}"]), "\n".join([self.header_rust, *self.rust, "}"])

    def store(self, co, rust):
        value = self.operand(3)
        self.line(f"y.at({co}) = {value.co};", f"y[({rust}) as usize] = {value.to(self.kinds[2])};")

    def elements_shape(self):
        self.line("parallel p by N {", "for p in 0..n {")

        def body():
            self.counted("p", "N")
            self.statements(self.random.randint(2, 6))
            self.store("p", "p")

        self.block(body)

    def rows_shape(self):
        self.line("parallel p by M {", "for p in 0..m {")

        def body():
            self.counted("p", "M")
            self.declare()
            self.statements(self.random.randint(0, 2))
            self.line("foreach j in N {", "for j in 0..n {")

            def columns():
                self.counted("j", "N")
                self.declare(Value("x.at(p, j)", "x[(p * n + j) as usize]", self.kinds[0]))
                self.statements(self.random.randint(0, 3))
                self.store("p, j", "p * n + j")

            self.block(columns)

        self.block(body)

    def exchange_shape(self):
        """Threads of a block read what others have written to shared memory."""
        threads = self.pick(32, 64, 128)
        self.line(f"parallel b by cdiv(N, {threads}) : block {{", f"for b in 0..(n + {threads - 1}) / {threads} {{")

        def body():
            self.counted("b", "cdiv")
            phases = self.pick(1, 1, 2, 3)
            for phase in range(phases):
                kind, name = self.element_type(), self.fresh("s")
                self.line(f"shared {kind} [{threads}] {name};", f"let mut {name} = vec![0 as {rust_type(kind)}; {threads}];")
                self.line(f"parallel t by {threads} : thread {{", f"for t in 0..{threads}i64 {{")

                def write():
                    self.counted("t", str(threads))
                    by, plus = self.pick(1, 1, 3, 5, 31), self.pick(0, 0, 1, 7)
                    place = f"(t * {by} + {plus}) % {threads}"
                    self.line(f"if (b # t < N) {{", f"if b * {threads} + t < n {{")
                    scope = self.scope()
                    self.depth += 1
                    self.counted("(b # t)", "N", f"(b * {threads} + t)")
                    self.statements(self.random.randint(0, 3))
                    value = self.operand(3)
                    self.line(f"{name}.at({place}) = {value.co};", f"{name}[({place}) as usize] = {value.to(kind)};")
                    self.depth -= 1
                    self.leave(scope)
                    self.line("} else {", "} else {")
                    self.line(f"  {name}.at({place}) = 7;", f"  {name}[({place}) as usize] = 7;")
                    self.line("}", "}")

                self.block(write)
                self.tiles.append(((name, name), kind, [(str(threads), str(threads))]))
            self.line(f"parallel t by {threads} : thread {{", f"for t in 0..{threads}i64 {{")

            def read():
                self.counted("t", str(threads))
                self.line("if (b # t < N) {", f"if b * {threads} + t < n {{")

                def inside():
                    self.statements(self.random.randint(1, 3))
                    self.store("b # t", f"b * {threads} + t")

                self.block(inside)

            self.block(read)

        self.block(body)

    def tiles_of(self, rows, columns):
        self.line(
            f"parallel {{bc, br}} by [cdiv(N, {columns}), cdiv(M, {rows})] : block {{",
            f"for br in 0..(m + {rows - 1}) / {rows} {{ for bc in 0..(n + {columns - 1}) / {columns} {{",
        )

    @property
    def zero(self):
        return f"0 as {rust_type(self.kinds[0])}"

    def tile_of(self, rows, columns, row, column):
        """A Rust expression: a tile of `x` with zeros outside."""
        return (
            f"(0..{rows * columns}i64).map(|e| {{ let (r, c) = ({row} + e / {columns}, {column} + e % {columns}); "
            f"if r < m && c < n {{ x[(r * n + c) as usize] }} else {{ {self.zero} }} }}).collect::<Vec<_>>()"
        )

    def tiles_shape(self):
        rows, columns = self.pick(8, 16), self.pick(16, 32)
        self.tiles_of(rows, columns)

        def body():
            turned = self.chance(0.4)
            swizzles = BITS[self.kinds[0]] * columns % 256 == 0
            forms = ["dma.copy.zfill", "dma.copy.async.zfill"] + ["dma.copy.swiz<32>.zfill"] * swizzles
            form = "dma.transp<1, 0>.zfill" if turned else self.pick(*forms)
            self.line(
                f"tile = {form} x.subspan({rows}, {columns}).at(br, bc) => shared;",
                f"let tile = {self.tile_of(rows, columns, f'br * {rows}', f'bc * {columns}')};",
            )
            if ".async" in form:
                self.line("wait tile;", "")
            if turned:
                self.line("", f"let tile = (0..{rows * columns}usize).map(|e| tile[e % {rows} * {columns} + e / {rows}]).collect::<Vec<_>>();")
            extents = [(str(rows), str(rows)), (str(columns), str(columns))]
            self.tiles.append((("tile.data", "tile"), self.kinds[0], extents[::-1] if turned else extents))
            self.line(f"parallel {{j, i}} by [{columns}, {rows}] : thread {{", f"for i in 0..{rows}i64 {{ for j in 0..{columns}i64 {{")

            def threads():
                self.counted("i", str(rows))
                self.counted("j", str(columns))
                self.line("if (br # i < M && bc # j < N) {", f"if br * {rows} + i < m && bc * {columns} + j < n {{")

                def inside():
                    self.statements(self.random.randint(1, 3))
                    self.store("br # i, bc # j", f"(br * {rows} + i) * n + bc * {columns} + j")

                self.block(inside)

            self.block(threads)
            self.rust[-1] += " }"

        self.block(body)
        self.rust[-1] += " }"

    def pipeline_shape(self):
        """Tiles of a row are copied while those before are in use."""
        rows, columns = self.pick(16, 32, 64), self.pick(16, 32)
        steps = f"((n + {columns - 1}) / {columns})"
        self.line(f"parallel r by cdiv(M, {rows}) : block {{", f"for r in 0..(m + {rows - 1}) / {rows} {{")

        def body():
            self.line(f"here = dma.copy.async.zfill x.subspan({rows}, {columns}).at(r, 0) => shared;", "")
            self.line("next = dma.any;", "")
            self.line(f"parallel i by {rows} : thread {{", f"for i in 0..{rows}i64 {{ if r * {rows} + i < m {{")

            def threads():
                self.counted("i", str(rows))
                self.declare()
                self.line(f"foreach k in [cdiv(N, {columns})] {{", f"for k in 0..{steps} {{")

                def step():
                    self.counted("k", "cdiv")
                    self.line(
                        f"if (k + 1 < cdiv(N, {columns})) next = dma.copy.async.zfill x.subspan({rows}, {columns}).at(r, k + 1) => shared;",
                        f"let here = {self.tile_of(rows, columns, f'r * {rows}', f'k * {columns}')};",
                    )
                    self.line("wait here;", "")
                    self.tiles.append((("here.data", "here"), self.kinds[0], [(str(rows), str(rows)), (str(columns), str(columns))]))
                    self.line(f"foreach j in {columns} {{", f"for j in 0..{columns}i64 {{")

                    def columns_body():
                        self.counted("j", str(columns))
                        self.statements(self.random.randint(1, 3))

                    self.block(columns_body)
                    self.tiles.pop()
                    self.line("swap(here, next);", "")

                self.block(step)
                self.line("wait here;", "")
                self.line(f"if (r # i < M) {{", "{")
                self.block(lambda: self.store("r # i", f"r * {rows} + i"))

            self.block(threads)
            self.rust[-1] += " }"

        self.block(body)


SIZES = [1, 2, 31, 32, 33, 100, 127, 128, 129, 300]


def call(program):
    """A call of a program for some sizes."""
    sizes = program.random.sample(SIZES, 3)
    sizes = [(1, n) if program.flat else (n, program.pick(1, 2, 8, 17, 32, 63, 64)) for n in sizes]
    sizes = ", ".join(f"({m}, {n}, {program.pick(0, 1, -3, 50)})" for m, n in sizes)
    method, name = "flat" if program.flat else "rows", program.name
    return f'calls.{method}("{name}", |x, z, a| Ok(kernels::{name}(x, z, a)?.into_vec()), {name}, &[{sizes}]);'


def main(seed, count, kernels, cases):
    programs = [Program(number, seed) for number in range(int(count))]
    texts = [program.function() for program in programs]
    calls = [call(program) for program in programs]
    write("random_programs.py", ALLOWED, texts, calls, (kernels, cases))


main(*sys.argv[1:])
