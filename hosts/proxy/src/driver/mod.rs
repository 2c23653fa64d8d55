// SPDX-License-Identifier: Apache-2.0
//! Sockets and time for the core: one thread that waits for all of them.
//!
//! `event_loop` waits and hands on: to `tunnels`, with the sockets of `udp`, to `connections`, each of them a
//! `tcp::Connection`, and to `upkeep` twice a second. `listeners` has what accepts connections at a client, `link` the
//! client's way to its server, `quic` the settings of the library, `report` what is shown of all that.

mod clock;
mod connections;
mod event_loop;
mod link;
mod listeners;
mod quic;
mod report;
mod switchboard;
mod tcp;
mod tokens;
mod tunnels;
mod udp;
mod upkeep;

use anyhow::Result;

use crate::config::Config;
use event_loop::EventLoop;

/// Runs a proxy until it is told to end. `reload` reads the settings again.
pub fn run(config: Config, reload: Box<dyn Fn() -> Result<Config>>) -> Result<()> {
    EventLoop::new(config, reload)?.run()
}
