//! Parses the output of C++ compilers, nvcc and ptxas, and finds the `.co` line of each message.
//! Because of `#line` the compilers report `.co` lines; ptxas reports a kernel's name.

use super::canonical::PresumedLines;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    Error,
    Warning,
    Note,
}

/// One message with its detail lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    pub severity: Severity,
    pub file: Option<String>,
    pub line: u32,
    pub text: String,
    /// The function, in a message about a frame that is too large: its line is one of the device
    /// API's if the function was inlined there.
    pub function: Option<String>,
    /// The architectures that ptxas compiles for, in its messages.
    pub archs: Vec<String>,
    /// The lines below it: details and notes.
    pub details: Vec<String>,
}

/// g++'s note on the use of a macro.
const IN_EXPANSION: &str = "in expansion of macro";

/// Splits a compiler's output into messages. Lines before the first one, such as "In function …",
/// are dropped, because the messages contain the same information; if there is no message at all,
/// the caller shows the whole output.
pub fn parse(output: &str) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut function: Option<&str> = None;
    for row in output.lines() {
        let row = row.trim_end();
        if row.contains(": In ") && row.ends_with(':') {
            function = Some(row);
        }
        if let Some(arch) = compiled_for(row) {
            of_architecture(&mut messages, arch);
        }
        match read_row(row).map(|message| message.in_function(function)) {
            Some(message) if message.severity == Severity::Note => {
                if let Some(last) = messages.last_mut() {
                    last.details.push(match &message.file {
                        Some(file) => format!("{file}:{}: {}", message.line, message.text),
                        None => message.text,
                    });
                }
            }
            Some(message) => messages.push(message),
            None => {
                let Some(last) = messages.last_mut() else {
                    continue;
                };
                if is_caret(row) {
                    // nvcc prints the source line above its caret.
                    last.details.pop();
                } else if is_detail(row) {
                    last.details.push(row.trim().to_owned());
                }
            }
        }
    }
    without_consequences(one_of_all_architectures(messages))
}

/// The architecture in `ptxas info    : Compiling entry function '_Z…' for 'sm_90a'`.
fn compiled_for(row: &str) -> Option<&str> {
    let rest = row.strip_prefix("ptxas info")?;
    let (_, rest) = rest.split_once("Compiling entry function")?;
    rest.rsplit_once(" for '")?.1.strip_suffix('\'')
}

/// ptxas prints the messages about one architecture before the names of its functions.
fn of_architecture(messages: &mut [Message], arch: &str) {
    let of_ptxas = |message: &&mut Message| message.file.is_none() && message.archs.is_empty();
    for message in messages.iter_mut().filter(of_ptxas) {
        message.archs.push(arch.to_owned());
    }
}

/// Makes one message of those that ptxas has about a function for several architectures.
fn one_of_all_architectures(messages: Vec<Message>) -> Vec<Message> {
    let mut kept: Vec<Message> = Vec::new();
    for message in messages {
        // The numbers after the comma may differ.
        let (head, numbers) = message.parts();
        let same = |earlier: &&mut Message| {
            let differ = message
                .archs
                .iter()
                .any(|arch| !earlier.archs.contains(arch));
            differ && earlier.severity == message.severity && earlier.parts().0 == head
        };
        match kept
            .iter_mut()
            .find(same)
            .filter(|_| message.file.is_none())
        {
            Some(earlier) if earlier.text == message.text => {
                earlier.archs.extend(message.archs);
            }
            Some(earlier) => {
                let also = message.archs.join(", ");
                earlier.details.push(format!("for {also}: {numbers}"));
            }
            None => kept.push(message),
        }
    }
    kept
}

/// Leaves out errors in the launch of a kernel if there are others: after an error in C++ text of the
/// user's a compiler may not know the kernel any more.
fn without_consequences(mut messages: Vec<Message>) -> Vec<Message> {
    let is_cause = |m: &Message| m.severity == Severity::Error && !m.is_of_launch();
    if messages.iter().any(is_cause) {
        messages.retain(|m| m.severity != Severity::Error || !m.is_of_launch());
    }
    messages
}

