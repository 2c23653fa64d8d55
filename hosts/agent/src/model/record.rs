// SPDX-License-Identifier: Apache-2.0
//! The structures of hosts/bpf/record.h in Rust. A test of the maps compares each member with the BTF of the
//! programs.

use clarion_layout::{FlowEcho, FlowIdentity, FlowSeen, FlowStats, Plain};

/// Size of `struct attachment`, and offset of its member `tags`.
pub const ATTACHMENT_BYTES: usize = 8;
pub const ATTACHMENT_TAGS: usize = 4;

/// `enum wire_judgement`.
pub const WIRE_PROVEN: u8 = 1;
pub const WIRE_DISPROVED: u8 = 2;

/// Why a window was reduced, by `enum flow_reason`.
pub const REASONS: [&str; clarion_layout::REASONS] =
    ["none", "congestion", "unexplained", "loss", "timeout", "delay", "ecn", "contradicted", "local"];

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowRecord {
    pub id: FlowIdentity,
    pub seen: FlowSeen,
    pub echo: FlowEcho,
    pub gap: u32,
    pub stats: FlowStats,
    pub pacing_rate_bytes_per_s: u64,
    pub srtt_us: u32,
    pub min_rtt_us: u32,
    pub cwnd_packets: u32,
    pub delivered: u32,
    pub lost: u32,
    pub family: u16,
    pub sport: u16,
    pub dport: u16,
    pub state: u8,
    pub wanted: u8,
    pub src: [u8; 16],
    pub dst: [u8; 16],
    pub cc: [u8; 16],
    pub protocol: u8,
    pub pad: [u8; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct DeviceCounters {
    pub tx_headers: u64,
    pub rx_headers: u64,
    pub gso_passed: u64,
    pub too_big: u64,
    pub no_headroom: u64,
    pub malformed: u64,
    pub no_flow: u64,
    pub corrupt: u64,
    pub refused: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    pub until_ns: u64,
    pub judgement: u8,
    pub is_declared: u8,
    pub pad: [u8; 6],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Decision {
    pub time_ns: u64,
    pub netns_cookie: u64,
    pub cookie: u64,
    pub cwnd_before: u32,
    pub cwnd_after: u32,
    pub family: u16,
    pub sport: u16,
    pub dport: u16,
    pub reason: u8,
    pub is_kernel: u8,
    pub cc: [u8; 16],
}

// SAFETY: integers and arrays of integers, repr(C).
unsafe impl Plain for FlowRecord {}
// SAFETY: integers, repr(C).
unsafe impl Plain for DeviceCounters {}
// SAFETY: integers and arrays of integers, repr(C).
unsafe impl Plain for Wire {}
// SAFETY: integers and arrays of integers, repr(C).
unsafe impl Plain for Decision {}
