//! Tables, in Markdown: machine code and counted work of kernels, as ratios to their peers'.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::counts::Counts;
use crate::problem::{Kind, Pair, Problem};
use crate::sass::Code;

/// A kernel's machine code, and what it executed.
#[derive(Clone, Debug)]
pub struct Measured {
    pub code: Code,
    pub counts: Counts,
}

/// By the names of kernels.
pub type All = BTreeMap<String, Measured>;

/// The loop of FlashAttention-3 (causal, heads of 128, tiles without an edge) as it was counted by hand
/// in machine code of the same ptxas, in the columns of [`loops`].
const FLASH_ATTENTION: &str =
    "| FlashAttention-3 | 481 | 16 | 481.0 | 66 | 198 | – | 2 | – | 0x1, 0x0 | – |\n";
const OF_FLASH_ATTENTION: f64 = 481.0;
/// At most, of its instructions.
const FLASH_BUDGET: f64 = 1.02;

/// All tables.
///
/// # Errors
///
/// A kernel is missing, or its machine code has no loop.
pub fn all(problems: &[Problem], measured: &All) -> Result<String, String> {
    let mut text = summary(problems, measured)?;
    for problem in problems {
        let _ = write!(text, "### {}\n\n", problem.title);
        text += &match problem.kind {
            Kind::Memory => accesses(problem, measured)?,
            _ => loops(problem, measured)?,
        };
        text += "\n";
        text += &work(problem, measured)?;
        text += "\n";
        for pair in &problem.pairs {
            text += &verdict(problem, pair, measured)?;
        }
        text += &against_flash_attention(problem, measured)?;
        text += "\n";
    }
    Ok(text)
}

/// Every pair in a row.
fn summary(problems: &[Problem], measured: &All) -> Result<String, String> {
    let mut text =
        "| problem | croq / peer | main loop | executed instructions (at most) | sectors | \
                    wavefronts | sectors / minimum |\n|---|---|---|---|---|---|---|\n"
            .to_owned();
    for problem in problems {
        for pair in &problem.pairs {
            let ratios = Ratios::of(problem, pair, measured)?;
            let croq = of(measured, pair.croq)?.counts;
            let _ = writeln!(
                text,
                "| {} | {} / {} | {} | {} ({:.2}) | {} | {} | {:.2} |",
                problem.title,
                shown(pair.croq, "croq"),
                shown(pair.peer, pair.project),
                printed(ratios.main_loop),
                printed(ratios.instructions),
                pair.budget,
                printed(ratios.sectors),
                printed(ratios.wavefronts),
                croq.sectors as f64 / problem.minimum as f64,
            );
        }
    }
    Ok(text + "\n")
}

/// croq's figures as ratios to the peer's, where both have one.
struct Ratios {
    main_loop: Option<f64>,
    instructions: Option<f64>,
    sectors: Option<f64>,
    wavefronts: Option<f64>,
    multiply_adds: Option<f64>,
}

impl Ratios {
    fn of(problem: &Problem, pair: &Pair, measured: &All) -> Result<Ratios, String> {
        let (croq, peer) = (of(measured, pair.croq)?, of(measured, pair.peer)?);
        let loops = [&croq.code, &peer.code].map(|code| normalised(problem.kind, code));
        let ratio = |of: fn(&Counts) -> u64| ratio(of(&croq.counts), of(&peer.counts));
        Ok(Ratios {
            main_loop: loops[0].zip(loops[1]).map(|(croq, peer)| croq / peer),
            instructions: ratio(|counts| counts.instructions),
            sectors: ratio(|counts| counts.sectors),
            wavefronts: ratio(|counts| counts.wavefronts),
            multiply_adds: ratio(|counts| counts.multiply_adds),
        })
    }
}

pub(crate) fn of<'a>(measured: &'a All, name: &str) -> Result<&'a Measured, String> {
    measured
        .get(name)
        .ok_or_else(|| format!("{name} is not measured"))
}

/// The kernels of a problem, each once, with the project of each.
pub(crate) fn kernels(problem: &Problem) -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    let croq = problem.pairs.iter().map(|pair| (pair.croq, "croq"));
    let peers = problem.pairs.iter().map(|pair| (pair.peer, pair.project));
    for kernel in croq.chain(peers) {
        if !all.contains(&kernel) {
            all.push(kernel);
        }
    }
    all
}

/// `croq, cooperative`: the project and what distinguishes its kernel.
pub(crate) fn shown(name: &str, project: &str) -> String {
    let rest = name
        .trim_start_matches("croq_")
        .trim_start_matches("compared_");
    let rest = rest.trim_start_matches("gemm").trim_start_matches('_');
    match rest {
        "" => project.to_owned(),
        rest => format!("{project}, {}", rest.replace('_', " ")),
    }
}

