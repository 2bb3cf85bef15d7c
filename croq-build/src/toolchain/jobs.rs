//! Runs compilers in parallel, within the job limit of cargo.
//!
//! Cargo passes its job slots to build scripts as a GNU make jobserver: a pipe with one byte per
//! free slot. This process already has one slot; every further compiler first reads a byte from the
//! pipe and writes the same byte back when it has finished. Without a jobserver (or on a system
//! where the pipe cannot be reopened) tasks run sequentially, so that a build never uses more slots
//! than it has.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::environment::Environment;
use crate::parallel::Queue;

/// The time between two attempts to get a slot.
const RETRY: Duration = Duration::from_millis(10);

/// The job slots that this process may take in addition to its own.
pub struct Slots {
    pipe: Option<Pipe>,
}

struct Pipe {
    take: File,
    give: File,
}

/// A slot that was taken; dropping it returns it.
struct Slot<'a> {
    pipe: &'a Pipe,
    token: [u8; 1],
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        // A broken pipe is ignored: cargo itself has ended.
        let _ = (&self.pipe.give).write_all(&self.token);
    }
}

impl Slots {
    pub fn of_cargo(env: &Environment) -> Self {
        let pipe = ["CARGO_MAKEFLAGS", "MAKEFLAGS"]
            .iter()
            .filter_map(|name| env.undeclared(name))
            .find_map(|flags| Pipe::open(&flags.to_string_lossy()));
        Self { pipe }
    }

    /// Runs `work` on every item and returns the results in the order of the items.
    pub fn run<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let queue = Queue::new(items);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            if let Some(pipe) = &self.pipe {
                for _ in 1..items.len().min(cores) {
                    scope.spawn(|| {
                        // Waits for a slot only while there is work for it: two build scripts that
                        // block on each other's slots would deadlock.
                        while !queue.is_empty() {
                            match pipe.slot() {
                                Ok(Some(_slot)) => {
                                    queue.work_on_one(&work);
                                }
                                Ok(None) => std::thread::sleep(RETRY),
                                Err(_) => return,
                            }
                        }
                    });
                }
            }
            while queue.work_on_one(&work) {}
        });
        queue.into_results()
    }
}

impl Pipe {
    /// Reads `--jobserver-auth=fifo:PATH` or `--jobserver-auth=READ,WRITE` (the older
    /// `--jobserver-fds` alike).
    fn open(flags: &str) -> Option<Self> {
        let auth = flags.split_whitespace().rev().find_map(|flag| {
            flag.strip_prefix("--jobserver-auth=")
                .or_else(|| flag.strip_prefix("--jobserver-fds="))
        })?;
        let (take, give) = match auth.strip_prefix("fifo:") {
            Some(path) => (PathBuf::from(path), PathBuf::from(path)),
            None => {
                let (take, give) = auth.split_once(',')?;
                (descriptor(take)?, descriptor(give)?)
            }
        };
        Some(Self {
            take: open_pipe(&take, unblocking(OpenOptions::new().read(true))?)?,
            give: open_pipe(&give, OpenOptions::new().write(true))?,
        })
    }

    /// A free slot, or `None` if all are currently taken.
    fn slot(&self) -> std::io::Result<Option<Slot<'_>>> {
        let mut token = [0];
        match (&self.take).read(&mut token) {
            Ok(1) => Ok(Some(Slot { pipe: self, token })),
            Ok(_) => Err(ErrorKind::UnexpectedEof.into()),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }
}

/// The path of an inherited descriptor in the file system, which makes opening it safe.
fn descriptor(number: &str) -> Option<PathBuf> {
    let number: u32 = number.parse().ok()?;
    Some(PathBuf::from(format!("/dev/fd/{number}")))
}

/// Makes reads non-blocking. The pipe is opened again, so cargo's own end is not affected.
fn unblocking(options: &mut OpenOptions) -> Option<&mut OpenOptions> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // O_NONBLOCK, which std does not define.
        let flag = if cfg!(target_os = "linux") {
            0o4000
        } else {
            0x4
        };
        Some(options.custom_flags(flag))
    }
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    {
        let _ = options;
        None
    }
}

/// Opens the path if it is a pipe; the number may have been closed and reused for another file.
fn open_pipe(path: &Path, options: &mut OpenOptions) -> Option<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if !path.metadata().ok()?.file_type().is_fifo() {
            return None;
        }
        options.open(path).ok()
    }
    #[cfg(not(unix))]
    {
        let _ = (path, options);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolchain::environment::tests::environment;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..20).collect();
        let slots = Slots { pipe: None };
        assert_eq!(
            slots.run(&items, |i| i * 2),
            items.iter().map(|i| i * 2).collect::<Vec<_>>()
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_empty_pipe_never_holds_up_the_end() {
        use std::process::Command;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fifo = folder.path().join("slots");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .expect("mkfifo runs")
                .success()
        );
        let _other_end = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&fifo)
            .expect("a pipe");
        let flags = format!("-j --jobserver-auth=fifo:{}", fifo.display());
        let slots = Slots {
            pipe: Pipe::open(&flags),
        };
        assert!(slots.pipe.is_some());
        assert_eq!(slots.run(&[1, 2, 3], |i| i * 2), vec![2, 4, 6]);
    }

    #[cfg(unix)]
    #[test]
    fn slots_are_taken_from_the_pipe_and_given_back() {
        use std::process::{Command, Stdio};
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fifo = folder.path().join("slots");
        let made = Command::new("mkfifo")
            .arg(&fifo)
            .stdout(Stdio::null())
            .status();
        assert!(made.expect("mkfifo runs").success());
        // Both ends remain open here, as in cargo.
        let mut pipe = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&fifo)
            .expect("the pipe");
        pipe.write_all(b"x").expect("one free slot");

        let flags = format!("-j --jobserver-auth=fifo:{}", fifo.display());
        let slots = Slots::of_cargo(&environment(&[("CARGO_MAKEFLAGS", &flags)]));
        assert!(slots.pipe.is_some());
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let items: Vec<u32> = (0..8).collect();
        let done = slots.run(&items, |i| {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            running.fetch_sub(1, Ordering::SeqCst);
            *i
        });
        assert_eq!(done, items);
        assert!(
            most.load(Ordering::SeqCst) <= 2,
            "one slot of ours and one taken"
        );
        let mut token = [0];
        pipe.read_exact(&mut token).expect("the slot came back");
        assert_eq!(&token, b"x");
    }

    #[test]
    fn a_descriptor_that_is_no_pipe_is_left_alone() {
        for flags in [
            "--jobserver-auth=0,1000000",
            "--jobserver-auth=x,y",
            "--jobserver-auth=",
            "-j",
        ] {
            let slots = Slots::of_cargo(&environment(&[("CARGO_MAKEFLAGS", flags)]));
            assert!(slots.pipe.is_none(), "{flags}");
        }
    }
}
