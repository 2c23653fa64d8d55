// SPDX-License-Identifier: Apache-2.0
//! The core in virtual time: what goes in at one end comes out at the other, and nothing else.

mod pair;

use std::time::Duration;

use clarion_proxy::config::Limits;
use clarion_proxy::tunnel::{Abort, Event, Front, SendError};
use pair::conduits::{connected, opened, pattern, send_all, take};
use pair::{Direction, Pair, Setup, address, anywhere, events, opening};

#[test]
fn carries_bytes_and_ends_of_both_directions_over_a_lossy_path() {
    let lossy =
        Setup { up: Direction::new(50, 50, 0.02), down: Direction::new(50, 50, 0.02), ..Setup::default() };
    let (mut pair, (client, conduit), (server, far)) = connected(lossy);
    let (request, response) = (pattern(3_000_000), pattern(1_500_000));
    let (mut asked, mut answered) = (0, 0);
    let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
    let (mut is_asked, mut is_answered) = (false, false);
    pair.until(|pair| {
        asked += send_all(pair.client_tunnel(client), conduit, &request[asked..]);
        if asked == request.len() {
            pair.client_tunnel(client).finish(conduit);
        }
        is_asked |= take(pair.server_tunnel(server), far, &mut at_server);
        if is_asked {
            answered += send_all(pair.server_tunnel(server), far, &response[answered..]);
            if answered == response.len() {
                pair.server_tunnel(server).finish(far);
            }
        }
        is_answered |= take(pair.client_tunnel(client), conduit, &mut at_client);
        is_answered
    });
    assert!(at_server == request && at_client == response);
    assert!(pair.up.lost > 20, "the path lost something");
    pair.client_tunnel(client).release(conduit);
    pair.server_tunnel(server).release(far);
    pair.pass(Duration::from_secs(2));
    assert!(!events(pair.server_tunnel(server)).iter().any(|event| matches!(event, Event::Aborted { .. })));
}

#[test]
fn a_reset_overtakes_what_is_queued() {
    let slow = Setup { up: Direction::new(1, 50, 0.0), ..Setup::default() };
    let (mut pair, (client, conduit), (server, far)) = connected(slow);
    send_all(pair.client_tunnel(client), conduit, &pattern(4_000_000)); // half a minute of the path
    let before = pair.elapsed();
    pair.client_tunnel(client).abort(conduit, Abort::Reset);
    pair.client_tunnel(client).release(conduit);
    let mut why = None;
    pair.until(|pair| {
        for event in events(pair.server_tunnel(server)) {
            if let Event::Aborted { conduit, why: code } = event {
                assert_eq!(conduit, far);
                why = Some(code);
            }
        }
        why.is_some()
    });
    assert_eq!(why, Some(Abort::Reset));
    assert!(pair.elapsed() - before < Duration::from_secs(2), "{:?}", pair.elapsed() - before);
    assert!(matches!(pair.server_tunnel(server).front(far), Front::Aborted));
}

#[test]
fn the_servers_reset_reaches_the_client_in_mid_transfer() {
    let (mut pair, (client, conduit), (server, far)) = connected(Setup::default());
    send_all(pair.client_tunnel(client), conduit, &pattern(1_000_000));
    pair.server_tunnel(server).abort(far, Abort::Refused);
    pair.server_tunnel(server).release(far);
    let mut why = None;
    pair.until(|pair| {
        for event in events(pair.client_tunnel(client)) {
            if let Event::Aborted { why: code, .. } = event {
                why = Some(code);
            }
        }
        why.is_some()
    });
    assert_eq!(why, Some(Abort::Refused));
    assert_eq!(pair.client_tunnel(client).send(conduit, b"more"), Err(SendError::Closed));
}

#[test]
fn takes_no_more_than_the_limit_while_the_reader_waits() {
    let limits = Limits { stream_bytes: 500_000, buffer_bytes: 2_000_000, ..Limits::default() };
    let (mut pair, (client, conduit), (server, far)) = connected(Setup { limits, ..Setup::default() });
    let bytes = pattern(5_000_000);
    let (mut sent, mut received) = (0, Vec::new());
    pair.until(|pair| {
        sent += send_all(pair.client_tunnel(client), conduit, &bytes[sent..]);
        take(pair.server_tunnel(server), far, &mut received);
        received.len() >= 2_000_000 // its window is at its largest
    });
    let end = pair.now + Duration::from_secs(20);
    pair.until(|pair| {
        sent += send_all(pair.client_tunnel(client), conduit, &bytes[sent..]);
        pair.now >= end
    });
    let ahead = sent - received.len();
    assert!(ahead <= 500_000, "{ahead} bytes taken for a reader that takes none");
    assert!(ahead >= 300_000, "{ahead}");
    pair.until(|pair| {
        sent += send_all(pair.client_tunnel(client), conduit, &bytes[sent..]);
        take(pair.server_tunnel(server), far, &mut received);
        received.len() == bytes.len()
    });
    assert!(received == bytes);
}

