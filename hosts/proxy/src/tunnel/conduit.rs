// SPDX-License-Identifier: Apache-2.0
//! One TCP connection in a tunnel: a bidirectional stream, and how far each direction is.

use bytes::Bytes;
use noq_proto::StreamId;

use super::opening::{self, Opening};

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
#[derive(Clone, Debug)]
pub enum Stage {
    /// Server: the bytes of the opening so far.
    Opening(Vec<u8>),
    /// Server: the opening came as 0-RTT data and waits until the handshake shows that nobody replays it.
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
    /// What goes before anything else: the opening.
    pub head: Bytes,
    /// Received and not yet taken.
    pub front: Bytes,
    pub send: Half,
    pub receive: Half,
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
        Self::new(stream, Stage::Opening(Vec::with_capacity(opening::MAX_BYTES)), Bytes::new())
    }

    fn new(stream: StreamId, stage: Stage, head: Bytes) -> Self {
        Self {
            stream,
            stage,
            head,
            front: Bytes::new(),
            send: Half::Open,
            receive: Half::Open,
            early: None,
            news: News::default(),
        }
    }

    pub fn opening(&self) -> Option<Opening> {
        match self.stage {
            Stage::Known(opening) => Some(opening),
            Stage::Opening(_) | Stage::Held(_) => None,
        }
    }
}
