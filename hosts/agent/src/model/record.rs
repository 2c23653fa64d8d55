// SPDX-License-Identifier: Apache-2.0
//! The structures of hosts/bpf/record.h and flow.h in Rust. A test compares each member with the BTF.

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
    pub no_room: u64,
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
    use std::mem::offset_of;

    use libbpf_rs::btf::types::Struct;
    use libbpf_rs::btf::{Btf, TypeId};
    use libbpf_rs::HasSize;

    use super::*;

    /// Offsets of all members by the BTF of the compiled programs, and the size.
    fn layout(name: &str) -> (Vec<(String, usize)>, usize) {
        let btf = Btf::from_raw("stats", crate::kernel::bpf::STATS).expect("BTF").expect("BTF in the object");
        let found = (1..btf.len() as u32)
            .filter_map(|id| btf.type_by_id::<Struct<'_>>(TypeId::from(id)))
            .find(|candidate| candidate.name().is_some_and(|own| own == name))
            .unwrap_or_else(|| panic!("struct {name} in BTF"));
        let members = found.iter().map(|member| {
            let libbpf_rs::btf::types::MemberAttr::Normal { offset } = member.attr else {
                panic!("bit field in {name}");
            };
            (member.name.expect("name").to_string_lossy().into_owned(), offset as usize / 8)
        });
        (members.collect(), found.size())
    }

    macro_rules! assert_layout {
        ($name:literal, $type:ty, $($member:ident),*) => {
            let (members, size) = layout($name);
            let own = vec![$((stringify!($member).to_owned(), offset_of!($type, $member))),*];
            assert_eq!(members, own, "members of struct {}", $name);
            assert_eq!(size, size_of::<$type>(), "size of struct {}", $name);
        };
    }

    #[test]
    fn layouts_match_the_programs() {
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
            attempts,
            pad,
            attempts_una
        );
        assert_layout!("flow_seen", FlowSeen, granted, corrupt, congest);
        assert_layout!("flow_echo", FlowEcho, reverse_feedback, rev_corrupt, rev_congest, nr_echoes);
        assert_layout!(
            "flow_stats",
            FlowStats,
            tx_headers,
            rx_headers,
            gso_passed,
            feedback_bytes_per_s,
            reduced_congestion,
            reduced_unexplained,
            reduced_loss,
            reduced_timeout,
            reduced_delay,
            rebased,
            corrupt,
            congest
        );
        assert_layout!(
            "flow_record",
            FlowRecord,
            id,
            seen,
            echo,
            stats,
            pacing_rate_bytes_per_s,
            srtt_us,
            min_rtt_us,
            cwnd_packets,
            delivered,
            lost,
            family,
            sport,
            dport,
            state,
            wanted,
            src,
            dst,
            cc
        );
        assert_layout!(
            "device_counters",
            DeviceCounters,
            tx_headers,
            rx_headers,
            gso_passed,
            too_big,
            no_room,
            malformed,
            no_flow,
            corrupt
        );
        let (members, size) = layout("attachment");
        assert_eq!(size, ATTACHMENT_BYTES);
        assert!(members.contains(&("tags".to_owned(), ATTACHMENT_TAGS)));
    }

    #[test]
    fn refuses_another_size() {
        assert!(from_bytes::<DeviceCounters>(&[0; 63]).is_none());
        assert!(from_bytes::<DeviceCounters>(&[0; 64]).is_some());
    }
}
