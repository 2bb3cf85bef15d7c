"""Random products of matrices by warps and warpgroups, for random_movement.py: tiles at edges, with their copies."""
from random_text import joined
from random_values import Base


class Products(Base):
    def function(self):
        """The texts of both functions."""
        self.group = self.pick("group", "group", "group-4")
        types = [("f16", "f32"), ("bf16", "f32"), ("s8", "s32"), ("f16", "f32"), ("f16", "f16")]
        self.kind, self.sums = self.pick(*types)
        wide = self.group == "group-4"
        atom = 32 if self.kind == "s8" else 16
        orders = ["row.row"] if wide and self.kind == "s8" else ["row.row", "row.col", "col.row", "col.col"]
        self.a, self.b = self.pick(*orders).split(".")
        self.depth_of = atom * self.pick(1, 2, 3, 4)
        if wide:
            self.units = [self.pick(1, 1, 2), 1]
            # Rows of shared memory that a warpgroup reads have a multiple of 32 bytes.
            self.part = [64, self.pick(16, 32, 48, 64) if self.b == "col" else self.pick(8, 16, 24, 32, 48, 64)]
        else:
            self.units = self.pick([1, 1], [2, 1], [1, 2], [2, 2], [4, 1])
            self.part = [self.pick(16, 32), self.pick(8, 16, 24, 32)]
        self.rows, self.columns = (unit * part for unit, part in zip(self.units, self.part))
        self.atom = atom
        shapes = self.shape("a", "D0", "D2"), self.shape("b", "D1", "D2")
        self.dims = shapes
        self.result = self.pick(self.sums, self.sums, *(["f16"] if self.sums == "f32" else []))
        transposed = self.chance(0.2)
        self.turned = transposed
        y = "D1, D0" if transposed else "D0, D1"
        header = f"__co__ {self.result} [{y}] {self.name}({self.kind} [{joined(shapes[0])}] x, {self.kind} [{joined(shapes[1])}] z, s32 a) {{"
        self.start = self.pick(0, 0, 1, 3)
        self.after = self.pick("", "", "twice", "index")
        self.reference(y)
        rust, self.rust = self.rust, []
        self.line(f"{self.result} [{y}] y;")
        self.kernel()
        self.line("return y;")
        return "\n".join([header, *self.co, "}"]), "\n".join(
            [f"fn {self.name}(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {{", *rust, "}"]
        )

    def shape(self, operand, outer, inner):
        order = self.a if operand == "a" else self.b
        return [outer, inner] if order == "row" else [inner, outer]

    def text(self):
        """The call, with small numbers, so that sums in f16 are exact."""
        number = {"D0": "d[0]", "D1": "d[1]", "D2": "d[2]"}
        arguments = {}
        for letter, shape in zip("xz", self.dims):
            extents = [number[dim] for dim in shape]
            arguments[letter] = (self.kind, extents, [f"{extent} as usize" for extent in extents])
        step = 16 if self.aligned else 1
        sizes = []
        for _ in range(3):
            size = [self.pick(1, 7, 16, 33, 64, 65, 100), self.pick(1, 8, 17, 32, 50), self.pick(1, 15, 16, 32, 48, 60)]
            sizes.append([-(-extent // step) * step for extent in size] + [self.pick(0, 1, -2)])
        return self.call(arguments, sizes)

    def reference(self, y):
        self.line(None, "let (D0, D1, D2, a) = (d[0], d[1], d[2], d[3]);")
        self.line(None, f"let mut y = Buffer::filled(&[{y}], 0);")
        x = "m, k" if self.a == "row" else "k, m"
        z = "n, k" if self.b == "row" else "k, n"
        self.line(None, "for m in 0..D0 { for n in 0..D1 {")
        self.line(None, f"  let mut sum = {self.start};")
        self.line(None, f"  for k in 0..D2 {{ sum += x.at(&[{x}]) * z.at(&[{z}]); }}")
        after = {"twice": "sum = sum * 2 + a;", "index": f"sum = sum - (m % {self.part[0]}) - 2 * (n % {self.part[1]});"}
        if self.after:
            self.line(None, f"  {after[self.after]}")
        self.line(None, f"  y.set(&[{'n, m' if self.turned else 'm, n'}], sum);")
        self.line(None, "} }")
        self.line(None, "y")

    def tile(self, operand, k):
        """The copied tile of an operand at a step, without the copy."""
        tensor, outer = ("x", self.rows) if operand == "a" else ("z", self.columns)
        at = "bm" if operand == "a" else "bn"
        order = self.a if operand == "a" else self.b
        extents, place = (outer, self.depth_of), (at, k)
        if order == "col":
            extents, place = extents[::-1], place[::-1]
        return f"{tensor}.subspan({joined(extents)}).at({joined(place)})", extents

    def kernel(self):
        self.aligned = self.chance(0.4)
        wide = self.group == "group-4"
        grid = [("bm", f"cdiv(D0, {self.rows})"), ("bn", f"cdiv(D1, {self.columns})")]
        self.random.shuffle(grid)
        self.open(f"parallel {{{joined(n for n, _ in grid)}}} by [{joined(c for _, c in grid)}] : block {{", None)
        form = self.pick("plain", "plain", "swap", "ring", "regions")
        shapes = [self.tile(operand, "0")[1] for operand in "ab"]
        size = 2 if self.kind in ("f16", "bf16") else 1
        box = self.aligned and all(shape[-1] * size % 16 == 0 for shape in shapes) and self.chance(0.7)
        widths = [[n for n in (32, 64, 128) if shape[-1] * size % n == 0] for shape in shapes]
        swizzles = [f".swiz<{self.pick(*each)}>" if each and self.chance(0.5) else "" for each in widths]
        if box and wide:
            swizzles = [f".swiz<{each[-1]}>" if each else "" for each in widths]
            box = all(swizzles)
        if self.kind == "s8" and (self.a, self.b) != ("row", "row"):
            swizzles = ["", ""]
        if not box and any(shape[0] % 8 for shape in shapes):
            swizzles = ["", ""]
        engine = "tma.copy" if box else "dma.copy"
        fill = ".zfill" if self.chance(0.6) or form == "swap" else ""
        units = [f"wm", "wn"]
        if wide and self.a == "col" and self.units[0] > 1 and form == "regions":
            # A column of a swizzled tile that is computed from `w` under a condition is refused (E0855).
            form = "ring"
        slots = {"plain": 1, "swap": 0, "ring": 2, "regions": 2}[form]
        if slots:
            for name, shape in zip(("as", "bs"), shapes):
                self.line(f"shared {self.kind} [{joined(shape)}] {name}{'[2]' if slots == 2 else ''};")

        def copies(k, word, targets):
            result = []
            for operand, target, swizzle, name in zip("ab", targets, swizzles, ("fa", "fb")):
                future = f"{name}{word} = " if word is not None else ""
                modifier = ".async" if word is not None else ""
                result.append(f"{future}{engine}{modifier}{swizzle}{fill} {self.tile(operand, k)[0]} => {target};")
            return result

        steps = f"cdiv(D2, {self.depth_of})"
        if form == "regions":
            self.regions(copies, steps, wide)
            self.close("}", None)
            return
        if form == "swap":
            for text in copies("0", "0", ("shared", "shared")):
                self.line(text)
            self.line("fa1 = dma.any;")
            self.line("fb1 = dma.any;")
        if self.units[1] > 1 or self.units[0] > 1 and self.chance(0.5):
            level = f"parallel {{wm, wn}} by [{self.units[0]}, {self.units[1]}] : {self.group} {{"
        else:
            level, units = f"parallel wm by {self.units[0]} : {self.group} {{", ["wm", "0"]
        self.open(level, None)
        number = f"{self.start}.0f" if self.sums in ("f16", "f32") else f"{self.start}"
        self.line(f"acc = mma.fill.{self.sums} {number};")
        self.open(f"foreach k in [{steps}] {{", None)
        as_, bs = "as", "bs"
        if form == "swap":
            self.open(f"if (k + 1 < {steps}) {{", None)
            for text in copies("k + 1", "1", ("shared", "shared")):
                self.line(text)
            self.close("}", None)
            self.line("wait fa0, fb0;")
            as_, bs = "fa0.data", "fb0.data"
        elif form == "ring":
            as_, bs = "as[k % 2]", "bs[k % 2]"
            for text in copies("k", None, (as_, bs)):
                self.line(text)
        else:
            word = "" if self.chance(0.4) else None
            for text in copies("k", word, ("as", "bs")):
                self.line(text)
            if word is not None:
                self.line("wait fa, fb;")
        self.multiply(as_, bs, wide)
        if form == "swap":
            self.line("swap(fa0, fa1);")
            self.line("swap(fb0, fb1);")
        self.close("}", None)
        if form == "swap":
            self.line("wait fa0, fb0;")
        self.finish(units)
        self.close("}", None)
        self.close("}", None)

    def regions(self, copies, steps, wide):
        """A warp or warpgroup that brings tiles, others that multiply."""
        count = self.units[0] * self.units[1]
        lanes = 128 if wide else 32
        self.line(f"shared event full[2], empty[2]{self.pick('', ' = ready')};")
        ready = "ready" in self.co[-1]
        self.open(f"parallel w by {count + 1} : {self.group}, t by {lanes} : thread {{", None)
        self.open("inthreads.async (w == 0) {", None)
        self.open(f"foreach k in [{steps}] {{", None)
        self.line("wait empty[k % 2];")
        named = self.chance(0.5)
        for text in copies("k", None, ("as[k % 2]", "bs[k % 2]")):
            if named:
                text = text.replace(".copy", ".copy.async<full[k % 2]>", 1)
            self.line(text)
        self.line("trigger full[k % 2];")
        self.close("}", None)
        self.close("}", None)
        self.open("inthreads.async (w > 0) {", None)
        if not ready:
            self.line("trigger empty;")
        units = [f"(w - 1) / {self.units[1]}" if self.units[0] > 1 else "0", f"(w - 1) % {self.units[1]}" if self.units[1] > 1 else "0"]
        if self.units[0] > 1:
            self.line(f"wm = {units[0]};")
        if self.units[1] > 1:
            self.line(f"wn = {units[1]};")
        number = f"{self.start}.0f" if self.sums in ("f16", "f32") else f"{self.start}"
        self.line(f"acc = mma.fill.{self.sums} {number};")
        self.open(f"foreach k in [{steps}] {{", None)
        self.line("wait full[k % 2];")
        self.multiply("as[k % 2]", "bs[k % 2]", wide, True)
        if wide and self.chance(0.5):
            self.line("mma.commit;")
        self.line("trigger empty[k % 2];")
        self.close("}", None)
        self.finish(["wm" if self.units[0] > 1 else "0", "wn" if self.units[1] > 1 else "0"])
        self.close("}", None)
        self.close("}", None)

    def multiply(self, as_, bs, wide, numbers=False):
        """One product, or one for each part of K."""
        parts = self.depth_of // self.atom if self.chance(0.5) else 1
        part = "e" if parts > 1 else "_"
        if parts > 1:
            self.open(f"foreach e in [{parts}] {{", None)
        parts_of = {True: self.part_by_number, False: self.part_by_variable}[numbers]
        outer = ["wm" if self.units[0] > 1 else "_", "wn" if self.units[1] > 1 else "_"]
        views = []
        for view, order, unit in ((as_, self.a, outer[0]), (bs, self.b, outer[1])):
            at = [unit, part] if order == "row" else [part, unit]
            views.append(view if at == ["_", "_"] else parts_of(view, at, parts))
        if wide and self.chance(0.5):
            self.line(f"mma.{self.a}.{self.b} acc, {views[0]}, {views[1]};")
        else:
            self.line(f"ma = mma.load {views[0]};")
            self.line(f"mb = mma.load {views[1]};")
            self.line(f"mma.{self.a}.{self.b} acc, ma, mb;")
        if parts > 1:
            self.close("}", None)

    def part_by_variable(self, view, at, _):
        return f"{view}.chunkat({joined(at)})"

    def part_by_number(self, view, at, parts):
        counts = {"wm": self.units[0], "wn": self.units[1], "e": parts, "_": 1}
        return f"{view}.chunk({joined(counts[i] for i in at)}).at({joined(0 if i == '_' else i for i in at)})"

    def finish(self, units):
        if self.after == "twice":
            self.line(f"apply {{i, j}} in acc.span {{ acc.at(i, j) = acc.at(i, j) * __to<{self.sums}>(2) + __to<{self.sums}>(a); }}")
        if self.after == "index":
            self.line(
                f"apply {{i, j}} in acc.span {{ acc.at(i, j) = acc.at(i, j) - __to<{self.sums}>(i) - __to<{self.sums}>(j) * __to<{self.sums}>(2); }}"
            )
        place = [f"bm * {self.units[0]} + {units[0]}", f"bn * {self.units[1]} + {units[1]}"]
        part = list(self.part)
        word = ""
        if self.turned:
            place, part, word = place[::-1], part[::-1], ".transp"
        self.line(f"mma.store{word} acc, y.subspan({joined(part)}).at({joined(place)});")
