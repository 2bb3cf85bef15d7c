#!/usr/bin/env bash
# Everything that can be tested on this machine. The last line is `N passed, N failed`, summed over
# all test programs; formatting, lints and each build count as one.
set -uo pipefail
cd "$(dirname "$0")/.."

# What croq generates must not make any compiler warn, nor ptxas spill a register.
export CROQ_WARNINGS=deny

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0
failed=0

# step NAME COMMAND…: shows what the command prints and counts its tests.
step() {
  local name=$1 status ok bad start=$SECONDS
  shift
  echo "== $name"
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  ok=$(sed -n 's/^test result: .* \([0-9]*\) passed; .*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
  bad=$(sed -n 's/^test result: .* \([0-9]*\) failed; .*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
  passed=$((passed + ok))
  failed=$((failed + bad))
  # A step without tests of its own, or one that fails apart from them, is a test itself.
  if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
    echo "== $name: failed"
    failed=$((failed + 1))
  elif [ "$status" -eq 0 ] && [ "$ok" -eq 0 ]; then
    passed=$((passed + 1))
  fi
  echo "== $name: $((SECONDS - start)) s"
}

step "formatting" cargo fmt --all --check
# Lints only read: `DOCS_RS` has build scripts write their Rust and compile nothing.
step "lints" env DOCS_RS=1 cargo clippy --workspace --all-targets --all-features --quiet -- -D warnings
step "workspace" cargo test --workspace --all-features --no-fail-fast --quiet
# The examples stand for other people's packages. With the workspace's versions of all dependencies and in
# its target folder they share what is built already.
for example in examples/*/; do
  cp Cargo.lock "$example"
  step "${example%/}" env CARGO_TARGET_DIR="$PWD/target" \
    cargo test --manifest-path "${example}Cargo.toml" --no-fail-fast --quiet
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
