// SPDX-License-Identifier: Apache-2.0
//! The core: QUIC connections and the TCP connections that they carry, without sockets, clocks or threads.
//!
//! A [`Node`] is one end. It takes datagrams, times and what TCP connections say, and gives back datagrams, timeouts
//! and events. Each peer is a [`Tunnel`], one QUIC connection; each TCP connection in it is a conduit, one
//! bidirectional stream. The client opens conduits; the server connects them to their destinations.

mod admission;
mod assembly;
mod codes;
mod conduit;
mod credit;
mod events;
mod exchange;
mod identifiers;
mod node;
mod opening;
mod peer;
mod policy;
mod transport;
mod words;

pub use codes::Abort;
pub use conduit::ConduitId;
pub use events::{Event, Front, SendError};
pub use identifiers::Secret;
pub use node::{Arrival, Node, TunnelId};
pub use opening::Opening;
pub use peer::Tunnel;
pub use policy::Policy;
pub use transport::transport_config;
