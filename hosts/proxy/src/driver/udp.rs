// SPDX-License-Identifier: Apache-2.0
//! The UDP sockets of the tunnels.
//!
//! A client has one socket, connected to its server. A server has one that newcomers find, and one more for each
//! peer, connected to it: the kernel gives a connected socket its peer's datagrams, and the shim keeps what it knows of
//! a flow with its socket.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Instant;

use bytes::BytesMut;
use mio::net::UdpSocket;
use nix::sys::socket::sockopt::{RcvBufForce, SndBufForce};
use noq_proto::EcnCodepoint;
use noq_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};
use socket2::{Domain, Protocol, SockRef, Socket as Socket2, Type};
use tracing::debug;

use crate::header::HeaderSocket;

/// A round of packets of a fast path fits.
const BUFFER_BYTES: usize = 8 << 20;
/// The largest that a batch of the kernel's receive offload can be.
const RECEIVE_BYTES: usize = 1 << 16;
/// A piece of so many datagrams of a path with frames of 6 kB still is a datagram for the kernel.
const SEGMENTS_MAX: NonZeroUsize = NonZeroUsize::new(10).expect("not 0");
/// Errors in a row after which a socket is left alone until it has something new.
const ERRORS_MAX: u32 = 8;
/// IP and UDP headers in front of a datagram.
const IPV4_UDP_BYTES: u16 = 20 + 8;
const IPV6_UDP_BYTES: u16 = 40 + 8;
/// Of Ethernet, where the kernel does not say.
const DEFAULT_MTU: u16 = 1500;

/// A datagram that the kernel had no room for.
struct Waiting {
    destination: SocketAddr,
    ecn: Option<noq_udp::EcnCodepoint>,
    source: Option<IpAddr>,
    segment_bytes: Option<usize>,
    contents: Vec<u8>,
}

pub struct Socket {
    pub socket: UdpSocket,
    state: UdpSocketState,
    pub header: Option<HeaderSocket>,
    /// Of a connected socket.
    pub remote: Option<SocketAddr>,
    waiting: Option<Waiting>,
    /// ICMP port unreachable, since the last datagram.
    pub refusals: u32,
    pub last_received: Instant,
    /// Of receiving, in a row.
    errors: u32,
}

/// A datagram received.
pub struct Received {
    pub remote: SocketAddr,
    pub local: Option<IpAddr>,
    pub ecn: Option<EcnCodepoint>,
    pub contents: BytesMut,
}

impl Socket {
    /// The server's socket for newcomers. It is bound alone, so that a second server is refused, and shared with the
    /// sockets of the peers afterwards.
    pub fn listen(address: SocketAddr) -> io::Result<Self> {
        let socket = open(address)?;
        socket.bind(&address.into())?;
        socket.set_reuse_port(true)?;
        Self::new(socket, None)
    }

    /// A server's socket for one peer, at the address and port where that found it.
    pub fn for_peer(local: SocketAddr, remote: SocketAddr) -> io::Result<Self> {
        let socket = open(local)?;
        socket.set_reuse_port(true)?;
        socket.bind(&local.into())?;
        socket.connect(&remote.into())?;
        Self::new(socket, Some(remote))
    }

    /// A client's socket.
    pub fn connect(remote: SocketAddr) -> io::Result<Self> {
        let socket = open(remote)?;
        socket.connect(&remote.into())?;
        Self::new(socket, Some(remote))
    }

    fn new(socket: Socket2, remote: Option<SocketAddr>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        enlarge_buffers(&socket);
        let socket = UdpSocket::from_std(socket.into());
        let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
        Ok(Self {
            socket,
            state,
            header: None,
            remote,
            waiting: None,
            refusals: 0,
            errors: 0,
            last_received: Instant::now(),
        })
    }

