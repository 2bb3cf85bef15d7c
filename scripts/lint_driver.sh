#!/usr/bin/env bash
# The rustc wrapper of cargo: clippy's driver compiles the packages of the workspace. Programs of
# trybuild are excluded, because their reports are compared with rustc's. (bash, not `sh`: dash
# drops environment variables with unusual names, such as CARGO_BIN_EXE_croq-safety.)
case "${CARGO_MANIFEST_DIR:-}" in
  */tests/trybuild/*) exec "$@" ;;
esac
# The largest crates are linted once, as the programs of their tests, which contain all of their
# text: clippy takes a sixth of the time of their compilation.
case " $* " in
  *" --test "*) ;;
  *" --crate-name croq_build "* | *" --crate-name croq_sys "* | *" --crate-name croq_ptx "*)
    exec "$@" -D warnings
    ;;
esac
exec clippy-driver "$@"
