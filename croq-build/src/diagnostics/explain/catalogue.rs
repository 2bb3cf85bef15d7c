//! Verifies that the explained codes are exactly those that the sources report, and those of the
//! language's catalogue of checks, except those for which `docs/checks.md` explains why croq does
//! not use them.

use std::path::{Path, PathBuf};

use super::{all, explain, unreported};
use crate::sorted::SortedSet;

const CATALOGUE: &str = "\
    E0001 E0002 E0003 E0004 E0005 E0006 E0007 E0008 E0009 E0010 E0011 E0012 E0013 W0014 W0015 \
    E0016 E0017 E0018 W0019 R01 E0100 E0101 E0102 E0103 E0104 E0105 E0106 E0107 E0108 E0109 \
    E0110 E0111 E0112 E0113 E0114 E0115 E0116 E0117 E0118 E0119 E0120 E0121 E0122 E0123 E0124 \
    E0125 E0126 E0127 W0128 R02 E0201 E0202 E0203 E0204 E0205 E0206 E0207 E0208 W0209 W0210 \
    E0211 E0212 E0213 W0214 R03 E0301 E0302 E0303 E0304 E0305 E0306 E0307 E0308 E0309 E0310 \
    E0311 E0312 E0313 E0314 E0315 E0316 E0317 E0318 E0319 E0320 N0321 W0321 E0322 E0323 E0324 E0325 \
    E0326 E0330 E0331 E0332 E0333 E0334 E0335 E0336 E0337 E0338 E0340 E0341 E0342 E0343 E0344 \
    E0345 E0346 E0347 W0348 E0349 W0349 E0350 E0351 E0352 E0353 E0354 E0355 W0356 E0357 E0358 R04 \
    E0401 E0402 E0403 E0404 E0405 E0406 E0407 E0408 E0409 E0410 E0411 E0412 E0413 E0420 E0421 \
    E0422 E0423 E0424 E0425 E0426 E0427 E0428 E0429 E0430 E0431 E0432 E0433 E0434 E0435 E0436 \
    E0437 E0438 E0439 E0440 E0441 E0442 W0443 R05 E0501 E0502 E0503 E0504 E0505 E0506 E0507 \
    E0508 E0509 E0510 E0511 E0512 E0513 E0514 E0515 E0516 E0517 E0518 E0519 W0520 W0521 E0522 \
    W0523 W0524 E0525 N0526 E0530 E0531 E0532 E0533 E0534 W0535 E0536 E0540 E0541 E0542 E0543 \
    E0544 E0545 E0546 E0547 E0548 E0549 E0550 W0551 E0552 W0553 E0554 E0555 E0556 N0557 W0558 \
    E0559 E0560 E0561 E0562 E0563 E0564 W0565 N0566 W0567 W0568 E0570 E0571 E0572 E0573 E0574 \
    E0575 E0576 E0577 E0580 W0581 E0582 W0583 W0584 E0585 W0586 E0587 R06 E0610 E0611 E0612 \
    E0613 E0614 E0615 E0616 E0617 E0618 E0619 W0620 W0621 W0622 W0623 W0624 W0625 W0626 R07 \
    E0701 W0702 W0703 E0704 E0705 E0706 W0707 E0760 E0761 E0770 E0771 E0772 W0773 E0774 E0775 W0776 \
    E0776 W0777 E0778 E0779 E0780 W0781 W0782 E0783 E0784 E0785 E0786 W0787 E0788 E0789 E0790 \
    E0791 W0792 E0793 R08 E0801 E0802 E0803 E0804 E0805 E0806 E0807 E0808 E0809 E0810 E0811 \
    E0812 N0813 W0814 E0815 E0816 E0817 E0818 E0819 E0820 E0821 W0822 E0823 E0824 N0825 E0826 \
    W0827 W0828 E0829 E0830 E0831 E0832 E0833 W0834 E0835 E0836 E0837 E0838 E0839 E0840 W0841 \
    E0842 E0843 E0844 E0845 E0846 E0847 E0848 E0849 W0850 W0851 E0852 E0853 W0854 E0855 N0856 \
    E0857 E0858 E0859 E0860 E0861 E0862 E0863 E0864 E0865 E0866 W0867 E0868 E0869 W0870 E0871 \
    E0872 E0873 E0874 E0875 E0876 E0877 E0878 W0879 E0880 R09 E0900 E0901 E0902 E0903 E0904 \
    E0905 E0906 E0907 E0908 E0909 E0910 E0911 E0912 E0913 E0914 E0915 E0916 E0917 E0918 E0919 \
    E0920 E0921 E0922 E0923 E0924 E0925 E0926 E0927 E0928 W0929 N0930 W0931 W0932 W0933 E0934 \
    W0935 W0936 W0937 R10 E1001 E1002 W1003 E1004 W1005 W1006 E1007 E1008 W1009 E1010 E1011 \
    W1012 E1013 E1014 E1015 N1016 E1020 E1021 E1022 E1023 E1030 E1031 E1032 E1033 E1034 E1035 \
    E1036 E1037 E1038 W1039 E1040 E1041 E1042 E1043 W1044 E1045 R11 E1101 E1102 E1103 E1104 \
    E1105 E1106 E1107 E1108 N1109 W1110 E1111 R12 E1201 E1202 E1203 E1204 E1205 E1206 E1207 \
    E1208 N1210 E1211 E1212 E1213 R13 R14 R15 R16 R17 R18 R19 R21";

