#!/usr/bin/env bash
# Builds accepted mutants, the files m000.co and so on of a folder, and prints those that do not
# build.
#
#   scripts/build_accepted.sh ATTACK ACCEPTED OUT TARGET
#
# The exit status is the number of findings, at most 100. CROQ_CUDA selects the targets.
set -uo pipefail
cd "$(dirname "$0")/.."
attack=$1 accepted=$2 out=$3 target=$4
findings=0
found() {
  echo "finding: $*"
  findings=$((findings + 1))
}

rm -rf "$out" && mkdir -p "$out/kernels"
scripts/package.sh "$out" accepted-mutants
echo 'fn main() { croq_build::compile("kernels/"); }' >"$out/build.rs"
printf '#![forbid(unsafe_code)]\ncroq_sys::include_kernels!();\n' >"$out/src/lib.rs"
cp "$accepted"/*.co "$out/kernels/" 2>/dev/null
while ls "$out"/kernels/*.co >/dev/null 2>&1; do
  if CARGO_TARGET_DIR=$target cargo build --quiet --manifest-path "$out/Cargo.toml" >"$out/build.log" 2>&1; then
    break
  fi
  # Each file with an error of a compiler is a finding; the others are built without it.
  mapfile -t bad < <(grep -o 'm[0-9]\{3\}\.co' "$out/build.log" | sort -u)
  grep -E '^ *(error|thread .* panicked)' "$out/build.log" | head -n 5
  if [ ${#bad[@]} -eq 0 ]; then
    found "accepted mutants do not build: $out/build.log"
    break
  fi
  mkdir -p "$out/wrong"
  for file in "${bad[@]}"; do
    [ -e "$out/kernels/$file" ] || continue
    # Errors in the file's own C++ are not findings (docs/safety.md, S12); nor are errors after one
    # in C++ that is copied unchanged, such as a `__device__` function.
    mapfile -t lines < <(grep -oE "kernels/$file:[0-9]+" "$out/build.log" | sed 's/.*://' | sort -un)
    [ ${#lines[@]} -gt 0 ] || found "an accepted mutant does not build: $out/wrong/$file, no line"
    for line in "${lines[@]}"; do
      "$attack" kept "$out/kernels/$file" "$line" && break
      "$attack" foreign "$out/kernels/$file" "$line" && continue
      found "an accepted mutant does not build: $out/wrong/$file, line $line"
    done
    mv "$out/kernels/$file" "$out/wrong/"
  done
  cp "$out/build.log" "$out/wrong/log-$findings"
done
exit $((findings < 100 ? findings : 100))
