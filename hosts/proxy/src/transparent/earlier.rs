// SPDX-License-Identifier: Apache-2.0
//! This host's connections to the destinations from before the interception. They go on as they are: the proxy knows
//! nothing of them, and would reset them.
//!
//! What is connected between this look and the first interception, a few milliseconds later, is reset.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{Context, Result};

use crate::config::TransparentSettings;

/// State of a listening socket (include/net/tcp_states.h).
const LISTEN: &str = "0A";

/// A connection of this host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub local: SocketAddr,
    pub remote: SocketAddr,
}

/// Connections, in whatever state, to the destinations.
pub fn connections(settings: &TransparentSettings) -> Result<Vec<Earlier>> {
    let mut found = Vec::new();
    for path in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
        match fs::read_to_string(path) {
            Ok(text) => found.extend(text.lines().skip(1).filter_map(parse)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {} // no IPv6
            Err(error) => return Err(error).with_context(|| format!("read {path}")),
        }
    }
    found.retain(|each| settings.destinations.iter().any(|destination| destination.contains(each.remote)));
    Ok(found)
}

/// A line of proc_net_tcp(5): number, local address, remote address, state, ...
fn parse(line: &str) -> Option<Earlier> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (fields.next()?, fields.next()?, fields.next()?);
    if state == LISTEN {
        return None;
    }
    Some(Earlier { local: parse_address(local)?, remote: parse_address(remote)? })
}

/// `0100007F:0016`: words of 32 bits of the address in this machine's byte order, and the port as a number.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |index: usize| {
        let digits = address.get(index * 8..index * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let ip: IpAddr = match address.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let mut bytes = [0; 16];
            for (index, part) in bytes.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(index)?);
            }
            // A socket of IPv6 that speaks IPv4.
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use super::*;

    fn earlier(local: &str, remote: &str) -> Option<Earlier> {
        Some(Earlier { local: local.parse().expect("local"), remote: remote.parse().expect("remote") })
    }

    #[test]
    fn reads_the_lists_of_the_kernel() {
        let line =
            "   1: 0100000A:C350 0200000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 1";
        assert_eq!(parse(line), earlier("10.0.0.1:50000", "10.0.0.2:80"));
        let line = "   1: B80D0120000000000000000001000000:C350 B80D0120000000000000000002000000:0050 06 0:0";
        assert_eq!(parse(line), earlier("[2001:db8::1]:50000", "[2001:db8::2]:80"));
        let line = "   1: 0000000000000000FFFF00000100000A:C350 0000000000000000FFFF00000200000A:0050 01 0:0";
        assert_eq!(parse(line), earlier("10.0.0.1:50000", "10.0.0.2:80"));
    }

    #[test]
    fn leaves_out_listeners_and_nonsense() {
        assert_eq!(parse("   0: 00000000:0016 00000000:0000 0A 00000000:00000000"), None);
        assert_eq!(parse("   0: 00000000:0016"), None);
        assert_eq!(parse("   0: 0000:0016 00000000:0000 01"), None);
    }
}
