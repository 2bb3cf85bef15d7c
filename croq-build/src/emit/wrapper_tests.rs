//! The header and the wrappers of functions constructed in the test, compared with golden files.
//! `CROQ_BLESS=1` writes them.

use std::path::Path;

use super::{Declared, FileMeta, header, shims, wrapper_names, wrappers};
use crate::ir::threads::Function;
use crate::ir::*;
use crate::sorted::SortedMap;
use crate::source::Span;
use crate::symbolic::{Ctx, Sym};

/// Builds a function from its parameters, without a body.
struct Signature {
    function: Function,
    source: String,
}

#[derive(Clone, Copy)]
enum Axis {
    Static(u64),
    Named(&'static str),
    Any,
    Unbounded,
}
use Axis::{Any, Named, Static, Unbounded};

impl Signature {
    fn new(name: &str, source: &str) -> Self {
        let function = Function {
            name: name.to_owned(),
            span: Span::new(0, source.len() as u32),
            cx: Ctx::new(),
            var_home: SortedMap::new(),
            params: Vec::new(),
            dims: Vec::new(),
            results: Vec::new(),
            buffers: Vec::new(),
            locals: Vec::new(),
            kernels: Vec::new(),
            body: Vec::new(),
            checks: Vec::new(),
            futures: Vec::new(),
            events: Vec::new(),
            signals: Vec::new(),
            fragments: SortedMap::new(),
            reports: false,
            facts: Default::default(),
        };
        Self {
            function,
            source: source.to_owned(),
        }
    }

    fn param(&mut self, name: &str, kind: ParamKind) {
        let span = Span::default();
        self.function.params.push(Param {
            name: name.to_owned(),
            named: true,
            span,
            kind,
        });
    }

    fn scalar(mut self, name: &str, ty: Scalar) -> Self {
        self.param(name, ParamKind::Scalar { ty, var: None });
        self
    }

    fn stream(mut self, name: &str) -> Self {
        self.param(name, ParamKind::Stream);
        self
    }

    fn tensor(
        mut self,
        name: &str,
        elem: Scalar,
        passing: Passing,
        written: bool,
        axes: &[Axis],
    ) -> Self {
        let param = ParamId(self.function.params.len() as u32);
        let buffer = BufferId(self.function.buffers.len() as u32);
        let mut extents = Vec::new();
        for (axis, wanted) in axes.iter().enumerate() {
            let known = |name: &str| self.function.dims.iter().position(|d| d.name == name);
            extents.push(match *wanted {
                Static(n) => Extent::Static(n),
                Unbounded => Extent::Unbounded,
                Named(dim) if known(dim).is_some() => Extent::Dim {
                    dim: DimId(known(dim).unwrap() as u32),
                    declares: false,
                },
                Named(dim) => self.declare(dim.to_owned(), false, param, axis),
                Any => self.declare(format!("{name}_{axis}"), true, param, axis),
            });
        }
        self.function.buffers.push(Buffer {
            name: name.to_owned(),
            elem,
            storage: Storage::Param(param),
            shape: Vec::new(),
            count: Sym::one(),
            span: Span::default(),
            read: true,
            written,
            swizzle: None,
            swaps: false,
        });
        self.param(
            name,
            ParamKind::Tensor(TensorParam {
                passing,
                elem,
                extents,
                buffer,
            }),
        );
        self
    }

    fn declare(&mut self, name: String, anonymous: bool, param: ParamId, axis: usize) -> Extent {
        let dim = DimId(self.function.dims.len() as u32);
        let var = self.function.cx.new_var(&name, Some(Sym::one()), None);
        self.function.var_home.insert(var, VarHome::Dim(dim));
        let span = Span::default();
        self.function.dims.push(Dim {
            name,
            var,
            anonymous,
            param,
            axis,
            span,
        });
        Extent::Dim {
            dim,
            declares: true,
        }
    }

    fn dim(&self, name: &str) -> Sym {
        Sym::var(
            self.function
                .dims
                .iter()
                .find(|d| d.name == name)
                .unwrap()
                .var,
        )
    }

    fn returns(mut self, elem: Scalar, shape: impl FnOnce(&Self) -> Vec<Sym>) -> Self {
        let shape = shape(&self);
        self.function.results = vec![ResultType::Tensor { elem, shape }];
        self
    }

    fn returns_scalar(mut self, ty: Scalar) -> Self {
        self.function.results = vec![ResultType::Scalar(ty)];
        self
    }

