//! The names that cargo accepts for a package with a binary.

/// Strict and reserved keywords of Rust, which no crate may be called.
const KEYWORDS: &str = "Self abstract as async await become box break const continue crate do dyn else enum \
    extern false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return \
    self static struct super trait true try type typeof unsafe unsized use virtual where while yield";

/// Crates that every program has or that the package depends on, and folders of cargo's output.
const TAKEN: &str = "alloc build core croq-build croq-macros croq-sys deps examples incremental proc-macro std test";

/// Names of devices on Windows.
const DEVICES: &str = "aux con nul prn com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 \
    lpt6 lpt7 lpt8 lpt9";

/// The longest name, of which cargo makes names of files.
const LONGEST: usize = 64;

/// Whether a package may have this name.
///
/// # Errors
///
/// Returns why not, as the end of a sentence.
pub(super) fn valid(name: &str) -> Result<(), String> {
    let listed = |list: &str, name: &str| list.split_whitespace().any(|listed| listed == name);
    let Some(first) = name.chars().next() else {
        return Err("is empty".to_owned());
    };
    if first.is_ascii_digit() {
        return Err("begins with a digit".to_owned());
    }
    let allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if let Some(other) = name.chars().find(|c| !allowed(c)) {
        return Err(format!(
            "has {other:?}; letters, digits, `-` and `_` are allowed"
        ));
    }
    if first == '-' || !name.contains(|c: char| c.is_ascii_alphanumeric()) {
        return Err("does not begin with a letter".to_owned());
    }
    if name.len() > LONGEST {
        return Err(format!("has more than {LONGEST} characters"));
    }
    if listed(KEYWORDS, name) {
        return Err("is a keyword of Rust".to_owned());
    }
    let lower = name.to_ascii_lowercase();
    if listed(TAKEN, &lower.replace('_', "-")) {
        return Err("is the name of another crate, or of a folder of cargo's output".to_owned());
    }
    if listed(DEVICES, &lower) {
        return Err("is the name of a device on Windows".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::valid;

    #[test]
    fn names_that_cargo_rejects_are_rejected_with_the_reason() {
        for (name, part) in [
            ("", "is empty"),
            ("2fast", "begins with a digit"),
            ("a b", "has ' '"),
            ("größe", "has 'ö'"),
            ("a.b", "has '.'"),
            ("-x", "does not begin with a letter"),
            ("_", "does not begin with a letter"),
            ("match", "is a keyword"),
            ("gen", "is a keyword"),
            ("test", "another crate"),
            ("croq_sys", "another crate"),
            ("deps", "cargo's output"),
            ("NUL", "a device on Windows"),
            (&"x".repeat(65), "more than 64 characters"),
        ] {
            let why = valid(name).expect_err(name);
            assert!(why.contains(part), "{name}: {why}");
        }
        for name in [
            "a",
            "hello-croq",
            "hello_2",
            "_x",
            "Match",
            "tests",
            &"x".repeat(64),
        ] {
            assert_eq!(valid(name), Ok(()), "{name}");
        }
    }
}
