// SPDX-License-Identifier: Apache-2.0
//! The datagrams that may have to be sent again, and when they are.
//!
//! Only what is acknowledged, and alone in its datagram, is kept: no handshake, no bare ACK, no MTU probe. A datagram
//! goes twice at most, never while more is in flight than the law's window, and within an [`Allowance`].
//!
//! With a threshold not above the path's rate of losses every packet is due at once: all go twice, as far as the
//! allowance goes. noq knows of no resend: once a later packet's acknowledgement or a probe tells it of the loss, it
//! sends the data again in a packet of its own, unless the acknowledgement has come by then.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use noq_proto::{EcnCodepoint, Transmit};

use super::allowance::Allowance;
use super::estimate::Estimate;

/// noq's receiver takes a packet for a duplicate if it is 129 numbers behind the newest (its `Dedup`), so what is
/// older is not worth sending; some numbers are left out on purpose.
const KEPT_DATAGRAMS: u64 = 120;
/// Of the first byte: a long header (RFC 9000, 17.2), so a handshake packet or 0-RTT.
const LONG_HEADER: u8 = 0x80;

/// What became of resends; those of which nothing is known yet are in neither of the last two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub resends: u64,
    /// The packet had been lost: it was acknowledged at least the path's shortest round trip afterwards, or noq found
    /// the loss after the resend. Of one that is resent before its acknowledgement is due this says little.
    pub useful_resends: u64,
    /// The packet was acknowledged sooner, so it had not been lost.
    pub false_resends: u64,
}

