// SPDX-License-Identifier: Apache-2.0
//! What a proxy is told to do, as values. `options` makes them of a file and the command line.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// All settings of one proxy.
#[derive(Clone, Debug)]
pub struct Config {
    pub role: Role,
    pub identity: Identity,
    pub law: LawSettings,
    /// Whether QUIC packets carry Clarion's header where the shim is attached.
    pub header: HeaderMode,
    pub limits: Limits,
    /// Probability in (0, 1) to be lost at which a packet is sent again.
    pub predict_loss: Option<f64>,
    /// Where Prometheus may ask for metrics.
    pub metrics: Option<SocketAddr>,
    /// Unix socket that `clarion-proxy status` asks.
    pub control_socket: PathBuf,
}

#[derive(Clone, Debug)]
pub enum Role {
    Client(ClientSettings),
    Server(ServerSettings),
}

#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// The server's UDP address.
    pub peer: SocketAddr,
    /// Name in the server's certificate.
    pub peer_name: String,
    pub forwards: Vec<Forward>,
    pub transparent: Option<TransparentSettings>,
}

/// An explicit forwarding: what is accepted at `listen` is connected to `destination` by the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    pub listen: SocketAddr,
    pub destination: SocketAddr,
}

/// Transparent interception: which TCP connections are taken, and where the listeners for them are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransparentSettings {
    /// Connections of this host's own programs.
    pub local: bool,
    /// Connections that this host forwards for others.
    pub forwarded: bool,
    /// Destinations that are taken; what is not in here passes untouched.
    pub destinations: Vec<Destination>,
    /// Port of the listeners for intercepted connections, IPv4 and IPv6.
    pub port: u16,
}

#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub listen: SocketAddr,
    /// Destinations that clients may reach.
    pub allow: Vec<Destination>,
    /// Of these, destinations whose connections may be opened by 0-RTT data, which an attacker can replay.
    pub early: Vec<Destination>,
}

/// Addresses and ports: `10.0.0.0/8:1-1023`, `[2001:db8::]/32:*`, `192.0.2.1:21`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    pub address: IpAddr,
    pub prefix_bits: u8,
    /// First and last, both included.
    pub ports: (u16, u16),
}

/// PEM files.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The private CA that signed both ends.
    pub ca: PathBuf,
    pub certificate: PathBuf,
    pub key: PathBuf,
}

#[derive(Clone, Debug)]
pub struct LawSettings {
    /// Name of the registry: boost, xcp, cubic, ...
    pub name: String,
    pub parameters: Vec<(String, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderMode {
    /// Where the shim is attached and the path lets headers through.
    Auto,
    Off,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes that one end takes from its applications, or holds for them, before they wait.
    pub buffer_bytes: u64,
    /// The same for one TCP connection.
    pub stream_bytes: u64,
    /// TCP connections at once.
    pub max_connections: u32,
    /// A peer that is silent for so long is dead: its TCP connections are reset.
    pub idle_timeout: Duration,
    /// For a server to reach a destination.
    pub connect_timeout: Duration,
    /// A reader that takes nothing for so long while others wait for the buffer is reset.
    pub slow_reader_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            buffer_bytes: 256 << 20,
            stream_bytes: 64 << 20,
            max_connections: 4096,
            idle_timeout: Duration::from_secs(180),
            connect_timeout: Duration::from_secs(20),
            slow_reader_timeout: Duration::from_secs(60),
        }
    }
}

impl Destination {
    /// Whether an address is one of these.
    pub fn contains(&self, address: SocketAddr) -> bool {
        let (first, last) = self.ports;
        (first..=last).contains(&address.port()) && self.contains_ip(address.ip())
    }

    fn contains_ip(&self, ip: IpAddr) -> bool {
        let (own, other, bits) = match (self.address, ip) {
            (IpAddr::V4(own), IpAddr::V4(ip)) => (u32::from(own) as u128, u32::from(ip) as u128, 32),
            (IpAddr::V6(own), IpAddr::V6(ip)) => (u128::from(own), u128::from(ip), 128),
            _ => return false,
        };
        let shift = bits - u32::from(self.prefix_bits).min(bits);
        own.checked_shr(shift) == other.checked_shr(shift)
    }
}

