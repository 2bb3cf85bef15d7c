// Written by scripts/random_programs.py.

pub fn cases(calls: &mut Calls) {
  calls.flat("program_0", |x, z, a| Ok(kernels::program_0(x, z, a)?.into_vec()), program_0, &[(1, 129, 1), (1, 31, 0), (1, 32, -3)]);
  calls.flat("program_1", |x, z, a| Ok(kernels::program_1(x, z, a)?.into_vec()), program_1, &[(1, 32, -3), (1, 129, 1), (1, 127, -3)]);
  calls.rows("program_2", |x, z, a| Ok(kernels::program_2(x, z, a)?.into_vec()), program_2, &[(33, 32, 0), (129, 17, 50), (300, 17, -3)]);
  calls.rows("program_3", |x, z, a| Ok(kernels::program_3(x, z, a)?.into_vec()), program_3, &[(100, 8, -3), (2, 17, 50), (127, 32, -3)]);
  calls.flat("program_4", |x, z, a| Ok(kernels::program_4(x, z, a)?.into_vec()), program_4, &[(1, 128, 50), (1, 127, 0), (1, 100, 1)]);
  calls.rows("program_5", |x, z, a| Ok(kernels::program_5(x, z, a)?.into_vec()), program_5, &[(1, 63, 1), (2, 2, 1), (128, 32, -3)]);
  calls.rows("program_6", |x, z, a| Ok(kernels::program_6(x, z, a)?.into_vec()), program_6, &[(129, 64, 0), (2, 63, -3), (32, 2, -3)]);
  calls.flat("program_7", |x, z, a| Ok(kernels::program_7(x, z, a)?.into_vec()), program_7, &[(1, 300, 1), (1, 33, -3), (1, 1, 0)]);
  calls.rows("program_8", |x, z, a| Ok(kernels::program_8(x, z, a)?.into_vec()), program_8, &[(128, 8, -3), (33, 8, -3), (100, 17, -3)]);
  calls.rows("program_9", |x, z, a| Ok(kernels::program_9(x, z, a)?.into_vec()), program_9, &[(129, 2, 0), (127, 63, 0), (33, 2, 0)]);
  calls.flat("program_10", |x, z, a| Ok(kernels::program_10(x, z, a)?.into_vec()), program_10, &[(1, 1, 50), (1, 127, 1), (1, 128, 1)]);
  calls.rows("program_11", |x, z, a| Ok(kernels::program_11(x, z, a)?.into_vec()), program_11, &[(2, 1, -3), (127, 17, -3), (33, 32, 50)]);
  calls.rows("program_12", |x, z, a| Ok(kernels::program_12(x, z, a)?.into_vec()), program_12, &[(127, 63, 1), (100, 8, -3), (128, 64, 50)]);
  calls.flat("program_13", |x, z, a| Ok(kernels::program_13(x, z, a)?.into_vec()), program_13, &[(1, 31, 50), (1, 128, -3), (1, 100, 50)]);
  calls.rows("program_14", |x, z, a| Ok(kernels::program_14(x, z, a)?.into_vec()), program_14, &[(300, 63, 50), (32, 64, -3), (1, 1, 50)]);
  calls.rows("program_15", |x, z, a| Ok(kernels::program_15(x, z, a)?.into_vec()), program_15, &[(127, 63, -3), (32, 8, 50), (1, 63, 0)]);
  calls.rows("program_16", |x, z, a| Ok(kernels::program_16(x, z, a)?.into_vec()), program_16, &[(100, 2, -3), (128, 64, -3), (1, 63, 50)]);
  calls.flat("program_17", |x, z, a| Ok(kernels::program_17(x, z, a)?.into_vec()), program_17, &[(1, 31, 0), (1, 1, -3), (1, 100, -3)]);
  calls.rows("program_18", |x, z, a| Ok(kernels::program_18(x, z, a)?.into_vec()), program_18, &[(128, 2, -3), (33, 2, 1), (100, 63, 1)]);
  calls.rows("program_19", |x, z, a| Ok(kernels::program_19(x, z, a)?.into_vec()), program_19, &[(33, 8, -3), (129, 17, 1), (127, 1, 1)]);
  calls.flat("program_20", |x, z, a| Ok(kernels::program_20(x, z, a)?.into_vec()), program_20, &[(1, 1, 50), (1, 100, -3), (1, 127, 0)]);
  calls.flat("program_21", |x, z, a| Ok(kernels::program_21(x, z, a)?.into_vec()), program_21, &[(1, 31, -3), (1, 129, 1), (1, 33, -3)]);
  calls.flat("program_22", |x, z, a| Ok(kernels::program_22(x, z, a)?.into_vec()), program_22, &[(1, 100, 1), (1, 129, 1), (1, 127, 1)]);
  calls.rows("program_23", |x, z, a| Ok(kernels::program_23(x, z, a)?.into_vec()), program_23, &[(1, 63, -3), (32, 32, 1), (129, 63, 0)]);
  calls.rows("program_24", |x, z, a| Ok(kernels::program_24(x, z, a)?.into_vec()), program_24, &[(128, 2, 50), (127, 1, 1), (300, 1, 0)]);
  calls.rows("program_25", |x, z, a| Ok(kernels::program_25(x, z, a)?.into_vec()), program_25, &[(1, 8, -3), (31, 2, 50), (100, 1, 0)]);
  calls.flat("program_26", |x, z, a| Ok(kernels::program_26(x, z, a)?.into_vec()), program_26, &[(1, 129, -3), (1, 33, 0), (1, 32, 1)]);
  calls.flat("program_27", |x, z, a| Ok(kernels::program_27(x, z, a)?.into_vec()), program_27, &[(1, 128, 50), (1, 300, 1), (1, 2, -3)]);
  calls.rows("program_28", |x, z, a| Ok(kernels::program_28(x, z, a)?.into_vec()), program_28, &[(2, 2, 50), (128, 64, -3), (33, 1, 1)]);
  calls.rows("program_29", |x, z, a| Ok(kernels::program_29(x, z, a)?.into_vec()), program_29, &[(127, 64, 0), (128, 17, 50), (100, 64, 1)]);
  calls.rows("program_30", |x, z, a| Ok(kernels::program_30(x, z, a)?.into_vec()), program_30, &[(32, 2, 1), (127, 32, 1), (300, 8, 1)]);
  calls.flat("program_31", |x, z, a| Ok(kernels::program_31(x, z, a)?.into_vec()), program_31, &[(1, 1, -3), (1, 100, -3), (1, 2, 0)]);
  calls.rows("program_32", |x, z, a| Ok(kernels::program_32(x, z, a)?.into_vec()), program_32, &[(128, 2, 50), (129, 2, 0), (2, 2, 0)]);
  calls.flat("program_33", |x, z, a| Ok(kernels::program_33(x, z, a)?.into_vec()), program_33, &[(1, 300, -3), (1, 127, 1), (1, 2, 0)]);
  calls.rows("program_34", |x, z, a| Ok(kernels::program_34(x, z, a)?.into_vec()), program_34, &[(300, 32, 0), (128, 63, 50), (100, 17, -3)]);
  calls.rows("program_35", |x, z, a| Ok(kernels::program_35(x, z, a)?.into_vec()), program_35, &[(31, 64, 50), (33, 63, -3), (129, 17, -3)]);
  calls.rows("program_36", |x, z, a| Ok(kernels::program_36(x, z, a)?.into_vec()), program_36, &[(1, 8, 1), (128, 2, 0), (2, 17, 1)]);
  calls.flat("program_37", |x, z, a| Ok(kernels::program_37(x, z, a)?.into_vec()), program_37, &[(1, 129, -3), (1, 2, 1), (1, 128, 0)]);
  calls.rows("program_38", |x, z, a| Ok(kernels::program_38(x, z, a)?.into_vec()), program_38, &[(100, 2, 0), (127, 63, -3), (129, 1, -3)]);
  calls.rows("program_39", |x, z, a| Ok(kernels::program_39(x, z, a)?.into_vec()), program_39, &[(100, 17, -3), (32, 63, 1), (129, 8, 1)]);
}

fn program_0(x: &[i32], z: &[u32], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let e1: i64 = (if (p == p) { p } else { (p - a) });
    let mut v2: u8 = ((((((z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]).wrapping_neg()) as i64) ^ (2 as i64))) as u8);
    let mut w3: i32 = (((if ((p - a) <= a) { ((v2) as i64).wrapping_div(((((v2) as i64) & (((3000000000i64)) as i64)) | 1)) } else { ((x[((0) * (n) + (p)) as usize]) as i64) })) as i32) & 7;
    while w3 > 0 && ((if (((1i64)).max(e1) >= (5i64)) { ((v2) as i32) } else { (((a - p)) as i32) }) < ((a) as i32)) {
      w3 = w3 - 1;
      let mut m4 = [0 as u16; 4];
      for i5 in 0..4 { m4[i5] = ((v2.wrapping_shl((((v2) as u32) & 7))) as u16); }
    }
    y[(p) as usize] = (((e1).max((0i64))) as u64);
  }
  y
}

