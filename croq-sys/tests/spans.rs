//! Spans of calls and copies, with the feature `tracing`.

#![cfg(feature = "tracing")]

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use croq_sys::{Device, Graph, Stream, Tensor};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the names and fields of new spans.
#[derive(Clone, Default)]
struct Names(Arc<Mutex<Vec<String>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.push_str(&format!(" {field}={value:?}"));
    }
}

impl Subscriber for Names {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "croq"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(span.metadata().name().to_owned());
        span.record(&mut text);
        self.0.lock().unwrap().push(text.0);
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn copies_and_launches_are_spans() {
    let names = Names::default();
    tracing::subscriber::with_default(names.clone(), || {
        let device = Device::sim();
        let x = Tensor::<f32, _>::zeros((4,)).to_device(&device).unwrap();
        let mut graph = Graph::capture(&device, |_| x.try_clone()).unwrap();
        graph.launch(&Stream::new(&device).unwrap()).unwrap();
        x.to_host().unwrap();
    });
    let expected = [
        "copy direction=\"to\" bytes=16 device=sim",
        "copy direction=\"on\" bytes=16 device=sim",
        "graph device=sim",
        "copy direction=\"from\" bytes=16 device=sim",
    ];
    assert_eq!(*names.0.lock().unwrap(), expected);
}
