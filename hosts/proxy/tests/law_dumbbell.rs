// SPDX-License-Identifier: Apache-2.0
//! The laws in a closed loop with one link.
#![allow(clippy::unwrap_used)]

mod law_support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clarion_proxy::law::Reason;
use law_support::channel::FakeChannel;
use law_support::dumbbell::Dumbbell;
use law_support::link::Link;
use noq_proto::congestion::Controller;

const RATE: u64 = 20_000_000;
const ONE_WAY: Duration = Duration::from_millis(20);
/// 40 ms of the link.
const BDP_BYTES: u64 = 100_000;

fn link(loss_ppm: u64, queue_bytes: u64) -> impl FnOnce(Instant) -> Link {
    move |now| Link::new(now, RATE, ONE_WAY, loss_ppm, queue_bytes)
}

/// Runs until the law has reduced its window, and says what it left of it.
fn first_reduction(law: &str) -> f64 {
    let mut path = Dumbbell::new(law, None, link(0, BDP_BYTES));
    // Slow start overshoots and loses many packets of one round trip; what follows is the law.
    while path.counters.reductions(Reason::Loss) == 0 {
        path.run_for(Duration::from_millis(1));
    }
    path.run_for(Duration::from_secs(2));
    let reductions = path.counters.reductions(Reason::Loss);
    let mut before = path.law.window_packets();
    while path.counters.reductions(Reason::Loss) == reductions {
        before = path.law.window_packets();
        path.run_for(Duration::from_micros(100));
    }
    f64::from(path.law.window_packets()) / f64::from(before)
}

#[test]
fn reno_halves() {
    let left = first_reduction("reno");
    assert!((0.48..=0.52).contains(&left), "{left}");
}

#[test]
fn cubic_leaves_seven_tenths() {
    let left = first_reduction("cubic");
    assert!((0.68..=0.72).contains(&left), "{left}");
}

#[test]
fn reno_grows_by_a_packet_per_round_trip() {
    let mut path = Dumbbell::new("reno", None, link(0, 4 * BDP_BYTES));
    while path.counters.reductions(Reason::Loss) == 0 {
        path.run_for(Duration::from_millis(10));
    }
    path.run_for(Duration::from_secs(1));
    let (before, delivered) = (path.law.window_packets(), path.delivered);
    path.run_for(Duration::from_secs(1));
    let rounds = (path.delivered - delivered) as f64 / f64::from(path.law.window_packets());
    let grown = f64::from(path.law.window_packets() - before);
    assert!((grown - rounds).abs() <= 2.0, "{grown} packets in {rounds} round trips");
}

#[test]
fn every_law_fills_a_clean_link() {
    for law in clarion_proxy::law::names() {
        let mut path = Dumbbell::new(law, None, link(0, BDP_BYTES));
        path.run_for(Duration::from_secs(20));
        let before = path.delivered;
        path.run_for(Duration::from_secs(10));
        let rate = (path.delivered - before) as f64 * 1482.0 * 8.0 / 10.0 / RATE as f64;
        println!(
            "{law}: {rate:.3} window {} lost {}",
            path.law.window_packets(),
            path.counters.lost_packets()
        );
        assert!(rate > 0.9, "{law}: {rate}");
        assert!(path.counters.lost_packets() < path.delivered / 10, "{law} sends what only gets lost");
    }
}

/// Delivered packets of ten seconds, and reductions.
fn boost_under_loss(channel: Option<Arc<FakeChannel>>) -> (u64, u64) {
    let mut path = Dumbbell::new("boost", channel, link(10_000, 4 * BDP_BYTES));
    path.run_for(Duration::from_secs(5));
    let (before, reductions) = (path.delivered, path.counters.all_reductions());
    path.run_for(Duration::from_secs(10));
    (path.delivered - before, path.counters.all_reductions() - reductions)
}

#[test]
fn boost_keeps_its_window_where_tags_call_the_losses_corruption() {
    let (with_tags, _) = boost_under_loss(Some(Arc::new(FakeChannel::with_tags())));
    let (without, reductions) = boost_under_loss(None);
    let full = RATE * 10 / 8 / 1482;
    assert!(with_tags as f64 > 0.93 * full as f64, "{with_tags} of {full}");
    assert!(reductions > 10, "without tags every loss reduces: {reductions}");
    assert!(without < with_tags / 2, "{without} without tags, {with_tags} with");
}

#[test]
fn boost_obeys_drops_of_a_queue_although_it_has_tags() {
    let channel = Arc::new(FakeChannel::with_tags());
    let mut path = Dumbbell::new("boost", Some(channel), link(0, BDP_BYTES / 8));
    path.run_for(Duration::from_secs(10));
    assert!(path.link.congest > 0);
    assert!(path.counters.reductions(Reason::Congestion) > 0);
    assert_eq!(path.counters.reductions(Reason::Unexplained), 0);
}

#[test]
fn xcp_asks_for_rate_and_follows_what_it_is_granted() {
    let channel = Arc::new(FakeChannel::with_tags());
    let mut path = Dumbbell::new("xcp", Some(channel.clone()), link(0, 4 * BDP_BYTES));
    path.run_for(Duration::from_millis(50));
    let asked = channel.asked();
    assert!(asked.wanted && asked.delta_throughput > 0 && asked.rtt > 0);
    assert_eq!(asked.full_len, 14 + 20 + 32 + 8 + 1440);

    path.grants_per_ack = 2_000;
    while path.law.window_packets() < 50 {
        path.run_for(Duration::from_millis(10));
    }
    let before = path.law.window_packets();
    path.grants_per_ack = -2_000;
    path.run_for(Duration::from_millis(100));
    let after = path.law.window_packets();
    assert!(after < before, "a router took back: {before} packets before, {after} after");
    assert_eq!(path.counters.all_reductions(), 0, "grants that are taken back are no congestion");
}

#[test]
fn without_headers_xcp_is_told_nothing_and_grows_by_itself() {
    let mut path = Dumbbell::new("xcp", None, link(0, BDP_BYTES));
    path.run_for(Duration::from_secs(3));
    assert!(path.law.window() > BDP_BYTES / 2);
}

#[test]
fn a_window_that_the_application_does_not_use_does_not_grow() {
    for law in ["reno", "cubic", "hybla", "boost", "xcp", "fast"] {
        let mut path = Dumbbell::new(law, None, link(0, BDP_BYTES));
        path.app_gap = Duration::from_millis(5); // eight packets in flight
        path.run_for(Duration::from_secs(30));
        let window = path.law.window_packets();
        assert!(window <= 20, "{law} has a window of {window} packets");
    }
}
