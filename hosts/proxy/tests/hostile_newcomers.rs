// SPDX-License-Identifier: Apache-2.0
//! What comes to a server's port from those who have proven nothing, and to tunnels from those who are not their peer.
//! Nothing is connected for them, they are answered with no more than QUIC allows, and an honest client notices nothing.

mod pair;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::time::Duration;

use clarion_proxy::tunnel::Event;
use noq_proto::{ConnectionError, Dir};
use pair::certificates::{self, Proof};
use pair::honest::Honest;
use pair::stranger::Stranger;
use pair::{CLIENT, Chance, Pair, Setup, address, events, opening};

/// Handshakes at once without, and with, a proof of the address (node.rs).
const UNPROVEN_MAX: usize = 16;
const HANDSHAKES_MAX: usize = 256;
/// Of a datagram that begins a connection, at least (RFC 9000, 14.1).
const INITIAL_BYTES: usize = 1200;
/// QUIC version 1.
const VERSION: [u8; 4] = [0, 0, 0, 1];

fn besieged() -> (Pair, Honest) {
    let mut pair = Pair::new(Setup::default());
    let honest = Honest::join(&mut pair);
    (pair, honest)
}

fn spoofed(number: usize) -> SocketAddr {
    ([10, 66, (number >> 8) as u8, number as u8], 4000).into()
}

fn random(chance: &mut Chance, length: usize) -> Vec<u8> {
    (0..length).map(|_| (chance.next() * 256.0) as u8).collect()
}

/// Bytes that were sent to others than the client since the last call.
fn answered_bytes(pair: &mut Pair) -> usize {
    pair.flush();
    std::mem::take(&mut pair.elsewhere).iter().map(|(_, contents)| contents.len()).sum()
}

/// The first flight of a client.
fn first_flight(pair: &Pair, number: usize) -> Vec<Vec<u8>> {
    Stranger::new(pair, &spoofed(number).to_string()).datagrams(pair)
}

// --- datagrams that are none ---

#[test]
fn random_datagrams_are_never_answered_with_more() {
    let (mut pair, honest) = besieged();
    let mut chance = Chance::new(7);
    for number in 0..20_000 {
        let length = (chance.next() * 1500.0) as usize;
        let contents = random(&mut chance, length);
        pair.replay_from(spoofed(number), contents);
        assert!(answered_bytes(&mut pair) <= length, "datagram {number} of {length} bytes");
    }
    assert_eq!(pair.server.ids().len(), 1);
    honest.assert_unharmed(&mut pair);
}

#[test]
fn other_versions_are_told_which_there_are_if_they_ask_with_enough() {
    let (mut pair, honest) = besieged();
    let with = |length: usize, version: [u8; 4]| {
        let mut contents = [&[0xc0][..], &version, &[8], &[1; 8], &[8], &[2; 8]].concat();
        contents.resize(length.max(contents.len()), 0);
        contents
    };
    for version in [[0, 0, 0, 2], [0x6b, 0x33, 0x43, 0xcf], [0xfa; 4]] {
        for length in [0, 30, 100, INITIAL_BYTES - 1] {
            pair.replay_from(spoofed(1), with(length, version));
            assert_eq!(answered_bytes(&mut pair), 0, "{length} bytes (RFC 9000, 5.2.2)");
        }
        pair.replay_from(spoofed(1), with(INITIAL_BYTES, version));
        let [(_, answer)] = &std::mem::take(&mut pair.elsewhere)[..] else { panic!("one answer") };
        assert_eq!(answer[1..5], [0; 4], "version negotiation");
        assert!(answer[23..].chunks(4).any(|each| each == VERSION), "{answer:?}");
    }
    assert_eq!(pair.server.ids().len(), 1);
    honest.assert_unharmed(&mut pair);
}

