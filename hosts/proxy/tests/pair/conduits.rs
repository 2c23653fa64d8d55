// SPDX-License-Identifier: Apache-2.0
//! What applications do at both ends of a pair.

use clarion_proxy::tunnel::{ConduitId, Event, Front, SendError, Tunnel, TunnelId};

use super::{Pair, Setup, events, opening};

/// Bytes that differ by their place.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (at.wrapping_mul(2_654_435_761) >> 16) as u8).collect()
}

/// Takes all that is there of a conduit; whether its end has been seen.
pub fn take(tunnel: &mut Tunnel, conduit: ConduitId, into: &mut Vec<u8>) -> bool {
    loop {
        let count = match tunnel.front(conduit) {
            Front::Bytes(slices) => {
                slices.iter().for_each(|slice| into.extend_from_slice(slice));
                slices.iter().map(|slice| slice.len()).sum()
            }
            Front::Empty => return false,
            Front::Finished => return true,
            Front::Aborted => panic!("aborted after {} bytes", into.len()),
        };
        tunnel.consume(conduit, count);
    }
}

pub fn send_all(tunnel: &mut Tunnel, conduit: ConduitId, bytes: &[u8]) -> usize {
    let mut sent = 0;
    while sent < bytes.len() {
        match tunnel.send(conduit, &bytes[sent..]) {
            Ok(count) => sent += count,
            Err(SendError::Blocked) => break,
            Err(SendError::Closed) => panic!("closed after {sent} bytes"),
        }
    }
    sent
}

/// The server's conduit, once it has been opened.
pub fn opened(pair: &mut Pair, server: TunnelId) -> ConduitId {
    let mut found = None;
    pair.until(|pair| {
        for event in events(pair.server_tunnel(server)) {
            if let Event::Opened { conduit, opening: seen } = event {
                assert_eq!(seen, opening());
                found = Some(conduit);
            }
        }
        found.is_some()
    });
    found.expect("conduit")
}

/// One open conduit: the pair, and both ends' tunnel and conduit.
pub fn connected(setup: Setup) -> (Pair, (TunnelId, ConduitId), (TunnelId, ConduitId)) {
    let mut pair = Pair::new(setup);
    let (client, server) = pair.established();
    let conduit = pair.client_tunnel(client).open(opening()).expect("open");
    let far = opened(&mut pair, server);
    (pair, (client, conduit), (server, far))
}

/// Sends all at one end and waits until the other has it, in `received`.
pub fn carry(
    pair: &mut Pair,
    (client, conduit): (TunnelId, ConduitId),
    (server, far): (TunnelId, ConduitId),
    bytes: &[u8],
    received: &mut Vec<u8>,
) {
    received.clear();
    let mut sent = 0;
    pair.until(|pair| {
        sent += send_all(pair.client_tunnel(client), conduit, &bytes[sent..]);
        take(pair.server_tunnel(server), far, received);
        received.len() == bytes.len()
    });
    assert!(received == bytes);
}
