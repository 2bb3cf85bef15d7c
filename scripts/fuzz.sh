#!/usr/bin/env bash
# Runs the fuzz target for a number of seconds (600 unless told), seeded from kernels/ and tests/.
# libFuzzer's coverage instrumentation works on stable Rust; no nightly, no cargo-fuzz needed.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
corpus=fuzz/corpus/source_to_text
mkdir -p "$corpus"
find kernels tests examples -name '*.co' -size -16k | while read -r file; do
  cp "$file" "$corpus/seed-$(printf '%s' "$file" | tr '/' '-')"
done
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=1"
exec cargo run --release --manifest-path fuzz/Cargo.toml --target "$(rustc -vV | sed -n 's/^host: //p')" \
  --bin source_to_text -- "$corpus" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384
