// Written by scripts/random_programs.py.

pub fn cases(calls: &mut Calls) {
  calls.flat("program_0", |x, z, a| Ok(kernels::program_0(x, z, a)?.into_vec()), program_0, &[(1, 300, 1), (1, 128, -3), (1, 127, -3)]);
  calls.flat("program_1", |x, z, a| Ok(kernels::program_1(x, z, a)?.into_vec()), program_1, &[(1, 300, 0), (1, 129, 50), (1, 1, 0)]);
  calls.rows("program_2", |x, z, a| Ok(kernels::program_2(x, z, a)?.into_vec()), program_2, &[(31, 64, 0), (2, 17, 50), (129, 64, 0)]);
  calls.rows("program_3", |x, z, a| Ok(kernels::program_3(x, z, a)?.into_vec()), program_3, &[(33, 32, 1), (32, 63, 1), (2, 63, 1)]);
  calls.flat("program_4", |x, z, a| Ok(kernels::program_4(x, z, a)?.into_vec()), program_4, &[(1, 32, 50), (1, 2, 0), (1, 33, 1)]);
  calls.rows("program_5", |x, z, a| Ok(kernels::program_5(x, z, a)?.into_vec()), program_5, &[(300, 2, -3), (128, 32, 0), (1, 17, 1)]);
  calls.rows("program_6", |x, z, a| Ok(kernels::program_6(x, z, a)?.into_vec()), program_6, &[(129, 1, 0), (31, 32, 1), (33, 64, 1)]);
  calls.flat("program_7", |x, z, a| Ok(kernels::program_7(x, z, a)?.into_vec()), program_7, &[(1, 33, 1), (1, 129, 1), (1, 31, 1)]);
  calls.rows("program_8", |x, z, a| Ok(kernels::program_8(x, z, a)?.into_vec()), program_8, &[(100, 17, -3), (300, 8, -3), (129, 32, 0)]);
  calls.rows("program_9", |x, z, a| Ok(kernels::program_9(x, z, a)?.into_vec()), program_9, &[(33, 63, 0), (1, 64, 1), (31, 64, 0)]);
  calls.flat("program_10", |x, z, a| Ok(kernels::program_10(x, z, a)?.into_vec()), program_10, &[(1, 32, 1), (1, 31, 0), (1, 127, 1)]);
  calls.rows("program_11", |x, z, a| Ok(kernels::program_11(x, z, a)?.into_vec()), program_11, &[(1, 17, -3), (129, 17, -3), (31, 17, -3)]);
  calls.rows("program_12", |x, z, a| Ok(kernels::program_12(x, z, a)?.into_vec()), program_12, &[(32, 8, 1), (129, 1, -3), (300, 64, 50)]);
  calls.flat("program_13", |x, z, a| Ok(kernels::program_13(x, z, a)?.into_vec()), program_13, &[(1, 100, 0), (1, 32, 0), (1, 31, -3)]);
  calls.rows("program_14", |x, z, a| Ok(kernels::program_14(x, z, a)?.into_vec()), program_14, &[(128, 8, 1), (127, 63, -3), (129, 32, 50)]);
  calls.rows("program_15", |x, z, a| Ok(kernels::program_15(x, z, a)?.into_vec()), program_15, &[(31, 2, 1), (100, 32, -3), (1, 1, 0)]);
  calls.rows("program_16", |x, z, a| Ok(kernels::program_16(x, z, a)?.into_vec()), program_16, &[(31, 32, 0), (300, 17, 0), (129, 2, -3)]);
  calls.flat("program_17", |x, z, a| Ok(kernels::program_17(x, z, a)?.into_vec()), program_17, &[(1, 2, 50), (1, 128, 0), (1, 32, 1)]);
  calls.rows("program_18", |x, z, a| Ok(kernels::program_18(x, z, a)?.into_vec()), program_18, &[(128, 1, 1), (129, 32, 50), (127, 2, -3)]);
  calls.rows("program_19", |x, z, a| Ok(kernels::program_19(x, z, a)?.into_vec()), program_19, &[(1, 1, 50), (2, 64, 0), (100, 63, -3)]);
  calls.flat("program_20", |x, z, a| Ok(kernels::program_20(x, z, a)?.into_vec()), program_20, &[(1, 2, 1), (1, 100, 0), (1, 127, 50)]);
  calls.flat("program_21", |x, z, a| Ok(kernels::program_21(x, z, a)?.into_vec()), program_21, &[(1, 129, 0), (1, 100, -3), (1, 127, -3)]);
  calls.flat("program_22", |x, z, a| Ok(kernels::program_22(x, z, a)?.into_vec()), program_22, &[(1, 33, 1), (1, 2, 50), (1, 300, 1)]);
  calls.rows("program_23", |x, z, a| Ok(kernels::program_23(x, z, a)?.into_vec()), program_23, &[(129, 64, 1), (1, 17, 50), (33, 32, -3)]);
  calls.rows("program_24", |x, z, a| Ok(kernels::program_24(x, z, a)?.into_vec()), program_24, &[(1, 17, 0), (128, 17, 0), (129, 2, 50)]);
  calls.rows("program_25", |x, z, a| Ok(kernels::program_25(x, z, a)?.into_vec()), program_25, &[(127, 64, 0), (33, 2, 1), (2, 63, 0)]);
  calls.flat("program_26", |x, z, a| Ok(kernels::program_26(x, z, a)?.into_vec()), program_26, &[(1, 300, 0), (1, 128, 50), (1, 129, 1)]);
  calls.flat("program_27", |x, z, a| Ok(kernels::program_27(x, z, a)?.into_vec()), program_27, &[(1, 2, 0), (1, 300, 0), (1, 100, -3)]);
  calls.rows("program_28", |x, z, a| Ok(kernels::program_28(x, z, a)?.into_vec()), program_28, &[(300, 17, 1), (127, 64, 50), (100, 1, 1)]);
  calls.rows("program_29", |x, z, a| Ok(kernels::program_29(x, z, a)?.into_vec()), program_29, &[(128, 32, 1), (129, 17, 1), (100, 2, 1)]);
  calls.rows("program_30", |x, z, a| Ok(kernels::program_30(x, z, a)?.into_vec()), program_30, &[(2, 32, 0), (129, 2, 0), (100, 64, 50)]);
  calls.flat("program_31", |x, z, a| Ok(kernels::program_31(x, z, a)?.into_vec()), program_31, &[(1, 129, -3), (1, 2, 1), (1, 33, -3)]);
  calls.rows("program_32", |x, z, a| Ok(kernels::program_32(x, z, a)?.into_vec()), program_32, &[(1, 32, 50), (32, 63, 0), (300, 8, 0)]);
  calls.flat("program_33", |x, z, a| Ok(kernels::program_33(x, z, a)?.into_vec()), program_33, &[(1, 1, -3), (1, 2, 50), (1, 127, 50)]);
  calls.rows("program_34", |x, z, a| Ok(kernels::program_34(x, z, a)?.into_vec()), program_34, &[(2, 1, 0), (100, 17, 1), (128, 17, 1)]);
  calls.rows("program_35", |x, z, a| Ok(kernels::program_35(x, z, a)?.into_vec()), program_35, &[(33, 2, -3), (129, 64, 1), (100, 17, 1)]);
  calls.rows("program_36", |x, z, a| Ok(kernels::program_36(x, z, a)?.into_vec()), program_36, &[(127, 1, -3), (128, 1, 50), (2, 17, -3)]);
  calls.flat("program_37", |x, z, a| Ok(kernels::program_37(x, z, a)?.into_vec()), program_37, &[(1, 1, 1), (1, 300, -3), (1, 129, 50)]);
  calls.rows("program_38", |x, z, a| Ok(kernels::program_38(x, z, a)?.into_vec()), program_38, &[(129, 64, 50), (33, 2, 50), (31, 1, 50)]);
  calls.rows("program_39", |x, z, a| Ok(kernels::program_39(x, z, a)?.into_vec()), program_39, &[(100, 17, -3), (32, 63, 1), (129, 8, 1)]);
}

fn program_0(x: &[i32], z: &[u32], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let e1: i64 = (if (p == p) { p } else { (p - a) });
    let mut v2: u8 = ((((z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]).wrapping_neg() ^ (((x[((0) * (n) + (p)) as usize]).wrapping_neg()) as u32))) as u8);
    let mut w3: i32 = ((((x[((0) * (n) + (p)) as usize].wrapping_sub(((v2) as i32))) as u32)) as i32) & 7;
    while w3 > 0 && ((p < e1) && (e1 <= e1)) {
      w3 = w3 - 1;
      v2 = (((z[((0) * (n) + (p)) as usize].wrapping_add(((x[((0) * (n) + (((p * 1 + 0) % (n)))) as usize]) as u32)) ^ ((v2.wrapping_add(v2)) as u32)).wrapping_div(((((x[((0) * (n) + (((p * 5 + 1) % (n)))) as usize] | ((v2) as i32)) | 1)) as u32))) as u8);
      v2 = (((e1 % 7)) as u8);
    }
    y[(p) as usize] = (((255i64)) as u64);
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
        for i3 in 0..4 { m2[i3] = ((x[((0) * (n) + ((((b * 32 + t) * 3 + 0) % (n)))) as usize].wrapping_div(((((z[((0) * (n) + ((((b * 32 + t) * 5 + 2) % (n)))) as usize]) as i16) ^ x[((0) * (n) + ((b * 32 + t))) as usize]) | 1))) as i64); }
        let mut v4: i32 = ((z[((0) * (n) + ((((b * 32 + t) * 5 + 11) % (n)))) as usize]) as i32);
        s1[((t * 1 + 1) % 32) as usize] = (((127i64)) as i32);
      } else {
        s1[((t * 1 + 1) % 32) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as i16; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut w6: i32 = ((z[((0) * (n) + ((((b * 32 + t) * 3 + 1) % (n)))) as usize]) as i32) & 7;
        while w6 > 0 && (s1[((0) * (32) + (t)) as usize].wrapping_shr(4) > s1[((0) * (32) + (((t * 3 + 1) % (32)))) as usize]) {
          w6 = w6 - 1;
          let mut v7: i32 = (if ((((z[((0) * (n) + ((((b * 32 + t) * 3 + 2) % (n)))) as usize]).wrapping_neg()) as i16) >= ((z[((0) * (n) + ((((b * 32 + t) * 1 + 0) % (n)))) as usize]) as i16)) { (s1[((0) * (32) + (((t * 3 + 2) % (32)))) as usize] ^ ((z[((0) * (n) + ((b * 32 + t))) as usize]) as i32)) } else { (((((z[((0) * (n) + ((((b * 32 + t) * 1 + 1) % (n)))) as usize]) as u16)).min(((x[((0) * (n) + ((b * 32 + t))) as usize]) as u16))) as i32) });
          v7 = ((((v7) as u32).wrapping_mul((((((z[((0) * (n) + ((((s1[((0) * (32) + (t)) as usize]) as u32) as i64 % (n)))) as usize]) as i32).wrapping_mul(s1[((0) * (32) + (t)) as usize])) as u32)).min(((v7) as u32)))) as i32);
        }
        s5[((t * 1 + 0) % 32) as usize] = (((13i64)) as i16);
      } else {
        s5[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        for i8 in 0..16i64 {
          let mut v9: u8 = (((!(s1[((0) * (32) + (((t * 3 + 11) % (32)))) as usize]).min(s1[((0) * (32) + (((t * 1 + 0) % (32)))) as usize]))) as u8);
          if ((if (v9.wrapping_shl((((v9) as u32) & 7)) != v9) { (((v9).wrapping_neg()) as i16) } else { x[((0) * (n) + (((b * 5 + 2) % (n)))) as usize].wrapping_mul(((v9) as i16)) }) == (((v9) as i16)).max(((v9) as i16)).wrapping_shl(6)) {
            let e10: i64 = ((a - i8) - (a * 7));
          }
        }
        let mut v11: i16 = ((s1[((0) * (32) + (((t * 1 + 1) % (32)))) as usize]) as i16);
        let mut v12: i8 = ((((v11.wrapping_shr((((z[((0) * (n) + (((t * 1 + 0) % (n)))) as usize]) as u32) & 15))) as u32).wrapping_sub((((v11) as u32)).min(((s1[((0) * (32) + ((((v11) as u32) as i64 % (32)))) as usize]) as u32)))) as i8);
        y[(b * 32 + t) as usize] = (((s5[((0) * (32) + (t)) as usize].wrapping_shl((((s1[((0) * (32) + ((((v12) as u32) as i64 % (32)))) as usize].wrapping_rem((((10i64)) as i32))) as u32) & 15)) ^ ((v12) as i16))) as u32);
      }
    }
  }
  y
}

