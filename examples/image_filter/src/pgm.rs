//! Binary portable greymaps ("P5"), as every image program reads and writes them.

use std::error::Error;
use std::fs;
use std::path::Path;

use croq_sys::Tensor;

use crate::Picture;

pub fn read(path: &Path) -> Result<Picture, Box<dyn Error>> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    parse(&bytes).map_err(|what| format!("{}: {what}", path.display()).into())
}

fn parse(bytes: &[u8]) -> Result<Picture, Box<dyn Error>> {
    let mut rest = bytes
        .strip_prefix(b"P5")
        .ok_or("not a binary greymap (P5)")?;
    let mut number = || -> Result<usize, Box<dyn Error>> {
        loop {
            rest = rest.trim_ascii_start();
            match rest.first() {
                Some(b'#') => {
                    let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                    rest = &rest[end..];
                }
                _ => break,
            }
        }
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let (number, after) = rest.split_at(digits);
        rest = after;
        Ok(std::str::from_utf8(number)?.parse()?)
    };
    let (width, height, largest) = (number()?, number()?, number()?);
    if largest != 255 {
        return Err("only greymaps of 256 levels are read".into());
    }
    let pixels = rest.get(1..).unwrap_or_default();
    Ok(Tensor::from_vec((height, width), pixels.to_vec())?)
}

pub fn write(path: &Path, picture: &Picture) -> Result<(), Box<dyn Error>> {
    let [height, width] = picture.shape();
    let mut bytes = format!("P5\n{width} {height}\n255\n").into_bytes();
    bytes.extend_from_slice(picture.as_slice());
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()).into())
}
