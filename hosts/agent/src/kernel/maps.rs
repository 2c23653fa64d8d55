// SPDX-License-Identifier: Apache-2.0
//! The pinned maps, opened by name.

use anyhow::{Context, Result};
use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::kernel::pins::pin_of;
use crate::model::record::{self, DeviceCounters, FlowRecord, Wire};

/// Entries of the map of closed flows that are read in one system call.
const CLOSED_BATCH: u32 = 1024;

/// Opens a pinned map; `None` if nothing is loaded.
pub fn open(name: &str) -> Option<MapHandle> {
    MapHandle::from_pinned_path(pin_of(name)).ok()
}

fn open_loaded(name: &str) -> Result<MapHandle> {
    MapHandle::from_pinned_path(pin_of(name)).with_context(|| format!("open {}", pin_of(name).display()))
}

/// Lets the handshake offer the header in a namespace, or only changes what new flows want.
pub fn set_attached(cookie: u64, tags: bool) -> Result<()> {
    let map = open_loaded("attached")?;
    let key = cookie.to_ne_bytes();
    let old = map.lookup(&key, MapFlags::ANY).context("read map attached")?;
    let mut value = old.unwrap_or_else(|| vec![0; record::ATTACHMENT_BYTES]);
    value[record::ATTACHMENT_TAGS] = tags.into();
    map.update(&key, &value, MapFlags::ANY).context("write map attached")
}

pub fn clear_attached(cookie: u64) {
    delete("attached", &cookie.to_ne_bytes());
    delete("params", &cookie.to_ne_bytes());
}

pub fn start_counters(device: u32) -> Result<()> {
    let zero = vec![0; size_of::<DeviceCounters>()];
    open_loaded("devices")?.update(&device.to_ne_bytes(), &zero, MapFlags::ANY).context("write map devices")
}

pub fn counters(device: u32) -> DeviceCounters {
    let value = open("devices").and_then(|map| map.lookup(&device.to_ne_bytes(), MapFlags::ANY).ok()?);
    value.and_then(|bytes| clarion_layout::from_bytes(&bytes)).unwrap_or_default()
}

pub fn set_wire(device: u32, wire: &Wire) -> Result<()> {
    let map = open_loaded("wires")?;
    map.update(&device.to_ne_bytes(), clarion_layout::bytes_of(wire), MapFlags::ANY)
        .context("write map wires")
}

pub fn wire(device: u32) -> Wire {
    let value = open("wires").and_then(|map| map.lookup(&device.to_ne_bytes(), MapFlags::ANY).ok()?);
    value.and_then(|bytes| clarion_layout::from_bytes(&bytes)).unwrap_or_default()
}

pub fn clear_device(device: u32) {
    delete("devices", &device.to_ne_bytes());
    delete("wires", &device.to_ne_bytes());
}

pub fn set_parameters(cookie: u64, values: &[u8]) -> Result<()> {
    open_loaded("params")?.update(&cookie.to_ne_bytes(), values, MapFlags::ANY).context("write map params")
}

/// Last records of the flows that closed.
pub fn closed_flows() -> Vec<FlowRecord> {
    let Some(map) = open("closed") else {
        return Vec::new();
    };
    let entries = map.lookup_batch(CLOSED_BATCH, MapFlags::ANY, MapFlags::ANY);
    entries.into_iter().flatten().filter_map(|(_, bytes)| clarion_layout::from_bytes(&bytes)).collect()
}

/// Deletes a key that may be missing, from a map that may be missing.
fn delete(name: &str, key: &[u8]) {
    if let Some(map) = open(name) {
        let _ = map.delete(key);
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use clarion_layout::{FlowEcho, FlowIdentity, FlowSeen, FlowStats};
    use libbpf_rs::btf::types::Struct;
    use libbpf_rs::btf::{Btf, TypeId};
    use libbpf_rs::HasSize;

    use crate::kernel::objects::{DECISIONS, SHIM, STATS};
    use crate::model::record::*;

    /// Offsets of all members by the BTF of the compiled programs, and the size.
    fn layout(name: &str) -> (Vec<(String, usize)>, usize) {
        let objects = [("stats", STATS), ("shim", SHIM), ("decisions", DECISIONS)];
        let btfs = objects.map(|(name, object)| Btf::from_raw(name, object).expect("BTF").expect("BTF"));
        let types = btfs.iter().flat_map(|btf| (1..btf.len() as u32).map(move |id| (btf, id)));
        let found = types
            .filter_map(|(btf, id)| btf.type_by_id::<Struct<'_>>(TypeId::from(id)))
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
            pad
        );
        assert_layout!("flow_seen", FlowSeen, granted, corrupt, congest, regulated, field, pad);
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
            cc,
            protocol,
            pad
        );
        assert_layout!(
            "device_counters",
            DeviceCounters,
            tx_headers,
            rx_headers,
            gso_passed,
            too_big,
            no_headroom,
            malformed,
            no_flow,
            corrupt,
            refused
        );
        assert_layout!("wire", Wire, until_ns, judgement, is_declared, pad);
        assert_layout!(
            "decision",
            Decision,
            time_ns,
            netns_cookie,
            cookie,
            cwnd_before,
            cwnd_after,
            family,
            sport,
            dport,
            reason,
            is_kernel,
            cc
        );
        let (members, size) = layout("attachment");
        assert_eq!(size, ATTACHMENT_BYTES);
        assert!(members.contains(&("tags".to_owned(), ATTACHMENT_TAGS)));
    }
}
