//! The MMA instructions of a warp and of a warpgroup.

use crate::ir::{Atom, Scalar};

/// The instructions for one pair of operand types.
struct Family {
    /// The first target that has them.
    since: u16,
    acc: &'static [Scalar],
    /// The values of K, largest first; all are available with 16 x 8 accumulators.
    k: &'static [i64],
    /// K of the instruction with an 8 x 8 accumulator.
    small: Option<i64>,
}

fn family(a: Scalar, b: Scalar) -> Option<Family> {
    use Scalar::*;
    let family = |since, acc, k, small| Family {
        since,
        acc,
        k,
        small,
    };
    Some(match (a, b) {
        (F16, F16) => family(75, &[F32, F16], &[16, 8], None),
        (Bf16, Bf16) => family(80, &[F32], &[16, 8], None),
        (F32, F32) => family(80, &[F32], &[8, 4], None),
        (F64, F64) => family(80, &[F64], &[16, 8, 4], Some(4)),
        (S8 | U8, S8 | U8) => family(75, &[S32], &[32, 16], Some(16)),
        (S4 | U4, S4 | U4) => family(75, &[S32], &[64, 32], Some(32)),
        (U1, U1) => family(80, &[S32], &[256, 128], Some(128)),
        (F8E4M3 | F8E5M2, F8E4M3 | F8E5M2) => family(89, &[F32, F16], &[32, 16], None),
        _ => return None,
    })
}

/// The type of an operand in the tables: instructions use f32 as tf32.
fn multiplied(operand: Scalar) -> Scalar {
    match operand {
        Scalar::Tf32 => Scalar::F32,
        other => other,
    }
}

/// The reason why there is no instruction.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Types,
    TypesOfWarpgroup,
    TypesOfSparse,
    /// The accumulator must have one of these types.
    Accumulator(&'static [Scalar]),
    Target(u16),
    /// M, N and K must be multiples of these.
    Shape([i64; 3]),
    /// The nearest shape of a warpgroup instruction.
    OfWarpgroup([i64; 3]),
}

/// The instruction for an MMA of `m x n x k`, on targets from `oldest` on.
pub(crate) fn select(
    types: [Scalar; 3],
    [m, n, k]: [i64; 3],
    oldest: u16,
) -> Result<Atom, Missing> {
    let [a, b, acc] = types;
    let [a, b] = [a, b].map(multiplied);
    let family = family(a, b).ok_or(Missing::Types)?;
    if !family.acc.contains(&acc) {
        return Err(Missing::Accumulator(family.acc));
    }
    if oldest < family.since {
        return Err(Missing::Target(family.since));
    }
    let least = family.k.last().copied().unwrap_or(1);
    // Targets before sm_80 do not have the larger instructions.
    let most = if oldest < 80 { least } else { i64::MAX };
    let small = oldest >= 80 || family.small.is_none();
    let deep = family.k.iter().find(|d| **d <= most && k % **d == 0);
    let atom = |m, n, k, swapped| Atom { m, n, k, swapped };
    if is_padded([a, b], [m, n, k]) {
        return Ok(atom(8, 8, PADDED_K, false));
    }
    match deep {
        Some(deep) if small && m % 16 == 0 && n % 8 == 0 => Ok(atom(16, 8, *deep, false)),
        Some(deep) if small && n % 16 == 0 && m % 8 == 0 => Ok(atom(16, 8, *deep, true)),
        _ => match family.small {
            Some(deep) if m % 8 == 0 && n % 8 == 0 && k % deep == 0 => Ok(atom(8, 8, deep, false)),
            Some(deep) => Err(Missing::Shape([8, 8, deep])),
            None => Err(Missing::Shape([16, 8, least])),
        },
    }
}

/// The first version of CUDA whose nvcc knows the instruction; `None` if every supported one does. PTX
/// ISA 8.7 has added sums of f16, and a K of 16, to the MMA of 8-bit floats.
pub(crate) fn first_nvcc([a, _, acc]: [Scalar; 3], atom: &Atom) -> Option<[u32; 2]> {
    let is_newer = acc == Scalar::F16 || atom.k == 16;
    (matches!(a, Scalar::F8E4M3 | Scalar::F8E5M2) && is_newer).then_some([12, 8])
}

