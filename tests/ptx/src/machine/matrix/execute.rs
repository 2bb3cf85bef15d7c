//! Matrix instructions of a warp.

use super::super::image::Decoded;
use super::super::observe;
use super::super::order::WarpClock;
use super::super::paths::Path;
use super::super::registers::Mask;
use super::super::step::Step;
use super::super::warp::Warp;
use super::super::world::{Asynchrony, Fault, Related, World};
use super::pending::{Access, Issued};
use super::wgmma::Wgmma;
use super::{Matrix, marks};

/// All of them are `.aligned`: executed by every lane of the warp. False if the instruction has to
/// wait for other warps, and must be executed again.
#[inline(never)]
pub fn execute<'a>(
    warp: &mut Warp<'a>,
    path: &Path,
    matrix: &'a Matrix,
    active: Mask,
    world: &mut World<'_>,
) -> Result<bool, Fault> {
    check_lanes(warp, path, active)?;
    if world.launch.checks.unwritten {
        marks::track(warp, path, matrix, world)?;
    }
    let (frame, index) = (&mut warp.frames[path.frame], warp.index);
    let (registers, base) = (&mut frame.registers, frame.base);
    if let (Matrix::Transfer(transfer), Some(counter)) = (matrix, &mut world.counter) {
        let site = frame.code.first_site + path.pc as u32;
        counter.rows(site, &transfer.rows(registers, base));
    }
    let done = match matrix {
        Matrix::Transfer(transfer) if transfer.stores => {
            transfer.store(registers, (index, base), world)
        }
        Matrix::Transfer(transfer) => transfer.load(registers, (index, base), world),
        Matrix::Transposition(transposition) => {
            transposition.execute(registers);
            Ok(())
        }
        Matrix::Mma(mma) => mma.execute(registers),
        _ => return of_warpgroup(warp, path, matrix, world),
    };
    done.map_err(|(lane, message)| warp.fault(path, lane, message))?;
    marks::mark_stored(warp, world);
    let site = warp.frames[path.frame].code.first_site + path.pc as u32;
    let settled = settle(&mut warp.clock, site, world);
    settled.map_err(|message| {
        let lane = active.trailing_zeros() as usize;
        warp.failed(path, (lane, message), world)
    })?;
    Ok(true)
}

/// What was read and written in shared memory is on the account of this clock.
fn settle(clock: &mut WarpClock, site: u32, world: &mut World<'_>) -> Result<(), String> {
    let Some(order) = &mut world.order else {
        return Ok(());
    };
    let done = order.settle(clock, site);
    done.map_err(|failure| observe::failed(failure, order, world.global, world.shared))
}

fn check_lanes(warp: &Warp<'_>, path: &Path, active: Mask) -> Result<(), Fault> {
    if active == Mask::MAX {
        return Ok(());
    }
    let lane = active.trailing_zeros() as usize;
    let message = match active == warp.live {
        true => "the instruction needs all 32 lanes of the warp: some do not exist or have exited",
        false => "the lanes of the warp reach this aligned instruction diverged",
    };
    Err(warp.fault(path, lane, format!("{message} (lanes {active:#010x})")))
}

/// Instructions of four warps, which are executed by each warp on its own.
fn of_warpgroup<'a>(
    warp: &mut Warp<'a>,
    path: &Path,
    matrix: &'a Matrix,
    world: &mut World<'_>,
) -> Result<bool, Fault> {
    if warp.products.awaited.is_none() {
        record(warp, path, matrix, world)?;
    }
    let (group, member) = place(warp);
    match matrix {
        Matrix::Fence => {
            warp.products.is_fenced = true;
            warp.frames
                .iter_mut()
                .for_each(|frame| frame.tracker.fence());
        }
        Matrix::Commit => {
            warp.products.commit();
            world.warpgroups[group].commit(member);
            serve(warp, world)?;
        }
        Matrix::Wait(pending) => return wait(warp, *pending, world),
        _ => {}
    }
    run_early(warp, world)?;
    Ok(true)
}

/// The warp's warpgroup in its block, and its place there.
fn place(warp: &Warp<'_>) -> (usize, usize) {
    (warp.index as usize / 4, warp.index as usize % 4)
}

/// Compares the instruction with those of the other warps, and issues it if it is a product.
fn record<'a>(
    warp: &mut Warp<'a>,
    path: &Path,
    matrix: &'a Matrix,
    world: &mut World<'_>,
) -> Result<(), Fault> {
    let frame = &mut warp.frames[path.frame];
    let mut issued = None;
    let mut descriptors = [0; 2];
    if let Matrix::Wgmma(wgmma) = matrix {
        let found = wgmma.issue(&frame.registers, warp.index);
        let inputs = found.map_err(|(lane, message)| warp.fault(path, lane, message))?;
        descriptors = inputs.descriptors;
        issued = Some((wgmma, inputs));
    }
    let code: *const _ = warp.frames[path.frame].code;
    let entry = (code.addr(), path.pc, descriptors);
    let (group, member) = place(warp);
    let recorded = world.warpgroups[group].execute(member, entry);
    recorded.map_err(|message| warp.fault(path, 0, message))?;
    if let Some((wgmma, inputs)) = issued {
        take_registers(warp, path, wgmma)?;
        let frame = &warp.frames[path.frame];
        let site = frame.code.first_site + path.pc as u32;
        let operation = world.order.as_mut().map(|order| {
            let agent = world.warpgroups[group].agent(member, order, warp.clock.agent.block);
            order.begin_of(&warp.clock, warp.live, (agent, site))
        });
        warp.products.issue(Issued {
            operation,
            wgmma,
            inputs,
            frame: path.frame,
            function: frame.function,
            instruction: frame.code.steps[path.pc].instruction,
            is_executed: false,
        });
    }
    Ok(())
}

