fn main() {
    croq_build::Config::new()
        .instantiate("templated_reverse<s32, 96>")
        .instantiate("templated_reverse<f64, 0x40>")
        .device_namespace("written::device")
        .compile("run/");
}
