// SPDX-License-Identifier: Apache-2.0
//! One peer: a QUIC connection and its conduits.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use noq_proto::{
    Connection, ConnectionError, ConnectionEvent, ConnectionHandle, ConnectionStats, Dir, EndpointEvent,
    PathId, PathStats, Side, StreamEvent, StreamId, Transmit, VarInt,
};
use slab::Slab;

use super::codes::Abort;
use super::conduit::{Conduit, ConduitId, News, Stage};
use super::events::{Event, next_event};
use super::identifiers::Secret;
use super::opening::Opening;
use super::policy::Policy;
use super::words::Words;
use crate::config::Limits;
use crate::prediction::{Counts, Prediction};

/// After so long a silence the path is tried as a new one, and again each time it has passed: the library's own probes
/// come ever later in an outage, by two seconds each (noq 1.4), and the path would stay unused when it is back.
const REVIVAL: Duration = Duration::from_secs(6);

/// One peer.
#[derive(Debug)]
pub struct Tunnel {
    /// What the library calls the connection, until it is drained.
    handle: ConnectionHandle,
    secret: Secret,
    pub(super) connection: Connection,
    pub(super) policy: Arc<Policy>,
    pub(super) conduits: Slab<Conduit>,
    pub(super) by_stream: HashMap<StreamId, ConduitId>,
    pub(super) words: Words,
    /// Of `Limits`.
    pub(super) buffer_bytes: u64,
    pub(super) stream_bytes: u64,
    /// What the other end may send, or has sent and is not consumed, of all conduits.
    pub(super) committed_bytes: u64,
    /// Openings that came as 0-RTT data and had to wait.
    pub(super) held: u64,
    /// Why conduits were refused of which the driver has not heard; for status and metrics.
    pub(super) refusals: Vec<Abort>,
    pub(super) is_up: bool,
    pub(super) is_lost: bool,
    /// Conduits with news.
    listed: VecDeque<ConduitId>,
    events: VecDeque<Event>,
    began_at: Instant,
    /// When the last datagram came.
    heard_at: Instant,
    revived_at: Instant,
    prediction: Option<Prediction>,
}

impl Tunnel {
    pub(super) fn new(
        now: Instant,
        handle: ConnectionHandle,
        connection: Connection,
        secret: Secret,
        policy: Arc<Policy>,
        limits: &Limits,
    ) -> Self {
        Self {
            handle,
            secret,
            connection,
            policy,
            conduits: Slab::new(),
            by_stream: HashMap::new(),
            words: Words::default(),
            buffer_bytes: limits.buffer_bytes,
            stream_bytes: limits.stream_bytes,
            committed_bytes: 0,
            held: 0,
            refusals: Vec::new(),
            is_up: false,
            is_lost: false,
            listed: VecDeque::new(),
            events: VecDeque::new(),
            began_at: now,
            heard_at: now,
            revived_at: now,
            prediction: None,
        }
    }

    /// From now on packets are sent again that are lost, as far as `prediction` can tell. Its controllers have to be
    /// those of this tunnel.
    pub fn predict(&mut self, prediction: Prediction) {
        self.prediction = Some(prediction);
    }

    pub(super) fn set_policy(&mut self, policy: Arc<Policy>) {
        self.policy = policy;
    }

    /// What the identifiers begin with that this end has chosen.
    pub(super) fn secret(&self) -> Secret {
        self.secret
    }

    /// Whether conduits may be opened now: after the handshake, or before it by 0-RTT.
    pub fn can_open(&self) -> bool {
        !self.is_lost && (self.is_up || self.connection.has_0rtt())
    }

    pub fn opening(&self, id: ConduitId) -> Option<Opening> {
        self.conduits.get(id)?.opening()
    }

    pub fn conduits(&self) -> usize {
        self.conduits.len()
    }