/// K of an MMA of f16 that is part of a larger instruction.
const PADDED_K: i64 = 4;

/// Whether an MMA consists of parts of 8x8x4, each of which is an instruction 16x8x8 with zeros in
/// the other rows of A and along the rest of K.
fn is_padded(operands: [Scalar; 2], [m, n, k]: [i64; 3]) -> bool {
    operands == [Scalar::F16; 2] && m % 8 == 0 && n % 8 == 0 && k == PADDED_K
}

/// The rows of a warpgroup instruction's accumulator.
pub(crate) const WARPGROUP_ROWS: i64 = 64;
/// The most columns of a warpgroup instruction's accumulator.
const WARPGROUP_COLUMNS: i64 = 256;

/// The warpgroup instruction (sm_90a) for an MMA of `m x n x k`.
pub(crate) fn select_for_warpgroup(
    [a, b, acc]: [Scalar; 3],
    [m, n, k]: [i64; 3],
) -> Result<Atom, Missing> {
    use Scalar::*;
    let (deep, of): (i64, &'static [Scalar]) = match (multiplied(a), multiplied(b)) {
        (F16, F16) => (16, &[F32, F16]),
        (Bf16, Bf16) => (16, &[F32]),
        (F32, F32) => (8, &[F32]),
        (F8E4M3 | F8E5M2, F8E4M3 | F8E5M2) => (32, &[F32, F16]),
        (S8 | U8, S8 | U8) => (32, &[S32]),
        _ => return Err(Missing::TypesOfWarpgroup),
    };
    if !of.contains(&acc) {
        return Err(Missing::Accumulator(of));
    }
    of_warpgroup(acc, [m, n, k], deep)
}

/// The warpgroup instruction with these accumulators, and K of an instruction.
fn of_warpgroup(acc: Scalar, [m, n, k]: [i64; 3], deep: i64) -> Result<Atom, Missing> {
    use Scalar::*;
    // The integer instructions have fewer widths.
    let step = if acc == S32 && n > 32 { 16 } else { 8 };
    let there = n % step == 0 && n <= WARPGROUP_COLUMNS;
    // One with more rows is several instructions.
    if m % WARPGROUP_ROWS != 0 || !there || k % deep != 0 {
        let up = |n: i64, by: i64| (n + by - 1) / by * by;
        let n = up(n, step).min(WARPGROUP_COLUMNS);
        let m = up(m, WARPGROUP_ROWS);
        return Err(Missing::OfWarpgroup([m, n, up(k, deep)]));
    }
    Ok(Atom {
        m: WARPGROUP_ROWS,
        n,
        k: deep,
        swapped: false,
    })
}

/// The values of K of sparse MMA instructions, largest first, and their accumulators. Those of a
/// warpgroup have the largest K only.
fn sparse_family(a: Scalar, b: Scalar) -> Option<(&'static [i64], &'static [Scalar])> {
    use Scalar::*;
    Some(match (a, b) {
        (F16, F16) => (&[32, 16], &[F32, F16]),
        (Bf16, Bf16) => (&[32, 16], &[F32]),
        (F8E4M3 | F8E5M2, F8E4M3 | F8E5M2) => (&[64], &[F32, F16]),
        _ => return None,
    })
}

/// The instruction for a sparse MMA of `m x n x k`, where two of every four elements of A along K
/// are stored.
pub(crate) fn select_sparse(
    [a, b, acc]: [Scalar; 3],
    [m, n, k]: [i64; 3],
    oldest: u16,
) -> Result<Atom, Missing> {
    let (all, of) = sparse_family(a, b).ok_or(Missing::TypesOfSparse)?;
    // Those of bytes have no f16 accumulators.
    let (of, since): (&'static [Scalar], _) = match a.bytes() {
        1 => (&[Scalar::F32], 89),
        _ => (of, 80),
    };
    if !of.contains(&acc) {
        return Err(Missing::Accumulator(of));
    }
    if oldest < since {
        return Err(Missing::Target(since));
    }
    match all.iter().find(|deep| k % **deep == 0) {
        Some(deep) if m % 16 == 0 && n % 8 == 0 => Ok(Atom {
            m: 16,
            n: 8,
            k: *deep,
            swapped: false,
        }),
        _ => {
            let least = all.last().copied().unwrap_or(1);
            Err(Missing::Shape([16, 8, least]))
        }
    }
}

