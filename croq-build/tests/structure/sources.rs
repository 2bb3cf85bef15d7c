//! The source files of a crate as they are compiled: modules followed from `lib.rs`, without those for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item, UseTree};

/// One file.
pub struct Source {
    /// Below `src`, with `/`.
    pub name: String,
    pub tree: syn::File,
}

/// One module: a file, or an inline module of one.
#[derive(Default)]
pub struct Module {
    pub file: usize,
    pub parent: Option<usize>,
    pub children: BTreeMap<String, usize>,
    /// Names of items that are defined here.
    pub items: BTreeSet<String>,
    /// Words of macros that are defined or called here: they may be names of items.
    pub words: BTreeSet<String>,
    /// What names stand for that are imported, re-exports among them.
    pub imports: BTreeMap<String, Vec<String>>,
    /// `use …::*`.
    pub globs: Vec<Vec<String>>,
}

/// All modules of a crate; the first is its root.
#[derive(Default)]
pub struct Sources {
    pub files: Vec<Source>,
    pub modules: Vec<Module>,
}

impl Sources {
    /// Reads a crate from the folder of its `lib.rs`.
    pub fn read(src: &Path) -> Self {
        let mut sources = Self::default();
        sources.file(src, &src.join("lib.rs"), None);
        sources
    }

    fn file(&mut self, src: &Path, path: &Path, parent: Option<usize>) -> usize {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let tree =
            syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let below = path.strip_prefix(src).expect("a file below src");
        let name = below.to_string_lossy().replace('\\', "/");
        let file = self.files.len();
        let no_items = syn::File {
            shebang: None,
            frontmatter: None,
            attrs: Vec::new(),
            items: Vec::new(),
        };
        self.files.push(Source {
            name,
            tree: no_items,
        });
        let folder = path.parent().expect("a folder");
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let own = match &*stem {
            "lib" | "mod" => folder.to_owned(),
            stem => folder.join(stem),
        };
        let module = self.module(src, &tree.items, (file, parent), (folder, &own));
        self.files[file].tree = tree;
        module
    }

    /// `folder` is that of the file, `own` that of the module's children.
    fn module(
        &mut self,
        src: &Path,
        items: &[Item],
        (file, parent): (usize, Option<usize>),
        (folder, own): (&Path, &Path),
    ) -> usize {
        let id = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            ..Module::default()
        });
        for item in items {
            match item {
                Item::Mod(module) if is_of_tests(&module.attrs) => {}
                Item::Mod(module) => {
                    let name = module.ident.to_string();
                    let child = match &module.content {
                        Some((_, items)) => {
                            self.module(src, items, (file, Some(id)), (folder, &own.join(&name)))
                        }
                        None if name == "tests" => continue,
                        None => {
                            let path = place(&module.attrs, folder, own, &name);
                            self.file(src, &path, Some(id))
                        }
                    };
                    self.modules[id].children.insert(name, child);
                }
                Item::Use(item) if !is_of_tests(&item.attrs) => {
                    let module = &mut self.modules[id];
                    each_import(&item.tree, &mut Vec::new(), &mut |path, name| match name {
                        Some(name) => {
                            module.imports.insert(name, path.to_vec());
                        }
                        None => module.globs.push(path.to_vec()),
                    });
                }
                Item::Macro(item) => words(item.mac.tokens.clone(), &mut self.modules[id].words),
                item => self.modules[id].items.extend(name_of(item)),
            }
        }
        id
    }
}

/// Where the text of a module is.
fn place(attrs: &[Attribute], folder: &Path, own: &Path, name: &str) -> PathBuf {
    for attr in attrs {
        if let syn::Meta::NameValue(pair) = &attr.meta
            && pair.path.is_ident("path")
            && let syn::Expr::Lit(syn::ExprLit { lit, .. }) = &pair.value
            && let syn::Lit::Str(path) = lit
        {
            return folder.join(path.value());
        }
    }
    let flat = own.join(format!("{name}.rs"));
    if flat.exists() {
        flat
    } else {
        own.join(name).join("mod.rs")
    }
}

/// `#[cfg(test)]`, alone or with more.
pub fn is_of_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let mut found = BTreeSet::new();
            words(list.tokens.clone(), &mut found);
            found.contains("test") && !found.contains("not")
        }
        meta => meta.path().is_ident("test"),
    })
}

fn words(tokens: TokenStream, out: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                out.insert(word.to_string());
            }
            TokenTree::Group(group) => words(group.stream(), out),
            _ => {}
        }
    }
}

fn name_of(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Every path of a `use`, with the name that it gets; a glob has none.
pub fn each_import(
    tree: &UseTree,
    path: &mut Vec<String>,
    f: &mut impl FnMut(&[String], Option<String>),
) {
    match tree {
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            each_import(&step.tree, path, f);
            path.pop();
        }
        UseTree::Name(name) => {
            let name = name.ident.to_string();
            if name == "self" {
                return f(path, path.last().cloned());
            }
            path.push(name.clone());
            f(path, Some(name));
            path.pop();
        }
        UseTree::Rename(rename) => {
            let name = rename.ident.to_string();
            let own = name == "self";
            if !own {
                path.push(name);
            }
            f(path, Some(rename.rename.to_string()));
            if !own {
                path.pop();
            }
        }
        UseTree::Glob(_) => f(path, None),
        UseTree::Group(group) => {
            for tree in &group.items {
                each_import(tree, path, f);
            }
        }
    }
}
