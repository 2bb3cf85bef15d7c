#!/usr/bin/env bash
# Compiles kernels/, tests/run and the device-API conformance texts to PTX for sm_90a, and writes the
# table of all instruction forms to tests/ptx/census.md, and an instruction of each form to
# tests/ptx/census.ptx, which a test decodes. `ptx_census.sh kernels/co/elementwise` takes
# the .co files of those folders only, and prints the table. Needs nvcc: $NVCC, or $CUDA_HOME/bin/nvcc,
# or what `make setup` installs.
# PTX is kept in the target folder, and compiled again only where its text has changed.
set -euo pipefail
cd "$(dirname "$0")/.."

nvcc=${NVCC:-${CUDA_HOME:-$PWD/.croq/cuda}/bin/nvcc}
if [ ! -x "$nvcc" ]; then
  echo "ptx-census: no nvcc; set NVCC or CUDA_HOME" >&2
  exit 1
fi
target=${CARGO_TARGET_DIR:-target}
out=$target/ptx-census
mkdir -p "$out"
CROQ_CUDA=off cargo build --quiet -p croq-build --bin croq
CROQ_CUDA=off cargo build --quiet -p croq-ptx

failed=0
files=()

# ptx NAME TEXT FOLDER…: the PTX of a CUDA text, with folders for its headers.
ptx() {
  local name=$1 text=$2 folders=()
  shift 2
  for folder in croq-build/device croq-build/device/foreign "$@"; do folders+=(-I "$folder"); done
  files+=("$out/$name.ptx")
  if [ "$out/$name.ptx" -nt "$text" ] && cmp -s "$text" "$out/$name.text"; then return; fi
  if nice -n 10 "$nvcc" -x cu -std=c++17 -O1 -lineinfo -DCROQ_CUDA=1 -DCROQ_CUDA_TABLE=census \
    -arch=compute_90a -ptx "${folders[@]}" "$text" -o "$out/$name.ptx" 2> "$out/$name.log"; then
    cp "$text" "$out/$name.text"
  else
    echo "ptx-census: $text does not compile, see $out/$name.log" >&2
    rm -f "$out/$name.ptx"
    unset 'files[-1]'
    failed=$((failed + 1))
  fi
}

# co FILE ROOT OPTION…: what croq emits from a .co file.
co() {
  local file=$1 root=$2 name folder
  shift 2
  name=$(echo "${file%.co}" | tr '/.' '__')
  folder=$out/$name
  mkdir -p "$folder"
  # Programs that are wrong on purpose have no text.
  if ! "$target/debug/croq" emit "$@" --line-directives "$file" > "$folder/text.new" 2> "$folder/log"; then
    echo "ptx-census: croq refuses $file, see $folder/log" >&2
    failed=$((failed + 1))
    return
  fi
  "$target/debug/croq" emit "$@" --header "$file" > "$folder/$(basename "${file%.co}").h" 2>> "$folder/log"
  cmp -s "$folder/text.new" "$folder/text.cc" || cp "$folder/text.new" "$folder/text.cc"
  ptx "$name" "$folder/text.cc" "$folder" "$(dirname "$file")" "$root"
}

if [ $# -gt 0 ]; then
  for file in $(find "$@" -name '*.co' | sort); do co "$file" "$(dirname "$file")"; done
  "$target/debug/ptx-machine" census "${files[@]}"
  exit $((failed > 0))
fi

for file in $(find kernels/co -name '*.co' | sort); do co "$file" kernels/co; done
for file in $(find tests/run -name '*.co' | sort); do
  co "$file" tests/run --device-namespace written::device
done
conformance=croq-sys/conformance/cpp
ptx conformance "$conformance/everything.cc" "$conformance"
# A sample: all widths take five minutes, and differ in their numbers of registers only.
sed 's/^\(#define CONF_WARPGROUP_PRODUCTS(each)\).*/\1 CONF_ALL(each, 8) CONF_FLOATS(each, 40) CONF_ALL(each, 128)\n#define CONF_OTHER_WIDTHS(each) \\/' \
  "$conformance/wgmma.cc" > "$out/wgmma.cc"
ptx conformance_wgmma "$out/wgmma.cc" "$conformance"

{
  echo "# Instruction forms"
  echo
  echo "Of the PTX that $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/nvcc \1/p') makes for sm_90a of kernels/, tests/run and the conformance texts"
  echo "(of WGMMA three widths of 32). Written by \`make ptx-census\`. An instruction that is not implemented"
  echo "is refused by name when a thread executes it. The last column is the number of kernels of other"
  echo "projects that executed the form and gave right results (\`make ptx-peers\`): a form without one has"
  echo "only our own reading of the ISA as its witness."
  echo
  "$target/debug/ptx-machine" census --peers tests/ptx/peers/forms.txt \
    --examples tests/ptx/census.ptx "${files[@]}"
} > tests/ptx/census.md
sed -n 9p tests/ptx/census.md
[ "$failed" -eq 0 ] || echo "ptx-census: $failed files are missing" >&2
