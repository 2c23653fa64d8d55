// SPDX-License-Identifier: Apache-2.0
//! A sender with a law, a link and a receiver, in virtual time and without noq: what noq would tell the law.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clarion_proxy::header::{Channel, NoHeader};
use clarion_proxy::law::{Counters, LawController, LawFactory};
use noq_proto::congestion::Controller;

use super::channel::FakeChannel;
use super::link::Link;

pub const MTU: u16 = 1440;
/// RFC 9002, 6.1.1
const PACKET_THRESHOLD: u64 = 3;

struct Ack {
    at: Instant,
    number: u64,
    totals: (u32, u32),
}

pub struct Dumbbell {
    pub law: LawController,
    pub link: Link,
    pub now: Instant,
    pub counters: Arc<Counters>,
    pub delivered: u64,
    pub grants_per_ack: i64,
    /// How often the application has a packet to send; zero: always.
    pub app_gap: Duration,
    app_ready_at: Instant,
    granted: u32,
    channel: Option<Arc<FakeChannel>>,
    in_flight: BTreeMap<u64, Instant>,
    next: u64,
    acks: VecDeque<Ack>,
    may_send_at: Instant,
}

impl Dumbbell {
    pub fn new(law: &str, channel: Option<Arc<FakeChannel>>, link: impl FnOnce(Instant) -> Link) -> Self {
        let shared: Arc<dyn Channel> = match &channel {
            Some(channel) => channel.clone(),
            None => Arc::new(NoHeader),
        };
        let factory = LawFactory::new(law, &[], shared).unwrap();
        let now = Instant::now();
        Self {
            law: factory.controller(now, MTU),
            link: link(now),
            now,
            counters: factory.counters(),
            delivered: 0,
            grants_per_ack: 0,
            app_gap: Duration::ZERO,
            app_ready_at: now,
            granted: 0,
            channel,
            in_flight: BTreeMap::new(),
            next: 0,
            acks: VecDeque::new(),
            may_send_at: now,
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        self.in_flight.len() as u64 * u64::from(MTU)
    }

    fn fits(&self) -> bool {
        self.in_flight_bytes() + u64::from(MTU) <= self.law.window()
    }

    pub fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        loop {
            self.send();
            let ack_at = self.acks.front().map(|ack| ack.at);
            let send_at = Some(self.may_send_at.max(self.app_ready_at)).filter(|_| self.fits());
            let Some(next) = ack_at.into_iter().chain(send_at).min().filter(|&next| next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if ack_at == Some(next) {
                self.acknowledge();
            }
        }
        self.now = until;
    }

    fn send(&mut self) {
        while self.may_send_at <= self.now && self.app_ready_at <= self.now {
            if !self.fits() {
                self.law.on_cwnd_limited();
                return;
            }
            self.law.on_packet_sent(self.now, MTU, self.next);
            self.in_flight.insert(self.next, self.now);
            if let Some(rate) = self.law.metrics().pacing_rate {
                self.may_send_at = self.now + Duration::from_nanos(u64::from(MTU) * 1_000_000_000 / rate);
            }
            if let Some(arrival) = self.link.send(self.now, MTU.into()) {
                let totals = (self.link.corrupt, self.link.congest);
                self.acks.push_back(Ack { at: arrival + self.link.delay, number: self.next, totals });
            }
            self.next += 1;
            self.app_ready_at = self.now + self.app_gap;
        }
    }

    fn acknowledge(&mut self) {
        let Some(ack) = self.acks.pop_front() else { return };
        if let Some(channel) = &self.channel {
            self.granted = self.granted.wrapping_add(self.grants_per_ack as u32);
            if self.grants_per_ack != 0 {
                channel.grant(self.granted);
            } else {
                channel.hear(ack.totals.0, ack.totals.1);
            }
        }
        if let Some(sent) = self.in_flight.remove(&ack.number) {
            self.law.acknowledge(self.now, sent, ack.number);
            self.delivered += 1;
        }
        let app_limited = self.app_ready_at > self.now;
        self.law.on_end_acks(self.now, self.in_flight_bytes(), app_limited, Some(ack.number));
        self.detect_losses(ack.number);
    }

    fn detect_losses(&mut self, largest: u64) {
        let lost: Vec<_> = self.in_flight.range(..=largest.saturating_sub(PACKET_THRESHOLD)).collect();
        let lost: Vec<_> = lost.into_iter().map(|(&number, &sent)| (number, sent)).collect();
        let Some(&(newest, sent)) = lost.last().filter(|_| largest >= PACKET_THRESHOLD) else { return };
        for (number, _) in &lost {
            self.in_flight.remove(number);
            self.law.on_packet_lost(MTU, *number, self.now);
        }
        let bytes = lost.len() as u64 * u64::from(MTU);
        self.law.on_congestion_event(self.now, sent, false, false, bytes, newest);
    }
}
