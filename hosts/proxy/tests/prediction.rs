// SPDX-License-Identifier: Apache-2.0
//! What is probably lost is sent again: in virtual time, with noq's own loss recovery beside it.

mod pair;

use std::collections::HashSet;
use std::time::Duration;

use clarion_proxy::prediction::Counts;
use pair::conduits::{carry, connected, pattern, send_all, take};
use pair::{Direction, Setup};

const SATELLITE_MS: u64 = 270;

fn satellite(loss: f64, predict: Option<f64>) -> Setup {
    let (up, down) = (Direction::new(150, SATELLITE_MS, loss), Direction::new(10, SATELLITE_MS, loss / 6.0));
    Setup { up, down, predict, ..Setup::default() }
}

/// Carries some bytes over a path that is known by then, and loses the packets of the last three; how long these take.
fn time_of_lost_tail(predict: Option<f64>) -> (Duration, Counts) {
    let (mut pair, (client, conduit), (server, far)) = connected(satellite(0.0, predict));
    let (bytes, mut received) = (pattern(40_000), Vec::new());
    let (head, tail) = bytes.split_at(36_000);
    send_all(pair.client_tunnel(client), conduit, head);
    pair.until(|pair| {
        take(pair.server_tunnel(server), far, &mut received);
        received.len() == head.len()
    });
    pair.pass(Duration::from_secs(2));
    let began = pair.now;
    pair.up.is_down = true;
    send_all(pair.client_tunnel(client), conduit, tail);
    pair.until(|pair| pair.up.lost >= 3);
    pair.up.is_down = false;
    pair.until(|pair| {
        take(pair.server_tunnel(server), far, &mut received);
        received.len() == bytes.len()
    });
    let took = pair.now - began;
    assert!(received == bytes);
    pair.pass(Duration::from_secs(5)); // for what is acknowledged
    (took, pair.resends())
}

#[test]
fn a_tail_that_is_lost_comes_a_round_trip_sooner() {
    let (without, none) = time_of_lost_tail(None);
    assert_eq!(none, Counts::default());
    let (with, counts) = time_of_lost_tail(Some(0.5));
    println!("{with:?} in place of {without:?}, {counts:?}");
    assert!(with + Duration::from_millis(500) < without, "{with:?} in place of {without:?}");
    assert_eq!(counts.false_resends, 0, "{counts:?}");
    assert!(counts.resends == 3 && counts.useful_resends == 3, "{counts:?}");
}

/// Carries bytes, a few at a time, over a path of 40 ms without losses.
fn trickle(jitter: Duration, predict: Option<f64>) -> (u64, Counts) {
    let mut up = Direction::new(20, 20, 0.0);
    up.jitter = jitter;
    let (mut pair, (client, conduit), (server, far)) = connected(Setup { up, predict, ..Setup::default() });
    let (bytes, mut sent, mut received) = (pattern(600_000), 0, Vec::new());
    while received.len() < bytes.len() {
        let more = (sent + 2_000).min(bytes.len());
        sent += send_all(pair.client_tunnel(client), conduit, &bytes[sent..more]);
        pair.pass(Duration::from_millis(5));
        take(pair.server_tunnel(server), far, &mut received);
    }
    assert!(received == bytes);
    pair.pass(Duration::from_secs(5));
    (pair.up.lost, pair.resends())
}

#[test]
fn resends_of_what_was_only_late_are_false() {
    let (lost, counts) = trickle(Duration::from_millis(60), Some(0.05));
    println!("{counts:?}");
    assert_eq!((lost, counts.useful_resends), (0, 0), "{counts:?}");
    assert!(counts.false_resends > 0 && counts.false_resends == counts.resends, "{counts:?}");
}

#[test]
fn a_path_that_loses_nothing_and_is_even_has_hardly_any() {
    let (_, counts) = trickle(Duration::ZERO, Some(0.5));
    assert!(counts.resends <= 2, "{counts:?}");
}

/// A threshold below the rate of losses that is presumed: all that may go twice does, and comes once.
#[test]
fn what_comes_twice_changes_nothing() {
    let (mut pair, (client, conduit), (server, far)) = connected(satellite(0.0, Some(0.001)));
    let (bytes, mut received) = (pattern(100_000), Vec::new());
    pair.pass(Duration::from_secs(2));
    let before = pair.resends().resends;
    pair.records = true;
    send_all(pair.client_tunnel(client), conduit, &bytes);
    pair.client_tunnel(client).finish(conduit);
    pair.until(|pair| take(pair.server_tunnel(server), far, &mut received));
    assert!(received == bytes);
    pair.pass(Duration::from_secs(5));
    let sent = pair.datagrams_to_server.len();
    let distinct: HashSet<_> = pair.datagrams_to_server.iter().collect();
    let resends = (pair.resends().resends - before) as usize;
    assert!(resends >= 20, "{resends} of {sent}");
    assert_eq!(sent - distinct.len(), resends, "the same datagram, and each of them once more");
    assert_eq!(pair.client_tunnel(client).stats().lost_packets, 0);
}

/// Completion, resends and datagrams of one transfer.
fn transfer(bytes: usize, is_warm: bool, predict: Option<f64>, seed: u64) -> (Duration, Counts, u64) {
    let law = Some(("boost", vec![("boost_loss".to_owned(), 2)]));
    let setup = Setup { seed, law, ..satellite(0.012, predict) };
    let (mut pair, (client, conduit), (server, far)) = connected(setup);
    let mut received = Vec::new();
    if is_warm {
        carry(&mut pair, (client, conduit), (server, far), &pattern(1_000_000), &mut received);
        pair.pass(Duration::from_secs(5));
    }
    let (began, before) = (pair.now, pair.resends());
    let sent_before = pair.client_tunnel(client).stats().udp_tx.datagrams;
    carry(&mut pair, (client, conduit), (server, far), &pattern(bytes), &mut received);
    let took = pair.now - began;
    pair.pass(Duration::from_secs(5));
    let after = pair.resends();
    let counts = Counts {
        resends: after.resends - before.resends,
        useful_resends: after.useful_resends - before.useful_resends,
        false_resends: after.false_resends - before.false_resends,
    };
    (took, counts, pair.client_tunnel(client).stats().udp_tx.datagrams - sent_before)
}

/// The figures of docs/proxy.md.
#[test]
#[ignore = "measures for minutes, and checks nothing"]
fn table_of_completion_times() {
    for (bytes, seeds) in [(20_000, 1000), (200_000, 500), (2_000_000, 200)] {
        for is_warm in [false, true] {
            for predict in [None, Some(0.9), Some(0.5), Some(0.1), Some(0.01)] {
                let mut times = Vec::new();
                let (mut all, mut datagrams) = (Counts::default(), 0);
                for seed in 1..=seeds {
                    let (took, counts, sent) = transfer(bytes, is_warm, predict, seed);
                    times.push(took.as_millis());
                    datagrams += sent;
                    all.resends += counts.resends;
                    all.useful_resends += counts.useful_resends;
                    all.false_resends += counts.false_resends;
                }
                times.sort_unstable();
                let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
                let mean = times.iter().sum::<u128>() / times.len() as u128;
                println!(
                    "{bytes:>7} B warm {is_warm:<5} {predict:?}: mean {mean} median {} p95 {} p99 {} ms; {:.2} % again, {all:?}",
                    at(0.5),
                    at(0.95),
                    at(0.99),
                    100.0 * all.resends as f64 / datagrams as f64,
                );
            }
        }
    }
}