#[test]
fn every_code_of_the_catalogue_is_explained_or_needless() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checks.md");
    let page = std::fs::read_to_string(page).expect("docs/checks.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| "));
    let codes = rows.filter_map(|row| row.split(" |").next());
    let needless: SortedSet<&str> = codes
        .flat_map(|codes| codes.split(", "))
        .filter(|code| is_code(code))
        .collect();
    let catalogue: Vec<&str> = CATALOGUE.split_whitespace().collect();
    assert!(catalogue.len() > 450, "{}", catalogue.len());
    let missing: Vec<&&str> = catalogue
        .iter()
        .filter(|code| explain(code).is_none() && !needless.contains(**code))
        .collect();
    assert!(
        missing.is_empty(),
        "neither explained nor in docs/checks.md: {missing:?}"
    );
    let stray: Vec<&&str> = needless
        .iter()
        .filter(|code| !catalogue.contains(code) || explain(code).is_some())
        .collect();
    assert!(
        stray.is_empty(),
        "docs/checks.md has codes that are none, or that are explained: {stray:?}"
    );
}

#[test]
fn the_page_has_the_reasons_that_the_command_prints() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/checks.md");
    let page = std::fs::read_to_string(page).expect("docs/checks.md");
    let (_, table) = page
        .split_once("\n| codes | reason |\n|---|---|\n")
        .expect("the table");
    let rows = table.lines().take_while(|line| !line.is_empty());
    let printed: Vec<String> = unreported()
        .map(|(codes, why)| format!("| {codes} | {why} |"))
        .collect();
    assert_eq!(rows.collect::<Vec<_>>(), printed);
}

#[test]
fn the_codes_of_the_sources_are_explained_and_no_others() {
    let mut reported = SortedSet::new();
    for crate_ in ["croq-build", "croq-sys"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .join(crate_);
        collect(&folder.join("src"), &mut reported);
    }
    assert!(reported.len() > 400, "{reported:?}");
    let explained: SortedSet<String> = all().map(|known| known.code.to_owned()).collect();
    let missing: Vec<&String> = reported.difference(&explained).collect();
    assert!(missing.is_empty(), "no explanation of {missing:?}");
    let idle: Vec<&String> = explained.difference(&reported).collect();
    assert!(idle.is_empty(), "nothing reports {idle:?}");
}

#[test]
fn texts_and_tables_have_the_same_codes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/diagnostics/explain/text");
    let texts: SortedSet<String> = files(&folder)
        .iter()
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    let codes: Vec<String> = all().map(|known| known.code.to_owned()).collect();
    let unique: SortedSet<String> = codes.iter().cloned().collect();
    assert_eq!(unique.len(), codes.len(), "a code is explained twice");
    assert_eq!(texts, unique);
}

/// The codes that the sources below a folder use as `codes::CODE`, and those of run-time checks,
/// without tests and explanations.
fn collect(folder: &Path, codes: &mut SortedSet<String>) {
    for path in files(folder) {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.unwrap_or_default();
        if path.is_dir() {
            if name != "explain" {
                collect(&path, codes);
            }
        } else if name.ends_with(".rs") && !name.contains("tests") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let code = text.split("#[cfg(test)]\nmod tests {").next();
            let code = code.unwrap_or_default();
            let literals = code.split('"').filter(|word| word.starts_with('R'));
            let constants = code
                .split("codes::")
                .skip(1)
                .filter_map(|rest| rest.get(..5));
            codes.extend(
                literals
                    .chain(constants)
                    .filter(|word| is_code(word))
                    .map(str::to_owned),
            );
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the sources");
    entries.flatten().map(|entry| entry.path()).collect()
}

fn is_code(word: &str) -> bool {
    let Some(digits) = word.strip_prefix(['E', 'W', 'N', 'R']) else {
        return false;
    };
    let length = if word.starts_with('R') { 2 } else { 4 };
    digits.len() == length && digits.bytes().all(|b| b.is_ascii_digit())
}
