fn main() {
    croq_build::compile("kernels/");
}
