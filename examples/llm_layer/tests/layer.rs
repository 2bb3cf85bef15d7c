use croq_sys::{Device, Error, Graph, Result, Stream};
use llm_layer::layer::{Cache, Inputs, Output, decode_on, prefill_on};
use llm_layer::reference::{Reference, compare, largest};
use llm_layer::trace::Trace;
use llm_layer::weights::{DeviceWeights, Weights};
use llm_layer::{BEST, Sizes};

/// No extent is a multiple of a tile, and one scale is for a whole row.
const RAGGED: Sizes = Sizes {
    model: 200,
    heads: 6,
    groups: 3,
    hidden: 328,
    vocabulary: 77,
    scaled: 200,
    cache: 41,
};

/// A model on the device, and its cache.
struct Model {
    device: Device,
    stream: Stream,
    weights: DeviceWeights,
    cache: Cache,
}

impl Model {
    fn new(sizes: Sizes) -> Result<Self> {
        let device = Device::default();
        Ok(Self {
            stream: Stream::new(&device)?,
            weights: Weights::random(sizes, 1).to_device(&device)?,
            cache: Cache::new(sizes, &device)?,
            device,
        })
    }

    fn prefill(&mut self, ids: &[i32], first: usize) -> Result<Trace> {
        let inputs = Inputs::new(ids, first, &self.device)?;
        let mut trace = Trace::new(&self.device)?;
        let (weights, cache) = (&self.weights, &mut self.cache);
        prefill_on(&self.stream, weights, &inputs, cache, &mut trace)?;
        Ok(trace)
    }

    fn decode(&mut self, id: i32, first: usize) -> Result<Trace> {
        let inputs = Inputs::new(&[id], first, &self.device)?;
        let mut trace = Trace::new(&self.device)?;
        let (weights, cache) = (&self.weights, &mut self.cache);
        decode_on(&self.stream, weights, &inputs, cache, &mut trace)?;
        Ok(trace)
    }
}

fn tokens(count: usize, sizes: Sizes) -> Vec<i32> {
    (0..count)
        .map(|i| (i * 37 % sizes.vocabulary) as i32)
        .collect()
}

/// Each step from what the device had before it, and all of them from the tokens.
struct Judge<'a> {
    by_step: Reference<'a>,
    from_tokens: Reference<'a>,
}

impl<'a> Judge<'a> {
    fn new(weights: &'a Weights) -> Self {
        Self {
            by_step: Reference::new(weights),
            from_tokens: Reference::new(weights),
        }
    }

    fn check(&mut self, ids: &[i32], trace: &Trace) {
        let one = self.by_step.forward(ids, Some(trace));
        let all = self.from_tokens.forward(ids, None);
        assert_eq!(one.len() + 2, trace.steps.len(), "each step but the choice");
        for (kind, results) in [("by itself", one), ("from the tokens", all)] {
            for (name, expected) in results {
                let worst = compare(trace.values(name), &expected.data);
                assert!(worst.share <= 1.0, "{name} {kind}: {worst:?}");
            }
        }
        // The choice is exact.
        let best = largest(trace.values("scores"), BEST);
        let (values, places): (Vec<_>, Vec<_>) = best.iter().map(|b| (b.0, b.1 as f64)).unzip();
        assert_eq!(trace.values("best scores"), values);
        assert_eq!(trace.values("best tokens"), places);
    }
}

/// A prompt and three tokens one by one are what the reference computes. What the cache has then is
/// exactly what all tokens at once put there, and the results agree.
fn prompt_and_three(sizes: Sizes, count: usize) {
    let ids = tokens(count + 3, sizes);
    let mut model = Model::new(sizes).unwrap();
    let host = Weights::random(sizes, 1);
    let mut judge = Judge::new(&host);
    let trace = model.prefill(&ids[..count], 0).unwrap();
    judge.check(&ids[..count], &trace);
    let mut rows = trace.values("down + x").to_vec();
    let mut last = trace;
    for at in count..count + 3 {
        last = model.decode(ids[at], at).unwrap();
        judge.check(&ids[at..=at], &last);
        rows.extend(last.values("down + x"));
    }

    let mut whole = Model::new(sizes).unwrap();
    let trace = whole.prefill(&ids, 0).unwrap();
    // The rows of a product do not depend on the number of them.
    assert_eq!(
        model.cache.keys.to_host().unwrap(),
        whole.cache.keys.to_host().unwrap()
    );
    assert_eq!(
        model.cache.values.to_host().unwrap(),
        whole.cache.values.to_host().unwrap()
    );
    // Both are within the limits of the reference, so they differ by at most twice these.
    let expected = Reference::new(&host).forward(&ids, None);
    for (name, found) in [("down + x", &rows[..]), ("scores", last.values("scores"))] {
        let result = expected.iter().find(|(step, _)| *step == name).unwrap();
        let other = trace.values(name);
        assert_eq!(found.len(), other.len());
        for ((a, b), limit) in found.iter().zip(other).zip(&result.1.data) {
            let allowed = 2.0 * limit.tolerance();
            assert!((a - b).abs() <= allowed, "{name}: {a} and {b}, {allowed}");
        }
    }
}

#[test]
fn one_token_and_three() {
    prompt_and_three(Sizes::SMALL, 1);
}

#[test]
fn five_tokens_and_three() {
    prompt_and_three(Sizes::SMALL, 5);
}

#[test]
fn thirty_three_tokens_and_three() {
    prompt_and_three(Sizes::SMALL, 33);
}

#[test]
fn ragged_sizes() {
    prompt_and_three(RAGGED, 7);
    prompt_and_three(RAGGED, 38);
}

