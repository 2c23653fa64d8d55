// SPDX-License-Identifier: Apache-2.0
//! Makes the controllers of a tunnel.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Instant;

use noq_proto::congestion::{Controller, ControllerFactory};

use crate::header::Channel;

use super::connection::Host;
use super::controller::LawController;
use super::counters::Counters;
use super::ffi::Law;
use super::registry::{self, Entry, LawError};
use super::transport::Transport;

const IPV4_HEADER_BYTES: u32 = 20;
const IPV6_HEADER_BYTES: u32 = 40;

/// A law with its parameters, ready for new paths.
#[derive(Debug)]
pub struct LawFactory {
    entry: Entry,
    /// As settled; controllers begin with a copy of it.
    law: Law,
    channel: Arc<dyn Channel>,
    counters: Arc<Counters>,
    initial_window_packets: u32,
    max_window_packets: u32,
    ip_header_bytes: u32,
}

impl LawFactory {
    /// `name` and `parameters` are those of the registry; of two settings of one parameter the later counts.
    /// `channel` must be that of the path which the controllers are for.
    pub fn new(
        name: &str,
        parameters: &[(String, u32)],
        channel: Arc<dyn Channel>,
    ) -> Result<Self, LawError> {
        let unknown = || LawError::UnknownLaw { name: name.to_owned() };
        let entry = registry::find(name).ok_or_else(unknown)?;
        let values = registry::settle(&entry, parameters)?;
        let mut law = Law::new(entry.index, random()).ok_or(LawError::NoMemory { law: entry.name })?;
        for (index, value) in values {
            law.set_parameter(index, value);
        }
        let of_all = |name| registry::parameter(name).map_or(1, |parameter| law.parameter(parameter.index));
        let initial_window_packets = of_all("initial_window_packets");
        let max_window_packets = of_all("max_window_packets");
        Ok(Self {
            entry,
            law,
            channel,
            counters: Arc::default(),
            initial_window_packets,
            max_window_packets,
            ip_header_bytes: IPV4_HEADER_BYTES,
        })
    }

    /// Whether the paths are IPv6: frames are 20 bytes longer then, which routers count.
    pub fn ipv6(mut self, is_ipv6: bool) -> Self {
        self.ip_header_bytes = if is_ipv6 { IPV6_HEADER_BYTES } else { IPV4_HEADER_BYTES };
        self
    }

    /// Figures of all controllers of this factory.
    pub fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    /// A controller, as noq asks for one with `ControllerFactory::build`.
    pub fn controller(&self, now: Instant, mtu_bytes: u16) -> LawController {
        let Some(law) = self.law.duplicate() else {
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<Host>());
        };
        let transport = Transport::new(now, mtu_bytes);
        let host = Host::new(
            law,
            transport,
            self.initial_window_packets,
            self.max_window_packets,
            self.ip_header_bytes,
        );
        LawController::new(self.entry, host, self.channel.clone(), self.counters.clone())
    }
}

/// Laws throw dice so that flows which begin together do not go on together.
fn random() -> u32 {
    RandomState::new().build_hasher().finish() as u32
}

impl ControllerFactory for LawFactory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.controller(now, current_mtu))
    }
}
