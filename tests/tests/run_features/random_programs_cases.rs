// Written by scripts/random_programs.py.

pub fn cases(calls: &mut Calls) {
  calls.flat("program_0", |x, z, a| Ok(kernels::program_0(x, z, a)?.into_vec()), program_0, &[(1, 128, 1), (1, 1, 50), (1, 127, -3)]);
  calls.flat("program_1", |x, z, a| Ok(kernels::program_1(x, z, a)?.into_vec()), program_1, &[(1, 129, 50), (1, 100, 0), (1, 2, 0)]);
  calls.rows("program_2", |x, z, a| Ok(kernels::program_2(x, z, a)?.into_vec()), program_2, &[(31, 8, 50), (1, 64, 0), (100, 32, 1)]);
  calls.flat("program_3", |x, z, a| Ok(kernels::program_3(x, z, a)?.into_vec()), program_3, &[(1, 300, 1), (1, 2, 50), (1, 33, 0)]);
  calls.rows("program_4", |x, z, a| Ok(kernels::program_4(x, z, a)?.into_vec()), program_4, &[(2, 1, -3), (31, 64, 50), (1, 1, 50)]);
  calls.rows("program_5", |x, z, a| Ok(kernels::program_5(x, z, a)?.into_vec()), program_5, &[(1, 63, 50), (2, 2, -3), (32, 17, 1)]);
  calls.rows("program_6", |x, z, a| Ok(kernels::program_6(x, z, a)?.into_vec()), program_6, &[(129, 32, 50), (31, 2, -3), (100, 32, 1)]);
  calls.rows("program_7", |x, z, a| Ok(kernels::program_7(x, z, a)?.into_vec()), program_7, &[(31, 1, -3), (2, 64, 1), (100, 63, 0)]);
  calls.flat("program_8", |x, z, a| Ok(kernels::program_8(x, z, a)?.into_vec()), program_8, &[(1, 127, 1), (1, 100, -3), (1, 32, 0)]);
  calls.flat("program_9", |x, z, a| Ok(kernels::program_9(x, z, a)?.into_vec()), program_9, &[(1, 128, 0), (1, 100, 1), (1, 2, 50)]);
  calls.flat("program_10", |x, z, a| Ok(kernels::program_10(x, z, a)?.into_vec()), program_10, &[(1, 2, 1), (1, 100, 1), (1, 31, 1)]);
  calls.flat("program_11", |x, z, a| Ok(kernels::program_11(x, z, a)?.into_vec()), program_11, &[(1, 300, 0), (1, 127, 50), (1, 129, 50)]);
  calls.flat("program_12", |x, z, a| Ok(kernels::program_12(x, z, a)?.into_vec()), program_12, &[(1, 128, 1), (1, 31, -3), (1, 127, 50)]);
  calls.flat("program_13", |x, z, a| Ok(kernels::program_13(x, z, a)?.into_vec()), program_13, &[(1, 128, 50), (1, 100, 50), (1, 33, 0)]);
  calls.flat("program_14", |x, z, a| Ok(kernels::program_14(x, z, a)?.into_vec()), program_14, &[(1, 2, 0), (1, 100, -3), (1, 129, 50)]);
  calls.flat("program_15", |x, z, a| Ok(kernels::program_15(x, z, a)?.into_vec()), program_15, &[(1, 100, -3), (1, 33, 1), (1, 128, 50)]);
  calls.rows("program_16", |x, z, a| Ok(kernels::program_16(x, z, a)?.into_vec()), program_16, &[(300, 8, -3), (128, 63, 0), (100, 2, 0)]);
  calls.rows("program_17", |x, z, a| Ok(kernels::program_17(x, z, a)?.into_vec()), program_17, &[(1, 32, 0), (32, 8, -3), (100, 63, 50)]);
  calls.flat("program_18", |x, z, a| Ok(kernels::program_18(x, z, a)?.into_vec()), program_18, &[(1, 31, 0), (1, 32, -3), (1, 2, -3)]);
  calls.rows("program_19", |x, z, a| Ok(kernels::program_19(x, z, a)?.into_vec()), program_19, &[(100, 17, 1), (32, 17, 50), (31, 63, 50)]);
  calls.rows("program_20", |x, z, a| Ok(kernels::program_20(x, z, a)?.into_vec()), program_20, &[(2, 8, 1), (33, 2, -3), (300, 64, 1)]);
  calls.rows("program_21", |x, z, a| Ok(kernels::program_21(x, z, a)?.into_vec()), program_21, &[(33, 2, -3), (31, 1, 50), (128, 63, 50)]);
  calls.rows("program_22", |x, z, a| Ok(kernels::program_22(x, z, a)?.into_vec()), program_22, &[(2, 1, 0), (33, 63, 1), (32, 32, 50)]);
  calls.rows("program_23", |x, z, a| Ok(kernels::program_23(x, z, a)?.into_vec()), program_23, &[(33, 1, -3), (127, 8, -3), (1, 2, -3)]);
  calls.rows("program_24", |x, z, a| Ok(kernels::program_24(x, z, a)?.into_vec()), program_24, &[(300, 63, 50), (100, 2, 50), (128, 32, 0)]);
  calls.rows("program_25", |x, z, a| Ok(kernels::program_25(x, z, a)?.into_vec()), program_25, &[(31, 63, 1), (100, 17, 50), (33, 2, 0)]);
  calls.rows("program_26", |x, z, a| Ok(kernels::program_26(x, z, a)?.into_vec()), program_26, &[(127, 64, 50), (33, 17, 0), (2, 1, 0)]);
  calls.rows("program_27", |x, z, a| Ok(kernels::program_27(x, z, a)?.into_vec()), program_27, &[(31, 2, 1), (127, 32, 0), (300, 17, 1)]);
  calls.rows("program_28", |x, z, a| Ok(kernels::program_28(x, z, a)?.into_vec()), program_28, &[(300, 8, 50), (128, 8, -3), (100, 17, 50)]);
  calls.rows("program_29", |x, z, a| Ok(kernels::program_29(x, z, a)?.into_vec()), program_29, &[(300, 64, 50), (2, 64, 1), (32, 17, 0)]);
  calls.flat("program_30", |x, z, a| Ok(kernels::program_30(x, z, a)?.into_vec()), program_30, &[(1, 32, 50), (1, 1, 1), (1, 300, -3)]);
  calls.flat("program_31", |x, z, a| Ok(kernels::program_31(x, z, a)?.into_vec()), program_31, &[(1, 32, 0), (1, 128, 1), (1, 100, 1)]);
  calls.rows("program_32", |x, z, a| Ok(kernels::program_32(x, z, a)?.into_vec()), program_32, &[(1, 64, 1), (2, 8, -3), (128, 8, 0)]);
  calls.rows("program_33", |x, z, a| Ok(kernels::program_33(x, z, a)?.into_vec()), program_33, &[(31, 2, 0), (1, 17, 50), (128, 32, 1)]);
  calls.rows("program_34", |x, z, a| Ok(kernels::program_34(x, z, a)?.into_vec()), program_34, &[(128, 1, -3), (1, 32, -3), (31, 2, 0)]);
  calls.rows("program_35", |x, z, a| Ok(kernels::program_35(x, z, a)?.into_vec()), program_35, &[(100, 8, 50), (127, 32, 0), (33, 64, 50)]);
  calls.flat("program_36", |x, z, a| Ok(kernels::program_36(x, z, a)?.into_vec()), program_36, &[(1, 127, -3), (1, 1, 0), (1, 100, 50)]);
  calls.flat("program_37", |x, z, a| Ok(kernels::program_37(x, z, a)?.into_vec()), program_37, &[(1, 128, 1), (1, 300, 0), (1, 2, 1)]);
  calls.rows("program_38", |x, z, a| Ok(kernels::program_38(x, z, a)?.into_vec()), program_38, &[(31, 63, 1), (100, 8, 0), (32, 2, -3)]);
  calls.rows("program_39", |x, z, a| Ok(kernels::program_39(x, z, a)?.into_vec()), program_39, &[(2, 63, 0), (31, 63, -3), (33, 32, 50)]);
}

