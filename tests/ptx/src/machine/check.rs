//! Memory accesses of a warp, and the checks that go with every instruction if they are asked for:
//! data races, and values that depend on bytes or registers that nothing has written.

use super::access::{Access, Element};
use super::image::Decoded;
use super::marks::{Bytes, Origin, all_bytes, mask_of};
use super::memory::Window;
use super::observe::{self, Problem};
use super::order;
use super::paths::Path;
use super::propagate::{Scene, loaded};
use super::registers::{Bank, LANES, Mask, Row, Slot, each, lanes};
use super::spaces::Spaces;
use super::step::{BarrierKind, Step};
use super::warp::{Frame, Warp};
use super::world::{Fault, Related, RelatedPlace, World};

fn scene<'s>(
    frame: &'s mut Frame<'_>,
    decoded: &'s Decoded,
    mask: Mask,
    active: Mask,
) -> Scene<'s> {
    Scene {
        assignment: &frame.code.assignment,
        marks: &mut frame.marks,
        registers: &frame.registers,
        operands: &decoded.operands,
        guard: decoded.guard.map(|(index, _)| Slot {
            bank: Bank::Predicate,
            index,
        }),
        mask,
        active,
    }
}

fn unwritten(found: (usize, Origin), what: &str) -> Problem {
    let (lane, origin) = found;
    Problem {
        lane,
        message: format!("a value that nothing has written {what}"),
        cause: observe::Cause::Unwritten(origin),
    }
}

/// What the decision about an instruction's execution decides.
fn decision(step: &Step) -> Option<&'static str> {
    Some(match step {
        Step::Store(_) | Step::Atomic(_) => "decides whether this access is executed",
        Step::Branch(_) | Step::IndexedBranch(..) => "decides this branch",
        Step::Call(_) | Step::Return | Step::Exit | Step::Trap => "decides where execution goes on",
        Step::Barrier(_) | Step::Collective(_) | Step::Fence(_) => {
            "decides whether this instruction is executed"
        }
        _ => return None,
    })
}

