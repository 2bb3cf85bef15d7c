{
check(0, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], )), kernels::random_0);
check(1, |d: &[usize]| source::<_, i64>((d[0], d[1], d[2], d[3], d[4], )), kernels::random_1);
check(2, |d: &[usize]| source::<_, i32>((d[0], d[1], d[2], )), kernels::random_2);
check(3, |d: &[usize]| source::<_, i32>((d[0], d[1], d[2], d[3], )), kernels::random_3);
check(4, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], )), kernels::random_4);
check(5, |d: &[usize]| source::<_, u8>((d[0], d[1], )), kernels::random_5);
check(6, |d: &[usize]| source::<_, i64>((d[0], d[1], d[2], )), kernels::random_6);
check(7, |d: &[usize]| source::<_, u8>((d[0], d[1], d[2], d[3], )), kernels::random_7);
check(8, |d: &[usize]| source::<_, i32>((d[0], )), kernels::random_8);
check(9, |d: &[usize]| source::<_, u16>((d[0], d[1], )), kernels::random_9);
check(10, |d: &[usize]| source::<_, i32>((d[0], d[1], d[2], )), kernels::random_10);
check(11, |d: &[usize]| source::<_, i64>((d[0], d[1], d[2], )), kernels::random_11);
check(12, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], d[3], d[4], )), kernels::random_12);
check(13, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], )), kernels::random_13);
check(14, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], )), kernels::random_14);
check(15, |d: &[usize]| source::<_, i32>((d[0], d[1], )), kernels::random_15);
check(16, |d: &[usize]| source::<_, u8>((d[0], d[1], )), kernels::random_16);
check(17, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], d[3], )), kernels::random_17);
check(18, |d: &[usize]| source::<_, u8>((d[0], )), kernels::random_18);
check(19, |d: &[usize]| source::<_, u8>((d[0], d[1], d[2], )), kernels::random_19);
check(20, |d: &[usize]| source::<_, u16>((d[0], d[1], d[2], d[3], )), kernels::random_20);
check(21, |d: &[usize]| source::<_, i64>((d[0], d[1], )), kernels::random_21);
check(22, |d: &[usize]| source::<_, u16>((d[0], )), kernels::random_22);
check(23, |d: &[usize]| source::<_, u8>((d[0], )), kernels::random_23);
check(24, |d: &[usize]| source::<_, i32>((d[0], d[1], )), kernels::random_24);
}
