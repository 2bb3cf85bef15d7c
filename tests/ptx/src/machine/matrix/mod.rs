//! Matrix instructions: `ldmatrix`, `stmatrix`, `movmatrix`, `mma`, `wgmma`.
//!
//! | module | contents |
//! |---|---|
//! | `element`, `product` | values of elements, sums of products |
//! | `fragment`, `sparse` | which lanes have which elements, metadata of sparse matrices |
//! | `shared`, `descriptor` | matrices in shared memory |
//! | `transfer`, `mma`, `wgmma` | the instructions |
//! | `marks` | values that depend on unwritten bytes |
//! | `pending`, `warpgroup` | what the ISA demands of asynchronous products |

mod descriptor;
mod element;
mod execute;
mod fragment;
mod marks;
mod mma;
mod pending;
mod product;
mod shared;
mod sparse;
mod transfer;
mod warpgroup;
mod wgmma;

pub use execute::{describe_wait, execute, observe, serve};
pub use pending::{Products, Tracker};
pub use warpgroup::Warpgroup;

use super::access::Places;
use super::decode::{Form, Refusal};

pub enum Matrix {
    Transfer(transfer::Transfer),
    Transposition(transfer::Transposition),
    Mma(mma::Mma),
    Wgmma(wgmma::Wgmma),
    Fence,
    Commit,
    /// For all but so many groups.
    Wait(u64),
}

impl Matrix {
    /// A product that other instructions must not disturb.
    pub fn is_asynchronous(&self) -> bool {
        matches!(self, Matrix::Wgmma(_))
    }
}

/// None for another opcode.
pub fn decode(form: &Form<'_>, places: Places<'_>) -> Result<Option<Matrix>, Refusal> {
    let matrix = match form.opcode() {
        "ldmatrix" | "stmatrix" => Matrix::Transfer(transfer::decode(form, places)?),
        "movmatrix" => Matrix::Transposition(transfer::decode_transposition(form)?),
        "mma" => Matrix::Mma(mma::decode(form)?),
        "wgmma" => return decode_wgmma(form).map(Some),
        _ => return Ok(None),
    };
    Ok(Some(matrix))
}

fn decode_wgmma(form: &Form<'_>) -> Result<Matrix, Refusal> {
    if form.instruction.mnemonic.has("mma_async") {
        return wgmma::decode(form).map(Matrix::Wgmma);
    }
    let mut words = form.words();
    let name = words.required(&["fence", "commit_group", "wait_group"])?;
    words.required(&["sync"])?;
    words.required(&["aligned"])?;
    words.finish()?;
    form.count(usize::from(name == "wait_group"))?;
    Ok(match name {
        "fence" => Matrix::Fence,
        "commit_group" => Matrix::Commit,
        _ => Matrix::Wait(form.immediate(form.operand(0)?)?),
    })
}
