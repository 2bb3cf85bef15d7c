#!/usr/bin/env python3
"""Kernels with random chains of view operators, for `attack.sh`.

tile_chains.py SEED COUNT CROQ FOLDER: writes COUNT kernels that `CROQ check` accepts to
FOLDER/kernels/chains.co, and FOLDER/src/main.rs, which calls each with numbers in and out of range. An
access outside of a buffer must fail a check that the compiler has emitted, because CUDA has no other; the
simulated GPU also checks each access itself, and main.rs prints the failures of that check.
"""
import math
import random
import re
import subprocess
import sys

NUMBERS = ["p", "p - 1", "p + 1", "a", "b", "a - 2", "p * 2", "p + b", "p * a", "2 * p - b", "(p + a) % 7"]
# Only where a thread has its own: the tile of a copy is that of its block.
OF_THREADS = ["t", "t - 3", "e"]
STRIDES = ["_", "_", "1", "2", "3", "0", "-1", "C", "2 * C", "B * C", "B * C * 2", "-C", "a", "b", "a * C", "1 - b"]
MAIN = """#![forbid(unsafe_code)]
croq_sys::include_kernels!();
use croq_sys::{Const, Error, Result, Tensor};

type X = Tensor<i32, (usize, usize, usize)>;
type Y = Tensor<i32, (Const<8>,)>;

fn run(name: &str, kernel: impl Fn(&mut X, &mut X, &mut Y, i32, i32, i32) -> Result<()>) {
    let numbers = [(0, 0, 1), (1, 0, 2), (0, 0, 4), (7, 3, 9), (-3, 5, 3), (3, -2, 5), (-2, -4, 3), (100, 100, 2), (1 << 20, 1 << 24, 3)];
    for (a, b, n) in numbers {
        for shape in [(3, 5, 7), (1, 1, 1), (4, 8, 8), (8, 16, 24)] {
            let (mut x, mut z, mut y) = (X::random(shape, 0..5, 1), X::zeros(shape), Y::zeros((Const::<8>,)));
            match kernel(&mut x, &mut z, &mut y, a, b, n) {
                Err(error @ (Error::OutOfBounds { .. } | Error::Misaligned { .. })) => println!("{name}({a}, {b}, {n}) of {shape:?}: {error}"),
                _ => println!("called"),
            }
        }
    }
}

fn main() {
CALLS
}
"""


