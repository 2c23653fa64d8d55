// SPDX-License-Identifier: Apache-2.0
//! Network namespaces: naming one, entering it, and finding it again later.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail, Context, Result};
use nix::sched::{setns, CloneFlags};

const NAMED: &str = "/run/netns";
const SO_NETNS_COOKIE: libc::c_int = 71;

/// An open network namespace. The whole process (it has one thread) moves by [`Netns::enter`].
pub struct Netns {
    /// As the user named it; the PID of this process never appears.
    pub label: String,
    pub path: PathBuf,
    pub inode: u64,
    file: File,
}

impl Netns {
    /// Opens what `--netns` names: a name under /run/netns, `pid:N`, or the current namespace.
    pub fn open(name: Option<&str>) -> Result<Self> {
        let Some(name) = name else {
            return Self::open_path("current", Path::new("/proc/self/ns/net"))
                .context("open the current network namespace");
        };
        if let Some(pid) = name.strip_prefix("pid:") {
            let Ok(pid) = pid.parse::<u32>() else {
                bail!("--netns {name}: {pid:?} is not a process id");
            };
            return Self::open_path(name, &PathBuf::from(format!("/proc/{pid}/ns/net")))
                .map_err(|error| refusal(name, "no such process", &error));
        }
        if name.is_empty() || name.contains('/') {
            bail!("--netns {name:?}: give a name under {NAMED}, or pid:N");
        }
        Self::open_path(name, &Path::new(NAMED).join(name))
            .map_err(|error| refusal(name, "no such namespace (see `ip netns list`)", &error))
    }

    /// The namespace with this inode and cookie, wherever it can be reached now; `None` if it is gone.
    pub fn find(path: &Path, inode: u64, cookie: u64) -> Option<Self> {
        let known = std::iter::once(path.to_path_buf());
        let named = fs::read_dir(NAMED).into_iter().flatten().flatten().map(|entry| entry.path());
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let of_processes = processes.map(|entry| entry.path().join("ns/net"));
        known
            .chain(named)
            .chain(of_processes)
            .filter(|path| fs::metadata(path).is_ok_and(|metadata| metadata.ino() == inode))
            .filter_map(|path| Self::open_path("", &path).ok())
            .find(|netns| {
                netns.inode == inode && netns.enter().and_then(|()| cookie_here()).ok() == Some(cookie)
            })
    }

    pub fn enter(&self) -> Result<()> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).context("enter the network namespace")
    }

    fn open_path(label: &str, path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let inode = file.metadata()?.ino();
        Ok(Self { label: label.to_owned(), path: path.to_path_buf(), inode, file })
    }
}

/// Why a namespace cannot be opened: `missing` if it is not there, else what the kernel says.
fn refusal(name: &str, missing: &str, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::NotFound => anyhow!("--netns {name}: {missing}"),
        _ => anyhow!("--netns {name}: {error}"),
    }
}

/// Cookie of the current namespace: a number that is never used again.
pub fn cookie_here() -> Result<u64> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").or_else(|_| std::net::UdpSocket::bind("[::]:0"))?;
    let mut cookie = 0u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into `cookie`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &mut length,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error()).context("read the namespace cookie");
    }
    Ok(cookie)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str) -> String {
        match Netns::open(Some(name)) {
            Ok(_) => panic!("{name} was accepted"),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn refuses_what_is_no_namespace() {
        assert!(refused("pid:x").contains("is not a process id"));
        assert!(refused("pid:4294967295").contains("no such process"));
        assert!(refused("../proc").contains("give a name"));
        assert!(refused("no-such-namespace").contains("no such namespace"));
    }

    #[test]
    fn tells_missing_from_forbidden() {
        let forbidden = io::Error::from_raw_os_error(libc::EACCES);
        let shown = refusal("pid:1", "no such process", &forbidden).to_string();
        assert_eq!(shown, "--netns pid:1: Permission denied (os error 13)");
        let missing = io::Error::from_raw_os_error(libc::ENOENT);
        let shown = refusal("pid:9", "no such process", &missing).to_string();
        assert_eq!(shown, "--netns pid:9: no such process");
    }
}
