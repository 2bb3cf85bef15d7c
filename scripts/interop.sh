#!/usr/bin/env bash
# Tests croq with other libraries: candle, cudarc, cuda-runtime-sys. They take minutes to compile, so they are
# not a part of `make test`. cuda-runtime-sys links libcudart.so; a library without functions stands in
# for it, because croq calls none of them.
set -euo pipefail
cd "$(dirname "$0")/.."

# LIBRARY_PATH, set below, hides that of .cargo/config.toml.
export LIBCLANG_PATH="${LIBCLANG_PATH:-$PWD/.croq/libclang}"
target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target/interop-stub"
echo '' | "${CC:-cc}" -shared -fPIC -x c - -o "$target/interop-stub/libcudart.so"
export LIBRARY_PATH=$target/interop-stub${LIBRARY_PATH:+:$LIBRARY_PATH}
export LD_LIBRARY_PATH=$target/interop-stub${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
# The kernels run on the simulated GPU.
export CROQ_CUDA=off
[ -e tests/interop/Cargo.lock ] || cp Cargo.lock tests/interop/
CARGO_TARGET_DIR=$target/interop cargo test --manifest-path tests/interop/Cargo.toml "$@"
