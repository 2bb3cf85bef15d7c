#!/usr/bin/env bash
# Compares random kernels with the same programs in Rust, on the simulated GPU and, where nvcc is found, on the
# PTX machine.
#
#   scripts/random_programs.sh [SEED [COUNT [MODULE]]]
#   scripts/random_programs.sh renew SEED COUNT
#
# The modules are `programs`, of statements and expressions of kernels, and `launches`, of host code, calls and
# launches; without one, both. COUNT is that of each.
# `renew` writes the programs that `make test` calls, tests/run/features/random_programs.co.
# All files remain in target/random-programs. The last line is `random programs: N findings`.
set -uo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = renew ]; then
  exec python3 scripts/random_programs.py "${2:-1}" "${3:-40}" tests/run/features/random_programs.co \
    tests/tests/run_features/random_programs_cases.rs
fi
seed=${1:-1} count=${2:-300} modules=${3:-programs launches}
target=${CARGO_TARGET_DIR:-$PWD/target}
out=$target/random-programs
# Conversions without `__to` are meant.
unset CROQ_WARNINGS
findings=0
found() {
  echo "finding: $*"
  findings=$((findings + 1))
}

rm -rf "$out" && mkdir -p "$out/kernels"
scripts/package.sh "$out" random-programs
echo 'fn main() { croq_build::compile("kernels/"); }' >"$out/build.rs"
cat >"$out/src/main.rs" <<RUST
#![allow(warnings, clippy::all)]
croq_sys::include_kernels!();
RUST
for module in $modules; do
  python3 scripts/random_$module.py "$seed" "$count" "$out/kernels/$module.co" "$out/src/${module}_cases.rs" || exit 1
  cat >>"$out/src/main.rs" <<RUST
#[path = "$PWD/tests/src/random_$module.rs"]
mod random_$module;
mod $module {
    use super::{kernels, random_$module::*};
    use croq_sys::half::{bf16, f16};
    use std::ops::{BitAnd, BitOr, BitXor};
    include!("${module}_cases.rs");
    pub fn results(only: Option<String>) -> (usize, Vec<String>) {
        let mut calls = Calls { only, ..Calls::default() };
        cases(&mut calls);
        (calls.right, calls.wrong)
    }
}
RUST
done
cat >>"$out/src/main.rs" <<RUST
fn main() {
    let only = std::env::args().nth(1);
    let (mut right, mut wrong) = (0, 0);
    for results in [$(printf '%s::results, ' $modules)] as [fn(_) -> _; $(wc -w <<<"$modules")] {
        let results: (usize, Vec<String>) = results(only.clone());
        right += results.0;
        wrong += results.1.len();
        results.1.iter().for_each(|message| println!("{message}"));
    }
    println!("{right} calls are right, {wrong} are wrong");
    std::process::exit(i32::from(wrong > 0));
}
RUST

export CROQ_CUDA=off
devices=(sim)
if toolkit=$(scripts/ptx_toolkit.sh); then
  export CROQ_CUDA=required CUDA_HOME=$toolkit
  devices+=(cuda)
fi
if CARGO_TARGET_DIR=$target cargo build --quiet --manifest-path "$out/Cargo.toml" >"$out/log" 2>&1; then
  for device in "${devices[@]}"; do
    CROQ_DEVICE=$device timeout 1200 "$target/debug/random-programs" >"$out/$device" 2>&1
    status=$?
    echo "$device: $(tail -n 1 "$out/$device")"
    [ $status -eq 0 ] || found "status $status on $device: $out/$device; $out/kernels"
  done
else
  grep -A 8 -m 3 '^error\|error\[' "$out/log"
  found "programs do not build: $out/log"
fi
echo "random programs: $findings findings"
[ "$findings" -eq 0 ]
