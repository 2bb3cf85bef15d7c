#!/usr/bin/env bash
# Builds `gpu-bundle/`: test programs and a benchmark with the CUDA runtime linked statically, and a
# `run` script. They require only a driver and a glibc that is not older than this machine's. Copy
# the folder to a GPU machine and call `./run`. GPU_BUNDLE is another folder to build.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=${GPU_BUNDLE:-gpu-bundle}

export CROQ_CUDA=required
# The architecture of the target GPUs; code for older GPUs, and PTX, would double the size.
export CROQ_CUDA_ARCH=sm_90a
rm -rf "$bundle"
mkdir -p "$bundle/bin"
{
  cargo test -p croq-conformance --test on_gpu --no-run --message-format=json
  cargo test -p croq-tests -p croq-kernel-tests --test run_kernels --test run_features --test run_as_written --no-run --message-format=json
  cargo build -p croq-benches --message-format=json
} | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | sort -u | while read -r program; do
  name=$(basename "$program" | sed 's/-[0-9a-f]\{16\}$//')
  strip -o "$bundle/bin/$name" "$program"
done
cp scripts/gpu_run.sh "$bundle/run"
cp scripts/compare.py benches/shapes.txt "$bundle/"
# For machines without a C++ runtime; `run` uses them only there.
mkdir "$bundle/lib"
ldd "$bundle/bin/on_gpu" | sed -n 's/.*\(libstdc++\|libgcc_s\)\.so.* => \([^ ]*\) .*/\2/p' | while read -r library; do
  cp -L "$library" "$bundle/lib/"
done
git rev-parse HEAD > "$bundle/commit"
[ -z "$(git status --porcelain)" ] || echo "with uncommitted changes" >> "$bundle/commit"

for program in on_gpu run_features run_as_written run_kernels croq-benches; do
  if [ ! -x "$bundle/bin/$program" ]; then
    echo "gpu-bundle: $program was not built" >&2
    exit 1
  fi
  if ldd "$bundle/bin/$program" | grep -q 'libcuda\|not found'; then
    echo "gpu-bundle: $program needs more than glibc:" >&2
    ldd "$bundle/bin/$program" >&2
    exit 1
  fi
done
# `run` decompresses them; compressed files are a third as large.
gzip "$bundle"/bin/*
size=$(du -sm "$bundle" | cut -f1)
echo "gpu-bundle: $size MiB"
[ "$size" -lt 60 ]
