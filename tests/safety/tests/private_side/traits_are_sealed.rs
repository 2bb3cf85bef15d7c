#![forbid(unsafe_code)]

use croq_sys::{Const, Dim, Dims, Element, HostData, HostDataMut, Same};

#[derive(Clone, Copy, PartialEq, Debug)]
struct Liar;

impl Dim for Liar {
    fn extent(self) -> usize {
        1 << 40
    }
}

impl Dims for Liar {
    const RANK: usize = 1;
    type Index = [usize; 1];
    type Dynamic = (usize,);
    type Ranges = [std::ops::Range<usize>; 1];
    fn dynamic([n]: [usize; 1]) -> (usize,) {
        (n,)
    }
    fn shape(&self) -> [usize; 1] {
        [1 << 40]
    }
}

impl HostData<u8> for Liar {
    fn elements(&self) -> &[u8] {
        &[]
    }
}

impl HostDataMut<u8> for Liar {
    fn elements_mut(&mut self) -> &mut [u8] {
        &mut []
    }
}

impl Same<Const<4>> for Liar {}

impl Element for &'static str {
    const NAME: &'static str = "s64";
    type Bound = u64;
}

fn main() {}
