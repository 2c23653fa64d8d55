// SPDX-License-Identifier: Apache-2.0
//! A peer of the server's that keeps the rules of QUIC and no others: a connection of the library with no tunnel around it.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use clarion_proxy::tunnel::{Abort, TunnelId};
use noq_proto::congestion::CubicConfig;
use noq_proto::crypto::rustls::QuicClientConfig;
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event,
    FourTuple, ReadError, StreamEvent, StreamId, TransportConfig, VarInt,
};

use super::certificates::{self, SERVER_NAME};
use super::{Pair, SERVER, address, endpoint};

/// So fine its time is.
const STEP: Duration = Duration::from_millis(1);
/// It sends what it wants to.
const WINDOW_BYTES: u64 = 1 << 30;

pub struct Stranger {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    pub connection: Connection,
    pub address: SocketAddr,
    /// It hears nothing, as if another had its address.
    pub is_deaf: bool,
    /// Datagrams that it will lose on their way to the server.
    pub loses: usize,
    /// How its streams were ended by the server.
    pub stopped: Vec<(StreamId, u64)>,
    pub lost: Option<ConnectionError>,
}

impl Stranger {
    /// One whose certificate is good.
    pub fn new(pair: &Pair, from: &str) -> Self {
        Self::with(pair, from, certificates::pair().1)
    }

