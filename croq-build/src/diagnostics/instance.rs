//! The instance of a template that a report is about.
//!
//! Instances share one text, so that one mistake is found in each of them: it is one report, with
//! the names of all.

use std::sync::Arc;

use crate::span::Span;

/// The most instances that one report lists.
const LISTED: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceName {
    /// `scaled<f16, 64, true>`
    pub text: Arc<str>,
    pub asked: Asked,
}

/// Who asked for an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A line of the file.
    Here(Span),
    /// The instance has a body of its own, under this name.
    Specialised(Span),
    /// `Config::instantiate` in the build script.
    Build,
}

impl Asked {
    pub fn span(self) -> Option<Span> {
        match self {
            Self::Here(span) | Self::Specialised(span) => Some(span),
            Self::Build => None,
        }
    }
}

impl InstanceName {
    pub fn new(text: &str, asked: Asked) -> Self {
        Self {
            text: text.into(),
            asked,
        }
    }
}

/// What a report on instances adds: notes with their names, and the place where the first of them was
/// asked for.
pub(super) fn described(instances: &[InstanceName]) -> (Vec<String>, Option<(Span, String)>) {
    let name = |instance: &InstanceName| format!("`{}`", instance.text);
    let mut notes = Vec::new();
    match instances {
        [] => return (notes, None),
        [one] => notes.push(format!("in the instance {}", name(one))),
        all => {
            let names: Vec<String> = all.iter().take(LISTED).map(name).collect();
            let rest = match all.len().saturating_sub(LISTED) {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            notes.push(format!(
                "in {} instances: {}{rest}",
                all.len(),
                names.join(", ")
            ));
        }
    }
    let of_build = |instance: &&InstanceName| instance.asked == Asked::Build;
    if let Some(instance) = instances.iter().find(of_build) {
        notes.push(format!(
            "build.rs asks for {} by `Config::instantiate`",
            name(instance)
        ));
    }
    let place = instances.iter().find_map(|instance| {
        let does = match instance.asked {
            Asked::Specialised(_) => "is specialised here",
            _ => "is asked for here",
        };
        Some((instance.asked.span()?, format!("{} {does}", name(instance))))
    });
    (notes, place)
}
