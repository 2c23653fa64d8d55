// SPDX-License-Identifier: Apache-2.0
//! Whatever applications and path do, and in whatever order (but for peers that move, which noq 1.4 gives up for good
//! when it cannot prove their new address at once): each end receives a beginning of what the other sent, and
//! takes it for finished only if it is all of it.

mod pair;

use std::collections::HashMap;
use std::time::Duration;

use clarion_proxy::config::Limits;
use clarion_proxy::tunnel::{Abort, ConduitId, Event, Front, Opening, SendError, Tunnel, TunnelId};
use pair::{Direction, Pair, Setup, address, bytes_of, events};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    Open,
    Send { is_client: bool, which: u8, bytes: u32 },
    Finish { is_client: bool, which: u8 },
    Abort { is_client: bool, which: u8 },
    Take { is_client: bool, which: u8, bytes: u32 },
    Pass { ms: u16 },
    Lose { percent: u8 },
    Outage { is_down: bool },
}

fn steps() -> impl Strategy<Value = Step> {
    let (side, which) = (any::<bool>(), 0..6u8);
    prop_oneof![
        2 => Just(Step::Open),
        6 => (side, which.clone(), 1..300_000u32).prop_map(|(is_client, which, bytes)| Step::Send { is_client, which, bytes }),
        2 => (any::<bool>(), which.clone()).prop_map(|(is_client, which)| Step::Finish { is_client, which }),
        1 => (any::<bool>(), which.clone()).prop_map(|(is_client, which)| Step::Abort { is_client, which }),
        6 => (any::<bool>(), which, 1..400_000u32).prop_map(|(is_client, which, bytes)| Step::Take { is_client, which, bytes }),
        6 => (1..400u16).prop_map(|ms| Step::Pass { ms }),
        1 => (0..30u8).prop_map(|percent| Step::Lose { percent }),
        1 => any::<bool>().prop_map(|is_down| Step::Outage { is_down }),
    ]
}

/// What one end has done with a conduit.
#[derive(Default)]
struct End {
    conduit: Option<ConduitId>,
    sent: u64,
    received: u64,
    has_finished: bool,
    has_aborted: bool,
    has_seen_end: bool,
    has_seen_abort: bool,
}

/// The byte at a place of a direction.
fn byte(port: u16, is_client: bool, at: u64) -> u8 {
    (at.wrapping_mul(31) ^ u64::from(port) ^ if is_client { 0x55 } else { 0 }) as u8
}

struct World {
    pair: Pair,
    client: TunnelId,
    server: TunnelId,
    /// Client's and server's, by the source port that names the connection.
    ends: HashMap<u16, [End; 2]>,
    next_port: u16,
}

impl World {
    fn new(seed: u64) -> Self {
        let limits = Limits { stream_bytes: 200_000, buffer_bytes: 500_000, ..Limits::default() };
        let up = Direction::new(20, 30, 0.01);
        let down = Direction::new(20, 30, 0.01);
        let predict = seed.is_multiple_of(2).then_some(0.2);
        let mut pair = Pair::new(Setup { limits, up, down, seed, predict, ..Setup::default() });
        let (client, server) = pair.established();
        Self { pair, client, server, ends: HashMap::new(), next_port: 0 }
    }

    fn tunnel(&mut self, is_client: bool) -> &mut Tunnel {
        if is_client { self.pair.client_tunnel(self.client) } else { self.pair.server_tunnel(self.server) }
    }

    fn end(&mut self, port: u16, is_client: bool) -> &mut End {
        &mut self.ends.entry(port).or_default()[usize::from(is_client)]
    }

