//! The codes of run-time checks and the class of each.

/// What a check does besides stopping the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// It checks a size or a position that the whole call depends on.
    Plain,
    /// It checks one statement, which may never run, so the check remains at that statement.
    OfOnePlace,
    /// An `assert` in the program.
    Assertion,
    /// It ends a launch even with `Checks::Report`: the code after it was proved for an integer
    /// that does not overflow, or for a tile of another shape, and is not safe otherwise.
    EndsLaunch,
}

macro_rules! check_codes {
    ($($code:ident $text:literal $class:ident),* $(,)?) => {
        /// `R01` … of the catalogue of checks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum CheckCode {
            $($code),*
        }

        impl CheckCode {
            pub fn text(self) -> &'static str {
                match self {
                    $(CheckCode::$code => $text),*
                }
            }

            fn class(self) -> Class {
                match self {
                    $(CheckCode::$code => Class::$class),*
                }
            }
        }
    };
}

check_codes! {
    R01 "R01" Plain,
    R05 "R05" Plain,
    R06 "R06" Plain,
    R07 "R07" Plain,
    R08 "R08" EndsLaunch,
    R10 "R10" EndsLaunch,
    R12 "R12" OfOnePlace,
    R13 "R13" OfOnePlace,
    R14 "R14" Assertion,
    R18 "R18" Plain,
    R19 "R19" EndsLaunch,
    R20 "R20" OfOnePlace,
    R22 "R22" EndsLaunch,
    R23 "R23" OfOnePlace,
    R24 "R24" Plain,
}

impl CheckCode {
    pub fn is_assertion(self) -> bool {
        self.class() == Class::Assertion
    }

    /// Whether it checks one statement, which may never run.
    pub fn is_of_one_place(self) -> bool {
        matches!(self.class(), Class::OfOnePlace | Class::Assertion)
    }

    pub fn ends_launch(self) -> bool {
        self.class() == Class::EndsLaunch
    }
}
