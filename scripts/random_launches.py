#!/usr/bin/env python3
"""Random functions with several launches, and the same programs in Rust, for `random_programs.sh`.

random_launches.py SEED COUNT KERNELS CASES: writes COUNT programs to the file KERNELS, and the same in Rust, with
calls, to the file CASES, for tests/src/random_tiles_model.rs. A program has host code (loops, conditions, copies,
exchanged and selected tensors, elements, calls of its other functions with tensors and tiles of them), and launches
in many forms. All are valid. Elements are small integers, also those of float types: every store is brought back to
the numbers from -60 to 60, so results are exact in every type.

In Rust all tensors are in one vector `m`, and the name of a tensor is its place, which a `swap` exchanges.
"""
import random
import re
import sys

from random_text import BYTES, RANGE, Num, Writer, arithmetic, call, either, joined, product, write

MOST = 60


def stored(kind):
    return (0 if kind == "u8" else -MOST, MOST)


class Tensor:
    def __init__(self, name, kind, dims, written=True):
        self.name, self.kind, self.dims, self.written = name, kind, tuple(dims), written


class Function(Writer):
    """A function in both languages. `known`: the functions that it can call; `T` may stand for an element type."""

    def __init__(self, name, dice, known, params, dims):
        super().__init__(name, dice)
        self.known, self.params, self.dims = known, params, dims
        self.tensors, self.selected = [tensor for tensor, _ in params], []
        self.loops, self.chosen = 0, set()
        self.numbers = [Num("a", "a", "s32", -3, 5)]
        self.template = False

    # Expressions of kernels.

    def index(self, extent, axes):
        """An index below `extent`, in both languages."""
        same = [name for name, other in axes if other == extent]
        form = self.pick("same", "same", "back", "any", "any")
        if same and form == "same":
            return self.pick(*same)
        if same and form == "back":
            return f"({extent} - 1 - {self.pick(*same)})"
        name, by, plus = self.pick(*axes)[0], self.pick(1, 1, 2, 3), self.pick(0, 0, 1, 5)
        return f"(({name} * {by} + {plus}) % {extent})"

    def element(self, tensor, at):
        co, rust = f"{tensor.name}.at({joined(at)})", f"m[{tensor.name}].at(&[{joined(at)}])"
        return Num(co, rust, tensor.kind, *stored(tensor.kind))

    def leaf(self, kind, axes, sources):
        form = self.pick("tensor", "tensor", "tensor", "select", "index", "number", "scalar")
        value = None
        if form in ("tensor", "select") and sources:
            tensor = self.pick(*sources)
            value = self.element(tensor, [self.index(extent, axes) for extent in tensor.dims])
            others = [t for t in sources if t is not tensor and (t.kind, t.dims) == (tensor.kind, tensor.dims)]
            if form == "select" and others and not tensor.name.startswith("e"):
                other = self.pick(*others)
                if not other.name.startswith("e"):
                    at = [self.index(extent, axes) for extent in tensor.dims]
                    number = self.pick(f"{axes[-1][0]} % 2", "(a + 3) % 2")
                    value = Num(
                        f"select({number}, {tensor.name}, {other.name}).at({joined(at)})",
                        f"m[[{tensor.name}, {other.name}][({number}) as usize]].at(&[{joined(at)}])",
                        tensor.kind,
                        *stored(tensor.kind),
                    )
        elif form == "index":
            name = self.pick(*axes)[0]
            value = Num(f"__to<{kind}>({name} % 7)", f"({name} % 7)", kind, 0, 6)
        elif form == "scalar":
            number = self.pick(*self.numbers)
            value = Num(f"__to<{kind}>({number.co})", number.rust, kind, number.low, number.high)
        if value and value.fits(kind):
            return Num(value.to(kind), value.rust, kind, value.low, value.high)
        number = self.pick(1, 2, 3, 7)
        return Num(f"__to<{kind}>({number})", str(number), kind, number, number)

    def value(self, kind, axes, sources, depth):
        if depth == 0:
            return self.leaf(kind, axes, sources)
        a, b = self.value(kind, axes, sources, depth - 1), self.value(kind, axes, sources, self.random.randrange(depth))
        form = self.pick("+", "-", "*", "min", "max", "choice")
        if form == "choice":
            operator = self.pick("<", "<=", ">", "==")
            return either((f"{a.co} {operator} {b.co}", f"{a.rust} {operator} {b.rust}"), a, b)
        result = arithmetic(form, a, b)
        return result if result.fits(kind) else arithmetic("max", a, b)

    def small(self, value, target):
        """Brought back to the numbers that a tensor of type `target` has."""
        low, high = stored(target)
        co, rust, kind = value.co, value.rust, value.kind
        if value.low < low:
            co, rust = f"__max({co}, __to<{kind}>({low}))", f"({rust} as i64).max({low})"
        if value.high > high:
            co, rust = f"__min({co}, __to<{kind}>({high}))", f"({rust} as i64).min({high})"
        return Num(Num(co, rust, kind, low, high).to(target), rust, target, low, high)

    # Launches.

    def body(self, target, sources, axes):
        """An assignment to the element of `target` with these indices."""
        names = [name for name, _ in axes]
        own = self.element(target, names)
        kind = self.pick("s32", "f32", "s64", target.kind, target.kind)
        if self.chance(0.15):
            others = [s for s in sources if s.kind == target.kind]
            if others:
                source = self.pick(*others)
                value = self.element(source, [self.index(extent, axes) for extent in source.dims])
                return f"{own.co} = {value.co};", f"{{ let v = {value.rust}; m[{target.name}].set(&[{joined(names)}], v); }}"
        value = self.value(kind, axes, sources, 2)
        if self.chance(0.4):
            # With the old element.
            both = arithmetic("+", Num(own.to(kind), own.rust, kind, own.low, own.high), value)
            if both.fits(kind) and own.low >= RANGE[kind][0]:
                value = both
        value = self.small(value, target.kind)
        return f"{own.co} = {value.co};", f"{{ let v = {value.rust}; m[{target.name}].set(&[{joined(names)}], v); }}"

    def sources(self, target):
        """Tensors that a launch can read while it writes `target`."""
        readable = [t for t in self.tensors if t is not target]
        readable += [s for s, operands in self.selected if target.name not in operands]
        return self.random.sample(readable, min(3, len(readable)))

    def launch(self):
        targets = [t for t in self.tensors if t.written]
        if not targets or (self.chance(0.4) and len(self.tensors) < 7):
            target = self.declare()
        else:
            target = self.pick(*targets)
        forms = ["bare", "bare", "blocks", "blocks", "loops", "vector", "vector", "slices", "rows"]
        forms += ["staged", "staged", "symbolic", "whole", "parts"]
        getattr(self, f"launch_{self.pick(*forms)}")(target, self.sources(target))

    def declare(self):
        known = self.pick(*self.tensors)
        dims = known.dims
        if self.chance(0.3):
            dims = dims[::-1]
        elif self.chance(0.2):
            dims = tuple(self.pick(*(d for t in self.tensors for d in t.dims)) for _ in range(self.pick(1, 2, 3)))
        kind = self.pick(known.kind, known.kind, self.pick(*BYTES))
        tensor = Tensor(self.fresh("y"), kind, dims)
        filled = self.pick(None, None, 2)
        fill = "" if filled is None else f" {{{filled}}}"
        rust = f"let mut {tensor.name} = made(m, Buffer::filled(&[{joined(dims)}], {filled or 0}));"
        self.line(f"{kind} [{joined(dims)}] {tensor.name}{fill};", rust)
        self.tensors.append(tensor)
        return tensor

    def axes_of(self, target):
        return [(self.fresh("i"), extent) for extent in target.dims]

    def rust_loops(self, axes, statement):
        loops = " ".join(f"for {name} in 0..{extent} {{" for name, extent in axes)
        self.line(None, f"{loops} {statement} {'}' * len(axes)}")

    def launch_bare(self, target, sources):
        axes = self.axes_of(target)
        co, rust = self.body(target, sources, axes)
        order = axes[::-1] if self.chance(0.7) else list(axes)
        names, extents = [n for n, _ in order], [e for _, e in order]
        if self.chance(0.3) and len(order) > 1:
            # Two levels, the inner one of threads.
            b, t = self.fresh("b"), self.fresh("t")
            co = re.sub(rf"\b{names[0]}\b", f"({b} # {t})", co)
            level = f"{{{joined([b, *names[1:]])}}} by [{joined([f'cdiv({extents[0]}, 16)', *extents[1:]])}]"
            self.line(f"parallel {level} parallel {t} by 16 if ({b} # {t} < {extents[0]}) {{ {co} }}")
        elif len(order) == 1:
            self.line(f"parallel {names[0]} by {extents[0]} {co}")
        else:
            self.line(f"parallel {{{joined(names)}}} by [{joined(extents)}] {co}")
        self.rust_loops(axes, rust)

    def launch_blocks(self, target, sources):
        """Blocks of threads along the last axis, or along two."""
        axes = self.axes_of(target)
        co, rust = self.body(target, sources, axes)
        sizes = [1] * (len(axes) - 1) + [self.pick(8, 16, 32, 64, 100, 128)]
        if len(axes) > 1 and self.chance(0.5):
            sizes[-1], sizes[-2] = self.pick((8, 4), (16, 16), (32, 4), (5, 7))
        blocks, threads, limits = [], [], []
        for (name, extent), size in zip(axes, sizes):
            if size == 1:
                blocks.append((name, extent))
                continue
            b, t = self.fresh("b"), self.fresh("t")
            blocks.append((b, f"cdiv({extent}, {size})"))
            threads.append((t, size))
            index = self.pick(f"{b} # {t}", f"{b} * {size} + {t}")
            co = re.sub(rf"\b{name}\b", f"({index})", co)
            limits.append(f"{index} < {extent}")
        if self.chance(0.7):
            blocks.reverse()
            threads.reverse()
        heads = [f"{{{joined(n for n, _ in level)}}} by [{joined(e for _, e in level)}]" for level in (blocks, threads)]
        join = ", " if self.chance(0.5) else " parallel "
        self.line(f"parallel {heads[0]} : block{join}{heads[1]} : thread if ({' && '.join(limits)}) {{ {co} }}")
        self.rust_loops(axes, rust)

    def launch_loops(self, target, sources):
        """One axis in parallel, the others in loops of a thread."""
        axes = self.axes_of(target)
        co, rust = self.body(target, sources, axes)
        chosen = self.random.randrange(len(axes))
        name, extent = axes[chosen]
        rest = [axis for axis in axes if axis[0] != name]
        level = self.pick("", " : thread", " : block") if extent.isdigit() else self.pick("", " : block")
        self.open(f"parallel {name} by {extent}{level} {{")
        form = self.pick("nest", "one", "with") if rest else "none"
        if form == "one":
            self.line(f"foreach {{{joined(n for n, _ in rest)}}} in [{joined(e for _, e in rest)}] {{ {co} }}")
        elif form == "with":
            self.open(f"with {', '.join(f'{n} in [{e}]' for n, e in rest)} {{")
            self.line(f"foreach {', '.join(n for n, _ in rest)} {{ {co} }}")
            self.close("}", None)
        else:
            self.line("".join(f"foreach {n} in [{e}] " for n, e in rest) + co)
        self.close("}", None)
        self.rust_loops(axes, rust)

    def launch_slices(self, target, sources):
        """Some elements of the last axis."""
        axes = self.axes_of(target)
        if len(axes) == 1:
            return self.launch_blocks(target, sources)
        co, rust = self.body(target, sources, axes)
        name, extent = axes[-1]
        first, last, step = self.pick(0, 0, 1, 2), self.pick(0, 0, 1, 2), self.pick(1, 1, 2, 3)
        text = f"{first or ''}:{-last or ''}" + (f":{step}" if step > 1 else "")
        self.open(f"parallel {{{joined(n for n, _ in axes[:-1])}}} by [{joined(e for _, e in axes[:-1])}] : block {{")
        if first == last == 0 and step == 1:
            self.line(f"foreach {name} in [{extent}] {{ {co} }}")
        else:
            self.line(f"with {name} in [{extent}] foreach {name}({text}) {{ {co} }}")
        self.close("}", None)
        loops = [f"for {n} in 0..{e} {{" for n, e in axes[:-1]]
        # `step_by` of an empty range is empty.
        loops.append(f"for {name} in ({first}..{extent} - {last}).step_by({step}) {{")
        self.line(None, f"{' '.join(loops)} {rust} {'}' * len(axes)}")

    def launch_vector(self, target, sources):
        """Neighbouring elements, which the compiler may access together."""
        sources = [s for s in sources if s.dims[-1] == target.dims[-1]]
        axes = self.axes_of(target)
        names, extents = [n for n, _ in axes], [e for _, e in axes]
        kind = self.pick(target.kind, "s32", "f32")
        value = Num(f"__to<{kind}>(1)", "1", kind, 1, 1)
        for source in sources:
            if RANGE[kind][0] > stored(source.kind)[0]:
                continue
            at = [self.index(extent, axes[:-1]) if axes[:-1] else f"{extent} - 1" for extent in source.dims[:-1]] + [names[-1]]
            element = self.element(source, at)
            if RANGE[kind][0] <= value.low - MOST and value.high + MOST <= RANGE[kind][1]:
                co, rust = f"{value.co} + {element.to(kind)}", f"{value.rust} + {element.rust}"
                value = Num(co, rust, kind, value.low + element.low, value.high + element.high)
        value = self.small(Num(f"({value.co})", f"({value.rust})", kind, value.low, value.high), target.kind)
        own = self.element(target, names)
        rust = f"{{ let v = {value.rust}; m[{target.name}].set(&[{joined(names)}], v); }}"
        b, t, j = self.fresh("b"), self.fresh("t"), self.fresh("j")
        size = self.pick(32, 64, 128, 256)
        form = self.pick("flat", "flat", "inner", "row")
        outer = axes[:-1]
        if form == "row" and len(outer) > 0:
            inner = self.pick(2, 4, 8)
            index = f"(({b} # {t}) # {j})"
            self.open(f"parallel {{{joined(n for n, _ in outer)}}} by [{joined(e for _, e in outer)}] : block parallel {t} by {size} : thread {{")
            head = f"foreach {b} in [cdiv({extents[-1]}, {size * inner})] foreach {j} in {inner}"
        elif form == "inner":
            inner = self.pick(2, 4)
            index = f"(({b} # {t}) # {j})"
            level = [(b, f"cdiv({extents[-1]}, {size * inner})"), *outer[::-1]]
            self.open(f"parallel {{{joined(n for n, _ in level)}}} by [{joined(e for _, e in level)}] : block parallel {t} by {size} : thread {{")
            head = f"foreach {j} in {inner}"
        else:
            index = f"({b} # {t})"
            level = [(b, f"cdiv({extents[-1]}, {size})"), *outer[::-1]]
            self.open(f"parallel {{{joined(n for n, _ in level)}}} by [{joined(e for _, e in level)}] : block parallel {t} by {size} : thread {{")
            head = ""
        if len(outer) == 0 and form == "row":
            head = ""
        co = re.sub(rf"\b{names[-1]}\b", index[1:-1] if own.co.count(names[-1]) == 1 else index, f"{own.co} = {value.co};")
        self.line(f"{head} if ({index[1:-1]} < {extents[-1]}) {{ {co} }}")
        self.close("}", None)
        self.rust_loops(axes, rust)

    def launch_rows(self, target, sources):
        """Sums of rows, by a warp or a thread each."""
        wide = [s for s in sources if len(s.dims) == 2 and s.kind not in ("s64",)]
        if len(target.dims) != 1 or not wide:
            return self.launch_bare(target, sources)
        source = self.pick(*wide)
        i, k, t = self.fresh("i"), self.fresh("k"), self.fresh("t")
        rows, columns = source.dims
        extent = target.dims[0]
        row = i if rows == extent else f"({i} % {rows})"
        at = f"{row}, {k}"
        v = self.fresh("v")
        self.open(f"parallel {i} by {extent} : block parallel {t} by 1 : thread {{")
        self.line(f"s32 {v} = 0;")
        self.line(f"foreach {k} in [{columns}] {v} += __to<s32>({source.name}.at({at}));")
        low, high = stored(target.kind)
        self.line(f"{target.name}.at({i}) = __to<{target.kind}>(__max(__min({v}, {high}), {low}));")
        self.close("}", None)
        self.line(
            None,
            f"for {i} in 0..{extent} {{ let v: i64 = (0..{columns}).map(|{k}| m[{source.name}].at(&[{at}])).sum(); "
            f"m[{target.name}].set(&[{i}], v.min({high}).max({low})); }}",
        )

    def tile_positions(self, dims):
        tile = [self.pick(1, 2, 3, 4, 8) for _ in dims[:-1]] + [self.pick(4, 8, 16, 32, 33)]
        tile = [min(n, int(d)) if d.isdigit() else n for n, d in zip(tile, dims)]
        at = [self.fresh("p") for _ in dims]
        counts = [f"cdiv({d}, {t})" for d, t in zip(dims, tile)]
        return tile, at, counts

    def launch_staged(self, target, sources):
        """Tiles through shared memory; without levels the compiler distributes the loops."""
        sources = [s for s in sources if s.dims == target.dims and s.kind == target.kind]
        if not sources:
            return self.launch_blocks(target, self.sources(target))
        source = self.pick(*sources)
        tile, at, counts = self.tile_positions(target.dims)
        f = self.fresh("f")
        axes = [(self.fresh("i"), str(n)) for n in tile]
        names = joined(n for n, _ in axes)
        tile_source = Tensor(f"e{f}", source.kind, [str(n) for n in tile])
        levels = self.pick("bare", "bare", "threads")
        order = list(zip(at, counts))[::-1]
        head = f"{{{joined(n for n, _ in order)}}} by [{joined(c for _, c in order)}]"
        self.open(f"parallel {head}{'' if levels == 'bare' else ' : block'} {{")
        swizzle = f".swiz<{self.pick(32, 64, 128)}>" if tile[-1] * BYTES[source.kind] % 128 == 0 and self.chance(0.4) else ""
        later = ".async" if self.chance(0.5) else ""
        self.line(f"{f} = dma.copy{later}{swizzle}.zfill {source.name}.subspan({joined(tile)}).at({joined(at)}) => shared;")
        self.line(f"shared {target.kind} [{joined(tile)}] s{f};")
        if later:
            self.line(f"wait {f};")
        kind = self.pick(target.kind, "s32", "f32")
        value = self.small(self.value(kind, axes, [tile_source], 2), target.kind)
        co = value.co.replace(f"e{f}.at", f"{f}.data.at")
        rust = value.rust.replace(f"m[e{f}]", f)
        if levels == "bare":
            form = self.pick(f"foreach {{{names}}} in [{joined(tile)}]", f"foreach {{{names}}} in {f}.span")
            self.line(f"{form} {{ s{f}.at({names}) = {co}; }}")
        else:
            t, k = self.fresh("t"), self.fresh("k")
            count = product(tile)
            size = self.pick(32, 64, 128)
            self.open(f"parallel {t} by {size} : thread foreach {k} in [{-(-count // size)}] if ({k} * {size} + {t} < {count}) {{")
            step = count
            for name, extent in axes:
                step //= int(extent)
                self.line(f"{name} = ({k} # {t}) / {step} % {extent};")
            self.line(f"s{f}.at({names}) = {co};")
            self.close("}", None)
        self.line(f"dma.copy s{f} => {target.name}.subspan({joined(tile)}).at({joined(at)});")
        self.close("}", None)
        loops = " ".join(f"for {p} in 0..{c} {{" for p, c in zip(at, counts))
        inner = " ".join(f"for {n} in 0..{e}i64 {{" for n, e in axes)
        self.line(
            None,
            f"{loops} let {f} = load(&m[{source.name}], m[{source.name}].all().subspan(&[{joined(tile)}], &[{joined(at)}]), Rest::Zero); "
            f"let mut s = Buffer::new(&[{joined(tile)}]); {inner} s.set(&[{names}], {rust}); {'}' * len(axes)} "
            f"let to = m[{target.name}].all().subspan(&[{joined(tile)}], &[{joined(at)}]); let all = s.all(); "
            f"copy((&s, all), (&mut m[{target.name}], to), Rest::Zero, Rest::Kept); {'}' * len(at)}",
        )

    def launch_symbolic(self, target, sources):
        """Rows whose length the call decides, through shared memory."""
        sources = [s for s in sources if s.dims == target.dims and s.kind == target.kind and len(s.dims) == 2]
        if not sources:
            return self.launch_loops(target, self.sources(target))
        source = self.pick(*sources)
        p, f, i, j = (self.fresh(letter) for letter in "pfij")
        rows, columns = target.dims
        self.open(f"parallel {p} by {rows}{self.pick('', ' : block')} {{")
        tile = self.pick(f"{source.name}.chunkat({p}, _)", f"{source.name}.subspan(1, _).at({p}, 0)", f"{source.name}.view(1, {columns}).from({p}, 0)")
        if self.chance(0.5):
            self.line(f"{f} = dma.copy {tile} => shared;")
        else:
            self.line(f"{f} = dma.copy.async {tile} => shared;")
            self.line(f"wait {f};")
        by = self.pick(1, 2)
        kind = self.pick(target.kind, "f32")
        low, high = stored(target.kind)
        other = f"({columns} - 1 - {j})" if self.chance(0.5) else f"(({j} + {by}) % {columns})"
        text = f"__to<{kind}>({f}.data.at(0, {j})) - __to<{kind}>({f}.data.at(0, {other}))"
        rust = f"m[{source.name}].at(&[{p}, {j}]) - m[{source.name}].at(&[{p}, {other}])"
        if target.kind == "u8":
            text, rust = f"__max({f}.data.at(0, {j}), {f}.data.at(0, {other}))", f"m[{source.name}].at(&[{p}, {j}]).max(m[{source.name}].at(&[{p}, {other}]))"
            kind = "u8"
        value = self.small(Num(text, f"({rust})", kind, -2 * MOST if kind != "u8" else 0, 2 * MOST), target.kind)
        self.line(f"foreach {j} in [{columns}] {target.name}.at({p}, {j}) = {value.co};")
        self.close("}", None)
        self.line(
            None,
            f"for {p} in 0..{rows} {{ for {j} in 0..{columns} {{ let v = {value.rust}; m[{target.name}].set(&[{p}, {j}], v); }} }}",
        )

    def launch_whole(self, target, sources):
        """From tensor to tensor by the block, or by the host."""
        turned = [s for s in sources if s.kind == target.kind and sorted(s.dims) == sorted(target.dims)]
        turned = [s for s in turned if s.dims in (target.dims, target.dims[::-1])]
        if not turned:
            return self.launch_bare(target, sources)
        source = self.pick(*turned)
        axes = list(range(len(source.dims)))
        operation = "dma.copy"
        rust = f"m[{source.name}].clone()"
        if source.dims != target.dims or (len(set(source.dims)) == 1 and len(axes) > 1 and self.chance(0.5)):
            axes.reverse()
            operation = f"dma.transp<{joined(axes)}>"
            rust = f"transposed(&m[{source.name}], m[{source.name}].all(), &[{joined(axes)}], Rest::Zero)"
        text = f"{operation} {source.name} => {target.name};"
        if operation == "dma.copy" and self.chance(0.5):
            self.line(text)
        else:
            self.line(f"parallel by 1 : block {{ {text} }}" if self.chance(0.7) else f"parallel by {self.pick(1, 1)} : block {{ parallel by {self.pick(32, 96)} : thread {{ }} {text} }}")
        self.line(None, f"{{ let v = {rust}; m[{target.name}] = v; }}")

    def launch_parts(self, target, sources):
        """A tile to another place, by the host or by blocks."""
        sources = [s for s in sources if s.kind == target.kind and len(s.dims) == len(target.dims)]
        sources = [s for s in sources if s.dims == target.dims or "1" not in s.dims]
        if not sources:
            return self.launch_blocks(target, self.sources(target))
        source = self.pick(*sources)
        tile, at, _ = self.tile_positions(target.dims)
        count = f"cdiv({target.dims[0]}, {tile[0]})"
        where, origin = [at[0]] + ["0"] * (len(tile) - 1), [at[0]] + ["0"] * (len(tile) - 1)
        if self.chance(0.5):
            origin[0] = f"({count} - 1 - {at[0]})"
        self.line(
            f"parallel {at[0]} by {count} : block {{ t{at[0]} = dma.copy.zfill {source.name}.subspan({joined(tile)}).at({joined(origin)}) => shared; "
            f"dma.copy t{at[0]}.data => {target.name}.subspan({joined(tile)}).at({joined(where)}); }}"
        )
        self.line(
            None,
            f"for {at[0]} in 0..{count} {{ let t = load(&m[{source.name}], m[{source.name}].all().subspan(&[{joined(tile)}], &[{joined(origin)}]), Rest::Zero); "
            f"let to = m[{target.name}].all().subspan(&[{joined(tile)}], &[{joined(where)}]); let all = t.all(); "
            f"copy((&t, all), (&mut m[{target.name}], to), Rest::Zero, Rest::Kept); }}",
        )

    # Host code.

    def statements(self, count):
        for _ in range(count):
            form = self.pick("launch", "launch", "launch", "launch", "exchange", "exchange", "select", "loop", "branch", "call", "call", "call", "host_element", "duplicate")
            if form in ("loop", "branch") and self.depth > 2:
                form = "launch"
            getattr(self, form)()

    def alike(self, count):
        """Tensors of one type that may change places; the result of a call may be one of several already."""
        own = [t for t in self.tensors if t.written and t.name[0] != "c" and t not in [p for p, w in self.params if w]]
        if self.loops:
            # Names before the loop stand for these.
            own = [t for t in own if t.name not in self.chosen]
        self.random.shuffle(own)
        for tensor in own:
            group = [t for t in own if (t.kind, t.dims) == (tensor.kind, tensor.dims)]
            if len(group) >= count:
                return group[:count]
        return None

    def exchange(self):
        count = self.pick(2, 2, 3)
        group = self.alike(count)
        if not group:
            return self.launch()
        self.selected = []
        names = [t.name for t in group]
        if count == 2:
            self.line(f"{self.pick('swap', 'rotate')}({joined(names)});", f"std::mem::swap(&mut {names[0]}, &mut {names[1]});")
        else:
            self.line(f"rotate({joined(names)});", f"({joined(names)}) = ({joined(names[1:] + names[:1])});")

    def select(self):
        group = self.alike(2)
        if not group:
            return self.launch()
        names = [t.name for t in group]
        name = self.fresh("e")
        number = self.pick(*self.numbers)
        self.line(
            f"{name} = select(({number.co} + 4) % 2, {joined(names)});",
            f"let {name} = [{joined(names)}][(({number.rust} + 4) % 2) as usize];",
        )
        self.selected.append((Tensor(name, group[0].kind, group[0].dims), names))
        self.chosen.update(names)
        if self.chance(0.4):
            # Written through the name.
            tensor = Tensor(name, group[0].kind, group[0].dims)
            sources = [t for t in self.tensors if t.name not in names]
            self.launch_bare(tensor, self.random.sample(sources, min(2, len(sources))))

    def scoped(self, body):
        tensors, selected, numbers = list(self.tensors), list(self.selected), list(self.numbers)
        body()
        self.tensors, self.numbers = tensors, numbers
        self.selected = [s for s in selected if s in self.selected]

    def loop(self):
        name, rounds = self.fresh("r"), self.pick("2", "3", "(a + 4) % 4")
        # What a selected name stands for may change in the loop.
        self.selected = []
        self.open(f"foreach {name} in [{rounds}] {{", f"for {name} in 0..{rounds} {{")

        def body():
            self.numbers.append(Num(name, name, "s32", 0, 3))
            self.loops += 1
            self.statements(self.random.randint(1, 3))
            self.loops -= 1

        self.scoped(body)
        self.selected = []
        self.close()

    def branch(self):
        condition = self.pick("a > 0", "a % 2 == 0", f"{self.pick(*self.dims)} > 8", f"{self.pick(*self.dims)} % 2 == 0")
        self.open(f"if ({condition}) {{", f"if {condition} {{")
        self.scoped(lambda: self.statements(self.random.randint(1, 2)))
        if self.chance(0.5):
            self.close("} else {", "} else {")
            self.depth += 1
            self.scoped(lambda: self.statements(self.random.randint(1, 2)))
        self.selected = []
        self.close()

    def duplicate(self):
        tensor = self.pick(*self.tensors)
        if len(self.tensors) > 6:
            return self.launch()
        name = self.fresh("d")
        made = Tensor(name, tensor.kind, tensor.dims)
        if self.chance(0.5):
            self.line(f"{name}f = dma.copy {tensor.name} => global;", f"let {name} = {{ let v = m[{tensor.name}].clone(); made(m, v) }};")
            made = Tensor(f"{name}f.data", tensor.kind, tensor.dims, written=False)
            # The name of the data in Rust is that of the tensor.
            self.line(None, f"let {name}f = {name};")
            self.line(f"{tensor.kind} [{joined(tensor.dims)}] {name};", f"let mut {name} = {name};")
            self.line(f"dma.copy {name}f.data => {name};", f"let v = m[{name}f].clone(); {name} = made(m, v);")
            made = Tensor(name, tensor.kind, tensor.dims)
        else:
            self.line(f"{tensor.kind} [{joined(tensor.dims)}] {name};", f"let mut {name} = {{ let v = m[{tensor.name}].clone(); made(m, v) }};")
            self.line(f"dma.copy {tensor.name} => {name};")
        self.tensors.append(made)

    def host_element(self):
        """An element by the host."""
        written = [t for t in self.tensors if t.written]
        if not written:
            return self.launch()
        target, source = self.pick(*written), self.pick(*self.tensors)
        at = ["0" if self.chance(0.5) else f"{d} - 1" for d in source.dims]
        to = ["0" if self.chance(0.5) else f"{d} - 1" for d in target.dims]
        name = self.fresh("h")
        value = f"__to<s32>({source.name}.at({joined(at)}))"
        self.line(f"s32 {name} = {value};", f"let {name} = m[{source.name}].at(&[{joined(at)}]);")
        if self.chance(0.5):
            low, high = stored(target.kind)
            self.line(
                f"{target.name}.at({joined(to)}) = __to<{target.kind}>(__min(__max({name} + 1, {low}), {high}));",
                f"m[{target.name}].set(&[{joined(to)}], ({name} + 1).max({low}).min({high}));",
            )

    def call(self):
        """A call of another function, with tensors or tiles of them."""
        fitting = [f for f in self.known if all(self.argument_choices(p) for p in f.params)]
        if not fitting:
            return self.launch()
        function = self.pick(*fitting)
        arguments, before, after, used, written_names = [], [], [], [], []
        sizes = {}
        for param in function.params:
            choices = self.argument_choices(param)
            self.random.shuffle(choices)
            for tensor, tile in choices:
                shape = tile[0] if tile else tensor.dims
                known = all(sizes.get(d, s) == s for d, s in zip(param[0].dims, shape)) and len(set(param[0].dims)) == len(param[0].dims)
                again = tensor.name in written_names or (param[1] and tensor.name in used)
                if known and not again:
                    break
            else:
                return self.launch()
            sizes.update(zip(param[0].dims, shape))
            used.append(tensor.name)
            if param[1]:
                written_names.append(tensor.name)
            self.argument(tensor, tile, param, arguments, before, after)
        number = self.pick("a", "2", "-1")
        name = self.fresh("c")
        result = function.result
        template = function.arguments if function.template else ""
        rust_arguments = joined([*(slot for _, slot in arguments), *(sizes[d] for d in function.dims), number])
        call = f"{function.name}{template}({joined([*(co for co, _ in arguments), number])})"
        rust_call = f"{function.name}(m, {rust_arguments})"
        for line in before:
            self.line(None, line)
        if result:
            dims = tuple(re.sub(r"\b[ABC]\b", lambda dim: sizes[dim[0]], d) for d in result.dims)
            self.line(f"{name} = {call};", f"let mut {name} = {rust_call};")
            if len(self.tensors) < 8:
                self.tensors.append(Tensor(name, result.kind, dims))
        else:
            self.line(f"{call};", f"{rust_call};")
        for line in after:
            self.line(None, line)
        self.selected = []

    def argument_choices(self, param):
        tensor, written = param
        kinds = param[0].kind
        choices = []
        for own in self.tensors:
            if own.kind != kinds or (written and not own.written):
                continue
            if len(own.dims) == len(tensor.dims):
                choices.append((own, None))
                choices.append((own, self.tile_of(own)))
            if len(own.dims) == len(tensor.dims) + 1:
                choices.append((own, self.row_of(own)))
        return choices

    def tile_of(self, own):
        """A tile that is inside for every size: half of the axes, or one row."""
        axis = self.random.randrange(len(own.dims))
        shape, origin = list(own.dims), ["0"] * len(own.dims)
        form = self.pick("first", "last")
        shape[axis] = self.pick("1", f"cdiv({own.dims[axis]}, 2)")
        origin[axis] = "0" if form == "first" else f"{own.dims[axis]} - {shape[axis]}"
        return shape, f"{own.name}.view({joined(shape)}).from({joined(origin)})", shape, origin

    def row_of(self, own):
        origin = [self.pick("0", f"{own.dims[0]} - 1")] + ["0"] * (len(own.dims) - 1)
        whole = ["1", *own.dims[1:]]
        return list(own.dims[1:]), f"{own.name}.view({joined(whole)}).from({joined(origin)}).span_as({joined(own.dims[1:])})", whole, origin

    def argument(self, tensor, tile, param, arguments, before, after):
        if tile is None:
            slot = tensor.name
            if not param[1]:
                slot = self.fresh("g")
                before.append(f"let {slot} = {{ let v = m[{tensor.name}].clone(); made(m, v) }};")
            arguments.append((tensor.name, slot))
            return
        shape, co, whole, origin = tile
        slot = self.fresh("g")
        view = f"m[{tensor.name}].all().window(&[{joined(whole)}], &[{joined(origin)}])"
        before.append(f"let {slot} = {{ let v = load(&m[{tensor.name}], {view}, Rest::Zero).reshaped(&[{joined(shape)}]); made(m, v) }};")
        if param[1]:
            after.append(
                f"{{ let v = m[{slot}].reshaped(&[{joined(whole)}]); let to = {view}; let all = v.all(); copy((&v, all), (&mut m[{tensor.name}], to), Rest::Zero, Rest::Kept); }}"
            )
        arguments.append((co, slot))

    # Texts.

    def finish(self):
        """Chooses the result."""
        written = [t for t in self.tensors if t.written and t not in [p for p, _ in self.params]]
        if self.params and any(written for _, written in self.params) and self.chance(0.6):
            self.result = None
        else:
            if not written:
                written = [self.declare()]
            self.result = written[-1] if self.chance(0.7) else self.pick(*written)

    def texts(self):
        body = "\n".join(self.co) + (f"\n  return {self.result.name};" if self.result else "")
        params = []
        for tensor, written in self.params:
            mark = {"global": ("global ", " "), "&": ("", " & "), None: ("", " ")}[written]
            params.append(f"{mark[0]}{tensor.kind} [{joined(tensor.dims)}]{mark[1]}{tensor.name}")
        result = f"{self.result.kind} [{joined(self.result.dims)}]" if self.result else "void"
        result = "auto" if self.result and not self.template and self.chance(0.3) else result
        co = f"__co__ {result} {self.name}({joined([*params, 's32 a'])}) {{\n{body}\n}}"
        if self.template:
            # The type of the first parameter and a number are arguments.
            co = "template <typename T, int E>\n" + re.sub(r"\b32\b", "E", re.sub(rf"\b{self.params[0][0].kind}\b", "T", co))
            co = co.replace("T a) {", f"{'s32'} a) {{", 1) if self.params[0][0].kind == "s32" else co
            self.arguments = f"<{self.params[0][0].kind}, 32>"
        names = "".join(f"mut {t.name}: usize, " for t, _ in self.params)
        dims = "".join(f"{d}: i64, " for d in self.dims)
        rust = f"fn {self.name}(m: &mut Vec<Buffer>, {names}{dims}a: i64) -> usize {{\n" + "\n".join(self.rust)
        return co, rust + f"\n  {self.result.name if self.result else 0}\n}}"


