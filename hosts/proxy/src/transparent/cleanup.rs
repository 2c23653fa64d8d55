// SPDX-License-Identifier: Apache-2.0
//! Takes back what dead proxies left.

use std::path::Path;

use anyhow::Result;

use super::namespace::Namespace;
use super::record::{Record, Store};
use super::routes;

/// Takes back the rules and routes of every record whose owner is dead; one line for each. Their nftables tables
/// have gone with them.
pub fn cleanup(directory: &Path) -> Result<Vec<String>> {
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let store = Store::lock(directory)?;
    let dead = store.all()?.into_iter().filter(|record| !record.owner.is_alive());
    // What fails in one namespace does not keep the others from being cleaned.
    let results: Vec<_> = dead.map(|record| take_back(&store, &record)).collect();
    results.into_iter().collect()
}

fn take_back(store: &Store, record: &Record) -> Result<String> {
    let (inode, pid) = (record.netns_inode, record.owner.pid);
    let line = match Namespace::find(inode) {
        Some(namespace) => {
            namespace.run(|| routes::take_back(&record.families))?;
            format!("took back rules and routes of dead proxy {pid} in network namespace {inode}")
        }
        None => format!("network namespace {inode} of dead proxy {pid} is gone; dropped its record"),
    };
    store.forget(inode)?;
    Ok(line)
}
