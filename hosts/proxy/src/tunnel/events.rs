// SPDX-License-Identifier: Apache-2.0
//! What a tunnel says to the sockets around it.

use std::io::IoSlice;

use noq_proto::ConnectionError;
use thiserror::Error;

use super::codes::Abort;
use super::conduit::{Conduit, ConduitId};
use super::opening::Opening;

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
#[derive(Debug)]
pub enum Front<'a> {
    /// The next bytes, in pieces.
    Bytes(Vec<IoSlice<'a>>),
    /// `Readable` will say when there is more.
    Empty,
    /// All was consumed, and there will be no more.
    Finished,
    Aborted,
}

/// Takes the next piece of news of a conduit.
pub(super) fn next_event(id: ConduitId, conduit: &mut Conduit) -> Option<Event> {
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
