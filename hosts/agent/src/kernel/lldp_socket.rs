// SPDX-License-Identifier: Apache-2.0
//! A packet socket for the LLDP frames of one device.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use anyhow::{ensure, Context, Result};

use crate::model::lldp::{ETHERTYPE, GROUP};

const FRAME_BYTES_MAX: usize = 1600;

pub struct LldpSocket {
    fd: OwnedFd,
    /// Ethernet address of the device.
    pub address: [u8; 6],
}

impl LldpSocket {
    /// Opens it on a device of the current namespace.
    pub fn open(ifindex: u32) -> Result<Self> {
        // SAFETY: no pointers are passed.
        let raw = unsafe {
            libc::socket(
                libc::AF_PACKET,
                libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK,
                i32::from(ETHERTYPE.to_be()),
            )
        };
        ensure!(raw >= 0, "packet socket: {}", io::Error::last_os_error());
        // SAFETY: the descriptor is new and ours.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let mut link = link_address(ifindex);
        let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // SAFETY: `link` is a sockaddr_ll of `length` bytes.
        let bound = unsafe { libc::bind(raw, std::ptr::from_ref(&link).cast(), length) };
        ensure!(bound == 0, "bind a packet socket: {}", io::Error::last_os_error());
        let mut found = length;
        // SAFETY: the kernel writes at most `found` bytes into `link`.
        let named = unsafe { libc::getsockname(raw, std::ptr::from_mut(&mut link).cast(), &mut found) };
        ensure!(named == 0, "address of a device: {}", io::Error::last_os_error());
        join(raw, ifindex)?;
        let address = link.sll_addr[..6].try_into().context("no Ethernet address")?;
        Ok(Self { fd, address })
    }

    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        // SAFETY: the buffer is valid for its length.
        let sent = unsafe { libc::send(self.fd.as_raw_fd(), frame.as_ptr().cast(), frame.len(), 0) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// The next frame that came in; `None` if there is none.
    pub fn receive(&self) -> Option<Vec<u8>> {
        let mut frame = vec![0u8; FRAME_BYTES_MAX];
        loop {
            // SAFETY: all-zero is a valid sockaddr_ll.
            let mut from: libc::sockaddr_ll = unsafe { zeroed() };
            let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            // SAFETY: both buffers are valid for the lengths given.
            let received = unsafe {
                libc::recvfrom(
                    self.fd.as_raw_fd(),
                    frame.as_mut_ptr().cast(),
                    frame.len(),
                    0,
                    std::ptr::from_mut(&mut from).cast(),
                    &mut length,
                )
            };
            if received < 0 {
                return None;
            }
            if from.sll_pkttype != libc::PACKET_OUTGOING {
                frame.truncate(received as usize);
                return Some(frame);
            }
        }
    }
}

fn link_address(ifindex: u32) -> libc::sockaddr_ll {
    // SAFETY: all-zero is a valid sockaddr_ll.
    let mut link: libc::sockaddr_ll = unsafe { zeroed() };
    link.sll_family = libc::AF_PACKET as u16;
    link.sll_protocol = ETHERTYPE.to_be();
    link.sll_ifindex = ifindex as i32;
    link
}

/// The device takes frames to the group only from now on, and until the socket closes.
fn join(raw: i32, ifindex: u32) -> Result<()> {
    // SAFETY: all-zero is a valid packet_mreq.
    let mut request: libc::packet_mreq = unsafe { zeroed() };
    request.mr_ifindex = ifindex as i32;
    request.mr_type = libc::PACKET_MR_MULTICAST as u16;
    request.mr_alen = GROUP.len() as u16;
    request.mr_address[..6].copy_from_slice(&GROUP);
    // SAFETY: `request` is valid for its size.
    let joined = unsafe {
        libc::setsockopt(
            raw,
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            std::ptr::from_ref(&request).cast(),
            size_of::<libc::packet_mreq>() as libc::socklen_t,
        )
    };
    ensure!(joined == 0, "join the LLDP group: {}", io::Error::last_os_error());
    Ok(())
}