    /// Whether packets to the peer are IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.remote.is_some_and(|remote| remote.ip().to_canonical().is_ipv6())
    }

    /// The largest datagram that the route to the peer takes, bytes.
    pub fn largest_datagram_bytes(&self) -> u16 {
        let is_ipv4 = !self.is_ipv6();
        let mtu = route_mtu(&self.socket, is_ipv4).unwrap_or(DEFAULT_MTU);
        mtu.saturating_sub(if is_ipv4 { IPV4_UDP_BYTES } else { IPV6_UDP_BYTES })
    }

    /// Datagrams that may go down in one piece; with headers each goes alone, for the shim has to see it.
    pub fn max_segments(&self) -> NonZeroUsize {
        match self.header {
            Some(_) => NonZeroUsize::MIN,
            None => self.state.max_gso_segments().min(SEGMENTS_MAX),
        }
    }

    /// Whether a datagram still waits for room in the kernel; then nothing more may be sent.
    pub fn is_blocked(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sends datagrams. What the kernel has no room for waits, and `resume` sends it.
    pub fn send(&mut self, now: Instant, transmit: &noq_proto::Transmit, contents: &[u8]) {
        let ecn = transmit.ecn.and_then(|ecn| noq_udp::EcnCodepoint::from_bits(ecn as u8));
        if let Some(header) = &self.header {
            header.before_send(now);
        }
        let outgoing = noq_udp::Transmit {
            destination: transmit.destination,
            ecn,
            contents,
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        match self.state.try_send(UdpSockRef::from(&self.socket), &outgoing) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.waiting = Some(Waiting {
                    destination: transmit.destination,
                    ecn,
                    source: transmit.src_ip,
                    segment_bytes: transmit.segment_size,
                    contents: contents.to_vec(),
                });
            }
            Err(error) => self.note(&error),
        }
    }

    /// The kernel has room again; true if nothing waits any more.
    pub fn resume(&mut self) -> bool {
        let Some(waiting) = &self.waiting else { return true };
        let outgoing = noq_udp::Transmit {
            destination: waiting.destination,
            ecn: waiting.ecn,
            contents: &waiting.contents,
            segment_size: waiting.segment_bytes,
            src_ip: waiting.source,
        };
        match self.state.try_send(UdpSockRef::from(&self.socket), &outgoing) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) => self.note(&error),
            Ok(()) => {}
        }
        self.waiting = None;
        true
    }

    /// Receives what is there, at most a batch, into `buffers`; false if nothing was.
    pub fn receive(&mut self, buffers: &mut Buffers, now: Instant, mut each: impl FnMut(Received)) -> bool {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<IoSliceMut<'_>> =
            buffers.bytes.chunks_mut(RECEIVE_BYTES).map(IoSliceMut::new).collect();
        let count = match self.state.recv(UdpSockRef::from(&self.socket), &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            Err(error) => {
                self.note(&error);
                // What ICMP said is told once, and datagrams may wait behind it; other errors may come again at once.
                self.errors += 1;
                return self.errors < ERRORS_MAX;
            }
        };
        if let Some(header) = &self.header {
            header.after_receive(now);
        }
        (self.refusals, self.errors, self.last_received) = (0, 0, now);
        for (meta, slice) in metas.iter().zip(&slices).take(count) {
            for contents in slice[..meta.len].chunks(meta.stride.max(1)) {
                each(Received {
                    remote: meta.addr,
                    local: meta.dst_ip,
                    ecn: meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8)),
                    contents: BytesMut::from(contents),
                });
            }
        }
        true
    }

    fn note(&mut self, error: &io::Error) {
        if error.kind() == io::ErrorKind::ConnectionRefused {
            self.refusals = self.refusals.saturating_add(1);
        } else if error.kind() != io::ErrorKind::Interrupted && !noq_udp::is_msg_size_err(error) {
            debug!(%error, remote = ?self.remote, "datagram");
        }
    }
}

/// Room for a batch of datagrams.
pub struct Buffers {
    bytes: Vec<u8>,
}

impl Buffers {
    pub fn new() -> Self {
        Self { bytes: vec![0; RECEIVE_BYTES * BATCH_SIZE] }
    }
}

fn open(address: SocketAddr) -> io::Result<Socket2> {
    let socket = Socket2::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.ip().to_canonical().is_ipv6() && !address.ip().is_unspecified() {
        socket.set_only_v6(true)?;
    }
    Ok(socket)
}

/// With the right to (CAP_NET_ADMIN) as large as wanted, else as net.core.rmem_max and wmem_max allow.
fn enlarge_buffers(socket: &Socket2) {
    if nix::sys::socket::setsockopt(socket, RcvBufForce, &BUFFER_BYTES).is_err() {
        let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
    }
    if nix::sys::socket::setsockopt(socket, SndBufForce, &BUFFER_BYTES).is_err() {
        let _ = socket.set_send_buffer_size(BUFFER_BYTES);
    }
}

/// What the kernel's route to the peer of a connected socket takes.
fn route_mtu(socket: &UdpSocket, is_ipv4: bool) -> Option<u16> {
    let (level, name) =
        if is_ipv4 { (libc::IPPROTO_IP, libc::IP_MTU) } else { (libc::IPPROTO_IPV6, libc::IPV6_MTU) };
    let mut mtu: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    let (fd, value) = (socket.as_fd().as_raw_fd(), (&raw mut mtu).cast());
    // SAFETY: `value` points to `length` bytes that live until the call returns.
    let result = unsafe { libc::getsockopt(fd, level, name, value, &raw mut length) };
    (result == 0).then(|| u16::try_from(mtu).unwrap_or(u16::MAX))
}

/// The address that datagrams to `remote` would leave from now.
pub fn source_address(remote: SocketAddr) -> Option<IpAddr> {
    let socket = open(remote).ok()?;
    socket.connect(&remote.into()).ok()?;
    Some(socket.local_addr().ok()?.as_socket()?.ip())
}

/// Makes sure that a socket's error is taken.
pub fn take_error(socket: &impl AsFd) -> Option<io::Error> {
    SockRef::from(socket).take_error().ok().flatten()
}
