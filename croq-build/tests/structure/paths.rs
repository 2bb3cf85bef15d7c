//! Which file defines what a path leads to, and the paths of a file.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::sources::{Sources, each_import, is_of_tests};

/// An item, by the file that defines it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Defined {
    pub file: usize,
    pub name: String,
}

enum Found {
    Module(usize),
    Item(Defined),
}

impl Sources {
    /// The item that a path leads to; `None` where that is a module, or of another crate.
    pub fn resolve(&self, module: usize, path: &[String]) -> Option<Defined> {
        match self.find(module, path, &mut BTreeSet::new())? {
            Found::Item(item) => Some(item),
            Found::Module(_) => None,
        }
    }

    fn find(
        &self,
        module: usize,
        path: &[String],
        seen: &mut BTreeSet<(usize, String)>,
    ) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => 0,
            "self" => module,
            "super" => self.modules[module].parent?,
            name => match self.named(module, name, seen)? {
                Found::Module(module) => module,
                item => return Some(item),
            },
        };
        if rest.is_empty() {
            return Some(Found::Module(start));
        }
        self.find(start, rest, seen)
    }

    fn named(&self, id: usize, name: &str, seen: &mut BTreeSet<(usize, String)>) -> Option<Found> {
        // Modules may import each other's names in a circle.
        if !seen.insert((id, name.to_owned())) {
            return None;
        }
        let module = &self.modules[id];
        let own = || {
            Found::Item(Defined {
                file: module.file,
                name: name.to_owned(),
            })
        };
        if let Some(child) = module.children.get(name) {
            return Some(Found::Module(*child));
        }
        if module.items.contains(name) {
            return Some(own());
        }
        if let Some(path) = module.imports.get(name) {
            return self.find(id, path, seen);
        }
        for glob in &module.globs {
            if let Some(Found::Module(target)) = self.find(id, glob, &mut seen.clone())
                && let Some(found) = self.named(target, name, seen)
            {
                return Some(found);
            }
        }
        module.words.contains(name).then(own)
    }

    /// For each file the others that it names items of, with those items.
    pub fn edges(&self) -> BTreeMap<(usize, usize), BTreeSet<String>> {
        let mut edges: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        self.each_path(&mut |module, path| {
            let from = self.modules[module].file;
            if let Some(item) = self.resolve(module, path)
                && item.file != from
            {
                edges
                    .entry((from, item.file))
                    .or_default()
                    .insert(item.name);
            }
        });
        edges
    }

    fn each_path(&self, f: &mut impl FnMut(usize, &[String])) {
        for (id, module) in self.modules.iter().enumerate() {
            let is_file = module
                .parent
                .is_none_or(|parent| self.modules[parent].file != module.file);
            if is_file {
                let mut paths = Paths {
                    sources: self,
                    module: id,
                    f: &mut *f,
                };
                paths.visit_file(&self.files[module.file].tree);
            }
        }
    }
}

struct Paths<'a, F> {
    sources: &'a Sources,
    module: usize,
    f: &'a mut F,
}

impl<F: FnMut(usize, &[String])> Paths<'_, F> {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 && !path.is_empty() {
                        (self.f)(self.module, &std::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    (self.f)(self.module, &std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(group.stream());
                    }
                }
            }
        }
        (self.f)(self.module, &path);
    }
}

impl<'ast, F: FnMut(usize, &[String])> Visit<'ast> for Paths<'_, F> {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_of_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let Some((_, items)) = &item.content else {
            return;
        };
        let children = &self.sources.modules[self.module].children;
        if let Some(child) = children.get(&item.ident.to_string()) {
            let outer = std::mem::replace(&mut self.module, *child);
            for item in items {
                self.visit_item(item);
            }
            self.module = outer;
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // A re-export is no use of what it names.
        if matches!(item.vis, syn::Visibility::Inherited) {
            each_import(&item.tree, &mut Vec::new(), &mut |path, _| {
                (self.f)(self.module, path);
            });
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let steps: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
            (self.f)(self.module, &steps);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
    }
}

pub fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    use syn::Item;
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
