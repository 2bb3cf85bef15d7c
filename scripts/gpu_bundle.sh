#!/usr/bin/env bash
# Builds `gpu-bundle/`: the run tests as programs with the CUDA runtime linked statically, and a `run`
# script that needs only a driver and glibc. Carry the folder to a GPU machine and call `./run` there.
# CROQ_CUDA_ARCH chooses the GPUs, sm_90a unless told otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."

export CROQ_CUDA=required
export CROQ_CUDA_ARCH=${CROQ_CUDA_ARCH:-sm_90a}
programs=(run_kernels run_features)

rm -rf gpu-bundle
mkdir -p gpu-bundle/bin
tests=()
for program in "${programs[@]}"; do tests+=(--test "$program"); done
cargo test -p croq-tests "${tests[@]}" --no-run --message-format=json-render-diagnostics |
  sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | while read -r built; do
  name=$(basename "$built" | sed 's/-[0-9a-f]*$//')
  cp "$built" "gpu-bundle/bin/$name"
  strip "gpu-bundle/bin/$name"
done
for program in "${programs[@]}"; do
  [ -x "gpu-bundle/bin/$program" ] || { echo "gpu-bundle: $program was not built" >&2; exit 1; }
done
cp scripts/gpu_bundle_run.sh gpu-bundle/run
chmod +x gpu-bundle/run
git rev-parse HEAD > gpu-bundle/commit

kib=$(du -sk gpu-bundle | cut -f1)
echo "gpu-bundle: $((kib / 1024)) MiB; carry the folder to a GPU machine and call ./run there"
if [ "$kib" -gt $((60 * 1024)) ]; then
  echo "gpu-bundle: larger than 60 MiB" >&2
  exit 1
fi