    /// What the other end may send, or has sent and no TCP connection has taken.
    pub fn committed_bytes(&self) -> u64 {
        self.committed_bytes
    }

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
        if let Some(transmit) = self.predicting().and_then(|prediction| prediction.take(now, buffer)) {
            return Some(transmit);
        }
        let transmit = self.connection.poll_transmit(now, max_datagrams, buffer);
        if let (Some(prediction), Some(transmit)) = (&self.prediction, &transmit) {
            prediction.keep(now, transmit, buffer);
        }
        if transmit.is_some() && self.is_up() {
            self.revive(now);
        }
        transmit
    }

    fn predicting(&self) -> Option<&Prediction> {
        self.prediction.as_ref().filter(|_| self.is_up())
    }

    /// Just after a probe, or all probes that the library thinks are due would follow at once.
    fn revive(&mut self, now: Instant) {
        if now.duration_since(self.heard_at.max(self.revived_at)) >= REVIVAL {
            self.revived_at = now;
            self.connection.handle_network_change(None, now);
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let resend_at = self.predicting().and_then(Prediction::due_at);
        [self.connection.poll_timeout(), resend_at].into_iter().flatten().min()
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        self.connection.handle_timeout(now);
        if let Some(prediction) = &self.prediction {
            prediction.on_timeout(now);
        }
        self.digest();
    }

    pub(super) fn handle_datagram(&mut self, now: Instant, event: ConnectionEvent) {
        self.heard_at = now;
        self.connection.handle_event(event);
    }

    pub(super) fn handle_event(&mut self, event: ConnectionEvent) {
        self.connection.handle_event(event);
    }

    pub(super) fn handle(&self) -> ConnectionHandle {
        self.handle
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
        self.silence();
        true
    }

    /// The tunnel is over: nothing more is said of its conduits, so that the driver connects nothing for them.
    fn silence(&mut self) {
        self.is_lost = true;
        self.listed.clear();
        for (_, conduit) in &mut self.conduits {
            conduit.news = News::default();
        }
    }

    /// Ends the tunnel with a peer that does what no peer of ours does.
    pub(super) fn denounce(&mut self, what: &'static str) {
        if self.close(self.heard_at, what) {
            self.events.push_back(Event::Lost(ConnectionError::LocallyClosed));
        }
    }

    pub fn is_up(&self) -> bool {
        self.is_up && !self.is_lost
    }

    /// Since when a peer has not proven who it is; `None` if it has.
    pub fn unproven_since(&self) -> Option<Instant> {
        (!self.is_up).then_some(self.began_at)
    }

    pub fn is_drained(&self) -> bool {
        self.connection.is_drained()
    }

    /// Openings that came as 0-RTT data and waited for the handshake.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Why conduits were refused by the core since the last call.
    pub fn take_refusals(&mut self) -> Vec<Abort> {
        std::mem::take(&mut self.refusals)
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

    /// What has been sent again because it was probably lost.
    pub fn resends(&self) -> Counts {
        self.prediction.as_ref().map(Prediction::counts).unwrap_or_default()
    }

    pub fn path_stats(&mut self) -> PathStats {
        self.connection.path_stats(PathId::ZERO).unwrap_or_default()
    }

    /// The address of the peer.
    pub fn remote(&self) -> Option<SocketAddr> {
        self.connection.network_path(PathId::ZERO).ok().map(|path| path.remote())
    }

    /// The local addresses have changed: the path is proven anew.
    pub fn migrate(&mut self, now: Instant) {
        self.connection.handle_network_change(None, now);
    }

    /// Takes in what the connection has to say.
    pub(super) fn digest(&mut self) {
        while let Some(event) = self.connection.poll() {
            match event {
                noq_proto::Event::Connected => self.on_connected(),
                noq_proto::Event::ConnectionLost { reason } => {
                    self.silence();
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
        if is_rejected {
            self.forget_words();
        }
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

    fn on_stream(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Opened { .. } => {
                while let Some(stream) = self.connection.streams().accept(Dir::Bi) {
                    self.accept(stream);
                }
                while let Some(stream) = self.connection.streams().accept(Dir::Uni) {
                    self.listen(stream);
                }
            }
            StreamEvent::Readable { id } if self.is_of_words(id) => self.hear(id),
            StreamEvent::Writable { id } if self.is_of_words(id) => self.speak(),
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
            StreamEvent::Stopped { id, .. } if self.is_of_words(id) => self.denounce("credit is not wanted"),
            StreamEvent::Stopped { id, error_code } => {
                if let Some(&id) = self.by_stream.get(&id) {
                    self.on_aborted(id, Abort::from_code(error_code));
                }
            }
            StreamEvent::Available { dir: Dir::Uni } => self.speak(),
            StreamEvent::Finished { .. } | StreamEvent::Available { .. } => {}
        }
    }

    pub(super) fn list(&mut self, id: ConduitId) {
        if self.is_lost {
            return;
        }
        let news = &mut self.conduits[id].news;
        if !news.is_listed {
            news.is_listed = true;
            self.listed.push_back(id);
        }
    }
}