fn program_0(x: &[u64], z: &[i32], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (n) as usize];
  for p in 0..n {
    let mut m1 = [0 as i64; 8];
    for i2 in 0..8 { m1[i2] = (((if (z[((0) * (n) + (p)) as usize] <= (((2i64)) as i32)) { x[((0) * (n) + (p)) as usize] } else { ((z[((0) * (n) + (((p * 5 + 2) % (n)))) as usize]) as u64) })) as i64); }
    let mut v3: u32 = ((((z[((0) * (n) + (((p * 3 + 0) % (n)))) as usize].wrapping_sub((((1000i64)) as i32))) as u64).wrapping_div(((((m1[((0) * (8) + (((p * 1 + 0) % (8)))) as usize]) as u64) | (3 as u64)) | 1))) as u32);
    { let at = ((v3.wrapping_div((((7i64)) as u32)) as i64 % (8))) as usize; m1[at] = ((v3) as i64); }
    y[(p) as usize] = (((a / 4)) as u16);
  }
  y
}

fn program_1(x: &[u8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (n) as usize];
  for p in 0..n {
    let e1: i64 = p;
    for i2 in 0..16i64 {
      let mut w3: i32 = (((((128i64)) as i8)) as i32) & 7;
      while w3 > 0 && !((((2i64) + e1) > p)) {
        w3 = w3 - 1;
        let mut m4 = [0 as u32; 2];
        for i5 in 0..2 { m4[i5] = (((!z[((0) * (n) + (p)) as usize])) as u32); }
        if (((p % 4) <= (3i64)) && ((m4[((0) * (2) + (((p * 1 + 2) % (2)))) as usize] > m4[((0) * (2) + (((i2 * 3 + 2) % (2)))) as usize]) || ((-1i64) == e1))) {
          let mut v6: i16 = (((if (a >= a) { ((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as u32) } else { m4[((0) * (2) + (((i2 * 3 + 11) % (2)))) as usize] }).wrapping_rem(((((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]) as u32) | m4[((0) * (2) + (((p * 5 + 2) % (2)))) as usize]) | 1))) as i16);
          v6 = v6;
        }
      }
      let mut v7: u64 = (((1 as i64).wrapping_mul(((z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as i64)).wrapping_div(((((z[((0) * (n) + (p)) as usize] | (((5i64)) as i16)) | 1)) as i64))) as u64);
      v7 = v7.bitxor(v7.wrapping_mul(((z[((0) * (n) + (p)) as usize]) as u64)).wrapping_mul((if ((5i64) == a) { v7 } else { v7 })));
    }
    let e8: i64 = (if ((a - p) > p) { (p + a) } else { ((9i64) + a) });
    let mut v9: u64 = ((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize].wrapping_div(((z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize] | ((x[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as i16)) | 1))) as u64);
    y[(p) as usize] = ((e1) as i8);
  }
  y
}

fn program_2(x: &[i64], z: &[i32], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: i64 = (((!(!z[((0) * (n) + (((i * 1 + 2) % (n)))) as usize]))) as i64);
      for k in 0..((n + 15) / 16) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 64 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i64 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          if ((if ((((((v1) as u8)).min(((v1) as u8))) as i64) >= x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize]) { ((((here[(((0) * (64) + (i)) * (16) + (((j * 5 + 2) % (16)))) as usize]) as i32)) as i64) } else { ((z[((0) * (n) + ((((x[(((0) * (m) + (((j * 5 + 0) % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as i64).wrapping_div(((here[(((0) * (64) + (((i * 1 + 0) % (64)))) * (16) + (((j * 3 + 1) % (16)))) as usize] & v1) | 1)) }) == ((((-7i64)) as i64).wrapping_sub(v1) | (((3000000000 as u32)) as i64))) {
            v1 = v1.bitxor((((3000000000i64)) as i64));
          }
          let mut v2: u8 = ((here[(((0) * (64) + (((i * 1 + 1) % (64)))) * (16) + (j)) as usize].wrapping_add(v1).wrapping_shl(57)) as u8);
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = (((2 as u64)) as i16);
      }
    } }
  }
  y
}

fn program_3(x: &[u64], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (n) as usize];
  for b in 0..(n + 127) / 128 {
    let mut s1 = vec![0 as u32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        s1[((t * 3 + 0) % 128) as usize] = (127 as u32);
      } else {
        s1[((t * 3 + 0) % 128) as usize] = 7;
      }
    }
    let mut s2 = vec![0 as i32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        s2[((t * 1 + 0) % 128) as usize] = (((if !((((((x[((0) * (n) + ((b * 128 + t))) as usize]) as i16)) as i64) == (1 as i64))) { (((t % 4)) as u64) } else { ((x[((0) * (n) + ((b * 128 + t))) as usize] & (((-128i64)) as u64))).wrapping_neg() })) as i32);
      } else {
        s2[((t * 1 + 0) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        if (((((s2[((0) * (128) + (((t * 1 + 0) % (128)))) as usize]) as i8)) as i64) == (if (s2[((0) * (128) + (t)) as usize].wrapping_shr((s1[((0) * (128) + (((t * 3 + 0) % (128)))) as usize] & 31)) != (((a + t)) as i32)) { ((s1[((0) * (128) + (t)) as usize].wrapping_shr(0)) as i64) } else { (-7i64) })) {
          let e3: i64 = ((t).max(a) % 2);
        } else {
          let mut v4: u16 = (((x[((0) * (n) + (((t * 3 + 0) % (n)))) as usize] ^ x[((0) * (n) + (((t * 3 + 2) % (n)))) as usize]).wrapping_sub((((a - b)) as u64))) as u16);
          v4 = ((((v4) as i32).bitor(s2[((0) * (128) + ((((v4) as u32) as i64 % (128)))) as usize].wrapping_rem((((2i64)) as i32)).wrapping_shl((((v4.wrapping_sub(((z[((0) * (n) + ((((v4) as u32) as i64 % (n)))) as usize]) as u16))) as u32) & 31)))) as u16);
        }
        let mut v5: i32 = ((z[((0) * (n) + (((b * 5 + 0) % (n)))) as usize].wrapping_shr((s1[((0) * (128) + (t)) as usize] & 7))) as i32).wrapping_rem(((s2[((0) * (128) + (((t * 5 + 11) % (128)))) as usize] & (((-128i64)) as i32)) | 1));
        y[(b * 128 + t) as usize] = (((a - a)) as u16);
      }
    }
  }
  y
}

fn program_4(x: &[u16], z: &[u16], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (m * n) as usize];
  for p in 0..m {
    let mut v1: u64 = ((z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]) as u64);
    let mut v2: i32 = (((((x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + ((((x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (((p * 3 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize].wrapping_shl((((v1) as u32) & 15))) as u64) | (v1 ^ v1))) as i32);
    for j in 0..n {
      let mut v3: i32 = ((x[(p * n + j) as usize]) as i32);
      let mut m4 = [0 as u64; 8];
      for i5 in 0..8 { m4[i5] = ((v2.wrapping_shl(20)) as u64); }
      y[(p * n + j) as usize] = (((((v2) as u64).wrapping_mul(v1)).wrapping_neg().wrapping_div((((255i64)) as u64))) as u32);
    }
  }
  y
}

fn program_5(x: &[i16], z: &[u16], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: i64 = (((if ((if (i >= i) { (1i64) } else { i }) < i) { ((z[((0) * (n) + (((i * 3 + 0) % (n)))) as usize]) as u32) } else { (65535 as u32) }).wrapping_shl((((z[((0) * (n) + (((i * 5 + 0) % (n)))) as usize]) as u32) & 31))) as i64);
      for k in 0..((n + 31) / 32) {
        let here = (0..2048i64).map(|e| { let (r, c) = (r * 64 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i16 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          let e2: i64 = ((a + (9i64)) % 4);
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = ((((((x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + (((i * 3 + 1) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize])) as u16).wrapping_add((z[((0) * (n) + (((i * 1 + 2) % (n)))) as usize] | ((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize]) as u16)))) as i64).wrapping_rem(((v1 | v1) | 1))) as u8);
      }
    } }
  }
  y
}

fn program_6(x: &[u8], z: &[i8], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u8 } }).collect::<Vec<_>>();
    let tile = (0..128usize).map(|e| tile[e % 8 * 16 + e / 8]).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: i64 = (if (((z[((0) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) < (1 as u32)) { ((tile[(((0) * (16) + (((j * 1 + 1) % (16)))) * (8) + (i)) as usize]) as i64) } else { (if ((a).min((3i64)) < (-4i64)) { (-3000000000i64) } else { ((x[(((0) * (m) + (((j * 5 + 0) % (m)))) * (n) + (((i * 5 + 0) % (n)))) as usize]) as i64) }) });
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((65535i64)) as u32);
      }
    } }
  } }
  y
}

fn program_7(x: &[u16], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (m * n) as usize];
  for p in 0..m {
    let mut v1: i8 = (((((((3000000000i64)) as u8)) as i64).wrapping_mul((1 as i64))) as i8);
    let mut m2 = [0 as i8; 4];
    for i3 in 0..4 { m2[i3] = v1; }
    for j in 0..n {
      let mut v4: i64 = ((x[(p * n + j) as usize]) as i64);
      y[(p * n + j) as usize] = (((3000000000 as i64)) as u16);
    }
  }
  y
}

fn program_8(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for b in 0..(n + 63) / 64 {
    let mut s1 = vec![0 as u32; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v2: u16 = x[((0) * (n) + ((b * 64 + t))) as usize];
        let mut v3: i16 = (((((v2) as i64)).max(z[((0) * (n) + ((b * 64 + t))) as usize]).wrapping_shl(((((1000 as i64).wrapping_add(((v2) as i64))) as u32) & 63))) as i16);
        v3 = (((if ((((v2.wrapping_mul(v2)) as i32) <= ((v3) as i32)) || !((((v3) as u16) > v2))) { (((3000000000i64)) as i64) } else { (((!(if ((3i64) > (b * 64 + t)) { x[((0) * (n) + ((b * 64 + t))) as usize] } else { ((v3) as u16) }))) as i64) })) as i16);
        s1[((t * 31 + 1) % 64) as usize] = (((1000i64)) as u32);
      } else {
        s1[((t * 31 + 1) % 64) as usize] = 7;
      }
    }
    let mut s4 = vec![0 as i8; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        s4[((t * 1 + 0) % 64) as usize] = (((((if (((x[((0) * (n) + ((((b * 64 + t) * 3 + 0) % (n)))) as usize].wrapping_mul(x[((0) * (n) + ((b * 64 + t))) as usize])) as i64) >= (((-3000000000i64)) as i64)) { ((x[((0) * (n) + ((((b * 64 + t) * 3 + 1) % (n)))) as usize].wrapping_shl((((z[((0) * (n) + ((((b * 64 + t) * 5 + 0) % (n)))) as usize]) as u32) & 15))) as u32) } else { s1[((0) * (64) + (t)) as usize] })) as i64).wrapping_div(((z[((0) * (n) + ((((b * 64 + t) * 5 + 0) % (n)))) as usize] ^ (127 as i64)) | 1))) as i8);
      } else {
        s4[((t * 1 + 0) % 64) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as i16; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v6: u8 = ((s1[((0) * (64) + (((t * 5 + 1) % (64)))) as usize].wrapping_shl(10).wrapping_div(((((x[((0) * (n) + ((((b * 64 + t) * 3 + 1) % (n)))) as usize] & (((65535i64)) as u16)) | 1)) as u32))) as u8);
        v6 = (((((((v6 ^ v6)) as u64) | (7 as u64).wrapping_add(((v6) as u64)))).wrapping_neg()) as u8);
        for i7 in 0..4i64 {
          v6 = (((3000000000i64)) as u8);
        }
        s5[((t * 1 + 7) % 64) as usize] = (((if ((a).max((-1i64)) >= a) { z[((0) * (n) + ((b * 64 + t))) as usize].wrapping_shr(0) } else { (((b - a)) as i64) })) as i16);
      } else {
        s5[((t * 1 + 7) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v8: i8 = (((((s1[((0) * (64) + (((t * 5 + 0) % (64)))) as usize] ^ ((s5[((0) * (64) + (((t * 3 + 1) % (64)))) as usize]) as u32))) as u64).wrapping_rem(((((x[((0) * (n) + (((b * 3 + 1) % (n)))) as usize]) as u64) ^ (0 as u64)) | 1))) as i8);
        y[(b * 64 + t) as usize] = (((!(((((v8) as i64).wrapping_add(z[((0) * (n) + (((b * 1 + 2) % (n)))) as usize])) as i16)).min((((if (((v8) as i32) != ((((-1i64) + a)) as i32)) { (255 as i64) } else { ((v8) as i64) })) as i16)))) as u64);
      }
    }
  }
  y
}

fn program_9(x: &[i64], z: &[u64], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (n) as usize];
  for b in 0..(n + 127) / 128 {
    let mut s1 = vec![0 as i64; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        if ((z[((0) * (n) + ((b * 128 + t))) as usize].wrapping_mul(((x[((0) * (n) + ((((b * 128 + t) * 5 + 0) % (n)))) as usize]) as u64))).wrapping_neg() <= (((13i64)) as u64).wrapping_add((if ((-4i64) == b) { z[((0) * (n) + ((((b * 128 + t) * 5 + 2) % (n)))) as usize] } else { z[((0) * (n) + ((((b * 128 + t) * 1 + 0) % (n)))) as usize] }))) {
          let mut v2: i16 = (((((1000i64)) as u16)) as i16);
          v2 = ((((v2) as i64).bitor((64 as i64))) as i16);
        }
        s1[((t * 3 + 7) % 128) as usize] = x[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize];
      } else {
        s1[((t * 3 + 7) % 128) as usize] = 7;
      }
    }
    let mut s3 = vec![0 as i32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        for i4 in 0..4i64 {
          let e5: i64 = a;
          let mut w6: i32 = ((z[((0) * (n) + ((((b * 128 + t) * 1 + 0) % (n)))) as usize]) as i32) & 7;
          while w6 > 0 && ((((((1000 as u64)) as i32)) as i64) != (s1[((0) * (128) + (((t * 3 + 11) % (128)))) as usize]).wrapping_neg()) {
            w6 = w6 - 1;
            let mut v7: u32 = (((!(((127 as i64)) as u64).wrapping_add(z[((0) * (n) + ((((b * 128 + t) * 5 + 11) % (n)))) as usize]))) as u32);
          }
        }
        let mut v8: i8 = ((s1[((0) * (128) + (t)) as usize]) as i8);
        s3[((t * 31 + 0) % 128) as usize] = ((s1[((0) * (128) + (t)) as usize]) as i32);
      } else {
        s3[((t * 31 + 0) % 128) as usize] = 7;
      }
    }
    let mut s9 = vec![0 as u8; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        s9[((t * 3 + 0) % 128) as usize] = ((((b * 128 + t) % 4)) as u8);
      } else {
        s9[((t * 3 + 0) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut w10: i32 = ((s1[((0) * (128) + (((t * 1 + 0) % (128)))) as usize].wrapping_sub(((((s1[((0) * (128) + (((t * 1 + 1) % (128)))) as usize]) as i8)) as i64))) as i32) & 7;
        while w10 > 0 && !(((b * 2) != t)) {
          w10 = w10 - 1;
          let mut v11: u8 = (((((((255 as u32)) as u8)) as i32).wrapping_add((((-4i64)) as i32))) as u8);
        }
        let mut m12 = [0 as u8; 8];
        for i13 in 0..8 { m12[i13] = ((s3[((0) * (128) + (t)) as usize].wrapping_shr((((s3[((0) * (128) + (((t * 3 + 1) % (128)))) as usize]) as u32) & 31))) as u8); }
        let mut v14: i8 = ((((s1[((0) * (128) + (t)) as usize].wrapping_mul(((s3[((0) * (128) + (((t * 5 + 0) % (128)))) as usize]) as i64))) as u64).wrapping_mul(z[((0) * (n) + (((t * 1 + 11) % (n)))) as usize].wrapping_shr(8))) as i8);
        y[(b * 128 + t) as usize] = (((!(3 as u32).wrapping_add((((if (t >= (-4i64)) { v14 } else { v14 })) as u32)))) as u8);
      }
    }
  }
  y
}

fn program_10(x: &[i8], z: &[i64], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as u8; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v2: u64 = ((z[((0) * (n) + ((b * 32 + t))) as usize]) as u64);
        s1[((t * 1 + 1) % 32) as usize] = ((((0i64) + (b * 32 + t))) as u8);
      } else {
        s1[((t * 1 + 1) % 32) as usize] = 7;
      }
    }
    let mut s3 = vec![0 as i64; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        s3[((t * 1 + 0) % 32) as usize] = (((1i64)) as i64);
      } else {
        s3[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v4: i32 = ((((((64 as u64)) as u16) & (((2i64)) as u16))) as i32);
        v4 = ((((v4) as i64).wrapping_sub((-7i64))) as i32);
        y[(b * 32 + t) as usize] = (((0i64)) as i8);
      }
    }
  }
  y
}

