//! The expected contents of `dst` after the kernels of `co/right.co`, computed in plain Rust.

use crate::{SIDE, index, source};

/// `dst[i, j]` after the kernel; it is zero where nothing is stored.
pub fn expected(name: &str, indices: &str, i: usize, j: usize) -> Option<f32> {
    let s = source;
    let row_sum = |row: usize| (0..SIDE).map(|k| s(row, k)).sum::<f32>();
    let of_index = |wanted: usize| {
        let all = (0..SIDE).filter(move |&k| index(indices, k) == wanted as i32);
        all.collect::<Vec<_>>()
    };
    let first_row = |value: f32| if i == 0 { value } else { 0.0 };
    let corner = |value: f32| if (i, j) == (0, 0) { value } else { 0.0 };
    let rows = |count: usize, value: f32| if i < count { value } else { 0.0 };
    let next = (j + 1) % SIDE;
    Some(match name {
        "right_neighbour" => rows(4, s(i, next)),
        "right_condition_of_all" => rows(4, s(i, SIDE - 1 - j)),
        "right_reversed_in_place" => rows(2, s(i, SIDE - 1 - j)),
        "right_warp_barrier" => first_row(s(0, j / 32 * 32 + (j + 1) % 32)),
        "right_tree" => rows(4, if j == 0 { row_sum(i) } else { 0.0 }),
        "right_scan" => first_row((0..=j).map(|k| s(0, k)).sum()),
        "right_second_buffer" => first_row(s(0, (j + 8) % SIDE)),
        "right_bins" => first_row(if j < 8 { of_index(j).len() as f32 } else { 0.0 }),
        "right_same_value" => rows(4, s(i, 0)),
        "right_histogram" => first_row(of_index(j).len() as f32),
        "right_scatter_add" => of_index(i).iter().map(|&p| s(p, j)).sum(),
        "right_scatter" => s(SIDE - 1 - i, j),
        "right_shift" => first_row(if j < 63 { s(0, j + 1) } else { 0.0 }),
        "right_one_element" => corner(2048.0),
        "right_two_blocks" => first_row(s(3, j)),
        "right_flag" => corner(1.0),
        "right_stencil" if i == 0 || i == 63 => 0.0,
        "right_stencil" => 0.5 * (s(i - 1, j) + s(i + 1, j)),
        "right_two_launches" => 2.0 * s(SIDE - 1 - i, j),
        "right_last_block" => match (i, j) {
            (0, 0) => (0..8).map(row_sum).sum(),
            (1, 0..8) => row_sum(j),
            _ => 0.0,
        },
        "right_other_blocks" => match i {
            0..8 => s(i, j),
            8..16 => s((i - 8 + 1) % 8, j),
            _ => 0.0,
        },
        "right_within_a_block" => match i {
            0..8 => s(i, j),
            8..16 => s(i - 8, next),
            _ => 0.0,
        },
        "right_flag_forwards" | "right_flag_backwards" | "right_flag_in_cpp" => match (i, j) {
            (0, 0) => s(5, 5),
            (0, 1) => s(5, 5) + 1.0,
            _ => 0.0,
        },
        "right_look_back" => first_row(if j < 16 {
            (0..=j).map(row_sum).sum()
        } else {
            0.0
        }),
        "right_waited" | "right_prefetch" | "right_tma" | "right_tma_ring" | "right_ring"
        | "right_credits" | "right_while_ring" | "right_two_copies" => rows(8, s(8 * i, j)),
        "right_sum" => {
            if j == 0 {
                row_sum(i)
            } else {
                0.0
            }
        }
        "right_filled_by_a_loop" => s(i, SIDE - 1 - j),
        "right_masked_store" => rows(8, if j < 63 { 2.0 * s(i, j + 1) + 1.0 } else { 0.0 }),
        "right_ragged" => s(i, j) + 1.0,
        "right_ragged_back" => s(i, j),
        "right_tail_of_k" => rows(8, (0..SIDE - 5).map(|k| s(i, k)).sum()),
        "right_condition" => f32::from(u8::from(j == 0)),
        "right_all_lanes" => first_row(if j < 31 { s(0, j + 1) } else { 0.0 }),
        "right_half_a_warp" => first_row(if j < 15 { s(0, j + 1) } else { 0.0 }),
        "right_votes" => first_row(if j < 32 { 31.0 } else { 0.0 }),
        "right_table_row" => rows(8, s(SIDE - 1 - i, j)),
        "right_halo" => {
            let at = |row: isize| match usize::try_from(row) {
                Ok(row) if row < SIDE => s(row, j),
                _ => 0.0,
            };
            at(i as isize - 1) + at(i as isize + 1)
        }
        "right_stored_tile" => {
            if i >= 56 {
                s(SIDE - 1 - i, j)
            } else {
                0.0
            }
        }
        "right_progress" => {
            if i < 4 && j == 0 {
                1_000_000.0
            } else {
                0.0
            }
        }
        "right_lock" => corner((0..8).map(|b| s(b, 0)).sum()),
        _ => return None,
    })
}
