#!/usr/bin/env bash
# Checks croq-sys and croq-build for the systems of docs/building.md (`cargo check --target`), and runs croq-sys's tests
# and the quick start on aarch64 Linux under qemu-user, where its programs are installed. Needs rustup for the targets.
#
#   scripts/cross.sh [check|run]
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
step=${1:-all}
failed=0
targets="x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-msvc"
arm=aarch64-unknown-linux-gnu
# Lints and CUDA are of the host.
unset RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS
export CROQ_CUDA=off LIBCLANG_PATH="${LIBCLANG_PATH:-$root/.croq/libclang}"

command -v rustup >/dev/null || { echo "cross needs rustup, which installs the other targets" >&2; exit 1; }
# shellcheck disable=SC2086 — one word per target
rustup --quiet target add $targets || { echo "cross: rustup could not install the targets" >&2; exit 1; }

if [ "$step" != run ]; then
  for target in $targets; do
    # No C or C++ of another system is compiled: the crates have none outside of kernels.
    if cargo check --quiet --target "$target" -p croq-macros -p croq-sys -p croq-build; then
      echo "check $target: ok"
    else
      echo "check $target: failed"
      failed=1
    fi
  done
fi
[ "$step" = check ] && exit $failed

if ! command -v qemu-aarch64 >/dev/null || ! command -v aarch64-linux-gnu-g++ >/dev/null; then
  echo "run $arm: not done; on Debian or Ubuntu: sudo apt-get install qemu-user g++-aarch64-linux-gnu" >&2
  exit 1
fi
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CXX_aarch64_unknown_linux_gnu=aarch64-linux-gnu-g++ AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar
# libclang reads the headers of kernels for that system.
export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu="--sysroot=/usr/aarch64-linux-gnu"

# Without one test: in the child of a fork qemu-user 7.2 ends with an assertion of its own (`qemu_plugin_vcpu_init_hook`)
# when that starts a thread.
skip="--skip kernels_run_after_a_fork"
# shellcheck disable=SC2086 — one word per option
if cargo test --quiet --target "$arm" -p croq-sys --lib -- $skip; then
  echo "run $arm, croq-sys: ok"
else
  echo "run $arm, croq-sys: failed"
  failed=1
fi
hello=$(mktemp -d)
trap 'rm -rf "$hello"' EXIT
mkdir "$hello/src" "$hello/kernels"
scripts/package.sh "$hello" hello-croq
echo 'fn main() { croq_build::compile("kernels/"); }' >"$hello/build.rs"
cat >"$hello/kernels/scale.co" <<'CO'
__co__ f32 [N] scale(f32 [N] x, f32 gain) {
  f32 [N] y;
  parallel p by N { y.at(p) = x.at(p) * gain; }
  return y;
}
CO
cat >"$hello/src/main.rs" <<'RS'
croq_sys::include_kernels!();

fn main() -> croq_sys::Result<()> {
    let x = croq_sys::Tensor::from_fn((5,), |[i]| i as f32);
    println!("{:?}", kernels::scale(&x, 1.5)?.as_slice());
    Ok(())
}
RS
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}"
out=$(CROQ_DEVICE=sim cargo run --quiet --target "$arm" --manifest-path "$hello/Cargo.toml" | tail -n 1)
if [ "$out" = "[0.0, 1.5, 3.0, 4.5, 6.0]" ]; then
  echo "run $arm, quick start: ok"
else
  echo "run $arm, quick start: failed: $out"
  failed=1
fi
exit $failed
