// SPDX-License-Identifier: Apache-2.0
//! What the driver counts, and the status that it shows of itself.

use std::collections::HashMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use noq_proto::ConnectionError;
use slab::Slab;

use super::tcp::{Connection, Phase};
use super::tunnels::Peer;
use super::udp::Socket;
use crate::config::{Config, Role};
use crate::law::Reason;
use crate::observe::{ForwardStatus, LimitsStatus, Reasons, Status, Totals, TransparentStatus, TunnelStatus};
use crate::tunnel::{Abort, Node, Tunnel, TunnelId};

/// What is kept of a tunnel for its status.
pub struct Record {
    number: u64,
    law: String,
    up_since: Option<Instant>,
}

/// Counts since the start of the program.
pub struct Tally {
    start: Instant,
    since_unix_s: u64,
    tunnels: u64,
    totals: Totals,
}

impl Tally {
    pub fn new(now: Instant) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: now, since_unix_s: since.as_secs(), tunnels: 0, totals: Totals::default() }
    }

    pub fn record(&mut self, law: &str) -> Record {
        self.tunnels += 1;
        Record { number: self.tunnels, law: law.to_owned(), up_since: None }
    }

    pub fn on_up(&mut self, record: &mut Record, now: Instant) {
        record.up_since = Some(now);
        self.totals.tunnels_up += 1;
    }

    pub fn on_gone(&mut self, record: &Record, reason: &str) {
        let has_been_up = record.up_since.is_some();
        let totals = &mut self.totals;
        count(if has_been_up { &mut totals.tunnels_lost } else { &mut totals.handshakes_failed }, reason, 1);
    }

    pub fn on_opened(&mut self) {
        self.totals.connections_opened += 1;
    }

    /// Not connected at all.
    pub fn on_refused(&mut self, why: Abort) {
        count(&mut self.totals.openings_refused, why.name(), 1);
    }

    pub fn on_closed(&mut self, connection: &Connection, why: Option<Abort>) {
        match why {
            None => self.totals.connections_finished += 1,
            Some(why) => count(&mut self.totals.connections_aborted, why.name(), 1),
        }
        self.totals.bytes_from_applications += connection.bytes_in;
        self.totals.bytes_to_applications += connection.bytes_out;
    }

    /// Takes over what a tunnel has refused by itself.
    fn take_refusals(&mut self, tunnel: &mut Tunnel) {
        for why in tunnel.take_refusals() {
            self.on_refused(why);
        }
    }
}

fn count(reasons: &mut Reasons, reason: &str, more: u64) {
    *reasons.entry(reason.to_owned()).or_default() += more;
}

/// The word for the end of a QUIC connection in status and metrics.
pub fn reason(error: &ConnectionError) -> &'static str {
    match error {
        ConnectionError::VersionMismatch => "version_mismatch",
        ConnectionError::TransportError(_) => "transport_error",
        ConnectionError::ConnectionClosed(_) => "closed_by_peer",
        ConnectionError::ApplicationClosed(_) => "ended_by_peer",
        ConnectionError::Reset => "peer_restarted",
        ConnectionError::TimedOut => "timed_out",
        ConnectionError::LocallyClosed => "closed_here",
        _ => "other",
    }
}

/// What there is to say of such an end, on one line: the peer may have written some of it.
pub fn words(error: &ConnectionError) -> String {
    let mut words = String::new();
    for letter in error.to_string().chars() {
        if letter.is_control() {
            words.extend(letter.escape_default());
        } else {
            words.push(letter);
        }
    }
    words
}

/// The parts of the driver that a status is made of.
pub struct Parts<'a> {
    pub config: &'a Config,
    pub tally: &'a mut Tally,
    pub node: &'a mut Node,
    pub peers: &'a HashMap<TunnelId, Peer>,
    pub sockets: &'a Slab<Socket>,
    pub connections: &'a Slab<Connection>,
}

impl Parts<'_> {
    pub fn status(self, now: Instant) -> Status {
        let mut tunnels: Vec<TunnelStatus> = Vec::with_capacity(self.peers.len());
        for (id, peer) in self.peers {
            let Some(tunnel) = self.node.tunnel(*id) else { continue };
            self.tally.take_refusals(tunnel);
            tunnels.push(of_tunnel(tunnel, peer, self.sockets, now));
        }
        tunnels.sort_unstable_by_key(|tunnel| tunnel.number);
        let mut totals = self.tally.totals.clone();
        totals.handshakes_refused = self.node.refused();
        let mut waiting_connections = 0;
        for (_, connection) in self.connections {
            totals.bytes_from_applications += connection.bytes_in;
            totals.bytes_to_applications += connection.bytes_out;
            waiting_connections += u64::from(matches!(connection.phase, Phase::Waiting { .. }));
        }
        Status {
            since_unix_s: self.tally.since_unix_s,
            uptime_s: now.duration_since(self.tally.start).as_secs(),
            connections: self.connections.len() as u64,
            waiting_connections,
            tunnels,
            totals,
            ..of_config(self.config)
        }
    }
}

