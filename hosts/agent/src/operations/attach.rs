// SPDX-License-Identifier: Apache-2.0
//! `attach`: prepare a device and its namespace, and put the shim on it.

use anyhow::{ensure, Context, Result};

use crate::cli::{AttachArgs, Room, Switch};
use crate::kernel::device::Device;
use crate::kernel::features::Features;
use crate::kernel::netlink::Netlink;
use crate::kernel::netns::{cookie_here, Netns};
use crate::kernel::routes::Route;
use crate::kernel::{bpf, cc, maps, params, sysctl, tc};
use crate::operations::restore;
use crate::operations::state::{Attachment, Original, Store};

/// Longest header; what a packet may grow by.
pub const HEADER_BYTES: u32 = 32;

/// Below this a link may not carry IPv6 (RFC 8200, section 5).
const MTU_MIN: u32 = 1280 + HEADER_BYTES;

/// Attaches a device. Attaching one that is attached does it afresh, with the new settings.
pub fn attach(args: &AttachArgs) -> Result<()> {
    let parameters = params::parse(&args.set)?;
    let store = Store::lock()?;
    let home = Netns::open(None)?;
    let netns = Netns::open(args.target.netns.as_deref())?;
    netns.enter()?;
    let cookie = cookie_here()?;
    if let Some(cc) = &args.cc {
        cc::check(cc)?;
    }
    home.enter()?;
    for old in store.attachments()? {
        if old.netns_inode == netns.inode && old.device == args.target.dev {
            restore::put_back(&store, &old)?;
        }
    }
    restore::forget_lost(&store)?;
    restore::unload_if_last(&store)?; // nothing lives: load afresh, perhaps another version
    netns.enter()?;
    let others = store.attachments()?;
    check_protocol(args.protocol, &others)?;

    let mut netlink = Netlink::open()?;
    let device = Device::find(&mut netlink, &args.target.dev, &netns.label)?;
    check_room(&device, args.room)?;
    let mut attachment = Attachment {
        netns: netns.label.clone(),
        netns_path: lasting_path(&netns),
        netns_inode: netns.inode,
        netns_cookie: cookie,
        device: device.name.clone(),
        ifindex: device.ifindex,
        key: free_key(&others),
        protocol: args.protocol,
        room: args.room,
        tags: args.tags == Switch::On,
        cc: args.cc.clone(),
        parameters,
        complete: false,
        original: read_original(&mut netlink, &device, cookie, args.room, &others)?,
    };
    store.save(&attachment)?;
    let changes = Changes { home: &home, store: &store, device: &device, attachment: &attachment };
    let done = changes.make(&mut netlink);
    if done.is_err() {
        let undone = restore::put_back(&store, &attachment);
        let undone = home.enter().and(undone).and_then(|()| restore::unload_if_last(&store));
        return done.and(undone);
    }
    attachment.complete = true;
    store.save(&attachment)
}

/// Everything that making the changes needs to know.
struct Changes<'a> {
    home: &'a Netns,
    store: &'a Store,
    device: &'a Device,
    attachment: &'a Attachment,
}

impl Changes<'_> {
    /// The order matters: headers can be taken off before any is put on, and none is offered before that.
    fn make(&self, netlink: &mut Netlink) -> Result<()> {
        let Self { device, attachment, .. } = self;
        bpf::load_shared()?;
        make_room(netlink, device, attachment)?;
        device.set_gso_max_segs(netlink, 1)?;
        let features = Features::open(&device.name)?;
        features.switch(&attachment.original.features, false)?;
        features.ensure_checksums_off()?;
        maps::start_counters(attachment.key)?;
        tc::attach(attachment)?;
        maps::set_parameters(attachment.netns_cookie, &params::encode(&attachment.parameters)?)?;
        if let Some(name) = &attachment.cc {
            cc::choose(name, self.home, self.store)?;
        }
        maps::set_attached(attachment.netns_cookie, attachment.tags)
    }
}

/// MTU that packets without header keep to.
fn plain_mtu(mtu: u32, room: Room) -> u32 {
    match room {
        Room::Raise => mtu,
        Room::Route => mtu - HEADER_BYTES,
    }
}