#[test]
fn initials_that_are_cut_off_begin_nothing() {
    let (mut pair, honest) = besieged();
    let whole = first_flight(&pair, 1).concat();
    for length in 0..INITIAL_BYTES {
        pair.replay_from(spoofed(1), whole[..length].to_vec());
        assert_eq!(answered_bytes(&mut pair), 0, "{length} bytes");
        // And the same with as many bytes as there should be, the first of them another than was cut off.
        let mut padded = whole[..length].to_vec();
        padded.resize(INITIAL_BYTES, !whole[length]);
        pair.replay_from(spoofed(1), padded);
        assert!(answered_bytes(&mut pair) <= INITIAL_BYTES, "{length} bytes");
    }
    assert_eq!(pair.server.ids().len(), 1);
    honest.assert_unharmed(&mut pair);
}

#[test]
fn initials_that_were_changed_begin_nothing() {
    let (mut pair, honest) = besieged();
    let whole = first_flight(&pair, 1).remove(0);
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x10;
        pair.replay_from(spoofed(1), changed);
        assert!(answered_bytes(&mut pair) <= 3 * whole.len(), "byte {at}");
    }
    assert_eq!(pair.server.ids().len(), 1);
    honest.assert_unharmed(&mut pair);
}

// --- floods ---

#[test]
fn an_address_that_never_answers_gets_three_times_what_it_sent() {
    let (mut pair, honest) = besieged();
    let sent: Vec<Vec<u8>> = first_flight(&pair, 1);
    let sent_bytes: usize = sent.iter().map(Vec::len).sum();
    for contents in sent {
        pair.replay_from(spoofed(1), contents);
    }
    assert_eq!(pair.server.ids().len(), 2);
    pair.pass(Duration::from_secs(60)); // with all its repetitions
    let bytes = answered_bytes(&mut pair);
    assert!(bytes > 0 && bytes <= 3 * sent_bytes, "{bytes} for {sent_bytes} (RFC 9000, 8.1)");
    honest.assert_unharmed(&mut pair);
}

#[test]
fn a_flood_from_addresses_that_are_not_theirs_keeps_nobody_out() {
    let (mut pair, honest) = besieged();
    for number in 0..2_000 {
        for contents in first_flight(&pair, number) {
            let length = contents.len();
            pair.replay_from(spoofed(number), contents);
            assert!(answered_bytes(&mut pair) <= 3 * length);
        }
    }
    assert!(pair.server.ids().len() <= 1 + UNPROVEN_MAX, "{}", pair.server.ids().len());
    assert_eq!(pair.server.refused(), 0);
    let (_, tunnel) = Stranger::admitted(&mut pair, "10.0.0.3:3000"); // which proves its address
    assert!(pair.server_tunnel(tunnel).is_up());
    honest.assert_unharmed(&mut pair);
}

#[test]
fn newcomers_of_one_batch_are_counted_before_they_are_let_in() {
    let (mut pair, honest) = besieged();
    pair.accepts = false; // not yet
    for number in 0..100 {
        first_flight(&pair, number).into_iter().for_each(|each| pair.replay_from(spoofed(number), each));
    }
    assert_eq!(pair.elsewhere.len(), 100 - UNPROVEN_MAX, "all others have to prove their addresses");
    honest.assert_unharmed(&mut pair);
}

#[test]
fn a_flood_of_handshakes_that_stop_half_way_is_bounded() {
    let (mut pair, honest) = besieged();
    for number in 0..2 * HANDSHAKES_MAX {
        Stranger::new(&pair, &spoofed(number).to_string()).stop_half_way(&mut pair);
    }
    assert_eq!(pair.server.ids().len(), 1 + HANDSHAKES_MAX);
    assert_eq!(pair.server.refused(), HANDSHAKES_MAX as u64);
    honest.assert_unharmed(&mut pair);
    // The driver gives each of them up after a while; then there is room again.
    let now = pair.now;
    for id in pair.server.ids() {
        let tunnel = pair.server_tunnel(id);
        if tunnel.unproven_since().is_some() {
            tunnel.close(now, "no answer");
        }
    }
    pair.pass(Duration::from_secs(60));
    for id in pair.server.ids() {
        pair.server.forget_drained(id);
    }
    assert_eq!(pair.server.ids().len(), 1);
    Stranger::admitted(&mut pair, "10.0.0.3:3000");
}

