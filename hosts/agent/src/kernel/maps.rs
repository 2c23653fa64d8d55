// SPDX-License-Identifier: Apache-2.0
//! The pinned maps, opened by name.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use libbpf_rs::{MapCore, MapFlags, MapHandle};

use crate::model::record::{self, DeviceCounters, FlowRecord};

/// Where everything shared is pinned.
pub const PINS: &str = "/sys/fs/bpf/clarion";

/// Entries of the map of closed flows that are read in one system call.
const CLOSED_BATCH: u32 = 1024;

pub fn pin_of(name: &str) -> PathBuf {
    Path::new(PINS).join(name)
}

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
    value.and_then(|bytes| record::from_bytes(&bytes)).unwrap_or_default()
}

pub fn clear_counters(device: u32) {
    delete("devices", &device.to_ne_bytes());
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
    entries.into_iter().flatten().filter_map(|(_, bytes)| record::from_bytes(&bytes)).collect()
}

/// Deletes a key that may be missing, from a map that may be missing.
fn delete(name: &str, key: &[u8]) {
    if let Some(map) = open(name) {
        let _ = map.delete(key);
    }
}
