fn main() {
    croq_build::compile("co/");
}
