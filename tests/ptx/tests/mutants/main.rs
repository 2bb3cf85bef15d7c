//! Mutants of the PTX of twelve kernels, drawn by a fixed seed from instructions that threads execute:
//! each must give a wrong result or a report, if it is not equivalent by the PTX ISA.

mod device;
mod draw;
mod edits;
mod equivalent;
mod forms;
mod kernels;
mod statement;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use croq_ptx::machine::Asynchrony;

use device::{Done, Failure, How};
use draw::{PER_KERNEL, Random, changed, draw};
use edits::{CLASSES, Class, Code, Mutant};
use equivalent::{EQUIVALENT, argument};
use kernels::{Kernel, kernels};

fn how(seed: u64, done: &Done) -> How {
    How {
        asynchrony: match seed {
            0 => Asynchrony::Late,
            _ => Asynchrony::Seeded,
        },
        seed,
        instruction_limit: done.warp_instructions * 4 + 20_000,
    }
}

/// The default mode and ten seeds.
const SEEDS: std::ops::RangeInclusive<u64> = 0..=10;

#[derive(Clone, Debug)]
enum Fate {
    Wrong,
    Report,
    Equivalent,
    Survives,
}

fn unlimited() -> Done {
    Done {
        warp_instructions: 1 << 40,
        ..Done::default()
    }
}

fn baseline(kernel: &Kernel, text: &str) -> Done {
    let first = kernel.run(text, &how(0, &unlimited()));
    first.unwrap_or_else(|failure| panic!("{}: {failure:?}", kernel.name))
}

struct Row {
    kernel: &'static str,
    mutants: Vec<(Mutant, Fate, String)>,
    invalid: Vec<(Mutant, String)>,
}

fn judge(
    kernel: &Kernel,
    (text, mutant): (&str, &Mutant),
    done: &Done,
) -> Result<(Fate, String), String> {
    let argument = argument(kernel.name, mutant);
    let text = &changed(text, mutant);
    // An equivalent one is executed once, to see that it is still one.
    let seeds = match argument {
        Some(_) => 0..=0,
        None => SEEDS,
    };
    for seed in seeds {
        match kernel.run(text, &how(seed, done)) {
            Ok(_) => {}
            Err(Failure::Wrong(message)) => return Ok((Fate::Wrong, format!("{seed}: {message}"))),
            Err(Failure::Report(message)) => {
                return Ok((Fate::Report, format!("{seed}: {message}")));
            }
            Err(Failure::Invalid(message)) => return Err(message),
        }
    }
    Ok(match argument {
        Some(argument) => (Fate::Equivalent, argument.to_owned()),
        None => (Fate::Survives, String::new()),
    })
}

fn test(kernel: &Kernel) -> Row {
    let text = kernel.text();
    let done = baseline(kernel, &text);
    let code = Code::new(&text, &done.lines);
    let mut row = Row {
        kernel: kernel.name,
        mutants: Vec::new(),
        invalid: Vec::new(),
    };
    for mutant in draw(code.mutants(), &mut Random::new(kernel.name)) {
        if row.mutants.len() == PER_KERNEL {
            break;
        }
        match judge(kernel, (&text, &mutant), &done) {
            Ok((fate, message)) => row.mutants.push((mutant, fate, message)),
            Err(message) => row.invalid.push((mutant, message)),
        }
    }
    row
}

/// Of a class: drawn, wrong, reported, equivalent, surviving.
type Cell = [usize; 5];

