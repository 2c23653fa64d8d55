// SPDX-License-Identifier: Apache-2.0
//! `list`: the attached devices.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::kernel::maps;
use crate::model::attachment::Headroom;
use crate::model::record::DeviceCounters;
use crate::operations::store;

#[derive(Serialize)]
struct Entry {
    netns: String,
    device: String,
    ifindex: u32,
    cc: Option<String>,
    tags: bool,
    headroom: Headroom,
    protocol: u8,
    parameters: BTreeMap<String, u32>,
    complete: bool,
    counters: DeviceCounters,
}

pub fn list(json: bool) -> Result<()> {
    let entries: Vec<Entry> = store::read_all()?
        .into_iter()
        .map(|attachment| Entry {
            counters: maps::counters(attachment.key),
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
        "{:<12} {:<12} {:<14} {:<4} {:>12} {:>12} {:>10} {:>10}",
        "netns", "device", "cc", "tags", "tx headers", "rx headers", "malformed", "corrupt"
    );
    for entry in entries {
        let cc = entry.cc.as_deref().unwrap_or("-");
        let tags = if entry.tags { "on" } else { "off" };
        let unfinished = if entry.complete { "" } else { "  (attach was interrupted: detach it)" };
        let DeviceCounters { tx_headers, rx_headers, malformed, corrupt, .. } = entry.counters;
        println!(
            "{:<12} {:<12} {cc:<14} {tags:<4} {tx_headers:>12} {rx_headers:>12} {malformed:>10} {corrupt:>10}{unfinished}",
            entry.netns, entry.device
        );
    }
    Ok(())
}