/// Whether the line is a source excerpt, a caret, a count or a context line, which a report of
/// croq's does not need.
fn is_detail(row: &str) -> bool {
    let text = row.trim();
    let of_ptxas = text.starts_with("ptxas info") || text.contains(" bytes stack frame, ");
    let excerpt = text.split_once('|').is_some_and(|(before, _)| {
        before.trim().is_empty() || before.trim().bytes().all(|b| b.is_ascii_digit())
    });
    let context = text.ends_with(':')
        && (text.contains("In function") || text.contains("In member"))
        || text.starts_with("In file included from")
        || text.starts_with("from ")
        || text.contains(" errors detected in the compilation of")
        || text.contains(" error detected in the compilation of")
        || text.starts_with("Remark:")
        || text.ends_with("warning generated.")
        || text.ends_with("warnings generated.");
    !text.is_empty() && !excerpt && !context && !of_ptxas
}

/// Whether a note is about the macros that count the loops of the user's C++, `for` and `while`.
fn is_of_loops(detail: &str) -> bool {
    let names = ["‘for’", "‘while’", "'for'", "'while'"];
    let expansion =
        detail.contains(IN_EXPANSION) && names.iter().any(|name| detail.ends_with(name));
    expansion || detail.contains("croq_loops_counted.h:")
}

fn is_caret(row: &str) -> bool {
    !row.trim().is_empty() && row.chars().all(|c| matches!(c, '^' | '~' | ' '))
}

fn read_row(row: &str) -> Option<Message> {
    ptxas_row(row).or_else(|| {
        let words = [
            ("fatal error", Severity::Error),
            ("catastrophic error", Severity::Error),
            ("error", Severity::Error),
            ("warning", Severity::Warning),
            ("note", Severity::Note),
        ];
        // The first word counts: the text of a message may contain any of them.
        let (at, word, severity) = words
            .iter()
            .filter_map(|(word, severity)| {
                Some((row.find(&format!(": {word}"))?, *word, *severity))
            })
            .min_by_key(|(at, ..)| *at)?;
        let place = row.get(..at)?;
        let rest = row.get(at + 2 + word.len()..)?;
        // `error: text`, `error #20: text`, `warning #177-D: text`
        let (number, text) = rest.split_once(':')?;
        if !(number.is_empty() || number.starts_with(" #")) {
            return None;
        }
        let (file, line) = read_place(place)?;
        Some(Message {
            severity,
            file: Some(file),
            line,
            text: text.trim().to_owned(),
            function: None,
            archs: Vec::new(),
            details: Vec::new(),
        })
    })
}

/// `scale.co:12:5`, `scale.co:12` or `scale.co(12)`.
fn read_place(place: &str) -> Option<(String, u32)> {
    if let Some((file, line)) = place.strip_suffix(')').and_then(|p| p.rsplit_once('(')) {
        return Some((file.to_owned(), line.parse().ok()?));
    }
    let (before, last) = place.rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    match before
        .rsplit_once(':')
        .map(|(file, line)| (file, line.parse::<u32>()))
    {
        Some((file, Ok(line))) => Some((file.to_owned(), line)),
        _ => Some((before.to_owned(), last)),
    }
}

