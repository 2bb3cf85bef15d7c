//! Tests of accepted syntax, precedence, and independent errors.

mod codes;
mod recovery;
mod robustness;

use super::ast::*;
use super::parse;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source;

/// The functions and diagnostics of a whole file.
pub fn parse_file(text: &str) -> (Vec<Function>, Vec<Diagnostic>, source::SourceFile) {
    let mut diags = Diagnostics::new();
    let file = source::load("test.co", text, &[], &mut diags);
    let functions = parse(&file, &mut diags);
    (functions, diags.into_sorted(), file)
}

/// The statements of a function body without errors.
fn body(text: &str) -> Vec<Stmt> {
    let (mut functions, diags, _) = parse_file(&format!("__co__ void f() {{\n{text}\n}}"));
    assert!(diags.is_empty(), "{text}: {diags:#?}");
    functions.remove(0).body
}

/// An expression as a fully parenthesised formula.
fn show(e: &Expr) -> String {
    let list = |items: &[Expr]| items.iter().map(show).collect::<Vec<_>>().join(", ");
    match &*e.kind {
        ExprKind::Int { value, .. } => value.to_string(),
        ExprKind::Float { value, .. } => format!("{value:?}"),
        ExprKind::Name(text) => text.clone(),
        ExprKind::Paren(inner) => format!("({})", show(inner)),
        ExprKind::Unary(op, inner) => format!("{op:?}({})", show(inner)),
        ExprKind::Binary(op, _, a, b) => format!("{op:?}({}, {})", show(a), show(b)),
        ExprKind::Ternary(c, a, b) => format!("If({}, {}, {})", show(c), show(a), show(b)),
        ExprKind::Extent(inner) => format!("#{}", show(inner)),
        ExprKind::Member(base, member, _) => format!("{}.{member:?}", show(base)),
        ExprKind::At(base, items) => format!("{}.at({})", show(base), list(items)),
        ExprKind::Element(base, index) => format!("{}({})", show(base), show(index)),
        ExprKind::Subscript(base, items) => format!("{}[{}]", show(base), list(items)),
        ExprKind::Derive(base, items) => format!("{}{{{}}}", show(base), list(items)),
        ExprKind::List(items) => format!("[{}]", list(items)),
        ExprKind::Braces(items) => format!("{{{}}}", list(items)),
        ExprKind::Count(inner) => format!("|{}|", show(inner)),
        ExprKind::SizeOf(elem) => format!("|{elem:?}|"),
        ExprKind::Call(call) => format!("{}({})", call.callee.text, list(&call.args)),
        ExprKind::Builtin { name, args } => format!("{}({})", name.text, list(args)),
        ExprKind::Increment { prefix, by, target } => {
            format!("Inc({prefix}, {by}, {})", show(target))
        }
        ExprKind::AddressOf(inner) => format!("&{}", show(inner)),
        ExprKind::Wildcard => "_".into(),
        other => format!("{other:?}"),
    }
}

