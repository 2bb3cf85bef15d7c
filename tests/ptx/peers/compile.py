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

import compared
import function
import integer
import matrix
import scalar

# Of the integers those that "%" marks are divisible by 16; pointers are aligned to 16 bytes.
PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "%i32", "k": "%i32"}
BY_WARPS = {"M": 32, "N": 64, "K": 32, "COLUMNS": 0}
BY_WARPGROUPS = {"M": 128, "N": 128, "K": 64, "COLUMNS": 0}


def product_of(operand, result):
    return PRODUCT | {"a": operand, "b": operand, "c": result}


# Name, kernel, types of the parameters, constants, warps of a block, stages of software pipelines.
PEERS = [
    ("elementwise", scalar.gated_sum, "x:*fp16 gate:*fp16 bias:*fp32 out:*fp32 n:i32 scale:fp32", {"BLOCK": 1024}, 4, 1),
    ("softmax", scalar.softmax_rows, "x:*fp32 out:*fp32 rows:i32 columns:i32 stride:%i32", {"BLOCK": 1024}, 8, 2),
    (
        "layer_norm",
        scalar.layer_norm,
        "x:*bf16 weight:*fp32 bias:*fp32 out:*bf16 mean:*fp32 deviation:*fp32 columns:%i32 epsilon:fp32",
        {"BLOCK": 512},
        4,
        1,
    ),
    ("random", integer.random_bits, "out:*i32 uniform:*fp32 seed:i32 n:i32", {"BLOCK": 128}, 4, 1),
    ("integers", integer.arithmetic, "x:*i64 y:*i64 out:*i64 n:i32", {"BLOCK": 128}, 4, 1),
    ("sort", integer.scan_and_sort, "x:*i32 sums:*i32 sorted:*i32 highest:*i32 where:*i32", {"BLOCK": 512}, 4, 1),
    (
        "histogram",
        integer.count,
        "x:*i32 bins:*i32 sum:*fp32 most:*i32 least:*i32 total:*i32 locks:*i32 n:i32",
        {"BINS": 64, "BLOCK": 256},
        4,
        1,
    ),
    ("functions_f32", function.functions, "x:*fp32 out:*fp32 n:i32", {"BLOCK": 128}, 4, 1),
    ("functions_f64", function.functions, "x:*fp64 out:*fp64 n:i32", {"BLOCK": 128}, 4, 1),
    (
        "conversions",
        function.conversions,
        "x:*fp32 double:*fp64 half:*fp16 bfloat:*bf16 e4m3:*fp8e4nv e5m2:*fp8e5 word:*i32 byte:*i8 back:*fp32 n:%i32",
        {"BLOCK": 512},
        4,
        1,
    ),
    ("product_mma", matrix.product, PRODUCT, BY_WARPS, 2, 3),
    ("product_mma_bf16", matrix.product, product_of("*bf16", "*fp32"), BY_WARPS, 2, 2),
    ("product_mma_f16", matrix.product, product_of("*fp16", "*fp16"), BY_WARPS | {"COLUMNS": 1}, 2, 2),
    ("product_mma_tf32", matrix.product, product_of("*fp32", "*fp32"), BY_WARPS, 2, 2),
    ("product_mma_f64", matrix.product, product_of("*fp64", "*fp64"), BY_WARPS, 2, 1),
    ("product_mma_i8", matrix.product, product_of("*i8", "*i32"), BY_WARPS | {"COLUMNS": 1}, 2, 2),
    ("product_mma_e4m3", matrix.product, product_of("*fp8e4nv", "*fp32"), BY_WARPS | {"COLUMNS": 1}, 2, 2),
    ("product_wgmma", matrix.product, PRODUCT, BY_WARPGROUPS, 8, 3),
    ("product_wgmma_bf16", matrix.product, product_of("*bf16", "*fp32"), BY_WARPGROUPS | {"N": 64, "COLUMNS": 1}, 4, 3),
    ("product_wgmma_f16", matrix.product, product_of("*fp16", "*fp16"), BY_WARPGROUPS, 4, 2),
    ("product_wgmma_tf32", matrix.product, product_of("*fp32", "*fp32"), BY_WARPGROUPS | {"N": 32, "COLUMNS": 1}, 4, 2),
    ("product_wgmma_i8", matrix.product, product_of("*i8", "*i32"), BY_WARPGROUPS | {"COLUMNS": 1}, 4, 2),
    ("product_wgmma_e4m3", matrix.product, product_of("*fp8e4nv", "*fp32"), BY_WARPGROUPS | {"COLUMNS": 1}, 4, 2),
    ("product_wgmma_e5m2", matrix.product, product_of("*fp8e5", "*fp32"), BY_WARPGROUPS | {"COLUMNS": 1}, 4, 2),
    ("product_tma", matrix.product_tma, product_of("*fp16", "*fp16"), {"M": 128, "N": 128, "K": 64}, 4, 3),
    (
        "attention",
        matrix.attention,
        "q:*fp16 k:*fp16 v:*fp16 out:*fp16 length:i32 scale:fp32",
        {"ROWS": 64, "KEYS": 64, "WIDTH": 64},
        4,
        2,
    ),
]


def types(parameters):
    if isinstance(parameters, dict):
        return parameters
    return dict(word.split(":") for word in parameters.split())


def compile_peer(kernel, parameters, constants, warps, stages, options):
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
        options={"num_warps": warps, "num_stages": stages} | options,
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
    # Compared kernels become machine code by the same ptxas as croq's.
    peers = [(peer, {}) for peer in PEERS] + [(peer, {"ptx_version": 90}) for peer in compared.COMPARED]
    for (name, kernel, parameters, constants, warps, stages), options in peers:
        parameters = types(parameters)
        peer = compile_peer(kernel, parameters, constants, warps, stages, options)
        (folder / f"{name}.ptx").write_text(peer.asm["ptx"])
        lines = [f"made-by triton {triton.__version__}", *facts(peer, parameters, constants)]
        (folder / f"{name}.peer").write_text("\n".join(lines) + "\n")
        print(name, len(peer.asm["ptx"].splitlines()), "lines")


if __name__ == "__main__":
    main()
