// SPDX-License-Identifier: Apache-2.0
//! The streams on which both ends say how far the other may send (credit.rs).

use noq_proto::{Dir, StreamId};
use tracing::debug;

use super::conduit::{ConduitId, Half};
use super::credit::{self, FRAME_BYTES, Outbox};
use super::peer::Tunnel;

/// Both directions of credit.
#[derive(Debug, Default)]
pub struct Words {
    outbox: Outbox,
    to_peer: Option<StreamId>,
    from_peer: Option<StreamId>,
    inbox: Vec<u8>,
}

impl Tunnel {
    /// Tells the other end how far it may send, if that has changed enough.
    pub(super) fn give_credit(&mut self, id: ConduitId) {
        let free_bytes = self.buffer_bytes.saturating_sub(self.committed_bytes);
        let conduit = &mut self.conduits[id];
        if conduit.has_all || conduit.receive != Half::Open {
            return;
        }
        let before = conduit.committed_bytes();
        let consumed = conduit.received.consumed();
        let Some(limit) = conduit.window.advance(consumed, self.stream_bytes, free_bytes) else { return };
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
        let contents = self.words.outbox.contents();
        if let Ok(written) = self.connection.send_stream(stream).write(&contents) {
            self.words.outbox.written(written);
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
        let mut reader = self.connection.recv_stream(stream);
        if let Ok(mut chunks) = reader.read(true) {
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.words.inbox.extend_from_slice(&chunk.bytes);
            }
            let _ = chunks.finalize();
        }
        let inbox = std::mem::take(&mut self.words.inbox);
        let (frames, rest) = inbox.as_chunks::<FRAME_BYTES>();
        self.words.inbox = rest.to_vec();
        for frame in frames {
            self.take_credit(frame);
        }
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
