// Written by scripts/random_launches.py.

pub fn cases(calls: &mut Calls) {
  calls.run::<i8>("launches_0", &[&[2, 64, 1], &[17, 130, 5], &[17, 4, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_0(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_0(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("launches_1", &[&[33, 33, 4], &[33, 1000, 0], &[33, 32, 4]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_1(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_1(&x.tensor::<i8, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("launches_2", &[&[3, 7, 1], &[1, 1000, 4], &[3, 1000, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_2(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_2(&x.tensor::<bf16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i8, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("launches_3", &[&[8, 16, 4], &[3, 1000, 0], &[3, 16, 5]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_3(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_3(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("launches_4", &[&[33, 100, 5], &[8, 256, 5], &[8, 64, -3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_4(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_4(&x.tensor::<i8, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f32, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("launches_5", &[&[5, 7, 0], &[5, 16, 2], &[17, 256, 5]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_5(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_5(&x.tensor::<f16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<bf16>("launches_6", &[&[3, 256, 0], &[5, 31, 0], &[3, 16, 4]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_6(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_6(&x.tensor::<i64, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i8>("launches_7", &[&[17, 3, 7, 1], &[8, 8, 256, 1], &[8, 5, 256, 0]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], -5, 6); let z = Buffer::input(122, &[d[1]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_7(&mut m, 0, 1, d[0], d[1], d[2], d[d.len() - 1]); m[y].clone() }, kernels::launches_7(&x.tensor::<f16, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<i32, _>((d[1] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i64>("launches_8", &[&[2, 31, 4], &[3, 31, 2], &[1, 32, 4]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_8(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_8(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i8>("launches_9", &[&[5, 256, 0], &[3, 100, 4], &[2, 4, -3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_9(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_9(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<bf16, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("launches_10", &[&[8, 7, 1], &[1, 1000, 1], &[1, 7, 4]], |d| { let x = Buffer::input(120, &[d[0], d[1]], 0, 7); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_10(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_10(&x.tensor::<u8, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<f16, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("launches_11", &[&[3, 32, -3], &[33, 1000, 2], &[17, 4, 1]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_11(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_11(&x.tensor::<f16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i64, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<f16>("launches_12", &[&[1, 31, 0], &[3, 130, 4], &[1, 1, -3]], |d| { let x = Buffer::input(120, &[d[0], d[1]], -5, 6); let z = Buffer::input(122, &[d[0]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_12(&mut m, 0, 1, d[0], d[1], d[d.len() - 1]); m[y].clone() }, kernels::launches_12(&x.tensor::<f16, _>((d[0] as usize, d[1] as usize,)).unwrap(), &z.tensor::<i8, _>((d[0] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
  calls.run::<i32>("launches_13", &[&[5, 17, 32, 5], &[5, 8, 130, 5], &[1, 1, 32, 2]], |d| { let x = Buffer::input(120, &[d[0], d[1], d[2]], -5, 6); let z = Buffer::input(122, &[d[2]], -5, 6); ({ let mut m = vec![x.clone(), z.clone()]; let y = launches_13(&mut m, 0, 1, d[0], d[1], d[2], d[d.len() - 1]); m[y].clone() }, kernels::launches_13(&x.tensor::<i32, _>((d[0] as usize, d[1] as usize, d[2] as usize,)).unwrap(), &z.tensor::<f32, _>((d[2] as usize,)).unwrap(), d[d.len() - 1] as i32).map(|y| y.into_vec())) });
}

fn launches_0_0(m: &mut Vec<Buffer>, mut u: usize, A: i64, B: i64, a: i64) -> usize {
  for i1 in 0..A { for i2 in 0..B { { let v = ((m[u].at(&[i1, i2]) + ((3 + 7) - (3 as i64).min((i2 % 7)))) as i64).min(60); m[u].set(&[i1, i2], v); } }}
  let mut y3 = made(m, Buffer::filled(&[A, B], 0));
  for i4 in 0..A { for i5 in 0..B { { let v = ((((m[u].at(&[(A - 1 - i4), ((i5 * 3 + 0) % B)]) + m[u].at(&[i4, i5])) - (m[u].at(&[((i5 * 1 + 0) % A), (B - 1 - i5)]) as i64).min(1)) as i64).max(-60) as i64).min(60); m[y3].set(&[i4, i5], v); } }}
  for r6 in 0..2 {
    if a % 2 == 0 {
      let mut y7 = made(m, Buffer::filled(&[A, B], 2));
      for i8 in 0..A { for i9 in 0..B { { let v = (((1 + m[u].at(&[(A - 1 - i8), i9]) + m[y3].at(&[((i8 * 3 + 0) % A), i9])) as i64).max(-60) as i64).min(60); m[y7].set(&[i8, i9], v); } }}
      let mut d13 = { let v = m[y7].clone(); made(m, v) };
    } else {
      for i14 in 0..A { for i15 in 0..B { { let v = (((m[u].at(&[i14, i15]) + ((m[y3].at(&[((i15 * 1 + 1) % A), i15]) * a) as i64).min((a as i64).min((i15 % 7)))) as i64).max(-60) as i64).min(60); m[u].set(&[i14, i15], v); } }}
    }
    for i16 in 0..A { for i17 in 0..B { { let v = ((1 + m[u].at(&[((i16 * 1 + 0) % A), i17])) as i64).min(60); m[y3].set(&[i16, i17], v); } }}
    let mut y21 = made(m, Buffer::filled(&[A, B], 2));
    for i22 in 0..A { for i23 in 0..B { { let v = (((m[y21].at(&[i22, i23]) + ((if m[u].at(&[i22, ((i23 * 1 + 1) % B)]) <= m[y3].at(&[((i22 * 1 + 1) % A), ((i22 * 3 + 1) % B)]) { m[u].at(&[i22, ((i23 * 1 + 1) % B)]) } else { m[y3].at(&[((i22 * 1 + 1) % A), ((i22 * 3 + 1) % B)]) }) as i64).min((m[u].at(&[((i23 * 1 + 1) % A), i23]) * m[u].at(&[i22, ((i23 * 1 + 5) % B)])))) as i64).max(-60) as i64).min(60); m[y21].set(&[i22, i23], v); } }}
  }
  y3
}

fn launches_0_1(m: &mut Vec<Buffer>, mut u: usize, A: i64, B: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[B, A], 0));
  for i2 in 0..B { for i3 in 0..A { { let v = (1); m[y1].set(&[i2, i3], v); } }}
  y1
}

fn launches_0_2(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[A], 2));
  for i2 in 0..A { { let v = (((1 + m[w].at(&[i2]) + m[u].at(&[i2])) as i64).max(-60) as i64).min(60); m[y1].set(&[i2], v); } }
  y1
}

fn launches_0(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[D1, D0], 0));
  for i2 in 0..D1 { for i3 in 0..D0 { { let v = ((((i3 % 7) as i64).min((i2 % 7)) - m[z].at(&[i3])) as i64).min(60); m[y1].set(&[i2, i3], v); } }}
  let d8 = { let v = m[x].clone(); made(m, v) };
  let d8f = d8;
  let mut d8 = d8;
  let v = m[d8f].clone(); d8 = made(m, v);
  for i9 in 0..D0 { { let v = (((m[z].at(&[i9]) + ((3 * m[d8].at(&[(D0 - 1 - i9), ((i9 * 2 + 1) % D1)])) - (m[x].at(&[i9, ((i9 * 1 + 5) % D1)]) as i64).max(2))) as i64).max(-60) as i64).min(60); m[z].set(&[i9], v); } }
  let mut y10 = made(m, Buffer::filled(&[D0, D1], 0));
  for i11 in 0..D0 { for i12 in (0..D1 - 1).step_by(1) { { let v = ((((m[z].at(&[i11]) * m[y1].at(&[i12, i11])) + m[x].at(&[(D0 - 1 - i11), i12])) as i64).max(-60) as i64).min(60); m[y10].set(&[i11, i12], v); } }}
  let mut y13 = made(m, Buffer::filled(&[D0, D0], 0));
  for i14 in 0..D0 { for i15 in 0..D0 { { let v = ((1 + m[z].at(&[i15])) as i64).min(60); m[y13].set(&[i14, i15], v); } }}
  let e19 = [x, y10][((a + 4) % 2) as usize];
  for i20 in 0..D0 { for i21 in 0..D1 { { let v = m[y1].at(&[((i21 * 1 + 1) % D1), (D0 - 1 - i20)]); m[e19].set(&[i20, i21], v); } }}
  for r22 in 0..2 {
    let mut y24 = made(m, Buffer::filled(&[D0, D0, D1], 2));
    for i25 in 0..D0 { for i26 in 0..D0 { for i27 in 0..D1 { { let v = ((1 + m[d8].at(&[i26, i27])) as i64).min(60); m[y24].set(&[i25, i26, i27], v); } }}}
    if a > 0 {
      for i31 in 0..D0 { for i32 in 0..D0 { for i33 in 0..D1 { { let v = ((((m[y10].at(&[i32, ((i31 * 1 + 0) % D1)]) * m[x].at(&[(D0 - 1 - i31), ((i32 * 1 + 0) % D1)])) - ((i31 % 7) as i64).max(m[x].at(&[i32, (D1 - 1 - i33)]))) as i64).max(-60) as i64).min(60); m[y24].set(&[i31, i32, i33], v); } }}}
      for i34 in 0..D0 { { let v = (((m[z].at(&[i34]) + ((if m[[y10, x][((a + 3) % 2) as usize]].at(&[i34, ((i34 * 1 + 0) % D1)]) == 3 { m[[y10, x][((a + 3) % 2) as usize]].at(&[i34, ((i34 * 1 + 0) % D1)]) } else { 3 }) as i64).max((m[x].at(&[i34, ((i34 * 1 + 1) % D1)]) - m[y10].at(&[((i34 * 1 + 1) % D0), ((i34 * 1 + 1) % D1)])))) as i64).max(-60) as i64).min(60); m[z].set(&[i34], v); } }
    }
  }
  let mut y35 = made(m, Buffer::filled(&[D0, D1], 0));
  for i36 in 0..D0 { for i37 in 0..D1 { { let v = (((m[y35].at(&[i36, i37]) + ((if m[d8].at(&[((i37 * 1 + 1) % D0), i37]) < m[x].at(&[i36, i37]) { m[d8].at(&[((i37 * 1 + 1) % D0), i37]) } else { m[x].at(&[i36, i37]) }) + ((i36 % 7) as i64).min(m[d8].at(&[((i36 * 1 + 0) % D0), (D1 - 1 - i37)])))) as i64).max(-60) as i64).min(60); m[y35].set(&[i36, i37], v); } }}
  y35
}

fn launches_1_0(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[B, A], 2));
  for i2 in 0..B { for i3 in 0..A { { let v = (1); m[y1].set(&[i2, i3], v); } }}
  if B % 2 == 0 {
    let mut d7 = { let v = m[y1].clone(); made(m, v) };
    for i8 in 0..B { for i9 in 0..A { { let v = ((1 + m[y1].at(&[i8, i9])) as i64).min(60); m[d7].set(&[i8, i9], v); } }}
  }
  y1
}

fn launches_1(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for i1 in 0..D0 { for i2 in 0..D1 { { let v = (((m[x].at(&[i1, i2]) + ((m[z].at(&[i1]) as i64).max(m[z].at(&[i1])) as i64).min((a as i64).min(m[z].at(&[((i2 * 1 + 5) % D0)])))) as i64).max(-60) as i64).min(60); m[x].set(&[i1, i2], v); } }}
  let mut y5 = made(m, Buffer::filled(&[D0, D1], 0));
  for i6 in 0..D0 { for i7 in 0..D1 { { let v = ((if (m[z].at(&[((i6 * 1 + 5) % D0)]) + (i6 % 7)) < m[z].at(&[i6]) { (m[z].at(&[((i6 * 1 + 5) % D0)]) + (i6 % 7)) } else { m[z].at(&[i6]) }) as i64).min(60); m[y5].set(&[i6, i7], v); } }}
  for i8 in 0..D0 { for i9 in 0..D1 { { let v = ((((m[z].at(&[(D0 - 1 - i8)]) as i64).min((i9 % 7)) + (if (i8 % 7) < m[y5].at(&[((i9 * 2 + 1) % D0), ((i8 * 1 + 5) % D1)]) { (i8 % 7) } else { m[y5].at(&[((i9 * 2 + 1) % D0), ((i8 * 1 + 5) % D1)]) })) as i64).max(-60) as i64).min(60); m[x].set(&[i8, i9], v); } }}
  for i14 in 0..D0 { for i15 in 0..D1 { { let v = (((if (m[x].at(&[i14, i15]) - m[x].at(&[i14, (D1 - 1 - i15)])) == a { (m[x].at(&[i14, i15]) - m[x].at(&[i14, (D1 - 1 - i15)])) } else { a }) as i64).max(-60) as i64).min(60); m[y5].set(&[i14, i15], v); } }}
  for i16 in 0..D0 { for i17 in 0..D1 { { let v = (((((i17 % 7) - m[z].at(&[i16])) + m[y5].at(&[i16, ((i17 * 2 + 1) % D1)])) as i64).max(-60) as i64).min(60); m[x].set(&[i16, i17], v); } }}
  let mut y18 = made(m, Buffer::filled(&[D0], 0));
  for i19 in 0..D0 { { let v = ((1 + m[z].at(&[i19])) as i64).min(60); m[y18].set(&[i19], v); } }
  y5
}

fn launches_2_0(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, a: i64) -> usize {
  let e1 = [w, u][((a + 4) % 2) as usize];
  for i2 in 0..A { { let v = (m[e1].at(&[i2]) + ((3 as i64).max(1) - 3)); m[e1].set(&[i2], v); } }
  let mut y3 = made(m, Buffer::filled(&[A], 2));
  for i4 in 0..A { { let v = (((m[y3].at(&[i4]) + ((m[w].at(&[(A - 1 - i4)]) + (i4 % 7)) as i64).min(m[u].at(&[i4]))) as i64).max(-60) as i64).min(60); m[y3].set(&[i4], v); } }
  for i5 in 0..A { { let v = m[w].at(&[((i5 * 3 + 0) % A)]); m[u].set(&[i5], v); } }
  y3
}

fn launches_2_1(m: &mut Vec<Buffer>, mut u: usize, A: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[A], 0));
  for i2 in 0..A { { let v = (((if (m[u].at(&[((i2 * 2 + 0) % A)]) + m[u].at(&[((i2 * 1 + 0) % A)])) > (7 as i64).max(m[u].at(&[i2])) { (m[u].at(&[((i2 * 2 + 0) % A)]) + m[u].at(&[((i2 * 1 + 0) % A)])) } else { (7 as i64).max(m[u].at(&[i2])) }) as i64).max(-60) as i64).min(60); m[y1].set(&[i2], v); } }
  let mut y4 = made(m, Buffer::filled(&[A], 2));
  for i5 in 0..A { { let v = (((m[y4].at(&[i5]) + ((a as i64).min(1) - m[y1].at(&[((i5 * 1 + 1) % A)]))) as i64).max(-60) as i64).min(60); m[y4].set(&[i5], v); } }
  let mut d8 = { let v = m[u].clone(); made(m, v) };
  y1
}

fn launches_2_2(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, a: i64) -> usize {
  let g1 = { let v = load(&m[u], m[u].all().window(&[1], &[A - 1]), Rest::Zero).reshaped(&[1]); made(m, v) };
  let mut c2 = launches_2_1(m, g1, 1, 2);
  { let v = m[g1].reshaped(&[1]); let to = m[u].all().window(&[1], &[A - 1]); let all = v.all(); copy((&v, all), (&mut m[u], to), Rest::Zero, Rest::Kept); }
  c2
}

fn launches_2(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  let g1 = { let v = m[z].clone(); made(m, v) };
  let g2 = { let v = m[z].clone(); made(m, v) };
  let mut c3 = launches_2_0(m, g1, g2, D0, 2);
  let d4 = { let v = m[c3].clone(); made(m, v) };
  let d4f = d4;
  let mut d4 = d4;
  let v = m[d4f].clone(); d4 = made(m, v);
  let mut y5 = made(m, Buffer::filled(&[D0, D1], 2));
  for p6 in 0..cdiv(D0, 8) { for p7 in 0..cdiv(D1, 4) { let f8 = load(&m[x], m[x].all().subspan(&[8, 4], &[p6, p7]), Rest::Zero); let mut s = Buffer::new(&[8, 4]); for i9 in 0..8i64 { for i10 in 0..4i64 { s.set(&[i9, i10], (if ((i10 % 7) as i64).max(1) > (1 as i64).min(a) { ((i10 % 7) as i64).max(1) } else { (1 as i64).min(a) })); }} let to = m[y5].all().subspan(&[8, 4], &[p6, p7]); let all = s.all(); copy((&s, all), (&mut m[y5], to), Rest::Zero, Rest::Kept); }}
  let h11 = m[d4].at(&[0]);
  let e12 = [y5, x][((a + 4) % 2) as usize];
  let h13 = m[z].at(&[D0 - 1]);
  let mut y14 = made(m, Buffer::filled(&[D0], 0));
  for i16 in 0..D0 { { let v = (((m[y14].at(&[i16]) + ((if m[e12].at(&[(D0 - 1 - i16), ((i16 * 3 + 0) % D1)]) < (i16 % 7) { m[e12].at(&[(D0 - 1 - i16), ((i16 * 3 + 0) % D1)]) } else { (i16 % 7) }) - (1 - a))) as i64).max(-60) as i64).min(60); m[y14].set(&[i16], v); } }
  let mut y19 = made(m, Buffer::filled(&[D1], 0));
  for i20 in 0..D1 { let v: i64 = (0..D1).map(|k21| m[y5].at(&[(i20 % D0), k21])).sum(); m[y19].set(&[i20], v.min(60).max(-60)); }
  d4
}

fn launches_3_0(m: &mut Vec<Buffer>, mut u: usize, A: i64, B: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[B, A], 0));
  for i2 in 0..B { for i3 in 0..A { { let v = ((m[y1].at(&[i2, i3]) + ((3 as i64).min(1) as i64).max((2 + (i2 % 7)))) as i64).min(60); m[y1].set(&[i2, i3], v); } }}
  y1
}

fn launches_3_1(m: &mut Vec<Buffer>, mut u: usize, A: i64, B: i64, a: i64) -> usize {
  for r1 in 0..2 {
    let mut y2 = made(m, Buffer::filled(&[A, B], 2));
    { let v = m[u].clone(); m[y2] = v; }
  }
  let mut c3 = launches_3_0(m, u, A, B, -1);
  for i4 in 0..B { for i5 in (0..A - 0).step_by(1) { { let v = ((((i5 % 7) as i64).min(m[u].at(&[i5, i4])) * (i5 % 7)) as i64).max(0); m[c3].set(&[i4, i5], v); } }}
  0
}

fn launches_3(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[D0], 0));
  for i2 in 0..D0 { { let v = ((1 + m[z].at(&[i2])) as i64).min(60); m[y1].set(&[i2], v); } }
  let h6 = m[x].at(&[0, 0]);
  m[y1].set(&[0], (h6 + 1).max(-60).min(60));
  for r7 in 0..2 {
    let mut y8 = made(m, Buffer::filled(&[D0], 0));
    for i9 in 0..D0 { { let v = ((((1 - (i9 % 7)) * m[y1].at(&[(D0 - 1 - i9)])) as i64).max(0) as i64).min(60); m[y8].set(&[i9], v); } }
    if D0 % 2 == 0 {
      let e12 = [z, y1][((r7 + 4) % 2) as usize];
      for i13 in 0..D0 { { let v = ((if m[x].at(&[(D0 - 1 - i13), ((i13 * 1 + 0) % D1)]) > m[x].at(&[i13, ((i13 * 2 + 0) % D1)]) { m[x].at(&[(D0 - 1 - i13), ((i13 * 1 + 0) % D1)]) } else { m[x].at(&[i13, ((i13 * 2 + 0) % D1)]) }) as i64).max((i13 % 7)); m[e12].set(&[i13], v); } }
      let mut y14 = made(m, Buffer::filled(&[D0], 2));
      for i15 in 0..D0 { { let v = ((2 - m[y8].at(&[((i15 * 1 + 0) % D0)])) as i64).min((r7 - r7)); m[y14].set(&[i15], v); } }
    } else {
      for p16 in 0..cdiv(D0, 4) { let f17 = load(&m[z], m[z].all().subspan(&[4], &[p16]), Rest::Zero); let mut s = Buffer::new(&[4]); for i18 in 0..4i64 { s.set(&[i18], ((a as i64).max(r7) as i64).min((f17.at(&[i18]) as i64).max(f17.at(&[i18])))); } let to = m[y1].all().subspan(&[4], &[p16]); let all = s.all(); copy((&s, all), (&mut m[y1], to), Rest::Zero, Rest::Kept); }
    }
    for i21 in 0..D0 { { let v = m[z].at(&[i21]); m[y1].set(&[i21], v); } }
  }
  for i22 in 0..D0 { let v: i64 = (0..D1).map(|k23| m[x].at(&[i22, k23])).sum(); m[y1].set(&[i22], v.min(60).max(-60)); }
  y1
}

fn launches_4(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for r1 in 0..(a + 4) % 4 {
    for i2 in 0..D0 { for i3 in 0..D1 { { let v = (1); m[x].set(&[i2, i3], v); } }}
    for i7 in 0..D0 { { let v = ((if m[x].at(&[((i7 * 1 + 5) % D0), ((i7 * 1 + 0) % D1)]) < m[x].at(&[i7, ((i7 * 2 + 5) % D1)]) { m[x].at(&[((i7 * 1 + 5) % D0), ((i7 * 1 + 0) % D1)]) } else { m[x].at(&[i7, ((i7 * 2 + 5) % D1)]) }) as i64).min((m[x].at(&[i7, ((i7 * 1 + 5) % D1)]) as i64).max(m[x].at(&[i7, ((i7 * 3 + 1) % D1)]))); m[z].set(&[i7], v); } }
  }
  for r10 in 0..3 {
    let mut y11 = made(m, Buffer::filled(&[D0], 0));
    for i12 in 0..D0 { { let v = ((((m[z].at(&[((i12 * 3 + 0) % D0)]) as i64).min(m[x].at(&[i12, ((i12 * 1 + 0) % D1)])) * (1 + m[x].at(&[((i12 * 1 + 1) % D0), ((i12 * 3 + 1) % D1)]))) as i64).max(-60) as i64).min(60); m[y11].set(&[i12], v); } }
  }
  let mut y15 = made(m, Buffer::filled(&[D0, D1], 0));
  for i16 in 0..D0 { for i17 in (0..D1 - 0).step_by(2) { { let v = ((if m[z].at(&[i16]) < 3 { m[z].at(&[i16]) } else { 3 }) as i64).min((1 + m[x].at(&[i16, ((i17 * 2 + 1) % D1)]))); m[y15].set(&[i16, i17], v); } }}
  for p18 in 0..D0 { for j21 in 0..D1 { let v = (((m[y15].at(&[p18, j21]) - m[y15].at(&[p18, ((j21 + 2) % D1)])) as i64).max(-60) as i64).min(60); m[x].set(&[p18, j21], v); } }
  for r22 in 0..(a + 4) % 4 {
    for r23 in 0..(a + 4) % 4 {
      let e24 = [y15, x][((r23 + 4) % 2) as usize];
    }
  }
  let mut y25 = made(m, Buffer::filled(&[D1], 0));
  for i26 in 0..D1 { { let v = (((m[y25].at(&[i26]) + ((m[z].at(&[((i26 * 1 + 5) % D0)]) + m[y15].at(&[((i26 * 1 + 5) % D0), (D1 - 1 - i26)])) - ((i26 % 7) as i64).max(m[y15].at(&[((i26 * 3 + 1) % D0), i26])))) as i64).max(-60) as i64).min(60); m[y25].set(&[i26], v); } }
  y25
}

fn launches_5_0(m: &mut Vec<Buffer>, mut u: usize, A: i64, B: i64, a: i64) -> usize {
  for i1 in 0..A { for i2 in 0..B { { let v = (((m[u].at(&[i1, i2]) + ((if a == (i1 % 7) { a } else { (i1 % 7) }) - (3 + 1))) as i64).max(-60) as i64).min(60); m[u].set(&[i1, i2], v); } }}
  let d5 = { let v = m[u].clone(); made(m, v) };
  let d5f = d5;
  let mut d5 = d5;
  let v = m[d5f].clone(); d5 = made(m, v);
  d5
}

fn launches_5(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  let g1 = { let v = m[x].clone(); made(m, v) };
  let mut c2 = launches_5_0(m, g1, D0, D1, 2);
  for i3 in 0..D0 { for i4 in 0..D1 { { let v = ((((m[x].at(&[i3, ((i3 * 1 + 1) % D1)]) as i64).min(m[z].at(&[i4])) + m[x].at(&[i3, ((i3 * 3 + 0) % D1)])) as i64).max(-60) as i64).min(60); m[c2].set(&[i3, i4], v); } }}
  for p5 in 0..cdiv(D0, 8) { let t = load(&m[c2], m[c2].all().subspan(&[8, 8], &[p5, 0]), Rest::Zero); let to = m[x].all().subspan(&[8, 8], &[p5, 0]); let all = t.all(); copy((&t, all), (&mut m[x], to), Rest::Zero, Rest::Kept); }
  let mut y7 = made(m, Buffer::filled(&[D0, D1], 0));
  for i8 in 0..D0 { for i9 in 0..D1 { { let v = (((m[y7].at(&[i8, i9]) + (if ((i9 % 7) - m[[c2, x][((a + 3) % 2) as usize]].at(&[((i9 * 2 + 0) % D0), ((i8 * 2 + 5) % D1)])) < (1 - a) { ((i9 % 7) - m[[c2, x][((a + 3) % 2) as usize]].at(&[((i9 * 2 + 0) % D0), ((i8 * 2 + 5) % D1)])) } else { (1 - a) })) as i64).max(-60) as i64).min(60); m[y7].set(&[i8, i9], v); } }}
  y7
}

fn launches_6(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for i1 in 0..D1 { { let v = ((1 + m[x].at(&[D0 - 1, i1])) as i64).min(60); m[z].set(&[i1], v); } }
  for i5 in 0..D0 { for i6 in 0..D1 { { let v = ((1 + m[z].at(&[i6])) as i64).min(60); m[x].set(&[i5, i6], v); } }}
  let mut y10 = made(m, Buffer::filled(&[D1], 2));
  for i11 in 0..D1 { { let v = (((m[y10].at(&[i11]) + (if (a * m[x].at(&[((i11 * 1 + 5) % D0), ((i11 * 3 + 5) % D1)])) > m[x].at(&[((i11 * 1 + 0) % D0), (D1 - 1 - i11)]) { (a * m[x].at(&[((i11 * 1 + 5) % D0), ((i11 * 3 + 5) % D1)])) } else { m[x].at(&[((i11 * 1 + 0) % D0), (D1 - 1 - i11)]) })) as i64).max(-60) as i64).min(60); m[y10].set(&[i11], v); } }
  let mut y12 = made(m, Buffer::filled(&[D1], 2));
  for i13 in 0..D1 { { let v = (((1 + m[x].at(&[D0 - 1, i13]) + m[z].at(&[i13]) + m[y10].at(&[i13])) as i64).max(-60) as i64).min(60); m[y12].set(&[i13], v); } }
  y12
}

fn launches_7_0(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  for i1 in 0..A { for i2 in 0..B { { let v = ((1 + m[w].at(&[i1, i2])) as i64).min(60); m[u].set(&[i1, i2], v); } }}
  0
}

fn launches_7(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, D2: i64, a: i64) -> usize {
  for i1 in 0..D0 { for i2 in 0..D1 { for i3 in 0..D2 { { let v = (((m[x].at(&[i1, i2, i3]) + ((m[z].at(&[i2]) * m[z].at(&[i2])) - a)) as i64).max(-60) as i64).min(60); m[x].set(&[i1, i2, i3], v); } }}}
  for i8 in 0..D0 { for i9 in 0..D1 { for i10 in 0..D2 { { let v = (((m[x].at(&[i8, i9, i10]) + ((a as i64).min(m[z].at(&[i9])) + m[z].at(&[(D1 - 1 - i9)]))) as i64).max(-60) as i64).min(60); m[x].set(&[i8, i9, i10], v); } }}}
  for i11 in 0..D1 { { let v = ((m[z].at(&[i11]) + (((i11 % 7) + m[x].at(&[((i11 * 2 + 5) % D0), i11, ((i11 * 3 + 0) % D2)])) as i64).max((i11 % 7))) as i64).min(60); m[z].set(&[i11], v); } }
  let h12 = m[x].at(&[D0 - 1, D1 - 1, D2 - 1]);
  m[x].set(&[D0 - 1, D1 - 1, 0], (h12 + 1).max(-60).min(60));
  for i13 in 0..D0 { for i14 in 0..D1 { for i15 in 0..D2 { { let v = (((m[z].at(&[(D1 - 1 - i14)]) - a) as i64).max(a) as i64).min(60); m[x].set(&[i13, i14, i15], v); } }}}
  for i19 in 0..D1 { { let v = ((((m[x].at(&[((i19 * 3 + 0) % D0), (D1 - 1 - i19), ((i19 * 2 + 0) % D2)]) + m[x].at(&[((i19 * 1 + 1) % D0), (D1 - 1 - i19), ((i19 * 1 + 0) % D2)])) * m[x].at(&[((i19 * 1 + 1) % D0), ((i19 * 1 + 0) % D1), ((i19 * 1 + 1) % D2)])) as i64).max(-60) as i64).min(60); m[z].set(&[i19], v); } }
  let mut y22 = made(m, Buffer::filled(&[D1], 0));
  y22
}

fn launches_8_0(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  for i1 in 0..B { { let v = (((3 + 7) + (m[u].at(&[((i1 * 1 + 1) % A), ((i1 * 3 + 0) % B)]) - (i1 % 7))) as i64).min(60); m[w].set(&[i1], v); } }
  0
}

fn launches_8_1(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  for i1 in 0..A { for i2 in 0..B { { let v = ((1 + m[w].at(&[i1, i2])) as i64).min(60); m[u].set(&[i1, i2], v); } }}
  let mut y6 = made(m, Buffer::filled(&[A, B], 2));
  y6
}

fn launches_8_2(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[A, B], 2));
  for i2 in 0..A { for i3 in (2..B - 0).step_by(1) { { let v = (((m[y1].at(&[i2, i3]) + ((m[u].at(&[((i3 * 1 + 0) % A), ((i2 * 2 + 0) % B)]) + a) as i64).min((if m[w].at(&[(B - 1 - i3)]) == 2 { m[w].at(&[(B - 1 - i3)]) } else { 2 }))) as i64).max(-60) as i64).min(60); m[y1].set(&[i2, i3], v); } }}
  for i4 in 0..B { { let v = (((2 as i64).min(a) as i64).max((3 - m[y1].at(&[((i4 * 2 + 0) % A), ((i4 * 1 + 0) % B)]))) as i64).min(60); m[w].set(&[i4], v); } }
  let mut y7 = made(m, Buffer::filled(&[B, A, A], 0));
  for i8 in 0..B { for i9 in 0..A { for i10 in 0..A { { let v = (((m[y7].at(&[i8, i9, i10]) + ((m[y1].at(&[((i9 * 1 + 0) % A), i8]) * (i9 % 7)) * m[u].at(&[(A - 1 - i9), i8]))) as i64).max(-60) as i64).min(60); m[y7].set(&[i8, i9, i10], v); } }}}
  y7
}

fn launches_8(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for i2 in 0..D0 { { let v = (((if (m[x].at(&[((i2 * 1 + 0) % D0), ((i2 * 3 + 5) % D1)]) + m[x].at(&[((i2 * 1 + 1) % D0), ((i2 * 2 + 0) % D1)])) > (a + (i2 % 7)) { (m[x].at(&[((i2 * 1 + 0) % D0), ((i2 * 3 + 5) % D1)]) + m[x].at(&[((i2 * 1 + 1) % D0), ((i2 * 2 + 0) % D1)])) } else { (a + (i2 % 7)) }) as i64).max(-60) as i64).min(60); m[z].set(&[i2], v); } }
  for i3 in 0..D0 { { let v = ((if m[x].at(&[((i3 * 2 + 0) % D0), ((i3 * 3 + 1) % D1)]) < a { m[x].at(&[((i3 * 2 + 0) % D0), ((i3 * 3 + 1) % D1)]) } else { a }) as i64).min(m[x].at(&[((i3 * 2 + 1) % D0), ((i3 * 2 + 0) % D1)])); m[z].set(&[i3], v); } }
  let mut y6 = made(m, Buffer::filled(&[D0], 0));
  for i7 in 0..D0 { { let v = ((((m[z].at(&[i7]) - (i7 % 7)) + a) as i64).max(-60) as i64).min(60); m[y6].set(&[i7], v); } }
  for i9 in 0..D0 { for i10 in 0..D1 { { let v = (1); m[x].set(&[i9, i10], v); } }}
  for p14 in 0..cdiv(D0, 32) { let f15 = load(&m[y6], m[y6].all().subspan(&[32], &[p14]), Rest::Zero); let mut s = Buffer::new(&[32]); for i16 in 0..32i64 { s.set(&[i16], ((((f15.at(&[((i16 * 3 + 0) % 32)]) - 7) * f15.at(&[((i16 * 1 + 5) % 32)])) as i64).max(-60) as i64).min(60)); } let to = m[z].all().subspan(&[32], &[p14]); let all = s.all(); copy((&s, all), (&mut m[z], to), Rest::Zero, Rest::Kept); }
  let mut y19 = made(m, Buffer::filled(&[D0], 0));
  for i20 in 0..D0 { { let v = (((if (7 as i64).min(a) <= (m[y6].at(&[((i20 * 1 + 0) % D0)]) + a) { (7 as i64).min(a) } else { (m[y6].at(&[((i20 * 1 + 0) % D0)]) + a) }) as i64).max(-60) as i64).min(60); m[y19].set(&[i20], v); } }
  y19
}

fn launches_9_0(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[B], 0));
  for i2 in 0..B { { let v = ((((a + m[w].at(&[(B - 1 - i2)])) + (m[w].at(&[(B - 1 - i2)]) * m[w].at(&[((i2 * 2 + 0) % B)]))) as i64).max(-60) as i64).min(60); m[y1].set(&[i2], v); } }
  let h3 = m[u].at(&[A - 1, B - 1]);
  let h4 = m[w].at(&[B - 1]);
  y1
}

fn launches_9_1(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  for i1 in 0..A { for i2 in 0..B { { let v = (((m[u].at(&[i1, i2]) + ((2 as i64).max(m[w].at(&[(A - 1 - i1), i2])) as i64).min((m[w].at(&[i1, i2]) * m[w].at(&[i1, ((i2 * 3 + 1) % B)])))) as i64).max(-60) as i64).min(60); m[u].set(&[i1, i2], v); } }}
  let g3 = { let v = m[w].clone(); made(m, v) };
  let g4 = { let v = load(&m[w], m[w].all().window(&[1, B], &[A - 1, 0]), Rest::Zero).reshaped(&[B]); made(m, v) };
  let mut c5 = launches_9_0(m, g3, g4, A, B, 2);
  for i6 in 0..A { for i7 in 0..B { { let v = (((m[u].at(&[i6, i7]) + ((m[w].at(&[((i7 * 2 + 1) % A), ((i6 * 1 + 5) % B)]) + (i7 % 7)) * (m[w].at(&[((i7 * 3 + 1) % A), i7]) - m[c5].at(&[i7])))) as i64).max(-60) as i64).min(60); m[u].set(&[i6, i7], v); } }}
  c5
}

fn launches_9(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for i1 in 0..D0 { for i2 in (1..D1 - 0).step_by(3) { { let v = (((m[x].at(&[i1, i2]) + ((m[z].at(&[i1]) as i64).max(m[z].at(&[i1])) as i64).min(m[z].at(&[((i1 * 1 + 5) % D0)]))) as i64).max(-60) as i64).min(60); m[x].set(&[i1, i2], v); } }}
  for i3 in 0..D0 { { let v = (if (if m[x].at(&[((i3 * 1 + 1) % D0), ((i3 * 1 + 0) % D1)]) > m[x].at(&[(D0 - 1 - i3), ((i3 * 1 + 1) % D1)]) { m[x].at(&[((i3 * 1 + 1) % D0), ((i3 * 1 + 0) % D1)]) } else { m[x].at(&[(D0 - 1 - i3), ((i3 * 1 + 1) % D1)]) }) > (if 2 > (i3 % 7) { 2 } else { (i3 % 7) }) { (if m[x].at(&[((i3 * 1 + 1) % D0), ((i3 * 1 + 0) % D1)]) > m[x].at(&[(D0 - 1 - i3), ((i3 * 1 + 1) % D1)]) { m[x].at(&[((i3 * 1 + 1) % D0), ((i3 * 1 + 0) % D1)]) } else { m[x].at(&[(D0 - 1 - i3), ((i3 * 1 + 1) % D1)]) }) } else { (if 2 > (i3 % 7) { 2 } else { (i3 % 7) }) }); m[z].set(&[i3], v); } }
  for i4 in 0..D0 { { let v = (1); m[z].set(&[i4], v); } }
  let h8 = m[z].at(&[D0 - 1]);
  m[z].set(&[0], (h8 + 1).max(-60).min(60));
  let mut y9 = made(m, Buffer::filled(&[D0, D1], 2));
  for i10 in 0..D0 { for i11 in 0..D1 { { let v = (((m[y9].at(&[i10, i11]) + ((a + m[z].at(&[(D0 - 1 - i10)])) * ((i10 % 7) + m[x].at(&[i10, i11])))) as i64).max(-60) as i64).min(60); m[y9].set(&[i10, i11], v); } }}
  for i12 in 0..D0 { for i13 in 0..D1 { { let v = (((m[y9].at(&[i12, i13]) + ((m[x].at(&[((i12 * 1 + 5) % D0), ((i13 * 2 + 5) % D1)]) as i64).max(m[x].at(&[((i12 * 1 + 0) % D0), i13])) as i64).max((m[x].at(&[((i12 * 1 + 5) % D0), i13]) as i64).min(m[z].at(&[i12])))) as i64).max(-60) as i64).min(60); m[y9].set(&[i12, i13], v); } }}
  let mut y18 = made(m, Buffer::filled(&[D1, D0], 0));
  for i19 in 0..D1 { for i20 in (0..D0 - 1).step_by(1) { { let v = ((if m[y9].at(&[i20, i19]) > m[y9].at(&[((i20 * 2 + 5) % D0), ((i19 * 1 + 0) % D1)]) { m[y9].at(&[i20, i19]) } else { m[y9].at(&[((i20 * 2 + 5) % D0), ((i19 * 1 + 0) % D1)]) }) as i64).max((m[y9].at(&[(D0 - 1 - i20), i19]) as i64).min(m[y9].at(&[((i19 * 2 + 0) % D0), ((i20 * 1 + 0) % D1)]))); m[y18].set(&[i19, i20], v); } }}
  let mut y21 = made(m, Buffer::filled(&[D1], 2));
  for i22 in 0..D1 { { let v = (((m[y21].at(&[i22]) + (((i22 % 7) - m[y9].at(&[((i22 * 2 + 1) % D0), (D1 - 1 - i22)])) as i64).max(m[z].at(&[((i22 * 3 + 1) % D0)]))) as i64).max(-60) as i64).min(60); m[y21].set(&[i22], v); } }
  y21
}

fn launches_10_0(m: &mut Vec<Buffer>, mut u: usize, A: i64, a: i64) -> usize {
  for i1 in 0..A { { let v = ((m[u].at(&[i1]) + ((a as i64).max(1) as i64).min((1 as i64).min(1))) as i64).min(60); m[u].set(&[i1], v); } }
  for i2 in 0..A { { let v = ((1 - a) as i64).max(2); m[u].set(&[i2], v); } }
  let mut y5 = made(m, Buffer::filled(&[A], 0));
  y5
}

fn launches_10(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  let g1 = { let v = load(&m[z], m[z].all().window(&[1], &[0]), Rest::Zero).reshaped(&[1]); made(m, v) };
  let mut c2 = launches_10_0(m, g1, 1, -1);
  let g3 = { let v = load(&m[c2], m[c2].all().window(&[1], &[1 - 1]), Rest::Zero).reshaped(&[1]); made(m, v) };
  let mut c4 = launches_10_0(m, g3, 1, a);
  for i5 in 0..D0 { { let v = (((m[z].at(&[i5]) + ((a as i64).max(m[[c4, c2][(i5 % 2) as usize]].at(&[((i5 * 3 + 5) % 1)])) * (m[c2].at(&[((i5 * 3 + 0) % 1)]) as i64).max(m[x].at(&[((i5 * 3 + 0) % D0), ((i5 * 3 + 5) % D1)])))) as i64).max(-60) as i64).min(60); m[z].set(&[i5], v); } }
  let mut y6 = made(m, Buffer::filled(&[1, D1], 0));
  for i7 in 0..1 { for i8 in (1..D1 - 0).step_by(1) { { let v = ((((m[c4].at(&[((i8 * 1 + 1) % 1)]) * (i7 % 7)) * (if (i8 % 7) < (i7 % 7) { (i8 % 7) } else { (i7 % 7) })) as i64).max(-60) as i64).min(60); m[y6].set(&[i7, i8], v); } }}
  let mut y9 = made(m, Buffer::filled(&[D0], 0));
  for i10 in 0..D0 { { let v = ((2 as i64).max(7) as i64).min((if 3 < (i10 % 7) { 3 } else { (i10 % 7) })); m[y9].set(&[i10], v); } }
  let mut y11 = made(m, Buffer::filled(&[D1], 0));
  for i12 in 0..D1 { { let v = m[y6].at(&[((i12 * 3 + 5) % 1), i12]); m[y11].set(&[i12], v); } }
  y6
}

fn launches_11_0(m: &mut Vec<Buffer>, mut u: usize, mut w: usize, A: i64, B: i64, a: i64) -> usize {
  if a > 0 {
    let mut y1 = made(m, Buffer::filled(&[B, A], 0));
    for i2 in 0..B { for i3 in 0..A { { let v = ((1 + m[w].at(&[((i2 * 2 + 0) % B), i3])) as i64).min(60); m[y1].set(&[i2, i3], v); } }}
  } else {
    for i7 in 0..B { for i8 in 0..A { { let v = (((m[w].at(&[i7, i8]) + ((m[u].at(&[((i7 * 3 + 5) % A), i7]) - m[u].at(&[i8, i7])) - m[u].at(&[((i7 * 2 + 1) % A), ((i8 * 2 + 1) % B)]))) as i64).max(-60) as i64).min(60); m[w].set(&[i7, i8], v); } }}
    for r9 in 0..3 {
      for i10 in 0..B { for i11 in 0..A { { let v = (((((i11 % 7) as i64).min((i10 % 7)) * (m[u].at(&[(A - 1 - i11), ((i11 * 1 + 5) % B)]) as i64).min(m[u].at(&[((i11 * 3 + 0) % A), (B - 1 - i10)]))) as i64).max(-60) as i64).min(60); m[w].set(&[i10, i11], v); } }}
    }
  }
  let h12 = m[w].at(&[0, 0]);
  m[w].set(&[B - 1, 0], (h12 + 1).max(-60).min(60));
  let h13 = m[u].at(&[0, 0]);
  m[w].set(&[0, 0], (h13 + 1).max(-60).min(60));
  let mut y14 = made(m, Buffer::filled(&[B, A], 0));
  y14
}

fn launches_11(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for i1 in 0..D0 { { let v = ((((m[x].at(&[i1, ((i1 * 2 + 0) % D1)]) * (i1 % 7)) - (i1 % 7)) as i64).max(-60) as i64).min(60); m[z].set(&[i1], v); } }
  for r2 in 0..2 {
    let mut y3 = made(m, Buffer::filled(&[D0], 2));
    for i4 in 0..D0 { { let v = ((((m[z].at(&[((i4 * 2 + 0) % D0)]) - m[x].at(&[(D0 - 1 - i4), ((i4 * 1 + 5) % D1)])) * (if (i4 % 7) > 1 { (i4 % 7) } else { 1 })) as i64).max(-60) as i64).min(60); m[y3].set(&[i4], v); } }
  }
  for i6 in 0..D0 { { let v = ((m[x].at(&[((i6 * 3 + 0) % D0), ((i6 * 1 + 0) % D1)]) as i64).min(m[x].at(&[(D0 - 1 - i6), ((i6 * 3 + 0) % D1)])) as i64).min((m[x].at(&[i6, ((i6 * 3 + 5) % D1)]) as i64).min((i6 % 7))); m[z].set(&[i6], v); } }
  let h9 = m[x].at(&[D0 - 1, D1 - 1]);
  m[z].set(&[D0 - 1], (h9 + 1).max(-60).min(60));
  for i10 in 0..D0 { let v: i64 = (0..D1).map(|k11| m[x].at(&[i10, k11])).sum(); m[z].set(&[i10], v.min(60).max(-60)); }
  for i14 in 0..D0 { for i15 in 0..D1 { { let v = (1); m[x].set(&[i14, i15], v); } }}
  let mut y19 = made(m, Buffer::filled(&[D0, D1], 0));
  y19
}

fn launches_12_0(m: &mut Vec<Buffer>, mut u: usize, A: i64, B: i64, a: i64) -> usize {
  let mut y1 = made(m, Buffer::filled(&[A, B], 2));
  for p2 in 0..cdiv(A, 1) { let t = load(&m[u], m[u].all().subspan(&[1, 8], &[p2, 0]), Rest::Zero); let to = m[y1].all().subspan(&[1, 8], &[p2, 0]); let all = t.all(); copy((&t, all), (&mut m[y1], to), Rest::Zero, Rest::Kept); }
  for i4 in 0..A { for i5 in 0..B { { let v = (if (m[u].at(&[i4, ((i5 * 3 + 5) % B)]) as i64).max(m[u].at(&[((i4 * 3 + 1) % A), i5])) > (m[u].at(&[i4, i5]) as i64).min(m[u].at(&[i4, i5])) { (m[u].at(&[i4, ((i5 * 3 + 5) % B)]) as i64).max(m[u].at(&[((i4 * 3 + 1) % A), i5])) } else { (m[u].at(&[i4, i5]) as i64).min(m[u].at(&[i4, i5])) }); m[y1].set(&[i4, i5], v); } }}
  for i10 in 0..A { for i11 in (2..B - 1).step_by(1) { { let v = ((7 * (i11 % 7)) + (i11 % 7)); m[y1].set(&[i10, i11], v); } }}
  y1
}

fn launches_12(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, a: i64) -> usize {
  for i1 in 0..D0 { for i2 in 0..D1 { { let v = (if (if m[z].at(&[(D0 - 1 - i1)]) == m[z].at(&[i1]) { m[z].at(&[(D0 - 1 - i1)]) } else { m[z].at(&[i1]) }) > (m[z].at(&[(D0 - 1 - i1)]) as i64).min(m[z].at(&[i1])) { (if m[z].at(&[(D0 - 1 - i1)]) == m[z].at(&[i1]) { m[z].at(&[(D0 - 1 - i1)]) } else { m[z].at(&[i1]) }) } else { (m[z].at(&[(D0 - 1 - i1)]) as i64).min(m[z].at(&[i1])) }); m[x].set(&[i1, i2], v); } }}
  let mut y3 = made(m, Buffer::filled(&[D0, D1], 0));
  for i4 in 0..D0 { for i5 in 0..D1 { { let v = (((m[y3].at(&[i4, i5]) + ((m[x].at(&[((i4 * 3 + 0) % D0), i5]) * m[z].at(&[i4])) * (m[z].at(&[((i5 * 3 + 0) % D0)]) as i64).max(a))) as i64).max(-60) as i64).min(60); m[y3].set(&[i4, i5], v); } }}
  for i6 in 0..D0 { { let v = (((m[z].at(&[i6]) + ((a as i64).min(m[y3].at(&[i6, ((i6 * 1 + 5) % D1)])) * 3)) as i64).max(-60) as i64).min(60); m[z].set(&[i6], v); } }
  for i9 in 0..D0 { for i10 in 0..D1 { { let v = ((1 + m[y3].at(&[i9, i10])) as i64).min(60); m[x].set(&[i9, i10], v); } }}
  let g14 = { let v = m[y3].clone(); made(m, v) };
  let mut c15 = launches_12_0(m, g14, D0, D1, -1);
  let mut y16 = made(m, Buffer::filled(&[D0, D1], 0));
  for p17 in 0..cdiv(D0, 4) { for p18 in 0..cdiv(D1, 4) { let f19 = load(&m[x], m[x].all().subspan(&[4, 4], &[p17, p18]), Rest::Zero); let mut s = Buffer::new(&[4, 4]); for i20 in 0..4i64 { for i21 in 0..4i64 { s.set(&[i20, i21], (((f19.at(&[i21, i21]) as i64).max(f19.at(&[((i21 * 3 + 0) % 4), i21])) - (i20 % 7)) as i64).max(-60)); }} let to = m[y16].all().subspan(&[4, 4], &[p17, p18]); let all = s.all(); copy((&s, all), (&mut m[y16], to), Rest::Zero, Rest::Kept); }}
  y16
}

fn launches_13(m: &mut Vec<Buffer>, mut x: usize, mut z: usize, D0: i64, D1: i64, D2: i64, a: i64) -> usize {
  let mut d1 = { let v = m[z].clone(); made(m, v) };
  let mut y2 = made(m, Buffer::filled(&[D2, D1, D0], 2));
  for i3 in 0..D2 { for i4 in 0..D1 { for i5 in 0..D0 { { let v = ((m[[d1, z][((a + 3) % 2) as usize]].at(&[i3]) as i64).max((i4 % 7)) as i64).max(m[z].at(&[((i4 * 2 + 0) % D2)])); m[y2].set(&[i3, i4, i5], v); } }}}
  let d6 = { let v = m[x].clone(); made(m, v) };
  let d6f = d6;
  let mut d6 = d6;
  let v = m[d6f].clone(); d6 = made(m, v);
  let h7 = m[z].at(&[D2 - 1]);
  for i8 in 0..D2 { { let v = ((if 2 == 1 { 2 } else { 1 }) as i64).min((m[y2].at(&[((i8 * 3 + 5) % D2), ((i8 * 3 + 0) % D1), ((i8 * 1 + 5) % D0)]) as i64).max(m[x].at(&[((i8 * 1 + 1) % D0), ((i8 * 1 + 0) % D1), i8]))); m[z].set(&[i8], v); } }
  let mut y9 = made(m, Buffer::filled(&[D2, D0], 0));
  for i10 in 0..D2 { for i11 in 0..D0 { { let v = (((m[y9].at(&[i10, i11]) + (((i10 % 7) - m[d1].at(&[i10])) as i64).min(((i10 % 7) - (i11 % 7)))) as i64).max(-60) as i64).min(60); m[y9].set(&[i10, i11], v); } }}
  y9
}
