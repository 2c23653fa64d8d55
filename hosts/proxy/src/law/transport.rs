// SPDX-License-Identifier: Apache-2.0
//! What TCP would know of a connection, of what noq tells its controller.

use std::time::Instant;

use super::delivery_rate::DeliveryRate;
use super::ffi::Ack;
use super::round_trip::RoundTrip;
use super::sent::{Packet, Sent};
use super::usage::WindowUsage;

/// The laws' clock never shows 0.
const CLOCK_BEGINS_US: u64 = 1_000_000;

/// The packets that one acknowledgement has brought.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub packets: u32,
    /// Of these, sent after the last reduction.
    pub grown_packets: u32,
    pub newest_sequence: u64,
    newest_sent_us: u64,
    prior_in_flight: u32,
}

#[derive(Clone, Debug)]
pub struct Transport {
    epoch: Instant,
    pub now_us: u64,
    pub mtu_bytes: u16,
    pub sent: Sent,
    pub rate: DeliveryRate,
    pub round_trip: RoundTrip,
    pub usage: WindowUsage,
    pub last_sent_us: u64,
    pub lost: u32,
    pub marked: u32,
    pub saw_reordering: bool,
    /// Since the last acknowledgement.
    pub newly_lost: u32,
    newly_marked: bool,
    highest_acked: Option<u64>,
    acked: Option<Acked>,
}

impl Transport {
    pub fn new(now: Instant, mtu_bytes: u16) -> Self {
        Self {
            epoch: now,
            now_us: CLOCK_BEGINS_US,
            mtu_bytes,
            sent: Sent::default(),
            rate: DeliveryRate::default(),
            round_trip: RoundTrip::default(),
            usage: WindowUsage::default(),
            last_sent_us: 0,
            lost: 0,
            marked: 0,
            saw_reordering: false,
            newly_lost: 0,
            newly_marked: false,
            highest_acked: None,
            acked: None,
        }
    }

    /// For a new path: noq does not tell what becomes of the packets on the old one.
    pub fn without_packets(&self) -> Self {
        let mut transport = self.clone();
        transport.sent.forget_down_to(0);
        transport.acked = None;
        transport
    }

    fn us_of(&self, at: Instant) -> u64 {
        let passed = at.saturating_duration_since(self.epoch).as_micros();
        CLOCK_BEGINS_US.saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }

    /// Never runs back.
    pub fn tick(&mut self, now: Instant) {
        self.now_us = self.now_us.max(self.us_of(now));
    }

    /// A packet that was sent before others that have been acknowledged is in flight: TCP would have a SACK.
    pub fn has_gap(&self) -> bool {
        self.highest_acked.is_some_and(|highest| self.sent.oldest() < highest)
    }

    /// Sequence of the newest packet that has been acknowledged.
    pub fn highest_acked(&self) -> Option<u64> {
        self.highest_acked
    }

    /// An MTU probe; noq does not tell of its loss.
    pub fn is_probe(&self, bytes: u16) -> bool {
        bytes > self.mtu_bytes
    }

    pub fn send(&mut self, number: u64, bytes: u16, window_bytes: u64) {
        let stamp = self.rate.stamp(self.now_us, self.sent.in_flight(), self.lost);
        self.sent.push(number, self.now_us, bytes, stamp);
        self.last_sent_us = self.now_us;
        self.note_usage(self.has_filled(window_bytes));
    }

    pub fn note_usage(&mut self, is_filled: bool) {
        let sent = &self.sent;
        self.usage.note(is_filled, sent.in_flight(), sent.oldest(), sent.next());
    }

    fn has_filled(&self, window_bytes: u64) -> bool {
        self.sent.in_flight_bytes() + u64::from(self.mtu_bytes) > window_bytes
    }

    /// One packet of an acknowledgement. `began_at`: sequence of the first packet after the last reduction.
    pub fn acknowledge(&mut self, number: u64, sent: Instant, began_at: u64) {
        let prior_in_flight = self.sent.in_flight();
        let Some(packet) = self.sent.take_acked(number, self.us_of(sent)) else { return };
        self.rate.note(&packet);
        self.saw_reordering |= self.acked.is_none() && self.has_overtaken(&packet);
        let acked = self.acked.get_or_insert(Acked {
            packets: 0,
            grown_packets: 0,
            newest_sequence: packet.sequence,
            newest_sent_us: packet.sent_us,
            prior_in_flight,
        });
        acked.packets += 1;
        acked.grown_packets += u32::from(packet.sequence >= began_at);
        if packet.sequence >= acked.newest_sequence {
            acked.newest_sequence = packet.sequence;
            acked.newest_sent_us = packet.sent_us;
        }
    }

    /// An earlier acknowledgement was for a packet that was sent later.
    fn has_overtaken(&self, packet: &Packet) -> bool {
        self.highest_acked.is_some_and(|highest| packet.sequence < highest)
    }

    /// All packets of an acknowledgement are known. `None`: it brought none that is known here.
    pub fn finish(&mut self) -> Option<(Acked, Ack)> {
        let acked = self.acked.take()?;
        let is_newest = self.highest_acked.is_none_or(|highest| acked.newest_sequence > highest);
        let rtt_us = self.now_us.saturating_sub(acked.newest_sent_us);
        let mut ack = Ack {
            rtt_us: -1,
            prior_in_flight: acked.prior_in_flight,
            losses: self.newly_lost,
            acked_packets: acked.packets,
            has_echo: self.newly_marked.into(),
            ..Ack::default()
        };
        if is_newest {
            self.highest_acked = Some(acked.newest_sequence);
            let rtt_us = u32::try_from(rtt_us).unwrap_or(u32::MAX);
            self.round_trip.sample(self.now_us, rtt_us);
            ack.rtt_us = rtt_us.into();
        }
        self.rate.finish(&mut ack, self.now_us, self.lost, self.round_trip.min_us());
        self.newly_lost = 0;
        self.newly_marked = false;
        Some((acked, ack))
    }

    /// noq has found that the application had nothing to send. With a full window that says nothing.
    pub fn mark_app_limited(&mut self, window_bytes: u64) {
        if !self.has_filled(window_bytes) {
            self.rate.mark_app_limited(self.sent.in_flight());
        }
    }

    pub fn lose(&mut self, number: u64, bytes: u16) -> Option<Packet> {
        let packet = self.sent.take_lost(number, bytes)?;
        self.lost = self.lost.wrapping_add(1);
        self.newly_lost += 1;
        Some(packet)
    }

    pub fn mark(&mut self) {
        self.marked = self.marked.wrapping_add(1);
        self.newly_marked = true;
    }
}
