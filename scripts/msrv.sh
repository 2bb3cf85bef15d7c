#!/usr/bin/env bash
# Checks the crates that users build with the oldest Rust version that Cargo.toml promises; rustup installs it.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
command -v rustup >/dev/null || { echo "msrv needs rustup, which installs Rust $version" >&2; exit 1; }
rustup --quiet toolchain install "$version" --profile minimal
unset RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS
# The wrapper of lints and the build results of another compiler would be mixed with these.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/msrv"
cargo "+$version" check --locked --quiet -p croq-macros -p croq-sys -p croq-build
echo "Rust $version: ok"
