use super::{eval, eval_32, eval_64, samples};

/// The pseudocode of the ISA, literally.
fn extract(a: u64, pos: u64, len: u64, msb: u64, signed: bool) -> u64 {
    let bit = |index: u64| a >> index & 1;
    let (pos, len) = (pos & 0xff, len & 0xff);
    let sign = if !signed || len == 0 {
        0
    } else {
        bit((pos + len - 1).min(msb))
    };
    let mut d = 0;
    for i in 0..=msb {
        let value = if i < len && pos + i <= msb {
            bit(pos + i)
        } else {
            sign
        };
        d |= value << i;
    }
    d
}

fn insert(a: u64, b: u64, pos: u64, len: u64, msb: u64) -> u64 {
    let (pos, len) = (pos & 0xff, len & 0xff);
    let mut f = b;
    let mut i = 0;
    while i < len && pos + i <= msb {
        f = f & !(1 << (pos + i)) | (a >> i & 1) << (pos + i);
        i += 1;
    }
    f
}

#[test]
fn fields() {
    let a = 0x8765_4321_fedc_ba98;
    let (low, b) = (a & 0xffff_ffff, 0x1122_3344_5566_7788);
    for pos in [0, 1, 5, 16, 31, 32, 33, 63, 64, 255, 256, 0x1_0003] {
        for len in [0, 1, 7, 16, 31, 32, 33, 63, 64, 255, 257] {
            let inputs = [
                ("r1", low),
                ("d1", a),
                ("r2", pos),
                ("r3", len),
                ("d4", b),
                ("r4", b & 0xffff_ffff),
            ];
            let run = |text: &str| eval(text, &inputs);
            assert_eq!(
                run("bfe.u32 %r0, %r1, %r2, %r3;"),
                extract(low, pos, len, 31, false)
            );
            assert_eq!(
                run("bfe.s32 %r0, %r1, %r2, %r3;"),
                extract(low, pos, len, 31, true)
            );
            assert_eq!(
                run("bfe.u64 %d0, %d1, %r2, %r3;"),
                extract(a, pos, len, 63, false)
            );
            assert_eq!(
                run("bfe.s64 %d0, %d1, %r2, %r3;"),
                extract(a, pos, len, 63, true)
            );
            assert_eq!(
                run("bfi.b32 %r0, %r1, %r4, %r2, %r3;"),
                insert(low, b & 0xffff_ffff, pos, len, 31)
            );
            assert_eq!(
                run("bfi.b64 %d0, %d1, %d4, %r2, %r3;"),
                insert(a, b, pos, len, 63)
            );
        }
    }
}

#[test]
fn logic() {
    let (a, b) = (0xff00_ff00_1234_5678, 0x0ff0_0ff0_8765_4321);
    for (opcode, expected) in [("and", a & b), ("or", a | b), ("xor", a ^ b)] {
        assert_eq!(
            eval_64(&format!("{opcode}.b64 %d0, %d1, %d2;"), &[a, b]),
            expected
        );
        assert_eq!(
            eval_32(&format!("{opcode}.b32 %r0, %r1, %r2;"), &[a, b]),
            expected & 0xffff_ffff
        );
        let half = [("h1", a), ("h2", b)];
        assert_eq!(
            eval(&format!("{opcode}.b16 %h0, %h1, %h2;"), &half),
            expected & 0xffff
        );
    }
    assert_eq!(eval_32("not.b32 %r0, %r1;", &[a]), !a & 0xffff_ffff);
    assert_eq!(eval_64("cnot.b64 %d0, %d1;", &[0]), 1);
    assert_eq!(eval_64("cnot.b64 %d0, %d1;", &[5]), 0);
    for (p, q) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let inputs = [("p1", p), ("p2", q)];
        assert_eq!(eval("and.pred %p0, %p1, !%p2;", &inputs), p & (1 - q));
        assert_eq!(eval("or.pred %p0, %p1, %p2;", &inputs), p | q);
        assert_eq!(eval("xor.pred %p0, %p1, %p2;", &inputs), p ^ q);
        assert_eq!(eval("not.pred %p0, %p1;", &inputs), 1 - p);
    }
}

#[test]
fn shifts_are_clamped() {
    for amount in [0_u64, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1 << 31] {
        for &a in &samples(20) {
            let run = |text: &str| eval(text, &[("h1", a), ("r1", a), ("d1", a), ("r2", amount)]);
            let wide = u128::from(a);
            let left = |bits: u32| {
                if amount > 64 {
                    0
                } else {
                    (wide << amount) as u64 & (u64::MAX >> (64 - bits))
                }
            };
            let low = |bits: u32| a & (u64::MAX >> (64 - bits));
            let right = |bits: u32| if amount > 63 { 0 } else { low(bits) >> amount };
            let signed = |value: i64, bits: u32| {
                (value >> amount.min(63)) as u64 & (u64::MAX >> (64 - bits))
            };
            assert_eq!(run("shl.b16 %h0, %h1, %r2;"), left(16));
            assert_eq!(run("shl.b32 %r0, %r1, %r2;"), left(32));
            assert_eq!(run("shl.b64 %d0, %d1, %r2;"), left(64));
            assert_eq!(run("shr.u16 %h0, %h1, %r2;"), right(16));
            assert_eq!(run("shr.b32 %r0, %r1, %r2;"), right(32));
            assert_eq!(run("shr.u64 %d0, %d1, %r2;"), right(64));
            assert_eq!(run("shr.s16 %h0, %h1, %r2;"), signed(a as i16 as i64, 16));
            assert_eq!(run("shr.s32 %r0, %r1, %r2;"), signed(a as i32 as i64, 32));
            assert_eq!(run("shr.s64 %d0, %d1, %r2;"), signed(a as i64, 64));
        }
    }
}

