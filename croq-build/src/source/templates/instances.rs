//! Creates a function for each requested instance.

use std::sync::Arc;

use super::arguments::bind;
use super::calls;
use super::header;
use super::parts::{Argument, Found, Instance, Request, Specialisation, Template, shown};
use super::substitution::substitute;
use crate::diagnostics::{Asked, Diagnostic, Diagnostics, InstanceName, codes, nearest};
use crate::sorted::SortedSet;
use crate::source::function_text::FunctionText;
use crate::source::token::{Punct, Token, TokenKind};
use crate::span::Span;

/// The functions of a file, and its instances.
pub struct Instantiated {
    pub functions: Vec<FunctionText>,
    pub templates: Vec<Template>,
    pub instances: Vec<Instance>,
}

/// Adds a function for each instance to the functions of a file. `of_build` are the requests of the
/// build script.
pub fn instantiate(
    found: Found,
    functions: Vec<FunctionText>,
    of_build: Vec<Request>,
    diags: &mut Diagnostics,
) -> Instantiated {
    let names = functions.iter().filter_map(|f| name_of(&f.tokens));
    let names: Vec<(Arc<str>, Span)> = names.collect();
    let mut broken = found.broken;
    let mut state = Instances {
        taken: names.iter().map(|(name, _)| name.to_string()).collect(),
        done: Instantiated {
            functions,
            templates: without_overloads(found.templates, &names, &mut broken, diags),
            instances: Vec::new(),
        },
        diags,
        names,
        broken,
        caller: None,
        depths: Vec::new(),
        depth: 0,
        tokens_left: Some(TOKENS),
    };
    for specialisation in found.specialisations {
        state.specialise(specialisation);
    }
    for request in found.requests.iter().chain(&of_build) {
        state.request(request);
    }
    state.resolve_calls();
    for template in state
        .done
        .templates
        .iter()
        .filter(|template| !template.used && template.function.complete)
    {
        state.diags.push(without_instance(template));
    }
    let mut done = state.done;
    done.functions.sort_by_key(|function| function.span.start);
    done
}

/// Templates without those whose name is not unique.
fn without_overloads(
    templates: Vec<Template>,
    names: &[(Arc<str>, Span)],
    broken: &mut Vec<Arc<str>>,
    diags: &mut Diagnostics,
) -> Vec<Template> {
    let mut kept: Vec<Template> = Vec::new();
    for template in templates {
        let other = kept.iter().find(|other| other.name == template.name);
        let function = names.iter().find(|(name, _)| *name == template.name);
        let first = other
            .map(|other| other.name_span)
            .or(function.map(|(_, span)| *span));
        let Some(first) = first else {
            kept.push(template);
            continue;
        };
        broken.push(Arc::clone(&template.name));
        let (earlier, later) = (first.min(template.name_span), first.max(template.name_span));
        let report = header::outside(later, "an overload");
        diags.push(
            report
                .also(earlier, format!("`{}` is already defined", template.name))
                .help("give one of them another name"),
        );
    }
    kept
}

/// A request of the build script as its reports name it; other requests have a location in the
/// file.
fn of_build(request: &Request) -> Option<InstanceName> {
    let tokens = request.arguments.iter().map(|token| token.kind.to_string());
    let tokens: Vec<String> = tokens
        .map(|text| text.trim_matches('`').to_owned())
        .collect();
    let text = format!("{}<{}>", request.name, tokens.join(" ").replace(" ,", ","));
    (request.asked == Asked::Build).then(|| InstanceName::new(&text, Asked::Build))
}

fn too_much(request: &Request) -> Diagnostic {
    let message = format!("the instances of this file have more than {TOKENS} tokens");
    Diagnostic::new(codes::E1215, request.span, message)
        .label("with this one")
        .help("ask for fewer instances, or divide the templates among several files")
}

fn endless(request: &Request) -> Diagnostic {
    let message = "templates call each other without end";
    Diagnostic::new(codes::E1211, request.span, message)
        .label(format!("after {MOST_DEPTH} instances that call each other"))
        .help("write a loop")
}

/// A report on a template without an instance, with a line that would instantiate it.
fn without_instance(template: &Template) -> Diagnostic {
    let name = &template.name;
    let given = template.params.iter().filter(|p| p.default.is_none());
    let arguments: Vec<&str> = given.map(|param| param.kind.example()).collect();
    Diagnostic::new(
        codes::N1210,
        template.name_span,
        format!("the template `{name}` has no instance"),
    )
    .label("nothing is generated from it")
    .help(format!(
        "a line such as `template __co__ {name}<{}>;` makes one",
        arguments.join(", ")
    ))
}