class Chains:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def number(self, threads):
        return self.random.choice(NUMBERS + OF_THREADS if threads else NUMBERS)

    def numbers(self, shape, threads):
        return ", ".join(self.number(threads) for _ in shape)

    def cut(self, shape, threads):
        operator, at = self.random.choice([("subspan", "at"), ("view", "from")])
        # Some extents are numbers of the call.
        known = self.random.random() < 0.8
        extents = listed([n if known else self.random.choice([n, "a", "b", "n"]) for n in shape])
        if self.random.random() < 0.2:
            extents += " : " + ", ".join(self.random.choice(STRIDES) for _ in shape)
        step = ""
        if operator == "subspan" and self.random.random() < 0.2:
            step = ".step(" + ", ".join(self.random.choice(["_", "1", "3", "8", "b"]) for _ in shape) + ")"
        return f".{operator}({extents}){step}.{at}({self.numbers(shape, threads)})"

    def chain(self, threads):
        """A tile of `x`, and its extents."""
        shape = [self.random.choice([1, 1, 2, 3, 4, 8]) for _ in range(3)]
        # A row, whose elements have no gaps.
        if self.random.random() < 0.5:
            shape[:2] = [1, 1]
        text = "x" + self.cut(shape, threads)
        for _ in range(self.random.randint(0, 3)):
            operator = self.random.choice(["sqz", "span_as", "span_as", "cut"])
            if operator == "sqz" and 1 in shape:
                text += ".sqz()"
                shape = [n for n in shape if n != 1] or [1]
            elif operator == "span_as":
                count = math.prod(shape)
                first = self.random.choice([n for n in range(1, count + 1) if count % n == 0])
                shape = self.random.choice([[count], [first, count // first], [1, first, count // first]])
                text += f".span_as({listed(shape)})"
            elif operator == "cut":
                shape = [self.random.choice([1, max(1, n // 2), n]) for n in shape]
                text += self.cut(shape, threads)
        return text, shape

    def indices(self, shape):
        return ", ".join(self.random.choice([f"t % {n}", "t", "0", str(n - 1), "p", f"(t + p) % {n}"]) for n in shape)

    def kernel(self, number):
        body = self.random.choice([self.of_threads, self.copy])()
        return (
            f"__co__ void k{number}(s32 [A, B, C] & x, s32 [A, B, C] & z, s32 [8] & y, int a, int b, int n) {{\n"
            f"  parallel p by n : block {{\n    {body}\n  }}\n}}\n"
        )

    def of_threads(self):
        """Elements of a tile."""
        tile, shape = self.chain(True)
        element = f".at({self.indices(shape)})"
        statements = [
            f"{tile}{element} = 1;",
            f"__atomic_add(y.at(t), {tile}{element});",
            f"__atomic_add({tile}{element}, 1);",
            f"v = {tile}; v{element} = 1; __atomic_add(y.at(t), v{element});",
            f"f = dma.copy.zfill {tile} => local; __atomic_add(y.at(t), f.data{element});",
        ]
        return f"parallel t by 8 : thread {{ mutable s32 e = z.at(0, 0, 0) % 5 + b; {self.random.choice(statements)} }}"

    def copy(self):
        """A copy from or to a tile."""
        tile, shape = self.chain(False)
        start, wait = self.random.choice([("", ""), (".async", "wait f; ")])
        order = ", ".join(map(str, self.random.sample(range(len(shape)), len(shape))))
        widths = ", ".join(f"{{{listed(self.random.choices(range(3), k=len(shape)))}}}" for _ in range(2))
        gaps = listed([0] * len(shape))
        modifier = self.random.choice(
            [f"copy{start}.zfill", f"copy{start}", f"transp<{order}>{start}.zfill", f"pad<{widths}, {{{gaps}}}, 7>{start}"]
        )
        other = [self.random.choice([n, n, n + 1]) for n in shape]
        if self.random.random() < 0.2:
            other = self.random.choices(["a", "b"], k=len(shape))
        window = f"z.view({listed(other)}).from({self.numbers(shape, False)})"
        load = f"f = dma.{modifier} {tile} => shared; {wait}"
        kinds = [
            f"{load}parallel t by 8 : thread __atomic_add(y.at(t), f.data.at({self.indices(shape)}));",
            f"{load}dma.copy f.data => {window};",
            f"shared s32 [{listed(shape)}] m {{1}}; f = dma.copy{start} m => {tile}; {wait}",
            f"dma.copy {tile} => {window};",
            f"dma.copy x.view({listed(other)}).from({self.numbers(shape, False)}) => {window};",
        ]
        return self.random.choice(kinds)


def listed(shape):
    return ", ".join(map(str, shape))


def main(seed, count, croq, folder):
    chains, kernels = Chains(seed), []
    one = f"{folder}/one.co"
    for _ in range(10 * int(count)):
        kernel = chains.kernel(len(kernels))
        with open(one, "w", encoding="utf-8") as file:
            file.write(kernel)
        checked = subprocess.run([croq, "check", one], capture_output=True, text=True, check=False)
        if re.search(r"panicked|E1199", checked.stderr + checked.stdout):
            sys.exit(f"croq check fails:\n{kernel}{checked.stderr}")
        if checked.returncode == 0:
            kernels.append(kernel)
        if len(kernels) == int(count):
            break
    calls = (f'    run("k{n}", |x, z, y, a, b, n| kernels::k{n}(x, z, y, a, b, n));' for n in range(len(kernels)))
    with open(f"{folder}/kernels/chains.co", "w", encoding="utf-8") as file:
        file.write("\n".join(kernels))
    with open(f"{folder}/src/main.rs", "w", encoding="utf-8") as file:
        file.write(MAIN.replace("CALLS", "\n".join(calls)))
    print(len(kernels), "kernels")


main(*sys.argv[1:])
