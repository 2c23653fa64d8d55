// SPDX-License-Identifier: Apache-2.0
//! Requirements of every command: root, a recent kernel, BTF.

use std::path::Path;

use anyhow::{bail, ensure, Context, Result};

/// First kernel on which a BPF congestion control may do all that the laws need, and that has every helper.
const KERNEL_MIN: (u32, u32) = (6, 1);

/// Fails with one line that names what is missing and how to get it.
pub fn check() -> Result<()> {
    ensure!(nix::unistd::geteuid().is_root(), "not root: run with sudo");
    let uname = nix::sys::utsname::uname().context("uname")?;
    let release = uname.release().to_string_lossy().into_owned();
    let Some(version) = parse_release(&release) else {
        bail!("kernel release {release:?} not understood: Linux 6.1 or newer is needed");
    };
    ensure!(
        version >= KERNEL_MIN,
        "kernel {release} is too old: Linux {}.{} or newer is needed",
        KERNEL_MIN.0,
        KERNEL_MIN.1
    );
    ensure!(
        Path::new("/sys/kernel/btf/vmlinux").exists(),
        "kernel without BTF (/sys/kernel/btf/vmlinux): use a kernel built with CONFIG_DEBUG_INFO_BTF=y"
    );
    Ok(())
}

/// Major and minor number of a release such as `6.1.0-18-amd64`.
fn parse_release(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases() {
        assert_eq!(parse_release("6.1.0-18-amd64"), Some((6, 1)));
        assert_eq!(parse_release("5.15.0"), Some((5, 15)));
        assert_eq!(parse_release("6.10-rc1"), Some((6, 10)));
        assert_eq!(parse_release("six"), None);
    }
}
