//! Asynchronous MMAs of warpgroups (`wgmma`).
//!
//! All threads of a warpgroup arrive at an MMA before one continues. From there until a thread's
//! wait covers it, the MMA owns the thread's accumulator registers and its registers of A; the
//! shared memory that it reads is marked until all threads have waited. It is executed at the first
//! such wait, or earlier if the seed selects it, and always after those before it.

use std::collections::VecDeque;
use std::ffi::c_void;

use super::asynchronous::Asynchronous;
use super::barriers::Barriers;
use super::hazard::{AccessRecord, Hazard};
use super::marks::{FACTOR, INCOMING, MBARRIER};
use super::matrices::{Operand, PIECE, number_of};
use super::order::Order;
use crate::abi::{
    CROQ_ACCESS_READS, CROQ_WGMMA_ACCUMULATES, CROQ_WGMMA_TRANSPOSED_A, CROQ_WGMMA_TRANSPOSED_B,
    croq_sim_access, croq_sim_factors, croq_sim_part, croq_sim_wgmma,
};

type Outcome<T = ()> = Result<T, Box<Hazard>>;

/// Threads of a warpgroup.
const THREADS: usize = 128;
/// Rows of A.
const ROWS: usize = 64;
/// Bytes of a row along K.
const DEPTH: usize = 32;

/// An MMA at which not all threads have arrived.
struct Gathering {
    /// The operands as passed by the first thread.
    wgmma: croq_sim_wgmma,
    first: u32,
    /// By thread of the warpgroup.
    parts: Vec<Option<Parts>>,
    count: usize,
}

/// A thread's registers in an MMA.
#[derive(Clone, Copy)]
struct Parts {
    sums: croq_sim_part,
    of_a: croq_sim_part,
    metadata: croq_sim_part,
    /// The thread's group that the next commit closes.
    group: u64,
    has_waited: bool,
}

impl Parts {
    fn all(&mut self) -> impl Iterator<Item = &mut croq_sim_part> {
        let parts = [&mut self.sums, &mut self.of_a, &mut self.metadata];
        parts.into_iter().filter(|part| !part.at.is_null())
    }
}

struct Wgmma {
    wgmma: croq_sim_wgmma,
    parts: Vec<Parts>,
    /// The number of threads that have not waited for it.
    waiting: usize,
    /// The offsets of its pieces of 16 bytes; empty for A if it is in registers.
    a: Vec<u32>,
    b: Vec<u32>,
    is_carried_out: bool,
    record: AccessRecord,
}

#[derive(Default)]
struct Warpgroup {
    gathering: Option<Gathering>,
    /// Oldest first.
    wgmmas: VecDeque<Wgmma>,
}

/// The MMAs of a block.
#[derive(Default)]
pub(super) struct Wgmmas {
    warpgroups: Vec<Warpgroup>,
    threads: usize,
    /// For each thread, the number of the group that has not been committed yet.
    open: Vec<u64>,
    /// For each piece of shared memory, the number of MMAs that read it.
    readers: Vec<u16>,
    seed: u64,
    random: u64,
}

/// Whether two parts have registers in common.
fn overlap(a: &croq_sim_part, b: &croq_sim_part) -> bool {
    let range = |part: &croq_sim_part| (part.at as usize, part.at as usize + part.bytes as usize);
    let ((a, a_end), (b, b_end)) = (range(a), range(b));
    a < b_end && b < a_end
}

fn warpgroup_of(thread: u32) -> usize {
    thread as usize / THREADS
}

fn error(what: impl Into<String>, records: Vec<AccessRecord>) -> Box<Hazard> {
    let (kind, what) = ("error", what.into());
    Box::new(Hazard {
        kind,
        what,
        records,
    })
}

/// The record of a thread's arrival at an MMA.
fn joins(thread: u32, line: u32) -> AccessRecord {
    let what = "issues the WGMMA";
    AccessRecord { thread, what, line }
}

impl Wgmma {
    fn of_thread(&self, thread: u32) -> Option<&Parts> {
        let parts = self.parts.get(thread as usize % THREADS);
        parts.filter(|parts| !parts.has_waited)
    }

