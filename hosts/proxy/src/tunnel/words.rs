// SPDX-License-Identifier: Apache-2.0
//! The streams on which both ends say how far the other may send (credit.rs).

use noq_proto::{Dir, ReadError, StreamId};
use tracing::debug;

use super::assembly::Assembly;
use super::conduit::{ConduitId, Half};
use super::credit::{self, FRAME_BYTES, Outbox, Room};
use super::peer::Tunnel;

/// What may wait behind a packet that was lost.
const INBOX_BYTES: u64 = 1 << 20;

/// Both directions of credit.
#[derive(Debug, Default)]
pub struct Words {
    outbox: Outbox,
    to_peer: Option<StreamId>,
    from_peer: Option<StreamId>,
    inbox: Assembly,
}

impl Tunnel {
    /// Tells the other end how far it may send, if that has changed enough.
    pub(super) fn give_credit(&mut self, id: ConduitId) {
        let free = self.buffer_bytes.saturating_sub(self.committed_bytes);
        let room = Room { buffer: self.buffer_bytes, free, stream: self.stream_bytes };
        let conduit = &mut self.conduits[id];
        if conduit.has_all || conduit.receive != Half::Open {
            return;
        }
        let before = conduit.committed_bytes();
        let (consumed, arrived) = (conduit.received.consumed(), conduit.received.claimed());
        let Some(limit) = conduit.window.advance(consumed, arrived, room) else {
            return;
        };
        self.committed_bytes = self.committed_bytes - before + conduit.committed_bytes();
        self.words.outbox.put(credit::encode(conduit.stream, limit));
        self.speak();
    }

    /// 0-RTT was rejected: nothing has been said.
    pub(super) fn forget_words(&mut self) {
        self.words = Words::default();
    }

    /// Writes what is to be said.
    pub(super) fn speak(&mut self) {
        if self.words.outbox.is_empty() {
            return;
        }
        let opened = self.words.to_peer.or_else(|| self.connection.streams().open(Dir::Uni));
        let Some(stream) = opened else { return };
        self.words.to_peer = Some(stream);
        // Until it takes nothing at all: only then the library says when there is room again.
        while !self.words.outbox.is_empty() {
            match self.connection.send_stream(stream).write(self.words.outbox.contents()) {
                Ok(written) => self.words.outbox.written(written),
                Err(_) => return,
            }
        }
    }

    pub(super) fn is_of_words(&self, stream: StreamId) -> bool {
        [self.words.to_peer, self.words.from_peer].contains(&Some(stream))
    }

    /// The other end has begun to speak.
    pub(super) fn listen(&mut self, stream: StreamId) {
        self.words.from_peer = Some(stream);
        self.hear(stream);
    }

    pub(super) fn hear(&mut self, stream: StreamId) {
        if !self.fetch_words(stream) {
            return self.denounce("credit ends");
        }
        let inbox = &self.words.inbox;
        if inbox.end() - inbox.consumed() > INBOX_BYTES {
            return self.denounce("more credit than a tunnel can use");
        }
        while let Some(frame) = self.words.inbox.take(FRAME_BYTES) {
            if let Ok(frame) = <[u8; FRAME_BYTES]>::try_from(frame) {
                self.take_credit(&frame);
            }
        }
    }

    /// Takes what has come; false if no more will. No peer of ours ends that stream, and a second one would begin at
    /// offset 0 again.
    fn fetch_words(&mut self, stream: StreamId) -> bool {
        let mut reader = self.connection.recv_stream(stream);
        let Ok(mut chunks) = reader.read(false) else { return false };
        let is_open = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.words.inbox.insert(chunk.offset, chunk.bytes),
                Err(ReadError::Blocked) => break true,
                Ok(None) | Err(ReadError::Reset(_)) => break false,
            }
        };
        let _ = chunks.finalize();
        is_open
    }

    fn take_credit(&mut self, frame: &[u8; FRAME_BYTES]) {
        let (stream, limit) = credit::decode(frame);
        let Some(&id) = stream.and_then(|stream| self.by_stream.get(&stream)) else {
            debug!(?stream, "credit for a conduit that is gone");
            return;
        };
        let conduit = &mut self.conduits[id];
        if limit > conduit.may_send {
            conduit.may_send = limit;
            conduit.news.writable = true;
            self.list(id);
        }
    }
}