fn program_11(x: &[u8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as u32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut w2: i32 = (((z[((0) * (n) + ((b * 32 + t))) as usize].wrapping_shl(1)).wrapping_neg()) as i32) & 7;
        while w2 > 0 && ((((x[((0) * (n) + ((((b * 32 + t) * 1 + 11) % (n)))) as usize]) as i16) < z[((0) * (n) + ((((b * 32 + t) * 1 + 0) % (n)))) as usize]) && ((5i64) <= a)) {
          w2 = w2 - 1;
          let e3: i64 = ((2i64) + (b).max(t));
        }
        let mut v4: u16 = (((z[((0) * (n) + ((((b * 32 + t) * 5 + 0) % (n)))) as usize] ^ ((x[((0) * (n) + ((((b * 32 + t) * 3 + 0) % (n)))) as usize]) as i16)).wrapping_div(((z[((0) * (n) + ((((b * 32 + t) * 1 + 2) % (n)))) as usize] | (((2i64)) as i16)) | 1))) as u16);
        s1[((t * 3 + 7) % 32) as usize] = (((a).max(a)) as u32);
      } else {
        s1[((t * 3 + 7) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v5: i8 = ((((((0i64)).max(a)) as i32).wrapping_sub((((if ((b / 3) >= a) { z[((0) * (n) + (((b * 1 + 1) % (n)))) as usize] } else { ((x[((0) * (n) + (((b * 5 + 0) % (n)))) as usize]) as i16) })) as i32))) as i8);
        v5 = ((((v5) as i32).wrapping_add((if ((((3000000000 as i64)) as u32) != ((v5.wrapping_shr(4)) as u32)) { ((x[((0) * (n) + ((s1[((0) * (32) + (((t * 5 + 11) % (32)))) as usize] as i64 % (n)))) as usize].wrapping_div((((3i64)) as u8))) as i32) } else { ((v5) as i32) }))) as i8);
        v5 = v5.wrapping_add((((((s1[((0) * (32) + (((t * 5 + 11) % (32)))) as usize]) as u64).wrapping_add((1 as u64))) as i8)).min(((z[((0) * (n) + ((((z[((0) * (n) + (((t * 1 + 1) % (n)))) as usize]) as u32) as i64 % (n)))) as usize].wrapping_shr((((v5) as u32) & 15))) as i8)));
        y[(b * 32 + t) as usize] = ((((v5) as i16).wrapping_sub((((v5.wrapping_shl(3)) as i16)).min(((((v5) as i32).wrapping_mul((((b).min(a)) as i32))) as i16)))) as u32);
      }
    }
  }
  y
}

