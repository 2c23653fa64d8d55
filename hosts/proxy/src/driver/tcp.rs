// SPDX-License-Identifier: Apache-2.0
//! One TCP connection and its conduit: what comes goes in, what is there goes out.
//!
//! A socket is set to be reset when it is closed (SO_LINGER of 0 s), from its first moment until both directions have
//! properly ended: so if this program dies, however, no application takes a torn connection for a finished one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::transparent;
use crate::tunnel::{Abort, ConduitId, Front, SendError, Tunnel, TunnelId};

/// Bytes that one connection moves before others have their turn.
const TURN_BYTES: usize = 1 << 20;
/// So long a silent application is asked whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// Where a connection is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Server: the destination has not answered yet.
    Connecting {
        until: Instant,
    },
    /// Client: there is no tunnel to open a conduit in.
    Waiting {
        until: Instant,
    },
    Open,
}

/// What a turn has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It waits for its socket or for the tunnel.
    Rests,
    /// There is more to do, after the others.
    Again,
    /// Both directions have ended.
    Over,
    /// The application, or the other end, has reset it.
    Broken(Abort),
}

pub struct Connection {
    pub stream: TcpStream,
    pub tunnel: Option<TunnelId>,
    pub conduit: ConduitId,
    pub source: SocketAddr,
    pub destination: SocketAddr,
    pub phase: Phase,
    pub is_readable: bool,
    pub is_writable: bool,
    /// It waits for its turn.
    pub is_listed: bool,
    /// Since when its reader has taken nothing of what is there.
    pub stuck_since: Option<Instant>,
    has_ended: bool,
    was_ended: bool,
    /// Read, and not yet taken by the tunnel.
    unsent: Vec<u8>,
    pub bytes_in: u64,
    pub bytes_out: u64,
}

impl Connection {
    pub fn new(stream: TcpStream, source: SocketAddr, destination: SocketAddr, phase: Phase) -> Self {
        let socket = SockRef::from(&stream);
        let _ = socket.set_linger(Some(Duration::ZERO));
        let _ = socket.set_tcp_nodelay(true);
        // Urgent data stay where they are in the stream; that they are urgent is not carried.
        let _ = socket.set_out_of_band_inline(true);
        let _ = socket.set_tcp_keepalive(&socket2::TcpKeepalive::new().with_time(KEEP_ALIVE));
        Self {
            stream,
            tunnel: None,
            conduit: 0,
            source,
            destination,
            phase,
            is_readable: false,
            is_writable: false,
            is_listed: false,
            stuck_since: None,
            has_ended: false,
            was_ended: false,
            unsent: Vec::new(),
            bytes_in: 0,
            bytes_out: 0,
        }
    }

    /// Moves bytes both ways.
    pub fn turn(&mut self, tunnel: &mut Tunnel, buffer: &mut [u8], now: Instant) -> Turn {
        let (out, into) = (self.carry_out(tunnel, now), self.carry_in(tunnel, buffer));
        match (out, into) {
            (Turn::Broken(why), _) | (_, Turn::Broken(why)) => Turn::Broken(why),
            (Turn::Over, Turn::Over) => {
                let _ = SockRef::from(&self.stream).set_linger(None);
                Turn::Over
            }
            (Turn::Again, _) | (_, Turn::Again) => Turn::Again,
            _ => Turn::Rests,
        }
    }

    /// From the application into the tunnel.
    fn carry_in(&mut self, tunnel: &mut Tunnel, buffer: &mut [u8]) -> Turn {
        let mut moved = 0;
        loop {
            match self.push(tunnel) {
                Ok(true) => {}
                Ok(false) => return Turn::Rests,
                Err(why) => return Turn::Broken(why),
            }
            if self.has_ended {
                return Turn::Over;
            }
            if !self.is_readable {
                return Turn::Rests;
            }
            if moved >= TURN_BYTES {
                return Turn::Again;
            }
            match self.stream.read(buffer) {
                Ok(0) => {
                    self.has_ended = true;
                    tunnel.finish(self.conduit);
                }
                Ok(count) => {
                    moved += count;
                    self.bytes_in += count as u64;
                    match offer(tunnel, self.conduit, &buffer[..count]) {
                        Ok(taken) => self.unsent = buffer[taken..count].to_vec(),
                        Err(why) => return Turn::Broken(why),
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_readable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Turn::Broken(Abort::Reset),
            }
        }
    }

    /// Gives the tunnel what still waits; false if some of it goes on waiting.
    fn push(&mut self, tunnel: &mut Tunnel) -> Result<bool, Abort> {
        let taken = offer(tunnel, self.conduit, &self.unsent)?;
        self.unsent = self.unsent.split_off(taken);
        Ok(self.unsent.is_empty())
    }

    /// From the tunnel to the application.
    fn carry_out(&mut self, tunnel: &mut Tunnel, now: Instant) -> Turn {
        let mut moved = 0;
        while !self.was_ended {
            let bytes = match tunnel.front(self.conduit) {
                Front::Bytes(bytes) => bytes,
                Front::Empty => {
                    self.stuck_since = None;
                    return Turn::Rests;
                }
                Front::Aborted => return Turn::Broken(Abort::Reset),
                Front::Finished => {
                    self.was_ended = true;
                    self.stuck_since = None;
                    if self.stream.shutdown(Shutdown::Write).is_err() {
                        return Turn::Broken(Abort::Reset);
                    }
                    break;
                }
            };
            if !self.is_writable {
                self.stuck_since.get_or_insert(now);
                return Turn::Rests;
            }
            if moved >= TURN_BYTES {
                return Turn::Again;
            }
            match self.stream.write_vectored(&bytes) {
                Ok(count) => {
                    moved += count;
                    self.bytes_out += count as u64;
                    self.stuck_since = None;
                    tunnel.consume(self.conduit, count);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.is_writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Turn::Broken(Abort::Reset),
            }
        }
        Turn::Over
    }
}

/// Gives a tunnel bytes until it takes no more; returns how many it took.
fn offer(tunnel: &mut Tunnel, conduit: ConduitId, bytes: &[u8]) -> Result<usize, Abort> {
    let mut taken = 0;
    while taken < bytes.len() {
        match tunnel.send(conduit, &bytes[taken..]) {
            Ok(count) => taken += count,
            Err(SendError::Blocked) => break,
            Err(SendError::Closed) => return Err(Abort::Reset),
        }
    }
    Ok(taken)
}

/// Begins to connect; a client's interception on this host leaves such connections alone.
pub fn connect(destination: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(destination), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    let _ = socket.set_linger(Some(Duration::ZERO));
    let _ = transparent::mark_own(&socket); // without the right to there is no interception either
    match socket.connect(&destination.into()) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(TcpStream::from_std(socket.into())),
    }
}

/// What a failed attempt to connect is to the other end.
pub fn why_unreachable(error: &io::Error) -> Abort {
    if error.kind() == io::ErrorKind::ConnectionRefused { Abort::Refused } else { Abort::Unreachable }
}
