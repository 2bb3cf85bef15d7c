#!/usr/bin/env bash
# Runs the run tests of croq on the PTX machine, with CROQ_DEVICE=cuda, each in its own process: a kernel
# that fails makes the device unusable for its process. `ptx_run.sh run_kernels matmul` runs the tests of
# that program with `matmul` in their names. Logs of tests that fail are in the target folder. Needs nvcc.
set -uo pipefail
cd "$(dirname "$0")/.."

programs=${1:-run_kernels run_features run_as_written}
filter=${2:-}
toolkit=$(scripts/ptx_toolkit.sh) || exit 1
target=${CARGO_TARGET_DIR:-target}
logs=$target/ptx-run
mkdir -p "$logs"
build() { CUDA_HOME=$toolkit NVCC= CROQ_CUDA=required cargo test --quiet -p croq-tests "$@"; }

passed=0 failed=0
for program in $programs; do
  build --test "$program" --no-run || exit 1
  list=$(build --test "$program" -- --list --format terse 2> /dev/null | sed -n 's/: test$//p' | grep -F -- "$filter")
  binary=$(find "$target/debug/deps" -name "$program-*" -executable -type f -printf '%T@ %p\n' | sort -n | sed -n '$s/^[^ ]* //p')
  for test in $list; do
    log=$logs/$program.${test//::/.}.log
    if CROQ_DEVICE=cuda timeout "${PTX_RUN_SECONDS:-300}" "$binary" --exact "$test" > "$log" 2>&1; then
      passed=$((passed + 1))
      rm "$log"
    else
      failed=$((failed + 1))
      echo "$program $test: $(grep -m 1 -E '^PTX machine|panicked|^[A-Za-z].*error' "$log" || echo 'see its log')"
    fi
  done
done
echo "$passed passed, $failed failed; logs in $logs"
[ "$failed" -eq 0 ]
