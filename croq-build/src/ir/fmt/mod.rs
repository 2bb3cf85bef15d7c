//! The textual form of the IR: one statement a line, for `croq emit --ir` and the golden files.
//!
//! ```text
//! kernel scale_0: grid [cdiv(N, 256), 1, 1], threads 256
//!   let b: int = block.x
//!   parallel thread
//!     let t: int = thread
//!     if lt:bool(256 * b + t, N)
//!       store y[256 * b + t] = mul:f32(gain, load:f32 x[256 * b + t])
//! ```
//!
//! Every name is unique in its function: a second `k` is `k.2`. Symbolic integers are shown in the
//! syntax of the source, and an access by its address in elements. Operators name the type of their
//! result. A view is `buffer{+offset, shape [..], strides [..], valid [lo..hi, ..]}`, where `_` is
//! an axis that is entirely valid.

use super::*;

mod expr;
mod printer;
mod stmt;
mod tensor;
mod words;

use printer::Printer;

/// A whole function: declarations, host statements, kernels.
pub fn function<P: Phase>(function: &Function<P>) -> String {
    let mut printer = Printer::new(function);
    printer.declarations();
    printer.line(format_args!("host"));
    stmt::block(&mut printer, &function.body);
    for kernel in &function.kernels {
        stmt::kernel(&mut printer, kernel);
    }
    printer.out
}

/// One kernel of the function.
pub fn kernel<P: Phase>(function: &Function<P>, id: KernelId) -> String {
    let mut printer = Printer::new(function);
    if let Some(kernel) = function.kernels.get(id.index()) {
        stmt::kernel(&mut printer, kernel);
    }
    printer.out
}

/// One statement with its body, for messages of [`super::verify`].
pub fn stmt<P: Phase>(function: &Function<P>, stmt: &Stmt<P>) -> String {
    let mut printer = Printer::new(function);
    stmt::stmt(&mut printer, stmt);
    printer.out
}
