// SPDX-License-Identifier: Apache-2.0
//! The driver's side of TCP connections: from whom they come, to whom they go, and whose turn it is.

use std::time::Instant;

use mio::Interest;
use tracing::{debug, warn};

use super::event_loop::EventLoop;
use super::link::Link;
use super::tcp::{self, Connection, Phase, Turn};
use super::tokens::Source;
use super::udp;
use crate::tunnel::{Abort, Opening, TunnelId};

impl EventLoop {
    pub(super) fn connection_of(&self, tunnel: TunnelId, conduit: usize) -> Option<usize> {
        self.peers.get(&tunnel)?.connections.get(&conduit).copied()
    }

    pub(super) fn accept(&mut self, number: usize) {
        while self.accept_some(number) {}
    }

    /// Returns whether more may wait.
    fn accept_some(&mut self, number: usize) -> bool {
        let now = Instant::now();
        let mut accepted = Vec::new();
        let is_more = self.listeners[number].accept(|stream, source, destination| {
            accepted.push((stream, source, destination));
        });
        for (stream, source, destination) in accepted {
            let until = now + self.config.limits.connect_timeout;
            let connection = Connection::new(stream, source, destination, Phase::Waiting { until });
            if self.add_connection(connection).is_none() {
                self.tally.on_refused(Abort::TooMany);
            }
        }
        self.serve_waiting(now);
        is_more
    }

    pub(super) fn add_connection(&mut self, connection: Connection) -> Option<usize> {
        if self.connections.len() >= self.config.limits.max_connections as usize {
            debug!(source = %connection.source, "too many connections");
            return None; // closed, and thereby reset
        }
        let number = self.connections.insert(connection);
        let interest = Interest::READABLE | Interest::WRITABLE;
        let stream = &mut self.connections[number].stream;
        if let Err(error) = self.poll.registry().register(stream, Source::Tcp(number).into(), interest) {
            warn!(%error, "epoll");
            self.connections.remove(number);
            return None;
        }
        self.tally.on_opened();
        if matches!(self.connections[number].phase, Phase::Waiting { .. }) {
            self.waiting.push_back(number);
        }
        Some(number)
    }

    /// Client: opens conduits for the connections that wait, if there is a tunnel.
    pub(super) fn serve_waiting(&mut self, _now: Instant) {
        let Some(id) = self.link.as_ref().and_then(Link::tunnel) else { return };
        let Some(tunnel) = self.node.tunnel(id).filter(|tunnel| tunnel.can_open()) else { return };
        while let Some(number) = self.waiting.pop_front() {
            let Some(connection) = self.connections.get_mut(number) else { continue };
            let opening = Opening { destination: connection.destination, source: connection.source };
            let Some(conduit) = tunnel.open(opening) else {
                self.waiting.push_front(number);
                return;
            };
            (connection.tunnel, connection.conduit, connection.phase) = (Some(id), conduit, Phase::Open);
            connection.is_listed = true;
            self.turns.push_back(number);
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.connections.insert(conduit, number);
            }
        }
    }

    /// Server: begins to connect the destination of a conduit.
    pub(super) fn dial(&mut self, now: Instant, tunnel: TunnelId, conduit: usize, opening: Opening) {
        debug!(source = %opening.source, destination = %opening.destination, "open");
        let stream = match tcp::connect(opening.destination) {
            Ok(stream) => stream,
            Err(error) => return self.refuse(tunnel, conduit, tcp::why_unreachable(&error)),
        };
        let until = now + self.config.limits.connect_timeout;
        let phase = Phase::Connecting { until };
        let mut connection = Connection::new(stream, opening.source, opening.destination, phase);
        (connection.tunnel, connection.conduit) = (Some(tunnel), conduit);
        let Some(number) = self.add_connection(connection) else {
            return self.refuse(tunnel, conduit, Abort::TooMany);
        };
        if let Some(peer) = self.peers.get_mut(&tunnel) {
            peer.connections.insert(conduit, number);
        }
    }

    pub(super) fn refuse(&mut self, tunnel: TunnelId, conduit: usize, why: Abort) {
        self.tally.on_refused(why);
        if let Some(tunnel) = self.node.tunnel(tunnel) {
            tunnel.abort(conduit, why);
            tunnel.release(conduit);
        }
    }

    pub(super) fn on_tcp(&mut self, number: usize, event: &mio::event::Event) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        if event.is_error()
            && let Some(error) = udp::take_error(&connection.stream)
        {
            let why = match connection.phase {
                Phase::Connecting { .. } => tcp::why_unreachable(&error),
                Phase::Waiting { .. } | Phase::Open => Abort::Reset,
            };
            return self.close(number, Some(why));
        }
        connection.is_readable |= event.is_readable() || event.is_read_closed();
        connection.is_writable |= event.is_writable();
        if matches!(connection.phase, Phase::Connecting { .. }) && connection.is_writable {
            connection.phase = Phase::Open;
        }
        if connection.phase == Phase::Open {
            self.list(number);
        }
    }

    pub(super) fn list(&mut self, number: usize) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        if !connection.is_listed && connection.phase == Phase::Open {
            connection.is_listed = true;
            self.turns.push_back(number);
        }
    }

    /// Each connection that has something to do moves its bytes, once.
    pub(super) fn take_turns(&mut self, now: Instant) {
        for _ in 0..self.turns.len() {
            let Some(number) = self.turns.pop_front() else { return };
            let Some(connection) = self.connections.get_mut(number) else { continue };
            connection.is_listed = false;
            let Some(tunnel) = connection.tunnel.and_then(|id| self.node.tunnel(id)) else {
                self.close(number, Some(Abort::TunnelLost));
                continue;
            };
            match connection.turn(tunnel, &mut self.read_buffer, now) {
                Turn::Rests => {}
                Turn::Again => self.list(number),
                Turn::Over => self.close(number, None),
                Turn::Broken(why) => self.close(number, Some(why)),
            }
        }
    }

    /// Closes a TCP connection: properly, if both directions have ended, else by a reset that the other end repeats.
    pub(super) fn close(&mut self, number: usize, why: Option<Abort>) {
        let Some(mut connection) = self.connections.try_remove(number) else { return };
        let _ = self.poll.registry().deregister(&mut connection.stream);
        debug!(
            source = %connection.source, destination = %connection.destination,
            bytes_in = connection.bytes_in, bytes_out = connection.bytes_out,
            why = why.map_or("finished", Abort::name), "closed"
        );
        self.tally.on_closed(&connection, why);
        self.waiting.retain(|&each| each != number);
        let Some(id) = connection.tunnel else { return };
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.connections.remove(&connection.conduit);
        }
        if let Some(tunnel) = self.node.tunnel(id) {
            if let Some(why) = why {
                tunnel.abort(connection.conduit, why);
            }
            tunnel.release(connection.conduit);
        }
    }
}
