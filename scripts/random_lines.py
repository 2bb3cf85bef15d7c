"""Random kernels whose buffers have extents that only the call knows, for random_movement.py: rows of a tensor."""
from random_text import BYTES, Num, inputs
from random_values import Base


class Lines(Base):
    def function(self):
        """The texts of both functions."""
        self.kind = self.pick(*BYTES)
        self.result = self.pick("f32", "s32", "s64")
        self.total = self.pick(32, 64, 128)
        self.parts = self.pick(1, 1, 2, 4)
        self.rows = self.pick(1, 1, 2, 3)
        form = self.pick("shared", "shared", "future", "future", "ring", "turned")
        self.co.append(f"__co__ {self.result} [D0, D1] {self.name}({self.kind} [D0, D1] x, {self.kind} [D1] z, s32 a) {{")
        self.line(None, "let (D0, D1, a) = (d[0], d[1], d[2]);")
        self.line(f"{self.result} [D0, D1] y;", "let mut y = Buffer::filled(&[D0, D1], 0);")
        if self.parts > 1:
            self.line(f'assert(D1 % {self.parts} == 0, "whole parts");')
        self.open(f"parallel g by cdiv(D0, {self.rows}) : block {{", f"for g in 0..cdiv(D0, {self.rows}) {{")
        getattr(self, form)()
        self.close()
        self.line("return y;", "y")
        header = f"fn {self.name}(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {{"
        return "\n".join([*self.co, "}"]), "\n".join([header, *self.rust, "}"])

    def text(self):
        """The call."""
        arguments = {
            "x": (self.kind, ["d[0]", "d[1]"], ["d[0] as usize", "d[1] as usize"]),
            "z": (self.kind, ["d[1]"], ["d[1] as usize"]),
        }
        sizes = []
        for _ in range(3):
            columns = self.pick(1, 2, 3, 15, 16, 31, 33, 64, 100, 130)
            sizes.append((self.pick(1, 2, 3, 7, 10), -(-columns // self.parts) * self.parts, self.pick(0, 1, -3)))
        return self.call(arguments, sizes)

    def view(self):
        """The rows of a block: a tile that keeps the whole last axis."""
        if self.rows == 1 and self.chance(0.3):
            return "x.chunkat(g, _)"
        last = self.pick("_", "D1")
        if self.chance(0.3):
            return f"x.view({self.rows}, D1).from(g * {self.rows}, 0)"
        return f"x.subspan({self.rows}, {last}).at(g, 0)"

    def load(self):
        rust = f"load(x, x.all().subspan(&[{self.rows}, D1], &[g, 0]), Rest::Zero)"
        self.line(None, f"let mut f = {rust};")

    def shared(self):
        self.line(f"shared {self.kind} [{self.rows}, D1] s;")
        self.load()
        if self.parts > 1:
            self.open(f"foreach k in [{self.parts}] {{", None)
            part = f"chunkat(_, k)"
            self.line(f"dma.copy.zfill {self.view().replace('x.chunkat(g, _)', 'x.subspan(1, D1).at(g, 0)')}.{part} => s.{part};")
            self.close("}", None)
        else:
            name = "f = " if self.chance(0.3) else ""
            self.line(f"{name}dma.copy.zfill {self.view()} => s;")
        self.use("s", "f")

    def future(self):
        is_async = self.pick("", ".async")
        self.load()
        self.line(f"f = dma.copy{is_async}.zfill {self.view()} => shared;")
        self.line(f"w = dma.copy{is_async} z => shared;", "let w = load(z, z.all(), Rest::Zero);")
        if is_async:
            self.line(self.pick("wait f, w;", "wait w; wait f;"))
        self.use("f.data", "f", [("w.data", "w")])

    def turned(self):
        is_async = self.pick("", ".async")
        self.load()
        self.line(None, f"let t = transposed(x, x.all().subspan(&[{self.rows}, D1], &[g, 0]), &[1, 0], Rest::Zero);")
        self.line(f"u = dma.transp<1, 0>{is_async}.zfill {self.view()} => shared;")
        if is_async:
            self.line("wait u;")
        self.line(None, "for i in 0..f.extents[0] { for j in 0..D1 { f.set(&[i, j], t.at(&[D1 - 1 - j, i])); } }")
        self.use(None, "f", element=lambda i, j: f"u.data.at(D1 - 1 - ({j}), {i})")

    def ring(self):
        """One line after the other, the next one on its way."""
        self.load()
        self.line("here = dma.copy.async.zfill x.subspan(1, D1).at(g * %d, 0) => shared;" % self.rows)
        self.line("next = dma.any;")
        self.line(f"shared {self.kind} [{self.rows}, D1] s;")
        self.open(f"foreach k in [{self.rows}] {{", None)
        self.line(f"if (k + 1 < {self.rows}) next = dma.copy.async.zfill x.subspan(1, D1).at(g * {self.rows} + k + 1, 0) => shared;")
        self.line("wait here;")
        if self.chance(0.5):
            self.line("dma.copy here.data => s.subspan(1, D1).at(k, 0);")
        else:
            self.line(f"parallel t by {self.total} : thread foreach q in [cdiv(D1, {self.total})] if (q # t < D1) s.at(k, q # t) = here.data.at(0, q # t);")
        self.line("swap(here, next);")
        self.close("}", None)
        self.line("wait here;")
        self.use("s", "f")

    def use(self, co, rust, lines=(), element=None):
        """All elements of the rows, from others of them."""
        low, high = inputs(self.kind)
        low, high = min(low, 0), max(high, 0)
        p, i, j = "p", "i", "j"
        if self.chance(0.5):
            self.open(f"parallel t by {self.total} : thread {{", None)
            self.open(f"foreach {i} in [{self.rows}] {{", f"for {i} in 0..{self.rows}i64 {{")
            self.open(f"foreach q in [cdiv(D1, {self.total})] {{", None)
            self.line(f"{j} = {self.pick(f'q * {self.total} + t', 'q # t')};", f"for {j} in 0..D1 {{")
        else:
            self.open(f"parallel t by {self.total} : thread {{", f"for {i} in 0..{self.rows}i64 {{")
            self.open(f"foreach q in [cdiv({self.rows} * D1, {self.total})] {{", None)
            self.open(f"if (q * {self.total} + t < {self.rows} * D1) {{", f"for {j} in 0..D1 {{")
            self.line(f"{i} = (q * {self.total} + t) / D1;")
            self.line(f"{j} = (q * {self.total} + t) % D1;")
        condition = f"{j} < D1 && g * {self.rows} + {i} < D0"
        self.open(f"if ({condition}) {{", f"if {condition} {{")
        value = None
        for _ in range(self.random.randint(1, 3)):
            place = self.pick(j, f"D1 - 1 - {j}", f"({j} * {self.pick(2, 3)} + {self.pick(0, 1, 7)}) % D1")
            row = self.pick(i, f"{self.rows - 1} - {i}" if self.rows > 1 else "0")
            if lines and self.chance(0.5):
                name, rust_name = self.pick(*lines)
                term = Num(f"{name}.at({place})", f"{rust_name}.at(&[{place}])", self.kind, low, high)
            else:
                text = element(row, place) if element else f"{co}.at({row}, {place})"
                term = Num(text, f"{rust}.at(&[{row}, {place}])", self.kind, low, high)
            term = Num(term.to(self.result), term.rust, self.result, low, high)
            if value:
                sign = self.pick("+", "-", "*")
                value = Num(f"({value.co} {sign} {term.co})", f"({value.rust} {sign} {term.rust})", self.result, 0, 0)
            else:
                value = term
        self.line(f"y.at(g * {self.rows} + {i}, {j}) = {value.co};", f"y.set(&[g * {self.rows} + {i}, {j}], {value.rust});")
        while self.co[-1] != "  }" and self.depth > 2:
            self.close("}", None)
        self.line(None, "} } }")
