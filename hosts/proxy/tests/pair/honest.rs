// SPDX-License-Identifier: Apache-2.0
//! A client that does what clients do, beside those that do not.

use clarion_proxy::tunnel::{Event, Front, Node, TunnelId};

use super::{Pair, bytes_of, events, opening};

pub struct Honest {
    client: TunnelId,
    pub server: TunnelId,
}

impl Honest {
    /// Its tunnel is up.
    pub fn join(pair: &mut Pair) -> Self {
        let (client, server) = pair.established();
        Self { client, server }
    }

    /// It has something to say.
    pub fn begin(&self, pair: &mut Pair) {
        let conduit = pair.client_tunnel(self.client).open(opening()).expect("open");
        pair.client_tunnel(self.client).release(conduit);
    }

    /// It still has a TCP connection carried, both ways and to its end, and nothing of that is left.
    pub fn assert_unharmed(&self, pair: &mut Pair) {
        let question: Vec<u8> = (0..100_000u32).map(|at| (at * 7 % 251) as u8).collect();
        let conduit = pair.client_tunnel(self.client).open(opening()).expect("open");
        assert_eq!(pair.client_tunnel(self.client).send(conduit, &question), Ok(question.len()));
        pair.client_tunnel(self.client).finish(conduit);
        let (mut far, mut asked, mut answered) = (None, Vec::new(), Vec::new());
        pair.until(|pair| {
            for event in events(pair.server_tunnel(self.server)) {
                match event {
                    Event::Opened { conduit, .. } => far = Some(conduit),
                    Event::Lost(why) => panic!("the honest tunnel is lost: {why}"),
                    _ => {}
                }
            }
            far.is_some_and(|far| take(&mut pair.server, self.server, far, &mut asked))
        });
        let far = far.expect("conduit");
        assert_eq!(pair.server_tunnel(self.server).send(far, b"answer"), Ok(6));
        pair.server_tunnel(self.server).finish(far);
        pair.until(|pair| take(&mut pair.client, self.client, conduit, &mut answered));
        assert!(asked == question && answered == b"answer");
        pair.server_tunnel(self.server).release(far);
        pair.client_tunnel(self.client).release(conduit);
        assert_eq!(pair.server_tunnel(self.server).conduits(), 0);
        assert_eq!(pair.server_tunnel(self.server).committed_bytes(), 0);
    }
}

/// Takes what is there; whether the end has been seen.
fn take(node: &mut Node, tunnel: TunnelId, conduit: usize, into: &mut Vec<u8>) -> bool {
    let tunnel = node.tunnel(tunnel).expect("tunnel");
    loop {
        let front = tunnel.front(conduit);
        if matches!(front, Front::Finished) {
            return true;
        }
        let bytes = bytes_of(&front).unwrap_or_default();
        if bytes.is_empty() {
            return false;
        }
        tunnel.consume(conduit, bytes.len());
        into.extend(bytes);
    }
}
