// SPDX-License-Identifier: Apache-2.0
//! The first bytes of a stream: what is to be connected.
//!
//! ```text
//! version 8 = 1 | family 8 = 4 or 6 | destination address, port 16 | source address, port 16
//! ```
//!
//! Network byte order. Bytes of the TCP connection follow at once: the client does not wait for an answer. A
//! connection that does not come about is answered by a reset of the stream, whose code says why.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use thiserror::Error;

const VERSION: u8 = 1;
const IPV4: u8 = 4;
const IPV6: u8 = 6;

/// What says how long an opening is.
pub const PREFIX_BYTES: usize = 2;
const IPV4_BYTES: usize = PREFIX_BYTES + 2 * (4 + 2);
const IPV6_BYTES: usize = PREFIX_BYTES + 2 * (16 + 2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    pub destination: SocketAddr,
    /// Who connected to the client; for the log.
    pub source: SocketAddr,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum OpeningError {
    #[error("opening of version {0}, this program knows {VERSION}")]
    Version(u8),
    #[error("opening with address family {0}")]
    Family(u8),
}

impl Opening {
    pub fn encode(&self) -> Vec<u8> {
        let (destination, source) = (canonical(self.destination), canonical(self.source));
        let is_ipv4 = destination.is_ipv4() && source.is_ipv4();
        let mut bytes = vec![VERSION, if is_ipv4 { IPV4 } else { IPV6 }];
        for address in [destination, source] {
            match (address.ip(), is_ipv4) {
                (IpAddr::V4(ip), true) => bytes.extend(ip.octets()),
                (IpAddr::V4(ip), false) => bytes.extend(ip.to_ipv6_mapped().octets()),
                (IpAddr::V6(ip), _) => bytes.extend(ip.octets()),
            }
            bytes.extend(address.port().to_be_bytes());
        }
        bytes
    }

    /// Bytes that follow the prefix.
    pub fn length(prefix: &[u8]) -> Result<usize, OpeningError> {
        match prefix {
            [VERSION, IPV4, ..] => Ok(IPV4_BYTES - PREFIX_BYTES),
            [VERSION, IPV6, ..] => Ok(IPV6_BYTES - PREFIX_BYTES),
            [VERSION, family, ..] => Err(OpeningError::Family(*family)),
            [version, ..] => Err(OpeningError::Version(*version)),
            [] => Err(OpeningError::Version(0)),
        }
    }

    /// Of as many bytes as `length` says.
    pub fn decode(bytes: &[u8]) -> Self {
        let (destination, source) = bytes.split_at(bytes.len() / 2);
        Self { destination: address(destination), source: address(source) }
    }
}

fn address(bytes: &[u8]) -> SocketAddr {
    let (ip, port) = bytes.split_at(bytes.len() - 2);
    let port = u16::from_be_bytes([port[0], port[1]]);
    let ip = match <[u8; 4]>::try_from(ip) {
        Ok(octets) => IpAddr::V4(Ipv4Addr::from(octets)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(ip).unwrap_or_default())),
    };
    canonical(SocketAddr::new(ip, port))
}

/// IPv4 addresses in the form of IPv6 (RFC 4291, 2.5.5.2) as what they are: rules for IPv4 hold for them.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(destination: &str, source: &str) -> Opening {
        Opening {
            destination: destination.parse().expect("destination"),
            source: source.parse().expect("source"),
        }
    }

    #[test]
    fn openings_come_back() {
        for each in [
            opening("192.0.2.1:21", "10.0.0.1:40000"),
            opening("[2001:db8::1]:21", "[2001:db8::2]:40000"),
            opening("192.0.2.1:21", "[2001:db8::2]:40000"),
        ] {
            let bytes = each.encode();
            assert_eq!(Opening::length(&bytes), Ok(bytes.len() - PREFIX_BYTES));
            assert_eq!(Opening::decode(&bytes[PREFIX_BYTES..]), each);
        }
    }

    #[test]
    fn mapped_addresses_are_ipv4() {
        let mapped = opening("[::ffff:192.0.2.1]:21", "[::ffff:10.0.0.1]:40000");
        assert_eq!(
            Opening::decode(&mapped.encode()[PREFIX_BYTES..]),
            opening("192.0.2.1:21", "10.0.0.1:40000")
        );
        let mut bytes = opening("[2001:db8::1]:21", "[2001:db8::2]:40000").encode();
        bytes[2..18].copy_from_slice(&Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets());
        assert_eq!(
            Opening::decode(&bytes[PREFIX_BYTES..]).destination,
            "127.0.0.1:21".parse().expect("address")
        );
    }

    #[test]
    fn what_is_none_is_refused() {
        assert_eq!(Opening::length(&[2, 4]), Err(OpeningError::Version(2)));
        assert_eq!(Opening::length(&[1, 5]), Err(OpeningError::Family(5)));
    }
}
