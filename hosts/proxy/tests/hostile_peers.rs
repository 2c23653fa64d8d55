// SPDX-License-Identifier: Apache-2.0
//! Peers that have a good certificate and do in their tunnel what no peer of ours does. What they began ends, what they
//! took is given back, and an honest client beside them notices nothing.

mod pair;

use std::time::Duration;

use clarion_proxy::config::{Destination, Limits};
use clarion_proxy::tunnel::{Abort, Event, Front, Opening, SendError, TunnelId};
use noq_proto::{ConnectionError, Dir, StreamId, VarInt};
use pair::honest::Honest;
use pair::stranger::Stranger;
use pair::{Pair, Setup, address, anywhere, events, opening};

/// What may be sent ahead before any credit was given (credit.rs).
const INITIAL_BYTES: usize = 256 << 10;

/// A stranger in its tunnel, an honest client in another one, and the server of both.
struct Siege {
    pair: Pair,
    honest: Honest,
    stranger: Stranger,
    /// The server's, to the stranger.
    tunnel: TunnelId,
}

impl Siege {
    fn new(setup: Setup) -> Self {
        let mut pair = Pair::new(setup);
        let honest = Honest::join(&mut pair);
        let (stranger, tunnel) = Stranger::admitted(&mut pair, "10.6.6.6:6666");
        Self { pair, honest, stranger, tunnel }
    }

    fn until(&mut self, mut holds: impl FnMut(&mut Stranger, &mut Pair) -> bool) {
        self.stranger.until(&mut self.pair, |stranger, pair| holds(stranger, pair));
    }

    /// Goes on until the server has given up a stream for that reason.
    fn until_stopped(&mut self, stream: StreamId, why: Abort) {
        self.until(|stranger, _| stranger.was_stopped(stream, why));
    }

    /// What the server's tunnel to the stranger has to say.
    fn events(&mut self) -> Vec<Event> {
        events(self.pair.server_tunnel(self.tunnel))
    }

    /// Goes on until the server has been asked to connect something; its conduit.
    fn until_opened(&mut self) -> usize {
        let (tunnel, mut found) = (self.tunnel, None);
        self.until(|_, pair| {
            for event in events(pair.server_tunnel(tunnel)) {
                if let Event::Opened { conduit, .. } = event {
                    found = Some(conduit);
                }
            }
            found.is_some()
        });
        found.expect("conduit")
    }

    /// Goes on until the server has ended the tunnel, or the stranger has.
    fn until_lost(&mut self) -> ConnectionError {
        let (tunnel, mut why) = (self.tunnel, None);
        self.until(|_, pair| {
            for event in events(pair.server_tunnel(tunnel)) {
                if let Event::Lost(reason) = event {
                    why = Some(reason);
                }
            }
            why.is_some()
        });
        why.expect("reason")
    }

    /// Nothing is left of what the stranger did, nothing was connected for it, and the honest client is served.
    fn assert_over(mut self, refusals: &[Abort]) {
        assert!(!self.events().iter().any(|event| matches!(event, Event::Opened { .. })));
        self.assert_nothing_left(refusals);
    }

    fn assert_nothing_left(&mut self, refusals: &[Abort]) {
        let tunnel = self.pair.server_tunnel(self.tunnel);
        assert_eq!((tunnel.conduits(), tunnel.committed_bytes()), (0, 0));
        assert_eq!(tunnel.take_refusals(), refusals);
        self.honest.assert_unharmed(&mut self.pair);
    }
}

fn opening_to(destination: &str) -> Vec<u8> {
    Opening { destination: address(destination), source: address("10.0.0.9:40000") }.encode()
}

/// A word of credit (credit.rs).
fn word(stream: StreamId, limit: u64) -> Vec<u8> {
    [VarInt::from(stream).into_inner().to_be_bytes(), limit.to_be_bytes()].concat()
}

// --- openings ---

#[test]
fn openings_of_another_version_or_family_are_malformed() {
    for first_bytes in [[0, 4], [2, 4], [255, 255], [1, 0], [1, 5], [1, 255]] {
        let mut siege = Siege::new(Setup::default());
        let mut bytes = opening().encode();
        bytes[..2].copy_from_slice(&first_bytes);
        let stream = siege.stranger.send(Dir::Bi, &bytes);
        siege.until_stopped(stream, Abort::Malformed);
        siege.assert_over(&[Abort::Malformed]);
    }
}

