// SPDX-License-Identifier: Apache-2.0
//! The structures of hosts/bpf/flow.h, as the maps `asks` and `flows` hold them. A test compares them with the C.

use std::mem::size_of;

use super::channel::Request;

/// A structure that any byte string of its size is a value of.
///
/// # Safety
/// The type must be `repr(C)`, without padding, and made of integers only.
pub unsafe trait Plain: Copy {}

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

impl From<Request> for FlowRequest {
    fn from(request: Request) -> Self {
        Self {
            wanted: request.wanted.into(),
            field: request.field,
            ect1: request.ect1.into(),
            pad: 0,
            rtt: request.rtt,
            x: request.x,
            delta_throughput: request.delta_throughput,
            full_len: request.full_len,
        }
    }
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
    pub pad: [u8; 3],
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
    pub reduced: [u32; 9],
    pub rebased: u32,
    pub corrupt: u32,
    pub congest: u32,
}

/// `struct flow`. What is of no use here is bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    pub id: FlowIdentity,
    pub passage: [u32; 5],
    pub seen: [u32; 3],
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

// SAFETY: integers and arrays of integers, repr(C), every byte a member's.
unsafe impl Plain for FlowAsk {}
// SAFETY: integers and arrays of integers, repr(C), every byte a member's.
unsafe impl Plain for Flow {}

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
    use std::mem::offset_of;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// Offsets of members, and at last the size, by the C compiler.
    fn c_layout(name: &str, members: &[&str]) -> Vec<usize> {
        let bpf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bpf");
        let folder = tempfile::tempdir().expect("temporary folder");
        let (source, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
        let lines: String = members
            .iter()
            .map(|member| format!("printf(\"%zu\\n\", offsetof(struct {name}, {member}));"))
            .collect();
        let text = format!(
            "#include <stddef.h>\n#include <stdio.h>\n#include \"flow.h\"\n\
             int main(void) {{ {lines} printf(\"%zu\\n\", sizeof(struct {name})); return 0; }}\n"
        );
        std::fs::write(&source, text).expect("write");
        let built = Command::new("cc").arg("-I").arg(bpf).arg(&source).arg("-o").arg(&program).status();
        assert!(built.expect("cc").success());
        let printed = Command::new(&program).output().expect("run").stdout;
        String::from_utf8_lossy(&printed).lines().map(|line| line.parse().expect("number")).collect()
    }

    macro_rules! assert_layout {
        ($name:literal, $type:ty, $($member:ident),*) => {
            let own = [$(offset_of!($type, $member),)* size_of::<$type>()];
            assert_eq!(c_layout($name, &[$(stringify!($member)),*]), own, "struct {}", $name);
        };
    }

    #[test]
    fn layouts_match_the_programs() {
        assert_layout!(
            "flow_request",
            FlowRequest,
            wanted,
            field,
            ect1,
            pad,
            rtt,
            x,
            delta_throughput,
            full_len
        );
        assert_layout!(
            "flow_ask",
            FlowAsk,
            netns_cookie,
            cookie,
            request,
            carries,
            tags,
            guard_at,
            pad,
            guard,
            guard_mask,
            lock,
            tail
        );
        assert_layout!(
            "flow_identity",
            FlowIdentity,
            netns_cookie,
            cookie,
            bucket,
            aware,
            tags,
            plain,
            peer_format,
            plain_fallbacks,
            heard,
            plain_turn,
            pad
        );
        assert_layout!(
            "flow_echo",
            FlowEcho,
            reverse_feedback,
            rev_corrupt,
            rev_congest,
            nr_echoes,
            regulated,
            field,
            pad
        );
        assert_layout!(
            "flow_stats",
            FlowStats,
            tx_headers,
            rx_headers,
            gso_passed,
            feedback_bytes_per_s,
            local_drops,
            local_corrupt,
            refused_segments,
            reduced,
            rebased,
            corrupt,
            congest
        );
        assert_layout!("flow", Flow, id, passage, seen, echo, request, stats, decision, pad, law, lock);
    }

    #[test]
    fn refuses_another_size() {
        let ask = FlowAsk { cookie: 7, ..FlowAsk::default() };
        assert_eq!(from_bytes::<FlowAsk>(bytes_of(&ask)), Some(ask));
        assert_eq!(from_bytes::<FlowAsk>(&bytes_of(&ask)[1..]), None);
    }
}
