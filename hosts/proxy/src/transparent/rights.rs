// SPDX-License-Identifier: Apache-2.0
//! What must be given before anything is changed.

use std::fs;

use anyhow::{Context, Result, ensure};
use nix::ifaddrs::getifaddrs;
use nix::net::if_::InterfaceFlags;

/// Bit of CAP_NET_ADMIN (capabilities(7)).
const NET_ADMIN: u64 = 1 << 12;

/// Whether this process, and the programs that it starts, may change rules and routes.
pub fn check() -> Result<()> {
    let status = fs::read_to_string("/proc/thread-self/status").context("read the rights of this process")?;
    // Root hands its rights on to programs; for others only the ambient ones are handed on.
    let set = if nix::unistd::geteuid().is_root() { "CapEff" } else { "CapAmb" };
    ensure!(
        has_net_admin(&status, set),
        "transparent mode needs CAP_NET_ADMIN; run as root or with AmbientCapabilities=CAP_NET_ADMIN of systemd"
    );
    Ok(())
}

fn has_net_admin(status: &str, set: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix(set)?.strip_prefix(':'))
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & NET_ADMIN != 0)
}

/// Intercepted packets are routed to the loopback device.
pub fn check_loopback() -> Result<()> {
    let is_up = getifaddrs()
        .context("list network devices")?
        .any(|device| device.interface_name == "lo" && device.flags.contains(InterfaceFlags::IFF_UP));
    ensure!(is_up, "transparent mode needs the loopback device; run `ip link set lo up`");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_set_that_counts() {
        let status = "Name:\tx\nCapEff:\t0000000000001000\nCapAmb:\t0000000000000000\n";
        assert!(has_net_admin(status, "CapEff"));
        assert!(!has_net_admin(status, "CapAmb"));
        assert!(!has_net_admin("", "CapEff"));
    }
}