/// How a text is none of what it should be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    #[error(
        "{0:?} is no destination: write ADDRESS[/BITS]:PORTS, as 10.0.0.0/8:*, 192.0.2.1:21 or [2001:db8::]/32:1-1023"
    )]
    Destination(String),
    #[error("{0:?} is no forwarding: write LISTEN=DESTINATION, as 127.0.0.1:7001=192.0.2.1:21")]
    Forward(String),
}

impl FromStr for Destination {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_destination(text).ok_or_else(|| ParseError::Destination(text.to_owned()))
    }
}

fn parse_destination(text: &str) -> Option<Destination> {
    let (place, ports) = text.rsplit_once(':')?;
    let (address, bits) = match place.rsplit_once('/') {
        Some((address, bits)) => (address, Some(bits.parse().ok()?)),
        None => (place, None),
    };
    let address: IpAddr = match address.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inside) => inside.parse::<Ipv6Addr>().ok()?.into(),
        None => address.parse::<Ipv4Addr>().ok()?.into(),
    };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix_bits = bits.unwrap_or(longest);
    let destination = Destination { address, prefix_bits, ports: parse_ports(ports)? };
    (prefix_bits <= longest).then_some(destination)
}

fn parse_ports(text: &str) -> Option<(u16, u16)> {
    if text == "*" {
        return Some((1, u16::MAX));
    }
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first > 0 && first <= last).then_some((first, last))
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            IpAddr::V4(address) => write!(f, "{address}")?,
            IpAddr::V6(address) => write!(f, "[{address}]")?,
        }
        write!(f, "/{}:{}-{}", self.prefix_bits, self.ports.0, self.ports.1)
    }
}

impl FromStr for Forward {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let parse = || {
            let (listen, destination) = text.split_once('=')?;
            Some(Self { listen: listen.parse().ok()?, destination: destination.parse().ok()? })
        };
        parse()
            .filter(|forward| forward.destination.port() != 0)
            .ok_or_else(|| ParseError::Forward(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destination(text: &str) -> Destination {
        text.parse().expect(text)
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().expect(text)
    }

    #[test]
    fn destinations_contain_what_they_say() {
        let cases = [
            ("10.0.0.0/8:1-1023", "10.9.8.7:21", true),
            ("10.0.0.0/8:1-1023", "10.9.8.7:1024", false),
            ("10.0.0.0/8:1-1023", "11.0.0.1:21", false),
            ("192.0.2.1:21", "192.0.2.1:21", true),
            ("192.0.2.1:21", "192.0.2.2:21", false),
            ("0.0.0.0/0:*", "255.255.255.255:65535", true),
            ("0.0.0.0/0:*", "[2001:db8::1]:80", false),
            ("[2001:db8::]/32:*", "[2001:db8:ffff::1]:80", true),
            ("[2001:db8::]/32:*", "[2001:db9::1]:80", false),
            ("[::]/0:443", "[2001:db9::1]:443", true),
        ];
        for (text, inside, expected) in cases {
            assert_eq!(destination(text).contains(address(inside)), expected, "{text} {inside}");
        }
    }

    #[test]
    fn texts_that_are_none_are_refused() {
        for text in [
            "",
            "10.0.0.1",
            "10.0.0.1:",
            "10.0.0.1:0",
            "10.0.0.1:2-1",
            "10.0.0.0/33:*",
            "2001:db8::1:80",
            "[2001:db8::]/129:*",
            "[10.0.0.1]:80",
            "host:80",
            "10.0.0.1:65536",
            "10.0.0.1:-5",
        ] {
            assert!(text.parse::<Destination>().is_err(), "{text}");
        }
        for text in ["", "127.0.0.1:1", "127.0.0.1:1=", "127.0.0.1=10.0.0.1:2", "127.0.0.1:1=10.0.0.1:0"] {
            assert!(text.parse::<Forward>().is_err(), "{text}");
        }
    }

    #[test]
    fn destinations_are_written_as_they_are_read() {
        for text in ["10.0.0.0/8:1-1023", "[2001:db8::]/32:1-65535", "192.0.2.1/32:21-21"] {
            assert_eq!(destination(text).to_string(), text);
        }
    }
}
