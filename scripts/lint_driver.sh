#!/usr/bin/env bash
# As cargo's wrapper of rustc: clippy's driver compiles the packages of the workspace. The programs of trybuild are
# other people's, and their reports are compared with rustc's. (Not by `sh`: dash drops variables such as
# CARGO_BIN_EXE_croq-safety, whose names it does not know.)
case "${CARGO_MANIFEST_DIR:-}" in
  */tests/trybuild/*) exec "$@" ;;
  *) exec clippy-driver "$@" ;;
esac
