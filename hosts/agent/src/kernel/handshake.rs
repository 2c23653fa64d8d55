// SPDX-License-Identifier: Apache-2.0
//! The handshake program, one for the machine, on the root of the cgroup2 tree.

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::kernel::objects;
use crate::kernel::pins::pin_of;

const LINK: &str = "handshake";

/// Loads, attaches and pins the handshake, unless it is.
pub fn load() -> Result<()> {
    if pin_of(LINK).exists() {
        return Ok(());
    }
    let cgroup = fs::File::open(cgroup_root()?).context("open the cgroup2 root")?;
    let object = objects::load(objects::open(objects::HANDSHAKE, "handshake")?, "handshake")?;
    let program = object.progs_mut().next().context("handshake without program")?;
    let mut link =
        program.attach_cgroup(cgroup.as_raw_fd()).context("attach the handshake to the cgroup2 root")?;
    link.pin(pin_of(LINK)).context("pin the handshake")
}

/// Where the cgroup2 tree is mounted: every process of the machine is below its root.
fn cgroup_root() -> Result<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").context("read /proc/self/mounts")?;
    find_cgroup2(&mounts).context("no cgroup2 tree mounted: mount -t cgroup2 none /sys/fs/cgroup/unified")
}

fn find_cgroup2(mounts: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (_, place, kind) = (words.next()?, words.next()?, words.next()?);
        (kind == "cgroup2").then(|| Path::new(place).to_path_buf())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_cgroup2_tree() {
        let hybrid =
            "cgroup /sys/fs/cgroup/cpu cgroup rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(find_cgroup2(hybrid), Some(PathBuf::from("/sys/fs/cgroup/unified")));
        assert_eq!(find_cgroup2("proc /proc proc rw 0 0\n"), None);
    }
}
