// SPDX-License-Identifier: Apache-2.0
//! The structures of hosts/bpf/flow.h, for the programs that read and write the maps. What the C compiler leaves
//! free is a member here (`gap`, `tail`, more of `pad`). A test compares them with the C.

/// `CLARION_NONE` of `enum clarion_format`.
pub const FORMAT_NONE: u8 = 0;

/// `FLOW_REASONS`
pub const REASONS: usize = 9;

/// A structure that any byte string of its size is a value of.
///
/// # Safety
/// The type must be `repr(C)`, without padding, and made of integers only.
pub unsafe trait Plain: Copy {}

/// `struct flow_identity`.
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
    pub pad: [u8; 7],
}

/// `struct flow_seen`.
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

/// `struct flow_echo`.
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

/// `struct flow_request`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowRequest {
    pub wanted: u8,
    pub field: u8,
    pub ect1: u8,
    pub pad: u8,
    pub rtt: u32,
    pub x: u32,
    pub delta_throughput: i32,
    pub full_len: u32,
}

/// `struct flow_stats`.
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
    pub reduced: [u32; REASONS],
    pub rebased: u32,
    pub corrupt: u32,
    pub congest: u32,
    pub tail: u32,
}

/// `struct flow`. What only the kernel uses is numbers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub id: FlowIdentity,
    pub passage: [u32; 5],
    pub seen: FlowSeen,
    pub echo: FlowEcho,
    pub request: FlowRequest,
    pub gap: u32,
    pub stats: FlowStats,
    pub decision: u8,
    pub pad: [u8; 7],
    pub law: [u64; 44],
    pub lock: u32,
    pub tail: u32,
}

/// `struct flow_ask`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowAsk {
    pub netns_cookie: u64,
    pub cookie: u64,
    pub request: FlowRequest,
    pub carries: u8,
    pub tags: u8,
    pub guard_at: u8,
    pub pad: [u8; 9],
    pub guard: [u8; 8],
    pub guard_mask: u64,
    pub lock: u32,
    pub tail: u32,
}

// SAFETY: integers and arrays of integers, repr(C), every byte a member's.
unsafe impl Plain for Flow {}
// SAFETY: integers and arrays of integers, repr(C), every byte a member's.
unsafe impl Plain for FlowAsk {}

/// The bytes of a structure.
pub fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: the pointer is valid for the size of `T`, and a `Plain` type has no padding.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) }
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
        let ask = FlowAsk { cookie: 7, ..FlowAsk::default() };
        assert_eq!(from_bytes::<FlowAsk>(bytes_of(&ask)), Some(ask));
        assert_eq!(from_bytes::<FlowAsk>(&bytes_of(&ask)[1..]), None);
    }
}
