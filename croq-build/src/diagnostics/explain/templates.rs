//! Function templates.

explanations! {
    N1210: "template without an instance",
    E1211: "feature of C++ templates that the language does not have",
    E1212: "static assertion fails",
    E1213: "template argument missing, superfluous or of the wrong kind",
    E1214: "signature of a specialisation that its template does not have",
    E1215: "instances with too many tokens",
}
