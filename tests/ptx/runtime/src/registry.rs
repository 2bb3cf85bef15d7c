//! What the parts of a program register before `main`, and the modules that are loaded from it.

use std::collections::HashMap;
use std::ffi::{CStr, c_char};
use std::slice;
use std::sync::{Arc, Mutex};

use croq_ptx::machine::{Program, Resources};
use croq_ptx::parse::Function;

use crate::code::{Code, Done};
use crate::device::device;
use crate::fat_binary;
use crate::limits;
use crate::memory::locked;

/// The object that nvcc passes to `__cudaRegisterFatBinary`, as it defines it in the assembly of
/// section `.nvFatBinSegment`.
#[repr(C)]
pub struct Wrapper {
    magic: u32,
    version: u32,
    container: *const u8,
    file: *const u8,
}

const MAGIC: u32 = 0x4662_43b1;

/// Addresses in the program. It keeps what is there until it unregisters the fat binary.
#[derive(Default)]
pub struct Registry {
    binaries: Vec<Binary>,
    /// By the address of the host's stub.
    functions: HashMap<usize, Registered>,
    /// By the address of the host's variable.
    variables: HashMap<usize, Registered>,
    kernels: HashMap<usize, Arc<Kernel>>,
}

#[derive(Default)]
struct Binary {
    wrapper: usize,
    module: Option<Done<Arc<Module>>>,
}

#[derive(Clone, Copy)]
struct Registered {
    binary: usize,
    name: usize,
}

pub struct Module {
    pub program: Program,
    /// Of the PTX: 80 for `sm_80`.
    pub architecture: u32,
}

/// A `__global__` function.
pub struct Kernel {
    pub name: String,
    pub module: Arc<Module>,
    pub resources: Resources,
    pub settings: Mutex<Settings>,
}

