"""What PyTorch takes for the products and attentions of shapes.txt, on this machine's first GPU.

Prints a line a shape: its name, a tab, seconds. The median of rounds in which many calls, captured in a
CUDA graph so that Python's own time does not count, go over sets of random inputs that take turns: the
method of the benchmark that reads this. Attention is that of the fastest backend.

Usage: compare.py shapes.txt > torch.txt
"""

import sys
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

PLACES = 3
ROUNDS = 50
PATIENCE = 1.5
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f8": torch.float8_e4m3fn}
BACKENDS = [SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]


def matrix(elem, *shape):
    values = torch.rand(*shape, device="cuda", dtype=torch.float16) * 2 - 1
    return values.to(TYPES[elem])


def seconds_of(call):
    """Seconds for one `call(place)`."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for place in range(PLACES):
            call(place)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for place in range(PLACES):
        call(place)
    torch.cuda.synchronize()
    once = (time.perf_counter() - start) / PLACES
    calls = min(max(int(2e-3 / once), 1), 1000)
    calls = (calls + PLACES - 1) // PLACES * PLACES
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for number in range(calls):
            call(number % PLACES)
    rounds = min(max(int(PATIENCE / (once * calls)), 3), ROUNDS)
    taken = []
    for _ in range(rounds + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - start) / calls)
    return sorted(taken[1:])[rounds // 2]


def gemm(elem, m, n, k):
    sets = [(matrix(elem, m, k), matrix(elem, n, k)) for _ in range(PLACES)]
    if elem == "f8":
        one = torch.ones((), device="cuda", dtype=torch.float32)

        def call(place):
            a, b = sets[place]
            torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)

    else:
        outs = [torch.empty(m, n, device="cuda", dtype=TYPES[elem]) for _ in range(PLACES)]

        def call(place):
            a, b = sets[place]
            torch.mm(a, b.t(), out=outs[place])

    return seconds_of(call)


def attention(elem, causal, heads, length, dim):
    sets = [tuple(matrix(elem, 1, heads, length, dim) for _ in range(3)) for _ in range(PLACES)]
    best = None
    for backend in BACKENDS:

        def call(place):
            q, k, v = sets[place]
            with sdpa_kernel(backend):
                scaled_dot_product_attention(q, k, v, is_causal=causal)

        try:
            taken = seconds_of(call)
        except RuntimeError as reason:
            print(f"{backend}: {reason}", file=sys.stderr)
            torch.cuda.synchronize()
            continue
        best = taken if best is None else min(best, taken)
    return best


def main(path):
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name(0)}", file=sys.stderr)
    with open(path) as lines:
        shapes = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    for shape in shapes:
        kind, elem, *sizes = shape.split(" ")
        sizes = [int(size) for size in sizes]
        if kind == "gemm":
            taken = gemm(elem, *sizes)
        else:
            taken = attention(elem, kind == "causal", *sizes)
        if taken is not None:
            print(f"{shape}\t{taken:e}", flush=True)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main(sys.argv[1])