    fn pieces(&self) -> impl Iterator<Item = usize> + '_ {
        self.a.iter().chain(&self.b).map(|&piece| piece as usize)
    }

    /// # Safety
    /// The block's shared memory is at `shared`, and all threads' fragments live.
    unsafe fn carry_out(&mut self, shared: *const u8, written: *const u8) {
        if std::mem::replace(&mut self.is_carried_out, true) {
            return;
        }
        let places = |part: fn(&Parts) -> *mut c_void| self.parts.iter().map(part).collect();
        let sums: Vec<*mut c_void> = places(|parts| parts.sums.at);
        let registers: Vec<*mut c_void> = places(|parts| parts.of_a.at);
        let metadata: Vec<*mut c_void> = places(|parts| parts.metadata.at);
        let marks = |part: fn(&Parts) -> &croq_sim_part| -> Vec<*mut u8> {
            let of = |parts| {
                let part = part(parts);
                // SAFETY: the caller's promise; marks are as many as elements.
                unsafe {
                    match part.registers.as_ref() {
                        Some(all) if !all.unwritten.is_null() => {
                            all.unwritten.add(part.first as usize)
                        }
                        _ => std::ptr::null_mut(),
                    }
                }
            };
            self.parts.iter().map(of).collect()
        };
        let unwritten_accumulators = marks(|parts| &parts.sums);
        let unwritten_a = marks(|parts| &parts.of_a);
        let unwritten_metadata = marks(|parts| &parts.metadata);
        let tracks = unwritten_accumulators.iter().any(|mark| !mark.is_null());
        let factors = croq_sim_factors {
            written,
            number_of_a: number_of(self.wgmma.a),
            number_of_b: number_of(self.wgmma.b),
            unwritten_accumulators: match tracks {
                true => unwritten_accumulators.as_ptr(),
                false => std::ptr::null(),
            },
            unwritten_a: unwritten_a.as_ptr(),
            metadata: metadata.as_ptr(),
            unwritten_metadata: unwritten_metadata.as_ptr(),
            shared,
            a: match self.a.is_empty() {
                true => std::ptr::null(),
                false => self.a.as_ptr(),
            },
            b: self.b.as_ptr(),
            sums: sums.as_ptr(),
            registers: registers.as_ptr(),
            columns: self.wgmma.columns,
            accumulate: u32::from(self.wgmma.flags & CROQ_WGMMA_ACCUMULATES != 0),
        };
        if let Some(carry_out) = self.wgmma.carry_out {
            // SAFETY: the caller's promise; pieces were checked to be in shared memory.
            unsafe { carry_out(&factors) }
        }
    }
}

