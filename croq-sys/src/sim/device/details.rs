//! The accesses of elements, from the time on when every access is reported to the runtime.

use std::collections::HashMap;

use super::sync::Detail;

/// The number of a buffer and an element of it, or [`ANYWHERE`] and an address.
pub(super) type At = (u32, u64);

/// Replaces a buffer's number: then the other number is an address.
pub(super) const ANYWHERE: u32 = u32::MAX;

/// The number of elements whose memory is allocated together: a block mostly writes many elements
/// that follow each other.
const PAGE: usize = 64;

type Page = Option<Box<[Detail; PAGE]>>;

struct Pages {
    /// The number of elements.
    count: usize,
    /// Empty before the first access.
    pages: Vec<Page>,
}

pub(super) struct Details {
    buffers: Vec<Pages>,
    elsewhere: HashMap<u64, Detail>,
}

impl Details {
    /// For buffers of these numbers of elements.
    pub(super) fn new(counts: impl Iterator<Item = usize>) -> Self {
        let none = |count| Pages {
            count,
            pages: Vec::new(),
        };
        Self {
            buffers: counts.map(none).collect(),
            elsewhere: HashMap::new(),
        }
    }

    fn buffer(&mut self, (buffer, element): At) -> Option<(&mut Pages, usize)> {
        let element = usize::try_from(element).ok()?;
        let pages = self.buffers.get_mut(buffer as usize)?;
        (element < pages.count).then_some((pages, element))
    }

    /// What is recorded of an element; `None` before its first access.
    pub(super) fn get_mut(&mut self, at: At) -> Option<&mut Detail> {
        if at.0 == ANYWHERE {
            return self.elsewhere.get_mut(&at.1);
        }
        let (buffer, element) = self.buffer(at)?;
        let page = buffer.pages.get_mut(element / PAGE)?;
        page.as_mut()?.get_mut(element % PAGE)
    }

    /// A place for what is recorded of an element; `None` if there is no such element.
    pub(super) fn place(&mut self, at: At) -> Option<&mut Detail> {
        if at.0 == ANYWHERE {
            return Some(self.elsewhere.entry(at.1).or_default());
        }
        let (buffer, element) = self.buffer(at)?;
        if buffer.pages.is_empty() {
            let count = buffer.count.div_ceil(PAGE);
            buffer.pages.resize_with(count, Page::default);
        }
        let page = buffer.pages.get_mut(element / PAGE)?;
        page.get_or_insert_with(|| Box::new(std::array::from_fn(|_| Detail::default())))
            .get_mut(element % PAGE)
    }
}
