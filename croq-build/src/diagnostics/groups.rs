//! Groups of warnings, for settings that concern several codes.

use super::explain::{self, Kind};

/// Codes under one name.
pub struct Group {
    pub name: &'static str,
    /// What the codes have in common, for `docs/checks.md`.
    pub about: &'static str,
    codes: Codes,
}

enum Codes {
    /// Separated by blanks.
    Listed(&'static str),
    Every(Kind),
}

impl Group {
    pub fn has(&self, code: &str) -> bool {
        match self.codes {
            Codes::Listed(codes) => codes.split_whitespace().any(|listed| listed == code),
            Codes::Every(kind) => explain::explain(code).is_some_and(|known| known.kind == kind),
        }
    }

    /// The codes, for groups that list them.
    pub fn listed(&self) -> impl Iterator<Item = &'static str> {
        let codes = match self.codes {
            Codes::Listed(codes) => codes,
            Codes::Every(_) => "",
        };
        codes.split_whitespace()
    }
}

/// The group of this name.
pub fn group(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

/// Every `W` code is in `all` and in at least one of the groups that list codes.
pub const GROUPS: &[Group] = &[
    Group {
        name: "correctness",
        about: "the program probably computes something else than intended, or races",
        codes: Codes::Listed(
            "W0015 W0019 W0021 W0128 W0321 W0348 W0360 W0553 W0558 W0568 W0584 W0620 W0621 W0626 W0776 \
             W0781 W0814 W0822 W0841 W0879 W0881 W0882 W0884 W0885 W0886 W0929 W0935 W0936 W0937 W0938 \
             W1003 W1005 W1006 W1009 W1012 W1024",
        ),
    },
    Group {
        name: "performance",
        about: "the program is slower than it could be",
        codes: Codes::Listed("W0523 W0565 W0589 W0624 W0625 W0854 W0867 W0870 W0933 W1113 W1119"),
    },
    Group {
        name: "conversions",
        about: "an implicit conversion changes values",
        codes: Codes::Listed("W0702 W0703 W0707 W0708"),
    },
    Group {
        name: "portability",
        about: "some GPUs reject the launch, or another library uses the same resource",
        codes: Codes::Listed("W0525 W0583"),
    },
    Group {
        name: "unused",
        about: "a name that nothing reads, or a construct without effect",
        codes: Codes::Listed(
            "W0209 W0210 W0214 W0356 W0521 W0549 W0567 W0589 W0773 W0792 W0850 W1044 W1108 W1110 W1118",
        ),
    },
    Group {
        name: "style",
        about: "the meaning is defined, but hard to read",
        codes: Codes::Listed("W0014 W0022 W0023 W0024 W0025 W0359 W0520"),
    },
    Group {
        name: "tools",
        about: "what the C++ compiler, nvcc and ptxas say about generated code",
        codes: Codes::Listed("W1112 W1113"),
    },
    Group {
        name: "all",
        about: "every warning",
        codes: Codes::Every(Kind::Warning),
    },
    Group {
        name: "notes",
        about: "every note",
        codes: Codes::Every(Kind::Note),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_warning_is_in_a_group_that_lists_it() {
        let warnings = explain::all().filter(|known| known.kind == Kind::Warning);
        let mut count = 0;
        for known in warnings {
            count += 1;
            let mut groups = GROUPS.iter();
            assert!(
                groups.any(|group| group.listed().any(|code| code == known.code)),
                "{} is in no group",
                known.code
            );
        }
        assert!(count > 60, "{count} warnings");
    }

    #[test]
    fn groups_list_warnings_only_each_once() {
        for group in GROUPS {
            let mut seen = crate::sorted::SortedSet::new();
            for code in group.listed() {
                let known = explain::explain(code);
                assert!(
                    known.is_some_and(|known| known.kind == Kind::Warning),
                    "{code} of {}",
                    group.name
                );
                assert!(seen.insert(code), "{code} is twice in {}", group.name);
            }
        }
    }

    #[test]
    fn the_page_lists_the_groups() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checks.md");
        let page = std::fs::read_to_string(page).expect("docs/checks.md");
        for group in GROUPS {
            let codes: Vec<&str> = group.listed().collect();
            let codes = match codes.as_slice() {
                [] if group.name == "all" => "every `W` code".to_owned(),
                [] => "every `N` code".to_owned(),
                codes => codes.join(" "),
            };
            let row = format!("| `{}` | {} | {codes} |\n", group.name, group.about);
            assert!(page.contains(&row), "no row\n{row}");
        }
    }
}
