#!/bin/sh
# As cargo's wrapper of rustc: clippy's driver compiles the packages of the workspace. The programs of trybuild are
# other people's, and their reports are compared with rustc's.
case "${CARGO_MANIFEST_DIR:-}" in
  */tests/trybuild/*) exec "$@" ;;
  *) exec clippy-driver "$@" ;;
esac