    /// One with TLS of its own.
    pub fn with(pair: &Pair, from: &str, tls: Arc<rustls::ClientConfig>) -> Self {
        let mut law = CubicConfig::default();
        law.initial_window(WINDOW_BYTES);
        let mut transport = TransportConfig::default();
        transport
            .congestion_controller_factory(Arc::new(law))
            .send_window(WINDOW_BYTES)
            .receive_window(VarInt::from_u32(WINDOW_BYTES as u32))
            .stream_receive_window(VarInt::from_u32(WINDOW_BYTES as u32));
        let crypto = QuicClientConfig::try_from(tls).expect("client TLS");
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(transport));
        let address_of_it = address(from);
        let mut own = Endpoint::new(Arc::new(endpoint(u64::from(address_of_it.port()), 3)), None, true);
        let (handle, connection) =
            own.connect(pair.now, config, address(SERVER), SERVER_NAME).expect("connect");
        Self {
            endpoint: own,
            handle,
            connection,
            address: address_of_it,
            is_deaf: false,
            loses: 0,
            stopped: Vec::new(),
            lost: None,
        }
    }

    /// One that the server has let in, and the server's tunnel to it.
    pub fn admitted(pair: &mut Pair, from: &str) -> (Self, TunnelId) {
        let mut stranger = Self::new(pair, from);
        stranger.until(pair, |stranger, pair| {
            stranger.tunnel(pair).is_some_and(|id| super::is_up(&mut pair.server, id))
        });
        let id = stranger.tunnel(pair).expect("tunnel");
        (stranger, id)
    }

    /// The server's tunnel to it.
    pub fn tunnel(&self, pair: &mut Pair) -> Option<TunnelId> {
        let is_its = |pair: &mut Pair, id| pair.server_tunnel(id).remote() == Some(self.address);
        pair.server.ids().into_iter().find(|&id| is_its(pair, id))
    }

    /// Goes on until something holds; panics if that takes a minute.
    pub fn until(&mut self, pair: &mut Pair, mut holds: impl FnMut(&mut Self, &mut Pair) -> bool) {
        let end = pair.now + Duration::from_secs(60);
        while !holds(self, pair) {
            assert!(pair.now < end, "it does not come about; lost: {:?}", self.lost);
            self.exchange(pair);
            pair.pass(STEP);
        }
    }

    /// Goes on for a time.
    pub fn pass(&mut self, pair: &mut Pair, time: Duration) {
        let end = pair.now + time;
        self.until(pair, |_, pair| pair.now >= end);
    }

    /// All that both have to say now.
    pub fn exchange(&mut self, pair: &mut Pair) {
        if self.connection.poll_timeout().is_some_and(|at| at <= pair.now) {
            self.connection.handle_timeout(pair.now);
        }
        loop {
            pair.flush();
            let has_heard = self.hear(pair);
            let has_spoken = self.speak(pair);
            if !has_heard && !has_spoken {
                return;
            }
        }
    }

    fn hear(&mut self, pair: &mut Pair) -> bool {
        let (own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut pair.elsewhere).into_iter().partition(|(remote, _)| *remote == self.address);
        pair.elsewhere = others;
        let has_heard = !own.is_empty();
        for (_, contents) in own {
            let (path, mut buffer) = (FourTuple::new(address(SERVER), None), Vec::new());
            let contents = BytesMut::from(&contents[..]);
            if self.is_deaf {
                continue;
            }
            if let Some(DatagramEvent::ConnectionEvent(_, event)) =
                self.endpoint.handle(pair.now, path, None, contents, &mut buffer)
            {
                self.connection.handle_event(event);
            }
            self.take_in();
        }
        has_heard
    }

    fn take_in(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(answer);
            }
        }
        while let Some(event) = self.connection.poll() {
            match event {
                Event::ConnectionLost { reason } => self.lost = Some(reason),
                Event::Stream(StreamEvent::Stopped { id, error_code }) => {
                    self.stopped.push((id, error_code.into_inner()));
                }
                Event::Stream(StreamEvent::Readable { id }) => self.read(id),
                _ => {}
            }
        }
    }

    /// Takes what there is, of which only a reset matters.
    fn read(&mut self, id: StreamId) {
        let mut stream = self.connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else { return };
        let error = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let _ = chunks.finalize();
        if let Some(ReadError::Reset(code)) = error {
            self.stopped.push((id, code.into_inner()));
        }
    }

    /// Datagrams that it has to send now.
    pub fn datagrams(&mut self, pair: &Pair) -> Vec<Vec<u8>> {
        let (mut datagrams, mut buffer) = (Vec::new(), Vec::new());
        while let Some(transmit) = self.connection.poll_transmit(pair.now, NonZeroUsize::MIN, &mut buffer) {
            datagrams.push(buffer[..transmit.size].to_vec());
            buffer.clear();
        }
        datagrams
    }

    fn speak(&mut self, pair: &mut Pair) -> bool {
        let datagrams = self.datagrams(pair);
        let has_spoken = !datagrams.is_empty();
        for contents in datagrams {
            if self.loses > 0 {
                self.loses -= 1;
            } else {
                pair.replay_from(self.address, contents);
            }
        }
        self.take_in();
        has_spoken
    }

    /// What it sends when it knows how the server has answered its first datagrams: with a Retry, it proves its address.
    pub fn second_flight(&mut self, pair: &mut Pair) -> Vec<Vec<u8>> {
        for contents in self.datagrams(pair) {
            pair.replay_from(self.address, contents);
        }
        self.hear(pair);
        self.datagrams(pair)
    }

    /// It begins a handshake, proves its address if it has to, and says nothing more.
    pub fn stop_half_way(mut self, pair: &mut Pair) {
        for contents in self.second_flight(pair) {
            pair.replay_from(self.address, contents);
        }
    }

    /// A stream with these bytes.
    pub fn send(&mut self, dir: Dir, bytes: &[u8]) -> StreamId {
        let stream = self.connection.streams().open(dir).expect("stream");
        self.write(stream, bytes);
        stream
    }

    pub fn write(&mut self, stream: StreamId, bytes: &[u8]) {
        assert_eq!(self.connection.send_stream(stream).write(bytes), Ok(bytes.len()));
    }

    pub fn finish(&mut self, stream: StreamId) {
        self.connection.send_stream(stream).finish().expect("finish");
    }

    /// Whether the server has given a stream up for that reason.
    pub fn was_stopped(&self, stream: StreamId, why: Abort) -> bool {
        let position = Abort::ALL.iter().position(|each| *each == why).expect("reason");
        self.stopped.contains(&(stream, position as u64 + 1))
    }
}