fn make_room(netlink: &mut Netlink, device: &Device, attachment: &Attachment) -> Result<()> {
    let original = &attachment.original;
    let limit = plain_mtu(original.mtu, attachment.room);
    // Routes first: no packet may meet the larger MTU.
    for route in &original.routes {
        let route = Route::from_hex(route).context("saved route is damaged")?;
        if let Some(limited) = route.limited(limit) {
            limited.replace(netlink)?;
        }
    }
    if attachment.room == Room::Raise {
        device.set_mtu(netlink, original.mtu + HEADER_BYTES).context("use --room route")?;
    }
    if let Some(own) = original.mtu_ip6 {
        sysctl::write(&sysctl::mtu_ip6(&device.name), &own.min(limit).to_string())?;
    }
    Ok(())
}

fn check_room(device: &Device, room: Room) -> Result<()> {
    let Device { name, mtu, max_mtu, .. } = device;
    let needed = mtu + HEADER_BYTES;
    ensure!(
        room != Room::Raise || *max_mtu == 0 || needed <= *max_mtu,
        "--dev {name}: MTU cannot be raised from {mtu} to {needed}, its driver allows {max_mtu}: use --room route"
    );
    ensure!(
        room != Room::Route || *mtu >= MTU_MIN,
        "--room route: MTU {mtu} of {name} leaves no room below it: use --room raise"
    );
    Ok(())
}

fn check_protocol(protocol: u8, others: &[Attachment]) -> Result<()> {
    for other in others {
        ensure!(
            other.protocol == protocol,
            "--protocol {protocol}: {} in {} is attached with {}; use one number on a machine",
            other.device,
            other.netns,
            other.protocol
        );
    }
    Ok(())
}

fn read_original(
    netlink: &mut Netlink,
    device: &Device,
    cookie: u64,
    room: Room,
    others: &[Attachment],
) -> Result<Original> {
    // A second device of the namespace finds the first one's choice in place: that is not the original.
    let sibling = others.iter().find(|other| other.netns_cookie == cookie);
    let congestion_control = match sibling {
        Some(sibling) => sibling.original.congestion_control.clone(),
        None => sysctl::read(sysctl::CONGESTION_CONTROL)?,
    };
    let limit = plain_mtu(device.mtu, room);
    let routes = Route::through(netlink, device.ifindex)?;
    Ok(Original {
        mtu: device.mtu,
        gso_max_segs: device.gso_max_segs,
        features: Features::open(&device.name)?.unwanted()?,
        mtu_ip6: sysctl::read_number(&sysctl::mtu_ip6(&device.name)),
        routes: routes.iter().filter(|route| route.limited(limit).is_some()).map(Route::to_hex).collect(),
        clsact: tc::has_clsact(netlink, device.ifindex)?,
        congestion_control,
    })
}

/// A path that still means this namespace when this process is gone.
fn lasting_path(netns: &Netns) -> std::path::PathBuf {
    if netns.label == "current" {
        let parent = nix::unistd::getppid();
        return format!("/proc/{parent}/ns/net").into();
    }
    netns.path.clone()
}

/// Smallest number that no attachment has.
fn free_key(others: &[Attachment]) -> u32 {
    (1..).find(|key| others.iter().all(|other| other.key != *key)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(mtu: u32, max_mtu: u32) -> Device {
        Device { name: "d".into(), ifindex: 2, mtu, max_mtu, gso_max_segs: 65535 }
    }

    #[test]
    fn room_is_refused_with_the_way_out() {
        let refused = check_room(&device(1500, 1500), Room::Raise).expect_err("too large").to_string();
        assert!(refused.contains("from 1500 to 1532") && refused.contains("--room route"), "{refused}");
        assert!(check_room(&device(1500, 1532), Room::Raise).is_ok());
        assert!(check_room(&device(1500, 0), Room::Raise).is_ok());
        assert!(check_room(&device(1311, 0), Room::Route).is_err()); // 1280 + 32 = 1312
        assert!(check_room(&device(1312, 0), Room::Route).is_ok());
    }

    #[test]
    fn plain_packets_keep_room_for_the_header() {
        assert_eq!(plain_mtu(1500, Room::Raise), 1500);
        assert_eq!(plain_mtu(1500, Room::Route), 1468); // 1500 - 32
    }
}
