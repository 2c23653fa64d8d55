// SPDX-License-Identifier: Apache-2.0
//! Waits for sockets, time and signals, and hands what comes to the core and what the core says to the sockets.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};
use nix::sys::signal::Signal;
use noq_proto::{ConnectionError, Incoming, ServerConfig};
use slab::Slab;
use tracing::{debug, info, warn};

use super::clock::{Signals, Timer};
use super::link::{Link, State};
use super::listeners::Listener;
use super::report::{self, Parts, Record, Tally};
use super::switchboard::Switchboard;
use super::tcp::{Connection, Phase, Turn};
use super::tokens::Source;
use super::udp::{self, Buffers, Received, Socket};
use super::{quic, tcp};
use crate::config::{ClientSettings, Config, HeaderMode, Role, ServerSettings};
use crate::header::HeaderSocket;
use crate::law::Counters;
use crate::observe::{self, Observed, Observers};
use crate::tunnel::{Abort, Arrival, Event, Node, Opening, Policy, TunnelId};
use crate::{keys, transparent};

/// The longest that the loop waits: it looks after waiting connections so often.
const TICK: Duration = Duration::from_millis(500);
/// Bytes read from a TCP connection in one piece.
const READ_BYTES: usize = 64 << 10;
/// Datagrams sent for one tunnel before the sockets are looked at again.
const BURST_DATAGRAMS: usize = 64;
/// How long a peer's kernel has to say that nobody listens, and nothing else to come, for it to be believed: while a
/// tunnel is made, and once it is up.
const REFUSED_AT_FIRST: Duration = Duration::from_secs(1);
const REFUSED_LATER: Duration = Duration::from_secs(10);
/// How long a last word may take to be sent when the program ends.
const GOODBYE: Duration = Duration::from_millis(200);

/// What the driver keeps of one tunnel.
pub struct Peer {
    /// Its socket, by its number.
    pub socket: usize,
    channel: Switchboard,
    pub remote: SocketAddr,
    /// What its law has done.
    pub law: Arc<Counters>,
    /// Its TCP connections, by conduit.
    pub connections: HashMap<usize, usize>,
    pub record: Record,
}

pub struct EventLoop {
    config: Config,
    reload: Box<dyn Fn() -> Result<Config>>,
    poll: Poll,
    timer: Timer,
    signals: Signals,
    node: Node,
    server: Option<ServerConfig>,
    tls: Option<Arc<rustls::ClientConfig>>,
    link: Option<Link>,
    sockets: Slab<Socket>,
    /// The server's socket for newcomers.
    front_door: Option<usize>,
    peers: HashMap<TunnelId, Peer>,
    listeners: Vec<Listener>,
    connections: Slab<Connection>,
    /// Connections that have something to do.
    turns: VecDeque<usize>,
    /// Client: connections for which there is no tunnel yet.
    waiting: VecDeque<usize>,
    next_tick: Instant,
    /// A tunnel has more to send, after the others.
    is_busy: bool,
    is_ending: bool,
    buffers: Buffers,
    read_buffer: Vec<u8>,
    send_buffer: Vec<u8>,
    _interception: Option<transparent::Interception>,
    tally: Tally,
    observed: Arc<Observed>,
    _observers: Observers,
}

impl EventLoop {
    pub fn new(config: Config, reload: Box<dyn Fn() -> Result<Config>>) -> Result<Self> {
        let now = Instant::now();
        let signals = Signals::new().context("signals")?;
        let (server, policy) = match &config.role {
            Role::Server(settings) => {
                (Some(quic::any_server(&config)?), Policy::new(settings, config.limits.max_connections))
            }
            Role::Client(_) => (None, Policy::default()),
        };
        let tls = match &config.role {
            Role::Client(_) => Some(keys::client_config(&config.identity)?),
            Role::Server(_) => None,
        };
        let node = Node::new(quic::endpoint(&config)?, server.clone().map(Arc::new), policy, config.limits);
        let link = matches!(config.role, Role::Client(_)).then(|| Link::new(now));
        let observed = Arc::new(Observed::default());
        let observers = Observers::start(&config, &observed)?;
        let mut this = Self {
            reload,
            poll: Poll::new().context("epoll")?,
            timer: Timer::new().context("timerfd")?,
            signals,
            node,
            server,
            tls,
            link,
            sockets: Slab::new(),
            front_door: None,
            peers: HashMap::new(),
            listeners: Vec::new(),
            connections: Slab::new(),
            turns: VecDeque::new(),
            waiting: VecDeque::new(),
            next_tick: now,
            is_busy: false,
            is_ending: false,
            buffers: Buffers::new(),
            read_buffer: vec![0; READ_BYTES],
            send_buffer: Vec::new(),
            _interception: None,
            tally: Tally::new(now),
            observed,
            _observers: observers,
            config,
        };
        this.watch_clocks()?;
        this.open_front_door()?;
        this.report(now);
        Ok(this)
    }

