// SPDX-License-Identifier: Apache-2.0
//! The driver's side of tunnels: their sockets, what they send and receive, and what they say.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use mio::{Interest, Token};
use noq_proto::{ConnectionError, Incoming};
use tracing::{debug, info, warn};

use super::event_loop::EventLoop;
use super::link::State;
use super::listeners::Listener;
use super::quic;
use super::report::{self, Record};
use super::switchboard::Switchboard;
use super::tokens::Source;
use super::udp::{Received, Socket};
use crate::config::{ClientSettings, HeaderMode, Role, ServerSettings};
use crate::header::{Guard, HeaderSocket};
use crate::law::Counters;
use crate::prediction::Prediction;
use crate::tunnel::{Abort, Arrival, Event, Secret, TunnelId};
use crate::{keys, observe, transparent};

/// In a packet with short header the identifier follows the first byte (RFC 9000, 17.3.1).
const IDENTIFIER_AT: u8 = 1;
/// Datagrams sent for one tunnel before the sockets are looked at again.
const BURST_DATAGRAMS: usize = 64;

/// What the driver keeps of one tunnel.
pub struct Peer {
    /// Its socket, by its number.
    pub socket: usize,
    /// What only its packets begin with.
    pub secret: Secret,
    pub channel: Switchboard,
    pub remote: SocketAddr,
    /// What its law has done.
    pub law: Arc<Counters>,
    /// Its TCP connections, by conduit.
    pub connections: HashMap<usize, usize>,
    pub record: Record,
}

impl EventLoop {
    pub(super) fn add_socket(&mut self, socket: Socket) -> Result<usize> {
        let number = self.sockets.insert(socket);
        let interest = Interest::READABLE | Interest::WRITABLE;
        let socket = &mut self.sockets[number].socket;
        self.poll.registry().register(socket, Source::Udp(number).into(), interest)?;
        Ok(number)
    }

    pub(super) fn remove_socket(&mut self, number: usize) {
        if Some(number) == self.front_door || !self.sockets.contains(number) {
            return;
        }
        let mut socket = self.sockets.remove(number);
        let _ = self.poll.registry().deregister(&mut socket.socket);
    }

    /// Lets the packets of a socket carry headers, if they are wanted and the shim is there.
    pub(super) fn attach_header(&self, socket: &mut Socket, secret: Secret) {
        if self.config.header == HeaderMode::Off {
            return;
        }
        let attached = HeaderSocket::attach(std::os::fd::AsFd::as_fd(&socket.socket), true);
        let guard = Guard { at: IDENTIFIER_AT, bytes: secret.0 };
        let guarded = attached.and_then(|header| match header {
            Some(header) => header.guard(guard).map(|()| Some(header)),
            None => Ok(None),
        });
        match guarded {
            Ok(header) => socket.header = header,
            Err(error) => warn!("packets go without header: {error}"),
        }
    }

    pub(super) fn connect(&mut self, now: Instant) -> Result<()> {
        let Role::Client(ClientSettings { peer, peer_name, .. }) = &self.config.role else { return Ok(()) };
        let (peer, name) = (*peer, peer_name.clone());
        let mut socket = match Socket::connect(peer) {
            Ok(socket) => socket,
            Err(error) => return self.on_link_down(now, &format!("no way to {peer}: {error}")),
        };
        let secret = Secret::new()?;
        self.attach_header(&mut socket, secret);
        let channel = Switchboard::default();
        channel.plug(socket.header.clone());
        let tls = self.tls.clone().context("client without TLS settings")?;
        let path = path_of(&socket, channel.clone());
        let (config, watch) = quic::client(&self.config, tls, &path)?;
        let tunnel = self.node.connect(now, config, peer, &name, secret)?;
        self.predict(tunnel, watch.prediction);
        let socket = self.add_socket(socket)?;
        let record = self.tally.record(&self.config.law.name);
        let connections = HashMap::new();
        let law = watch.law;
        self.peers.insert(tunnel, Peer { socket, secret, channel, remote: peer, law, connections, record });
        if let Some(link) = &mut self.link {
            link.state = State::Connecting { tunnel, until: now + self.config.limits.connect_timeout };
        }
        self.serve_waiting(now);
        Ok(())
    }

