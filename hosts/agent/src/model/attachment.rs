// SPDX-License-Identifier: Apache-2.0
//! One attached device: its settings, and those that it replaced.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Longest header; what a packet may grow by.
pub const HEADER_BYTES: u32 = 32;

/// Where the bytes for the header come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Headroom {
    /// The device MTU is raised.
    Raise,
    /// Routes are limited to packets shorter by the header.
    Route,
}

impl Headroom {
    /// MTU that packets without header keep to.
    pub fn plain_mtu(self, mtu: u32) -> u32 {
        match self {
            Self::Raise => mtu,
            Self::Route => mtu - HEADER_BYTES,
        }
    }
}

/// Settings of the device and the namespace before the attachment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Original {
    pub mtu: u32,
    pub gso_max_segs: u32,
    /// Offload features that were on and are switched off.
    pub features: Vec<String>,
    /// IPv6 MTU of the device; `None` without IPv6.
    pub mtu_ip6: Option<u32>,
    /// Routes that are replaced, as netlink messages.
    pub routes: Vec<String>,
    /// The device had a clsact qdisc already.
    pub clsact: bool,
    pub congestion_control: String,
}

/// One attached device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    pub netns: String,
    pub netns_path: PathBuf,
    pub netns_inode: u64,
    pub netns_cookie: u64,
    pub device: String,
    pub ifindex: u32,
    /// Number of the device in the BPF programs.
    pub key: u32,
    pub protocol: u8,
    pub headroom: Headroom,
    pub tags: bool,
    /// Its link is declared to be a bare wire.
    pub wire: bool,
    pub cc: Option<String>,
    pub parameters: BTreeMap<String, u32>,
    /// Everything was done; false in a file that a killed attach left.
    pub complete: bool,
    pub original: Original,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_packets_keep_headroom_for_the_header() {
        assert_eq!(Headroom::Raise.plain_mtu(1500), 1500);
        assert_eq!(Headroom::Route.plain_mtu(1500), 1468); // 1500 - 32
    }
}
