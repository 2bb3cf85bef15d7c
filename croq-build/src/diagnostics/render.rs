//! Diagnostics as ariadne reports or JSON lines.
