# Sourced by scripts that compile kernels of other projects (tests/ptx/peers: Triton's compiler,
# CUTLASS's templates) to PTX, from the top of the repository. Needs python3 and nvcc: $NVCC, or
# $CUDA_HOME/bin/nvcc, or what `make setup` installs. Installs a gigabyte in .croq/peers. PTX is kept
# in the target folder, and compiled again only when a source or version has changed.

peers=tests/ptx/peers
python=.croq/peers/bin/python
nvcc=${NVCC:-${CUDA_HOME:-$PWD/.croq/cuda}/bin/nvcc}
if [ ! -x "$nvcc" ]; then
  echo "peers: no nvcc; set NVCC or CUDA_HOME" >&2
  exit 1
fi
mkdir -p "${CARGO_TARGET_DIR:-target}/ptx-peers"
peers_out=$(realpath "${CARGO_TARGET_DIR:-target}/ptx-peers")

# current STAMP TEXT…: whether the step with this stamp has been done for these texts.
current() {
  [ -f "$1" ] && [ "$(cat "$1")" = "${*:2}" ]
}

install_peers() {
  local want
  want=$(cat "$peers/requirements.txt")
  current .croq/peers/stamp "$want" && return
  echo "peers: installing into .croq/peers:" $(grep -v '^#' "$peers/requirements.txt")
  [ -x "$python" ] || python3 -m venv .croq/peers
  # Without dependencies: those of nvidia-cutlass are for its Python interface.
  "$python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$peers/requirements.txt"
  echo "$want" > .croq/peers/stamp
}

compile_triton() {
  local kernels
  kernels=$(cat "$peers/requirements.txt" "$peers"/*.py | sha256sum)
  current "$peers_out/triton.stamp" "$kernels" && return
  # Without a cache: compiling takes seconds, and a cache would be in the user's home.
  TRITON_CACHE_DIR=$peers_out/triton-cache TRITON_ALWAYS_COMPILE=1 TRITON_DEFAULT_FP_FUSION=1 \
    nice -n 10 "$python" -B "$peers/compile.py" "$peers_out"
  rm -rf "$peers_out/triton-cache"
  echo "$kernels" > "$peers_out/triton.stamp"
}

# compile_cutlass TOOLKIT FLAGS SOURCE…: programs, whose CUDA runtime is that of the PTX machine.
compile_cutlass() {
  local toolkit=$1 flags=$2 site headers source name text
  site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  headers=$site/cutlass_library/source/include
  for source in "${@:3}"; do
    name=$(basename "$(dirname "$source")")_$(basename "$source" .cu)
    name=${name#peers_}
    text=$(cat "$peers/requirements.txt" "$source" "$peers"/*.h | sha256sum; "$nvcc" --version | tail -1; echo "$flags")
    if ! current "$peers_out/$name.stamp" "$text"; then
      echo "peers: nvcc compiles $name, which takes a minute"
      nice -n 10 "$toolkit/bin/nvcc" -std=c++17 -O2 --expt-relaxed-constexpr -diag-suppress 20012 -lineinfo \
        $flags -arch=sm_90a -c -I "$headers" "$source" -o "$peers_out/$name.o"
      echo "$text" > "$peers_out/$name.stamp"
    fi
    "${CXX:-c++}" "$peers_out/$name.o" "$toolkit/lib64/libcudart_static.a" -pthread -o "$peers_out/$name"
  done
}
