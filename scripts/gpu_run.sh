#!/usr/bin/env bash
# Usage: ./run [STEP…]: executes the given steps in this order, or all:
#   conformance  the device API against the simulated GPU, bit for bit
#   tests        each run test in its own process
#   sim          the same on the simulated GPU of this machine
#   sanitizers   the run tests under compute-sanitizer, if that is installed
#   benchmarks   compared with PyTorch, if that is installed
# RUN_FILTER=text: of the run tests only those with that text in their names.
# RUN_SLOWER=n: all time limits times n, for machines that are slower than a GPU. RUN_SMALL=1: benchmarks
# of a few small sizes, which only shows that they run.
# Writes results.json and logs/; the last line is `N passed, N failed, N skipped`. Exit status: 0
# all passed, 1 some failed or there were none, 2 there is no GPU, 3 wrong usage.
cd "$(dirname "$0")" || exit 1
steps=${*:-conformance tests sim sanitizers benchmarks}
for step in $steps; do
  case $step in
    conformance | tests | sim | sanitizers | benchmarks) ;;
    *)
      echo "run: there is no step '$step', but conformance, tests, sim, sanitizers and benchmarks" >&2
      exit 3
      ;;
  esac
done
asked() { case " $steps " in *" $1 "*) true ;; *) false ;; esac }
for packed in bin/*.gz; do
  [ ! -e "$packed" ] || gunzip "$packed" || exit 1
done
if ldd bin/on_gpu 2> /dev/null | grep -q 'not found'; then
  export LD_LIBRARY_PATH="$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
mkdir -p logs
rm -f results.json benchmarks.json torch.txt
passed=0 failed=0 skipped=0 rows=""
tests="run_kernels run_features run_as_written"
slower=${RUN_SLOWER:-1}

names() { "bin/$1" --list --format terse | sed -n 's/: test$//p' | grep -F -- "${RUN_FILTER:-}"; }

count() { # NAME PASSED FAILED SKIPPED
  passed=$((passed + $2)) failed=$((failed + $3)) skipped=$((skipped + $4))
  rows="$rows${rows:+,}{\"name\":\"$1\",\"passed\":$2,\"failed\":$3,\"skipped\":$4}"
  echo "$1: $2 passed, $3 failed, $4 skipped"
}

finish() {
  local benchmarks=null
  [ -f benchmarks.json ] && benchmarks=$(cat benchmarks.json)
  printf '{"commit":"%s","date":"%s","gpu":%s,"results":[%s],"benchmarks":%s}\n' \
    "$(paste -sd ' ' commit)" "$(date -u +%FT%TZ)" "$1" "$rows" "$benchmarks" > results.json
  echo "$passed passed, $failed failed, $skipped skipped"
}

# whole NAME SECONDS COMMAND…: a program that counts its own tests.
whole() {
  local name=$1 seconds=$2 status sum
  shift 2
  timeout $((seconds * slower)) "$@" > "logs/$name.log" 2>&1
  status=$?
  sum=$(sed -n 's/^test result: [A-Za-z]*\. \([0-9]*\) passed; \([0-9]*\) failed; \([0-9]*\) ignored.*/\1 \2 \3/p' \
    "logs/$name.log" | tail -n 1)
  read -r ok bad left <<< "${sum:-0 0 0}"
  # A crash, a hang, or a sanitizer's finding in tests that passed.
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  count "$name" "$ok" "$bad" "$left"
  [ "$bad" -eq 0 ] || tail -n 20 "logs/$name.log"
}

# each PROGRAM: every test in its own process, because a failed check ends a CUDA context. Several
# run in parallel, because most of their time is the creation of a context.
each() {
  local program=$1 folder="logs/$1" all bad
  rm -rf "$folder"
  mkdir -p "$folder"
  names "$program" > "$folder/names"
  # shellcheck disable=SC2016 — for the inner shell
  xargs -P "$(($(nproc) < 8 ? $(nproc) : 8))" -I '{}' sh -c '
    timeout "$4" "bin/$1" --exact "$3" > "$2/$3" 2>&1 < /dev/null || echo "$3"
  ' each "$program" "$folder" '{}' $((120 * slower)) < "$folder/names" > "$folder/failed"
  while read -r test; do
    echo "$program: $test failed"
    tail -n 5 "$folder/$test"
  done < "$folder/failed"
  all=$(wc -l < "$folder/names")
  bad=$(wc -l < "$folder/failed")
  count "$program" "$((all - bad))" "$bad" 0
}

if ! gpu=$(bin/on_gpu --probe 2>&1); then
  echo "$gpu"
  echo "Nothing was run: these programs are for a machine with a GPU and its driver."
  for program in $tests; do
    count "$program" 0 0 "$(names "$program" | wc -l)"
  done
  count on_gpu 0 0 "$(bin/on_gpu | grep -c 'ignored, no GPU$')"
  finish null
  exit 2
fi
echo "on $gpu"

if asked conformance; then
  whole on_gpu 300 bin/on_gpu --require-gpu
fi
export CROQ_DEVICE=cuda
for program in $tests; do
  if asked tests; then each "$program"; fi
done
for program in $tests; do
  if asked sim; then whole "$program-sim" 300 env CROQ_DEVICE=sim "bin/$program" ${RUN_FILTER:+"$RUN_FILTER"}; fi
done
for tool in memcheck racecheck synccheck; do
  asked sanitizers || break
  if ! command -v compute-sanitizer > /dev/null; then
    echo "compute-sanitizer is not installed: $tool is skipped"
    count "$tool" 0 0 1
    continue
  fi
  for program in $tests; do
    # Kernels that fail intentionally would count as findings.
    whole "$program-$tool" 1200 compute-sanitizer --tool "$tool" --error-exitcode 9 \
      "bin/$program" ${RUN_FILTER:+"$RUN_FILTER"} --test-threads=1 --skip checks:: --skip gather::a_number_outside
  done
done
if asked benchmarks; then
  against=""
  if python3 -c 'import torch; torch.cuda.init()' > logs/torch.log 2>&1 &&
    timeout 300 python3 compare.py shapes.txt > torch.txt 2>> logs/torch.log; then
    against="--against torch.txt"
  else
    echo "PyTorch is not here, or failed (logs/torch.log): figures stand alone"
  fi
  # shellcheck disable=SC2086 — two words or none, and one or none
  if timeout $((300 * slower)) bin/croq-benches ${RUN_SMALL:+--small} $against --json benchmarks.json 2>&1 | tee logs/benchmarks.log &&
    [ -f benchmarks.json ]; then
    count benchmarks 1 0 0
  else
    count benchmarks 0 1 0
  fi
fi
finish "\"$gpu\""
[ "$failed" -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