#[derive(Debug)]
struct Kept {
    number: u64,
    sent_at: Instant,
    /// Of all datagrams.
    place: u64,
    destination: SocketAddr,
    source: Option<IpAddr>,
    ecn: Option<EcnCodepoint>,
    contents: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Resent {
    number: u64,
    sent_at: Instant,
    resent_at: Instant,
}

/// All of one path.
#[derive(Debug)]
pub struct Resends {
    /// Probability in (0, 1).
    threshold: f64,
    estimate: Estimate,
    /// The age at which a packet is due, as the estimate is now.
    due_after: Option<Duration>,
    allowance: Allowance,
    mtu_bytes: u16,
    window_bytes: u64,
    in_flight_bytes: u64,
    /// Number and bytes of the packets that the next transmit carries.
    written: Vec<(u64, u16)>,
    datagrams: u64,
    /// In the order of sending.
    kept: VecDeque<Kept>,
    resent: VecDeque<Resent>,
    /// What was due by then has been told.
    told_at: Option<Instant>,
    counts: Counts,
}

impl Resends {
    /// `threshold` is a probability in (0, 1).
    pub fn new(threshold: f64) -> Self {
        Self {
            threshold,
            estimate: Estimate::default(),
            due_after: None,
            allowance: Allowance::default(),
            mtu_bytes: 0,
            window_bytes: 0,
            in_flight_bytes: 0,
            written: Vec::new(),
            datagrams: 0,
            kept: VecDeque::new(),
            resent: VecDeque::new(),
            told_at: None,
            counts: Counts::default(),
        }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The path is another one: what is known of the old one is worth nothing.
    pub fn restart(&mut self, mtu_bytes: u16) {
        *self = Self { mtu_bytes, counts: self.counts, ..Self::new(self.threshold) };
    }

    pub fn set_mtu(&mut self, mtu_bytes: u16) {
        self.mtu_bytes = mtu_bytes;
    }

    /// Bytes that may be in flight, and that are.
    pub fn set_window(&mut self, window_bytes: u64, in_flight_bytes: u64) {
        (self.window_bytes, self.in_flight_bytes) = (window_bytes, in_flight_bytes);
    }

    /// An ack-eliciting packet has been written, into the transmit that is given to `keep` next.
    pub fn on_written(&mut self, number: u64, bytes: u16) {
        self.written.push((number, bytes));
    }

    /// A transmit goes out.
    pub fn keep(&mut self, now: Instant, transmit: &Transmit, contents: &[u8]) {
        let written = std::mem::take(&mut self.written);
        let contents = &contents[..transmit.size];
        self.allowance.earn(contents.len() as u64);
        let segments = contents.chunks(transmit.segment_size.unwrap_or(contents.len()).max(1));
        let first = self.datagrams;
        self.datagrams += segments.len() as u64;
        if segments.len() == written.len() {
            for ((place, segment), (number, bytes)) in (first..).zip(segments).zip(written) {
                if usize::from(bytes) == segment.len() && self.is_worth_keeping(segment) {
                    self.kept.push_back(Kept {
                        number,
                        sent_at: now,
                        place,
                        destination: transmit.destination,
                        source: transmit.src_ip,
                        ecn: transmit.ecn,
                        contents: segment.to_vec(),
                    });
                }
            }
        }
        while self.kept.front().is_some_and(|first| first.place + KEPT_DATAGRAMS < self.datagrams) {
            self.kept.pop_front();
        }
    }

    fn is_worth_keeping(&self, datagram: &[u8]) -> bool {
        datagram.len() <= self.mtu_bytes.into()
            && datagram.first().is_some_and(|byte| byte & LONG_HEADER == 0)
    }

    /// Packets are told apart by number and time: those of the handshake have the same numbers.
    pub fn on_acked(&mut self, now: Instant, sent_at: Instant, number: u64) {
        if let Some(at) = self.kept.iter().position(|kept| kept.number == number && kept.sent_at == sent_at) {
            self.kept.remove(at);
        }
        let is_it = |resent: &Resent| resent.number == number && resent.sent_at == sent_at;
        let resent = self.resent.iter().position(is_it).and_then(|at| self.resent.remove(at));
        let is_useful = resent.is_some_and(|resent| {
            let since = now.saturating_duration_since(resent.resent_at);
            self.estimate.least().is_some_and(|least| since >= least)
        });
        self.counts.useful_resends += u64::from(is_useful);
        self.counts.false_resends += u64::from(resent.is_some() && !is_useful);
        if is_useful {
            self.estimate.note_lost(); // which noq never finds
        } else {
            self.estimate.note_acked(now.saturating_duration_since(sent_at));
        }
    }

    /// All packets of an ACK frame are known.
    pub fn end_acks(&mut self) {
        self.estimate.end_acks();
        self.due_after = self.estimate.due_after(self.threshold);
    }

    /// noq has found a loss, and sends the data again by itself.
    pub fn on_lost(&mut self, number: u64) {
        self.kept.retain(|kept| kept.number != number);
        let before = self.resent.len();
        self.resent.retain(|resent| resent.number != number);
        self.counts.useful_resends += (before - self.resent.len()) as u64;
        self.estimate.note_lost();
        self.due_after = self.estimate.due_after(self.threshold);
    }

    /// When `take` has something next, if nothing comes before; no time that has been told by `on_timeout`.
    pub fn due_at(&self) -> Option<Instant> {
        let at = self.first()?.sent_at + self.due_after?;
        self.told_at.is_none_or(|told_at| at > told_at).then_some(at)
    }

    /// The time of `due_at` has come; the socket may have no room now.
    pub fn on_timeout(&mut self, now: Instant) {
        self.told_at = Some(now);
    }

    /// A datagram that is due to be sent again, written to `buffer`.
    pub fn take(&mut self, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        let due_after = self.due_after?;
        self.first().filter(|first| first.sent_at + due_after <= now)?;
        let kept = self.kept.pop_front()?;
        self.allowance.spend(kept.contents.len() as u64);
        self.counts.resends += 1;
        self.datagrams += 1;
        self.resent.push_back(Resent { number: kept.number, sent_at: kept.sent_at, resent_at: now });
        buffer.extend_from_slice(&kept.contents);
        Some(Transmit {
            destination: kept.destination,
            ecn: kept.ecn,
            size: kept.contents.len(),
            segment_size: None,
            src_ip: kept.source,
        })
    }

    /// The oldest datagram, if one may be sent again at all.
    fn first(&self) -> Option<&Kept> {
        let first = self.kept.front()?;
        let may_go =
            self.in_flight_bytes <= self.window_bytes && self.allowance.covers(first.contents.len() as u64);
        may_go.then_some(first)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(256);
    const SHORT_HEADER: u8 = 0x40;
    const BYTES: u16 = 1200;

    /// A path with one round trip known, on which the threshold of one half is reached 37 ms after it is over.
    struct Path {
        resends: Resends,
        now: Instant,
        next: u64,
    }

    impl Path {
        fn new() -> Self {
            let mut resends = Resends::new(0.5);
            resends.restart(BYTES);
            resends.set_window(1_000_000, 0);
            let mut path = Self { resends, now: Instant::now(), next: 0 };
            let first = path.send();
            path.pass(RTT);
            path.acknowledge(first);
            path
        }

        fn pass(&mut self, time: Duration) {
            self.now += time;
        }

        /// One packet in a datagram, which begins with its number.
        fn send(&mut self) -> (u64, Instant) {
            self.send_as(SHORT_HEADER, BYTES)
        }

        fn send_all(&mut self, count: usize) {
            for _ in 0..count {
                self.send();
            }
        }

        fn send_as(&mut self, first_byte: u8, bytes: u16) -> (u64, Instant) {
            let number = self.next;
            self.next += 1;
            self.resends.on_written(number, bytes);
            self.put(&datagram(first_byte, number, bytes), None);
            (number, self.now)
        }

        fn put(&mut self, contents: &[u8], segment_size: Option<usize>) {
            let destination = "192.0.2.1:4433".parse().unwrap();
            let ecn = Some(EcnCodepoint::Ect0);
            let transmit = Transmit { destination, ecn, size: contents.len(), segment_size, src_ip: None };
            self.resends.keep(self.now, &transmit, contents);
        }

        fn acknowledge(&mut self, (number, sent_at): (u64, Instant)) {
            self.resends.on_acked(self.now, sent_at, number);
            self.resends.end_acks();
        }

        /// The number of the packet that is sent again now.
        fn take(&mut self) -> Option<u64> {
            let mut buffer = Vec::new();
            let transmit = self.resends.take(self.now, &mut buffer)?;
            assert_eq!((transmit.size, transmit.segment_size), (buffer.len(), None));
            assert_eq!(transmit.ecn, Some(EcnCodepoint::Ect0));
            Some(buffer[1].into())
        }

        fn when_due(&self) -> Option<Duration> {
            self.resends.due_at().map(|at| at - self.now)
        }

        fn counts(&self) -> (u64, u64, u64) {
            let counts = self.resends.counts();
            (counts.resends, counts.useful_resends, counts.false_resends)
        }
    }

    fn datagram(first_byte: u8, number: u64, bytes: u16) -> Vec<u8> {
        let mut contents = vec![0; bytes.into()];
        (contents[0], contents[1]) = (first_byte, number as u8);
        contents
    }

    /// So long after sending a packet is due, with a margin.
    const LATE: Duration = Duration::from_millis(256 + 37 + 1);

    #[test]
    fn a_datagram_is_sent_again_when_it_is_due_and_once() {
        let mut path = Path::new();
        let (number, _) = path.send();
        let due_after = path.when_due().unwrap();
        assert!(due_after > RTT && due_after < LATE, "{due_after:?}");
        path.pass(due_after - Duration::from_nanos(1));
        assert_eq!(path.take(), None);
        path.pass(Duration::from_nanos(1));
        assert_eq!(path.take(), Some(number));
        assert_eq!((path.take(), path.when_due()), (None, None));
    }

    #[test]
    fn a_time_that_has_been_told_is_not_told_again() {
        let mut path = Path::new();
        path.send();
        path.pass(LATE);
        assert!(path.resends.due_at().is_some_and(|at| at <= path.now));
        path.resends.on_timeout(path.now);
        assert_eq!(path.when_due(), None);
        assert!(path.take().is_some());
    }

    #[test]
    fn what_is_acknowledged_or_lost_is_not_sent_again() {
        let mut path = Path::new();
        let (first, second) = (path.send(), path.send());
        path.acknowledge(first);
        path.resends.on_lost(second.0);
        path.pass(10 * LATE);
        assert_eq!(path.take(), None);
    }

    /// The same number at another time is a packet of the handshake.
    #[test]
    fn an_acknowledgement_is_for_the_packet_of_that_time() {
        let mut path = Path::new();
        let (number, sent_at) = path.send();
        path.acknowledge((number, sent_at - RTT));
        path.pass(2 * LATE);
        assert_eq!(path.take(), Some(number));
    }

    #[test]
    fn an_acknowledgement_says_whether_a_resend_was_worth_it() {
        let mut path = Path::new();
        let packets = [path.send(), path.send(), path.send(), path.send()];
        path.pass(LATE);
        assert_eq!([path.take(), path.take(), path.take(), path.take()], packets.map(|each| Some(each.0)));
        assert_eq!(path.counts(), (4, 0, 0));
        path.pass(RTT - Duration::from_millis(1));
        path.acknowledge(packets[0]);
        assert_eq!(path.counts(), (4, 0, 1));
        path.pass(Duration::from_millis(1));
        path.acknowledge(packets[1]);
        assert_eq!(path.counts(), (4, 1, 1));
        path.resends.on_lost(packets[2].0);
        assert_eq!(path.counts(), (4, 2, 1));
    }

    #[test]
    fn only_acknowledged_packets_alone_in_their_datagrams_are_kept() {
        let mut path = Path::new();
        path.put(&[SHORT_HEADER; 40], None); // an ACK
        path.send_as(LONG_HEADER | SHORT_HEADER, BYTES); // of the handshake
        path.send_as(SHORT_HEADER, BYTES + 1); // an MTU probe
        path.resends.on_written(7, 700);
        path.put(&[SHORT_HEADER; 1200], None); // two packets, of which one is acknowledged
        assert!(path.resends.kept.is_empty());
    }

    #[test]
    fn of_a_batch_each_datagram_is_kept_with_its_number() {
        let mut path = Path::new();
        let mut batch = Vec::new();
        for (number, bytes) in [(50, BYTES), (51, BYTES), (52, 300)] {
            path.resends.on_written(number, bytes);
            batch.extend(datagram(SHORT_HEADER, number, bytes));
        }
        path.put(&batch, Some(BYTES.into()));
        path.pass(LATE);
        assert_eq!([path.take(), path.take(), path.take()], [Some(50), Some(51), Some(52)]);
        path.resends.on_written(53, BYTES);
        path.put(&batch, Some(BYTES.into())); // fewer packets than datagrams: one is an ACK
        assert!(path.resends.kept.is_empty());
    }

    #[test]
    fn what_the_peer_would_take_for_a_duplicate_is_dropped() {
        let mut path = Path::new();
        path.send_all(200);
        assert_eq!(path.resends.kept.len() as u64, KEPT_DATAGRAMS);
        (0..100).for_each(|_| path.put(&[SHORT_HEADER; 40], None)); // ACKs have numbers, too
        assert_eq!(path.resends.kept.len() as u64, KEPT_DATAGRAMS - 100);
    }

    #[test]
    fn nothing_is_sent_again_above_the_window() {
        let mut path = Path::new();
        path.send();
        path.pass(LATE);
        path.resends.set_window(10_000, 10_001);
        assert_eq!((path.take(), path.when_due()), (None, None));
        path.resends.set_window(10_000, 10_000);
        assert!(path.take().is_some());
    }

    #[test]
    fn resends_are_bounded() {
        let mut path = Path::new();
        path.send_all(100);
        path.pass(LATE);
        let resends = std::iter::from_fn(|| path.take()).count();
        assert_eq!(resends, 20); // 24 kB
        assert_eq!(path.when_due(), None);
        path.send_all(8);
        assert!(path.take().is_some() && path.take().is_none());
    }

    #[test]
    fn another_path_begins_anew() {
        let mut path = Path::new();
        path.send();
        path.pass(LATE);
        assert!(path.take().is_some());
        path.send();
        path.resends.restart(BYTES);
        path.pass(10 * LATE);
        assert_eq!((path.take(), path.when_due()), (None, None));
        assert_eq!(path.counts(), (1, 0, 0));
    }
}
