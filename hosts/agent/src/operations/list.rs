// SPDX-License-Identifier: Apache-2.0
//! `list`: the attached devices.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::kernel::{clock, maps};
use crate::model::attachment::Headroom;
use crate::model::record::{self, DeviceCounters};
use crate::operations::store;

#[derive(Serialize)]
struct Entry {
    netns: String,
    device: String,
    ifindex: u32,
    cc: Option<String>,
    tags: bool,
    wire: &'static str,
    headroom: Headroom,
    protocol: u8,
    parameters: BTreeMap<String, u32>,
    complete: bool,
    counters: DeviceCounters,
}

/// What is known of the wire in front of a device. LLDP counts for more than the declaration.
fn wire_state(device: u32) -> &'static str {
    let wire = maps::wire(device);
    let holds = clock::monotonic_ns().is_ok_and(|now| now < wire.until_ns);
    match (holds, wire.judgement, wire.is_declared) {
        (true, record::WIRE_PROVEN, _) => "proven",
        (true, record::WIRE_DISPROVED, 0) => "disproved",
        (true, record::WIRE_DISPROVED, _) => "conflict",
        (_, _, 0) => "unproven",
        _ => "declared",
    }
}

pub fn list(json: bool) -> Result<()> {
    let entries: Vec<Entry> = store::read_all()?
        .into_iter()
        .map(|attachment| Entry {
            counters: maps::counters(attachment.key),
            wire: wire_state(attachment.key),
            netns: attachment.netns,
            device: attachment.device,
            ifindex: attachment.ifindex,
            cc: attachment.cc,
            tags: attachment.tags,
            headroom: attachment.headroom,
            protocol: attachment.protocol,
            parameters: attachment.parameters,
            complete: attachment.complete,
        })
        .collect();
    if json {
        println!("{}", serde_json::to_string(&entries).context("encode the list")?);
        return Ok(());
    }
    println!(
        "{:<12} {:<12} {:<14} {:<4} {:<9} {:>12} {:>12} {:>10} {:>10}",
        "netns", "device", "cc", "tags", "wire", "tx headers", "rx headers", "malformed", "corrupt"
    );
    for entry in entries {
        let cc = entry.cc.as_deref().unwrap_or("-");
        let tags = if entry.tags { "on" } else { "off" };
        let unfinished = if entry.complete { "" } else { "  (attach was interrupted: detach it)" };
        let DeviceCounters { tx_headers, rx_headers, malformed, corrupt, .. } = entry.counters;
        println!(
            "{:<12} {:<12} {cc:<14} {tags:<4} {:<9} {tx_headers:>12} {rx_headers:>12} {malformed:>10} {corrupt:>10}{unfinished}",
            entry.netns, entry.device, entry.wire
        );
    }
    Ok(())
}