fn cells(row: &Row) -> BTreeMap<Class, Cell> {
    let mut cells = BTreeMap::new();
    for (mutant, fate, _) in &row.mutants {
        let cell: &mut Cell = cells.entry(mutant.class).or_default();
        cell[0] += 1;
        cell[match fate {
            Fate::Wrong => 1,
            Fate::Report => 2,
            Fate::Equivalent => 3,
            Fate::Survives => 4,
        }] += 1;
    }
    cells
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from("| kernel |");
    for (_, name) in CLASSES {
        let _ = write!(text, " {name} |");
    }
    text += " all |\n|---|";
    text += &"---|".repeat(CLASSES.len() + 1);
    let mut sums: BTreeMap<Class, Cell> = BTreeMap::new();
    let line = |name: &str, cells: &BTreeMap<Class, Cell>| {
        let mut text = format!("\n| `{name}` |");
        let mut all = Cell::default();
        for (class, _) in CLASSES {
            let cell = cells.get(&class).copied().unwrap_or_default();
            (0..5).for_each(|at| all[at] += cell[at]);
            let [drawn, wrong, reported, equivalent, surviving] = cell;
            let _ = match drawn {
                0 => write!(text, " – |"),
                _ => write!(
                    text,
                    " {drawn}: {wrong} {reported} {equivalent} {surviving} |"
                ),
            };
        }
        let [drawn, wrong, reported, equivalent, surviving] = all;
        let _ = write!(
            text,
            " {drawn}: {wrong} {reported} {equivalent} {surviving} |"
        );
        text
    };
    for row in rows {
        let cells = cells(row);
        text += &line(row.kernel, &cells);
        for (class, cell) in cells {
            let sum = sums.entry(class).or_default();
            (0..5).for_each(|at| sum[at] += cell[at]);
        }
    }
    text + &line("all", &sums)
}

fn print(row: &Row) {
    for (mutant, message) in &row.invalid {
        println!("\n{} invalid: {mutant:?}\n  {message}", row.kernel);
    }
    for (mutant, fate, message) in &row.mutants {
        let Mutant {
            class,
            line,
            edit,
            text,
        } = mutant;
        let message = message.lines().next().unwrap_or_default();
        let text: String = text.chars().take(200).collect();
        println!(
            "\n{} {class:?} {edit}, line {line}: {text}\n  {fate:?} {message}",
            row.kernel
        );
    }
}

/// `CROQ_PTX_MUTANTS` may name one kernel. It takes minutes, so it is started by `make ptx-mutants`.
#[test]
#[ignore]
fn mutants_are_found() {
    let only = std::env::var("CROQ_PTX_MUTANTS").unwrap_or_default();
    let all = kernels();
    let chosen: Vec<&Kernel> = all
        .iter()
        .filter(|kernel| kernel.name.contains(&only))
        .collect();
    let (next, rows) = (Mutex::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = {
                        let mut next = next.lock().unwrap();
                        *next += 1;
                        *next - 1
                    };
                    let Some(kernel) = chosen.get(at) else { break };
                    let start = std::time::Instant::now();
                    let row = test(kernel);
                    println!("{}: {:.1} s", kernel.name, start.elapsed().as_secs_f64());
                    let mut rows = rows.lock().unwrap();
                    print(&row);
                    rows.insert(at, row);
                }
            });
        }
    });
    let rows: Vec<Row> = rows.into_inner().unwrap().into_values().collect();
    println!("\n{}", table(&rows));
    check(&rows);
}

/// Classes of which every mutant must be found that is not equivalent.
const ALL_FOUND: [Class; 5] = [
    Class::Barriers,
    Class::Parities,
    Class::Transactions,
    Class::Descriptors,
    Class::Coordinates,
];

fn check(rows: &[Row]) {
    let (mut drawn, mut equivalent, mut surviving) = (0, 0, 0);
    for (class, [all, _, _, same, found_by_nothing]) in rows.iter().flat_map(cells) {
        drawn += all;
        equivalent += same;
        surviving += found_by_nothing;
        let must = ALL_FOUND.contains(&class);
        assert!(!must || found_by_nothing == 0, "{class:?}");
    }
    println!("{drawn} mutants, {equivalent} equivalent, {surviving} not found");
    assert!(equivalent * 100 <= drawn * 8, "too many are equivalent");
    assert!(
        surviving * 100 <= (drawn - equivalent) * 3,
        "too many are not found"
    );
}

