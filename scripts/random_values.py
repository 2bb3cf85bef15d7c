"""Values, tiles and threads in both languages, for the programs of random_movement.py."""
import random

from random_text import BYTES, Num, Writer, arithmetic, call, either, joined, product

MOST = 130


class Tile:
    """A buffer that a program reads: `co` with `.at(…)`, and `rust`, of constant extents.

    `clip` has, for each axis, the position of the tile in a tensor, and the tensor's extent: elements outside are
    unspecified. It is none where all elements have numbers.
    """

    def __init__(self, co, rust, kind, extents, low, high, **more):
        self.co, self.rust, self.kind, self.extents, self.low, self.high = co, rust, kind, list(extents), low, high
        self.clip = more.get("clip")
        self.swizzled = more.get("swizzled", False)
        self.writable = more.get("writable", True)
        self.future = None

    @property
    def bytes(self):
        return product(self.extents) * BYTES[self.kind]


class View:
    """A tile of a tensor in both languages, with its extents and its `clip`."""

    def __init__(self, tensor, co, rust, extents, clip, **more):
        self.tensor, self.co, self.rust, self.extents, self.clip = tensor, co, rust, list(extents), clip
        # Whether TMA can load it.
        self.box = more.get("box", False)


class Base(Writer):
    """A kernel, and the function of the same name in Rust."""

    def __init__(self, number, seed):
        super().__init__(f"movement_{number}", random.Random(f"{seed}/{number}"))
        self.tiles = []
        self.bytes = 0
        # Names of immutable indices with their greatest values, for expressions.
        self.indices = []

    # Values.

    def literal(self, kind):
        number = self.pick(0, 1, 2, 3, 5)
        form = f"{number}.0f" if kind == "f32" and self.chance(0.5) else f"__to<{kind}>({number})"
        return Num(form, str(number), kind, number, number)

    def index(self, extent, axes):
        """An index below `extent` from those of a thread, a text that both languages read."""
        fitting = [name for name, most in axes if most <= extent]
        form = self.pick("same", "same", "same", "back", "any")
        if form == "same" and fitting:
            return self.pick(*fitting)
        if form == "back" and fitting:
            return f"{extent - 1} - {self.pick(*fitting)}"
        if not axes:
            return str(self.random.randrange(extent))
        name, by, plus = self.pick(*axes)[0], self.pick(1, 1, 2, 3, 5), self.pick(0, 1, 2, 7)
        return f"({name} * {by} + {plus}) % {extent}"

    def read(self, tile, at):
        """An element; where it may be unspecified, a condition excludes that."""
        co, rust = f"{tile.co}.at({joined(at)})", f"{tile.rust}.at(&[{joined(at)}])"
        if not tile.clip:
            return Num(co, rust, tile.kind, tile.low, tile.high)
        condition = self.inside(tile.clip, at)
        return Num(
            f"({condition} ? {co} : __to<{tile.kind}>(0))",
            f"(if {condition} {{ {rust} }} else {{ 0 }})",
            tile.kind,
            min(tile.low, 0),
            max(tile.high, 0),
        )

    def inside(self, clip, at):
        tests = []
        for (origin, extent, negative), i in zip(clip, at):
            place = f"{origin} + {i}" if origin != "0" else i
            if "%" in str(i) and origin != "0":
                place = f"{origin} + ({i})"
            if negative:
                tests.append(f"{place} >= 0")
            tests.append(f"{place} < {extent}")
        return " && ".join(tests)

    def leaf(self, kind, axes, sources):
        for _ in range(4):
            form = self.pick("tile", "tile", "tile", "tile", "index", "literal", "scalar")
            value = None
            if form == "tile" and sources:
                tile = self.pick(*sources)
                same = [name for name, _ in axes]
                fits = len(axes) == len(tile.extents) and all(e <= t for (_, e), t in zip(axes, tile.extents))
                at = same if fits and self.chance(0.5) else [self.index(extent, axes) for extent in tile.extents]
                value = self.read(tile, at)
            elif form == "index" and axes:
                name, extent = self.pick(*axes)
                value = Num(f"__to<{kind}>({name})", name, kind, 0, extent - 1)
            elif form == "scalar":
                value = Num(f"__to<{kind}>(a)", "a", kind, -3, 3)
            if value and value.fits(kind):
                return Num(value.to(kind), value.rust, kind, value.low, value.high)
        return self.literal(kind)

    def value(self, depth, kind, axes, sources):
        """A number of that type, by arithmetic of the type."""
        if depth == 0 or self.chance(0.2):
            return self.leaf(kind, axes, sources)
        a, b = self.value(depth - 1, kind, axes, sources), self.leaf(kind, axes, sources)
        if self.chance(0.3):
            b = self.value(depth - 1, kind, axes, sources)
        form = self.pick("+", "+", "-", "*", "min", "max", "choice")
        result = either(self.condition(a, b, axes), a, b) if form == "choice" else arithmetic(form, a, b)
        return result if result.fits(kind) else a

    def condition(self, a, b, axes):
        operator = self.pick("<", "<=", ">", "==", "!=")
        if axes and self.chance(0.5):
            name, extent = self.pick(*axes)
            text = f"{name} {operator} {self.random.randrange(extent)}"
            return text, text
        return f"{a.co} {operator} {b.co}", f"{a.rust} {operator} {b.rust}"

    # Threads.

    def threads(self, extents, body):
        """Executes `body` for each index of a shape, by the threads of the block; `body` gets names with extents."""
        count, total = product(extents), self.total
        axes = [(self.fresh("i"), extent) for extent in extents]
        forms = ["line", "line", "warps", "split"] + ["groups"] * (total % 128 == 0)
        if len(extents) > 1 and count == total:
            forms += ["axes", "axes", "axes"]
        form = self.pick(*forms)
        opened = 1
        if form == "axes":
            order = list(axes)
            order.reverse()
            if self.chance(0.3):
                self.random.shuffle(order)
            self.line(f"parallel {{{joined(n for n, _ in order)}}} by [{joined(e for _, e in order)}] : thread {{")
            self.depth += 1
        else:
            t, w = self.fresh("t"), self.fresh("w")
            lane = 128 if form == "groups" else 32
            if form == "line":
                self.line(f"parallel {t} by {total} : thread {{")
                thread = t
            elif form == "split":
                part = self.pick(2, 4, 8, 32)
                self.line(f"parallel {{{t}, {w}}} by [{part}, {total // part}] : thread {{")
                thread = f"({w} * {part} + {t})"
            else:
                level = "group-4" if form == "groups" else "group"
                self.line(f"parallel {w} by {total // lane} : {level}, {t} by {lane} : thread {{")
                thread = self.pick(f"({w} # {t})", f"({w} * {lane} + {t})")
            self.depth += 1
            p = self.fresh("p")
            if count > total:
                k = self.fresh("k")
                self.line(f"foreach {k} in [{-(-count // total)}] {{")
                self.depth += 1
                opened += 1
                self.line(f"{p} = {k} * {total} + {thread};")
            else:
                self.line(f"{p} = {thread};")
            if count % total:
                self.line(f"if ({p} < {count}) {{")
                self.depth += 1
                opened += 1
            step = count
            for name, extent in axes:
                step //= extent
                self.line(f"{name} = {p} / {step} % {extent};" if step > 1 else f"{name} = {p} % {extent};")
        depth = self.depth
        self.depth -= opened
        for name, extent in axes:
            self.line(None, f"for {name} in 0..{extent}i64 {{")
        self.depth = depth
        body(axes)
        for _ in range(opened):
            self.depth -= 1
            self.line("}")
        self.line(None, "}" * len(axes))

    def call(self, arguments, sizes):
        references = joined(f"&{letter}" for letter in arguments)
        return call(self.name, self.result, arguments, sizes, f"{self.name}({references}, d)")