fn program_1(x: &[i16], z: &[i8], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as i32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut m2 = [0 as i64; 4];
        for i3 in 0..4 { m2[i3] = ((x[((0) * (n) + ((((b * 32 + t) * 3 + 0) % (n)))) as usize].wrapping_div(((((z[((0) * (n) + ((((b * 32 + t) * 5 + 2) % (n)))) as usize] | z[((0) * (n) + ((b * 32 + t))) as usize]) | 1)) as i16))) as i64); }
        let mut v4: u64 = ((((((z[((0) * (n) + ((((b * 32 + t) * 1 + 2) % (n)))) as usize]) as i64) | (3 as i64))).max(((((x[((0) * (n) + ((((b * 32 + t) * 1 + 0) % (n)))) as usize]) as u64)) as i64))) as u64);
        s1[((t * 1 + 1) % 32) as usize] = (((3000000000i64)) as i32);
      } else {
        s1[((t * 1 + 1) % 32) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as i8; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v6: i8 = (((((((z[((0) * (n) + ((b * 32 + t))) as usize]) as i32).wrapping_mul((((1000i64)) as i32))) as u64)).min(((((z[((0) * (n) + ((((b * 32 + t) * 5 + 2) % (n)))) as usize]) as i32).wrapping_add(s1[((0) * (32) + (t)) as usize])) as u64))) as i8);
        s5[((t * 1 + 0) % 32) as usize] = (((!(((((x[((0) * (n) + ((b * 32 + t))) as usize]) as i32).wrapping_mul(s1[((0) * (32) + (t)) as usize])) as u64)).max((((z[((0) * (n) + ((((z[((0) * (n) + ((((b * 32 + t) * 3 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize] & (((13i64)) as i8))) as u64)))) as i8);
      } else {
        s5[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        if (((((s1[((0) * (32) + (t)) as usize]) as u32)) as u64).wrapping_sub((13 as u64)) != (((1000 as u32)) as u64)) {
          let mut v7: i8 = (((s1[((0) * (32) + (((t * 3 + 11) % (32)))) as usize]).min(s1[((0) * (32) + (((t * 1 + 0) % (32)))) as usize]).wrapping_shr(((((((x[((0) * (n) + (((b * 5 + 0) % (n)))) as usize]) as u64)).max(((z[((0) * (n) + (((b * 3 + 2) % (n)))) as usize]) as u64))) as u32) & 31))) as i8);
        } else {
          let mut v8: u8 = ((s1[((0) * (32) + (((t * 5 + 0) % (32)))) as usize].wrapping_shr((((s5[((0) * (32) + (((t * 1 + 0) % (32)))) as usize]) as u32) & 31)).wrapping_add((((if ((t).max((1i64)) == (5i64)) { x[((0) * (n) + (((b * 5 + 2) % (n)))) as usize] } else { ((z[((0) * (n) + (((b * 3 + 0) % (n)))) as usize]) as i16) })) as i32))) as u8);
          let mut v9: u16 = ((((s5[((0) * (32) + (((t * 5 + 11) % (32)))) as usize]) as u64).wrapping_div(((((v8) as u64) & (64 as u64)) | 1))) as u16);
        }
        for i10 in 0..2i64 {
          let mut v11: i8 = ((s1[((0) * (32) + (((t * 1 + 1) % (32)))) as usize].wrapping_shl(0)) as i8);
          if (((((a).max(t)) as i32) == ((v11.wrapping_rem((((7i64)) as i8))) as i32)) && ((((v11) as i32) ^ (((i10).max(t)) as i32)) == (((v11) as i32)).max(((s5[((0) * (32) + ((((v11) as u32) as i64 % (32)))) as usize]) as i32)))) {
            v11 = (((128i64)) as i8);
          }
        }
        let mut w12: i32 = ((z[((0) * (n) + (((b * 1 + 11) % (n)))) as usize]) as i32) & 7;
        while w12 > 0 && (((s1[((0) * (32) + (((t * 5 + 1) % (32)))) as usize].wrapping_sub((((if (a >= a) { b } else { a })) as i32))) as i64) >= (100 as i64)) {
          w12 = w12 - 1;
          let mut v13: i32 = ((s5[((0) * (32) + (t)) as usize]) as i32);
        }
        y[(b * 32 + t) as usize] = (((if !(((((((s5[((0) * (32) + (t)) as usize]) as i16) & x[((0) * (n) + (((t * 5 + 0) % (n)))) as usize])) as i32) > ((s5[((0) * (32) + (((t * 3 + 2) % (32)))) as usize]) as i32))) { (((if (((s5[((0) * (32) + (((t * 5 + 1) % (32)))) as usize]) as i32) > ((t) as i32)) { (((3i64)) as i32) } else { s1[((0) * (32) + (((t * 1 + 1) % (32)))) as usize] }).wrapping_add((((z[((0) * (n) + (((b * 1 + 11) % (n)))) as usize]) as i32)).min(s1[((0) * (32) + (t)) as usize]))) as u64) } else { ((x[((0) * (n) + (((b * 3 + 1) % (n)))) as usize]) as u64).wrapping_mul(((s1[((0) * (32) + (t)) as usize]) as u64)) })) as u32);
      }
    }
  }
  y
}

fn program_2(x: &[u32], z: &[i8], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: i32 = (((((3 as u64)) as u16)) as i32);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          let mut m2 = [0 as i16; 4];
          for i3 in 0..4 { m2[i3] = (((((v1) as i8)).min(((here[(((0) * (32) + (j)) * (32) + ((x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize] as i64 % (32)))) as usize]) as i8))) as i16); }
          v1 = (((0i64)) as i32);
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = ((((((((5 as u64)) as i16)) as u16)).max((((!z[((0) * (n) + (((i * 5 + 2) % (n)))) as usize]).wrapping_shr(3)) as u16))) as u64);
      }
    } }
  }
  y
}

fn program_3(x: &[i8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: u16 = ((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize]) as u16);
      for k in 0..((n + 15) / 16) {
        let here = (0..256i64).map(|e| { let (r, c) = (r * 16 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          v1 = (((k - j)) as u16);
          v1 = (((((!(x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (((k * 1 + 11) % (n)))) as usize]).wrapping_neg())) as i16).wrapping_add(z[((0) * (n) + (((((z[((0) * (n) + (((j * 1 + 1) % (n)))) as usize] & (((5i64)) as i16))) as u32) as i64 % (n)))) as usize])) as u16);
          for i2 in 0..8i64 {
            v1 = ((((v1) as i32).bitor(((j) as i32))) as u16);
            v1 = (((5 as u64)) as u16);
          }
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = (((255i64)) as i64);
      }
    } }
  }
  y
}

fn program_4(x: &[i16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for b in 0..(n + 63) / 64 {
    let mut s1 = vec![0 as i64; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        if ((((5i64)) as u64) >= (((((-3000000000i64)) as i64).wrapping_mul(((((x[((0) * (n) + ((((b * 64 + t) * 3 + 11) % (n)))) as usize]) as u8)) as i64))) as u64)) {
          let mut v2: u8 = ((((x[((0) * (n) + ((((b * 64 + t) * 3 + 1) % (n)))) as usize]) as i64).wrapping_mul((z[((0) * (n) + ((b * 64 + t))) as usize] & ((x[((0) * (n) + ((((b * 64 + t) * 1 + 0) % (n)))) as usize]) as i64)))) as u8);
        } else {
          let mut v3: u64 = (((z[((0) * (n) + ((b * 64 + t))) as usize].wrapping_shr((((x[((0) * (n) + ((((b * 64 + t) * 1 + 2) % (n)))) as usize]) as u32) & 63))).min(((x[((0) * (n) + ((b * 64 + t))) as usize].wrapping_rem((((2i64)) as i16))) as i64))) as u64);
        }
        s1[((t * 3 + 0) % 64) as usize] = (((255i64)) as i64);
      } else {
        s1[((t * 3 + 0) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v4: i32 = ((((((x[((0) * (n) + (((t * 3 + 0) % (n)))) as usize]).wrapping_neg()) as i8)).min(((((x[((0) * (n) + (((t * 5 + 11) % (n)))) as usize]) as u32).wrapping_div(((((x[((0) * (n) + (((b * 5 + 0) % (n)))) as usize]) as u32) | (3 as u32)) | 1))) as i8))) as i32);
        if (((((b) as i32).wrapping_sub((if (t < a) { (((if (a == t) { t } else { a })) as i32) } else { v4 }))) as u32) != (100 as u32)) {
          for i5 in 0..16i64 {
            let e6: i64 = ((5i64)).min((if ((5i64) <= a) { (3i64) } else { t }));
            v4 = (((b * 2)) as i32);
          }
        }
        y[(b * 64 + t) as usize] = ((((((if ((b).max(a) < a) { (65535 as u64) } else { ((x[((0) * (n) + (((t * 5 + 2) % (n)))) as usize]) as u64) })) as u16)).min(((s1[((0) * (64) + ((((v4) as u32) as i64 % (64)))) as usize].wrapping_sub(((x[((0) * (n) + ((((v4) as u32) as i64 % (n)))) as usize]) as i64))) as u16))) as u64).wrapping_rem(((((v4) as u64) & (1 as u64)) | 1));
      }
    }
  }
  y
}

fn program_5(x: &[u64], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m * n) as usize];
  for br in 0..(m + 15) / 16 { for bc in 0..(n + 15) / 16 {
    let tile = (0..256i64).map(|e| { let (r, c) = (br * 16 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u64 } }).collect::<Vec<_>>();
    for i in 0..16i64 { for j in 0..16i64 {
      if br * 16 + i < m && bc * 16 + j < n {
        let mut w1: i32 = (((if (x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((j * 3 + 0) % (n)))) as usize] > z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) { (((255i64)) as u64) } else { x[(((0) * (m) + (((i * 5 + 2) % (m)))) * (n) + (((j * 5 + 2) % (n)))) as usize] }).wrapping_mul((((128 as u32)) as u64))) as i32) & 7;
        while w1 > 0 && (z[((0) * (n) + (((i * 5 + 2) % (n)))) as usize].wrapping_rem((((255i64)) as u64)) <= (((i * 2)) as u64)) {
          w1 = w1 - 1;
          if ((tile[(((0) * (16) + (((j * 3 + 11) % (16)))) * (16) + (((j * 5 + 0) % (16)))) as usize].wrapping_rem(((z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize] & (((13 as u32)) as u64)) | 1)) == tile[(((0) * (16) + (i)) * (16) + (j)) as usize].wrapping_add(z[((0) * (n) + (((j * 3 + 11) % (n)))) as usize])) && ((tile[(((0) * (16) + (((j * 1 + 1) % (16)))) * (16) + (((j * 5 + 2) % (16)))) as usize] < (((100i64)) as u64)) && ((a).min(i) == j))) {
            let mut v2: u32 = (((x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((j * 1 + 1) % (n)))) as usize] | (((-2i64)) as u64)).wrapping_sub(((i) as u64))) as u32);
            v2 = ((x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize]) as u32);
          }
          let mut v3: i8 = (((((a).min((1i64))) as u64).wrapping_sub(tile[(((0) * (16) + (((i * 1 + 11) % (16)))) * (16) + (j)) as usize].wrapping_div(((x[(((0) * (m) + (((i * 3 + 1) % (m)))) * (n) + (((i * 5 + 11) % (n)))) as usize] | tile[(((0) * (16) + (((j * 1 + 0) % (16)))) * (16) + (j)) as usize]) | 1)))) as i8);
        }
        if (((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize] >= x[(((0) * (m) + (((j * 1 + 0) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize]) && ((j / 2) <= j)) && !(((i / 3) <= i))) {
          let mut v4: i32 = ((x[(((0) * (m) + (((j * 3 + 0) % (m)))) * (n) + (((i * 5 + 0) % (n)))) as usize].wrapping_sub((((3000000000i64)) as u64)).wrapping_mul(tile[(((0) * (16) + (j)) * (16) + (((i * 5 + 1) % (16)))) as usize].wrapping_rem((((16i64)) as u64)))) as i32);
        }
        y[((br * 16 + i) * n + bc * 16 + j) as usize] = (((((j) as u64).wrapping_add((if (tile[(((0) * (16) + (((j * 3 + 2) % (16)))) * (16) + (((i * 1 + 11) % (16)))) as usize] != x[(((0) * (m) + (((j * 3 + 2) % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize]) { z[((0) * (n) + (((i * 1 + 1) % (n)))) as usize] } else { tile[(((0) * (16) + (j)) * (16) + (j)) as usize] })) ^ (((1 as u32)) as u64))) as i32);
      }
    } }
  } }
  y
}

fn program_6(x: &[i64], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m * n) as usize];
  for p in 0..m {
    let mut v1: u64 = ((x[(((0) * (m) + (p)) * (n) + (((p * 3 + 0) % (n)))) as usize]) as u64);
    for j in 0..n {
      let mut v2: u16 = ((x[(p * n + j) as usize]) as u16);
      v2 = ((((((((v1) as u32)).min(((x[(((0) * (m) + ((((v2) as u32) as i64 % (m)))) * (n) + ((((z[((0) * (n) + (j)) as usize]) as u32) as i64 % (n)))) as usize]) as u32))) as u64) & v1.wrapping_rem((((-3i64)) as u64))).wrapping_div((((-8i64)) as u64))) as u16);
      let mut m3 = [0 as u8; 2];
      for i4 in 0..2 { m3[i4] = ((x[(((0) * (m) + (p)) * (n) + (j)) as usize]) as u8); }
      let mut w5: i32 = (((((65535i64)) as u16).wrapping_add((v2 & ((z[((0) * (n) + (j)) as usize]) as u16)))) as i32) & 7;
      while w5 > 0 && ((v1 >= ((z[((0) * (n) + (((j * 5 + 2) % (n)))) as usize]) as u64)) || (p <= j)) {
        w5 = w5 - 1;
        v2 = v2.wrapping_mul(v2);
      }
      y[(p * n + j) as usize] = (((if ((((((v2) as u8)).min(m3[((0) * (2) + (((j * 1 + 2) % (2)))) as usize])) as i32).wrapping_add((((a - p)) as i32)) < (((j + j)) as i32)) { (((7 as u32).wrapping_mul(((v2.wrapping_sub((((1000i64)) as u16))) as u32))) as u64) } else { (!v1).wrapping_sub((127 as u64)) })) as u8);
    }
  }
  y
}

