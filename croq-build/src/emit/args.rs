//! The argument struct of a launch shim. The C header declares it, the shim reads it, and the
//! wrapper fills it; its layout is defined here for all three.

use super::file_meta::FileMeta;
use super::names::{self, Scope};
use crate::ir::threads::Function;
use crate::ir::{DimId, Extent, ParamId, ParamKind, Scalar};

/// The fields of one function's argument struct, in order.
pub struct Args {
    pub fields: Vec<Field>,
}

pub struct Field {
    pub name: String,
    pub role: FieldRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRole {
    /// A scalar's value (f16, bf16 and 8-bit floats as their bits), a tensor's device address, or a
    /// stream's handle.
    Param(ParamId),
    /// A symbolic dimension.
    Dim(DimId),
    /// The actual extent of a `??` axis, from which the extent of its handle is computed.
    Unbounded { param: ParamId, axis: usize },
    /// A returned scalar, or the device address of a returned tensor or element.
    Result(usize),
    /// The extents of a returned tensor: an array.
    ResultShape { of: usize, rank: usize },
}

impl Args {
    pub fn of(function: &Function) -> Self {
        let mut scope = Scope::default();
        let mut fields = Vec::new();
        let mut add = |wanted: &str, role| {
            fields.push(Field {
                name: scope.fresh(names::field(wanted)),
                role,
            });
        };
        for (param, id) in function.params.iter().zip(0..) {
            add(&param.name, FieldRole::Param(ParamId(id)));
        }
        for (dim, id) in function.dims.iter().zip(0..) {
            add(&dim.name, FieldRole::Dim(DimId(id)));
        }
        for (param, id) in function.params.iter().zip(0..) {
            let ParamKind::Tensor(tensor) = &param.kind else {
                continue;
            };
            for (axis, extent) in tensor.extents.iter().enumerate() {
                if *extent == Extent::Unbounded {
                    let role = FieldRole::Unbounded {
                        param: ParamId(id),
                        axis,
                    };
                    add(&format!("{}_{axis}", param.name), role);
                }
            }
        }
        for (of, result) in function.results.iter().enumerate() {
            let name = match function.results.len() {
                1 => "result".to_owned(),
                _ => format!("result_{of}"),
            };
            add(&name, FieldRole::Result(of));
            let rank = result.shape().len();
            if rank > 0 {
                add(
                    &format!("{name}_shape"),
                    FieldRole::ResultShape { of, rank },
                );
            }
        }
        Self { fields }
    }

    /// The field with `role`; the function must have it.
    pub fn name(&self, role: FieldRole) -> &str {
        self.fields
            .iter()
            .find(|f| f.role == role)
            .map_or("", |f| &f.name)
    }

    /// The array of a returned tensor's extents.
    pub fn result_shape(&self, result: usize) -> &str {
        let is_shape =
            |f: &&Field| matches!(f.role, FieldRole::ResultShape { of, .. } if of == result);
        self.fields.iter().find(is_shape).map_or("", |f| &f.name)
    }
}

/// The struct's name in C and Rust.
pub fn struct_name(meta: &FileMeta, function: &Function) -> String {
    format!("croq_{}_{}_args", meta.hash, function.name)
}

/// The shim that runs `function` on the simulated GPU.
pub fn sim_shim(meta: &FileMeta, function: &Function) -> String {
    format!("croq_sim_{}_{}", meta.hash, function.name)
}

/// The shim that runs `function` on a GPU.
pub fn cuda_shim(meta: &FileMeta, function: &Function) -> String {
    format!("croq_cuda_{}_{}", meta.hash, function.name)
}

/// The type of a scalar in the struct: floats that C lacks are passed as their bits.
pub fn c_scalar(ty: Scalar) -> &'static str {
    ty.info().c
}
