//! Inline assembly (`assembly.co`).

use croq_sys::half::f16;
use croq_sys::{Const, Error, Tensor};
use croq_tests::compare::assert_exact;
use croq_tests::kernels;

#[test]
fn special_registers() {
    for n in [1usize, 33, 96, 250] {
        let mut lanes = Tensor::<u32, _>::zeros((n,));
        let mut warps = Tensor::<u32, _>::zeros((n,));
        let mut places = Tensor::<u32, _>::zeros((n,));
        kernels::assembly_registers(&mut lanes, &mut warps, &mut places).unwrap();
        assert_exact(&lanes, |[i]| (i % 96 % 32) as u32);
        assert_exact(&warps, |[i]| (i % 96 / 32) as u32);
        assert_exact(&places, |[i]| i as u32 + 7);
    }
}

#[test]
fn integer_instructions() {
    for n in [1usize, 7, 300] {
        let x = Tensor::<i32, _>::random((n,), i32::MIN + 1..i32::MAX, 1);
        let wide = Tensor::<u64, _>::random((n,), 0..u64::MAX, 2);
        let mut y = Tensor::<i32, _>::zeros((n, Const::<12>));
        let mut z = Tensor::<u64, _>::zeros((n, Const::<4>));
        kernels::assembly_integers(&x, &wide, &mut y, &mut z).unwrap();
        assert_exact(&y, |[p, column]| {
            let a = x[[p]];
            let b = a / 3 + 1;
            match column {
                0 => a.wrapping_sub(b),
                1 => ((i64::from(a) * i64::from(b)) >> 32) as i32,
                2 => a.min(-5),
                3 => a ^ b ^ 255,
                4 => (a & 0xffff) | b << 16,
                5 => a << 22 >> 25,
                6 => (b & !0xf00) | (a & 15) << 8,
                7 => match a < b {
                    true => a,
                    false => b.wrapping_add(1),
                },
                8 => {
                    let by = (p as i32 + 30).min(31);
                    (a >> by).wrapping_add(p as i32 + 30)
                }
                9 => a.abs(),
                10 => a.clamp(-128, 127),
                _ => wide[[p]] as i32,
            }
        });
        assert_exact(&z, |[p, column]| {
            let w = wide[[p]];
            match column {
                0 => u64::from((x[[p]] / 3 + 1) as u32) * 3_000_000_000,
                1 => u64::from(w.count_ones()),
                2 => w.reverse_bits(),
                _ => p as u64 | u64::from(x[[p]] as u32) << 32,
            }
        });
    }
}

#[test]
fn float_instructions() {
    for n in [1usize, 64, 131] {
        let x = Tensor::<f32, _>::random((n,), -6.0..6.0, 3);
        let y = kernels::assembly_floats(&x).unwrap();
        for p in 0..n {
            let v = x[[p]];
            let opposite = p / 64 * 64 + 63 - p % 64;
            let other = if opposite < n { x[[opposite]] } else { 0.0 };
            assert_eq!(y[[p, 0]], v.mul_add(2.5, other));
            assert!((y[[p, 1]] - v.exp2()).abs() <= 1e-5 * v.exp2(), "{v}");
            assert_eq!(y[[p, 2]], v.max(0.5));
            assert_eq!(y[[p, 3]], f16::from_f32(v).to_f32());
            assert_eq!(y[[p, 4]], v.trunc());
        }
    }
}

#[test]
fn memory_that_the_text_may_access() {
    for n in [1usize, 128, 300] {
        let x = Tensor::<i32, _>::random((n,), -1000..1000, 4);
        let y = kernels::assembly_memory(&x).unwrap();
        assert_exact(&y, |[p]| {
            let opposite = p / 128 * 128 + 127 - p % 128;
            x[[p]] + if opposite < n { x[[opposite]] } else { 0 }
        });
    }
}

#[test]
fn registers_and_waits_of_roles() {
    for m in [1usize, 5] {
        let x = Tensor::<f32, _>::random((m, Const::<128>), -1.0..1.0, 5);
        let mut y = Tensor::<f32, _>::zeros((m, Const::<128>));
        kernels::assembly_roles(&x, &mut y).unwrap();
        assert_exact(&y, |[r, t]| 2.0 * x[[r, 127 - t]]);
    }
}

#[test]
fn assembly_in_cpp_of_the_user() {
    for n in [1usize, 40, 301] {
        let x =
            Tensor::<u32, _>::from_fn((n,), |[i]| (i as u32).wrapping_mul(0x0808_8405) >> (i % 32));
        let y = kernels::assembly_foreign(&x).unwrap();
        assert_exact(&y, |i| match x[i].rotate_left(5) {
            v if v > 9 => !v,
            _ => 1,
        });
    }
}

