//! Names and scopes.

explanations! {
    E0201: "name not declared",
    E0202: "name used before its declaration",
    E0203: "name of another kind",
    E0204: "update of an undeclared name",
    E0205: "name reused for another kind of thing",
    E0208: "unknown builtin",
    W0209: "variable never read",
    W0210: "buffer or event never used",
    E0211: "use after the end of a scope",
    E0212: "host variable assigned in a kernel",
    E0213: "function defined twice",
    W0214: "parameter never used",
}
