# The everyday commands. Each says what it needs when it is missing; `make setup` runs by itself.
.PHONY: setup demo test bench fuzz attack mutants gpu-bundle gpu-rehearsal ptx-census ptx-peers ptx-mutants ptxas-compare compare interop package debug-test cross msrv deny clean

setup:
	@scripts/setup.sh

# A table of kernels, each compared with plain Rust.
demo: setup
	@cp Cargo.lock examples/demo_table/
	@CARGO_TARGET_DIR=target cargo run --manifest-path examples/demo_table/Cargo.toml

# Everything that can be tested on this machine.
test: setup
	@scripts/test.sh

# Speed, as ratios; nothing is asserted on a clock.
bench: setup
	@cargo bench --workspace

# Bytes from nowhere through the compiler: for FUZZ_SECONDS, or ten minutes.
fuzz: setup
	@scripts/fuzz.sh $(FUZZ_SECONDS)

# Seeded attacks on what docs/safety.md promises; about two hours on two cores. ATTACK="SEED MUTANTS BUILT RUN PROBES".
attack: setup
	@scripts/attack.sh $(ATTACK)

# What `croq check` accepts builds: mutated programs through both compilers. MUTANTS="SEED COUNT KEPT".
mutants: setup
	@scripts/mutants.sh $(MUTANTS)

# A folder of test programs for a machine with a GPU and nothing else but its driver.
gpu-bundle: setup
	@scripts/gpu_bundle.sh

# The same folder, built for the PTX machine, and its `run`: conformance and tests. STEPS="tests" for one.
gpu-rehearsal: setup
	@scripts/gpu_rehearsal.sh $(STEPS)

# The instruction forms of all PTX that nvcc makes here, and which of them the PTX machine executes.
ptx-census: setup
	@scripts/ptx_census.sh $(CENSUS)

# Kernels of Triton and CUTLASS on the PTX machine: evidence that it reads the PTX ISA as hardware does.
ptx-peers: setup
	@scripts/ptx_peers.sh

# Mutants of the PTX of twelve kernels, each of which the PTX machine must find. MUTANT="part of a kernel's name".
ptx-mutants:
	@CROQ_PTX_MUTANTS=$(MUTANT) cargo test -q -p croq-ptx --test mutants -- --ignored --nocapture

# Registers and machine code of kernels/ by this ptxas and by another version: WITH="13.5.*".
ptxas-compare: setup
	@scripts/ptxas_compare.py "$(WITH)"

# croq's kernels beside CUTLASS's and Triton's: machine code, and what each executes on the PTX machine.
compare: setup
	@scripts/compare_kernels.sh

# With candle, cudarc and cuda-runtime-sys, which take minutes to compile.
interop: setup
	@scripts/interop.sh

# The packages as a registry would have them, unpacked elsewhere; the quick start is built and run with them.
package: setup
	@scripts/crates.sh

# gdb stops on lines of kernels and shows their variables; panics have whole backtraces.
debug-test: setup
	@command -v gdb >/dev/null || { echo "debug-test needs gdb: sudo apt-get install gdb" >&2; exit 1; }
	@CROQ_TEST_GDB=required cargo test -p croq-downstream --test packages debugger

# Other systems: checked by cargo, and aarch64 Linux run under qemu-user. STEP="check" or "run" for one.
cross: setup
	@scripts/cross.sh $(STEP)

# The oldest Rust version of Cargo.toml builds the crates.
msrv: setup
	@scripts/msrv.sh

# Licences and advisories of all dependencies, by cargo-deny.
deny:
	@command -v cargo-deny >/dev/null || { echo "deny needs cargo-deny: cargo install --locked cargo-deny" >&2; exit 1; }
	@cargo deny check bans licenses sources
	@cargo deny check advisories || { echo "deny: advisories are in a database that cargo-deny fetches from the network" >&2; exit 1; }

clean:
	@cargo clean
	@rm -rf gpu-bundle
