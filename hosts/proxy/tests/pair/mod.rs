// SPDX-License-Identifier: Apache-2.0
//! A client and a server in virtual time, joined by a path with rate, delay, loss and outages.
#![allow(dead_code)] // each test uses some of it

pub mod certificates;
pub mod conduits;
pub mod honest;
pub mod stranger;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use clarion_proxy::config::{Destination, Limits, ServerSettings};
use clarion_proxy::header::NoHeader;
use clarion_proxy::law::LawFactory;
use clarion_proxy::prediction::{Counts, Prediction};
use clarion_proxy::tunnel::{
    Arrival, Event, Front, Node, Opening, Policy, Secret, Tunnel, TunnelId, transport_config,
};
use noq_proto::congestion::{ControllerFactory, CubicConfig};
use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{ClientConfig, EndpointConfig, ServerConfig, TransportConfig};

pub const CLIENT: &str = "10.0.0.1:1000";
pub const SERVER: &str = "10.0.0.2:2000";
const DATAGRAM_BYTES: u16 = 1472;

pub fn address(text: &str) -> SocketAddr {
    text.parse().expect("address")
}

pub fn opening() -> Opening {
    Opening { destination: address("192.0.2.1:21"), source: address("10.0.0.9:40000") }
}

pub fn anywhere() -> Destination {
    Destination { address: "0.0.0.0".parse().expect("address"), prefix_bits: 0, ports: (0, u16::MAX) }
}

/// One direction of the path.
#[derive(Clone, Debug)]
pub struct Direction {
    pub bytes_per_s: u64,
    pub delay: Duration,
    /// At most so much comes on top; nothing overtakes.
    pub jitter: Duration,
    pub loss: f64,
    pub queue_bytes: u64,
    pub is_down: bool,
    free_at: Option<Instant>,
    arrived_at: Option<Instant>,
    pub lost: u64,
    pub dropped: u64,
}

impl Direction {
    pub fn new(mbit_per_s: u64, delay_ms: u64, loss: f64) -> Self {
        let bytes_per_s = mbit_per_s * 125_000;
        Self {
            bytes_per_s,
            delay: Duration::from_millis(delay_ms),
            jitter: Duration::ZERO,
            loss,
            queue_bytes: (bytes_per_s * 2 * delay_ms / 1000).max(30_000),
            is_down: false,
            free_at: None,
            arrived_at: None,
            lost: 0,
            dropped: 0,
        }
    }

    /// When a datagram that is sent now arrives, if it does.
    fn carry(&mut self, now: Instant, bytes: usize, chance: &mut Chance) -> Option<Instant> {
        let is_lost = chance.next() < self.loss;
        let begin = self.free_at.map_or(now, |at| at.max(now));
        let queued_bytes = (begin - now).as_secs_f64() * self.bytes_per_s as f64;
        if queued_bytes > self.queue_bytes as f64 {
            self.dropped += 1;
            return None;
        }
        let wire_bytes = bytes + 14 + 20 + 8;
        let end = begin + Duration::from_secs_f64(wire_bytes as f64 / self.bytes_per_s as f64);
        self.free_at = Some(end);
        if self.is_down || is_lost {
            self.lost += 1;
            return None;
        }
        let late = if self.jitter.is_zero() { Duration::ZERO } else { self.jitter.mul_f64(chance.next()) };
        let at = end + self.delay + late;
        self.arrived_at = Some(self.arrived_at.map_or(at, |last| last.max(at)));
        self.arrived_at
    }
}

/// Numbers that only look random, the same in every run.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// In [0, 1).
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct InFlight {
    at: Instant,
    number: u64,
    is_to_server: bool,
    contents: Vec<u8>,
}

pub struct Pair {
    pub now: Instant,
    pub epoch: Instant,
    pub client: Node,
    pub server: Node,
    /// From the client to the server.
    pub up: Direction,
    pub down: Direction,
    /// Where the client sends from.
    pub client_address: SocketAddr,
    in_flight: BinaryHeap<Reverse<InFlight>>,
    sent: u64,
    chance: Chance,
    server_config: Arc<ServerConfig>,
    client_config: ClientConfig,
    transport: Arc<TransportConfig>,
    settings: ServerSettings,
    seed: u64,
    limits: Limits,
    /// Of the client.
    prediction: Option<Prediction>,
    /// What newcomers come to: a server that is gone accepts none.
    pub accepts: bool,
    pub datagrams_to_server: Vec<Vec<u8>>,
    pub records: bool,
    /// What the server has sent to others than the client, and to whom.
    pub elsewhere: Vec<(SocketAddr, Vec<u8>)>,
}

pub struct Setup {
    pub limits: Limits,
    pub allow: Vec<Destination>,
    pub early: Vec<Destination>,
    pub up: Direction,
    pub down: Direction,
    pub seed: u64,
    /// One of Clarion's in place of noq's Cubic.
    pub law: Option<(&'static str, Vec<(String, u32)>)>,
    /// Threshold at which the client sends again what is probably lost.
    pub predict: Option<f64>,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            allow: vec![anywhere()],
            early: Vec::new(),
            up: Direction::new(100, 20, 0.0),
            down: Direction::new(100, 20, 0.0),
            seed: 1,
            law: None,
            predict: None,
        }
    }
}

