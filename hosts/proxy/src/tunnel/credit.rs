// SPDX-License-Identifier: Apache-2.0
//! How far a direction may be sent ahead of its reader, as in QUIC's own flow control (RFC 9000, 4.1), but with
//! windows that grow with what the reader has taken: a thousand readers that wait hold little, one that reads has all.
//!
//! QUIC's own windows are no limit here, for what it receives is taken at once. Each end has one unidirectional
//! stream on which it says what the other may send:
//!
//! ```text
//! stream 64 | offset 64 up to which it may be sent
//! ```

use noq_proto::{StreamId, VarInt};

/// What may be sent before the other end has said anything, bytes.
pub const INITIAL_BYTES: u64 = 256 << 10;
pub const FRAME_BYTES: usize = 16;
/// What may be sent ahead, as a multiple of what has arrived and was not left lying: a law that doubles its rate in
/// each round trip needs 2, one that is told its rate more.
const AHEAD: u64 = 8;
/// While less than half of the buffer is promised, a newcomer gets such a part of what is left of that half: the
/// start of a transfer over a long path then does not wait for the first word about its own bytes.
const LEAD_PARTS: u64 = 8;
/// A word is worth saying when it adds such a part of the window.
const WORD_PARTS: u64 = 8;

/// What a tunnel has for its directions, bytes.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// For all of them.
    pub buffer: u64,
    /// Of that, not promised to any.
    pub free: u64,
    /// For one.
    pub stream: u64,
}

/// The receiver's side of one direction.
#[derive(Debug)]
pub struct Window {
    /// Offset up to which the sender may send, as it was told.
    limit: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self { limit: INITIAL_BYTES }
    }
}

impl Window {
    /// Whether the sender was allowed to send up to `end`.
    pub fn covers(&self, end: u64) -> bool {
        end <= self.limit
    }

    /// What may still come, or is here and not consumed.
    pub fn committed(&self, consumed: u64) -> u64 {
        self.limit - consumed
    }

    /// All has come up to `end`: no more will.
    pub fn close(&mut self, end: u64) {
        self.limit = end;
    }

    /// What the sender is to be told now that the reader has consumed so much, if anything: `AHEAD` times as much ahead
    /// as it would have if nothing were missing (`arrived`), as far as there is room.
    pub fn advance(&mut self, consumed: u64, arrived: u64, room: Room) -> Option<u64> {
        let lead = room.free.saturating_sub(room.buffer / 2) / LEAD_PARTS;
        let wanted = AHEAD.saturating_mul(arrived).max(lead);
        let window = wanted.clamp(INITIAL_BYTES, room.stream.max(INITIAL_BYTES));
        let ahead = self.committed(consumed);
        let grown = window.min((ahead + room.free).max(INITIAL_BYTES));
        if grown < ahead + grown / WORD_PARTS {
            return None;
        }
        self.limit = consumed + grown;
        Some(self.limit)
    }
}

pub fn encode(stream: StreamId, limit: u64) -> [u8; FRAME_BYTES] {
    let mut frame = [0; FRAME_BYTES];
    frame[..8].copy_from_slice(&VarInt::from(stream).into_inner().to_be_bytes());
    frame[8..].copy_from_slice(&limit.to_be_bytes());
    frame
}

/// The stream, if there can be one of that number, and the offset.
pub fn decode(frame: &[u8; FRAME_BYTES]) -> (Option<StreamId>, u64) {
    let number = |bytes: &[u8]| u64::from_be_bytes(<[u8; 8]>::try_from(bytes).unwrap_or_default());
    (VarInt::from_u64(number(&frame[..8])).ok().map(StreamId::from), number(&frame[8..]))
}

/// What is still to be written to a stream.
#[derive(Debug, Default)]
pub struct Outbox(Vec<u8>);

impl Outbox {
    pub fn put(&mut self, frame: [u8; FRAME_BYTES]) {
        self.0.extend_from_slice(&frame);
    }

    pub fn contents(&self) -> &[u8] {
        &self.0
    }

    pub fn written(&mut self, bytes: usize) {
        self.0.drain(..bytes);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use noq_proto::{Dir, Side};

    use super::*;

    const MAX: u64 = 64 << 20;
    const ROOM: Room = Room { buffer: 4 * MAX, free: 2 * MAX, stream: MAX };

    #[test]
    fn frames_come_back() {
        let stream = StreamId::new(Side::Client, Dir::Bi, 77);
        assert_eq!(decode(&encode(stream, u64::MAX)), (Some(stream), u64::MAX));
        assert_eq!(decode(&[0xff; FRAME_BYTES]).0, None);
    }

    #[test]
    fn a_window_grows_with_its_reader() {
        let mut window = Window::default();
        assert_eq!(window.advance(0, 0, ROOM), None);
        let little = INITIAL_BYTES / 64;
        assert_eq!(window.advance(little, little, ROOM), None, "not for every byte");
        let consumed = 4 * INITIAL_BYTES;
        let mut window = Window { limit: consumed };
        assert_eq!(window.advance(consumed, consumed, ROOM), Some(consumed + AHEAD * consumed));
        assert_eq!(window.committed(consumed), AHEAD * consumed);
        assert!(window.covers(9 * consumed) && !window.covers(9 * consumed + 1));
    }

    #[test]
    fn what_waits_for_a_gap_does_not_hold_its_sender_up() {
        let mut window = Window::default();
        assert_eq!(window.advance(0, INITIAL_BYTES, ROOM), Some(AHEAD * INITIAL_BYTES));
    }

    #[test]
    fn whoever_comes_gets_a_part_of_the_half_that_nobody_has() {
        let mut window = Window::default();
        let room = Room { free: 4 * MAX, ..ROOM };
        assert_eq!(window.advance(0, 0, room), Some(2 * MAX / LEAD_PARTS));
        assert_eq!(window.advance(0, 0, room), None, "once");
        assert_eq!(Window::default().advance(0, 0, ROOM), None, "the other half is for those that read");
    }

    #[test]
    fn a_window_stays_within_its_limits() {
        let consumed = 1 << 30;
        let mut window = Window { limit: consumed };
        assert_eq!(window.advance(consumed, consumed, ROOM), Some(consumed + MAX));
        let mut window = Window { limit: consumed };
        let none = Room { free: 0, ..ROOM };
        assert_eq!(window.advance(consumed, consumed, none), Some(consumed + INITIAL_BYTES), "never starved");
        let mut window = Window { limit: consumed };
        let little = Room { free: 1 << 20, ..ROOM };
        assert_eq!(window.advance(consumed, consumed, little), Some(consumed + (1 << 20)));
    }
}