class Program:
    def __init__(self, number, seed):
        self.random = random.Random(f"launches/{seed}/{number}")
        self.name = f"launches_{number}"
        self.kinds = self.random.sample(list(BYTES), 2)
        functions = []
        for i in range(self.random.randint(0, 3)):
            functions.append(self.function(f"{self.name}_{i}", functions, self.random.choice([1, 2, 3]), ("A", "B", "C")))
        self.rank = self.random.choice([1, 2, 2, 2, 3])
        self.main = self.function(self.name, functions, self.random.choice([3, 5, 7]), ("D0", "D1", "D2"), True)
        self.functions = [*functions, self.main]

    def function(self, name, known, count, dims, main=False):
        r = self.random
        params = []
        if main:
            params.append((Tensor("x", self.kinds[0], dims[: self.rank]), None))
            params.append((Tensor("z", self.kinds[1], [r.choice(dims[: self.rank])]), None))
        else:
            shape = dims[: r.choice([1, 2, 2, 2])]
            params.append((Tensor("u", r.choice(self.kinds), shape), r.choice([None, None, "&", "global"])))
            if r.random() < 0.5:
                params.append((Tensor("w", r.choice(self.kinds), r.choice([shape, shape[-1:], shape[::-1]])), None))
        used = [d for d in dims if any(d in t.dims for t, _ in params)]
        function = Function(name, r, known, params, used)
        function.template = not main and r.random() < 0.3
        function.statements(count)
        if main:
            function.launch()
        function.finish()
        function.text = function.texts()
        return function

    def texts(self):
        return tuple("\n\n".join(f.text[language] for f in self.functions) for language in (0, 1))

    def call(self):
        r = self.random
        sizes = []
        for _ in range(3):
            extents = [r.choice([1, 2, 3, 5, 8, 17, 33]) for _ in range(self.rank - 1)]
            extents.append(r.choice([1, 4, 7, 16, 31, 32, 33, 64, 100, 130, 256, 1000 if self.rank < 3 else 40]))
            sizes.append([*extents, r.choice([-3, 0, 1, 2, 4, 5])])
        arguments = {}
        for tensor, _ in self.main.params:
            extents = [f"d[{dim[1]}]" for dim in tensor.dims]
            arguments[tensor.name] = (tensor.kind, extents, [f"{extent} as usize" for extent in extents])
        dims = joined(f"d[{dim[1]}]" for dim in self.main.dims)
        expected = (
            f"{{ let mut m = vec![x.clone(), z.clone()]; let y = {self.name}(&mut m, 0, 1, {dims}, d[d.len() - 1]); m[y].clone() }}"
        )
        return call(self.name, self.main.result.kind, arguments, sizes, expected)


ALLOWED = "W0209, W0210, W0214, W0523, W0620"


def main(seed, count, *files):
    programs = [Program(number, seed) for number in range(int(count))]
    write("random_launches.py", ALLOWED, [program.texts() for program in programs], [program.call() for program in programs], files)


if __name__ == "__main__":
    main(*sys.argv[1:])
