// SPDX-License-Identifier: Apache-2.0
//! Delivery rate samples, as net/ipv4/tcp_rate.c of Linux takes them (draft-cheng-iccrg-delivery-rate-estimation).

use super::ffi::Ack;
use super::sent::{Packet, Stamp};

/// What the packets of one acknowledgement have said so far.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    sequence: u64,
    stamp: Stamp,
    /// From the first packet of the sample to the last, as they were sent.
    sent_apart_us: u64,
}

#[derive(Clone, Debug, Default)]
pub struct DeliveryRate {
    delivered: u32,
    delivered_us: u64,
    first_sent_us: u64,
    /// `delivered` from which on the application limits no more.
    app_limited_until: Option<u32>,
    newest: Option<Newest>,
}

impl DeliveryRate {
    pub fn delivered(&self) -> u32 {
        self.delivered
    }

    pub fn delivered_us(&self) -> u64 {
        self.delivered_us
    }

    pub fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// A packet is about to be sent (`tcp_rate_skb_sent`); `in_flight` is without it.
    pub fn stamp(&mut self, now_us: u64, in_flight: u32, lost: u32) -> Stamp {
        if in_flight == 0 {
            self.first_sent_us = now_us;
            self.delivered_us = now_us;
        }
        Stamp {
            first_sent_us: self.first_sent_us,
            delivered_us: self.delivered_us,
            delivered: self.delivered,
            lost,
            in_flight: in_flight + 1,
            is_app_limited: self.is_app_limited(),
        }
    }

    /// A packet has been delivered (`tcp_rate_skb_delivered`); of those of one ACK the one sent last counts.
    pub fn note(&mut self, packet: &Packet) {
        self.delivered = self.delivered.wrapping_add(1);
        if self.newest.is_some_and(|newest| newest.sequence > packet.sequence) {
            return;
        }
        self.first_sent_us = packet.sent_us;
        self.newest = Some(Newest {
            sequence: packet.sequence,
            stamp: packet.stamp,
            sent_apart_us: packet.sent_us.saturating_sub(packet.stamp.first_sent_us),
        });
    }

    /// Writes the sample of an ACK into `ack` (`tcp_rate_gen`). `lost`: all packets that ever were. `min_rtt_us`: 0,
    /// none yet.
    pub fn finish(&mut self, ack: &mut Ack, now_us: u64, lost: u32, min_rtt_us: u32) {
        let is_past = |until: u32| (self.delivered.wrapping_sub(until) as i32) > 0;
        if self.app_limited_until.is_some_and(is_past) {
            self.app_limited_until = None;
        }
        ack.delivered = -1;
        ack.interval_us = -1;
        let Some(newest) = self.newest.take() else { return };
        self.delivered_us = now_us;
        let stamp = newest.stamp;
        let acked_apart_us = now_us.saturating_sub(stamp.delivered_us);
        let interval_us = newest.sent_apart_us.max(acked_apart_us);
        ack.prior_delivered = stamp.delivered;
        ack.delivered = self.delivered.wrapping_sub(stamp.delivered) as i32;
        ack.lost = lost.wrapping_sub(stamp.lost);
        ack.sent_in_flight = stamp.in_flight;
        ack.is_app_limited = stamp.is_app_limited.into();
        // Less than the least round trip: ACKs have been held back and came at once.
        if interval_us >= u64::from(min_rtt_us) {
            ack.interval_us = i64::try_from(interval_us).unwrap_or(i64::MAX);
        }
    }

    /// The application has nothing more to send (`tcp_rate_check_app_limited`).
    pub fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some(self.delivered.wrapping_add(in_flight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u64, sent_us: u64, stamp: Stamp) -> Packet {
        Packet { number: sequence, sequence, sent_us, bytes: 1200, stamp }
    }

    #[test]
    fn a_steady_flow_is_measured_over_a_round_trip() {
        let mut rate = DeliveryRate::default();
        let packets: Vec<_> =
            (0..10).map(|i| packet(i, 1000 * i, rate.stamp(1000 * i, i as u32, 0))).collect();
        let mut last = Ack::default();
        for packet in &packets {
            rate.note(packet);
            last = Ack::default();
            rate.finish(&mut last, packet.sent_us + 50_000, 0, 50_000);
        }
        assert_eq!((last.delivered, last.interval_us), (10, 59_000));
        assert_eq!(last.sent_in_flight, 10);
    }

    #[test]
    fn an_interval_shorter_than_a_round_trip_is_no_sample() {
        let mut rate = DeliveryRate::default();
        let first = packet(0, 0, rate.stamp(0, 0, 0));
        let mut ack = Ack::default();
        rate.note(&first);
        rate.finish(&mut ack, 10, 0, 50_000);
        assert_eq!(ack.interval_us, -1);
    }

    #[test]
    fn the_application_is_the_limit_until_what_was_in_flight_is_delivered() {
        let mut rate = DeliveryRate::default();
        rate.mark_app_limited(1);
        let stamped = rate.stamp(0, 0, 0);
        assert!(stamped.is_app_limited);
        let mut ack = Ack::default();
        for sequence in 0..2 {
            rate.note(&packet(sequence, 0, stamped));
            rate.finish(&mut ack, 10, 0, 0);
        }
        assert!(!rate.is_app_limited());
    }
}
