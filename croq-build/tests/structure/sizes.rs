//! How large types and functions are.

use std::collections::{BTreeMap, BTreeSet};

use syn::Item;
use syn::visit::{self, Visit};

use crate::paths::{Defined, attributes};
use crate::sources::{Sources, is_of_tests};

/// A function of a file.
pub struct Function {
    pub name: String,
    /// From `fn` to the last brace.
    pub lines: usize,
    /// `self` is none.
    pub parameters: usize,
}

/// Sizes of what a file has besides its tests.
#[derive(Default)]
pub struct Sizes {
    pub functions: Vec<Function>,
    /// Fields of structs and of variants.
    pub fields: Vec<(String, usize)>,
}

impl Sizes {
    pub fn of(tree: &syn::File) -> Self {
        let mut sizes = Self::default();
        sizes.visit_file(tree);
        sizes
    }

    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let first = sig.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        let inputs = sig.inputs.iter();
        self.functions.push(Function {
            name: sig.ident.to_string(),
            lines: last + 1 - first,
            parameters: inputs
                .filter(|arg| matches!(arg, syn::FnArg::Typed(_)))
                .count(),
        });
    }
}

impl<'ast> Visit<'ast> for Sizes {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_of_tests(attributes(item)) {
            return;
        }
        match item {
            Item::Fn(item) => self.function(&item.sig, &item.block),
            // The fields of a `#[repr(C)]` struct are those of a C header.
            Item::Struct(item) if is_of_c(&item.attrs) => {}
            Item::Struct(item) => self
                .fields
                .push((item.ident.to_string(), item.fields.len())),
            Item::Enum(item) => {
                for variant in &item.variants {
                    let name = format!("{}::{}", item.ident, variant.ident);
                    self.fields.push((name, variant.fields.len()));
                }
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_of_tests(&item.attrs) {
            self.function(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Whether a type is `#[repr(C)]`.
fn is_of_c(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("repr")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string() == "C")
    })
}

/// The files with inherent methods of each type.
pub fn homes_of_methods(sources: &Sources) -> BTreeMap<Defined, BTreeSet<usize>> {
    let mut homes: BTreeMap<Defined, BTreeSet<usize>> = BTreeMap::new();
    for (id, module) in sources.modules.iter().enumerate() {
        let is_file = module
            .parent
            .is_none_or(|parent| sources.modules[parent].file != module.file);
        if !is_file {
            continue;
        }
        for item in &sources.files[module.file].tree.items {
            if let Item::Impl(block) = item
                && block.trait_.is_none()
                && !is_of_tests(&block.attrs)
                && let syn::Type::Path(ty) = &*block.self_ty
            {
                let path: Vec<String> = ty
                    .path
                    .segments
                    .iter()
                    .map(|s| s.ident.to_string())
                    .collect();
                let ty = sources.resolve(id, &path).unwrap_or_else(|| {
                    let line = block.impl_token.span.start().line;
                    panic!("{}:{line}: impl of what?", sources.files[module.file].name)
                });
                homes.entry(ty).or_default().insert(module.file);
            }
        }
    }
    homes
}
