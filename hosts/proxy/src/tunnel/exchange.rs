// SPDX-License-Identifier: Apache-2.0
//! Bytes between TCP connections and streams.

use bytes::Bytes;
use noq_proto::{Dir, ReadError, WriteError};

use super::codes::Abort;
use super::conduit::{Conduit, ConduitId, Half, Stage};
use super::credit::INITIAL_BYTES;
use super::events::{Front, SendError};
use super::opening::Opening;
use super::peer::Tunnel;

/// Bytes of one conduit that a client sends before the handshake is over, and keeps for the case that 0-RTT is
/// rejected.
const EARLY_BYTES: usize = 64 << 10;

/// Pieces behind a gap are longer than this on average, or there are few of them.
const CRUMB_BYTES: u64 = 256;

impl Tunnel {
    /// Client: a new conduit; `None` while there are as many as the server allows.
    pub fn open(&mut self, opening: Opening) -> Option<ConduitId> {
        let stream = self.connection.streams().open(Dir::Bi)?;
        let mut conduit = Conduit::to(opening, stream);
        conduit.early = (!self.is_up).then(Vec::new);
        let id = self.add(conduit);
        self.flush_head(id);
        Some(id)
    }

    /// Takes bytes of the TCP connection; returns how many, at least one.
    pub fn send(&mut self, id: ConduitId, bytes: &[u8]) -> Result<usize, SendError> {
        if !self.flush_head(id) {
            return Err(SendError::Blocked);
        }
        let Some(conduit) = self.conduits.get_mut(id).filter(|conduit| conduit.send == Half::Open) else {
            return Err(SendError::Closed);
        };
        let early =
            conduit.early.as_ref().map_or(usize::MAX, |early| EARLY_BYTES.saturating_sub(early.len()));
        let room = early.min(conduit.may_send.saturating_sub(conduit.sent) as usize);
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return Err(SendError::Blocked);
        }
        match self.connection.send_stream(conduit.stream).write(bytes) {
            Ok(taken) => {
                conduit.sent += taken as u64;
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
        if let Some(conduit) = self.conduits.get_mut(id).filter(|conduit| conduit.send == Half::Open) {
            conduit.send = Half::Finished;
            self.flush_head(id);
        }
    }

    /// The TCP connection was reset, or could not be made: the other end does the same to its own, at once.
    pub fn abort(&mut self, id: ConduitId, why: Abort) {
        let Some(conduit) = self.conduits.get_mut(id) else { return };
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
        let is_lost = self.is_lost;
        let Some(conduit) = self.conduits.get_mut(id).filter(|_| !is_lost) else { return Front::Aborted };
        if conduit.receive == Half::Open && conduit.has_all && conduit.received.is_empty() {
            conduit.receive = Half::Finished;
        }
        match conduit.receive {
            Half::Aborted => Front::Aborted,
            Half::Finished => Front::Finished,
            Half::Open if conduit.received.is_empty() || conduit.opening().is_none() => Front::Empty,
            Half::Open => Front::Bytes(conduit.received.front()),
        }
    }

    /// The TCP connection has taken `bytes` of the front.
    pub fn consume(&mut self, id: ConduitId, bytes: usize) {
        let Some(conduit) = self.conduits.get_mut(id) else { return };
        self.committed_bytes -= conduit.committed_bytes();
        conduit.received.consume(bytes);
        self.committed_bytes += conduit.committed_bytes();
        self.give_credit(id);
    }

    /// The TCP connection is closed; what is not finished is aborted. The number may be used again.
    pub fn release(&mut self, id: ConduitId) {
        let Some(conduit) = self.conduits.get(id) else { return };
        let is_over = conduit.send != Half::Open && conduit.receive != Half::Open;
        if !is_over {
            self.abort(id, Abort::Reset);
        }
        let conduit = self.conduits.remove(id);
        self.committed_bytes -= conduit.committed_bytes();
        self.by_stream.remove(&conduit.stream);
    }

    pub(super) fn add(&mut self, conduit: Conduit) -> ConduitId {
        let stream = conduit.stream;
        self.committed_bytes += conduit.committed_bytes();
        let id = self.conduits.insert(conduit);
        self.by_stream.insert(stream, id);
        id
    }

    /// 0-RTT was rejected and all that it carried is lost: the conduit begins anew, on a stream of its own.
    pub(super) fn reopen(&mut self, id: ConduitId) {
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
        (conduit.sent, conduit.may_send) = (0, INITIAL_BYTES);
        self.by_stream.insert(stream, id);
        let mut head = conduit.opening().map(|opening| opening.encode()).unwrap_or_default();
        head.extend_from_slice(&early);
        conduit.head = Bytes::from(head);
        conduit.news.writable = true;
        conduit.has_sent_end = false;
        self.flush_head(id);
        self.list(id);
    }

    /// Writes what goes before the bytes of the TCP connection, and the end that may already be due behind it; false
    /// if some of it still waits.
    pub(super) fn flush_head(&mut self, id: ConduitId) -> bool {
        let Some(conduit) = self.conduits.get_mut(id) else { return true };
        while !conduit.head.is_empty() {
            match self.connection.send_stream(conduit.stream).write(&conduit.head) {
                Ok(taken) => {
                    let _ = conduit.head.split_to(taken);
                    conduit.sent += taken as u64;
                }
                Err(_) => return false,
            }
        }
        if conduit.send == Half::Finished && !conduit.has_sent_end {
            conduit.has_sent_end = true;
            let _ = self.connection.send_stream(conduit.stream).finish();
        }
        true
    }

    /// Takes all that has come of a stream.
    pub(super) fn on_readable(&mut self, id: ConduitId) {
        if let Err(why) = self.fetch(id) {
            return self.on_aborted(id, why);
        }
        let conduit = &mut self.conduits[id];
        match conduit.stage {
            Stage::Opening => self.read_opening(id),
            Stage::Held(_) => {}
            Stage::Known(_) => {
                conduit.news.readable = true;
                self.list(id);
            }
        }
    }

    fn fetch(&mut self, id: ConduitId) -> Result<(), Abort> {
        let conduit = &mut self.conduits[id];
        if conduit.has_all || conduit.receive != Half::Open {
            return Ok(());
        }
        let mut stream = self.connection.recv_stream(conduit.stream);
        // Gone, without a word of its end: never to be taken for the end.
        let Ok(mut chunks) = stream.read(false) else { return Err(Abort::Unknown) };
        let result = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => conduit.received.insert(chunk.offset, chunk.bytes),
                Ok(None) => {
                    conduit.has_all = true;
                    break Ok(());
                }
                Err(ReadError::Blocked) => break Ok(()),
                Err(ReadError::Reset(code)) => break Err(Abort::from_code(code)),
            }
        };
        let _ = chunks.finalize(); // the caller transmits in any case
        let is_crumbled = conduit.received.early() as u64 > self.stream_bytes / CRUMB_BYTES;
        if is_crumbled || !conduit.window.covers(conduit.received.end()) {
            return Err(Abort::Malformed);
        }
        if conduit.has_all {
            self.committed_bytes -= conduit.committed_bytes();
            conduit.window.close(conduit.received.end());
            self.committed_bytes += conduit.committed_bytes();
        }
        self.give_credit(id);
        result
    }

    pub(super) fn on_aborted(&mut self, id: ConduitId, why: Abort) {
        self.abort(id, why);
        let conduit = &mut self.conduits[id];
        if conduit.opening().is_none() {
            self.release(id); // the driver has not heard of it
            return;
        }
        conduit.news.aborted = Some(why);
        self.list(id);
    }
}
