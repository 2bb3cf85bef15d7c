//! Estimates of [`crate::model`] for the compared kernels, as a table in Markdown.

use std::fmt::Write as _;

use crate::counts::Counts;
use crate::model::{Estimate, H100, Work, estimate};
use crate::problem::{Kind, Problem, tiling};
use crate::sass::{Code, Instruction};
use crate::table::{All, Measured, kernels, of, shown};

/// Bytes of a sector, and of a wavefront of shared memory.
const SECTOR: u64 = 32;
const WAVEFRONT: u64 = 128;

/// A table for all problems.
///
/// # Errors
///
/// A kernel is missing.
pub fn table(problems: &[Problem], measured: &All) -> Result<String, String> {
    let mut text =
        "| problem | kernel | tiles | at a time | waves | tensor cores | shared memory | \
                    L2 | memory | issue | MUFU | limit | clocks | tensor cores busy | |\n\
                    |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for problem in problems {
        for (name, project) in kernels(problem) {
            let work = work(problem, name, of(measured, name)?);
            let found = estimate(&H100, &work);
            let _ = write!(text, "| {} | {} ", problem.title, shown(name, project));
            text += &row(&work, &found);
        }
    }
    Ok(text)
}

fn row(work: &Work, found: &Estimate) -> String {
    let clocks = found.clocks.map(|(_, clocks)| format!("{clocks:.0}"));
    let busy = match work.multiply_adds {
        0 => "–".to_owned(),
        _ => format!("{:.0}%", 100.0 * found.busy),
    };
    format!(
        "| {} | {} | {} | {} | {} | {:.0} | {busy} | estimate, ±15% |\n",
        work.tiles,
        work.resident,
        found.waves,
        clocks.join(" | "),
        found.limit,
        found.total,
    )
}

/// What the launch does, from what it executed and from its machine code.
pub fn work(problem: &Problem, name: &str, kernel: &Measured) -> Work {
    let Measured { code, counts } = kernel;
    let tiling = tiling(problem, name);
    let stays = tiling.is_some();
    let received = tiling.map_or(1.0, |tiling| tiling.received);
    let body = code.main_loop();
    let body = body.as_ref();
    // Bytes of operands that tensor cores read for all products, in the proportion of the loop.
    let operands = body.map_or(0.0, |body| {
        let bytes: u64 = body.instructions.iter().map(operand_bytes).sum();
        bytes as f64 / body.multiply_adds() as f64 * counts.multiply_adds as f64
    });
    let copied = match code.has("UTMALDG") {
        true => (counts.sectors * SECTOR) as f64 * received,
        false => 0.0,
    };
    let narrow = body.is_some_and(|body| body.has("QGMMA") || body.has("IGMMA"));
    Work {
        tiles: tiling.map_or(counts.blocks, |tiling| tiling.tiles),
        largest: tiling.map_or(0.0, |tiling| tiling.largest),
        // Blocks of these kernels take nearly all shared memory or registers.
        resident: if stays { 1 } else { resident(code, counts) },
        alternates: body.is_some_and(alternates) && problem.kind != Kind::Product,
        multiply_adds: counts.multiply_adds / if narrow { 2 } else { 1 },
        shared: counts.wavefronts * WAVEFRONT + (operands + copied) as u64,
        l2: counts.sectors * SECTOR,
        memory: problem.minimum * SECTOR,
        instructions: counts.instructions,
        special: counts.special,
    }
}

/// Whether all products are waited for, each time.
fn alternates(body: &Code) -> bool {
    let waits = body.operands("WARPGROUP.DEPBAR");
    !waits.is_empty() && waits.iter().all(|wait| wait.ends_with("0x0"))
}

/// The bytes that a product of 64 rows reads in shared memory: the right operand, and the left one if it
/// is not in registers.
fn operand_bytes(product: &Instruction) -> u64 {
    let products = product.multiply_adds();
    let sizes: Vec<u64> = product.name.split('.').nth(1).map_or(Vec::new(), |shape| {
        shape
            .split('x')
            .filter_map(|size| size.parse().ok())
            .collect()
    });
    let [rows, columns, depth] = sizes[..] else {
        return 0;
    };
    let bytes = match product.name.split('.').next() {
        Some("HGMMA") if product.name.contains("TF32") => 4,
        Some("HGMMA") => 2,
        _ => 1,
    };
    // `R24, gdesc[UR8], R24` or `R24, R4, gdesc[UR8], R24`.
    let second = product.operands.split(',').nth(1).unwrap_or_default();
    let left = match second.trim().starts_with("gdesc") {
        true => rows,
        false => 0,
    };
    debug_assert!(products == rows * columns * depth);
    (left + columns) * depth * bytes
}

/// Blocks of a multiprocessor of compute capability 9.0 (CUDA C++ programming guide, "Technical
/// Specifications per Compute Capability").
fn resident(code: &Code, counts: &Counts) -> u64 {
    const THREADS: u64 = 2048;
    const REGISTERS: u64 = 65536;
    const SHARED: u64 = 228 * 1024;
    const BLOCKS: u64 = 32;
    let threads = counts.threads.max(1).next_multiple_of(32);
    let registers = registers(code).next_multiple_of(8) * threads;
    // Each block has one KiB more.
    let shared = counts.shared + 1024;
    let most = [
        THREADS / threads,
        REGISTERS / registers.max(1),
        SHARED / shared,
        BLOCKS,
    ];
    most.into_iter().min().unwrap_or(1).max(1)
}

