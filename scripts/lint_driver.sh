#!/usr/bin/env bash
# The rustc wrapper of cargo: clippy's driver compiles the packages of the workspace. Programs of
# trybuild are excluded, because their reports are compared with rustc's. (bash, not `sh`: dash
# drops environment variables with unusual names, such as CARGO_BIN_EXE_croq-safety.)
case "${CARGO_MANIFEST_DIR:-}" in
  */tests/trybuild/*) exec "$@" ;;
  *) exec clippy-driver "$@" ;;
esac
