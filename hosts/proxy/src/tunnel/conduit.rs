// SPDX-License-Identifier: Apache-2.0
//! One TCP connection in a tunnel: a bidirectional stream, and how far each direction is.

use bytes::Bytes;
use noq_proto::StreamId;

use super::assembly::Assembly;
use super::credit::{INITIAL_BYTES, Window};
use super::opening::Opening;

/// Number of a conduit in its tunnel; used again after its release.
pub type ConduitId = usize;

/// How far one direction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Open,
    /// Its end has been sent, or all up to its end has been taken.
    Finished,
    Aborted,
}

/// What is known of the destination.
#[derive(Clone, Copy, Debug)]
pub enum Stage {
    /// Server: the opening is not there as a whole.
    Opening,
    /// Server: the opening came as 0-RTT data and waits until the handshake shows that it is no replay.
    Held(Opening),
    Known(Opening),
}

/// What is to be reported of a conduit.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    pub is_listed: bool,
    pub opened: bool,
    pub readable: bool,
    pub writable: bool,
    pub aborted: Option<super::Abort>,
}

#[derive(Debug)]
pub struct Conduit {
    pub stream: StreamId,
    pub stage: Stage,
    /// Server: the first bytes of the opening, once they are there.
    pub prefix: Vec<u8>,
    /// What goes before anything else: the opening.
    pub head: Bytes,
    /// Received and not yet consumed.
    pub received: Assembly,
    pub window: Window,
    /// Sent so far, and how far the other end lets it go, as offsets.
    pub sent: u64,
    pub may_send: u64,
    pub send: Half,
    pub has_sent_end: bool,
    pub receive: Half,
    /// The whole direction has come, its end included.
    pub has_all: bool,
    /// Client, while 0-RTT may still be rejected: all that was sent.
    pub early: Option<Vec<u8>>,
    pub news: News,
}

impl Conduit {
    /// The client's.
    pub fn to(opening: Opening, stream: StreamId) -> Self {
        Self::new(stream, Stage::Known(opening), Bytes::from(opening.encode()))
    }

    /// The server's.
    pub fn from(stream: StreamId) -> Self {
        Self::new(stream, Stage::Opening, Bytes::new())
    }

    fn new(stream: StreamId, stage: Stage, head: Bytes) -> Self {
        Self {
            stream,
            stage,
            prefix: Vec::new(),
            head,
            received: Assembly::default(),
            window: Window::default(),
            sent: 0,
            may_send: INITIAL_BYTES,
            has_all: false,
            send: Half::Open,
            has_sent_end: false,
            receive: Half::Open,
            early: None,
            news: News::default(),
        }
    }

    /// What may still come, or is here and not consumed.
    pub fn committed_bytes(&self) -> u64 {
        self.window.committed(self.received.consumed())
    }

    pub fn opening(&self) -> Option<Opening> {
        match self.stage {
            Stage::Known(opening) => Some(opening),
            Stage::Opening | Stage::Held(_) => None,
        }
    }
}
