// SPDX-License-Identifier: Apache-2.0
//! The part of rtnetlink that the agent needs: a request with its acknowledgement, and a dump.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{bail, Context, Result};
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockProtocol, SockType};

const HEADER_BYTES: usize = 16; // struct nlmsghdr
const ATTRIBUTE_BYTES: usize = 4; // struct rtattr
const BUFFER_BYTES: usize = 1 << 16;

/// A routing socket of the network namespace in which it was opened.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    pub fn open() -> Result<Self> {
        let (kind, flags) = (SockType::Raw, SockFlag::SOCK_CLOEXEC);
        let socket = socket(AddressFamily::Netlink, kind, flags, SockProtocol::NetlinkRoute)
            .context("netlink socket")?;
        Ok(Self { socket, sequence: 0 })
    }

    /// Sends a change and waits for its acknowledgement.
    pub fn change(&mut self, message_type: u16, flags: i32, body: &[u8]) -> io::Result<()> {
        let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | flags;
        self.send(message_type, flags, body)?;
        self.receive().map(|_| ())
    }

    /// Requests one object.
    pub fn get(&mut self, message_type: u16, body: &[u8]) -> Result<Vec<u8>> {
        self.send(message_type, libc::NLM_F_REQUEST | libc::NLM_F_ACK, body)?;
        match self.receive()?.pop() {
            Some(reply) => Ok(reply),
            None => bail!("netlink: no reply"),
        }
    }

    /// Requests all objects of a kind; returns the payload of each.
    pub fn dump(&mut self, message_type: u16, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.send(message_type, libc::NLM_F_REQUEST | libc::NLM_F_DUMP, body)?;
        self.receive().context("netlink dump")
    }

    fn send(&mut self, message_type: u16, flags: i32, body: &[u8]) -> io::Result<()> {
        self.sequence += 1;
        let mut message = Vec::with_capacity(HEADER_BYTES + body.len());
        message.extend_from_slice(&((HEADER_BYTES + body.len()) as u32).to_ne_bytes());
        message.extend_from_slice(&message_type.to_ne_bytes());
        message.extend_from_slice(&(flags as u16).to_ne_bytes());
        message.extend_from_slice(&self.sequence.to_ne_bytes());
        message.extend_from_slice(&0u32.to_ne_bytes());
        message.extend_from_slice(body);
        // SAFETY: the buffer is valid for its length.
        let sent = unsafe { libc::send(self.socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    /// Payloads up to the acknowledgement or the end of the dump.
    fn receive(&mut self) -> io::Result<Vec<Vec<u8>>> {
        let mut replies = Vec::new();
        let mut buffer = vec![0u8; BUFFER_BYTES];
        loop {
            // SAFETY: the buffer is valid for its length.
            let received =
                unsafe { libc::recv(self.socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
            if received < 0 {
                return Err(io::Error::last_os_error());
            }
            for (message_type, payload) in Messages(&buffer[..received as usize]) {
                match i32::from(message_type) {
                    libc::NLMSG_DONE => return Ok(replies),
                    libc::NLMSG_ERROR => {
                        return match read_u32(payload, 0).map(|code| code as i32) {
                            Some(0) => Ok(replies),
                            Some(code) => Err(io::Error::from_raw_os_error(-code)),
                            None => Err(io::Error::from(io::ErrorKind::InvalidData)),
                        };
                    }
                    _ => replies.push(payload.to_vec()),
                }
            }
        }
    }
}

/// The messages of one datagram: type and payload.
struct Messages<'a>(&'a [u8]);

impl<'a> Iterator for Messages<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = read_u32(self.0, 0)? as usize;
        let message_type = read_u16(self.0, 4)?;
        let payload = self.0.get(HEADER_BYTES..length)?;
        self.0 = self.0.get(align(length)..).unwrap_or(&[]);
        Some((message_type, payload))
    }
}

/// The attributes in a byte string: type (flags masked out) and data.
pub struct Attributes<'a>(pub &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = read_u16(self.0, 0)? as usize;
        let kind = read_u16(self.0, 2)? & 0x3fff;
        let data = self.0.get(ATTRIBUTE_BYTES..length)?;
        self.0 = self.0.get(align(length)..).unwrap_or(&[]);
        Some((kind, data))
    }
}

/// Appends an attribute.
pub fn push_attribute(body: &mut Vec<u8>, kind: u16, data: &[u8]) {
    body.extend_from_slice(&((ATTRIBUTE_BYTES + data.len()) as u16).to_ne_bytes());
    body.extend_from_slice(&kind.to_ne_bytes());
    body.extend_from_slice(data);
    body.resize(align(body.len()), 0);
}

pub fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn align(length: usize) -> usize {
    (length + 3) & !3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_round_trip() {
        let mut body = Vec::new();
        push_attribute(&mut body, 3, b"veth0\0");
        push_attribute(&mut body, 4, &1500u32.to_ne_bytes());
        assert_eq!(body.len(), 12 + 8); // 4 + 6 padded to 12, 4 + 4
        let read: Vec<_> = Attributes(&body).collect();
        assert_eq!(read, [(3, &b"veth0\0"[..]), (4, &1500u32.to_ne_bytes()[..])]);
    }

    #[test]
    fn dumps_the_devices_of_the_kernel() {
        let replies = Netlink::open().and_then(|mut netlink| netlink.dump(libc::RTM_GETLINK, &[0; 16]));
        assert!(!replies.expect("a dump").is_empty()); // the loopback device is everywhere
    }

    #[test]
    fn cut_attribute_ends_the_list() {
        let mut body = Vec::new();
        push_attribute(&mut body, 4, &1500u32.to_ne_bytes());
        assert_eq!(Attributes(&body[..6]).count(), 0);
        assert_eq!(Attributes(&[]).count(), 0);
    }
}
