use croq_build::{Config, Cuda};

fn main() {
    Config::new()
        .define("CROQ_SIM_TRACE", 1)
        .cuda(Cuda::Off)
        .compile("../../kernels/co");
}
