#!/usr/bin/env bash
# The GPU bundle on the PTX machine: builds it with the test toolkit, and executes its `run` as on a
# machine with a GPU. `gpu_rehearsal.sh [STEP…]`: the steps of `run`, or all of them. The benchmarks have
# small sizes; compute-sanitizer needs a GPU, so that its step is skipped. RUN_FILTER is that of `run`.
# GPU_BUNDLE_BUILT=1: the folder is there. Needs nvcc, but no GPU.
#
# Tests have the checks that tests/run/ptx_checks.txt names.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
bundle=$target/gpu-rehearsal
if [ -z "${GPU_BUNDLE_BUILT:-}" ]; then
  toolkit=$(scripts/ptx_toolkit.sh)
  CUDA_HOME=$toolkit NVCC= GPU_BUNDLE=$bundle scripts/gpu_bundle.sh
fi
cp scripts/gpu_run.sh "$bundle/run"

# In front of each program of run tests a script, which chooses the checks of a test.
cp tests/run/ptx_checks.txt "$bundle/"
mkdir -p "$bundle/programs"
for program in run_kernels run_features run_as_written; do
  if [ -e "$bundle/bin/$program.gz" ]; then
    gunzip -c "$bundle/bin/$program.gz" > "$bundle/programs/$program"
    chmod +x "$bundle/programs/$program"
    rm "$bundle/bin/$program.gz"
  fi
  cat > "$bundle/bin/$program" << END
#!/bin/sh
folder=\$(dirname "\$0")/..
if [ "\$1" = --exact ] && [ "\${CROQ_DEVICE:-}" = cuda ]; then
  checks=\$(sed -n "s/^$program \$2: //p" "\$folder/ptx_checks.txt")
  if [ "\$checks" = none ]; then
    echo "not on the PTX machine: see ptx_checks.txt"
    exit 0
  fi
  [ -z "\$checks" ] || export CROQ_PTX_CHECKS="\$checks"
fi
exec "\$folder/programs/$program" "\$@"
END
  chmod +x "$bundle/bin/$program"
done

# Nothing of the build's environment is there on a GPU machine.
unset CUDA_HOME NVCC
[ "${CROQ_PTX_RUNTIME:-}" != off ] || unset CROQ_PTX_RUNTIME
RUN_SLOWER=${RUN_SLOWER:-10} RUN_SMALL=1 "$bundle/run" "$@"
