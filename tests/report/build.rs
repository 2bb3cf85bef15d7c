use croq_build::{Checks, Config};

/// Where nvcc is found the text is compiled for CUDA as well, for one architecture.
fn main() {
    Config::new()
        .checks(Checks::Report)
        // Some kernels are wrong, and some have one thread.
        .allow("W0523")
        .allow("W0929")
        .arch("sm_90a")
        .compile("co");
}
