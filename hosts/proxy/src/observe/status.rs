// SPDX-License-Identifier: Apache-2.0
//! What a proxy does, as plain data: the document of the control socket, and what metrics are made of.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

/// Counts by the name of a reason.
pub type Reasons = BTreeMap<String, u64>;

/// All of one proxy, as it was at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    pub version: String,
    pub pid: u32,
    /// `client` or `server`.
    pub role: String,
    /// Server: its UDP address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    /// Client: the UDP address of its server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<SocketAddr>,
    /// Start of the program, seconds since 1970.
    pub since_unix_s: u64,
    /// Seconds since then.
    pub uptime_s: u64,
    /// Law of new tunnels.
    pub law: String,
    pub limits: LimitsStatus,
    pub forwards: Vec<ForwardStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transparent: Option<TransparentStatus>,
    /// TCP connections that are open.
    pub connections: u64,
    /// Client: those of them that wait for a tunnel.
    pub waiting_connections: u64,
    pub tunnels: Vec<TunnelStatus>,
    /// Since the start.
    pub totals: Totals,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsStatus {
    pub buffer_bytes: u64,
    pub stream_bytes: u64,
    pub max_connections: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ForwardStatus {
    pub listen: SocketAddr,
    pub destination: SocketAddr,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransparentStatus {
    pub local: bool,
    pub forwarded: bool,
    pub port: u16,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TunnelStatus {
    /// Tunnels are numbered from 1 as they begin.
    pub number: u64,
    pub remote: String,
    /// `connecting`, `up` or `closing`.
    pub state: String,
    /// Seconds since it is up.
    pub up_s: u64,
    pub law: String,
    /// `none`, or the mode of its headers: `waiting`, `plain`, `probing`, `open`, `closed`.
    pub header: String,
    pub srtt_us: u64,
    /// 0: none yet.
    pub min_rtt_us: u64,
    pub cwnd_bytes: u64,
    /// 0: the law has no rate of its own.
    pub pacing_bytes_per_s: u64,
    /// Payload of the largest UDP datagram.
    pub mtu_bytes: u64,
    pub datagrams_sent: u64,
    pub datagrams_received: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    /// QUIC packets taken for lost.
    pub packets_lost: u64,
    /// Datagrams sent again because their loss was probable; in no other count.
    #[serde(default)]
    pub resends: u64,
    /// Of these, those of packets that had been lost.
    #[serde(default)]
    pub useful_resends: u64,
    /// Of these, those of packets that had not been lost.
    #[serde(default)]
    pub false_resends: u64,
    /// Times that the law was told of congestion.
    pub congestion_events: u64,
    /// Reductions of the window, by the law's reason.
    pub reductions: Reasons,
    /// Reductions that were taken back.
    pub reductions_undone: u64,
    pub connections: u64,
    /// What the peer may send, or has sent and no application has taken.
    pub committed_bytes: u64,
    /// Openings that came as 0-RTT data and waited for the handshake.
    pub held_openings: u64,
    /// Whether 0-RTT data were accepted.
    pub early_data_accepted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// TCP connections accepted from applications, or begun to destinations.
    pub connections_opened: u64,
    /// Both directions have ended as they should.
    pub connections_finished: u64,
    /// Reset, by reason.
    pub connections_aborted: Reasons,
    /// Server: openings refused before anything was connected, by reason.
    pub openings_refused: Reasons,
    pub bytes_from_applications: u64,
    pub bytes_to_applications: u64,
    pub tunnels_up: u64,
    /// Tunnels lost after they had been up, by reason.
    pub tunnels_lost: Reasons,
    /// Tunnels that never came up, by reason.
    pub handshakes_failed: Reasons,
    /// Server: newcomers that were not let in.
    pub handshakes_refused: u64,
}
