use super::*;

fn read(text: &str) -> (Vec<Tunable>, Vec<String>) {
    let mut diags = Diagnostics::new();
    let found = tunables(text, &mut diags);
    let reports = diags.into_sorted().into_iter();
    (
        found,
        reports
            .map(|report| format!("{}: {}", report.code, report.message))
            .collect(),
    )
}

/// The text with these values of all names.
fn replaced(text: &str, values: &[(&str, i64)]) -> String {
    let (found, reports) = read(text);
    assert_eq!(reports, [""; 0]);
    let values: Vec<(String, i64)> = values
        .iter()
        .map(|(name, v)| ((*name).to_owned(), *v))
        .collect();
    with_values(text, &found, &values)
}

#[test]
fn a_define_below_the_comment_is_tunable() {
    let text = "// A tile.\n// croq: tune TILE in 32, 0x40, -1\n// More.\n#define TILE 64 // elements\nint x;\n";
    let (found, reports) = read(text);
    assert_eq!(reports, [""; 0]);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].own, &*found[0].values), (64, &[32, 64, -1][..]));
    assert_eq!(found[0].candidates(), [64, 32, -1]);
    assert_eq!(
        replaced(text, &[("TILE", 128)]),
        text.replace("TILE 64", "TILE 128")
    );
    assert_eq!(replaced(text, &[("OTHER", 128)]), text);
    assert_eq!(replaced(text, &[]), text);
    // The file's own value is a candidate even if the list lacks it.
    let (found, _) = read("// croq: tune T in 1, 2\r\n#define T 8\r\n");
    assert_eq!(found[0].candidates(), [8, 1, 2]);
}

#[test]
fn defaults_of_template_parameters_are_tunable() {
    let text = "// croq: tune K in 8, 16\n// croq: tune M in 4, 2\n\
                template <typename T, int M = 4, bool F = (1 > 2), int K = 8>\n__co__ void f() {}\n";
    let (found, reports) = read(text);
    assert_eq!(reports, [""; 0]);
    let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["K", "M"]);
    let expected = text.replace("M = 4", "M = 16").replace("K = 8", "K = 256");
    assert_eq!(replaced(text, &[("K", 256), ("M", 16)]), expected);
}

#[test]
fn comments_without_effect_are_reported() {
    for (text, part) in [
        (
            "// croq: tune T in 1, 2\nint x;\n",
            "neither `#define T` nor a template is below",
        ),
        (
            "int x;\n// croq: tune T in 1, 2\n",
            "no definition of `T` follows",
        ),
        (
            "// croq: tune T in 1, 2\n\n#define T 1\n",
            "no definition of `T` follows",
        ),
        ("int x; // croq: tune T in 1\n#define T 1\n", "behind code"),
        (
            "/* croq: tune T in 1 */\n#define T 1\n",
            "is a `//` comment",
        ),
        (
            "// croq: tune T in 1, 2\n#define TT 1\n",
            "below is `TT`, not `T`",
        ),
        (
            "// croq: tune T in 1, 2\n#undef T\n",
            "below is nothing, not `T`",
        ),
        (
            "// croq: tune T in 1, 2\n#define T (1 + 1)\n",
            "is no integer literal",
        ),
        (
            "// croq: tune T in 1, 2\n#define T(a) 1\n",
            "is no integer literal",
        ),
        (
            "// croq: tune T in 1, 2\n#define T\n",
            "is no integer literal",
        ),
        (
            "// croq: tune T in 1, 2\n#define T 010\n",
            "is no integer literal",
        ),
        (
            "// croq: tune T in 1, 2\ntemplate <int T>\n",
            "has no default",
        ),
        (
            "// croq: tune T in 1, 2\ntemplate <int T = U>\n",
            "is no integer literal",
        ),
        (
            "// croq: tune T in 1, 2\ntemplate <int U = 1, int V = 2>\n",
            "below is `U`, `V`, not `T`",
        ),
        (
            "// croq: tune T in 1, 2\ntemplate __co__ f<T>;\n",
            "below is nothing, not `T`",
        ),
        ("// croq: tune T in\n#define T 1\n", "lists no value of `T`"),
        (
            "// croq: tune T in 1,, 2\n#define T 1\n",
            "`an empty item` in the list of `T` is no integer",
        ),
        (
            "// croq: tune T in 1, 2.5\n#define T 1\n",
            "`2.5` in the list of `T` is no integer",
        ),
        (
            "// croq: tune T in 1, 99999999999\n#define T 1\n",
            "`99999999999` in the list",
        ),
        ("// croq: tune T in 1, 2, 1\n#define T 1\n", "has 1 twice"),
        ("// croq: tune T in 1, 2, 0x2\n#define T 1\n", "has 2 twice"),
        (
            "// croq: tune in 1, 2\n#define T 1\n",
            "after `tune in` comes `in`",
        ),
        ("// croq: tune 1, 2\n#define T 1\n", "has no name"),
        (
            "// croq: tune T 1, 2\n#define T 1\n",
            "after `tune T` comes `in`",
        ),
        (
            "// croq: tun T in 1, 2\n#define T 1\n",
            "the request that croq knows is `tune`",
        ),
        (
            "// Croq: tune T in 1, 2\n#define T 1\n",
            "a request begins with `croq:`",
        ),
        (
            "// croq: tune T in 1, 2\n#define T 1\n// croq: tune T in 1, 3\n#define T 1\n",
            "`T` is tuned twice",
        ),
    ] {
        let (_, reports) = read(text);
        let one =
            matches!(&*reports, [report] if report.starts_with("W0025: ") && report.contains(part));
        assert!(one, "{text}: {reports:?}");
    }
    // Remarks are no requests.
    for text in [
        "// croq: tuned by hand in May\nint x;\n",
        "// croq: allow(W0620) x\nint x;\n",
        "// tune T in 1\n",
        "// Croq: tuned in May\n",
        "// croq tunes T in 1\n",
    ] {
        assert_eq!(read(text), (Vec::new(), Vec::new()), "{text}");
    }
}
