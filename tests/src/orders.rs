//! Reports under other orders of threads: `CROQ_SIM_SEED` determines which of many wrong threads is
//! detected first.

/// Whether threads and blocks run in another order than that of their indices.
pub fn other_order() -> bool {
    std::env::var("CROQ_SIM_SEED").is_ok_and(|seed| seed != "0")
}

/// The report if threads run in the order of indices; otherwise without the numbers of threads.
pub fn in_this_order(report: &str) -> String {
    match other_order() {
        true => without_threads(report),
        false => report.to_owned(),
    }
}

/// The report without the numbers of its threads.
pub fn without_threads(report: &str) -> String {
    let mut parts = report.split("thread ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("thread");
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}