    pub(super) fn receive(&mut self, number: usize) -> Result<()> {
        loop {
            let now = Instant::now();
            let mut newcomers = Vec::new();
            let Some(socket) = self.sockets.get_mut(number) else { return Ok(()) }; // its tunnel has ended
            let mut answers = Vec::new();
            let (node, answer) = (&mut self.node, &mut self.send_buffer);
            let is_more = socket.receive(&mut self.buffers, now, |datagram: Received| {
                answer.clear();
                let Received { remote, local, ecn, contents } = datagram;
                match node.handle_datagram(now, remote, local, ecn, contents, answer) {
                    Arrival::Newcomer(incoming) => newcomers.push((incoming, remote, local)),
                    Arrival::Answer(transmit) => answers.push((transmit, answer.clone())),
                    Arrival::Taken => {}
                }
            });
            for (transmit, contents) in answers {
                if !socket.is_blocked() {
                    socket.send(now, &transmit, &contents[..transmit.size]);
                }
            }
            for (incoming, remote, local) in newcomers {
                self.admit(now, *incoming, remote, local)?;
            }
            if !is_more {
                return Ok(());
            }
            // ACKs of a fast path keep the socket busy: what they allow is sent at once.
            self.attend_tunnels(now)?;
        }
    }

    /// Server: a socket, a channel and a tunnel for a newcomer.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        incoming: Incoming,
        remote: SocketAddr,
        local: Option<IpAddr>,
    ) -> Result<()> {
        let (Some(door), Some(any)) = (self.front_door, self.server.clone()) else { return Ok(()) };
        let channel = Switchboard::default();
        let secret = Secret::new()?;
        let socket = match self.socket_for(remote, local, secret) {
            Some(socket) => {
                channel.plug(socket.header.clone());
                self.add_socket(socket)?
            }
            None => door,
        };
        let path = path_of(&self.sockets[socket], channel.clone());
        let (config, watch) = quic::server(&self.config, &any, &path)?;
        self.send_buffer.clear();
        match self.node.accept(now, incoming, config, secret, &mut self.send_buffer) {
            Ok(tunnel) => {
                self.predict(tunnel, watch.prediction);
                let record = self.tally.record(&self.config.law.name);
                let connections = HashMap::new();
                let law = watch.law;
                self.peers.insert(tunnel, Peer { socket, secret, channel, remote, law, connections, record });
            }
            Err(answer) => {
                if let Some(transmit) = answer {
                    let contents = std::mem::take(&mut self.send_buffer);
                    self.sockets[door].send(now, &transmit, &contents[..transmit.size]);
                    self.send_buffer = contents;
                }
                self.remove_socket(socket);
            }
        }
        Ok(())
    }

    fn predict(&mut self, tunnel: TunnelId, prediction: Option<Prediction>) {
        if let (Some(tunnel), Some(prediction)) = (self.node.tunnel(tunnel), prediction) {
            tunnel.predict(prediction);
        }
    }

    /// Server: a socket that is connected to a peer.
    pub(super) fn socket_for(
        &self,
        remote: SocketAddr,
        local: Option<IpAddr>,
        secret: Secret,
    ) -> Option<Socket> {
        let Role::Server(ServerSettings { listen, .. }) = &self.config.role else { return None };
        let local = SocketAddr::new(local.unwrap_or(listen.ip()), listen.port());
        match Socket::for_peer(local, remote) {
            Ok(mut socket) => {
                self.attach_header(&mut socket, secret);
                Some(socket)
            }
            Err(error) => {
                debug!(%remote, %error, "no socket of its own");
                None
            }
        }
    }

    /// Takes what the tunnels say and sends what they have to send.
    pub(super) fn attend_tunnels(&mut self, now: Instant) -> Result<()> {
        for tunnel in self.node.ids() {
            while let Some(event) = self.node.tunnel(tunnel).and_then(|each| each.poll()) {
                self.on_event(now, tunnel, event)?;
            }
            self.transmit(now, tunnel);
            if self.node.forget_drained(tunnel)
                && let Some(peer) = self.peers.remove(&tunnel)
            {
                self.remove_socket(peer.socket);
            }
        }
        Ok(())
    }

    pub(super) fn transmit(&mut self, now: Instant, tunnel: TunnelId) {
        let Some(peer) = self.peers.get(&tunnel) else { return };
        let socket = &mut self.sockets[peer.socket];
        for _ in 0..BURST_DATAGRAMS {
            if !socket.resume() {
                return;
            }
            self.send_buffer.clear();
            let segments = socket.max_segments();
            let Some(transmit) = self.node.poll_transmit(tunnel, now, segments, &mut self.send_buffer) else {
                return;
            };
            socket.send(now, &transmit, &self.send_buffer[..transmit.size]);
        }
        self.is_busy = true;
    }

    pub(super) fn on_event(&mut self, now: Instant, tunnel: TunnelId, event: Event) -> Result<()> {
        match event {
            Event::Connected => self.on_connected(now, tunnel)?,
            Event::Lost(reason) => self.on_lost(now, tunnel, &reason)?,
            Event::Opened { conduit, opening } => self.dial(now, tunnel, conduit, opening),
            Event::Readable(conduit) | Event::Writable(conduit) => {
                if let Some(number) = self.connection_of(tunnel, conduit) {
                    self.list(number);
                }
            }
            Event::Aborted { conduit, why } => match self.connection_of(tunnel, conduit) {
                Some(number) => self.close(number, Some(why)),
                None => {
                    if let Some(tunnel) = self.node.tunnel(tunnel) {
                        tunnel.release(conduit);
                    }
                }
            },
        }
        Ok(())
    }

    pub(super) fn on_connected(&mut self, now: Instant, tunnel: TunnelId) -> Result<()> {
        if let Some(peer) = self.peers.get_mut(&tunnel) {
            info!(remote = %peer.remote, "tunnel up");
            self.tally.on_up(&mut peer.record, now);
        }
        self.establish_header(now, tunnel);
        let Some(link) = &mut self.link else { return Ok(()) };
        let is_first = link.is_first;
        link.on_up(tunnel);
        if is_first {
            self.open_listeners()?;
        }
        self.serve_waiting(now);
        self.report(now);
        Ok(())
    }

    /// From now on packets may carry headers.
    pub(super) fn establish_header(&mut self, now: Instant, tunnel: TunnelId) {
        let Some(peer) = self.peers.get(&tunnel) else { return };
        if let Some(header) = &self.sockets[peer.socket].header {
            header.on_established(now);
        }
    }

    /// Client: the first tunnel is up, so that applications may come.
    pub(super) fn open_listeners(&mut self) -> Result<()> {
        let Role::Client(settings) = &self.config.role else { return Ok(()) };
        self.listeners = Listener::all(settings)?;
        for (number, listener) in self.listeners.iter_mut().enumerate() {
            let token: Token = Source::Listener(number).into();
            self.poll.registry().register(&mut listener.listener, token, Interest::READABLE)?;
        }
        if let Some(transparent) = &settings.transparent {
            self._interception = Some(transparent::Interception::set_up(transparent)?);
        }
        info!("clarion-proxy ready");
        observe::notify_ready();
        Ok(())
    }

    pub(super) fn on_lost(&mut self, now: Instant, tunnel: TunnelId, reason: &ConnectionError) -> Result<()> {
        self.transmit(now, tunnel); // the peer is told before this program may end
        let why = keys::explain(reason, &self.config).unwrap_or_else(|| report::words(reason));
        self.on_gone(now, tunnel, report::reason(reason), &why)
    }

    /// Nothing is carried any more: no application may believe otherwise.
    pub(super) fn on_gone(&mut self, now: Instant, tunnel: TunnelId, reason: &str, why: &str) -> Result<()> {
        let Some(peer) = self.peers.get(&tunnel) else { return Ok(()) };
        self.tally.on_gone(&peer.record, reason);
        let numbers: Vec<usize> = peer.connections.values().copied().collect();
        // The failure of a client's first tunnel is told as the program ends.
        if self.link.as_ref().is_none_or(|link| !link.is_first) {
            warn!(connections = numbers.len(), "tunnel lost: {why}");
        }
        for number in numbers {
            self.close(number, Some(Abort::TunnelLost));
        }
        self.report(now);
        if self.link.as_ref().is_some_and(|link| link.tunnel() == Some(tunnel)) {
            self.on_link_down(now, why)?;
        }
        Ok(())
    }

    pub(super) fn on_link_down(&mut self, now: Instant, why: &str) -> Result<()> {
        let Some(link) = &mut self.link else { return Ok(()) };
        if link.is_first {
            let Role::Client(ClientSettings { peer, .. }) = &self.config.role else { return Ok(()) };
            return Err(anyhow!(
                "no tunnel to {peer}: {why}; is clarion-proxy server running there, and reachable?"
            ));
        }
        link.on_down(now);
        Ok(())
    }
}

fn path_of(socket: &Socket, channel: Switchboard) -> quic::Path {
    let (largest_datagram_bytes, is_ipv6) = (socket.largest_datagram_bytes(), socket.is_ipv6());
    quic::Path { channel, largest_datagram_bytes, is_ipv6 }
}
