// SPDX-License-Identifier: Apache-2.0
//! Programs and maps shared by all attachments of a machine: loaded with the first, unloaded after the last.

use std::fs;

use anyhow::{Context, Result};
use nix::mount::{mount, MsFlags};
use nix::sys::statfs::{statfs, BPF_FS_MAGIC};

use crate::kernel::pins::PINS;
use crate::kernel::{handshake, laws, local};

const BPF_MOUNT: &str = "/sys/fs/bpf";

/// Loads and pins maps, congestion-control laws and handshake, unless they are.
pub fn load() -> Result<()> {
    mount_bpf()?;
    fs::create_dir_all(PINS).with_context(|| format!("create {PINS}"))?;
    laws::register_own()?; // first: it is refused if another mount namespace has them
    local::load()?;
    handshake::load()
}

/// Takes away all that [`load`] made. Sockets that use a law keep it until they close.
pub fn unload() -> Result<()> {
    laws::unregister();
    match fs::remove_dir_all(PINS) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            // bpffs does not let a directory be opened for removal on some kernels: one by one.
            for entry in fs::read_dir(PINS).into_iter().flatten().flatten() {
                let _ = fs::remove_file(entry.path());
            }
            fs::remove_dir(PINS).with_context(|| format!("remove {PINS}"))
        }
        _ => Ok(()),
    }
}

fn mount_bpf() -> Result<()> {
    fs::create_dir_all(BPF_MOUNT).with_context(|| format!("create {BPF_MOUNT}"))?;
    if statfs(BPF_MOUNT).with_context(|| format!("statfs {BPF_MOUNT}"))?.filesystem_type() == BPF_FS_MAGIC {
        return Ok(());
    }
    mount(Some("bpf"), BPF_MOUNT, Some("bpf"), MsFlags::empty(), None::<&str>)
        .with_context(|| format!("mount a BPF file system on {BPF_MOUNT}"))
}
