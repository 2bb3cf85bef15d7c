#!/usr/bin/env bash
# Runs all tests that this machine can run. The last line is `N passed, N failed`, summed over all
# test programs; formatting, lints and each build count as one.
set -uo pipefail
cd "$(dirname "$0")/.."

# Generated code must not cause warnings of any compiler, nor register spills in ptxas.
export CROQ_WARNINGS=deny
# Tests that need nvcc fail without it; otherwise they would be skipped.
[ "${CROQ_CUDA:-auto}" = off ] || export CROQ_TEST_NVCC=required

log=$(mktemp)
trap 'rm -f "$log" "$log.downstream" "$log.over"' EXIT
passed=0
failed=0

# count NAME STATUS LOG: counts the tests in the output of a step.
count() {
  local name=$1 status=$2 ok bad
  ok=$(sed -n 's/^test result: .* \([0-9]*\) passed; .*/\1/p' "$3" | awk '{n += $1} END {print n + 0}')
  bad=$(sed -n 's/^test result: .* \([0-9]*\) failed; .*/\1/p' "$3" | awk '{n += $1} END {print n + 0}')
  passed=$((passed + ok))
  failed=$((failed + bad))
  # A step without tests, or one that fails for another reason, counts as a test.
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    echo "== $name: failed"
    failed=$((failed + 1))
  elif [ "$status" -eq 0 ] && [ "$ok" -eq 0 ]; then
    passed=$((passed + 1))
  fi
}

# step NAME COMMAND…: prints the output of the command and counts its tests.
step() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$log"
  count "$name" "${PIPESTATUS[0]}" "$log"
  echo "== $name: $((SECONDS - start)) s"
}

# Of croq-sys: all but those that need CUDA's libraries, or compile for minutes (`make interop`).
features=croq-sys/ndarray,croq-sys/dlpack,croq-sys/float8,croq-sys/serde,croq-sys/tracing,croq-build/tracing

# Clippy's driver is the compiler of the workspace's packages, so linting and compiling are one
# step; `cargo clippy` would check all dependencies and run all build scripts again. The arguments
# are those of `cargo clippy -- -D warnings`.
command -v clippy-driver >/dev/null || { echo "there is no clippy-driver: rustup component add clippy" >&2; exit 1; }
linted() {
  RUSTC_WORKSPACE_WRAPPER="$PWD/scripts/lint_driver.sh" CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__ cargo "$@"
}

# Builds of small packages, which mostly use one core. They run in parallel with the other tests,
# after these have been started: until then cargo locks the target folder.
downstream() {
  until grep -q '^running' "$log" || [ -e "$log.over" ]; do sleep 1; done
  # Chosen by their targets: with `--package` dependencies would have other features, and be compiled again.
  linted test --workspace --test name_probes --test packages --features "$features" --no-fail-fast --quiet
}

step "formatting" cargo fmt --all --check

# Programs contain machine code and PTX, so that the PTX machine executes what was built for the tests.
on_ptx_machine=
if [ "${CROQ_CUDA:-auto}" != off ]; then
  cargo fetch --quiet
  # The next step builds the machine, beside everything else.
  if toolkit=$(PTX_TOOLKIT_UNBUILT=1 scripts/ptx_toolkit.sh both); then
    on_ptx_machine=1
    # Until its own step there is no device.
    export CUDA_HOME=$toolkit CROQ_PTX_RUNTIME=off
    unset NVCC
  else
    echo "== PTX machine: no toolkit"
    failed=$((failed + 1))
  fi
fi
# `--all-targets` would build libraries as programs of tests that they do not have.
step "build and lints" linted test --workspace --tests --benches --features "$features" --no-run --quiet
# Compiled as what tests depend on; this puts it where programs look for it.
[ -z "$on_ptx_machine" ] || linted build --offline -p croq-ptx-runtime --quiet
: >"$log"
downstream >"$log.downstream" 2>&1 &
step "workspace" linted test --workspace --exclude croq-downstream --features "$features" --no-fail-fast --quiet
: >"$log.over"
echo "== downstream"
wait $!
status=$?
cat "$log.downstream"
count "downstream" "$status" "$log.downstream"
if [ -n "$on_ptx_machine" ]; then
  step "PTX machine" env PTX_RUN_BUILT=1 scripts/ptx_run.sh
  step "PTX machine, sm_80" env PTX_RUN_BUILT=1 CROQ_PTX_ARCHITECTURE=80 scripts/ptx_run.sh "run_kernels run_features"
fi
# The examples represent packages of other people. With the workspace's versions of all dependencies
# and its target folder they share its build results, and with the number of units those of downstream's
# packages (`UNITS` in tests/downstream).
export CARGO_PROFILE_DEV_BUILD_OVERRIDE_CODEGEN_UNITS=16
for example in examples/*/; do
  cp Cargo.lock "$example"
  step "${example%/}" env CARGO_TARGET_DIR="$PWD/target" \
    cargo test --manifest-path "${example}Cargo.toml" --no-fail-fast --quiet
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
