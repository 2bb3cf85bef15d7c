//! What an earlier walk over the same function found that this one needs before it gets there.
//!
//! A fragment may be read before the product that gives it its extents, and a statement at block
//! level may depend on the number of threads of a level below it. A walk without such a fact
//! takes note of that, and the function is walked again with what is known at its end.

use crate::ir::{Fragment, FragmentLayout, Level, Local, Scalar};
use crate::sema::state::choices::{Choice, Place};
use crate::sema::state::fragments::Declared;
use crate::sorted::{SortedMap, SortedSet};
use crate::source::Span;
use crate::syntax::ast;

/// The most walks over one function: facts may depend on each other.
pub(crate) const MOST_WALKS: usize = 6;

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Earlier {
    /// What products determine of fragments. `None` if it differs among several that can't be told
    /// apart.
    pub fragments: SortedMap<Declared, Option<Shaped>>,
    /// The numbers of threads of kernels, by their statements. `None` if it differs.
    pub threads: SortedMap<Option<Place>, Option<i64>>,
    /// Mutable locals that differ between units, by the places of their names and these.
    pub varying: SortedMap<(Span, String), Level>,
    /// Whether each read of a mutable local counts as different in each thread.
    pub cautious: bool,
    /// Mutable integers that an `assert` is about, by the places of their names and these: whether
    /// nothing assigns them after their declarations, once a walk has seen all of the function. Then
    /// what holds of them at the `assert` stays true.
    pub asserted: SortedMap<(Span, String), Option<bool>>,
    /// Names without a type that begin with data and get another value later, by their places and
    /// these: they are mutable.
    pub reassigned: SortedSet<(Span, String)>,
    /// The choices to be made before a statement.
    pub choices: SortedMap<Place, Vec<Choice>>,
    /// Whether there is no walk after this one.
    pub last: bool,
    /// Whether a fact was missing.
    pub incomplete: bool,
}

/// What products determine of a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shaped {
    pub shape: Vec<i64>,
    pub elem: Scalar,
    pub layout: Option<FragmentLayout>,
}

impl Earlier {
    /// Records a choice to be made before a statement. False if it was recorded before.
    pub fn note_choice(&mut self, before: Place, choice: Choice) -> bool {
        self.incomplete = true;
        let known = self.choices.entry(before).or_default();
        let is_new = !known.contains(&choice);
        if is_new {
            known.push(choice);
        }
        is_new
    }

    /// Records what is known of a fragment at the end of a walk.
    pub fn note_fragment(&mut self, declared: &Declared, fragment: &Fragment, elem: Scalar) {
        let shaped = Shaped {
            shape: fragment.shape.clone(),
            elem,
            layout: fragment.layout,
        };
        let shaped = (!shaped.shape.is_empty()).then_some(shaped);
        let known = self.fragments.entry(declared.clone());
        let known = known.or_insert_with(|| shaped.clone());
        if *known != shaped {
            *known = None;
        }
    }

    pub fn fragment(&self, declared: &Declared) -> Option<&Shaped> {
        self.fragments.get(declared).and_then(Option::as_ref)
    }

    /// The level between whose units a mutable local differs.
    pub fn varies(&self, local: &Local) -> Option<Level> {
        // Most functions have none.
        if self.varying.is_empty() {
            return None;
        }
        let key = (local.span, local.name.clone());
        self.varying.get(&key).copied()
    }

    /// Records that an `assert` is about a mutable.
    pub fn note_asserted(&mut self, local: &Local) {
        let key = (local.span, local.name.clone());
        if !self.asserted.contains_key(&key) {
            self.asserted.insert(key, None);
            self.incomplete = true;
        }
    }

    /// Whether an `assert` is about a mutable with this name that nothing assigns after its
    /// declaration.
    pub fn is_settled(&self, name: &ast::Name) -> bool {
        let known = self.asserted.get(&(name.span, name.text.clone()));
        known == Some(&Some(true)) && !self.last
    }

    /// Records that a name gets another value than that of its declaration.
    pub fn note_reassigned(&mut self, name: &str, declared: Span) {
        self.incomplete |= self.reassigned.insert((declared, name.to_owned()));
    }

    pub fn is_reassigned(&self, name: &ast::Name) -> bool {
        self.reassigned.contains(&(name.span, name.text.clone()))
    }

