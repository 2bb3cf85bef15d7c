//! Function templates in a package: the calls that compile, rustc's messages for others, and
//! instances that the build script requests.

use croq_downstream::{Package, Seen};

const TEMPLATES: &str = "\
// Adds `value` to every element.
template <typename T, int Tile = 64>
__co__ void raised(global T [N] x, T value) {
  parallel b by cdiv(N, Tile) : block
    parallel t by Tile : thread
      if (b # t < N) { x.at(b # t) = x.at(b # t) + value; }
}
template __co__ raised<f32>;
template __co__ raised<s32, 128>;

template <typename T, int D>
__co__ T [N, D] doubled(T [N, D] x) {
  T [N, D] y;
  parallel {j, i} by [D, N] { y.at(i, j) = x.at(i, j) + x.at(i, j); }
  return y;
}
template __co__ doubled<f32, 4>;
template __co__ doubled<f32, 8>;
";

fn package(name: &str, calls: &str) -> Package {
    let package = Package::new(name);
    package.write("kernels/templates.co", TEMPLATES);
    package.write(
        "src/main.rs",
        &format!(
            "#![deny(warnings)]\n#![forbid(unsafe_code)]\n\
             croq_sys::include_kernels!();\n\
             #[allow(unused_imports)]\n\
             use croq_sys::{{Const, Device, DeviceTensor, Tensor}};\n\n\
             fn main() -> croq_sys::Result<()> {{\n{calls}\n    Ok(())\n}}\n"
        ),
    );
    package
}

fn rejected(name: &str, calls: &str) -> Seen {
    let seen = package(name, calls).cargo(&["build"], &[]);
    assert!(!seen.success, "{name} compiles");
    seen
}

#[track_caller]
fn says(seen: &Seen, texts: &[&str]) {
    // rustc wraps long notes anywhere, and prefixes their lines.
    for text in texts {
        assert!(
            seen.stderr.contains(text),
            "no {text:?} in\n{}",
            seen.stderr
        );
    }
}

#[test]
fn calls_select_their_instance() {
    let package = package(
        "template-calls",
        "    let mut x = DeviceTensor::<f32, _>::zeros((5,), &Device::sim())?;
    kernels::raised(&mut x, 2.5)?;
    kernels::raised::<f32, usize>(&mut x, 1.0)?;
    let mut n = DeviceTensor::<i32, _>::zeros((3,), &Device::sim())?;
    kernels::raised(&mut n, 7)?;
    let known = Tensor::<f32, _>::from_fn((2, Const::<4>), |[i, j]| (i * 4 + j) as f32);
    let unknown = Tensor::<f32, _>::from_fn((2, 8), |[i, j]| (i * 8 + j) as f32);
    let twice = kernels::doubled(&known)?;
    let more = kernels::doubled::<8, _, _, _, _>(&unknown)?;
    let other = kernels::doubled::<4, _, _, _, _>(&unknown).unwrap_err();
    assert!(other.to_string().contains(\"`x`\"), \"{other}\");
    println!(\"{} {} {} {}\", x.to_host()?[[4]], n.to_host()?[[2]], twice[[1, 3]], more[[1, 7]]);",
    );
    assert_eq!(package.run(&[]).stdout, "3.5 7 14 30\n");
}

#[test]
fn a_missing_instance_is_an_error_with_those_that_exist() {
    let seen = rejected(
        "template-type",
        "    let mut x = DeviceTensor::<f64, _>::zeros((5,), &Device::sim())?;
    kernels::raised(&mut x, 2.5)?;",
    );
    says(
        &seen,
        &[
            "the template `raised` has no instance for `f64`",
            "no such instance of `raised`",
            "its instances are `raised<f32, 64>`, `raised<s32, 128>`",
            "write `template __co__ raised<T>;` in kernels/templates.co, where T is the element type for `f64`",
        ],
    );
    assert_eq!(seen.stderr.matches("error[E").count(), 1, "{}", seen.stderr);

    let seen = rejected(
        "template-integer",
        "    let x = Tensor::<f32, _>::zeros((2, Const::<16>));
    kernels::doubled(&x)?;",
    );
    says(
        &seen,
        &[
            "the template `doubled` has no instance for `D = 16`, `f32`",
            "its instances are `doubled<f32, 4>`, `doubled<f32, 8>`",
            "write `template __co__ doubled<T, 16>;` in kernels/templates.co, where T is the element type for `f32`",
        ],
    );
}

#[test]
fn extents_of_an_instance_are_checked_by_rustc() {
    let seen = rejected(
        "template-extent",
        "    let x = Tensor::<f32, _>::zeros((2, Const::<8>));
    kernels::doubled::<4, _, _, _, _>(&x)?;",
    );
    says(&seen, &["these two extents can never be equal"]);
}

#[test]
fn nobody_else_implements_the_trait_of_a_template() {
    let package = package("template-sealed", "");
    package.edit(
        "src/main.rs",
        "fn main()",
        "struct Mine;\nimpl kernels::RaisedInstance for Mine {}\n\nfn main()",
    );
    let seen = package.cargo(&["build"], &[]);
    assert!(
        !seen.success && seen.stderr.contains("sealed"),
        "{}",
        seen.stderr
    );
}

#[test]
fn the_build_script_asks_for_instances() {
    let package = package(
        "template-build",
        "    let mut x = DeviceTensor::<f64, _>::zeros((5,), &Device::sim())?;
    kernels::raised(&mut x, 2.5)?;
    println!(\"{}\", x.to_host()?[[4]]);",
    );
    let ask = |text: &str| {
        format!(
            "fn main() {{\n    croq_build::Config::new().instantiate(\"{text}\").compile(\"kernels/\");\n}}\n"
        )
    };
    package.write("build.rs", &ask("raised<f64, 256>"));
    assert_eq!(package.run(&[]).stdout, "2.5\n");

    for (asked, report) in [
        ("raised<f64, f64>", "build.rs asks for `raised<f64, f64>`"),
        ("raised<tile>", "build.rs asks for `raised<tile>`"),
        ("risen<f64>", "did you mean `raised`?"),
    ] {
        package.write("build.rs", &ask(asked));
        let seen = package.cargo(&["build"], &[]);
        assert!(!seen.success);
        says(&seen, &[report]);
    }
}
