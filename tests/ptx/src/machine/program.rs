//! A module that is loaded to a device.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::access::Place;
use super::global::Global;
use super::image::{Image, Symbols};
use super::launch::LoadError;
use super::memory::{Arena, Layout, SHARED_START, Window};
use crate::parse::{self, Function, FunctionKind, Initial, Instruction, Module, Space, Variable};

/// A module with its variables in the memory of a device, which is passed to each function here.
pub struct Program {
    pub(super) module: Module,
    pub(super) symbols: Symbols,
    constants: Mutex<Arena>,
    /// Entries that were used before.
    images: Mutex<HashMap<String, Arc<Image>>>,
}

/// What a launch of an entry needs, as far as PTX says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resources {
    /// In bytes.
    pub static_shared: u64,
    /// In bytes, for a thread, without functions that are called.
    pub local: u64,
    /// The sizes of the formal parameters, in bytes.
    pub parameters: Vec<u64>,
}

impl Program {
    /// # Errors
    ///
    /// The text is no PTX, or a variable's initial value names an unknown symbol.
    pub fn load(text: &str, global: &mut Global) -> Result<Program, LoadError> {
        let module = parse::parse(text).map_err(LoadError::Parse)?;
        let mut symbols = Symbols::new();
        let mut constants = Layout::default();
        for variable in &module.variables {
            let (bytes, align) = (variable.bytes(), variable.align);
            let place = match variable.space {
                Space::Global => {
                    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                    Place::Fixed(
                        Window::Global,
                        global.allocate(&variable.name, bytes, align),
                    )
                }
                Space::Const => {
                    let start = constants.add(&variable.name, bytes, align);
                    Place::Fixed(Window::Const, start)
                }
                _ => continue,
            };
            symbols.insert(variable.name.clone(), place);
        }
        let mut constants = Arena::new(Window::Const, constants);
        for variable in &module.variables {
            initialise(variable, &symbols, &mut constants, global).map_err(LoadError::Variable)?;
        }
        Ok(Program {
            module,
            symbols,
            constants: Mutex::new(constants),
            images: Mutex::default(),
        })
    }

    pub fn module(&self) -> &Module {
        &self.module
    }

    /// # Errors
    ///
    /// The module has no such entry.
    pub fn entry(&self, name: &str) -> Result<&Function, String> {
        let mut named = self.module.functions.iter();
        named
            .find(|function| function.name == name && function.kind == FunctionKind::Entry)
            .ok_or_else(|| format!("there is no entry `{name}`"))
    }

    pub(super) fn image(&self, entry: &str) -> Result<Arc<Image>, String> {
        if let Some(known) = locked(&self.images).get(entry) {
            return Ok(known.clone());
        }
        let image = Arc::new(Image::new(&self.module, entry, &self.symbols)?);
        locked(&self.images).insert(entry.to_owned(), image.clone());
        Ok(image)
    }

    /// As they are now.
    pub(super) fn constants(&self) -> Arena {
        locked(&self.constants).clone()
    }

    /// # Errors
    ///
    /// The module has no such entry.
    pub fn resources(&self, entry: &str) -> Result<Resources, String> {
        let image = self.image(entry)?;
        let formal = &self.entry(entry)?.parameters;
        let frame = image.functions.get(entry).map(|code| code.frame.end());
        Ok(Resources {
            static_shared: image.shared.end() - SHARED_START,
            local: frame.unwrap_or(0),
            parameters: formal.iter().map(Variable::bytes).collect(),
        })
    }

    /// The instruction forms that threads have executed so far.
    pub fn executed(&self) -> BTreeSet<String> {
        self.executed_as(|instruction| instruction.mnemonic.to_string())
    }

    /// The lines of the PTX text with instructions that threads have executed so far.
    pub fn executed_lines(&self) -> BTreeSet<u32> {
        self.executed_as(|instruction| instruction.line)
    }

    fn executed_as<T: Ord>(&self, name: impl Fn(&Instruction) -> T) -> BTreeSet<T> {
        let images = locked(&self.images);
        let mut found = BTreeSet::new();
        for (function, code) in images.values().flat_map(|image| &image.functions) {
            let mut named = self.module.functions.iter();
            let body = named
                .find(|known| known.name == *function && known.body.is_some())
                .and_then(|known| known.body.as_ref());
            let steps = code.steps.iter();
            let steps = steps.filter(|step| step.is_executed.load(Relaxed));
            let instructions = steps.filter_map(|step| body?.instructions.get(step.instruction?));
            found.extend(instructions.map(&name));
        }
        found
    }

    /// The address in global memory, or none for a variable in constant memory, and the size.
    pub fn variable(&self, name: &str) -> Option<(Option<u64>, u64)> {
        let mut variables = self.module.variables.iter();
        let found = variables.find(|variable| variable.name == name)?;
        match self.symbols.get(name)? {
            Place::Fixed(Window::Global, start) => Some((Some(*start), found.bytes())),
            _ => Some((None, found.bytes())),
        }
    }

    /// Bytes of a variable in constant memory.
    ///
    /// # Errors
    ///
    /// There is no such variable, or it is smaller.
    pub fn constant(&self, name: &str, offset: u64, bytes: u64) -> Result<Vec<u8>, String> {
        let at = self.constant_address(name)?.saturating_add(offset);
        Ok(locked(&self.constants).get(at, bytes, 1)?.to_vec())
    }

    /// # Errors
    ///
    /// As [`Program::constant`].
    pub fn set_constant(&self, name: &str, offset: u64, bytes: &[u8]) -> Result<(), String> {
        let at = self.constant_address(name)?.saturating_add(offset);
        let mut constants = locked(&self.constants);
        let place = constants.get_mut(at, bytes.len() as u64, 1)?;
        place.copy_from_slice(bytes);
        Ok(())
    }

    fn constant_address(&self, name: &str) -> Result<u64, String> {
        match self.symbols.get(name) {
            Some(Place::Fixed(Window::Const, start)) => Ok(*start),
            _ => Err(format!("there is no constant `{name}`")),
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn initialise(
    variable: &Variable,
    symbols: &Symbols,
    constants: &mut Arena,
    global: &mut Global,
) -> Result<(), String> {
    let Some(Place::Fixed(window, start)) = symbols.get(&variable.name).copied() else {
        return Ok(());
    };
    let element = variable.ty.bytes();
    for (index, initial) in variable.initial.iter().enumerate() {
        let bits = match initial {
            Initial::Bits(bits) => *bits,
            Initial::Symbol {
                name,
                offset,
                generic,
            } => {
                let found = symbols.get(name);
                let Some(Place::Fixed(window, start)) = found else {
                    return Err(format!("`{}` names the unknown `{name}`", variable.name));
                };
                let base = if *generic { window.base() } else { 0 };
                base + start.wrapping_add_signed(*offset)
            }
        };
        let at = start + (index * element) as u64;
        let place = match window {
            Window::Const => constants.get_mut(at, element as u64, 1)?,
            _ => global.get_mut(at, element as u64, 1)?,
        };
        place.copy_from_slice(&bits.to_le_bytes()[..element]);
    }
    Ok(())
}
