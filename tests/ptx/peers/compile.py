"""Compiles the Triton kernels of this folder to PTX for sm_90a; needs neither a GPU nor torch.

usage: compile.py FOLDER

For each peer FOLDER gets NAME.ptx, and NAME.peer with what a launch needs: a line for each fact.
"""

import re
import sys
from pathlib import Path

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import matrix
import scalar

# Name, kernel, types of the parameters, constants, warps of a block, stages of software pipelines.
# Pointers are aligned to 16 bytes; of the integers those that "%" marks are divisible by 16.
PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "%i32", "k": "%i32"}
PEERS = [
    (
        "elementwise",
        scalar.gated_sum,
        {"x": "*fp16", "gate": "*fp16", "bias": "*fp32", "out": "*fp32", "n": "i32", "scale": "fp32"},
        {"BLOCK": 1024},
        4,
        1,
    ),
    (
        "softmax",
        scalar.softmax_rows,
        {"x": "*fp32", "out": "*fp32", "rows": "i32", "columns": "i32", "stride": "%i32"},
        {"BLOCK": 1024},
        8,
        2,
    ),
    (
        "layer_norm",
        scalar.layer_norm,
        {
            "x": "*bf16",
            "weight": "*fp32",
            "bias": "*fp32",
            "out": "*bf16",
            "mean": "*fp32",
            "deviation": "*fp32",
            "columns": "%i32",
            "epsilon": "fp32",
        },
        {"BLOCK": 512},
        4,
        1,
    ),
    ("product_mma", matrix.product, PRODUCT, {"M": 32, "N": 64, "K": 32}, 2, 3),
    ("product_wgmma", matrix.product, PRODUCT, {"M": 128, "N": 128, "K": 64}, 8, 3),
    (
        "product_tma",
        matrix.product_tma,
        PRODUCT | {"c": "*fp16"},
        {"M": 128, "N": 128, "K": 64},
        4,
        3,
    ),
    (
        "attention",
        matrix.attention,
        {"q": "*fp16", "k": "*fp16", "v": "*fp16", "out": "*fp16", "length": "i32", "scale": "fp32"},
        {"ROWS": 64, "KEYS": 64, "WIDTH": 64},
        4,
        2,
    ),
]


def compile_peer(kernel, parameters, constants, warps, stages):
    signature = {name: parameters.get(name, "constexpr").lstrip("%") for name in kernel.arg_names}
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, name in enumerate(kernel.arg_names)
        if parameters.get(name, "")[:1] in ("*", "%")
    }
    source = ASTSource(kernel, signature, constexprs=constants, attrs=aligned)
    return triton.compile(
        source,
        target=GPUTarget("cuda", 90, 32),
        options={"num_warps": warps, "num_stages": stages},
    )


def facts(peer, parameters, constants):
    """The lines of NAME.peer. Triton appends pointers to scratch memory to the parameters."""
    text, meta = peer.asm["ptx"], peer.metadata
    head = re.search(r"\.entry\s+\w+\s*\((.*?)\)", text, re.S)
    count = len(re.findall(r"\.param\b", head.group(1)))
    yield f"entry {meta.name}"
    yield f"threads {re.search(r'.reqntid ([0-9]+)', text).group(1)}"
    yield f"shared {meta.shared}"
    yield f"scratch {meta.global_scratch_size} {meta.global_scratch_align}"
    for name, value in constants.items():
        yield f"constant {name} {value}"
    for name, kind in parameters.items():
        yield f"parameter {name} {kind.lstrip('%')}"
    for index in range(count - len(parameters)):
        yield f"parameter {'scratch' if index == 0 else 'profile'} *i8"


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, kernel, parameters, constants, warps, stages in PEERS:
        peer = compile_peer(kernel, parameters, constants, warps, stages)
        (folder / f"{name}.ptx").write_text(peer.asm["ptx"])
        lines = [f"made-by triton {triton.__version__}", *facts(peer, parameters, constants)]
        (folder / f"{name}.peer").write_text("\n".join(lines) + "\n")
        print(name, len(peer.asm["ptx"].splitlines()), "lines")


if __name__ == "__main__":
    main()