/// A prompt in two parts: the second one has the cache of the first.
#[test]
fn a_prompt_in_parts() {
    let ids = tokens(21, Sizes::SMALL);
    let mut model = Model::new(Sizes::SMALL).unwrap();
    let host = Weights::random(Sizes::SMALL, 1);
    let mut judge = Judge::new(&host);
    for (from, to) in [(0, 8), (8, 21)] {
        let trace = model.prefill(&ids[from..to], from).unwrap();
        judge.check(&ids[from..to], &trace);
    }
}

/// One recorded step, launched for other tokens at other positions, computes what calls do.
#[test]
fn a_recorded_step() {
    let ids = tokens(9, Sizes::SMALL);
    let mut by_calls = Model::new(Sizes::SMALL).unwrap();
    by_calls.prefill(&ids[..6], 0).unwrap();
    let mut recorded = Model::new(Sizes::SMALL).unwrap();
    recorded.prefill(&ids[..6], 0).unwrap();

    let Model {
        device,
        stream,
        weights,
        mut cache,
        ..
    } = recorded;
    let mut inputs = Inputs::new(&[0], 0, &device).unwrap();
    let mut graph = Graph::capture(&device, |stream| {
        let Output { rows, best, tokens } =
            decode_on(stream, &weights, &inputs, &mut cache, &mut ())?;
        let Inputs {
            ids,
            positions,
            length,
            ..
        } = &mut inputs;
        let Cache { keys, values } = &mut cache;
        Ok((
            (ids, positions, length),
            weights.tensors(),
            (keys, values),
            (rows, best, tokens),
        ))
    })
    .unwrap();
    for at in 6..9 {
        let next = Inputs::new(&ids[at..=at], at, &device).unwrap();
        let (id, position, length) = &mut graph.tensors_mut().0;
        id.copy_from(&next.ids).unwrap();
        position.copy_from(&next.positions).unwrap();
        length.copy_from(&next.length).unwrap();
        graph.launch(&stream).unwrap();

        let trace = by_calls.decode(ids[at], at).unwrap();
        let (rows, best, tokens) = &graph.tensors().3;
        let wide = |v: &croq_sys::half::bf16| f64::from(*v);
        let rows: Vec<f64> = rows
            .to_host()
            .unwrap()
            .as_slice()
            .iter()
            .map(wide)
            .collect();
        assert_eq!(rows, trace.values("down + x"));
        let best = best.to_host().unwrap().into_vec();
        assert_eq!(
            best.into_iter().map(f64::from).collect::<Vec<_>>(),
            trace.values("best scores")
        );
        let tokens = tokens.to_host().unwrap().into_vec();
        assert_eq!(
            tokens.into_iter().map(f64::from).collect::<Vec<_>>(),
            trace.values("best tokens")
        );
    }
    drop(graph);
    assert_eq!(
        cache.keys.to_host().unwrap(),
        by_calls.cache.keys.to_host().unwrap()
    );
}

fn decode_with(change: impl FnOnce(&mut DeviceWeights, &Device)) -> Error {
    let mut model = Model::new(Sizes::SMALL).unwrap();
    change(&mut model.weights, &model.device);
    model.decode(1, 0).err().unwrap()
}

/// The kernel, parameter and axis of a mismatch, the expected extent and the one that was found.
#[track_caller]
fn mismatch(error: Error) -> ((&'static str, &'static str, usize), usize, usize) {
    match error {
        Error::ShapeMismatch {
            kernel,
            param,
            axis,
            expected,
            found,
            ..
        } => ((kernel, param, axis), expected, found),
        other => panic!("{other}"),
    }
}

#[test]
fn wrong_shapes_are_typed_errors() {
    let other = Weights::random(RAGGED, 1);
    let error = decode_with(|weights, device| {
        weights.norm_before = other.norm_before.to_device(device).unwrap();
    });
    assert_eq!(mismatch(error), (("rms_norm<bf16>", "weight", 0), 256, 200));

    let error = decode_with(|weights, device| {
        weights.output = other.output.to_device(device).unwrap();
    });
    assert_eq!(
        mismatch(error),
        (("linear_plus<bf16, 16>", "weights", 1), 256, 384)
    );
    // Heads that the row of queries does not have.
    let error = decode_with(|weights, _| weights.sizes.heads = 3);
    assert!(matches!(error, Error::Length { .. }), "{error}");
    // A scale for each 64 weights, and the number says 128.
    let error = decode_with(|weights, _| weights.sizes.scaled = 128);
    let Error::Check {
        kernel, message, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(kernel, "matmul_weights<bf16>");
    assert!(message.contains("a scale for each group"), "{message}");
}

/// A token that does not exist, one more than the cache has place for, and none.
#[test]
fn wrong_tokens_are_typed_errors() {
    let outside = |id, at| {
        let mut model = Model::new(Sizes::SMALL).unwrap();
        let error = model.decode(id, at).err().unwrap();
        let Error::Check {
            kernel,
            code,
            file,
            values,
            ..
        } = error
        else {
            panic!("{error}");
        };
        let file = file.rsplit('/').next().unwrap().to_owned();
        ((kernel, code), file, values[0])
    };
    let expected = (("embedding<bf16>", "R12"), "embedding.co".to_owned(), 500);
    assert_eq!(outside(500, 0), expected);
    let full = Sizes::SMALL.cache;
    let expected = (("append<bf16, 64>", "R12"), "cache.co".to_owned(), 48);
    assert_eq!(outside(1, full), expected);

    let mut model = Model::new(Sizes::SMALL).unwrap();
    let error = model.prefill(&[], 0).err().unwrap();
    let Error::ZeroExtent { kernel, param, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((kernel, param), ("append<bf16, 64>", "keys"));
}
