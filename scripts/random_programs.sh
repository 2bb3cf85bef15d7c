#!/usr/bin/env bash
# Compares random kernels with the same programs in Rust, on the simulated GPU and, where nvcc is found, on the
# PTX machine.
#
#   scripts/random_programs.sh [SEED [COUNT [MODULE...]]]
#   scripts/random_programs.sh renew SEED COUNT MODULE
#
# A MODULE is `programs` (arithmetic), `movement` (tiles, events, products of matrices) or `launches` (host code, calls);
# all without one. `renew` writes those that `make test` calls, tests/run/features/random_MODULE.co: 40 `programs` with
# seed 9, 40 of `movement` with seed 5, 14 of `launches` with seed 5.
# All files remain in target/random-MODULE. The last line is `random programs: N findings`.
set -uo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = renew ]; then
  [ $# -eq 4 ] || { echo "usage: scripts/random_programs.sh renew SEED COUNT MODULE" >&2; exit 2; }
  python3 "scripts/random_$4.py" "$2" "$3" "tests/run/features/random_$4.co" "tests/tests/run_features/random_$4_cases.rs"
  exit
fi
seed=${1:-1} count=${2:-300}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- programs movement launches
target=${CARGO_TARGET_DIR:-$PWD/target}
# Conversions without `__to` are meant.
unset CROQ_WARNINGS
findings=0
found() {
  echo "finding: $*"
  findings=$((findings + 1))
}

export CROQ_CUDA=off
devices=(sim)
if toolkit=$(scripts/ptx_toolkit.sh); then
  export CROQ_CUDA=required CUDA_HOME=$toolkit
  devices+=(cuda)
fi
compare() {
  local module=$1 out=$target/random-$1 model=random_tiles_model device status
  [ "$module" = programs ] && model=random_programs
  rm -rf "$out" && mkdir -p "$out/kernels"
  scripts/package.sh "$out" "random-$module"
  echo 'fn main() { croq_build::compile("kernels/"); }' >"$out/build.rs"
  cat >"$out/src/main.rs" <<RUST
#![allow(warnings, clippy::all)]
croq_sys::include_kernels!();
#[path = "$PWD/tests/src/random_calls.rs"]
mod random_calls;
#[path = "$PWD/tests/src/$model.rs"]
mod model;
use croq_sys::half::{bf16, f16};
use croq_sys::{Const, Tensor};
use model::*;
use std::ops::{BitAnd, BitOr, BitXor};
include!("cases.rs");

fn main() {
    let only = std::env::args().nth(1);
    let mut calls = Calls { only, ..Calls::default() };
    cases(&mut calls);
    for wrong in &calls.wrong {
        println!("{wrong}");
    }
    println!("{} calls are right, {} are wrong", calls.right, calls.wrong.len());
    std::process::exit(i32::from(!calls.wrong.is_empty()));
}
RUST
  python3 "scripts/random_$module.py" "$seed" "$count" "$out/kernels/programs.co" "$out/src/cases.rs" || exit 1
  if ! CARGO_TARGET_DIR=$target cargo build --quiet --manifest-path "$out/Cargo.toml" >"$out/log" 2>&1; then
    grep -A 8 -m 3 '^ *error\|error\[' "$out/log"
    found "programs do not build: $out/log"
    return
  fi
  for device in "${devices[@]}"; do
    CROQ_DEVICE=$device timeout 1200 "$target/debug/random-$module" >"$out/$device" 2>&1
    status=$?
    echo "$module, $device: $(tail -n 1 "$out/$device")"
    [ $status -eq 0 ] || found "status $status on $device: $out/$device; $out/kernels/programs.co"
  done
}

for module; do compare "$module"; done
echo "random programs: $findings findings"
[ "$findings" -eq 0 ]
