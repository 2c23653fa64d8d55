// SPDX-License-Identifier: Apache-2.0
//! Clarion's header on the packets of a tunnel.
//!
//! The shim puts it on and takes it off (hosts/bpf); `passage` says which datagrams go with it, `socket` tells the
//! kernel, by the maps that clarion-host pins.

mod channel;
mod maps;
mod passage;
mod socket;

pub use channel::{Channel, Echo, NoHeader, Request};
pub use maps::HeaderError;
pub use passage::Mode;
pub use socket::{Guard, HeaderSocket};
