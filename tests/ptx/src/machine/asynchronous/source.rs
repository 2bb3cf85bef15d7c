//! What a multicast copy reads. It is one instruction, which reads its source once; each of its writes
//! completes on an mbarrier of its own.

use std::rc::Rc;

use super::transfer::{Agent, Memory, Transfer};
use crate::machine::order::{self, View};

pub struct Source {
    /// For the detection of races.
    operation: Option<order::Operation>,
    data: Option<Vec<u8>>,
    /// What follows the read.
    view: Option<Rc<View>>,
}

impl Source {
    pub fn new(operation: Option<order::Operation>) -> Source {
        Source {
            operation,
            data: None,
            view: None,
        }
    }

    /// The bytes, which are read the first time.
    ///
    /// # Errors
    ///
    /// They are not there any more, or a race.
    pub fn read(
        &mut self,
        transfer: &Transfer,
        agent: Agent,
        memory: &mut Memory<'_>,
    ) -> Result<Vec<u8>, String> {
        if let Some(data) = &self.data {
            return Ok(data.clone());
        }
        let data = transfer.read(agent, memory)?;
        self.data = Some(data.clone());
        memory.settle(&mut self.operation)?;
        if let (Some(order), Some(operation)) = (&mut memory.order, &self.operation) {
            self.view = Some(order.finish(operation));
        }
        Ok(data)
    }

    /// What a wait for one of the writes acquires: the read is before it.
    pub fn before(&self, write: Option<Rc<View>>) -> Option<Rc<View>> {
        match (&write, &self.view) {
            (Some(write), Some(read)) => Some(order::joined(write, read)),
            _ => write,
        }
    }
}