fn program_12(x: &[i64], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for b in 0..(n + 63) / 64 {
    let mut s1 = vec![0 as u32; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v2: u8 = (((!(((z[((0) * (n) + ((((b * 64 + t) * 1 + 1) % (n)))) as usize]) as i64) | x[((0) * (n) + ((b * 64 + t))) as usize]))) as u8);
        let mut m3 = [0 as u8; 4];
        for i4 in 0..4 { m3[i4] = z[((0) * (n) + ((b * 64 + t))) as usize].wrapping_shl((((v2) as u32) & 7)); }
        s1[((t * 3 + 7) % 64) as usize] = ((((v2) as i32).wrapping_add((((65535i64)) as i32)).wrapping_sub(((v2) as i32).wrapping_add((((b + (b * 64 + t))) as i32))).wrapping_shr(30)) as u32);
      } else {
        s1[((t * 3 + 7) % 64) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as u64; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v6: i32 = (((((((z[((0) * (n) + ((((b * 64 + t) * 5 + 11) % (n)))) as usize]) as u32) | (5 as u32))) as i64).wrapping_sub((if (x[((0) * (n) + ((((b * 64 + t) * 5 + 11) % (n)))) as usize] > ((((1i64) + b)) as i64)) { ((z[((0) * (n) + ((b * 64 + t))) as usize]) as i64) } else { x[((0) * (n) + ((b * 64 + t))) as usize] }))) as i32);
        v6 = (((13 as u32)) as i32);
        v6 = ((((v6) as u32).wrapping_sub((if !(((b).min((b * 64 + t)) != (b * 64 + t))) { (((((z[((0) * (n) + ((b * 64 + t))) as usize]) as i8)).max(((v6) as i8))) as u32) } else { s1[((0) * (64) + (((t * 3 + 1) % (64)))) as usize] }))) as i32);
        s5[((t * 5 + 0) % 64) as usize] = (((a + b)) as u64);
      } else {
        s5[((t * 5 + 0) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v7: u8 = ((s5[((0) * (64) + (((t * 3 + 2) % (64)))) as usize].wrapping_mul(((s1[((0) * (64) + (((t * 1 + 0) % (64)))) as usize]) as u64)).wrapping_mul(((x[((0) * (n) + (((t * 1 + 0) % (n)))) as usize].wrapping_rem(((((s1[((0) * (64) + (((t * 1 + 0) % (64)))) as usize]) as i64) & (128 as i64)) | 1))) as u64))) as u8);
        y[(b * 64 + t) as usize] = (128 as u64);
      }
    }
  }
  y
}

fn program_13(x: &[u8], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (n) as usize];
  for b in 0..(n + 127) / 128 {
    let mut s1 = vec![0 as u8; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        s1[((t * 3 + 7) % 128) as usize] = (((a / 4)) as u8);
      } else {
        s1[((t * 3 + 7) % 128) as usize] = 7;
      }
    }
    let mut s2 = vec![0 as u32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        s2[((t * 1 + 0) % 128) as usize] = (((!x[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize].wrapping_mul(x[((0) * (n) + ((b * 128 + t))) as usize])).wrapping_div((((10i64)) as u8))) as u32);
      } else {
        s2[((t * 1 + 0) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v3: i32 = (((if !(((t % 3) <= b)) { (((((s1[((0) * (128) + (((t * 1 + 1) % (128)))) as usize]) as i32) ^ (((a * 4)) as i32))) as u32) } else { (255 as u32) })) as i32);
        y[(b * 128 + t) as usize] = ((((((z[((0) * (n) + ((s2[((0) * (128) + (((t * 3 + 1) % (128)))) as usize] as i64 % (n)))) as usize]) as i32).wrapping_mul(v3)) as u32).wrapping_sub((s2[((0) * (128) + (t)) as usize]).wrapping_neg())) as i16);
      }
    }
  }
  y
}

fn program_14(x: &[u32], z: &[u32], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (n) as usize];
  for b in 0..(n + 63) / 64 {
    let mut s1 = vec![0 as i8; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        s1[((t * 5 + 0) % 64) as usize] = ((((((b * 64 + t) % 2)) as u32).wrapping_mul(x[((0) * (n) + ((b * 64 + t))) as usize].wrapping_rem((((7i64)) as u32)).wrapping_div((((10i64)) as u32)))) as i8);
      } else {
        s1[((t * 5 + 0) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut w2: i32 = ((s1[((0) * (64) + (((t * 1 + 0) % (64)))) as usize]) as i32) & 7;
        while w2 > 0 && (((0i64) < b) || (((5i64) + a) < a)) {
          w2 = w2 - 1;
          if ((t).min(b) > a) {
            let mut v3: i64 = (((z[((0) * (n) + (((t * 5 + 1) % (n)))) as usize].wrapping_rem((((-8i64)) as u32)) | ((b) as u32))) as i64);
            break;
          }
          let mut v4: u8 = (((x[((0) * (n) + (((b * 3 + 2) % (n)))) as usize].wrapping_shl((x[((0) * (n) + (((b * 3 + 0) % (n)))) as usize] & 31))).wrapping_neg()) as u8);
        }
        y[(b * 64 + t) as usize] = ((((((s1[((0) * (64) + (((t * 3 + 1) % (64)))) as usize]) as u32).wrapping_mul(x[((0) * (n) + (((t * 1 + 2) % (n)))) as usize])) as u64).wrapping_add(((((((s1[((0) * (64) + (((t * 1 + 2) % (64)))) as usize] & s1[((0) * (64) + (t)) as usize])) as u16)).min(((s1[((0) * (64) + (t)) as usize].wrapping_add(s1[((0) * (64) + (((t * 1 + 1) % (64)))) as usize])) as u16))) as u64))) as i16);
      }
    }
  }
  y
}

fn program_15(x: &[u64], z: &[u32], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as i64; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        s1[((t * 1 + 0) % 32) as usize] = (((64 as u64).wrapping_sub(x[((0) * (n) + ((((b * 32 + t) * 5 + 0) % (n)))) as usize].wrapping_sub((((t).max(b)) as u64)).wrapping_div((((-8i64)) as u64)))) as i64);
      } else {
        s1[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v2: u8 = ((z[((0) * (n) + (((b * 5 + 1) % (n)))) as usize].wrapping_sub((z[((0) * (n) + (((b * 3 + 0) % (n)))) as usize]).wrapping_neg())) as u8);
        y[(b * 32 + t) as usize] = (((-7i64)) as u8);
      }
    }
  }
  y
}

