//! Generated C++ as people read it: without `#line` directives, in lines of at most 120 columns. What compilers get keeps
//! each statement on one line, so that `__LINE__` is the `.co` line.

const COLUMNS: usize = 120;

/// The device text for display.
pub fn for_people(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().filter(|line| !is_directive(line)) {
        // A directive often stands between two empty lines.
        let empty = line.trim().is_empty();
        if !(empty && blank) {
            wrap(line, &mut out);
        }
        blank = empty;
    }
    out
}

/// `#line 12 "kernels/scale.co"`
fn is_directive(line: &str) -> bool {
    let number = line
        .strip_prefix("#line ")
        .and_then(|rest| rest.split_once(' '));
    number.is_some_and(|(number, file)| {
        number.bytes().all(|b| b.is_ascii_digit()) && file.starts_with('"')
    })
}

/// The line, broken behind commas and before operators where it is too long. Comments, preprocessor lines and text without a
/// place to break stay as they are.
fn wrap(line: &str, out: &mut String) {
    let indent = line.len() - line.trim_start().len();
    let whole = line.trim_start().starts_with(['#', '/']) || line.ends_with('\\');
    let mut rest = line.to_owned();
    while !whole && rest.chars().count() > COLUMNS {
        let Some(at) = place_to_break(&rest, indent) else {
            break;
        };
        let (head, tail) = rest.split_at(at);
        out.push_str(head.trim_end());
        out.push('\n');
        rest = format!("{}{}", " ".repeat(indent + 4), tail.trim_start());
    }
    out.push_str(&rest);
    out.push('\n');
}

/// The last place within the columns at the least depth of parentheses, behind a comma if there is
/// one, else before the operator that binds least; outside of strings.
fn place_to_break(line: &str, indent: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut quoted = None;
    let mut escaped = false;
    let mut best: Option<((usize, usize), usize)> = None;
    for (column, (at, c)) in line.char_indices().enumerate() {
        if column >= COLUMNS {
            break;
        }
        if let Some(quote) = quoted {
            quoted = (escaped || c != quote).then_some(quote);
            escaped = c == '\\' && !escaped;
            continue;
        }
        match c {
            '"' | '\'' => quoted = Some(c),
            '(' | '{' | '[' => depth += 1,
            // Template arguments; comparisons have spaces around them.
            '<' if line.get(..at).is_some_and(ends_in_name) => depth += 1,
            '>' if line
                .get(..at)
                .is_some_and(|before| !before.ends_with([' ', '-'])) =>
            {
                depth = depth.saturating_sub(1);
            }
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            ' ' if column > indent + 8 => {
                let (before, after) = line.split_at(at);
                let operators = [["&& ", "|| "], ["? ", ": "], ["+ ", "* "]];
                let begins = |o: &&str| after.trim_start().starts_with(*o);
                let operator = operators.iter().position(|of| of.iter().any(begins));
                let class = match before.ends_with([',', ';']) {
                    true => Some(0),
                    // The one that binds least comes first.
                    false => operator.map(|class| class + 1),
                };
                let rank = class.map(|class| (depth, class));
                if let Some(rank) = rank
                    && best.is_none_or(|(least, _)| rank <= least)
                {
                    best = Some((rank, at));
                }
            }
            _ => {}
        }
    }
    best.map(|(_, at)| at)
}

fn ends_in_name(text: &str) -> bool {
    text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::for_people;

    #[test]
    fn directives_go_and_long_lines_break_at_the_least_depth() {
        let argument = "f(alpha, beta) + gamma";
        let call = format!("  launch({}, \"a, b\");", [argument; 8].join(", "));
        let text = format!("#line 3 \"a.co\"\nint x;\n\n#line 9 \"a.cc\"\n\n{call}\n");
        let shown = for_people(&text);
        assert!(!shown.contains("#line"), "{shown}");
        assert!(shown.starts_with("int x;\n\n  launch("), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= 120), "{shown}");
        assert!(
            lines[3].starts_with("      f(alpha, beta) + gamma"),
            "{shown}"
        );
        let joined: Vec<&str> = lines[2..].iter().map(|line| line.trim()).collect();
        assert_eq!(joined.join(" "), call.trim());
    }

    #[test]
    fn what_cannot_be_broken_stays() {
        for line in [
            format!("// {}", "word, ".repeat(40)),
            format!("#define M {}", "a, ".repeat(60)),
            format!("const char *s = \"{}\";", "a, ".repeat(60)),
        ] {
            assert_eq!(for_people(&line), format!("{line}\n"));
        }
        assert_eq!(for_people(""), "");
        assert_eq!(for_people("#line\n#line x \"\"\n"), "#line\n#line x \"\"\n");
    }
}
