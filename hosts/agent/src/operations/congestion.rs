// SPDX-License-Identifier: Apache-2.0
//! The default congestion control of a namespace, and the machine's list of those allowed.

use std::io;

use anyhow::{Context, Result};

use crate::kernel::netns::Netns;
use crate::kernel::sysctl;
use crate::operations::store::Store;

/// Makes `name` the default of the current namespace.
///
/// Outside the initial namespace the kernel refuses an algorithm that is not in the machine's list of
/// allowed ones, so it is added there; the list as it was is kept until the last detach. `home` is the
/// namespace that the agent was started in: normally the initial one.
pub fn choose(name: &str, home: &Netns, store: &Store) -> Result<()> {
    match sysctl::try_write(sysctl::CONGESTION_CONTROL, name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let allowed = sysctl::read(sysctl::ALLOWED)?;
            store.save_allowed(&allowed)?;
            write_allowed(&format!("{allowed} {name}"), home).with_context(|| {
                format!("--cc {name}: not allowed here; in the initial namespace: sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{allowed} {name}\"")
            })?;
            sysctl::write(sysctl::CONGESTION_CONTROL, name)
        }
        result => result.with_context(|| format!("--cc {name}")),
    }
}

/// Puts the machine's list of allowed algorithms back.
pub fn restore_allowed(home: &Netns, store: &Store) -> Result<()> {
    if let Some(allowed) = store.take_allowed() {
        write_allowed(&allowed, home).context("restore net.ipv4.tcp_allowed_congestion_control")?;
    }
    Ok(())
}

/// The list is writable in the initial namespace only. Comes back to the current namespace.
fn write_allowed(allowed: &str, home: &Netns) -> Result<()> {
    let here = Netns::open(None)?;
    home.enter()?;
    let mut result = sysctl::write(sysctl::ALLOWED, allowed);
    if result.is_err() {
        if let Ok(initial) = Netns::open(Some("pid:1")) {
            result = initial.enter().and_then(|()| sysctl::write(sysctl::ALLOWED, allowed));
        }
    }
    here.enter()?;
    result
}
