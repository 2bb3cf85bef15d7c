//! Which instructions of a module the machine executes, without executing them.

use super::access::Place;
use super::decode::Refusal;
use super::image::{self, Symbols};
use super::memory::{SHARED_START, Window};
use crate::parse::{Instruction, Module, Space};

/// Every instruction, with the reason why it is refused, if it is.
pub fn unsupported(module: &Module) -> Vec<(&Instruction, Option<Refusal>)> {
    let symbols: Symbols = module
        .variables
        .iter()
        .map(|variable| {
            let window = match variable.space {
                Space::Global => Window::Global,
                Space::Shared => Window::Shared,
                Space::Local => Window::Local,
                Space::Param => Window::Param,
                Space::Const => Window::Const,
            };
            (variable.name.clone(), Place::Fixed(window, SHARED_START))
        })
        .collect();
    let functions = module.functions.iter();
    functions
        .flat_map(|function| image::refusals(function, &symbols))
        .collect()
}
