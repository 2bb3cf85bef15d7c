#!/usr/bin/env bash
# Tests the guarantees of docs/safety.md with random programs. All choices are seeded, so that a
# finding can be reproduced.
#
#   scripts/attack.sh [SEED [MUTANTS [BUILT [RUN [PROBES]]]]]
#
# 1. MUTANTS mutated programs of kernels/, tests/run, tests/ui and tests/safety go through every pure stage:
#    no panic, at most 2 s and 500 MB each.
# 2. BUILT of the accepted ones are built: a program that `check` accepts must build.
# 3. RUN mutated kernels of tests/safety are built, and called from a crate that forbids unsafe code, each in
#    its own process under three schedules: no crash, no hang, and the same `Ok`, or an `Err` with a line.
#    ATTACK_SANITIZE=1 builds their C++ side with AddressSanitizer.
# 4. PROBES names are used in every position of a program.
# 5. RUN kernels with random chains of view operators are called with numbers in and out of range: each access
#    outside of a buffer fails a check of the compiler's own.
# 6. RUN random programs compute what the same programs in Rust do, on the simulated GPU and on the PTX machine.
# 7. The run tests and the kernels' tests pass with nine other orders of threads and blocks.
#
# All files remain in target/attack. The last line is `attack: N findings`.
set -uo pipefail
cd "$(dirname "$0")/.."
seed=${1:-1} mutants=${2:-20000} built=${3:-300} runs=${4:-300} probes=${5:-5000}
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/attack
export CROQ_CUDA=off
# Warnings of mutants are allowed.
unset CROQ_WARNINGS
findings=0
found() {
  echo "finding: $*"
  findings=$((findings + 1))
}

mkdir -p "$out"
CARGO_TARGET_DIR=$target/fuzz cargo build --quiet --release --manifest-path fuzz/Cargo.toml --bin attack || exit 1
attack=$target/fuzz/release/attack

echo "== mutants"
mapfile -t sources < <(find kernels tests examples -name '*.co' -size -64k -not -path '*/target/*' | sort)
"$attack" mutants "$seed" "$mutants" "$built" "$out/mutants" "${sources[@]}" || found "mutants: see above"

echo "== accepted mutants are built"
scripts/build_accepted.sh "$attack" "$out/mutants/accepted" "$out/build" "$target"
findings=$((findings + $?))

echo "== mutated kernels are called"
rm -rf "$out/run" && mkdir -p "$out/run"
cp -r tests/safety/build.rs tests/safety/src "$out/run/"
scripts/package.sh "$out/run" croq-safety
mkdir -p "$out/run/co"
"$attack" kernels "$seed" "$runs" "$out/run/co/wrong.co" tests/safety/co/right.co tests/safety/co/wrong.co || found "no kernels"
: >"$out/run/co/right.co"
flags=() preload=()
if [ -n "${ATTACK_SANITIZE:-}" ]; then
  # rustc links with -nodefaultlibs, so the sanitizer's library must be named.
  flags=(CXXFLAGS="-fsanitize=address -fno-omit-frame-pointer" RUSTFLAGS="-Clink-arg=-lasan"
    ASAN_OPTIONS="detect_leaks=0:detect_stack_use_after_return=0:abort_on_error=1:verify_asan_link_order=0")
  # It must be loaded before all other libraries.
  preload=(LD_PRELOAD="$("${CXX:-c++}" -print-file-name=libasan.so)")
fi
if env "${flags[@]}" CARGO_TARGET_DIR="$target/attack-run" cargo build --quiet --manifest-path "$out/run/Cargo.toml" >"$out/run.log" 2>&1; then
  program=$target/attack-run/debug/croq-safety
  called=0
  for name in $(env "${flags[@]}" "${preload[@]}" "$program" --list | sed -n 's/^\([^ ]*\) .* errors=$/\1/p'); do
    called=$((called + 1))
    first=
    for kernel_seed in 0 1 2; do
      result=$(env "${flags[@]}" "${preload[@]}" CROQ_DEVICE=sim CROQ_SIM_SEED=$kernel_seed timeout 60 "$program" "$name" 2>"$out/run/stderr")
      status=$?
      if [ $status -eq 124 ]; then
        found "$name hangs with seed $kernel_seed ($out/run/co/wrong.co)"
        break
      elif [ $status -ne 0 ]; then
        found "$name ends with status $status, seed $kernel_seed ($out/run/co/wrong.co)"
        tail -n 3 "$out/run/stderr"
        break
      fi
      case "$result" in
        *": ok"*) summary=$result ;;
        *) summary=error ;;
      esac
      # The results of atomic operations may depend on the order of blocks.
      if [ -n "$first" ] && [ "$first" != "$summary" ] && ! sed -n "/ $name(/,/^}/p" "$out/run/co/wrong.co" | grep -q atomic; then
        found "$name depends on the schedule and is not reported ($out/run/co/wrong.co)"
        break
      fi
      first=$summary
    done
  done
  echo "$called mutated kernels called"
  [ "$called" -gt 0 ] || found "no mutated kernel could be called"
else
  tail -n 20 "$out/run.log"
  found "mutated kernels do not build: $out/run.log"
fi

echo "== names"
CROQ_PROBES=$probes CROQ_SEED=$seed cargo test --quiet -p croq-downstream --test name_probes -- --ignored attack || found "names"

echo "== chains of view operators"
CARGO_TARGET_DIR=$target cargo build --quiet -p croq-build --bin croq || exit 1
for checks in All Report; do
  chains=$out/chains-$checks
  rm -rf "$chains" && mkdir -p "$chains/kernels"
  scripts/package.sh "$chains" "tile-chains-${checks,,}"
  echo "fn main() { croq_build::Config::new().checks(croq_build::Checks::$checks).compile(\"kernels/\"); }" >"$chains/build.rs"
  if python3 scripts/tile_chains.py "$seed$checks" "$runs" "$target/debug/croq" "$chains" &&
    CARGO_TARGET_DIR=$target cargo build --quiet --manifest-path "$chains/Cargo.toml" >"$chains/log" 2>&1 &&
    CROQ_DEVICE=sim CROQ_SIM_STEPS=1000000 timeout 600 "$target/debug/tile-chains-${checks,,}" >"$chains/out" 2>>"$chains/log"; then
    grep -c called "$chains/out" | sed 's/$/ calls/'
    outside=$(grep -v '^called$' "$chains/out") && {
      found "accesses outside without a check of the compiler ($chains/kernels/chains.co)"
      head -n 5 <<<"$outside"
    }
  else
    found "chains of view operators: $chains/log"
  fi
done

echo "== random programs"
scripts/random_programs.sh "$seed" "$runs" || found "random programs: see above"

echo "== other orders of threads and blocks"
for order in 1 2 3 4 5 6 7 8 9; do
  CROQ_SIM_SEED=$order cargo test --quiet -p croq-tests -p croq-kernel-tests --test run_features --test run_as_written --test run_kernels >"$out/order.log" 2>&1 ||
    {
      found "run tests with CROQ_SIM_SEED=$order"
      grep -E 'FAILED|panicked' "$out/order.log" | head -n 5
      cp "$out/order.log" "$out/order-$order.log"
    }
done

echo "attack: $findings findings"
[ "$findings" -eq 0 ]