#[test]
fn a_proof_of_another_address_is_none() {
    let (mut pair, honest) = besieged();
    for number in 0..UNPROVEN_MAX {
        first_flight(&pair, number).into_iter().for_each(|each| pair.replay_from(spoofed(number), each));
    }
    let before = pair.server.ids().len();
    let mut owner = Stranger::new(&pair, "10.0.0.3:3000");
    let with_token = owner.second_flight(&mut pair);
    for contents in with_token {
        pair.replay_from(address("10.6.6.6:6666"), contents);
    }
    assert_eq!(pair.server.ids().len(), before, "not let in");
    honest.assert_unharmed(&mut pair);
}

// --- proofs that are none ---

#[test]
fn who_has_no_good_certificate_gets_nothing() {
    let (mut pair, _) = besieged();
    let mut good = Stranger::with(&pair, "10.0.0.3:3000", certificates::client_with(Proof::Good));
    good.until(&mut pair, |good, pair| good.tunnel(pair).is_some_and(|id| pair.server_tunnel(id).is_up()));

    for proof in [
        Proof::Nothing,
        Proof::Foreign,
        Proof::Expired,
        Proof::NotYetValid,
        Proof::OfNoAuthority,
        Proof::OfAnotherUse,
    ] {
        let (pair, honest) = besieged();
        let tls = certificates::client_with(proof);
        assert_never_up(pair, &honest, tls, &format!("{proof:?}"));
    }
}

#[test]
fn who_speaks_another_protocol_gets_nothing() {
    for alpn in [&b"h3"[..], b"clarion-proxy/2", b"clarion-proxy/"] {
        let (pair, honest) = besieged();
        let tls = certificates::client_of(alpn);
        assert_never_up(pair, &honest, tls, &String::from_utf8_lossy(alpn));
    }
}

/// The handshake fails at both ends, and what was sent at once behind it opens nothing.
fn assert_never_up(mut pair: Pair, honest: &Honest, tls: std::sync::Arc<rustls::ClientConfig>, what: &str) {
    let mut stranger = Stranger::with(&pair, "10.6.6.6:6666", tls);
    let (mut has_sent, mut server_saw) = (false, Vec::new());
    stranger.until(&mut pair, |stranger, pair| {
        if !has_sent
            && stranger
                .connection
                .streams()
                .open(Dir::Bi)
                .map(|id| stranger.write(id, &opening().encode()))
                .is_some()
        {
            has_sent = true;
        }
        for id in pair.server.ids().into_iter().filter(|&id| id != honest.server) {
            server_saw.extend(events(pair.server_tunnel(id)));
        }
        stranger.lost.is_some()
    });
    assert!(
        matches!(stranger.lost, Some(ConnectionError::ConnectionClosed(_))),
        "{what}: {:?}",
        stranger.lost
    );
    assert!(
        !server_saw.iter().any(|event| matches!(event, Event::Connected | Event::Opened { .. })),
        "{what}: {server_saw:?}"
    );
    honest.assert_unharmed(&mut pair);
}

// --- tunnels of others ---

#[test]
fn datagrams_made_up_for_somebody_elses_tunnel_are_dropped() {
    let (mut pair, honest) = besieged();
    pair.records = true;
    honest.assert_unharmed(&mut pair);
    let recorded = std::mem::take(&mut pair.datagrams_to_server);
    pair.records = false;
    let mut chance = Chance::new(9);
    for contents in recorded {
        for at in 1..contents.len().min(60) {
            let mut changed = contents.clone();
            changed[at] ^= 1 << (at % 8);
            pair.replay_from(address(CLIENT), changed);
        }
        // The identifier, and then anything: a stateless reset as far as it can be guessed (RFC 9000, 10.3).
        let guessed = [contents[..9].to_vec(), random(&mut chance, 40)].concat();
        pair.replay_from(address(CLIENT), guessed);
    }
    honest.assert_unharmed(&mut pair);
}

