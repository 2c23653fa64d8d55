// SPDX-License-Identifier: Apache-2.0
//! One end: all its tunnels, and what comes before they are there.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use noq_proto::{
    ClientConfig, ConnectError, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, FourTuple, Incoming, ServerConfig, Transmit,
};
use tracing::debug;

use super::identifiers::{Identifiers, Secret};
use super::peer::Tunnel;
use super::policy::Policy;
use crate::config::Limits;

/// Names a tunnel for good. The library's handles do not: it gives that of a connection that is over to the next one,
/// while sockets still have what the first was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TunnelId(pub u64);

/// Handshakes at once from which on a newcomer has to prove its address first (RFC 9000, 8.1.2), at the price of a
/// round trip.
const UNPROVEN_MAX: usize = 16;
/// Handshakes at once from which on no newcomer is let in.
const HANDSHAKES_MAX: usize = 256;

/// What a datagram with long header has at least if it is to begin something (RFC 9000, 14.1).
const FIRST_BYTES: usize = 1200;
/// Of the first byte of a datagram (RFC 9000, 17.2).
const LONG_HEADER: u8 = 0x80;

/// What a datagram was.
#[derive(Debug)]
pub enum Arrival {
    /// A newcomer: to be given to `accept`.
    Newcomer(Box<Incoming>),
    /// An answer, written to the buffer, is to be sent.
    Answer(Transmit),
    /// Part of a tunnel, which may have events now, or of none.
    Taken,
}

/// One end of tunnels.
#[derive(Debug)]
pub struct Node {
    endpoint: Endpoint,
    identifiers: Identifiers,
    tunnels: HashMap<TunnelId, Tunnel>,
    /// Of connections that the library still knows.
    by_handle: HashMap<ConnectionHandle, TunnelId>,
    next_id: u64,
    policy: Arc<Policy>,
    limits: Limits,
    /// Newcomers of whom `accept` has not heard yet: datagrams come in batches.
    at_the_door: usize,
    /// Newcomers not let in.
    refused: u64,
}

impl Node {
    /// `server`: how newcomers are met; a client meets none.
    pub fn new(
        mut endpoint: EndpointConfig,
        server: Option<Arc<ServerConfig>>,
        policy: Policy,
        limits: Limits,
    ) -> Self {
        let identifiers = Identifiers::default();
        let generators = identifiers.clone();
        endpoint.cid_generator(Arc::new(move || generators.generator()));
        Self {
            limits,
            at_the_door: 0,
            refused: 0,
            endpoint: Endpoint::new(Arc::new(endpoint), server, true),
            identifiers,
            tunnels: HashMap::new(),
            by_handle: HashMap::new(),
            next_id: 0,
            policy: Arc::new(policy),
        }
    }

    /// For newcomers, and conduits, from now on.
    pub fn reconfigure(&mut self, server: Option<Arc<ServerConfig>>, policy: Policy) {
        self.endpoint.set_server_config(server);
        self.policy = Arc::new(policy);
        for tunnel in self.tunnels.values_mut() {
            tunnel.set_policy(self.policy.clone());
        }
    }

    /// For tunnels from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Begins a tunnel to a server. All identifiers that this end chooses for it begin with `secret`.
    pub fn connect(
        &mut self,
        now: Instant,
        config: ClientConfig,
        server: SocketAddr,
        name: &str,
        secret: Secret,
    ) -> Result<TunnelId, ConnectError> {
        let connect = || self.endpoint.connect(now, config, server, name);
        let (handle, connection) = self.identifiers.of(secret, connect)?;
        Ok(self.add(now, handle, connection, secret))
    }

