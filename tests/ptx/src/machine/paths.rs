//! Lanes that are at the same instruction, and where those that diverged meet again.

use super::registers::Mask;

/// Lanes at one instruction of one activation of a function.
#[derive(Clone, Debug)]
pub struct Path {
    pub mask: Mask,
    pub pc: usize,
    pub frame: usize,
    /// From the outermost.
    joins: Vec<usize>,
    pub waits: Option<Wait>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wait {
    /// For other lanes of the warp, at the same instruction.
    Lanes,
    Barrier,
    /// For something that other threads or asynchronous operations do: the instruction is executed
    /// again.
    Others,
}

/// Where parts of a path meet.
#[derive(Debug)]
struct Join {
    frame: usize,
    pc: usize,
    expected: Mask,
    arrived: Mask,
    outer: Vec<usize>,
}

/// The paths of a warp, except one that is being executed.
#[derive(Debug)]
pub struct Paths {
    pub list: Vec<Path>,
    joins: Vec<Join>,
}

impl Paths {
    /// One path at the start of an entry.
    pub fn new(mask: Mask) -> Paths {
        let path = Path {
            mask,
            pc: 0,
            frame: 0,
            joins: Vec::new(),
            waits: None,
        };
        Paths {
            list: vec![path],
            joins: Vec::new(),
        }
    }

    /// The next path that waits for nothing.
    pub fn take(&mut self) -> Option<Path> {
        let index = self.list.iter().position(|path| path.waits.is_none())?;
        Some(self.list.remove(index))
    }

    /// Replaces a path by its parts, which meet at `meeting` if there is one.
    pub fn split(&mut self, path: &Path, parts: &[(Mask, usize)], meeting: Option<usize>) {
        let mut joins = path.joins.clone();
        let is_known = |pc: usize| {
            let top = joins.last().map(|join| &self.joins[*join]);
            top.is_some_and(|join| join.frame == path.frame && join.pc == pc)
        };
        if let Some(pc) = meeting
            && !is_known(pc)
        {
            self.joins.push(Join {
                frame: path.frame,
                pc,
                expected: path.mask,
                arrived: 0,
                outer: path.joins.clone(),
            });
            joins.push(self.joins.len() - 1);
        }
        for (mask, pc) in parts {
            self.list.push(Path {
                mask: *mask,
                pc: *pc,
                frame: path.frame,
                joins: joins.clone(),
                waits: None,
            });
        }
    }

    /// Whether the path is where it meets others. Then it is no more, or all of them go on.
    #[inline]
    pub fn meets(&mut self, path: &Path) -> bool {
        let Some(index) = path.joins.last().copied() else {
            return false;
        };
        let join = &mut self.joins[index];
        if (join.frame, join.pc) != (path.frame, path.pc) {
            return false;
        }
        join.arrived |= path.mask;
        self.complete(index);
        self.drop_empty_joins();
        true
    }

    /// Goes on behind a join at which all lanes have arrived that it waits for.
    fn complete(&mut self, index: usize) {
        let join = &mut self.joins[index];
        if join.arrived == 0 || join.arrived != join.expected {
            return;
        }
        let path = Path {
            mask: std::mem::take(&mut join.arrived),
            pc: join.pc,
            frame: join.frame,
            joins: std::mem::take(&mut join.outer),
            waits: None,
        };
        join.expected = 0;
        self.list.push(path);
    }

    /// Lanes that have arrived at such a place go on without those that they would meet there. False if
    /// there are none.
    pub fn release(&mut self, is_there: impl Fn(usize, usize) -> bool) -> bool {
        let mut joins = self.joins.iter_mut();
        let Some(join) = joins.find(|join| join.arrived != 0 && is_there(join.frame, join.pc))
        else {
            return false;
        };
        join.expected &= !join.arrived;
        self.list.push(Path {
            mask: std::mem::take(&mut join.arrived),
            pc: join.pc,
            frame: join.frame,
            joins: join.outer.clone(),
            waits: None,
        });
        true
    }

    /// Joins no longer expect lanes that have exited.
    pub fn exit(&mut self, lanes: Mask) {
        for index in 0..self.joins.len() {
            self.joins[index].expected &= !lanes;
            self.complete(index);
        }
        self.drop_empty_joins();
    }

    fn drop_empty_joins(&mut self) {
        while self.joins.last().is_some_and(|join| join.expected == 0) {
            self.joins.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Paths;

    #[test]
    fn parts_meet_once_all_have_arrived() {
        let mut paths = Paths::new(0xf);
        let path = paths.take().unwrap();
        paths.split(&path, &[(0x3, 5), (0xc, 7)], Some(9));
        for _ in 0..2 {
            let mut part = paths.take().unwrap();
            assert!(!paths.meets(&part));
            part.pc = 9;
            assert!(paths.meets(&part));
        }
        let whole = paths.take().unwrap();
        assert_eq!((whole.mask, whole.pc, paths.joins.len()), (0xf, 9, 0));
        assert!(!paths.meets(&whole));
    }

    /// Each iteration of a loop that some lanes leave uses the same join.
    #[test]
    fn loops_do_not_pile_up_joins() {
        let mut paths = Paths::new(0xff);
        for lane in 0..7 {
            let path = paths.take().unwrap();
            paths.split(
                &path,
                &[(path.mask & !(1 << lane), 1), (1 << lane, 9)],
                Some(9),
            );
            assert_eq!(paths.joins.len(), 1);
            let (stays, leaves) = (paths.take().unwrap(), paths.take().unwrap());
            assert!(paths.meets(&leaves));
            paths.list.push(stays);
        }
        paths.exit(0x80);
        assert_eq!(
            paths.take().unwrap().mask,
            0x80,
            "its lanes are gone; the path knows by itself"
        );
        assert_eq!(paths.take().unwrap().mask, 0x7f);
    }

    #[test]
    fn joins_are_nested() {
        let mut paths = Paths::new(0xf);
        let path = paths.take().unwrap();
        paths.split(&path, &[(0x7, 1), (0x8, 20)], Some(20));
        let inner = paths.take().unwrap();
        paths.split(&inner, &[(0x1, 2), (0x6, 10)], Some(10));
        let outer = paths.take().unwrap();
        assert!(paths.meets(&outer));
        let (mut left, right) = (paths.take().unwrap(), paths.take().unwrap());
        assert!(paths.meets(&right));
        left.pc = 10;
        assert!(paths.meets(&left));
        let mut merged = paths.take().unwrap();
        assert_eq!((merged.mask, merged.pc), (0x7, 10));
        merged.pc = 20;
        assert!(paths.meets(&merged));
        assert_eq!(paths.take().unwrap().mask, 0xf);
    }
}
