#!/usr/bin/env python3
"""Writes PTX of kernels anew to `tests/ptx/kernels`, from what `make ptx-census` has compiled.

`ptx_kernels.py NAME…` writes those, and without a name the kernels of `make ptx-mutants`. Lines of
`tests/ptx/tests/mutants/equivalent.rs` are those of these files.
"""
import os
import re
import sys

# The name in the folder, the file, the kernel as the program has it, and as PTX has it.
KERNELS = [
    ("row_sum", "kernels/co/reduction/rows.co", "row_reduce<false>", "row_reduce_false_0"),
    ("softmax", "kernels/co/reduction/softmax.co", "softmax<f32>", "softmax_f32_0"),
    ("matmul_f32", "kernels/co/matmul/blocked.co", "matmul_f32", "matmul_f32_0"),
    ("linear_relu", "kernels/co/matmul/tensor.co", "linear_relu<f16, f16, f16, 32>",
     "linear_relu_f16_f16_f16_32_0"),
    ("matmul_hopper", "kernels/co/matmul/hopper.co", "matmul_hopper", "matmul_hopper_0"),
    ("matmul_hopper_persistent", "kernels/co/matmul/hopper.co", "matmul_hopper_persistent",
     "matmul_hopper_persistent_0"),
    ("multicast_pairs", "tests/run/features/multicast.co", "multicast_pairs", "multicast_pairs_0"),
    ("attention_hopper", "kernels/co/attention/hopper.co", "attention_hopper<f16, 64>",
     "attention_hopper_f16_64_0"),
    ("tma_there_and_back", "tests/run/features/tma.co", "tma_there_and_back",
     "tma_there_and_back_0"),
    ("column_sum_streamed", "kernels/co/reduction/streamed.co", "column_sum_streamed",
     "column_sum_streamed_0"),
    ("byte_counts", "kernels/co/reduction/atomic.co", "byte_counts", "byte_counts_0"),
    ("race_look_back", "tests/run/features/device_races.co", "race_look_back", "race_look_back_0"),
]


def entry(text, kernel):
    """The entry, up to its closing brace, and its name."""
    found = re.search(r"^\.(?:visible )?entry (\w*?\d+" + kernel + r"E\w*)\(", text, re.MULTILINE)
    at = text.index("{", text.index(")", found.start()))
    depth = 0
    while True:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            return text[found.start():at], found.group(1)


def files(text, used):
    """The `.file` lines of these numbers, with paths that are the same on every machine."""
    lines = []
    for number, path in re.findall(r'^\s*\.file\s+(\d+) "([^"]*)"', text, re.MULTILINE):
        if number not in used:
            continue
        if path.endswith(".co"):
            path = re.sub(r".*/((?:kernels|tests)/.*)", r"\1", path)
        else:
            path = "include/" + re.sub(r".*/(?:device|include)/", "", path)
        lines.append(f'\t.file\t{number} "{path}"')
    return lines


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    census = os.path.join(os.environ.get("CARGO_TARGET_DIR", "target"), "ptx-census")
    wanted = sys.argv[1:] or [kernel[0] for kernel in KERNELS]
    for name, file, shown, kernel in KERNELS:
        if name not in wanted:
            continue
        with open(os.path.join(census, re.sub(r"[/.]", "_", file[:-3]) + ".ptx")) as ptx:
            text = ptx.read()
        head = text[text.index(".version"):text.index(".entry")]
        head = [line for line in head.splitlines() if re.match(r"\.(version|target|address|extern)", line)]
        body, mangled = entry(text, kernel)
        body = body.replace(mangled, name)
        used = set(re.findall(r"\.loc\s+(\d+)", body)) | set(re.findall(r"inlined_at (\d+)", body))
        what = f"// {shown} of {file}, as nvcc 13.0 -O1 -lineinfo -arch=compute_90a prints it, with a shorter name."
        lines = [what, *head[:3], "", *head[3:], "", body, "", *files(text, used)]
        with open(f"tests/ptx/kernels/{name}.ptx", "w") as to:
            to.write("\n".join(lines) + "\n")


main()
