#!/usr/bin/env bash
# Runs tests of croq on the PTX machine, with CROQ_DEVICE=cuda, each in its own process: a kernel that
# fails makes the device unusable for its process. `ptx_run.sh run_kernels matmul` runs the tests of that
# program with `matmul` in their names; `ptx_run.sh on_gpu` runs the conformance cases. Logs of tests that
# fail are in the target folder. The last line is as cargo's.
#
# tests/run/ptx_checks.txt names tests with fewer checks.
#
#   PTX_RUN_BUILT=1      the programs are built, with a toolkit of scripts/ptx_toolkit.sh as CUDA_HOME;
#                        otherwise they are built here, which needs nvcc
#   PTX_RUN_SECONDS      the most processor time of a test (120)
#   PTX_RUN_JOBS         tests at the same time (one for each core)
#   CROQ_PTX_ARCHITECTURE=80
#                        the device is an A100; tests whose kernels need a newer GPU (R15) are ignored
set -uo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
logs=$target/ptx-run${CROQ_PTX_ARCHITECTURE:+-$CROQ_PTX_ARCHITECTURE}
times=$target/ptx-run${CROQ_PTX_ARCHITECTURE:+-$CROQ_PTX_ARCHITECTURE}.times
seconds=${PTX_RUN_SECONDS:-120}

# one PROGRAM BINARY TEST: a line in `results`.
one() {
  local program=$1 binary=$2 test=$3 status kind
  local log=$logs/$program.${test//[^A-Za-z0-9_]/.}.log
  local select=(--exact "$test")
  [ "$program" != on_gpu ] || select=(--child "$test")
  ulimit -t "$seconds"
  # Tests with fewer checks: see the file.
  local checks
  checks=$(sed -n "s/^$program $test: //p" tests/run/ptx_checks.txt)
  if [ "$checks" = none ]; then
    echo "ignored $program $test" >> "$logs/results"
    return
  fi
  [ -z "$checks" ] || export CROQ_PTX_CHECKS=$checks
  local start=$EPOCHREALTIME
  # Time of the processor does not depend on what else is running; a program that waits uses none.
  CROQ_DEVICE=cuda timeout $((seconds * 10)) "$binary" "${select[@]}" > "$log" 2>&1 < /dev/null
  status=$?
  # Milliseconds, for the order of the next run.
  echo "$(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 1000)) $program $test" >> "$logs/times"
  case $status in
    0)
      kind=ok
      ! grep -q '; 1 ignored;' "$log" || kind=ignored
      rm "$log"
      ;;
    # Killed: by `timeout`, or by a signal, SIGXCPU or SIGKILL, of the limit.
    124 | 137 | 152) kind=time-out ;;
    *)
      kind=failed
      if [ "${CROQ_PTX_ARCHITECTURE:-}" = 80 ] && grep -q 'needs sm_[0-9]*, its text here is for sm_80 \[R15\]' "$log"; then
        kind=ignored
        rm "$log"
      fi
      ;;
  esac
  printf '%s %s %s %s\n' "$kind" "$program" "$test" \
    "$([ ! -e "$log" ] || grep -m 1 -E '^PTX machine|panicked|^[A-Za-z].*error' "$log")" >> "$logs/results"
}
if [ "${1:-}" = --one ]; then
  shift
  one "$@"
  exit 0
fi

programs=${1:-run_kernels run_features run_as_written report on_gpu}
filter=${2:-}
# What tests of other devices may have set.
[ "${CROQ_PTX_RUNTIME:-}" != off ] || unset CROQ_PTX_RUNTIME
if [ -z "${PTX_RUN_BUILT:-}" ]; then
  toolkit=$(scripts/ptx_toolkit.sh) || exit 1
fi
rm -rf "$logs"
mkdir -p "$logs"
: > "$logs/results"
: > "$logs/tests"

package() {
  case $1 in
    on_gpu) echo croq-conformance ;;
    report) echo croq-report ;;
    run_kernels) echo croq-kernel-tests ;;
    *) echo croq-tests ;;
  esac
}
# The executable of a program: the newest, because builds with other features are there, too.
executable() {
  find "$target/debug/deps" -name "$1-*" -executable -type f -printf '%T@ %p\n' | sort -n | sed -n '$s/^[^ ]* //p'
}

for program in $programs; do
  if [ -z "${PTX_RUN_BUILT:-}" ]; then
    CUDA_HOME=$toolkit NVCC= CROQ_CUDA=required cargo test --quiet -p "$(package "$program")" --test "$program" --no-run || exit 1
  fi
  binary=$(executable "$program")
  if [ -z "$binary" ]; then
    echo "ptx_run: $program is not built" >&2
    exit 1
  fi
  list=$("$binary" --list --format terse 2> /dev/null | sed -n 's/: test$//p' | grep -F -- "$filter")
  # A line of the file for a test that does not exist says nothing.
  if [ -z "$filter" ]; then
    for test in $(sed -n "s/^$program \(.*\): .*/\1/p" tests/run/ptx_checks.txt); do
      grep -qxF -- "$test" <<< "$list" || echo "failed $program $test: only in tests/run/ptx_checks.txt" >> "$logs/results"
    done
  fi
  for test in $list; do echo "$program $binary $test"; done >> "$logs/tests"
done
# The longest first, so that no core is left with one at the end: by the times of the last run, and tests
# that it did not have before all others.
touch "$times"
awk 'FILENAME == ARGV[1] { known[$2 " " $3] = $1; next }
  { time = known[$1 " " $3]; print (time == "" ? 1e9 : time), $0 }' "$times" "$logs/tests" |
  sort -s -k 1,1nr | cut -d ' ' -f 2- | tr ' \n' '\0\0' |
  xargs -0 -r -n 3 -P "${PTX_RUN_JOBS:-$(nproc)}" scripts/ptx_run.sh --one
touch "$logs/times"
awk '!seen[$2 " " $3]++' "$logs/times" "$times" > "$times.new" && mv "$times.new" "$times"

passed=$(grep -c '^ok ' "$logs/results")
ignored=$(grep -c '^ignored ' "$logs/results")
failed=$(grep -Evc '^(ok|ignored) ' "$logs/results")
grep -Ev '^(ok|ignored) ' "$logs/results" | sed 's/^/PTX machine: /'
[ "$failed" -eq 0 ] && word=ok || word=FAILED
echo "logs in $logs"
echo "test result: $word. $passed passed; $failed failed; $ignored ignored; 0 measured; 0 filtered out; finished in $SECONDS.00s"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
