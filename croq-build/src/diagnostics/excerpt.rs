//! The lines of a file that one report shows; long lines are clipped around their marks.

use std::ops::Range;

/// Lines of at most this many bytes are shown unchanged.
const LONG: usize = 240;
/// In a longer line, the bytes that are shown before and after the beginning of a mark, and around
/// its end.
const BEFORE: usize = 40;
const BEHIND: usize = 80;
/// The longest mark in a long line.
const MARK: usize = 100;

/// A text with as many lines as the file has up to the last marked one. Lines without a mark are
/// empty.
pub struct Excerpt {
    pub text: String,
    /// The parts of clipped lines that are kept: their positions in the file and in this text.
    pieces: Vec<(Range<usize>, usize)>,
}

impl Excerpt {
    /// `None` if no marked line is long, so that the file itself can be shown. Shortens long marks;
    /// `starts` are the offsets at which lines begin.
    pub fn of(text: &str, starts: &[u32], marks: &mut [Range<usize>]) -> Option<Self> {
        let line_at = |at: usize| starts.partition_point(|start| *start as usize <= at).max(1) - 1;
        let range = |line: usize| {
            let start = starts.get(line).map_or(text.len(), |s| *s as usize);
            let next = starts.get(line + 1).map_or(text.len(), |s| *s as usize);
            let end = start + text.get(start..next).unwrap_or("").trim_end().len();
            start.min(text.len())..end.min(text.len())
        };
        let lines_of =
            |mark: &Range<usize>| line_at(mark.start)..=line_at(mark.end.max(mark.start + 1) - 1);
        if !marks
            .iter()
            .flat_map(&lines_of)
            .any(|line| range(line).len() > LONG)
        {
            return None;
        }
        for mark in marks.iter_mut() {
            let lines = lines_of(mark);
            if lines.start() == lines.end() && range(*lines.start()).len() > LONG {
                mark.end = boundary(text, mark.end.min(mark.start + MARK));
            }
        }
        let mut shown: Vec<usize> = marks.iter().flat_map(lines_of).collect();
        shown.sort_unstable();
        shown.dedup();
        let mut excerpt = Excerpt {
            text: String::new(),
            pieces: Vec::new(),
        };
        let mut next = 0;
        for line in shown {
            excerpt.text.extend(std::iter::repeat_n('\n', line - next));
            excerpt.line(text, range(line), marks);
            excerpt.text.push('\n');
            next = line + 1;
        }
        Some(excerpt)
    }

    fn line(&mut self, text: &str, line: Range<usize>, marks: &[Range<usize>]) {
        let mut windows: Vec<Range<usize>> = Vec::new();
        if line.len() <= LONG {
            windows.push(line.clone());
        } else {
            for at in marks.iter().flat_map(|m| [m.start, m.end]) {
                if line.start <= at && at <= line.end {
                    windows.push(at.saturating_sub(BEFORE)..at + BEHIND);
                }
            }
            windows.sort_by_key(|w| w.start);
        }
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for window in windows {
            let start = boundary(text, window.start.max(line.start));
            let end = boundary(text, window.end.min(line.end));
            match pieces.last_mut() {
                Some(last) if start <= last.end + 3 => last.end = last.end.max(end),
                _ => pieces.push(start..end),
            }
        }
        let mut reached = line.start;
        for piece in pieces {
            if piece.start > reached {
                self.text.push('…');
            }
            reached = piece.end;
            let kept = text.get(piece.clone()).unwrap_or("");
            self.pieces.push((piece, self.text.len()));
            self.text.push_str(kept);
        }
        if reached < line.end {
            self.text.push('…');
        }
    }

    /// The position in this text of a position in the file.
    pub fn place(&self, at: usize) -> usize {
        let after = self
            .pieces
            .partition_point(|(piece, _)| piece.start <= at)
            .max(1);
        match self.pieces.get(after - 1) {
            Some((piece, new)) => new + at.clamp(piece.start, piece.end) - piece.start,
            None => 0,
        }
    }

    /// The 1-based column of a position in this text, in characters.
    pub fn column(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or("");
        line.chars().count() + 1
    }
}

fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A message with the middle removed if it is very long.
pub fn short(text: &str) -> std::borrow::Cow<'_, str> {
    const MOST: usize = 600;
    if text.len() <= MOST {
        return text.into();
    }
    let head = text.get(..boundary(text, MOST * 2 / 3)).unwrap_or("");
    let tail = text
        .get(boundary(text, text.len() - MOST / 4)..)
        .unwrap_or("");
    format!("{head} … {tail}").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_clipped_around_each_mark() {
        let long = format!(
            "{}HERE{}THERE{}",
            "a".repeat(500),
            "b".repeat(600),
            "c".repeat(700)
        );
        let text = format!("first\nsecond\n{long}\nlast\n");
        let starts = [0, 6, 13, 13 + long.len() as u32 + 1];
        let here = text.find("HERE").expect("there");
        let there = text.find("THERE").expect("there");
        let mut marks = vec![here..here + 4, there..there + 5];
        let excerpt = Excerpt::of(&text, &starts, &mut marks).expect("a long line");
        assert!(excerpt.text.len() < 450, "{}", excerpt.text);
        assert!(excerpt.text.starts_with("\n\n…a"), "{}", excerpt.text);
        for (mark, word) in marks.iter().zip(["HERE", "THERE"]) {
            let (start, end) = (excerpt.place(mark.start), excerpt.place(mark.end));
            assert_eq!(excerpt.text.get(start..end), Some(word));
        }
        assert_eq!(excerpt.column(excerpt.place(here)), 42);
    }

    #[test]
    fn a_long_mark_is_cut() {
        let text = "é".repeat(4000);
        let mut marks = [std::ops::Range {
            start: 0,
            end: text.len(),
        }];
        let excerpt = Excerpt::of(&text, &[0], &mut marks).expect("a long line");
        assert!(excerpt.place(marks[0].end) <= 100 && excerpt.text.len() < 300);
    }

    #[test]
    fn short_lines_need_no_excerpt() {
        let mut marks = vec![0..3, 4..4];
        assert!(Excerpt::of("abc\nd\n", &[0, 4], &mut marks).is_none());
        assert!(Excerpt::of("", &[0], &mut [std::ops::Range { start: 0, end: 0 }]).is_none());
    }

    #[test]
    fn long_messages_lose_their_middle() {
        assert_eq!(short("plain"), "plain");
        let cut = short(&"x".repeat(100_000)).len();
        assert!(cut < 700, "{cut}");
    }
}
