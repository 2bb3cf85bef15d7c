//! What `shapes.txt` lists.

/// One line of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    pub kind: String,
    pub elem: String,
    pub sizes: Vec<usize>,
}

/// All lines that are no comments.
pub fn listed(text: &str) -> Result<Vec<Shape>, String> {
    let lines = text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'));
    lines
        .map(|line| read(line).ok_or_else(|| format!("shapes.txt: what is `{line}`?")))
        .collect()
}

/// One shape for each kind and type, and each dimension of attention, as small as says something.
pub fn small(all: Vec<Shape>) -> Vec<Shape> {
    let mut few: Vec<Shape> = Vec::new();
    for mut shape in all {
        let dimension = shape.sizes.last().copied().unwrap_or(1);
        shape.sizes = match shape.kind.as_str() {
            "gemm" => vec![80, 72, 64],
            _ => vec![2, 70, dimension],
        };
        if !few.contains(&shape) {
            few.push(shape);
        }
    }
    few
}

fn read(line: &str) -> Option<Shape> {
    let mut words = line.split(' ').map(str::to_owned);
    let (kind, elem) = (words.next()?, words.next()?);
    let sizes: Result<Vec<usize>, _> = words.map(|word| word.parse()).collect();
    let sizes = sizes.ok().filter(|sizes| !sizes.contains(&0))?;
    Some(Shape { kind, elem, sizes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_or_refused() {
        let read = listed("# so\n\ngemm f8 1 20 3\n").unwrap();
        let sizes = vec![1, 20, 3];
        let (kind, elem) = ("gemm".to_owned(), "f8".to_owned());
        assert_eq!(read, [Shape { kind, elem, sizes }]);
        assert!(listed("gemm f8 1 x").is_err());
        assert!(listed("gemm f8 0").is_err());
    }

    #[test]
    fn the_list_itself() {
        let all = listed(include_str!("../shapes.txt")).unwrap();
        let known = |s: &Shape| ["gemm", "attention", "causal"].contains(&s.kind.as_str());
        assert!(all.iter().all(|s| known(s) && s.sizes.len() == 3));
        assert!(all.len() > 15);
        // Three types of products; three attentions, twice.
        let few = small(all);
        assert_eq!(few.len(), 3 + 6);
        assert!(few.iter().all(|s| known(s) && s.sizes[1] < 100));
    }
}
