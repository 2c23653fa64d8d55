// SPDX-License-Identifier: Apache-2.0
//! 0-RTT: what comes with it may be replayed, so it connects nothing before the handshake is over, but for what the
//! server's operator calls safe.

mod pair;

use std::time::Duration;

use clarion_proxy::tunnel::{Event, TunnelId};
use pair::{Pair, Setup, anywhere, bytes_of, events, opening};

/// A pair whose client can come back without a round trip.
fn acquainted(setup: Setup) -> Pair {
    let mut pair = Pair::new(setup);
    let (client, server) = pair.established();
    pair.pass(Duration::from_secs(1)); // for the ticket
    let now = pair.now;
    pair.client_tunnel(client).close(now, "test");
    pair.until(|pair| {
        let is_gone = events(pair.server_tunnel(server)).iter().any(|event| matches!(event, Event::Lost(_)));
        pair.client.forget_drained(client);
        is_gone
    });
    pair.until(|pair| pair.server.forget_drained(server));
    pair
}

/// Opens a conduit as 0-RTT data, with some bytes of it.
fn open_early(pair: &mut Pair) -> TunnelId {
    let client = pair.connect();
    let tunnel = pair.client_tunnel(client);
    assert!(tunnel.can_open(), "0-RTT is possible");
    let conduit = tunnel.open(opening()).expect("open");
    assert_eq!(tunnel.send(conduit, b"early"), Ok(5));
    client
}

/// When the server's conduit was opened, and whether the server knew its peer by then.
fn when_opened(pair: &mut Pair) -> (Duration, bool) {
    let began = pair.now;
    let mut found = None;
    pair.until(|pair| {
        let Some(server) = pair.server_id() else { return false };
        let tunnel = pair.server_tunnel(server);
        let is_handshaking = tunnel.is_handshaking();
        for event in events(tunnel) {
            if let Event::Opened { conduit, .. } = event {
                let was_known = !is_handshaking;
                assert_eq!(bytes_of(&tunnel.front(conduit)), Some(b"early".to_vec()));
                found = Some((conduit, was_known));
            }
        }
        found.is_some()
    });
    (pair.now - began, found.expect("conduit").1)
}

#[test]
fn what_is_safe_is_connected_at_once() {
    let mut pair = acquainted(Setup { early: vec![anywhere()], ..Setup::default() });
    open_early(&mut pair);
    let (after, was_known) = when_opened(&mut pair);
    assert!(!was_known);
    assert!(after < Duration::from_millis(25), "half a round trip, not {after:?}");
}

#[test]
fn all_else_waits_for_the_handshake() {
    let mut pair = acquainted(Setup::default());
    open_early(&mut pair);
    let (after, was_known) = when_opened(&mut pair);
    assert!(was_known);
    assert!(after > Duration::from_millis(55), "{after:?}");
    let server = pair.server_id().expect("server");
    assert_eq!(pair.server_tunnel(server).held(), 1);
}

#[test]
fn what_an_attacker_replays_connects_nothing() {
    let mut pair = acquainted(Setup::default());
    (pair.records, pair.up.is_down) = (true, true);
    open_early(&mut pair);
    pair.step(); // the attacker has the first flight, the server has nothing yet
    let recorded = std::mem::take(&mut pair.datagrams_to_server);
    pair.records = false;
    assert!(!recorded.is_empty());
    let until = pair.now + Duration::from_secs(30);
    pair.client_address = pair::address("10.6.6.6:666");
    for datagram in recorded {
        pair.replay(datagram);
    }
    let mut was_held = false;
    while pair.now < until && pair.step() {
        for id in pair.server.ids() {
            let tunnel = pair.server_tunnel(id);
            was_held |= tunnel.held() == 1;
            for event in events(tunnel) {
                assert!(!matches!(event, Event::Opened { .. } | Event::Connected), "{event:?}");
            }
        }
    }
    assert!(was_held, "the server has taken the 0-RTT data");
}

#[test]
fn a_server_that_has_forgotten_gets_it_all_again() {
    let mut pair = acquainted(Setup::default());
    pair.restart_server();
    let client = open_early(&mut pair);
    let (_, was_known) = when_opened(&mut pair);
    assert!(was_known);
    assert!(!pair.client_tunnel(client).accepted_early());
}

#[test]
fn a_handshake_that_is_given_up_connects_nothing() {
    let mut pair = acquainted(Setup { early: vec![anywhere()], ..Setup::default() });
    (pair.records, pair.up.is_down) = (true, true);
    let client = open_early(&mut pair);
    pair.step();
    let now = pair.now;
    pair.client_tunnel(client).close(now, "test");
    pair.step();
    let recorded = std::mem::take(&mut pair.datagrams_to_server);
    assert!(recorded.len() >= 2, "what is early, and the end");
    pair.records = false;
    for datagram in recorded {
        pair.replay(datagram);
    }
    let until = pair.now + Duration::from_secs(10);
    while pair.now < until && pair.step() {
        for id in pair.server.ids() {
            for event in events(pair.server_tunnel(id)) {
                assert!(!matches!(event, Event::Opened { .. } | Event::Connected), "{event:?}");
            }
        }
    }
}
