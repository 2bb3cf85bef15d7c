//! The forms of the census: what nvcc makes of croq's kernels, of the run tests and of the conformance
//! texts, written by `make ptx-census`.

use std::collections::BTreeMap;

use croq_ptx::census::Census;
use croq_ptx::parse::parse;

const TABLE: &str = include_str!("../census.md");
const WITNESSES: &str = include_str!("../peers/forms.txt");

/// An instruction of each form; where the machine refuses some of a form, it is one of them.
fn census() -> Census {
    let mut census = Census::default();
    let module = parse(include_str!("../census.ptx"));
    census.add(&module.unwrap_or_else(|error| panic!("{error}")));
    census
}

/// The cells of each row: opcode, form, count, whether it is implemented, number of peers.
fn rows() -> impl Iterator<Item = [&'static str; 5]> {
    TABLE.lines().filter_map(|line| {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let cells: [&str; 5] = cells.collect::<Vec<_>>().try_into().ok()?;
        (cells[0] != "opcode").then_some(cells)
    })
}

#[test]
fn every_form_is_implemented() {
    let census = census();
    for (name, form) in census.forms() {
        assert_eq!(form.refused, 0, "{name}: {:?}", form.reasons);
    }
    for [_, form, _, implemented, _] in rows() {
        assert_eq!(implemented, "yes", "{form}");
    }
}

#[test]
fn the_examples_are_those_of_the_table() {
    let names: Vec<String> = rows().map(|row| row[1].replace('`', "")).collect();
    assert!(names.len() > 600, "{} rows", names.len());
    // What calls, returns and ends the module that has the examples is in the table, too.
    let forms: Vec<String> = census().forms().keys().cloned().collect();
    assert_eq!(forms, names);
}

/// The table has the result of the last `make ptx-peers`.
#[test]
fn witnesses_are_counted() {
    let lines = WITNESSES.lines().filter_map(|line| line.split_once(": "));
    let counts: BTreeMap<&str, usize> = lines
        .map(|(form, names)| (form, names.split(' ').count()))
        .collect();
    assert!(counts.len() > 200, "{} forms", counts.len());
    let mut witnessed = 0;
    for [_, form, _, _, peers] in rows() {
        let count = counts.get(form.trim_matches('`')).copied().unwrap_or(0);
        assert_eq!(peers, count.to_string(), "{form}");
        witnessed += usize::from(count > 0);
    }
    assert!(TABLE.contains(&format!(" {witnessed} were executed by a peer.\n")));
}