impl Pair {
    pub fn new(setup: Setup) -> Self {
        let transport = Arc::new(transport(&setup, None));
        let prediction = setup.predict.map(Prediction::new);
        let client_transport = Arc::new(self::transport(&setup, prediction.as_ref()));
        let (server_tls, client_tls) = certificates::pair();
        let crypto = QuicServerConfig::try_from(server_tls).expect("server TLS");
        let mut server_config = ServerConfig::with_crypto(Arc::new(crypto));
        server_config.transport_config(transport.clone());
        let crypto = QuicClientConfig::try_from(client_tls).expect("client TLS");
        let mut client_config = ClientConfig::new(Arc::new(crypto));
        client_config.transport_config(client_transport);
        let server_config = Arc::new(server_config);
        let settings = ServerSettings { listen: address(SERVER), allow: setup.allow, early: setup.early };
        let policy = Policy::new(&settings, setup.limits.max_connections);
        let now = Instant::now();
        Self {
            now,
            epoch: now,
            client: Node::new(endpoint(setup.seed, 1), None, Policy::default(), setup.limits),
            server: Node::new(endpoint(setup.seed, 2), Some(server_config.clone()), policy, setup.limits),
            up: setup.up,
            down: setup.down,
            client_address: address(CLIENT),
            in_flight: BinaryHeap::new(),
            sent: 0,
            chance: Chance::new(setup.seed),
            server_config,
            client_config,
            transport,
            settings,
            seed: setup.seed,
            limits: setup.limits,
            prediction,
            accepts: true,
            datagrams_to_server: Vec::new(),
            records: false,
            elsewhere: Vec::new(),
        }
    }

    /// The server is a new process with the same certificate: it knows no tickets and no connections.
    pub fn restart_server(&mut self) {
        let crypto = QuicServerConfig::try_from(certificates::server()).expect("server TLS");
        let mut config = ServerConfig::with_crypto(Arc::new(crypto));
        config.transport_config(self.transport.clone());
        self.server_config = Arc::new(config);
        self.server = Node::new(
            endpoint(self.seed, 2),
            Some(self.server_config.clone()),
            Policy::new(&self.settings, self.limits.max_connections),
            self.limits,
        );
    }

    /// The server allows another number of conduits, in tunnels that are up, too.
    pub fn allow_conduits(&mut self, max_connections: u32) {
        self.limits.max_connections = max_connections;
        let policy = Policy::new(&self.settings, max_connections);
        self.server.reconfigure(Some(self.server_config.clone()), policy);
    }

    pub fn connect(&mut self) -> TunnelId {
        let (config, server) = (self.client_config.clone(), address(SERVER));
        let id = self
            .client
            .connect(self.now, config, server, certificates::SERVER_NAME, secret())
            .expect("connect");
        if let Some(prediction) = self.prediction.clone() {
            self.client_tunnel(id).predict(prediction);
        }
        id
    }

    /// What the client has sent again.
    pub fn resends(&self) -> Counts {
        self.prediction.as_ref().map(Prediction::counts).unwrap_or_default()
    }

    pub fn elapsed(&self) -> Duration {
        self.now - self.epoch
    }

    /// The client's tunnel and the server's, up.
    pub fn established(&mut self) -> (TunnelId, TunnelId) {
        let id = self.connect();
        self.until(|pair| {
            is_up(&mut pair.client, id) && pair.server_id().is_some_and(|id| is_up(&mut pair.server, id))
        });
        let server = self.server_id().expect("server's tunnel");
        (id, server)
    }

    pub fn server_id(&self) -> Option<TunnelId> {
        self.server.ids().into_iter().max_by_key(|id| id.0)
    }

    pub fn client_tunnel(&mut self, id: TunnelId) -> &mut Tunnel {
        self.client.tunnel(id).expect("client's tunnel")
    }

    pub fn server_tunnel(&mut self, id: TunnelId) -> &mut Tunnel {
        self.server.tunnel(id).expect("server's tunnel")
    }

    /// Steps until something holds; panics if that takes an hour of virtual time.
    pub fn until(&mut self, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = self.now + Duration::from_secs(3600);
        while !holds(self) {
            assert!(self.step() && self.now < end, "nothing happens any more after {:?}", self.elapsed());
        }
    }