/// The warpgroup instruction (sm_90a) for a sparse MMA of `m x n x k`.
pub(crate) fn select_sparse_for_warpgroup(
    [a, b, acc]: [Scalar; 3],
    shape: [i64; 3],
) -> Result<Atom, Missing> {
    let (all, of) = sparse_family(a, b).ok_or(Missing::TypesOfSparse)?;
    if !of.contains(&acc) {
        return Err(Missing::Accumulator(of));
    }
    of_warpgroup(acc, shape, all.first().copied().unwrap_or(1))
}

const OPERANDS: [Scalar; 11] = {
    use Scalar::*;
    [F16, Bf16, F32, F64, S8, U8, S4, U4, U1, F8E4M3, F8E5M2]
};
const ACCUMULATORS: [Scalar; 4] = [Scalar::F16, Scalar::F32, Scalar::F64, Scalar::S32];

/// An instruction: the types of A, B and the accumulator, and its shape.
pub type Typed = ([Scalar; 3], Atom);

/// Every instruction that MMAs of a warp can select: the results of [`select`] for all targets.
/// Tests compare the instructions that they cover with this list.
pub fn of_warps() -> Vec<Typed> {
    every(|types, all| {
        for oldest in [75, 80, 89, 90] {
            for [m, n] in [[8, 8], [16, 8], [8, 16]] {
                let deep = (4..=256).step_by(4);
                all.extend(deep.filter_map(|k| select(types, [m, n, k], oldest).ok()));
            }
        }
    })
}

/// Every instruction that MMAs of a warpgroup can select.
pub fn of_warpgroups() -> Vec<Typed> {
    every(|types, all| {
        for n in (8..=WARPGROUP_COLUMNS).step_by(8) {
            let deep = (8..=64).step_by(8).map(|k| [WARPGROUP_ROWS, n, k]);
            all.extend(deep.filter_map(|shape| select_for_warpgroup(types, shape).ok()));
        }
    })
}

/// Every instruction that sparse MMAs of a warp can select.
pub fn of_sparse_warps() -> Vec<Typed> {
    every(|types, all| {
        for oldest in [75, 80, 89, 90] {
            let deep = (16..=64).step_by(16);
            all.extend(deep.filter_map(|k| select_sparse(types, [16, 8, k], oldest).ok()));
        }
    })
}

/// Every instruction that sparse MMAs of a warpgroup can select.
pub fn of_sparse_warpgroups() -> Vec<Typed> {
    every(|types, all| {
        for n in (8..=WARPGROUP_COLUMNS).step_by(8) {
            let deep = [32, 64].map(|k| [WARPGROUP_ROWS, n, k]);
            let of = |shape| select_sparse_for_warpgroup(types, shape).ok();
            all.extend(deep.into_iter().filter_map(of));
        }
    })
}

