#!/usr/bin/env bash
# Runs kernels of other projects (tests/ptx/peers) on the PTX machine against f64. They are known to
# work on GPUs, so they test the machine. scripts/peers.sh says what it needs and installs. Writes the
# instruction forms that they executed to tests/ptx/peers/forms.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/peers.sh
install_peers
compile_triton
# CUTLASS's host code runs with the CUDA runtime of the PTX machine.
export CROQ_CUDA=off
toolkit=$(NVCC=$nvcc scripts/ptx_toolkit.sh)
compile_cutlass "$toolkit" "" "$peers"/*.cu

rm -f "$peers_out"/*.forms
CROQ_PTX_PEERS=$peers_out cargo test -p croq-ptx --test peers -- --include-ignored --skip compared

# All of them gave right results, so they are witnesses for the forms that they executed.
for forms in "$peers_out"/*.forms; do
  sed "s/$/: $(basename "$forms" .forms)/" "$forms"
done | LC_ALL=C sort | awk -F ': ' '
  $1 != form { if (form) print form ": " names; form = $1; names = $2; next }
  { names = names " " $2 }
  END { print form ": " names }' > "$peers/forms.txt"
echo "ptx-peers: $(wc -l < "$peers/forms.txt") forms in $peers/forms.txt"
