//! ldmatrix and stmatrix on the simulated GPU, compared with the PTX ISA's figures: thread T has
//! elements 2 (T % 4) and the next of row T / 4 of each matrix; threads 8 m to 8 m + 7 provide the
//! addresses of the rows of matrix m.

use croq_conformance::{Failed, call_in};
use croq_sys::abi::{CROQ_MISALIGNED, CROQ_OUT_OF_BOUNDS, croq_env};
use croq_sys::sim::Run;

type Shim = unsafe extern "C" fn(*const croq_env, *mut i32, i64, i64) -> u32;

unsafe extern "C" {
    fn conf_load_matrices(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_store_matrices(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
    fn conf_bad_rows(env: *const croq_env, data: *mut i32, extent: i64, at: i64) -> u32;
}

fn run(shim: Shim, which: usize) -> Result<[i32; 768], Failed> {
    let mut data = [-1; 768];
    // SAFETY: the shims bind `data` with its extent.
    call_in(&Run::new(), |env| unsafe {
        shim(env, data.as_mut_ptr(), 768, which as i64)
    })?;
    Ok(data)
}

/// As in the kernels: the number of matrices, and whether they are transposed.
const FORMS: [(usize, bool); 6] = [
    (1, false),
    (1, true),
    (2, false),
    (2, true),
    (4, false),
    (4, true),
];

/// The element of shared memory that is half `half` of register `matrix` of thread `thread`.
fn place(matrix: usize, thread: usize, half: usize, transposed: bool) -> usize {
    let (row, column) = (thread / 4, 2 * (thread % 4) + half);
    let (row, column) = if transposed {
        (column, row)
    } else {
        (row, column)
    };
    let address_from = 8 * matrix + row;
    (address_from * 5 + 3) % 32 * 24 + column
}

#[test]
fn loads_bring_each_thread_its_elements() {
    for (which, (count, transposed)) in FORMS.into_iter().enumerate() {
        let found = run(conf_load_matrices, which).expect("runs");
        for thread in 0..32 {
            for matrix in 0..4 {
                let half = |h| place(matrix, thread, h, transposed) as i32;
                let expected = if matrix < count {
                    half(0) | half(1) << 16
                } else {
                    -1
                };
                assert_eq!(
                    found[thread * 4 + matrix],
                    expected,
                    "x{count}, transposed: {transposed}, thread {thread}, matrix {matrix}"
                );
            }
        }
    }
}

#[test]
fn stores_take_them_back() {
    for (which, (count, transposed)) in FORMS.into_iter().enumerate() {
        let found = run(conf_store_matrices, which).expect("runs");
        let mut expected = [-1; 768];
        for thread in 0..32 {
            for matrix in 0..count {
                let value = (thread as u32 * 4 + matrix as u32) * 0x1_0003;
                for (half, bits) in [value as u16, (value >> 16) as u16].into_iter().enumerate() {
                    expected[place(matrix, thread, half, transposed)] = i32::from(bits as i16);
                }
            }
        }
        assert_eq!(found, expected, "x{count}, transposed: {transposed}");
    }
}

#[test]
fn rows_must_be_where_rows_can_be() {
    let failed = |which| run(conf_bad_rows, which).expect_err("a bad row").record;
    let outside = failed(0);
    assert_eq!((outside.kind, outside.line), (CROQ_OUT_OF_BOUNDS, 60));
    assert_eq!(outside.thread, 9);
    assert_eq!(failed(1).kind, CROQ_MISALIGNED);
    assert_eq!(failed(2).kind, CROQ_OUT_OF_BOUNDS);
    // For two matrices, only sixteen lanes provide addresses.
    let found = run(conf_bad_rows, 3).expect("nobody asks them");
    assert_eq!(found[0] & 0xffff, 7);
}
