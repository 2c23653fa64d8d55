// SPDX-License-Identifier: Apache-2.0
//! Transparent interception by TPROXY: TCP connections of this host, or those that it forwards, end at the proxy
//! although they were made to other addresses.
//!
//! `table` has the nftables table, `rules` its text, `routes` the routing that brings marked packets to this host,
//! `earlier` the connections that are left alone because they are older than the interception. `record` is what is
//! on disk before the routing is changed, `cleanup` what makes use of it once the owner is dead.

mod cleanup;
mod commands;
mod earlier;
mod family;
mod listeners;
mod marks;
mod namespace;
mod owner;
mod record;
mod rights;
mod routes;
mod rules;
mod table;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use crate::config::TransparentSettings;
use family::Family;
use namespace::Namespace;
use record::{Record, Store};
use table::Table;

pub use cleanup::cleanup;
pub use listeners::listeners;
pub use marks::mark_own;

/// Where records are if nothing else is said.
pub const STATE_DIRECTORY: &str = "/run/clarion/proxy";

/// The interception of one network namespace; it ends when this is dropped.
pub struct Interception {
    directory: PathBuf,
    namespace: Namespace,
    record: Record,
    /// `None` once it is closed.
    table: Option<Table>,
}

impl Interception {
    /// Begins to intercept in the network namespace of the calling thread. The listeners should be there already.
    pub fn set_up(settings: &TransparentSettings) -> Result<Self> {
        Self::set_up_in(settings, Path::new(STATE_DIRECTORY))
    }

    /// The same with the record in another directory.
    pub fn set_up_in(settings: &TransparentSettings, directory: &Path) -> Result<Self> {
        ensure!(
            settings.local || settings.forwarded,
            "transparent mode is to take neither local nor forwarded connections; choose local, forwarded or both"
        );
        rights::check()?;
        let families = Family::of_settings(settings)?;
        rights::check_loopback()?;
        // Now, because without it what is made could not be taken back.
        commands::run("ip", &["-V"])?;
        let namespace = Namespace::current()?;
        let store = Store::lock(directory)?;
        if let Some(old) = store.read(namespace.inode())? {
            if old.owner.is_alive() {
                bail!(
                    "clarion-proxy with process id {} already intercepts connections in this network namespace; \
                     end it first",
                    old.owner.pid
                );
            }
            routes::take_back(&old.families)?;
            store.forget(namespace.inode())?;
        }
        // Before anything is made that a proxy which this one knows nothing of might share.
        let table = Table::claim()?;
        let record = Record::new(&namespace, &families)?;
        store.save(&record)?;
        drop(store);
        // From here on whatever fails is taken back by Drop.
        let mut interception =
            Self { directory: directory.to_owned(), namespace, record, table: Some(table) };
        routes::make(&families)?;
        let earlier = if settings.local { earlier::connections(settings)? } else { Vec::new() };
        if let Some(table) = &mut interception.table {
            table.tell(&rules::text(settings, &families, &earlier))?;
        }
        Ok(interception)
    }

    fn take_back(&mut self) -> Result<()> {
        // First the table: what it marks needs the routes.
        if let Some(table) = self.table.take() {
            table.close();
        }
        let store = Store::lock(&self.directory)?;
        self.namespace.run(|| routes::take_back(&self.record.families))?;
        store.forget(self.namespace.inode())
    }
}

impl Drop for Interception {
    fn drop(&mut self) {
        if let Err(error) = self.take_back() {
            tracing::warn!("interception is not taken back: {error:#}; run `clarion-proxy cleanup`");
        }
    }
}