    fn watch_clocks(&mut self) -> Result<()> {
        let registry = self.poll.registry();
        registry.register(&mut SourceFd(&self.timer.raw()), Source::Timer.into(), Interest::READABLE)?;
        registry.register(&mut SourceFd(&self.signals.raw()), Source::Signals.into(), Interest::READABLE)?;
        Ok(())
    }

    fn open_front_door(&mut self) -> Result<()> {
        let Role::Server(ServerSettings { listen, .. }) = self.config.role else { return Ok(()) };
        let socket = Socket::listen(listen)
            .with_context(|| format!("cannot listen at UDP {listen}; choose another address in --listen"))?;
        self.front_door = Some(self.add_socket(socket)?);
        info!(%listen, "clarion-proxy ready");
        observe::notify_ready();
        Ok(())
    }

    /// Until a signal ends it.
    pub fn run(mut self) -> Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            let now = Instant::now();
            if now >= self.next_tick {
                self.tick(now)?;
            }
            self.node.handle_timeout(now);
            self.take_turns(now);
            self.attend_tunnels(now)?;
            if self.is_ending {
                return self.end();
            }
            self.wait(&mut events)?;
            for event in &events {
                self.dispatch(event)?;
            }
        }
    }

    fn wait(&mut self, events: &mut Events) -> Result<()> {
        let now = Instant::now();
        let at = self.node.poll_timeout().map_or(self.next_tick, |at| at.min(self.next_tick));
        let timeout = if std::mem::take(&mut self.is_busy) || !self.turns.is_empty() || at <= now {
            Some(Duration::ZERO)
        } else {
            self.timer.set(at, now)?;
            None
        };
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            result => result.context("epoll"),
        }
    }

    fn dispatch(&mut self, event: &mio::event::Event) -> Result<()> {
        match Source::from(event.token()) {
            Source::Timer => self.timer.clear(),
            Source::Signals => {
                while let Some(signal) = self.signals.next() {
                    self.on_signal(signal);
                }
            }
            Source::Udp(number) => {
                if event.is_writable()
                    && let Some(socket) = self.sockets.get_mut(number)
                {
                    socket.resume();
                }
                if event.is_readable() || event.is_error() {
                    self.receive(number)?;
                }
            }
            Source::Listener(number) => self.accept(number),
            Source::Tcp(number) => self.on_tcp(number, event),
        }
        Ok(())
    }

    fn on_signal(&mut self, signal: Signal) {
        if signal != Signal::SIGHUP {
            info!(%signal, "ending");
            observe::notify_stopping();
            self.is_ending = true;
            return;
        }
        let is_ready = self.link.as_ref().is_none_or(|link| !link.is_first);
        if is_ready {
            observe::notify_reloading();
        }
        match (self.reload)().and_then(|config| self.reconfigure(config)) {
            Ok(()) => info!("settings read again"),
            Err(error) => warn!("settings as before: {error:#}"),
        }
        if is_ready {
            observe::notify_ready();
        }
    }

    /// Takes over what may change while it runs: certificates, destinations, and limits of what is new.
    fn reconfigure(&mut self, config: Config) -> Result<()> {
        match (&config.role, &self.config.role) {
            (Role::Server(new), Role::Server(old)) if new.listen == old.listen => {
                let server = quic::any_server(&config)?;
                let policy = Policy::new(new, config.limits.max_connections);
                self.node.reconfigure(Some(Arc::new(server.clone())), policy);
                self.server = Some(server);
            }
            (Role::Client(new), Role::Client(old))
                if new.forwards == old.forwards && new.transparent == old.transparent =>
            {
                self.tls = Some(keys::client_config(&config.identity)?);
            }
            _ => return Err(anyhow!("addresses to listen at change only with a restart")),
        }
        self.node.set_limits(config.limits);
        self.config = config;
        Ok(())
    }

    // --- tunnels ---

    fn add_socket(&mut self, socket: Socket) -> Result<usize> {
        let number = self.sockets.insert(socket);
        let interest = Interest::READABLE | Interest::WRITABLE;
        let socket = &mut self.sockets[number].socket;
        self.poll.registry().register(socket, Source::Udp(number).into(), interest)?;
        Ok(number)
    }

    fn remove_socket(&mut self, number: usize) {
        if Some(number) == self.front_door || !self.sockets.contains(number) {
            return;
        }
        let mut socket = self.sockets.remove(number);
        let _ = self.poll.registry().deregister(&mut socket.socket);
    }

    /// Lets the packets of a socket carry headers, if they are wanted and the shim is there.
    fn attach_header(&self, socket: &mut Socket) {
        if self.config.header == HeaderMode::Off {
            return;
        }
        match HeaderSocket::attach(std::os::fd::AsFd::as_fd(&socket.socket), true) {
            Ok(header) => socket.header = header,
            Err(error) => warn!("packets go without header: {error}"),
        }
    }

    fn connect(&mut self, now: Instant) -> Result<()> {
        let Role::Client(ClientSettings { peer, peer_name, .. }) = &self.config.role else { return Ok(()) };
        let (peer, name) = (*peer, peer_name.clone());
        let mut socket = match Socket::connect(peer) {
            Ok(socket) => socket,
            Err(error) => return self.on_link_down(now, &format!("no way to {peer}: {error}")),
        };
        self.attach_header(&mut socket);
        let channel = Switchboard::default();
        channel.plug(socket.header.clone());
        let tls = self.tls.clone().context("client without TLS settings")?;
        let path = path_of(&socket, channel.clone());
        let (config, law) = quic::client(&self.config, tls, &path)?;
        let tunnel = self.node.connect(now, config, peer, &name)?;
        let socket = self.add_socket(socket)?;
        let record = self.tally.record(&self.config.law.name);
        let connections = HashMap::new();
        self.peers.insert(tunnel, Peer { socket, channel, remote: peer, law, connections, record });
        if let Some(link) = &mut self.link {
            link.state = State::Connecting { tunnel, until: now + self.config.limits.connect_timeout };
        }
        self.serve_waiting(now);
        Ok(())
    }

    fn receive(&mut self, number: usize) -> Result<()> {
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
                    Arrival::Tunnel(_) | Arrival::Nothing => {}
                }
            });
            for (transmit, contents) in answers {
                socket.send(now, &transmit, &contents[..transmit.size]);
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
    fn admit(
        &mut self,
        now: Instant,
        incoming: Incoming,
        remote: SocketAddr,
        local: Option<IpAddr>,
    ) -> Result<()> {
        let (Some(door), Some(any)) = (self.front_door, self.server.clone()) else { return Ok(()) };
        let channel = Switchboard::default();
        let socket = match self.socket_for(remote, local) {
            Some(socket) => {
                channel.plug(socket.header.clone());
                self.add_socket(socket)?
            }
            None => door,
        };
        let path = path_of(&self.sockets[socket], channel.clone());
        let (config, law) = quic::server(&self.config, &any, &path)?;
        self.send_buffer.clear();
        match self.node.accept(now, incoming, config, &mut self.send_buffer) {
            Ok(tunnel) => {
                let record = self.tally.record(&self.config.law.name);
                let connections = HashMap::new();
                self.peers.insert(tunnel, Peer { socket, channel, remote, law, connections, record });
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

    /// Server: a socket that is connected to a peer.
    fn socket_for(&self, remote: SocketAddr, local: Option<IpAddr>) -> Option<Socket> {
        let Role::Server(ServerSettings { listen, .. }) = &self.config.role else { return None };
        let local = SocketAddr::new(local.unwrap_or(listen.ip()), listen.port());
        match Socket::for_peer(local, remote) {
            Ok(mut socket) => {
                self.attach_header(&mut socket);
                Some(socket)
            }
            Err(error) => {
                debug!(%remote, %error, "no socket of its own");
                None
            }
        }
    }

    /// Takes what the tunnels say and sends what they have to send.
    fn attend_tunnels(&mut self, now: Instant) -> Result<()> {
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

    fn transmit(&mut self, now: Instant, tunnel: TunnelId) {
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

    fn on_event(&mut self, now: Instant, tunnel: TunnelId, event: Event) -> Result<()> {
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

    fn on_connected(&mut self, now: Instant, tunnel: TunnelId) -> Result<()> {
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
    fn establish_header(&mut self, now: Instant, tunnel: TunnelId) {
        let Some(peer) = self.peers.get(&tunnel) else { return };
        if let Some(header) = &self.sockets[peer.socket].header {
            header.on_established(now);
        }
    }

    /// Client: the first tunnel is up, so that applications may come.
    fn open_listeners(&mut self) -> Result<()> {
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

    fn on_lost(&mut self, now: Instant, tunnel: TunnelId, reason: &ConnectionError) -> Result<()> {
        let why = keys::explain(reason, &self.config).unwrap_or_else(|| reason.to_string());
        self.on_gone(now, tunnel, report::reason(reason), &why)
    }

    /// Nothing is carried any more: no application may believe otherwise.
    fn on_gone(&mut self, now: Instant, tunnel: TunnelId, reason: &str, why: &str) -> Result<()> {
        if let Some(peer) = self.peers.get(&tunnel) {
            self.tally.on_gone(&peer.record, reason);
        }
        let numbers: Vec<usize> = self
            .peers
            .get(&tunnel)
            .map(|peer| peer.connections.values().copied().collect())
            .unwrap_or_default();
        warn!(connections = numbers.len(), "tunnel lost: {why}");
        for number in numbers {
            self.close(number, Some(Abort::TunnelLost));
        }
        self.report(now);
        if self.link.as_ref().is_some_and(|link| link.tunnel() == Some(tunnel)) {
            self.on_link_down(now, why)?;
        }
        Ok(())
    }

    fn on_link_down(&mut self, now: Instant, why: &str) -> Result<()> {
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

    // --- TCP connections ---

    fn connection_of(&self, tunnel: TunnelId, conduit: usize) -> Option<usize> {
        self.peers.get(&tunnel)?.connections.get(&conduit).copied()
    }

    fn accept(&mut self, number: usize) {
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
        if is_more {
            self.accept(number);
        }
    }

    fn add_connection(&mut self, connection: Connection) -> Option<usize> {
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
    fn serve_waiting(&mut self, _now: Instant) {
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
    fn dial(&mut self, now: Instant, tunnel: TunnelId, conduit: usize, opening: Opening) {
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

    fn refuse(&mut self, tunnel: TunnelId, conduit: usize, why: Abort) {
        self.tally.on_refused(why);
        if let Some(tunnel) = self.node.tunnel(tunnel) {
            tunnel.abort(conduit, why);
            tunnel.release(conduit);
        }
    }

    fn on_tcp(&mut self, number: usize, event: &mio::event::Event) {
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

    fn list(&mut self, number: usize) {
        let Some(connection) = self.connections.get_mut(number) else { return };
        if !connection.is_listed && connection.phase == Phase::Open {
            connection.is_listed = true;
            self.turns.push_back(number);
        }
    }

    /// Each connection that has something to do moves its bytes, once.
    fn take_turns(&mut self, now: Instant) {
        for _ in 0..self.turns.len() {
            let Some(number) = self.turns.pop_front() else { return };
            let Some(connection) = self.connections.get_mut(number) else { continue };
            connection.is_listed = false;
            let Some(tunnel) = connection.tunnel.and_then(|id| self.node.tunnel(id)) else { continue };
            match connection.turn(tunnel, &mut self.read_buffer, now) {
                Turn::Rests => {}
                Turn::Again => self.list(number),
                Turn::Over => self.close(number, None),
                Turn::Broken(why) => self.close(number, Some(why)),
            }
        }
    }

    /// Closes a TCP connection: properly, if both directions have ended, else by a reset that the other end repeats.
    fn close(&mut self, number: usize, why: Option<Abort>) {
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

    // --- time ---

    fn tick(&mut self, now: Instant) -> Result<()> {
        self.next_tick = now + TICK;
        if self.link.as_ref().is_some_and(|link| link.is_due(now)) {
            self.connect(now)?;
        }
        self.end_unanswered(now)?;
        self.serve_waiting(now);
        self.end_late(now);
        self.end_slow(now);
        self.tell_round_trips();
        self.follow_address(now)?;
        self.report(now);
        Ok(())
    }

    /// Shows those who ask how things are.
    fn report(&mut self, now: Instant) {
        let Self { config, tally, node, peers, sockets, connections, .. } = self;
        self.observed.show(Parts { config, tally, node, peers, sockets, connections }.status(now));
    }

    /// Tunnels whose peer does not answer: a server to the first handshake, or a peer whose kernel says that nobody
    /// listens there any more. That can be forged, so it counts only after a silence.
    fn end_unanswered(&mut self, now: Instant) -> Result<()> {
        let connecting = self.link.as_ref().and_then(|link| match link.state {
            State::Connecting { tunnel, until } => Some((tunnel, until)),
            State::Down { .. } | State::Up(_) => None,
        });
        for id in self.node.ids() {
            let Some(peer) = self.peers.get(&id) else { continue };
            let socket = &self.sockets[peer.socket];
            let silence = if connecting.is_some() { REFUSED_AT_FIRST } else { REFUSED_LATER };
            let is_refused = socket.refusals > 0 && now.duration_since(socket.last_received) >= silence;
            let is_late = connecting.is_some_and(|(tunnel, until)| tunnel == id && until <= now);
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
    fn end_late(&mut self, now: Instant) {
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

    /// Readers that take nothing for long are reset while so many are stuck that they could hold half of the buffer:
    /// else they would in the end hold all of it, and everybody would wait for them.
    fn end_slow(&mut self, now: Instant) {
        let limits = &self.config.limits;
        let tolerated = (limits.buffer_bytes / 2 / limits.stream_bytes.max(1)) as usize;
        let mut stuck: Vec<(Instant, usize)> = self
            .connections
            .iter()
            .filter_map(|(number, each)| Some((each.stuck_since?, number)))
            .filter(|(since, _)| now.duration_since(*since) >= limits.slow_reader_timeout)
            .collect();
        stuck.sort_unstable();
        let surplus = stuck.len().saturating_sub(tolerated);
        for &(_, number) in &stuck[..surplus] {
            self.close(number, Some(Abort::SlowReader));
        }
    }

    /// Headers are tried again after some round trips.
    fn tell_round_trips(&mut self) {
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
    fn follow_address(&mut self, now: Instant) -> Result<()> {
        for id in self.node.ids() {
            let Some(tunnel) = self.node.tunnel(id) else { continue };
            let Some(remote) = tunnel.remote() else { continue };
            let Some(peer) = self.peers.get(&id) else { continue };
            let old = peer.socket;
            let replacement = if self.link.is_some() {
                let own = self.sockets[old].socket.local_addr().ok().map(|address| address.ip());
                match udp::source_address(remote) {
                    Some(source) if Some(source) != own => Socket::connect(remote).ok(),
                    _ => None,
                }
            } else if remote != peer.remote {
                self.socket_for(remote, None)
            } else {
                None
            };
            let Some(mut socket) = replacement else { continue };
            if self.link.is_some() {
                self.attach_header(&mut socket);
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

    /// Resets what is open, and tells the peers.
    fn end(mut self) -> Result<()> {
        let now = Instant::now();
        let numbers: Vec<usize> = self.connections.iter().map(|(number, _)| number).collect();
        for number in numbers {
            self.close(number, Some(Abort::TunnelLost));
        }
        for id in self.node.ids() {
            if let Some(tunnel) = self.node.tunnel(id) {
                tunnel.close(now, "the program ends");
            }
        }
        while Instant::now() < now + GOODBYE && self.sockets.iter().any(|(_, socket)| socket.is_blocked()) {
            std::thread::sleep(Duration::from_millis(1));
            self.attend_tunnels(now)?;
        }
        self.attend_tunnels(now)
    }
}

fn path_of(socket: &Socket, channel: Switchboard) -> quic::Path {
    let (largest_datagram_bytes, is_ipv6) = (socket.largest_datagram_bytes(), socket.is_ipv6());
    quic::Path { channel, largest_datagram_bytes, is_ipv6 }
}
