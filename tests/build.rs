fn main() {
    croq_build::compile("run/features/");
}