/// `ptxas warning : Registers are spilled …`, `ptxas info    : (C7510) Potential Performance Loss…`
fn ptxas_row(row: &str) -> Option<Message> {
    let rest = row.strip_prefix("ptxas ")?;
    let (head, text) = rest.split_once(": ").or_else(|| rest.split_once(':'))?;
    // `ptxas /tmp/x.ptx, line 42; error   : text`
    let head = head.rsplit(';').next().unwrap_or(head).trim();
    let severity = match head {
        "error" | "fatal" => Severity::Error,
        "warning" => Severity::Warning,
        // ptxas reports the serialisation of wgmma, for whatever reason (C7510 and the following
        // numbers), as an information, although it costs most of the speed.
        "info" if text.contains("wgmma.mma_async instructions are serialized") => Severity::Error,
        // C7507: the kernel keeps the registers that it started with.
        "info" if text.contains("'setmaxnreg' ignored") => Severity::Warning,
        _ => return None,
    };
    Some(Message {
        severity,
        file: None,
        line: 0,
        text: format!("ptxas: {}", text.trim()),
        function: None,
        archs: Vec::new(),
        details: Vec::new(),
    })
}

/// The `.co` file of a compiled text.
pub struct Origin<'a> {
    /// The path in `#line`.
    pub path: &'a str,
    pub source: &'a str,
    pub device_text: &'a str,
}

impl Message {
    fn is_of_launch(&self) -> bool {
        // gcc, clang
        const WORDS: [&str; 2] = [IN_EXPANSION, "expanded from macro"];
        let mut details = self.details.iter();
        details.any(|d| d.contains("CROQ_LAUNCH") && WORDS.iter().any(|words| d.contains(words)))
    }

    /// Whether the message is about a frame that is larger than the stack of a simulated thread
    /// allows.
    fn is_of_frame(&self) -> bool {
        // gcc, clang
        self.text.contains("frame size of") || self.text.contains("stack frame size")
    }

    /// The text before and after its first comma.
    fn parts(&self) -> (&str, &str) {
        let (head, rest) = self.text.split_once(',').unwrap_or((&self.text, ""));
        (head, rest.trim())
    }

    /// The text, with the name of the kernel and of the architecture in a message of ptxas.
    pub fn described(&self) -> String {
        let mut text = self.text.clone();
        if self.file.is_some() {
            return text;
        }
        if let Some(kernel) = mangled_name(&self.text)
            && let Some((before, rest)) = self.text.split_once("function '")
            && let Some((_, after)) = rest.split_once('\'')
        {
            let before = before.strip_suffix("the ").unwrap_or(before);
            text = format!("{before}kernel `{kernel}`{after}");
        }
        match self.archs.as_slice() {
            [] => text,
            archs => format!("{text} (for {})", archs.join(", ")),
        }
    }

    fn in_function(mut self, function: Option<&str>) -> Self {
        if self.is_of_frame() {
            self.function = function.map(str::to_owned);
        }
        self
    }
}