#[test]
fn openings_that_end_inside_are_malformed() {
    for whole in [opening_to("192.0.2.1:21"), opening_to("[2001:db8::1]:21")] {
        for length in 0..whole.len() {
            let mut siege = Siege::new(Setup::default());
            let stream = siege.stranger.send(Dir::Bi, &whole[..length]);
            siege.stranger.finish(stream);
            siege.until_stopped(stream, Abort::Malformed);
            siege.assert_over(&[Abort::Malformed]);
        }
    }
}

#[test]
fn openings_that_are_taken_back_leave_nothing() {
    let mut siege = Siege::new(Setup::default());
    for length in 0..opening().encode().len() {
        let stream = siege.stranger.send(Dir::Bi, &opening().encode()[..length]);
        siege.stranger.exchange(&mut siege.pair);
        siege.stranger.connection.send_stream(stream).reset(VarInt::from_u32(999)).expect("reset");
        siege.stranger.exchange(&mut siege.pair);
    }
    siege.assert_over(&[]);
}

#[test]
fn openings_whose_answer_is_not_wanted_leave_nothing() {
    let mut siege = Siege::new(Setup::default());
    for length in 0..opening().encode().len() {
        let stream = siege.stranger.send(Dir::Bi, &opening().encode()[..length]);
        siege.stranger.connection.recv_stream(stream).stop(VarInt::from_u32(999)).expect("stop");
        siege.stranger.exchange(&mut siege.pair);
    }
    siege.assert_over(&[]);
}

#[test]
fn openings_that_never_become_whole_hold_what_is_allowed_and_no_more() {
    let limits = Limits { max_connections: 100, ..Limits::default() };
    let mut siege = Siege::new(Setup { limits, ..Setup::default() });
    while siege
        .stranger
        .connection
        .streams()
        .open(Dir::Bi)
        .map(|stream| siege.stranger.write(stream, &[1]))
        .is_some()
    {
        siege.stranger.exchange(&mut siege.pair);
    }
    assert_eq!(siege.pair.server_tunnel(siege.tunnel).conduits(), 100);
    siege.honest.assert_unharmed(&mut siege.pair);
    siege.stranger.connection.close(siege.pair.now, VarInt::from_u32(0), b"".as_slice().into());
    siege.until_lost();
    let tunnel = siege.tunnel;
    siege.until(|_, pair| pair.server.forget_drained(tunnel));
}

#[test]
fn destinations_are_taken_for_what_they_are() {
    let only: Destination = "192.0.2.0/24:21".parse().expect("destination");
    let ipv6: Destination = "[::]/0:*".parse().expect("destination");
    for destination in [
        "192.0.2.1:22",
        "192.0.3.1:21",
        "127.0.0.1:21",
        "0.0.0.0:21",
        "255.255.255.255:21",
        "[::ffff:127.0.0.1]:21", // RFC 4291, 2.5.5.2: IPv4 in spite of its looks
        "[::ffff:192.0.3.1]:21",
        "192.0.2.1:0",
        "[2001:db8::1]:0",
    ] {
        let mut siege = Siege::new(Setup { allow: vec![only, ipv6], ..Setup::default() });
        // As it is, without the help of `Opening`.
        let stream = siege.stranger.send(Dir::Bi, &raw_opening(destination));
        siege.until_stopped(stream, Abort::NotAllowed);
        siege.assert_over(&[Abort::NotAllowed]);
    }
}

