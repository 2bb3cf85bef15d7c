//! What a candidate has computed, and what that has cost.

/// What the program of the candidates has written.
#[derive(Debug, Default)]
pub struct Results {
    /// `cuda:0`, or `sim`, and the name of the device.
    pub device: String,
    pub tensors: Vec<Values>,
    /// By function: how long a call has taken, in nanoseconds.
    pub times: Vec<(String, u64)>,
    /// Of shared memory, on the simulated GPU.
    pub wavefronts: Option<u64>,
}

#[derive(Debug)]
pub struct Values {
    name: String,
    element: String,
    values: Vec<String>,
}

impl Results {
    pub fn is_of_gpu(&self) -> bool {
        self.device.starts_with("cuda")
    }

    /// Its time says nothing about a GPU.
    pub fn is_of_ptx_machine(&self) -> bool {
        self.device.contains("PTX machine")
    }

    /// # Errors
    ///
    /// Returns the failure that the program has written, or that its output is incomplete.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut results = Self::default();
        let mut lines = text.lines();
        let malformed = |line: &str| format!("its output has the line `{line}`");
        while let Some(line) = lines.next() {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "device" => rest.clone_into(&mut results.device),
                "failed" => return Err(rest.to_owned()),
                "wavefronts" => {
                    results.wavefronts = Some(rest.parse().map_err(|_| malformed(line))?)
                }
                "time" => {
                    let time = rest.rsplit_once(' ');
                    let time =
                        time.and_then(|(name, time)| Some((name.to_owned(), time.parse().ok()?)));
                    results.times.push(time.ok_or_else(|| malformed(line))?);
                }
                "result" => {
                    let mut words = rest.rsplitn(3, ' ');
                    let count = words.next().and_then(|count| count.parse::<usize>().ok());
                    let (Some(count), Some(element), Some(name)) =
                        (count, words.next(), words.next())
                    else {
                        return Err(malformed(line));
                    };
                    results.tensors.push(Values {
                        name: name.to_owned(),
                        element: element.to_owned(),
                        values: lines.by_ref().take(count).map(str::to_owned).collect(),
                    });
                }
                "end" => return Ok(results),
                _ => return Err(malformed(line)),
            }
        }
        Err("its output is incomplete".to_owned())
    }

    /// The shortest times of all functions, added.
    pub fn nanoseconds(&self) -> Option<u64> {
        let mut least: Vec<(&str, u64)> = Vec::new();
        for (name, time) in &self.times {
            match least.iter_mut().find(|(known, _)| known == name) {
                Some((_, known)) => *known = (*known).min(*time),
                None => least.push((name, *time)),
            }
        }
        (!least.is_empty()).then(|| least.iter().map(|(_, time)| time).sum())
    }

    /// How much the results differ from others at most, relative to the largest value of their tensor.
    ///
    /// # Errors
    ///
    /// Returns the first difference that is too large: any of integers, and one above the tolerance of
    /// floats.
    pub fn difference(&self, reference: &Self, tolerance: Option<f64>) -> Result<f64, String> {
        if self.tensors.len() != reference.tensors.len() {
            return Err("it has another number of results".to_owned());
        }
        let mut most = 0f64;
        for (own, first) in self.tensors.iter().zip(&reference.tensors) {
            most = most.max(own.difference(first, tolerance)?);
        }
        Ok(most)
    }
}

