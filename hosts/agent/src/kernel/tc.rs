// SPDX-License-Identifier: Apache-2.0
//! The shim's two tc filters on a device.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{bail, Context, Result};
use libbpf_rs::{TcHook, TcHookBuilder, TC_EGRESS, TC_INGRESS};

use crate::kernel::netlink::{read_u32, Attributes, Netlink};
use crate::kernel::objects;
use crate::model::attachment::Attachment;

/// Handle and priority of both filters; by these they are found again.
const HANDLE: u32 = 0xc1a7;
const PRIORITY: u32 = 0xc1a7;

const TCMSG_BYTES: usize = 20; // struct tcmsg
const TCA_KIND: u16 = 1;
const RTM_GETQDISC: u16 = 38;

/// Whether the device has a clsact qdisc already; an error if an ingress qdisc is in its place.
pub fn has_clsact(netlink: &mut Netlink, ifindex: u32) -> Result<bool> {
    let replies = netlink.dump(RTM_GETQDISC, &[0; TCMSG_BYTES]).context("read qdiscs")?;
    for reply in replies.iter().filter(|reply| read_u32(reply, 4) == Some(ifindex)) {
        let attributes = reply.get(TCMSG_BYTES..).unwrap_or(&[]);
        match Attributes(attributes).find(|(kind, _)| *kind == TCA_KIND) {
            Some((_, b"clsact\0")) => return Ok(true),
            Some((_, b"ingress\0")) => {
                bail!("the device has an ingress qdisc: replace it by clsact (`tc qdisc del dev D ingress`)")
            }
            _ => {}
        }
    }
    Ok(false)
}

/// Loads the shim for this device and sets both filters: first the one that takes headers off.
pub fn attach(attachment: &Attachment) -> Result<()> {
    let mut object = objects::open(objects::SHIM, "shim")?;
    objects::set_rodata(&mut object, "device", &attachment.key.to_ne_bytes())?;
    objects::set_rodata(&mut object, "netns_cookie", &attachment.netns_cookie.to_ne_bytes())?;
    objects::set_rodata(&mut object, "header_protocol", &[attachment.protocol])?;
    let object = objects::load(object, "shim")?;
    for (name, point) in [("clarion_ingress", TC_INGRESS), ("clarion_egress", TC_EGRESS)] {
        let program = object.progs().find(|program| program.name() == name);
        let program = program.with_context(|| format!("shim without {name}"))?;
        let mut filter = hook(program.as_fd(), attachment.ifindex, point);
        filter.create().context("make the clsact qdisc")?;
        filter.attach().with_context(|| format!("attach {name} to {}", attachment.device))?;
    }
    Ok(())
}

/// Takes the filters off, first the one that puts headers on; and the qdisc if it was made for them.
pub fn detach(attachment: &Attachment) -> Result<()> {
    let no_program = File::open("/dev/null").context("open /dev/null")?; // none is needed to detach
    for point in [TC_EGRESS, TC_INGRESS] {
        let _ = hook(no_program.as_fd(), attachment.ifindex, point).detach(); // may not have come that far
    }
    if !attachment.original.clsact {
        let mut both = hook(no_program.as_fd(), attachment.ifindex, TC_EGRESS | TC_INGRESS);
        let _ = both.destroy();
    }
    Ok(())
}

fn hook(program: BorrowedFd<'_>, ifindex: u32, point: libbpf_rs::TcAttachPoint) -> TcHook {
    TcHookBuilder::new(program)
        .ifindex(ifindex as i32)
        .replace(true)
        .handle(HANDLE)
        .priority(PRIORITY)
        .hook(point)
}
