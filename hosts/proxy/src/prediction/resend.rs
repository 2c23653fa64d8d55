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