impl Values {
    fn difference(&self, first: &Self, tolerance: Option<f64>) -> Result<f64, String> {
        if (&self.name, &self.element) != (&first.name, &first.element) {
            return Err(format!("`{}` is no result of the first values", self.name));
        }
        if self.values.len() != first.values.len() {
            let (own, first) = (self.values.len(), first.values.len());
            return Err(format!(
                "`{}` has {own} elements, and {first} with the first values",
                self.name
            ));
        }
        let allowed = of_floats(&self.element).map(|own| tolerance.unwrap_or(own));
        let finite = first
            .values
            .iter()
            .filter_map(|value| value.parse::<f64>().ok());
        let largest = finite
            .filter(|v| v.is_finite())
            .fold(0f64, |most, v| most.max(v.abs()));
        let mut most = 0f64;
        for (at, (own, first)) in self.values.iter().zip(&first.values).enumerate() {
            if own == first {
                continue;
            }
            let name = &self.name;
            let differ = format!("`{name}`[{at}] is {own}, and {first} with the first values");
            let Some(allowed) = allowed else {
                return Err(differ);
            };
            let (Ok(own), Ok(first)) = (own.parse::<f64>(), first.parse::<f64>()) else {
                return Err(differ);
            };
            let relative = (own - first).abs() / largest.max(f64::MIN_POSITIVE);
            if relative.is_nan() || relative > allowed {
                return Err(format!(
                    "{differ}: {relative:.1e} of the largest value, and {allowed:.1e} is allowed"
                ));
            }
            most = most.max(relative);
        }
        Ok(most)
    }
}

/// The largest difference of floats that only the order of additions makes, relative to the largest
/// value of a tensor; `None` for other types.
fn of_floats(element: &str) -> Option<f64> {
    match element {
        "f64" => Some(1e-12),
        "f32" => Some(1e-5),
        "f16" => Some(8e-3),
        "bf16" => Some(6e-2),
        _ => element.starts_with('f').then_some(0.25),
    }
}

/// Counts of the PTX machine, over all kernels of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of warps, without moves between registers.
    pub instructions: u64,
    /// 32-byte parts of global memory.
    pub sectors: u64,
    /// Of shared memory.
    pub wavefronts: u64,
}

impl Counts {
    /// From the JSON of the PTX machine, which has each class of instructions on a line.
    pub fn parse(json: &str) -> Option<Self> {
        let mut counts = Self::default();
        let mut found = false;
        for line in json.lines().filter(|line| line.contains("\"sectors\"")) {
            found = true;
            counts.sectors += number(line, "\"sectors\": ")?;
            counts.wavefronts += number(line, "\"wavefronts\": ")?;
            if !line.trim_start().starts_with("\"moves\"") {
                counts.instructions += number(line, "\"warps\": ")?;
            }
        }
        found.then_some(counts)
    }

    /// The clocks of one multiprocessor for the unit with the most work, at the rates of an H100:
    /// 4 instructions of warps, one wavefront and 42 bytes of L2 each clock.
    pub fn clocks(&self) -> f64 {
        let instructions = self.instructions as f64 / 4.0;
        let sectors = self.sectors as f64 * 32.0 / 42.0;
        instructions.max(sectors).max(self.wavefronts as f64)
    }
}

fn number(line: &str, key: &str) -> Option<u64> {
    let (_, rest) = line.split_once(key)?;
    let end = rest.find(|c: char| !c.is_ascii_digit());
    rest.get(..end.unwrap_or(rest.len()))?.parse().ok()
}

/// What candidates are ranked by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// Nanoseconds on a GPU.
    Time(u64),
    /// Of the PTX machine.
    Counts(Counts),
    /// Wavefronts of shared memory on the simulated GPU.
    Wavefronts(u64),
}

impl Cost {
    pub fn number(&self) -> f64 {
        match self {
            Self::Time(time) => *time as f64,
            Self::Counts(counts) => counts.clocks(),
            Self::Wavefronts(count) => *count as f64,
        }
    }