impl Wgmmas {
    pub(super) fn reset(&mut self, seed: u64, block: u64, threads: usize, bytes: u64) {
        self.warpgroups.clear();
        self.warpgroups
            .resize_with(threads.div_ceil(THREADS), Warpgroup::default);
        self.threads = threads;
        self.open.clear();
        self.open.resize(threads, 0);
        self.readers.clear();
        self.readers
            .resize(bytes.div_ceil(PIECE as u64) as usize, 0);
        self.seed = seed;
        self.random = seed.rotate_left(32) ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    /// Whether MMAs may be executed now: one in four times, and never with seed 0.
    fn happens(&mut self) -> bool {
        if self.seed == 0 {
            return false;
        }
        self.random = crate::random::scrambled(self.random);
        self.random >> 62 == 0
    }

    fn open(&self, thread: u32) -> u64 {
        self.open.get(thread as usize).copied().unwrap_or(0)
    }

    pub(super) fn commit(&mut self, thread: u32) {
        if let Some(open) = self.open.get_mut(thread as usize) {
            *open += 1;
        }
    }

    /// The MMAs that own registers of the thread.
    fn of_thread(&self, thread: u32) -> impl Iterator<Item = (&Wgmma, &Parts)> {
        let warpgroup = self.warpgroups.get(warpgroup_of(thread)).into_iter();
        let wgmmas = warpgroup.flat_map(|warpgroup| &warpgroup.wgmmas);
        wgmmas.filter_map(move |wgmma| Some((wgmma, wgmma.of_thread(thread)?)))
    }

    /// A thread accesses registers of a fragment of which MMAs own some.
    pub(super) fn touch(&self, thread: u32, part: &croq_sim_part, line: u32) -> Outcome {
        let mut all = self.of_thread(thread);
        let among = |other: &croq_sim_part| !other.at.is_null() && overlap(part, other);
        let found = all.find_map(|(wgmma, parts)| {
            let named = [
                (&parts.sums, "the accumulator"),
                (&parts.of_a, "A"),
                (&parts.metadata, "the metadata"),
            ];
            let used = named.into_iter().find(|(other, _)| among(other));
            used.map(|(_, name)| (wgmma, name))
        });
        let Some((wgmma, name)) = found else {
            return Ok(());
        };
        let what = format!("{name} of a WGMMA is used before a wait for it");
        let record = AccessRecord {
            thread,
            what: "uses them",
            line,
        };
        Err(Box::new(Hazard {
            kind: "race",
            what,
            records: vec![record, wgmma.record],
        }))
    }

    /// The thread that began an MMA that reads part of this shared memory.
    pub(super) fn find(&self, first: usize, bytes: usize) -> Option<AccessRecord> {
        let all = self.warpgroups.iter().flat_map(|w| &w.wgmmas);
        let mut reading = all.filter(|wgmma| {
            let mut pieces = wgmma.pieces();
            pieces.any(|piece| piece < first + bytes && first < piece + PIECE)
        });
        reading.next().map(|wgmma| wgmma.record)
    }

    /// A thread has left the kernel.
    pub(super) fn exit(&self, thread: u32) -> Outcome {
        match self.of_thread(thread).next() {
            None => Ok(()),
            Some((wgmma, _)) => Err(Box::new(Hazard {
                kind: "unfinished WGMMA",
                what: "a thread left the kernel without waiting for its WGMMA".to_owned(),
                records: vec![wgmma.record],
            })),
        }
    }

    /// The threads that wait for others of their warpgroup, with the text of a report.
    pub(super) fn thread_states(&self) -> Vec<(u32, String)> {
        let mut all = Vec::new();
        for (number, warpgroup) in self.warpgroups.iter().enumerate() {
            let Some(gathering) = &warpgroup.gathering else {
                continue;
            };
            let what = format!(
                "a WGMMA of warpgroup {number} ({} of {THREADS} threads have arrived)",
                gathering.count
            );
            for (place, _) in (0..).zip(&gathering.parts).filter(|(_, p)| p.is_some()) {
                all.push(((number * THREADS) as u32 + place, what.clone()));
            }
        }
        all
    }
}

/// A thread arrives at an MMA; returns whether it must wait for others.
pub(super) fn join_wgmma(
    all: &mut Asynchronous,
    thread: u32,
    wgmma: &croq_sim_wgmma,
    fences: u32,
    barriers: &mut Barriers,
) -> Outcome<bool> {
    let record = joins(thread, wgmma.line);
    if !all.watching || !all.proxies.is_watching() {
        let what = "a WGMMA in a kernel that was not launched as async_proxy";
        return Err(error(what, vec![record]));
    }
    let number = warpgroup_of(thread);
    if (number + 1) * THREADS > all.wgmmas.threads {
        let what = format!("a WGMMA by a warpgroup of fewer than {THREADS} threads");
        return Err(error(what, vec![record]));
    }
    let parts = Parts {
        sums: wgmma.sums,
        of_a: wgmma.registers,
        metadata: wgmma.metadata,
        group: all.wgmmas.open(thread),
        has_waited: false,
    };
    check_registers(all, record, parts, fences)?;
    let Some(warpgroup) = all.wgmmas.warpgroups.get_mut(number) else {
        return Ok(false);
    };
    let gathering = warpgroup.gathering.get_or_insert_with(|| Gathering {
        wgmma: *wgmma,
        first: thread,
        parts: vec![None; THREADS],
        count: 0,
    });
    let (first, ours) = (&gathering.wgmma, wgmma);
    let same = (first.a, first.b, first.columns, first.flags)
        == (ours.a, ours.b, ours.columns, ours.flags)
        && first.carry_out.map(|f| f as usize) == ours.carry_out.map(|f| f as usize);
    if !same {
        let what = "threads of a warpgroup execute a WGMMA with different operands";
        let other = joins(gathering.first, first.line);
        return Err(error(what, vec![record, other]));
    }
    if let Some(place) = gathering.parts.get_mut(thread as usize % THREADS) {
        *place = Some(parts);
    }
    gathering.count += 1;
    if gathering.count < THREADS {
        return Ok(true);
    }
    let Some(gathering) = warpgroup.gathering.take() else {
        return Ok(false);
    };
    let first = (number * THREADS) as u32;
    let others = (first..first + THREADS as u32).filter(|&other| other != thread);
    barriers.ready.extend(others);
    begin_wgmma(all, number, gathering)?;
    note_reads(all, number, record, &mut barriers.order)?;
    Ok(false)
}

/// The most recent MMA reads its pieces for all its threads; the last one that arrived represents
/// them.
fn note_reads(
    all: &Asynchronous,
    number: usize,
    record: AccessRecord,
    order: &mut Order,
) -> Outcome {
    let wgmmas = all.wgmmas.warpgroups.get(number);
    let Some(wgmma) = wgmmas.and_then(|warpgroup| warpgroup.wgmmas.back()) else {
        return Ok(());
    };
    for piece in wgmma.pieces() {
        let access = croq_sim_access {
            name: std::ptr::null(),
            index: piece as i64,
            at: all.marks.arena().wrapping_add(piece).cast_mut().cast(),
            bytes: PIECE as u32,
            line: record.line,
        };
        // Elements of every size begin at each fourth byte, or at every second of these.
        order.access(record.thread, &access, 4, CROQ_ACCESS_READS)?;
    }
    Ok(())
}

/// Whether a thread may use these registers in an MMA now.
fn check_registers(
    all: &Asynchronous,
    record: AccessRecord,
    mut parts: Parts,
    fences: u32,
) -> Outcome {
    let thread = record.thread;
    if fences == 0 {
        let what = "a WGMMA before the thread's first wgmma_fence";
        return Err(error(what, vec![record]));
    }
    for part in parts.all() {
        // SAFETY: device code names a fragment of the running thread.
        let used = unsafe { *part.registers };
        let (first, end) = (part.first, part.first + part.count);
        if used.fences == fences && used.first < end && first < used.end {
            let what = "registers of a WGMMA were accessed without a wgmma_fence after the access";
            let (what_it_did, line) = ("used them", used.line);
            let use_of_it = AccessRecord {
                thread,
                what: what_it_did,
                line,
            };
            return Err(error(what, vec![record, use_of_it]));
        }
    }
    for (other, theirs) in all.wgmmas.of_thread(thread) {
        let same = parts.sums.at == theirs.sums.at && parts.sums.bytes == theirs.sums.bytes;
        let what = if overlap(&parts.sums, &theirs.sums) && !same {
            "the accumulator of a WGMMA in flight is used by one of another shape"
        } else if !parts.of_a.at.is_null() && overlap(&parts.of_a, &theirs.sums) {
            "the accumulator of a WGMMA in flight is A of another"
        } else if !theirs.of_a.at.is_null() && overlap(&parts.sums, &theirs.of_a) {
            "A of a WGMMA in flight is the accumulator of another"
        } else {
            continue;
        };
        return Err(error(what, vec![record, other.record]));
    }
    Ok(())
}

/// All threads have arrived at the MMA.
fn begin_wgmma(all: &mut Asynchronous, number: usize, gathering: Gathering) -> Outcome {
    let Gathering { wgmma, first, .. } = gathering;
    let record = AccessRecord {
        what: "issued the WGMMA",
        ..joins(first, wgmma.line)
    };
    let decoded = |name: &str, descriptor: u64, rows: usize, transposed: u32, bytes: usize| {
        let transposed = wgmma.flags & transposed != 0;
        let pieces = Operand::decode(descriptor).and_then(|operand| {
            operand.check_start(transposed, bytes)?;
            Ok(operand.pieces(rows, transposed, bytes))
        });
        pieces.map_err(|what| error(format!("{name} of a WGMMA {what}"), vec![record]))
    };
    let columns = wgmma.columns as usize;
    let a = match wgmma.registers.at.is_null() {
        true => decoded("A", wgmma.a, ROWS, CROQ_WGMMA_TRANSPOSED_A, DEPTH)?,
        false => Vec::new(),
    };
    // Of a sparse A half is stored.
    let depth = match wgmma.metadata.at.is_null() {
        true => DEPTH,
        false => 2 * DEPTH,
    };
    let b = decoded("B", wgmma.b, columns, CROQ_WGMMA_TRANSPOSED_B, depth)?;
    check_pieces(all, "A", record, &a)?;
    check_pieces(all, "B", record, &b)?;
    let mut parts: Vec<Parts> = gathering.parts.into_iter().flatten().collect();
    for part in parts.iter_mut().flat_map(Parts::all) {
        // SAFETY: device code names fragments of threads that wait here.
        unsafe { (*part.registers).pending += 1 }
    }
    let narrow = |pieces: Vec<usize>| pieces.into_iter().map(|at| at as u32).collect();
    let begun = Wgmma {
        wgmma,
        waiting: parts.len(),
        parts,
        a: narrow(a),
        b: narrow(b),
        is_carried_out: false,
        record,
    };
    for piece in begun.pieces() {
        if let Some(readers) = all.wgmmas.readers.get_mut(piece / PIECE) {
            *readers += 1;
        }
        for mark in all.marks.from(piece, PIECE) {
            *mark |= FACTOR;
        }
    }
    let now = all.wgmmas.happens();
    let (shared, written) = (all.marks.arena(), all.written_marks());
    if let Some(warpgroup) = all.wgmmas.warpgroups.get_mut(number) {
        warpgroup.wgmmas.push_back(begun);
        for wgmma in warpgroup.wgmmas.iter_mut().filter(|_| now) {
            // SAFETY: the block's memory, and fragments of threads that have not waited.
            unsafe { wgmma.carry_out(shared, written) }
        }
    }
    Ok(())
}

/// Whether an MMA may read these pieces of shared memory.
fn check_pieces(
    all: &mut Asynchronous,
    name: &str,
    record: AccessRecord,
    pieces: &[usize],
) -> Outcome {
    for &piece in pieces {
        let marks = all.marks.from(piece, PIECE);
        if marks.is_empty() {
            let (last, bytes) = (piece + PIECE - 1, all.marks.bytes());
            let what = format!("{name} of a WGMMA reaches byte {last} of {bytes} of shared memory");
            return Err(error(what, vec![record]));
        }
        let union = marks.iter().fold(0, |union, mark| union | mark);
        let busy = match union & (INCOMING | MBARRIER) {
            0 => None,
            MBARRIER => Some("is part of an mbarrier"),
            _ => Some("is read while a copy into it is in flight"),
        };
        let (what, other) = if let Some(what) = busy {
            let at = all.marks.arena().wrapping_add(piece);
            (what, all.accesses_at((at, PIECE)))
        } else if let Some((_, writer)) = all.proxies.unseen(piece, PIECE) {
            ("may not be seen by the async proxy", Some(writer))
        } else {
            continue;
        };
        return Err(Box::new(Hazard {
            kind: "race",
            what: format!("byte {piece} of shared memory, in {name} of a WGMMA, {what}"),
            records: std::iter::once(record).chain(other).collect(),
        }));
    }
    Ok(())
}

/// Waits for all groups of the thread except the `pending` most recent ones.
pub(super) fn wait_wgmma(all: &mut Asynchronous, thread: u32, pending: u32) {
    let done = all.wgmmas.open(thread).saturating_sub(u64::from(pending));
    let (shared, written) = (all.marks.arena(), all.written_marks());
    let number = warpgroup_of(thread);
    let Some(warpgroup) = all.wgmmas.warpgroups.get_mut(number) else {
        return;
    };
    for wgmma in &mut warpgroup.wgmmas {
        let parts = wgmma.parts.get_mut(thread as usize % THREADS);
        let Some(parts) = parts.filter(|parts| parts.group < done) else {
            break;
        };
        if std::mem::replace(&mut parts.has_waited, true) {
            continue;
        }
        for part in parts.all() {
            // SAFETY: device code names a fragment of the running thread.
            unsafe { (*part.registers).pending -= 1 }
        }
        wgmma.waiting -= 1;
        // SAFETY: the block's memory, and fragments of threads that have not left.
        unsafe { wgmma.carry_out(shared, written) }
    }
    while warpgroup.wgmmas.front().is_some_and(|p| p.waiting == 0) {
        let Some(wgmma) = warpgroup.wgmmas.pop_front() else {
            break;
        };
        for piece in wgmma.pieces() {
            let Some(readers) = all.wgmmas.readers.get_mut(piece / PIECE) else {
                continue;
            };
            *readers = readers.saturating_sub(1);
            if *readers == 0 {
                for mark in all.marks.from(piece, PIECE) {
                    *mark &= !FACTOR;
                }
            }
        }
    }
}
