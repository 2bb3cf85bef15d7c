use croq_build::{Checks, Config};

/// Where nvcc is found the text is compiled for CUDA as well, for one architecture.
fn main() {
    Config::new()
        .checks(Checks::Report)
        .arch("sm_90a")
        .compile("co");
}
