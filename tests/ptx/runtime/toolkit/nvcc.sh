#!/usr/bin/env bash
# nvcc of the test toolkit: the real one, which keeps PTX where it would make machine code. `@NVCC@` is
# its path.
set -euo pipefail

# sm_90a, [sm_80,compute_80] → compute_90a, [compute_80]
ptx_only() {
  local list=${1#[} kept=() one
  list=${list%]}
  IFS=, read -ra all <<< "$list"
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
  echo "$arch,code=$(ptx_only "$code")"
}

arguments=()
compiles=
while [ $# -gt 0 ]; do
  case $1 in
    --version | -V | --help | -h | --dryrun | --list-gpu-arch) exec "@NVCC@" "$@" ;;
    -gencode | --generate-code) arguments+=(-gencode "$(gencode "$2")"); shift ;;
    -gencode=* | --generate-code=*) arguments+=(-gencode "$(gencode "${1#*=}")") ;;
    -arch=sm_* | --gpu-architecture=sm_*) arch=${1#*=sm_}; arguments+=(-gencode "arch=compute_$arch,code=compute_$arch") ;;
    -arch | --gpu-architecture) arch=${2#*_}; arguments+=(-gencode "arch=compute_$arch,code=compute_$arch"); shift ;;
    -code=* | --gpu-code=*) arguments+=("-code=$(ptx_only "${1#*=}")") ;;
    # There is no ptxas.
    -Xptxas | --ptxas-options) shift ;;
    -Xptxas=* | --ptxas-options=*) ;;
    -c | -dc) compiles=1; arguments+=("$1") ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
exec "@NVCC@" ${compiles:+--compress-mode=none} "${arguments[@]}"
