// SPDX-License-Identifier: Apache-2.0
//! One direction of a path: a queue, a rate, a delay, random losses. It counts what it loses by cause, as ports of
//! Clarion's switches do.

use std::time::{Duration, Instant};

use super::random::Random;

/// Ethernet, IPv4 and UDP around a datagram.
pub const FRAME_BYTES: u64 = 14 + 20 + 8;

pub struct Link {
    pub bits_per_s: u64,
    pub delay: Duration,
    pub loss_ppm: u64,
    pub queue_bytes: u64,
    pub random: Random,
    /// Until then nothing gets through.
    pub dead_until: Option<Instant>,
    free_at: Instant,
    /// Totals of packets lost on the wire and dropped by the queue.
    pub corrupt: u32,
    pub congest: u32,
    pub bytes: u64,
}

impl Link {
    pub fn new(now: Instant, bits_per_s: u64, delay: Duration, loss_ppm: u64, queue_bytes: u64) -> Self {
        Self {
            bits_per_s,
            delay,
            loss_ppm,
            queue_bytes,
            random: Random::new(loss_ppm + bits_per_s),
            dead_until: None,
            free_at: now,
            corrupt: 0,
            congest: 0,
            bytes: 0,
        }
    }

    /// When a datagram of that size arrives; `None`: never.
    pub fn send(&mut self, now: Instant, datagram_bytes: usize) -> Option<Instant> {
        let bytes = datagram_bytes as u64 + FRAME_BYTES;
        let waiting = self.free_at.saturating_duration_since(now);
        let queued_bytes = (waiting.as_nanos() as u64 / 8).saturating_mul(self.bits_per_s / 1000) / 1_000_000;
        if queued_bytes + bytes > self.queue_bytes {
            self.congest += 1;
            return None;
        }
        let takes = Duration::from_nanos(bytes * 8 * 1_000_000 / (self.bits_per_s / 1000));
        self.free_at = self.free_at.max(now) + takes;
        self.bytes += bytes;
        if self.dead_until.is_some_and(|until| now < until) || self.random.happens(self.loss_ppm) {
            self.corrupt += 1;
            return None;
        }
        Some(self.free_at + self.delay)
    }
}
