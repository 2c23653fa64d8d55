// SPDX-License-Identifier: Apache-2.0
//! `attach`: prepares a device and its namespace, and puts the shim on it.

use anyhow::{ensure, Context, Result};

use crate::kernel::device::Device;
use crate::kernel::features::Features;
use crate::kernel::netlink::Netlink;
use crate::kernel::netns::{cookie_here, Netns};
use crate::kernel::routes::Route;
use crate::kernel::{laws, maps, objects, parameters, shared, sysctl, tc};
use crate::model::attachment::{Attachment, Headroom, Original, HEADER_BYTES};
use crate::model::parameters::{encode, parse};
use crate::model::record::Wire;
use crate::operations::store::{Programs, Store};
use crate::operations::{congestion, restore};

/// Below this a link may not carry IPv6 (RFC 8200, section 5).
const MTU_MIN: u32 = 1280 + HEADER_BYTES;

/// A device to attach, with the settings of the attachment.
pub struct Request {
    pub netns: Option<String>,
    pub device: String,
    /// Default congestion control of the namespace; left as it is if `None`.
    pub cc: Option<String>,
    /// Loss causes are wanted for what this host sends.
    pub tags: bool,
    /// The link of the device is declared to be a bare wire.
    pub wire: bool,
    pub headroom: Headroom,
    /// Parameters of the laws, as KEY=VALUE.
    pub settings: Vec<String>,
    pub protocol: u8,
}

/// Attaches a device. Attaching one that is attached does it afresh, with the new settings.
pub fn attach(request: &Request) -> Result<()> {
    let parameters = parse(&request.settings, &parameters::known()?, request.cc.as_deref())?;
    let store = Store::lock()?;
    let home = Netns::open(None)?;
    let netns = Netns::open(request.netns.as_deref())?;
    netns.enter()?;
    let cookie = cookie_here()?;
    if let Some(cc) = &request.cc {
        laws::check(cc)?;
    }
    home.enter()?;
    for old in store.attachments()? {
        if old.netns_inode == netns.inode && old.device == request.device {
            restore::put_back(&store, &old)?;
        }
    }
    restore::forget_lost(&store)?;
    restore::unload_if_last(&store)?; // nothing lives: load afresh, perhaps another version
    netns.enter()?;
    let others = store.attachments()?;
    check_protocol(request.protocol, &others)?;
    check_programs(&store, &others)?;

    let mut netlink = Netlink::open()?;
    let device = Device::find(&mut netlink, &request.device, &netns.label)?;
    check_headroom(&device, request.headroom)?;
    let mut attachment = Attachment {
        netns: netns.label.clone(),
        netns_path: lasting_path(&netns),
        netns_inode: netns.inode,
        netns_cookie: cookie,
        device: device.name.clone(),
        ifindex: device.ifindex,
        key: free_key(&others),
        protocol: request.protocol,
        headroom: request.headroom,
        tags: request.tags,
        wire: request.wire,
        cc: request.cc.clone(),
        parameters,
        complete: false,
        original: read_original(&mut netlink, &device, cookie, request.headroom, &others)?,
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

/// The arguments of the changes.
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
        shared::load()?;
        make_headroom(netlink, device, attachment)?;
        device.set_gso_max_segs(netlink, 1)?;
        let features = Features::open(&device.name)?;
        features.switch(&attachment.original.features, false)?;
        features.ensure_checksums_off()?;
        maps::start_counters(attachment.key)?;
        maps::set_wire(attachment.key, &Wire { is_declared: attachment.wire.into(), ..Wire::default() })?;
        tc::attach(attachment)?;
        maps::set_parameters(
            attachment.netns_cookie,
            &encode(&attachment.parameters, &parameters::known()?)?,
        )?;
        if let Some(name) = &attachment.cc {
            laws::register_on_demand(name)?;
            congestion::choose(name, self.home, self.store)?;
        }
        maps::set_attached(attachment.netns_cookie, attachment.tags)
    }
}

fn make_headroom(netlink: &mut Netlink, device: &Device, attachment: &Attachment) -> Result<()> {
    let original = &attachment.original;
    let limit = attachment.headroom.plain_mtu(original.mtu);
    // Routes first: no packet may meet the larger MTU.
    for route in &original.routes {
        let route = Route::from_hex(route).context("saved route is damaged")?;
        if let Some(limited) = route.limited(limit) {
            limited.replace(netlink)?;
        }
    }
    if attachment.headroom == Headroom::Raise {
        device.set_mtu(netlink, original.mtu + HEADER_BYTES).context("use --headroom route")?;
    }
    if let Some(own) = original.mtu_ip6 {
        sysctl::write(&sysctl::mtu_ip6(&device.name), &own.min(limit).to_string())?;
    }
    Ok(())
}

fn check_headroom(device: &Device, headroom: Headroom) -> Result<()> {
    let Device { name, mtu, max_mtu, .. } = device;
    let needed = mtu + HEADER_BYTES;
    ensure!(
        headroom != Headroom::Raise || *max_mtu == 0 || needed <= *max_mtu,
        "--dev {name}: MTU cannot be raised from {mtu} to {needed}, its driver allows {max_mtu}: use --headroom route"
    );
    ensure!(
        headroom != Headroom::Route || *mtu >= MTU_MIN,
        "--headroom route: MTU {mtu} of {name} leaves no headroom below it: use --headroom raise"
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

/// Refuses to run on the programs of another build: they may do something else.
fn check_programs(store: &Store, others: &[Attachment]) -> Result<()> {
    let agent = std::env::current_exe().context("path of this program")?;
    let own = Programs { digest: objects::digest(), agent };
    let Some(Attachment { device, netns, .. }) = others.first() else {
        return store.save_programs(&own);
    };
    let loaded = store.programs();
    let holder =
        loaded.as_ref().map_or("an older clarion-host".into(), |loaded| loaded.agent.display().to_string());
    ensure!(
        loaded.is_some_and(|loaded| loaded.digest == own.digest),
        "{device} in {netns} runs the programs of {holder}, which differ from those of this one: attach with it, or detach --all first"
    );
    Ok(())
}

fn read_original(
    netlink: &mut Netlink,
    device: &Device,
    cookie: u64,
    headroom: Headroom,
    others: &[Attachment],
) -> Result<Original> {
    // A second device of the namespace finds the first one's choice in place: that is not the original.
    let sibling = others.iter().find(|other| other.netns_cookie == cookie);
    let congestion_control = match sibling {
        Some(sibling) => sibling.original.congestion_control.clone(),
        None => sysctl::read(sysctl::CONGESTION_CONTROL)?,
    };
    let limit = headroom.plain_mtu(device.mtu);
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
    fn headroom_is_refused_with_the_way_out() {
        let refused =
            check_headroom(&device(1500, 1500), Headroom::Raise).expect_err("too large").to_string();
        assert!(refused.contains("from 1500 to 1532") && refused.contains("--headroom route"), "{refused}");
        assert!(check_headroom(&device(1500, 1532), Headroom::Raise).is_ok());
        assert!(check_headroom(&device(1500, 0), Headroom::Raise).is_ok());
        assert!(check_headroom(&device(1311, 0), Headroom::Route).is_err()); // 1280 + 32 = 1312
        assert!(check_headroom(&device(1312, 0), Headroom::Route).is_ok());
    }
}
