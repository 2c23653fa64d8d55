// SPDX-License-Identifier: Apache-2.0
//! What a server lets its clients reach.

use std::net::SocketAddr;

use crate::config::{Destination, ServerSettings};

#[derive(Clone, Debug, Default)]
pub struct Policy {
    allow: Vec<Destination>,
    early: Vec<Destination>,
    max_connections: usize,
}

impl Policy {
    pub fn new(settings: &ServerSettings, max_connections: u32) -> Self {
        Self {
            allow: settings.allow.clone(),
            early: settings.early.clone(),
            max_connections: max_connections as usize,
        }
    }

    pub fn allows(&self, destination: SocketAddr) -> bool {
        self.allow.iter().any(|each| each.contains(destination))
    }

    /// Whether 0-RTT data, which an attacker can replay (RFC 8446, 8), may connect there.
    pub fn allows_early(&self, destination: SocketAddr) -> bool {
        self.allows(destination) && self.early.iter().any(|each| each.contains(destination))
    }

    pub fn max_connections(&self) -> usize {
        self.max_connections
    }
}
