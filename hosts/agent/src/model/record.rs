// SPDX-License-Identifier: Apache-2.0
//! The structures of hosts/bpf/record.h and flow.h in Rust. A test of the maps compares each member with
//! the BTF of the programs.

/// Size of `struct attachment`, and offset of its member `tags`.
pub const ATTACHMENT_BYTES: usize = 8;
pub const ATTACHMENT_TAGS: usize = 4;

pub const FORMAT_NONE: u8 = 0;

/// `enum wire_judgement`.
pub const WIRE_PROVEN: u8 = 1;
pub const WIRE_DISPROVED: u8 = 2;

/// Why a window was reduced, by `enum flow_reason`.
pub const REASONS: [&str; 9] =
    ["none", "congestion", "unexplained", "loss", "timeout", "delay", "ecn", "contradicted", "local"];

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
    pub pad: [u8; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowSeen {
    pub granted: u32,
    pub corrupt: u16,
    pub congest: u16,
    pub regulated: u8,
    pub field: u8,
    pub pad: [u8; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowEcho {
    pub reverse_feedback: u32,
    pub rev_corrupt: u16,
    pub rev_congest: u16,
    pub nr_echoes: u32,
    pub regulated: u8,
    pub field: u8,
    pub pad: [u8; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FlowStats {
    pub tx_headers: u64,
    pub rx_headers: u64,
    pub gso_passed: u64,
    pub feedback_bytes_per_s: i64,
    pub local_drops: u32,
    pub local_corrupt: u32,
    pub refused_segments: u32,
    pub reduced: [u32; REASONS.len()],
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

/// The bytes of a structure.
pub fn to_bytes<T: Plain>(value: &T) -> Vec<u8> {
    // SAFETY: the pointer is valid for the size of `T`, and a `Plain` type has no padding that matters.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) }.to_vec()
}

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
        assert!(from_bytes::<DeviceCounters>(&[0; 71]).is_none());
        assert!(from_bytes::<DeviceCounters>(&[0; 72]).is_some());
    }
}
