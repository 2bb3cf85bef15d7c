#!/usr/bin/env bash
# Writes the manifest of a package that builds the kernels in FOLDER/kernels with this repository's crates.
#
#   scripts/package.sh FOLDER NAME
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1/src"
cat >"$1/Cargo.toml" <<TOML
[package]
name = "$2"
version = "0.0.0"
edition = "2024"
[dependencies]
croq-sys = { path = "$PWD/croq-sys" }
[build-dependencies]
croq-build = { path = "$PWD/croq-build" }
[workspace]
TOML
cp Cargo.lock "$1/"