    fn act(&mut self, step: &Step) {
        match *step {
            Step::Open => {
                let port = self.next_port;
                let opening =
                    Opening { destination: address("192.0.2.1:21"), source: ([10, 0, 0, 9], port).into() };
                if let Some(conduit) = self.tunnel(true).open(opening) {
                    self.next_port += 1;
                    self.end(port, true).conduit = Some(conduit);
                }
            }
            Step::Send { is_client, which, bytes } => self.send(is_client, which.into(), bytes),
            Step::Finish { is_client, which } => {
                let port = which.into();
                let end = self.end(port, is_client);
                if let Some(conduit) = end.conduit.filter(|_| !end.has_aborted && !end.has_seen_abort) {
                    end.has_finished = true;
                    self.tunnel(is_client).finish(conduit);
                }
            }
            Step::Abort { is_client, which } => {
                let end = self.end(which.into(), is_client);
                if let Some(conduit) = end.conduit.take() {
                    end.has_aborted = true;
                    self.tunnel(is_client).abort(conduit, Abort::Reset);
                    self.tunnel(is_client).release(conduit);
                }
            }
            Step::Take { is_client, which, bytes } => self.take(is_client, which.into(), bytes.into()),
            Step::Pass { ms } => self.pair.pass(Duration::from_millis(ms.into())),
            Step::Lose { percent } => self.pair.up.loss = f64::from(percent) / 100.0,
            Step::Outage { is_down } => (self.pair.up.is_down, self.pair.down.is_down) = (is_down, is_down),
        }
        self.hear(true);
        self.hear(false);
    }

    fn send(&mut self, is_client: bool, port: u16, bytes: u32) {
        let end = self.end(port, is_client);
        let (Some(conduit), false) = (end.conduit, end.has_finished) else { return };
        let from = end.sent;
        let contents: Vec<u8> = (from..from + u64::from(bytes)).map(|at| byte(port, is_client, at)).collect();
        match self.tunnel(is_client).send(conduit, &contents) {
            Ok(taken) => self.end(port, is_client).sent += taken as u64,
            Err(SendError::Blocked | SendError::Closed) => {}
        }
    }

    fn take(&mut self, is_client: bool, port: u16, max_bytes: u64) {
        let end = self.end(port, is_client);
        let (Some(conduit), from) = (end.conduit, end.received) else { return };
        let count = match self.tunnel(is_client).front(conduit) {
            front @ Front::Bytes(_) => {
                let bytes = bytes_of(&front).unwrap_or_default();
                let count = bytes.len().min(max_bytes as usize);
                for (at, &each) in (from..).zip(&bytes[..count]) {
                    assert_eq!(each, byte(port, !is_client, at), "byte {at} of {port}");
                }
                count
            }
            Front::Finished => {
                let far = self.end(port, !is_client);
                assert!(far.has_finished && far.sent == from, "an end after {from} of {} bytes", far.sent);
                self.end(port, is_client).has_seen_end = true;
                return;
            }
            Front::Empty | Front::Aborted => return,
        };
        self.tunnel(is_client).consume(conduit, count);
        self.end(port, is_client).received += count as u64;
    }

    fn hear(&mut self, is_client: bool) {
        for event in events(self.tunnel(is_client)) {
            match event {
                Event::Opened { conduit, opening } => {
                    self.end(opening.source.port(), false).conduit = Some(conduit);
                }
                Event::Aborted { conduit, .. } => {
                    let index = usize::from(is_client);
                    let end = self
                        .ends
                        .values_mut()
                        .map(|ends| &mut ends[index])
                        .find(|end| end.conduit == Some(conduit));
                    if let Some(end) = end {
                        end.has_seen_abort = true;
                        end.conduit = None;
                    }
                    self.tunnel(is_client).release(conduit);
                }
                Event::Lost(reason) => panic!("lost: {reason}"),
                Event::Connected | Event::Readable(_) | Event::Writable(_) => {}
            }
        }
    }

    /// On a good path all that was promised comes about.
    fn settle(&mut self) {
        (self.pair.up.is_down, self.pair.down.is_down) = (false, false);
        (self.pair.up.loss, self.pair.down.loss) = (0.0, 0.0);
        for _ in 0..600 {
            self.pair.pass(Duration::from_millis(100));
            self.hear(true);
            self.hear(false);
            for port in 0..self.next_port {
                self.take(true, port, u64::MAX);
                self.take(false, port, u64::MAX);
            }
        }
        for (port, ends) in &self.ends {
            let was_aborted = ends.iter().any(|end| end.has_aborted);
            for (end, far) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
                if was_aborted {
                    assert!(
                        far.conduit.is_none() || end.conduit.is_none(),
                        "{port}: an abort reaches the other end"
                    );
                } else {
                    assert_eq!(end.received, far.sent, "{port}");
                    assert_eq!(end.has_seen_end, far.has_finished, "{port}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nothing_is_invented_and_no_end_comes_too_early(seed in any::<u64>(), plan in prop::collection::vec(steps(), 1..120)) {
        let mut world = World::new(seed);
        for step in &plan {
            world.act(step);
        }
        world.settle();
    }
}
