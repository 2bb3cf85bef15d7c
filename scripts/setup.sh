#!/usr/bin/env bash
# Checks the required programs, and installs libclang and nvcc in .croq/ (no other folder is
# changed). Returns immediately if nothing has changed. CROQ_CUDA=off omits nvcc.
set -euo pipefail
cd "$(dirname "$0")/.."

want=$(cat scripts/setup.sh scripts/requirements.txt; echo "${CROQ_CUDA:-auto}")
stamp=.croq/stamp
if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$want" ] && [ -e .croq/libclang/libclang.so ]; then
  exit 0
fi

missing=()
command -v "${CXX:-c++}" >/dev/null || missing+=(build-essential)
command -v python3 >/dev/null || missing+=(python3)
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
  echo "croq needs a C++ compiler and python3 with venv. On Debian or Ubuntu this mends it:" >&2
  echo "  sudo apt-get install -y ${missing[*]}" >&2
  exit 1
fi
if ! command -v cargo >/dev/null; then
  echo "croq needs Rust 1.88 or later: see https://rustup.rs" >&2
  exit 1
fi

packages=$(grep -v '^#' scripts/requirements.txt)
if [ "${CROQ_CUDA:-auto}" = off ]; then
  packages=$(echo "$packages" | grep -v '^nvidia-')
fi
echo "setup: installing into .croq/venv: $(echo $packages)"
mkdir -p .croq
rm -f "$stamp"
[ -x .croq/venv/bin/python ] || python3 -m venv .croq/venv
# shellcheck disable=SC2086 — one word per package
if ! .croq/venv/bin/python -m pip install --quiet --disable-pip-version-check $packages; then
  echo "setup: pip could not install the packages above. Without nvcc (the larger part), try:" >&2
  echo "  CROQ_CUDA=off make setup" >&2
  exit 1
fi

# Names that are independent of the Python version; .cargo/config.toml refers to them.
site=$(.croq/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
site=${site#"$PWD/.croq/"}
ln -sfn "$site/clang/native" .croq/libclang
if [ "${CROQ_CUDA:-auto}" = off ]; then
  rm -f .croq/cuda
else
  ln -sfn "$site/nvidia/cu13" .croq/cuda
  .croq/cuda/bin/nvcc --version | grep release
fi
echo "$want" > "$stamp"
