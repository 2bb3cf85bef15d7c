#!/usr/bin/env bash
# Compiles kernels of other projects to PTX (tests/ptx/peers: Triton's compiler, CUTLASS's templates),
# and runs them on the PTX machine against f64. They are known to work on GPUs, so they test the
# machine. Needs python3 and nvcc: $NVCC, or $CUDA_HOME/bin/nvcc, or what `make setup` installs.
# Installs a gigabyte in .croq/peers. PTX is kept in the target folder, and compiled again only when
# a source or version has changed. Writes the instruction forms that they executed to
# tests/ptx/peers/forms.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

nvcc=${NVCC:-${CUDA_HOME:-.croq/cuda}/bin/nvcc}
if [ ! -x "$nvcc" ]; then
  echo "ptx-peers: no nvcc; set NVCC or CUDA_HOME" >&2
  exit 1
fi
peers=tests/ptx/peers
out=${CARGO_TARGET_DIR:-target}/ptx-peers
mkdir -p "$out"
out=$(realpath "$out")
python=.croq/peers/bin/python

# current STAMP TEXT…: whether the step with this stamp has been done for these texts.
current() {
  [ -f "$1" ] && [ "$(cat "$1")" = "${*:2}" ]
}

want=$(cat "$peers/requirements.txt")
if ! current .croq/peers/stamp "$want"; then
  echo "ptx-peers: installing into .croq/peers:" $(grep -v '^#' "$peers/requirements.txt")
  [ -x "$python" ] || python3 -m venv .croq/peers
  # Without dependencies: those of nvidia-cutlass are for its Python interface.
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$peers/requirements.txt"
  echo "$want" > .croq/peers/stamp
fi

kernels=$(cat "$peers/requirements.txt" "$peers"/*.py | sha256sum)
if ! current "$out/triton.stamp" "$kernels"; then
  # Without a cache: compiling takes seconds, and a cache would be in the user's home.
  TRITON_CACHE_DIR=$out/triton-cache TRITON_ALWAYS_COMPILE=1 TRITON_DEFAULT_FP_FUSION=1 \
    nice -n 10 "$python" -B "$peers/compile.py" "$out"
  rm -rf "$out/triton-cache"
  echo "$kernels" > "$out/triton.stamp"
fi

# CUTLASS's host code runs with the CUDA runtime of the PTX machine.
export CROQ_CUDA=off
cargo build --quiet -p croq-ptx -p croq-ptx-runtime
toolkit=$out/toolkit
NVCC=$nvcc tests/ptx/runtime/toolkit/make.sh "$toolkit" "$out/../debug/libcroq_ptx_runtime.so"
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
headers=$site/cutlass_library/source/include
for source in "$peers"/*.cu; do
  name=$(basename "$source" .cu)
  text=$(cat "$peers/requirements.txt" "$source" "$peers"/*.h | sha256sum; "$nvcc" --version | tail -1)
  if ! current "$out/$name.stamp" "$text"; then
    echo "ptx-peers: nvcc compiles $name, which takes a minute"
    nice -n 10 "$toolkit/bin/nvcc" -std=c++17 --expt-relaxed-constexpr -diag-suppress 20012 -lineinfo \
      -arch=sm_90a -c -I "$headers" "$source" -o "$out/$name.o"
    echo "$text" > "$out/$name.stamp"
  fi
  c++ "$out/$name.o" "$toolkit/lib64/libcudart_static.a" -pthread -o "$out/$name"
done

rm -f "$out"/*.forms
CROQ_PTX_PEERS=$out cargo test -p croq-ptx --test peers -- --include-ignored

# All of them gave right results, so they are witnesses for the forms that they executed.
for forms in "$out"/*.forms; do
  sed "s/$/: $(basename "$forms" .forms)/" "$forms"
done | LC_ALL=C sort | awk -F ': ' '
  $1 != form { if (form) print form ": " names; form = $1; names = $2; next }
  { names = names " " $2 }
  END { print form ": " names }' > "$peers/forms.txt"
echo "ptx-peers: $(wc -l < "$peers/forms.txt") forms in $peers/forms.txt"
