#!/usr/bin/env bash
# make.sh FOLDER LIBRARY [ptx|both]: lays out a folder like a CUDA toolkit, with which programs run on
# the PTX machine. LIBRARY is the shared library of croq-ptx-runtime. Programs contain PTX in place of
# machine code, or `both`. The real toolkit is that of $NVCC, or $CUDA_HOME, or /usr/local/cuda.
set -euo pipefail

folder=$1
library=$(realpath "$2")
code=${3:-ptx}
here=$(cd "$(dirname "$0")" && pwd)
nvcc=$(realpath "${NVCC:-${CUDA_HOME:-/usr/local/cuda}/bin/nvcc}")
# That of a folder which this script has made is the one that the folder is for.
[ ! -e "$(dirname "$nvcc")/nvcc-of-toolkit" ] || nvcc=$(realpath "$(dirname "$nvcc")/nvcc-of-toolkit")
real=$(dirname "$(dirname "$nvcc")")

# A file that has not changed keeps its time: croq-build compiles again when nvcc is newer.
place() {
  if ! cmp -s "$1" "$2"; then mv "$1" "$2"; else rm "$1"; fi
}

mkdir -p "$folder/bin" "$folder/lib64"
ln -sfn "$real/include" "$folder/include"
[ ! -d "$real/nvvm" ] || ln -sfn "$real/nvvm" "$folder/nvvm"
# Tools that are looked for beside nvcc.
for tool in cuobjdump nvdisasm; do
  [ ! -e "$real/bin/$tool" ] || ln -sfn "$real/bin/$tool" "$folder/bin/$tool"
done
ln -sfn "$nvcc" "$folder/bin/nvcc-of-toolkit"
sed "s|@NVCC@|$nvcc|g; s|@CODE@|$code|g" "$here/nvcc.sh" > "$folder/bin/nvcc.new"
chmod +x "$folder/bin/nvcc.new"
place "$folder/bin/nvcc.new" "$folder/bin/nvcc"

object=$(mktemp --suffix=.o)
trap 'rm -f "$object"' EXIT
"${CC:-cc}" -std=c11 -O1 -fPIC -Wall -Wextra -Werror -Wno-pedantic -I"$real/include" \
  "-DCROQ_PTX_LIBRARY=\"$library\"" -c "$here/cudart.c" -o "$object"
rm -f "$folder/lib64/new.a"
"${AR:-ar}" Dcrs "$folder/lib64/new.a" "$object"
place "$folder/lib64/new.a" "$folder/lib64/libcudart_static.a"
