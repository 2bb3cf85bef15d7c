/// Codes of which some programs are examples; `ON_PURPOSE` in `tests/ui.rs` says which.
const ON_PURPOSE: &[&str] = &[
    "W0348", "W0359", "W0520", "W0523", "W0549", "W0553", "W0565", "W0620", "W0621", "W0624",
    "W0626", "W0822", "W0867", "W0870", "W0879", "W1003",
];

fn main() {
    let mut config = croq_build::Config::new();
    for code in ON_PURPOSE {
        config.allow(*code);
    }
    config
        .instantiate("templated_reverse<s32, 96>")
        .instantiate("templated_reverse<f64, 0x40>")
        .device_namespace("written::device")
        .compile("run/");
}