/// The multiply-adds to which loops are normalised, and their name.
fn unit(kind: Kind) -> (u64, &'static str) {
    match kind {
        Kind::Attention(width) => (2 * 64 * 128 * width, "64 × 128 scores"),
        Kind::Product | Kind::Memory => (64 * 256 * 16, "64 × 256 × 16"),
    }
}

/// Instructions of the main loop for so many multiply-adds.
fn normalised(kind: Kind, code: &Code) -> Option<f64> {
    let body = code.main_loop()?;
    Some((body.instructions.len() as u64 * unit(kind).0) as f64 / body.multiply_adds() as f64)
}

/// The main loops of kernels with products.
fn loops(problem: &Problem, measured: &All) -> Result<String, String> {
    let mut text = format!(
        "| kernel | main loop | MMAs | instructions per {} | MUFU | FMUL, FADD, FFMA | FMNMX | \
         FSEL, ISETP | barriers, fences | waits for MMAs | whole kernel |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
        unit(problem.kind).1
    );
    for (name, project) in kernels(problem) {
        let code = &of(measured, name)?.code;
        let body = code
            .main_loop()
            .ok_or_else(|| format!("{name} has no loop"))?;
        let count = |names: &[&str]| names.iter().map(|name| body.count(name)).sum::<usize>();
        let mut depths = body.operands("WARPGROUP.DEPBAR");
        depths.iter_mut().for_each(|operands| {
            *operands = operands.trim_start_matches("gsb0, ");
        });
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.1} | {} | {} | {} | {} | {} | {} | {} |",
            shown(name, project),
            body.instructions.len(),
            body.instructions
                .iter()
                .filter(|i| i.multiply_adds() > 0)
                .count(),
            normalised(problem.kind, code).unwrap_or(f64::NAN),
            count(&["MUFU"]),
            count(&["FMUL", "FADD", "FFMA"]),
            count(&["FMNMX"]),
            count(&["FSEL", "ISETP"]),
            count(&["BAR", "MEMBAR", "FENCE", "ERRBAR", "CCTL"]),
            depths.join(", "),
            code.instructions.len(),
        );
    }
    if problem.kind == Kind::Attention(128) {
        text += FLASH_ATTENTION;
    }
    Ok(text)
}

/// The instructions that access memory in kernels without products.
fn accesses(problem: &Problem, measured: &All) -> Result<String, String> {
    let mut text =
        "| kernel | accesses in its text | MUFU | whole kernel |\n|---|---|---|---|\n".to_owned();
    for (name, project) in kernels(problem) {
        let code = &of(measured, name)?.code;
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        for i in &code.instructions {
            let known = ["LDG", "STG", "LDS", "STS", "UTMA", "UBLKCP"];
            if known.iter().any(|known| i.name.starts_with(known)) {
                *found.entry(width(&i.name)).or_default() += 1;
            }
        }
        let found = found.iter().map(|(name, count)| format!("{count} {name}"));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            shown(name, project),
            found.collect::<Vec<_>>().join(", "),
            code.count("MUFU"),
            code.instructions.len(),
        );
    }
    Ok(text)
}

/// `LDG.E.128.CONSTANT` is `LDG.128`; without a number it moves four bytes.
fn width(name: &str) -> String {
    let mut words = name.split('.');
    let first = words.next().unwrap_or(name);
    let known = ["U8", "S8", "U16", "S16", "64", "128"];
    match words.find(|word| known.contains(word)) {
        Some(width) => format!("{first}.{width}"),
        None => first.to_owned(),
    }
}

/// croq's figure as a ratio to the peer's, where there is one.
fn ratio(croq: u64, peer: u64) -> Option<f64> {
    (peer > 0).then(|| croq as f64 / peer as f64)
}

