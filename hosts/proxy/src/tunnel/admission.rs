// SPDX-License-Identifier: Apache-2.0
//! What a server does with a new stream before anything is connected.

use noq_proto::{Side, StreamId};
use tracing::debug;

use super::codes::Abort;
use super::conduit::{Conduit, ConduitId, Stage};
use super::opening::{Opening, PREFIX_BYTES};
use super::peer::Tunnel;

impl Tunnel {
    pub(super) fn accept(&mut self, stream: StreamId) {
        let id = self.add(Conduit::from(stream));
        if self.connection.side() == Side::Client {
            return self.turn_away(id, Abort::Malformed); // only clients open conduits
        }
        if self.conduits.len() > self.policy.max_connections() {
            return self.turn_away(id, Abort::TooMany);
        }
        self.on_readable(id);
    }

    /// Refuses a conduit that the driver has not heard of.
    fn turn_away(&mut self, id: ConduitId, why: Abort) {
        debug!(conduit = id, %why, "refused");
        self.refusals.push(why);
        self.abort(id, why);
        self.release(id);
    }

    /// Reads on in the opening, and when it is whole decides.
    pub(super) fn read_opening(&mut self, id: ConduitId) {
        if self.conduits[id].prefix.is_empty() {
            match self.take(id, PREFIX_BYTES) {
                Some(prefix) => self.conduits[id].prefix = prefix,
                None => return self.expect_more(id),
            }
        }
        let length = match Opening::length(&self.conduits[id].prefix) {
            Ok(length) => length,
            Err(error) => {
                debug!(conduit = id, %error, "malformed");
                return self.turn_away(id, Abort::Malformed);
            }
        };
        match self.take(id, length) {
            Some(bytes) => self.consider(id, Opening::decode(&bytes)),
            None => self.expect_more(id),
        }
    }

    /// Takes bytes of the opening, which are not owed to a reader any more.
    fn take(&mut self, id: ConduitId, bytes: usize) -> Option<Vec<u8>> {
        let conduit = &mut self.conduits[id];
        let before = conduit.committed_bytes();
        let taken = conduit.received.take(bytes);
        self.committed_bytes = self.committed_bytes - before + conduit.committed_bytes();
        taken
    }

    fn expect_more(&mut self, id: ConduitId) {
        if self.conduits[id].has_all {
            self.turn_away(id, Abort::Malformed); // it ended inside
        }
    }

    /// May the destination be reached, and now?
    fn consider(&mut self, id: ConduitId, opening: Opening) {
        if !self.policy.allows(opening.destination) {
            return self.turn_away(id, Abort::NotAllowed);
        }
        if self.is_lost {
            return self.turn_away(id, Abort::TunnelLost);
        }
        if !self.is_up && !self.policy.allows_early(opening.destination) {
            self.held += 1;
            self.conduits[id].stage = Stage::Held(opening);
            return;
        }
        self.admit(id, opening);
    }

    pub(super) fn admit(&mut self, id: ConduitId, opening: Opening) {
        let conduit = &mut self.conduits[id];
        conduit.stage = Stage::Known(opening);
        conduit.news.opened = true;
        conduit.news.readable = true;
        self.list(id);
    }
}