/// The identifier that a packet with long header comes from (RFC 9000, 17.2).
fn identifier(packet: &[u8]) -> &[u8] {
    let at = 6 + usize::from(packet[5]);
    &packet[at + 1..][..usize::from(packet[at])]
}

#[test]
fn what_strangers_are_told_tells_nothing_of_another_tunnel() {
    let (mut pair, honest) = besieged();
    pair.records = true;
    honest.assert_unharmed(&mut pair);
    let recorded = std::mem::take(&mut pair.datagrams_to_server);
    let begins: HashSet<&[u8]> = recorded.iter().map(|contents| &contents[1..9]).collect();
    let [begin] = begins.into_iter().collect::<Vec<_>>()[..] else { panic!("its identifiers begin alike") };
    for number in 0..2 * UNPROVEN_MAX {
        // Let in, or answered with a Retry.
        first_flight(&pair, number).into_iter().for_each(|each| pair.replay_from(spoofed(number), each));
    }
    let retries: HashSet<&[u8]> =
        pair.elsewhere.iter().map(|(_, contents)| identifier(contents)).map(|each| &each[..8]).collect();
    assert_eq!(retries.len(), UNPROVEN_MAX, "no two begin alike");
    pair.flush();
    assert!(pair.elsewhere.len() >= 2 * UNPROVEN_MAX);
    assert!(!pair.elsewhere.iter().any(|(_, contents)| contents.windows(8).any(|each| each == begin)));
}

#[test]
fn datagrams_that_are_repeated_from_elsewhere_move_nothing() {
    let (mut pair, honest) = besieged();
    pair.records = true;
    honest.assert_unharmed(&mut pair);
    pair.pass(Duration::from_secs(1)); // all of them have come
    pair.records = false;
    for contents in std::mem::take(&mut pair.datagrams_to_server) {
        pair.replay_from(address("10.6.6.6:6666"), contents);
    }
    assert_eq!(pair.server_tunnel(honest.server).remote(), Some(address(CLIENT)));
    honest.assert_unharmed(&mut pair);
}

#[test]
fn datagrams_that_overtake_themselves_from_elsewhere_move_nothing_for_good() {
    let (mut pair, honest) = besieged();
    pair.records = true;
    for _ in 0..20 {
        // RFC 9000, 9.3.3: copies come earlier, from an address that no host has.
        honest.begin(&mut pair);
        pair.flush();
        for contents in std::mem::take(&mut pair.datagrams_to_server) {
            pair.replay_from(address("10.6.6.6:6666"), contents);
        }
        honest.assert_unharmed(&mut pair);
    }
    assert_eq!(pair.server_tunnel(honest.server).remote(), Some(address(CLIENT)));
}

#[test]
fn a_client_whose_handshake_is_disturbed_goes_on() {
    let mut pair = Pair::new(Setup::default());
    let mut chance = Chance::new(11);
    let id = pair.connect();
    pair.until(|pair| {
        for length in [1, 25, 100, 1200] {
            pair.put(false, random(&mut chance, length));
        }
        // Version negotiation, Retry and Initial of an attacker who has not seen its identifiers.
        for (first, version) in [(0x80, [0; 4]), (0xf0, VERSION), (0xc0, VERSION)] {
            let header = [&[first][..], &version, &[8], &[1; 8], &[8], &[2; 8], &VERSION].concat();
            pair.put(false, [header, random(&mut chance, 1200)].concat());
        }
        pair::is_up(&mut pair.client, id)
    });
}