    /// A datagram from `remote` to `local` has come. An answer is written to `buffer`.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        remote: SocketAddr,
        local: Option<IpAddr>,
        ecn: Option<EcnCodepoint>,
        datagram: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Arrival {
        let path = FourTuple::new(remote, local);
        let is_long = datagram.first().is_some_and(|first| first & LONG_HEADER != 0);
        let deserves_answer = !is_long || datagram.len() >= FIRST_BYTES;
        match self.endpoint.handle(now, path, ecn, datagram, buffer) {
            None => Arrival::Taken,
            // The library would tell its versions to any host that sends seven bytes (noq 1.4; RFC 9000, 5.2.2).
            Some(DatagramEvent::Response(_)) if !deserves_answer => Arrival::Taken,
            Some(DatagramEvent::Response(transmit)) => Arrival::Answer(transmit),
            Some(DatagramEvent::NewConnection(incoming)) => self.meet(incoming, buffer),
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(&id) = self.by_handle.get(&handle)
                    && let Some(tunnel) = self.tunnels.get_mut(&id)
                {
                    tunnel.handle_datagram(now, event);
                    self.attend(id);
                }
                Arrival::Taken
            }
        }
    }

    /// Lets few newcomers in without a proof of their address, and not too many at all.
    fn meet(&mut self, incoming: Incoming, buffer: &mut Vec<u8>) -> Arrival {
        let unproven = self.tunnels.values().filter(|tunnel| tunnel.unproven_since().is_some()).count();
        let handshakes = unproven + self.at_the_door;
        if handshakes >= HANDSHAKES_MAX {
            self.refused += 1;
            return Arrival::Answer(self.endpoint.refuse(incoming, buffer));
        }
        let incoming = if handshakes < UNPROVEN_MAX || !incoming.may_retry() {
            incoming
        } else {
            match self.endpoint.retry(incoming, buffer) {
                Ok(transmit) => return Arrival::Answer(transmit),
                Err(error) => error.into_incoming(),
            }
        };
        self.at_the_door += 1;
        Arrival::Newcomer(Box::new(incoming))
    }

    /// Server: lets a newcomer in, with settings and a secret of its own. An answer to one that cannot come in is in `buffer`.
    pub fn accept(
        &mut self,
        now: Instant,
        incoming: Incoming,
        config: Arc<ServerConfig>,
        secret: Secret,
        buffer: &mut Vec<u8>,
    ) -> Result<TunnelId, Option<Transmit>> {
        self.at_the_door = self.at_the_door.saturating_sub(1);
        let accept = || self.endpoint.accept(incoming, now, buffer, Some(config));
        match self.identifiers.of(secret, accept) {
            Ok((handle, connection)) => {
                let id = self.add(now, handle, connection, secret);
                self.attend(id);
                Ok(id)
            }
            Err(error) => {
                debug!(error = %error.cause, "newcomer not accepted");
                self.refused += 1;
                Err(error.response)
            }
        }
    }

    pub fn tunnel(&mut self, id: TunnelId) -> Option<&mut Tunnel> {
        self.tunnels.get_mut(&id)
    }

    /// Newcomers that were not let in.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    pub fn ids(&self) -> Vec<TunnelId> {
        self.tunnels.keys().copied().collect()
    }

    /// The next datagrams of a tunnel, written to `buffer`, at most `max_datagrams` of one size.
    pub fn poll_transmit(
        &mut self,
        id: TunnelId,
        now: Instant,
        max_datagrams: NonZeroUsize,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let transmit = self.tunnels.get_mut(&id)?.poll_transmit(now, max_datagrams, buffer);
        self.attend(id);
        transmit
    }

    /// When `handle_timeout` is to be called next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.tunnels.values().filter_map(Tunnel::poll_timeout).min()
    }

    /// Returns the tunnels that may have something to send or say.
    pub fn handle_timeout(&mut self, now: Instant) -> Vec<TunnelId> {
        let due = |tunnel: &Tunnel| tunnel.poll_timeout().is_some_and(|at| at <= now);
        let ids: Vec<TunnelId> =
            self.tunnels.iter().filter(|(_, tunnel)| due(tunnel)).map(|(id, _)| *id).collect();
        for &id in &ids {
            if let Some(tunnel) = self.tunnels.get_mut(&id) {
                tunnel.handle_timeout(now);
            }
            self.attend(id);
        }
        ids
    }

    /// Forgets a tunnel whose connection has nothing more to say; true if it did.
    pub fn forget_drained(&mut self, id: TunnelId) -> bool {
        self.attend(id);
        let is_drained = self.tunnels.get(&id).is_some_and(Tunnel::is_drained);
        if is_drained {
            self.tunnels.remove(&id);
        }
        is_drained
    }

    fn add(
        &mut self,
        now: Instant,
        handle: ConnectionHandle,
        connection: Connection,
        secret: Secret,
    ) -> TunnelId {
        let id = TunnelId(self.next_id);
        self.next_id += 1;
        self.by_handle.insert(handle, id);
        let tunnel = Tunnel::new(now, handle, connection, secret, self.policy.clone(), &self.limits);
        self.tunnels.insert(id, tunnel);
        id
    }

    /// Carries what connection and endpoint have to say to each other, and takes in the news.
    fn attend(&mut self, id: TunnelId) {
        let Some(tunnel) = self.tunnels.get_mut(&id) else { return };
        while let Some(event) = tunnel.poll_endpoint_events() {
            let handle = tunnel.handle();
            if self.by_handle.get(&handle) != Some(&id) {
                break; // the library has forgotten it
            }
            if event.is_drained() {
                self.by_handle.remove(&handle);
            }
            let answer = self.identifiers.of(tunnel.secret(), || self.endpoint.handle_event(handle, event));
            if let Some(answer) = answer {
                tunnel.handle_event(answer);
            }
        }
        tunnel.digest();
    }
}