#[test]
fn funnel_shifts() {
    let (a, b) = (0x89ab_cdef_u64, 0x0123_4567_u64);
    let run = |form: &str, c| eval_32(&format!("shf.{form}.b32 %r0, %r1, %r2, %r3;"), &[a, b, c]);
    assert_eq!(run("l.wrap", 4), 0x1234_5678);
    assert_eq!(run("r.wrap", 4), 0x789a_bcde);
    assert_eq!((run("l.wrap", 32), run("r.wrap", 32)), (b, a));
    assert_eq!((run("l.clamp", 32), run("r.clamp", 32)), (a, b));
    assert_eq!((run("l.clamp", 99), run("r.clamp", 99)), (a, b));
    assert_eq!((run("l.clamp", 0), run("r.clamp", 0)), (b, a));
}

#[test]
fn any_function_of_three_bits() {
    let (a, b, c) = (0xf0_u64, 0xcc_u64, 0xaa_u64);
    // The ISA's definition: the table is the function of these constants.
    for table in 0..256 {
        let found = eval_32(
            &format!("lop3.b32 %r0, %r1, %r2, %r3, {table};"),
            &[a, b, c],
        );
        assert_eq!(found & 0xff, table);
    }
    let found = eval_32(
        "lop3.b32 %r0, %r1, %r2, %r3, 0x1a;",
        &[0x1234, 0x5678, 0x9abc],
    );
    assert_eq!(found, (0x1234 & 0x5678 | 0x9abc) ^ 0x1234);
}

#[test]
fn permutations() {
    let (a, b) = (0x3322_1180_u64, 0x7766_55c4_u64);
    let run = |form: &str, c| eval_32(&format!("prmt.b32{form} %r0, %r1, %r2, %r3;"), &[a, b, c]);
    assert_eq!(run("", 0x7654), b);
    assert_eq!(run("", 0x3210), a);
    assert_eq!(run("", 0x0123), 0x8011_2233);
    assert_eq!(run("", 0xc8a4), 0xffff_00c4);
    assert_eq!(run(".f4e", 1), 0xc433_2211);
    assert_eq!(run(".b4e", 1), 0x6677_8011);
    assert_eq!(run(".rc8", 2), 0x2222_2222);
    assert_eq!(run(".ecl", 1), 0x3322_1111);
    assert_eq!(run(".ecr", 2), 0x2222_1180);
    assert_eq!(run(".rc16", 1), 0x3322_3322);
}

#[test]
fn counting_and_finding() {
    for &a in &samples(40) {
        let low = a & 0xffff_ffff;
        let digits = format!("{low:032b}");
        let wide_digits = format!("{a:064b}");
        assert_eq!(
            eval_32("popc.b32 %r0, %r1;", &[a]),
            digits.matches('1').count() as u64
        );
        assert_eq!(
            eval("popc.b64 %r0, %d1;", &[("d1", a)]),
            wide_digits.matches('1').count() as u64
        );
        let leading = digits.find('1').unwrap_or(32) as u64;
        assert_eq!(eval_32("clz.b32 %r0, %r1;", &[a]), leading);
        assert_eq!(
            eval("clz.b64 %r0, %d1;", &[("d1", a)]),
            wide_digits.find('1').unwrap_or(64) as u64
        );
        let reversed: String = digits.chars().rev().collect();
        assert_eq!(
            eval_32("brev.b32 %r0, %r1;", &[a]),
            u64::from_str_radix(&reversed, 2).unwrap()
        );
        let found = if leading == 32 {
            0xffff_ffff
        } else {
            31 - leading
        };
        assert_eq!(eval_32("bfind.u32 %r0, %r1;", &[a]), found);
        let amount = if leading == 32 { 0xffff_ffff } else { leading };
        assert_eq!(eval_32("bfind.shiftamt.u32 %r0, %r1;", &[a]), amount);
        let sign = if wide_digits.starts_with('1') {
            '0'
        } else {
            '1'
        };
        let found = wide_digits
            .find(sign)
            .map_or(0xffff_ffff, |at| 63 - at as u64);
        assert_eq!(eval("bfind.s64 %r0, %d1;", &[("d1", a)]), found);
    }
}

/// The ISA's examples of `fns`, `bmsk` and `szext`.
#[test]
fn examples() {
    let fns =
        |base: i32, offset: i32| eval(&format!("fns.b32 %r0, 0xaaaaaaaa, {base}, {offset};"), &[]);
    assert_eq!((fns(3, 1), fns(3, -1), fns(2, 1), fns(2, -1)), (3, 3, 3, 1));
    assert_eq!(
        (fns(3, 0), fns(2, 0), fns(0, 17)),
        (3, 0xffff_ffff, 0xffff_ffff)
    );
    assert_eq!(eval("bmsk.wrap.b32 %r0, 1, 2;", &[]), 6);
    assert_eq!(eval("bmsk.clamp.b32 %r0, 4, 40;", &[]), 0xffff_fff0);
    assert_eq!(eval("bmsk.clamp.b32 %r0, 40, 4;", &[]), 0);
    assert_eq!(eval("bmsk.wrap.b32 %r0, 33, 32;", &[]), 0);
    assert_eq!(eval("szext.wrap.u32 %r0, 0xffffffff, 0;", &[]), 0);
    assert_eq!(eval("szext.clamp.s32 %r0, 0x80, 8;", &[]), 0xffff_ff80);
    assert_eq!(
        eval("szext.clamp.s32 %r0, 0x80000001, 99;", &[]),
        0x8000_0001
    );
    assert_eq!(eval("szext.wrap.u32 %r0, 0xffffffff, 36;", &[]), 0xf);
}
