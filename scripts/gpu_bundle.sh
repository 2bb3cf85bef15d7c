#!/usr/bin/env bash
# Builds `gpu-bundle/`: the run tests as programs with the CUDA runtime linked statically, and a `run`
# script that needs only a driver and glibc. Carry the folder to a GPU machine and call `./run` there.
set -euo pipefail
cd "$(dirname "$0")/.."

export CROQ_CUDA=required
rm -rf gpu-bundle
mkdir -p gpu-bundle/bin
cargo test -p croq-tests --test run_kernels --test run_features --no-run --message-format=json |
  sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | sort -u | while read -r program; do
  name=$(basename "$program" | sed 's/-[0-9a-f]*$//')
  cp "$program" "gpu-bundle/bin/$name"
  strip "gpu-bundle/bin/$name"
done
git rev-parse HEAD > gpu-bundle/commit

cat > gpu-bundle/run <<'RUN'
#!/usr/bin/env bash
# Runs every program on the GPU, then once more on the simulated GPU, and leaves results.json here.
# compute-sanitizer goes over the first run when it is installed.
cd "$(dirname "$0")" || exit 1
passed=0 failed=0 skipped=0 rows=""
one() { # NAME DEVICE COMMAND…
  local name=$1 device=$2 out ok bad
  shift 2
  out=$(CROQ_DEVICE=$device "$@" 2>&1)
  status=$?
  printf '%s\n' "$out" > "$name-$device.log"
  ok=$(printf '%s\n' "$out" | sed -n 's/^test result: .* \([0-9]*\) passed; .*/\1/p' | tail -n 1)
  bad=$(printf '%s\n' "$out" | sed -n 's/^test result: .* \([0-9]*\) failed; .*/\1/p' | tail -n 1)
  ok=${ok:-0} bad=${bad:-0}
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
  passed=$((passed + ok)) failed=$((failed + bad))
  rows="$rows${rows:+,}{\"name\":\"$name\",\"device\":\"$device\",\"passed\":$ok,\"failed\":$bad}"
  echo "$name on $device: $ok passed, $bad failed"
}
for program in bin/*; do
  name=$(basename "$program")
  one "$name" cuda "$program" --test-threads=1
  one "$name" sim "$program"
  if command -v compute-sanitizer > /dev/null; then
    one "$name-memcheck" cuda compute-sanitizer --tool memcheck --error-exitcode 9 "$program" --test-threads=1
  else
    skipped=$((skipped + 1))
  fi
done
echo "{\"commit\":\"$(cat commit)\",\"results\":[$rows]}" > results.json
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
RUN
chmod +x gpu-bundle/run
du -sh gpu-bundle
