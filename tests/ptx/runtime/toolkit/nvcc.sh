#!/usr/bin/env bash
# nvcc of the test toolkit: the real one, which embeds PTX in place of machine code, or beside it.
# `@NVCC@` is its path, `@CODE@` is `ptx` or `both`.
set -euo pipefail

# sm_90a, [sm_80,compute_80] → [compute_90a], [compute_80]; for `both` [sm_90a,compute_90a], [sm_80,compute_80]
with_ptx() {
  local list=${1#[} kept=() one
  list=${list%]}
  IFS=, read -ra all <<< "$list"
  [ "@CODE@" = ptx ] || kept=("${all[@]}")
  for one in "${all[@]}"; do
    one=${one/#sm_/compute_}
    case " ${kept[*]-} " in *" $one "*) ;; *) kept+=("$one") ;; esac
  done
  local IFS=,
  echo "[${kept[*]}]"
}

gencode() {
  local IFS=, part parts=() value=$1
  # The commas inside of the brackets separate codes, not parts.
  local arch=${value%%,code=*} code=${value#*,code=}
  echo "$arch,code=$(with_ptx "$code")"
}

of_arch() { arguments+=(-gencode "$(gencode "arch=compute_$1,code=sm_$1")"); }

# The machine code of one GPU, for tests that look at it.
case " $* " in *" --cubin "* | *" -cubin "*) exec "@NVCC@" "$@" ;; esac

arguments=()
compiles=
while [ $# -gt 0 ]; do
  case $1 in
    --version | -V | --help | -h | --dryrun | --list-gpu-arch) exec "@NVCC@" "$@" ;;
    -gencode | --generate-code) arguments+=(-gencode "$(gencode "$2")"); shift ;;
    -gencode=* | --generate-code=*) arguments+=(-gencode "$(gencode "${1#*=}")") ;;
    -arch=sm_* | --gpu-architecture=sm_*) of_arch "${1#*=sm_}" ;;
    -arch | --gpu-architecture) of_arch "${2#*_}"; shift ;;
    -code=* | --gpu-code=*) arguments+=("-code=$(with_ptx "${1#*=}")") ;;
    # Without machine code there is no ptxas.
    -Xptxas | --ptxas-options) [ "@CODE@" = ptx ] || arguments+=("$1" "$2"); shift ;;
    -Xptxas=* | --ptxas-options=*) [ "@CODE@" = ptx ] || arguments+=("$1") ;;
    -c | -dc) compiles=1; arguments+=("$1") ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
exec "@NVCC@" ${compiles:+--compress-mode=none} "${arguments[@]}"
