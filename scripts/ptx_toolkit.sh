#!/usr/bin/env bash
# Makes a folder that looks like a CUDA toolkit, and prints its path. Programs that are built with
# CUDA_HOME set to it run on the PTX machine. Needs nvcc: $NVCC, or $CUDA_HOME/bin/nvcc.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
target=$(cd "$target" && pwd)
CROQ_CUDA=off cargo build --quiet --offline -p croq-ptx-runtime >&2
tests/ptx/runtime/toolkit/make.sh "$target/ptx-toolkit" "$target/debug/libcroq_ptx_runtime.so" >&2
echo "$target/ptx-toolkit"
