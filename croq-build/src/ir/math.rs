//! The math builtins: one table of names, functions, numbers of arguments and C++ spellings.

macro_rules! functions {
    ($($function:ident $name:literal $arguments:literal $cpp:literal;)*) => {
        /// The operands and the result have the expression's type, except that `IsFinite` gives
        /// `Bool`, and `Bits` the bits of its operand as the expression's type, of the same size.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum MathFn {
            $($function,)*
        }

        impl MathFn {
            /// All functions, with their names in Croqtile.
            pub const ALL: &[(&str, MathFn)] = &[$(($name, MathFn::$function),)*];

            /// The number of arguments.
            pub fn arguments(self) -> usize {
                match self {
                    $(MathFn::$function => $arguments,)*
                }
            }

            /// The function of `croq_math.h`.
            pub fn cpp(self) -> &'static str {
                match self {
                    $(MathFn::$function => $cpp,)*
                }
            }
        }
    };
}

functions! {
    Acos "__acos" 1 "croq::acos";
    Asin "__asin" 1 "croq::asin";
    Atan "__atan" 1 "croq::atan";
    Ceil "__ceil" 1 "croq::ceil";
    Cos "__cos" 1 "croq::cos";
    Cosh "__cosh" 1 "croq::cosh";
    Erf "__erf" 1 "croq::erf";
    Erfc "__erfc" 1 "croq::erfc";
    Exp "__exp" 1 "croq::exp";
    Exp2 "__exp2f" 1 "croq::exp2";
    Expm1 "__expm1" 1 "croq::expm1";
    Fabs "__fabs" 1 "croq::fabs";
    Floor "__floor" 1 "croq::floor";
    Recip "__frcp_rn" 1 "croq::recip";
    Gelu "__gelu" 1 "croq::gelu";
    IsFinite "__isfinite" 1 "croq::is_finite";
    Log "__log" 1 "croq::log";
    Log1p "__log1p" 1 "croq::log1p";
    Round "__round" 1 "croq::round";
    Rsqrt "__rsqrt" 1 "croq::rsqrt";
    Sigmoid "__sigmoid" 1 "croq::sigmoid";
    Sign "__sign" 1 "croq::sign";
    Sin "__sin" 1 "croq::sin";
    Sinh "__sinh" 1 "croq::sinh";
    Softplus "__softplus" 1 "croq::softplus";
    Sqrt "__sqrt" 1 "croq::sqrt";
    Tan "__tan" 1 "croq::tan";
    Tanh "__tanh" 1 "croq::tanh";
    Atan2 "__atan2" 2 "croq::atan2";
    Pow "__pow" 2 "croq::pow";
    Max "__max" 2 "croq::max";
    Min "__min" 2 "croq::min";
    Fma "__fmaf" 3 "croq::fma";
    Bits "__bitcast" 1 "croq::bits_as";
}

impl MathFn {
    /// The function with that name in Croqtile.
    pub fn named(name: &str) -> Option<MathFn> {
        let mut all = MathFn::ALL.iter();
        all.find(|(known, _)| *known == name).map(|(_, f)| *f)
    }
}
