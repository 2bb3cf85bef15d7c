#!/usr/bin/env bash
# Compares kernels of croq with kernels of CUTLASS and Triton that solve the same problems
# (tests/compare): what ptxas makes of them, and what they execute on the PTX machine, where each
# result is compared with f64; and what that would take on an H100, by a model. It measures no time. scripts/peers.sh says what it needs and installs.
# The tables are written to compare.md in the target folder.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/peers.sh
install_peers
compile_triton
toolkit=$(NVCC=$nvcc scripts/ptx_toolkit.sh)
# Checks of `assert` are calls, for which ptxas serialises products.
compile_cutlass "$toolkit" -DNDEBUG "$peers"/compared/*.cu

# As `make test` builds them.
export CROQ_WARNINGS=deny
export CUDA_HOME
CUDA_HOME=$(NVCC=$nvcc scripts/ptx_toolkit.sh both)
unset NVCC CROQ_PTX_RUNTIME
cargo build --quiet -p croq-compare -p croq-ptx --bins
built=$(realpath "${CARGO_TARGET_DIR:-target}")/debug

# machine_code NAME PTX: what the ptxas of croq's kernels makes of it.
machine_code() {
  "$(dirname "$nvcc")/ptxas" -arch=sm_90a "$2" -o "$peers_out/$1.cubin"
  "$(dirname "$nvcc")/cuobjdump" -sass "$peers_out/$1.cubin" > "$peers_out/$1.sass"
  "$(dirname "$nvcc")/cuobjdump" -res-usage "$peers_out/$1.cubin" > "$peers_out/$1.usage"
}
for name in $("$built/croq-compare" list peers); do
  if [ -f "$peers_out/$name.peer" ]; then
    machine_code "$name" "$peers_out/$name.ptx"
  else
    folder=$(mktemp -d)
    (cd "$folder" && "$(dirname "$nvcc")/cuobjdump" -xptx all "$peers_out/$name.o" > /dev/null)
    machine_code "$name" "$folder"/*.ptx
    rm -r "$folder"
  fi
done

# Results are compared with f64; that these kernels have no races is what other tests show.
export CROQ_PTX_CHECKS=off
# count NAME PROGRAM ARGUMENTS…
count() {
  echo "compare: $1 on the PTX machine"
  "$built/ptx-machine" --count --json "$peers_out/$1.counts.json" "${@:2}" > "$peers_out/$1.log" || {
    tail "$peers_out/$1.log" >&2
    exit 1
  }
}
rm -f "$peers_out"/*.counts.json
for name in $("$built/croq-compare" list croq); do
  count "$name" "$built/croq-compare" run "$name"
done
for source in "$peers"/compared/*.cu; do
  name=compared_$(basename "$source" .cu)
  count "$name" "$peers_out/$name" $("$built/croq-compare" list sizes)
done
echo "compare: Triton's kernels on the PTX machine"
CROQ_PTX_PEERS=$peers_out cargo test --quiet -p croq-ptx --test peers -- --include-ignored compared

{
  "$built/croq-compare" tables "$peers_out"
  echo "### Estimates"
  echo
  "$built/croq-compare" estimate "$peers_out"
} | tee "$(dirname "$built")/compare.md"