impl Origin<'_> {
    /// The trimmed text of the message's line; `None` if the message is about another file.
    pub fn span(&self, message: &Message) -> Option<Span> {
        match &message.file {
            _ if message.is_of_frame() && self.kernel_of(message).is_some() => {
                self.line_span(self.kernel_of(message)?)
            }
            Some(file) if file == self.path => self.line_span(message.line),
            Some(_) => self.line_span(self.line_of_expansion(message)?),
            None => {
                let kernel = mangled_name(&message.text)?;
                let call = format!("{kernel}(");
                let line = PresumedLines::of(self.device_text)
                    .find(|(_, row)| row.contains(&call))
                    .and_then(|(line, _)| line)?;
                self.line_span(line)
            }
        }
    }

    /// The line on which the `.co` file uses the macro that the message is about: g++ reports what a
    /// macro adds to its arguments at the macro, such as the `;` that is missing in the head of a
    /// `for` (`croq_loops_counted.h`).
    fn line_of_expansion(&self, message: &Message) -> Option<u32> {
        message.details.iter().find_map(|detail| {
            let (line, text) = detail
                .strip_prefix(self.path)?
                .strip_prefix(':')?
                .split_once(':')?;
            text.contains(IN_EXPANSION).then(|| line.parse().ok())?
        })
    }

    /// The line of the kernel that the message names.
    fn kernel_of(&self, message: &Message) -> Option<u32> {
        let said = message.function.as_deref().unwrap_or_default();
        let names = |name: &str| {
            let words = |text: &str| {
                let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                words.any(|word| word == name)
            };
            words(said) || words(&message.text)
        };
        PresumedLines::of(self.device_text)
            .filter(|(_, row)| row.starts_with("CROQ_KERNEL"))
            .find(|(_, row)| {
                let head = row
                    .split(" void ")
                    .nth(1)
                    .and_then(|rest| rest.split('(').next());
                head.is_some_and(names)
            })
            .and_then(|(line, _)| line)
    }

    fn line_span(&self, number: u32) -> Option<Span> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let mut start = 0;
        for (at, row) in self.source.split_inclusive('\n').enumerate() {
            if at == index {
                let indent = row.len() - row.trim_start().len();
                let from = u32::try_from(start + indent).ok()?;
                let to = u32::try_from(start + row.trim_end().len()).ok()?;
                return Some(Span::new(from.min(to), to));
            }
            start += row.len();
        }
        None
    }

    /// A diagnostic on the `.co` line, or `None` if the message has no such line.
    pub fn diagnostic(&self, message: &Message, codes: &Codes) -> Option<Diagnostic> {
        let span = self.span(message)?;
        let (code, verb) = match message.severity {
            Severity::Error => (codes.error, "rejects"),
            _ => (codes.warning, "warns about"),
        };
        let mut diagnostic = Diagnostic::new(
            code,
            span,
            format!(
                "{} {verb} the code of this line: {}",
                codes.compiler,
                message.described()
            ),
        )
        .label("generated from this");
        let details = message.details.iter().filter(|detail| !is_of_loops(detail));
        for detail in details.take(8) {
            diagnostic = diagnostic.note(detail.clone());
        }
        if message.is_of_frame() {
            diagnostic = diagnostic.help(
                "a thread of the simulated GPU has a stack of fixed size; croq's own arrays lie elsewhere: use `local` or \
                 `shared` arrays of the `__co__` function instead of arrays in C++, or fewer variables",
            );
        }
        Some(diagnostic)
    }
}

/// The codes for the messages of one compiler.
pub struct Codes {
    pub compiler: &'static str,
    pub error: Code,
    pub warning: Code,
}

