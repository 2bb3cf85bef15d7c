fn main() {
    // For one architecture: what sm_80 makes of kernels is seen in `kernels/` and by the tests of machine code.
    croq_build::Config::new()
        .arch("sm_90a")
        .compile("run/features/");
}
