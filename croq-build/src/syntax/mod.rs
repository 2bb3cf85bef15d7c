//! Text to tree: a hand-written lexer, a chumsky parser, the AST.

pub mod ast;