/// `wgmma.wait_group`: whether the products of all four warps are executed.
fn wait(warp: &mut Warp<'_>, pending: u64, world: &mut World<'_>) -> Result<bool, Fault> {
    let (group, member) = place(warp);
    let count = match warp.products.awaited {
        Some(count) => count,
        None => world.warpgroups[group].await_groups(member, pending),
    };
    warp.products.awaited = Some(count);
    serve(warp, world)?;
    let Some(views) = world.warpgroups[group].acquire(member, count) else {
        return Ok(false);
    };
    warp.products.awaited = None;
    for view in views {
        for issued in warp.products.take_oldest_group() {
            warp.frames[issued.frame].tracker.complete(issued.wgmma);
        }
        if world.order.is_some() {
            warp.clock.acquire(warp.live, &view);
        }
    }
    run_early(warp, world)?;
    Ok(true)
}

/// Executes the warp's products of the groups that a wait in its warpgroup needs; says whether there
/// were some.
pub fn serve(warp: &mut Warp<'_>, world: &mut World<'_>) -> Result<bool, Fault> {
    let (group, member) = place(warp);
    let mut any = false;
    while let Some(nth) = world.warpgroups[group].needed(member) {
        any = true;
        let mut products = std::mem::take(&mut warp.products);
        for issued in products.group(nth) {
            run(warp, issued, world)?;
        }
        warp.products = products;
        world.warpgroups[group].complete(member, world.order.as_deref_mut());
    }
    Ok(any)
}

/// For reports: the warps whose products a wait lacks.
pub fn describe_wait(warp: &Warp<'_>, world: &World<'_>) -> String {
    let (group, _) = place(warp);
    let count = warp.products.awaited.unwrap_or(0);
    let missing = world.warpgroups[group].missing(count);
    let missing: Vec<String> = missing
        .map(|member| (4 * group + member).to_string())
        .collect();
    format!(
        "for products of its warpgroup that are not committed by warps {}",
        missing.join(", ")
    )
}

fn take_registers(warp: &mut Warp<'_>, path: &Path, wgmma: &Wgmma) -> Result<(), Fault> {
    if !warp.products.is_fenced {
        let message = "there is no `wgmma.fence` before the first `wgmma.mma_async`";
        return Err(warp.fault(path, 0, message.to_owned()));
    }
    let taken = warp.frames[path.frame].tracker.issue(wgmma);
    taken.map_err(|message| warp.fault(path, 0, message))
}

fn run(warp: &mut Warp<'_>, issued: &mut Issued<'_>, world: &mut World<'_>) -> Result<(), Fault> {
    if std::mem::replace(&mut issued.is_executed, true) {
        return Ok(());
    }
    if world.launch.checks.unwritten {
        marks::track_product(warp, issued, world);
    }
    let registers = &mut warp.frames[issued.frame].registers;
    let done = issued
        .wgmma
        .complete(&issued.inputs, registers, warp.index, world);
    let done = done.and_then(|()| match &mut issued.operation {
        Some(operation) => settle(&mut operation.clock, operation.site, world),
        None => Ok(()),
    });
    done.map_err(|message| {
        let found = world.order.as_mut().and_then(|order| order.failure());
        Fault {
            function: issued.function.to_owned(),
            instruction: issued.instruction,
            lane: 0,
            message,
            related: found.map(|found| Box::new(Related::of_race(&found))),
        }
    })
}

/// Executes products before they are waited for, as the mode says.
fn run_early(warp: &mut Warp<'_>, world: &mut World<'_>) -> Result<(), Fault> {
    let asynchrony = world.launch.asynchrony;
    run_some(warp, asynchrony, world)
}

fn run_some(
    warp: &mut Warp<'_>,
    asynchrony: Asynchrony,
    world: &mut World<'_>,
) -> Result<(), Fault> {
    let salt = world.launch.seed.rotate_left(32) ^ u64::from(warp.index);
    let goes_on = |decision: u64| match asynchrony {
        Asynchrony::Late => false,
        Asynchrony::AtOnce => true,
        Asynchrony::Seeded => {
            let mixed = (salt ^ decision << 16).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 62 == 0
        }
    };
    let mut decision = warp.products.decisions;
    let mut products = std::mem::take(&mut warp.products);
    let mut done = Ok(());
    while let Some(issued) = products.next() {
        decision += 1;
        if !goes_on(decision) {
            break;
        }
        done = run(warp, issued, world);
        if done.is_err() {
            break;
        }
    }
    products.decisions = decision;
    warp.products = products;
    done
}

/// Before an instruction of a function with asynchronous products is executed.
///
/// # Errors
///
/// It disturbs a product that is not waited for.
#[inline(never)]
pub fn observe(
    warp: &mut Warp<'_>,
    path: &Path,
    decoded: &Decoded,
    active: Mask,
    world: &mut World<'_>,
) -> Result<(), Fault> {
    let lane = active.trailing_zeros() as usize;
    match &decoded.step {
        _ if active == 0 => return Ok(()),
        Step::Matrix(matrix) if matrix.is_asynchronous() => return Ok(()),
        Step::Return | Step::Exit if warp.products.is_pending() => {
            let message = "the function ends before `wgmma.wait_group` has waited for its products";
            return Err(warp.fault(path, lane, message.to_owned()));
        }
        _ => {}
    }
    let observed = warp.frames[path.frame].tracker.observe(&decoded.operands);
    match observed.map_err(|message| warp.fault(path, lane, message))? {
        Access::Nothing => Ok(()),
        // So that the halves have the values that they have behind the wait.
        Access::Halves => run_some(warp, Asynchrony::AtOnce, world),
    }
}