fn program_2(x: &[u32], z: &[i8], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: i32 = ((((((z[((0) * (n) + (((i * 1 + 1) % (n)))) as usize]) as u32).wrapping_sub(x[(((0) * (m) + (((i * 3 + 1) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize])) as i64)) as i32);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          if (v1 >= (((j % 4)) as i32)) {
            v1 = v1.bitor((v1.wrapping_rem(((((z[((0) * (n) + ((((z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as i32) & v1) | 1))).wrapping_neg());
          } else {
            let e2: i64 = (((-1i64) + k) - (k % 2));
            v1 = ((here[(((0) * (32) + (((i * 1 + 0) % (32)))) * (32) + (((j * 5 + 2) % (32)))) as usize]) as i32);
          }
          v1 = (((z[((0) * (n) + (((k * 1 + 2) % (n)))) as usize]) as i32) & (v1.wrapping_sub(v1) | (((1000i64)) as i32)));
          let mut m3 = [0 as i64; 2];
          for i4 in 0..2 { m3[i4] = ((v1.wrapping_add(v1)) as i64); }
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = ((((z[((0) * (n) + (((i * 3 + 1) % (n)))) as usize].wrapping_rem((((2i64)) as i8))) as u32).wrapping_sub((((v1) as u32) ^ x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + ((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 3 + 2) % (n)))) as usize] as i64 % (n)))) as usize])).wrapping_add(x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize].wrapping_shr((((v1.wrapping_shl((((v1) as u32) & 31))) as u32) & 31)))) as u64);
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
          v1 = (((z[((0) * (n) + (((k * 3 + 2) % (n)))) as usize].wrapping_shl((((z[((0) * (n) + (((j * 3 + 0) % (n)))) as usize]) as u32) & 15)).wrapping_shr(((((((100i64)) as u64)) as u32) & 15))).max((((v1.wrapping_div((((2i64)) as u16)) ^ (v1).wrapping_neg())) as i16))) as u16);
          let mut w2: i32 = (((((((v1) as i8)).min(((v1) as i8))) as i64).wrapping_add(((here[(((0) * (16) + ((((v1) as u32) as i64 % (16)))) * (16) + ((((v1) as u32) as i64 % (16)))) as usize]) as i64))) as i32) & 7;
          while w2 > 0 && (((x[(((0) * (m) + (((j * 1 + 0) % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize].wrapping_add(x[(((0) * (m) + (((j * 5 + 1) % (m)))) * (n) + ((((x[(((0) * (m) + (((k * 3 + 1) % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize])) as u16) != v1.wrapping_sub(((here[(((0) * (16) + ((((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (16)))) * (16) + ((((v1) as u32) as i64 % (16)))) as usize]) as u16))) {
            w2 = w2 - 1;
            v1 = v1.bitand((((1000i64)) as u16));
            v1 = v1;
          }
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = ((((v1) as u32).wrapping_sub(((z[((0) * (n) + (((i * 1 + 11) % (n)))) as usize]) as u32)).wrapping_shr((((((v1 & ((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u16))).wrapping_neg()) as u32) & 31))) as i64);
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
        if ((((5i64)) as u64) == (((z[((0) * (n) + ((b * 64 + t))) as usize].wrapping_add(z[((0) * (n) + ((((b * 64 + t) * 5 + 11) % (n)))) as usize]) | (((-3000000000i64)) as i64))) as u64)) {
          let mut v2: i8 = ((z[((0) * (n) + ((((b * 64 + t) * 5 + 1) % (n)))) as usize]) as i8);
          let mut v3: i64 = z[((0) * (n) + ((b * 64 + t))) as usize].wrapping_mul(((v2) as i64)).wrapping_shl(40);
        } else {
          let mut v4: u32 = (((((255i64)) as i64).wrapping_sub((z[((0) * (n) + ((((b * 64 + t) * 3 + 1) % (n)))) as usize]).min(z[((0) * (n) + ((((b * 64 + t) * 1 + 0) % (n)))) as usize]))) as u32);
        }
        s1[((t * 3 + 0) % 64) as usize] = (((((z[((0) * (n) + ((b * 64 + t))) as usize].wrapping_add(((b) as i64))) as i16)).min(x[((0) * (n) + ((b * 64 + t))) as usize].wrapping_shl(10)).wrapping_shl(((((if !(((a - a) == (b * 64 + t))) { z[((0) * (n) + ((((b * 64 + t) * 5 + 0) % (n)))) as usize].wrapping_sub(((x[((0) * (n) + ((((b * 64 + t) * 1 + 0) % (n)))) as usize]) as i64)) } else { (((((x[((0) * (n) + ((((b * 64 + t) * 3 + 11) % (n)))) as usize]) as u16)).max(((x[((0) * (n) + ((((b * 64 + t) * 5 + 11) % (n)))) as usize]) as u16))) as i64) })) as u32) & 15))) as i64);
      } else {
        s1[((t * 3 + 0) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut m5 = [0 as i64; 4];
        for i6 in 0..4 { m5[i6] = ((((x[((0) * (n) + (((t * 1 + 0) % (n)))) as usize]) as i32).wrapping_sub((((a * 2)) as i32))) as i64); }
        let e7: i64 = ((t - t) * 3);
        y[(b * 64 + t) as usize] = (((!m5[((0) * (4) + (((t * 1 + 11) % (4)))) as usize]).wrapping_sub((if (((0i64) + e7) > t) { s1[((0) * (64) + (((t * 5 + 11) % (64)))) as usize] } else { z[((0) * (n) + (((b * 3 + 2) % (n)))) as usize] })).wrapping_shl(19)) as u64);
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
        let mut w1: i32 = (((if (x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((j * 3 + 0) % (n)))) as usize] == z[((0) * (n) + (((j * 5 + 1) % (n)))) as usize]) { tile[(((0) * (16) + (j)) * (16) + (((i * 3 + 2) % (16)))) as usize] } else { tile[(((0) * (16) + (((j * 1 + 1) % (16)))) * (16) + (j)) as usize] }).wrapping_sub(x[(((0) * (m) + (((i * 3 + 1) % (m)))) * (n) + (((j * 3 + 1) % (n)))) as usize])) as i32) & 7;
        while w1 > 0 && ((j % 7) != a) {
          w1 = w1 - 1;
          let mut v2: i64 = ((tile[(((0) * (16) + (((j * 3 + 11) % (16)))) * (16) + (((j * 5 + 0) % (16)))) as usize].wrapping_rem(((z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize] ^ x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize]) | 1)).wrapping_div((((7i64)) as u64))) as i64);
        }
        let mut m3 = [0 as u64; 8];
        for i4 in 0..8 { m3[i4] = z[((0) * (n) + (((j * 3 + 11) % (n)))) as usize].wrapping_div(((x[(((0) * (m) + (((j * 3 + 0) % (m)))) * (n) + (((i * 3 + 2) % (n)))) as usize] & (((100i64)) as u64)) | 1)); }
        y[((br * 16 + i) * n + bc * 16 + j) as usize] = ((((((if (z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize] <= (((-128i64)) as u64)) { z[((0) * (n) + (((j * 5 + 2) % (n)))) as usize] } else { tile[(((0) * (16) + (((i * 5 + 11) % (16)))) * (16) + (((j * 1 + 1) % (16)))) as usize] })) as i8)).max((((((m3[((0) * (8) + (((j * 3 + 11) % (8)))) as usize]) as u16)).min(((m3[((0) * (8) + (((j * 3 + 1) % (8)))) as usize]) as u16))) as i8)).wrapping_shl(4)) as i32);
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
      v2 = ((((((v1) as u32)).min(((x[(((0) * (m) + ((((v2) as u32) as i64 % (m)))) * (n) + ((((z[((0) * (n) + (j)) as usize]) as u32) as i64 % (n)))) as usize]) as u32)) & ((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize].wrapping_shr((((x[(((0) * (m) + (p)) * (n) + (((j * 1 + 0) % (n)))) as usize]) as u32) & 15))) as u32)).wrapping_div(((((v2 ^ v2) | 1)) as u32))) as u16);
      v1 = v1.bitxor((((((v1) as u16)).min(v2)) as u64).wrapping_div(((v1 | (((j).max(j)) as u64)) | 1)));
      if !(((a / 2) >= (2i64))) {
        let e3: i64 = ((p / 4) + (p - (5i64)));
        v2 = ((v1.wrapping_add(v1).wrapping_add((((j + a)) as u64)).wrapping_add(((v2) as u64))) as u16);
      }
      y[(p * n + j) as usize] = (((!((z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize]) as u16).wrapping_add(v2))) as u8);
    }
  }
  y
}

fn program_7(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let mut v1: u64 = (((((127i64)) as i64).wrapping_sub((((x[((0) * (n) + (p)) as usize]) as i64) ^ z[((0) * (n) + (((p * 1 + 0) % (n)))) as usize]))) as u64);
    v1 = v1.wrapping_sub((((((!z[((0) * (n) + ((((x[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize])) as u8)) as u64));
    y[(p) as usize] = ((((((if ((a * 3) < p) { v1 } else { ((z[((0) * (n) + (p)) as usize]) as u64) })) as i64)).min((((if (a == a) { v1 } else { (((if (a != p) { a } else { p })) as u64) })) as i64))) as u64).wrapping_add(v1.wrapping_rem(((v1 ^ v1) | 1)).wrapping_sub(((((x[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]) as i16)) as u64)));
  }
  y
}

fn program_8(x: &[u32], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: i16 = ((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize].wrapping_sub(((x[(((0) * (m) + (((i * 5 + 2) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize].wrapping_add(x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize])) as u64))) as i16);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          let mut v2: i32 = (((v1 ^ v1).wrapping_shr((((v1.wrapping_div((((255i64)) as i16))) as u32) & 15))) as i32);
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = (((if ((i - i) == a) { ((((((v1) as i8)) as u32).wrapping_sub(x[(((0) * (m) + ((x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize] as i64 % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize].wrapping_sub(((v1) as u32)))) as i64) } else { ((x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize]) as i64).wrapping_div(((((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i * 3 + 0) % (n)))) as usize] ^ ((((9i64) + a)) as u32)) | 1)) as i64)) })) as i16);
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
          v1 = v1.wrapping_mul((v1.wrapping_rem((((3i64)) as u16)) & ((x[(((0) * (m) + ((z[((0) * (n) + (((j * 3 + 2) % (n)))) as usize] as i64 % (m)))) * (n) + ((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize] as i64 % (n)))) as usize]) as u16)));
          let e2: i64 = ((i / 3)).max((a * 4));
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = ((((i) as i16).wrapping_rem((((2i64)) as i16))) as u8);
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
        s1[((t * 1 + 1) % 64) as usize] = ((((!((z[((0) * (n) + ((((b * 64 + t) * 5 + 0) % (n)))) as usize]) as i32).wrapping_add(v3)) ^ ((((((v3 & ((z[((0) * (n) + ((b * 64 + t))) as usize]) as i32))) as u8)).min(((v3.wrapping_rem((((10i64)) as i32))) as u8))) as i32))) as u8);
      } else {
        s1[((t * 1 + 1) % 64) as usize] = 7;
      }
    }
    let mut s4 = vec![0 as u32; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut w5: i32 = ((z[((0) * (n) + ((((b * 64 + t) * 3 + 0) % (n)))) as usize]) as i32) & 7;
        while w5 > 0 && ((((!s1[((0) * (64) + (((t * 1 + 2) % (64)))) as usize])) as u64) == (if ((a * 7) < b) { (((a).min(t)) as u64) } else { x[((0) * (n) + ((((b * 64 + t) * 3 + 1) % (n)))) as usize] })) {
          w5 = w5 - 1;
          let mut m6 = [0 as i32; 8];
          for i7 in 0..8 { m6[i7] = (((if (z[((0) * (n) + ((b * 64 + t))) as usize] >= s1[((0) * (64) + (t)) as usize]) { s1[((0) * (64) + (((t * 1 + 0) % (64)))) as usize] } else { s1[((0) * (64) + (t)) as usize] })) as i32); }
        }
        let mut w8: i32 = ((z[((0) * (n) + ((((b * 64 + t) * 5 + 1) % (n)))) as usize]) as i32) & 7;
        while w8 > 0 && ((((-1i64)) as i32) <= ((s1[((0) * (64) + (((t * 1 + 0) % (64)))) as usize].wrapping_shr((((z[((0) * (n) + ((b * 64 + t))) as usize]) as u32) & 7))) as i32)) {
          w8 = w8 - 1;
          if (((z[((0) * (n) + ((((b * 64 + t) * 5 + 2) % (n)))) as usize]).wrapping_neg()).wrapping_neg() == (((0i64)) as u8)) {
            let e9: i64 = ((t / 7) + (a % 2));
            break;
          }
          let mut m10 = [0 as i16; 2];
          for i11 in 0..2 { m10[i11] = ((((s1[((0) * (64) + (((t * 1 + 0) % (64)))) as usize]) as i32).wrapping_mul(((((-4i64) + (b * 64 + t))) as i32))) as i16); }
        }
        s4[((t * 3 + 0) % 64) as usize] = (((t - t)) as u32);
      } else {
        s4[((t * 3 + 0) % 64) as usize] = 7;
      }
    }
    let mut s12 = vec![0 as u32; 64];
    for t in 0..64i64 {
      if b * 64 + t < n {
        let e13: i64 = ((b).min((9i64)) + (if (t <= b) { (b * 64 + t) } else { (b * 64 + t) }));
        let mut m14 = [0 as u32; 2];
        for i15 in 0..2 { m14[i15] = (((((x[((0) * (n) + ((((b * 64 + t) * 3 + 0) % (n)))) as usize]) as i16)).max(((x[((0) * (n) + ((b * 64 + t))) as usize]) as i16))) as u32); }
        let mut v16: i64 = (((((x[((0) * (n) + ((((b * 64 + t) * 3 + 11) % (n)))) as usize] ^ (((100i64)) as u64))) as i32)) as i64);
        s12[((t * 1 + 7) % 64) as usize] = ((((((3i64)).min(t)) as i32)) as u32);
      } else {
        s12[((t * 1 + 7) % 64) as usize] = 7;
      }
    }
    for t in 0..64i64 {
      if b * 64 + t < n {
        let mut v17: u32 = (((((z[((0) * (n) + (((b * 1 + 0) % (n)))) as usize]).wrapping_neg()) as i16).wrapping_sub(((x[((0) * (n) + (((b * 3 + 2) % (n)))) as usize]) as i16))) as u32);
        y[(b * 64 + t) as usize] = (((v17.wrapping_add(v17).wrapping_div(((v17 ^ v17) | 1)) & (((((if (((s1[((0) * (64) + ((v17 as i64 % (64)))) as usize]) as u32) != v17) { v17 } else { v17 })) as i8)) as u32))) as u16);
      }
    }
  }
  y
}

fn program_11(x: &[u16], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u32> {
  let mut y = vec![0 as u32; (m * n) as usize];
  for p in 0..m {
    let mut v1: u16 = ((((x[(((0) * (m) + (((p * 5 + 0) % (m)))) * (n) + (((p * 5 + 2) % (n)))) as usize]) as u32).wrapping_shr((((((x[(((0) * (m) + (((p * 3 + 11) % (m)))) * (n) + (((p * 1 + 2) % (n)))) as usize]) as i64).wrapping_add(z[((0) * (n) + (((p * 3 + 1) % (n)))) as usize])) as u32) & 31))) as u16);
    for j in 0..n {
      let mut v2: u64 = ((x[(p * n + j) as usize]) as u64);
      let mut w3: i32 = ((x[(((0) * (m) + (p)) * (n) + (((j * 3 + 1) % (n)))) as usize]) as i32) & 7;
      while w3 > 0 && (v2 >= (((2i64)) as u64)) {
        w3 = w3 - 1;
        v2 = ((((((65535i64)) as u16).wrapping_add(v1)) as u64) ^ (((255i64)) as u64));
        if ((((a - j) == j) && ((p - (0i64)) > p)) || (((a + a) == a) && (v2 != (((-2i64)) as u64)))) {
          let mut w4: i32 = (((((((v2) as u8)).max(((z[((0) * (n) + (j)) as usize]) as u8))) as u16).wrapping_mul(v1.wrapping_mul((((100i64)) as u16)))) as i32) & 7;
          while w4 > 0 && (((p).max(a) == p) || ((1i64) >= a)) {
            w4 = w4 - 1;
            let mut v5: u32 = ((((((((3000000000i64)) as u8)) as i16)).max((((x[(((0) * (m) + (((p * 1 + 11) % (m)))) * (n) + (j)) as usize] ^ v1)) as i16))) as u32);
          }
        } else {
          let e6: i64 = (if ((3i64) == (1i64)) { (p * 4) } else { (j).max(a) });
        }
      }
      v1 = (((if (j < p) { (9i64) } else { p })) as u16);
      let mut v7: i16 = (((v2).wrapping_neg().wrapping_div((((7i64)) as u64))) as i16);
      y[(p * n + j) as usize] = (((255i64)) as u32);
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
        v1 = ((((z[((0) * (n) + (((i * 3 + 11) % (n)))) as usize]) as i64)) as i8);
        let mut v2: u8 = (((((if (z[((0) * (n) + (((i * 1 + 11) % (n)))) as usize] == ((v1) as i16)) { ((v1) as i16) } else { z[((0) * (n) + (((i * 1 + 1) % (n)))) as usize] })) as i32).wrapping_mul(((i) as i32).wrapping_add(((v1) as i32)))) as u8);
        y[((br * 8 + i) * n + bc * 32 + j) as usize] = ((z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u8);
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
    v1 = v1;
    y[(p) as usize] = ((((p) as i32).wrapping_mul((((((((x[((0) * (n) + (p)) as usize]) as u8)).max(((v1) as u8))) as i16)) as i32))) as u64);
  }
  y
}

fn program_14(x: &[i8], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for p in 0..m {
    let mut v1: i16 = (!(if (z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize] <= z[((0) * (n) + (((p * 5 + 2) % (n)))) as usize]) { z[((0) * (n) + (((p * 1 + 0) % (n)))) as usize] } else { z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize] }));
    let mut w2: i32 = ((z[((0) * (n) + ((((((x[(((0) * (m) + (p)) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as i16).wrapping_mul(v1)) as u32) as i64 % (n)))) as usize]) as i32) & 7;
    while w2 > 0 && ((v1 < v1) && (a < p)) {
      w2 = w2 - 1;
      v1 = v1.bitand(v1.wrapping_shl((((v1) as u32) & 15)));
    }
    for j in 0..n {
      let mut v3: u16 = ((x[(p * n + j) as usize]) as u16);
      v1 = v1;
      let mut w4: i32 = ((v3.wrapping_div((((2i64)) as u16))) as i32).wrapping_rem((((-3i64)) as i32)) & 7;
      while w4 > 0 && (x[(((0) * (m) + (p)) * (n) + (((j * 3 + 0) % (n)))) as usize].wrapping_add(x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + ((((v3) as u32) as i64 % (n)))) as usize]) == x[(((0) * (m) + (p)) * (n) + (((j * 1 + 1) % (n)))) as usize]) {
        w4 = w4 - 1;
        v1 = (((((v3 | (if ((a).min(p) < a) { ((v1) as u16) } else { v3 }))) as i64)) as i16);
      }
      y[(p * n + j) as usize] = ((((v3.wrapping_shl((((v1) as u32) & 15))).wrapping_neg()).wrapping_neg()) as i64);
    }
  }
  y
}

fn program_15(x: &[i32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: i16 = (((if ((((z[((0) * (n) + (((i * 3 + 2) % (n)))) as usize]) as u64)).max(((z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u64)) != ((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize].wrapping_shr((((z[((0) * (n) + (((i * 1 + 2) % (n)))) as usize]) as u32) & 15))) as u64)) { ((z[((0) * (n) + (((i * 1 + 2) % (n)))) as usize]) as i32) } else { (x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize] | (((64i64)) as i32)) })) as i16);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i32 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          v1 = (((!(if (a >= k) { ((v1.wrapping_sub(v1)) as i32) } else { x[(((0) * (m) + (((j * 1 + 0) % (m)))) * (n) + (((k * 3 + 2) % (n)))) as usize] }))) as i16);
          if ((k * 3) != (2i64)) {
            let e2: i64 = ((a / 2) + (i % 4));
          } else {
            v1 = ((((((v1.wrapping_rem((((16i64)) as i16))) as i64)).max((((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize]).wrapping_neg()) as i64)) ^ ((x[(((0) * (m) + (((k * 5 + 11) % (m)))) * (n) + (((k * 3 + 11) % (n)))) as usize]) as i64))) as i16);
            v1 = ((((((if (((v1) as i32) == here[(((0) * (32) + (j)) * (32) + (((j * 3 + 0) % (32)))) as usize].wrapping_sub(((v1) as i32))) { v1 } else { (((-1i64)) as i16) })) as i64) & (((v1.wrapping_shr((((v1) as u32) & 15))) as i64)).min((((((7i64)) as i32).wrapping_sub(x[(((0) * (m) + (((k * 1 + 0) % (m)))) * (n) + (((k * 5 + 2) % (n)))) as usize])) as i64)))) as i16);
          }
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = (((-1i64)) as i64);
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
      y[(p * n + j) as usize] = (((if ((((3000000000i64)) as i64).wrapping_sub(((z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize]) as i64)).wrapping_mul(((v2.wrapping_div((((7i64)) as i8))) as i64)) < ((((((x[(((0) * (m) + ((((v2) as u32) as i64 % (m)))) * (n) + (((j * 5 + 1) % (n)))) as usize]) as u16).wrapping_sub(v1)) as i32).wrapping_add((((v2) as i32)).min(z[((0) * (n) + ((((x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (j)) as usize]) as u32) as i64 % (n)))) as usize]))) as i64)) { (v1 ^ ((v2.wrapping_rem((((2i64)) as i8))) as u16)) } else { ((v2) as u16) })) as i64);
    }
  }
  y
}

fn program_17(x: &[i8], z: &[i64], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (n) as usize];
  for p in 0..n {
    let mut m1 = [0 as i8; 8];
    for i2 in 0..8 { m1[i2] = x[((0) * (n) + (p)) as usize].wrapping_mul(x[((0) * (n) + (((p * 3 + 0) % (n)))) as usize]); }
    let mut v3: i8 = (x[((0) * (n) + (p)) as usize] ^ x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]).wrapping_rem((((7i64)) as i8));
    for i4 in 0..16i64 {
      v3 = (((!((((((z[((0) * (n) + ((((v3) as u32) as i64 % (n)))) as usize]) as i16)).max(((z[((0) * (n) + (p)) as usize]) as i16))) as i64)).min(((v3) as i64)))) as i8);
    }
    y[(p) as usize] = (((((((((v3) as u8)).max(((v3) as u8))).wrapping_neg()) as i64) & (z[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]).wrapping_neg().wrapping_div(((((((m1[((0) * (8) + (((p * 1 + 1) % (8)))) as usize]) as i32) & (((p).min(p)) as i32)) | 1)) as i64)))) as u64);
  }
  y
}

fn program_18(x: &[i64], z: &[i16], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (m * n) as usize];
  for br in 0..(m + 7) / 8 { for bc in 0..(n + 15) / 16 {
    let tile = (0..128i64).map(|e| { let (r, c) = (br * 8 + e / 16, bc * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i64 } }).collect::<Vec<_>>();
    for i in 0..8i64 { for j in 0..16i64 {
      if br * 8 + i < m && bc * 16 + j < n {
        let mut v1: i64 = ((z[((0) * (n) + (((j * 3 + 2) % (n)))) as usize].wrapping_sub((((-2i64)) as i16))) as i64);
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = ((((v1.wrapping_mul(tile[(((0) * (8) + ((((tile[(((0) * (8) + ((((tile[(((0) * (8) + (i)) * (16) + (((j * 3 + 11) % (16)))) as usize]) as u32) as i64 % (8)))) * (16) + (((j * 1 + 1) % (16)))) as usize]) as u32) as i64 % (8)))) * (16) + ((((tile[(((0) * (8) + (i)) * (16) + ((((z[((0) * (n) + (((i * 1 + 0) % (n)))) as usize]) as u32) as i64 % (16)))) as usize]) as u32) as i64 % (16)))) as usize])) as u64).wrapping_add((((((5i64)) as i64).wrapping_mul((v1 & v1))) as u64))) as i16);
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
          let mut v2: u64 = ((x[(((0) * (m) + (((j * 5 + 11) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize]) as u64);
        }
        for i3 in 0..3i64 {
          if ((((tile[(((0) * (8) + (i)) * (16) + (((j * 5 + 11) % (16)))) as usize]) as i32) | ((((-4i64) + a)) as i32)).wrapping_mul((((1i64)) as i32)) != (((((a * 7)) as u16).wrapping_sub((((!x[(((0) * (m) + (((i3 * 5 + 11) % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize])) as u16))) as i32)) {
            let mut v4: u64 = (((!(((z[((0) * (n) + (((j * 3 + 1) % (n)))) as usize]) as i32)).max(((x[(((0) * (m) + (((j * 3 + 1) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize]) as i32)))) as u64);
            let e5: i64 = (a).max(i3);
          } else {
            let mut v6: u8 = (((if ((tile[(((0) * (8) + (i)) * (16) + (((j * 1 + 11) % (16)))) as usize] >= (((128i64)) as u8)) || ((i).max(i3) == j)) { ((((x[(((0) * (m) + (((i * 3 + 2) % (m)))) * (n) + (((i3 * 1 + 1) % (n)))) as usize]) as i8)) as i32) } else { (((x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + (((i3 * 1 + 11) % (n)))) as usize]) as i32) ^ (((j - j)) as i32)) })) as u8);
            let mut v7: u8 = (((if ((j - j) != i) { (((v6) as i32)).min(((v6) as i32)) } else { (((z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize]).wrapping_neg()) as i32) })) as u8);
          }
          let mut v8: u8 = ((z[((0) * (n) + (((i * 3 + 1) % (n)))) as usize].wrapping_mul(z[((0) * (n) + (((j * 1 + 1) % (n)))) as usize].wrapping_sub(z[((0) * (n) + (((i3 * 1 + 0) % (n)))) as usize]))) as u8);
        }
        if ((((tile[(((0) * (8) + (i)) * (16) + (j)) as usize].wrapping_shr((((tile[(((0) * (8) + (((i * 5 + 11) % (8)))) * (16) + (((j * 1 + 2) % (16)))) as usize]) as u32) & 7))).wrapping_neg()) as u16) <= (if (x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + (((j * 3 + 11) % (m)))) * (n) + (((j * 3 + 1) % (n)))) as usize]) == (x[(((0) * (m) + (((j * 1 + 11) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]).wrapping_neg()) { z[((0) * (n) + (((j * 5 + 11) % (n)))) as usize].wrapping_rem((((255i64)) as u16)) } else { z[((0) * (n) + (((j * 1 + 0) % (n)))) as usize].wrapping_add(((x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((j * 1 + 1) % (n)))) as usize]) as u16)) })) {
          let mut m9 = [0 as u16; 4];
          for i10 in 0..4 { m9[i10] = ((x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]) as u16); }
          for i11 in 0..3i64 {
            let mut v12: u32 = (((m9[((0) * (4) + (((j * 5 + 11) % (4)))) as usize].wrapping_add(z[((0) * (n) + (((j * 1 + 1) % (n)))) as usize]) ^ m9[((0) * (4) + (((j * 1 + 1) % (4)))) as usize].wrapping_shl(12))) as u32);
            v12 = ((((((((a % 7)) as i16)) as i64)).min(((v12) as i64))) as u32);
            let e13: i64 = i11;
          }
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((((tile[(((0) * (8) + (i)) * (16) + (((j * 1 + 1) % (16)))) as usize]).wrapping_neg()) as i16)) as i64);
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
        let mut v3: u64 = ((((((if (((b * 32 + t) + e2) > e2) { z[((0) * (n) + ((((b * 32 + t) * 1 + 11) % (n)))) as usize] } else { ((x[((0) * (n) + ((b * 32 + t))) as usize]) as i16) })) as i32) | (((z[((0) * (n) + ((((b * 32 + t) * 5 + 2) % (n)))) as usize]) as i32) | ((e2) as i32)))) as u64);
        v3 = v3.bitand(v3);
        s1[((t * 1 + 0) % 32) as usize] = (((if ((((t - t)) as u64).wrapping_add(v3).wrapping_rem((((-8i64)) as u64)) >= (v3).wrapping_neg()) { v3 } else { (((((if (v3 > ((z[((0) * (n) + ((((z[((0) * (n) + ((b * 32 + t))) as usize]) as u32) as i64 % (n)))) as usize]) as u64)) { z[((0) * (n) + ((((b * 32 + t) * 5 + 2) % (n)))) as usize] } else { (((100i64)) as i16) })) as i32).wrapping_mul((if ((a + e2) < (9i64)) { ((((0i64) + (b * 32 + t))) as i32) } else { ((z[((0) * (n) + ((((b * 32 + t) * 3 + 0) % (n)))) as usize]) as i32) }))) as u64) })) as u32);
      } else {
        s1[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    let mut s4 = vec![0 as u8; 32];
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v5: i32 = ((((x[((0) * (n) + ((((b * 32 + t) * 5 + 0) % (n)))) as usize].wrapping_add((((100i64)) as u8))) as u32).wrapping_sub(((x[((0) * (n) + ((((b * 32 + t) * 1 + 11) % (n)))) as usize]) as u32).wrapping_sub(s1[((0) * (32) + (t)) as usize]))) as i32);
        s4[((t * 1 + 0) % 32) as usize] = (((((v5) as u32)).max(((v5) as u32)).wrapping_shl(((((if (t >= t) { v5 } else { (((3i64)) as i32) }).wrapping_rem(((v5 | (((if (a <= a) { (b * 32 + t) } else { b })) as i32)) | 1))) as u32) & 31))) as u8);
      } else {
        s4[((t * 1 + 0) % 32) as usize] = 7;
      }
    }
    for t in 0..32i64 {
      if b * 32 + t < n {
        let mut v6: u32 = (((z[((0) * (n) + (((t * 3 + 0) % (n)))) as usize].wrapping_sub(((x[((0) * (n) + (((t * 3 + 0) % (n)))) as usize]) as i16)) ^ (((x[((0) * (n) + (((b * 1 + 0) % (n)))) as usize]).wrapping_neg()) as i16))) as u32);
        let e7: i64 = ((a).min(t) * 2);
        v6 = v6.wrapping_sub(((z[((0) * (n) + (((t * 3 + 2) % (n)))) as usize]) as u32));
        y[(b * 32 + t) as usize] = ((((((((v6.wrapping_mul(v6)) as i32)).min(((v6.wrapping_shl(25)) as i32))) as u8)).min(((v6.wrapping_shl(18).wrapping_sub(v6.wrapping_rem(((((z[((0) * (n) + (((t * 5 + 0) % (n)))) as usize]) as u32) | v6) | 1)))) as u8))) as u64);
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
        if ((((x[((0) * (n) + ((((b * 128 + t) * 3 + 2) % (n)))) as usize].wrapping_mul(x[((0) * (n) + ((b * 128 + t))) as usize])).wrapping_neg()) as i32) <= ((x[((0) * (n) + ((((b * 128 + t) * 3 + 0) % (n)))) as usize].wrapping_mul(x[((0) * (n) + ((((b * 128 + t) * 3 + 1) % (n)))) as usize])) as i32).wrapping_add(z[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize].wrapping_add(z[((0) * (n) + ((((b * 128 + t) * 5 + 0) % (n)))) as usize]))) {
          let mut m2 = [0 as u64; 8];
          for i3 in 0..8 { m2[i3] = ((z[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize].wrapping_shr(6)) as u64); }
        } else {
          if (((z[((0) * (n) + ((((b * 128 + t) * 1 + 1) % (n)))) as usize].wrapping_sub(((x[((0) * (n) + ((((b * 128 + t) * 5 + 1) % (n)))) as usize]) as i32)).wrapping_shl(((((((t * 7)) as i8)) as u32) & 31))) as u32) == ((x[((0) * (n) + ((b * 128 + t))) as usize]) as u32).wrapping_add((((1i64)) as u32))) {
            let mut v4: u8 = (((z[((0) * (n) + ((b * 128 + t))) as usize].wrapping_sub(z[((0) * (n) + ((b * 128 + t))) as usize])).wrapping_neg()) as u8);
            let mut m5 = [0 as u32; 2];
            for i6 in 0..2 { m5[i6] = ((((x[((0) * (n) + ((b * 128 + t))) as usize]) as i32).wrapping_add(z[((0) * (n) + ((((v4) as u32) as i64 % (n)))) as usize])) as u32); }
          } else {
            let mut v7: u16 = ((x[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize]) as u16);
            v7 = (((b - (b * 128 + t))) as u16);
          }
          let mut w8: i32 = (((x[((0) * (n) + ((((b * 128 + t) * 1 + 1) % (n)))) as usize]).wrapping_neg().wrapping_shr(5)) as i32) & 7;
          while w8 > 0 && ((((x[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize] | x[((0) * (n) + ((b * 128 + t))) as usize])) as i32) == (if (z[((0) * (n) + ((((b * 128 + t) * 3 + 2) % (n)))) as usize] <= ((x[((0) * (n) + ((((b * 128 + t) * 3 + 0) % (n)))) as usize]) as i32)) { ((x[((0) * (n) + ((((b * 128 + t) * 5 + 2) % (n)))) as usize]) as i32) } else { z[((0) * (n) + ((((b * 128 + t) * 3 + 0) % (n)))) as usize] })) {
            w8 = w8 - 1;
            let mut v9: u64 = ((z[((0) * (n) + ((b * 128 + t))) as usize].wrapping_sub((((13i64)) as i32))) as u64);
            v9 = v9.bitand((((((v9) as i16)).min((((!z[((0) * (n) + ((b * 128 + t))) as usize])) as i16))) as u64));
          }
        }
        let e10: i64 = (((5i64) - (b * 128 + t)) - (b * 128 + t));
        let mut m11 = [0 as i16; 4];
        for i12 in 0..4 { m11[i12] = ((((x[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize]) as i32).wrapping_add(z[((0) * (n) + ((((b * 128 + t) * 1 + 11) % (n)))) as usize])) as i16); }
        s1[((t * 31 + 1) % 128) as usize] = z[((0) * (n) + ((b * 128 + t))) as usize];
      } else {
        s1[((t * 31 + 1) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v13: i8 = ((z[((0) * (n) + (((t * 3 + 11) % (n)))) as usize].wrapping_shr((((z[((0) * (n) + (((b * 1 + 2) % (n)))) as usize]) as u32) & 31)).wrapping_shr(((((((x[((0) * (n) + (((b * 1 + 11) % (n)))) as usize]) as i8)).min(((s1[((0) * (128) + (((t * 3 + 0) % (128)))) as usize]) as i8))) as u32) & 31))) as i8);
        let mut m14 = [0 as i16; 2];
        for i15 in 0..2 { m14[i15] = (((v13).wrapping_neg()) as i16); }
        y[(b * 128 + t) as usize] = (((-1i64)) as u8);
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
        v2 = v2.wrapping_div((((2i64)) as u32)).wrapping_rem(((((x[((0) * (n) + ((v2 as i64 % (n)))) as usize] ^ x[((0) * (n) + ((v2 as i64 % (n)))) as usize]) | 1)) as u32)).wrapping_div((((-3i64)) as u32));
        s1[((t * 1 + 1) % 128) as usize] = ((((((((v2) as i16)).max(((x[((0) * (n) + ((((x[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as i16))) as u32).wrapping_sub((!v2))).wrapping_neg()) as i8);
      } else {
        s1[((t * 1 + 1) % 128) as usize] = 7;
      }
    }
    let mut s3 = vec![0 as i32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut w4: i32 = (!((s1[((0) * (128) + (t)) as usize]) as i32).wrapping_mul(z[((0) * (n) + ((((b * 128 + t) * 1 + 11) % (n)))) as usize])) & 7;
        while w4 > 0 && (b >= (b * 128 + t)) {
          w4 = w4 - 1;
          let mut w5: i32 = (((!x[((0) * (n) + ((b * 128 + t))) as usize].wrapping_div((((7i64)) as i8)))) as i32) & 7;
          while w5 > 0 && (((s1[((0) * (128) + (((t * 1 + 2) % (128)))) as usize].wrapping_sub(x[((0) * (n) + ((b * 128 + t))) as usize])) as i32) > z[((0) * (n) + ((((b * 128 + t) * 1 + 11) % (n)))) as usize].wrapping_add(z[((0) * (n) + ((((b * 128 + t) * 5 + 0) % (n)))) as usize])) {
            w5 = w5 - 1;
            let mut m6 = [0 as u64; 2];
            for i7 in 0..2 { m6[i7] = ((((t) as i32).wrapping_mul(((x[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize]) as i32))) as u64); }
          }
        }
        let mut v9: u8 = (((((((z[((0) * (n) + ((((b * 128 + t) * 5 + 0) % (n)))) as usize]) as i16)).max(((x[((0) * (n) + ((b * 128 + t))) as usize]) as i16))) as i32).wrapping_add((if ((b * 2) > b) { z[((0) * (n) + ((((b * 128 + t) * 5 + 0) % (n)))) as usize] } else { ((s1[((0) * (128) + (((t * 1 + 0) % (128)))) as usize]) as i32) }))) as u8);
        s3[((t * 3 + 0) % 128) as usize] = (((((x[((0) * (n) + ((((b * 128 + t) * 1 + 2) % (n)))) as usize].wrapping_shl(4)) as u16)).min(((z[((0) * (n) + ((((v9.wrapping_sub((((0i64)) as u8))) as u32) as i64 % (n)))) as usize]) as u16))) as i32);
      } else {
        s3[((t * 3 + 0) % 128) as usize] = 7;
      }
    }
    let mut s10 = vec![0 as u64; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut m11 = [0 as u64; 2];
        for i12 in 0..2 { m11[i12] = ((x[((0) * (n) + ((((b * 128 + t) * 3 + 0) % (n)))) as usize].wrapping_rem((((16i64)) as i8))) as u64); }
        for i13 in 0..2i64 {
          let e14: i64 = (((b * 128 + t) % 2)).min((0i64));
          for i15 in 0..16i64 {
            let e16: i64 = ((if (b < (b * 128 + t)) { i15 } else { b })).min(i15);
          }
          for i17 in 0..4i64 {
            let mut v18: i16 = ((((s1[((0) * (128) + (t)) as usize]) as i32).wrapping_mul((((t / 7)) as i32)).wrapping_shr(31)) as i16);
          }
        }
        s10[((t * 1 + 0) % 128) as usize] = (((65535i64)) as u64);
      } else {
        s10[((t * 1 + 0) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut w19: i32 = ((x[((0) * (n) + (((b * 3 + 11) % (n)))) as usize]) as i32) & 7;
        while w19 > 0 && (((t / 4) != a) || (((2i64)).min(t) >= b)) {
          w19 = w19 - 1;
          for i20 in 0..2i64 {
            let mut v21: i16 = (((((x[((0) * (n) + (((i20 * 5 + 0) % (n)))) as usize]) as i32) & s3[((0) * (128) + (t)) as usize])) as i16);
            let mut v22: i16 = (((((z[((0) * (n) + ((((s10[((0) * (128) + (t)) as usize]) as u32) as i64 % (n)))) as usize]) as u64) & s10[((0) * (128) + ((((z[((0) * (n) + (((t * 5 + 1) % (n)))) as usize]) as u32) as i64 % (128)))) as usize]).wrapping_add((((v21 & ((x[((0) * (n) + (((t * 5 + 2) % (n)))) as usize]) as i16))) as u64))) as i16);
            v21 = (((((b / 2)) as i32).wrapping_sub((((((s3[((0) * (128) + (((t * 3 + 2) % (128)))) as usize]) as u16)).min(((s10[((0) * (128) + (((t * 1 + 0) % (128)))) as usize]) as u16))) as i32)).wrapping_add(((s1[((0) * (128) + (t)) as usize]) as i32))) as i16);
          }
        }
        let mut v23: i32 = (((!s1[((0) * (128) + (((t * 3 + 2) % (128)))) as usize].wrapping_add(s1[((0) * (128) + (((t * 5 + 1) % (128)))) as usize]))) as i32);
        y[(b * 128 + t) as usize] = (((((s3[((0) * (128) + (((t * 5 + 2) % (128)))) as usize]) as i16)).max(((z[((0) * (n) + (((t * 1 + 1) % (n)))) as usize].wrapping_mul(v23)) as i16)).wrapping_add((((127i64)) as i16))) as i8);
      }
    }
  }
  y
}

fn program_23(x: &[i16], z: &[u8], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m * n) as usize];
  for p in 0..m {
    let mut v1: i32 = (((((z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as u16)).max(((x[(((0) * (m) + (((p * 3 + 0) % (m)))) * (n) + (((p * 3 + 1) % (n)))) as usize]) as u16)).wrapping_add(((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]) as u16))) as i32);
    v1 = (if (((a < a) && (x[(((0) * (m) + (((p * 3 + 11) % (m)))) * (n) + (((p * 3 + 2) % (n)))) as usize] != ((z[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]) as i16))) || ((a * 7) <= p)) { ((if ((p % 4) >= a) { v1 } else { v1 })).min(v1.wrapping_div((((-3i64)) as i32))) } else { (if ((v1).wrapping_neg() <= ((((x[(((0) * (m) + (((p * 3 + 11) % (m)))) * (n) + (((p * 1 + 11) % (n)))) as usize]) as u16)) as i32)) { v1.wrapping_add((((0i64)) as i32)) } else { v1.wrapping_add((((5i64)) as i32)) }) });
    v1 = v1.wrapping_sub((if (((z[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]) as i32) == v1) { v1 } else { v1 }).wrapping_add((((if (p <= a) { a } else { (-1i64) })) as i32)));
    for j in 0..n {
      let mut v2: u8 = ((x[(p * n + j) as usize]) as u8);
      y[(p * n + j) as usize] = (((-7i64)) as u64);
    }
  }
  y
}

fn program_24(x: &[u32], z: &[i16], a: i64, m: i64, n: i64) -> Vec<u64> {
  let mut y = vec![0 as u64; (m) as usize];
  for r in 0..(m + 15) / 16 {
    
    
    for i in 0..16i64 { if r * 16 + i < m {
      let mut v1: u32 = (((z[((0) * (n) + (((i * 5 + 11) % (n)))) as usize]) as u32).wrapping_add(x[(((0) * (m) + (((i * 1 + 1) % (m)))) * (n) + (((i * 1 + 1) % (n)))) as usize]) ^ (((((x[(((0) * (m) + (((i * 5 + 1) % (m)))) * (n) + (((i * 1 + 0) % (n)))) as usize]) as i8)).max(((x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]) as i8))) as u32));
      for k in 0..((n + 15) / 16) {
        let here = (0..256i64).map(|e| { let (r, c) = (r * 16 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as u32 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          v1 = (((((-128i64)) as u16)) as u32);
          if !(((v1 != (((128i64)) as u32)) || (here[(((0) * (16) + (j)) * (16) + (i)) as usize] > v1))) {
            v1 = v1;
          } else {
            v1 = (((k + k)) as u32);
            v1 = v1.bitand(v1.wrapping_sub(v1).wrapping_rem(((v1 ^ ((k) as u32)) | 1)));
          }
          let e2: i64 = ((a + k) * 3);
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = (((a - a)) as u64);
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
        let mut v1: i64 = ((((tile[(((0) * (16) + (((i * 5 + 1) % (16)))) * (32) + (((j * 1 + 2) % (32)))) as usize].wrapping_mul((((-1i64)) as i8))) as u16).wrapping_sub((((0i64)) as u16).wrapping_sub(z[((0) * (n) + (((j * 5 + 0) % (n)))) as usize]))) as i64);
        v1 = v1.wrapping_add((((i - j)) as i64));
        y[((br * 16 + i) * n + bc * 32 + j) as usize] = (((((v1.wrapping_div(((v1 | v1) | 1))) as i8)).min(((z[((0) * (n) + (((j * 5 + 2) % (n)))) as usize]) as i8)).wrapping_shl(((((((z[((0) * (n) + (((i * 3 + 2) % (n)))) as usize]) as i64) | v1).wrapping_shl((((v1.wrapping_sub(v1)) as u32) & 63))) as u32) & 7))) as u64);
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
        s1[((t * 3 + 0) % 128) as usize] = (x[((0) * (n) + ((b * 128 + t))) as usize]).wrapping_neg().wrapping_shl(((((if ((t - a) <= (1i64)) { x[((0) * (n) + ((((b * 128 + t) * 3 + 11) % (n)))) as usize] } else { ((z[((0) * (n) + ((b * 128 + t))) as usize]) as u64) }).wrapping_add((((1i64)) as u64))) as u32) & 63));
      } else {
        s1[((t * 3 + 0) % 128) as usize] = 7;
      }
    }
    let mut s5 = vec![0 as u32; 128];
    for t in 0..128i64 {
      if b * 128 + t < n {
        let mut v6: u16 = (((s1[((0) * (128) + (((t * 5 + 0) % (128)))) as usize].wrapping_div(((s1[((0) * (128) + (t)) as usize] | ((z[((0) * (n) + ((b * 128 + t))) as usize]) as u64)) | 1))).wrapping_neg()) as u16);
        let mut m7 = [0 as u8; 2];
        for i8 in 0..2 { m7[i8] = ((v6.wrapping_shl(13)) as u8); }
        v6 = (((3000000000i64)) as u16);
        s5[((t * 31 + 7) % 128) as usize] = ((((v6.wrapping_mul(v6).wrapping_sub(v6.wrapping_add(v6))) as i8)) as u32);
      } else {
        s5[((t * 31 + 7) % 128) as usize] = 7;
      }
    }
    for t in 0..128i64 {
      if b * 128 + t < n {
        if !((((z[((0) * (n) + (((t * 5 + 0) % (n)))) as usize].wrapping_div((((-3i64)) as i16))) as u32) <= s5[((0) * (128) + (t)) as usize].wrapping_sub(((z[((0) * (n) + (((b * 3 + 0) % (n)))) as usize]) as u32)))) {
          let mut v9: i64 = (((if (x[((0) * (n) + (((t * 3 + 11) % (n)))) as usize] < (((a % 2)) as u64)) { ((z[((0) * (n) + (((b * 3 + 2) % (n)))) as usize]) as u64) } else { s1[((0) * (128) + (((t * 5 + 11) % (128)))) as usize] }).wrapping_sub(((((z[((0) * (n) + (((t * 3 + 1) % (n)))) as usize]) as u32)) as u64))) as i64);
        }
        let mut m10 = [0 as u64; 4];
        for i11 in 0..4 { m10[i11] = x[((0) * (n) + (((t * 5 + 11) % (n)))) as usize].wrapping_sub(((z[((0) * (n) + (((t * 1 + 11) % (n)))) as usize]) as u64)); }
        if !(((t % 7) <= t)) {
          let mut v12: u32 = ((((m10[((0) * (4) + (((t * 5 + 0) % (4)))) as usize]) as i32).wrapping_rem((((16i64)) as i32))) as u32);
          for i13 in 0..3i64 {
            v12 = (((if ((a + b) != (5i64)) { (((-3000000000i64)) as i64) } else { (((((if (v12 >= (((3i64)) as u32)) { (((64i64)) as i16) } else { z[((0) * (n) + ((s5[((0) * (128) + (t)) as usize] as i64 % (n)))) as usize] })) as u32).wrapping_div(((v12 | ((i13) as u32)) | 1))) as i64) })) as u32);
          }
        }
        y[(b * 128 + t) as usize] = (((((x[((0) * (n) + (((t * 1 + 1) % (n)))) as usize].wrapping_mul((((a + b)) as u64)).wrapping_mul((((((x[((0) * (n) + (((b * 5 + 11) % (n)))) as usize]) as i32)).min(((z[((0) * (n) + (((t * 5 + 1) % (n)))) as usize]) as i32))) as u64))) as u16)).min((((!(!z[((0) * (n) + (((b * 5 + 2) % (n)))) as usize]))) as u16))) as u64);
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
    if ((((a) as u32).wrapping_add(m1[((0) * (4) + (((p * 5 + 0) % (4)))) as usize]) != ((z[((0) * (n) + (((p * 3 + 0) % (n)))) as usize].wrapping_shr(7)) as u32)) && (((x[((0) * (n) + (p)) as usize]) as u32).wrapping_sub(m1[((0) * (4) + (((p * 1 + 0) % (4)))) as usize]) < ((x[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as u32))) {
      let mut v3: u32 = (((!(((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as i32)).min(((m1[((0) * (4) + (((p * 5 + 0) % (4)))) as usize]) as i32)))) as u32);
      v3 = (((z[((0) * (n) + (((p * 1 + 0) % (n)))) as usize] ^ (((65535i64)) as u16))) as u32).wrapping_add(((z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize].wrapping_shl((((z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as u32) & 15))) as u32).wrapping_sub((if (p != p) { m1[((0) * (4) + (((p * 5 + 1) % (4)))) as usize] } else { v3 })));
    } else {
      let mut v4: u16 = (((!(m1[((0) * (4) + (((p * 1 + 0) % (4)))) as usize]).min(m1[((0) * (4) + (((p * 1 + 2) % (4)))) as usize]))) as u16);
    }
    y[(p) as usize] = ((((1i64) - p)) as i64);
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
            v3 = v3.wrapping_add(v3);
            v3 = ((((v3) as u64).wrapping_sub(((((i4) as i32).wrapping_sub(((z[((0) * (n) + (((i4 * 3 + 1) % (n)))) as usize]) as i32))) as u64).wrapping_sub(((v3) as u64)))) as i8);
          }
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((5i64)) as i64);
      }
    } }
  } }
  y
}

fn program_29(x: &[i8], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i32> {
  let mut y = vec![0 as i32; (m) as usize];
  for r in 0..(m + 31) / 32 {
    
    
    for i in 0..32i64 { if r * 32 + i < m {
      let mut v1: u8 = ((((a) as u64).wrapping_add(((x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize]) as u64).wrapping_sub(z[((0) * (n) + (((i * 3 + 0) % (n)))) as usize]))) as u8);
      for k in 0..((n + 31) / 32) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 32 + e / 32, k * 32 + e % 32); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i8 } }).collect::<Vec<_>>();
        
        for j in 0..32i64 {
          v1 = ((((v1) as u16).wrapping_mul(((x[(((0) * (m) + (((k * 5 + 11) % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize]) as u16))) as u8);
          v1 = ((((v1) as u64).bitor((((v1 | v1)) as u64).wrapping_div(((((v1) as u64) & z[((0) * (n) + (((k * 3 + 1) % (n)))) as usize]) | 1)))) as u8);
        }
        
      }
      
      {
        y[(r * 32 + i) as usize] = (((if (((v1) as i64) <= (((-3000000000i64)) as i64)) { v1 } else { v1 })) as i32);
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
        let mut v1: u32 = (((z[((0) * (n) + (((i * 1 + 1) % (n)))) as usize] | ((tile[(((0) * (8) + (((i * 1 + 1) % (8)))) * (16) + (j)) as usize]) as i32)).wrapping_mul((((255i64)) as i32))) as u32);
        for i2 in 0..16i64 {
          let mut m3 = [0 as u64; 2];
          for i4 in 0..2 { m3[i4] = ((v1.wrapping_rem(((((((x[(((0) * (m) + ((((z[((0) * (n) + ((((x[(((0) * (m) + (((i2 * 3 + 1) % (m)))) * (n) + ((v1 as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + (((i2 * 1 + 2) % (n)))) as usize]) as i32) ^ z[((0) * (n) + (((i2 * 5 + 2) % (n)))) as usize]) | 1)) as u32))) as u64); }
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((((if (i == j) { i } else { a })) as u32).wrapping_sub(v1).wrapping_add(((x[(((0) * (m) + (((i * 3 + 1) % (m)))) * (n) + (((j * 3 + 2) % (n)))) as usize].wrapping_sub(x[(((0) * (m) + ((v1 as i64 % (m)))) * (n) + (((i * 3 + 11) % (n)))) as usize])) as u32)).wrapping_sub((if ((v1 > v1) && ((i - a) == j)) { v1.wrapping_shr(3) } else { (((z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize] | (((a * 3)) as i32))) as u32) }))) as i16);
      }
    } }
  } }
  y
}

fn program_31(x: &[i32], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (n) as usize];
  for p in 0..n {
    for i1 in 0..2i64 {
      let mut v2: u8 = (((((x[((0) * (n) + (((p * 3 + 2) % (n)))) as usize]) as i8)).min(((((x[((0) * (n) + (p)) as usize]) as u16)) as i8))) as u8);
    }
    for i3 in 0..8i64 {
      let mut m4 = [0 as u16; 8];
      for i5 in 0..8 { m4[i5] = (((((z[((0) * (n) + (((p * 5 + 2) % (n)))) as usize]) as i32) | (((128i64)) as i32))) as u16); }
      let mut v6: i8 = ((((z[((0) * (n) + (((p * 5 + 0) % (n)))) as usize]) as i32).wrapping_mul(((((9i64)).min(a)) as i32)).wrapping_add((((m4[((0) * (8) + (((i3 * 5 + 2) % (8)))) as usize]) as i32) & (((-7i64)) as i32)))) as i8);
    }
    let mut v7: u8 = (((if !((x[((0) * (n) + (p)) as usize] >= ((z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize]) as i32))) { (((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]).wrapping_neg()) as u64) } else { ((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize]) as u64) })) as u8);
    for i8 in 0..16i64 {
      let mut w9: i32 = ((v7.wrapping_shl(1).wrapping_shr(7)) as i32) & 7;
      while w9 > 0 && ((if (a < i8) { a } else { p }) >= (9i64)) {
        w9 = w9 - 1;
        v7 = ((((v7) as i32).bitor(x[((0) * (n) + (((p * 1 + 0) % (n)))) as usize])) as u8);
        for i10 in 0..4i64 {
          let e12: i64 = (((-4i64) + p) / 7);
          for i13 in 0..4i64 {
            v7 = v7.wrapping_mul((((((9i64)) as i8).wrapping_add(z[((0) * (n) + (p)) as usize])) as u8));
          }
        }
      }
    }
    let mut v14: u64 = (((if (p < (1i64)) { (!x[((0) * (n) + ((((v7) as u32) as i64 % (n)))) as usize]) } else { ((v7) as i32).wrapping_add(x[((0) * (n) + ((((z[((0) * (n) + (p)) as usize]) as u32) as i64 % (n)))) as usize]) })) as u64);
    let e15: i64 = (a + (a / 7));
    y[(p) as usize] = (((((2i64)) as u64).wrapping_add(v14).wrapping_rem(((v14 & (((-3000000000i64)) as u64)) | 1)).wrapping_sub((v14 & ((z[((0) * (n) + (((p * 3 + 2) % (n)))) as usize]) as u64)).wrapping_sub((((v7).wrapping_neg()) as u64)))) as i64);
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
          if ((((x[(((0) * (m) + (((j * 5 + 1) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]) as u32)).max(((x[(((0) * (m) + (((j * 3 + 11) % (m)))) * (n) + (((j * 5 + 0) % (n)))) as usize].wrapping_sub(((z[((0) * (n) + (((j * 1 + 2) % (n)))) as usize]) as i32))) as u32)) < (((x[(((0) * (m) + (((i * 5 + 0) % (m)))) * (n) + (((j * 1 + 2) % (n)))) as usize] | (x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + (((j * 5 + 1) % (n)))) as usize] ^ (((0i64)) as i32)))) as u32)) {
            let mut v1: u16 = (((!(!tile[(((0) * (8) + (((i * 1 + 11) % (8)))) * (16) + (j)) as usize]))) as u16);
            v1 = (((((j - j)) as i32).wrapping_sub(x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((i * 3 + 2) % (n)))) as usize].wrapping_sub(((v1) as i32))).wrapping_add((((!v1).wrapping_shr((((v1.wrapping_sub(v1)) as u32) & 15))) as i32))) as u16);
          } else {
            let mut v2: i16 = ((tile[(((0) * (8) + (((i * 1 + 2) % (8)))) * (16) + (((j * 3 + 11) % (16)))) as usize].wrapping_sub(((z[((0) * (n) + (((i * 5 + 2) % (n)))) as usize]) as i32)).wrapping_shl((((((z[((0) * (n) + (((i * 3 + 1) % (n)))) as usize]) as i32).wrapping_mul(x[(((0) * (m) + (((j * 5 + 0) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize])) as u32) & 31))) as i16);
          }
        } else {
          let mut m3 = [0 as i8; 2];
          for i4 in 0..2 { m3[i4] = ((((j) as u64)) as i8); }
          let mut v5: i8 = (((((m3[((0) * (2) + (((j * 1 + 1) % (2)))) as usize]) as i32) | tile[(((0) * (8) + (((i * 1 + 0) % (8)))) * (16) + (j)) as usize]).wrapping_div((((3i64)) as i32))) as i8);
        }
        y[((br * 8 + i) * n + bc * 16 + j) as usize] = (((((((-1i64)) as u16)) as i64)) as i32);
      }
    } }
  } }
  y
}

fn program_33(x: &[i32], z: &[u64], a: i64, m: i64, n: i64) -> Vec<i16> {
  let mut y = vec![0 as i16; (n) as usize];
  for p in 0..n {
    if (((((x[((0) * (n) + (p)) as usize] ^ x[((0) * (n) + (((p * 1 + 2) % (n)))) as usize])) as u64) | z[((0) * (n) + (p)) as usize].wrapping_sub(((x[((0) * (n) + (p)) as usize]) as u64))) <= (z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]).wrapping_neg().wrapping_shl(52)) {
      if (((if ((a).min(p) > a) { x[((0) * (n) + (p)) as usize] } else { x[((0) * (n) + (((p * 3 + 0) % (n)))) as usize] }) ^ x[((0) * (n) + (p)) as usize]) == (x[((0) * (n) + (((p * 3 + 2) % (n)))) as usize] | x[((0) * (n) + (p)) as usize].wrapping_div(((x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize] ^ x[((0) * (n) + (p)) as usize]) | 1)))) {
        for i1 in 0..3i64 {
          let mut v2: i16 = ((((if (z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize] >= z[((0) * (n) + (((p * 3 + 1) % (n)))) as usize]) { ((x[((0) * (n) + (((p * 1 + 0) % (n)))) as usize]) as u64) } else { z[((0) * (n) + (p)) as usize] })).wrapping_neg()) as i16);
          let mut v3: i8 = (((v2 ^ v2).wrapping_rem((((255i64)) as i16))) as i8);
        }
        let mut v4: u64 = (((x[((0) * (n) + (((p * 3 + 2) % (n)))) as usize]).wrapping_neg().wrapping_rem((((7i64)) as i32))) as u64);
      } else {
        let mut v5: i8 = ((((((z[((0) * (n) + (((p * 1 + 11) % (n)))) as usize]).min(((x[((0) * (n) + (p)) as usize]) as u64))) as u8)).min((((((255i64)) as i16)) as u8))) as i8);
        v5 = ((p) as i8);
      }
      let e6: i64 = p;
    }
    let mut w7: i32 = (((if ((1i64) < (1i64)) { z[((0) * (n) + (((p * 3 + 0) % (n)))) as usize] } else { z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize] }).wrapping_add((((x[((0) * (n) + (((p * 1 + 2) % (n)))) as usize]).wrapping_neg()) as u64))) as i32) & 7;
    while w7 > 0 && ((((((x[((0) * (n) + (p)) as usize]) as i16)).max(((x[((0) * (n) + (((p * 3 + 2) % (n)))) as usize]) as i16))) as i32) < (((if (a <= p) { a } else { (1i64) })) as i32)) {
      w7 = w7 - 1;
      let mut v8: u64 = (((p / 2)) as u64).wrapping_mul((z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize]).wrapping_neg());
      v8 = v8.wrapping_mul(v8).wrapping_rem((((16i64)) as u64)).wrapping_shr(12);
    }
    let e9: i64 = ((p - p) * 7);
    let e10: i64 = (p % 7);
    y[(p) as usize] = (((((x[((0) * (n) + (p)) as usize]) as u64).wrapping_rem(((z[((0) * (n) + (((p * 3 + 11) % (n)))) as usize] & (((e9 * 3)) as u64)) | 1)).wrapping_rem(((((x[((0) * (n) + (((p * 5 + 0) % (n)))) as usize] ^ x[((0) * (n) + (p)) as usize]) | 1)) as u64)) | z[((0) * (n) + (((p * 1 + 1) % (n)))) as usize])) as i16);
  }
  y
}

fn program_34(x: &[i16], z: &[i32], a: i64, m: i64, n: i64) -> Vec<u16> {
  let mut y = vec![0 as u16; (m) as usize];
  for r in 0..(m + 63) / 64 {
    
    
    for i in 0..64i64 { if r * 64 + i < m {
      let mut v1: u8 = ((((((x[(((0) * (m) + (((i * 1 + 0) % (m)))) * (n) + (((i * 1 + 11) % (n)))) as usize] | (((5i64)) as i16))) as u64)).max(((z[((0) * (n) + (((i * 5 + 1) % (n)))) as usize].wrapping_add(((x[(((0) * (m) + (((i * 1 + 11) % (m)))) * (n) + (((i * 3 + 1) % (n)))) as usize]) as i32))) as u64))) as u8);
      for k in 0..((n + 15) / 16) {
        let here = (0..1024i64).map(|e| { let (r, c) = (r * 64 + e / 16, k * 16 + e % 16); if r < m && c < n { x[(r * n + c) as usize] } else { 0 as i16 } }).collect::<Vec<_>>();
        
        for j in 0..16i64 {
          v1 = ((((((if !((x[(((0) * (m) + ((((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + (((k * 1 + 2) % (n)))) as usize] == ((v1) as i16))) { (((64i64)) as i16).wrapping_add(here[(((0) * (64) + ((((v1) as u32) as i64 % (64)))) * (16) + (((j * 3 + 2) % (16)))) as usize]) } else { (here[(((0) * (64) + (((i * 1 + 1) % (64)))) * (16) + (j)) as usize] | (((127i64)) as i16)) })) as u64)).min((((if ((((v1) as i32) <= z[((0) * (n) + ((((here[(((0) * (64) + (i)) * (16) + (((j * 5 + 0) % (16)))) as usize]) as u32) as i64 % (n)))) as usize]) || ((if (j < a) { k } else { (1i64) }) >= i)) { (((v1) as i16)).min(((v1) as i16)) } else { ((v1.wrapping_add(v1)) as i16) })) as u64))) as u8);
          let mut m2 = [0 as i64; 8];
          for i3 in 0..8 { m2[i3] = ((here[(((0) * (64) + (i)) * (16) + ((((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (16)))) as usize].wrapping_add(((v1) as i16))) as i64); }
        }
        
      }
      
      {
        y[(r * 64 + i) as usize] = (((((v1) as i32).wrapping_add((((1000i64)) as i32))) as u16)).max((((((v1) as i16)).max(x[(((0) * (m) + (((i * 3 + 11) % (m)))) * (n) + (((i * 1 + 2) % (n)))) as usize])) as u16)).wrapping_mul((((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u16)).max(((v1) as u16)).wrapping_shr(11));
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
      if (((j != e3) && (x[(((0) * (m) + ((((x[(((0) * (m) + (p)) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + (j)) as usize] == x[(((0) * (m) + (((p * 1 + 1) % (m)))) * (n) + (((j * 5 + 11) % (n)))) as usize])) || (((if (p != (9i64)) { e3 } else { j }) >= (1i64)) || ((1i64) <= j))) {
        let e4: i64 = (((5i64) + a)).max((p % 2));
        v1 = ((z[((0) * (n) + ((((z[((0) * (n) + (((j * 1 + 11) % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as u8).wrapping_mul(v1).wrapping_shl(((((((x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + (j)) as usize]) as i16)).min(((x[(((0) * (m) + (p)) * (n) + (((j * 3 + 0) % (n)))) as usize]) as i16))) as u32) & 7)).wrapping_shr((((v1) as u32) & 7));
      }
      v2 = (((x[(((0) * (m) + (p)) * (n) + ((((x[(((0) * (m) + (p)) * (n) + (j)) as usize]) as u32) as i64 % (n)))) as usize] & (((((((z[((0) * (n) + (((j * 5 + 2) % (n)))) as usize]) as u8)).max(v1)) as i32)) as u64))) as u32);
      y[(p * n + j) as usize] = (((((((v2.wrapping_mul(((z[((0) * (n) + (j)) as usize]) as u32))) as i16)) as u64) & (((z[((0) * (n) + (((j * 3 + 0) % (n)))) as usize]) as u64) ^ x[(((0) * (m) + (p)) * (n) + (j)) as usize]).wrapping_shl((((x[(((0) * (m) + (((p * 5 + 1) % (m)))) * (n) + (((j * 1 + 11) % (n)))) as usize].wrapping_div((((2i64)) as u64))) as u32) & 63)))) as u16);
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
          v1 = ((((v1) as u16).wrapping_mul((((here[(((0) * (16) + (((j * 3 + 1) % (16)))) * (16) + ((((here[(((0) * (16) + ((((z[((0) * (n) + ((((here[(((0) * (16) + ((((v1) as u32) as i64 % (16)))) * (16) + (((j * 1 + 1) % (16)))) as usize]) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (16)))) * (16) + (j)) as usize]) as u32) as i64 % (16)))) as usize]) as u16)).min(((x[(((0) * (m) + (((i * 3 + 0) % (m)))) * (n) + (((k * 1 + 2) % (n)))) as usize]) as u16)).wrapping_sub(((v1) as u16)))) as i8);
          let mut v2: i64 = ((v1.wrapping_add(v1).wrapping_div(((v1 & (((-2i64)) as i8)) | 1))) as i64);
          let e3: i64 = j;
        }
        
      }
      
      {
        y[(r * 16 + i) as usize] = (((x[(((0) * (m) + (((i * 5 + 11) % (m)))) * (n) + (((i * 5 + 1) % (n)))) as usize] & ((v1) as u64)).wrapping_shr(45).wrapping_sub((((!(!v1))) as u64))) as i8);
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
      if (!((a < (2i64))) && ((v1 < v1) && (a != a))) {
        v1 = (((x[((0) * (n) + (p)) as usize]).wrapping_neg()) as i32);
        let mut v2: i32 = v1.wrapping_sub(v1);
      }
    }
    v1 = ((z[((0) * (n) + (p)) as usize]) as i32);
    if (((p) as i32).wrapping_sub(v1).wrapping_add((((((x[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u8)).max(z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize])) as i32)) > (if (v1 >= v1) { v1 } else { v1 }).wrapping_sub(v1.wrapping_sub(v1))) {
      let mut m3 = [0 as u16; 2];
      for i4 in 0..2 { m3[i4] = (((((127i64)) as u8).wrapping_mul(z[((0) * (n) + (p)) as usize])) as u16); }
    }
    y[(p) as usize] = (((-2i64)) as u8);
  }
  y
}

fn program_38(x: &[u64], z: &[i8], a: i64, m: i64, n: i64) -> Vec<i64> {
  let mut y = vec![0 as i64; (m * n) as usize];
  for p in 0..m {
    let mut v1: i16 = ((((z[((0) * (n) + (((p * 5 + 11) % (n)))) as usize]) as i32).wrapping_shl(27)) as i16);
    let mut w2: i32 = (((if ((((-1i64)) as u16) > (((1i64)) as u16)) { (!x[(((0) * (m) + (p)) * (n) + (((p * 5 + 0) % (n)))) as usize]) } else { (((13i64)) as u64) })) as i32) & 7;
    while w2 > 0 && ((p <= (-4i64)) && (x[(((0) * (m) + ((((v1) as u32) as i64 % (m)))) * (n) + ((((z[((0) * (n) + (((p * 5 + 1) % (n)))) as usize]) as u32) as i64 % (n)))) as usize] >= ((v1) as u64))) {
      w2 = w2 - 1;
      v1 = ((v1).wrapping_neg().wrapping_add(v1.wrapping_mul((((255i64)) as i16))) | (((a).min(p)) as i16));
    }
    for i3 in 0..8i64 {
      let mut w4: i32 = ((((((((p / 4)) as i32).wrapping_mul(((v1) as i32))) as i64)).min(((v1.wrapping_shr((((v1) as u32) & 15))) as i64))) as i32) & 7;
      while w4 > 0 && ((p <= p) && (v1 == v1)) {
        w4 = w4 - 1;
        if ((((((((v1) as u8)) as i16) & (!v1))) as u16) >= ((v1.wrapping_mul(v1)) as u16).wrapping_sub(((v1) as u16))) {
          v1 = ((((v1) as u64).wrapping_sub(x[(((0) * (m) + (((p * 1 + 2) % (m)))) * (n) + (((((((v1) as i32) ^ (((p + p)) as i32))) as u32) as i64 % (n)))) as usize])) as i16);
          break;
        }
        let mut m5 = [0 as u32; 4];
        for i6 in 0..4 { m5[i6] = ((v1.wrapping_shr(15)) as u32); }
      }
      for i7 in 0..3i64 {
        if (v1.wrapping_add((!v1)) >= (((64i64)) as i16)) {
          if (((((((a).max(i7)) as i32)) as u64) >= ((v1) as u64).wrapping_mul(x[(((0) * (m) + (p)) * (n) + (((p * 5 + 11) % (n)))) as usize])) && !((x[(((0) * (m) + (p)) * (n) + ((((v1) as u32) as i64 % (n)))) as usize] == ((v1) as u64)))) {
            let e8: i64 = (((9i64)).max(p) * 7);
          } else {
            v1 = ((((v1) as i32).bitand((((p / 4)) as i32))) as i16);
            v1 = ((((((v1).wrapping_neg()) as u16)).min(((((((if (a >= (1i64)) { v1 } else { v1 })) as u32)).min((((((v1) as u8)).max(((v1) as u8))) as u32))) as u16))) as i16);
          }
        } else {
          for i9 in 0..8i64 {
            v1 = (((i7 / 7)) as i16);
            v1 = (((1i64)) as i16).wrapping_mul((v1.wrapping_mul(((z[((0) * (n) + ((((x[(((0) * (m) + ((((x[(((0) * (m) + (((p * 5 + 11) % (m)))) * (n) + (((i9 * 5 + 0) % (n)))) as usize]) as u32) as i64 % (m)))) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u32) as i64 % (n)))) as usize]) as i16)) ^ (((1i64)) as i16)));
            let e10: i64 = (a).max((i7 * 3));
          }
        }
        let mut m11 = [0 as u16; 2];
        for i12 in 0..2 { m11[i12] = ((((z[((0) * (n) + ((((v1) as u32) as i64 % (n)))) as usize]) as u64).wrapping_mul(x[(((0) * (m) + (p)) * (n) + (((p * 3 + 1) % (n)))) as usize])) as u16); }
      }
      let mut m13 = [0 as u64; 4];
      for i14 in 0..4 { m13[i14] = ((((v1) as u16)) as u64); }
    }
    for j in 0..n {
      let mut v15: u32 = ((x[(p * n + j) as usize]) as u32);
      y[(p * n + j) as usize] = (((-3000000000i64)) as i64);
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