    fn check(mut self, code: CheckCode, message: &str, at: &str) -> Self {
        let start = self.source.find(at).unwrap() as u32;
        let span = Span::new(start, start + at.len() as u32);
        self.function.checks.push(CheckInfo {
            code,
            message: message.to_owned(),
            span,
        });
        self
    }
}

fn meta(stem: &str, cuda: bool) -> FileMeta {
    FileMeta {
        stem: stem.to_owned(),
        path: format!("kernels/{stem}.co"),
        hash: "0badcafe".to_owned(),
        cuda,
        unchecked: false,
        reports: false,
    }
}

const SCALE: &str = "// Multiplies every element by `gain`.
__co__ f32 [M, 64] scale(f32 [M, 64] src, f32 gain) {
  f32 [M, 64] dst;
  parallel r by cdiv(M, 8) : block {
  }
  return dst;
}
";

fn scale() -> Signature {
    let mut scale = Signature::new("scale", SCALE)
        .tensor(
            "src",
            Scalar::F32,
            Passing::In,
            false,
            &[Named("M"), Static(64)],
        )
        .scalar("gain", Scalar::F32)
        .returns(Scalar::F32, |s| vec![s.dim("M"), Sym::int(64)])
        .check(
            CheckCode::R05,
            "`cdiv(M, 8)` is {0}: a grid has at most 2147483647 blocks along x",
            "parallel r",
        );
    scale.function.span = Span::new(SCALE.find("__co__").unwrap() as u32, SCALE.len() as u32);
    scale
}

fn gemm() -> Signature {
    let source = "__co__ void gemm(global f16 [M, K] lhs, global f16 [N, K] rhs,\n            \
                  global f16 [M, N] output) {\n}\n";
    let global = Passing::Global;
    Signature::new("gemm", source)
        .tensor("lhs", Scalar::F16, global, false, &[Named("M"), Named("K")])
        .tensor("rhs", Scalar::F16, global, false, &[Named("N"), Named("K")])
        .tensor(
            "output",
            Scalar::F16,
            global,
            true,
            &[Named("M"), Named("N")],
        )
}

/// All other features: copied back, scalars of every representation, reserved names, repeated,
/// anonymous and unbounded extents, a derived result, no source text.
fn odd() -> Signature {
    Signature::new("match", "")
        .tensor(
            "type",
            Scalar::S32,
            Passing::InOut,
            true,
            &[Named("M"), Named("M"), Named("Const")],
        )
        .tensor(
            "call",
            Scalar::F8E4M3,
            Passing::Global,
            false,
            &[Unbounded, Any, Named("M")],
        )
        .tensor(
            "x",
            Scalar::Bf16,
            Passing::In,
            false,
            &[Named("M"), Named("M")],
        )
        .scalar("int", Scalar::F16)
        .scalar("flag", Scalar::Bool)
        .stream("s")
        .returns(Scalar::U8, |s| {
            vec![s.dim("M") + s.dim("call_1"), Sym::int(7), s.dim("Const")]
        })
}

fn total() -> Signature {
    let source = "__co__ bool total(f64 [N] & x) {\n}\n";
    Signature::new("total", source)
        .tensor("x", Scalar::F64, Passing::InOut, true, &[Named("N")])
        .returns_scalar(Scalar::Bool)
}

fn same_as_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/emit/golden")
        .join(name);
    if std::env::var_os("CROQ_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == golden,
        "{} is not what is emitted now:\n{text}",
        path.display()
    );
}

fn declared(text: &str) -> Declared<'_> {
    Declared {
        text,
        ..Declared::default()
    }
}

fn check(stem: &str, cuda: bool, signature: Signature) {
    let declared = declared(&signature.source);
    let (meta, functions) = (meta(stem, cuda), [signature.function]);
    same_as_golden(&format!("{stem}.h"), &header(&meta, &functions, &declared));
    same_as_golden(
        &format!("{stem}.rs"),
        &wrappers(&meta, &functions, &declared),
    );
    same_as_golden(&format!("{stem}_shims.rs"), &shims(&meta, &functions));
}

/// Macros of the including crate are in scope where generated code is expanded: a macro called by a
/// bare name would be expanded inside the wrappers' private module.
#[test]
fn wrappers_call_no_macro() {
    for signature in [scale(), gemm(), odd(), total()] {
        let declared = declared(&signature.source);
        let (meta, functions) = (meta("all", true), [signature.function]);
        let text = wrappers(&meta, &functions, &declared) + &shims(&meta, &functions);
        let code = text.lines().filter(|line| !line.trim().starts_with("//"));
        for line in code {
            let mut bangs = line.match_indices('!').map(|(at, _)| line.split_at(at));
            assert!(
                bangs.all(|(before, _)| !before.ends_with(|c: char| c.is_ascii_alphanumeric())),
                "{line}"
            );
        }
    }
}

#[test]
fn scale_is_a_function_of_host_tensors() {
    check("scale", false, scale());
}

#[test]
fn gemm_is_a_function_of_device_tensors() {
    check("gemm", true, gemm());
}

#[test]
fn odd_names_and_extents() {
    check("odd", true, odd());
}

#[test]
fn a_scalar_comes_back() {
    check("total", false, total());
}

#[test]
fn unchecked_wrappers_are_unsafe() {
    let mut meta = meta("scale", false);
    meta.unchecked = true;
    let text = wrappers(&meta, &[scale().function], &declared(SCALE));
    assert!(
        text.contains("pub unsafe fn scale<") && text.contains("/// # Safety\n"),
        "{text}"
    );
}

#[test]
fn wrappers_of_one_file_have_different_names() {
    let names = wrapper_names(
        &[odd().function, Signature::new("match_", "").function],
        &Declared::default(),
    );
    assert_eq!(names, ["match_", "match__"]);
}
