#!/usr/bin/env bash
# Runs the fuzz target for a number of seconds (default 600), seeded from kernels/ and tests/.
# libFuzzer's coverage instrumentation works on stable Rust, without nightly and cargo-fuzz. The
# first build takes some minutes. Inputs that cause a failure are stored in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
corpus=fuzz/corpus/source_to_text
mkdir -p "$corpus" fuzz/artifacts
find kernels tests examples -name '*.co' -size -16k -not -path '*/target/*' | while read -r file; do
  cp "$file" "$corpus/seed-$(printf '%s' "$file" | tr '/' '-')"
done
export RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
exec cargo run --release --manifest-path fuzz/Cargo.toml --target "$(rustc -vV | sed -n 's/^host: //p')" \
  --bin source_to_text -- "$corpus" -artifact_prefix=fuzz/artifacts/ -max_total_time="$seconds" \
  -timeout=10 -report_slow_units=1 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1