/// One more than the highest register of the text.
fn registers(code: &Code) -> u64 {
    let words = code
        .instructions
        .iter()
        .flat_map(|i| i.operands.split(|c: char| !c.is_ascii_alphanumeric()));
    let numbers = words.filter_map(|word| word.strip_prefix('R')?.parse::<u64>().ok());
    numbers.max().map_or(1, |highest| highest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::parse;

    fn code(lines: &[&str]) -> Code {
        let mut text = "Function : kernel\n".to_owned();
        for (number, line) in lines.iter().enumerate() {
            let _ = writeln!(text, "/*{:04x}*/ {line} ;", number * 16);
        }
        parse(&text).into_values().next().expect("a kernel")
    }

    fn problem(kind: Kind) -> Problem {
        Problem::of_one_pair(kind, ("croq_a", "croq"), 1.0)
    }

    /// Scores from shared memory, 64 × 128 × 16, weights in registers, 64 × 64 × 16.
    const ATTENTION: &[&str] = &[
        "UTMALDG.2D [UR8], [UR4]",
        "HGMMA.64x128x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0",
        "WARPGROUP.DEPBAR.LE gsb0, 0x0",
        "HGMMA.64x64x16.F32 R88, R4, gdesc[UR8], R88, gsb0",
        "WARPGROUP.DEPBAR.LE gsb0, 0x0",
        "@P0 BRA 0x10",
        "EXIT",
    ];

    #[test]
    fn work_of_products() {
        let counts = Counts {
            instructions: 10,
            special: 3,
            sectors: 7,
            wavefronts: 5,
            // Of the loop twice.
            multiply_adds: 2 * 64 * (128 + 64) * 16,
            ..Counts::default()
        };
        let kernel = Measured {
            code: code(ATTENTION),
            counts,
        };
        let found = work(&problem(Kind::Attention(64)), "croq_attention_64", &kernel);
        // 64 + 128 rows of 16 elements of two bytes, and 64; sectors go through shared memory as well.
        assert_eq!(found.shared, 2 * (192 + 64) * 32 + 7 * 32 + 5 * 128);
        assert_eq!((found.l2, found.memory), (7 * 32, 100 * 32));
        assert_eq!((found.instructions, found.special), (10, 3));
        assert_eq!((found.tiles, found.resident), (128, 1));
        assert!(found.alternates);
        assert_eq!(found.multiply_adds, counts.multiply_adds);
        let causal = work(
            &problem(Kind::Attention(64)),
            "croq_attention_causal_64",
            &kernel,
        );
        assert_eq!(causal.largest, 16.0 / 9.0);
        // One product may be in flight, and operands have 8 bits.
        let text = ATTENTION.map_products("QGMMA.64x128x32.F32.E4M3.E4M3");
        let lines: Vec<&str> = text.iter().map(String::as_str).collect();
        let kernel = Measured {
            code: code(&lines),
            counts,
        };
        let found = work(&problem(Kind::Product), "croq_f8", &kernel);
        assert!(!found.alternates);
        assert_eq!(found.multiply_adds, counts.multiply_adds / 2);
        assert_eq!(found.tiles, 256);
    }

    trait MapProducts {
        fn map_products(&self, name: &str) -> Vec<String>;
    }

    impl MapProducts for [&str] {
        fn map_products(&self, name: &str) -> Vec<String> {
            let line = |line: &&str| {
                let line = line
                    .replace("HGMMA.64x128x16.F32", name)
                    .replace("HGMMA.64x64x16.F32", name);
                line.replace("0x0", "0x1")
            };
            self.iter().map(line).collect()
        }
    }

    #[test]
    fn blocks_at_a_time() {
        let of = |text: &str, threads: u64, shared: u64| {
            let counts = Counts {
                threads,
                shared,
                ..Counts::default()
            };
            resident(&code(&[text]), &counts)
        };
        // By threads, by registers (64 and 65 of each), by shared memory, and by the number of blocks.
        assert_eq!(of("IADD3 R31, R3, 0x1, RZ", 256, 0), 8);
        assert_eq!(of("IADD3 R63, R3, 0x1, RZ", 256, 0), 4);
        assert_eq!(of("IADD3 R64, R3, 0x1, RZ", 256, 0), 3);
        assert_eq!(of("LDG.E.128 R4, desc[UR4][R60.64]", 128, 56 * 1024), 4);
        assert_eq!(of("EXIT", 1, 0), 32);
        assert_eq!(of("EXIT", 1024, 227 * 1024), 1);
    }

    #[test]
    fn each_line_says_that_it_is_an_estimate() {
        let kernel = Measured {
            code: code(&["EXIT"]),
            counts: Counts {
                blocks: 264,
                threads: 1024,
                sectors: 264 * 21,
                instructions: 264 * 40,
                ..Counts::default()
            },
        };
        let text = table(
            &[problem(Kind::Memory)],
            &[("croq_a".to_owned(), kernel)].into(),
        );
        let text = text.expect("a table");
        // 100 sectors for 264 blocks at 13.9 bytes, 21 of each at 42 bytes.
        let line = "| p | croq, a | 264 | 2 | 1 | 0 | 0 | 16 | 1 | 10 | 0 | L2 | 32 | – | estimate, ±15% |";
        assert_eq!(text.lines().nth(2), Some(line));
        assert_eq!(
            table(&[problem(Kind::Memory)], &All::new()),
            Err("croq_a is not measured".to_owned())
        );
    }
}
