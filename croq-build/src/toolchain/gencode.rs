//! The code that nvcc generates for the target GPUs.

use crate::target::Arch;

/// nvcc's `-gencode` values: machine code for each architecture, and PTX of the lowest portable
/// one, with which newer GPUs can run the kernels.
pub fn gencode(archs: &[Arch]) -> Vec<String> {
    let floor = archs.iter().filter(|arch| arch.is_portable()).min();
    archs
        .iter()
        .map(|arch| {
            let digits = arch.digits();
            let ptx = if Some(arch) == floor {
                format!(",compute_{digits}")
            } else {
                String::new()
            };
            format!("arch=compute_{digits},code=[sm_{digits}{ptx}]")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_comes_from_the_lowest_portable_class() {
        assert_eq!(
            gencode(&Arch::DEFAULT),
            [
                "arch=compute_80,code=[sm_80,compute_80]",
                "arch=compute_90a,code=[sm_90a]"
            ]
        );
    }
}
