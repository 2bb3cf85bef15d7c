//! Brings the objects of a package up to date, all in parallel.

use std::path::PathBuf;

use super::Unit;
use super::cache::Entry;
use super::compile::{Compilers, Failed, Job, Object, Twin};
use super::environment::Environment;
use super::findings::{Failures, Findings};
use super::headers;
use super::jobs::Slots;
use super::outputs::Outputs;

/// The objects of a package.
#[derive(Default)]
pub struct Objects {
    /// In the order of the units.
    pub files: Vec<FileObjects>,
    /// Croq's own, which gives the CUDA runtime to croq-sys.
    pub cuda_runtime: Option<Object>,
}

/// All objects of one `.co` file.
#[derive(Default)]
pub struct FileObjects {
    pub objects: Vec<(Twin, Object)>,
    /// See [`super::canonical::moved_lines`].
    pub moved: Vec<(u32, u32)>,
}

impl Objects {
    pub fn all(&self) -> impl Iterator<Item = &Object> {
        let files = self.files.iter().flat_map(|file| &file.objects);
        files.map(|(_, object)| object).chain(&self.cuda_runtime)
    }

    /// Takes the objects of every file from the cache or builds them, reporting all that fails.
    pub fn bring_up_to_date(
        compilers: &Compilers<'_>,
        units: &[Unit],
        device_paths: &[PathBuf],
        outputs: &mut Outputs,
        env: &Environment,
    ) -> Result<Self, Findings> {
        let twins: &[Twin] = if compilers.cuda.is_some() {
            &[Twin::Sim, Twin::Cuda]
        } else {
            &[Twin::Sim]
        };
        let mut entries = Vec::new();
        for unit in units {
            for twin in twins {
                let stem = format!("build/{}.{}", unit.module.file_stem(), twin.name());
                entries.push(Entry::new(outputs, &stem)?);
            }
        }
        let mut jobs: Vec<Job<'_>> = units
            .iter()
            .zip(device_paths)
            .flat_map(|(unit, path)| twins.iter().map(move |twin| (unit, path, *twin)))
            .zip(&entries)
            .map(|((unit, path, twin), entry)| Job {
                twin,
                entry,
                device_path: path,
                device_text: &unit.device,
                header_text: &unit.header,
                co_folder: &unit.folder,
                co_path: &unit.path,
            })
            .collect();
        let runtime_path = outputs.write("include/cuda/runtime.cu", headers::CUDA_RUNTIME)?;
        let runtime_entry = Entry::new(outputs, "build/runtime.cuda")?;
        if compilers.cuda.is_some() {
            jobs.push(Job {
                twin: Twin::Cuda,
                entry: &runtime_entry,
                device_path: &runtime_path,
                device_text: headers::CUDA_RUNTIME,
                header_text: "",
                co_folder: compilers.include,
                co_path: "",
            });
        }
        let slots = Slots::of_cargo(env);
        let mut results = slots.run(&jobs, |job| compilers.object(job));
        let runtime = results
            .split_off((units.len() * twins.len()).min(results.len()))
            .pop();

        // Wrappers have one table of moved lines, so the twins must have been built from texts with
        // the same lines; where they were not, those that have moved are built again.
        let again: Vec<usize> = disagreeing(&results, twins.len());
        let rebuilt = slots.run(&again, |position| {
            let job = jobs.get(*position)?;
            Some(compilers.build(job, compilers.key(job)))
        });
        for (position, result) in again.into_iter().zip(rebuilt) {
            if let (Some(place), Some(result)) = (results.get_mut(position), result) {
                *place = result;
            }
        }

        let mut failures = Failures::new(units);
        let mut objects = Self::default();
        let mut results = results.into_iter();
        for index in 0..units.len() {
            let mut file = FileObjects::default();
            for (twin, result) in twins.iter().zip(results.by_ref()) {
                match result {
                    Err(failed) => failures.add(Some(index), *twin, failed),
                    Ok(object) => {
                        file.moved.clone_from(&object.moved);
                        file.objects.push((*twin, object));
                    }
                }
            }
            objects.files.push(file);
        }
        match runtime {
            Some(Err(failed)) => failures.add(None, Twin::Cuda, failed),
            Some(Ok(object)) => objects.cuda_runtime = Some(object),
            None => {}
        }
        failures.none().map(|()| objects)
    }
}

/// Positions of reused objects whose lines have moved otherwise than their twin's.
fn disagreeing(results: &[Result<Object, Failed>], twins: usize) -> Vec<usize> {
    let mut positions = Vec::new();
    for (group, results) in results.chunks(twins).enumerate() {
        let moved = |result: &Result<Object, Failed>| {
            result.as_ref().ok().map(|object| object.moved.clone())
        };
        let first = results.first().and_then(moved);
        if results.iter().any(|result| moved(result) != first) {
            let movers = results
                .iter()
                .enumerate()
                .filter(|(_, result)| result.as_ref().is_ok_and(|object| !object.moved.is_empty()));
            positions.extend(movers.map(|(at, _)| group * twins + at));
        }
    }
    positions
}
