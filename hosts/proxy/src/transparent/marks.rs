// SPDX-License-Identifier: Apache-2.0
//! Marks of packets (SO_MARK, `meta mark`). Whole 32-bit values that no other program is known to use: the bits by which
//! Kubernetes, Tailscale and wg-quick tell their packets are not set as they set them.

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::{setsockopt, sockopt};

/// Packets of this host's programs that are sent round to the proxy.
pub const LOCAL: u32 = 0xc1a7_0001;
/// Packets that came to be forwarded and go to the proxy.
pub const FORWARDED: u32 = 0xc1a7_0002;
/// Packets that the proxy sends.
pub const OWN: u32 = 0xc1a7_0003;

/// Exempts a socket from interception; before it is connected. Needs CAP_NET_ADMIN or CAP_NET_RAW: a server that
/// shares its namespace with no transparent client may ignore that it fails.
pub fn mark_own(socket: &impl AsFd) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::Mark, &OWN)?)
}
