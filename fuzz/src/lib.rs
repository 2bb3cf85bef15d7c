//! What the fuzz target is made of: a mutator that knows the language's tokens, so that most of what
//! it makes gets past the lexer, and the promises that hold for any text.

pub mod mutate;
pub mod promises;
pub mod tokens;
