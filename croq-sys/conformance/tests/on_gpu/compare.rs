//! Compares two results of one kernel.

use crate::elements::Element;

/// Equal bits; the bits of two NaNs may differ, because they depend on the processor.
pub fn same(element: Element, expected: &[u8], found: &[u8], what: &str) {
    assert_eq!(expected.len(), found.len(), "{what}");
    if expected == found {
        return;
    }
    for at in 0..expected.len() / element.bytes {
        let (e, f) = (element.bits(expected, at), element.bits(found, at));
        assert!(
            e == f || element.is_nan(e) && element.is_nan(f),
            "{what}, element {at}: {f:#x}, not {e:#x}"
        );
    }
}

/// Off by at most `ulps` units in the last place of the larger, or by `absolute`.
pub fn near(element: Element, expected: &[u8], found: &[u8], ulps: f64, absolute: f64, what: &str) {
    assert_eq!(expected.len(), found.len(), "{what}");
    // For a result of 1.
    let unit = match element.number {
        0 => f64::EPSILON,
        1 => f64::from(f32::EPSILON),
        2 => half::f16::EPSILON.to_f64(),
        _ => half::bf16::EPSILON.to_f64(),
    };
    for at in 0..expected.len() / element.bytes {
        let (e, f) = (element.bits(expected, at), element.bits(found, at));
        let (x, y) = (element.float(e), element.float(f));
        let close = (x - y).abs() <= ulps * unit * x.abs().max(y.abs()) + absolute;
        assert!(
            e == f || x.is_nan() && y.is_nan() || close,
            "{what}, element {at}: {y}, not {x}"
        );
    }
}
