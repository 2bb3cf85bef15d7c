//! The programs in an explanation.

use std::fmt::Write as _;

use super::Kind;

/// The purpose of a program in an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Wrong,
    Right,
    /// Accepted by the compiler; the check of the code is made at run time.
    RunTime,
}

impl Role {
    fn of(word: &str) -> Option<Self> {
        match word {
            "wrong" => Some(Self::Wrong),
            "right" => Some(Self::Right),
            "run-time" => Some(Self::RunTime),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example<'a> {
    pub role: Role,
    /// The target architectures; empty for the default.
    pub archs: Vec<&'a str>,
    pub program: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    Text(&'a str),
    Example(Example<'a>),
    /// The reason why there is no example.
    NoExample(&'a str),
}

const FENCE: &str = "```";

/// The parts of an explanation: examples in fences, and the text around them.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("```croq,") {
        let Some((example, after)) = fenced(after) else {
            break;
        };
        text_parts(before, &mut parts);
        parts.push(Part::Example(example));
        rest = after;
    }
    text_parts(rest, &mut parts);
    parts
}

/// The example in a fence, after its opening backquotes, and the text after it.
fn fenced(text: &str) -> Option<(Example<'_>, &str)> {
    let (words, rest) = text.split_once('\n')?;
    let (program, after) = rest.split_once(FENCE)?;
    let mut words = words.split(',');
    let role = Role::of(words.next()?)?;
    let archs: Option<Vec<&str>> = words.map(|word| word.strip_prefix("arch=")).collect();
    let example = Example {
        role,
        archs: archs?,
        program,
    };
    Some((example, after))
}

fn text_parts<'a>(text: &'a str, parts: &mut Vec<Part<'a>>) {
    let reason = text
        .split_once("<!-- no example: ")
        .and_then(|(before, rest)| Some((before, rest.split_once(" -->")?)));
    let Some((before, (reason, after))) = reason else {
        if !text.trim().is_empty() {
            parts.push(Part::Text(text.trim()));
        }
        return;
    };
    text_parts(before, parts);
    parts.push(Part::NoExample(reason));
    text_parts(after, parts);
}

/// The explanation for a terminal: programs are indented below a line with their purpose.
pub fn show(kind: Kind, text: &str, out: &mut String) {
    for (i, part) in parts(text).into_iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        match part {
            Part::Text(text) => {
                let _ = writeln!(out, "{text}");
            }
            Part::NoExample(reason) => {
                let _ = writeln!(out, "There is no example here: {reason}.");
            }
            Part::Example(example) => show_example(kind, &example, out),
        }
    }
}

fn show_example(kind: Kind, example: &Example<'_>, out: &mut String) {
    out.push_str(match (example.role, kind) {
        // A note does not mean that the program is wrong.
        (Role::Wrong, Kind::Note) => "With the note",
        (Role::Right, Kind::Note) => "Without it",
        (Role::Wrong, _) => "Wrong",
        (Role::Right, _) => "Right",
        (Role::RunTime, _) => "Accepted, and checked when it is called",
    });
    for (i, arch) in example.archs.iter().enumerate() {
        out.push_str(if i == 0 { " with `" } else { " " });
        let _ = write!(out, "--arch {arch}");
    }
    out.push_str(if example.archs.is_empty() {
        ":\n\n"
    } else {
        "`:\n\n"
    });
    for line in example.program.lines() {
        let _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { "    " });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_and_reasons_are_parts() {
        let text =
            "A fact.\n\n```croq,wrong,arch=sm_80\nx\n```\n\nA remedy:\n\n```croq,right\ny\n```\n";
        let found = parts(text);
        let example = |role, archs: &[&'static str], program| {
            Part::Example(Example {
                role,
                archs: archs.to_vec(),
                program,
            })
        };
        let expected = [
            Part::Text("A fact."),
            example(Role::Wrong, &["sm_80"], "x\n"),
            Part::Text("A remedy:"),
            example(Role::Right, &[], "y\n"),
        ];
        assert_eq!(found, expected);
        let found = parts("A fact.\n\n<!-- no example: it rains -->\n");
        assert_eq!(found, [Part::Text("A fact."), Part::NoExample("it rains")]);
    }

    #[test]
    fn another_fence_stays_text() {
        for text in [
            "```croq,wrnog\nx\n```",
            "```rust\nx\n```",
            "```croq,wrong,fast\nx\n```",
        ] {
            assert_eq!(parts(text), [Part::Text(text)]);
        }
    }

    #[test]
    fn a_terminal_gets_no_fences() {
        let mut out = String::new();
        show(
            Kind::Error,
            "A fact.\n\n```croq,wrong,arch=sm_80,arch=sm_90a\nx\n\ny\n```\n",
            &mut out,
        );
        let expected = "A fact.\n\nWrong with `--arch sm_80 --arch sm_90a`:\n\n    x\n\n    y\n";
        assert_eq!(out, expected);
    }
}
