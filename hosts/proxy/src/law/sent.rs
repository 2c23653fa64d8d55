// SPDX-License-Identifier: Apache-2.0
//! The packets in flight, in the order of sending.
//!
//! noq tells a controller the number of a packet but not its space, and Initial, Handshake and data packets have the
//! same numbers. So packets are found by when they were sent, and counted by a sequence of their own.

use std::collections::VecDeque;

/// What the delivery rate needs to know of when a packet was sent (`struct tcp_skb_cb`, `tx`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp {
    pub first_sent_us: u64,
    pub delivered_us: u64,
    pub delivered: u32,
    pub lost: u32,
    /// With the packet itself.
    pub in_flight: u32,
    pub is_app_limited: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub number: u64,
    pub sequence: u64,
    pub sent_us: u64,
    pub bytes: u16,
    pub stamp: Stamp,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    packet: Packet,
    is_in_flight: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Sorted by `sent_us` and `sequence`; the first one is in flight.
    slots: VecDeque<Slot>,
    next: u64,
    in_flight: u32,
    in_flight_bytes: u64,
}

impl Sent {
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Sequence of the packet that is sent next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Sequence of the oldest packet in flight, `next()` without any.
    pub fn oldest(&self) -> u64 {
        self.slots.front().map_or(self.next, |slot| slot.packet.sequence)
    }

    pub fn push(&mut self, number: u64, sent_us: u64, bytes: u16, stamp: Stamp) {
        let packet = Packet { number, sequence: self.next, sent_us, bytes, stamp };
        self.slots.push_back(Slot { packet, is_in_flight: true });
        self.next += 1;
        self.in_flight += 1;
        self.in_flight_bytes += u64::from(bytes);
    }

    /// Takes a packet that has been acknowledged.
    pub fn take_acked(&mut self, number: u64, sent_us: u64) -> Option<Packet> {
        let first = self.first_sent_at(sent_us);
        let is_it = |slot: &Slot| slot.is_in_flight && slot.packet.number == number;
        // Of a burst that was sent at once the numbers mostly follow each other.
        let guess = self
            .slots
            .get(first)
            .and_then(|slot| number.checked_sub(slot.packet.number))
            .and_then(|ahead| usize::try_from(ahead).ok())
            .and_then(|ahead| first.checked_add(ahead))
            .filter(|&place| self.is_at(place, number, sent_us));
        let place = guess.or_else(|| {
            let burst = self.slots.iter().skip(first).take_while(|slot| slot.packet.sent_us == sent_us);
            burst.enumerate().find(|(_, slot)| is_it(slot)).map(|(ahead, _)| first + ahead)
        })?;
        self.take(place)
    }

    /// Place of the first packet that was not sent before `sent_us`. What is acknowledged is mostly among the oldest:
    /// so the part that is searched grows from there.
    fn first_sent_at(&self, sent_us: u64) -> usize {
        let is_before =
            |place: usize| self.slots.get(place).is_some_and(|slot| slot.packet.sent_us < sent_us);
        let (mut low, mut high) = (0, 1);
        while is_before(high - 1) {
            low = high;
            high *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }

    fn is_at(&self, place: usize, number: u64, sent_us: u64) -> bool {
        self.slots.get(place).is_some_and(|slot| {
            slot.is_in_flight && slot.packet.number == number && slot.packet.sent_us == sent_us
        })
    }

    /// Takes a packet that has been declared lost: one of the oldest.
    pub fn take_lost(&mut self, number: u64, bytes: u16) -> Option<Packet> {
        let is_it =
            |slot: &Slot| slot.is_in_flight && slot.packet.number == number && slot.packet.bytes == bytes;
        let place = self.slots.iter().position(is_it)?;
        self.take(place)
    }

    /// Forgets packets of which noq says no more, as of a space whose keys are gone: the oldest, until no more bytes
    /// are in flight than noq has.
    pub fn forget_down_to(&mut self, in_flight_bytes: u64) {
        while self.in_flight_bytes > in_flight_bytes && self.take(0).is_some() {}
    }

    fn take(&mut self, place: usize) -> Option<Packet> {
        let slot = self.slots.get_mut(place)?;
        slot.is_in_flight = false;
        let packet = slot.packet;
        self.in_flight -= 1;
        self.in_flight_bytes -= u64::from(packet.bytes);
        while self.slots.front().is_some_and(|slot| !slot.is_in_flight) {
            self.slots.pop_front();
        }
        Some(packet)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn burst(sent: &mut Sent, at_us: u64, numbers: &[u64]) {
        for &number in numbers {
            sent.push(number, at_us, 1200, Stamp::default());
        }
    }

    #[test]
    fn the_same_number_of_two_spaces_is_told_apart_by_the_time() {
        let mut sent = Sent::default();
        burst(&mut sent, 10, &[0]);
        burst(&mut sent, 20, &[0, 1]);
        assert_eq!(sent.take_acked(0, 20).unwrap().sequence, 1);
        assert_eq!(sent.take_acked(0, 10).unwrap().sequence, 0);
        assert!(sent.take_acked(0, 10).is_none());
        assert_eq!((sent.in_flight(), sent.in_flight_bytes(), sent.oldest()), (1, 1200, 2));
    }

    #[test]
    fn a_burst_with_skipped_numbers_is_searched() {
        let mut sent = Sent::default();
        burst(&mut sent, 10, &[5, 7, 8, 3]);
        assert_eq!(sent.take_acked(8, 10).unwrap().sequence, 2);
        assert_eq!(sent.take_acked(3, 10).unwrap().sequence, 3);
        assert!(sent.take_acked(6, 10).is_none());
        assert_eq!(sent.take_lost(7, 1200).unwrap().sequence, 1);
        assert_eq!(sent.oldest(), 0);
    }

    #[test]
    fn a_packet_is_found_wherever_it_is() {
        for wanted in 0..40 {
            let mut sent = Sent::default();
            for number in 0..40 {
                burst(&mut sent, 10 * (number / 3), &[number]);
            }
            assert_eq!(
                sent.take_acked(wanted, 10 * (wanted / 3)).map(|packet| packet.sequence),
                Some(wanted)
            );
            assert!(sent.take_acked(wanted, 10 * (wanted / 3)).is_none());
            assert!(sent.take_acked(wanted, 5).is_none());
        }
    }

    #[test]
    fn what_noq_has_forgotten_is_forgotten_from_the_oldest_on() {
        let mut sent = Sent::default();
        burst(&mut sent, 10, &[0, 1, 2, 3]);
        sent.forget_down_to(2400);
        assert_eq!((sent.in_flight(), sent.oldest()), (2, 2));
        sent.forget_down_to(0);
        assert_eq!((sent.in_flight(), sent.oldest(), sent.next()), (0, 4, 4));
    }
}