/// The name in the header of a function.
fn name_of(tokens: &[Token]) -> Option<(Arc<str>, Span)> {
    tokens.windows(2).find_map(|pair| match pair {
        [name, open] if open.kind.is(Punct::LParen) => match &name.kind {
            TokenKind::Word(text) => Some((Arc::clone(text), name.span)),
            _ => None,
        },
        _ => None,
    })
}

/// The maximum number of tokens of all instances of a file, because a short text can request very
/// many.
const TOKENS: usize = 1 << 18;

/// The maximum number of calls that lead from one instance to a further one.
const MOST_DEPTH: usize = 32;

struct Instances<'d> {
    done: Instantiated,
    /// The names of all functions.
    taken: SortedSet<String>,
    names: Vec<(Arc<str>, Span)>,
    /// Templates with a reported error.
    broken: Vec<Arc<str>>,
    /// The instance whose calls are resolved.
    caller: Option<InstanceName>,
    /// For each function, how many calls led to it from one that was there before.
    depths: Vec<usize>,
    depth: usize,
    diags: &'d mut Diagnostics,
    /// The number of tokens that further instances may have; `None` after a report.
    tokens_left: Option<usize>,
}

impl Instances<'_> {
    /// The requested template, and its arguments; `None` after a report.
    fn read(&mut self, request: &Request) -> Option<(usize, Vec<Argument>)> {
        let mut templates = self.done.templates.iter();
        let Some(at) = templates.position(|template| template.name == request.name) else {
            self.unknown(request);
            return None;
        };
        let template = self.done.templates.get_mut(at)?;
        // A template with an invalid request is not reported as having none.
        template.used = true;
        let params = &template.params;
        let asking = of_build(request).or_else(|| self.caller.clone());
        let arguments = self.diags.within(asking.as_ref(), |diags| {
            bind(params, &request.arguments, request.span, diags)
        });
        Some((at, arguments?))
    }

    fn unknown(&mut self, request: &Request) {
        let name = &request.name;
        if self.broken.contains(name) {
            return;
        }
        if let Some((_, span)) = self.names.iter().find(|(known, _)| known == name) {
            self.diags.push(
                Diagnostic::new(
                    codes::E0203,
                    request.span,
                    format!("`{name}` is a function, not a template"),
                )
                .label("has no instances")
                .also(*span, "declared here")
                .help("remove this line: the function is generated without it"),
            );
            return;
        }
        let known = self.done.templates.iter().map(|template| &*template.name);
        let mut report = Diagnostic::new(
            codes::E0201,
            request.span,
            format!("there is no template `{name}`"),
        )
        .label("no template of this file has the name");
        if let Some(meant) = nearest(name, known) {
            report = report.help(format!("did you mean `{meant}`?"));
        }
        self.diags.push(report);
    }

    fn instance_of(&self, template: usize, arguments: &[Argument]) -> Option<&Instance> {
        let mut all = self.done.instances.iter();
        all.find(|known| known.template == template && known.arguments == arguments)
    }

    /// The instances that functions call are instances of the file, too.
    fn resolve_calls(&mut self) {
        self.depths = vec![0; self.done.functions.len()];
        let mut failed: SortedSet<Arc<str>> = SortedSet::new();
        let mut at = 0;
        while at < self.done.functions.len() {
            self.depth = self.depths.get(at).map_or(0, |depth| depth + 1);
            let tokens = self.calls_of(at);
            if let Some(function) = self.done.functions.get_mut(at) {
                match tokens {
                    Some(tokens) => function.tokens = tokens,
                    None => failed.extend(name_of(&function.tokens).map(|(name, _)| name)),
                }
            }
            at += 1;
        }
        self.remove(failed);
    }

    /// Removes functions with a reported error, and those that call them.
    fn remove(&mut self, mut failed: SortedSet<Arc<str>>) {
        let mut left = usize::MAX;
        while !failed.is_empty() && left != self.done.functions.len() {
            left = self.done.functions.len();
            self.done.functions.retain(|function| {
                let mut words = function.tokens.iter().filter_map(|token| token.kind.word());
                let keeps = !words.any(|word| failed.contains(word));
                if !keeps {
                    failed.extend(name_of(&function.tokens).map(|(name, _)| name));
                }
                keeps
            });
        }
    }

    /// The tokens of a function, with the name of an instance for each call of one; `None` after a
    /// report.
    fn calls_of(&mut self, function: usize) -> Option<Vec<Token>> {
        let function = self.done.functions.get(function)?;
        let mut tokens = function.tokens.clone();
        self.caller.clone_from(&function.instance);
        let body = tokens.iter().position(|token| token.kind.is(Punct::LBrace));
        let mut from = body.unwrap_or(tokens.len());
        loop {
            let is_template = |word: &str| {
                let mut templates = self.done.templates.iter();
                templates.any(|t| &*t.name == word) || self.broken.iter().any(|b| &**b == word)
            };
            let Some((request, range)) = calls::next(&tokens, from, is_template) else {
                return Some(tokens);
            };
            let name = self.request(&request)?;
            let span = request.span;
            from = range.start + 1;
            let kind = TokenKind::Word(name);
            let named = tokens.get(range.start).map(|first| Token {
                kind,
                span,
                ..first.clone()
            });
            tokens.splice(range, named);
        }
    }

    /// The name of the requested instance; `None` after a report.
    fn request(&mut self, request: &Request) -> Option<Arc<str>> {
        let (at, arguments) = self.read(request)?;
        if let Some(known) = self.instance_of(at, &arguments) {
            return Some(known.function.as_str().into());
        }
        if self.depth > MOST_DEPTH {
            self.diags.push(endless(request));
            return None;
        }
        let template = self.done.templates.get(at)?;
        let left = self.tokens_left?;
        self.tokens_left = left.checked_sub(template.function.tokens.len());
        if self.tokens_left.is_none() {
            self.diags.push(too_much(request));
            return None;
        }
        let tokens = substitute(&template.function.tokens, &template.params, &arguments);
        let function = FunctionText {
            tokens,
            span: template.function.span,
            intrinsics: template.function.intrinsics.clone(),
            complete: template.function.complete,
            closed_early: template.function.closed_early,
            instance: None,
            untaken: Arc::default(),
        };
        let name = Arc::clone(&template.name);
        let instance = self.named(at, &name, arguments, request.asked);
        let function_name = instance.function.as_str().into();
        self.add(instance, &name, function);
        Some(function_name)
    }

    fn specialise(&mut self, specialisation: Specialisation) {
        let Specialisation { request, function } = specialisation;
        let Some((at, arguments)) = self.read(&request) else {
            return;
        };
        if let Some(first) = self.instance_of(at, &arguments) {
            let mut report = Diagnostic::new(
                codes::E0213,
                request.span,
                format!("the instance `{}` is defined twice", first.name.text),
            )
            .label("second specialisation");
            if let Some(span) = first.name.asked.span() {
                report = report.also(span, "first one");
            }
            self.diags.push(report.help("remove one of them"));
            return;
        }
        let name = Arc::clone(&request.name);
        let mut instance = self.named(at, &name, arguments, request.asked);
        instance.specialised = true;
        self.add(instance, &name, function);
    }

    /// An instance with a unique function name.
    fn named(
        &mut self,
        template: usize,
        name: &str,
        arguments: Vec<Argument>,
        asked: Asked,
    ) -> Instance {
        let parts = arguments.iter().map(|argument| match argument {
            Argument::Int(value) if *value < 0 => format!("_m{}", value.unsigned_abs()),
            other => format!("_{other}"),
        });
        let mut function = format!("{name}{}", parts.collect::<String>());
        let plain = function.len();
        let mut number = 2;
        while !self.taken.insert(function.clone()) {
            function.truncate(plain);
            function.push_str(&format!("_{number}"));
            number += 1;
        }
        let text = shown(name, &arguments);
        Instance {
            template,
            arguments,
            function,
            name: InstanceName::new(&text, asked),
            specialised: false,
        }
    }

    fn add(&mut self, instance: Instance, name: &str, mut function: FunctionText) {
        function.instance = Some(instance.name.clone());
        // The parser reads the name of the instance.
        let named = function.tokens.windows(2).position(|pair| {
            matches!(pair, [word, open]
                if word.kind.word() == Some(name) && open.kind.is(Punct::LParen))
        });
        if let Some(token) = named.and_then(|at| function.tokens.get_mut(at)) {
            token.kind = TokenKind::Word(instance.function.as_str().into());
        }
        self.done.functions.push(function);
        self.depths.push(self.depth);
        self.done.instances.push(instance);
    }
}
