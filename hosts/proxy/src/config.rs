// SPDX-License-Identifier: Apache-2.0
//! What a proxy is told to do: read from a file and the command line, checked as a whole before anything starts.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// All settings of one proxy.
#[derive(Clone, Debug)]
pub struct Config {
    pub role: Role,
    pub identity: Identity,
    pub law: LawSettings,
    /// Whether QUIC packets carry Clarion's header where the shim is attached.
    pub header: HeaderMode,
    pub limits: Limits,
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

/// Addresses and ports: `10.0.0.0/8:1-1023`, `[2001:db8::]/32:*`.
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
