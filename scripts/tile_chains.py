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
MAIN = """#![forbid(unsafe_code)]
croq_sys::include_kernels!();
use croq_sys::{Const, Error, Result, Tensor};

type X = Tensor<i32, (usize, usize, usize)>;
type Y = Tensor<i32, (Const<8>,)>;

fn run(name: &str, kernel: impl Fn(&mut X, &mut Y, i32, i32, i32) -> Result<()>) {
    let numbers = [(1, 0, 2), (0, 0, 4), (7, 3, 9), (-3, 5, 3), (3, -2, 5), (100, 100, 2), (1 << 20, 1 << 24, 3)];
    for (a, b, n) in numbers {
        for shape in [(3, 5, 7), (1, 1, 1), (4, 8, 8), (2, 3, 16)] {
            let (mut x, mut y) = (X::random(shape, 0..5, 1), Y::zeros((Const::<8>,)));
            match kernel(&mut x, &mut y, a, b, n) {
                Err(error @ Error::OutOfBounds { .. }) => println!("{name}({a}, {b}, {n}) of {shape:?}: {error}"),
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
        return f".{operator}({listed(shape)}).{at}({self.numbers(shape, threads)})"

    def chain(self, threads):
        """A tile of `x`, and its extents."""
        shape = [self.random.choice([1, 1, 2, 3, 4, 8]) for _ in range(3)]
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
        kind = self.random.choice(["store", "load", "atomic", "named", "from", "to"])
        tile, shape = self.chain(kind not in ("from", "to"))
        element = f".at({self.indices(shape)})"
        of_threads = {
            "store": f"{tile}{element} = 1;",
            "load": f"__atomic_add(y.at(t), {tile}{element});",
            "atomic": f"__atomic_add({tile}{element}, 1);",
            "named": f"v = {tile}; v{element} = 1; __atomic_add(y.at(t), v{element});",
        }
        if kind in of_threads:
            body = f"parallel t by 8 : thread {{ mutable s32 e = y.at(0) % 5 + b; {of_threads[kind]} }}"
        elif kind == "from":
            body = f"f = dma.copy.zfill {tile} => shared; parallel t by 8 : thread __atomic_add(y.at(t), f.data{element});"
        else:
            body = f"shared s32 [{listed(shape)}] m {{1}}; dma.copy m => {tile};"
        return (
            f"__co__ void k{number}(s32 [A, B, C] & x, s32 [8] & y, int a, int b, int n) {{\n"
            f"  parallel p by n : block {{\n    {body}\n  }}\n}}\n"
        )


def listed(shape):
    return ", ".join(map(str, shape))


def main(seed, count, croq, folder):
    chains, kernels = Chains(int(seed)), []
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
    calls = (f'    run("k{n}", |x, y, a, b, n| kernels::k{n}(x, y, a, b, n));' for n in range(len(kernels)))
    with open(f"{folder}/kernels/chains.co", "w", encoding="utf-8") as file:
        file.write("\n".join(kernels))
    with open(f"{folder}/src/main.rs", "w", encoding="utf-8") as file:
        file.write(MAIN.replace("CALLS", "\n".join(calls)))
    print(len(kernels), "kernels")


main(*sys.argv[1:])
