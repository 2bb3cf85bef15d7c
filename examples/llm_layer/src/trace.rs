//! What the steps of a layer have computed, and how long each took.

use std::time::{Duration, Instant};

use croq_sys::{Device, DeviceTensor, Dims, Element, Result, Stream};

/// Is told the result of each step.
pub trait Watch {
    /// # Errors
    ///
    /// The failure of a step, or of a copy to the host.
    fn step<T: Element + Into<f64>, D: Dims>(
        &mut self,
        name: &'static str,
        stream: &Stream,
        result: &DeviceTensor<T, D>,
    ) -> Result<()>;
}

/// Nothing is watched, so nothing is waited for.
impl Watch for () {
    fn step<T: Element + Into<f64>, D: Dims>(
        &mut self,
        _: &'static str,
        _: &Stream,
        _: &DeviceTensor<T, D>,
    ) -> Result<()> {
        Ok(())
    }
}

pub struct Step {
    pub name: &'static str,
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
    /// From the end of the step before to the end of this one, by the clock of the host.
    pub time: Duration,
}

/// The results of all steps on the host. Each step is waited for.
pub struct Trace {
    pub steps: Vec<Step>,
    last: Instant,
}

impl Trace {
    /// # Errors
    ///
    /// The failure of earlier work.
    pub fn new(device: &Device) -> Result<Self> {
        device.synchronize()?;
        Ok(Self {
            steps: Vec::new(),
            last: Instant::now(),
        })
    }

    /// The values of a step; none if there is no such step.
    pub fn values(&self, name: &str) -> &[f64] {
        let step = self.steps.iter().find(|step| step.name == name);
        step.map_or(&[], |step| &step.values)
    }
}

impl Watch for Trace {
    fn step<T: Element + Into<f64>, D: Dims>(
        &mut self,
        name: &'static str,
        stream: &Stream,
        result: &DeviceTensor<T, D>,
    ) -> Result<()> {
        stream.synchronize()?;
        let time = self.last.elapsed();
        let host = result.to_host()?;
        self.steps.push(Step {
            name,
            shape: host.shape().as_ref().to_vec(),
            values: host.as_slice().iter().map(|&v| v.into()).collect(),
            time,
        });
        self.last = Instant::now();
        Ok(())
    }
}