fn program_7(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let mut v1: u64 = (((((x[((0) * (n) + (p)) as usize] ^ x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize])) as i64).wrapping_mul((((x[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as i64)).max(((x[((0) * (n) + (p)) as usize]) as i64)))) as u64);
    v1 = v1;
    y[(p) as usize] = (((((((65535 as u32)) as u64).wrapping_add((((x[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u64) | v1))) as i8)) as u64);
  }
  y
}

fn program_8(x: &[u32], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: i16 = ((((x[(((0) * (m) + (((i * 5 + 2) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize]) as i64).wrapping_add((-3000000000i64)).wrapping_add((((1000i64)) as i64))) as i16);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          let mut v2: u32 = ((v1) as u32);
          for i3 in 0..4i64 {
            v1 = ((((v1) as u64).wrapping_sub(((((v1) as u32).wrapping_mul(v2)) as u64))) as i16);
            v2 = (if ((j - j) == a) { here[(((0) * (32) + ((x[(((0) * (m) + (((k * 1 + 11) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize] as i64 % (32)))) * (32) + (j)) as usize].wrapping_div(((x[(((0) * (m) + (((i3 * 3 + 2) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize] ^ ((((9i64) + i)) as u32)) | 1)) } else { (((v1 | (((128i64)) as i16))) as u32) }).wrapping_add((((13i64)) as u32));
          }
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = (((!(z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]).wrapping_neg()).wrapping_div((((-8i64)) as u64))) as i16);
      }
    } }
  }
  y
}

fn program_9(x: &[i8], z: &[u32], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: u16 = ((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize].wrapping_rem((((3i64)) as u32)).wrapping_sub((((-1i64)) as u32))) as u16);
      for k in 0..((n + 15) / 16) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 64 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          v1 = (((2i64)) as u16);
          v1 = ((((v1) as u32).wrapping_mul((((((a) as i32).wrapping_sub(((v1) as i32))) as u32)).max(((v1) as u32)))) as u16);
          v1 = ((((v1) as i32).bitxor((((-7i64)) as i32))) as u16);
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = (((i % 4)) as u8);
      }
    } }
  }
  y
}

fn program_10(x: &[u64], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (n) as usize];
  for b in 0..(n + 63) / 64 {
    let mut s1 = vec![0 as u8; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let e2: i64 = (((b * 64 + t) / 4) * 7);
        let mut v3: i32 = ((x[((0) * (n) + ((b * 64 + t))) as usize]) as i32);
        s1[((t * 1 + 1) % 64) as usize] = (((!(v3 | ((z[((0) * (n) + ((((b * 64 + t) * 3 + 2) % (n)))) as usize]) as i32).wrapping_rem((((-3i64)) as i32))))) as u8);
      } else {
        s1[((t * 1 + 1) % 64) as usize] = 7;
      }
    }
    let mut s4 = vec![0 as u64; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v5: u8 = ((z[((0) * (n) + ((((b * 64 + t) * 1 + 0) % (n)))) as usize] | z[((0) * (n) + ((((b * 64 + t) * 3 + 0) % (n)))) as usize])).wrapping_neg();
        let mut w6: i32 = ((((((!z[((0) * (n) + ((((b * 64 + t) * 5 + 2) % (n)))) as usize])) as u16)).min((((127 as u32).wrapping_sub(((v5) as u32))) as u16))) as i32) & 7;
        while w6 > 0 && ((((1000i64)) as i8) > (((100i64)) as i8)) {
          w6 = w6 - 1;
          v5 = (if ((t * 3) < a) { (v5).min(((x[((0) * (n) + ((((b * 64 + t) * 5 + 1) % (n)))) as usize]) as u8)) } else { v5.wrapping_shl((((x[((0) * (n) + ((((b * 64 + t) * 3 + 1) % (n)))) as usize]) as u32) & 7)) });
        }
        for i7 in 0..3i64 {
          v5 = (((if ((((v5.wrapping_add((((0i64)) as u8))) as i32)).min((((!v5)) as i32)) <= (((((13 as u32).wrapping_mul(((s1[((0) * (64) + (t)) as usize]) as u32))) as i16)) as i32)) { x[((0) * (n) + ((b * 64 + t))) as usize].wrapping_add(((v5.wrapping_rem(((v5 ^ v5) | 1))) as u64)) } else { (((5i64)) as u64) })) as u8);
          if !(!((((b * 64 + t) + (b * 64 + t)) == i7))) {
            let mut v8: u32 = (((((((-1i64)).min(b)) as i32).wrapping_sub(((v5) as i32))) as u32) ^ (((v5) as u32)).max(((v5) as u32)));
            continue;
          }
        }
        s4[((t * 1 + 0) % 64) as usize] = ((((((3i64)).min(t)) as i32)) as u64);
      } else {
        s4[((t * 1 + 0) % 64) as usize] = 7;
      }
    }
    let mut s9 = vec![0 as u16; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        s9[((t * 3 + 1) % 64) as usize] = (((((((((x[((0) * (n) + ((((b * 64 + t) * 3 + 0) % (n)))) as usize]) as i64)).max(((s4[((0) * (64) + (t)) as usize]) as i64))) as i8)) as u32)) as u16);
      } else {
        s9[((t * 3 + 1) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let e10: i64 = (if (b != t) { (a / 2) } else { a });
        y[(b * 64 + t) as usize] = ((((((((if (a != t) { x[((0) * (n) + (((b * 3 + 1) % (n)))) as usize] } else { x[((0) * (n) + (((b * 1 + 0) % (n)))) as usize] })) as u16)) as i32) | (((t + a)) as i32))) as u16);
      }
    }
  }
  y
}

fn program_11(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (m * n) as usize];
  for p in 0..m {
    let mut v1: u16 = (((((13 as i64)) as i8).wrapping_shr(((((if (z[((0) * (n) + (((p * 5 + 0) % (n)))) as usize] < (((1000i64)) as i64)) { ((x[(((0) * (m) + (((p * 5 + 2) % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize]) as i64) } else { z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize] })) as u32) & 7))) as u16);
    v1 = ((((v1) as i64).bitxor((-128i64))) as u16);
    for j in 0..n {
      let mut v2: i16 = ((x[(p * n + j) as usize]) as i16);
      y[(p * n + j) as usize] = ((a) as u32);
    }
  }
  y
}

fn program_12(x: &[i16], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 31) / 32 {
    let tile = (0..256i64).map(|e| { let (r, c) = (br * 8 + e / 32, bc * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i16 } }).collect::<Vec<_>>();
    let tile = (0..256usize).map(|e| tile[e % 8 * 32 + e / 8]).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..32i64 {
      if br * 8 + i < m && bc * 32 + j < n {
        let mut v1: i8 = (((z[((0) * (n) + (((j * 3 + 2) % (n)))) as usize]).max((!x[(((0) * (m) + (((j * 1 + 1) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize]))) as i8);
        v1 = (((!z[((0) * (n) + (((i * 3 + 11) % (n)))) as usize])) as i8);
        let mut w2: i32 = ((v1) as i32) & 7;
        while w2 > 0 && ((i + j) <= (-1i64)) {
          w2 = w2 - 1;
          let mut m3 = [0 as i16; 2];
          for i4 in 0..2 { m3[i4] = (((((64 as u32)) as u64)) as i16); }
        }
        y[((br * 8 + i) * n + bc * 32 + j) as usize] = (((v1.wrapping_rem((((10i64)) as i8)).wrapping_shl(3)).wrapping_neg()) as u8);
      }
    } }
  } }
  y
}

fn program_13(x: &[i8], z: &[i8], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let mut v1: u32 = ((((!x[((0) * (n) + (p)) as usize])).wrapping_neg()) as u32);
    v1 = (((0i64)) as u32);
    v1 = (3 as u32);
    y[(p) as usize] = ((a) as u64);
  }
  y
}

fn program_14(x: &[i8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for p in 0..m {
    let mut v1: i16 = ((((if (z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize] > z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]) { ((x[(((0) * (m) + (((p * 5 + 2) % (m)))) * (n) + (((p * 5 + 2) % (n)))) as usize]) as i32) } else { ((((3i64) - a)) as i32) })).wrapping_neg()) as i16);
    for j in 0..n {
      let mut v2: i8 = x[(p * n + j) as usize];
      v2 = ((((v2) as i16).bitor(z[((0) * (n) + (j)) as usize])) as i8);
      let mut w3: i32 = (((((z[((0) * (n) + (j)) as usize]) as u32) & (1 as u32))) as i32) & 7;
      while w3 > 0 && ((a - p) <= (2i64)) {
        w3 = w3 - 1;
        let mut v4: u16 = ((v2.wrapping_shl((((v1) as u32) & 7))) as u16);
        let mut w5: i32 = ((v1) as i32) & 7;
        while w5 > 0 && (((((v4) as i32).wrapping_div((((-8i64)) as i32))) as i64) > (-2i64)) {
          w5 = w5 - 1;
          if (!(((if (a >= j) { a } else { (0i64) }) == j)) && ((if ((a).max(a) != j) { ((v4) as u32) } else { (5 as u32) }) != ((((x[(((0) * (m) + ((((v4) as u32) as i64 % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize]) as u16)) as u32))) {
            let mut m6 = [0 as u64; 4];
            for i7 in 0..4 { m6[i7] = ((v4.wrapping_sub(((v2) as u16))) as u64); }
          }
        }
      }
      y[(p * n + j) as usize] = ((((((if (((a).max(p) >= p) && (v1 != ((v2) as i16))) { (((((x[(((0) * (m) + ((((v2) as u32) as i64 % (m)))) * (n) + (j)) as usize]) as u8)).max(((v1) as u8))) as i64) } else { (((if (p < a) { j } else { (2i64) })) as i64) })) as u64)).max(((v1) as u64))) as i64);
    }
  }
  y
}

fn program_15(x: &[i32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: i16 = (((if ((((z[((0) * (n) + (((i * 3 + 2) % (n)))) as usize]) as u64)).max(((z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u64)) > (((((x[(((0) * (m) + (((i * 3 + 11) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize]) as u16)).max(((z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize]) as u16))) as u64)) { (((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize] & x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize])) as u64) } else { (if ((a).max(i) <= i) { ((z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u64) } else { (255 as u64) }) })) as i16);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          for i2 in 0..4i64 {
            let mut v3: u16 = (((((if ((j % 7) != i) { v1 } else { v1 })) as i32).wrapping_add(here[(((0) * (32) + (((j * 5 + 2) % (32)))) * (32) + (((i * 5 + 11) % (32)))) as usize].wrapping_add((((0i64)) as i32)))) as u16);
          }
          v1 = ((((v1) as u64).wrapping_sub((13 as u64))) as i16);
          let e4: i64 = ((j * 2) - (a % 2));
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = ((((((v1) as i32).wrapping_sub(x[(((0) * (m) + (((i * 1 + 1) % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize])) as i64)).max((((!z[((0) * (n) + ((((x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize])) as i64)) & (((-3000000000i64)) as i64));
      }
    } }
  }
  y
}

fn program_16(x: &[u8], z: &[i32], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for p in 0..m {
    let mut v1: u16 = ((((((((64i64)) as u8).wrapping_mul(x[(((0) * (m) + (p)) * (n) + (((p * 5 + 0) % (n)))) as usize])) as i32) ^ (((65535i64)) as i32))) as u16);
    for j in 0..n {
      let mut v2: i8 = ((x[(p * n + j) as usize]) as i8);
      y[(p * n + j) as usize] = (((if ((((3000000000i64)) as i64).wrapping_sub(((z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize]) as i64)).wrapping_mul((((if ((2i64) != j) { v2 } else { (((0i64)) as i8) })) as i64)) != ((((((v2 | (((0i64)) as i8))) as i16)).max(((v1) as i16))) as i64)) { (((-128i64)) as i32) } else { (((!v1).wrapping_rem((((7i64)) as u16))) as i32) })) as i64);
    }
  }
  y
}

fn program_17(x: &[i8], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let mut m1 = [0 as i8; 8];
    for i2 in 0..8 { m1[i2] = (((0 as i64).wrapping_sub(((x[((0) * (n) + (p)) as usize]) as i64))) as i8); }
    { let at = (((p * 5 + 1) % (8))) as usize; m1[at] = x[((0) * (n) + (((p * 5 + 1) % (n)))) as usize].wrapping_sub(x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]).wrapping_sub(x[((0) * (n) + (p)) as usize].wrapping_rem(((x[((0) * (n) + (((p * 3 + 1) % (n)))) as usize] ^ m1[((0) * (8) + (((p * 3 + 11) % (8)))) as usize]) | 1))); }
    let e3: i64 = ((p + p)).min((a).max(p));
    y[(p) as usize] = (((p * 3)) as u64);
  }
  y
}

fn program_18(x: &[i64], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i64 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: i64 = ((((tile[(((0) * (8) + (i)) * (16) + (((j * 3 + 0) % (16)))) as usize]) as u16)) as i64);
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = ((v1.wrapping_sub(v1).wrapping_sub(((i) as i64)).wrapping_shr(32)) as i16);
      }
    } }
  } }
  y
}

fn program_19(x: &[u8], z: &[u16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u8 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        if ((a % 3) == a) {
          let e1: i64 = ((if (i > i) { j } else { a })).max((i * 4));
          let mut v2: u64 = (((1000 as u32)) as u64);
        }
        let e3: i64 = (((1i64)).max(a) + ((9i64) + i));
        if (((((z[((0) * (n) + (((j * 1 + 1) % (n)))) as usize]) as u32)).max(((z[((0) * (n) + (((j * 5 + 0) % (n)))) as usize]) as u32)) ^ (((1i64)) as u32)) >= (((((a * 7)) as u16).wrapping_add((((!x[(((0) * (m) + (((j * 3 + 1) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize])) as u16))) as u32)) {
          let mut v4: i32 = (!(((z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize]) as i32)).max(((x[(((0) * (m) + (((j * 3 + 1) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize]) as i32)));
          let e5: i64 = (j + (i / 7));
        } else {
          let e6: i64 = ((a - i)).max((j * 7));
          if (((((((((x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + (((i * 5 + 11) % (n)))) as usize]) as i32) & (((e6).min(e6)) as i32))) as i8)).min((((((x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize]) as u32)).max(((z[((0) * (n) + (((i * 1 + 11) % (n)))) as usize]) as u32))) as i8))) as i64) >= (-2i64)) {
            let e7: i64 = ((j % 4)).min((-1i64));
            let mut v8: u16 = (((if ((z[((0) * (n) + (((i * 3 + 11) % (n)))) as usize] != (((5i64)) as u16)) || (a > (1i64))) { (((1000i64)) as i32) } else { ((tile[(((0) * (8) + (((i * 1 + 1) % (8)))) * (16) + (j)) as usize].wrapping_mul(x[(((0) * (m) + (((j * 1 + 1) % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize])) as i32) })) as u16);
          } else {
            let mut v9: i8 = ((((e3) as i32).wrapping_mul(((x[(((0) * (m) + (((j * 3 + 2) % (m)))) * (n) + (((j * 1 + 0) % (n)))) as usize]) as i32).wrapping_sub((((a / 4)) as i32)))) as i8);
          }
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((!tile[(((0) * (8) + (((i * 3 + 0) % (8)))) * (16) + (((j * 1 + 1) % (16)))) as usize]).wrapping_div((((255i64)) as u8))) as i64);
      }
    } }
  } }
  y
}

fn program_20(x: &[u8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for b in 0..(n + 31) / 32 {
    let mut s1 = vec![0 as u32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let e2: i64 = ((b).max((b * 32 + t)) + ((b * 32 + t) * 2));
        let mut v3: u64 = ((if (((b * 32 + t) + e2) > e2) { ((z[((0) * (n) + ((((b * 32 + t) * 1 + 11) % (n)))) as usize]) as u64) } else { (1 as u64) }) | ((x[((0) * (n) + ((b * 32 + t))) as usize].wrapping_shr(7)) as u64));
        if (v3.wrapping_add(((x[((0) * (n) + ((b * 32 + t))) as usize].wrapping_mul(x[((0) * (n) + ((b * 32 + t))) as usize])) as u64)) > ((v3).wrapping_neg() & (((-2i64)) as u64))) {
          let mut m4 = [0 as i8; 4];
          for i5 in 0..4 { m4[i5] = (((((a + (b * 32 + t))) as i32).wrapping_sub(((z[((0) * (n) + ((((b * 32 + t) * 5 + 11) % (n)))) as usize]) as i32))) as i8); }
        } else {
          for i6 in 0..3i64 {
            v3 = (((((3i64)) as u32).wrapping_mul((((((-3000000000i64)) as i16)) as u32).wrapping_add((((v3) as u32)).max(((z[((0) * (n) + ((b * 32 + t))) as usize]) as u32))))) as u64);
            v3 = (((2i64)) as u64);
            v3 = v3.wrapping_mul(((x[((0) * (n) + ((b * 32 + t))) as usize]) as u64));
          }
        }
        s1[((t * 1 + 0) % 32) as usize] = (((((((v3) as u32)).max(((z[((0) * (n) + ((((b * 32 + t) * 1 + 11) % (n)))) as usize]) as u32)).wrapping_shr((((z[((0) * (n) + ((b * 32 + t))) as usize].wrapping_rem((((255i64)) as i16))) as u32) & 31))) as u64).wrapping_add((!v3.wrapping_sub((255 as u64))))) as u32);
      } else {
        s1[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    let mut s7 = vec![0 as i32; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        s7[((t * 5 + 0) % 32) as usize] = (((128 as i64).wrapping_add((((65535 as u32).wrapping_add((if (z[((0) * (n) + ((b * 32 + t))) as usize] > ((x[((0) * (n) + ((((b * 32 + t) * 3 + 0) % (n)))) as usize]) as i16)) { ((x[((0) * (n) + ((b * 32 + t))) as usize]) as u32) } else { s1[((0) * (32) + (((t * 3 + 2) % (32)))) as usize] }))) as i64))) as i32);
      } else {
        s7[((t * 5 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v8: i8 = (((((((x[((0) * (n) + (((t * 3 + 2) % (n)))) as usize]) as i32) & ((a) as i32))) as u64).wrapping_mul((3 as u64))) as i8);
        let e9: i64 = ((t % 2)).min(t);
        let e10: i64 = (((0i64) + b) % 3);
        y[(b * 32 + t) as usize] = (((128i64)) as u64);
      }
    }
  }
  y
}

fn program_21(x: &[i16], z: &[i32], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (n) as usize];
  for b in 0..(n + 127) / 128 {
    let mut s1 = vec![0 as i32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        if ((!((x[((0) * (n) + ((((b * 128 + t) * 3 + 2) % (n)))) as usize]) as u32).wrapping_add((2 as u32))) < (7 as u32)) {
          let mut v2: i32 = ((((b * 128 + t) % 7)) as i32).wrapping_sub(z[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize]).wrapping_sub((((t % 2)) as i32));
        }
        let mut m3 = [0 as u32; 2];
        for i4 in 0..2 { m3[i4] = ((z[((0) * (n) + ((((b * 128 + t) * 1 + 1) % (n)))) as usize].wrapping_rem(((z[((0) * (n) + ((((b * 128 + t) * 3 + 0) % (n)))) as usize] | z[((0) * (n) + ((b * 128 + t))) as usize]) | 1))) as u32); }
        let mut v5: u64 = ((z[((0) * (n) + ((((b * 128 + t) * 3 + 1) % (n)))) as usize]) as u64);
        s1[((t * 31 + 1) % 128) as usize] = ((((m3[((0) * (2) + ((((v5) as u32) as i64 % (2)))) as usize]) as u64).wrapping_add(v5).wrapping_add((3000000000 as u64).wrapping_sub(((m3[((0) * (2) + ((((v5) as u32) as i64 % (2)))) as usize]) as u64))).wrapping_add((((13i64)) as u64))) as i32);
      } else {
        s1[((t * 31 + 1) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let e6: i64 = t;
        for i7 in 0..2i64 {
          for i8 in 0..2i64 {
            let mut m9 = [0 as i32; 8];
            for i10 in 0..8 { m9[i10] = z[((0) * (n) + (((t * 1 + 1) % (n)))) as usize].wrapping_sub(s1[((0) * (128) + (((t * 3 + 11) % (128)))) as usize]); }
          }
        }
        let mut v11: u32 = (((((b - e6)) as i32).wrapping_mul((((a).min(a)) as i32).wrapping_sub(z[((0) * (n) + (((t * 3 + 1) % (n)))) as usize]))) as u32);
        y[(b * 128 + t) as usize] = ((x[((0) * (n) + (((b * 1 + 0) % (n)))) as usize]) as u8);
      }
    }
  }
  y
}

fn program_22(x: &[i8], z: &[i32], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (n) as usize];
  for b in 0..(n + 127) / 128 {
    let mut s1 = vec![0 as i8; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v2: u32 = ((z[((0) * (n) + ((b * 128 + t))) as usize]) as u32);
        v2 = (((((v2.wrapping_div((((2i64)) as u32)).wrapping_rem(((((x[((0) * (n) + ((v2 as i64 % (n)))) as usize] ^ x[((0) * (n) + ((v2 as i64 % (n)))) as usize]) | 1)) as u32))) as i64) | (((-3000000000i64)) as i64))) as u32);
        s1[((t * 1 + 1) % 128) as usize] = (((((x[((0) * (n) + ((((x[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as u32)).max((v2).max(((x[((0) * (n) + ((v2 as i64 % (n)))) as usize]) as u32))).wrapping_add((v2).max(v2).wrapping_add((7 as u32)))) as i8);
      } else {
        s1[((t * 1 + 1) % 128) as usize] = 7;
      }
    }
    let mut s3 = vec![0 as u64; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v4: i64 = ((((x[((0) * (n) + ((b * 128 + t))) as usize].wrapping_div((((7i64)) as i8))) as i32)) as i64);
        s3[((t * 1 + 7) % 128) as usize] = (((255i64)) as u64);
      } else {
        s3[((t * 1 + 7) % 128) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as u32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        s5[((t * 1 + 1) % 128) as usize] = (((((255 as i64)) as i16)) as u32);
      } else {
        s5[((t * 1 + 1) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut m6 = [0 as u64; 4];
        for i7 in 0..4 { m6[i7] = (((((a).max(a)) as u8)) as u64); }
        y[(b * 128 + t) as usize] = (((1000 as i64)) as i8);
      }
    }
  }
  y
}

fn program_23(x: &[i16], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m * n) as usize];
  for p in 0..m {
    let mut v1: i32 = ((z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize].wrapping_div((((255i64)) as u8)).wrapping_add(z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize])) as i32);
    for j in 0..n {
      let mut v2: u8 = ((x[(p * n + j) as usize]) as u8);
      v1 = (((7 as u64)) as i32);
      if ((((if (((v2) as u64) == (13 as u64)) { (((p * 4)) as i32) } else { ((x[(((0) * (m) + ((((x[(((0) * (m) + (p)) * (n) + (j)) as usize]) as u32) as i64 % (m)))) * (n) + (j)) as usize].wrapping_add(x[(((0) * (m) + (((p * 3 + 11) % (m)))) * (n) + ((((v2) as u32) as i64 % (n)))) as usize])) as i32) })) as i64) > (64 as i64)) {
        let e3: i64 = ((j).min((0i64))).max(a);
        v2 = ((((v2) as i64).wrapping_add((if ((2i64) > e3) { ((v1) as i64) } else { (7 as i64) }))) as u8);
      } else {
        let mut m4 = [0 as u16; 4];
        for i5 in 0..4 { m4[i5] = (((!z[((0) * (n) + (((j * 5 + 2) % (n)))) as usize])) as u16); }
      }
      for i6 in 0..2i64 {
        v1 = ((((v1) as u64).wrapping_sub((0 as u64))) as i32);
        let mut w7: i32 = (((((((v1) as u32).wrapping_sub((1000 as u32))) as i16)).max(x[(((0) * (m) + (p)) * (n) + (((j * 1 + 2) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + (p)) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]))) as i32) & 7;
        while w7 > 0 && ((v1 >= ((x[(((0) * (m) + (p)) * (n) + (((j * 5 + 0) % (n)))) as usize]) as i32)) && (((v1) as u32) <= (5 as u32))) {
          w7 = w7 - 1;
          let mut m8 = [0 as u16; 8];
          for i9 in 0..8 { m8[i9] = ((v2.wrapping_mul(v2)) as u16); }
        }
        v1 = (((j / 3)) as i32);
      }
      y[(p * n + j) as usize] = (((!(((v2) as i8)).min(((v2) as i8)).wrapping_shl(((((((v2) as i16) | x[(((0) * (m) + ((((v2) as u32) as i64 % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize])) as u32) & 7)))) as u64);
    }
  }
  y
}

fn program_24(x: &[u32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: u32 = (((z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u32).wrapping_add(x[(((0) * (m) + (((i * 1 + 1) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize]) & ((((z[((0) * (n) + (((i * 5 + 2) % (n)))) as usize]) as i32).wrapping_mul(((i) as i32))) as u32));
      for k in 0..((n + 15) / 16) {
        let here = (0..256i64).map(|e| { let (r, c) = (r * 16 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          if ((x[(((0) * (m) + (((k * 3 + 1) % (m)))) * (n) + (((j * 1 + 2) % (n)))) as usize].wrapping_add(v1) > (((-1i64)) as u32)) || ((((((here[(((0) * (16) + ((here[(((0) * (16) + ((v1 as i64 % (16)))) * (16) + (i)) as usize] as i64 % (16)))) * (16) + (((j * 3 + 1) % (16)))) as usize]) as u8)).min(((v1) as u8))) as u32) <= (v1).min(here[(((0) * (16) + (j)) * (16) + (i)) as usize]))) {
            let e2: i64 = ((a).max(a) - k);
          }
          let mut m3 = [0 as i32; 4];
          for i4 in 0..4 { m3[i4] = ((v1.wrapping_div(((v1 ^ x[(((0) * (m) + (((j * 3 + 2) % (m)))) * (n) + (((j * 5 + 0) % (n)))) as usize]) | 1))) as i32); }
          { let at = (((i * 3 + 0) % (4))) as usize; m3[at] = m3[at].wrapping_add((((-4i64)) as i32)); }
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = (((-1i64)) as u64);
      }
    } }
  }
  y
}

fn program_25(x: &[i8], z: &[u16], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m * n) as usize];
  for br in 0..(m + 15) / 16 { for bc in 0..(n + 31) / 32 {
    let tile = (0..512i64).map(|e| { let (r, c) = (br * 16 + e / 32, bc * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
    for i in 0..16i64 { for j in 0..32i64 {
      if br * 16 + i < m && bc * 32 + j < n {
        let mut v1: i64 = (((((x[(((0) * (m) + (((i * 3 + 11) % (m)))) * (n) + (((j * 5 + 0) % (n)))) as usize]) as u16) & z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize]).wrapping_mul((((0i64)) as u16).wrapping_sub(z[((0) * (n) + (((j * 5 + 0) % (n)))) as usize]))) as i64);
        let mut m2 = [0 as u32; 2];
        for i3 in 0..2 { m2[i3] = ((x[(((0) * (m) + ((((tile[(((0) * (16) + (((i * 5 + 0) % (16)))) * (32) + ((((v1) as u32) as i64 % (32)))) as usize]) as u32) as i64 % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize]) as u32); }
        y[((br * 16 + i) * n + bc * 32 + j) as usize] = ((((m2[((0) * (2) + (((j * 5 + 2) % (2)))) as usize]) as i64).wrapping_div(((v1 | (((-3000000000i64)) as i64)) | 1))) as u64);
      }
    } }
  } }
  y
}

fn program_26(x: &[u64], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for b in 0..(n + 127) / 128 {
    let mut s1 = vec![0 as u64; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v2: u64 = ((((((((a).min((-1i64))) as i32).wrapping_add(((z[((0) * (n) + ((b * 128 + t))) as usize]) as i32))) as u16)).max((((((-128i64)) as u64).wrapping_mul(x[((0) * (n) + ((((b * 128 + t) * 3 + 2) % (n)))) as usize])) as u16))) as u64);
        v2 = v2.wrapping_sub((((1i64)) as u64));
        let mut m3 = [0 as i64; 2];
        for i4 in 0..2 { m3[i4] = (((((v2) as i8)).max(((v2) as i8))) as i64); }
        s1[((t * 3 + 0) % 128) as usize] = (x[((0) * (n) + ((b * 128 + t))) as usize]).wrapping_neg();
      } else {
        s1[((t * 3 + 0) % 128) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as u32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v6: u32 = ((x[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize].wrapping_sub(s1[((0) * (128) + (((t * 3 + 11) % (128)))) as usize]).wrapping_mul((((3i64)) as u64))) as u32);
        v6 = v6.bitand(((((((z[((0) * (n) + ((((b * 128 + t) * 5 + 0) % (n)))) as usize]) as u64).wrapping_sub(s1[((0) * (128) + (t)) as usize])) as i16)) as u32));
        let mut w7: i32 = (((v6).wrapping_neg().wrapping_mul(((((b * 128 + t) - (-4i64))) as u32))) as i32) & 7;
        while w7 > 0 && (((v6.wrapping_mul(v6)) as i64) != (3 as i64)) {
          w7 = w7 - 1;
          for i8 in 0..2i64 {
            v6 = v6.bitand(((((x[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize]) as i16)) as u32));
          }
          for i9 in 0..3i64 {
            let mut v10: i64 = ((s1[((0) * (128) + (t)) as usize]) as i64);
          }
        }
        s5[((t * 1 + 0) % 128) as usize] = (((65535i64)) as u32);
      } else {
        s5[((t * 1 + 0) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut w11: i32 = ((x[((0) * (n) + (((t * 3 + 0) % (n)))) as usize]) as i32) & 7;
        while w11 > 0 && ((s1[((0) * (128) + (((t * 1 + 2) % (128)))) as usize]).wrapping_neg() <= x[((0) * (n) + (((t * 1 + 1) % (n)))) as usize].wrapping_rem(((((s5[((0) * (128) + (((t * 5 + 0) % (128)))) as usize] & (0 as u32)) | 1)) as u64))) {
          w11 = w11 - 1;
          if !(((x[((0) * (n) + (((t * 5 + 11) % (n)))) as usize]).wrapping_neg() > x[((0) * (n) + (((b * 3 + 0) % (n)))) as usize].wrapping_sub(x[((0) * (n) + (((t * 5 + 11) % (n)))) as usize]))) {
            let mut m12 = [0 as i64; 8];
            for i13 in 0..8 { m12[i13] = ((s5[((0) * (128) + (t)) as usize]) as i64); }
            let mut v14: u32 = ((x[((0) * (n) + (((t * 3 + 0) % (n)))) as usize].wrapping_div(((((m12[((0) * (8) + (((t * 5 + 0) % (8)))) as usize] & m12[((0) * (8) + (((t * 5 + 1) % (8)))) as usize]) | 1)) as u64)).wrapping_div(((((s5[((0) * (128) + (((t * 3 + 11) % (128)))) as usize] & (1 as u32)) | 1)) as u64))) as u32);
          }
        }
        y[(b * 128 + t) as usize] = ((((z[((0) * (n) + (((b * 3 + 1) % (n)))) as usize]) as u32).wrapping_add(s5[((0) * (128) + (t)) as usize])) as u64).wrapping_add(((z[((0) * (n) + (((b * 5 + 2) % (n)))) as usize]) as u64).wrapping_sub(x[((0) * (n) + (((t * 3 + 0) % (n)))) as usize])).wrapping_add((3000000000 as u64));
      }
    }
  }
  y
}

fn program_27(x: &[i16], z: &[u16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (n) as usize];
  for p in 0..n {
    let mut m1 = [0 as u32; 4];
    for i2 in 0..4 { m1[i2] = ((z[((0) * (n) + (((p * 1 + 0) % (n)))) as usize].wrapping_mul(((x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]) as u16))) as u32); }
    if ((((a) as u32).wrapping_add(m1[((0) * (4) + (((p * 5 + 0) % (4)))) as usize]) != ((x[((0) * (n) + (((p * 1 + 2) % (n)))) as usize].wrapping_rem((((10i64)) as i16))) as u32)) || (((m1[((0) * (4) + (((p * 1 + 0) % (4)))) as usize]) as i64).wrapping_sub((127 as i64)) >= (((13i64)) as i64))) {
      let mut v3: u64 = ((x[((0) * (n) + (((p * 3 + 0) % (n)))) as usize].wrapping_add((((3i64)) as i16))) as u64).wrapping_mul((((z[((0) * (n) + (p)) as usize]) as u64)).min(((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as u64)));
    }
    y[(p) as usize] = (((if (((((((x[((0) * (n) + (p)) as usize]) as u16)).min(((x[((0) * (n) + (((p * 5 + 2) % (n)))) as usize]) as u16))) as i64) > (-128i64)) || (((p + p) <= p) || (((x[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as u64) >= (5 as u64)))) { (if (((x[((0) * (n) + (p)) as usize]) as u64) < (7 as u64)) { x[((0) * (n) + (((p * 3 + 0) % (n)))) as usize].wrapping_shl(10) } else { (((128i64)) as i16) }) } else { (((13i64)) as i16) })) as i64);
  }
  y
}

fn program_28(x: &[u8], z: &[u8], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u8 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let e1: i64 = (if ((j / 4) == j) { (5i64) } else { (j + j) });
        let mut w2: i32 = ((z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize].wrapping_shl(3).wrapping_mul((((1i64)) as u8))) as i32) & 7;
        while w2 > 0 && (((z[((0) * (n) + (((i * 3 + 1) % (n)))) as usize]) as i32) <= (((i * 2)) as i32)) {
          w2 = w2 - 1;
          let mut v3: i8 = ((x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize].wrapping_shr(3).wrapping_shl((((x[(((0) * (m) + (((j * 1 + 11) % (m)))) * (n) + (((i * 5 + 2) % (n)))) as usize]) as u32) & 7))) as i8);
          for i4 in 0..2i64 {
            v3 = ((((v3) as u64).bitor((128 as u64))) as i8);
            v3 = ((((v3) as i32).bitand(((i4) as i32).wrapping_sub(((z[((0) * (n) + (((i4 * 3 + 1) % (n)))) as usize]) as i32)).wrapping_add(((v3) as i32).wrapping_rem(((((v3) as i32) & (((i4 + e1)) as i32)) | 1))))) as i8);
          }
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((e1 / 7)) as i64);
      }
    } }
  } }
  y
}

fn program_29(x: &[i8], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: u8 = (((((64i64)) as u64).wrapping_add(((x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize]) as u64).wrapping_add(z[((0) * (n) + (((i * 5 + 0) % (n)))) as usize]))) as u8);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          v1 = v1.bitand((if (((x[(((0) * (m) + (((k * 5 + 11) % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize]) as i32) >= ((j) as i32)) { (v1).min(((z[((0) * (n) + (((k * 5 + 1) % (n)))) as usize]) as u8)) } else { v1.wrapping_rem(((((here[(((0) * (32) + ((((z[((0) * (n) + (((k * 5 + 11) % (n)))) as usize]) as u32) as i64 % (32)))) * (32) + (i)) as usize]) as u8) ^ v1) | 1)) }));
          v1 = ((((v1) as i32).bitor((((65535i64)) as i32))) as u8);
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = ((((((v1.wrapping_shl(1) | (((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize] | x[(((0) * (m) + (((i * 3 + 11) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize])) as u8))) as u16)).max((((((z[((0) * (n) + (((i * 1 + 2) % (n)))) as usize].wrapping_shr(43)) as u8)).max(((z[((0) * (n) + ((((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize]) as u32) as i64 % (n)))) as usize].wrapping_shr((((x[(((0) * (m) + ((((z[((0) * (n) + (((i * 3 + 0) % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize]) as u32) & 63))) as u8))) as u16))) as i32);
      }
    } }
  }
  y
}

fn program_30(x: &[u8], z: &[i32], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u8 } }).collect::<Vec<_>>();
    
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: u32 = (((z[((0) * (n) + (((i * 1 + 1) % (n)))) as usize] ^ ((x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize]) as i32))) as u32).wrapping_sub((if (((tile[(((0) * (8) + (((i * 1 + 1) % (8)))) * (16) + (((j * 5 + 11) % (16)))) as usize]) as i32) < z[((0) * (n) + (((j * 3 + 0) % (n)))) as usize]) { ((tile[(((0) * (8) + (i)) * (16) + (((j * 1 + 2) % (16)))) as usize]) as u32) } else { (2 as u32) }));
        v1 = ((((v1) as u64).wrapping_mul((((if ((i % 3) < a) { z[((0) * (n) + ((v1 as i64 % (n)))) as usize] } else { (((j + j)) as i32) })) as u64).wrapping_sub((5 as u64)))) as u32);
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((((1i64)) as u32).wrapping_mul(v1).wrapping_shr(((((((tile[(((0) * (8) + (((i * 3 + 0) % (8)))) * (16) + (((j * 3 + 0) % (16)))) as usize]) as u64)).min(((v1) as u64))) as u32) & 31)).wrapping_sub((((((v1.wrapping_add(((x[(((0) * (m) + ((v1 as i64 % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize]) as u32))) as u8)).min((((!z[((0) * (n) + ((((x[(((0) * (m) + (((j * 3 + 0) % (m)))) * (n) + (((j * 5 + 1) % (n)))) as usize]) as u32) as i64 % (n)))) as usize])) as u8))) as u32))) as i16);
      }
    } }
  } }
  y
}

fn program_31(x: &[i32], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (n) as usize];
  for p in 0..n {
    for i1 in 0..2i64 {
      let mut v2: u8 = ((((((((3000000000 as i64)) as i32)) as u16)).min((((!z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize])) as u16))) as u8);
    }
    let mut v3: u64 = (((!(x[((0) * (n) + (p)) as usize] ^ ((z[((0) * (n) + (p)) as usize]) as i32)))) as u64);
    let mut w4: i32 = (((((((x[((0) * (n) + (p)) as usize]) as u64).wrapping_mul(v3)) as i16)).min((((z[((0) * (n) + ((((z[((0) * (n) + (((p * 5 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize] ^ z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize])) as i16))) as i32) & 7;
    while w4 > 0 && (v3.wrapping_sub(((z[((0) * (n) + ((((x[((0) * (n) + (p)) as usize]) as u32) as i64 % (n)))) as usize]) as u64)) >= v3.wrapping_rem(((v3 | (((13 as i64)) as u64)) | 1))) {
      w4 = w4 - 1;
      let mut w5: i32 = ((v3.wrapping_shl(13).wrapping_shr(57)) as i32) & 7;
      while w5 > 0 && ((if (a <= a) { a } else { p }) > (-1i64)) {
        w5 = w5 - 1;
        if (v3.wrapping_mul(((p) as u64)).wrapping_sub((((7i64)) as u64)) <= ((a) as u64)) {
          let mut v6: u32 = (((!v3.wrapping_add(v3))) as u32);
        }
      }
    }
    if (p != (-4i64)) {
      let mut w7: i32 = (((((v3.wrapping_mul(((x[((0) * (n) + ((((x[((0) * (n) + ((((v3) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as u64))) as u32)).min(((v3.wrapping_mul(((z[((0) * (n) + (p)) as usize]) as u64))) as u32))) as i32) & 7;
      while w7 > 0 && (v3 > ((a) as u64)) {
        w7 = w7 - 1;
        let mut m8 = [0 as u8; 8];
        for i9 in 0..8 { m8[i9] = ((((x[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as u64).wrapping_rem(((((z[((0) * (n) + ((((v3) as u32) as i64 % (n)))) as usize]) as u64) | v3) | 1))) as u8); }
        let mut v10: i32 = ((v3.wrapping_add((((-1i64)) as u64))) as i32);
      }
    }
    let mut w11: i32 = ((v3.wrapping_div(((v3 | (((1i64)) as u64)) | 1)).wrapping_add(((x[((0) * (n) + (p)) as usize]) as u64))) as i32) & 7;
    while w11 > 0 && (v3.wrapping_mul(v3) <= v3.wrapping_shl(7)) {
      w11 = w11 - 1;
      let mut w12: i32 = ((v3) as i32) & 7;
      while w12 > 0 && ((((((7 as u32)) as u16)) as u64) >= ((x[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as u64).wrapping_sub(v3)) {
        w12 = w12 - 1;
        if ((a * 7) >= p) {
          v3 = v3.wrapping_mul(((((((x[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]) as u32) | (255 as u32))) as u64)).min(v3.wrapping_sub(v3)));
          v3 = v3.wrapping_rem((((10i64)) as u64)).wrapping_rem(((v3 ^ (((-128i64)) as u64)) | 1)).wrapping_shl(44);
        }
        if ((((((if ((p).min(a) > p) { x[((0) * (n) + (((p * 3 + 11) % (n)))) as usize] } else { x[((0) * (n) + ((((v3) as u32) as i64 % (n)))) as usize] })) as i64).wrapping_sub((-3000000000i64))) as u64) < (v3).min((v3 & ((z[((0) * (n) + (p)) as usize]) as u64)))) {
          if ((((z[((0) * (n) + (p)) as usize]) as u64).wrapping_rem(((((x[((0) * (n) + ((((v3) as u32) as i64 % (n)))) as usize]) as u64) | v3) | 1)) >= (((0 as u32)) as u64)) && !((((5i64)).max(a) <= a))) {
            let mut m13 = [0 as u64; 8];
            for i14 in 0..8 { m13[i14] = v3.wrapping_add(((z[((0) * (n) + (p)) as usize]) as u64)); }
            v3 = v3;
          } else {
            v3 = v3.bitxor((((100 as i64)) as u64));
            v3 = (((1000 as i64)) as u64);
          }
          for i15 in 0..8i64 {
            v3 = (((!(((v3.wrapping_sub(v3)) as i16)).max(((z[((0) * (n) + ((((z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]) as u32) as i64 % (n)))) as usize].wrapping_rem(((z[((0) * (n) + (p)) as usize] & z[((0) * (n) + ((((v3) as u32) as i64 % (n)))) as usize]) | 1))) as i16)))) as u64);
          }
        } else {
          v3 = v3.wrapping_mul(((p) as u64));
        }
      }
    }
    let mut v16: i32 = ((v3.wrapping_shl(((((((v3) as i32)).min(((v3) as i32))) as u32) & 63))) as i32);
    y[(p) as usize] = (5 as i64);
  }
  y
}

fn program_32(x: &[i32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i32 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        if (x[(((0) * (m) + (((i * 1 + 2) % (m)))) * (n) + (((j * 1 + 0) % (n)))) as usize].wrapping_shr(28) > (((j + i)) as i32)) {
          if ((((x[(((0) * (m) + (((j * 5 + 1) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]).min(tile[(((0) * (8) + (i)) * (16) + (((j * 5 + 1) % (16)))) as usize].wrapping_sub(x[(((0) * (m) + (((j * 3 + 11) % (m)))) * (n) + (((j * 5 + 0) % (n)))) as usize]))) as i64) < (((-3000000000i64)) as i64)) {
            let mut v1: u32 = (((((3000000000i64)) as i64).wrapping_add((((x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + (((j * 5 + 1) % (n)))) as usize] ^ (((0i64)) as i32))) as i64))) as u32);
            v1 = v1.wrapping_shl(((((if (((i - j) < j) || (v1 >= ((tile[(((0) * (8) + (i)) * (16) + (j)) as usize]) as u32))) { (((((v1) as u8)).min(((tile[(((0) * (8) + ((((x[(((0) * (m) + (((j * 3 + 1) % (m)))) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) as i64 % (8)))) * (16) + ((((x[(((0) * (m) + (((i * 5 + 2) % (m)))) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) as i64 % (16)))) as usize]) as u8))) as i64) } else { ((v1) as i64).wrapping_add((0 as i64)) })) as u32) & 31));
          }
        } else {
          let e2: i64 = ((i % 4) + (i).max(a));
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((z[((0) * (n) + (((i * 3 + 0) % (n)))) as usize]) as i32) ^ ((((2i64) + j)) as i32));
      }
    } }
  } }
  y
}

fn program_33(x: &[i32], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (n) as usize];
  for p in 0..n {
    if (((((x[((0) * (n) + (p)) as usize]) as i64) | (-3000000000i64)) | ((p) as i64)) != (((7i64)) as i64)) {
      for i1 in 0..16i64 {
        let mut v2: u32 = ((((z[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]).min(z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize])).min(z[((0) * (n) + (((p * 3 + 1) % (n)))) as usize].wrapping_mul(((x[((0) * (n) + (p)) as usize]) as u64)))) as u32);
        let mut w3: i32 = ((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize].wrapping_shr((v2 & 63))) as i32) & 7;
        while w3 > 0 && (((a * 4) <= i1) && ((a - a) != p)) {
          w3 = w3 - 1;
          let e4: i64 = (((2i64) + a) * 3);
        }
      }
      let mut v5: u32 = ((x[((0) * (n) + (((p * 5 + 1) % (n)))) as usize]) as u32);
    }
    let mut v6: u32 = ((z[((0) * (n) + (p)) as usize].wrapping_sub(z[((0) * (n) + (p)) as usize]).wrapping_mul((((if (a > p) { a } else { a })) as u64))) as u32);
    for i7 in 0..3i64 {
      if ((((((x[((0) * (n) + (((p * 1 + 0) % (n)))) as usize]) as u32).wrapping_rem(((v6 ^ v6) | 1))).max((v6).wrapping_neg())) as u64) > (((!v6)) as u64).wrapping_rem(((((v6) as u64) | z[((0) * (n) + ((((x[((0) * (n) + (p)) as usize]) as u32) as i64 % (n)))) as usize]) | 1))) {
        for i8 in 0..2i64 {
          for i9 in 0..3i64 {
            v6 = v6.bitxor((((a + p)) as u32));
            v6 = v6;
            let e10: i64 = i7;
          }
        }
        let mut w11: i32 = (((if ((1i64) < (1i64)) { (127 as i64) } else { ((v6) as i64) }).wrapping_add((((255i64)) as i64))) as i32) & 7;
        while w11 > 0 && ((p <= i7) && (i7 < i7)) {
          w11 = w11 - 1;
          v6 = ((((v6) as i64).bitor((-3000000000i64))) as u32);
          for i12 in 0..2i64 {
            v6 = (((100i64)) as u32);
            v6 = v6.wrapping_mul((((i12).max(a)) as u32));
            let mut v13: u64 = ((z[((0) * (n) + ((v6 as i64 % (n)))) as usize]).wrapping_neg()).min(((((x[((0) * (n) + (p)) as usize]) as u32).wrapping_sub(v6)) as u64));
          }
        }
      } else {
        v6 = v6.wrapping_add((!v6).wrapping_rem((((255i64)) as u32)));
        let mut m14 = [0 as i8; 8];
        for i15 in 0..8 { m14[i15] = ((v6.wrapping_shl((v6 & 31))) as i8); }
      }
      v6 = (((((v6) as u64) ^ z[((0) * (n) + ((((z[((0) * (n) + ((((x[((0) * (n) + (p)) as usize]) as u32) as i64 % (n)))) as usize].wrapping_rem(((z[((0) * (n) + (((p * 3 + 0) % (n)))) as usize] & (((i7 * 3)) as u64)) | 1))) as u32) as i64 % (n)))) as usize])) as u32);
      let e16: i64 = ((p).max((1i64)) - (p - i7));
    }
    let e17: i64 = (if (a != a) { (p + p) } else { p });
    y[(p) as usize] = (((((((((x[((0) * (n) + (p)) as usize]) as u32) ^ v6)).wrapping_neg()) as u8)).max((((if !((e17 > (2i64))) { (((p * 7)) as u32) } else { v6.wrapping_mul(v6) })) as u8))) as i16);
  }
  y
}

fn program_34(x: &[i16], z: &[i32], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: u8 = ((((x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize] | (((5i64)) as i16))) as u8)).max((((3000000000 as i64).wrapping_mul(((z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize]) as i64))) as u8));
      for k in 0..((n + 15) / 16) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 64 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i16 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          let e2: i64 = j;
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = (((255 as u32)) as u16);
      }
    } }
  }
  y
}

fn program_35(x: &[u64], z: &[i8], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (m * n) as usize];
  for p in 0..m {
    let mut v1: u8 = (((((x[(((0) * (m) + (p)) * (n) + (((p * 5 + 0) % (n)))) as usize].wrapping_add((((13i64)) as u64))) as i16)).min((((x[(((0) * (m) + (p)) * (n) + (((p * 1 + 1) % (n)))) as usize] | (((2i64)) as u64))) as i16))) as u8);
    for j in 0..n {
      let mut v2: u32 = ((x[(p * n + j) as usize]) as u32);
      let e3: i64 = (j % 2);
      if (((j != e3) && (x[(((0) * (m) + ((((x[(((0) * (m) + (p)) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + (j)) as usize] != ((v1) as u64))) || (v2.wrapping_shr((((v1) as u32) & 31)) < ((v1) as u32).wrapping_div(((((v1) as u32) | v2) | 1)))) {
        v2 = v2.wrapping_sub(((z[((0) * (n) + (j)) as usize]) as u32));
        for i4 in 0..8i64 {
          v2 = ((((v2) as u64).wrapping_add(((v1.wrapping_shr((((v1) as u32) & 7))) as u64).wrapping_sub(((v2) as u64).wrapping_mul(x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (j)) as usize])))) as u32);
          let mut v5: u16 = ((((((v1) as u64) & (7 as u64))).wrapping_neg()) as u16);
        }
      } else {
      }
      if (p <= j) {
        let e7: i64 = (a).min(j);
      } else {
        let mut m8 = [0 as i32; 4];
        for i9 in 0..4 { m8[i9] = (((((v2) as i64) & (-7i64))) as i32); }
      }
      y[(p * n + j) as usize] = (((3i64)) as u16);
    }
  }
  y
}

fn program_36(x: &[u64], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i8> {
  let mut y = vec![0 as i8; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: i8 = ((((((x[(((0) * (m) + (((i * 3 + 1) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize]) as u32)).min(((z[((0) * (n) + (((i * 5 + 0) % (n)))) as usize]) as u32))).wrapping_neg()) as i8);
      for k in 0..((n + 15) / 16) {
        let here = (0..256i64).map(|e| { let (r, c) = (r * 16 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u64 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          v1 = v1.bitor(v1);
          v1 = v1;
          v1 = v1.bitand((((64i64)) as i8));
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = (((if (a > i) { a } else { a })) as i8);
      }
    } }
  }
  y
}

fn program_37(x: &[i8], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u8> {
  let mut y = vec![0 as u8; (n) as usize];
  for p in 0..n {
    let mut v1: i32 = ((x[((0) * (n) + (((p * 3 + 11) % (n)))) as usize].wrapping_shr((((x[((0) * (n) + (((p * 1 + 11) % (n)))) as usize].wrapping_mul((((2i64)) as i8))) as u32) & 7))) as i32);
    if (p <= p) {
      if (!((a < (2i64))) && ((v1 <= ((x[((0) * (n) + (((p * 3 + 1) % (n)))) as usize]) as i32)) || ((a).max(a) < a))) {
        let mut v2: u16 = (((((v1 & v1)) as u64).wrapping_mul(((v1) as u64).wrapping_rem(((((x[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u64) | (3000000000 as u64)) | 1)))) as u16);
        if (v1 >= (((((v1.wrapping_sub(((x[((0) * (n) + (p)) as usize]) as i32))) as u16)).max((((((v2) as u32)).min(((v1) as u32))) as u16))) as i32)) {
          v1 = (((v2).wrapping_neg().wrapping_add(v2.wrapping_add(((x[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]) as u16))).wrapping_mul((((((1i64)) as i16)) as u16))) as i32);
          v2 = ((((v2) as i32).bitand((((((x[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u16).wrapping_rem(((((x[((0) * (n) + (p)) as usize]) as u16) ^ v2) | 1))) as i32) ^ (((p).min(a)) as i32)))) as u16);
        }
      } else {
        let mut w3: i32 = ((z[((0) * (n) + (p)) as usize]) as i32) & 7;
        while w3 > 0 && (((v1) as u64).wrapping_sub((13 as u64)) == (((a + (3i64))) as u64)) {
          w3 = w3 - 1;
          v1 = v1.bitor(((((if (a > a) { z[((0) * (n) + (((p * 1 + 2) % (n)))) as usize] } else { ((x[((0) * (n) + ((((z[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as u8) })) as i32) ^ v1));
          if (((v1 == (((7i64)) as i32)) || (((v1) as u32) >= (128 as u32))) && (v1.wrapping_sub(v1) == (((-128i64)) as i32))) {
            v1 = ((if ((((x[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as i32)).max(v1) == (((!z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize])) as i32)) { v1.wrapping_add(((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as i32)) } else { v1 }) & v1.wrapping_sub(v1).wrapping_sub(((((z[((0) * (n) + (p)) as usize]) as u16)) as i32)));
          } else {
            let mut v4: u32 = ((((((((64i64)) as i32).wrapping_mul(v1)) as i16)).min(((v1.wrapping_shr((((v1) as u32) & 31))) as i16))) as u32);
          }
        }
      }
    }
    let mut m5 = [0 as i32; 8];
    for i6 in 0..8 { m5[i6] = (v1).wrapping_neg(); }
    let e7: i64 = ((if (p != p) { (2i64) } else { a }) + (p).max(p));
    y[(p) as usize] = ((((if (((((x[((0) * (n) + (p)) as usize]) as i32).wrapping_add(v1)) as u64) == ((v1) as u64)) { (((v1) as u32)).min(((v1) as u32)) } else { ((v1.wrapping_add((((2i64)) as i32))) as u32) })) as u8)).max((((v1 ^ ((p) as i32))) as u8));
  }
  y
}

fn program_38(x: &[u64], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for p in 0..m {
    let mut v1: i16 = ((((x[(((0) * (m) + (p)) * (n) + (((p * 1 + 1) % (n)))) as usize]) as i8).wrapping_shr((((x[(((0) * (m) + (((p * 3 + 1) % (m)))) * (n) + (((p * 5 + 0) % (n)))) as usize].wrapping_mul(x[(((0) * (m) + (((p * 5 + 11) % (m)))) * (n) + (((p * 5 + 0) % (n)))) as usize])) as u32) & 7))) as i16);
    let e2: i64 = p;
    for j in 0..n {
      let mut v3: u16 = ((x[(p * n + j) as usize]) as u16);
      let e4: i64 = j;
      for i5 in 0..8i64 {
        v1 = v1.wrapping_shl(4);
      }
      y[(p * n + j) as usize] = ((((((v3) as u32) & (5 as u32)).wrapping_shr(3) & ((((((if ((if ((3i64) != j) { e4 } else { e4 }) != e2) { (((7i64)) as u64) } else { x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (((j * 3 + 11) % (n)))) as usize] })) as u16)).min(((x[(((0) * (m) + ((((v3) as u32) as i64 % (m)))) * (n) + (((j * 5 + 2) % (n)))) as usize].wrapping_shl(12)) as u16))) as u32))) as i64);
    }
  }
  y
}

fn program_39(x: &[u32], z: &[u32], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m * n) as usize];
  for p in 0..m {
    let mut v1: i64 = (((!x[(((0) * (m) + (p)) * (n) + (((p * 3 + 2) % (n)))) as usize].wrapping_shr((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize] & 31)))) as i64);
    for j in 0..n {
      let mut v2: i64 = ((x[(p * n + j) as usize]) as i64);
      y[(p * n + j) as usize] = ((a) as i32);
    }
  }
  y
}
