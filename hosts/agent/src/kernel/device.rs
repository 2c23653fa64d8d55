// SPDX-License-Identifier: Apache-2.0
//! A network device of the current namespace: its kind, MTU and segmentation limit.

use std::ffi::CString;

use anyhow::{bail, ensure, Context, Result};

use crate::kernel::netlink::{push_attribute, read_u16, read_u32, Attributes, Netlink};

const IFINFO_BYTES: usize = 16; // struct ifinfomsg
const IFLA_MAX_MTU: u16 = 51;
const IFLA_GSO_MAX_SEGS: u16 = 40;

#[derive(Clone, Debug)]
pub struct Device {
    pub name: String,
    pub ifindex: u32,
    pub mtu: u32,
    /// Largest MTU that the driver allows; 0 = it does not say.
    pub max_mtu: u32,
    pub gso_max_segs: u32,
}

/// Index of device `name`, if there is one.
pub fn index_of(name: &str) -> Option<u32> {
    let name = CString::new(name).ok()?;
    // SAFETY: a valid C string.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => None,
        index => Some(index),
    }
}

impl Device {
    /// Looks the device up, and refuses what cannot carry the header.
    pub fn find(netlink: &mut Netlink, name: &str, netns: &str) -> Result<Self> {
        let Some(ifindex) = index_of(name) else {
            bail!("--dev {name}: no such device in namespace {netns} (see `ip link` there)");
        };
        let reply = netlink.get(libc::RTM_GETLINK, &link_message(ifindex)).context("read device")?;
        let hardware = read_u16(&reply, 2).unwrap_or(0);
        ensure!(
            hardware == libc::ARPHRD_ETHER,
            "--dev {name}: not an Ethernet device; attach the device that the packets leave through"
        );
        let attributes = reply.get(IFINFO_BYTES..).unwrap_or(&[]);
        let number = |wanted| {
            Attributes(attributes).find(|(kind, _)| *kind == wanted).and_then(|(_, data)| read_u32(data, 0))
        };
        Ok(Self {
            name: name.to_owned(),
            ifindex,
            mtu: number(libc::IFLA_MTU).context("device without MTU")?,
            max_mtu: number(IFLA_MAX_MTU).unwrap_or(0),
            gso_max_segs: number(IFLA_GSO_MAX_SEGS).context("device without gso_max_segs")?,
        })
    }

    pub fn set_mtu(&self, netlink: &mut Netlink, mtu: u32) -> Result<()> {
        self.set(netlink, libc::IFLA_MTU, mtu)
            .with_context(|| format!("MTU of {} cannot be set to {mtu}", self.name))
    }

    pub fn set_gso_max_segs(&self, netlink: &mut Netlink, segments: u32) -> Result<()> {
        self.set(netlink, IFLA_GSO_MAX_SEGS, segments)
            .with_context(|| format!("gso_max_segs of {} cannot be set to {segments}", self.name))
    }

    fn set(&self, netlink: &mut Netlink, attribute: u16, value: u32) -> std::io::Result<()> {
        let mut body = link_message(self.ifindex);
        push_attribute(&mut body, attribute, &value.to_ne_bytes());
        netlink.change(libc::RTM_NEWLINK, 0, &body)
    }
}

fn link_message(ifindex: u32) -> Vec<u8> {
    let mut body = vec![0u8; IFINFO_BYTES];
    body[4..8].copy_from_slice(&ifindex.to_ne_bytes());
    body
}