impl Warp<'_> {
    /// Before an instruction is executed, where a register is marked.
    pub fn track(
        &mut self,
        path: &Path,
        decoded: &Decoded,
        active: Mask,
        world: &World<'_>,
    ) -> Result<(), Fault> {
        let frame = &mut self.frames[path.frame];
        let mut scene = scene(frame, decoded, path.mask, active);
        if let Some(what) = decision(&decoded.step)
            && let Some(guard) = scene.guard
            && let Some(found) = scene.marked(&[guard], path.mask)
        {
            return Err(self.problem(path, unwritten(found, what), world));
        }
        let found = match &decoded.step {
            Step::Lanes(_) => {
                scene.transfer(&decoded.transfer, decoded.carries);
                None
            }
            Step::Special(..) | Step::FrameAddress(..) | Step::ActiveMask(_) => {
                scene.put_all(0, Origin::default());
                None
            }
            Step::Barrier(barrier) => {
                let found = scene.marked(&decoded.operands.read, active);
                if found.is_none() && matches!(barrier.kind, BarrierKind::Reduce(..)) {
                    scene.put_all(0, Origin::default());
                }
                found.map(|found| (found, "is an operand of a barrier"))
            }
            Step::IndexedBranch(index, _) => {
                let found = index.slot().and_then(|slot| scene.marked(&[slot], active));
                found.map(|found| (found, "decides this branch"))
            }
            Step::Load(Access { pointer, .. }) | Step::Store(Access { pointer, .. }) => {
                let found = pointer
                    .slot()
                    .and_then(|slot| scene.marked(&[slot], active));
                found.map(|found| (found, "is the address of this access"))
            }
            Step::Atomic(atomic) => {
                let address = atomic.pointer.slot();
                let found = address.and_then(|slot| scene.marked(&[slot], active));
                match found {
                    Some(found) => Some((found, "is the address of this access")),
                    None => {
                        let found = scene.marked(&decoded.operands.read, active);
                        found.map(|found| (found, "is an operand of this atomic operation"))
                    }
                }
            }
            _ => None,
        };
        match found {
            Some((found, what)) => Err(self.problem(path, unwritten(found, what), world)),
            None => Ok(()),
        }
    }

    /// Before lanes execute an instruction together. Guards are checked already.
    pub fn track_collective(
        &mut self,
        path: &Path,
        decoded: &Decoded,
        present: Mask,
        world: &World<'_>,
    ) -> Result<(), Fault> {
        let Step::Collective(collective) = &decoded.step else {
            return Ok(());
        };
        let frame = &mut self.frames[path.frame];
        let mut scene = scene(frame, decoded, present, present);
        scene.guard = None;
        let (_, origin) = scene.sources();
        let of = |slot: Slot| scene.marks.get(scene.assignment, slot);
        let Some((row, truth)) = collective.marks(scene.registers, present, &of) else {
            let lane = present.trailing_zeros() as usize;
            let problem = unwritten((lane, origin), "is a member mask");
            return Err(self.problem(path, problem, world));
        };
        let (value, predicate) = collective.results();
        if let Some(slot) = value {
            let full = all_bytes(slot.bank);
            scene.put(slot, &row.map(|bits| bits & full), origin);
        }
        if let Some(slot) = predicate {
            let row = each(|lane| (truth >> lane & 1) as Bytes);
            scene.put(slot, &row, origin);
        }
        Ok(())
    }

    pub fn access(
        &mut self,
        path: &Path,
        decoded: &Decoded,
        active: Mask,
        world: &mut World<'_>,
    ) -> Result<(), Problem> {
        let frame = &mut self.frames[path.frame];
        let mut spaces = Spaces {
            global: world.global,
            shared: world.shared,
            constants: world.constants,
            parameters: world.parameters,
            local: &mut self.local,
        };
        let (pointer, window, bytes, memory) = match &decoded.step {
            Step::Load(access) | Step::Store(access) => (
                &access.pointer,
                access.window,
                access.all_bytes(),
                access.order,
            ),
            Step::Atomic(atomic) => (
                &atomic.pointer,
                atomic.window,
                atomic.all_bytes(),
                atomic.order,
            ),
            _ => return Ok(()),
        };
        let tracks = world.launch.checks.unwritten;
        let site = frame.code.first_site + path.pc as u32;
        // A load may overwrite its own address.
        let addresses = match tracks || world.order.is_some() || world.counter.is_some() {
            true => pointer.row(&frame.registers, frame.base),
            false => [0; LANES],
        };
        let mut changed = active;
        match &decoded.step {
            Step::Load(load) => {
                load.load(&mut frame.registers, active, frame.base, &spaces)?;
                if tracks {
                    let scene = scene(frame, decoded, path.mask, active);
                    track_load(scene, load, &spaces, &addresses, site);
                }
            }
            Step::Store(store) => {
                changed = store.store(&frame.registers, active, frame.base, &mut spaces)?;
                if tracks && !frame.marks.is_empty() {
                    track_store(
                        &scene(frame, decoded, path.mask, active),
                        store,
                        &mut spaces,
                        &addresses,
                    )?;
                }
            }
            Step::Atomic(atomic) => {
                let found =
                    match tracks && spaces.may_be_unwritten(window, &addresses, active, bytes) {
                        true => track_atomic(&spaces, window, &addresses, (active, bytes, site)),
                        false => Ok(()),
                    };
                atomic.execute(&mut frame.registers, active, frame.base, &mut spaces)?;
                found?;
                if tracks && !frame.marks.is_empty() {
                    scene(frame, decoded, path.mask, active).put_all(0, Origin::default());
                }
            }
            _ => {}
        }
        if let Some(counter) = &mut world.counter {
            let own = |address: u64| {
                let place = spaces.shared.place(address).ok()?;
                (place.rank == spaces.shared.rank).then_some(place.address)
            };
            counter.access(site, (window, bytes), (&addresses, active), own);
        }
        let Some(order) = &mut world.order else {
            return Ok(());
        };
        for (kind, mask) in observe::effects(memory.kind, active, changed) {
            let access = order::Access {
                site,
                kind,
                ordering: memory.ordering,
                modifies: matches!(decoded.step, Step::Atomic(_)),
                bytes,
                addresses: &addresses,
            };
            observe::observe(order, &mut self.clock, &spaces, window, &access, mask)?;
        }
        Ok(())
    }

    /// An error of a lane, which may be a race in the course of an operation.
    pub fn failed(
        &self,
        path: &Path,
        (lane, message): (usize, String),
        world: &mut World<'_>,
    ) -> Fault {
        let found = world.order.as_mut().and_then(|order| order.failure());
        let problem = Problem {
            lane,
            message,
            cause: found.map_or(observe::Cause::None, observe::Cause::Race),
        };
        self.problem(path, problem, world)
    }

    /// An error of a lane at a path's instruction.
    pub fn problem(&self, path: &Path, problem: Problem, world: &World<'_>) -> Fault {
        let agent = self.clock.agent;
        let thread = |lane: usize| Some(agent.index * 32 + lane as u32);
        let related = match problem.cause {
            observe::Cause::None => None,
            observe::Cause::Race(found) => Some(Related::of_race(&found)),
            observe::Cause::Unwritten(Origin::Register(slot)) => Some(Related {
                message: "a register that is read before it is written".to_owned(),
                place: RelatedPlace::Register(slot),
                block: agent.block,
                thread: thread(problem.lane),
            }),
            observe::Cause::Unwritten(Origin::Memory {
                site,
                lane,
                window,
                address,
            }) => {
                let local = self.local.get(lane);
                let place = observe::place(world.global, world.shared, local, (window, address));
                Some(Related {
                    message: format!("the value was read here, from {place}"),
                    place: RelatedPlace::Site(site),
                    block: agent.block,
                    thread: thread(lane),
                })
            }
        };
        Fault {
            related: related.map(Box::new),
            ..self.fault(path, problem.lane, problem.message)
        }
    }
}