fn program_16(x: &[i16], z: &[u8], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m * n) as usize];
  for p in 0..m {
    let mut v1: i8 = ((((x[(((0) * (m) + (((p * 5 + 2) % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize].wrapping_shr((((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]) as u32) & 15))) as i64).wrapping_mul(((x[(((0) * (m) + (((p * 1 + 0) % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize]) as i64).wrapping_mul((1 as i64)))) as i8);
    for j in 0..n {
      let mut v2: u64 = ((x[(p * n + j) as usize]) as u64);
      y[(p * n + j) as usize] = (((128i64)) as i16);
    }
  }
  y
}

fn program_17(x: &[u16], z: &[u32], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u16 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut w1: i32 = ((((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize]) as u32).wrapping_add(z[((0) * (n) + (((j * 5 + 11) % (n)))) as usize]).wrapping_mul(z[((0) * (n) + (((i * 5 + 2) % (n)))) as usize].wrapping_sub(((tile[(((0) * (8) + (((i * 1 + 2) % (8)))) * (16) + (j)) as usize]) as u32)))) as i32) & 7;
        while w1 > 0 && (((i - a) >= i) && (((2i64) + j) <= j)) {
          w1 = w1 - 1;
          let mut w2: i32 = ((z[((0) * (n) + (((j * 5 + 0) % (n)))) as usize].wrapping_shr(13).wrapping_rem(((z[((0) * (n) + (((j * 3 + 11) % (n)))) as usize] ^ (100 as u32)) | 1))) as i32) & 7;
          while w2 > 0 && ((((((2i64)) as i16)) as u32) < (if (z[((0) * (n) + (((i * 5 + 2) % (n)))) as usize] >= z[((0) * (n) + (((j * 1 + 1) % (n)))) as usize]) { ((tile[(((0) * (8) + (((i * 3 + 2) % (8)))) * (16) + (j)) as usize]) as u32) } else { z[((0) * (n) + (((i * 1 + 2) % (n)))) as usize] })) {
            w2 = w2 - 1;
            let mut v3: u8 = (((((((5i64)) as i8)) as u32).wrapping_mul((1 as u32))) as u8);
            let mut m4 = [0 as u16; 4];
            for i5 in 0..4 { m4[i5] = ((((v3) as i32).wrapping_sub((((1000i64)) as i32))) as u16); }
          }
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = ((i) as i32);
      }
    } }
  } }
  y
}

fn program_18(x: &[i32], z: &[u32], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as u32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        s1[((t * 1 + 1) % 32) as usize] = (((!(((z[((0) * (n) + ((((b * 32 + t) * 3 + 1) % (n)))) as usize]) as i64) ^ (100 as i64)).wrapping_add(((z[((0) * (n) + ((((b * 32 + t) * 1 + 2) % (n)))) as usize]) as i64)))) as u32);
      } else {
        s1[((t * 1 + 1) % 32) as usize] = 7;
      }
    }
    let mut s2 = vec![0 as u32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v3: u64 = (((s1[((0) * (32) + (((t * 5 + 0) % (32)))) as usize].wrapping_mul(s1[((0) * (32) + (((t * 1 + 1) % (32)))) as usize]) | (s1[((0) * (32) + (((t * 5 + 2) % (32)))) as usize] | (1000 as u32)))) as u64);
        v3 = v3.bitxor((v3.wrapping_shr(47)).wrapping_neg());
        v3 = v3.bitxor((((x[((0) * (n) + ((((b * 32 + t) * 1 + 2) % (n)))) as usize] ^ (((((v3) as u8)).max(((z[((0) * (n) + ((((b * 32 + t) * 3 + 2) % (n)))) as usize]) as u8))) as i32))) as u64));
        s2[((t * 31 + 0) % 32) as usize] = (1000 as u32);
      } else {
        s2[((t * 31 + 0) % 32) as usize] = 7;
      }
    }
    let mut s4 = vec![0 as i32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v5: u16 = ((((x[((0) * (n) + ((((b * 32 + t) * 5 + 1) % (n)))) as usize]) as i64).wrapping_mul((2 as i64)).wrapping_shr((s1[((0) * (32) + (((t * 3 + 11) % (32)))) as usize].wrapping_div((((255i64)) as u32)) & 63))) as u16);
        let mut w6: i32 = ((v5) as i32) & 7;
        while w6 > 0 && ((z[((0) * (n) + ((((b * 32 + t) * 1 + 1) % (n)))) as usize] > (((-4i64)) as u32)) || (b != t)) {
          w6 = w6 - 1;
          v5 = ((((v5) as i32).bitxor((((t + a)) as i32))) as u16);
          let e7: i64 = (((b * 32 + t)).min((b * 32 + t))).min((b * 32 + t));
        }
        s4[((t * 3 + 7) % 32) as usize] = (((2 as u32)) as i32);
      } else {
        s4[((t * 3 + 7) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut m8 = [0 as i16; 2];
        for i9 in 0..2 { m8[i9] = ((s1[((0) * (32) + (((t * 3 + 11) % (32)))) as usize].wrapping_div((((10i64)) as u32))) as i16); }
        let mut v10: u32 = (((if (((((s4[((0) * (32) + (((t * 3 + 2) % (32)))) as usize]) as i16)) as i32) <= ((b) as i32)) { (((z[((0) * (n) + (((b * 1 + 2) % (n)))) as usize]) as i64) & (65535 as i64)) } else { ((z[((0) * (n) + (((b * 5 + 11) % (n)))) as usize].wrapping_sub((((65535i64)) as u32))) as i64) })) as u32);
        { let at = (((((((s4[((0) * (32) + (((t * 5 + 11) % (32)))) as usize]) as i16)).min(((v10) as i16))) as u32) as i64 % (2))) as usize; m8[at] = ((((m8[at]) as i64).wrapping_mul((0 as i64))) as i16); }
        y[(b * 32 + t) as usize] = (((128i64)) as i16);
      }
    }
  }
  y
}

fn program_19(x: &[i16], z: &[u16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i16 } }).collect::<Vec<_>>();
    
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: u64 = (((((((7i64)) as i16).wrapping_sub(x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((j * 5 + 2) % (n)))) as usize])) as i32).wrapping_mul(((i) as i32))) as u64);
        if (!((v1 > ((a) as u64))) && (((tile[(((0) * (8) + (i)) * (16) + (((j * 1 + 2) % (16)))) as usize]) as u64) > (v1 | v1))) {
          v1 = (((2 as u32)) as u64);
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((128i64)) as i64);
      }
    } }
  } }
  y
}