fn of_config(config: &Config) -> Status {
    let limits = &config.limits;
    let status = Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        law: config.law.name.clone(),
        limits: LimitsStatus {
            buffer_bytes: limits.buffer_bytes,
            stream_bytes: limits.stream_bytes,
            max_connections: limits.max_connections,
        },
        ..Status::default()
    };
    match &config.role {
        Role::Server(settings) => Status { role: "server".into(), listen: Some(settings.listen), ..status },
        Role::Client(settings) => {
            let forward = |each: &crate::config::Forward| ForwardStatus {
                listen: each.listen,
                destination: each.destination,
            };
            let transparent = settings.transparent.as_ref().map(|each| TransparentStatus {
                local: each.local,
                forwarded: each.forwarded,
                port: each.port,
            });
            Status {
                role: "client".into(),
                peer: Some(settings.peer),
                forwards: settings.forwards.iter().map(forward).collect(),
                transparent,
                ..status
            }
        }
    }
}

fn of_tunnel(tunnel: &mut Tunnel, peer: &Peer, sockets: &Slab<Socket>, now: Instant) -> TunnelStatus {
    let (stats, path, law) = (tunnel.stats(), tunnel.path_stats(), &peer.law);
    let state = match (tunnel.is_up(), tunnel.is_handshaking()) {
        (true, _) => "up",
        (false, true) => "connecting",
        (false, false) => "closing",
    };
    let resends = tunnel.resends();
    let header = sockets.get(peer.socket).and_then(|socket| socket.header.as_ref());
    let up_for = peer.record.up_since.map(|since| now.duration_since(since));
    TunnelStatus {
        number: peer.record.number,
        remote: peer.remote.to_string(),
        state: state.into(),
        up_s: up_for.unwrap_or_default().as_secs(),
        law: peer.record.law.clone(),
        header: header.map_or("none", |header| header.mode().name()).into(),
        srtt_us: path.rtt.as_micros() as u64,
        min_rtt_us: law.min_rtt_us().into(),
        cwnd_bytes: path.cwnd,
        pacing_bytes_per_s: law.pacing_bytes_per_s(),
        mtu_bytes: path.current_mtu.into(),
        datagrams_sent: stats.udp_tx.datagrams,
        datagrams_received: stats.udp_rx.datagrams,
        bytes_sent: stats.udp_tx.bytes,
        bytes_received: stats.udp_rx.bytes,
        packets_lost: stats.lost_packets,
        resends: resends.resends,
        useful_resends: resends.useful_resends,
        false_resends: resends.false_resends,
        congestion_events: path.congestion_events,
        reductions: Reason::ALL.iter().map(|&each| (each.name().to_owned(), law.reductions(each))).collect(),
        reductions_undone: law.undone(),
        connections: peer.connections.len() as u64,
        committed_bytes: tunnel.committed_bytes(),
        held_openings: tunnel.held(),
        early_data_accepted: tunnel.accepted_early(),
    }
}

#[cfg(test)]
mod tests {
    use noq_proto::{ApplicationClose, VarInt};

    use super::*;

    #[test]
    fn what_a_peer_says_stays_on_one_line() {
        let reason = b"over\n2026-01-01 INFO all is well\r\x1b[2J\x7f\xff".as_slice().into();
        let closed =
            ConnectionError::ApplicationClosed(ApplicationClose { error_code: VarInt::from_u32(7), reason });
        let expected =
            "closed by peer: over\\n2026-01-01 INFO all is well\\r\\u{1b}[2J\\u{7f}\u{fffd} (code 7)";
        assert_eq!(words(&closed), expected);
    }

    #[test]
    fn a_tunnel_that_was_never_up_is_a_handshake_that_failed() {
        let now = Instant::now();
        let mut tally = Tally::new(now);
        let first = tally.record("boost");
        let mut second = tally.record("xcp");
        assert_eq!((first.number, second.number), (1, 2));
        tally.on_gone(&first, "no_answer");
        tally.on_up(&mut second, now);
        tally.on_gone(&second, "timed_out");
        assert_eq!(tally.totals.handshakes_failed, Reasons::from([("no_answer".into(), 1)]));
        assert_eq!(tally.totals.tunnels_lost, Reasons::from([("timed_out".into(), 1)]));
        assert_eq!(tally.totals.tunnels_up, 1);
    }
}
