// SPDX-License-Identifier: Apache-2.0
//! A flow as `stats` shows it.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

use crate::model::record::{self, FlowRecord};

const AF_INET6: u16 = libc::AF_INET6 as u16;

/// Names of the kernel's TCP states, by number.
const STATES: [&str; 13] = [
    "unknown",
    "established",
    "syn-sent",
    "syn-recv",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "close",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
    "new-syn-recv",
];

#[derive(Serialize)]
pub struct Flow {
    pub cookie: u64,
    pub netns: String,
    pub protocol: &'static str,
    pub family: &'static str,
    pub src: IpAddr,
    pub sport: u16,
    pub dst: IpAddr,
    pub dport: u16,
    pub state: &'static str,
    pub cc: String,
    pub aware: bool,
    pub plain_fallbacks: u8,
    pub mode: &'static str,
    pub srtt_us: u32,
    pub min_rtt_us: u32,
    pub cwnd_packets: u32,
    pub pacing_rate_bytes_per_s: u64,
    pub delivered: u32,
    pub lost: u32,
    pub feedback_bytes_per_s: i64,
    pub rev_corrupt: i32,
    pub rev_congest: i32,
    pub rx_corrupt: u16,
    pub rx_congest: u16,
    pub local_drops: u32,
    pub refused_segments: u32,
    pub regulated: bool,
    pub reductions: BTreeMap<&'static str, u32>,
    pub tx_headers: u64,
    pub rx_headers: u64,
    pub gso_passed: u64,
    pub closed: bool,
}

impl Flow {
    /// `names`: of the attached namespaces, by cookie.
    pub fn new(flow: &FlowRecord, closed: bool, names: &BTreeMap<u64, String>) -> Self {
        let (src, dst) = (address(flow.family, flow.src), address(flow.family, flow.dst));
        let stats = &flow.stats;
        Self {
            cookie: flow.id.cookie,
            netns: names
                .get(&flow.id.netns_cookie)
                .cloned()
                .unwrap_or_else(|| flow.id.netns_cookie.to_string()),
            protocol: if i32::from(flow.protocol) == libc::IPPROTO_UDP { "udp" } else { "tcp" },
            family: if src.is_ipv4() { "ipv4" } else { "ipv6" },
            src,
            sport: flow.sport,
            dst,
            dport: flow.dport,
            state: STATES.get(flow.state as usize).unwrap_or(&STATES[0]),
            cc: text(&flow.cc),
            aware: flow.id.aware != 0,
            plain_fallbacks: flow.id.plain_fallbacks,
            mode: mode(flow),
            srtt_us: flow.srtt_us,
            min_rtt_us: flow.min_rtt_us,
            cwnd_packets: flow.cwnd_packets,
            pacing_rate_bytes_per_s: flow.pacing_rate_bytes_per_s,
            delivered: flow.delivered,
            lost: flow.lost,
            feedback_bytes_per_s: stats.feedback_bytes_per_s,
            rev_corrupt: total(stats.corrupt.wrapping_sub(stats.local_corrupt)),
            rev_congest: total(stats.congest),
            rx_corrupt: flow.seen.corrupt,
            rx_congest: flow.seen.congest,
            local_drops: stats.local_drops,
            refused_segments: stats.refused_segments,
            regulated: flow.echo.regulated != 0,
            reductions: record::REASONS.into_iter().zip(stats.reduced).skip(1).collect(),
            tx_headers: stats.tx_headers,
            rx_headers: stats.rx_headers,
            gso_passed: stats.gso_passed,
            closed,
        }
    }
}

/// A total since the flow began. It is below zero for a moment if it began just when a packet was overtaken.
fn total(unwrapped: u32) -> i32 {
    unwrapped as i32
}

/// What the flow's own data packets carry.
fn mode(flow: &FlowRecord) -> &'static str {
    if flow.id.aware == 0 || flow.id.plain != 0 {
        "plain"
    } else if flow.wanted != 0 {
        "xcp"
    } else if flow.id.tags != 0 || flow.id.peer_format != clarion_layout::FORMAT_NONE {
        "tag"
    } else {
        "plain"
    }
}

/// A v4-mapped address of a dual-stack socket is an IPv4 address.
fn address(family: u16, bytes: [u8; 16]) -> IpAddr {
    if family == AF_INET6 {
        let address = Ipv6Addr::from(bytes);
        return address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4);
    }
    IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
}

pub fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_addresses_are_ipv4() {
        let mut bytes = [0; 16];
        bytes[10..].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 1]);
        assert_eq!(address(AF_INET6, bytes).to_string(), "10.0.0.1");
        bytes[10] = 0;
        assert_eq!(address(AF_INET6, bytes).to_string(), "::ff:a00:1");
        assert_eq!(address(2, [10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).to_string(), "10.0.0.2");
    }

    #[test]
    fn a_socket_is_of_tcp_or_udp() {
        let mut flow = FlowRecord { protocol: libc::IPPROTO_UDP as u8, ..FlowRecord::default() };
        assert_eq!(Flow::new(&flow, false, &BTreeMap::new()).protocol, "udp");
        flow.protocol = libc::IPPROTO_TCP as u8;
        assert_eq!(Flow::new(&flow, false, &BTreeMap::new()).protocol, "tcp");
    }

    #[test]
    fn totals_may_be_below_zero() {
        assert_eq!(total(7), 7);
        assert_eq!(total(u32::MAX), -1);
    }

    #[test]
    fn mode_follows_what_is_sent() {
        let mut flow = FlowRecord::default();
        assert_eq!(mode(&flow), "plain");
        flow.id.aware = 1;
        flow.id.tags = 1;
        assert_eq!(mode(&flow), "tag");
        flow.wanted = 1;
        assert_eq!(mode(&flow), "xcp");
        flow.id.plain = 1;
        assert_eq!(mode(&flow), "plain");
    }
}