fn program_20(x: &[u32], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m * n) as usize];
  for p in 0..m {
    let mut v1: u64 = ((x[(((0) * (m) + (((p * 3 + 1) % (m)))) * (n) + (((p * 1 + 2) % (n)))) as usize].wrapping_rem((((16i64)) as u32))) as u64).wrapping_add(z[((0) * (n) + (((p * 3 + 1) % (n)))) as usize].wrapping_add(((x[(((0) * (m) + (((p * 1 + 0) % (m)))) * (n) + (((p * 3 + 0) % (n)))) as usize]) as u64)));
    if (x[(((0) * (m) + (((p * 3 + 1) % (m)))) * (n) + (((p * 5 + 2) % (n)))) as usize].wrapping_shr((((v1) as u32) & 31)).wrapping_shr(((((((if (p == p) { (0i64) } else { a })) as u64).wrapping_mul(z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize])) as u32) & 31)) < (((128i64)) as u32)) {
      for i2 in 0..3i64 {
        let mut w3: i32 = (((if !(((p + p) == a)) { (!v1) } else { v1.wrapping_shr((((v1) as u32) & 63)) })) as i32) & 7;
        while w3 > 0 && (((x[(((0) * (m) + ((x[(((0) * (m) + (((p * 3 + 1) % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize] as i64 % (m)))) * (n) + ((((z[((0) * (n) + (((i2 * 5 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize].wrapping_shl((((v1) as u32) & 31))) as u64) > (if ((if (p < p) { (-1i64) } else { a }) >= a) { (((65535i64)) as u64) } else { v1 })) {
          w3 = w3 - 1;
          for i4 in 0..4i64 {
            v1 = (((i2 / 3)) as u64);
          }
          v1 = ((a) as u64);
        }
        v1 = ((if (v1.wrapping_mul(v1) <= (((i2).min(p)) as u64)) { (((((if (p >= p) { i2 } else { (0i64) })) as i64)) as u64) } else { v1.wrapping_shl(41) }) & (((127i64)) as u64).wrapping_mul(v1.wrapping_sub(v1)));
      }
    } else {
      for i5 in 0..8i64 {
        v1 = (((9i64)) as u64);
        v1 = v1.bitor(((i5) as u64));
      }
      if !(((p).max(a) < a)) {
        let mut v6: i8 = ((z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize]) as i8);
        for i7 in 0..4i64 {
          let mut w8: i32 = ((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize].wrapping_shl(36).wrapping_rem(((((v6 ^ v6) | 1)) as u64))) as i32) & 7;
          while w8 > 0 && ((i7 * 3) != a) {
            w8 = w8 - 1;
            v1 = z[((0) * (n) + (((p * 5 + 0) % (n)))) as usize].wrapping_add(z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]).wrapping_mul((((((v6) as u16)).min((((!z[((0) * (n) + ((x[(((0) * (m) + (p)) * (n) + ((((v6) as u32) as i64 % (n)))) as usize] as i64 % (n)))) as usize])) as u16))) as u64));
            let e9: i64 = ((p).min(i7) * 7);
          }
          let mut m10 = [0 as u32; 2];
          for i11 in 0..2 { m10[i11] = x[(((0) * (m) + ((((z[((0) * (n) + ((((v6) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize].wrapping_shr((((v1) as u32) & 31)); }
        }
      }
    }
    let mut v12: u16 = (((z[((0) * (n) + (((p * 1 + 0) % (n)))) as usize] & (((100 as u32)) as u64))) as u16);
    for j in 0..n {
      let mut v13: u32 = x[(p * n + j) as usize];
      v13 = v13.wrapping_sub((((255i64)) as u32));
      v1 = ((a) as u64).wrapping_mul((((x[(((0) * (m) + (p)) * (n) + (((j * 3 + 11) % (n)))) as usize]) as u64).wrapping_add(z[((0) * (n) + ((((v12) as u32) as i64 % (n)))) as usize])).min(((v13.wrapping_add((((-128i64)) as u32))) as u64)));
      y[(p * n + j) as usize] = (((65535 as u32)) as i32);
    }
  }
  y
}

fn program_21(x: &[i8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: i32 = ((((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i * 5 + 0) % (n)))) as usize]) as u64).wrapping_add((((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize] & (((64i64)) as i16))) as u64))) as i32);
      for k in 0..((n + 15) / 16) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 64 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          if ((((1000 as u64)) as i64).wrapping_shr(47) < (((j + a)) as i64)) {
            let mut v2: u64 = (((((if (((x[(((0) * (m) + (((k * 3 + 11) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize]) as i32) >= (((a - k)) as i32)) { v1 } else { v1 })) as u8)) as u64);
          } else {
            v1 = v1;
          }
          if ((if ((((((3i64)) as u8)) as u64) > ((v1) as u64).wrapping_rem(((((z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize]) as u64) ^ (65535 as u64)) | 1))) { v1 } else { v1.wrapping_div((((2i64)) as i32)) }) >= (((255i64)) as i32)) {
            v1 = (((k * 2)) as i32);
            v1 = (((1000 as i64).wrapping_mul((((if (here[(((0) * (64) + ((((v1) as u32) as i64 % (64)))) * (16) + (((j * 5 + 11) % (16)))) as usize] <= (((-7i64)) as i8)) { (if (v1 != (((1000i64)) as i32)) { ((here[(((0) * (64) + (((i * 3 + 0) % (64)))) * (16) + ((((here[(((0) * (64) + (((i * 1 + 0) % (64)))) * (16) + ((((v1) as u32) as i64 % (16)))) as usize]) as u32) as i64 % (16)))) as usize]) as i32) } else { v1 }) } else { (((((255i64)) as i16)) as i32) })) as i64))) as i32);
          } else {
            let mut m3 = [0 as u16; 2];
            for i4 in 0..2 { m3[i4] = (((if (x[(((0) * (m) + (((k * 3 + 0) % (m)))) * (n) + ((((here[(((0) * (64) + (((i * 5 + 2) % (64)))) * (16) + ((((v1) as u32) as i64 % (16)))) as usize]) as u32) as i64 % (n)))) as usize] == (((5i64)) as i8)) { v1 } else { (((7i64)) as i32) })) as u16); }
          }
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = ((((((((1000i64)) as u16)) as u64).wrapping_add((((v1) as u64)).min(((v1) as u64))) ^ ((x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((i * 5 + 2) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (((i * 5 + 2) % (n)))) as usize]).wrapping_div((((-3i64)) as i8))) as u64))) as i8);
      }
    } }
  }
  y
}

fn program_22(x: &[i64], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for br in 0..(m + 15) / 16 { for bc in 0..(n + 31) / 32 {
    let tile = (0..512i64).map(|e| { let (r, c) = (br * 16 + e / 32, bc * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i64 } }).collect::<Vec<_>>();
    let tile = (0..512usize).map(|e| tile[e % 16 * 32 + e / 16]).collect::<Vec<_>>();
    for i in 0..16i64 { for j in 0..32i64 {
      if br * 16 + i < m && bc * 32 + j < n {
        let e1: i64 = ((i % 2)).max(i);
        let mut w2: i32 = ((x[(((0) * (m) + (((j * 5 + 2) % (m)))) * (n) + (((j * 3 + 0) % (n)))) as usize]) as i32) & 7;
        while w2 > 0 && (((((tile[(((0) * (32) + (((j * 5 + 1) % (32)))) * (16) + (((i * 1 + 11) % (16)))) as usize]) as i16)) as i32) >= ((((-1i64)).min(i)) as i32)) {
          w2 = w2 - 1;
          let mut m3 = [0 as u64; 8];
          for i4 in 0..8 { m3[i4] = (((if (e1 >= a) { tile[(((0) * (32) + (j)) * (16) + (((i * 1 + 1) % (16)))) as usize] } else { (-1i64) })) as u64); }
          let mut v5: u8 = ((((x[(((0) * (m) + (((j * 1 + 2) % (m)))) * (n) + (((j * 5 + 2) % (n)))) as usize]) as u64).wrapping_div(((m3[((0) * (8) + (((j * 3 + 11) % (8)))) as usize] | (((3000000000 as i64)) as u64)) | 1))) as u8);
        }
        let e6: i64 = a;
        y[((br * 16 + i) * n + bc * 32 + j) as usize] = x[(((0) * (m) + (((j * 1 + 0) % (m)))) * (n) + (((i * 5 + 0) % (n)))) as usize];
      }
    } }
  } }
  y
}

fn program_23(x: &[i16], z: &[u16], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i16 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: i16 = (((((i % 2)) as u8)) as i16);
        v1 = v1.bitand(tile[(((0) * (8) + ((((v1) as u32) as i64 % (8)))) * (16) + (((j * 1 + 0) % (16)))) as usize].wrapping_sub(v1).wrapping_sub(x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize].wrapping_shr((((v1) as u32) & 15))));
        v1 = v1.bitor((!v1.wrapping_shr(15)));
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = ((v1) as u8);
      }
    } }
  } }
  y
}

fn program_24(x: &[i32], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i32 } }).collect::<Vec<_>>();
    
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: u64 = ((((((x[(((0) * (m) + (((j * 3 + 0) % (m)))) * (n) + (((i * 5 + 0) % (n)))) as usize]) as u32).wrapping_rem(((((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i * 5 + 2) % (n)))) as usize]) as u32) ^ (3000000000 as u32)) | 1))) as i64).wrapping_rem(((z[((0) * (n) + (((i * 5 + 0) % (n)))) as usize] | z[((0) * (n) + (((i * 3 + 1) % (n)))) as usize]) | 1))) as u64);
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((tile[(((0) * (8) + ((((z[((0) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) as i64 % (8)))) * (16) + ((((v1) as u32) as i64 % (16)))) as usize].wrapping_mul(x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize])).wrapping_neg().wrapping_rem((((2i64)) as i32))) as u32);
      }
    } }
  } }
  y
}