fn expression(text: &str) -> String {
    match &body(&format!("x = {text};"))[0].kind {
        StmtKind::Assign { value, .. } => show(value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn precedence() {
    for (text, expected) in [
        ("a + b & 3", "Add(a, And(b, 3))"),
        ("n * p # q", "Mul(n, Compose(p, q))"),
        ("p # q + 1", "Add(Compose(p, q), 1)"),
        ("p # q #- 1", "BoundSub(Compose(p, q), 1)"),
        ("a & b | c ^ d", "Xor(Or(And(a, b), c), d)"),
        ("#p # q", "Compose(#p, q)"),
        ("128 / #p", "Div(128, #p)"),
        ("-a * b", "Mul(Neg(a), b)"),
        ("-p # q", "Neg(Compose(p, q))"),
        ("~a & b", "And(BitNot(a), b)"),
        ("!a == b", "Eq(Not(a), b)"),
        ("a - b - c", "Sub(Sub(a, b), c)"),
        (
            "a < b && c >= d || e",
            "LogicOr(LogicAnd(Lt(a, b), Ge(c, d)), e)",
        ),
        (
            "a == b < c << d + e * f",
            "Eq(a, Lt(b, Shl(c, Add(d, Mul(e, f)))))",
        ),
        ("c ? a : d ? b : e", "If(c, a, If(d, b, e))"),
        ("a #* b #+ c", "BoundAdd(BoundMul(a, b), c)"),
        (
            "x.data.at(i # j, k) * 2",
            "Mul(x.Data.at(Compose(i, j), k), 2)",
        ),
        ("s(0) + x.span(1)", "Add(s(0), x.Span(1))"),
        ("|x.span| + |s32| | 1", "Add(|x.Span|, Or(|S32|, 1))"),
        ("y(-1)", "y(Neg(1))"),
        ("t {(0), 5}", "t{(0), 5}"),
        ("__min(a, b)", "__min(a, b)"),
        ("cdiv(M, 4)", "cdiv(M, 4)"),
        ("a[i][j]", "a[i][j]"),
        ("a - -1.5f", "Sub(a, Neg(1.5))"),
        ("#\n a", "#a"),
        ("!!a", "Not(Not(a))"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

/// One statement of every form.
const FORMS: &str = r#"
  mdspan<2> s : [4, 8];
  t2 : s [(0)/2, (1)+1, 4];
  t3 : [s, 6];
  ituple<2> t = {1, 2};
  ituple u = t {(0), 5};
  int a = 1, b{2};
  mutable int c;
  mutable d = 4;
  f32 acc = 0.0f;
  shared s32 word;
  shared f16 [64, 64] tile[4], part[2][3];
  f32 [x.span] whole{1.0f};
  local f32 [s, 8] loc;
  global f32 [auto] anything;
  frag f32 [16, 16] fr {0.0f};
  frag mc[2][2] {0.0f};
  frag.f32 md[2] {0.0f};
  shared event full[4], empty[4] = ready;
  event<128> done;
  x = 1, y = 2;
  y += 3;
  x.at(1, 2) = y;
  out.data.at({1, 2}) *= 2.0f;
  ++c; c++; --c; c--;
  w = x.view(4, 4).from(i, j);
  v = x.subspan(4, 4 : 8, 1).step(2, 2).at(0, 1).span_as(16).sqz();
  m = x.modspan(3).at(1);
  q = x.chunk(2, 2).at(i, j);
  dma.copy x.chunkat(i, _) => shared;
  f = dma.copy.async<full[0]>.swiz<128>.zfill tile[1].chunkat(i, j) => tile[0] after g;
  f = dma.transp<1, 0> x => local;
  f = dma.pad<{2, 1}, {3, 2}, {0, 0}, c>.async x => y;
  f = dma.copy.sp<2:4> x => y;
  f = tma.load.promote<128>.evict_first.async x => shared;
  f = tma.copy.multicast.swiz x => select(i, p0, p1);
  dma.copy.zfill x.view(4, 4).from(i, j)
    => y;
  g = dma.any;
  h = x.map<local>(1, 2);
  mx = mma.fill.f16 0.0f;
  mx = mma.fill 0;
  mma.fill mx, 1.0f;
  ma = mma.load.swiz<128> x.chunkat(_, i);
  ma = mma.load.frag.async x;
  mma.load x, mx;
  mma.row.col mx, ma, mb;
  o = mma.row.row.async mx, x.chunkat(_, i), tile[1];
  mma.row.row.scale mx, ma, mb, sc, 2.0f;
  mma.row.row.sp mx, ma, mb, md[0];
  [[schedule(k_tiles(1, 0))]] mma.row.row mx, ma, mb;
  mma.store mx, x.subspan(64, 64).at(i, j);
  mma.store.mask mx, x, rows, cols;
  mma.store.transp mx, x;
  mma.scale mx, sc, 2.0f;
  mma.commit;
  reduce_max(row, mx, 1);
  all_reduce_sum(row);
  copy(dst, src);
  apply {i, j} in mx.span mx.at(i, j) = 0.0f;
  wait f, full[s], e.at(i);
  trigger full[s], e after f, g;
  trigger.cluster e;
  swap(f, g);
  swap f, g;
  rotate f, g, h;
  sync.shared;
  sync.barrier : group-4;
  sync.fence : block <shared>;
  call ns::fn<4, f32, ns::type>(x, &y, &y.at(1), nullptr, __to<"float*">(x.data), _);
  z = call fn();
  if (call fn(z)) { }
  assert(a < b, "message " "continued");
  print("a", a); println!(s);
  __atomic_add(x.at(i), 1);
  __bar_sync(1, 128);
  fast_thing(x);
  __cpp__(R"(int raw = 1;)" "\n");
  __asm__ volatile ("add %0, %1;" : "=r"(a), [b] "+r"(b) : "r"(c) : "memory");
  asm("nop;" ::: "memory");
  break; continue; yield; return;
  return a;
  ;
  { a = 1; }
  parallel by 2 { }
  parallel p by 6 a = p;
  parallel.async<st> p by 6, q by 4 : thread { }
  parallel.async {i, j} by [cdiv(M, 4), 2] : block<cooperative> stream st { }
  [[launch_bounds(256, _)]] [[maxnreg(64)]] parallel t = {i, j, k} by [1, 2, 3] : block { }
  parallel p by s : group-4 { }
  parallel p by 2 : device(gpu) { }
  with r = {i, j} in [6, 10], k in 4 where i <-> j, j <-> k { foreach k, r { } foreach i(2:), c = j(:-1) { } foreach i(1:-1:2) { } foreach i(::2) { } foreach i(:) { } }
  foreach {i, j} in x.span y.at(i) = 1;
  foreach i in N : unroll { }
  foreach i in 128 / #p : unroll(4), vectorize(i, 8) { }
  foreach i in s [(0)] { }
  inthreads.async (p == 0) { }
  inthreads (p % 2 == 0) a = 1;
  while (a < 10) a += 1;
  if (a < b) { } else if (a > b) a = 1; else { }
  block = 1; thread = 2; data = copy; data.at(block # thread) = group;
  n = -x.at(i) + inf - 0x1Fu + 10ll;
  bit = a & 3 | b ^ ~c;
  big = |x| > 4 ? __exp(x.at(i)) : __to<f16>(2.0);
"#;

#[test]
fn every_form_parses() {
    let stmts = body(FORMS);
    assert!(stmts.len() > 100, "{}", stmts.len());
    assert!(!format!("{stmts:?}").contains("Error"));
}

/// Keywords can be names where no rule requires the keyword.
#[test]
fn words_of_the_grammar_may_be_names() {
    for text in [
        "stage = k % 2; x.at(t) = x.at(t) + __to<f32>(stage);",
        "half = n / 2; half y; y = __to<half>(half) + half; s32 [half] z;",
        "view = 1; from = view; step = from; data = step; mask = data; load = mask; y = load;",
        "copy = 1; any = copy; ready = any; after = ready; cluster = after + x.data.at(any);",
        "int wait = 3; wait e; x = wait * 2 + wait; wait f, g;",
        "int trigger = 3; trigger e; x.at(trigger) = trigger;",
        "with = 3; with i in 4 { x = with - i; }",
        "foreach in in 4 { x = in + in; }",
        "parallel by by 4 : thread { x.at(by) = by; }",
        "parallel p by 2 : group, t by 32 : thread { group = p; thread = t; x = group + thread; }",
        "shared = 1; shared f32 [4] tile; dma.copy x => shared; y = shared % 2;",
        "local = 1; y = (local); y = f(local, 2); y.at(local) = -local; local f32 v;",
        "global = n > 2 ? 1 : 2; y = x.at(global) + (global);",
        "call = 2; call g(call); y = call g(2) + call;",
        "select = 1; y = select(c, a, b) + select;",
        "dma = 1; f = dma.copy x => shared; y = dma * 2; dma.copy x => y;",
        "mma = 1; mma.row.row c, a, b; y = mma - 1; c = mma.fill.f32 0.0f;",
        "sync = 1; sync.shared; y = sync; swap = 2; swap(a, b); y = swap + sync;",
        "inf = 3; y = inf; event = 1; event e; y = event; frag = 2; y = frag;",
        "mutable half = 1; half += 2; half = half * half;",
        "int wait = 1; foreach i in [2] wait e; foreach i in 4 wait f; x = wait;",
        "int trigger = 1; foreach s in [2] trigger e[s]; if (a) trigger f; else wait e;",
        "mma = 1; foreach k in [2] mma.row.row c, a, b; dma = 2; foreach k in n dma.copy x => y;",
        "f16 = 3; f16 y; y = f16 + 1; f = mma.fill.f16 0.0f;",
    ] {
        body(text);
    }
    assert_eq!(
        show(match &body("half = 1; y = half * 2 + half;")[1].kind {
            StmtKind::Assign { value, .. } => value,
            other => panic!("{other:?}"),
        }),
        "Add(Mul(half, 2), half)"
    );
}
