// SPDX-License-Identifier: Apache-2.0
//! 0-RTT: what comes with it may be replayed, so it connects nothing before the handshake is over, but for what the
//! server's operator calls safe.

mod pair;

use std::time::Duration;

use clarion_proxy::config::Limits;
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

/// The first flight of a client that comes back, which the server does not get.
fn recorded(pair: &mut Pair, open: impl FnOnce(&mut Pair)) -> Vec<Vec<u8>> {
    (pair.records, pair.up.is_down) = (true, true);
    open(pair);
    pair.flush();
    pair.records = false;
    std::mem::take(&mut pair.datagrams_to_server)
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
    let recorded = recorded(&mut pair, |pair| {
        open_early(pair);
    });
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
fn what_is_replayed_again_and_again_is_taken_once() {
    let mut pair = acquainted(Setup { early: vec![anywhere()], ..Setup::default() });
    let recorded = recorded(&mut pair, |pair| {
        open_early(pair);
    });
    let mut opened = 0;
    for number in 0..100u8 {
        for datagram in &recorded {
            pair.replay_from(([10, 6, 6, number], 666).into(), datagram.clone());
        }
        for id in pair.server.ids() {
            let seen = events(pair.server_tunnel(id));
            opened += seen.iter().filter(|event| matches!(event, Event::Opened { .. })).count();
        }
        // Each time to a server that has ended what the time before began.
        let now = pair.now;
        for id in pair.server.ids() {
            pair.server_tunnel(id).close(now, "test");
        }
        pair.pass(Duration::from_secs(60));
        for id in pair.server.ids() {
            pair.server.forget_drained(id);
        }
        assert_eq!(pair.server.ids().len(), 0);
    }
    assert_eq!(opened, 1);
}

#[test]
fn early_openings_without_end_are_bounded_and_go_with_their_tunnel() {
    let limits = Limits { max_connections: 50, ..Limits::default() };
    let mut pair = acquainted(Setup { limits, ..Setup::default() });
    let recorded = recorded(&mut pair, |pair| {
        let client = pair.connect();
        while pair.client_tunnel(client).open(opening()).is_some() {}
    });
    for datagram in recorded {
        pair.replay_from(pair::address("10.6.6.6:666"), datagram);
    }
    let server = pair.server_id().expect("server");
    let tunnel = pair.server_tunnel(server);
    assert!((10..=50).contains(&tunnel.held()), "{}", tunnel.held());
    assert_eq!(tunnel.held(), tunnel.conduits() as u64);
    pair.pass(limits.idle_timeout * 2);
    let seen = events(pair.server_tunnel(server));
    assert!(!seen.iter().any(|event| matches!(event, Event::Opened { .. })), "{seen:?}");
    assert!(pair.server.forget_drained(server));
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