fn program_25(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: u32 = ((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize]) as u32);
      for k in 0..((n + 15) / 16) {
        let here = (0..256i64).map(|e| { let (r, c) = (r * 16 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u16 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          let mut v2: u8 = ((v1) as u8);
          let mut v3: u8 = (((if ((k - j) == (1i64)) { here[(((0) * (16) + (((i * 3 + 11) % (16)))) * (16) + ((v1 as i64 % (16)))) as usize] } else { ((v2) as u16) }).wrapping_shl(12)) as u8);
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = ((v1) as u8);
      }
    } }
  }
  y
}

fn program_26(x: &[u32], z: &[u32], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: i8 = (((!(if (((3i64)).max(a) <= i) { x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize] } else { z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize] }))) as i8);
      for k in 0..((n + 31) / 32) {
        let here = (0..2048i64).map(|e| { let (r, c) = (r * 64 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          let e2: i64 = ((if (j == i) { (1i64) } else { k })).max(a);
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = (((128 as u64)) as u16);
      }
    } }
  }
  y
}

fn program_27(x: &[i64], z: &[u16], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m * n) as usize];
  for br in 0..(m + 15) / 16 { for bc in 0..(n + 15) / 16 {
    let tile = (0..256i64).map(|e| { let (r, c) = (br * 16 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i64 } }).collect::<Vec<_>>();
    for i in 0..16i64 { for j in 0..16i64 {
      if br * 16 + i < m && bc * 16 + j < n {
        for i1 in 0..16i64 {
          let e2: i64 = (if ((i).min(i) == i1) { j } else { (if (a <= i1) { (5i64) } else { a }) });
          let mut v3: i8 = ((z[((0) * (n) + (((j * 5 + 0) % (n)))) as usize]) as i8);
          let mut m4 = [0 as i8; 2];
          for i5 in 0..2 { m4[i5] = (((((j + j)) as i32).wrapping_mul(((v3) as i32))) as i8); }
        }
        y[((br * 16 + i) * n + bc * 16 + j) as usize] = (((-128i64)) as i16);
      }
    } }
  } }
  y
}

fn program_28(x: &[u64], z: &[i32], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (m * n) as usize];
  for p in 0..m {
    let mut v1: i64 = (((if (((p).max(a) >= (-4i64)) && (((0i64) + a) <= a)) { (((3 as i64)) as u64) } else { (1 as u64).wrapping_sub(((z[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]) as u64)) })) as i64);
    let mut w2: i32 = ((((p) as i8)) as i32) & 7;
    while w2 > 0 && ((if (a >= p) { ((v1) as u64) } else { x[(((0) * (m) + (p)) * (n) + (((p * 5 + 1) % (n)))) as usize] }) <= (((100 as i64)) as u64)) {
      w2 = w2 - 1;
      v1 = (((a * 7)) as i64);
      let mut m3 = [0 as u16; 2];
      for i4 in 0..2 { m3[i4] = ((v1) as u16); }
    }
    for j in 0..n {
      let mut v5: i16 = ((x[(p * n + j) as usize]) as i16);
      let e6: i64 = j;
      v1 = ((((((v1.wrapping_div((((-3i64)) as i64))).wrapping_neg()) as u64) | (!(((13 as i64)) as u64).wrapping_sub(x[(((0) * (m) + (p)) * (n) + ((((v5) as u32) as i64 % (n)))) as usize])))) as i64);
      v5 = ((((z[((0) * (n) + (((((v1).min(((z[((0) * (n) + (((j * 1 + 0) % (n)))) as usize]) as i64))) as u32) as i64 % (n)))) as usize]) as i64).wrapping_add((((-128i64)) as i64).wrapping_add(v1))) as i16);
      y[(p * n + j) as usize] = (((1i64)) as i8);
    }
  }
  y
}

fn program_29(x: &[u64], z: &[u32], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (m * n) as usize];
  for br in 0..(m + 15) / 16 { for bc in 0..(n + 15) / 16 {
    let tile = (0..256i64).map(|e| { let (r, c) = (br * 16 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u64 } }).collect::<Vec<_>>();
    let tile = (0..256usize).map(|e| tile[e % 16 * 16 + e / 16]).collect::<Vec<_>>();
    for i in 0..16i64 { for j in 0..16i64 {
      if br * 16 + i < m && bc * 16 + j < n {
        if ((((127 as i64).wrapping_add(((((a) as u32).wrapping_add(z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize])) as i64))) as u64) > tile[(((0) * (16) + (((i * 1 + 1) % (16)))) * (16) + (((j * 5 + 1) % (16)))) as usize].wrapping_shl(11).wrapping_div((((3i64)) as u64))) {
          let mut v1: i64 = ((tile[(((0) * (16) + (((j * 5 + 1) % (16)))) * (16) + (((i * 3 + 11) % (16)))) as usize].wrapping_mul(tile[(((0) * (16) + (((j * 3 + 0) % (16)))) * (16) + (i)) as usize]).wrapping_shr((((x[(((0) * (m) + (((i * 3 + 11) % (m)))) * (n) + (((i * 1 + 0) % (n)))) as usize]) as u32) & 63))) as i64);
        } else {
          let mut v2: i32 = ((((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((j * 1 + 1) % (n)))) as usize]) as u32)) as i32);
          let mut v3: u8 = ((v2) as u8);
        }
        let mut v4: u16 = (((((127i64)) as u64).wrapping_add(x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((j * 5 + 0) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + (((j * 1 + 0) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]))) as u16);
        v4 = v4.wrapping_sub(v4);
        y[((br * 16 + i) * n + bc * 16 + j) as usize] = (((if ((-4i64) == i) { i } else { (5i64) })) as i8);
      }
    } }
  } }
  y
}

fn program_30(x: &[i64], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (n) as usize];
  for p in 0..n {
    let mut w1: i32 = ((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]) as i32) & 7;
    while w1 > 0 && !((x[((0) * (n) + (((p * 5 + 11) % (n)))) as usize] != ((z[((0) * (n) + (p)) as usize]) as i64))) {
      w1 = w1 - 1;
      let mut v2: u16 = (if ((p == a) && (x[((0) * (n) + (((p * 3 + 0) % (n)))) as usize] >= (128 as i64))) { (((((z[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]) as i16)).max(((x[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]) as i16))) as u16) } else { ((x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]) as u16) });
    }
    for i3 in 0..2i64 {
      let mut v4: i8 = (((((a + p)) as i64).wrapping_add(x[((0) * (n) + (((p * 5 + 1) % (n)))) as usize]).wrapping_mul(((((3i64)).min(i3)) as i64))) as i8);
      v4 = ((((v4) as i64).wrapping_add(((((v4) as i64) ^ x[((0) * (n) + ((((v4) as u32) as i64 % (n)))) as usize])).wrapping_neg())) as i8);
      v4 = ((((v4) as i64).bitxor((((-3000000000i64)) as i64))) as i8);
    }
    let mut v5: i8 = (if (((z[((0) * (n) + (((p * 1 + 0) % (n)))) as usize]) as u64) >= (255 as u64)) { z[((0) * (n) + (p)) as usize] } else { (((-7i64)) as i8) }).wrapping_sub((((5i64)) as i8));
    v5 = (((7 as u32)) as i8);
    v5 = ((((v5) as i64).wrapping_sub((-1i64))) as i8);
    y[(p) as usize] = (((1i64)) as i16);
  }
  y
}

fn program_31(x: &[u32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (n) as usize];
  for p in 0..n {
    let mut v1: i8 = (((x[((0) * (n) + (p)) as usize]).wrapping_neg().wrapping_shl(((((((7i64)) as i32)) as u32) & 31))) as i8);
    v1 = (((1000 as u64).wrapping_add(((v1) as u64))) as i8);
    v1 = ((((9i64) + a)) as i8);
    v1 = ((((v1) as i32).bitor(((a) as i32))) as i8);
    y[(p) as usize] = (((100i64)) as i8);
  }
  y
}

