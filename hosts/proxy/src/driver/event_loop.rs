// SPDX-License-Identifier: Apache-2.0
//! Waits for sockets, time and signals, and hands what comes to the core and what the core says to the sockets.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use noq_proto::ServerConfig;
use slab::Slab;
use tracing::{info, warn};

use super::clock::{Signals, Timer};
use super::link::Link;
use super::listeners::Listener;
use super::quic;
use super::report::Tally;
use super::tcp::Connection;
use super::tokens::Source;
use super::tunnels::Peer;
use super::udp::{Buffers, Socket};
use crate::config::{Config, Role, ServerSettings};
use crate::observe::{self, Observed, Observers};
use crate::tunnel::{Abort, Node, Policy, TunnelId};
use crate::{keys, transparent};

/// Bytes read from a TCP connection in one piece.
const READ_BYTES: usize = 64 << 10;
/// How long a last word may take to be sent when the program ends.
const GOODBYE: Duration = Duration::from_millis(200);

pub struct EventLoop {
    pub(super) config: Config,
    pub(super) reload: Box<dyn Fn() -> Result<Config>>,
    pub(super) poll: Poll,
    pub(super) timer: Timer,
    pub(super) signals: Signals,
    pub(super) node: Node,
    pub(super) server: Option<ServerConfig>,
    pub(super) tls: Option<Arc<rustls::ClientConfig>>,
    pub(super) link: Option<Link>,
    pub(super) sockets: Slab<Socket>,
    /// The server's socket for newcomers.
    pub(super) front_door: Option<usize>,
    pub(super) peers: HashMap<TunnelId, Peer>,
    pub(super) listeners: Vec<Listener>,
    pub(super) connections: Slab<Connection>,
    /// Connections that have something to do.
    pub(super) turns: VecDeque<usize>,
    /// Client: connections for which there is no tunnel yet.
    pub(super) waiting: VecDeque<usize>,
    pub(super) next_tick: Instant,
    /// A tunnel has more to send, after the others.
    pub(super) is_busy: bool,
    pub(super) is_ending: bool,
    pub(super) buffers: Buffers,
    pub(super) read_buffer: Vec<u8>,
    pub(super) send_buffer: Vec<u8>,
    pub(super) _interception: Option<transparent::Interception>,
    pub(super) tally: Tally,
    pub(super) observed: Arc<Observed>,
    pub(super) _observers: Observers,
}

impl EventLoop {
    pub fn new(config: Config, reload: Box<dyn Fn() -> Result<Config>>) -> Result<Self> {
        let now = Instant::now();
        let signals = Signals::new().context("signals")?;
        raise_descriptor_limit();
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

/// As many descriptors as this program may have: each TCP connection takes one.
fn raise_descriptor_limit() {
    let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
}