#[test]
fn atomic_operations() {
    let x = Tensor::<u32, _>::random((Const::<128>,), 1..1000, 60);
    let mut counts = Tensor::<u32, _>::zeros((Const::<8>,));
    let mut sum = Tensor::<f32, _>::zeros((Const::<1>,));
    let mut most = Tensor::<u32, _>::zeros((Const::<2>,));
    let mut turns = Tensor::<u32, _>::zeros((Const::<128>,));
    kernels::assembly_counts(&x, &mut counts, &mut sum, &mut most, &mut turns).unwrap();
    let values = x.as_slice();
    for class in 0..8 {
        let of_class = (0..128).filter(|i| x[[*i]] % 8 == class);
        let mut found: Vec<u32> = of_class.map(|i| turns[[i]]).collect();
        found.sort_unstable();
        let count = u32::try_from(found.len()).unwrap();
        assert_eq!(counts[[class as usize]], count);
        assert_eq!(found, Vec::from_iter(0..count));
    }
    assert_eq!(sum[[0]], values.iter().sum::<u32>() as f32);
    assert_eq!(most[[1]], *values.iter().max().unwrap());
    // The first that finds a zero.
    assert!(values.contains(&most[[0]]));
}

/// The call is an error whether or not a thread reaches the statement.
#[test]
fn what_the_simulated_gpu_does_not_know_is_an_error_of_that_kernel() {
    // A GPU knows it.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    let x = Tensor::<u32, _>::from_fn((9,), |[i]| i as u32);
    for twice in [0, 1] {
        match kernels::assembly_unknown(&x, twice) {
            Err(Error::Check {
                kernel: "assembly_unknown",
                code: "R24",
                line,
                message,
                ..
            }) => {
                assert_eq!(line, LINE_OF_UNKNOWN);
                assert!(
                    message.contains("vabsdiff4.u32.u32.u32.add %0, %1"),
                    "{message}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    // In a function, where it is executed.
    let near = kernels::assembly_unknown_function(&x, 0).unwrap();
    assert_exact(&near, |_| 0);
    match kernels::assembly_unknown_function(&x, 1) {
        Err(Error::Check {
            code: "R24",
            line,
            message,
            ..
        }) => {
            assert_eq!(line, LINE_OF_FUNCTION);
            assert!(message.contains("vabsdiff4"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn assembly_of_a_header_is_an_error_where_it_is_executed() {
    let x = Tensor::<u32, _>::from_fn((5,), |[i]| i as u32);
    assert_exact(&kernels::assembly_of_header(&x, 0).unwrap(), |i| x[i]);
    // A GPU executes all of it.
    if !croq_sys::Device::default().is_sim() {
        return;
    }
    for (what, text) in [(1, "mov.u32 %0, %%laneid;"), (2, "not.b32 %0, %0;")] {
        match kernels::assembly_of_header(&x, what) {
            Err(Error::Check {
                code: "R24",
                message,
                ..
            }) => assert!(message.contains(text), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}

/// The compiler inserts the barriers for what the text may access.
#[test]
fn barriers_around_assembly() {
    for n in [1usize, 128, 200] {
        let x = Tensor::<f32, _>::random((n,), -1.0..1.0, 6);
        let y = kernels::assembly_addresses(&x).unwrap();
        assert_exact(&y, |[p]| {
            let opposite = p / 128 * 128 + 127 - p % 128;
            let other = if opposite < n { x[[opposite]] } else { 0.0 };
            other + 3.0 + (p % 128) as f32
        });
    }
}

/// Elements of a fragment are operands, too.
#[test]
fn assembly_in_apply() {
    for m in [1usize, 16, 40] {
        let a = Tensor::<f32, _>::random((m, Const::<16>), -1.0..1.0, 7);
        let narrow = a.as_slice().iter().map(|v| f16::from_f32(*v));
        let a = Tensor::from_vec((m, Const::<16>), narrow.collect()).unwrap();
        let b = Tensor::<f32, _>::random((Const::<16>, Const::<16>), -1.0..1.0, 8);
        let narrow = b.as_slice().iter().map(|v| f16::from_f32(*v));
        let b = Tensor::from_vec((Const::<16>, Const::<16>), narrow.collect()).unwrap();
        let y = kernels::assembly_in_apply(&a, &b).unwrap();
        for i in 0..m {
            for j in 0..16 {
                let terms = (0..16).map(|k| a[[i, k]].to_f64() * b[[j, k]].to_f64());
                let expected = terms.sum::<f64>().exp2();
                let found = f64::from(y[[i, j]]);
                assert!(
                    (found - expected).abs() < 1e-4 * expected,
                    "{found} {expected}"
                );
            }
        }
    }
}

const LINE_OF_UNKNOWN: u32 = 185;
const LINE_OF_FUNCTION: u32 = 12;
