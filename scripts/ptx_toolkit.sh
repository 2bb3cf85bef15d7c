#!/usr/bin/env bash
# Makes a folder that looks like a CUDA toolkit, and prints its path. Programs that are built with
# CUDA_HOME set to it run on the PTX machine; with `ptx_toolkit.sh both` they contain machine code, too.
# Needs nvcc: $NVCC, or $CUDA_HOME/bin/nvcc, or that of `make setup`.
#
#   PTX_TOOLKIT_UNBUILT=1  the caller builds the PTX machine's library (croq-ptx-runtime), before programs run
set -euo pipefail
cd "$(dirname "$0")/.."

[ -n "${CUDA_HOME:-}" ] || [ ! -x .croq/cuda/bin/nvcc ] || export CUDA_HOME=$PWD/.croq/cuda

target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target/debug"
target=$(cd "$target" && pwd)
[ -n "${PTX_TOOLKIT_UNBUILT:-}" ] || CROQ_CUDA=off cargo build --quiet --offline -p croq-ptx-runtime >&2
code=${1:-ptx}
folder=$target/ptx-toolkit
[ "$code" = ptx ] || folder=$folder-$code
tests/ptx/runtime/toolkit/make.sh "$folder" "$target/debug/libcroq_ptx_runtime.so" "$code" >&2
echo "$folder"
