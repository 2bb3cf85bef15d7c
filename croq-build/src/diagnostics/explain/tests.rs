//! Tests the form of the explanations, and the compiler's reports for their programs.

use std::fmt::Write as _;

use super::examples::{Example, Part, Role, parts};
use super::{Explanation, Kind, all};
use crate::diagnostics::Diagnostic;
use crate::pipeline::{Compiled, FileNames, Options, compile_text};

fn examples(of: &Explanation) -> Vec<Example<'static>> {
    let examples = parts(of.page).into_iter().filter_map(|part| match part {
        Part::Example(example) => Some(example),
        _ => None,
    });
    examples.collect()
}

fn compile(example: &Example<'_>) -> Compiled {
    let names = FileNames {
        path: "example.co".to_owned(),
        stem: "example".to_owned(),
        hash: "00000000".to_owned(),
    };
    let mut options = Options::default();
    if !example.archs.is_empty() {
        let archs = example.archs.iter().map(|arch| arch.parse());
        options.archs_asked = true;
        options.archs = archs.collect::<Result<_, _>>().expect("an architecture");
    }
    compile_text(&names, example.program, &options)
}

fn codes(reports: &[Diagnostic]) -> Vec<&'static str> {
    reports.iter().map(|report| report.code.text()).collect()
}

/// The error in an example, as text.
fn fault(of: &Explanation, example: &Example<'_>) -> Option<String> {
    let compiled = compile(example);
    let found = codes(&compiled.diagnostics);
    match example.role {
        Role::Wrong if !found.is_empty() && found.iter().all(|code| *code == of.code) => None,
        Role::Wrong => Some(format!("the wrong program gives {found:?}")),
        Role::Right if found.is_empty() => None,
        Role::Right => Some(format!("the right program gives {found:?}")),
        Role::RunTime => {
            let check = format!("code: \"{}\"", of.code);
            let outputs = compiled.outputs.as_ref();
            let checks = outputs.is_some_and(|outputs| outputs.wrappers.contains(&check));
            (!found.is_empty() || !checks).then(|| {
                format!(
                    "the program gives {found:?}, and checks {}: {checks}",
                    of.code
                )
            })
        }
    }
}

#[test]
fn programs_give_the_reports_that_they_promise() {
    let mut faults = String::new();
    let mut programs = 0;
    for explanation in all() {
        for example in examples(explanation) {
            programs += 1;
            if let Some(fault) = fault(explanation, &example) {
                let _ = writeln!(faults, "{}: {fault}", explanation.code);
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
    assert!(programs > 800, "only {programs} programs");
}

/// A code has a wrong and a right program, or a program with a check, or a reason for having none.
#[test]
fn every_code_has_examples_or_a_reason() {
    for explanation in all() {
        let code = explanation.code;
        let parts = parts(explanation.page);
        let reasons = parts
            .iter()
            .filter(|part| matches!(part, Part::NoExample(_)));
        let roles: Vec<Role> = examples(explanation).iter().map(|e| e.role).collect();
        match (explanation.kind, reasons.count(), &roles[..]) {
            (_, 1, []) | (Kind::RunTime, 0, [Role::RunTime]) => {}
            (Kind::Error | Kind::Warning | Kind::Note, 0, [Role::Wrong, Role::Right]) => {}
            (_, reasons, roles) => panic!("{code}: {reasons} reasons, examples {roles:?}"),
        }
    }
}

#[test]
fn kinds_follow_from_letters() {
    for explanation in all() {
        assert_eq!(Kind::of(explanation.code), Some(explanation.kind));
    }
}

#[test]
fn texts_have_one_form() {
    for Explanation {
        code,
        title,
        page: text,
        ..
    } in all()
    {
        assert!(!title.ends_with('.') && title.len() < 70, "{code}: {title}");
        assert!(text.ends_with('\n'), "{code}");
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(
            longest.is_some_and(|most| most <= 100),
            "{code}: {longest:?}"
        );
        let parts = parts(text);
        let Some(Part::Text(fact)) = parts.first() else {
            panic!("{code} does not begin with text");
        };
        assert!(fact.ends_with('.'), "{code}: {fact}");
        for part in &parts {
            if let Part::Text(text) = part {
                assert!(
                    !text.contains("```"),
                    "{code} has a fence of no kind: {text}"
                );
            }
        }
    }
}

/// Words of the code base's former vocabulary, which the terms of the field have replaced.
#[test]
fn texts_are_in_the_words_of_the_field() {
    const FORMER: &[&str] = &[
        "told", "tells", "stands", "turn", "turns", "whose", "tenants", "nobody", "somebody",
        "mend",
    ];
    for Explanation {
        code,
        page: text,
        title,
        ..
    } in all()
    {
        let prose = parts(text).into_iter().filter_map(|part| match part {
            Part::Text(text) | Part::NoExample(text) => Some(text),
            Part::Example(_) => None,
        });
        for prose in prose.chain([*title]) {
            let mut words = prose.split(|c: char| !c.is_alphanumeric());
            let former = words.find(|word| FORMER.contains(&word.to_lowercase().as_str()));
            assert_eq!(former, None, "{code}: {prose}");
        }
    }
}
