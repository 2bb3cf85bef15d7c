//! What a kernel has executed on the PTX machine, from the JSON that `ptx-machine --count` writes.

use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// PTX instructions of warps, without moves between registers, of which ptxas makes none.
    pub instructions: u64,
    /// Those moves.
    pub moves: u64,
    /// Of the instructions, those of the units for special functions.
    pub special: u64,
    /// Of 32 bytes in global memory, by threads and by asynchronous copies.
    pub sectors: u64,
    /// Of shared memory, by threads.
    pub wavefronts: u64,
    /// Of tensor cores.
    pub multiply_adds: u64,
    /// Of the launch.
    pub blocks: u64,
    /// Of a block.
    pub threads: u64,
    /// Bytes of shared memory of a block.
    pub shared: u64,
}

impl Counts {
    /// Of all kernels of a file.
    ///
    /// # Errors
    ///
    /// The text is not what the machine writes.
    pub fn parse(text: &str) -> Result<Counts, String> {
        let profiles: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let profiles = profiles.as_array().filter(|profiles| !profiles.is_empty());
        let mut counts = Counts::default();
        for profile in profiles.ok_or("no kernel has been executed")? {
            for (name, class) in members(profile, "classes")? {
                let warps = number(class, "/warps")?;
                match name.as_str() {
                    "moves" => counts.moves += warps,
                    _ => counts.instructions += warps,
                }
                if name == "special functions" {
                    counts.special += warps;
                }
                counts.sectors += number(class, "/global/sectors")?;
                counts.wavefronts += number(class, "/shared/wavefronts")?;
            }
            for (_, product) in members(profile, "products")? {
                counts.multiply_adds += number(product, "/multiply_adds")?;
            }
            counts.blocks += number(profile, "/blocks")?;
            counts.threads = counts.threads.max(number(profile, "/threads")?);
            counts.shared = counts.shared.max(number(profile, "/shared")?);
        }
        Ok(counts)
    }
}

fn members<'a>(
    profile: &'a Value,
    name: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Value)>, String> {
    let object = profile.get(name).and_then(Value::as_object);
    Ok(object.ok_or_else(|| format!("no {name}"))?.iter())
}

fn number(value: &Value, at: &str) -> Result<u64, String> {
    let number = value.pointer(at).and_then(Value::as_u64);
    number.ok_or_else(|| format!("no number {at} in {value}"))
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn classes_and_kernels_are_added() {
        let kernel = r#"{"kernel": "k", "launches": 1, "blocks": 3, "threads": 64, "shared": 9, "classes": {
            "moves": {"warps": 4, "threads": 128, "global": {"requests": 0, "sectors": 0, "bytes": 0},
                "shared": {"requests": 0, "wavefronts": 0, "bytes": 0}},
            "special functions": {"warps": 1, "threads": 32, "global": {"requests": 0, "sectors": 0, "bytes": 0},
                "shared": {"requests": 0, "wavefronts": 0, "bytes": 0}},
            "loads": {"warps": 3, "threads": 96, "global": {"requests": 2, "sectors": 9, "bytes": 256},
                "shared": {"requests": 1, "wavefronts": 5, "bytes": 128}}},
            "products": {"wgmma": {"warps": 4, "multiply_adds": 8192}},
            "waits": {"mbarriers": 2, "barriers of the block": 7}}"#;
        let expected = Counts {
            instructions: 8,
            moves: 8,
            special: 2,
            sectors: 18,
            wavefronts: 10,
            multiply_adds: 16384,
            blocks: 6,
            threads: 64,
            shared: 9,
        };
        assert_eq!(
            Counts::parse(&format!("[{kernel}, {kernel}]")),
            Ok(expected)
        );
    }

    #[test]
    fn nothing_is_no_count_of_zero() {
        for text in ["", "[]", "{}", r#"[{"kernel": "k"}]"#] {
            assert!(Counts::parse(text).is_err(), "{text}");
        }
    }
}