/// What `cudaFuncSetAttribute` sets.
#[derive(Clone, Copy, Default)]
pub struct Settings {
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`
    pub dynamic_shared: Option<u64>,
    /// `cudaFuncAttributeNonPortableClusterSizeAllowed`
    pub allows_any_cluster: bool,
    pub carveout: Option<i32>,
}

/// A variable in global memory has an address, one in constant memory a name in its module.
pub struct DeviceVariable {
    pub name: String,
    pub module: Arc<Module>,
    pub address: Option<u64>,
    pub bytes: u64,
}

static REGISTRY: Mutex<Option<Registry>> = Mutex::new(None);

fn registry<T>(f: impl FnOnce(&mut Registry) -> T) -> T {
    f(locked(&REGISTRY).get_or_insert_default())
}

/// The number of the new binary.
pub fn add_binary(wrapper: usize) -> usize {
    registry(|all| {
        all.binaries.push(Binary {
            wrapper,
            module: None,
        });
        all.binaries.len() - 1
    })
}

pub fn remove_binary(binary: usize) {
    registry(|all| {
        if let Some(found) = all.binaries.get_mut(binary) {
            found.wrapper = 0;
        }
        let gone = |registered: &Registered| registered.binary == binary;
        let functions = &mut all.functions;
        all.kernels
            .retain(|stub, _| !functions.get(stub).is_some_and(gone));
        functions.retain(|_, registered| !gone(registered));
        all.variables.retain(|_, registered| !gone(registered));
    });
}

/// A template's stub may be registered by several binaries: they have the same code.
pub fn add_function(binary: usize, stub: usize, name: usize) {
    registry(|all| {
        let new = Registered { binary, name };
        all.functions.entry(stub).or_insert(new);
    });
}

pub fn add_variable(binary: usize, host: usize, name: usize) {
    registry(|all| {
        let new = Registered { binary, name };
        all.variables.entry(host).or_insert(new);
    });
}

impl Kernel {
    pub fn of_stub(stub: usize) -> Done<Arc<Kernel>> {
        registry(|all| {
            if let Some(known) = all.kernels.get(&stub) {
                return Ok(known.clone());
            }
            let found = all.functions.get(&stub).copied();
            let registered = found.ok_or(Code::INVALID_FUNCTION)?;
            let module = all.module(registered.binary)?;
            // SAFETY: nvcc's registration passes a text that lives as long as the binary.
            let name = unsafe { text(registered.name) };
            let resources = module.program.resources(&name).map_err(|message| {
                eprintln!("PTX machine: {message}");
                Code::INVALID_FUNCTION
            })?;
            let kernel = Arc::new(Kernel {
                name,
                module,
                resources,
                settings: Mutex::default(),
            });
            all.kernels.insert(stub, kernel.clone());
            Ok(kernel)
        })
    }

    /// # Errors
    ///
    /// None: a kernel is an entry of its module.
    pub fn function(&self) -> Done<&Function> {
        let found = self.module.program.entry(&self.name);
        found.map_err(|_| Code::INVALID_FUNCTION)
    }
}

impl DeviceVariable {
    pub fn of_host(host: usize) -> Done<DeviceVariable> {
        registry(|all| {
            let found = all.variables.get(&host).copied();
            let registered = found.ok_or(Code::INVALID_SYMBOL)?;
            let module = all.module(registered.binary)?;
            // SAFETY: as for functions.
            let name = unsafe { text(registered.name) };
            let found = module.program.variable(&name);
            let (address, bytes) = found.ok_or(Code::INVALID_SYMBOL)?;
            Ok(DeviceVariable {
                name,
                module,
                address,
                bytes,
            })
        })
    }
}

impl Registry {
    fn module(&mut self, binary: usize) -> Done<Arc<Module>> {
        let binary = self.binaries.get_mut(binary).ok_or(Code::INVALID_HANDLE)?;
        if binary.module.is_none() {
            // SAFETY: the program has registered the wrapper, and has not unregistered it.
            binary.module = Some(unsafe { load(binary.wrapper) }.map_err(|(code, message)| {
                eprintln!("PTX machine: {message}");
                code
            }));
        }
        binary.module.clone().unwrap_or(Err(Code::NO_IMAGE))
    }
}

/// # Safety
///
/// There is a text that ends with a zero byte.
unsafe fn text(address: usize) -> String {
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(address as *const c_char) };
    text.to_string_lossy().into_owned()
}

/// # Safety
///
/// The wrapper is null, or one of nvcc's with a fat binary.
unsafe fn load(wrapper: usize) -> Result<Arc<Module>, (Code, String)> {
    // SAFETY: as the caller promises.
    let wrapper = unsafe { (wrapper as *const Wrapper).as_ref() };
    let known = wrapper.filter(|wrapper| wrapper.magic == MAGIC);
    let Some(wrapper) = known.filter(|wrapper| !wrapper.container.is_null()) else {
        let message = "the program registers no fat binary of a known kind".to_owned();
        return Err((Code::NO_IMAGE, message));
    };
    let invalid = |fault: fat_binary::Fault| (Code::NO_IMAGE, fault.to_string());
    // SAFETY: a container has at least its header.
    let header = unsafe { slice::from_raw_parts(wrapper.container, fat_binary::HEADER_BYTES) };
    let size = fat_binary::size(header).map_err(invalid)?;
    // SAFETY: the header says the size.
    let container = unsafe { slice::from_raw_parts(wrapper.container, size) };
    let texts = fat_binary::texts(container).map_err(invalid)?;
    let count = texts.len();
    let wanted = limits::model().architecture;
    let (architecture, text) = fat_binary::choose(texts, wanted).ok_or_else(|| {
        let message = format!(
            "none of the {count} PTX texts of a fat binary is for sm_{wanted}; \
             was it compiled by the test toolkit's nvcc?"
        );
        (Code::NO_IMAGE, message)
    })?;
    let mut global = device().memory.take();
    let program = Program::load(&text, &mut global)
        .map_err(|error| (Code::INVALID_PTX, error.to_string()))?;
    drop(global);
    for variable in &program.module().variables {
        if let Some((Some(address), bytes)) = program.variable(&variable.name) {
            device().know(address, bytes);
        }
    }
    Ok(Arc::new(Module {
        program,
        architecture,
    }))
}
