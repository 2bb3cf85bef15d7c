"""Random kernels whose threads have roles: some bring tiles, others compute with them, with events between them.

For random_movement.py. Tiles of `[rows, columns]` of a tensor `x`, and perhaps of a second one `z`, go through rings of
shared buffers; a ring of results and a role that stores them may follow.
"""
from random_text import BYTES, Num, inputs, joined, product, rust_type
from random_values import Base, Tile


class Regions(Base):
    def function(self):
        """The texts of both functions."""
        self.kind, self.result = self.pick("f32", "f16", "bf16", "u8", "s32", "s64"), self.pick("f32", "s32", "s64")
        self.rows, self.columns = self.pick(1, 2, 4, 6, 8), self.pick(16, 32, 48, 64)
        self.steps = f"cdiv(D0, {self.rows})"
        self.slots, self.takers = self.pick(1, 2, 3, 4), self.pick(1, 1, 2, 3)
        self.lanes = self.pick(32, 32, 128)
        self.blocks = self.pick(1, 2, 3)
        self.staged = self.chance(0.35)
        self.two = self.chance(0.4)
        self.turns = self.pick(1, 1, 2)
        self.summed = not self.staged and self.chance(0.3)
        self.width = self.columns if not self.chance(0.3) else 3 * self.columns
        y = f"{self.lanes * self.takers}" if self.summed else f"{self.columns}"
        first = f"{self.blocks}" if self.summed else "D0"
        second = f", {self.kind} [D0, {self.width}] z" if self.two else ", s32 [1] z"
        self.line(f"__co__ {self.result} [{first}, {y}] {self.name}({self.kind} [D0, {self.width}] x{second}, s32 a) {{")
        self.co[-1] = self.co[-1].strip()
        self.line(None, f"let D0 = d[0];")
        self.line(None, "let a = d[1];")
        self.line(f"{self.result} [{first}, {y}] y;", f"let mut y = Buffer::filled(&[{first}, {y}], 0);")
        self.first = first, y
        self.block()
        self.line("return y;", "y")
        header = f"fn {self.name}(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {{"
        return "\n".join([*self.co, "}"]), "\n".join([header, *self.rust, "}"])

    def text(self):
        """The call."""
        dims = ["d[0] as usize", f"Const::<{self.width}>"]
        arguments = {
            "x": (self.kind, ["d[0]", self.width], dims),
            "z": (self.kind, ["d[0]", self.width], dims) if self.two else ("s32", ["1"], ["Const::<1>"]),
        }
        sizes = [(self.pick(1, 2, 5, 8, 17, 33, 50, 64), self.pick(0, 1, -3)) for _ in range(3)]
        return self.call(arguments, sizes)

    def block(self):
        b = "b"
        ready = self.chance(0.5)
        self.open(f"parallel {b} by {self.blocks} : block {{", f"for {b} in 0..{self.blocks}i64 {{")
        credit = " = ready" if ready else ""
        array = f"[{self.slots}]"
        self.line(f"shared event full{array}, empty{array}{credit};")
        self.line(f"shared {self.kind} [{self.rows}, {self.columns}] xs{array};")
        if self.two:
            self.line(f"shared {self.kind} [{self.rows}, {self.columns}] zs{array};")
        if self.staged:
            self.line(f"shared event done{array}, stored{array} = ready;")
            self.line(f"shared {self.result} [{self.rows}, {self.columns}] ys{array};")
        roles = 1 + self.takers + self.staged
        level = "group-4" if self.lanes == 128 else "group"
        self.producer = self.pick(0, roles - 1) if not self.staged else 0
        self.base = 1 if self.producer == 0 else 0
        self.open(f"parallel w by {roles} : {level}, t by {self.lanes} : thread {{", None)
        self.produce()
        self.consume(ready)
        if self.staged:
            self.store()
        self.close("}", None)
        self.close()

    def loop(self, body, rust=False):
        """All steps of the block, in turns: `k` is the number of the step in the block's own order."""
        count = f"cdiv({self.steps}, {self.blocks})"
        if self.turns > 1:
            self.open(f"foreach o in [{self.turns}] {{", f"for o in 0..{self.turns}i64 {{" if rust else None)
        self.open(f"foreach k in [{count}] {{", f"for k in 0..{count} {{" if rust else None)
        number = f"o * {count} + k" if self.turns > 1 else "k"
        self.line(f"n = {number};", f"let n = {number};" if rust else None)
        self.line(f"g = k * {self.blocks} + b;", f"let g = k * {self.blocks} + b;" if rust else None)
        body()
        self.close("}", "}" if rust else None)
        if self.turns > 1:
            self.close("}", "}" if rust else None)

    def slot(self, name):
        """An event of a ring by the number of its slot or of the generation."""
        if name in ("full", "empty", "done", "stored") and self.by_order:
            return f"{name}.at(n)"
        return f"{name}[n % {self.slots}]"

    def region(self, condition):
        self.open(f"inthreads.async ({condition}) {{", None)

    def view(self, tensor, column=0):
        if column:
            return f"{tensor}.view({self.rows}, {self.columns}).from(g * {self.rows}, {column})"
        return f"{tensor}.subspan({self.rows}, {self.columns}).at(g, 0)"

    def produce(self):
        self.by_order = self.chance(0.3)
        self.column = self.pick(0, self.columns // 2) if self.width > self.columns and not self.columns // 2 * BYTES[self.kind] % 16 else 0
        box = self.chance(0.5)
        form = self.pick("blocking", "named", "after", "mixed")
        one = self.chance(0.3) and box and form in ("after", "named")
        thread = self.pick(0, 5, 31)
        self.region(f"w == {self.producer} && t == {thread}" if one else f"w == {self.producer}")

        def step():
            self.line(f"wait {self.slot('empty')};")
            sources = [("x", "xs")] + [("z", "zs")] * self.two
            names = []
            for tensor, ring in sources:
                engine = self.pick("tma.load", "tma.copy") if box and (form != "mixed" or tensor == "x") else "dma.copy"
                text = f"{self.view(tensor, self.column)} => {ring}[n % {self.slots}];"
                if form in ("named", "mixed"):
                    event = f"full[n % {self.slots}]"
                    self.line(f"{engine}.async<{event}>.zfill {text}")
                elif form == "after":
                    name = f"f{tensor}"
                    names.append(name)
                    self.line(f"{name} = {engine}.async.zfill {text}")
                else:
                    self.line(f"{engine}.zfill {text}")
            event = f"full[n % {self.slots}]" if form in ("named", "mixed") else self.slot("full")
            self.line(f"trigger {event}{' after ' + joined(names) if names else ''};")

        self.loop(step)
        self.close("}", None)

    def consume(self, ready):
        self.by_order = self.chance(0.3)
        first, last = self.base, self.base + self.takers - 1
        condition = {True: f"w == {first}"}.get(first == last, f"w >= {first} && w <= {last}")
        if first == 1 and not self.staged and self.chance(0.5):
            condition = "w > 0"
        self.region(condition)
        if not ready:
            if self.chance(0.5):
                self.line("trigger empty;")
            else:
                self.line(f"foreach q in [{self.slots}] {{ trigger empty[q]; }}")
        threads = self.takers * self.lanes
        who = f"((w - {first}) * {self.lanes} + t)" if first else f"(w * {self.lanes} + t)"
        if self.summed:
            self.line(f"mutable {self.result} sum = __to<{self.result}>(0);", f"let mut sums = vec![0i64; {threads}];")

        def step():
            waits = [self.slot("full")] + [self.slot("stored")] * self.staged
            self.line(f"wait {joined(waits)};" if self.chance(0.6) else " ".join(f"wait {each};" for each in waits))
            low, high = inputs(self.kind)
            low, high = min(low, 0), max(high, 0)
            sources = []
            for tensor in ["x"] + ["z"] * self.two:
                view = f"{tensor}.all().window(&[{self.rows}, {self.columns}], &[g * {self.rows}, {self.column}])"
                self.line(None, f"let {tensor}s = load({tensor}, {view}, Rest::Zero);")
                tile = Tile(f"{tensor}s[n % {self.slots}]", f"{tensor}s", self.kind, [self.rows, self.columns], low, high)
                sources.append(tile)
            if self.summed:
                self.add(sources, who, threads)
            else:
                self.elements(sources, who, threads)
            events = [self.slot("empty")] + [self.slot("done")] * self.staged
            self.line(f"trigger {joined(events)};" if self.chance(0.6) else " ".join(f"trigger {each};" for each in events))

        self.loop(step, True)
        if self.summed:
            self.line(f"y.at(b, {who}) = sum;", f"for s in 0..{threads} {{ y.set(&[b, s], sums[s as usize]); }}")
        self.close("}", None)

    def add(self, sources, who, threads):
        self.line(f"s = {who};", f"for s in 0..{threads}i64 {{")
        axes = [("s", threads)]
        value = self.value(1, self.result, axes, sources)
        weight = self.pick(1, "k % 3 + 1", "n % 2 + 1")
        self.line(
            f"sum = sum + {value.co} * __to<{self.result}>({weight});",
            f"sums[s as usize] += {value.rust} * ({weight}); }}",
        )

    def elements(self, sources, who, threads):
        count = self.rows * self.columns
        turns = -(-count // threads)
        opened = 0
        if turns > 1:
            self.open(f"foreach r in [{turns}] {{", None)
            opened += 1
        self.line(f"p = {'r * ' + str(threads) + ' + ' if turns > 1 else ''}{who};")
        if count % threads:
            self.open(f"if (p < {count}) {{", None)
            opened += 1
        self.line(f"i = p / {self.columns};", f"for i in 0..{self.rows}i64 {{")
        self.line(f"j = p % {self.columns};", f"for j in 0..{self.columns}i64 {{")
        axes = [("i", self.rows), ("j", self.columns)]
        value = self.value(2, self.result, axes, sources)
        if self.turns > 1 and not self.staged:
            self.line(f"if (g * {self.rows} + i < D0) {{ y.at(g * {self.rows} + i, j) += {value.co}; }}")
            self.line(None, f"if g * {self.rows} + i < D0 {{ y.add(&[g * {self.rows} + i, j], {value.rust}); }}")
        else:
            if self.staged:
                self.line(f"ys[n % {self.slots}].at(i, j) = {value.co};")
            else:
                self.line(f"if (g * {self.rows} + i < D0) {{ y.at(g * {self.rows} + i, j) = {value.co}; }}")
            self.line(None, f"if g * {self.rows} + i < D0 {{ y.set(&[g * {self.rows} + i, j], {value.rust}); }}")
        self.line(None, "}}")
        for _ in range(opened):
            self.close("}", None)

    def store(self):
        self.by_order = self.chance(0.3)
        self.region(f"w == {1 + self.takers}")
        engine = self.pick("dma", "tma")

        def step():
            self.line(f"wait {self.slot('done')};")
            self.line(f"{engine}.copy ys[n % {self.slots}] => y.subspan({self.rows}, {self.columns}).at(g, 0);")
            self.line(f"trigger {self.slot('stored')};")

        self.loop(step)
        self.close("}", None)
