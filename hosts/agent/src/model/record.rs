// SPDX-License-Identifier: Apache-2.0
//! The structures of hosts/bpf/record.h and flow.h in Rust. A test of the maps compares each member with
//! the BTF of the programs.

/// Size of `struct attachment`, and offset of its member `tags`.
pub const ATTACHMENT_BYTES: usize = 8;
pub const ATTACHMENT_TAGS: usize = 4;

pub const FORMAT_NONE: u8 = 0;

/// A structure that any byte string of its size is a value of.
///
/// # Safety
/// The type must be `repr(C)`, without padding that matters, and made of integers only.
pub unsafe trait Plain: Copy {}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowIdentity {
    pub netns_cookie: u64,
    pub cookie: u64,
    pub bucket: u16,
    pub aware: u8,
    pub tags: u8,
    pub plain: u8,
    pub peer_format: u8,
    pub plain_fallbacks: u8,
    pub heard: u8,
    pub plain_turn: u8,
    pub attempts: u8,
    pub pad: [u8; 2],
    pub attempts_una: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowSeen {
    pub granted: u32,
    pub corrupt: u16,
    pub congest: u16,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowEcho {
    pub reverse_feedback: u32,
    pub rev_corrupt: u16,
    pub rev_congest: u16,
    pub nr_echoes: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowStats {
    pub tx_headers: u64,
    pub rx_headers: u64,
    pub gso_passed: u64,
    pub feedback_bytes_per_s: i64,
    pub reduced_congestion: u32,
    pub reduced_unexplained: u32,
    pub reduced_loss: u32,
    pub reduced_timeout: u32,
    pub reduced_delay: u32,
    pub rebased: u32,
    pub corrupt: u32,
    pub congest: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowRecord {
    pub id: FlowIdentity,
    pub seen: FlowSeen,
    pub echo: FlowEcho,
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
}

// SAFETY: integers and arrays of integers, repr(C).
unsafe impl Plain for FlowRecord {}
// SAFETY: integers, repr(C).
unsafe impl Plain for DeviceCounters {}

/// Reads a structure; `None` if `bytes` has another size.
pub fn from_bytes<T: Plain>(bytes: &[u8]) -> Option<T> {
    if bytes.len() != size_of::<T>() {
        return None;
    }
    // SAFETY: the length is right, the read is unaligned, and any bytes are a value of a `Plain` type.
    Some(unsafe { bytes.as_ptr().cast::<T>().read_unaligned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_another_size() {
        assert!(from_bytes::<DeviceCounters>(&[0; 63]).is_none());
        assert!(from_bytes::<DeviceCounters>(&[0; 64]).is_some());
    }
}
