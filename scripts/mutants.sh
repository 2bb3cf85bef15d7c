#!/usr/bin/env bash
# Tests that accepted programs build, with both compilers: kernels/, tests/run and accepted mutants.
#
#   scripts/mutants.sh [SEED [MUTANTS [KEPT]]]
#
# All files remain in target/mutants. The last line is `mutants: N findings`.
#
#   scripts/mutants.sh renew SEED COUNT
#
# writes tests/run/mutants.co, which `make test` builds: COUNT accepted mutants of single functions.
set -uo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
CARGO_TARGET_DIR=$target/fuzz cargo build --quiet --release --manifest-path fuzz/Cargo.toml --bin attack || exit 1
attack=$target/fuzz/release/attack

# sources FOLDER…: programs that are mutated.
sources() {
  find "$@" -name '*.co' -size -64k -not -path '*/target/*' -not -name mutants.co | sort
}

if [ "${1:-}" = renew ]; then
  mapfile -t files < <(sources kernels tests/run)
  exec "$attack" functions "${2:-1}" "${3:-60}" tests/run/mutants.co "${files[@]}"
fi

seed=${1:-1} mutants=${2:-2000} kept=${3:-1000}
out=$target/mutants
findings=0
# Warnings of mutants are allowed.
unset CROQ_WARNINGS
export CROQ_CUDA=${CROQ_CUDA:-required}

echo "== kernels and run tests are built"
cargo build --quiet --package croq-kernels --package croq-tests || findings=$((findings + 1))

echo "== mutants"
mapfile -t files < <(sources kernels tests examples)
"$attack" mutants "$seed" "$mutants" "$kept" "$out/checked" "${files[@]}" || findings=$((findings + 1))

echo "== accepted mutants are built"
scripts/build_accepted.sh "$attack" "$out/checked/accepted" "$out/build" "$target"
findings=$((findings + $?))

echo "mutants: $findings findings"
[ "$findings" -eq 0 ]
