// SPDX-License-Identifier: Apache-2.0
//! What the driver looks after from time to time: what does not answer, does not read, or has moved.

use std::time::{Duration, Instant};

use anyhow::Result;
use tracing::info;

use super::event_loop::EventLoop;
use super::link::State;
use super::report::Parts;
use super::tcp::{Connection, Phase};
use super::udp::{self, Socket};
use crate::tunnel::Abort;

/// So often. The loop never waits longer.
const TICK: Duration = Duration::from_millis(500);
/// Silence after which ICMP port unreachable, which any host can forge, is believed: while a tunnel is made, and once it
/// is up.
const REFUSED_AT_FIRST: Duration = Duration::from_secs(1);
const REFUSED_LATER: Duration = Duration::from_secs(10);

impl EventLoop {
    pub(super) fn tick(&mut self, now: Instant) -> Result<()> {
        self.next_tick = now + TICK;
        if self.link.as_ref().is_some_and(|link| link.is_due(now)) {
            self.connect(now)?;
        }
        self.end_unanswered(now)?;
        self.accept_late();
        self.end_late(now);
        self.end_slow(now);
        self.tell_round_trips();
        self.follow_address(now)?;
        self.report(now);
        Ok(())
    }

    /// What could not be accepted when it came, for want of descriptors: no listener says so a second time.
    fn accept_late(&mut self) {
        for number in 0..self.listeners.len() {
            self.accept(number);
        }
    }

    /// Shows those who ask how things are.
    pub(super) fn report(&mut self, now: Instant) {
        let Self { config, tally, node, peers, sockets, connections, .. } = self;
        self.observed.show(Parts { config, tally, node, peers, sockets, connections }.status(now));
    }

    /// Tunnels whose handshake times out, or whose peer's port is unreachable (ICMP).
    pub(super) fn end_unanswered(&mut self, now: Instant) -> Result<()> {
        let connecting = self.link.as_ref().and_then(|link| match link.state {
            State::Connecting { tunnel, until } => Some((tunnel, until)),
            State::Down { .. } | State::Up(_) => None,
        });
        for id in self.node.ids() {
            let Some(peer) = self.peers.get(&id) else { continue };
            let socket = &self.sockets[peer.socket];
            let silence = if connecting.is_some() { REFUSED_AT_FIRST } else { REFUSED_LATER };
            let is_refused = socket.refusals > 0 && now.duration_since(socket.last_received) >= silence;
            let unproven = self.node.tunnel(id).and_then(|tunnel| tunnel.unproven_since());
            let is_newcomer_late = self.link.is_none()
                && unproven
                    .is_some_and(|since| now.duration_since(since) >= self.config.limits.connect_timeout);
            let is_late =
                is_newcomer_late || connecting.is_some_and(|(tunnel, until)| tunnel == id && until <= now);
            let (reason, why) = match (is_refused, is_late) {
                (true, _) => ("nobody_listens", "nobody listens at its port"),
                (_, true) => ("no_answer", "no answer"),
                _ => continue,
            };
            if let Some(tunnel) = self.node.tunnel(id)
                && tunnel.close(now, "no answer")
            {
                self.on_gone(now, id, reason, why)?;
            }
        }
        Ok(())
    }

    /// Destinations that do not answer, and connections that wait in vain for a tunnel.
    pub(super) fn end_late(&mut self, now: Instant) {
        let late = |connection: &Connection| match connection.phase {
            Phase::Connecting { until } | Phase::Waiting { until } => until <= now,
            Phase::Open => false,
        };
        let numbers: Vec<usize> =
            self.connections.iter().filter(|(_, each)| late(each)).map(|(number, _)| number).collect();
        for number in numbers {
            self.close(number, Some(Abort::Unreachable));
        }
    }

    /// Readers that take nothing for long are reset while half of the buffer is promised: else they would in the end
    /// hold all of it, and everybody would wait for them.
    pub(super) fn end_slow(&mut self, now: Instant) {
        let limits = self.config.limits;
        let mut stuck: Vec<(Instant, usize)> = self
            .connections
            .iter()
            .filter_map(|(number, each)| Some((each.stuck_since?, number)))
            .filter(|(since, _)| now.duration_since(*since) >= limits.slow_reader_timeout)
            .collect();
        stuck.sort_unstable();
        for (_, number) in stuck {
            let tunnel = self.connections[number].tunnel.and_then(|id| self.node.tunnel(id));
            if tunnel.is_some_and(|tunnel| tunnel.committed_bytes() > limits.buffer_bytes / 2) {
                self.close(number, Some(Abort::SlowReader));
            }
        }
    }

    /// Headers are tried again after some round trips.
    pub(super) fn tell_round_trips(&mut self) {
        for (id, peer) in &self.peers {
            if let Some(header) = &self.sockets[peer.socket].header
                && let Some(tunnel) = self.node.tunnel(*id)
            {
                header.on_rtt(tunnel.path_stats().rtt);
            }
        }
    }

    /// Client: if datagrams would leave from another address now, the tunnel moves there (RFC 9000, 9). Server: a
    /// peer that has moved gets another socket.
    pub(super) fn follow_address(&mut self, now: Instant) -> Result<()> {
        for id in self.node.ids() {
            let Some(tunnel) = self.node.tunnel(id) else { continue };
            let Some(remote) = tunnel.remote() else { continue };
            let Some(peer) = self.peers.get(&id) else { continue };
            let (old, secret) = (peer.socket, peer.secret);
            let replacement = if self.link.is_some() {
                let own = self.sockets[old].socket.local_addr().ok().map(|address| address.ip());
                match udp::source_address(remote) {
                    Some(source) if Some(source) != own => Socket::connect(remote).ok(),
                    _ => None,
                }
            } else if remote != peer.remote {
                self.socket_for(remote, None, secret)
            } else {
                None
            };
            let Some(mut socket) = replacement else { continue };
            if self.link.is_some() {
                self.attach_header(&mut socket, secret);
            }
            info!(%remote, "tunnel moves to another path");
            let header = socket.header.clone();
            let number = self.add_socket(socket)?;
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.channel.plug(header);
                (peer.socket, peer.remote) = (number, remote);
            }
            self.remove_socket(old);
            self.establish_header(now, id);
            if self.link.is_some()
                && let Some(tunnel) = self.node.tunnel(id)
            {
                tunnel.migrate(now);
            }
        }
        Ok(())
    }
}
