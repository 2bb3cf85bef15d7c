//! The accesses made since the threads last met.

use super::touch::Touch;
use super::vars::{Turns, Vars};
use crate::ir::Level;
use crate::symbolic::{Ctx, Sym};

#[derive(Clone, Debug, Default)]
pub struct Pending {
    touches: Vec<Touch>,
    /// No thread gets here.
    unreachable: bool,
}

impl Pending {
    pub fn nowhere() -> Pending {
        Pending {
            touches: Vec::new(),
            unreachable: true,
        }
    }

    pub fn is_somewhere(&self) -> bool {
        !self.unreachable
    }

    pub fn touches(&self) -> &[Touch] {
        &self.touches
    }

    pub fn add(&mut self, touches: Vec<Touch>) {
        if self.unreachable {
            return;
        }
        for touch in touches {
            self.add_one(touch);
        }
    }

    fn add_one(&mut self, mut touch: Touch) {
        let settled = touch.settled;
        let same = self.touches.iter_mut().find(|t| {
            touch.settled = t.settled;
            **t == touch
        });
        match same {
            // Two ways to get here: only what both have waited for is over.
            Some(same) => {
                same.settled = match (same.settled, settled) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    _ => None,
                };
            }
            None => {
                touch.settled = settled;
                self.touches.push(touch);
            }
        }
    }

    /// All threads of each unit of `level` have met.
    pub fn settle(&mut self, level: Level) {
        if level == Level::Block {
            self.touches.clear();
        }
        for touch in &mut self.touches {
            touch.settled = Some(touch.settled.map_or(level, |s| s.min(level)));
        }
    }

    pub fn end(&mut self) {
        *self = Pending::nowhere();
    }

    /// Either of two ways leads here.
    pub fn join(&mut self, other: &Pending) {
        if other.unreachable {
            return;
        }
        if self.unreachable {
            *self = other.clone();
            return;
        }
        for touch in &other.touches {
            self.add_one(touch.clone());
        }
    }

    /// An access of `earlier` turns is still pending, and it is not one that `own` has as well.
    pub fn outlives(&self, earlier: &Pending, own: &Pending) -> bool {
        let same = |t: &Touch, u: &Touch| {
            t.buffer == u.buffer && t.write == u.write && t.place == u.place && t.who == u.who
        };
        self.touches.iter().any(|t| {
            earlier.touches.iter().any(|u| same(t, u)) && !own.touches.iter().any(|u| same(t, u))
        })
    }

    /// Seen from a later turn.
    pub fn in_earlier_turn(&self, cx: &mut Ctx, vars: &mut Vars, turns: &Turns<'_>) -> Pending {
        let mut out = Pending {
            touches: Vec::new(),
            unreachable: self.unreachable,
        };
        for touch in &self.touches {
            let mut touch = touch.clone();
            if let Some(place) = &mut touch.place {
                let mut earlier = |sym: &Sym| vars.in_earlier_turn(cx, sym, turns);
                place.flat = earlier(&place.flat);
                if let Some(coordinates) = &mut place.coordinates {
                    for c in coordinates {
                        *c = earlier(c);
                    }
                }
            }
            out.add_one(touch);
        }
        out
    }
}