/// The instructions for all types, each once. Swapped operands do not make another instruction.
fn every(of: impl Fn([Scalar; 3], &mut Vec<Atom>)) -> Vec<Typed> {
    let mut all: Vec<Typed> = Vec::new();
    let pairs = OPERANDS.iter().flat_map(|a| OPERANDS.map(|b| (*a, b)));
    for ((a, b), acc) in pairs.flat_map(|pair| ACCUMULATORS.map(|acc| (pair, acc))) {
        let mut atoms = Vec::new();
        of([a, b, acc], &mut atoms);
        for atom in atoms {
            let swapped = false;
            let typed = ([a, b, acc], Atom { swapped, ..atom });
            if !all.contains(&typed) {
                all.push(typed);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use Scalar::*;

    #[test]
    fn the_shapes_of_the_language() {
        let atom = |m, k, swapped| {
            Ok(Atom {
                m,
                n: 8,
                k,
                swapped,
            })
        };
        for shape in [[16, 16, 16], [32, 8, 16], [16, 8, 16], [64, 128, 64]] {
            assert_eq!(select([F16, F16, F32], shape, 80), atom(16, 16, false));
            assert_eq!(select([Bf16, Bf16, F32], shape, 80), atom(16, 16, false));
        }
        assert_eq!(select([F16, F16, F16], [8, 32, 16], 80), atom(16, 16, true));
        assert_eq!(select([F16, F16, F16], [16, 8, 24], 80), atom(16, 8, false));
        assert_eq!(
            select([F16, F16, F32], [16, 16, 16], 75),
            atom(16, 8, false)
        );
        assert_eq!(select([F32, F32, F32], [16, 16, 8], 80), atom(16, 8, false));
        assert_eq!(select([F32, F32, F32], [16, 8, 4], 80), atom(16, 4, false));
        assert_eq!(select([F64, F64, F64], [8, 8, 4], 80), atom(8, 4, false));
        assert_eq!(
            select([F64, F64, F64], [16, 8, 16], 80),
            atom(16, 16, false)
        );
        assert_eq!(select([S8, U8, S32], [16, 16, 64], 80), atom(16, 32, false));
        assert_eq!(select([S8, U8, S32], [16, 16, 16], 75), atom(8, 16, false));
        assert_eq!(select([U8, U8, S32], [8, 8, 16], 80), atom(8, 16, false));
        assert_eq!(select([S4, U4, S32], [16, 8, 192], 80), atom(16, 64, false));
        assert_eq!(select([U4, U4, S32], [8, 16, 32], 80), atom(16, 32, true));
        assert_eq!(select([S4, S4, S32], [16, 16, 64], 75), atom(8, 32, false));
        assert_eq!(
            select([U1, U1, S32], [16, 8, 256], 80),
            atom(16, 256, false)
        );
        assert_eq!(select([U1, U1, S32], [8, 8, 128], 80), atom(8, 128, false));
        assert_eq!(
            select([F8E4M3, F8E5M2, F32], [16, 8, 32], 89),
            atom(16, 32, false)
        );
    }

    #[test]
    fn the_shapes_of_warpgroups() {
        let atom = |n, k| {
            let swapped = false;
            let m = 64;
            Ok(Atom { m, n, k, swapped })
        };
        let nearest = |n, k| Err(Missing::OfWarpgroup([64, n, k]));
        let of = select_for_warpgroup;
        assert_eq!(of([F16, F16, F32], [64, 96, 64]), atom(96, 16));
        assert_eq!(of([F16, F16, F16], [64, 8, 16]), atom(8, 16));
        assert_eq!(of([Bf16, Bf16, F32], [64, 256, 32]), atom(256, 16));
        assert_eq!(of([F32, F32, F32], [64, 40, 8]), atom(40, 8));
        assert_eq!(of([F8E5M2, F8E4M3, F16], [64, 248, 96]), atom(248, 32));
        assert_eq!(of([S8, U8, S32], [64, 24, 32]), atom(24, 32));
        assert_eq!(of([S8, S8, S32], [64, 240, 32]), atom(240, 32));
        assert_eq!(of([S8, S8, S32], [64, 40, 32]), nearest(48, 32));
        assert_eq!(of([F16, F16, F32], [128, 128, 64]), atom(128, 16));
        let rows = Err(Missing::OfWarpgroup([192, 128, 64]));
        assert_eq!(of([F16, F16, F32], [144, 128, 64]), rows);
        assert_eq!(of([F16, F16, F32], [64, 264, 24]), nearest(256, 32));
        assert_eq!(
            of([F64, F64, F64], [64, 8, 8]),
            Err(Missing::TypesOfWarpgroup)
        );
    }

    /// Only with the K of one part.
    #[test]
    fn shapes_that_are_padded() {
        let padded = Ok(Atom {
            m: 8,
            n: 8,
            k: 4,
            swapped: false,
        });
        for oldest in [75, 80, 90] {
            assert_eq!(select([F16, F16, F32], [8, 8, 4], oldest), padded);
            assert_eq!(select([F16, F16, F16], [16, 24, 4], oldest), padded);
        }
        let shape = Err(Missing::Shape([16, 8, 8]));
        assert_eq!(select([F16, F16, F32], [8, 8, 8], 80), shape);
        assert_eq!(select([F16, F16, F32], [8, 12, 4], 80), shape);
        assert_eq!(select([F16, F16, F32], [16, 8, 12], 80), shape);
        assert_eq!(select([Bf16, Bf16, F32], [8, 8, 4], 80), shape);
    }

    #[test]
    fn the_shapes_of_sparse_mmas() {
        let atom = |m, n, k| {
            let swapped = false;
            Ok(Atom { m, n, k, swapped })
        };
        let of = select_sparse;
        assert_eq!(of([F16, F16, F16], [32, 64, 96], 80), atom(16, 8, 32));
        assert_eq!(of([Bf16, Bf16, F32], [16, 8, 32], 80), atom(16, 8, 32));
        assert_eq!(of([F8E4M3, F8E5M2, F32], [16, 8, 64], 89), atom(16, 8, 64));
        assert_eq!(of([F16, F16, F32], [16, 8, 16], 80), atom(16, 8, 16));
        assert_eq!(of([Bf16, Bf16, F32], [16, 8, 48], 80), atom(16, 8, 16));
        let shape = |k| Err(Missing::Shape([16, 8, k]));
        assert_eq!(of([F16, F16, F32], [8, 16, 32], 80), shape(16));
        assert_eq!(of([F16, F16, F32], [16, 8, 24], 80), shape(16));
        assert_eq!(of([F8E4M3, F8E4M3, F32], [16, 8, 32], 89), shape(64));
        let f32_only: &[Scalar] = &[F32];
        assert_eq!(
            of([F8E4M3, F8E4M3, F16], [16, 8, 64], 89),
            Err(Missing::Accumulator(f32_only))
        );
        assert_eq!(
            of([F16, F16, F32], [16, 8, 32], 75),
            Err(Missing::Target(80))
        );
        assert_eq!(
            of([F8E4M3, F8E4M3, F32], [16, 8, 64], 80),
            Err(Missing::Target(89))
        );
        assert_eq!(
            of([S8, S8, S32], [16, 8, 64], 80),
            Err(Missing::TypesOfSparse)
        );
        let of = select_sparse_for_warpgroup;
        assert_eq!(of([F16, F16, F16], [64, 256, 64]), atom(64, 256, 32));
        assert_eq!(of([F8E5M2, F8E4M3, F16], [64, 40, 64]), atom(64, 40, 64));
        assert_eq!(
            of([Bf16, Bf16, F32], [128, 8, 16]),
            Err(Missing::OfWarpgroup([128, 8, 32]))
        );
        assert_eq!(
            of([F32, F32, F32], [64, 8, 32]),
            Err(Missing::TypesOfSparse)
        );
    }

    #[test]
    fn what_there_is_no_instruction_for() {
        let f32_only: &[Scalar] = &[F32];
        assert_eq!(
            select([F16, Bf16, F32], [16, 8, 16], 80),
            Err(Missing::Types)
        );
        assert_eq!(
            select([Bf16, Bf16, F16], [16, 8, 16], 80),
            Err(Missing::Accumulator(f32_only))
        );
        assert_eq!(
            select([Bf16, Bf16, F32], [16, 8, 16], 75),
            Err(Missing::Target(80))
        );
        assert_eq!(
            select([F8E4M3, F8E4M3, F32], [16, 8, 32], 80),
            Err(Missing::Target(89))
        );
        assert_eq!(
            select([F16, F16, F32], [16, 12, 16], 80),
            Err(Missing::Shape([16, 8, 8]))
        );
        assert_eq!(
            select([F16, F16, F32], [8, 8, 16], 80),
            Err(Missing::Shape([16, 8, 8]))
        );
        assert_eq!(
            select([F64, F64, F64], [8, 8, 6], 80),
            Err(Missing::Shape([8, 8, 4]))
        );
    }
}