#[test]
fn destinations_off_the_list_are_refused_and_never_connected() {
    let mut allowed = anywhere();
    allowed.ports = (80, 80);
    let mut pair = Pair::new(Setup { allow: vec![allowed], ..Setup::default() });
    let (client, server) = pair.established();
    let conduit = pair.client_tunnel(client).open(opening()).expect("open");
    let mut why = None;
    pair.until(|pair| {
        assert!(
            !events(pair.server_tunnel(server)).iter().any(|event| matches!(event, Event::Opened { .. }))
        );
        for event in events(pair.client_tunnel(client)) {
            if let Event::Aborted { conduit: seen, why: code } = event {
                assert_eq!(seen, conduit);
                why = Some(code);
            }
        }
        why.is_some()
    });
    assert_eq!(why, Some(Abort::NotAllowed));
    assert_eq!(pair.server_tunnel(server).conduits(), 0);
}

#[test]
fn a_client_waits_for_room_instead_of_being_refused() {
    let limits = Limits { max_connections: 3, ..Limits::default() };
    let mut pair = Pair::new(Setup { limits, ..Setup::default() });
    let (client, _) = pair.established();
    let open: Vec<_> = (0..5).map(|_| pair.client_tunnel(client).open(opening())).collect();
    assert_eq!(open.iter().flatten().count(), 3);
}

#[test]
fn more_conduits_than_allowed_are_refused() {
    let mut pair = Pair::new(Setup::default());
    let (client, server) = pair.established();
    pair.allow_conduits(3); // by a reload: QUIC has allowed more when the tunnel began
    let conduits: Vec<_> =
        (0..5).map(|_| pair.client_tunnel(client).open(opening()).expect("open")).collect();
    let (mut connected, mut refused) = (0, Vec::new());
    pair.until(|pair| {
        for event in events(pair.server_tunnel(server)) {
            connected += u32::from(matches!(event, Event::Opened { .. }));
        }
        for event in events(pair.client_tunnel(client)) {
            if let Event::Aborted { conduit, why } = event {
                refused.push((conduit, why));
            }
        }
        refused.len() == 2
    });
    refused.sort_unstable_by_key(|(conduit, _)| *conduit);
    assert_eq!(refused, [(conduits[3], Abort::TooMany), (conduits[4], Abort::TooMany)]);
    assert_eq!((connected, pair.server_tunnel(server).conduits()), (3, 3));
    assert_eq!(pair.server_tunnel(server).take_refusals(), [Abort::TooMany; 2]);
}

#[test]
fn an_outage_loses_nothing() {
    for outage_s in [1, 10, 60] {
        let (mut pair, (client, conduit), (server, far)) = connected(Setup::default());
        let bytes = pattern(20_000_000);
        let (mut sent, mut received) = (0, Vec::new());
        let turn = |pair: &mut Pair, sent: &mut usize, received: &mut Vec<u8>| {
            *sent += send_all(pair.client_tunnel(client), conduit, &bytes[*sent..]);
            take(pair.server_tunnel(server), far, received);
        };
        pair.until(|pair| {
            turn(pair, &mut sent, &mut received);
            received.len() > 5_000_000
        });
        (pair.up.is_down, pair.down.is_down) = (true, true);
        let end = pair.now + Duration::from_secs(outage_s);
        pair.until(|pair| {
            turn(pair, &mut sent, &mut received);
            pair.now >= end
        });
        (pair.up.is_down, pair.down.is_down) = (false, false);
        let back = pair.now;
        let before = received.len();
        pair.until(|pair| {
            turn(pair, &mut sent, &mut received);
            received.len() > before
        });
        let pause = pair.now - back;
        assert!(pause < Duration::from_secs(4), "{pause:?} until it went on after {outage_s} s");
        pair.until(|pair| {
            turn(pair, &mut sent, &mut received);
            received.len() == bytes.len()
        });
        assert!(received == bytes);
    }
}

#[test]
fn a_peer_that_dies_ends_the_tunnel() {
    let limits = Limits { idle_timeout: Duration::from_secs(30), ..Limits::default() };
    let (mut pair, (client, conduit), (server, far)) = connected(Setup { limits, ..Setup::default() });
    let bytes = pattern(200_000);
    assert_eq!(send_all(pair.server_tunnel(server), far, &bytes), bytes.len());
    pair.server_tunnel(server).finish(far);
    let mut received = Vec::new();
    pair.until(|pair| {
        assert!(!take(pair.client_tunnel(client), conduit, &mut received), "the end is still under way");
        !received.is_empty()
    });
    (pair.up.is_down, pair.down.is_down) = (true, true);
    let died = pair.now;
    pair.until(|pair| events(pair.client_tunnel(client)).iter().any(|event| matches!(event, Event::Lost(_))));
    let silence = pair.now - died;
    assert!(silence >= Duration::from_secs(29) && silence < Duration::from_secs(35), "{silence:?}");
    // What has been under way when the path died may have come, its end has not.
    assert!(received.len() < bytes.len(), "{}", received.len());
    assert!(matches!(pair.client_tunnel(client).front(conduit), Front::Aborted), "no end where none was");
}

