#!/usr/bin/env python3
"""Random kernels that move tiles, and the same programs in Rust, for `random_programs.sh`.

random_movement.py SEED COUNT KERNELS CASES: writes COUNT kernels to the file KERNELS, and their programs in Rust,
with calls, to the file CASES, for tests/src/random_tiles_model.rs. All are valid. Numbers are small integers, in floats
too: `Num` has the range of each value, so results are exact in every type. Names are the same in both languages.
"""
import random
import sys

from random_lines import Lines
from random_products import Products
from random_regions import Regions
from random_text import BYTES, Num, inputs, joined, product, write
from random_values import MOST, Base, Tile, View


class Movement(Base):
    """Tiles of a tensor `x`, in a grid of blocks or loops, and parts of a tensor `z` of constant extents."""

    def function(self):
        kinds = list(BYTES)
        self.kinds = {"x": self.pick(*kinds), "z": self.pick(*kinds)}
        self.rank = self.pick(1, 2, 2, 2, 3)
        self.total = self.pick(32, 64, 96, 128, 128, 256)
        self.aligned = self.chance(0.35)
        self.dims = [f"D{axis}" for axis in range(self.rank)]
        x = self.kinds["x"]
        last = [16, 32, 48, 64] if self.aligned else [4, 8, 16, 24, 32, 33, 64]
        if self.aligned and BYTES[x] >= 4:
            last += [4, 8, 24]
        self.tile = [self.pick(1, 2, 3, 4, 8, 16) for _ in range(self.rank - 1)] + [self.pick(*last)]
        if self.rank == 3:
            self.tile[0] = self.pick(1, 2, 3)
        self.constant = self.pick([24, 48], [16, 64], [8, 32], [7, 16], [96], [128], [4, 6, 16], [2, 5, 24])
        for line in [f"let {name} = d[{axis}];" for axis, name in enumerate(self.dims)]:
            self.line(None, line)
        self.line(None, f"let a = d[{self.rank}];")
        body_co, body_rust = self.co, self.rust
        self.co, self.rust = [], []
        self.grid()
        grid_co, grid_rust = self.co, self.rust
        result = joined(self.result_extents)
        header = f"__co__ {self.result} [{result}] {self.name}({x} [{joined(self.dims)}] x, {self.kinds['z']} [{joined(self.constant)}] z, s32 a) {{"
        co = [header, f"  {self.result} [{result}] y;", *grid_co, "  return y;", "}"]
        rust = [
            f"fn {self.name}(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {{",
            *body_rust,
            f"  let mut y = Buffer::filled(&[{result}], 0);",
            *grid_rust,
            "  y",
            "}",
        ]
        return "\n".join(co), "\n".join(rust)

    def sizes(self):
        last = [1, 2, 15, 16, 31, 33, 64, 65, 100, 128]
        if self.aligned:
            last = [16, 32, 48, 64, 80, 128]
        sizes = []
        for _ in range(3):
            size = [self.pick(1, 2, 3, 7, 8, 16, 17, 31, 33)] * (self.rank > 1) + [self.pick(*last)]
            size = [self.pick(1, 2, 3, 5)] * (self.rank > 2) + size
            sizes.append(size + [self.pick(0, 1, -3, 3)])
        return sizes

    def text(self):
        dims = [f"d[{axis}] as usize" for axis in range(self.rank)]
        arguments = {
            "x": (self.kinds["x"], [f"d[{axis}]" for axis in range(self.rank)], dims),
            "z": (self.kinds["z"], self.constant, [f"Const::<{extent}>" for extent in self.constant]),
        }
        return self.call(arguments, self.sizes())

    # The grid.

    def counts(self):
        return [f"cdiv({dim}, {tile})" for dim, tile in zip(self.dims, self.tile)]

    def grid(self):
        self.at = [f"g{axis}" for axis in range(self.rank)]
        counts = self.counts()
        forms = ["all", "all", "line", "loop"] + ["stay"]
        form = self.pick(*forms)
        self.opened = 0
        if form == "all":
            order = list(zip(self.at, counts))
            self.random.shuffle(order)
            self.open_both(f"parallel {{{joined(n for n, _ in order)}}} by [{joined(c for _, c in order)}] : block {{")
            for name, count in zip(self.at, counts):
                self.line(None, f"for {name} in 0..{count} {{")
            self.closing = "}" * len(self.at)
        elif form == "loop":
            self.open_both(f"parallel {{{joined(self.at[:1])}}} by [{counts[0]}] : block {{")
            self.line(None, f"for g0 in 0..{counts[0]} {{")
            self.closing = "}"
            for name, count in list(zip(self.at, counts))[1:]:
                self.open_both(f"foreach {name} in [{count}] {{")
                self.line(None, f"for {name} in 0..{count} {{")
                self.closing += "}"
        else:
            all_tiles = " * ".join(counts)
            b, number = self.fresh("b"), self.fresh("n")
            if form == "line":
                self.open_both(f"parallel {b} by {all_tiles} : block {{")
                number = b
                self.line(None, f"for {b} in 0..{all_tiles} {{")
                self.closing = "}"
            else:
                blocks, turn = self.pick(1, 2, 3), self.fresh("o")
                self.open_both(f"parallel {b} by {blocks} : block {{")
                self.open_both(f"foreach {turn} in [cdiv({all_tiles}, {blocks})] {{")
                self.line(f"{number} = {self.pick(f'{turn} * {blocks} + {b}', f'{turn} # {b}')};")
                self.open_both(f"if ({number} < {all_tiles}) {{")
                self.line(None, f"for {number} in 0..{all_tiles} {{")
                self.closing = "}"
            step = None
            for name, count in reversed(list(zip(self.at, counts))):
                over = f"{number} / ({step})" if step else number
                self.line(f"{name} = {over} % {count};", f"let {name} = ({over}) % {count};")
                step = f"{step} * {count}" if step else count
        self.body()
        for _ in range(self.opened):
            self.depth -= 1
            self.line("}")
        self.line(None, self.closing)

    def open_both(self, co):
        self.line(co)
        self.depth += 1
        self.opened += 1

    def body(self):
        self.load("x")
        for _ in range(self.random.randint(1, 5)):
            step = self.pick("load", "load", "compute", "compute", "private", "exchange", "flight", "warps", "slices", "found")
            if step == "load":
                self.load(self.pick("x", "z"))
            else:
                getattr(self, step)()
        self.output()

    # Buffers.

    def room(self, extents, kind):
        self.bytes += product(extents) * BYTES[kind] + 128
        return self.bytes <= 40000

    def ready(self, count):
        """Tiles that can be read, after a `wait` for those that are on their way."""
        chosen = self.random.sample(self.tiles, min(count, len(self.tiles)))
        self.settle(chosen)
        return chosen

    def settle(self, tiles):
        names = []
        for tile in tiles:
            if tile.future and tile.future not in names:
                names.append(tile.future)
        if not names:
            return
        if len(names) > 1 and self.chance(0.5):
            self.line(f"wait {joined(names)};")
        else:
            self.random.shuffle(names)
            for name in names:
                self.line(f"wait {name};")
        for tile in self.tiles:
            if tile.future in names:
                tile.future = None

    def declare(self, kind, extents, filled=None):
        """A shared buffer."""
        name = self.fresh("s")
        init = "" if filled is None else f"{{{filled}}}" if kind != "f32" or self.chance(0.5) else f"{{{filled}.0f}}"
        self.line(
            f"shared {kind} [{joined(extents)}] {name}{init};",
            f"let mut {name} = Buffer::new(&[{joined(extents)}]);"
            if filled is None
            else f"let mut {name} = Buffer::filled(&[{joined(extents)}], {filled});",
        )
        return Tile(name, name, kind, extents, filled or 0, filled or 0)

    # Copies.

    def view_of(self, tensor, along=None):
        return self.view_of_x(along) if tensor == "x" else self.view_of_z()

    def view_of_x(self, along=None):
        at = list(self.at)
        if along:
            at[-1] = along
        plain = along is not None
        form = "subspan" if plain else self.pick("subspan", "subspan", "window", "near", "step", "part", "chunk")
        tile = self.tile
        if form in ("window", "near"):
            early = [self.pick(0, 0, 1, 2) for _ in tile]
            late = [self.pick(0, 0, 1, 3) for _ in tile]
            if self.aligned:
                late[-1] = (-early[-1] - late[-1]) % 16 + late[-1]
            extents = [e + t + l for e, t, l in zip(early, tile, late)]
            if form == "near":
                extents = tile
                early = [self.pick(0, 0, tile_extent // 2) for tile_extent in tile]
            origin = [f"{g} * {t} - {e}" if e else f"{g} * {t}" for g, t, e in zip(at, tile, early)]
            clip = [(o, d, e > 0) for o, d, e in zip(origin, self.dims, early)]
            arguments = joined(origin)
            return View(
                "x",
                f"x.view({joined(extents)}).from({arguments})",
                f"x.all().window(&[{joined(extents)}], &[{arguments}])",
                extents,
                clip,
                box=True,
            )
        if form == "step":
            extents = [max(1, t - self.pick(0, 1)) if self.chance(0.5) else t + self.pick(0, 1, 4) for t in tile]
            if self.aligned:
                extents[-1] = tile[-1] + self.pick(0, 16)
            clip = [(f"{g} * {t}", d, False) for g, t, d in zip(at, tile, self.dims)]
            return View(
                "x",
                f"x.subspan({joined(extents)}).step({joined(tile)}).at({joined(at)})",
                f"x.all().stepped(&[{joined(extents)}], &[{joined(tile)}], &[{joined(at)}])",
                extents,
                clip,
                box=True,
            )
        co = f"x.subspan({joined(tile)}).at({joined(at)})"
        rust = f"x.all().subspan(&[{joined(tile)}], &[{joined(at)}])"
        clip = [(f"{g} * {t}", d, False) for g, t, d in zip(at, tile, self.dims)]
        if form == "subspan":
            if not plain and self.chance(0.25):
                axis = self.random.randrange(self.rank)
                by = self.pick(1, -1)
                at[axis] = f"{at[axis]} + 1" if by > 0 else f"{at[axis]} - 1"
                co = f"x.subspan({joined(tile)}).at({joined(at)})"
                rust = f"x.all().subspan(&[{joined(tile)}], &[{joined(at)}])"
                clip[axis] = (f"({at[axis]}) * {tile[axis]}", self.dims[axis], by < 0)
            return View("x", co, rust, tile, clip, box=True)
        # A part of the tile.
        parts = [self.pick(*[p for p in (1, 2, 3, 4) if t % p == 0]) for t in tile]
        where = [self.random.randrange(p) for p in parts]
        extents = [t // p for t, p in zip(tile, parts)]
        if form == "chunk":
            co += f".chunk({joined(parts)}).at({joined(where)})"
            rust += f".chunk(&[{joined(parts)}], &[{joined(where)}])"
        else:
            co += f".subspan({joined(extents)}).at({joined(where)})"
            rust += f".subspan(&[{joined(extents)}], &[{joined(where)}])"
        clip = [(f"{g} * {t} + {w * e}", d, False) for g, t, w, e, d in zip(at, tile, where, extents, self.dims)]
        return View("x", co, rust, extents, clip)

    def view_of_z(self):
        whole = self.constant
        form = self.pick("whole", "chunk", "subspan", "flat", "rest", "every", "window")
        parts = [self.pick(*[p for p in (1, 2, 3, 4) if e % p == 0]) for e in whole]
        where = [self.pick(f"g{self.random.randrange(self.rank)} % {p}", p - 1, 0) if p > 1 else 0 for p in parts]
        extents = [e // p for e, p in zip(whole, parts)]
        if form == "chunk":
            return View(
                "z",
                f"z.chunk({joined(parts)}).at({joined(where)})",
                f"z.all().chunk(&[{joined(parts)}], &[{joined(where)}])",
                extents,
                None,
                box=True,
            )
        if form == "subspan":
            wild = ["_" if p == 1 and self.chance(0.5) else e for e, p in zip(extents, parts)]
            return View(
                "z",
                f"z.subspan({joined(wild)}).at({joined(where)})",
                f"z.all().subspan(&[{joined(extents)}], &[{joined(where)}])",
                extents,
                None,
                box=True,
            )
        if form == "flat" and len(whole) > 1:
            count = product(whole)
            parts = self.pick(*[p for p in (1, 2, 4, 8) if count % p == 0])
            part, number = count // parts, self.random.randrange(parts)
            return View(
                "z",
                f"z.span_as({count}).subspan({part}).at({number})",
                f"z.all().shaped(&[{count}]).subspan(&[{part}], &[{number}])",
                [part],
                None,
            )
        if form == "rest":
            sizes = [self.pick(*[s for s in range(2, e) if e % s] or [e]) if self.chance(0.5) else e for e in whole]
            extents = [e % s for e, s in zip(whole, sizes)]
            if all(extents):
                return View("z", f"z.modspan({joined(sizes)})", f"z.all().modspan(&[{joined(sizes)}])", extents, None)
        if form == "every" and len(whole) < 3:
            strides = [self.pick(1, 2, 3) for _ in whole]
            extents = [(e + s - 1) // s for e, s in zip(whole, strides)]
            origin = [self.pick(0, e - 1 - (n - 1) * s) for e, s, n in zip(whole, strides, extents)]
            memory = [s * product(whole[axis + 1 :]) for axis, s in enumerate(strides)]
            return View(
                "z",
                f"z.view({joined(extents)} : {joined(memory)}).from({joined(origin)})",
                f"z.all().strided(&[{joined(extents)}], &[{joined(strides)}], &[{joined(origin)}])",
                extents,
                None,
            )
        if form == "window":
            extents = [self.random.randint(1, e) for e in whole]
            origin = [self.random.randint(0, e - t) for e, t in zip(whole, extents)]
            return View(
                "z",
                f"z.view({joined(extents)}).from({joined(origin)})",
                f"z.all().window(&[{joined(extents)}], &[{joined(origin)}])",
                extents,
                None,
                box=True,
            )
        return View("z", "z", "z.all()", whole, None, box=True)

    def load(self, tensor):
        view = self.view_of(tensor)
        kind = self.kinds[tensor]
        low, high = inputs(kind)
        co = view.co
        if self.chance(0.2) and view.co != "z":
            name = self.fresh("u")
            self.line(f"{name} = {view.co};")
            co = name
        whole_rows = self.constant[-1] if tensor == "z" else (16 if self.aligned else 1)
        fits = all(e <= 256 for e in view.extents) and view.extents[-1] * BYTES[kind] % 16 == 0
        if view.box and fits and whole_rows * BYTES[kind] % 16 == 0 and self.chance(0.5):
            return self.load_box(view, co, kind)
        transform = self.pick("copy", "copy", "copy", "transp", "pad", "larger", "into")
        is_async = ".async" if self.chance(0.4) else ""
        zfill = ".zfill" if view.clip and self.chance(0.6) else ""
        rest = "Rest::Zero" if zfill else "Rest::Unspecified"
        clip = None if zfill else view.clip
        if clip or zfill:
            low, high = min(low, 0), max(high, 0)
        extents = view.extents
        if transform == "transp" and len(extents) > 1:
            axes = list(range(len(extents)))
            self.random.shuffle(axes)
            extents = [extents[axis] for axis in axes]
            clip = clip and [clip[axis] for axis in axes]
            return self.bind(
                f"dma.transp<{joined(axes)}>{is_async}{self.swizzle(kind, extents)}{zfill} {co}",
                f"transposed(&{tensor}, {view.rust}, &[{joined(axes)}], {rest})",
                Tile("", "", kind, extents, low, high, clip=clip),
                is_async,
            )
        if transform == "pad":
            before, after = [self.pick(0, 1, 2) for _ in extents], [self.pick(0, 1, 3) for _ in extents]
            border = self.pick(0, 3)
            extents = [b + e + a for b, e, a in zip(before, extents, after)]
            return self.bind(
                f"dma.pad<{{{joined(before)}}}, {{{joined(after)}}}, {{{joined([0] * len(before))}}}, {border}>{is_async} {co}",
                f"padded(&{tensor}, {view.rust}, &[{joined(before)}], &[{joined(after)}], {border})",
                Tile("", "", kind, extents, min(low, border, 0), max(high, border)),
                is_async,
            )
        if transform in ("larger", "into"):
            return self.load_into(view, co, kind, is_async, transform == "larger")
        self.bind(
            f"dma.copy{is_async}{self.swizzle(kind, extents)}{zfill} {co}",
            f"load(&{tensor}, {view.rust}, {rest})",
            Tile("", "", kind, extents, low, high, clip=clip),
            is_async,
        )

    def swizzle(self, kind, extents, box=False):
        """TMA moves rows of several groups where each group begins at a repetition of the pattern."""
        row = extents[-1] * BYTES[kind]
        widths = [n for n in (32, 64, 128) if row % n == 0]
        if box and product(extents[:-1]) % 8:
            widths = [n for n in widths if n == row and box != "ring"]
        if len(extents) < 2 or not widths or self.chance(0.6):
            return ""
        return f".swiz<{self.pick(*widths)}>"

    def bind(self, co, rust, tile, is_async):
        """A copy into a buffer of its own."""
        if not self.room(tile.extents, tile.kind):
            return
        name = self.fresh("f")
        tile.swizzled = "swiz" in co
        flying = [t.future for t in self.tiles if t.future]
        after = f" after {flying[-1]}" if is_async and flying and self.chance(0.2) and self.dma(flying[-1]) and "tma" not in co else ""
        if self.chance(0.4):
            buffer = self.declare(tile.kind, tile.extents)
            self.line(f"{name + ' = ' if is_async or self.chance(0.3) else ''}{co} => {buffer.co}{after};", f"{buffer.rust} = {rust};")
            tile.co, tile.rust = buffer.co, buffer.rust
        else:
            self.line(f"{name} = {co} => shared{after};", f"let mut {name} = {rust};")
            tile.co, tile.rust = f"{name}.data", name
        tile.future = name if is_async else None
        self.tiles.append(tile)

    def dma(self, future):
        return any(f" {future} = dma." in line or line.strip().startswith(f"{future} = dma.") for line in self.co)

    def load_box(self, view, co, kind):
        low, high = inputs(kind)
        clip = "" if not view.clip else self.pick("", "", ".zfill")
        if view.clip:
            low, high = min(low, 0), max(high, 0)
        is_async = ".async" if self.chance(0.5) else ""
        self.bind(
            f"tma.{self.pick('copy', 'load')}{is_async}{self.swizzle(kind, view.extents, True)}{clip} {co}",
            f"load(&{view.tensor}, {view.rust}, Rest::Zero)",
            Tile("", "", kind, view.extents, low, high),
            is_async,
        )

    def load_into(self, view, co, kind, is_async, larger):
        """Into a buffer that is larger than the source, or into a part of one."""
        low, high = inputs(kind)
        more = [self.pick(0, 1, 4) for _ in view.extents]
        extents = [e + m for e, m in zip(view.extents, more)]
        if not self.room(extents, kind):
            return
        zfill = ".zfill" if view.clip else self.pick("", ".zfill") if larger else ""
        filled = 2
        tile = self.declare(kind, extents, filled)
        name = f"{self.fresh('f')}"
        first = f"{name} = " if is_async else ""
        low, high = min(low, 0), max(high, filled)
        if larger:
            target, where = tile.co, f"{tile.rust}.all()"
        else:
            origin = [self.random.randint(0, m) for m in more]
            target = f"{tile.co}.view({joined(view.extents)}).from({joined(origin)})"
            where = f"{tile.rust}.all().window(&[{joined(view.extents)}], &[{joined(origin)}])"
        self.line(
            f"{first}dma.copy{is_async}{zfill} {co} => {target};",
            f"{{ let to = {where}; copy((&{view.tensor}, {view.rust}), (&mut {tile.rust}, to), Rest::Zero, Rest::Zero); }}",
        )
        tile.low, tile.high = low, high
        tile.future = name if is_async else None
        self.tiles.append(tile)

    def exchange(self):
        """From shared memory to shared memory."""
        sources = [t for t in self.tiles if not t.clip and not t.swizzled]
        if not sources:
            return
        source = self.pick(*sources)
        self.settle([source])
        parts = [self.pick(*[p for p in (1, 2, 3, 4) if e % p == 0]) for e in source.extents]
        where = [self.random.randrange(p) for p in parts]
        extents = [e // p for e, p in zip(source.extents, parts)]
        co, rust = source.co, f"{source.rust}.all()"
        if max(parts) > 1:
            operator = self.pick("subspan", "chunk")
            shape = extents if operator == "subspan" else parts
            co += f".{operator}({joined(shape)}).at({joined(where)})"
            rust += f".{operator}(&[{joined(shape)}], &[{joined(where)}])"
        elif len(extents) > 1 and self.chance(0.4):
            extents = self.pick([product(extents)], [product(extents[:-1]), extents[-1]], [1, *extents][:3] if len(extents) < 3 else extents)
            co += f".span_as({joined(extents)})"
            rust += f".shaped(&[{joined(extents)}])"
        if self.chance(0.3) and len(extents) > 1:
            axes = list(range(len(extents)))
            self.random.shuffle(axes)
            turned = [extents[axis] for axis in axes]
            if not self.room(turned, source.kind):
                return
            name = self.fresh("f")
            self.line(
                f"{name} = dma.transp<{joined(axes)}> {co} => shared;",
                f"let mut {name} = transposed(&{source.rust}, {rust}, &[{joined(axes)}], Rest::Unspecified);",
            )
            self.tiles.append(Tile(f"{name}.data", name, source.kind, turned, source.low, source.high))
            return
        more = [self.pick(0, 0, 2) for _ in extents]
        whole = [e + m for e, m in zip(extents, more)]
        targets = [
            t
            for t in self.tiles
            if t is not source and t.kind == source.kind and len(t.extents) == len(extents) and not t.swizzled and not t.clip
            and all(a <= b for a, b in zip(extents, t.extents))
        ]
        if targets and self.chance(0.6):
            target = self.pick(*targets)
            self.settle([target])
            more = [b - a for a, b in zip(extents, target.extents)]
        else:
            if not self.room(whole, source.kind):
                return
            target = self.declare(source.kind, whole, self.pick(0, 1, 4))
            self.tiles.append(target)
        origin = [self.random.randint(0, m) for m in more]
        to, to_rust = target.co, f"{target.rust}.all()"
        if any(more):
            to += f".view({joined(extents)}).from({joined(origin)})"
            to_rust += f".window(&[{joined(extents)}], &[{joined(origin)}])"
        self.line(
            f"dma.copy {co} => {to};",
            f"{{ let to = {to_rust}; copy((&{source.rust}, {rust}), (&mut {target.rust}, to), Rest::Unspecified, Rest::Kept); }}",
        )
        target.low, target.high = min(target.low, source.low), max(target.high, source.high)

    # Threads.

    def compute(self, extents=None, kind=None):
        """A new buffer, or new numbers in one."""
        sources = self.ready(self.pick(1, 2, 3))
        kind = kind or self.pick(*BYTES)
        targets = [t for t in self.tiles if t not in sources and not t.clip and t.writable]
        if targets and self.chance(0.4) and not extents:
            target = self.pick(*targets)
            self.settle([target])
            old = True
        else:
            extents = extents or self.pick(self.tile, self.tile, sources[0].extents, sources[0].extents[::-1], [self.pick(16, 40, 64)])
            if not self.room(extents, kind):
                target = None
                return None
            target, old = self.declare(kind, extents), False
        low, high = [], []

        def body(axes):
            names = [name for name, _ in axes]
            seen = list(sources)
            own = Num(f"{target.co}.at({joined(names)})", f"{target.rust}.at(&[{joined(names)}])", target.kind, target.low, target.high)
            value = self.sum_of(axes, seen, target.kind) if self.chance(0.3) else self.value(2, target.kind, axes, seen)
            if old and self.chance(0.6):
                both = Num("", f"({own.rust} + {value.rust})", target.kind, own.low + value.low, own.high + value.high)
                if both.fits(target.kind):
                    self.line(
                        f"{own.co} += {value.co};" if self.chance(0.5) else f"{own.co} = {own.co} + {value.co};",
                        f"{target.rust}.set(&[{joined(names)}], {both.rust});",
                    )
                    low.append(both.low)
                    high.append(both.high)
                    return
            self.line(f"{own.co} = {value.co};", f"{target.rust}.set(&[{joined(names)}], {value.rust});")
            low.append(value.low)
            high.append(value.high)

        self.threads(target.extents, body)
        target.low, target.high = min(low), max(high)
        if not old:
            self.tiles.append(target)
        return target

    def sum_of(self, axes, sources, kind):
        """A variable with the sum of some elements."""
        tile = self.pick(*sources)
        axis = self.random.randrange(len(tile.extents))
        extent = tile.extents[axis]
        q = self.fresh("q")
        at = [q if a == axis else self.index(e, axes) for a, e in enumerate(tile.extents)]
        element = self.read(tile, at)
        total = Num("", "", kind, element.low * extent, element.high * extent)
        if not total.fits(kind) or not element.fits(kind):
            return self.value(1, kind, axes, sources)
        name = self.fresh("v")
        self.line(f"{kind} {name} = __to<{kind}>(0);", f"let mut {name} = 0i64;")
        word = self.pick("", f" : unroll({self.pick(2, 4)})" if extent % 4 == 0 else "")
        self.line(f"foreach {q} in {extent}{word} {name} += {element.to(kind)};", f"for {q} in 0..{extent}i64 {{ {name} += {element.rust}; }}")
        return Num(name, name, kind, min(total.low, 0), max(total.high, 0))

    def private(self):
        """Each thread takes a row into memory of its own."""
        rows = [t for t in self.tiles if not t.clip and not t.swizzled and len(t.extents) == 2 and t.extents[0] <= self.total and t.extents[1] <= 32]
        if not rows:
            return
        tile = self.pick(*rows)
        others = [t for t in self.ready(2) if t is not tile]
        self.settle([tile])
        count, width = tile.extents
        t, m, j = self.fresh("t"), self.fresh("m"), self.fresh("j")
        self.line(f"parallel {t} by {self.total} : thread {{", f"for {t} in 0..{count}i64 {{")
        self.depth += 1
        if count < self.total:
            self.line(f"if ({t} < {count}) {{")
            self.depth += 1
        row = f"{tile.co}.subspan(1, {width}).at({t}, 0)"
        form = self.pick("future", "declared", "squeezed")
        if form == "future":
            self.line(f"{m} = dma.copy {row} => local;")
            data, at = f"{m}.data", f"0, {j}"
            back = f"dma.copy {m}.data => {row};"
        else:
            shape = f"{row}.span_as({width})" if form == "declared" or width == 1 else f"{row}.sqz()"
            self.line(f"local {tile.kind} [{width}] {m};")
            self.line(f"dma.copy {shape} => {m};")
            data, at = m, j
            back = f"dma.copy {m} => {row}.span_as({width});"
        rust = f"{tile.rust}.all().subspan(&[1, {width}], &[{t}, 0])"
        self.line(None, f"let mut {m} = load(&{tile.rust}, {rust}, Rest::Unspecified);")
        value = self.value(1, tile.kind, [(j, width), (t, count)], others)
        own = Num("", "", tile.kind, tile.low + value.low, tile.high + value.high)
        if own.fits(tile.kind):
            self.line(
                f"foreach {j} in {width} {data}.at({at}) = {data}.at({at}) + {value.co};",
                f"for {j} in 0..{width}i64 {{ {m}.add(&[0, {j}], {value.rust}); }}",
            )
            tile.low, tile.high = own.low, own.high
        self.line(back, f"{{ let to = {rust}; copy((&{m}, {m}.all()), (&mut {tile.rust}, to), Rest::Unspecified, Rest::Kept); }}")
        if count < self.total:
            self.depth -= 1
            self.line("}")
        self.depth -= 1
        self.line("}", "}")

    def warps(self):
        """Each warp brings parts of `z` for itself, perhaps several on their way at once."""
        width = self.constant[-1]
        rows = product(self.constant) // width
        kind, warps = self.kinds["z"], self.total // 32
        if width > 64 or not self.room([2 * warps, width], kind) or not self.room([rows, width], kind):
            return
        target = self.declare(kind, [rows, width])
        w, lane, f = self.fresh("w"), self.fresh("t"), self.fresh("f")
        turns, k = -(-rows // warps), self.fresh("k")
        self.open(f"parallel {w} by {warps} : group {{", f"for {w} in 0..{warps}i64 {{")
        self.open(f"foreach {k} in [{turns}] {{", f"for {k} in 0..{turns}i64 {{")
        row = f"({k} * {warps} + {w})"
        guarded = rows % warps
        if guarded:
            self.open(f"if ({row} < {rows}) {{", f"if {row} < {rows} {{")
        flat = f"z.span_as({rows}, {width})" if len(self.constant) != 2 else "z"
        is_async = self.pick("", ".async")
        view = f"{flat}.subspan(1, {width}).at({row}, 0)"
        rust = f"z.all().shaped(&[{rows}, {width}]).subspan(&[1, {width}], &[{row}, 0])"
        self.line(f"{f} = dma.copy{is_async} {view} => shared;", f"let {f} = load(&z, {rust}, Rest::Unspecified);")
        if is_async:
            self.line(f"wait {f};")
        by = self.pick(1, 3, 5)
        self.line(f"parallel {lane} by 32 : thread {{")
        q, i = self.fresh("q"), self.fresh("i")
        self.line(f"  foreach {q} in [{-(-width // 32)}] {{")
        self.line(f"    {i} = {q} * 32 + {lane};", f"for {i} in 0..{width}i64 {{")
        place = f"({i} * {by} + 1) % {width}"
        self.line(
            f"    if ({i} < {width}) {target.co}.at({row}, {i}) = {f}.data.at(0, {place});",
            f"{target.rust}.set(&[{row}, {i}], {f}.at(&[0, {place}])); }}",
        )
        self.line("  }")
        self.line("}")
        if guarded:
            self.close()
        self.close()
        self.close()
        target.low, target.high = inputs(kind)
        self.tiles.append(target)

    def slices(self):
        """Each thread brings a tile of its own to shared memory."""
        kind, width = self.kinds["x"], self.tile[-1]
        count = self.pick(self.total, self.total, self.total // 2)
        if width > 33 or not self.room([self.total, width], kind) or not self.room([self.total, width], "s32") or self.rank != 2:
            return
        target = self.declare("s32", [count, width], 0)
        t, f, j = self.fresh("t"), self.fresh("f"), self.fresh("j")
        self.open(f"parallel {t} by {self.total} : thread {{", f"for {t} in 0..{count}i64 {{")
        if count < self.total:
            self.line(f"if ({t} < {count}) {{")
        view, rust = f"x.subspan(1, {width}).at({t}, g1)", f"x.all().subspan(&[1, {width}], &[{t}, g1])"
        place = self.pick("shared", "local") if count == self.total else "local"
        self.line(f"{f} = dma.copy.zfill {view} => {place};", f"let {f} = load(&x, {rust}, Rest::Zero);")
        at = self.pick(j, f"{width - 1} - {j}")
        self.line(
            f"foreach {j} in {width} {target.co}.at({t}, {j}) = __to<s32>({f}.data.at(0, {at})) + {self.pick(0, 1)};",
            f"for {j} in 0..{width}i64 {{ {target.rust}.set(&[{t}, {j}], {f}.at(&[0, {at}]) + 0); }}",
        )
        self.rust[-1] = self.rust[-1].replace("+ 0)", "+ " + self.co[-1].rsplit("+ ", 1)[1].rstrip(";") + ")")
        if count < self.total:
            self.line("}")
        self.close()
        low, high = inputs(kind)
        target.low, target.high = min(low, 0), high + 1
        self.tiles.append(target)

    def found(self):
        """A window of `z` at a place that data has."""
        tiles = [t for t in self.tiles if not t.clip and t.low >= -100 and t.high <= 100 and t.kind in ("s32", "s64", "u8", "s8")]
        if not tiles:
            return
        tile, kind = self.pick(*tiles), self.kinds["z"]
        self.settle([tile])
        extents = [self.random.randint(1, e) for e in self.constant]
        if not self.room(extents, kind):
            return
        n = self.fresh("n")
        at = joined(self.random.randrange(e) for e in tile.extents)
        self.line(f"{n} = __to<s32>({tile.co}.at({at}));", f"let {n} = {tile.rust}.at(&[{at}]);")
        origin = [f"({n} + 100) % {e - t + 1}" if e > t else "0" for e, t in zip(self.constant, extents)]
        low, high = inputs(kind)
        self.bind(
            f"dma.copy z.view({joined(extents)}).from({joined(origin)})",
            f"load(&z, z.all().window(&[{joined(extents)}], &[{joined(origin)}]), Rest::Unspecified)",
            Tile("", "", kind, extents, low, high),
            "",
        )

    def flight(self):
        """A loop along the last axis, with tiles on their way while others are in use."""
        kind = self.kinds["x"]
        sums = self.pick("f32", "s32", "s64")
        form = self.pick("swap", "swap", "rotate", "ring", "plain", "select")
        copies = {"swap": 2, "rotate": 3, "ring": 3, "plain": 1, "select": 2}[form]
        for _ in range(copies):
            if not self.room(self.tile, kind):
                return
        if not self.room(self.tile, sums):
            return
        low, high = inputs(kind)
        low, high = min(low, 0), max(high, 0)
        total = self.declare(sums, self.tile)
        self.fill(total)
        k, steps = self.fresh("k"), self.counts()[-1]
        box = self.aligned and self.tile[-1] * BYTES[kind] % 16 == 0 and self.chance(0.4)
        swizzle = self.swizzle(kind, self.tile, "ring" if box else False)

        def copy(at, to):
            view = self.view_of_x(at)
            engine = "tma.load" if box else "dma.copy"
            word = ".async" if form != "plain" or self.chance(0.2) else ""
            return f"{engine}.async{swizzle}.zfill {view.co} => {to};" if word else f"{engine}{swizzle}.zfill {view.co} => {to};"

        here = self.fresh("f")
        tile = Tile(f"{here}.data", here, kind, self.tile, low, high, swizzled=bool(swizzle))
        rust = f"load(&x, {self.view_of_x(k).rust}, Rest::Zero)"
        loop = f"foreach {k} in [{steps}] {{", f"for {k} in 0..{steps} {{"
        if form in ("swap", "rotate"):
            names = [here] + [self.fresh("f") for _ in range(copies - 1)]
            for n, name in enumerate(names[:-1]):
                self.line(f"{name} = {copy(str(n), 'shared')}")
            self.line(f"{names[-1]} = dma.any;")
            self.open(*loop)
            self.line(f"if ({k} + {copies - 1} < {steps}) {names[-1]} = {copy(f'{k} + {copies - 1}', 'shared')}", f"let {here} = {rust};")
            self.line(f"wait {here};")
            self.accumulate(total, tile, k)
            self.line(f"{form}({joined(names)});")
            self.close()
            self.line(f"wait {joined(names[:-1])};")
            self.finish(total, tile)
            return
        if form == "select":
            # Two buffers by the parity of the step.
            first, second = self.declare(kind, self.tile), self.declare(kind, self.tile)
            self.open(*loop)
            self.line(f"if ({k} % 2 == 0) {{ {copy(k, first.co).replace('.async', '')} }} else {{ {copy(k, second.co).replace('.async', '')} }}", f"let {here} = {rust};")
            name = self.fresh("b")
            self.line(f"{name} = select({k} % 2, {first.co}, {second.co});")
            tile.co = name
            self.accumulate(total, tile, k)
            self.close()
            self.finish(total, tile)
            return
        if form == "ring":
            ring = self.fresh("r")
            self.line(f"shared {kind} [{joined(self.tile)}] {ring}[{copies}];")
            self.open(*loop)
            self.line(f"{here} = {copy(k, f'{ring}[{k} % {copies}]')}", f"let {here} = {rust};")
            self.line(f"wait {here};")
            tile.co = f"{ring}[{k} % {copies}]"
            self.accumulate(total, tile, k)
            if self.chance(0.5):
                before = Tile(f"{ring}[({k} + {copies - 1}) % {copies}]", "before", kind, self.tile, low, high)
                self.open(f"if ({k} > 0) {{", f"if {k} > 0 {{")
                self.line(None, f"let before = load(&x, {self.view_of_x(f'({k} - 1)').rust}, Rest::Zero);")
                self.accumulate(total, before, k)
                self.close()
            self.close()
            self.finish(total, tile)
            return
        self.open(*loop)
        text = copy(k, "shared")
        self.line(f"{here} = {text}", f"let {here} = {rust};")
        if ".async" in text:
            self.line(f"wait {here};")
        self.accumulate(total, tile, k)
        self.close()
        self.finish(total, tile)

    def fill(self, tile):
        def zero(axes):
            names = joined(name for name, _ in axes)
            self.line(f"{tile.co}.at({names}) = __to<{tile.kind}>(0);", f"{tile.rust}.set(&[{names}], 0);")

        self.threads(tile.extents, zero)

    def accumulate(self, total, tile, k):
        form = self.pick("sum", "alternate", "weights")

        def add(axes):
            names = joined(name for name, _ in axes)
            at = [name for name, _ in axes] if self.chance(0.5) else [self.index(e, axes) for e in tile.extents]
            element = self.read(tile, at)
            own, value = f"{total.co}.at({names})", element.to(total.kind)
            if form == "sum":
                self.line(f"{own} += {value};", f"{total.rust}.add(&[{names}], {element.rust});")
            elif form == "alternate":
                self.line(f"{own} = {value} - {own};", f"{{ let v = {element.rust} - {total.rust}.at(&[{names}]); {total.rust}.set(&[{names}], v); }}")
            else:
                self.line(
                    f"{own} = {own} + {value} * __to<{total.kind}>({k} % 3 + 1);",
                    f"{total.rust}.add(&[{names}], {element.rust} * ({k} % 3 + 1));",
                )

        self.threads(total.extents, add)

    def finish(self, total, tile):
        most = 6 * max(abs(tile.low), abs(tile.high)) * -(-MOST // self.tile[-1])
        total.low, total.high = -most, most
        self.tiles.append(total)

    # Results.

    def output(self):
        clip = [(f"{g} * {t}", d, False) for g, t, d in zip(self.at, self.tile, self.dims)]
        whole = [t for t in self.tiles if t.extents == self.tile and t.clip in (None, clip)]
        self.settle(self.tiles)
        if not whole or self.chance(0.5):
            self.bytes = 0
            tile = self.compute(list(self.tile))
        else:
            tile = whole[-1]
        self.result = tile.kind
        self.result_extents = self.dims
        form = self.pick("copy", "window", "elements", "lines", "parts")
        stores = self.aligned and self.tile[-1] * BYTES[tile.kind] % 16 == 0
        all_rust = f"{tile.rust}, {tile.rust}.all()"
        if form == "lines" and not tile.clip and not tile.swizzled:
            count, number = product(self.tile), "0"
            for g, tiles in zip(self.at, self.counts()):
                number = g if number == "0" else f"({number}) * {tiles} + {g}"
            self.result_extents = [" * ".join(self.counts()), count]
            self.line(
                f"dma.copy {tile.co}.span_as(1, {count}) => y.subspan(1, {count}).at({number}, 0);",
                f"{{ let to = y.all().subspan(&[1, {count}], &[{number}, 0]); copy((&{tile.rust}, {tile.rust}.all().shaped(&[1, {count}])), (&mut y, to), Rest::Unspecified, Rest::Kept); }}",
            )
        elif form == "parts" and not tile.clip and not tile.swizzled:
            # In parts, in a loop.
            axis = self.random.randrange(self.rank)
            parts = self.pick(*[p for p in (1, 2, 3, 4) if self.tile[axis] % p == 0])
            extents = list(self.tile)
            extents[axis] //= parts
            k = self.fresh("k")
            self.open(f"foreach {k} in [{parts}] {{", f"for {k} in 0..{parts}i64 {{")
            where = [k if a == axis else 0 for a in range(self.rank)]
            place = [f"{g} * {parts} + {k}" if a == axis else g for a, g in enumerate(self.at)]
            source = f"subspan({joined(extents)}).at({joined(where)})"
            if self.chance(0.5):
                source = f"chunkat({joined(k if a == axis else '_' for a in range(self.rank))})"
            self.line(
                f"dma.copy {tile.co}.{source} => y.subspan({joined(extents)}).at({joined(place)});",
                f"{{ let to = y.all().subspan(&[{joined(extents)}], &[{joined(place)}]); copy((&{tile.rust}, {tile.rust}.all().subspan(&[{joined(extents)}], &[{joined(where)}])), (&mut y, to), Rest::Unspecified, Rest::Kept); }}",
            )
            self.close()
        elif form == "elements":
            sources = self.ready(2) + [tile]
            kind = self.result

            def store(axes):
                names = [name for name, _ in axes]
                places = joined(f"{g} * {t} + {i}" for g, t, i in zip(self.at, self.tile, names))
                condition = self.inside(clip, names)
                self.open(f"if ({condition}) {{", f"if {condition} {{")
                value = self.value(1, kind, axes, sources)
                self.line(f"y.at({places}) = {value.co};", f"y.set(&[{places}], {value.rust});")
                self.close()

            self.threads(self.tile, store)
        else:
            view = f"subspan({joined(self.tile)}).at({joined(self.at)})"
            origin = joined(f"{g} * {t}" for g, t in zip(self.at, self.tile))
            if form == "window":
                view = f"view({joined(self.tile)}).from({origin})"
            engine = "tma" if stores and self.chance(0.5) and not tile.swizzled else "dma"
            self.line(
                f"{engine}.copy {tile.co} => y.{view};",
                f"{{ let to = y.all().window(&[{joined(self.tile)}], &[{origin}]); copy((&{all_rust}), (&mut y, to), Rest::Unspecified, Rest::Kept); }}",
            )


FORMS = [Movement, Movement, Movement, Movement, Lines, Regions, Regions, Products]


def program(number, seed):
    form = random.Random(f"{seed}/{number}/form").choice(FORMS)
    return form(number, seed)


ALLOWED = "W0209, W0214, W0348, W0625, W0850, W0867, W0870, W1112, W1113"


def main(seed, count, *files):
    programs = [program(number, seed) for number in range(int(count))]
    texts = [each.function() for each in programs]
    write("random_movement.py", ALLOWED, texts, [each.text() for each in programs], files)


if __name__ == "__main__":
    main(*sys.argv[1:])