/// The list of equivalent mutants is about the lines of these files.
#[test]
fn equivalent_mutants_are_of_these_kernels() {
    for of in EQUIVALENT {
        let all = kernels();
        let kernel = all.iter().find(|kernel| kernel.name == of.kernel);
        let text = kernel.expect(of.kernel).text();
        let line = text.lines().nth(of.line - 1).unwrap();
        let words = line
            .split_whitespace()
            .filter(|word| !word.starts_with('@'));
        let opcode = words.into_iter().next().unwrap_or_default();
        assert!(
            opcode.starts_with(of.opcode),
            "{}, line {}: {line}",
            of.kernel,
            of.line
        );
    }
}

/// Every kernel is right before it is changed.
#[test]
fn kernels_are_right() {
    for kernel in kernels() {
        let text = kernel.text();
        let done = baseline(&kernel, &text);
        let repeated = kernel.run(&text, &how(1, &done));
        assert!(repeated.is_ok(), "{}: {repeated:?}", kernel.name);
        let code = Code::new(&text, &done.lines);
        let mut classes: BTreeMap<Class, usize> = BTreeMap::new();
        for mutant in code.mutants() {
            *classes.entry(mutant.class).or_default() += 1;
        }
        println!("{} {} {classes:?}", kernel.name, done.warp_instructions);
    }
}

/// Text of our own: which lines have mutants of which classes.
#[test]
fn every_class_has_edits() {
    let text = "\
mov.u32 %r1, %ctaid.x;
setp.lt.u32 %p1, %r1, %r9;
@%p1 bra END;
mbarrier.init.shared.b64 [%r2], %r3;
fence.proxy.async.shared::cta;
bar.sync 0;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], %r4;
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], %r5;
shfl.sync.idx.b32 %r6|%p3, %r6, %r7, 31, -1;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p2, 1, 1, 0, 0;
add.u64 %rd3, %rd4, %rd5;
st.global.u32 [%rd3], %r6;
shl.b32 %r8, %r6, 3;";
    let lines = (1..=text.lines().count() as u32).collect();
    let mutants = Code::new(text, &lines).mutants();
    let edits = |line: usize| -> Vec<(Class, &str)> {
        let of_line = mutants.iter().filter(|mutant| mutant.line == line);
        of_line.map(|mutant| (mutant.class, mutant.edit)).collect()
    };
    assert_eq!(edits(1), [(Class::Coordinates, "another axis")]);
    let compared = [
        (Class::Predicates, "negated comparison"),
        (Class::Predicates, "limit"),
    ];
    assert_eq!(edits(2), compared);
    assert_eq!(edits(3), [(Class::Predicates, "negated guard")]);
    assert_eq!(
        edits(4),
        [(Class::Counts, "count + 1"), (Class::Counts, "count - 1")]
    );
    assert_eq!(
        edits(5),
        [(Class::Fences, "deleted"), (Class::Fences, "weaker")]
    );
    assert!(edits(6).iter().all(|(class, _)| *class == Class::Barriers));
    assert!(
        edits(7)
            .iter()
            .all(|(class, _)| *class == Class::Transactions)
    );
    assert_eq!(edits(8)[0], (Class::Parities, "flipped"));
    assert_eq!(edits(8)[1], (Class::Waits, "no wait"));
    assert_eq!(edits(9)[0], (Class::Shuffles, "fewer lanes"));
    assert_eq!(edits(10).len(), 10);
    assert_eq!(edits(12).len(), 2);
    // Nothing uses its result.
    assert_eq!(edits(13), []);
    for seed in ["one", "two"] {
        let order = |name| draw(mutants.clone(), &mut Random::new(name));
        assert_eq!(order(seed), order(seed));
    }
    assert_ne!(
        draw(mutants.clone(), &mut Random::new("one")),
        draw(mutants.clone(), &mut Random::new("two"))
    );
}
