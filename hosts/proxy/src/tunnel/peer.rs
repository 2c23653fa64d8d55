// SPDX-License-Identifier: Apache-2.0
//! One peer: a QUIC connection and its conduits.

use std::collections::{HashMap, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use noq_proto::{
    Connection, ConnectionError, ConnectionEvent, ConnectionStats, Dir, EndpointEvent, PathId, PathStats,
    ReadError, Side, StreamEvent, StreamId, Transmit, VarInt, WriteError,
};
use slab::Slab;
use thiserror::Error;
use tracing::debug;

use super::codes::Abort;
use super::conduit::{Conduit, ConduitId, Half, Stage};
use super::opening::Opening;
use super::policy::Policy;

/// Bytes of one conduit that a client sends before the handshake is over, and keeps for the case that 0-RTT is
/// rejected.
const EARLY_BYTES: usize = 64 << 10;
/// Bytes taken from a stream in one piece.
const CHUNK_BYTES: usize = 256 << 10;

/// After so long a silence the path is tried as a new one, and again each time it has passed: the library's own probes
/// come ever later in an outage, by two seconds each (noq 1.4), and the path would stay unused when it is back.
const REVIVAL: Duration = Duration::from_secs(6);

/// What happened in a tunnel.
#[derive(Debug)]
pub enum Event {
    /// The handshake is over: the peer is who it says.
    Connected,
    /// The connection is gone, and with it all conduits: their TCP connections are to be reset.
    Lost(ConnectionError),
    /// Server: a destination is to be connected.
    Opened { conduit: ConduitId, opening: Opening },
    /// There may be bytes to take, or the end of a direction.
    Readable(ConduitId),
    /// There is room again.
    Writable(ConduitId),
    /// The other end gave the conduit up: its TCP connection is to be reset.
    Aborted { conduit: ConduitId, why: Abort },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// `Writable` will say when there is room.
    #[error("blocked")]
    Blocked,
    /// The conduit was aborted; `Aborted` says why.
    #[error("closed")]
    Closed,
}

/// What a conduit has for its TCP connection.
#[derive(Debug, PartialEq, Eq)]
pub enum Front<'a> {
    Bytes(&'a [u8]),
    /// `Readable` will say when there is more.
    Empty,
    /// All was taken, and there will be no more.
    Finished,
    Aborted,
}

/// One peer.
#[derive(Debug)]
pub struct Tunnel {
    connection: Connection,
    policy: Arc<Policy>,
    /// When the last datagram came.
    heard_at: Instant,
    revived_at: Instant,
    conduits: Slab<Conduit>,
    by_stream: HashMap<StreamId, ConduitId>,
    /// Conduits with news.
    listed: VecDeque<ConduitId>,
    events: VecDeque<Event>,
    is_up: bool,
    is_lost: bool,
    /// Openings that came as 0-RTT data and had to wait.
    held: u64,
}

impl Tunnel {
    pub(super) fn new(now: Instant, connection: Connection, policy: Arc<Policy>) -> Self {
        Self {
            connection,
            policy,
            heard_at: now,
            revived_at: now,
            conduits: Slab::new(),
            by_stream: HashMap::new(),
            listed: VecDeque::new(),
            events: VecDeque::new(),
            is_up: false,
            is_lost: false,
            held: 0,
        }
    }

    pub(super) fn set_policy(&mut self, policy: Arc<Policy>) {
        self.policy = policy;
    }

    // --- conduits ---

    /// Client: a new conduit; `None` while there are as many as the server allows.
    pub fn open(&mut self, opening: Opening) -> Option<ConduitId> {
        let stream = self.connection.streams().open(Dir::Bi)?;
        let mut conduit = Conduit::to(opening, stream);
        conduit.early = (!self.is_up).then(Vec::new);
        let id = self.conduits.insert(conduit);
        self.by_stream.insert(stream, id);
        self.flush_head(id);
        Some(id)
    }

    /// Whether conduits may be opened now: after the handshake, or before it by 0-RTT.
    pub fn can_open(&self) -> bool {
        !self.is_lost && (self.is_up || self.connection.has_0rtt())
    }

    pub fn opening(&self, id: ConduitId) -> Option<Opening> {
        self.conduits.get(id)?.opening()
    }

    /// Takes bytes of the TCP connection; returns how many, at least one.
    pub fn send(&mut self, id: ConduitId, bytes: &[u8]) -> Result<usize, SendError> {
        if !self.flush_head(id) {
            return Err(SendError::Blocked);
        }
        let Some(conduit) = self.conduits.get_mut(id).filter(|conduit| conduit.send == Half::Open) else {
            return Err(SendError::Closed);
        };
        let room = conduit.early.as_ref().map_or(usize::MAX, |early| EARLY_BYTES.saturating_sub(early.len()));
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return Err(SendError::Blocked);
        }
        match self.connection.send_stream(conduit.stream).write(bytes) {
            Ok(taken) => {
                if let Some(early) = &mut conduit.early {
                    early.extend_from_slice(&bytes[..taken]);
                }
                Ok(taken)
            }
            Err(WriteError::Blocked) => Err(SendError::Blocked),
            Err(WriteError::Stopped(_) | WriteError::ClosedStream) => Err(SendError::Closed),
        }
    }

    /// The TCP connection sends no more (FIN).
    pub fn finish(&mut self, id: ConduitId) {
        if !self.flush_head(id) {
            // An opening is so short that only a lost or stopped stream does not take it.
            debug!(conduit = id, "end of a direction whose opening was not sent");
        }
        let Some(conduit) = self.conduits.get_mut(id).filter(|conduit| conduit.send == Half::Open) else {
            return;
        };
        conduit.send = Half::Finished;
        let _ = self.connection.send_stream(conduit.stream).finish();
    }

    /// The TCP connection was reset, or could not be made: the other end does the same to its own, at once.
    pub fn abort(&mut self, id: ConduitId, why: Abort) {
        let Some(conduit) = self.conduits.get_mut(id) else { return };
        conduit.front = Bytes::new();
        let (stream, send, receive) = (conduit.stream, conduit.send, conduit.receive);
        conduit.send = Half::Aborted;
        conduit.receive = Half::Aborted;
        if send != Half::Aborted {
            let _ = self.connection.send_stream(stream).reset(why.code());
        }
        if receive == Half::Open {
            let _ = self.connection.recv_stream(stream).stop(why.code());
        }
    }

    /// What there is for the TCP connection next.
    pub fn front(&mut self, id: ConduitId) -> Front<'_> {
        let Some(conduit) = self.conduits.get_mut(id) else { return Front::Aborted };
        if conduit.front.is_empty() && conduit.receive == Half::Open && conduit.opening().is_some() {
            self.fetch(id);
        }
        let Some(conduit) = self.conduits.get(id) else { return Front::Aborted };
        match conduit.receive {
            Half::Aborted => Front::Aborted,
            _ if !conduit.front.is_empty() => Front::Bytes(&conduit.front),
            Half::Open => Front::Empty,
            Half::Finished => Front::Finished,
        }
    }

    /// The TCP connection has taken `bytes` of the front.
    pub fn consume(&mut self, id: ConduitId, bytes: usize) {
        if let Some(conduit) = self.conduits.get_mut(id) {
            let _ = conduit.front.split_to(bytes.min(conduit.front.len()));
        }
    }

    /// The TCP connection is closed; what is not finished is aborted. The number may be used again.
    pub fn release(&mut self, id: ConduitId) {
        let Some(conduit) = self.conduits.get(id) else { return };
        let is_over = conduit.send != Half::Open && conduit.receive != Half::Open;
        if !is_over {
            self.abort(id, Abort::Reset);
        }
        let conduit = self.conduits.remove(id);
        self.by_stream.remove(&conduit.stream);
    }

    pub fn conduits(&self) -> usize {
        self.conduits.len()
    }

    // --- the connection ---

    pub fn poll(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        while let Some(&id) = self.listed.front() {
            if let Some(event) = self.conduits.get_mut(id).and_then(|conduit| next_event(id, conduit)) {
                return Some(event);
            }
            self.listed.pop_front();
            if let Some(conduit) = self.conduits.get_mut(id) {
                conduit.news.is_listed = false;
            }
        }
        None
    }

    pub(super) fn poll_transmit(
        &mut self,
        now: Instant,
        max_datagrams: NonZeroUsize,
        buffer: &mut Vec<u8>,
    ) -> Option<Transmit> {
        let transmit = self.connection.poll_transmit(now, max_datagrams, buffer);
        if transmit.is_some() && self.is_up() {
            self.revive(now);
        }
        transmit
    }

    /// Just after a probe, or all probes that the library thinks are due would follow at once.
    fn revive(&mut self, now: Instant) {
        if now.duration_since(self.heard_at.max(self.revived_at)) >= REVIVAL {
            self.revived_at = now;
            self.connection.handle_network_change(None, now);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
        self.digest();
    }

    pub(super) fn handle_datagram(&mut self, now: Instant, event: ConnectionEvent) {
        self.heard_at = now;
        self.connection.handle_event(event);
    }

    pub(super) fn handle_event(&mut self, event: ConnectionEvent) {
        self.connection.handle_event(event);
    }

    pub(super) fn poll_endpoint_events(&mut self) -> Option<EndpointEvent> {
        self.connection.poll_endpoint_events()
    }

    /// Ends the tunnel for a reason that the peer is told; false if it had ended already.
    pub fn close(&mut self, now: Instant, reason: &'static str) -> bool {
        if self.is_lost {
            return false;
        }
        self.connection.close(now, VarInt::from_u32(0), Bytes::from_static(reason.as_bytes()));
        self.is_lost = true;
        true
    }

    pub fn is_up(&self) -> bool {
        self.is_up && !self.is_lost
    }

    pub fn is_drained(&self) -> bool {
        self.connection.is_drained()
    }

    /// Openings that came as 0-RTT data and waited for the handshake.
    pub fn held(&self) -> u64 {
        self.held
    }

    pub fn accepted_early(&self) -> bool {
        self.connection.accepted_0rtt()
    }

    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    pub fn stats(&mut self) -> ConnectionStats {
        self.connection.stats()
    }

    pub fn path_stats(&mut self) -> PathStats {
        self.connection.path_stats(PathId::ZERO).unwrap_or_default()
    }

    /// The address of the peer.
    pub fn remote(&self) -> Option<std::net::SocketAddr> {
        self.connection.network_path(PathId::ZERO).ok().map(|path| path.remote())
    }

    /// The local addresses have changed: the path is proven anew.
    pub fn migrate(&mut self, now: Instant) {
        self.connection.handle_network_change(None, now);
    }

    // --- inside ---

    /// Takes in what the connection has to say.
    pub(super) fn digest(&mut self) {
        while let Some(event) = self.connection.poll() {
            match event {
                noq_proto::Event::Connected => self.on_connected(),
                noq_proto::Event::ConnectionLost { reason } => {
                    self.is_lost = true;
                    self.events.push_back(Event::Lost(reason));
                }
                noq_proto::Event::Stream(event) => self.on_stream(event),
                _ => {}
            }
        }
    }

    fn on_connected(&mut self) {
        self.is_up = true;
        self.events.push_back(Event::Connected);
        let is_rejected = self.connection.side() == Side::Client && !self.connection.accepted_0rtt();
        let ids: Vec<ConduitId> = self.conduits.iter().map(|(id, _)| id).collect();
        for id in ids {
            if is_rejected {
                self.reopen(id);
            }
            self.settle(id);
        }
    }

    /// The handshake is over: nothing has to be kept for a second try, and what was held may go on.
    fn settle(&mut self, id: ConduitId) {
        let Some(conduit) = self.conduits.get_mut(id) else { return };
        if conduit.early.take().is_some() {
            conduit.news.writable = true;
            self.list(id);
        }
        if let Some(conduit) = self.conduits.get(id)
            && let Stage::Held(opening) = conduit.stage
        {
            self.admit(id, opening);
        }
    }

    /// 0-RTT was rejected and all that it carried is lost: the conduit begins anew, on a stream of its own.
    fn reopen(&mut self, id: ConduitId) {
        let Some(conduit) = self.conduits.get_mut(id) else { return };
        let Some(early) = conduit.early.take() else { return };
        self.by_stream.remove(&conduit.stream);
        let Some(stream) = self.connection.streams().open(Dir::Bi) else {
            conduit.send = Half::Aborted;
            conduit.receive = Half::Aborted;
            conduit.news.aborted = Some(Abort::TooMany);
            self.list(id);
            return;
        };
        conduit.stream = stream;
        self.by_stream.insert(stream, id);
        let mut head = conduit.opening().map(|opening| opening.encode()).unwrap_or_default();
        head.extend_from_slice(&early);
        conduit.head = Bytes::from(head);
        conduit.news.writable = true;
        let is_finished = conduit.send == Half::Finished;
        self.flush_head(id);
        if is_finished {
            let _ = self.connection.send_stream(stream).finish();
        }
        self.list(id);
    }

    fn on_stream(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Opened { .. } => {
                while let Some(stream) = self.connection.streams().accept(Dir::Bi) {
                    self.accept(stream);
                }
            }
            StreamEvent::Readable { id } => {
                if let Some(&id) = self.by_stream.get(&id) {
                    self.on_readable(id);
                }
            }
            StreamEvent::Writable { id } => {
                if let Some(&id) = self.by_stream.get(&id) {
                    self.flush_head(id);
                    self.conduits[id].news.writable = true;
                    self.list(id);
                }
            }
            StreamEvent::Stopped { id, error_code } => {
                if let Some(&id) = self.by_stream.get(&id) {
                    self.on_aborted(id, Abort::from_code(error_code));
                }
            }
            StreamEvent::Finished { .. } | StreamEvent::Available { .. } => {}
        }
    }

    fn accept(&mut self, stream: StreamId) {
        let id = self.conduits.insert(Conduit::from(stream));
        self.by_stream.insert(stream, id);
        if self.connection.side() == Side::Client {
            self.drop_conduit(id, Abort::Malformed); // only clients open conduits
            return;
        }
        if self.conduits.len() > self.policy.max_connections() {
            self.drop_conduit(id, Abort::TooMany);
            return;
        }
        self.on_readable(id);
    }

    /// Refuses a conduit that the driver has not heard of.
    fn drop_conduit(&mut self, id: ConduitId, why: Abort) {
        debug!(conduit = id, %why, "refused");
        self.abort(id, why);
        self.release(id);
    }

    fn on_readable(&mut self, id: ConduitId) {
        if matches!(self.conduits[id].stage, Stage::Opening(_)) {
            self.read_opening(id);
            return;
        }
        self.conduits[id].news.readable = true;
        self.list(id);
    }

    /// Server: reads on in the opening, and when it is whole decides.
    fn read_opening(&mut self, id: ConduitId) {
        loop {
            let Stage::Opening(bytes) = &self.conduits[id].stage else { return };
            let wanted = match Opening::length(bytes) {
                Ok(Some(length)) if length == bytes.len() => {
                    let opening = Opening::decode(bytes);
                    return self.consider(id, opening);
                }
                Ok(Some(length)) => length - bytes.len(),
                Ok(None) => 2 - bytes.len(),
                Err(error) => {
                    debug!(conduit = id, %error, "malformed");
                    return self.drop_conduit(id, Abort::Malformed);
                }
            };
            match self.read(id, wanted) {
                Ok(Some(more)) => {
                    if let Stage::Opening(bytes) = &mut self.conduits[id].stage {
                        bytes.extend_from_slice(&more);
                    }
                }
                Ok(None) => return self.drop_conduit(id, Abort::Malformed), // ended inside
                Err(ReadError::Blocked) => return,
                Err(ReadError::Reset(_)) => return self.drop_conduit(id, Abort::Reset),
            }
        }
    }

    /// Server: may the destination be reached, and now?
    fn consider(&mut self, id: ConduitId, opening: Opening) {
        if !self.policy.allows(opening.destination) {
            return self.drop_conduit(id, Abort::NotAllowed);
        }
        if self.connection.is_handshaking() && !self.policy.allows_early(opening.destination) {
            self.held += 1;
            self.conduits[id].stage = Stage::Held(opening);
            return;
        }
        self.admit(id, opening);
    }

    fn admit(&mut self, id: ConduitId, opening: Opening) {
        let conduit = &mut self.conduits[id];
        conduit.stage = Stage::Known(opening);
        conduit.news.opened = true;
        conduit.news.readable = true;
        self.list(id);
    }

    fn on_aborted(&mut self, id: ConduitId, why: Abort) {
        self.abort(id, why);
        let conduit = &mut self.conduits[id];
        if conduit.opening().is_none() {
            self.release(id); // the driver has not heard of it
            return;
        }
        conduit.news.aborted = Some(why);
        self.list(id);
    }

    fn list(&mut self, id: ConduitId) {
        let news = &mut self.conduits[id].news;
        if !news.is_listed {
            news.is_listed = true;
            self.listed.push_back(id);
        }
    }

    /// Writes what goes before the bytes of the TCP connection; false if some of it still waits.
    fn flush_head(&mut self, id: ConduitId) -> bool {
        let Some(conduit) = self.conduits.get_mut(id) else { return true };
        while !conduit.head.is_empty() {
            match self.connection.send_stream(conduit.stream).write(&conduit.head) {
                Ok(taken) => {
                    let _ = conduit.head.split_to(taken);
                }
                Err(_) => return false,
            }
        }
        true
    }

    /// Fills the front from the stream.
    fn fetch(&mut self, id: ConduitId) {
        match self.read(id, CHUNK_BYTES) {
            Ok(Some(bytes)) => self.conduits[id].front = bytes,
            Ok(None) => self.conduits[id].receive = Half::Finished,
            Err(ReadError::Blocked) => {}
            Err(ReadError::Reset(code)) => {
                self.conduits[id].receive = Half::Aborted;
                self.on_aborted(id, Abort::from_code(code));
            }
        }
    }

    fn read(&mut self, id: ConduitId, max_bytes: usize) -> Result<Option<Bytes>, ReadError> {
        let mut stream = self.connection.recv_stream(self.conduits[id].stream);
        // Gone, without a word of its end: never to be taken for the end.
        let Ok(mut chunks) = stream.read(true) else { return Err(ReadError::Reset(Abort::Unknown.code())) };
        let chunk = chunks.next(max_bytes);
        let _ = chunks.finalize(); // the caller transmits in any case
        Ok(chunk?.map(|chunk| chunk.bytes))
    }
}

/// Takes the next piece of news of a conduit.
fn next_event(id: ConduitId, conduit: &mut Conduit) -> Option<Event> {
    let opening = conduit.opening();
    let news = &mut conduit.news;
    if let Some(why) = news.aborted.take() {
        (news.opened, news.readable, news.writable) = (false, false, false);
        return Some(Event::Aborted { conduit: id, why });
    }
    if std::mem::take(&mut news.opened) {
        return opening.map(|opening| Event::Opened { conduit: id, opening });
    }
    if std::mem::take(&mut news.readable) {
        return Some(Event::Readable(id));
    }
    std::mem::take(&mut news.writable).then_some(Event::Writable(id))
}
