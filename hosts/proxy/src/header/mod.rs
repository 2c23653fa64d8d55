// SPDX-License-Identifier: Apache-2.0
//! Clarion's header on the packets of a tunnel.

mod channel;

pub use channel::{Channel, Echo, NoHeader, Request};
