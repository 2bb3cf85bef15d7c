#!/usr/bin/env python3
"""Compiles the PTX of `kernels/` with two versions of ptxas, and compares registers and machine code.

`ptxas_compare.py VERSION` compares the ptxas of `make setup` with that of the wheel
nvidia-cuda-nvcc==VERSION, such as 13.5.*, which it installs into .croq. The PTX is the same for both.
A table has the kernels that differ; a kernel that one of them does not compile, or for which it uses
local memory and the other does not, is an error.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CUDA = ROOT / ".croq/cuda/bin"
ARCHS = ["90a", "80"]


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def other_ptxas(version):
    folder = ROOT / ".croq" / ("ptxas-" + re.sub(r"[^0-9.]", "", version).strip("."))
    found = list(folder.glob("**/bin/ptxas"))
    if not found:
        pip = [ROOT / ".croq/venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps"]
        output(*pip, "--disable-pip-version-check", "--target", folder, f"nvidia-cuda-nvcc=={version}")
        found = list(folder.glob("**/bin/ptxas"))
    return found[0]


def release(ptxas):
    return re.search(r"V([0-9.]+)", output(ptxas, "--version")).group(1)


def plain(mangled):
    """The second part of `_ZN18croq_0123abcd_cuda7scale_0E…`."""
    rest, name = mangled.removeprefix("_ZN"), mangled
    while found := re.match(r"(\d+)", rest):
        start = len(found.group(1))
        name, rest = rest[start : start + int(found.group(1))], rest[start + int(found.group(1)) :]
    return name


def compiled(ptxas, ptx, arch, folder):
    """For each kernel: registers, instructions, bytes of local memory; or what ptxas says instead."""
    cubin = folder / "out.cubin"
    done = subprocess.run(
        [ptxas, "-O3", f"-arch=sm_{arch}", "-v", ptx, "-o", cubin], capture_output=True, text=True
    )
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip().splitlines()[0]
    kernels, name = {}, None
    for line in output(CUDA / "cuobjdump", "-res-usage", cubin).splitlines():
        if found := re.match(r"\s*Function (\S+):", line):
            name = found.group(1)
        elif found := re.search(r"REG:(\d+) STACK:(\d+).* LOCAL:(\d+)", line):
            registers, stack, local = map(int, found.groups())
            kernels[name] = [registers, 0, stack + local]
    for line in output(CUDA / "cuobjdump", "-sass", cubin).splitlines():
        if found := re.match(r"\s*Function : (\S+)", line):
            name = found.group(1)
        elif re.match(r"\s*/\*[0-9a-f]{4,}\*/", line) and not re.search(r"\*/\s+NOP", line):
            kernels[name][1] += 1
    return kernels


def main():
    if len(sys.argv) != 2 or not sys.argv[1]:
        sys.exit(__doc__)
    both = [CUDA / "ptxas", other_ptxas(sys.argv[1])]
    names = [release(ptxas) for ptxas in both]
    croq = ["cargo", "run", "--quiet", "-p", "croq-build", "--bin", "croq", "--", "emit"]
    croq = [os.environ["CROQ"], "emit"] if "CROQ" in os.environ else croq
    rows, wrong, totals = [], [], [[0, 0], [0, 0]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in sorted((ROOT / "kernels/co").glob("**/*.co")):
            device = folder / f"{file.stem}.cu"
            device.write_text(output(*croq, file, cwd=ROOT))
            (folder / f"{file.stem}.h").write_text(output(*croq, "--header", file, cwd=ROOT))
            for arch in ARCHS:
                ptx = folder / "out.ptx"
                flags = ["-x", "cu", "-std=c++17", "-O3", "-DCROQ_CUDA=1", "-ptx", f"-arch=sm_{arch}"]
                flags += [f"-I{ROOT}/croq-build/device", f"-I{folder}"]
                output(CUDA / "nvcc", *flags, device, "-o", ptx)
                old, new = (compiled(ptxas, ptx, arch, folder) for ptxas in both)
                where = f"{file.stem} for sm_{arch}"
                for version, found in zip(names, (old, new)):
                    if isinstance(found, str):
                        wrong.append(f"ptxas {version}, {where}: {found}")
                if isinstance(old, str) or isinstance(new, str):
                    continue
                for kernel in sorted(old):
                    a, b = old[kernel], new[kernel]
                    for total, of in zip(totals, (a, b)):
                        total[0] += 1
                        total[1] += of[1]
                    if a[2] != b[2]:
                        wrong.append(f"{plain(kernel)}, sm_{arch}: {a[2]} and {b[2]} bytes of local memory")
                    if a[:2] != b[:2]:
                        rows.append((arch, plain(kernel), *a[:2], *b[:2]))
    print(f"| kernel | sm | registers {names[0]} | {names[1]} | instructions {names[0]} | {names[1]} |")
    print("|---|---|---|---|---|---|")
    for arch, kernel, r, i, other_r, other_i in rows:
        print(f"| `{kernel}` | {arch} | {r} | {other_r} | {i} | {other_i} |")
    for version, (kernels, instructions) in zip(names, totals):
        print(f"\nptxas {version}: {kernels} kernels, {instructions} instructions")
    print(f"\n{len(rows)} differ")
    print("\n".join(wrong), file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
