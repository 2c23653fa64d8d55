// SPDX-License-Identifier: Apache-2.0
//! Network namespaces: the own one, and another one by its inode.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, anyhow};
use nix::sched::{CloneFlags, setns};

/// Of the calling thread, not of the process: a thread may have moved.
const CURRENT: &str = "/proc/thread-self/ns/net";
/// Where iproute2 and Docker keep the namespaces that have names.
const NAMED: [&str; 2] = ["/run/netns", "/run/docker/netns"];

pub struct Namespace {
    inode: u64,
    file: File,
}

impl Namespace {
    pub fn current() -> Result<Self> {
        Self::open(Path::new(CURRENT))
    }

    /// `None` if no name and no process leads to it any more.
    pub fn find(inode: u64) -> Option<Self> {
        let named = NAMED.into_iter().flat_map(entries);
        let of_processes = entries("/proc").map(|process| process.join("ns/net"));
        std::iter::once(PathBuf::from(CURRENT))
            .chain(named)
            .chain(of_processes)
            .filter(|path| fs::metadata(path).is_ok_and(|metadata| metadata.ino() == inode))
            .find_map(|path| Self::open(&path).ok().filter(|found| found.inode == inode))
    }

    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Does something in the namespace; the calling thread stays where it is.
    pub fn run<T: Send>(&self, action: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        // Without CAP_SYS_ADMIN, as under systemd, a process may not even enter the namespace that it is in.
        if Self::current()?.inode == self.inode {
            return action();
        }
        let inside = || {
            setns(&self.file, CloneFlags::CLONE_NEWNET)
                .with_context(|| format!("enter network namespace {}; run as root", self.inode))?;
            action()
        };
        thread::scope(|scope| scope.spawn(inside).join())
            .unwrap_or_else(|_| Err(anyhow!("internal error in network namespace {}", self.inode)))
    }

    fn open(path: &Path) -> Result<Self> {
        let open = || {
            let file = File::open(path)?;
            let inode = file.metadata()?.ino();
            Ok::<_, std::io::Error>(Self { inode, file })
        };
        open().with_context(|| format!("open network namespace {}", path.display()))
    }
}

fn entries(directory: &str) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}