    /// Records the number of threads of a kernel at the end of a walk.
    pub fn note_threads(&mut self, at: Option<Place>, threads: Option<i64>) {
        let known = self.threads.entry(at).or_insert(threads);
        if *known != threads {
            *known = None;
        }
    }

    /// That of the kernel of this statement of the host.
    pub fn threads(&self, at: Option<Place>) -> Option<i64> {
        self.threads.get(&at).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::Earlier;
    use crate::sema::testing;

    /// All names of one use of a macro have one place.
    #[test]
    fn fragments_of_a_macro_have_extents_of_their_own() {
        let text = "#define PRODUCTS c = mma.fill.f32 0.0f; mma.row.col c, fa, fb; \
                      frag f16 [16, 64] h {0}; copy(h, c); \
                      d = mma.fill.f32 0.0f; mma.row.col d, h, fc;\n\
            __co__ void f(global f16 [16, 16] x, global f16 [16, 64] y, global f16 [64, 8] z,
                          global f32 [16, 8] o, global f32 [16, 8] p, int n) {
              parallel b by 1 : block {
                shared f16 [16, 16] a; shared f16 [16, 64] b; shared f16 [64, 8] c;
                dma.copy x => a; dma.copy y => b; dma.copy z => c;
                parallel w by 1 : group {
                  fa = mma.load a; fb = mma.load b; fc = mma.load c;
                  PRODUCTS
                  mma.store d, o;
                }
              }
              parallel t by 8 select(n, o, p).at(0, t) = 1.0f;
            }";
        let function = testing::function(text);
        let shape = |name: &str| {
            let buffers = function.buffers.iter().zip(0..);
            let mut named = buffers.filter(|(b, _)| b.name == name);
            let shape = |id| function.fragments.get(&crate::ir::BufferId(id));
            named.find_map(|(_, id)| Some(shape(id)?.shape.clone()))
        };
        assert_eq!(shape("c"), Some(vec![16, 64]));
        assert_eq!(shape("d"), Some(vec![16, 8]));
    }

    /// Names that are equal, too, as in blocks of a macro, and in two instances of a template.
    #[test]
    fn fragments_of_equal_names_have_extents_of_their_own() {
        let product = "acc = mma.fill.f32 0.0f; \
             apply {i, j} in acc.span { acc.at(i, j) = 1.0f; } mma.row.col acc, fa,";
        let params = "global f16 [16, 16] x, global f16 [16, 64] y, global f16 [16, 8] z,
             global f32 [16, 64] o, global f32 [16, 8] p";
        let extents = |text: &str| {
            let (_, functions, diags) = testing::program("t.co", text);
            assert!(!diags.has_errors(), "{:#?}", diags.into_sorted());
            let Some(function) = functions.iter().find(|f| f.name == "f") else {
                panic!("no function `f`");
            };
            let buffers = function.buffers.iter().zip(0..);
            let named = buffers.filter(|(b, _)| b.name == "acc");
            let of = |id| function.fragments.get(&crate::ir::BufferId(id));
            let shapes = named.filter_map(|(_, id)| Some(of(id)?.shape.clone()));
            shapes.collect::<Vec<_>>()
        };
        let both = [vec![16, 64], vec![16, 8]];
        let of_a_macro = format!(
            "#define PRODUCTS {{ {product} fb; mma.store acc, o; }} {{ {product} fc; mma.store acc, p; }}\n\
             __co__ void f({params}) {{
               parallel b by 1 : block, w by 1 : group {{
                 fa = mma.load x; fb = mma.load y; fc = mma.load z;
                 PRODUCTS
               }}
             }}"
        );
        assert_eq!(extents(&of_a_macro), both);
        let of_instances = format!(
            "template <int C> __co__ void g(global f16 [16, 16] x, global f16 [16, C] y, global f32 [16, C] o) {{
               parallel b by 1 : block, w by 1 : group {{
                 fa = mma.load x; fb = mma.load y;
                 {product} fb;
                 mma.store acc, o;
               }}
             }}
             __co__ void f({params}) {{ g<64>(x, y, o); g<8>(x, z, p); }}"
        );
        assert_eq!(extents(&of_instances), both);
    }

    #[test]
    fn numbers_that_differ_are_not_known() {
        let mut earlier = Earlier::default();
        for (threads, known) in [(32, Some(32)), (32, Some(32)), (128, None), (128, None)] {
            earlier.note_threads(None, Some(threads));
            assert_eq!(earlier.threads(None), known);
        }
    }
}