#[test]
fn an_end_that_nobody_has_seen_is_none_when_the_tunnel_is_lost() {
    let limits = Limits { idle_timeout: Duration::from_secs(30), ..Limits::default() };
    let (mut pair, (client, conduit), (server, far)) = connected(Setup { limits, ..Setup::default() });
    assert_eq!(send_all(pair.server_tunnel(server), far, b"all"), 3);
    pair.server_tunnel(server).finish(far);
    pair.pass(Duration::from_secs(1)); // all is there, and the driver has not taken it
    (pair.up.is_down, pair.down.is_down) = (true, true);
    pair.until(|pair| events(pair.client_tunnel(client)).iter().any(|event| matches!(event, Event::Lost(_))));
    assert!(matches!(pair.client_tunnel(client).front(conduit), Front::Aborted));
}

#[test]
fn a_peer_that_moves_is_followed() {
    let (mut pair, (client, conduit), (server, far)) = connected(Setup::default());
    let bytes = pattern(5_000_000);
    let (mut sent, mut received) = (0, Vec::new());
    pair.until(|pair| {
        sent += send_all(pair.client_tunnel(client), conduit, &bytes[sent..]);
        take(pair.server_tunnel(server), far, &mut received);
        if received.len() > 1_000_000 {
            pair.client_address = address("10.0.7.1:3000");
        }
        received.len() == bytes.len()
    });
    assert!(received == bytes);
    assert_eq!(pair.server_tunnel(server).remote(), Some(address("10.0.7.1:3000")));
}

#[test]
fn conduits_that_are_over_leave_nothing_committed() {
    let (mut pair, (client, conduit), (server, far)) = connected(Setup::default());
    let ended = pair.client_tunnel(client).open(opening()).expect("open");
    let far_of_ended = opened(&mut pair, server);
    for (near, far) in [(conduit, far), (ended, far_of_ended)] {
        assert_eq!(send_all(pair.client_tunnel(client), near, &pattern(100_000)), 100_000);
        assert_eq!(send_all(pair.server_tunnel(server), far, &pattern(50_000)), 50_000);
    }
    // One ends properly, its bytes all taken; of the other one some were taken and most still wait.
    let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
    let (mut is_asked, mut is_answered) = (false, false);
    pair.client_tunnel(client).finish(ended);
    pair.server_tunnel(server).finish(far_of_ended);
    pair.until(|pair| {
        is_asked |= take(pair.server_tunnel(server), far_of_ended, &mut at_server);
        is_answered |= take(pair.client_tunnel(client), ended, &mut at_client);
        is_asked && is_answered
    });
    assert_eq!((at_server.len(), at_client.len()), (100_000, 50_000));
    pair.client_tunnel(client).release(ended);
    pair.server_tunnel(server).release(far_of_ended);
    pair.server_tunnel(server).consume(far, 10_000);
    assert!(pair.server_tunnel(server).committed_bytes() >= 90_000);
    pair.client_tunnel(client).abort(conduit, Abort::Reset);
    pair.client_tunnel(client).release(conduit);
    pair.until(|pair| {
        events(pair.server_tunnel(server)).iter().any(|event| matches!(event, Event::Aborted { .. }))
    });
    pair.server_tunnel(server).release(far);
    assert_eq!(pair.server_tunnel(server).committed_bytes(), 0);
    assert_eq!(pair.client_tunnel(client).committed_bytes(), 0);
    assert_eq!((pair.client_tunnel(client).conduits(), pair.server_tunnel(server).conduits()), (0, 0));
}

#[test]
fn a_newcomer_gets_nothing_of_a_tunnel_that_is_over() {
    let limits = Limits { idle_timeout: Duration::from_secs(5), ..Limits::default() };
    let (mut pair, _, (old, far)) = connected(Setup { limits, ..Setup::default() });
    (pair.up.is_down, pair.down.is_down) = (true, true);
    pair.pass(Duration::from_secs(10)); // over, and the driver has not asked for its events
    (pair.up.is_down, pair.down.is_down) = (false, false);
    pair.connect();
    pair.until(|pair| pair.server_id() != Some(old));
    assert_eq!(pair.server_id().map(|id| pair.server_tunnel(id).conduits()), Some(0));
    assert!(events(pair.server_tunnel(old)).iter().any(|event| matches!(event, Event::Lost(_))));
    assert!(!matches!(pair.server_tunnel(old).front(far), Front::Finished));
    assert!(pair.server.forget_drained(old));
}

#[test]
fn nothing_is_connected_for_a_tunnel_that_is_over() {
    let mut pair = Pair::new(Setup::default());
    let (client, server) = pair.established();
    pair.client_tunnel(client).open(opening()).expect("open");
    pair.step();
    let now = pair.now;
    pair.client_tunnel(client).close(now, "test");
    pair.pass(Duration::from_millis(30)); // both are there, and the driver has not asked for the events in between
    let seen = events(pair.server_tunnel(server));
    assert!(seen.iter().any(|event| matches!(event, Event::Lost(_))), "{seen:?}");
    assert!(!seen.iter().any(|event| matches!(event, Event::Opened { .. })), "{seen:?}");
}