    /// Steps for a time.
    pub fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.next_time().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = end;
    }

    /// Sends what there is to send, then goes to the next moment at which something happens; false if none will.
    pub fn step(&mut self) -> bool {
        self.flush();
        let Some(at) = self.next_time() else { return false };
        self.now = self.now.max(at);
        while self.in_flight.peek().is_some_and(|Reverse(first)| first.at <= self.now) {
            if let Some(Reverse(datagram)) = self.in_flight.pop() {
                self.deliver(datagram.is_to_server, datagram.contents);
            }
        }
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        true
    }

    fn next_time(&self) -> Option<Instant> {
        let arrival = self.in_flight.peek().map(|Reverse(first)| first.at);
        [arrival, self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten().min()
    }

    /// Sends what there is to send.
    pub fn flush(&mut self) {
        self.transmit(true);
        self.transmit(false);
    }

    fn transmit(&mut self, is_client: bool) {
        let mut buffer = Vec::new();
        let ids = if is_client { self.client.ids() } else { self.server.ids() };
        for id in ids {
            loop {
                buffer.clear();
                let node = if is_client { &mut self.client } else { &mut self.server };
                let Some(transmit) = node.poll_transmit(id, self.now, NonZeroUsize::MIN, &mut buffer) else {
                    break;
                };
                let contents = buffer[..transmit.size].to_vec();
                if is_client {
                    self.put(true, contents);
                } else {
                    self.answer(transmit.destination, contents);
                }
            }
        }
    }

    /// Puts a datagram on the path.
    pub fn put(&mut self, is_to_server: bool, contents: Vec<u8>) {
        let direction = if is_to_server { &mut self.up } else { &mut self.down };
        if is_to_server && self.records {
            self.datagrams_to_server.push(contents.clone());
        }
        if let Some(at) = direction.carry(self.now, contents.len(), &mut self.chance) {
            self.sent += 1;
            self.in_flight.push(Reverse(InFlight { at, number: self.sent, is_to_server, contents }));
        }
    }

    fn answer(&mut self, remote: SocketAddr, contents: Vec<u8>) {
        if remote == self.client_address {
            self.put(false, contents);
        } else {
            self.elsewhere.push((remote, contents));
        }
    }

    /// Hands the server a datagram, whatever the path is like.
    pub fn replay(&mut self, contents: Vec<u8>) {
        self.deliver(true, contents);
    }

    /// Hands the server a datagram that seems to come from `remote`.
    pub fn replay_from(&mut self, remote: SocketAddr, contents: Vec<u8>) {
        let mut buffer = Vec::new();
        let bytes = BytesMut::from(&contents[..]);
        match self.server.handle_datagram(self.now, remote, None, None, bytes, &mut buffer) {
            Arrival::Newcomer(incoming) if self.accepts => {
                let config = self.server_config.clone();
                if let Err(Some(answer)) =
                    self.server.accept(self.now, *incoming, config, secret(), &mut buffer)
                {
                    self.answer(remote, buffer[..answer.size].to_vec());
                }
            }
            Arrival::Newcomer(incoming) => std::mem::forget(incoming),
            Arrival::Answer(answer) => self.answer(remote, buffer[..answer.size].to_vec()),
            Arrival::Taken => {}
        }
    }

    fn deliver(&mut self, is_to_server: bool, contents: Vec<u8>) {
        if is_to_server {
            return self.replay_from(self.client_address, contents);
        }
        let (mut buffer, bytes) = (Vec::new(), BytesMut::from(&contents[..]));
        let arrival = self.client.handle_datagram(self.now, address(SERVER), None, None, bytes, &mut buffer);
        if let Arrival::Answer(answer) = arrival {
            self.put(true, buffer[..answer.size].to_vec());
        }
    }
}

fn transport(setup: &Setup, prediction: Option<&Prediction>) -> TransportConfig {
    match &setup.law {
        None => transport_of(setup, prediction, CubicConfig::default()),
        Some((name, parameters)) => {
            let law = LawFactory::new(name, parameters, Arc::new(NoHeader)).expect("law");
            transport_of(setup, prediction, law)
        }
    }
}

fn transport_of<F: ControllerFactory + Send + Sync + 'static>(
    setup: &Setup,
    prediction: Option<&Prediction>,
    controllers: F,
) -> TransportConfig {
    let controllers: Arc<dyn ControllerFactory + Send + Sync> = match prediction {
        Some(prediction) => Arc::new(prediction.listen(controllers)),
        None => Arc::new(controllers),
    };
    transport_config(&setup.limits, controllers, DATAGRAM_BYTES)
}

fn secret() -> Secret {
    Secret::new().expect("secret")
}

pub fn endpoint(seed: u64, salt: u8) -> EndpointConfig {
    let mut bytes = [salt; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &bytes);
    let mut config = EndpointConfig::new(Arc::new(key));
    config.rng_seed(Some(bytes));
    config
}

/// Takes the events up to one that says that the handshake is over.
pub fn is_up(node: &mut Node, id: TunnelId) -> bool {
    let Some(tunnel) = node.tunnel(id) else { return false };
    while !tunnel.is_up() {
        if tunnel.poll().is_none() {
            return false;
        }
    }
    true
}

/// All that a tunnel has to say now.
pub fn events(tunnel: &mut Tunnel) -> Vec<Event> {
    std::iter::from_fn(|| tunnel.poll()).collect()
}

/// The bytes of a front, in one piece.
pub fn bytes_of(front: &Front<'_>) -> Option<Vec<u8>> {
    match front {
        Front::Bytes(slices) => Some(slices.iter().flat_map(|slice| slice.iter()).copied().collect()),
        Front::Empty | Front::Finished | Front::Aborted => None,
    }
}
