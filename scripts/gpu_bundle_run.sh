#!/bin/sh
# Runs every test of the bundle on this machine's GPU, each in a process of its own (a kernel that
# traps takes its process's GPU context with it); then all of them once more on the simulated GPU, and
# under compute-sanitizer where that is installed. Leaves results.json; the last line is
# `N passed, N failed, N skipped`. Arguments: only tests whose names contain one of them.
cd "$(dirname "$0")" || exit 1
filters=$*
commit=$(cat commit)
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
present=no
[ -n "$gpu" ] || [ -e /dev/nvidia0 ] && present=yes
echo "croq $commit on ${gpu:-no GPU that nvidia-smi knows}"

passed=0 failed=0 skipped=0 separator=
log=$(mktemp)
trap 'rm -f "$log"' EXIT
printf '{"commit": "%s", "gpu": "%s", "results": [' "$commit" "$gpu" > results.json

# record PROGRAM TEST DEVICE OUTCOME
record() {
  case $4 in
    passed) passed=$((passed + 1)) ;;
    skipped) skipped=$((skipped + 1)) ;;
    *) failed=$((failed + 1))
       echo "---- $1 $2 on $3"
       cat "$log" ;;
  esac
  printf '%s\n  {"program": "%s", "test": "%s", "device": "%s", "outcome": "%s"}' \
    "$separator" "$1" "$2" "$3" "$4" >> results.json
  separator=,
}

wanted() {
  [ -z "$filters" ] && return 0
  for filter in $filters; do
    case "$1" in *"$filter"*) return 0 ;; esac
  done
  return 1
}

# round DEVICE COMMAND-PREFIX…: every wanted test by itself
round() {
  device=$1
  shift
  for program in bin/*; do
    for test in $("$program" --list 2>/dev/null | sed -n 's/: test$//p'); do
      wanted "$test" || continue
      if [ "$device" != sim ] && [ "$present" = no ]; then
        record "${program#bin/}" "$test" "$device" skipped
      elif CROQ_DEVICE=${device%%-*} "$@" "$program" --exact "$test" > "$log" 2>&1; then
        record "${program#bin/}" "$test" "$device" passed
      else
        record "${program#bin/}" "$test" "$device" failed
      fi
    done
  done
}

round cuda
round sim
if command -v compute-sanitizer > /dev/null && [ "$present" = yes ]; then
  for tool in memcheck racecheck synccheck; do
    round "cuda-$tool" compute-sanitizer --tool "$tool" --error-exitcode 9
  done
else
  echo "compute-sanitizer: not run"
fi
printf '\n], "passed": %d, "failed": %d, "skipped": %d}\n' "$passed" "$failed" "$skipped" >> results.json
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
