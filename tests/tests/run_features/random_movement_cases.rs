// Written by scripts/random_movement.py.

pub fn cases(calls: &mut Calls) {
  calls.run::<f16>("movement_0", &[&[31, 128, -3], &[3, 33, 3], &[8, 100, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[96], -5, 6); (movement_0(&x, &z, d), kernels::movement_0(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i32, _>((Const::<96>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<u8>("movement_1", &[&[5, 7, 31, 3], &[1, 1, 31, 1], &[2, 7, 31, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], 0, 7); let z = Buffer::input(122, &[128], 0, 7); (movement_1(&x, &z, d), kernels::movement_1(&x.tensor::<u8, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<u8, _>((Const::<128>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_2", &[&[3, 100, 0], &[7, 100, 1], &[1, 100, -3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_2(&x, &z, d), kernels::movement_2(&x.tensor::<f32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f32, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_3", &[&[17, -3], &[50, -3], &[2, 0]], |d| { let x = Buffer::input(120, &[d[0], 144], 0, 7); let z = Buffer::input(122, &[1], -5, 6); (movement_3(&x, &z, d), kernels::movement_3(&x.tensor::<u8, _>((d[0] as usize, Const::<144>,)).unwrap(), &z.tensor::<i32, _>((Const::<1>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_4", &[&[7, 3, 1], &[1, 31, 1], &[3, 100, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_4(&x, &z, d), kernels::movement_4(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("movement_5", &[&[2, 3, 80, 0], &[2, 33, 64, 3], &[3, 33, 80, 3]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], 0, 7); let z = Buffer::input(122, &[8, 32], -5, 6); (movement_5(&x, &z, d), kernels::movement_5(&x.tensor::<u8, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<i32, _>((Const::<8>, Const::<32>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_6", &[&[5, 1, 31, 3], &[1, 33, 128, -3], &[2, 2, 128, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], -5, 6); let z = Buffer::input(122, &[7, 16], -5, 6); (movement_6(&x, &z, d), kernels::movement_6(&x.tensor::<f32, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<i8, _>((Const::<7>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("movement_7", &[&[8, -3], &[5, 1], &[2, -3]], |d| { let x = Buffer::input(120, &[d[0], 64], -5, 6); let z = Buffer::input(122, &[d[0], 64], -5, 6); (movement_7(&x, &z, d), kernels::movement_7(&x.tensor::<i64, _>((d[0] as usize, Const::<64>,)).unwrap(), &z.tensor::<i64, _>((d[0] as usize, Const::<64>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_8", &[&[65, 17, 60, 0], &[64, 17, 60, -2], &[64, 1, 16, 0]], |d| { let x = Buffer::input(120, &[d[0], d[2]], -5, 6); let z = Buffer::input(122, &[d[2], d[1]], -5, 6); (movement_8(&x, &z, d), kernels::movement_8(&x.tensor::<f16, _>((d[0] as usize, d[2] as usize,)).unwrap(), &z.tensor::<f16, _>((d[2] as usize, d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_9", &[&[1, 31, 64, -3], &[3, 31, 31, -3], &[1, 33, 31, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], -5, 6); let z = Buffer::input(122, &[8, 32], -5, 6); (movement_9(&x, &z, d), kernels::movement_9(&x.tensor::<f32, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<i64, _>((Const::<8>, Const::<32>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("movement_10", &[&[7, 3, -3], &[7, 3, 0], &[1, 3, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_10(&x, &z, d), kernels::movement_10(&x.tensor::<bf16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("movement_11", &[&[17, 2, -3], &[33, 33, 1], &[33, 16, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[96], -5, 6); (movement_11(&x, &z, d), kernels::movement_11(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((Const::<96>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("movement_12", &[&[1, 2, 16, 3], &[5, 7, 32, -3], &[2, 17, 80, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], -5, 6); let z = Buffer::input(122, &[7, 16], -5, 6); (movement_12(&x, &z, d), kernels::movement_12(&x.tensor::<bf16, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<i64, _>((Const::<7>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_13", &[&[50, -3], &[1, -3], &[2, 1]], |d| { let x = Buffer::input(120, &[d[0], 64], -5, 6); let z = Buffer::input(122, &[d[0], 64], -5, 6); (movement_13(&x, &z, d), kernels::movement_13(&x.tensor::<f16, _>((d[0] as usize, Const::<64>,)).unwrap(), &z.tensor::<f16, _>((d[0] as usize, Const::<64>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_14", &[&[10, 4, 1], &[7, 4, -3], &[3, 64, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_14(&x, &z, d), kernels::movement_14(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_15", &[&[8, 128, -3], &[8, 1, -3], &[16, 65, -3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[7, 16], -5, 6); (movement_15(&x, &z, d), kernels::movement_15(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f32, _>((Const::<7>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_16", &[&[31, 48, 1], &[16, 16, 1], &[16, 128, 3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], 0, 7); let z = Buffer::input(122, &[4, 6, 16], 0, 7); (movement_16(&x, &z, d), kernels::movement_16(&x.tensor::<u8, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<u8, _>((Const::<4>, Const::<6>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<bf16>("movement_17", &[&[31, -3], &[100, 1], &[100, 0]], |d| { let x = Buffer::input(120, &[d[0]], -5, 6); let z = Buffer::input(122, &[2, 5, 24], 0, 7); (movement_17(&x, &z, d), kernels::movement_17(&x.tensor::<bf16, _>((d[0] as usize,)).unwrap(), &z.tensor::<u8, _>((Const::<2>, Const::<5>, Const::<24>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<u8>("movement_18", &[&[1, 2, 15, 1], &[3, 17, 64, 3], &[1, 33, 65, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], 0, 7); let z = Buffer::input(122, &[16, 64], 0, 7); (movement_18(&x, &z, d), kernels::movement_18(&x.tensor::<u8, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<u8, _>((Const::<16>, Const::<64>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_19", &[&[64, 1], &[5, 0], &[5, 1]], |d| { let x = Buffer::input(120, &[d[0], 48], -5, 6); let z = Buffer::input(122, &[1], -5, 6); (movement_19(&x, &z, d), kernels::movement_19(&x.tensor::<f32, _>((d[0] as usize, Const::<48>,)).unwrap(), &z.tensor::<i32, _>((Const::<1>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_20", &[&[1, 1], &[64, 0], &[33, 1]], |d| { let x = Buffer::input(120, &[d[0], 16], -5, 6); let z = Buffer::input(122, &[d[0], 16], -5, 6); (movement_20(&x, &z, d), kernels::movement_20(&x.tensor::<f32, _>((d[0] as usize, Const::<16>,)).unwrap(), &z.tensor::<f32, _>((d[0] as usize, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_21", &[&[2, 1], &[50, 0], &[50, 1]], |d| { let x = Buffer::input(120, &[d[0], 48], -5, 6); let z = Buffer::input(122, &[1], -5, 6); (movement_21(&x, &z, d), kernels::movement_21(&x.tensor::<i32, _>((d[0] as usize, Const::<48>,)).unwrap(), &z.tensor::<i32, _>((Const::<1>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_22", &[&[33, 16, 3], &[31, 80, 0], &[8, 64, 3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[4, 6, 16], -5, 6); (movement_22(&x, &z, d), kernels::movement_22(&x.tensor::<bf16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f16, _>((Const::<4>, Const::<6>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<bf16>("movement_23", &[&[1, 128, -3], &[8, 33, 0], &[33, 2, -3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[7, 16], 0, 7); (movement_23(&x, &z, d), kernels::movement_23(&x.tensor::<i8, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<u8, _>((Const::<7>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("movement_24", &[&[5, 16, 64, 1], &[2, 2, 128, 3], &[1, 31, 48, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], -5, 6); let z = Buffer::input(122, &[24, 48], -5, 6); (movement_24(&x, &z, d), kernels::movement_24(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<f16, _>((Const::<24>, Const::<48>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_25", &[&[3, 15, 0], &[10, 64, 0], &[3, 2, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_25(&x, &z, d), kernels::movement_25(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i8>("movement_26", &[&[15, 0], &[33, -3], &[128, 1]], |d| { let x = Buffer::input(120, &[d[0]], -5, 6); let z = Buffer::input(122, &[96], -5, 6); (movement_26(&x, &z, d), kernels::movement_26(&x.tensor::<bf16, _>((d[0] as usize,)).unwrap(), &z.tensor::<f16, _>((Const::<96>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("movement_27", &[&[10, 33, 1], &[2, 64, 1], &[7, 15, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_27(&x, &z, d), kernels::movement_27(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i32, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_28", &[&[7, 16, 1], &[2, 16, 3], &[2, 65, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[2, 5, 24], -5, 6); (movement_28(&x, &z, d), kernels::movement_28(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((Const::<2>, Const::<5>, Const::<24>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("movement_29", &[&[16, 17, 1, 1], &[7, 1, 48, 0], &[33, 17, 16, -2]], |d| { let x = Buffer::input(120, &[d[2], d[0]], -5, 6); let z = Buffer::input(122, &[d[2], d[1]], -5, 6); (movement_29(&x, &z, d), kernels::movement_29(&x.tensor::<f16, _>((d[2] as usize, d[0] as usize,)).unwrap(), &z.tensor::<f16, _>((d[2] as usize, d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_30", &[&[31, 128, -3], &[17, 16, 3], &[33, 16, 3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[96], -5, 6); (movement_30(&x, &z, d), kernels::movement_30(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f16, _>((Const::<96>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<bf16>("movement_31", &[&[2, 1, 0], &[16, 16, 3], &[16, 1, 3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[2, 5, 24], -5, 6); (movement_31(&x, &z, d), kernels::movement_31(&x.tensor::<f32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f16, _>((Const::<2>, Const::<5>, Const::<24>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_32", &[&[32, 3], &[16, 1], &[64, -3]], |d| { let x = Buffer::input(120, &[d[0]], -5, 6); let z = Buffer::input(122, &[128], -5, 6); (movement_32(&x, &z, d), kernels::movement_32(&x.tensor::<i32, _>((d[0] as usize,)).unwrap(), &z.tensor::<i64, _>((Const::<128>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i8>("movement_33", &[&[7, 100, 1], &[3, 33, 0], &[2, 31, 3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[4, 6, 16], -5, 6); (movement_33(&x, &z, d), kernels::movement_33(&x.tensor::<i8, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((Const::<4>, Const::<6>, Const::<16>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<bf16>("movement_34", &[&[16, -3], &[16, 0], &[64, -3]], |d| { let x = Buffer::input(120, &[d[0]], -5, 6); let z = Buffer::input(122, &[8, 32], -5, 6); (movement_34(&x, &z, d), kernels::movement_34(&x.tensor::<i32, _>((d[0] as usize,)).unwrap(), &z.tensor::<bf16, _>((Const::<8>, Const::<32>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_35", &[&[1, 32, 15, 1], &[100, 8, 48, 0], &[7, 8, 15, 0]], |d| { let x = Buffer::input(120, &[d[0], d[2]], -5, 6); let z = Buffer::input(122, &[d[2], d[1]], -5, 6); (movement_35(&x, &z, d), kernels::movement_35(&x.tensor::<f16, _>((d[0] as usize, d[2] as usize,)).unwrap(), &z.tensor::<f16, _>((d[2] as usize, d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("movement_36", &[&[80, 64, 48, 0], &[80, 32, 16, 0], &[80, 64, 16, 1]], |d| { let x = Buffer::input(120, &[d[2], d[0]], -5, 6); let z = Buffer::input(122, &[d[2], d[1]], -5, 6); (movement_36(&x, &z, d), kernels::movement_36(&x.tensor::<f16, _>((d[2] as usize, d[0] as usize,)).unwrap(), &z.tensor::<f16, _>((d[2] as usize, d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("movement_37", &[&[50, -3], &[5, 1], &[5, 1]], |d| { let x = Buffer::input(120, &[d[0], 144], -5, 6); let z = Buffer::input(122, &[d[0], 144], -5, 6); (movement_37(&x, &z, d), kernels::movement_37(&x.tensor::<bf16, _>((d[0] as usize, Const::<144>,)).unwrap(), &z.tensor::<bf16, _>((d[0] as usize, Const::<144>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_38", &[&[3, 16, -3], &[3, 32, 1], &[10, 64, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); (movement_38(&x, &z, d), kernels::movement_38(&x.tensor::<bf16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f32>("movement_39", &[&[8, -3], &[64, 1], &[50, 1]], |d| { let x = Buffer::input(120, &[d[0], 144], -5, 6); let z = Buffer::input(122, &[1], -5, 6); (movement_39(&x, &z, d), kernels::movement_39(&x.tensor::<f32, _>((d[0] as usize, Const::<144>,)).unwrap(), &z.tensor::<i32, _>((Const::<1>,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
}

fn movement_0(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[cdiv(D0, 16) * cdiv(D1, 8), 128], 0);
    for g0 in 0..cdiv(D0, 16) {
    for g1 in 0..cdiv(D1, 8) {
    let mut f1 = transposed(&x, x.all().window(&[19, 8], &[g0 * 16, g1 * 8]), &[1, 0], Rest::Zero);
    let mut s2 = Buffer::new(&[19, 8]);
    for i3 in 0..19i64 {
    for i4 in 0..8i64 {
        s2.set(&[i3, i4], (f1.at(&[i4, i4]) * f1.at(&[7 - i4, i3])));
    }}
    let mut s8 = Buffer::new(&[16, 8]);
    for i9 in 0..16i64 {
    for i10 in 0..8i64 {
        let mut v15 = 0i64;
        for q14 in 0..8i64 { v15 += s2.at(&[i9, q14]); }
        s8.set(&[i9, i10], v15);
    }}
    { let to = y.all().subspan(&[1, 128], &[(g0) * cdiv(D1, 8) + g1, 0]); copy((&s8, s8.all().shaped(&[1, 128])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_1(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[D0, D1, D2], 0);
        for n2 in 0..cdiv(D0, 3) * cdiv(D1, 2) * cdiv(D2, 32) {
        let g2 = (n2) % cdiv(D2, 32);
        let g1 = (n2 / (cdiv(D2, 32))) % cdiv(D1, 2);
        let g0 = (n2 / (cdiv(D2, 32) * cdiv(D1, 2))) % cdiv(D0, 3);
        let mut f4 = padded(&x, x.all().subspan(&[3, 2, 32], &[g0, g1, g2 - 1]), &[2, 2, 0], &[0, 1, 3], 3);
        let mut s5 = Buffer::filled(&[5, 5, 12], 2);
        { let to = s5.all().window(&[1, 1, 8], &[4, 3, 4]); copy((&x, x.all().subspan(&[3, 2, 32], &[g0, g1, g2]).subspan(&[1, 1, 8], &[2, 1, 1])), (&mut s5, to), Rest::Zero, Rest::Zero); }
        let n7 = s5.at(&[3, 2, 6]);
        let mut s9 = Buffer::new(&[35]);
        s9 = load(&z, z.all().window(&[35], &[(n7 + 100) % 94]), Rest::Unspecified);
        for i10 in 0..5i64 {
        for i11 in 0..5i64 {
        for i12 in 0..35i64 {
              f4.set(&[i10, i11, i12], (f4.at(&[i10, i11, i12]) + (s5.at(&[i10, i11, i10]) as i64).min(s5.at(&[i10, 4 - i10, i11]))));
        }}}
        let mut s17 = Buffer::new(&[3, 2, 32]);
        for i18 in 0..3i64 {
        for i19 in 0..2i64 {
        for i20 in 0..32i64 {
              s17.set(&[i18, i19, i20], s5.at(&[i19, i18, 11 - i18]));
        }}}
        for k25 in 0..2i64 {
          { let to = y.all().subspan(&[3, 1, 32], &[g0, g1 * 2 + k25, g2]); copy((&s17, s17.all().subspan(&[3, 1, 32], &[0, k25, 0])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
        }
  }
  y
}

fn movement_2(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 1) {
    let mut f = load(x, x.all().subspan(&[1, D1], &[g, 0]), Rest::Zero);
    for i in 0..1i64 {
        for j in 0..D1 {
          if j < D1 && g * 1 + i < D0 {
            y.set(&[g * 1 + i, j], ((f.at(&[0, D1 - 1 - j]) + f.at(&[0, (j * 2 + 0) % D1])) * f.at(&[0, j])));
    } } }
  }
  y
}

fn movement_3(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 48], 0);
  for b in 0..2i64 {
        for o in 0..2i64 {
          for k in 0..cdiv(cdiv(D0, 1), 2) {
            let n = o * cdiv(cdiv(D0, 1), 2) + k;
            let g = k * 2 + b;
            let xs = load(x, x.all().window(&[1, 48], &[g * 1, 0]), Rest::Zero);
              for i in 0..1i64 {
              for j in 0..48i64 {
              if g * 1 + i < D0 { y.add(&[g * 1 + i, j], (xs.at(&[i, j]) as i64).max((xs.at(&[i, j]) as i64).max(a))); }
              }}
          }
        }
  }
  y
}

fn movement_4(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 3) {
    let mut f = load(x, x.all().subspan(&[3, D1], &[g, 0]), Rest::Zero);
    let w = load(z, z.all(), Rest::Zero);
      for i in 0..3i64 {
          for j in 0..D1 {
          if j < D1 && g * 3 + i < D0 {
            y.set(&[g * 3 + i, j], ((w.at(&[(j * 3 + 7) % D1]) * f.at(&[2 - i, D1 - 1 - j])) - f.at(&[i, D1 - 1 - j])));
    } } }
  }
  y
}

fn movement_5(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[D0, D1, D2], 0);
    for b1 in 0..cdiv(D0, 1) * cdiv(D1, 2) * cdiv(D2, 32) {
    let g2 = (b1) % cdiv(D2, 32);
    let g1 = (b1 / (cdiv(D2, 32))) % cdiv(D1, 2);
    let g0 = (b1 / (cdiv(D2, 32) * cdiv(D1, 2))) % cdiv(D0, 1);
    let mut s4 = Buffer::new(&[1, 2, 32]);
    s4 = load(&x, x.all().stepped(&[1, 2, 32], &[1, 2, 32], &[g0, g1, g2]), Rest::Zero);
    let mut s5 = Buffer::new(&[1, 2, 32]);
    for i6 in 0..1i64 {
    for i7 in 0..2i64 {
    for i8 in 0..32i64 {
      s5.set(&[i6, i7, i8], 0);
    }}}
    for k9 in 0..cdiv(D2, 32) {
      let f10 = load(&x, x.all().subspan(&[1, 2, 32], &[g0, g1, k9]), Rest::Zero);
      for i12 in 0..1i64 {
      for i13 in 0..2i64 {
      for i14 in 0..32i64 {
        { let v = f10.at(&[i12, i12, (i12 * 2 + 1) % 32]) - s5.at(&[i12, i13, i14]); s5.set(&[i12, i13, i14], v); }
      }}}
    }
    let mut s15 = Buffer::new(&[1, 2, 32]);
    for i16 in 0..1i64 {
    for i17 in 0..2i64 {
    for i18 in 0..32i64 {
      s15.set(&[i16, i17, i18], 0);
    }}}
    for k22 in 0..cdiv(D2, 32) {
      let f23 = load(&x, x.all().subspan(&[1, 2, 32], &[g0, g1, k22]), Rest::Zero);
      for i25 in 0..1i64 {
      for i26 in 0..2i64 {
      for i27 in 0..32i64 {
        { let v = f23.at(&[i25, i26, i27]) - s15.at(&[i25, i26, i27]); s15.set(&[i25, i26, i27], v); }
      }}}
    }
    for i31 in 0..1i64 {
    for i32 in 0..2i64 {
    for i33 in 0..32i64 {
      s15.set(&[i31, i32, i33], (s15.at(&[i31, i32, i33]) + ((s4.at(&[i31, i32, i32]) as i64).min(a) * s5.at(&[i31, i32, i33]))));
    }}}
    let mut s34 = Buffer::new(&[1, 2, 32]);
    for i35 in 0..1i64 {
    for i36 in 0..2i64 {
    for i37 in 0..32i64 {
      let mut v42 = 0i64;
      for q41 in 0..1i64 { v42 += s5.at(&[q41, i36, (i37 * 3 + 7) % 32]); }
      s34.set(&[i35, i36, i37], v42);
    }}}
    for i43 in 0..1i64 {
    for i44 in 0..2i64 {
    for i45 in 0..32i64 {
      if g0 * 1 + i43 < D0 && g1 * 2 + i44 < D1 && g2 * 32 + i45 < D2 {
        y.set(&[g0 * 1 + i43, g1 * 2 + i44, g2 * 32 + i45], a);
      }
    }}}
  }
  y
}

fn movement_6(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[D0, D1, D2], 0);
    for g0 in 0..cdiv(D0, 3) {
      for g1 in 0..cdiv(D1, 3) {
        for g2 in 0..cdiv(D2, 8) {
        let mut s1 = Buffer::filled(&[8, 7, 12], 2);
        { let to = s1.all(); copy((&x, x.all().window(&[4, 3, 8], &[g0 * 3, g1 * 3, g2 * 8])), (&mut s1, to), Rest::Zero, Rest::Zero); }
        let mut s3 = Buffer::new(&[7, 16]);
        for w4 in 0..4i64 {
          for k7 in 0..2i64 {
            if (k7 * 4 + w4) < 7 {
              let f6 = load(&z, z.all().shaped(&[7, 16]).subspan(&[1, 16], &[(k7 * 4 + w4), 0]), Rest::Unspecified);
              for i9 in 0..16i64 {
              s3.set(&[(k7 * 4 + w4), i9], f6.at(&[0, (i9 * 1 + 1) % 16])); }
            }
          }
        }
        let mut s10 = Buffer::new(&[3, 3, 8]);
        for i11 in 0..3i64 {
        for i12 in 0..3i64 {
        for i13 in 0..8i64 {
            s10.set(&[i11, i12, i13], ((s3.at(&[i11, i12]) as i64).min(s1.at(&[i11, i12, i13])) + i12));
        }}}
        for i17 in 0..3i64 {
        for i18 in 0..3i64 {
        for i19 in 0..8i64 {
            if g0 * 3 + i17 < D0 && g1 * 3 + i18 < D1 && g2 * 8 + i19 < D2 {
              y.set(&[g0 * 3 + i17, g1 * 3 + i18, g2 * 8 + i19], (s10.at(&[i17, i18, i19]) * s3.at(&[i17, (i18 * 3 + 0) % 16])));
            }
        }}}
  }}}
  y
}

fn movement_7(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 64], 0);
  for b in 0..2i64 {
        for o in 0..2i64 {
          for k in 0..cdiv(cdiv(D0, 2), 2) {
            let n = o * cdiv(cdiv(D0, 2), 2) + k;
            let g = k * 2 + b;
            let xs = load(x, x.all().window(&[2, 64], &[g * 2, 0]), Rest::Zero);
            let zs = load(z, z.all().window(&[2, 64], &[g * 2, 0]), Rest::Zero);
              for i in 0..2i64 {
              for j in 0..64i64 {
              if g * 2 + i < D0 { y.set(&[g * 2 + i, j], j); }
              }}
          }
        }
  }
  y
}

fn movement_8(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, D2, a) = (d[0], d[1], d[2], d[3]);
  let mut y = Buffer::filled(&[D1, D0], 0);
  for m in 0..D0 { for n in 0..D1 {
    let mut sum = 0;
    for k in 0..D2 { sum += x.at(&[m, k]) * z.at(&[k, n]); }
    y.set(&[n, m], sum);
  } }
  y
}

fn movement_9(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[cdiv(D0, 3) * cdiv(D1, 3) * cdiv(D2, 33), 297], 0);
        for n2 in 0..cdiv(D0, 3) * cdiv(D1, 3) * cdiv(D2, 33) {
        let g2 = (n2) % cdiv(D2, 33);
        let g1 = (n2 / (cdiv(D2, 33))) % cdiv(D1, 3);
        let g0 = (n2 / (cdiv(D2, 33) * cdiv(D1, 3))) % cdiv(D0, 3);
        let mut s4 = Buffer::filled(&[4, 3, 33], 2);
        { let to = s4.all(); copy((&x, x.all().subspan(&[3, 3, 33], &[g0, g1 - 1, g2])), (&mut s4, to), Rest::Zero, Rest::Zero); }
        let mut s6 = Buffer::filled(&[4, 3, 13], 4);
        { let to = s6.all().window(&[4, 3, 11], &[0, 0, 1]); copy((&s4, s4.all().chunk(&[1, 1, 3], &[0, 0, 2])), (&mut s6, to), Rest::Unspecified, Rest::Kept); }
        let mut f7 = transposed(&s6, s6.all().chunk(&[2, 1, 1], &[0, 0, 0]), &[0, 2, 1], Rest::Unspecified);
        let mut s9 = Buffer::new(&[3, 3, 33]);
        s9 = load(&x, x.all().subspan(&[3, 3, 33], &[g0, g1, g2]), Rest::Zero);
        let mut s10 = Buffer::new(&[8, 32]);
        for w11 in 0..4i64 {
          for k14 in 0..2i64 {
            let f13 = load(&z, z.all().shaped(&[8, 32]).subspan(&[1, 32], &[(k14 * 4 + w11), 0]), Rest::Unspecified);
            for i16 in 0..32i64 {
            s10.set(&[(k14 * 4 + w11), i16], f13.at(&[0, (i16 * 3 + 1) % 32])); }
          }
        }
        { let to = y.all().subspan(&[1, 297], &[((g0) * cdiv(D1, 3) + g1) * cdiv(D2, 33) + g2, 0]); copy((&s9, s9.all().shaped(&[1, 297])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_10(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 3) {
    let mut f = load(x, x.all().subspan(&[3, D1], &[g, 0]), Rest::Zero);
    let w = load(z, z.all(), Rest::Zero);
    for i in 0..3i64 {
        for j in 0..D1 {
          if j < D1 && g * 3 + i < D0 {
            y.set(&[g * 3 + i, j], f.at(&[2 - i, D1 - 1 - j]));
    } } }
  }
  y
}

fn movement_11(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[D0, D1], 0);
    for g0 in 0..cdiv(D0, 3) {
    for g1 in 0..cdiv(D1, 8) {
    let mut s1 = Buffer::filled(&[5, 3], 2);
    { let to = s1.all().window(&[1, 2], &[4, 0]); copy((&x, x.all().subspan(&[3, 8], &[g0, g1]).chunk(&[3, 4], &[0, 3])), (&mut s1, to), Rest::Zero, Rest::Zero); }
    let n3 = s1.at(&[1, 1]);
    let mut f4 = load(&z, z.all().window(&[14], &[(n3 + 100) % 83]), Rest::Unspecified);
    let mut s5 = Buffer::new(&[14]);
    for i6 in 0..14i64 {
        s5.set(&[i6], a);
    }
    let mut s10 = Buffer::new(&[3, 8]);
    for i11 in 0..3i64 {
    for i12 in 0..8i64 {
        s10.set(&[i11, i12], ((a as i64).max(f4.at(&[13 - i12])) as i64).max(s5.at(&[i12])));
    }}
    { let to = y.all().window(&[3, 8], &[g0 * 3, g1 * 8]); copy((&s10, s10.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_12(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[D0, D1, D2], 0);
    for g0 in 0..cdiv(D0, 3) {
    for g1 in 0..cdiv(D1, 3) {
    for g2 in 0..cdiv(D2, 16) {
    let mut s1 = Buffer::filled(&[2, 2, 12], 2);
    { let to = s1.all(); copy((&x, x.all().subspan(&[3, 3, 16], &[g0, g1, g2]).subspan(&[1, 1, 8], &[2, 1, 0])), (&mut s1, to), Rest::Zero, Rest::Zero); }
    let mut s4 = Buffer::filled(&[11, 17], 2);
    { let to = s4.all().window(&[7, 16], &[2, 0]); copy((&z, z.all().chunk(&[1, 1], &[0, 0])), (&mut s4, to), Rest::Zero, Rest::Zero); }
    let mut s6 = Buffer::filled(&[8, 20], 2);
    { let to = s6.all(); copy((&z, z.all()), (&mut s6, to), Rest::Zero, Rest::Zero); }
    let mut s8 = Buffer::new(&[3, 3, 16]);
    for i9 in 0..3i64 {
    for i10 in 0..3i64 {
    for i11 in 0..16i64 {
          let mut v17 = 0i64;
          for q16 in 0..8i64 { v17 += s6.at(&[q16, i11]); }
          s8.set(&[i9, i10, i11], v17);
    }}}
    { let to = y.all().window(&[3, 3, 16], &[g0 * 3, g1 * 3, g2 * 16]); copy((&s8, s8.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}}
  y
}

fn movement_13(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 64], 0);
  for b in 0..3i64 {
        for k in 0..cdiv(cdiv(D0, 4), 3) {
          let n = k;
          let g = k * 3 + b;
          let xs = load(x, x.all().window(&[4, 64], &[g * 4, 0]), Rest::Zero);
          let zs = load(z, z.all().window(&[4, 64], &[g * 4, 0]), Rest::Zero);
            for i in 0..4i64 {
            for j in 0..64i64 {
            if g * 4 + i < D0 { y.set(&[g * 4 + i, j], ((xs.at(&[i, 63 - i]) + zs.at(&[i, j])) as i64).max(xs.at(&[i, j]))); }
            }}
        }
  }
  y
}

fn movement_14(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 3) {
    let mut f = load(x, x.all().subspan(&[3, D1], &[g, 0]), Rest::Zero);
    let t = transposed(x, x.all().subspan(&[3, D1], &[g, 0]), &[1, 0], Rest::Zero);
    for i in 0..f.extents[0] { for j in 0..D1 { f.set(&[i, j], t.at(&[D1 - 1 - j, i])); } }
      for i in 0..3i64 {
          for j in 0..D1 {
          if j < D1 && g * 3 + i < D0 {
            y.set(&[g * 3 + i, j], f.at(&[2 - i, D1 - 1 - j]));
    } } }
  }
  y
}

fn movement_15(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[D0, D1], 0);
    for g0 in 0..cdiv(D0, 4) {
    for g1 in 0..cdiv(D1, 16) {
    let mut s2 = Buffer::new(&[3, 16]);
    s2 = load(&x, x.all().stepped(&[3, 16], &[4, 16], &[g0, g1]), Rest::Unspecified);
    let mut s3 = Buffer::new(&[40]);
    for i4 in 0..40i64 {
        let mut v9 = 0i64;
        for q8 in 0..16i64 { v9 += (if g0 * 4 + ((i4 * 3 + 2) % 3) < D0 && g1 * 16 + q8 < D1 { s2.at(&[(i4 * 3 + 2) % 3, q8]) } else { 0 }); }
        s3.set(&[i4], v9);
    }
    let mut f10 = load(&x, x.all().subspan(&[4, 16], &[g0, g1]), Rest::Zero);
    { let to = y.all().window(&[4, 16], &[g0 * 4, g1 * 16]); copy((&f10, f10.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_16(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[cdiv(D0, 16) * cdiv(D1, 16), 256], 0);
    for b1 in 0..cdiv(D0, 16) * cdiv(D1, 16) {
    let g1 = (b1) % cdiv(D1, 16);
    let g0 = (b1 / (cdiv(D1, 16))) % cdiv(D0, 16);
    let mut f3 = load(&x, x.all().subspan(&[16, 16], &[g0, g1]), Rest::Zero);
    let mut s4 = Buffer::new(&[16, 16]);
    for i5 in 0..16i64 {
    for i6 in 0..16i64 {
        s4.set(&[i5, i6], ((f3.at(&[i5, (i5 * 1 + 2) % 16]) + f3.at(&[(i6 * 1 + 7) % 16, i6])) as i64).min(i6));
    }}
    let n11 = f3.at(&[1, 11]);
    let mut s13 = Buffer::new(&[3, 2, 9]);
    s13 = load(&z, z.all().window(&[3, 2, 9], &[(n11 + 100) % 2, (n11 + 100) % 5, (n11 + 100) % 8]), Rest::Unspecified);
    let mut s14 = Buffer::new(&[16, 16]);
    for i15 in 0..16i64 {
    for i16 in 0..16i64 {
        s14.set(&[i15, i16], 0);
    }}
    for k21 in 0..cdiv(D1, 16) {
      let f22 = load(&x, x.all().subspan(&[16, 16], &[g0, k21]), Rest::Zero);
      for i24 in 0..16i64 {
      for i25 in 0..16i64 {
          s14.add(&[i24, i25], f22.at(&[(i25 * 3 + 1) % 16, (i24 * 1 + 0) % 16]));
      }}
    }
    let mut s30 = Buffer::new(&[9, 2, 3]);
    for i31 in 0..9i64 {
    for i32 in 0..2i64 {
    for i33 in 0..3i64 {
        let mut v38 = 0i64;
        for q37 in 0..3i64 { v38 += s13.at(&[q37, 1 - i32, i31]); }
        s30.set(&[i31, i32, i33], v38);
    }}}
    { let to = y.all().subspan(&[1, 256], &[(g0) * cdiv(D1, 16) + g1, 0]); copy((&s14, s14.all().shaped(&[1, 256])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_17(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0], 0);
        for n2 in 0..cdiv(D0, 8) {
        let g0 = (n2) % cdiv(D0, 8);
        let mut s5 = Buffer::filled(&[8], 2);
        { let to = s5.all().window(&[8], &[0]); copy((&x, x.all().subspan(&[8], &[g0]).chunk(&[1], &[0])), (&mut s5, to), Rest::Zero, Rest::Zero); }
        let mut s7 = Buffer::filled(&[8], 1);
        { let to = s7.all(); copy((&s5, s5.all()), (&mut s7, to), Rest::Unspecified, Rest::Kept); }
        let mut s8 = Buffer::new(&[10, 24]);
        for w9 in 0..4i64 {
          for k12 in 0..3i64 {
            if (k12 * 4 + w9) < 10 {
              let f11 = load(&z, z.all().shaped(&[10, 24]).subspan(&[1, 24], &[(k12 * 4 + w9), 0]), Rest::Unspecified);
              for i14 in 0..24i64 {
              s8.set(&[(k12 * 4 + w9), i14], f11.at(&[0, (i14 * 1 + 1) % 24])); }
            }
          }
        }
        for i15 in 0..8i64 {
            if g0 * 8 + i15 < D0 {
              y.set(&[g0 * 8 + i15], (s7.at(&[i15]) + a));
            }
        }
  }
  y
}

fn movement_18(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[D0, D1, D2], 0);
        for n2 in 0..cdiv(D0, 1) * cdiv(D1, 2) * cdiv(D2, 33) {
        let g2 = (n2) % cdiv(D2, 33);
        let g1 = (n2 / (cdiv(D2, 33))) % cdiv(D1, 2);
        let g0 = (n2 / (cdiv(D2, 33) * cdiv(D1, 2))) % cdiv(D0, 1);
        let mut f4 = load(&x, x.all().stepped(&[1, 3, 34], &[1, 2, 33], &[g0, g1, g2]), Rest::Zero);
        let mut s5 = Buffer::new(&[1, 2, 33]);
        for i6 in 0..1i64 {
        for i7 in 0..2i64 {
        for i8 in 0..33i64 {
            s5.set(&[i6, i7, i8], (i8 + f4.at(&[i6, i7, i8])));
        }}}
        let mut s12 = Buffer::filled(&[1, 3, 19], 1);
        { let to = s12.all().window(&[1, 1, 17], &[0, 0, 2]); copy((&f4, f4.all().chunk(&[1, 3, 2], &[0, 2, 0])), (&mut s12, to), Rest::Unspecified, Rest::Kept); }
        let mut s13 = Buffer::new(&[1, 2, 33]);
        for i14 in 0..1i64 {
        for i15 in 0..2i64 {
        for i16 in 0..33i64 {
            s13.set(&[i14, i15, i16], f4.at(&[(i16 * 1 + 1) % 1, i15, i14]));
        }}}
        for k20 in 0..3i64 {
          { let to = y.all().subspan(&[1, 2, 11], &[g0, g1, g2 * 3 + k20]); copy((&s13, s13.all().subspan(&[1, 2, 11], &[0, 0, k20])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
        }
  }
  y
}

fn movement_19(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 48], 0);
  for b in 0..1i64 {
        for k in 0..cdiv(cdiv(D0, 8), 1) {
          let n = k;
          let g = k * 1 + b;
          let xs = load(x, x.all().window(&[8, 48], &[g * 8, 0]), Rest::Zero);
              for i in 0..8i64 {
              for j in 0..48i64 {
              if g * 8 + i < D0 { y.set(&[g * 8 + i, j], ((xs.at(&[i, j]) + i) as i64).max(j)); }
              }}
        }
  }
  y
}

fn movement_20(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 16], 0);
  for b in 0..2i64 {
        for k in 0..cdiv(cdiv(D0, 1), 2) {
          let n = k;
          let g = k * 2 + b;
          let xs = load(x, x.all().window(&[1, 16], &[g * 1, 0]), Rest::Zero);
          let zs = load(z, z.all().window(&[1, 16], &[g * 1, 0]), Rest::Zero);
            for i in 0..1i64 {
            for j in 0..16i64 {
            if g * 1 + i < D0 { y.set(&[g * 1 + i, j], ((if zs.at(&[i, j]) < a { zs.at(&[i, j]) } else { a }) as i64).max(a)); }
            }}
        }
  }
  y
}

fn movement_21(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 16], 0);
  for b in 0..2i64 {
        for k in 0..cdiv(cdiv(D0, 8), 2) {
          let n = k;
          let g = k * 2 + b;
          let xs = load(x, x.all().window(&[8, 16], &[g * 8, 8]), Rest::Zero);
            for i in 0..8i64 {
            for j in 0..16i64 {
            if g * 8 + i < D0 { y.set(&[g * 8 + i, j], (a * xs.at(&[(j * 5 + 1) % 8, j]))); }
            }}
        }
  }
  y
}

fn movement_22(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[cdiv(D0, 8) * cdiv(D1, 16), 128], 0);
    for g0 in 0..cdiv(D0, 8) {
    for g1 in 0..cdiv(D1, 16) {
    let mut s2 = Buffer::new(&[16, 8]);
    s2 = transposed(&x, x.all().subspan(&[8, 16], &[g0, g1 - 1]), &[1, 0], Rest::Zero);
    let mut s3 = Buffer::filled(&[128, 16], 0);
    for t4 in 0..128i64 {
      let f5 = load(&x, x.all().subspan(&[1, 16], &[t4, g1]), Rest::Zero);
      for j6 in 0..16i64 { s3.set(&[t4, j6], f5.at(&[0, 15 - j6]) + 1); }
    }
    let mut s7 = Buffer::new(&[8, 16]);
    for i8 in 0..8i64 {
    for i9 in 0..16i64 {
      s7.set(&[i8, i9], s2.at(&[i8, i8]));
    }}
    let mut s10 = Buffer::new(&[16, 128]);
    for i11 in 0..16i64 {
    for i12 in 0..128i64 {
        s10.set(&[i11, i12], ((s3.at(&[(i11 * 2 + 2) % 128, 15 - i11]) as i64).max(s7.at(&[(i12 * 1 + 1) % 8, (i12 * 3 + 0) % 16])) + i12));
    }}
    let mut s17 = Buffer::filled(&[128, 10], 4);
    { let to = s17.all().window(&[128, 8], &[0, 0]); copy((&s3, s3.all().subspan(&[128, 8], &[0, 1])), (&mut s17, to), Rest::Unspecified, Rest::Kept); }
    let mut s18 = Buffer::new(&[8, 16]);
    for i19 in 0..8i64 {
    for i20 in 0..16i64 {
      s18.set(&[i19, i20], 0);
    }}
    for k24 in 0..cdiv(D1, 16) {
      let f25 = load(&x, x.all().subspan(&[8, 16], &[g0, k24]), Rest::Zero);
      for i27 in 0..8i64 {
      for i28 in 0..16i64 {
        { let v = f25.at(&[i27, i28]) - s18.at(&[i27, i28]); s18.set(&[i27, i28], v); }
      }}
    }
    { let to = y.all().subspan(&[1, 128], &[(g0) * cdiv(D1, 16) + g1, 0]); copy((&s18, s18.all().shaped(&[1, 128])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_23(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[cdiv(D0, 8) * cdiv(D1, 64), 512], 0);
    for g0 in 0..cdiv(D0, 8) {
      for g1 in 0..cdiv(D1, 64) {
      let mut s1 = Buffer::filled(&[9, 64], 2);
      { let to = s1.all().window(&[8, 64], &[1, 0]); copy((&x, x.all().subspan(&[8, 64], &[g0 - 1, g1])), (&mut s1, to), Rest::Zero, Rest::Zero); }
      let n3 = s1.at(&[4, 18]);
      let mut s5 = Buffer::new(&[1, 14]);
      s5 = load(&z, z.all().window(&[1, 14], &[(n3 + 100) % 7, (n3 + 100) % 3]), Rest::Unspecified);
      let mut s6 = Buffer::filled(&[3, 9], 0);
      { let to = s6.all().window(&[1, 7], &[1, 0]); copy((&s5, s5.all().chunk(&[1, 2], &[0, 1])), (&mut s6, to), Rest::Unspecified, Rest::Kept); }
      let mut s7 = Buffer::new(&[8, 64]);
      for i8 in 0..8i64 {
      for i9 in 0..64i64 {
          s7.set(&[i8, i9], ((a + s5.at(&[(i9 * 3 + 2) % 1, 13 - i8])) + a));
      }}
      { let to = y.all().subspan(&[1, 512], &[(g0) * cdiv(D1, 64) + g1, 0]); copy((&s7, s7.all().shaped(&[1, 512])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_24(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let D2 = d[2];
  let a = d[3];
  let mut y = Buffer::filled(&[D0, D1, D2], 0);
        for n2 in 0..cdiv(D0, 3) * cdiv(D1, 8) * cdiv(D2, 48) {
        let g2 = (n2) % cdiv(D2, 48);
        let g1 = (n2 / (cdiv(D2, 48))) % cdiv(D1, 8);
        let g0 = (n2 / (cdiv(D2, 48) * cdiv(D1, 8))) % cdiv(D0, 3);
        let mut s5 = Buffer::new(&[3, 8, 48]);
        s5 = load(&x, x.all().window(&[3, 8, 48], &[g0 * 3, g1 * 8, g2 * 48]), Rest::Zero);
        let mut s6 = Buffer::new(&[3, 8, 48]);
        for i7 in 0..3i64 {
        for i8 in 0..8i64 {
        for i9 in 0..48i64 {
            s6.set(&[i7, i8, i9], 0);
        }}}
        for k14 in 0..cdiv(D2, 48) {
          let f15 = load(&x, x.all().subspan(&[3, 8, 48], &[g0, g1, k14]), Rest::Zero);
          for i17 in 0..3i64 {
          for i18 in 0..8i64 {
          for i19 in 0..48i64 {
              s6.add(&[i17, i18, i19], f15.at(&[i17, (i19 * 3 + 1) % 8, i19]));
          }}}
        }
        { let to = y.all().window(&[3, 8, 48], &[g0 * 3, g1 * 8, g2 * 48]); copy((&s6, s6.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_25(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 2) {
    let mut f = load(x, x.all().subspan(&[2, D1], &[g, 0]), Rest::Zero);
    for i in 0..2i64 {
        for j in 0..D1 {
          if j < D1 && g * 2 + i < D0 {
            y.set(&[g * 2 + i, j], f.at(&[1 - i, (j * 3 + 1) % D1]));
    } } }
  }
  y
}

fn movement_26(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[cdiv(D0, 8), 8], 0);
    for g0 in 0..cdiv(D0, 8) {
    let mut s3 = Buffer::new(&[8]);
    s3 = load(&x, x.all().subspan(&[8], &[g0]).chunk(&[1], &[0]), Rest::Zero);
    let mut s5 = Buffer::new(&[96]);
    s5 = load(&z, z.all(), Rest::Unspecified);
    let mut s7 = Buffer::filled(&[11], 2);
    { let to = s7.all().window(&[10], &[1]); copy((&x, x.all().window(&[10], &[g0 * 8 - 2])), (&mut s7, to), Rest::Zero, Rest::Zero); }
    let mut s9 = Buffer::new(&[8]);
    for i10 in 0..8i64 {
        s9.set(&[i10], s5.at(&[i10]));
    }
    { let to = y.all().subspan(&[1, 8], &[g0, 0]); copy((&s9, s9.all().shaped(&[1, 8])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_27(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 2) {
    let mut f = load(x, x.all().subspan(&[2, D1], &[g, 0]), Rest::Zero);
    let w = load(z, z.all(), Rest::Zero);
      for i in 0..2i64 {
          for j in 0..D1 {
          if j < D1 && g * 2 + i < D0 {
            y.set(&[g * 2 + i, j], (w.at(&[(j * 2 + 0) % D1]) - w.at(&[D1 - 1 - j])));
    } } }
  }
  y
}

fn movement_28(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[D0, D1], 0);
    for g0 in 0..cdiv(D0, 2) {
    for g1 in 0..cdiv(D1, 4) {
    let mut f2 = transposed(&x, x.all().subspan(&[2, 4], &[g0, g1]), &[0, 1], Rest::Unspecified);
    let mut s3 = Buffer::new(&[10, 24]);
    for w4 in 0..3i64 {
      for k7 in 0..4i64 {
        if (k7 * 3 + w4) < 10 {
          let f6 = load(&z, z.all().shaped(&[10, 24]).subspan(&[1, 24], &[(k7 * 3 + w4), 0]), Rest::Unspecified);
          for i9 in 0..24i64 {
          s3.set(&[(k7 * 3 + w4), i9], f6.at(&[0, (i9 * 1 + 1) % 24])); }
        }
      }
    }
    for i10 in 0..10i64 {
    for i11 in 0..24i64 {
          s3.set(&[i10, i11], (s3.at(&[i10, i11]) + (((if g0 * 2 + ((i11 * 1 + 7) % 2) < D0 && g1 * 4 + ((i11 * 1 + 1) % 4) < D1 { f2.at(&[(i11 * 1 + 7) % 2, (i11 * 1 + 1) % 4]) } else { 0 }) + (if g0 * 2 + ((i10 * 5 + 2) % 2) < D0 && g1 * 4 + ((i11 * 1 + 7) % 4) < D1 { f2.at(&[(i10 * 5 + 2) % 2, (i11 * 1 + 7) % 4]) } else { 0 })) as i64).max((if g0 * 2 + ((i11 * 1 + 1) % 2) < D0 && g1 * 4 + ((i11 * 1 + 0) % 4) < D1 { f2.at(&[(i11 * 1 + 1) % 2, (i11 * 1 + 0) % 4]) } else { 0 }))));
    }}
    let mut s16 = Buffer::new(&[2, 4]);
    for i17 in 0..2i64 {
    for i18 in 0..4i64 {
        let mut v23 = 0i64;
        for q22 in 0..10i64 { v23 += s3.at(&[q22, 23 - i17]); }
        s16.set(&[i17, i18], v23);
    }}
    { let to = y.all().window(&[2, 4], &[g0 * 2, g1 * 4]); copy((&s16, s16.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_29(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, D2, a) = (d[0], d[1], d[2], d[3]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for m in 0..D0 { for n in 0..D1 {
    let mut sum = 1;
    for k in 0..D2 { sum += x.at(&[k, m]) * z.at(&[k, n]); }
    y.set(&[m, n], sum);
  } }
  y
}

fn movement_30(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[cdiv(D0, 16) * cdiv(D1, 16), 256], 0);
        for n2 in 0..cdiv(D0, 16) * cdiv(D1, 16) {
        let g1 = (n2) % cdiv(D1, 16);
        let g0 = (n2 / (cdiv(D1, 16))) % cdiv(D0, 16);
        let mut s4 = Buffer::filled(&[17, 16], 2);
        { let to = s4.all().window(&[16, 16], &[1, 0]); copy((&x, x.all().subspan(&[16, 16], &[g0, g1])), (&mut s4, to), Rest::Zero, Rest::Zero); }
        for t6 in 0..17i64 {
            let mut m7 = load(&s4, s4.all().subspan(&[1, 16], &[t6, 0]), Rest::Unspecified);
            for j8 in 0..16i64 { m7.add(&[0, j8], t6); }
            { let to = s4.all().subspan(&[1, 16], &[t6, 0]); copy((&m7, m7.all()), (&mut s4, to), Rest::Unspecified, Rest::Kept); }
        }
        let mut s9 = Buffer::new(&[16, 16]);
        for i10 in 0..16i64 {
        for i11 in 0..16i64 {
            s9.set(&[i10, i11], 0);
        }}
        for k16 in 0..cdiv(D1, 16) {
          let f17 = load(&x, x.all().subspan(&[16, 16], &[g0, k16]), Rest::Zero);
          for i19 in 0..16i64 {
          for i20 in 0..16i64 {
              s9.add(&[i19, i20], f17.at(&[i20, 15 - i20]) * (k16 % 3 + 1));
          }}
        }
        let mut s26 = Buffer::new(&[96]);
        s26 = load(&z, z.all().subspan(&[96], &[0]), Rest::Unspecified);
        let mut s27 = Buffer::new(&[16, 16]);
        for i28 in 0..16i64 {
        for i29 in 0..16i64 {
            let mut v35 = 0i64;
            for q34 in 0..16i64 { v35 += s9.at(&[q34, i29]); }
            s27.set(&[i28, i29], v35);
        }}
        { let to = y.all().subspan(&[1, 256], &[(g0) * cdiv(D1, 16) + g1, 0]); copy((&s27, s27.all().shaped(&[1, 256])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_31(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[cdiv(D0, 3) * cdiv(D1, 16), 48], 0);
        for n2 in 0..cdiv(D0, 3) * cdiv(D1, 16) {
        let g1 = (n2) % cdiv(D1, 16);
        let g0 = (n2 / (cdiv(D1, 16))) % cdiv(D0, 3);
        let mut s5 = Buffer::new(&[8, 20]);
        s5 = padded(&x, x.all().subspan(&[3, 16], &[g0, g1]), &[2, 1], &[3, 3], 0);
        let mut s6 = Buffer::new(&[10, 24]);
        for w7 in 0..3i64 {
          for k10 in 0..4i64 {
            if (k10 * 3 + w7) < 10 {
              let f9 = load(&z, z.all().shaped(&[10, 24]).subspan(&[1, 24], &[(k10 * 3 + w7), 0]), Rest::Unspecified);
              for i12 in 0..24i64 {
              s6.set(&[(k10 * 3 + w7), i12], f9.at(&[0, (i12 * 5 + 1) % 24])); }
            }
          }
        }
        for t13 in 0..8i64 {
            let mut m14 = load(&s5, s5.all().subspan(&[1, 20], &[t13, 0]), Rest::Unspecified);
            for j15 in 0..20i64 { m14.add(&[0, j15], (s6.at(&[t13, 23 - t13]) - s6.at(&[(j15 * 1 + 0) % 10, t13]))); }
            { let to = s5.all().subspan(&[1, 20], &[t13, 0]); copy((&m14, m14.all()), (&mut s5, to), Rest::Unspecified, Rest::Kept); }
        }
        for t16 in 0..10i64 {
            let mut m17 = load(&s6, s6.all().subspan(&[1, 24], &[t16, 0]), Rest::Unspecified);
            for j18 in 0..24i64 { m17.add(&[0, j18], s5.at(&[(j18 * 2 + 1) % 8, 19 - t16])); }
            { let to = s6.all().subspan(&[1, 24], &[t16, 0]); copy((&m17, m17.all()), (&mut s6, to), Rest::Unspecified, Rest::Kept); }
        }
        let mut s19 = Buffer::new(&[3, 16]);
        for i20 in 0..3i64 {
        for i21 in 0..16i64 {
            s19.set(&[i20, i21], ((i20 + s5.at(&[i20, i21])) + a));
        }}
        { let to = y.all().subspan(&[1, 48], &[(g0) * cdiv(D1, 16) + g1, 0]); copy((&s19, s19.all().shaped(&[1, 48])), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_32(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0], 0);
    for g0 in 0..cdiv(D0, 16) {
    let mut f1 = load(&x, x.all().stepped(&[32], &[16], &[g0]), Rest::Zero);
    let n2 = f1.at(&[11]);
    let mut f3 = load(&z, z.all().window(&[102], &[(n2 + 100) % 27]), Rest::Unspecified);
    let mut s4 = Buffer::new(&[16]);
    for i5 in 0..16i64 {
        s4.set(&[i5], ((f1.at(&[i5]) * a) - f1.at(&[31 - i5])));
    }
    { let to = y.all().window(&[16], &[g0 * 16]); copy((&s4, s4.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }
  y
}

fn movement_33(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let D1 = d[1];
  let a = d[2];
  let mut y = Buffer::filled(&[D0, D1], 0);
    for g0 in 0..cdiv(D0, 16) {
      for g1 in 0..cdiv(D1, 8) {
      let mut f1 = load(&x, x.all().subspan(&[16, 8], &[g0, g1]), Rest::Unspecified);
      let mut s2 = Buffer::new(&[16]);
      for i3 in 0..16i64 {
          s2.set(&[i3], (i3 + (if g0 * 16 + i3 < D0 && g1 * 8 + ((i3 * 1 + 0) % 8) < D1 { f1.at(&[i3, (i3 * 1 + 0) % 8]) } else { 0 })));
      }
      let mut s7 = Buffer::new(&[24, 16]);
      for w8 in 0..4i64 {
        for k11 in 0..6i64 {
          let f10 = load(&z, z.all().shaped(&[24, 16]).subspan(&[1, 16], &[(k11 * 4 + w8), 0]), Rest::Unspecified);
          for i13 in 0..16i64 {
          s7.set(&[(k11 * 4 + w8), i13], f10.at(&[0, (i13 * 5 + 1) % 16])); }
        }
      }
      for t14 in 0..24i64 {
          let mut m15 = load(&s7, s7.all().subspan(&[1, 16], &[t14, 0]), Rest::Unspecified);
          for j16 in 0..16i64 { m15.add(&[0, j16], (a as i64).max(a)); }
          { let to = s7.all().subspan(&[1, 16], &[t14, 0]); copy((&m15, m15.all()), (&mut s7, to), Rest::Unspecified, Rest::Kept); }
      }
      let mut s17 = Buffer::filled(&[17, 9], 2);
      { let to = s17.all().window(&[16, 8], &[0, 0]); copy((&x, x.all().subspan(&[16, 8], &[g0, g1])), (&mut s17, to), Rest::Zero, Rest::Zero); }
      let mut s19 = Buffer::filled(&[5, 3, 17], 2);
      { let to = s19.all().window(&[1, 3, 16], &[4, 0, 0]); copy((&z, z.all().subspan(&[1, 3, 16], &[3, g0 % 2, 0])), (&mut s19, to), Rest::Zero, Rest::Zero); }
      { let to = y.all().window(&[16, 8], &[g0 * 16, g1 * 8]); copy((&f1, f1.all()), (&mut y, to), Rest::Unspecified, Rest::Kept); }
  }}
  y
}

fn movement_34(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0], 0);
        for n2 in 0..cdiv(D0, 24) {
        let g0 = (n2) % cdiv(D0, 24);
        let mut f4 = load(&x, x.all().subspan(&[24], &[g0]).subspan(&[12], &[0]), Rest::Zero);
        let mut s5 = Buffer::new(&[8, 32]);
        for w6 in 0..2i64 {
          for k9 in 0..4i64 {
            let f8 = load(&z, z.all().shaped(&[8, 32]).subspan(&[1, 32], &[(k9 * 2 + w6), 0]), Rest::Unspecified);
            for i11 in 0..32i64 {
            s5.set(&[(k9 * 2 + w6), i11], f8.at(&[0, (i11 * 3 + 1) % 32])); }
          }
        }
        let mut s12 = Buffer::filled(&[10, 8], 1);
        { let to = s12.all().window(&[8, 8], &[0, 0]); copy((&s5, s5.all().subspan(&[8, 8], &[0, 2])), (&mut s12, to), Rest::Unspecified, Rest::Kept); }
        let mut f13 = padded(&z, z.all().chunk(&[4, 2], &[g0 % 4, 0]), &[0, 0], &[0, 0], 3);
        let mut s14 = Buffer::filled(&[4, 4], 0);
        { let to = s14.all().window(&[2, 4], &[0, 0]); copy((&f13, f13.all().chunk(&[1, 4], &[0, 1])), (&mut s14, to), Rest::Unspecified, Rest::Kept); }
        let n15 = f4.at(&[6]);
        let mut f16 = load(&z, z.all().window(&[8, 20], &[0, (n15 + 100) % 13]), Rest::Unspecified);
        let mut s17 = Buffer::new(&[24]);
        for i18 in 0..24i64 {
            s17.set(&[i18], (f13.at(&[(i18 * 5 + 0) % 2, (i18 * 5 + 0) % 16]) as i64).min(f13.at(&[(i18 * 2 + 7) % 2, (i18 * 2 + 2) % 16])));
        }
        for i22 in 0..24i64 {
            if g0 * 24 + i22 < D0 {
              y.set(&[g0 * 24 + i22], (a * s17.at(&[23 - i22])));
            }
        }
  }
  y
}

fn movement_35(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, D2, a) = (d[0], d[1], d[2], d[3]);
  let mut y = Buffer::filled(&[D1, D0], 0);
  for m in 0..D0 { for n in 0..D1 {
    let mut sum = 1;
    for k in 0..D2 { sum += x.at(&[m, k]) * z.at(&[k, n]); }
    y.set(&[n, m], sum);
  } }
  y
}

fn movement_36(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, D2, a) = (d[0], d[1], d[2], d[3]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for m in 0..D0 { for n in 0..D1 {
    let mut sum = 1;
    for k in 0..D2 { sum += x.at(&[k, m]) * z.at(&[k, n]); }
    sum = sum - (m % 32) - 2 * (n % 8);
    y.set(&[m, n], sum);
  } }
  y
}

fn movement_37(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 48], 0);
  for b in 0..3i64 {
        for k in 0..cdiv(cdiv(D0, 1), 3) {
          let n = k;
          let g = k * 3 + b;
          let xs = load(x, x.all().window(&[1, 48], &[g * 1, 0]), Rest::Zero);
          let zs = load(z, z.all().window(&[1, 48], &[g * 1, 0]), Rest::Zero);
              for i in 0..1i64 {
              for j in 0..48i64 {
              if g * 1 + i < D0 { y.set(&[g * 1 + i, j], (xs.at(&[i, j]) as i64).max((zs.at(&[i, j]) + xs.at(&[i, j])))); }
              }}
        }
  }
  y
}

fn movement_38(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let (D0, D1, a) = (d[0], d[1], d[2]);
  let mut y = Buffer::filled(&[D0, D1], 0);
  for g in 0..cdiv(D0, 1) {
    let mut f = load(x, x.all().subspan(&[1, D1], &[g, 0]), Rest::Zero);
      for i in 0..1i64 {
          for j in 0..D1 {
          if j < D1 && g * 1 + i < D0 {
            y.set(&[g * 1 + i, j], ((f.at(&[0, (j * 3 + 0) % D1]) + f.at(&[0, (j * 2 + 0) % D1])) + f.at(&[0, j])));
    } } }
  }
  y
}

fn movement_39(x: &Buffer, z: &Buffer, d: &[i64]) -> Buffer {
  let D0 = d[0];
  let a = d[1];
  let mut y = Buffer::filled(&[D0, 48], 0);
  for b in 0..3i64 {
        for k in 0..cdiv(cdiv(D0, 1), 3) {
          let n = k;
          let g = k * 3 + b;
          let xs = load(x, x.all().window(&[1, 48], &[g * 1, 24]), Rest::Zero);
            for i in 0..1i64 {
            for j in 0..48i64 {
            if g * 1 + i < D0 { y.set(&[g * 1 + i, j], xs.at(&[i, i])); }
            }}
        }
  }
  y
}
