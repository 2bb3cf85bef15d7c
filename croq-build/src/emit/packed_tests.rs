//! Stores of packed elements: those that may meet another thread's in one byte are `swap`.

use super::tests::lines;

/// Whether the elements of `y`, two to a byte, are stored by compare-and-swap.
#[track_caller]
fn swaps(body: &str) -> bool {
    let text = format!(
        "__co__ u4 [M, 64] f(u4 [M, 64] x, global u4 [M, 70] wide) {{
           u4 [M, 64] y;
           {body}
           return y;
         }}"
    );
    let lines = lines(&text);
    let any = |part: &str| lines.iter().any(|line| line.contains(part));
    let (swap, store) = (any("y.swap("), any("y.store("));
    assert!(!(swap && store), "of one buffer all or none: {lines:#?}");
    assert!(swap || store || any("(y, "), "{lines:#?}");
    swap
}

#[test]
fn neighbours_of_different_threads_are_swapped() {
    assert!(swaps("parallel {i, j} by [M, 64] y.at(i, j) = x.at(i, j);"));
    assert!(swaps(
        "parallel i by M parallel j by 64 : thread y.at(i, 63 - j) = x.at(i, j);"
    ));
    // The second loop's threads are others than the first one's.
    assert!(swaps(
        "parallel i by M : block {
           parallel j by 32 : thread y.at(i, 2 * j) = x.at(i, j);
           parallel j by 32 : thread y.at(i, 63 - 2 * j) = x.at(i, j);
         }"
    ));
}

#[test]
fn one_thread_for_each_byte_stores() {
    assert!(!swaps(
        "parallel {i, j} by [M, 32] {
           y.at(i, 2 * j) = x.at(i, j);
           y.at(i, 2 * j + 1) = x.at(i, j + 1);
         }"
    ));
    assert!(!swaps(
        "parallel i by M foreach j in [64] y.at(i, 63 - j) = x.at(i, j);"
    ));
}

#[test]
fn copies_of_whole_bytes_are_vectors() {
    let copied = |from: &str| {
        swaps(&format!(
            "parallel i by cdiv(M, 16) : block {{ t = dma.copy {from} => shared; dma.copy t.data => y.subspan(16, 64).at(i, 0); }}"
        ))
    };
    assert!(!copied("x.subspan(16, 64).at(i, 0)"));
    let shifted =
        "parallel i by M : block dma.copy wide.view(1, 63).from(i, 3) => y.view(1, 63).from(i, 1);";
    assert!(swaps(shifted));
}

/// Where loops of a level without threads are distributed, two iterations of one byte are not.
#[test]
fn iterations_that_share_a_byte_stay_with_one_thread() {
    let body = |index: &str, count: u32| {
        format!(
            "__co__ u4 [M, 64] f(u4 [M, 64] x) {{
               u4 [M, 64] y;
               parallel p by M {{
                 row = dma.copy x.chunkat(p, _) => shared;
                 foreach k in [{count}] y.at(p, {index}) = row.data.at(0, k);
               }}
               return y;
             }}"
        )
    };
    let threads = |text: &str| {
        lines(text)
            .iter()
            .any(|line| line.contains("CROQ_KERNEL(1)"))
    };
    assert!(threads(&body("k", 64)));
    assert!(!threads(&body("2 * k", 32)));
}

/// What is loaded beside swapped elements is the word that they change.
#[test]
fn elements_beside_swapped_ones_are_loaded_by_words() {
    let body = |index: &str| {
        lines(&format!(
            "__co__ void f(global u4 [64] y) {{ parallel p by 1 : block parallel i by 32 : thread y.at({index}) += y.at({index}); }}"
        ))
    };
    let any = |lines: &[String], part: &str| lines.iter().any(|line| line.contains(part));
    let (swapped, owned) = (body("63 - i"), body("2 * i"));
    assert!(
        any(&swapped, "y.swap(") && any(&swapped, "y.peek("),
        "{swapped:#?}"
    );
    assert!(!any(&swapped, "y.load("), "{swapped:#?}");
    assert!(
        any(&owned, "y.load(") && !any(&owned, "y.peek("),
        "{owned:#?}"
    );
}
