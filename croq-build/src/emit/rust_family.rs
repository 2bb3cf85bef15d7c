//! The Rust function of a template: generic over a trait that its instances implement.
//!
//! Each instance has private wrappers. The trait's methods call them, and the public functions call
//! the methods, so rustc selects the instance. The trait cannot be implemented elsewhere, and if no
//! instance fits, rustc's message lists those that exist.

use std::fmt::Write as _;

use super::declared::Declared;
use super::doc_comment;
use super::family::{Family, Member, Varying, is_type, rust_argument};
use super::file_meta::FileMeta;
use super::rust_types::{Naming, Style, listed};
use super::signature;
use super::writer::Lines;
use crate::ir::ParamId;
use crate::source::templates::Argument;

/// The Rust names of a family.
pub struct FamilyNames {
    pub plain: String,
    /// The function that only enqueues.
    pub enqueued: Option<String>,
    pub sealed: String,
    pub interface: String,
}

/// The wrappers of one instance.
pub struct MemberNames {
    pub plain: String,
    pub enqueued: Option<String>,
}

pub struct Printer<'a> {
    pub meta: &'a FileMeta,
    pub declared: &'a Declared<'a>,
    pub lines: &'a Lines<'a>,
    pub family: &'a Family<'a>,
    pub names: &'a FamilyNames,
    /// In the order of the family's members.
    pub members: Vec<MemberNames>,
}

/// The name of the trait of a template: `ScaledInstance`.
pub fn interface(template: &str) -> String {
    let words = template.split('_').filter(|word| !word.is_empty());
    let capitalised = words.map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    format!("{}Instance", capitalised.collect::<String>())
}

/// The position of a signature.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A method of the trait.
    Trait,
    /// A function that all instances share.
    Function,
    /// A method of an instance.
    Instance,
}

/// The two forms of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Waits,
    Enqueues,
}

impl Form {
    fn method(self) -> &'static str {
        match self {
            Form::Waits => "call",
            Form::Enqueues => "enqueue",
        }
    }

    fn tensor(self) -> &'static str {
        match self {
            Form::Waits => "Tensor",
            Form::Enqueues => "DeviceTensor",
        }
    }
}

