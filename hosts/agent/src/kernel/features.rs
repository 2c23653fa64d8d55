// SPDX-License-Identifier: Apache-2.0
//! Offload features of a device, by the names that `ethtool -k` shows.
//!
//! The shim needs packets whole: not merged into larger ones to be segmented below it, and with their TCP
//! checksum completed in software, because the device would look for it behind the IP header.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{ensure, Context, Result};
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};

/// Features that are off while a device is attached.
const UNWANTED: [&str; 9] = [
    "tx-checksum-ipv4",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv6",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp-accecn-segmentation",
    "tx-tcp-ecn-segmentation",
    "tx-tcp-mangleid-segmentation",
    "tx-tcp6-segmentation",
];

const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_GSTRINGS: u32 = 0x1b;
const ETHTOOL_GSSET_INFO: u32 = 0x37;
const ETHTOOL_GFEATURES: u32 = 0x3a;
const ETHTOOL_SFEATURES: u32 = 0x3b;
const ETH_SS_FEATURES: u32 = 4;
const NAME_BYTES: usize = 32;

/// The feature bits of one device of the current namespace.
pub struct Features {
    socket: OwnedFd,
    device: String,
    names: Vec<String>,
}

/// One block of 32 features, as the kernel reports it.
struct Block {
    available: u32,
    requested: u32,
    active: u32,
}

impl Features {
    pub fn open(device: &str) -> Result<Self> {
        let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)
            .context("socket")?;
        let mut features = Self { socket, device: device.to_owned(), names: Vec::new() };
        features.names = features.read_names().with_context(|| format!("offload features of {device}"))?;
        Ok(features)
    }

    /// The unwanted features that are on, or would come on by themselves, and can be switched.
    pub fn unwanted(&self) -> Result<Vec<String>> {
        let blocks = self.read_blocks()?;
        let switchable = |bit: usize| {
            let (block, mask) = (&blocks[bit / 32], 1 << (bit % 32));
            block.available & block.requested & mask != 0
        };
        let named = |bit: &usize| UNWANTED.contains(&self.names[*bit].as_str());
        let bits = (0..self.names.len()).filter(named).filter(|bit| switchable(*bit));
        Ok(bits.map(|bit| self.names[bit].clone()).collect())
    }

    /// Fails if a checksum is still left to the device.
    pub fn ensure_checksums_off(&self) -> Result<()> {
        let blocks = self.read_blocks()?;
        for (bit, name) in self.names.iter().enumerate() {
            let active = blocks[bit / 32].active >> (bit % 32) & 1 == 1;
            ensure!(
                !(active && UNWANTED.contains(&name.as_str())),
                "{}: {name} cannot be switched off; attach another device",
                self.device
            );
        }
        Ok(())
    }

    /// Switches features by name; names that the device lacks are ignored.
    pub fn switch(&self, names: &[String], on: bool) -> Result<()> {
        let mut command = vec![ETHTOOL_SFEATURES, self.block_count() as u32];
        for block in 0..self.block_count() {
            let valid = (0..32)
                .filter(|bit| self.names.get(block * 32 + bit).is_some_and(|name| names.contains(name)))
                .fold(0u32, |mask, bit| mask | 1 << bit);
            command.extend([valid, if on { valid } else { 0 }]);
        }
        self.ioctl(&mut command).with_context(|| format!("switch offloads of {}", self.device))
    }

    fn block_count(&self) -> usize {
        self.names.len().div_ceil(32)
    }

    fn read_blocks(&self) -> Result<Vec<Block>> {
        let count = self.block_count();
        let mut command = vec![0u32; 2 + 4 * count];
        command[0] = ETHTOOL_GFEATURES;
        command[1] = count as u32;
        self.ioctl(&mut command).with_context(|| format!("offload features of {}", self.device))?;
        let blocks = command[2..].chunks_exact(4);
        Ok(blocks.map(|b| Block { available: b[0], requested: b[1], active: b[2] }).collect())
    }

    fn read_names(&self) -> Result<Vec<String>> {
        // struct ethtool_sset_info: cmd, reserved, sset_mask (64 bits), data[]
        let mut info = vec![ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0, 0];
        self.ioctl(&mut info)?;
        let count = info[4] as usize;
        // struct ethtool_gstrings: cmd, string_set, len, data[]
        let mut strings = vec![0u32; 3 + count * NAME_BYTES / 4];
        strings[0] = ETHTOOL_GSTRINGS;
        strings[1] = ETH_SS_FEATURES;
        strings[2] = count as u32;
        self.ioctl(&mut strings)?;
        let bytes: Vec<u8> = strings[3..].iter().flat_map(|word| word.to_ne_bytes()).collect();
        Ok(bytes.chunks_exact(NAME_BYTES).map(name_of).collect())
    }

    fn ioctl(&self, command: &mut [u32]) -> io::Result<()> {
        // SAFETY: all-zero is a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        let longest = request.ifr_name.len() - 1;
        for (to, from) in request.ifr_name.iter_mut().zip(self.device.bytes().take(longest)) {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_data = command.as_mut_ptr().cast();
        // SAFETY: `command` is as long as the counts in it say, and outlives the call.
        let result = unsafe { libc::ioctl(self.socket.as_raw_fd(), SIOCETHTOOL as _, &mut request) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }
}

fn name_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