fn printed(ratio: Option<f64>) -> String {
    ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// What each kernel executed for a result, and croq as ratios to its peers.
fn work(problem: &Problem, measured: &All) -> Result<String, String> {
    let mut text =
        "| kernel | PTX instructions of warps per 1000 results (moves besides) | sectors of global memory \
                    / minimum | wavefronts of shared memory per 1000 results | multiply-adds of \
                    tensor cores per result |\n|---|---|---|---|---|\n"
            .to_owned();
    let results = problem.results as f64;
    for (name, project) in kernels(problem) {
        let counts = of(measured, name)?.counts;
        let _ = writeln!(
            text,
            "| {} | {:.2} ({:.2}) | {:.3} | {:.2} | {:.1} |",
            shown(name, project),
            counts.instructions as f64 * 1000.0 / results,
            counts.moves as f64 * 1000.0 / results,
            counts.sectors as f64 / problem.minimum as f64,
            counts.wavefronts as f64 * 1000.0 / results,
            counts.multiply_adds as f64 / results,
        );
    }
    for pair in &problem.pairs {
        let (croq, peer) = (
            of(measured, pair.croq)?.counts,
            of(measured, pair.peer)?.counts,
        );
        let _ = writeln!(
            text,
            "| **{} / {}** | {} | {} | {} | {} |",
            shown(pair.croq, "croq"),
            shown(pair.peer, pair.project),
            printed(ratio(croq.instructions, peer.instructions)),
            printed(ratio(croq.sectors, peer.sectors)),
            printed(ratio(croq.wavefronts, peer.wavefronts)),
            printed(ratio(croq.multiply_adds, peer.multiply_adds)),
        );
    }
    Ok(text)
}

/// Within this ratio figures are equal.
const EQUAL: f64 = 0.01;

/// What is better than the peer, and what is worse.
fn verdict(problem: &Problem, pair: &Pair, measured: &All) -> Result<String, String> {
    let ratios = Ratios::of(problem, pair, measured)?;
    let figures = [
        ("instructions of the main loop", ratios.main_loop),
        ("executed instructions", ratios.instructions),
        ("sectors", ratios.sectors),
        ("wavefronts", ratios.wavefronts),
        ("multiply-adds", ratios.multiply_adds),
    ];
    let those = |is: fn(f64) -> bool| {
        let found = figures
            .iter()
            .filter_map(|(what, ratio)| Some((what, (*ratio)?)));
        let found = found.filter(|(_, ratio)| is(*ratio));
        let words: Vec<String> = found
            .map(|(what, ratio)| format!("{what} {ratio:.2}"))
            .collect();
        match words.is_empty() {
            true => "nothing".to_owned(),
            false => words.join(", "),
        }
    };
    let mut text = format!(
        "- {} against {}: better: {}; worse: {}.",
        shown(pair.croq, "croq"),
        shown(pair.peer, pair.project),
        those(|ratio| ratio < 1.0 - EQUAL),
        those(|ratio| ratio > 1.0 + EQUAL),
    );
    if let Some(ratio) = ratios.main_loop.filter(|_| pair.project == "CUTLASS") {
        let _ = write!(
            text,
            " Main loop at most {:.2}: {}.",
            pair.budget,
            met(ratio <= pair.budget)
        );
    }
    if let Some(ratio) = ratios.instructions {
        let _ = write!(
            text,
            " Executed instructions at most {:.2}: {}.",
            pair.budget,
            met(ratio <= pair.budget)
        );
    }
    if problem.kind == Kind::Memory {
        let sectors = of(measured, pair.croq)?.counts.sectors as f64 / problem.minimum as f64;
        let _ = write!(
            text,
            " Sectors at most 1.02 of the minimum: {}.",
            met(sectors <= 1.02)
        );
    }
    Ok(text + "\n")
}

fn met(is: bool) -> &'static str {
    if is { "met" } else { "missed" }
}

