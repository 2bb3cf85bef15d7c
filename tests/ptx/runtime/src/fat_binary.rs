//! Fat binaries: the containers in which nvcc embeds code in a program.
//!
//! The layout is not documented. What is read here was found in the output of nvcc 13.0: a header of
//! 16 bytes (magic number, version, header size, size of the entries), then entries with a header of
//! their own (kind, version, header size, size, size when compressed, …, architecture, …, flags). A
//! container is refused unless all of that is as it was found.

use std::fmt;

const MAGIC: u32 = 0xba55_ed50;
pub const HEADER_BYTES: usize = 16;

const PTX: u16 = 1;
const MACHINE_CODE: u16 = 2;

/// Flags of compressed entries.
const LZ4: u64 = 0x2000;
const ZSTANDARD: u64 = 0x8000;

/// A container that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the fat binary cannot be read: {}", self.0)
    }
}

fn fault<T>(text: impl Into<String>) -> Result<T, Fault> {
    Err(Fault(text.into()))
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let found = bytes.get(at..at + width).unwrap_or(&[]);
    found
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// The size of a container, from its first [`HEADER_BYTES`].
pub fn size(header: &[u8]) -> Result<usize, Fault> {
    if number(header, 0, 4) != u64::from(MAGIC) {
        return fault("it does not begin with the magic number");
    }
    if (number(header, 4, 2), number(header, 6, 2)) != (1, HEADER_BYTES as u64) {
        return fault("its version is unknown");
    }
    match usize::try_from(number(header, 8, 8)) {
        Ok(entries) if entries < 1 << 40 => Ok(HEADER_BYTES + entries),
        _ => fault("its size is impossible"),
    }
}

/// The PTX texts of a container.
pub fn texts(container: &[u8]) -> Result<Vec<String>, Fault> {
    let size = size(container)?;
    if container.len() < size {
        return fault("it ends too early");
    }
    let mut rest = &container[HEADER_BYTES..size];
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let (header, length) = (number(rest, 4, 4) as usize, number(rest, 8, 8));
        let end = usize::try_from(length)
            .ok()
            .and_then(|n| n.checked_add(header));
        let entry = end.and_then(|end| rest.get(header..end));
        let Some(entry) = entry.filter(|_| header >= 0x40) else {
            return fault("an entry ends outside of it");
        };
        let flags = number(rest, 0x28, 8);
        match number(rest, 0, 2) as u16 {
            MACHINE_CODE => {}
            PTX if flags & LZ4 != 0 => {
                return fault("its PTX is compressed with LZ4: compile with --compress-mode=none");
            }
            PTX if flags & ZSTANDARD != 0 || number(rest, 0x10, 4) != 0 => {
                return fault("its PTX is compressed: compile with --compress-mode=none");
            }
            PTX => {
                let end = entry.iter().position(|byte| *byte == 0);
                let text = &entry[..end.unwrap_or(entry.len())];
                texts.push(String::from_utf8_lossy(text).into_owned());
            }
            kind => return fault(format!("an entry has the unknown kind {kind}")),
        }
        rest = &rest[header + entry.len()..];
    }
    Ok(texts)
}

/// The text for the device: the one of its own architecture, or else of the newest before it. A
/// text for `sm_90a` runs on compute capability 9.0 only; one for `sm_80` on all later ones.
pub fn choose(texts: Vec<String>, architecture: u32) -> Option<(u32, String)> {
    let rated = texts.into_iter().filter_map(|text| {
        let target = target(&text)?;
        let digits = target.trim_end_matches(char::is_alphabetic);
        let number: u32 = digits.parse().ok()?;
        let is_specific = digits.len() < target.len();
        let fits = number <= architecture && (!is_specific || number == architecture);
        fits.then_some((number, is_specific, text))
    });
    let best = rated.max_by_key(|(number, is_specific, _)| (*number, *is_specific))?;
    Some((best.0, best.2))
}

/// What follows `.target sm_`.
fn target(text: &str) -> Option<&str> {
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(".target"))?;
    let name = line.trim().split(',').next()?;
    name.trim().strip_prefix("sm_")
}

#[cfg(test)]
mod tests {
    use super::{choose, texts};

    fn container(entries: &[(u16, u64, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, flags, bytes) in entries {
            let start = body.len();
            body.extend(kind.to_le_bytes());
            body.extend(0x101_u16.to_le_bytes());
            body.extend(0x50_u32.to_le_bytes());
            body.extend((bytes.len() as u64).to_le_bytes());
            body.resize(start + 0x28, 0);
            body.extend(flags.to_le_bytes());
            body.resize(start + 0x50, 0);
            body.extend(*bytes);
        }
        let mut all = vec![0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0];
        all.extend((body.len() as u64).to_le_bytes());
        all.extend(body);
        all
    }

    #[test]
    fn texts_are_found_beside_machine_code() {
        let found = container(&[
            (2, 0x11, b"code"),
            (1, 0x11, b".version 9.0\0\0"),
            (1, 0, b"b"),
        ]);
        assert_eq!(texts(&found).unwrap(), [".version 9.0", "b"]);
        assert!(texts(&container(&[])).unwrap().is_empty());
    }

    #[test]
    fn compressed_and_broken_containers_are_refused() {
        let refused = |bytes: &[u8]| texts(bytes).unwrap_err().to_string();
        assert!(refused(&container(&[(1, 0x2011, b"a")])).contains("LZ4"));
        assert!(refused(&container(&[(1, 0x8011, b"a")])).contains("compressed"));
        assert!(refused(&container(&[(16, 0x11, b"a")])).contains("kind 16"));
        assert!(refused(&[0; 16]).contains("magic"));
        let whole = container(&[(1, 0, b"text")]);
        assert!(refused(&whole[..whole.len() - 1]).contains("early"));
        let mut long = whole.clone();
        long[24] = 200;
        assert!(refused(&long).contains("outside"));
        let mut other = whole;
        other[4] = 2;
        assert!(refused(&other).contains("version"));
    }

    #[test]
    fn the_text_for_the_device_is_chosen() {
        let chosen = |targets: &[&str]| {
            let texts = targets
                .iter()
                .map(|name| format!("//\n.version 9.0\n.target {name}\n"));
            choose(texts.collect(), 90).map(|(number, text)| {
                let line = text.lines().nth(2).map(str::to_owned);
                (number, line.unwrap_or_default().replace(".target ", ""))
            })
        };
        let some = |number, name: &str| Some((number, name.to_owned()));
        assert_eq!(chosen(&["sm_80", "sm_90a"]), some(90, "sm_90a"));
        assert_eq!(chosen(&["sm_90a", "sm_90"]), some(90, "sm_90a"));
        assert_eq!(chosen(&["sm_80, debug", "sm_75"]), some(80, "sm_80, debug"));
        assert_eq!(chosen(&["sm_100", "sm_100a", "sm_80"]), some(80, "sm_80"));
        assert_eq!(chosen(&["sm_100a"]), None);
        assert_eq!(chosen(&["sm_89a"]), None);
    }
}
