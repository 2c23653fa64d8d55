// SPDX-License-Identifier: Apache-2.0
//! `detach`: puts everything back, also after an attach that was killed half-way.

use anyhow::{bail, Context, Result};

use crate::kernel::device::{index_of, Device};
use crate::kernel::features::Features;
use crate::kernel::netlink::Netlink;
use crate::kernel::netns::Netns;
use crate::kernel::routes::Route;
use crate::kernel::{laws, maps, shared, sysctl, tc};
use crate::model::attachment::{Attachment, Headroom};
use crate::operations::congestion;
use crate::operations::store::Store;

/// Detaches one device.
pub fn detach(netns: Option<&str>, device: &str) -> Result<()> {
    let store = Store::lock()?;
    let attachments = store.attachments()?;
    let inode = Netns::open(netns).map(|netns| netns.inode);
    let matches = |attachment: &&Attachment| {
        let same = match (&inode, netns) {
            (Ok(inode), _) => attachment.netns_inode == *inode,
            (Err(_), name) => Some(attachment.netns.as_str()) == name, // gone, but still known by name
        };
        same && attachment.device == device
    };
    let Some(attachment) = attachments.iter().find(matches) else {
        inode?; // a namespace that never was is the clearer error
        bail!(
            "--dev {device}: not attached in namespace {} (see `clarion-host list`)",
            netns.unwrap_or("current")
        );
    };
    put_back(&store, attachment)?;
    unload_if_last(&store)
}

/// Detaches all devices and removes whatever is pinned.
pub fn detach_all() -> Result<()> {
    let store = Store::lock()?;
    let mut result = Ok(());
    for attachment in store.attachments()? {
        let one = put_back(&store, &attachment)
            .with_context(|| format!("detach {} in {}", attachment.device, attachment.netns));
        result = result.and(one); // the first error is shown, the others are still put back
    }
    let result = result.and(unload_if_last(&store));
    if store.attachments()?.is_empty() {
        laws::unregister_orphans();
    }
    result
}

/// Forgets what is gone, says what that was, and leaves living attachments alone.
pub fn detach_lost() -> Result<()> {
    let store = Store::lock()?;
    for Attachment { device, netns, .. } in forget_lost(&store)? {
        println!("forgot {device} in {netns}: gone");
    }
    unload_if_last(&store)
}

/// Removes the shared programs and maps when nothing is attached any more. To be called in the namespace that
/// the agent was started in.
pub fn unload_if_last(store: &Store) -> Result<()> {
    if store.attachments()?.is_empty() {
        shared::unload()?;
        store.forget_programs();
        congestion::restore_allowed(&Netns::open(None)?, store)?;
    }
    Ok(())
}

/// Forgets the attachments whose namespace or device is gone; these are returned.
pub fn forget_lost(store: &Store) -> Result<Vec<Attachment>> {
    let here = Netns::open(None)?;
    let mut lost = Vec::new();
    for attachment in store.attachments()? {
        let (path, inode) = (&attachment.netns_path, attachment.netns_inode);
        let lives = match Netns::find(path, inode, attachment.netns_cookie) {
            Some(netns) => netns.enter().is_ok() && index_of(&attachment.device) == Some(attachment.ifindex),
            None => false,
        };
        here.enter()?;
        if !lives {
            put_back(store, &attachment)?;
            lost.push(attachment);
        }
    }
    Ok(lost)
}

/// Undoes one attachment and forgets it. A namespace or device that is gone took its settings with it.
pub fn put_back(store: &Store, attachment: &Attachment) -> Result<()> {
    let here = Netns::open(None)?;
    let others = store.attachments()?;
    let last_of_netns = !others
        .iter()
        .any(|other| other.netns_cookie == attachment.netns_cookie && other.device != attachment.device);
    if last_of_netns {
        maps::clear_attached(attachment.netns_cookie); // no new flow is offered the header
    }
    let (path, inode) = (&attachment.netns_path, attachment.netns_inode);
    let result = match Netns::find(path, inode, attachment.netns_cookie) {
        Some(netns) => netns.enter().and_then(|()| put_back_here(attachment, last_of_netns)),
        None => Ok(()),
    };
    maps::clear_device(attachment.key);
    here.enter()?;
    result?;
    store.forget(attachment)
}

/// In the namespace of the attachment; the reverse of the order of attaching.
fn put_back_here(attachment: &Attachment, last_of_netns: bool) -> Result<()> {
    let original = &attachment.original;
    if last_of_netns && attachment.cc.is_some() {
        sysctl::write(sysctl::CONGESTION_CONTROL, &original.congestion_control)?;
    }
    if index_of(&attachment.device) != Some(attachment.ifindex) {
        return Ok(()); // deleted, or another device of the same name
    }
    let mut netlink = Netlink::open()?;
    let device = Device::find(&mut netlink, &attachment.device, &attachment.netns)?;
    tc::detach(attachment)?;
    Features::open(&device.name)?.switch(&original.features, true)?;
    device.set_gso_max_segs(&mut netlink, original.gso_max_segs)?;
    if attachment.headroom == Headroom::Raise {
        device.set_mtu(&mut netlink, original.mtu)?;
    }
    if let Some(mtu) = original.mtu_ip6 {
        sysctl::write(&sysctl::mtu_ip6(&device.name), &mtu.to_string())?;
    }
    for route in &original.routes {
        Route::from_hex(route).context("saved route is damaged")?.replace(&mut netlink)?;
    }
    Ok(())
}