    pub fn is_time(&self) -> bool {
        matches!(self, Self::Time(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(element: &str, values: &[&str]) -> Results {
        let count = values.len();
        let text = format!(
            "device sim simulated GPU\nresult f.y {element} {count}\n{}\nend\n",
            values.join("\n")
        );
        Results::parse(&text).expect("complete")
    }

    #[test]
    fn output_is_read_or_refused() {
        let text = "device cuda:0 Some GPU\nresult f<a, 2> s32 2\n1\n-2\ntime f 30\ntime f 20\ntime g 5\n\
                    wavefronts 7\nend\n";
        let found = Results::parse(text).expect("complete");
        assert!(found.is_of_gpu());
        assert_eq!(
            (&*found.tensors[0].name, found.tensors[0].values.len()),
            ("f<a, 2>", 2)
        );
        assert_eq!((found.nanoseconds(), found.wavefronts), (Some(25), Some(7)));
        assert_eq!(results("s32", &["1"]).nanoseconds(), None);
        for (text, part) in [
            ("device sim x\n", "incomplete"),
            ("device sim x\nfailed no memory\n", "no memory"),
            ("result f s32 many\nend\n", "the line `result f s32 many`"),
            ("hello\nend\n", "the line `hello`"),
            ("time f x\nend\n", "the line `time f x`"),
        ] {
            let why = Results::parse(text).expect_err(text);
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    #[test]
    fn integers_are_equal_and_floats_are_close() {
        let difference = |element: &str, own: &[&str], first: &[&str], tolerance: Option<f64>| {
            results(element, own).difference(&results(element, first), tolerance)
        };
        assert_eq!(difference("s32", &["1", "2"], &["1", "2"], None), Ok(0.0));
        let why = difference("s32", &["1", "3"], &["1", "2"], Some(1.0)).expect_err("differs");
        assert!(
            why.contains("`f.y`[1] is 3, and 2 with the first values"),
            "{why}"
        );
        // Relative to the largest value, so that a result near zero may differ by rounding.
        let close = difference("f32", &["1e-7", "1.0"], &["-1e-7", "1.0"], None).expect("close");
        assert!((close - 2e-7).abs() < 1e-12, "{close}");
        let why = difference("f32", &["1.0", "0.5"], &["1.0", "0.51"], None).expect_err("differs");
        assert!(
            why.contains("1.0e-2 of the largest value, and 1.0e-5 is allowed"),
            "{why}"
        );
        assert!(difference("f32", &["1.0", "0.5"], &["1.0", "0.51"], Some(0.1)).is_ok());
        assert!(difference("f16", &["1.0", "0.5"], &["1.0", "0.502"], None).is_ok());
        assert!(difference("f32", &["NaN"], &["NaN"], None).is_ok());
        assert!(difference("f32", &["NaN"], &["1.0"], None).is_err());
        assert!(difference("f32", &["inf"], &["1.0"], None).is_err());
        assert!(difference("bool", &["true"], &["false"], None).is_err());
        assert!(difference("s32", &["1"], &["1", "2"], None).is_err());
        let other = results("f32", &["1"]).difference(&results("s32", &["1"]), None);
        assert!(other.is_err());
        assert!(
            Results::default()
                .difference(&results("s32", &["1"]), None)
                .is_err()
        );
    }

    #[test]
    fn counts_are_those_of_all_classes_and_kernels() {
        let json = "[\n{\n  \"kernel\": \"a\",\n  \"classes\": {\n    \"moves\": {\"warps\": 9, \"threads\": 1, \
                    \"global\": {\"requests\": 0, \"sectors\": 0, \"bytes\": 0}, \"shared\": {\"requests\": 0, \
                    \"wavefronts\": 0, \"bytes\": 0}},\n    \"global loads\": {\"warps\": 8, \"threads\": 1, \
                    \"global\": {\"requests\": 2, \"sectors\": 42, \"bytes\": 3}, \"shared\": {\"requests\": 0, \
                    \"wavefronts\": 5, \"bytes\": 0}}\n  },\n  \"products\": {\n    \"m\": {\"warps\": 7, \
                    \"multiply_adds\": 1}\n  }\n}\n]\n";
        let counts = Counts::parse(json).expect("counts");
        assert_eq!(
            counts,
            Counts {
                instructions: 8,
                sectors: 42,
                wavefronts: 5
            }
        );
        assert!((counts.clocks() - 32.0).abs() < 1e-9);
        let wide = Counts {
            wavefronts: 99,
            ..counts
        };
        assert!((wide.clocks() - 99.0).abs() < 1e-9);
        assert_eq!(Counts::parse("[\n]\n"), None);
    }
}