fn raw_opening(destination: &str) -> Vec<u8> {
    let destination = address(destination);
    let ip = match destination.ip() {
        std::net::IpAddr::V4(ip) => ip.octets().to_vec(),
        std::net::IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let family = if ip.len() == 4 { 4 } else { 6 };
    let source = [vec![1; ip.len()], vec![0, 1]].concat();
    [vec![1, family], ip, destination.port().to_be_bytes().to_vec(), source].concat()
}

#[test]
fn conduits_that_are_opened_and_reset_at_once_leave_nothing() {
    let mut siege =
        Siege::new(Setup { limits: Limits { max_connections: 64, ..Limits::default() }, ..Setup::default() });
    for _ in 0..20_000 {
        let stream = siege.stranger.send(Dir::Bi, &opening().encode());
        siege.stranger.connection.send_stream(stream).reset(VarInt::from_u32(0)).expect("reset");
        siege.stranger.connection.recv_stream(stream).stop(VarInt::from_u32(0)).expect("stop");
        siege.stranger.exchange(&mut siege.pair);
    }
    siege.assert_over(&[]);
}

// --- bytes ---

/// Of a tunnel that gives no credit beyond the first to whom has not read.
fn close_quarters() -> Limits {
    let buffer_bytes = 2 * INITIAL_BYTES as u64;
    Limits { buffer_bytes, stream_bytes: buffer_bytes, ..Limits::default() }
}

#[test]
fn bytes_beyond_the_credit_are_malformed() {
    let mut siege = Siege::new(Setup { limits: close_quarters(), ..Setup::default() });
    let stream = siege.stranger.send(Dir::Bi, &opening().encode());
    let conduit = siege.until_opened();
    let more = vec![7; INITIAL_BYTES - opening().encode().len()];
    siege.stranger.write(stream, &more);
    siege.stranger.exchange(&mut siege.pair);
    assert!(
        matches!(siege.pair.server_tunnel(siege.tunnel).front(conduit), Front::Bytes(_)),
        "all is allowed"
    );
    siege.stranger.write(stream, b"7");
    siege.until_stopped(stream, Abort::Malformed);
    assert!(siege.events().iter().any(|event| matches!(event, Event::Aborted { why: Abort::Malformed, .. })));
    siege.pair.server_tunnel(siege.tunnel).release(conduit);
    siege.assert_over(&[]);
}

#[test]
fn crumbs_behind_a_gap_are_malformed() {
    let limits = Limits { stream_bytes: 200_000, ..Limits::default() };
    let mut siege = Siege::new(Setup { limits, ..Setup::default() });
    let stream = siege.stranger.send(Dir::Bi, &opening().encode());
    let conduit = siege.until_opened();
    (siege.stranger.is_deaf, siege.stranger.loses) = (true, 1); // and what is lost is never sent again
    for _ in 0..2_000 {
        siege.stranger.write(stream, b"7");
        siege.stranger.exchange(&mut siege.pair);
    }
    assert!(siege.events().iter().any(|event| matches!(event, Event::Aborted { why: Abort::Malformed, .. })));
    siege.pair.server_tunnel(siege.tunnel).release(conduit);
    siege.assert_over(&[]);
}

#[test]
fn a_reset_behind_the_end_is_no_end() {
    let mut siege = Siege::new(Setup::default());
    let stream = siege.stranger.send(Dir::Bi, &opening().encode());
    let conduit = siege.until_opened();
    siege.stranger.write(stream, b"bytes that get lost");
    siege.stranger.finish(stream);
    let _lost = siege.stranger.datagrams(&siege.pair);
    siege.stranger.connection.send_stream(stream).reset(VarInt::from_u32(1)).expect("reset");
    let tunnel = siege.tunnel;
    siege.until(|_, pair| {
        let tunnel = pair.server_tunnel(tunnel);
        assert!(!matches!(tunnel.front(conduit), Front::Finished));
        events(tunnel).iter().any(|event| matches!(event, Event::Aborted { why: Abort::Reset, .. }))
    });
    siege.pair.server_tunnel(siege.tunnel).release(conduit);
    siege.assert_over(&[]);
}

#[test]
fn a_peer_that_acknowledges_nothing_is_given_up() {
    let limits = Limits { idle_timeout: Duration::from_secs(30), ..Limits::default() };
    let mut siege = Siege::new(Setup { limits, ..Setup::default() });
    let stream = siege.stranger.send(Dir::Bi, &opening().encode());
    let conduit = siege.until_opened();
    siege.stranger.send(Dir::Uni, &word(stream, u64::MAX));
    siege.stranger.exchange(&mut siege.pair);
    siege.stranger.is_deaf = true;
    let tunnel = siege.pair.server_tunnel(siege.tunnel);
    let mut sent_bytes = 0;
    while let Ok(taken) = tunnel.send(conduit, &[7; 1 << 16]) {
        sent_bytes += taken as u64;
        assert!(sent_bytes <= limits.buffer_bytes, "no more is held than the limits say");
    }
    let why = siege.until_lost();
    assert!(matches!(why, ConnectionError::TimedOut), "{why}");
    siege.honest.assert_unharmed(&mut siege.pair);
}

// --- words of credit ---

#[test]
fn credit_without_end_is_taken_and_less_than_before_is_not() {
    let mut siege = Siege::new(Setup { limits: close_quarters(), ..Setup::default() });
    let stream = siege.stranger.send(Dir::Bi, &opening().encode());
    let conduit = siege.until_opened();
    let words = siege.stranger.send(Dir::Uni, &word(stream, u64::MAX));
    siege.stranger.write(words, &word(stream, 0));
    siege.stranger.exchange(&mut siege.pair);
    let tunnel = siege.pair.server_tunnel(siege.tunnel);
    let mut sent_bytes = 0;
    let end = loop {
        match tunnel.send(conduit, &[7; 1 << 16]) {
            Ok(taken) => sent_bytes += taken as u64,
            Err(end) => break end,
        }
    };
    assert_eq!((end, sent_bytes), (SendError::Blocked, close_quarters().buffer_bytes));
    siege.pair.server_tunnel(siege.tunnel).release(conduit);
    siege.assert_over(&[]);
}

#[test]
fn credit_for_what_is_not_there_is_ignored() {
    let mut siege = Siege::new(Setup::default());
    let words = siege.stranger.send(Dir::Uni, &[0xff; 16]);
    for number in 0..100_000u64 {
        let stream = [number.to_be_bytes(), u64::MAX.to_be_bytes()].concat();
        siege.stranger.write(words, &stream);
        siege.stranger.exchange(&mut siege.pair);
    }
    siege.assert_over(&[]);
}

#[test]
fn words_behind_a_gap_without_end_end_the_tunnel() {
    let mut siege = Siege::new(Setup::default());
    (siege.stranger.is_deaf, siege.stranger.loses) = (true, 1); // what is lost is never sent again
    let words = siege.stranger.send(Dir::Uni, &[0; 16]);
    siege.stranger.exchange(&mut siege.pair);
    siege.stranger.write(words, &vec![0; 2 << 20]);
    let why = siege.until_lost();
    assert_eq!(why, ConnectionError::LocallyClosed);
    siege.honest.assert_unharmed(&mut siege.pair);
}

#[test]
fn words_that_end_end_the_tunnel() {
    for is_reset in [false, true] {
        let mut siege = Siege::new(Setup::default());
        let words = siege.stranger.send(Dir::Uni, &[0; 7]); // within a word
        siege.stranger.exchange(&mut siege.pair);
        if is_reset {
            siege.stranger.connection.send_stream(words).reset(VarInt::from_u32(1)).expect("reset");
        } else {
            siege.stranger.finish(words);
        }
        assert_eq!(siege.until_lost(), ConnectionError::LocallyClosed);
        siege.honest.assert_unharmed(&mut siege.pair);
    }
}

#[test]
fn words_that_nobody_wants_to_hear_end_the_tunnel() {
    let mut siege = Siege::new(Setup::default());
    let stream = siege.stranger.send(Dir::Bi, &opening().encode());
    let conduit = siege.until_opened();
    siege.stranger.write(stream, &[7; 200_000]);
    siege.stranger.exchange(&mut siege.pair);
    siege.pair.server_tunnel(siege.tunnel).consume(conduit, 200_000); // which gives credit
    siege.stranger.exchange(&mut siege.pair);
    let words = siege.stranger.connection.streams().accept(Dir::Uni).expect("words of the server");
    siege.stranger.connection.recv_stream(words).stop(VarInt::from_u32(1)).expect("stop");
    assert_eq!(siege.until_lost(), ConnectionError::LocallyClosed);
    siege.honest.assert_unharmed(&mut siege.pair);
}

// --- servers ---

#[test]
fn a_server_opens_nothing_at_a_client() {
    let mut pair = Pair::new(Setup { allow: vec![anywhere()], ..Setup::default() });
    let (client, server) = pair.established();
    for _ in 0..100 {
        let conduit = pair.server_tunnel(server).open(opening()).expect("open");
        let mut why = None;
        pair.until(|pair| {
            assert!(
                !events(pair.client_tunnel(client)).iter().any(|event| matches!(event, Event::Opened { .. }))
            );
            for event in events(pair.server_tunnel(server)) {
                if let Event::Aborted { why: code, .. } = event {
                    why = Some(code);
                }
            }
            why.is_some()
        });
        assert_eq!(why, Some(Abort::Malformed));
        pair.server_tunnel(server).release(conduit);
    }
    assert_eq!((pair.client_tunnel(client).conduits(), pair.client_tunnel(client).committed_bytes()), (0, 0));
}
