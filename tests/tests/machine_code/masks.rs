//! Masks of scores cost a comparison in tiles where they hide nothing.

use croq_compare::sass::{Code, kernels_of};

fn length(code: &Code, kernel: &str, product: &str) -> usize {
    let way = code.shortest_way(product);
    way.unwrap_or_else(|| panic!("no loop in {kernel}"))
}

#[test]
fn a_mask_is_a_comparison_where_it_hides_nothing() {
    let text = include_str!("../../run/features/masks.co");
    let Some(kernels) = kernels_of("masks", text, "sm_90a") else {
        return;
    };
    let of = |form: usize| {
        let name = format!("masked_scores_{form}_0");
        kernels[&name].assert_clean(&name);
        length(&kernels[&name], &name, "HMMA")
    };
    let without = of(0);
    // 50 to 400 more if each of the 32 elements of a thread is compared.
    let forms: Vec<usize> = (1..=8).map(of).collect();
    assert!(
        forms.iter().all(|form| *form <= without + 32),
        "{without} without a mask, with one {forms:?}"
    );
    // Each element is doubled, and has 1 added.
    let more = of(9);
    assert!(more <= without + 64, "{without} without, {more}");
    // 256 if each is compared.
    let banded = &kernels["banded_sums_0"];
    banded.assert_clean("banded_sums");
    let length = length(banded, "banded_sums", "HGMMA");
    assert!(length <= 70, "{length}");
}