fn program_32(x: &[i64], z: &[u16], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m * n) as usize];
  for p in 0..m {
    let mut v1: i32 = ((x[(((0) * (m) + (((p * 5 + 0) % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + (((p * 3 + 2) % (m)))) * (n) + (((p * 3 + 0) % (n)))) as usize]).wrapping_sub((((if ((a % 2) != p) { z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize] } else { z[((0) * (n) + (((p * 5 + 2) % (n)))) as usize] })) as i64))) as i32);
    v1 = ((((v1) as u32).bitor((127 as u32))) as i32);
    v1 = (!v1);
    for j in 0..n {
      let mut v2: i64 = x[(p * n + j) as usize];
      let mut v3: u8 = ((((if (v2 < ((z[((0) * (n) + (((j * 3 + 2) % (n)))) as usize]) as i64)) { v1 } else { v1 })) as u8)).max((((z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize]).wrapping_neg()) as u8));
      y[(p * n + j) as usize] = ((((v2) as i8)) as u8);
    }
  }
  y
}

fn program_33(x: &[i8], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: i8 = x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((i * 3 + 2) % (n)))) as usize];
      for k in 0..((n + 31) / 32) {
        let here = (0..2048i64).map(|e| { let (r, c) = (r * 64 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          v1 = (((13i64)) as i8);
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = ((a) as u16);
      }
    } }
  }
  y
}

fn program_34(x: &[i32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: i32 = ((((if (i >= i) { (((5i64)) as i16) } else { z[((0) * (n) + (((i * 1 + 1) % (n)))) as usize] })) as i32) | x[(((0) * (m) + (((i * 1 + 2) % (m)))) * (n) + (((i * 5 + 2) % (n)))) as usize].wrapping_shr((((z[((0) * (n) + (((i * 3 + 0) % (n)))) as usize]) as u32) & 31)));
      for k in 0..((n + 15) / 16) {
        let here = (0..256i64).map(|e| { let (r, c) = (r * 16 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i32 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          let mut m2 = [0 as i32; 4];
          for i3 in 0..4 { m2[i3] = v1.wrapping_add(here[(((0) * (16) + ((((v1) as u32) as i64 % (16)))) * (16) + ((((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (16)))) as usize]); }
          for i4 in 0..8i64 {
            v1 = v1.wrapping_sub((((127i64)) as i32));
            { let at = ((((v1) as u32) as i64 % (4))) as usize; m2[at] = (if (((v1) as u32) <= (((m2[((0) * (4) + (((k * 1 + 2) % (4)))) as usize]) as u32)).max(((m2[((0) * (4) + ((((v1) as u32) as i64 % (4)))) as usize]) as u32))) { (v1).max(v1) } else { ((((m2[((0) * (4) + (((k * 1 + 1) % (4)))) as usize]) as u8)) as i32) }); }
            let e5: i64 = (if ((a / 4) >= (-1i64)) { (j / 2) } else { ((9i64) + k) });
          }
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = (((2 as i64)) as i32);
      }
    } }
  }
  y
}

fn program_35(x: &[i8], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: i64 = ((((((5i64)) as i8).wrapping_sub(tile[(((0) * (8) + (((i * 1 + 0) % (8)))) * (16) + (j)) as usize])).wrapping_neg()) as i64);
        let mut v2: u32 = ((((((2i64)) as i8).wrapping_sub(tile[(((0) * (8) + ((((v1) as u32) as i64 % (8)))) * (16) + (j)) as usize])) as u32)).min(((v1) as u32));
        let mut m3 = [0 as i16; 8];
        for i4 in 0..8 { m3[i4] = (((if (((3i64) - j) > j) { (5 as i64) } else { ((v2) as i64) })) as i16); }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((0i64)) as i32);
      }
    } }
  } }
  y
}

fn program_36(x: &[u8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (n) as usize];
  for b in 0..(n + 63) / 64 {
    let mut s1 = vec![0 as u32; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v2: i32 = (((if !((z[((0) * (n) + ((((b * 64 + t) * 5 + 11) % (n)))) as usize] >= z[((0) * (n) + ((((b * 64 + t) * 1 + 2) % (n)))) as usize])) { z[((0) * (n) + ((((b * 64 + t) * 3 + 2) % (n)))) as usize].wrapping_div((((-3i64)) as i16)) } else { (((1i64)) as i16) })) as i32);
        for i3 in 0..3i64 {
          v2 = v2;
          v2 = v2.bitand(((((((b * 64 + t) - i3)) as u16)) as i32));
        }
        s1[((t * 1 + 7) % 64) as usize] = (((65535i64)) as u32);
      } else {
        s1[((t * 1 + 7) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v4: i8 = ((x[((0) * (n) + (((b * 1 + 11) % (n)))) as usize]) as i8);
        v4 = (((((64 as u32)) as i32)) as i8);
        y[(b * 64 + t) as usize] = (((3 as u64)) as u32);
      }
    }
  }
  y
}

fn program_37(x: &[u64], z: &[u32], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as u32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        s1[((t * 1 + 7) % 32) as usize] = (((-128i64)) as u32);
      } else {
        s1[((t * 1 + 7) % 32) as usize] = 7;
      }
    }
    let mut s2 = vec![0 as i8; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        if ((z[((0) * (n) + ((((b * 32 + t) * 5 + 11) % (n)))) as usize].wrapping_sub(z[((0) * (n) + ((b * 32 + t))) as usize]) ^ z[((0) * (n) + ((((b * 32 + t) * 3 + 1) % (n)))) as usize].wrapping_sub((((-2i64)) as u32))) > (((if ((b * 32 + t) == (b * 32 + t)) { (b * 32 + t) } else { b })) as u32)) {
          let e3: i64 = ((if ((0i64) < (9i64)) { t } else { b }) / 7);
        }
        s2[((t * 5 + 0) % 32) as usize] = (((((((x[((0) * (n) + ((((b * 32 + t) * 1 + 1) % (n)))) as usize]).wrapping_neg()).wrapping_neg()) as i32)).min((((if (((5i64) + (b * 32 + t)) >= b) { (((((s1[((0) * (32) + (t)) as usize]) as u8)).min(((z[((0) * (n) + ((((b * 32 + t) * 5 + 0) % (n)))) as usize]) as u8))) as i64) } else { ((z[((0) * (n) + ((((b * 32 + t) * 5 + 0) % (n)))) as usize]) as i64) })) as i32))) as i8);
      } else {
        s2[((t * 5 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let e4: i64 = ((b - a) * 4);
        let mut v5: u32 = (s1[((0) * (32) + (((t * 1 + 2) % (32)))) as usize]).wrapping_neg();
        y[(b * 32 + t) as usize] = (((2i64)) as u16);
      }
    }
  }
  y
}

fn program_38(x: &[i8], z: &[i32], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: u8 = (((x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize]).max(x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize]).wrapping_shr((((z[((0) * (n) + (((i * 1 + 11) % (n)))) as usize]) as u32) & 7))) as u8);
      for k in 0..((n + 31) / 32) {
        let here = (0..512i64).map(|e| { let (r, c) = (r * 16 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          let e2: i64 = (if (a >= j) { j } else { (i + (-1i64)) });
          for i3 in 0..4i64 {
            v1 = (((-1i64)) as u8);
            v1 = ((((v1) as i32).wrapping_sub(((((v1) as i8)) as i32).wrapping_add(((here[(((0) * (16) + ((((v1) as u32) as i64 % (16)))) * (32) + ((((v1) as u32) as i64 % (32)))) as usize]) as i32).wrapping_mul(z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize])))) as u8);
            v1 = ((((v1) as i32).bitand((((i).max(j)) as i32))) as u8);
          }
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = ((((i) as i8)) as u64);
      }
    } }
  }
  y
}

fn program_39(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m * n) as usize];
  for br in 0..(m + 15) / 16 { for bc in 0..(n + 31) / 32 {
    let tile = (0..512i64).map(|e| { let (r, c) = (br * 16 + e / 32, bc * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u16 } }).collect::<Vec<_>>();
    for i in 0..16i64 { for j in 0..32i64 {
      if br * 16 + i < m && bc * 32 + j < n {
        let mut v1: i32 = (!(if (((x[(((0) * (m) + (((i * 1 + 2) % (m)))) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u32) >= (3000000000 as u32)) { ((tile[(((0) * (16) + (((i * 1 + 11) % (16)))) * (32) + (((j * 5 + 1) % (32)))) as usize]) as i32) } else { (((a % 7)) as i32) }));
        y[((br * 16 + i) * n + bc * 32 + j) as usize] = (((64 as u32)) as u8);
      }
    } }
  } }
  y
}