impl Printer<'_> {
    pub fn write(&self, text: &mut String) {
        let Some(first) = self.family.members.first() else {
            return;
        };
        self.public(text, first, Form::Waits);
        if self.names.enqueued.is_some() {
            self.public(text, first, Form::Enqueues);
        }
        self.interface(text, first);
        for (at, (member, names)) in self.family.members.iter().zip(&self.members).enumerate() {
            self.instance(text, at, member, names);
        }
    }

    fn forms(&self) -> impl Iterator<Item = Form> {
        let enqueued = self.names.enqueued.as_ref().map(|_| Form::Enqueues);
        std::iter::once(Form::Waits).chain(enqueued)
    }

    fn line_of(&self, offset: u32) -> u32 {
        self.lines.number(offset)
    }

    /// The name of a generic parameter at this position.
    fn generic(&self, param: usize, place: Place) -> String {
        if place == Place::Trait && self.family.decided.first() == Some(&param) {
            return "Self".to_owned();
        }
        let name = self.family.generics.get(param);
        name.cloned().unwrap_or_default()
    }

    /// `ScaledInstance<Tile>`
    fn bound(&self) -> String {
        let params = self.parameters_of_interface();
        let names: Vec<String> = params.map(|p| self.generic(p, Place::Function)).collect();
        match names.is_empty() {
            true => self.names.interface.clone(),
            false => format!("{}<{}>", self.names.interface, names.join(", ")),
        }
    }

    /// The parameters of the trait: all except the first decided one, whose argument implements it.
    fn parameters_of_interface(&self) -> impl Iterator<Item = usize> {
        let family = self.family;
        family
            .chosen
            .iter()
            .chain(family.decided.iter().skip(1))
            .copied()
    }

    /// The type that implements the trait.
    fn implementor(&self) -> String {
        match self.family.decided.first() {
            Some(param) => self.generic(*param, Place::Function),
            None => "()".to_owned(),
        }
    }

    /// `const Tile: usize`, `U: Element`
    fn declaration(&self, param: usize) -> String {
        let name = self.generic(param, Place::Function);
        if is_type(self.family.template, param) {
            return format!("{name}: Element");
        }
        let example = self.family.members.first().and_then(|m| m.argument(param));
        let ty = match example {
            Some(Argument::Bool(_)) => "bool",
            _ if self.family.is_extent(param) => "usize",
            _ => "i32",
        };
        format!("const {name}: {ty}")
    }

    fn varying(&self, varying: &Varying, place: Place) -> String {
        match (varying, place) {
            (Varying::Parameter(param), _) if is_type(self.family.template, *param) => {
                self.generic(*param, place)
            }
            (Varying::Parameter(param), _) => format!("Const<{}>", self.generic(*param, place)),
            (Varying::Own { name, .. }, Place::Function) => {
                format!("<{} as {}>::{name}", self.implementor(), self.bound())
            }
            (Varying::Own { name, .. }, _) => format!("Self::{name}"),
        }
    }

    fn style(&self, place: Place) -> Style {
        let family = self.family;
        if place == Place::Instance {
            return Style {
                written: family.written.clone(),
                ..Style::default()
            };
        }
        let elem = |param: &Option<usize>| param.map(|param| self.generic(param, place));
        Style {
            generics: family.generics.clone(),
            elems: family.template.decided.iter().map(elem).collect(),
            extents: (family.extents.iter())
                .map(|(at, varying)| (*at, self.varying(varying, place)))
                .collect(),
            written: family.written.clone(),
            results: (family.results.iter())
                .map(|varying| varying.as_ref().map(|v| self.varying(v, place)))
                .collect(),
            result_extents: (family.result_extents.iter())
                .map(|(at, varying)| (*at, self.varying(varying, place)))
                .collect(),
        }
    }

    /// From the parameters on: `(\n    x: …,\n) -> Result<…>`.
    fn signature(&self, naming: &Naming, member: &Member<'_>, form: Form, pad: &str) -> String {
        let mut text = String::from("(\n");
        if form == Form::Enqueues {
            let _ = writeln!(text, "{pad}    {}: &Stream,", naming.stream);
        }
        for id in (0..).map(ParamId).take(member.function.params.len()) {
            let ty = naming.param_type(member.function, id);
            let _ = writeln!(text, "{pad}    {}: {ty},", naming.param(id));
        }
        let result = naming.return_type(member.function, form.tensor());
        let _ = write!(text, "{pad}) -> Result<{result}>");
        text
    }

    fn arguments(naming: &Naming, member: &Member<'_>, form: Form) -> String {
        let stream = (form == Form::Enqueues).then_some(naming.stream.as_str());
        let params = (0..).map(ParamId).take(member.function.params.len());
        let names = stream.into_iter().chain(params.map(|id| naming.param(id)));
        names.collect::<Vec<_>>().join(", ")
    }

    fn unsafety(&self) -> &'static str {
        if self.meta.unchecked { "unsafe " } else { "" }
    }

    /// The public function.
    fn public(&self, text: &mut String, first: &Member<'_>, form: Form) {
        text.push('\n');
        let naming = Naming::styled(first.function, self.style(Place::Function));
        let name = match form {
            Form::Waits => &self.names.plain,
            Form::Enqueues => self.names.enqueued.as_ref().unwrap_or(&self.names.plain),
        };
        let chosen = self
            .family
            .chosen
            .iter()
            .map(|param| self.declaration(*param));
        let decided = self
            .family
            .decided
            .iter()
            .enumerate()
            .map(|(at, param)| match at {
                0 => format!("{}: {}", self.implementor(), self.bound()),
                _ => self.declaration(*param),
            });
        let generics: Vec<String> = chosen
            .chain(decided)
            .chain(naming.generics.clone())
            .collect();
        self.documentation(text, form, &naming.stream, generics.len());
        let _ = write!(
            text,
            "pub {}fn {name}{}",
            self.unsafety(),
            listed(&generics)
        );
        text.push_str(&self.signature(&naming, first, form, ""));
        match self.family.decided.is_empty() {
            true => {
                let _ = writeln!(text, "\nwhere\n    (): {},\n{{", self.bound());
            }
            false => text.push_str(" {\n"),
        }
        let call = format!(
            "<{} as {}>::{}({})",
            self.implementor(),
            self.bound(),
            form.method(),
            Self::arguments(&naming, first, form)
        );
        let _ = writeln!(text, "    {}\n}}", self.in_unsafe(call));
    }

    fn in_unsafe(&self, call: String) -> String {
        match self.meta.unchecked {
            true => format!("unsafe {{ {call} }}"),
            false => call,
        }
    }

    /// `generics`: the number of the function's generic parameters.
    fn documentation(&self, text: &mut String, form: Form, stream: &str, generics: usize) {
        let template = self.family.template;
        let (path, line) = (&self.meta.path, self.line_of(template.span.start));
        let _ = writeln!(text, "// {path}:{line}");
        if form == Form::Enqueues {
            let plain = &self.names.plain;
            let _ = writeln!(
                text,
                "/// [`{plain}`], only enqueued on `{stream}`: it may not have run yet when this returns."
            );
            return self.safety(text);
        }
        text.push_str(&doc_comment::of(template.span.start, self.declared.text));
        let _ = writeln!(text, "/// Line {line} of `{path}`:");
        let written = signature::of_template(template, self.declared.text);
        let written = written.unwrap_or_else(|| template.name.to_string());
        text.push_str("///\n/// ```text\n");
        for line in written.lines() {
            let _ = writeln!(text, "/// {line}");
        }
        text.push_str("/// ```\n///\n/// Its instances:\n///\n");
        for member in &self.family.members {
            let name = &member.instance.name;
            let line = name.asked.span().map(|span| self.line_of(span.start));
            let origin = match line {
                Some(line) if member.instance.specialised => {
                    format!("line {line}, with a body of its own")
                }
                Some(line) => format!("line {line}"),
                None => "build.rs".to_owned(),
            };
            let call = self.call(member, generics);
            let _ = writeln!(text, "/// - `{}`{call} ({origin})", name.text);
        }
        self.safety(text);
    }

    /// How an instance is called that arguments alone do not decide: `, scaled::<128, _, _>(…)`.
    fn call(&self, member: &Member<'_>, generics: usize) -> String {
        let chosen = &self.family.chosen;
        if chosen.is_empty() {
            return String::new();
        }
        let values = chosen.iter().filter_map(|param| member.argument(*param));
        let inferred = (chosen.len()..generics).map(|_| "_".to_owned());
        let all: Vec<String> = values.map(rust_argument).chain(inferred).collect();
        format!(", `{}::<{}>(…)`", self.names.plain, all.join(", "))
    }

    fn safety(&self, text: &mut String) {
        text.push_str(self.meta.safety());
    }

    /// The trait.
    fn interface(&self, text: &mut String, first: &Member<'_>) {
        let names = self.names;
        let _ = write!(
            text,
            "\nmod {} {{\n    pub trait Sealed {{}}\n}}\n\n\
             /// The arguments for which [`{}`] has an instance.\n\
             #[diagnostic::on_unimplemented(\n    message = {:?},\n    label = {:?},\n    \
             note = {:?},\n    note = {:?}\n)]\n",
            names.sealed,
            names.plain,
            self.message(),
            format!("no such instance of `{}`", self.family.template.name),
            self.existing(),
            self.remedy(),
        );
        let generics: Vec<String> = self
            .parameters_of_interface()
            .map(|param| self.declaration(param))
            .collect();
        let element = match self.family.decided.is_empty() {
            true => "Sized",
            false => "Element",
        };
        let _ = writeln!(
            text,
            "pub trait {}{}: {}::Sealed + {element} {{",
            names.interface,
            listed(&generics),
            names.sealed
        );
        for (name, _) in self.family.associated() {
            let mut elems = self.family.results.iter().flatten();
            let is_elem = elems.any(|v| matches!(v, Varying::Own { name: own, .. } if own == name));
            let bound = if is_elem { "Element" } else { "Dim" };
            let _ = writeln!(text, "    #[doc(hidden)]\n    type {name}: {bound};");
        }
        let naming = Naming::styled(first.function, self.style(Place::Trait));
        for form in self.forms() {
            let _ = write!(
                text,
                "    #[doc(hidden)]\n    {}fn {}{}{};\n",
                self.unsafety(),
                form.method(),
                listed(&naming.generics),
                self.signature(&naming, first, form, "    ")
            );
        }
        text.push_str("}\n");
    }

    fn instance(&self, text: &mut String, at: usize, member: &Member<'_>, names: &MemberNames) {
        let implementor = |member: &Member<'_>| match self.family.decided.first() {
            Some(param) => member
                .argument(*param)
                .map_or_else(String::new, rust_argument),
            None => "()".to_owned(),
        };
        let own = implementor(member);
        text.push('\n');
        let mut before = self.family.members.iter().take(at);
        if !before.any(|other| implementor(other) == own) {
            let _ = writeln!(text, "impl {}::Sealed for {own} {{}}\n", self.names.sealed);
        }
        let arguments: Vec<String> = self
            .parameters_of_interface()
            .filter_map(|param| member.argument(param).map(rust_argument))
            .collect();
        let _ = writeln!(
            text,
            "// {}\nimpl {}{} for {own} {{",
            member.instance.name.text,
            self.names.interface,
            listed(&arguments)
        );
        for (name, types) in self.family.associated() {
            let ty = types.get(at).map_or("()", String::as_str);
            let _ = writeln!(text, "    type {name} = {ty};");
        }
        let naming = Naming::styled(member.function, self.style(Place::Instance));
        for form in self.forms() {
            let name = match form {
                Form::Waits => &names.plain,
                Form::Enqueues => names.enqueued.as_ref().unwrap_or(&names.plain),
            };
            let call = format!("self::{name}({})", Self::arguments(&naming, member, form));
            let _ = writeln!(
                text,
                "    {}fn {}{}{} {{\n        {}\n    }}",
                self.unsafety(),
                form.method(),
                listed(&naming.generics),
                self.signature(&naming, member, form, "    "),
                self.in_unsafe(call)
            );
        }
        text.push_str("}\n");
    }

    fn message(&self) -> String {
        let family = self.family;
        let decided = family
            .decided
            .iter()
            .enumerate()
            .map(|(at, param)| match at {
                0 => "`{Self}`".to_owned(),
                _ => format!("`{{{}}}`", self.generic(*param, Place::Function)),
            });
        let chosen = family.chosen.iter().map(|param| {
            let name = self.generic(*param, Place::Function);
            format!("`{name} = {{{name}}}`")
        });
        let parts: Vec<String> = chosen.chain(decided).collect();
        let name = &family.template.name;
        match parts.is_empty() {
            true => format!("the template `{name}` has no such instance"),
            false => format!(
                "the template `{name}` has no instance for {}",
                parts.join(", ")
            ),
        }
    }

    fn existing(&self) -> String {
        let all = self.family.members.iter();
        let names: Vec<String> = all.map(|m| format!("`{}`", m.instance.name.text)).collect();
        format!("its instances are {}", names.join(", "))
    }

    /// The instantiation that would add the missing instance, as a line of the `.co` file.
    fn remedy(&self) -> String {
        let family = self.family;
        let given = |at: usize| family.decided.contains(&at) || family.chosen.contains(&at);
        let params = family.template.params.iter().enumerate();
        let needed = params
            .clone()
            .filter(|(at, param)| given(*at) || param.default.is_none())
            .map(|(at, _)| at + 1)
            .max();
        let arguments = params.take(needed.unwrap_or(0)).map(|(at, param)| {
            let name = self.generic(at, Place::Trait);
            match given(at) && !is_type(family.template, at) {
                true => format!("{{{name}}}"),
                false => param.name.to_string(),
            }
        });
        let arguments: Vec<String> = arguments.collect();
        // rustc names a Rust type, such as `croq_sys::half::f16` or `i32`, which is not a name of an
        // element type.
        let types = family.template.params.iter().enumerate();
        let types = types.filter(|(at, _)| given(*at) && is_type(family.template, *at));
        let types: Vec<String> = types
            .map(|(at, param)| {
                let name = self.generic(at, Place::Trait);
                format!("{} is the element type for `{{{name}}}`", param.name)
            })
            .collect();
        let types = match types.is_empty() {
            true => String::new(),
            false => format!(", where {}", types.join(", ")),
        };
        format!(
            "to add one, write `template __co__ {}<{}>;` in {}{types}",
            family.template.name,
            arguments.join(", "),
            self.meta.path
        )
    }
}
