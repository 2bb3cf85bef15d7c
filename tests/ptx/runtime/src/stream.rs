//! Streams: queues of work, each executed by a thread of its own.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::code::Done;
use crate::memory::locked;

pub type Work = Box<dyn FnOnce() + Send>;

/// Work of a graph, which is executed at each launch of it.
pub type Recorded = Arc<dyn Fn() -> Done + Send + Sync>;

pub struct Stream {
    /// Ordered with the default stream.
    pub is_blocking: bool,
    /// The work so far while the stream captures a graph.
    pub captured: Mutex<Option<Vec<Recorded>>>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<(Vec<Point>, Work)>,
    issued: u64,
    done: u64,
    has_thread: bool,
    is_closed: bool,
}

/// The end of work in a stream.
#[derive(Clone)]
pub struct Point {
    stream: Arc<Stream>,
    number: u64,
}

impl Point {
    pub fn is_over(&self) -> bool {
        locked(&self.stream.queue).done >= self.number
    }

    pub fn wait(&self) {
        let mut queue = locked(&self.stream.queue);
        while queue.done < self.number {
            queue = self
                .stream
                .changed
                .wait(queue)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Stream {
    pub fn new(is_blocking: bool) -> Arc<Stream> {
        Arc::new(Stream {
            is_blocking,
            captured: Mutex::default(),
            queue: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Enqueues work that begins after those points, too. Its thread begins with the first work.
    pub fn push(self: &Arc<Self>, after: Vec<Point>, work: Work) -> Point {
        let mut queue = locked(&self.queue);
        queue.items.push_back((after, work));
        queue.issued += 1;
        let number = queue.issued;
        if !queue.has_thread {
            let stream = self.clone();
            let thread = std::thread::Builder::new().name("stream".to_owned());
            queue.has_thread = thread.spawn(move || stream.serve()).is_ok();
        }
        let has_thread = queue.has_thread;
        drop(queue);
        self.changed.notify_all();
        if !has_thread {
            // The system has no thread left: the work is done here.
            self.do_all();
        }
        Point {
            stream: self.clone(),
            number,
        }
    }

    /// The end of all work so far.
    pub fn end(self: &Arc<Self>) -> Point {
        Point {
            stream: self.clone(),
            number: locked(&self.queue).issued,
        }
    }

    /// The thread ends after the work that is enqueued.
    pub fn close(&self) {
        locked(&self.queue).is_closed = true;
        self.changed.notify_all();
    }

    fn serve(&self) {
        loop {
            self.do_all();
            let mut queue = locked(&self.queue);
            while queue.items.is_empty() {
                if queue.is_closed {
                    queue.has_thread = false;
                    return;
                }
                queue = self
                    .changed
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn do_all(&self) {
        loop {
            let next = locked(&self.queue).items.pop_front();
            let Some((after, work)) = next else { return };
            after.iter().for_each(Point::wait);
            work();
            locked(&self.queue).done += 1;
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stream;
    use std::sync::mpsc;

    #[test]
    fn work_is_done_in_order_and_after_other_streams() {
        let (a, b) = (Stream::new(false), Stream::new(false));
        let (send, receive) = mpsc::channel();
        let (open, gate) = mpsc::channel::<()>();
        let sent = send.clone();
        let first = a.push(
            Vec::new(),
            Box::new(move || {
                gate.recv().unwrap();
                sent.send(1).unwrap();
            }),
        );
        let sent = send.clone();
        let last = b.push(vec![first.clone()], Box::new(move || sent.send(2).unwrap()));
        let idle = Stream::new(true);
        assert!(idle.end().is_over() && !first.is_over() && !last.is_over());
        open.send(()).unwrap();
        last.wait();
        assert!(first.is_over() && b.end().is_over());
        assert_eq!(receive.try_iter().collect::<Vec<_>>(), [1, 2]);
        a.close();
        b.close();
    }
}