/// `… '_ZN13croq_0123abcd7scale_0EN4croq…'` → `scale_0`: the last part of the first nested name of
/// the Itanium C++ ABI in the text.
fn mangled_name(text: &str) -> Option<&str> {
    let (_, mut rest) = text.split_once("_ZN")?;
    let mut name = None;
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length: usize = rest.get(..digits)?.parse().ok()?;
        let end = digits.checked_add(length)?;
        name = Some(rest.get(digits..end)?);
        rest = rest.get(end..)?;
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: Codes = Codes {
        compiler: "the C++ compiler",
        error: crate::diagnostics::codes::E1112,
        warning: crate::diagnostics::codes::W1112,
    };

    #[test]
    fn gcc_and_clang_messages_are_read() {
        let output = "\
In file included from /out/scale.cc:1:
kernels/scale.co: In function ‘void f()’:
kernels/scale.co:12:5: error: ‘frob’ was not declared in this scope
   12 |     frob();
      |     ^~~~
kernels/scale.co:12:5: note: suggested alternative: ‘from’
kernels/scale.co:14: warning: unused variable ‘x’ [-Wunused-variable]
";
        let messages = parse(output);
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0].line, 12);
        assert_eq!(messages[0].text, "‘frob’ was not declared in this scope");
        assert_eq!(
            messages[0].details,
            ["kernels/scale.co:12: suggested alternative: ‘from’"]
        );
        assert_eq!(
            (messages[1].severity, messages[1].line),
            (Severity::Warning, 14)
        );
    }

    #[test]
    fn errors_of_launches_follow_from_others() {
        let of_launch = "\
kernels/scale.co:23:3: error: ‘scale_0’ was not declared in this scope
/out/croq.h:117:9: note: in definition of macro ‘CROQ_TRY’
kernels/scale.co:23: note: in expansion of macro ‘CROQ_LAUNCH’
";
        let own = "kernels/scale.co:36:9: error: expected primary-expression before ‘int’\n";
        let lines = |output: &str| -> Vec<u32> { parse(output).iter().map(|m| m.line).collect() };
        assert_eq!(lines(&format!("{of_launch}{own}")), [36]);
        // Alone it is the cause.
        assert_eq!(lines(of_launch), [23]);
        let warning = own.replace("error", "warning");
        assert_eq!(lines(&format!("{of_launch}{warning}")), [23, 36]);
    }

    #[test]
    fn nvcc_messages_are_read() {
        let output = "\
kernels/scale.co(12): error: identifier \"frob\" is undefined
      frob();
      ^

kernels/scale.co(14): warning #177-D: variable \"x\" was declared but never referenced
Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"
1 error detected in the compilation of \"/out/scale.cc\".
";
        let messages = parse(output);
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0].text, "identifier \"frob\" is undefined");
        assert_eq!(messages[0].details, Vec::<String>::new());
        assert_eq!(
            messages[1].text,
            "variable \"x\" was declared but never referenced"
        );
        assert_eq!(messages[1].line, 14);
    }

    #[test]
    fn ptxas_speaks_of_a_kernel_and_serialised_wgmma_is_an_error() {
        let output = "\
ptxas info    : 0 bytes gmem
ptxas warning : Registers are spilled to local memory in function '_ZN13croq_0123abcd7scale_0EN4croq7contextE', 8 bytes spill stores
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized in function '_ZN13croq_0123abcd7scale_0E'
ptxas info    : (C7517) Potential Performance Loss: wgmma.mma_async instructions are serialized due to ill formed pipeline stage in the function '_ZN13croq_0123abcd7scale_0E'
ptxas info    : (C7507) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements.
ptxas /tmp/a.ptx, line 9; error   : Unknown modifier
";
        let messages = parse(output);
        assert_eq!(
            messages.iter().map(|m| m.severity).collect::<Vec<_>>(),
            [
                Severity::Warning,
                Severity::Error,
                Severity::Error,
                Severity::Warning,
                Severity::Error
            ]
        );
        let origin = Origin {
            path: "scale.co",
            source: "a\nb\n  parallel {\n",
            device_text: "#include \"croq.h\"\n#line 3 \"scale.co\"\nCROQ_KERNEL(64) void scale_0(int);\n",
        };
        assert_eq!(origin.span(&messages[0]), Some(Span::new(6, 16)));
        assert_eq!(origin.span(&messages[2]), Some(Span::new(6, 16)));
        assert_eq!(origin.span(&messages[4]), None);
    }

    #[test]
    fn spills_name_the_kernel_and_the_architectures() {
        let of = |arch: &str, bytes: u32| {
            format!(
                "ptxas warning : Registers are spilled to local memory in function \
                 '_ZN9croq_01237scale_0EPfi', {bytes} bytes spill stores\n\
                 ptxas info    : 0 bytes gmem\n\
                 ptxas info    : Compiling entry function '_ZN9croq_01237scale_0EPfi' for '{arch}'\n\
                 ptxas info    : Function properties for _ZN9croq_01237scale_0EPfi\n    \
                 64 bytes stack frame, {bytes} bytes spill stores, 8 bytes spill loads\n\
                 ptxas info    : Used 32 registers\n"
            )
        };
        let messages = parse(&(of("sm_80", 8) + &of("sm_90a", 16) + &of("sm_100a", 8)));
        let [message] = messages.as_slice() else {
            panic!("{messages:?}");
        };
        assert_eq!(
            message.described(),
            "ptxas: Registers are spilled to local memory in kernel `scale_0`, \
             8 bytes spill stores (for sm_80, sm_100a)"
        );
        assert_eq!(message.details, ["for sm_90a: 16 bytes spill stores"]);
    }

    #[test]
    fn a_message_lands_on_its_line_and_others_do_not() {
        let origin = Origin {
            path: "k/a.co",
            source: "one\n  two  \n\n",
            device_text: "",
        };
        let at = |file: &str, line| Message {
            severity: Severity::Error,
            file: Some(file.to_owned()),
            line,
            text: "no".to_owned(),
            function: None,
            archs: Vec::new(),
            details: Vec::new(),
        };
        let diagnostic = origin
            .diagnostic(&at("k/a.co", 2), &CODES)
            .expect("on line 2");
        assert_eq!(diagnostic.primary.span, Span::new(6, 9));
        assert_eq!(diagnostic.code, "E1112");
        // The compiler's text is in the message alone.
        assert_eq!(diagnostic.primary.text, "generated from this");
        assert_eq!(origin.span(&at("k/a.co", 3)), Some(Span::new(12, 12)));
        assert_eq!(origin.span(&at("k/a.co", 99)), None);
        assert_eq!(origin.span(&at("k/a.co", 0)), None);
        assert_eq!(origin.span(&at("k/b.h", 1)), None);
    }

    #[test]
    fn errors_in_the_head_of_a_loop_are_on_the_line_of_the_loop() {
        let output = "\
/out/croq_loops_counted.h:13:34: error: expected ‘;’ before ‘)’ token
   13 | #define for(...) for (__VA_ARGS__) if (croq_turn(), false) {} else
      |                                  ^
k/a.co:2:3: note: in expansion of macro ‘for’
    2 |   for (int i = 0; i < n, i++)
      |   ^~~
k/a.co:3:23: error: ‘m’ was not declared in this scope
/out/croq_loops_counted.h:13:23: note: in definition of macro ‘for’
/out/other.h:1:1: error: expected unqualified-id
";
        let origin = Origin {
            path: "k/a.co",
            source: "one\n  two\nthree\n",
            device_text: "",
        };
        let messages = parse(output);
        let of_file: Vec<_> = messages
            .iter()
            .filter_map(|m| origin.diagnostic(m, &CODES))
            .collect();
        let spans: Vec<_> = of_file.iter().map(|d| d.primary.span).collect();
        assert_eq!(spans, [Span::new(6, 9), Span::new(10, 15)]);
        assert!(of_file.iter().all(|d| d.notes.is_empty()), "{of_file:?}");
    }

    #[test]
    fn frames_that_are_too_large_are_the_kernels_or_the_functions() {
        let output = "\
k/a.co: In function ‘float deep(float*)’:
k/a.co:2:1: error: the frame size of 80000 bytes is larger than 32768 bytes [-Werror=frame-larger-than=]
/out/sim/host.h: In static member function ‘static void croq::sim::host::run_thread(void*, croq_sim_thread*) [with B = croq::sim::host::launch<void (*)(croq::sim::context), croq_1_sim::wide_0, 1, 0>(const char*)::<lambda()>]’:
/out/sim/host.h:262:3: error: the frame size of 40000 bytes is larger than 32768 bytes [-Werror=frame-larger-than=]
";
        let messages = parse(output);
        let origin = Origin {
            path: "k/a.co",
            source: "one\n  two\nthree\n",
            device_text: "#line 3 \"k/a.co\"\nCROQ_KERNEL(64) void wide_0(croq::context) {\n}\n",
        };
        let at: Vec<_> = messages.iter().map(|m| origin.span(m)).collect();
        assert_eq!(at, [Some(Span::new(6, 9)), Some(Span::new(10, 15))]);
    }

    #[test]
    fn odd_names_do_no_harm() {
        assert_eq!(mangled_name("_ZN99x"), None);
        assert_eq!(mangled_name("_ZN3abcE"), Some("abc"));
        assert_eq!(mangled_name("_ZN18446744073709551615a"), None);
        assert_eq!(mangled_name("plain"), None);
    }
}
