#!/usr/bin/env bash
# The GPU bundle on the PTX machine: builds it with the test toolkit, and executes its `run` as on a
# machine with a GPU. `gpu_rehearsal.sh [STEP…]`: conformance and tests if none is given; the benchmarks
# have sizes for a GPU only. RUN_FILTER is that of `run`. GPU_BUNDLE_BUILT=1: the folder is there.
# Needs nvcc, but no GPU.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
bundle=$target/gpu-rehearsal
if [ -z "${GPU_BUNDLE_BUILT:-}" ]; then
  toolkit=$(scripts/ptx_toolkit.sh)
  CUDA_HOME=$toolkit NVCC= GPU_BUNDLE=$bundle scripts/gpu_bundle.sh
fi
# Nothing of the build's environment is there on a GPU machine.
unset CUDA_HOME NVCC
[ "${CROQ_PTX_RUNTIME:-}" != off ] || unset CROQ_PTX_RUNTIME
[ $# -gt 0 ] || set -- conformance tests
RUN_SLOWER=${RUN_SLOWER:-10} "$bundle/run" "$@"
