# Everything here works without a GPU; where there is one (and nvcc), the same commands use it.

CARGO ?= cargo

.PHONY: demo sketch test lint

# Runs a table of kernels, each against plain Rust.
demo:
	$(CARGO) run --quiet --manifest-path examples/demo_table/Cargo.toml --target-dir target

# Draws examples/image_filter/pictures/hills.pgm into sketch.pgm.
sketch:
	$(CARGO) run --quiet --manifest-path examples/image_filter/Cargo.toml --target-dir target

test:
	$(CARGO) test --workspace
	$(CARGO) test --manifest-path examples/image_filter/Cargo.toml --target-dir target
	$(CARGO) run --quiet --manifest-path examples/demo_table/Cargo.toml --target-dir target

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