/// Marks what lanes have loaded from unwritten bytes.
fn track_load(
    mut scene: Scene<'_>,
    load: &Access,
    spaces: &Spaces<'_>,
    addresses: &Row<u64>,
    site: u32,
) {
    let may_be = spaces.may_be_unwritten(load.window, addresses, scene.active, load.all_bytes());
    if !may_be && scene.marks.is_empty() {
        return;
    }
    for (at, element) in (0..).zip(&load.elements) {
        let Element::Register(slot) = *element else {
            continue;
        };
        let offset = at * load.bytes;
        let mut bits = [0; LANES];
        for lane in lanes(scene.active).filter(|_| may_be) {
            let address = addresses[lane].wrapping_add(offset);
            bits[lane] = spaces.unwritten(load.window, lane, address, load.bytes);
        }
        let lane = mask_of(&bits).trailing_zeros() as usize % LANES;
        let origin = Origin::Memory {
            site,
            lane,
            window: load.window,
            address: addresses[lane].wrapping_add(offset),
        };
        scene.put(slot, &loaded(&bits, load.bytes, load.signed, slot), origin);
    }
}

/// Stores to shared and local memory carry marks on; to global memory they are results.
fn track_store(
    scene: &Scene<'_>,
    store: &Access,
    spaces: &mut Spaces<'_>,
    addresses: &Row<u64>,
) -> Result<(), Problem> {
    let stored = ((1_u32 << store.bytes.min(8)) - 1) as Bytes;
    for (at, element) in (0..).zip(&store.elements) {
        let Element::Register(slot) = *element else {
            continue;
        };
        let marks = scene.marks.get(scene.assignment, slot);
        for lane in lanes(scene.active).filter(|lane| marks[*lane] & stored != 0) {
            let address = addresses[lane].wrapping_add(at * store.bytes);
            if !spaces.mark(store.window, lane, address, marks[lane] & stored) {
                let origin = scene.marks.origin(scene.assignment, slot);
                return Err(unwritten((lane, origin), "is stored to global memory"));
            }
        }
    }
    Ok(())
}

fn track_atomic(
    spaces: &Spaces<'_>,
    window: Window,
    addresses: &Row<u64>,
    (active, bytes, site): (Mask, u64, u32),
) -> Result<(), Problem> {
    let is_unwritten = |lane: &usize| spaces.unwritten(window, *lane, addresses[*lane], bytes) != 0;
    let Some(lane) = lanes(active).find(is_unwritten) else {
        return Ok(());
    };
    let address = addresses[lane];
    let origin = Origin::Memory {
        site,
        lane,
        window,
        address,
    };
    Err(unwritten(
        (lane, origin),
        "is modified by this atomic operation",
    ))
}