fn against_flash_attention(problem: &Problem, measured: &All) -> Result<String, String> {
    let mut text = String::new();
    for pair in &problem.pairs {
        let code = &of(measured, pair.croq)?.code;
        let Some(found) = normalised(problem.kind, code) else {
            continue;
        };
        if problem.kind == Kind::Attention(128) {
            let ratio = found / OF_FLASH_ATTENTION;
            let _ = writeln!(
                text,
                "- {} against FlashAttention-3: main loop {ratio:.2}, at most {FLASH_BUDGET:.2}: {}.",
                shown(pair.croq, "croq"),
                met(ratio <= FLASH_BUDGET),
            );
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::problems;
    use crate::sass::parse;

    /// A loop of seven instructions with two products of 64 × 256 × 16, of which one waits, behind a
    /// product before it.
    const PRODUCT: &[&str] = &[
        "HGMMA.64x256x16.F32 R24, gdesc[UR4], RZ, !UPT",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR7], R4",
        "@!P1 BRA 0x90",
        "HGMMA.64x256x16.F32 R24, gdesc[UR8], R24",
        "HGMMA.64x256x16.F32 R24, gdesc[UR8], R24, gsb0",
        "WARPGROUP.DEPBAR.LE gsb0, 0x1",
        "ISETP.NE.AND P0, PT, R3, RZ, PT",
        "@P0 BRA 0x10",
        "EXIT",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR7], R4",
        "@!P1 BRA 0x90",
        "BRA 0x30",
    ];
    const MEMORY: &[&str] = &[
        "LDG.E.128.CONSTANT R4, [R2]",
        "LDG.E R3, [R2]",
        "MUFU.EX2 R4, R4",
        "EXIT",
    ];

    fn code(lines: &[&str]) -> Code {
        let mut text = "Function : kernel\n".to_owned();
        for (number, line) in lines.iter().enumerate() {
            let _ = writeln!(text, "/*{:04x}*/ {line} ;", number * 16);
        }
        parse(&text).into_values().next().expect("a kernel")
    }

    fn measured(lines: &[&str], counts: [u64; 4]) -> Measured {
        let [instructions, sectors, wavefronts, multiply_adds] = counts;
        Measured {
            code: code(lines),
            counts: Counts {
                instructions,
                moves: 8,
                special: 0,
                sectors,
                wavefronts,
                multiply_adds,
                ..Counts::default()
            },
        }
    }

    fn problem(kind: Kind) -> Problem {
        Problem::of_one_pair(kind, ("compared_b", "Triton"), 0.75)
    }

    fn printed(kind: Kind, croq: Measured, peer: Measured) -> String {
        let all = [("croq_a".to_owned(), croq), ("compared_b".to_owned(), peer)];
        super::all(&[problem(kind)], &all.into()).expect("tables")
    }

    #[test]
    fn the_main_loop_is_the_way_on_which_waits_succeed() {
        let body = code(PRODUCT).main_loop().expect("a loop");
        assert_eq!(body.instructions.len(), 7);
        assert_eq!(body.multiply_adds(), 2 * 64 * 256 * 16);
        assert_eq!(normalised(Kind::Product, &code(PRODUCT)), Some(3.5));
        // 64 × 128 scores of 64 are four of these products.
        assert_eq!(normalised(Kind::Attention(64), &code(PRODUCT)), Some(14.0));
        assert!(code(MEMORY).main_loop().is_none());
        // Also where only one instruction is a product.
        let mut single = PRODUCT.to_vec();
        single[4] = "NOP";
        let body = code(&single).main_loop().expect("a loop");
        assert_eq!(body.instructions.len(), 7);
    }

    #[test]
    fn loops_and_work_as_ratios() {
        let croq = measured(PRODUCT, [300, 200, 50, 4000]);
        let peer = measured(PRODUCT, [400, 100, 0, 4000]);
        let text = printed(Kind::Product, croq, peer);
        for line in [
            "| p | croq, a / Triton, b | 1.00 | 0.75 (0.75) | 2.00 | – | 2.00 |",
            "| croq, a | 7 | 2 | 3.5 | 0 | 0 | 0 | 1 | 0 | 0x1 | 12 |",
            "| croq, a | 300.00 (8.00) | 2.000 | 50.00 | 4.0 |",
            "| **croq, a / Triton, b** | 0.75 | 2.00 | – | 1.00 |",
            "- croq, a against Triton, b: better: executed instructions 0.75; worse: sectors 2.00. \
             Executed instructions at most 0.75: met.",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    #[test]
    fn attention_is_compared_with_flash_attention_as_well() {
        // 3.5 instructions for each 64 × 256 × 16, of which there are eight.
        let one = measured(PRODUCT, [400, 100, 0, 4000]);
        let text = printed(Kind::Attention(128), one.clone(), one.clone());
        let line = "- croq, a against FlashAttention-3: main loop 0.06, at most 1.02: met.";
        assert!(text.lines().any(|found| found == line), "{text}");
        assert!(text.contains(FLASH_ATTENTION), "{text}");
        let text = printed(Kind::Attention(64), one.clone(), one);
        assert!(!text.contains("FlashAttention-3"), "{text}");
    }

    #[test]
    fn accesses_and_the_minimum_of_sectors() {
        let croq = measured(MEMORY, [400, 102, 0, 0]);
        let peer = measured(MEMORY, [400, 103, 0, 0]);
        let text = printed(Kind::Memory, croq.clone(), peer.clone());
        for line in [
            "| croq, a | 1 LDG, 1 LDG.128 | 1 | 4 |",
            "- croq, a against Triton, b: better: nothing; worse: nothing. Executed instructions at \
             most 0.75: missed. Sectors at most 1.02 of the minimum: met.",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(printed(Kind::Memory, peer, croq).contains("minimum: missed"));
    }

    #[test]
    fn what_is_not_measured_is_an_error() {
        let none = all(&[problem(Kind::Product)], &All::new());
        assert_eq!(none, Err("croq_a is not measured".to_owned()));
        let [croq, peer] = [(); 2].map(|()| measured(MEMORY, [1; 4]));
        let some = [("croq_a".to_owned(), croq), ("compared_b".to_owned(), peer)].into();
        let found = all(&[problem(Kind::Product)], &some);
        assert_eq!(found, Err("croq_a has no loop".to_owned()));
    }

    #[test]
    fn each_problem_has_its_kernels() {
        let [croq, peers] = crate::problem::kernels();
        assert_eq!((croq.len(), peers.len()), (13, 14));
        for problem in problems() {
            assert!(
                problem.minimum > 0 && !problem.pairs.is_empty(),
                "{problem:?}"
            );
        }
    }
}
