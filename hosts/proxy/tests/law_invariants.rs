// SPDX-License-Identifier: Apache-2.0
//! Whatever happens to a connection, in whatever order: every law keeps a window that a connection can live with.
#![allow(clippy::unwrap_used)]

mod law_support;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clarion_proxy::law::{LawController, LawFactory, names};
use law_support::channel::FakeChannel;
use noq_proto::congestion::Controller;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Op {
    Send { packets: u8, bytes: u16 },
    Acknowledge { packets: u8, app_limited: bool },
    AcknowledgeNewest,
    Lose { packets: u8, is_persistent: bool },
    Mark,
    Spurious,
    Mtu { bytes: u16 },
    Wait { us: u32 },
    Hear { corrupt: u8, congest: u8 },
    Grant { change: i32 },
    Migrate,
    Limited,
    Forget,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (1..40u8, 60..1452u16).prop_map(|(packets, bytes)| Op::Send { packets, bytes }),
        6 => (1..40u8, any::<bool>())
            .prop_map(|(packets, app_limited)| Op::Acknowledge { packets, app_limited }),
        1 => Just(Op::AcknowledgeNewest),
        2 => (1..8u8, prop::bool::weighted(0.1))
            .prop_map(|(packets, is_persistent)| Op::Lose { packets, is_persistent }),
        1 => Just(Op::Mark),
        1 => Just(Op::Spurious),
        1 => (1200..1452u16).prop_map(|bytes| Op::Mtu { bytes }),
        4 => (1..200_000u32).prop_map(|us| Op::Wait { us }),
        1 => Just(Op::Wait { us: 400_000_000 }),
        2 => (0..8u8, 0..3u8).prop_map(|(corrupt, congest)| Op::Hear { corrupt, congest }),
        1 => any::<i32>().prop_map(|change| Op::Grant { change }),
        1 => Just(Op::Migrate),
        1 => Just(Op::Limited),
        1 => Just(Op::Forget),
    ]
}

struct Flow {
    law: Box<LawController>,
    channel: Arc<FakeChannel>,
    now: Instant,
    mtu: u16,
    in_flight: VecDeque<(u64, Instant, u16)>,
    next: u64,
    totals: (u32, u32),
    granted: u32,
}

impl Flow {
    fn new(name: &str) -> Self {
        let channel = Arc::new(FakeChannel::with_tags());
        let factory = LawFactory::new(name, &[], channel.clone()).unwrap();
        let now = Instant::now();
        Self {
            law: Box::new(factory.controller(now, 1200)),
            channel,
            now,
            mtu: 1200,
            in_flight: VecDeque::new(),
            next: 0,
            totals: (0, 0),
            granted: 0,
        }
    }

    fn in_flight_bytes(&self) -> u64 {
        self.in_flight.iter().map(|(_, _, bytes)| u64::from(*bytes)).sum()
    }

    fn do_it(&mut self, op: &Op) {
        match *op {
            Op::Send { packets, bytes } => self.send(packets, bytes),
            Op::Acknowledge { packets, app_limited } => {
                let count = self.in_flight.len().min(packets.into());
                let acked: Vec<_> = self.in_flight.drain(..count).collect();
                self.acknowledge(&acked, app_limited);
            }
            Op::AcknowledgeNewest => {
                let acked: Vec<_> = self.in_flight.pop_back().into_iter().collect();
                self.acknowledge(&acked, false);
            }
            Op::Lose { packets, is_persistent } => self.lose(packets, is_persistent),
            Op::Mark => self.law.on_congestion_event(self.now, self.now, false, true, 0, self.next),
            Op::Spurious => self.law.on_spurious_congestion_event(),
            Op::Mtu { bytes } => {
                self.mtu = bytes;
                self.law.on_mtu_update(bytes);
            }
            Op::Wait { us } => self.now += Duration::from_micros(us.into()),
            Op::Hear { corrupt, congest } => {
                self.totals.0 += u32::from(corrupt);
                self.totals.1 += u32::from(congest);
                self.channel.hear(self.totals.0, self.totals.1);
            }
            Op::Grant { change } => {
                self.granted = self.granted.wrapping_add_signed(change);
                self.channel.grant(self.granted);
            }
            Op::Migrate => {
                let copy = self.law.clone_box();
                assert_eq!(copy.window(), self.law.window());
                self.law = copy.into_any().downcast().unwrap();
                self.in_flight.clear();
            }
            Op::Limited => self.law.on_cwnd_limited(),
            Op::Forget => {
                // Keys were dropped: of what was in flight noq says no more.
                self.in_flight.pop_front();
            }
        }
    }

    fn send(&mut self, packets: u8, bytes: u16) {
        let bytes = bytes.min(self.mtu);
        for _ in 0..packets {
            if self.in_flight_bytes() + u64::from(self.mtu) > self.law.window() {
                self.law.on_cwnd_limited();
                return;
            }
            self.law.on_packet_sent(self.now, bytes, self.next);
            self.in_flight.push_back((self.next, self.now, bytes));
            self.next += 1;
        }
    }

    fn acknowledge(&mut self, acked: &[(u64, Instant, u16)], app_limited: bool) {
        for &(number, sent, _) in acked {
            self.law.acknowledge(self.now, sent, number);
        }
        let largest = acked.last().map(|&(number, ..)| number);
        self.law.on_end_acks(self.now, self.in_flight_bytes(), app_limited, largest);
    }

    fn lose(&mut self, packets: u8, is_persistent: bool) {
        let count = self.in_flight.len().min(packets.into());
        let lost: Vec<_> = self.in_flight.drain(..count).collect();
        for &(number, _, bytes) in &lost {
            self.law.on_packet_lost(bytes, number, self.now);
        }
        if let Some(&(number, sent, _)) = lost.last() {
            self.law.on_congestion_event(self.now, sent, is_persistent, false, 1, number);
        }
    }

    fn check(&self, name: &str) {
        let window = self.law.window();
        assert!(window >= 2 * u64::from(self.mtu), "{name}: window {window}");
        assert_eq!(window % u64::from(self.mtu), 0, "{name}: whole datagrams");
        assert!(self.law.in_flight_packets() as usize >= self.in_flight.len(), "{name}: lost track");
        let metrics = self.law.metrics();
        assert_eq!(metrics.congestion_window, window);
        assert!(metrics.pacing_rate.is_none_or(|rate| rate > 0), "{name}: no rate");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_law_survives_whatever_happens(ops in prop::collection::vec(op(), 1..400)) {
        for name in names() {
            let mut flow = Flow::new(name);
            for op in &ops {
                flow.do_it(op);
                flow.check(name);
            }
        }
    }
}

#[test]
fn every_law_builds_with_tcps_initial_window_or_its_own() {
    for name in names() {
        let flow = Flow::new(name);
        let own = match name {
            "boost" => 32,
            _ => 10,
        };
        assert_eq!(flow.law.initial_window(), own * 1200, "{name}");
        assert_eq!(flow.law.law(), name);
    }
}
